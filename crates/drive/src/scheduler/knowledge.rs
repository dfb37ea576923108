//! What a scheduler may know where it stands: of the drive, and of the command before.

use crate::model::DriveModel;
use headstack_units::{Op, RequestFlags};
use std::sync::Arc;

/// What the place of a scheduler tells it about the drive.
#[derive(Clone, Debug)]
pub enum Knowledge {
    /// How many addresses there are, and how large a sector is.
    Addresses {
        /// Sectors of the drive (of its actuator).
        sectors: u64,
        /// Bytes in a sector.
        sector_bytes: u32,
    },
    /// In which cylinder an address lies.
    Cylinders(Arc<DriveModel>),
    /// Layout, seek times, overheads, and where the disk is.
    Layout(Arc<DriveModel>),
}

impl Knowledge {
    pub(super) fn model(&self) -> Option<&DriveModel> {
        match self {
            Self::Addresses { .. } => None,
            Self::Cylinders(model) | Self::Layout(model) => Some(model),
        }
    }

    /// Where an address lies on the line that schedulers go up and down.
    pub(super) fn coordinate(&self, lba: u64) -> u64 {
        match self.model() {
            None => lba,
            Some(model) => {
                let extent = model.layout.extent(lba, 1);
                u64::from(model.arm_track((extent.cylinder, extent.head)).0)
            }
        }
    }

    pub(super) fn sector_bytes(&self) -> u32 {
        match self {
            Self::Addresses { sector_bytes, .. } => *sector_bytes,
            Self::Cylinders(model) | Self::Layout(model) => model.sector_bytes(),
        }
    }

    /// As much of it as an order of arrival needs: nothing is looked up in the layout.
    pub(super) fn forgotten(&self) -> Self {
        Self::Addresses { sectors: self.extent().coordinates, sector_bytes: self.sector_bytes() }
    }

    pub(super) fn extent(&self) -> Extent {
        match self {
            Self::Addresses { sectors, .. } => Extent { coordinates: *sectors, cylinders: 1 },
            Self::Cylinders(model) | Self::Layout(model) => {
                let cylinders = model.reach.positions(model.layout.cylinders());
                Extent { coordinates: u64::from(cylinders), cylinders }
            }
        }
    }
}

/// The line or surface that a scheduler works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Addresses, or cylinders where the layout is known.
    pub(super) coordinates: u64,
    /// Cylinders.
    pub(super) cylinders: u32,
}

/// The last command taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Last {
    pub(super) op: Op,
    pub(super) flags: RequestFlags,
    pub(super) lba: u64,
    pub(super) end: u64,
    /// Sectors of the commands joined so far, this one included.
    pub(super) joined: u64,
}
