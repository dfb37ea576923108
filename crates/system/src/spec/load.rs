//! From a name or a file to a configuration.

use headstack_drive::spec::DriveSpec;
use std::path::Path;

use super::{
    ArrayCacheSpec, BusConfig, DriveConfig, SystemBusSpec, SystemConfig, SystemSpec, VolumeConfig, VolumeSpec,
};
use crate::bus::Arbitration;
use crate::layer::level;
use crate::library::{self, Source};
use crate::system::largest_sector;
use crate::{SystemError, overrides};

/// `--set` pairs.
type Overrides = [(String, String)];

impl SystemConfig {
    /// Finds a system: a library name of a system or a drive, a system file, or a drive file. Overrides are dotted
    /// paths with TOML values: `host.scheduler`, `bus.scsi0.rate_mb_per_s`, `drive.0.rotation_rpm`,
    /// `drive.*.layout.zone.0.sectors_per_track`; for a drive alone also the plain paths of the drive file.
    ///
    /// # Errors
    /// [`SystemError`], naming the file, the place and what would be allowed.
    pub fn load(name: &str, set: &Overrides) -> Result<Self, SystemError> {
        let lists = [library::drives(), library::systems()];
        let source = library::resolve(library::DRIVE_OR_SYSTEM, name, &lists, None)?;
        Self::from_source(&source, set)
    }

    /// Reads a system file or a drive file: it is a system if it has a `[volume…]` table or begins to be one.
    ///
    /// # Errors
    /// As [`SystemConfig::load`].
    pub fn from_source(source: &Source, set: &Overrides) -> Result<Self, SystemError> {
        if is_system(&source.text) { system(source, set) } else { lone_drive(source, set) }
    }
}

/// Whether a text is a system file rather than a drive file. Judged by its keys, and by eye where it is not TOML.
fn is_system(text: &str) -> bool {
    match toml::from_str::<toml::Table>(text) {
        Ok(table) => {
            table.contains_key("volume") || table.contains_key("host") && !table.contains_key("layout")
        }
        Err(_) => text.lines().any(|line| line.trim_start().starts_with("[volume")),
    }
}

/// Splits overrides into those of drives (`drive.N.…`, `drive.*.…`: the number, if any, and the rest) and the others.
type Split = (Vec<(Option<usize>, (String, String))>, Vec<(String, String)>);

fn split(set: &Overrides) -> Result<Split, SystemError> {
    let mut drives = Vec::new();
    let mut others = Vec::new();
    for (path, value) in set {
        let Some(rest) = path.strip_prefix("drive.") else {
            others.push((path.clone(), value.clone()));
            continue;
        };
        let (number, below) = rest.split_once('.').unwrap_or((rest, ""));
        let number = if number == "*" { Ok(None) } else { number.parse().map(Some) };
        match number {
            Ok(number) if !below.is_empty() => drives.push((number, (below.to_owned(), value.clone()))),
            _ => {
                return Err(SystemError::Override {
                    path: path.clone(),
                    reason: "after `drive.` comes the drive's number or `*`, then the value's path"
                        .to_owned(),
                    hint: Some("for example drive.0.rotation_rpm, drive.*.controller.queue_depth".to_owned()),
                });
            }
        }
    }
    Ok((drives, others))
}

fn lone_drive(source: &Source, set: &Overrides) -> Result<SystemConfig, SystemError> {
    let (drives, others) = split(set)?;
    let mut host_set = Vec::new();
    let mut drive_set: Vec<(String, String)> = Vec::new();
    for (number, pair) in drives {
        if number.is_some_and(|number| number > 0) {
            return Err(no_such_drive(number.unwrap_or(0), &pair.0, 1));
        }
        drive_set.push(pair);
    }
    for (path, value) in others {
        match path.strip_prefix("host.") {
            Some(rest) => host_set.push((rest.to_owned(), value)),
            None => drive_set.push((path, value)),
        }
    }
    let spec = DriveSpec::from_toml_with(&source.origin, &source.text, &drive_set)?;
    let mut config = SystemConfig::of_drive(&source.name, spec);
    config.drives[0].model.clone_from(&source.origin);
    if !host_set.is_empty() {
        config.host = overrides::apply("host", "", &host_set).map_err(|error| error.below("host"))?;
    }
    finish(config, &source.origin)
}

fn no_such_drive(number: usize, path: &str, count: usize) -> SystemError {
    SystemError::Override {
        path: format!("drive.{number}.{path}"),
        reason: format!("the system has {count} drives, counted from 0"),
        hint: Some(format!("use a number below {count}, or `*` for all")),
    }
}

fn system(source: &Source, set: &Overrides) -> Result<SystemConfig, SystemError> {
    let (drive_set, others) = split(set)?;
    let mut spec: SystemSpec = toml::from_str(&source.text)
        .map_err(|error| SystemError::Syntax { origin: source.origin.clone(), message: error.to_string() })?;
    if !others.is_empty() {
        spec = overrides::apply(&source.origin, &source.text, &others)?;
    }
    let count = spec.volume.values().map(|volume| volume.drives.len() + volume.spares.len()).sum();
    if let Some((Some(number), (path, _))) =
        drive_set.iter().find(|(number, _)| number.is_some_and(|number| number >= count))
    {
        return Err(no_such_drive(*number, path, count));
    }
    resolve(source, &spec, &drive_set)
}

/// Looks up everything a system file names.
fn resolve(
    source: &Source,
    spec: &SystemSpec,
    drive_set: &[(Option<usize>, (String, String))],
) -> Result<SystemConfig, SystemError> {
    let mut config = SystemConfig {
        name: source.name.clone(),
        summary: spec.summary.clone(),
        host: spec.host.clone(),
        buses: Vec::new(),
        volumes: Vec::new(),
        drives: Vec::new(),
    };
    let mut problems = Vec::new();
    for (name, bus) in &spec.bus {
        match bus.rates() {
            Ok(spec) => {
                if bus.outstanding == Some(0) {
                    problems.push(format!("`bus.{name}.outstanding`: must be at least 1"));
                }
                let &SystemBusSpec { commands_hold, arbitration, outstanding, .. } = bus;
                config.buses.push(BusConfig {
                    name: name.clone(),
                    spec,
                    commands_hold,
                    arbitration,
                    outstanding,
                });
            }
            Err(problem) => problems.push(format!("`bus.{name}`: {problem}")),
        }
    }
    if !problems.is_empty() {
        return Err(SystemError::Contradiction { origin: source.origin.clone(), problems });
    }
    let cached_by = |name: &str| {
        let caches = spec.volume.values().filter_map(|volume| volume.cache.as_ref()?.cache_volume());
        caches.filter(|cache| *cache == name).count()
    };
    let mut volumes: Vec<(&String, &VolumeSpec)> = spec.volume.iter().collect();
    volumes.sort_by_key(|(name, _)| cached_by(name) > 0);
    for (name, volume) in volumes {
        problems.extend(cache_device(spec, name, volume, cached_by(name))?);
        let (given, options) = volume.options();
        problems.extend(misplaced(name, &volume.level, &level(&volume.level)?.takes(), &given));
        let bus = match &volume.bus {
            None => None,
            Some(bus) => Some(
                config
                    .buses
                    .iter()
                    .position(|known| &known.name == bus)
                    .ok_or_else(|| SystemError::unknown("bus", bus, spec.bus.keys().cloned()))?,
            ),
        };
        let first = config.drives.len();
        let members = (0..).zip(&volume.drives).map(|(index, model)| (format!("{name}.{index}"), model));
        let spares = (0..).zip(&volume.spares).map(|(index, model)| (format!("{name}.spare{index}"), model));
        for (name, model) in members.chain(spares) {
            let number = config.drives.len();
            let set: Vec<(String, String)> = drive_set
                .iter()
                .filter(|(which, _)| which.is_none_or(|which| which == number))
                .map(|(_, pair)| pair.clone())
                .collect();
            let spec = drive(model, source.directory.as_deref(), &set)?;
            let bus = bus.unwrap_or_else(|| {
                config.buses.push(BusConfig {
                    name: name.clone(),
                    spec: spec.bus.clone(),
                    commands_hold: false,
                    arbitration: Arbitration::default(),
                    outstanding: None,
                });
                config.buses.len() - 1
            });
            config.drives.push(DriveConfig { name, model: model.clone(), bus, spec });
        }
        config.volumes.push(VolumeConfig {
            name: name.clone(),
            level: volume.level.clone(),
            drives: (first..first + volume.drives.len()).collect(),
            options,
            spares: (first + volume.drives.len()..config.drives.len()).collect(),
            cache: volume.cache.clone(),
            is_cache: cached_by(name) > 0,
        });
    }
    if !problems.is_empty() {
        return Err(SystemError::Contradiction { origin: source.origin.clone(), problems });
    }
    finish(config, &source.origin)
}

/// What is wrong with the volume that is another's cache, or that so many have as their cache.
fn cache_device(
    spec: &SystemSpec,
    name: &str,
    volume: &VolumeSpec,
    cached: usize,
) -> Result<Option<String>, SystemError> {
    if let Some(cache) = volume.cache.as_ref().and_then(ArrayCacheSpec::cache_volume)
        && (cache == name || !spec.volume.contains_key(cache))
    {
        let others = spec.volume.keys().filter(|other| *other != name).cloned();
        return Err(SystemError::unknown("volume for a cache", cache, others));
    }
    Ok(match cached {
        2.. => {
            Some(format!("`volume.{name}`: it is the cache of {cached} volumes, but can be that of one only"))
        }
        1 if volume.cache.is_some() => {
            Some(format!("`volume.{name}.cache`: a volume that is itself a cache has none"))
        }
        _ => None,
    })
}

/// Options of a volume that mean nothing to its level.
fn misplaced(name: &str, level: &str, takes: &[&str], given: &[&str]) -> Vec<String> {
    let allowed = if takes.is_empty() { "none".to_owned() } else { takes.join(", ") };
    given
        .iter()
        .filter(|key| !takes.contains(key))
        .map(|key| {
            format!("`volume.{name}.{key}`: means nothing to level \"{level}\"; its options: {allowed}")
        })
        .collect()
}

fn drive(model: &str, directory: Option<&Path>, set: &Overrides) -> Result<DriveSpec, SystemError> {
    let source = library::resolve("drive", model, &[library::drives()], directory)?;
    Ok(DriveSpec::from_toml_with(&source.origin, &source.text, set)?)
}

/// Checks what concerns the system as a whole.
fn finish(config: SystemConfig, origin: &str) -> Result<SystemConfig, SystemError> {
    let mut problems = Vec::new();
    let policy = crate::host::policy(&config.host)?;
    problems.extend(crate::host::check(&config, &policy));
    let host = &config.host;
    if !(0.0..=60_000.0).contains(&host.cpu_ms_per_request) {
        problems.push(format!(
            "`host.cpu_ms_per_request`: {} is not between 0 and 60000",
            host.cpu_ms_per_request
        ));
    }
    for (key, limit) in
        [("queue_limit", host.queue_limit), ("outstanding_per_drive", host.outstanding_per_drive)]
    {
        if limit == Some(0) {
            problems.push(format!("`host.{key}`: must be at least 1"));
        }
    }
    if config.volumes.is_empty() {
        problems.push("there must be at least one [volume.NAME]".to_owned());
    }
    for volume in &config.volumes {
        let count = volume.drives.len();
        if count == 0 {
            problems.push(format!("`volume.{}.drives`: there must be at least one", volume.name));
        } else if let Some(problem) = (level(&volume.level)?.check)(&volume.level, count, &volume.options) {
            problems.push(format!("`volume.{}`: {problem}", volume.name));
        }
        problems.extend(failures(volume));
        problems.extend(super::rebuild::check(volume));
        problems.extend(join_gap(&config, volume));
        problems.extend(ending_limits(&config, volume));
        if let Some(cache) = &volume.cache {
            let bytes = host_bytes(&config).max(largest_sector(&config, volume));
            problems.extend(cache.check(&volume.name, bytes, policy.needs()));
            problems.extend(crate::host::controller_problem(&config, &volume.name, cache)?);
        }
    }
    problems.extend(config.volumes.iter().filter_map(|volume| stripe_unit(&config, volume)));
    let sizes: Vec<u32> = config.drives.iter().map(|drive| drive.spec.sector_bytes).collect();
    let host_bytes = host_bytes(&config);
    if (64..=65_536).contains(&host_bytes) {
        for drive in &config.drives {
            let bytes = drive.spec.sector_bytes;
            if !host_bytes.is_multiple_of(bytes) && !bytes.is_multiple_of(host_bytes) {
                problems.push(format!(
                    "`host.sector_bytes`: {host_bytes} and the {bytes}-byte sectors of drive {} are not multiples \
                     of each other",
                    drive.name
                ));
            }
        }
    } else {
        problems.push(format!("`host.sector_bytes`: {host_bytes} is not between 64 and 65536"));
    }
    let largest = config.volumes.iter().map(|volume| largest_sector(&config, volume));
    let largest = largest.fold(host_bytes, u32::max);
    problems.extend(host.buffer_cache.iter().flat_map(|cache| cache.check(largest)));
    if host.sector_bytes.is_none() && sizes.windows(2).any(|pair| pair[0] != pair[1]) {
        problems.push("`host.sector_bytes`: needed, because the drives' sectors differ in size".to_owned());
    }
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(SystemError::Contradiction { origin: origin.to_owned(), problems })
    }
}

/// Bytes in a sector of the host's requests.
fn host_bytes(config: &SystemConfig) -> u32 {
    let first = config.drives.first().map(|drive| drive.spec.sector_bytes);
    config.host.sector_bytes.or(first).unwrap_or(512)
}

/// Failed drives that there are not, or that are named twice.
fn failures(volume: &VolumeConfig) -> Option<String> {
    let failed = &volume.options.failed_drives;
    let count = volume.drives.len();
    let twice = |index: usize| failed[..index].contains(&failed[index]);
    let wrong = (0..failed.len()).find(|&index| failed[index] >= count || twice(index))?;
    Some(format!(
        "`volume.{}.failed_drives`: {} is not one of the {count} drives, counted from 0, or is named twice",
        volume.name, failed[wrong]
    ))
}

/// What a cache or a redundant array does with a command that comes without its data is not modelled.
fn ending_limits(config: &SystemConfig, volume: &VolumeConfig) -> Option<String> {
    let is_plain = ["single", "concatenation", "raid-0"].contains(&volume.level.as_str())
        && volume.cache.is_none()
        && !volume.is_cache
        && config.host.buffer_cache.is_none();
    let ends = |&&drive: &&usize| {
        let limits = &config.drives[drive].spec.controller.duration_limits;
        limits.iter().any(headstack_drive::spec::DurationLimitSpec::ends)
    };
    let drive = volume.drives.iter().chain(&volume.spares).find(ends).filter(|_| !is_plain)?;
    Some(format!(
        "`volume.{}`: limits of drive {} end commands without their data, which caches and redundant volumes do not know; \
         take `complete-earliest`, or a volume without them",
        volume.name, config.drives[*drive].name
    ))
}

/// Commands joined over less than nothing, over more than a drive, or over a part of a sector.
fn join_gap(config: &SystemConfig, volume: &VolumeConfig) -> Option<String> {
    let (name, kib) = (&volume.name, volume.options.join_gap_kib);
    let sector = volume_sector(config, volume);
    if !(0.0..=1e9).contains(&kib) {
        Some(format!("`volume.{name}.join_gap_kib`: {} is not between 0 and 1e9", shown(kib)))
    } else if !is_multiple(kib, sector) {
        Some(format!(
            "`volume.{name}.join_gap_kib`: {} is not a multiple of the sector of {sector} bytes",
            shown(kib)
        ))
    } else {
        None
    }
}

/// Whether so many KiB are a whole number of sectors.
fn is_multiple(kib: f64, sector_bytes: u32) -> bool {
    kib * 1024.0 % f64::from(sector_bytes) == 0.0
}

/// A number out of bounds, in a few digits.
pub(super) fn shown(value: f64) -> String {
    if value.abs() >= 1e15 || value != 0.0 && value.abs() < 1e-6 {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// Bytes in the largest sector of a volume's drives, and of the host's.
fn volume_sector(config: &SystemConfig, volume: &VolumeConfig) -> u32 {
    let drives = volume.drives.iter().map(|&drive| config.drives[drive].spec.sector_bytes);
    drives.chain(config.host.sector_bytes).max().unwrap_or(512)
}

/// A stripe unit that is not a number of sectors, or larger than a drive.
fn stripe_unit(config: &SystemConfig, volume: &VolumeConfig) -> Option<String> {
    if !level(&volume.level).is_ok_and(|level| level.takes().contains(&"stripe_unit_kib")) {
        return None;
    }
    let (name, kib) = (&volume.name, volume.options.stripe_unit_kib);
    let sector = volume_sector(config, volume);
    if kib > 1e9 {
        return Some(format!(
            "`volume.{name}.stripe_unit_kib`: {} is more than 1e9; take 64, or what the array has",
            shown(kib)
        ));
    }
    let is_whole = kib > 0.0 && is_multiple(kib, sector);
    (!is_whole).then(|| {
        format!(
            "`volume.{name}.stripe_unit_kib`: {} is not a positive multiple of the sector of {sector} bytes",
            shown(kib)
        )
    })
}
