//! Stalls: now and then a drive serves nobody for a while, to recalibrate or to look after its media. An access that comes across
//! one takes so much longer than all others that nothing lies between. Of a device without stalls the longest accesses are those
//! seen late by chance: they are of all lengths, and the longest of them lie off the rest by about as much as these off each other.

use crate::angles::sighting::student;
use crate::record::series::write_cache::SMALL;
use crate::record::{ProbeName, Record, Sample};

/// Larger accesses take longer by themselves.
const MOST_BYTES: u64 = 4096;
/// No more than this share of the accesses come across a stall: what is more frequent is how the device works.
const MOST_SHARE: f64 = 0.02;
/// Stalled accesses take so many times as long as the longest of the others, …
const TIMES: f64 = 2.0;
/// … and three of them as long as this, in ms; of one or two, each must stand out more.
const LEAST_MS: f64 = 100.0;
const FEW: usize = 3;
const FEW_TIMES: f64 = 3.0;
const FEW_LEAST_MS: f64 = 400.0;
/// They lie off the rest by so many times what the longest of the rest, so many, lie off those behind them.
const TAILS: f64 = 8.0;
const TAIL: usize = 20;
/// The least time between two stalls is one period, or so many. Each of these is told where stalls without a period would show
/// it less often than this.
const ODDS: f64 = 1e-3;
const SKIPPED: [f64; 3] = [1.0, 2.0, 3.0];

/// A value and its 95 % confidence, half width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) ci95: f64,
}

/// What a record shows of stalls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stalls {
    /// How many were met.
    pub(crate) count: usize,
    /// Accesses that take as long as this came across one, in ms.
    pub(crate) least_ms: f64,
    /// How long one lasts, in ms.
    pub(crate) length: Estimate,
    /// From one to the next, in s, where they come regularly.
    pub(crate) interval: Option<Estimate>,
}

/// An access that came across a stall.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// Accesses of a session between which none took so long that a stall may have waited for it.
    stretch: usize,
    latency_ms: f64,
    /// From the completion before to its own, in ms.
    since_ms: f64,
    end_s: f64,
}

impl Stalls {
    /// Whether an access came across a stall.
    pub(crate) fn met(&self, sample: &Sample) -> bool {
        sample.latency_ms() >= self.least_ms
    }
}

/// The stalls of a record; `None` where no accesses stand out.
pub(crate) fn stalls(record: &Record) -> Option<Stalls> {
    let taken = in_order(record);
    let unit = record.head.device.unit();
    let most_sectors = unit.max(MOST_BYTES / u64::from(record.head.device.sector_bytes.max(1)));
    let judged = |sample: &Sample| {
        let fills = sample.probe == ProbeName::WriteCache && sample.series >= SMALL;
        sample.depth == 1 && u64::from(sample.sectors) <= most_sectors && !fills
    };
    let mut latencies: Vec<f64> = taken.iter().filter(|s| judged(s)).map(|s| s.latency_ms()).collect();
    latencies.sort_unstable_by(|a, b| b.total_cmp(a));
    let count = standing_out(&latencies)?;
    let (least_ms, rest) = (latencies[count - 1], &latencies[count..]);
    let usual = Usual { middle_ms: rest[rest.len() / 2], most_ms: rest[rest.len() / 20] };
    let mut stretch = 0;
    let mut met = Vec::new();
    for pair in taken.windows(2) {
        let is_large = !judged(pair[1]) && pair[1].latency_ms() > usual.most_ms;
        let is_new = pair[0].session != pair[1].session;
        stretch += usize::from(is_large || is_new);
        if !is_new && judged(pair[1]) && pair[1].latency_ms() >= least_ms {
            met.push(Met {
                stretch,
                latency_ms: pair[1].latency_ms(),
                since_ms: pair[1].end.as_ms() - pair[0].end.as_ms(),
                end_s: pair[1].end.as_s(),
            });
        }
    }
    (!met.is_empty()).then(|| Stalls {
        count: met.len(),
        least_ms,
        length: length(&met, usual),
        interval: interval(&met, usual),
    })
}

/// All that succeeded in the order of time, each once: probes write some down again.
fn in_order(record: &Record) -> Vec<&Sample> {
    let mut taken: Vec<&Sample> = record.samples.iter().filter(|sample| sample.ok).collect();
    taken.sort_by_key(|sample| (sample.session, sample.start, sample.end, sample.lba));
    taken.dedup_by_key(|sample| (sample.session, sample.start, sample.end, sample.lba));
    taken
}

/// What accesses take that come across no stall.
#[derive(Clone, Copy, Debug)]
struct Usual {
    middle_ms: f64,
    /// Nineteen of twenty take no longer.
    most_ms: f64,
}

/// How many of the longest stand out, of latencies from the longest on.
fn standing_out(latencies: &[f64]) -> Option<usize> {
    let most = (latencies.len() as f64 * MOST_SHARE) as usize;
    (1..=most).rev().find(|&count| {
        let (shortest, rest) = (latencies[count - 1], &latencies[count..]);
        let (times, least, judged) = if count < FEW {
            (FEW_TIMES, FEW_LEAST_MS, shortest)
        } else {
            (TIMES, LEAST_MS, latencies[FEW - 1])
        };
        let Some(&behind) = rest.get(TAIL) else { return false };
        let tail = rest[..TAIL].iter().sum::<f64>() / TAIL as f64 - behind;
        judged >= least && shortest >= times * rest[0] && shortest - rest[0] >= TAILS * tail
    })
}

/// A stall lasts no less than an access waited beyond what it takes itself, and no longer than the drive served nobody. Where a
/// few accesses were seen late, they do not count; nor does a bound that is less than what others waited: there the access before
/// was served during the stall, from the buffer.
fn length(met: &[Met], usual: Usual) -> Estimate {
    let few = met.len() / 10;
    let mut at_least: Vec<f64> = met.iter().map(|met| met.latency_ms - usual.most_ms).collect();
    let mut at_most: Vec<f64> = met.iter().map(|met| met.since_ms.max(met.latency_ms)).collect();
    at_least.sort_unstable_by(|a, b| b.total_cmp(a));
    at_most.sort_unstable_by(f64::total_cmp);
    let low = at_least[few];
    at_most.retain(|&most| most >= low);
    // The longest access is one of those.
    let high = at_most[few.min(at_most.len() - 1)];
    Estimate { value: f64::midpoint(low, high), ci95: (high - low).abs() / 2.0 }
}

/// From one stall to the next. A drive waits for the access under way before it stalls, and an access for the end of the stall: by
/// what accesses take, times between stalls are uncertain.
fn interval(met: &[Met], usual: Usual) -> Option<Estimate> {
    let pairs = met.windows(2).filter(|pair| pair[0].stretch == pair[1].stretch);
    let gaps: Vec<f64> = pairs.map(|pair| pair[1].end_s - pair[0].end_s).collect();
    let shortest = gaps.iter().copied().reduce(f64::min)?;
    // A stall begins when the access under way ends, and is seen when the one that waited ends: each takes its time.
    let (step_s, around_s) = (usual.middle_ms / 1e3, 2.0 * usual.most_ms / 1e3);
    SKIPPED.iter().find_map(|skipped| {
        let period = shortest / skipped;
        let count = |gap: f64| (gap / period).round();
        // The shortest was taken for a whole number of periods: the others may miss that by its error and their own.
        let within = |gap: f64| around_s * (1.0 + count(gap) / skipped);
        let by_chance = |gap: f64| (2.0 * within(gap) / period).min(1.0);
        let all: f64 = gaps.iter().map(|&gap| by_chance(gap)).product();
        let chance = all / by_chance(shortest);
        let regular = gaps.iter().all(|&gap| (gap - count(gap) * period).abs() <= within(gap));
        (regular && chance <= ODDS).then(|| mean_interval(&gaps, count, step_s))
    })
}

/// The mean of gaps of so many periods each.
fn mean_interval(gaps: &[f64], count: impl Fn(f64) -> f64, step_s: f64) -> Estimate {
    let periods: f64 = gaps.iter().map(|&gap| count(gap)).sum();
    let value = gaps.iter().sum::<f64>() / periods;
    let freedom = (gaps.len() as f64 - 1.0).max(1.0);
    let scatter: f64 = gaps.iter().map(|&gap| (gap - count(gap) * value).powi(2)).sum();
    let error = (scatter / freedom * gaps.len() as f64).sqrt() / periods;
    Estimate { value, ci95: student(freedom) * error + step_s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    const USUAL: Usual = Usual { middle_ms: 8.0, most_ms: 16.0 };

    fn met(ends_s: &[f64]) -> Vec<Met> {
        let met = |&end_s: &f64| Met { stretch: 1, latency_ms: 650.0, since_ms: 655.0, end_s };
        ends_s.iter().map(met).collect()
    }

    #[test]
    fn a_period_is_told_where_gaps_are_multiples_of_it() {
        let found = interval(&met(&[60.65, 120.66, 240.67, 300.66]), USUAL).unwrap();
        assert!((found.value - 60.0).abs() < found.ci95 && found.ci95 < 0.05, "{found:?}");
        // The shortest gap is two periods.
        let found = interval(&met(&[100.0, 300.0, 600.01, 1000.0, 1300.0]), USUAL).unwrap();
        assert!((found.value - 100.0).abs() < found.ci95, "{found:?}");
        // Two say nothing, nor do three that are close together.
        assert!(interval(&met(&[60.0, 120.0]), USUAL).is_none());
        assert!(interval(&met(&[60.0, 60.1, 60.2]), USUAL).is_none());
    }

    #[test]
    fn a_stall_is_not_as_short_as_what_comes_behind_a_hit_waits() {
        // Of 650 ms; three accesses came behind one that the buffer served while the stall was on.
        let waited = [573.3, 563.9, 590.6, 665.9, 661.3, 647.4, 651.2, 673.8, 672.2, 677.0, 671.7, 680.3];
        let met: Vec<Met> = waited
            .map(|latency_ms| Met { stretch: 0, latency_ms, since_ms: latency_ms + 1.0, end_s: 0.0 })
            .into();
        let found = length(&met, Usual { middle_ms: 14.0, most_ms: 29.0 });
        assert!((found.value - 650.0).abs() <= found.ci95 + 1.0 && found.ci95 < 10.0, "{found:?}");
        // One is enough for both bounds.
        let one = length(&met[3..4], USUAL);
        assert!((one.value - 650.0).abs() <= 16.0, "{one:?}");
    }

    #[test]
    fn stalls_at_random_have_no_period() {
        let mut random = Pcg64::seed_from_u64(1);
        let mut told = 0;
        for _ in 0..2_000 {
            let count = random.random_range(3..12_usize);
            let mut ends: Vec<f64> = (0..count).map(|_| 1_000.0 * random.random::<f64>()).collect();
            ends.sort_unstable_by(f64::total_cmp);
            told += u32::from(interval(&met(&ends), USUAL).is_some());
        }
        assert!(told <= 6, "{told} of 2,000: three in 1,000 are allowed");
    }

    #[test]
    fn late_completions_do_not_stand_out() {
        let mut random = Pcg64::seed_from_u64(2);
        let mut wrong = 0;
        for run in 0..2_000 {
            let (share, late_ms) = [(0.01, 20.0), (0.05, 30.0), (0.002, 30.0), (0.2, 10.0)][run % 4];
            let accesses = [300, 1_000, 5_000, 20_000][run / 4 % 4];
            let mut latencies: Vec<f64> = (0..accesses)
                .map(|_| {
                    let late = random.random::<f64>() < share;
                    let by = if late { -late_ms * (1.0 - random.random::<f64>()).ln() } else { 0.0 };
                    8.0 + 8.0 * random.random::<f64>() + by
                })
                .collect();
            latencies.sort_unstable_by(|a, b| b.total_cmp(a));
            wrong += u32::from(standing_out(&latencies).is_some());
        }
        assert_eq!(wrong, 0, "of 2,000");
    }

    #[test]
    fn accesses_that_waited_stand_out() {
        let usual = (0..2_000).map(|place| 8.0 + 8.0 * f64::from(place) / 2_000.0);
        let sorted = |stalled: &[f64]| {
            let mut all: Vec<f64> = usual.clone().chain(stalled.iter().copied()).collect();
            all.sort_unstable_by(|a, b| b.total_cmp(a));
            standing_out(&all)
        };
        assert_eq!(sorted(&[650.0, 655.0, 610.0]), Some(3));
        assert_eq!(
            sorted(&[112.0, 107.0, 104.0, 75.0, 60.0]),
            Some(5),
            "two were issued when the stall was on"
        );
        assert_eq!(sorted(&[655.0]), Some(1));
        assert_eq!(sorted(&[120.0]), None, "one alone, which any host may see late");
        assert_eq!(sorted(&[]), None);
    }
}
