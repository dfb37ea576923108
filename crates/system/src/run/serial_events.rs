//! Serial replays of systems in which one request is several commands that meet: at a drive, or on a bus they share.
//!
//! One request is under way at a time, as in the closed form, but its commands wait for each other as those of an open run
//! do. So they go through the engine, and only when the next request is issued is decided here.

use std::sync::Arc;

use headstack_drive::Rebase;
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
            if count > 1 {
                replay.end.counted_from = issued.at;
                replay.engine.restart_statistics(issued.at);
            }
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

    /// Serves a request; false if the run is over with it.
    fn serve(&mut self, issued: &Issued, output: &mut Output<'_>) -> Result<bool, SystemError> {
        let volume = issued.request.device as usize;
        let measured = self.times.measured_finish(issued);
        if let Some(measured) = measured {
            self.engine.expect(volume, measured);
        }
        // On the measured clock a request that is complete by the end of the run is all in it.
        let is_in = measured.is_some_and(|measured| measured <= self.until);
        let done = self.complete(issued, if is_in { Nanos::MAX } else { self.until })?;
        output.push_background(self.engine.background.drain(..))?;
        let Some(row) = done.filter(|_| is_in || measured.is_none()) else {
            self.end.cut += 1;
            self.end.at = self.until;
            // Other volumes have clocks of their own.
            self.engine.turn_back();
            return Ok(measured.is_some());
        };
        self.times.complete(issued, row.finish);
        if let Some(measured_finish) = measured {
            self.engine
                .rebase(volume, Rebase { begun: issued.at, model_finish: row.finish, measured_finish });
            output.push_background(self.engine.background.drain(..))?;
        }
        self.end.reach(measured.unwrap_or(row.finish));
        output.push(|| self.as_issued(issued, row))?;
        Ok(true)
    }

    /// Goes on until a request is complete and nobody has a bus, up to `limit` at most. What was cut before stays in hand.
    fn complete(&mut self, issued: &Issued, limit: Nanos) -> Result<Option<CompletionRow>, SystemError> {
        let mut request = issued.request;
        request.arrival = issued.at;
        let in_hand = self.engine.in_flight();
        let id = self.engine.submit(request, None)?;
        let is_over = |engine: &Engine| {
            (engine.is_idle() || in_hand > 0 && engine.in_flight() <= in_hand) && engine.has_free_buses()
        };
        while !is_over(&self.engine) {
            if self.engine.step(limit) == Step::Nothing {
                break;
            }
        }
        Ok(self.engine.completed.drain(..).map(|(row, _)| row).find(|row| row.id == id))
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
        let is_cut = self.end.cut > 0 || self.goes_on;
        self.end.used = self.engine.used(self.end.at, is_cut);
        if !is_cut {
            self.engine.drain();
        }
        output.push_background(self.engine.background.drain(..))?;
        self.end.clamped = self.times.clamped;
        self.end.note_lateness(self.engine.drives());
        Ok(self.end)
    }
}
