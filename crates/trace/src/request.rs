//! The request: one I/O as the host issued it.

use headstack_units::{Lba, Nanos};

pub use headstack_units::{Op, RequestFlags};

/// One I/O as the host issued it.
///
/// Times count from the start of the trace. `start` and `finish` are the measured instants of handing the request to
/// the device and of its completion, [`Nanos::MAX`] where the trace does not know them. Addresses and lengths are in
/// sectors of whatever size the trace uses until shaping converts them to the drive's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When the host issued it (entered the driver's queue).
    pub arrival: Nanos,
    /// Measured: handed to the device.
    pub start: Nanos,
    /// Measured: completed.
    pub finish: Nanos,
    /// First sector.
    pub lba: Lba,
    /// Number of sectors.
    pub sectors: u32,
    /// Device number within the trace.
    pub device: u32,
    /// Direction.
    pub op: Op,
    /// Marks.
    pub flags: RequestFlags,
}

impl Request {
    /// A request without measured times or marks, on device 0.
    pub fn new(arrival: Nanos, op: Op, lba: Lba, sectors: u32) -> Self {
        Self {
            arrival,
            start: Nanos::MAX,
            finish: Nanos::MAX,
            lba,
            sectors,
            device: 0,
            op,
            flags: RequestFlags::default(),
        }
    }

    /// Whether it is a flush alone: it moves no data.
    #[inline]
    pub fn is_flush_alone(&self) -> bool {
        self.sectors == 0 && self.flags.contains(RequestFlags::FLUSH)
    }

    /// Arrival to completion, where the trace has both.
    pub fn measured_response(&self) -> Option<Nanos> {
        let finish = self.finish.present().filter(|_| !self.flags.contains(RequestFlags::ARRIVAL_UNKNOWN));
        finish.map(|finish| finish.saturating_sub(self.arrival))
    }

    /// The measured service time (device time, without the driver's queue), where the trace has it.
    pub fn measured_service(&self) -> Option<Nanos> {
        match (self.start.present(), self.finish.present()) {
            (Some(start), Some(finish)) => Some(finish.saturating_sub(start)),
            _ => None,
        }
    }
}
