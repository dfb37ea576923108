//! How long the drive was in its power conditions: pauses of its arms that were long enough.

use crate::power::{Conditions, RestTimes};
use headstack_units::Nanos;

/// A pause that came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pause {
    since: Nanos,
    woken: Nanos,
}

/// The pauses of a drive's arms.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pauses {
    /// The last that was long enough for a condition: its end may lie ahead.
    last: Option<Pause>,
    /// Those before.
    before: RestTimes,
}

impl Pauses {
    /// The drive, whose arms rest since `since`, is woken at `woken`; returns when it is ready.
    pub(super) fn wake(&mut self, conditions: &Conditions, since: Nanos, woken: Nanos) -> Nanos {
        self.before = self.ended(conditions, Nanos::MAX);
        self.last = Some(Pause { since, woken });
        conditions.awake(since, woken)
    }

    /// Counts rests from here on.
    pub(super) fn forget(&mut self) {
        (self.last, self.before) = (None, RestTimes::default());
    }

    /// Counts rests before, too.
    pub(super) fn add(&mut self, before: &RestTimes) {
        self.before = self.before.and(before);
    }

    /// The last pause, and the way back from it, were over by `at`.
    pub(super) fn cut(&mut self, conditions: &Conditions, at: Nanos) {
        self.before = self.ended(conditions, at);
        self.last = None;
    }

    /// Times in each condition up to `until`, of rests that came to an end.
    pub(super) fn ended(&self, conditions: &Conditions, until: Nanos) -> RestTimes {
        match self.last {
            Some(Pause { since, woken }) => self.before.and(&conditions.times(since, Some(woken), until)),
            None => self.before,
        }
    }

    /// The same, and of the pause that lasts since `since`.
    pub(super) fn until(&self, conditions: &Conditions, since: Nanos, until: Nanos) -> RestTimes {
        self.ended(conditions, until).and(&conditions.times(since, None, until.max(since)))
    }
}
