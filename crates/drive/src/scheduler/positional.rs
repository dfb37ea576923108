//! What the schedulers that know the layout and the rotation share: the best command by a cost of its own.

use super::candidates::{Best, Candidates, Prospect};
use super::estimate::Estimate;
use super::group::Groups;
use super::hits::Hits;
use super::order::{Choice, Order, Pick};
use super::shortlist::{Listed, Shortlist};
use super::waiting::{Slot, Waiting};
use headstack_units::{Nanos, Op};
use std::collections::BTreeMap;
use std::ops::Range;

/// More than so many are kept in order, until they are fewer than [`FEW`].
const MANY: usize = 256;
const FEW: usize = 128;

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
    /// While few wait, they are all here, and none in order.
    short: [Shortlist; 2],
    ordered: Option<Box<Ordered>>,
    cylinders: u32,
    /// What the buffer holds goes first.
    hits: Option<Hits>,
    groups: Option<Groups>,
}

/// Commands in order.
#[derive(Clone, Debug)]
struct Ordered {
    ops: [Candidates; 2],
    /// The oldest, where age matters.
    by_age: Option<BTreeMap<u64, Slot>>,
    count: usize,
}

impl Ordered {
    fn new(cylinders: u32, aged: bool) -> Self {
        Self {
            ops: [Op::Read, Op::Write].map(|op| Candidates::new(op, cylinders, aged)),
            by_age: aged.then(BTreeMap::new),
            count: 0,
        }
    }

    fn insert(&mut self, listed: Listed) {
        self.count += 1;
        if let Some(by_age) = &mut self.by_age {
            by_age.insert(listed.sequence, listed.slot);
        }
        self.ops[index(listed.op)].insert(listed);
    }

    fn remove(&mut self, waiting: &Waiting) {
        self.count -= 1;
        if let Some(by_age) = &mut self.by_age {
            by_age.remove(&waiting.sequence);
        }
        let Waiting { command, target, sequence, .. } = waiting;
        self.ops[index(command.op)].remove(target.cylinder, target.start, *sequence);
    }

    /// All of them, which are here no more.
    fn drain(&mut self) -> impl Iterator<Item = Listed> + use<> {
        self.count = 0;
        if let Some(by_age) = &mut self.by_age {
            by_age.clear();
        }
        let [reads, writes] = &mut self.ops;
        reads.drain().into_iter().chain(writes.drain())
    }
}

/// Which of two a direction has.
fn index(op: Op) -> usize {
    usize::from(op == Op::Write)
}

impl<M: Merit> Positional<M> {
    /// None, on a drive of so many cylinders.
    pub(super) fn new(merit: M, cylinders: u32) -> Self {
        Self { merit, short: Default::default(), ordered: None, cylinders, hits: None, groups: None }
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
    fn best_for(&self, now: Nanos, arms: &[Estimate<'_>], within: &Range<u32>) -> Best {
        let mut best = Best::NONE;
        let cost = |prospect: &Prospect| self.merit.cost(now, prospect);
        for (arm, estimate) in (0..).zip(arms) {
            match &self.ordered {
                None => self
                    .short
                    .iter()
                    .for_each(|short| short.search((estimate, arm), (&cost, M::AGED), &mut best)),
                Some(ordered) => ordered
                    .ops
                    .iter()
                    .for_each(|candidates| candidates.search(estimate, arm, within, &cost, &mut best)),
            }
        }
        best
    }

    /// The oldest, if nothing can cost less than it does.
    fn undisputed(&self, choice: &Choice<'_>) -> Option<Pick> {
        let &slot = self.ordered.as_ref()?.by_age.as_ref()?.first_key_value()?.1;
        let Waiting { command, target, arrived, .. } = &choice.slots[slot];
        let costs_nothing = |estimate: &Estimate<'_>| {
            let prospect = Prospect {
                start: estimate.start(command.op, target, command.sectors),
                transfer: estimate.transfer(target, command.sectors),
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
        let listed = Listed::new(waiting, slot);
        let few = self.short.iter().map(Shortlist::len).sum::<usize>() < MANY;
        if self.ordered.is_none() && few && self.groups.is_none() {
            self.short[index(listed.op)].insert(listed);
        } else {
            let cylinders = self.cylinders;
            let ordered = self.ordered.get_or_insert_with(|| Box::new(Ordered::new(cylinders, M::AGED)));
            let listed = self.short.iter_mut().flat_map(Shortlist::drain).chain([listed]);
            listed.for_each(|listed| ordered.insert(listed));
        }
        if let Some(hits) = &mut self.hits {
            hits.insert(waiting, slot);
        }
    }

    fn remove(&mut self, waiting: &Waiting, _at: u64) {
        match &mut self.ordered {
            None => self.short[index(waiting.command.op)].remove(waiting.target.cylinder, waiting.sequence),
            Some(ordered) => ordered.remove(waiting),
        }
        if let Some(mut ordered) =
            self.ordered.take_if(|ordered| ordered.count < FEW && self.groups.is_none())
        {
            ordered.drain().for_each(|listed| self.short[index(listed.op)].insert(listed));
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
            Some(groups) => groups.within(choice.end() as u32, &self.ordered.as_ref()?.ops)?,
        };
        let best = self.best_for(choice.now, choice.arms, &within).found();
        [hit, best].into_iter().flatten().min().map(|best| Pick { slot: best.slot, arm: best.arm })
    }
}
