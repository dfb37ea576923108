//! Requests of a run once more, and how some of them went, step by step.

use std::sync::Arc;

use headstack_drive::Rebase;
use headstack_drive::command::{Busy, CacheResult};
use headstack_trace::Request;
use headstack_units::Nanos;

use crate::SystemError;
use crate::engine::{CommandTold, Engine, Step};
use crate::record::CompletionRow;
use crate::run::Replay;
use crate::system::System;

/// A request, and how it went.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its record in the run.
    pub row: CompletionRow,
    /// Its commands, in the order in which they were complete. None, where a cache above the drives had all it asked for.
    pub commands: Vec<CommandTold>,
}

/// Serves the requests of a run as the run did, through the same engine.
#[derive(Clone, Debug)]
pub struct Narrator {
    engine: Engine,
    replay: Replay,
    /// When a request was complete last, on the clock of the run; of each volume in a measured replay.
    before: Nanos,
    measured: Vec<Nanos>,
    wanted: Vec<u64>,
    rows: Vec<CompletionRow>,
    commands: Vec<CommandTold>,
}

impl Narrator {
    /// A system at rest at time 0, as a run with this replay and seed begins.
    pub fn new(system: &Arc<System>, seed: u64, replay: Replay) -> Self {
        let mut engine = match replay {
            Replay::Open => Engine::new(system, seed),
            Replay::Closed | Replay::Measured => Engine::without_cpu(system, seed),
        };
        engine.keep_diaries();
        Self {
            engine,
            replay,
            before: Nanos::ZERO,
            measured: vec![Nanos::ZERO; system.volumes.len()],
            wanted: Vec::new(),
            rows: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// When all requests so far are complete, on the clock of the run: they are served until then.
    pub fn all_complete(&mut self) -> Nanos {
        while self.engine.in_flight() > 0 && self.engine.step(Nanos(u64::MAX - 1)) != Step::Nothing {}
        self.collect();
        self.before
    }

    /// The next request: one that arrives no sooner than the one before. `is_wanted`: it is to be told of.
    ///
    /// A closed replay serves it when it arrives; with [`Replay::Measured`] it was started at its `start` and complete at its `finish`.
    ///
    /// # Errors
    /// [`SystemError::Request`] if the system cannot serve it.
    pub fn serve(&mut self, request: Request, is_wanted: bool) -> Result<(), SystemError> {
        if is_wanted {
            let id = self.engine.next_id();
            self.engine.listen(id);
            self.wanted.push(id);
        }
        match self.replay {
            Replay::Open => self.arrive(request),
            Replay::Closed | Replay::Measured => self.serve_alone(request),
        }
    }

    /// Nothing more comes: what was wanted, in order of arrival.
    pub fn finish(mut self) -> Vec<Told> {
        // What was complete as it came.
        self.collect();
        while self.rows.len() < self.wanted.len() && self.engine.step(Nanos(u64::MAX - 1)) != Step::Nothing {
            self.collect();
        }
        self.rows.sort_by_key(|row| row.id);
        let commands = &self.commands;
        self.rows.iter().map(|&row| Told { row, commands: commands_of(&row, commands) }).collect()
    }

    fn arrive(&mut self, request: Request) -> Result<(), SystemError> {
        self.pass(request.arrival);
        self.engine.submit(request, None)?;
        Ok(())
    }

    fn serve_alone(&mut self, request: Request) -> Result<(), SystemError> {
        let is_measured = self.replay == Replay::Measured;
        let at = if is_measured {
            let before = self.measured.get(request.device as usize).copied().unwrap_or_default();
            request.start.present().unwrap_or(request.arrival).max(before)
        } else {
            request.arrival
        };
        self.pass(at);
        let id = self.engine.submit(Request { arrival: at, ..request }, None)?;
        let is_over = |engine: &Engine| engine.is_idle() && engine.has_free_buses();
        while !is_over(&self.engine) && self.engine.step(Nanos(u64::MAX - 1)) != Step::Nothing {}
        let done = self.engine.completed.iter().map(|(row, _)| row.finish).max();
        let model_finish = done.unwrap_or(at);
        self.collect();
        if is_measured {
            let measured_finish = request.finish.present().unwrap_or(model_finish).max(at);
            let volume = request.device as usize;
            self.engine.rebase(volume, Rebase { begun: at, model_finish, measured_finish });
            self.measured[volume] = measured_finish;
        }
        // What was before a serial replay took it is the queue.
        for row in self.rows.iter_mut().filter(|row| row.id == id) {
            row.phases.queue += row.arrival - request.arrival.min(row.arrival);
            row.arrival = request.arrival.min(row.arrival);
        }
        Ok(())
    }

    /// What happens up to an instant happens.
    fn pass(&mut self, at: Nanos) {
        while self.engine.step(at) != Step::Nothing {}
        self.collect();
    }

    fn collect(&mut self) {
        for (row, _) in self.engine.completed.drain(..) {
            self.before = self.before.max(row.finish);
            if self.wanted.contains(&row.id) {
                self.rows.push(row);
            }
        }
        self.engine.driver.clear();
        self.engine.background.clear();
        if !self.wanted.is_empty() {
            self.commands.extend(self.engine.take_told());
        }
    }
}

/// The commands of a request; where a cache sent for its data by itself, the one that brought them.
fn commands_of(row: &CompletionRow, told: &[CommandTold]) -> Vec<CommandTold> {
    let own: Vec<_> = told.iter().filter(|told| told.requests.contains(&row.id)).cloned().collect();
    if !own.is_empty() || row.cache == CacheResult::Hit && row.busy == Busy::default() {
        return own;
    }
    let brought = |told: &&CommandTold| {
        told.requests.is_empty() && (told.drive, told.outcome.submitted) == (row.drive, row.start)
    };
    told.iter().filter(brought).take(1).cloned().collect()
}
