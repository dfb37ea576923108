//! Text traces written at completion: requests are put into order of arrival, within a window.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::format::Decoder;
use crate::gate::{Gate, Place};
use crate::input::Input;
use crate::number::Problem;
use crate::text::{BATCH, Lines, trim};
use crate::{Request, TraceError};

/// How many requests are held back: one that took longer than this many later ones is out of order.
const WINDOW: usize = 65_536;

/// A request that is held back: the greatest is the one that arrived first, of equals the one read first.
struct Held {
    request: Request,
    number: u64,
    line: u64,
}

impl Held {
    fn key(&self) -> (u64, u64) {
        (self.request.arrival.0, self.number)
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Held {}

/// Lines of completions; `None` from the parser is a line of no interest.
pub(crate) struct Completions<P> {
    lines: Lines,
    parse: P,
    sector_bytes: u32,
    held: BinaryHeap<Held>,
    number: u64,
    skipped: u64,
    ended: bool,
}

impl<P: FnMut(&[u8]) -> Result<Option<Request>, Problem> + Send> Completions<P> {
    pub(crate) fn new(input: Input, sector_bytes: u32, parse: P) -> Self {
        Self {
            lines: Lines::new(input.into_buffer()),
            parse,
            sector_bytes,
            held: BinaryHeap::new(),
            number: 0,
            skipped: 0,
            ended: false,
        }
    }

    /// Reads one line into the window; false at the end.
    fn advance(&mut self, gate: &mut Gate) -> Result<bool, TraceError> {
        let Some((line, line_number)) = self.lines.next()? else { return Ok(false) };
        let line = trim(line);
        if line.is_empty() || line[0] == b'#' {
            return Ok(true);
        }
        match (self.parse)(line) {
            Ok(Some(request)) => {
                self.number += 1;
                self.held.push(Held { request, number: self.number, line: line_number });
            }
            Ok(None) => self.skipped += 1,
            Err(problem) => gate.problem(Place::Line(line_number), problem)?,
        }
        Ok(true)
    }
}

impl<P: FnMut(&[u8]) -> Result<Option<Request>, Problem> + Send> Decoder for Completions<P> {
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn records_skipped(&self) -> u64 {
        self.skipped
    }

    fn absolute_clock(&self) -> bool {
        true
    }

    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError> {
        while batch.len() < BATCH {
            while !self.ended && self.held.len() < WINDOW {
                self.ended = !self.advance(gate)?;
            }
            let Some(Held { request, line, .. }) = self.held.pop() else { break };
            gate.admit(batch, request, Place::Line(line))?;
        }
        Ok(())
    }
}
