//! What the mechanism spent its time on, by kind of work. Utilisation, power and explanations listen here; nothing here
//! changes what the mechanism does.

use crate::command::Work;
use headstack_units::Nanos;
use std::collections::VecDeque;

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

/// What it did last, for one who wants to know what a command waited for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diary(VecDeque<(Work, Nanos, Nanos)>);

impl Diary {
    /// So many works are remembered.
    const LENGTH: usize = 256;

    #[cold]
    pub(super) fn note(&mut self, work: Work, from: Nanos, to: Nanos) {
        if self.0.len() == Self::LENGTH {
            self.0.pop_front();
        }
        self.0.push_back((work, from, to));
    }

    /// The works that reach into the time from `from` to `to`, cut to it.
    pub(crate) fn between(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = (Work, Nanos, Nanos)> + '_ {
        let cut = self.0.iter().map(move |&(work, begin, end)| (work, begin.max(from), end.min(to)));
        cut.filter(|(_, begin, end)| begin < end)
    }
}
