//! Running numbers of events in text: which of them are missing, and what they say of a line.

use std::collections::{BTreeMap, VecDeque};

/// So far behind the highest number an event that was not missing may come; one further back begins a new count.
const LATE: u64 = 1 << 12;

/// So far before the first number of a count an earlier one may come.
const EARLY: u64 = 1 << 14;

/// Of so many steps all but one go to the next number; otherwise a filter took events out, and the numbers tell nothing.
const DENSE: u64 = 4;

/// What the number of a line says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Numbered {
    /// Nothing: it has none.
    #[default]
    Not,
    /// It lies behind all before, though perhaps not next to them.
    Ahead,
    /// It was missing until now, or lies before the first.
    Late,
    /// It, or one far before, was there already.
    Again,
}

/// Numbers that were passed over, from … to …, by the event that was the `seen`th of all.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u64,
    to: u64,
    seen: u64,
}

/// The running numbers of one processor on one device.
#[derive(Clone, Debug, Default)]
struct Numbers {
    first: u64,
    highest: u64,
    steps: u64,
    /// What is passed over so far and may come late yet, in order.
    gaps: VecDeque<Gap>,
    /// Steps over what did not come.
    jumps: u64,
    missing: u64,
}

impl Numbers {
    fn from(first: u64) -> Self {
        Self { first, highest: first - 1, ..Self::default() }
    }

    #[inline]
    fn follow(&mut self, number: u64, seen: u64) -> Numbered {
        self.steps += 1;
        if number == self.highest + 1 {
            self.highest = number;
            return Numbered::Ahead;
        }
        self.follow_slowly(number, seen)
    }

    #[cold]
    fn follow_slowly(&mut self, number: u64, seen: u64) -> Numbered {
        if number > self.highest {
            self.gaps.push_back(Gap { from: self.highest + 1, to: number - 1, seen });
            self.highest = number;
            return Numbered::Ahead;
        }
        if self.fill(number) || (number < self.first && self.first - number < EARLY) {
            return Numbered::Late;
        }
        self.steps -= 1;
        if self.highest - number >= LATE {
            self.settle(u64::MAX);
            (self.first, self.highest) = (number, number);
        }
        Numbered::Again
    }

    /// Whether the number was passed over before; it is no longer.
    fn fill(&mut self, number: u64) -> bool {
        let at = self.gaps.partition_point(|gap| gap.to < number);
        let Some(gap) = self.gaps.get(at).copied().filter(|gap| gap.from <= number) else { return false };
        self.gaps.remove(at);
        for (from, to) in [(number + 1, gap.to), (gap.from, number - 1)] {
            if from <= to {
                self.gaps.insert(at, Gap { from, to, ..gap });
            }
        }
        true
    }

    /// What was passed over by one of the first `seen` events is missing.
    fn settle(&mut self, seen: u64) {
        while let Some(gap) = self.gaps.front().copied().filter(|gap| gap.seen <= seen) {
            self.gaps.pop_front();
            self.jumps += 1;
            self.missing += gap.to - gap.from + 1;
        }
    }

    fn is_dense(&self) -> bool {
        (self.jumps + self.gaps.len() as u64) * DENSE < self.steps
    }
}

/// The running numbers of a trace: the kernel counts on each processor, for each device.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunningNumbers {
    all: Vec<Numbers>,
    /// Where those of a device and a processor are.
    places: BTreeMap<(u32, u16), u32>,
    /// The device that each processor had last, and where its numbers are: mostly the next is the same.
    present: Vec<Option<(u32, u32)>>,
    seen: u64,
    last: Numbered,
}

impl RunningNumbers {
    /// Takes the number of the next event; messages have 0.
    #[inline]
    pub(super) fn follow(&mut self, device: u32, cpu: u16, number: u64) {
        self.seen += 1;
        if number == 0 {
            self.last = Numbered::Not;
            return;
        }
        let place = match self.present.get(usize::from(cpu)) {
            Some(&Some((present, place))) if present == device => place,
            _ => self.turn(device, cpu, number),
        };
        self.last = self.all[place as usize].follow(number, self.seen);
    }

    /// What the number taken last says of its event.
    pub(super) fn last(&self) -> Numbered {
        self.last
    }

    /// How many events were taken.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// What was passed over by one of the first `seen` events, and did not come since, is missing.
    pub(super) fn settle(&mut self, seen: u64) {
        self.all.iter_mut().for_each(|numbers| numbers.settle(seen));
    }

    /// A processor turns to another device: where its numbers are.
    #[cold]
    fn turn(&mut self, device: u32, cpu: u16, number: u64) -> u32 {
        let next = self.all.len() as u32;
        let place = *self.places.entry((device, cpu)).or_insert(next);
        if place == next {
            self.all.push(Numbers::from(number));
        }
        let at = usize::from(cpu);
        if self.present.len() <= at {
            self.present.resize(at + 1, None);
        }
        self.present[at] = Some((device, place));
        place
    }

    /// How many numbers are missing, of those that can come late no longer.
    pub(super) fn missing(&self) -> u64 {
        self.all.iter().filter(|numbers| numbers.is_dense()).map(|numbers| numbers.missing).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(numbers: impl IntoIterator<Item = u64>) -> u64 {
        let mut all = RunningNumbers::default();
        numbers.into_iter().for_each(|number| all.follow(7, 0, number));
        all.settle(u64::MAX);
        all.missing()
    }

    #[test]
    fn numbers_passed_over_are_missing() {
        assert_eq!(missing(5..50), 0);
        assert_eq!(missing((5..50).chain(350..400)), 300);
        // Out of order, none is.
        assert_eq!(missing((1..20).chain([22, 21, 20]).chain(23..40)), 0);
        // Of each processor and device by itself; a second trace behind the first begins anew.
        let mut all = RunningNumbers::default();
        for number in 1..50 {
            for (device, cpu) in [(7, 0), (7, 1), (8, 0)] {
                all.follow(device, cpu, number);
            }
        }
        all.settle(u64::MAX);
        assert_eq!(all.missing(), 0);
        assert_eq!(missing((1..9000).chain(1..9000)), 0);
    }

    /// What is missing is found on each of many devices and processors, the last that there may be among them, and what is kept of
    /// them is small.
    #[test]
    fn each_of_many_devices_and_processors_keeps_its_own_numbers() {
        let mut all = RunningNumbers::default();
        for number in (1..40).chain(45..80) {
            for device in 0..3000 {
                all.follow(device, if device % 2 == 0 { u16::MAX } else { 3 }, number);
            }
        }
        all.settle(u64::MAX);
        assert_eq!(all.missing(), 3000 * 5);
        assert_eq!((all.all.len(), all.present.len()), (3000, 1 << 16));
        assert!(size_of_val(&all.present[..]) < 1 << 20);
    }

    #[test]
    fn where_most_numbers_are_passed_over_somebody_chose_events() {
        assert_eq!(missing((0..100).map(|k| 3 * k)), 0);
        assert_eq!(missing([0, 0, 5, 0, 0, 0]), 0);
        assert_eq!(missing([7; 50]), 0);
    }

    #[test]
    fn what_may_come_late_is_not_missing_yet() {
        let mut all = RunningNumbers::default();
        let mut take = |number| {
            all.follow(7, 0, number);
            all.last()
        };
        let said = [4, 5, 9, 3, 7, 7, 6, 12, 0].map(&mut take);
        assert_eq!(
            said,
            [
                Numbered::Ahead,
                Numbered::Ahead,
                Numbered::Ahead,
                Numbered::Late,
                Numbered::Late,
                Numbered::Again,
                Numbered::Late,
                Numbered::Ahead,
                Numbered::Not
            ]
        );
        (13..40).for_each(|number| all.follow(7, 0, number));
        // 8 was passed over by the third event, 10 and 11 by the eighth.
        let missing = [2, 3, 7, 8].map(|seen| {
            all.settle(seen);
            all.missing()
        });
        assert_eq!(missing, [0, 1, 1, 3]);
    }
}
