//! Segments of one size; the least recently used makes room.

use super::CachePolicy;
use crate::buffer::segments::Segment;

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
        // Plainer than a search by keys, which costs three times as much: every read and most writes come here.
        let mut best: Option<(u64, usize)> = None;
        for (index, segment) in shared.iter().enumerate() {
            if Some(index) != spared && best.is_none_or(|(used, _)| segment.used < used) {
                best = Some((segment.used, index));
            }
        }
        best.map(|(_, index)| index).or(spared.filter(|&index| index < shared.len()))
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
