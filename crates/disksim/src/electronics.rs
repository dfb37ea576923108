//! What importing the electronics of a drive fills in, and how its numbers are read.

use crate::error::ImportError;
use crate::parameters::Parameters;
use crate::tree::At;
use headstack_drive::spec::{BufferSpec, BusSpec, CacheSpec, ControllerSpec, WritePolicy};

/// DiskSim counts blocks of this many bytes.
pub(crate) const BLOCK_BYTES: f64 = 512.0;
pub(crate) const BLOCK_KIB: f64 = BLOCK_BYTES / 1024.0;

/// Block times of the slowest bus between host and drive, in ms for 512 bytes, and where they stand.
#[derive(Clone, Debug)]
pub(crate) struct BusTimes {
    pub(crate) at: At,
    pub(crate) read_ms: f64,
    pub(crate) write_ms: f64,
}

/// Everything but geometry and mechanics.
#[derive(Default)]
pub(crate) struct Electronics {
    pub(crate) controller: ControllerSpec,
    pub(crate) buffer: BufferSpec,
    pub(crate) cache: Option<CacheSpec>,
    pub(crate) write_policy: WritePolicy,
    pub(crate) bus: Option<BusSpec>,
    /// Paths whose values come from the bus.
    pub(crate) of_bus: Vec<&'static str>,
    /// Paths that are assumed, and why.
    pub(crate) assumed: Vec<(&'static str, String)>,
}

pub(crate) fn segments(from: &Parameters<'_>) -> Result<(u64, f64), ImportError> {
    let count = from.count("Number of buffer segments", 1, 1, 100_000)?;
    let blocks = from.count("Segment size (in blks)", 128, 1, 1 << 31)?;
    Ok((count, blocks as f64 * BLOCK_KIB))
}

/// To six digits behind the point: block times have no more.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
