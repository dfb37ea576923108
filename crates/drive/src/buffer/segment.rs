//! One run of consecutive sectors that the buffer holds.

/// Consecutive sectors in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First address held.
    pub(crate) start: u64,
    /// First address behind the last one held.
    pub(crate) end: u64,
    /// When it was last used, counted in uses.
    pub(super) used: u64,
}

impl Segment {
    /// Keeps the last `size` sectors.
    #[inline]
    pub(super) fn keep_end(&mut self, size: u64) {
        self.start = self.start.max(self.end.saturating_sub(size));
    }

    /// Whether it holds anything.
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        self.end > self.start
    }
}
