//! Command duration limits: `[[controller.duration_limits]]`, seven descriptors of which a command names one.

use super::DriveSpec;
use super::check::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Descriptors of the standards; a command that names none has no limit.
const MOST: usize = 7;

/// What a limit means for a command once it has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitPolicy {
    /// It is completed as early as can be.
    #[default]
    CompleteEarliest,
    /// The limit of the next descriptor holds, counted from the command's arrival.
    NextLimit,
    /// It has no limit any more.
    NoLimit,
}

/// One descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DurationLimitSpec {
    /// From its arrival in the drive a command should be complete after this, in ms (the standards' duration guideline).
    pub limit_ms: f64,
    /// What holds when it is not.
    #[serde(default)]
    pub policy: LimitPolicy,
}

/// What is wrong with the limits of a drive.
pub(super) fn check(spec: &DriveSpec, findings: &mut Findings) {
    let controller = &spec.controller;
    let limits = &controller.duration_limits;
    if limits.is_empty() {
        return;
    }
    let all = "controller.duration_limits";
    if controller.duration_limit_ms.is_some() {
        findings.add(all, "`controller.duration_limit_ms` is the first of them: give one of the two");
    }
    if limits.len() > MOST {
        findings.add(all, format!("{} descriptors: there are {MOST} at most", limits.len()));
    }
    for (index, limit) in limits.iter().enumerate() {
        let path = format!("{all}.{index}");
        if let Some(message) = misfit(spec, index, limit.limit_ms) {
            findings.add(format!("{path}.limit_ms"), message);
        }
        if limit.policy == LimitPolicy::NextLimit && index + 1 == limits.len() {
            let message = "`next-limit` in the last descriptor: no other follows; take `complete-earliest`";
            findings.add(format!("{path}.policy"), message);
        }
    }
}

/// Why a descriptor cannot have its limit.
fn misfit(spec: &DriveSpec, index: usize, limit_ms: f64) -> Option<String> {
    let revolution_ms = 60_000.0 / spec.rotation_rpm;
    if !(limit_ms > revolution_ms && limit_ms <= 60_000.0) {
        return Some(format!(
            "{limit_ms} is not between a revolution, {revolution_ms:.2} ms, which no drive can promise to beat, and 60000"
        ));
    }
    let before = index.checked_sub(1).map(|before| spec.controller.duration_limits[before].limit_ms)?;
    (limit_ms < before).then(|| {
        format!("{limit_ms} is shorter than {before} of the descriptor before: order them from short to long")
    })
}
