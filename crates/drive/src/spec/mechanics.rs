//! `[seek.…]`, `[mechanics]`, `[spindle]`, `[recalibration]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seek time against distance in cylinders; distance 0 takes no time. End-of-seek settle for reads is included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SeekSpec {
    /// Every seek takes the same time.
    Constant {
        /// The time, in ms.
        time_ms: f64,
    },
    /// A straight line between the single-cylinder and the full-stroke seek.
    Linear {
        /// Seek over one cylinder, in ms.
        single_cylinder_ms: f64,
        /// Seek over all cylinders, in ms.
        full_stroke_ms: f64,
    },
    /// a + b·√d below the boundary, c + e·d from it on (Ruemmler & Wilkes 1994, Table 2).
    TwoPiece {
        /// First distance of the linear piece, in cylinders.
        boundary_cylinders: u32,
        /// `[a, b]`, in ms and ms per √cylinder.
        short_ms: [f64; 2],
        /// `[c, e]`, in ms and ms per cylinder.
        long_ms: [f64; 2],
        /// Measured times for distances 1, 2, 3, … that replace the formula there, in ms.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        first_ms: Vec<f64>,
    },
    /// a + b·√d + c·d through three published points (Lee & Katz): single cylinder, average (at one third of the
    /// stroke), full stroke.
    ThreePoint {
        /// Seek over one cylinder, in ms.
        single_cylinder_ms: f64,
        /// Seek over a third of the stroke, in ms.
        average_ms: f64,
        /// Seek over all cylinders, in ms.
        full_stroke_ms: f64,
    },
    /// c + a·√(d − 1) + b·(d − 1) with the coefficients that Lee & Katz give for the three published times and N cylinders:
    /// a = (−10·single + 15·average − 5·full) / (3·√N), b = (7·single − 15·average + 8·full) / (3·N), c = single. Unlike
    /// `three-point` it is the mean of random seeks, not the seek over a third of the stroke, that comes near the average.
    LeeKatz {
        /// Seek over one cylinder, in ms.
        single_cylinder_ms: f64,
        /// Mean of random seeks, in ms.
        average_ms: f64,
        /// Seek over all cylinders, in ms.
        full_stroke_ms: f64,
    },
    /// Measured points, linear between them, extrapolated with the last slope; need not be monotone.
    Table {
        /// `[distance in cylinders, time in ms]`, distances ascending.
        points: Vec<[f64; 2]>,
    },
    /// Constant acceleration until half-way or until the maximum velocity, coast, constant deceleration, settle.
    Kinematic {
        /// Distance between neighbouring tracks, in µm.
        track_pitch_um: f64,
        /// Acceleration and deceleration of the heads, in m/s².
        acceleration_m_per_s2: f64,
        /// Maximum velocity of the heads, in m/s.
        max_velocity_m_per_s: f64,
        /// Settle at the end of every seek, in ms.
        settle_ms: f64,
    },
}

/// Head switch and settle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MechanicsSpec {
    /// Change of head within a cylinder, in ms. A move that changes cylinder and head costs the larger of the two.
    #[serde(default)]
    pub head_switch_ms: f64,
    /// Change to the neighbouring cylinder in the middle of a transfer, in ms, where it differs from a one-cylinder seek.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinder_switch_ms: Option<f64>,
    /// Added to every repositioning that precedes a read, in ms.
    #[serde(default)]
    pub read_settle_ms: f64,
    /// Added to every repositioning that precedes a write, in ms; negative where the seek curve was measured with reads
    /// that include more than a write needs.
    #[serde(default)]
    pub write_settle_ms: f64,
    /// Settle before a write that depends on the distance of its seek, on top of `write_settle_ms`: `[distance in
    /// cylinders, time in ms]`, distances ascending, linear between them and level beyond the ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_settle_by_distance_ms: Vec<[f64; 2]>,
    /// By how much seeks of some distances take longer than the curve says, before reads and writes alike: `[distance in
    /// cylinders, time in ms]`, distances ascending, linear between them and level beyond the ends; may be negative, but no
    /// seek takes less than nothing. Changes of track within a transfer are as the curve says: the skew was made for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seek_extra_by_distance_ms: Vec<[f64; 2]>,
    /// By how much a seek towards higher cylinders takes longer than the curve says, and one towards lower cylinders
    /// shorter, in ms; may be negative.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub inward_seek_extra_ms: f64,
    /// Whether the settle times also follow a change of head within a cylinder, where the arm does not move.
    #[serde(default = "yes")]
    pub settle_after_head_switch: bool,
}

impl Default for MechanicsSpec {
    fn default() -> Self {
        Self {
            head_switch_ms: 0.0,
            cylinder_switch_ms: None,
            read_settle_ms: 0.0,
            write_settle_ms: 0.0,
            write_settle_by_distance_ms: Vec::new(),
            seek_extra_by_distance_ms: Vec::new(),
            inward_seek_extra_ms: 0.0,
            settle_after_head_switch: yes(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn yes() -> bool {
    true
}

/// How the real spindle differs from its nominal speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpindleSpec {
    /// Constant error of the speed, in percent of nominal.
    #[serde(default)]
    pub error_percent: f64,
    /// Slow drift: the largest deviation of the speed, in parts per million, redrawn every `drift_interval_s`.
    #[serde(default)]
    pub drift_ppm: f64,
    /// How long each drawn deviation lasts, in s.
    #[serde(default = "one_second")]
    pub drift_interval_s: f64,
    /// Angle of the spindle at time 0, in revolutions.
    #[serde(default, alias = "initial_turns")]
    pub initial_angle_revolutions: f64,
}

impl Default for SpindleSpec {
    fn default() -> Self {
        Self {
            error_percent: 0.0,
            drift_ppm: 0.0,
            drift_interval_s: one_second(),
            initial_angle_revolutions: 0.0,
        }
    }
}

fn one_second() -> f64 {
    1.0
}

/// Who decides when the drive recalibrates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecalibrationMode {
    /// Never, or never visibly.
    #[default]
    None,
    /// The drive: when the interval has passed and the mechanism is free, whatever is waiting.
    ByDrive,
    /// The host: when the interval has passed and its queue is empty.
    ByHost,
}

/// Thermal recalibration: the mechanism is not available for a while (S0: 500–800 ms every 15–30 min).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecalibrationSpec {
    /// Who decides.
    #[serde(default)]
    pub mode: RecalibrationMode,
    /// Time from one to the next, in s.
    #[serde(default = "twenty_minutes")]
    pub interval_s: f64,
    /// How long one takes, in ms.
    #[serde(default = "typical_recalibration")]
    pub duration_ms: f64,
}

impl Default for RecalibrationSpec {
    fn default() -> Self {
        Self {
            mode: RecalibrationMode::None,
            interval_s: twenty_minutes(),
            duration_ms: typical_recalibration(),
        }
    }
}

fn twenty_minutes() -> f64 {
    1200.0
}

fn typical_recalibration() -> f64 {
    650.0
}
