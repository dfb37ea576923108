//! What a run records of its drives, as the system's.

use headstack_drive::command::{Background, Busy, CacheResult, Ending, Outcome, Phases, SectorPassed};
use headstack_trace::Request;
use headstack_units::{Lba, Nanos, Op, RequestFlags};

use crate::record::{BackgroundRow, CompletionRow};
use crate::system::System;

/// How often the host recalibrates a drive, if it does.
pub(crate) fn recalibration_interval(system: &System, drive: usize) -> Option<Nanos> {
    let spec = &system.config().drives[drive].spec.recalibration;
    (spec.mode == headstack_drive::spec::RecalibrationMode::ByHost).then(|| Nanos::from_s(spec.interval_s))
}

/// A drive's background record as the system's.
pub(crate) fn background(system: &System, unit: usize, mut work: Background) -> BackgroundRow {
    let place = &system.units[unit];
    let model = system.model(place.drive).expect("units are of the system's drives");
    let before = model.capacity_sectors() / u64::from(model.actuators()) * u64::from(place.actuator);
    work.lba = Lba(work.lba.0 + before);
    BackgroundRow { drive: place.drive as u32, work }
}

/// How the part of a request went that finished last: a sub-request, with those before it that it had to wait for; and the work
/// of all parts of which it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    /// From here to `finish` the phases reach.
    began: Nanos,
    start: Nanos,
    pub(crate) finish: Nanos,
    phases: Phases,
    pub(crate) busy: Busy,
    /// Of parts that finish at the same instant the one on the later unit counts: paths that find them in another order agree.
    pub(crate) unit: u32,
    drive: u32,
    cache: CacheResult,
    passed: Option<SectorPassed>,
    /// The marks of a part that ended without its data.
    ended: RequestFlags,
}

impl Finished {
    /// A command of a drive's `unit`, sent to its queue at `sent`.
    #[inline]
    pub(crate) fn new(system: &System, unit: usize, outcome: &Outcome, sent: Nanos) -> Self {
        let mut phases = outcome.phases;
        phases.queue += outcome.submitted - sent;
        Self {
            began: sent,
            start: outcome.submitted,
            finish: outcome.finish,
            phases,
            busy: outcome.busy,
            unit: unit as u32,
            drive: system.units[unit].drive as u32,
            cache: outcome.cache,
            passed: outcome.passed,
            ended: RequestFlags::default(),
        }
    }

    /// The same for a command that may have ended without its data: no closed form knows of such.
    #[inline]
    pub(crate) fn perhaps_without_data(self, outcome: &Outcome) -> Self {
        let Some(ended) = outcome.ended else { return self };
        let ended = match ended {
            Ending::Unavailable => RequestFlags::UNAVAILABLE,
            Ending::Aborted => RequestFlags::ABORTED,
        };
        Self { ended, ..self }
    }

    /// The same, sent when `before` was complete. What that worked is not added: the two are joined yet.
    pub(crate) fn after(self, before: &Self) -> Self {
        let mut phases = before.phases;
        let [queue, overhead, seek, rotation, transfer, bus, other] = self.phases.as_array();
        phases.queue += queue;
        phases.overhead += overhead;
        phases.seek += seek;
        phases.rotation += rotation;
        phases.transfer += transfer;
        phases.bus += bus;
        phases.other += other + (self.began - before.finish);
        let ended = self.ended.with(before.ended);
        Self { began: before.began, start: before.start, phases, ended, ..self }
    }

    /// With another part of the same request: that which finished last counts, the work of both, and what either lacks is lacking.
    #[inline]
    pub(crate) fn join(&mut self, other: &Self) {
        let (busy, ended) = (self.busy + other.busy, self.ended.with(other.ended));
        if (self.finish, self.unit) < (other.finish, other.unit) {
            *self = *other;
        }
        (self.busy, self.ended) = (busy, ended);
    }

    /// The same, of a request whose commands worked so much together.
    pub(crate) fn with_work(self, busy: Busy) -> Self {
        Self { busy, ..self }
    }

    /// A request of the driver.
    pub(crate) fn of_row(row: &CompletionRow) -> Self {
        let &CompletionRow { arrival, start, finish, phases, busy, drive, cache, passed, flags, .. } = row;
        let ended = RequestFlags(flags.0 & RequestFlags::WITHOUT_DATA.0);
        Self { began: arrival, start, finish, phases, busy, unit: drive, drive, cache, passed, ended }
    }
}

/// The completion record of a request that its layer got at `issued`, and that was complete when `finished` was, which
/// began no sooner.
#[inline]
pub(crate) fn row(
    system: &System,
    id: u64,
    request: &Request,
    issued: Nanos,
    finished: &Finished,
) -> CompletionRow {
    let cpu = system.cpu_cost().min(issued - request.arrival);
    let mut phases = finished.phases;
    phases.queue += issued - request.arrival - cpu;
    phases.overhead += cpu;
    phases.other += finished.began - issued;
    debug_assert_eq!(phases.total(), finished.finish - request.arrival, "phases of request {id}");
    CompletionRow {
        id,
        device: request.device,
        drive: finished.drive,
        op: request.op,
        flags: request.flags.without(RequestFlags::NOT_OF_A_COMMAND).with(finished.ended),
        cache: finished.cache,
        sectors: request.sectors,
        lba: request.lba,
        arrival: request.arrival,
        start: finished.start,
        finish: finished.finish,
        phases,
        busy: finished.busy,
        passed: finished.passed,
        measured_start: request.start,
        measured_finish: request.finish,
    }
}

/// The completion record of a request that is complete at `now`, `by` a sub-request or from what its layer has. A
/// sub-request that was on its way before the request came is no work of its own.
#[inline]
pub(super) fn answer(
    system: &System,
    id: u64,
    request: &Request,
    issued: Nanos,
    now: Nanos,
    by: Option<&Finished>,
) -> CompletionRow {
    if let Some(finished) = by
        && finished.began >= issued
    {
        return row(system, id, request, issued, finished);
    }
    let at_hand = match request.op {
        Op::Read => CacheResult::Hit,
        Op::Write => CacheResult::ReportedEarly,
    };
    let volume = &system.volumes[request.device as usize];
    let waited = Finished {
        began: issued,
        start: now,
        finish: now,
        phases: Phases { other: now - issued, ..Phases::default() },
        busy: Busy::default(),
        unit: 0,
        drive: by.map_or_else(|| system.units[volume.unit_of(request.lba)].drive as u32, |by| by.drive),
        cache: by.map_or(at_hand, |by| by.cache),
        passed: None,
        ended: by.map_or(RequestFlags::default(), |by| by.ended),
    };
    row(system, id, request, issued, &waited)
}
