//! The formats with several records a request, in order of time: events, and halves with ticks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use headstack_units::Nanos;

use super::others::{Form, Processes};
use super::records::{NO_RESPONSE, Refusal, put};
use crate::event::blktrace::{Layout, push_message, push_process, push_record};
use crate::event::stated::statement;
use crate::event::write::events_of;
use crate::event::{Action, Event, device_numbers};
use crate::in_order::InOrder;
use crate::tick::record::LAST_BLOCK;
use crate::tick::{Half, TICKS_PER_S, TickRecord, text};
use crate::{Io, Request, RequestFlags};

/// The names of these formats.
pub(super) const NAMES: [&str; 7] =
    ["blktrace", "blktrace-v8", "blkparse", "ftrace", "lttng", "tick-text", "tick-packed"];

/// Writes the steps of I/Os, which come in order of arrival, in order of time.
pub(super) struct Steps {
    format: &'static str,
    processes: Processes,
    /// Processes that are named already.
    named: BTreeSet<u32>,
    waiting: InOrder<Event>,
    written: u64,
    /// The last of them.
    last: Option<Event>,
    /// The same of each device.
    written_of: BTreeMap<u32, u32>,
}

impl Steps {
    /// A writer of `format`, one of [`NAMES`].
    pub(super) fn new(format: &'static str, processes: Processes) -> Self {
        Self {
            format,
            processes,
            named: BTreeSet::new(),
            waiting: InOrder::default(),
            written: 0,
            last: None,
            written_of: BTreeMap::new(),
        }
    }

    fn write_until(&mut self, out: &mut Vec<u8>, until: Nanos) {
        while let Some(event) = self.waiting.pop_before(until) {
            self.written += 1;
            self.last = Some(event);
            match self.format {
                "blktrace" => self.write_record(out, 7, &event),
                "blktrace-v8" => self.write_record(out, 8, &event),
                "blkparse" => self.write_blkparse(out, &event),
                "ftrace" => self.write_ftrace(out, &event),
                "lttng" => self.write_lttng(out, &event),
                "tick-text" => text::push_line(out, &tick_record(&event)),
                _ => out.extend(tick_record(&event).to_bytes()),
            }
        }
    }

    /// Says how many there are, in a message or a remark.
    fn state_end(&self, out: &mut Vec<u8>) {
        let Some(last) = self.last.filter(|_| !self.format.starts_with("tick")) else { return };
        let text = statement(self.written);
        match self.format {
            "blktrace" => push_message(out, Layout { version: 7, big_endian: false }, &last, &text),
            "blktrace-v8" => push_message(out, Layout { version: 8, big_endian: false }, &last, &text),
            _ => put!(out, "# {text}"),
        }
    }

    fn write_record(&mut self, out: &mut Vec<u8>, version: u8, event: &Event) {
        let layout = Layout { version, big_endian: false };
        if let Some(name) = self.processes.get(&event.pid).filter(|_| self.named.insert(event.pid)) {
            push_process(out, layout, event, name);
        }
        push_record(out, layout, self.written as u32, event);
    }

    /// The kernel counts each device's events by themselves, on each processor, of which there is one here.
    fn write_blkparse(&mut self, out: &mut Vec<u8>, event: &Event) {
        let (major, minor) = device_numbers(event.device);
        let number = self.written_of.entry(event.device).or_default();
        *number = number.wrapping_add(1);
        let (number, action, marks) = (*number, event.action.letter(), event.marks.letters());
        let (seconds, rest) = seconds(event.time);
        let Event { cpu, pid, .. } = event;
        let (place, tail) = (place(event), self.tail(event));
        put!(
            out,
            "{major:3},{minor:<3} {cpu:2} {number:8} {seconds:5}.{rest:09} {pid:5} {action:>2} {marks:>3} {place} {tail}"
        );
    }

    fn write_ftrace(&self, out: &mut Vec<u8>, event: &Event) {
        let (major, minor) = device_numbers(event.device);
        let (seconds, rest) = seconds(event.time);
        let (name, marks) = (tracepoint(event.action), event.marks.letters());
        let bytes = match event.action {
            Action::Issue | Action::Insert => format!("{} () ", event.bytes),
            Action::Complete => "() ".into(),
            _ => String::new(),
        };
        // What cannot be told has no number, as no process is without one.
        let process = match event.pid {
            Io::NO_PID => "<...>".into(),
            pid => format!("{}-{pid}", self.processes.get(&pid).map_or("<...>", String::as_str)),
        };
        let (cpu, place, tail) = (event.cpu, place(event), self.tail(event));
        put!(
            out,
            "{process} [{cpu:03}] ..... {seconds}.{rest:09}: block_{name}: {major},{minor} {marks} {bytes}{place} {tail}"
        );
    }

    fn write_lttng(&self, out: &mut Vec<u8>, event: &Event) {
        let (seconds, rest) = seconds(event.time);
        let name = tracepoint(event.action);
        let asked = match (event.action, event.pid, self.processes.get(&event.pid)) {
            (Action::Complete, ..) => ", error = 0".into(),
            (_, Io::NO_PID, _) => String::new(),
            (_, pid, None) => format!(", tid = {pid}"),
            (_, pid, Some(comm)) => format!(", tid = {pid}, comm = \"{comm}\""),
        };
        let Event { cpu, device, sector, marks, .. } = event;
        let (sectors, bits) = (event.sectors(), marks.lttng_bits());
        put!(
            out,
            "[{seconds}.{rest:09}] (+?.?????????) headstack block_{name}: {{ cpu_id = {cpu} }}, {{ dev = {device}, \
             sector = {sector}, nr_sector = {sectors}, rwbs = {bits}{asked} }}"
        );
    }

    /// What stands in brackets at the end of a line: the process, or of a completion the error.
    fn tail(&self, event: &Event) -> String {
        match event.action {
            Action::Complete => "[0]".into(),
            _ => format!("[{}]", self.processes.get(&event.pid).map_or("?", String::as_str)),
        }
    }
}

fn seconds(time: Nanos) -> (u64, u64) {
    (time.0 / 1_000_000_000, time.0 % 1_000_000_000)
}

fn place(event: &Event) -> String {
    format!("{} + {}", event.sector, event.sectors())
}

/// What the kernel calls an event, behind `block_`.
fn tracepoint(action: Action) -> &'static str {
    match action {
        Action::Queue => "bio_queue",
        Action::GetRequest => "getrq",
        Action::Insert => "rq_insert",
        Action::Issue => "rq_issue",
        _ => "rq_complete",
    }
}

impl Form for Steps {
    fn push(&mut self, out: &mut Vec<u8>, number: u64, io: &Io) -> Result<(), (u64, Refusal)> {
        let request = &io.request;
        self.write_until(out, request.arrival);
        let ticks = self.format.starts_with("tick");
        if ticks {
            check_ticks(request).map_err(|reason| (number, reason))?;
            if request.flags.contains(RequestFlags::ARRIVAL_UNKNOWN) {
                return Err((number, NO_RESPONSE));
            }
        }
        for event in events_of(io) {
            // A driver with ticks sees the request and the response.
            if ticks && !matches!(event.action, Action::Queue | Action::Complete) {
                continue;
            }
            self.waiting.push(event.time, event);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), (u64, Refusal)> {
        self.write_until(out, Nanos::MAX);
        self.state_end(out);
        Ok(())
    }
}

fn check_ticks(request: &Request) -> Result<(), Refusal> {
    if request.sectors > 255 {
        return Err("it is larger than 255 blocks, more than a packed record holds");
    }
    if request.lba.0 > u64::from(LAST_BLOCK) {
        return Err("it begins above block 2^24, beyond what a packed record holds");
    }
    if request.device > 0x7fff {
        return Err("its device number has more than 15 bits, more than a packed record holds");
    }
    Ok(())
}

fn tick_record(event: &Event) -> TickRecord {
    TickRecord {
        half: if event.action == Action::Complete { Half::Received } else { Half::Sent },
        major: (event.device >> 8 & 0x7f) as u8,
        minor: event.device as u8,
        blocks: event.sectors() as u8,
        op: event.marks.op(),
        block: event.sector as u32,
        tick: (u128::from(event.time.0) * u128::from(TICKS_PER_S) / 1_000_000_000) as u16,
    }
}
