//! The formats with a line a completion, in order of completion.

use std::io::Write as _;

use headstack_units::{Nanos, Op};

use super::others::{Form, Processes};
use super::records::{NO_RESPONSE, Refusal, decimal, letter, put};
use crate::in_order::InOrder;
use crate::{Io, Request};

/// The one that names processes.
pub(super) const BIOSNOOP: &str = "biosnoop";

/// The names of these formats.
pub(super) const NAMES: [&str; 2] = [BIOSNOOP, "fio-latency"];

/// What stands before the first line.
pub(super) fn header(format: &str) -> &'static str {
    match format {
        BIOSNOOP => "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)\n",
        _ => "",
    }
}

/// Writes requests, which come in order of arrival, in order of completion.
pub(super) struct Completed {
    format: &'static str,
    processes: Processes,
    waiting: InOrder<Io>,
}

impl Completed {
    /// A writer of `format`, one of [`NAMES`].
    pub(super) fn new(format: &'static str, processes: Processes) -> Self {
        Self { format, processes, waiting: InOrder::default() }
    }

    fn write_until(&mut self, out: &mut Vec<u8>, until: Nanos) {
        while let Some(io) = self.waiting.pop_before(until) {
            self.write(out, &io);
        }
    }

    fn write(&self, out: &mut Vec<u8>, io: &Io) {
        let Request { arrival, start, finish, device, lba, sectors, op, .. } = io.request;
        let start = start.present().unwrap_or(arrival);
        let bytes = u64::from(sectors) * 512;
        if self.format == BIOSNOOP {
            let (time, op) = (decimal(finish.0, 9), letter(op));
            let (queue, latency) = (decimal((start - arrival).0, 6), decimal((finish - start).0, 6));
            let pid = if io.pid == Io::NO_PID { "-".into() } else { io.pid.to_string() };
            let name = self.processes.get(&io.pid).map_or("?", String::as_str);
            put!(out, "{time} {name} {pid} disk{device} {op} {} {bytes} {queue} {latency}", lba.0);
        } else {
            let (ms, latency) = (finish.0 / 1_000_000, (finish - arrival).0);
            let direction = u8::from(op == Op::Write);
            put!(out, "{ms}, {latency}, {direction}, {bytes}, {}, 0", lba.0 * 512);
        }
    }
}

impl Form for Completed {
    fn push(&mut self, out: &mut Vec<u8>, number: u64, io: &Io) -> Result<(), (u64, Refusal)> {
        let request = &io.request;
        let response = request.measured_response().ok_or((number, NO_RESPONSE))?;
        let finish = request.arrival.saturating_add(response);
        self.write_until(out, request.arrival);
        self.waiting.push(finish, *io);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), (u64, Refusal)> {
        self.write_until(out, Nanos::MAX);
        Ok(())
    }
}
