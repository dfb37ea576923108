//! How long a drive was in its power conditions, counted from a restart.

use headstack_drive::DriveModel;
use headstack_drive::power::{Rest, RestTimes};
use headstack_units::Nanos;

/// The rests that a drive has told of.
#[derive(Clone, Debug, Default)]
pub(super) struct Rests {
    since: Nanos,
    /// Up to then the time is booked as work already.
    booked_until: Nanos,
    /// Of rests that are over, way back and all.
    ended: RestTimes,
    /// Rests of which the end may reach beyond what has happened.
    open: Vec<Rest>,
}

impl Rests {
    /// A rest came to an end; all up to `now` has happened.
    pub(super) fn add(&mut self, model: &DriveModel, rest: Rest, now: Nanos) {
        self.settle(model, now);
        if rest.ready <= now { self.close(model, rest, now) } else { self.open.push(rest) }
    }

    fn settle(&mut self, model: &DriveModel, now: Nanos) {
        let is_over = |rest: &mut Rest| rest.ready <= now;
        for rest in self.open.extract_if(.., is_over).collect::<Vec<_>>() {
            self.close(model, rest, now);
        }
    }

    /// What there was of a rest up to `until` counts.
    pub(super) fn close(&mut self, model: &DriveModel, rest: Rest, until: Nanos) {
        self.count(model, rest.since, Some(rest.woken), until);
    }

    fn count(&mut self, model: &DriveModel, since: Nanos, woken: Option<Nanos>, until: Nanos) {
        let mut times = model.rest_times(since, woken, self.since.max(self.booked_until), until);
        // What began meanwhile began, though its time is booked.
        let begun = model.rest_times(since, woken, self.since, until);
        for (times, begun) in times.0.iter_mut().zip(begun.0) {
            times.entered = begun.entered;
        }
        self.ended = self.ended.and(&times);
    }

    /// Of the rests told of no more counts than there was up to `until`.
    pub(super) fn cut(&mut self, model: &DriveModel, until: Nanos) {
        for rest in std::mem::take(&mut self.open) {
            self.close(model, rest, until);
        }
    }

    /// A measured replay goes on at `at`. Until then the drive has worked, as far as the model did, though its arm may rest there since before.
    pub(super) fn rebase(&mut self, model: &DriveModel, at: Nanos) {
        self.cut(model, at);
        self.booked_until = self.booked_until.max(at);
    }

    /// So does what there was up to `until` of a rest that has lasted since `since`.
    pub(super) fn last(&mut self, model: &DriveModel, since: Nanos, until: Nanos) {
        self.count(model, since, None, until.max(since));
    }

    pub(super) fn restart(&mut self, now: Nanos) {
        self.open.retain(|rest| rest.ready > now);
        (self.since, self.ended) = (now, RestTimes::default());
    }

    pub(super) fn follow(&mut self, later: &Self) {
        self.ended = self.ended.and(&later.ended);
        self.open.extend(&later.open);
    }

    /// All that counts.
    pub(super) fn times(&self) -> RestTimes {
        self.ended
    }
}
