//! The drive file: everything about one drive model, each value with its provenance.
//!
//! The structs here are the one schema: TOML, JSON Schema and the Python classes come from them. Units stand last in
//! the key. A choice between kinds is a table of its own (`[seek.two-piece]`), so that keys of another kind are
//! rejected where they stand.

mod arms;
mod check;
mod check_heads;
mod check_layout;
mod check_runs;
mod controller;
mod duration;
mod fidelity;
mod file;
mod heads;
mod kinds;
mod layout;
mod mechanics;
mod old_names;
mod overrides;
mod power;
mod provenance;
mod rules;
mod soft_errors;
mod write_cache;

pub use arms::{ArmDesign, ArmFailure, ArmsSpec};
pub use check::SpecProblem;
pub use controller::{
    AfterHit, BufferSpec, BusSpec, BusTransfers, CacheSpec, ControllerSpec, DirtyHit, OverheadsByHistory,
    PartialHit, ReadAhead, Segmentation, WriteOverlap, WritePolicy, WrittenData,
};
pub use duration::{DurationLimitSpec, LimitPolicy};
pub use fidelity::{FidelitySpec, LadderStep, PublishedSpec, RotationModel, SwitchModel, TransferModel};
pub use file::SpecError;
pub use heads::{Carrier, FixedHeadsSpec, HeadOfArm, HeadPlacement, HeadSet};
pub use layout::{LayoutSpec, Order, RegionSpec, RemapSpec, SpareGroup, SparesSpec, TrackRunSpec, ZoneSpec};
pub use mechanics::{MechanicsSpec, RecalibrationMode, RecalibrationSpec, SeekSpec, SpindleSpec};
pub use old_names::old_names;
pub use overrides::{set_value, to_blame};
pub use power::{DiskStack, Gas, PowerConditionSpec, PowerSpec, SpeedChange};
pub use provenance::{Provenance, ProvenanceKind};
pub use rules::{
    Appends, CachedPart, DuringEarlyWrite, HitDuringReadAhead, LookUp, ReadAheadRoom, ReadAheadStop,
    Replacement, Rounding,
};
pub use soft_errors::SoftErrorsSpec;
pub use write_cache::{FlashCacheSpec, MediaCacheSpec, WriteCacheSpec};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One drive model, as in its drive file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveSpec {
    /// Maker and model.
    pub name: String,
    /// One line on what the drive is and what to keep in mind about the values.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Bytes in a logical sector (what the host addresses).
    pub sector_bytes: u32,
    /// Bytes in a physical sector where it is larger (512e: 4096). A write that covers only part of one reads it first
    /// and writes it one revolution later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_sector_bytes: Option<u32>,
    /// Nominal spindle speed in revolutions per minute; a real number.
    pub rotation_rpm: f64,
    /// How many actuators share the drive's address space. Each has a layout as described, its own arm, and serves an
    /// equal, contiguous part of the addresses (the split dual-actuator kind); 1 is an ordinary drive.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub actuators: u32,
    /// Several arms over the same surfaces, each of which reaches all of the addresses (with `actuators`: of its part).
    #[serde(default, skip_serializing_if = "is_default")]
    pub arms: ArmsSpec,
    /// Where the sectors are.
    pub layout: LayoutSpec,
    /// Seek time against distance.
    pub seek: SeekSpec,
    /// Head switch and settle.
    #[serde(default)]
    pub mechanics: MechanicsSpec,
    /// How the real spindle differs from its nominal speed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spindle: SpindleSpec,
    /// Thermal recalibration.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recalibration: RecalibrationSpec,
    /// Accesses to the media that are retried; absent: all succeed at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft_errors: Option<SoftErrorsSpec>,
    /// Command processing and queueing.
    #[serde(default)]
    pub controller: ControllerSpec,
    /// The buffer between media and bus.
    #[serde(default)]
    pub buffer: BufferSpec,
    /// The read cache; absent: the buffer only matches speeds and keeps nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSpec>,
    /// When a write counts as done.
    #[serde(default)]
    pub write_policy: WritePolicy,
    /// Whether the write cache is on, and what takes the place of `write_policy` where it is not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_cache: WriteCacheSpec,
    /// The bus the drive came with; a system file may put it on another.
    pub bus: BusSpec,
    /// Which effects the model leaves out; everything is modelled by default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fidelity: FidelitySpec,
    /// Published values for the lower rungs of the ladder of models; the full model does not look at them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub published: PublishedSpec,
    /// What the drive draws; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerSpec>,
    /// Where each value comes from, keyed by dotted path; a prefix stands for everything below it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provenance: BTreeMap<String, Provenance>,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
