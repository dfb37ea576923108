//! From a block of a file system to a block of a drive: the slice table (§1.3: `ra_slices[]`).
//!
//! A minor device number names a drive and a slice of it; block numbers count from the start of the slice. A table is a
//! TOML file:
//!
//! ```toml
//! slice_bits = 3            # minor & 7 is the slice, minor >> 3 the drive
//! raw_majors = [33]         # character devices: raw transfers, swapping
//!
//! [[slice]]
//! number = 0
//! first_block = 0
//! blocks = 55692
//! ```

use std::path::Path;

use serde::Deserialize;

use super::record::TickRecord;
use crate::TraceError;

/// Where the slices of the drives lie; the same on each drive.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct SliceTable {
    /// Low bits of the minor number that name the slice.
    #[serde(default = "three")]
    pub slice_bits: u8,
    /// Major numbers of character (raw) devices; all others are block devices.
    #[serde(default)]
    pub raw_majors: Vec<u8>,
    /// The slices.
    #[serde(default)]
    pub slice: Vec<Slice>,
}

/// One slice.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Slice {
    /// Its number.
    pub number: u8,
    /// Its first block on the drive.
    pub first_block: u64,
    /// How many blocks it has.
    pub blocks: u64,
}

fn three() -> u8 {
    3
}

impl Default for SliceTable {
    /// Eight slices a drive, all beginning at block 0: blocks stay relative to their file system.
    fn default() -> Self {
        Self { slice_bits: three(), raw_majors: Vec::new(), slice: Vec::new() }
    }
}

impl SliceTable {
    /// Reads a table.
    ///
    /// # Errors
    /// If it cannot be read, is no such table, or names a slice twice.
    pub fn of_file(path: &Path) -> Result<Self, TraceError> {
        let text = std::fs::read_to_string(path).map_err(|source| TraceError::reading(path, source))?;
        let unusable = |problem: String| {
            TraceError::unusable(
                format!("{}: {problem}", path.display()),
                "a slice table holds `slice_bits`, `raw_majors`, and `[[slice]]` tables of `number`, \
                 `first_block`, `blocks`"
                    .into(),
            )
        };
        let table: Self = toml::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        if table.slice_bits > 8 {
            return Err(unusable("`slice_bits` is at most 8: a minor number has no more".into()));
        }
        let mut numbers: Vec<_> = table.slice.iter().map(|slice| slice.number).collect();
        numbers.sort_unstable();
        match numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(unusable(format!("slice {} stands there twice", pair[0]))),
            None => Ok(table),
        }
    }

    /// The number of the drive.
    pub fn drive(&self, record: &TickRecord) -> u8 {
        record.minor.checked_shr(u32::from(self.slice_bits)).unwrap_or(0)
    }

    /// The number of the slice on it.
    pub fn slice_number(&self, record: &TickRecord) -> u8 {
        record.minor & 1_u8.checked_shl(u32::from(self.slice_bits)).map_or(u8::MAX, |past| past - 1)
    }

    /// Whether the transfer went through the character device.
    pub fn is_raw(&self, record: &TickRecord) -> bool {
        self.raw_majors.contains(&record.major)
    }

    /// The block on the drive; `None` where the table says that the slice does not hold it or is not there. Without any
    /// slices blocks stay as they are.
    pub fn drive_block(&self, record: &TickRecord) -> Option<u64> {
        if self.slice.is_empty() {
            return Some(u64::from(record.block));
        }
        let number = self.slice_number(record);
        let slice = self.slice.iter().find(|slice| slice.number == number)?;
        let end = u64::from(record.block) + u64::from(record.blocks);
        (end <= slice.blocks).then(|| slice.first_block + u64::from(record.block))
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::parse;
    use super::*;
    use crate::testing::text_file;

    fn table(text: &str) -> Result<SliceTable, TraceError> {
        SliceTable::of_file(text_file(text).path())
    }

    #[test]
    fn a_block_of_a_slice_becomes_one_of_the_drive() {
        let text = "raw_majors = [33]\n[[slice]]\nnumber = 1\nfirst_block = 55692\nblocks = 62784\n";
        let table = table(text).unwrap();
        let record = parse(b"S: (32,0x11):2:R:62782:22129").unwrap();
        assert_eq!((table.drive(&record), table.slice_number(&record)), (2, 1));
        assert_eq!(table.drive_block(&record), Some(55_692 + 62_782));
        assert!(!table.is_raw(&record) && table.is_raw(&TickRecord { major: 33, ..record }));
        assert_eq!(table.drive_block(&TickRecord { block: 62_783, ..record }), None);
        assert_eq!(table.drive_block(&TickRecord { minor: 0x10, ..record }), None);
        assert_eq!(SliceTable::default().drive_block(&record), Some(62_782));
    }

    #[test]
    fn a_bad_table_is_refused() {
        let error = |text: &str| table(text).unwrap_err().to_string();
        assert!(error("[[slice]]\nnumber = 0\nfirst = 1\n").contains("first"));
        assert!(error("slice_bits = 9\n").contains("at most 8"));
        let twice = "[[slice]]\nnumber = 0\nfirst_block = 0\nblocks = 1\n".repeat(2);
        assert!(error(&twice).contains("slice 0 stands there twice"));
    }
}
