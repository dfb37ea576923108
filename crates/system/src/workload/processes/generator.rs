//! What a process asks for, and how long it computes before: one request after the other, in blocks.

use headstack_trace::Request;
use headstack_units::{Lba, Nanos, Op, RequestFlags};

use super::super::addresses::devices_of;
use super::super::region::ranges_of;
use super::super::{DeviceShape, ShiftLaw, StreamSpec};
use super::draws::{Draws, Shape};
use crate::SystemError;

/// How a process waits for a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wait {
    Never,
    /// Once it has gone on for so many ms, counted from the request.
    Limited(f64),
    AtOnce,
}

/// A request to come: what it is, after how much computing, and how it is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) request: Request,
    pub(super) computing_ms: f64,
    pub(super) wait: Wait,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    device: u32,
    start: i64,
    blocks: i64,
    op: Op,
}

/// Draws requests as DiskSim's generators do. Addresses and sizes are in blocks, counted from the beginning of the range.
#[derive(Clone, Debug)]
pub(super) struct Generator {
    devices: Vec<u32>,
    /// The first sector of the range, and its whole blocks.
    first: u64,
    blocks: i64,
    sectors_per_block: i64,
    read_fraction: f64,
    sequential: f64,
    local: f64,
    waits: f64,
    limited: f64,
    size: Shape,
    distance: Shape,
    general_ms: Shape,
    sequential_ms: Shape,
    local_ms: Shape,
    limit_ms: Shape,
    last: Option<Last>,
}

/// So many draws without one that lies within the range, and there is none.
const MOST_DRAWS: u32 = 1_000_000;

impl Generator {
    pub(super) fn new(
        spec: &StreamSpec,
        component: &str,
        devices: &[DeviceShape],
    ) -> Result<Self, SystemError> {
        let places = devices_of(spec, component, devices)?;
        let shape = places.iter().map(|&device| &devices[device as usize]).min_by_key(|shape| shape.sectors);
        let wrong = |problem: String, hint: &str| SystemError::Options { problem, hint: hint.to_owned() };
        let Some(shape) = shape else {
            return Err(wrong(format!("the workload's {component} goes nowhere"), "name a volume"));
        };
        let range = ranges_of(spec, component, shape)?[0];
        let sector_kib = f64::from(shape.sector_bytes) / 1024.0;
        let block_kib = spec.align_kib.unwrap_or(sector_kib);
        let per_block = block_kib / sector_kib;
        if per_block.fract() != 0.0 || per_block < 1.0 {
            return Err(wrong(
                format!(
                    "the workload's {component} has blocks (`align_kib`) of {block_kib} KiB, no multiple of the {}-byte \
                     sectors of {}",
                    shape.sector_bytes, shape.name
                ),
                &format!("give a multiple of {sector_kib} KiB"),
            ));
        }
        let think = spec.think.as_ref().map_or(Shape::Constant(0.0), Shape::of_time);
        let time = |law: &Option<_>| law.as_ref().map_or_else(|| think.clone(), Shape::of_time);
        let distance = spec.local_shift.as_ref().map(|law: &ShiftLaw| Shape::of_shift(law, sector_kib));
        Ok(Self {
            devices: places,
            first: range.first,
            blocks: (range.span / per_block as u64) as i64,
            sectors_per_block: per_block as i64,
            read_fraction: spec.read_fraction,
            sequential: spec.sequential_fraction,
            local: spec.local_fraction,
            waits: spec.waits_fraction.unwrap_or(1.0),
            limited: spec.limited_fraction,
            size: Shape::of_size(&spec.size, sector_kib),
            distance: distance.unwrap_or(Shape::Constant(0.0)),
            sequential_ms: time(&spec.sequential_think),
            local_ms: time(&spec.local_think),
            limit_ms: spec.time_limit.as_ref().map_or(Shape::Constant(0.0), Shape::of_time),
            general_ms: think,
            last: None,
        })
    }

    /// The next request; `None` if none of a million drawn lies within the range.
    pub(super) fn next(&mut self, draws: &mut Draws) -> Option<Planned> {
        let (computing_ms, made) = match self.last {
            None => self.general(draws)?,
            Some(last) => {
                let kind = draws.unit();
                if kind < self.sequential && last.start + 2 * last.blocks < self.blocks {
                    let ms = self.sequential_ms.time_ms(draws);
                    (ms, Last { start: last.start + last.blocks, ..last })
                } else if kind >= self.sequential && kind < self.sequential + self.local {
                    self.near(last, draws)?
                } else {
                    self.general(draws)?
                }
            }
        };
        self.last = Some(made);
        let wait = self.wait(draws);
        Some(Planned { request: self.request(made, wait), computing_ms, wait })
    }

    /// A request that has nothing to do with the one before.
    fn general(&self, draws: &mut Draws) -> Option<(f64, Last)> {
        let ms = self.general_ms.time_ms(draws);
        let device = self.devices[(draws.unit() * self.devices.len() as f64) as usize];
        let place = |draws: &mut Draws| (draws.unit() * self.blocks as f64) as i64;
        let (start, blocks) = self.placed(draws, place)?;
        Some((ms, Last { device, start, blocks, op: self.direction(draws) }))
    }

    /// A request a short way from the one before.
    fn near(&self, last: Last, draws: &mut Draws) -> Option<(f64, Last)> {
        let ms = self.local_ms.time_ms(draws);
        let place =
            |draws: &mut Draws| last.start + self.distance.draw(draws) as i64 / self.sectors_per_block;
        let (start, blocks) = self.placed(draws, place)?;
        Some((ms, Last { start, blocks, op: self.direction(draws), ..last }))
    }

    /// A beginning and a size, drawn together until the request ends before the last block does.
    fn placed(&self, draws: &mut Draws, place: impl Fn(&mut Draws) -> i64) -> Option<(i64, i64)> {
        for _ in 0..MOST_DRAWS {
            let start = place(draws);
            let blocks = (self.size.draw(draws) as i64 + self.sectors_per_block - 1) / self.sectors_per_block;
            let is_inside = start >= 0 && blocks > 0 && start.saturating_add(blocks) < self.blocks;
            if is_inside && u32::try_from(blocks * self.sectors_per_block).is_ok() {
                return Some((start, blocks));
            }
        }
        None
    }

    fn direction(&self, draws: &mut Draws) -> Op {
        if draws.unit() < self.read_fraction { Op::Read } else { Op::Write }
    }

    fn wait(&self, draws: &mut Draws) -> Wait {
        let kind = draws.unit();
        if kind < self.waits {
            Wait::AtOnce
        } else if kind < self.waits + self.limited {
            Wait::Limited(self.limit_ms.time_ms(draws))
        } else {
            Wait::Never
        }
    }

    fn request(&self, made: Last, wait: Wait) -> Request {
        let start = (made.start * self.sectors_per_block) as u64;
        let sectors = (made.blocks * self.sectors_per_block) as u32;
        let mut request = Request::new(Nanos::ZERO, made.op, Lba(self.first + start), sectors);
        request.device = made.device;
        // Where all are waited for, none goes before the others.
        if self.waits < 1.0 && wait != Wait::Never {
            request.flags = request.flags.with(RequestFlags::PRIORITY);
        }
        request
    }
}
