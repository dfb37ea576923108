//! What can be measured: a disk, a file, a simulated system, the paper's formula.
//!
//! A [`Device`] serves accesses and has a clock. Probes know nothing else of it, so that the same probe runs on a raw
//! disk and on a simulated drive whose values are known.

mod mock;
mod only_read;
mod raw;
mod simulated;

pub use mock::{MockDisk, MockParameters};
pub(crate) use only_read::OnlyRead;
pub use raw::{RawDevice, WriteConsent};
pub use simulated::{Noise, SimulatedDevice};

use crate::MeasureError;
use headstack_units::Nanos;
use serde::{Deserialize, Serialize};

/// What is done to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Read.
    Read,
    /// Write; the device may report it complete before it is on the media.
    Write,
    /// Write that is complete when it is on the media (force unit access).
    WriteForced,
    /// Write into the device's cache, and a flush behind it: complete when it is on the media, where the device brought it by itself.
    WriteFlushed,
}

impl Mode {
    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::WriteForced => "write-forced",
            Self::WriteFlushed => "write-flushed",
        }
    }

    /// The mode of a name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::WriteForced, Self::WriteFlushed]
            .into_iter()
            .find(|mode| mode.as_str() == name)
    }

    /// Whether data go to the device.
    pub fn is_write(self) -> bool {
        self != Self::Read
    }
}

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What is done.
    pub mode: Mode,
    /// First sector.
    pub lba: u64,
    /// Number of sectors.
    pub sectors: u32,
}

/// When an access was issued and when it was complete, on the device's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Issued.
    pub start: Nanos,
    /// Complete.
    pub end: Nanos,
}

/// What is known of a device without measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// As it was named.
    pub name: String,
    /// "simulated", "mock", "block-device" or "file".
    pub kind: String,
    /// Addressable sectors.
    pub sectors: u64,
    /// Bytes in a sector.
    pub sector_bytes: u32,
    /// Bytes that the device writes at a time; accesses are aligned to them.
    pub physical_sector_bytes: u32,
    /// Whether it may be written.
    pub writable: bool,
    /// Most accesses at a time.
    pub queue_depth: u32,
    /// What the operating system says on whether it rotates.
    pub rotational: Option<bool>,
    /// What an access of nothing takes, in ns: the part of every window that is not the device's.
    pub overhead_ns: u64,
}

impl DeviceInfo {
    /// Sectors that are written at a time.
    pub fn unit(&self) -> u64 {
        u64::from((self.physical_sector_bytes / self.sector_bytes.max(1)).max(1))
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.sectors * u64::from(self.sector_bytes)
    }
}

/// Anything that serves accesses and has a clock.
pub trait Device {
    /// What is known of it.
    fn info(&self) -> &DeviceInfo;

    /// Of a simulated device how it was made: the options that say so. A real one stays what it is.
    fn made_by(&self) -> Option<&str> {
        None
    }

    /// The present instant.
    fn now(&self) -> Nanos;

    /// Does nothing until an instant.
    ///
    /// # Errors
    /// [`MeasureError::Gone`] if the device is no longer there.
    fn wait_until(&mut self, at: Nanos) -> Result<(), MeasureError>;

    /// One access, issued at once, and waited for.
    ///
    /// # Errors
    /// [`MeasureError::Access`] if it failed and others may succeed, else [`MeasureError::Gone`].
    fn access(&mut self, access: Access) -> Result<Window, MeasureError>;

    /// Accesses with `depth` outstanding at any time; the windows in the order of `accesses`.
    ///
    /// # Errors
    /// As [`Device::access`].
    fn queued(&mut self, accesses: &[Access], depth: u32) -> Result<Vec<Window>, MeasureError>;

    /// Waits until everything written is on the media.
    ///
    /// # Errors
    /// [`MeasureError::Gone`] if the device is no longer there.
    fn flush(&mut self) -> Result<(), MeasureError>;
}

/// How to open a device.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Consent to writing on a real device.
    pub consent: WriteConsent,
    /// Errors of the clock of a simulated device.
    pub noise: Noise,
    /// Seed of what is random in a simulated device.
    pub seed: u64,
    /// Replaced values of a simulated system, as [`headstack_system::System::load`] takes them.
    pub overrides: Vec<(String, String)>,
    /// Treat a simulated device as one that must not be written.
    pub read_only: bool,
}

impl OpenOptions {
    /// A simulated device and what makes it another one, as the command line has it.
    fn words(&self, name: &str) -> String {
        let Noise { relative, outlier_share, outlier_ms } = self.noise;
        let mut words: Vec<String> =
            self.overrides.iter().map(|(path, value)| format!("--set {path}={value}")).collect();
        words.push(format!("--seed {}", self.seed));
        for (option, value) in
            [("--noise-percent", 100.0 * relative), ("--outlier-percent", 100.0 * outlier_share)]
        {
            words.extend((value > 0.0).then(|| format!("{option} {value}")));
        }
        words.extend((outlier_share > 0.0).then(|| format!("--outlier-ms {outlier_ms}")));
        words.extend(self.read_only.then(|| "--read-only".to_owned()));
        format!("{name} {}", words.join(" "))
    }
}

/// Opens a device: `sim:SYSTEM` (a library name, a drive file or a system file), `mock:` (the paper's mock disk), or a
/// path (a block device or a file).
///
/// # Errors
/// [`MeasureError::Refused`] for a device that must not be measured, [`MeasureError::System`] for a system that cannot be
/// built.
pub fn open(name: &str, options: &OpenOptions) -> Result<Box<dyn Device + Send>, MeasureError> {
    if let Some(system) = name.strip_prefix("sim:") {
        let system = headstack_system::System::load(system, &options.overrides)?;
        let mut device =
            SimulatedDevice::new(name, &std::sync::Arc::new(system), options.seed)?.with_noise(options.noise);
        if options.read_only {
            device = device.read_only();
        }
        device = device.made_by(options.words(name));
        return Ok(Box::new(device));
    }
    if name == "mock:" {
        return Ok(Box::new(MockDisk::new(MockParameters::default())?));
    }
    if let Some(rest) = name.strip_prefix("mock:") {
        return Ok(Box::new(MockDisk::new(MockParameters::parse(rest)?)?));
    }
    Ok(Box::new(RawDevice::open(std::path::Path::new(name), &options.consent)?))
}
