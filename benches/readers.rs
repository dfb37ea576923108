//! Trace readers, on traces made here: records per second from a file in the page cache.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_trace::RequestSource;
use std::fmt::Write as _;
use std::path::Path;

const RECORDS: u64 = 100_000;

fn count(path: &Path) -> u64 {
    let mut reader = headstack_trace::open(path, &headstack_trace::OpenOptions::default()).expect("readable");
    let (mut batch, mut total) = (Vec::new(), 0);
    loop {
        reader.next_batch(&mut batch).expect("sound");
        if batch.is_empty() {
            return total;
        }
        total += batch.len() as u64;
    }
}

fn readers(c: &mut Criterion) {
    let folder = std::env::temp_dir().join(format!("headstack-benches-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable temporary folder");
    let mut group = c.benchmark_group("reader");
    group.throughput(Throughput::Elements(RECORDS));
    for (name, contents) in [("disksim-ascii", ascii()), ("msr", msr()), ("srt", srt())] {
        let path = folder.join(name);
        std::fs::write(&path, contents).expect("writable");
        assert_eq!(count(&path), RECORDS);
        group.bench_function(name, |b| b.iter(|| count(&path)));
    }
    group.finish();
    std::fs::remove_dir_all(&folder).expect("removable");
}

fn ascii() -> Vec<u8> {
    let mut text = String::new();
    for i in 0..RECORDS {
        writeln!(text, "{}.{:06}\t0\t{}\t8\t{}", i * 7, i, i * 97 % 2_000_000, i % 2).expect("memory");
    }
    text.into_bytes()
}

fn msr() -> Vec<u8> {
    let mut text = String::new();
    for i in 0..RECORDS {
        let ticks = 128_166_385_295_514_663 + i * 5000;
        writeln!(text, "{ticks},hm,0,Write,{},4096,2833", i * 4096 % 900_000_000).expect("memory");
    }
    text.into_bytes()
}

/// HP SRT: a text header, a form feed, big-endian records of 14 words.
fn srt() -> Vec<u8> {
    let header = "$$TR_IOREC-1.3 \nversion = 1.3;\ndisks = { 0 -> { sectorsize  = 256, } };\n";
    let mut bytes = header.as_bytes().to_vec();
    bytes.push(0x0c);
    for i in 0..RECORDS as u32 {
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

criterion_group!(benches, readers);
criterion_main!(benches);
