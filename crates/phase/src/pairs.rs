//! Pairs of observations that are close in time.
//!
//! The phase of a spindle may jump now and then, and its period is never known exactly. Both spoil few of the pairs
//! that lie a few tenths of a second apart, so all estimation rests on those; the unknown phase itself cancels.

use crate::geometry::{Geometry, Site};
use crate::observation::Observation;
use headstack_units::Nanos;

/// Observations paired with each of as many that follow.
const FOLLOWING: usize = 5;
/// The longest time between the two of a pair; the next where there are not enough.
pub(crate) const FAR_NS: [u64; 3] = [500_000_000, 2_000_000_000, 6_000_000_000];
/// So many pairs are enough, of however noisy times.
const ENOUGH: usize = 96;
/// So few pairs say nothing.
pub(crate) const FEW: usize = 24;
/// Observations in a block. Pairs of one block share observations; evidence is counted by blocks, which do not.
const BLOCK: usize = 16;

/// An observation with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sighting {
    pub(crate) at: Nanos,
    pub(crate) lba: u64,
    pub(crate) site: Site,
}

/// Two sightings, by number, the earlier first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Time between them.
    pub(crate) ns: f64,
}

impl Pair {
    /// The block that this pair's evidence counts for.
    pub(crate) fn block(&self) -> usize {
        self.from / BLOCK
    }

    /// Whether the pair is there to fit (even blocks) or to check (odd blocks); `None` if it touches both.
    pub(crate) fn is_even(&self) -> Option<bool> {
        (is_even(self.from) == is_even(self.to)).then(|| is_even(self.from))
    }
}

/// Whether a sighting, by number, is there to fit (even blocks) or to check (odd blocks).
pub(crate) fn is_even(number: usize) -> bool {
    (number / BLOCK).is_multiple_of(2)
}

/// Observations with their places; those beyond the drive are left out.
pub(crate) fn sightings(observations: &[Observation], geometry: &Geometry) -> Vec<Sighting> {
    let seen = observations.iter();
    seen.filter_map(|seen| Some(Sighting { at: seen.at, lba: seen.lba, site: geometry.site(seen.lba)? }))
        .collect()
}

/// Pairs close in time, in the order of their first sighting; of requests that are all far apart, as close as they are.
pub(crate) fn pairs(sightings: &[Sighting]) -> Vec<Pair> {
    let mut by_reach = FAR_NS.iter().map(|&far_ns| pairs_within(sightings, far_ns));
    let near = by_reach.next().unwrap_or_default();
    if near.len() >= ENOUGH { near } else { by_reach.find(|pairs| pairs.len() >= ENOUGH).unwrap_or(near) }
}

fn pairs_within(sightings: &[Sighting], far_ns: u64) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(sightings.len() * FOLLOWING);
    for (from, first) in sightings.iter().enumerate() {
        for (to, second) in sightings.iter().enumerate().skip(from + 1).take(FOLLOWING) {
            let ns = second.at.saturating_sub(first.at).0;
            if ns > far_ns {
                break;
            }
            pairs.push(Pair { from, to, ns: ns as f64 });
        }
    }
    pairs
}

/// Pairs about `apart_ns` apart, one for each sighting that has such a partner (within half of it).
pub(crate) fn distant_pairs(sightings: &[Sighting], apart_ns: u64) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(sightings.len());
    let mut to = 0;
    for (from, first) in sightings.iter().enumerate() {
        let goal = first.at.0.saturating_add(apart_ns);
        while to < sightings.len() && sightings[to].at.0 < goal {
            to += 1;
        }
        if to == sightings.len() {
            break;
        }
        let ns = sightings[to].at.saturating_sub(first.at).0;
        if ns <= apart_ns + apart_ns / 2 {
            pairs.push(Pair { from, to, ns: ns as f64 });
        }
    }
    pairs
}
