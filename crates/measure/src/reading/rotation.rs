//! The rotation, from completions at one sector, held against what a device without a rotation would show.

use crate::angles::median::{circular_median, median, spread};
use crate::angles::spindle::{Spindle, wrap_signed};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// What completions at one sector say about the rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rotation {
    /// Time of a revolution, in ms.
    pub(crate) turn_ms: f64,
    /// 95 % confidence, half width, in ms.
    pub(crate) ci95_ms: f64,
    /// Spread of the completions around whole revolutions, as a standard deviation, in ms.
    pub(crate) noise_ms: f64,
    /// Share of the completions that were seen late: too far from whole revolutions for that spread.
    pub(crate) late_share: f64,
    /// By how much the speed changes over the measurement, in parts per million; 0 where it does not.
    pub(crate) drift_ppm: f64,
    /// How exactly a completion shows the angle of its sector, whatever the speed does, in turns.
    pub(crate) own_noise: f64,
    /// Whether it is one.
    pub(crate) verdict: Verdict,
}

/// Whether times at one sector are those of a rotating device. Three things hold there, and each is missing on some device
/// that does not rotate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All three hold.
    Rotates,
    /// Completions do not lie whole revolutions apart.
    Scattered,
    /// After random pauses the waits differ by much less than a revolution: nothing was waited for.
    TooAlike,
    /// All sectors come at the same angle: a timer serves them.
    OneAngle,
}

/// Revolutions that are looked for: 1,500 to 20,000 rpm. Of a slower spindle (a drum, a floppy disk) a whole fraction is found
/// first, and then the multiple of it that is the turn, down to 200 rpm.
const SHORTEST_NS: f64 = 3.0e6;
pub(crate) const LONGEST_NS: f64 = 40.0e6;
const SLOWEST_NS: f64 = 300.0e6;
/// Two completions are whole revolutions apart if they miss that by less than this share of one: every fifth does by chance.
const APART: f64 = 0.1;
/// Where this share of them is, that is no chance; at half a revolution, half of them are.
const AGREEING: f64 = 0.6;
/// Waits for a sector are spread evenly over a revolution: 90 of 100 over nine tenths of it, and at least over this share.
const LEAST_SPREAD: f64 = 0.6;
/// What the turn may be of a period that was found. Up to the eighth a turn of `SLOWEST_NS` is found by its fraction below `LONGEST_NS`.
const MULTIPLES: [f64; 9] = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.5];
/// Angles of sectors here and there that agree as well as this are no angles.
const ONE_ANGLE: f64 = 0.9;
const LEAST_PLACES: usize = 8;
/// Completions lie off the line together if those that follow each other differ by less than this share of what all do, …
const TOGETHER: f64 = 0.4;
/// … and all by more than clocks do, in ns. The speed is then taken over so many completions.
const LEAST_DRIFT_NS: f64 = 3_000.0;
const DRIFT_OVER: usize = 8;
/// A sector sets the disk's clock if it is seen as exactly as this, in turns.
const EXACT: f64 = 2e-5;
/// Beyond this, in parts per million, angles that are measured a second apart differ by more than a sector.
pub(crate) const MOST_DRIFT_PPM: f64 = 50.0;

impl Rotation {
    /// The rotation as a clock; `None` where nothing rotates.
    pub(crate) fn spindle(self) -> Option<Spindle> {
        self.rotates().then_some(Spindle { period_ns: self.turn_ms * 1e6 })
    }

    /// Whether the speed wanders, and times are so exact that a sector shows it each time that it is seen.
    pub(crate) fn may_set_clock(self) -> bool {
        self.rotates() && self.drift_ppm > MOST_DRIFT_PPM && self.own_noise < EXACT
    }

    /// Whether the device rotates.
    pub(crate) fn rotates(self) -> bool {
        self.verdict == Verdict::Rotates
    }
}

/// How well differences of completions are multiples of a period, up to 1; robust against a few that are not.
fn coherence(differences: &[f64], period_ns: f64) -> f64 {
    let sum: f64 =
        differences.iter().map(|difference| (std::f64::consts::TAU * difference / period_ns).cos()).sum();
    sum / differences.len().max(1) as f64
}

/// The share of differences that are multiples of a period, once at least: a short one would else agree with any long period.
fn agreeing(differences: &[f64], period_ns: f64) -> f64 {
    let whole = |difference: &&f64| {
        let turns = **difference / period_ns;
        turns > 0.5 && wrap_signed(turns).abs() < APART
    };
    differences.iter().filter(whole).count() as f64 / differences.len().max(1) as f64
}

/// The samples of the probe's last stage: each stage is two series, and comes back to its places behind more other accesses. Of a
/// device that is written, the first: reads behind it showed no more.
fn of_last_stage(record: &Record) -> impl Iterator<Item = &Sample> {
    let last = record.of(ProbeName::Rotation).map(|sample| sample.series / 2).max();
    let stage = if record.head.device.writable { Some(0) } else { last };
    record.of(ProbeName::Rotation).filter(move |sample| Some(sample.series / 2) == stage)
}

/// Whether writes showed no rotation, but reads did.
pub(crate) fn only_reads_show_it(record: &Record) -> bool {
    !record.head.device.writable && record.of(ProbeName::Rotation).any(|sample| sample.mode.is_write())
}

/// Those of them that come back to a sector.
pub(crate) fn last_stage(record: &Record) -> impl Iterator<Item = &Sample> {
    of_last_stage(record).filter(|sample| sample.role == Role::Measure)
}

/// The rotation, from the probe `rotation`; `None` without enough samples.
pub(crate) fn rotation(record: &Record) -> Option<Rotation> {
    let all: Vec<(u64, f64)> = last_stage(record).map(|sample| (sample.lba, sample.end.0 as f64)).collect();
    let first = last_stage(record).filter(|sample| sample.series % 2 == 0).count();
    let at_first = short(differences(&all[..first]));
    if at_first.len() < 16 {
        return None;
    }
    let most_ns = longest_waited_for(spread_of_waits(record));
    if most_ns < SHORTEST_NS {
        let (ci95_ms, noise_ms, late_share) = (0.0, 0.0, 0.0);
        let verdict = Verdict::TooAlike;
        let (drift_ppm, own_noise) = (0.0, 0.0);
        return Some(Rotation {
            turn_ms: f64::NAN,
            ci95_ms,
            noise_ms,
            late_share,
            drift_ppm,
            own_noise,
            verdict,
        });
    }
    let every = short(differences(&all));
    // Exact before it is doubled: twice an error would be too much for the lines.
    let shorter =
        refine(&all, by_differences(&at_first, coarse_period(&few(&at_first), most_ns.min(LONGEST_NS))?))
            .period;
    let Refined { period, ci95, noise, late_share } = refine(&all, longest(shorter, &every, most_ns));
    let verdict = if agreeing(&every, period) < AGREEING {
        Verdict::Scattered
    } else if period > 1.01 * most_ns {
        Verdict::TooAlike
    } else if one_angle(record, period) {
        Verdict::OneAngle
    } else {
        Verdict::Rotates
    };
    let (turn_ms, ci95_ms, noise_ms) = (period / 1e6, ci95 / 1e6, noise / 1e6);
    let points = off_the_line(&all, period);
    let (drift_ppm, own_noise) = (drift_ppm(&points), own_noise(&points) / period);
    Some(Rotation { turn_ms, ci95_ms, noise_ms, late_share, drift_ppm, own_noise, verdict })
}

/// The longest turn that the spread of waits speaks for. Pauses are random up to `LONGEST_NS`, and spread the waits for a sector no
/// farther: waits that differ by so much speak for any longer turn, too.
fn longest_waited_for(spread_ns: f64) -> f64 {
    let most_ns = spread_ns / LEAST_SPREAD;
    if most_ns < LONGEST_NS { most_ns } else { SLOWEST_NS }
}

/// Over how much time nine of ten waits are spread, in ns.
fn spread_of_waits(record: &Record) -> f64 {
    let mut waits: Vec<f64> = last_stage(record).map(|sample| sample.latency_ms() * 1e6).collect();
    waits.sort_unstable_by(f64::total_cmp);
    waits[waits.len() - 1 - waits.len() / 20] - waits[waits.len() / 20]
}

/// The longest of a period, its half and its multiples that the waits allow and of which the differences are multiples.
/// Completions that are late by half a revolution agree with its half: but were that the revolution, half of the differences
/// would be odd multiples of it, and no wait longer.
fn longest(period: f64, differences: &[f64], most_ns: f64) -> f64 {
    let fits = |candidate: &f64| {
        (SHORTEST_NS..1.01 * most_ns).contains(candidate) && agreeing(differences, *candidate) >= AGREEING
    };
    MULTIPLES.map(|factor| factor * period).into_iter().find(fits).unwrap_or(period)
}

/// Whether sectors here and there all come at one angle.
fn one_angle(record: &Record, period_ns: f64) -> bool {
    let spindle = Spindle { period_ns };
    let mut places: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for sample in of_last_stage(record).filter(|sample| matches!(sample.role, Role::Measure | Role::Angle)) {
        places.entry(sample.lba).or_default().push(spindle.phase(sample.end));
    }
    let angles = places.values().map(|phases| std::f64::consts::TAU * circular_median(phases));
    let (x, y) = angles.fold((0.0, 0.0), |(x, y), angle| (x + angle.cos(), y + angle.sin()));
    places.len() >= LEAST_PLACES && f64::hypot(x, y) / places.len() as f64 > ONE_ANGLE
}

/// From one completion at a place to the next one there, in ns.
fn differences(ends: &[(u64, f64)]) -> Vec<f64> {
    let mut last: BTreeMap<u64, f64> = BTreeMap::new();
    ends.iter().filter_map(|&(lba, end)| last.insert(lba, end).map(|before| end - before)).collect()
}

/// Those that are hardly longer than the shortest: with longer ones a period would have to be known the better.
fn short(mut differences: Vec<f64>) -> Vec<f64> {
    differences.sort_unstable_by(f64::total_cmp);
    let shortest = differences.first().copied().unwrap_or(0.0).max(LONGEST_NS);
    differences.retain(|&difference| difference < 20.0 * LONGEST_NS || difference < 2.2 * shortest);
    differences
}

/// Some of many: all would take long to look at.
fn few(differences: &[f64]) -> Vec<f64> {
    let stride = differences.len().div_ceil(128).max(1);
    differences.iter().copied().step_by(stride).collect()
}

/// The longest period, up to `most_ns`, of which the differences are multiples.
fn coarse_period(differences: &[f64], most_ns: f64) -> Option<f64> {
    // The longest difference tells how finely to look.
    let longest = differences.iter().copied().fold(LONGEST_NS, f64::max);
    let step = SHORTEST_NS / longest / 16.0;
    let mut scores: Vec<(f64, f64)> = Vec::new();
    let mut period = SHORTEST_NS;
    while period < 1.01 * most_ns {
        scores.push((period, coherence(differences, period)));
        period *= 1.0 + step;
    }
    let best = scores.iter().map(|score| score.1).fold(f64::MIN, f64::max);
    let place = scores.iter().rposition(|score| score.1 > 0.9 * best)?;
    // The peak itself lies at or just before that.
    let around = &scores[place.saturating_sub(24)..=place];
    around.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(period, _)| period)
}

/// A better period from one near it, by short differences alone. A completion that is very late leaves a gap of many turns, which a
/// line through it would miscount with a period that is not known as well as this.
fn by_differences(differences: &[f64], coarse: f64) -> f64 {
    let mut period = coarse;
    for _ in 0..4 {
        let turns: Vec<(f64, f64)> =
            differences.iter().map(|&difference| ((difference / period).round(), difference)).collect();
        let misses: Vec<f64> = turns.iter().map(|(turns, difference)| difference - turns * period).collect();
        let limit = (4.0 * spread(&misses)).max(1_500.0);
        let used = turns.iter().zip(&misses).filter(|(_, miss)| miss.abs() <= limit).map(|(pair, _)| pair);
        let (along, across) =
            used.fold((0.0, 0.0), |(along, across), (n, d)| (along + n * d, across + n * n));
        if across > 0.0 {
            period = along / across;
        }
    }
    period
}

/// A period by lines through completions, its 95 % confidence, and the spread of the completions around the lines, in ns; and
/// the share of completions that lie too far off for that.
#[derive(Clone, Copy, Debug)]
struct Refined {
    period: f64,
    ci95: f64,
    noise: f64,
    late_share: f64,
}

/// Lines through the completions at each place and the number of turns between them, all with one slope, without those that
/// are late by chance.
fn refine(ends: &[(u64, f64)], coarse: f64) -> Refined {
    let mut refined = Refined { period: coarse, ci95: 0.0, noise: 0.0, late_share: 0.0 };
    // The lines are drawn longer and longer, so that turns are never miscounted.
    for power in 4.. {
        let count = (1 << power).min(ends.len());
        let mut places: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for &(lba, end) in &ends[..count] {
            places.entry(lba).or_default().push(end);
        }
        places.retain(|_, ends| ends.len() > 1);
        // For each place: its first completion, and by how much the others miss whole turns.
        let mut all: Vec<(usize, f64, f64)> = Vec::new();
        for (place, ends) in places.values().enumerate() {
            let misses: Vec<f64> = ends
                .iter()
                .map(|end| wrap_signed((end - ends[0]) / refined.period) * refined.period)
                .collect();
            let middle = median(&misses);
            all.extend(ends.iter().zip(&misses).map(|(&end, &miss)| (place, end - ends[0], miss - middle)));
        }
        let residuals: Vec<f64> = all.iter().map(|(_, _, residual)| *residual).collect();
        // Each place's middle is one of its own, or lies between two.
        let freedom = all.len() as f64 / (all.len() - places.len()).max(1) as f64;
        refined.noise = spread(&residuals) * freedom.sqrt();
        let limit = (4.0 * refined.noise).max(1_500.0);
        let used: Vec<(usize, f64, f64)> = all
            .iter()
            .filter(|(_, _, residual)| residual.abs() <= limit)
            .map(|&(place, since, _)| (place, (since / refined.period).round(), since))
            .collect();
        refined.late_share = 1.0 - used.len() as f64 / all.len().max(1) as f64;
        if let Some((slope, error)) = line(&used) {
            refined.period = slope;
            refined.ci95 = if count == ends.len() { 1.96 * error } else { 0.0 };
        }
        if count == ends.len() {
            break;
        }
    }
    refined
}

/// When completions were, and by how much they lie off the line of their place, in ns.
fn off_the_line(ends: &[(u64, f64)], period: f64) -> Vec<(f64, f64)> {
    let mut places: BTreeMap<u64, (f64, Vec<f64>)> = BTreeMap::new();
    let miss = |first: f64, end: f64| wrap_signed((end - first) / period) * period;
    for &(lba, end) in ends {
        let place = places.entry(lba).or_insert((end, Vec::new()));
        place.1.push(miss(place.0, end));
    }
    places.retain(|_, (_, misses)| misses.len() > 1);
    let off = |&(lba, end): &(u64, f64)| {
        let (first, misses) = places.get(&lba)?;
        Some((end, miss(*first, end) - median(misses)))
    };
    ends.iter().filter_map(off).collect()
}

/// By how much a completion misses what the two before it foretell, as a standard deviation, in ns: all but that is the speed's.
fn own_noise(points: &[(f64, f64)]) -> f64 {
    let foretold = |all: &[(f64, f64)]| {
        let [a, b, c] = all else { return 0.0 };
        let ahead = (c.0 - b.0) / (b.0 - a.0);
        (c.1 - b.1 - ahead * (b.1 - a.1)) / ((1.0 + ahead).powi(2) + 1.0 + ahead * ahead).sqrt()
    };
    spread(&points.windows(3).map(foretold).collect::<Vec<_>>())
}

/// By how much the speed changes, in parts per million. Were completions misread by chance, those that follow each other would
/// differ by as much as any two; where the speed changes, they differ by less, and lie off the line together.
fn drift_ppm(points: &[(f64, f64)]) -> f64 {
    let off: Vec<f64> = points.iter().map(|point| point.1).collect();
    let steps: Vec<f64> = off.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (together, apart) = (spread(&off), spread(&steps) / std::f64::consts::SQRT_2);
    if together < LEAST_DRIFT_NS || apart > TOGETHER * together {
        return 0.0;
    }
    let stride = DRIFT_OVER.min(points.len() / 2).max(1);
    let pairs = points.iter().zip(points.iter().skip(stride));
    let mut rates: Vec<f64> = pairs.map(|(a, b)| ((b.1 - a.1) / (b.0 - a.0)).abs() * 1e6).collect();
    rates.sort_unstable_by(f64::total_cmp);
    rates.get(rates.len() * 19 / 20).copied().unwrap_or(0.0)
}

/// The one slope of the lines of all places by least squares, and its standard error; points are (place, x, y).
fn line(points: &[(usize, f64, f64)]) -> Option<(f64, f64)> {
    let mut means: BTreeMap<usize, (f64, f64, f64)> = BTreeMap::new();
    for &(place, x, y) in points {
        let mean = means.entry(place).or_default();
        *mean = (mean.0 + 1.0, mean.1 + x, mean.2 + y);
    }
    let centered: Vec<(f64, f64)> = points
        .iter()
        .map(|(place, x, y)| {
            let (count, sum_x, sum_y) = means[place];
            (x - sum_x / count, y - sum_y / count)
        })
        .collect();
    let sxx: f64 = centered.iter().map(|(x, _)| x * x).sum();
    if points.len() < means.len() + 2 || sxx <= 0.0 {
        return None;
    }
    let slope = centered.iter().map(|(x, y)| x * y).sum::<f64>() / sxx;
    let rest: f64 = centered.iter().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let freedom = (points.len() - means.len()).saturating_sub(1).max(1) as f64;
    Some((slope, (rest / freedom / sxx).sqrt()))
}

/// What the disk's clock may be off a revolution after it was set, by what the speed may have changed meanwhile, in ms; 0 where times
/// are those of the host's.
pub(crate) fn clock_off_ms(record: &Record) -> f64 {
    let by_disk = record.head.clock_lba.and_then(|_| rotation(record));
    by_disk.map_or(0.0, |rotation| rotation.drift_ppm * 1e-6 * rotation.turn_ms)
}

/// The rotation as a clock; `None` where nothing rotates.
pub(crate) fn spindle(record: &Record) -> Option<Spindle> {
    rotation(record).and_then(Rotation::spindle)
}
