//! Whether the way the gaps go can be told from the instants.

mod common;

use common::synthetic::{Random, Truth, layout, zone};
use headstack_drive::spec::Order;
use headstack_phase::gap::{Gap, decide};
use headstack_phase::{Geometry, Observation};
use headstack_units::Nanos;

fn truth(outliers: f64) -> Truth {
    let mut zones = vec![zone(0, 40, 200), zone(40, 40, 150)];
    for zone in &mut zones {
        zone.track_skew_sectors = 30.0;
        zone.cylinder_skew_sectors = 55.0;
    }
    let (period_ns, noise_ns) = (60e9 / 7200.0 * 0.997, 50_000.0);
    let layout = layout(Order::Classical, 5, zones);
    Truth { layout, ranges: None, period_ns, breaks: Vec::new(), noise_ns, outliers }
}

/// The right instants, and those of the wrong reading: each gap moved to the other side of its request. The service
/// times are a random part of the time between completions.
fn readings(seen: &[Observation], random: &mut Random) -> (Vec<Observation>, Vec<Observation>) {
    let mut rows = Vec::new();
    for two in seen.windows(2) {
        let between = (two[1].at.0.saturating_sub(two[0].at.0)) as f64;
        let service = (between * random.unit()).min(12e6);
        // Belongs to the second request: the gap before it, and its service.
        rows.push((two[1], between - service, service));
    }
    let mut clock = 0.0;
    let mut moved = Vec::new();
    for (observation, gap, service) in rows {
        clock += service;
        moved.push(Observation { at: Nanos(clock as u64), ..observation });
        clock += gap;
    }
    (seen[1..].to_vec(), moved)
}

#[test]
fn the_side_that_gaps_lie_on_is_told_either_way() {
    let mut random = Random(1);
    let truth = truth(0.3);
    let seen: Vec<Observation> = truth.observe(&mut random, 4000).iter().map(|seen| seen.0).collect();
    let (right, wrong) = readings(&seen, &mut random);
    let geometry = Geometry::new(&truth.layout);
    let before = decide(&wrong, &right, &geometry, 7200.0);
    assert_eq!(before.gap, Gap::Before, "{before:?}");
    assert!(before.coherence_before > 0.4 && before.coherence_after < 0.3 && before.confidence > 0.999);
    let after = decide(&right, &wrong, &geometry, 7200.0);
    assert_eq!(after.gap, Gap::After, "{after:?}");
}

#[test]
fn noise_and_silence_leave_it_undecided() {
    let truth = truth(1.0);
    let geometry = Geometry::new(&truth.layout);
    for seed in 0..20 {
        let mut random = Random(seed);
        let seen: Vec<Observation> = truth.observe(&mut random, 3000).iter().map(|seen| seen.0).collect();
        let (one, other) = readings(&seen, &mut random);
        let verdict = decide(&one, &other, &geometry, 7200.0);
        assert_eq!(verdict.gap, Gap::Undecided, "{verdict:?}");
    }
    let none = decide(&[], &[], &geometry, 7200.0);
    assert_eq!((none.gap, none.pairs, none.confidence), (Gap::Undecided, 0, 0.5));
}

#[test]
fn readings_that_are_alike_leave_it_undecided() {
    let truth = truth(0.1);
    let seen: Vec<Observation> = truth.observe(&mut Random(3), 3000).iter().map(|seen| seen.0).collect();
    let verdict = decide(&seen, &seen, &Geometry::new(&truth.layout), 7200.0);
    assert_eq!(verdict.gap, Gap::Undecided, "{verdict:?}");
}
