//! The moving parts: how long the arm takes, and where the disk is.

mod reach;
mod seek;
mod spindle;
#[cfg(test)]
mod tests;

pub use reach::Reach;
use seek::level_beyond;
pub(crate) use seek::third_of_stroke;
pub use seek::{SeekAverages, SeekCurve};
pub(crate) use spindle::hash;
pub use spindle::{Epoch, Spindle};

use crate::layout::physical_cylinders;
use crate::spec::DriveSpec;
use headstack_units::{Nanos, Op};
use std::cmp::Ordering;

/// How long a change of track takes.
#[derive(Clone, Debug)]
pub struct Mechanics {
    /// Seek time against distance.
    pub curve: SeekCurve,
    /// Change of head within a cylinder.
    pub head_switch: Nanos,
    /// Change to the neighbouring cylinder within a transfer, a change of head included, where it differs from a
    /// repositioning.
    pub cylinder_switch: Option<Nanos>,
    /// Settle before a read, in ns; may be negative.
    pub read_settle_ns: i64,
    /// Settle before a write, in ns; may be negative.
    pub write_settle_ns: i64,
    /// The part of the write settle that depends on the seek's distance; empty where none does.
    pub write_settle_by_distance: Vec<[f64; 2]>,
    /// Inward seeks take this much longer, outward ones this much less, in ns.
    pub inward_extra_ns: i64,
    /// Whether the settle also follows a change of head where the arm does not move.
    pub settle_after_head_switch: bool,
    /// Changes of track within a transfer, where those before one take other times.
    within: Option<Box<Self>>,
}

impl Mechanics {
    /// From a checked description.
    pub fn new(spec: &DriveSpec) -> Self {
        let scale = spec.fidelity.seek_scale;
        let extra = &spec.mechanics.seek_extra_by_distance_ms;
        if scale == 1.0 && extra.is_empty() {
            return Self::scaled(spec, &[], 1.0);
        }
        Self { within: Some(Box::new(Self::scaled(spec, &[], 1.0))), ..Self::scaled(spec, extra, scale) }
    }

    /// All moves take `scale` times as long as described; seeks by `extra` longer than the curve says.
    fn scaled(spec: &DriveSpec, extra: &[[f64; 2]], scale: f64) -> Self {
        let settle = |ms: f64| (ms * scale * 1e6).round() as i64;
        Self {
            curve: SeekCurve::scaled(&spec.seek, extra, physical_cylinders(&spec.layout), scale),
            head_switch: Nanos::from_ms(spec.mechanics.head_switch_ms * scale),
            cylinder_switch: spec.mechanics.cylinder_switch_ms.map(Nanos::from_ms),
            read_settle_ns: settle(spec.mechanics.read_settle_ms),
            write_settle_ns: settle(spec.mechanics.write_settle_ms),
            write_settle_by_distance: spec
                .mechanics
                .write_settle_by_distance_ms
                .iter()
                .map(|&[distance, ms]| [distance, ms * scale * 1e6])
                .collect(),
            inward_extra_ns: settle(spec.mechanics.inward_seek_extra_ms),
            settle_after_head_switch: spec.mechanics.settle_after_head_switch,
            within: None,
        }
    }

    /// From one track (cylinder, head) to another before an operation: the longer of seek and head switch, and the
    /// settle of the operation, never below zero; nothing on the same track.
    #[inline]
    pub fn reposition(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        let extra = match to.0.cmp(&from.0) {
            Ordering::Less => -self.inward_extra_ns,
            Ordering::Equal => 0,
            Ordering::Greater => self.inward_extra_ns,
        };
        self.moved(from, to, op, extra)
    }

    /// `settled`, and the part of the write settle that depends on the distance.
    #[inline(never)]
    fn settled_by_distance(&self, settled: Nanos, distance: u32) -> Nanos {
        let settle_ns = level_beyond(&self.write_settle_by_distance, f64::from(distance));
        lengthened(settled, settle_ns.round() as i64)
    }

    /// From one track to the next within a transfer: as [`Mechanics::reposition`], but without regard to the direction (the skew
    /// was made for what the switch takes), and with the cylinder-switch time,
    /// where there is one, in place of the movement to a neighbouring cylinder (with or without a change of head).
    #[inline]
    pub fn switch(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        let within = self.within.as_deref().unwrap_or(self);
        match within.cylinder_switch {
            Some(time) if from.0.abs_diff(to.0) == 1 => within.settled(time, op),
            _ => within.moved(from, to, op, 0),
        }
    }

    /// The move, its seek `extra_ns` longer than the curve says.
    #[inline]
    fn moved(&self, from: (u32, u32), to: (u32, u32), op: Op, extra_ns: i64) -> Nanos {
        if from == to {
            return Nanos::ZERO;
        }
        let distance = from.0.abs_diff(to.0);
        let seek = lengthened(self.curve.time(distance), extra_ns);
        let head = if from.1 == to.1 { Nanos::ZERO } else { self.head_switch };
        if from.0 == to.0 && !self.settle_after_head_switch {
            return head;
        }
        let settled = self.settled(seek.max(head), op);
        if op == Op::Write && !self.write_settle_by_distance.is_empty() {
            return self.settled_by_distance(settled, distance);
        }
        settled
    }

    #[inline]
    fn settled(&self, time: Nanos, op: Op) -> Nanos {
        let settle = match op {
            Op::Read => self.read_settle_ns,
            Op::Write => self.write_settle_ns,
        };
        lengthened(time, settle)
    }
}

/// The time and as much more, never below zero. Moves take no centuries: the sum is in range.
#[inline]
fn lengthened(time: Nanos, by_ns: i64) -> Nanos {
    Nanos((time.0 as i64 + by_ns).max(0) as u64)
}
