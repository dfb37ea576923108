//! A measured replay: the drive goes on from the instant at which its last command was really complete, and not from the model's.

use super::{Ahead, Controller, Drive};
use headstack_units::Nanos;

/// From the model's clock to the measured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebase {
    /// When the last command was given to the drive, on both clocks.
    pub begun: Nanos,
    /// When it was complete by the model…
    pub model_finish: Nanos,
    /// …and when it really was.
    pub measured_finish: Nanos,
}

impl Rebase {
    /// An instant as far from the measured completion as it was from the model's: of what turns with the disk.
    pub(crate) fn shifted(self, at: Nanos) -> Nanos {
        let Self { begun: _, model_finish: model, measured_finish: measured } = self;
        if measured >= model { at + (measured - model) } else { at.saturating_sub(model - measured) }
    }

    /// The same, but what was before the command was given to the drive stays where it was: since when something rests or waits.
    pub(crate) fn moved(self, at: Nanos) -> Nanos {
        if at <= self.begun { at } else { self.shifted(at).max(self.begun) }
    }
}

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
        self.parts.mechanism.cut_pause(&self.model, to.measured_finish);
        self.parts.buffer.rebase(to);
        self.parts.under_way.rebase(moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_before_the_command_stays_and_what_comes_after_it_keeps_its_distance() {
        let to = |measured_finish| Rebase {
            begun: Nanos(10),
            model_finish: Nanos(50),
            measured_finish: Nanos(measured_finish),
        };
        let moved = |measured| [3, 10, 20, 50, 70].map(|at| to(measured).moved(Nanos(at)).0);
        assert_eq!(moved(50), [3, 10, 20, 50, 70]);
        assert_eq!(moved(25), [3, 10, 10, 25, 45]);
        assert_eq!(moved(90), [3, 10, 60, 90, 110]);
        assert_eq!([3, 20, 70].map(|at| to(25).shifted(Nanos(at)).0), [0, 0, 45]);
    }
}
