//! Where the members of a stripe lie, by level.
//!
//! A stripe is a number of members of one stripe unit each: as many as `data` of them tell all others. A mirror is the case of
//! one data member: its copies.

use super::declustered::Declustered;
use super::rotation::Layout;

/// A stripe unit of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seat {
    pub(crate) drive: usize,
    /// Stripe units before it on the drive.
    pub(crate) row: u64,
}

/// Where stripes lie.
#[derive(Clone, Debug)]
pub(crate) enum Geometry {
    /// Every drive holds a copy of everything.
    Mirror { drives: usize },
    /// Units go round the drives, each on `copies` neighbours.
    Near { drives: usize, copies: usize },
    /// Every stripe is on every drive.
    Parity(Layout),
    /// Every stripe is on some of the drives.
    Declustered(Declustered),
}

impl Geometry {
    /// Drives that hold members of stripes.
    pub(crate) fn drives(&self) -> usize {
        match self {
            Self::Mirror { drives } | Self::Near { drives, .. } => *drives,
            Self::Parity(layout) => layout.drives,
            Self::Declustered(layout) => layout.drives(),
        }
    }

    /// Members of a stripe: data first, then copies or parity.
    pub(crate) fn members(&self) -> usize {
        match self {
            Self::Mirror { drives } => *drives,
            Self::Near { copies, .. } => *copies,
            Self::Parity(layout) => layout.drives,
            Self::Declustered(layout) => layout.width(),
        }
    }

    /// Data units of a stripe; as many members tell all others.
    pub(crate) fn data(&self) -> usize {
        match self {
            Self::Mirror { .. } | Self::Near { .. } => 1,
            Self::Parity(layout) => layout.data(),
            Self::Declustered(layout) => layout.data(),
        }
    }

    /// Stripes on drives of so many rows.
    pub(crate) fn stripes(&self, rows: u64) -> u64 {
        match self {
            Self::Mirror { .. } | Self::Parity(_) => rows,
            Self::Near { drives, copies } => rows * *drives as u64 / *copies as u64,
            Self::Declustered(layout) => layout.stripes(rows),
        }
    }

    /// Where a member of a stripe lies.
    pub(crate) fn place(&self, stripe: u64, member: usize) -> Seat {
        match self {
            Self::Mirror { .. } => Seat { drive: member, row: stripe },
            Self::Near { drives, copies } => {
                let place = stripe * *copies as u64 + member as u64;
                Seat { drive: (place % *drives as u64) as usize, row: place / *drives as u64 }
            }
            Self::Parity(layout) => Seat { drive: layout.drive(stripe, member), row: stripe },
            Self::Declustered(layout) => layout.place(stripe, member),
        }
    }

    /// How many units of so many stripes lie on a drive.
    pub(crate) fn held(&self, drive: usize, stripes: u64) -> u64 {
        match self {
            Self::Mirror { .. } | Self::Parity(_) => stripes,
            Self::Near { drives, copies } => {
                (stripes * *copies as u64 + (drives - 1 - drive) as u64) / *drives as u64
            }
            Self::Declustered(layout) => layout.held(drive, stripes),
        }
    }

    /// How many failed drives the array has room for itself.
    pub(crate) fn distributed_spares(&self) -> usize {
        match self {
            Self::Declustered(layout) => layout.spares(),
            Self::Mirror { .. } | Self::Near { .. } | Self::Parity(_) => 0,
        }
    }

    /// Where what lay at a seat of a stripe goes in the array's own room for the `number`-th failed drive.
    pub(crate) fn distributed_spare(&self, stripe: u64, lost: Seat, number: usize) -> Option<Seat> {
        match self {
            Self::Declustered(layout) => layout.spare(stripe, lost, number),
            Self::Mirror { .. } | Self::Near { .. } | Self::Parity(_) => None,
        }
    }
}
