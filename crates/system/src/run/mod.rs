//! Runs: requests through a system, completions out, statistics kept.
//!
//! Three ways lead through the system, and give the same records where they overlap:
//! - the event path (the crate's engine) for the general case;
//! - the fast path, in closed form, for drives that have their bus to themselves, get one command at a time, and are
//!   served in order of arrival;
//! - serially, for replays in which each request is issued only after the one before it is complete: in closed form where
//!   no two commands of a request meet, through the engine elsewhere.

#[cfg(test)]
mod array_cache_tests;
mod arrivals;
#[cfg(test)]
mod bus_tests;
#[cfg(test)]
mod cache_tests;
mod events;
mod fast;
pub mod fleet;
mod issue_times;
#[cfg(test)]
mod layer_tests;
mod leaving;
#[cfg(test)]
mod ledger_tests;
mod meanwhile;
mod options;
#[cfg(test)]
mod part_tests;
#[cfg(test)]
mod power_tests;
mod queued;
#[cfg(test)]
mod raid_tests;
#[cfg(test)]
mod rebuild_tests;
mod serial;
mod serial_events;
mod stretches;
#[cfg(test)]
mod stretches_tests;
#[cfg(test)]
mod tests;
mod worker;

pub use options::{Input, Progress, Replay, RunOptions, Warmup, WorkloadLabel};

use std::sync::Arc;
use std::sync::atomic::Ordering;

use headstack_drive::{Drive, Lateness};
use headstack_phase::TrackerDiagnostics;
use headstack_units::Nanos;

use crate::SystemError;
use crate::engine::{Usage, VolumeRepairs};
use crate::record::{BATCH_ROWS, BackgroundRow, CompletionRow, CompletionSink, DriverRow};
use crate::summary::{ArrayCacheUse, BufferCacheUse, ParallelSummary, Recorder, Statistics, Summary};
use crate::system::System;

/// Called with the progress of a run every 8192 requests.
pub type OnProgress<'a> = dyn FnMut(Progress) + 'a;

/// Runs requests through a system.
///
/// Completions go to `sink` as they come; what is kept is the statistics. A run that is stopped
/// ([`RunOptions::stop`]) returns what it has, with [`Summary::interrupted`] set.
///
/// # Errors
/// [`SystemError::Options`] if the options do not fit the input; [`SystemError::Request`] and [`SystemError::Trace`] for
/// requests that cannot be served or read; [`SystemError::Sink`].
pub fn run(
    system: &Arc<System>,
    input: Input,
    options: &RunOptions,
    sink: &mut dyn CompletionSink,
    on_progress: &mut OnProgress<'_>,
) -> Result<Summary, SystemError> {
    options.check(&input)?;
    if options.replay != Replay::Open && system.config().host.buffer_cache.is_some() {
        return Err(SystemError::Options {
            problem: "a closed or measured replay takes requests one by one to the drive, past the host's buffer cache"
                .to_owned(),
            hint: "use `--replay open`, or a system without `host.buffer_cache`".to_owned(),
        });
    }
    if options.replay != Replay::Open && system.has_array_cache() {
        return Err(SystemError::Options {
            problem: "a closed or measured replay takes requests one by one to the drive, past a controller's cache"
                .to_owned(),
            hint: "use `--replay open`, or a system without `volume.NAME.cache`".to_owned(),
        });
    }
    if options.replay != Replay::Open && system.volumes.iter().any(crate::system::Volume::may_rebuild) {
        return Err(SystemError::Options {
            problem: "a closed or measured replay has one request under way at a time: drives neither fail in it nor are \
                      rebuilt"
                .to_owned(),
            hint: "use `--replay open`, or a system without `failures` and `spares`".to_owned(),
        });
    }
    if options.replay != Replay::Open
        && (0..system.config().drives.len()).any(|drive| system.ends_commands(drive))
    {
        return Err(SystemError::Options {
            problem: "a closed or measured replay has one request under way at a time: duration limits do not end it".to_owned(),
            hint: "use `--replay open`, or `complete-earliest` in `controller.duration_limits`".to_owned(),
        });
    }
    let mut output = Output::new(system, options, sink, on_progress);
    let end = match (options.replay, input) {
        (Replay::Open, Input::Source(source)) if !options.event_path && fast::applies(system) => {
            fast::run(system, source, options, &mut output)?
        }
        (Replay::Open, Input::Source(source)) => {
            events::run(system, Some(source), None, options, &mut output)?
        }
        (Replay::Open, Input::Generator(generator)) => match (generator.open, generator.closed) {
            (Some(open), None) if !options.event_path && fast::applies(system) => {
                fast::run(system, Box::new(open), options, &mut output)?
            }
            (open, closed) => {
                let source = open.map(|open| Box::new(open) as Box<dyn headstack_trace::RequestSource>);
                events::run(system, source, closed, options, &mut output)?
            }
        },
        (Replay::Closed | Replay::Measured, Input::Source(source)) if serial::applies(system) => {
            serial::run(system, source, options, &mut output)?
        }
        (Replay::Closed | Replay::Measured, Input::Source(source)) => {
            serial_events::run(system, source, options, &mut output)?
        }
        (Replay::Closed | Replay::Measured, Input::Generator(_)) => {
            unreachable!("checked with the options")
        }
    };
    output.flush()?;
    Ok(output.recorder.summary(system, options, &end))
}

/// What a path leaves behind when it is through.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunEnd {
    /// When the run ended: the last completion (on the measured clock, where the run is on it), or where it was cut.
    pub(crate) at: Nanos,
    /// Since when statistics were kept.
    pub(crate) counted_from: Nanos,
    pub(crate) used: Usage,
    /// Requests in flight when the arrivals had ended, completed since.
    pub(crate) drained: u64,
    /// Requests in flight where the run was cut.
    pub(crate) cut: u64,
    /// Replays: requests whose instant had to be moved.
    pub(crate) clamped: u64,
    pub(crate) lateness: Lateness,
    /// Phase-locked replay: how the tracking went, for each drive.
    pub(crate) phase: Vec<TrackerDiagnostics>,
    pub(crate) interrupted: bool,
    /// One drive served by several threads: how that went.
    pub(crate) parallel: Option<ParallelSummary>,
    /// What the host's buffer cache did.
    pub(crate) cache: Option<BufferCacheUse>,
    pub(crate) array_caches: Vec<ArrayCacheUse>,
    /// What became of drives that failed.
    pub(crate) repairs: Vec<VolumeRepairs>,
}

impl RunEnd {
    /// The run lasts until `at` at least.
    fn reach(&mut self, at: Nanos) {
        self.at = self.at.max(at);
    }

    /// Adds up the lateness of all drives.
    fn note_lateness<'a>(&mut self, drives: impl IntoIterator<Item = &'a Drive>) {
        for drive in drives {
            let lateness = drive.lateness();
            self.lateness.count += lateness.count;
            self.lateness.max = self.lateness.max.max(lateness.max);
        }
    }
}

/// Where a run's records go: statistics, sink, progress.
pub(crate) struct Output<'a> {
    pub(crate) recorder: Recorder,
    sink: &'a mut dyn CompletionSink,
    /// Somebody takes completions; where not, they go into the statistics one by one.
    wants_rows: bool,
    on_progress: &'a mut OnProgress<'a>,
    stop: Option<Arc<std::sync::atomic::AtomicBool>>,
    rows: Vec<CompletionRow>,
    background: Vec<BackgroundRow>,
    driver: Vec<DriverRow>,
    /// Completions in the statistics; when the last of them was that progress has not been told of.
    done: u64,
    untold: Option<Nanos>,
}

impl<'a> Output<'a> {
    fn new(
        system: &System,
        options: &RunOptions,
        sink: &'a mut dyn CompletionSink,
        on_progress: &'a mut OnProgress<'_>,
    ) -> Self {
        // The callback outlives the run; only its own borrows are narrowed here.
        Self {
            recorder: Recorder::new(system, options.warmup),
            wants_rows: sink.wants_rows(),
            sink,
            on_progress,
            stop: options.stop.clone(),
            rows: Vec::with_capacity(BATCH_ROWS),
            background: Vec::new(),
            driver: Vec::new(),
            done: 0,
            untold: None,
        }
    }

    /// Whether anybody wants to know of background work.
    pub(crate) fn wants_background(&self) -> bool {
        self.sink.wants_background()
    }

    /// Whether anybody takes completions.
    pub(crate) fn wants_rows(&self) -> bool {
        self.wants_rows
    }

    /// Takes a completion.
    #[inline]
    pub(crate) fn push(&mut self, row: impl FnOnce() -> CompletionRow) -> Result<(), SystemError> {
        if !self.wants_rows {
            return self.count(&row());
        }
        // It is made where it stays.
        self.rows.extend(std::iter::once_with(row));
        if self.rows.len() == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Takes a completion that nobody sees.
    #[inline]
    fn count(&mut self, row: &CompletionRow) -> Result<(), SystemError> {
        self.recorder.record_one(row);
        self.done += 1;
        self.untold = Some(row.finish);
        if !self.done.is_multiple_of(BATCH_ROWS as u64) {
            return Ok(());
        }
        self.recorder.settle();
        self.tell_progress()
    }

    /// Takes what completions that nobody sees come to, the last of which was at `finish`.
    pub(crate) fn push_statistics(
        &mut self,
        statistics: &Statistics,
        finish: Nanos,
    ) -> Result<(), SystemError> {
        let noted = statistics.noted() as u64;
        if noted == 0 {
            return Ok(());
        }
        let batches = self.done / BATCH_ROWS as u64;
        self.recorder.add(statistics);
        self.done += noted;
        self.untold = Some(finish);
        if self.done / BATCH_ROWS as u64 > batches { self.tell_progress() } else { Ok(()) }
    }

    /// Takes completions, and background work with the number of them that came before it: as if told one by one.
    pub(crate) fn push_all(
        &mut self,
        rows: &[CompletionRow],
        works: &[(usize, BackgroundRow)],
    ) -> Result<(), SystemError> {
        let is_batch = self.rows.is_empty() && rows.len() == BATCH_ROWS;
        let mut told = 0;
        for works in works.chunk_by(|one, two| one.0 == two.0) {
            let before = works[0].0;
            // A whole batch goes out from where it lies, when all that came before its end is told.
            if !is_batch || before == rows.len() {
                self.push_some(&rows[told..before])?;
                told = before;
            }
            self.push_background(works.iter().map(|&(_, work)| work))?;
        }
        self.push_some(&rows[told..])
    }

    fn push_some(&mut self, mut rows: &[CompletionRow]) -> Result<(), SystemError> {
        while !rows.is_empty() {
            let (some, rest) = rows.split_at(rows.len().min(BATCH_ROWS - self.rows.len()));
            rows = rest;
            if some.len() == BATCH_ROWS {
                self.flush_rows(some)?;
                continue;
            }
            self.rows.extend_from_slice(some);
            if self.rows.len() == BATCH_ROWS {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Takes background work.
    pub(crate) fn push_background(
        &mut self,
        rows: impl IntoIterator<Item = BackgroundRow>,
    ) -> Result<(), SystemError> {
        self.background.extend(rows);
        if self.background.len() >= BATCH_ROWS {
            self.sink.push_background(&self.background)?;
            self.background.clear();
        }
        Ok(())
    }

    /// Takes one of the driver's requests, which may count for the statistics.
    pub(crate) fn push_driver(&mut self, row: DriverRow, counts: bool) -> Result<(), SystemError> {
        if counts {
            self.recorder.record_driver(&row);
        }
        self.driver.push(row);
        if self.driver.len() == BATCH_ROWS { self.flush_driver() } else { Ok(()) }
    }

    fn flush_driver(&mut self) -> Result<(), SystemError> {
        if !self.driver.is_empty() {
            self.sink.push_driver(&self.driver)?;
            self.driver.clear();
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SystemError> {
        let mut rows = std::mem::take(&mut self.rows);
        let flushed = self.flush_rows(&rows);
        rows.clear();
        self.rows = rows;
        flushed
    }

    fn flush_rows(&mut self, rows: &[CompletionRow]) -> Result<(), SystemError> {
        self.note(rows);
        if !rows.is_empty() {
            self.sink.push(rows)?;
        }
        self.tell_progress()
    }

    /// Takes completions into the statistics.
    fn note(&mut self, rows: &[CompletionRow]) {
        self.recorder.record(rows);
        self.done += rows.len() as u64;
        self.untold = rows.last().map(|row| row.finish).or(self.untold);
    }

    /// What else there is goes out, and progress is told if there is any.
    fn tell_progress(&mut self) -> Result<(), SystemError> {
        self.flush_driver()?;
        let simulated = self.untold.take();
        if !self.background.is_empty() {
            self.sink.push_background(&self.background)?;
            self.background.clear();
        }
        if let Some(simulated) = simulated {
            (self.on_progress)(Progress { completed: self.done, simulated });
        }
        Ok(())
    }

    /// Whether the user wants the run to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}
