//! Zones whose heads differ: in density (adaptive formatting) or in where their tracks begin. Such zones become runs of tracks,
//! each along one surface, which the rest of the layout knows how to handle.
//!
//! Skews stay fractions of a revolution: they count sectors of the zone's nominal track, whatever a head's own density.

use super::sequence::Sequence;
use crate::spec::{LayoutSpec, TrackRunSpec, ZoneSpec};

/// Runs in the order of addresses, and the number of the zone that each is part of.
pub(super) struct ByHead {
    pub(super) runs: Vec<TrackRunSpec>,
    pub(super) zones: Vec<u32>,
}

impl ByHead {
    /// The zones as runs; `None` where all heads are alike.
    pub(super) fn new(spec: &LayoutSpec) -> Option<Self> {
        if !spec.heads_differ() {
            return None;
        }
        let mut by_head = Self { runs: Vec::new(), zones: Vec::new() };
        for (number, zone) in (0..).zip(&spec.zone) {
            by_head.add(spec, zone, number);
        }
        Some(by_head)
    }

    fn add(&mut self, spec: &LayoutSpec, zone: &ZoneSpec, number: u32) {
        let sequence = Sequence::new(spec, zone);
        let end = sequence.len().saturating_sub(u64::from(zone.spare_tracks_at_end));
        let mut index = 0;
        while index < end {
            let tracks = sequence.along_surface(index).min(end - index);
            self.runs.push(run(spec, zone, &sequence, index, tracks));
            self.zones.push(number);
            index += tracks;
        }
    }
}

/// How many runs the zones become, at most.
pub(crate) fn runs_by_head(spec: &LayoutSpec) -> u64 {
    let runs = |zone: &ZoneSpec| {
        let sequence = Sequence::new(spec, zone);
        sequence.len().div_ceil(sequence.along_surface(0).max(1))
    };
    if spec.heads_differ() { spec.zone.iter().map(runs).sum() } else { 0 }
}

/// The tracks of one head from `index` on.
fn run(spec: &LayoutSpec, zone: &ZoneSpec, sequence: &Sequence, index: u64, tracks: u64) -> TrackRunSpec {
    let first = sequence.track(index);
    let step = if tracks > 1 && sequence.track(index + 1).cylinder < first.cylinder { -1 } else { 1 };
    let data = zone.sectors_on_head(first.head);
    let slots = data + zone.spare_sectors_per_track;
    let nominal = f64::from((zone.sectors_per_track + zone.spare_sectors_per_track).max(1));
    let skewed = first.head_changes as f64 * zone.track_skew_sectors
        + first.cylinder_changes as f64 * zone.cylinder_skew_sectors;
    let own = spec.head_angle_revolutions.get(first.head as usize).copied().unwrap_or(0.0);
    TrackRunSpec {
        first_cylinder: first.cylinder,
        head: first.head,
        cylinders: tracks as u32,
        step,
        sectors_per_track: slots,
        first_sector: 0,
        data_sectors: (data < slots).then_some(data),
        // Whole revolutions go first: a large sum of skews has few bits left for the fraction.
        first_sector_revolutions: (zone.first_sector_revolutions + (skewed % nominal) / nominal + own)
            .rem_euclid(1.0),
        skew_sectors: zone.cylinder_skew_sectors / nominal * f64::from(slots),
    }
}
