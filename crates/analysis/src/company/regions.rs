//! The grid of regions in which reads of a device are compared: of several sizes, the largest half of it or more.

use std::collections::VecDeque;

use headstack_units::Lba;

use crate::effect::{Differences, Effect, FEWEST, FEWEST_READS, LEAST, Logs, WINDOW};
use crate::extent::{are_large_enough, extent};

/// Of fewer regions of a size none is said to be slower than most.
const FEWEST_REGIONS: usize = 4;

/// Regions of so many sizes are asked, the largest half of a device or more: 2,048 of the smallest and half as many of each next.
const LEVELS: usize = 11;

/// Of the sizes of which there are so many regions or more, those next to one are not among the others it is compared with: a slow
/// place may lie across two. Of larger sizes they are most of the device.
const APART: u32 = 4;

/// The media pass under the head at the rim this share faster than at the hub, at most: a stream at the end of a device takes so much
/// longer for that alone.
const ZONES: f64 = 0.5;

/// The smallest, as a power of two sectors: 16 MiB of 512 bytes.
const SMALLEST: u32 = 15;

/// Regions of several sizes, each twice as large as the one before, by number.
#[derive(Debug)]
pub(super) struct Regions {
    /// Of the smallest, as a power of two sectors.
    size: u32,
    levels: VecDeque<Vec<Differences>>,
    /// The stretch before, of each sort.
    last: [Vec<(Lba, f64)>; 2],
    /// The largest sector seen.
    largest: u64,
}

impl Default for Regions {
    fn default() -> Self {
        Self {
            size: SMALLEST,
            last: Default::default(),
            largest: 0,
            levels: VecDeque::from(vec![Vec::new(); LEVELS]),
        }
    }
}

impl Regions {
    /// Takes a stretch. Each size is asked by itself: of a small region's others, some may lie in the larger one.
    ///
    /// A region's reads are compared with those of elsewhere that came before them, in this stretch and the last one: those that came
    /// after wait behind them where the device serves one at a time, and a slow region would look less slow. Of streams, what zones of the
    /// media may make of it is taken off.
    pub(super) fn add(&mut self, stretch: impl Iterator<Item = (Lba, f64)>, sort: usize) {
        let last = std::mem::replace(&mut self.last[sort], stretch.collect());
        let now = self.last[sort].iter().map(|&(lba, log)| (lba, log, true));
        let reads = last.into_iter().map(|(lba, log)| (lba, log, false)).chain(now);
        let (mut all, mut sum) = (Vec::with_capacity(2 * WINDOW), Logs::default());
        for (order, (lba, log, is_new)) in reads.enumerate() {
            all.push(Placed { lba: lba.0, log, order, is_new, before: sum });
            sum.add(log);
        }
        all.sort_unstable_by_key(|read| (read.lba, read.order));
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
        while last.lba >> self.size >> LEVELS != 0 {
            self.grow();
        }
        // In one region all together, they are in one of each larger size, too.
        self.largest = self.largest.max(last.lba);
        let (streams, largest) = (sort == 1, self.largest.max(1) as f64);
        let zone = |lba: u64| (1.0 - ZONES * lba as f64 / largest).ln();
        let zones: f64 = all.iter().map(|read| zone(read.lba)).sum();
        let smallest = self.size;
        let tells_apart = |size: &u32| first.lba >> size != last.lba >> size;
        for (size, found) in (self.size..).take_while(tells_apart).zip(&mut self.levels) {
            let apart = Self::are_apart(smallest, size);
            let each: Vec<&[Placed]> =
                all.chunk_by(|one, next| one.lba >> size == next.lba >> size).collect();
            for (place, there) in each.iter().enumerate() {
                if !there.iter().any(|read| read.is_new) {
                    continue;
                }
                let at = there[0].lba >> size;
                let is_next_to = |other: &&&[Placed]| apart && (other[0].lba >> size).abs_diff(at) == 1;
                let before = place.checked_sub(1).and_then(|before| each.get(before)).filter(is_next_to);
                let after = each.get(place + 1).filter(is_next_to);
                let Some((those, mut others)) = compared(there, [before.copied(), after.copied()]) else {
                    continue;
                };
                if streams && there.len() < all.len() {
                    let own: f64 = there.iter().map(|read| zone(read.lba)).sum();
                    let elsewhere = (zones - own) / (all.len() - there.len()) as f64;
                    let slower = (elsewhere - own / there.len() as f64).max(0.0);
                    others = Logs::of_mean(others.mean().unwrap_or(0.0) + slower, others.count());
                }
                let at = at as usize;
                if found.len() <= at {
                    found.resize(at + 1, Differences::default());
                }
                found[at].add(those, others);
            }
        }
    }

    /// The smallest are forgotten, and larger ones looked at.
    fn grow(&mut self) {
        self.levels.pop_front();
        self.size += 1;
        let halves = self.levels.back().map(|largest| {
            largest.chunks(2).map(|two| {
                let mut both = two[0];
                two[1..].iter().for_each(|other| both.merge(*other));
                both
            })
        });
        let larger = halves.map(Iterator::collect).unwrap_or_default();
        self.levels.push_back(larger);
    }

    /// What was found in each. Where one region is much faster than the rest, the rest is slower than the others on average; so
    /// a region must be slower than most of its size. Reads that a cache answers or not are of two sorts: a dozen of one sort
    /// come together by chance in one of thousands of regions, and seem to vary little.
    pub(super) fn all(&self) -> impl Iterator<Item = Region> {
        // Of all sizes together: regions that hold the same reads are equally sure, and the smallest comes first.
        let scatter = self.levels.iter().flatten().map(Differences::scatter).sum();
        (self.size..).zip(&self.levels).flat_map(move |(size, found)| {
            let mut means: Vec<f64> =
                found.iter().filter(|sums| sums.count() >= FEWEST).map(Differences::mean).collect();
            means.sort_unstable_by(f64::total_cmp);
            let usual = if means.len() >= FEWEST_REGIONS { means[means.len() / 2] } else { f64::INFINITY };
            (0_u64..).zip(found).map(move |(at, sums)| Region {
                first: at << size,
                last: (at << size) + (1 << size) - 1,
                sums: sums.among_alike(scatter),
                usual,
            })
        })
    }

    /// Whether regions of a size are not held against those next to them.
    fn are_apart(smallest: u32, size: u32) -> bool {
        size <= smallest + LEVELS as u32 - APART
    }

    /// Where what is slow at those sectors begins and ends, and what it does.
    pub(super) fn bounded(&self, first: u64, last: u64) -> Option<(u64, u64, Effect)> {
        let mut sizes = (self.size..).zip(&self.levels).map(|(size, cells)| {
            let end = ((last >> size) as usize + 1).min(cells.len());
            (size, cells, (first >> size) as usize..end)
        });
        let whole = |(size, cells, named): &(u32, &Vec<Differences>, std::ops::Range<usize>)| {
            first.is_multiple_of(1 << size) && !named.is_empty() && are_large_enough(cells, named)
        };
        let (size, cells, named) = sizes.find(whole)?;
        let (ends, sums) = extent(cells, named, usize::from(Self::are_apart(self.size, size)))?;
        let effect = sums.effect_of_many("slow-region", 1, LEAST);
        let told = effect.times_as_long.is_some_and(|times| times > 1.0);
        told.then(|| {
            (
                (ends.start as u64) << size,
                ((ends.end as u64) << size) - 1,
                Effect { found: true, withheld: None, ..effect },
            )
        })
    }
}

/// A read among those that a stretch is about.
#[derive(Clone, Copy, Debug)]
struct Placed {
    lba: u64,
    log: f64,
    /// Its place in order of arrival, and whether it came in the last stretch.
    order: usize,
    is_new: bool,
    /// All that came before it.
    before: Logs,
}

/// The new reads of a region, and those that came before them and are neither its own nor next to it.
fn compared(there: &[Placed], next_to: [Option<&[Placed]>; 2]) -> Option<(Logs, Logs)> {
    let new = || there.iter().filter(|read| read.is_new);
    let not_others = || next_to.into_iter().flatten().flatten().chain(there);
    let (mut most, mut all) = (0, Logs::default());
    for read in new() {
        let own = not_others().filter(|other| other.order < read.order).map(|other| other.log);
        let others = read.before.without(own.collect());
        most = most.max(others.count());
        all = all.with(others);
    }
    // Each of them is one read, however many of the region's it came before.
    let others = all.mean().map(|mean| Logs::of_mean(mean, most))?;
    (most >= FEWEST_READS).then(|| (new().map(|read| read.log).collect(), others))
}

/// A region, and how its reads compare with others.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) sums: Differences,
    /// The median of its size.
    pub(super) usual: f64,
}
