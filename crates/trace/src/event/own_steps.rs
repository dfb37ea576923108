//! What processors that serve what they queue themselves had begun when they told their last event, and did not end.

use std::collections::{BTreeMap, VecDeque};

use headstack_units::Nanos;

use super::pairing::LostEnd;
use super::{Action, Event, Side};

/// Of so many places and processors it is known at once what is open.
const MOST: usize = 1 << 16;

/// Device, first sector, what is done to it, and the processor that began it.
type Place = (u32, u64, Side, u16);

/// When what waits, and what is at the device, began to.
type Open = [VecDeque<Nanos>; 2];

/// What is open of each place, by the processor that began it. A step goes on with what its own processor began first, if there is
/// something, or else with what any did.
#[derive(Debug, Default)]
pub(super) struct OwnSteps {
    open: BTreeMap<Place, Open>,
    /// Whether queueing is traced.
    queues: bool,
    /// Steps that went on with what another processor began.
    pub(super) strays: u64,
}

impl OwnSteps {
    pub(super) fn push(&mut self, event: &Event) {
        if event.bytes == 0 {
            return;
        }
        if self.open.len() > MOST {
            self.open.clear();
        }
        let place = (event.device, event.sector, event.marks.side(), event.cpu);
        match event.action {
            Action::Queue => {
                self.queues = true;
                self.begin(place, 0, event.time);
            }
            Action::Issue => {
                // Drivers that complete other sectors than they were given dispatch what nobody asked for.
                let is_asked_for = self.go_on(place, 0);
                if is_asked_for || !self.queues {
                    self.begin(place, 1, event.time);
                }
            }
            Action::Complete => _ = self.go_on(place, 1) || self.go_on(place, 0),
            Action::BackMerge | Action::FrontMerge => _ = self.take(place, 0, VecDeque::pop_back),
            _ => {}
        }
    }

    fn begin(&mut self, place: Place, step: usize, now: Nanos) {
        self.open.entry(place).or_default()[step].push_back(now);
    }

    /// A step of a place goes on with what is open there: whether there is something.
    fn go_on(&mut self, place: Place, step: usize) -> bool {
        if self.take(place, step, VecDeque::pop_front) {
            return true;
        }
        let (device, sector, side, _) = place;
        let there = self.open.range((device, sector, side, 0)..=(device, sector, side, u16::MAX));
        let first = there.filter_map(|(place, open)| Some((*open[step].front()?, *place))).min();
        let Some((_, other)) = first else { return false };
        self.strays += 1;
        self.take(other, step, VecDeque::pop_front)
    }

    fn take(&mut self, place: Place, step: usize, pop: fn(&mut VecDeque<Nanos>) -> Option<Nanos>) -> bool {
        let Some(open) = self.open.get_mut(&place) else { return false };
        let is_taken = pop(&mut open[step]).is_some();
        if open.iter().all(VecDeque::is_empty) {
            self.open.remove(&place);
        }
        is_taken
    }

    /// What a processor had begun that told its last event then.
    pub(super) fn left_by(&self, cpu: u16, at: Nanos) -> impl Iterator<Item = LostEnd> {
        let left = self.open.iter().filter(move |(place, _)| place.3 == cpu);
        left.flat_map(move |(&(device, sector, side, _), [waiting, inside])| {
            let key = (device, sector, side);
            let waits = waiting.iter().map(move |&begun| LostEnd { cpu, at, key, begun, is_inside: false });
            waits.chain(inside.iter().map(move |&begun| LostEnd { cpu, at, key, begun, is_inside: true }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Marks;

    /// Events of one place, each with its processor; what processor 1 leaves: when that began, and whether it is at the device; and how
    /// many steps went on with what another began.
    fn left(events: &[(Action, u16)]) -> (Vec<(u64, bool)>, u64) {
        let mut steps = OwnSteps::default();
        for (&(action, cpu), time) in events.iter().zip(1..) {
            let (time, marks) = (Nanos(time), Marks::READ);
            steps.push(&Event { time, sector: 8, bytes: 4096, pid: 1, device: 7, cpu, action, marks });
        }
        let left = steps.left_by(1, Nanos(9)).map(|lost| (lost.begun.0, lost.is_inside));
        (left.collect(), steps.strays)
    }

    use Action::{BackMerge, Complete, Issue, Queue};

    #[test]
    fn what_a_processor_began_and_did_not_end_is_left() {
        let both = [(Queue, 1), (Queue, 2), (Issue, 1), (Issue, 2)];
        let then = |rest: &[(Action, u16)]| left(&[&both, rest].concat());
        assert_eq!(then(&[(Complete, 2)]), (vec![(3, true)], 0));
        assert_eq!(then(&[(Complete, 2), (Queue, 1)]), (vec![(6, false), (3, true)], 0));
        assert_eq!(then(&[(Complete, 2), (Complete, 1), (Queue, 1), (BackMerge, 1)]), (vec![], 0));
    }

    #[test]
    fn what_goes_on_elsewhere_is_not_left() {
        assert_eq!(left(&[(Queue, 1), (Issue, 2), (Complete, 3)]), (vec![], 2));
        // A device that dispatches nothing.
        assert_eq!(left(&[(Queue, 1), (Queue, 2), (Complete, 2), (Complete, 3)]), (vec![], 1));
        // A driver that dispatches what nobody asked for.
        assert_eq!(left(&[(Queue, 2), (Issue, 2), (Issue, 1)]), (vec![], 0));
    }
}
