//! `disksim_synthio`: generators, made streams.
//!
//! A generator of DiskSim is a process: it computes for an inter-arrival time, issues a request, and goes on, waits for
//! it (time-critical), or waits once a limit has passed (time-limited). One that never waits is an open stream.

use super::instances::{Instances, expanded};
use super::laws;
use super::of_kind;
use super::organisation::{Volume, volume_of};
use crate::error::ImportError;
use crate::fields::{Fields, wrong};
use crate::report::Report;
use crate::tree::{Block, Item, Kind};
use headstack_system::WorkloadSpec;
use headstack_system::workload::{ProcessesSpec, RunStart, StreamSpec, TimeLaw};

const BLOCK_KIB: f64 = 0.5;
const REQUESTS: &str = "Number of I/O requests to generate";
const TIME: &str = "Maximum time of trace generated";
const GENERAL: &str = "General inter-arrival times";
const SEQUENTIAL: &str = "Sequential inter-arrival times";
const LOCAL: &str = "Local inter-arrival times";
const LIMITS: &str = "Time-limited think times";
const CAPACITY: &str = "Storage capacity per device";

/// The workload; its summary is the caller's.
pub(super) struct Workload(pub(super) WorkloadSpec);

pub(super) fn read(
    block: &Block,
    items: &[Item],
    volumes: &[Volume],
    instances: &Instances<'_>,
    report: &mut Report,
) -> Result<Option<Workload>, ImportError> {
    let fields = Fields { block };
    let requests = fields.need_whole(REQUESTS, 1, 1 << 50)?;
    let end_s = fields.real(TIME)?.filter(|end| *end > 0.0);
    report.carried(REQUESTS, "requests");
    report.carried(TIME, "stream.end_s");
    for name in ["Think time from call to request", "Think time from request to return"] {
        if let Some(value) = fields.real(name)?.filter(|value| *value != 0.0) {
            report.not_carried(name, value.to_string(), "system calls take no time");
        }
    }
    let generators = fields.list("Generators")?;
    if generators.is_empty() {
        return Ok(None);
    }
    let mut stream = Vec::new();
    for (index, generator) in generators.iter().enumerate() {
        let Kind::Block(block) = &generator.kind else {
            return Err(wrong("Generators", generator, "a list of blocks `disksim_synthgen { … }`"));
        };
        let mut part = report.part();
        let name = format!("generator {index}");
        let made = generator_stream(block, items, volumes, instances, &mut part)?;
        report.merge(&name, part);
        stream.push(StreamSpec { end_s, ..made });
    }
    Ok(Some(Workload(WorkloadSpec {
        summary: String::new(),
        seed: seed(items, report)?,
        requests: Some(requests),
        processes: Some(processes(items, &stream, report)?),
        stream,
    })))
}

/// `Real Seed` is set after `Init Seed`, and is what counts.
fn seed(items: &[Item], report: &mut Report) -> Result<u64, ImportError> {
    let Some(block) = super::only(items, "disksim_global")? else { return Ok(1) };
    let mut found = 1;
    for name in ["Init Seed", "Real Seed"] {
        if let Some(seed) = (Fields { block }).whole(name, 0, u64::from(u32::MAX))? {
            report.carried(name, "seed: of the first request of each generator, as there");
            found = seed;
        }
    }
    Ok(found)
}

/// DiskSim's generators are processes that compute on processors.
fn processes(
    items: &[Item],
    streams: &[StreamSpec],
    report: &mut Report,
) -> Result<ProcessesSpec, ImportError> {
    const PROCESSORS: &str = "Number of processors";
    const SCALE: &str = "Process-Flow Time Scale";
    let own = streams.len() as u32;
    let mut found = ProcessesSpec { processors: own, time_scale: 1.0 };
    for block in of_kind(items, "disksim_pf") {
        let fields = Fields { block };
        let count = fields.whole(PROCESSORS, 1, 1_000_000)?.unwrap_or(1) as u32;
        found = ProcessesSpec { processors: count, time_scale: fields.real(SCALE)?.unwrap_or(1.0) };
        report.carried(PROCESSORS, "processes.processors");
        report.carried(SCALE, "processes.time_scale");
        let never_wait = streams
            .iter()
            .filter(|stream| stream.waits_fraction == Some(0.0) && stream.limited_fraction == 0.0)
            .count();
        if count < own && never_wait > 0 {
            let message = format!(
                "{count} of {own} generators compute at a time, the last ones first; one that never waits never leaves its \
                 processor, and the others may not run at all"
            );
            report.warn(fields.at(PROCESSORS), message);
        } else if count > 1 && never_wait < streams.len() {
            let message = "a processor that finds no generator ready never works again, but for the first: how many last \
                           hangs on chance, so that runs with other seeds may differ much";
            report.warn(fields.at(PROCESSORS), message.to_owned());
        }
    }
    Ok(found)
}

fn generator_stream(
    block: &Block,
    items: &[Item],
    volumes: &[Volume],
    instances: &Instances<'_>,
    report: &mut Report,
) -> Result<StreamSpec, ImportError> {
    let fields = Fields { block };
    let probability = |name: &str| share(&fields, name);
    let block_kib = BLOCK_KIB * fields.need_whole("Blocking factor", 1, 1 << 30)? as f64;
    let local_fraction = probability("Probability of local access")?;
    let (sizes, sizes_at) = laws::read(&fields, "Sizes")?;
    let mut stream = StreamSpec {
        name: None,
        device: None,
        volume: None,
        volumes: Vec::new(),
        requests: None,
        start_s: 0.0,
        end_s: None,
        read_fraction: probability("Probability of read access")?,
        sequential_fraction: probability("Probability of sequential access")?,
        separate_directions: false,
        run_start: RunStart::Anywhere,
        local_fraction,
        local_distance: None,
        local_shift: None,
        size: sizes.size(sizes_at, report)?,
        size_step_kib: Some(block_kib),
        align_kib: Some(block_kib),
        range_percent: None,
        range_lba: None,
        ranges_percent: Vec::new(),
        ranges_lba: Vec::new(),
        popularity: None,
        stride: None,
        raw: false,
        force_media_fraction: 0.0,
        flush_fraction: 0.0,
        duration_limit_fraction: 0.0,
        duration_limit: 1,
        discard_fraction: 0.0,
        write_same_fraction: 0.0,
        inter_arrival: None,
        burst: None,
        think: None,
        sequential_think: None,
        local_think: None,
        waits_fraction: None,
        limited_fraction: 0.0,
        time_limit: None,
        users: None,
        queue_depth: None,
    };
    if local_fraction > 0.0 {
        let (distances, at) = laws::read(&fields, "Local distances")?;
        stream.local_shift = Some(distances.shift(at, report)?);
    }
    if stream.sequential_fraction + local_fraction > 1.0 + 1e-9 {
        return Err(ImportError::at(&block.at, "sequential and local requests together are more than all"));
    }
    for (name, to) in CARRIED {
        report.carried(name, to);
    }
    targets(&mut stream, &fields, (items, volumes, instances), report)?;
    timing(&mut stream, &fields, report)?;
    Ok(stream)
}

/// Where the values of a generator go that go the same way in every file.
const CARRIED: [(&str, &str); 6] = [
    ("Blocking factor", "stream.align_kib, stream.size_step_kib"),
    ("Probability of sequential access", "stream.sequential_fraction"),
    ("Probability of local access", "stream.local_fraction"),
    ("Probability of read access", "stream.read_fraction"),
    ("Local distances", "stream.local_shift"),
    ("Sizes", "stream.size"),
];

fn share(fields: &Fields<'_>, name: &str) -> Result<f64, ImportError> {
    let value = fields.real(name)?.unwrap_or(0.0);
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    Err(ImportError::at(fields.at(name), format!("`{name}` is {value}, but is a share, between 0 and 1")))
}

/// Volumes and the part of them that is used.
fn targets(
    stream: &mut StreamSpec,
    fields: &Fields<'_>,
    (items, volumes, instances): (&[Item], &[Volume], &Instances<'_>),
    report: &mut Report,
) -> Result<(), ImportError> {
    let at = fields.at("devices");
    let mut found = Vec::new();
    for name in expanded(fields.list("devices")?, at)? {
        found.push(volume_of(&name, volumes, items, instances, at, report)?.1);
    }
    let Some(smallest) = found.iter().map(|volume| volume.sectors).min() else {
        return Err(ImportError::at(&fields.block.at, "the generator has no devices"));
    };
    match found.as_slice() {
        [one] => stream.volume = Some(one.name.clone()),
        several => stream.volumes = several.iter().map(|volume| volume.name.clone()).collect(),
    }
    report.carried("devices", "stream.volume or stream.volumes");
    let capacity = fields.need_whole(CAPACITY, 1, 1 << 50)?;
    report.carried(CAPACITY, "stream.range_lba, unless it is all of the volume");
    if capacity > smallest {
        let message =
            format!("`{CAPACITY}` is {capacity}, but there are only {smallest} sectors: all are used");
        report.warn(fields.at(CAPACITY), message);
    }
    if capacity.min(smallest) < found.iter().map(|volume| volume.sectors).max().unwrap_or(0) {
        stream.range_lba = Some([0, capacity.min(smallest) - 1]);
    }
    Ok(())
}

/// When it issues, and what it waits for.
fn timing(stream: &mut StreamSpec, fields: &Fields<'_>, report: &mut Report) -> Result<(), ImportError> {
    let waits = share(fields, "Probability of time-critical request")?;
    let limited = share(fields, "Probability of time-limited request")?;
    if waits + limited > 1.0 + 1e-9 {
        let message = "time-critical and time-limited requests together are more than all";
        return Err(ImportError::at(&fields.block.at, message));
    }
    let (general, at) = laws::read(fields, GENERAL)?;
    let general = general.time(at, report)?;
    let mut other = |name: &str, fraction: f64| -> Result<Option<TimeLaw>, ImportError> {
        if fraction == 0.0 {
            return Ok(None);
        }
        let (law, at) = laws::read(fields, name)?;
        Ok(Some(law.time(at, report)?).filter(|law| *law != general))
    };
    stream.sequential_think = other(SEQUENTIAL, stream.sequential_fraction)?;
    stream.local_think = other(LOCAL, stream.local_fraction)?;
    stream.think = Some(general);
    stream.waits_fraction = (waits < 1.0).then_some(waits);
    stream.limited_fraction = limited;
    if limited > 0.0 {
        let (limits, at) = laws::read(fields, LIMITS)?;
        stream.time_limit = Some(limits.time(at, report)?);
        report.carried(LIMITS, "stream.time_limit");
    }
    report.carried(GENERAL, "stream.think");
    report.carried(SEQUENTIAL, "stream.sequential_think, where it is another one");
    report.carried(LOCAL, "stream.local_think, where it is another one");
    report.carried("Probability of time-critical request", "stream.waits_fraction");
    report.carried("Probability of time-limited request", "stream.limited_fraction");
    Ok(())
}
