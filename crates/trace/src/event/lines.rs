//! Text formats of events: one event a line; a format says what a line means.

use std::collections::{BTreeMap, BTreeSet};
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

/// A clock that goes back by more from one line to the next was set back, or the lines were there before.
const STEP: Nanos = Nanos(1_000_000_000);

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
    set_back: SetBack,
    lost: u64,
    /// Events were read, or there are none.
    begun: bool,
}

/// Events that are left out, as the clock had been there before.
#[derive(Default)]
struct SetBack {
    /// When it was set back.
    until: Nanos,
    /// The longest time in which nothing happened, from … to ….
    longest: (Nanos, Nanos),
    cpus: BTreeSet<u32>,
    events: u64,
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
            set_back: SetBack::default(),
            lost: 0,
            begun: false,
        }
    }

    /// Whether the clock has been there before. (What lies in a time in which nothing happened is behind lines from the future.)
    #[cold]
    fn was_there(&mut self, event: &Event) -> bool {
        let (time, last) = (event.time, std::mem::replace(&mut self.last, event.time));
        let SetBack { until, longest, .. } = &mut self.set_back;
        let is_first = last == Nanos::ZERO;
        if !is_first && time > last && time - last > longest.1 - longest.0 {
            *longest = (last, time);
        }
        if time.saturating_add(STEP) < last && !(longest.0..longest.1).contains(&time) {
            *until = last.max(*until);
        }
        if time >= *until {
            self.notes.out_of_order += u64::from(time < last);
            return false;
        }
        self.set_back.events += 1;
        self.set_back.cpus.insert(u32::from(event.cpu));
        true
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
                    let is_next = event.time >= self.last && event.time.saturating_sub(self.last) <= STEP;
                    if is_next && event.time >= self.set_back.until {
                        self.last = event.time;
                    } else if self.was_there(&event) {
                        continue;
                    }
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
            set_back_cpus: self.set_back.cpus.iter().copied().collect(),
            set_back_events: self.set_back.events,
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

#[cfg(test)]
mod tests {
    use crate::event::{EventSource, open_events};
    use crate::{OpenOptions, testing};

    /// Times of the events that are read of text with events at these times, in ms, and how many were left out.
    fn read(times: &[u64]) -> (Vec<u64>, u64, u64) {
        let line =
            |ms: &u64| format!("8,16 1 {} {}.{:03} 7 Q R {} + 8 [a]\n", ms + 1, ms / 1000, ms % 1000, 8 * ms);
        let file = testing::text_file(&times.iter().map(line).collect::<String>());
        let mut source = open_events(file.path(), &OpenOptions::default()).unwrap();
        let (mut all, mut batch) = (Vec::new(), Vec::new());
        while {
            source.next_events(&mut batch).unwrap();
            !batch.is_empty()
        } {
            all.extend(batch.iter().map(|event| event.time.0 / 1_000_000));
        }
        let loss = source.loss();
        assert_eq!(loss.set_back_cpus, if loss.set_back_events > 0 { vec![1] } else { vec![] });
        (all, loss.set_back_events, source.notes().out_of_order)
    }

    #[test]
    fn text_that_comes_twice_or_whose_clock_is_set_back_is_read_once() {
        let times: Vec<u64> = (0..50).map(|k| 100 * k).collect();
        let twice = [&times[..], &times].concat();
        assert_eq!(read(&twice), ([&times[..], &times[49..]].concat(), 49, 0));
        // Of an hour after the machine was begun, too.
        let late: Vec<u64> = times.iter().map(|ms| 3_600_000 + ms).collect();
        assert_eq!(read(&[&late[..], &times].concat()), (late.clone(), 50, 0));
        // From 4.9 s back to 2 s, and on from there.
        let back: Vec<u64> = (20..60).map(|k| 100 * k).collect();
        let (all, left_out, _) = read(&[&times[..], &back].concat());
        assert_eq!((all, left_out), ([&times[..], &back[29..]].concat(), 29));
    }

    #[test]
    fn lines_out_of_order_and_some_from_the_future_are_no_clock_that_was_set_back() {
        let times = [0, 100, 50, 900, 200, 300, 9_000_000, 400, 500, 1600, 700, 1700];
        assert_eq!(read(&times), (times.to_vec(), 0, 4));
        // As blkparse writes where a processor told when it was begun.
        let times = [0, 100, 9_000_000, 9_000_100, 9_000_200, 150, 300, 1400];
        assert_eq!(read(&times), (times.to_vec(), 0, 1));
    }
}
