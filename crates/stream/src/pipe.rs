//! The cache: a queue in which pieces lie until they have left it.

use headstack_units::Nanos;
use std::collections::VecDeque;

/// First in, first out, with so much space.
#[derive(Debug)]
pub(crate) struct Pipe {
    size: u64,
    used: u64,
    /// When each piece leaves, and its size; they leave in order.
    pieces: VecDeque<(Nanos, u64)>,
}

impl Pipe {
    pub(crate) fn new(size: u64) -> Self {
        Self { size, used: 0, pieces: VecDeque::new() }
    }

    /// When there is room for so many bytes, from `at` on. What is larger than the cache waits until it is empty.
    pub(crate) fn room(&mut self, bytes: u64, at: Nanos) -> Nanos {
        let mut at = at;
        while let Some(&(leaves, size)) = self.pieces.front()
            && (leaves <= at || self.used + bytes > self.size)
        {
            at = at.max(leaves);
            self.used -= size;
            self.pieces.pop_front();
        }
        at
    }

    /// Whether two pieces of so many bytes fill it, and it holds two.
    pub(crate) fn holds_two(&self, bytes: u64) -> bool {
        self.size == 2 * bytes && self.pieces.len() == 2 && self.used == self.size
    }

    /// When the first piece leaves.
    pub(crate) fn front(&self) -> Option<Nanos> {
        self.pieces.front().map(|piece| piece.0)
    }

    /// Two pieces of so many bytes in place of all others.
    pub(crate) fn hold_two(&mut self, bytes: u64, leave: [Nanos; 2]) {
        self.pieces.clear();
        self.used = 0;
        for leaves in leave {
            self.hold(bytes, leaves);
        }
    }

    /// A piece comes in, and will leave at an instant.
    pub(crate) fn hold(&mut self, bytes: u64, leaves: Nanos) {
        self.used += bytes;
        self.pieces.push_back((leaves, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_waits_for_as_many_as_must_leave() {
        let mut pipe = Pipe::new(10);
        for leaves in [5, 7, 9] {
            assert_eq!(pipe.room(3, Nanos(1)), Nanos(1));
            pipe.hold(3, Nanos(leaves));
        }
        assert_eq!(pipe.room(1, Nanos(1)), Nanos(1));
        assert_eq!(pipe.room(5, Nanos(1)), Nanos(7));
        // Larger than the cache.
        assert_eq!(pipe.room(99, Nanos(8)), Nanos(9));
        assert_eq!(pipe.room(99, Nanos(9)), Nanos(9));
    }
}
