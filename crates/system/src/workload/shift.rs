//! How far, and which way, a local request lies from the one before.

use rand_distr::Normal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{Law, finite};

/// A shift in KiB: up where it is positive, down where it is negative.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum ShiftLaw {
    /// Always this many KiB.
    #[serde(rename = "fixed_kib")]
    Fixed(f64),
    /// Uniform between the two, in KiB.
    #[serde(rename = "uniform_kib")]
    Uniform([f64; 2]),
    /// Upwards, exponential with this mean, in KiB.
    #[serde(rename = "exponential_kib")]
    Exponential(f64),
    /// Upwards, `[base, mean]` in KiB: the base and an exponential with this mean.
    #[serde(rename = "shifted_exponential_kib")]
    ShiftedExponential([f64; 2]),
    /// Normal with `[mean, standard deviation]`, in KiB; with a mean of 0 as often up as down.
    #[serde(rename = "normal_kib")]
    Normal([f64; 2]),
    /// Upwards, a whole number of KiB, Poisson-distributed with this mean.
    #[serde(rename = "poisson_kib")]
    Poisson(f64),
    /// `[a, b, p]`: a KiB with probability p, else b KiB.
    #[serde(rename = "two_value_kib")]
    TwoValue([f64; 3]),
}

impl ShiftLaw {
    /// Ready to be sampled, in KiB; or what is wrong with it.
    pub(crate) fn law(&self) -> Result<Law, String> {
        match *self {
            Self::Fixed(value) => finite(value).map(Law::Constant),
            Self::Uniform([low, high]) => {
                if finite(low)? > finite(high)? {
                    return Err(format!("uniform between {low} and {high}: the lower bound comes first"));
                }
                Ok(Law::Uniform(low, high))
            }
            Self::Exponential(mean) => Law::exponential(mean),
            Self::ShiftedExponential([base, mean]) => {
                Ok(Law::Shifted(finite(base)?, Box::new(Law::exponential(mean)?)))
            }
            Self::Normal([mean, deviation]) => {
                let law = Normal::new(finite(mean)?, finite(deviation.abs())?);
                law.map(Law::Signed).map_err(|error| error.to_string())
            }
            Self::Poisson(mean) => Law::poisson(mean),
            Self::TwoValue([a, b, p]) => {
                if !(0.0..=1.0).contains(&p) {
                    return Err(format!("a probability of {p} is not between 0 and 1"));
                }
                Ok(Law::TwoValue(finite(a)?, finite(b)?, p))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn shifts_go_both_ways_with_the_distributions_mean_and_spread() {
        let cases = [
            (ShiftLaw::Fixed(-3.0), -3.0, 0.0),
            (ShiftLaw::Uniform([-4.0, 8.0]), 2.0, 12.0 / 12f64.sqrt()),
            (ShiftLaw::Exponential(7.0), 7.0, 7.0),
            (ShiftLaw::ShiftedExponential([-5.0, 7.0]), 2.0, 7.0),
            (ShiftLaw::Normal([0.0, 100.0]), 0.0, 100.0),
            (ShiftLaw::Poisson(9.0), 9.0, 3.0),
            (ShiftLaw::TwoValue([-8.0, 8.0, 0.5]), 0.0, 8.0),
        ];
        let n = 50_000;
        for (index, (law, mean, deviation)) in cases.iter().enumerate() {
            let (law, mut stream) = (law.law().unwrap(), Stream::new(index as u64, "shift"));
            let values: Vec<f64> = (0..n).map(|_| law.sample(&mut stream)).collect();
            let found = values.iter().sum::<f64>() / f64::from(n);
            let spread =
                (values.iter().map(|value| (value - found).powi(2)).sum::<f64>() / f64::from(n)).sqrt();
            assert!((found - mean).abs() <= 5.0 * deviation / f64::from(n).sqrt() + 1e-9, "{index}: {found}");
            assert!((spread - deviation).abs() <= 0.03 * deviation + 1e-9, "{index}: {spread}");
        }
    }

    #[test]
    fn impossible_shifts_say_why() {
        assert!(ShiftLaw::Uniform([5.0, -5.0]).law().unwrap_err().contains("lower bound"));
        assert!(ShiftLaw::Fixed(f64::NAN).law().unwrap_err().contains("finite"));
        assert!(ShiftLaw::TwoValue([1.0, 2.0, 2.0]).law().unwrap_err().contains("between 0 and 1"));
    }
}
