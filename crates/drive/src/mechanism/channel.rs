//! The one channel of several arms: when it carries what.

use headstack_units::Nanos;

/// Transfers to come, none of which gives way to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Channel {
    taken: Vec<(Nanos, Nanos)>,
    /// When the transfer in hand begins.
    begins: Nanos,
}

impl Channel {
    /// When the channel is free again that is taken at some instant of a transfer from `start` to `end`.
    pub(super) fn conflict(&self, start: Nanos, end: Nanos) -> Option<Nanos> {
        let conflicts = self.taken.iter().filter(|&&(from, to)| from < end && start < to);
        conflicts.map(|&(_, to)| to).max()
    }

    /// Nothing is transferred from here on.
    pub(super) fn free_at(&self) -> Nanos {
        self.taken.iter().map(|&(_, to)| to).max().unwrap_or(Nanos::ZERO)
    }

    /// The transfer in hand begins at `start`; what ended before `now` is forgotten.
    pub(super) fn begin(&mut self, now: Nanos, start: Nanos) {
        self.taken.retain(|&(_, to)| to > now);
        self.begins = start;
    }

    /// The transfer in hand ends at `end`.
    pub(super) fn end(&mut self, end: Nanos) {
        self.taken.push((self.begins, end));
    }

    /// Everything happens at another time.
    pub(super) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        self.begins = moved(self.begins);
        for (from, to) in &mut self.taken {
            (*from, *to) = (moved(*from), moved(*to));
        }
    }
}
