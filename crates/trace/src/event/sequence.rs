//! Running numbers of binary records: which are missing, which come twice, and whether a processor's clock was set back.

use std::collections::VecDeque;

use headstack_units::Nanos;

/// A clock that goes back by more against the running numbers was set back.
const STEP: Nanos = Nanos(100_000);

/// So many of the latest gaps are known, for records that come late.
const GAPS: usize = 1 << 10;

/// What a record's number says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is to be read.
    New,
    /// It was read before.
    Double,
    /// Its processor's clock was set back before: its time is not that of the others.
    SetBack,
    /// It is to be read, and reveals that what was read of its processor from that instant on is wrong: the clock was set back there.
    Reveals(Nanos),
}

/// Missing numbers, from … to …, and when the record of the next was written.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u32,
    to: u32,
    until: Nanos,
}

/// A record's number, and when it was written.
type Stamp = (u32, Nanos);

/// The running numbers of one processor.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// The first number; 0 before it.
    pub(super) first: u32,
    first_time: Nanos,
    highest: u32,
    /// The time of the record of that number.
    time: Nanos,
    gaps: VecDeque<Gap>,
    pub(super) missing: u64,
    /// The first record of a clock that was set back.
    set_back: Option<Stamp>,
}

impl Sequence {
    /// Takes the next record if it is as nearly all are: the number behind the highest, and no earlier time.
    #[inline]
    pub(super) fn goes_on(&mut self, number: u32, time: Nanos) -> bool {
        let is_next = number.wrapping_sub(self.highest) == 1 && time >= self.time && self.set_back.is_none();
        if is_next {
            (self.highest, self.time) = (number, time);
        }
        is_next
    }

    /// Takes the next record's number, which is not 0, and its time.
    pub(super) fn follow(&mut self, number: u32, time: Nanos) -> Verdict {
        if self.goes_on(number, time) { Verdict::New } else { self.follow_slowly(number, time) }
    }

    fn follow_slowly(&mut self, number: u32, time: Nanos) -> Verdict {
        let step = number.wrapping_sub(self.highest);
        let is_first = self.highest == 0;
        if is_first || (1..1 << 31).contains(&step) {
            if !is_first && step > 1 {
                self.skip(number, time);
            }
            if is_first {
                (self.first, self.first_time) = (number, time);
            }
            if time.saturating_add(STEP) < self.time {
                self.set_back.get_or_insert((number, time));
            }
            (self.highest, self.time) = (number, time);
        } else if let Some(next) = self.fill(number, time) {
            return self.read_late(number, time, next);
        } else if time <= self.time {
            return Verdict::Double;
        } else if number < self.first {
            let next = (self.first, self.first_time);
            self.pass_over(number + 1, self.first, self.first_time);
            (self.first, self.first_time) = (number, time);
            return self.read_late(number, time, next);
        } else {
            // Another run behind the first.
            let (first, first_time, missing) = (self.first, self.first_time, self.missing);
            *self = Self { highest: number, time, first, first_time, missing, ..Self::default() };
        }
        if self.is_behind(number) { Verdict::SetBack } else { Verdict::New }
    }

    /// What to make of a record that was missing, or comes before the first, of which the `next` was there before. If records were put
    /// into order of time before they came here, the clock went another way than the numbers, at the latest from the next one on.
    fn read_late(&mut self, number: u32, time: Nanos, next: Stamp) -> Verdict {
        if self.set_back.is_none() && self.time.saturating_add(STEP) < time {
            self.set_back = Some(next);
            return Verdict::Reveals(next.1);
        }
        if self.is_behind(number) { Verdict::SetBack } else { Verdict::New }
    }

    /// Whether a number lies behind the step of a clock that was set back.
    fn is_behind(&self, number: u32) -> bool {
        self.set_back.is_some_and(|(from, _)| number.wrapping_sub(from) < 1 << 31)
    }

    /// The numbers before this one are missing.
    fn skip(&mut self, number: u32, time: Nanos) {
        self.pass_over(self.highest.wrapping_add(1), number, time);
    }

    /// The numbers from one on to another are missing.
    fn pass_over(&mut self, from: u32, to: u32, until: Nanos) {
        if from == to {
            return;
        }
        let gap = Gap { from, to: to.wrapping_sub(1), until };
        self.missing += u64::from(gap.to.wrapping_sub(gap.from)) + 1;
        if self.gaps.len() == GAPS {
            self.gaps.pop_front();
        }
        self.gaps.push_back(gap);
    }

    /// The next number that was there, if this one was missing; it is no longer.
    fn fill(&mut self, number: u32, time: Nanos) -> Option<Stamp> {
        let holds = |gap: &Gap| number.wrapping_sub(gap.from) <= gap.to.wrapping_sub(gap.from);
        let at = self.gaps.iter().position(holds)?;
        self.missing -= 1;
        let gap = self.gaps.remove(at)?;
        if number != gap.to {
            self.gaps.insert(at, Gap { from: number.wrapping_add(1), ..gap });
        }
        if number != gap.from {
            self.gaps.insert(at, Gap { to: number.wrapping_sub(1), until: time, ..gap });
        }
        Some((gap.to.wrapping_add(1), gap.until))
    }

    pub(super) fn is_set_back(&self) -> bool {
        self.set_back.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Double, New, Reveals, SetBack};

    fn verdicts(records: impl IntoIterator<Item = (u32, u64)>) -> (Vec<Verdict>, u64) {
        let mut sequence = Sequence::default();
        let verdicts = records.into_iter().map(|(number, ms)| sequence.follow(number, Nanos(ms * 1_000_000)));
        let verdicts = verdicts.collect();
        (verdicts, sequence.missing)
    }

    #[test]
    fn what_comes_again_is_no_new_record() {
        let again = [(1, 1), (2, 2), (3, 3), (2, 2), (3, 3), (3, 3), (4, 4)];
        assert_eq!(verdicts(again), (vec![New, New, New, Double, Double, Double, New], 0));
        // Another run begins to count anew, later.
        assert_eq!(verdicts([(1, 1), (2, 2), (1, 5), (2, 6)]), (vec![New; 4], 0));
        // The count goes round.
        assert_eq!(verdicts([(u32::MAX - 1, 1), (u32::MAX, 2), (1, 3)]).1, 1);
    }

    #[test]
    fn what_comes_late_was_not_missing() {
        let late = [(1, 10), (5, 10), (3, 10), (4, 10), (3, 10)];
        assert_eq!(verdicts(late), (vec![New, New, New, New, Double], 1));
    }

    #[test]
    fn a_clock_that_is_set_back_is_not_believed_from_there_on() {
        assert_eq!(verdicts([(1, 10), (2, 20), (3, 12), (4, 30)]).0, [New, New, SetBack, SetBack]);
        // The same put into order of time, where numbers go to and fro.
        let at = |ms: u64| Reveals(Nanos(1_000_000 * ms));
        assert_eq!(verdicts([(1, 10), (3, 12), (2, 20), (4, 30)]).0, [New, New, at(12), SetBack]);
        assert_eq!(verdicts([(3, 10), (4, 11), (1, 12), (2, 20)]).0, [New, New, at(10), New]);
    }
}
