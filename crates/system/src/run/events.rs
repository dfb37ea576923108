//! A run through the event path.

use std::sync::Arc;

use headstack_trace::{Request, RequestSource};
use headstack_units::Nanos;

use super::arrivals::Arrivals;
use super::{Output, RunEnd, RunOptions};
use crate::SystemError;
use crate::engine::{Engine, Step};
use crate::system::System;
use crate::workload::{Call, ClosedLoop};

/// How many events pass between two looks at the stop flag.
const EVENTS_PER_LOOK: u32 = 4096;

/// Nobody asks so often at one instant, whatever is asked for: time would not go on.
const MOST_CALLS_AT_ONCE: u64 = 1 << 21;

/// Runs open arrivals, closed loops, or both.
pub(super) fn run(
    system: &Arc<System>,
    source: Option<Box<dyn RequestSource>>,
    closed: Option<ClosedLoop>,
    options: &RunOptions,
    output: &mut Output<'_>,
) -> Result<RunEnd, SystemError> {
    // Users wait for theirs.
    let most_untaken = if closed.is_some() { 1 } else { 256 };
    let mut run = EventRun {
        engine: Engine::new(system, options.seed),
        arrivals: source.map(|source| Arrivals::new(source, options.requests)),
        closed: closed.map(|users| Closed::new(users, options.requests)),
        output,
        until: options.until.unwrap_or(Nanos::MAX),
        end: RunEnd::default(),
        is_counting: false,
        last_arrival: Nanos::ZERO,
        finished_since: 0,
        next_arrival: None,
        most_untaken,
    };
    run.start_users();
    run.see_next_arrival()?;
    run.go()?;
    run.finish()
}

/// Users, and how many of them are to be called.
struct Closed {
    users: ClosedLoop,
    calls: u64,
    left: u64,
    /// When somebody was called last, and how many had been before at that instant.
    called_at: Nanos,
    called_there: u64,
}

impl Closed {
    fn new(users: ClosedLoop, limit: Option<u64>) -> Self {
        Self { users, calls: 0, left: limit.unwrap_or(u64::MAX), called_at: Nanos::ZERO, called_there: 0 }
    }

    /// Somebody is called, and time goes on.
    fn count_call(&mut self, now: Nanos) -> Result<(), SystemError> {
        self.calls -= 1;
        self.called_there = if now == self.called_at { self.called_there + 1 } else { 0 };
        self.called_at = now;
        if self.called_there <= MOST_CALLS_AT_ONCE.saturating_add(u64::from(self.users.users())) {
            return Ok(());
        }
        Err(SystemError::Options {
            problem: format!(
                "at {now} users ask again and again, and time does not go on: what they ask for takes none"
            ),
            hint: "give the stream a think time, or fewer discards".into(),
        })
    }
}

struct EventRun<'a, 'b> {
    engine: Engine,
    arrivals: Option<Arrivals>,
    closed: Option<Closed>,
    output: &'a mut Output<'b>,
    until: Nanos,
    end: RunEnd,
    is_counting: bool,
    last_arrival: Nanos,
    /// So many requests finished later than the last one arrived, as far as they were collected.
    finished_since: u64,
    next_arrival: Option<Nanos>,
    /// So many completions may wait to be taken out of the engine.
    most_untaken: usize,
}

impl EventRun<'_, '_> {
    fn start_users(&mut self) {
        if let Some(closed) = &mut self.closed {
            let starts: Vec<_> =
                (0..closed.users.users()).map(|user| (user, closed.users.start(user))).collect();
            for (user, at) in starts {
                self.call_at(user, at);
            }
        }
    }

    fn go(&mut self) -> Result<(), SystemError> {
        let mut left_to_look = EVENTS_PER_LOOK;
        loop {
            left_to_look -= 1;
            if left_to_look == 0 {
                left_to_look = EVENTS_PER_LOOK;
                if self.output.is_stopped() {
                    self.end.interrupted = true;
                    return Ok(());
                }
            }
            if self.engine.lost_at().is_some() {
                return Ok(());
            }
            if self.next_arrival.is_none() && self.engine.is_idle() && !self.has_pending_users() {
                return Ok(());
            }
            // What was announced for an instant happens before what arrives at it. Nothing happens at the end of time.
            let limit = self.until.min(Nanos(u64::MAX - 1)).min(self.next_arrival.unwrap_or(Nanos::MAX));
            match self.engine.step(limit) {
                Step::Event => {}
                Step::Call { at, mark } => self.call(mark, at)?,
                Step::Nothing => match self.next_arrival {
                    Some(arrival) if arrival <= self.until => self.take_arrival()?,
                    _ => return Ok(()),
                },
            }
            // A request may be complete as it comes.
            if self.engine.untaken() >= self.most_untaken {
                self.collect()?;
            }
        }
    }

    /// The next request arrives.
    fn take_arrival(&mut self) -> Result<(), SystemError> {
        if let Some(arrivals) = &mut self.arrivals
            && let Some(request) = arrivals.take()?
        {
            self.submit(request, None)?;
        }
        self.see_next_arrival()
    }

    fn see_next_arrival(&mut self) -> Result<(), SystemError> {
        self.next_arrival = match &mut self.arrivals {
            None => None,
            Some(arrivals) => arrivals.next_arrival()?,
        };
        Ok(())
    }

    fn has_pending_users(&self) -> bool {
        self.closed.as_ref().is_some_and(|closed| closed.calls > 0)
    }

    /// A user's time has come: it asks for something, or begins to wait.
    fn call(&mut self, user: u32, now: Nanos) -> Result<(), SystemError> {
        let Some(closed) = &mut self.closed else { return Ok(()) };
        closed.count_call(now)?;
        let next = match closed.users.call(user, now) {
            Call::Again(next) => Some(next),
            Call::Nothing => None,
            Call::Issue(request) => {
                if closed.left == 0 {
                    return Ok(());
                }
                closed.left -= 1;
                let id = self.engine.next_id();
                self.submit(request, Some(user))?;
                self.closed.as_mut().and_then(|closed| closed.users.issued(user, id, now))
            }
        };
        self.call_at(user, next);
        Ok(())
    }

    fn call_at(&mut self, user: u32, at: Option<Nanos>) {
        if let (Some(closed), Some(at)) = (&mut self.closed, at) {
            closed.calls += 1;
            self.engine.call_at(at, user);
        }
    }

    fn submit(&mut self, request: Request, user: Option<u32>) -> Result<(), SystemError> {
        let at = request.arrival;
        if !self.is_counting && self.output.recorder.counts(self.engine.next_id(), at) {
            self.is_counting = true;
            // All counts from the beginning on where the first request does: drives may have been rebuilt before it came.
            if self.engine.next_id() > 0 {
                self.end.counted_from = at;
                self.engine.restart_statistics(at);
            }
        }
        self.engine.submit(request, user)?;
        self.end.reach(at);
        self.last_arrival = at;
        self.finished_since = 0;
        Ok(())
    }

    /// Takes what has completed out of the engine.
    fn collect(&mut self) -> Result<(), SystemError> {
        for row in self.engine.driver.drain(..) {
            self.end.reach(row.row.finish);
            let counts = self.is_counting && row.row.arrival >= self.end.counted_from;
            self.output.push_driver(row, counts)?;
        }
        if self.engine.completed.is_empty() {
            return Ok(());
        }
        let mut completed = std::mem::take(&mut self.engine.completed);
        for (row, user) in completed.drain(..) {
            self.output.push(|| row)?;
            self.end.reach(row.finish);
            self.finished_since += u64::from(row.finish > self.last_arrival);
            if let (Some(user), Some(closed)) = (user, &mut self.closed)
                && let Some((user, at)) = closed.users.completed(user, row.id, row.finish)
            {
                self.call_at(user, Some(at));
            }
        }
        self.engine.completed = completed;
        self.output.push_background(self.engine.background.drain(..))
    }

    /// Whether the run was cut: something would still happen.
    fn goes_on(&self) -> bool {
        let is_called = self.closed.as_ref().is_some_and(|closed| closed.calls > 0 && closed.left > 0);
        let arrives = self.next_arrival.is_some() || is_called;
        !self.engine.is_idle() || arrives && !self.end.interrupted && self.engine.lost_at().is_none()
    }

    fn finish(mut self) -> Result<RunEnd, SystemError> {
        self.collect()?;
        let goes_on = self.goes_on();
        let in_flight = self.engine.in_flight();
        self.end.repairs = self.engine.volume_repairs();
        let rebuilds = self.end.repairs.iter().flat_map(|volume| &volume.rebuilds);
        let rebuilt = rebuilds.filter_map(|rebuild| rebuild.record.finished).max();
        self.end.reach(rebuilt.unwrap_or(Nanos::ZERO));
        // An array's cache may have gone on behind the last request.
        self.end.reach(self.engine.last_done());
        if goes_on && !self.end.interrupted {
            self.end.at = self.until;
        }
        // The run has gone on to there, though all requests may have been complete long before.
        self.end.at = self.engine.lost_at().unwrap_or(self.end.at);
        self.end.used = self.engine.used(self.end.at, goes_on);
        if goes_on {
            self.end.cut = in_flight;
        } else {
            self.engine.drain();
            self.end.drained = self.finished_since;
        }
        self.output.push_background(self.engine.background.drain(..))?;
        self.end.cache = self.engine.cache_use();
        self.end.array_caches = self.engine.array_cache_uses();
        self.end.note_lateness(self.engine.drives());
        Ok(self.end)
    }
}
