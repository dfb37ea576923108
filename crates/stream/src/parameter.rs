//! The numbers of a model that a fit may change.

use crate::law::{self, Law};
use crate::spec::ModelSpec;
use headstack_system::workload::TimeLaw;

/// The least and the greatest rate, in MB/s.
const RATES: [f64; 2] = [0.01, 1e5];

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
    /// `cache.overhead_ms`, and that of writes by as much.
    Overhead,
    /// `cache.interface_mb_per_s`, and the rate of writes by as much.
    Interface,
    /// `mechanism.outer_mb_per_s`.
    Outer,
    /// `mechanism.inner_mb_per_s`; it keeps its share of the outer rate where that alone is fitted.
    Inner,
    /// `mechanism.head_switch_ms`, and the switch of cylinders by as much.
    Switch,
}

/// An interval of a rate that goes from one to so many times it tells nothing.
const OPEN: f64 = 20.0;

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

    /// Whether an interval of a rate leaves it open: the table fits as well with nearly any.
    pub(crate) fn is_open(self, ci95: Option<[f64; 2]>) -> bool {
        self.unit() == "MB/s" && ci95.is_some_and(|[low, high]| high > OPEN * low)
    }

    /// The delay of which it is the mean, if it is one and the model has it.
    pub(crate) fn delay(self, spec: &ModelSpec) -> Option<&TimeLaw> {
        match self {
            Self::ReadDelay => spec.cache.read_delay.as_ref(),
            Self::WriteDelay => spec.cache.write_delay.as_ref(),
            Self::ServerReadDelay => spec.server.read_delay.as_ref(),
            Self::ServerWriteDelay => spec.server.write_delay.as_ref(),
            _ => None,
        }
    }

    /// Whether the model has it; all but delays must be there.
    pub(crate) fn is_in(self, spec: &ModelSpec) -> bool {
        !self.is_delay() || self.delay(spec).is_some()
    }

    pub(crate) fn get(self, spec: &ModelSpec) -> f64 {
        match self {
            Self::Overhead => spec.cache.overhead_ms,
            Self::Interface => spec.cache.interface_mb_per_s,
            Self::Outer => spec.mechanism.outer_mb_per_s,
            Self::Inner => spec.mechanism.inner_mb_per_s,
            Self::Switch => spec.mechanism.head_switch_ms,
            _ => self.delay(spec).map_or(0.0, law::mean),
        }
    }

    pub(crate) fn put(self, spec: &mut ModelSpec, value: f64, law: Option<Law>) {
        match self {
            Self::ReadDelay => law::put(&mut spec.cache.read_delay, value, law),
            Self::WriteDelay => law::put(&mut spec.cache.write_delay, value, law),
            Self::ServerReadDelay => law::put(&mut spec.server.read_delay, value, law),
            Self::ServerWriteDelay => law::put(&mut spec.server.write_delay, value, law),
            Self::Overhead => {
                let cache = &mut spec.cache;
                let further = value - cache.overhead_ms;
                cache.write_overhead_ms = cache.write_overhead_ms.map(|write| (write + further).max(0.0));
                cache.overhead_ms = value;
            }
            Self::Interface => {
                let factor = value / spec.cache.interface_mb_per_s;
                let [least, most] = RATES;
                let cache = &mut spec.cache;
                cache.write_interface_mb_per_s =
                    cache.write_interface_mb_per_s.map(|rate| (factor * rate).clamp(least, most));
                cache.interface_mb_per_s = value;
            }
            Self::Outer => spec.mechanism.outer_mb_per_s = value,
            Self::Inner => spec.mechanism.inner_mb_per_s = value,
            Self::Switch => {
                let apart = spec.mechanism.cylinder_switch_ms - spec.mechanism.head_switch_ms;
                spec.mechanism.head_switch_ms = value;
                spec.mechanism.cylinder_switch_ms = (value + apart).max(0.0);
            }
        }
    }

    /// How much less the innermost track gives than the outermost is a matter of their radii: where the outer rate is another one than
    /// at first, the inner rate is so by the same share.
    pub(crate) fn keep_share(spec: &mut ModelSpec, first: &ModelSpec) {
        let factor = spec.mechanism.outer_mb_per_s / first.mechanism.outer_mb_per_s;
        let mechanism = &mut spec.mechanism;
        mechanism.inner_mb_per_s =
            (factor * mechanism.inner_mb_per_s).max(RATES[0]).min(mechanism.outer_mb_per_s);
    }

    pub(crate) fn is_delay(self) -> bool {
        [Self::ReadDelay, Self::WriteDelay, Self::ServerReadDelay, Self::ServerWriteDelay].contains(&self)
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

    /// The value in the middle between two, in scales.
    pub(crate) fn halfway(self, a: f64, b: f64) -> f64 {
        if self.is_rate() { 2.0 * a * b / (a + b) } else { 0.5 * (a + b) }
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
    pub(crate) fn far_values(self, value: f64, begun: &ModelSpec) -> impl Iterator<Item = f64> {
        let (first, sign) = if self.is_rate() { (value, -1) } else { (value.max(0.025), 1) };
        let far = (-8..=24).filter(|&power| power != 0);
        far.map(move |power| first * Self::FAR_STEP.powi(sign * power))
            .filter(move |&value| self.within(value, begun) == value)
    }

    /// The least and the greatest value that can be, in a search that begins with a model.
    pub(crate) fn bounds(self, first: &ModelSpec) -> [f64; 2] {
        match self {
            Self::Interface | Self::Outer => RATES,
            Self::Inner => [RATES[0], first.mechanism.outer_mb_per_s],
            _ => [0.0, 1e3],
        }
    }

    /// The nearest value that can be.
    pub(crate) fn within(self, value: f64, first: &ModelSpec) -> f64 {
        let [least, most] = self.bounds(first);
        value.clamp(least, most)
    }
}
