//! Known drives, orders by hand, and the extremes.

use super::super::{Layout, Place};
use super::{layout, zone};
use crate::spec::{DriveSpec, LayoutSpec, Order, RegionSpec, RemapSpec, SpareGroup, SparesSpec, ZoneSpec};
use headstack_units::Angle;

/// Turns of 4,002 rpm in ms.
const ROTATION_4002_MS: f64 = 60_000.0 / 4002.0;

/// HP 97560 (Ruemmler & Wilkes 1994, Table 2).
fn hp_97560() -> LayoutSpec {
    let only = ZoneSpec { track_skew_sectors: 8.0, cylinder_skew_sectors: 18.0, ..zone(0, 1961, 72) };
    let region = |(first_cylinder, first_head), (last_cylinder, last_head)| RegionSpec {
        first_cylinder,
        first_head,
        last_cylinder,
        last_head,
    };
    let mut spec = layout(Order::Classical, 19, vec![only]);
    spec.region = vec![region((1, 4), (646, 3)), region((654, 0), (1298, 18)), region((1308, 0), (1952, 18))];
    spec
}

/// `angle` is this many slots of a track, to within `error` of 2^-64 turns (one for each rounding to 64 bits).
fn assert_slots(angle: Angle, numerator: u64, slots: u64, error: u64) {
    let exact = Angle::fraction(numerator, slots);
    let off = (angle - exact).0.min((exact - angle).0);
    assert!(off <= error, "{angle:?} is not {numerator}/{slots} of a turn: {off} too much or too little");
}

fn track(place: Place) -> (u32, u32, u32) {
    (place.cylinder, place.head, place.slot)
}

/// The tracks of a layout with one sector per track, in the order of addresses.
fn visits(spec: &LayoutSpec) -> Vec<(u32, u32)> {
    let layout = Layout::new(spec);
    (0..layout.capacity()).map(|lba| layout.locate(lba)).map(|place| (place.cylinder, place.head)).collect()
}

#[test]
fn the_hp_97560_has_the_published_regions() {
    let layout = Layout::new(&hp_97560());
    assert_eq!(layout.capacity(), 2_647_080);
    assert_eq!(layout.cylinders(), 1962);
    let region = 12_255 * 72;
    assert_eq!(track(layout.locate(0)), (1, 4, 0));
    assert_eq!(track(layout.locate(region - 1)), (646, 3, 71));
    assert_eq!(track(layout.locate(region)), (654, 0, 0));
    assert_eq!(track(layout.locate(2 * region - 1)), (1298, 18, 71));
    assert_eq!(track(layout.locate(2 * region)), (1308, 0, 0));
    assert_eq!(track(layout.locate(2_647_079)), (1952, 18, 71));
    for (cylinder, head) in
        [(0, 0), (1, 3), (646, 4), (653, 18), (1299, 0), (1307, 18), (1953, 0), (1961, 18)]
    {
        assert_eq!(layout.lba_at(cylinder, head, 0), None, "{cylinder}/{head} is a spare");
    }
    for lba in 0..layout.capacity() {
        let place = layout.locate(lba);
        assert_eq!(layout.lba_at(place.cylinder, place.head, place.slot), Some(lba));
    }
}

#[test]
fn the_hp_97560_s_skews_take_1_67_and_3_75_ms() {
    let layout = Layout::new(&hp_97560());
    let start = |lba: u64| layout.locate(lba).start;
    // From 1/4 to 1/5; from 1/18 to 2/0, after 15 tracks of cylinder 1.
    let head = start(72) - start(0);
    let cylinder = start(15 * 72) - start(14 * 72);
    assert_slots(head, 8, 72, 1);
    assert_slots(cylinder, 18, 72, 1);
    assert!((head.as_turns() * ROTATION_4002_MS - 1.666).abs() < 5e-4);
    assert!((cylinder.as_turns() * ROTATION_4002_MS - 3.748).abs() < 5e-4);
    // What follows the last sector of a track waits for the skew, and nothing else (less than 72 · 2^-64 turns).
    let last = layout.extent(71, 1);
    assert!((start(72) - last.slot_start(1) - head).0 < 72);
    // Cylinder 1 holds heads 4 to 18.
    assert_eq!(layout.cylinder_end(0), 15 * 72);
    assert_eq!(layout.track_range(100), (72, 144));
}

#[test]
fn the_hp_c2200a_s_spare_sector_turns_but_holds_nothing() {
    let only = ZoneSpec {
        spare_sectors_per_track: 1,
        track_skew_sectors: 34.0,
        cylinder_skew_sectors: 43.0,
        ..zone(0, 1448, 113)
    };
    let layout = Layout::new(&layout(Order::Classical, 8, vec![only]));
    assert_eq!(layout.capacity() * 256, 335_333_376);
    let place = layout.locate(112);
    assert_eq!((place.slot, place.slots), (112, 114));
    assert_eq!(layout.lba_at(0, 0, 113), None);
    let next = layout.locate(113);
    assert_slots(next.start - layout.locate(0).start, 34, 114, 1);
    // From the end of slot 112 to sector 113: the spare slot and the skew.
    assert_slots(next.start - layout.extent(112, 1).slot_start(1), 35, 114, 114);
    assert_slots(layout.locate(8 * 113).start, 7 * 34 + 43, 114, 8);
}

#[test]
fn each_order_visits_tracks_as_its_name_says() {
    let visits = |order| visits(&layout(order, 2, vec![zone(1, 3, 1), zone(4, 5, 1)]));
    assert_eq!(
        visits(Order::Classical),
        [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1), (5, 0), (5, 1)]
    );
    assert_eq!(
        visits(Order::SerpentineByZone),
        [(1, 0), (1, 1), (2, 1), (2, 0), (3, 0), (3, 1), (4, 0), (4, 1), (5, 1), (5, 0)]
    );
    assert_eq!(
        visits(Order::SerpentineByCylinder),
        [(1, 1), (1, 0), (2, 0), (2, 1), (3, 1), (3, 0), (4, 0), (4, 1), (5, 1), (5, 0)]
    );
    assert_eq!(
        visits(Order::SerpentineBySurface),
        [(1, 0), (2, 0), (3, 0), (3, 1), (2, 1), (1, 1), (4, 0), (5, 0), (5, 1), (4, 1)]
    );
}

#[test]
fn the_arm_never_turns_back_in_an_order_by_cylinders() {
    for order in [Order::Classical, Order::SerpentineByZone, Order::SerpentineByCylinder] {
        let visits = visits(&layout(order, 5, vec![zone(0, 40, 1), zone(43, 90, 1)]));
        assert!(visits.is_sorted_by_key(|&(cylinder, _)| cylinder), "{order:?}");
    }
}

#[test]
fn by_surface_the_arm_moves_by_one_cylinder_or_the_head_switches() {
    let visits = visits(&layout(Order::SerpentineBySurface, 3, vec![zone(0, 10, 1)]));
    for (at, pair) in visits.windows(2).enumerate() {
        let moved = pair[0].0.abs_diff(pair[1].0);
        let group_ends = pair[0].0 / 3 != pair[1].0 / 3;
        let head_changes = pair[0].1 != pair[1].1;
        assert!(group_ends || moved + u32::from(head_changes) == 1, "after track {at}: {pair:?}");
    }
    assert_eq!(visits.len(), 33);
}

#[test]
fn surfaces_turn_by_the_skew_of_what_changed() {
    let only = ZoneSpec { track_skew_sectors: 2.0, cylinder_skew_sectors: 5.0, ..zone(0, 5, 64) };
    let layout = Layout::new(&layout(Order::SerpentineBySurface, 2, vec![only]));
    let start = |track: u64| layout.locate(track * 64).start;
    let skews: Vec<Angle> = (1..12).map(|track| start(track) - start(track - 1)).collect();
    let (surface, cylinder) = (Angle::fraction(2, 64), Angle::fraction(5, 64));
    let group = [cylinder, cylinder, surface, cylinder, cylinder];
    assert_eq!(skews, [&group[..], &[cylinder], &group[..]].concat());
}

#[test]
fn skews_run_on_over_spare_and_slipped_tracks() {
    let only = ZoneSpec { track_skew_sectors: 3.0, spare_tracks_per_cylinder: 1, ..zone(0, 3, 16) };
    let mut spec = layout(Order::Classical, 4, vec![only]);
    spec.slipped_tracks = vec![[0, 1]];
    let layout = Layout::new(&spec);
    // 0/0, then 0/2, two tracks on; then 1/0, over the spare 0/3, which the cylinder skew of 0 keeps in place.
    assert_eq!(track(layout.locate(16)), (0, 2, 0));
    assert_eq!(layout.locate(16).start, Angle::fraction(6, 16));
    assert_eq!(track(layout.locate(32)), (1, 0, 0));
    assert_eq!(layout.locate(32).start, Angle::fraction(9, 16));
}

#[test]
fn a_zone_begins_at_its_own_angle_and_forgets_the_skews_before() {
    let first = ZoneSpec { track_skew_sectors: 1.5, ..zone(0, 9, 10) };
    let second = ZoneSpec { first_sector_revolutions: 0.25, ..zone(10, 11, 8) };
    let layout = Layout::new(&layout(Order::Classical, 3, vec![first, second]));
    assert_eq!(layout.locate(300).start, Angle::fraction(1, 4));
    assert_eq!(layout.locate(300).zone, 1);
}

#[test]
fn a_slip_moves_all_that_follows_by_one_slot() {
    let mut spec = layout(Order::Classical, 2, vec![zone(0, 4, 10)]);
    spec.slipped_sectors = vec![3, 4, 19];
    let layout = Layout::new(&spec);
    assert_eq!(layout.capacity(), 97);
    assert_eq!(track(layout.locate(2)), (0, 0, 2));
    assert_eq!(track(layout.locate(3)), (0, 0, 5));
    assert_eq!(layout.extent(0, 100).sectors, 3);
    assert_eq!(layout.extent(3, 100).sectors, 5);
    assert_eq!(layout.track_range(5), (0, 8));
    assert_eq!((layout.lba_at(0, 0, 3), layout.lba_at(0, 1, 9)), (None, None));
    assert_eq!(track(layout.locate(17)), (1, 0, 0));
}

/// Two heads, ten sectors on a track, the last (or first) `sectors` of every cylinder spare.
fn spares_per_cylinder(sectors: u32, at_front: bool, slipped_slots: Vec<u64>) -> Layout {
    let spares = SparesSpec {
        per: SpareGroup::Cylinders,
        cylinders: None,
        sectors,
        at_front,
        slipped_slots,
        range_skew_sectors: 0.0,
    };
    Layout::new(&layout(Order::Classical, 2, vec![ZoneSpec { spares: Some(spares), ..zone(0, 4, 10) }]))
}

#[test]
fn a_slip_uses_up_a_spare_of_its_cylinder_and_moves_no_other_cylinder() {
    let layout = spares_per_cylinder(3, false, vec![23, 38]);
    assert_eq!(layout.capacity(), 5 * 17);
    // Cylinder 0 has no slips: its last three slots are spares.
    assert_eq!((track(layout.locate(16)), layout.lba_at(0, 1, 7)), ((0, 1, 6), None));
    assert_eq!(track(layout.locate(17)), (1, 0, 0));
    // Cylinder 1 slips its slot 3; slot 18 is a defect among the spares that are left.
    assert_eq!((track(layout.locate(19)), track(layout.locate(20))), ((1, 0, 2), (1, 0, 4)));
    assert_eq!((layout.extent(17, 99).sectors, layout.extent(20, 99).sectors), (3, 6));
    assert_eq!((track(layout.locate(33)), layout.lba_at(1, 1, 8)), ((1, 1, 7), None));
    assert_eq!(track(layout.locate(34)), (2, 0, 0));
    assert_eq!((layout.track_range(26), layout.cylinder_end(17)), ((26, 34), 34));
}

#[test]
fn spares_at_the_front_are_used_up_from_their_end() {
    let layout = spares_per_cylinder(3, true, vec![25]);
    assert_eq!(track(layout.locate(0)), (0, 0, 3));
    // In cylinder 1 the sectors before the slipped slot 5 move to the front by one.
    assert_eq!((track(layout.locate(17)), layout.lba_at(1, 0, 1)), ((1, 0, 2), None));
    assert_eq!((track(layout.locate(19)), track(layout.locate(20))), ((1, 0, 4), (1, 0, 6)));
    assert_eq!(track(layout.locate(33)), (1, 1, 9));
}

#[test]
fn what_a_drive_does_not_announce_is_not_there() {
    let mut spec = layout(Order::Classical, 2, vec![zone(0, 4, 10)]);
    spec.zone[0].empty_sectors_at_front = 25;
    spec.capacity_sectors = Some(60);
    let layout = Layout::new(&spec);
    assert_eq!((layout.capacity(), track(layout.locate(0))), (60, (1, 0, 5)));
    assert_eq!(
        (layout.lba_at(1, 0, 4), layout.lba_at(4, 0, 4), layout.lba_at(4, 0, 5)),
        (None, Some(59), None)
    );
    assert_eq!((layout.track_range(59), layout.cylinder_end(59)), ((55, 60), 60));
    assert_eq!(layout.zones().map(|zone| zone.sectors).sum::<u64>(), 60);
}

#[test]
fn a_remapped_sector_is_a_run_of_its_own() {
    let spared = ZoneSpec { spare_sectors_per_track: 2, ..zone(0, 4, 10) };
    let mut spec = layout(Order::Classical, 2, vec![spared]);
    spec.remap = vec![RemapSpec { lba: 4, cylinder: 3, head: 1, sector: 11 }];
    let layout = Layout::new(&spec);
    assert_eq!(layout.capacity(), 100);
    assert_eq!(layout.extent(0, 100).sectors, 4);
    let moved = layout.extent(4, 100);
    assert_eq!((moved.cylinder, moved.head, moved.sectors), (3, 1, 1));
    assert_eq!(moved.start, Angle(Angle::fraction(1, 12).0 * 11));
    assert_eq!(layout.extent(5, 100).sectors, 5);
    assert_eq!((layout.lba_at(0, 0, 4), layout.lba_at(3, 1, 11)), (None, Some(4)));
    // Reading ahead goes on where the sector would have been.
    assert_eq!((layout.track_range(4), layout.cylinder_end(4)), ((0, 10), 20));
}

#[test]
fn a_whole_turn_does_not_collapse_to_nothing() {
    let layout = Layout::new(&layout(Order::Classical, 1, vec![zone(0, 1, 64), zone(2, 3, 1)]));
    let track = layout.extent(0, 1000);
    assert_eq!(track.sectors, 64);
    assert_eq!(track.span(64), Angle(u64::MAX));
    assert_eq!(track.span(63), Angle::fraction(63, 64));
    assert_eq!(track.span(0), Angle::ZERO);
    assert_eq!(track.slot_start(64), Angle::ZERO);
    assert_eq!(layout.extent(128, 1000).span(1), Angle(u64::MAX));
}

#[test]
fn a_hundred_billion_skews_add_up_to_less_than_a_tick() {
    // A tick of 15,000 rpm.
    let tick = u64::MAX / 4_000_000;
    for (cylinders, heads, sectors, track_skew, cylinder_skew) in
        [(600_000_u64, 18_u64, 549_u64, 37_u64, 41_u64), (100_000_000, 1024, 999_983, 999_979, 77_777)]
    {
        let only = ZoneSpec {
            track_skew_sectors: track_skew as f64,
            cylinder_skew_sectors: cylinder_skew as f64,
            ..zone(0, cylinders as u32 - 1, sectors as u32)
        };
        let layout = Layout::new(&layout(Order::Classical, heads as u32, vec![only]));
        let place = layout.locate(layout.capacity() - sectors);
        let changes = (cylinders * (heads - 1), cylinders - 1);
        let skew = u128::from(changes.0) * u128::from(track_skew)
            + u128::from(changes.1) * u128::from(cylinder_skew);
        let exact = Angle::fraction((skew % u128::from(sectors)) as u64, sectors);
        let error = (place.start - exact).0.min((exact - place.start).0);
        assert!(error < tick, "{error} of 2^-64 turns after {changes:?} changes");
    }
}

#[test]
fn a_drive_of_ten_million_tracks_needs_no_more_room_than_its_zones_and_defects() {
    let zones: Vec<ZoneSpec> = (0..40).map(|z| zone(z * 15_000, z * 15_000 + 14_999, 550 - 6 * z)).collect();
    for order in
        [Order::Classical, Order::SerpentineByZone, Order::SerpentineByCylinder, Order::SerpentineBySurface]
    {
        let mut spec = layout(order, 18, zones.clone());
        spec.slipped_tracks = (0..5000).map(|i| [i * 120, i % 18]).collect();
        let layout = Layout::new(&spec);
        assert!(layout.spans.len() <= 5040, "{order:?}: {} spans", layout.spans.len());
        for lba in (0..layout.capacity()).step_by(1_000_003) {
            let place = layout.locate(lba);
            assert_eq!(layout.lba_at(place.cylinder, place.head, place.slot), Some(lba));
            let (first, end) = layout.track_range(lba);
            assert_eq!(layout.locate(first).slot, 0);
            assert_eq!(layout.locate(end - 1).slot, layout.extent(first, u64::MAX).sectors - 1);
        }
    }
}

#[test]
fn every_drive_of_the_library_leads_there_and_back() {
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
    let mut drives = 0;
    for entry in std::fs::read_dir(library).expect("the library is in the repository") {
        let path = entry.expect("readable").path();
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("readable");
        let spec: DriveSpec = toml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let layout = Layout::new(&spec.layout);
        let step = (layout.capacity() / 10_007).max(1);
        for lba in (0..layout.capacity()).step_by(step as usize).chain([layout.capacity() - 1]) {
            let place = layout.locate(lba);
            assert!(place.cylinder < layout.cylinders() && place.head < layout.heads(), "{name}: {place:?}");
            assert_eq!(layout.lba_at(place.cylinder, place.head, place.slot), Some(lba), "{name}");
        }
        drives += 1;
    }
    assert!(drives > 0);
}
