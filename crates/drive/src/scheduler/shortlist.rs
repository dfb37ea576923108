//! A few waiting commands, all of which are looked at.

use super::candidates::{Best, Prospect};
use super::estimate::Estimate;
use super::waiting::{Slot, Target, Waiting};
use headstack_units::{Nanos, Op};

/// A waiting command, as far as a choice by position needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub(super) op: Op,
    pub(super) slot: Slot,
    pub(super) sectors: u32,
    pub(super) sequence: u64,
    pub(super) arrived: Nanos,
    pub(super) target: Target,
}

impl Listed {
    pub(super) fn new(waiting: &Waiting, slot: Slot) -> Self {
        let &Waiting { command, sequence, arrived, target } = waiting;
        Self { op: command.op, slot, sectors: command.sectors, sequence, arrived, target }
    }

    /// What it costs to choose it for an arm.
    #[inline]
    pub(super) fn weigh(&self, estimate: &Estimate<'_>, arm: u32, cost: &impl Fn(&Prospect) -> u128) -> Best {
        let prospect = Prospect {
            start: estimate.start(self.op, &self.target, self.sectors),
            transfer: estimate.transfer(&self.target, self.sectors),
            arrived: self.arrived,
        };
        Best { cost: cost(&prospect), sequence: self.sequence, slot: self.slot, arm }
    }
}

/// Waiting commands of one direction by cylinder. The search goes from one to the next, outward from the arm, and ends where the distance alone
/// takes longer than the best found. While they are few, that costs less than to keep them in more of an order.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortlist(Vec<Listed>);

impl Shortlist {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn insert(&mut self, listed: Listed) {
        self.0.insert(self.0.partition_point(|other| place(other) < place(&listed)), listed);
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, cylinder: u32, sequence: u64) {
        if let Ok(index) = self.0.binary_search_by_key(&(cylinder, sequence), place) {
            self.0.remove(index);
        }
    }

    /// All of them, which are listed no more.
    pub(super) fn drain(&mut self) -> Vec<Listed> {
        std::mem::take(&mut self.0)
    }

    /// When the oldest came.
    fn oldest(&self) -> Nanos {
        self.0.iter().map(|listed| listed.arrived).min().unwrap_or(Nanos::MAX)
    }

    /// Finds what costs less than `best`. `cost` must grow (or stay) with both the start and the arrival, and with the
    /// transfer; `aged` if it depends on the arrival.
    pub(super) fn search(
        &self,
        (estimate, arm): (&Estimate<'_>, u32),
        (cost, aged): (&impl Fn(&Prospect) -> u128, bool),
        best: &mut Best,
    ) {
        let Some(&Listed { op, .. }) = self.0.first() else { return };
        let from = estimate.cylinder(op);
        let oldest = if aged { self.oldest() } else { Nanos::ZERO };
        let bound = |start, arrived| cost(&Prospect { start, transfer: Nanos::ZERO, arrived });
        let (below, above) = self.0.split_at(self.0.partition_point(|listed| listed.target.cylinder < from));
        let (mut below, mut above) = (below.iter().rev().peekable(), above.iter().peekable());
        loop {
            let up = above.peek().map_or(u32::MAX, |listed| listed.target.cylinder - from);
            let down = below.peek().map_or(u32::MAX, |listed| from - listed.target.cylinder);
            let Some(listed) = (if up <= down { above.next() } else { below.next() }) else { return };
            let ready = estimate.ready_at_least(op, up.min(down));
            if bound(ready, oldest) > best.cost {
                return;
            }
            if bound(estimate.comes(ready, listed.target.start), listed.arrived) <= best.cost {
                *best = listed.weigh(estimate, arm, cost).min(*best);
            }
        }
    }
}

/// Where a command stands in the list.
fn place(listed: &Listed) -> (u32, u64) {
    (listed.target.cylinder, listed.sequence)
}
