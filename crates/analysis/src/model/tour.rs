//! In which order kept requests are copied.
//!
//! For each block of the trace the excerpt that stands for it is copied, from where it is most like the pace of that block, and once
//! around. Now and then two short pieces change places, where that changes distances least (*matched* blocks: Carlstein et al. 1998).

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use rand::RngExt;
use rand_pcg::Pcg64;

use super::WorkloadModel;
use super::excerpts::{BLOCK, Excerpt, Sample};

/// Requests to a piece that is exchanged, at most. Within so many the pace hardly changes.
const PIECE: usize = 16;
/// Exchanges that are drawn to take the best one.
const DRAWN: usize = 32;

/// Requests between two exchanges, at most.
const STRETCH: usize = 512;

/// A shorter trace goes through so many blocks in a row, evenly over the original, if there are so many rows; through its beginning
/// otherwise.
const ROW: usize = 4;
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
    /// The block stands for another, whose pace is kept.
    Stretched,
}

/// Goes through the excerpts of a model, again and again.
pub(super) struct Tour<'a> {
    model: &'a WorkloadModel,
    /// The blocks to go through, which of them is being made, and how many requests of it have been.
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
}

impl<'a> Tour<'a> {
    /// One that makes so many requests.
    pub(super) fn new(model: &'a WorkloadModel, requests: u64) -> Self {
        let order = order(model, requests);
        let links = Links::of(&excerpt(model, order[0]).samples);
        let mut tour =
            Self { model, order, turn: 0, copied: 0, links, at: 0, ahead: VecDeque::new(), skipped: 0 };
        tour.at = tour.begin();
        tour
    }

    /// The block being made.
    fn block(&self) -> usize {
        self.order[self.turn]
    }

    /// Whether the block stands for itself.
    fn own(&self) -> bool {
        excerpt(self.model, self.block()).first == (self.block() * BLOCK) as u64
    }

    /// How many requests of the block are yet to be copied.
    pub(super) fn left(&self) -> u64 {
        self.needed() - self.copied
    }

    /// How far beside its original a new place of the block being made lies, in sectors.
    pub(super) fn shift(&self, sample: &Sample) -> i64 {
        let shifts = &self.model.blocks[self.block()].shifts;
        let of = shifts.iter().find(|shift| (shift.0, shift.1) == (sample.device, sample.writes()));
        of.map_or(0, |(_, _, by)| *by)
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
                let moved = stretch.moved;
                let gap = self.gap(moved);
                self.copied += 1;
                return (&self.links.samples[at], gap);
            }
            self.ahead.pop_front();
        }
    }

    /// A block that stands for itself comes where and when it does in the original. The gaps of what changed places add up to the
    /// same time.
    fn gap(&self, moved: bool) -> Gap {
        match (self.own(), moved) {
            (false, _) => Gap::Stretched,
            (true, _) if self.copied == 0 && !self.continues() => Gap::Paced,
            (true, true) => Gap::Kept,
            (true, false) => Gap::Nearer,
        }
    }

    /// Whether the block goes on where the one before ends.
    fn continues(&self) -> bool {
        let Some(before) = self.turn.checked_sub(1).map(|before| self.order[before]) else { return false };
        before + 1 == self.block() && excerpt(self.model, before).first == (before * BLOCK) as u64
    }

    /// From where the excerpt is copied: where the times of its requests, so many at a time as those of the pace, are most like
    /// those of the block. So a burst stands where the block has one.
    fn begin(&self) -> usize {
        let (pace, samples) = (&self.model.pace, self.links.samples);
        let every = pace.every as usize;
        if self.own() || samples.len() != BLOCK || self.needed() != BLOCK as u64 {
            return 0;
        }
        let doublings = |ns: u64| (ns as f64 + 1000.0).log2();
        let first = (self.block() * BLOCK) as u64;
        let instant = |at: usize| pace.instant(first + (at * every) as u64);
        let wanted: Vec<f64> =
            (0..BLOCK / every).map(|at| doublings(instant(at + 1) - instant(at))).collect();
        let has: Vec<f64> = (0..BLOCK / every)
            .map(|at| (1..=every).map(|next| samples[(at * every + next) % BLOCK].gap_ns).sum())
            .map(doublings)
            .collect();
        let apart = |turn: usize| -> f64 {
            let turned = has.iter().cycle().skip(turn);
            wanted.iter().zip(turned).map(|(one, other)| (one - other).abs()).sum()
        };
        let best = (0..has.len()).min_by(|&one, &other| apart(one).total_cmp(&apart(other)));
        best.unwrap_or(0) * every
    }

    /// Requests of the block.
    fn needed(&self) -> u64 {
        let [from, to] = reach(self.model, self.block());
        to - from
    }

    /// To the next block; after the last to the first.
    fn turn(&mut self) {
        let [_, end] = reach(self.model, self.block());
        self.turn = (self.turn + 1) % self.order.len();
        let [begin, _] = reach(self.model, self.block());
        self.skipped += if self.turn > 0 { begin - end } else { self.model.pace.requests - end + begin };
        self.links = Links::of(&excerpt(self.model, self.block()).samples);
        self.copied = 0;
        self.at = self.begin();
        self.ahead.clear();
    }

    /// A stretch, and two pieces after it that change places.
    fn plan(&mut self, random: &mut Pcg64) {
        let all = self.links.samples.len();
        let from = self.at % all;
        let first = (from + random.random_range(1..=STRETCH)).min(all);
        self.ahead.push_back(Stretch { samples: from..first, moved: false });
        self.at = first;
        if let Some((middle, end)) = self.exchange(first, random) {
            self.ahead.push_back(Stretch { samples: middle..end, moved: true });
            self.ahead.push_back(Stretch { samples: first..middle, moved: true });
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

/// What stands for a block.
fn excerpt(model: &WorkloadModel, block: usize) -> &Excerpt {
    &model.excerpts[model.blocks[block].excerpt as usize]
}

/// From which request of the trace to before which one a block goes.
fn reach(model: &WorkloadModel, block: usize) -> [u64; 2] {
    let end = |blocks: usize| ((blocks * BLOCK) as u64).min(model.pace.requests);
    [end(block), end(block + 1)]
}

/// The blocks that a trace of so many requests goes through: of a shorter one than the original as many as it needs, evenly over it,
/// and the first among them.
fn order(model: &WorkloadModel, requests: u64) -> Vec<usize> {
    let all = model.blocks.len();
    let rows = all.div_ceil(ROW);
    let needed = requests.div_ceil((ROW * BLOCK) as u64);
    if needed < FEWEST as u64 || needed >= rows as u64 {
        return (0..all).collect();
    }
    let needed = needed as usize;
    (0..needed).map(|at| at * rows / needed * ROW).flat_map(|first| first..(first + ROW).min(all)).collect()
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
