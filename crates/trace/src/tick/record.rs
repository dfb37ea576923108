//! The packed record: two 32-bit words (§1.3 of the paper).
//!
//! The paper states what each word holds and that the direction is the high-order bit of the first; the order below that
//! bit and the bit's meaning are not stated. Here, from the highest bit down:
//!
//! | word | bits | field |
//! | --- | --- | --- |
//! | 0 | 31 | 1 = read (as `B_READ` in the buffer header), 0 = write |
//! | 0 | 30–16 | device: major (7 bits), minor (8 bits) |
//! | 0 | 15–0 | tick, modulo 65,536 |
//! | 1 | 31–24 | size in blocks of 512 bytes |
//! | 1 | 23–0 | block, relative to the file system |
//!
//! A *gathered* record is 12 bytes: a 32-bit word that tells the two rings apart (0 sent, 1 received), then the two words,
//! all little-endian as on a VAX.

use headstack_units::Op;

use crate::number::Problem;

/// Bytes of a gathered record.
pub const GATHERED_BYTES: usize = 12;

/// The largest block number a record can hold.
pub const LAST_BLOCK: u32 = (1 << 24) - 1;

/// Which half of an I/O a record stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// The request entered the driver (`S`).
    Sent,
    /// The response came (`R`).
    Received,
}

/// A request or a response, as the driver saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickRecord {
    /// Request or response.
    pub half: Half,
    /// Major device number, below 128.
    pub major: u8,
    /// Minor device number: drive and slice.
    pub minor: u8,
    /// Size in blocks of 512 bytes.
    pub blocks: u8,
    /// Direction.
    pub op: Op,
    /// Block number, relative to the file system; below 2^24.
    pub block: u32,
    /// The clock, ticks modulo 65,536.
    pub tick: u16,
}

impl TickRecord {
    /// The two words. What does not fit its field (a major number above 127, a block above [`LAST_BLOCK`]) is cut off:
    /// no room is all the driver has.
    pub fn pack(&self) -> [u32; 2] {
        let read = u32::from(self.op == Op::Read) << 31;
        let device = u32::from(self.major & 0x7f) << 24 | u32::from(self.minor) << 16;
        [read | device | u32::from(self.tick), u32::from(self.blocks) << 24 | self.block & LAST_BLOCK]
    }

    /// From the two words of the ring of `half`.
    pub fn unpack(half: Half, [first, second]: [u32; 2]) -> Self {
        Self {
            half,
            major: (first >> 24 & 0x7f) as u8,
            minor: (first >> 16) as u8,
            blocks: (second >> 24) as u8,
            op: if first >> 31 == 1 { Op::Read } else { Op::Write },
            block: second & LAST_BLOCK,
            tick: first as u16,
        }
    }

    /// The gathered record.
    pub fn to_bytes(&self) -> [u8; GATHERED_BYTES] {
        let mut bytes = [0; GATHERED_BYTES];
        let words = self.pack();
        for (at, word) in [u32::from(self.half == Half::Received), words[0], words[1]].iter().enumerate() {
            bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// From a gathered record.
    pub(crate) fn from_bytes(bytes: &[u8; GATHERED_BYTES]) -> Result<Self, Problem> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let half = match word(0) {
            0 => Half::Sent,
            1 => Half::Received,
            other => {
                return Err(Problem(format!(
                    "the first word is {other:#x}: expected 0 (sent) or 1 (received)"
                )));
            }
        };
        Ok(Self::unpack(half, [word(4), word(8)]))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn any_record() -> impl Strategy<Value = TickRecord> {
        let device = (0_u8..128, any::<u8>());
        (any::<(bool, bool, u8, u16)>(), device, 0..=LAST_BLOCK).prop_map(
            |((sent, read, blocks, tick), (major, minor), block)| TickRecord {
                half: if sent { Half::Sent } else { Half::Received },
                op: if read { Op::Read } else { Op::Write },
                major,
                minor,
                blocks,
                block,
                tick,
            },
        )
    }

    #[test]
    fn the_fields_lie_where_the_table_says() {
        // S: (32,0x10):2:R:1984:22127, by hand: 0x80000000 | 32 << 24 | 0x10 << 16 | 22127.
        let record = TickRecord {
            half: Half::Sent,
            major: 32,
            minor: 0x10,
            blocks: 2,
            op: Op::Read,
            block: 1984,
            tick: 22127,
        };
        assert_eq!(record.pack(), [0xA010_566F, 0x0200_07C0]);
        let bytes = [0, 0, 0, 0, 0x6f, 0x56, 0x10, 0xa0, 0xc0, 0x07, 0, 2];
        assert_eq!(record.to_bytes(), bytes);
        assert_eq!(TickRecord { op: Op::Write, ..record }.pack()[0], 0x2010_566F);
    }

    #[test]
    fn a_word_that_is_no_half_is_refused() {
        assert!(TickRecord::from_bytes(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
    }

    proptest! {
        #[test]
        fn packed_and_unpacked_is_the_same(record in any_record()) {
            prop_assert_eq!(TickRecord::unpack(record.half, record.pack()), record);
            prop_assert_eq!(TickRecord::from_bytes(&record.to_bytes()).unwrap(), record);
        }
    }
}
