//! Angles and instants over a year of simulated time.

use super::super::spindle::normal;
use super::super::{Epoch, Spindle};
use crate::layout::Layout;
use crate::spec::{LayoutSpec, Order, SpindleSpec, ZoneSpec};
use headstack_units::{Angle, Nanos};
use proptest::prelude::*;

/// A year in ns.
const YEAR: u64 = 31_557_600_000_000_000;

fn epoch(rpm: f64, turns: f64) -> Epoch {
    Epoch::new(Nanos::ZERO, Angle::from_turns(turns), 60e9 / rpm)
}

fn any_rpm() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(15_000.0),
        Just(4002.0),
        Just(7200.37),
        Just(7200.0),
        Just(10_000.0),
        Just(5400.0),
        60.0..20_000.0_f64,
        60.0..1_000_000.0_f64,
    ]
}

/// How far the disk turns from `from` to `to`, in 2^-64 turns, whole turns counted; `ticks` apart at most a turn or so.
fn advance(epoch: &Epoch, from: Nanos, to: Nanos) -> u128 {
    // In pieces of a fifth of a turn or less the difference of angles is unambiguous.
    let piece = ((epoch.period() / 5.0) as u64).max(1);
    let (mut at, mut total) = (from.0, 0_u128);
    while at < to.0 {
        let next = (at + piece).min(to.0);
        total += u128::from((epoch.angle(Nanos(next)) - epoch.angle(Nanos(at))).0);
        at = next;
    }
    total
}

/// `reached` is the first tick, `t` or later, at which the disk has turned by `left`.
fn assert_first(epoch: &Epoch, t: Nanos, left: u64, reached: Nanos) -> Result<(), TestCaseError> {
    prop_assert!(advance(epoch, t, reached) >= u128::from(left), "{t:?} {left} {reached:?}: too early");
    if reached > t {
        prop_assert!(
            advance(epoch, t, Nanos(reached.0 - 1)) < u128::from(left),
            "{t:?} {left} {reached:?}: late"
        );
    }
    Ok(())
}

#[test]
fn after_a_year_the_angle_is_still_that_of_the_nominal_speed() {
    // 15,000 rpm takes 4,000,000 ns exactly.
    let fast = epoch(15_000.0, 0.0);
    for t in [0, 1, 3_999_999, 4_000_000, YEAR, YEAR + 1, YEAR + 1_234_567, (1 << 63) - 1] {
        let exact = Angle::fraction(t % 4_000_000, 4_000_000);
        let error = (fast.angle(Nanos(t)) - exact).0.min((exact - fast.angle(Nanos(t))).0);
        assert!(error <= 1, "{t}: {error}");
    }
    // 4002 rpm: the period as a fraction of integers.
    let period = 60e9 / 4002.0_f64;
    let slow = epoch(4002.0, 0.0);
    let q28 = (period * f64::from(1 << 28)) as u128;
    assert_eq!(q28 as f64 / f64::from(1 << 28), period, "an f64 of this size has at most 29 binary places");
    let q29 = (period * f64::from(1 << 29)) as u128;
    for t in [YEAR, YEAR + 7_654_321] {
        let rest = (u128::from(t) << 29) % q29;
        let exact = Angle(((rest << 64) / q29) as u64);
        let error = (slow.angle(Nanos(t)) - exact).0.min((exact - slow.angle(Nanos(t))).0);
        assert!(error <= 1, "{t}: {error}");
    }
}

#[test]
fn an_epoch_reckons_backwards_too() {
    let at = Epoch::new(Nanos(1_000_000_000), Angle::fraction(1, 2), 4e6);
    assert_eq!(at.angle(Nanos(1_000_000_000)), Angle::fraction(1, 2));
    let quarter_before = at.angle(Nanos(999_000_000));
    let exact = Angle::fraction(1, 4);
    assert!((quarter_before - exact).0.min((exact - quarter_before).0) <= 1);
    assert_eq!(at.next(Nanos(998_000_000), Angle::fraction(1, 2)), Nanos(1_000_000_000));
}

#[test]
fn a_sector_missed_by_a_tick_is_on_time_and_by_two_ticks_is_lost() {
    let disk = epoch(15_000.0, 0.0);
    let t = Nanos(YEAR + 1_000_001);
    let (now, before, two_before) = (disk.angle(t), disk.angle(Nanos(t.0 - 1)), disk.angle(Nanos(t.0 - 2)));
    assert_eq!(disk.next(t, now), t);
    assert_eq!(disk.next(t, before), t);
    let late = disk.next(t, two_before);
    assert_eq!(late, Nanos(t.0 - 2 + 4_000_000));
    assert_eq!(disk.next(t, now + Angle(1)), Nanos(t.0 + 1));
}

#[test]
fn a_whole_turn_takes_a_whole_turn() {
    let disk = epoch(15_000.0, 0.3);
    let t = Nanos(YEAR);
    let end = disk.end_of(t, disk.angle(t), Angle(u64::MAX));
    assert_eq!(end, Nanos(YEAR + 4_000_000));
    // Started a tick late, it ends as if on time.
    let from = disk.angle(Nanos(t.0 - 1));
    assert_eq!(disk.end_of(t, from, Angle(u64::MAX)), Nanos(YEAR + 3_999_999));
    // A sector narrower than the tick by which it was late is over.
    assert_eq!(disk.end_of(t, from, Angle(1)), t);
    // Started early by the breadth of a hair, it is not over at once.
    let early = disk.end_of(t, disk.angle(t) + Angle(5), Angle::fraction(1, 4));
    assert_eq!(early, Nanos(YEAR + 1_000_001));
}

#[test]
fn an_impossible_period_is_moved_into_range() {
    for period in [f64::NAN, -1.0, 0.0, 1.0] {
        assert_eq!(Epoch::new(Nanos::ZERO, Angle::ZERO, period).period(), 2.0);
    }
    assert_eq!(Epoch::new(Nanos::ZERO, Angle::ZERO, f64::INFINITY).period(), 4e9);
}

/// A drive with one zone and no skew: the worst case for phantom revolutions.
fn tracks(slots: u32, spares: u32) -> Layout {
    Layout::new(&LayoutSpec {
        head_angle_revolutions: Vec::new(),
        order: Order::Classical,
        heads: 3,
        group_cylinders: None,
        cylinders: None,
        capacity_sectors: None,
        zone: vec![ZoneSpec {
            sectors_per_track_by_head: Vec::new(),
            first_cylinder: 0,
            last_cylinder: 99,
            sectors_per_track: slots,
            spare_sectors_per_track: spares,
            spare_tracks_per_cylinder: 0,
            spare_tracks_at_end: 0,
            track_skew_sectors: 0.0,
            cylinder_skew_sectors: 0.0,
            first_sector_revolutions: 0.37,
            empty_sectors_at_front: 0,
            spares: None,
        }],
        run: Vec::new(),
        region: vec![],
        slipped_sectors: vec![],
        slipped_tracks: vec![],
        remap: vec![],
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn next_is_the_first_tick_at_the_target(
        rpm in any_rpm(), turns in 0.0..1.0_f64, t0 in 0..YEAR, t in 0..YEAR, target: u64, near in -3_i64..4,
    ) {
        let disk = Epoch::new(Nanos(t0), Angle::from_turns(turns), 60e9 / rpm);
        let t = Nanos(t0 + t);
        let tick = (disk.angle(Nanos(t.0 + 1)) - disk.angle(t)).0;
        // Anywhere, and within a few ticks and units of where the disk is.
        let close = disk.angle(t).0.wrapping_add_signed(near.wrapping_mul(tick as i64)).wrapping_add_signed(near);
        for target in [Angle(target), Angle(close)] {
            let missed = (disk.angle(t) - target).0;
            let reached = disk.next(t, target);
            let before = (disk.angle(t) - disk.angle(Nanos(t.0 - 1))).0;
            if missed <= before {
                prop_assert_eq!(reached, t);
            } else if missed > before + 1 {
                assert_first(&disk, t, (target - disk.angle(t)).0, reached)?;
            }
        }
    }

    #[test]
    fn a_transfer_ends_at_the_first_tick_past_its_end_angle(
        rpm in any_rpm(), turns in 0.0..1.0_f64, t in 1..YEAR, turn in 1_u64.., shift in 0_u32..64, late in 0.0..1.0_f64,
    ) {
        let disk = epoch(rpm, turns);
        let t = Nanos(t);
        let tick = (disk.angle(t) - disk.angle(Nanos(t.0 - 1))).0;
        for turn in [(turn >> shift).max(1), u64::MAX, u64::MAX - tick, tick, tick + 1] {
            let late = (late * tick as f64) as u64;
            let end = disk.end_of(t, disk.angle(t) - Angle(late), Angle(turn));
            assert_first(&disk, t, turn.saturating_sub(late), end)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn back_to_back_single_sector_reads_never_lose_a_revolution(
        rpm in any_rpm(), turns in 0.0..1.0_f64, slots in 1_u32..2000, spares in 0_u32..2, t in 0..YEAR,
    ) {
        let disk = epoch(rpm, turns);
        let layout = tracks(slots, spares);
        let sector = 60e9 / rpm / f64::from(slots + spares);
        let mut now = disk.next(Nanos(t), layout.locate(0).start);
        let begin = now;
        for lba in 0..(3 * u64::from(slots)).min(3000) {
            let place = layout.extent(lba, 1);
            let on_time = disk.next(now, place.start);
            // No wait but for the spare slot at a track's end, and a tick.
            let wait = if spares > 0 && place.lba.is_multiple_of(u64::from(slots)) { sector + 1.0 } else { 1.0 };
            prop_assert!((on_time - now).0 as f64 <= wait, "sector {lba}: {} ns", (on_time - now).0);
            if !place.lba.is_multiple_of(u64::from(slots)) {
                prop_assert_eq!(on_time, now, "sector {} follows its predecessor", lba);
            }
            now = disk.end_of(on_time, place.start, place.span(1));
        }
        // And all in all no more than rounding to one tick.
        let sectors = (3 * u64::from(slots)).min(3000);
        let whole_turns = (sectors - 1) / u64::from(slots);
        let slots_passed = sectors + whole_turns * u64::from(spares);
        let ideal = slots_passed as f64 * sector;
        prop_assert!(((now - begin).0 as f64 - ideal).abs() <= 2.0, "{} against {ideal}", (now - begin).0);
    }

    #[test]
    fn sectors_in_one_piece_end_when_the_last_of_single_ones_does(
        rpm in 60.0..20_000.0_f64, slots in 2_u32..2000, t in 0..YEAR, first in 0_u32..2000, count in 1_u32..2000,
    ) {
        let disk = epoch(rpm, 0.1);
        let layout = tracks(slots, 1);
        let first = first % slots;
        let extent = layout.extent(u64::from(first), u64::from(count));
        let start = disk.next(Nanos(t), extent.start);
        let at_once = disk.end_of(start, extent.start, extent.span(extent.sectors));
        let mut now = start;
        for i in 0..extent.sectors {
            let single = layout.extent(u64::from(first + i), 1);
            now = disk.end_of(disk.next(now, single.start), single.start, single.span(1));
        }
        prop_assert_eq!(now, at_once);
    }
}

fn drifting(error_percent: f64, drift_ppm: f64, drift_interval_s: f64, seed: u64) -> Spindle {
    let spec = SpindleSpec { error_percent, drift_ppm, drift_interval_s, initial_angle_revolutions: 0.2 };
    Spindle::new(7200.0, &spec, seed)
}

#[test]
fn a_steady_spindle_has_one_epoch() {
    let mut steady = drifting(0.0, 0.0, 1.0, 1);
    let first = steady.epoch_at(Nanos::ZERO);
    assert_eq!(first.angle(Nanos::ZERO), Angle::from_turns(0.2));
    assert_eq!(steady.epoch_at(Nanos(YEAR)), first);
    assert_eq!(first.period(), 60e9 / 7200.0);
    assert_eq!(steady.nominal_period_ns(), 60e9 / 7200.0);
    // One percent too fast, it gains a turn in a hundred.
    let mut fast = drifting(1.0, 0.0, 1.0, 1);
    assert!((fast.epoch_at(Nanos::ZERO).period() - 60e9 / 7272.0).abs() < 1e-6);
    assert_eq!(fast.nominal_period_ns(), 60e9 / 7200.0);
}

#[test]
fn drift_keeps_its_bounds_and_its_phase_whoever_asks() {
    let mut often = drifting(0.0, 50.0, 0.25, 7);
    let mut rarely = often.clone();
    let mut other_seed = drifting(0.0, 50.0, 0.25, 8);
    let nominal = 60e9 / 7200.0;
    let (mut sum, mut extremes) = (0.0, (0.0_f64, 0.0_f64));
    for interval in 0..4000_u64 {
        let boundary = Nanos(interval * 250_000_000);
        let before = often.epoch_at(Nanos(boundary.0.saturating_sub(1)));
        let epoch = often.epoch_at(boundary);
        assert_eq!(before.angle(boundary), epoch.angle(boundary), "interval {interval}");
        let ppm = (nominal / epoch.period() - 1.0) * 1e6;
        assert!(ppm.abs() <= 50.0 + 1e-6, "{ppm}");
        sum += ppm;
        extremes = (extremes.0.min(ppm), extremes.1.max(ppm));
        if interval > 0 {
            assert_ne!(before.period(), epoch.period());
        }
    }
    assert!((sum / 4000.0).abs() < 2.0, "mean {}", sum / 4000.0);
    assert!(extremes.0 < -49.0 && extremes.1 > 49.0, "{extremes:?}");
    let end = Nanos(999_999_999_999);
    assert_eq!(rarely.epoch_at(end), often.epoch_at(end));
    assert_ne!(other_seed.epoch_at(end).angle(end), often.epoch_at(end).angle(end));
}

#[test]
fn who_looks_ahead_sees_the_disk_as_it_will_turn_and_changes_nothing() {
    let mut disk = drifting(0.0, 50.0, 1.0, 5);
    let present = disk.epoch_at(Nanos(300_000_000));
    for at in [300_000_000, 999_999_999, 1_000_000_000, 4_700_000_000] {
        let ahead = disk.epoch_ahead(Nanos(at));
        assert_eq!(ahead, disk.clone().epoch_at(Nanos(at)), "at {at} ns");
        assert_eq!(ahead == present, at < 1_000_000_000, "at {at} ns");
        assert_eq!(disk.present_epoch(), present);
    }
}

/// One interval a millisecond, and a century to cross: step by step that would take hours, and at the end of time for ever.
#[test]
fn an_idle_century_takes_no_time() {
    for drift_ppm in [0.0, 50.0] {
        let mut spindle = drifting(0.0, drift_ppm, 1e-3, 1);
        let late = Nanos(100 * YEAR);
        let reached = spindle.next(late, Angle::fraction(1, 3));
        assert!(reached >= late && (reached - late).0 < 8_400_000, "{reached}");
        assert!(spindle.epoch_at(late).period() > 0.0);
        assert_eq!(spindle.epoch_at(Nanos::MAX), spindle.epoch_at(Nanos::MAX));
    }
}

#[test]
fn a_gap_crossed_at_once_wanders_as_far_as_one_crossed_step_by_step() {
    // Over n intervals of T revolutions each, the phase wanders by T·drift·√(n/3) revolutions; here 0.04.
    let (intervals, ppm, interval_s) = (3_000_000_u64, 0.001, 0.28);
    let end = Nanos(intervals * 280_000_000);
    let steady = drifting(0.0, 0.0, interval_s, 0).epoch_at(end).angle(end);
    let expected = 120.0 * interval_s * ppm * 1e-6 * (intervals as f64 / 3.0).sqrt();
    let wandered = |seed| {
        let turns = (drifting(0.0, ppm, interval_s, seed).epoch_at(end).angle(end) - steady).as_turns();
        (turns + 0.5).rem_euclid(1.0) - 0.5
    };
    let all: Vec<f64> = (0..2000).map(wandered).collect();
    let mean = all.iter().sum::<f64>() / 2000.0;
    let spread = (all.iter().map(|turns| (turns - mean).powi(2)).sum::<f64>() / 1999.0).sqrt();
    assert!(mean.abs() < 4.0 * expected / 2000_f64.sqrt(), "mean {mean}, spread expected {expected}");
    assert!((spread / expected - 1.0).abs() < 0.07, "{spread} for {expected}");
}

#[test]
fn a_relock_shifts_the_phase_from_then_on() {
    let mut spindle = drifting(0.0, 20.0, 1.0, 3);
    let mut untouched = spindle.clone();
    let shift = Angle::fraction(1, 8);
    let t = Nanos(2_500_000_000);
    spindle.relock(t, shift);
    for later in [t, Nanos(t.0 + 12_345), Nanos(2_999_999_999)] {
        let difference = spindle.epoch_at(later).angle(later) - untouched.epoch_at(later).angle(later);
        assert!((difference - shift).0.min((shift - difference).0) <= 1, "{later}");
    }
    // The drift goes on as it would have.
    let later = Nanos(9_100_000_000);
    let (shifted, plain) = (spindle.epoch_at(later), untouched.epoch_at(later));
    assert_eq!(shifted.period(), plain.period());
    let difference = shifted.angle(later) - plain.angle(later);
    assert!((difference - shift).0.min((shift - difference).0) <= 8);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_drifting_disk_loses_no_revolution_at_its_changes_of_speed(
        seed: u64, ppm in 1.0..2000.0_f64, interval_ms in 1.0..30.0_f64, slots in 1_u32..300, t in 0_u64..10_000_000_000,
    ) {
        let mut disk = drifting(0.1, ppm, interval_ms / 1e3, seed);
        let layout = tracks(slots, 0);
        let mut now = disk.next(Nanos(t), layout.locate(0).start);
        for lba in 0..3 * u64::from(slots) {
            let sector = layout.extent(lba, 1);
            let on_time = disk.next(now, sector.start);
            prop_assert!((on_time - now).0 <= 1, "sector {lba} lost {} ns", (on_time - now).0);
            let end = disk.end_of(on_time, sector.start, sector.span(1));
            // The end angle was passed at `end` and not a tick before, in whatever epoch that is.
            let target = sector.slot_start(1);
            let mut ahead = disk.clone();
            let tick_before = Nanos(end.0 - 1);
            let before = ahead.epoch_at(tick_before).angle(tick_before);
            let at_end = ahead.epoch_at(end).angle(end);
            prop_assert!(target != before && (target - before).0 <= (at_end - before).0, "sector {lba}");
            now = end;
        }
    }
}

#[test]
fn wandering_follows_the_normal_law() {
    const COUNT: u64 = 200_000;
    let moment = |power: i32| (0..COUNT).map(|n| normal(7, n).powi(power)).sum::<f64>() / COUNT as f64;
    // Three standard errors of each moment: 1, 2, 15 − 0 and 105 − 9 over the count.
    for (power, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let error = 3.0 * f64::sqrt(variance / COUNT as f64);
        assert!((moment(power) - expected).abs() < error, "moment {power}: {}", moment(power));
    }
}
