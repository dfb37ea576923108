//! Random layouts of every order, with spares, slips, regions and remaps, against the naive twin.

use super::super::pieces::Pieces;
use super::super::{Extent, Layout};
use super::any_runs::any_runs;
use super::twin::Twin;
use super::zone;
use crate::spec::{LayoutSpec, Order, RegionSpec, RemapSpec, SpareGroup, SparesSpec, ZoneSpec};
use headstack_units::Angle;
use proptest::prelude::*;
use proptest::sample::Index;

/// Gap before the zone, cylinders, sectors, spares of three kinds (as fractions), skews, first angle.
type RawZone = ((u32, u32, u32, u32), (f64, f64), (f64, f64), f64);

fn raw_zone() -> impl Strategy<Value = RawZone> {
    let skew = prop_oneof![Just(0.0), 0.0..1.0_f64, (0_u32..8).prop_map(|eighths| f64::from(eighths) / 8.0)];
    let spare = || prop_oneof![2 => Just(0.0), 1 => 0.0..1.0_f64];
    (
        (prop_oneof![3 => Just(0_u32), 1 => 1_u32..3], 1_u32..9, 1_u32..10, 0_u32..3),
        (spare(), spare()),
        (skew.clone(), skew),
        0.0..1.0_f64,
    )
}

fn build_zones(heads: u32, raw: &[RawZone]) -> Vec<ZoneSpec> {
    let mut first = 0;
    raw.iter()
        .map(|&((gap, cylinders, sectors, spares), (per_cylinder, at_end), (track, cylinder), turns)| {
            let slots = f64::from(sectors + spares);
            let per_cylinder = (per_cylinder * f64::from(heads)) as u32;
            let tracks = cylinders * (heads - per_cylinder);
            let zone = ZoneSpec {
                spare_sectors_per_track: spares,
                spare_tracks_per_cylinder: per_cylinder,
                spare_tracks_at_end: (at_end * f64::from(tracks)) as u32,
                // Some whole, some not.
                track_skew_sectors: track * slots,
                cylinder_skew_sectors: (cylinder * slots).floor(),
                first_sector_revolutions: turns,
                ..zone(first + gap, first + gap + cylinders - 1, sectors)
            };
            first += gap + cylinders;
            zone
        })
        .collect()
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        2 => Just(Order::Classical),
        1 => Just(Order::SerpentineByZone),
        1 => Just(Order::SerpentineByCylinder),
        2 => Just(Order::SerpentineBySurface),
    ]
}

/// Regions between pairs of ascending track numbers.
fn regions(cuts: &[Index], heads: u32, cylinders: u32) -> Vec<RegionSpec> {
    let mut cuts: Vec<u32> = cuts.iter().map(|cut| cut.index((heads * cylinders) as usize) as u32).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.chunks_exact(2)
        .map(|pair| RegionSpec {
            first_cylinder: pair[0] / heads,
            first_head: pair[0] % heads,
            last_cylinder: pair[1] / heads,
            last_head: pair[1] % heads,
        })
        .collect()
}

prop_compose! {
    fn any_layout()(
        order in order(),
        heads in 1_u32..6,
        group in 1_u32..5,
        beyond in prop::option::of(0_u32..4),
        raw in prop::collection::vec(raw_zone(), 1..4),
        slips in prop_oneof![Just(vec![]), prop::collection::vec(any::<Index>(), 1..12)],
        slipped_tracks in prop_oneof![Just(vec![]), prop::collection::vec(any::<(Index, Index)>(), 1..4)],
        cuts in prop_oneof![Just(vec![]), prop::collection::vec(any::<Index>(), 1..7)],
        spares in prop::collection::vec(raw_spares(), 3),
        capacity in prop_oneof![Just(1.0), 0.0..1.0_f64],
        remaps in prop_oneof![Just(vec![]), prop::collection::vec(any::<(Index, Index)>(), 1..6)],
    ) -> LayoutSpec {
        let zones = build_zones(heads, &raw);
        let cylinders = zones.last().map_or(0, |zone| zone.last_cylinder + 1);
        let sectors: u32 =
            zones.iter().map(|z| (z.last_cylinder - z.first_cylinder + 1) * heads * z.sectors_per_track).sum();
        let mut slipped_sectors: Vec<u64> =
            slips.iter().map(|slip| slip.index(sectors as usize) as u64).collect();
        slipped_sectors.sort_unstable();
        slipped_sectors.dedup();
        let mut spec = LayoutSpec {
            head_angle_revolutions: Vec::new(),
            order,
            heads,
            group_cylinders: (order == Order::SerpentineBySurface).then_some(group),
            cylinders: beyond.map(|beyond| cylinders + beyond),
            capacity_sectors: None,
            run: Vec::new(),
            region: if order == Order::Classical { regions(&cuts, heads, cylinders) } else { vec![] },
            slipped_sectors,
            slipped_tracks: slipped_tracks
                .iter()
                .map(|(cylinder, head)| [cylinder.index(cylinders as usize) as u32, head.index(heads as usize) as u32])
                .collect(),
            remap: vec![],
            zone: zones,
        };
        for (number, raw) in spares.iter().enumerate().take(spec.zone.len()) {
            add_spares(&mut spec, number, raw);
        }
        if capacity < 1.0 {
            spec.capacity_sectors = Some((capacity * Twin::new(&spec).homes.len() as f64) as u64);
        }
        add_remaps(&mut spec, &remaps);
        spec
    }
}

/// Whom the spares are for, cylinders in a range, how many (as a fraction), where, wishes for slips; sectors kept at the
/// front (as a fraction).
type RawSpares = (Option<(SpareGroup, u32, f64, bool, Vec<Index>)>, f64);

fn raw_spares() -> impl Strategy<Value = RawSpares> {
    let per = prop_oneof![Just(SpareGroup::Track), Just(SpareGroup::Cylinders), Just(SpareGroup::Zone)];
    let slips = prop_oneof![Just(vec![]), prop::collection::vec(any::<Index>(), 1..12)];
    let front = prop_oneof![2 => Just(0.0), 1 => 0.0..1.0_f64];
    (prop::option::of((per, 1_u32..4, 0.0..1.0_f64, any::<bool>(), slips)), front)
}

/// Spares of a zone as wished, as far as the groups allow.
fn add_spares(spec: &mut LayoutSpec, number: usize, (wish, front): &RawSpares) {
    let slots = |spec: &LayoutSpec| {
        let twin = Twin::new(spec);
        let tracks = twin.tracks.iter().filter(|track| track.zone == number && track.data);
        tracks.map(|track| track.cylinder).collect::<Vec<u32>>()
    };
    let of_cylinders =
        spec.region.is_empty() && spec.slipped_tracks.is_empty() && spec.order != Order::SerpentineBySurface;
    if let Some((per, cylinders, share, at_front, wishes)) = wish
        && (of_cylinders || *per != SpareGroup::Cylinders)
    {
        let (tracks, sectors) = (slots(spec), spec.zone[number].sectors_per_track as usize);
        let first = spec.zone[number].first_cylinder;
        let group = |slot: usize| match per {
            SpareGroup::Track => slot / sectors,
            SpareGroup::Cylinders => ((tracks[slot / sectors] - first) / cylinders) as usize,
            SpareGroup::Zone => 0,
        };
        let length = tracks.len() * sectors;
        let count = |wanted: usize| (0..length).filter(|&slot| group(slot) == wanted).count();
        let smallest = (0..length).map(|slot| count(group(slot))).min().unwrap_or(0);
        let spares = (share * smallest as f64) as u32;
        if spares > 0 {
            let mut slipped: Vec<usize> = wishes.iter().map(|wish| wish.index(length)).collect();
            slipped.sort_unstable();
            slipped.dedup();
            let kept = slipped.clone();
            slipped.retain(|&slot| {
                let before =
                    kept.iter().filter(|&&other| other < slot && group(other) == group(slot)).count();
                before < spares as usize
            });
            spec.zone[number].spares = Some(SparesSpec {
                per: *per,
                cylinders: (*per == SpareGroup::Cylinders).then_some(*cylinders),
                sectors: spares,
                at_front: *at_front,
                slipped_slots: slipped.into_iter().map(|slot| slot as u64).collect(),
                range_skew_sectors: if *per == SpareGroup::Cylinders { 0.7 * share } else { 0.0 },
            });
        }
    }
    let twin = Twin::new(spec);
    let held = twin.homes.iter().filter(|(track, _)| twin.tracks[*track].zone == number).count();
    spec.zone[number].empty_sectors_at_front = (front * held as f64) as u64;
}

/// Remaps of different sectors to different slots that hold nothing.
pub(super) fn add_remaps(spec: &mut LayoutSpec, wishes: &[(Index, Index)]) {
    let twin = Twin::new(spec);
    let mut free: Vec<(u32, u32, u32)> = Vec::new();
    for track in &twin.tracks {
        free.extend((0..track.slots).filter_map(|slot| {
            let at = (track.cylinder, track.head, slot);
            (!twin.residents.contains_key(&at)).then_some(at)
        }));
    }
    let mut taken = Vec::new();
    for (from, to) in wishes {
        if free.is_empty() || twin.homes.is_empty() {
            return;
        }
        let lba = from.index(twin.homes.len()) as u64;
        let (cylinder, head, sector) = free.swap_remove(to.index(free.len()));
        if !taken.contains(&lba) {
            taken.push(lba);
            spec.remap.push(RemapSpec { lba, cylinder, head, sector });
        }
    }
}

/// The way from `a` to `b` and back, whichever is shorter, in turns.
fn apart(a: Angle, b: f64) -> f64 {
    let ahead = (a.as_turns() - b).rem_euclid(1.0);
    ahead.min(1.0 - ahead)
}

/// Zones or runs.
fn any_spec() -> impl Strategy<Value = LayoutSpec> {
    prop_oneof![2 => any_layout(), 1 => any_runs()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_sector_lies_where_the_walk_over_all_tracks_finds_it(spec in any_spec()) {
        let (layout, twin) = (Layout::new(&spec), Twin::new(&spec));
        prop_assert_eq!(layout.capacity(), twin.homes.len() as u64);
        for (lba, &at) in (0_u64..).zip(&twin.places) {
            let place = layout.locate(lba);
            let track = twin.track_at(at);
            let slots = track.slots;
            prop_assert_eq!((place.cylinder, place.head, place.slot), at, "sector {}", lba);
            prop_assert_eq!((place.zone as usize, place.slots), (track.zone, slots));
            let turns = track.turns + f64::from(at.2) / f64::from(slots);
            prop_assert!(apart(place.start, turns) < 1e-12, "sector {lba}: {place:?}, {turns}");
        }
    }

    #[test]
    fn every_slot_leads_back_to_its_sector_and_to_no_other(spec in any_spec()) {
        let (layout, twin) = (Layout::new(&spec), Twin::new(&spec));
        let most = twin.tracks.iter().map(|track| track.slots).max().unwrap_or(0);
        for cylinder in 0..layout.cylinders() + 2 {
            for head in 0..spec.heads + 2 {
                for slot in 0..most + 2 {
                    let at = (cylinder, head, slot);
                    prop_assert_eq!(
                        layout.lba_at(cylinder, head, slot), twin.residents.get(&at).copied(), "{:?}", at
                    );
                }
            }
        }
    }

    #[test]
    fn runs_tracks_and_cylinders_end_where_the_walk_says(spec in any_spec(), limit in 1_u64..20) {
        let (layout, twin) = (Layout::new(&spec), Twin::new(&spec));
        for lba in 0..layout.capacity() {
            let place = layout.locate(lba);
            let run = twin.run(lba);
            let whole = layout.extent(lba, u64::MAX);
            prop_assert_eq!(whole.sectors, run, "sector {}", lba);
            let expected = Extent {
                cylinder: place.cylinder,
                head: place.head,
                lba,
                sectors: run.min(limit as u32),
                start: place.start,
                slot_width: whole.slot_width,
                zone: place.zone,
            };
            prop_assert_eq!(layout.extent(lba, limit), expected);
            for i in 0..run {
                prop_assert_eq!(whole.slot_start(i), layout.locate(lba + u64::from(i)).start);
            }
            prop_assert_eq!(layout.track_range(lba), twin.track_range(lba), "sector {}", lba);
            prop_assert_eq!(layout.cylinder_end(lba), twin.cylinder_end(lba), "sector {}", lba);
        }
    }

    /// Layouts with too many pieces are searched.
    #[test]
    fn pieces_and_searches_agree(spec in any_spec(), other in any::<Index>()) {
        let layout = Layout::new(&spec);
        let searched = Layout { pieces: Pieces::default(), ..layout.clone() };
        for lba in 0..layout.capacity() {
            prop_assert!(layout.pieces.find(lba).is_some());
            prop_assert_eq!(layout.locate(lba), searched.locate(lba));
            prop_assert_eq!(layout.extent(lba, u64::MAX), searched.extent(lba, u64::MAX));
            prop_assert_eq!(layout.track_range(lba), searched.track_range(lba));
            prop_assert_eq!(layout.cylinder_end(lba), searched.cylinder_end(lba));
            let other = other.index(layout.capacity() as usize) as u64;
            let (start, end) = searched.track_range(lba);
            prop_assert_eq!(layout.share_track(lba, other), (start..end).contains(&other));
        }
    }

    #[test]
    fn zones_account_for_every_sector_once(spec in any_layout()) {
        let (layout, twin) = (Layout::new(&spec), Twin::new(&spec));
        let mut next = 0;
        for (number, (summary, zone)) in layout.zones().zip(&spec.zone).enumerate() {
            prop_assert_eq!(summary.first_lba, next);
            let homes = twin.homes.iter().filter(|(track, _)| twin.tracks[*track].zone == number).count();
            prop_assert_eq!(summary.sectors, homes as u64);
            prop_assert_eq!(
                (summary.first_cylinder, summary.last_cylinder, summary.sectors_per_track),
                (zone.first_cylinder, zone.last_cylinder, zone.sectors_per_track)
            );
            next += summary.sectors;
        }
        prop_assert_eq!(next, layout.capacity());
        prop_assert_eq!(layout.zones().count(), spec.zone.len());
    }

    #[test]
    fn extents_cover_the_drive_without_gap_or_overlap(spec in any_spec(), limit in 1_u64..20) {
        let layout = Layout::new(&spec);
        let mut lba = 0;
        while lba < layout.capacity() {
            let extent = layout.extent(lba, limit.min(layout.capacity() - lba));
            prop_assert!(extent.sectors >= 1 && extent.lba == lba);
            for i in 0..extent.sectors {
                let place = layout.locate(lba + u64::from(i));
                prop_assert_eq!((place.cylinder, place.head), (extent.cylinder, extent.head));
            }
            lba += u64::from(extent.sectors);
        }
        prop_assert_eq!(lba, layout.capacity());
    }
}
