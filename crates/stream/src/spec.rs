//! What the model is made of, as a file or a dictionary gives it.

use headstack_system::SystemError;
use headstack_system::workload::TimeLaw;
use headstack_units::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server, a disk cache and a mechanism. MB = 10⁶ bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// Whoever writes or reads.
    #[serde(default)]
    pub server: ServerSpec,
    /// The disk's cache, with the interface to it.
    pub cache: CacheSpec,
    /// Platters, heads and arm.
    pub mechanism: MechanismSpec,
}

/// The program that writes or reads records one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Before each record that is read; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_delay: Option<TimeLaw>,
    /// Before each record that is written; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_delay: Option<TimeLaw>,
}

/// The disk's cache: first in, first out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSpec {
    /// Its size, in KiB. A command that is larger than half of it goes through it in pieces of that half, a record that is larger
    /// than all of it alone.
    pub size_kib: f64,
    /// Rate of the interface, in 10⁶ bytes per second.
    pub interface_mb_per_s: f64,
    /// The same for writes; absent: as for reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_interface_mb_per_s: Option<f64>,
    /// The host's largest command, in KiB. Absent: records go through the cache as a whole, as in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_kib: Option<f64>,
    /// Whether the mechanism reads on while the server has not asked yet. Where it does not, the platter has turned on when it does.
    #[serde(default = "yes")]
    pub read_ahead: bool,
    /// Whether a record is written once it is on the media, and not once it is in the cache: the server asks for the next one then, and the
    /// platter has turned on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub write_through: bool,
    /// The controller's overhead before each command, in ms.
    #[serde(default)]
    pub overhead_ms: f64,
    /// The same for writes; absent: as for reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_overhead_ms: Option<f64>,
    /// Between mechanism and cache, for each command that is read; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_delay: Option<TimeLaw>,
    /// Between cache and mechanism, for each command that is written; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_delay: Option<TimeLaw>,
}

/// Cylinders and heads; tracks that hold less, and give less a second, the further in they lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MechanismSpec {
    /// Rate on the outermost track, in 10⁶ bytes per second.
    pub outer_mb_per_s: f64,
    /// Rate on the innermost track, in 10⁶ bytes per second.
    pub inner_mb_per_s: f64,
    /// Speed of the spindle.
    pub rotation_rpm: f64,
    /// Cylinders.
    pub cylinders: u32,
    /// Heads.
    pub heads: u32,
    /// To the next head, in ms.
    #[serde(default)]
    pub head_switch_ms: f64,
    /// To the next cylinder, in ms.
    #[serde(default)]
    pub cylinder_switch_ms: f64,
    /// A seek over all cylinders, in ms; where files begin with positioning, and in the analytic service time.
    #[serde(default)]
    pub full_stroke_ms: f64,
}

impl CacheSpec {
    /// Rate of the interface for reads or for writes, in 10⁶ bytes per second.
    pub(crate) fn interface(&self, op: Op) -> f64 {
        match op {
            Op::Read => self.interface_mb_per_s,
            Op::Write => self.write_interface_mb_per_s.unwrap_or(self.interface_mb_per_s),
        }
    }

    /// The controller's overhead before each command that reads or writes, in ms.
    pub(crate) fn overhead(&self, op: Op) -> f64 {
        match op {
            Op::Read => self.overhead_ms,
            Op::Write => self.write_overhead_ms.unwrap_or(self.overhead_ms),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

fn yes() -> bool {
    true
}

impl ModelSpec {
    /// Reads a file's text; `origin` names it in messages.
    ///
    /// # Errors
    /// [`SystemError::Syntax`] for the first syntax, type or unknown-key error.
    pub fn from_toml(origin: &str, text: &str) -> Result<Self, SystemError> {
        toml::from_str(text)
            .map_err(|error| SystemError::Syntax { origin: origin.to_owned(), message: error.to_string() })
    }
}
