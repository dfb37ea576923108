//! `disksim_ctlr`: controllers that have a cache, in their memory or on a disk.

use super::host::Host;
use super::instances::Instance;
use super::organisation::Volume;
use super::topology::Path;
use super::{not_built, system::Built};
use crate::error::ImportError;
use crate::fields::Fields;
use crate::queue::{self, Place};
use crate::report::Report;
use crate::tree::{Block, Kind};
use headstack_system::spec::{
    ArrayCacheRoom, ArrayCacheSpec, ArrayCacheWrites, ArrayDeviceSpec, ArrayMemorySpec, ArrayReadAhead,
    DeviceWrites,
};

const KIB_PER_BLOCK: f64 = 0.5;
const CACHE: &str = "Cache";
const INSTEAD: &str = "it passes everything through";

/// Gives the controllers' caches to the volumes behind them; those that are caches then stand last.
pub(super) fn caches(
    paths: &[Path<'_>],
    host: &Host,
    built: &Built,
    volumes: &mut [Volume],
    report: &mut Report,
) -> Result<(), ImportError> {
    let mut done: Vec<&str> = Vec::new();
    for path in paths {
        for controller in &path.controllers {
            if done.contains(&controller.name.as_str()) {
                continue;
            }
            done.push(&controller.name);
            let below = |other: &&Path<'_>| other.controllers.iter().any(|one| one.name == controller.name);
            let disks: Vec<&str> = paths.iter().filter(below).map(|path| path.disk.name.as_str()).collect();
            read(controller, &disks, host, built, volumes, report)?;
        }
    }
    let caches: Vec<String> = volumes
        .iter()
        .filter_map(|volume| Some(volume.array.spec.cache.as_ref()?.device.as_ref()?.volume.clone()))
        .collect();
    volumes.sort_by_key(|volume| caches.contains(&volume.name));
    Ok(())
}

/// A controller: nothing if it passes everything through.
fn read(
    controller: &Instance<'_>,
    disks: &[&str],
    host: &Host,
    built: &Built,
    volumes: &mut [Volume],
    report: &mut Report,
) -> Result<(), ImportError> {
    let (fields, name) = (Fields { block: controller.block }, &controller.name);
    let kind = fields.whole("type", 1, 1000)?.unwrap_or(1);
    let Some(cache) = fields.find(CACHE) else {
        if kind == 1 {
            report.carried(format!("controller {name}"), "passes everything through");
            return Ok(());
        }
        return not_built(fields.at("type"), &format!("controller {name} of type {kind}"), INSTEAD, report);
    };
    let what = format!("cache of controller {name} ({})", cache.value.kind);
    let Kind::Block(inner) = &cache.value.kind else {
        return not_built(fields.at(CACHE), &what, INSTEAD, report);
    };
    let found = match inner.kind.as_str() {
        "disksim_cachemem" => memory(inner, disks, built, volumes)?,
        "disksim_cachedev" => device(inner, disks, built, volumes)?,
        _ => None,
    };
    let Some((place, spec)) = found else { return not_built(fields.at(CACHE), &what, INSTEAD, report) };
    let scheduler = match fields.find("Scheduler") {
        None => None,
        Some(_) => Some(queue::read(fields.need_block("Scheduler")?, Place::Host, report)?.scheduler),
    };
    // The driver gives such a controller one request more than it is said to queue.
    let queued = fields.whole("Maximum queue length", 0, 65_535)?.unwrap_or(0) as u32;
    let requests = if host.spec.outstanding_per_drive.is_some() { 1 } else { queued + 1 };
    let commands_per_drive = fields.whole("Max per-disk pending count", 1, 65_536)?.map(|count| count as u32);
    let volume = &mut volumes[place];
    volume.array.spec.cache = Some(ArrayCacheSpec { requests, scheduler, commands_per_drive, ..spec });
    report.carried(format!("cache of controller {name}"), format!("volume.{}.cache", volume.name));
    Ok(())
}

/// Nothing in particular but for its kind.
fn cache() -> ArrayCacheSpec {
    ArrayCacheSpec { requests: 1, scheduler: None, commands_per_drive: None, memory: None, device: None }
}

/// The volume of a disk.
fn volume_of(disk: &str, built: &Built, volumes: &[Volume]) -> Option<usize> {
    let disk = built.disks.iter().position(|known| known.name == disk)?;
    volumes.iter().position(|volume| volume.array.disks.contains(&disk))
}

/// A cache in memory; `None` where there is no such cache here.
fn memory(
    block: &Block,
    disks: &[&str],
    built: &Built,
    volumes: &[Volume],
) -> Result<Option<(usize, ArrayCacheSpec)>, ImportError> {
    let fields = Fields { block };
    let whole =
        |name: &str, usual: u64| Ok::<_, ImportError>(fields.whole(name, 0, 1 << 40)?.unwrap_or(usual));
    let Some(volume) = disks.first().and_then(|disk| volume_of(disk, built, volumes)) else {
        return Ok(None);
    };
    if !disks.iter().all(|disk| volume_of(disk, built, volumes) == Some(volume)) {
        return Ok(None);
    }
    let line = whole("Line size", 0)?;
    let segments = fields.reals("SLRU segments")?;
    let locks_lines = whole("Lock granularity", line)? == line && whole("Shared read locks", 1)? == 1;
    // The shares of the segments together are the whole.
    let is_whole = segments.is_empty() || (segments.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    let is_lru =
        whole("Replacement policy", 2)? == 2 && is_whole && segments.iter().all(|share| *share > 0.0);
    let is_plain = whole("Write prefetch type", 0)? == 0 && whole("Bit granularity", 1)? == 1;
    if line == 0 || !locks_lines || !is_lru || !is_plain {
        return Ok(None);
    }
    let write_policy = match whole("Write scheme", 3)? {
        1 => ArrayCacheWrites::WriteThrough,
        2 => ArrayCacheWrites::WriteBehind,
        _ => ArrayCacheWrites::WriteBack,
    };
    let is_back = write_policy == ArrayCacheWrites::WriteBack;
    let period =
        fields.real("Flush period")?.filter(|_| fields.real("Flush policy").is_ok_and(|p| p == Some(1.0)));
    let idle = fields.real("Flush idle delay")?.filter(|delay| *delay >= 0.0);
    let is_line_by_line = whole("Line-by-line fetches", 0)? == 1;
    let spec = ArrayMemorySpec {
        size_kib: whole("Cache size", 0)? as f64 * KIB_PER_BLOCK,
        line_kib: line as f64 * KIB_PER_BLOCK,
        write_policy,
        room: if whole("Allocation policy", 0)? == 1 {
            ArrayCacheRoom::NextClean
        } else {
            ArrayCacheRoom::Wait
        },
        segment_shares: if segments.len() > 1 { segments } else { Vec::new() },
        read_ahead: match whole("Read prefetch type", 0)? {
            0 => ArrayReadAhead::None,
            1 => ArrayReadAhead::Front,
            2 => ArrayReadAhead::Rest,
            _ => ArrayReadAhead::Line,
        },
        fetch_lines: if is_line_by_line { 1 } else { whole("Max gather", 0)? as u32 + 1 },
        destage_lines: whole("Flush max line cluster", 1)?.max(1) as u32,
        part_kib: whole("Max request size", 512)? as f64 * KIB_PER_BLOCK,
        write_every_s: period.filter(|_| is_back).map(|ms| ms / 1000.0),
        idle_ms: idle.filter(|_| is_back),
    };
    Ok(Some((volume, ArrayCacheSpec { memory: Some(spec), ..cache() })))
}

/// A cache on a disk; `None` where there is no such cache here.
fn device(
    block: &Block,
    disks: &[&str],
    built: &Built,
    volumes: &[Volume],
) -> Result<Option<(usize, ArrayCacheSpec)>, ImportError> {
    let fields = Fields { block };
    let volume = |name: &str| {
        let disk = fields.text(name)?.filter(|disk| disks.contains(disk));
        Ok::<_, ImportError>(disk.and_then(|disk| volume_of(disk, built, volumes)))
    };
    let (Some(cached), Some(on)) = (volume("Cached device")?, volume("Cache device")?) else {
        return Ok(None);
    };
    let is_alone = |place: usize| volumes[place].array.disks.len() == 1;
    let is_periodic = fields.whole("Flush policy", 0, 1000)?.unwrap_or(0) != 0;
    let size = fields.real("Cache size")?.unwrap_or(0.0);
    if cached == on || !is_alone(cached) || !is_alone(on) || is_periodic || size < volumes[on].sectors as f64
    {
        return Ok(None);
    }
    let is_through = fields.whole("Write scheme", 1, 3)? == Some(2);
    let spec = ArrayDeviceSpec {
        volume: volumes[on].name.clone(),
        write_policy: if is_through { DeviceWrites::WriteThrough } else { DeviceWrites::WriteBack },
        idle_ms: fields.real("Flush idle delay")?.filter(|delay| *delay >= 0.0 && !is_through),
    };
    Ok(Some((cached, ArrayCacheSpec { device: Some(spec), ..cache() })))
}
