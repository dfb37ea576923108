//! Seek curves, their averages, and the cost of a change of track.

use super::super::{Mechanics, SeekCurve};
use crate::spec::{DriveSpec, MechanicsSpec, SeekSpec};
use headstack_units::{Nanos, Op};
use proptest::prelude::*;

/// Ruemmler & Wilkes 1994, Table 2.
fn two_piece(boundary_cylinders: u32, short_ms: [f64; 2], long_ms: [f64; 2]) -> SeekSpec {
    SeekSpec::TwoPiece { boundary_cylinders, short_ms, long_ms, first_ms: Vec::new() }
}

fn hp_97560_spec() -> SeekSpec {
    two_piece(383, [3.24, 0.400], [8.00, 0.008])
}

fn hp_97560() -> SeekCurve {
    SeekCurve::new(&hp_97560_spec(), 1962)
}

fn hp_c2200a() -> SeekCurve {
    SeekCurve::new(&two_piece(616, [3.45, 0.597], [10.8, 0.012]), 1449)
}

fn close(ours: f64, published: f64, tolerance: f64) {
    assert!((ours - published).abs() <= tolerance, "{ours}, published {published}");
}

#[test]
fn the_seeds_drives_seek_in_the_published_times() {
    let hp = hp_97560();
    for (distance, ms) in [(1, 3.64), (382, 11.058), (383, 11.064), (1961, 23.688)] {
        close(hp.time(distance).as_ms(), ms, 5e-4);
    }
    let hp = hp_c2200a();
    for (distance, ms) in [(1, 4.047), (615, 18.255), (616, 18.192), (1448, 28.176)] {
        close(hp.time(distance).as_ms(), ms, 5e-4);
    }
    // The pieces join to within 0.005 and 0.08 ms: what the root would say at the boundaries.
    close(
        SeekCurve::new(&two_piece(384, [3.24, 0.400], [8.00, 0.008]), 1962).time(383).as_ms(),
        11.068,
        5e-4,
    );
    close(
        SeekCurve::new(&two_piece(617, [3.45, 0.597], [10.8, 0.012]), 1449).time(616).as_ms(),
        18.267,
        5e-4,
    );
    assert_eq!(hp.time(0), Nanos::ZERO);
    assert_eq!(hp.time(616), Nanos(18_192_000));
}

/// N is the number of physical cylinders: 1962, not the 1935 that hold data, for the 97560.
#[test]
fn the_four_averages_are_the_published_ones() {
    for (curve, single, third, full, unweighted, weighted) in
        [(hp_97560(), 3.64, 13.23, 23.69, 15.64, 12.84), (hp_c2200a(), 4.05, 16.57, 28.18, 19.00, 15.69)]
    {
        let averages = curve.averages();
        close(averages.single_cylinder_ms, single, 5e-3);
        close(averages.third_stroke_ms, third, 5e-3);
        close(averages.full_stroke_ms, full, 5e-3);
        close(averages.full_stroke_third_ms, full / 3.0, 5e-3);
        close(averages.unweighted_ms, unweighted, 5e-3);
        close(averages.distance_weighted_ms, weighted, 5e-3);
    }
}

/// By going over all pairs of different cylinders.
#[test]
fn the_weighted_average_is_that_of_random_moves() {
    let cylinders = 97_u32;
    let curve = SeekCurve::new(&two_piece(20, [1.0, 0.3], [2.0, 0.05]), cylinders);
    let (mut sum, mut pairs) = (0.0, 0.0);
    for from in 0..cylinders {
        for to in (0..cylinders).filter(|&to| to != from) {
            sum += curve.time(from.abs_diff(to)).as_ms();
            pairs += 1.0;
        }
    }
    close(curve.averages().distance_weighted_ms, sum / pairs, 1e-9);
}

#[test]
fn measured_first_distances_replace_the_formula_there() {
    let spec = SeekSpec::TwoPiece {
        boundary_cylinders: 10,
        short_ms: [1.0, 1.0],
        long_ms: [3.0, 0.1],
        first_ms: vec![0.7, 0.9],
    };
    let curve = SeekCurve::new(&spec, 100);
    let times: Vec<u64> = [1, 2, 4, 9, 10].map(|d| curve.time(d).0).to_vec();
    assert_eq!(times, [700_000, 900_000, 3_000_000, 4_000_000, 4_000_000]);
}

#[test]
fn simple_curves_pass_through_their_points() {
    let constant = SeekCurve::new(&SeekSpec::Constant { time_ms: 5.0 }, 100);
    assert_eq!(
        (constant.time(0), constant.time(1), constant.time(99)),
        (Nanos(0), Nanos(5_000_000), Nanos(5_000_000))
    );
    let line = SeekCurve::new(&SeekSpec::Linear { single_cylinder_ms: 2.0, full_stroke_ms: 12.0 }, 102);
    assert_eq!(
        (line.time(1), line.time(51), line.time(101)),
        (Nanos(2_000_000), Nanos(7_000_000), Nanos(12_000_000))
    );
    let spec = SeekSpec::ThreePoint { single_cylinder_ms: 2.0, average_ms: 9.0, full_stroke_ms: 17.0 };
    let three = SeekCurve::new(&spec, 1501);
    assert_eq!(
        (three.time(1), three.time(500), three.time(1500)),
        (Nanos(2_000_000), Nanos(9_000_000), Nanos(17_000_000))
    );
}

#[test]
fn the_mean_of_random_seeks_is_what_lee_and_katz_call_the_average() {
    let spec = SeekSpec::LeeKatz { single_cylinder_ms: 2.0, average_ms: 9.0, full_stroke_ms: 17.0 };
    let averages = SeekCurve::new(&spec, 20_000).averages();
    assert!((averages.distance_weighted_ms - 9.0).abs() < 0.01, "{averages:?}");
    assert_eq!(averages.single_cylinder_ms, 2.0);
    assert!((averages.full_stroke_ms - 17.0).abs() < 0.01, "{averages:?}");
}

#[test]
fn a_table_is_straight_between_its_points_and_beyond_them() {
    let points = vec![[1.0, 1.0], [5.0, 3.0], [10.0, 2.5], [20.0, 4.5]];
    let curve = SeekCurve::new(&SeekSpec::Table { points }, 40);
    for (distance, ms) in
        [(1, 1.0), (3, 2.0), (5, 3.0), (7, 2.8), (10, 2.5), (15, 3.5), (20, 4.5), (30, 6.5), (50, 10.5)]
    {
        close(curve.time(distance).as_ms(), ms, 1e-6);
    }
    let single = SeekCurve::new(&SeekSpec::Table { points: vec![[7.0, 2.0]] }, 40);
    assert_eq!((single.time(1), single.time(39)), (Nanos(2_000_000), Nanos(2_000_000)));
    // A falling end, taken further, stops at nothing.
    let falling = SeekCurve::new(&SeekSpec::Table { points: vec![[1.0, 1.0], [2.0, 0.5]] }, 40);
    assert_eq!(falling.time(10), Nanos::ZERO);
}

/// Moves the heads in small steps at full acceleration, then as late as possible at full deceleration.
fn integrate(distance_m: f64, acceleration: f64, maximum: f64) -> f64 {
    let step = 1e-9;
    let (mut time, mut at, mut velocity) = (0.0, 0.0, 0.0_f64);
    loop {
        let left = distance_m - at;
        let braking = velocity * velocity / (2.0 * acceleration);
        let change = if braking >= left { -acceleration } else { acceleration };
        let next = (velocity + change * step).min(maximum);
        if next <= 0.0 || left <= 0.0 {
            return time;
        }
        at += f64::midpoint(velocity, next) * step;
        velocity = next;
        time += step;
    }
}

#[test]
fn a_kinematic_seek_takes_as_long_as_heads_that_move() {
    let (pitch, acceleration, maximum) = (10.0, 350.0, 2.0);
    let spec = SeekSpec::Kinematic {
        track_pitch_um: pitch,
        acceleration_m_per_s2: acceleration,
        max_velocity_m_per_s: maximum,
        settle_ms: 1.5,
    };
    let curve = SeekCurve::new(&spec, 3000);
    // The heads coast beyond 2² / 350 m = 1143 cylinders.
    for distance in [10, 100, 700, 1142, 1143, 1144, 2000, 2999] {
        let moving = 1e3 * integrate(f64::from(distance) * pitch * 1e-6, acceleration, maximum);
        close(curve.time(distance).as_ms(), moving + 1.5, 5e-3);
    }
    let steps: Vec<u64> = (1..3000).map(|d| curve.time(d).0).collect();
    assert!(steps.is_sorted());
    // Halving the time of a short seek takes four times the acceleration.
    let four_times = SeekSpec::Kinematic {
        track_pitch_um: pitch,
        acceleration_m_per_s2: 4.0 * acceleration,
        max_velocity_m_per_s: 100.0,
        settle_ms: 0.0,
    };
    close(SeekCurve::new(&four_times, 3000).time(400).as_ms(), (curve.time(400).as_ms() - 1.5) / 2.0, 1e-6);
}

/// The coil works while the speed changes: heads that move by Newton's law say how long that is.
#[test]
fn the_coil_works_while_the_heads_gain_and_lose_speed() {
    let (pitch, acceleration, maximum, settle) = (10.0, 350.0, 2.0, 1.5);
    let kinematic = SeekSpec::Kinematic {
        track_pitch_um: pitch,
        acceleration_m_per_s2: acceleration,
        max_velocity_m_per_s: maximum,
        settle_ms: settle,
    };
    let metres = |distance: u32| f64::from(distance) * pitch * 1e-6;
    let working = |distance| 2e3 * (metres(distance) / acceleration).sqrt().min(maximum / acceleration);
    let root = 2e3 * (pitch * 1e-6 / acceleration).sqrt();
    // The same heads as their seek curve is published: a root, then a line.
    let coasts = (maximum * maximum / acceleration / (pitch * 1e-6)) as u32;
    let (slope, line) = (1e3 * pitch * 1e-6 / maximum, settle + 1e3 * maximum / acceleration);
    let two_piece = SeekSpec::TwoPiece {
        boundary_cylinders: coasts,
        short_ms: [settle, root],
        long_ms: [line, slope],
        first_ms: Vec::new(),
    };
    for spec in [&kinematic, &two_piece] {
        let curve = SeekCurve::new(spec, 3000);
        assert_eq!(curve.coil_time(0), Nanos::ZERO);
        for distance in [1, 10, 100, 700, 1142, 1144, 2000, 2999] {
            close(curve.coil_time(distance).as_ms(), working(distance), 5e-3);
        }
    }
}

/// Three points make a curve whose arm gains ever less speed from its power: never more work than motion, and never less for more.
#[test]
fn a_curve_through_three_points_coasts_more_the_farther_it_goes() {
    let spec = SeekSpec::ThreePoint { single_cylinder_ms: 0.8, average_ms: 8.5, full_stroke_ms: 17.0 };
    let curve = SeekCurve::new(&spec, 100_000);
    let share = |distance| curve.coil_time(distance).as_ms() / curve.time(distance).as_ms();
    let coil: Vec<Nanos> = (1..100_000).step_by(97).map(|distance| curve.coil_time(distance)).collect();
    assert!(coil.is_sorted());
    assert!((1..100_000).step_by(97).all(|distance| share(distance) < 1.0));
    assert!(share(33_333) > share(99_999), "{} {}", share(33_333), share(99_999));
    // What tells no acceleration is taken to work all the time.
    let constant = SeekCurve::new(&SeekSpec::Constant { time_ms: 3.0 }, 100);
    assert_eq!(constant.coil_time(50), Nanos(3_000_000));
}

#[test]
fn drives_too_large_or_too_slow_for_a_table_seek_all_the_same() {
    let spec = SeekSpec::Linear { single_cylinder_ms: 1.0, full_stroke_ms: 21.0 };
    let large = SeekCurve::new(&spec, 8_000_001);
    assert_eq!(large.time(8_000_000), Nanos(21_000_000));
    assert_eq!(large.time(1), Nanos(1_000_000));
    let slow = SeekCurve::new(&SeekSpec::Linear { single_cylinder_ms: 1.0, full_stroke_ms: 50_000.0 }, 1000);
    assert_eq!(slow.time(999), Nanos(50_000_000_000));
    assert_eq!(slow.time(1), Nanos(1_000_000));
}

#[test]
fn a_drive_of_one_cylinder_has_a_curve() {
    for spec in [
        SeekSpec::Linear { single_cylinder_ms: 2.0, full_stroke_ms: 12.0 },
        SeekSpec::ThreePoint { single_cylinder_ms: 2.0, average_ms: 3.0, full_stroke_ms: 12.0 },
    ] {
        for cylinders in 1..8 {
            let curve = SeekCurve::new(&spec, cylinders);
            assert_eq!((curve.time(0), curve.time(1)), (Nanos(0), Nanos(2_000_000)), "{cylinders} cylinders");
            assert!(curve.averages().distance_weighted_ms >= 2.0);
        }
    }
}

#[test]
fn the_first_rung_is_the_line_between_the_ends() {
    let curve = hp_97560();
    let line = SeekCurve::new(&curve.linearised(), 1962);
    assert_eq!((line.time(1), line.time(1961)), (curve.time(1), curve.time(1961)));
    assert!(line.time(300) < curve.time(300));
    let falling = SeekCurve::new(&SeekSpec::Table { points: vec![[1.0, 3.0], [9.0, 2.0]] }, 10);
    assert_eq!(falling.linearised(), SeekSpec::Linear { single_cylinder_ms: 3.0, full_stroke_ms: 3.0 });
}

/// The HP 97560 of the library, whose curve is that of its paper, with other switch and settle times.
fn mechanics(mechanics: MechanicsSpec) -> Mechanics {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/hp-97560.toml"));
    let drive: DriveSpec = toml::from_str(text).expect("a drive file");
    Mechanics::new(&DriveSpec { mechanics, seek: hp_97560_spec(), ..drive })
}

#[test]
fn a_move_costs_the_longer_of_seek_and_head_switch_then_the_settle() {
    let with = |head_switch_ms, read_settle_ms, write_settle_ms| {
        mechanics(MechanicsSpec {
            head_switch_ms,
            cylinder_switch_ms: None,
            read_settle_ms,
            write_settle_ms,
            ..MechanicsSpec::default()
        })
    };
    let drive = with(1.6, 0.1, 0.75);
    let ms = |from, to, op| drive.reposition(from, to, op).0 as f64 / 1e6;
    close(ms((5, 3), (5, 3), Op::Write), 0.0, 0.0);
    close(ms((5, 3), (5, 4), Op::Read), 1.7, 1e-9);
    close(ms((5, 3), (5, 4), Op::Write), 2.35, 1e-9);
    close(ms((5, 3), (6, 3), Op::Read), 3.74, 1e-9);
    close(ms((6, 18), (5, 0), Op::Write), 4.39, 1e-9);
    // Without a cylinder-switch time a switch is a repositioning.
    assert_eq!(drive.switch((6, 18), (5, 0), Op::Write), drive.reposition((6, 18), (5, 0), Op::Write));
    // A slow head switch hides a short seek.
    close(with(5.0, 0.0, 0.0).reposition((5, 3), (6, 4), Op::Read).as_ms(), 5.0, 1e-9);
    close(with(5.0, 0.0, 0.0).reposition((5, 3), (6, 3), Op::Read).as_ms(), 3.64, 1e-9);
}

#[test]
fn a_settle_below_zero_never_makes_time_run_backwards() {
    let drive = mechanics(MechanicsSpec {
        head_switch_ms: 0.5,
        cylinder_switch_ms: None,
        read_settle_ms: -0.2,
        write_settle_ms: -1.0,
        ..MechanicsSpec::default()
    });
    close(drive.reposition((5, 3), (5, 4), Op::Read).as_ms(), 0.3, 1e-9);
    assert_eq!(drive.reposition((5, 3), (5, 4), Op::Write), Nanos::ZERO);
    close(drive.reposition((5, 3), (6, 4), Op::Write).as_ms(), 2.64, 1e-9);
    assert_eq!(drive.reposition((5, 3), (5, 3), Op::Write), Nanos::ZERO);
}

#[test]
fn a_settle_may_follow_movements_of_the_arm_only() {
    let drive = mechanics(MechanicsSpec {
        head_switch_ms: 1.6,
        read_settle_ms: 0.1,
        write_settle_ms: -0.4,
        settle_after_head_switch: false,
        ..MechanicsSpec::default()
    });
    for op in [Op::Read, Op::Write] {
        close(drive.reposition((5, 3), (5, 4), op).as_ms(), 1.6, 1e-9);
    }
    close(drive.reposition((5, 3), (6, 4), Op::Read).as_ms(), 3.74, 1e-9);
    close(drive.reposition((5, 3), (6, 3), Op::Write).as_ms(), 3.24, 1e-9);
}

#[test]
fn a_cylinder_switch_counts_within_a_transfer_and_for_neighbours_only() {
    let drive = mechanics(MechanicsSpec {
        head_switch_ms: 1.6,
        cylinder_switch_ms: Some(2.5),
        read_settle_ms: 0.0,
        write_settle_ms: 0.25,
        ..MechanicsSpec::default()
    });
    for to in [(6, 0), (6, 18), (4, 18)] {
        close(drive.switch((5, 18), to, Op::Read).as_ms(), 2.5, 1e-9);
        close(drive.switch((5, 18), to, Op::Write).as_ms(), 2.75, 1e-9);
    }
    close(drive.reposition((5, 18), (6, 18), Op::Read).as_ms(), 3.64, 1e-9);
    close(drive.switch((5, 17), (5, 18), Op::Read).as_ms(), 1.6, 1e-9);
    assert_eq!(drive.switch((5, 18), (7, 0), Op::Read), drive.curve.time(2));
    assert_eq!(drive.switch((5, 18), (5, 18), Op::Write), Nanos::ZERO);
}

proptest! {
    #[test]
    fn a_table_holds_what_the_formula_says(
        boundary in 1_u32..3000, a in 0.0..5.0_f64, b in 0.0..1.0_f64, c in 0.0..9.0_f64, e in 0.0..0.1_f64,
    ) {
        let spec = two_piece(boundary, [a, b], [c, e]);
        let (tabulated, computed) = (SeekCurve::new(&spec, 3000), SeekCurve::new(&spec, 0));
        for distance in 0..3000 {
            prop_assert_eq!(tabulated.time(distance), computed.time(distance));
        }
        let ms = if boundary > 1000 { a + b * 1000_f64.sqrt() } else { c + e * 1000.0 };
        prop_assert!((tabulated.time(1000).as_ms() - ms).abs() < 1e-6);
    }
}
