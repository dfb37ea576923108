//! In how many transfers the data of a command go over the bus.

use crate::command::BusTiming;
use crate::spec::{BusTransfers, DriveSpec};
use headstack_units::Op;

/// A bus this many times as fast as the media is not worth holding at their pace.
const WORTH_LETTING_GO: u64 = 8;

/// Sizes in sectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    transfers: Option<BusTransfers>,
    /// Time of a byte on the fastest zone's media, in 2^-32 ns.
    media_ns_per_byte_q32: u64,
    /// Most that goes over the bus at a time.
    pub(crate) burst: u64,
    /// What a read gathers before it asks for the bus again.
    pub(crate) gathered: u64,
    /// The room for which a write larger than the buffer waits.
    pub(crate) room: u64,
}

impl Bursts {
    /// From a checked description.
    pub(super) fn new(spec: &DriveSpec) -> Self {
        let sectors = |kib: f64| ((kib * 1024.0 / f64::from(spec.sector_bytes)) as u64).max(1);
        let buffer = &spec.buffer;
        // A drive that gathered all its buffer holds before it sent any would stop its media.
        let half = (sectors(buffer.size_kib) / 2).max(1);
        let burst = sectors(buffer.burst_kib).min(half);
        let fastest = spec.layout.most_sectors_per_track().max(1);
        let turn_ns = 60e9 / spec.rotation_rpm;
        let ns_per_byte = turn_ns / (f64::from(fastest) * f64::from(spec.sector_bytes));
        Self {
            transfers: if buffer.size_kib > 0.0 { buffer.bus_transfers } else { Some(BusTransfers::One) },
            media_ns_per_byte_q32: (ns_per_byte * 4_294_967_296.0) as u64,
            burst,
            gathered: buffer.buffer_full_kib.map_or(burst, sectors),
            room: buffer.buffer_empty_kib.map_or(burst, sectors),
        }
    }

    /// Whether a command's data go over this bus in bursts.
    #[inline]
    pub(crate) fn apply_on(&self, bus: &BusTiming, op: Op) -> bool {
        match self.transfers {
            Some(BusTransfers::One) => false,
            Some(BusTransfers::Bursts) => bus.disconnects,
            None => {
                let bus_ns = bus.ns_per_byte_q32(op);
                bus.disconnects && bus_ns.saturating_mul(WORTH_LETTING_GO) <= self.media_ns_per_byte_q32
            }
        }
    }
}
