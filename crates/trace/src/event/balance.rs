//! Whether begins and ends balance in what was read ahead of a trace.
//!
//! Where each half has its other nothing is missing, however long things wait and however little is known of that. Where ends lack their
//! begin all the time, as those of a processor that tells of nothing, events are missing, though no running number does.

use std::collections::VecDeque;

use super::Event;
use super::pairing::{Alone, Pairing, PairingRule, Survey};
use super::surveys::pair;

/// What all events tell, if each half has its other.
pub(super) fn survey(all: &VecDeque<Vec<Event>>) -> Option<Survey> {
    let (mut pairing, mut ios) = (Pairing::of_all(), Vec::new());
    let begun = all.front()?.first()?.time;
    for batch in all {
        pair(&mut pairing, batch, &mut ios);
    }
    let survey = pairing.beginning(begun);
    // As they will be paired.
    let mut pairing = Pairing::surveyed(PairingRule::Strict, survey.clone());
    for batch in all {
        pair(&mut pairing, batch, &mut ios);
    }
    pairing.finish(&mut ios);
    pairing.has_all().then_some(survey)
}

/// What lacks its other half, if that is so amid the events, too: what was asked for before the trace begins is over in its later half, and what
/// ends behind it was not begun in its earlier half. `whole`: all of the trace was read; `certain`: it is known that events
/// are missing, and numbers tell what.
pub(super) fn lacking(all: &VecDeque<Vec<Event>>, whole: bool, certain: bool) -> Option<Alone> {
    let count: usize = all.iter().map(Vec::len).sum();
    let mut pairing = Pairing::of_all();
    let (mut half, mut half_at) = (pairing.alone(), None);
    for (number, event) in all.iter().flatten().enumerate() {
        pairing.push(event);
        if 2 * number <= count {
            (half, half_at) = (pairing.alone(), Some(event.time));
        }
    }
    let alone = pairing.alone();
    let lacks_ends = !certain && pairing.lacks_ends(half_at.filter(|_| whole));
    (alone.are_many_since(half) || lacks_ends).then_some(alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Action, Marks};
    use headstack_units::Nanos;

    /// Events of 200 requests of ever new places, each queued, dispatched and completed while 20 others are, on one of three processors
    /// in turn; those that `stays` leaves, by number and processor.
    fn events(stays: impl Fn(u64, u64) -> bool) -> VecDeque<Vec<Event>> {
        let actions = [(Action::Queue, 0), (Action::Issue, 15), (Action::Complete, 35)];
        let mut all = Vec::new();
        for (step, (action, later)) in (0..).zip(actions) {
            for request in (0..200).filter(|request| stays(request + later, (request + 2 * step) % 3)) {
                let (time, marks) = (Nanos(1000 * (request + later) + step), Marks::READ);
                let (sector, bytes, cpu) = (8 * request, 4096, ((request + 2 * step) % 3) as u16);
                all.push(Event { time, sector, bytes, pid: 1, device: 7, cpu, action, marks });
            }
        }
        all.sort_by_key(|event| event.time);
        [all].into()
    }

    #[test]
    fn a_trace_that_begins_or_ends_amid_requests_lacks_no_processor() {
        assert!(survey(&events(|_, _| true)).is_some());
        for left in [events(|time, _| time >= 50), events(|time, _| time < 150), events(|_, _| true)] {
            assert!(lacking(&left, true, false).is_none());
        }
        assert!(survey(&events(|time, _| time >= 50)).is_none());
    }

    /// What is queued elsewhere is queued before it is dispatched: a response of the time since the dispatch would be made up.
    #[test]
    fn a_dispatch_without_its_queueing_is_no_balance() {
        let mut left = events(|_, _| true);
        left[0].retain(|event| event.action != Action::Queue || event.sector % 24 != 0);
        assert!(survey(&left).is_none());
    }

    #[test]
    fn a_processor_that_tells_of_nothing_leaves_ends_alone_all_the_time() {
        let left = events(|_, cpu| cpu != 1);
        assert!(lacking(&left, true, false).is_some() && survey(&left).is_none());
    }
}
