//! Direction and marks of an event: the letters blkparse and the tracepoints write, the category bits of blktrace.

use headstack_units::{Op, RequestFlags};

use crate::Kind;

/// What an event says about its request beside place and size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(pub u16);

/// What an event does to the sectors of a place. Of one place halves of one side only belong together; the letters of a discard say nothing
/// of a direction, and the categories of blktrace call it a write, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Read,
    Write,
    Discard,
}

impl Marks {
    /// `R`.
    pub const READ: Self = Self(1);
    /// `W`.
    pub const WRITE: Self = Self(1 << 1);
    /// `F` in front: the write cache is emptied before.
    pub const FLUSH: Self = Self(1 << 2);
    /// `S`: somebody waits.
    pub const SYNC: Self = Self(1 << 3);
    /// A command of another protocol, passed through.
    pub const PACKET: Self = Self(1 << 4);
    /// `A`: read-ahead.
    pub const AHEAD: Self = Self(1 << 5);
    /// `M`: metadata.
    pub const META: Self = Self(1 << 6);
    /// `D`: discard.
    pub const DISCARD: Self = Self(1 << 7);
    /// `F` behind: written through the cache (force unit access).
    pub const FUA: Self = Self(1 << 8);
    /// `Z`: a command to a zone (reset, open, close, finish) that moves no data. A zone append is a write.
    pub const ZONE: Self = Self(1 << 9);

    /// Category bits of a blktrace record (already shifted down by 16), and ours.
    const CATEGORIES: [(u32, Self); 9] = [
        (1, Self::READ),
        (1 << 1, Self::WRITE),
        (1 << 2, Self::FLUSH),
        (1 << 3, Self::SYNC),
        (1 << 9, Self::PACKET),
        (1 << 11, Self::AHEAD),
        (1 << 12, Self::META),
        (1 << 13, Self::DISCARD),
        (1 << 15, Self::FUA),
    ];

    /// Whether all marks of `other` are there.
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// From the category bits of a blktrace record.
    #[inline]
    pub fn of_categories(bits: u32) -> Self {
        // The bits stand in four runs: 0–3, 9, 11–13, 15.
        let marks = bits & 0xf | bits >> 5 & 1 << 4 | bits >> 6 & 0x7 << 5 | bits >> 7 & 1 << 8;
        let marks = Self(marks as u16);
        if bits & Self::ZONE_CATEGORIES != 0 { Self::ZONE } else { marks }
    }

    /// Category bits of version 8 for zones: reset, reset all, finish, open, close. That of an append (16) says nothing
    /// beside the bit of a write.
    const ZONE_CATEGORIES: u32 = 0x1f << 17;

    /// The category bits of a blktrace record.
    pub fn categories(self) -> u32 {
        Self::CATEGORIES.iter().filter(|(_, mark)| self.has(*mark)).fold(0, |bits, (bit, _)| bits | bit)
    }

    /// LTTng's bits of `rwbs` (its block.h, `RWBS_FLAG_…`), with the mark that each is.
    const LTTNG: [(u64, Self); 11] = [
        (1, Self::WRITE),
        (1 << 1, Self::DISCARD),
        (1 << 2, Self::READ),
        (1 << 3, Self::AHEAD),
        // Barriers, of old kernels, empty the cache before.
        (1 << 4, Self::FLUSH),
        (1 << 5, Self::SYNC),
        (1 << 6, Self::META),
        // A secure discard.
        (1 << 7, Self::DISCARD),
        (1 << 8, Self::FLUSH),
        (1 << 9, Self::FUA),
        (1 << 10, Self::FLUSH),
    ];

    /// From the bits LTTng writes; `None` if there is another bit.
    pub fn of_lttng(bits: u64) -> Option<Self> {
        let marks = Self::LTTNG.iter().filter(|(bit, _)| bits & bit != 0);
        (bits < 1 << Self::LTTNG.len()).then(|| marks.fold(Self::default(), |all, (_, mark)| all.with(*mark)))
    }

    /// The bits LTTng writes.
    pub fn lttng_bits(self) -> u64 {
        // Of several bits with one meaning: a flush before the request, a plain discard.
        let bits = Self::LTTNG.iter().filter(|(bit, _)| ![1 << 4, 1 << 7, 1 << 8].contains(bit));
        bits.filter(|(_, mark)| self.has(*mark)).fold(0, |bits, (bit, _)| bits | bit)
    }

    /// From letters such as `WS`, `FWFS`, `RA`, `DS`, `N`; `None` if there is another letter.
    #[inline]
    pub fn of_letters(word: &[u8]) -> Option<Self> {
        let mut marks = Self::default();
        if let Some((b'Z', command)) = word.split_first() {
            // ZA appends; ZR, ZRA, ZO, ZC and ZF reset, open, close and finish.
            return Some(match command {
                [b'A'] => Self::WRITE,
                [b'A', marks @ ..] => Self::WRITE.with(Self::of_letters(marks)?),
                _ => Self::ZONE,
            });
        }
        for (at, letter) in word.iter().enumerate() {
            marks = marks.with(match letter {
                b'R' => Self::READ,
                b'W' => Self::WRITE,
                b'F' if at == 0 => Self::FLUSH,
                b'F' => Self::FUA,
                b'S' => Self::SYNC,
                b'A' => Self::AHEAD,
                b'M' => Self::META,
                b'D' | b'E' => Self::DISCARD,
                // Nothing moves; an atomic write; a boundary.
                b'N' | b'U' | b'B' => Self::default(),
                _ => return None,
            });
        }
        (!word.is_empty()).then_some(marks)
    }

    /// The letters blkparse writes.
    pub fn letters(self) -> String {
        let mut letters = String::new();
        let direction = [(Self::WRITE, 'W'), (Self::DISCARD, 'D'), (Self::READ, 'R')];
        if self.has(Self::FLUSH) {
            letters.push('F');
        }
        letters.push(match () {
            () if self.has(Self::DISCARD) => 'D',
            () => direction.iter().find(|(mark, _)| self.has(*mark)).map_or('N', |(_, letter)| *letter),
        });
        for (mark, letter) in [(Self::FUA, 'F'), (Self::AHEAD, 'A'), (Self::SYNC, 'S'), (Self::META, 'M')] {
            if self.has(mark) {
                letters.push(letter);
            }
        }
        letters
    }

    /// Whether it reads, writes or discards: the same in all formats.
    #[inline]
    pub(crate) fn side(self) -> Side {
        if self.has(Self::DISCARD) {
            Side::Discard
        } else if self.has(Self::WRITE) {
            Side::Write
        } else {
            Side::Read
        }
    }

    /// Read unless it says write (a discard does).
    #[inline]
    pub fn op(self) -> Op {
        if self.has(Self::WRITE) || self.has(Self::DISCARD) { Op::Write } else { Op::Read }
    }

    /// What the drive is told beside place and size: to flush its cache first, and to write to the media.
    pub fn request_flags(self) -> RequestFlags {
        let told = [(Self::FUA, RequestFlags::FORCE_MEDIA), (Self::FLUSH, RequestFlags::FLUSH)];
        let given = told.iter().filter(|(mark, _)| self.has(*mark));
        given.fold(RequestFlags::default(), |flags, &(_, flag)| flags.with(flag))
    }

    /// What an I/O with these marks and so many bytes does.
    #[inline]
    pub fn kind(self, bytes: u32) -> Kind {
        if self.has(Self::ZONE) {
            Kind::Other
        } else if self.has(Self::DISCARD) {
            Kind::Discard
        } else if bytes > 0 && !self.has(Self::PACKET) {
            Kind::Data
        } else if self.has(Self::FLUSH) {
            Kind::Flush
        } else {
            Kind::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_understood_and_written() {
        for letters in ["R", "W", "WS", "FN", "FWFS", "RA", "RSM", "DS", "N", "WFSM"] {
            assert_eq!(Marks::of_letters(letters.as_bytes()).unwrap().letters(), letters);
        }
        assert_eq!(Marks::of_letters(b"X"), None);
        let what = |letters: &[u8]| {
            let marks = Marks::of_letters(letters).unwrap();
            (marks.op(), marks.kind(4096))
        };
        assert_eq!(what(b"ZA"), (Op::Write, Kind::Data));
        assert_eq!(what(b"ZAS"), (Op::Write, Kind::Data));
        for reset in [&b"ZR"[..], b"ZRA", b"ZO", b"ZC", b"ZF"] {
            assert_eq!(what(reset).1, Kind::Other);
        }
        assert_eq!(Marks::of_categories(1 << 17 | 2).kind(4096), Kind::Other);
        assert_eq!(Marks::of_categories(1 << 16 | 2).kind(4096), Kind::Data);
        assert_eq!(Marks::of_letters(b""), None);
        assert_eq!(Marks::of_letters(b"FN").unwrap().kind(0), Kind::Flush);
        assert_eq!(Marks::of_letters(b"FWS").unwrap().kind(4096), Kind::Data);
        assert_eq!(Marks::of_letters(b"D").unwrap().kind(4096), Kind::Discard);
        assert_eq!(Marks::of_letters(b"N").unwrap().kind(0), Kind::Other);
    }

    #[test]
    fn categories_agree_with_the_table() {
        for bits in 0..0x1_0000 {
            let by_table = Marks::CATEGORIES
                .iter()
                .filter(|(bit, _)| bits & bit != 0)
                .fold(Marks::default(), |marks, (_, mark)| marks.with(*mark));
            assert_eq!(Marks::of_categories(bits), by_table, "{bits:#x}");
            assert_eq!(Marks::of_categories(by_table.categories()), by_table);
        }
    }
}
