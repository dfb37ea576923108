//! Where files lie of which a trace tells only names and offsets: a model, for want of addresses.
//!
//! Space is handed out in slots of 64 MiB, one after the other, in the order in which the trace touches them: what lies in
//! one slot of a file is contiguous, files are not fragmented below a slot, and the first file touched lies at the begin of
//! the device. Distances within 64 MiB of a file are therefore the trace's; all others are the model's. One slot in memory
//! takes some 100 bytes.

use std::collections::BTreeMap;

use crate::number::Problem;

/// Bytes to a slot.
pub(crate) const SLOT: u64 = 64 << 20;

/// The slots handed out so far.
#[derive(Debug, Default)]
pub(crate) struct Placing {
    files: BTreeMap<Box<[u8]>, u64>,
    slots: BTreeMap<(u64, u64), u64>,
}

impl Placing {
    /// The address, in bytes, of an offset into a file.
    pub(crate) fn address(&mut self, file: &[u8], offset: u64) -> Result<u64, Problem> {
        let new = self.files.len() as u64;
        let number = self.files.get(file).copied().unwrap_or_else(|| {
            self.files.insert(file.into(), new);
            new
        });
        let next = self.slots.len() as u64;
        let slot = *self.slots.entry((number, offset / SLOT)).or_insert(next);
        let begin = slot.checked_mul(SLOT).and_then(|begin| begin.checked_add(offset % SLOT));
        begin.ok_or_else(|| Problem("there are too many files to be placed".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_handed_out_in_order_of_first_use() {
        let mut placing = Placing::default();
        let mut at = |file: &[u8], offset| placing.address(file, offset).unwrap();
        assert_eq!(at(b"a", 4096), 4096);
        assert_eq!(at(b"b", SLOT + 1), SLOT + 1);
        assert_eq!(at(b"a", 5 * SLOT), 2 * SLOT);
        assert_eq!(at(b"a", 8192), 8192);
        assert_eq!(at(b"b", SLOT + 4097), SLOT + 4097);
        assert_eq!(at(b"b", 0), 3 * SLOT);
    }
}
