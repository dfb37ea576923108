//! I/Os out of a stream of events, with the counts and the table of times on the way.

use super::btt::Btt;
use super::pairing::{Pairing, PairingCounts, PairingRule};
use super::tally::Tally;
use super::{Action, Event, EventSource, Loss};
use crate::{Filter, Io, IoSource, Kind, Notes, TraceError};
use std::collections::BTreeMap;

/// Pairs the events of a source.
pub struct EventIos<S> {
    source: S,
    batch: Vec<Event>,
    pairing: Pairing,
    btt: Btt,
    tally: Tally,
    chosen: Option<Choice>,
    ended: bool,
}

/// A direction or processes that are chosen: pairs and the table of times are of these alone. A completion names whoever was
/// interrupted, so that what was queued tells of whom the events behind it are.
struct Choice {
    filter: Filter,
    /// Of the chosen I/Os; what else pairing counts is of all.
    counts: PairingCounts,
}

impl Choice {
    /// Whether what the event queues, if it does, is one of those that were chosen.
    fn takes(&self, event: &Event) -> bool {
        event.action == Action::Queue && self.filter.takes_asked(event.pid, event.marks.op())
    }

    /// Leaves those that were chosen, and counts them.
    fn retain(&mut self, ios: &mut Vec<Io>) {
        ios.retain(|io| self.filter.takes_io(io));
        for io in ios {
            self.counts.pairs += 1;
            self.counts.flushes += u64::from(io.kind == Kind::Flush);
            self.counts.discards += u64::from(io.kind == Kind::Discard);
            self.counts.undispatched += u64::from(io.request.start.present().is_none());
            self.counts.without_queueing += u64::from(!io.response_known);
        }
    }

    /// What was counted of the chosen ones beside what was of all.
    fn counts(&self, all: &PairingCounts) -> PairingCounts {
        let PairingCounts { pairs, flushes, discards, undispatched, without_queueing, .. } = self.counts;
        PairingCounts { pairs, flushes, discards, undispatched, without_queueing, ..all.clone() }
    }
}

/// What pairing came to.
#[derive(Clone, Debug)]
pub struct PairingSummary {
    /// Counts of events.
    pub tally: Tally,
    /// Counts of pairs and orphans.
    pub counts: PairingCounts,
    /// Times between layers.
    pub btt: Btt,
    /// What is known to be absent.
    pub loss: Loss,
    /// Names of processes.
    pub processes: BTreeMap<u32, String>,
}

impl<S: EventSource> EventIos<S> {
    /// Pairs what `source` gives, by `rule`.
    pub fn new(mut source: S, rule: PairingRule) -> Self {
        let pairing = match source.take_survey() {
            Some(survey) => Pairing::surveyed(rule, survey),
            None => Pairing::new(rule),
        };
        Self {
            source,
            batch: Vec::new(),
            pairing,
            btt: Btt::new(rule),
            tally: Tally::default(),
            chosen: None,
            ended: false,
        }
    }

    /// Only I/Os of the direction and the processes that `filter` chooses; devices and times are chosen among events.
    #[must_use]
    pub fn choosing(self, filter: &Filter) -> Self {
        let chooses = filter.op.is_some() || filter.pids.is_some();
        let chosen = chooses.then(|| Choice { filter: filter.clone(), counts: PairingCounts::default() });
        Self { chosen, ..self }
    }

    /// Where the events come from.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// What it came to so far.
    pub fn summary(&self) -> PairingSummary {
        PairingSummary {
            tally: self.tally.clone(),
            counts: match &self.chosen {
                Some(chosen) => chosen.counts(self.pairing.counts()),
                None => self.pairing.counts().clone(),
            },
            btt: self.btt.table(self.pairing.lacks()),
            loss: self.source.loss(),
            processes: self.source.processes(),
        }
    }
}

impl<S: EventSource> IoSource for EventIos<S> {
    fn next_ios(&mut self, out: &mut Vec<Io>) -> Result<(), TraceError> {
        out.clear();
        while out.is_empty() && !self.ended {
            let read = self.source.next_events(&mut self.batch);
            if self.source.loss().is_certain() {
                self.pairing.events_are_missing();
            }
            for event in &self.batch {
                self.tally.push(event);
                self.pairing.push(event);
                let is_chosen = self.chosen.as_ref().is_none_or(|chosen| chosen.takes(event));
                self.btt.push(event, self.pairing.belief(), is_chosen);
            }
            // What was read before an error is delivered by the next call.
            read?;
            if self.batch.is_empty() {
                self.ended = true;
                self.pairing.finish(out);
            } else {
                self.pairing.drain(out);
            }
            if let Some(chosen) = &mut self.chosen {
                chosen.retain(out);
            }
            self.btt.answer(out);
        }
        Ok(())
    }

    fn notes(&self) -> Notes {
        self.source.notes()
    }

    fn sector_bytes(&self) -> u32 {
        512
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::open_events;
    use crate::{Op, OpenOptions};

    const TWO: &str = "\
8,16 0 1 1.0 7 Q R 8 + 8 [a]
8,16 0 2 1.1 7 G R 8 + 8 [a]
8,16 0 3 1.2 7 D R 8 + 8 [a]
8,16 0 4 1.3 9 Q W 800 + 8 [b]
8,16 0 5 1.4 9 D W 800 + 8 [b]
8,16 1 1 1.5 0 C R 8 + 8 [0]
8,16 1 2 1.7 9 C W 800 + 8 [0]
";

    fn summary(filter: &Filter) -> PairingSummary {
        summary_of(TWO, filter)
    }

    fn summary_of(text: &str, filter: &Filter) -> PairingSummary {
        let file = crate::testing::text_file(text);
        let events = open_events(file.path(), &OpenOptions::default()).unwrap();
        let mut ios = EventIos::new(events, PairingRule::Strict).choosing(filter);
        let mut batch = Vec::new();
        loop {
            ios.next_ios(&mut batch).unwrap();
            if batch.is_empty() {
                return ios.summary();
            }
        }
    }

    /// Though a completion names whoever was interrupted.
    #[test]
    fn pairs_and_times_are_of_the_chosen_process_or_direction() {
        let of_process = Filter { pids: Some([7].into()), ..Filter::default() };
        let of_reads = Filter { op: Some(Op::Read), ..Filter::default() };
        for filter in [of_process, of_reads] {
            let chosen = summary(&filter);
            let longest: Vec<_> =
                chosen.btt.rows().map(|(_, row)| (row.count, row.max.0 / 1_000_000)).collect();
            assert_eq!((chosen.counts.pairs, chosen.tally.entries), (1, 7));
            assert_eq!((longest[1], longest[7]), ((1, 100), (1, 500)));
        }
        assert_eq!(summary(&Filter::default()).counts.pairs, 2);
    }

    /// The kernel marks a flush as no write.
    #[test]
    fn flushes_and_discards_go_with_writes_and_other_commands_with_neither() {
        const COMMANDS: &str = "\
8,16 0 1 2.0 7 Q FWS [a]
8,16 0 2 2.1 7 D FN [a]
8,16 0 3 2.2 0 C FN 0 [0]
8,16 0 4 2.3 7 Q DS 4096 + 64 [a]
8,16 0 5 2.4 7 D DS 4096 + 64 [a]
8,16 0 6 2.5 0 C DS 4096 + 64 [0]
8,16 0 7 2.6 7 D R 512 (85 08 2e 00) [smartctl]
8,16 0 8 2.7 0 C R (85 08 2e 00) [0]
";
        let counted = |op| {
            let counts = summary_of(&format!("{TWO}{COMMANDS}"), &Filter { op, ..Filter::default() }).counts;
            (counts.pairs, counts.flushes, counts.discards)
        };
        assert_eq!(counted(None), (5, 1, 1));
        assert_eq!(counted(Some(Op::Read)), (1, 0, 0));
        assert_eq!(counted(Some(Op::Write)), (3, 1, 1));
    }

    /// What was queued before the trace begins waited for longer than from its dispatch on.
    #[test]
    fn a_dispatch_that_was_queued_before_the_trace_begins_has_no_response() {
        let dispatches = "8,16 0 1 0.1 7 D R 64 + 8 [a]\n8,16 1 1 0.2 0 C R 64 + 8 [0]\n";
        let counts = summary_of(&format!("{dispatches}{TWO}"), &Filter::default()).counts;
        assert_eq!((counts.pairs, counts.without_queueing), (3, 1));
        // Where no queueing is traced, all is told from the dispatch on.
        let counts = summary_of(dispatches, &Filter::default()).counts;
        assert_eq!((counts.pairs, counts.without_queueing), (1, 0));
    }
}
