//! How fast drives take what is rebuilt onto them, where that is a share of what their media could (`write_efficiency`).
//!
//! A write has its drive for as long as the media need for it, divided by the share; the next one is sent when that time is over.
//! So the share is that of the drive's own rate, in every zone, and a drive that is slower still by itself loses no more. Meanwhile
//! the drive may serve other commands: what really keeps it is not known.

use std::collections::BTreeMap;
use std::sync::Arc;

use headstack_drive::DriveModel;
use headstack_drive::layout::Layout;
use headstack_units::{Nanos, Op};

use crate::layer::{Effect, Piece};

/// From a sector on, how long the media take to write one, in ns.
#[derive(Clone, Copy, Debug)]
struct Pace {
    first_lba: u64,
    ns_per_sector: f64,
}

/// A drive that takes a rebuild's writes.
#[derive(Clone, Debug)]
struct Taker {
    paces: Arc<[Pace]>,
    /// The last write it was sent has had its time.
    free: Nanos,
}

impl Taker {
    /// How long it takes a write.
    fn time(&self, piece: &Piece) -> Nanos {
        let zone = self.paces.partition_point(|pace| pace.first_lba <= piece.lba.0);
        let pace = self.paces[zone.saturating_sub(1)];
        Nanos((f64::from(piece.sectors) * pace.ns_per_sector).round() as u64)
    }
}

/// The drives that take a rebuild's writes at a share of their own rate, and the writes that wait for that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intake {
    /// By unit; none where drives take them as fast as they can.
    takers: BTreeMap<usize, Taker>,
    /// By the instant at which they are sent, then in their order.
    waiting: BTreeMap<(Nanos, u64), Effect>,
    kept: u64,
}

impl Intake {
    /// Units of a model take writes at a share of its own rate.
    pub(crate) fn limit(&mut self, units: impl Iterator<Item = usize>, model: &DriveModel, efficiency: f64) {
        let spec = model.spec();
        let layout = Layout::new(&spec.joined_layout());
        let pace = |rate: f64| f64::from(model.sector_bytes()) * 1e3 / (rate * efficiency);
        let rates = headstack_drive::zone_rates(spec);
        let paces: Arc<[Pace]> = layout
            .zones()
            .zip(rates)
            .map(|(zone, rate)| Pace { first_lba: zone.first_lba, ns_per_sector: pace(rate.write_mb_per_s) })
            .collect();
        for unit in units {
            self.takers.insert(unit, Taker { paces: Arc::clone(&paces), free: Nanos::ZERO });
        }
    }

    /// When a unit takes a command, which then has it for its time.
    pub(super) fn takes(&mut self, now: Nanos, unit: usize, piece: &Piece) -> Nanos {
        let Some(taker) = self.takers.get_mut(&unit).filter(|_| piece.op == Op::Write) else { return now };
        let at = taker.free.max(now);
        taker.free = at + taker.time(piece);
        at
    }

    /// A write is sent at an instant to come.
    pub(super) fn keep(&mut self, at: Nanos, send: Effect) {
        self.waiting.insert((at, self.kept), send);
        self.kept += 1;
    }

    /// The writes that are sent by now.
    pub(super) fn due(&mut self, now: Nanos) -> impl Iterator<Item = Effect> + use<> {
        let later = self.waiting.split_off(&(now + Nanos(1), 0));
        std::mem::replace(&mut self.waiting, later).into_values()
    }
}
