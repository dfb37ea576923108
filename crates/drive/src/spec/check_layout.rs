//! Checks of `[layout]`: zones, spares, slips, regions and remaps. Those of runs are in [`super::check_runs`].

use super::check::Findings;
use super::check_heads;
use super::check_runs::{self, RunTracks};
use super::{LayoutSpec, Order, RemapSpec, SpareGroup, SparesSpec, ZoneSpec};
use crate::layout::{Layout, group_slots};
use std::collections::BTreeSet;

/// Largest capacity that is believed: 2^50 sectors.
const MAX_SECTORS: u64 = 1 << 50;

pub(super) fn layout(layout: &LayoutSpec, findings: &mut Findings) {
    if !(1..=1024).contains(&layout.heads) {
        findings.add("layout.heads", format!("{} is not between 1 and 1024", layout.heads));
    }
    if layout.zone.is_empty() && layout.run.is_empty() {
        findings.add("layout.zone", "there must be at least one [[layout.zone]] (or one [[layout.run]])");
    }
    match (layout.order, layout.group_cylinders) {
        (Order::SerpentineBySurface, None | Some(0)) => findings.add(
            "layout.group_cylinders",
            "serpentine-by-surface order needs it: cylinders on one surface before the head switch",
        ),
        (Order::SerpentineBySurface, Some(_)) => {}
        (_, Some(_)) => findings.add(
            "layout.group_cylinders",
            "has a meaning only with order = \"serpentine-by-surface\": remove it or change the order",
        ),
        _ => {}
    }
    let mut sectors = check_runs::runs(layout, findings);
    for (index, zone) in layout.zone.iter().enumerate() {
        one_zone(&format!("layout.zone.{index}"), zone, layout, findings);
        let cylinders = u64::from(zone.last_cylinder.saturating_sub(zone.first_cylinder)) + 1;
        sectors = sectors.saturating_add(cylinders.saturating_mul(zone.sectors_per_cylinder(layout.heads)));
    }
    for (index, pair) in layout.zone.windows(2).enumerate() {
        if pair[1].first_cylinder <= pair[0].last_cylinder {
            findings.add(
                format!("layout.zone.{}.first_cylinder", index + 1),
                format!(
                    "zone {} begins at cylinder {}, but zone {index} goes up to {}: zones must not overlap",
                    index + 1,
                    pair[1].first_cylinder,
                    pair[0].last_cylinder
                ),
            );
        }
    }
    if layout.slipped_sectors.last().is_some_and(|&last| last >= sectors) {
        findings
            .add("layout.slipped_sectors", format!("the drive has only {sectors} sectors, counted from 0"));
    }
    if sectors > MAX_SECTORS {
        findings.add("layout", format!("{sectors} sectors in all is beyond belief (at most 2^50)"));
    }
    if layout.capacity_sectors.is_some_and(|capacity| capacity == 0 || capacity > sectors) {
        findings.add(
            "layout.capacity_sectors",
            format!("is not between 1 and the {sectors} sectors of the tracks"),
        );
    }
    let with_tracks = layout.cylinders_with_tracks();
    if let Some(cylinders) = layout.cylinders
        && cylinders < with_tracks
    {
        let what = if layout.run.is_empty() { "the last zone goes" } else { "the runs go" };
        findings.add(
            "layout.cylinders",
            format!("{cylinders} cylinders, but {what} up to cylinder {}", with_tracks - 1),
        );
    }
    defects(layout, findings);
    check_heads::heads(layout, findings);
    if findings.0.is_empty() {
        held(layout, findings);
    }
}

/// Whether a sound layout holds what it should.
fn held(layout: &LayoutSpec, findings: &mut Findings) {
    let holds = Layout::new(&LayoutSpec { capacity_sectors: None, ..layout.clone() }).capacity();
    if let Some(capacity) = layout.capacity_sectors
        && capacity > holds
    {
        findings.add("layout.capacity_sectors", format!("{capacity}, but the tracks hold only {holds}"));
    }
    if holds == 0 {
        findings.add("layout", "spares and slipped sectors leave no sector for data");
    }
}

fn one_zone(path: &str, zone: &ZoneSpec, layout: &LayoutSpec, findings: &mut Findings) {
    if zone.last_cylinder < zone.first_cylinder {
        findings.add(
            format!("{path}.last_cylinder"),
            format!("{} lies before first_cylinder ({})", zone.last_cylinder, zone.first_cylinder),
        );
    }
    if zone.last_cylinder > 100_000_000 {
        findings.add(format!("{path}.last_cylinder"), "more than 100 million cylinders is beyond belief");
    }
    if !(1..=1_000_000).contains(&zone.sectors_per_track) {
        findings.add(
            format!("{path}.sectors_per_track"),
            format!("{} is not between 1 and 1000000", zone.sectors_per_track),
        );
    }
    if zone.spare_sectors_per_track > 1_000_000 {
        findings.add(
            format!("{path}.spare_sectors_per_track"),
            format!("{} is more than 1000000", zone.spare_sectors_per_track),
        );
    }
    let slots = f64::from(zone.sectors_per_track) + f64::from(zone.spare_sectors_per_track);
    for (key, skew) in [
        ("track_skew_sectors", zone.track_skew_sectors),
        ("cylinder_skew_sectors", zone.cylinder_skew_sectors),
    ] {
        if !(skew >= 0.0 && skew < slots) {
            findings.add(
                format!("{path}.{key}"),
                format!("a skew of {skew} sectors does not fit a track of {slots} sectors (spares included)"),
            );
        }
    }
    findings.range(&format!("{path}.first_sector_revolutions"), zone.first_sector_revolutions, 0.0, 1.0);
    if zone.spare_tracks_per_cylinder >= layout.heads {
        findings.add(
            format!("{path}.spare_tracks_per_cylinder"),
            format!(
                "{} spares leave no data track of {} heads",
                zone.spare_tracks_per_cylinder, layout.heads
            ),
        );
    }
    let tracks = u64::from(zone.last_cylinder.saturating_sub(zone.first_cylinder) + 1)
        * u64::from(layout.heads.saturating_sub(zone.spare_tracks_per_cylinder));
    if u64::from(zone.spare_tracks_at_end) >= tracks {
        findings.add(format!("{path}.spare_tracks_at_end"), format!("the zone has only {tracks} tracks"));
    }
    let slots =
        tracks.saturating_sub(u64::from(zone.spare_tracks_at_end)) * u64::from(zone.sectors_per_track);
    if zone.empty_sectors_at_front >= slots.max(1) {
        findings.add(format!("{path}.empty_sectors_at_front"), format!("the zone has only {slots} sectors"));
    }
    if let Some(spares) = &zone.spares {
        zone_spares(&format!("{path}.spares"), spares, slots, zone, layout, findings);
    }
}

/// The spares of a zone whose data tracks have so many slots.
fn zone_spares(
    path: &str,
    spares: &SparesSpec,
    slots: u64,
    zone: &ZoneSpec,
    layout: &LayoutSpec,
    findings: &mut Findings,
) {
    let in_zone = |track: &&[u32; 2]| (zone.first_cylinder..=zone.last_cylinder).contains(&track[0]);
    let whole_cylinders = layout.order != Order::SerpentineBySurface
        && layout.region.is_empty()
        && !layout.slipped_tracks.iter().any(|track| in_zone(&track));
    match (spares.per, spares.cylinders) {
        (SpareGroup::Cylinders, Some(0)) => {
            findings.add(format!("{path}.cylinders"), "a range has at least one cylinder");
        }
        (SpareGroup::Cylinders, _) if !whole_cylinders => findings.add(
            format!("{path}.per"),
            "spares per cylinder need whole cylinders in order: no regions, no slipped tracks in the zone, and no \
             serpentine-by-surface order; \"track\" and \"zone\" go with all of them",
        ),
        (SpareGroup::Track | SpareGroup::Zone, Some(_)) => findings
            .add(format!("{path}.cylinders"), "has a meaning only with per = \"cylinders\": remove it"),
        _ => {}
    }
    if slots == 0 {
        return;
    }
    let group = group_slots(layout, zone, spares, slots).clamp(1, slots);
    let last = slots - (slots - 1) / group * group;
    if spares.sectors == 0 || u64::from(spares.sectors) >= group || u64::from(spares.sectors) > last {
        findings.add(
            format!("{path}.sectors"),
            format!("{} is not between 1 and the {} sectors of a group", spares.sectors, group.min(last)),
        );
    }
    let skew = spares.range_skew_sectors;
    let slots_on_track = zone.sectors_per_track.saturating_add(zone.spare_sectors_per_track).max(1);
    if !(skew >= 0.0 && skew < f64::from(slots_on_track)) {
        let message = format!("a skew of {skew} sectors does not fit a track of the zone");
        findings.add(format!("{path}.range_skew_sectors"), message);
    }
    if skew > 0.0 && spares.cylinders.is_none() {
        let message = "needs `cylinders`: a range skew falls between ranges";
        findings.add(format!("{path}.range_skew_sectors"), message);
    }
    if !spares.slipped_slots.windows(2).all(|pair| pair[0] < pair[1]) {
        findings.add(format!("{path}.slipped_slots"), "must ascend without repetition");
    }
    if spares.slipped_slots.iter().any(|&slot| slot >= slots) {
        findings.add(
            format!("{path}.slipped_slots"),
            format!("the zone has only {slots} slots on its data tracks, counted from 0"),
        );
    }
    for slips in spares.slipped_slots.chunk_by(|a, b| a / group == b / group) {
        if slips.len() as u64 > u64::from(spares.sectors) {
            findings.add(
                format!("{path}.slipped_slots"),
                format!(
                    "{} slipped sectors from slot {} on share {} spares: a slip needs a spare",
                    slips.len(),
                    slips[0],
                    spares.sectors
                ),
            );
        }
    }
}

fn defects(layout: &LayoutSpec, findings: &mut Findings) {
    if !layout.slipped_sectors.windows(2).all(|pair| pair[0] < pair[1]) {
        findings.add("layout.slipped_sectors", "must ascend without repetition");
    }
    let cylinders = layout.cylinders_with_tracks();
    for track in &layout.slipped_tracks {
        if track[0] >= cylinders || track[1] >= layout.heads {
            findings.add("layout.slipped_tracks", format!("there is no track {}/{}", track[0], track[1]));
        }
    }
    let key = |cylinder: u32, head: u32| (cylinder, head);
    let mut end: Option<(u32, u32)> = None;
    for (index, region) in layout.region.iter().enumerate() {
        let first = key(region.first_cylinder, region.first_head);
        let last = key(region.last_cylinder, region.last_head);
        let path = format!("layout.region.{index}");
        if last < first || end.is_some_and(|end| first <= end) {
            findings.add(&path, "regions must ascend without overlap");
        }
        if region.last_cylinder >= cylinders || region.first_head.max(region.last_head) >= layout.heads {
            findings.add(&path, "reaches beyond the drive's tracks");
        }
        end = Some(last);
    }
    if !layout.region.is_empty() && layout.order != Order::Classical {
        findings
            .add("layout.region", "regions are given in classical track order: order must be \"classical\"");
    }
    remaps(layout, findings);
}

fn remaps(layout: &LayoutSpec, findings: &mut Findings) {
    let tracks = RunTracks::new(&layout.run);
    let slots = |remap: &RemapSpec| {
        let inside = |zone: &&ZoneSpec| (zone.first_cylinder..=zone.last_cylinder).contains(&remap.cylinder);
        let zone = layout.zone.iter().find(inside);
        zone.map(|zone| u64::from(zone.sectors_on_head(remap.head)) + u64::from(zone.spare_sectors_per_track))
            .or_else(|| tracks.sectors_at(remap.cylinder, remap.head).map(u64::from))
    };
    let mut seen = BTreeSet::new();
    for (index, remap) in layout.remap.iter().enumerate() {
        if !seen.insert(remap.lba) {
            findings.add(format!("layout.remap.{index}"), format!("sector {} is remapped twice", remap.lba));
        }
        if remap.head >= layout.heads || slots(remap).is_none_or(|slots| u64::from(remap.sector) >= slots) {
            findings.add(format!("layout.remap.{index}"), "leads to no sector of this drive");
        }
    }
}
