//! I/Os that are completed, and wait for those before them.

use std::collections::VecDeque;

use crate::Io;

/// By their running number.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The number of the first.
    first: u64,
    ios: VecDeque<Option<Io>>,
}

impl Waiting {
    /// Appends one: its number.
    #[inline]
    pub(super) fn push(&mut self, io: Io) -> u64 {
        self.ios.push_back(Some(io));
        self.last()
    }

    /// The number of the one that was appended last.
    pub(super) fn last(&self) -> u64 {
        self.first + self.ios.len() as u64 - 1
    }

    pub(super) fn get(&self, number: u64) -> Option<&Io> {
        self.ios.get(number.checked_sub(self.first)? as usize)?.as_ref()
    }

    /// Takes one out, if it still waits.
    #[inline]
    pub(super) fn take(&mut self, number: u64) -> Option<Io> {
        let io = self.ios.get_mut(number.checked_sub(self.first)? as usize)?.take();
        while let Some(None) = self.ios.front() {
            self.ios.pop_front();
            self.first += 1;
        }
        io
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use headstack_units::{Lba, Nanos, Op};

    #[test]
    fn each_is_taken_once_in_any_order() {
        let mut waiting = Waiting::default();
        let io = |lba| Io::new(Request::new(Nanos(1), Op::Read, Lba(lba), 8));
        assert_eq!([5, 6, 7].map(|lba| waiting.push(io(lba))), [0, 1, 2]);
        assert_eq!(waiting.get(1), Some(&io(6)));
        assert_eq!(
            [1, 1, 0, 0].map(|number| waiting.take(number).map(|io| io.request.lba.0)),
            [Some(6), None, Some(5), None]
        );
        assert_eq!((waiting.get(1), waiting.get(2), waiting.get(3)), (None, Some(&io(7)), None));
        assert_eq!((waiting.push(io(8)), waiting.last()), (3, 3));
        assert_eq!([3, 2].map(|number| waiting.take(number).map(|io| io.request.lba.0)), [Some(8), Some(7)]);
        assert_eq!((waiting.push(io(9)), waiting.take(4)), (4, Some(io(9))));
    }
}
