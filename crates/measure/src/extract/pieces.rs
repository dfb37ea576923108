//! Where the tracks of a device lie on the turn, piece by piece.

use crate::angles::spindle::wrap;
use crate::reading::head_zones::HeadZone;
use crate::reading::known::Known;
use crate::reading::no_skews;
use crate::reading::pieces::{Piece, pieces};
use crate::reading::zones::Zone;
use crate::record::Record;
use serde::Serialize;

/// Below this, in sectors, a skew is whole however well it is known.
const EXACT_SECTORS: f64 = 1e-4;

/// Addresses of a zone within which tracks follow each other evenly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PieceFindings {
    /// The zone's number, from 0.
    pub zone: usize,
    /// First sector.
    pub first_lba: u64,
    /// The sector behind the last.
    pub end_lba: u64,
    /// Where a cylinder begins (along surfaces: a group of cylinders), and at which angle, in revolutions.
    pub anchor_lba: u64,
    /// See `anchor_lba`.
    pub anchor_revolutions: f64,
    /// Tracks from there to where it begins anew.
    pub tracks: u64,
    /// Revolutions from there to where it begins anew, a whole number left out.
    pub period_revolutions: f64,
    /// Data sectors in so many tracks: fewer than they would hold where the last one has spares.
    pub period_sectors: u64,
    /// Skew at a change of head, in sectors.
    pub track_skew_sectors: f64,
    /// Skew at a change of cylinder, in sectors.
    pub cylinder_skew_sectors: f64,
    /// Cylinders that share spares.
    pub cylinders: u64,
    /// What is added to the skew between those that do and the next, in sectors.
    pub range_skew_sectors: f64,
    /// Slipped sectors: before which address, and how many.
    pub slipped: Vec<[u64; 2]>,
}

/// What the probe `angles` found.
pub(super) fn piece_findings(record: &Record, known: &Known) -> Vec<PieceFindings> {
    if let Some(first) = known.head_zones.first() {
        let zones = known.head_zones.iter().enumerate();
        return zones.map(|(number, zone)| of_heads(number, zone, first.angle)).collect();
    }
    if let Some(spindle) = known.spindle.filter(|_| known.no_skews) {
        let zones = no_skews::zones(record, spindle);
        let origin = zones.first().map_or(0.0, |&(_, angle)| angle);
        let pieces = zones.into_iter().take(known.zones.len()).enumerate();
        return pieces
            .map(|(number, (zone, angle))| without_skews(number, zone, wrap(angle - origin)))
            .collect();
    }
    let unit = record.head.device.unit() as f64;
    let found = pieces(record, known);
    // The origin is that of nobody's: the first piece's.
    let origin = found.first().map_or(0.0, |piece| starts(piece, unit));
    let findings = |piece: Piece| {
        let format = &piece.format;
        let (track, cylinder, range) = format.skews(piece.period);
        let off = (piece.period_off * format.per_turn).max(EXACT_SECTORS);
        let sectors = |turns: f64| {
            let sectors = wrap(turns) * format.per_turn;
            let near = if (sectors - sectors.round()).abs() <= off { sectors.round() } else { sectors };
            near.rem_euclid(format.per_turn)
        };
        PieceFindings {
            zone: format.zone,
            first_lba: piece.first,
            end_lba: piece.end,
            anchor_lba: piece.anchor,
            anchor_revolutions: wrap(starts(&piece, unit) - origin),
            tracks: format.tracks,
            period_revolutions: wrap(piece.period),
            period_sectors: format.sectors,
            track_skew_sectors: sectors(track),
            cylinder_skew_sectors: sectors(cylinder),
            cylinders: format.cylinders(),
            range_skew_sectors: sectors(range),
            slipped: piece.slipped.iter().map(|(&lba, &count)| [lba, count]).collect(),
        }
    };
    found.into_iter().map(findings).collect()
}

/// The angle at which a piece's anchor begins: accesses show where one unit of it ends.
fn starts(piece: &Piece, unit: f64) -> f64 {
    piece.angle - unit / piece.format.per_turn
}

/// A zone in which each head has a density of its own is one piece.
fn of_heads(number: usize, zone: &HeadZone, origin: f64) -> PieceFindings {
    let heads = zone.sectors.len() as u64;
    let nominal = ((zone.per_cylinder() + heads / 2) / heads) as f64;
    PieceFindings {
        zone: number,
        first_lba: zone.first_lba,
        end_lba: zone.end_lba,
        anchor_lba: zone.first_lba,
        anchor_revolutions: wrap(zone.angle - origin),
        tracks: heads,
        period_revolutions: wrap(zone.period),
        period_sectors: zone.per_cylinder(),
        track_skew_sectors: zone.track_skew * nominal,
        cylinder_skew_sectors: zone.cylinder_skew() * nominal,
        cylinders: 1,
        range_skew_sectors: 0.0,
        slipped: Vec::new(),
    }
}

/// So is one whose tracks have no skews: each begins where the one before did.
fn without_skews(number: usize, zone: Zone, anchor_revolutions: f64) -> PieceFindings {
    PieceFindings {
        zone: number,
        first_lba: zone.first_lba,
        end_lba: zone.end_lba,
        anchor_lba: zone.first_lba,
        anchor_revolutions,
        tracks: 1,
        period_revolutions: 0.0,
        period_sectors: zone.sectors_per_track,
        track_skew_sectors: 0.0,
        cylinder_skew_sectors: 0.0,
        cylinders: 1,
        range_skew_sectors: 0.0,
        slipped: Vec::new(),
    }
}
