//! What was measured inside each zone.

use super::extraction::ZoneFindings;
use crate::reading::cylinders::CylinderMap;
use crate::reading::known::{Changes, Known};
use crate::reading::order;
use crate::reading::tracks::{self, Border};
use crate::reading::zones::Zone;
use crate::record::{ProbeName, Record};

pub(super) fn zone_findings(record: &Record, known: &Known, map: Option<&CylinderMap>) -> Vec<ZoneFindings> {
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
            .map(|spindle| tracks::borders(record, ProbeName::ZoneTracks, series as u32, spindle))
            .unwrap_or_default();
        if borders.is_empty() && known.zones.len() == 1 {
            borders.clone_from(&known.borders);
        }
        let per_turn = borders.first().map_or(zone.sectors_per_track as f64, |border| border.per_turn);
        let (common, rare) = if borders.is_empty() { (None, None) } else { tracks::skews(&borders) };
        // Where a zone has one kind of skew, though a change of cylinder is among its tracks, both are alike in it.
        let heads = known.order.as_ref().map_or(0, |order| u64::from(order.heads));
        let spans_cylinders = heads > 0 && tracks::span_cylinders(&borders, heads);
        let (head, cylinder) = match changes {
            Changes::HeadThenCylinder => (common, rare.or(common.filter(|_| spans_cylinders))),
            Changes::CylinderThenHead => (rare, common),
            Changes::CylinderOnly => (None, common),
            // Whatever a track's change is of.
            Changes::Alike => (common, common),
            Changes::Unknown => (None, None),
        };
        let sectors = |skew: tracks::Skew| skew.turns * per_turn;
        let error =
            |skew: Option<tracks::Skew>| skew.and_then(|skew| skew.ci95_turns).map(|turns| turns * per_turn);
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
