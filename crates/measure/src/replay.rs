//! The loop closed: a drive rebuilt from a record serves the random accesses of that record again, and what they take is held
//! against what they took.

use crate::MeasureError;
use crate::device::{Access, Device, Mode, SimulatedDevice};
use crate::extract::extract;
use crate::filling::{Pace, filled, with_memory};
use crate::read_cache::cached;
use crate::reading::rotation;
use crate::reading::stalls::{Stalls, stalls};
use crate::reads::{Kind, RARELY_LATE, Reads, without_stalls};
use crate::rebuild::rebuild;
use crate::record::series::random::CHUNK;
use crate::record::{ProbeName, Record, Role, Sample};
use headstack_drive::spec::DriveSpec;
use headstack_stats::demerit_ms;
use headstack_system::{System, SystemConfig};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// A drive file with a larger demerit, in percent, is not to be trusted.
pub const LIMIT_PERCENT: f64 = 5.0;
/// Nor is one of which a single access is further off on average, in percent: a demerit tells how long accesses take, and not which.
pub const LIMIT_PER_REQUEST_PERCENT: f64 = 10.0;

/// Accesses of one kind at one depth, as they took on the device and on the rebuilt drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayScore {
    /// "read" or "write".
    pub mode: &'static str,
    /// Accesses outstanding at a time.
    pub depth: u32,
    /// Sectors of each.
    pub sectors: u32,
    /// Accesses compared.
    pub accesses: usize,
    /// Accesses left out: as many as may have been seen late by what the probe `rotation` says, those that took longest beyond the model's time, and some that took least.
    pub left_out: usize,
    /// Mean latency on the device, in ms.
    pub measured_mean_ms: f64,
    /// Mean latency on the rebuilt drive, in ms.
    pub model_mean_ms: f64,
    /// Demerit, in ms.
    pub demerit_ms: f64,
    /// Demerit, in percent of the measured mean.
    pub demerit_percent: f64,
    /// Mean error of a single access, in percent of the measured mean; one at a time only.
    pub per_request_percent: Option<f64>,
}

/// How well a rebuilt drive replays the random accesses of its record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Reads, one at a time.
    pub reads: Option<ReplayScore>,
    /// Writes, one at a time.
    pub writes: Option<ReplayScore>,
    /// Several at a time: these depend on the scheduler, which is assumed.
    pub queued: Vec<ReplayScore>,
    /// Reads that continue each other, one at a time: of each size.
    pub sequential: Vec<ReplayScore>,
    /// Reads of several sizes anywhere, one at a time: of each size.
    pub by_size: Vec<ReplayScore>,
    /// The largest demerit that is good enough, in percent.
    pub limit_percent: f64,
    /// The largest error of a single access, on average, that is good enough, in percent.
    pub limit_per_request_percent: f64,
    /// Whether reads and writes, one at a time, are; not where writes of the device showed nothing to hold them against.
    pub within_limit: bool,
}

/// A drive file, and how well it replays the record that it was made of.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveFile {
    /// The file; its head says how well it replays.
    pub toml: String,
    /// Absent where the record holds no random accesses.
    pub replay: Option<Replay>,
}

/// Makes a drive file of a record, and holds it against the random accesses of the record.
///
/// # Errors
/// As [`extract`] and [`crate::rebuild::rebuild`]; [`MeasureError::System`] if the drive cannot be simulated.
pub fn drive_file(record: &Record, name: &str) -> Result<DriveFile, MeasureError> {
    let spec = with_memory(cached(record, filled(record, rebuild(&extract(record)?, name)?)?)?);
    let replay = replay(record, &spec)?;
    let mut head = replay.as_ref().map_or_else(|| NOT_REPLAYED.to_owned(), head);
    if rotation::only_reads_show_it(record) {
        head.insert_str(0, NO_WRITES);
    }
    if let Some(pace) = Pace::of(record, &spec)? {
        head.insert_str(0, &of_pace(pace));
    }
    Ok(DriveFile { toml: head + &spec.to_toml(), replay })
}

/// Replays the random accesses of a record on a drive; `None` if it has none.
///
/// # Errors
/// [`MeasureError::System`] if the drive cannot be simulated.
pub fn replay(record: &Record, spec: &DriveSpec) -> Result<Option<Replay>, MeasureError> {
    // When stalls come is chance: here the rebuilt drive has none, and accesses that met one are left out.
    let stalls = stalls(record);
    let system = System::new(SystemConfig::of_drive("rebuilt", without_stalls(spec)))?;
    let mut device = SimulatedDevice::new("rebuilt", &Arc::new(system), 1)?;
    let late_share = rotation::rotation(record).map_or(0.0, |rotation| rotation.late_share);
    let mut series: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    let sectors = device.info().sectors;
    for sample in record.of(ProbeName::Random).filter(|sample| sample.role == Role::Measure) {
        if sample.lba + u64::from(sample.sectors) <= sectors {
            series.entry(sample.series).or_default().push(sample);
        }
    }
    let mut scores = Vec::new();
    for samples in series.values() {
        let pairs = again(&mut device, samples, stalls.as_ref())?;
        scores.extend(score(samples[0], pairs, late_share));
    }
    let (single, queued): (Vec<_>, Vec<_>) = scores.into_iter().partition(|score| score.depth == 1);
    let of = |mode: Mode| single.iter().find(|score| score.mode == mode.as_str()).cloned();
    let (reads, writes) = (of(Mode::Read), of(Mode::Write));
    if single.is_empty() {
        return Ok(None);
    }
    let [sequential, by_size] = sized(record, spec, (stalls.as_ref(), late_share))?;
    let faultless = |scores: &[ReplayScore]| scores.iter().all(|score| score.fault_of_size().is_none());
    Ok(Some(Replay {
        // Of writes that show no rotation none was held against anything.
        within_limit: !rotation::only_reads_show_it(record)
            && single.iter().all(|score| score.fault().is_none())
            && faultless(&sequential)
            && faultless(&by_size),
        limit_percent: LIMIT_PERCENT,
        limit_per_request_percent: LIMIT_PER_REQUEST_PERCENT,
        reads,
        writes,
        queued,
        sequential,
        by_size,
    }))
}

/// Of completions that were seen late there may be so many standard deviations more than usual.
const MORE_LATE: f64 = 2.0;
/// Fewer reads than this tell nothing of others.
const FEWEST: usize = 12;
/// One of so many, and at least one, may meet what the others do not: a slipped sector, or the edge of a zone.
const ONE_OF: usize = 50;

/// Reads of one kind and size: the first, and of each what it took, and takes on the rebuilt drive, in ms.
type OfSize<'a> = (&'a Sample, Vec<(f64, f64)>);

/// Sequential reads, and reads anywhere, of each size that the probes asked for.
fn sized(
    record: &Record,
    spec: &DriveSpec,
    (stalls, late_share): (Option<&Stalls>, f64),
) -> Result<[Vec<ReplayScore>; 2], MeasureError> {
    let mut of_size: BTreeMap<(Kind, u32), OfSize<'_>> = BTreeMap::new();
    for probe in [ProbeName::Cache, ProbeName::Overhead, ProbeName::Stream] {
        let Some(reads) = Reads::of(record, probe) else { continue };
        for again in reads.by(spec)? {
            let Some(kind) = again.kind else { continue };
            if stalls.is_some_and(|stalls| stalls.met(again.sample)) {
                continue;
            }
            let key = (kind, again.sample.sectors);
            let (_, pairs) = of_size.entry(key).or_insert_with(|| (again.sample, Vec::new()));
            pairs.push((again.sample.latency_ms(), again.ms));
        }
    }
    of_size.retain(|_, (_, pairs)| pairs.len() >= FEWEST);
    let scores = |wanted: Kind| {
        let own = of_size.iter().filter(|((kind, _), _)| *kind == wanted);
        own.filter_map(|(_, (first, pairs))| usual(first, pairs.clone(), late_share)).collect()
    };
    Ok([scores(Kind::Sequential), scores(Kind::Anywhere)])
}

/// Those that miss most are left out.
fn usual(first: &Sample, mut pairs: Vec<(f64, f64)>, late_share: f64) -> Option<ReplayScore> {
    let odd = (pairs.len() / ONE_OF).max(1);
    pairs.sort_by(|a, b| (a.0 - a.1).abs().total_cmp(&(b.0 - b.1).abs()));
    pairs.truncate(pairs.len() - odd);
    let score = score(first, pairs, late_share)?;
    Some(ReplayScore { left_out: score.left_out + odd, ..score })
}

/// Serves the accesses of a series again, as the probe did: measured and simulated latencies, in ms.
fn again(
    device: &mut SimulatedDevice,
    samples: &[&Sample],
    stalls: Option<&Stalls>,
) -> Result<Vec<(f64, f64)>, MeasureError> {
    let accesses: Vec<Access> =
        samples.iter().map(|s| Access { mode: s.mode, lba: s.lba, sectors: s.sectors }).collect();
    let mut pairs = Vec::with_capacity(samples.len());
    for (samples, accesses) in samples.chunks(CHUNK).zip(accesses.chunks(CHUNK)) {
        let windows = device.queued(accesses, samples[0].depth)?;
        let taken = windows.iter().map(|window| (window.end - window.start).as_ms());
        let stalled = |sample: &Sample| sample.depth == 1 && stalls.is_some_and(|stalls| stalls.met(sample));
        let compared = samples.iter().zip(taken).filter(|(sample, _)| !stalled(sample));
        pairs.extend(compared.map(|(sample, taken)| (sample.latency_ms(), taken)));
    }
    device.flush()?;
    Ok(pairs)
}

fn score(first: &Sample, mut pairs: Vec<(f64, f64)>, late_share: f64) -> Option<ReplayScore> {
    let alone = first.depth == 1;
    let late = if alone && late_share >= RARELY_LATE { pairs.len() as f64 * late_share } else { 0.0 };
    // The share itself is known from some hundred completions only, and by chance more of these may be late: as many are left out at
    // the other end, lest those that are left be too short.
    let more = ((MORE_LATE * late.sqrt()).ceil() as usize).min(pairs.len() / 8);
    let last = (late.ceil() as usize + more).min(pairs.len() / 2);
    pairs.sort_by(|a, b| (a.0 - a.1).total_cmp(&(b.0 - b.1)));
    pairs.truncate(pairs.len() - last);
    pairs.drain(..more);
    let left_out = last + more;
    let (measured, model): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let found = demerit_ms(&measured, &model).ok()?;
    let errors: f64 = pairs.iter().map(|(measured, model)| (measured - model).abs()).sum();
    let mean_error_ms = errors / pairs.len() as f64;
    Some(ReplayScore {
        mode: first.mode.as_str(),
        depth: first.depth,
        sectors: first.sectors,
        accesses: pairs.len(),
        left_out,
        measured_mean_ms: found.measured_mean_ms,
        model_mean_ms: found.model_mean_ms,
        demerit_ms: found.ms,
        demerit_percent: found.percent,
        per_request_percent: alone.then(|| 100.0 * mean_error_ms / found.measured_mean_ms),
    })
}

impl ReplayScore {
    /// What is wrong with it, if it is beyond a limit.
    fn fault(&self) -> Option<String> {
        if self.demerit_percent > LIMIT_PERCENT {
            return Some(format!("the demerit of {}s is over {LIMIT_PERCENT} %", self.mode));
        }
        let is_off = self.per_request_percent.is_some_and(|percent| percent > LIMIT_PER_REQUEST_PERCENT);
        is_off.then(|| {
            format!("single {}s are more than {LIMIT_PER_REQUEST_PERCENT} % off on average", self.mode)
        })
    }

    /// The same of sequential reads, and of those of one size, by their mean: a long one of many short ones makes a large demerit, and which
    /// one that is depends on what was read before.
    fn fault_of_size(&self) -> Option<String> {
        let percent = 100.0 * (self.model_mean_ms / self.measured_mean_ms - 1.0).abs();
        let (measured, model) = (self.measured_mean_ms, self.model_mean_ms);
        (percent > LIMIT_PERCENT)
            .then(|| format!("they take {model:.3} ms on average, and not {measured:.3}"))
    }
}

/// The head of a drive file that was held against nothing.
const NOT_REPLAYED: &str = "# CAUTION: the record holds no random accesses (probe `random`): nothing says how well this file replays the device.\n\n";

/// In the head of a drive file with a write cache.
fn of_pace(pace: Pace) -> String {
    let Pace { sectors, measured_ms, model_ms } = pace;
    let mut text = format!(
        "# Writes of {sectors} sectors into the full write cache: {measured_ms:.3} ms each measured, {model_ms:.3} ms simulated.\n"
    );
    if !pace.is_same() {
        text += "# CAUTION: how the drive chooses among cached writes is assumed: many random writes in a row may be off by as much\n";
    }
    text
}

/// In the head of a drive file that knows nothing of writes.
const NO_WRITES: &str = "# CAUTION: writes of the device show no rotation, as where a cache on the media or in flash takes them: they were neither measured nor held \
     against this file, which writes through. Do not trust what it says of writes\n";

/// The head of a drive file, as comments.
fn head(replay: &Replay) -> String {
    let mut text =
        String::from("# How well this file replays the random accesses that were measured, one at a time:\n");
    for score in [&replay.reads, &replay.writes].into_iter().flatten() {
        // A string takes whatever is written.
        let _ = writeln!(
            text,
            "# {}s: demerit {:.2} %, mean {:.3} ms measured, {:.3} ms simulated ({} accesses)",
            score.mode, score.demerit_percent, score.measured_mean_ms, score.model_mean_ms, score.accesses
        );
        if let Some(fault) = score.fault() {
            let _ = writeln!(text, "# CAUTION: {fault}: do not trust what this file says of {}s", score.mode);
        }
    }
    for (kind, scores) in [("sequential reads", &replay.sequential), ("reads", &replay.by_size)] {
        for score in scores {
            let of_size = format!("{kind} of {} sectors", score.sectors);
            let (measured, model) = (score.measured_mean_ms, score.model_mean_ms);
            let _ = writeln!(text, "# {of_size}: mean {measured:.3} ms measured, {model:.3} ms simulated");
            if let Some(fault) = score.fault_of_size() {
                let _ = writeln!(text, "# CAUTION: {fault}: do not trust what this file says of {of_size}");
            }
        }
    }
    text + "\n"
}
