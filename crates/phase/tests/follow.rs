//! Whether the tracker follows what a spindle may do.

mod common;

use common::synthetic::Random;
use headstack_phase::{Judgement, Tracker, TrackerOptions};
use headstack_units::Nanos;
use proptest::prelude::*;

/// The nearest way from one angle to another, in turns.
fn wrap(turns: f64) -> f64 {
    turns - turns.round()
}

/// A spindle: speed error in turns per second, jumps, noise in turns, share of errors of any phase.
struct Spindle {
    start: f64,
    speed: f64,
    jumps: Vec<(f64, f64)>,
    noise: f64,
    outliers: f64,
}

impl Spindle {
    fn turns(&self, seconds: f64) -> f64 {
        let jumped: f64 = self.jumps.iter().filter(|jump| jump.0 <= seconds).map(|jump| jump.1).sum();
        self.start + self.speed * seconds + jumped
    }

    /// Follows it for so many requests: how far off each prediction was from the true phase, and when.
    fn follow(&self, tracker: &mut Tracker, random: &mut Random, requests: u32) -> Vec<(f64, f64)> {
        let mut seconds = 0.0;
        let mut misses = Vec::new();
        for _ in 0..requests {
            seconds += random.between(0.01, 0.2);
            let at = Nanos::from_s(seconds);
            let right = random.unit() >= self.outliers;
            let error =
                if right { self.turns(seconds) + self.noise * random.normal() } else { random.unit() };
            misses.push((seconds, wrap(tracker.predict(at, 0) - self.turns(seconds)).abs()));
            tracker.observe(at, 0, error);
        }
        misses
    }
}

fn median(misses: impl Iterator<Item = f64>) -> f64 {
    let mut misses: Vec<f64> = misses.collect();
    misses.sort_by(f64::total_cmp);
    misses[misses.len() / 2]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_spindle_is_followed_through_drift_outliers_and_jumps(
        seed in any::<u64>(), start in 0.0_f64..1.0, speed in -0.004_f64..0.004, jump in 0.15_f64..0.85,
        outliers in 0.0_f64..0.35,
    ) {
        let spindle = Spindle { start, speed, jumps: vec![(60.0, jump), (90.0, -0.3)], noise: 0.01, outliers };
        let mut tracker = Tracker::new(TrackerOptions::default());
        let misses = spindle.follow(&mut tracker, &mut Random(seed), 1500);
        let late = |miss: &&(f64, f64)| miss.0 > 10.0;
        prop_assert!(median(misses.iter().filter(late).map(|miss| miss.1)) < 0.006);
        let lost = misses.iter().filter(late).filter(|miss| miss.1 > 0.05).count();
        prop_assert!(lost < 60, "{lost} of {}", misses.len());
        let diagnostics = tracker.diagnostics();
        prop_assert!(diagnostics.reacquisitions >= 2, "{diagnostics:?}");
        prop_assert!((0.006..0.016).contains(&diagnostics.sigma_revolutions), "{diagnostics:?}");
    }

    #[test]
    fn a_prediction_does_not_depend_on_what_comes_after(seed in any::<u64>()) {
        let spindle = Spindle { start: 0.2, speed: 0.001, jumps: vec![(5.0, 0.4)], noise: 0.01, outliers: 0.2 };
        let run = |requests| {
            let mut tracker = Tracker::new(TrackerOptions::default());
            spindle.follow(&mut tracker, &mut Random(seed), requests)
        };
        let (short, long) = (run(100), run(200));
        prop_assert_eq!(&short[..], &long[..100]);
    }

    #[test]
    fn whatever_is_fed_the_prediction_is_within_half_a_turn(
        errors in proptest::collection::vec((0_u64..10_000_000_000, -1e6_f64..1e6, 0_u32..4), 0..200),
    ) {
        let options = TrackerOptions { learn_zones: vec![1, 3], ..TrackerOptions::default() };
        let mut tracker = Tracker::new(options);
        let mut at = 0;
        for (wait, error, zone) in errors {
            at += wait;
            prop_assert!(tracker.predict(Nanos(at), zone).abs() <= 0.5);
            tracker.observe(Nanos(at), zone, error);
        }
    }
}

/// Of a file with a wrong skew each cylinder has its own phase: what is known is that of the last request, of those that stay near.
#[test]
fn where_there_is_no_one_phase_the_last_error_is_the_prediction() {
    let mut tracker = Tracker::new(TrackerOptions::default());
    let mut random = Random(5);
    let (mut seconds, mut turns, mut misses) = (0.0, 0.0, Vec::new());
    for _ in 0..2_000 {
        seconds += random.between(0.01, 0.2);
        if random.unit() < 0.3 {
            turns = random.unit();
        }
        let at = Nanos::from_s(seconds);
        misses.push(wrap(tracker.predict(at, 0) - turns).abs());
        tracker.observe(at, 0, turns);
    }
    // Of those that stayed, and a quarter turn on average of the others.
    let mean = misses[500..].iter().sum::<f64>() / 1_500.0;
    assert!((mean - 0.3 * 0.25).abs() < 0.02, "{mean} turns");
}

#[test]
fn one_stray_error_moves_nothing() {
    let mut tracker = Tracker::new(TrackerOptions::default());
    for second in 0..50 {
        tracker.observe(Nanos::from_s(f64::from(second) * 0.1), 0, 0.25);
    }
    let at = Nanos::from_s(5.0);
    let before = tracker.predict(at, 0);
    assert_eq!(tracker.observe(at, 0, 0.6), Judgement::Doubted);
    assert_eq!(tracker.predict(at, 0), before);
    assert!((before - 0.25).abs() < 1e-9);
}

#[test]
fn a_jump_is_believed_once_several_errors_agree() {
    let mut tracker = Tracker::new(TrackerOptions::default());
    let mut feed =
        |number: u32, turns: f64| tracker.observe(Nanos::from_s(f64::from(number) * 0.05), 0, turns);
    let found: Vec<Judgement> = (0..3).map(|number| feed(number, 0.1)).collect();
    assert_eq!(found, [Judgement::Doubted, Judgement::Doubted, Judgement::Acquired]);
    (3..60).for_each(|number| assert_eq!(feed(number, 0.1), Judgement::Followed));
    let jumped: Vec<Judgement> = (60..64).map(|number| feed(number, 0.7)).collect();
    assert_eq!(jumped, [Judgement::Doubted, Judgement::Doubted, Judgement::Reacquired, Judgement::Followed]);
    assert_eq!(tracker.diagnostics().locks, 2);
}

#[test]
fn a_zone_of_unknown_angle_is_learnt_and_does_not_disturb_the_phase() {
    let options = TrackerOptions { learn_zones: vec![2], ..TrackerOptions::default() };
    let mut tracker = Tracker::new(options);
    let mut random = Random(1);
    for number in 0..400 {
        let at = Nanos::from_s(f64::from(number) * 0.05);
        let zone = if number % 5 == 0 { 2 } else { 0 };
        let offset = if zone == 2 { 0.4 } else { 0.0 };
        tracker.observe(at, zone, 0.1 + offset + 0.01 * random.normal());
    }
    let at = Nanos::from_s(20.0);
    assert!((tracker.predict(at, 0) - 0.1).abs() < 0.01);
    assert!(wrap(tracker.predict(at, 2) - 0.5).abs() < 0.02);
    assert_eq!(tracker.diagnostics().reacquisitions, 0);
    assert_eq!(tracker.zone_turns(0), None);
}
