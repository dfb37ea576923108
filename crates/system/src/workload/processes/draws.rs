//! DiskSim's random numbers: one stream for all generators, and what its distributions take from it.

use super::super::{ShiftLaw, SizeLaw, TimeLaw};

/// The linear congruential generator of 48 bits that DiskSim 4.0 brings along.
#[derive(Clone, Debug)]
pub(super) struct Draws(u64);

const BITS: u64 = (1 << 48) - 1;

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(65_536).wrapping_add(13_070) & BITS)
    }

    /// Uniform in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(25_214_903_917).wrapping_add(11) & BITS;
        self.0 as f64 / (1_u64 << 48) as f64
    }

    /// Exponential with mean 1.
    fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}

/// A distribution, in ms or in sectors.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Nothing is drawn.
    Constant(f64),
    Uniform(f64, f64),
    /// A base, and the mean of what is added to it.
    Exponential(f64, f64),
    Normal(f64, f64),
    /// A whole number with this mean.
    Poisson(f64),
    /// The first with this probability, else the second.
    TwoValue(f64, f64, f64),
    /// Values with the cumulated weights up to and including them.
    Weighted(Vec<(f64, f64)>),
}

impl Shape {
    pub(super) fn of_time(law: &TimeLaw) -> Self {
        match *law {
            TimeLaw::Constant(ms) => Self::Constant(ms),
            TimeLaw::Uniform([low, high]) => Self::Uniform(low, high),
            TimeLaw::Exponential(mean) => Self::Exponential(0.0, mean),
            TimeLaw::ShiftedExponential([base, mean]) => Self::Exponential(base, mean),
            TimeLaw::Normal([mean, deviation]) => Self::Normal(mean, deviation),
            TimeLaw::Poisson(mean) => Self::Poisson(mean),
            TimeLaw::TwoValue([a, b, p]) => Self::TwoValue(a, b, p),
        }
    }

    /// In sectors of so many KiB.
    pub(super) fn of_size(law: &SizeLaw, sector_kib: f64) -> Self {
        let sectors = |kib: f64| kib / sector_kib;
        match law {
            SizeLaw::Fixed(kib) => Self::Constant(sectors(*kib)),
            SizeLaw::Uniform([low, high]) => Self::Uniform(sectors(*low), sectors(*high)),
            SizeLaw::Exponential(mean) => Self::Exponential(0.0, sectors(*mean)),
            SizeLaw::ShiftedExponential([base, mean]) => Self::Exponential(sectors(*base), sectors(*mean)),
            SizeLaw::Normal([mean, deviation]) => Self::Normal(sectors(*mean), sectors(*deviation)),
            SizeLaw::Poisson(mean) => Self::Poisson(sectors(*mean)),
            SizeLaw::TwoValue([a, b, p]) => Self::TwoValue(sectors(*a), sectors(*b), *p),
            SizeLaw::Weighted(choices) => {
                let mut total = 0.0;
                let cumulated = |&[kib, weight]: &[f64; 2]| {
                    total += weight;
                    (sectors(kib), total)
                };
                Self::Weighted(choices.iter().map(cumulated).collect())
            }
        }
    }

    /// In sectors of so many KiB.
    pub(super) fn of_shift(law: &ShiftLaw, sector_kib: f64) -> Self {
        let sectors = |kib: f64| kib / sector_kib;
        match *law {
            ShiftLaw::Fixed(kib) => Self::Constant(sectors(kib)),
            ShiftLaw::Uniform([low, high]) => Self::Uniform(sectors(low), sectors(high)),
            ShiftLaw::Exponential(mean) => Self::Exponential(0.0, sectors(mean)),
            ShiftLaw::ShiftedExponential([base, mean]) => Self::Exponential(sectors(base), sectors(mean)),
            ShiftLaw::Normal([mean, deviation]) => Self::Normal(sectors(mean), sectors(deviation)),
            ShiftLaw::Poisson(mean) => Self::Poisson(sectors(mean)),
            ShiftLaw::TwoValue([a, b, p]) => Self::TwoValue(sectors(a), sectors(b), p),
        }
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform(low, high) => low + (high - low) * draws.unit(),
            Self::Exponential(base, mean) => base + mean * draws.exponential(),
            Self::Normal(mean, deviation) => mean + deviation * normal(draws),
            Self::Poisson(mean) => poisson(*mean, draws),
            Self::TwoValue(a, b, p) => {
                if draws.unit() < *p {
                    *a
                } else {
                    *b
                }
            }
            Self::Weighted(choices) => {
                let point = draws.unit() * choices.last().map_or(0.0, |last| last.1);
                let index = choices.partition_point(|&(_, cumulated)| cumulated <= point);
                choices.get(index).or(choices.last()).map_or(0.0, |choice| choice.0)
            }
        }
    }

    /// A length of time in ms: what is negative is drawn anew.
    pub(super) fn time_ms(&self, draws: &mut Draws) -> f64 {
        loop {
            let ms = self.draw(draws);
            if ms >= 0.0 {
                return ms;
            }
        }
    }
}

/// Of the standard normal distribution, by rejection from the exponential one.
fn normal(draws: &mut Draws) -> f64 {
    loop {
        let (limit, value) = (draws.exponential(), draws.exponential());
        if limit > (value - 1.0).powi(2) / 2.0 {
            return if draws.unit() < 0.5 { -value } else { value };
        }
    }
}

/// How many arrivals of rate 1 come within `mean`.
fn poisson(mean: f64, draws: &mut Draws) -> f64 {
    let mut count = 0.0;
    let mut at = draws.exponential();
    while at < mean {
        at += draws.exponential();
        count += 1.0;
    }
    count
}
