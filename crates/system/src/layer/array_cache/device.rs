//! A cache on another volume, under the same addresses.

use std::collections::BTreeMap;
use std::ops::Range;

use headstack_units::{Op, RequestFlags};

use super::ranges::Ranges;
use super::{Counts, Place, Wish};
use crate::layer::Completed;
use crate::spec::{ArrayDeviceSpec, DeviceWrites};

/// Most sectors moved at a time to the cached volume.
const MOST: u64 = u32::MAX as u64;

/// What is on its way.
#[derive(Clone, Debug)]
enum Sent {
    /// A read or a write of a request.
    Own { op: Op, to: Place, sectors: Range<u64> },
    /// What a request read, to the cache.
    Populate(Range<u64>),
    /// What a request wrote, to the cached volume as well.
    Through,
    /// Dirty sectors, out of the cache.
    Out(Range<u64>),
    /// The same, to the cached volume.
    Back(Range<u64>),
}

/// The state of a cache device.
#[derive(Clone, Debug)]
pub(super) struct Device {
    /// Sectors from here on are not cached.
    size: u64,
    valid: Ranges,
    dirty: Ranges,
    writes: DeviceWrites,
    sent: BTreeMap<usize, Sent>,
    next_tag: usize,
    /// On their way to the cached volume, and to the cache.
    outstanding: [u32; 2],
    pub(super) counts: Counts,
}

impl Device {
    pub(super) fn new(spec: &ArrayDeviceSpec, size: u64) -> Self {
        Self {
            size,
            valid: Ranges::default(),
            dirty: Ranges::default(),
            writes: spec.write_policy,
            sent: BTreeMap::new(),
            next_tag: 0,
            outstanding: [0; 2],
            counts: Counts::default(),
        }
    }

    pub(super) fn used(&self) -> (Counts, u64) {
        (self.counts, self.dirty.count())
    }

    /// Whether the cached volume has nothing to do.
    pub(super) fn is_quiet(&self) -> bool {
        self.outstanding[Place::Own as usize] == 0
    }

    /// Whether the cache has nothing to do either.
    pub(super) fn is_idle(&self) -> bool {
        self.outstanding == [0, 0]
    }

    pub(super) fn forget(&mut self, sectors: &Range<u64>) {
        self.valid.remove(sectors);
        self.dirty.remove(sectors);
    }

    /// A request is the controller's now.
    pub(super) fn begin(&mut self, call: usize, op: Op, sectors: Range<u64>, wishes: &mut Vec<Wish>) {
        let is_cached = sectors.end < self.size;
        let is_hit = is_cached && (op == Op::Write || self.valid.contains(&sectors));
        let to = if is_hit { Place::Cache } else { Place::Own };
        match op {
            Op::Write => self.counts.writes += 1,
            Op::Read if is_hit => self.counts.read_hits += 1,
            Op::Read => {
                self.counts.read_misses += 1;
                self.counts.fetches += 1;
            }
        }
        self.send(Some(call), to, op, sectors.clone(), Sent::Own { op, to, sectors }, wishes);
    }

    /// A sub-request is complete.
    pub(super) fn completed(&mut self, child: &Completed, wishes: &mut Vec<Wish>) {
        let Some((to, sent)) = self.sent.remove(&child.tag).map(|sent| (sent.place(), sent)) else { return };
        self.outstanding[to as usize] -= 1;
        match sent {
            Sent::Own { op, to, sectors } => {
                let call = child.call.unwrap_or_default();
                wishes.push(Wish::Done { call, by_child: true });
                self.after(op, to, sectors, wishes);
            }
            Sent::Populate(sectors) => self.valid.insert(sectors),
            Sent::Through => {}
            Sent::Out(sectors) => {
                self.counts.destages += 1;
                self.send(None, Place::Own, Op::Write, sectors.clone(), Sent::Back(sectors), wishes);
            }
            Sent::Back(sectors) => {
                self.dirty.remove(&sectors);
                self.destage(wishes);
            }
        }
    }

    /// What follows a request that is complete.
    fn after(&mut self, op: Op, to: Place, sectors: Range<u64>, wishes: &mut Vec<Wish>) {
        match (op, to) {
            (Op::Read, Place::Own) if sectors.end < self.size => {
                self.counts.populations += 1;
                let sent = Sent::Populate(sectors.clone());
                self.send(None, Place::Cache, Op::Write, sectors, sent, wishes);
            }
            (Op::Write, Place::Cache) => {
                self.valid.insert(sectors.clone());
                if self.writes == DeviceWrites::WriteThrough {
                    self.send(None, Place::Own, Op::Write, sectors, Sent::Through, wishes);
                } else {
                    self.dirty.insert(sectors);
                }
            }
            _ => {}
        }
    }

    /// Moves the lowest dirty sectors to the cached volume, unless there is other work.
    pub(super) fn destage(&mut self, wishes: &mut Vec<Wish>) {
        if !self.is_idle() {
            return;
        }
        let Some(run) = self.dirty.first() else { return };
        let run = run.start..run.end.min(run.start + MOST);
        self.send(None, Place::Cache, Op::Read, run.clone(), Sent::Out(run), wishes);
    }

    fn send(
        &mut self,
        call: Option<usize>,
        to: Place,
        op: Op,
        sectors: Range<u64>,
        sent: Sent,
        wishes: &mut Vec<Wish>,
    ) {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.outstanding[to as usize] += 1;
        self.sent.insert(tag, sent);
        wishes.push(Wish::Send { call, tag, to, op, sectors, flags: RequestFlags::default() });
    }
}

impl Sent {
    /// Where it went.
    fn place(&self) -> Place {
        match self {
            Self::Own { to, .. } => *to,
            Self::Populate(_) | Self::Out(_) => Place::Cache,
            Self::Through | Self::Back(_) => Place::Own,
        }
    }
}
