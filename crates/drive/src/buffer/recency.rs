//! Segments in order of use: the least recently used is found without a look at all of them.

use super::segment::Segment;
use std::collections::VecDeque;

/// Uses of segments, the oldest first. Those that were not the last of their segment are passed over when they come to
/// the front.
#[derive(Clone, Debug, Default)]
pub(super) struct Recency(VecDeque<(u64, usize)>);

impl Recency {
    /// Segment `index` of `all` has just been used.
    pub(super) fn note(&mut self, all: &[Segment], index: usize) {
        let Self(uses) = self;
        uses.push_back((all[index].used, index));
        if uses.len() > 4 * all.len() {
            uses.retain(|&(used, index)| all[index].used == used);
        }
    }

    /// The segments have taken other places.
    pub(super) fn begin_anew(&mut self, all: &[Segment]) {
        let Self(uses) = self;
        let used = all.iter().enumerate().filter(|(_, segment)| segment.used > 0);
        *uses = used.map(|(index, segment)| (segment.used, index)).collect();
        uses.make_contiguous().sort_unstable();
    }

    /// Of those that were used, which was used longest ago.
    pub(super) fn least(&mut self, all: &[Segment]) -> Option<usize> {
        let Self(uses) = self;
        while let Some(&(used, index)) = uses.front() {
            if all[index].used == used {
                return Some(index);
            }
            uses.pop_front();
        }
        None
    }
}
