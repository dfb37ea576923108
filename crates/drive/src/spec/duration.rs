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
    /// The limit of the next descriptor holds, counted from the command's arrival (`limit_ms` only).
    NextLimit,
    /// It has no limit any more (`limit_ms` only).
    NoLimit,
    /// It is completed without its data, which the host is told.
    CompleteUnavailable,
    /// It ends with an error.
    Abort,
}

/// One descriptor: up to three times, each with what holds when it has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DurationLimitSpec {
    /// From its arrival in the drive a command should be complete after this, in ms (the standards' duration guideline).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<f64>,
    /// What holds when it is not.
    #[serde(default)]
    pub policy: LimitPolicy,
    /// From its arrival the drive should have begun with it after this, in ms (inactive time limit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inactive_ms: Option<f64>,
    /// What holds when it has not.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub inactive_policy: LimitPolicy,
    /// From when the drive began with it, it should be complete after this, in ms (active time limit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_ms: Option<f64>,
    /// What holds when it is not.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub active_policy: LimitPolicy,
}

impl LimitPolicy {
    /// Whether a command ends without its data.
    pub fn ends(self) -> bool {
        matches!(self, Self::CompleteUnavailable | Self::Abort)
    }
}

impl DurationLimitSpec {
    /// Whether a command may end without its data.
    pub fn ends(&self) -> bool {
        let all = [
            (self.limit_ms, self.policy),
            (self.inactive_ms, self.inactive_policy),
            (self.active_ms, self.active_policy),
        ];
        all.iter().any(|(time, policy)| time.is_some() && policy.ends())
    }
}

/// One of the times of a descriptor.
type Time = fn(&DurationLimitSpec) -> Option<f64>;

/// What is wrong with the limits of a drive.
pub(super) fn check(spec: &DriveSpec, findings: &mut Findings) {
    let controller = &spec.controller;
    let limits = &controller.duration_limits;
    if let Some(message) = controller.duration_limit_ms.and_then(|limit_ms| too_short(spec, limit_ms)) {
        findings.add("controller.duration_limit_ms", message);
    }
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
        check_one(spec, index, limit, &path, findings);
        let times: [(&str, Time); 3] = [
            ("limit_ms", |limit| limit.limit_ms),
            ("inactive_ms", |limit| limit.inactive_ms),
            ("active_ms", |limit| limit.active_ms),
        ];
        for (key, time) in times {
            if let Some(message) = disorder(&limits[..=index], time) {
                findings.add(format!("{path}.{key}"), message);
            }
        }
    }
}

fn check_one(spec: &DriveSpec, index: usize, limit: &DurationLimitSpec, path: &str, findings: &mut Findings) {
    let &DurationLimitSpec { limit_ms, policy, inactive_ms, inactive_policy, active_ms, active_policy } =
        limit;
    if [limit_ms, inactive_ms, active_ms].iter().all(Option::is_none) {
        findings.add(path, "no limit: give `limit_ms`, `inactive_ms` or `active_ms`");
    }
    for (key, time) in [("limit_ms", limit_ms), ("active_ms", active_ms)] {
        if let Some(message) = time.and_then(|time| too_short(spec, time)) {
            findings.add(format!("{path}.{key}"), message);
        }
    }
    if let Some(time) = inactive_ms
        && !(time > 0.0 && time <= 60_000.0)
    {
        findings.add(format!("{path}.inactive_ms"), format!("{time} is not above 0 and at most 60000"));
    }
    if policy == LimitPolicy::NextLimit && index + 1 == spec.controller.duration_limits.len() {
        let message = "`next-limit` in the last descriptor: no other follows; take `complete-earliest`";
        findings.add(format!("{path}.policy"), message);
    }
    for (key, time, policy) in
        [("inactive", inactive_ms, inactive_policy), ("active", active_ms, active_policy)]
    {
        if matches!(policy, LimitPolicy::NextLimit | LimitPolicy::NoLimit) {
            let message =
                "a policy of `limit_ms` only: take `complete-earliest`, `complete-unavailable` or `abort`";
            findings.add(format!("{path}.{key}_policy"), message);
        } else if time.is_none() && policy.ends() {
            findings.add(format!("{path}.{key}_policy"), format!("has no `{key}_ms` to hold for"));
        }
    }
    if limit_ms.is_none() && policy != LimitPolicy::default() {
        findings.add(format!("{path}.policy"), "has no `limit_ms` to hold for");
    }
}

/// Why a limit until a command is complete cannot be kept.
fn too_short(spec: &DriveSpec, limit_ms: f64) -> Option<String> {
    let revolution_ms = 60_000.0 / spec.rotation_rpm;
    let shown = if limit_ms < 1e9 { limit_ms.to_string() } else { format!("{limit_ms:e}") };
    (!(limit_ms > revolution_ms && limit_ms <= 60_000.0)).then(|| {
        format!(
            "{shown} is not between a revolution, {revolution_ms:.2} ms, which no drive can promise to beat, and 60000"
        )
    })
}

/// Why the last of some descriptors cannot stand where it does.
fn disorder(
    limits: &[DurationLimitSpec],
    time: impl Fn(&DurationLimitSpec) -> Option<f64>,
) -> Option<String> {
    let (last, before) = limits.split_last()?;
    let (ms, before) = (time(last)?, before.iter().rev().find_map(time)?);
    (ms < before).then(|| {
        format!("{ms} is shorter than {before} of the descriptor before: order them from short to long")
    })
}
