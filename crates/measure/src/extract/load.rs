//! The profile under load, and what a queue is worth: whether accesses are served in another order than they were issued in.

use crate::angles::sighting::student;
use crate::device::Mode;
use crate::record::series::random::CHUNK;
use crate::record::{ProbeName, Record, Role, Sample};
use headstack_stats::mean_interval;
use serde::Serialize;
use std::collections::BTreeMap;

/// Random accesses of one kind at one depth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadPoint {
    /// "read" or "write".
    pub mode: &'static str,
    /// Accesses outstanding at a time.
    pub depth: u32,
    /// From issue to completion.
    pub response_ms: LoadTimes,
    /// Accesses per second.
    pub iops: f64,
    /// 95 % confidence of that, half width; absent with fewer than two chunks.
    pub iops_ci95: Option<f64>,
    /// Accesses that one issued later overtook, in percent.
    pub out_of_order_percent: f64,
    /// Accesses measured.
    pub accesses: u64,
}

/// Responses of accesses, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadTimes {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99 of 100 accesses take no longer than this.
    pub p99: f64,
}

/// Nothing outstanding but completions seen late overtakes fewer than these, in percent; a drive that chooses the nearest of many,
/// most of them.
const REORDERS_PERCENT: f64 = 10.0;
/// Instants differ that lie farther apart than this share of the usual time from one completion to the next.
const APART: f64 = 0.5;

/// What many accesses outstanding are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QueueGain {
    /// How many.
    pub(super) depth: u32,
    /// Accesses per second with so many outstanding, over those with one.
    pub(super) times: f64,
    /// 95 % confidence of that, half width.
    pub(super) ci95: Option<f64>,
    /// Whether they are served in another order than they were issued in.
    pub(super) reorders: bool,
}

/// From the probe `random`.
pub(crate) fn load(record: &Record) -> Vec<LoadPoint> {
    let mut groups: BTreeMap<(Mode, u32), Vec<&Sample>> = BTreeMap::new();
    for sample in record.of(ProbeName::Random).filter(|sample| sample.role == Role::Measure) {
        groups.entry((sample.mode, sample.depth)).or_default().push(sample);
    }
    groups.into_iter().filter_map(|((mode, depth), samples)| point(mode, depth, &samples)).collect()
}

fn point(mode: Mode, depth: u32, samples: &[&Sample]) -> Option<LoadPoint> {
    let mut latencies: Vec<f64> = samples.iter().map(|sample| sample.latency_ms()).collect();
    latencies.sort_unstable_by(f64::total_cmp);
    let count = samples.len() as f64;
    let at = |share: f64| latencies.get((share * count).ceil() as usize - 1).copied();
    // Chunks are measured one behind the other, with nothing outstanding between.
    let mut chunks: BTreeMap<i64, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        chunks.entry(sample.step / CHUNK as i64).or_default().push(sample);
    }
    let rates: Vec<f64> = chunks.values().filter_map(|chunk| rate(chunk)).collect();
    let overtaken: usize = chunks.values().map(|chunk| overtaken(chunk)).sum();
    Some(LoadPoint {
        mode: mode.as_str(),
        depth,
        response_ms: LoadTimes { mean: latencies.iter().sum::<f64>() / count, p50: at(0.5)?, p99: at(0.99)? },
        iops: rate(samples)?,
        iops_ci95: mean_interval(&rates).and_then(|(_, half_width)| half_width),
        out_of_order_percent: 100.0 * overtaken as f64 / count,
        accesses: samples.len() as u64,
    })
}

/// Accesses per second.
fn rate(samples: &[&Sample]) -> Option<f64> {
    let first = samples.iter().map(|sample| sample.start).min()?;
    let last = samples.iter().map(|sample| sample.end).max()?;
    Some(samples.len() as f64 / last.saturating_sub(first).as_s().max(1e-9))
}

/// How many were issued clearly before one that was clearly complete before them.
fn overtaken(samples: &[&Sample]) -> usize {
    let Some(rate) = rate(samples) else { return 0 };
    let apart_ms = APART * 1e3 / rate;
    let after = |early: f64, late: f64| late > early + apart_ms;
    let overtakes = |sample: &Sample, other: &Sample| {
        after(sample.start.as_ms(), other.start.as_ms()) && after(other.end.as_ms(), sample.end.as_ms())
    };
    samples.iter().filter(|sample| samples.iter().any(|other| overtakes(sample, other))).count()
}

/// What the longest queue is worth.
pub(super) fn queue_gain(points: &[LoadPoint], mode: Mode) -> Option<QueueGain> {
    let of_mode = || points.iter().filter(|point| point.mode == mode.as_str());
    let alone = of_mode().find(|point| point.depth == 1)?;
    let deepest = of_mode().max_by_key(|point| point.depth).filter(|point| point.depth > 1)?;
    let times = deepest.iops / alone.iops;
    let share = |point: &LoadPoint| point.iops_ci95.map(|half_width| half_width / point.iops);
    let freedom = |point: &LoadPoint| point.accesses.div_ceil(CHUNK as u64) as f64 - 1.0;
    // Their scatter is better known from the chunks of both than from those of each.
    let better = student(freedom(alone) + freedom(deepest)) / student(freedom(alone).min(freedom(deepest)));
    let ci95 = share(alone).zip(share(deepest)).map(|(one, many)| times * better * f64::hypot(one, many));
    // Chunks that are alike to the last digit, as of writes that a cache takes, show no scatter: that is no exactness.
    let ci95 = ci95.filter(|&half_width| half_width > 0.0);
    let reorders = deepest.out_of_order_percent >= REORDERS_PERCENT;
    Some(QueueGain { depth: deepest.depth, times, ci95, reorders })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_units::Nanos;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Accesses of 5 to 15 ms each, `depth` outstanding, the next chosen by `choose` among those waiting, in four chunks; 5 % of
    /// the completions are seen late, by 30 ms on average.
    fn served(depth: u32, seed: u64, choose: fn(&mut Pcg64, usize) -> usize) -> Vec<Sample> {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut samples: Vec<Sample> = Vec::new();
        let mut now_ms = 0.0;
        for chunk in 0..4 {
            let first = samples.len();
            let issue = |place: usize, now_ms: f64| Sample {
                probe: ProbeName::Random,
                series: 0,
                step: (chunk * CHUNK + place) as i64,
                role: Role::Measure,
                mode: Mode::Read,
                lba: 0,
                sectors: 8,
                depth,
                start: Nanos::from_ms(now_ms),
                end: Nanos::ZERO,
                ok: true,
                session: 1,
            };
            samples.extend((0..depth as usize).map(|place| issue(place, now_ms)));
            let mut waiting: Vec<usize> = (first..samples.len()).collect();
            while !waiting.is_empty() {
                let next = waiting.remove(choose(&mut random, waiting.len()));
                now_ms += 5.0 + 10.0 * random.random::<f64>();
                let late = random.random::<f64>() < 0.05;
                let late_ms = if late { -30.0 * (1.0 - random.random::<f64>()).ln() } else { 0.0 };
                samples[next].end = Nanos::from_ms(now_ms + late_ms);
                if samples.len() < first + CHUNK {
                    waiting.push(samples.len());
                    samples.push(issue(samples.len() - first, now_ms));
                }
            }
        }
        samples
    }

    fn points(seed: u64, choose: fn(&mut Pcg64, usize) -> usize) -> Vec<LoadPoint> {
        let point = |depth: u32| {
            // Noise of its own for each.
            let samples = served(depth, 1_000 * u64::from(depth) + seed, choose);
            point(Mode::Read, depth, &samples.iter().collect::<Vec<_>>()).unwrap()
        };
        vec![point(1), point(32)]
    }

    #[test]
    fn what_is_served_in_order_is_never_said_to_be_reordered() {
        let mut covered = 0;
        for seed in 0..500 {
            let points = points(seed, |_, _| 0);
            let gain = queue_gain(&points, Mode::Read).unwrap();
            assert!(!gain.reorders, "seed {seed}: {points:?}");
            covered += u32::from((gain.times - 1.0).abs() <= gain.ci95.unwrap());
        }
        assert!((450..=498).contains(&covered), "a queue is worth nothing here: {covered} of 500 say so");
    }

    #[test]
    fn what_is_served_in_any_order_is_said_to_be_reordered() {
        for seed in 0..20 {
            let gain = queue_gain(&points(seed, |random, count| random.random_range(0..count)), Mode::Read);
            assert!(gain.unwrap().reorders, "seed {seed}: {gain:?}");
        }
    }

    #[test]
    fn chunks_without_scatter_make_nothing_exact() {
        let point = |depth| LoadPoint {
            mode: Mode::Write.as_str(),
            depth,
            response_ms: LoadTimes { mean: 1.0, p50: 1.0, p99: 1.0 },
            iops: 17_263.0,
            iops_ci95: Some(0.0),
            out_of_order_percent: 0.0,
            accesses: 400,
        };
        assert_eq!(queue_gain(&[point(1), point(32)], Mode::Write).unwrap().ci95, None);
    }

    #[test]
    fn quantiles_are_those_of_the_latencies() {
        let samples = served(1, 1, |_, _| 0);
        let found = point(Mode::Read, 1, &samples.iter().collect::<Vec<_>>()).unwrap();
        let longer = |ms: f64| samples.iter().filter(|sample| sample.latency_ms() > ms).count();
        assert_eq!((longer(found.response_ms.p50), longer(found.response_ms.p99)), (200, 4));
    }
}
