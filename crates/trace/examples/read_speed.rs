//! Measures how fast each format is read: `cargo run --release -p headstack-trace --example read_speed [REQUESTS]`.
//!
//! Writes a trace in every format that can be written here to a temporary directory, and reads it three times; the best
//! time counts. Prints millions of requests and megabytes per second.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use headstack_trace::{
    InMemory, Op, OpenOptions, OutputFormat, Request, RequestSource, Shaped, Shaping, Target, TraceInfo,
    convert, open, record_batch, request_schema,
};
use headstack_units::{Lba, Nanos};

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(1_000_000), |count| count.parse())?;
    let requests: Vec<Request> = (0..count).map(request).collect();
    let directory = tempfile::tempdir()?;
    let lines = |line: fn(&Request) -> String| requests.iter().map(line).collect::<String>().into_bytes();
    let files = [
        ("srt", srt(&requests)),
        (
            "disksim-ascii",
            lines(|r| format!("{:.6}\t{}\t{}\t{}\t1\n", r.arrival.as_ms(), r.device, r.lba.0, r.sectors)),
        ),
        (
            "disksim-validate",
            lines(|r| format!("R Hit {:>10} {:>3}   4000.00000   1000.00000\n", r.lba.0, r.sectors)),
        ),
        (
            "spc",
            lines(|r| format!("{},{},{},w,{:.6}\n", r.device, r.lba.0, r.sectors * 512, r.arrival.as_s())),
        ),
        ("msr", lines(msr)),
        ("mqsim", lines(|r| format!("{} {} {} {} 1\n", r.arrival.0, r.device, r.lba.0, r.sectors))),
        (
            "ssdsim",
            lines(|r| format!("7\t{}\t0\t{}\tRead\t{}\t{}\t1\n", r.arrival.0, r.device, r.lba.0, r.sectors)),
        ),
    ];
    for (name, bytes) in files {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes)?;
        measure(name, &path, count)?;
    }
    for (name, format) in [("csv", OutputFormat::Csv), ("parquet", OutputFormat::Parquet)] {
        let path = directory.path().join(name);
        let begin = Instant::now();
        convert(&mut InMemory::new(requests.clone()), 512, &path, format)?;
        println!(
            "{:18} {:7.1} M requests/s",
            format!("write {name}"),
            count as f64 / begin.elapsed().as_secs_f64() / 1e6
        );
        measure(name, &path, count)?;
    }
    let path = directory.path().join("arrow");
    let schema = request_schema(512);
    let mut writer = arrow_ipc::writer::FileWriter::try_new(std::fs::File::create(&path)?, &schema)?;
    for chunk in requests.chunks(8192) {
        writer.write(&record_batch(chunk, &schema)?)?;
    }
    writer.finish()?;
    measure("arrow", &path, count)?;

    let begin = Instant::now();
    TraceInfo::of_source(&mut InMemory::new(requests.clone()), 512)?;
    println!("{:18} {:7.1} M requests/s", "info", count as f64 / begin.elapsed().as_secs_f64() / 1e6);
    let target = Target { sector_bytes: 4096, sectors: 1 << 20 };
    let shaping = Shaping { fit: headstack_trace::FitLba::Wrap, ..Shaping::default() };
    let mut shaped = Shaped::new(InMemory::new(requests), 512, shaping, vec![target])?;
    let begin = Instant::now();
    drain(&mut shaped)?;
    println!("{:18} {:7.1} M requests/s", "shape", count as f64 / begin.elapsed().as_secs_f64() / 1e6);
    Ok(())
}

fn request(k: u64) -> Request {
    let arrival = Nanos(k * 1_234_567);
    let lba = Lba(k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 38);
    let op = if k.is_multiple_of(3) { Op::Write } else { Op::Read };
    Request { start: arrival, finish: Nanos(arrival.0 + 4_000_000), ..Request::new(arrival, op, lba, 8) }
}

fn msr(r: &Request) -> String {
    let ticks = 128_166_385_295_514_663 + r.arrival.0 / 100;
    format!("{ticks},hm,{},Read,{},{},2833\n", r.device, r.lba.0 * 512, r.sectors * 512)
}

fn srt(requests: &[Request]) -> Vec<u8> {
    let mut bytes = b"$$TR_IOREC-1.3 sectorsize = 512;\x0c".to_vec();
    for request in requests {
        let (seconds, micros) = (request.arrival.0 / 1_000_000_000, request.arrival.0 / 1000 % 1_000_000);
        let lba = request.lba.0 as u32;
        let words =
            [56, 4 << 16 | 1, seconds as u32, micros as u32, 0, 4000, 4096, lba, 0x0800_0000, 4, 0, 1, 0, 1];
        bytes.extend(words.iter().flat_map(|word: &u32| word.to_be_bytes()));
    }
    bytes
}

fn drain(source: &mut dyn RequestSource) -> Result<u64, Box<dyn Error>> {
    let (mut batch, mut total) = (Vec::new(), 0);
    loop {
        source.next_batch(&mut batch)?;
        if batch.is_empty() {
            return Ok(total);
        }
        total += batch.len() as u64;
    }
}

fn measure(name: &str, path: &Path, count: u64) -> Result<(), Box<dyn Error>> {
    let options = OpenOptions { format: Some(name.into()), ..OpenOptions::default() };
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let begin = Instant::now();
        let total = drain(&mut open(path, &options)?)?;
        assert_eq!(total, count, "{name}");
        best = best.min(begin.elapsed().as_secs_f64());
    }
    let megabytes = std::fs::metadata(path)?.len() as f64 / 1e6;
    println!("{name:18} {:7.1} M requests/s {:8.0} MB/s", count as f64 / best / 1e6, megabytes / best);
    Ok(())
}
