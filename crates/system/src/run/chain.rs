//! Replays of a trace one request after the other: closed, and on the measured clock.
//!
//! At most one request is under way, so every drive is served in closed form. The host's CPU and driver queue have no
//! part: the instants are those at which the device got its requests.

use std::sync::Arc;

use headstack_drive::Drive;
use headstack_drive::command::{Background, BusTiming, Command, Outcome};
use headstack_trace::{Request, RequestSource};
use headstack_units::Nanos;

use super::arrivals::{Arrivals, InStartOrder};
use super::{Output, Replay, RunEnd, RunOptions};
use crate::SystemError;
use crate::engine::{BusBook, Ledger, Observer, UnitBook, background, note_hold, row};
use crate::phase::Lock;
use crate::record::BackgroundRow;
use crate::system::{System, UnitPlace};

/// How many requests pass between two looks at the stop flag.
const REQUESTS_PER_LOOK: u64 = 1024;

/// Runs a trace in order of its measured starts.
pub(super) fn run(
    system: &Arc<System>,
    source: Box<dyn RequestSource>,
    options: &RunOptions,
    output: &mut Output<'_>,
) -> Result<RunEnd, SystemError> {
    let mut requests = InStartOrder::new(Arrivals::new(source, options.requests));
    let devices = system.volumes.len();
    let drives = system.new_drives(options.seed);
    let mut chain = Chain {
        system,
        replay: options.replay,
        until: options.until,
        ledger: Ledger::new(system.units.len(), system.timings.len()),
        observer: Observer::default(),
        locks: locks(system, options, &drives),
        drives,
        previous: vec![None; if options.replay == Replay::Closed { 1 } else { devices }],
        works: Vec::new(),
        rows: Vec::new(),
        end: RunEnd::default(),
    };
    let until = options.until.unwrap_or(Nanos::MAX);
    let mut is_counting = false;
    let mut count = 0_u64;
    while let Some((id, request)) = requests.take()? {
        count += 1;
        if count.is_multiple_of(REQUESTS_PER_LOOK) && output.is_stopped() {
            chain.end.interrupted = true;
            break;
        }
        let issued = chain.issue(id, request)?;
        if issued.at > until {
            break;
        }
        if !is_counting && output.recorder.counts(id, issued.request.arrival) {
            is_counting = true;
            chain.restart(if count == 1 { Nanos::ZERO } else { issued.at });
        }
        chain.serve(id, &issued, until, output)?;
    }
    chain.finish(output)
}

/// The request before.
#[derive(Clone, Copy, Debug)]
struct Previous {
    model_finish: Nanos,
    measured_finish: Option<Nanos>,
}

/// A request with the instant the device gets it.
struct Issued {
    at: Nanos,
    request: Request,
}

struct Chain<'a> {
    system: &'a System,
    replay: Replay,
    drives: Vec<Drive>,
    /// Per unit; none without a phase lock.
    locks: Vec<Option<Lock>>,
    until: Option<Nanos>,
    ledger: Ledger,
    observer: Observer,
    /// Per device in measured replay, one for all in closed replay.
    previous: Vec<Option<Previous>>,
    works: Vec<Background>,
    rows: Vec<BackgroundRow>,
    end: RunEnd,
}

impl Chain<'_> {
    /// Decides when the device gets a request.
    fn issue(&mut self, id: u64, mut request: Request) -> Result<Issued, SystemError> {
        self.system.volume_of(id, &request)?;
        if self.replay == Replay::Closed {
            let start = request.start.present().unwrap_or(request.arrival);
            let at = match self.previous[0] {
                None => start,
                Some(Previous { model_finish, measured_finish: None }) => model_finish,
                Some(Previous { model_finish, measured_finish: Some(measured) }) => {
                    self.end.clamped += u64::from(start < measured);
                    model_finish + start.saturating_sub(measured)
                }
            };
            request.arrival = at;
            return Ok(Issued { at, request });
        }
        let (Some(start), Some(_)) = (request.start.present(), request.finish.present()) else {
            return Err(SystemError::Request {
                id,
                problem: "has no measured start and completion, which a measured replay needs".to_owned(),
                hint: "use `--replay closed` or `--replay open`".to_owned(),
            });
        };
        let earliest = self.previous[request.device as usize].and_then(|previous| previous.measured_finish);
        let at = earliest.map_or(start, |earliest| earliest.max(start));
        self.end.clamped += u64::from(at > start);
        request.arrival = request.arrival.min(at);
        Ok(Issued { at, request })
    }

    fn serve(
        &mut self,
        id: u64,
        issued: &Issued,
        until: Nanos,
        output: &mut Output<'_>,
    ) -> Result<(), SystemError> {
        let Issued { at, request } = issued;
        let mut last: Option<(usize, Outcome)> = None;
        self.system.volumes[request.device as usize].map(request.lba, request.sectors, |extent| {
            let unit = extent.unit;
            let command = Command {
                id,
                op: request.op,
                lba: extent.lba,
                sectors: extent.sectors,
                flags: request.flags,
            };
            let timing = &self.system.timings[self.system.units[unit].bus];
            let drive = &mut self.drives[unit];
            let mut lock = self.locks.get_mut(unit).and_then(Option::as_mut);
            if let Some(lock) = &mut lock {
                lock.steer(drive, *at, extent.lba.0);
            }
            let bus = self.system.units[unit].bus;
            let mut account =
                Account { unit: &mut self.ledger.units[unit], bus: &mut self.ledger.buses[bus] };
            let outcome = match self.until {
                None => account.serve(drive, *at, command, timing, &mut self.works),
                Some(until) => {
                    let observer = &mut self.observer;
                    account.observe(drive, *at, command, timing, until, observer, &mut self.works)
                }
            };
            let works = self.works.drain(..);
            self.rows.extend(works.map(|work| background(self.system, unit, work)));
            if self.replay == Replay::Measured {
                // The next command finds the drive as if this one had taken its measured time.
                let measured = request.finish.max(*at);
                match lock {
                    Some(lock) => lock.learn(drive, &outcome, measured),
                    None => drive.rebase(outcome.finish, measured),
                }
            }
            if last.is_none_or(|(_, other)| outcome.finish >= other.finish) {
                last = Some((unit, outcome));
            }
        });
        let Some((unit, outcome)) = last else { return Ok(()) };
        let chain = if self.replay == Replay::Closed { 0 } else { request.device as usize };
        // A request that the trace completes before the one ahead of it does not turn time back.
        let measured_finish = request.finish.present().map(|finish| match self.replay {
            Replay::Measured => finish.max(*at),
            _ => finish,
        });
        self.previous[chain] = Some(Previous { model_finish: outcome.finish, measured_finish });
        output.push_background(self.rows.drain(..))?;
        if outcome.finish > until {
            self.end.cut += 1;
            self.end.at = until;
            return Ok(());
        }
        self.end.at = self.end.at.max(outcome.finish);
        output.push(row(self.system, id, request, &outcome, unit, request.arrival))
    }

    fn restart(&mut self, now: Nanos) {
        self.end.counted_from = now;
        self.ledger.restart(now);
    }

    fn finish(mut self, output: &mut Output<'_>) -> Result<RunEnd, SystemError> {
        if self.end.cut == 0 {
            for (unit, drive) in self.drives.iter_mut().enumerate() {
                drive.drain(&mut self.works);
                let system = self.system;
                output.push_background(self.works.drain(..).map(|work| background(system, unit, work)))?;
            }
        }
        self.end.used = self.ledger.used(self.end.at);
        self.end.phase = self.locks.iter().flatten().map(Lock::diagnostics).collect();
        self.end.note_lateness(&self.drives);
        Ok(self.end)
    }
}

/// The accounts on which a command is booked that is alone in the system.
struct Account<'a> {
    unit: &'a mut UnitBook,
    bus: &'a mut BusBook,
}

impl Account<'_> {
    /// Serves a command and books all of it.
    fn serve(
        &mut self,
        drive: &mut Drive,
        at: Nanos,
        command: Command,
        timing: &BusTiming,
        works: &mut Vec<Background>,
    ) -> Outcome {
        let mut outcome = drive.serve(at, command, timing, works);
        note_hold(timing, &mut outcome);
        self.bus.held_for(&outcome);
        self.book(drive, at, &outcome, Nanos::MAX);
        works.iter().for_each(|work| self.unit.work_in_background(&work.busy));
        outcome
    }

    /// Serves a command and books what is of it up to `until`.
    #[expect(clippy::too_many_arguments, reason = "what a command needs, and where it ends")]
    fn observe(
        &mut self,
        drive: &mut Drive,
        at: Nanos,
        command: Command,
        timing: &BusTiming,
        until: Nanos,
        observer: &mut Observer,
        works: &mut Vec<Background>,
    ) -> Outcome {
        let outcome = observer.serve(drive, at, command, timing);
        for &(from, to) in observer.holds.iter().filter(|(from, _)| *from <= until) {
            self.bus.grant(from);
            self.bus.release(to.min(until));
        }
        self.book(drive, at, &outcome, until);
        for (_, work) in observer.works.iter().filter(|(announced, _)| *announced <= until) {
            self.unit.work_in_background(&work.busy);
            works.push(*work);
        }
        outcome
    }

    fn book(&mut self, drive: &Drive, at: Nanos, outcome: &Outcome, until: Nanos) {
        self.unit.arrive(at);
        self.unit.leave(outcome.finish.min(until));
        if outcome.finish <= until {
            self.unit.work(outcome, drive.mechanism_busy());
            self.bus.complete(outcome);
        }
    }
}

/// A lock for each unit that is a drive of its own; nothing without a phase lock.
fn locks(system: &System, options: &RunOptions, drives: &[Drive]) -> Vec<Option<Lock>> {
    let Some(zones) = &options.phase_lock else { return Vec::new() };
    let lock = |(unit, drive): (&UnitPlace, &Drive)| {
        let single = drive.model().actuators() == 1;
        single.then(|| Lock::new(drive, zones.get(unit.drive).cloned().unwrap_or_default()))
    };
    system.units.iter().zip(drives).map(lock).collect()
}
