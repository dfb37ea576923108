//! `cost`: the bill of materials of a design.

use crate::error::Error;
use crate::range::{ActuatorCount, DriveCount, PlatterCount};
use crate::results::{self, Typed, typed};
use headstack_cost::{Bill, Comparison, Design, SystemOfDrives};
use pyo3::prelude::*;
use serde::Serialize;

/// What is told of a design.
#[derive(Serialize)]
struct Cost {
    design: String,
    name: String,
    source: String,
    designs: Vec<Bill>,
    iso_performance: Option<Comparison>,
}

/// Bills of a design for these numbers of actuators, and systems of such drives (drives, actuators of each) compared; those
/// of the design where none are given.
#[pyfunction]
#[pyo3(signature = (design, actuators, *, platters=None, systems=None))]
pub(crate) fn cost<'py>(
    py: Python<'py>,
    design: &str,
    actuators: Vec<ActuatorCount>,
    platters: Option<PlatterCount>,
    systems: Option<Vec<(DriveCount, ActuatorCount)>>,
) -> PyResult<Typed<'py, results::CostSummary>> {
    let platters = platters.map(|count| count.0);
    let systems: Option<Vec<SystemOfDrives>> = systems.map(|systems| {
        systems
            .into_iter()
            .map(|(drives, actuators)| SystemOfDrives { drives: drives.0, actuators: actuators.0 })
            .collect()
    });
    let told = || {
        let design = Design::load(design)?;
        let designs = actuators.iter().map(|count| design.bill(count.0, platters));
        Ok::<Cost, Error>(Cost {
            designs: designs.collect::<Result<_, _>>()?,
            iso_performance: design.compare(systems.as_deref(), platters)?,
            name: design.spec().name.clone(),
            source: design.spec().source.clone(),
            design: design.id,
        })
    };
    typed(py, &serde_json::to_value(told()?).map_err(|error| Error::Internal(error.to_string()))?)
}
