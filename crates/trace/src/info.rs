//! What is in a trace: counts, sizes, rates, locality, measured times; in one pass.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;

use headstack_units::Nanos;

use crate::distribution::Distribution;
use crate::intervals::Intervals;
use crate::{Op, OpenOptions, Request, RequestSource, TraceError, TraceReader, open};

/// What is in a trace. Memory is bounded: 80 MB for quantiles of each of two times, 100 MB for the footprint, at most.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceInfo {
    /// The name of the format; empty if the requests come from elsewhere.
    pub format: &'static str,
    /// Bytes to a sector.
    pub sector_bytes: u32,
    /// Number of requests.
    pub requests: u64,
    /// Of them reads.
    pub reads: u64,
    /// Of them writes.
    pub writes: u64,
    /// Reads ÷ requests; 0 without requests.
    pub read_fraction: f64,
    /// Records passed over: those that are no I/O, and skipped requests of length zero.
    pub records_skipped: u64,
    /// Whether the records of the file are in order of arrival (only with `sort` can they be anything else).
    pub in_order: bool,
    /// First arrival, seconds.
    pub first_arrival_s: f64,
    /// Last arrival minus the first, seconds.
    pub span_s: f64,
    /// Requests ÷ span; 0 without a span.
    pub requests_per_s: f64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Request sizes.
    pub sizes: SizeSummary,
    /// Different sectors touched, all devices together.
    pub footprint_sectors: u64,
    /// 1: the footprint is exact. Otherwise it had more than two million pieces, and is an upper bound counted on a grid of
    /// this many sectors.
    pub footprint_grid_sectors: u64,
    /// The highest sector touched, on any device.
    pub highest_lba: u64,
    /// Requests that begin where the one before on the same device ended ÷ requests.
    pub sequential_fraction: f64,
    /// Times between arrivals, all devices together; absent with fewer than two requests.
    pub inter_arrival: Option<TimeSummary>,
    /// Measured service (start to finish), where the trace has it.
    pub service: Option<TimeSummary>,
    /// Measured response (arrival to finish), where the trace has it.
    pub response: Option<TimeSummary>,
    /// The most requests between arrival and measured finish at one time, all devices together; 0 where not measured.
    pub max_outstanding: u64,
    /// Device by device, ascending.
    pub devices: Vec<DeviceInfo>,
}

/// What a trace holds of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceInfo {
    /// Its number in the trace.
    pub device: u32,
    /// Number of requests.
    pub requests: u64,
    /// Of them reads.
    pub reads: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// The lowest sector touched.
    pub lowest_lba: u64,
    /// The highest sector touched.
    pub highest_lba: u64,
    /// Different sectors touched (see [`TraceInfo::footprint_grid_sectors`]).
    pub footprint_sectors: u64,
    /// Requests that begin where the one before ended ÷ requests.
    pub sequential_fraction: f64,
    /// The most requests between measured start and finish at one time: 1 means that services never overlap, 0 that they
    /// were not measured.
    pub max_in_service: u64,
}

/// The sizes of the requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeSummary {
    /// Mean, bytes.
    pub mean_bytes: f64,
    /// Smallest, bytes.
    pub min_bytes: u64,
    /// Largest, bytes.
    pub max_bytes: u64,
    /// The eight commonest sizes in bytes with their counts, commonest first, smaller first among equals.
    pub common: Vec<(u64, u64)>,
}

/// A distribution of times.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSummary {
    /// How many.
    pub count: u64,
    /// Mean.
    pub mean_ms: f64,
    /// Standard deviation (of all, not of a sample: divided by the count).
    pub std_ms: f64,
    /// Smallest.
    pub min_ms: f64,
    /// Median: the smallest value that half of all do not exceed (no interpolation; so below).
    pub p50_ms: f64,
    /// 90 %.
    pub p90_ms: f64,
    /// 95 %.
    pub p95_ms: f64,
    /// 99 %.
    pub p99_ms: f64,
    /// 99.9 %.
    pub p999_ms: f64,
    /// Largest.
    pub max_ms: f64,
    /// Whether quantiles are exact; beyond ten million values they are within 0.05 %.
    pub exact: bool,
}

impl TraceInfo {
    /// Reads the trace at `path` through.
    ///
    /// # Errors
    /// Whatever keeps it from being opened or read to its end.
    pub fn of_file(path: &Path, options: &OpenOptions) -> Result<Self, TraceError> {
        Self::of_reader(&mut open(path, options)?)
    }

    /// Reads the rest of a trace.
    ///
    /// # Errors
    /// Whatever keeps it from being read to its end.
    pub fn of_reader(reader: &mut TraceReader) -> Result<Self, TraceError> {
        let sector_bytes = reader.sector_bytes();
        let info = Self::of_source(reader, sector_bytes)?;
        let (format, records_skipped, in_order) =
            (reader.format(), reader.records_skipped(), reader.in_order());
        Ok(Self { format, records_skipped, in_order, ..info })
    }

    /// Reads the rest of any stream of requests, in sectors of `sector_bytes`.
    ///
    /// # Errors
    /// The source's.
    pub fn of_source(source: &mut dyn RequestSource, sector_bytes: u32) -> Result<Self, TraceError> {
        let mut survey = Survey::default();
        let mut batch = Vec::new();
        loop {
            source.next_batch(&mut batch)?;
            if batch.is_empty() {
                return Ok(survey.finish(u64::from(sector_bytes)));
            }
            for request in &batch {
                survey.push(request);
            }
        }
    }
}

/// Sizes beyond so many different ones are not told apart.
const MOST_SIZES: usize = 1 << 16;

#[derive(Default)]
struct Survey {
    devices: BTreeMap<u32, DeviceSurvey>,
    sizes: BTreeMap<u32, u64>,
    footprint: Intervals,
    /// The earliest arrival, the latest, and the one before.
    first: Option<Nanos>,
    latest: Nanos,
    last: Nanos,
    unordered: bool,
    sectors: [u128; 2],
    smallest: Option<u32>,
    largest: u32,
    inter_arrival: Distribution,
    service: Distribution,
    response: Distribution,
    outstanding: Overlap,
}

#[derive(Default)]
struct DeviceSurvey {
    requests: u64,
    reads: u64,
    sectors: u128,
    lowest: Option<u64>,
    end: u64,
    previous_end: Option<u64>,
    sequential: u64,
    in_service: Overlap,
}

impl Survey {
    fn push(&mut self, request: &Request) {
        let (first, end) = (request.lba.0, request.lba.0.saturating_add(u64::from(request.sectors)));
        if self.first.is_some() {
            self.unordered |= request.arrival < self.last;
            self.inter_arrival.push(request.arrival.saturating_sub(self.last));
        }
        self.first = Some(self.first.unwrap_or(Nanos::MAX).min(request.arrival));
        self.latest = self.latest.max(request.arrival);
        self.last = request.arrival;
        self.sectors[usize::from(request.op == Op::Write)] += u128::from(request.sectors);
        self.smallest = Some(self.smallest.unwrap_or(u32::MAX).min(request.sectors));
        self.largest = self.largest.max(request.sectors);
        if self.sizes.len() < MOST_SIZES || self.sizes.contains_key(&request.sectors) {
            *self.sizes.entry(request.sectors).or_default() += 1;
        }
        self.footprint.insert(request.device, first, end);
        let device = self.devices.entry(request.device).or_default();
        device.requests += 1;
        device.reads += u64::from(request.op == Op::Read);
        device.sectors += u128::from(request.sectors);
        device.lowest = Some(device.lowest.unwrap_or(u64::MAX).min(first));
        device.end = device.end.max(end);
        device.sequential += u64::from(device.previous_end == Some(first));
        device.previous_end = Some(end);
        if let Some(response) = request.measured_response() {
            self.response.push(response);
        }
        if let Some(finish) = request.finish.present() {
            self.outstanding.push(request.arrival, request.arrival, finish);
            if let Some(start) = request.start.present() {
                self.service.push(finish.saturating_sub(start));
                device.in_service.push(request.arrival, start, finish);
            }
        }
    }

    fn finish(self, sector_bytes: u64) -> TraceInfo {
        let requests: u64 = self.devices.values().map(|device| device.requests).sum();
        let reads = self.devices.values().map(|device| device.reads).sum();
        let sequential: u64 = self.devices.values().map(|device| device.sequential).sum();
        let span_s = self.latest.saturating_sub(self.first.unwrap_or_default()).as_s();
        let bytes = |sectors: u128| u64::try_from(sectors * u128::from(sector_bytes)).unwrap_or(u64::MAX);
        let [read, written] = self.sectors;
        let (footprints, grid) = self.footprint.into_totals();
        let devices = self
            .devices
            .into_iter()
            .zip(&footprints)
            .map(|((number, device), &(_, footprint))| device.finish(number, footprint, bytes));
        let devices: Vec<_> = devices.collect();
        TraceInfo {
            format: "",
            sector_bytes: sector_bytes as u32,
            requests,
            reads,
            writes: requests - reads,
            read_fraction: ratio(reads, requests),
            records_skipped: 0,
            in_order: !self.unordered,
            first_arrival_s: self.first.unwrap_or_default().as_s(),
            span_s,
            requests_per_s: if span_s > 0.0 { requests as f64 / span_s } else { 0.0 },
            bytes_read: bytes(read),
            bytes_written: bytes(written),
            sizes: SizeSummary {
                mean_bytes: if requests == 0 {
                    0.0
                } else {
                    ((read + written) * u128::from(sector_bytes)) as f64 / requests as f64
                },
                min_bytes: u64::from(self.smallest.unwrap_or(0)) * sector_bytes,
                max_bytes: u64::from(self.largest) * sector_bytes,
                common: commonest(&self.sizes, sector_bytes),
            },
            footprint_sectors: footprints.iter().map(|&(_, sectors)| sectors).fold(0, u64::saturating_add),
            footprint_grid_sectors: grid,
            highest_lba: devices.iter().map(|device| device.highest_lba).max().unwrap_or(0),
            sequential_fraction: ratio(sequential, requests),
            inter_arrival: self.inter_arrival.summary(),
            service: self.service.summary(),
            response: self.response.summary(),
            max_outstanding: self.outstanding.finish(),
            devices,
        }
    }
}

impl DeviceSurvey {
    fn finish(self, device: u32, footprint_sectors: u64, bytes: impl Fn(u128) -> u64) -> DeviceInfo {
        DeviceInfo {
            device,
            requests: self.requests,
            reads: self.reads,
            bytes: bytes(self.sectors),
            lowest_lba: self.lowest.unwrap_or(0),
            highest_lba: self.end.saturating_sub(1),
            footprint_sectors,
            sequential_fraction: ratio(self.sequential, self.requests),
            max_in_service: self.in_service.finish(),
        }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn commonest(sizes: &BTreeMap<u32, u64>, sector_bytes: u64) -> Vec<(u64, u64)> {
    let mut sizes: Vec<_> =
        sizes.iter().map(|(&sectors, &count)| (u64::from(sectors) * sector_bytes, count)).collect();
    sizes.sort_by_key(|&(_, count)| Reverse(count));
    sizes.truncate(8);
    sizes
}

/// How many intervals of time overlap at most. Memory: those that overlap.
///
/// Intervals come in order of a clock that none of them, now or later, starts before.
#[derive(Default)]
struct Overlap {
    waiting: BinaryHeap<Reverse<(Nanos, Nanos)>>,
    running: BinaryHeap<Reverse<Nanos>>,
    most: u64,
}

impl Overlap {
    fn push(&mut self, clock: Nanos, start: Nanos, finish: Nanos) {
        self.waiting.push(Reverse((start, finish)));
        self.run_until(clock);
    }

    /// Starts what starts before `until`: everything that can come later starts then or after.
    fn run_until(&mut self, until: Nanos) {
        while let Some(&Reverse((start, finish))) = self.waiting.peek() {
            if start > until {
                break;
            }
            self.waiting.pop();
            while self.running.peek().is_some_and(|&Reverse(finish)| finish <= start) {
                self.running.pop();
            }
            self.running.push(Reverse(finish));
            self.most = self.most.max(self.running.len() as u64);
        }
    }

    fn finish(mut self) -> u64 {
        self.run_until(Nanos::MAX);
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InMemory;
    use headstack_units::Lba;

    fn request(arrival: u64, op: Op, lba: u64, sectors: u32, device: u32) -> Request {
        Request { device, ..Request::new(Nanos(arrival * 1_000_000), op, Lba(lba), sectors) }
    }

    fn measured(request: Request, start: u64, finish: u64) -> Request {
        Request { start: Nanos(start * 1_000_000), finish: Nanos(finish * 1_000_000), ..request }
    }

    #[test]
    fn a_small_trace_counted_by_hand() {
        let requests = vec![
            measured(request(1000, Op::Read, 100, 8, 0), 1000, 1010),
            measured(request(1001, Op::Write, 108, 8, 0), 1010, 1016),
            measured(request(1001, Op::Read, 0, 2, 5), 1002, 1003),
            measured(request(1005, Op::Read, 104, 16, 0), 1016, 1017),
            request(3000, Op::Read, 2, 8, 5),
        ];
        let info = TraceInfo::of_source(&mut InMemory::new(requests), 512).unwrap();
        assert_eq!((info.requests, info.reads, info.writes, info.read_fraction), (5, 4, 1, 0.8));
        assert_eq!((info.first_arrival_s, info.span_s, info.requests_per_s), (1.0, 2.0, 2.5));
        assert_eq!((info.bytes_read, info.bytes_written), (34 * 512, 8 * 512));
        assert_eq!(info.sizes.common, [(4096, 3), (1024, 1), (8192, 1)]);
        assert_eq!(
            (info.sizes.mean_bytes, info.sizes.min_bytes, info.sizes.max_bytes),
            (42.0 * 512.0 / 5.0, 1024, 8192)
        );
        assert_eq!((info.footprint_sectors, info.footprint_grid_sectors, info.highest_lba), (30, 1, 119));
        assert_eq!(info.sequential_fraction, 0.4);
        assert_eq!((info.in_order, info.max_outstanding), (true, 3));
        let gaps = info.inter_arrival.unwrap();
        assert_eq!((gaps.count, gaps.mean_ms, gaps.p50_ms, gaps.max_ms), (4, 500.0, 1.0, 1995.0));
        let (service, response) = (info.service.unwrap(), info.response.unwrap());
        assert_eq!((service.count, service.mean_ms, service.min_ms), (4, 4.5, 1.0));
        assert_eq!((response.mean_ms, response.max_ms), (9.75, 15.0));
        let zero = DeviceInfo {
            device: 0,
            requests: 3,
            reads: 2,
            bytes: 32 * 512,
            lowest_lba: 100,
            highest_lba: 119,
            footprint_sectors: 20,
            sequential_fraction: 1.0 / 3.0,
            max_in_service: 1,
        };
        assert_eq!(info.devices[0], zero);
        assert_eq!(
            (info.devices[1].device, info.devices[1].footprint_sectors, info.devices[1].max_in_service),
            (5, 10, 1)
        );
    }

    #[test]
    fn a_clock_that_goes_back_leaves_the_span() {
        let requests = vec![request(7_200_000, Op::Read, 0, 8, 0), request(1000, Op::Read, 8, 8, 0)];
        let info = TraceInfo::of_source(&mut InMemory::new(requests), 512).unwrap();
        assert_eq!((info.first_arrival_s, info.span_s, info.in_order), (1.0, 7199.0, false));
    }

    #[test]
    fn overlapping_services_are_seen_whatever_their_order() {
        let requests = vec![
            measured(request(0, Op::Read, 0, 1, 0), 9, 12),
            measured(request(1, Op::Read, 0, 1, 0), 2, 10),
            measured(request(2, Op::Read, 0, 1, 0), 12, 13),
        ];
        let info = TraceInfo::of_source(&mut InMemory::new(requests), 512).unwrap();
        assert_eq!((info.devices[0].max_in_service, info.max_outstanding), (2, 3));
    }

    #[test]
    fn an_empty_stream_has_no_ratios() {
        let info = TraceInfo::of_source(&mut InMemory::new(Vec::new()), 512).unwrap();
        assert_eq!(
            (info.requests, info.read_fraction, info.requests_per_s, info.highest_lba),
            (0, 0.0, 0.0, 0)
        );
        assert!(info.inter_arrival.is_none() && info.service.is_none() && info.devices.is_empty());
    }

    #[test]
    fn a_sorted_file_says_that_it_was_not() {
        let file = crate::testing::text_file("5 0 0 1 1\n4 0 0 1 1\n");
        let format = Some("mqsim".to_owned());
        let options = OpenOptions { format, sort: true, ..OpenOptions::default() };
        let info = TraceInfo::of_file(file.path(), &options).unwrap();
        assert_eq!((info.format, info.in_order, info.requests), ("mqsim", false, 2));
    }
}
