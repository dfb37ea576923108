//! What a layout answers with.

use headstack_units::Angle;

/// Where one sector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Physical cylinder.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// Slot on the track, counted from the track's first sector, spares included.
    pub slot: u32,
    /// Slots on the track, spares included.
    pub slots: u32,
    /// Number of the zone, from 0.
    pub zone: u32,
    /// The angle at which the sector begins.
    pub start: Angle,
}

/// A run of logical sectors that pass under one head one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Physical cylinder.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// First logical sector.
    pub lba: u64,
    /// How many sectors.
    pub sectors: u32,
    /// The angle at which the first one begins.
    pub start: Angle,
    /// Angular width of a sector: floor(2^64 / slots on the track).
    pub slot_width: Angle,
    /// Number of the zone, from 0.
    pub zone: u32,
}

impl Extent {
    /// The angle at which sector `i` of the run begins; for `i` = `sectors`, at which the last one ends. Equals the
    /// start that [`super::Layout::locate`] gives for `lba + i`, to the last bit.
    #[must_use]
    #[inline]
    pub fn slot_start(&self, i: u32) -> Angle {
        Angle(self.start.0.wrapping_add(u64::from(i).wrapping_mul(self.slot_width.0)))
    }

    /// At most its first `sectors` sectors.
    #[must_use]
    #[inline]
    pub(crate) fn first(self, sectors: u64) -> Self {
        Self { sectors: sectors.min(u64::from(self.sectors)) as u32, ..self }
    }

    /// What is left of the run behind its first `sectors` sectors, of which it has more.
    #[must_use]
    #[inline]
    pub(crate) fn behind(self, sectors: u32) -> Self {
        Self {
            lba: self.lba + u64::from(sectors),
            sectors: self.sectors - sectors,
            start: self.slot_start(sectors),
            ..self
        }
    }

    /// The angle that `i` sectors take. A whole turn, which an [`Angle`] cannot hold, becomes 2^64 − 1.
    #[must_use]
    #[inline]
    pub fn span(&self, i: u32) -> Angle {
        Angle(self.slot_width.0.saturating_mul(u64::from(i)))
    }
}

/// A zone, for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneSummary {
    /// First logical sector.
    pub first_lba: u64,
    /// Logical sectors in the zone.
    pub sectors: u64,
    /// First physical cylinder.
    pub first_cylinder: u32,
    /// Last physical cylinder, included.
    pub last_cylinder: u32,
    /// Data sectors on a track.
    pub sectors_per_track: u32,
}
