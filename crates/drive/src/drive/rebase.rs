//! A measured replay: the drive goes on from the instant at which its last command was really complete, and not from the model's.

use super::{Ahead, Controller, Drive};
use crate::rebase::{Rebase, in_time};
use headstack_units::{Angle, Nanos};

impl Drive {
    /// Measured replay: arm, cache, spindle and work in progress are as after the last command, at the time when it was really
    /// complete. The model's own lateness is forgotten.
    pub fn rebase(&mut self, to: Rebase) {
        self.move_work(to, |at| to.moved(at), |at| to.moved(at));
        let Rebase { begun: _, model_finish: model, measured_finish: measured } = to;
        if model == measured {
            // To begin the same rotation anew would round it once more.
            return;
        }
        let mechanism = &mut self.parts.mechanism;
        let epoch = mechanism.media(&self.model, measured).epoch;
        mechanism.relock(measured, epoch.angle(model) - epoch.angle(measured));
    }

    /// As [`Drive::rebase`], but the spindle turns on as it did (phase-locked replay): read-ahead goes on when its
    /// sectors come around, and so does what is written behind a completion.
    pub fn rebase_on_clock(&mut self, to: Rebase) {
        let turn_ns = self.parts.mechanism.turn_ns();
        self.move_work(to, |at| to.moved_by_turns(at, turn_ns), |at| to.wanted(at));
        let media = self.parts.mechanism.media(&self.model, to.measured_finish);
        self.parts.buffer.catch_sectors(&media);
    }

    /// Shifts the spindle's angle from `now` on, by at most half a turn either way. What the drive has in hand goes on with the
    /// sectors it waits for: a shift between two writes of a stream would cost the second a turn otherwise.
    pub fn relock(&mut self, now: Nanos, shift: Angle) {
        let turn_ns = self.parts.mechanism.turn_ns();
        let ahead = shift.as_turns();
        let ahead_ns = (if ahead < 0.5 { ahead } else { ahead - 1.0 } * turn_ns) as i64;
        let moved = |at: Nanos| {
            if at > now { in_time(at.0.saturating_add_signed(-ahead_ns)).max(now) } else { at }
        };
        self.parts.mechanism.relock(now, shift);
        self.parts.mechanism.rebase(moved);
        self.parts.buffer.rebase_writes(moved);
        let media = self.parts.mechanism.media(&self.model, now);
        self.parts.buffer.catch_sectors(&media);
    }

    /// `on_disk` says when work on the disk happens, `wanted` when a read wanted the arm.
    fn move_work(&mut self, to: Rebase, on_disk: impl Fn(Nanos) -> Nanos, wanted: impl Fn(Nanos) -> Nanos) {
        // What it did by itself meanwhile, it did then: later it would seem to have begun it before the measured completion.
        self.settle(to.model_finish);
        let moved = |at| to.moved(at);
        self.wake_at = None;
        if let Controller::FreeAt(at) = &mut self.controller {
            *at = moved(*at);
        }
        self.aside.rebase(moved);
        self.ahead = Ahead::default();
        self.parts.history.rebase(moved, wanted);
        self.parts.mechanism.rebase(&on_disk);
        self.parts.buffer.rebase(to);
        self.parts.buffer.rebase_writes(on_disk);
        self.parts.under_way.rebase(moved);
    }
}
