//! From when to when a mechanism works.

use headstack_drive::{Rebase, Worked};
use headstack_units::Nanos;
use std::collections::VecDeque;

use super::Horizon;

/// From when to when a mechanism works, counted from a restart.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    pub(super) since: Nanos,
    pub(super) horizon: Horizon,
    /// Of work that is over: how long it took, and how long the coil worked.
    done: u64,
    coil: u64,
    /// Work that may reach beyond what has happened.
    open: VecDeque<Worked>,
}

impl Spans {
    /// Work is told of when a command is complete at `now`.
    #[inline]
    pub(super) fn add(&mut self, work: Worked, now: Nanos) {
        let work = from_on(self.since, work);
        if work.to <= self.horizon.cap(now) {
            self.close(work);
        } else if work.to > work.from {
            self.open.push_back(work);
        }
    }

    #[inline]
    fn close(&mut self, Worked { from, to, coil }: Worked) {
        self.done += to.saturating_sub(from).0;
        self.coil += coil.0;
    }

    /// All up to `now` has happened.
    #[inline]
    pub(super) fn settle(&mut self, now: Nanos) {
        let now = self.horizon.cap(now);
        while let Some(&work) = self.open.front()
            && work.to <= now
        {
            self.close(work);
            self.open.pop_front();
        }
    }

    /// A measured replay goes on at another instant: what was done for its last request by then counts up to the measured completion,
    /// and what goes on goes on from there.
    pub(super) fn rebase(
        &mut self,
        Rebase { begun: _, model_finish: finish, measured_finish: measured }: Rebase,
    ) {
        self.horizon = Horizon::default();
        for work in std::mem::take(&mut self.open) {
            let (by_then, after) = split_at(work, finish);
            let done = Worked { from: by_then.from.min(measured), to: by_then.to.min(measured), ..by_then };
            let moved = |at: Nanos| measured + (at - finish);
            let rest = Worked { from: moved(after.from), to: moved(after.to), ..after };
            let pieces = [Worked { coil: done.coil.min(done.to - done.from), ..done }, rest];
            self.open.extend(pieces.into_iter().filter(|piece| piece.to > piece.from));
        }
    }

    pub(super) fn restart(&mut self, now: Nanos) {
        (self.since, self.done, self.coil) = (now, 0, 0);
        self.open.retain(|work| work.to > now);
        self.open.iter_mut().for_each(|work| *work = from_on(now, *work));
    }

    pub(super) fn follow(&mut self, later: &Self) {
        self.done += later.done;
        self.coil += later.coil;
        self.open.extend(&later.open);
    }

    pub(super) fn until(&self, end: Nanos) -> u64 {
        let within = |work: &Worked| work.to.min(end).saturating_sub(work.from).0;
        self.done + self.open.iter().map(within).sum::<u64>()
    }

    /// How long the coil worked, of work that began before `end`.
    pub(super) fn coil_until(&self, end: Nanos) -> u64 {
        self.coil + self.open.iter().filter(|work| work.from < end).map(|work| work.coil.0).sum::<u64>()
    }
}

/// What of `work` is done before an instant, and what after; the coil works at its beginning.
fn split_at(work: Worked, at: Nanos) -> (Worked, Worked) {
    let before = Worked { from: work.from.min(at), to: work.to.min(at), ..work };
    let coil = work.coil.min(before.to - before.from);
    let after = Worked { from: work.from.max(at), to: work.to.max(at), coil: work.coil - coil };
    (Worked { coil, ..before }, after)
}

/// What of `work` counts from `since` on.
#[inline]
fn from_on(since: Nanos, work: Worked) -> Worked {
    if work.from >= since { work } else { Worked { from: since, coil: Nanos::ZERO, ..work } }
}
