//! The host's buffer cache as a layer: requests that do not go around it end here, and its transfers go to the driver.

mod cache;

use headstack_units::{Lba, Nanos};

pub(crate) use cache::Counts;
pub use cache::Origin;

use super::{Below, Call, Completed, Effect, Layer, Piece, Target};
use crate::spec::BufferCacheSpec;
use crate::summary::BufferCacheUse;
use cache::{BufferCache, Effect as Wish};

/// The periodic writes.
const SYNC: u32 = 0;
const TRICKLE: u32 = 1;

/// A buffer cache, and whose its calls are.
#[derive(Clone, Debug)]
pub(crate) struct BufferCacheLayer {
    cache: BufferCache,
    /// By the cache's number of a call: whose it is, and how long copying its data takes.
    callers: Vec<(usize, Nanos)>,
    wishes: Vec<Wish>,
    /// Sectors of each volume.
    volumes: Vec<u64>,
    sync_every: Option<Nanos>,
    trickle_every: Option<Nanos>,
    copy_ns_per_sector: f64,
}

impl BufferCacheLayer {
    /// An empty cache above volumes of so many sectors; `None` where a block is no whole number of sectors.
    pub(crate) fn new(spec: &BufferCacheSpec, sector_bytes: u32, volumes: Vec<u64>) -> Option<Self> {
        let block_sectors = spec.block_sectors(sector_bytes)?;
        Some(Self {
            cache: BufferCache::new(spec, block_sectors),
            callers: Vec::new(),
            wishes: Vec::new(),
            volumes,
            sync_every: spec.sync_every_s.map(Nanos::from_s),
            trickle_every: spec.trickle_every_s.map(Nanos::from_s),
            copy_ns_per_sector: spec.copy_us_per_kib * f64::from(sector_bytes) * 1e3 / 1024.0,
        })
    }

    /// What it did since the last restart of the statistics.
    pub(crate) fn used(&self) -> BufferCacheUse {
        let (counts, dirty, writing) = self.cache.counts();
        BufferCacheUse { counts, dirty, writing }
    }

    /// Counts from here on.
    pub(crate) fn restart(&mut self) {
        self.cache.restart_counts();
    }

    fn copy_time(&self, call: &Call) -> Nanos {
        Nanos((self.copy_ns_per_sector * f64::from(call.sectors)).round() as u64)
    }

    /// Hands on what the cache wishes.
    fn follow(&mut self, effects: &mut Vec<Effect>) {
        let mut wishes = std::mem::take(&mut self.wishes);
        for wish in wishes.drain(..) {
            effects.push(match wish {
                Wish::Ready { call, by_transfer } => {
                    let (call, copy) = self.callers[call];
                    Effect::Done { call, by_child: by_transfer, copy: Some(copy) }
                }
                Wish::Queue(number) => self.transfer(number),
            });
        }
        self.wishes = wishes;
    }

    fn transfer(&self, number: usize) -> Effect {
        let transfer = self.cache.transfer(number);
        let block_sectors = self.cache.block_sectors();
        let (device, block) = transfer.first;
        let begin = block * block_sectors;
        // The last block of a volume may be cut short by its end.
        let end = (begin + u64::from(transfer.blocks) * block_sectors).min(self.volumes[device as usize]);
        let sectors = (end - begin) as u32;
        Effect::Send {
            call: None,
            tag: number,
            to: Target::Volume(device, transfer.origin),
            piece: Piece {
                op: transfer.op,
                lba: Lba(begin),
                sectors,
                flags: transfer.flags,
                background: false,
            },
        }
    }

    fn every(&self, tag: u32) -> Option<Nanos> {
        if tag == SYNC { self.sync_every } else { self.trickle_every }
    }
}

impl Layer for BufferCacheLayer {
    fn start(&mut self, effects: &mut Vec<Effect>) {
        for tag in [SYNC, TRICKLE] {
            effects.extend(self.every(tag).map(|at| Effect::TimerAt { at, tag }));
        }
    }

    fn call(&mut self, now: Nanos, call: &Call, _below: &dyn Below, effects: &mut Vec<Effect>) {
        let &Call { number, device, op, lba, sectors, flags } = call;
        let asked = cache::Call { device, lba, sectors, op, flags };
        let own = self.cache.call(now, asked, &mut self.wishes);
        let caller = (number, self.copy_time(call));
        if own == self.callers.len() {
            self.callers.push(caller);
        } else {
            self.callers[own] = caller;
        }
        self.follow(effects);
    }

    fn completed(&mut self, now: Nanos, child: &Completed, _below: &dyn Below, effects: &mut Vec<Effect>) {
        self.cache.completed(now, child.tag, &mut self.wishes);
        self.follow(effects);
    }

    fn timer(&mut self, now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
        if tag == SYNC {
            self.cache.sync(&mut self.wishes);
        } else {
            self.cache.trickle(&mut self.wishes);
        }
        self.follow(effects);
        let next = self.every(tag).map(|every| now.saturating_add(every));
        effects.extend(next.map(|at| Effect::TimerAt { at, tag }));
    }
}
