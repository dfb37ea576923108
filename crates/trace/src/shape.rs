//! Fitting a trace to a system: which requests, when, and where on which device.
//!
//! In this order: the device is chosen and renumbered; the time window and the limit select; arrivals are scaled; addresses
//! are converted to the target's sectors (reads and discards rounded outwards; writes fill whole ones, or are an error),
//! scaled, moved; what then lies beyond the device is fitted or an error. Measured waits and services are kept as they were,
//! relative to the arrival.

mod address;

use std::collections::BTreeMap;
use std::path::Path;

use headstack_units::{Lba, Nanos, Op, RequestFlags};

use crate::event::device_name;
use crate::gate::LAST_INSTANT;
use crate::source::Delivery;
use crate::{OpenOptions, Request, RequestSource, TraceError, TraceReader, open};
pub use address::FitLba;
use address::{Extent, Unplaced};

/// A device of the system that a trace is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Bytes to a sector.
    pub sector_bytes: u32,
    /// Number of sectors.
    pub sectors: u64,
}

/// Which devices of the trace are used, and as which devices of the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Devices {
    /// All, under their own numbers.
    #[default]
    Keep,
    /// One, as device 0; the requests of others are left out.
    Only(u32),
    /// Pairs (device of the trace, device of the system); the requests of others are left out.
    Map(Vec<(u32, u32)>),
}

/// How a trace is fitted to a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Shaping {
    /// Which devices.
    pub devices: Devices,
    /// Arrivals are multiplied by this: 0.5 makes the load twice as fast.
    pub time_scale: f64,
    /// Requests arrive at this interval from time zero on, instead of when the trace says.
    pub constant_inter_arrival: Option<Nanos>,
    /// First sectors are multiplied by this (rounded down), in the target's sectors.
    pub lba_scale: f64,
    /// Then this many of the target's sectors are added.
    pub lba_offset: i64,
    /// What becomes of requests beyond the end of their device.
    pub fit: FitLba,
    /// Requests that arrive before this instant of the trace are left out, and it becomes time zero.
    pub start: Option<Nanos>,
    /// Requests that arrive at this instant of the trace or after it are left out.
    pub end: Option<Nanos>,
    /// No more than so many requests are let through.
    pub limit: Option<u64>,
}

impl Default for Shaping {
    fn default() -> Self {
        Self {
            devices: Devices::Keep,
            time_scale: 1.0,
            constant_inter_arrival: None,
            lba_scale: 1.0,
            lba_offset: 0,
            fit: FitLba::None,
            start: None,
            end: None,
            limit: None,
        }
    }
}

/// The range of addresses a trace uses on each device of the system: what [`FitLba::Scale`] and [`FitLba::Offset`] need
/// to know before the first request. See [`survey`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents(BTreeMap<u32, Extent>);

/// A stream of requests, fitted to a system: every request lies within its device.
pub struct Shaped<S> {
    source: S,
    selection: Selection,
    extents: Extents,
    batch: Vec<Request>,
    moved: u64,
    delivery: Delivery,
}

impl<S: RequestSource> Shaped<S> {
    /// Fits `source`, in order of arrival and in sectors of `sector_bytes`, to `targets`: the system's devices by number.
    ///
    /// # Errors
    /// If the shaping contradicts itself or the system, or its fit needs a [`survey`] (then use
    /// [`Self::with_extents`] or [`shape_file`]).
    pub fn new(
        source: S,
        sector_bytes: u32,
        shaping: Shaping,
        targets: Vec<Target>,
    ) -> Result<Self, TraceError> {
        can_be_fitted_at_once(&shaping)?;
        Self::with_extents(source, sector_bytes, shaping, targets, Extents::default())
    }

    /// The same with the addresses known from a [`survey`] of the same requests with the same shaping.
    ///
    /// # Errors
    /// If the shaping contradicts itself or the system.
    pub fn with_extents(
        source: S,
        sector_bytes: u32,
        shaping: Shaping,
        targets: Vec<Target>,
        extents: Extents,
    ) -> Result<Self, TraceError> {
        let selection = Selection::new(shaping, sector_bytes, targets, None)?;
        Ok(Self::of(source, selection, extents))
    }

    fn of(source: S, selection: Selection, extents: Extents) -> Self {
        Self { source, selection, extents, batch: Vec::new(), moved: 0, delivery: Delivery::default() }
    }

    /// Shapes `source` without a system to fit it to: every device it names has as many sectors as there are addresses.
    ///
    /// # Errors
    /// If the shaping contradicts itself.
    pub fn anywhere(source: S, sector_bytes: u32, shaping: Shaping) -> Result<Self, TraceError> {
        Self::alike(source, sector_bytes, shaping, Target { sector_bytes, sectors: u64::MAX })
    }

    /// Fits `source` to devices that are all alike, whatever their numbers.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn alike(source: S, sector_bytes: u32, shaping: Shaping, target: Target) -> Result<Self, TraceError> {
        can_be_fitted_at_once(&shaping)?;
        let selection = Selection::new(shaping, sector_bytes, vec![target], Some(target))?;
        Ok(Self::of(source, selection, Extents::default()))
    }

    /// The source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Requests taken from the source so far.
    pub fn seen(&self) -> u64 {
        self.selection.seen
    }

    /// Requests let through so far.
    pub fn kept(&self) -> u64 {
        self.selection.kept
    }

    /// Requests let through so far whose address the fit changed.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    fn fill(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        while batch.is_empty() && !self.selection.done {
            self.source.next_batch(&mut self.batch)?;
            if self.batch.is_empty() {
                break;
            }
            if self.selection.keeps_all(&self.batch) {
                std::mem::swap(batch, &mut self.batch);
                return Ok(());
            }
            for &request in &self.batch {
                let Some(mut request) = self.selection.choose(request)? else { continue };
                if request.is_flush_alone() {
                    batch.push(request);
                    continue;
                }
                let target = self.selection.target(request.device).unwrap_or(NOWHERE);
                let fit = self.selection.shaping.fit;
                let lba = address::fit(
                    fit,
                    request.lba.0,
                    request.sectors,
                    target,
                    self.extents.0.get(&request.device),
                )
                .map_err(|unplaced| self.selection.beyond(&request, unplaced))?;
                self.moved += u64::from(lba != request.lba.0);
                request.lba = Lba(lba);
                batch.push(request);
            }
        }
        Ok(())
    }
}

impl<S: RequestSource> RequestSource for Shaped<S> {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        if !self.delivery.begin(batch)? {
            return Ok(());
        }
        let result = self.fill(batch);
        self.delivery.end(batch, result)
    }
}

/// Reads `source` through and notes the addresses that `shaping` would use on each of the system's devices.
///
/// # Errors
/// The source's, and whatever keeps the shaping from being applied.
pub fn survey(
    source: &mut dyn RequestSource,
    sector_bytes: u32,
    shaping: &Shaping,
    targets: &[Target],
) -> Result<Extents, TraceError> {
    let mut selection = Selection::new(shaping.clone(), sector_bytes, targets.to_vec(), None)?;
    let (mut extents, mut batch) = (Extents::default(), Vec::new());
    while !selection.done {
        source.next_batch(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        for &request in &batch {
            if let Some(request) = selection.choose(request)?.filter(|request| !request.is_flush_alone()) {
                let extent = extents.0.entry(request.device).or_default();
                extent.include(request.lba.0, request.sectors);
            }
        }
    }
    Ok(extents)
}

/// Opens a trace and fits it to `targets`, reading it twice where the fit needs to know its addresses beforehand.
///
/// # Errors
/// Whatever keeps the trace from being opened or surveyed, and a shaping that contradicts itself or the system.
pub fn shape_file(
    path: &Path,
    options: &OpenOptions,
    shaping: Shaping,
    targets: Vec<Target>,
) -> Result<Shaped<TraceReader>, TraceError> {
    let extents = if shaping.fit.needs_survey() {
        let mut first = open(path, options)?;
        let sector_bytes = first.sector_bytes();
        survey(&mut first, sector_bytes, &shaping, &targets)?
    } else {
        Extents::default()
    };
    let source = open(path, options)?;
    let sector_bytes = source.sector_bytes();
    Shaped::with_extents(source, sector_bytes, shaping, targets, extents)
}

/// A device without a sector.
const NOWHERE: Target = Target { sector_bytes: 512, sectors: 0 };

/// Everything up to, but not including, the fit.
struct Selection {
    shaping: Shaping,
    sector_bytes: u32,
    targets: Vec<Target>,
    /// What other devices are like, where there are others.
    elsewhere: Option<Target>,
    seen: u64,
    kept: u64,
    done: bool,
}

impl Selection {
    /// Of devices that are `targets`, and all others like `elsewhere`, if that is given.
    fn new(
        shaping: Shaping,
        sector_bytes: u32,
        targets: Vec<Target>,
        elsewhere: Option<Target>,
    ) -> Result<Self, TraceError> {
        let nowhere = || elsewhere.is_none().then(|| mapped_nowhere(&shaping, targets.len())).flatten();
        if let Some((problem, hint)) = contradiction(&shaping, sector_bytes, &targets).or_else(nowhere) {
            return Err(TraceError::unusable(problem, hint));
        }
        let done = shaping.limit == Some(0);
        Ok(Self { shaping, sector_bytes, targets, elsewhere, seen: 0, kept: 0, done })
    }

    fn target(&self, device: u32) -> Option<Target> {
        self.targets.get(device as usize).copied().or(self.elsewhere)
    }

    /// Whether the shaping changes nothing but what does not fit.
    fn is_plain(&self) -> bool {
        let Shaping {
            devices,
            time_scale,
            constant_inter_arrival,
            lba_scale,
            lba_offset,
            fit,
            start,
            end,
            limit: _,
        } = &self.shaping;
        *devices == Devices::Keep
            && (*time_scale, *lba_scale, *lba_offset) == (1.0, 1.0, 0)
            && (constant_inter_arrival, start, end) == (&None, &None, &None)
            && !fit.needs_survey()
    }

    /// Lets a whole batch through, if every request is to stay as it is; otherwise nothing has happened.
    fn keeps_all(&mut self, batch: &[Request]) -> bool {
        let kept = self.kept + batch.len() as u64;
        if !self.is_plain() || self.shaping.limit.is_some_and(|limit| kept > limit) {
            return false;
        }
        // Mostly one device's requests follow each other: how many sectors of the trace's size it has, bounded so that the end of a
        // request within it is a number of 64 bits.
        let room_of = |device: u32| {
            let target = self.target(device).filter(|target| target.sector_bytes == self.sector_bytes)?;
            Some(target.sectors.min(u64::MAX >> 1))
        };
        let Some(first) = batch.first() else { return true };
        let Some(mut room) = room_of(first.device) else { return false };
        let mut device = first.device;
        let stays = |request: &Request| {
            if request.device != device {
                device = request.device;
                let Some(other) = room_of(device) else { return false };
                room = other;
            }
            let Request { arrival, start, finish, lba, sectors, .. } = *request;
            lba.0 <= room
                && lba.0 + u64::from(sectors) <= room
                && arrival <= start
                && arrival <= finish
                && arrival <= LAST_INSTANT
        };
        if !batch.iter().all(stays) {
            return false;
        }
        self.seen += batch.len() as u64;
        self.kept = kept;
        self.done = self.shaping.limit == Some(kept);
        true
    }

    /// The request as the system would see it, with an address not yet fitted; `None` if it is left out.
    fn choose(&mut self, request: Request) -> Result<Option<Request>, TraceError> {
        if self.done {
            return Ok(None);
        }
        self.seen += 1;
        if self.shaping.end.is_some_and(|end| request.arrival >= end) {
            self.done = true;
            return Ok(None);
        }
        let start = self.shaping.start.unwrap_or_default();
        let device = match &self.shaping.devices {
            Devices::Keep => Some(request.device),
            Devices::Only(only) => (request.device == *only).then_some(0),
            Devices::Map(map) => map.iter().find(|(from, _)| *from == request.device).map(|&(_, to)| to),
        };
        let Some(device) = device.filter(|_| request.arrival >= start) else { return Ok(None) };
        let Some(target) = self.target(device) else { return Err(self.no_such_device(device)) };
        if request.is_flush_alone() {
            return self.keep(Request { device, ..request }, start).map(Some);
        }
        if request.op == Op::Write && !self.fills_sectors(&request, target) {
            return Err(self.in_part(&Request { device, ..request }, target));
        }
        let placed = address::convert(request.lba.0, request.sectors, self.sector_bytes, target.sector_bytes)
            .and_then(|(lba, sectors)| {
                Ok((address::move_by(lba, self.shaping.lba_scale, self.shaping.lba_offset)?, sectors))
            });
        let (lba, sectors) =
            placed.map_err(|unplaced| self.beyond(&Request { device, ..request }, unplaced))?;
        self.keep(Request { lba: Lba(lba), sectors, device, ..request }, start).map(Some)
    }

    /// Whether a request begins and ends where the target's sectors do, or need not: a discard frees the whole ones, and traces of
    /// hosts with smaller sectors than 512 bytes are taken to drives that their hosts would have written in such.
    fn fills_sectors(&self, request: &Request, target: Target) -> bool {
        let (from, to) = (u128::from(self.sector_bytes), u128::from(target.sector_bytes));
        let is_boundary = |lba: u128| (lba * from).is_multiple_of(to);
        let first = u128::from(request.lba.0);
        target.sector_bytes <= 512
            || request.flags.contains(RequestFlags::DISCARD)
            || is_boundary(first) && is_boundary(first + u128::from(request.sectors))
    }

    /// A write of a part of a sector. Its device is the system's.
    #[cold]
    fn in_part(&self, request: &Request, target: Target) -> TraceError {
        let bytes = u64::from(self.sector_bytes);
        TraceError::unusable(
            format!(
                "request {} writes {} bytes from byte {} on, but device {} writes whole sectors of {} bytes",
                self.seen,
                u64::from(request.sectors) * bytes,
                u128::from(request.lba.0) * u128::from(bytes),
                request.device,
                target.sector_bytes
            ),
            format!(
                "a drive that takes smaller writes, and reads the rest first, has `sector_bytes = {bytes}` and \
                 `physical_sector_bytes = {}`",
                target.sector_bytes
            ),
        )
    }

    /// A request that is let through, when the shaping wants it.
    fn keep(&mut self, mut request: Request, start: Nanos) -> Result<Request, TraceError> {
        self.retime(&mut request, start)?;
        self.kept += 1;
        self.done = self.shaping.limit == Some(self.kept);
        Ok(request)
    }

    /// Moves the request's instants to where the shaping wants the arrival.
    fn retime(&self, request: &mut Request, start: Nanos) -> Result<(), TraceError> {
        let old = request.arrival;
        let new = if let Some(interval) = self.shaping.constant_inter_arrival {
            u128::from(interval.0) * u128::from(self.kept)
        } else if self.shaping.time_scale == 1.0 {
            u128::from(old.0 - start.0)
        } else {
            ((old.0 - start.0) as f64 * self.shaping.time_scale).round() as u128
        };
        if new > u128::from(LAST_INSTANT.0) {
            return Err(TraceError::unusable(
                format!(
                    "request {} would arrive {:.0} years after the start",
                    self.seen,
                    new as f64 / 31_556_952e9
                ),
                "choose a smaller --time-scale or inter-arrival time".into(),
            ));
        }
        request.arrival = Nanos(new as u64);
        for instant in [&mut request.start, &mut request.finish] {
            if *instant != Nanos::MAX {
                *instant = request.arrival.saturating_add(instant.saturating_sub(old));
            }
        }
        Ok(())
    }

    #[cold]
    fn no_such_device(&self, device: u32) -> TraceError {
        let (count, name) = (self.targets.len(), device_name(device));
        let plural = if count == 1 { "" } else { "s" };
        TraceError::unusable(
            format!(
                "request {} is for device {name}, but the system has {count} device{plural} (numbered from 0)",
                self.seen
            ),
            format!("choose one device of the trace with --device {name}, or map several to the system's"),
        )
    }

    /// The request just seen cannot be where the trace says. Its device is the system's.
    #[cold]
    fn beyond(&self, request: &Request, unplaced: Unplaced) -> TraceError {
        let Target { sectors, sector_bytes } = self.target(request.device).unwrap_or(NOWHERE);
        let device =
            format!("device {}, which has {sectors} sectors of {sector_bytes} bytes", request.device);
        let number = self.seen;
        let (problem, hint) = match unplaced {
            Unplaced::Beyond => (
                format!(
                    "request {number} (sector {}, {} sectors) reaches beyond {device}",
                    request.lba.0, request.sectors
                ),
                match self.shaping.fit {
                    FitLba::Offset => "use --fit-lba wrap or --fit-lba scale",
                    _ => "use --fit-lba wrap (or scale, offset)",
                },
            ),
            Unplaced::TooLong => (
                format!("request {number} has {} sectors, more than {device}", request.sectors),
                "aim the trace at a larger device, or leave the request out with a time window",
            ),
            Unplaced::Negative => (
                format!(
                    "request {number} (sector {}) would lie before the first sector of {device}",
                    request.lba.0
                ),
                "choose a larger --lba-offset",
            ),
            Unplaced::Unrepresentable => (
                format!(
                    "request {number} (sector {}, {} sectors) has no address on {device}: too large",
                    request.lba.0, request.sectors
                ),
                "choose a smaller --lba-scale or --lba-offset",
            ),
            Unplaced::Unsurveyed => (
                format!("request {number} lies outside the addresses surveyed before"),
                "has the trace changed in between? Try again",
            ),
        };
        TraceError::unusable(problem, hint.into())
    }
}

/// What in a shaping contradicts itself or the system, and what to do.
fn contradiction(shaping: &Shaping, sector_bytes: u32, targets: &[Target]) -> Option<(String, String)> {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    let say = |problem: String, hint: &str| Some((problem, hint.to_owned()));
    if sector_bytes == 0 || targets.iter().any(|target| target.sector_bytes == 0 || target.sectors == 0) {
        return say("a device (or the trace) has no sectors, or sectors of 0 bytes".into(), "give it a size");
    }
    if !positive(shaping.time_scale) {
        return say(
            format!("a time scale of {} is impossible", shaping.time_scale),
            "it must be above 0; 0.5 doubles the load",
        );
    }
    if !positive(shaping.lba_scale) {
        return say(format!("an address scale of {} is impossible", shaping.lba_scale), "it must be above 0");
    }
    if shaping.constant_inter_arrival.is_some() && shaping.time_scale != 1.0 {
        return say(
            "a constant inter-arrival time leaves nothing for the time scale to act on".into(),
            "leave one of them out",
        );
    }
    if let (Some(start), Some(end)) = (shaping.start.or(Some(Nanos::ZERO)), shaping.end)
        && start >= end
    {
        return say(
            format!("the time window from {start} to {end} is empty"),
            "its end must be after its start",
        );
    }
    let Devices::Map(map) = &shaping.devices else { return None };
    let twice =
        map.iter().enumerate().find(|&(at, (from, _))| map[..at].iter().any(|(other, _)| other == from));
    if let Some((_, (from, _))) = twice {
        return say(
            format!("device {from} of the trace is mapped twice"),
            "map each device of the trace once",
        );
    }
    None
}

/// A device that is mapped to one that the system does not have, and what to do.
fn mapped_nowhere(shaping: &Shaping, count: usize) -> Option<(String, String)> {
    let Devices::Map(map) = &shaping.devices else { return None };
    let (from, to) = map.iter().find(|&&(_, to)| to as usize >= count)?;
    let problem = format!("device {from} of the trace is mapped to device {to}, but the system has {count}");
    Some((problem, "devices are numbered from 0".to_owned()))
}

/// Refuses fits that ask for the whole trace first.
fn can_be_fitted_at_once(shaping: &Shaping) -> Result<(), TraceError> {
    if !shaping.fit.needs_survey() {
        return Ok(());
    }
    Err(TraceError::unusable(
        "addresses cannot be scaled or moved to fit before the whole trace has been seen".into(),
        "use --fit-lba wrap, or read the requests from a file".into(),
    ))
}

#[cfg(test)]
mod tests;
