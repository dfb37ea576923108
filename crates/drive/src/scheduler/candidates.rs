//! Waiting commands of one direction by cylinder and angle, and the search for the best of them without looking at all.
//!
//! No paper on exact shortest-positioning-time-first over huge queues was found; the design is our own. The arm needs at
//! least so long for a distance; a cylinder whose bound is no better than the best command found holds none that is
//! better. Within a cylinder the disk brings the sectors in the order of their angles from the moment the arm can be
//! there, so the first few decide. With uniform addresses the number of commands looked at grows with the cube root of
//! the queue.

use super::reach::Reach;
use super::waiting::{Slot, Target, Waiting};
use headstack_units::{Angle, Nanos, Op};
use std::collections::BTreeMap;
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

/// A waiting command, as far as the search needs it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    slot: Slot,
    head: u32,
    sectors: u32,
    slot_width: Angle,
    arrived: Nanos,
}

/// Waiting commands by cylinder, and within it by angle.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    op: Op,
    /// By angle and sequence, for each cylinder.
    cylinders: Vec<BTreeMap<(u64, u64), Entry>>,
    /// Arrivals in each cylinder, where age matters.
    arrivals: Option<Vec<BTreeMap<u64, Nanos>>>,
    /// A complete binary tree over the cylinders: the oldest arrival below each node, [`Nanos::MAX`] where none waits,
    /// 0 for any where age does not matter.
    oldest: Vec<Nanos>,
}

impl Candidates {
    /// None, on a drive of so many cylinders. `aged` if a cost depends on when a command came.
    pub(super) fn new(op: Op, cylinders: u32, aged: bool) -> Self {
        let cylinders = cylinders.max(1) as usize;
        Self {
            op,
            cylinders: vec![BTreeMap::new(); cylinders],
            arrivals: aged.then(|| vec![BTreeMap::new(); cylinders]),
            oldest: vec![Nanos::MAX; 2 * cylinders.next_power_of_two()],
        }
    }

    pub(super) fn insert(&mut self, waiting: &Waiting, slot: Slot) {
        let cylinder = waiting.target.cylinder as usize;
        let entry = Entry {
            slot,
            head: waiting.target.head,
            sectors: waiting.command.sectors,
            slot_width: waiting.target.slot_width,
            arrived: waiting.arrived,
        };
        self.cylinders[cylinder].insert((waiting.target.start.0, waiting.sequence), entry);
        let oldest = match &mut self.arrivals {
            None => Nanos::ZERO,
            Some(arrivals) => {
                arrivals[cylinder].insert(waiting.sequence, waiting.arrived);
                oldest_of(&arrivals[cylinder])
            }
        };
        self.set_oldest(cylinder, oldest);
    }

    pub(super) fn remove(&mut self, waiting: &Waiting) {
        let cylinder = waiting.target.cylinder as usize;
        self.cylinders[cylinder].remove(&(waiting.target.start.0, waiting.sequence));
        let oldest = match &mut self.arrivals {
            None if self.cylinders[cylinder].is_empty() => Nanos::MAX,
            None => Nanos::ZERO,
            Some(arrivals) => {
                arrivals[cylinder].remove(&waiting.sequence);
                oldest_of(&arrivals[cylinder])
            }
        };
        self.set_oldest(cylinder, oldest);
    }

    fn set_oldest(&mut self, cylinder: usize, oldest: Nanos) {
        let mut node = self.oldest.len() / 2 + cylinder;
        if self.oldest[node] == oldest {
            return;
        }
        self.oldest[node] = oldest;
        while node > 1 {
            node /= 2;
            let below = self.oldest[2 * node].min(self.oldest[2 * node + 1]);
            if self.oldest[node] == below {
                return;
            }
            self.oldest[node] = below;
        }
    }

    /// The first cylinder at or above `from` in which one waits.
    pub(super) fn occupied_from(&self, from: u32) -> Option<u32> {
        let leaves = self.oldest.len() / 2;
        let mut node = leaves + from as usize;
        if node >= self.oldest.len() {
            return None;
        }
        // Up until something waits in a node to the right, then down to its first.
        if self.oldest[node] == Nanos::MAX {
            while node & 1 == 1 || self.oldest[node + 1] == Nanos::MAX {
                node /= 2;
                if node <= 1 {
                    return None;
                }
            }
            node += 1;
        }
        while node < leaves {
            node = if self.oldest[2 * node] == Nanos::MAX { 2 * node + 1 } else { 2 * node };
        }
        Some((node - leaves) as u32)
    }

    /// Finds in the cylinders `within` what costs less than `best`. `cost` must grow (or stay) with both the start and
    /// the arrival, and with the transfer.
    pub(super) fn search(
        &self,
        reach: &Reach<'_>,
        arm: u32,
        within: &Range<u32>,
        cost: &impl Fn(&Prospect) -> u128,
        best: &mut Best,
    ) {
        Search { candidates: self, reach, arm, within, cost, from: reach.cylinder(self.op) }.visit(
            1,
            0,
            (self.oldest.len() / 2) as u32,
            best,
        );
    }
}

fn oldest_of(arrivals: &BTreeMap<u64, Nanos>) -> Nanos {
    arrivals.first_key_value().map_or(Nanos::MAX, |(_, &arrived)| arrived)
}

struct Search<'a, F> {
    candidates: &'a Candidates,
    reach: &'a Reach<'a>,
    arm: u32,
    within: &'a Range<u32>,
    cost: &'a F,
    /// The arm's cylinder.
    from: u32,
}

impl<F: Fn(&Prospect) -> u128> Search<'_, F> {
    /// Looks below a node of the tree, which spans the cylinders `first..first + count`; the nearer half first.
    fn visit(&self, node: usize, first: u32, count: u32, best: &mut Best) {
        let oldest = self.candidates.oldest[node];
        if oldest == Nanos::MAX || first >= self.within.end || first + count <= self.within.start {
            return;
        }
        let distance = first.saturating_sub(self.from).max(self.from.saturating_sub(first + count - 1));
        let start = self.reach.ready_at_least(self.candidates.op, distance);
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
            self.visit(child, first, half, best);
        }
    }

    fn bound(&self, start: Nanos, oldest: Nanos) -> u128 {
        (self.cost)(&Prospect { start, transfer: Nanos::ZERO, arrived: oldest })
    }

    /// Looks at the commands of one cylinder in the order in which their sectors can come.
    fn look_into(&self, cylinder: u32, oldest: Nanos, best: &mut Best) {
        let entries = &self.candidates.cylinders[cylinder as usize];
        let ready = self.reach.ready_in(self.candidates.op, cylinder);
        let epoch = self.reach.epoch();
        // What was missed by no more than a tick counts as on time: such sectors lie just behind the disk's angle.
        let behind = Angle(2 * epoch.tick().0);
        let first = epoch.angle(ready) - behind;
        let in_order = entries.range((first.0, 0)..).chain(entries.range(..(first.0, 0)));
        for (&(angle, sequence), entry) in in_order {
            let angle = Angle(angle);
            let start = self.reach.comes(ready, angle);
            if self.bound(start, oldest) > best.cost {
                // Of those just behind, some may be on time and others a turn late.
                if (angle - first).0 < behind.0 {
                    continue;
                }
                return;
            }
            let target = Target { cylinder, head: entry.head, start: angle, slot_width: entry.slot_width };
            *best = self.weigh(entry, &target, sequence).min(*best);
        }
    }

    fn weigh(&self, entry: &Entry, target: &Target, sequence: u64) -> Best {
        let prospect = Prospect {
            start: self.reach.start(self.candidates.op, target, entry.sectors),
            transfer: self.reach.transfer(target, entry.sectors),
            arrived: entry.arrived,
        };
        Best { cost: (self.cost)(&prospect), sequence, slot: entry.slot, arm: self.arm }
    }
}
