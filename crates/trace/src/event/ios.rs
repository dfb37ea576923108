//! I/Os out of a stream of events, with the counts and the table of times on the way.

use super::btt::Btt;
use super::pairing::{Pairing, PairingCounts, PairingRule};
use super::tally::Tally;
use super::{Event, EventSource, Loss};
use crate::{Io, IoSource, Notes, TraceError};
use std::collections::BTreeMap;

/// Pairs the events of a source.
pub struct EventIos<S> {
    source: S,
    batch: Vec<Event>,
    pairing: Pairing,
    btt: Btt,
    tally: Tally,
    ended: bool,
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
            btt: Btt::default(),
            tally: Tally::default(),
            ended: false,
        }
    }

    /// Where the events come from.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// What it came to so far.
    pub fn summary(&self) -> PairingSummary {
        PairingSummary {
            tally: self.tally.clone(),
            counts: self.pairing.counts().clone(),
            btt: self.btt.clone(),
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
                self.btt.push(event, self.pairing.believed_since());
            }
            // What was read before an error is delivered by the next call.
            read?;
            if self.batch.is_empty() {
                self.ended = true;
                self.pairing.finish(out);
            } else {
                self.pairing.drain(out);
            }
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
