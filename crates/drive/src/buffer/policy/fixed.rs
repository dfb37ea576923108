//! Segments of one size; the least recently used makes room.

use super::Segmentation;
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

impl Segmentation for Fixed {
    #[inline]
    fn victim(&self, shared: &[Segment]) -> Option<usize> {
        (0..shared.len()).min_by_key(|&i| shared[i].used)
    }

    #[inline]
    fn size_of(&self, _segment: usize) -> u64 {
        self.size
    }
}
