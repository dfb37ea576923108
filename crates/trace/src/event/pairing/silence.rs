//! Silences: stretches in which a processor's recorder tells nothing for far longer than it usually does.
//!
//! A buffer that overruns loses a run of events, and leaves a silence; so does a device that pauses. Only what comes
//! behind a silence tells which it was ([`super::holes`]).

use std::collections::BTreeMap;

use headstack_units::Nanos;

use crate::event::Event;

/// Gaps from which on it is known what is usual, and between two looks for it.
const KNOWN: u32 = 64;

/// Gaps after which older ones count half.
const FORGET: u32 = 1 << 12;

/// One gap in so many is longer than usual.
const SHARE: u32 = 128;

/// A silence is so many times as long as a usual gap, as a power of two.
const FAR: u32 = 1;

/// The gaps between the events of one processor, by powers of two.
#[derive(Clone, Debug)]
struct Recorder {
    last: Nanos,
    gaps: [u32; 64],
    count: u32,
    /// A longer gap is a silence.
    limit: Nanos,
}

impl Recorder {
    fn new(first: Nanos) -> Self {
        Self { last: first, gaps: [0; 64], count: 0, limit: Nanos::MAX }
    }

    /// The silence that `now` ends: since when.
    #[inline]
    fn hear(&mut self, now: Nanos) -> Option<Nanos> {
        let (since, gap) = (self.last, now.saturating_sub(self.last));
        let silent = gap > self.limit;
        self.last = since.max(now);
        self.gaps[(gap.0 | 1).ilog2() as usize] += 1;
        self.count += 1;
        if self.count.is_multiple_of(KNOWN) {
            self.look();
        }
        silent.then_some(since)
    }

    fn look(&mut self) {
        let mut longer = 0;
        let usual = self.gaps.iter().rposition(|&count| {
            longer += count;
            longer > self.count / SHARE
        });
        let limit = 1_u128 << (usual.unwrap_or(0) as u32 + 1 + FAR);
        self.limit = Nanos(u64::try_from(limit).unwrap_or(u64::MAX));
        if self.count >= FORGET {
            self.gaps.iter_mut().for_each(|count| *count /= 2);
            self.count = self.gaps.iter().sum::<u32>() / KNOWN * KNOWN;
        }
    }
}

/// The silences of all processors.
#[derive(Clone, Debug, Default)]
pub(super) struct Silences {
    recorders: BTreeMap<u16, Recorder>,
    ended: Option<Nanos>,
}

impl Silences {
    /// Takes the next event. If a silence of its processor ends with it: since when that was silent.
    #[inline]
    pub(super) fn hear(&mut self, event: &Event) -> Option<Nanos> {
        let recorder = self.recorders.entry(event.cpu).or_insert_with(|| Recorder::new(event.time));
        let since = recorder.hear(event.time)?;
        self.ended = self.ended.max(Some(event.time));
        Some(since)
    }

    /// When the latest one ended.
    pub(super) fn ended(&self) -> Option<Nanos> {
        self.ended
    }

    /// The same, if one processor tells all: then nothing happened unseen meanwhile.
    pub(super) fn ended_everywhere(&self) -> Option<Nanos> {
        self.ended.filter(|_| self.recorders.len() == 1)
    }

    /// Whether one ended since `begun`.
    #[inline]
    pub(super) fn lie_behind(&self, begun: Nanos) -> bool {
        self.ended.is_some_and(|ended| begun < ended)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::event;
    use super::*;
    use crate::event::Action;

    /// Events every 10 to 13 ns, then one after `gap`: since when it was silent.
    fn after(events: u64, gap: u64) -> Option<u64> {
        let mut silences = Silences::default();
        let mut now = 1000;
        for k in 0..events {
            now += 10 + k % 4;
            assert_eq!(silences.hear(&event(now, Action::Plug, 0, 0, "N")), None);
        }
        let since = silences.hear(&event(now + gap, Action::Plug, 0, 0, "N"));
        assert_eq!(silences.ended(), since.map(|_| Nanos(now + gap)));
        since.map(|since| now - since.0)
    }

    #[test]
    fn a_silence_is_far_longer_than_usual_gaps() {
        assert_eq!(after(1000, 32), None);
        assert_eq!(after(1000, 33), Some(0));
        // As long as the usual gap is not known there is none.
        assert_eq!(after(u64::from(KNOWN) - 1, 1_000_000), None);
        assert_eq!(after(u64::from(KNOWN), 1_000_000), Some(0));
    }

    #[test]
    fn gaps_that_come_often_are_no_silences() {
        let mut silences = Silences::default();
        let mut now = 0;
        let heard = (0..5000).filter(|k| {
            now += if k % 100 == 0 { 1_000_000 } else { 10 };
            silences.hear(&event(now, Action::Plug, 0, 0, "N")).is_some() && *k > 1000
        });
        assert_eq!(heard.count(), 0);
    }

    #[test]
    fn each_processor_has_its_own() {
        let mut silences = Silences::default();
        let on = |cpu, time| Event { cpu, ..event(time, Action::Plug, 0, 0, "N") };
        for time in 0..200 {
            assert_eq!(silences.hear(&on(0, 10 * time)), None);
            assert_eq!(silences.hear(&on(1, 10 * time)), None);
        }
        for time in 200..400 {
            assert_eq!(silences.hear(&on(1, 10 * time)), None);
        }
        assert_eq!(silences.hear(&on(0, 4000)), Some(Nanos(1990)));
        assert_eq!((silences.ended(), silences.ended_everywhere()), (Some(Nanos(4000)), None));
        assert!(silences.lie_behind(Nanos(3999)) && !silences.lie_behind(Nanos(4000)));
    }
}
