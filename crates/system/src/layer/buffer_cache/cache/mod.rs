//! The host's buffer cache: which blocks are in memory, which are dirty, and when they are read and written.
//!
//! It knows neither driver nor clock: it is told what happens and when, and answers with [`Effect`]s. A block with a
//! transfer under way can be neither given up nor written again until that has ended; a block that is written to
//! meanwhile is dirty afterwards. Requests that need room while every block has a transfer under way wait in order.

mod buffers;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;

use std::collections::VecDeque;

use headstack_units::{Lba, Nanos, Op, RequestFlags};

use self::buffers::{Buffers, State};
use crate::slab::Slab;
use crate::spec::{BufferCacheSpec, CacheWritePolicy, SyncOrder};

/// Why the driver got a request from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Blocks that were not in the cache.
    Fetch,
    /// Around the cache.
    Raw,
    /// A write that is complete only on the drive.
    Through,
    /// The periodic write of all dirty blocks.
    Sync,
    /// The periodic write of a few.
    Trickle,
    /// Room was needed.
    Eviction,
    /// More were dirty than may be.
    Limit,
}

impl Origin {
    /// The words of the record, in the order of the variants.
    pub const WORDS: [&str; 7] = ["fetch", "raw", "through", "sync", "trickle", "eviction", "limit"];
    const COUNT: usize = Self::WORDS.len();
}

/// A block: the volume, and its number there.
pub(crate) type Key = (u32, u64);

/// A transfer between cache and driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// The first block.
    pub(crate) first: Key,
    pub(crate) blocks: u32,
    pub(crate) op: Op,
    pub(crate) origin: Origin,
    pub(crate) flags: RequestFlags,
}

/// What the cache asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The driver gets a transfer, under this number.
    Queue(usize),
    /// A call of the host has its data, or has left them.
    Ready {
        call: usize,
        /// It was the transfer just completed that it waited for last.
        by_transfer: bool,
    },
}

/// A request of the host to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) device: u32,
    pub(crate) lba: Lba,
    pub(crate) sectors: u32,
    pub(crate) op: Op,
    pub(crate) flags: RequestFlags,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    call: Call,
    /// Blocks it has yet to turn to: from, to (exclusive).
    next: u64,
    end: u64,
    /// Blocks whose transfers it waits for.
    left: u32,
    is_through: bool,
}

/// What the cache did, in blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) read_hits: u64,
    pub(crate) read_misses: u64,
    pub(crate) write_hits: u64,
    pub(crate) write_misses: u64,
    /// Wanted while somebody else's fetch of them was under way.
    pub(crate) shared_fetches: u64,
    /// Became dirty.
    pub(crate) dirtied: u64,
    /// Handed to the driver for writing, by [`Origin`].
    pub(crate) written: [u64; Origin::COUNT],
    /// Transfers handed to the driver, by [`Origin`].
    pub(crate) transfers: [u64; Origin::COUNT],
    /// Times that a call had to wait for room.
    pub(crate) room_waits: u64,
    /// Longest time from a block's first write to the completion of its transfer.
    pub(crate) longest_dirty: Nanos,
    pub(crate) most_dirty: u64,
}

/// The cache.
#[derive(Clone, Debug)]
pub(crate) struct BufferCache {
    block_sectors: u64,
    cluster: u32,
    writes_through: bool,
    sync_order: SyncOrder,
    trickle_blocks: usize,
    dirty_limit: usize,
    buffers: Buffers,
    transfers: Slab<Transfer>,
    calls: Slab<Pending>,
    /// Calls that wait for room, in order.
    waiting: VecDeque<usize>,
    counts: Counts,
}

impl BufferCache {
    /// An empty cache; blocks have `block_sectors` sectors.
    pub(crate) fn new(spec: &BufferCacheSpec, block_sectors: u32) -> Self {
        Self {
            block_sectors: u64::from(block_sectors),
            cluster: spec.cluster_blocks,
            writes_through: spec.write_policy == CacheWritePolicy::WriteThrough,
            sync_order: spec.sync_order,
            trickle_blocks: spec.trickle_blocks.map_or(0, |blocks| blocks as usize),
            dirty_limit: spec.dirty_limit_blocks.map_or(usize::MAX, |blocks| blocks as usize),
            buffers: Buffers::new(spec.blocks as usize),
            transfers: Slab::default(),
            calls: Slab::default(),
            waiting: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// Sectors in a block.
    pub(crate) fn block_sectors(&self) -> u64 {
        self.block_sectors
    }

    /// A transfer that was queued and has not been completed.
    pub(crate) fn transfer(&self, number: usize) -> &Transfer {
        &self.transfers[number]
    }

    /// What it did since the last restart, the blocks that are dirty now, and those being written.
    pub(crate) fn counts(&self) -> (Counts, u64, u64) {
        let (dirty, writing) = self.buffers.unwritten();
        (self.counts, dirty, writing)
    }

    /// Counts from here on.
    pub(crate) fn restart_counts(&mut self) {
        self.counts = Counts { most_dirty: self.buffers.unwritten().0, ..Counts::default() };
    }

    /// The host calls; the number of the call, which stays valid until it is ready.
    pub(crate) fn call(&mut self, now: Nanos, call: Call, effects: &mut Vec<Effect>) -> usize {
        let last = call.lba.0 + u64::from(call.sectors) - 1;
        let is_forced = self.writes_through || call.flags.contains(RequestFlags::FORCE_MEDIA);
        let number = self.calls.insert(Pending {
            call,
            next: call.lba.0 / self.block_sectors,
            end: last / self.block_sectors + 1,
            left: 0,
            is_through: is_forced && call.op == Op::Write,
        });
        self.advance(now, number, false, effects);
        number
    }

    /// A transfer is complete.
    pub(crate) fn completed(&mut self, now: Nanos, number: usize, effects: &mut Vec<Effect>) {
        let Transfer { first, blocks, op, .. } = self.transfers.remove(number);
        let mut through = Vec::new();
        for block in first.1..first.1 + u64::from(blocks) {
            let Some(slot) = self.buffers.find((first.0, block)) else { continue };
            let waiters = self.buffers.released(slot);
            if op == Op::Write {
                let age = now.saturating_sub(self.buffers.written_since(slot));
                self.counts.longest_dirty = self.counts.longest_dirty.max(age);
                for call in waiters {
                    self.settle(call, effects);
                }
                if self.buffers.has_followers(slot) {
                    self.buffers.pin(slot, State::Writing);
                    through.push(slot);
                }
                continue;
            }
            for &call in &waiters {
                if self.calls[call].call.op == Op::Write {
                    self.write(now, slot, call, &mut through);
                }
            }
            for call in waiters {
                self.settle(call, effects);
            }
        }
        self.queue_writes(&through, Origin::Through, effects);
        self.keep_limit(effects);
        self.resume(now, effects);
    }

    /// All dirty blocks are to be written.
    pub(crate) fn sync(&mut self, effects: &mut Vec<Effect>) {
        let slots = self.buffers.dirty_in_order(self.sync_order);
        self.start_writes(&slots, Origin::Sync, effects);
    }

    /// The least recently written blocks are to be written.
    pub(crate) fn trickle(&mut self, effects: &mut Vec<Effect>) {
        let slots: Vec<usize> = self.buffers.least_recently_written().take(self.trickle_blocks).collect();
        self.start_writes(&slots, Origin::Trickle, effects);
    }

    /// A call goes on block by block until it is through or must wait for room; `has_room` if it is its turn for that.
    /// True if it is through.
    fn advance(&mut self, now: Nanos, number: usize, has_turn: bool, effects: &mut Vec<Effect>) -> bool {
        let Pending { call, mut next, end, .. } = self.calls[number];
        let (mut fetched, mut through) = (Vec::new(), Vec::new());
        while next < end {
            let key = (call.device, next);
            if let Some(slot) = self.buffers.find(key) {
                self.buffers.touch(slot);
                if self.buffers.state(slot) == State::Fetching {
                    self.counts.shared_fetches += 1;
                    self.buffers.wait(slot, number);
                    self.calls[number].left += 1;
                } else if call.op == Op::Write {
                    self.counts.write_hits += 1;
                    self.write(now, slot, number, &mut through);
                } else {
                    self.counts.read_hits += 1;
                }
            } else {
                if !has_turn && !self.waiting.is_empty() {
                    break;
                }
                let Some(slot) = self.room(effects) else { break };
                self.buffers.occupy(slot, key);
                let begin = next * self.block_sectors;
                let is_whole =
                    call.lba.0 <= begin && begin + self.block_sectors <= call.lba.0 + u64::from(call.sectors);
                let misses = if call.op == Op::Write {
                    &mut self.counts.write_misses
                } else {
                    &mut self.counts.read_misses
                };
                *misses += 1;
                if call.op == Op::Write && is_whole {
                    self.write(now, slot, number, &mut through);
                } else {
                    self.buffers.pin(slot, State::Fetching);
                    self.buffers.wait(slot, number);
                    self.calls[number].left += 1;
                    fetched.push(slot);
                }
            }
            next += 1;
        }
        self.calls[number].next = next;
        let is_done = next == end;
        // Neither is the fetch a write, nor does it go around the cache.
        let order = RequestFlags::ORDERED.with(RequestFlags::HEAD_OF_QUEUE);
        let flags = RequestFlags(call.flags.0 & order.0);
        self.queue(&fetched, Op::Read, Origin::Fetch, flags, effects);
        self.queue_writes(&through, Origin::Through, effects);
        self.keep_limit(effects);
        if is_done && self.calls[number].left == 0 {
            self.calls.remove(number);
            effects.push(Effect::Ready { call: number, by_transfer: false });
        } else if !is_done && !has_turn {
            self.counts.room_waits += 1;
            self.waiting.push_back(number);
        }
        is_done
    }

    /// Calls that wait for room go on, in order.
    fn resume(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        while let Some(&first) = self.waiting.front() {
            if !self.advance(now, first, true, effects) {
                return;
            }
            self.waiting.pop_front();
        }
    }

    /// One of the transfers that a call waits for has ended.
    fn settle(&mut self, number: usize, effects: &mut Vec<Effect>) {
        let pending = &mut self.calls[number];
        pending.left -= 1;
        if pending.left == 0 && pending.next == pending.end {
            self.calls.remove(number);
            effects.push(Effect::Ready { call: number, by_transfer: true });
        }
    }

    /// A call writes to a block that is in memory.
    fn write(&mut self, now: Nanos, slot: usize, number: usize, through: &mut Vec<usize>) {
        self.counts.dirtied += u64::from(self.buffers.dirty(slot, now));
        self.counts.most_dirty = self.counts.most_dirty.max(self.buffers.unwritten().0);
        if !self.calls[number].is_through {
            return;
        }
        self.calls[number].left += 1;
        if self.buffers.state(slot) == State::Writing && !through.contains(&slot) {
            // What is under way may carry the old data: the block is written once more after it.
            self.buffers.follow(slot, number);
        } else {
            self.buffers.wait(slot, number);
            if self.buffers.state(slot) == State::Idle {
                self.buffers.pin(slot, State::Writing);
                through.push(slot);
            }
        }
    }

    /// An unused slot: a new one, or that of the least recently used clean block. Dirty blocks that come before it begin
    /// to be written, as in Unix's `getblk`.
    fn room(&mut self, effects: &mut Vec<Effect>) -> Option<usize> {
        if let Some(slot) = self.buffers.unused() {
            return Some(slot);
        }
        let (passed, found) = self.buffers.victim();
        self.start_writes(&passed, Origin::Eviction, effects);
        if let Some(slot) = found {
            self.buffers.vacate(slot);
        }
        found
    }

    fn keep_limit(&mut self, effects: &mut Vec<Effect>) {
        let excess = self.buffers.idle_dirty().saturating_sub(self.dirty_limit);
        if excess > 0 {
            let slots: Vec<usize> = self.buffers.least_recently_written().take(excess).collect();
            self.start_writes(&slots, Origin::Limit, effects);
        }
    }

    /// Idle dirty blocks begin to be written, in this order.
    fn start_writes(&mut self, slots: &[usize], origin: Origin, effects: &mut Vec<Effect>) {
        for &slot in slots {
            self.buffers.pin(slot, State::Writing);
        }
        self.queue_writes(slots, origin, effects);
    }

    fn queue_writes(&mut self, slots: &[usize], origin: Origin, effects: &mut Vec<Effect>) {
        for &slot in slots {
            self.buffers.clean(slot);
        }
        self.counts.written[origin as usize] += slots.len() as u64;
        let flags = if origin == Origin::Through { RequestFlags::FORCE_MEDIA } else { RequestFlags::ASYNC };
        self.queue(slots, Op::Write, origin, flags, effects);
    }

    /// Makes transfers of blocks, adjacent ones together as far as they may be.
    fn queue(
        &mut self,
        slots: &[usize],
        op: Op,
        origin: Origin,
        flags: RequestFlags,
        effects: &mut Vec<Effect>,
    ) {
        let mut slots = slots.iter().map(|&slot| self.buffers.key(slot)).peekable();
        while let Some(first) = slots.next() {
            let mut blocks = 1;
            while blocks < self.cluster && slots.next_if_eq(&(first.0, first.1 + u64::from(blocks))).is_some()
            {
                blocks += 1;
            }
            let transfer = Transfer { first, blocks, op, origin, flags };
            self.counts.transfers[origin as usize] += 1;
            effects.push(Effect::Queue(self.transfers.insert(transfer)));
        }
    }
}
