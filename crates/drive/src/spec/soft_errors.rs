//! `[soft_errors]`: accesses to the media that do not succeed at once.

use super::check::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often the media work of a command is retried, and what that costs. Drawn from the run's seed, command by command;
/// read-ahead and the pieces of a write-back cache, which nobody waits for, always succeed at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftErrorsSpec {
    /// Share of the reads from the media that are retried, 0 to 1.
    #[serde(default)]
    pub read_probability: f64,
    /// Share of the writes to the media that are retried, 0 to 1.
    #[serde(default)]
    pub write_probability: f64,
    /// Mean number of revolutions that such a command takes longer, 1 or more: each retry costs one, and how many there are
    /// has a geometric distribution.
    pub mean_revolutions: f64,
}

pub(super) fn check(spec: Option<&SoftErrorsSpec>, findings: &mut Findings) {
    let Some(spec) = spec else { return };
    findings.range("soft_errors.read_probability", spec.read_probability, 0.0, 1.0);
    findings.range("soft_errors.write_probability", spec.write_probability, 0.0, 1.0);
    findings.range("soft_errors.mean_revolutions", spec.mean_revolutions, 1.0, 1000.0);
}
