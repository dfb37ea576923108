//! `fleet`: a trace of very many devices, each on a system of its own.

use crate::error::{Error, guarded};
use crate::poll::{Poll, Polled};
use crate::range::{RequestCount, Seed, Threads};
use crate::results::{self, Typed, typed};
use crate::system::System;
use crate::table::Table;
use crate::trace::Trace;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use headstack_system::run::fleet::DeviceRow;
use headstack_system::{FleetOptions, FleetPart};
use pyo3::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a fleet comes to, or a part of one.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct Fleet(FleetPart);

#[pymethods]
impl Fleet {
    /// Adds up parts of one fleet, as `packed` gives them; the same as if one run had had all devices.
    #[staticmethod]
    fn merged(py: Python<'_>, packed: Vec<String>) -> PyResult<Self> {
        guarded(py, || {
            let read = |text: &String| {
                serde_json::from_str(text).map_err(|problem| {
                    Error::input(
                        format!("this is not a part of a fleet: {problem}"),
                        "give what `packed` returned",
                    )
                })
            };
            let parts = packed.iter().map(read).collect::<Result<Vec<FleetPart>, _>>()?;
            Ok(Self(FleetPart::merged(&parts)?))
        })
    }

    /// All of it in a text, to be sent elsewhere and merged there.
    fn packed(&self) -> String {
        json!(self.0).to_string()
    }

    /// The key numbers, with so many of the worst devices.
    fn summary<'py>(&self, py: Python<'py>, worst: usize) -> PyResult<Typed<'py, results::FleetSummary>> {
        typed(py, &json!(self.0.summary(worst)))
    }

    /// One row a device.
    fn devices(&self) -> PyResult<Table> {
        let rows = &self.0.devices;
        let counts = |of: fn(&DeviceRow) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(of)))
        };
        let ms = |of: fn(&DeviceRow) -> u64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| of(row) as f64 / 1e6)))
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("device", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.device)))),
            ("requests", counts(|row| row.requests)),
            ("reads", counts(|row| row.reads)),
            ("sectors", counts(|row| row.sectors)),
            (
                "utilisation",
                Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| self.0.utilisation(row)))),
            ),
            ("mean_ms", Arc::new(rows.iter().map(DeviceRow::mean_ms).collect::<Float64Array>())),
            ("p50_ms", ms(|row| row.p50_ns)),
            ("p99_ms", ms(|row| row.p99_ns)),
            ("p999_ms", ms(|row| row.p999_ns)),
            ("max_ms", ms(|row| row.max_ns)),
        ];
        let batch =
            RecordBatch::try_from_iter(columns).map_err(|problem| Error::Internal(problem.to_string()))?;
        Ok(Table::new(batch.schema(), vec![batch]))
    }
}

/// Runs a trace of many devices, each on a system of its own like `system`, which has one volume.
///
/// `share` is a pair: only devices whose number leaves the first as remainder when divided by the second are run. `progress` is
/// called now and then with the number of requests done and the simulated time in seconds; it stops the run by returning
/// `False`.
#[pyfunction]
#[pyo3(signature = (system, trace, *, seed=None, requests=None, share=None, progress=None, threads=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn run_fleet(
    py: Python<'_>,
    system: &Bound<'_, System>,
    trace: &Bound<'_, Trace>,
    seed: Option<Seed>,
    requests: Option<RequestCount>,
    share: Option<(u32, u32)>,
    progress: Option<Py<PyAny>>,
    threads: Option<Threads>,
) -> PyResult<Fleet> {
    let (system, trace) = (system.get(), trace.get());
    let stop = Arc::new(AtomicBool::new(false));
    let options = FleetOptions {
        seed: seed.map_or(1, |seed| seed.0),
        requests: requests.map(|requests| requests.0),
        share,
        threads: threads.map(|threads| threads.0),
        stop: Some(Arc::clone(&stop)),
    };
    let (mut poll, refusal) = Poll::new(progress);
    guarded(py, || {
        let target = system.targets().swap_remove(0);
        let source =
            Polled::new(trace.with_commands(true).shaped_alike(target, options.requests)?, poll.quiet());
        let part = headstack_system::run_fleet(&system.system, Box::new(source), &options, &mut |progress| {
            if !poll.goes_on(progress.completed, progress.simulated.as_s()) {
                stop.store(true, Ordering::Relaxed);
            }
        })
        .map_err(|error| refusal.or(error))?;
        if part.interrupted { Err(refusal.or(Error::Stopped)) } else { Ok(Fleet(part)) }
    })
}
