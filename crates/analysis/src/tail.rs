//! How long times must be for the law of the others not to explain them.
//!
//! A law with a heavy tail (a power of the time, a wide lognormal) has times of any length, and none of them is an exception. What all
//! smooth laws of service have in common is that their tail does not become flatter on the way: of those that lasted until now, the
//! share that ends within the next tenth of an octave stays or rises. Where it falls, by more than chance makes it, the times come from two laws:
//! beyond a gap, in a heap, or on a slope that begins where the others end. A time on such a slope is an exception if a normal law through the
//! median and the 95th percentile does not explain it.

use headstack_units::Nanos;
use statrs::distribution::{ContinuousCDF, Normal};

/// With fewer times their law is not known.
const FEWEST: u64 = 200;

/// Steps to an octave in which times are counted.
const STEPS: f64 = 16.0;

/// The second quantile that a normal law is drawn through.
const HIGH: f64 = 0.95;

/// Tails begin here: of shorter times there may be several sorts.
const TAIL: f64 = 0.8;

/// Stretches of a tail that are compared, in steps: up to four octaves.
const STRETCHES: [usize; 13] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 64];

/// Minus the logarithm of the chance of a fall in one place. There are thousands of places to look at, alike for the most part.
const UNLIKELY: f64 = 11.0;

/// The same of a rise that comes with a fall.
const RISE: f64 = 5.0;

/// A heap holds, with all that is longer, at most this share of all.
const HEAP: f64 = 0.02;

/// Octaves below the limit of a normal law in which a heap may begin: what is in it is long, at any rate.
const NEAR: f64 = 0.5;

/// Times on a logarithmic scale, held against a normal law through their median and their 95th percentile.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    count: u64,
    by_step: Vec<u32>,
}

impl Tail {
    /// Takes the logarithm, to base 2, of a time in units that are shorter than any of them.
    pub(crate) fn add(&mut self, octaves: f64) {
        self.count += 1;
        let step = step_of(octaves);
        if self.by_step.len() <= step {
            self.by_step.resize(step + 1, 0);
        }
        self.by_step[step] = self.by_step[step].saturating_add(1);
    }

    /// How many it took.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Above how many octaves so many times lie beyond the law that one would come by chance in one of two hundred traces.
    pub(crate) fn limit(&self) -> Option<f64> {
        if self.count < FEWEST {
            return None;
        }
        let law = Normal::standard();
        let (middle, high) = (self.quantile(0.5), self.quantile(HIGH));
        // Half a step more: times within one are not told apart.
        let spread = (high - middle + 0.5 / STEPS) / law.inverse_cdf(HIGH);
        Some(middle + spread * law.inverse_cdf(1.0 - 0.005 / self.count as f64))
    }

    /// From how many octaves on times are of another law than the others; `None` if one may explain them all.
    ///
    /// Stretches of fewer than `coarse` steps say nothing: the clock may have no times in some.
    pub(crate) fn apart(&self, coarse: usize) -> Option<f64> {
        let limit = self.limit()?;
        let [begin, split, end] = self.fall(2 * coarse)?;
        let least = ((limit - NEAR) * STEPS) as usize;
        let few = |step: &usize| self.beyond(*step) <= HEAP * self.count as f64;
        let heap = || self.rise((begin.max(least)..split).filter(few), 0);
        let rise = self.rise(split..=end, split).or_else(heap);
        Some(rise.map_or((split as f64 / STEPS).max(limit), |step| step as f64 / STEPS))
    }

    /// At which of these steps times begin to end more often, beside those from `first` on.
    fn rise(&self, steps: impl Iterator<Item = usize>, first: usize) -> Option<usize> {
        let (sums, last) = (self.sums(), self.by_step.len());
        let between = |from: usize, to: usize| sums[to.min(last)].without(sums[from.min(last)]);
        let places = steps.flat_map(|step| STRETCHES.map(|length| (step, length)));
        let judged = places.filter_map(|(step, length)| {
            let from = step.checked_sub(length).filter(|&from| from >= first)?;
            Some((between(step, step + length).unlikely_before(between(from, step)), step))
        });
        let (unlikely, step) = judged.max_by(|one, two| one.0.total_cmp(&two.0))?;
        (unlikely > RISE).then_some(step)
    }

    /// Begin and end of two stretches, one behind the other, of which in the second times end more seldom than in the first by
    /// the least of chances, if that is none.
    fn fall(&self, shortest: usize) -> Option<[usize; 3]> {
        let first = (self.quantile(TAIL) * STEPS) as usize;
        let last = self.by_step.len();
        let places = (first..last).flat_map(|begin| {
            let lengths = || STRETCHES.into_iter().filter(move |&length| length >= shortest);
            lengths()
                .flat_map(move |here| lengths().map(move |next| [begin, begin + here, begin + here + next]))
        });
        let sums = self.sums();
        let between = |from: usize, to: usize| sums[to.min(last)].without(sums[from]);
        let judged = places
            .filter(|place| place[2] <= last)
            .map(|place| (between(place[0], place[1]).unlikely_before(between(place[1], place[2])), place));
        let (unlikely, place) = judged.max_by(|one, two| one.0.total_cmp(&two.0))?;
        (unlikely > UNLIKELY).then_some(place)
    }

    /// The most steps without a time between the median and the 95th percentile: where a clock is coarse, it has no times in them.
    pub(crate) fn longest_gap(&self) -> usize {
        let ends = [0.5, HIGH].map(|share| (self.quantile(share) * STEPS) as usize);
        let between = &self.by_step[ends[0]..ends[1].max(ends[0])];
        between.split(|&count| count > 0).map(<[u32]>::len).max().unwrap_or(0)
    }

    /// How many end before each step, and how long all lasted until then.
    fn sums(&self) -> Vec<Ended> {
        let mut sum = Ended::default();
        let mut left = self.count as f64;
        let mut sums = vec![sum];
        for &count in &self.by_step {
            let ended = f64::from(count);
            sum = Ended { ended: sum.ended + ended, lasted: sum.lasted + left - ended / 2.0 };
            left -= ended;
            sums.push(sum);
        }
        sums
    }

    /// How many last as long as this many steps.
    fn beyond(&self, step: usize) -> f64 {
        self.by_step.iter().skip(step).map(|&count| f64::from(count)).sum()
    }

    /// The octaves below which a share of the times lies.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut left = (share * self.count as f64) as u64;
        let reaches = |&count: &u32| {
            let over = u64::from(count) > left;
            left = left.saturating_sub(u64::from(count));
            over
        };
        self.by_step.iter().position(reaches).unwrap_or(0) as f64 / STEPS
    }
}

/// Times that end within a stretch, and for how many steps times lasted in it, together.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    ended: f64,
    lasted: f64,
}

impl Ended {
    fn without(self, before: Self) -> Self {
        Self { ended: self.ended - before.ended, lasted: self.lasted - before.lasted }
    }

    /// Minus the logarithm of the chance, at most, that so many more end here than there if they end as often.
    fn unlikely_before(self, next: Self) -> f64 {
        let (all, expected) = (self.ended + next.ended, self.lasted / (self.lasted + next.lasted));
        let here = self.ended / all.max(1.0);
        if here <= expected {
            return 0.0;
        }
        let next_to =
            |share: f64, expected: f64| if share > 0.0 { share * (share / expected).ln() } else { 0.0 };
        all * (next_to(here, expected) + next_to(1.0 - here, 1.0 - expected))
    }
}

/// A time's octaves over a nanosecond, at least.
pub(crate) fn octaves(time: Nanos) -> f64 {
    (time.0.max(1) as f64).log2()
}

/// A time's octaves as they are counted, rounded down.
pub(crate) fn counted(octaves: f64) -> f64 {
    step_of(octaves) as f64 / STEPS
}

fn step_of(octaves: f64) -> usize {
    (STEPS * octaves.max(0.0)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, LogNormal, Pareto, Weibull};
    use rand_pcg::Pcg64;

    /// From which time on some of these, and `more` besides, are of another law, in ms.
    fn apart(seed: u64, law: impl Distribution<f64>, more: impl Fn(&mut Pcg64) -> Vec<f64>) -> Option<f64> {
        let mut random = Pcg64::seed_from_u64(seed);
        let mut tail = Tail::default();
        let mut all = more(&mut random);
        all.extend((0..5000).map(|_| law.sample(&mut random)));
        for &ms in &all {
            tail.add(octaves(Nanos::from_ms(ms)));
        }
        tail.apart(tail.longest_gap()).map(|octaves| octaves.exp2() / 1e6)
    }

    fn named(law: impl Distribution<f64> + Copy, more: impl Fn(&mut Pcg64) -> Vec<f64> + Copy) -> Vec<f64> {
        (0..100).filter_map(|seed| apart(seed, law, more)).collect()
    }

    /// A law through the median and the 95th percentile named something in most traces of a heavy tail.
    #[test]
    fn a_smooth_tail_is_one_law_however_heavy() {
        let nothing = |_: &mut Pcg64| Vec::new();
        for power in [1.0, 1.5, 2.5] {
            let count = named(Pareto::new(2.0, power).unwrap(), nothing).len();
            assert!(count <= 3, "1/x^{power}: {count} of 100");
        }
        for spread in [0.3, 1.0, 2.0] {
            let count = named(LogNormal::new(2.0, spread).unwrap(), nothing).len();
            assert!(count <= 3, "lognormal {spread}: {count} of 100");
        }
        let count = named(Weibull::new(2.0, 0.5).unwrap(), nothing).len();
        assert!(count <= 3, "weibull: {count} of 100");
    }

    #[test]
    fn a_cluster_is_another_law_where_it_begins() {
        let cluster = |random: &mut Pcg64| (0..20).map(|_| 400.0 + random.random_range(0.0..20.0)).collect();
        for spread in [0.3, 1.0] {
            let found = named(LogNormal::new(1.5, spread).unwrap(), cluster);
            let right = found.iter().filter(|from| (100.0..=400.0).contains(*from)).count();
            assert!(right >= 95, "{spread}: {right} of 100: {found:?}");
        }
        // In the midst of a tail, too.
        let found = named(Pareto::new(2.0, 1.5).unwrap(), cluster);
        let right = found.iter().filter(|from| (250.0..=400.0).contains(*from)).count();
        assert!(right >= 90, "{right} of 100: {found:?}");
    }

    /// On a clock of 60 ticks a second most times are of one tick or two, and none are between.
    #[test]
    fn a_coarse_clock_makes_no_laws() {
        let law = LogNormal::new(2.5, 1.0).unwrap();
        let found = (0..100).filter(|&seed| {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut tail = Tail::default();
            (0..5000).for_each(|_| {
                let ms: f64 = law.sample(&mut random);
                tail.add(octaves(Nanos::from_ms((ms * 0.06).ceil() / 0.06)));
            });
            tail.apart(tail.longest_gap()).is_some()
        });
        let found = found.count();
        assert!(found <= 5, "{found} of 100");
    }
}
