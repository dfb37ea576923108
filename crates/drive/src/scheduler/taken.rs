//! What a scheduler is told of the cache, and what it answers.

use super::waiting::Waiting;
use headstack_units::Nanos;

/// What a scheduler that knows the cache is told of it: ranges of addresses, first and one after the last.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// What reads would find.
    pub buffered: &'a [(u64, u64)],
    /// What read-ahead under way may come to hold.
    pub coming: Option<(u64, u64)>,
    /// What of it will have been read when a read has been decoded: one that begins there, or right behind, goes on as it comes.
    pub read_on: Option<(u64, u64)>,
}

/// A command chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The command.
    pub waiting: Waiting,
    /// The arm that is to serve it, of those offered.
    pub arm: usize,
    /// The choice of another, which needs the arm, is put off until then: this one goes first, and is through by then.
    pub put_off: Option<Nanos>,
}

impl Taken {
    pub(super) fn of(waiting: Waiting, arm: usize) -> Self {
        Self { waiting, arm, put_off: None }
    }
}
