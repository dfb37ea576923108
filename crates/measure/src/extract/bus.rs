//! The bus: what reads of several sizes take beside the media.

use crate::angles::median::{circular_median, median, spread};
use crate::angles::spindle::{Spindle, wrap, wrap_signed};
use crate::device::Mode;
use crate::memory::HitTimes;
use crate::record::series::overhead::{ALONG_TRACKS, FROM_CACHE, FROM_MEDIA};
use crate::record::series::write_cache::SIZES;
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
    let slopes = slopes(points);
    let slope = median(&slopes);
    let feet: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    let error = spread(&slopes) / (slopes.len() as f64).sqrt();
    // Bytes per ms are 10³ bytes per second.
    let mb_per_s =
        (slope > least_ms_per_byte).then(|| (1.0 / slope / 1e3, 1.96 * error / slope / slope / 1e3));
    Some(Line { foot_ms: median(&feet), mb_per_s })
}

/// Hits of several sizes lie on a line: its foot is the overhead, its slope the bus.
///
/// Larger reads than a segment holds come from the media again, and take one revolution as steadily as hits take less.
pub(super) fn of_hits(record: &Record, times: &HitTimes, spindle: Option<Spindle>) -> Option<Line> {
    let bytes = f64::from(record.head.device.sector_bytes);
    let mut by_size: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    let mut turned: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    let mut before: Option<&Sample> = None;
    for sample in record.of(ProbeName::Overhead).filter(|sample| sample.series == FROM_CACHE) {
        if sample.role == Role::Measure && sample.mode == Mode::Read {
            by_size.entry(sample.step).or_default().push(sample.latency_ms());
            let again = before.filter(|before| before.lba == sample.lba).zip(spindle);
            let turns = again.map(|(before, spindle)| spindle.turns((sample.end - before.end).as_ms()));
            turned.entry(sample.step).or_default().extend(turns);
        }
        before = Some(sample);
    }
    if !times.contain(median(by_size.values().next()?)) {
        return None;
    }
    keep_hits(&mut by_size, &turned);
    // Sizes that do not fit take turns; their times are spread.
    by_size.retain(|_, latencies| {
        let mut sorted = latencies.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[sorted.len() * 3 / 4] - sorted[sorted.len() / 4] < 0.02 * sorted[sorted.len() / 2] + 0.02
    });
    let sizes = by_size.iter().map(|(&sectors, latencies)| (sectors as f64 * bytes, latencies));
    of_sizes(&sizes.collect::<Vec<_>>())
}

/// Through the middle times of each size, whatever a few of them do; and then by all times that lie on that line, whose misses say how
/// well it is known. Those of slopes between the middles do not: the same few times are in most of them.
fn of_sizes(by_size: &[(f64, &Vec<f64>)]) -> Option<Line> {
    let middles: Vec<(f64, f64)> = by_size.iter().map(|(size, all)| (*size, median(all))).collect();
    let rough = line(&middles, LEAST_MS_PER_BYTE)?;
    let Some((rate, _)) = rough.mb_per_s else { return Some(rough) };
    let on_line = |size: f64, ms: f64| (ms / (rough.foot_ms + size / rate / 1e3) - 1.0).abs() < SAME_SIZE;
    let all = by_size.iter().flat_map(|(size, all)| all.iter().map(|&ms| (*size, ms)));
    let points: Vec<(f64, f64)> = all.filter(|&(size, ms)| on_line(size, ms)).collect();
    weighted(&points).or(Some(rough))
}

/// A read ends a whole revolution behind that of the same sectors before it if it misses this by less, in turns: it came from the media.
const SAME_ANGLE: f64 = 0.01;
/// Twice the sectors take the cache no more than twice the time, and what may be misread.
const TWICE: f64 = 2.2;

/// Drops the sizes from that on which the cache does not answer.
fn keep_hits(by_size: &mut BTreeMap<i64, Vec<f64>>, turned: &BTreeMap<i64, Vec<f64>>) {
    let mut last: Option<(i64, f64)> = None;
    let missed = by_size.iter().find_map(|(&sectors, latencies)| {
        let ms = median(latencies);
        let turns = turned.get(&sectors).filter(|turns| !turns.is_empty()).map_or(0.0, |turns| median(turns));
        let from_media = turns > 0.5 && (turns - turns.round()).abs() < SAME_ANGLE;
        let too_long =
            last.is_some_and(|(few, before)| ms > TWICE * before * sectors as f64 / (2 * few) as f64);
        last = Some((sectors, ms));
        (from_media || too_long).then_some(sectors)
    });
    if let Some(missed) = missed {
        by_size.retain(|&sectors, _| sectors < missed);
    }
}

/// Writes of one size into an empty cache take the same within this share: others are seen late, or wait.
const SAME_SIZE: f64 = 0.02;

/// Writes of several sizes into an empty cache lie on a line: its foot is the overhead, its slope the bus. Times are misread in
/// proportion, so that the shorter ones count for more.
pub(super) fn of_cached_writes(record: &Record) -> Option<Line> {
    let bytes = f64::from(record.head.device.sector_bytes);
    let mut by_size: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    let writes = record.of(ProbeName::WriteCache).filter(|s| s.series == SIZES && s.role == Role::Measure);
    for sample in writes.filter(|sample| sample.ok) {
        by_size.entry(sample.step).or_default().push(sample.latency_ms());
    }
    let alike = |(&sectors, all): (&i64, &Vec<f64>)| {
        let usual = median(all);
        let same: Vec<f64> = all.iter().copied().filter(|ms| (ms / usual - 1.0).abs() < SAME_SIZE).collect();
        // Most of those that had room.
        (2 * same.len() > all.len()).then(|| same.into_iter().map(move |ms| (sectors as f64 * bytes, ms)))
    };
    let points: Vec<(f64, f64)> = by_size.iter().filter_map(alike).flatten().collect();
    (by_size.len() > 2).then(|| weighted(&points)).flatten()
}

/// A straight line by least squares of relative misses.
fn weighted(points: &[(f64, f64)]) -> Option<Line> {
    let weight = |ms: f64| 1.0 / (ms * ms).max(1e-12);
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| -> f64 { points.iter().map(|&(x, y)| weight(y) * of(x, y)).sum() };
    let all = sum(&|_, _| 1.0);
    let (x, y) = (sum(&|x, _| x) / all, sum(&|_, y| y) / all);
    let spread_x = sum(&|at, _| (at - x) * (at - x));
    if points.len() < 3 || spread_x <= 0.0 {
        return None;
    }
    let slope = sum(&|at, ms| (at - x) * (ms - y)) / spread_x;
    let foot_ms = y - slope * x;
    let misses = sum(&|at, ms| (ms - foot_ms - slope * at).powi(2)) / (points.len() - 2) as f64;
    let error = (misses / spread_x).sqrt();
    let mb_per_s = (slope > LEAST_MS_PER_BYTE.max(1.96 * error))
        .then(|| (1.0 / slope / 1e3, 1.96 * error / slope / slope / 1e3));
    Some(Line { foot_ms, mb_per_s })
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
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (&sectors, later) in &by_size {
        let (size, seen) = (sectors as f64 * bytes, median(later));
        // A slow bus may be late by more than a turn: by about twice as much as for half as many.
        let foreseen = points.last().map_or(seen, |last| last.1 * size / last.0);
        points.push((size, seen + spindle.ms(spindle.turns(foreseen - seen).round())));
    }
    let media_ms_per_byte = spindle.ms(slope(samples.first()?.lba)) / bytes;
    let (most, _) = line(&points, LEAST_SHARE * media_ms_per_byte)?.mb_per_s?;
    Some((1.0 / (1.0 / most + 1e3 * media_ms_per_byte), most))
}

/// How reads of a drive with a cache come off the media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AlongTracks {
    /// All of a read is in the buffer before it is sent; `None` where the bus is too fast to tell.
    pub(super) sent_whole: Option<bool>,
    /// What passes under the head first is read first: a read that the head lands in does not end with its last sector.
    pub(super) on_arrival: bool,
}

/// A read ends where its last sector does if it misses that by less than this, in turns; …
const AT_END: f64 = 0.02;
/// … and where so many of those of a third of a track do not, they were begun where the head landed. A third of them would; seen late by
/// chance are fewer.
const LANDED: f64 = 0.2;
/// What the bus takes for a sector shows beside what a sector takes to pass if it is at least this share of it.
const LEAST_BUS: f64 = 0.15;

/// From the probe `overhead`; `bus_ms_per_byte` is known from hits.
pub(super) fn along_tracks(
    record: &Record,
    (spindle, times): (Spindle, &HitTimes),
    slope: impl Fn(u64) -> f64,
    bus_ms_per_byte: Option<f64>,
) -> AlongTracks {
    let (unit, bytes) = (record.head.device.unit(), f64::from(record.head.device.sector_bytes));
    let samples: Vec<&Sample> =
        record.of(ProbeName::Overhead).filter(|sample| sample.series == ALONG_TRACKS).collect();
    // Sectors, and by how much later than the sector before says the last of them was complete, in turns.
    let mut later: Vec<(u64, f64)> = Vec::new();
    for pair in samples.windows(2) {
        let [many, one] = pair else { continue };
        let belong = (many.role, one.role, many.lba) == (Role::Measure, Role::Angle, one.lba + unit);
        if belong && many.ok && one.ok && times.leave(one) {
            let passing = many.step as f64 * slope(many.lba);
            let turns = wrap(spindle.phase(many.end) - spindle.phase(one.end) - passing + EARLY) - EARLY;
            later.push((many.step as u64, turns));
        }
    }
    let most = later.iter().map(|read| read.0).max().unwrap_or(0);
    let of = |long: bool| later.iter().filter(move |read| (2 * read.0 > most) == long);
    let usual = circular_median(&of(true).map(|read| read.1).collect::<Vec<_>>());
    let (all, off) = of(true).fold((0, 0), |(all, off), read| {
        (all + 1, off + usize::from(wrap_signed(read.1 - usual).abs() > AT_END))
    });
    let on_arrival = all > 12 && off as f64 > LANDED * f64::from(all);
    let Some(first) = samples.first().filter(|_| !on_arrival) else {
        return AlongTracks { sent_whole: None, on_arrival };
    };
    let media_ms_per_byte = spindle.ms(slope(first.lba)) / bytes;
    let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for &(sectors, turns) in &later {
        by_size.entry(sectors).or_default().push(spindle.ms(turns));
    }
    let points: Vec<(f64, f64)> = by_size
        .iter()
        .filter(|(_, later)| later.len() > 3)
        .map(|(&sectors, later)| (sectors as f64 * bytes, median(later)))
        .collect();
    let sent_whole = bus_ms_per_byte.filter(|bus| *bus > LEAST_BUS * media_ms_per_byte).and_then(|bus| {
        let slope = Some(slopes(&points)).filter(|all| !all.is_empty()).map(|all| median(&all))?;
        // Sent as it comes, a slow bus is later by what it takes longer than the media.
        let (whole, streamed) = (bus, (bus - media_ms_per_byte).max(0.0));
        Some((slope - whole).abs() < (slope - streamed).abs())
    });
    AlongTracks { sent_whole, on_arrival }
}

/// The slopes between any two points.
fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let between = points
        .iter()
        .enumerate()
        .flat_map(|(place, a)| points[place + 1..].iter().map(move |b| (b.1 - a.1) / (b.0 - a.0)));
    between.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Twelve hits of each of seven sizes: misread by up to half a percent, one in a hundred seen late.
    fn hits(foot_ms: f64, mb_per_s: f64, random: &mut Pcg64) -> Vec<(f64, Vec<f64>)> {
        let mut hit = |size: f64| {
            let ms = (foot_ms + size / mb_per_s / 1e3) * (1.0 + 0.005 * (2.0 * random.random::<f64>() - 1.0));
            if random.random::<f64>() < 0.01 { ms - 20.0 * random.random::<f64>().ln() } else { ms }
        };
        (0..7)
            .map(|power| f64::from(512 << power))
            .map(|size| (size, (0..12).map(|_| hit(size)).collect()))
            .collect()
    }

    #[test]
    fn intervals_of_the_bus_hold_it_as_often_as_they_say() {
        let mut random = Pcg64::seed_from_u64(5);
        for (foot_ms, rate) in [(0.42, 900.0), (0.66, 20.0), (0.03, 446.0), (0.06, 45.0)] {
            let held = (0..400).filter(|_| {
                let hits = hits(foot_ms, rate, &mut random);
                let by_size: Vec<(f64, &Vec<f64>)> = hits.iter().map(|(size, all)| (*size, all)).collect();
                let (found, ci95) = of_sizes(&by_size).unwrap().mb_per_s.unwrap();
                (found - rate).abs() <= ci95
            });
            let held = held.count();
            assert!((360..=396).contains(&held), "{rate} MB/s behind {foot_ms} ms: {held} of 400");
        }
    }
}
