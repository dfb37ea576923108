//! From the model's clock to the measured one, in a replay on the latter.

use headstack_units::Nanos;

/// A command that was really complete at another instant than the model's: from there the drive goes on.
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
