//! One sample: an access, its time window, and what it was taken for.

use super::probe_name::ProbeName;
use crate::device::Mode;
use headstack_units::Nanos;

/// What a sample was taken for, within its probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It is what the probe is about.
    Measure,
    /// It shows the angle of a sector, and nothing of the way to it.
    Angle,
    /// It brings the head to where the next sample shall find it.
    Position,
    /// It fills or empties the device's cache.
    Prepare,
}

impl Role {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Measure => "measure",
            Self::Angle => "angle",
            Self::Position => "position",
            Self::Prepare => "prepare",
        }
    }

    /// The role of a name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Measure, Self::Angle, Self::Position, Self::Prepare]
            .into_iter()
            .find(|role| role.as_str() == name)
    }
}

/// One access and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The probe.
    pub probe: ProbeName,
    /// Samples that belong together: a location, a pair of tracks, a queue depth; counted from 0 within the probe.
    pub series: u32,
    /// What varies within a series: the step in sectors, the distance in cylinders, the repetition.
    pub step: i64,
    /// What it was taken for.
    pub role: Role,
    /// What was done.
    pub mode: Mode,
    /// First sector.
    pub lba: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// Accesses outstanding at a time.
    pub depth: u32,
    /// Issued.
    pub start: Nanos,
    /// Complete; equal to `start` if it failed.
    pub end: Nanos,
    /// Whether it succeeded.
    pub ok: bool,
    /// The run it belongs to: clocks of different runs do not agree.
    pub session: u16,
}

impl Sample {
    /// What it took.
    pub fn latency_ms(&self) -> f64 {
        self.end.saturating_sub(self.start).as_ms()
    }
}
