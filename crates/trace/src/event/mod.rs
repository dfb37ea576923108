//! Events of a block layer: what happened to a request, one line or record each; one file per format.
//!
//! A *request* is one I/O; an *event* is one thing that happened to it (queued, inserted, dispatched, completed, merged,
//! split, …). [`pairing`] makes I/Os of events, [`btt`] the table of times between layers, [`tally`] the counts.

mod balance;
pub mod blktrace;
pub mod blktrace_set;
pub mod btt;
mod cuts;
mod durations;
mod ends;
mod held;
mod mispairs;
mod numbers;
mod own_steps;
pub mod pairing;
mod repeats;
pub mod rwbs;
mod sequence;
pub(crate) mod stated;
mod surveys;
pub mod tally;

pub(crate) mod blkparse;
pub(crate) mod blkparse_format;
pub(crate) mod ftrace;
mod ios;
pub(crate) mod lines;
pub(crate) mod lttng;
pub(crate) mod open;
pub mod write;

use headstack_units::Nanos;

use crate::{Notes, TraceError};

pub use ios::{EventIos, PairingSummary};
pub use open::{EventReader, IoReader, is_event_trace, open_events, open_ios};
pub use pairing::{PairingRule, Survey};
pub use rwbs::Marks;
pub(crate) use rwbs::Side;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// `Q`: the block layer was asked.
    Queue,
    /// `M`: merged behind a request that waits.
    BackMerge,
    /// `F`: merged before a request that waits.
    FrontMerge,
    /// `G`: a request structure was allocated.
    GetRequest,
    /// `S`: no structure was free; the process sleeps.
    Sleep,
    /// `R`: the device gave it back to the queue.
    Requeue,
    /// `D`: handed to the device.
    Issue,
    /// `C`: the device is done.
    Complete,
    /// `P`: the queue holds requests back.
    Plug,
    /// `U`: the queue lets them go.
    Unplug,
    /// `UT`: the same, by a timer.
    UnplugTimer,
    /// `I`: the scheduler took it.
    Insert,
    /// `X`: split in two.
    Split,
    /// `B`: copied to a buffer the device can reach.
    Bounce,
    /// `A`: sent on to another device (partition, LVM, RAID).
    Remap,
    /// Something else a driver told.
    Other,
    /// `m`: a text of the kernel.
    Message,
}

impl Action {
    /// All of them with the letters blkparse writes.
    pub const LETTERS: [(&'static str, Self); 16] = [
        ("Q", Self::Queue),
        ("M", Self::BackMerge),
        ("F", Self::FrontMerge),
        ("G", Self::GetRequest),
        ("S", Self::Sleep),
        ("R", Self::Requeue),
        ("D", Self::Issue),
        ("C", Self::Complete),
        ("P", Self::Plug),
        ("U", Self::Unplug),
        ("UT", Self::UnplugTimer),
        ("I", Self::Insert),
        ("X", Self::Split),
        ("B", Self::Bounce),
        ("A", Self::Remap),
        ("m", Self::Message),
    ];

    /// The letter blkparse writes; `?` where it has none.
    pub fn letter(self) -> &'static str {
        Self::LETTERS.iter().find(|(_, action)| *action == self).map_or("?", |(letter, _)| letter)
    }

    #[inline]
    pub(crate) fn of_letter(word: &[u8]) -> Option<Self> {
        match word {
            b"C" => Some(Self::Complete),
            b"D" => Some(Self::Issue),
            b"Q" => Some(Self::Queue),
            word => Self::LETTERS.iter().find(|(letter, _)| letter.as_bytes() == word).map(|(_, a)| *a),
        }
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, on the trace's clock.
    pub time: Nanos,
    /// First sector, of 512 bytes; for a split (`X`) the first of the second part is `sector + bytes / 512`.
    pub sector: u64,
    /// How many bytes; 0 for a flush.
    pub bytes: u32,
    /// The process.
    pub pid: u32,
    /// The device, as the kernel writes it: major × 2^20 + minor.
    pub device: u32,
    /// The processor it happened on.
    pub cpu: u16,
    /// What happened.
    pub action: Action,
    /// Direction and marks.
    pub marks: Marks,
}

impl Event {
    /// Whole sectors of 512 bytes.
    #[inline]
    pub fn sectors(&self) -> u32 {
        self.bytes >> 9
    }

    /// Whether it has data in a place of the device: no flush, discard or command of another protocol.
    pub(crate) fn has_place(&self) -> bool {
        self.marks.kind(self.bytes) == crate::Kind::Data && !self.marks.has(Marks::PACKET)
    }

    /// Marks a tracepoint of a request that is a command of another protocol: it has bytes and no place, or no direction and no sectors.
    fn mark_command(&mut self) {
        let told = Marks::READ.0 | Marks::WRITE.0 | Marks::FLUSH.0 | Marks::DISCARD.0 | Marks::ZONE.0;
        let has_no_place = self.sector == u64::MAX && self.bytes > 0;
        if has_no_place || self.marks.0 & told == 0 && self.bytes == 0 {
            self.marks = self.marks.with(Marks::PACKET);
        }
    }

    /// The first sector behind it.
    #[inline]
    pub fn end(&self) -> u64 {
        self.sector.saturating_add(u64::from(self.sectors()))
    }
}

/// Major and minor number of a device.
pub fn device_numbers(device: u32) -> (u32, u32) {
    (device >> 20, device & 0xf_ffff)
}

/// What users call a device: MAJOR,MINOR where it has the kernel's number, which no plain count reaches.
pub fn device_name(device: u32) -> String {
    let (major, minor) = device_numbers(device);
    if major > 0 { format!("{major},{minor}") } else { device.to_string() }
}

/// A device from its major and minor number.
pub fn device_of(major: u32, minor: u32) -> u32 {
    major << 20 | minor & 0xf_ffff
}

/// What a source of events knows to be absent from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Processors whose file is absent although one of a higher number is there.
    pub missing_cpus: Vec<u32>,
    /// Processors whose file is empty: they were idle, or their events are gone.
    pub empty_cpus: Vec<u32>,
    /// Processors whose file ends well before the others, or that tell nothing at the end of a text in which events are missing.
    pub short_cpus: Vec<u32>,
    /// Processors that lost what they told before their first event, by its running number.
    pub late_cpus: Vec<u32>,
    /// Events missing by the running numbers of the records, or by what the tracer said.
    pub lost_events: u64,
    /// Places where bytes were skipped, or a record is cut off by the end of its file.
    pub damaged_places: u64,
    /// Records that were there before, by their running numbers, and were left out.
    pub doubled_records: u64,
    /// Processors whose clock was set back, by the running numbers or from one line of text to the next.
    pub set_back_cpus: Vec<u32>,
    /// Events of these from there on, which were left out.
    pub set_back_events: u64,
}

impl Loss {
    /// Whether events are missing for certain.
    pub fn is_certain(&self) -> bool {
        self.lost_events + self.damaged_places + self.set_back_events > 0
    }

    /// Whether a processor was idle, or its events are missing.
    pub fn is_suspected(&self) -> bool {
        !(self.missing_cpus.is_empty() && self.empty_cpus.is_empty() && self.short_cpus.is_empty())
    }
}

/// A stream of events, in order of time but for what a tracer put out of order.
pub trait EventSource: Send {
    /// Clears `batch` and fills it with the next events; an empty batch ends the stream.
    ///
    /// # Errors
    /// Whatever keeps the rest from being read.
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError>;

    /// What was passed over so far because it made no sense.
    fn notes(&self) -> Notes;

    /// What is known to be absent so far.
    fn loss(&self) -> Loss {
        Loss::default()
    }

    /// What an earlier reading of the same events told of losses.
    fn take_survey(&mut self) -> Option<Survey> {
        None
    }

    /// Names of processes by their number, where the trace tells.
    fn processes(&self) -> std::collections::BTreeMap<u32, String> {
        std::collections::BTreeMap::new()
    }
}
