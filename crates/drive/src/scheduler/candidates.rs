//! Waiting commands of one direction by cylinder and angle, and the search for the best of them without looking at all.
//!
//! No paper on exact shortest-positioning-time-first over huge queues was found; the design is our own. The arm needs at
//! least so long for a distance; a cylinder whose bound is no better than the best command found holds none that is
//! better. Within a cylinder the disk brings the sectors in the order of their angles from the moment the arm can be
//! there, so the first few decide. With uniform addresses the number of commands looked at grows with the cube root of
//! the queue.

use super::ages::Ages;
use super::estimate::Estimate;
use super::occupied::Occupied;
use super::shortlist::Listed;
use super::waiting::Slot;
use headstack_units::{Angle, Nanos, Op};
use std::ops::Range;

/// What choosing a command would mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prospect {
    /// Its first sector comes under the head.
    pub(super) start: Nanos,
    /// The media's time for its sectors.
    pub(super) transfer: Nanos,
    /// When it came.
    pub(super) arrived: Nanos,
}

/// The best command found so far; among equals the oldest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Best {
    pub(super) cost: u128,
    pub(super) sequence: u64,
    pub(super) slot: Slot,
    /// Which of the arms would serve it.
    pub(super) arm: u32,
}

impl Best {
    /// Worse than any.
    pub(super) const NONE: Self =
        Self { cost: u128::MAX, sequence: u64::MAX, slot: Slot::MAX, arm: u32::MAX };

    /// What was found, if anything.
    pub(super) fn found(self) -> Option<Self> {
        (self.slot != Slot::MAX).then_some(self)
    }
}

/// Waiting commands by cylinder, and within it by angle.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    op: Op,
    /// By angle and sequence, for each cylinder.
    cylinders: Vec<Vec<Listed>>,
    occupied: Occupied,
    /// Where a cost depends on when a command came.
    ages: Option<Ages>,
}

impl Candidates {
    /// None, on a drive of so many cylinders. `aged` if a cost depends on when a command came.
    pub(super) fn new(op: Op, cylinders: u32, aged: bool) -> Self {
        let cylinders = cylinders.max(1) as usize;
        Self {
            op,
            cylinders: vec![Vec::new(); cylinders],
            occupied: Occupied::new(cylinders),
            ages: aged.then(|| Ages::new(cylinders)),
        }
    }

    pub(super) fn insert(&mut self, listed: Listed) {
        let cylinder = listed.target.cylinder as usize;
        let entries = &mut self.cylinders[cylinder];
        entries.insert(entries.partition_point(|other| place(other) < place(&listed)), listed);
        self.occupied.insert(cylinder);
        if let Some(ages) = &mut self.ages
            && listed.arrived < ages.of(cylinder)
        {
            ages.set(cylinder, listed.arrived);
        }
    }

    /// Takes out the one of these that has this place.
    pub(super) fn remove(&mut self, cylinder: u32, start: Angle, sequence: u64) {
        let cylinder = cylinder as usize;
        let entries = &mut self.cylinders[cylinder];
        let Ok(index) = entries.binary_search_by_key(&(start.0, sequence), place) else { return };
        let listed = entries.remove(index);
        if entries.is_empty() {
            self.occupied.remove(cylinder);
        }
        // Otherwise an older one waits there, still.
        if let Some(ages) = &mut self.ages
            && ages.of(cylinder) == listed.arrived
        {
            ages.set(cylinder, oldest_of(entries));
        }
    }

    /// All of them, which are here no more.
    pub(super) fn drain(&mut self) -> Vec<Listed> {
        let mut all = Vec::new();
        while let Some(cylinder) = self.occupied.from(0) {
            all.append(&mut self.cylinders[cylinder]);
            self.occupied.remove(cylinder);
            if let Some(ages) = &mut self.ages {
                ages.set(cylinder, Nanos::MAX);
            }
        }
        all
    }

    /// The first cylinder at or above `from` in which one waits.
    pub(super) fn occupied_from(&self, from: u32) -> Option<u32> {
        self.occupied.from(from as usize).map(|cylinder| cylinder as u32)
    }

    /// Finds in the cylinders `within` what costs less than `best`. `cost` must grow (or stay) with both the start and
    /// the arrival, and with the transfer.
    pub(super) fn search(
        &self,
        estimate: &Estimate<'_>,
        arm: u32,
        within: &Range<u32>,
        cost: &impl Fn(&Prospect) -> u128,
        best: &mut Best,
    ) {
        let search =
            Search { candidates: self, estimate, arm, within, cost, from: estimate.cylinder(self.op) };
        match &self.ages {
            None => search.outward(best),
            Some(ages) => search.visit(ages, 1, (0, ages.span()), best),
        }
    }
}

fn oldest_of(entries: &[Listed]) -> Nanos {
    entries.iter().map(|listed| listed.arrived).min().unwrap_or(Nanos::MAX)
}

/// Where a command stands among those of its cylinder.
fn place(listed: &Listed) -> (u64, u64) {
    (listed.target.start.0, listed.sequence)
}

struct Search<'a, F> {
    candidates: &'a Candidates,
    estimate: &'a Estimate<'a>,
    arm: u32,
    within: &'a Range<u32>,
    cost: &'a F,
    /// The arm's cylinder.
    from: u32,
}

impl<F: Fn(&Prospect) -> u128> Search<'_, F> {
    /// From one cylinder in which something waits to the next, outward from the arm.
    fn outward(&self, best: &mut Best) {
        let occupied = &self.candidates.occupied;
        let Range { start, end } = *self.within;
        let up_from = |cylinder: u32| {
            let found = occupied.from(cylinder.max(start) as usize);
            found.map(|found| found as u32).filter(|&found| found < end)
        };
        let down_from = |cylinder: u32| {
            let found = occupied.below(cylinder.min(end) as usize);
            found.map(|found| found as u32).filter(|&found| found >= start)
        };
        let (mut up, mut down) = (up_from(self.from), down_from(self.from));
        loop {
            let above = up.map_or(u32::MAX, |up| up - self.from);
            let below = down.map_or(u32::MAX, |down| self.from - down);
            let Some(cylinder) = (if above <= below { up } else { down }) else { return };
            if self.bound(self.estimate.ready_at_least(self.candidates.op, above.min(below)), Nanos::ZERO)
                > best.cost
            {
                return;
            }
            self.look_into(cylinder, Nanos::ZERO, best);
            if above <= below {
                up = up_from(cylinder + 1);
            } else {
                down = down_from(cylinder);
            }
        }
    }

    /// Looks below a node of the tree, which spans cylinders (the first, and how many); the nearer half first.
    fn visit(&self, ages: &Ages, node: usize, (first, count): (u32, u32), best: &mut Best) {
        let oldest = ages.below(node);
        if oldest == Nanos::MAX || first >= self.within.end || first + count <= self.within.start {
            return;
        }
        let distance = first.saturating_sub(self.from).max(self.from.saturating_sub(first + count - 1));
        let start = self.estimate.ready_at_least(self.candidates.op, distance);
        if self.bound(start, oldest) > best.cost {
            return;
        }
        if count == 1 {
            self.look_into(first, oldest, best);
            return;
        }
        let half = count / 2;
        let halves = [(2 * node, first), (2 * node + 1, first + half)];
        let nearer = usize::from(self.from >= first + half);
        for (child, first) in [halves[nearer], halves[1 - nearer]] {
            self.visit(ages, child, (first, half), best);
        }
    }

    fn bound(&self, start: Nanos, oldest: Nanos) -> u128 {
        (self.cost)(&Prospect { start, transfer: Nanos::ZERO, arrived: oldest })
    }

    /// Looks at the commands of one cylinder in the order in which their sectors can come.
    fn look_into(&self, cylinder: u32, oldest: Nanos, best: &mut Best) {
        let entries = &self.candidates.cylinders[cylinder as usize];
        if let [only] = entries.as_slice() {
            let ready = self.estimate.ready_at_least(self.candidates.op, cylinder.abs_diff(self.from));
            if self.bound(self.estimate.comes(ready, only.target.start), only.arrived) <= best.cost {
                *best = only.weigh(self.estimate, self.arm, self.cost).min(*best);
            }
            return;
        }
        let ready = self.estimate.ready_in(self.candidates.op, cylinder);
        let epoch = self.estimate.epoch();
        // What was missed by no more than a tick counts as on time: such sectors lie just behind the disk's angle.
        let behind = Angle(2 * epoch.tick().0);
        let first = epoch.angle(ready) - behind;
        let (before, from) = entries.split_at(entries.partition_point(|listed| place(listed) < (first.0, 0)));
        for listed in from.iter().chain(before) {
            let angle = listed.target.start;
            if self.bound(self.estimate.comes(ready, angle), oldest) > best.cost {
                // Of those just behind, some may be on time and others a turn late.
                if (angle - first).0 < behind.0 {
                    continue;
                }
                return;
            }
            *best = listed.weigh(self.estimate, self.arm, self.cost).min(*best);
        }
    }
}
