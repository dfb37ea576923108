//! Layouts given run by run: each run of tracks is a [`Zone`] of one surface, with a sequence of its own.
//!
//! Runs may share cylinders, so that a track is found by head and cylinder. Consecutive runs with equally many sectors
//! on a track are one zone to the outside.

use super::place::ZoneSummary;
use super::zone::Zone;
use crate::spec::TrackRunSpec;

/// The runs as zones, numbered as they appear to the outside: by `numbers`, or anew where the sectors on a track change.
/// Spare tracks open no zone of their own.
pub(super) fn zones(runs: &[TrackRunSpec], numbers: Option<&[u32]>) -> Vec<Zone> {
    if let Some(numbers) = numbers {
        return runs.iter().zip(numbers).map(|(run, &number)| Zone::of_run(run, number)).collect();
    }
    let mut number = 0;
    let mut before: Option<u32> = None;
    runs.iter()
        .map(|run| {
            if run.data_sectors() > 0 {
                number += u32::from(before.is_some_and(|slots| slots != run.sectors_per_track));
                before = Some(run.sectors_per_track);
            }
            Zone::of_run(run, number)
        })
        .collect()
}

/// Which zone, or run, a track belongs to.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    /// Head, lowest cylinder and number of each run, ascending; none for a layout of zones.
    runs: Vec<(u32, u32, usize)>,
}

impl Finder {
    pub(super) fn new(runs: &[TrackRunSpec]) -> Self {
        let mut runs: Vec<_> =
            runs.iter().enumerate().map(|(at, run)| (run.head, run.cylinder_range().0, at)).collect();
        runs.sort_unstable();
        Self { runs }
    }

    /// Whether the layout is given in runs.
    pub(super) fn is_of_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// The zone that holds a track; by cylinder alone unless the layout is given in runs.
    pub(super) fn zone_of(&self, zones: &[Zone], cylinder: u32, head: u32) -> Option<usize> {
        let zone = if self.is_of_runs() {
            let after = self.runs.partition_point(|&(of, first, _)| (of, first) <= (head, cylinder));
            let (of, _, run) = self.runs[after.checked_sub(1)?];
            (of == head).then_some(run)?
        } else {
            zones.partition_point(|zone| zone.first_cylinder <= cylinder).checked_sub(1)?
        };
        (cylinder <= zones[zone].last_cylinder).then_some(zone)
    }
}

/// The zones as they appear to the outside; `ends` are the addresses behind each zone or run.
pub(super) fn summaries(zones: &[Zone], ends: impl Iterator<Item = u64>) -> Vec<ZoneSummary> {
    let mut summaries: Vec<(u32, ZoneSummary)> = Vec::new();
    let mut first_lba = 0;
    for (zone, end_lba) in zones.iter().zip(ends) {
        let sectors = end_lba - first_lba;
        match summaries.last_mut() {
            _ if zone.is_spare() => {}
            Some((number, summary)) if *number == zone.number => {
                summary.sectors += sectors;
                summary.first_cylinder = summary.first_cylinder.min(zone.first_cylinder);
                summary.last_cylinder = summary.last_cylinder.max(zone.last_cylinder);
                summary.sectors_per_track = summary.sectors_per_track.max(zone.sectors.value() as u32);
            }
            _ => {
                let summary = ZoneSummary {
                    first_lba,
                    sectors,
                    first_cylinder: zone.first_cylinder,
                    last_cylinder: zone.last_cylinder,
                    sectors_per_track: zone.sectors.value() as u32,
                };
                summaries.push((zone.number, summary));
            }
        }
        first_lba = end_lba;
    }
    summaries.into_iter().map(|(_, summary)| summary).collect()
}
