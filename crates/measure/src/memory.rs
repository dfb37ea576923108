//! The device's cache as a probe must reckon with it: what its answers take, and what a drive that is only read may still
//! hold, by what was asked of it.

use crate::device::Mode;
use crate::record::Sample;
use std::collections::VecDeque;

/// Reads kept in mind, at most.
const MOST: usize = 4096;

/// What reads take that the cache answers: all of a kind take the same, so that a read from the media is hardly ever mistaken
/// for one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HitTimes {
    /// From and to, in ms.
    ranges: Vec<(f64, f64)>,
}

impl HitTimes {
    /// Ranges from and to, in ms.
    pub(crate) fn new(ranges: Vec<(f64, f64)>) -> Self {
        Self { ranges }
    }

    /// Whether the cache never answered.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether the cache answered.
    pub(crate) fn contain(&self, latency_ms: f64) -> bool {
        // Less than any command takes: a page cache, or a device that makes things up.
        latency_ms < 0.02 || self.ranges.iter().any(|range| (range.0..=range.1).contains(&latency_ms))
    }

    /// Whether a sample tells where a sector is: it was written, or read from the media.
    pub(crate) fn leave(&self, sample: &Sample) -> bool {
        sample.mode != Mode::Read || !self.contain(sample.latency_ms())
    }
}

/// How a drive caches reads, as far as the probe `cache` showed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keeps {
    /// Reads elsewhere after which nothing of one is left.
    pub(crate) others: u64,
    /// Sectors behind a read that come with it.
    pub(crate) ahead: u64,
    /// The same where it continues the read before.
    pub(crate) ahead_sequential: u64,
    /// Sectors before a read that come with it: drives that take whole tracks.
    pub(crate) before: u64,
}

/// A read: its first sector, the one behind its last, and whether it continued the one before.
#[derive(Clone, Copy, Debug)]
struct Read {
    lba: u64,
    end: u64,
    continued: bool,
}

/// The reads that a drive answered from the media, newest first.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) keeps: Keeps,
    reads: VecDeque<Read>,
}

impl Memory {
    pub(crate) fn new(keeps: Keeps) -> Self {
        Self { keeps, reads: VecDeque::new() }
    }

    /// Notes a read that went to the media.
    pub(crate) fn note(&mut self, lba: u64, sectors: u64) {
        let continued = self.reads.front().is_some_and(|last| last.end == lba);
        self.reads.push_front(Read { lba, end: lba + sectors, continued });
        self.reads.truncate(MOST);
    }

    /// Reads elsewhere until nothing of a sector can be left in the cache.
    pub(crate) fn missing(&self, lba: u64) -> u64 {
        let newest =
            self.reads.iter().take(self.keeps.others as usize).position(|read| self.holds(read, lba));
        newest.map_or(0, |age| self.keeps.others - age as u64)
    }

    fn holds(&self, read: &Read, lba: u64) -> bool {
        let ahead = if read.continued { self.keeps.ahead_sequential } else { self.keeps.ahead };
        (read.lba.saturating_sub(self.keeps.before)..read.end + ahead).contains(&lba)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_ahead_of_a_read_is_held_until_others_push_it_out() {
        let keeps = Keeps { others: 3, ahead: 100, ahead_sequential: 1000, before: 0 };
        let mut memory = Memory::new(keeps);
        memory.note(5000, 1);
        assert_eq!((memory.missing(5000), memory.missing(5100), memory.missing(5101)), (3, 3, 0));
        assert_eq!(memory.missing(4999), 0);
        memory.note(9000, 1);
        assert_eq!(memory.missing(5050), 2);
        memory.note(9001, 1);
        assert_eq!((memory.missing(9900), memory.missing(5050)), (3, 1));
        memory.note(1, 1);
        assert_eq!(memory.missing(5050), 0);
        let whole = Keeps { before: 10, ..keeps };
        let mut memory = Memory::new(whole);
        memory.note(50, 1);
        assert_eq!((memory.missing(40), memory.missing(39)), (3, 0));
    }
}
