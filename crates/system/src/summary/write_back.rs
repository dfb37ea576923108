//! What a result says of the rules by which buffered writes go to the media: they decide what a cached write costs.

use headstack_drive::spec::{DriveSpec, ProvenanceKind, WritePolicy};
use schemars::JsonSchema;
use serde::Serialize;

/// When buffered writes go to the media.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WriteBackSummary {
    /// Size of the write cache, in KiB.
    pub size_kib: f64,
    /// After no read has needed the arm for so long.
    pub idle_before_destage_ms: f64,
    /// Above this fill…
    pub high_water_percent: f64,
    /// …down to this.
    pub low_water_percent: f64,
    /// What is older has a share of the arm's time.
    pub age_limit_ms: f64,
    /// No publication or measurement tells these rules of the drive.
    pub assumed: bool,
}

impl WriteBackSummary {
    /// The rules of a drive's write cache, if it has one that loses its data with the power.
    pub(super) fn of(spec: &DriveSpec) -> Option<Self> {
        if !spec.write_cache.enabled {
            return None;
        }
        let WritePolicy::WriteBack {
            size_kib,
            idle_before_destage_ms,
            high_water_percent,
            low_water_percent,
            age_limit_ms,
            ..
        } = spec.write_policy
        else {
            return None;
        };
        let is_assumed = |key: &str| {
            spec.provenance_of(&format!("write_policy.write-back.{key}"))
                .is_none_or(|provenance| provenance.kind == ProvenanceKind::Assumed)
        };
        let rules = ["idle_before_destage_ms", "high_water_percent", "low_water_percent", "age_limit_ms"];
        let assumed = rules.into_iter().any(is_assumed);
        Some(Self {
            size_kib,
            idle_before_destage_ms,
            high_water_percent,
            low_water_percent,
            age_limit_ms,
            assumed,
        })
    }
}
