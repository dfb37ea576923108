//! Running numbers of events in text: which of them are missing.

use std::collections::BTreeMap;

/// So far behind the highest number an event may come; one further back begins a new count.
const LATE: u64 = 1 << 12;

/// Of so many steps all but one go to the next number; otherwise a filter took events out, and the numbers tell nothing.
const DENSE: u64 = 4;

/// The running numbers of one processor on one device.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    highest: u64,
    steps: u64,
    /// Steps to a number that is not the next one.
    jumps: u64,
    missing: u64,
}

impl Numbers {
    fn follow(&mut self, number: u64) {
        self.steps += 1;
        if number > self.highest {
            let passed = number - self.highest - 1;
            self.jumps += u64::from(passed > 0);
            self.missing += passed;
        } else {
            // It comes late, and was thought to be missing.
            self.jumps += 1;
            self.missing = self.missing.saturating_sub(1);
            if self.highest - number < LATE {
                return;
            }
        }
        self.highest = number;
    }
}

/// The running numbers of a trace: the kernel counts on each processor, for each device.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningNumbers {
    all: Vec<Numbers>,
    /// Where those of a device and a processor are.
    places: BTreeMap<(u32, u16), u32>,
    /// The device that each processor had last, and where its numbers are: mostly the next is the same.
    present: Vec<Option<(u32, u32)>>,
}

impl RunningNumbers {
    /// Takes the number of the next event; messages have 0.
    #[inline]
    pub(super) fn follow(&mut self, device: u32, cpu: u16, number: u64) {
        if number == 0 {
            return;
        }
        let place = match self.present.get(usize::from(cpu)) {
            Some(&Some((present, place))) if present == device => place,
            _ => self.turn(device, cpu, number),
        };
        self.all[place as usize].follow(number);
    }

    /// A processor turns to another device: where its numbers are.
    #[cold]
    fn turn(&mut self, device: u32, cpu: u16, number: u64) -> u32 {
        let next = self.all.len() as u32;
        let place = *self.places.entry((device, cpu)).or_insert(next);
        if place == next {
            self.all.push(Numbers { highest: number - 1, ..Numbers::default() });
        }
        let at = usize::from(cpu);
        if self.present.len() <= at {
            self.present.resize(at + 1, None);
        }
        self.present[at] = Some((device, place));
        place
    }

    /// How many numbers are missing.
    pub(super) fn missing(&self) -> u64 {
        let dense = |numbers: &&Numbers| numbers.jumps * DENSE < numbers.steps;
        self.all.iter().filter(dense).map(|numbers| numbers.missing).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(numbers: impl IntoIterator<Item = u64>) -> u64 {
        let mut all = RunningNumbers::default();
        numbers.into_iter().for_each(|number| all.follow(7, 0, number));
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
}
