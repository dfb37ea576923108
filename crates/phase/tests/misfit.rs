//! Geometry that a file has wrong: where its angles get out of step, and what mends it.

mod common;

use common::disksim::{data, reads, rows, writes};
use common::synthetic::{Random, Truth};
use headstack_drive::layout::Layout;
use headstack_drive::spec::DriveSpec;
use headstack_phase::{Alteration, Geometry, Misfit, Observation, PhaseFit};
use std::path::Path;

/// A drive of the library.
fn library(name: &str) -> DriveSpec {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../drives/{name}.toml"));
    DriveSpec::from_toml(name, &std::fs::read_to_string(file).unwrap()).unwrap()
}

/// What is seen of a drive on its addresses below `end`, to 30 µs and one in seven wrong.
fn observe(real: &DriveSpec, end: u64, count: u64) -> Vec<Observation> {
    let truth = Truth {
        layout: real.layout.clone(),
        ranges: None,
        period_ns: 60e9 / real.rotation_rpm,
        breaks: Vec::new(),
        noise_ns: 30_000.0,
        outliers: 0.15,
    };
    let seen = truth.observe(&mut Random(7), count);
    seen.into_iter().map(|(seen, _)| seen).filter(|seen| seen.lba < end).collect()
}

/// The outer four zones of the HP C3323A, which keep spare tracks.
fn drive() -> DriveSpec {
    let mut spec = library("hp-c3323a");
    spec.layout.zone.truncate(4);
    spec
}

/// What the angles of `real` say of a file.
fn misfit(file: &DriveSpec, real: &DriveSpec) -> Misfit {
    let layout = |spec: &DriveSpec| Layout::new(&spec.layout);
    let seen = observe(real, layout(file).capacity(), 2000);
    let fit = PhaseFit::new(&seen, &Geometry::new(&file.layout), file.rotation_rpm);
    Misfit::new(file, &seen, &fit)
}

/// The first address of a zone.
fn first_lba(spec: &DriveSpec, zone: usize) -> u64 {
    Layout::new(&spec.layout).zones().nth(zone).unwrap().first_lba
}

/// A file that has `change` wrong, and a right file of a drive that is so: what brings it back is named, and from where on.
fn is_named(change: Alteration, from_lba: u64) {
    let (plain, changed) = (drive(), change.apply(&drive()).unwrap());
    for (file, real) in [(&plain, &changed), (&changed, &plain)] {
        let found = misfit(file, real);
        let [mend] = &found.mends[..] else { panic!("{change:?}: {found:?}") };
        // In either direction the values of the one are those instead of the other's.
        for (path, here, instead) in &mend.changes {
            let (of, to) =
                change.changes(&plain).into_iter().find(|of| of.0 == *path).map(|of| (of.1, of.2)).unwrap();
            assert!([(of, to), (to, of)].contains(&(*here, *instead)), "{change:?}: {mend:?}");
        }
        assert_eq!(mend.changes.len(), change.changes(&plain).len());
        assert!(mend.from_lba.abs_diff(from_lba) <= 120, "{change:?}: {mend:?}, not from {from_lba}");
        assert!(mend.coherence.1 > 0.65 && mend.coherence.1 > mend.coherence.0 + 0.03, "{mend:?}");
    }
}

#[test]
fn a_zone_that_ends_elsewhere_is_named() {
    is_named(Alteration::Boundary { zone: 1, by: 5 }, first_lba(&drive(), 2));
}

#[test]
fn a_zone_with_a_sector_more_on_each_track_is_named() {
    is_named(Alteration::SectorsPerTrack { zone: 2, by: 1 }, first_lba(&drive(), 2));
}

#[test]
fn a_head_more_is_named() {
    // The first cylinder holds as much as before on the heads that there are.
    is_named(Alteration::Heads { by: 1 }, 0);
}

#[test]
fn nothing_is_said_against_a_right_file() {
    let right = drive();
    let found = misfit(&right, &right);
    assert_eq!(found, Misfit::default());
}

/// Skews that are wrong are no geometry: a fit mends them.
#[test]
fn nothing_is_said_against_the_geometry_of_a_file_whose_skews_are_wrong_in_one_zone() {
    let real = drive();
    let mut file = real.clone();
    file.layout.zone[2].track_skew_sectors += 3.0;
    file.layout.zone[1].cylinder_skew_sectors += 3.0;
    assert_eq!(misfit(&file, &real), Misfit::default());
}

/// The measured drives: which file, which trace, and the bus's time for a sector where reads are looked at.
const MEASURED: [(&str, &str, Option<f64>); 8] = [
    ("hp-c2247a", "hp_c2247a", None),
    ("dec-rz26", "dec_rz26", None),
    ("hp-c3323a-fitted", "hp_c3323a", None),
    ("seagate-st32171w", "barracuda", Some(0.1024)),
    ("cheetah-4lp", "cheetah4LP", Some(0.1024)),
    ("cheetah-9lp", "cheetah9LP", Some(0.1024)),
    ("atlas-iii", "atlas_III", Some(0.1024)),
    ("atlas-10k", "atlas10k", Some(0.1024)),
];

/// Skews that are altogether wrong, requests that a cache answered, and a zone seldom visited are no reason.
#[test]
fn nothing_is_said_against_the_geometry_of_measured_drives() {
    let Some(data) = data() else { return };
    for (name, trace, bus_ms) in MEASURED {
        let spec = library(name);
        let rows = rows(&data.join(format!("validate/{trace}.trace")));
        let seen = bus_ms.map_or_else(|| writes(&rows, false), |bus_ms| reads(&rows, true, bus_ms));
        let seen = &seen[..seen.len() / 2];
        let fit = PhaseFit::new(seen, &Geometry::new(&spec.layout), spec.rotation_rpm);
        assert_eq!(Misfit::new(&spec, seen, &fit), Misfit::default(), "{name}");
    }
}
