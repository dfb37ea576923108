//! What a stream asks for: address, size, direction.

use headstack_trace::Request;
use headstack_units::{Lba, Nanos, Op, RequestFlags};

use super::law::Law;
use super::popularity::Popularity;
use super::region::{Parts, Range, ranges_of};
use super::{DeviceShape, RunStart, SizeLaw, StreamSpec};
use crate::SystemError;
use crate::random::Stream;

/// Generates everything of a request but its instant.
///
/// Address, size and direction have a random stream each, and take the same number of draws from them whatever was
/// drawn: two workloads that differ in their arrivals ask for the same sectors.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    devices: Vec<u32>,
    ranges: Vec<Range>,
    /// The parts of the only range, where it is worked through part by part.
    parts: Option<Parts>,
    /// Which blocks of the only range are popular.
    popularity: Option<Popularity>,
    /// Runs of sequential requests begin at the beginning.
    begins_first: bool,
    /// Sectors in the smallest range or part.
    least_span: u64,
    is_raw: bool,
    align: u64,
    sector_kib: f64,
    read_fraction: f64,
    sequential: f64,
    local: f64,
    force_media: f64,
    flush: f64,
    duration_limit: f64,
    limit_mark: RequestFlags,
    discard: f64,
    /// Of the writes that are no discards.
    write_same_of_rest: f64,
    size: Law,
    /// Sizes are multiples of so many sectors.
    step: u64,
    distance: Law,
    shift: Option<Law>,
    device_stream: Stream,
    range_stream: Stream,
    address_stream: Stream,
    size_stream: Stream,
    op_stream: Stream,
    mark_stream: Stream,
    /// Reads and writes go on each from their own last one.
    is_separate: bool,
    /// The last request; the last read and the last write, where these go on each for themselves.
    last: [Option<Last>; 2],
    last_place: Option<Place>,
}

/// Where a request lies, seen from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where that one ended.
    Sequential,
    /// A short way from it.
    Local,
    /// Anywhere.
    Elsewhere,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    device: u32,
    range: Range,
    offset: u64,
    end: u64,
    op: Op,
}

impl Addresses {
    pub(crate) fn new(
        spec: &StreamSpec,
        component: &str,
        devices: &[DeviceShape],
        seed: u64,
    ) -> Result<Self, SystemError> {
        let wrong = |problem: String, hint: String| SystemError::Options { problem, hint };
        let places = devices_of(spec, component, devices)?;
        let shapes = places.iter().map(|&device| &devices[device as usize]);
        // A range in percent is one of the smallest, so that it is the same on all.
        let Some(shape) = shapes.min_by_key(|shape| shape.sectors) else {
            return Err(wrong(
                format!("the workload's {component} goes nowhere"),
                "name a volume".to_owned(),
            ));
        };
        let ranges = ranges_of(spec, component, shape)?;
        let sector_kib = f64::from(shape.sector_bytes) / 1024.0;
        // Sectors of 520 bytes and the like hold more than the data: there are as many as the data fill.
        let is_plain = shape.sector_bytes.is_power_of_two();
        if let Some((key, kib)) = in_part(spec, sector_kib).filter(|_| is_plain) {
            return Err(wrong(
                format!(
                    "the workload's {component} has a `{key}` of {kib} KiB, no multiple of the {}-byte sectors of {}",
                    shape.sector_bytes, shape.name
                ),
                format!("give multiples of {sector_kib} KiB"),
            ));
        }
        let law =
            |law: Result<Law, String>| law.map_err(|problem| wrong(problem, "change the workload".into()));
        let stream = |part: &str| Stream::new(seed, &format!("{component}.{part}"));
        let align = spec.align_kib.map_or(1, |align| ((align / sector_kib).round() as u64).max(1));
        let parts = spec.stride.as_ref().map(|stride| Parts::new(stride, ranges[0], sector_kib));
        let popularity = spec.popularity.as_ref();
        let popularity = popularity.map(|law| Popularity::new(law, ranges[0].span.div_ceil(align), seed));
        let least = ranges.iter().map(|range| range.span).min().unwrap_or(1);
        Ok(Self {
            devices: places,
            least_span: parts.as_ref().map_or(least, Parts::span),
            ranges,
            parts,
            popularity: popularity
                .transpose()
                .map_err(|problem| wrong(problem, "change `popularity` in the workload".to_owned()))?,
            begins_first: spec.run_start == RunStart::First,
            is_raw: spec.raw,
            align,
            sector_kib,
            read_fraction: spec.read_fraction,
            sequential: spec.sequential_fraction,
            local: spec.local_fraction,
            force_media: spec.force_media_fraction,
            flush: spec.flush_fraction,
            duration_limit: spec.duration_limit_fraction,
            limit_mark: RequestFlags::limited_by(spec.duration_limit as u16),
            discard: spec.discard_fraction,
            write_same_of_rest: (spec.write_same_fraction
                / (1.0 - spec.discard_fraction).max(f64::MIN_POSITIVE))
            .min(1.0),
            size: law(spec.size.law())?,
            step: spec.size_step_kib.map_or(1, |step| ((step / sector_kib).round() as u64).max(1)),
            distance: law(spec.local_distance.as_ref().map_or(Ok(Law::Constant(0.0)), SizeLaw::law))?,
            shift: spec.local_shift.as_ref().map(|shift| law(shift.law())).transpose()?,
            device_stream: stream("device"),
            range_stream: stream("range"),
            address_stream: stream("address"),
            size_stream: stream("size"),
            op_stream: stream("op"),
            mark_stream: stream("mark"),
            is_separate: spec.separate_directions,
            last: [None; 2],
            last_place: None,
        })
    }

    /// The next request, at `arrival`.
    #[inline]
    pub(crate) fn next(&mut self, arrival: Nanos) -> Request {
        let kib = self.size.sample(&mut self.size_stream);
        let sectors =
            ((kib / self.sector_kib).ceil() as u64).max(1).div_ceil(self.step).saturating_mul(self.step);
        let sectors = sectors.min(self.least_span.min(u64::from(u32::MAX)));
        let part = self.part(sectors);
        let kind = self.address_stream.unit();
        let is_read = self.op_stream.chance(self.read_fraction);
        let whose = usize::from(self.is_separate && !is_read);
        // A sequential request that would leave the range begins a run elsewhere.
        let last = self.last[whose];
        let continued = last.filter(|last| kind < self.sequential && last.end + sectors <= last.range.span);
        let is_forced = self.op_stream.chance(self.force_media);
        let (device, range) = (self.device(), part.unwrap_or_else(|| self.range()));
        let (kind, device, range, offset, op) = match (continued, last) {
            (Some(last), _) => (Place::Sequential, last.device, last.range, last.end, last.op),
            (None, Some(last)) if kind >= self.sequential && kind < self.sequential + self.local => {
                let offset = self.near(last.range, last.offset, sectors);
                (Place::Local, last.device, last.range, offset, direction(is_read))
            }
            _ => {
                let offset = self.anywhere(range, sectors);
                let offset = if self.begins_first && kind < self.sequential { 0 } else { offset };
                (Place::Elsewhere, device, range, offset, direction(is_read))
            }
        };
        self.last[whose] = Some(Last { device, range, offset, end: offset + sectors, op });
        self.last_place = Some(kind);
        let mut request = Request::new(arrival, op, Lba(range.first + offset), sectors as u32);
        request.device = device;
        if is_forced && op == Op::Write {
            request.flags = RequestFlags::FORCE_MEDIA;
        }
        if self.flush > 0.0 && self.mark_stream.chance(self.flush) && op == Op::Write {
            request.flags = request.flags.with(RequestFlags::FLUSH);
        }
        if self.duration_limit > 0.0 && self.mark_stream.chance(self.duration_limit) {
            request.flags = request.flags.with(self.limit_mark);
        }
        let marks =
            [(self.discard, RequestFlags::DISCARD), (self.write_same_of_rest, RequestFlags::WRITE_SAME)];
        let mut drawn = marks.into_iter().filter(|(share, _)| *share > 0.0);
        if let Some((_, mark)) = drawn.find(|(share, _)| self.mark_stream.chance(*share))
            && op == Op::Write
        {
            request.flags = request.flags.with(mark);
        }
        if self.is_raw {
            request.flags = request.flags.with(RequestFlags::RAW);
        }
        request
    }

    /// Where the last request lay.
    pub(crate) fn last_place(&self) -> Option<Place> {
        self.last_place
    }

    fn device(&mut self) -> u32 {
        match self.devices.as_slice() {
            [only] => *only,
            several => several[self.device_stream.below(several.len() as u64) as usize],
        }
    }

    fn range(&mut self) -> Range {
        match self.ranges.as_slice() {
            [only] => *only,
            several => several[self.range_stream.below(several.len() as u64) as usize],
        }
    }

    /// The part that the next request goes to; nothing goes on from one part into another.
    fn part(&mut self, sectors: u64) -> Option<Range> {
        let (part, is_new) = self.parts.as_mut()?.take(sectors);
        if is_new {
            self.last = [None; 2];
        }
        Some(part)
    }

    fn anywhere(&mut self, range: Range, sectors: u64) -> u64 {
        if let Some(popularity) = &self.popularity {
            // The last block may be cut short, or too short for the request: it ends with the range then.
            return (popularity.block(&mut self.address_stream) * self.align).min(range.span - sectors);
        }
        let places = (range.span - sectors) / self.align + 1;
        self.address_stream.below(places) * self.align
    }

    /// A place some distance up or down from `offset`, reflected at the ends of the range.
    fn near(&mut self, range: Range, offset: u64, sectors: u64) -> u64 {
        if let Some(shift) = &self.shift {
            let sectors_away = (shift.sample(&mut self.address_stream) / self.sector_kib).round() as i64;
            return self.reflected(range, offset, sectors_away, sectors);
        }
        let distance = (self.distance.sample(&mut self.address_stream) / self.sector_kib).round() as u64;
        let is_up = self.address_stream.chance(0.5);
        let most = range.span - sectors;
        let distance = distance.min(most);
        let place = match (is_up, offset.checked_sub(distance)) {
            (false, Some(place)) if place <= most => place,
            (false, _) => offset.saturating_add(distance),
            (true, below) => {
                let above = offset.saturating_add(distance);
                if above <= most { above } else { below.unwrap_or(0) }
            }
        };
        place.min(most) / self.align * self.align
    }

    /// `offset` moved by so many sectors, the other way where that would leave the range.
    fn reflected(&self, range: Range, offset: u64, away: i64, sectors: u64) -> u64 {
        let most = range.span - sectors;
        let inside = |place: Option<u64>| place.filter(|&place| place <= most);
        let there = inside(offset.checked_add_signed(away));
        let place = there.or_else(|| inside(offset.checked_add_signed(away.saturating_neg())));
        place.unwrap_or(offset.min(most)) / self.align * self.align
    }
}

/// A given size that is not a number of sectors, or an alignment to a part of them that none is aligned to.
fn in_part(spec: &StreamSpec, sector_kib: f64) -> Option<(&'static str, f64)> {
    let is_cut = |kib: &f64| *kib % sector_kib != 0.0;
    // Sectors are aligned to whatever divides them.
    let is_crooked = |kib: &f64| is_cut(kib) && sector_kib % *kib != 0.0;
    let size = spec.size.choices().into_iter().find(is_cut).filter(|_| spec.size_step_kib.is_none());
    let step = spec.size_step_kib.filter(is_crooked).map(|kib| ("size_step_kib", kib));
    let align = spec.align_kib.filter(is_crooked).map(|kib| ("align_kib", kib));
    size.map(|kib| ("size", kib)).or(step).or(align)
}

/// The devices a stream goes to.
pub(super) fn devices_of(
    spec: &StreamSpec,
    component: &str,
    devices: &[DeviceShape],
) -> Result<Vec<u32>, SystemError> {
    let named = |name: &String| {
        let found = devices.iter().position(|device| &device.name == name);
        found.map(|found| found as u32).ok_or_else(|| {
            SystemError::unknown("volume", name, devices.iter().map(|device| device.name.clone()))
        })
    };
    if !spec.volumes.is_empty() {
        return spec.volumes.iter().map(named).collect();
    }
    let device = match &spec.volume {
        None => spec.device.unwrap_or(0),
        Some(name) => named(name)?,
    };
    if device as usize >= devices.len() {
        return Err(SystemError::Options {
            problem: format!(
                "the workload's {component} goes to device {device}, but the system has {}",
                devices.len()
            ),
            hint: "devices are counted from 0; change `device` in the workload (`--set stream.0.device=0`)"
                .to_owned(),
        });
    }
    Ok(vec![device])
}

fn direction(is_read: bool) -> Op {
    if is_read { Op::Read } else { Op::Write }
}
