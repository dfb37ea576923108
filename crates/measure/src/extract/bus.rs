//! The bus: what reads of several sizes take beside the media.

use crate::angles::median::{median, spread};
use crate::angles::spindle::{Spindle, wrap};
use crate::device::Mode;
use crate::memory::HitTimes;
use crate::record::series::overhead::{FROM_CACHE, FROM_MEDIA};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// A bus that takes less for a byte than this, in ms, is too fast to be seen: 10 GB/s.
const LEAST_MS_PER_BYTE: f64 = 1e-7;
/// From the media it shows where it takes more than this share of what a sector takes to pass.
const LEAST_SHARE: f64 = 0.02;

/// By how much a completion may be misread as too early, in turns.
const EARLY: f64 = 0.1;

/// A line through what reads took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Line {
    /// Without any bytes, in ms.
    pub(super) foot_ms: f64,
    /// Drive to host, in 10⁶ bytes per second, and its 95 % confidence, half width; absent where it is too fast to be seen.
    pub(super) mb_per_s: Option<(f64, f64)>,
}

/// A line through points of bytes and ms: the middle of all slopes between two of them.
fn line(points: &[(f64, f64)], least_ms_per_byte: f64) -> Option<Line> {
    if points.len() < 3 {
        return None;
    }
    let slopes: Vec<f64> = points
        .iter()
        .enumerate()
        .flat_map(|(place, a)| points[place + 1..].iter().map(move |b| (b.1 - a.1) / (b.0 - a.0)))
        .collect();
    let slope = median(&slopes);
    let feet: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    let error = spread(&slopes) / (slopes.len() as f64).sqrt();
    // Bytes per ms are 10³ bytes per second.
    let mb_per_s =
        (slope > least_ms_per_byte).then(|| (1.0 / slope / 1e3, 1.96 * error / slope / slope / 1e3));
    Some(Line { foot_ms: median(&feet), mb_per_s })
}

/// Hits of several sizes lie on a line: its foot is the overhead, its slope the bus.
pub(super) fn of_hits(record: &Record, times: &HitTimes) -> Option<Line> {
    let bytes = f64::from(record.head.device.sector_bytes);
    let mut by_size: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    let reads = record.of(ProbeName::Overhead).filter(|s| s.series == FROM_CACHE && s.role == Role::Measure);
    for sample in reads.filter(|sample| sample.mode == Mode::Read) {
        by_size.entry(sample.step).or_default().push(sample.latency_ms());
    }
    if !times.contain(median(by_size.values().next()?)) {
        return None;
    }
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (&sectors, latencies) in &by_size {
        let mut sorted = latencies.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        // Sizes that do not fit take turns; their times are spread.
        let constant =
            sorted[sorted.len() * 3 / 4] - sorted[sorted.len() / 4] < 0.02 * sorted[sorted.len() / 2] + 0.02;
        if constant {
            points.push((sectors as f64 * bytes, median(latencies)));
        }
    }
    line(&points, LEAST_MS_PER_BYTE)
}

/// Where there is no cache: reads of many sectors are complete later than the angle of the last of them says, by what the bus takes
/// for all but the first, if it is sent when all are there; if it is sent as they come, by what the bus takes longer than they.
/// The least rate and the most, in 10⁶ bytes per second; `None` where nothing shows.
pub(super) fn beside_media(
    record: &Record,
    spindle: Spindle,
    slope: impl Fn(u64) -> f64,
) -> Option<(f64, f64)> {
    let (unit, bytes) = (record.head.device.unit(), f64::from(record.head.device.sector_bytes));
    let mut by_size: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    let samples: Vec<&Sample> =
        record.of(ProbeName::Overhead).filter(|sample| sample.series == FROM_MEDIA).collect();
    for pair in samples.windows(2) {
        let [one, many] = pair else { continue };
        if (one.role, many.role, one.lba) != (Role::Angle, Role::Measure, many.lba) || !one.ok || !many.ok {
            continue;
        }
        let passing = (many.step - unit as i64) as f64 * slope(one.lba);
        // A slow bus may be late by most of a turn; none is early.
        let later = wrap(spindle.phase(many.end) - spindle.phase(one.end) - passing + EARLY) - EARLY;
        by_size.entry(many.step).or_default().push(spindle.ms(later));
    }
    let points: Vec<(f64, f64)> =
        by_size.iter().map(|(&sectors, later)| (sectors as f64 * bytes, median(later))).collect();
    let media_ms_per_byte = spindle.ms(slope(samples.first()?.lba)) / bytes;
    let (most, _) = line(&points, LEAST_SHARE * media_ms_per_byte)?.mb_per_s?;
    Some((1.0 / (1.0 / most + 1e3 * media_ms_per_byte), most))
}
