//! Does every sector lie where the drive file says, and does the way back lead to it?

mod any_runs;
mod by_head;
mod drives;
mod runs;
mod twin;
mod versus_twin;

use crate::spec::{LayoutSpec, Order, TrackRunSpec, ZoneSpec};

/// A zone without skew and spares.
fn zone(first_cylinder: u32, last_cylinder: u32, sectors_per_track: u32) -> ZoneSpec {
    ZoneSpec {
        sectors_per_track_by_head: Vec::new(),
        first_cylinder,
        last_cylinder,
        sectors_per_track,
        spare_sectors_per_track: 0,
        spare_tracks_per_cylinder: 0,
        spare_tracks_at_end: 0,
        track_skew_sectors: 0.0,
        cylinder_skew_sectors: 0.0,
        first_sector_revolutions: 0.0,
        empty_sectors_at_front: 0,
        spares: None,
    }
}

/// A layout without defects.
fn layout(order: Order, heads: u32, zone: Vec<ZoneSpec>) -> LayoutSpec {
    LayoutSpec {
        head_angle_revolutions: Vec::new(),
        order,
        heads,
        group_cylinders: (order == Order::SerpentineBySurface).then_some(3),
        cylinders: None,
        capacity_sectors: None,
        zone,
        run: Vec::new(),
        region: Vec::new(),
        slipped_sectors: Vec::new(),
        slipped_tracks: Vec::new(),
        remap: Vec::new(),
    }
}

/// A run inwards without skew, every sector of it data.
fn track_run(head: u32, first_cylinder: u32, cylinders: u32, sectors_per_track: u32) -> TrackRunSpec {
    TrackRunSpec {
        first_cylinder,
        head,
        cylinders,
        step: 1,
        sectors_per_track,
        first_sector: 0,
        data_sectors: None,
        first_sector_revolutions: 0.0,
        skew_sectors: 0.0,
    }
}
