//! What a probe leaves: every sample with its time window, as it was taken.
//!
//! A record is a Parquet file. While it is being taken it is a stream of Arrow batches beside it (`NAME.part`), which is
//! readable up to the last whole batch whatever happens; see [`store`].

mod columns;
mod probe_name;
mod sample;
pub(crate) mod series;
pub mod store;

pub use columns::{batch, schema};
pub use probe_name::ProbeName;
pub use sample::{Role, Sample};

use crate::device::DeviceInfo;
use crate::streams::StreamGrid;
use serde::{Deserialize, Serialize};

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
    /// What the probe `stream` was asked for; absent where it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamGrid>,
    /// The sector that the disk's clock is set by, whose times the samples have, where the speed wanders; absent where they are those
    /// of the host's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_lba: Option<u64>,
    /// Of a simulated device the options that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
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
                streams: None,
                clock_lba: None,
                made_by: None,
            },
            samples: Vec::new(),
        }
    }

    /// The samples of a probe that succeeded.
    pub fn of(&self, probe: ProbeName) -> impl Iterator<Item = &Sample> + Clone {
        self.samples.iter().filter(move |sample| sample.probe == probe && sample.ok)
    }

    /// Accesses that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| !sample.ok)
    }

    /// Whether a probe ran to its end.
    pub fn has_finished(&self, probe: ProbeName) -> bool {
        self.head.finished.iter().any(|finished| finished == probe.as_str())
    }
}
