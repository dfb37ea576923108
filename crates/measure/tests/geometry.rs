//! What is said of tracks, cylinders and surfaces of odd drives: two tracks to a cylinder, short zones, skews that hardly differ,
//! surfaces that hardly differ in density, tracks without skews, writes that a cache on the media takes.

use headstack_drive::spec::{DriveSpec, Order};
use headstack_measure::device::{Noise, SimulatedDevice};
use headstack_measure::extract::{Extraction, Warning, extract};
use headstack_measure::record::ProbeName;
use headstack_measure::replay::drive_file;
use headstack_measure::{Options, measure};
use headstack_system::{System, SystemConfig};
use std::fmt::Write as _;
use std::sync::Arc;

/// A drive that is like others but for its tracks.
struct Odd<'a> {
    order: &'a str,
    heads: u32,
    /// Cylinders, sectors on a track, skews of track and cylinder.
    zones: &'a [(u32, u32, f64, f64)],
    /// Sectors on the tracks of each head, in all zones.
    by_head: &'a [u32],
    head_switch_ms: f64,
    write_policy: &'a str,
    /// Cylinders in a group, along surfaces.
    group: Option<u32>,
}

const ODD: Odd<'_> = Odd {
    order: "classical",
    heads: 4,
    zones: &[],
    by_head: &[],
    head_switch_ms: 0.8,
    write_policy: "[write_policy.write-through]",
    group: None,
};

impl Odd<'_> {
    fn spec(&self) -> DriveSpec {
        let mut text = format!(
            "name = \"odd\"\nsector_bytes = 512\nrotation_rpm = 7200\n[layout]\norder = \"{}\"\nheads = {}\n",
            self.order, self.heads
        );
        if let Some(group) = self.group {
            writeln!(text, "group_cylinders = {group}").unwrap();
        }
        let mut first = 0;
        for (cylinders, sectors, track, cylinder) in self.zones {
            writeln!(
                text,
                "[[layout.zone]]\nfirst_cylinder = {first}\nlast_cylinder = {}\nsectors_per_track = {sectors}\n\
                 track_skew_sectors = {track:?}\ncylinder_skew_sectors = {cylinder:?}",
                first + cylinders - 1
            )
            .unwrap();
            if !self.by_head.is_empty() {
                writeln!(text, "sectors_per_track_by_head = {:?}", self.by_head).unwrap();
            }
            first += cylinders;
        }
        write!(
            text,
            "[seek.two-piece]\nboundary_cylinders = 400\nshort_ms = [0.8, 0.1]\nlong_ms = [2.0, 0.002]\n[mechanics]\n\
             head_switch_ms = {:?}\n[controller]\nread_overhead_ms = 0.3\nwrite_overhead_ms = 0.3\n[buffer]\nsize_kib = 512.0\n\
             {}\n[bus]\nkind = \"as it is\"\nread_mb_per_s = 40.0\nwrite_mb_per_s = 40.0\n[provenance]\n",
            self.head_switch_ms, self.write_policy
        )
        .unwrap();
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
        DriveSpec::from_toml("odd", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn found(&self, probes: &[&str]) -> (Extraction, Result<String, String>) {
        found(self.spec(), probes)
    }
}

/// What some probes, and those they need, or all show of a drive, and the drive file that is made of it.
fn found(spec: DriveSpec, probes: &[&str]) -> (Extraction, Result<String, String>) {
    let system = Arc::new(System::new(SystemConfig::of_drive("odd", spec)).unwrap());
    let mut device = SimulatedDevice::new("sim:odd", &system, 1).unwrap().with_noise(Noise::NONE);
    let probes = probes.iter().map(|&probe| probe.to_owned()).collect();
    let options = Options { probes, ..Options::default() };
    let record = measure(&mut device, &options, &mut |_| true).unwrap().record;
    let file = drive_file(&record, "rebuilt").map(|file| file.toml).map_err(|error| error.to_string());
    (extract(&record).unwrap(), file)
}

/// Skews of track and cylinder in each zone, rounded to a tenth of a sector.
fn skews(found: &Extraction) -> Vec<(f64, f64)> {
    let tenth = |skew: Option<f64>| skew.map_or(f64::NAN, |skew| (10.0 * skew).round() / 10.0);
    found
        .zones
        .iter()
        .map(|zone| (tenth(zone.track_skew_sectors), tenth(zone.cylinder_skew_sectors)))
        .collect()
}

fn kinds(found: &Extraction) -> Vec<&'static str> {
    found.warnings.iter().map(Warning::kind).collect()
}

/// Neither skew is rarer than the other, and the larger one was taken for the cylinder's: both were told the wrong way around, to
/// within a thousandth of a sector, and the two switches with them.
#[test]
fn of_two_tracks_to_a_cylinder_the_first_change_is_that_of_the_head() {
    for order in ["classical", "serpentine-by-cylinder"] {
        let zones = [(90, 150, 34.0, 23.0), (90, 140, 32.0, 22.0), (91, 120, 27.0, 19.0)];
        let odd = Odd { order, heads: 2, zones: &zones, head_switch_ms: 1.4, ..ODD };
        let (found, _) = odd.found(&["angles", "switches"]);
        assert_eq!(skews(&found), [(34.0, 23.0), (32.0, 22.0), (27.0, 19.0)], "{order}");
        assert_eq!(found.value("cylinders"), Some(271.0), "{order}");
        let (head, cylinder) =
            (found.value("head_switch_ms").unwrap(), found.value("cylinder_switch_ms").unwrap());
        assert!((head - 1.4).abs() < 0.01, "{order}: {head}");
        assert!(cylinder < head + 0.01 && (order == "classical" || cylinder < 1.0), "{order}: {cylinder}");
        assert!(kinds(&found).is_empty(), "{order}: {:?}", kinds(&found));
    }
}

/// Its first track is left out, so that the device begins with the second of a cylinder: then times over many tracks tell.
#[test]
fn where_the_device_begins_within_a_cylinder_times_tell_its_skews() {
    let mut spec = Odd { heads: 2, zones: &[(200, 150, 20.0, 26.0)], ..ODD }.spec();
    spec.layout.slipped_tracks = vec![[0, 0]];
    let (found, _) = found(spec, &["angles"]);
    assert_eq!(skews(&found), [(20.0, 26.0)]);
    assert!(kinds(&found).is_empty(), "{:?}", kinds(&found));
}

/// What was followed beyond a short zone is of the next one, whose skews it was said to have.
#[test]
fn a_short_zone_has_its_own_skews() {
    let zones = [(40, 160, 20.0, 34.0), (3, 150, 18.0, 31.0), (60, 130, 12.0, 23.0), (2, 120, 10.0, 21.0)];
    let (found, _) = Odd { zones: &zones, heads: 6, ..ODD }.found(&["angles", "switches"]);
    assert_eq!(skews(&found), [(20.0, 34.0), (18.0, 31.0), (12.0, 23.0), (10.0, 21.0)]);
    for zone in &found.zones {
        assert!(zone.sectors_per_revolution >= zone.sectors_per_track as f64, "{zone:?}");
    }
}

/// A sector of 700 is little of a turn, but angles are known much better: the two skews were told as one, their mean.
#[test]
fn skews_that_differ_by_a_sector_are_two() {
    let zones = [(60, 700, 60.0, 67.0), (60, 650, 55.0, 56.0), (60, 600, 52.0, 55.0)];
    let (found, _) = Odd { zones: &zones, heads: 3, ..ODD }.found(&["angles", "switches"]);
    assert_eq!(skews(&found), [(60.0, 67.0), (55.0, 56.0), (52.0, 55.0)]);
}

/// Physical sectors of eight: from the middle of a track, which is none's beginning, the search for the end of a zone did not go on, and
/// every other cylinder was taken for the last before one without data.
#[test]
fn cylinders_of_large_physical_sectors_are_counted() {
    let mut spec = Odd { zones: &[(170, 152, 24.0, 40.0), (90, 136, 24.0, 40.0)], ..ODD }.spec();
    spec.physical_sector_bytes = Some(4096);
    spec.provenance.insert("physical_sector_bytes".to_owned(), spec.provenance["sector_bytes"].clone());
    let (found, _) = found(spec, &["angles"]);
    assert_eq!(found.value("cylinders"), Some(260.0));
    assert_eq!(found.pieces.len(), 2, "{:?}", found.pieces);
}

/// Skews are all alike, and the first tracks lie along a surface: each was said to be a cylinder of its own, on one surface. Over more and
/// more tracks times show where these turn back; but not which track lies beside the one before, where heads change as slowly.
#[test]
fn surfaces_with_equal_skews_show_where_tracks_turn_back() {
    for (head_switch_ms, heads) in [(0.6, Some(3.0)), (0.9, None)] {
        let odd = Odd {
            order: "serpentine-by-surface",
            heads: 3,
            zones: &[(192, 160, 30.0, 30.0), (128, 150, 28.0, 28.0)],
            head_switch_ms,
            group: Some(64),
            ..ODD
        };
        let (found, _) = odd.found(&["angles"]);
        assert_eq!(found.value("heads"), heads, "{:?}", kinds(&found));
        if heads.is_some() {
            assert_eq!(found.value("cylinders"), Some(320.0));
            assert_eq!(skews(&found), [(30.0, 30.0), (28.0, 28.0)]);
        } else {
            assert!(kinds(&found).contains(&"surfaces-not-counted"));
        }
    }
}

/// Heads back and forth, one of which has a sector more on its tracks: a head and as many sectors on all tracks were stated.
#[test]
fn surfaces_that_differ_by_a_sector_differ() {
    let zones = [(200, 344, 44.0, 46.0), (100, 330, 42.0, 44.0)];
    for order in ["serpentine-by-zone", "classical"] {
        let odd = Odd { order, heads: 2, zones: &zones, by_head: &[344, 345], ..ODD };
        let (found, file) = odd.found(&["angles"]);
        assert!(kinds(&found).contains(&"density-per-head"), "{order}: {:?}", kinds(&found));
        assert!(found.value("heads").is_none_or(|heads| heads == 2.0), "{order}");
        assert!(found.value("sectors_per_track").is_none() && file.is_err(), "{order}");
    }
}

/// Where a zone begins at another angle, less than a revolution is lost: nothing was told of any zone.
#[test]
fn zones_without_skews_may_begin_anywhere() {
    let zones = [(150, 200, 0.0, 0.0), (100, 180, 0.0, 0.0)];
    let odd = Odd { order: "serpentine-by-cylinder", heads: 5, zones: &zones, head_switch_ms: 0.5, ..ODD };
    let mut spec = odd.spec();
    spec.layout.zone[1].first_sector_revolutions = 0.3;
    let (found, file) = found(spec, &[]);
    assert_eq!(found.value("heads"), Some(5.0));
    assert_eq!(found.value("cylinders"), Some(250.0));
    assert!(file.is_ok(), "{file:?}");
}

/// A sector is slipped, so that not all tracks begin at one angle. No drive file was made, of which a warning said what stands in
/// it; and the error asked for all probes, which had all run.
#[test]
fn where_no_drive_file_can_be_made_none_is_promised() {
    let mut spec = Odd { zones: &[(250, 200, 0.0, 0.0)], ..ODD }.spec();
    spec.layout.slipped_sectors = vec![100_003];
    let (found, file) = found(spec, &[]);
    let told: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
    assert!(!told.iter().any(|told| told.contains("in a drive file")), "{told:?}");
    let error = file.unwrap_err();
    assert!(told.contains(&error), "{error}: {told:?}");
}

/// Writes that a cache on the media takes come wherever the head is: the device was said not to rotate, though its reads show it.
#[test]
fn where_writes_show_no_rotation_reads_do() {
    let policy = "[write_policy.media-cache]\nsize_kib = 256.0\nplaces = 4\ncleaned_at_a_time = 4\nidle_before_cleaning_ms = 50.0\n\
                  runs_compared = 3";
    let odd = Odd { zones: &[(150, 200, 24.0, 35.0)], write_policy: policy, ..ODD };
    let (found, file) = odd.found(&[]);
    assert_eq!(found.rotating, Some(true));
    let rpm = found.value("rotation_rpm").unwrap();
    assert!((rpm - 7200.0).abs() < 0.01, "{rpm}");
    assert_eq!(skews(&found), [(24.0, 35.0)]);
    assert!(kinds(&found).contains(&"only-reads"), "{:?}", kinds(&found));
    assert!(found.value("mtm_ms").is_none());
    assert!(file.is_ok(), "{file:?}");
}

/// Where the head stays from one cylinder to the next, a change of head is longer than a short seek: half of the short seeks were taken with
/// a change of head that is no part of them.
#[test]
fn where_the_head_stays_seeks_are_free_of_its_change() {
    for (order, heads) in
        [("serpentine-by-zone", 2), ("serpentine-by-cylinder", 2), ("serpentine-by-zone", 4)]
    {
        let zones = &[(600, 200, 40.0, 24.0), (601, 180, 36.0, 21.0)];
        let (found, _) = Odd { order, heads, zones, head_switch_ms: 1.4, ..ODD }.found(&["seek-curve"]);
        assert_eq!(found.order, Some(Order::SerpentineByZone), "{order} {heads}");
        assert_eq!(skews(&found), [(40.0, 24.0), (36.0, 21.0)], "{order} {heads}");
        // At rest a sector is sent while the disk turns to it, which a seek does not leave time for.
        let sent_ms = 0.5 / 40.0;
        for point in found.seek.write.iter().filter(|point| point.cylinders < 400) {
            let true_ms = 0.8 + 0.1 * (point.cylinders as f64).sqrt() - sent_ms;
            assert!((point.ms - true_ms).abs() < 0.002, "{order} {heads}: {point:?}, {true_ms} ms");
        }
    }
}

/// A drum, a floppy disk: a third of the turn of one at 1,000 rpm was told, and called exact.
#[test]
fn slow_spindles_are_told_by_their_whole_turn() {
    for rpm in [200.0, 300.0, 360.0, 600.0, 1000.0, 1250.0, 1490.0, 1510.0] {
        let mut spec = Odd { zones: &[(300, 60, 8.0, 11.0)], ..ODD }.spec();
        spec.rotation_rpm = rpm;
        let (found, _) = found(spec, &["rotation"]);
        let seen = found.value("rotation_rpm").unwrap_or(f64::NAN);
        assert!((seen - rpm).abs() < 0.01, "{seen} rpm, {rpm} are true");
    }
}

/// What a drive file can do without is left out where the time runs short on the way; the rest is measured all the same.
#[test]
fn what_there_is_no_time_for_is_left_out() {
    let spec = Odd { zones: &[(150, 100, 14.0, 20.0)], ..ODD }.spec();
    let system = Arc::new(System::new(SystemConfig::of_drive("odd", spec)).unwrap());
    let mut device = SimulatedDevice::new("sim:odd", &system, 1).unwrap().with_noise(Noise::NONE);
    let options = Options { within_s: Some(60.0), ..Options::default() };
    let done = measure(&mut device, &options, &mut |_| true).unwrap();
    assert!(done.left_out.contains(&ProbeName::Seeker) && done.left_out.contains(&ProbeName::Zoned));
    assert!(done.record.has_finished(ProbeName::Random) && done.record.has_finished(ProbeName::SeekCurve));
    assert!(done.took_s > 60.0 && drive_file(&done.record, "rebuilt").is_ok(), "{} s", done.took_s);
    // All that was asked for is not left out, whatever it is expected to take.
    let alone = Options { probes: vec!["scan".to_owned()], within_s: Some(1e-3), ..Options::default() };
    let done = measure(&mut device, &alone, &mut |_| true).unwrap();
    assert!(done.left_out.is_empty() && done.record.has_finished(ProbeName::Scan));
}

/// One surface through noise: the least error of the speed had moved the tracks at the start, and thousands were followed.
#[test]
fn even_tracks_are_told_through_noise() {
    let zones: Vec<(u32, u32, f64, f64)> =
        (0..12).map(|zone| (800, 668 - 12 * zone, 125.0, 209.0 - 3.0 * f64::from(zone))).collect();
    let mut spec = Odd { heads: 1, zones: &zones, ..ODD }.spec();
    spec.rotation_rpm = 15_000.0;
    let system = Arc::new(System::new(SystemConfig::of_drive("odd", spec)).unwrap());
    let noise = Noise { relative: 0.005, outlier_share: 0.01, outlier_ms: 20.0 };
    let mut device = SimulatedDevice::new("sim:odd", &system, 1).unwrap().with_noise(noise);
    let options = Options { probes: vec!["zones".to_owned(), "surfaces".to_owned()], ..Options::default() };
    let record = measure(&mut device, &options, &mut |_| true).unwrap().record;
    let looked = record.of(ProbeName::Surfaces).count();
    assert!(looked < 20_000, "{looked} accesses");
}
