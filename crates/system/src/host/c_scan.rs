//! C-SCAN: upwards through the addresses, then from the bottom again.

use super::{CLook, Position, Waiting};

/// The lowest address at or above the *end* of the last command, where the heads are; if there is none, the lowest of
/// all. A driver cannot send the arm to the edge of the disk, so this differs from C-LOOK only for what begins within
/// the last command's sectors: C-LOOK takes it at once, C-SCAN on the next sweep.
#[derive(Clone, Debug, Default)]
pub struct CScan(CLook);

impl CScan {
    /// Takes a command in.
    pub fn push(&mut self, waiting: Waiting) {
        self.0.push(waiting);
    }

    /// The next of the sweep.
    pub fn pop(&mut self, position: Position) -> Option<Waiting> {
        self.0.pop_from(position.last_end)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
