//! The controller of an array between the driver and a volume: how many requests it works on at a time, and what it has a
//! cache in, its own memory or another volume.
//!
//! Requests wait in the driver's queue above it; what it sends waits in its own queue for each drive. Data in the cache count
//! as safe: a forced write ends in it, and so does a flush.

mod bits;
mod device;
mod lines;
mod memory;
mod ranges;
mod recency;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use headstack_drive::command::Command;
use headstack_drive::scheduler::{Knowledge, Policy, Queue};
use headstack_units::{Lba, Nanos, Op, RequestFlags};

use super::{Below, Call, Completed, Effect, Layer, Piece, Target};
use crate::spec::{ArrayCacheKind, ArrayCacheSpec};
use crate::summary::ArrayCacheUse;
use device::Device;
use memory::Memory;

/// The timer of the periodic writes; the others are of times without work, and count up.
const PERIOD: u32 = u32::MAX;

/// What goes around the cache: it has no data for it.
const AROUND: RequestFlags = RequestFlags::DISCARD.with(RequestFlags::WRITE_SAME);

/// Names what goes around among what a request sends.
const AROUND_TAG: usize = usize::MAX;

/// Of which volume something is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// That which is cached.
    Own,
    /// That which is the cache.
    Cache,
}

/// What a cache wishes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish {
    Send { call: Option<usize>, tag: usize, to: Place, op: Op, sectors: Range<u64>, flags: RequestFlags },
    Done { call: usize, by_child: bool },
}

/// What a controller has its cache in.
#[derive(Clone, Debug)]
enum Store {
    Memory(Memory),
    Device(Device),
}

/// A controller in motion.
#[derive(Clone, Debug)]
pub(crate) struct ArrayCache {
    /// The device numbers of its volume, and of that which is its cache.
    volume: u32,
    cache: u32,
    store: Store,
    /// The driver's queue, and whose requests are in it.
    queue: Queue,
    calls: BTreeMap<usize, Call>,
    /// Requests it works on, and how many those may be.
    active: u32,
    limit: u32,
    idle: Option<Nanos>,
    every: Option<Nanos>,
    /// Names the last timer for a time without work; what has come since makes it void.
    quiet: u32,
    /// That time has passed, and there was nothing to be done then.
    is_due: bool,
    wishes: Vec<Wish>,
}

/// What a controller is built of.
pub(crate) struct Parts<'a> {
    pub(crate) spec: &'a ArrayCacheSpec,
    /// Device numbers of the cached volume, and of the one that is the cache, if one is.
    pub(crate) volume: u32,
    pub(crate) cache: u32,
    /// Sectors of the cached volume, and of the one that is the cache.
    pub(crate) sectors: u64,
    pub(crate) cache_sectors: u64,
    pub(crate) sector_bytes: u32,
    /// The driver's.
    pub(crate) policy: Policy,
    pub(crate) queue_limit: Option<u32>,
}

impl ArrayCache {
    /// `None` where it is not said what the cache is in.
    pub(crate) fn new(parts: &Parts<'_>) -> Option<Self> {
        let &Parts { spec, volume, cache, sectors, cache_sectors, sector_bytes, policy, queue_limit } = parts;
        let (store, idle, every) = match spec.kind()? {
            ArrayCacheKind::Memory(memory) => {
                let store = Memory::new(memory, sector_bytes, sectors);
                (Store::Memory(store), memory.idle_ms, memory.write_every_s)
            }
            ArrayCacheKind::Device(device) => {
                (Store::Device(Device::new(device, sectors.min(cache_sectors))), device.idle_ms, None)
            }
        };
        Some(Self {
            volume,
            cache,
            store,
            queue: Queue::new(policy, Knowledge::Addresses { sectors, sector_bytes }, queue_limit),
            calls: BTreeMap::new(),
            active: 0,
            limit: spec.requests,
            idle: idle.map(Nanos::from_ms),
            every: every.map(Nanos::from_s),
            quiet: 0,
            is_due: false,
            wishes: Vec::new(),
        })
    }

    /// What it did since the last restart of the statistics.
    pub(crate) fn used(&self) -> ArrayCacheUse {
        let (counts, dirty_sectors) = match &self.store {
            Store::Memory(memory) => memory.used(),
            Store::Device(device) => device.used(),
        };
        ArrayCacheUse { volume: self.volume as usize, counts, dirty_sectors }
    }

    /// Counts from here on.
    pub(crate) fn restart(&mut self) {
        match &mut self.store {
            Store::Memory(memory) => memory.counts = Counts::default(),
            Store::Device(device) => device.counts = Counts::default(),
        }
    }

    /// Begins requests as far as it may, and hands on what the cache wishes.
    fn go_on(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        loop {
            self.follow(effects);
            if self.active >= self.limit {
                return;
            }
            let Some(taken) = self.queue.pop(now, &[], &[]) else { return };
            let Some(call) = self.calls.remove(&(taken.waiting.command.id as usize)) else { return };
            self.active += 1;
            effects.push(Effect::Begin { call: call.number });
            self.begin(&call);
        }
    }

    fn begin(&mut self, call: &Call) {
        let sectors = call.lba.0..call.lba.0 + u64::from(call.sectors);
        if call.flags.has_any(AROUND) {
            match &mut self.store {
                Store::Memory(memory) => memory.forget(&sectors),
                Store::Device(device) => device.forget(&sectors),
            }
            let (op, flags) = (call.op, call.flags);
            let call = Some(call.number);
            self.wishes.push(Wish::Send { call, tag: AROUND_TAG, to: Place::Own, op, sectors, flags });
            return;
        }
        match &mut self.store {
            Store::Memory(memory) => memory.begin(call.number, call.op, &sectors, &mut self.wishes),
            Store::Device(device) => device.begin(call.number, call.op, sectors, &mut self.wishes),
        }
    }

    fn follow(&mut self, effects: &mut Vec<Effect>) {
        let mut wishes = std::mem::take(&mut self.wishes);
        for wish in wishes.drain(..) {
            effects.push(match wish {
                Wish::Done { call, by_child } => {
                    self.active -= 1;
                    // What is answered at once is told once the call is over: who asked does not know its number before.
                    Effect::Done { call, by_child, copy: (!by_child).then_some(Nanos::ZERO) }
                }
                Wish::Send { call, tag, to, op, sectors, flags } => {
                    let device = if to == Place::Own { self.volume } else { self.cache };
                    let (lba, sectors) = (Lba(sectors.start), (sectors.end - sectors.start) as u32);
                    let piece = Piece { op, lba, sectors, flags, background: false };
                    Effect::Send { call, tag, to: Target::Below(device), piece }
                }
            });
        }
        self.wishes = wishes;
    }

    fn is_quiet(&self) -> bool {
        match &self.store {
            Store::Memory(memory) => self.active == 0 && memory.is_quiet(),
            Store::Device(device) => device.is_quiet(),
        }
    }

    /// Asks to be called once nothing has come for so long; what has begun since makes that void.
    fn wait_for_quiet(&mut self, now: Nanos, was_quiet: bool, effects: &mut Vec<Effect>) {
        let Some(idle) = self.idle else { return };
        let is_anew = match &self.store {
            // Requests that the memory answers are work, too.
            Store::Memory(_) => true,
            Store::Device(device) => !was_quiet || self.is_due && device.is_idle(),
        };
        if !self.is_quiet() {
            self.quiet = (self.quiet + 1) % PERIOD;
        } else if is_anew {
            self.quiet = (self.quiet + 1) % PERIOD;
            self.is_due = false;
            effects.push(Effect::TimerAt { at: now.saturating_add(idle), tag: self.quiet });
        }
    }
}

impl Layer for ArrayCache {
    fn start(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.every.map(|at| Effect::TimerAt { at, tag: PERIOD }));
    }

    fn call(&mut self, now: Nanos, call: &Call, _below: &dyn Below, effects: &mut Vec<Effect>) {
        let &Call { number, op, lba, sectors, flags, .. } = call;
        if sectors == 0 {
            // A flush alone: what was acknowledged is safe.
            return effects.push(Effect::Done { call: number, by_child: false, copy: Some(Nanos::ZERO) });
        }
        let was_quiet = self.is_quiet();
        self.calls.insert(number, *call);
        self.queue.push(Command { id: number as u64, op, lba, sectors, flags }, now);
        self.go_on(now, effects);
        self.wait_for_quiet(now, was_quiet, effects);
    }

    fn completed(&mut self, now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        let was_quiet = self.is_quiet();
        match (&mut self.store, child.call) {
            (_, Some(call)) if child.tag == AROUND_TAG => {
                self.wishes.push(Wish::Done { call, by_child: true });
            }
            (Store::Memory(memory), _) => memory.completed(child, &mut self.wishes),
            (Store::Device(device), _) => device.completed(child, &mut self.wishes),
        }
        self.go_on(now, effects);
        if self.is_quiet()
            && let Store::Memory(memory) = &mut self.store
            && memory.is_destaging
        {
            memory.write_oldest(&mut self.wishes);
            self.follow(effects);
        }
        self.wait_for_quiet(now, was_quiet, effects);
    }

    fn timer(&mut self, now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
        match &mut self.store {
            Store::Memory(memory) if tag == PERIOD => {
                memory.write_all(&mut self.wishes);
                effects.extend(self.every.map(|every| Effect::TimerAt { at: now + every, tag }));
            }
            _ if tag != self.quiet => return,
            Store::Memory(memory) => memory.write_oldest(&mut self.wishes),
            Store::Device(device) => {
                device.destage(&mut self.wishes);
                self.is_due = self.wishes.is_empty();
            }
        }
        self.follow(effects);
    }
}

/// What a cache did, in requests or commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Reads that found all they wanted, and others.
    pub(crate) read_hits: u64,
    pub(crate) read_misses: u64,
    pub(crate) writes: u64,
    /// Reads of the volume for a read.
    pub(crate) fetches: u64,
    /// Writes of the volume with what was dirty.
    pub(crate) destages: u64,
    /// Writes to the cache device of what was read.
    pub(crate) populations: u64,
}
