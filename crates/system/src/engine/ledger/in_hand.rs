//! What of a command was done by an instant at which it is in hand.

use headstack_drive::command::{Busy, Outcome};
use headstack_units::Nanos;

/// The mechanism's work for a command that was done by `end`: as far as its phases tell when that began, and in the order in which it
/// mostly comes.
pub(super) fn work_by(outcome: &Outcome, end: Nanos) -> Busy {
    let Outcome { submitted, phases, busy, .. } = outcome;
    // The arm may set out while the command is decoded.
    let beside = busy.seek.saturating_sub(phases.seek).min(phases.overhead);
    let begun = *submitted + phases.queue + phases.other + (phases.overhead - beside);
    begun_by(busy, begun, end)
}

/// Work that began at `start`, as far as it was done by `end`.
pub(super) fn begun_by(busy: &Busy, start: Nanos, end: Nanos) -> Busy {
    busy.up_to(end.saturating_sub(start))
}

/// What commands that are in hand at the end of a run hold a bus for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BusInHand {
    /// How long in all, and of that after the end.
    held: u128,
    after: u128,
    /// How long their data take at the bus's own rate.
    data: u128,
}

impl BusInHand {
    /// One of the commands.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        self.held += u128::from(outcome.busy.bus.0);
        self.data += u128::from(outcome.bus_data.0);
    }

    /// They hold the bus for so long after the end.
    pub(crate) fn hold_after(&mut self, time_ns: u128) {
        self.after += time_ns;
    }

    /// One of them holds the bus from an instant to another, perhaps after `end`.
    pub(crate) fn hold(&mut self, (from, to): (Nanos, Nanos), end: Nanos) {
        self.hold_after(u128::from((to.max(end) - from.max(end)).0));
    }

    /// The time of the data that went over the bus by the end, where all went alike.
    pub(super) fn data(self) -> u128 {
        let before = self.held.saturating_sub(self.after);
        (self.data * before).checked_div(self.held).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_drive::command::Phases;

    fn busy(seek: u64, rotation: u64, transfer: u64) -> Busy {
        Busy { seek: Nanos(seek), rotation: Nanos(rotation), transfer: Nanos(transfer), bus: Nanos::ZERO }
    }

    #[test]
    fn the_arm_comes_first_then_the_sector_then_the_data() {
        let whole = busy(10, 20, 30);
        for (end, done) in [
            (5, (0, 0, 0)),
            (100, (0, 0, 0)),
            (104, (4, 0, 0)),
            (125, (10, 15, 0)),
            (159, (10, 20, 29)),
            (900, (10, 20, 30)),
        ] {
            assert_eq!(begun_by(&whole, Nanos(100), Nanos(end)), busy(done.0, done.1, done.2), "{end}");
        }
    }

    /// 7 ns of queue and 3 of other work before 5 of overhead; the last 2 of which the arm is on its way.
    #[test]
    fn a_command_begins_to_work_when_its_waits_are_over() {
        let phases = Phases {
            queue: Nanos(7),
            other: Nanos(3),
            overhead: Nanos(5),
            seek: Nanos(8),
            rotation: Nanos(20),
            ..Phases::default()
        };
        let outcome = Outcome { submitted: Nanos(100), phases, busy: busy(10, 20, 0), ..Outcome::default() };
        for (end, done) in [(113, (0, 0)), (114, (1, 0)), (123, (10, 0)), (124, (10, 1)), (200, (10, 20))] {
            assert_eq!(work_by(&outcome, Nanos(end)), busy(done.0, done.1, 0), "{end}");
        }
    }

    #[test]
    fn data_go_over_the_bus_while_it_is_held() {
        let mut in_hand = BusInHand::default();
        assert_eq!(in_hand.data(), 0);
        in_hand.add(&Outcome {
            busy: Busy { bus: Nanos(40), ..Busy::default() },
            bus_data: Nanos(20),
            ..Outcome::default()
        });
        assert_eq!(in_hand.data(), 20);
        in_hand.hold_after(30);
        assert_eq!(in_hand.data(), 5);
        in_hand.hold_after(30);
        assert_eq!(in_hand.data(), 0);
    }
}
