//! Where requests come from when they come from no trace: generators described in a workload file.
//!
//! A workload is a list of streams. An *open* stream issues at instants of its own (`inter_arrival`, possibly in
//! bursts); a *closed* one is a number of users, each of whom waits for a completion, thinks, and issues the next
//! request. A user may also go on without waiting, or wait only when a time limit has passed. Streams are merged by time; equal times in the order of the file.
//! Instead the streams may be *processes* that compute on processors (`[processes]`), as in DiskSim.

use headstack_units::Nanos;

mod addresses;
mod closed;
mod file;
mod law;
mod open;
mod popularity;
mod processes;
#[cfg(test)]
mod program_tests;
mod region;
mod shift;
mod spec;
#[cfg(test)]
mod tests;
mod user;
mod users;

pub use closed::{Call, ClosedLoop};
pub use law::{CountLaw, SizeLaw, TimeLaw, TimeSampler};
pub use open::OpenWorkload;
pub use popularity::PopularitySpec;
pub use processes::ProcessesSpec;
pub use region::StrideSpec;
pub use shift::ShiftLaw;
pub use spec::{BurstSpec, RunStart, StreamSpec, WorkloadSpec};

/// The longest run there is: 100 years. Instants are 64-bit counts of nanoseconds, and arithmetic with them needs room.
pub const LATEST: Nanos = Nanos(100 * 31_557_600 * 1_000_000_000);

/// An instant `after` another, if a run may last that long; beyond, the first instant past [`LATEST`], at which a stream
/// ends.
pub(crate) fn later(from: Nanos, after: Nanos) -> Nanos {
    from.saturating_add(after).min(Nanos(LATEST.0 + 1))
}

/// What a generator must know of a device it sends requests to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceShape {
    /// The volume's name.
    pub name: String,
    /// Its size, in the host's sectors.
    pub sectors: u64,
    /// Bytes in one of the host's sectors.
    pub sector_bytes: u32,
}

/// A workload made for a system: its open streams merged into one, and its closed loops.
#[derive(Debug)]
pub struct Generator {
    /// The open streams; `None` if there are none.
    pub open: Option<OpenWorkload>,
    /// The closed streams; `None` if there are none.
    pub closed: Option<ClosedLoop>,
}
