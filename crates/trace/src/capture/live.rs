//! The kernel's pipe of events as a source.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use headstack_units::Nanos;

use super::tracefs::Instance;
use crate::event::ftrace::Parser;
use crate::event::lines::{EventLineParser, Line};
use crate::event::{Event, EventIos, EventSource, Loss, PairingRule};
use crate::{Io, IoSource, Kind, Notes, Request, RequestSource, TraceError};

/// How long the pipe is left alone when it is empty. Shorter wastes time, longer needs larger buffers.
const PAUSE: Duration = Duration::from_millis(20);

/// Events as they come, until the end.
pub(super) struct LiveEvents<'a> {
    instance: Instance,
    parser: Parser,
    /// The beginning of a line whose end has not come.
    pending: Vec<u8>,
    deadline: Option<Instant>,
    stop: &'a AtomicBool,
    notes: Notes,
    bytes_read: u64,
    lost: u64,
    ended: bool,
}

impl<'a> LiveEvents<'a> {
    pub(super) fn new(instance: Instance, deadline: Option<Instant>, stop: &'a AtomicBool) -> Self {
        Self {
            instance,
            parser: Parser::default(),
            pending: Vec::new(),
            deadline,
            stop,
            notes: Notes::default(),
            bytes_read: 0,
            lost: 0,
            ended: false,
        }
    }

    /// Bytes read, and events lost.
    pub(super) fn cost(&self) -> (u64, u64) {
        (self.bytes_read, self.lost)
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Reads what there is; false if there is nothing.
    fn take(&mut self, batch: &mut Vec<Event>) -> Result<bool, TraceError> {
        let before = self.pending.len();
        let count = self.instance.read(&mut self.pending)?;
        self.bytes_read += count as u64;
        let Some(end) = memchr::memrchr(b'\n', &self.pending[before..]) else { return Ok(count > 0) };
        let end = before + end;
        for line in self.pending[..end].split(|&byte| byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            match self.parser.parse(line) {
                Ok(Line::Event(event)) => batch.push(event),
                // The kernel's own count of losses is taken at the end.
                Ok(Line::Nothing | Line::Lost(_)) => {}
                Err(problem) => self.notes.bad(&TraceError::Unusable { problem: problem.0, hint: None }),
            }
        }
        self.pending.drain(..=end);
        Ok(true)
    }
}

impl EventSource for LiveEvents<'_> {
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        while batch.is_empty() && !self.ended {
            if self.take(batch)? {
                continue;
            }
            if self.is_over() {
                self.instance.stop()?;
                while self.take(batch)? {}
                self.lost = self.instance.lost();
                self.ended = true;
                break;
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn notes(&self) -> Notes {
        self.notes.clone()
    }

    fn loss(&self) -> Loss {
        Loss { lost_events: self.lost, ..Loss::default() }
    }
}

/// The reads and writes of a live trace, counted from the first.
pub(super) struct LiveRequests<'a> {
    pub(super) ios: EventIos<LiveEvents<'a>>,
    batch: Vec<Io>,
    zero: Option<Nanos>,
    /// I/Os of other kinds, left out.
    pub(super) others: u64,
}

impl<'a> LiveRequests<'a> {
    pub(super) fn new(events: LiveEvents<'a>) -> Self {
        Self { ios: EventIos::new(events, PairingRule::Strict), batch: Vec::new(), zero: None, others: 0 }
    }
}

impl RequestSource for LiveRequests<'_> {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        while batch.is_empty() {
            self.ios.next_ios(&mut self.batch)?;
            if self.batch.is_empty() {
                return Ok(());
            }
            for io in &self.batch {
                if io.kind != Kind::Data || io.request.sectors == 0 {
                    self.others += 1;
                    continue;
                }
                let mut request = Request { device: 0, ..io.request };
                // The first to arrive is the first to come; none is before it but by the kernel's disorder.
                let zero = *self.zero.get_or_insert(request.arrival);
                for instant in [&mut request.arrival, &mut request.start, &mut request.finish] {
                    if *instant != Nanos::MAX {
                        *instant = instant.saturating_sub(zero);
                    }
                }
                batch.push(request);
            }
        }
        Ok(())
    }
}
