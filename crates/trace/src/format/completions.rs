//! Text traces written at completion: requests are put into order of arrival, within a window.

use std::collections::BTreeMap;

use crate::format::Decoder;
use crate::gate::{Gate, Notes, Place};
use crate::in_order::InOrder;
use crate::input::Input;
use crate::number::Problem;
use crate::text::{BATCH, Lines, trim};
use crate::{Io, IoSource, OpenOptions, Request, TraceError};

/// How many requests are held back: one that took longer than this many later ones is out of order.
const WINDOW: usize = 65_536;

/// What a line says: a request, and the number of the process that asked for it, or [`Io::NO_PID`].
pub(crate) type Asked = (Request, u32);

/// Reads lines, one after the other.
pub(crate) trait Parse: Send {
    /// What a line says; `None` if it is of no interest.
    fn parse(&mut self, line: &[u8]) -> Result<Option<Asked>, Problem>;

    /// Names of processes by their number, as far as they were read.
    fn processes(&self) -> BTreeMap<u32, String> {
        BTreeMap::new()
    }
}

impl<F: FnMut(&[u8]) -> Result<Option<Request>, Problem> + Send> Parse for F {
    fn parse(&mut self, line: &[u8]) -> Result<Option<Asked>, Problem> {
        Ok(self(line)?.map(|request| (request, Io::NO_PID)))
    }
}

impl Parse for Box<dyn Parse> {
    fn parse(&mut self, line: &[u8]) -> Result<Option<Asked>, Problem> {
        self.as_mut().parse(line)
    }

    fn processes(&self) -> BTreeMap<u32, String> {
        self.as_ref().processes()
    }
}

/// Lines of completions.
pub(crate) struct Completions<P> {
    lines: Lines,
    parser: P,
    sector_bytes: u32,
    /// With the line of each.
    held: InOrder<(Asked, u64)>,
    skipped: u64,
    ended: bool,
}

impl<P: Parse> Completions<P> {
    pub(crate) fn new(input: Input, sector_bytes: u32, parser: P) -> Self {
        Self {
            lines: Lines::new(input.into_buffer()),
            parser,
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
        match self.parser.parse(line) {
            Ok(Some(asked)) => self.held.push(asked.0.arrival, (asked, line_number)),
            Ok(None) => self.skipped += 1,
            Err(problem) => gate.problem(Place::Line(line_number), problem)?,
        }
        Ok(true)
    }

    /// The next that was asked for.
    fn next(&mut self, gate: &mut Gate) -> Result<Option<(Asked, Place)>, TraceError> {
        while !self.ended && self.held.len() < WINDOW {
            self.ended = !self.advance(gate)?;
        }
        Ok(self.held.pop().map(|(asked, line)| (asked, Place::Line(line))))
    }
}

impl<P: Parse> Decoder for Completions<P> {
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
            let Some(((request, _), place)) = self.next(gate)? else { break };
            gate.admit(batch, request, place)?;
        }
        Ok(())
    }
}

/// The same lines with the processes they name.
pub(crate) struct CompletionIos {
    lines: Completions<Box<dyn Parse>>,
    gate: Gate,
    admitted: Vec<Request>,
    nothing_yet: bool,
    failure: Option<TraceError>,
}

impl CompletionIos {
    /// What [`crate::open`] reads of these lines, from the first arrival on.
    pub(crate) fn new(
        lines: Completions<Box<dyn Parse>>,
        path: std::sync::Arc<std::path::Path>,
        options: &OpenOptions,
    ) -> Self {
        let gate = Gate::new(path, true, false, options.skip_zero_length);
        let gate = if options.tolerant { gate.tolerant() } else { gate };
        Self { lines, gate, admitted: Vec::new(), nothing_yet: true, failure: None }
    }

    /// Names of processes by their number, as far as they were read.
    pub(crate) fn processes(&self) -> BTreeMap<u32, String> {
        self.lines.parser.processes()
    }

    fn fill(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        while batch.len() < BATCH {
            let Some(((request, pid), place)) = self.lines.next(&mut self.gate)? else { break };
            self.admitted.clear();
            self.gate.admit(&mut self.admitted, request, place)?;
            let lead = self.gate.lead();
            batch.extend(self.admitted.iter().map(|&request| {
                let mut io = Io { pid, ..Io::new(request) };
                io.rebase(lead);
                io
            }));
        }
        let nothing = batch.is_empty() && self.nothing_yet && self.lines.skipped == 0;
        self.nothing_yet &= batch.is_empty();
        if nothing { self.gate.notes().nothing_sound().map_or(Ok(()), Err) } else { Ok(()) }
    }
}

impl IoSource for CompletionIos {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        batch.clear();
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match self.fill(batch) {
            // What was read before an error is delivered first.
            Err(error) if !batch.is_empty() => self.failure = Some(error),
            other => return other,
        }
        Ok(())
    }

    fn notes(&self) -> Notes {
        self.gate.notes().clone()
    }

    fn sector_bytes(&self) -> u32 {
        self.lines.sector_bytes
    }
}
