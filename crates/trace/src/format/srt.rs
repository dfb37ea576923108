//! HP SRT: the binary traces of HP Labs (Ruemmler & Wilkes), as `ajw.1week.srt`.
//!
//! A text header that starts `$$TR_IOREC`, a form feed, then big-endian records of 32-bit words: 0 record size in bytes;
//! 1 version (high half) and type (low half); 2, 3 seconds and microseconds of the enqueue; 4 start and 5 completion in
//! microseconds after it; 6 bytes; 7 absolute sector; 8 device (bits 8–15: disk); 9 driver; 10 cylinder; 11 flags; 12
//! origin; 13 queue length (version 4 only); 14 suspect marks (type 4 only). Types 1 (short), 2 (long) and 4 (suspect)
//! are I/Os, 3 (text) and 5–10 (file-system calls) are skipped and counted.
//!
//! Flags: 0x1 read, 0x100 asynchronous. The sector size comes from the header; a file without a header (DiskSim's `hpl2`)
//! reads with the format and the sector size named.

use headstack_units::{Lba, Nanos};

use crate::buffer::Buffer;
use crate::format::{Decoder, Format};
use crate::gate::{Gate, Place};
use crate::input::Input;
use crate::number::Problem;
use crate::text::BATCH;
use crate::{Op, OpenOptions, Request, RequestFlags, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "srt",
    about: "HP SRT: text header, form feed, big-endian binary records with measured start and completion",
    sniff: |sample| sample.bytes.starts_with(MAGIC),
    open,
};

const MAGIC: &[u8] = b"$$TR_IOREC";
const FORM_FEED: u8 = 0x0c;
const LONGEST_HEADER: usize = 16 << 20;

/// Bytes up to and including word 12, which every version has.
const SHORTEST_IO: usize = 13 * 4;
/// Bytes up to and including word 1.
const SHORTEST: usize = 2 * 4;
const LONGEST: usize = 1 << 20;

const READ: u32 = 0x1;
const ASYNCHRONOUS: u32 = 0x100;

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Decoder>, TraceError> {
    let headed = input.sample().bytes.starts_with(MAGIC);
    let path = input.path().clone();
    let mut buffer = input.into_buffer();
    let stated = if headed { sector_size(read_header(&mut buffer)?) } else { Ok(None) };
    let stated = stated.map_err(|Problem(problem)| TraceError::Record {
        path: path.to_path_buf(),
        place: "header".into(),
        problem,
        hint: None,
    })?;
    let sector_bytes = options.agreed_sector_bytes(&path, stated)?.ok_or_else(|| {
        let what =
            if headed { "the header states no `sectorsize`" } else { "it does not start with `$$TR_IOREC`" };
        TraceError::unusable(
            format!("`{}` cannot be read as srt: {what}", path.display()),
            "if it holds SRT records nevertheless, state their sector size with --sector-bytes".into(),
        )
    })?;
    Ok(Box::new(Records { buffer, sector_bytes, number: 0, skipped: 0 }))
}

/// Takes the header and its form feed out of the stream.
fn read_header(buffer: &mut Buffer) -> Result<&[u8], TraceError> {
    let mut searched = 0;
    let length = loop {
        let bytes = buffer.bytes();
        if let Some(end) = memchr::memchr(FORM_FEED, &bytes[searched..]) {
            break searched + end;
        }
        searched = bytes.len();
        if searched > LONGEST_HEADER || !buffer.refill()? {
            return Err(TraceError::Record {
                path: buffer.path().to_path_buf(),
                place: format!("byte {searched}"),
                problem: "the header does not end with a form feed".into(),
                hint: Some("the file is cut short, or was altered by a transfer in text mode".into()),
            });
        }
    };
    Ok(&buffer.take(length + 1)[..length])
}

/// The one `sectorsize = N` of all disks in the header.
fn sector_size(header: &[u8]) -> Result<Option<u32>, Problem> {
    const KEY: &[u8] = b"sectorsize";
    let mut found = None;
    for at in memchr::memmem::find_iter(header, KEY) {
        let value = header[at + KEY.len()..].trim_ascii_start();
        let Some(value) = value.strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let length = value.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(value.len());
        let size = crate::number::integer32(&value[..length], "sectorsize")?;
        if size == 0 {
            return Err(Problem("`sectorsize` is 0".into()));
        }
        match found {
            Some(other) if other != size => {
                return Err(Problem(format!(
                    "disks of different sector sizes ({other} and {size} bytes) are not supported"
                )));
            }
            _ => found = Some(size),
        }
    }
    Ok(found)
}

struct Records {
    buffer: Buffer,
    sector_bytes: u32,
    number: u64,
    skipped: u64,
}

impl Records {
    /// The file ends in a record of `wanted` bytes.
    fn cut_short(&mut self, wanted: usize, place: Place, gate: &mut Gate) -> Result<(), TraceError> {
        let left = self.buffer.bytes().len();
        self.buffer.take(left);
        gate.problem(place, cut_short(wanted, left))
    }
}

impl Decoder for Records {
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn records_skipped(&self) -> u64 {
        self.skipped
    }

    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError> {
        while batch.len() < BATCH {
            if self.buffer.bytes().is_empty() && !self.buffer.refill()? {
                break;
            }
            self.number += 1;
            let place = Place::Byte { offset: self.buffer.offset(), record: self.number };
            if !self.buffer.ensure(SHORTEST)? {
                self.cut_short(SHORTEST, place, gate)?;
                break;
            }
            let (size, kind) = (word(self.buffer.bytes(), 0) as usize, word(self.buffer.bytes(), 1) & 0xffff);
            let shortest = match kind {
                1 | 2 | 4 => SHORTEST_IO,
                3 | 5..=10 => SHORTEST,
                other => return Err(gate.error(place, Problem(format!("there is no record type {other}")))),
            };
            if !(shortest..=LONGEST).contains(&size) {
                return Err(
                    gate.error(place, Problem(format!("a record of type {kind} cannot have {size} bytes")))
                );
            }
            if !self.buffer.ensure(size)? {
                self.cut_short(size, place, gate)?;
                break;
            }
            match self.buffer.take(size).first_chunk() {
                Some(record) if matches!(kind, 1 | 2 | 4) => {
                    gate.admit(batch, request(record, self.sector_bytes), place)?;
                }
                _ => self.skipped += 1,
            }
        }
        Ok(())
    }
}

/// The request in the first bytes of an I/O record.
#[inline]
fn request(record: &[u8; SHORTEST_IO], sector_bytes: u32) -> Request {
    let word = |index| word(record, index);
    let after = |microseconds: u32| u64::from(microseconds) * 1000;
    let enqueue = u64::from(word(2)) * 1_000_000_000 + after(word(3));
    let flags = word(11);
    Request {
        arrival: Nanos(enqueue),
        start: Nanos(enqueue + after(word(4))),
        finish: Nanos(enqueue + after(word(5))),
        lba: Lba(u64::from(word(7))),
        sectors: word(6).div_ceil(sector_bytes),
        device: word(8) >> 8 & 0xff,
        op: if flags & READ == 0 { Op::Write } else { Op::Read },
        flags: if flags & ASYNCHRONOUS == 0 { RequestFlags::default() } else { RequestFlags::ASYNC },
    }
}

/// Big-endian word `index` of `bytes`.
#[inline]
fn word(bytes: &[u8], index: usize) -> u32 {
    let at = index * 4;
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cold]
fn cut_short(wanted: usize, left: usize) -> Problem {
    Problem(format!("the record is cut short: {wanted} bytes expected, {left} left in the file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes_file, read_all};

    const HEADER: &[u8] =
        b"$$TR_IOREC-1.3\0\n disks = { 0 -> { sectorsize  = 256,\n}, 1 -> { sectorsize=256 } };\n\x0c";

    fn record(version: u32, kind: u32, words: &[u32]) -> Vec<u8> {
        let size = (words.len() as u32 + 2) * 4;
        [&[size, version << 16 | kind], words].concat().iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    fn io(flags: u32) -> Vec<u32> {
        vec![7, 250_000, 40, 25_040, 8192, 171_760, 0x0800_0108, 4, 190, flags, 0, 1]
    }

    fn read(bytes: &[u8]) -> Result<Vec<Request>, TraceError> {
        read_all(bytes_file(bytes).path(), &OpenOptions::default())
    }

    #[test]
    fn words_become_a_request_and_other_types_are_counted() {
        let old = &io(0x100)[..11];
        let suspect: Vec<u32> = io(1).into_iter().chain([9]).collect();
        let file = [
            HEADER.to_vec(),
            record(4, 1, &io(0x11)),
            record(4, 3, &[1, 2, 3]),
            record(1, 2, old),
            record(4, 5, &[]),
            record(4, 4, &suspect),
        ]
        .concat();
        let file = bytes_file(&file);
        let mut reader = crate::open(file.path(), &OpenOptions::default()).unwrap();
        assert_eq!((reader.format(), reader.sector_bytes()), ("srt", 256));
        let mut batch = Vec::new();
        crate::RequestSource::next_batch(&mut reader, &mut batch).unwrap();
        let expected = Request {
            arrival: Nanos(7_250_000_000),
            start: Nanos(7_250_040_000),
            finish: Nanos(7_275_040_000),
            lba: Lba(171_760),
            sectors: 32,
            device: 1,
            op: Op::Read,
            flags: RequestFlags::default(),
        };
        let write = Request { op: Op::Write, flags: RequestFlags::ASYNC, ..expected };
        assert_eq!(batch, [expected, write, expected]);
        assert_eq!(reader.records_skipped(), 2);
    }

    #[test]
    fn lengths_round_up_and_only_the_disk_makes_the_device() {
        let mut words = io(1);
        (words[4], words[6]) = (8193, 0x0807_0108);
        let request = read(&[HEADER.to_vec(), record(4, 1, &words)].concat()).unwrap()[0];
        assert_eq!((request.sectors, request.device), (33, 1));
    }

    #[test]
    fn a_cut_record_is_placed_and_those_before_it_are_delivered() {
        let whole = [HEADER.to_vec(), record(4, 1, &io(1)), record(4, 1, &io(1))].concat();
        let file = bytes_file(&whole[..whole.len() - 1]);
        let mut reader = crate::open(file.path(), &OpenOptions::default()).unwrap();
        let mut batch = Vec::new();
        crate::RequestSource::next_batch(&mut reader, &mut batch).unwrap();
        assert_eq!(batch.len(), 1);
        let error = crate::RequestSource::next_batch(&mut reader, &mut batch).unwrap_err().to_string();
        let place = format!(
            "byte {} (record 2): the record is cut short: 56 bytes expected, 55 left",
            HEADER.len() + 56
        );
        assert!(error.contains(&place), "{error}");
        assert!(batch.is_empty());
        // A tolerant reader leaves it out, as in other formats.
        let tolerant = OpenOptions { tolerant: true, ..OpenOptions::default() };
        let mut reader = crate::open(file.path(), &tolerant).unwrap();
        crate::RequestSource::next_batch(&mut reader, &mut batch).unwrap();
        assert_eq!((batch.len(), reader.notes().bad_records), (1, 1));
        crate::RequestSource::next_batch(&mut reader, &mut batch).unwrap();
        assert!(batch.is_empty());
    }

    #[test]
    fn sizes_and_types_that_cannot_be_are_errors() {
        let sized =
            |size: u32, kind: u32| [HEADER.to_vec(), [size, kind].map(u32::to_be_bytes).concat()].concat();
        let error = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert!(error(&sized(0, 3)).contains("(record 1): a record of type 3 cannot have 0 bytes"));
        assert!(error(&sized(48, 1)).contains("a record of type 1 cannot have 48 bytes"));
        assert!(error(&sized(u32::MAX, 5)).contains("cannot have 4294967295 bytes"));
        assert!(error(&sized(56, 11)).contains("no record type 11"));
        assert!(error(&HEADER[..40]).contains("does not end with a form feed"));
        let mixed = b"$$TR_IOREC sectorsize = 256, sectorsize = 512\x0c";
        assert!(error(mixed).contains("different sector sizes (256 and 512 bytes)"));
        assert!(error(b"$$TR_IOREC\x0c").contains("states no `sectorsize`"));
    }

    #[test]
    fn records_without_a_header_need_the_sector_size() {
        let file = bytes_file(&record(4, 1, &io(1)));
        let named = OpenOptions { format: Some("srt".into()), ..OpenOptions::default() };
        assert!(read_all(file.path(), &named).unwrap_err().hint().unwrap().contains("--sector-bytes"));
        let sized = OpenOptions { sector_bytes: Some(512), ..named };
        assert_eq!(read_all(file.path(), &sized).unwrap()[0].sectors, 16);
    }
}
