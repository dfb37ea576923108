//! What drives drew during a run.

use headstack_drive::power::{ByState, Energy, Watts};
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::UnitUse;
use crate::spec::DriveConfig;

/// Energy of a drive or of all drives, over the counted time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PowerSummary {
    /// Mean power, in watts.
    pub average_w: f64,
    /// All of it, in joules.
    pub energy_j: f64,
    /// The mean power by what it was drawn for; the states add up to it.
    pub by_state_w: ByState,
}

impl PowerSummary {
    /// Of an energy used over `span_ns`; `None` where no time passed.
    pub(super) fn new(energy: &Energy, span_ns: u128) -> Option<Self> {
        let span_s = span_ns as f64 / 1e9;
        (span_ns > 0).then(|| Self {
            average_w: energy.total_j() / span_s,
            energy_j: energy.total_j(),
            by_state_w: energy.by_state_j.map(|joules| joules / span_s),
        })
    }
}

/// What a drive used whose units were used as `units` tell; `None` where its watts are not known.
pub(super) fn energy<'a>(
    drive: &DriveConfig,
    units: impl Iterator<Item = &'a UnitUse>,
    span_ns: u128,
) -> Option<Energy> {
    // With several arms at work at a time, each of them is idle when it does nothing.
    let at_a_time = drive.spec.arms.moving();
    let arms: Vec<_> = units.flat_map(|unit| unit.active().shared_by(at_a_time)).collect();
    Some(Energy::new(&Watts::of(&drive.spec)?, &arms, span_ns))
}
