//! A measurement: probes one after the other, into one record.

use crate::MeasureError;
use crate::angles::disk_clock::DiskClock;
use crate::angles::session::Session;
use crate::device::{Device, Mode, OnlyRead};
use crate::memory::Memory;
use crate::probe::{self, Context, Look, Probe};
use crate::progress::Listener;
use crate::reading::known::Known;
use crate::reading::rotation::{self, Rotation};
use crate::record::store::{self, Store};
use crate::record::{ProbeName, Record, Role, Sample};
use crate::streams::StreamGrid;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What to measure, and where to write it down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Names of probes; empty: all that suit the device. Probes they need run before them.
    pub probes: Vec<String>,
    /// The record's file; absent: it stays in memory.
    pub record: Option<PathBuf>,
    /// Go on with the record that the file holds, if there is one; otherwise a new one takes its place.
    pub resume: bool,
    /// How much the probes do that can do more or less.
    pub scope: Scope,
    /// In how much time of the device's clock to be through, in s: what a drive file can do without is left out where that turns out
    /// to be too short for it.
    pub within_s: Option<f64>,
}

/// How much the probes do that can do more or less.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// `zoned` reads all of the device instead of samples of it.
    pub whole_device: bool,
    /// What `stream` reads and writes.
    pub streams: StreamGrid,
    /// How much of the device `scan` reads, above 0 and up to 1.
    pub scan_share: f64,
}

impl Default for Scope {
    fn default() -> Self {
        Self { whole_device: false, streams: StreamGrid::default(), scan_share: 1.0 }
    }
}

/// A measurement that ended: whole, or stopped by an error.
#[derive(Debug)]
pub struct Measured {
    /// What was measured.
    pub record: Record,
    /// Why it did not come to its end: the caller stopped it, the device disappeared, … The record is kept.
    pub stopped: Option<MeasureError>,
    /// Probes that were left out on the way, to be through in time.
    pub left_out: Vec<ProbeName>,
    /// How long it took on the device's clock, in s.
    pub took_s: f64,
}

/// Runs probes on a device. `listener` hears how far they are, now and then, and stops them by answering `false`.
///
/// # Errors
/// [`MeasureError::UnknownProbe`], [`MeasureError::Record`] if the record cannot be read or written. What ends a
/// measurement that has begun is in [`Measured::stopped`] instead.
pub fn measure(
    device: &mut dyn Device,
    options: &Options,
    listener: Listener<'_>,
) -> Result<Measured, MeasureError> {
    let wanted = probe::plan(&options.probes, device.info())?;
    let mut record = Record::new(device.info().clone());
    if options.resume
        && let Some(path) =
            options.record.as_deref().filter(|path| path.exists() || store::journal_path(path).exists())
    {
        record = store::read(path)?;
        continue_record(&record, device, path)?;
    }
    record.head.made_by = device.made_by().map(str::to_owned);
    if wanted.iter().any(|probe| probe.name == ProbeName::Stream) {
        take_grid(&mut record, device, options)?;
    }
    record.head.sessions += 1;
    let mut store = match &options.record {
        Some(path) => Store::at(path, &record)?,
        None => Store::in_memory(),
    };
    let (mut stopped, mut left_out, mut any_done) = (None, Vec::new(), false);
    let began = device.now();
    let scans = |probe: &&Probe| probe.name == ProbeName::Scan && !record.has_finished(probe.name);
    // No probe before a scan needs to tell how fast the device is.
    let look = wanted.iter().find(|probe| scans(probe)).and_then(|_| Look::at(device).ok());
    for (place, &probe) in wanted.iter().enumerate() {
        // Where only reads show the media, what always writes shows nothing.
        if record.has_finished(probe.name) || !probe.suits(&record.head.device) {
            continue;
        }
        let expected_s = |probe: &Probe| probe::expected_s(probe, &record, &options.scope, look);
        let later = |later: &&&Probe| !record.has_finished(later.name) && !left_out.contains(&later.name);
        let rest: Vec<&Probe> = wanted[place..].iter().filter(later).copied().collect();
        let expected: Vec<f64> = rest.iter().map(|probe| expected_s(probe)).collect();
        // What comes first was found to fit when it was planned, and may be all that was asked for.
        let within_s = options.within_s.filter(|_| any_done);
        let left_s = within_s.map_or(f64::INFINITY, |all| all - (device.now() - began).as_s());
        left_out.extend(probe::too_long(&rest, &expected, left_s));
        if left_out.contains(&probe.name) {
            continue;
        }
        let mut only_read;
        let device: &mut dyn Device = if rotation::only_reads_show_it(&record) {
            only_read = OnlyRead::new(device);
            &mut only_read
        } else {
            device
        };
        let kept = rest.iter().zip(&expected).filter(|(later, _)| !left_out.contains(&later.name));
        let expected_s = (expected[0], kept.skip(1).map(|(_, s)| s).sum());
        if let Err(error) = run_probe(device, &mut record, &mut store, listener, (probe, expected_s, options))
        {
            stopped = Some(error);
            break;
        }
        any_done = true;
        record.head.finished.push(probe.name.as_str().to_owned());
        if let Some(path) = &options.record {
            // The journal's head lists the probes that are finished.
            store = Store::at(path, &record)?;
        }
    }
    store.finish(&record)?;
    let took_s = (device.now() - began).as_s();
    Ok(Measured { record, stopped, left_out, took_s })
}

/// A record to go on with must be of this device.
fn continue_record(record: &Record, device: &dyn Device, path: &std::path::Path) -> Result<(), MeasureError> {
    let (old, new) = (&record.head.device, device.info());
    if (old.sectors, old.sector_bytes) != (new.sectors, new.sector_bytes) {
        return Err(MeasureError::Record {
            path: path.to_owned(),
            problem: format!(
                "it is of {}, {} sectors of {} bytes; {} has {} of {}",
                old.name, old.sectors, old.sector_bytes, new.name, new.sectors, new.sector_bytes
            ),
            hint: Some("give another `--record`, or begin anew without resuming".to_owned()),
        });
    }
    if let (Some(before), Some(now)) = (record.head.made_by.as_deref(), device.made_by())
        && before != now
    {
        return Err(MeasureError::Record {
            path: path.to_owned(),
            problem: format!("it is of `{before}`; now it would be `{now}`"),
            hint: Some("go on with the same options, or give another `--record`".to_owned()),
        });
    }
    Ok(())
}

/// The grid of streams is checked, and becomes part of the record; a record to go on with has its own.
fn take_grid(record: &mut Record, device: &dyn Device, options: &Options) -> Result<(), MeasureError> {
    let grid = &options.scope.streams;
    grid.check(device.info())?;
    let holds_streams = record.samples.iter().any(|sample| sample.probe == ProbeName::Stream);
    if holds_streams && record.head.streams.as_ref() != Some(grid) {
        return Err(MeasureError::Record {
            path: options.record.clone().unwrap_or_default(),
            problem: "it holds streams of other sizes or repeats".to_owned(),
            hint: Some("go on with the same sizes and repeats, or give another `--record`".to_owned()),
        });
    }
    record.head.streams = Some(grid.clone());
    Ok(())
}

/// Before an unfinished probe runs again: what it left is dropped where it cannot take that up, at least its last series,
/// which may not be whole. Samples of unfinished probes that are not asked for now stay in the record.
/// Says whether any was dropped.
fn drop_unfinished(record: &mut Record, probe: &Probe) -> bool {
    let before = record.samples.len();
    let own = |sample: &&Sample| sample.probe == probe.name;
    let last = record.samples.iter().rev().find(own).map(|sample| sample.series);
    record.samples.retain(|sample| !own(&sample) || probe.resumes && Some(sample.series) != last);
    record.samples.len() < before
}

fn run_probe(
    device: &mut dyn Device,
    record: &mut Record,
    store: &mut Store,
    listener: Listener<'_>,
    (probe, expected_s, options): (&'static Probe, (f64, f64), &Options),
) -> Result<(), MeasureError> {
    if drop_unfinished(record, probe)
        && let Some(path) = &options.record
    {
        *store = Store::at(path, record)?;
    }
    let done: BTreeSet<u32> =
        record.samples.iter().filter(|s| s.probe == probe.name).map(|sample| sample.series).collect();
    set_clock_by(record);
    let known = Known::of(record);
    let record_clock = record.head.clock_lba;
    let mut session = Session::new(device, record, store, listener, probe.name);
    (session.expected_s, session.rest_s) = expected_s;
    session.mode = match (session.device.info().writable, session.record.head.writes.as_str()) {
        (false, _) => Mode::Read,
        (true, "write") => Mode::Write,
        (true, _) => Mode::WriteForced,
    };
    session.spindle = known.spindle;
    session.clock = record_clock.zip(known.spindle).map(|(lba, spindle)| DiskClock::new(spindle, lba));
    session.repetitions = known.repetitions;
    session.least = known.least_turns;
    session.noise = known.noise_turns;
    session.hits = known.hits.clone();
    if known.keeps.others > 0 {
        session.evictions = known.keeps.others;
    }
    if session.only_reads() {
        session.memory = Memory::new(known.keeps);
    }
    session.begin()?;
    (probe.run)(&mut session, &Context { known, done, scope: options.scope.clone() })
}

/// Where the speed wanders so much that angles do not fit together, they are told by the disk's own clock from here on, if times are
/// exact enough to set one, and the device may be written: a read of the same sector would come from its cache.
fn set_clock_by(record: &mut Record) {
    let is_rotation = |sample: &&Sample| sample.probe == ProbeName::Rotation && sample.role == Role::Measure;
    if record.head.clock_lba.is_none()
        && record.has_finished(ProbeName::Rotation)
        && record.head.device.writable
        && rotation::rotation(record).is_some_and(Rotation::may_set_clock)
    {
        record.head.clock_lba = record.samples.iter().find(is_rotation).map(|sample| sample.lba);
    }
}
