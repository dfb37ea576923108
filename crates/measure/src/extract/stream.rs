//! Streams: throughput by the sizes of file and record, and what looks like a cache.

use crate::angles::median::median;
use crate::device::Mode;
use crate::record::{ProbeName, Record, Role, Sample};
use crate::streams::{StreamGrid, cell_of};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;

/// A throughput above that of the largest file by this factor comes out of a cache.
const CLEARLY_FASTER: f64 = 1.1;

/// What the probe `stream` shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Streams {
    /// What was asked for.
    pub grid: StreamGrid,
    /// The fastest that files of the largest size were read or written, in 10⁶ bytes per second: the media, or the interface.
    pub sustained_mb_per_s: Option<f64>,
    /// Each size of file and record.
    pub points: Vec<StreamPoint>,
}

/// Files of one size in records of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamPoint {
    /// "read" or "write".
    pub mode: &'static str,
    /// Size of a file, in 10⁶ bytes, as asked for.
    pub file_mb: f64,
    /// Size of a record, in KiB.
    pub record_kib: f64,
    /// Whole files that were measured.
    pub repeats: usize,
    /// Mean throughput of the files, in 10⁶ bytes per second. A file is written when it is on the media.
    pub mb_per_s: f64,
    /// 95 % confidence of the mean, half width; absent for a single file.
    pub ci95_mb_per_s: Option<f64>,
    /// Throughput of each file.
    pub files_mb_per_s: Vec<f64>,
    /// Time of a record.
    pub transfer_ms: TransferTimes,
    /// Faster than the media seem to be: a cache answered.
    pub is_cached: bool,
}

/// Times of records, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TransferTimes {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// From the probe `stream`.
pub(crate) fn streams(record: &Record) -> Option<Streams> {
    let grid = record.head.streams.clone()?;
    let mut files: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for sample in record.of(ProbeName::Stream) {
        files.entry(sample.series).or_default().push(sample);
    }
    let sector_bytes = f64::from(record.head.device.sector_bytes);
    let mut points = Vec::new();
    for cell in grid.cells(&record.head.device) {
        let of_cell = files.iter().filter(|(series, _)| cell_of(**series) == cell.number);
        // A file that was cut off, or that could not be read in parts, says nothing.
        let whole: Vec<FileOf<'_>> =
            of_cell.filter_map(|(_, samples)| FileOf::new(samples, cell.records, sector_bytes)).collect();
        if !whole.is_empty() {
            points.push(point(cell.mode, (cell.file_mb, cell.record_kib), &whole));
        }
    }
    let sustained = sustained(&points);
    for point in &mut points {
        point.is_cached = sustained.is_some_and(|most| point.mb_per_s > CLEARLY_FASTER * most);
    }
    (!points.is_empty()).then_some(Streams { grid, sustained_mb_per_s: sustained, points })
}

/// A file that was read or written whole.
struct FileOf<'a> {
    records: Vec<&'a Sample>,
    mb_per_s: f64,
}

impl<'a> FileOf<'a> {
    fn new(samples: &[&'a Sample], records: u64, sector_bytes: f64) -> Option<Self> {
        let (first, last) = (samples.first()?, samples.last()?);
        let is_written = first.mode == Mode::Write;
        let taken: Vec<&Sample> =
            samples.iter().copied().filter(|sample| sample.role == Role::Measure).collect();
        let is_whole =
            taken.len() as u64 == records && samples.len() == taken.len() + usize::from(is_written);
        let sectors: u64 = taken.iter().map(|sample| u64::from(sample.sectors)).sum();
        let seconds = last.end.saturating_sub(first.start).as_s();
        (is_whole && seconds > 0.0 && first.session == last.session)
            .then(|| Self { mb_per_s: sectors as f64 * sector_bytes / 1e6 / seconds, records: taken })
    }
}

fn point(mode: Mode, (file_mb, record_kib): (f64, f64), files: &[FileOf<'_>]) -> StreamPoint {
    let rates: Vec<f64> = files.iter().map(|file| file.mb_per_s).collect();
    let mut times: Vec<f64> =
        files.iter().flat_map(|file| file.records.iter().map(|sample| sample.latency_ms())).collect();
    times.sort_unstable_by(f64::total_cmp);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    StreamPoint {
        mode: mode.as_str(),
        file_mb,
        record_kib,
        repeats: files.len(),
        mb_per_s: mean(&rates),
        ci95_mb_per_s: ci95(&rates),
        transfer_ms: TransferTimes {
            mean: mean(&times),
            p50: median(&times),
            p99: times[(times.len() - 1) * 99 / 100],
            max: times[times.len() - 1],
        },
        files_mb_per_s: rates,
        is_cached: false,
    }
}

/// Half the width of the 95 % interval of a mean, by Student's t.
fn ci95(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok().filter(|_| values.len() > 1)?;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Some(student.inverse_cdf(0.975) * (variance / count).sqrt())
}

/// The fastest of the largest files: too large for caches that smaller ones may be in.
fn sustained(points: &[StreamPoint]) -> Option<f64> {
    let largest = points.iter().map(|point| point.file_mb).fold(f64::NAN, f64::max);
    let rates = points.iter().filter(|point| point.file_mb == largest).map(|point| point.mb_per_s);
    rates.max_by(f64::total_cmp)
}
