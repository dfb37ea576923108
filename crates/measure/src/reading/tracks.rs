//! Track borders: first sectors, angles, and from them sectors per turn and skews.

use super::hits::hit_times;
use super::turns;
use super::zones::Zone;
use crate::angles::median::{circular_median, median, spread};
use crate::angles::sighting::{Sighting, angle_of, student};
use crate::angles::spindle::{Spindle, wrap, wrap_signed};
use crate::record::series::tracks::NO_SKEWS;
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::{BTreeMap, BTreeSet};

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
    let mut found = unmarked(record, probe, series, spindle);
    mark_rare(&mut found, || turns::larger_is_rare(record, spindle));
    found
}

/// Those of them that lie in a zone: what was followed beyond a short one is of others.
pub(crate) fn borders_within(
    record: &Record,
    (probe, series): (ProbeName, u32),
    zone: &Zone,
    spindle: Spindle,
) -> Vec<Border> {
    let mut found = unmarked(record, probe, series, spindle);
    found.retain(|border| (zone.first_lba..zone.end_lba).contains(&border.first));
    if let Some(first) = found.first_mut() {
        // By what it lags behind a track that is not of the zone says nothing.
        let before = first.sectors_before.and_then(|sectors| first.first.checked_sub(sectors));
        if before.is_none_or(|before| before < zone.first_lba) {
            (first.sectors_before, first.skew_turns, first.own_per_turn) = (None, None, f64::NAN);
        }
    }
    let per_turn = per_turn(&found);
    for border in &mut found {
        border.per_turn = if per_turn > 0.0 { per_turn } else { zone.sectors_per_track as f64 };
    }
    mark_rare(&mut found, || turns::larger_is_rare(record, spindle));
    found
}

/// The tracks of a series, the rarer skew not marked.
pub(super) fn unmarked(record: &Record, probe: ProbeName, series: u32, spindle: Spindle) -> Vec<Border> {
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
    found
}

/// The first series of `tracks` that found any.
pub(crate) fn tracks_at_start(record: &Record, spindle: Spindle) -> Vec<Border> {
    (0..=NO_SKEWS)
        .map(|series| borders(record, ProbeName::Tracks, series, spindle))
        .find(|borders| borders.len() > 36)
        .unwrap_or_default()
}

/// The same, the rarer skew not marked.
pub(super) fn tracks_at_start_unmarked(record: &Record, spindle: Spindle) -> Vec<Border> {
    (0..=NO_SKEWS)
        .map(|series| unmarked(record, ProbeName::Tracks, series, spindle))
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

/// Whether so many tracks were followed one behind the other that a change of cylinder is among them.
pub(crate) fn span_cylinders(borders: &[Border], heads: u64) -> bool {
    borders.iter().filter(|border| border.skew_turns.is_some()).count() as u64 > heads
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
    /// 95 % confidence, half width, in turns; `None` where there are too few to show how much they scatter.
    pub(crate) ci95_turns: Option<f64>,
}

/// By how much a skew may miss a whole number of sectors to be one, at least and at most, in sectors.
const LEAST_OFF: f64 = 0.05;
const MOST_OFF: f64 = 0.4;

/// Nearly all skews are whole sectors: one that misses that by no more than twice its interval is.
pub(crate) fn whole_sectors(skew: f64, ci95: Option<f64>) -> f64 {
    let most = (2.0 * ci95.unwrap_or(0.0)).clamp(LEAST_OFF, MOST_OFF);
    if (skew - skew.round()).abs() < most { skew.round() } else { skew }
}

impl Skew {
    /// In sectors, whole ones where it may be.
    pub(crate) fn whole_sectors(self, per_turn: f64) -> f64 {
        whole_sectors(self.turns * per_turn, self.ci95_turns.map(|turns| turns * per_turn))
    }
}

/// The more common and the rarer skew.
pub(crate) fn skews(borders: &[Border]) -> (Option<Skew>, Option<Skew>) {
    let kinds = [false, true].map(|rare| Alike::of(borders, rare));
    let error = AngleError::of(kinds.iter().flatten());
    let [common, rare] = kinds.map(|kind| kind.map(|kind| kind.skew(error)));
    (common, rare)
}

/// However well angles agree, none is known better, in turns: clocks have ticks, and the speed its error.
const LEAST_ERROR: f64 = 1e-6;

/// Skews of one kind.
struct Alike {
    /// Their mean, in turns.
    turns: f64,
    /// By how much each misses it, by the number of its track.
    misses: Vec<(i64, f64)>,
}

impl Alike {
    fn of(borders: &[Border], rare: bool) -> Option<Self> {
        let kind = borders.iter().filter(|border| border.rare == rare);
        let all: Vec<(i64, f64)> =
            kind.filter_map(|border| Some((border.number, border.skew_turns?))).collect();
        let first = circular_median(&all.iter().map(|&(_, turns)| turns).collect::<Vec<_>>());
        // A slipped track or sector makes an odd one out.
        let offs = all.iter().map(|&(number, turns)| (number, wrap_signed(turns - first)));
        let odd = 1.5 / borders.first()?.per_turn.max(1.0) + 0.004;
        let mut misses: Vec<(i64, f64)> = offs.filter(|(_, off)| off.abs() < odd).collect();
        let mean = misses.iter().map(|(_, off)| off).sum::<f64>() / misses.len() as f64;
        for (_, miss) in &mut misses {
            *miss -= mean;
        }
        (!misses.is_empty()).then(|| Self { turns: wrap(first + mean), misses })
    }

    /// The sum of squares of what each angle counts for in the mean: of two skews in a row, the angle between them does not.
    fn squares(&self) -> f64 {
        let share = 1.0 / self.misses.len() as f64;
        let mut counts: BTreeMap<i64, f64> = BTreeMap::new();
        for (number, _) in &self.misses {
            *counts.entry(*number).or_default() += share;
            *counts.entry(number - 1).or_default() -= share;
        }
        counts.values().map(|count| count * count).sum()
    }

    fn skew(&self, error: Option<AngleError>) -> Skew {
        let ci95_turns = error
            .map(|error| (student(error.freedom) * error.turns * self.squares().sqrt()).max(LEAST_ERROR));
        Skew { turns: self.turns, ci95_turns }
    }
}

/// The standard deviation of a track's angle, in turns, from how skews miss the means of their kinds.
#[derive(Clone, Copy, Debug)]
struct AngleError {
    turns: f64,
    freedom: f64,
}

/// Skews that miss by more than so many of the usual misses are of something else.
const MOST_MISSES: f64 = 4.0;

impl AngleError {
    fn of<'a>(kinds: impl Iterator<Item = &'a Alike> + Clone) -> Option<Self> {
        let misses: Vec<f64> =
            kinds.clone().flat_map(|kind| kind.misses.iter().map(|&(_, miss)| miss)).collect();
        let most = MOST_MISSES * spread(&misses);
        let used: Vec<f64> = misses.into_iter().filter(|miss| miss.abs() <= most).collect();
        // Each skew has the errors of two angles, less what it shares with the mean.
        let expected: f64 = kinds.clone().map(|kind| kind.misses.len() as f64 * (2.0 - kind.squares())).sum();
        let freedom = used.len() as f64 - kinds.count() as f64;
        let sum: f64 = used.iter().map(|miss| miss * miss).sum();
        (freedom >= 1.0 && expected > 0.0).then(|| Self { turns: (sum / expected).sqrt(), freedom })
    }
}

/// Skews are alike that differ by no more than this, in turns, where angles are misread by much; and by so many standard deviations of
/// an angle, …
const MOST_ALIKE: f64 = 0.006;
/// … but in any case if they differ by less than a sector, of which this is a part.
const LEAST_ALIKE: f64 = 0.7;
const SIGMAS: f64 = 8.0;

/// The two kinds of skew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kinds {
    /// The skew that is most common, and the most common other one, in turns.
    pub(crate) common: f64,
    pub(crate) other: f64,
    /// Whether they are about as common as each other, as with two tracks to a cylinder.
    pub(crate) in_turns: bool,
    /// By how much two of a kind may differ.
    alike: f64,
}

impl Kinds {
    /// `None` where all skews are alike.
    pub(crate) fn of(borders: &[Border]) -> Option<Self> {
        let alike = alike(borders);
        let near = |a: f64, b: f64| wrap_signed(a - b).abs() < alike;
        let skews: Vec<f64> = borders.iter().filter_map(|border| border.skew_turns).collect();
        let most = |candidates: &[f64]| -> Option<f64> {
            candidates.iter().copied().max_by_key(|&a| candidates.iter().filter(|&&b| near(a, b)).count())
        };
        let common = most(&skews)?;
        let others: Vec<f64> = skews.iter().copied().filter(|&skew| !near(skew, common)).collect();
        let other = most(&others)?;
        let count = |skew: f64| skews.iter().filter(|&&other| near(other, skew)).count();
        Some(Self { common, other, in_turns: 4 * count(other) >= 3 * count(common), alike })
    }

    /// Whether a skew is of the kind of another.
    pub(crate) fn are_alike(&self, a: f64, b: f64) -> bool {
        wrap_signed(a - b).abs() < self.alike
    }
}

/// By how much two skews of a kind may differ, in turns: the tracks themselves show how much angles are misread.
fn alike(borders: &[Border]) -> f64 {
    let usual = usual_sectors(borders);
    let turned = |border: &Border| {
        let whole = border.sectors_before == Some(usual) && border.own_per_turn.is_finite();
        whole.then(|| usual as f64 / border.own_per_turn)
    };
    let turned: Vec<f64> = borders.iter().filter_map(turned).collect();
    let misread = if turned.len() < LEAST_TRACKS { MOST_ALIKE } else { SIGMAS * spread(&turned) };
    let per_turn = borders.first().map_or(1.0, |border| border.per_turn).max(1.0);
    (LEAST_ALIKE / per_turn).max(misread.min(MOST_ALIKE))
}

/// So many tracks show how much angles are misread.
const LEAST_TRACKS: usize = 8;

/// Marks the rarer skew: the largest group of equal skews that are not the most common. Of two that are equally common, the larger
/// one, unless it is known not to be.
fn mark_rare(borders: &mut [Border], larger_is_rare: impl FnOnce() -> Option<bool>) {
    let Some(kinds) = Kinds::of(borders) else { return };
    let rare = match (kinds.in_turns, kinds.common, kinds.other) {
        (false, _, other) => other,
        (true, common, other) if larger_is_rare() == Some(false) => other.min(common),
        // To another cylinder it takes longer, and so the skew is larger.
        (true, common, other) => other.max(common),
    };
    for border in borders.iter_mut() {
        border.rare = border.skew_turns.is_some_and(|skew| kinds.are_alike(skew, rare));
    }
}

/// Where skews are all alike, marks the tracks behind those that are shorter than usual, where these come once in so many tracks:
/// cylinders end there with spares. A slipped sector makes one short here and there. Whether there are such.
pub(crate) fn mark_behind_short(borders: &mut [Border], heads: u64) -> bool {
    let usual = usual_sectors(borders);
    let behind = |length: u64| -> Vec<usize> {
        (0..borders.len()).filter(|&place| borders[place].sectors_before == Some(length)).collect()
    };
    let recurs = |places: &Vec<usize>| {
        let gap = |pair: &[usize]| (borders[pair[1]].number - borders[pair[0]].number).unsigned_abs();
        places.len() > 1 && places.windows(2).all(|pair| gap(pair) == heads)
    };
    let shorter: BTreeSet<u64> =
        borders.iter().filter_map(|border| border.sectors_before).filter(|&length| length < usual).collect();
    let Some(ends) = shorter.into_iter().map(behind).find(recurs).filter(|_| heads > 1) else {
        return false;
    };
    for (place, border) in borders.iter_mut().enumerate() {
        border.rare = ends.contains(&place);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Tracks of 360 sectors, four to a cylinder, skewed by 10 sectors and by 30; each angle is misread by up to this many turns.
    fn tracks(count: i64, misread: f64, random: &mut Pcg64) -> Vec<Border> {
        let mut angle = 0.3;
        let mut before = None;
        let border = |number: i64| {
            angle = wrap(angle + if number % 4 == 0 { 30.0 } else { 10.0 } / 360.0);
            let seen = wrap(angle + misread * (2.0 * random.random::<f64>() - 1.0));
            let skew_turns = before.replace(seen).map(|before| wrap(seen - before));
            Border { angle: seen, skew_turns, ..Border::test(number, 360 * number as u64, Some(360), 360.0) }
        };
        let mut tracks: Vec<Border> = (0..count).map(border).collect();
        mark_rare(&mut tracks, || None);
        tracks
    }

    #[test]
    fn intervals_of_skews_hold_them_as_often_as_they_say() {
        let mut random = Pcg64::seed_from_u64(5);
        for count in [14, 72] {
            let mut held = [0_u32; 2];
            for _ in 0..1_000 {
                let (common, rare) = skews(&tracks(count, 1e-4, &mut random));
                for (held, (skew, truth)) in
                    held.iter_mut().zip([(common, 10.0 / 360.0), (rare, 30.0 / 360.0)])
                {
                    let skew = skew.unwrap();
                    *held += u32::from(wrap_signed(skew.turns - truth).abs() <= skew.ci95_turns.unwrap());
                }
            }
            assert!(held.iter().all(|held| (900..=990).contains(held)), "{count} tracks: {held:?} of 1,000");
        }
    }

    #[test]
    fn of_two_skews_in_turns_the_larger_one_is_that_of_the_cylinder() {
        for (first, count) in [(0, 24), (1, 24), (0, 25), (1, 25)] {
            let mut angle = 0.0;
            let mut tracks: Vec<Border> = (0..count)
                .map(|number| {
                    let skew = if (number + first) % 2 == 0 { 30.0 } else { 10.0 } / 360.0;
                    angle = wrap(angle + skew);
                    let skew_turns = (number > 0).then_some(skew);
                    Border {
                        angle,
                        skew_turns,
                        ..Border::test(number, 360 * number as u64, Some(360), 360.0)
                    }
                })
                .collect();
            mark_rare(&mut tracks, || None);
            let (head, cylinder) = skews(&tracks);
            let sectors = |skew: Option<Skew>| (skew.unwrap().turns * 360.0).round();
            assert_eq!((sectors(head), sectors(cylinder)), (10.0, 30.0), "{count} tracks from {first} on");
        }
    }

    #[test]
    fn one_skew_alone_has_no_interval() {
        let (common, rare) = skews(&tracks(2, 1e-4, &mut Pcg64::seed_from_u64(5)));
        assert!(common.unwrap().ci95_turns.is_none() && rare.is_none());
    }
}
