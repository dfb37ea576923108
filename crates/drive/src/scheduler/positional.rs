//! What the schedulers that know the layout and the rotation share: the best command by a cost of its own.

use super::candidates::{Best, Candidates, Prospect};
use super::group::Groups;
use super::hits::Hits;
use super::order::{Choice, Order, Pick};
use super::reach::Reach;
use super::waiting::{Slot, Waiting};
use headstack_units::{Nanos, Op};
use std::collections::BTreeMap;
use std::ops::Range;

/// What makes a command better than another; the smallest cost wins, among equals the oldest.
pub(super) trait Merit {
    /// Whether the cost depends on when a command came.
    const AGED: bool;

    /// The cost at `now`: grows (or stays) with each of the prospect's instants and times.
    fn cost(&self, now: Nanos, prospect: &Prospect) -> u128;
}

/// The command with the smallest cost.
#[derive(Clone, Debug)]
pub(super) struct Positional<M> {
    merit: M,
    ops: [Candidates; 2],
    cylinders: u32,
    /// The oldest, where age matters.
    by_age: Option<BTreeMap<u64, Slot>>,
    /// What the buffer holds goes first.
    hits: Option<Hits>,
    groups: Option<Groups>,
}

impl<M: Merit> Positional<M> {
    /// None, on a drive of so many cylinders.
    pub(super) fn new(merit: M, cylinders: u32) -> Self {
        Self {
            merit,
            ops: [Op::Read, Op::Write].map(|op| Candidates::new(op, cylinders, M::AGED)),
            cylinders,
            by_age: M::AGED.then(BTreeMap::new),
            hits: None,
            groups: None,
        }
    }

    /// Knows the cache.
    pub(super) fn cache_aware(self) -> Self {
        Self { hits: Some(Hits::default()), ..self }
    }

    /// Looks only into one group of so many cylinders at a time.
    pub(super) fn grouped(self, cylinders: u32) -> Self {
        Self { groups: Some(Groups::new(cylinders)), ..self }
    }

    /// The best command for one of several arms, and which arm that is; among equals the oldest, then the first arm. The
    /// search for each arm stops where it cannot beat what another found.
    fn best_for(&self, now: Nanos, arms: &[Reach<'_>], within: &Range<u32>) -> Best {
        let mut best = Best::NONE;
        let cost = |prospect: &Prospect| self.merit.cost(now, prospect);
        for (arm, reach) in (0..).zip(arms) {
            for candidates in &self.ops {
                candidates.search(reach, arm, within, &cost, &mut best);
            }
        }
        best
    }

    /// The oldest, if nothing can cost less than it does.
    fn undisputed(&self, choice: &Choice<'_>) -> Option<Pick> {
        let &slot = self.by_age.as_ref()?.first_key_value()?.1;
        let Waiting { command, target, arrived, .. } = &choice.slots[slot];
        let costs_nothing = |reach: &Reach<'_>| {
            let prospect = Prospect {
                start: reach.start(command.op, target, command.sectors),
                transfer: reach.transfer(target, command.sectors),
                arrived: *arrived,
            };
            self.merit.cost(choice.now, &prospect) == 0
        };
        let arm = choice.arms.iter().position(costs_nothing)?;
        Some(Pick { slot, arm: arm as u32 })
    }
}

impl<M: Merit> Order for Positional<M> {
    fn insert(&mut self, waiting: &Waiting, _at: u64, slot: Slot) {
        self.ops[usize::from(waiting.command.op == Op::Write)].insert(waiting, slot);
        if let Some(by_age) = &mut self.by_age {
            by_age.insert(waiting.sequence, slot);
        }
        if let Some(hits) = &mut self.hits {
            hits.insert(waiting, slot);
        }
    }

    fn remove(&mut self, waiting: &Waiting, _at: u64) {
        self.ops[usize::from(waiting.command.op == Op::Write)].remove(waiting);
        if let Some(by_age) = &mut self.by_age {
            by_age.remove(&waiting.sequence);
        }
        if let Some(hits) = &mut self.hits {
            hits.remove(waiting);
        }
    }

    fn choose(&mut self, choice: &Choice<'_>) -> Option<Pick> {
        if let Some(pick) = self.undisputed(choice) {
            return Some(pick);
        }
        let cost = |prospect: &Prospect| self.merit.cost(choice.now, prospect);
        let hit = self.hits.as_ref().and_then(|hits| hits.best(choice, &cost).found());
        let within = match self.groups {
            None => 0..self.cylinders,
            Some(groups) => groups.within(choice.end as u32, &self.ops)?,
        };
        let best = self.best_for(choice.now, choice.arms, &within).found();
        [hit, best].into_iter().flatten().min().map(|best| Pick { slot: best.slot, arm: best.arm })
    }
}
