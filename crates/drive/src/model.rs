//! The model of one drive: everything that follows from its description and never changes during a run.

use crate::command::BusTiming;
use crate::layout::Layout;
use crate::mechanics::Mechanics;
use crate::spec::{CacheSpec, DriveSpec, SpecError, SwitchModel};
use headstack_units::{Nanos, Op};

/// One drive's description in the form the simulation works with: precomputed tables, times in ns, sizes in sectors.
#[derive(Debug)]
pub struct DriveModel {
    spec: DriveSpec,
    /// Where the sectors of one actuator are.
    pub layout: Layout,
    /// What moves cost.
    pub mechanics: Mechanics,
    /// Times of the controller.
    pub(crate) overhead: Overheads,
    /// Sizes of buffer and cache.
    pub(crate) sizes: Sizes,
}

/// The controller's times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overheads {
    pub(crate) read: Nanos,
    pub(crate) write: Nanos,
    pub(crate) write_data: Nanos,
    pub(crate) hit: Nanos,
    pub(crate) read_completion: Nanos,
    pub(crate) write_completion: Nanos,
    pub(crate) beside_seek: Nanos,
}

/// Sizes in sectors; `u64::MAX` stands for "no bound".
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) buffer: u64,
    pub(crate) read_fence: u64,
    pub(crate) write_fence: Option<u64>,
    pub(crate) segment: u64,
    pub(crate) read_ahead: u64,
    pub(crate) bypass: u64,
    /// Logical sectors in a physical one.
    pub(crate) physical: u64,
}

impl DriveModel {
    /// Builds the tables.
    ///
    /// # Errors
    /// [`SpecError::Physics`] with every contradiction in the description.
    pub fn new(spec: &DriveSpec) -> Result<Self, SpecError> {
        let problems = spec.check();
        if !problems.is_empty() {
            return Err(SpecError::Physics { name: spec.name.clone(), problems });
        }
        let ms = Nanos::from_ms;
        let controller = &spec.controller;
        let overhead = Overheads {
            read: ms(controller.read_overhead_ms),
            write: ms(controller.write_overhead_ms),
            write_data: ms(controller.write_data_after_ms.unwrap_or(controller.write_overhead_ms)),
            hit: ms(controller.hit_overhead_ms.unwrap_or(controller.read_overhead_ms)),
            read_completion: ms(controller.read_completion_ms),
            write_completion: ms(controller.write_completion_ms),
            beside_seek: ms(controller.overhead_beside_seek_ms),
        };
        Ok(Self {
            layout: Layout::new(&spec.layout),
            mechanics: Mechanics::new(spec),
            overhead,
            sizes: sizes(spec),
            spec: spec.clone(),
        })
    }

    /// Logical sectors of the whole drive, all actuators together.
    pub fn capacity_sectors(&self) -> u64 {
        self.layout.capacity() * u64::from(self.spec.actuators)
    }

    /// Bytes in a logical sector.
    pub fn sector_bytes(&self) -> u32 {
        self.spec.sector_bytes
    }

    /// Independent actuators, each with an equal, contiguous part of the addresses.
    pub fn actuators(&self) -> u32 {
        self.spec.actuators
    }

    /// Commands the drive accepts at a time.
    pub fn queue_depth(&self) -> u32 {
        self.spec.controller.queue_depth
    }

    /// The description this model was built from.
    pub fn spec(&self) -> &DriveSpec {
        &self.spec
    }

    /// The bus the drive came with.
    pub fn bus(&self) -> BusTiming {
        BusTiming::new(&self.spec.bus)
    }

    /// The read cache, where there is one.
    pub(crate) fn cache(&self) -> Option<&CacheSpec> {
        self.spec.cache.as_ref()
    }

    /// The cost of bringing arm and head from one track to another before a transfer.
    pub(crate) fn reposition(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        match self.spec.fidelity.switch {
            SwitchModel::Skewed => self.mechanics.reposition(from, to, op),
            SwitchModel::Fixed | SwitchModel::Free => self.mechanics.curve.time(from.0.abs_diff(to.0)),
        }
    }
}

fn sizes(spec: &DriveSpec) -> Sizes {
    let sectors = |kib: f64| (kib * 1024.0 / f64::from(spec.sector_bytes)).floor() as u64;
    let cache = spec.cache.as_ref();
    let segment = cache.map_or(0, |cache| sectors(cache.segment_kib).max(1));
    Sizes {
        buffer: sectors(spec.buffer.size_kib),
        read_fence: sectors(spec.buffer.read_fence_kib).max(1),
        write_fence: spec.buffer.write_fence_kib.map(|kib| sectors(kib).max(1)),
        segment,
        read_ahead: cache.map_or(0, |cache| cache.read_ahead_limit_kib.map_or(segment, sectors)),
        bypass: cache.and_then(|cache| cache.bypass_above_kib).map_or(u64::MAX, sectors),
        physical: u64::from(spec.physical_sector_bytes.map_or(1, |bytes| bytes / spec.sector_bytes)),
    }
}
