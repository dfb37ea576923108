//! `[fidelity]`: which effects the model leaves out, and the ladder M0–M5 as presets over the same model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the rotational delay is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RotationModel {
    /// From the angle of the spindle and of the sector.
    #[default]
    Tracked,
    /// Drawn uniformly from one revolution, independently for every command.
    Uniform,
}

/// What a change of track costs, within a transfer and before its first sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchModel {
    /// The switch, and the wait for the skewed first sector of the next track.
    #[default]
    Skewed,
    /// The head-switch time for every track change within a transfer. Before the first sector only the seek curve counts:
    /// the settle times, the extra of inward seeks and a change of head alone are left out.
    Fixed,
    /// Nothing within a transfer; before the first sector as with `fixed`.
    Free,
}

/// How media and bus transfers combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferModel {
    /// Producer and consumer around the buffer: fence, overlap, lost revolutions.
    #[default]
    Overlapped,
    /// One transfer, linear in length, at the slower of the two rates, after positioning. Cache and early writes stay; fences,
    /// sectors taken as they come, bursts, reconnecting, the preparation of data and the reading of physical sectors before a
    /// write are left out.
    Linear,
}

/// Which effects the model leaves out, or scales for studies of limits; everything is modelled as it is by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FidelitySpec {
    /// Every command takes this long, in ms, and nothing else matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant_ms: Option<f64>,
    /// Rotational delay.
    #[serde(default)]
    pub rotation: RotationModel,
    /// Track changes, within a transfer and before it.
    #[serde(default)]
    pub switch: SwitchModel,
    /// Media and bus.
    #[serde(default)]
    pub transfer: TransferModel,
    /// What bringing the arm to the first track of a command takes is multiplied by this: seek, head switch and settle. Changes
    /// of track within a transfer stay as they are, for the skews were made for them.
    #[serde(default = "as_it_is", skip_serializing_if = "is_as_it_is")]
    pub seek_scale: f64,
    /// The wait for the first sector of a command, once the arm is on track, is multiplied by this, from 0 to 1: as if the
    /// disk jumped ahead. The speed of the disk, and with it the transfer, the waits between the tracks of a transfer and lost
    /// revolutions stay as they are.
    #[serde(default = "as_it_is", skip_serializing_if = "is_as_it_is")]
    pub rotation_scale: f64,
}

impl Default for FidelitySpec {
    fn default() -> Self {
        Self {
            constant_ms: None,
            rotation: RotationModel::default(),
            switch: SwitchModel::default(),
            transfer: TransferModel::default(),
            seek_scale: as_it_is(),
            rotation_scale: as_it_is(),
        }
    }
}

fn as_it_is() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_as_it_is(scale: &f64) -> bool {
    *scale == as_it_is()
}

/// Published values that the simpler models of the ladder (M1, M2) are made of, where the full model's own were fitted
/// together with effects that those models leave out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedSpec {
    /// Controller overhead of a read, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_overhead_ms: Option<f64>,
    /// Controller overhead of a write, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_overhead_ms: Option<f64>,
    /// Seek over one cylinder, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub single_cylinder_seek_ms: Option<f64>,
    /// Seek over all cylinders, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_stroke_seek_ms: Option<f64>,
    /// Nominal rate of the bus, in 10⁶ bytes per second, where `[bus]` has measured ones; for the rungs up to M4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus_mb_per_s: Option<f64>,
}

/// A rung of S0's ladder of models (Ruemmler & Wilkes 1994, Table 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum LadderStep {
    /// Constant time per command.
    M0,
    /// Linear seek between the single-cylinder and full-stroke times, uniform rotational delay, linear transfer.
    M1,
    /// M1 with the drive's seek curve and a fixed cost for each track change.
    M2,
    /// Rotational position, skews and the buffer between media and bus.
    M3,
    /// M3 with read-ahead and early completion of writes.
    M4,
    /// M4 with overheads that depend on the request and on the one before, and the bus as it was measured: the drive file
    /// as it stands.
    M5,
}
