//! What was measured inside each zone.

use super::extraction::ZoneFindings;
use crate::reading::cylinders::CylinderMap;
use crate::reading::head_zones::HeadZone;
use crate::reading::known::{Changes, Known};
use crate::reading::order;
use crate::reading::tracks::{self, Border};
use crate::reading::zones::Zone;
use crate::record::{ProbeName, Record};

pub(super) fn zone_findings(record: &Record, known: &Known, map: Option<&CylinderMap>) -> Vec<ZoneFindings> {
    if !known.head_zones.is_empty() {
        return of_heads(&known.head_zones);
    }
    let changes = known.changes();
    let heads_of = |borders: &[Border]| -> Option<u32> {
        match &known.order {
            Some(order) if changes != Changes::HeadThenCylinder => order.surfaces(),
            _ => order::pattern(borders).map(|pattern| pattern.spacing as u32),
        }
    };
    let zone = |(series, zone): (usize, &Zone)| {
        let mut borders = known
            .spindle
            .map(|spindle| {
                tracks::borders_within(record, (ProbeName::ZoneTracks, series as u32), zone, spindle)
            })
            .unwrap_or_default();
        if borders.is_empty() && known.zones.len() == 1 && !known.no_skews {
            borders.clone_from(&known.borders);
        }
        let sectors_per_track = zone.sectors_per_track as f64;
        let per_turn =
            borders.first().map_or(sectors_per_track, |border| border.per_turn.max(sectors_per_track));
        let (common, rare) = if borders.is_empty() { (None, None) } else { tracks::skews(&borders) };
        // Where a zone has one kind of skew, though a change of cylinder is among its tracks, both are alike in it.
        let heads = known.order.as_ref().map_or(0, |order| u64::from(order.heads));
        let spans_cylinders = heads > 0 && tracks::span_cylinders(&borders, heads);
        let alike = known.order.as_ref().is_some_and(|order| order.by_times);
        let (head, cylinder) = match changes {
            Changes::HeadThenCylinder => (common, rare.or(common.filter(|_| spans_cylinders))),
            Changes::CylinderThenHead => (rare.or(common.filter(|_| alike)), common),
            Changes::CylinderOnly => (None, common),
            // Whatever a track's change is of.
            Changes::Alike => (common, common),
            Changes::Unknown => (None, None),
        };
        let none = known.no_skews.then_some(tracks::Skew { turns: 0.0, ci95_turns: None });
        let (head, cylinder) = match changes {
            Changes::CylinderOnly => (head, cylinder.or(none)),
            Changes::Unknown => (head, cylinder),
            _ => (head.or(none), cylinder.or(none)),
        };
        let sectors = |skew: tracks::Skew| skew.turns * per_turn;
        let error = |skew: Option<tracks::Skew>| {
            let known = skew.and_then(|skew| skew.ci95_turns).filter(|_| !known.skews_unsure);
            known.map(|turns| turns * per_turn)
        };
        let (head_error, cylinder_error) = (error(head), error(cylinder));
        // Of tracks that were not counted by cylinders, the map knows no cylinders.
        let counted = known.order.as_ref().is_some_and(|order| order.counted);
        let cylinders = map.and_then(|map| map.zones.get(series)).filter(|_| counted);
        ZoneFindings {
            first_lba: zone.first_lba,
            end_lba: zone.end_lba,
            first_cylinder: cylinders.map(|zone| zone.first_cylinder),
            last_cylinder: cylinders.map(|zone| zone.first_cylinder + zone.cylinders - 1),
            sectors_per_track: zone.sectors_per_track,
            sectors_per_track_by_head: Vec::new(),
            sectors_per_revolution: per_turn,
            track_skew_sectors: head.map(sectors),
            cylinder_skew_sectors: cylinder.map(sectors),
            track_skew_ci95_sectors: head_error,
            cylinder_skew_ci95_sectors: cylinder_error,
            skew_ci95_sectors: [head_error, cylinder_error].into_iter().flatten().reduce(f64::max),
            heads: heads_of(&borders),
        }
    };
    known.zones.iter().enumerate().map(zone).collect()
}

/// Zones in which each head has a density of its own.
fn of_heads(zones: &[HeadZone]) -> Vec<ZoneFindings> {
    let mut first_cylinder = 0;
    let findings = |zone: &HeadZone| {
        let heads = zone.sectors.len() as u64;
        let sectors_per_track = (zone.per_cylinder() + heads / 2) / heads;
        let nominal = sectors_per_track as f64;
        let first = first_cylinder;
        first_cylinder += zone.cylinders();
        ZoneFindings {
            first_lba: zone.first_lba,
            end_lba: zone.end_lba,
            first_cylinder: Some(first),
            last_cylinder: Some(first_cylinder - 1),
            sectors_per_track,
            sectors_per_track_by_head: zone.sectors.clone(),
            sectors_per_revolution: nominal,
            track_skew_sectors: Some(zone.track_skew * nominal),
            cylinder_skew_sectors: Some(zone.cylinder_skew() * nominal),
            track_skew_ci95_sectors: None,
            cylinder_skew_ci95_sectors: None,
            skew_ci95_sectors: None,
            heads: Some(heads as u32),
        }
    };
    zones.iter().map(findings).collect()
}
