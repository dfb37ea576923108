//! VMware's vscsiStats traces, first version: 32-byte little-endian records `u32 serial, u32 bytes, u32 segments, u16 SCSI
//! operation, u16 version, u64 block, u64 time in µs`, blocks of 512 bytes. Operations that move no data are passed over.

use headstack_units::{Lba, Nanos};

use crate::buffer::Buffer;
use crate::format::{Decoder, Format};
use crate::gate::{Gate, Place};
use crate::input::Sample;
use crate::number::Problem;
use crate::text::BATCH;
use crate::{Op, Request, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "vscsi",
    about: "VMware vscsiStats, version 1: 32-byte binary records; serial, bytes, SCSI operation, block, time in us",
    sniff,
    open: |input, options| {
        let sector_bytes = options.sector_bytes_or(512);
        Ok(Box::new(Records { buffer: input.into_buffer(), sector_bytes, number: 0, skipped: 0 }))
    },
};

const RECORD: usize = 32;
/// The version as it stands in each record.
const VERSION: u16 = 0x0100;

/// The first records are all of version 1 and of SCSI operations: nothing else marks such a file.
fn sniff(sample: Sample<'_>) -> bool {
    let (records, _) = sample.bytes.as_chunks::<RECORD>();
    !records.is_empty()
        && records.iter().take(64).all(|record| record[14..16] == VERSION.to_le_bytes() && record[13] == 0)
}

/// The direction of a SCSI READ or WRITE of 6, 10, 12 or 16 bytes.
fn direction(operation: u16) -> Option<Op> {
    match operation {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a => Some(Op::Write),
        _ => None,
    }
}

struct Records {
    buffer: Buffer,
    sector_bytes: u32,
    number: u64,
    skipped: u64,
}

impl Decoder for Records {
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn records_skipped(&self) -> u64 {
        self.skipped
    }

    fn absolute_clock(&self) -> bool {
        true
    }

    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError> {
        while batch.len() < BATCH {
            self.number += 1;
            let place = Place::Byte { offset: self.buffer.offset(), record: self.number };
            let Some(record) = self.buffer.record::<RECORD>(place, gate)? else { break };
            match request(&record, self.sector_bytes) {
                Ok(Some(request)) => gate.admit(batch, request, place)?,
                Ok(None) => self.skipped += 1,
                Err(problem) => gate.problem(place, problem)?,
            }
        }
        Ok(())
    }
}

fn request(record: &[u8; RECORD], sector_bytes: u32) -> Result<Option<Request>, Problem> {
    let short = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
    let long = |at: usize| std::array::from_fn(|byte| record[at + byte]);
    let bytes = u32::from_le_bytes([record[4], record[5], record[6], record[7]]);
    if short(14) != VERSION {
        return Err(Problem(format!("the record is of version {:#x}, expected {VERSION:#x}", short(14))));
    }
    let Some(op) = direction(short(12)) else { return Ok(None) };
    let time = u64::from_le_bytes(long(24)).checked_mul(1000);
    let time = time.ok_or_else(|| Problem("the time is too large".into()))?;
    let lba = Lba(u64::from_le_bytes(long(16)));
    Ok(Some(Request::new(Nanos(time), op, lba, bytes.div_ceil(sector_bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenOptions;
    use crate::testing::{bytes_file, read_all};

    #[test]
    fn records_become_requests() {
        let mut bytes = Vec::new();
        for (operation, block, time) in [(0x28_u16, 8_u64, 1000_u64), (0x35, 0, 1500), (0x2a, 16, 2000)] {
            for word in [7_u32, 4096, 1] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(operation.to_le_bytes());
            bytes.extend(VERSION.to_le_bytes());
            bytes.extend(block.to_le_bytes());
            bytes.extend(time.to_le_bytes());
        }
        let file = bytes_file(&bytes);
        let requests = read_all(file.path(), &OpenOptions::default()).unwrap();
        let expected = [
            Request::new(Nanos(0), Op::Read, Lba(8), 8),
            Request::new(Nanos(1_000_000), Op::Write, Lba(16), 8),
        ];
        assert_eq!(requests, expected);
        bytes.truncate(90);
        let error = read_all(bytes_file(&bytes).path(), &OpenOptions::default()).unwrap_err().to_string();
        assert!(error.ends_with("byte 64 (record 3): the file ends after 26 of 32 bytes"), "{error}");
    }
}
