//! When commands leave that are booked but for that.

use headstack_units::Nanos;

/// Instants in the order in which they come, most of them taken before the next one is noted: a list that is emptied then costs
/// half of what a ring does.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaving {
    instants: Vec<Nanos>,
    /// So many of them are over.
    over: usize,
}

/// So many that are over are worth moving the others.
const WORTH_MOVING: usize = 4096;

impl Leaving {
    /// Notes one, not before those noted earlier.
    #[inline]
    pub(super) fn push(&mut self, at: Nanos) {
        self.instants.push(at);
    }

    /// The next one, where it is not after `now`; it is over then.
    #[inline]
    pub(super) fn next_by(&mut self, now: Nanos) -> Option<Nanos> {
        let at = self.instants.get(self.over).copied().filter(|&at| at <= now)?;
        self.over += 1;
        if self.over == self.instants.len() {
            self.instants.clear();
            self.over = 0;
        } else if self.over >= WORTH_MOVING && 2 * self.over >= self.instants.len() {
            self.forget();
        }
        Some(at)
    }

    #[cold]
    fn forget(&mut self) {
        self.instants.drain(..self.over);
        self.over = 0;
    }

    /// Those to come, in order.
    #[inline]
    pub(super) fn to_come(&self) -> &[Nanos] {
        &self.instants[self.over..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_a_queue(steps in prop::collection::vec((0_u64..4, 0_u64..6), 1..40), rounds in 1_usize..400) {
            let (mut leaving, mut queue) = (Leaving::default(), VecDeque::new());
            let mut last = 0;
            for (ahead, behind) in steps.iter().cycle().take(steps.len() * rounds) {
                last += ahead;
                leaving.push(Nanos(last));
                queue.push_back(Nanos(last));
                let now = Nanos(last.saturating_sub(*behind * 2_000));
                while let Some(at) = leaving.next_by(now) {
                    prop_assert_eq!(queue.pop_front(), Some(at));
                }
                prop_assert!(queue.front().is_none_or(|&at| at > now));
                prop_assert_eq!(leaving.to_come().len(), queue.len());
            }
            prop_assert!(leaving.to_come().iter().eq(&queue));
        }
    }
}
