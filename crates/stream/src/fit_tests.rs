//! What a fit finds again, and what it says that it cannot.

use super::*;
use crate::drive_of;
use headstack_system::random::Stream;
use headstack_system::workload::TimeLaw;

fn base() -> ModelSpec {
    ModelSpec::of_drive(&drive_of("maxtor-maxline-plus-ii").unwrap().1)
}

pub(super) fn row(op: Op, file_mb: u64, record_kib: u64) -> Throughput {
    Throughput {
        op,
        file_bytes: file_mb * 1_000_000,
        record_bytes: record_kib << 10,
        repeats: 2,
        mb_per_s: 1.0,
    }
}

/// What a model gives, misread by a standard deviation of so much.
pub(super) fn measured(truth: &ModelSpec, rows: &[Throughput], noise: f64, seed: u64) -> Vec<Throughput> {
    let found = differences(truth, rows, 99).unwrap();
    let mut stream = Stream::new(seed, "noise");
    // The sum of twelve uniform draws is nearly normal.
    let mut normal = || (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
    let rows = rows.iter().zip(found);
    rows.map(|(row, found)| Throughput { mb_per_s: (1.0 + found) * (1.0 + noise * normal()), ..*row })
        .collect()
}

pub(super) fn rows(op: Op) -> Vec<Throughput> {
    [8, 16, 32, 64, 128, 256, 512, 1024].map(|kib| row(op, 30, kib)).to_vec()
}

#[test]
fn planted_values_lie_in_their_intervals() {
    // 95 of 100: 38 of 40, less two standard errors.
    assert!(inside(40).iter().all(|&count| count >= 35));
}

/// The intervals are those of the values that were found, not of those that the search began with.
#[test]
#[ignore = "slow: half a minute"]
fn a_rate_far_from_the_first_one_lies_in_its_interval() {
    for (outer, inner) in [(90.0, 60.0), (18.0, 12.0)] {
        let counts = inside_from(20, outer, inner);
        assert!(counts.iter().all(|&count| count >= 17), "{outer} MB/s: {counts:?} of 20");
    }
}

#[test]
fn a_disk_slower_than_the_drives_innermost_track_is_fitted() {
    let mut truth = base();
    (truth.mechanism.outer_mb_per_s, truth.mechanism.inner_mb_per_s) = (18.0, 12.0);
    let table = measured(&truth, &rows(Op::Read), 0.0005, 3);
    let found = fit(&base(), &table, &[Parameter::Inner, Parameter::Outer], Some(Law::Constant), 1).unwrap();
    let [inner, outer] = found.parameters.as_slice() else { panic!() };
    assert!((outer.after / 18.0 - 1.0).abs() < 0.01 && outer.identifiable, "{outer:?}");
    // At the outer edge nothing tells the inner rate; it cannot stay at 24, and that is said.
    let disk = base().mechanism;
    let share = disk.inner_mb_per_s / disk.outer_mb_per_s;
    assert!((inner.after / outer.after - share).abs() < 1e-9 && !inner.identifiable, "{inner:?}");
    assert!(inner.why.contains("share of the outer rate"), "{inner:?}");
    assert_eq!(found.spec.mechanism.inner_mb_per_s, inner.after);
    // The width of an interval is a share of the value, wherever the search began.
    let mut near = base();
    (near.mechanism.outer_mb_per_s, near.mechanism.inner_mb_per_s) = (18.0, 12.0);
    let from_near = fit(&near, &table, &[Parameter::Outer], Some(Law::Constant), 1).unwrap();
    let [far, near] =
        [outer, &from_near.parameters[0]].map(|found| found.ci95.unwrap()).map(|[low, high]| high - low);
    assert!((far / near - 1.0).abs() < 0.3, "{far} and {near}");
}

#[test]
#[ignore = "slow: two minutes"]
fn planted_values_lie_in_95_of_100_intervals() {
    let inside = inside(200);
    assert!(inside.iter().all(|&count| count >= 184), "{inside:?} of 200");
}

/// How often two planted values lie in their intervals.
fn inside(trials: u64) -> [u32; 2] {
    inside_from(trials, 40.0, 24.0)
}

fn inside_from(trials: u64, outer: f64, inner: f64) -> [u32; 2] {
    let mut truth = base();
    truth.cache.write_delay = Some(TimeLaw::Normal([0.04, 0.01]));
    (truth.mechanism.outer_mb_per_s, truth.mechanism.inner_mb_per_s) = (outer, inner);
    let wanted = [Parameter::WriteDelay, Parameter::Outer];
    let mut inside = [0, 0];
    for seed in 0..trials {
        let table = measured(&truth, &rows(Op::Write), 0.004, seed);
        let found = fit(&base(), &table, &wanted, Some(Law::Normal), 1).unwrap();
        for (place, value) in [0.04, outer].into_iter().enumerate() {
            let parameter = &found.parameters[place];
            assert!(parameter.identifiable, "{parameter:?}");
            let [low, high] = parameter.ci95.unwrap();
            inside[place] += u32::from((low..=high).contains(&value));
        }
    }
    inside
}

#[test]
fn what_the_table_cannot_tell_is_said_and_left_alone() {
    let mut truth = base();
    truth.cache.write_delay = Some(TimeLaw::Constant(0.04));
    let table = measured(&truth, &rows(Op::Write), 0.001, 1);
    // Writes say nothing of reads; the server's delay and the interface hide behind the media.
    let wanted = [Parameter::WriteDelay, Parameter::ReadDelay, Parameter::ServerWriteDelay, Parameter::Inner];
    let found = fit(&base(), &table, &wanted, Some(Law::Constant), 1).unwrap();
    let [write, read, server, inner] = found.parameters.as_slice() else { panic!() };
    assert!(write.identifiable && (write.after - 0.04).abs() < 0.003, "{write:?}");
    for hidden in [read, server, inner] {
        assert!(!hidden.identifiable && hidden.after == hidden.before && hidden.ci95.is_none(), "{hidden:?}");
        assert!(!hidden.why.is_empty());
    }
}

/// In one size of record a delay and a rate do the same: which of the two is wrong nobody can tell, and not by the order of names.
#[test]
fn of_two_that_do_the_same_neither_is_told() {
    let mut truth = base();
    truth.cache.write_delay = Some(TimeLaw::Constant(0.04));
    let alike = vec![row(Op::Write, 30, 64), row(Op::Write, 31, 64), row(Op::Write, 32, 64)];
    let table = measured(&truth, &alike, 0.0, 1);
    let names = [Parameter::WriteDelay, Parameter::Outer];
    for wanted in [names, [names[1], names[0]]] {
        let both = fit(&base(), &table, &wanted, Some(Law::Constant), 1).unwrap().parameters;
        for (found, other) in both.iter().zip(both.iter().rev()) {
            assert!(!found.identifiable && found.ci95.is_none() && found.after == found.before, "{found:?}");
            assert!(found.why.contains(other.name), "{found:?}");
        }
    }
    // One alone is told.
    let alone = fit(&base(), &table, &names[..1], Some(Law::Constant), 1).unwrap();
    assert!((alone.parameters[0].after - 0.04).abs() < 0.003, "{alone:?}");
}

/// Where the search begins, nothing depends on the overhead of a command; at a slow interface all does.
#[test]
fn what_is_told_only_where_the_search_ends_is_fitted() {
    let mut begun = base();
    begun.cache.write_overhead_ms = None;
    let mut truth = begun.clone();
    (truth.cache.overhead_ms, truth.cache.interface_mb_per_s) = (0.5, 10.0);
    let table = measured(&truth, &rows(Op::Write), 0.002, 3);
    let found =
        fit(&begun, &table, &[Parameter::Overhead, Parameter::Interface], Some(Law::Constant), 1).unwrap();
    for (found, value) in found.parameters.iter().zip([0.5, 10.0]) {
        let [low, high] = found.ci95.unwrap_or_else(|| panic!("{found:?}"));
        assert!((low..=high).contains(&value) && high - low < 0.1 * value, "{found:?}");
    }
}

/// A short delay of the host hides behind the media, one of 1 ms does not.
#[test]
fn a_delay_that_has_no_effect_until_it_is_long_is_found() {
    let mut truth = base();
    truth.server.write_delay = Some(TimeLaw::Constant(1.0));
    for seed in 0..5 {
        let table = measured(&truth, &rows(Op::Write), 0.005, seed);
        let names = [Parameter::ServerWriteDelay, Parameter::Outer];
        let found = fit(&base(), &table, &names, Some(Law::Constant), 1).unwrap();
        for (found, value) in found.parameters.iter().zip([1.0, 42.0]) {
            assert!(found.identifiable && (found.after / value - 1.0).abs() < 0.02, "{found:?}");
        }
    }
}

/// On the way the search tries rates at which the files would not fit onto the disk.
#[test]
#[ignore = "slow: half a minute"]
fn a_model_that_the_files_do_not_fit_into_is_a_bad_step() {
    let mut truth = base();
    truth.cache.write_delay = Some(TimeLaw::Constant(0.3));
    (truth.mechanism.outer_mb_per_s, truth.mechanism.head_switch_ms) = (40.0, 1.0);
    let sizes = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512].map(|kib| row(Op::Write, 100, kib));
    for seed in 0..15 {
        let table = measured(&truth, &sizes, 0.01, seed);
        let wanted = [Parameter::WriteDelay, Parameter::Outer, Parameter::Switch];
        fit(&base(), &table, &wanted, Some(Law::Constant), 1).unwrap();
    }
}

#[test]
fn without_more_throughputs_than_parameters_nothing_is_told() {
    let table = measured(&base(), &rows(Op::Read)[..2], 0.0, 1);
    let wanted = [Parameter::ReadDelay, Parameter::Outer];
    let found = fit(&base(), &table, &wanted, Some(Law::Constant), 1).unwrap();
    assert!(
        found.parameters.iter().all(|found| !found.identifiable && found.why.contains("no more throughputs"))
    );
}

#[test]
fn a_value_at_its_bound_does_not_hold_up_the_others() {
    let truth = base();
    let table = measured(&truth, &rows(Op::Read), 0.0005, 3);
    let mut far = base();
    far.mechanism.outer_mb_per_s = 12.0;
    far.mechanism.inner_mb_per_s = 8.0;
    // The rate is too low, so the delay, which is 0, would have to be negative.
    let found = fit(&far, &table, &[Parameter::ReadDelay, Parameter::Outer], Some(Law::Constant), 1).unwrap();
    assert!((found.parameters[1].after / 42.0 - 1.0).abs() < 0.01, "{:?}", found.parameters);
    assert!(found.differences.iter().all(|difference| difference.abs() < 0.01));
}

#[test]
fn a_table_that_cannot_be_is_refused() {
    let refused = |table: &[Throughput], wanted: &[Parameter]| {
        fit(&base(), table, wanted, Some(Law::Normal), 1).unwrap_err().to_string()
    };
    let good = rows(Op::Read);
    assert!(refused(&good, &[]).contains("nothing to fit"));
    assert!(refused(&good[..1], &[Parameter::ReadDelay, Parameter::Outer]).contains("cannot tell"));
    let bad = [Throughput { mb_per_s: f64::NAN, ..good[0] }];
    assert!(refused(&bad, &[Parameter::ReadDelay]).contains("NaN MB/s"));
    let cached = [Throughput { mb_per_s: 400.0, ..good[0] }];
    assert!(refused(&cached, &[Parameter::ReadDelay]).contains("above the interface's 133 MB/s"));
    let twice = [good[0], Throughput { mb_per_s: 9.0, ..good[0] }];
    assert!(refused(&twice, &[Parameter::ReadDelay]).contains("says both"));
    // What is only scored must be throughputs, too.
    let zero = [good[0], Throughput { mb_per_s: 0.0, ..good[1] }];
    for scored in [&zero, &twice] {
        assert!(matches!(differences(&base(), scored, 1), Err(SystemError::Options { .. })));
    }
}

/// Interface and media take turns as the bottleneck; the search stopped at a kink, with 502.8 (502.4 to 503.1) MB/s for 444.
#[test]
fn a_rate_beside_that_of_the_interface_is_found() {
    let from = ModelSpec::of_drive(&drive_of("nearline-20tb").unwrap().1);
    let mut truth = from.clone();
    truth.mechanism.outer_mb_per_s = 444.0;
    let sizes = [Op::Read, Op::Write].map(|op| [8, 32, 128, 512, 2048].map(|kib| row(op, 40, kib)));
    let table = measured(&truth, &sizes.concat(), 0.0, 1);
    let wanted = [Parameter::ReadDelay, Parameter::WriteDelay, Parameter::Outer, Parameter::Inner];
    let found = fit(&from, &table, &wanted, Some(Law::Constant), 1).unwrap().parameters;
    assert!((found[2].after / 444.0 - 1.0).abs() < 0.002, "{found:?}");
    assert!(found[0].after < 5e-4 && found[1].after < 5e-4, "{found:?}");
}

/// The media hide behind the interface, and with a delay of 0.03 ms media of 569.5 MB/s did nearly the same.
#[test]
fn media_behind_the_interface_are_found_without_a_delay() {
    let from = ModelSpec::of_drive(&drive_of("nearline-20tb").unwrap().1);
    let mut truth = from.clone();
    truth.mechanism.outer_mb_per_s *= 1.7;
    let sizes = [Op::Read, Op::Write].map(|op| [8, 32, 128, 512, 2048].map(|kib| row(op, 40, kib)));
    let table = measured(&truth, &sizes.concat(), 0.0, 1);
    let wanted = [Parameter::ReadDelay, Parameter::WriteDelay, Parameter::Outer, Parameter::Inner];
    let found = fit(&from, &table, &wanted, Some(Law::Constant), 1).unwrap().parameters;
    assert!((found[2].after / truth.mechanism.outer_mb_per_s - 1.0).abs() < 0.002, "{found:?}");
}

/// Files of 30 MB are a thirtieth of the disk: with the inner rate of the file, of media half as fast, the rate fell too fast.
#[test]
fn an_inner_rate_that_is_not_fitted_keeps_its_share() {
    let from = ModelSpec::of_drive(&drive_of("dec-rz26").unwrap().1);
    let mut truth = from.clone();
    for rate in [&mut truth.mechanism.outer_mb_per_s, &mut truth.mechanism.inner_mb_per_s] {
        *rate *= 2.14;
    }
    let table = measured(&truth, &rows(Op::Write), 0.0, 1);
    let found = fit(&from, &table, &[Parameter::Outer], None, 1).unwrap();
    let rates = |spec: &ModelSpec| [spec.mechanism.outer_mb_per_s, spec.mechanism.inner_mb_per_s];
    for (found, wanted) in rates(&found.spec).into_iter().zip(rates(&truth)) {
        assert!((found / wanted - 1.0).abs() < 0.001, "{found} for {wanted}");
    }
}

/// A law that is not asked for is that of the model; only the mean is fitted.
#[test]
fn a_delay_of_the_model_keeps_its_law() {
    let mut from = base();
    from.cache.write_delay = Some(TimeLaw::Exponential(0.1));
    let mut truth = base();
    truth.cache.write_delay = Some(TimeLaw::Constant(0.04));
    let table = measured(&truth, &rows(Op::Write), 0.0, 1);
    let fitted = |law| fit(&from, &table, &[Parameter::WriteDelay], law, 1).unwrap();
    let found = fitted(None);
    assert!(
        matches!(found.spec.cache.write_delay, Some(TimeLaw::Exponential(ms)) if (ms - 0.04).abs() < 0.002),
        "{found:?}"
    );
    assert_eq!((found.parameters[0].law, found.parameters[0].was_there), (Some("exponential"), true));
    assert_eq!(fitted(Some(Law::Normal)).parameters[0].law, Some("normal"));
    assert_eq!(
        fit(&base(), &table, &[Parameter::WriteDelay], None, 1).unwrap().parameters[0].law,
        Some("normal")
    );
}

/// Up to 4 ms it hides behind the interface: the grid of delays twice as long each passed over the one that fits.
#[test]
fn a_delay_behind_a_bottleneck_is_found() {
    let from = ModelSpec::of_drive(&drive_of("quantum-fireball-ex").unwrap().1);
    let mut truth = from.clone();
    truth.cache.read_delay = Some(TimeLaw::Constant(5.1));
    let sizes = [Op::Read, Op::Write].map(|op| [8, 32, 128, 512, 2048].map(|kib| row(op, 40, kib)));
    let table = measured(&truth, &sizes.concat(), 0.0, 1);
    let found = fit(&from, &table, &[Parameter::ReadDelay], Some(Law::Constant), 1).unwrap().parameters;
    assert!(found[0].identifiable && (found[0].after / 5.1 - 1.0).abs() < 0.002, "{found:?}");
}

/// A value that hides behind a bottleneck is without effect only so far.
#[test]
fn up_to_where_a_value_is_without_effect_is_said() {
    let table = measured(&base(), &rows(Op::Write), 0.002, 1);
    let wanted = [Parameter::ServerWriteDelay, Parameter::Interface, Parameter::ReadDelay];
    let found = fit(&base(), &table, &wanted, Some(Law::Constant), 1).unwrap().parameters;
    // A record of 8 KiB is 0.2 ms on the media, and is over the interface in 0.06 ms and its overhead.
    assert!(found[0].why.contains("while it is below 0.") && found[0].why.ends_with(" ms"), "{:?}", found[0]);
    assert!(found[1].why.contains("while it is above") && found[1].why.ends_with(" MB/s"), "{:?}", found[1]);
    // Writes tell nothing of reads, however long.
    assert_eq!(found[2].why, "no throughput of the table depends on it");
}

/// All that is known of an interface slower in its file than the media is that it is not slower than these.
#[test]
fn an_interval_without_an_end_is_none() {
    let mut from = base();
    from.cache.interface_mb_per_s = 20.0;
    let table = measured(&base(), &rows(Op::Write), 0.002, 1);
    let found = fit(&from, &table, &[Parameter::Interface, Parameter::Outer], Some(Law::Constant), 1)
        .unwrap()
        .parameters;
    assert!(!found[0].identifiable && found[0].ci95.is_none(), "{found:?}");
    assert!(found[0].why.contains("MB/s or more") && found[0].after > 42.0, "{found:?}");
    assert!((found[1].after / 42.0 - 1.0).abs() < 0.01 && found[1].identifiable, "{found:?}");
}

/// What a law draws is an error of each throughput's own.
#[test]
fn rows_draw_random_numbers_of_their_own() {
    let mut model = base();
    model.cache.write_delay = Some(TimeLaw::Exponential(1.0));
    let twice = [row(Op::Write, 30, 64), row(Op::Write, 30, 64)];
    let found = differences(&model, &twice, 1).unwrap();
    assert!(found[0] != found[1], "{found:?}");
}
