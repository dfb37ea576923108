//! How often, and after how many others, a request begins where an earlier one began.

use std::collections::BTreeMap;

/// So many places are remembered; where there are more, one in two, in four, … of all is followed.
const PLACES: usize = 1 << 18;

/// What became of a request's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Seen so many requests ago.
    Again(u64),
    /// Not seen before.
    Fresh,
    /// Not followed.
    Unknown,
}

/// The places requests began at, or a sample of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recurrence {
    last: BTreeMap<u64, u64>,
    number: u64,
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
        self.number += 1;
        let level = self.level;
        if mixed(place).trailing_zeros() < level {
            return Place::Unknown;
        }
        let before = self.last.insert(place, self.number);
        if self.last.len() > PLACES {
            self.level += 1;
            self.last.retain(|place, _| mixed(*place).trailing_zeros() > level);
        }
        before.map_or(Place::Fresh, |before| Place::Again(self.number - before))
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
                    Place::Again(after) => {
                        assert!((1990..2010).contains(&after) || number < 2000, "{after}");
                        (again, known) = (again + 1, known + 1);
                    }
                    Place::Fresh => known += 1,
                    Place::Unknown => {}
                }
            }
        }
        assert!(places.last.len() <= PLACES);
        assert!((f64::from(again) / f64::from(known) - 0.5).abs() < 0.01, "{again} of {known}");
    }
}
