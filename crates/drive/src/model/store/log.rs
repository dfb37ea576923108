//! A log of cached writes on reserved tracks of the media.
//!
//! Reserved tracks lie among those that have addresses, with their geometry, in so many places spread over the cylinders. A
//! record is written on the reserved track nearest to the arm, where the head lands: it waits for the next physical sector
//! only. Left out: the sectors that the reserved tracks take from the addresses, moves from one track of a place to the next,
//! and writing the map of what is logged.

use crate::layout::{Extent, Layout};
use crate::spec::MediaCacheSpec;

/// The reserved tracks.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    /// One track of each place, in the order of cylinders.
    tracks: Vec<Extent>,
}

impl Log {
    pub(crate) fn new(spec: &MediaCacheSpec, layout: &Layout) -> Self {
        let places = u64::from(spec.places.max(1));
        let middle = |place: u64| {
            let share = u128::from(layout.capacity()) * u128::from(2 * place + 1) / u128::from(2 * places);
            layout.extent(share as u64, 1)
        };
        let mut tracks: Vec<Extent> = (0..places).map(middle).collect();
        tracks.sort_by_key(|track| (track.cylinder, track.head));
        Self { tracks }
    }

    /// The reserved track nearest to a cylinder; among equals the lower one.
    pub(crate) fn nearest(&self, cylinder: u32) -> Extent {
        let above = self.tracks.partition_point(|track| track.cylinder < cylinder);
        let around = &self.tracks[above.saturating_sub(1)..(above + 1).min(self.tracks.len())];
        let nearest = around.iter().min_by_key(|track| track.cylinder.abs_diff(cylinder));
        *nearest.unwrap_or(&self.tracks[0])
    }
}
