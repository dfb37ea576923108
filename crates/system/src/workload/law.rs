//! Distributions: of times, sizes, distances and counts.

use headstack_units::Nanos;
use rand_distr::{Distribution, Normal, Poisson};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// A length of time; drawn anew for every use, never negative.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum TimeLaw {
    /// Always this many ms.
    #[serde(rename = "constant_ms")]
    Constant(f64),
    /// Uniform between the two, in ms.
    #[serde(rename = "uniform_ms")]
    Uniform([f64; 2]),
    /// Exponential with this mean, in ms: independent arrivals.
    #[serde(rename = "exponential_ms")]
    Exponential(f64),
    /// `[base, mean]` in ms: the base and, on top of it, an exponential with this mean.
    #[serde(rename = "shifted_exponential_ms")]
    ShiftedExponential([f64; 2]),
    /// Normal with `[mean, standard deviation]`, in ms; what falls below zero becomes zero.
    #[serde(rename = "normal_ms")]
    Normal([f64; 2]),
    /// A whole number of ms, Poisson-distributed with this mean.
    #[serde(rename = "poisson_ms")]
    Poisson(f64),
    /// `[a, b, p]`: a ms with probability p, else b ms.
    #[serde(rename = "two_value_ms")]
    TwoValue([f64; 3]),
}

/// A size or a distance, in KiB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum SizeLaw {
    /// Always this many KiB.
    #[serde(rename = "fixed_kib")]
    Fixed(f64),
    /// Uniform between the two, in KiB.
    #[serde(rename = "uniform_kib")]
    Uniform([f64; 2]),
    /// Exponential with this mean, in KiB.
    #[serde(rename = "exponential_kib")]
    Exponential(f64),
    /// `[base, mean]` in KiB: the base and, on top of it, an exponential with this mean.
    #[serde(rename = "shifted_exponential_kib")]
    ShiftedExponential([f64; 2]),
    /// Normal with `[mean, standard deviation]`, in KiB; what falls below zero becomes zero.
    #[serde(rename = "normal_kib")]
    Normal([f64; 2]),
    /// A whole number of KiB, Poisson-distributed with this mean.
    #[serde(rename = "poisson_kib")]
    Poisson(f64),
    /// `[a, b, p]`: a KiB with probability p, else b KiB.
    #[serde(rename = "two_value_kib")]
    TwoValue([f64; 3]),
    /// `[[KiB, weight], …]`: one of these, as often as its weight says.
    #[serde(rename = "weighted_kib")]
    Weighted(Vec<[f64; 2]>),
}

/// A number of requests, at least 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CountLaw {
    /// Always this many.
    Fixed(f64),
    /// Uniform between the two.
    Uniform([f64; 2]),
    /// Geometric-like: exponential with this mean, rounded.
    Exponential(f64),
    /// Normal with `[mean, standard deviation]`.
    Normal([f64; 2]),
    /// Poisson-distributed with this mean.
    Poisson(f64),
    /// `[a, b, p]`: a with probability p, else b.
    TwoValue([f64; 3]),
}

/// A distribution without its unit, ready to be sampled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Law {
    Constant(f64),
    Uniform(f64, f64),
    Exponential(f64),
    Normal(Normal<f64>),
    /// A normal distribution that may go below zero.
    Signed(Normal<f64>),
    /// So much more than another law says.
    Shifted(f64, Box<Law>),
    Poisson(Option<Poisson<f64>>),
    TwoValue(f64, f64, f64),
    /// Values with the cumulated weights up to and including them.
    Weighted(Vec<(f64, f64)>),
}

/// Most a Poisson distribution is asked for; beyond it sampling loses precision.
const MAX_POISSON: f64 = 1e12;

impl Law {
    fn uniform([low, high]: [f64; 2]) -> Result<Self, String> {
        if not_negative(low)? > not_negative(high)? {
            return Err(format!("uniform between {low} and {high}: the lower bound comes first"));
        }
        Ok(Self::Uniform(low, high))
    }

    /// Exponential with this mean.
    pub(super) fn exponential(mean: f64) -> Result<Self, String> {
        not_negative(mean).map(Self::Exponential)
    }

    fn shifted_exponential([base, mean]: [f64; 2]) -> Result<Self, String> {
        Ok(Self::Shifted(not_negative(base)?, Box::new(Self::exponential(mean)?)))
    }

    fn normal([mean, deviation]: [f64; 2]) -> Result<Self, String> {
        let law = Normal::new(not_negative(mean)?, not_negative(deviation)?);
        law.map(Self::Normal).map_err(|error| error.to_string())
    }

    /// Poisson-distributed with this mean.
    pub(super) fn poisson(mean: f64) -> Result<Self, String> {
        if not_negative(mean)? > MAX_POISSON {
            return Err(format!("a Poisson mean of {mean} is beyond {MAX_POISSON}"));
        }
        Ok(Self::Poisson(Poisson::new(mean).ok()))
    }

    fn two_value([a, b, p]: [f64; 3]) -> Result<Self, String> {
        if !(0.0..=1.0).contains(&p) {
            return Err(format!("a probability of {p} is not between 0 and 1"));
        }
        Ok(Self::TwoValue(not_negative(a)?, not_negative(b)?, p))
    }

    fn weighted(choices: &[[f64; 2]]) -> Result<Self, String> {
        let mut cumulated = Vec::new();
        let mut total = 0.0;
        for &[value, weight] in choices {
            total += not_negative(weight)?;
            cumulated.push((not_negative(value)?, total));
        }
        if total > 0.0 { Ok(Self::Weighted(cumulated)) } else { Err("no choice has a weight".to_owned()) }
    }

    /// Draws a value, never negative unless the law is signed. Takes at least one draw of the stream, unless it is
    /// constant.
    #[inline]
    pub(crate) fn sample(&self, stream: &mut Stream) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform(low, high) => low + (high - low) * stream.unit(),
            // 1 − u lies in (0, 1]: its logarithm is finite.
            Self::Exponential(mean) => -mean * (1.0 - stream.unit()).ln(),
            Self::Normal(law) => law.sample(stream.generator()).max(0.0),
            Self::Signed(law) => law.sample(stream.generator()),
            Self::Shifted(base, law) => base + law.sample(stream),
            Self::Poisson(law) => law.as_ref().map_or(0.0, |law| law.sample(stream.generator())),
            Self::TwoValue(a, b, p) => {
                if stream.chance(*p) {
                    *a
                } else {
                    *b
                }
            }
            Self::Weighted(choices) => {
                let point = stream.unit() * choices.last().map_or(0.0, |last| last.1);
                let index = choices.partition_point(|&(_, cumulated)| cumulated <= point);
                choices[index.min(choices.len() - 1)].0
            }
        }
    }

    /// A length of time, the values being ms.
    #[inline]
    pub(crate) fn time(&self, stream: &mut Stream) -> Nanos {
        Nanos::from_ms(self.sample(stream))
    }
}

/// The longest time that a file may name, in ms.
const LONGEST_MS: f64 = 3.155_76e12;

/// Ms that a run can last.
pub(super) fn lasts(ms: f64) -> Result<f64, String> {
    if not_negative(ms)? > LONGEST_MS {
        return Err(format!("{ms} ms is more than 100 years, which is as long as a run can last"));
    }
    Ok(ms)
}

/// A finite number of either sign.
pub(super) fn finite(value: f64) -> Result<f64, String> {
    if value.is_finite() { Ok(value) } else { Err(format!("{value} must be a finite number")) }
}

fn not_negative(value: f64) -> Result<f64, String> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(format!("{value} must be a finite number, not negative"))
    }
}

impl TimeLaw {
    /// Its times, in ms.
    fn parameters(&self) -> &[f64] {
        match self {
            Self::Constant(ms) | Self::Exponential(ms) | Self::Poisson(ms) => std::slice::from_ref(ms),
            Self::Uniform(times)
            | Self::ShiftedExponential(times)
            | Self::Normal(times)
            | Self::TwoValue([times @ .., _]) => times,
        }
    }

    /// Ready to be sampled, in ms; or what is wrong with it.
    pub(crate) fn law(&self) -> Result<Law, String> {
        self.parameters().iter().try_for_each(|&ms| lasts(ms).map(|_| ()))?;
        match *self {
            Self::Constant(value) => Ok(Law::Constant(value)),
            Self::Uniform(bounds) => Law::uniform(bounds),
            Self::Exponential(mean) => Law::exponential(mean),
            Self::ShiftedExponential(parameters) => Law::shifted_exponential(parameters),
            Self::Normal(parameters) => Law::normal(parameters),
            Self::Poisson(mean) => Law::poisson(mean),
            Self::TwoValue(parameters) => Law::two_value(parameters),
        }
    }
}

/// A [`TimeLaw`] that can be, ready to be drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSampler(Law);

impl TimeSampler {
    /// A length of time. Takes at least one draw of the stream, unless the law is constant.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> Nanos {
        self.0.time(stream)
    }
}

impl TimeLaw {
    /// The law, ready to be drawn from.
    ///
    /// # Errors
    /// What is wrong with its numbers, in words.
    pub fn sampler(&self) -> Result<TimeSampler, String> {
        self.law().map(TimeSampler)
    }
}

impl SizeLaw {
    /// The sizes between which it chooses, in KiB; none where it draws from a range.
    pub(crate) fn choices(&self) -> Vec<f64> {
        match self {
            Self::Fixed(kib) => vec![*kib],
            Self::TwoValue([a, b, _]) => vec![*a, *b],
            Self::Weighted(choices) => {
                choices.iter().filter(|[_, weight]| *weight > 0.0).map(|[kib, _]| *kib).collect()
            }
            Self::Uniform(_)
            | Self::Exponential(_)
            | Self::ShiftedExponential(_)
            | Self::Normal(_)
            | Self::Poisson(_) => Vec::new(),
        }
    }

    /// Ready to be sampled, in KiB; or what is wrong with it.
    pub(crate) fn law(&self) -> Result<Law, String> {
        match self {
            Self::Fixed(value) => not_negative(*value).map(Law::Constant),
            Self::Uniform(bounds) => Law::uniform(*bounds),
            Self::Exponential(mean) => Law::exponential(*mean),
            Self::ShiftedExponential(parameters) => Law::shifted_exponential(*parameters),
            Self::Normal(parameters) => Law::normal(*parameters),
            Self::Poisson(mean) => Law::poisson(*mean),
            Self::TwoValue(parameters) => Law::two_value(*parameters),
            Self::Weighted(choices) => Law::weighted(choices),
        }
    }
}

impl CountLaw {
    /// Ready to be sampled; or what is wrong with it.
    pub(crate) fn law(&self) -> Result<Law, String> {
        match *self {
            Self::Fixed(value) => not_negative(value).map(Law::Constant),
            Self::Uniform(bounds) => Law::uniform(bounds),
            Self::Exponential(mean) => Law::exponential(mean),
            Self::Normal(parameters) => Law::normal(parameters),
            Self::Poisson(mean) => Law::poisson(mean),
            Self::TwoValue(parameters) => Law::two_value(parameters),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> Vec<(&'static str, Law, f64, f64)> {
        let time = |law: TimeLaw| law.law().unwrap();
        vec![
            // name, law, mean, standard deviation
            ("constant", time(TimeLaw::Constant(4.0)), 4.0, 0.0),
            ("uniform", time(TimeLaw::Uniform([2.0, 5.0])), 3.5, 3.0 / 12f64.sqrt()),
            ("exponential", time(TimeLaw::Exponential(20.0)), 20.0, 20.0),
            ("normal", time(TimeLaw::Normal([50.0, 5.0])), 50.0, 5.0),
            ("poisson", time(TimeLaw::Poisson(9.0)), 9.0, 3.0),
            ("two-value", time(TimeLaw::TwoValue([1.0, 5.0, 0.75])), 2.0, 3f64.sqrt()),
            ("weighted", SizeLaw::Weighted(vec![[1.0, 1.0], [8.0, 3.0]]).law().unwrap(), 6.25, 3.031),
            ("shifted-exponential", time(TimeLaw::ShiftedExponential([3.0, 4.0])), 7.0, 4.0),
        ]
    }

    #[test]
    fn means_and_deviations_are_the_distributions() {
        let n = 100_000;
        for (name, law, mean, deviation) in laws() {
            let mut stream = Stream::new(5, name);
            let values: Vec<f64> = (0..n).map(|_| law.sample(&mut stream)).collect();
            let found = values.iter().sum::<f64>() / f64::from(n);
            let spread =
                (values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / f64::from(n)).sqrt();
            assert!((found - mean).abs() <= 5.0 * deviation / f64::from(n).sqrt() + 1e-12, "{name}: {found}");
            assert!((spread - deviation).abs() <= 0.02 * deviation + 1e-12, "{name}: {spread}");
        }
    }

    #[test]
    fn the_first_values_do_not_move() {
        let golden: [(&str, [u64; 2]); 7] = [
            ("constant", [4_000_000, 4_000_000]),
            ("uniform", [3_249_898, 4_322_594]),
            ("exponential", [15_418_175, 48_087_090]),
            ("normal", [53_814_623, 45_874_989]),
            ("poisson", [12_000_000, 6_000_000]),
            ("two-value", [1_000_000, 1_000_000]),
            ("weighted", [8_000_000, 8_000_000]),
        ];
        for ((name, law, ..), (golden_name, expected)) in laws().into_iter().zip(golden) {
            let mut stream = Stream::new(1, name);
            let found = [law.time(&mut stream).0, law.time(&mut stream).0];
            assert_eq!((name, found), (golden_name, expected));
        }
    }

    #[test]
    fn impossible_laws_say_why() {
        assert!(TimeLaw::Uniform([5.0, 2.0]).law().unwrap_err().contains("lower bound"));
        assert!(TimeLaw::Exponential(1e13).law().unwrap_err().contains("100 years"));
        assert!(TimeLaw::Uniform([1.0, f64::INFINITY]).law().unwrap_err().contains("finite"));
        assert!(TimeLaw::Exponential(-1.0).law().unwrap_err().contains("negative"));
        assert!(TimeLaw::TwoValue([1.0, 2.0, 1.5]).law().unwrap_err().contains("between 0 and 1"));
        assert!(SizeLaw::Weighted(vec![]).law().is_err());
        assert_eq!(TimeLaw::Poisson(0.0).law().unwrap().sample(&mut Stream::new(0, "")), 0.0);
    }
}
