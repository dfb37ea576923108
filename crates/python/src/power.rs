//! `power_budget`: what the drives of a system draw.

use crate::error::Error;
use crate::range::{ActuatorCount, Rpm};
use crate::results::{self, Typed, typed};
use crate::system::System;
use headstack_system::power::PowerBudget;
use pyo3::prelude::*;

/// What each drive draws, for these spindle speeds and numbers of actuators; as it is described where none are given.
#[pyfunction]
#[pyo3(signature = (system, *, rpm=Vec::new(), actuators=Vec::new()))]
pub(crate) fn power_budget<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    rpm: Vec<Rpm>,
    actuators: Vec<ActuatorCount>,
) -> PyResult<Typed<'py, results::PowerSummary>> {
    let rpms: Vec<f64> = rpm.iter().map(|rpm| rpm.0).collect();
    let actuators: Vec<u32> = actuators.iter().map(|count| count.0).collect();
    let budget = PowerBudget::new(system.get().system.config(), &rpms, &actuators).map_err(Error::from)?;
    typed(py, &serde_json::to_value(budget).map_err(|error| Error::Internal(error.to_string()))?)
}
