//! The words of a trace's options, and what they mean.

use crate::error::Error;
use crate::range::Device;
use headstack_trace::event::PairingRule;
use headstack_trace::{Devices, FitLba, Gap, IologUnit, Op};
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::type_hint_union;
use pyo3::types::PyTuple;

/// A device of a trace: alone, or with the volume that it becomes.
#[derive(Clone, Copy)]
pub(crate) struct Chosen(Device, Option<Device>);

impl<'a, 'py> FromPyObject<'a, 'py> for Chosen {
    type Error = PyErr;
    const INPUT_TYPE: PyStaticExpr =
        type_hint_union!(Device::INPUT_TYPE, <(Device, Option<Device>)>::INPUT_TYPE);

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyTuple>() {
            let (device, volume) = given.extract()?;
            return Ok(Self(device, volume));
        }
        Ok(Self(given.extract()?, None))
    }
}

impl Chosen {
    /// The device, and the volume if one was named.
    pub(crate) fn numbers(self) -> (u32, Option<u32>) {
        (self.0.0, self.1.map(|volume| volume.0))
    }
}

/// The chosen devices where each is served on a system of its own: their numbers stay, but for those that get another.
pub(crate) fn chosen_apart(devices: &[Chosen]) -> Devices {
    match devices {
        [] => Devices::Keep,
        some => Devices::Map(
            some.iter().map(|device| device.numbers()).map(|(from, to)| (from, to.unwrap_or(from))).collect(),
        ),
    }
}

/// The chosen devices where all are served by one system.
pub(crate) fn chosen(devices: &[Chosen]) -> Devices {
    match devices {
        [] => Devices::Keep,
        [Chosen(device, None)] => Devices::Only(device.0),
        several => {
            Devices::Map(several.iter().map(|&Chosen(from, to)| (from.0, to.map_or(0, |to| to.0))).collect())
        }
    }
}

pub(crate) fn pairing_named(word: &str) -> Result<PairingRule, Error> {
    match word {
        "strict" => Ok(PairingRule::Strict),
        "btt" => Ok(PairingRule::Btt),
        _ => Err(Error::input(format!("there is no pairing `{word}`"), "use `strict` or `btt`")),
    }
}

pub(crate) fn op_named(word: &str) -> Result<Op, Error> {
    match word {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        _ => Err(Error::input(format!("there is no operation `{word}`"), "use `read` or `write`")),
    }
}

pub(crate) fn gap_named(word: &str) -> Result<Gap, Error> {
    match word {
        "after" => Ok(Gap::After),
        "before" => Ok(Gap::Before),
        _ => Err(Error::input(format!("a gap is not `{word}`"), "use `after`, `before` or `auto`")),
    }
}

pub(crate) fn unit_named(word: &str) -> Result<IologUnit, Error> {
    match word {
        "us" => Ok(IologUnit::Microseconds),
        "ms" => Ok(IologUnit::Milliseconds),
        _ => Err(Error::input(format!("`{word}` is not a unit of an iolog"), "use `us` or `ms`")),
    }
}

pub(crate) fn unit_word(unit: IologUnit) -> &'static str {
    match unit {
        IologUnit::Microseconds => "us",
        IologUnit::Milliseconds => "ms",
    }
}

pub(crate) fn fit_word(fit: FitLba) -> Option<&'static str> {
    match fit {
        FitLba::None => None,
        FitLba::Wrap => Some("wrap"),
        FitLba::Scale => Some("scale"),
        FitLba::Offset => Some("offset"),
    }
}

pub(crate) fn fit_named(word: &str) -> Result<FitLba, Error> {
    match word {
        "wrap" => Ok(FitLba::Wrap),
        "scale" => Ok(FitLba::Scale),
        "offset" => Ok(FitLba::Offset),
        _ => Err(Error::input(
            format!("addresses cannot be fitted by `{word}`"),
            "use `wrap`, `scale` or `offset`",
        )),
    }
}
