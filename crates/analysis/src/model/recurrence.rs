//! How often a request begins where an earlier one began.

use std::collections::BTreeSet;

/// So many places are remembered; where there are more, one in two, in four, … of all is followed.
const PLACES: usize = 1 << 18;

/// What became of a request's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Seen before.
    Again,
    /// Not seen before.
    Fresh,
    /// Not followed.
    Unknown,
}

/// The places requests began at, or a sample of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recurrence {
    seen: BTreeSet<u64>,
    /// Places are followed if so many low bits of their hash are zero.
    level: u32,
}

/// The finaliser of SplitMix64.
fn mixed(mut place: u64) -> u64 {
    place = (place ^ (place >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    place = (place ^ (place >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    place ^ (place >> 31)
}

impl Recurrence {
    pub(crate) fn push(&mut self, place: u64) -> Place {
        let level = self.level;
        if mixed(place).trailing_zeros() < level {
            return Place::Unknown;
        }
        let new = self.seen.insert(place);
        if self.seen.len() > PLACES {
            self.level += 1;
            self.seen.retain(|place| mixed(*place).trailing_zeros() > level);
        }
        if new { Place::Fresh } else { Place::Again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_tells_the_share_of_all() {
        // A million places, each a second time after 1,000 others.
        let mut places = Recurrence::default();
        let (mut again, mut known) = (0, 0);
        for number in 0..1_000_000_u64 {
            for place in [Some(number), number.checked_sub(1000)].into_iter().flatten() {
                match places.push(place) {
                    Place::Again => (again, known) = (again + 1, known + 1),
                    Place::Fresh => known += 1,
                    Place::Unknown => {}
                }
            }
        }
        assert!(places.seen.len() <= PLACES);
        assert!((f64::from(again) / f64::from(known) - 0.5).abs() < 0.01, "{again} of {known}");
    }
}
