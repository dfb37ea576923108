//! How far a quantile is left to chance where responses are alike from one to the next.
//!
//! Of responses that come in stretches of slow and of quick ones, a quantile is as uncertain as one of far fewer that do not. So they are
//! cut into batches, one behind the other, and how the quantile differs between them says how uncertain that of all is. No stretch may
//! be much longer than a batch: what happened once in a trace is one observation, however long it lasted. Where no more batches have many
//! responses beyond the quantile than a draw by lot would give, responses are not alike, and nothing is said.

use headstack_units::Nanos;

/// So many batches become half as many of twice the length.
const MOST: usize = 16;

/// With fewer batches nothing is said.
const FEWEST: usize = 8;

/// The share beyond the quantile varies between batches by so many times what it does by lot, in square, before that is more than chance:
/// of twelve batches it does in one case of eight.
const BY_LOT: f64 = 1.5;

/// And by so many before it surely is: of twelve batches in one case of a hundred.
const SURELY: f64 = 2.5;

/// Responses in the first batches.
const SHORTEST: u64 = 4;

/// Steps to an octave in which responses are counted, as a power of two.
const STEPS_LOG2: u32 = 3;

/// Responses of one device in batches, in memory that does not grow with them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batches {
    length: u64,
    full: Vec<Counts>,
    open: Counts,
}

/// How many responses there are of each step.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    count: u64,
    by_step: Vec<u32>,
}

impl Default for Batches {
    fn default() -> Self {
        Self { length: SHORTEST, full: Vec::new(), open: Counts::default() }
    }
}

impl Batches {
    /// Takes the next one, in order of arrival.
    pub(crate) fn record(&mut self, response: Nanos) {
        self.open.add(step_of(response));
        if self.open.count < self.length {
            return;
        }
        self.full.push(std::mem::take(&mut self.open));
        if self.full.len() == MOST {
            let (pairs, _) = self.full.as_chunks::<2>();
            self.full = pairs.iter().map(|[one, next]| one.with(next)).collect();
            self.length *= 2;
        }
    }

    /// The variance of the logarithm of the quantile of this `share`, as far as it comes of responses that are alike from one to the
    /// next; 0 of a few responses.
    pub(crate) fn variance(&self, share: f64) -> f64 {
        if self.full.len() < FEWEST {
            return 0.0;
        }
        let each = |value: &dyn Fn(&Counts) -> f64| -> Vec<f64> { self.full.iter().map(value).collect() };
        let all = self.full.iter().fold(Counts::default(), |all, batch| all.with(batch));
        let step = all.at(share) as usize;
        let below = all.below(step);
        let by_lot = below * (1.0 - below) / all.count as f64;
        let varies = variance_of_mean(&each(&|batch| batch.below(step)));
        let more_than_chance = 1.0 - BY_LOT * by_lot / varies;
        if varies <= 0.0 || more_than_chance <= 0.0 {
            return 0.0;
        }
        let in_logarithms = std::f64::consts::LN_2 / f64::from(1 << STEPS_LOG2);
        variance_of_mean(&each(&|batch| batch.at(share))) * in_logarithms.powi(2) * more_than_chance
    }
}

impl Batches {
    /// The standard error of the logarithm of the quantile of this `share`, and how many observations it is of: by how much the quantile
    /// moves with a step of the share by two of its standard errors, as drawn by lot or as it differs between batches, whichever is more.
    /// `None` of a few responses.
    pub(crate) fn error(&self, share: f64) -> Option<(f64, u64)> {
        if self.full.len() < FEWEST {
            return None;
        }
        let all = self.full.iter().fold(self.open.clone(), |all, batch| all.with(batch));
        let step = all.at(share) as usize;
        let shares: Vec<f64> = self.full.iter().map(|batch| batch.below(step)).collect();
        let by_lot = share * (1.0 - share) / all.count as f64;
        let off = 2.0 * variance_of_mean(&shares).max(by_lot).sqrt();
        let moved = [share - off, share + off].map(|to| (all.at(to.clamp(0.0, 1.0)) - all.at(share)).abs());
        let in_logarithms = std::f64::consts::LN_2 / f64::from(1 << STEPS_LOG2);
        // Where in a step responses lie is not known.
        let steps = (moved[0].max(moved[1]) / 2.0).hypot(1.0 / 12.0_f64.sqrt());
        Some((steps * in_logarithms, self.full.len() as u64 - 1))
    }

    /// By how much the logarithm of the quantile of this `share` may be too large or too small by chance: a step of the share down and up by
    /// its standard error, by three where responses are alike from one to the next. Where responses are of two sorts, one more in a hundred
    /// of a sort may take it from one to the other.
    pub(crate) fn off(&self, share: f64) -> [f64; 2] {
        let all = self.full.iter().fold(self.open.clone(), |all, batch| all.with(batch));
        let step = all.at(share) as usize;
        let by_lot = share * (1.0 - share) / all.count.max(1) as f64;
        let shares: Vec<f64> = self.full.iter().map(|batch| batch.below(step)).collect();
        let varies = if shares.len() < FEWEST { 0.0 } else { variance_of_mean(&shares) };
        let off = if varies > SURELY * by_lot { 3.0 * varies.sqrt() } else { by_lot.sqrt() };
        let in_logarithms = std::f64::consts::LN_2 / f64::from(1 << STEPS_LOG2);
        [share - off, share + off]
            .map(|to| (all.at(to.clamp(0.0, 1.0)) - all.at(share)).abs() * in_logarithms)
    }
}

impl Counts {
    fn add(&mut self, step: usize) {
        self.count += 1;
        if self.by_step.len() <= step {
            self.by_step.resize(step + 1, 0);
        }
        self.by_step[step] = self.by_step[step].saturating_add(1);
    }

    fn with(&self, other: &Self) -> Self {
        let (mut both, less) = if self.by_step.len() < other.by_step.len() {
            (other.by_step.clone(), &self.by_step)
        } else {
            (self.by_step.clone(), &other.by_step)
        };
        both.iter_mut().zip(less).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        Self { count: self.count + other.count, by_step: both }
    }

    /// The share that lies below a step.
    fn below(&self, step: usize) -> f64 {
        let counted: u64 = self.by_step.iter().take(step).map(|&count| u64::from(count)).sum();
        counted as f64 / self.count.max(1) as f64
    }

    /// Where a share of them ends, in steps; within one they are thought to lie evenly.
    fn at(&self, share: f64) -> f64 {
        let mut left = share * self.count as f64;
        let mut last = 0.0;
        for (step, &count) in self.by_step.iter().enumerate().filter(|(_, count)| **count > 0) {
            if left < f64::from(count) {
                return step as f64 + (left / f64::from(count)).max(0.0);
            }
            left -= f64::from(count);
            last = step as f64;
        }
        last
    }
}

/// Of the mean of values one behind the other; where each is like the next, they say less than so many would.
fn variance_of_mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    // Of independent ones the correlation is seldom more than its standard error.
    let alike = 1.0 + 2.0 * (products / squares - 1.0 / count.sqrt()).max(0.0);
    alike * squares / (count - 1.0) / count
}

/// The step of a response: its octave and the next three bits.
fn step_of(response: Nanos) -> usize {
    let ns = response.0.max(1 << STEPS_LOG2);
    let octave = ns.ilog2();
    let within = (ns >> (octave - STEPS_LOG2)) as usize & ((1 << STEPS_LOG2) - 1);
    ((octave as usize) << STEPS_LOG2) + within
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};

    /// The logarithms of responses, each so much like the one before.
    fn responses(seed: u64, count: u64, alike: f64) -> Vec<f64> {
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let normal = Normal::new(0.0, 0.5).unwrap();
        let mut level: f64 = normal.sample(&mut random);
        (0..count)
            .map(|_| {
                level = alike * level + (1.0 - alike * alike).sqrt() * normal.sample(&mut random);
                level
            })
            .collect()
    }

    /// The spread of a quantile over many traces beside what each trace says of it; where responses are independent, next to nothing.
    #[test]
    fn the_variance_is_what_the_quantile_varies_by_in_whiles() {
        for (alike, share) in [(0.0, 0.5), (0.0, 0.99), (0.99, 0.5), (0.99, 0.99)] {
            let (mut quantiles, mut errors) = (Vec::new(), Vec::new());
            for seed in 0..200 {
                let mut batches = Batches::default();
                let mut logs = responses(seed, 5000, alike);
                for log in &logs {
                    batches.record(Nanos::from_ms(5.0 * log.exp()));
                }
                errors.push(batches.variance(share).sqrt());
                logs.sort_unstable_by(f64::total_cmp);
                quantiles.push(logs[(share * 5000.0) as usize]);
            }
            let mean = quantiles.iter().sum::<f64>() / 200.0;
            let spread = (quantiles.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / 199.0).sqrt();
            let said = errors.iter().sum::<f64>() / 200.0;
            // Of 50 whiles one in a hundred is a matter of one of them, and which it is no batch tells.
            let range = match (alike, share) {
                (0.0, _) => 0.0..0.4,
                (_, 0.5) => 0.7..1.5,
                _ => 0.5..1.5,
            };
            assert!(range.contains(&(said / spread)), "{alike} {share}: {said} for {spread}");
        }
    }

    #[test]
    fn memory_does_not_grow_and_equal_responses_leave_nothing_to_chance() {
        let mut batches = Batches::default();
        (0..200_000).for_each(|_| batches.record(Nanos(5_000_000)));
        assert!((MOST / 2..MOST).contains(&batches.full.len()), "{}", batches.full.len());
        assert_eq!(batches.variance(0.5).to_bits(), 0);
        let mut few = Batches::default();
        (0..31).for_each(|_| few.record(Nanos(5_000_000)));
        (0..3).for_each(|_| few.record(Nanos(50_000_000)));
        assert_eq!(few.variance(0.5).to_bits(), 0);
        assert_eq!(Batches::default().variance(0.5).to_bits(), 0);
    }
}
