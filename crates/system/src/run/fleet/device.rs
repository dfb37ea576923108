//! One device of a fleet: a system of its own, and what is kept of its completions.

use std::sync::Arc;
use std::vec::Drain;

use headstack_stats::{Quantiles, Tally};
use headstack_trace::Request;
use headstack_units::{Nanos, Op};

use super::part::DeviceRow;
use crate::SystemError;
use crate::engine::{Engine, Step, UnitUse};
use crate::record::{BackgroundRow, CompletionRow};
use crate::run::RunOptions;
use crate::run::fast::{self, FastRun, Records};
use crate::run::queued::{self, QueuedRun};
use crate::system::System;

/// A device in motion.
pub(super) struct Device<'s> {
    number: u32,
    path: Path<'s>,
    book: Book,
}

/// How its requests are served, as in a run of its own.
enum Path<'s> {
    Closed(Box<FastRun<'s>>),
    Queued(Box<QueuedRun<'s>>),
    Events(Box<Engine>),
}

/// What is kept of its completions.
#[derive(Default)]
struct Book {
    taken: u64,
    reads: u64,
    sectors: u64,
    response_sum: u64,
    response: Tally,
    end: Nanos,
    /// The first arrival and the last.
    arrivals: Option<[Nanos; 2]>,
}

/// Where completions are noted: of the device, and of all.
struct Both<'b>(&'b mut Book, &'b mut Quantiles);

impl Records for Both<'_> {
    #[inline]
    fn push(&mut self, row: impl FnOnce() -> CompletionRow) -> Result<(), SystemError> {
        let row = row();
        let Self(book, all) = self;
        book.end = book.end.max(row.finish);
        if row.flags.has_any(headstack_units::RequestFlags::WITHOUT_DATA) {
            return Ok(());
        }
        let response = row.response();
        book.reads += u64::from(row.op == Op::Read);
        book.sectors += u64::from(row.sectors);
        book.response_sum += response.0;
        book.response.record(response);
        all.record(response);
        Ok(())
    }

    fn push_background(&mut self, rows: Drain<'_, BackgroundRow>) -> Result<(), SystemError> {
        drop(rows);
        Ok(())
    }
}

impl<'s> Device<'s> {
    /// At rest. Each device has a seed of its own.
    pub(super) fn new(system: &'s Arc<System>, number: u32, seed: u64) -> Self {
        let seed = seed.wrapping_add(number.into());
        let path = if fast::applies(system) {
            let options = RunOptions { seed, threads: Some(1), ..RunOptions::default() };
            Path::Closed(Box::new(FastRun::new(system, &options, false)))
        } else if queued::applies(system) {
            Path::Queued(Box::new(QueuedRun::new(system, seed)))
        } else {
            Path::Events(Box::new(Engine::new(system, seed)))
        };
        Self { number, path, book: Book::default() }
    }

    /// Serves requests that are all for it, in order of arrival.
    pub(super) fn serve(&mut self, requests: &mut [Request], all: &mut Quantiles) -> Result<(), SystemError> {
        for request in &mut *requests {
            request.device = 0;
        }
        if let Some((first, last)) = requests.first().zip(requests.last()) {
            let [earliest, _] = self.book.arrivals.unwrap_or([first.arrival; 2]);
            self.book.arrivals = Some([earliest, last.arrival]);
        }
        let first_id = self.book.taken;
        self.book.taken += requests.len() as u64;
        match &mut self.path {
            Path::Closed(run) => run.serve_all(first_id, requests, &mut Both(&mut self.book, all)),
            Path::Queued(run) => run.serve_all(first_id, requests, &mut Both(&mut self.book, all)),
            Path::Events(engine) => {
                for &mut request in requests {
                    step_to(engine, request.arrival);
                    engine.submit(request, None)?;
                    collect(engine, &mut Both(&mut self.book, all))?;
                }
                Ok(())
            }
        }
    }

    /// Serves what is still on its way; what it all comes to.
    pub(super) fn finish(mut self, all: &mut Quantiles) -> Result<DeviceRow, SystemError> {
        match &mut self.path {
            Path::Closed(_) => {}
            Path::Queued(run) => run.finish(&mut Both(&mut self.book, all))?,
            Path::Events(engine) => {
                while !engine.is_idle() && engine.step(Nanos(u64::MAX - 1)) != Step::Nothing {}
                collect(engine, &mut Both(&mut self.book, all))?;
                self.book.end = self.book.end.max(engine.last_done());
            }
        }
        let end = self.book.end;
        let (used, drive): (Vec<UnitUse>, _) = match &mut self.path {
            Path::Closed(run) => {
                run.workers.iter_mut().for_each(|worker| worker.close(end, false, &mut Vec::new()));
                let workers = &run.workers;
                (workers.iter().map(|worker| worker.unit.used(end)).collect(), workers[0].drive())
            }
            Path::Queued(run) => (vec![run.used(end)], run.drive()),
            Path::Events(engine) => (engine.used(end, false).units, engine.drives().next().expect("a drive")),
        };
        let arms = u64::from(drive.model().spec().arms.moving().max(1));
        let busy: Vec<u64> = used.iter().map(|unit| unit.mechanism.0 / arms).collect();
        let Book { reads, sectors, response_sum, response, end, arrivals, .. } = self.book;
        let [first_arrival, last_arrival] = arrivals.unwrap_or_default();
        Ok(DeviceRow {
            device: self.number,
            requests: response.count(),
            reads,
            sectors,
            response_sum_ns: response_sum,
            p50_ns: response.quantile(0.5).0,
            p99_ns: response.quantile(0.99).0,
            p999_ns: response.quantile(0.999).0,
            max_ns: response.max().0,
            busy_ns: busy.iter().sum::<u64>() / busy.len().max(1) as u64,
            end_ns: end.0,
            first_arrival_ns: first_arrival.0,
            last_arrival_ns: last_arrival.0,
        })
    }
}

/// What was announced for an instant happens before what arrives at it.
fn step_to(engine: &mut Engine, arrival: Nanos) {
    while engine.step(arrival) != Step::Nothing {}
}

fn collect(engine: &mut Engine, both: &mut Both<'_>) -> Result<(), SystemError> {
    engine.background.clear();
    engine.driver.clear();
    engine.completed.drain(..).try_for_each(|(row, _)| both.push(|| row))
}
