//! The fit on recorded traces, with crude observations: the first half fits, the second half is predicted. Skipped
//! where the traces are not at hand.

mod common;

use common::disksim::{Row, data, model, reads, rows, writes};
use headstack_drive::spec::{DriveSpec, LayoutSpec, ZoneSpec};
use headstack_phase::gap::{Gap, decide};
use headstack_phase::{Geometry, Observation, PhaseFit, Tracker, TrackerOptions};
use std::path::Path;

/// One trace, and what is expected of it. Expectations are those of the fit itself, loosened: they tell when the fit
/// gets worse, not how good it ought to be.
struct Case {
    name: &'static str,
    model: &'static str,
    /// The bus's time for a sector, where reads are looked at; otherwise writes are.
    bus_ms: Option<f64>,
    gap: Gap,
    /// By how many parts in a million the period is longer than the nominal one.
    period_ppm: f64,
    /// Least coherence of the pairs.
    coherence: f64,
    /// Longest median error of the predictions, in ms.
    median_ms: f64,
    /// Least share of predictions within 1 ms.
    within_1_ms: f64,
}

const fn late(
    name: &'static str,
    model: &'static str,
    period_ppm: f64,
    coherence: f64,
    median_ms: f64,
    within_1_ms: f64,
) -> Case {
    let (bus_ms, gap) = (Some(0.1024), Gap::Before);
    Case { name, model, bus_ms, gap, period_ppm, coherence, median_ms, within_1_ms }
}

const CASES: [Case; 5] = [
    late("barracuda", "barracuda.model", -4073.0, 0.88, 0.12, 0.94),
    late("cheetah9LP", "cheetah9LP.model", -217.6, 0.97, 0.04, 0.98),
    late("atlas_III", "atlas_III.model", 79.7, 0.93, 0.04, 0.96),
    late("atlas10k", "atlas10k.model", 2534.4, 0.96, 0.03, 0.98),
    Case {
        name: "dec_rz26",
        model: "dec_rz26_validate.model",
        bus_ms: None,
        gap: Gap::After,
        period_ppm: -15.0,
        coherence: 0.80,
        median_ms: 0.09,
        within_1_ms: 0.86,
    },
];

impl Case {
    fn load(&self, data: &Path) -> (Vec<Row>, LayoutSpec, f64) {
        let rows = rows(&data.join("validate").join(format!("{}.trace", self.name)));
        let (layout, rpm) = model(&data.join("drives").join(self.model));
        (rows, layout, rpm)
    }

    fn observations(&self, rows: &[Row], gap_before: bool) -> Vec<Observation> {
        match self.bus_ms {
            Some(bus_ms) => reads(rows, gap_before, bus_ms),
            None => writes(rows, gap_before),
        }
    }
}

/// Errors of the predictions in ms, ascending, each made from earlier observations alone.
fn tracked(fit: &PhaseFit, geometry: &Geometry, seen: &[Observation]) -> Vec<f64> {
    let mut tracker = Tracker::new(TrackerOptions::default());
    let mut errors = Vec::new();
    for seen in seen {
        let (Some(site), Some(turns)) = (geometry.site(seen.lba), fit.end_revolutions(geometry, seen.lba))
        else {
            continue;
        };
        let zone = site.zone as u32;
        let error = seen.at.0 as f64 / fit.period_ns - turns;
        let miss = error - tracker.predict(seen.at, zone);
        errors.push((miss - miss.round()).abs() * fit.period_ns / 1e6);
        tracker.observe(seen.at, zone, error);
    }
    errors.sort_by(f64::total_cmp);
    errors
}

#[test]
fn the_second_half_of_a_recorded_trace_is_predicted_from_the_first() {
    let Some(data) = data() else { return };
    for case in CASES {
        let (rows, layout, rpm) = case.load(&data);
        let geometry = Geometry::new(&layout);
        let seen = case.observations(&rows, case.gap == Gap::Before);
        let (first, second) = seen.split_at(seen.len() / 2);
        let fit = PhaseFit::new(first, &geometry, rpm);
        let ppm = (rpm / fit.rpm - 1.0) * 1e6;
        assert!((ppm - case.period_ppm).abs() < 12.0, "{}: {ppm} ppm", case.name);
        assert!(fit.coherence.fitted > case.coherence, "{}: {:?}", case.name, fit.coherence);
        let errors = tracked(&fit, &geometry, second);
        let median = errors[errors.len() / 2];
        let within = errors.partition_point(|&error| error < 1.0) as f64 / errors.len() as f64;
        assert!(median < case.median_ms, "{}: median {median} ms", case.name);
        assert!(within > case.within_1_ms, "{}: {within} within 1 ms", case.name);
    }
}

/// Writes of a recorded trace, whose gaps come after, and the drive of the library.
fn library(data: &Path, name: &str) -> (Vec<Observation>, DriveSpec) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../drives/{name}.toml"));
    let spec = DriveSpec::from_toml(name, &std::fs::read_to_string(file).unwrap()).unwrap();
    let trace = data.join(format!("validate/{}.trace", name.replace('-', "_")));
    (writes(&rows(&trace), false), spec)
}

#[test]
fn a_list_that_comes_with_a_drive_and_explains_its_trace_stays() {
    let Some(data) = data() else { return };
    let (seen, spec) = library(&data, "hp-c2247a");
    let fit = PhaseFit::new(&seen[..seen.len() / 2], &Geometry::new(&spec.layout), spec.rotation_rpm);
    assert!(fit.coherence.fitted > 0.8, "{:?}", fit.coherence);
    assert_eq!(fit.apply(&spec).layout.slipped_tracks, spec.layout.slipped_tracks);
}

#[test]
fn a_list_of_skipped_tracks_that_is_not_complete_is_completed() {
    let Some(data) = data() else { return };
    let (seen, spec) = library(&data, "hp-c3323a");
    let (first, second) = seen.split_at(seen.len() / 2);
    let (bare, rpm) = (spec.layout, spec.rotation_rpm);
    // Without a list, with the first of the tracks it passes over, and with four of them.
    for listed in [vec![], vec![[343, 4]], vec![[343, 4], [538, 1], [629, 1], [671, 0]]] {
        let geometry = Geometry::new(&LayoutSpec { slipped_tracks: listed.clone(), ..bare.clone() });
        let fit = PhaseFit::new(first, &geometry, rpm);
        assert!(fit.coherence.fitted > 0.95, "{listed:?}: {:?}", fit.coherence);
        let is_listed =
            |track: &[u32; 2]| fit.skipped.iter().any(|of| of.listed && [of.cylinder, of.head] == *track);
        assert!(listed.iter().all(is_listed) && fit.not_skipped.is_empty(), "{listed:?}: {:?}", fit.skipped);
        let errors = tracked(&fit, &geometry, second);
        let within = errors.partition_point(|&error| error < 1.0) as f64 / errors.len() as f64;
        assert!(within > 0.92, "{listed:?}: {within} within 1 ms");
    }
}

#[test]
fn a_list_of_skipped_tracks_that_is_nearly_right_is_corrected() {
    let Some(data) = data() else { return };
    let (seen, spec) = library(&data, "hp-c3323a");
    let first = &seen[..seen.len() / 2];
    let found = PhaseFit::new(first, &Geometry::new(&spec.layout), spec.rotation_rpm);
    let right = found.apply(&spec).layout;
    let (missing, invented) = ([343, 4], [[100, 3], [800, 2], [1500, 5]]);
    let mut listed = right.slipped_tracks.clone();
    listed.retain(|track| *track != missing);
    listed.extend(invented);
    listed.sort_unstable();
    let mut layout = LayoutSpec { slipped_tracks: listed, ..right.clone() };
    let changes = invented.iter().map(|track| (track, -1)).chain([(&missing, 1)]);
    for (track, spares) in changes {
        let own = |zone: &&mut ZoneSpec| (zone.first_cylinder..=zone.last_cylinder).contains(&track[0]);
        let zone = layout.zone.iter_mut().find(own).unwrap();
        zone.spare_tracks_at_end = zone.spare_tracks_at_end.checked_add_signed(spares).unwrap();
    }
    let fit = PhaseFit::new(first, &Geometry::new(&layout), spec.rotation_rpm);
    assert!(fit.coherence.fitted > 0.95, "{:?}", fit.coherence);
    assert_eq!((&fit.not_skipped[..], &fit.surely_not_skipped[..]), (&invented[..], &invented[..]));
    let unlisted: Vec<_> = fit.skipped.iter().filter(|track| !track.listed).collect();
    let [found] = unlisted[..] else { panic!("{unlisted:?}") };
    assert!(found.is_sure && found.cylinder.abs_diff(missing[0]) <= 3, "{found:?}");
}

#[test]
fn recorded_traces_say_which_way_their_gaps_go() {
    let Some(data) = data() else { return };
    let old = Case { name: "hp_c2247a", model: "hp_c2247a_validate.model", ..CASES[4] };
    for case in CASES.into_iter().chain([old]) {
        let (rows, layout, rpm) = case.load(&data);
        let geometry = Geometry::new(&layout);
        let (after, before) = (case.observations(&rows, false), case.observations(&rows, true));
        let verdict = decide(&after, &before, &geometry, rpm);
        assert_eq!(verdict.gap, case.gap, "{}: {verdict:?}", case.name);
    }
}
