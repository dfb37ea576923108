//! First come, first served.

use std::collections::VecDeque;

use super::{Position, Waiting};

/// First come, first served.
#[derive(Clone, Debug, Default)]
pub struct Fcfs(VecDeque<Waiting>);

impl Fcfs {
    /// Takes a command in.
    pub fn push(&mut self, waiting: Waiting) {
        self.0.push_back(waiting);
    }

    /// The oldest.
    pub fn pop(&mut self, _position: Position) -> Option<Waiting> {
        self.0.pop_front()
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
