//! The forms of delays. Only the mean of a delay is fitted, since throughput depends on little else; its form is kept.

use headstack_system::workload::TimeLaw;

/// The form that fitted delays are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Always the mean.
    Constant,
    /// From nothing to twice the mean.
    Uniform,
    /// With a standard deviation of a quarter of the mean.
    Normal,
    /// Exponential.
    Exponential,
}

impl Law {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Constant, Self::Uniform, Self::Normal, Self::Exponential];

    /// Its name.
    pub fn name(self) -> &'static str {
        ["constant", "uniform", "normal", "exponential"][self as usize]
    }

    fn with_mean(self, ms: f64) -> TimeLaw {
        match self {
            Self::Constant => TimeLaw::Constant(ms),
            Self::Uniform => TimeLaw::Uniform([0.0, 2.0 * ms]),
            Self::Normal => TimeLaw::Normal([ms, 0.25 * ms]),
            Self::Exponential => TimeLaw::Exponential(ms),
        }
    }
}

/// Makes a delay one of this mean: in the form that was asked for, else in the one that it has, else normal.
pub(crate) fn put(delay: &mut Option<TimeLaw>, ms: f64, asked: Option<Law>) {
    let own = delay.take().filter(|own| asked.is_none() && mean(own) > 0.0);
    *delay = (ms > 0.0).then(|| match own {
        Some(own) => times(&own, ms / mean(&own)),
        None => asked.unwrap_or(Law::Normal).with_mean(ms),
    });
}

/// The mean of a delay, as its law names it.
pub(crate) fn mean(law: &TimeLaw) -> f64 {
    match law {
        TimeLaw::Constant(ms) | TimeLaw::Exponential(ms) | TimeLaw::Poisson(ms) => *ms,
        TimeLaw::Uniform([low, high]) => 0.5 * (low + high),
        TimeLaw::Normal([mean, _]) => *mean,
        TimeLaw::ShiftedExponential([base, mean]) => base + mean,
        TimeLaw::TwoValue([a, b, p]) => p * a + (1.0 - p) * b,
    }
}

/// The law so many times as long.
fn times(law: &TimeLaw, factor: f64) -> TimeLaw {
    match *law {
        TimeLaw::Constant(ms) => TimeLaw::Constant(factor * ms),
        TimeLaw::Exponential(ms) => TimeLaw::Exponential(factor * ms),
        TimeLaw::Poisson(ms) => TimeLaw::Poisson(factor * ms),
        TimeLaw::Uniform([low, high]) => TimeLaw::Uniform([factor * low, factor * high]),
        TimeLaw::Normal([mean, deviation]) => TimeLaw::Normal([factor * mean, factor * deviation]),
        TimeLaw::ShiftedExponential([base, mean]) => {
            TimeLaw::ShiftedExponential([factor * base, factor * mean])
        }
        TimeLaw::TwoValue([a, b, p]) => TimeLaw::TwoValue([factor * a, factor * b, p]),
    }
}

/// What a law is called in results.
pub(crate) fn name(law: &TimeLaw) -> &'static str {
    match law {
        TimeLaw::Constant(_) => Law::Constant.name(),
        TimeLaw::Uniform(_) => Law::Uniform.name(),
        TimeLaw::Normal(_) => Law::Normal.name(),
        TimeLaw::Exponential(_) => Law::Exponential.name(),
        TimeLaw::ShiftedExponential(_) => "shifted exponential",
        TimeLaw::Poisson(_) => "poisson",
        TimeLaw::TwoValue(_) => "two-value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_keeps_its_form_unless_another_is_asked_for() {
        let with = |mut delay: Option<TimeLaw>, ms, asked| {
            put(&mut delay, ms, asked);
            delay
        };
        let own = Some(TimeLaw::Normal([0.2, 0.1]));
        assert_eq!(with(own.clone(), 0.4, None), Some(TimeLaw::Normal([0.4, 0.2])));
        assert_eq!(with(own.clone(), 0.4, Some(Law::Exponential)), Some(TimeLaw::Exponential(0.4)));
        assert_eq!(with(own, 0.0, None), None);
        for none in [None, Some(TimeLaw::Exponential(0.0))] {
            assert_eq!(with(none, 0.4, None), Some(TimeLaw::Normal([0.4, 0.1])));
        }
        let laws = [
            TimeLaw::Constant(2.0),
            TimeLaw::Exponential(2.0),
            TimeLaw::Poisson(2.0),
            TimeLaw::Uniform([1.0, 3.0]),
            TimeLaw::ShiftedExponential([1.5, 0.5]),
            TimeLaw::TwoValue([1.0, 5.0, 0.75]),
        ];
        for law in laws {
            assert_eq!(with(Some(law.clone()), mean(&law), None), Some(law.clone()));
            let longer = with(Some(law.clone()), 3.0, None).unwrap();
            assert!((mean(&longer) - 3.0).abs() < 1e-12 && name(&longer) == name(&law), "{longer:?}");
        }
    }
}
