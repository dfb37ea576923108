//! Replays of a trace one request after the other: closed, and on the measured clock.
//!
//! At most one request is under way, so every drive is served in closed form, where no two commands of a request meet
//! ([`applies`]); other systems go through the engine (`serial_events`). The host's CPU and driver queue have no part: the
//! instants are those at which the device got its requests.

use std::sync::Arc;

use headstack_drive::command::{Background, BusTiming, Busy, Command, Outcome};
use headstack_drive::{Drive, Rebase};
use headstack_trace::RequestSource;
use headstack_units::{Nanos, Op};

use super::arrivals::{Arrivals, InStartOrder};
use super::issue_times::{IssueTimes, Issued};
use super::{Output, RunEnd, RunOptions};
use crate::SystemError;
use crate::engine::{
    BusBook, BusInHand, Finished, Ledger, Observer, UnitBook, background, book_alone, recalibration_interval,
    row,
};
use crate::layer::{AnyLayer, Below, Call, Completed, Effect, Layer, Target};
use crate::phase::Lock;
use crate::record::BackgroundRow;
use crate::system::{System, UnitPlace};

/// How many requests pass between two looks at the stop flag.
const REQUESTS_PER_LOOK: u64 = 1024;

/// Whether no two commands of a request meet, at a drive or on its bus, and nothing happens by the host's clock.
pub(super) fn applies(system: &System) -> bool {
    let units = &system.units;
    let is_alone = |unit: usize| units.iter().filter(|other| other.bus == units[unit].bus).count() == 1;
    let volumes = &system.volumes;
    let have_parted = (0..volumes.len()).all(|volume| {
        let units = system.units_of(volume);
        units.len() == 1 || volumes[volume].is_stateless() && units.iter().all(|&unit| is_alone(unit))
    });
    have_parted
        && !system.config().buses.iter().any(|bus| bus.commands_hold)
        && (0..system.config().drives.len()).all(|drive| recalibration_interval(system, drive).is_none())
}

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
    let mut replay = Serial {
        system,
        times: IssueTimes::new(options.replay, devices),
        units_of: (0..devices).map(|volume| system.units_of(volume)).collect(),
        last: None,
        layers: system.new_layers(),
        effects: Vec::new(),
        last_ends: vec![0; system.units.len()],
        until: options.until,
        goes_on: false,
        ledger: Ledger::new(system.units.len(), system.timings.len()),
        observer: Observer::default(),
        locks: locks(system, options, &drives),
        drives,
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
            replay.end.interrupted = true;
            break;
        }
        system.check(id, &request)?;
        let issued = replay.times.issue(id, request)?;
        if issued.at > until {
            (replay.goes_on, replay.end.at) = (true, until);
            break;
        }
        if !is_counting && output.recorder.counts(id, issued.request.arrival) {
            is_counting = true;
            replay.restart(if count == 1 { Nanos::ZERO } else { issued.at });
        }
        replay.serve(&issued, until, output)?;
    }
    replay.finish(output)
}

/// A command whose completion its layer does not know yet.
struct SubRequest {
    unit: usize,
    tag: usize,
    finished: Finished,
}

/// What a layer may know of the units.
struct Units<'a> {
    last_ends: &'a [u64],
    sub_requests: &'a [SubRequest],
}

impl Below for Units<'_> {
    fn load(&self, unit: usize) -> u64 {
        self.sub_requests.iter().filter(|sub| sub.unit == unit).count() as u64
    }

    fn last_end(&self, unit: usize) -> u64 {
        self.last_ends[unit]
    }
}

struct Serial<'a> {
    system: &'a System,
    times: IssueTimes,
    drives: Vec<Drive>,
    /// The units of each volume.
    units_of: Vec<Vec<usize>>,
    /// The command of the request at hand that finished last, and its unit.
    last: Option<(usize, Outcome)>,
    /// Per unit; none without a phase lock.
    locks: Vec<Option<Lock>>,
    layers: Vec<AnyLayer>,
    effects: Vec<Effect>,
    /// Where the last command of each unit ended.
    last_ends: Vec<u64>,
    until: Option<Nanos>,
    /// Requests would come after the end.
    goes_on: bool,
    ledger: Ledger,
    observer: Observer,
    works: Vec<Background>,
    rows: Vec<BackgroundRow>,
    end: RunEnd,
}

impl Serial<'_> {
    /// Serves a request, and all its layer makes of it.
    fn serve(&mut self, issued: &Issued, until: Nanos, output: &mut Output<'_>) -> Result<(), SystemError> {
        let Issued { id, at, request } = issued;
        let mut effects = std::mem::take(&mut self.effects);
        let mut sub_requests: Vec<SubRequest> = Vec::new();
        let layer = request.device as usize;
        let measured = self.times.measured_finish(issued);
        if let Some(measured) = measured {
            for &unit in &self.units_of[layer] {
                self.ledger.units[unit].expect(measured);
                self.ledger.buses[self.system.units[unit].bus].expect(measured);
            }
        }
        let below = Units { last_ends: &self.last_ends, sub_requests: &sub_requests };
        self.layers[layer].call(*at, &Call::new(0, request), &below, &mut effects);
        let mut last: Option<Finished> = None;
        self.last = None;
        let mut busy = Busy::default();
        loop {
            for effect in effects.drain(..) {
                if let Effect::Send { tag, to: Target::Unit(unit), piece, .. } = effect {
                    let now = last.map_or(*at, |last| last.finish);
                    let finished = self.serve_command(unit, now, piece.command(*id), issued);
                    busy += finished.busy;
                    let finished = last.map_or(finished, |before| finished.after(&before));
                    sub_requests.push(SubRequest { unit, tag, finished });
                }
            }
            // Of equals the one on the later unit comes last, and counts.
            let key = |sub: &SubRequest| (sub.finished.finish, sub.unit);
            let next = (0..sub_requests.len()).min_by_key(|&sub| key(&sub_requests[sub]));
            let Some(SubRequest { tag, finished, .. }) = next.map(|next| sub_requests.remove(next)) else {
                break;
            };
            last = Some(finished);
            let child = Completed { call: Some(0), tag, left: sub_requests.len() as u32 };
            let below = Units { last_ends: &self.last_ends, sub_requests: &sub_requests };
            self.layers[layer].completed(finished.finish, &child, &below, &mut effects);
        }
        self.effects = effects;
        let Some(finished) = last else { return Ok(()) };
        self.times.complete(issued, finished.finish);
        let end = measured.unwrap_or(finished.finish);
        let is_cut = end > until;
        if let Some(measured_finish) = measured.filter(|_| !is_cut) {
            self.rebase(layer, Rebase { begun: *at, model_finish: finished.finish, measured_finish });
        }
        output.push_background(self.rows.drain(..))?;
        if is_cut {
            self.end.cut += 1;
            self.end.at = until;
            return Ok(());
        }
        self.end.reach(end);
        output.push(|| row(self.system, *id, request, request.arrival, &finished.with_work(busy)))
    }

    /// Serves a command that its drive gets at `now`.
    fn serve_command(&mut self, unit: usize, now: Nanos, command: Command, issued: &Issued) -> Finished {
        let Issued { at, request, .. } = issued;
        let bus = self.system.units[unit].bus;
        let timing = &self.system.timings[bus];
        let drive = &mut self.drives[unit];
        self.last_ends[unit] = command.lba.0 + u64::from(command.sectors);
        let mut lock = self.locks.get_mut(unit).and_then(Option::as_mut);
        if let Some(lock) = &mut lock {
            lock.steer(drive, now, command.lba.0);
        }
        let mut account = Account { unit: &mut self.ledger.units[unit], bus: &mut self.ledger.buses[bus] };
        // On the measured clock a request that is complete by the end of the run is all in it.
        let is_in =
            |until: Nanos| self.times.measured_finish(issued).is_some_and(|measured| measured <= until);
        let outcome = match self.until.filter(|&until| !is_in(until)) {
            None => account.serve(drive, now, command, timing, &mut self.works),
            Some(until) => {
                let observer = &mut self.observer;
                account.observe(drive, now, command, timing, until, observer, &mut self.works)
            }
        };
        let works = self.works.drain(..);
        self.rows.extend(works.map(|work| background(self.system, unit, work)));
        if self.last.is_none_or(|(last, before)| (outcome.finish, unit) >= (before.finish, last)) {
            self.last = Some((unit, outcome));
        }
        // Where a replay takes requests when they were started, what was before is the queue.
        let sent = if now == *at { request.arrival } else { now };
        Finished::new(self.system, unit, &outcome, sent)
    }

    /// The next request finds all drives of a volume as if this one had taken its measured time.
    fn rebase(&mut self, volume: usize, to: Rebase) {
        for &unit in &self.units_of[volume] {
            let drive = &mut self.drives[unit];
            self.ledger.units[unit].tell_own_work(drive, to.model_finish, &mut self.works);
            self.rows.extend(self.works.drain(..).map(|work| background(self.system, unit, work)));
            match (self.locks.get_mut(unit).and_then(Option::as_mut), &self.last) {
                (Some(lock), Some((last, outcome))) if *last == unit => lock.learn(drive, outcome, to),
                (Some(_), _) => drive.rebase_on_clock(to),
                (None, _) => drive.rebase(to),
            }
            self.ledger.units[unit].rebase(drive.model(), to);
        }
    }

    fn restart(&mut self, now: Nanos) {
        self.end.counted_from = now;
        self.ledger.restart(now);
    }

    fn finish(mut self, output: &mut Output<'_>) -> Result<RunEnd, SystemError> {
        let (end, system) = (self.end.at, self.system);
        let is_cut = self.end.cut > 0 || self.goes_on;
        for (unit, drive) in self.drives.iter_mut().enumerate() {
            let book = &mut self.ledger.units[unit];
            book.close(drive, (end, is_cut), &mut self.works);
            if !is_cut {
                drive.drain(&mut self.works);
            }
            output.push_background(self.works.drain(..).map(|work| background(system, unit, work)))?;
        }
        self.end.clamped = self.times.clamped;
        self.end.used = self.ledger.used(end);
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
        let books = (&mut *self.unit, &mut *self.bus);
        book_alone(books, timing, command.op, &mut outcome, works, drive.take_work());
        self.unit.rest(drive, outcome.finish);
        self.unit.arrive(at);
        self.unit.leave(outcome.finish);
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
        if drive.may_have_acted(at) && at <= until {
            self.unit.tell_own_work(drive, at, works);
        }
        // A command that follows another of its request may begin after the end: it is not of this run.
        if at > until {
            self.unit.work_of_its_own(drive, until, works);
            let outcome = observer.serve(drive, at, command, timing);
            self.unit.rest_until(drive, until);
            return outcome;
        }
        let outcome = observer.serve(drive, at, command, timing);
        for &(from, to) in observer.holds.iter().filter(|(from, _)| *from <= until) {
            self.bus.grant(from);
            self.bus.release(to.min(until));
        }
        self.unit.arrive(at);
        if outcome.finish <= until {
            self.complete(drive, command.op, &outcome);
        } else {
            self.cut(drive, command.op, &outcome, until, &observer.holds);
        }
        let in_time = |(announced, work): &&(Nanos, Background)| *announced <= until || work.start < until;
        for (_, work) in observer.works.iter().filter(in_time) {
            self.unit.work_in_background(work);
            works.push(*work);
        }
        outcome
    }

    fn complete(&mut self, drive: &mut Drive, op: Op, outcome: &Outcome) {
        self.unit.leave(outcome.finish);
        self.unit.work(op, outcome, drive.take_work());
        self.unit.rest(drive, outcome.finish);
        self.bus.complete(outcome);
    }

    /// The run ends at `until`, before a command is complete.
    fn cut(&mut self, drive: &mut Drive, op: Op, outcome: &Outcome, until: Nanos, holds: &[(Nanos, Nanos)]) {
        let spans: Vec<_> = drive.take_work().collect();
        let rests: Vec<_> = drive.take_rests().collect();
        self.unit.cut_command((op, outcome), spans, rests, (drive.model(), until));
        let mut in_hand = BusInHand::default();
        in_hand.add(outcome);
        for &hold in holds {
            in_hand.hold(hold, until);
        }
        self.bus.cut(in_hand);
    }
}

/// A lock for each unit that is a drive of its own; nothing without a phase lock.
fn locks(system: &System, options: &RunOptions, drives: &[Drive]) -> Vec<Option<Lock>> {
    let Some(zones) = &options.phase_lock else { return Vec::new() };
    let lock = |(unit, drive): (&UnitPlace, &Drive)| {
        let spec = drive.model().spec();
        let single = spec.actuators == 1 && spec.arms.is_one();
        single.then(|| Lock::new(drive, zones.get(unit.drive).cloned().unwrap_or_default()))
    };
    system.units.iter().zip(drives).map(lock).collect()
}
