//! Tables of results that say which of the types in `headstack.results` they are, so that a type checker knows their keys.

use crate::convert::dict;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::type_hint_identifier;
use pyo3::types::PyDict;
use serde_json::Value;
use std::convert::Infallible;
use std::marker::PhantomData;

/// A type in `headstack.results`.
pub(crate) trait ResultType {
    /// Its name there.
    const NAME: PyStaticExpr;
}

/// A table of the type `T`.
pub(crate) struct Typed<'py, T> {
    table: Bound<'py, PyDict>,
    of: PhantomData<T>,
}

impl<'py, T: ResultType> IntoPyObject<'py> for Typed<'py, T> {
    type Target = PyDict;
    type Output = Bound<'py, PyDict>;
    type Error = Infallible;
    const OUTPUT_TYPE: PyStaticExpr = T::NAME;

    fn into_pyobject(self, _py: Python<'py>) -> Result<Self::Output, Self::Error> {
        Ok(self.table)
    }
}

/// A JSON object as a table of the type that is asked for.
pub(crate) fn typed<'py, T: ResultType>(py: Python<'py>, value: &Value) -> PyResult<Typed<'py, T>> {
    Ok(Typed { table: dict(py, value)?, of: PhantomData })
}

/// Types, by the module that they are in.
macro_rules! result_types {
    ($($module:literal: $($name:ident),+;)+) => {
        $($(
            #[doc = concat!("`", $module, ".", stringify!($name), "`.")]
            pub(crate) enum $name {}

            impl ResultType for $name {
                const NAME: PyStaticExpr = type_hint_identifier!($module, stringify!($name));
            }
        )+)+
    };
}

result_types! {
    "headstack.results.common": PerRequest;
    "headstack.results.designs": CostSummary, PowerSummary, SchedulerEntry;
    "headstack.results.drives": DriveDescription, Provenance, SeekTimes, SkewWarning, ZoneFigures;
    "headstack.results.measurements": MeasurementSummary, PlannedProbe, ProbeEntry, RecordHead, ReplayScores, Stopped;
    "headstack.results.runs": FleetSummary, Plots, RunSummary, Timeline;
    "headstack.results.traces": Analysis, Converted, Iostat, Matching, TickHistogram, TraceInfo;
    "headstack.results.validations": DemeritScore, Intervals, ValidationSummary;
}
