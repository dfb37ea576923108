//! The buffer cache as one would write it on a board: a list of blocks from the least to the most recently used, looked
//! through from end to end. The cache must do the same, in the same order.

use headstack_units::{Nanos, Op, RequestFlags};

use super::{Call, Key, Origin};
use crate::spec::{BufferCacheSpec, CacheWritePolicy, SyncOrder};

/// What the twin asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Queue { first: Key, blocks: u32, op: Op, origin: Origin },
    Ready { call: usize },
}

#[derive(Clone, Debug)]
struct Block {
    key: Key,
    /// Which buffer it lies in.
    buffer: usize,
    is_dirty: bool,
    /// When it was last written to.
    written: u64,
    fetch_under_way: bool,
    write_under_way: bool,
    waiters: Vec<usize>,
    followers: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Asked {
    call: Call,
    blocks: Vec<u64>,
    left: usize,
}

/// The twin; calls are numbered in order.
#[derive(Clone, Debug)]
pub(super) struct Twin {
    spec: BufferCacheSpec,
    block_sectors: u64,
    /// The least recently used first.
    blocks: Vec<Block>,
    calls: Vec<Asked>,
    queue: Vec<usize>,
    clock: u64,
    pub(super) wishes: Vec<Wish>,
}

impl Twin {
    pub(super) fn new(spec: &BufferCacheSpec, block_sectors: u64) -> Self {
        Self {
            spec: spec.clone(),
            block_sectors,
            blocks: Vec::new(),
            calls: Vec::new(),
            queue: Vec::new(),
            clock: 0,
            wishes: Vec::new(),
        }
    }

    /// Keys of all dirty blocks, the least recently used first.
    pub(super) fn dirty(&self) -> Vec<Key> {
        self.blocks.iter().filter(|block| block.is_dirty).map(|block| block.key).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn call(&mut self, call: Call) {
        let first = call.lba.0 / self.block_sectors;
        let last = (call.lba.0 + u64::from(call.sectors) - 1) / self.block_sectors;
        self.calls.push(Asked { call, blocks: (first..=last).rev().collect(), left: 0 });
        let number = self.calls.len() - 1;
        if !self.go_on(number, self.queue.is_empty()) {
            self.queue.push(number);
        }
    }

    pub(super) fn complete(&mut self, first: Key, blocks: u32, op: Op) {
        let mut through = Vec::new();
        for key in (0..u64::from(blocks)).map(|index| (first.0, first.1 + index)) {
            let block = self.block(key);
            (block.fetch_under_way, block.write_under_way) = (false, false);
            let waiters = std::mem::take(&mut block.waiters);
            if op == Op::Read {
                for &number in &waiters {
                    if self.calls[number].call.op == Op::Write {
                        self.write(key, number, &mut through);
                    }
                }
            }
            for number in waiters {
                self.calls[number].left -= 1;
                self.look_whether_ready(number);
            }
            let block = self.block(key);
            if op == Op::Write && !block.followers.is_empty() {
                block.waiters = std::mem::take(&mut block.followers);
                block.write_under_way = true;
                through.push(key);
            }
        }
        self.put_out(&through, Origin::Through);
        self.keep_limit();
        while let Some(&number) = self.queue.first() {
            if !self.go_on(number, true) {
                break;
            }
            self.queue.remove(0);
        }
    }

    pub(super) fn sync(&mut self) {
        let mut blocks: Vec<Block> = self.idle_dirty();
        match self.spec.sync_order {
            SyncOrder::Lru => {}
            SyncOrder::Buffer => blocks.sort_by_key(|block| block.buffer),
            SyncOrder::Address => blocks.sort_by_key(|block| block.key),
        }
        self.put_out(&blocks.iter().map(|block| block.key).collect::<Vec<_>>(), Origin::Sync);
    }

    pub(super) fn trickle(&mut self) {
        let most = self.spec.trickle_blocks.unwrap_or(0) as usize;
        let keys: Vec<Key> = self.by_write().into_iter().take(most).collect();
        self.put_out(&keys, Origin::Trickle);
    }

    fn idle_dirty(&self) -> Vec<Block> {
        let is_idle = |block: &&Block| block.is_dirty && !block.write_under_way && !block.fetch_under_way;
        self.blocks.iter().filter(is_idle).cloned().collect()
    }

    fn by_write(&self) -> Vec<Key> {
        let mut blocks = self.idle_dirty();
        blocks.sort_by_key(|block| block.written);
        blocks.iter().map(|block| block.key).collect()
    }

    fn keep_limit(&mut self) {
        let keys = self.by_write();
        let excess = keys.len().saturating_sub(self.spec.dirty_limit_blocks.unwrap_or(u32::MAX) as usize);
        self.put_out(&keys[..excess], Origin::Limit);
    }

    fn block(&mut self, key: Key) -> &mut Block {
        self.blocks.iter_mut().find(|block| block.key == key).unwrap()
    }

    fn look_whether_ready(&mut self, number: usize) {
        if self.calls[number].left == 0 && self.calls[number].blocks.is_empty() {
            self.wishes.push(Wish::Ready { call: number });
        }
    }

    fn write(&mut self, key: Key, number: usize, through: &mut Vec<Key>) {
        let call = self.calls[number].call;
        self.clock += 1;
        let written = self.clock;
        let is_through = self.spec.write_policy == CacheWritePolicy::WriteThrough
            || call.flags.contains(RequestFlags::FORCE_MEDIA);
        let block = self.block(key);
        (block.is_dirty, block.written) = (true, written);
        if is_through {
            if through.contains(&key) {
                block.waiters.push(number);
            } else if block.write_under_way {
                block.followers.push(number);
            } else {
                block.write_under_way = true;
                block.waiters.push(number);
                through.push(key);
            }
            self.calls[number].left += 1;
        }
    }

    fn go_on(&mut self, number: usize, may_take_room: bool) -> bool {
        let call = self.calls[number].call;
        let (mut fetched, mut through) = (Vec::new(), Vec::new());
        while let Some(&block) = self.calls[number].blocks.last() {
            let key = (call.device, block);
            if let Some(at) = self.blocks.iter().position(|known| known.key == key) {
                let known = self.blocks.remove(at);
                let is_fetched = known.fetch_under_way;
                self.blocks.push(known);
                if is_fetched {
                    self.block(key).waiters.push(number);
                    self.calls[number].left += 1;
                } else if call.op == Op::Write {
                    self.write(key, number, &mut through);
                }
            } else {
                let Some(buffer) = (if may_take_room { self.room() } else { None }) else { break };
                let sectors = block * self.block_sectors..(block + 1) * self.block_sectors;
                let is_whole = sectors
                    .clone()
                    .all(|sector| sector >= call.lba.0 && sector < call.lba.0 + u64::from(call.sectors));
                let is_fetched = !(call.op == Op::Write && is_whole);
                self.blocks.push(Block {
                    key,
                    buffer,
                    is_dirty: false,
                    written: 0,
                    fetch_under_way: is_fetched,
                    write_under_way: false,
                    waiters: if is_fetched { vec![number] } else { Vec::new() },
                    followers: Vec::new(),
                });
                if is_fetched {
                    self.calls[number].left += 1;
                    fetched.push(key);
                } else {
                    self.write(key, number, &mut through);
                }
            }
            self.calls[number].blocks.pop();
        }
        self.queue(&fetched, Op::Read, Origin::Fetch);
        self.put_out(&through, Origin::Through);
        self.keep_limit();
        self.look_whether_ready(number);
        self.calls[number].blocks.is_empty()
    }

    /// A buffer to use: an empty one, or the least recently used clean one after the dirty before it were put out.
    fn room(&mut self) -> Option<usize> {
        if self.blocks.len() < self.spec.blocks as usize {
            return Some(self.blocks.len());
        }
        let idle: Vec<Block> = self
            .blocks
            .iter()
            .filter(|block| !block.fetch_under_way && !block.write_under_way)
            .cloned()
            .collect();
        let clean = idle.iter().position(|block| !block.is_dirty);
        let before: Vec<Key> = idle[..clean.unwrap_or(idle.len())].iter().map(|block| block.key).collect();
        self.put_out(&before, Origin::Eviction);
        let found = &idle[clean?];
        self.blocks.retain(|block| block.key != found.key);
        Some(found.buffer)
    }

    fn put_out(&mut self, keys: &[Key], origin: Origin) {
        for &key in keys {
            let block = self.block(key);
            (block.is_dirty, block.write_under_way) = (false, true);
        }
        self.queue(keys, Op::Write, origin);
    }

    fn queue(&mut self, keys: &[Key], op: Op, origin: Origin) {
        let mut runs: Vec<(Key, u32)> = Vec::new();
        for &key in keys {
            match runs.last_mut() {
                Some((first, blocks))
                    if *blocks < self.spec.cluster_blocks
                        && (first.0, first.1 + u64::from(*blocks)) == key =>
                {
                    *blocks += 1;
                }
                _ => runs.push((key, 1)),
            }
        }
        self.wishes.extend(runs.into_iter().map(|(first, blocks)| Wish::Queue { first, blocks, op, origin }));
    }
}

/// An instant for a step; the twin knows none.
pub(super) fn instant(step: usize) -> Nanos {
    Nanos(1_000 * step as u64)
}
