//! What `simulate --json` prints, and the curves of its report.

use std::collections::BTreeMap;

use headstack_stats::{Moments, QuantileSummary};
use headstack_units::Nanos;
use schemars::JsonSchema;
use serde::Serialize;

use crate::run::Replay;
use crate::summary::{
    ArrayCacheSummary, BufferCacheSummary, ClassSummary, ConditionSummary, DataLossSummary, PhaseSummary,
    PowerSummary, RebuildSummary, WriteBackSummary,
};

/// The summary of a run. Times are in the unit at the end of the key; a value nothing was recorded for is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Requests completed, without those of the warm-up.
    pub requests: u64,
    /// The run's length in simulated time, from 0.
    pub simulated_s: f64,
    /// How long the computer took; filled in by the caller.
    pub wall_s: f64,
    /// How several threads served one drive, where they did: like `wall_s`, of the computer and not of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<ParallelSummary>,
    /// Seed of the run.
    pub seed: u64,
    /// The system's name.
    pub system: String,
    /// The workload's or trace's name.
    pub workload: String,
    /// Which instants requests were issued at.
    pub replay: Replay,
    /// Hash of everything that shaped the run: system, drives, workload, options.
    pub config_hash: String,
    /// Version of headstack.
    pub version: &'static str,
    /// `exact` or `hdr` (within 0.1 %).
    pub quantiles: &'static str,
    /// From the host's request to completion.
    pub response_ms: TimeSummary,
    /// From handing it to the drive to completion.
    pub service_ms: TimeSummary,
    /// Mean of each phase; they add up to the mean response.
    pub phases_ms: PhaseMeans,
    /// Mean gross work per request; may overlap.
    pub busy_ms: BusyMeans,
    /// Requests completed per second of counted simulated time.
    pub iops: f64,
    /// Data moved, in 2^20 bytes per second of counted simulated time.
    pub mib_per_s: f64,
    /// What the caches did.
    pub cache: CacheSummary,
    /// Reads alone.
    pub reads: OpSummary,
    /// Writes alone.
    pub writes: OpSummary,
    /// Reads and writes under each duration limit and under none, where a drive knows limits; those without requests are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_duration_limit: Vec<ClassSummary>,
    /// What all drives drew, where the watts of each are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerSummary>,
    /// The drives.
    pub drives: Vec<DriveSummary>,
    /// The buses.
    pub buses: Vec<BusSummary>,
    /// Where the drives' values come from.
    pub provenance: ProvenanceSummary,
    /// Requests that ended without their data because a duration limit had passed; they are in no other figure of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_data: Option<WithoutDataSummary>,
    /// Requests left out as warm-up.
    pub warmup_requests: u64,
    /// Requests that were in flight when the last one arrived, and were completed.
    pub in_flight_drained: u64,
    /// Requests in flight where the run was cut, and not completed.
    pub in_flight_cut: u64,
    /// Replays: requests whose instant had to be moved because measured times overlapped.
    pub clamped: u64,
    /// Calls that came late to a drive.
    pub lateness_ms: LatenessSummary,
    /// Phase-locked replay: how the tracking of each drive's spindle went.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phase: Vec<PhaseSummary>,
    /// What the host's buffer cache did, where there is one; `cache` then tells of both, the host's and the drives'.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_cache: Option<BufferCacheSummary>,
    /// What the caches of arrays' controllers did, where there are some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub array_caches: Vec<ArrayCacheSummary>,
    /// What became of drives that failed, where there are spares or drives that fail during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rebuilds: Vec<RebuildSummary>,
    /// More drives failed than the volume survives; the run ended then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_loss: Option<DataLossSummary>,
    /// The run was stopped before its end.
    pub interrupted: bool,
    /// Curves for a report.
    pub plots: Plots,
}

/// Requests that ended without their data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WithoutDataSummary {
    /// Completed, with a word to the host that the data are not available (`complete-unavailable`).
    pub unavailable: u64,
    /// Ended with an error (`abort`).
    pub aborted: u64,
}

/// How several threads served the requests of one drive. The results are those of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ParallelSummary {
    /// Threads that served.
    pub threads: usize,
    /// Requests served from a guessed state of the drive.
    pub guessed_requests: u64,
    /// Those of them whose guess proved right; the others were served again.
    pub proven_requests: u64,
}

/// A distribution of times, in ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimeSummary {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Half-width of its 95 % confidence interval (batch means).
    pub mean_ci95: Option<f64>,
    /// Standard deviation of the population.
    pub std: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90 % quantile.
    pub p90: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// 99.9 % quantile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// Times of some of the requests, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PartTimes {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90 % quantile.
    pub p90: Option<f64>,
    /// 99 % quantile.
    pub p99: Option<f64>,
    /// 99.9 % quantile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

impl PartTimes {
    pub(super) fn new(moments: &Moments, quantiles: Option<QuantileSummary>) -> Self {
        let quantile =
            |value: fn(&QuantileSummary) -> Nanos| quantiles.as_ref().map(|all| value(all).as_ms());
        Self {
            mean: moments.mean_ms(),
            p50: quantile(|q| q.p50),
            p90: quantile(|q| q.p90),
            p99: quantile(|q| q.p99),
            p999: quantile(|q| q.p999),
            max: quantile(|q| q.max),
        }
    }
}

/// A mean time, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MeanTime {
    /// Arithmetic mean.
    pub mean: Option<f64>,
}

/// Waits, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct WaitTimes {
    /// Arithmetic mean.
    pub mean: f64,
    /// Longest.
    pub max: f64,
}

/// Means of the seven phases, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PhaseMeans {
    /// Waiting for CPU order, the driver, the drive, or a bus that others use.
    pub queue: f64,
    /// CPU time and command processing.
    pub overhead: f64,
    /// Arm and head movement.
    pub seek: f64,
    /// Waiting for the sector to come around.
    pub rotation: f64,
    /// Media transfer.
    pub transfer: f64,
    /// Bus transfer.
    pub bus: f64,
    /// Waiting for destage, read-ahead or recalibration.
    pub other: f64,
}

/// Means of the gross work per request, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BusyMeans {
    /// Arm and head movement.
    pub seek: f64,
    /// Rotational waits.
    pub rotation: f64,
    /// Media transfer.
    pub transfer: f64,
    /// Bus occupation.
    pub bus: f64,
}

/// What the caches did, in requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheSummary {
    /// Reads served from the buffer alone.
    pub read_hits: u64,
    /// Reads served in part from the buffer, or by read-ahead in progress.
    pub read_partial_hits: u64,
    /// Reads from the media.
    pub read_misses: u64,
    /// Writes reported complete before they were on the media.
    pub writes_reported_early: u64,
}

/// The requests of one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OpSummary {
    /// How many.
    pub requests: u64,
    /// Their response.
    pub response_ms: PartTimes,
    /// Their service.
    pub service_ms: MeanTime,
    /// Mean of each phase.
    pub phases_ms: PhaseMeans,
}

/// One drive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DriveSummary {
    /// Its name in the system.
    pub name: String,
    /// Its drive file.
    pub model: String,
    /// Requests whose last command it served.
    pub requests: u64,
    /// Commands it was sent (all actuators).
    pub commands: u64,
    /// Share of the time its mechanism worked, mean over its actuators, and over arms that work at a time.
    pub utilisation: f64,
    /// Commands waiting or in service, mean over time, all actuators together.
    pub queue_mean: f64,
    /// Most of them at a time (the largest of its actuators).
    pub queue_max: u64,
    /// Commands that the driver's scheduler could not see when they came, because it saw `host.queue_limit` already: they
    /// waited outside, in order of arrival.
    pub held_back: u64,
    /// What its mechanism did, all actuators together.
    pub busy_s: UnitWork,
    /// What it drew; absent where its file does not tell the watts at its speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerSummary>,
    /// Its power conditions, where its file has some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionSummary>,
    /// When what it has acknowledged goes to the media; absent where it acknowledges nothing before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_back: Option<WriteBackSummary>,
    /// The share of its values that is assumed.
    pub assumed_share: f64,
}

/// What a drive's mechanism did, in s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UnitWork {
    /// Arm and head movement for commands.
    pub seek: f64,
    /// Rotational waits of commands.
    pub rotation: f64,
    /// Media transfer for commands.
    pub transfer: f64,
    /// Work that no command waited for: destage, and writes after their early completion.
    pub background: f64,
}

/// One bus.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BusSummary {
    /// Its name in the system.
    pub name: String,
    /// Share of the time somebody held it, from arbitration to release.
    pub utilisation: f64,
    /// Share of the time that the data of completed commands take at the bus's own rate.
    pub data_utilisation: f64,
    /// Number waiting for it, mean over time.
    pub queue_mean: f64,
    /// Most that waited at a time.
    pub queue_max: u64,
    /// How often it was granted.
    pub grants: u64,
    /// Waits for a grant.
    pub wait_ms: WaitTimes,
}

/// Where the drives' values come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProvenanceSummary {
    /// How many values are `spec`, `measured`, `fitted`, `assumed`.
    pub values: BTreeMap<&'static str, usize>,
    /// The share that is assumed.
    pub assumed_share: f64,
}

/// Calls that came late to a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LatenessSummary {
    /// How many.
    pub count: u64,
    /// The latest, in ms.
    pub max: f64,
}

/// Curves for a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Plots {
    /// Distribution of the response: `[ms, fraction at or below]`, thinned.
    pub response_cdf: Vec<[f64; 2]>,
    /// Distribution of the service: `[ms, fraction at or below]`, thinned.
    pub service_cdf: Vec<[f64; 2]>,
    /// Response over the time of arrival.
    pub response_over_time: Vec<TimeBin>,
    /// Response over the address, per device.
    pub response_over_lba: Vec<AddressBins>,
}

/// Requests that arrived within an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimeBin {
    /// Beginning, in s.
    pub start_s: f64,
    /// Length, in s.
    pub width_s: f64,
    /// How many.
    pub requests: u64,
    /// Their mean response, in ms.
    pub mean_ms: Option<f64>,
    /// Their longest response, in ms.
    pub max_ms: f64,
}

/// Requests by address.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AddressBins {
    /// The volume's name.
    pub device: String,
    /// Sectors in each bin.
    pub width_sectors: u64,
    /// `[first sector, requests, mean response in ms, longest response in ms]`; bins without requests are left out.
    pub bins: Vec<(u64, u64, f64, f64)>,
}
