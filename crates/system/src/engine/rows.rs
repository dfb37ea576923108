//! What a run records of its drives, as the system's.

use headstack_drive::command::Outcome;
use headstack_trace::Request;
use headstack_units::{Lba, Nanos};

use crate::record::{BackgroundRow, CompletionRow};
use crate::system::System;

/// How often the host recalibrates a drive, if it does.
pub(crate) fn recalibration_interval(system: &System, drive: usize) -> Option<Nanos> {
    let spec = &system.config().drives[drive].spec.recalibration;
    (spec.mode == headstack_drive::spec::RecalibrationMode::ByHost).then(|| Nanos::from_s(spec.interval_s))
}

/// A drive's background record as the system's.
pub(crate) fn background(
    system: &System,
    unit: usize,
    mut work: headstack_drive::command::Background,
) -> BackgroundRow {
    let place = &system.units[unit];
    let model = system.model(place.drive).expect("units are of the system's drives");
    let before = model.capacity_sectors() / u64::from(model.actuators()) * u64::from(place.actuator);
    work.lba = Lba(work.lba.0 + before);
    BackgroundRow { drive: place.drive as u32, work }
}

/// The completion record of a request whose last command went as `outcome` tells; the driver had it ready at `issued`.
#[inline]
pub(crate) fn row(
    system: &System,
    id: u64,
    request: &Request,
    outcome: &Outcome,
    unit: usize,
    issued: Nanos,
) -> CompletionRow {
    let cpu = system.cpu_cost().0.min(issued.0 - request.arrival.0);
    let mut phases = outcome.phases;
    phases.queue += Nanos(outcome.submitted.0 - request.arrival.0 - cpu);
    phases.overhead += Nanos(cpu);
    debug_assert_eq!(phases.total(), outcome.finish - request.arrival, "phases of request {id}");
    CompletionRow {
        id,
        device: request.device,
        drive: system.units[unit].drive as u32,
        op: request.op,
        cache: outcome.cache,
        sectors: request.sectors,
        lba: request.lba,
        arrival: request.arrival,
        start: outcome.submitted,
        finish: outcome.finish,
        phases,
        busy: outcome.busy,
        passed: outcome.passed,
        measured_start: request.start,
        measured_finish: request.finish,
    }
}
