//! How a phase-locked replay went.

use headstack_phase::TrackerDiagnostics;
use schemars::JsonSchema;
use serde::Serialize;

/// How the tracking of one drive's spindle went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PhaseSummary {
    /// Requests that told something about the phase.
    pub observations: u64,
    /// Those among them that were followed; the others were doubted.
    pub followed: u64,
    /// How often the phase jumped and was found again.
    pub reacquisitions: u64,
    /// Standard deviation of the errors that were followed, in turns.
    pub sigma_revolutions: f64,
    /// Mean cosine of the last hundred or so errors: 1 is perfect.
    pub resultant: f64,
}

impl PhaseSummary {
    pub(super) fn new(tracker: &TrackerDiagnostics) -> Self {
        Self {
            observations: tracker.errors,
            followed: tracker.followed,
            reacquisitions: tracker.reacquisitions,
            sigma_revolutions: tracker.sigma_revolutions,
            resultant: tracker.resultant,
        }
    }
}
