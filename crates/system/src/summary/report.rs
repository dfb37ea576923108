//! The summary of a run: what `simulate --json` prints, and the curves of its report.

use headstack_stats::{Moments, Timeline, cdf};
use headstack_units::Nanos;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

use super::recorder::{OpSums, Recorder, Times};
use crate::run::{Replay, RunEnd, RunOptions};
use crate::spec::config_hash;
use crate::summary::{BufferCacheSummary, PhaseSummary};
use crate::system::System;

/// Most points of a curve.
const CDF_POINTS: usize = 500;

/// The summary of a run. Times are in the unit at the end of the key; a value nothing was recorded for is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Requests completed, without those of the warm-up.
    pub requests: u64,
    /// The run's length in simulated time, from 0.
    pub simulated_s: f64,
    /// How long the computer took; filled in by the caller.
    pub wall_s: f64,
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
    /// The drives.
    pub drives: Vec<DriveSummary>,
    /// The buses.
    pub buses: Vec<BusSummary>,
    /// Where the drives' values come from.
    pub provenance: ProvenanceSummary,
    /// Requests left out as warm-up.
    pub warmup_requests: u64,
    /// Requests that were in flight when the last one arrived, and were completed.
    pub in_flight_drained: u64,
    /// Requests in flight where the run was cut, and not completed.
    pub in_flight_cut: u64,
    /// Replays: requests whose instant had to be moved because measured times overlapped.
    pub clamped: u64,
    /// Calls that came late to a drive.
    pub lateness: LatenessSummary,
    /// Phase-locked replay: how the tracking of each drive's spindle went.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phase: Vec<PhaseSummary>,
    /// What the host's buffer cache did, where there is one; `cache` then tells of both, the host's and the drives'.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_cache: Option<BufferCacheSummary>,
    /// The run was stopped before its end.
    pub interrupted: bool,
    /// Curves for a report.
    pub plots: Plots,
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
    /// Mean response, in ms.
    pub response_mean_ms: Option<f64>,
    /// Mean service, in ms.
    pub service_mean_ms: Option<f64>,
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
    /// Share of the time its mechanism worked, mean over its actuators.
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
    /// Mean wait for a grant, in ms.
    pub wait_mean_ms: f64,
    /// Longest wait for a grant, in ms.
    pub wait_max_ms: f64,
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
    pub max_ms: f64,
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

impl Recorder {
    /// The summary of what was recorded in a run that ended as `end` tells.
    pub(crate) fn summary(&mut self, system: &System, options: &RunOptions, end: &RunEnd) -> Summary {
        let config = system.config();
        let (response, service) = (self.moments(|op| &op.response), self.moments(|op| &op.service));
        let requests = response.count();
        let span_ns = u128::from(end.at.saturating_sub(end.counted_from).0);
        let span_s = span_ns as f64 / 1e9;
        let per_second = |amount: f64| if span_s > 0.0 { amount / span_s } else { 0.0 };
        let sectors = self.ops.iter().map(|op| op.sectors).sum::<u128>();
        let mib = sectors as f64 * f64::from(system.sector_bytes()) / 1_048_576.0;
        let mut all_phases = [0; 7];
        for op in &self.ops {
            all_phases.iter_mut().zip(op.phases.totals()).for_each(|(sum, phase)| *sum += phase);
        }
        let [hits, partial_hits, misses, early] = self.cache;
        Summary {
            requests,
            simulated_s: end.at.as_s(),
            wall_s: 0.0,
            seed: options.seed,
            system: config.name.clone(),
            workload: options.workload.name.clone(),
            replay: options.replay,
            config_hash: run_hash(system, options),
            version: env!("CARGO_PKG_VERSION"),
            quantiles: self.response.quantiles.kind().as_str(),
            response_ms: self.response.summary(&response),
            service_ms: self.service.summary(&service),
            phases_ms: phase_means(&all_phases, requests),
            busy_ms: busy_means(&self.busy.totals(), requests),
            iops: per_second(requests as f64),
            mib_per_s: per_second(mib),
            cache: CacheSummary {
                read_hits: hits,
                read_partial_hits: partial_hits,
                read_misses: misses,
                writes_reported_early: early,
            },
            reads: self.ops[0].summary(),
            writes: self.ops[1].summary(),
            drives: self.drives(system, end, span_ns),
            buses: buses(system, end, span_ns),
            provenance: provenance(system),
            warmup_requests: self.excluded,
            in_flight_drained: end.drained,
            in_flight_cut: end.cut,
            clamped: end.clamped,
            phase: end.phase.iter().map(PhaseSummary::new).collect(),
            lateness: LatenessSummary { count: end.lateness.count, max_ms: end.lateness.max.as_ms() },
            buffer_cache: end.cache.as_ref().map(|used| BufferCacheSummary::new(used, &self.driver)),
            interrupted: end.interrupted,
            plots: self.plots(system),
        }
    }

    /// Both directions together.
    fn moments(&self, of: fn(&OpSums) -> &Moments) -> Moments {
        let mut moments = *of(&self.ops[0]);
        moments.merge(of(&self.ops[1]));
        moments
    }

    fn drives(&self, system: &System, end: &RunEnd, span_ns: u128) -> Vec<DriveSummary> {
        let summary =
            |(index, drive): (usize, &crate::spec::DriveConfig)| {
                let units = || {
                    let of_drive = |(place, _): &(&crate::system::UnitPlace, _)| place.drive == index;
                    system.units.iter().zip(&end.used.units).filter(of_drive).map(|(_, unit_use)| unit_use)
                };
                let mechanism = units().map(|unit| u128::from(unit.mechanism.0)).sum::<u128>();
                let counts = drive.spec.provenance_counts();
                DriveSummary {
                    name: drive.name.clone(),
                    model: drive.model.clone(),
                    requests: self.per_drive[index],
                    commands: units().map(|unit| unit.commands).sum(),
                    utilisation: ratio(mechanism, span_ns * units().count() as u128),
                    queue_mean: ratio(units().map(|unit| unit.load_area).sum(), span_ns),
                    queue_max: units().map(|unit| unit.load_max).max().unwrap_or(0),
                    held_back: units().map(|unit| unit.held_back).sum(),
                    busy_s: UnitWork {
                        seek: seconds(units().map(|unit| unit.work.seek).sum()),
                        rotation: seconds(units().map(|unit| unit.work.rotation).sum()),
                        transfer: seconds(units().map(|unit| unit.work.transfer).sum()),
                        background: seconds(units().map(|unit| unit.background.total()).sum()),
                    },
                    assumed_share: assumed_share(counts.iter().map(|&(kind, count)| {
                        (kind == headstack_drive::spec::ProvenanceKind::Assumed, count)
                    })),
                }
            };
        system.config().drives.iter().enumerate().map(summary).collect()
    }

    fn plots(&mut self, system: &System) -> Plots {
        let over_lba = |(timeline, volume): (&Timeline, &crate::spec::VolumeConfig)| AddressBins {
            device: volume.name.clone(),
            width_sectors: timeline.bins().next().map_or(0, |bin| bin.width),
            bins: timeline
                .bins()
                .filter_map(|bin| Some((bin.start, bin.count, bin.mean_ms?, bin.max.as_ms())))
                .collect(),
        };
        Plots {
            response_cdf: self.response.curve(),
            service_cdf: self.service.curve(),
            response_over_time: self
                .over_time
                .bins()
                .map(|bin| TimeBin {
                    start_s: Nanos(bin.start).as_s(),
                    width_s: Nanos(bin.width).as_s(),
                    requests: bin.count,
                    mean_ms: bin.mean_ms,
                    max_ms: bin.max.as_ms(),
                })
                .collect(),
            response_over_lba: self.over_lba.iter().zip(&system.config().volumes).map(over_lba).collect(),
        }
    }
}

impl Times {
    fn summary(&mut self, moments: &Moments) -> TimeSummary {
        let quantiles = self.quantiles.summary();
        let quantile = |value: fn(&headstack_stats::QuantileSummary) -> Nanos| {
            quantiles.as_ref().map(|quantiles| value(quantiles).as_ms())
        };
        TimeSummary {
            mean: moments.mean_ms(),
            mean_ci95: self.batches.half_width_ms(),
            std: moments.std_ms(),
            p50: quantile(|q| q.p50),
            p90: quantile(|q| q.p90),
            p99: quantile(|q| q.p99),
            p999: quantile(|q| q.p999),
            max: quantile(|q| q.max),
        }
    }

    fn curve(&mut self) -> Vec<[f64; 2]> {
        cdf(&mut self.quantiles, CDF_POINTS)
            .iter()
            .map(|point| [point.value.as_ms(), point.fraction])
            .collect()
    }
}

impl OpSums {
    fn summary(&self) -> OpSummary {
        let mean = Moments::mean_ms;
        OpSummary {
            requests: self.response.count(),
            response_mean_ms: mean(&self.response),
            service_mean_ms: mean(&self.service),
            phases_ms: phase_means(&self.phases.totals(), self.response.count()),
        }
    }
}

/// a / b, or 0 where b is 0.
fn ratio(a: u128, b: u128) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

fn seconds(ns: u128) -> f64 {
    ns as f64 / 1e9
}

fn mean_ms(sum_ns: u128, count: u64) -> f64 {
    ratio(sum_ns, u128::from(count)) / 1e6
}

fn phase_means(sums: &[u128; 7], count: u64) -> PhaseMeans {
    let [queue, overhead, seek, rotation, transfer, bus, other] = sums.map(|sum| mean_ms(sum, count));
    PhaseMeans { queue, overhead, seek, rotation, transfer, bus, other }
}

fn busy_means(sums: &[u128; 4], count: u64) -> BusyMeans {
    let [seek, rotation, transfer, bus] = sums.map(|sum| mean_ms(sum, count));
    BusyMeans { seek, rotation, transfer, bus }
}

fn buses(system: &System, end: &RunEnd, span_ns: u128) -> Vec<BusSummary> {
    let summary = |(bus, used): (&crate::spec::BusConfig, &crate::engine::BusUse)| BusSummary {
        name: bus.name.clone(),
        utilisation: ratio(used.held_ns, span_ns),
        data_utilisation: ratio(used.data_ns, span_ns),
        queue_mean: ratio(used.queue_area_ns, span_ns),
        queue_max: used.queue_max,
        grants: used.grants,
        wait_mean_ms: mean_ms(used.waited_ns, used.grants),
        wait_max_ms: used.longest_wait.as_ms(),
    };
    system.config().buses.iter().zip(&end.used.buses).map(summary).collect()
}

fn assumed_share(counts: impl Iterator<Item = (bool, usize)>) -> f64 {
    let (mut assumed, mut all) = (0, 0);
    for (is_assumed, count) in counts {
        assumed += if is_assumed { count as u128 } else { 0 };
        all += count as u128;
    }
    ratio(assumed, all)
}

fn provenance(system: &System) -> ProvenanceSummary {
    let values = system.config().provenance_counts();
    let assumed_share = assumed_share(values.iter().map(|(&kind, &count)| (kind == "assumed", count)));
    ProvenanceSummary { values, assumed_share }
}

/// Hash of everything that shapes a run.
fn run_hash(system: &System, options: &RunOptions) -> String {
    #[derive(Serialize)]
    struct Configuration<'a> {
        system: &'a crate::spec::SystemConfig,
        workload: &'a crate::run::WorkloadLabel,
        seed: u64,
        replay: Replay,
        requests: Option<u64>,
        warmup: crate::run::Warmup,
        until_ns: Option<u64>,
    }
    config_hash(&Configuration {
        system: system.config(),
        workload: &options.workload,
        seed: options.seed,
        replay: options.replay,
        requests: options.requests,
        warmup: options.warmup,
        until_ns: options.until.map(|until| until.0),
    })
}
