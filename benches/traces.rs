//! Traces made here, in several formats.

use headstack_trace::{InMemory, OpenOptions, OutputFormat, Request, RequestSource, convert, open};
use headstack_units::{Lba, Nanos, Op};
use std::fmt::Write as _;
use std::path::Path;

/// The formats, by the names of their readers.
pub const FORMATS: [&str; 4] = ["disksim-ascii", "msr", "srt", "parquet"];

/// Writes a trace of so many requests in one of [`FORMATS`].
///
/// # Panics
/// If the file cannot be written, or the format is not in the list.
pub fn write(path: &Path, format: &str, records: u64) {
    let contents = match format {
        "disksim-ascii" => ascii(records),
        "msr" => msr(records),
        "srt" => srt(records),
        "parquet" => {
            let mut source = InMemory::new(requests(records));
            convert(&mut source, 512, path, OutputFormat::Parquet).expect("writable");
            return;
        }
        other => panic!("no trace is made in the format {other}"),
    };
    std::fs::write(path, contents).expect("writable");
}

/// Reads a trace from end to end; how many requests it has.
///
/// # Panics
/// If it cannot be read.
pub fn count(path: &Path) -> u64 {
    let mut reader = open(path, &OpenOptions::default()).expect("readable");
    let (mut batch, mut total) = (Vec::new(), 0);
    loop {
        reader.next_batch(&mut batch).expect("sound");
        if batch.is_empty() {
            return total;
        }
        total += batch.len() as u64;
    }
}

fn requests(records: u64) -> Vec<Request> {
    let op = |i| if i % 2 == 0 { Op::Write } else { Op::Read };
    (0..records)
        .map(|i| Request::new(Nanos(i * 7_000_000 + i), op(i), Lba(i * 97 % 2_000_000 * 8), 8))
        .collect()
}

fn ascii(records: u64) -> Vec<u8> {
    let mut text = String::new();
    for i in 0..records {
        let fraction = i % 1_000_000;
        writeln!(text, "{}.{fraction:06}\t0\t{}\t8\t{}", i * 7, i * 97 % 2_000_000, i % 2).expect("memory");
    }
    text.into_bytes()
}

fn msr(records: u64) -> Vec<u8> {
    let mut text = String::new();
    for i in 0..records {
        let ticks = 128_166_385_295_514_663 + i * 5000;
        writeln!(text, "{ticks},hm,0,Write,{},4096,2833", i * 4096 % 900_000_000).expect("memory");
    }
    text.into_bytes()
}

/// HP SRT: a text header, a form feed, big-endian records of 14 words.
fn srt(records: u64) -> Vec<u8> {
    let header = "$$TR_IOREC-1.3 \nversion = 1.3;\ndisks = { 0 -> { sectorsize  = 256, } };\n";
    let mut bytes = header.as_bytes().to_vec();
    bytes.push(0x0c);
    for i in 0..records as u32 {
        let words = [
            56,
            0x0004_0001,
            i / 100,
            i % 100 * 10_000,
            10,
            20_010,
            8192,
            i % 1_000_000,
            0x0800_0008,
            4,
            0,
            i % 2,
            0,
            1,
        ];
        for word in words {
            bytes.extend(word.to_be_bytes());
        }
    }
    bytes
}
