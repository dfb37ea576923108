//! Weighted shortest time first.

use super::candidates::Prospect;
use super::positional::Merit;
use headstack_units::Nanos;

/// The positioning time × (M − E) / M, where E is the time waited and M the longest that is permitted: what has waited for
/// that long goes first, the oldest before the others (Seltzer, Chen & Ousterhout 1990).
#[derive(Clone, Copy, Debug)]
pub(super) struct Wstf {
    permitted: Nanos,
}

impl Wstf {
    /// `permitted`: M.
    pub(super) fn new(permitted: Nanos) -> Self {
        Self { permitted }
    }
}

impl Merit for Wstf {
    const AGED: bool = true;

    fn cost(&self, now: Nanos, prospect: &Prospect) -> u128 {
        let waited = now.saturating_sub(prospect.arrived);
        let left = self.permitted.saturating_sub(waited);
        u128::from(prospect.start.saturating_sub(now).0) * u128::from(left.0)
    }
}
