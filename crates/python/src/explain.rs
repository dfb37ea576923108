//! `explain`: the timeline of a few requests on one drive.

use crate::convert::{operation, word};
use crate::error::{Error, guarded};
use crate::range::{InstantNs, LbaNumber, SectorsIfAny, Seed};
use crate::results::{self, Typed, typed};
use crate::system::System;
use headstack_drive::command::{CacheResult, Command, Outcome, Phases};
use headstack_drive::{Drive, DriveModel, Rebase, Step};
use headstack_system::random::component_seed;
use headstack_units::{Lba, Nanos, RequestFlags};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// A request to serve: when the drive gets it (`None`: when the one before is complete), operation, first sector, sectors,
/// marks (the bits of the completions' column `flags`), measured completion (measured replay only), and whether its
/// timeline is wanted.
type Wanted = (Option<InstantNs>, String, LbaNumber, SectorsIfAny, u16, Option<InstantNs>, bool);

/// Serves requests one after the other on a system of one drive, and gives the timeline of those that are wanted.
#[pyfunction]
#[pyo3(signature = (system, requests, *, seed=Seed(1)))]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    requests: Vec<Wanted>,
    seed: Seed,
) -> PyResult<Vec<Typed<'py, results::Timeline>>> {
    let system = system.get();
    let timelines = guarded(py, || Narrator::new(system, seed.0)?.timelines(&requests))?;
    timelines.iter().map(|timeline| typed(py, timeline)).collect()
}

struct Narrator {
    model: Arc<DriveModel>,
    system: Arc<headstack_system::System>,
    actuators: Vec<Drive>,
    /// Sectors of the drive in one of the host's.
    ratio: u64,
    /// When the request before was complete.
    before: Nanos,
    /// When each actuator was through with its last one.
    free_at: Vec<Nanos>,
}

impl Narrator {
    fn new(system: &System, seed: u64) -> Result<Self, Error> {
        let config = system.system.config();
        let (1, Some(model)) = (config.drives.len(), system.system.model(0)) else {
            return Err(Error::input(
                format!("a timeline is about one drive, and {} has {}", config.name, config.drives.len()),
                "name the drive: its library name, or its drive file",
            ));
        };
        if model.ends_commands() {
            return Err(Error::input(
                "a timeline serves commands one by one: duration limits do not end them",
                "take `complete-earliest` in `controller.duration_limits`",
            ));
        }
        let (host, drive) = (system.system.sector_bytes(), model.sector_bytes());
        if host % drive != 0 {
            return Err(Error::Input(
                format!("the host's sectors ({host} B) are not a whole number of the drive's ({drive} B)"),
                None,
            ));
        }
        let actuators = (0..model.actuators()).map(|actuator| {
            Drive::new(Arc::clone(model), component_seed(seed, &format!("drive.0.actuator.{actuator}")))
        });
        Ok(Self {
            model: Arc::clone(model),
            system: Arc::clone(&system.system),
            actuators: actuators.collect(),
            ratio: u64::from(host / drive),
            before: Nanos::ZERO,
            free_at: vec![Nanos::ZERO; model.actuators() as usize],
        })
    }

    fn timelines(&mut self, requests: &[Wanted]) -> Result<Vec<Value>, Error> {
        let bus =
            self.system.config().buses.first().map(|bus| headstack_drive::command::BusTiming::new(&bus.spec));
        let bus = bus.unwrap_or_else(|| self.model.bus());
        let part = self.model.layout.capacity();
        let mut timelines = Vec::new();
        for (id, (at, op, lba, sectors, flags, measured_finish, wanted)) in requests.iter().enumerate() {
            let (lba, sectors) = (lba.0, sectors.0);
            let op = operation(op)?;
            let (first, count) = (lba.saturating_mul(self.ratio), u64::from(sectors) * self.ratio);
            let past_end = first.checked_add(count).is_none_or(|end| end > self.model.capacity_sectors());
            if past_end {
                return Err(Error::Input(
                    format!("{sectors} sectors from {lba} on are not on the drive"),
                    Some(format!("it has {} sectors", self.model.capacity_sectors() / self.ratio)),
                ));
            }
            let is_flush_alone = count == 0 && RequestFlags(*flags).contains(RequestFlags::FLUSH);
            if count == 0 && !is_flush_alone {
                return Err(Error::Input("`sectors` cannot be 0, but for a flush".into(), None));
            }
            let actuator = (first / part) as usize;
            if !is_flush_alone && (first + count - 1) / part != actuator as u64 {
                return Err(Error::Input("the request reaches over two actuators".into(), None));
            }
            // A drive that queues commands has the next before the one before it is complete.
            let arrival = at.map_or(self.before, |at| Nanos(at.0));
            let queues = self.model.queue_depth() > 1 && measured_finish.is_none();
            // A flush alone is for all of the drive.
            let at_work = if is_flush_alone { 0..self.actuators.len() } else { actuator..actuator + 1 };
            let free_at = self.free_at[at_work.clone()].iter().max().copied().unwrap_or_default();
            let start = if queues { arrival } else { arrival.max(free_at) };
            let command = Command {
                id: id as u64,
                op,
                lba: Lba(first % part),
                sectors: count as u32,
                flags: RequestFlags(*flags),
            };
            let told = self.actuators[at_work.clone()].iter_mut().map(|drive| {
                if *wanted {
                    drive.explain(start, command, &bus)
                } else {
                    (drive.serve(start, command, &bus, &mut Vec::new()), Vec::new())
                }
            });
            let last = told.max_by_key(|(outcome, _)| outcome.finish);
            let (outcome, steps) = last.expect("a drive has an actuator");
            self.before = outcome.finish;
            self.free_at[at_work].fill(outcome.finish);
            if let Some(measured) = measured_finish {
                let measured_finish = Nanos(measured.0).max(start);
                for drive in &mut self.actuators {
                    drive.rebase(Rebase { begun: start, model_finish: outcome.finish, measured_finish });
                }
                self.before = measured_finish;
                self.free_at.fill(measured_finish);
            }
            if *wanted {
                let mut steps = steps;
                steps.sort_by_key(|step| step.start);
                timelines.push(self.timeline(requests, id, arrival, start, &outcome, &steps));
            }
        }
        Ok(timelines)
    }

    fn timeline(
        &self,
        requests: &[Wanted],
        id: usize,
        arrival: Nanos,
        start: Nanos,
        outcome: &Outcome,
        steps: &[Step],
    ) -> Value {
        let (_, op, LbaNumber(lba), SectorsIfAny(sectors), ..) = &requests[id];
        let first = lba * self.ratio;
        let place = self.model.layout.locate(first % self.model.layout.capacity());
        let mut phases: serde_json::Map<String, Value> = Phases::NAMES
            .iter()
            .zip(outcome.phases.as_array())
            .map(|(name, time)| ((*name).to_owned(), json!(time.as_ms())))
            .collect();
        let waited = (start - arrival).as_ms();
        if let Some(queue) = phases.get_mut("queue") {
            *queue = json!(queue.as_f64().unwrap_or_default() + waited);
        }
        json!({
            "position": id,
            "op": word(if op == "write" { headstack_units::Op::Write } else { headstack_units::Op::Read }),
            "lba": lba,
            "sectors": sectors,
            "arrival_ms": arrival.as_ms(),
            "start_ms": start.as_ms(),
            "finish_ms": outcome.finish.as_ms(),
            "response_ms": (outcome.finish - arrival).as_ms(),
            "phases_ms": phases,
            "cache": cache_word(outcome.cache),
            "place": {
                "cylinder": place.cylinder,
                "head": place.head,
                "sector": place.slot,
                "angle_revolutions": place.start.as_turns(),
            },
            "rotation_ms": 60_000.0 / self.model.spec().rotation_rpm,
            "steps": steps.iter().map(step_value).collect::<Vec<_>>(),
        })
    }
}

fn step_value(step: &Step) -> Value {
    json!({
        "label": step.label,
        "start_ms": step.start.as_ms(),
        "end_ms": step.end.as_ms(),
        "cylinder": step.cylinder,
        "head": step.head,
        "start_revolutions": step.start_revolutions,
        "end_revolutions": step.end_revolutions,
        "note": step.note,
    })
}

fn cache_word(result: CacheResult) -> &'static str {
    match result {
        CacheResult::Miss => "miss",
        CacheResult::Hit => "hit",
        CacheResult::PartialHit => "partial-hit",
        CacheResult::ReportedEarly => "reported-early",
    }
}
