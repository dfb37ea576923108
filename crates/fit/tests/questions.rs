//! What somebody asks of a fit before believing it.

mod common;

use common::{MIXED, Noise, READS, file, measured, real};
use headstack_fit::{
    Calibration, FitError, Known, MeasuredTrace, Monitor, Options, ParameterTable, Row, Split, calibrate,
};
use headstack_units::{Nanos, Op};
use toml::Value;

const DRIVE: &str = "hp-c2247a";
const QUIET: Noise = Noise { sigma_ms: 0.02, late: 0.0 };

fn options(parameters: &[&str]) -> Options {
    Options { parameters: parameters.iter().map(|&name| name.to_owned()).collect(), ..Options::default() }
}

fn fitted(trace: &MeasuredTrace, options: &Options) -> Calibration {
    calibrate(&file(DRIVE), trace, options, &Monitor::default()).unwrap()
}

fn row<'a>(found: &'a Calibration, name: &str) -> &'a Row {
    found.rows.iter().find(|row| row.parameter.name() == name).unwrap()
}

fn joint(row: &Row) -> (f64, f64) {
    let Known::Number(known) = &row.known else { panic!("{} is not a number", row.parameter.name()) };
    let end = |end: headstack_fit::End, open: f64| end.value().unwrap_or(open);
    (end(known.joint.low, f64::NEG_INFINITY), end(known.joint.high, f64::INFINITY))
}

#[test]
fn planted_values_are_found_inside_their_intervals_and_what_was_there_before_is_ruled_out() {
    let planted = [
        ("mechanics.inward_seek_extra_ms", 0.5),
        ("controller.write_completion_ms", 0.8),
        ("bus.read_mb_per_s", 2.5),
    ];
    let trace = measured(DRIVE, &real(&planted), MIXED, 3000, QUIET, 1);
    let names: Vec<&str> =
        planted.iter().map(|(name, _)| *name).chain(["controller.read_completion_ms"]).collect();
    let found = fitted(&trace, &options(&names));
    for (name, truth) in planted {
        let row = row(&found, name);
        let (low, high) = joint(row);
        assert!(low <= truth && truth <= high, "{name}: {truth} is not in [{low}, {high}]");
        assert!(high - low < 0.5 * truth.max(1.0), "{name}: [{low}, {high}] says next to nothing");
        // What the file does not have holds by default.
        let before = row.before.as_ref().or(row.by_default.as_ref()).and_then(Value::as_float).unwrap();
        assert!(before < low || high < before, "{name}: {before} is in [{low}, {high}]");
        assert!(row.known.is_identifiable() && row.gain.is_clear, "{row:?}");
    }
    let mae = |scores: &headstack_stats::Scores| scores.all.per_request.mae_ms;
    assert!(mae(&found.test.after) < 0.25 * mae(&found.test.before));
}

#[test]
fn what_the_workload_cannot_tell_is_not_identifiable_and_left_alone() {
    let trace = measured(DRIVE, &real(&[("controller.read_completion_ms", 0.5)]), READS, 2000, QUIET, 2);
    let names = [
        "controller.read_completion_ms",
        "controller.write_completion_ms",
        "controller.by_history.write_miss_ms.1",
        "mechanics.write_settle_ms",
        "bus.write_mb_per_s",
        "buffer.write_on_arrival",
    ];
    let found = fitted(&trace, &options(&names));
    assert!(row(&found, names[0]).known.is_identifiable());
    for name in &names[1..] {
        let row = row(&found, name);
        assert!(!row.known.is_identifiable() && !row.is_changed(), "{row:?}");
    }
}

/// Requests are of 16 KiB at most: a fence of none is clearly wrong, and above 16 KiB every fence is as good as any other.
#[test]
fn what_gains_but_could_be_anything_is_not_saved() {
    let trace = measured("hp-97560", &[], READS, 1200, QUIET, 9);
    let mut drive = file("hp-97560");
    drive.buffer.read_fence_kib = 0.0;
    let fitted = |real_kib: f64| {
        let trace = match real_kib {
            64.0 => trace.clone(),
            other => measured("hp-97560", &real(&[("buffer.read_fence_kib", other)]), READS, 1200, QUIET, 9),
        };
        let options = options(&["buffer.read_fence_kib"]);
        calibrate(&drive, &trace, &options, &Monitor::default()).unwrap()
    };
    let anything = fitted(64.0);
    assert!(
        !anything.rows[0].known.is_identifiable() && !anything.rows[0].is_changed(),
        "{:?}",
        anything.rows[0]
    );
    assert_eq!(anything.drive.buffer.read_fence_kib, 0.0);
    // A fence inside the requests is told, and kept.
    let told = fitted(4.0);
    assert!(told.rows[0].known.is_identifiable(), "{:?}", told.rows[0]);
    assert!((told.drive.buffer.read_fence_kib - 4.0).abs() < 0.6, "{:?}", told.rows[0]);
}

/// Nobody sees the spindle: in a trace of reads, as much off every overhead before the media work as is put behind it
/// changes no time at all, until one of them is 0.
#[test]
fn what_makes_up_for_each_other_is_known_together_less_well_than_alone() {
    let trace = measured(DRIVE, &real(&[("controller.read_completion_ms", 0.4)]), READS, 2000, QUIET, 3);
    let found = fitted(&trace, &options(&["controller"]));
    let width = |interval: headstack_fit::Interval| {
        interval.high.value().unwrap_or(f64::INFINITY) - interval.low.value().unwrap_or(f64::NEG_INFINITY)
    };
    for row in &found.rows {
        let Known::Number(known) = &row.known else { continue };
        assert!(width(known.joint) >= width(known.alone), "{row:?}");
    }
    let row = row(&found, "controller.read_completion_ms");
    let Known::Number(known) = &row.known else { panic!("{row:?}") };
    assert!(width(known.alone) < 0.2 && width(known.joint) > 0.4, "{known:?}");
    let (low, high) = joint(row);
    assert!(low <= 0.4 && 0.4 <= high, "0.4 is not in [{low}, {high}]");
}

#[test]
fn a_drive_that_is_as_its_file_says_stays_so() {
    let trace = measured(DRIVE, &[], MIXED, 3000, Noise { sigma_ms: 0.05, late: 0.01 }, 4);
    let found = fitted(&trace, &options(&["mechanics", "bus", "controller.read_completion_ms"]));
    let changed: Vec<&Row> = found.rows.iter().filter(|row| row.is_changed()).collect();
    // A change may pass for more than noise; it is small then, and its interval holds the truth.
    assert!(changed.len() <= 2, "{changed:#?}");
    for row in changed {
        let (low, high) = joint(row);
        let truth = row.before.as_ref().and_then(Value::as_float).unwrap();
        assert!(low <= truth && truth <= high, "{truth} is not in [{low}, {high}]: {row:?}");
    }
}

#[test]
fn the_result_is_the_same_with_any_number_of_threads() {
    let trace = measured(DRIVE, &real(&[("mechanics.read_settle_ms", 0.4)]), MIXED, 1500, QUIET, 5);
    let run = |threads| {
        let options =
            Options { threads: Some(threads), ..options(&["mechanics.read_settle_ms", "cache", "bus"]) };
        let found = fitted(&trace, &options);
        (format!("{:?}", found.rows), found.drive, found.evaluations, found.test.after)
    };
    let one = run(1);
    assert_eq!(one, run(3));
    assert_eq!(one, run(8));
}

#[test]
fn folds_are_scored_by_drives_that_never_saw_them() {
    let trace = measured(DRIVE, &real(&[("mechanics.read_settle_ms", 0.4)]), MIXED, 1500, QUIET, 6);
    let options =
        Options { split: Split::KFold(3), ..options(&["mechanics.read_settle_ms", "bus.read_mb_per_s"]) };
    let found = fitted(&trace, &options);
    assert_eq!(found.requests, (1500, 1500));
    assert_eq!(found.test.after.all.per_request.requests, 1500);
    for value in &row(&found, "mechanics.read_settle_ms").folds {
        assert!((value.as_float().unwrap() - 0.4).abs() < 0.05, "{value}");
    }
    // The first block's times are changed: the drive that it is scored by stays, the scores do not.
    let mut requests = trace.requests().to_vec();
    for request in requests[..500].iter_mut().filter(|request| request.op == Op::Read) {
        request.finish += Nanos::from_ms(0.3);
    }
    let again = fitted(&MeasuredTrace::new("measured", requests).unwrap(), &options);
    let folds = |found: &Calibration, fold: usize| -> Vec<Value> {
        found.rows.iter().map(|row| row.folds[fold].clone()).collect()
    };
    assert_eq!(folds(&found, 0), folds(&again, 0));
    assert_ne!(found.test.after, again.test.after);
}

#[test]
fn a_fit_can_be_stopped() {
    let trace = measured(DRIVE, &[], MIXED, 1500, QUIET, 7);
    let stopper = Monitor::default();
    stopper.stop();
    let stopped = calibrate(&file(DRIVE), &trace, &Options::default(), &stopper);
    assert!(matches!(stopped, Err(FitError::Stopped)));
    let monitor = Monitor::default();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| calibrate(&file(DRIVE), &trace, &Options::default(), &monitor));
        while monitor.evaluations() < 20 && !worker.is_finished() {
            std::thread::yield_now();
        }
        monitor.stop();
        assert!(matches!(worker.join().unwrap(), Err(FitError::Stopped)));
    });
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let trace = measured(DRIVE, &[], MIXED, 500, QUIET, 8);
    let refused = |options: &Options| match calibrate(&file(DRIVE), &trace, options, &Monitor::default()) {
        Err(FitError::Input { problem, hint }) => format!("{problem}\n{hint}"),
        other => panic!("{other:?}"),
    };
    let unknown = refused(&options(&["mechanics.magic_ms"]));
    assert!(
        unknown.contains("mechanics.magic_ms") && unknown.contains("mechanics.inward_seek_extra_ms"),
        "{unknown}"
    );
    assert!(refused(&Options { rounds: 0, ..Options::default() }).contains("rounds"));
    assert!(refused(&Options { threads: Some(0), ..Options::default() }).contains("thread"));
    let mut far = file(DRIVE);
    far.mechanics.read_settle_ms = 99.0;
    let fit = |parameters: &[&str]| {
        let options = Options { rounds: 1, ..options(parameters) };
        calibrate(&far, &trace, &options, &Monitor::default())
    };
    let outside = fit(&["mechanics.read_settle_ms"]).unwrap_err().to_string();
    assert!(outside.contains("99 is outside its bounds, -5 to 10"), "{outside}");
    let mut requests = trace.requests().to_vec();
    for request in &mut requests {
        request.finish = request.start + Nanos::from_ms(10.0);
    }
    let same = MeasuredTrace::new("t", requests).unwrap();
    let same = calibrate(&file(DRIVE), &same, &Options::default(), &Monitor::default()).unwrap_err();
    assert!(same.to_string().contains("all 500 requests took 10 ms"), "{same}");
    let mut requests = trace.requests().to_vec();
    requests[7].finish = Nanos::MAX;
    let partly = MeasuredTrace::new("t", requests.clone()).unwrap_err().to_string();
    assert!(partly.contains("1 of 500"), "{partly}");
    for request in &mut requests {
        request.start = Nanos::MAX;
    }
    assert!(MeasuredTrace::new("t", requests).unwrap_err().to_string().contains("no request"));
}

#[test]
fn every_drive_of_the_library_has_a_table_within_its_bounds() {
    for entry in headstack_system::library::drives() {
        let name = entry.name;
        let spec = file(name);
        let table = ParameterTable::of(&spec);
        let values = headstack_fit::Values::of(&spec);
        assert!(table.numbers.len() >= 10, "{name}");
        for number in &table.numbers {
            let value = number.value(&values);
            assert!(number.low <= value && value <= number.high, "{name}: {} is {value}", number.name());
        }
        let names: Vec<String> = table.parameters().map(|it| it.name()).collect();
        let unique: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{name}");
    }
}

/// Writes take longer in the first three quarters of the fitted part, and not in what follows.
#[test]
fn what_gets_worse_on_requests_that_chose_nothing_goes_back() {
    let trace = measured(DRIVE, &[], MIXED, 3000, QUIET, 10);
    let slower = |until: usize| {
        let mut requests = trace.requests().to_vec();
        for request in requests[..until].iter_mut().filter(|request| request.op == Op::Write) {
            request.finish += Nanos::from_ms(0.4);
        }
        let trace = MeasuredTrace::new("measured", requests).unwrap();
        fitted(&trace, &options(&["controller.write_completion_ms"]))
    };
    let passing = slower(1125);
    assert_eq!(passing.refuted, ["controller.write_completion_ms"]);
    assert!(!passing.rows[0].is_changed(), "{:?}", passing.rows[0]);
    let lasting = slower(3000);
    assert!(lasting.refuted.is_empty() && lasting.rows[0].is_changed(), "{:?}", lasting.rows[0]);
}

/// A read that waits for an early write that failed was taken for one that failed: 3 to 7 % of reads, where none did.
#[test]
fn a_read_behind_an_early_write_that_fails_is_not_retried() {
    let planted = [
        ("soft_errors.read_probability", 0.0),
        ("soft_errors.write_probability", 0.05),
        ("soft_errors.mean_revolutions", 3.0),
    ];
    // One behind the other.
    let closed = MIXED.replace("inter_arrival.exponential_ms = 40", "inter_arrival.exponential_ms = 1");
    let trace = measured("atlas-10k", &real(&planted), &closed, 4000, QUIET, 11);
    let wanted = Options { retries: true, ..options(&["mechanics.read_settle_ms"]) };
    let found = calibrate(&file("atlas-10k"), &trace, &wanted, &Monitor::default()).unwrap();
    let read = found.retries.found.and_then(|retries| retries.read_probability);
    assert!(read.is_none_or(|read| read.ci95.0 < 1e-3), "{:?}", found.retries);
}

#[test]
fn retries_are_found_by_the_revolutions_they_cost_and_scored_with_and_without() {
    let planted = [
        ("soft_errors.read_probability", 0.02),
        ("soft_errors.write_probability", 0.01),
        ("soft_errors.mean_revolutions", 3.0),
    ];
    let trace = measured(DRIVE, &real(&planted), MIXED, 8000, QUIET, 11);
    let wanted = Options { retries: true, ..options(&["mechanics.read_settle_ms"]) };
    let found = fitted(&trace, &wanted);
    let retries = found.retries.found.expect("eighty late requests");
    let estimates = [retries.read_probability, retries.write_probability, Some(retries.mean_revolutions)];
    for ((name, truth), estimate) in planted.iter().zip(estimates) {
        let (low, high) = estimate.unwrap().ci95;
        assert!(low <= *truth && *truth <= high, "{name}: {truth} is not in [{low}, {high}]");
    }
    assert_eq!(found.drive.soft_errors, Some(retries.soft_errors()));
    assert!(found.drive.check().is_empty(), "{:?}", found.drive.check());
    let demerit = |scores: &headstack_stats::Scores| scores.all.demerit.ms;
    let mut with: Vec<f64> = found.test_with_retries.iter().map(demerit).collect();
    with.sort_by(f64::total_cmp);
    let (with, without) = (with[with.len() / 2], demerit(&found.test.after));
    assert!(with < 0.5 * without, "demerit {with} with retries, {without} without");
    // Not asked for: said, and not saved.
    let plain = fitted(&trace, &options(&["mechanics.read_settle_ms"]));
    assert_eq!((plain.drive.soft_errors, plain.test_with_retries.len()), (None, 0));
    assert_eq!(plain.retries, found.retries);
    assert_eq!(plain.test.after, found.test.after);
}
