//! The general case: drives, buses and driver queues over one calendar.

mod cached;
mod dispatch;
mod ledger;
mod observe;
mod rows;
mod turns;

pub(crate) use ledger::{BusBook, BusUse, Ledger, UnitBook, Usage, note_hold};
pub(crate) use observe::Observer;
pub(crate) use rows::{background, recalibration_interval, row};

use std::sync::Arc;

use headstack_drive::Drive;
use headstack_drive::command::{Busy, Command, Effect, Outcome, Ticket};
use headstack_drive::scheduler::Queue;
use headstack_trace::Request;
use headstack_units::{Nanos, Op};

use crate::SystemError;
use crate::bus::{Bus, Claim, Purpose};
use crate::calendar::Calendar;
use crate::host::Cpu;
use crate::host::buffer_cache::Origin;
use crate::record::{BackgroundRow, CompletionRow, DriverRow};
use crate::slab::Slab;
use crate::system::System;
use cached::HostCache;
use turns::{Turn, Turns};

/// What happens at an instant.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The CPU has issued a request.
    Issued(usize),
    /// A drive wants to be called.
    Wake(usize),
    /// A drive wants the bus.
    WantsBus { unit: usize, ticket: Ticket, direction: Op },
    /// A transfer leaves the bus.
    BusFree(usize),
    /// A command is complete.
    Done(usize),
    /// The host looks whether a drive should recalibrate.
    Recalibrate(usize),
    /// Whoever drives the engine asked to be called.
    External(u32),
    /// A request that went through the buffer cache is complete.
    Answered(usize),
    /// The buffer cache writes all that is dirty.
    Sync,
    /// The buffer cache writes a little of it.
    Dribble,
}

/// How a request came to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// From whoever issued it: there is no buffer cache.
    Direct,
    /// The same, around the buffer cache; its number among the driver's requests.
    Raw { driver_id: u64 },
    /// From the buffer cache.
    Transfer { number: usize, origin: Origin },
}

/// Whether a drive that does not disconnect has the bus for its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    None,
    Waiting,
    Held,
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// Its number, or that of the driver's request where it comes from the buffer cache.
    id: u64,
    request: Request,
    user: Option<u32>,
    way: Way,
    /// When the driver had it ready.
    issued: Nanos,
    /// Commands not complete.
    left: u32,
    /// The command that finished last so far: its outcome's number, and its unit. The outcomes of a queue of a million
    /// that has yet to be served would take most of the memory.
    critical: Option<(usize, usize)>,
}

/// A command on its way.
#[derive(Clone, Copy, Debug)]
struct Child {
    flight: usize,
    unit: usize,
    /// Number of its outcome, once that is known.
    outcome: usize,
    /// The driver joined it with this one: they are one command of the drive.
    joined: Option<usize>,
    turn: Turn,
}

/// An actuator with its driver queue.
#[derive(Clone, Debug)]
struct Unit {
    drive: Drive,
    queue: Queue,
    /// When the driver expects the drive to be through with what it gave it.
    expected_free: Nanos,
    bus: usize,
    limit: u32,
    at_drive: u32,
    hold: Hold,
}

/// A system in motion.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    system: Arc<System>,
    calendar: Calendar<Event>,
    cpu: Cpu,
    units: Vec<Unit>,
    buses: Vec<Bus>,
    ledger: Ledger,
    flights: Slab<Flight>,
    children: Slab<Child>,
    outcomes: Slab<Outcome>,
    /// Per bus, where that takes only so many commands.
    turns: Vec<Option<Turns>>,
    cache: Option<Box<HostCache>>,
    /// Requests through the cache that are complete but for the copy.
    answers: Slab<(CompletionRow, Option<u32>)>,
    next_id: u64,
    next_driver_id: u64,
    next_child: u64,
    in_flight: u64,
    now: Nanos,
    effects: Vec<Effect>,
    /// Completions since they were last taken, and the users who waited for them.
    pub(crate) completed: Vec<(CompletionRow, Option<u32>)>,
    /// With a buffer cache: what the driver completed since it was last taken.
    pub(crate) driver: Vec<DriverRow>,
    /// Background work since it was last taken.
    pub(crate) background: Vec<BackgroundRow>,
}

impl Engine {
    pub(crate) fn new(system: &Arc<System>, seed: u64) -> Self {
        let mut units = Vec::new();
        for (unit, (place, drive)) in system.units.iter().zip(system.new_drives(seed)).enumerate() {
            units.push(Unit {
                drive,
                queue: system.new_queue(unit),
                expected_free: Nanos::ZERO,
                bus: place.bus,
                limit: place.limit,
                at_drive: 0,
                hold: Hold::None,
            });
        }
        let mut calendar = Calendar::new();
        for (unit, place) in system.units.iter().enumerate() {
            if let Some(interval) = recalibration_interval(system, place.drive) {
                calendar.schedule(interval, Event::Recalibrate(unit));
            }
        }
        let cache = HostCache::new(system);
        for (at, event) in cache.iter().flat_map(|host| host.timers()) {
            calendar.schedule(at, event);
        }
        let reads_first = system.policy().reads_first;
        let turns =
            |bus: &crate::spec::BusConfig| bus.outstanding.map(|limit| Turns::new(limit, reads_first));
        Self {
            turns: system.config().buses.iter().map(turns).collect(),
            cache,
            answers: Slab::default(),
            next_driver_id: 0,
            next_child: 0,
            in_flight: 0,
            driver: Vec::new(),
            calendar,
            cpu: Cpu::new(system.cpu_cost()),
            ledger: Ledger::new(units.len(), system.timings.len()),
            units,
            buses: system.new_buses(),
            flights: Slab::default(),
            children: Slab::default(),
            outcomes: Slab::default(),
            next_id: 0,
            now: Nanos::ZERO,
            effects: Vec::new(),
            completed: Vec::new(),
            background: Vec::new(),
            system: Arc::clone(system),
        }
    }

    /// When the next event happens.
    pub(crate) fn next_time(&mut self) -> Option<Nanos> {
        self.calendar.next_time()
    }

    /// Number of the next request.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Requests on their way.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Whether nothing is under way, for a request or for the buffer cache.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.flights.len() == 0
    }

    /// Asks for [`Engine::step`] to return `mark` at an instant.
    pub(crate) fn call_at(&mut self, at: Nanos, mark: u32) {
        self.calendar.schedule(at.max(self.now), Event::External(mark));
    }

    /// A request arrives, not before anything that has happened; returns its number.
    pub(crate) fn submit(&mut self, request: Request, user: Option<u32>) -> Result<u64, SystemError> {
        let id = self.next_id;
        self.system.volume_of(id, &request)?;
        self.next_id += 1;
        debug_assert!(request.arrival >= self.now, "a request arrives in the past");
        self.now = self.now.max(request.arrival);
        self.in_flight += 1;
        if self.is_cached(&request) {
            self.call_cache(request.arrival, id, request, user);
        } else {
            let way = match &self.cache {
                None => Way::Direct,
                Some(_) => Way::Raw { driver_id: self.new_driver_id() },
            };
            self.issue(id, request, user, way);
        }
        Ok(id)
    }

    fn new_driver_id(&mut self) -> u64 {
        self.next_driver_id += 1;
        self.next_driver_id - 1
    }

    /// The driver gets a request that arrives now, once the CPU is through with it.
    fn issue(&mut self, id: u64, request: Request, user: Option<u32>, way: Way) {
        let issued = self.cpu.done_at(request.arrival);
        let flight = self.flights.insert(Flight { id, request, user, way, issued, left: 0, critical: None });
        if issued > request.arrival {
            self.calendar.schedule(issued, Event::Issued(flight));
        } else {
            self.enqueue(request.arrival, flight);
        }
    }

    /// Lets the next event happen; returns its mark if it was asked for by [`Engine::call_at`].
    pub(crate) fn step(&mut self) -> Option<u32> {
        let (now, event) = self.calendar.pop()?;
        self.now = now;
        match event {
            Event::Issued(flight) => self.enqueue(now, flight),
            Event::Wake(unit) => {
                self.call_drive(unit, now, |drive, effects| drive.advance(now, effects));
            }
            Event::WantsBus { unit, ticket, direction } => self.wants_bus(now, unit, ticket, direction),
            Event::BusFree(bus) => self.release(now, bus),
            Event::Done(child) => self.done(now, child),
            Event::Recalibrate(unit) => self.look_at_recalibration(now, unit),
            Event::External(mark) => return Some(mark),
            Event::Answered(answer) => {
                self.in_flight -= 1;
                self.completed.push(self.answers.remove(answer));
            }
            Event::Sync => self.sync(now),
            Event::Dribble => self.dribble(now),
        }
        None
    }

    /// Hands a request to the queues of its units.
    fn enqueue(&mut self, now: Nanos, flight: usize) {
        let Flight { request, .. } = self.flights[flight];
        let system = Arc::clone(&self.system);
        let mut count = 0;
        let mut first = None;
        system.volumes[request.device as usize].map(request.lba, request.sectors, |extent| {
            self.next_child += 1;
            let turn = match &mut self.turns[self.units[extent.unit].bus] {
                None => (false, 0),
                Some(turns) => turns.enter(self.next_child, request.op, extent.unit),
            };
            let child = Child { flight, unit: extent.unit, outcome: 0, joined: None, turn };
            let child = self.children.insert(child);
            let unit = &mut self.units[extent.unit];
            let command = Command {
                id: child as u64,
                op: request.op,
                lba: extent.lba,
                sectors: extent.sectors,
                flags: request.flags,
            };
            unit.queue.push(command, now);
            let book = &mut self.ledger.units[extent.unit];
            book.arrive(now);
            book.note_held_back(unit.queue.held_back());
            count += 1;
            first.get_or_insert(extent.unit);
        });
        self.flights[flight].left = count;
        // The units of one request lie one after the other.
        let first = first.unwrap_or(0);
        for unit in first..first + count as usize {
            self.pump(now, unit);
        }
    }

    /// Calls a drive, and enters what it announces.
    fn call_drive(&mut self, index: usize, now: Nanos, call: impl FnOnce(&mut Drive, &mut Vec<Effect>)) {
        let mut effects = std::mem::take(&mut self.effects);
        call(&mut self.units[index].drive, &mut effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::NeedBus { ticket, at, direction, .. } => {
                    let event = Event::WantsBus { unit: index, ticket, direction };
                    self.calendar.schedule(at.max(now), event);
                }
                Effect::ReleaseBus { at, .. } => {
                    // Who holds the bus for a whole command lets go of it at the end of the command.
                    if self.units[index].hold != Hold::Held {
                        self.calendar.schedule(at.max(now), Event::BusFree(self.units[index].bus));
                    }
                }
                Effect::WakeAt(at) => {
                    self.calendar.schedule(at.max(now), Event::Wake(index));
                }
                Effect::Done(mut outcome) => {
                    note_hold(self.buses[self.units[index].bus].timing(), &mut outcome);
                    let child = outcome.id as usize;
                    self.children[child].outcome = self.outcomes.insert(outcome);
                    self.calendar.schedule(outcome.finish.max(now), Event::Done(child));
                }
                Effect::Background(work) => {
                    self.ledger.units[index].work_in_background(&work.busy);
                    self.background.push(background(&self.system, index, work));
                }
            }
        }
        self.effects = effects;
    }

    fn wants_bus(&mut self, now: Nanos, index: usize, ticket: Ticket, direction: Op) {
        let unit = &self.units[index];
        let claim = Claim { unit: index, purpose: Purpose::Transfer(ticket, direction), since: now };
        if unit.hold == Hold::Held || self.buses[unit.bus].claim(now, claim, &mut self.ledger.buses[unit.bus])
        {
            self.grant(now, claim);
        }
    }

    fn grant(&mut self, now: Nanos, claim: Claim) {
        match claim.purpose {
            Purpose::Transfer(ticket, _) => {
                let timing = *self.buses[self.units[claim.unit].bus].timing();
                self.call_drive(claim.unit, now, |drive, effects| {
                    drive.bus_granted(now, ticket, &timing, effects);
                });
                // The drive may have taken its next command in hand, and have room for another.
                self.pump(now, claim.unit);
            }
            Purpose::Hold => {
                self.units[claim.unit].hold = Hold::Held;
                self.pump(now, claim.unit);
            }
        }
    }

    fn release(&mut self, now: Nanos, bus: usize) {
        if let Some(next) = self.buses[bus].release(now, &mut self.ledger.buses[bus]) {
            self.grant(now, next);
        }
    }

    fn done(&mut self, now: Nanos, first: usize) {
        let Child { unit: index, outcome, .. } = self.children[first];
        let outcome = self.outcomes.remove(outcome);
        let unit = &mut self.units[index];
        unit.at_drive -= 1;
        let bus = unit.bus;
        self.ledger.units[index].work(&outcome, unit.drive.mechanism_busy());
        self.ledger.buses[bus].complete(&outcome);
        let had_hold = unit.hold == Hold::Held;
        if had_hold {
            unit.hold = Hold::None;
        }
        self.free_slot(index);
        let mut next = Some(first);
        while let Some(child) = next {
            next = self.children[child].joined;
            // The work of joined requests is counted with the first.
            let busy = if child == first { outcome.busy } else { Busy::default() };
            self.child_done(now, child, &Outcome { busy, ..outcome });
        }
        let unit = &mut self.units[index];
        if self.ledger.units[index].load() == 0 && unit.drive.wants_recalibration(now) {
            unit.drive.recalibrate(now);
        }
        if had_hold {
            self.release(now, bus);
        }
        if self.turns[bus].is_some() {
            self.pump_by_turns(now, index);
        } else {
            self.pump(now, index);
        }
    }

    fn child_done(&mut self, now: Nanos, child: usize, outcome: &Outcome) {
        let Child { flight, unit, .. } = self.children.remove(child);
        self.ledger.units[unit].leave(now);
        let entry = &mut self.flights[flight];
        entry.left -= 1;
        let is_last = entry.left == 0;
        let critical = entry.critical;
        let stays = critical.filter(|&(before, _)| outcome.finish < self.outcomes[before].finish);
        if !is_last {
            if stays.is_none() {
                if let Some((before, _)) = critical {
                    self.outcomes.remove(before);
                }
                self.flights[flight].critical = Some((self.outcomes.insert(*outcome), unit));
            }
            return;
        }
        let (outcome, unit) = stays.map_or((*outcome, unit), |(before, unit)| (self.outcomes[before], unit));
        if let Some((before, _)) = critical {
            self.outcomes.remove(before);
        }
        let flight = self.flights.remove(flight);
        let row = row(&self.system, flight.id, &flight.request, &outcome, unit, flight.issued);
        match flight.way {
            Way::Direct => {}
            Way::Raw { driver_id } => {
                self.driver
                    .push(DriverRow { row: CompletionRow { id: driver_id, ..row }, origin: Origin::Raw });
            }
            Way::Transfer { number, origin } => {
                self.driver.push(DriverRow { row, origin });
                self.transfer_done(now, number, &row);
                return;
            }
        }
        self.in_flight -= 1;
        self.completed.push((row, flight.user));
    }

    fn look_at_recalibration(&mut self, now: Nanos, index: usize) {
        let unit = &mut self.units[index];
        // Otherwise it happens when the queue has run empty.
        if self.ledger.units[index].load() == 0 && unit.drive.wants_recalibration(now) {
            unit.drive.recalibrate(now);
        }
        if let Some(interval) = recalibration_interval(&self.system, self.system.units[index].drive) {
            self.calendar.schedule(now.saturating_add(interval), Event::Recalibrate(index));
        }
    }

    /// Forgets the statistics of the time before `now`.
    pub(crate) fn restart_statistics(&mut self, now: Nanos) {
        self.ledger.restart(now);
        self.restart_cache();
    }

    /// What is buffered goes to the media.
    pub(crate) fn drain(&mut self) {
        let mut works = Vec::new();
        for (index, unit) in self.units.iter_mut().enumerate() {
            unit.drive.drain(&mut works);
            self.background.extend(works.drain(..).map(|work| background(&self.system, index, work)));
        }
    }

    /// What was used since the last restart of the statistics, up to `end`.
    pub(crate) fn used(&self, end: Nanos) -> Usage {
        self.ledger.used(end)
    }

    /// The drives.
    pub(crate) fn drives(&self) -> impl Iterator<Item = &Drive> {
        self.units.iter().map(|unit| &unit.drive)
    }
}
