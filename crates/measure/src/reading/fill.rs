//! How full a write cache gets: writes are quick until it has no room, and then wait for others to reach the media.

use super::whole::Foretold;
use crate::angles::median::{median, spread};
use crate::angles::spindle::Spindle;
use crate::record::series::write_cache::{LARGE, SMALL};
use crate::record::{ProbeName, Record, Role, Sample};

/// Writes that show how long one takes that does not wait.
pub(crate) const FIRST: usize = 9;
/// On the media, few writes of any sectors take less than this share of a revolution.
const QUICK_TURNS: f64 = 0.2;
/// A write waits that takes so many times as long as those, and by so much longer, in ms. Small ones take all the same until they
/// wait: where a slow controller takes half a millisecond for each, the media take no four times as long.
const TIMES: f64 = 4.0;
const TIMES_SMALL: f64 = 1.5;
const LONGER_MS: f64 = 0.3;
/// Writes that the cache takes at once differ by no more than this share, and this, in ms.
const ALIKE_TIMES: f64 = 1.5;
const ALIKE_MS: f64 = 0.05;
/// Large ones, of which the bus takes its time, differ by less than this, in turns.
const ALIKE_TURNS: f64 = 0.05;
/// Large ones that the cache takes at once take what writes of other sizes foretell, within this share.
const ABOUT_FORETOLD: f64 = 1.25;
/// It is full where so many of so many in a row wait: some may be seen late. Of twenty thousand, one in twenty of them late, four of six in
/// a row are once.
const WAIT: usize = 8;
const OF: usize = 12;
/// Of writes that are reported early the first one waits that another one waits behind, among so many: one alone was seen late.
const NEXT: usize = 2;

/// Writes that show how fast the cache is emptied when it has just become full.
const AT_FIRST: usize = 16;

/// What filling a write cache shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fill {
    /// Writes that it held when it was full, those left out that had reached the media by then.
    pub(crate) held: f64,
    /// Writes that it took until then, and so no less than it holds.
    pub(crate) taken: f64,
    /// Whether it got full; otherwise it holds at least that many.
    pub(crate) full: bool,
    /// From one completion to the next when it was full, in ms.
    pub(crate) each_ms: Option<f64>,
    /// A write that does not wait, in ms.
    pub(crate) quick_ms: f64,
    /// Sectors of each write.
    pub(crate) sectors: u64,
}

/// How many writes were quick, by the latencies of writes one behind the other; `None` while there is room.
pub(crate) fn until_full(series: u32, latencies_ms: &[f64]) -> Option<usize> {
    let quick = median(latencies_ms.get(1..FIRST)?);
    until_they_wait(latencies_ms, quick, if series == SMALL { TIMES_SMALL } else { TIMES })
}

/// The same of large writes, of which an empty cache may take fewer than show what one takes that does not wait: what writes of other
/// sizes foretell.
pub(crate) fn until_large_full(latencies_ms: &[f64], foretold_ms: Option<f64>) -> Option<usize> {
    match foretold_ms.filter(|&ms| is_foretold(latencies_ms, ms)) {
        Some(ms) => until_they_wait(latencies_ms, ms, TIMES_SMALL),
        None => until_full(LARGE, latencies_ms),
    }
}

/// Whether the first of large writes took what others foretell.
fn is_foretold(latencies_ms: &[f64], foretold_ms: f64) -> bool {
    latencies_ms.first().is_some_and(|&first| first < ABOUT_FORETOLD * foretold_ms + LONGER_MS)
}

fn until_they_wait(latencies_ms: &[f64], quick: f64, times: f64) -> Option<usize> {
    let waits = |latency: &f64| *latency > times * quick && *latency > quick + LONGER_MS;
    let place = latencies_ms
        .windows(OF)
        .position(|run| waits(&run[0]) && run.iter().filter(|latency| waits(latency)).count() >= WAIT)?;
    (place > 0).then_some(place)
}

/// What a large write takes that does not wait, in ms, by writes of other sizes, if the first one took that.
fn foretold_ms(record: &Record, sectors: u64, latencies_ms: &[f64]) -> Option<f64> {
    let ms = Foretold::of(record)?.ms(sectors);
    is_foretold(latencies_ms, ms).then_some(ms)
}

pub(crate) fn of(record: &Record, series: u32) -> Vec<&Sample> {
    let of_series = |sample: &&Sample| sample.series == series && sample.role == Role::Measure;
    record.of(ProbeName::WriteCache).filter(of_series).collect()
}

/// Whether the first writes of a series were too quick for the media, or all alike in spite of the angles of their sectors.
pub(crate) fn is_quick(record: &Record, series: u32, spindle: Option<Spindle>) -> bool {
    let latencies: Vec<f64> = of(record, series).iter().map(|sample| sample.latency_ms()).collect();
    let first = latencies.get(1..FIRST).map(median);
    let too_quick = first.zip(spindle).is_some_and(|(ms, spindle)| spindle.turns(ms) < QUICK_TURNS);
    too_quick || are_alike(record, series, spindle)
}

/// The least that one of the first small writes took, in ms: behind a read it may take longer.
pub(crate) fn least_ms(record: &Record, writes: u64) -> Option<f64> {
    of(record, SMALL).iter().take(writes as usize).map(|sample| sample.latency_ms()).reduce(f64::min)
}

/// Whether the first writes of a series take all the same, as a cache takes them: those that wait for the media differ by the angle
/// that they wait for.
pub(crate) fn are_alike(record: &Record, series: u32, spindle: Option<Spindle>) -> bool {
    let latencies: Vec<f64> = of(record, series).iter().map(|sample| sample.latency_ms()).collect();
    let first = latencies.get(1..FIRST).map(spread);
    first.zip(spindle).is_some_and(|(ms, spindle)| spindle.turns(ms) < ALIKE_TURNS)
}

/// Whether the cache took the first of the large writes at once.
pub(crate) fn takes_large(record: &Record, spindle: Option<Spindle>) -> bool {
    let samples = of(record, LARGE);
    let latencies: Vec<f64> = samples.iter().map(|sample| sample.latency_ms()).collect();
    let foretold =
        samples.first().and_then(|first| foretold_ms(record, u64::from(first.sectors), &latencies));
    foretold.is_some() || are_alike(record, LARGE, spindle)
}

/// How many small writes here and there were complete at once before the first one waited, if any was.
pub(crate) fn at_once(record: &Record, spindle: Option<Spindle>) -> Option<u64> {
    let latencies: Vec<f64> = of(record, SMALL).iter().map(|sample| sample.latency_ms()).collect();
    let (first, spindle) = (*latencies.first()?, spindle?);
    let quick =
        |latency: &&f64| spindle.turns(**latency) < QUICK_TURNS && **latency < ALIKE_TIMES * first + ALIKE_MS;
    let waits = |run: &[f64]| !quick(&&run[0]) && (run.len() == 1 || run[1..].iter().any(|ms| !quick(&ms)));
    let count = (0..latencies.len())
        .find(|&place| waits(&latencies[place..latencies.len().min(place + 1 + NEXT)]))
        .unwrap_or(latencies.len());
    (count > 0).then_some(count as u64)
}

/// What a series of the probe `write-cache` that fills the cache shows; `None` where there is none.
pub(crate) fn fill(record: &Record, series: u32) -> Option<Fill> {
    let samples = of(record, series);
    let latencies: Vec<f64> = samples.iter().map(|sample| sample.latency_ms()).collect();
    let usual_ms = median(latencies.get(1..FIRST)?);
    let sectors = u64::from(samples[0].sectors);
    let foretold = if series == LARGE { foretold_ms(record, sectors, &latencies) } else { None };
    let quick_ms = foretold.unwrap_or(usual_ms);
    let full =
        if series == LARGE { until_large_full(&latencies, foretold) } else { until_full(series, &latencies) };
    let Some(count) = full else {
        let taken = samples.len() as f64;
        return Some(Fill { held: taken, taken, full: false, each_ms: None, quick_ms, sectors });
    };
    let waiting = &samples[count..];
    let each = |waiting: &[&Sample]| {
        let ends_ms: Vec<f64> = waiting.iter().map(|sample| sample.end.as_ms()).collect();
        pace_ms(&ends_ms).max(1e-6)
    };
    // As fast as at first: there may be more to choose from later.
    let at_first_ms = each(&waiting[..waiting.len().min(AT_FIRST)]);
    let until_ms = samples[count].start.saturating_sub(samples[0].end).as_ms();
    // There was room for a part of the first large one that waited.
    let (more, waited_ms) = foretold.map_or((0.0, 0.0), |quick| (1.0, latencies[count] - quick));
    let gone = (until_ms + waited_ms) / at_first_ms;
    let taken = count as f64 + 1.0;
    let (held, each_ms) = ((count as f64 + more - gone).max(1.0), Some(each(waiting)));
    Some(Fill { held, taken, full: true, each_ms, quick_ms, sectors })
}

/// From one completion to the next, in ms: the median over all pairs of them. Some may be seen late: the next ones make up for it.
pub(crate) fn pace_ms(ends_ms: &[f64]) -> f64 {
    let all = ends_ms.iter().enumerate();
    let pairs = all.flat_map(|(place, end)| {
        let later = ends_ms[place + 1..].iter().zip(1_u32..);
        later.map(move |(other, count)| (other - end) / f64::from(count))
    });
    median(&pairs.collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_full_where_writes_begin_to_wait() {
        let mut latencies = vec![0.1; 40];
        latencies[20] = 30.0; // seen late
        assert_eq!(until_full(SMALL, &latencies), None);
        latencies.extend([5.0, 4.0, 0.1, 6.0, 5.0, 4.0]);
        assert_eq!(until_full(SMALL, &latencies), None, "four of six may be seen late");
        latencies.extend([3.0, 9.0, 5.0, 4.0, 0.1, 6.0]);
        assert_eq!(until_full(SMALL, &latencies), Some(40));
        assert_eq!(until_full(SMALL, &[8.0, 7.0, 9.0]), None);
        assert_eq!(until_full(SMALL, &[8.0; 50]), None);
    }

    /// A controller that takes 0.46 ms, and media that take 1.4: a cache of 181 KiB was said to hold 10,000 and more.
    #[test]
    fn writes_wait_for_quick_media_behind_a_slow_controller() {
        let mut latencies = vec![0.46; 40];
        latencies.extend([1.02, 1.39, 1.52, 1.39, 1.52, 1.53].repeat(2));
        assert_eq!(until_full(SMALL, &latencies), Some(40));
        // Large ones differ by the time that the bus is theirs.
        assert_eq!(until_full(LARGE, &latencies), None);
    }

    /// A cache of 1,777 KiB takes three writes of 512 KiB, and was said to hold 10,000.
    #[test]
    fn large_writes_wait_that_take_longer_than_foretold() {
        let latencies =
            [8.6, 8.6, 8.6, 15.2, 27.1, 24.2, 30.3, 32.6, 25.7, 29.3, 34.9, 22.6, 29.2, 24.4, 28.2, 28.3];
        assert_eq!(until_full(LARGE, &latencies), None);
        assert_eq!(until_large_full(&latencies, Some(8.6)), Some(3));
        assert_eq!(until_large_full(&latencies, None), None);
        // Of a cache that holds none of them nothing shows.
        assert_eq!(until_large_full(&latencies[4..], Some(8.6)), None);
    }
}
