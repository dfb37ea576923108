//! What a scan of the surface shows: sectors that cannot be read, reads that take long, and how fast each part is.

use crate::angles::median::median;
use crate::record::{ProbeName, Record, Sample};
use headstack_units::grouped;
use serde::Serialize;
use std::collections::BTreeMap;

/// A read is long that takes more than this, in ms, …
const LONG_MS: f64 = 1000.0;
/// … and so much for each so many sectors.
const LONG_MS_EACH: f64 = 2.0;
const LONG_SECTORS: f64 = 256.0;
/// Unreadable and long reads that are listed.
const LISTED: usize = 100;

/// What the probe `scan` shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scan {
    /// What the scan says of the device, in a sentence.
    pub verdict: String,
    /// Share of the device's sectors that was read or tried.
    pub share: f64,
    /// Reads.
    pub reads: usize,
    /// Sectors of a read.
    pub sectors_per_read: u32,
    /// Reads that failed, and were not tried again.
    pub unreadable: usize,
    /// First sectors of these, at most a hundred.
    pub unreadable_lbas: Vec<u64>,
    /// Reads that took longer than `long_ms`.
    pub long: usize,
    /// First sectors of these, at most a hundred.
    pub long_lbas: Vec<u64>,
    /// More than 1,000 ms and 2 ms for each 256 sectors.
    pub long_ms: f64,
    /// Times of the reads that did not fail.
    pub read_ms: ReadTimes,
    /// Each part of the device that was read, from the first sector to the last.
    pub parts: Vec<ScanPart>,
}

/// Times of reads, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReadTimes {
    /// Median.
    pub p50: f64,
    /// The longest.
    pub max: f64,
}

/// A part of the device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScanPart {
    /// First sector read.
    pub first_lba: u64,
    /// Speed of the reads that did not fail, in 10⁶ bytes per second; absent if all failed.
    pub mb_per_s: Option<f64>,
    /// The longest of them, in ms.
    pub longest_ms: f64,
    /// Reads that failed.
    pub unreadable: usize,
    /// Reads that took long.
    pub long: usize,
}

fn is_long(sample: &Sample) -> bool {
    sample.ok && sample.latency_ms() > long_ms(sample.sectors)
}

fn long_ms(sectors: u32) -> f64 {
    LONG_MS + LONG_MS_EACH * f64::from(sectors) / LONG_SECTORS
}

/// From the probe `scan`.
pub(super) fn scan(record: &Record) -> Option<Scan> {
    let samples: Vec<&Sample> = record.samples.iter().filter(|s| s.probe == ProbeName::Scan).collect();
    let sectors_per_read = samples.first()?.sectors;
    let mut by_part: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for sample in &samples {
        by_part.entry(sample.series).or_default().push(sample);
    }
    let (failed, good): (Vec<&Sample>, Vec<&Sample>) = samples.iter().copied().partition(|sample| !sample.ok);
    let long: Vec<&Sample> = samples.iter().copied().filter(|sample| is_long(sample)).collect();
    let tried: u64 = samples.iter().map(|sample| u64::from(sample.sectors)).sum();
    let times: Vec<f64> = good.iter().map(|sample| sample.latency_ms()).collect();
    let lbas = |of: &[&Sample]| of.iter().take(LISTED).map(|sample| sample.lba).collect();
    let mut scan = Scan {
        verdict: String::new(),
        share: tried as f64 / record.head.device.sectors as f64,
        reads: samples.len(),
        sectors_per_read,
        unreadable: failed.len(),
        unreadable_lbas: lbas(&failed),
        long: long.len(),
        long_lbas: lbas(&long),
        long_ms: long_ms(sectors_per_read),
        read_ms: ReadTimes { p50: median(&times), max: times.iter().copied().fold(0.0, f64::max) },
        parts: by_part.values().map(|samples| part(samples, record.head.device.sector_bytes)).collect(),
    };
    scan.verdict = verdict(&scan);
    Some(scan)
}

fn part(samples: &[&Sample], sector_bytes: u32) -> ScanPart {
    let good: Vec<&&Sample> = samples.iter().filter(|sample| sample.ok).collect();
    let bytes: f64 = good.iter().map(|s| f64::from(s.sectors) * f64::from(sector_bytes)).sum();
    let spent_ms: f64 = good.iter().map(|sample| sample.latency_ms()).sum();
    ScanPart {
        first_lba: samples[0].lba,
        mb_per_s: (spent_ms > 0.0).then(|| bytes / spent_ms / 1e3),
        longest_ms: good.iter().map(|sample| sample.latency_ms()).fold(0.0, f64::max),
        unreadable: samples.len() - good.len(),
        long: good.iter().filter(|sample| is_long(sample)).count(),
    }
}

fn verdict(scan: &Scan) -> String {
    let whole = scan.share > 0.999_999;
    let digits = if scan.share < 0.01 { 2 } else { 1 };
    let of = if whole {
        "the device".to_owned()
    } else {
        format!("{:.digits$} % of the device", 100.0 * scan.share)
    };
    let reads = |count: usize| match count {
        1 => "1 read".to_owned(),
        _ => format!("{} reads", grouped(count as u64)),
    };
    let limit = format!("{} ms", grouped(scan.long_ms.round() as u64));
    let rest = if whole { "" } else { "; the rest was not read" };
    if scan.unreadable > 0 {
        let first = scan.unreadable_lbas[0];
        return format!(
            "{} of {} over {of} failed, the first at sector {}: sectors there are unreadable{rest}",
            grouped(scan.unreadable as u64),
            reads(scan.reads),
            grouped(first)
        );
    }
    if scan.long > 0 {
        return format!(
            "{of} is readable, but {} took longer than {limit}, the first at sector {}: sectors that are retried, or a device or host that \
             was busy; a second scan tells which{rest}",
            reads(scan.long),
            grouped(scan.long_lbas[0])
        );
    }
    format!("{of} is readable; no read took longer than {limit}{rest}")
}
