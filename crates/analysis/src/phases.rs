//! Processes that work in phases, as a backup does that runs for a while and then rests: what others' reads take while one is at work,
//! held against those shortly before and after.
//!
//! Beside such a process every read has one of its requests outstanding, and at other times none has: no stretch of a dozen reads has
//! both ([`crate::company`]). So each phase is one observation, compared with the rests on both sides of it. A device or an hour that is
//! slow counts for the phase and for the rests, and what is slow for a while falls on either by chance. What the number outstanding
//! explains is taken out, as there.
//!
//! A process that fills the queue delays others by nothing else, and that is left then. So it is told besides what others' reads take in
//! its phases and outside them, whatever they wait for, and how many of the requests that they find outstanding are its own. And what is slow
//! at the same time is not slow because of it: within its phases, others' reads beside one of its requests are held against those that
//! are not beside one. Where these take as long, only the time fits.
//!
//! Another that works in the same phases looks the same. Of those that overlap the one with the larger effect is told, and both where their
//! phases are the same.

use std::collections::VecDeque;

use headstack_units::Nanos;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::effect::{Differences, Effect, FEWEST_READS, LEAST, Logs, log};
use crate::peers::Peer;

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

/// Of the requests by which the queue is longer in its phases so many must be its own for it to be said that it fills the queue.
const FILLS: f64 = 0.5;

/// The queue is why if as much of what others' reads take longer, as a logarithm, is left beside as many requests.
const LEFT: f64 = 0.5;

/// Only the time fits if being beside its requests makes up no more than this share of what others' reads take longer.
const BESIDE: f64 = 1.0 / 3.0;

/// How many times as long, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio of geometric means.
    pub times_as_long: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What others' reads take in the phases of a process, as they are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InPhases {
    /// Their geometric mean response in its phases, ms.
    pub inside_ms: f64,
    /// And outside them.
    pub outside_ms: f64,
    /// The one ÷ the other.
    pub whole: Ratio,
    /// Against those shortly before and after that find as many requests outstanding.
    pub like_queue: Ratio,
    /// Within its phases: beside one of its requests against not beside one; `None` where too few are not.
    pub beside: Option<Ratio>,
    /// That makes hardly a difference: something else may be slow at these times.
    pub only_time: bool,
    /// The share of the requests that they find outstanding in its phases that are its own.
    pub share_of_queue: f64,
    /// How many they find outstanding in its phases, on average.
    pub found_inside: f64,
    /// And outside them.
    pub found_outside: f64,
}

/// Reads: what they take beyond like reads, also beside as many requests; what they take; and how many they find outstanding.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    queued: Logs,
    alike: Logs,
    plain: Logs,
    found: Logs,
}

impl Sums {
    fn add(&mut self, read: &Peer) {
        if let Some(log) = read.queued {
            self.queued.add(log);
        }
        if let Some(log) = read.alike {
            self.alike.add(log);
        }
        self.plain.add(log(read.response));
        self.found.add(read.found as f64);
    }

    fn each(self, other: Self, of: impl Fn(Logs, Logs) -> Logs) -> Self {
        Self {
            queued: of(self.queued, other.queued),
            alike: of(self.alike, other.alike),
            plain: of(self.plain, other.plain),
            found: of(self.found, other.found),
        }
    }

    fn with(self, other: Self) -> Self {
        self.each(other, Logs::with)
    }

    fn without(self, other: Self) -> Self {
        self.each(other, Logs::without)
    }
}

/// The phases of the processes on a device; fed in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Phases {
    /// All reads so far.
    all: Sums,
    /// Those before some instants.
    marks: VecDeque<(Nanos, Sums)>,
    processes: Vec<Process>,
}

#[derive(Debug, Default)]
struct Process {
    /// Its own reads so far.
    own: Sums,
    /// Others' reads so far that came beside one of its requests, and how many of these they found.
    beside: Sums,
    its_found: f64,
    phase: Option<Phase>,
    /// Others' reads up to the end of the last phase.
    rested: Option<Sums>,
    found: Worked,
}

/// Reads in whiles, each of which counts once.
#[derive(Clone, Copy, Debug, Default)]
struct Whiles {
    count: u64,
    reads: f64,
    sum: f64,
    squares: [f64; 3],
}

impl Whiles {
    fn add(&mut self, logs: Logs) {
        let Some(mean) = logs.mean() else { return };
        let reads = logs.count() as f64;
        let sum = mean * reads;
        self.count += 1;
        self.reads += reads;
        self.sum += sum;
        for (all, own) in self.squares.iter_mut().zip([sum * sum, sum * reads, reads * reads]) {
            *all += own;
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.reads += other.reads;
        self.sum += other.sum;
        self.squares.iter_mut().zip(other.squares).for_each(|(all, own)| *all += own);
    }

    fn mean(&self) -> f64 {
        self.sum / self.reads
    }

    /// The square of the standard error of the mean of all reads.
    fn variance(&self) -> f64 {
        let (mean, count) = (self.mean(), self.count as f64);
        let [sums, products, reads] = self.squares;
        let squares = (sums - 2.0 * mean * products + mean * mean * reads).max(0.0);
        squares / self.reads.powi(2) * count / (count - 1.0)
    }
}

/// What was found of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worked {
    /// Beside as many requests.
    pub(crate) differences: Differences,
    /// Whatever they wait for.
    pub(crate) whole: Differences,
    /// Beside as many requests, up to the last that came beside one of its.
    like: Differences,
    /// Within its phases, beside its requests.
    beside: Differences,
    inside: Whiles,
    outside: Whiles,
    found_inside: Logs,
    found_outside: Logs,
    its_found: f64,
    pub(crate) spans: Vec<Span>,
    pub(crate) fills: Fills,
}

/// Of the requests that others' reads find outstanding at any time those of a process, and all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fills {
    its: f64,
    all: f64,
    reads: u64,
}

impl Fills {
    fn merge(&mut self, other: Self) {
        self.its += other.its;
        self.all += other.all;
        self.reads += other.reads;
    }

    /// The share that is its own, of reads enough.
    pub(crate) fn share(&self) -> Option<f64> {
        (self.reads >= FILLED && self.all > 0.0).then(|| self.its / self.all)
    }
}

/// Of fewer reads it is not told who fills the queue.
const FILLED: u64 = 100;

impl Worked {
    /// Takes along what another device tells; when it worked is told by the one with more phases.
    pub(crate) fn merge(&mut self, other: Self) {
        self.differences.merge(other.differences);
        self.whole.merge(other.whole);
        self.like.merge(other.like);
        self.beside.merge(other.beside);
        self.inside.merge(other.inside);
        self.outside.merge(other.outside);
        self.found_inside = self.found_inside.with(other.found_inside);
        self.found_outside = self.found_outside.with(other.found_outside);
        self.its_found += other.its_found;
        self.fills.merge(other.fills);
        if other.spans.len() > self.spans.len() {
            self.spans = other.spans;
        }
    }

    /// What others' reads take in its phases, if there are enough.
    pub(crate) fn in_phases(&self) -> Option<InPhases> {
        let of = |effect: &Effect| {
            Some(Ratio { times_as_long: effect.times_as_long?, low: effect.low?, high: effect.high? })
        };
        let effect = |sums: &Differences| sums.effect_of_few("process-phases", 1, LEAST, FEWEST_PHASES);
        let like_queue = of(&effect(&self.like))?;
        if self.outside.count < 2 || self.inside.count < FEWEST_PHASES {
            return None;
        }
        let student = StudentsT::new(0.0, 1.0, (self.inside.count - 1) as f64).ok()?;
        let mean = self.inside.mean() - self.outside.mean();
        let half = student.inverse_cdf(0.975) * (self.inside.variance() + self.outside.variance()).sqrt();
        let beside = of(&effect(&self.beside));
        let ms = |log: f64| log.exp() / 1e6;
        let found_inside = self.found_inside.mean()?;
        Some(InPhases {
            inside_ms: ms(self.inside.mean()),
            outside_ms: ms(self.outside.mean()),
            whole: Ratio { times_as_long: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp() },
            like_queue,
            beside,
            only_time: beside.is_some() && self.beside.mean() < BESIDE * self.whole.mean(),
            share_of_queue: self.its_found
                / (found_inside * self.found_inside.count() as f64).max(f64::MIN_POSITIVE),
            found_inside,
            found_outside: self.found_outside.mean()?,
        })
    }
}

impl Worked {
    /// Others' reads while it rested.
    fn rest(&mut self, reads: Sums) {
        self.outside.add(reads.plain);
        self.found_outside = self.found_outside.with(reads.found);
    }
}

impl InPhases {
    /// Whether others' reads take longer because it fills the queue.
    pub(crate) fn is_queue(&self) -> bool {
        let longer = self.found_inside - self.found_outside;
        let left = self.like_queue.times_as_long.ln();
        longer > 0.0
            && self.share_of_queue * self.found_inside >= FILLS * longer
            && left <= LEFT * self.whole.times_as_long.ln()
            && self.whole.low > 1.0
            && !self.only_time
    }
}

/// While a process works.
#[derive(Debug)]
struct Phase {
    from: Nanos,
    last: Nanos,
    requests: u64,
    /// Others' reads before its beginning that it is compared with.
    before: Sums,
    /// All others' reads up to its beginning, and up to its last request.
    at_from: Sums,
    at_last: Sums,
    /// Those that came beside one of its requests, and how many of these they found: up to its beginning, and its last request.
    beside_from: (Sums, f64),
    beside_last: (Sums, f64),
}

/// A request: when it comes, how it compares if it is a read of which the response is known, and who asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) arrival: Nanos,
    pub(crate) read: Option<&'a Peer>,
    pub(crate) process: Option<u8>,
}

impl Phases {
    /// Takes the next request; `at_work` says how many each process has outstanding, and `busy` has a bit for each that has some.
    pub(crate) fn push(&mut self, asked: Asked<'_>, busy: u64, at_work: &[u32]) {
        let Asked { arrival, read, process } = asked;
        if self.marks.back().is_none_or(|(last, _)| arrival >= *last + MARK) {
            self.marks.push_back((arrival, self.all));
            self.rest(arrival);
        }
        if let Some(read) = read {
            self.all.add(read);
            let mut left = busy;
            while left != 0 {
                let which = left.trailing_zeros() as usize;
                left &= left - 1;
                if let Some(beside) = self.processes.get_mut(which).filter(|_| process != Some(which as u8)) {
                    beside.beside.add(read);
                    beside.its_found += f64::from(at_work[which]);
                }
            }
        }
        if let Some(process) = process.map(usize::from) {
            if self.processes.len() <= process {
                self.processes.resize_with(process + 1, Process::default);
            }
            if let Some(read) = read {
                self.processes[process].own.add(read);
            }
            self.work(arrival, process);
        }
    }

    /// What was found, by process.
    pub(crate) fn finish(mut self) -> Vec<Worked> {
        for process in 0..self.processes.len() {
            self.close(process, Nanos::MAX);
        }
        let all = self.all;
        let finish = |mut process: Process| {
            let others = all.without(process.own);
            if let Some(rested) = process.rested {
                process.found.rest(others.without(rested));
            }
            process.found.fills = Fills {
                its: process.its_found,
                all: others.found.mean().unwrap_or(0.0) * others.found.count() as f64,
                reads: others.found.count(),
            };
            process.found
        };
        self.processes.into_iter().map(finish).collect()
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
            phase.beside_last = (process.beside, process.its_found);
        }
    }

    /// Begins a phase, after a rest since then unless it was long.
    fn begin(&mut self, process: usize, now: Nanos, rested: Option<Nanos>) {
        let since = rested.map_or(Nanos::ZERO, |last| middle(last.saturating_add(QUIET), now));
        let before = self.between(since.max(now.saturating_sub(REACH)), now);
        let process = &mut self.processes[process];
        // What it did before it was told apart is not known.
        let before = if process.rested.is_some() { before } else { Sums::default() };
        let others = self.all.without(process.own);
        if let Some(rested) = process.rested {
            process.found.rest(others.without(rested));
        }
        let beside = (process.beside, process.its_found);
        process.phase = Some(Phase {
            from: now,
            last: now,
            requests: 0,
            before,
            at_from: others,
            at_last: others,
            beside_from: beside,
            beside_last: beside,
        });
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
        // Those that come beside its last requests are in its phase, too.
        let late = process.beside.without(phase.beside_last.0);
        process.rested = Some(phase.at_last.with(late));
        let inside = phase.at_last.without(phase.at_from);
        let around = phase.before.with(after);
        let lasts = phase.last.saturating_sub(phase.from);
        let is_one = phase.requests >= FEWEST_REQUESTS && lasts <= LONGEST;
        if !is_one {
            return;
        }
        let found = &mut process.found;
        if inside.queued.count() >= FEWEST_READS && around.queued.count() >= FEWEST_READS {
            found.differences.add(inside.queued, around.queued);
            if found.spans.len() < SPANS {
                found.spans.push((phase.from, phase.last));
            }
        }
        let inside = inside.with(late);
        if inside.alike.count() >= FEWEST_READS && around.alike.count() >= FEWEST_READS {
            found.whole.add(inside.alike, around.alike);
        }
        if inside.queued.count() >= FEWEST_READS && around.queued.count() >= FEWEST_READS {
            found.like.add(inside.queued, around.queued);
        }
        let beside = process.beside.without(phase.beside_from.0);
        let apart = inside.without(beside);
        if beside.alike.count() >= FEWEST_READS && apart.alike.count() >= FEWEST_READS {
            found.beside.add(beside.alike, apart.alike);
        }
        found.inside.add(inside.plain);
        found.found_inside = found.found_inside.with(inside.found);
        found.its_found += process.its_found - phase.beside_from.1;
    }

    /// Reads that arrived from `since` to `until`, to a mark.
    fn between(&self, since: Nanos, until: Nanos) -> Sums {
        let from = self.marks.partition_point(|(at, _)| *at < since);
        let to = self.marks.partition_point(|(at, _)| *at <= until);
        if from >= to {
            return Sums::default();
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
