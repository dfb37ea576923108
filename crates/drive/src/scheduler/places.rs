//! Places on the media, and which of them comes under the head soonest.

use super::estimate::Estimate;
use super::waiting::Target;
use headstack_units::{Nanos, Op};
use std::collections::BTreeMap;

/// How far the search goes: so many runs whose cylinders are nearest, and all within so many cylinders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    runs: usize,
    cylinders: Option<u32>,
}

impl Reach {
    /// From a description; without either, everything is compared.
    pub(crate) fn new(runs: Option<u32>, cylinders: Option<u32>) -> Self {
        let all = if cylinders.is_some() { 1 } else { usize::MAX };
        Self { runs: runs.map_or(all, |runs| runs as usize), cylinders }
    }

    /// Whether a run `distance` cylinders away is compared after `before` others.
    fn includes(self, before: usize, distance: u32) -> bool {
        before < self.runs || self.cylinders.is_some_and(|cylinders| distance <= cylinders)
    }
}

/// First sectors of what waits to be written, by cylinder and address. Few of very many cylinders hold one, so the search
/// goes from one to the next, outward from the arm; it ends where the distance alone takes longer than the best found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<(u32, u64), Target>);

impl Places {
    pub(crate) fn insert(&mut self, lba: u64, target: Target) {
        self.0.insert((target.cylinder, lba), target);
    }

    pub(crate) fn remove(&mut self, lba: u64, target: &Target) {
        self.0.remove(&(target.cylinder, lba));
    }

    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.0.keys().copied()
    }

    /// The address whose sector comes under the head of one of several arms soonest; among equals the one found first, arm
    /// by arm and going outward. Each arm looks as far as `reach` says.
    pub(crate) fn soonest(&self, arms: &[Estimate<'_>], reach: Reach) -> Option<u64> {
        let mut best = (Nanos::MAX, None);
        for estimate in arms {
            self.search(estimate, reach, &mut best);
        }
        best.1
    }

    /// Finds what comes sooner than the best so far.
    fn search(&self, estimate: &Estimate<'_>, reach: Reach, best: &mut (Nanos, Option<u64>)) {
        let from = estimate.cylinder(Op::Write);
        let mut above = self.0.range((from, 0)..).peekable();
        let mut below = self.0.range(..(from, 0)).rev().peekable();
        for before in 0.. {
            let up = above.peek().map(|((cylinder, _), _)| cylinder - from);
            let down = below.peek().map(|((cylinder, _), _)| from - cylinder);
            let next = match (up, down) {
                (Some(up), Some(down)) if down < up => below.next(),
                (Some(_), _) => above.next(),
                (None, _) => below.next(),
            };
            let Some((&(cylinder, lba), target)) = next else { return };
            let distance = cylinder.abs_diff(from);
            if !reach.includes(before, distance) || estimate.ready_at_least(Op::Write, distance) >= best.0 {
                return;
            }
            let start = estimate.start(Op::Write, target, 1);
            if start < best.0 {
                *best = (start, Some(lba));
            }
        }
    }
}
