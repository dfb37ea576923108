//! `Stepper`: a system for other simulators, which own the clock.

use crate::convert::{operation, word};
use crate::error::Error;
use crate::range::{Device, InstantNs, LbaNumber, SectorCount, Seed};
use crate::system::System;
use headstack_drive::command::Phases;
use headstack_system::CompletionRow;
use headstack_trace::{Request, RequestFlags};
use headstack_units::{Lba, Nanos};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How one request went.
#[pyclass(frozen, module = "headstack._core")]
pub(crate) struct Completion {
    row: CompletionRow,
}

#[pymethods]
impl Completion {
    /// The number that `submit` gave it.
    #[getter]
    fn id(&self) -> u64 {
        self.row.id
    }

    /// "read" or "write".
    #[getter]
    fn op(&self) -> &'static str {
        word(self.row.op)
    }

    /// First sector.
    #[getter]
    fn lba(&self) -> u64 {
        self.row.lba.0
    }

    /// Number of sectors.
    #[getter]
    fn sectors(&self) -> u32 {
        self.row.sectors
    }

    /// When the host issued it.
    #[getter]
    fn arrival_ns(&self) -> u64 {
        self.row.arrival.0
    }

    /// When the driver handed it to the drive.
    #[getter]
    fn start_ns(&self) -> u64 {
        self.row.start.0
    }

    /// When it was complete.
    #[getter]
    fn finish_ns(&self) -> u64 {
        self.row.finish.0
    }

    /// Where the time from arrival to finish went; the phases add up to it exactly.
    fn phases_ns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let phases = PyDict::new(py);
        for (name, time) in Phases::NAMES.iter().zip(self.row.phases.as_array()) {
            phases.set_item(name, time.0)?;
        }
        Ok(phases)
    }

    fn __repr__(&self) -> String {
        format!(
            "Completion(id={}, op={:?}, lba={}, response_ms={:.3})",
            self.row.id,
            self.op(),
            self.row.lba.0,
            self.row.response().as_ms()
        )
    }
}

/// A system driven from outside, one event at a time; instants are integer nanoseconds from 0.
///
/// Submit requests in order of arrival; before each, `advance` to its arrival. Between them, advance to the instants that
/// `next_event_ns` tells. Steppers are independent of each other.
#[pyclass(module = "headstack._core")]
pub(crate) struct Stepper {
    stepper: headstack_system::Stepper,
}

#[pymethods]
impl Stepper {
    #[new]
    #[pyo3(signature = (system, *, seed=Seed(1)), text_signature = "(system, *, seed=1)")]
    fn new(system: &Bound<'_, System>, seed: Seed) -> Self {
        Self { stepper: headstack_system::Stepper::new(&system.get().system, seed.0) }
    }

    /// The instant it has reached.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.stepper.now().0
    }

    /// Requests submitted and not yet complete.
    #[getter]
    fn in_flight(&self) -> u64 {
        self.stepper.in_flight()
    }

    /// When something will happen next, as far as is known now; `None` if nothing will.
    fn next_event_ns(&mut self) -> Option<u64> {
        self.stepper.next_event().map(|at| at.0)
    }

    /// A request arrives; returns its number. A `raw` one goes around the host's buffer cache.
    #[pyo3(
        signature = (arrival_ns, op, lba, sectors, *, device=Device(0), force_media=false, raw=false),
        text_signature = "($self, arrival_ns, op, lba, sectors, *, device=0, force_media=False, raw=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn submit(
        &mut self,
        arrival_ns: InstantNs,
        op: &str,
        lba: LbaNumber,
        sectors: SectorCount,
        device: Device,
        force_media: bool,
        raw: bool,
    ) -> Result<u64, Error> {
        let mut request = Request::new(Nanos(arrival_ns.0), operation(op)?, Lba(lba.0), sectors.0);
        request.device = device.0;
        if force_media {
            request.flags = RequestFlags::FORCE_MEDIA;
        }
        if raw {
            request.flags = request.flags.with(RequestFlags::RAW);
        }
        Ok(self.stepper.submit(request)?)
    }

    /// Lets everything happen up to and including an instant; the requests completed thereby, in order.
    fn advance(&mut self, to_ns: InstantNs) -> Vec<Completion> {
        self.stepper.advance(Nanos(to_ns.0)).into_iter().map(|row| Completion { row }).collect()
    }

    fn __repr__(&self) -> String {
        format!("Stepper(now_ns={}, in_flight={})", self.stepper.now().0, self.stepper.in_flight())
    }
}
