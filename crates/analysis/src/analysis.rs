//! The whole analysis, in one pass.

use std::collections::BTreeMap;

use headstack_stats::Timeline;
use headstack_trace::event::device_numbers;
use headstack_trace::tick::{Quantised, Quantiser};
use headstack_trace::{Io, IoSource, Kind, Notes, TraceError};
use headstack_units::{Nanos, Op};
use serde::Serialize;

use crate::arrivals::{ArrivalBin, Arrivals};
use crate::bursts::{BurstFinder, Bursts};
use crate::causes::CauseFinder;
use crate::company::Company;
use crate::depth::{Commands, Outstanding, OutstandingByDevice};
use crate::effect::Effect;
use crate::fleet::{Fleet, fleet};
use crate::groups::{GroupSummary, Groups};
use crate::heat::{Cell, HeatMap};
use crate::histogram::{TimeBin, TimeHistogram};
use crate::late::LateFinder;
use crate::order::Ordered;
use crate::pauses::PauseFinder;
use crate::peers::Peers;
use crate::runs::{RunFinder, Runs};
use crate::times::{MeanAndMax, Times, TimesSummary};

/// How to analyse.
#[derive(Clone, Debug, Default)]
pub struct AnalysisOptions {
    /// Device numbers are the kernel's, major × 2^20 + minor; otherwise they are plain.
    pub kernel_devices: bool,
    /// Also see responses with a clock of so many ticks per second.
    pub ticks_per_s: Option<u64>,
    /// Names of processes.
    pub processes: BTreeMap<u32, String>,
}

/// What a trace tells. Times are in order of arrival from the first request on.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// Reads and writes with data.
    pub requests: u64,
    /// Of them reads.
    pub reads: u64,
    /// Of them writes.
    pub writes: u64,
    /// Flushes without data.
    pub flushes: u64,
    /// Discards.
    pub discards: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// First to last arrival, s.
    pub span_s: f64,
    /// Arrivals beyond the window in which order is restored.
    pub late_arrivals: u64,
    /// Arrival to finish; with all that is told of responses, it is left out where losses left fewer than nine in ten.
    #[serde(rename = "response_ms")]
    pub response: Option<TimesSummary>,
    /// Start to finish: the device's own time.
    #[serde(rename = "service_ms")]
    pub service: Option<TimesSummary>,
    /// Arrival to start.
    #[serde(rename = "wait_ms")]
    pub wait: Option<TimesSummary>,
    /// One arrival to the next.
    #[serde(rename = "inter_arrival_ms")]
    pub inter_arrival: Option<TimesSummary>,
    /// Standard deviation ÷ mean of the times between arrivals: 1 for independent arrivals, more for bursts.
    pub inter_arrival_variation: Option<f64>,
    /// Times between arrivals, in bins of equal ratio.
    pub by_inter_arrival: Vec<TimeBin>,
    /// Reads and writes over time.
    pub arrivals: Vec<ArrivalBin>,
    /// View 1: responses by time, in bins of equal ratio.
    pub by_response: Vec<TimeBin>,
    /// View 2: by drive.
    pub by_device: Vec<GroupSummary>,
    /// The drives side by side, where there are several with measured responses.
    pub fleet: Option<Fleet>,
    /// View 3: by address, 512 bins a device at most; devices beyond 16 left out.
    pub by_address: Vec<AddressBins>,
    /// View 4: block against raw device; only where the trace tells.
    pub by_interface: Vec<GroupSummary>,
    /// View 5: by size, powers of two.
    pub by_size: Vec<GroupSummary>,
    /// View 6: reads and writes, flushes and discards.
    pub by_kind: Vec<GroupSummary>,
    /// View 7: by arrival.
    pub by_start: Vec<TimelineBin>,
    /// Responses over arrival, counted in cells.
    pub heat: Vec<Cell>,
    /// Requests outstanding, as arrivals find them.
    pub depth: Depth,
    /// The busiest parts of the devices, the busiest first.
    pub hot_regions: Vec<Region>,
    /// Bursts of writes.
    pub bursts: Option<Bursts>,
    /// What else may delay reads: cache flushes, discards, a write just before, others in the queue, a region, a process, a device that
    /// does not keep up, pauses, retries.
    pub effects: Vec<Effect>,
    /// Sequential runs and strides.
    pub runs: Runs,
    /// By process, the most bytes first; only where the trace tells.
    pub by_process: Vec<GroupSummary>,
    /// What a clock of ticks would have seen.
    #[serde(skip)]
    pub quantised: Option<Quantised>,
    /// What made no sense and was left out.
    #[serde(skip)]
    pub notes: Notes,
}

/// Responses over the addresses of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AddressBins {
    /// The device.
    pub device: String,
    /// Bins that hold something: first sector, sectors, requests, mean and largest response.
    pub bins: Vec<TimelineBin>,
}

/// A bin along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TimelineBin {
    /// Where it begins: a sector, or ns from the first arrival.
    pub from: u64,
    /// How wide it is.
    pub width: u64,
    /// Requests in it.
    pub count: u64,
    /// Mean response, ms; `None` where not measured. For the depth: the mean depth.
    pub mean: Option<f64>,
    /// The largest.
    pub max: f64,
}

/// How many requests were outstanding.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Depth {
    /// Mean found by arrivals; 0 finds an idle device.
    pub mean: f64,
    /// The most found by an arrival, and that one.
    pub max: u64,
    /// Share of arrivals that found nothing outstanding.
    pub idle_share: f64,
    /// Over time.
    pub over_time: Vec<TimelineBin>,
}

/// A part of a device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Region {
    /// The device.
    pub device: String,
    /// Its first sector.
    pub first_lba: u64,
    /// Its sectors.
    pub sectors: u64,
    /// Requests that begin in it.
    pub requests: u64,
    /// Their share of all.
    pub share: f64,
    /// Their response, where measured.
    pub response_ms: Option<MeanAndMax>,
}

/// Devices whose addresses are followed.
const ADDRESSED: usize = 16;
const HOT_REGIONS: usize = 20;
const TOP_PROCESSES: usize = 20;

/// Reads `source` to its end.
///
/// # Errors
/// The source's.
pub fn analyse(
    source: &mut dyn IoSource,
    options: &AnalysisOptions,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Analysis, TraceError> {
    let sector_bytes = source.sector_bytes();
    let mut ordered = Ordered::new(source);
    let mut recorder = Recorder::new(sector_bytes, options);
    let mut batch = Vec::new();
    loop {
        ordered.next_ios(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        for io in &batch {
            recorder.push(io);
        }
        if !goes_on(recorder.seen) {
            return Err(TraceError::Unusable { problem: "stopped".into(), hint: None });
        }
    }
    let (late, notes) = (ordered.late(), ordered.source().notes());
    Ok(Analysis { late_arrivals: late, notes, ..recorder.finish(options) })
}

struct Recorder {
    sector_bytes: u64,
    seen: u64,
    last: Option<Nanos>,
    response: Times,
    service: Times,
    wait: Times,
    inter_arrival: Times,
    gaps: TimeHistogram,
    arrivals: Arrivals,
    histogram: TimeHistogram,
    devices: Groups,
    addresses: BTreeMap<u32, (Timeline, bool)>,
    interfaces: Groups,
    raw: bool,
    sizes: Groups,
    kinds: Groups,
    start: Timeline,
    heat: HeatMap,
    outstanding: Outstanding,
    by_device: OutstandingByDevice,
    commands: Commands,
    depths: Timeline,
    depth_sum: u64,
    depth_max: u64,
    depth_idle: u64,
    peers: Peers,
    bursts: BurstFinder,
    causes: CauseFinder,
    company: Company,
    pauses: PauseFinder,
    late: LateFinder,
    process_names: BTreeMap<u32, String>,
    runs: RunFinder,
    processes: Groups,
    quantiser: Option<Quantiser>,
    counts: [u64; 4],
    bytes: [u64; 2],
}

impl Recorder {
    fn new(sector_bytes: u32, options: &AnalysisOptions) -> Self {
        Self {
            sector_bytes: u64::from(sector_bytes),
            seen: 0,
            last: None,
            response: Times::default(),
            service: Times::default(),
            wait: Times::default(),
            inter_arrival: Times::default(),
            gaps: TimeHistogram::default(),
            arrivals: Arrivals::default(),
            histogram: TimeHistogram::default(),
            devices: Groups::in_batches(),
            addresses: BTreeMap::new(),
            interfaces: Groups::default(),
            raw: false,
            sizes: Groups::default(),
            kinds: Groups::default(),
            start: Timeline::new(),
            heat: HeatMap::default(),
            outstanding: Outstanding::default(),
            by_device: OutstandingByDevice::default(),
            commands: Commands::default(),
            depths: Timeline::new(),
            depth_sum: 0,
            depth_max: 0,
            depth_idle: 0,
            peers: Peers::default(),
            bursts: BurstFinder::new(sector_bytes),
            causes: CauseFinder::default(),
            company: Company::default(),
            pauses: PauseFinder::default(),
            late: LateFinder::default(),
            process_names: options.processes.clone(),
            runs: RunFinder::default(),
            processes: Groups::default(),
            quantiser: options.ticks_per_s.map(Quantiser::new),
            counts: [0; 4],
            bytes: [0; 2],
        }
    }

    fn push(&mut self, io: &Io) {
        self.seen += 1;
        let request = &io.request;
        let read = request.op == Op::Read;
        let bytes = u64::from(request.sectors) * self.sector_bytes;
        let response = io.response();
        let class = match io.kind {
            Kind::Data if read => 0,
            Kind::Data => 1,
            Kind::Flush => 2,
            Kind::Discard => 3,
            Kind::Other => 4,
        };
        self.kinds.record(class, read, if class < 2 { bytes } else { 0 }, response);
        if let Some(count) = self.counts.get_mut(class as usize) {
            *count += 1;
        }
        let outstanding = self.outstanding.at(request.arrival);
        let on_device = self.by_device.at(request.device, request.arrival, &mut self.outstanding);
        let commands = self.commands.push(io);
        let mut peer = self.peers.push(io, on_device);
        if let Some(peer) = peer.as_mut().filter(|_| commands > 0) {
            peer.alone = None;
        }
        self.bursts.push(io, on_device, peer.as_ref());
        self.causes.push(io, on_device, peer.as_ref());
        self.pauses.push(io);
        self.late.push(io, on_device + commands, peer.as_ref());
        let names = &self.process_names;
        let name = |pid| names.get(&pid).cloned().unwrap_or_else(|| format!("process {pid}"));
        self.company.push(io, peer.as_ref(), name);
        if io.kind != Kind::Data {
            return;
        }
        self.bytes[usize::from(!read)] += bytes;
        if let Some(last) = self.last.replace(request.arrival) {
            let gap = request.arrival.saturating_sub(last);
            self.inter_arrival.record(gap);
            self.gaps.record(gap);
        }
        self.arrivals.record(request.arrival, read, bytes);
        self.devices.record(u64::from(request.device), read, bytes, response);
        self.sizes.record(u64::from(bytes.max(1).ilog2()), read, bytes, response);
        self.raw |= io.raw;
        self.interfaces.record(u64::from(io.raw), read, bytes, response);
        if io.pid != Io::NO_PID {
            self.processes.record(u64::from(io.pid), read, bytes, response);
        }
        self.runs.push(io);
        self.place(io, response);
        if let Some(service) = request.measured_service() {
            self.service.record(service);
            if response.is_some() {
                self.wait.record(request.start.saturating_sub(request.arrival));
            }
        }
        if let Some(response) = response {
            self.respond(io, response, outstanding);
        }
    }

    fn place(&mut self, io: &Io, response: Option<Nanos>) {
        let request = &io.request;
        if self.addresses.len() < ADDRESSED || self.addresses.contains_key(&request.device) {
            let (timeline, measured) = self.addresses.entry(request.device).or_default();
            timeline.record(request.lba.0, response.unwrap_or(Nanos::ZERO));
            *measured |= response.is_some();
        }
    }

    fn respond(&mut self, io: &Io, response: Nanos, found: u64) {
        let request = &io.request;
        self.response.record(response);
        self.histogram.record(response);
        self.start.record(request.arrival.0, response);
        self.heat.record(request.arrival.0, response);
        self.outstanding.add(request.finish);
        self.by_device.add(request.device, request.finish);
        self.depth_sum += found;
        self.depth_max = self.depth_max.max(found + 1);
        self.depth_idle += u64::from(found == 0);
        // A timeline holds times: one outstanding request stands as a millisecond.
        self.depths.record(request.arrival.0, Nanos(found * 1_000_000));
        if let Some(quantiser) = &mut self.quantiser {
            quantiser.push(request.arrival, request.finish);
        }
    }

    fn finish(mut self, options: &AnalysisOptions) -> Analysis {
        let name = |device: u32| device_name(device, options);
        let [reads, writes, flushes, discards] = self.counts;
        let requests = reads + writes;
        let responses = self.response.count();
        let inter_arrival = self.inter_arrival.summary();
        let variation =
            inter_arrival.as_ref().filter(|gaps| gaps.mean_ms > 0.0).map(|gaps| gaps.std_ms / gaps.mean_ms);
        let by_address: Vec<AddressBins> = self
            .addresses
            .iter()
            .map(|(device, (timeline, measured))| AddressBins {
                device: name(*device),
                bins: bins(timeline, *measured),
            })
            .collect();
        let by_device = self.devices.finish(|device| name(device as u32));
        let most = self.peers.most();
        let held = |effects: Vec<Effect>| effects.into_iter().map(|effect| effect.within(most)).collect();
        let mut by_process = self.processes.finish(|pid| process_name(pid, options));
        by_process.sort_by_key(|group| std::cmp::Reverse(group.bytes));
        by_process.truncate(TOP_PROCESSES);
        Analysis {
            requests,
            reads,
            writes,
            flushes,
            discards,
            bytes_read: self.bytes[0],
            bytes_written: self.bytes[1],
            span_s: self.last.unwrap_or_default().as_s(),
            late_arrivals: 0,
            response: self.response.summary(),
            service: self.service.summary(),
            wait: self.wait.summary(),
            inter_arrival,
            inter_arrival_variation: variation,
            by_inter_arrival: self.gaps.bins(),
            arrivals: self.arrivals.bins(),
            by_response: self.histogram.bins(),
            fleet: fleet(&by_device),
            by_device,
            hot_regions: hot_regions(&by_address, requests),
            by_address,
            by_interface: if self.raw {
                self.interfaces.finish(|raw| if raw == 1 { "raw" } else { "block" }.into())
            } else {
                Vec::new()
            },
            by_size: self.sizes.finish(|log| size_class(1 << log)),
            by_kind: self
                .kinds
                .finish(|kind| ["reads", "writes", "flushes", "discards", "others"][kind as usize].into()),
            by_start: bins(&self.start, true),
            heat: self.heat.cells(),
            depth: Depth {
                mean: self.depth_sum as f64 / responses.max(1) as f64,
                max: self.depth_max,
                idle_share: self.depth_idle as f64 / responses.max(1) as f64,
                over_time: bins(&self.depths, true),
            },
            bursts: (responses > 0).then(|| {
                let bursts = self.bursts.finish();
                Bursts { effects: held(bursts.effects), ..bursts }
            }),
            effects: if responses > 0 {
                let mut effects = self.causes.finish();
                let crate::company::Found { effects: company, filled_by, region } = self.company.finish(name);
                if let Some(queue) = effects.iter_mut().find(|effect| effect.cause == "queue") {
                    queue.filled_by = filled_by;
                }
                effects.extend(company);
                let (stops, paused) = self.pauses.finish(name);
                effects.extend(stops);
                effects.extend(self.late.finish(name, &paused, region.as_ref()));
                held(effects)
            } else {
                Vec::new()
            },
            runs: self.runs.finish(),
            by_process,
            quantised: self.quantiser.and_then(Quantiser::finish),
            notes: Notes::default(),
        }
    }
}

fn device_name(device: u32, options: &AnalysisOptions) -> String {
    if options.kernel_devices {
        let (major, minor) = device_numbers(device);
        format!("{major},{minor}")
    } else {
        device.to_string()
    }
}

fn process_name(pid: u64, options: &AnalysisOptions) -> String {
    match options.processes.get(&(pid as u32)) {
        Some(name) => format!("{name} ({pid})"),
        None => pid.to_string(),
    }
}

/// A power of two and what is below the next.
fn size_class(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

fn bins(timeline: &Timeline, measured: bool) -> Vec<TimelineBin> {
    let filled = timeline.bins().filter(|bin| bin.count > 0);
    filled
        .map(|bin| TimelineBin {
            from: bin.start,
            width: bin.width,
            count: bin.count,
            mean: bin.mean_ms.filter(|_| measured),
            max: bin.max.as_ms(),
        })
        .collect()
}

fn hot_regions(by_address: &[AddressBins], requests: u64) -> Vec<Region> {
    let regions = by_address.iter().flat_map(|device| {
        device.bins.iter().map(|bin| Region {
            device: device.device.clone(),
            first_lba: bin.from,
            sectors: bin.width,
            requests: bin.count,
            share: bin.count as f64 / requests.max(1) as f64,
            response_ms: bin.mean.map(|mean| MeanAndMax { mean, max: bin.max }),
        })
    });
    let mut regions: Vec<Region> = regions.collect();
    regions.sort_by_key(|region| std::cmp::Reverse(region.requests));
    regions.truncate(HOT_REGIONS);
    regions
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_trace::Request;
    use headstack_units::Lba;

    /// Reads in flushes take 8 ms and others 1 ms, but for one flush: the interval of so few that differ so much reached beyond 8.
    #[test]
    fn no_effect_is_larger_than_responses_differ() {
        let mut recorder = Recorder::new(512, &AnalysisOptions::default());
        for k in 0..640_u64 {
            let at = Nanos(k * 100_000_000);
            if k % 64 == 0 {
                let flush =
                    Request { finish: Nanos(at.0 + 50_000_000), ..Request::new(at, Op::Write, Lba(0), 0) };
                recorder.push(&Io { kind: Kind::Flush, ..Io::new(flush) });
            }
            let request = Request::new(Nanos(at.0 + 1), Op::Read, Lba(k * 7_919 % 100_000), 8);
            let ms = if (k % 64 == 0) == (k / 64 == 7) { 1.0 } else { 8.0 };
            recorder.push(&Io::new(Request { finish: request.arrival + Nanos::from_ms(ms), ..request }));
        }
        let analysis = recorder.finish(&AnalysisOptions::default());
        let told = analysis.effects.iter().filter_map(|effect| Some([effect.low?, effect.high?]));
        let told: Vec<f64> = told.flatten().collect();
        assert!(!told.is_empty() && told.iter().all(|times| (0.125..=8.0).contains(times)), "{told:?}");
    }

    /// Reads that come while a flush or a discard lasts are held up until it ends; each finds nothing else outstanding, and they were
    /// told as retries.
    #[test]
    fn reads_that_wait_for_a_flush_or_a_discard_are_no_retries() {
        for kind in [Kind::Flush, Kind::Discard] {
            let mut recorder = Recorder::new(512, &AnalysisOptions::default());
            for k in 0..6000_u64 {
                let at = Nanos(k * 20_000_000);
                let ends = Nanos(at.0 + 60_000_000);
                let is_held_up = k % 100 == 50;
                if is_held_up {
                    let command = Request { finish: ends, ..Request::new(at, Op::Write, Lba(0), 0) };
                    recorder.push(&Io { kind, ..Io::new(command) });
                }
                let request = Request::new(Nanos(at.0 + 1), Op::Read, Lba(k * k * 7_919 % 100_000_000), 8);
                let from = if is_held_up { ends } else { request.arrival };
                let ms = 4.0 + (k * 7_919 % 1000) as f64 / 100.0;
                recorder.push(&Io::new(Request { finish: from + Nanos::from_ms(ms), ..request }));
            }
            let analysis = recorder.finish(&AnalysisOptions::default());
            assert!(
                !analysis.effects.iter().any(|effect| effect.cause == "late-reads"),
                "{:?}",
                analysis.effects
            );
        }
    }
}
