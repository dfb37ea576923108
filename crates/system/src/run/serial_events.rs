//! Serial replays of systems in which one request is several commands that meet: at a drive, or on a bus they share.
//!
//! One request is under way at a time, as in the closed form, but its commands wait for each other as those of an open run
//! do. So they go through the engine, and only when the next request is issued is decided here.

use std::sync::Arc;

use headstack_trace::RequestSource;
use headstack_units::Nanos;

use super::arrivals::{Arrivals, InStartOrder};
use super::issue_times::{IssueTimes, Issued};
use super::{Output, Replay, RunEnd, RunOptions};
use crate::SystemError;
use crate::engine::{Engine, Step};
use crate::record::CompletionRow;
use crate::system::System;

/// How many requests pass between two looks at the stop flag.
const REQUESTS_PER_LOOK: u64 = 256;

/// Runs a trace in order of its measured starts.
pub(super) fn run(
    system: &Arc<System>,
    source: Box<dyn RequestSource>,
    options: &RunOptions,
    output: &mut Output<'_>,
) -> Result<RunEnd, SystemError> {
    if options.phase_lock.is_some() {
        return Err(SystemError::Options {
            problem:
                "a phase lock follows drives that get a request as one command and have a bus to themselves"
                    .to_owned(),
            hint: "leave out `--phase-lock`, or replay the requests of one drive".to_owned(),
        });
    }
    let mut requests = InStartOrder::new(Arrivals::new(source, options.requests));
    let mut replay = EventReplay {
        engine: Engine::without_cpu(system, options.seed),
        times: IssueTimes::new(options.replay, system.volumes.len()),
        is_measured: options.replay == Replay::Measured,
        goes_on: false,
        until: options.until.unwrap_or(Nanos::MAX),
        end: RunEnd::default(),
    };
    let (mut is_counting, mut count) = (false, 0_u64);
    while let Some((id, request)) = requests.take()? {
        count += 1;
        if count.is_multiple_of(REQUESTS_PER_LOOK) && output.is_stopped() {
            replay.end.interrupted = true;
            break;
        }
        system.check(id, &request)?;
        let issued = replay.times.issue(id, request)?;
        if issued.at > replay.until {
            replay.pass(replay.until);
            (replay.goes_on, replay.end.at) = (true, replay.until);
            break;
        }
        replay.pass(issued.at);
        if !is_counting && output.recorder.counts(id, issued.request.arrival) {
            is_counting = true;
            replay.end.counted_from = if count == 1 { Nanos::ZERO } else { issued.at };
            replay.engine.restart_statistics(replay.end.counted_from);
        }
        if !replay.serve(&issued, output)? {
            break;
        }
    }
    replay.finish(output)
}

struct EventReplay {
    engine: Engine,
    times: IssueTimes,
    is_measured: bool,
    /// Requests would come after the end.
    goes_on: bool,
    until: Nanos,
    end: RunEnd,
}

impl EventReplay {
    /// What drives do without being asked happens, up to `at`.
    fn pass(&mut self, at: Nanos) {
        while self.engine.step(at) != Step::Nothing {}
    }

    /// Serves a request; false if it is not complete by the end of the run.
    fn serve(&mut self, issued: &Issued, output: &mut Output<'_>) -> Result<bool, SystemError> {
        let mut request = issued.request;
        request.arrival = issued.at;
        if let Some(measured) = self.times.measured_finish(issued) {
            self.engine.expect(request.device as usize, measured);
        }
        self.engine.submit(request, None)?;
        while !(self.engine.is_idle() && self.engine.has_free_buses()) {
            if self.engine.step(self.until) == Step::Nothing {
                break;
            }
        }
        output.push_background(self.engine.background.drain(..))?;
        let Some((row, _)) = self.engine.completed.pop() else {
            (self.end.cut, self.end.at) = (1, self.until);
            return Ok(false);
        };
        let measured = self.times.complete(issued, row.finish);
        if let Some(measured) = measured {
            self.engine.rebase(issued.request.device as usize, row.finish, measured);
        }
        self.end.reach(measured.unwrap_or(row.finish).min(self.until));
        output.push(|| self.as_issued(issued, row))?;
        Ok(true)
    }

    /// A row with the request's own number and arrival: where a replay takes requests when they were started, what was before is
    /// the queue.
    fn as_issued(&self, issued: &Issued, mut row: CompletionRow) -> CompletionRow {
        debug_assert!(self.is_measured || row.arrival == issued.request.arrival);
        row.id = issued.id;
        row.phases.queue += row.arrival - issued.request.arrival;
        row.arrival = issued.request.arrival;
        row
    }

    fn finish(mut self, output: &mut Output<'_>) -> Result<RunEnd, SystemError> {
        self.end.used = self.engine.used(self.end.at);
        if self.end.cut == 0 && !self.goes_on {
            self.engine.drain();
        }
        output.push_background(self.engine.background.drain(..))?;
        self.end.clamped = self.times.clamped;
        self.end.note_lateness(self.engine.drives());
        Ok(self.end)
    }
}
