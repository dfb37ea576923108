//! The summary of a run, made of what was recorded and of how the run ended.

use headstack_drive::power::Energy;
use headstack_stats::{
    BatchMeans, CdfPoint, Moments, QuantileKind, QuantileSummary, Quantiles, Timeline, cdf,
};
use headstack_units::Nanos;
use serde::Serialize;

use super::recorder::Recorder;
use super::statistics::OpSums;
use crate::engine::UnitUse;
use crate::run::{Replay, RunEnd, RunOptions};
use crate::spec::config_hash;
use crate::summary::content::{
    AddressBins, BusSummary, BusyMeans, CacheSummary, DriveSummary, LatenessSummary, MeanTime, OpSummary,
    PartTimes, PhaseMeans, Plots, ProvenanceSummary, Summary, TimeBin, TimeSummary, UnitWork, WaitTimes,
    WithoutDataSummary,
};
use crate::summary::{
    ArrayCacheSummary, BufferCacheSummary, PhaseSummary, PowerSummary, WriteBackSummary, power, rebuild,
};
use crate::system::System;

/// Most points of a curve.
const CDF_POINTS: usize = 500;

impl Recorder {
    /// The summary of what was recorded in a run that ended as `end` tells.
    pub(crate) fn summary(&mut self, system: &System, options: &RunOptions, end: &RunEnd) -> Summary {
        let config = system.config();
        self.settle();
        let (response_times, service_times, by_direction) = self.told(end.parallel.is_some());
        let [response, service] = self.statistics.moments();
        let requests = response.count();
        let span_ns = u128::from(end.at.saturating_sub(end.counted_from).0);
        let span_s = span_ns as f64 / 1e9;
        let per_second = |amount: f64| if span_s > 0.0 { amount / span_s } else { 0.0 };
        let ops = self.statistics.ops.each_ref();
        let sectors = ops.map(OpSums::sectors).iter().sum::<u128>();
        let mib = sectors as f64 * f64::from(system.sector_bytes()) / 1_048_576.0;
        let (phases, busy) = (sum(ops.map(OpSums::phases)), sum(ops.map(OpSums::busy)));
        let energies = energies(system, end, span_ns);
        let [hits, partial_hits, misses, early] = self.statistics.by_cache();
        Summary {
            requests,
            simulated_s: end.at.as_s(),
            wall_s: 0.0,
            parallel: end.parallel,
            seed: options.seed,
            system: config.name.clone(),
            workload: options.workload.name.clone(),
            replay: options.replay,
            config_hash: run_hash(system, options),
            version: env!("CARGO_PKG_VERSION"),
            quantiles: response_times.kind.as_str(),
            response_ms: response_times.summary(&response),
            service_ms: service_times.summary(&service),
            phases_ms: phase_means(&phases, requests),
            busy_ms: busy_means(&busy, requests),
            iops: per_second(requests as f64),
            mib_per_s: per_second(mib),
            cache: CacheSummary {
                read_hits: hits,
                read_partial_hits: partial_hits,
                read_misses: misses,
                writes_reported_early: early,
            },
            reads: self.statistics.ops[0].summary(by_direction[0]),
            writes: self.statistics.ops[1].summary(by_direction[1]),
            by_duration_limit: self.statistics.classes.as_mut().map_or_else(Vec::new, |all| all.summaries()),
            power: all_power(&energies, requests, span_ns),
            drives: self.drives(system, end, &energies, span_ns),
            buses: buses(system, end, span_ns),
            provenance: provenance(system),
            without_data: (self.without_data != [0; 2]).then(|| WithoutDataSummary {
                unavailable: self.without_data[0],
                aborted: self.without_data[1],
            }),
            warmup_requests: self.excluded,
            in_flight_drained: end.drained,
            in_flight_cut: end.cut,
            clamped: end.clamped,
            phase: end.phase.iter().map(PhaseSummary::new).collect(),
            lateness_ms: LatenessSummary { count: end.lateness.count, max: end.lateness.max.as_ms() },
            buffer_cache: end.cache.as_ref().map(|used| BufferCacheSummary::new(used, &self.driver)),
            array_caches: end
                .array_caches
                .iter()
                .map(|used| ArrayCacheSummary::new(used, &config.volumes[used.volume].name))
                .collect(),
            rebuilds: rebuild::rebuilds(config, system.sector_bytes(), &end.repairs, end.at.as_s()),
            data_loss: rebuild::data_loss(
                config,
                |volume| system.volumes[volume].sectors(),
                system.sector_bytes(),
                &end.repairs,
            ),
            interrupted: end.interrupted,
            plots: self.plots(system, [response_times.curve, service_times.curve]),
        }
    }

    fn drives(
        &self,
        system: &System,
        end: &RunEnd,
        energies: &[Option<Energy>],
        span_ns: u128,
    ) -> Vec<DriveSummary> {
        let summary =
            |(index, drive): (usize, &crate::spec::DriveConfig)| {
                let units = || units_of(system, end, index);
                let mechanism = units().map(|unit| u128::from(unit.mechanism.0)).sum::<u128>();
                let arms = |units: usize| units * drive.spec.arms.moving() as usize;
                let counts = drive.spec.provenance_counts();
                DriveSummary {
                    name: drive.name.clone(),
                    model: drive.model.clone(),
                    requests: self.statistics.per_drive[index],
                    commands: units().map(|unit| unit.commands).sum(),
                    utilisation: ratio(mechanism, span_ns * arms(units().count()) as u128),
                    queue_mean: ratio(units().map(|unit| unit.load_area).sum(), span_ns),
                    queue_max: units().map(|unit| unit.load_max).max().unwrap_or(0),
                    held_back: units().map(|unit| unit.held_back).sum(),
                    busy_s: UnitWork {
                        seek: seconds(units().map(|unit| unit.work.seek).sum()),
                        rotation: seconds(units().map(|unit| unit.work.rotation).sum()),
                        transfer: seconds(units().map(|unit| unit.work.transfer()).sum()),
                        background: seconds(units().map(|unit| unit.background.total()).sum()),
                    },
                    // Several drives work for a request of an array: what each draws is nobody's alone.
                    power: energies[index].and_then(|energy| PowerSummary::new(&energy, 0, span_ns)),
                    conditions: power::conditions(drive, units()),
                    write_back: WriteBackSummary::of(&drive.spec),
                    assumed_share: assumed_share(counts.iter().map(|&(kind, count)| {
                        (kind == headstack_drive::spec::ProvenanceKind::Assumed, count)
                    })),
                }
            };
        system.config().drives.iter().enumerate().map(summary).collect()
    }

    /// What responses and service times come to, after a run by several threads by two: sorting is the longest part of what is left
    /// to one thread at the end. Nothing can be taken after it.
    fn told(&mut self, is_by_two: bool) -> (Told, Told, [Option<QuantileSummary>; 2]) {
        let Self { response, service, .. } = self;
        let mut services = None;
        let (by_direction, mut all) = std::thread::scope(|scope| {
            if is_by_two {
                let sort = || services = Some(Told::new(&mut service.quantiles, &service.batches));
                // A machine that has no thread to give sorts one after the other.
                let _ = std::thread::Builder::new().spawn_scoped(scope, sort);
            }
            response.times.told()
        });
        let responses = Told::new(&mut all, &response.batches);
        let services = services.unwrap_or_else(|| Told::new(&mut service.quantiles, &service.batches));
        (responses, services, by_direction)
    }

    fn plots(&self, system: &System, [response_cdf, service_cdf]: [Vec<[f64; 2]>; 2]) -> Plots {
        let over_lba = |(timeline, volume): (&Timeline, &crate::spec::VolumeConfig)| AddressBins {
            device: volume.name.clone(),
            width_sectors: timeline.bins().next().map_or(0, |bin| bin.width),
            bins: timeline
                .bins()
                .filter_map(|bin| Some((bin.start, bin.count, bin.mean_ms?, bin.max.as_ms())))
                .collect(),
        };
        Plots {
            response_cdf,
            service_cdf,
            response_over_time: self
                .statistics
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
            response_over_lba: self
                .statistics
                .over_lba
                .iter()
                .zip(&system.config().volumes)
                .map(over_lba)
                .collect(),
        }
    }
}

/// What the distribution of a kind of time comes to.
#[derive(Clone, Debug)]
struct Told {
    kind: QuantileKind,
    /// Half the interval of the mean, in ms.
    half_width: Option<f64>,
    quantiles: Option<QuantileSummary>,
    curve: Vec<[f64; 2]>,
}

impl Told {
    fn new(times: &mut Quantiles, batches: &BatchMeans) -> Self {
        let point = |point: &CdfPoint| [point.value.as_ms(), point.fraction];
        Self {
            kind: times.kind(),
            half_width: batches.half_width_ms(),
            quantiles: times.summary(),
            curve: cdf(times, CDF_POINTS).iter().map(point).collect(),
        }
    }

    fn summary(&self, moments: &Moments) -> TimeSummary {
        let PartTimes { mean, p50, p90, p99, p999, max } = PartTimes::new(moments, self.quantiles);
        TimeSummary { mean, mean_ci95: self.half_width, std: moments.std_ms(), p50, p90, p99, p999, max }
    }
}

impl OpSums {
    fn summary(&self, responses: Option<QuantileSummary>) -> OpSummary {
        OpSummary {
            requests: self.response.count(),
            response_ms: PartTimes::new(&self.response, responses),
            service_ms: MeanTime { mean: self.service.mean_ms() },
            phases_ms: phase_means(&self.phases(), self.response.count()),
        }
    }
}

/// How the units of a drive were used.
fn units_of<'a>(system: &'a System, end: &'a RunEnd, drive: usize) -> impl Iterator<Item = &'a UnitUse> {
    system
        .units
        .iter()
        .zip(&end.used.units)
        .filter(move |(place, _)| place.drive == drive)
        .map(|(_, used)| used)
}

/// What each drive used, where that is known.
fn energies(system: &System, end: &RunEnd, span_ns: u128) -> Vec<Option<Energy>> {
    let drives = system.config().drives.iter().enumerate();
    drives.map(|(index, drive)| power::energy(drive, units_of(system, end, index), span_ns)).collect()
}

/// What the drives drew together, if it is known of each.
fn all_power(energies: &[Option<Energy>], requests: u64, span_ns: u128) -> Option<PowerSummary> {
    let all: Option<Vec<Energy>> = energies.iter().copied().collect();
    PowerSummary::new(&all?.iter().fold(Energy::default(), |sum, energy| sum.and(energy)), requests, span_ns)
}

/// Reads and writes together.
fn sum<const N: usize>([mut reads, writes]: [[u128; N]; 2]) -> [u128; N] {
    reads.iter_mut().zip(writes).for_each(|(sum, more)| *sum += more);
    reads
}

/// a / b, or 0 where b is 0.
fn ratio(a: u128, b: u128) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

fn seconds(ns: u64) -> f64 {
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
        wait_ms: WaitTimes { mean: mean_ms(used.waited_ns, used.grants), max: used.longest_wait.as_ms() },
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
