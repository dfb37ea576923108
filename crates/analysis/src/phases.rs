//! Processes that work in phases, as a backup does that runs for a while and then rests: what others' reads take while one is at work,
//! held against those shortly before and after.
//!
//! Beside such a process every read has one of its requests outstanding, and at other times none has: no stretch of a dozen reads has
//! both ([`crate::company`]). So each phase is one observation, compared with the rests on both sides of it. A device or an hour that is
//! slow counts for the phase and for the rests, and what is slow for a while falls on either by chance. What the number outstanding
//! explains is taken out, as there.
//!
//! Another that works in the same phases looks the same. Of those that overlap the one with the larger effect is told, and both where their
//! phases are the same.

use std::collections::VecDeque;

use headstack_units::Nanos;

use crate::effect::{Differences, FEWEST_READS, Logs};

/// A process rests when it has asked for nothing for so long. Reads meanwhile count for nothing: some wait behind its last requests.
const QUIET: Nanos = Nanos(3_000_000_000);

/// A phase of fewer requests is none.
const FEWEST_REQUESTS: u64 = 8;

/// With fewer phases nothing is said.
pub(crate) const FEWEST_PHASES: u64 = 6;

/// Reads so long before a phase and after it are compared with those in it, but of a rest the nearer half.
const REACH: Nanos = Nanos(30_000_000_000);

/// After so long a rest both are known.
const LONG_REST: Nanos = Nanos(QUIET.0 + 2 * REACH.0);

/// What lasts longer is held against no half minute.
const LONGEST: Nanos = Nanos(600_000_000_000);

/// How exactly instants are remembered.
const MARK: Nanos = Nanos(250_000_000);

/// Of so many phases it is remembered when they were.
const SPANS: usize = 256;

/// One works in the phases of another if it does so for this share of its time.
const SHARED: f64 = 0.5;

/// Their phases are the same if each works in those of the other for this share of its time.
const SAME: f64 = 0.9;

/// From when to when a process worked.
pub(crate) type Span = (Nanos, Nanos);

/// The phases of the processes on a device; fed in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Phases {
    /// All reads so far.
    all: Logs,
    /// Those before some instants.
    marks: VecDeque<(Nanos, Logs)>,
    processes: Vec<Process>,
}

#[derive(Debug, Default)]
struct Process {
    /// Its own reads so far.
    own: Logs,
    phase: Option<Phase>,
    has_rested: bool,
    found: Worked,
}

/// What was found of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worked {
    pub(crate) differences: Differences,
    pub(crate) spans: Vec<Span>,
}

impl Worked {
    /// Takes along what another device tells; when it worked is told by the one with more phases.
    pub(crate) fn merge(&mut self, other: Self) {
        self.differences.merge(other.differences);
        if other.spans.len() > self.spans.len() {
            self.spans = other.spans;
        }
    }
}

/// While a process works.
#[derive(Debug)]
struct Phase {
    from: Nanos,
    last: Nanos,
    requests: u64,
    /// Others' reads before its beginning that it is compared with.
    before: Logs,
    /// All others' reads up to its beginning, and up to its last request.
    at_from: Logs,
    at_last: Logs,
}

impl Phases {
    /// Takes the next request, with the logarithm if it is a read that is compared, and who asked.
    pub(crate) fn push(&mut self, arrival: Nanos, log: Option<f64>, process: Option<u8>) {
        if self.marks.back().is_none_or(|(last, _)| arrival >= *last + MARK) {
            self.marks.push_back((arrival, self.all));
            self.rest(arrival);
        }
        if let Some(log) = log {
            self.all.add(log);
        }
        if let Some(process) = process.map(usize::from) {
            if self.processes.len() <= process {
                self.processes.resize_with(process + 1, Process::default);
            }
            if let Some(log) = log {
                self.processes[process].own.add(log);
            }
            self.work(arrival, process);
        }
    }

    /// What was found, by process.
    pub(crate) fn finish(mut self) -> Vec<Worked> {
        for process in 0..self.processes.len() {
            self.close(process, Nanos::MAX);
        }
        self.processes.into_iter().map(|process| process.found).collect()
    }

    /// A process has asked for something.
    fn work(&mut self, now: Nanos, process: usize) {
        let rested = self.processes[process].phase.as_ref().map(|phase| phase.last);
        let rested = rested.filter(|last| now.saturating_sub(*last) > QUIET);
        if rested.is_some() {
            self.close(process, now);
        }
        if self.processes[process].phase.is_none() {
            self.begin(process, now, rested);
        }
        let all = self.all;
        let process = &mut self.processes[process];
        if let Some(phase) = &mut process.phase {
            phase.last = now;
            phase.requests += 1;
            phase.at_last = all.without(process.own);
        }
    }

    /// Begins a phase, after a rest since then unless it was long.
    fn begin(&mut self, process: usize, now: Nanos, rested: Option<Nanos>) {
        let since = rested.map_or(Nanos::ZERO, |last| middle(last.saturating_add(QUIET), now));
        let before = self.between(since.max(now.saturating_sub(REACH)), now);
        let process = &mut self.processes[process];
        // What it did before it was told apart is not known.
        let before = if process.has_rested { before } else { Logs::default() };
        let others = self.all.without(process.own);
        process.phase =
            Some(Phase { from: now, last: now, requests: 0, before, at_from: others, at_last: others });
    }

    /// Ends the phases of those that have rested for long, and forgets what no phase is compared with any more.
    fn rest(&mut self, now: Nanos) {
        for process in 0..self.processes.len() {
            let last = self.processes[process].phase.as_ref().map(|phase| phase.last);
            if last.is_some_and(|last| now.saturating_sub(last) > LONG_REST) {
                self.close(process, now);
            }
        }
        let oldest = now.saturating_sub(LONG_REST.saturating_add(MARK));
        while self.marks.front().is_some_and(|(at, _)| *at < oldest) {
            self.marks.pop_front();
        }
    }

    /// Ends a phase, of which the rest lasts until `now`.
    fn close(&mut self, process: usize, now: Nanos) {
        let Some(phase) = self.processes[process].phase.take() else { return };
        let rest = phase.last.saturating_add(QUIET);
        let after = self.between(rest, middle(rest, now).min(rest.saturating_add(REACH)));
        let process = &mut self.processes[process];
        process.has_rested = true;
        let inside = phase.at_last.without(phase.at_from);
        let around = phase.before.with(after);
        let lasts = phase.last.saturating_sub(phase.from);
        let is_one = phase.requests >= FEWEST_REQUESTS && lasts <= LONGEST;
        if is_one && inside.count() >= FEWEST_READS && around.count() >= FEWEST_READS {
            process.found.differences.add(inside, around);
            if process.found.spans.len() < SPANS {
                process.found.spans.push((phase.from, phase.last));
            }
        }
    }

    /// Reads that arrived from `since` to `until`, to a mark.
    fn between(&self, since: Nanos, until: Nanos) -> Logs {
        let from = self.marks.partition_point(|(at, _)| *at < since);
        let to = self.marks.partition_point(|(at, _)| *at <= until);
        if from >= to {
            return Logs::default();
        }
        self.marks[to - 1].1.without(self.marks[from].1)
    }
}

fn middle(from: Nanos, to: Nanos) -> Nanos {
    from.saturating_add(Nanos(to.saturating_sub(from).0 / 2))
}

/// How the phases of one process lie to those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overlap {
    Apart,
    Much,
    Same,
}

/// How two processes' phases, each in order of time, lie to each other.
pub(crate) fn overlap(one: &[Span], other: &[Span]) -> Overlap {
    let lasts = |spans: &[Span]| spans.iter().map(|&(from, to)| to.saturating_sub(from).as_s()).sum::<f64>();
    let (mut shared, mut rest) = (0.0, other);
    for &(from, to) in one {
        rest = &rest[rest.partition_point(|span| span.1 < from)..];
        for &(begins, ends) in rest.iter().take_while(|span| span.0 < to) {
            shared += to.min(ends).saturating_sub(from.max(begins)).as_s();
        }
    }
    let shares = [shared / lasts(one), shared / lasts(other)];
    if shares.iter().all(|share| *share >= SAME) {
        Overlap::Same
    } else if shares.iter().any(|share| *share >= SHARED) {
        Overlap::Much
    } else {
        Overlap::Apart
    }
}
