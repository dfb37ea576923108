//! Track borders: first sectors, angles, and from them sectors per turn and skews.

use super::hits::hit_times;
use crate::angles::median::{circular_median, median, spread};
use crate::angles::sighting::{Sighting, angle_of};
use crate::angles::spindle::{Spindle, wrap, wrap_signed};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// A track as its border with the one before shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Border {
    /// Number of the track within its series.
    pub(crate) number: i64,
    /// The track's first sector.
    pub(crate) first: u64,
    /// The angle of that sector, in turns.
    pub(crate) angle: f64,
    /// Sectors on the track before, as far as it was followed.
    pub(crate) sectors_before: Option<u64>,
    /// By how much the angle of the first sector lags behind that of the track before, in turns.
    pub(crate) skew_turns: Option<f64>,
    /// Sectors in a turn, spares included, as most tracks have them.
    pub(crate) per_turn: f64,
    /// The same of the track before alone.
    pub(crate) own_per_turn: f64,
    /// Whether the skew is of the rarer of two kinds.
    pub(crate) rare: bool,
}

#[cfg(test)]
impl Border {
    /// The border behind a track with so many sectors, of which so many fit in a turn.
    pub(crate) fn test(number: i64, first: u64, sectors_before: Option<u64>, own_per_turn: f64) -> Self {
        let per_turn = own_per_turn;
        Self {
            number,
            first,
            angle: 0.0,
            sectors_before,
            skew_turns: None,
            per_turn,
            own_per_turn,
            rare: false,
        }
    }
}

/// Angles of all sectors of a series.
fn angles<'a>(samples: impl Iterator<Item = &'a Sample>, spindle: Spindle) -> BTreeMap<u64, f64> {
    let mut seen: BTreeMap<u64, Vec<Sighting>> = BTreeMap::new();
    for sample in samples {
        seen.entry(sample.lba).or_default().push(Sighting::of(sample, spindle));
    }
    seen.into_iter().map(|(lba, seen)| (lba, angle_of(&seen))).collect()
}

/// Where tracks were followed more than once from the first on: the last time. Over long times the least error of the speed
/// would shift the angles.
fn last_pass<'a, 'b>(samples: &'a [&'b Sample]) -> &'a [&'b Sample] {
    let mut start = 0;
    let mut highest = -1;
    for (place, sample) in samples.iter().enumerate() {
        if sample.step == 0 && highest > 0 {
            (start, highest) = (place, 0);
        }
        highest = highest.max(sample.step);
    }
    &samples[start..]
}

/// The tracks that a probe followed in one of its series.
pub(crate) fn borders(record: &Record, probe: ProbeName, series: u32, spindle: Spindle) -> Vec<Border> {
    let unit = record.head.device.unit();
    let hits = hit_times(record);
    let samples: Vec<&Sample> = record
        .of(probe)
        .filter(|sample| sample.series == series && sample.role == Role::Measure && hits.leave(sample))
        .collect();
    let samples = last_pass(&samples);
    let angles = angles(samples.iter().copied(), spindle);
    // A border has two sides.
    let mut sides: BTreeMap<i64, u64> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.step >= 0) {
        let first = sides.entry(sample.step).or_insert(sample.lba);
        *first = (*first).max(sample.lba);
    }
    let mut found: Vec<Border> = Vec::new();
    for (number, first) in sides {
        let Some(&angle) = angles.get(&first) else { continue };
        let before = found.last().filter(|before| before.number + 1 == number && before.first < first);
        let sectors_before = before.map(|before| first - before.first);
        let skew_turns = before.map(|before| wrap(angle - before.angle));
        let own_per_turn = before
            .and_then(|before| {
                let last = angles.get(&(first - unit))?;
                let turned = wrap(last - before.angle);
                Some((first - unit - before.first) as f64 / turned)
            })
            .unwrap_or(f64::NAN);
        let per_turn = own_per_turn;
        found.push(Border {
            number,
            first,
            angle,
            sectors_before,
            skew_turns,
            per_turn,
            own_per_turn,
            rare: false,
        });
    }
    let per_turn = per_turn(&found);
    for border in &mut found {
        border.per_turn = per_turn;
    }
    mark_rare(&mut found);
    found
}

/// The first series of `tracks` that found any.
pub(crate) fn tracks_at_start(record: &Record, spindle: Spindle) -> Vec<Border> {
    (0..8)
        .map(|series| borders(record, ProbeName::Tracks, series, spindle))
        .find(|borders| borders.len() > 36)
        .unwrap_or_default()
}

/// Sectors in a turn: as many as the tracks have, unless the angles say clearly otherwise (spares on each track).
fn per_turn(borders: &[Border]) -> f64 {
    let usual = usual_sectors(borders) as f64;
    let estimates: Vec<f64> = borders
        .iter()
        .filter(|border| border.sectors_before.is_some_and(|sectors| sectors as f64 == usual))
        .map(|border| border.per_turn)
        .collect();
    let estimate = median(&estimates);
    let error = 3.0 * spread(&estimates) / (estimates.len() as f64).sqrt().max(1.0);
    if (estimate - usual).abs() < (0.4_f64).max(error) { usual } else { estimate.round() }
}

/// Sectors of most tracks.
pub(crate) fn usual_sectors(borders: &[Border]) -> u64 {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    for sectors in borders.iter().filter_map(|border| border.sectors_before) {
        *counts.entry(sectors).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(sectors, count)| (count, sectors)).map_or(0, |(sectors, _)| sectors)
}

/// One of the two kinds of skew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Skew {
    /// In turns.
    pub(crate) turns: f64,
    /// How often it was seen.
    pub(crate) count: usize,
    /// 95 % confidence, half width, in turns.
    pub ci95_turns: f64,
}

/// The more common and the rarer skew.
pub(crate) fn skews(borders: &[Border]) -> (Option<Skew>, Option<Skew>) {
    let kind = |rare: bool| -> Option<Skew> {
        let all: Vec<f64> =
            borders.iter().filter(|b| b.rare == rare).filter_map(|border| border.skew_turns).collect();
        let first = circular_median(&all);
        // A slipped track or sector makes an odd one out.
        let regular: Vec<f64> = all
            .iter()
            .map(|&turns| wrap_signed(turns - first))
            .filter(|off| off.abs() < 1.5 / borders[0].per_turn.max(1.0) + 0.004)
            .collect();
        let mean = regular.iter().sum::<f64>() / regular.len().max(1) as f64;
        let ci95_turns = 1.96 * spread(&regular) / (regular.len() as f64).sqrt().max(1.0);
        (!regular.is_empty()).then(|| Skew { turns: wrap(first + mean), count: regular.len(), ci95_turns })
    };
    (kind(false), kind(true))
}

/// Marks the rarer skew: the largest group of equal skews that are not the most common.
fn mark_rare(borders: &mut [Border]) {
    let per_turn = borders.first().map_or(1.0, |border| border.per_turn).max(1.0);
    let near = |a: f64, b: f64| wrap_signed(a - b).abs() < (1.4 / per_turn).max(0.006);
    let skews: Vec<f64> = borders.iter().filter_map(|border| border.skew_turns).collect();
    let most = |candidates: &[f64]| -> Option<f64> {
        candidates.iter().copied().max_by_key(|&a| candidates.iter().filter(|&&b| near(a, b)).count())
    };
    let Some(common) = most(&skews) else { return };
    let others: Vec<f64> = skews.iter().copied().filter(|&skew| !near(skew, common)).collect();
    let Some(rare) = most(&others) else { return };
    for border in borders.iter_mut() {
        border.rare = border.skew_turns.is_some_and(|skew| near(skew, rare));
    }
}
