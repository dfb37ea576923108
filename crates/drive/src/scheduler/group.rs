//! Groups of cylinders, served one after the other.

use super::candidates::Candidates;
use std::ops::Range;

/// GSPTF: the cylinders fall into groups of equal size. While something waits in the group where the last command ended,
/// nothing else is looked at; then comes the next group above in which something waits, and after the last the first
/// ("grouped shortest time first", Seltzer, Chen & Ousterhout 1990).
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups {
    cylinders: u32,
}

impl Groups {
    /// Groups of so many cylinders.
    pub(super) fn new(cylinders: u32) -> Self {
        Self { cylinders: cylinders.max(1) }
    }

    /// The cylinders of the group to look at, the last command having ended in `cylinder`; `None` where nothing waits.
    pub(super) fn within(self, cylinder: u32, waiting: &[Candidates]) -> Option<Range<u32>> {
        let occupied =
            |from: u32| waiting.iter().filter_map(|candidates| candidates.occupied_from(from)).min();
        let first = occupied(cylinder - cylinder % self.cylinders).or_else(|| occupied(0))?;
        let start = first - first % self.cylinders;
        Some(start..start.saturating_add(self.cylinders))
    }
}
