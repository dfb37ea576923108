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
}

/// The running numbers of one processor.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// The first number; 0 before it.
    pub(super) first: u32,
    highest: u32,
    /// The time of the record of that number.
    time: Nanos,
    /// Missing numbers, from … to ….
    gaps: VecDeque<(u32, u32)>,
    pub(super) missing: u64,
    set_back: bool,
}

impl Sequence {
    /// Takes the next record if it is as nearly all are: the number behind the highest, and no earlier time.
    #[inline]
    pub(super) fn goes_on(&mut self, number: u32, time: Nanos) -> bool {
        let is_next = number.wrapping_sub(self.highest) == 1 && time >= self.time && !self.set_back;
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
                self.skip(number);
            }
            if is_first {
                self.first = number;
            }
            self.set_back |= time.saturating_add(STEP) < self.time;
            (self.highest, self.time) = (number, time);
        } else if self.fill(number) {
            // Put into order of time before it came here, where the clock went another way than the numbers.
            self.set_back |= self.time.saturating_add(STEP) < time;
        } else if time <= self.time {
            return Verdict::Double;
        } else if number < self.first {
            // In order of time, too: all behind the step came before all that lies before it.
            self.pass_over(number + 1, self.first);
            self.first = number;
            self.set_back |= self.time.saturating_add(STEP) < time;
        } else {
            // Another run behind the first.
            *self =
                Self { highest: number, time, first: self.first, missing: self.missing, ..Self::default() };
        }
        if self.set_back { Verdict::SetBack } else { Verdict::New }
    }

    /// The numbers before this one are missing.
    fn skip(&mut self, number: u32) {
        self.pass_over(self.highest.wrapping_add(1), number);
    }

    /// The numbers from one on to another are missing.
    fn pass_over(&mut self, from: u32, to: u32) {
        if from == to {
            return;
        }
        let gap = (from, to.wrapping_sub(1));
        self.missing += u64::from(gap.1.wrapping_sub(gap.0)) + 1;
        if self.gaps.len() == GAPS {
            self.gaps.pop_front();
        }
        self.gaps.push_back(gap);
    }

    /// Whether the number was missing; it is no longer.
    fn fill(&mut self, number: u32) -> bool {
        let holds = |&(from, to): &(u32, u32)| number.wrapping_sub(from) <= to.wrapping_sub(from);
        let Some(at) = self.gaps.iter().position(holds) else { return false };
        self.missing -= 1;
        let Some((from, to)) = self.gaps.remove(at) else { return false };
        if number != to {
            self.gaps.insert(at, (number.wrapping_add(1), to));
        }
        if number != from {
            self.gaps.insert(at, (from, number.wrapping_sub(1)));
        }
        true
    }

    pub(super) fn is_set_back(&self) -> bool {
        self.set_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Double, New, SetBack};

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
        assert_eq!(verdicts([(1, 10), (3, 12), (2, 20), (4, 30)]).0, [New, New, SetBack, SetBack]);
        assert_eq!(verdicts([(3, 10), (4, 11), (1, 12), (2, 20)]).0, [New, New, SetBack, SetBack]);
    }
}
