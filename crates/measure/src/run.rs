//! A measurement: probes one after the other, into one record.

use crate::MeasureError;
use crate::device::{Device, Mode};
use crate::extract::known;
use crate::memory::Memory;
use crate::probe;
use crate::record::Record;
use crate::record::store::{self, Store};
use crate::session::{Listener, Session};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What to measure, and where to write it down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Names of probes; empty: all that suit the device. Probes they need run before them.
    pub probes: Vec<String>,
    /// The record's file; absent: it stays in memory.
    pub record: Option<PathBuf>,
    /// Go on with the record that the file holds, if there is one; otherwise a new one takes its place.
    pub resume: bool,
    /// `zoned` reads all of the device instead of samples of it.
    pub whole_device: bool,
}

/// How far a probe is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The probe.
    pub probe: &'static str,
    /// Accesses so far.
    pub samples: u64,
    /// Time since it began, on the device's clock, in s.
    pub elapsed_s: f64,
    /// How long it was expected to take, on the device's clock, in s.
    pub expected_s: f64,
    /// How long the probes after it are expected to take, by what was known when it began.
    pub rest_s: f64,
}

/// A measurement that ended: whole, or stopped by an error.
#[derive(Debug)]
pub struct Measured {
    /// What was measured.
    pub record: Record,
    /// Why it did not come to its end: the caller stopped it, the device disappeared, … The record is kept.
    pub stopped: Option<MeasureError>,
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
    record.head.sessions += 1;
    let mut store = match &options.record {
        Some(path) => Store::at(path, &record)?,
        None => Store::in_memory(),
    };
    let mut stopped = None;
    for (place, &name) in wanted.iter().enumerate() {
        if record.has_finished(name) {
            continue;
        }
        let rest = wanted[place + 1..].iter().filter(|later| !record.has_finished(later));
        let rest_s = rest.map(|later| probe::expected_s(later, &record, options.whole_device)).sum();
        if let Err(error) = run_probe(device, &mut record, &mut store, listener, (name, rest_s, options)) {
            stopped = Some(error);
            break;
        }
        record.head.finished.push(name.to_owned());
        if let Some(path) = &options.record {
            // The journal's head lists the probes that are finished.
            store = Store::at(path, &record)?;
        }
    }
    store.finish(&record)?;
    Ok(Measured { record, stopped })
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
    Ok(())
}

/// Before an unfinished probe runs again: what it left is dropped where it cannot take that up, at least its last series,
/// which may not be whole. Samples of unfinished probes that are not asked for now stay in the record.
/// Says whether any was dropped.
fn drop_unfinished(record: &mut Record, number: u8) -> bool {
    let before = record.samples.len();
    let last = record.samples.iter().rev().find(|sample| sample.probe == number).map(|sample| sample.series);
    record
        .samples
        .retain(|sample| sample.probe != number || probe::resumes(number) && Some(sample.series) != last);
    record.samples.len() < before
}

fn run_probe(
    device: &mut dyn Device,
    record: &mut Record,
    store: &mut Store,
    listener: Listener<'_>,
    (name, rest_s, options): (&'static str, f64, &Options),
) -> Result<(), MeasureError> {
    let number = probe::number(name).expect("the plan holds known probes");
    if drop_unfinished(record, number)
        && let Some(path) = &options.record
    {
        *store = Store::at(path, record)?;
    }
    let done: BTreeSet<u32> =
        record.samples.iter().filter(|s| s.probe == number).map(|sample| sample.series).collect();
    let known = known::Known::of(record);
    let expected_s = probe::expected_s(name, record, options.whole_device);
    let mut session = Session::new(device, record, store, listener, number);
    (session.expected_s, session.rest_s) = (expected_s, rest_s);
    session.mode = match (session.device.info().writable, session.record.head.writes.as_str()) {
        (false, _) => Mode::Read,
        (true, "write") => Mode::Write,
        (true, _) => Mode::WriteForced,
    };
    session.spindle = known.spindle;
    session.repetitions = known.repetitions;
    session.least = known.least_turns;
    session.noise = known.noise_turns;
    session.hits = known.hits.clone();
    if session.only_reads() {
        session.memory = Memory::new(known.keeps);
    }
    session.begin()?;
    probe::run(name, &mut session, &probe::Context { known, done, whole_device: options.whole_device })
}
