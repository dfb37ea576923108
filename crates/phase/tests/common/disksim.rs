//! Recorded traces and the layouts published with them, as far as these tests need them.

use headstack_drive::spec::{LayoutSpec, Order, SpareGroup, SparesSpec, ZoneSpec};
use headstack_phase::Observation;
use headstack_units::Nanos;
use std::path::{Path, PathBuf};

/// Where the recorded traces are, if they are there.
pub fn data() -> Option<PathBuf> {
    let near = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("HEADSTACK_DATA").map_or(near, PathBuf::from);
    path.join("validate").is_dir().then_some(path)
}

/// One measured request.
#[derive(Clone, Copy)]
pub struct Row {
    pub read: bool,
    pub lba: u64,
    pub sectors: u64,
    pub service_us: f64,
    pub gap_us: f64,
}

pub fn rows(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        Some(Row {
            read: *words.first()? == "R",
            lba: words.get(2)?.parse().ok()?,
            sectors: words.get(3)?.parse().ok()?,
            service_us: words.get(4)?.parse().ok()?,
            gap_us: words.get(5)?.parse().ok()?,
        })
    };
    text.lines().filter_map(row).collect()
}

/// When each request completed, in ms, the gap lying before or after its request.
pub fn completions(rows: &[Row], gap_before: bool) -> Vec<f64> {
    let mut clock = 0.0;
    let mut ends = Vec::new();
    for row in rows {
        clock += if gap_before { row.gap_us } else { 0.0 };
        clock += row.service_us;
        ends.push(clock / 1e3);
        clock += if gap_before { 0.0 } else { row.gap_us };
    }
    ends
}

/// The end of the first sector of each read that waited for the media, the bus taking `bus_ms` for each sector.
pub fn reads(rows: &[Row], gap_before: bool, bus_ms: f64) -> Vec<Observation> {
    let seen = rows.iter().zip(completions(rows, gap_before)).zip(0..);
    seen.filter(|((row, _), _)| row.read && row.service_us > 2500.0)
        .map(|((row, end), index)| Observation {
            index,
            at: Nanos::from_ms(end - row.sectors as f64 * bus_ms),
            lba: row.lba,
        })
        .collect()
}

/// The end of the last sector of each write that waited for the media.
pub fn writes(rows: &[Row], gap_before: bool) -> Vec<Observation> {
    let seen = rows.iter().zip(completions(rows, gap_before)).zip(0..);
    seen.filter(|((row, _), _)| !row.read && row.service_us > 3000.0)
        .map(|((row, end), index)| Observation {
            index,
            at: Nanos::from_ms(end),
            lba: row.lba + row.sectors - 1,
        })
        .collect()
}

fn number(text: &str, key: &str) -> f64 {
    let after = &text[text.find(key).unwrap() + key.len()..];
    let value = after.trim_start().trim_start_matches('=').trim_start();
    let end = value.find(|c: char| !(c.is_ascii_digit() || ".-+e".contains(c))).unwrap_or(value.len());
    value[..end].parse().unwrap()
}

fn list(text: &str, key: &str) -> Vec<u64> {
    let after = &text[text.find(key).unwrap()..];
    let inside = &after[after.find('[').unwrap() + 1..after.find(']').unwrap()];
    inside.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

/// Layout and nominal rpm of a `.model` file.
pub fn model(path: &Path) -> (LayoutSpec, f64) {
    let text = std::fs::read_to_string(path).unwrap();
    let text: String = text.lines().map(|line| line.split('#').next().unwrap().to_owned() + "\n").collect();
    let scheme = number(&text, "Sparing scheme used") as u32;
    let range = number(&text, "Rangesize for sparing") as u32;
    let heads = number(&text, "Number of data surfaces") as u32;
    let order = match number(&text, "LBN-to-PBN mapping scheme") as u32 {
        0 => Order::Classical,
        1 => Order::SerpentineByZone,
        _ => Order::SerpentineByCylinder,
    };
    let zone =
        text.split("dm_layout_g1_zone {").skip(1).map(|text| zone(text, scheme, range, heads)).collect();
    let layout = LayoutSpec {
        head_angle_revolutions: Vec::new(),
        order,
        heads,
        group_cylinders: None,
        cylinders: None,
        capacity_sectors: None,
        zone,
        run: Vec::new(),
        region: Vec::new(),
        slipped_sectors: Vec::new(),
        slipped_tracks: Vec::new(),
        remap: Vec::new(),
    };
    (layout, number(&text, "Rotation speed (in rpms)"))
}

fn zone(text: &str, scheme: u32, range: u32, heads: u32) -> ZoneSpec {
    let spare = number(text, "Number of spares") as u32;
    let per_track = number(text, "Blocks per track") as u32;
    let slips = list(text, "slips");
    let spares = |per, cylinders, sectors, slipped_slots| {
        Some(SparesSpec { per, cylinders, sectors, at_front: false, slipped_slots, range_skew_sectors: 0.0 })
    };
    // Where spares lie between ranges, the list counts without them.
    let range_slots = u64::from(range * heads * per_track);
    let range_data = range_slots.saturating_sub(u64::from(spare)).max(1);
    let with_spares = slips.iter().map(|slip| slip / range_data * range_slots + slip % range_data).collect();
    let mut zone = ZoneSpec {
        sectors_per_track_by_head: Vec::new(),
        first_cylinder: number(text, "First cylinder number") as u32,
        last_cylinder: number(text, "Last cylinder number") as u32,
        sectors_per_track: per_track,
        spare_sectors_per_track: 0,
        spare_tracks_per_cylinder: 0,
        spare_tracks_at_end: 0,
        empty_sectors_at_front: number(text, "Empty space at zone front") as u64,
        track_skew_sectors: number(text, "Skew for track switch"),
        cylinder_skew_sectors: number(text, "Skew for cylinder switch"),
        first_sector_revolutions: number(text, "Offset of first block") / f64::from(per_track),
        spares: None,
    };
    match scheme {
        3 => {
            zone.sectors_per_track -= spare;
            zone.spare_sectors_per_track = spare;
        }
        7 => zone.spares = spares(SpareGroup::Zone, None, slips.len() as u32, slips),
        8 => zone.spares = spares(SpareGroup::Cylinders, Some(range), spare, with_spares),
        _ => zone.spares = spares(SpareGroup::Zone, None, spare, slips),
    }
    zone
}
