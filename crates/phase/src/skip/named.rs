//! Which tracks are passed over: from how many were before each sighting.

use super::{Search, SkippedTrack};
use crate::geometry::Geometry;
use crate::passed::Gap;

impl Search<'_> {
    /// Tracks of a zone that the file lists and that are not among these.
    pub(super) fn listed_but_not(
        &self,
        tracks: &[SkippedTrack],
        geometry: &Geometry,
        zone: usize,
    ) -> impl Iterator<Item = [u32; 2]> {
        let is_kept = |place: &[u32; 2]| tracks.iter().any(|track| [track.cylinder, track.head] == *place);
        self.listed[zone]
            .iter()
            .map(move |&track| <[u32; 2]>::from(geometry.place_of_track(zone, track)))
            .filter(move |place| !is_kept(place))
    }

    /// The tracks that a zone passes over: of those that the file lists as many as are seen, where it has them, and all behind
    /// the last sighting; others each in the middle between the sightings around it.
    pub(super) fn tracks_of(
        &self,
        geometry: &Geometry,
        zone: usize,
        passed: &[Option<usize>],
    ) -> Vec<SkippedTrack> {
        let mut found = Vec::new();
        let earlier = self.by_zone[..zone].iter().rev().find_map(|own| own.last());
        let mut before = (-1.0, earlier.map_or(0, |&number| self.sightings[number].lba), 0);
        for &number in &self.by_zone[zone] {
            let Some(passed) = passed[number] else { continue };
            let (track, lba) = (self.tracks[number], self.sightings[number].lba);
            let gap = Gap { tracks: (before.0, track), passed: (before.2, passed) };
            let over = gap.passed_over(self.listed[zone]).into_iter();
            found.extend(over.map(|(physical, listed)| (physical, listed, (before.1, lba))));
            before = (track, lba, passed);
        }
        let last = before.0 + before.2 as f64;
        let behind = self.listed[zone].iter().filter(|&&track| track as f64 > last);
        found.extend(behind.map(|&physical| (physical, true, (before.1, before.1))));
        take_listed(&mut found, self.listed[zone], self.heads as u64);
        let named = found.into_iter().map(|(physical, listed, between)| {
            let (cylinder, head) = geometry.place_of_track(zone, physical);
            SkippedTrack { zone, cylinder, head, listed, is_sure: true, between }
        });
        named.collect()
    }

    /// Takes back that tracks beside a list are sure where there is another explanation: several before the first sighting of a zone
    /// are what a wrong number of spare tracks before it looks like, and as many as a cylinder has, or one less, what a zone does that begins
    /// at another angle.
    pub(super) fn doubt(&self, tracks: &mut [SkippedTrack], zone: usize) {
        if self.listed.iter().all(|listed| listed.is_empty()) {
            return;
        }
        let first = self.by_zone[zone].first().map(|&number| self.sightings[number].lba);
        let is_before = |track: &SkippedTrack| Some(track.between.1) <= first;
        let others = |tracks: &[SkippedTrack]| tracks.iter().filter(|track| !track.listed).count() as f64;
        let is_cylinder = others(tracks) >= self.heads - 1.0;
        let many = tracks.iter().filter(|track| !track.listed && is_before(track)).count() > 1;
        for track in tracks.iter_mut().filter(|track| !track.listed) {
            track.is_sure &= !(is_cylinder || many && is_before(track));
        }
    }
}

/// Calls those tracks sure that have one among the sure ones: between the same addresses, or within a cylinder.
pub(super) fn mark_sure(tracks: &mut [SkippedTrack], mut sure: Vec<SkippedTrack>) {
    let is_one = |a: &SkippedTrack, b: &SkippedTrack| {
        let overlap = a.between.0 <= b.between.1 && b.between.0 <= a.between.1;
        a.listed == b.listed && (overlap || a.cylinder.abs_diff(b.cylinder) <= 1)
    };
    for track in tracks {
        let found = sure.iter().position(|of| is_one(track, of));
        track.is_sure = found.is_some();
        found.map(|at| sure.remove(at));
    }
}

/// A track passed over, counted from its zone's first; whether the file lists it; the addresses around it.
type Over = (u64, bool, (u64, u64));

/// A wrong observation beside a track that is passed over moves it by a few: what is found within a cylinder of a listed track
/// that is not among them is that one.
fn take_listed(found: &mut [Over], listed: &[u64], near: u64) {
    for &track in listed {
        if found.iter().any(|over| over.0 == track) {
            continue;
        }
        let others = found.iter_mut().filter(|over| !over.1 && over.0.abs_diff(track) <= near);
        if let Some(nearest) = others.min_by_key(|over| over.0.abs_diff(track)) {
            (nearest.0, nearest.1) = (track, true);
        }
    }
    found.sort_unstable();
}
