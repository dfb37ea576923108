//! A request at the device.

use headstack_units::Nanos;

use crate::Io;
use crate::event::{Event, Marks};

/// A request at the device, or given back by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) io: Io,
    /// Sectors not completed yet begin here.
    pub(super) next: u64,
    pub(super) end: u64,
    pub(super) marks: Marks,
    /// Whether it was dispatched, and not only queued, on a device that dispatches nothing.
    pub(super) is_dispatched: bool,
    /// A hole lies behind its dispatch: what completes it may belong to another.
    pub(super) doubtful: bool,
    /// Another of its place was there when it was dispatched.
    pub(super) joined: bool,
    /// Another of its place was dispatched since.
    pub(super) superseded: bool,
    /// Another of its place was completed since, and none dispatched.
    pub(super) passed: bool,
    /// Taken for lost when another of its place was dispatched.
    pub(super) ended: bool,
    /// It was too old to be at the device when another of its place was dispatched.
    pub(super) stale: bool,
    /// Completions seen before its dispatch.
    pub(super) behind: u64,
}

impl Active {
    /// A request that an event brought to the device, so many completions having been seen before; nothing else is known of it.
    pub(super) fn new(io: Io, event: &Event, behind: u64) -> Self {
        Self {
            io,
            next: event.sector,
            end: event.end(),
            marks: event.marks,
            is_dispatched: true,
            doubtful: false,
            joined: false,
            superseded: false,
            passed: false,
            ended: false,
            stale: false,
            behind,
        }
    }

    pub(super) fn age(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.io.request.start)
    }

    /// Whether no other of its place was at the device with it.
    pub(super) fn was_alone(&self) -> bool {
        !(self.joined || self.superseded)
    }

    /// When it was queued, as far as that is known.
    pub(super) fn believed_arrival(&self) -> Option<Nanos> {
        (self.io.response_known && !self.doubtful).then_some(self.io.request.arrival)
    }
}

/// How many are not counted as doubtful yet.
pub(super) fn undoubted<'a>(list: impl IntoIterator<Item = &'a Active>) -> u64 {
    list.into_iter().filter(|active| !active.doubtful).count() as u64
}
