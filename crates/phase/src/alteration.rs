//! Single changes of a geometry that a file may have wrong.

use headstack_drive::spec::DriveSpec;

/// A number of the layout that is another than the file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alteration {
    /// The number of heads.
    Heads {
        /// By how many more.
        by: i32,
    },
    /// Sectors on a track of one zone.
    SectorsPerTrack {
        /// Number of the zone, from 0.
        zone: usize,
        /// By how many more.
        by: i32,
    },
    /// The cylinder at which a zone ends and the next one begins.
    Boundary {
        /// Number of the zone that ends, from 0.
        zone: usize,
        /// By how many farther.
        by: i32,
    },
    /// Spare tracks at the end of a zone.
    SpareTracks {
        /// Number of the zone, from 0.
        zone: usize,
        /// By how many more.
        by: i32,
    },
}

/// Changes tried, either way: heads, sectors, cylinders, and cylinders full of spare tracks.
const HEADS: i32 = 2;
const SECTORS: i32 = 3;
const CYLINDERS: i32 = 30;
const SPARE_CYLINDERS: i32 = 3;

impl Alteration {
    /// Changes of the number of heads.
    pub(crate) fn of_heads() -> Vec<Self> {
        either_way(HEADS).map(|by| Self::Heads { by }).collect()
    }

    /// Changes of these zones.
    pub(crate) fn of_zones(spec: &DriveSpec, zones: core::ops::RangeInclusive<usize>) -> Vec<Self> {
        let spares = SPARE_CYLINDERS * spec.layout.heads as i32;
        let of = |zone| {
            let sectors = Self::of_sectors(zone);
            let boundary = either_way(CYLINDERS).map(move |by| Self::Boundary { zone, by });
            let spares = either_way(spares).map(move |by| Self::SpareTracks { zone, by });
            sectors.chain(boundary).chain(spares)
        };
        zones.flat_map(of).collect()
    }

    /// Changes of the sectors on a track of a zone.
    pub(crate) fn of_sectors(zone: usize) -> impl Iterator<Item = Self> {
        either_way(SECTORS).map(move |by| Self::SectorsPerTrack { zone, by })
    }

    /// The first zone that it changes.
    pub(crate) fn zone(self) -> usize {
        match self {
            Self::Heads { .. } => 0,
            Self::SectorsPerTrack { zone, .. }
            | Self::Boundary { zone, .. }
            | Self::SpareTracks { zone, .. } => zone,
        }
    }

    /// The drive with this change; `None` where it cannot be.
    pub fn apply(self, spec: &DriveSpec) -> Option<DriveSpec> {
        let mut altered = spec.clone();
        let layout = &mut altered.layout;
        match self {
            Self::Heads { by } => layout.heads = layout.heads.checked_add_signed(by)?,
            Self::SectorsPerTrack { zone, by } => {
                let zone = layout.zone.get_mut(zone)?;
                zone.sectors_per_track = zone.sectors_per_track.checked_add_signed(by)?;
            }
            Self::Boundary { zone, by } => {
                let next = layout.zone.get_mut(zone + 1)?;
                next.first_cylinder = next.first_cylinder.checked_add_signed(by)?;
                let zone = layout.zone.get_mut(zone)?;
                zone.last_cylinder = zone.last_cylinder.checked_add_signed(by)?;
            }
            Self::SpareTracks { zone, by } => {
                let zone = layout.zone.get_mut(zone)?;
                zone.spare_tracks_at_end = zone.spare_tracks_at_end.checked_add_signed(by)?;
            }
        }
        // Where the file says less than the tracks hold, it may have become too much.
        altered.check().is_empty().then_some(altered)
    }

    /// What changes in the file: dotted path, the value there, and the one that mends it.
    pub fn changes(self, spec: &DriveSpec) -> Vec<(String, u32, u32)> {
        let of = |path: String, value: u32, by: i32| (path, value, value.saturating_add_signed(by));
        let zones = &spec.layout.zone;
        match self {
            Self::Heads { by } => vec![of("layout.heads".to_owned(), spec.layout.heads, by)],
            Self::SectorsPerTrack { zone, by } => {
                vec![of(format!("layout.zone.{zone}.sectors_per_track"), zones[zone].sectors_per_track, by)]
            }
            Self::Boundary { zone, by } => vec![
                of(format!("layout.zone.{zone}.last_cylinder"), zones[zone].last_cylinder, by),
                of(format!("layout.zone.{}.first_cylinder", zone + 1), zones[zone + 1].first_cylinder, by),
            ],
            Self::SpareTracks { zone, by } => {
                vec![of(
                    format!("layout.zone.{zone}.spare_tracks_at_end"),
                    zones[zone].spare_tracks_at_end,
                    by,
                )]
            }
        }
    }
}

/// 1, −1, 2, −2 and so on: of two that are as good, the nearer comes first.
fn either_way(most: i32) -> impl Iterator<Item = i32> {
    (1..=most).flat_map(|by| [by, -by])
}
