//! Drives drawn at random, of the kinds that there are: 1 to 24 heads, tracks by cylinder and along surfaces, skews that cover the
//! switches, that are all alike or that are missing, short zones, densities by head, spares, slips and remaps, speeds that
//! drift, write caches, two actuators, slow buses.

use headstack_drive::layout::Layout;
use headstack_drive::spec::{DriveSpec, Order, RemapSpec};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A drive, and what is special about it.
pub struct Drawn {
    pub spec: DriveSpec,
    pub kinds: BTreeSet<&'static str>,
}

/// The drive of a number.
pub fn drawn(number: u64) -> Drawn {
    let mut pencil = Pencil::new(number);
    let mechanics = Mechanics::drawn(&mut pencil);
    let mut text = format!(
        "name = \"drawn-{number}\"\nsector_bytes = 512\nrotation_rpm = {:?}\n",
        60_000.0 / mechanics.turn_ms
    );
    let shape = Shape::drawn(&mut pencil);
    if shape.order == "classical" && pencil.chance(0.12, "two actuators") {
        text.push_str("actuators = 2\n");
    }
    shape.write(&mut text, &mut pencil, &mechanics);
    mechanics.write(&mut text, &mut pencil);
    controller(&mut text, &mut pencil);
    cache(&mut text, &mut pencil);
    text.push_str("[provenance]\n");
    let keys = ["sector_bytes", "rotation_rpm", "actuators", "layout", "seek", "mechanics", "controller"];
    let more = ["buffer", "write_policy", "bus", "cache", "spindle"];
    let there = |key: &&str| text.contains(&format!("[{key}")) || text.contains(&format!("{key} ="));
    let held: Vec<&str> = keys.into_iter().chain(more).filter(there).collect();
    for key in held {
        writeln!(text, "\"{key}\" = {{ kind = \"assumed\", source = \"drawn\" }}").unwrap();
    }
    let mut spec = DriveSpec::from_toml("drawn", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    defects(&mut spec, &mut pencil);
    // Through the text: it is checked once more.
    let text = spec.to_toml();
    let spec = DriveSpec::from_toml("drawn", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Drawn { spec, kinds: pencil.kinds }
}

/// Random choices, the odd ones noted.
struct Pencil {
    random: Pcg64,
    kinds: BTreeSet<&'static str>,
}

impl Pencil {
    fn new(number: u64) -> Self {
        Self { random: Pcg64::seed_from_u64(0x6472_6177 + number), kinds: BTreeSet::new() }
    }

    fn chance(&mut self, share: f64, kind: &'static str) -> bool {
        let taken = self.random.random::<f64>() < share;
        if taken {
            self.kinds.insert(kind);
        }
        taken
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.random.random::<f64>()
    }

    /// As often between 1 and 2 as between 10 and 20.
    fn by_scale(&mut self, least: f64, most: f64) -> f64 {
        self.between(least.ln(), most.ln()).exp()
    }

    fn whole(&mut self, least: u32, most: u32) -> u32 {
        self.random.random_range(least..=most)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.random_range(0..all.len())]
    }
}

/// Times of the arm.
#[expect(clippy::struct_field_names, reason = "units stand last")]
struct Mechanics {
    turn_ms: f64,
    head_switch_ms: f64,
    first_seek_ms: f64,
    root_ms: f64,
    settle_ms: f64,
}

impl Mechanics {
    fn drawn(pencil: &mut Pencil) -> Self {
        let head_switch_ms = pencil.between(0.3, 1.2);
        Self {
            turn_ms: 60_000.0 / pencil.between(3_600.0, 15_000.0),
            head_switch_ms,
            first_seek_ms: head_switch_ms + pencil.between(0.1, 1.5),
            root_ms: pencil.between(0.02, 0.12),
            settle_ms: pencil.between(0.0, 0.4),
        }
    }

    fn write(&self, text: &mut String, pencil: &mut Pencil) {
        let straight = self.first_seek_ms + self.root_ms * 20.0;
        write!(
            text,
            "[seek.two-piece]\nboundary_cylinders = 400\nshort_ms = [{:?}, {:?}]\nlong_ms = [{:?}, {:?}]\n\
             [mechanics]\nhead_switch_ms = {:?}\nwrite_settle_ms = {:?}\n",
            self.first_seek_ms,
            self.root_ms,
            straight - 400.0 * self.root_ms / 40.0,
            self.root_ms / 40.0,
            self.head_switch_ms,
            self.settle_ms,
        )
        .unwrap();
        if pencil.chance(0.15, "seeks differ inwards") {
            writeln!(text, "inward_seek_extra_ms = {:?}", pencil.between(-0.2, 0.3)).unwrap();
        }
        if pencil.chance(0.15, "settle by distance") {
            let more = pencil.between(0.3, 1.5);
            writeln!(text, "write_settle_by_distance_ms = [[1.0, 0.0], [60.0, 0.0], [150.0, {more:?}]]")
                .unwrap();
        }
        let (drifts, odd) = (pencil.chance(0.1, "speed drifts"), pencil.chance(0.2, "odd speed"));
        if drifts || odd {
            let drift = if drifts { pencil.between(60.0, 300.0) } else { 0.0 };
            let error = if odd { pencil.between(-0.5, 0.5) } else { 0.0 };
            writeln!(text, "[spindle]\nerror_percent = {error:?}\ndrift_ppm = {drift:?}").unwrap();
        }
    }
}

/// Tracks and their order.
struct Shape {
    order: &'static str,
    heads: u32,
    /// Sectors on a track and cylinders.
    zones: Vec<(u32, u32)>,
    /// Cylinders on a surface.
    group: Option<u32>,
}

impl Shape {
    fn drawn(pencil: &mut Pencil) -> Self {
        let heads = if pencil.chance(0.12, "one head") { 1 } else { pencil.whole(2, 24) };
        let order = match pencil.between(0.0, 1.0) {
            share if share < 0.16 && heads > 1 => "serpentine-by-surface",
            share if share < 0.30 => "serpentine-by-zone",
            share if share < 0.44 => "serpentine-by-cylinder",
            _ => "classical",
        };
        if order != "classical" {
            pencil.kinds.insert(order);
        }
        let group = (order == "serpentine-by-surface").then(|| pencil.whole(40, 160));
        let mut sectors = pencil.whole(60, 400);
        let short_zones = pencil.chance(0.25, "short zones");
        let count = pencil.whole(1, 7);
        let mut zones = Vec::new();
        for _ in 0..count {
            let cylinders = match group {
                Some(group) => group * pencil.whole(2, 4),
                None if short_zones && pencil.chance(0.5, "short zones") => pencil.whole(6, 40),
                None => pencil.whole(150, 600),
            };
            zones.push((sectors, cylinders));
            sectors -= pencil.whole(2, (sectors / 8).max(3)).min(sectors - 40);
        }
        zones.dedup_by_key(|zone| zone.0);
        Self { order, heads, zones, group }
    }

    fn write(&self, text: &mut String, pencil: &mut Pencil, mechanics: &Mechanics) {
        let heads = self.heads;
        writeln!(text, "[layout]\norder = \"{}\"\nheads = {heads}", self.order).unwrap();
        if let Some(group) = self.group {
            writeln!(text, "group_cylinders = {group}").unwrap();
        }
        let skews = match pencil.between(0.0, 1.0) {
            share if share < 0.15 => "equal skews",
            share if share < 0.25 => "no skews",
            _ => "",
        };
        if !skews.is_empty() {
            pencil.kinds.insert(skews);
        }
        let margin = (pencil.whole(1, 6), pencil.whole(2, 10));
        let dense = self.order == "classical"
            && heads > 1
            && !text.contains("actuators")
            && pencil.chance(0.1, "densities by head");
        let spares = self.spares(pencil, dense);
        let densities: Vec<f64> = (0..heads).map(|_| pencil.between(0.9, 1.06)).collect();
        let mut first = 0;
        for &(sectors, cylinders) in &self.zones {
            let skew = |ms: f64| ((ms + mechanics.settle_ms) / mechanics.turn_ms * f64::from(sectors)).ceil();
            let track = skew(mechanics.head_switch_ms) + f64::from(margin.0);
            let cylinder =
                (skew(mechanics.first_seek_ms + mechanics.root_ms) + f64::from(margin.1)).max(track + 3.0);
            let (track, cylinder) = match skews {
                "equal skews" => (cylinder, cylinder),
                "no skews" => (0.0, 0.0),
                _ => (track, cylinder),
            };
            let most = f64::from(sectors - 1);
            writeln!(
                text,
                "[[layout.zone]]\nfirst_cylinder = {first}\nlast_cylinder = {}\nsectors_per_track = {sectors}\n\
                 track_skew_sectors = {:?}\ncylinder_skew_sectors = {:?}",
                first + cylinders - 1,
                track.min(most),
                cylinder.min(most),
            )
            .unwrap();
            if dense {
                let by_head: Vec<u32> =
                    densities.iter().map(|density| (f64::from(sectors) * density).round() as u32).collect();
                writeln!(text, "sectors_per_track_by_head = {by_head:?}").unwrap();
            }
            text.push_str(&spares);
            first += cylinders;
        }
    }

    fn spares(&self, pencil: &mut Pencil, dense: bool) -> String {
        let by_surface = self.group.is_some();
        if dense || !pencil.chance(0.4, "spares") {
            return String::new();
        }
        let few = pencil.whole(1, 4);
        match pencil.whole(0, 4) {
            0 => format!("spare_sectors_per_track = {few}\n"),
            1 if !by_surface => {
                format!("[layout.zone.spares]\nper = \"cylinders\"\nsectors = {}\n", few * self.heads.min(6))
            }
            2 if !by_surface && self.heads > 2 => "spare_tracks_per_cylinder = 1\n".to_owned(),
            3 => format!("spare_tracks_at_end = {few}\n"),
            _ => format!("[layout.zone.spares]\nper = \"track\"\nsectors = {few}\n"),
        }
    }
}

fn controller(text: &mut String, pencil: &mut Pencil) {
    let (read, write) = (pencil.between(0.1, 1.5), pencil.between(0.1, 1.5));
    writeln!(text, "[controller]\nread_overhead_ms = {read:?}\nwrite_overhead_ms = {write:?}").unwrap();
    if pencil.chance(0.5, "data asked for at once") {
        text.push_str("write_data_after_ms = 0.0\n");
    }
    if pencil.chance(0.3, "ends that take time") {
        let (read, write) = (pencil.between(0.0, 0.3), pencil.between(0.0, 0.3));
        writeln!(text, "read_completion_ms = {read:?}\nwrite_completion_ms = {write:?}").unwrap();
    }
    if pencil.chance(0.2, "overhead beside the seek") {
        writeln!(text, "overhead_beside_seek_ms = {:?}", 0.8 * read.min(write)).unwrap();
    }
    let rate = pencil.by_scale(1.0, 200.0);
    if rate < 5.0 {
        pencil.kinds.insert("slow bus");
    }
    writeln!(
        text,
        "[bus]\nkind = \"drawn\"\nread_mb_per_s = {rate:?}\nwrite_mb_per_s = {rate:?}\n[buffer]\nsize_kib = 1024.0"
    )
    .unwrap();
    match pencil.whole(0, 9) {
        0..=4 => text.push_str("[write_policy.write-through]\n"),
        5 => text.push_str("[write_policy.immediate-reporting]\n"),
        6 => {
            writeln!(text, "[write_policy.immediate-reporting]\npending_writes = {}", pencil.whole(1, 16))
                .unwrap();
        }
        _ => {
            let kib = pencil.by_scale(128.0, 768.0);
            writeln!(text, "[write_policy.write-back]\nsize_kib = {kib:.0}.0").unwrap();
        }
    }
    for (policy, kind) in [("immediate", "writes reported early"), ("write-back", "write cache")] {
        if text.contains(policy) {
            pencil.kinds.insert(kind);
        }
    }
}

fn cache(text: &mut String, pencil: &mut Pencil) {
    if pencil.chance(0.3, "no read cache") {
        return;
    }
    let ahead = pencil.one_of(&["none", "until-full", "to-track-end", "once-sequential"]);
    let (segments, kib) = (pencil.whole(1, 16), pencil.whole(16, 64));
    writeln!(text, "[cache]\nsegments = {segments}\nsegment_kib = {kib}.0\nread_ahead = \"{ahead}\"")
        .unwrap();
}

/// Slipped sectors and tracks, and sectors that live elsewhere.
fn defects(spec: &mut DriveSpec, pencil: &mut Pencil) {
    let layout = &spec.layout;
    if layout.heads_differ() || layout.zone.iter().any(|zone| zone.spares.is_some()) || spec.actuators > 1 {
        return;
    }
    let capacity = Layout::new(layout).capacity();
    let by_surface = layout.order == Order::SerpentineBySurface;
    let has_spares = layout.zone[0].spare_sectors_per_track > 0;
    if pencil.chance(0.3, "slipped sectors") {
        let slips: BTreeSet<u64> =
            (0..pencil.whole(1, 60)).map(|_| pencil.random.random_range(0..capacity)).collect();
        spec.layout.slipped_sectors = slips.into_iter().collect();
    }
    if !by_surface && pencil.chance(0.12, "slipped tracks") {
        let cylinders = spec.layout.cylinders_with_tracks();
        let tracks: BTreeSet<[u32; 2]> = (0..pencil.whole(1, 6))
            .map(|_| [pencil.whole(0, cylinders - 1), pencil.whole(0, spec.layout.heads - 1)])
            .collect();
        spec.layout.slipped_tracks = tracks.into_iter().collect();
    }
    if has_spares && pencil.chance(0.6, "remapped sectors") {
        let layout = Layout::new(&spec.layout);
        let taken = |lba: u64| {
            let place = layout.locate(lba);
            let sector = spec.layout.zone[place.zone as usize].sectors_per_track;
            RemapSpec { lba, cylinder: place.cylinder, head: place.head, sector }
        };
        let lbas: BTreeSet<u64> =
            (0..pencil.whole(1, 30)).map(|_| pencil.random.random_range(0..layout.capacity())).collect();
        let mut places = BTreeSet::new();
        let remaps = lbas.into_iter().map(taken);
        spec.layout.remap = remaps.filter(|remap| places.insert((remap.cylinder, remap.head))).collect();
    }
}
