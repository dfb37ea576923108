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

    /// The same of when a read wanted the arm, on a disk that turns on: it was decoded soon after it was given to the drive, which was
    /// when the trace says, and what made it late came after. Microseconds decide which of several buffered writes goes first when the
    /// drive has rested, and from there the buffer holds others.
    pub(crate) fn wanted(self, at: Nanos) -> Nanos {
        if at < self.model_finish { at.min(self.measured_finish) } else { self.moved(at) }
    }

    /// The same of work on a disk that turns on, once in `turn_ns`: what the command left to be done behind it waits for the same
    /// sectors as before, so that it is late by whole turns only.
    pub(crate) fn moved_by_turns(self, at: Nanos, turn_ns: f64) -> Nanos {
        if at <= self.model_finish {
            return self.moved(at);
        }
        let late_ns = self.measured_finish.0 as f64 - self.model_finish.0 as f64;
        let turns_ns = (late_ns / turn_ns).round() * turn_ns;
        in_time(at.0.saturating_add_signed(turns_ns as i64)).max(self.begun)
    }
}

/// What rounding of instants and angles may come to, in ns.
const ROUNDING_NS: u64 = 10;

/// The end of work that was moved with the disk, in time for the sector that follows it: a nanosecond late would cost what goes
/// on behind it a turn.
pub(crate) fn in_time(moved_ns: u64) -> Nanos {
    Nanos(moved_ns.saturating_sub(ROUNDING_NS))
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

    #[test]
    fn what_was_wanted_within_the_command_stays() {
        let to = |measured_finish| Rebase {
            begun: Nanos(10),
            model_finish: Nanos(50),
            measured_finish: Nanos(measured_finish),
        };
        let wanted = |measured| [3, 20, 50, 70].map(|at| to(measured).wanted(Nanos(at)).0);
        assert_eq!(wanted(50), [3, 20, 50, 70]);
        assert_eq!(wanted(60), [3, 20, 60, 80]);
        assert_eq!(wanted(15), [3, 15, 15, 35]);
    }

    #[test]
    fn what_is_left_behind_the_command_waits_for_the_same_sectors() {
        let to = |measured_finish| Rebase {
            begun: Nanos(10),
            model_finish: Nanos(50),
            measured_finish: Nanos(measured_finish),
        };
        // Ten nanoseconds early, so that they are not late.
        let moved = |measured| [3, 20, 50, 70].map(|at| to(measured).moved_by_turns(Nanos(at), 30.0).0);
        assert_eq!(moved(50), [3, 20, 50, 60]);
        assert_eq!(moved(60), [3, 30, 60, 60]);
        assert_eq!(moved(75), [3, 45, 75, 90]);
        assert_eq!(moved(15), [3, 10, 15, 30]);
    }
}
