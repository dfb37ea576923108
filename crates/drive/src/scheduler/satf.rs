//! Shortest access time first.

use super::candidates::Prospect;
use super::positional::Merit;
use headstack_units::Nanos;

/// The command whose last sector has passed soonest: as SPTF, with the transfer counted, so that of two that begin alike
/// the shorter goes first (Jacobson & Wilkes 1991).
#[derive(Clone, Copy, Debug)]
pub(super) struct Satf;

impl Merit for Satf {
    const AGED: bool = false;

    fn cost(&self, _now: Nanos, prospect: &Prospect) -> u128 {
        u128::from((prospect.start + prospect.transfer).0)
    }
}
