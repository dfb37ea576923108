//! A system for other simulators: they own the clock, and ask for the next event.

use std::sync::Arc;

use headstack_trace::Request;
use headstack_units::Nanos;

use crate::SystemError;
use crate::engine::{Engine, Step};
use crate::record::{BackgroundRow, CompletionRow, DriverRow};
use crate::system::System;
use crate::workload::LATEST;

/// A system in motion, driven from outside. Steppers are independent of each other.
///
/// Submit requests in order of their arrivals; between them, advance to the instants that [`Stepper::next_event`] tells
/// (or beyond: what happens in between happens at its own time).
#[derive(Clone, Debug)]
pub struct Stepper {
    engine: Engine,
    now: Nanos,
}

impl Stepper {
    /// A system at rest at time 0.
    pub fn new(system: &Arc<System>, seed: u64) -> Self {
        Self { engine: Engine::new(system, seed), now: Nanos::ZERO }
    }

    /// The instant it has reached.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Requests submitted and not yet complete.
    pub fn in_flight(&self) -> u64 {
        self.engine.in_flight()
    }

    /// When something will happen next, as far as is known now. Not every event completes a request.
    pub fn next_event(&mut self) -> Option<Nanos> {
        self.engine.next_time()
    }

    /// A request arrives, at its arrival time; returns its number, counted from 0. What happens before that instant
    /// must have been let happen: [`Stepper::advance`] to it first.
    ///
    /// # Errors
    /// [`SystemError::Request`] if the system cannot serve it, or it arrives before the instant reached, after an event
    /// that has yet to happen, or past [`LATEST`]. Nothing has changed then.
    pub fn submit(&mut self, request: Request) -> Result<u64, SystemError> {
        if request.arrival > LATEST {
            return Err(SystemError::Request {
                id: self.engine.next_id(),
                problem: format!("arrives at {}, past the 100 years that a run can last", request.arrival),
                hint: "count nanoseconds from the start of the run".to_owned(),
            });
        }
        let overtaken = self.engine.next_time().filter(|&next| next < request.arrival);
        let problem = if request.arrival < self.now {
            format!("arrives at {}, but the system has reached {}", request.arrival, self.now)
        } else if let Some(next) = overtaken {
            format!("arrives at {}, but something happens at {next}", request.arrival)
        } else {
            let id = self.engine.submit(request, None)?;
            self.now = request.arrival;
            return Ok(id);
        };
        Err(SystemError::Request {
            id: self.engine.next_id(),
            problem,
            hint: "submit in order of arrival, and advance to each arrival first".to_owned(),
        })
    }

    /// Lets everything happen up to and including `to`; the requests completed thereby, in order.
    pub fn advance(&mut self, to: Nanos) -> Vec<CompletionRow> {
        while self.engine.step(to) != Step::Nothing {}
        self.now = self.now.max(to);
        self.engine.completed.drain(..).map(|(row, _)| row).collect()
    }

    /// Requests of the driver below a buffer cache, completed since this was last asked.
    pub fn take_driver(&mut self) -> Vec<DriverRow> {
        std::mem::take(&mut self.engine.driver)
    }

    /// Records of background work since this was last asked.
    pub fn take_background(&mut self) -> Vec<BackgroundRow> {
        std::mem::take(&mut self.engine.background)
    }
}
