//! Text formats of events: one event a line; a format says what a line means.
//!
//! What is out of order is put into order within [`WINDOW`](super::held) lines. That a line came before is told by its running number,
//! if it has one, and by an event that is the same; where an earlier part of the text is known no longer, by events like its first ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use headstack_units::Nanos;

use super::held::Window;
use super::numbers::{Numbered, RunningNumbers};
use super::repeats::{Repeats, Verdict};
use super::{Event, EventSource, Loss};
use crate::gate::Place;
use crate::input::{Input, Sample};
use crate::number::Problem;
use crate::process_names::ProcessNames;
use crate::text::{Lines, trim};
use crate::{Notes, TraceError};

/// A clock that goes back by more from one line to the next was set back, or the lines were there before.
const STEP: Nanos = Nanos(1_000_000_000);

/// By so many of the first events a text is known again.
const FIRSTS: usize = 64;

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

    /// The running numbers of events, if there are any.
    fn numbers(&self) -> Option<&RunningNumbers> {
        None
    }

    /// Numbers that were passed over by one of the first `seen` events and did not come since are missing.
    fn settle(&mut self, _seen: u64) {}

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
    window: Window<Told>,
    /// When the event of the line before was.
    last: Nanos,
    /// When the latest event of each processor was.
    cpus: Vec<Nanos>,
    /// The first events.
    firsts: Vec<Event>,
    set_back: SetBack,
    doubled: Doubled,
    repeats: Repeats,
    lost: u64,
    /// Of what was given out so far.
    told: Told,
    /// All was read, or as far as it can be.
    ended: bool,
    failure: Option<TraceError>,
    /// Events were given out, or there are none.
    begun: bool,
}

/// What was known of losses when a line was read.
#[derive(Clone, Debug, Default)]
struct Told {
    lost: u64,
    damaged: u64,
    set_back: u64,
    cpus: BTreeSet<u32>,
    /// Running numbers that were taken.
    seen: u64,
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

/// What is known of events that are left out, as they were there before.
#[derive(Default)]
struct Doubled {
    /// The text begins anew: what is behind the clock is all there before.
    begins_anew: bool,
    /// The last event of data was there before.
    goes_on: bool,
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
            window: Window::default(),
            last: Nanos::ZERO,
            cpus: Vec::new(),
            firsts: Vec::new(),
            set_back: SetBack::default(),
            doubled: Doubled::default(),
            repeats: Repeats::default(),
            lost: 0,
            told: Told::default(),
            ended: false,
            failure: None,
            begun: false,
        }
    }

    /// Reads so many lines that the window has a batch more.
    fn read(&mut self) -> Result<(), TraceError> {
        while !self.window.is_read() {
            let Some((line, number)) = self.lines.next()? else {
                self.ended = true;
                break;
            };
            let line = trim(line);
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            match self.parser.parse(line) {
                Ok(Line::Event(event)) => self.take(event),
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
        Ok(())
    }

    /// Takes the event of the next line.
    #[inline]
    fn take(&mut self, event: Event) {
        match self.numbered() {
            Numbered::SetBack => return self.leave_out(&event, 1),
            Numbered::Reveals => self.take_back(&event),
            _ => {}
        }
        // The line before was not later than the latest, nor was the clock set back from later.
        let is_next = event.time > self.window.latest() && event.time.0 - self.last.0 <= STEP.0;
        if is_next {
            if self.numbered() == Numbered::Not {
                self.turn();
                self.repeats.begin(&event);
            }
            self.last = event.time;
            self.keep_time(&event);
            self.window.push(event);
        } else if !self.was_there(&event) {
            self.keep_time(&event);
            self.window.push_late(event);
        }
    }

    /// So many events of a processor are left out, as its clock was set back.
    #[cold]
    fn leave_out(&mut self, event: &Event, count: u64) {
        self.set_back.events += count;
        self.set_back.cpus.insert(u32::from(event.cpu));
    }

    /// Leaves out what this event reveals to be wrong, as far as it was not given out.
    #[cold]
    fn take_back(&mut self, event: &Event) {
        let Some(wrong) = self.parser.numbers().map(RunningNumbers::wrong) else { return };
        let is_wrong = |event: &Event| event.cpu == wrong.cpu && event.device == wrong.device;
        let count = self.window.take_back(wrong.since, is_wrong);
        self.leave_out(event, count);
    }

    /// The next line is of another instant.
    #[inline]
    fn turn(&mut self) {
        if self.repeats.is_open() {
            let verdict = self.repeats.end_instant();
            self.settle(verdict);
        }
    }

    /// What becomes of lines that came again at their instant is known, or not yet.
    #[cold]
    fn settle(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Open => {}
            Verdict::Doubled => self.notes.doubled += self.repeats.waiting.drain(..).len() as u64,
            Verdict::Own => {
                for event in std::mem::take(&mut self.repeats.waiting) {
                    self.keep_time(&event);
                    self.window.push_late(event);
                }
            }
        }
    }

    /// What the number of the line read last says of it.
    #[inline]
    fn numbered(&self) -> Numbered {
        self.parser.numbers().map(RunningNumbers::last).unwrap_or_default()
    }

    /// Keeps the time of a processor's latest event.
    #[inline]
    fn keep_time(&mut self, event: &Event) {
        let cpu = usize::from(event.cpu);
        if cpu >= self.cpus.len() {
            self.cpus.resize(cpu + 1, Nanos::ZERO);
        }
        self.cpus[cpu] = self.cpus[cpu].max(event.time);
    }

    /// Whether the event, or the clock, has been there before.
    #[cold]
    fn was_there(&mut self, event: &Event) -> bool {
        let numbered = self.numbered();
        let is_held = numbered == Numbered::Not && self.window.holds(event);
        if numbered == Numbered::Not {
            if !self.repeats.is_at(event.time) {
                self.turn();
                self.repeats.clear();
            }
            if self.repeats.take(event, is_held) {
                return true;
            }
        }
        if event.time <= self.window.latest() && self.is_double(event, numbered, is_held) {
            self.notes.doubled += 1;
            return true;
        }
        let (time, last) = (event.time, std::mem::replace(&mut self.last, event.time));
        let longest = &mut self.set_back.longest;
        let is_first = last == Nanos::ZERO;
        if !is_first && time > last && time - last > longest.1 - longest.0 {
            *longest = (last, time);
        }
        let is_back = time.saturating_add(STEP) < last && !(longest.0..longest.1).contains(&time);
        let begins_anew = self.window.is_past(time) && self.firsts.contains(event);
        if begins_anew || is_back && !self.stands_late(event, numbered) {
            let from = if begins_anew { self.window.latest() } else { last };
            self.set_back.until = from.max(self.set_back.until);
            self.doubled.begins_anew |= begins_anew;
        }
        let may_be_late = numbered.is_late() && !self.doubled.begins_anew;
        if time >= self.set_back.until || may_be_late {
            self.doubled.begins_anew &= time < self.set_back.until;
            self.notes.out_of_order += u64::from(time < last);
            return false;
        }
        if self.doubled.begins_anew {
            self.notes.doubled += 1;
        } else {
            self.set_back.events += 1;
            self.set_back.cpus.insert(u32::from(event.cpu));
        }
        true
    }

    /// Whether a line tells the same as one before. (Where they have no numbers, the kernel may tell of two flushes at once in the same
    /// words.)
    fn is_double(&mut self, event: &Event, numbered: Numbered, is_held: bool) -> bool {
        let may_be = match numbered {
            Numbered::Not => event.has_place() || self.doubled.goes_on,
            Numbered::Again | Numbered::Late | Numbered::Reveals | Numbered::SetBack => true,
            // The count may have begun anew.
            Numbered::Ahead => self.doubled.goes_on || event.time < self.window.latest(),
        };
        let is_double = may_be && (is_held || numbered != Numbered::Not && self.window.holds(event));
        if event.has_place() {
            self.doubled.goes_on = is_double;
        }
        is_double
    }

    /// Whether a line stands behind its place, and the clock was not set back: by its number, or if its processor tells of nothing later.
    fn stands_late(&self, event: &Event, numbered: Numbered) -> bool {
        let own = self.cpus.get(usize::from(event.cpu)).copied().unwrap_or_default();
        let is_late = numbered.is_late() || numbered != Numbered::Again && own <= event.time;
        is_late && !self.window.is_past(event.time)
    }

    /// What is known now.
    fn knowledge(&self) -> Told {
        Told {
            lost: self.lost,
            damaged: self.notes.bad_records,
            set_back: self.set_back.events,
            cpus: self.set_back.cpus.clone(),
            seen: if self.ended { u64::MAX } else { self.parser.numbers().map_or(0, RunningNumbers::seen) },
        }
    }
}

impl<P: EventLineParser> EventSource for TextEvents<P> {
    fn next_events(&mut self, batch: &mut Vec<Event>) -> Result<(), TraceError> {
        while !self.ended && !self.window.is_full() {
            if let Err(error) = self.read() {
                (self.failure, self.ended) = (Some(error), true);
            }
            if self.ended {
                let verdict = self.repeats.end();
                self.settle(verdict);
            }
            let told = self.knowledge();
            self.window.end_reading(told);
            if self.firsts.is_empty() {
                self.firsts.extend(self.window.earliest().take(FIRSTS));
            }
        }
        batch.clear();
        if let Some(told) = self.window.give(batch) {
            self.parser.settle(told.seen);
            (self.told, self.begun) = (told, true);
            return Ok(());
        }
        self.told = self.knowledge();
        self.parser.settle(u64::MAX);
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        // Text of which no line is an event, and not all are something else.
        if !std::mem::replace(&mut self.begun, true) {
            return self.notes.nothing_sound().map_or(Ok(()), Err);
        }
        Ok(())
    }

    fn notes(&self) -> Notes {
        self.notes.clone()
    }

    fn loss(&self) -> Loss {
        Loss {
            lost_events: self.told.lost + self.parser.numbers().map_or(0, RunningNumbers::missing),
            damaged_places: self.told.damaged,
            late_cpus: self.parser.numbers().map(RunningNumbers::late_cpus).unwrap_or_default(),
            set_back_cpus: self.told.cpus.iter().copied().collect(),
            set_back_events: self.told.set_back,
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

    /// Times of the events that are read of text with events at these times, in ms, and how many were left out as the clock was set
    /// back, and as they came twice.
    fn read(times: &[u64]) -> (Vec<u64>, [u64; 2], u64) {
        let of_time = |ms: u64, _| ms + 1;
        read_numbered(times, of_time)
    }

    /// The same of events with these numbers, by time and by line.
    fn read_numbered(times: &[u64], number: impl Fn(u64, u64) -> u64) -> (Vec<u64>, [u64; 2], u64) {
        let line = |(line, &ms): (u64, &u64)| {
            let (number, sector) = (number(ms, line), 8 * ms);
            format!("8,16 1 {number} {}.{:03} 7 Q R {sector} + 8 [a]\n", ms / 1000, ms % 1000)
        };
        let file = testing::text_file(&(0..).zip(times).map(line).collect::<String>());
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
        let notes = source.notes();
        (all, [loss.set_back_events, notes.doubled], notes.out_of_order)
    }

    #[test]
    fn text_that_comes_twice_or_whose_clock_is_set_back_is_read_once() {
        let times: Vec<u64> = (0..50).map(|k| 100 * k).collect();
        let twice = [&times[..], &times].concat();
        assert_eq!(read(&twice), (times.clone(), [0, 50], 0));
        // Of an hour after the machine was begun, too.
        let late: Vec<u64> = times.iter().map(|ms| 3_600_000 + ms).collect();
        assert_eq!(read(&[&late[..], &times].concat()), (late.clone(), [50, 0], 0));
        // From 4.9 s back to 2 s, and on from there.
        let back: Vec<u64> = (20..60).map(|k| 100 * k).collect();
        assert_eq!(read(&[&times[..], &back].concat()), ([&times[..], &back[30..]].concat(), [0, 30], 0));
        // The same by numbers that go on: a clock that was set back, and what has happened then is not known.
        let by_line = |_, line| line + 1;
        let set_back: Vec<u64> = back.iter().map(|ms| ms + 50).collect();
        let both = [&times[..], &set_back].concat();
        assert_eq!(read_numbered(&both, by_line), ([&times[..], &set_back[29..]].concat(), [29, 0], 0));
    }

    #[test]
    fn lines_out_of_order_and_some_from_the_future_are_no_clock_that_was_set_back() {
        let times = [0, 100, 50, 900, 200, 300, 9_000_000, 400, 500, 1600, 700, 1700];
        let sorted = |times: &[u64]| {
            let mut sorted = times.to_vec();
            sorted.sort_unstable();
            sorted
        };
        assert_eq!(read(&times), (sorted(&times), [0, 0], 4));
        // As blkparse writes where a processor told when it was begun.
        let times = [0, 100, 9_000_000, 9_000_100, 9_000_200, 150, 300, 1400];
        assert_eq!(read(&times), (sorted(&times), [0, 0], 1));
    }
}
