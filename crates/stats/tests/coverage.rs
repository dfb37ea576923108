//! Always? Confidence intervals from batch means hold the true mean about as often as they claim.

use headstack_stats::{BatchMeans, Moments};
use headstack_units::Nanos;

/// SplitMix64 (Steele, Lea & Flood 2014): a seeded stream without a dependency.
struct SplitMix(u64);

impl SplitMix {
    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0 + f64::EPSILON / 4.0
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }
}

/// Share of the intervals that hold `true_mean_ms`, of `runs` streams made by `stream(seed)`; at most a tenth of these may have none.
fn coverage(runs: u64, true_mean_ms: f64, stream: impl Fn(u64) -> Vec<Nanos>) -> f64 {
    let holds = |seed: u64| {
        let values = stream(seed);
        let mean = values.iter().copied().collect::<Moments>().mean_ms().unwrap();
        let half_width = values.into_iter().collect::<BatchMeans>().half_width_ms()?;
        Some((mean - true_mean_ms).abs() <= half_width)
    };
    let told: Vec<bool> = (0..runs).filter_map(holds).collect();
    assert!(told.len() as u64 >= runs * 9 / 10, "{} of {runs}", told.len());
    told.iter().filter(|&&holds| holds).count() as f64 / told.len() as f64
}

#[test]
fn independent_streams_of_any_length_are_covered_19_times_in_20() {
    for count in [63, 64, 500, 4_095, 4_096] {
        let share = coverage(1_000, 10.0, |seed| {
            let mut random = SplitMix(seed * 1_000_003 + count);
            (0..count).map(|_| Nanos::from_ms(5.0 + 5.0 * random.exponential())).collect()
        });
        // Three standard errors of a share of 0.95 in 1,000 runs are 0.021; skewed short streams lose a little more.
        assert!((0.92..=0.975).contains(&share), "{count} values: {share}");
    }
}

/// Waiting times of an M/M/1 queue with a service of 1 ms (Lindley's recursion), from an empty start that is thrown away.
fn waits(load: f64, seed: u64, count: usize) -> Vec<Nanos> {
    let mut random = SplitMix(seed.wrapping_mul(0x5851_F42D_4C95_7F2D) + 1);
    let mut wait: f64 = 0.0;
    let mut step = || {
        wait = (wait + random.exponential() - random.exponential() / load).max(0.0);
        Nanos::from_ms(wait)
    };
    (0..2_000 + count).map(|_| step()).skip(2_000).collect()
}

#[test]
fn a_queue_is_covered_where_the_naive_interval_fails() {
    // Service 1 ms, load 1/2: mean wait ρ/(1 − ρ) = 1 ms.
    let count = 30_000;
    let batch_means = coverage(300, 1.0, |seed| waits(0.5, seed, count));
    let naive = (0..300)
        .filter(|&seed| {
            let moments: Moments = waits(0.5, seed, count).into_iter().collect();
            let half_width = 1.96 * moments.sample_std_ms().unwrap() / (count as f64).sqrt();
            (moments.mean_ms().unwrap() - 1.0).abs() <= half_width
        })
        .count() as f64
        / 300.0;
    assert!(batch_means > 0.90, "{batch_means}");
    assert!(naive < 0.70, "{naive}");
}

/// What a queue remembers lasts longer than a batch: at 84 % load some 300 requests, and of 3,000 a batch has 47.
#[test]
fn a_queue_that_remembers_for_longer_than_a_batch_is_covered() {
    for (load, count, least) in [(0.71, 3_000, 0.89), (0.84, 3_000, 0.80), (0.84, 30_000, 0.91)] {
        let share = coverage(300, load / (1.0 - load), |seed| waits(load, seed, count));
        assert!((least..0.99).contains(&share), "{load}, {count}: {share}");
    }
}
