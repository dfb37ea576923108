//! Running numbers of events in text: which of them are missing, and what they say of a line.

use std::collections::{BTreeMap, VecDeque};

use headstack_units::Nanos;

/// So far behind the highest number an event that was not missing may come; one further back begins a new count.
const LATE: u64 = 1 << 12;

/// So far before the first number of a count an earlier one may come.
const EARLY: u64 = 1 << 14;

/// Of so many steps all but one go to the next number; otherwise a filter took events out, and the numbers tell nothing.
const DENSE: u64 = 4;

/// A processor's clock that goes another way than its numbers by more was set back, …
const STEP: Nanos = Nanos(100_000);

/// … or, where it goes back by more, some lines stand elsewhere, or are of another run: the lines tell.
const MOST_STEP: Nanos = Nanos(1_000_000_000);

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
    /// The same, and it tells that the processor's clock was set back: events of higher numbers that were taken before it are
    /// wrong ([`RunningNumbers::wrong`]).
    Reveals,
    /// It, or one far before, was there already.
    Again,
    /// The processor's clock was set back before, by numbers that go another way: when it was is not known.
    SetBack,
}

impl Numbered {
    /// Whether it was missing until now, or lies before the first.
    pub(crate) fn is_late(self) -> bool {
        matches!(self, Self::Late | Self::Reveals)
    }
}

/// Events of a processor, from an instant on, that were taken before its clock was seen to be set back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) device: u32,
    pub(crate) cpu: u16,
    pub(crate) since: Nanos,
}

/// Numbers that were passed over, from … to …, by the event that was the `seen`th of all.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u64,
    to: u64,
    seen: u64,
    /// When the event was of the number behind them.
    until: Nanos,
}

/// The running numbers of one processor on one device.
#[derive(Clone, Debug, Default)]
struct Numbers {
    /// The lowest number, and by how many events of all it was known that none is lower.
    first: u64,
    first_seen: u64,
    first_time: Nanos,
    highest: u64,
    /// When the event of the highest number was.
    time: Nanos,
    /// The number from which on the clock was set back, and when its event says that it was.
    set_back: Option<(u64, Nanos)>,
    steps: u64,
    /// What is passed over so far and may come late yet, in order.
    gaps: VecDeque<Gap>,
    /// Steps over what did not come.
    jumps: u64,
    missing: u64,
}

impl Numbers {
    fn from(first: u64, first_seen: u64, first_time: Nanos) -> Self {
        Self { first, first_seen, first_time, highest: first - 1, ..Self::default() }
    }

    #[inline]
    fn follow(&mut self, number: u64, time: Nanos, seen: u64) -> Numbered {
        self.steps += 1;
        if number == self.highest + 1 && time >= self.time && self.set_back.is_none() {
            (self.highest, self.time) = (number, time);
            return Numbered::Ahead;
        }
        let numbered = self.follow_slowly(number, time, seen);
        let is_behind = self.set_back.is_some_and(|(from, _)| number >= from);
        if is_behind && numbered != Numbered::Again { Numbered::SetBack } else { numbered }
    }

    #[cold]
    fn follow_slowly(&mut self, number: u64, time: Nanos, seen: u64) -> Numbered {
        if number > self.highest {
            let back = self.time.saturating_sub(time);
            if back > STEP && back <= MOST_STEP {
                self.set_back.get_or_insert((number, time));
            }
            if number > self.highest + 1 {
                self.gaps.push_back(Gap { from: self.highest + 1, to: number - 1, seen, until: time });
            }
            (self.highest, self.time) = (number, time);
            return Numbered::Ahead;
        }
        if let Some(next) = self.next_after(number, time, seen) {
            return self.reveals(next, time);
        }
        self.steps -= 1;
        if self.highest - number >= LATE {
            self.settle(u64::MAX);
            (self.first, self.highest, self.time) = (number, number, time);
        }
        Numbered::Again
    }

    /// The next number behind one that was missing or lies before the first, and when its event was.
    fn next_after(&mut self, number: u64, time: Nanos, seen: u64) -> Option<(u64, Nanos)> {
        let is_early = number < self.first && self.first - number < EARLY;
        if !is_early {
            return self.fill(number, time);
        }
        let next = (self.first, self.first_time);
        if number + 1 < self.first {
            self.gaps.push_front(Gap { from: number + 1, to: self.first - 1, seen, until: self.first_time });
        }
        (self.first, self.first_seen, self.first_time) = (number, seen, time);
        Some(next)
    }

    /// What an event that comes late tells, of which the next number came before: if lines are in order of time, the clock was set back at
    /// the latest there.
    fn reveals(&mut self, next: (u64, Nanos), time: Nanos) -> Numbered {
        let ahead = time.saturating_sub(self.time);
        if self.set_back.is_some() || ahead <= STEP || ahead > MOST_STEP {
            return Numbered::Late;
        }
        self.set_back = Some(next);
        Numbered::Reveals
    }

    /// The next number that came, and when, if this one was passed over before; it is no longer.
    fn fill(&mut self, number: u64, time: Nanos) -> Option<(u64, Nanos)> {
        let at = self.gaps.partition_point(|gap| gap.to < number);
        let gap = self.gaps.get(at).copied().filter(|gap| gap.from <= number)?;
        self.gaps.remove(at);
        for (from, to, until) in [(number + 1, gap.to, gap.until), (gap.from, number - 1, time)] {
            if from <= to {
                self.gaps.insert(at, Gap { from, to, until, ..gap });
            }
        }
        Some((gap.to + 1, gap.until))
    }

    /// What was passed over by one of the first `seen` events is missing.
    fn settle(&mut self, seen: u64) {
        while let Some(gap) = self.gaps.front().copied().filter(|gap| gap.seen <= seen) {
            self.gaps.pop_front();
            self.jumps += 1;
            self.missing += gap.to - gap.from + 1;
        }
    }

    /// How many are missing, of those that can come late no longer: those passed over and, where the trace `is_whole` at its beginning,
    /// those before the first.
    fn missing(&self, is_whole: bool, settled: u64) -> u64 {
        let lacks_front = is_whole && self.first_seen <= settled;
        self.missing + if lacks_front { self.first - 1 } else { 0 }
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
    /// What was missing after so many comes no longer.
    settled: u64,
    last: Numbered,
    wrong: Wrong,
}

impl RunningNumbers {
    /// Takes the number of the next event; messages have 0.
    #[inline]
    pub(super) fn follow(&mut self, device: u32, cpu: u16, number: u64, time: Nanos) {
        self.seen += 1;
        if number == 0 {
            self.last = Numbered::Not;
            return;
        }
        let place = match self.present.get(usize::from(cpu)) {
            Some(&Some((present, place))) if present == device => place,
            _ => self.turn(device, cpu, number, time),
        };
        self.last = self.all[place as usize].follow(number, time, self.seen);
        if self.last == Numbered::Reveals {
            let since = self.all[place as usize].set_back.map_or(time, |(_, since)| since);
            self.wrong = Wrong { device, cpu, since };
        }
    }

    /// What the number taken last reveals to be wrong.
    pub(super) fn wrong(&self) -> Wrong {
        self.wrong
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
        self.settled = self.settled.max(seen);
        self.all.iter_mut().for_each(|numbers| numbers.settle(seen));
    }

    /// A processor turns to another device: where its numbers are.
    #[cold]
    fn turn(&mut self, device: u32, cpu: u16, number: u64, time: Nanos) -> u32 {
        let next = self.all.len() as u32;
        let place = *self.places.entry((device, cpu)).or_insert(next);
        if place == next {
            self.all.push(Numbers::from(number, self.seen, time));
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
        let sum_of = |(&(device, _), &place): (&(u32, u16), &u32)| {
            let numbers = &self.all[place as usize];
            if numbers.is_dense() { numbers.missing(self.is_whole(device), self.settled) } else { 0 }
        };
        self.places.iter().map(sum_of).sum()
    }

    /// Processors that have lost what they counted before their first event.
    pub(super) fn late_cpus(&self) -> Vec<u32> {
        let is_late = |&(place, at): &(&(u32, u16), &u32)| {
            let numbers = &self.all[*at as usize];
            numbers.missing(self.is_whole(place.0), self.settled) > numbers.missing && numbers.is_dense()
        };
        let mut cpus: Vec<u32> =
            self.places.iter().filter(is_late).map(|(place, _)| u32::from(place.1)).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// Whether the processor of a device that was the first to tell began to count then: nothing was cut off before.
    fn is_whole(&self, device: u32) -> bool {
        let of_device = self.places.range((device, 0)..=(device, u16::MAX)).map(|(_, &place)| place);
        of_device.min().is_some_and(|place| self.all[place as usize].first == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(numbers: impl IntoIterator<Item = u64>) -> u64 {
        let mut all = RunningNumbers::default();
        (0..).zip(numbers).for_each(|(time, number)| all.follow(7, 0, number, Nanos(time)));
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
                all.follow(device, cpu, number, Nanos(number));
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
                all.follow(device, if device % 2 == 0 { u16::MAX } else { 3 }, number, Nanos(number));
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
            all.follow(7, 0, number, Nanos(number));
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
        (13..40).for_each(|number| all.follow(7, 0, number, Nanos(number)));
        // 8 was passed over by the third event, 10 and 11 by the eighth.
        let missing = [2, 3, 7, 8].map(|seen| {
            all.settle(seen);
            all.missing()
        });
        assert_eq!(missing, [0, 1, 1, 3]);
    }

    /// A processor that was not recorded at first was taken for one that had told nothing yet.
    #[test]
    fn of_a_processor_that_begins_late_what_it_counted_before_is_missing() {
        let missing = |first: u64, late: u64| {
            let mut all = RunningNumbers::default();
            (first..50).for_each(|number| all.follow(7, 0, number, Nanos(number)));
            (late..late + 50).for_each(|number| all.follow(7, 1, number, Nanos(100 + number)));
            all.follow(8, 1, 3, Nanos(1000));
            all.settle(u64::MAX);
            (all.missing(), all.late_cpus())
        };
        assert_eq!(missing(1, 830), (829, vec![1]));
        assert_eq!(missing(1, 1), (0, vec![]));
        // The text was cut at its beginning.
        assert_eq!(missing(20, 830), (0, vec![]));
    }

    /// It was believed, and responses were as much too long as the clock was set back.
    #[test]
    fn numbers_and_times_that_go_different_ways_tell_of_a_clock_that_was_set_back() {
        use Numbered::{Again, Ahead, Late, Reveals, SetBack};
        let said = |events: &[(u64, u64)]| {
            let mut all = RunningNumbers::default();
            let take = |&(number, ms): &(u64, u64)| {
                all.follow(7, 0, number, Nanos(1_000_000 * ms));
                all.last()
            };
            events.iter().map(take).collect::<Vec<_>>()
        };
        // By number, and by time.
        assert_eq!(
            said(&[(1, 10), (2, 20), (3, 12), (4, 30), (2, 20)]),
            [Ahead, Ahead, SetBack, SetBack, Again]
        );
        assert_eq!(said(&[(1, 10), (3, 12), (2, 20), (4, 30)]), [Ahead, Ahead, Reveals, SetBack]);
        assert_eq!(
            said(&[(3, 5), (4, 8), (1, 10), (2, 20), (5, 30)]),
            [Ahead, Ahead, Reveals, Late, SetBack]
        );
        // Lines out of order, and pieces of a text.
        assert_eq!(said(&[(1, 10), (3, 30), (2, 20), (4, 40)]), [Ahead, Ahead, Late, Ahead]);
        assert_eq!(
            said(&[(50, 5000), (51, 5100), (1, 10), (2, 20), (52, 5200)]),
            [Ahead, Ahead, Late, Late, Ahead]
        );
    }
}
