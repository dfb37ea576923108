//! The blocks in memory, and the orders they stand in.

use std::collections::{BTreeMap, BTreeSet};

use headstack_units::Nanos;

use super::Key;
use crate::spec::SyncOrder;

/// What goes on with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    Fetching,
    Writing,
}

#[derive(Clone, Debug)]
struct Buffer {
    key: Key,
    state: State,
    /// When it was last used, and last written to, as numbers that grow.
    used: u64,
    written: u64,
    /// Since when it is dirty.
    dirty_since: Option<Nanos>,
    /// Since when that was dirty which is being written.
    written_since: Nanos,
    /// Calls that wait for the transfer under way, and for a write after it.
    waiters: Vec<usize>,
    followers: Vec<usize>,
}

/// The blocks in memory. `by_use` holds those that are idle, `by_write` those that are dirty and idle.
#[derive(Clone, Debug)]
pub(super) struct Buffers {
    capacity: usize,
    slots: Vec<Buffer>,
    index: BTreeMap<Key, usize>,
    by_use: BTreeSet<(u64, usize)>,
    by_write: BTreeSet<(u64, usize)>,
    next_stamp: u64,
    dirty: u64,
    writing: u64,
}

impl Buffers {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            slots: Vec::new(),
            index: BTreeMap::new(),
            by_use: BTreeSet::new(),
            by_write: BTreeSet::new(),
            next_stamp: 0,
            dirty: 0,
            writing: 0,
        }
    }

    pub(super) fn find(&self, key: Key) -> Option<usize> {
        self.index.get(&key).copied()
    }

    pub(super) fn key(&self, slot: usize) -> Key {
        self.slots[slot].key
    }

    pub(super) fn state(&self, slot: usize) -> State {
        self.slots[slot].state
    }

    pub(super) fn written_since(&self, slot: usize) -> Nanos {
        self.slots[slot].written_since
    }

    /// Blocks that are dirty, and blocks being written.
    pub(super) fn unwritten(&self) -> (u64, u64) {
        (self.dirty, self.writing)
    }

    /// Dirty blocks without a transfer.
    pub(super) fn idle_dirty(&self) -> usize {
        self.by_write.len()
    }

    pub(super) fn wait(&mut self, slot: usize, call: usize) {
        self.slots[slot].waiters.push(call);
    }

    pub(super) fn follow(&mut self, slot: usize, call: usize) {
        self.slots[slot].followers.push(call);
    }

    /// A slot that was never used.
    pub(super) fn unused(&mut self) -> Option<usize> {
        if self.slots.len() == self.capacity {
            return None;
        }
        self.slots.push(Buffer {
            key: (0, 0),
            state: State::Idle,
            used: 0,
            written: 0,
            dirty_since: None,
            written_since: Nanos::ZERO,
            waiters: Vec::new(),
            followers: Vec::new(),
        });
        Some(self.slots.len() - 1)
    }

    /// The least recently used clean block, and the dirty ones that come before it; all of them idle.
    pub(super) fn victim(&self) -> (Vec<usize>, Option<usize>) {
        let mut passed = Vec::new();
        for &(_, slot) in &self.by_use {
            if self.slots[slot].dirty_since.is_none() {
                return (passed, Some(slot));
            }
            passed.push(slot);
        }
        (passed, None)
    }

    /// Gives up a clean, idle block.
    pub(super) fn vacate(&mut self, slot: usize) {
        let buffer = &self.slots[slot];
        self.index.remove(&buffer.key);
        self.by_use.remove(&(buffer.used, slot));
    }

    /// A block comes into an unused slot, idle and clean.
    pub(super) fn occupy(&mut self, slot: usize, key: Key) {
        let used = self.stamp();
        let buffer = &mut self.slots[slot];
        (buffer.key, buffer.used) = (key, used);
        self.index.insert(key, slot);
        self.by_use.insert((used, slot));
    }

    /// A block is used.
    pub(super) fn touch(&mut self, slot: usize) {
        let now = self.stamp();
        let buffer = &mut self.slots[slot];
        let before = std::mem::replace(&mut buffer.used, now);
        if self.by_use.remove(&(before, slot)) {
            self.by_use.insert((now, slot));
        }
    }

    /// A block is written to; true if it was clean.
    pub(super) fn dirty(&mut self, slot: usize, now: Nanos) -> bool {
        let stamp = self.stamp();
        let buffer = &mut self.slots[slot];
        let before = std::mem::replace(&mut buffer.written, stamp);
        if buffer.state == State::Idle {
            self.by_write.remove(&(before, slot));
            self.by_write.insert((stamp, slot));
        }
        let was_clean = buffer.dirty_since.is_none();
        if was_clean {
            buffer.dirty_since = Some(now);
            self.dirty += 1;
        }
        was_clean
    }

    /// A transfer of an idle block begins.
    pub(super) fn pin(&mut self, slot: usize, state: State) {
        let buffer = &mut self.slots[slot];
        buffer.state = state;
        self.by_use.remove(&(buffer.used, slot));
        self.by_write.remove(&(buffer.written, slot));
        self.writing += u64::from(state == State::Writing);
    }

    /// What is being written is as it is now: later writes make the block dirty again.
    pub(super) fn clean(&mut self, slot: usize) {
        let buffer = &mut self.slots[slot];
        if let Some(since) = buffer.dirty_since.take() {
            buffer.written_since = since;
            self.dirty -= 1;
        }
    }

    /// A block's transfer has ended; the calls that waited for it.
    pub(super) fn released(&mut self, slot: usize) -> Vec<usize> {
        let buffer = &mut self.slots[slot];
        self.writing -= u64::from(buffer.state == State::Writing);
        buffer.state = State::Idle;
        self.by_use.insert((buffer.used, slot));
        if buffer.dirty_since.is_some() {
            self.by_write.insert((buffer.written, slot));
        }
        std::mem::take(&mut buffer.waiters)
    }

    /// Whether calls waited for a write after the one that has ended; they wait for the next from now on.
    pub(super) fn has_followers(&mut self, slot: usize) -> bool {
        let buffer = &mut self.slots[slot];
        buffer.waiters.append(&mut buffer.followers);
        !buffer.waiters.is_empty()
    }

    /// Dirty blocks without a transfer, the one last written to longest ago first.
    pub(super) fn least_recently_written(&self) -> impl Iterator<Item = usize> {
        self.by_write.iter().map(|&(_, slot)| slot)
    }

    /// The same in another order.
    pub(super) fn dirty_in_order(&self, order: SyncOrder) -> Vec<usize> {
        let mut slots: Vec<usize> = self.least_recently_written().collect();
        match order {
            SyncOrder::Lru => slots.sort_unstable_by_key(|&slot| self.slots[slot].used),
            SyncOrder::Buffer => slots.sort_unstable(),
            SyncOrder::Address => slots.sort_unstable_by_key(|&slot| self.slots[slot].key),
        }
        slots
    }

    fn stamp(&mut self) -> u64 {
        self.next_stamp += 1;
        self.next_stamp
    }
}
