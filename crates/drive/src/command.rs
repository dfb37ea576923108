//! The contract between a drive and what it is attached to: commands go in, effects come out.
//!
//! A drive is entered by `submit`, `bus_granted` and `advance`, each with the instant it happens at, and answers with
//! [`Effect`]s. It does no I/O and owns no clock. An effect is an announcement of what will happen at its instant;
//! nothing that comes later changes it.

use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::ops::{Add, AddAssign};

/// What one drive is asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Chosen by the sender, returned with the outcome.
    pub id: u64,
    /// Direction.
    pub op: Op,
    /// First sector.
    pub lba: Lba,
    /// Number of sectors, at least 1; 0 for a flush alone.
    pub sectors: u32,
    /// Marks.
    pub flags: RequestFlags,
}

impl Command {
    /// How many sectors come or go over the bus, where any do.
    #[inline]
    pub(crate) fn sectors_on_bus(&self) -> u64 {
        if self.flags.contains(RequestFlags::WRITE_SAME) { 1 } else { u64::from(self.sectors) }
    }

    /// Whether it is a read that has to come from the media.
    pub(crate) fn is_forced_read(&self) -> bool {
        self.op == Op::Read && self.flags.contains(RequestFlags::FORCE_MEDIA)
    }

    /// Whether it neither overtakes what waits nor is overtaken. A flush does not queue with others: ATA hosts send it when the drive has
    /// nothing else to do, and nothing beside it.
    #[inline]
    pub(crate) fn is_ordered(&self) -> bool {
        self.flags.has_any(RequestFlags::ORDERED.with(RequestFlags::FLUSH))
    }

    /// A flush of the cache: complete when all that was acknowledged before the drive turned to it is on the media. It
    /// neither overtakes what waits nor is overtaken.
    pub fn flush(id: u64) -> Self {
        Self { id, op: Op::Write, lba: Lba(0), sectors: 0, flags: RequestFlags::FLUSH }
    }
}

/// The seven phases; they partition the time from submission to completion exactly, along the critical path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Waiting for the drive to turn to the command, or for a bus that others use.
    pub queue: Nanos,
    /// Command processing.
    pub overhead: Nanos,
    /// Arm and head movement, settle and head switch included.
    pub seek: Nanos,
    /// Waiting for the sector to come around; revolutions lost to late data or a full buffer included.
    pub rotation: Nanos,
    /// Media transfer.
    pub transfer: Nanos,
    /// Bus transfer, and waiting for its data.
    pub bus: Nanos,
    /// Waiting for destage, read-ahead or recalibration, or for a drive that wakes up.
    pub other: Nanos,
}

impl Phases {
    /// Names, in the order of [`Phases::as_array`].
    pub const NAMES: [&'static str; 7] =
        ["queue", "overhead", "seek", "rotation", "transfer", "bus", "other"];

    /// The seven times in the order of [`Phases::NAMES`].
    pub fn as_array(&self) -> [Nanos; 7] {
        [self.queue, self.overhead, self.seek, self.rotation, self.transfer, self.bus, self.other]
    }

    /// The same for who looks at no more than the first `total` of it: what comes last is left out first.
    #[must_use]
    pub fn up_to(&self, total: Nanos) -> Self {
        let mut take = taking(total);
        // In the order in which they mostly come.
        Self {
            queue: take(self.queue),
            other: take(self.other),
            overhead: take(self.overhead),
            seek: take(self.seek),
            rotation: take(self.rotation),
            transfer: take(self.transfer),
            bus: take(self.bus),
        }
    }

    /// Their sum: the response time.
    pub fn total(&self) -> Nanos {
        self.as_array().into_iter().fold(Nanos::ZERO, |sum, phase| sum + phase)
    }
}

/// Takes one time after the other, until they come to `total`.
fn taking(total: Nanos) -> impl FnMut(Nanos) -> Nanos {
    let mut left = total;
    move |time| {
        let taken = time.min(left);
        left = left - taken;
        taken
    }
}

/// Gross work done for a command; may overlap, and does not add up to the response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// Arm and head movement.
    pub seek: Nanos,
    /// Rotational waits.
    pub rotation: Nanos,
    /// Media transfer.
    pub transfer: Nanos,
    /// The bus was held, from arbitration to release, over all transfers.
    pub bus: Nanos,
}

impl Busy {
    /// What of the mechanism's work is done in its first `total`, in the order in which it mostly comes.
    #[must_use]
    pub fn up_to(&self, total: Nanos) -> Self {
        let mut take = taking(total);
        Self {
            seek: take(self.seek),
            rotation: take(self.rotation),
            transfer: take(self.transfer),
            bus: Nanos::ZERO,
        }
    }
}

impl Add for Busy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            seek: self.seek + other.seek,
            rotation: self.rotation + other.rotation,
            transfer: self.transfer + other.transfer,
            bus: self.bus + other.bus,
        }
    }
}

impl AddAssign for Busy {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// What the cache did for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheResult {
    /// A read that had to come from the media, or a write that had to reach it.
    #[default]
    Miss,
    /// A read served from the buffer alone.
    Hit,
    /// A read served in part from the buffer, or by read-ahead still in progress.
    PartialHit,
    /// A write reported complete before it was on the media.
    ReportedEarly,
}

/// How a command ended that was not complete by its duration limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Completed without its data, which the host is told.
    Unavailable,
    /// With an error.
    Aborted,
}

/// How a command went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The command's id.
    pub id: u64,
    /// When the drive got it.
    pub submitted: Nanos,
    /// When it was complete.
    pub finish: Nanos,
    /// Where the time from `submitted` to `finish` went.
    pub phases: Phases,
    /// Gross work up to completion (for a write reported early, without the background work).
    pub busy: Busy,
    /// The part of `busy.bus` that the data take at the bus's own rate.
    pub bus_data: Nanos,
    /// How often the bus was granted.
    pub bus_transfers: u32,
    /// What the cache did.
    pub cache: CacheResult,
    /// It ended without its data.
    pub ended: Option<Ending>,
    /// The last sector on the critical path, where the completion depends on when one came around.
    pub passed: Option<SectorPassed>,
}

/// The end of a sector passed under the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorPassed {
    /// The sector.
    pub lba: Lba,
    /// When.
    pub at: Nanos,
}

/// A kind of work of the mechanism.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Work {
    /// A command, until its completion.
    #[default]
    Command,
    /// A write whose completion was reported before it was on the media.
    EarlyWrite,
    /// Buffered writes on their way to the media.
    Destage,
    /// Reading ahead.
    ReadAhead,
    /// A recalibration.
    Recalibration,
    /// Coming back from a power condition.
    Wake,
}

impl Work {
    /// All kinds, in the order in which they are listed here.
    pub const ALL: [Self; 6] =
        [Self::Command, Self::EarlyWrite, Self::Destage, Self::ReadAhead, Self::Recalibration, Self::Wake];

    /// Their names, in the same order.
    pub const NAMES: [&'static str; 6] =
        ["command", "early-write", "destage", "read-ahead", "recalibration", "wake"];

    /// Its name, as tables write it.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Media work after an early completion, or of the drive's own accord.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Background {
    /// What kind of work it was.
    pub work: Work,
    /// First sector.
    pub lba: Lba,
    /// Number of sectors.
    pub sectors: u32,
    /// When the mechanism turned to it.
    pub start: Nanos,
    /// When it was on the media.
    pub finish: Nanos,
    /// The work.
    pub busy: Busy,
}

/// Identifies one bus transfer of one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a drive announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// From `at` on the drive wants the bus; answer with `bus_granted(now ≥ at, ticket, …)`.
    NeedBus {
        /// Names the transfer.
        ticket: Ticket,
        /// From when.
        at: Nanos,
        /// Read: drive to host.
        direction: Op,
        /// What is to move in this transfer, at most.
        bytes: u64,
        /// A grant after this instant costs a revolution, where that is known.
        available_by: Option<Nanos>,
    },
    /// The granted transfer leaves the bus at `at`.
    ReleaseBus {
        /// The transfer.
        ticket: Ticket,
        /// When.
        at: Nanos,
    },
    /// Call `advance` at this instant.
    WakeAt(Nanos),
    /// A command completes at `outcome.finish`.
    Done(Outcome),
    /// Background media work was done.
    Background(Background),
}

/// Rates and fixed costs of the bus a drive is on, in integers so that times add up exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusTiming {
    /// Time for one byte from drive to host, in 2^-32 ns.
    read_ns_per_byte_q32: u64,
    /// Time for one byte from host to drive, in 2^-32 ns.
    write_ns_per_byte_q32: u64,
    /// Gaining control of an idle bus, at the start of every transfer.
    pub arbitration: Nanos,
    /// Reconnecting after a disconnect, at the start of every transfer that followed mechanical work.
    pub reconnect: Nanos,
    /// The drive lets go of the bus while it waits for the mechanism.
    pub disconnects: bool,
}

impl BusTiming {
    /// From a bus description.
    pub fn new(spec: &crate::spec::BusSpec) -> Self {
        let q32 = |mb_per_s: f64| (1e3 / mb_per_s * 4_294_967_296.0).round() as u64;
        Self {
            read_ns_per_byte_q32: q32(spec.read_mb_per_s),
            write_ns_per_byte_q32: q32(spec.write_mb_per_s),
            arbitration: Nanos::from_us(spec.arbitration_us),
            reconnect: Nanos::from_us(spec.reconnect_us),
            disconnects: spec.disconnects,
        }
    }

    /// Time of a byte, in 2^-32 ns.
    #[inline]
    pub(crate) fn ns_per_byte_q32(&self, direction: Op) -> u64 {
        match direction {
            Op::Read => self.read_ns_per_byte_q32,
            Op::Write => self.write_ns_per_byte_q32,
        }
    }

    /// The same but for data, which take no time.
    #[cold]
    pub(crate) fn in_no_time(&self) -> Self {
        Self { read_ns_per_byte_q32: 0, write_ns_per_byte_q32: 0, ..*self }
    }

    /// How long `bytes` take, rounded up to the next nanosecond.
    pub fn transfer(&self, direction: Op, bytes: u64) -> Nanos {
        let rate = self.ns_per_byte_q32(direction);
        Nanos(((u128::from(rate) * u128::from(bytes) + u128::from(u32::MAX)) >> 32) as u64)
    }
}
