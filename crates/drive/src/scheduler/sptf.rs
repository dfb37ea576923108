//! Shortest positioning time first.

use super::candidates::Prospect;
use super::positional::Merit;
use headstack_units::Nanos;

/// The command whose first sector comes under its head soonest (Seltzer, Chen & Ousterhout 1990; Jacobson & Wilkes 1991).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sptf;

impl Merit for Sptf {
    const AGED: bool = false;

    #[inline]
    fn cost(&self, _now: Nanos, prospect: &Prospect) -> u128 {
        u128::from(prospect.start.0)
    }
}
