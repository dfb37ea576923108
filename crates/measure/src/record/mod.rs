//! What a probe leaves: every sample with its time window, as it was taken.
//!
//! A record is a Parquet file. While it is being taken it is a stream of Arrow batches beside it (`NAME.part`), which is
//! readable up to the last whole batch whatever happens; see [`store`].

mod columns;
pub mod store;

pub use columns::{batch, schema};

use crate::device::{DeviceInfo, Mode};
use headstack_units::Nanos;
use serde::{Deserialize, Serialize};

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
    /// The probe, as a position in [`crate::probe::NAMES`].
    pub probe: u8,
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

/// What is known about a record beside its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordHead {
    /// The device.
    pub device: DeviceInfo,
    /// Version of what took it.
    pub version: String,
    /// Probes that ran to their end.
    pub finished: Vec<String>,
    /// How the device was written: "write" (writes reach the media), "write-forced" (they had to be forced to), "read" (it
    /// must not be written).
    pub writes: String,
    /// Runs it was taken in.
    pub sessions: u16,
}

/// All samples of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What is known beside the samples.
    pub head: RecordHead,
    /// The samples, in the order they were taken.
    pub samples: Vec<Sample>,
}

impl Record {
    /// An empty record of a device.
    pub fn new(device: DeviceInfo) -> Self {
        Self {
            head: RecordHead {
                device,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                finished: Vec::new(),
                writes: String::new(),
                sessions: 0,
            },
            samples: Vec::new(),
        }
    }

    /// The samples of a probe that succeeded.
    pub fn of(&self, probe: &str) -> impl Iterator<Item = &Sample> + Clone {
        let number = crate::probe::number(probe);
        self.samples.iter().filter(move |sample| Some(sample.probe) == number && sample.ok)
    }

    /// Accesses that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| !sample.ok)
    }

    /// Whether a probe ran to its end.
    pub fn has_finished(&self, probe: &str) -> bool {
        self.head.finished.iter().any(|finished| finished == probe)
    }
}
