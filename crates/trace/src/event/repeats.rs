//! Lines without numbers that tell the same at the same instant: one event that is written twice, or two.
//!
//! A clock of whole microseconds stamps two requests of the same sectors alike, and a text may tell of both in the same words. Where
//! each line of a text is there twice, or of a part of it, all lines of many instants in turn come again. So of lines that do the second
//! is another event unless that is so. (A part that is there again as a whole begins at an earlier time, and is told by that.)

use headstack_units::Nanos;

use super::Event;

/// So many instants in turn of which each line comes again are written twice.
const MANY: u32 = 8;

/// How often an event of an instant was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// In this instant for the first time.
    Once,
    /// In this instant more than once.
    Again,
    /// Elsewhere before.
    Before,
}

/// What becomes of lines that came again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They are events of their own.
    Own,
    /// They were written twice.
    Doubled,
    /// Later lines tell.
    Open,
}

/// The lines of an instant, and those that came again shortly before.
#[derive(Debug)]
pub(super) struct Repeats {
    instant: Vec<(Event, Came)>,
    /// Those that came again, as long as it is open what they are.
    pub(super) waiting: Vec<Event>,
    /// Instants in turn of which all lines came again.
    run: u32,
    /// So it is with all instants so far.
    always: bool,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { instant: Vec::new(), waiting: Vec::new(), run: 0, always: true }
    }
}

impl Repeats {
    /// Whether something waits for the end of the instant.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.run > 0 || !self.waiting.is_empty()
    }

    /// Whether the line before was of that instant.
    pub(super) fn is_at(&self, time: Nanos) -> bool {
        self.instant.first().is_some_and(|(event, _)| event.time == time)
    }

    /// Forgets the lines of the instant before.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.always &= self.instant.is_empty();
        self.instant.clear();
    }

    /// Takes the first line of another instant, which was not there before.
    #[inline]
    pub(super) fn begin(&mut self, event: &Event) {
        self.clear();
        self.instant.push((*event, Came::Once));
    }

    /// An instant is over: what becomes of those that wait.
    pub(super) fn end_instant(&mut self) -> Verdict {
        let comes_again = |(_, came): &(Event, Came)| *came != Came::Once;
        let all_again = self.instant.iter().all(comes_again);
        self.always &= all_again;
        let is_doubled = self.run >= MANY;
        self.run = if all_again { self.run.saturating_add(u32::from(!self.instant.is_empty())) } else { 0 };
        self.instant.clear();
        match () {
            () if is_doubled || self.run >= MANY => Verdict::Doubled,
            () if self.run > 0 => Verdict::Open,
            () => Verdict::Own,
        }
    }

    /// The text is over.
    pub(super) fn end(&mut self) -> Verdict {
        match self.end_instant() {
            Verdict::Open if self.always => Verdict::Doubled,
            Verdict::Open => Verdict::Own,
            verdict => verdict,
        }
    }

    /// A line of this instant that was there `before` or not: whether that was in this instant, so that it waits.
    pub(super) fn take(&mut self, event: &Event, before: bool) -> bool {
        let known = self.instant.iter_mut().find(|(other, _)| before && other == event);
        match known {
            Some((_, Came::Before)) => false,
            Some((_, came)) => {
                *came = Came::Again;
                self.waiting.push(*event);
                true
            }
            None => {
                self.instant.push((*event, if before { Came::Before } else { Came::Once }));
                false
            }
        }
    }
}
