//! Two tracks to a cylinder: its two skews come in turns, and neither is rarer. Which of them is the cylinder's is told by where
//! cylinders begin, at the start of the device and of its zones, and by times: over an odd number of tracks it is one cylinder farther
//! from a cylinder's second track than from its first.

use super::density;
use super::least;
use super::tracks::{Border, Kinds, tracks_at_start_unmarked, unmarked, usual_sectors};
use crate::angles::spindle::Spindle;
use crate::record::series::switches::ODD;
use crate::record::series::zones::WALK;
use crate::record::{ProbeName, Record};
use std::collections::BTreeMap;

/// Tracks behind the beginning of the device, and of a zone, that are looked at.
const TRACKS: usize = 8;
/// Places at which tracks of two zones were followed have more tracks than this.
const LEAST_TRACKS: usize = 5;
/// Two times differ if they do by more than this, in ms.
const LEAST_MS: f64 = 0.0005;

/// Whether the larger of two skews is the rarer one: that of the cylinder, where these come in turns. `None` where nothing tells, or
/// what tells it contradicts itself.
pub(crate) fn larger_is_rare(record: &Record, spindle: Spindle) -> Option<bool> {
    let start = tracks_at_start_unmarked(record, spindle);
    let kinds = Kinds::of(&start)?;
    if !kinds.in_turns {
        return Some(kinds.other > kinds.common);
    }
    by_times(record, spindle, &start).or_else(|| {
        let all: Vec<bool> = by_start(&start).into_iter().chain(by_zones(record, spindle)).collect();
        all.first().copied().filter(|first| all.iter().all(|each| each == first))
    })
}

/// Whether two tracks make a cylinder, and nothing tells which of its two skews is which.
pub(crate) fn is_unsure(record: &Record, spindle: Spindle) -> bool {
    let kinds = Kinds::of(&tracks_at_start_unmarked(record, spindle));
    kinds.is_some_and(|kinds| kinds.in_turns) && larger_is_rare(record, spindle).is_none()
}

/// By the least times over an odd number of tracks.
fn by_times(record: &Record, spindle: Spindle, start: &[Border]) -> Option<bool> {
    let slope = density::slope(start);
    let times = least::by_step(record, (ProbeName::Switches, ODD), slope, spindle);
    let (behind_larger, behind_smaller) = (times.get(&0)?, times.get(&1)?);
    let later = behind_smaller.ms - behind_larger.ms;
    let error = f64::hypot(behind_larger.ci95_ms(), behind_smaller.ci95_ms());
    (later.abs() > LEAST_MS.max(2.0 * error)).then_some(later > 0.0)
}

/// By the tracks from the device's first sector on, if a track begins there.
fn by_start(start: &[Border]) -> Option<bool> {
    let first = start.first().filter(|first| first.number == 0)?;
    let usual = usual_sectors(start);
    // A slipped sector makes it shorter.
    let begins = first.first <= usual && first.first + usual / 8 >= usual;
    begins.then(|| of_second_tracks(&start[..start.len().min(TRACKS)])).flatten()
}

/// By the tracks behind the beginnings of zones.
fn by_zones(record: &Record, spindle: Spindle) -> Vec<bool> {
    let mut tracks: BTreeMap<u32, i64> = BTreeMap::new();
    let found = record.of(ProbeName::Zones).filter(|sample| sample.series < WALK && sample.step >= 0);
    for sample in found {
        let most = tracks.entry(sample.series).or_default();
        *most = (*most).max(sample.step);
    }
    let several = tracks.into_iter().filter(|&(_, most)| most > LEAST_TRACKS as i64);
    several.filter_map(|(series, _)| by_zone(&unmarked(record, ProbeName::Zones, series, spindle))).collect()
}

/// Whole tracks of one zone, and behind them whole tracks of the next.
fn by_zone(borders: &[Border]) -> Option<bool> {
    let (before, behind) = (borders.get(1)?.sectors_before?, borders.last()?.sectors_before?);
    let last = borders.iter().rposition(|border| border.sectors_before == Some(before))?;
    let of_zone = borders.get(last + 1..)?;
    let whole = before != behind && of_zone.iter().all(|border| border.sectors_before == Some(behind));
    whole.then(|| of_second_tracks(&of_zone[..of_zone.len().min(TRACKS)])).flatten()
}

/// Whether skews to the first track of a cylinder are larger than those to its second, by the borders from that of a second one on.
fn of_second_tracks(borders: &[Border]) -> Option<bool> {
    let kinds = Kinds::of(borders).filter(|kinds| kinds.in_turns)?;
    let (smaller, larger) = (kinds.common.min(kinds.other), kinds.common.max(kinds.other));
    let told = borders.iter().enumerate().filter_map(|(place, border)| {
        let skew = border.skew_turns?;
        let is_larger = kinds.are_alike(skew, larger);
        (is_larger || kinds.are_alike(skew, smaller)).then_some(is_larger == (place % 2 == 1))
    });
    let told: Vec<bool> = told.collect();
    told.first().copied().filter(|first| told.len() > 1 && told.iter().all(|each| each == first))
}
