//! libCacheSim's oracleGeneral: 24-byte little-endian records `u32 seconds, u64 object, u32 bytes, i64 next access`, packed.
//!
//! It is a trace of a cache: objects have a number and a size, no address and no direction. Every access is taken for a read
//! of the whole object, and each object is placed behind the one before it, in the order in which the trace touches them, on
//! multiples of 4 KiB. Distances on the disk are therefore the model's, and what is told of arrivals is true to a second.
//! One object takes some 50 bytes of memory.

use std::collections::BTreeMap;

use headstack_units::{Lba, Nanos};

use crate::buffer::Buffer;
use crate::format::{Decoder, Format};
use crate::gate::{Gate, Place};
use crate::input::Sample;
use crate::number::Problem;
use crate::text::{BATCH, sectors_of};
use crate::{Op, Request, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "oracle-general",
    about: "libCacheSim oracleGeneral: 24-byte binary records; seconds, object, bytes, next access; objects placed in order of first access",
    sniff,
    open: |input, options| {
        let sector_bytes = options.sector_bytes_or(512);
        if !agrees(input.sample().bytes) {
            return Err(TraceError::unusable(
                format!(
                    "the records of `{}` contradict each other, read as oracleGeneral",
                    input.path().display()
                ),
                "times must ascend, sizes be above 0, and next accesses be of the same object".into(),
            ));
        }
        Ok(Box::new(Records {
            buffer: input.into_buffer(),
            sector_bytes,
            number: 0,
            objects: BTreeMap::new(),
            free: 0,
        }))
    },
};

const RECORD: usize = 24;
/// Objects begin at multiples of so many bytes.
const ALIGNED: u64 = 4096;
/// A record is checked against the record that it says is next for its object, over so many.
const CHECKED: usize = 512;

/// No trace has so many records.
const MOST: usize = 1 << 40;

struct Record {
    seconds: u32,
    object: u64,
    bytes: u32,
    /// Number of the record that accesses the object next; negative if none does.
    next: i64,
}

impl Record {
    fn of(bytes: &[u8; RECORD]) -> Self {
        let long = |at: usize| std::array::from_fn(|byte| bytes[at + byte]);
        let short = |at: usize| std::array::from_fn(|byte| bytes[at + byte]);
        Self {
            seconds: u32::from_le_bytes(short(0)),
            object: u64::from_le_bytes(long(4)),
            bytes: u32::from_le_bytes(short(12)),
            next: i64::from_le_bytes(long(16)),
        }
    }
}

/// Nothing marks such a file.
fn sniff(sample: Sample<'_>) -> bool {
    let whole = sample.bytes.len().is_multiple_of(RECORD) || !sample.complete;
    whole && sample.bytes.len() >= 2 * RECORD && agrees(sample.bytes)
}

/// Whether times ascend, next accesses lie ahead, and are of the same object where they lie in these bytes.
fn agrees(bytes: &[u8]) -> bool {
    let records: Vec<Record> = bytes.as_chunks::<RECORD>().0.iter().take(CHECKED).map(Record::of).collect();
    let later = |(number, record): (usize, &Record)| {
        let Ok(next) = usize::try_from(record.next) else { return record.next == -1 };
        // Next accesses are counted from 0 or from 1.
        let of_the_same =
            |at: usize| at > number && records.get(at).is_some_and(|other| other.object == record.object);
        next > number && next < MOST && (next >= records.len() || of_the_same(next) || of_the_same(next - 1))
    };
    records.is_sorted_by_key(|record| record.seconds)
        && records.iter().all(|record| record.bytes > 0)
        && records.iter().enumerate().all(later)
}

struct Records {
    buffer: Buffer,
    sector_bytes: u32,
    number: u64,
    /// Where each begins, in bytes.
    objects: BTreeMap<u64, u64>,
    free: u64,
}

impl Records {
    fn request(&mut self, record: &Record) -> Result<Request, Problem> {
        let free = self.free;
        let begin = *self.objects.entry(record.object).or_insert(free);
        if begin == free {
            let size = u64::from(record.bytes).next_multiple_of(ALIGNED);
            self.free = begin.checked_add(size).ok_or_else(|| Problem("the objects are too large".into()))?;
        }
        let (lba, sectors) = sectors_of(begin, u64::from(record.bytes), self.sector_bytes)?;
        let at = Nanos(u64::from(record.seconds) * 1_000_000_000);
        Ok(Request::new(at, Op::Read, Lba(lba), sectors))
    }
}

impl Decoder for Records {
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn absolute_clock(&self) -> bool {
        true
    }

    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError> {
        while batch.len() < BATCH {
            self.number += 1;
            let place = Place::Byte { offset: self.buffer.offset(), record: self.number };
            let Some(record) = self.buffer.record::<RECORD>(place, gate)? else { break };
            match self.request(&Record::of(&record)) {
                Ok(request) => gate.admit(batch, request, place)?,
                Err(problem) => gate.problem(place, problem)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenOptions;
    use crate::testing::{bytes_file, read_all};

    fn bytes(records: &[(u32, u64, u32, i64)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &(seconds, object, size, next) in records {
            bytes.extend(seconds.to_le_bytes());
            bytes.extend(object.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.extend(next.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn objects_are_placed_in_order_of_first_access() {
        let records = [(100, 7, 5000, 3), (100, 9, 512, -1), (103, 7, 5000, -1)];
        let requests = read_all(bytes_file(&bytes(&records)).path(), &OpenOptions::default()).unwrap();
        let expected = [
            Request::new(Nanos(0), Op::Read, Lba(0), 10),
            Request::new(Nanos(0), Op::Read, Lba(16), 1),
            Request::new(Nanos(3_000_000_000), Op::Read, Lba(0), 10),
        ];
        assert_eq!(requests, expected);
    }

    #[test]
    fn a_file_that_contradicts_itself_is_not_recognised() {
        let wrong = bytes(&[(100, 7, 5000, 2), (100, 9, 512, -1), (103, 8, 5000, -1)]);
        assert!(read_all(bytes_file(&wrong).path(), &OpenOptions::default()).is_err());
        let mut cut = bytes(&[(100, 7, 5000, -1), (100, 9, 512, -1), (101, 3, 512, -1)]);
        cut.truncate(70);
        let options = OpenOptions { format: Some("oracle-general".into()), ..OpenOptions::default() };
        let error = read_all(bytes_file(&cut).path(), &options).unwrap_err().to_string();
        assert!(error.ends_with("byte 48 (record 3): the file ends after 22 of 24 bytes"), "{error}");
    }
}
