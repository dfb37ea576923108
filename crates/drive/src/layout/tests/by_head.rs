//! Heads with densities and angles of their own: against a walk over the tracks one by one.

use super::{layout, zone};
use crate::layout::Layout;
use crate::spec::{LayoutSpec, Order, ZoneSpec};
use headstack_units::Angle;
use proptest::prelude::*;

/// A track as it must be: cylinder, head, data sectors, slots, and where its first sector begins.
#[derive(Debug, PartialEq)]
struct Expected {
    cylinder: u32,
    head: u32,
    data: u32,
    slots: u32,
    turns: f64,
}

/// The tracks of a layout in the order of addresses, one by one.
fn tracks(spec: &LayoutSpec) -> Vec<Expected> {
    spec.zone.iter().flat_map(|zone| tracks_of_zone(spec, zone)).collect()
}

fn tracks_of_zone(spec: &LayoutSpec, zone: &ZoneSpec) -> Vec<Expected> {
    let nominal = f64::from(zone.sectors_per_track + zone.spare_sectors_per_track);
    let mut turns = zone.first_sector_revolutions;
    let mut before: Option<(u32, u32)> = None;
    let mut all = Vec::new();
    for (cylinder, head) in order_of(spec, zone) {
        if let Some((last, _)) = before {
            let skew = if last == cylinder { zone.track_skew_sectors } else { zone.cylinder_skew_sectors };
            turns += skew / nominal;
        }
        before = Some((cylinder, head));
        let data =
            zone.sectors_per_track_by_head.get(head as usize).copied().unwrap_or(zone.sectors_per_track);
        let own = spec.head_angle_revolutions.get(head as usize).copied().unwrap_or(0.0);
        let slots = data + zone.spare_sectors_per_track;
        all.push(Expected { cylinder, head, data, slots, turns: (turns + own).rem_euclid(1.0) });
    }
    all.truncate(all.len() - zone.spare_tracks_at_end as usize);
    all
}

/// Cylinder and head of every track of a zone, in order.
fn order_of(spec: &LayoutSpec, zone: &ZoneSpec) -> Vec<(u32, u32)> {
    let (first, last) = (zone.first_cylinder, zone.last_cylinder);
    let mut order = Vec::new();
    if spec.order == Order::SerpentineBySurface {
        for low in (first..=last).step_by(spec.group_cylinders.unwrap() as usize) {
            let high = (low + spec.group_cylinders.unwrap() - 1).min(last);
            for head in 0..spec.heads {
                let mut along: Vec<u32> = (low..=high).collect();
                if head % 2 == 1 {
                    along.reverse();
                }
                order.extend(along.into_iter().map(|cylinder| (cylinder, head)));
            }
        }
        return order;
    }
    for cylinder in first..=last {
        let backwards = match spec.order {
            Order::SerpentineByZone => (cylinder - first) % 2 == 1,
            Order::SerpentineByCylinder => cylinder % 2 == 1,
            _ => false,
        };
        let heads: Vec<u32> =
            if backwards { (0..spec.heads).rev().collect() } else { (0..spec.heads).collect() };
        order.extend(heads.into_iter().map(|head| (cylinder, head)));
    }
    order
}

fn near(angle: Angle, turns: f64) -> bool {
    let off = (angle.as_turns() - turns).rem_euclid(1.0);
    off.min(1.0 - off) < 1e-9
}

/// Every address where the walk says, every slot's address the one that was put there, and none besides.
fn holds(spec: &LayoutSpec) -> Result<(), TestCaseError> {
    let layout = Layout::new(spec);
    let mut lba = 0;
    for track in tracks(spec) {
        for slot in 0..track.slots {
            let found = layout.lba_at(track.cylinder, track.head, slot);
            prop_assert_eq!(found, (slot < track.data).then_some(lba), "{:?} slot {}", track, slot);
            if slot >= track.data {
                continue;
            }
            let place = layout.locate(lba);
            prop_assert_eq!((place.cylinder, place.head, place.slot), (track.cylinder, track.head, slot));
            prop_assert_eq!(place.slots, track.slots);
            let turns = (track.turns + f64::from(slot) / f64::from(track.slots)).rem_euclid(1.0);
            prop_assert!(near(place.start, turns), "{:?} of {:?}: {}", place, track, turns);
            lba += 1;
        }
    }
    prop_assert_eq!(layout.capacity(), lba);
    let zones: Vec<_> = layout.zones().collect();
    prop_assert_eq!(zones.len(), spec.zone.len());
    prop_assert_eq!(zones.iter().map(|zone| zone.sectors).sum::<u64>(), lba);
    for (zone, described) in zones.iter().zip(&spec.zone) {
        prop_assert_eq!(zone.first_cylinder, described.first_cylinder);
        let fullest = tracks_of_zone(spec, described).iter().map(|track| track.data).max();
        // A zone whose heads are alike tells its tracks, even those that are spare.
        prop_assert!(fullest == Some(zone.sectors_per_track) || !spec.heads_differ());
    }
    Ok(())
}

prop_compose! {
    fn any_zone(heads: usize)(
        cylinders in 1_u32..9,
        nominal in 6_u32..20,
        by_head in prop::option::of(prop::collection::vec(4_u32..24, heads)),
        spares in 0_u32..3,
        at_end in 0_u32..2,
        skews in (0.0..5.0_f64, 0.0..5.0_f64),
        first in 0.0..1.0_f64,
    ) -> (u32, ZoneSpec) {
        (cylinders, ZoneSpec {
            sectors_per_track_by_head: by_head.unwrap_or_default(),
            spare_sectors_per_track: spares,
            // A spare track that is all of the cylinder's last would move the zone's end.
            spare_tracks_at_end: if heads > 1 { at_end } else { 0 },
            track_skew_sectors: skews.0,
            cylinder_skew_sectors: skews.1,
            first_sector_revolutions: first,
            ..zone(0, 0, nominal)
        })
    }
}

fn any_layout() -> impl Strategy<Value = LayoutSpec> {
    let order = prop_oneof![
        Just(Order::Classical),
        Just(Order::SerpentineByZone),
        Just(Order::SerpentineByCylinder),
        Just(Order::SerpentineBySurface)
    ];
    (order, 1_usize..5, 1_u32..5).prop_flat_map(|(order, heads, group)| {
        let zones = prop::collection::vec(any_zone(heads), 1..4);
        let angles = prop::option::of(prop::collection::vec(0.0..1.0_f64, heads));
        (zones, angles).prop_map(move |(raw, angles)| {
            let mut next = 0;
            let zones = raw
                .into_iter()
                .map(|(cylinders, zone)| {
                    let first_cylinder = next;
                    next += cylinders;
                    ZoneSpec { first_cylinder, last_cylinder: next - 1, ..zone }
                })
                .collect();
            LayoutSpec {
                head_angle_revolutions: angles.unwrap_or_default(),
                group_cylinders: (order == Order::SerpentineBySurface).then_some(group),
                ..layout(order, heads as u32, zones)
            }
        })
    })
}

proptest! {
    #[test]
    fn every_sector_lies_where_a_walk_over_the_tracks_puts_it(spec in any_layout()) {
        holds(&spec)?;
    }

    /// Heads that are named one by one, and are all alike, change nothing.
    #[test]
    fn heads_that_do_not_differ_are_the_zone_itself(spec in any_layout()) {
        let mut alike = LayoutSpec { head_angle_revolutions: vec![], ..spec };
        for zone in &mut alike.zone {
            zone.sectors_per_track_by_head = vec![];
        }
        let mut named = alike.clone();
        for zone in &mut named.zone {
            zone.sectors_per_track_by_head = vec![zone.sectors_per_track; named.heads as usize];
        }
        let (one, other) = (Layout::new(&alike), Layout::new(&named));
        prop_assert_eq!(one.capacity(), other.capacity());
        for lba in 0..one.capacity() {
            let (a, b) = (one.locate(lba), other.locate(lba));
            prop_assert_eq!((a.cylinder, a.head, a.slot, a.slots, a.zone), (b.cylinder, b.head, b.slot, b.slots, b.zone));
            prop_assert!(near(a.start, b.start.as_turns()));
            prop_assert_eq!(one.track_range(lba), other.track_range(lba));
            prop_assert_eq!(one.cylinder_end(lba), other.cylinder_end(lba));
        }
    }
}

#[test]
fn a_denser_head_holds_more_and_turns_no_faster() {
    let dense = ZoneSpec { sectors_per_track_by_head: vec![10, 20], ..zone(0, 3, 15) };
    let built = Layout::new(&layout(Order::SerpentineBySurface, 2, vec![dense]));
    // A group of three cylinders on head 0, three on head 1, and then the fourth cylinder on each.
    assert_eq!(built.capacity(), 4 * 30);
    assert_eq!(built.extent(0, 100).sectors, 10);
    let second = built.extent(30, 100);
    assert_eq!((second.cylinder, second.head, second.sectors), (2, 1, 20));
    assert!(near(second.span(10), 0.5));
}

#[test]
fn heads_that_cannot_be_are_refused() {
    let sound = || {
        let dense = ZoneSpec { sectors_per_track_by_head: vec![10, 20], ..zone(0, 3, 15) };
        layout(Order::SerpentineBySurface, 2, vec![dense])
    };
    let problems = |change: fn(&mut LayoutSpec)| {
        let mut spec = sound();
        change(&mut spec);
        super::runs::problems(&spec)
    };
    assert_eq!(problems(|_| ()), "");
    for (says, problem) in [
        (
            "1 densities, but the drive has 2 heads",
            problems(|spec| spec.zone[0].sectors_per_track_by_head = vec![9]),
        ),
        ("by_head.1`: 0 is not between", problems(|spec| spec.zone[0].sectors_per_track_by_head[1] = 0)),
        ("3 angles, but the drive has 2 heads", problems(|spec| spec.head_angle_revolutions = vec![0.1; 3])),
        (
            "head_angle_revolutions.1`: 1.5 is not",
            problems(|spec| spec.head_angle_revolutions = vec![0.0, 1.5]),
        ),
        ("slipped tracks do not go with", problems(|spec| spec.slipped_tracks = vec![[0, 0]])),
        ("empty_sectors_at_front`: sectors that", problems(|spec| spec.zone[0].empty_sectors_at_front = 3)),
        (
            "make 400000 runs of tracks, more than 300000",
            problems(|spec| {
                spec.order = Order::Classical;
                spec.group_cylinders = None;
                spec.zone[0].last_cylinder = 199_999;
            }),
        ),
    ] {
        assert!(problem.contains(says), "{says}: {problem}");
    }
}
