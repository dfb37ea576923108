//! The layout: a zone of the file for each piece of which the angles are known, else for each zone that was found.

use crate::angles::spindle::wrap;
use crate::extract::{Extraction, PieceFindings, ZoneFindings};
use crate::reading::tracks::whole_sectors;
use headstack_drive::spec::{LayoutSpec, Order, SpareGroup, SparesSpec, ZoneSpec};

/// Zones one behind the other.
struct Layout {
    heads: u64,
    zones: Vec<ZoneSpec>,
    /// Data sectors so far, slipped ones included.
    slots: u64,
    slipped: Vec<u64>,
}

pub(super) fn layout(found: &Extraction, heads: u32) -> LayoutSpec {
    let mut layout = Layout { heads: u64::from(heads), zones: Vec::new(), slots: 0, slipped: Vec::new() };
    for (number, zone) in found.zones.iter().enumerate() {
        let mut pieces = found.pieces.iter().filter(|piece| piece.zone == number).peekable();
        if pieces.peek().is_none() {
            layout.zone(zone);
        }
        for piece in pieces {
            layout.piece(zone, piece);
        }
    }
    let by_surface = found.order == Some("serpentine-by-surface");
    LayoutSpec {
        head_angle_revolutions: Vec::new(),
        order: if by_surface { Order::SerpentineBySurface } else { Order::Classical },
        heads,
        group_cylinders: found.group_cylinders.map(|cylinders| cylinders as u32),
        cylinders: None,
        capacity_sectors: None,
        zone: layout.zones,
        run: Vec::new(),
        region: Vec::new(),
        slipped_sectors: layout.slipped,
        slipped_tracks: Vec::new(),
        remap: Vec::new(),
    }
}

impl Layout {
    /// Cylinders behind those that there are, with the sectors of a zone.
    fn cylinders(&self, zone: &ZoneFindings, cylinders: u64) -> ZoneSpec {
        let first_cylinder = self.zones.last().map_or(0, |last| last.last_cylinder + 1);
        let spare = (zone.sectors_per_revolution - zone.sectors_per_track as f64).round().max(0.0);
        ZoneSpec {
            sectors_per_track_by_head: Vec::new(),
            first_cylinder,
            last_cylinder: first_cylinder + cylinders as u32 - 1,
            sectors_per_track: zone.sectors_per_track as u32,
            spare_sectors_per_track: spare as u32,
            spare_tracks_per_cylinder: 0,
            spare_tracks_at_end: 0,
            empty_sectors_at_front: 0,
            track_skew_sectors: 0.0,
            cylinder_skew_sectors: 0.0,
            first_sector_revolutions: 0.0,
            spares: None,
        }
    }

    /// A zone of which only the skews are known. What is missing to whole cylinders holds no data: the drive's own sectors, or
    /// spares.
    fn zone(&mut self, zone: &ZoneFindings) {
        let per_cylinder = zone.sectors_per_track * self.heads;
        let held = zone.end_lba - zone.first_lba;
        let cylinders = held.div_ceil(per_cylinder).max(1);
        let skew = |sectors: Option<f64>, ci95| whole_sectors(sectors.unwrap_or(0.0), ci95);
        let spec = ZoneSpec {
            empty_sectors_at_front: cylinders * per_cylinder - held,
            track_skew_sectors: skew(zone.track_skew_sectors, zone.track_skew_ci95_sectors),
            cylinder_skew_sectors: skew(zone.cylinder_skew_sectors, zone.cylinder_skew_ci95_sectors),
            ..self.cylinders(zone, cylinders)
        };
        self.slots += held;
        self.zones.push(spec);
    }

    /// A piece: tracks begin anew at its anchor, and what is missing to whole cylinders lies at both of its ends.
    fn piece(&mut self, zone: &ZoneFindings, piece: &PieceFindings) {
        let slipped = |end: u64| -> u64 {
            piece.slipped.iter().filter(|slip| slip[0] <= end).map(|slip| slip[1]).sum()
        };
        let before = piece.anchor_lba.saturating_sub(piece.first_lba) + slipped(piece.anchor_lba);
        let periods = before.div_ceil(piece.period_sectors);
        let front = periods * piece.period_sectors - before;
        let held = piece.end_lba - piece.first_lba + slipped(piece.end_lba);
        let sectors = zone.sectors_per_track;
        // Spares at the end of each cylinder, or of several.
        let shares = piece.tracks == self.heads * piece.cylinders;
        let spares = if shares { piece.tracks * sectors - piece.period_sectors } else { 0 };
        let (per_cylinder, all) = (self.heads * sectors, front + held);
        let cylinders = if spares > 0 {
            let whole = (all - 1) / piece.period_sectors;
            let last = all - whole * piece.period_sectors;
            whole * piece.cylinders + (last + spares).div_ceil(per_cylinder).min(piece.cylinders)
        } else {
            all.div_ceil(per_cylinder).max(1)
        };
        let turned = periods as f64 * piece.period_revolutions;
        let mut spec = ZoneSpec {
            empty_sectors_at_front: front,
            track_skew_sectors: if self.heads > 1 { piece.track_skew_sectors } else { 0.0 },
            cylinder_skew_sectors: piece.cylinder_skew_sectors,
            first_sector_revolutions: wrap(piece.anchor_revolutions - turned),
            ..self.cylinders(zone, cylinders)
        };
        for &[lba, count] in &piece.slipped {
            let place = self.slots + lba - piece.first_lba + slipped(lba) - count;
            self.slipped.extend(place..place + count);
        }
        self.slots += held;
        if spares > 0 {
            let last = all - (all - 1) / piece.period_sectors * piece.period_sectors;
            let room = (last + spares).div_ceil(per_cylinder).min(piece.cylinders) * per_cylinder;
            let tracks = (room - (last + spares).min(room)) / sectors;
            let rest = (room - tracks * sectors).saturating_sub(spares + last);
            spec.spare_tracks_at_end = tracks as u32;
            self.slipped.extend(self.slots..self.slots + rest);
            self.slots += rest;
            let cylinders = (piece.cylinders > 1).then_some(piece.cylinders as u32);
            let range_skew_sectors = if cylinders.is_some() { piece.range_skew_sectors } else { 0.0 };
            let shared = shared(SpareGroup::Cylinders, spares);
            spec.spares = Some(SparesSpec { cylinders, range_skew_sectors, ..shared });
        } else {
            let missing = cylinders * per_cylinder - all;
            spec.spares = (missing > 0).then(|| shared(SpareGroup::Zone, missing));
        }
        self.zones.push(spec);
    }
}

fn shared(per: SpareGroup, sectors: u64) -> SparesSpec {
    SparesSpec {
        per,
        cylinders: None,
        sectors: sectors as u32,
        at_front: false,
        slipped_slots: Vec::new(),
        range_skew_sectors: 0.0,
    }
}
