//! The system file, and the configuration it resolves to: host driver, buses, volumes, drives.

mod array;
mod array_cache;
mod buffer_cache;
mod config;
mod load;
mod rebuild;
#[cfg(test)]
mod tests;

pub use array::{
    ArrayOptions, DeclusteredOptions, Design, ParityLayout, ParityRange, ReadChoice, SmallWrites, Spindles,
    WriteOrder,
};
pub(crate) use array_cache::ArrayCacheKind;
pub use array_cache::{
    ArrayCacheRoom, ArrayCacheSpec, ArrayCacheWrites, ArrayDeviceSpec, ArrayMemorySpec, ArrayReadAhead,
    DeviceWrites,
};
pub use buffer_cache::{BufferCacheSpec, CacheWritePolicy, SyncOrder};
pub use config::{BusConfig, DriveConfig, SystemConfig, VolumeConfig, config_hash};
pub use rebuild::{DriveFailure, RebuildOrder, RebuildPriority, RebuildReads, RebuildSpec};

use headstack_drive::spec::BusSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::bus::Arbitration;

/// A system, as in its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemSpec {
    /// One line on what the system is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// The host.
    #[serde(default)]
    pub host: HostSpec,
    /// Buses that volumes name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bus: BTreeMap<String, SystemBusSpec>,
    /// Volumes; requests address them by number, in alphabetical order of their names.
    pub volume: BTreeMap<String, VolumeSpec>,
}

/// The host and its disk driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Bytes in a sector of the host's requests; absent: that of the drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sector_bytes: Option<u32>,
    /// Order in which the driver hands waiting requests to a drive: `fcfs`, `c-look`, `vscan(0.2)`,
    /// `sptf+age-limit(500 ms)`, …
    #[serde(default = "fcfs")]
    pub scheduler: String,
    /// What the driver knows of the drives. Absent: addresses; the layout, where the scheduler is one that needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<HostKnowledge>,
    /// CPU time to issue a request, in ms; one request at a time.
    #[serde(default)]
    pub cpu_ms_per_request: f64,
    /// How many requests per drive the scheduler chooses from; further ones wait in order of arrival. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<u32>,
    /// How many commands the driver hands to a drive (to each of its actuators) at a time; absent: as many as it
    /// accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding_per_drive: Option<u32>,
    /// The buffer cache above the driver; absent: every request goes to the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_cache: Option<BufferCacheSpec>,
}

/// What a driver knows of its drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostKnowledge {
    /// Addresses: the nearest address counts as the nearest sector.
    Addresses,
    /// The cylinder of each address.
    Cylinders,
    /// Layout, seek times and overheads, and where the disk is at any instant.
    Layout,
}

impl HostKnowledge {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        ["addresses", "cylinders", "layout"][self as usize]
    }
}

impl Default for HostSpec {
    fn default() -> Self {
        Self {
            sector_bytes: None,
            scheduler: fcfs(),
            knowledge: None,
            cpu_ms_per_request: 0.0,
            queue_limit: None,
            outstanding_per_drive: None,
            buffer_cache: None,
        }
    }
}

fn fcfs() -> String {
    "fcfs".to_owned()
}

/// A bus that the drives of one or more volumes share. MB = 10⁶ bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemBusSpec {
    /// Its name ("SCSI-2"), for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Both directions, in 10⁶ bytes per second…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_mb_per_s: Option<f64>,
    /// …or drive to host, in 10⁶ bytes per second,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_mb_per_s: Option<f64>,
    /// and host to drive, in 10⁶ bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_mb_per_s: Option<f64>,
    /// Gaining control of an idle bus, in µs, at the start of every data transfer.
    #[serde(default)]
    pub arbitration_us: f64,
    /// Reconnecting after a disconnect, in µs, at the start of every data transfer that followed mechanical work.
    #[serde(default)]
    pub reconnect_us: f64,
    /// Drives let go of the bus while they wait for the mechanism; otherwise a drive holds it from command to
    /// completion.
    #[serde(default = "yes")]
    pub disconnects: bool,
    /// A drive that is given a command has the bus for that, too, and keeps it through the overhead of the command: drives wait
    /// for each other's commands, not only for their data. Without it a command takes the bus for its data alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub commands_hold: bool,
    /// Who goes first when several wait.
    #[serde(default)]
    pub arbitration: Arbitration,
    /// How many commands its drives, or the controller they hang on, take at a time, all together; absent: as many as
    /// each of them takes. Where more wait, the drive whose waiting command came first gets the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl SystemBusSpec {
    /// As a drive sees it.
    ///
    /// # Errors
    /// What is missing or cannot be, in words.
    pub fn rates(&self) -> Result<BusSpec, String> {
        let (read, write) = match (self.rate_mb_per_s, self.read_mb_per_s, self.write_mb_per_s) {
            (Some(both), None, None) => (both, both),
            (None, Some(read), Some(write)) => (read, write),
            _ => return Err("give `rate_mb_per_s`, or both `read_mb_per_s` and `write_mb_per_s`".to_owned()),
        };
        for rate in [read, write] {
            if !(rate > 0.0 && rate <= 1e9) {
                return Err(format!("a rate of {rate} MB/s is not between 0 and 10⁹"));
            }
        }
        for cost in [self.arbitration_us, self.reconnect_us] {
            if !(0.0..=1e6).contains(&cost) {
                return Err(format!("a cost of {cost} µs is not between 0 and 10⁶"));
            }
        }
        Ok(BusSpec {
            kind: self.kind.clone(),
            read_mb_per_s: read,
            write_mb_per_s: write,
            arbitration_us: self.arbitration_us,
            reconnect_us: self.reconnect_us,
            disconnects: self.disconnects,
        })
    }
}

/// One address space over one or more drives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeSpec {
    /// How addresses are spread: `single` (one drive), `concatenation` (one drive after the other), `mirror` or `raid-1` (the
    /// same data on every drive), `raid-0` (stripe units go round), `raid-10` (they go round, each on several drives), `raid-4`
    /// (parity on the last drive), `raid-5` (parity goes round), `raid-6` (two parities go round), `declustered` (stripes of
    /// data and parity over more drives than they have members).
    #[serde(default = "single")]
    pub level: String,
    /// Library names or drive files (relative to the system file), in order.
    pub drives: Vec<String>,
    /// The bus they are on; absent: each drive has one to itself, as in its drive file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<String>,
    /// With stripes: data that lie on one drive before the next one follows, in KiB; 64 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_unit_kib: Option<f64>,
    /// `raid-5`, `raid-6`: how parity goes round the drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_layout: Option<ParityLayout>,
    /// With parity: how it is brought up to date where a write covers only part of a stripe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub small_writes: Option<SmallWrites>,
    /// With parity: what a write to a drive waits for, where parity takes reads first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_order: Option<WriteOrder>,
    /// With parity: whether writes of the same stripe wait for each other, as they must where the parity is to be right; true if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_lock: Option<bool>,
    /// With parity: how much of a stripe's parity is worked out anew where a write covers several units of it in part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_range: Option<ParityRange>,
    /// With parity: commands of a request to one drive whose ends lie no farther apart than this become one, in KiB; what lies
    /// between is read or written with them. 0 if absent: only neighbours are joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join_gap_kib: Option<f64>,
    /// With copies: which one is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_choice: Option<ReadChoice>,
    /// `raid-10`: copies of the data; 2 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// All levels but `single` and `concatenation`: whether the drives may differ in size; of each as much is used as the
    /// smallest has. false if absent: such a volume is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unequal_drives: Option<bool>,
    /// All levels but `single` and `concatenation`: whether the drives' spindles are `synchronised`, as is the case if absent, or stand
    /// `apart`, each at an angle drawn from the run's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spindles: Option<Spindles>,
    /// With redundancy: drives that have failed before the run, as positions in `drives`, counted from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_drives: Vec<usize>,
    /// With redundancy: drives that fail during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<DriveFailure>,
    /// With redundancy: spare drives, as in `drives`; they take the place of failed ones, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spares: Vec<String>,
    /// With spares: how what failed drives held is brought onto them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildSpec>,
    /// `declustered`: how stripes lie over the drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declustered: Option<DeclusteredOptions>,
    /// The controller between driver and volume that has a cache; absent: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<ArrayCacheSpec>,
}

impl VolumeSpec {
    /// The options that were given, and all of them with what holds where they were not.
    pub(crate) fn options(&self) -> (Vec<&'static str>, ArrayOptions) {
        let usual = ArrayOptions::default();
        let given = [
            ("stripe_unit_kib", self.stripe_unit_kib.is_some()),
            ("parity_layout", self.parity_layout.is_some()),
            ("small_writes", self.small_writes.is_some()),
            ("write_order", self.write_order.is_some()),
            ("stripe_lock", self.stripe_lock.is_some()),
            ("parity_range", self.parity_range.is_some()),
            ("join_gap_kib", self.join_gap_kib.is_some()),
            ("read_choice", self.read_choice.is_some()),
            ("copies", self.copies.is_some()),
            ("unequal_drives", self.unequal_drives.is_some()),
            ("spindles", self.spindles.is_some()),
            ("failed_drives", !self.failed_drives.is_empty()),
            ("failures", !self.failures.is_empty()),
            ("spares", !self.spares.is_empty()),
            ("rebuild", self.rebuild.is_some()),
            ("declustered", self.declustered.is_some()),
        ];
        let options = ArrayOptions {
            stripe_unit_kib: self.stripe_unit_kib.unwrap_or(usual.stripe_unit_kib),
            parity_layout: self.parity_layout.unwrap_or_default(),
            small_writes: self.small_writes.unwrap_or_default(),
            write_order: self.write_order.unwrap_or_default(),
            stripe_lock: self.stripe_lock.unwrap_or(usual.stripe_lock),
            parity_range: self.parity_range.unwrap_or_default(),
            join_gap_kib: self.join_gap_kib.unwrap_or(usual.join_gap_kib),
            read_choice: self.read_choice.unwrap_or_default(),
            copies: self.copies.unwrap_or(usual.copies),
            unequal_drives: self.unequal_drives.unwrap_or_default(),
            spindles: self.spindles.unwrap_or_default(),
            failed_drives: self.failed_drives.clone(),
            failures: self.failures.clone(),
            rebuild: self.rebuild.unwrap_or_default(),
            declustered: self.declustered.unwrap_or_default(),
        };
        (given.into_iter().filter_map(|(key, is_given)| is_given.then_some(key)).collect(), options)
    }
}

fn single() -> String {
    "single".to_owned()
}
