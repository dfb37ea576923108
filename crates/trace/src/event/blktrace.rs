//! blktrace's binary records, versions 7 and 8, of either byte order: one file, as a kernel wrote it for one processor or
//! as `blkparse -d` merged it.
//!
//! | field | version 7, 48 bytes | version 8, 64 bytes |
//! | --- | --- | --- |
//! | magic `0x65617400` + version | 0, u32 | 0, u32 |
//! | running number | 4, u32 | 4, u32 |
//! | time, ns | 8, u64 | 8, u64 |
//! | sector | 16, u64 | 16, u64 |
//! | bytes | 24, u32 | 24, u32 |
//! | action: low 16 bits what, above them categories | 28, u32 | 32, u64 |
//! | process | 32, u32 | 28, u32 |
//! | device | 36, u32 | 40, u32 |
//! | processor | 40, u32 | 44, u32 |
//! | error | 44, u16 | 48, u16 |
//! | bytes that follow | 46, u16 | 50, u16, then 12 unused |
//!
//! A notify record (category `0x400`) names a process, gives the time of day or holds a message.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use headstack_units::Nanos;

use super::sequence::{Sequence, Verdict};
use super::stated::is_statement;
use super::{Action, Event, EventSource, Loss, Marks};
use crate::buffer::Buffer;
use crate::input::{Input, Sample};
use crate::text::BATCH;
use crate::{Notes, TraceError};

const MAGIC: u32 = 0x6561_7400;
const NOTIFY: u32 = 0x400;
/// In the low half of the action: eight bytes of a control group stand before what follows.
const CGROUP: u32 = 0x100;

/// Version and byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// 7 or 8.
    pub version: u8,
    /// Whether the highest byte comes first.
    pub big_endian: bool,
}

impl Layout {
    /// What the first bytes of a file say.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let magic: [u8; 4] = *bytes.first_chunk()?;
        [false, true].into_iter().find_map(|big_endian| {
            let value = if big_endian { u32::from_be_bytes(magic) } else { u32::from_le_bytes(magic) };
            let version = (value & 0xff) as u8;
            (value & !0xff == MAGIC && matches!(version, 7 | 8)).then_some(Self { version, big_endian })
        })
    }

    /// The four bytes each record begins with.
    pub(crate) fn magic(self) -> [u8; 4] {
        let value = MAGIC | u32::from(self.version);
        if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    /// Bytes of a record without what follows.
    pub(crate) fn header_bytes(self) -> usize {
        if self.version == 7 { 48 } else { 64 }
    }
}

pub(crate) fn sniff(sample: Sample<'_>) -> bool {
    Layout::of(sample.bytes).is_some()
}

/// A record's header, in the host's byte order.
#[derive(Clone, Copy)]
struct Header {
    sequence: u32,
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    categories: u32,
    pid: u32,
    device: u32,
    cpu: u32,
    follows: u16,
}

impl Header {
    #[inline]
    fn decode<const BIG: bool>(bytes: &[u8], version: u8) -> Option<Self> {
        let word = |at: usize| {
            let bytes: [u8; 4] = *bytes.get(at..)?.first_chunk()?;
            Some(if BIG { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
        };
        let long = |at: usize| {
            let bytes: [u8; 8] = *bytes.get(at..)?.first_chunk()?;
            Some(if BIG { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
        };
        let short = |at: usize| {
            let bytes: [u8; 2] = *bytes.get(at..)?.first_chunk()?;
            Some(if BIG { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
        };
        let (sequence, time, sector, size) = (word(4)?, long(8)?, long(16)?, word(24)?);
        let (action, pid, device, cpu, follows) = if version == 7 {
            (u64::from(word(28)?), word(32)?, word(36)?, word(40)?, short(46)?)
        } else {
            (long(32)?, word(28)?, word(40)?, word(44)?, short(50)?)
        };
        Some(Self {
            sequence,
            time,
            sector,
            bytes: size,
            action: (action & 0xffff) as u32,
            categories: (action >> 16) as u32,
            pid,
            device,
            cpu,
            follows,
        })
    }
}

/// What happened, by the low byte of a record's action.
const ACTIONS: [Action; 16] = [
    Action::Other,
    Action::Queue,
    Action::BackMerge,
    Action::FrontMerge,
    Action::GetRequest,
    Action::Sleep,
    Action::Requeue,
    Action::Issue,
    Action::Complete,
    Action::Plug,
    Action::Unplug,
    Action::UnplugTimer,
    Action::Insert,
    Action::Split,
    Action::Bounce,
    Action::Remap,
];

/// The end of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// When its last record was written.
    pub(crate) time: Nanos,
    /// The longest time between two of its last records.
    pub(crate) longest_gap: Nanos,
}

/// How the file at `path` ends, if whole records are found near its end; not in compressed files. (Bytes that begin like a record may lie
/// within one, so that only a run of records up to the end of the file is believed.)
pub(crate) fn end_of(path: &Path, layout: Layout) -> Option<End> {
    const NEAR: u64 = 1 << 12;
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(NEAR))).ok()?;
    let mut end = Vec::new();
    file.read_to_end(&mut end).ok()?;
    let magic = layout.magic();
    memchr::memmem::find_iter(&end, &magic).find_map(|at| last_records(&end[at..], layout))
}

/// The last of the records that `bytes` are a run of; the very last may be cut.
fn last_records(bytes: &[u8], layout: Layout) -> Option<End> {
    let decode = if layout.big_endian { Header::decode::<true> } else { Header::decode::<false> };
    let mut rest = bytes;
    let mut found: Option<End> = None;
    while !rest.is_empty() {
        if !rest.starts_with(&layout.magic()) {
            return None;
        }
        let Some(header) = decode(rest, layout.version) else { break };
        // A note of a process or of the time of day may be older than what it stands behind.
        if header.categories & NOTIFY == 0 || header.action & 0xff == 2 {
            let time = Nanos(header.time);
            let before = found.unwrap_or(End { time, longest_gap: Nanos::ZERO });
            let gap = time.saturating_sub(before.time);
            found = Some(End { time: time.max(before.time), longest_gap: before.longest_gap.max(gap) });
        }
        let size = layout.header_bytes() + usize::from(header.follows);
        rest = rest.get(size..).unwrap_or_default();
    }
    found
}

/// One file of records.
pub(crate) struct BlktraceFile {
    path: Arc<Path>,
    buffer: Buffer,
    layout: Layout,
    tolerant: bool,
    notes: Notes,
    /// The running numbers of each processor.
    sequences: Vec<Sequence>,
    /// The number of the first record that has one.
    first: Option<u32>,
    doubled: u64,
    set_back: u64,
    processes: BTreeMap<u32, String>,
    last: Nanos,
    ended: bool,
}

impl BlktraceFile {
    /// Starts to read.
    pub(crate) fn new(input: Input, tolerant: bool) -> Result<Self, TraceError> {
        let path = input.path().clone();
        let layout = Layout::of(input.sample().bytes).ok_or_else(|| {
            TraceError::unusable(
                format!("`{}` does not begin with a blktrace record of version 7 or 8", path.display()),
                "blktrace writes one file NAME.blktrace.N for each processor; give one of them, their folder, or \
                 FOLDER/NAME"
                    .into(),
            )
        })?;
        Ok(Self {
            path,
            buffer: input.into_buffer(),
            layout,
            tolerant,
            notes: Notes::default(),
            sequences: Vec::new(),
            first: None,
            doubled: 0,
            set_back: 0,
            processes: BTreeMap::new(),
            last: Nanos::ZERO,
            ended: false,
        })
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Whether the processor that was the first to tell began to count then: nothing was cut off before.
    pub(crate) fn is_whole(&self) -> bool {
        self.first == Some(1)
    }

    /// Processors that had counted before their first record, and how far.
    pub(crate) fn counted_before(&self) -> impl Iterator<Item = (u32, u64)> {
        let late = self.sequences.iter().zip(0..).filter(|(sequence, _)| sequence.first > 1);
        late.map(|(sequence, cpu)| (cpu, u64::from(sequence.first) - 1))
    }

    /// Appends events until the batch is full or the file ends.
    fn fill<const BIG: bool>(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        let (size, magic) = (self.layout.header_bytes(), self.layout.magic());
        while batch.len() < BATCH && !self.ended {
            if self.buffer.bytes().len() < size && !self.buffer.ensure(size)? {
                return self.cut(size);
            }
            let bytes = self.buffer.bytes();
            let header = if bytes.starts_with(&magic) {
                Header::decode::<BIG>(&bytes[..size], self.layout.version)
            } else {
                None
            };
            let Some(header) = header else {
                self.resynchronise()?;
                continue;
            };
            let whole = size + usize::from(header.follows);
            if self.buffer.bytes().len() < whole && !self.buffer.ensure(whole)? {
                return self.cut(whole);
            }
            if header.categories & NOTIFY != 0 {
                self.notify(&header, size, batch);
            } else if self.is_new(&header, batch) {
                batch.push(self.event(&header, size));
            }
            self.buffer.take(whole);
        }
        Ok(())
    }

    /// Leaves out what was read of a processor from an instant on, as its clock was set back there.
    fn take_back(&mut self, header: &Header, since: Nanos, batch: &mut Vec<Event>) {
        let before = batch.len();
        batch.retain(|event| event.time < since || u32::from(event.cpu) != header.cpu);
        self.set_back += (before - batch.len()) as u64;
    }

    #[expect(
        clippy::inline_always,
        reason = "once for either order of bytes; calling it costs a quarter of the time"
    )]
    #[inline(always)]
    fn event(&mut self, header: &Header, size: usize) -> Event {
        let action = ACTIONS.get((header.action & 0xff) as usize).copied().unwrap_or(Action::Other);
        let bytes = if action == Action::Split { self.first_part(header, size) } else { header.bytes };
        self.make(header, action, bytes)
    }

    /// How many bytes come before the second part of a split request, whose beginning follows the record.
    #[cold]
    fn first_part(&self, header: &Header, size: usize) -> u32 {
        let at = size + if header.action & CGROUP == 0 { 0 } else { 8 };
        let second = self.buffer.bytes().get(at..).and_then(|rest| rest.first_chunk::<8>());
        let second = second.map(|&bytes| u64::from_be_bytes(bytes));
        let first = second.and_then(|second| second.checked_sub(header.sector)).filter(|&n| n < 1 << 22);
        first.map_or(header.bytes, |sectors| (sectors << 9) as u32)
    }

    #[inline]
    fn make(&mut self, header: &Header, action: Action, bytes: u32) -> Event {
        let time = Nanos(header.time);
        self.notes.out_of_order += u64::from(time < self.last);
        self.last = time;
        Event {
            time,
            sector: header.sector,
            bytes,
            pid: header.pid,
            device: header.device,
            cpu: header.cpu as u16,
            action,
            marks: Marks::of_categories(header.categories),
        }
    }

    /// Follows the running numbers; the kernel's own tracer writes zeros. Whether the record is to be read.
    #[inline]
    fn is_new(&mut self, header: &Header, batch: &mut Vec<Event>) -> bool {
        let sequence = self.sequences.get_mut(header.cpu as usize);
        sequence.is_some_and(|sequence| sequence.goes_on(header.sequence, Nanos(header.time)))
            || self.is_new_after_all(header, batch)
    }

    /// The same of a record that is not the next of its processor.
    #[cold]
    #[inline(never)]
    fn is_new_after_all(&mut self, header: &Header, batch: &mut Vec<Event>) -> bool {
        let cpu = header.cpu as u16 as usize;
        if header.sequence == 0 || header.cpu > 0xffff {
            return true;
        }
        if self.sequences.len() <= cpu {
            self.sequences.resize(cpu + 1, Sequence::default());
        }
        self.first.get_or_insert(header.sequence);
        match self.sequences[cpu].follow(header.sequence, Nanos(header.time)) {
            Verdict::New => return true,
            Verdict::Reveals(since) => {
                self.take_back(header, since, batch);
                return true;
            }
            Verdict::Double => self.doubled += 1,
            Verdict::SetBack => self.set_back += 1,
        }
        false
    }

    fn notify(&mut self, header: &Header, size: usize, batch: &mut Vec<Event>) {
        match header.action & 0xff {
            0 => {
                let end = size + usize::from(header.follows);
                let name = self.buffer.bytes().get(size..end).unwrap_or_default();
                let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
                self.processes
                    .entry(header.pid)
                    .or_insert_with(|| String::from_utf8_lossy(name).into_owned());
            }
            2 => {
                let end = size + usize::from(header.follows);
                if is_statement(self.buffer.bytes().get(size..end).unwrap_or_default()) {
                    return;
                }
                let event = self.make(header, Action::Message, 0);
                batch.push(event);
            }
            _ => {}
        }
    }

    /// Skips to the next bytes that begin like a record.
    #[cold]
    fn resynchronise(&mut self) -> Result<(), TraceError> {
        let (from, magic) = (self.buffer.offset(), self.layout.magic());
        self.buffer.take(1);
        loop {
            if let Some(found) = memchr::memmem::find(self.buffer.bytes(), &magic) {
                self.buffer.take(found);
                break;
            }
            let keep = self.buffer.bytes().len().min(magic.len() - 1);
            self.buffer.take(self.buffer.bytes().len() - keep);
            if !self.buffer.refill()? {
                self.ended = true;
                break;
            }
        }
        let skipped = self.buffer.offset() - from;
        self.refuse(
            from,
            format!("no blktrace record begins here; {skipped} bytes on one does, or the file ends"),
        )
    }

    #[cold]
    fn cut(&mut self, wanted: usize) -> Result<(), TraceError> {
        self.ended = true;
        let left = self.buffer.bytes().len();
        if left == 0 {
            return Ok(());
        }
        let from = self.buffer.offset();
        self.refuse(from, format!("the file ends after {left} of the record's {wanted} bytes"))
    }

    fn refuse(&mut self, offset: u64, problem: String) -> Result<(), TraceError> {
        let error = TraceError::Record {
            path: self.path.to_path_buf(),
            place: format!("byte {offset}"),
            problem,
            hint: None,
        };
        if !self.tolerant {
            self.ended = true;
            return Err(error);
        }
        self.notes.bad(&error);
        Ok(())
    }
}

impl EventSource for BlktraceFile {
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        if self.layout.big_endian { self.fill::<true>(batch) } else { self.fill::<false>(batch) }
    }

    fn notes(&self) -> Notes {
        self.notes.clone()
    }

    fn loss(&self) -> Loss {
        let set_back = self.sequences.iter().zip(0..).filter(|(sequence, _)| sequence.is_set_back());
        let late: Vec<(u32, u64)> = self.counted_before().filter(|_| self.is_whole()).collect();
        let lost: u64 = self.sequences.iter().map(|sequence| sequence.missing).sum();
        Loss {
            lost_events: lost + late.iter().map(|(_, count)| count).sum::<u64>(),
            late_cpus: late.into_iter().map(|(cpu, _)| cpu).collect(),
            damaged_places: self.notes.bad_records,
            doubled_records: self.doubled,
            set_back_cpus: set_back.map(|(_, cpu)| cpu).collect(),
            set_back_events: self.set_back,
            ..Loss::default()
        }
    }

    fn processes(&self) -> BTreeMap<u32, String> {
        self.processes.clone()
    }
}

/// Appends the record of an event.
pub fn push_record(out: &mut Vec<u8>, layout: Layout, sequence: u32, event: &Event) {
    let Some(act) = ACTIONS.iter().skip(1).position(|&action| action == event.action) else { return };
    let act = act as u64 + 1;
    // The categories that say which tracepoint it was; blkparse filters by them.
    let point = match event.action {
        Action::Issue => 1 << 6,
        Action::Complete => 1 << 7,
        Action::Requeue => 1 << 5,
        _ => 1 << 4,
    };
    let action = act | u64::from(event.marks.categories() | point) << 16;
    let second = event.end().to_be_bytes();
    let follows: &[u8] = if event.action == Action::Split { &second } else { &[] };
    push(out, layout, sequence, event, action, follows);
}

/// Appends the record that names the process of an event.
pub(crate) fn push_process(out: &mut Vec<u8>, layout: Layout, event: &Event, name: &str) {
    let nowhere = Event { sector: 0, bytes: 0, ..*event };
    // The kernel leaves the number of its notes empty.
    push(out, layout, 0, &nowhere, u64::from(NOTIFY) << 16, &[name.as_bytes(), &[0]].concat());
}

/// Appends a message.
pub(crate) fn push_message(out: &mut Vec<u8>, layout: Layout, event: &Event, text: &str) {
    let nowhere = Event { sector: 0, bytes: 0, ..*event };
    push(out, layout, 0, &nowhere, u64::from(NOTIFY) << 16 | 2, text.as_bytes());
}

fn push(out: &mut Vec<u8>, layout: Layout, sequence: u32, event: &Event, action: u64, follows: &[u8]) {
    let mut put = |bytes_be: &[u8]| {
        if layout.big_endian {
            out.extend_from_slice(bytes_be);
        } else {
            out.extend(bytes_be.iter().rev());
        }
    };
    put(&(MAGIC | u32::from(layout.version)).to_be_bytes());
    put(&sequence.to_be_bytes());
    put(&event.time.0.to_be_bytes());
    put(&event.sector.to_be_bytes());
    put(&event.bytes.to_be_bytes());
    if layout.version == 7 {
        put(&(action as u32).to_be_bytes());
        put(&event.pid.to_be_bytes());
    } else {
        put(&event.pid.to_be_bytes());
        put(&action.to_be_bytes());
    }
    put(&event.device.to_be_bytes());
    put(&u32::from(event.cpu).to_be_bytes());
    put(&0_u16.to_be_bytes());
    put(&(follows.len() as u16).to_be_bytes());
    if layout.version == 8 {
        put(&[0; 12]);
    }
    out.extend_from_slice(follows);
}

#[cfg(test)]
pub(crate) mod tests;
