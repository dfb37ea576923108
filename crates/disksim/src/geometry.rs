//! What every generation of layouts is read against: the geometry of the whole drive, and its zones as files have them.

use crate::tree::At;
use headstack_drive::spec::{LayoutSpec, Order};

/// One zone as the file has it.
pub(crate) struct RawZone {
    pub(crate) at: At,
    pub(crate) first_cylinder: u32,
    pub(crate) last_cylinder: u32,
    /// Spares included.
    pub(crate) sectors_per_track: u32,
    pub(crate) front: u64,
    pub(crate) spares: u32,
    /// Ascending.
    pub(crate) slips: Vec<u64>,
    /// Original and replacement.
    pub(crate) defects: Vec<(u64, u64)>,
}

/// The geometry of the whole drive, and what it announces.
pub(crate) struct Geometry {
    pub(crate) heads: u32,
    pub(crate) cylinders: u32,
    pub(crate) blocks: u64,
    /// Where the number of blocks stands.
    pub(crate) blocks_at: At,
}

/// A layout without zones or runs.
pub(crate) fn empty(order: Order, heads: u32) -> LayoutSpec {
    LayoutSpec {
        head_angle_revolutions: Vec::new(),
        order,
        heads,
        group_cylinders: None,
        cylinders: None,
        capacity_sectors: None,
        zone: Vec::new(),
        run: Vec::new(),
        region: Vec::new(),
        slipped_sectors: Vec::new(),
        slipped_tracks: Vec::new(),
        remap: Vec::new(),
    }
}
