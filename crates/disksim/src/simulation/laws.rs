//! Distributions, as DiskSim writes them: `[ exponential, base, mean ]`.

use crate::error::ImportError;
use crate::fields::{Fields, list, real};
use crate::report::Report;
use crate::tree::{At, Kind, Value};
use headstack_system::workload::{ShiftLaw, SizeLaw, TimeLaw};

/// A distribution in DiskSim's own unit (ms, or blocks of 512 bytes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Distribution {
    Uniform(f64, f64),
    /// Mean and standard deviation, though DiskSim's manual calls it the variance.
    Normal(f64, f64),
    /// Base, and the mean of what is added to it.
    Exponential(f64, f64),
    /// Base, and the mean of what is added to it.
    Poisson(f64, f64),
    /// The usual value, the other one, and the probability of the other one.
    TwoValue(f64, f64, f64),
}

use Distribution::{Exponential, Normal, Poisson, TwoValue, Uniform};

/// KiB in a block.
const BLOCK_KIB: f64 = 0.5;

/// Reads a parameter; with the place for messages.
pub(super) fn read<'a>(fields: &Fields<'a>, name: &str) -> Result<(Distribution, &'a At), ImportError> {
    let value = &fields.need(name)?.value;
    let parts = list(name, value)?;
    let kind = match parts.first() {
        Some(Value { kind: Kind::Text(kind), .. }) => kind.as_str(),
        _ => "",
    };
    let numbers: Vec<f64> = parts.iter().skip(1).map(|part| real(name, part)).collect::<Result<_, _>>()?;
    let found = match (kind, numbers.as_slice()) {
        ("uniform", &[low, high]) => Uniform(low, high),
        ("normal", &[mean, deviation]) => Normal(mean, deviation),
        ("exponential", &[base, mean]) => Exponential(base, mean),
        ("poisson", &[base, mean]) => Poisson(base, mean),
        ("twovalue", &[usual, other, probability]) => TwoValue(usual, other, probability),
        _ => {
            let message = format!("`{name}` is not a distribution");
            return Err(ImportError::at(&value.at, message).hint(
                "one of [uniform, low, high], [normal, mean, deviation], [exponential, base, mean], \
                 [poisson, base, mean], [twovalue, usual, other, probability]",
            ));
        }
    };
    if let Normal(_, spread) | Exponential(_, spread) | Poisson(_, spread) = found
        && spread < 0.0
    {
        return Err(ImportError::at(&value.at, format!("`{name}`: {spread} cannot be negative")));
    }
    Ok((found, &value.at))
}

// A distribution without spread stays what it is: it takes its share of the random numbers.
impl Distribution {
    /// A normal distribution of the same mean and variance, where there is none of the same kind.
    fn as_normal(self, at: &At, report: &mut Report) -> Result<Self, ImportError> {
        let Poisson(base, mean) = self else { return Ok(self) };
        let message = "a Poisson distribution with a base, or in blocks, is not known here";
        report
            .refuse(ImportError::at(at, message), "a normal one with its mean and variance stands for it")?;
        Ok(Normal(base + mean, mean.sqrt()))
    }

    /// As a length of time.
    pub(super) fn time(self, at: &At, report: &mut Report) -> Result<TimeLaw, ImportError> {
        Ok(match self {
            Poisson(0.0, mean) => TimeLaw::Poisson(mean),
            Uniform(low, high) => TimeLaw::Uniform([low, high]),
            Normal(mean, deviation) => TimeLaw::Normal([mean, deviation]),
            Exponential(0.0, mean) => TimeLaw::Exponential(mean),
            Exponential(base, mean) => TimeLaw::ShiftedExponential([base, mean]),
            TwoValue(usual, other, p) => TimeLaw::TwoValue([other, usual, p]),
            Poisson(..) => self.as_normal(at, report)?.time(at, report)?,
        })
    }

    /// As a size.
    pub(super) fn size(self, at: &At, report: &mut Report) -> Result<SizeLaw, ImportError> {
        let kib = |blocks: f64| blocks * BLOCK_KIB;
        Ok(match self {
            Uniform(low, high) => SizeLaw::Uniform([kib(low), kib(high)]),
            Normal(mean, deviation) => SizeLaw::Normal([kib(mean), kib(deviation)]),
            Exponential(0.0, mean) => SizeLaw::Exponential(kib(mean)),
            Exponential(base, mean) => SizeLaw::ShiftedExponential([kib(base), kib(mean)]),
            TwoValue(usual, other, p) => SizeLaw::TwoValue([kib(other), kib(usual), p]),
            Poisson(..) => self.as_normal(at, report)?.size(at, report)?,
        })
    }

    /// As a way to go.
    pub(super) fn shift(self, at: &At, report: &mut Report) -> Result<ShiftLaw, ImportError> {
        let kib = |blocks: f64| blocks * BLOCK_KIB;
        Ok(match self {
            Uniform(low, high) => ShiftLaw::Uniform([kib(low), kib(high)]),
            Normal(mean, deviation) => ShiftLaw::Normal([kib(mean), kib(deviation)]),
            Exponential(0.0, mean) => ShiftLaw::Exponential(kib(mean)),
            Exponential(base, mean) => ShiftLaw::ShiftedExponential([kib(base), kib(mean)]),
            TwoValue(usual, other, p) => ShiftLaw::TwoValue([kib(other), kib(usual), p]),
            Poisson(..) => self.as_normal(at, report)?.shift(at, report)?,
        })
    }
}
