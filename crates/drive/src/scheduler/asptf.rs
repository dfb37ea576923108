//! Aged shortest positioning time first.

use super::candidates::Prospect;
use super::positional::Merit;
use headstack_units::Nanos;

/// The positioning time less `weight` × the time waited: 0 is SPTF, and the larger the weight, the nearer to first come,
/// first served (ASPTF of Worthington, Ganger & Patt 1994; ASATF of Jacobson & Wilkes 1991).
#[derive(Clone, Copy, Debug)]
pub(super) struct Asptf {
    /// In 2^-32.
    weight_q32: u64,
}

impl Asptf {
    /// `weight`: ms of positioning that a ms of waiting is worth.
    pub(super) fn new(weight: f64) -> Self {
        Self { weight_q32: (weight * 4_294_967_296.0).round() as u64 }
    }
}

impl Merit for Asptf {
    const AGED: bool = true;

    /// Start − weight × (now − arrival), but for what is the same for all.
    fn cost(&self, _now: Nanos, prospect: &Prospect) -> u128 {
        (u128::from(prospect.start.0) << 32) + u128::from(self.weight_q32) * u128::from(prospect.arrived.0)
    }
}
