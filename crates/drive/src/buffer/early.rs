//! Writes reported complete whose data are on their way to the media: what immediate reporting remembers.

use crate::model::DriveModel;
use crate::spec::{DirtyHit, WritePolicy};
use headstack_units::{Nanos, Op};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EarlyWrite {
    start: u64,
    end: u64,
    /// On the media.
    at: Nanos,
}

/// The writes on their way, in the order in which they will be on the media.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EarlyWrites {
    writes: Vec<EarlyWrite>,
    /// What goes to the media once more behind them: first address, and one after the last.
    again: Vec<(u64, u64)>,
}

impl EarlyWrites {
    /// A write of `start..end` is on the media at `at`.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, end: u64, at: Nanos) {
        self.writes.push(EarlyWrite { start, end, at });
    }

    /// Those that are on the media by `now` are no longer on their way.
    #[inline]
    pub(crate) fn forget_written(&mut self, now: Nanos) {
        if !self.writes.is_empty() {
            self.writes.retain(|write| write.at > now);
        }
    }

    /// When the last of them is on the media.
    pub(crate) fn last(&self) -> Option<Nanos> {
        self.writes.iter().map(|write| write.at).max()
    }

    /// A write of `start..end`, which continued one of them, goes to the media once more.
    pub(crate) fn add_again(&mut self, start: u64, end: u64) {
        self.again.push((start, end));
    }

    /// Whether something goes to the media once more.
    #[inline]
    pub(crate) fn has_again(&self) -> bool {
        !self.again.is_empty()
    }

    /// What goes to the media once more, in order.
    pub(crate) fn take_again(&mut self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.again)
    }

    /// When the last of them is on the media, where that is after `at`.
    #[inline]
    pub(crate) fn until(&self, at: Nanos) -> Option<Nanos> {
        self.writes.iter().map(|write| write.at).filter(|&written| written > at).max()
    }

    /// Whether one of them holds all of `lba..end`.
    #[inline]
    pub(crate) fn cover(&self, lba: u64, end: u64) -> bool {
        self.writes.iter().any(|write| write.start <= lba && end <= write.end)
    }

    /// What is on its way at `at`: first address, and one after the last.
    pub(crate) fn at(&self, at: Nanos) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.writes.iter().filter(move |write| write.at > at).map(|write| (write.start, write.end))
    }

    /// Sectors on their way at `at`.
    pub(crate) fn sectors_at(&self, at: Nanos) -> u64 {
        self.at(at).map(|(start, end)| end - start).sum()
    }

    /// The first instant after `at` at which one of them is on the media.
    pub(crate) fn next_after(&self, at: Nanos) -> Option<Nanos> {
        self.writes.iter().map(|write| write.at).filter(|&written| written > at).min()
    }

    /// When those that share sectors with `lba..end` are on the media; `at` if they are by then.
    pub(crate) fn over(&self, lba: u64, end: u64, at: Nanos) -> Nanos {
        let hits = self.writes.iter().filter(|write| write.start < end && lba < write.end);
        hits.map(|write| write.at).fold(at, Nanos::max)
    }

    /// When the buffer can take the data of a write of `lba..end`, wanted from `wanted` on. `counts` if the write is to be
    /// reported early and does not continue the one before.
    pub(crate) fn admit(
        &mut self,
        model: &DriveModel,
        (lba, end): (u64, u64),
        counts: bool,
        wanted: Nanos,
    ) -> Nanos {
        self.forget_written(wanted);
        if self.writes.is_empty() {
            return wanted;
        }
        let mut from = wanted;
        if model.rules.waits_for_early_writes && counts {
            from = self.last().map_or(from, |last| from.max(last));
        }
        if let WritePolicy::ImmediateReporting { dirty_hit, pending_writes, .. } = model.spec().write_policy {
            if dirty_hit == DirtyHit::Delay {
                from = self.over(lba, end, from);
            }
            if let Some(most) = pending_writes.filter(|_| counts) {
                // One of those before must reach the media first.
                let too_many = (self.writes.len() + 1).saturating_sub(most.max(1) as usize);
                from = self.writes.iter().take(too_many).map(|write| write.at).fold(from, Nanos::max);
            }
        }
        self.wait_for_room(model, end - lba, from)
    }

    /// The writes on their way give their room back in order.
    fn wait_for_room(&self, model: &DriveModel, sectors: u64, from: Nanos) -> Nanos {
        let mut held: u64 = self.writes.iter().map(|write| write.end - write.start).sum();
        let mut at = from;
        for write in &self.writes {
            if held + sectors <= model.sizes.buffer.max(sectors) {
                break;
            }
            let free = (model.sizes.buffer.max(sectors) - held.min(model.sizes.buffer)).min(sectors);
            held -= write.end - write.start;
            // What there is room for may come before.
            let before = if model.rules.waits_for_early_writes {
                model.bus().transfer(Op::Write, free * u64::from(model.sector_bytes()))
            } else {
                Nanos::ZERO
            };
            at = at.max(write.at.saturating_sub(before));
        }
        at
    }

    /// They happen at another time.
    pub(crate) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        for write in &mut self.writes {
            write.at = moved(write.at);
        }
    }
}
