//! Random layouts in runs, and their naive walk.

use super::super::Layout;
use super::twin::{Twin, TwinTrack};
use super::versus_twin::add_remaps;
use super::{layout, track_run};
use crate::spec::{LayoutSpec, Order, TrackRunSpec};
use proptest::prelude::*;
use proptest::sample::Index;

/// All tracks, those with data first and in the order of addresses, and the data sectors in order.
pub(super) fn of_runs(spec: &LayoutSpec) -> (Vec<TwinTrack>, Vec<(usize, u32)>) {
    let (mut tracks, mut sequence) = (Vec::new(), Vec::new());
    let mut zone = 0;
    let with_data: Vec<&TrackRunSpec> = spec.run.iter().filter(|run| run.data_sectors != Some(0)).collect();
    for (number, run) in with_data.iter().enumerate() {
        zone += usize::from(number > 0 && with_data[number - 1].sectors_per_track != run.sectors_per_track);
        for track in run_tracks(run, zone) {
            let end = run.data_sectors.map_or(run.sectors_per_track, |data| run.first_sector + data);
            sequence.extend((run.first_sector..end).map(|slot| (tracks.len(), slot)));
            tracks.push(track);
        }
    }
    // Which zone a spare track belongs to: that of the last run before it in the file.
    let mut before: Option<&TrackRunSpec> = None;
    let mut zone = 0;
    for run in &spec.run {
        if run.data_sectors == Some(0) {
            tracks.extend(run_tracks(run, zone));
            continue;
        }
        zone += usize::from(before.is_some_and(|before| before.sectors_per_track != run.sectors_per_track));
        before = Some(run);
    }
    (tracks, sequence)
}

/// The tracks of a run, one by one.
fn run_tracks(run: &TrackRunSpec, zone: usize) -> Vec<TwinTrack> {
    let slots = run.sectors_per_track;
    let mut tracks: Vec<TwinTrack> = Vec::new();
    let (mut cylinder, mut turns) = (i64::from(run.first_cylinder), run.first_sector_revolutions);
    for _ in 0..run.cylinders {
        tracks.push(TwinTrack {
            cylinder: cylinder as u32,
            head: run.head,
            zone,
            slots,
            turns,
            spare_of_cylinder: false,
            data: run.data_sectors != Some(0),
        });
        cylinder += i64::from(run.step);
        turns = (turns + run.skew_sectors / f64::from(slots)).fract();
    }
    tracks
}

/// Head and end (fractions), tracks wanted, direction; sectors, front and end without data (fractions), spare; first
/// angle, skew (as a fraction of a turn).
type RawRun = ((f64, f64, u32, bool), (u32, f64, f64, bool), (f64, f64));

fn raw_run() -> impl Strategy<Value = RawRun> {
    let part = || prop_oneof![2 => Just(0.0), 1 => 0.0..1.0_f64];
    (
        (0.0..1.0_f64, 0.0..1.0_f64, 1_u32..7, any::<bool>()),
        (prop_oneof![2 => Just(6_u32), 1 => 1_u32..9], part(), part(), prop::bool::weighted(0.15)),
        (part(), part()),
    )
}

/// Runs as wished, each as long as the tracks it wants are free.
fn build_runs(heads: u32, cylinders: u32, raw: &[RawRun]) -> Vec<TrackRunSpec> {
    let mut taken: Vec<(u32, u32)> = Vec::new();
    let mut runs = Vec::new();
    for &((head, first, wanted, outwards), (sectors, front, end, spare), (turns, skew)) in raw {
        let (head, first) = ((head * f64::from(heads)) as u32, (first * f64::from(cylinders)) as u32);
        let along = |number: u32| {
            let cylinder = if outwards { first.checked_sub(number)? } else { first + number };
            (cylinder < cylinders && !taken.contains(&(head, cylinder))).then_some((head, cylinder))
        };
        let tracks: Vec<(u32, u32)> = (0..wanted).map_while(along).collect();
        if tracks.is_empty() {
            continue;
        }
        let first_sector = (front * f64::from(sectors)) as u32;
        let data = 1 + (end * f64::from(sectors - first_sector - 1)) as u32;
        let data = if spare { 0 } else { data };
        runs.push(TrackRunSpec {
            step: if outwards { -1 } else { 1 },
            first_sector,
            data_sectors: (spare || end > 0.0).then_some(data),
            first_sector_revolutions: turns,
            skew_sectors: skew * f64::from(sectors),
            ..track_run(head, first, tracks.len() as u32, sectors)
        });
        taken.extend(tracks);
    }
    if runs.iter().all(|run| run.data_sectors == Some(0)) {
        runs.push(track_run(0, cylinders, 1, 3));
    }
    runs
}

prop_compose! {
    /// Runs of all kinds, with slips, remaps and an announced capacity.
    pub(super) fn any_runs()(
        (heads, cylinders) in (1_u32..5, 1_u32..12),
        beyond in prop::option::of(0_u32..4),
        raw in prop::collection::vec(raw_run(), 1..14),
        slips in prop_oneof![Just(vec![]), prop::collection::vec(any::<Index>(), 1..12)],
        capacity in prop_oneof![Just(1.0), 0.0..1.0_f64],
        remaps in prop_oneof![Just(vec![]), prop::collection::vec(any::<(Index, Index)>(), 1..6)],
    ) -> LayoutSpec {
        let mut spec = layout(Order::Classical, heads, vec![]);
        spec.run = build_runs(heads, cylinders, &raw);
        spec.cylinders = beyond.map(|beyond| cylinders + 1 + beyond);
        let sectors = Twin::new(&spec).homes.len();
        spec.slipped_sectors = slips.iter().map(|slip| slip.index(sectors) as u64).collect();
        spec.slipped_sectors.sort_unstable();
        spec.slipped_sectors.dedup();
        if capacity < 1.0 {
            spec.capacity_sectors = Some((capacity * Twin::new(&spec).homes.len() as f64) as u64);
        }
        add_remaps(&mut spec, &remaps);
        spec
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn runs_as_zones_account_for_every_sector_once(spec in any_runs()) {
        let (layout, twin) = (Layout::new(&spec), Twin::new(&spec));
        let with_data = twin.tracks.iter().filter(|track| track.data);
        let zones = with_data.clone().map(|track| track.zone).max().expect("there are data") + 1;
        prop_assert_eq!(layout.zones().count(), zones);
        let mut next = 0;
        for (number, summary) in layout.zones().enumerate() {
            let cylinders = with_data.clone().filter(|track| track.zone == number).map(|track| track.cylinder);
            let homes = twin.homes.iter().filter(|(track, _)| twin.tracks[*track].zone == number).count();
            prop_assert_eq!((summary.first_lba, summary.sectors), (next, homes as u64));
            prop_assert_eq!(Some(summary.first_cylinder), cylinders.clone().min());
            prop_assert_eq!(Some(summary.last_cylinder), cylinders.max());
            next += summary.sectors;
        }
        prop_assert_eq!(next, layout.capacity());
    }
}
