//! Processes that compute on processors: how DiskSim 4.0 runs its generators.
//!
//! The time between two requests of a process is computing. A process leaves its processor only to sleep, when it waits for a
//! request that is not complete; the processor then takes the process that has been ready for longest. A completion wakes the
//! sleeper, and the first processor takes work again if it has none. *No other processor is ever woken*: one that found
//! nothing ready has nothing to do for the rest of the run. With fewer processors than processes that never wait, the others never run.
//!
//! The random numbers are DiskSim's own, one stream for all processes, so that with the same completions the same requests
//! come at the same instants. The seed makes each process' first request only; all that follow go on from one fixed number.
//! Rules after the behaviour of DiskSim 4.0, request by request (VALIDATION).

mod draws;
mod generator;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use headstack_trace::Request;
use headstack_units::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::closed::Call;
use super::{DeviceShape, StreamSpec, WorkloadSpec, later};
use crate::SystemError;
use draws::Draws;
use generator::{Generator, Planned, Wait};

/// The streams are processes that compute on processors, as DiskSim's generators do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessesSpec {
    /// How many processors there are.
    pub processors: u32,
    /// Computing takes so many times as long as the streams say.
    #[serde(default = "same", skip_serializing_if = "is_same")]
    pub time_scale: f64,
}

fn same() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_same(value: &f64) -> bool {
    *value == same()
}

/// After the first requests the random numbers go on from here, whatever the seed.
const SECOND_SEED: u64 = 1_000_003;

impl ProcessesSpec {
    /// What is wrong with it, and with streams that are no processes.
    pub(super) fn problems(&self, streams: &[StreamSpec]) -> Vec<String> {
        let mut found = Vec::new();
        if self.processors == 0 {
            found.push("`processes.processors`: must be at least 1".to_owned());
        }
        if !(self.time_scale > 0.0 && self.time_scale <= 1e9) {
            found.push(format!(
                "`processes.time_scale`: {} is not between 0 and 1e9, 0 excluded",
                self.time_scale
            ));
        }
        for (index, stream) in streams.iter().enumerate() {
            let unknown = stream.unknown_to_processes();
            found.extend(unknown.map(|key| {
                format!("`stream.{index}.{key}`: not known where streams are processes (`[processes]`)")
            }));
            if stream.think.is_none() {
                found
                    .push(format!("`stream.{index}.think`: missing: a process computes before each request"));
            }
        }
        found
    }
}

/// What a process does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    ComputeMs(f64),
    Issue,
    /// It sleeps unless this request is complete: its own, counted from 0.
    Await(u64),
}

/// A generator and what it is about to do.
#[derive(Clone, Debug)]
struct Process {
    generator: Generator,
    planned: Option<Planned>,
    steps: VecDeque<Step>,
    /// Its requests so far; of those that it waits for or may come to wait for, which are not complete.
    issued: u64,
    under_way: Vec<u64>,
    /// After how much more computing it waits, each counted from the one before, and for which request.
    limits: VecDeque<(f64, u64)>,
    sleeps_for: Option<u64>,
}

/// The processes of a workload, and who of them computes.
///
/// Whoever runs it calls a *processor* at the instants it gets back.
#[derive(Clone, Debug)]
pub(super) struct Processes {
    draws: Draws,
    all: Vec<Process>,
    /// What each processor has at hand; `None`: nothing, for good but on the first.
    running: Vec<Option<usize>>,
    ready: VecDeque<usize>,
    /// Whose a request under way is, and its number there.
    owners: BTreeMap<u64, (usize, u64)>,
    /// Requests that may still be drawn, the first of each process apart.
    left: u64,
    is_over: bool,
    time_scale: f64,
    end: Nanos,
}

impl Processes {
    pub(super) fn new(
        spec: &WorkloadSpec,
        processes: &ProcessesSpec,
        devices: &[DeviceShape],
        seed: u64,
        limit: u64,
    ) -> Result<Self, SystemError> {
        let mut made = Vec::new();
        for (index, stream) in spec.stream.iter().enumerate() {
            let generator = Generator::new(stream, &stream.component(index), devices)?;
            made.push(Process::new(generator));
        }
        let mut found = Self {
            draws: Draws::new(seed),
            running: vec![None; processes.processors.min(made.len() as u32) as usize],
            // The last is ready first.
            ready: (0..made.len()).rev().collect(),
            all: made,
            owners: BTreeMap::new(),
            left: u64::MAX,
            is_over: false,
            time_scale: processes.time_scale,
            end: spec
                .stream
                .iter()
                .filter_map(|stream| stream.end_s)
                .map(Nanos::from_s)
                .min()
                .unwrap_or(Nanos::MAX),
        };
        for index in (0..found.all.len()).rev() {
            if !found.plan(index) {
                return Err(SystemError::Options {
                    problem: format!(
                        "the workload's {} finds no place for its requests",
                        spec.stream[index].component(index)
                    ),
                    hint: "smaller requests, or a larger range".to_owned(),
                });
            }
        }
        found.draws = Draws::new(SECOND_SEED);
        found.left = limit;
        Ok(found)
    }

    pub(super) fn processors(&self) -> u32 {
        self.running.len() as u32
    }

    /// A processor begins: when to call it.
    pub(super) fn start(&mut self, processor: u32) -> Option<Nanos> {
        self.dispatch(processor as usize, Nanos::ZERO)
    }

    /// What its process computed is done.
    pub(super) fn call(&mut self, processor: u32, now: Nanos) -> Call {
        let processor = processor as usize;
        let Some(index) = self.running.get(processor).copied().flatten() else { return Call::Nothing };
        let process = &mut self.all[index];
        if self.is_over || now > self.end {
            return Call::Nothing;
        }
        if matches!(process.steps.front(), Some(Step::Issue))
            && let Some(planned) = &process.planned
        {
            process.steps.pop_front();
            let request = Request { arrival: now, ..planned.request };
            return Call::Issue(request);
        }
        self.go_on(processor, now).map_or(Call::Nothing, Call::Again)
    }

    /// The request that a processor asked for is under way as number `id`: when to call the processor next.
    pub(super) fn issued(&mut self, processor: u32, id: u64, now: Nanos) -> Option<Nanos> {
        let processor = processor as usize;
        let index = self.running.get(processor).copied().flatten()?;
        let process = &mut self.all[index];
        let number = process.issued;
        process.issued += 1;
        let wait = process.planned.take().map_or(Wait::Never, |planned| planned.wait);
        if wait != Wait::Never {
            process.under_way.push(number);
            self.owners.insert(id, (index, number));
        }
        if wait == Wait::AtOnce {
            process.steps.push_back(Step::Await(number));
        }
        self.go_on(processor, now)
    }

    /// Request `id` is complete: which processor to call, and when.
    pub(super) fn completed(&mut self, id: u64, now: Nanos) -> Option<(u32, Nanos)> {
        let (index, number) = self.owners.remove(&id)?;
        let process = &mut self.all[index];
        process.under_way.retain(|under_way| *under_way != number);
        process.sleeps_for.take_if(|sleeps_for| *sleeps_for == number)?;
        self.ready.push_back(index);
        if self.running.first()?.is_some() {
            return None;
        }
        self.dispatch(0, now).map(|at| (0, at))
    }

    /// The processor takes what has been ready for longest.
    fn dispatch(&mut self, processor: usize, now: Nanos) -> Option<Nanos> {
        *self.running.get_mut(processor)? = self.ready.pop_front();
        self.go_on(processor, now)
    }

    /// The processor's process goes on, or another one: until when it computes.
    fn go_on(&mut self, processor: usize, now: Nanos) -> Option<Nanos> {
        loop {
            let index = self.running[processor]?;
            let process = &mut self.all[index];
            match process.steps.pop_front() {
                Some(Step::ComputeMs(ms)) => return Some(later(now, Nanos::from_ms(ms * self.time_scale))),
                Some(Step::Await(number)) if process.under_way.contains(&number) => {
                    process.sleeps_for = Some(number);
                    self.running[processor] = self.ready.pop_front();
                }
                // Computing comes before it.
                Some(Step::Issue) => {
                    process.steps.push_front(Step::Issue);
                    return Some(now);
                }
                None if !self.plan_another(index) => return None,
                Some(Step::Await(_)) | None => {}
            }
        }
    }

    /// Draws a process' next request, unless that ends the run.
    fn plan_another(&mut self, index: usize) -> bool {
        // The run stops at the instant at which the last one is drawn.
        self.left = self.left.saturating_sub(1);
        self.is_over |= self.left == 0 || !self.plan(index);
        !self.is_over
    }

    /// Draws a process' next request, and what it computes and waits for on the way to it.
    fn plan(&mut self, index: usize) -> bool {
        let process = &mut self.all[index];
        let Some(planned) = process.generator.next(&mut self.draws) else { return false };
        process.plan(planned);
        true
    }
}

impl Process {
    fn new(generator: Generator) -> Self {
        Self {
            generator,
            planned: None,
            steps: VecDeque::new(),
            issued: 0,
            under_way: Vec::new(),
            limits: VecDeque::new(),
            sleeps_for: None,
        }
    }

    fn plan(&mut self, planned: Planned) {
        let mut computing_ms = planned.computing_ms;
        if let Wait::Limited(limit_ms) = planned.wait {
            self.insert_limit(limit_ms + computing_ms);
        }
        // A limit beyond the computing stays as it is: limits do not run down from one request to the next.
        while let Some(&(after_ms, number)) = self.limits.front()
            && after_ms < computing_ms
        {
            self.limits.pop_front();
            computing_ms -= after_ms;
            self.steps.extend([Step::ComputeMs(after_ms), Step::Await(number)]);
        }
        self.steps.extend([Step::ComputeMs(computing_ms), Step::Issue]);
        self.planned = Some(planned);
    }

    /// The next request is waited for after so much computing, counted from now.
    fn insert_limit(&mut self, mut after_ms: f64) {
        let mut at = 0;
        while let Some(&(difference_ms, _)) = self.limits.get(at)
            && difference_ms <= after_ms
        {
            after_ms -= difference_ms;
            at += 1;
        }
        if let Some((difference_ms, _)) = self.limits.get_mut(at) {
            *difference_ms -= after_ms;
        }
        self.limits.insert(at, (after_ms, self.issued));
    }
}
