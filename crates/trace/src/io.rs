//! An I/O with all a trace may know of it: the request, and who asked, what kind it was and when it passed each layer.

use headstack_units::{Lba, Nanos, Op, RequestFlags};

use crate::{Notes, Request, TraceError};

/// What an I/O does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It moves data: a read or a write.
    #[default]
    Data,
    /// It empties the drive's write cache; no data.
    Flush,
    /// It tells the drive that sectors are no longer needed.
    Discard,
    /// Another command without data.
    Other,
}

/// An I/O as traced. A trace of requests alone knows only [`Self::request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Arrival (queued), start (dispatched to the device), finish (completed); where and how much. The length may be zero
    /// unless [`Self::kind`] is [`Kind::Data`].
    pub request: Request,
    /// What it does.
    pub kind: Kind,
    /// When a request structure was allocated (blktrace `G`); [`Nanos::MAX`] where unknown.
    pub got: Nanos,
    /// When the scheduler took it (blktrace `I`); [`Nanos::MAX`] where unknown.
    pub inserted: Nanos,
    /// The process that asked for it; [`Io::NO_PID`] where unknown.
    pub pid: u32,
    /// Requests merged into it beside the first.
    pub merges: u32,
    /// Whether the host waits for it (`S` in a blktrace), where the trace says.
    pub sync: bool,
    /// Whether it went through the character (raw) device, where the trace says.
    pub raw: bool,
    /// Whether it arrived when [`Self::request`] says. Where its queueing was lost, only the service is known.
    pub response_known: bool,
}

impl Io {
    /// No process is known.
    pub const NO_PID: u32 = u32::MAX;

    /// A read or a write of which nothing else is known.
    pub fn new(request: Request) -> Self {
        Self {
            request,
            kind: Kind::Data,
            got: Nanos::MAX,
            inserted: Nanos::MAX,
            pid: Self::NO_PID,
            merges: 0,
            sync: false,
            raw: false,
            response_known: !request.flags.contains(RequestFlags::ARRIVAL_UNKNOWN),
        }
    }

    /// What a drive is asked to do, as a request: besides reads and writes a flush, of no sectors, and a discard.
    pub(crate) fn command(&self) -> Option<Request> {
        let request = self.request;
        let marked = |flag| Request { op: Op::Write, flags: request.flags.with(flag), ..request };
        match self.kind {
            // One that is not marked is part of a write.
            Kind::Flush if request.flags.contains(RequestFlags::FLUSH) => {
                Some(Request { lba: Lba(0), sectors: 0, op: Op::Write, ..request })
            }
            Kind::Discard => Some(marked(RequestFlags::DISCARD)),
            Kind::Data => Some(request),
            Kind::Flush | Kind::Other => None,
        }
        .filter(|command| command.sectors > 0 || self.kind == Kind::Flush)
    }

    /// Counts its instants from `zero`, which is not after its arrival.
    pub(crate) fn rebase(&mut self, zero: Nanos) {
        let request = &mut self.request;
        let instants = [
            &mut request.arrival,
            &mut request.start,
            &mut request.finish,
            &mut self.got,
            &mut self.inserted,
        ];
        for instant in instants {
            if *instant != Nanos::MAX {
                *instant = instant.saturating_sub(zero);
            }
        }
    }

    /// Arrival to finish, where the trace has both.
    pub fn response(&self) -> Option<Nanos> {
        if !self.response_known {
            return None;
        }
        self.request.finish.present().map(|finish| finish.saturating_sub(self.request.arrival))
    }
}

/// A stream of I/Os.
pub trait IoSource: Send {
    /// Clears `batch` and fills it with the next I/Os; an empty batch ends the stream.
    ///
    /// # Errors
    /// Whatever keeps the rest of the stream from being read; what was delivered before stays valid.
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError>;

    /// What was passed over so far because it made no sense.
    fn notes(&self) -> Notes;

    /// Bytes to a sector.
    fn sector_bytes(&self) -> u32;
}
