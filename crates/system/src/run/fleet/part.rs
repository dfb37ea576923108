//! What a fleet comes to, or a part of it: parts add up exactly.

use headstack_stats::Quantiles;
use headstack_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SystemError;
use crate::summary::TimeSummary;

/// One device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRow {
    /// Its number in the trace.
    pub device: u32,
    /// Requests completed.
    pub requests: u64,
    /// Those of them that read.
    pub reads: u64,
    /// Sectors moved.
    pub sectors: u64,
    /// Sum of the responses.
    pub response_sum_ns: u64,
    /// Median response (within 0.4 %, as the other two quantiles).
    pub p50_ns: u64,
    /// 99 % of the responses are at most this.
    pub p99_ns: u64,
    /// 99.9 % of the responses are at most this.
    pub p999_ns: u64,
    /// The longest response.
    pub max_ns: u64,
    /// How long its mechanisms worked, the mean of them.
    pub busy_ns: u64,
    /// Its last completion.
    pub end_ns: u64,
    /// Its first arrival.
    pub first_arrival_ns: u64,
    /// Its last arrival.
    pub last_arrival_ns: u64,
}

impl DeviceRow {
    /// Mean response.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.response_sum_ns as f64 / self.requests as f64 / 1e6)
    }

    /// Whether it kept up: what it completed after the last arrival, at its own rate, is no more than a passing burst leaves.
    fn kept_up(&self) -> bool {
        let served_ns = self.end_ns.saturating_sub(self.first_arrival_ns);
        let left = self.requests as f64
            * ratio(self.end_ns.saturating_sub(self.last_arrival_ns) as f64, served_ns as f64);
        left <= (self.requests as f64 / 50.0).max(100.0)
    }
}

/// Devices of a fleet, and the responses of all their requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetPart {
    /// The devices, by number.
    pub devices: Vec<DeviceRow>,
    /// Bytes to a sector.
    pub sector_bytes: u32,
    /// Responses: a value of each bin, and how many are in it.
    responses: Vec<(u64, u64)>,
    /// The run was stopped before its end.
    pub interrupted: bool,
}

/// What `fleet --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FleetSummary {
    /// Devices that had requests.
    pub devices: u64,
    /// Requests completed.
    pub requests: u64,
    /// Those of them that read.
    pub reads: u64,
    /// The last completion, from 0.
    pub simulated_s: f64,
    /// `hdr`: quantiles are within 0.1 %.
    pub quantiles: &'static str,
    /// Responses of all requests.
    pub response_ms: TimeSummary,
    /// Requests completed per second of simulated time.
    pub iops: f64,
    /// Data moved, in 2^20 bytes per second of simulated time.
    pub mib_per_s: f64,
    /// Share of the simulated time the mechanisms worked: mean over the devices.
    pub utilisation_mean: f64,
    /// The same of the busiest device.
    pub utilisation_max: f64,
    /// Devices that did not keep up with their requests: 2 % of them, and more than 100, were left at the last arrival, by how long it took to serve them.
    pub devices_behind: u64,
    /// The devices with the longest p99, the worst first.
    pub worst: Vec<DeviceSummary>,
}

/// One of the worst devices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeviceSummary {
    /// Its number in the trace.
    pub device: u32,
    /// Requests completed.
    pub requests: u64,
    /// Share of the simulated time its mechanisms worked.
    pub utilisation: f64,
    /// Its responses.
    pub response_ms: DeviceTimes,
}

/// Responses of one device, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeviceTimes {
    /// Mean.
    pub mean: Option<f64>,
    /// Median (within 0.4 %, as the other two quantiles).
    pub p50: f64,
    /// 99 % quantile.
    pub p99: f64,
    /// 99.9 % quantile.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl FleetPart {
    /// Of devices, and of the responses of all their requests.
    pub(super) fn new(mut devices: Vec<DeviceRow>, responses: &mut Quantiles, sector_bytes: u32) -> Self {
        devices.sort_by_key(|row| row.device);
        Self { devices, sector_bytes, responses: responses.counted(), interrupted: false }
    }

    /// Adds up parts of one fleet: the same as if one had had all their devices.
    ///
    /// # Errors
    /// If a device is in two of them.
    pub fn merged(parts: &[Self]) -> Result<Self, SystemError> {
        let mut responses = Quantiles::with_limit(0);
        for &(value, count) in parts.iter().flat_map(|part| &part.responses) {
            responses.record_many(Nanos(value), count);
        }
        let devices = parts.iter().flat_map(|part| part.devices.iter().copied()).collect();
        let sector_bytes = parts.first().map_or(512, |part| part.sector_bytes);
        let interrupted = parts.iter().any(|part| part.interrupted);
        let merged = Self { interrupted, ..Self::new(devices, &mut responses, sector_bytes) };
        match merged.devices.windows(2).find(|pair| pair[0].device == pair[1].device) {
            None => Ok(merged),
            Some(pair) => Err(SystemError::Options {
                problem: format!("device {} has requests in two parts of the trace", pair[0].device),
                hint: "keep all requests of a device in one file".to_owned(),
            }),
        }
    }

    /// When the last request of all was complete.
    fn end_ns(&self) -> u64 {
        self.devices.iter().map(|row| row.end_ns).max().unwrap_or(0)
    }

    /// Share of the simulated time that a device's mechanisms worked.
    pub fn utilisation(&self, row: &DeviceRow) -> f64 {
        ratio(row.busy_ns as f64, self.end_ns() as f64)
    }

    /// The key numbers, with so many of the worst devices.
    pub fn summary(&self, worst: usize) -> FleetSummary {
        let sum =
            |of: fn(&DeviceRow) -> u64| self.devices.iter().map(|row| u128::from(of(row))).sum::<u128>();
        let requests = sum(|row| row.requests) as u64;
        let seconds = self.end_ns() as f64 / 1e9;
        let utilisations = || self.devices.iter().map(|row| self.utilisation(row));
        let mib = sum(|row| row.sectors) as f64 * f64::from(self.sector_bytes) / 1_048_576.0;
        FleetSummary {
            devices: self.devices.len() as u64,
            requests,
            reads: sum(|row| row.reads) as u64,
            simulated_s: seconds,
            quantiles: "hdr",
            response_ms: self.times(sum(|row| row.response_sum_ns), requests),
            iops: ratio(requests as f64, seconds),
            mib_per_s: ratio(mib, seconds),
            utilisation_mean: ratio(utilisations().sum(), self.devices.len() as f64),
            utilisation_max: utilisations().fold(0.0, f64::max),
            devices_behind: self.devices.iter().filter(|row| !row.kept_up()).count() as u64,
            worst: self.worst(worst),
        }
    }

    fn times(&self, sum_ns: u128, requests: u64) -> TimeSummary {
        let mut responses = Quantiles::with_limit(0);
        self.responses.iter().for_each(|&(value, count)| responses.record_many(Nanos(value), count));
        let ms = |time: Nanos| time.as_ms();
        let found = responses.summary();
        TimeSummary {
            mean: (requests > 0).then(|| sum_ns as f64 / requests as f64 / 1e6),
            p50: found.map(|found| ms(found.p50)),
            p90: found.map(|found| ms(found.p90)),
            p99: found.map(|found| ms(found.p99)),
            p999: found.map(|found| ms(found.p999)),
            max: found.map(|found| ms(found.max)),
            ..TimeSummary::default()
        }
    }

    fn worst(&self, most: usize) -> Vec<DeviceSummary> {
        let mut rows: Vec<&DeviceRow> = self.devices.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.p99_ns, row.max_ns)));
        let ms = |ns: u64| Nanos(ns).as_ms();
        let summary = |row: &DeviceRow| DeviceSummary {
            device: row.device,
            requests: row.requests,
            utilisation: self.utilisation(row),
            response_ms: DeviceTimes {
                mean: row.mean_ms(),
                p50: ms(row.p50_ns),
                p99: ms(row.p99_ns),
                p999: ms(row.p999_ns),
                max: ms(row.max_ns),
            },
        };
        rows.into_iter().take(most).map(summary).collect()
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
