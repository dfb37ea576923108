//! The fast path: first come, first served, one command at a time, every drive with a bus to itself.
//!
//! Then a command starts when it has arrived and the one before it is complete, and the drive's closed form tells the
//! rest. The event path gives the same records.
//!
//! Nothing passes between the drives, so with several of them and several threads a stretch of requests is sharded by
//! drive, each drive serves its shard by itself, and the records are put together in the order of the requests: the same
//! records, in the same order, as if one thread had served request by request.

use std::sync::Arc;
use std::vec::Drain;

use headstack_drive::Drive;
use headstack_drive::command::{Background, Busy, Command, Outcome};
use headstack_trace::{Request, RequestSource};
use headstack_units::Nanos;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::arrivals::Arrivals;
use super::meanwhile::count_of;
use super::worker::Worker;
use super::{Output, RunEnd, RunOptions, Warmup, stretches};
use crate::SystemError;
use crate::engine::{Finished, Ledger, background, recalibration_interval, row};
use crate::layer::{AnyLayer, AnyVolume, Call, Effect, Layer, Target, UnitRange};
use crate::record::{BackgroundRow, CompletionRow};
use crate::system::{System, Volume};

/// Where the records of served requests go.
pub(super) trait Records {
    /// Takes a record, which is made where it is to be.
    fn push(&mut self, row: impl FnOnce() -> CompletionRow) -> Result<(), SystemError>;

    /// Background work done since the last row.
    fn push_background(&mut self, rows: Drain<'_, BackgroundRow>) -> Result<(), SystemError>;
}

impl Records for Output<'_> {
    #[inline]
    fn push(&mut self, row: impl FnOnce() -> CompletionRow) -> Result<(), SystemError> {
        Output::push(self, row)
    }

    fn push_background(&mut self, rows: Drain<'_, BackgroundRow>) -> Result<(), SystemError> {
        Output::push_background(self, rows)
    }
}

/// How many requests pass at most between two looks at the stop flag, and are sharded at a time.
const STRETCH: usize = 4096;

/// Whether the closed form holds for a system.
pub(super) fn applies(system: &System) -> bool {
    let units = &system.units;
    let is_alone = |bus: usize| units.iter().filter(|unit| unit.bus == bus).count() == 1;
    system.cpu_cost() == Nanos::ZERO
        && system.policy().is_fcfs()
        && system.config().host.queue_limit.is_none()
        && system.config().host.buffer_cache.is_none()
        && !system.has_array_cache()
        && system.volumes.iter().all(Volume::is_stateless)
        && !system.config().buses.iter().any(|bus| bus.commands_hold)
        && units.iter().all(|unit| {
            unit.limit == 1
                && is_alone(unit.bus)
                && recalibration_interval(system, unit.drive).is_none()
                && !system.ends_commands(unit.drive)
        })
}

/// Runs open arrivals in closed form.
pub(super) fn run(
    system: &Arc<System>,
    source: Box<dyn RequestSource>,
    options: &RunOptions,
    output: &mut Output<'_>,
) -> Result<RunEnd, SystemError> {
    let mut arrivals = Arrivals::new(source, options.requests);
    let mut run = FastRun::new(system, options, output.wants_background());
    let mut is_counting = options.warmup == Warmup::None;
    let most = options.batch.map_or(STRETCH, |batch| batch.clamp(1, STRETCH));
    loop {
        if output.is_stopped() {
            run.end.interrupted = true;
            break;
        }
        if is_counting && let Some(threads) = run.threads_of_one(options) {
            stretches::run(&mut run, &mut arrivals, threads, options.batch, output)?;
            break;
        }
        let (first_id, requests) = arrivals.take_some(most)?;
        let in_time = requests.partition_point(|request| request.arrival <= run.until);
        let mut stretch = &requests[..in_time];
        let mut id = first_id;
        if !is_counting {
            let counts = |(id, request): (u64, &Request)| output.recorder.counts(id, request.arrival);
            let before = (first_id..).zip(stretch).take_while(|&pair| !counts(pair)).count();
            run.serve_all(id, &stretch[..before], output)?;
            (id, stretch) = (id + before as u64, &stretch[before..]);
            if let Some(first) = stretch.first() {
                is_counting = true;
                run.restart(if id == 0 { Nanos::ZERO } else { first.arrival });
            }
        }
        run.serve_all(id, stretch, output)?;
        if in_time < requests.len() || requests.is_empty() {
            run.goes_on = in_time < requests.len();
            break;
        }
    }
    run.finish(output)
}

/// The threads that serve several drives; none where one will do.
fn pool(drives: usize, threads: Option<usize>) -> Option<ThreadPool> {
    let threads = count_of(threads).min(drives);
    // A machine that has no threads to give gets the same results from one.
    (threads > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()).flatten()
}

pub(super) struct FastRun<'a> {
    pub(super) system: &'a System,
    until: Nanos,
    /// Requests would come after the end.
    goes_on: bool,
    pub(super) workers: Vec<Worker>,
    pool: Option<ThreadPool>,
    layers: Vec<AnyLayer>,
    effects: Vec<Effect>,
    /// Of the request at hand: the units it went to, with how it went there; and the background work noted meanwhile.
    finished: Vec<(usize, Outcome)>,
    works: Vec<Background>,
    tells_background: bool,
    rows: Vec<BackgroundRow>,
    /// With several threads: the unit of every command of the stretch at hand, and how many each request has.
    sharded: Vec<usize>,
    commands: Vec<usize>,
    /// When requests were complete, but for those surely complete by the last arrival; none where each is one command of one drive,
    /// whose queue tells.
    pub(super) finishes: Vec<Nanos>,
    is_told_by_queue: bool,
    /// So many of them are worth a look at which those are.
    finishes_look: usize,
    pub(super) last_arrival: Nanos,
    pub(super) end: RunEnd,
}

impl<'a> FastRun<'a> {
    /// At rest. `tells_background`: somebody wants to know of background work.
    pub(super) fn new(system: &'a System, options: &RunOptions, tells_background: bool) -> Self {
        let drives = system.new_drives(options.seed).into_iter().enumerate();
        let until = options.until.unwrap_or(Nanos::MAX);
        let is_split = options.until.is_some() || options.warmup != Warmup::None;
        let worker = |(unit, drive): (usize, Drive)| {
            Worker::new(drive, system.timings[system.units[unit].bus], until, is_split)
        };
        let workers: Vec<Worker> = drives.map(worker).collect();
        let pool = pool(workers.len(), options.threads);
        let run = Self::with(system, until, workers);
        let is_one = matches!(run.layers.as_slice(), [AnyLayer::Volume(AnyVolume::Concatenation(_))]);
        let is_told_by_queue = is_one && run.workers.len() == 1 && !is_split;
        Self { pool, tells_background, is_told_by_queue, ..run }
    }

    /// A run by one thread, with nothing noted.
    fn with(system: &'a System, until: Nanos, workers: Vec<Worker>) -> Self {
        Self {
            system,
            until,
            goes_on: false,
            pool: None,
            workers,
            layers: system.new_layers(),
            effects: Vec::new(),
            finished: Vec::new(),
            works: Vec::new(),
            tells_background: false,
            rows: Vec::new(),
            sharded: Vec::new(),
            commands: Vec::new(),
            finishes: Vec::new(),
            is_told_by_queue: false,
            finishes_look: 1024,
            last_arrival: Nanos::ZERO,
            end: RunEnd::default(),
        }
    }

    /// How many threads serve a single drive that each may begin anywhere; `None` where it is one after the other.
    fn threads_of_one(&self, options: &RunOptions) -> Option<usize> {
        let is_one = self.until == Nanos::MAX && self.workers.len() == 1 && self.workers[0].is_plain();
        is_one.then(|| count_of(options.threads)).filter(|&threads| threads > 1)
    }

    /// A copy of what serves, with nothing noted.
    pub(super) fn fork(&self) -> Self {
        let Self { system, until, tells_background, is_told_by_queue, .. } = *self;
        Self { tells_background, is_told_by_queue, ..Self::with(system, until, self.workers.clone()) }
    }

    /// Statistics begin at `now`, but for what is on its way.
    fn restart(&mut self, now: Nanos) {
        self.end.counted_from = now;
        for worker in &mut self.workers {
            worker.restart(now, self.until < Nanos::MAX);
        }
    }

    pub(super) fn serve_all(
        &mut self,
        first_id: u64,
        requests: &[Request],
        output: &mut impl Records,
    ) -> Result<(), SystemError> {
        if let Some(newest) = requests.last() {
            self.last_arrival = newest.arrival;
        }
        match self.pool.take() {
            None => {
                // One for all: every command tells all of it.
                let mut last = (0, Outcome::default());
                let mut serve = |(id, request)| self.serve(id, request, &mut last, output);
                (first_id..).zip(requests).try_for_each(&mut serve)
            }
            Some(pool) => {
                let served = self.serve_sharded(&pool, first_id, requests, output);
                self.pool = Some(pool);
                served
            }
        }
    }

    /// Serves one request; `last` becomes the unit of the command that finished last, and how that went, with the work of all.
    #[inline]
    fn serve(
        &mut self,
        id: u64,
        request: &Request,
        last: &mut (usize, Outcome),
        output: &mut impl Records,
    ) -> Result<(), SystemError> {
        self.system.check(id, request)?;
        let Self { layers, effects, .. } = self;
        let call = Call::new(0, request);
        let layer = &mut layers[request.device as usize];
        // Most requests are one command.
        if let Some(range) = layer.whole(&call) {
            let UnitRange { unit, lba, sectors } = range;
            let command = Command { id, op: call.op, lba, sectors, flags: call.flags };
            self.serve_command(unit, request.arrival, command, last);
        } else {
            effects.clear();
            layer.call(request.arrival, &call, &(), effects);
            *last = (0, Outcome::default());
            self.serve_effects(id, request, last);
        }
        self.complete(id, request, last.0, &last.1, output)
    }

    /// Serves what a layer made of a request, and tells how the command went that finished last, with the work of all.
    #[inline(never)]
    fn serve_effects(&mut self, id: u64, request: &Request, last: &mut (usize, Outcome)) {
        let mut busy = Busy::default();
        for index in 0..self.effects.len() {
            let Some((unit, command)) = command(id, &self.effects[index]) else { continue };
            let mut next = (0, Outcome::default());
            self.serve_command(unit, request.arrival, command, &mut next);
            busy += next.1.busy;
            if (next.1.finish, next.0) >= (last.1.finish, last.0) {
                *last = next;
            }
        }
        last.1.busy = busy;
    }

    #[expect(
        clippy::inline_always,
        reason = "every command comes here, and handing it on costs a third of what is done"
    )]
    #[inline(always)]
    fn serve_command(
        &mut self,
        to: usize,
        arrival: Nanos,
        command: Command,
        (unit, outcome): &mut (usize, Outcome),
    ) {
        *unit = to;
        self.workers[to].serve(arrival, command, &mut self.works, outcome);
        if self.tells_background && !self.works.is_empty() {
            let system = self.system;
            self.rows.extend(self.works.iter().map(|&work| background(system, to, work)));
        }
        self.works.clear();
    }

    /// Serves requests by several threads, each drive by one.
    fn serve_sharded(
        &mut self,
        pool: &ThreadPool,
        first_id: u64,
        requests: &[Request],
        output: &mut impl Records,
    ) -> Result<(), SystemError> {
        self.sharded.clear();
        self.commands.clear();
        let mut refused = None;
        for (id, request) in (first_id..).zip(requests) {
            let before = self.sharded.len();
            if let Err(error) = self.system.check(id, request) {
                // What came before it is served all the same.
                refused = Some(error);
                break;
            }
            let layer = &mut self.layers[request.device as usize];
            layer.call(request.arrival, &Call::new(0, request), &(), &mut self.effects);
            for (unit, command) in self.effects.drain(..).filter_map(|effect| command(id, &effect)) {
                self.workers[unit].take(request.arrival, command);
                self.sharded.push(unit);
            }
            self.commands.push(self.sharded.len() - before);
        }
        pool.install(|| self.workers.par_iter_mut().for_each(Worker::serve_shard));
        let mut collected = 0;
        for (index, request) in requests[..self.commands.len()].iter().enumerate() {
            self.finished.clear();
            for _ in 0..self.commands[index] {
                let unit = self.sharded[collected];
                collected += 1;
                let (outcome, works) = self.workers[unit].collect();
                self.finished.push((unit, outcome));
                if self.tells_background {
                    self.rows.extend(works.iter().map(|&work| background(self.system, unit, work)));
                }
            }
            let (unit, outcome) = last_of(&self.finished);
            self.complete(first_id + index as u64, request, unit, &outcome, output)?;
        }
        refused.map_or(Ok(()), Err)
    }

    /// Notes how a request went, whose last command went as `outcome` tells.
    #[expect(
        clippy::inline_always,
        reason = "every request comes here, and handing it on costs a third of what is done"
    )]
    #[inline(always)]
    fn complete(
        &mut self,
        id: u64,
        request: &Request,
        unit: usize,
        outcome: &Outcome,
        output: &mut impl Records,
    ) -> Result<(), SystemError> {
        if !self.rows.is_empty() {
            output.push_background(self.rows.drain(..))?;
        }
        // Of most it is known already that requests come later, and none comes after the end.
        if outcome.finish > self.last_arrival {
            if outcome.finish > self.until {
                self.end.cut += 1;
                return Ok(());
            }
            self.end.reach(outcome.finish);
            if !self.is_told_by_queue {
                self.note_finish(outcome.finish);
            }
        }
        let finished = Finished::new(self.system, unit, outcome, request.arrival);
        output.push(|| row(self.system, id, request, request.arrival, &finished))
    }

    fn note_finish(&mut self, finish: Nanos) {
        if self.finishes.len() >= self.finishes_look {
            self.finishes.retain(|&finish| finish > self.last_arrival);
            self.finishes_look = 2 * self.finishes.len() + 1024;
        }
        self.finishes.push(finish);
    }

    fn finish(mut self, output: &mut Output<'_>) -> Result<RunEnd, SystemError> {
        self.end.reach(self.last_arrival);
        let is_cut = self.end.cut > 0 || self.goes_on;
        if is_cut {
            self.end.at = self.until;
        } else {
            let finishes = match &self.workers[..] {
                [worker] if self.is_told_by_queue => worker.to_come(),
                _ => &self.finishes,
            };
            let drained = finishes.iter().filter(|&&finish| finish > self.last_arrival);
            self.end.drained = drained.count() as u64;
        }
        let mut ledger = Ledger::new(self.workers.len(), self.system.timings.len());
        for (unit, worker) in self.workers.iter_mut().enumerate() {
            worker.close(self.end.at, is_cut, &mut self.works);
            let system = self.system;
            output.push_background(self.works.drain(..).map(|work| background(system, unit, work)))?;
            ledger.units[unit] = std::mem::take(&mut worker.unit);
            ledger.buses[self.system.units[unit].bus] = worker.bus;
            if !is_cut {
                worker.drain(&mut self.works);
                output.push_background(self.works.drain(..).map(|work| background(system, unit, work)))?;
            }
        }
        self.end.used = ledger.used(self.end.at);
        self.end.note_lateness(self.workers.iter().map(Worker::drive));
        Ok(self.end)
    }
}

/// The one that finishes last, of equals that on the later unit; with the work of all.
fn last_of(finished: &[(usize, Outcome)]) -> (usize, Outcome) {
    let last = finished.iter().max_by_key(|(unit, outcome)| (outcome.finish, *unit));
    let (unit, mut outcome) = *last.expect("a request has a command");
    outcome.busy = finished.iter().fold(Busy::default(), |sum, (_, outcome)| sum + outcome.busy);
    (unit, outcome)
}

/// What a layer asks of a unit. (One without state asks for nothing else when it is called.)
#[inline]
fn command(id: u64, effect: &Effect) -> Option<(usize, Command)> {
    match effect {
        Effect::Send { to: Target::Unit(unit), piece, .. } => Some((*unit, piece.command(id))),
        _ => None,
    }
}
