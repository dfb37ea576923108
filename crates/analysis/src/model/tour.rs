//! In which order kept requests are copied.
//!
//! Each excerpt is copied from its begin to its end, as often as it takes to reach the place of the next one, so that every
//! request of it counts as much as any other (a *balanced* bootstrap: Davison, Hinkley & Schechtman 1986). Now and then two
//! short pieces change places, where that changes distances least (*matched* blocks: Carlstein et al. 1998).

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use rand::RngExt;
use rand_pcg::Pcg64;

use super::WorkloadModel;
use super::excerpts::Sample;

/// Requests to a piece that is exchanged, at most. Within so many the pace hardly changes.
const PIECE: usize = 16;
/// Exchanges that are drawn to take the best one.
const DRAWN: usize = 32;

/// A shorter trace goes through excerpts evenly over the original, if they are so many; through its beginning otherwise.
const FEWEST: usize = 4;

/// How a copied request keeps to the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// It comes after the gap of its original.
    Kept,
    /// It comes after that gap, by a part of it nearer to the pace.
    Nearer,
    /// The pace alone counts.
    Paced,
}

/// Goes through the excerpts of a model, again and again.
pub(super) struct Tour<'a> {
    model: &'a WorkloadModel,
    /// The excerpts to go through, which of them is being copied, and how many requests of it have been.
    order: Vec<usize>,
    turn: usize,
    copied: u64,
    links: Links<'a>,
    /// Where in the excerpt the next stretch begins, and the stretches before it that are yet to be copied.
    at: usize,
    ahead: VecDeque<Stretch>,
    skipped: u64,
}

/// Requests of an excerpt that are copied one after another.
struct Stretch {
    samples: Range<usize>,
    /// Whether it has changed places with another.
    moved: bool,
    begun: bool,
}

impl Stretch {
    fn new(samples: Range<usize>, moved: bool) -> Self {
        Self { samples, moved, begun: false }
    }
}

impl<'a> Tour<'a> {
    /// One that makes so many requests.
    pub(super) fn new(model: &'a WorkloadModel, requests: u64) -> Self {
        let order = order(model, requests);
        let links = Links::of(&model.excerpts[0].samples);
        Self { model, order, turn: 0, copied: 0, links, at: 0, ahead: VecDeque::new(), skipped: 0 }
    }

    /// The excerpt being copied.
    fn excerpt(&self) -> usize {
        self.order[self.turn]
    }

    /// Requests of the original that were passed over.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The next request to copy.
    pub(super) fn next(&mut self, random: &mut Pcg64) -> (&'a Sample, Gap) {
        if self.copied == self.needed() {
            self.turn();
        }
        loop {
            let Some(stretch) = self.ahead.front_mut() else {
                self.plan(random);
                continue;
            };
            if let Some(at) = stretch.samples.next() {
                let (moved, begins) = (stretch.moved, !std::mem::replace(&mut stretch.begun, true));
                let gap = self.gap(moved, begins);
                self.copied += 1;
                return (&self.links.samples[at], gap);
            }
            self.ahead.pop_front();
        }
    }

    /// As long as an excerpt is copied for the first time, it comes where and when its original does. The gaps of what changed places
    /// add up to the same time.
    fn gap(&self, moved: bool, begins: bool) -> Gap {
        let first_time = self.copied < self.links.samples.len() as u64;
        match (first_time, moved, begins) {
            (true, ..) if self.copied == 0 && !self.continues() => Gap::Paced,
            (true, true, _) => Gap::Kept,
            (false, _, true) => Gap::Paced,
            _ => Gap::Nearer,
        }
    }

    /// Whether the excerpt goes on where the one before ends.
    fn continues(&self) -> bool {
        let excerpts = &self.model.excerpts;
        let at = self.excerpt();
        let follows = self.turn > 0 && self.order[self.turn - 1] + 1 == at;
        at.checked_sub(1).filter(|_| follows).is_some_and(|before| {
            let before = &excerpts[before];
            before.first + before.samples.len() as u64 == excerpts[at].first
        })
    }

    /// Requests of the trace from this excerpt to the next.
    fn needed(&self) -> u64 {
        let [from, to] = reach(self.model, self.excerpt());
        to - from
    }

    /// To the next excerpt; after the last to the first.
    fn turn(&mut self) {
        let [_, end] = reach(self.model, self.excerpt());
        self.turn = (self.turn + 1) % self.order.len();
        let [begin, _] = reach(self.model, self.excerpt());
        self.skipped += if self.turn > 0 { begin - end } else { self.model.pace.requests - end + begin };
        self.links = Links::of(&self.model.excerpts[self.excerpt()].samples);
        (self.copied, self.at) = (0, 0);
        self.ahead.clear();
    }

    /// A stretch of up to half the excerpt, and two pieces after it that change places.
    fn plan(&mut self, random: &mut Pcg64) {
        let all = self.links.samples.len();
        let from = self.at % all;
        let first = (from + random.random_range(1..=all.div_ceil(2))).min(all);
        self.ahead.push_back(Stretch::new(from..first, false));
        self.at = first;
        if let Some((middle, end)) = self.exchange(first, random) {
            self.ahead.push_back(Stretch::new(middle..end, true));
            self.ahead.push_back(Stretch::new(first..middle, true));
            self.at = end;
        }
    }

    /// Where two pieces end of which the first begins at `first`; none where the excerpt ends.
    fn exchange(&self, first: usize, random: &mut Pcg64) -> Option<(usize, usize)> {
        (0..DRAWN)
            .map(|_| {
                let middle = first + random.random_range(1..=PIECE);
                (middle, middle + random.random_range(1..=PIECE))
            })
            .filter(|&(_, end)| end <= self.links.samples.len())
            .min_by_key(|&(middle, end)| self.links.change(first, middle, end))
    }
}

/// From which request of the trace to before which one an excerpt stands for them.
fn reach(model: &WorkloadModel, excerpt: usize) -> [u64; 2] {
    let from = if excerpt == 0 { 0 } else { model.excerpts[excerpt].first };
    [from, model.excerpts.get(excerpt + 1).map_or(model.pace.requests, |next| next.first)]
}

/// The excerpts that a trace of so many requests goes through: of a shorter one than the original as many as it needs, evenly over it,
/// and the first among them.
fn order(model: &WorkloadModel, requests: u64) -> Vec<usize> {
    let all = model.excerpts.len();
    let evenly = |count: usize| (0..count).map(|at| at * all / count).collect::<Vec<_>>();
    let holds = |order: &[usize]| {
        order.iter().map(|&at| reach(model, at)).map(|[from, to]| to - from).sum::<u64>() >= requests
    };
    let needed = (1..all).map(evenly).find(|order| holds(order));
    needed.filter(|order| order.len() >= FEWEST).unwrap_or_else(|| (0..all).collect())
}

/// An excerpt, and which request of the same device comes before and after each.
struct Links<'a> {
    samples: &'a [Sample],
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
}

impl<'a> Links<'a> {
    fn of(samples: &'a [Sample]) -> Self {
        let (mut before, mut after) = (vec![None; samples.len()], vec![None; samples.len()]);
        let mut last = BTreeMap::new();
        for (at, sample) in samples.iter().enumerate() {
            before[at] = last.insert(sample.device, at);
            if let Some(before) = before[at] {
                after[before] = Some(at);
            }
        }
        Self { samples, before, after }
    }

    /// By how many steps of [`step`] distances change in all, device by device and in order of length, if the pieces on both sides of
    /// `middle` change places.
    fn change(&self, first: usize, middle: usize, end: usize) -> u32 {
        let begins = (first..middle).filter(|&at| self.before[at].is_none_or(|before| before < first));
        begins
            .filter_map(|begin| {
                let last = self.last(begin, middle);
                let other = self.after[last].filter(|&at| at < end)?;
                let other_last = self.last(other, end);
                let (from, to) = (self.before[begin], self.after[other_last]);
                let step = |from, to| self.step(from, to);
                let mut is =
                    [step(from, Some(begin)), step(Some(last), Some(other)), step(Some(other_last), to)];
                let mut would =
                    [step(from, Some(other)), step(Some(other_last), Some(begin)), step(Some(last), to)];
                is.sort_unstable();
                would.sort_unstable();
                Some(is.iter().zip(would).map(|(is, would)| is.abs_diff(would)).sum::<u32>())
            })
            .sum()
    }

    /// The last request before `end` on the device of the one at `at`.
    fn last(&self, mut at: usize, end: usize) -> usize {
        while let Some(after) = self.after[at].filter(|&after| after < end) {
            at = after;
        }
        at
    }

    /// The distance from the end of a request to the begin of another, in eighths of a doubling; 0 where one of them is not known.
    fn step(&self, from: Option<usize>, to: Option<usize>) -> u32 {
        let (Some(from), Some(to)) = (from, to) else { return 0 };
        let (from, to) = (&self.samples[from], &self.samples[to]);
        eighths(to.lba.abs_diff(from.lba.saturating_add(u64::from(from.sectors))))
    }
}

/// Eighths of a doubling from 1 to `distance` + 1, in round figures.
fn eighths(distance: u64) -> u32 {
    let all = u128::from(distance) + 1;
    let doublings = all.ilog2();
    8 * doublings + ((all << 3 >> doublings) as u32 & 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Place;
    use headstack_units::Op;

    fn sample(device: u32, lba: u64) -> Sample {
        Sample { gap_ns: 1, device, op: Op::Read, flags: 0, sectors: 8, lba, place: Place::Fresh }
    }

    #[test]
    fn a_distance_counts_by_its_ratio() {
        assert_eq!(eighths(0), 0);
        assert_eq!(eighths(7) - eighths(3), 8);
        assert_eq!(eighths(1 << 40) - eighths(1 << 30), 80);
        assert_eq!(eighths(1535) - eighths(1023), 4);
        assert!(eighths(u64::MAX) > eighths(u64::MAX - (1 << 62)));
    }

    #[test]
    fn an_exchange_that_breaks_a_run_changes_more() {
        // A run on device 0, with single requests of device 1 and 2 between.
        let samples =
            [sample(0, 0), sample(0, 8), sample(1, 500), sample(2, 90_000), sample(0, 16), sample(0, 24)];
        let links = Links::of(&samples);
        assert_eq!(links.change(2, 3, 4), 0);
        assert_eq!(links.change(1, 2, 3), 0);
        assert!(links.change(0, 1, 2) > 0);
        assert!(links.change(1, 3, 5) > 0);
    }

    #[test]
    fn requests_far_apart_may_change_places() {
        // From place to place 1,000 sectors away; exchanging two of them makes one step of 2,000, and one of 2,000 again.
        let samples: Vec<_> = (0..4).map(|k| sample(0, k * 1008)).collect();
        let links = Links::of(&samples);
        // 1000 1000 1000 become 2008, 1016, 2008.
        assert_eq!(
            links.change(1, 2, 3),
            2 * (eighths(2008) - eighths(1000)) + eighths(1016) - eighths(1000)
        );
    }
}
