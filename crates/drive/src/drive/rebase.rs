//! A measured replay: the drive goes on from the instant at which its last command was really complete, and not from the model's.

use super::{Ahead, Controller, Drive};
use crate::rebase::Rebase;

impl Drive {
    /// Measured replay: arm, cache, spindle and work in progress are as after the last command, at the time when it was really
    /// complete. The model's own lateness is forgotten.
    pub fn rebase(&mut self, to: Rebase) {
        self.move_work(to);
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
    /// sectors come around.
    pub fn rebase_on_clock(&mut self, to: Rebase) {
        self.move_work(to);
        let media = self.parts.mechanism.media(&self.model, to.measured_finish);
        self.parts.buffer.catch_sectors(&media);
    }

    fn move_work(&mut self, to: Rebase) {
        // What it did by itself meanwhile, it did then: later it would seem to have begun it before the measured completion.
        self.settle(to.model_finish);
        let moved = |at| to.moved(at);
        self.wake_at = None;
        if let Controller::FreeAt(at) = &mut self.controller {
            *at = moved(*at);
        }
        self.aside.rebase(moved);
        self.ahead = Ahead::default();
        self.parts.history.rebase(moved);
        self.parts.mechanism.rebase(moved);
        self.parts.buffer.rebase(to);
        self.parts.under_way.rebase(moved);
    }
}
