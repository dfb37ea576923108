//! From cylinders to addresses, by what was measured of zones and surfaces.

use super::head_zones::HeadZone;
use super::known::Known;
use super::pieces::pieces;
use super::tracks;
use crate::record::{ProbeName, Record};

/// One zone in cylinders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ZoneCylinders {
    /// First cylinder, counted over the tracks that hold data.
    pub(crate) first_cylinder: u64,
    /// Cylinders.
    pub(crate) cylinders: u64,
    /// Sectors on a track.
    pub(crate) sectors_per_track: u64,
    /// Sectors in a turn: more, where some are spares.
    per_turn: f64,
    /// Sectors from one cylinder to the next, on average.
    sectors_per_cylinder: f64,
    /// A sector at which a cylinder begins, and which one, counted from the zone's first.
    anchor: (u64, u64),
    first_lba: u64,
    end_lba: u64,
    /// Before which addresses sectors were slipped, and how many.
    slips: Vec<(u64, u64)>,
    /// Sectors on the track of each head, where they differ.
    by_head: Vec<u64>,
}

impl ZoneCylinders {
    /// The zone behind others, where each head has a density of its own.
    fn of_heads(zone: &HeadZone, first_cylinder: u64) -> Self {
        Self {
            first_cylinder,
            cylinders: zone.cylinders(),
            sectors_per_track: zone.sectors[zone.sectors.len() / 2],
            per_turn: zone.sectors[zone.sectors.len() / 2] as f64,
            sectors_per_cylinder: zone.per_cylinder() as f64,
            anchor: (zone.first_lba, 0),
            first_lba: zone.first_lba,
            end_lba: zone.end_lba,
            slips: Vec::new(),
            by_head: zone.sectors.clone(),
        }
    }

    /// From where a cylinder begins to the middle of its track with this place in it.
    fn to_middle(&self, place: u64) -> u64 {
        let before = match self.by_head.get(..place as usize) {
            Some(before) if !self.by_head.is_empty() => before.iter().sum(),
            _ => place * self.sectors_per_track,
        };
        before + self.sectors_per_track / 2
    }

    /// Sectors that were slipped up to an address.
    fn slipped(&self, lba: u64) -> u64 {
        self.slips.iter().filter(|&&(at, _)| at <= lba).map(|&(_, count)| count).sum()
    }
}

/// Cylinders of a drive. Where cylinders or tracks hold no data, they are not counted: their number cannot be seen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CylinderMap {
    pub(crate) zones: Vec<ZoneCylinders>,
    heads: u64,
    /// Whether the order of the heads turns round with each cylinder.
    head_stays: bool,
    /// Cylinders in a group, by surface.
    group: Option<u64>,
}

impl CylinderMap {
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let known = Known::of(record);
        let (spindle, order) = (known.spindle?, known.order.as_ref()?);
        let heads = u64::from(order.heads.max(1));
        if !known.head_zones.is_empty() {
            return Some(Self::of_heads(&known.head_zones, heads));
        }
        // Where cylinders end with spares, they hold less than their tracks do.
        let pieces = pieces(record, &known);
        let mut zones = Vec::new();
        let mut first_cylinder = 0;
        for (series, zone) in known.zones.iter().enumerate() {
            let piece = pieces
                .iter()
                .filter(|piece| {
                    piece.format.zone == series && piece.format.cylinders() == 1 && !order.by_surface
                })
                .max_by_key(|piece| piece.end - piece.first);
            let per_track = piece.map_or(zone.sectors_per_track as f64, |piece| piece.format.mean_sectors());
            let per_cylinder = per_track * heads as f64;
            let length = zone.end_lba.saturating_sub(zone.first_lba) as f64;
            let cylinders = (length / per_cylinder - 0.02).ceil().max(1.0) as u64;
            let borders =
                tracks::borders_within(record, (ProbeName::ZoneTracks, series as u32), zone, spindle);
            let begins = borders.iter().find(|border| border.rare || heads == 1).map(|border| border.first);
            let anchor = begins.filter(|_| !order.by_surface).unwrap_or(zone.first_lba);
            let number = (anchor.saturating_sub(zone.first_lba) as f64 / per_cylinder).round() as u64;
            zones.push(ZoneCylinders {
                first_cylinder,
                cylinders,
                sectors_per_track: zone.sectors_per_track,
                per_turn: borders.first().map_or(zone.sectors_per_track as f64, |border| border.per_turn),
                sectors_per_cylinder: per_cylinder,
                anchor: (anchor, number),
                first_lba: zone.first_lba,
                end_lba: zone.end_lba,
                slips: pieces
                    .iter()
                    .filter(|piece| piece.format.zone == series)
                    .flat_map(|piece| piece.slipped.iter().map(|(&at, &count)| (at, count)))
                    .collect(),
                by_head: Vec::new(),
            });
            first_cylinder += cylinders;
        }
        (!zones.is_empty()).then(|| Self {
            zones,
            heads,
            head_stays: order.head_stays,
            group: order.by_surface.then_some(order.group_cylinders),
        })
    }

    fn of_heads(found: &[HeadZone], heads: u64) -> Self {
        let mut zones: Vec<ZoneCylinders> = Vec::new();
        for zone in found {
            let first_cylinder = zones.last().map_or(0, |before| before.first_cylinder + before.cylinders);
            zones.push(ZoneCylinders::of_heads(zone, first_cylinder));
        }
        Self { zones, heads, head_stays: false, group: None }
    }

    pub(crate) fn cylinders(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.first_cylinder + zone.cylinders)
    }

    /// The angle from a sector to the next, in turns.
    pub(crate) fn slope(&self, lba: u64) -> Option<f64> {
        let zone = self.zones.iter().rev().find(|zone| zone.first_lba <= lba)?;
        Some(1.0 / zone.per_turn)
    }

    /// The cylinder of a sector.
    pub(crate) fn of_lba(&self, lba: u64) -> Option<u64> {
        let zone = self.zones.iter().rev().find(|zone| zone.first_lba <= lba)?;
        let within = if let Some(group) = self.group {
            let track = (lba - zone.first_lba + zone.slipped(lba)) / zone.sectors_per_track;
            let (number, rest) = (track / (group * self.heads), track % (group * self.heads));
            // Back and forth, from surface to surface.
            let (surface, along) = (rest / group + number * self.heads, rest % group);
            number * group + if surface % 2 == 0 { along } else { group - 1 - along }
        } else {
            let ahead = (lba as f64 - zone.anchor.0 as f64) / zone.sectors_per_cylinder;
            (ahead.floor() + zone.anchor.1 as f64).max(0.0) as u64
        };
        (lba < zone.end_lba).then_some(zone.first_cylinder + within)
    }

    /// The place in a cylinder of the middle head's track, the same head in each.
    fn middle_place(&self, cylinder_of_zone: u64) -> u64 {
        let middle = self.heads / 2;
        if self.head_stays && !cylinder_of_zone.is_multiple_of(2) { self.heads - 1 - middle } else { middle }
    }

    /// A sector in the middle of a cylinder; by surface, in the middle of its first track.
    pub(crate) fn middle_of(&self, cylinder: u64) -> Option<u64> {
        let zone = self.zones.iter().rev().find(|zone| zone.first_cylinder <= cylinder)?;
        let within = cylinder - zone.first_cylinder;
        let lba = if let Some(group) = self.group {
            let (number, along) = (within / group, within % group);
            let tracks = number * group * self.heads + along;
            zone.first_lba + tracks * zone.sectors_per_track + zone.sectors_per_track / 2
        } else {
            let ahead = within as f64 - zone.anchor.1 as f64;
            let start = zone.anchor.0 as f64 + ahead * zone.sectors_per_cylinder;
            (start + zone.to_middle(self.middle_place(within)) as f64).max(0.0) as u64
        };
        (lba >= zone.first_lba && lba + zone.sectors_per_track < zone.end_lba).then_some(lba)
    }

    /// Where tracks run along surfaces: the first sectors of the last track along one and of the first along the next, and their
    /// sectors. The cylinder stays.
    pub(crate) fn surface_changes(&self) -> Vec<(u64, u64, u64)> {
        let Some(group) = self.group else { return Vec::new() };
        let of_zone = |zone: &ZoneCylinders| {
            let (first, end, sectors, heads) =
                (zone.first_lba, zone.end_lba, zone.sectors_per_track, self.heads);
            let begins = move |surface: u64| first + surface * group * sectors;
            let surfaces = (1..).take_while(move |&surface| begins(surface) + sectors < end);
            let stays = surfaces.filter(move |surface| surface % heads != 0);
            stays.map(move |surface| (begins(surface) - sectors, begins(surface), sectors))
        };
        self.zones.iter().flat_map(of_zone).collect()
    }

    /// The first sector of the track that the middle of a cylinder lies on, and its sectors.
    pub(crate) fn track_of(&self, cylinder: u64) -> Option<(u64, u64)> {
        let zone = self.zones.iter().rev().find(|zone| zone.first_cylinder <= cylinder)?;
        let sectors = zone.sectors_per_track;
        Some((self.middle_of(cylinder)?.saturating_sub(sectors / 2), sectors))
    }

    /// Two cylinders at a distance: short ones within the largest zone, where it is known best; long ones in the middle.
    pub(crate) fn pair(&self, distance: u64) -> (u64, u64) {
        let largest = self.zones.iter().max_by_key(|zone| zone.cylinders);
        if let Some(zone) = largest
            && distance * 8 < zone.cylinders
        {
            let outer = zone.first_cylinder + zone.anchor.1.clamp(1, zone.cylinders - distance - 1);
            return (outer, outer + distance);
        }
        let outer = (self.cylinders() - 1 - distance) / 2;
        (outer, outer + distance)
    }
}
