//! Writes reported complete whose data are on their way to the media: what immediate reporting remembers.

use crate::model::DriveModel;
use crate::spec::{DirtyHit, WritePolicy};
use headstack_units::Nanos;

#[derive(Clone, Copy, Debug)]
struct EarlyWrite {
    start: u64,
    end: u64,
    /// On the media.
    at: Nanos,
}

/// The writes on their way, in the order in which they will be on the media.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlyWrites(Vec<EarlyWrite>);

impl EarlyWrites {
    /// A write of `start..end` is on the media at `at`.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, end: u64, at: Nanos) {
        self.0.push(EarlyWrite { start, end, at });
    }

    /// Those that are on the media by `now` are no longer on their way.
    #[inline]
    pub(crate) fn forget_written(&mut self, now: Nanos) {
        if !self.0.is_empty() {
            self.0.retain(|write| write.at > now);
        }
    }

    /// When the last of them is on the media.
    pub(crate) fn last(&self) -> Option<Nanos> {
        self.0.iter().map(|write| write.at).max()
    }

    /// Whether one of them holds all of `lba..end`.
    #[inline]
    pub(crate) fn cover(&self, lba: u64, end: u64) -> bool {
        self.0.iter().any(|write| write.start <= lba && end <= write.end)
    }

    /// What is on its way at `at`: first address, and one after the last.
    pub(crate) fn at(&self, at: Nanos) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().filter(move |write| write.at > at).map(|write| (write.start, write.end))
    }

    /// Sectors on their way at `at`.
    pub(crate) fn sectors_at(&self, at: Nanos) -> u64 {
        self.at(at).map(|(start, end)| end - start).sum()
    }

    /// The first instant after `at` at which one of them is on the media.
    pub(crate) fn next_after(&self, at: Nanos) -> Option<Nanos> {
        self.0.iter().map(|write| write.at).filter(|&written| written > at).min()
    }

    /// When those that share sectors with `lba..end` are on the media; `at` if they are by then.
    pub(crate) fn over(&self, lba: u64, end: u64, at: Nanos) -> Nanos {
        let hits = self.0.iter().filter(|write| write.start < end && lba < write.end);
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
        if self.0.is_empty() {
            return wanted;
        }
        let mut from = wanted;
        if let WritePolicy::ImmediateReporting { dirty_hit, pending_writes } = model.spec().write_policy {
            if dirty_hit == DirtyHit::Delay {
                from = self.over(lba, end, from);
            }
            if let Some(most) = pending_writes.filter(|_| counts) {
                // One of those before must reach the media first.
                let too_many = (self.0.len() + 1).saturating_sub(most.max(1) as usize);
                from = self.0.iter().take(too_many).map(|write| write.at).fold(from, Nanos::max);
            }
        }
        self.wait_for_room(model, end - lba, from)
    }

    /// The writes on their way give their room back in order.
    fn wait_for_room(&self, model: &DriveModel, sectors: u64, from: Nanos) -> Nanos {
        let mut held: u64 = self.0.iter().map(|write| write.end - write.start).sum();
        let mut at = from;
        for write in &self.0 {
            if held + sectors <= model.sizes.buffer.max(sectors) {
                break;
            }
            held -= write.end - write.start;
            at = at.max(write.at);
        }
        at
    }

    /// They happen at another time.
    pub(crate) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        for write in &mut self.0 {
            write.at = moved(write.at);
        }
    }
}
