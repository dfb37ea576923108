//! Sparing schemes 0 to 10: where spares are, what a slip costs, and where defects went.
//!
//! Positions (slips, defects) count from the zone's first physical track: tracks in scheme 1, else sectors, spares
//! included. In schemes 1, 2, 3, 5, 8 and 9 a slip takes one of the spares of its group; in 4, 6, 7 and 10 it moves all
//! that follows, and the drive's end is that much shorter. The front space of a zone is counted in data sectors.

use crate::error::ImportError;
use crate::geometry::{Geometry, RawZone};
use crate::report::Report;
use headstack_drive::layout::Layout;
use headstack_drive::spec::{LayoutSpec, Order, RemapSpec, SpareGroup, SparesSpec};

/// A sparing scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheme {
    code: u32,
    range: u32,
}

impl Scheme {
    /// `code` from 0 to 10.
    pub(crate) fn new(code: u32, range: u32) -> Self {
        Self { code, range }
    }

    pub(crate) fn meaning(self) -> &'static str {
        [
            "no spares",
            "spare tracks at the end of each zone",
            "spare sectors at the end of each cylinder",
            "spare sectors at the end of each track",
            "spare sectors at the end of each cylinder, slips at the drive's expense",
            "spare sectors at the front of each cylinder",
            "spare sectors at the front of each cylinder, slips at the drive's expense",
            "spare sectors at the end of the drive",
            "spare sectors at the end of each range of cylinders",
            "spare sectors at the end of each zone",
            "spare sectors at the end of each zone, slips at the drive's expense",
        ][self.code as usize]
    }

    pub(crate) fn has_ranges(self) -> bool {
        self.code == 8
    }

    /// Who shares spare sectors.
    fn group(self) -> Option<(SpareGroup, Option<u32>)> {
        match self.code {
            3 => Some((SpareGroup::Track, None)),
            2 | 4 | 5 | 6 => Some((SpareGroup::Cylinders, None)),
            8 => Some((SpareGroup::Cylinders, Some(self.range))),
            9 | 10 => Some((SpareGroup::Zone, None)),
            _ => None,
        }
    }

    fn slips_shorten_the_drive(self) -> bool {
        matches!(self.code, 4 | 6 | 7 | 10)
    }

    /// Whether the drive keeps sectors back at its end, which only the announced capacity tells.
    fn holds_more_than_announced(self) -> bool {
        matches!(self.code, 4 | 6 | 7 | 8 | 9 | 10)
    }
}

/// Gives the zones their spares and slips.
pub(crate) fn apply(
    spec: &mut LayoutSpec,
    scheme: Scheme,
    zones: &[RawZone],
    report: &mut Report,
) -> Result<(), ImportError> {
    // Data sectors before the zone, slipped ones included.
    let mut data_before = 0;
    for (number, zone) in zones.iter().enumerate() {
        let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder) + 1;
        let tracks = cylinders * u64::from(spec.heads);
        let slots = tracks * u64::from(zone.sectors_per_track);
        let positions = if scheme.code == 1 { tracks } else { slots };
        let slips = slips_inside(zone, positions, report)?;
        match scheme.code {
            0 => {
                if zone.front >= slots {
                    return Err(front_too_large(zone));
                }
                spec.zone[number].empty_sectors_at_front = zone.front;
                if !slips.is_empty() {
                    let message = "a drive without spares has no slips in DiskSim: they are left out";
                    report.warn(&zone.at, message);
                }
            }
            1 => spare_tracks(spec, number, zone, tracks, &slips, report)?,
            _ => spare_sectors(spec, scheme, number, zone, (slots, &mut data_before), &slips, report)?,
        }
    }
    Ok(())
}

/// Slips that lie inside the zone.
fn slips_inside(zone: &RawZone, positions: u64, report: &mut Report) -> Result<Vec<u64>, ImportError> {
    let outside = zone.slips.iter().filter(|&&slip| slip >= positions).count();
    if outside > 0 {
        let message = format!(
            "{outside} of {} slips lie outside the zone, which has {positions} positions, counted from 0 (the last slip is {})",
            zone.slips.len(),
            zone.slips[zone.slips.len() - 1]
        );
        report.refuse(ImportError::at(&zone.at, message), "those are left out")?;
    }
    Ok(zone.slips.iter().copied().filter(|&slip| slip < positions).collect())
}

fn too_many(zone: &RawZone, what: &str) -> ImportError {
    ImportError::at(&zone.at, format!("there are more slips than spares: {what}"))
        .hint("each slipped position needs a spare one: correct `Number of spares` or `slips`")
}

/// Scheme 1. A slip before the last data track moves that track into the spares.
fn spare_tracks(
    spec: &mut LayoutSpec,
    number: usize,
    zone: &RawZone,
    tracks: u64,
    slips: &[u64],
    report: &mut Report,
) -> Result<(), ImportError> {
    let spares = u64::from(zone.spares);
    if spares >= tracks {
        let message = format!("{spares} spare tracks leave none of the zone's {tracks} for data");
        return Err(ImportError::at(&zone.at, message));
    }
    let mut end = tracks - spares;
    let mut used = 0_usize;
    while slips.get(used).is_some_and(|&slip| slip < end) {
        end += 1;
        used += 1;
    }
    if end > tracks {
        return Err(too_many(zone, &format!("{} slipped tracks, {spares} spare ones", slips.len())));
    }
    if used < slips.len() {
        let message = format!("slips among the spare tracks, which change nothing: {}", slips.len() - used);
        report.warn(&zone.at, message);
    }
    spec.zone[number].spare_tracks_at_end = (tracks - end) as u32;
    spec.zone[number].empty_sectors_at_front = zone.front;
    let places = slips[..used].iter().map(|&slip| track(spec.order, spec.heads, zone, slip));
    let places: Vec<[u32; 2]> = places.collect();
    spec.slipped_tracks.extend(places);
    if zone.front >= (end - used as u64) * u64::from(zone.sectors_per_track) {
        return Err(front_too_large(zone));
    }
    Ok(())
}

fn front_too_large(zone: &RawZone) -> ImportError {
    ImportError::at(
        &zone.at,
        format!("the {} empty blocks at the zone's front leave none for data", zone.front),
    )
}

/// Schemes 2 to 10.
fn spare_sectors(
    spec: &mut LayoutSpec,
    scheme: Scheme,
    number: usize,
    zone: &RawZone,
    (slots, data_before): (u64, &mut u64),
    slips: &[u64],
    report: &mut Report,
) -> Result<(), ImportError> {
    let heads = u64::from(spec.heads);
    let track = u64::from(zone.sectors_per_track);
    let at_front = matches!(scheme.code, 5 | 6);
    // Slots and data sectors of a group.
    let (group, data) = match scheme.group() {
        Some((per, cylinders)) if zone.spares > 0 => {
            let wanted = match per {
                SpareGroup::Track => track,
                SpareGroup::Cylinders => track * heads * u64::from(cylinders.unwrap_or(1)),
                SpareGroup::Zone => slots,
            };
            let group = wanted.min(slots);
            let last = slots - (slots - 1) / group * group;
            if u64::from(zone.spares) >= group.min(last) {
                let message = format!("{} spares leave no data in {} sectors", zone.spares, group.min(last));
                return Err(ImportError::at(&zone.at, message));
            }
            let moving = !scheme.slips_shorten_the_drive();
            spec.zone[number].spares = Some(SparesSpec {
                per,
                cylinders,
                sectors: zone.spares,
                at_front,
                slipped_slots: if moving { slips.to_vec() } else { Vec::new() },
                range_skew_sectors: 0.0,
            });
            (group, group - u64::from(zone.spares))
        }
        _ => (slots, slots),
    };
    let held = slots / group * data + (slots % group).saturating_sub(group - data);
    let mut front = zone.front;
    if scheme.slips_shorten_the_drive() {
        // As numbers of data sectors; those among the spares change nothing.
        let skipped = if at_front { group - data } else { 0 };
        let numbers = slips.iter().filter_map(|&slip| {
            let within = (slip % group).checked_sub(skipped)?;
            (within < data).then_some(slip / group * data + within)
        });
        for slip in numbers {
            // The front space is as large behind its slips.
            if slip <= front {
                front += 1;
            } else {
                spec.slipped_sectors.push(*data_before + slip - front);
            }
        }
    } else {
        check_groups(zone, slips, group)?;
    }
    if front >= held {
        return Err(front_too_large(zone));
    }
    let simple = spec.zone[number]
        .spares
        .as_ref()
        .is_some_and(|spares| spares.per == SpareGroup::Track && slips.is_empty());
    if simple {
        // Without slips the spares of a track are its last sectors, always.
        spec.zone[number].spares = None;
        spec.zone[number].sectors_per_track = zone.sectors_per_track - zone.spares;
        spec.zone[number].spare_sectors_per_track = zone.spares;
    }
    spec.zone[number].empty_sectors_at_front = front;
    *data_before += held - front;
    if scheme.code == 7 && zone.spares > 0 {
        let message = format!(
            "`Number of spares` is {}, but in scheme 7 spares belong to the drive as a whole",
            zone.spares
        );
        report.warn(&zone.at, message);
    }
    Ok(())
}

/// Each slip needs a spare of its group.
fn check_groups(zone: &RawZone, slips: &[u64], group: u64) -> Result<(), ImportError> {
    for slips in slips.chunk_by(|a, b| a / group == b / group) {
        if slips.len() as u64 > u64::from(zone.spares) {
            let what = format!("{} slips from position {} on, {} spares", slips.len(), slips[0], zone.spares);
            return Err(too_many(zone, &what));
        }
    }
    Ok(())
}

/// Cylinder and head of a track counted from the zone's first.
fn track(order: Order, heads: u32, zone: &RawZone, number: u64) -> [u32; 2] {
    let cylinder = zone.first_cylinder + (number / u64::from(heads)) as u32;
    let place = (number % u64::from(heads)) as u32;
    let backwards = match order {
        Order::SerpentineByZone => (cylinder - zone.first_cylinder) % 2 == 1,
        Order::SerpentineByCylinder => cylinder % 2 == 1,
        Order::Classical | Order::SerpentineBySurface => false,
    };
    [cylinder, if backwards { heads - 1 - place } else { place }]
}

/// Compares what the layout holds with what the drive announces.
pub(crate) fn announce(
    spec: &mut LayoutSpec,
    scheme: Scheme,
    geometry: &Geometry,
    report: &mut Report,
) -> Result<(), ImportError> {
    let holds = Layout::new(spec).capacity();
    let announced = geometry.blocks;
    if announced > holds {
        let message = format!("`Block count` is {announced}, but the zones hold only {holds} blocks");
        let hint = "check the zones, their front space and their spares";
        return report.refuse(ImportError::at(&geometry.blocks_at, message).hint(hint), "the layout counts");
    }
    if announced == holds {
        report.carried("Block count", "what the layout holds, exactly");
    } else if scheme.holds_more_than_announced() {
        spec.capacity_sectors = Some(announced);
        report.carried("Block count", "layout.capacity_sectors");
        let more = holds - announced;
        let message =
            format!("the zones hold {holds} blocks, {more} more than the {announced} announced, which count");
        report.warn(&geometry.blocks_at, message);
    } else {
        let reason =
            format!("the zones hold {holds} blocks, and in this sparing scheme all of them are addressable");
        report.not_carried("Block count", announced.to_string(), &reason);
        let message =
            format!("`Block count` is {announced}, but the zones hold {holds} blocks: the layout counts");
        report.warn(&geometry.blocks_at, message);
    }
    Ok(())
}

/// Moves the addresses of defective places to their replacements.
pub(crate) fn remap(spec: &mut LayoutSpec, scheme: Scheme, zones: &[RawZone], report: &mut Report) {
    let layout = Layout::new(spec);
    for zone in zones {
        let (mut idle, mut lost) = (0_usize, 0_usize);
        let unit = if scheme.code == 1 { zone.sectors_per_track } else { 1 };
        let length = u64::from(spec.heads)
            * (u64::from(zone.last_cylinder - zone.first_cylinder) + 1)
            * u64::from(zone.sectors_per_track);
        let pairs = zone.defects.iter().flat_map(|&(from, to)| {
            let unit = u64::from(unit);
            (0..unit).map(move |sector| (from * unit + sector, to * unit + sector))
        });
        for (from, to) in pairs {
            if from == to {
                idle += 1;
            } else if let Some(remap) =
                (from.max(to) < length).then(|| moved(spec, &layout, zone, from, to)).flatten()
            {
                spec.remap.push(remap);
            } else {
                lost += 1;
            }
        }
        if idle > 0 {
            let message =
                format!("defective sectors that are replaced by themselves, which changes nothing: {idle}");
            report.warn(&zone.at, message);
        }
        if lost > 0 {
            let message = format!(
                "defective sectors that hold no data or have no replacement in the zone, left out: {lost}"
            );
            report.warn(&zone.at, message);
        }
    }
}

fn moved(spec: &LayoutSpec, layout: &Layout, zone: &RawZone, from: u64, to: u64) -> Option<RemapSpec> {
    let sectors = u64::from(zone.sectors_per_track);
    let place = |slot: u64| {
        let [cylinder, head] = track(spec.order, spec.heads, zone, slot / sectors);
        (cylinder, head, (slot % sectors) as u32)
    };
    let (cylinder, head, sector) = place(from);
    let lba = layout.lba_at(cylinder, head, sector)?;
    let (cylinder, head, sector) = place(to);
    Some(RemapSpec { lba, cylinder, head, sector })
}
