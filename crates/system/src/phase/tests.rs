//! A drive that is not quite as its file says: found out from its times, and predicted.

use std::sync::Arc;

use headstack_drive::command::{BusTiming, Command};
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_phase::gap::Gap;
use headstack_trace::{InMemory, Op, Request, RequestSource};
use headstack_units::{Lba, Nanos, RequestFlags};

use super::{decide_gap, fit};
use crate::random::component_seed;
use crate::record::Keep;
use crate::run::{Input, Replay, RunOptions, run};
use crate::system::System;
use crate::workload::WorkloadSpec;

/// The drive of the library, and what it is really like: faster, its skews fractions, its zones turned.
fn drives() -> (Arc<System>, DriveSpec) {
    let file = Arc::new(System::load("hp-97560", &[]).unwrap());
    let mut real = file.config().drives[0].spec.clone();
    real.rotation_rpm *= 1.0023;
    for (number, zone) in real.layout.zone.iter_mut().enumerate() {
        zone.track_skew_sectors += 0.37;
        zone.cylinder_skew_sectors += 0.61;
        zone.first_sector_revolutions = (0.31 * number as f64).fract();
    }
    (file, real)
}

/// A number of a sequence that looks random.
fn draw(name: &str, counter: u64) -> u64 {
    component_seed(counter, name)
}

/// Requests with some locality, and the times the real drive takes for them, to 20 µs.
fn measured(real: &DriveSpec, count: u64, jump_at: u64) -> Vec<Request> {
    let model = Arc::new(DriveModel::new(real).unwrap());
    let bus: BusTiming = model.bus();
    let mut drive = Drive::new(Arc::clone(&model), 1);
    let (mut now, mut lba) = (Nanos::ZERO, 0);
    (0..count)
        .map(|id| {
            now += Nanos(8_000_000 + draw("think", id) % 60_000_000);
            let near = draw("near", id).is_multiple_of(2);
            let away = draw("where", id) % if near { 2_000 } else { model.layout.capacity() - 64 };
            lba = if near { (lba + away) % (model.layout.capacity() - 64) } else { away };
            let op = if draw("op", id).is_multiple_of(3) { Op::Write } else { Op::Read };
            let sectors = 1 + (draw("size", id) % 24) as u32;
            if id == jump_at {
                drive.relock(now, headstack_units::Angle::fraction(1, 3));
            }
            let command = Command { id, op, lba: Lba(lba), sectors, flags: RequestFlags::default() };
            let outcome = drive.serve(now, command, &bus, &mut Vec::new());
            let noise = draw("noise", id) % 20_000;
            let finish = outcome.finish + Nanos(noise);
            let request = Request { start: now, finish, ..Request::new(now, op, Lba(lba), sectors) };
            now = finish;
            request
        })
        .collect()
}

fn open(requests: &[Request]) -> Box<dyn RequestSource> {
    Box::new(InMemory::new(requests.to_vec()))
}

/// Errors of the model's service times, in ms.
fn errors(system: &Arc<System>, requests: &[Request], phase_lock: bool) -> Vec<f64> {
    let options = RunOptions {
        replay: Replay::Measured,
        phase_lock: phase_lock.then(|| vec![Vec::new()]),
        ..RunOptions::default()
    };
    let mut kept = Keep::default();
    run(system, Input::Source(open(requests)), &options, &mut kept, &mut |_| {}).unwrap();
    let error = |row: &crate::CompletionRow| {
        row.service().as_ms() - row.measured_finish.saturating_sub(row.measured_start).as_ms()
    };
    kept.rows.iter().map(error).collect()
}

fn mean_size(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64
}

#[test]
fn a_drive_that_is_not_as_its_file_says_is_found_out_and_predicted() {
    let (file, real) = drives();
    let requests = measured(&real, 4000, u64::MAX);
    let options = RunOptions { requests: Some(2000), ..RunOptions::default() };
    let fitted = fit(&file, &options, || Ok(open(&requests))).unwrap();
    let found = fitted.config.drives[0].spec.rotation_rpm;
    assert!((found / real.rotation_rpm - 1.0).abs() < 5e-6, "{found} rpm instead of {}", real.rotation_rpm);
    let locked = Arc::new(System::new(fitted.config).unwrap());
    let after = mean_size(&errors(&locked, &requests, true)[2000..]);
    let before = mean_size(&errors(&file, &requests, false)[2000..]);
    assert!(after < 0.35, "{after} ms with the lock");
    assert!(before > 1.0, "{before} ms without: nothing to be found out");
}

#[test]
fn after_a_jump_of_the_phase_the_lock_is_found_again() {
    let (file, real) = drives();
    let requests = measured(&real, 3000, 2500);
    let options = RunOptions { requests: Some(2000), ..RunOptions::default() };
    let fitted = fit(&file, &options, || Ok(open(&requests))).unwrap();
    let locked = Arc::new(System::new(fitted.config).unwrap());
    let all = errors(&locked, &requests, true);
    assert!(mean_size(&all[2600..]) < 0.4, "{} ms after the jump", mean_size(&all[2600..]));
}

#[test]
fn no_prediction_knows_what_comes_after() {
    let (file, real) = drives();
    let requests = measured(&real, 600, u64::MAX);
    let before = errors(&file, &requests, true);
    let mut changed = requests.clone();
    for request in &mut changed[400..] {
        request.finish += Nanos(3_000_000);
    }
    let model = |errors: &[f64], requests: &[Request], id: usize| {
        errors[id] + requests[id].finish.saturating_sub(requests[id].start).as_ms()
    };
    let after = errors(&file, &changed, true);
    // The prediction of request 400 itself is made before its time is known.
    for id in 0..=400 {
        let (one, other) = (model(&before, &requests, id), model(&after, &changed, id));
        assert!((one - other).abs() < 1e-9, "request {id}: {one} and {other} ms");
    }
}

#[test]
fn the_gaps_are_read_the_right_way() {
    let (file, real) = drives();
    let right = measured(&real, 2000, u64::MAX);
    // The other reading: every gap one request late.
    let mut other = right.clone();
    let mut now = Nanos::ZERO;
    for (index, request) in other.iter_mut().enumerate() {
        let service = right[index].finish.saturating_sub(right[index].start);
        request.start = now;
        request.arrival = now;
        request.finish = now + service;
        let gap = right
            .get(index + 2)
            .map_or(Nanos::ZERO, |next| next.start.saturating_sub(right[index + 1].finish));
        now = request.finish + gap;
    }
    let options = RunOptions::default();
    let verdict = |after: &[Request], before: &[Request]| {
        decide_gap(&file, &options, open(after), open(before)).unwrap().gap
    };
    assert_eq!(verdict(&right, &other), Gap::After);
    assert_eq!(verdict(&other, &right), Gap::Before);
}

#[test]
fn only_a_measured_replay_can_be_locked() {
    let (file, real) = drives();
    let requests = measured(&real, 10, u64::MAX);
    let options =
        RunOptions { replay: Replay::Closed, phase_lock: Some(Vec::new()), ..RunOptions::default() };
    let source = Input::Source(open(&requests));
    let error = run(&file, source, &options, &mut Keep::default(), &mut |_| {}).unwrap_err();
    assert!(error.hint().unwrap().contains("--replay measured"));
}

/// What a drive does with the requests of a host, one after the other: their measured times.
fn served(name: &str, set: &[(String, String)], count: u64) -> Vec<Request> {
    let real = Arc::new(System::load(name, set).unwrap());
    let (_, spec) = WorkloadSpec::load("unix-like", &[]).unwrap();
    let mut asked = spec.generate(&real.devices(), None, Some(count)).unwrap().open.unwrap();
    let requests: Vec<Request> = std::iter::from_fn(|| asked.next_request()).collect();
    let options = RunOptions { threads: Some(1), ..RunOptions::default() };
    let mut kept = Keep::default();
    run(&real, Input::Source(open(&requests)), &options, &mut kept, &mut |_| {}).unwrap();
    kept.rows.sort_by_key(|row| row.id);
    let timed = requests.iter().zip(&kept.rows);
    timed.map(|(asked, row)| Request { start: row.start, finish: row.finish, ..*asked }).collect()
}

#[test]
fn writes_behind_each_other_lose_no_turn_by_what_is_known_of_the_phase() {
    let requests = served("hp-97560", &[("controller.read_overhead_ms".to_owned(), "2.5".to_owned())], 2000);
    // An overhead that is a little short, and one that is longer: without the lock all rotations are as they were.
    for overhead in ["2.0", "2.4", "2.6"] {
        let off = [("controller.read_overhead_ms".to_owned(), overhead.to_owned())];
        let file = Arc::new(System::load("hp-97560", &off).unwrap());
        let fitted = fit(&file, &RunOptions::default(), || Ok(open(&requests))).unwrap();
        let locked = mean_size(&errors(&Arc::new(System::new(fitted.config).unwrap()), &requests, true));
        let plain = mean_size(&errors(&file, &requests, false));
        assert!(locked < 0.5 * plain, "{overhead} ms: {locked} ms with the lock, {plain} without");
    }
}

/// The file's cylinder skews are a sector short: every cylinder is off by another angle, and there is no one phase to follow.
#[test]
fn where_the_file_s_angles_are_wrong_the_lock_is_hardly_worse_than_none() {
    let file = Arc::new(System::load("cheetah-9lp", &[]).unwrap());
    let zones = file.config().drives[0].spec.layout.zone.iter().enumerate();
    let a_sector_more: Vec<(String, String)> = zones
        .map(|(number, zone)| {
            let path = format!("layout.zone.{number}.cylinder_skew_sectors");
            (path, format!("{:?}", zone.cylinder_skew_sectors + 1.0))
        })
        .collect();
    let requests = served("cheetah-9lp", &a_sector_more, 6000);
    let (locked, plain) = (errors(&file, &requests, true), errors(&file, &requests, false));
    let (locked, plain) = (mean_size(&locked), mean_size(&plain));
    assert!(locked < 1.25 * plain, "{locked} ms with the lock, {plain} without");
}
