//! Drives whose zones have skews of two kinds, and one of which the two are alike, as whole sectors may make them.

use headstack_drive::spec::DriveSpec;
use headstack_measure::device::{Noise, SimulatedDevice};
use headstack_measure::extract::extract;
use headstack_measure::record::ProbeName;
use headstack_measure::replay::drive_file;
use headstack_measure::{Options, measure};
use headstack_system::{System, SystemConfig};
use headstack_units::Nanos;
use std::fmt::Write as _;
use std::sync::Arc;

/// A drive with so many heads, and zones of so many cylinders with these sectors and skews.
fn drive(heads: u32, cylinders: usize, zones: &[(u32, f64, f64)]) -> DriveSpec {
    let mut text = format!(
        "name = \"mixed\"\nsector_bytes = 512\nrotation_rpm = 7200\n[layout]\norder = \"classical\"\nheads = {heads}\n",
    );
    for (number, (sectors, track, cylinder)) in zones.iter().enumerate() {
        writeln!(
            text,
            "[[layout.zone]]\nfirst_cylinder = {}\nlast_cylinder = {}\nsectors_per_track = {sectors}\n\
             track_skew_sectors = {track:?}\ncylinder_skew_sectors = {cylinder:?}",
            cylinders * number,
            cylinders * (number + 1) - 1
        )
        .unwrap();
    }
    text += "[seek.three-point]\nsingle_cylinder_ms = 0.9\naverage_ms = 8.0\nfull_stroke_ms = 15.0\n[mechanics]\nhead_switch_ms = 0.8\n\
             [controller]\nread_overhead_ms = 0.6\nwrite_overhead_ms = 0.6\n[buffer]\nsize_kib = 512.0\n[write_policy.write-through]\n\
             [bus]\nkind = \"as it is\"\nread_mb_per_s = 40.0\nwrite_mb_per_s = 40.0\n[provenance]\n";
    for key in [
        "sector_bytes",
        "rotation_rpm",
        "layout",
        "seek",
        "mechanics",
        "controller",
        "buffer",
        "write_policy",
        "bus",
    ] {
        writeln!(text, "\"{key}\" = {{ kind = \"assumed\", source = \"made up\" }}").unwrap();
    }
    DriveSpec::from_toml("mixed", &text).unwrap()
}

/// The zone in which they are alike was saved without a cylinder skew, at any angle, and accesses were 7 to 13 % off.
#[test]
fn a_zone_in_which_both_skews_are_alike_is_rebuilt_as_the_others() {
    for zones in [
        [(72, 9.0, 9.0), (60, 8.0, 11.0), (50, 7.0, 10.0)],
        [(72, 9.0, 12.0), (60, 9.0, 9.0), (50, 7.0, 10.0)],
    ] {
        let system = Arc::new(System::new(SystemConfig::of_drive("mixed", drive(8, 200, &zones))).unwrap());
        let mut device = SimulatedDevice::new("sim:mixed", &system, 1).unwrap().with_noise(Noise::NONE);
        let record = measure(&mut device, &Options::default(), &mut |_| true).unwrap().record;
        let found = extract(&record).unwrap();
        assert_eq!(found.value("heads"), Some(8.0));
        for (zone, (sectors, track, cylinder)) in found.zones.iter().zip(zones) {
            assert_eq!(zone.sectors_per_track, u64::from(sectors));
            let skews =
                [zone.track_skew_sectors, zone.cylinder_skew_sectors].map(|skew| skew.unwrap_or(f64::NAN));
            assert!((skews[0] - track).abs() < 0.01 && (skews[1] - cylinder).abs() < 0.01, "{zone:?}");
        }
        let replay = drive_file(&record, "rebuilt").unwrap().replay.unwrap();
        for score in [replay.reads, replay.writes].into_iter().flatten() {
            assert!(score.per_request_percent.is_some_and(|percent| percent < 1.0), "{score:?}");
        }
        assert!(replay.within_limit);
    }
}

/// Thousands of tracks were followed for a rarer skew: of 8,000 cylinders 18 minutes, where less than a second had been announced.
#[test]
fn the_tracks_of_a_single_head_are_not_followed_one_by_one() {
    let zones = [(72, 9.0, 9.0), (60, 8.0, 8.0)];
    let system = Arc::new(System::new(SystemConfig::of_drive("single", drive(1, 4000, &zones))).unwrap());
    let mut device = SimulatedDevice::new("sim:single", &system, 1).unwrap().with_noise(Noise::NONE);
    let record = measure(&mut device, &Options::default(), &mut |_| true).unwrap().record;
    let taken = record.of(ProbeName::Surfaces);
    let (first, last) = taken.fold((Nanos::MAX, Nanos::ZERO), |(first, last), sample| {
        (first.min(sample.start), last.max(sample.end))
    });
    assert!((last - first).as_s() < 60.0, "{}", (last - first).as_s());
    let found = extract(&record).unwrap();
    assert_eq!((found.value("heads"), found.value("cylinders")), (Some(1.0), Some(8000.0)));
    assert!(drive_file(&record, "rebuilt").unwrap().replay.unwrap().within_limit);
}
