//! Zones: runs of tracks with equally many sectors.

use super::hits::hit_times;
use super::tracks::{tracks_at_start, usual_sectors};
use crate::angles::sighting::{Sighting, angle_of};
use crate::angles::spindle::{Spindle, wrap};
use crate::record::{ProbeName, Record, Role};
use std::collections::BTreeMap;

/// A zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    /// Its first sector, to within a track.
    pub(crate) first_lba: u64,
    /// The first sector behind it.
    pub(crate) end_lba: u64,
    /// Data sectors on a track.
    pub(crate) sectors_per_track: u64,
}

impl Zone {
    /// Whole tracks.
    pub(crate) fn tracks(&self) -> u64 {
        (self.end_lba - self.first_lba) / self.sectors_per_track.max(1)
    }
}

/// A track: its first sector, its sectors, and how many of them fit in a turn by their angles.
#[derive(Clone, Copy, Debug)]
struct Track {
    first: u64,
    sectors: u64,
    per_turn: f64,
}

/// A series of the probe: tracks one behind the other.
type Tracks = Vec<Track>;

/// The zones that the probe `zones` found, or what `tracks` found as the only one; empty if nothing was measured.
pub(crate) fn zones(record: &Record, spindle: Spindle) -> Vec<Zone> {
    let sectors = record.head.device.sectors;
    let mut surveyed = surveyed(record, spindle);
    if surveyed.is_empty() {
        let borders = tracks_at_start(record, spindle);
        let usual = usual_sectors(&borders);
        return (usual > 0)
            .then_some(Zone { first_lba: 0, end_lba: sectors, sectors_per_track: usual })
            .into_iter()
            .collect();
    }
    surveyed.sort_unstable_by_key(|tracks| tracks[0].first);
    let mut zones: Vec<Zone> = Vec::new();
    for length in runs(&surveyed) {
        let Some(before) = zones.last_mut() else {
            zones.push(Zone { first_lba: 0, end_lba: sectors, sectors_per_track: length.1 });
            continue;
        };
        let edge = edge(&surveyed, before.sectors_per_track, length).max(before.first_lba + length.1);
        before.end_lba = edge;
        zones.push(Zone { first_lba: edge, end_lba: sectors, sectors_per_track: length.1 });
    }
    zones
}

/// The tracks of each series.
fn surveyed(record: &Record, spindle: Spindle) -> Vec<Tracks> {
    let mut sides: BTreeMap<u32, BTreeMap<i64, u64>> = BTreeMap::new();
    let mut seen: BTreeMap<(u32, u64), Vec<Sighting>> = BTreeMap::new();
    let hits = hit_times(record);
    for sample in record.of(ProbeName::Zones).filter(|s| s.role == Role::Measure && hits.leave(s)) {
        seen.entry((sample.series, sample.lba)).or_default().push(Sighting::of(sample, spindle));
        if sample.step >= 0 {
            let first = sides.entry(sample.series).or_default().entry(sample.step).or_insert(sample.lba);
            *first = (*first).max(sample.lba);
        }
    }
    let unit = record.head.device.unit();
    let angle = |series: u32, lba: u64| seen.get(&(series, lba)).map(|seen| angle_of(seen));
    sides
        .into_iter()
        .map(|(series, firsts)| {
            let firsts: Vec<u64> = firsts.into_values().collect();
            let track = |pair: &[u64]| {
                let turned = angle(series, pair[0]).zip(angle(series, pair[1] - unit));
                let sectors = pair[1] - pair[0];
                let per_turn = turned.map_or(f64::NAN, |(a, b)| (sectors - unit) as f64 / wrap(b - a));
                Track { first: pair[0], sectors, per_turn }
            };
            firsts.windows(2).map(track).collect::<Tracks>()
        })
        .filter(|tracks| !tracks.is_empty())
        .collect()
}

/// Places where another length begins: the first place that has it, and the length. A length that only one place has, or
/// that spans fewer than three tracks, is no zone.
fn runs(surveyed: &[Tracks]) -> Vec<(u64, u64)> {
    let longest = |tracks: &Tracks| tracks.iter().map(|track| track.sectors).max().unwrap_or(0);
    // A place at a border has tracks of both sides: the pure ones tell what there is.
    let pure: Vec<(u64, u64)> = surveyed
        .iter()
        .filter(|tracks| tracks.len() <= 4)
        .map(|tracks| (tracks[0].first, longest(tracks)))
        .collect();
    let mut runs: Vec<(u64, u64, u64, usize)> = Vec::new();
    for (lba, length) in pure {
        match runs.last_mut() {
            Some(run) if run.1 == length => {
                run.2 = lba;
                run.3 += 1;
            }
            _ => runs.push((lba, length, lba, 1)),
        }
    }
    let solid: Vec<_> = runs.into_iter().filter(|run| run.3 > 1 || run.2 > run.0 + 2 * run.1).collect();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (lba, length, _, _) in solid {
        if merged.last().is_none_or(|last| last.1 != length) {
            merged.push((lba, length));
        }
    }
    merged
}

/// Where a zone of tracks with `length` sectors begins behind one of tracks with `before`, at or before `place`. A track that is
/// shorter than either, by spares or slipped sectors, is of the zone whose sectors are as wide as its own. Where the last track
/// of the one happens to end at the angle at which the first of the other begins, nothing shows between them: then whole tracks of
/// both fill the room, or else as many as there is room for are the new zone's.
fn edge(surveyed: &[Tracks], before: u64, (place, length): (u64, u64)) -> u64 {
    let middle = f64::midpoint(before as f64, length as f64);
    let is_new = |track: &Track| {
        track.sectors == length
            || track.sectors != before
                && (track.per_turn < middle) == (length < before)
                && track.per_turn.is_finite()
    };
    let old = |track: &Track| track.sectors == before;
    let near = || surveyed.iter().filter(|tracks| tracks[0].first <= place && tracks.iter().any(old)).rev();
    let shown = near().find_map(|tracks| {
        let last = tracks.iter().rposition(old)?;
        tracks[last + 1..].iter().find(|track| is_new(track)).map(|track| track.first)
    });
    shown.unwrap_or_else(|| {
        let border = near()
            .flatten()
            .filter(|track| track.first < place)
            .map(|track| track.first + track.sectors)
            .max();
        let all = surveyed.iter().flatten().filter(|track| track.sectors == length).map(|track| track.first);
        match border.and_then(|border| Some((border, all.filter(|&first| first >= border).min()?))) {
            Some((border, next)) if next <= place => {
                next - new_tracks(next - border, before, length) * length
            }
            _ => place,
        }
    })
}

/// How many tracks of the new zone there are among sectors that tracks of both fill.
fn new_tracks(sectors: u64, before: u64, length: u64) -> u64 {
    let most = sectors / length;
    (0..=most).find(|tracks| (sectors - tracks * length).is_multiple_of(before)).unwrap_or(most)
}

/// Whether the second half of the device is like the first: two actuators, each with half of the addresses. A drive of a
/// single zone does not show it.
pub(crate) fn halves(zones: &[Zone], sectors: u64) -> bool {
    let (first, second) = zones.split_at(zones.len() / 2);
    let alike =
        first.iter().map(|zone| zone.sectors_per_track).eq(second.iter().map(|zone| zone.sectors_per_track));
    first.len() > 1 && alike && second[0].first_lba.abs_diff(sectors / 2) <= 2 * second[0].sectors_per_track
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracks_of_both_zones_fill_the_room_between_them() {
        // One of 113 and one of 100 sectors: two new ones were taken to begin 13 sectors behind the last border.
        assert_eq!(new_tracks(213, 113, 100), 1);
        assert_eq!(new_tracks(339, 113, 100), 0);
        // Where spares made one shorter.
        assert_eq!(new_tracks(311, 113, 100), 3);
    }
}
