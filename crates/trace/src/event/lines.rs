//! Text formats of events: one event a line; a format says what a line means.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use headstack_units::Nanos;

use super::{Event, EventSource, Loss};
use crate::gate::Place;
use crate::input::{Input, Sample};
use crate::number::Problem;
use crate::process_names::ProcessNames;
use crate::text::{BATCH, Lines, trim};
use crate::{Notes, TraceError};

/// What a line holds.
pub(crate) enum Line {
    /// An event.
    Event(Event),
    /// Nothing of interest: a header, a sum, an event of another kind.
    Nothing,
    /// The tracer says that it lost so many.
    Lost(u64),
}

/// The meaning of a line.
pub(crate) trait EventLineParser: Send {
    /// What is on this line, which is not blank.
    fn parse(&mut self, line: &[u8]) -> Result<Line, Problem>;

    /// How many events are missing so far by their running numbers.
    fn missing(&self) -> u64 {
        0
    }

    /// Names of processes seen so far.
    fn processes(&self) -> &ProcessNames;
}

/// A text format at work.
pub(crate) struct TextEvents<P> {
    path: Arc<Path>,
    lines: Lines,
    parser: P,
    tolerant: bool,
    notes: Notes,
    last: Nanos,
    lost: u64,
    /// Events were read, or there are none.
    begun: bool,
}

impl<P: EventLineParser> TextEvents<P> {
    pub(crate) fn new(input: Input, parser: P, tolerant: bool) -> Self {
        let path = input.path().clone();
        let lines = Lines::new(input.into_buffer());
        Self {
            path,
            lines,
            parser,
            tolerant,
            notes: Notes::default(),
            last: Nanos::ZERO,
            lost: 0,
            begun: false,
        }
    }
}

impl<P: EventLineParser> EventSource for TextEvents<P> {
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        batch.clear();
        while batch.len() < BATCH {
            let Some((line, number)) = self.lines.next()? else { break };
            let line = trim(line);
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            match self.parser.parse(line) {
                Ok(Line::Event(event)) => {
                    self.notes.out_of_order += u64::from(event.time < self.last);
                    self.last = event.time;
                    batch.push(event);
                }
                Ok(Line::Nothing) => {}
                Ok(Line::Lost(count)) => self.lost += count,
                Err(Problem(problem)) => {
                    let error = TraceError::Record {
                        path: self.path.to_path_buf(),
                        place: Place::Line(number).to_string(),
                        problem,
                        hint: None,
                    };
                    if !self.tolerant {
                        return Err(error);
                    }
                    self.notes.bad(&error);
                }
            }
        }
        // Text of which no line is an event, and not all are something else.
        if batch.is_empty() && !std::mem::replace(&mut self.begun, true) {
            return self.notes.nothing_sound().map_or(Ok(()), Err);
        }
        self.begun = true;
        Ok(())
    }

    fn notes(&self) -> Notes {
        self.notes.clone()
    }

    fn loss(&self) -> Loss {
        Loss {
            lost_events: self.lost + self.parser.missing(),
            damaged_places: self.notes.bad_records,
            ..Loss::default()
        }
    }

    fn processes(&self) -> BTreeMap<u32, String> {
        self.parser.processes().all()
    }
}

/// Whether `parser` finds an event in the first lines of the sample, and understands most of them.
pub(crate) fn finds_events(sample: Sample<'_>, mut parser: impl EventLineParser) -> bool {
    let (mut events, mut bad) = (0, 0);
    for line in sample.lines() {
        match parser.parse(line) {
            Ok(Line::Event(_)) => events += 1,
            Ok(_) => {}
            Err(_) => bad += 1,
        }
    }
    events > 2 * bad
}
