//! Traces made here, in every format of records.

use headstack_trace::{InMemory, OpenOptions, OutputFormat, Request, RequestSource, convert, open};
use headstack_units::{Lba, Nanos, Op};
use std::path::Path;

/// The formats, by the names of their readers: all that are read by lines or records, and none that is paired.
pub const FORMATS: [&str; 19] = [
    "srt",
    "disksim-ascii",
    "disksim-validate",
    "disksim-batch",
    "spc",
    "msr",
    "mqsim",
    "ssdsim",
    "systor17",
    "tencent",
    "hfplayer",
    "vscsi",
    "emcsymm",
    "fio-iolog",
    "fio-latency",
    "biosnoop",
    "csv",
    "parquet",
    "arrow",
];

/// Writes a trace of so many requests in one of [`FORMATS`].
///
/// # Panics
/// If the file cannot be written, or the format is not in the list.
pub fn write(path: &Path, format: &str, records: u64) {
    let mut source = InMemory::new(requests(records, begin(format)));
    let format = OutputFormat::named(format).expect("all formats can be written");
    convert(&mut source, 512, path, format).expect("writable");
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

/// When a trace begins: seconds since 1970 are known for that only by their size.
fn begin(format: &str) -> Nanos {
    Nanos(if format == "tencent" { 1_538_323_200_000_000_000 } else { 0 })
}

/// Requests 7 ms apart that take 2.833 ms each.
fn requests(records: u64, begin: Nanos) -> Vec<Request> {
    let op = |i| if i % 2 == 0 { Op::Write } else { Op::Read };
    let request = |i| {
        let arrival = begin + Nanos(i * 7_000_000 + i % 1000 * 1000);
        let request = Request::new(arrival, op(i), Lba(i * 97 % 2_000_000 * 8), 8);
        Request { start: arrival, finish: arrival + Nanos(2_833_000), ..request }
    };
    (0..records).map(request).collect()
}
