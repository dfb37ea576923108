//! A system that can run: tables of its drives, and how volumes lie over them.

use std::sync::Arc;

use headstack_drive::command::BusTiming;
use headstack_drive::scheduler::Policy;
use headstack_drive::{Drive, DriveModel};
use headstack_trace::Request;
use headstack_units::{Angle, Lba, Nanos, Op, RequestFlags};

use crate::SystemError;
use crate::bus::Bus;
use crate::host::DriverQueue;
use crate::layer::buffer_cache::BufferCacheLayer;
use crate::layer::{
    AnyLayer, AnyVolume, ArrayCache, ArrayCacheParts, FlushFirst, Level, Members, UnitMap, UnitPart, level,
};
use crate::random::component_seed;
use crate::spec::{ArrayCacheSpec, ArrayOptions, HostSpec, Spindles, SystemConfig, VolumeConfig};
use crate::targets::{intake_of, rebuild_of};
use crate::workload::DeviceShape;

/// A request transfers no more: when each of its sectors comes and goes is kept while it is served. (Linux sends some thousand.)
const MOST_SECTORS: u32 = 1 << 24;

/// One actuator of one drive, as the driver sees it.
#[derive(Clone, Debug)]
pub(crate) struct UnitPlace {
    /// The drive it belongs to.
    pub(crate) drive: usize,
    /// Which of the drive's actuators.
    pub(crate) actuator: u32,
    /// Its bus.
    pub(crate) bus: usize,
    /// Most commands it is given at a time.
    pub(crate) limit: u32,
    /// Most commands of a rebuild it is given at a time.
    pub(crate) background_limit: u32,
    /// The order of a queue of its own, under a controller; else the driver's.
    policy: Option<Policy>,
}

/// One address space, as it is before a run.
#[derive(Clone, Debug)]
pub(crate) struct Volume {
    name: String,
    layer: AnyVolume,
    sectors: u64,
    /// Writes begin and end at multiples of so many sectors, where its drives' are larger than the host's.
    write_sectors: u64,
    /// The units that a flush goes to before the request itself; none where it goes the way of the request.
    flushed: Vec<usize>,
    /// A unit that works from the beginning, where it has several; it answers flushes if none is flushed.
    any: Option<usize>,
}

impl Volume {
    /// The unit on which a sector lies.
    pub(crate) fn unit_of(&self, lba: Lba) -> usize {
        self.layer.unit_of(lba)
    }

    /// Its size in the host's sectors.
    pub(crate) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether its drives may fail during a run, or be rebuilt.
    pub(crate) fn may_rebuild(&self) -> bool {
        self.layer.repair().is_some_and(crate::layer::Repair::is_possible)
    }

    /// As [`AnyVolume::is_stateless`].
    pub(crate) fn is_stateless(&self) -> bool {
        self.layer.is_stateless() && self.flushed.is_empty()
    }

    /// Its layer in a new run.
    fn new_layer(&self) -> AnyLayer {
        match self.any {
            Some(any) if !self.is_stateless() => {
                AnyLayer::FlushFirst(Box::new(FlushFirst::new(self.layer.clone(), self.flushed.clone(), any)))
            }
            _ => AnyLayer::Volume(self.layer.clone()),
        }
    }
}

/// A system that can run. It holds no state of a run: any number of runs may share it.
#[derive(Debug)]
pub struct System {
    config: SystemConfig,
    host_sector_bytes: u32,
    cpu_cost: Nanos,
    policy: Policy,
    models: Vec<Arc<DriveModel>>,
    pub(crate) units: Vec<UnitPlace>,
    pub(crate) volumes: Vec<Volume>,
    /// So many of them are addressed by requests; the others are caches.
    addressed: usize,
    pub(crate) timings: Vec<BusTiming>,
}

impl System {
    /// Builds a configured system.
    ///
    /// # Errors
    /// [`SystemError::Drive`] if a drive's values contradict each other; [`SystemError::Contradiction`] if a drive is
    /// smaller than one of the host's sectors.
    pub fn new(config: SystemConfig) -> Result<Self, SystemError> {
        // A check that `SystemConfig::load` has made already, for configurations built by hand.
        let policy = crate::host::policy(&config.host)?;
        if let Some(problem) = crate::host::check(&config, &policy) {
            return Err(SystemError::Contradiction { origin: config.name.clone(), problems: vec![problem] });
        }
        let mut models: Vec<Arc<DriveModel>> = Vec::new();
        for (index, drive) in config.drives.iter().enumerate() {
            let twin = config.drives[..index].iter().position(|earlier| earlier.spec == drive.spec);
            let model = match twin {
                Some(twin) => Arc::clone(&models[twin]),
                None => Arc::new(DriveModel::new(&drive.spec)?),
            };
            models.push(model);
        }
        let host_sector_bytes =
            config.host.sector_bytes.or(models.first().map(|model| model.sector_bytes())).unwrap_or(512);
        let mut units = Vec::new();
        let mut volumes = Vec::new();
        for volume in &config.volumes {
            let controller = controller_of(&config, volume);
            let controller_policy =
                controller.map(|cache| crate::host::controller_policy(&config.host, cache)).transpose()?;
            let outstanding =
                controller.and_then(|cache| cache.commands_per_drive).or(config.host.outstanding_per_drive);
            let mut drives = Vec::new();
            let first = units.len();
            let (mut flushed, mut any) = (Vec::new(), None);
            for (place, &drive) in volume.drives.iter().chain(&volume.spares).enumerate() {
                let model = &models[drive];
                let actuators = model.actuators();
                let sectors = model.capacity_sectors() / u64::from(actuators);
                let accepted = model.queue_depth();
                let limit = outstanding.map_or(accepted, |limit| limit.min(accepted));
                let part = |unit| UnitPart::new(unit, sectors, model.sector_bytes(), host_sector_bytes);
                drives.push(UnitMap::new((units.len()..).take(actuators as usize).map(part).collect()));
                let works = !volume.options.failed_drives.contains(&place);
                any = any.or(works.then_some(units.len()));
                if model.holds_writes() && works {
                    flushed.extend((units.len()..).take(actuators as usize));
                }
                let bus = config.drives[drive].bus;
                let background_limit = volume.options.rebuild.commands_per_drive;
                units.extend((0..actuators).map(|actuator| UnitPlace {
                    drive,
                    actuator,
                    bus,
                    limit,
                    background_limit,
                    policy: controller_policy,
                }));
            }
            let spares = drives.split_off(volume.drives.len());
            let problem = too_small(volume, &drives, &spares);
            if let Some(problem) = problem.or(unequal(volume, level(&volume.level)?, &drives)) {
                return Err(SystemError::Contradiction {
                    origin: config.name.clone(),
                    problems: vec![problem],
                });
            }
            let rebuild = rebuild_of(&config, volume, &models);
            let options = ArrayOptions { rebuild, ..volume.options.clone() };
            let intake = intake_of(volume, &models, drives.iter().chain(&spares));
            let stripe_unit =
                ((options.stripe_unit_kib * 1024.0) as u64 / u64::from(host_sector_bytes)).max(1);
            let members = Members {
                level: volume.level.clone(),
                drives,
                spares,
                stripe_unit,
                sector_bytes: host_sector_bytes,
                options,
                intake,
            };
            let layer = (level(&volume.level)?.new)(members);
            let sectors = layer.sectors();
            if sectors == 0 {
                let kib = volume.options.stripe_unit_kib;
                return Err(SystemError::Contradiction {
                    origin: config.name.clone(),
                    problems: vec![format!(
                        "volume {} has no room for a sector: a stripe, with units of {kib} KiB, is larger than its drives; take a \
                         smaller `stripe_unit_kib`, `row_kib` or larger drives",
                        volume.name
                    )],
                });
            }
            if units.len() - first == 1 {
                flushed.clear();
                any = None;
            }
            let largest = largest_sector(&config, volume).max(host_sector_bytes);
            let write_sectors = u64::from(largest / host_sector_bytes);
            volumes.push(Volume { name: volume.name.clone(), layer, sectors, write_sectors, flushed, any });
        }
        let timings = config.buses.iter().map(|bus| BusTiming::new(&bus.spec)).collect();
        let cpu_cost = Nanos::from_ms(config.host.cpu_ms_per_request);
        let addressed = config.volumes.iter().filter(|volume| !volume.is_cache).count();
        Ok(Self { config, host_sector_bytes, cpu_cost, policy, models, units, volumes, addressed, timings })
    }

    /// Finds, reads and builds a system; see [`SystemConfig::load`].
    ///
    /// # Errors
    /// As [`SystemConfig::load`] and [`System::new`].
    pub fn load(name: &str, overrides: &[(String, String)]) -> Result<Self, SystemError> {
        Self::new(SystemConfig::load(name, overrides)?)
    }

    /// The volumes that requests address.
    fn addressed(&self) -> &[Volume] {
        &self.volumes[..self.addressed]
    }

    /// What it was built from.
    pub fn config(&self) -> &SystemConfig {
        &self.config
    }

    /// The tables of the drive at a position in the configuration's list.
    pub fn model(&self, drive: usize) -> Option<&Arc<DriveModel>> {
        self.models.get(drive)
    }

    /// On a bus that commands hold: for how long a read of a unit does, and a write.
    pub(crate) fn command_hold(&self, place: &UnitPlace) -> Option<[Nanos; 2]> {
        let spec = &self.config.drives[place.drive].spec;
        let overheads = [spec.controller.read_overhead_ms, spec.controller.write_overhead_ms];
        // A drive that takes a constant time is through with its command by then.
        let most = spec.fidelity.constant_ms.unwrap_or(f64::INFINITY);
        let bus = &self.config.buses[place.bus];
        (bus.commands_hold && bus.spec.disconnects).then(|| overheads.map(|ms| Nanos::from_ms(ms.min(most))))
    }

    /// Bytes in a sector of the host's requests.
    pub fn sector_bytes(&self) -> u32 {
        self.host_sector_bytes
    }

    /// The volumes as request generators and trace shaping see them, in order of their device numbers.
    pub fn devices(&self) -> Vec<DeviceShape> {
        let shape = |volume: &Volume| DeviceShape {
            name: volume.name.clone(),
            sectors: volume.sectors,
            sector_bytes: self.host_sector_bytes,
        };
        self.volumes.iter().take(self.addressed).map(shape).collect()
    }

    /// The units of a volume's drives, spares included.
    pub(crate) fn units_of(&self, volume: usize) -> Vec<usize> {
        let VolumeConfig { drives, spares, .. } = &self.config.volumes[volume];
        let is_of = |unit: &usize| {
            let drive = self.units[*unit].drive;
            drives.contains(&drive) || spares.contains(&drive)
        };
        (0..self.units.len()).filter(is_of).collect()
    }

    /// The drives of a new run, one per unit, at rest.
    pub(crate) fn new_drives(&self, seed: u64) -> Vec<Drive> {
        let drive = |unit: &UnitPlace| {
            let component = format!("drive.{}.actuator.{}", unit.drive, unit.actuator);
            let mut drive =
                Drive::new(Arc::clone(&self.models[unit.drive]), component_seed(seed, &component));
            drive.keep_work();
            if self.stands_apart(unit.drive) {
                let spindle = component_seed(seed, &format!("drive.{}.spindle", unit.drive));
                drive.relock(Nanos::ZERO, Angle(spindle));
            }
            drive
        };
        self.units.iter().map(drive).collect()
    }

    /// Whether a drive's spindle stands at an angle of its own; one for all of its actuators.
    fn stands_apart(&self, drive: usize) -> bool {
        let volumes = self.config.volumes.iter();
        let mut its =
            volumes.filter(|volume| volume.drives.contains(&drive) || volume.spares.contains(&drive));
        its.any(|volume| volume.options.spindles == Spindles::Apart)
    }

    /// The buses of a new run.
    pub(crate) fn new_buses(&self) -> Vec<Bus> {
        self.config
            .buses
            .iter()
            .zip(&self.timings)
            .map(|(bus, timing)| Bus::new(*timing, bus.arbitration))
            .collect()
    }

    /// The driver's order of service.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// The driver's empty queue for a unit.
    pub(crate) fn new_queue(&self, unit: usize) -> DriverQueue {
        let place = &self.units[unit];
        let model = &self.models[place.drive];
        match place.policy {
            None => crate::host::queue(&self.config.host, self.policy, model),
            Some(policy) => crate::host::queue(&HostSpec::default(), policy, model),
        }
    }

    /// CPU time per request.
    pub(crate) fn cpu_cost(&self) -> Nanos {
        self.cpu_cost
    }

    /// The layers of a new run: the volumes, by their numbers, then their controllers, and last the buffer cache if there is one.
    pub(crate) fn new_layers(&self) -> Vec<AnyLayer> {
        let volumes = self.volumes.iter().map(Volume::new_layer);
        let caches = (0..self.volumes.len()).filter_map(|volume| self.new_array_cache(volume));
        let cache = self.config.host.buffer_cache.as_ref().and_then(|spec| {
            let sectors = self.devices().iter().map(|device| device.sectors).collect();
            let cache = BufferCacheLayer::new(spec, self.host_sector_bytes, sectors)?;
            Some(AnyLayer::BufferCache(Box::new(cache)))
        });
        volumes.chain(caches).chain(cache).collect()
    }

    /// The layers by which requests enter the volumes: their own, or their controllers'.
    pub(crate) fn entries(&self) -> Vec<usize> {
        let mut next = self.volumes.len();
        let mut entry = |(volume, config): (usize, &VolumeConfig)| {
            let is_cached = config.cache.is_some();
            next += usize::from(is_cached);
            if is_cached { next - 1 } else { volume }
        };
        self.config.volumes.iter().enumerate().map(&mut entry).collect()
    }

    /// Whether a drive's duration limits may end commands without their data.
    pub(crate) fn ends_commands(&self, drive: usize) -> bool {
        self.model(drive).is_some_and(|model| model.ends_commands())
    }

    /// Whether a controller has a cache.
    pub(crate) fn has_array_cache(&self) -> bool {
        self.config.volumes.iter().any(|volume| volume.cache.is_some())
    }

    /// A volume's controller in a new run.
    fn new_array_cache(&self, volume: usize) -> Option<AnyLayer> {
        let spec = self.config.volumes[volume].cache.as_ref()?;
        let named = |name: &str| self.volumes.iter().position(|volume| volume.name == name);
        let cache = spec.cache_volume().and_then(named).unwrap_or(volume);
        let cache = ArrayCache::new(&ArrayCacheParts {
            spec,
            volume: volume as u32,
            cache: cache as u32,
            sectors: self.volumes[volume].sectors,
            cache_sectors: self.volumes[cache].sectors,
            sector_bytes: self.host_sector_bytes,
            policy: self.policy,
            queue_limit: self.config.host.queue_limit,
        })?;
        Some(AnyLayer::ArrayCache(Box::new(cache)))
    }

    /// Whether it can serve a request.
    ///
    /// # Errors
    /// [`SystemError::Request`] for an unknown device, no sectors, sectors beyond the volume's last, or a write of a part of a drive's
    /// sector.
    #[inline]
    pub(crate) fn check(&self, id: u64, request: &Request) -> Result<(), SystemError> {
        if let Some(volume) = self.addressed().get(request.device as usize)
            && request.sectors.wrapping_sub(1) < MOST_SECTORS
            && request.lba.0.checked_add(u64::from(request.sectors)).is_some_and(|end| end <= volume.sectors)
            && (volume.write_sectors == 1 || self.fills_sectors(volume, request))
        {
            return Ok(());
        }
        self.check_rare(id, request)
    }

    /// As [`System::check`], of what is mostly refused.
    #[cold]
    fn check_rare(&self, id: u64, request: &Request) -> Result<(), SystemError> {
        let is_sound = self.addressed().get(request.device as usize).is_some_and(|volume| {
            let end = request.lba.0.saturating_add(u64::from(request.sectors));
            request.is_flush_alone()
                || request.sectors > 0
                    && request.flags.contains(RequestFlags::DISCARD)
                    && end <= volume.sectors
        });
        if is_sound { Ok(()) } else { Err(self.refusal(id, request)) }
    }

    /// Whether a request fills sectors of the drives, or need not: what is read may be part of them, a discard frees the whole ones,
    /// and the host's buffer cache writes whole blocks.
    fn fills_sectors(&self, volume: &Volume, request: &Request) -> bool {
        let straight = RequestFlags::RAW.with(RequestFlags::WRITE_SAME);
        let is_cached = self.config.host.buffer_cache.is_some() && !request.flags.has_any(straight);
        let is_boundary = |lba: u64| lba.is_multiple_of(volume.write_sectors);
        request.op == Op::Read
            || request.flags.contains(RequestFlags::DISCARD)
            || is_cached
            || is_boundary(request.lba.0) && is_boundary(request.lba.0 + u64::from(request.sectors))
    }

    /// A write of a part of a drive's sector.
    fn in_part(&self, volume: &Volume, request: &Request) -> (String, String) {
        let host = u64::from(self.host_sector_bytes);
        let drives = volume.write_sectors * host;
        let problem = format!(
            "writes {} bytes from byte {} on, but the drives of {} write whole sectors of {drives} bytes",
            u64::from(request.sectors) * host,
            u128::from(request.lba.0) * u128::from(host),
            volume.name
        );
        let kib = drives as f64 / 1024.0;
        let hint = format!(
            "write multiples of {kib} KiB at multiples of {kib} KiB (`size`, `align_kib`), or take drives that read the rest first: \
             `sector_bytes = {host}` and `physical_sector_bytes = {drives}`"
        );
        (problem, hint)
    }

    fn refusal(&self, id: u64, request: &Request) -> SystemError {
        let (problem, hint) = match self.addressed().get(request.device as usize) {
            None => (
                format!(
                    "goes to device {}, but {} has only {} (counted from 0)",
                    request.device, self.config.name, self.addressed
                ),
                format!("choose one device of the trace: `--device {}`", request.device),
            ),
            Some(_) if request.sectors == 0 => (
                "has no sectors".to_owned(),
                "a request must transfer something: remove it from the trace".to_owned(),
            ),
            Some(_) if request.sectors > MOST_SECTORS && !request.flags.contains(RequestFlags::DISCARD) => (
                format!(
                    "transfers {} sectors, and a request transfers at most {MOST_SECTORS}",
                    request.sectors
                ),
                "split it, as drivers do: they send some MiB at a time".to_owned(),
            ),
            Some(volume)
                if volume.write_sectors > 1
                    && request.lba.0.saturating_add(u64::from(request.sectors)) <= volume.sectors =>
            {
                self.in_part(volume, request)
            }
            Some(volume) => (
                format!(
                    "asks for {} sectors from {} on, but {} has {} sectors of {} bytes",
                    request.sectors, request.lba.0, volume.name, volume.sectors, self.host_sector_bytes
                ),
                "fit the addresses to the drive with `--fit-lba wrap` (or `scale`, `offset`)".to_owned(),
            ),
        };
        SystemError::Request { id, problem, hint }
    }
}

/// The controller above the drives of a volume: its own, or that of the volume whose cache it is.
fn controller_of<'a>(config: &'a SystemConfig, volume: &'a VolumeConfig) -> Option<&'a ArrayCacheSpec> {
    let is_cached_by = |cache: &&ArrayCacheSpec| cache.cache_volume() == Some(volume.name.as_str());
    let above = || config.volumes.iter().filter_map(|other| other.cache.as_ref()).find(is_cached_by);
    volume.cache.as_ref().or_else(above)
}

/// Bytes in the largest sector of a volume's drives, of those that hosts write as a whole: traces of hosts with sectors below 512 bytes
/// are taken to drives that their hosts would have written in such.
pub(crate) fn largest_sector(config: &SystemConfig, volume: &VolumeConfig) -> u32 {
    let drives = volume.drives.iter().chain(&volume.spares);
    let bytes = drives.map(|&drive| config.drives[drive].spec.sector_bytes).max();
    bytes.filter(|&bytes| bytes > 512).unwrap_or(1)
}

/// Drives of several sizes where the smallest sets how much of each is used, and nobody said that they may.
fn unequal(volume: &VolumeConfig, level: &Level, drives: &[UnitMap]) -> Option<String> {
    if volume.options.unequal_drives || !level.takes().contains(&"unequal_drives") {
        return None;
    }
    let sectors = |place: usize| drives[place].sectors();
    let smallest = (0..drives.len()).min_by_key(|&place| sectors(place))?;
    let largest = (0..drives.len()).max_by_key(|&place| (sectors(place), std::cmp::Reverse(place)))?;
    (sectors(smallest) < sectors(largest)).then(|| {
        format!(
            "`volume.{}.drives`: drive {smallest} has {} sectors and drive {largest} has {}; give drives of one size, or \
             use of each as much as the smallest has: unequal_drives = true",
            volume.name,
            sectors(smallest),
            sectors(largest)
        )
    })
}

/// A spare that is smaller than the drives whose place it is to take.
fn too_small(volume: &VolumeConfig, drives: &[UnitMap], spares: &[UnitMap]) -> Option<String> {
    let needed = drives.iter().map(UnitMap::sectors).min()?;
    let small = spares.iter().position(|spare| spare.sectors() < needed)?;
    Some(format!(
        "`volume.{}.spares`: spare {small} has {} sectors, fewer than the {needed} of the drives whose place it is to take",
        volume.name,
        spares[small].sectors()
    ))
}
