//! The numbers of a model that a fit may change.

use crate::spec::ModelSpec;
use headstack_system::workload::TimeLaw;

/// The form of a delay of which only the mean is fitted: throughput depends on little else.
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

    fn with_mean(self, ms: f64) -> Option<TimeLaw> {
        match self {
            _ if ms <= 0.0 => None,
            Self::Constant => Some(TimeLaw::Constant(ms)),
            Self::Uniform => Some(TimeLaw::Uniform([0.0, 2.0 * ms])),
            Self::Normal => Some(TimeLaw::Normal([ms, 0.25 * ms])),
            Self::Exponential => Some(TimeLaw::Exponential(ms)),
        }
    }
}

/// The mean of a delay, as its law names it.
fn mean(law: Option<&TimeLaw>) -> f64 {
    match law {
        None => 0.0,
        Some(TimeLaw::Constant(ms) | TimeLaw::Exponential(ms) | TimeLaw::Poisson(ms)) => *ms,
        Some(TimeLaw::Uniform([low, high])) => 0.5 * (low + high),
        Some(TimeLaw::Normal([mean, _])) => *mean,
        Some(TimeLaw::ShiftedExponential([base, mean])) => base + mean,
        Some(TimeLaw::TwoValue([a, b, p])) => p * a + (1.0 - p) * b,
    }
}

/// One number of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// `cache.read_delay`, its mean.
    ReadDelay,
    /// `cache.write_delay`, its mean.
    WriteDelay,
    /// `server.read_delay`, its mean.
    ServerReadDelay,
    /// `server.write_delay`, its mean.
    ServerWriteDelay,
    /// `cache.overhead_ms`.
    Overhead,
    /// `cache.interface_mb_per_s`.
    Interface,
    /// `mechanism.outer_mb_per_s`.
    Outer,
    /// `mechanism.inner_mb_per_s`.
    Inner,
    /// `mechanism.head_switch_ms`, and the switch of cylinders by as much.
    Switch,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::ReadDelay,
        Self::WriteDelay,
        Self::ServerReadDelay,
        Self::ServerWriteDelay,
        Self::Overhead,
        Self::Interface,
        Self::Outer,
        Self::Inner,
        Self::Switch,
    ];

    /// Its path in the description.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadDelay => "cache.read_delay",
            Self::WriteDelay => "cache.write_delay",
            Self::ServerReadDelay => "server.read_delay",
            Self::ServerWriteDelay => "server.write_delay",
            Self::Overhead => "cache.overhead_ms",
            Self::Interface => "cache.interface_mb_per_s",
            Self::Outer => "mechanism.outer_mb_per_s",
            Self::Inner => "mechanism.inner_mb_per_s",
            Self::Switch => "mechanism.head_switch_ms",
        }
    }

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Interface | Self::Outer | Self::Inner => "MB/s",
            _ => "ms",
        }
    }

    pub(crate) fn get(self, spec: &ModelSpec) -> f64 {
        match self {
            Self::ReadDelay => mean(spec.cache.read_delay.as_ref()),
            Self::WriteDelay => mean(spec.cache.write_delay.as_ref()),
            Self::ServerReadDelay => mean(spec.server.read_delay.as_ref()),
            Self::ServerWriteDelay => mean(spec.server.write_delay.as_ref()),
            Self::Overhead => spec.cache.overhead_ms,
            Self::Interface => spec.cache.interface_mb_per_s,
            Self::Outer => spec.mechanism.outer_mb_per_s,
            Self::Inner => spec.mechanism.inner_mb_per_s,
            Self::Switch => spec.mechanism.head_switch_ms,
        }
    }

    pub(crate) fn put(self, spec: &mut ModelSpec, value: f64, law: Law) {
        match self {
            Self::ReadDelay => spec.cache.read_delay = law.with_mean(value),
            Self::WriteDelay => spec.cache.write_delay = law.with_mean(value),
            Self::ServerReadDelay => spec.server.read_delay = law.with_mean(value),
            Self::ServerWriteDelay => spec.server.write_delay = law.with_mean(value),
            Self::Overhead => spec.cache.overhead_ms = value,
            Self::Interface => spec.cache.interface_mb_per_s = value,
            Self::Outer => spec.mechanism.outer_mb_per_s = value,
            Self::Inner => spec.mechanism.inner_mb_per_s = value,
            Self::Switch => {
                let apart = spec.mechanism.cylinder_switch_ms - spec.mechanism.head_switch_ms;
                spec.mechanism.head_switch_ms = value;
                spec.mechanism.cylinder_switch_ms = (value + apart).max(0.0);
            }
        }
    }

    /// The rate falls inwards: an outer rate that was fitted below the inner one takes it along.
    pub(crate) fn keep_order(spec: &mut ModelSpec) {
        let mechanism = &mut spec.mechanism;
        mechanism.inner_mb_per_s = mechanism.inner_mb_per_s.min(mechanism.outer_mb_per_s);
    }

    pub(crate) fn is_rate(self) -> bool {
        matches!(self, Self::Interface | Self::Outer | Self::Inner)
    }

    /// The value so many scales, each of them much, further on. Of a rate they are scales of its inverse: that is a time for each
    /// byte, and times add up to those of files. Rates fall, times grow.
    pub(crate) fn moved(self, value: f64, scales: f64) -> f64 {
        if !self.is_rate() {
            return value + scales * self.scale();
        }
        let slowness = 1.0 + scales * self.scale();
        if slowness > 0.0 { value / slowness } else { f64::INFINITY }
    }

    /// How many scales it is from one value to another.
    pub(crate) fn scales(self, from: f64, to: f64) -> f64 {
        let way = if self.is_rate() { from / to - 1.0 } else { to - from };
        way / self.scale()
    }

    /// In ms; of rates the share of the inverse.
    fn scale(self) -> f64 {
        match self {
            Self::Interface | Self::Outer | Self::Inner => 0.1,
            Self::Switch => 0.5,
            _ => 0.05,
        }
    }

    /// Far values lie by this factor apart.
    pub(crate) const FAR_STEP: f64 = std::f64::consts::SQRT_2;

    /// Values far from `value`, where it may do what it does not here: longer times and lower rates, and some the other way.
    pub(crate) fn far_values(self, value: f64, spec: &ModelSpec) -> impl Iterator<Item = f64> {
        let (first, sign) = if self.is_rate() { (value, -1) } else { (value.max(0.025), 1) };
        let far = (-8..=24).filter(|&power| power != 0);
        far.map(move |power| first * Self::FAR_STEP.powi(sign * power))
            .filter(move |&value| self.within(value, spec) == value)
    }

    /// The least and the greatest value that can be. The inner rate goes down with the outer one, see `keep_order`.
    pub(crate) fn bounds(self, spec: &ModelSpec) -> [f64; 2] {
        match self {
            Self::Interface | Self::Outer => [0.01, 1e5],
            Self::Inner => [0.01, spec.mechanism.outer_mb_per_s],
            _ => [0.0, 1e3],
        }
    }

    /// The nearest value that can be.
    pub(crate) fn within(self, value: f64, spec: &ModelSpec) -> f64 {
        let [least, most] = self.bounds(spec);
        value.clamp(least, most)
    }
}
