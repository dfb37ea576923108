//! Addresses and counts on a disk.

use core::ops::{Add, Sub};

/// A logical block address, in sectors of the drive (or of the trace that holds it).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u64);

/// A number of sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sectors(pub u64);

/// A physical cylinder number, 0 at the outer edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cylinder(pub u32);

/// A head (surface) number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Head(pub u32);

impl Add<Sectors> for Lba {
    type Output = Self;
    fn add(self, sectors: Sectors) -> Self {
        Self(self.0 + sectors.0)
    }
}

impl Sub for Lba {
    type Output = Sectors;
    fn sub(self, other: Self) -> Sectors {
        Sectors(self.0 - other.0)
    }
}

impl Cylinder {
    /// The seek distance between two cylinders.
    pub fn distance(self, other: Self) -> u32 {
        self.0.abs_diff(other.0)
    }
}
