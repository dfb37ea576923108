//! What a trace of events that is read once before tells of losses.

use super::cuts::{Cut, Cuts};
use super::pairing::{Longest, LostEnd, Pairing, PairingRule, Survey};
use super::{Event, EventReader, EventSource as _};
use crate::Io;

/// Reads events as far as they go, for what they tell of losses, of which it is known that there are some, or not.
pub(super) fn survey(mut events: EventReader, are_missing: bool, lost_ends: Vec<LostEnd>) -> Survey {
    let (mut batch, mut ios) = (Vec::new(), Vec::new());
    let mut pairing = Pairing::new(PairingRule::Strict).ending_without(lost_ends);
    if are_missing {
        pairing.events_are_missing();
    }
    while events.next_events(&mut batch).is_ok() && !batch.is_empty() {
        pair(&mut pairing, &batch, &mut ios);
    }
    pairing.survey(true).beginning_late(events.source.loss().late_cpus)
}

/// The same, with all events read.
pub(super) fn read_through(mut events: EventReader) -> EventReader {
    let mut batch = Vec::new();
    while events.next_events(&mut batch).is_ok() && !batch.is_empty() {}
    events
}

/// Pairs a batch, and keeps nothing of it.
pub(super) fn pair(pairing: &mut Pairing, batch: &[Event], ios: &mut Vec<Io>) {
    for event in batch {
        pairing.push(event);
    }
    pairing.drain(ios);
    ios.clear();
}

/// What all of a trace tells of processors that tell nothing at its end.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Where their ends were lost.
    pub(super) cut: Option<Cut>,
    /// What lost its end with them, where they serve their own requests; the last first.
    pub(super) lost_ends: Vec<LostEnd>,
    /// Whether losses were noticed, there or before.
    pub(super) is_lossy: bool,
}

/// Looks for the ends of these processors.
pub(super) fn find_cut(mut events: EventReader, silent: &[u32]) -> Looked {
    let (mut batch, mut ios) = (Vec::new(), Vec::new());
    let (mut pairing, mut cuts) = (Pairing::new(PairingRule::Strict), Cuts::new(silent));
    while events.next_events(&mut batch).is_ok() && !batch.is_empty() {
        for event in &batch {
            pairing.push(event);
            cuts.push(event, pairing.unbegun());
        }
        pairing.drain(&mut ios);
        ios.clear();
    }
    Looked { cut: cuts.cut(), lost_ends: cuts.lost_ends(), is_lossy: pairing.is_lossy() }
}

/// What the first so many events tell, if none of them are missing.
pub(super) fn survey_before(mut events: EventReader, count: u64) -> Option<Survey> {
    events.until_cut = count;
    let (mut batch, mut ios) = (Vec::new(), Vec::new());
    let mut pairing = Pairing::new(PairingRule::Strict);
    let (mut begun, mut longest) = (None, Longest::default());
    while events.until_cut > 0 && events.next_events(&mut batch).is_ok() && !batch.is_empty() {
        begun = begun.or(batch.first().map(|event| event.time));
        for event in &batch {
            pairing.push(event);
        }
        pairing.drain(&mut ios);
        ios.drain(..).for_each(|io| longest.push(&io));
    }
    if events.loss().is_certain() {
        return None;
    }
    let before = pairing.before_cut(begun?, longest)?;
    while events.next_events(&mut batch).is_ok() && !batch.is_empty() {
        pair(&mut pairing, &batch, &mut ios);
    }
    Some(pairing.behind_cut(before))
}
