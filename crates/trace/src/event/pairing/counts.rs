//! What became of the events of a trace.

use super::active::Active;

/// What became of the events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairingCounts {
    /// I/Os with a completion.
    pub pairs: u64,
    /// Of them flushes without data.
    pub flushes: u64,
    /// Of them discards.
    pub discards: u64,
    /// Queued pieces merged into others.
    pub merges: u64,
    /// Pieces split.
    pub splits: u64,
    /// Requests given back by the device.
    pub requeues: u64,
    /// Of the pairs those whose dispatch is not in the trace: their device has none, or it was lost.
    pub undispatched: u64,
    /// Completions of a part of a request.
    pub partial_completions: u64,
    /// Second completions of flushes.
    pub double_flush_completions: u64,
    /// Dispatches without a completion.
    pub orphan_dispatches: u64,
    /// Completions without a dispatch or a queued piece.
    pub orphan_completions: u64,
    /// Queued pieces that were never dispatched or completed.
    pub orphan_queued: u64,
    /// Completions whose dispatch or queueing cannot be told for certain, as events are missing: they make no I/O.
    pub doubtful: u64,
    /// Of the pairs those of which only the service is known: their queueing was lost.
    pub without_queueing: u64,
}

impl PairingCounts {
    /// What was at the device, or queued on one that dispatches nothing, stays alone.
    pub(super) fn orphan(&mut self, active: &Active) {
        if active.is_dispatched {
            self.orphan_dispatches += 1;
        } else {
            self.orphan_queued += 1;
        }
    }

    /// Halves without the other.
    pub fn orphans(&self) -> u64 {
        self.orphan_dispatches + self.orphan_completions + self.orphan_queued
    }
}

/// So many ends without their begin, and one for so many pairs, tell that events are missing all the time.
const FEW: u64 = 4;
const SHARE: u64 = 20;

/// Ends that lack their begin, and pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone {
    /// Completions of what was neither dispatched nor queued.
    pub(super) completions: u64,
    /// Dispatches of what was never queued.
    pub(super) unqueued: u64,
    /// Completions of what was queued and never dispatched.
    pub(super) undispatched: u64,
    pub(super) pairs: u64,
}

impl Alone {
    /// Whether there were so many since then that events are missing all the time. (A driver that completes other sectors than it was given
    /// dispatches, before each of these, what was not queued.)
    pub(crate) fn are_many_since(self, then: Self) -> bool {
        let unqueued = (self.unqueued - then.unqueued).abs_diff(self.undispatched - then.undispatched);
        let alone = self.completions.saturating_sub(then.completions) + unqueued;
        let pairs = self.pairs - then.pairs;
        pairs > 0 && alone >= FEW && alone * SHARE >= pairs
    }

    /// Whether there are so few pairs that the slowest says little of others.
    pub(crate) fn tell_little(self) -> bool {
        self.pairs < super::MANY
    }
}
