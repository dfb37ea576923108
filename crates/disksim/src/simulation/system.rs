//! Buses and drives: the slowest bus between driver and disk is the one that counts.

use super::host::Host;
use super::organisation::Volume;
use super::topology::Path;
use super::{DriveFile, simple_disk};
use crate::electronics::BusTimes;
use crate::error::ImportError;
use crate::fields::Fields;
use crate::import::{Import, checked, of_disk};
use crate::meaning::Meaning;
use crate::report::Report;
use crate::sources::Sources;
use crate::tree::Block;
use headstack_drive::layout::Layout;
use headstack_drive::spec::{BusSpec, DriveSpec};
use headstack_system::SystemSpec;
use headstack_system::bus::Arbitration;
use headstack_system::spec::{HostSpec, SystemBusSpec, VolumeSpec};
use std::collections::BTreeMap;

/// A bus without a block time is as quick as one that takes this long for a block, in ms.
const UNTIMED_MS: f64 = 5.12e-7;

const READ: &str = "Read block transfer time";
const WRITE: &str = "Write block transfer time";
const NOT_BUILT: &str = "component not built yet";

/// A disk of the system.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) bus: String,
    pub(super) sectors: u64,
}

/// Everything but host and volumes.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) disks: Vec<Disk>,
    buses: BTreeMap<String, SystemBusSpec>,
    files: Vec<DriveFile>,
    /// Block, bus times, drive, file name.
    models: Vec<(String, [u64; 2], DriveSpec, String)>,
}

pub(super) fn build(
    paths: &[Path<'_>],
    host: &Host,
    prefix: &str,
    sources: &mut Sources,
    report: &mut Report,
) -> Result<Built, ImportError> {
    let mut built = Built::default();
    for path in paths {
        let bus = slowest(path)?;
        let times = path_times(path)?;
        let at = built.model(path, &times, host, prefix, sources, report)?;
        let (_, _, spec, file) = &built.models[at];
        let (own, file, sectors) = (spec.bus.clone(), file.clone(), Layout::new(&spec.layout).capacity());
        built.attach(path, bus, &own, report)?;
        let name = path.disk.name.clone();
        built.disks.push(Disk { name, file, bus: path.buses[bus].name.clone(), sectors });
    }
    others_on_the_way(paths, report)?;
    Ok(built)
}

/// Read and write times of a bus for a block, in ms.
fn block_times(block: &Block) -> Result<(f64, f64), ImportError> {
    let fields = Fields { block };
    let time = |name: &str| fields.find(name).map_or(Ok(0.0), |_| fields.need_amount(name));
    Ok((time(READ)?, time(WRITE)?))
}

/// The slowest bus of a path; the nearest to the disk of equally slow ones.
fn slowest(path: &Path<'_>) -> Result<usize, ImportError> {
    let mut found = (0, -1.0);
    for (index, bus) in path.buses.iter().enumerate() {
        let (read, write) = block_times(bus.block)?;
        if read.max(write) >= found.1 {
            found = (index, read.max(write));
        }
    }
    Ok(found.0)
}

/// What a block takes from disk to driver: data pass everything on their way at the pace of the slowest.
fn path_times(path: &Path<'_>) -> Result<BusTimes, ImportError> {
    let at = path.buses.last().map_or(&path.disk.block.at, |bus| &bus.block.at).clone();
    let mut times = BusTimes { at, read_ms: UNTIMED_MS, write_ms: UNTIMED_MS };
    for bus in &path.buses {
        let (read, write) = block_times(bus.block)?;
        (times.read_ms, times.write_ms) = (times.read_ms.max(read), times.write_ms.max(write));
    }
    for controller in &path.controllers {
        let bulk = Fields { block: controller.block }.real("Bulk sector transfer time")?.unwrap_or(0.0);
        (times.read_ms, times.write_ms) = (times.read_ms.max(bulk), times.write_ms.max(bulk));
    }
    Ok(times)
}

/// Buses that are passed, too, but are not the one that counts.
fn others_on_the_way(paths: &[Path<'_>], report: &mut Report) -> Result<(), ImportError> {
    let mut seen: BTreeMap<&str, (&Block, Vec<&str>)> = BTreeMap::new();
    for path in paths {
        let chosen = slowest(path)?;
        for bus in path.buses.iter().enumerate().filter(|(index, _)| *index != chosen).map(|(_, bus)| bus) {
            let entry = seen.entry(bus.name.as_str()).or_insert((bus.block, Vec::new()));
            let below = path.buses[chosen].name.as_str();
            if !entry.1.contains(&below) {
                entry.1.push(below);
            }
        }
    }
    for (name, (block, below)) in seen {
        let (read, write) = block_times(block)?;
        let is_owned = Fields { block }.whole("type", 0, 1000)?.unwrap_or(1) == 1;
        let value = format!("{read} ms read, {write} ms write, shared by {}", below.join(", "));
        let parameter = format!("bus {name}");
        if below.len() > 1 && (is_owned || read.max(write) > 0.0) {
            report.not_carried(
                parameter,
                value,
                "a drive has one bus; waiting for a second one is not modelled",
            );
        } else {
            report.carried(parameter, "the slowest bus on the way counts, and this one makes nobody wait");
        }
    }
    Ok(())
}

impl Built {
    /// The drive of a disk, made once for each block and bus time: its position.
    fn model(
        &mut self,
        path: &Path<'_>,
        times: &BusTimes,
        host: &Host,
        prefix: &str,
        sources: &mut Sources,
        report: &mut Report,
    ) -> Result<usize, ImportError> {
        let block = path.disk.block;
        let key = [times.read_ms.to_bits(), times.write_ms.to_bits()];
        let known = self.models.iter().position(|(name, bits, ..)| *name == block.name && *bits == key);
        if let Some(known) = known {
            return Ok(known);
        }
        let mut part = report.part();
        let (spec, toml) = if block.kind == "disksim_simpledisk" {
            let toml = simple_disk::toml(block, &mut part)?;
            let spec = DriveSpec::from_toml(&block.name, &toml)
                .map_err(|error| ImportError::at(&block.at, format!("no sound drive: {error}")))?;
            (spec, toml)
        } else {
            let mut spec = of_disk(block, Some(times), sources, &mut part)?;
            spec.fidelity.constant_ms = host.constant_ms;
            checked(&spec, &block.at)?;
            part.read(sources);
            let import = Import { spec, report: part.clone(), note: None };
            (import.spec.clone(), import.to_toml())
        };
        part.files.clear();
        report.merge(&block.name, part);
        let mut name = format!("{prefix}{}.toml", file_stem(&block.name));
        if self.files.iter().any(|file| file.name == name) {
            name = format!("{prefix}{}-{}.toml", file_stem(&block.name), self.files.len());
        }
        self.files.push(DriveFile { name: name.clone(), toml });
        self.models.push((block.name.clone(), key, spec, name));
        Ok(self.models.len() - 1)
    }

    /// Puts a disk on a bus, which is as quick as its slowest disk.
    fn attach(
        &mut self,
        path: &Path<'_>,
        bus: usize,
        own: &BusSpec,
        report: &mut Report,
    ) -> Result<(), ImportError> {
        let instance = &path.buses[bus];
        let Some(known) = self.buses.get_mut(&instance.name) else {
            let made = bus_of(instance.block, own, report)?;
            report.carried(format!("bus {}", instance.name), format!("bus.{}", instance.name));
            self.buses.insert(instance.name.clone(), made);
            return Ok(());
        };
        let slower = |mine: &mut Option<f64>, other: f64| match mine {
            Some(rate) if (*rate - other).abs() > 1e-9 * other => {
                *rate = rate.min(other);
                true
            }
            _ => false,
        };
        let read = slower(&mut known.read_mb_per_s, own.read_mb_per_s);
        let write = slower(&mut known.write_mb_per_s, own.write_mb_per_s);
        if read || write {
            let message = format!(
                "the disks on {} transfer at different rates; here a bus has one, that of its slowest disk",
                instance.name
            );
            if !report.warnings.iter().any(|warning| warning.message == message) {
                report.warn(&instance.block.at, message);
            }
        }
        // In DiskSim a disk lets go of its bus when it disconnects, which it does once a command is decoded.
        known.commands_hold = report.meaning == Meaning::Disksim;
        known.reconnect_us = known.reconnect_us.max(own.reconnect_us);
        known.disconnects &= own.disconnects;
        Ok(())
    }

    /// The system file's values, and the drive files.
    pub(super) fn into_spec(
        self,
        summary: String,
        host: HostSpec,
        volumes: &[Volume],
    ) -> (SystemSpec, Vec<DriveFile>) {
        let volume = volumes.iter().map(|volume| {
            let disks = volume.array.disks.iter().map(|&disk| &self.disks[disk]);
            let spec = VolumeSpec {
                drives: disks.map(|disk| disk.file.clone()).collect(),
                bus: volume.bus.clone(),
                ..volume.array.spec.clone()
            };
            (volume.name.clone(), spec)
        });
        let volume: BTreeMap<String, VolumeSpec> = volume.collect();
        let mut bus = self.buses;
        bus.retain(|name, _| volume.values().any(|volume| volume.bus.as_ref() == Some(name)));
        (SystemSpec { summary, host, volume, bus }, self.files)
    }

    /// The bus that all of some disks are on.
    pub(super) fn bus_of_all(&self, disks: &[usize]) -> Option<String> {
        let bus = &self.disks[*disks.first()?].bus;
        disks.iter().all(|&disk| self.disks[disk].bus == *bus).then(|| bus.clone())
    }

    /// Whether each of some disks is alone on a bus that is as its drive file has it.
    pub(super) fn have_own_buses(&self, disks: &[usize]) -> bool {
        disks.iter().map(|&disk| &self.disks[disk]).all(|disk| {
            let is_alone = self.disks.iter().filter(|other| other.bus == disk.bus).count() == 1;
            let own = self.models.iter().find(|model| model.3 == disk.file).map(|model| &model.2.bus);
            let shared = self.buses.get(&disk.bus).filter(|bus| bus.outstanding.is_none());
            let rates = shared.and_then(|bus| bus.rates().ok());
            let as_own =
                own.zip(rates).is_some_and(|(own, bus)| BusSpec { kind: own.kind.clone(), ..bus } == *own);
            is_alone && as_own
        })
    }
}

fn bus_of(block: &Block, own: &BusSpec, report: &mut Report) -> Result<SystemBusSpec, ImportError> {
    let fields = Fields { block };
    let kind = fields.whole("type", 0, 1000)?.unwrap_or(1);
    if kind != 1 {
        let reason = format!("{NOT_BUILT}: transfers on a bus do not interleave");
        report.not_carried(format!("type of {}", block.name), kind.to_string(), reason);
    }
    let arbitration = match fields.whole("Arbitration type", 0, 1000)?.unwrap_or(2) {
        1 => Arbitration::Priority,
        _ => Arbitration::Fifo,
    };
    Ok(SystemBusSpec {
        kind: String::new(),
        rate_mb_per_s: None,
        read_mb_per_s: Some(own.read_mb_per_s),
        write_mb_per_s: Some(own.write_mb_per_s),
        arbitration_us: 1e3 * fields.real("Arbitration time")?.unwrap_or(0.0),
        reconnect_us: own.reconnect_us,
        disconnects: own.disconnects,
        commands_hold: false,
        arbitration,
        outstanding: None,
    })
}

/// A block's name as part of a file's name.
fn file_stem(name: &str) -> String {
    let dashed = name.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let parts: Vec<&str> = dashed.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "drive".to_owned() } else { parts.join("-") }
}
