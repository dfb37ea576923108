//! One zone, or one run of a layout that is given run by run: its tracks in order, and the angle at which each begins.

use super::divisor::Divisor;
use super::place::Extent;
use super::sequence::{Sequence, Track};
use crate::spec::{LayoutSpec, TrackRunSpec, ZoneSpec};
use headstack_units::Angle;

/// Where an extent begins: cylinder and head, and the angle.
type Begin = ((u32, u32), Angle);

/// A zone, precomputed.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    /// Number of the zone as it appears to the outside.
    pub(super) number: u32,
    pub(super) sequence: Sequence,
    pub(super) first_cylinder: u32,
    pub(super) last_cylinder: u32,
    /// Data sectors on a track.
    pub(super) sectors: Divisor,
    /// Slots on a track, spares included.
    pub(super) slots: u32,
    /// The slot of a track's first data sector.
    pub(super) first_slot: u64,
    /// Indices before the spare tracks at the zone's end.
    pub(super) indices: u64,
    /// Angular width of a slot, rounded down.
    pub(super) slot_width: Angle,
    /// Where the first track's first sector begins.
    origin: Angle,
    track_skew: Angle,
    cylinder_skew: Angle,
    /// Cylinders in a range, and what is added where a new one begins.
    range_skew: Option<(u64, Angle)>,
}

impl Zone {
    pub(super) fn new(layout: &LayoutSpec, zone: &ZoneSpec, number: u32) -> Self {
        let sequence = Sequence::new(layout, zone);
        let slots = zone.sectors_per_track.saturating_add(zone.spare_sectors_per_track).max(1);
        Self {
            number,
            sequence,
            first_cylinder: zone.first_cylinder,
            last_cylinder: zone.last_cylinder,
            sectors: Divisor::new(u64::from(zone.sectors_per_track)),
            slots,
            first_slot: 0,
            indices: sequence.len().saturating_sub(u64::from(zone.spare_tracks_at_end)),
            slot_width: slot_width(slots),
            origin: Angle::from_turns(zone.first_sector_revolutions),
            track_skew: sectors_to_angle(zone.track_skew_sectors, slots),
            cylinder_skew: sectors_to_angle(zone.cylinder_skew_sectors, slots),
            range_skew: zone
                .spares
                .as_ref()
                .filter(|spares| spares.range_skew_sectors > 0.0)
                .and_then(|spares| Some((spares.cylinders?, spares.range_skew_sectors)))
                .map(|(cylinders, skew)| (u64::from(cylinders.max(1)), sectors_to_angle(skew, slots))),
        }
    }

    /// A run as a zone of one surface. Its spare tracks have no indices.
    pub(super) fn of_run(run: &TrackRunSpec, number: u32) -> Self {
        let sequence = Sequence::of_run(run);
        let slots = run.sectors_per_track.max(1);
        let (first_cylinder, last_cylinder) = run.cylinder_range();
        let data = run.data_sectors();
        Self {
            number,
            sequence,
            first_cylinder,
            last_cylinder,
            sectors: Divisor::new(u64::from(data)),
            slots,
            first_slot: u64::from(run.first_sector),
            indices: if data == 0 { 0 } else { sequence.len() },
            slot_width: slot_width(slots),
            origin: Angle::from_turns(run.first_sector_revolutions),
            track_skew: Angle::ZERO,
            cylinder_skew: sectors_to_angle(run.skew_sectors, slots),
            range_skew: None,
        }
    }

    /// Whether it is a run of spare tracks.
    pub(super) fn is_spare(&self) -> bool {
        self.indices == 0
    }

    /// At most `limit` sectors from `lba` on, whose home is the data slot `slot` of the track of an index: as many as are left of
    /// the track.
    #[expect(
        clippy::inline_always,
        reason = "handing a home in and an extent out costs as much as what it does"
    )]
    #[inline(always)]
    pub(super) fn run(&self, index: u64, slot: u64, lba: u64, limit: u64) -> Extent {
        let sectors = limit.min(self.sectors.value() - slot);
        let slot = self.first_slot + slot;
        let begin = match self.sequence.track_through_cylinders(index) {
            Some(track) => self.begin(&track, slot),
            None => self.begin_along_surface(index, slot),
        };
        self.extent_from(begin, lba, sectors)
    }

    /// As [`Zone::begin`], of the track of an index where tracks follow each other along a surface; apart from it, as it asks for
    /// more. No more is handed out than registers hold: the extent would lie in memory then, wherever its track is.
    #[inline(never)]
    fn begin_along_surface(&self, index: u64, slot: u64) -> Begin {
        self.begin(&self.sequence.track(index), slot)
    }

    #[inline]
    fn begin(&self, track: &Track, slot: u64) -> Begin {
        ((track.cylinder, track.head), self.start(track, slot))
    }

    /// So many sectors from `lba` on, the first of which lies in a slot of a track.
    pub(super) fn extent(&self, track: &Track, slot: u64, lba: u64, sectors: u64) -> Extent {
        self.extent_from(self.begin(track, slot), lba, sectors)
    }

    #[inline]
    fn extent_from(&self, ((cylinder, head), start): Begin, lba: u64, sectors: u64) -> Extent {
        let (slot_width, zone) = (self.slot_width, self.number);
        Extent { cylinder, head, lba, sectors: sectors as u32, start, slot_width, zone }
    }

    /// Where a slot of a track begins. Slots of a track lie exactly `slot_width` apart; what is left of the turn
    /// (below one slot count of 2^-64 turns) follows the last slot.
    #[inline]
    pub(super) fn start(&self, track: &Track, slot: u64) -> Angle {
        let by_heads = track.head_changes.wrapping_mul(self.track_skew.0);
        let by_cylinders = track.cylinder_changes.wrapping_mul(self.cylinder_skew.0);
        let within = slot.wrapping_mul(self.slot_width.0);
        let by_ranges = self.range_skew.map_or(0, |(cylinders, skew)| {
            (u64::from(track.cylinder - self.first_cylinder) / cylinders).wrapping_mul(skew.0)
        });
        self.origin + Angle(by_heads.wrapping_add(by_cylinders).wrapping_add(by_ranges).wrapping_add(within))
    }
}

/// floor(2^64 / slots); a single slot takes the turn less one part in 2^64.
fn slot_width(slots: u32) -> Angle {
    Angle(((1_u128 << 64) / u128::from(slots)).min(u128::from(u64::MAX)) as u64)
}

/// A real number of sectors as an angle, to the nearest 2^-64 turn: 10^11 of them still add up to less than a
/// nanosecond of rotation.
fn sectors_to_angle(sectors: f64, slots: u32) -> Angle {
    let whole = sectors.floor();
    // Both parts are exact: an f64 below 1 times 2^64 keeps all its bits.
    let fraction = ((sectors - whole) * 18_446_744_073_709_551_616.0) as u64;
    let fixed = (u128::from(whole as u64) << 64) | u128::from(fraction);
    Angle(((fixed + u128::from(slots / 2)) / u128::from(slots)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skew_is_as_exact_as_the_angle_allows() {
        // 2^64 / 9 is 2049638230412172401.78.
        assert_eq!(sectors_to_angle(8.0, 72), Angle(2_049_638_230_412_172_402));
        assert_eq!(sectors_to_angle(0.5, 1), Angle::fraction(1, 2));
        assert_eq!(sectors_to_angle(0.0, 7), Angle::ZERO);
        // 0.1 is 3602879701896397 / 2^55; of 3 slots that is this many 2^-64 turns, rounded to the nearest.
        assert_eq!(sectors_to_angle(0.1, 3), Angle((3_602_879_701_896_397 * 512 + 1) / 3));
    }

    #[test]
    fn a_track_of_one_slot_spans_nearly_a_turn() {
        assert_eq!(slot_width(1), Angle(u64::MAX));
        assert_eq!(slot_width(2), Angle(1 << 63));
    }
}
