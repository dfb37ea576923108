//! The formats with several records a request, in order of time: events, and halves with ticks.

use std::io::Write as _;

use headstack_units::Nanos;

use super::others::Form;
use super::records::{NO_RESPONSE, Refusal};
use crate::event::blktrace::{Layout, push_record};
use crate::event::write::events_of;
use crate::event::{Action, Event, device_numbers};
use crate::in_order::InOrder;
use crate::tick::record::LAST_BLOCK;
use crate::tick::{Half, TICKS_PER_S, TickRecord, text};
use crate::{Request, RequestFlags};

/// The names of these formats.
pub(super) const NAMES: [&str; 7] =
    ["blktrace", "blktrace-v8", "blkparse", "ftrace", "lttng", "tick-text", "tick-packed"];

/// Writes the steps of requests, which come in order of arrival, in order of time.
pub(super) struct Steps {
    format: &'static str,
    waiting: InOrder<Event>,
    written: u32,
}

impl Steps {
    /// A writer of `format`, one of [`NAMES`].
    pub(super) fn new(format: &'static str) -> Self {
        Self { format, waiting: InOrder::default(), written: 0 }
    }

    fn write_until(&mut self, out: &mut Vec<u8>, until: Nanos) {
        while let Some(event) = self.waiting.pop_before(until) {
            self.written = self.written.wrapping_add(1);
            self.write(out, &event);
        }
    }

    fn write(&self, out: &mut Vec<u8>, event: &Event) {
        let (major, minor) = device_numbers(event.device);
        let Event { sector, pid, .. } = event;
        let (sectors, marks) = (event.sectors(), event.marks.letters());
        let tail = if event.action == Action::Complete { "[0]" } else { "[headstack]" };
        let (seconds, rest) = (event.time.0 / 1_000_000_000, event.time.0 % 1_000_000_000);
        // Writing to memory does not fail.
        let _ = match self.format {
            "blktrace" => {
                push_record(out, Layout { version: 7, big_endian: false }, self.written, event);
                Ok(())
            }
            "blktrace-v8" => {
                push_record(out, Layout { version: 8, big_endian: false }, self.written, event);
                Ok(())
            }
            "blkparse" => {
                let (number, action) = (self.written, event.action.letter());
                writeln!(
                    out,
                    "{major:3},{minor:<3} {:2} {number:8} {seconds:5}.{rest:09} {pid:5} {action:>2} {marks:>3} \
                     {sector} + {sectors} {tail}",
                    event.cpu
                )
            }
            "ftrace" => {
                let (name, bytes) = match event.action {
                    Action::Queue => ("bio_queue", String::new()),
                    Action::Issue => ("rq_issue", format!("{} () ", event.bytes)),
                    _ => ("rq_complete", "() ".into()),
                };
                writeln!(
                    out,
                    "headstack-{pid} [{:03}] ..... {seconds}.{rest:09}: block_{name}: {major},{minor} {marks} \
                     {bytes}{sector} + {sectors} {tail}",
                    event.cpu
                )
            }
            "lttng" => {
                let (name, rest_of) = match event.action {
                    Action::Queue => ("bio_queue", format!("tid = {pid}, comm = \"headstack\"")),
                    Action::Issue => ("rq_issue", format!("tid = {pid}, comm = \"headstack\"")),
                    _ => ("rq_complete", "error = 0".into()),
                };
                writeln!(
                    out,
                    "[{seconds}.{rest:09}] (+?.?????????) headstack block_{name}: {{ cpu_id = {} }}, {{ dev = {}, \
                     sector = {sector}, nr_sector = {sectors}, rwbs = {}, {rest_of} }}",
                    event.cpu,
                    event.device,
                    event.marks.lttng_bits()
                )
            }
            _ => {
                let record = tick_record(event);
                if self.format == "tick-text" {
                    text::push_line(out, &record);
                } else {
                    out.extend(record.to_bytes());
                }
                Ok(())
            }
        };
    }
}

impl Form for Steps {
    fn push(&mut self, out: &mut Vec<u8>, number: u64, request: &Request) -> Result<(), (u64, Refusal)> {
        self.write_until(out, request.arrival);
        let ticks = self.format.starts_with("tick");
        if ticks {
            check_ticks(request).map_err(|reason| (number, reason))?;
            if request.flags.contains(RequestFlags::ARRIVAL_UNKNOWN) {
                return Err((number, NO_RESPONSE));
            }
        }
        for event in events_of(request, 512) {
            // A driver with ticks sees the request and the response.
            if ticks && event.action == Action::Issue {
                continue;
            }
            self.waiting.push(event.time, event);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), (u64, Refusal)> {
        self.write_until(out, Nanos::MAX);
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
