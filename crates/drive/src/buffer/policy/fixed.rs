//! Segments of one size; the least recently used makes room.

use super::CachePolicy;
use crate::buffer::segment::Segment;

#[derive(Clone, Debug, Default)]
pub(in crate::buffer) struct Fixed {
    size: u64,
}

impl Fixed {
    pub(super) fn new(size: u64) -> Self {
        Self { size }
    }
}

impl CachePolicy for Fixed {
    #[inline]
    fn victim(&self, shared: &[Segment], spared: Option<usize>) -> Option<usize> {
        // Plainer than a search by keys, which costs three times as much, and by index, for which no length is divided out: every
        // read and most writes come here.
        let mut least = u64::MAX;
        let mut best = spared.unwrap_or(usize::MAX);
        let spared = best;
        let mut index = 0;
        while let Some(segment) = shared.get(index) {
            if segment.used < least && index != spared {
                (least, best) = (segment.used, index);
            }
            index += 1;
        }
        (best < shared.len()).then_some(best)
    }

    #[inline]
    fn size_in(&self, _all: &[Segment]) -> u64 {
        self.size
    }

    #[inline]
    fn divide(&self, all: &mut [Segment], filled: usize) {
        all[filled].keep_end(self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The naive twin: a search by keys.
        #[test]
        fn the_least_recently_used_makes_room_and_the_spared_one_last(
            used in prop::collection::vec(0..6_u64, 0..6),
            spared in prop::option::of(0..6_usize),
        ) {
            let segments: Vec<Segment> = used.iter().map(|&used| Segment { used, ..Segment::default() }).collect();
            let twin = (0..used.len()).min_by_key(|&index| (Some(index) == spared, used[index]));
            prop_assert_eq!(Fixed::new(8).victim(&segments, spared), twin);
        }
    }
}
