//! What the mechanism spent its time on, by kind of work. Utilisation, power and explanations listen here; nothing here
//! changes what the mechanism does.

use crate::command::Work;
use headstack_units::Nanos;

/// The mechanism at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// Since when…
    pub from: Nanos,
    /// …and until when.
    pub to: Nanos,
    /// How long the coil worked for its seek; none where nobody asks for watts.
    pub coil: Nanos,
}

/// From when to when it works, and between which cylinders, as the heads at work know them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
    pub(crate) moved: (u32, u32),
}

/// Time the mechanism worked, by kind. Read-ahead counts as rest: it gives way to everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusyTimes([Nanos; Work::ALL.len()]);

impl BusyTimes {
    /// Time spent on one kind.
    pub fn of(&self, work: Work) -> Nanos {
        self.0[work as usize]
    }

    /// Time spent on all kinds together.
    pub fn total(&self) -> Nanos {
        self.0.iter().fold(Nanos::ZERO, |sum, &time| sum + time)
    }

    /// Adds times of the same kinds.
    pub(super) fn add_all(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(time, other)| *time += other);
    }

    #[inline]
    pub(super) fn add(&mut self, work: Work, time: Nanos) {
        self.0[work as usize] += time;
    }
}
