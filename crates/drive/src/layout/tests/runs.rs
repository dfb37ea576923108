//! Layouts in runs, by hand, and what they cost.

use super::super::{Layout, Place};
use super::{layout, track_run, zone};
use crate::spec::{LayoutSpec, Order, RemapSpec, TrackRunSpec, ZoneSpec};
use headstack_units::Angle;

fn in_runs(heads: u32, run: Vec<TrackRunSpec>) -> LayoutSpec {
    LayoutSpec { run, ..layout(Order::Classical, heads, vec![]) }
}

fn at(layout: &Layout, lba: u64) -> (u32, u32, u32) {
    let place = layout.locate(lba);
    (place.cylinder, place.head, place.slot)
}

/// In along one surface, back along the other, which has fewer sectors; a spare track beyond.
fn there_and_back() -> LayoutSpec {
    let back = TrackRunSpec { step: -1, first_sector_revolutions: 0.25, ..track_run(1, 12, 3, 8) };
    let spare = TrackRunSpec { data_sectors: Some(0), ..track_run(0, 13, 1, 16) };
    let there = TrackRunSpec { skew_sectors: 5.0, ..track_run(0, 10, 3, 10) };
    in_runs(2, vec![there, spare, back])
}

#[test]
fn addresses_go_along_one_surface_and_back_along_the_next() {
    let layout = Layout::new(&there_and_back());
    assert_eq!((layout.capacity(), layout.cylinders()), (54, 14));
    assert_eq!((at(&layout, 0), at(&layout, 29)), ((10, 0, 0), (12, 0, 9)));
    assert_eq!((at(&layout, 30), at(&layout, 38), at(&layout, 53)), ((12, 1, 0), (11, 1, 0), (10, 1, 7)));
    assert_eq!((layout.lba_at(11, 1, 3), layout.lba_at(13, 0, 0)), (Some(41), None));
    // Half a turn from track to track; the run back begins at its own angle and has no skew.
    assert_eq!((layout.locate(10).start, layout.locate(20).start), (Angle::fraction(1, 2), Angle::ZERO));
    assert_eq!(
        (layout.locate(30).start, layout.locate(46).start),
        (Angle::fraction(1, 4), Angle::fraction(1, 4))
    );
    // The turn at cylinder 12 is one cylinder, though it is two runs.
    assert_eq!((layout.cylinder_end(12), layout.cylinder_end(25), layout.cylinder_end(31)), (20, 38, 38));
    let zones: Vec<_> =
        layout.zones().map(|zone| (zone.first_lba, zone.sectors, zone.last_cylinder)).collect();
    assert_eq!(zones, [(0, 30, 12), (30, 24, 12)]);
}

#[test]
fn a_track_may_hold_data_in_its_middle_only() {
    let middle = TrackRunSpec { first_sector: 3, data_sectors: Some(4), ..track_run(0, 0, 2, 16) };
    let layout = Layout::new(&in_runs(1, vec![middle]));
    assert_eq!((layout.capacity(), at(&layout, 0), at(&layout, 4)), (8, (0, 0, 3), (1, 0, 3)));
    assert_eq!(layout.extent(1, 100).sectors, 3);
    assert_eq!(layout.extent(1, 100).start, Angle::fraction(4, 16));
    assert_eq!(
        (layout.lba_at(0, 0, 2), layout.lba_at(0, 0, 6), layout.lba_at(0, 0, 7)),
        (None, Some(3), None)
    );
    assert_eq!(layout.track_range(5), (4, 8));
}

#[test]
fn slips_and_remaps_are_as_in_zones() {
    let mut spec = there_and_back();
    spec.slipped_sectors = vec![2, 3];
    spec.remap = vec![RemapSpec { lba: 5, cylinder: 13, head: 0, sector: 15 }];
    let layout = Layout::new(&spec);
    assert_eq!((layout.capacity(), at(&layout, 2), at(&layout, 8)), (52, (10, 0, 4), (11, 0, 0)));
    assert_eq!((at(&layout, 5), layout.lba_at(13, 0, 15)), ((13, 0, 15), Some(5)));
    assert_eq!(layout.locate(5).start, Angle::fraction(15, 16));
    assert_eq!((layout.extent(0, 100).sectors, layout.extent(2, 100).sectors), (2, 3));
}

#[test]
fn a_zone_spelt_out_in_runs_is_that_zone() {
    let only = ZoneSpec { track_skew_sectors: 3.0, cylinder_skew_sectors: 7.5, ..zone(5, 24, 12) };
    // Groups of three cylinders; the last one is of two.
    let zones = layout(Order::SerpentineBySurface, 3, vec![only]);
    let by_zone = Layout::new(&zones);
    let mut runs = Vec::new();
    for group in (5..25_u32).step_by(3) {
        let cylinders = 3.min(25 - group);
        for head in 0..3 {
            let back = head == 1;
            let first_cylinder = if back { group + cylinders - 1 } else { group };
            let lba = by_zone.lba_at(first_cylinder, head, 0).unwrap();
            runs.push(TrackRunSpec {
                step: if back { -1 } else { 1 },
                skew_sectors: 7.5,
                first_sector_revolutions: by_zone.locate(lba).start.as_turns(),
                ..track_run(head, first_cylinder, cylinders, 12)
            });
        }
    }
    let by_run = Layout::new(&in_runs(3, runs));
    assert_eq!(by_run.capacity(), by_zone.capacity());
    assert!(by_run.zones().eq(by_zone.zones()));
    for lba in 0..by_zone.capacity() {
        let (zone, run) = (by_zone.locate(lba), by_run.locate(lba));
        let apart = (zone.start - run.start).0.min((run.start - zone.start).0);
        assert!(apart < 1 << 12, "sector {lba}: {zone:?} {run:?}");
        assert_eq!(Place { start: zone.start, ..run }, zone);
        assert_eq!(by_run.track_range(lba), by_zone.track_range(lba));
        assert_eq!(by_run.cylinder_end(lba), by_zone.cylinder_end(lba));
    }
}

/// What the checks say to a layout of runs.
pub(super) fn problems(spec: &LayoutSpec) -> String {
    let drive = include_str!("../../../../../drives/hp-97560.toml");
    let mut drive = crate::spec::DriveSpec::from_toml("hp", drive).unwrap();
    drive.layout = spec.clone();
    let problems: Vec<String> = drive.check().iter().map(ToString::to_string).collect();
    problems.into_iter().filter(|problem| !problem.contains("provenance")).collect::<Vec<_>>().join("\n")
}

#[test]
fn runs_that_cannot_be_are_refused() {
    assert_eq!(problems(&there_and_back()), "");
    let changed = |change: fn(&mut LayoutSpec)| {
        let mut spec = there_and_back();
        change(&mut spec);
        problems(&spec)
    };
    for (says, problem) in [
        ("layout.run.2.head`: there is no head 2", changed(|spec| spec.run[2].head = 2)),
        ("layout.run.0.step`: 2 is neither 1 nor -1", changed(|spec| spec.run[0].step = 2)),
        ("layout.run.0.cylinders`: a run has at least one", changed(|spec| spec.run[0].cylinders = 0)),
        ("14 cylinders from cylinder 12 on back", changed(|spec| spec.run[2].cylinders = 14)),
        (
            "`layout.run.1`: shares track 12/0 (cylinder/head) with run 0",
            changed(|spec| spec.run[1].first_cylinder = 12),
        ),
        ("first_sector`: 8, but the track has 8", changed(|spec| spec.run[2].first_sector = 8)),
        (
            "data_sectors`: 8 from sector 1 on",
            changed(|spec| {
                spec.run[2].first_sector = 1;
                spec.run[2].data_sectors = Some(8);
            }),
        ),
        ("skew of 10 sectors", changed(|spec| spec.run[0].skew_sectors = 10.0)),
        ("first_sector_revolutions`: -1 is not", changed(|spec| spec.run[0].first_sector_revolutions = -1.0)),
        ("not both", changed(|spec| spec.zone = vec![zone(0, 1, 5)])),
        ("layout.order`: does not go with", changed(|spec| spec.order = Order::SerpentineByZone)),
        ("layout.slipped_tracks`: does not go with", changed(|spec| spec.slipped_tracks = vec![[10, 0]])),
        (
            "`layout.cylinders`: 13 cylinders, but the runs go up to cylinder 13",
            changed(|spec| spec.cylinders = Some(13)),
        ),
        ("layout.capacity_sectors", changed(|spec| spec.capacity_sectors = Some(55))),
        (
            "leads to no sector",
            changed(|spec| spec.remap = vec![RemapSpec { lba: 0, cylinder: 13, head: 1, sector: 0 }]),
        ),
        ("leave no sector", changed(|spec| spec.run.retain(|run| run.data_sectors == Some(0)))),
        ("at least one [[layout.zone]]", changed(|spec| spec.run.clear())),
    ] {
        assert!(problem.contains(says), "`{says}` is not in\n{problem}");
    }
}

/// Groups of ten cylinders on eight surfaces: a million tracks in 100,000 runs.
#[test]
fn a_million_tracks_in_runs_load_and_are_found() {
    let runs = (0..12_500_u32).flat_map(|group| {
        (0..8).map(move |head| {
            let outwards = head % 2 == 1;
            let first_cylinder = group * 10 + if outwards { 9 } else { 0 };
            let step = if outwards { -1 } else { 1 };
            TrackRunSpec { step, ..track_run(head, first_cylinder, 10, 600 - group / 100) }
        })
    });
    let spec = in_runs(8, runs.collect());
    assert_eq!(problems(&spec), "");
    let layout = Layout::new(&spec);
    assert_eq!((layout.spans.len(), layout.zones().count()), (100_000, 125));
    for lba in (0..layout.capacity()).step_by(1_000_003) {
        let place = layout.locate(lba);
        assert_eq!(layout.lba_at(place.cylinder, place.head, place.slot), Some(lba));
    }
}
