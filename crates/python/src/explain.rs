//! `explain`: the timeline of a few requests.

use crate::convert::{operation, word};
use crate::error::{Error, guarded};
use crate::range::{Device, InstantNs, LbaNumber, Marks, SectorsIfAny, Seed};
use crate::results::{self, Typed, typed};
use crate::run::replay_named;
use crate::system::System;
use headstack_drive::Step;
use headstack_drive::command::{CacheResult, Phases};
use headstack_system::{CommandTold, CompletionRow, Narrator, SystemError, Told};
use headstack_trace::Request;
use headstack_units::{Lba, Nanos, RequestFlags};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// A request to serve: when it arrives (`None`: when those before are complete), its measured start and completion (`None`: not
/// known), operation, volume, first sector, sectors, marks (the bits of the completions' column
/// `flags`), and whether its timeline is wanted.
type Wanted = (
    Option<InstantNs>,
    Option<InstantNs>,
    Option<InstantNs>,
    String,
    Device,
    LbaNumber,
    SectorsIfAny,
    Marks,
    bool,
);

/// Serves requests as a run with this replay and seed does, and gives the timeline of those that are wanted.
///
/// `gap_ns`: from when those before are complete to an arrival that is not given.
#[pyfunction]
#[pyo3(signature = (system, requests, *, replay="open", seed=Seed(1), gap_ns=InstantNs(0)))]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    requests: Vec<Wanted>,
    replay: &str,
    seed: Seed,
    gap_ns: InstantNs,
) -> PyResult<Vec<Typed<'py, results::Timeline>>> {
    let system = system.get();
    let timelines = guarded(py, || {
        let replay = replay_named(replay)?;
        let narrator = Narrator::new(&system.system, seed.0, replay);
        let told = serve(narrator, &requests, Nanos(gap_ns.0))?;
        Ok(told.iter().map(|told| timeline(&system.system, told)).collect::<Vec<_>>())
    })?;
    timelines.iter().map(|timeline| typed(py, timeline)).collect()
}

/// Serves the requests.
fn serve(mut narrator: Narrator, requests: &[Wanted], gap: Nanos) -> Result<Vec<Told>, Error> {
    for (arrival, start, measured_finish, op, device, lba, sectors, flags, is_wanted) in requests {
        let flags = RequestFlags(flags.0);
        if sectors.0 == 0 && !flags.contains(RequestFlags::FLUSH) {
            return Err(Error::Input("`sectors` cannot be 0, but for a flush".into(), None));
        }
        let arrival = match arrival {
            Some(at) => Nanos(at.0),
            None => narrator.all_complete().saturating_add(gap),
        };
        let mut request = Request::new(arrival, operation(op)?, Lba(lba.0), sectors.0);
        (request.device, request.flags) = (device.0, flags);
        let known = |at: &Option<InstantNs>| at.as_ref().map_or(Nanos::MAX, |at| Nanos(at.0));
        (request.start, request.finish) = (known(start), known(measured_finish));
        narrator.serve(request, *is_wanted).map_err(without_options)?;
    }
    Ok(narrator.finish())
}

/// The hints of runs name options that are none here.
fn without_options(error: SystemError) -> Error {
    match error {
        SystemError::Request { id, problem, .. } => Error::input(
            format!("request {id} {problem}"),
            "`headstack drives show NAME` tells how large a drive is",
        ),
        other => other.into(),
    }
}

/// A request and all its commands as one timeline.
fn timeline(system: &headstack_system::System, told: &Told) -> Value {
    let row = &told.row;
    let mut phases = serde_json::Map::new();
    for (name, time) in Phases::NAMES.iter().zip(row.phases.as_array()) {
        phases.insert((*name).to_owned(), json!(time.as_ms()));
    }
    let last = told.commands.iter().max_by_key(|command| command.outcome.finish);
    let drive = last.map_or(row.drive, |command| command.drive) as usize;
    let rotation_ms = system.model(drive).map_or(0.0, |model| 60_000.0 / model.spec().rotation_rpm);
    // What was before the first command was sent is before the first.
    let first_sent = told.commands.iter().map(|command| command.sent).min().unwrap_or(row.arrival);
    let mut steps: Vec<(Nanos, Value)> = Vec::new();
    for command in &told.commands {
        let drive = (told.commands.len() > 1).then(|| drive_name(system, command));
        let since = if command.sent == first_sent { row.arrival } else { command.sent };
        steps.extend(host_step(command, since, rotation_ms, drive).map(|step| (since, step)));
        steps.extend(command.steps.iter().map(|step| (step.start, step_value(step, drive))));
    }
    steps.sort_by_key(|&(start, _)| start);
    let steps = with_waits(row, steps, rotation_ms);
    json!({
        "position": row.id,
        "op": word(row.op),
        "lba": row.lba.0,
        "sectors": row.sectors,
        "arrival_ms": row.arrival.as_ms(),
        "start_ms": row.start.as_ms(),
        "finish_ms": row.finish.as_ms(),
        "response_ms": row.response().as_ms(),
        "phases_ms": phases,
        "cache": cache_word(row.cache),
        "drive": last.map(|command| drive_name(system, command)),
        "commands": told.commands.len(),
        "place": last.map(|command| place(system, command)),
        "rotation_ms": rotation_ms,
        "queued_in_host_ms": row.start.saturating_sub(row.arrival).as_ms(),
        "steps": steps,
    })
}

/// What of the request's time is in no step: it was with the host or an array.
fn with_waits(row: &CompletionRow, steps: Vec<(Nanos, Value)>, rotation_ms: f64) -> Vec<Value> {
    let note = if steps.is_empty() {
        "with a cache above the drives, which had the data or was about to get them"
    } else {
        "in the host or the array, behind other requests or for a copy of the data"
    };
    let wait = |track: Option<&Value>, since: Nanos, until: Nanos| {
        let of_track = |key: &str| track.map_or(json!(0), |step| step[key].clone());
        let angle = of_track("end_revolutions").as_f64().unwrap_or_default();
        let turned = until.saturating_sub(since).as_ms() / rotation_ms;
        json!({
            "label": "wait",
            "start_ms": since.as_ms(),
            "end_ms": until.as_ms(),
            "cylinder": of_track("cylinder"),
            "head": of_track("head"),
            "start_revolutions": angle,
            "end_revolutions": (angle + turned).rem_euclid(1.0),
            "note": note,
        })
    };
    let (mut all, mut told_until): (Vec<Value>, Nanos) = (Vec::new(), row.arrival);
    for (start, step) in steps {
        if start > told_until && told_until < row.finish {
            all.push(wait(all.last(), told_until, start.min(row.finish)));
        }
        let end = Nanos::from_ms(step["end_ms"].as_f64().unwrap_or_default());
        told_until = told_until.max(end);
        all.push(step);
    }
    if row.finish > told_until {
        all.push(wait(all.last(), told_until, row.finish));
    }
    all
}

/// The time until a drive got a command, if it took any.
fn host_step(told: &CommandTold, since: Nanos, rotation_ms: f64, drive: Option<&str>) -> Option<Value> {
    let (first, until) = (told.steps.first()?, told.outcome.submitted);
    let turned = until.saturating_sub(since).as_ms() / rotation_ms;
    let note = "in the host, before the drive got it";
    (until > since).then(|| {
        json!({
            "label": "queue",
            "start_ms": since.as_ms(),
            "end_ms": until.as_ms(),
            "cylinder": first.cylinder,
            "head": first.head,
            "start_revolutions": (first.start_revolutions - turned).rem_euclid(1.0),
            "end_revolutions": first.start_revolutions,
            "note": drive.map_or_else(|| note.to_owned(), |drive| format!("{drive}: {note}")),
        })
    })
}

/// A drive by its name in the results.
fn drive_name<'a>(system: &'a headstack_system::System, command: &CommandTold) -> &'a str {
    &system.config().drives[command.drive as usize].name
}

/// Where the first sector of a command is.
fn place(system: &headstack_system::System, told: &CommandTold) -> Value {
    let Some(model) = system.model(told.drive as usize) else { return Value::Null };
    let place = model.layout.locate(told.command.lba.0.min(model.layout.capacity() - 1));
    json!({
        "cylinder": place.cylinder,
        "head": place.head,
        "sector": place.slot,
        "angle_revolutions": place.start.as_turns(),
    })
}

fn step_value(step: &Step, drive: Option<&str>) -> Value {
    let note = drive.map_or_else(|| step.note.clone(), |drive| format!("{drive}: {}", step.note));
    json!({
        "label": step.label,
        "start_ms": step.start.as_ms(),
        "end_ms": step.end.as_ms(),
        "cylinder": step.cylinder,
        "head": step.head,
        "start_revolutions": step.start_revolutions,
        "end_revolutions": step.end_revolutions,
        "note": note,
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
