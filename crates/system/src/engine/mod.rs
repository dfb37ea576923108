//! The general case: requests, layers, driver queues, buses and drives over one calendar.

mod closing;
mod dispatch;
mod drives;
mod ledger;
mod observe;
mod rebuilds;
mod requests;
mod rows;
mod slots;
mod telling;

pub(crate) use ledger::{
    BusBook, BusInHand, BusUse, Ledger, UnitBook, UnitUse, Usage, book_alone, note_hold,
};
pub(crate) use observe::Observer;
pub(crate) use rebuilds::{RebuildUse, VolumeRepairs};
pub(crate) use rows::{Finished, background, recalibration_interval, row};
pub use telling::CommandTold;

use std::sync::Arc;

use headstack_drive::command::{Effect as DriveEffect, Outcome, Ticket};
use headstack_drive::{Drive, Rebase};
use headstack_trace::Request;
use headstack_units::{Nanos, RequestFlags};

use crate::SystemError;
use crate::bus::Bus;
use crate::calendar::Calendar;
use crate::host::{Cpu, DriverQueue};
use crate::layer::{AnyLayer, Below, Effect, Layer};
use crate::record::{BackgroundRow, CompletionRow, DriverRow};
use crate::slab::Slab;
use crate::summary::{ArrayCacheUse, BufferCacheUse};
use crate::system::System;
use rebuilds::Rebuilds;
use requests::{InFlight, Sender, SubRequest};
use slots::Slots;
use telling::Telling;

/// What goes around the host's buffer cache: it has no data for it.
const AROUND_CACHE: RequestFlags =
    RequestFlags::RAW.with(RequestFlags::DISCARD).with(RequestFlags::WRITE_SAME);

/// What happens at an instant.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The CPU has issued a request.
    Issued(usize),
    /// A drive wants to be called.
    Wake(usize),
    /// A drive wants the bus.
    WantsBus { unit: usize, ticket: Ticket },
    /// A transfer leaves the bus.
    BusFree(usize),
    /// A command is complete.
    Done(usize),
    /// The host looks whether a drive should recalibrate.
    Recalibrate(usize),
    /// The data of a request are copied.
    Copied(usize),
    /// A layer asked to be called.
    Timer { layer: usize, tag: u32 },
}

/// What [`Engine::step`] has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is no event so soon.
    Nothing,
    /// An event has happened.
    Event,
    /// An instant that was asked for has come.
    Call { at: Nanos, mark: u32 },
}

/// Whether a drive that does not disconnect has the bus for its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    None,
    Waiting,
    Held,
}

/// An actuator with its driver queue.
#[derive(Clone, Debug)]
struct Unit {
    drive: Drive,
    queue: DriverQueue,
    /// Commands that wait while others do.
    background: DriverQueue,
    bus: usize,
    limit: u32,
    at_drive: u32,
    /// On a bus that commands hold: for how long a read does, and a write.
    command_hold: Option<[Nanos; 2]>,
    /// Most commands of the background queue at the drive, and how many there are.
    background_limit: u32,
    background_at_drive: u32,
    hold: Hold,
}

/// What the layers may know of the units.
struct Units<'a> {
    units: &'a [Unit],
    ledger: &'a Ledger,
}

impl Below for Units<'_> {
    fn load(&self, unit: usize) -> u64 {
        self.ledger.units[unit].load()
    }

    fn last_end(&self, unit: usize) -> u64 {
        self.units[unit].queue.last_end()
    }
}

/// A system in motion.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    system: Arc<System>,
    calendar: Calendar<Event>,
    /// Who asked to be called, and when.
    callers: Calendar<u32>,
    cpu: Cpu,
    /// The volumes, by their numbers; behind them in the list their controllers, and last the buffer cache if there is one.
    layers: Vec<AnyLayer>,
    /// By which of them requests enter the volumes.
    entries: Vec<usize>,
    units: Vec<Unit>,
    buses: Vec<Bus>,
    ledger: Ledger,
    requests: Slab<InFlight>,
    subs: Slab<SubRequest>,
    outcomes: Slab<Outcome>,
    /// How parts of requests went on which others depend.
    paths: Slab<Finished>,
    /// Requests that are complete but for a copy of their data.
    copies: Slab<(CompletionRow, Sender)>,
    /// Per bus, where that takes only so many commands.
    slots: Vec<Option<Slots>>,
    next_id: u64,
    next_driver_id: u64,
    next_sub: u64,
    in_flight: u64,
    last_done: Nanos,
    now: Nanos,
    drive_effects: Vec<DriveEffect>,
    /// Room for the effects of layers, used again.
    effects: Vec<Vec<Effect>>,
    rebuilds: Rebuilds,
    /// Where somebody wants to hear how commands go.
    telling: Option<Box<Telling>>,
    /// Completions since they were last taken, and the users who waited for them.
    pub(crate) completed: Vec<(CompletionRow, Option<u32>)>,
    /// With a buffer cache: what the driver completed since it was last taken.
    pub(crate) driver: Vec<DriverRow>,
    /// Background work since it was last taken.
    pub(crate) background: Vec<BackgroundRow>,
}

impl Engine {
    pub(crate) fn new(system: &Arc<System>, seed: u64) -> Self {
        let units: Vec<Unit> = system
            .units
            .iter()
            .zip(system.new_drives(seed))
            .enumerate()
            .map(|(unit, (place, drive))| Unit {
                drive,
                queue: system.new_queue(unit),
                background: system.new_queue(unit),
                bus: place.bus,
                limit: place.limit,
                at_drive: 0,
                command_hold: system.command_hold(place),
                background_limit: place.background_limit,
                background_at_drive: 0,
                hold: Hold::None,
            })
            .collect();
        let policy = system.policy();
        let slots = |bus: &crate::spec::BusConfig| bus.outstanding.map(|limit| Slots::new(limit, policy));
        let mut engine = Self {
            calendar: Calendar::new(),
            callers: Calendar::new(),
            cpu: Cpu::new(system.cpu_cost()),
            layers: system.new_layers(),
            entries: system.entries(),
            ledger: Ledger::new(units.len(), system.timings.len()),
            units,
            buses: system.new_buses(),
            requests: Slab::default(),
            subs: Slab::default(),
            outcomes: Slab::default(),
            paths: Slab::default(),
            copies: Slab::default(),
            slots: system.config().buses.iter().map(slots).collect(),
            next_id: 0,
            next_driver_id: 0,
            next_sub: 0,
            in_flight: 0,
            last_done: Nanos::ZERO,
            now: Nanos::ZERO,
            drive_effects: Vec::new(),
            effects: Vec::new(),
            rebuilds: Rebuilds::new(system),
            telling: None,
            completed: Vec::new(),
            driver: Vec::new(),
            background: Vec::new(),
            system: Arc::clone(system),
        };
        engine.set_timers();
        engine
    }

    /// As [`Engine::new`]; the host's CPU has no part.
    pub(crate) fn without_cpu(system: &Arc<System>, seed: u64) -> Self {
        Self { cpu: Cpu::new(Nanos::ZERO), ..Self::new(system, seed) }
    }

    fn set_timers(&mut self) {
        for (unit, place) in self.system.units.iter().enumerate() {
            if let Some(interval) = recalibration_interval(&self.system, place.drive) {
                self.calendar.schedule(interval, Event::Recalibrate(unit));
            }
        }
        for layer in 0..self.layers.len() {
            let mut effects = Vec::new();
            self.layers[layer].start(&mut effects);
            self.follow(Nanos::ZERO, layer, effects, None);
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

    /// Whether nothing is under way, for a request or for a layer.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.requests.len() == 0 && !self.is_rebuilding()
    }

    /// Whether nobody holds a bus.
    pub(crate) fn has_free_buses(&self) -> bool {
        self.buses.iter().all(Bus::is_free)
    }

    /// The next request, to a volume of which nothing is under way, was really complete at `measured`: no more of it counts.
    pub(crate) fn expect(&mut self, volume: usize, measured: Nanos) {
        for unit in self.system.units_of(volume) {
            self.ledger.units[unit].expect(measured);
            self.ledger.buses[self.units[unit].bus].expect(measured);
        }
    }

    /// Nothing is under way, and the last request of a volume was complete at another instant than the model's: its drives are as
    /// after it, at that time. Drives that wanted to be called are not; they go on from where
    /// they are with their next command.
    pub(crate) fn rebase(&mut self, volume: usize, to: Rebase) {
        self.calendar.retain(|event| !matches!(event, Event::Wake(_)));
        for unit in self.system.units_of(volume) {
            self.tell_own_work(unit, to.model_finish);
            let drive = &mut self.units[unit].drive;
            drive.rebase(to);
            self.ledger.units[unit].rebase(drive.model(), to);
        }
        self.turn_back();
    }

    /// The next request may come sooner, to another volume.
    pub(crate) fn turn_back(&mut self) {
        self.now = Nanos::ZERO;
    }

    /// When a command was complete last, for a request or for a layer.
    pub(crate) fn last_done(&self) -> Nanos {
        self.last_done
    }

    /// Asks for [`Engine::step`] to return `mark` at an instant.
    pub(crate) fn call_at(&mut self, at: Nanos, mark: u32) {
        self.callers.schedule(at.max(self.now), mark);
    }

    /// A request arrives, not before anything that has happened; returns its number.
    pub(crate) fn submit(&mut self, request: Request, user: Option<u32>) -> Result<u64, SystemError> {
        let id = self.next_id;
        self.system.check(id, &request)?;
        self.next_id += 1;
        debug_assert!(request.arrival >= self.now, "a request arrives in the past");
        self.now = self.now.max(request.arrival);
        self.in_flight += 1;
        match self.cache() {
            None => self.issue(id, request, Sender::Host { user }),
            Some(_) if request.flags.has_any(AROUND_CACHE) || request.sectors == 0 => {
                let driver_id = self.new_driver_id();
                self.issue(id, request, Sender::Raw { user, driver_id });
            }
            Some(layer) => {
                let number = self.requests.insert(InFlight::new(id, request, layer, Sender::Host { user }));
                self.call_layer(request.arrival, number);
            }
        }
        Ok(id)
    }

    /// The buffer cache, if there is one.
    fn cache(&self) -> Option<usize> {
        let last = self.layers.len().checked_sub(1)?;
        matches!(self.layers[last], AnyLayer::BufferCache(_)).then_some(last)
    }

    /// Lets the next event happen, if it happens no later than `limit`. What was announced for an instant happens before whoever
    /// asked to be called then, as it does before the next request of a trace.
    #[inline]
    pub(crate) fn step(&mut self, limit: Nanos) -> Step {
        let called = self.callers.next_time().unwrap_or(Nanos::MAX);
        if let Some((now, event)) = self.calendar.pop_until(limit.min(called)) {
            self.now = now;
            self.happen(now, event);
            return Step::Event;
        }
        let Some((at, mark)) = self.callers.pop_until(limit) else { return Step::Nothing };
        self.now = at;
        Step::Call { at, mark }
    }

    fn happen(&mut self, now: Nanos, event: Event) {
        match event {
            Event::Issued(request) => self.call_layer(now, request),
            Event::Wake(unit) => {
                self.call_drive(unit, now, |drive, effects| drive.advance(now, effects));
            }
            Event::WantsBus { unit, ticket } => self.wants_bus(now, unit, ticket),
            Event::BusFree(bus) => self.release(now, bus),
            Event::Done(sub) => self.done(now, sub),
            Event::Recalibrate(unit) => self.look_at_recalibration(now, unit),
            Event::Copied(number) => {
                let (row, sender) = self.copies.remove(number);
                self.deliver(now, &row, sender);
            }
            Event::Timer { layer, tag } => {
                let mut effects = self.effects.pop().unwrap_or_default();
                self.layers[layer].timer(now, tag, &mut effects);
                self.follow(now, layer, effects, None);
            }
        }
    }

    /// Completions and driver's requests not taken yet.
    #[inline]
    pub(crate) fn untaken(&self) -> usize {
        self.completed.len() + self.driver.len()
    }

    /// Forgets the statistics of the time before `now`. Nothing in motion is touched: what is told of later is split there.
    pub(crate) fn restart_statistics(&mut self, now: Nanos) {
        self.ledger.restart(now);
        self.rebuilds.restart();
        for layer in &mut self.layers {
            match layer {
                AnyLayer::ArrayCache(cache) => cache.restart(),
                AnyLayer::BufferCache(cache) => cache.restart(),
                AnyLayer::Volume(_) | AnyLayer::FlushFirst(_) => {}
            }
        }
    }

    /// What the buffer cache did since the last restart of the statistics.
    pub(crate) fn cache_use(&self) -> Option<BufferCacheUse> {
        match self.layers.last()? {
            AnyLayer::BufferCache(cache) => Some(cache.used()),
            AnyLayer::Volume(_) | AnyLayer::FlushFirst(_) | AnyLayer::ArrayCache(_) => None,
        }
    }

    /// What the controllers' caches did since the last restart of the statistics.
    pub(crate) fn array_cache_uses(&self) -> Vec<ArrayCacheUse> {
        let used = |layer: &AnyLayer| match layer {
            AnyLayer::ArrayCache(cache) => Some(cache.used()),
            _ => None,
        };
        self.layers.iter().filter_map(used).collect()
    }

    /// What is buffered goes to the media.
    pub(crate) fn drain(&mut self) {
        let mut works = Vec::new();
        let has_failed: Vec<bool> =
            (0..self.units.len()).map(|unit| self.failed_at(unit).is_some()).collect();
        for (index, unit) in self.units.iter_mut().enumerate().filter(|(index, _)| !has_failed[*index]) {
            unit.drive.drain(&mut works);
            self.background.extend(works.drain(..).map(|work| background(&self.system, index, work)));
        }
    }

    /// A drive that has no commands in hand tells what it did by itself up to `now`.
    fn tell_own_work(&mut self, unit: usize, now: Nanos) {
        let mut works = Vec::new();
        self.ledger.units[unit].tell_own_work(&mut self.units[unit].drive, now, &mut works);
        self.background.extend(works.into_iter().map(|work| background(&self.system, unit, work)));
    }

    /// The drives.
    pub(crate) fn drives(&self) -> impl Iterator<Item = &Drive> {
        self.units.iter().map(|unit| &unit.drive)
    }
}
