//! Whether the fit finds drives whose every angle is known.

mod common;

use common::synthetic::{Random, Seen, Truth, layout, spares, zone};
use headstack_drive::layout::Layout;
use headstack_drive::spec::{DriveSpec, LayoutSpec, Order, ProvenanceKind, TrackRunSpec};
use headstack_phase::{Geometry, Observation, PhaseFit, Source};
use headstack_units::Nanos;
use proptest::prelude::*;

const NOMINAL_RPM: f64 = 7200.0;

fn observations(seen: &[Seen]) -> Vec<Observation> {
    seen.iter().map(|seen| seen.0).collect()
}

/// Median error in turns when right observations are predicted from the right one before, if that is close in time.
fn median_error(seen: &[Seen], period_ns: f64, end_revolutions: &dyn Fn(u64) -> f64) -> f64 {
    let right: Vec<Observation> = seen.iter().filter(|seen| seen.1).map(|seen| seen.0).collect();
    let mut errors: Vec<f64> = right
        .windows(2)
        .filter(|two| two[1].at.0 - two[0].at.0 < 300_000_000)
        .map(|two| {
            let turned = (two[1].at.0 - two[0].at.0) as f64 / period_ns;
            let error = turned - (end_revolutions(two[1].lba) - end_revolutions(two[0].lba));
            (error - error.round()).abs()
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

/// Fits the first three quarters; the median error over the rest.
fn held_out_error(truth: &Truth, file: &LayoutSpec, seed: u64, count: u64) -> (PhaseFit, f64) {
    let seen = truth.observe(&mut Random(seed), count);
    let (fitted, unseen) = seen.split_at(seen.len() / 4 * 3);
    let geometry = Geometry::new(file);
    let fit = PhaseFit::new(&observations(fitted), &geometry, NOMINAL_RPM);
    let error = median_error(unseen, fit.period_ns, &|lba| fit.end_revolutions(&geometry, lba).unwrap());
    (fit, error)
}

/// Three zones, nine heads, skews of 0.1305 and 0.5977 turns, all zones beginning at the index.
fn plain() -> Truth {
    let mut zones = vec![zone(0, 800, 254), zone(800, 700, 227), zone(1500, 600, 174)];
    for zone in &mut zones {
        zone.track_skew_sectors = 0.1305 * f64::from(zone.sectors_per_track);
        zone.cylinder_skew_sectors = 0.5977 * f64::from(zone.sectors_per_track);
    }
    Truth {
        layout: layout(Order::Classical, 9, zones),
        ranges: None,
        period_ns: 60e9 / NOMINAL_RPM * 1.0025,
        breaks: vec![(70_000_000_000, 0.4)],
        noise_ns: 50_000.0,
        outliers: 0.2,
    }
}

/// The relative error of the speed that is found from so many times with so much noise, in turns.
fn speed_error(truth: &Truth, noise: f64, seed: u64, count: u64) -> Option<f64> {
    let noisy = Truth { noise_ns: noise * truth.period_ns, ..truth.clone() };
    let seen = noisy.observe(&mut Random(seed), count);
    let fit = PhaseFit::new(&observations(&seen), &Geometry::new(&truth.layout), NOMINAL_RPM);
    fit.period_found.then(|| fit.period_ns / truth.period_ns - 1.0)
}

/// Where times are noisy, a speed beside that of the file agreed better with neighbours by chance: 50 ppm to 0.7 % off.
#[test]
fn the_right_speed_of_a_file_stays_however_noisy_the_times_are() {
    let truth = Truth { period_ns: 60e9 / NOMINAL_RPM, breaks: Vec::new(), outliers: 0.0, ..plain() };
    for (noise, seed, count) in (0..4).flat_map(|seed| {
        [0.01, 0.03, 0.06, 0.1, 0.15]
            .into_iter()
            .flat_map(move |noise| [(noise, seed, 600), (noise, seed, 2000)])
    }) {
        let error = speed_error(&truth, noise, seed, count);
        assert_eq!(error, Some(0.0), "noise {noise}, seed {seed}, {count} requests");
    }
}

/// So many requests all over the disk, this long apart, of a drive that is as its file but for its speed.
fn sparse(off: f64, apart_ns: [f64; 2], seed: u64) -> PhaseFit {
    let truth = Truth {
        period_ns: 60e9 / NOMINAL_RPM * (1.0 + off),
        breaks: Vec::new(),
        outliers: 0.0,
        noise_ns: 20_000.0,
        ..plain()
    };
    let layout = Layout::new(&truth.layout);
    let (mut random, mut ns) = (Random(seed), 0.0);
    let seen: Vec<Observation> = (0..300)
        .map(|index| {
            ns += random.between(apart_ns[0], apart_ns[1]);
            let lba = random.below(layout.capacity());
            let wait = (truth.end_revolutions(&layout, lba) - ns / truth.period_ns).rem_euclid(1.0);
            let end = ns + wait * truth.period_ns + truth.noise_ns * random.normal();
            Observation { index, at: Nanos(end as u64), lba }
        })
        .collect();
    PhaseFit::new(&seen, &Geometry::new(&truth.layout), NOMINAL_RPM)
}

/// Requests 0.8 s and more apart made no pairs, and the period of a right file was not found.
#[test]
fn requests_far_apart_tell_the_speed_unless_they_come_at_an_even_pace() {
    for (off, seed) in [0.0, 0.001, -0.004, 0.007].into_iter().zip(0..) {
        for apart_ns in [[0.8e9, 1.2e9], [1.5e9, 2.5e9], [2.5e9, 5.5e9]] {
            let fit = sparse(off, apart_ns, seed);
            let error = fit.period_ns / (60e9 / NOMINAL_RPM * (1.0 + off)) - 1.0;
            assert!(
                fit.period_found && error.abs() < 2e-6,
                "{off} off, {apart_ns:?}: {error}, {:?}",
                fit.coherence
            );
        }
        assert!(!sparse(off, [1e9, 1e9], seed).period_found, "{off}");
    }
}

#[test]
fn a_speed_that_is_not_the_file_s_is_found_among_noisy_times() {
    for (off, seed) in [-0.006, -0.0005, 0.0001, 0.0025, 0.0071].into_iter().zip(0..) {
        for noise in [0.03, 0.06, 0.1, 0.15] {
            let truth = Truth {
                period_ns: 60e9 / NOMINAL_RPM * (1.0 + off),
                breaks: Vec::new(),
                outliers: 0.0,
                ..plain()
            };
            let error = speed_error(&truth, noise, seed, 2000);
            let most = if noise > 0.1 {
                100e-6
            } else if noise > 0.06 {
                60e-6
            } else {
                25e-6
            };
            assert!(error.is_some_and(|error| error.abs() < most), "{off} off, noise {noise}: {error:?}");
        }
    }
}

/// A drive file around a layout.
fn drive(layout: &LayoutSpec) -> DriveSpec {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/dec-rz26.toml")).unwrap();
    let mut spec = DriveSpec::from_toml("dec-rz26", &text).unwrap();
    spec.layout = layout.clone();
    spec.rotation_rpm = NOMINAL_RPM;
    spec
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_drive_is_found_well_enough_to_predict_what_was_not_fitted(seed in any::<u64>()) {
        let truth = Truth::any(&mut Random(seed));
        let (fit, error) = held_out_error(&truth, &truth.file(), seed ^ 1, 5000);
        prop_assert!((fit.period_ns / truth.period_ns - 1.0).abs() < 5e-6, "{:?}", fit);
        prop_assert!(error < 0.01, "{}: {:#?}", error, fit);
    }

    #[test]
    fn whatever_is_observed_there_is_an_answer(
        rows in proptest::collection::vec((0_u64..400_000_000, 0_u64..100_000_000), 0..300),
        nominal in 3000.0_f64..15_000.0,
    ) {
        let mut at = 0;
        let seen: Vec<Observation> = rows.iter().zip(0..).map(|(&(wait, lba), index)| {
            at += wait;
            Observation { index, at: Nanos(at), lba }
        }).collect();
        let fit = PhaseFit::new(&seen, &Geometry::new(&plain().file()), nominal);
        prop_assert!(fit.period_ns.is_finite() && fit.coherence.fitted.is_finite());
        prop_assert!(fit.zones.iter().all(|zone| zone.first_sector.turns.is_finite()));
    }
}

#[test]
fn a_drive_described_in_runs_keeps_its_speed_and_angles() {
    let run = TrackRunSpec {
        first_cylinder: 0,
        head: 0,
        cylinders: 500,
        step: 1,
        sectors_per_track: 100,
        first_sector: 0,
        data_sectors: None,
        first_sector_revolutions: 0.0,
        skew_sectors: 7.0,
    };
    let file = LayoutSpec { run: vec![run], ..layout(Order::Classical, 1, vec![]) };
    let seen: Vec<Observation> = (0..500_u64)
        .map(|index| Observation { index, at: Nanos(index * 12_345_678), lba: index * 97 })
        .collect();
    let fit = PhaseFit::new(&seen, &Geometry::new(&file), 7200.0);
    assert_eq!((fit.observations, fit.period_found, fit.zones.len()), (0, false, 0));
}

#[test]
fn skews_that_are_altogether_wrong_in_the_file_are_found() {
    let truth = plain();
    let mut file = truth.file();
    for zone in &mut file.zone {
        zone.track_skew_sectors = 97.0;
        zone.cylinder_skew_sectors = 120.0;
    }
    let (fit, error) = held_out_error(&truth, &file, 3, 5000);
    assert!(error < 0.01, "{error}");
    for zone in &fit.zones {
        assert_eq!(zone.track_skew.source, Source::Global);
        assert!((zone.track_skew.turns - 0.1305).abs() < 1e-3, "{zone:?}");
        assert!((zone.cylinder_skew.turns - 0.5977).abs() < 8e-3, "{zone:?}");
        assert!(zone.coherence_after > 0.5 && zone.coherence_before < 0.1, "{zone:?}");
    }
    assert!(fit.coherence.held_out_after > fit.coherence.held_out_before + 0.4, "{:?}", fit.coherence);
}

#[test]
fn a_skew_of_the_wrong_sign_fails_the_check() {
    let truth = plain();
    let seen = truth.observe(&mut Random(5), 2000);
    let right = Layout::new(&truth.layout);
    let mut planted = truth.layout.clone();
    for zone in &mut planted.zone {
        // A turn less the skew is its negative.
        zone.track_skew_sectors = f64::from(zone.sectors_per_track) - zone.track_skew_sectors;
    }
    let wrong = Layout::new(&planted);
    assert!(median_error(&seen, truth.period_ns, &|lba| truth.end_revolutions(&right, lba)) < 0.01);
    assert!(median_error(&seen, truth.period_ns, &|lba| truth.end_revolutions(&wrong, lba)) > 0.05);
}

#[test]
fn a_file_that_is_right_is_kept_but_for_the_speed() {
    let truth = plain();
    let (fit, error) = held_out_error(&truth, &truth.layout, 7, 4000);
    assert!(error < 0.01);
    let keeps = |source| matches!(source, Source::File | Source::None);
    assert!(fit.zones.iter().all(|zone| {
        [zone.track_skew, zone.cylinder_skew, zone.first_sector].iter().all(|estimate| keeps(estimate.source))
    }));
    let spec = drive(&truth.layout);
    let fitted = fit.apply(&spec);
    assert_eq!(fitted.layout, spec.layout);
    assert!((fitted.rotation_rpm / (60e9 / truth.period_ns) - 1.0).abs() < 5e-6);
    assert_eq!(fitted.provenance_of("rotation_rpm").unwrap().kind, ProvenanceKind::Fitted);
}

/// Requests all over the disk, of which no two within some tenths of a second lie on one cylinder, have a period, too: it was said
/// that they tell none, of a file that has every angle right, and a wrong speed stayed.
#[test]
fn requests_all_over_the_disk_tell_the_speed_of_a_right_file() {
    let truth = Truth { breaks: Vec::new(), ..plain() };
    let mut seen = observations(&truth.observe(&mut Random(13), 8000));
    let mut kept: Vec<Observation> = Vec::new();
    seen.retain(|one| {
        let is_far = kept.iter().rev().take(8).all(|before| before.lba.abs_diff(one.lba) > 20_000);
        if is_far {
            kept.push(*one);
        }
        is_far
    });
    assert!(seen.len() > 1000);
    let fit = PhaseFit::new(&seen, &Geometry::new(&truth.layout), NOMINAL_RPM);
    assert!(fit.period_found);
    assert!((fit.period_ns / truth.period_ns - 1.0).abs() < 5e-6, "{}", fit.rpm);
    // With skews that are not the drive's nothing agrees, and nothing is said to have been found.
    let mut wrong = truth.layout.clone();
    for zone in &mut wrong.zone {
        zone.cylinder_skew_sectors += 0.317 * f64::from(zone.sectors_per_track);
    }
    let lost = PhaseFit::new(&seen, &Geometry::new(&wrong), NOMINAL_RPM);
    assert!(!lost.period_found || (lost.period_ns / truth.period_ns - 1.0).abs() < 1e-4, "{}", lost.rpm);
}

/// Three zones of whole-sector skews with spare tracks at their ends, of which eleven are in use: `[cylinder, head]`.
fn with_tracks_passed_over() -> Truth {
    let skipped = vec![
        [90, 2],
        [210, 0],
        [211, 6],
        [400, 3],
        [401, 1],
        [640, 5],
        [790, 4],
        [900, 0],
        [1000, 6],
        [1150, 2],
        [1151, 1],
    ];
    let mut zones = vec![zone(0, 500, 120), zone(500, 400, 104), zone(900, 400, 88)];
    for (number, zone) in zones.iter_mut().enumerate() {
        zone.track_skew_sectors = f64::from(zone.sectors_per_track / 8 + 1);
        zone.cylinder_skew_sectors = f64::from(zone.sectors_per_track / 4 + 3);
        zone.first_sector_revolutions = 0.21 * number as f64;
        zone.spare_tracks_at_end = 35;
    }
    for (zone, taken) in zones.iter_mut().zip([5, 2, 4]) {
        zone.spare_tracks_at_end -= taken;
    }
    let layout = LayoutSpec { slipped_tracks: skipped, ..layout(Order::Classical, 7, zones) };
    Truth { layout, breaks: Vec::new(), outliers: 0.25, ..plain() }
}

/// The same drive in a file that knows of no defects, and whose skews are a sector too large.
fn without_defects(truth: &Truth) -> LayoutSpec {
    let mut file = LayoutSpec { slipped_tracks: Vec::new(), ..truth.layout.clone() };
    for zone in &mut file.zone {
        zone.spare_tracks_at_end = 35;
        zone.track_skew_sectors += 1.0;
        zone.cylinder_skew_sectors += 1.0;
    }
    file
}

#[test]
fn tracks_that_are_passed_over_are_found_where_they_are() {
    let truth = with_tracks_passed_over();
    let file = without_defects(&truth);
    let (real, plain) = (Layout::new(&truth.layout), Layout::new(&file));
    assert_eq!(real.capacity(), plain.capacity());
    let (fit, error) = held_out_error(&truth, &file, 17, 6000);
    // A quarter of the observations has any angle: 0.56 is what can be had.
    assert!(fit.coherence.file < 0.1 && fit.coherence.fitted > 0.45, "{:?}", fit.coherence);
    assert!(error < 0.01, "{error}");
    assert_eq!(fit.skipped.len(), truth.layout.slipped_tracks.len(), "{:?}", fit.skipped);
    let heads = truth.layout.heads;
    for (found, [cylinder, head]) in fit.skipped.iter().zip(&truth.layout.slipped_tracks) {
        // The real layout has the last address before it on a track before, and the first one behind on one behind.
        let track = |lba: u64| real.locate(lba).cylinder * heads + real.locate(lba).head;
        let (before, behind) = (track(found.between.0), track(found.between.1));
        let real = cylinder * heads + head;
        // An observation of any angle beside it may move it by a few.
        let near = before.saturating_sub(heads)..=behind + heads;
        assert!(near.contains(&real), "{found:?}: {real} is not in {before} to {behind}");
    }
    let applied = fit.apply(&drive(&file));
    assert!(applied.check().is_empty(), "{:?}", applied.check());
    assert_eq!(Layout::new(&applied.layout).capacity(), real.capacity());
    assert_eq!(applied.provenance_of("layout.slipped_tracks").unwrap().kind, ProvenanceKind::Fitted);
    // Fitted once more, the file is right.
    let seen = truth.observe(&mut Random(18), 3000);
    let again = PhaseFit::new(&observations(&seen), &Geometry::new(&applied.layout), NOMINAL_RPM);
    assert!(again.skipped.is_empty() && again.coherence.fitted > 0.5, "{:?}", again.coherence);
}

/// The file with these tracks listed, taken from its spare tracks or from its data.
fn listing(file: &LayoutSpec, tracks: &[[u32; 2]], from_spares: bool) -> LayoutSpec {
    let mut file = LayoutSpec { slipped_tracks: tracks.to_vec(), ..file.clone() };
    for zone in file.zone.iter_mut().filter(|_| from_spares) {
        let own =
            tracks.iter().filter(|track| (zone.first_cylinder..=zone.last_cylinder).contains(&track[0]));
        zone.spare_tracks_at_end -= own.count() as u32;
    }
    file
}

#[test]
fn a_list_of_tracks_is_completed_and_corrected() {
    let truth = with_tracks_passed_over();
    let real = &truth.layout.slipped_tracks;
    let bare = without_defects(&truth);
    let wrong = [[60, 2], [700, 3]];
    let some: Vec<[u32; 2]> = real.iter().step_by(2).copied().collect();
    let mixed = [&some[..], &wrong].concat();
    for (listed, from_spares) in [(&mixed[..], true), (&real[..1], true), (&real[..1], false)] {
        let file = listing(&bare, listed, from_spares);
        let (fit, error) = held_out_error(&truth, &file, 17, 6000);
        assert!(fit.coherence.fitted > 0.45 && error < 0.01, "{listed:?}: {error} {:?}", fit.coherence);
        assert_eq!(fit.skipped.len(), real.len(), "{listed:?}: {:?}", fit.skipped);
        let kept: Vec<[u32; 2]> = fit
            .skipped
            .iter()
            .filter(|track| track.listed)
            .map(|track| [track.cylinder, track.head])
            .collect();
        let right: Vec<[u32; 2]> = listed.iter().filter(|track| real.contains(track)).copied().collect();
        assert_eq!(kept, right, "{:?}", fit.skipped);
        let gone: Vec<[u32; 2]> = listed.iter().filter(|track| wrong.contains(track)).copied().collect();
        assert_eq!(fit.not_skipped, gone);
        let applied = fit.apply(&drive(&file));
        assert!(applied.check().is_empty(), "{:?}", applied.check());
        assert_eq!(Layout::new(&applied.layout).capacity(), Layout::new(&truth.layout).capacity());
    }
}

/// Most pairs agree with such lists, and yet all behind a track that is missing, or too many, lies elsewhere.
#[test]
fn a_list_that_is_nearly_right_is_corrected() {
    let truth = Truth { outliers: 0.05, ..with_tracks_passed_over() };
    let real = &truth.layout.slipped_tracks;
    // The file has the drive's skews.
    let mut bare = truth.layout.clone();
    bare.zone.iter_mut().for_each(|zone| zone.spare_tracks_at_end = 35);
    let seen = observations(&truth.observe(&mut Random(23), 6000));
    let fitted = |listed: &[[u32; 2]]| {
        let fit = PhaseFit::new(&seen, &Geometry::new(&listing(&bare, listed, true)), NOMINAL_RPM);
        assert!(fit.coherence.fitted > 0.85, "{listed:?}: {:?}", fit.coherence);
        fit
    };
    // The last but one of a zone, and one that is not there.
    let (missing, invented) = ([1150, 2], [1090, 3]);
    let all_but_one: Vec<[u32; 2]> = real.iter().filter(|&&track| track != missing).copied().collect();
    let fit = fitted(&all_but_one);
    let unlisted: Vec<_> = fit.skipped.iter().filter(|track| !track.listed).collect();
    let [found] = unlisted[..] else { panic!("{:?}", fit.skipped) };
    assert!(found.is_sure && found.cylinder.abs_diff(missing[0]) <= 2, "{found:?}");
    assert!(fit.not_skipped.is_empty(), "{:?}", fit.not_skipped);
    let mut one_more = real.clone();
    one_more.push(invented);
    one_more.sort_unstable();
    let fit = fitted(&one_more);
    assert!(fit.skipped.iter().all(|track| track.listed), "{:?}", fit.skipped);
    assert_eq!((fit.not_skipped, fit.surely_not_skipped), (vec![invented], vec![invented]));
    let right = fitted(real);
    assert!(right.skipped.is_empty() && right.not_skipped.is_empty(), "{:?}", right.skipped);
}

#[test]
fn a_list_that_is_right_stays() {
    let truth = with_tracks_passed_over();
    let seen = observations(&truth.observe(&mut Random(21), 4000));
    let fit = PhaseFit::new(&seen, &Geometry::new(&truth.layout), NOMINAL_RPM);
    assert!(fit.skipped.is_empty() && fit.not_skipped.is_empty(), "{fit:?}");
    assert_eq!(fit.apply(&drive(&truth.layout)).layout.slipped_tracks, truth.layout.slipped_tracks);
}

#[test]
fn no_track_is_passed_over_where_skews_explain_the_angles_or_nothing_does() {
    let mut truth = plain();
    for zone in &mut truth.layout.zone {
        zone.spare_tracks_at_end = 30;
    }
    for outliers in [0.2, 0.7, 1.0] {
        let truth = Truth { outliers, ..truth.clone() };
        let seen = observations(&truth.observe(&mut Random(19), 3000));
        let fit = PhaseFit::new(&seen, &Geometry::new(&truth.file()), NOMINAL_RPM);
        assert!(fit.skipped.is_empty(), "{outliers}: {:?}", fit.skipped);
    }
}

#[test]
fn noise_changes_nothing() {
    let truth = Truth { outliers: 1.0, ..plain() };
    let fit = PhaseFit::new(
        &observations(&truth.observe(&mut Random(11), 4000)),
        &Geometry::new(&truth.file()),
        NOMINAL_RPM,
    );
    assert!(!fit.period_found);
    let spec = drive(&truth.file());
    assert_eq!(fit.apply(&spec), spec);
}

#[test]
fn an_applied_fit_puts_the_sectors_where_they_are() {
    for order in [Order::Classical, Order::SerpentineByZone, Order::SerpentineByCylinder] {
        let mut truth = plain();
        truth.layout.order = order;
        truth.layout.zone[1].first_sector_revolutions = 0.37;
        let spec = drive(&truth.file());
        let seen = truth.observe(&mut Random(13), 5000);
        let fit = PhaseFit::new(&observations(&seen), &Geometry::new(&spec.layout), NOMINAL_RPM);
        let applied = fit.apply(&spec);
        let (ours, theirs) = (Layout::new(&applied.layout), Layout::new(&truth.layout));
        let off = |lba| ours.locate(lba).start.as_turns() - theirs.locate(lba).start.as_turns();
        let common = off(0);
        for lba in (0..ours.capacity()).step_by(997) {
            let error = off(lba) - common;
            assert!((error - error.round()).abs() < 0.02, "{order:?} {lba}: {error}");
        }
        assert_eq!(
            applied.provenance_of("layout.zone.1.first_sector_revolutions").unwrap().kind,
            ProvenanceKind::Fitted
        );
    }
}

#[test]
fn skews_between_ranges_are_found_and_written_even_for_a_zone_seldom_visited() {
    let mut truth = plain();
    truth.layout.zone.push(zone(2100, 60, 150));
    for zone in &mut truth.layout.zone {
        zone.track_skew_sectors = 0.19 * f64::from(zone.sectors_per_track);
        zone.cylinder_skew_sectors = 0.28 * f64::from(zone.sectors_per_track);
        zone.spares = Some(spares());
    }
    truth.ranges = Some((6, vec![0.62, 0.57, 0.57, 0.33]));
    let spec = drive(&truth.file());
    let seen = truth.observe(&mut Random(19), 5000);
    let fit = PhaseFit::new(&observations(&seen), &Geometry::new(&spec.layout), NOMINAL_RPM);
    let (ours, theirs) = (Layout::new(&fit.apply(&spec).layout), Layout::new(&truth.layout));
    let end = |lba| ours.locate(lba).start.as_turns() + 1.0 / f64::from(ours.locate(lba).slots);
    let common = end(0) - truth.end_revolutions(&theirs, 0);
    for lba in (0..ours.capacity()).step_by(499) {
        let error = end(lba) - truth.end_revolutions(&theirs, lba) - common;
        assert!((error - error.round()).abs() < 0.03, "{lba}: {error} {fit:#?}");
    }
}

#[test]
fn a_drive_recorded_surface_by_surface_is_found_too() {
    let mut truth = plain();
    truth.layout = layout(Order::SerpentineBySurface, 4, truth.layout.zone);
    let (fit, error) = held_out_error(&truth, &truth.file(), 17, 6000);
    assert!(error < 0.01, "{error} {fit:#?}");
}

/// The times were blamed: nothing was fitted to such files, whatever they told.
#[test]
fn heads_with_angles_of_their_own_are_locked() {
    let mut truth = plain();
    truth.layout.head_angle_revolutions =
        (0..truth.layout.heads).map(|head| (0.37 * f64::from(head)).fract()).collect();
    let (fit, error) = held_out_error(&truth, &truth.file(), 12, 3000);
    assert!(fit.period_found && fit.zones.len() == truth.layout.zone.len());
    assert!(error < 0.02 * truth.period_ns, "{error} ns");
}
