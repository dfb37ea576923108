//! One drive that has its bus to itself, and may queue commands: nothing is fanned out or put together, and a request is its
//! command.
//!
//! Event by event it does what the engine does for such a system: most of what the engine spends on a request is for what a
//! single drive lacks. Tests hold the two equal, row for row.

use std::collections::VecDeque;

use headstack_drive::Drive;
use headstack_drive::command::{BusTiming, Command, Effect, Outcome, Ticket};
use headstack_trace::Request;
use headstack_units::Nanos;

use super::fast::Records;
use crate::SystemError;
use crate::engine::{Finished, UnitBook, UnitUse, recalibration_interval, row};
use crate::layer::{self, AnyLayer, AnyVolume, Call, Layer, Target};
use crate::slab::Slab;
use crate::system::{System, Volume};

/// Whether a system is one.
pub(super) fn applies(system: &System) -> bool {
    let [unit] = system.units.as_slice() else { return false };
    let bus = &system.config().buses[unit.bus];
    system.volumes.len() == 1
        && system.volumes.iter().all(Volume::is_stateless)
        && matches!(system.new_layers().as_slice(), [AnyLayer::Volume(AnyVolume::Concatenation(_))])
        && system.cpu_cost() == Nanos::ZERO
        && system.policy().is_fcfs()
        && system.config().host.queue_limit.is_none()
        && system.config().host.buffer_cache.is_none()
        && !system.has_array_cache()
        && bus.outstanding.is_none()
        && !bus.commands_hold
        && system.timings[unit.bus].disconnects
        && recalibration_interval(system, unit.drive).is_none()
}

/// What happens at an instant.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The drive wants to be called.
    Wake,
    /// It wants the bus.
    WantsBus(Ticket),
    /// A transfer leaves the bus.
    BusFree,
    /// A command is complete: the number of its outcome.
    Done(usize),
}

/// Events to come, the next one last. They are few.
#[derive(Debug, Default)]
struct Agenda(Vec<(Nanos, Event)>);

impl Agenda {
    /// Enters an event, behind those of the same instant.
    #[inline]
    fn schedule(&mut self, at: Nanos, event: Event) {
        let later = self.0.iter().take_while(|&&(other, _)| other > at).count();
        self.0.insert(later, (at, event));
    }

    /// Takes the next event out if it happens no later than `limit`.
    #[inline]
    fn pop_until(&mut self, limit: Nanos) -> Option<(Nanos, Event)> {
        self.0.pop_if(|&mut (at, _)| at <= limit)
    }
}

/// The drive in motion.
pub(super) struct QueuedRun<'s> {
    system: &'s System,
    layer: AnyLayer,
    drive: Drive,
    timing: BusTiming,
    /// Commands the drive has, and most that it is given.
    at_drive: u32,
    limit: u32,
    /// Commands in the driver's queue.
    queue: VecDeque<Command>,
    agenda: Agenda,
    /// Somebody has the bus; who waits for it.
    is_bus_held: bool,
    waiting: VecDeque<Ticket>,
    requests: Slab<(u64, Request)>,
    outcomes: Slab<Outcome>,
    in_flight: u64,
    book: UnitBook,
    /// Room for effects.
    effects: Vec<Effect>,
    sent: Vec<layer::Effect>,
}

impl<'s> QueuedRun<'s> {
    /// At rest.
    pub(super) fn new(system: &'s System, seed: u64) -> Self {
        let place = &system.units[0];
        Self {
            system,
            layer: system.new_layers().pop().expect("a volume"),
            drive: system.new_drives(seed).pop().expect("a drive"),
            timing: system.timings[place.bus],
            at_drive: 0,
            limit: place.limit,
            queue: VecDeque::new(),
            agenda: Agenda::default(),
            is_bus_held: false,
            waiting: VecDeque::new(),
            requests: Slab::default(),
            outcomes: Slab::default(),
            in_flight: 0,
            book: UnitBook::default(),
            effects: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// The drive.
    pub(super) fn drive(&self) -> &Drive {
        &self.drive
    }

    /// How it was used up to `end`, where its run ends; queues, the bus and power conditions left out, which rows of a fleet do not
    /// tell.
    pub(super) fn used(&mut self, end: Nanos) -> UnitUse {
        self.book.close(&mut self.drive, (end, false), &mut Vec::new());
        self.book.used(end)
    }

    /// Takes requests in, in order of arrival; what happens by the arrival of the last is told.
    pub(super) fn serve_all(
        &mut self,
        first_id: u64,
        requests: &[Request],
        output: &mut impl Records,
    ) -> Result<(), SystemError> {
        for (id, &request) in (first_id..).zip(requests) {
            // What was announced for an instant happens before what arrives at it.
            while self.step(request.arrival, output)? {}
            self.submit(id, request)?;
        }
        Ok(())
    }

    /// Serves what is still on its way.
    pub(super) fn finish(&mut self, output: &mut impl Records) -> Result<(), SystemError> {
        while self.in_flight > 0 && self.step(Nanos(u64::MAX - 1), output)? {}
        Ok(())
    }

    /// A request arrives.
    #[inline]
    fn submit(&mut self, id: u64, request: Request) -> Result<(), SystemError> {
        self.system.check(id, &request)?;
        self.in_flight += 1;
        let now = request.arrival;
        let number = self.requests.insert((id, request));
        let call = Call::new(number, &request);
        if let Some(range) = self.layer.whole(&call) {
            let (id, op, flags) = (number as u64, call.op, call.flags);
            self.queue.push_back(Command { id, op, lba: range.lba, sectors: range.sectors, flags });
        } else {
            self.layer.call(now, &call, &(), &mut self.sent);
            for effect in self.sent.drain(..) {
                if let layer::Effect::Send { to: Target::Unit(_), piece, .. } = effect {
                    self.queue.push_back(piece.command(number as u64));
                }
            }
        }
        self.pump(now);
        Ok(())
    }

    /// Lets the next event happen, if it happens no later than `limit`: whether there is one.
    #[inline]
    fn step(&mut self, limit: Nanos, output: &mut impl Records) -> Result<bool, SystemError> {
        let Some((now, event)) = self.agenda.pop_until(limit) else { return Ok(false) };
        match event {
            Event::Wake => self.call_drive(now, |drive, effects| drive.advance(now, effects)),
            Event::WantsBus(ticket) if self.is_bus_held => self.waiting.push_back(ticket),
            Event::WantsBus(ticket) => {
                self.is_bus_held = true;
                self.grant(now, ticket);
            }
            Event::BusFree => match self.waiting.pop_front() {
                Some(ticket) => self.grant(now, ticket),
                None => self.is_bus_held = false,
            },
            Event::Done(number) => self.complete(now, number, output)?,
        }
        Ok(true)
    }

    fn grant(&mut self, now: Nanos, ticket: Ticket) {
        let timing = self.timing;
        self.call_drive(now, |drive, effects| drive.bus_granted(now, ticket, &timing, effects));
        // The drive may have room for another.
        self.pump(now);
    }

    /// A command is complete, and so is its request.
    fn complete(&mut self, now: Nanos, number: usize, output: &mut impl Records) -> Result<(), SystemError> {
        let outcome = self.outcomes.remove(number);
        let (id, request) = self.requests.remove(outcome.id as usize);
        self.at_drive -= 1;
        self.in_flight -= 1;
        self.book.work(request.op, &outcome, self.drive.take_work());
        self.book.rest(&mut self.drive, outcome.finish);
        let finished =
            Finished::new(self.system, 0, &outcome, request.arrival).perhaps_without_data(&outcome);
        output.push(|| row(self.system, id, &request, request.arrival, &finished))?;
        self.pump(now);
        Ok(())
    }

    /// Hands waiting commands to the drive as far as it may have them.
    #[inline]
    fn pump(&mut self, now: Nanos) {
        while self.at_drive < self.limit
            && self.drive.can_accept()
            && let Some(command) = self.queue.pop_front()
        {
            self.at_drive += 1;
            self.call_drive(now, |drive, effects| drive.submit(now, command, effects));
        }
    }

    /// Calls the drive, and enters what it announces.
    #[inline]
    fn call_drive(&mut self, now: Nanos, call: impl FnOnce(&mut Drive, &mut Vec<Effect>)) {
        call(&mut self.drive, &mut self.effects);
        for effect in &self.effects {
            match effect {
                Effect::NeedBus { ticket, at, .. } => {
                    self.agenda.schedule(*at.max(&now), Event::WantsBus(*ticket));
                }
                Effect::ReleaseBus { at, .. } => self.agenda.schedule(*at.max(&now), Event::BusFree),
                Effect::WakeAt(at) => self.agenda.schedule(*at.max(&now), Event::Wake),
                Effect::Done(outcome) => {
                    let number = self.outcomes.insert(*outcome);
                    self.agenda.schedule(outcome.finish.max(now), Event::Done(number));
                }
                Effect::Background(_) => {}
            }
        }
        self.effects.clear();
    }
}

#[cfg(test)]
mod tests {
    use headstack_units::{Lba, Op, RequestFlags};
    use std::sync::Arc;
    use std::vec::Drain;

    use super::*;
    use crate::engine::{Engine, Step};
    use crate::record::{BackgroundRow, CompletionRow};

    struct Rows(Vec<CompletionRow>);

    impl Records for Rows {
        fn push(&mut self, row: impl FnOnce() -> CompletionRow) -> Result<(), SystemError> {
            self.0.push(row());
            Ok(())
        }

        fn push_background(&mut self, _rows: Drain<'_, BackgroundRow>) -> Result<(), SystemError> {
            Ok(())
        }
    }

    /// Requests `gap_ns` apart on average, some of them sequential, some of them flushes or forced to the media.
    fn requests(sectors: u64, gap_ns: u64) -> Vec<Request> {
        let draw = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) ^ number;
        let mut at = 0;
        let mut next = 0;
        (0..500)
            .map(|number| {
                let drawn = draw(number + 1);
                at += drawn % (2 * gap_ns);
                let length = 1 + (drawn >> 20) as u32 % 64;
                let lba = if drawn >> 60 < 6 { next } else { (drawn >> 8) % (sectors - 64) };
                next = (lba + u64::from(length)) % (sectors - 64);
                let op = if (drawn >> 50).is_multiple_of(4) { Op::Write } else { Op::Read };
                let mut request = Request::new(Nanos(at), op, Lba(lba), length);
                match drawn >> 40 & 31 {
                    0 => {
                        request = Request { op: Op::Write, sectors: 0, flags: RequestFlags::FLUSH, ..request }
                    }
                    1 if op == Op::Write => request.flags = RequestFlags::FORCE_MEDIA,
                    2 => request.flags = RequestFlags::ORDERED,
                    _ => {}
                }
                request
            })
            .collect()
    }

    fn by_engine(system: &Arc<System>, requests: &[Request]) -> (Vec<CompletionRow>, Engine) {
        let mut engine = Engine::new(system, 7);
        for &request in requests {
            while engine.step(request.arrival) != Step::Nothing {}
            engine.submit(request, None).unwrap();
        }
        while !engine.is_idle() && engine.step(Nanos(u64::MAX - 1)) != Step::Nothing {}
        (engine.completed.drain(..).map(|(row, _)| row).collect(), engine)
    }

    /// Every drive of the library that has one actuator, with and without a queue, when it is idle for the most part and when it is
    /// not.
    #[test]
    fn a_queue_and_its_drive_do_what_the_engine_does() {
        let settings: [&[(&str, &str)]; 3] = [
            &[],
            &[("controller.queue_depth", "8"), ("controller.scheduler", "spctf")],
            &[("host.outstanding_per_drive", "2")],
        ];
        let mut tried = 0;
        for entry in crate::library::drives() {
            for pairs in settings {
                let pairs: Vec<_> =
                    pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
                let system = System::load(entry.name, &pairs).unwrap_or_else(|error| panic!("{error}"));
                if !applies(&system) {
                    continue;
                }
                let system = Arc::new(system);
                for gap_ns in [30_000_000, 6_000_000] {
                    let requests = requests(system.devices()[0].sectors, gap_ns);
                    let (expected, mut engine) = by_engine(&system, &requests);
                    let (mut rows, mut run) = (Rows(Vec::new()), QueuedRun::new(&system, 7));
                    run.serve_all(0, &requests, &mut rows).unwrap();
                    run.finish(&mut rows).unwrap();
                    assert_eq!(rows.0, expected, "{} {pairs:?}", entry.name);
                    let end = expected.iter().map(|row| row.finish).max().unwrap();
                    let (used, found) = (run.used(end), engine.used(end, false).units[0]);
                    assert_eq!(
                        (used.mechanism, used.coil, used.work),
                        (found.mechanism, found.coil, found.work)
                    );
                    tried += 1;
                }
            }
        }
        assert!(tried > 60, "{tried} runs");
    }
}
