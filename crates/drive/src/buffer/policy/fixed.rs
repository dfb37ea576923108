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
        (0..shared.len()).min_by_key(|&i| (Some(i) == spared, shared[i].used))
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
