//! Text traces written at completion: requests are put into order of arrival, within a window.

use crate::format::Decoder;
use crate::gate::{Gate, Place};
use crate::in_order::InOrder;
use crate::input::Input;
use crate::number::Problem;
use crate::text::{BATCH, Lines, trim};
use crate::{Request, TraceError};

/// How many requests are held back: one that took longer than this many later ones is out of order.
const WINDOW: usize = 65_536;

/// Lines of completions; `None` from the parser is a line of no interest.
pub(crate) struct Completions<P> {
    lines: Lines,
    parse: P,
    sector_bytes: u32,
    /// With the line of each.
    held: InOrder<(Request, u64)>,
    skipped: u64,
    ended: bool,
}

impl<P: FnMut(&[u8]) -> Result<Option<Request>, Problem> + Send> Completions<P> {
    pub(crate) fn new(input: Input, sector_bytes: u32, parse: P) -> Self {
        Self {
            lines: Lines::new(input.into_buffer()),
            parse,
            sector_bytes,
            held: InOrder::default(),
            skipped: 0,
            ended: false,
        }
    }

    /// The same, from below the line that is a header on.
    pub(crate) fn below(mut self, is_header: impl Fn(&[u8]) -> bool) -> Result<Self, TraceError> {
        while let Some((line, _)) = self.lines.next()? {
            if is_header(line) {
                break;
            }
        }
        Ok(self)
    }

    /// Reads one line into the window; false at the end.
    fn advance(&mut self, gate: &mut Gate) -> Result<bool, TraceError> {
        let Some((line, line_number)) = self.lines.next()? else { return Ok(false) };
        let line = trim(line);
        if line.is_empty() || line[0] == b'#' {
            return Ok(true);
        }
        match (self.parse)(line) {
            Ok(Some(request)) => self.held.push(request.arrival, (request, line_number)),
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
            let Some((request, line)) = self.held.pop() else { break };
            gate.admit(batch, request, Place::Line(line))?;
        }
        Ok(())
    }
}
