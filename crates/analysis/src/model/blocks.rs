//! Which blocks of a trace stand for which: those that load a drive alike, so that no burst is lost because it is rare.
//!
//! The blocks closest to each other become one, until few enough are left (Ward's clustering: Ward 1963, of whom the block nearest to
//! the mean of its group is kept).

use std::collections::BTreeMap;

use super::Place;
use super::excerpts::Excerpt;

/// What is told of a block, each in units in which a difference of 1 is notable.
const KINDS: usize = 10;
/// Requests in whose shortest time a burst shows.
const BURST: usize = 32;

/// The middle of the places of a block, of one device and direction, where these are a stream.
#[derive(Clone, Copy)]
pub(super) struct Middle {
    pub(super) device: u32,
    pub(super) writes: bool,
    lba: u64,
}

impl Middle {
    /// How far from it the other lies.
    pub(super) fn shift_to(&self, other: &Self) -> Option<i64> {
        let by = i128::from(other.lba) - i128::from(self.lba);
        i64::try_from(by).ok().filter(|shift| *shift != 0)
    }
}

/// Fewer places are no stream.
const PLACES: usize = 16;

/// Of ten places of a stream nine lie beyond the one before.
fn is_stream(places: &[u64]) -> bool {
    let rising = places.windows(2).filter(|pair| pair[0] < pair[1]).count();
    places.len() >= PLACES && rising * 10 >= (places.len() - 1) * 9
}

fn middles(excerpt: &Excerpt) -> Vec<Middle> {
    let mut places = BTreeMap::<_, Vec<u64>>::new();
    for sample in &excerpt.samples {
        places.entry((sample.device, sample.writes())).or_default().push(sample.lba);
    }
    let streams = places.into_iter().filter(|(_, all)| is_stream(all));
    streams
        .map(|((device, writes), mut all)| {
            let at = all.len() / 2;
            Middle { device, writes, lba: *all.select_nth_unstable(at).1 }
        })
        .collect()
}

/// A block of the trace.
pub(super) struct Member {
    pub(super) number: u32,
    pub(super) middles: Vec<Middle>,
}

/// A block, and what it stands for.
pub(super) struct Group {
    pub(super) excerpt: Excerpt,
    /// Of the block that is kept.
    own: [f64; KINDS],
    /// The mean of all it stands for.
    mean: [f64; KINDS],
    /// These blocks.
    pub(super) members: Vec<Member>,
}

/// What values of a whole trace a block's place and number are told in.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) requests: u64,
    pub(super) last_lba: u64,
}

impl Group {
    pub(super) fn of(excerpt: Excerpt, number: u32) -> Self {
        let own = kinds(&excerpt);
        let members = vec![Member { number, middles: middles(&excerpt) }];
        Self { excerpt, own, mean: own, members }
    }

    /// By how much more the blocks of both would differ from their mean, than those of each from its own.
    fn apart(&self, other: &Self, extent: Extent) -> f64 {
        let (one, two) = (self.members.len() as f64, other.members.len() as f64);
        one * two / (one + two) * squared(&self.mean, &other.mean, extent)
    }

    fn join(&mut self, other: Self, extent: Extent) {
        let (one, two) = (self.members.len() as f64, other.members.len() as f64);
        for (mean, other) in self.mean.iter_mut().zip(other.mean) {
            *mean = (*mean * one + other * two) / (one + two);
        }
        self.members.extend(other.members);
        // The last block of a trace, which is shorter, stands for no other.
        let shorter = |excerpt: &Excerpt, than: &Excerpt| excerpt.samples.len() < than.samples.len();
        let nearer = squared(&other.own, &self.mean, extent) < squared(&self.own, &self.mean, extent);
        if shorter(&self.excerpt, &other.excerpt) || (nearer && !shorter(&other.excerpt, &self.excerpt)) {
            (self.excerpt, self.own) = (other.excerpt, other.own);
        }
    }
}

/// Joins groups until no more than `most` are left.
pub(super) fn join(groups: Vec<Group>, most: usize, extent: Extent) -> Vec<Group> {
    let mut left = groups.len();
    let mut groups: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    let mut nearest: Vec<Option<(f64, usize)>> =
        (0..groups.len()).map(|at| nearest_to(&groups, at, extent)).collect();
    while left > most {
        let pairs = nearest.iter().enumerate().filter_map(|(at, near)| near.map(|(far, to)| (far, at, to)));
        let Some((_, at, to)) = pairs.min_by(|one, other| one.0.total_cmp(&other.0)) else { break };
        let other = groups[to].take();
        if let (Some(group), Some(other)) = (groups[at].as_mut(), other) {
            group.join(other, extent);
        }
        left -= 1;
        for (again, near) in nearest.iter_mut().enumerate() {
            if [at, to].contains(&again) || near.is_some_and(|(_, its)| [at, to].contains(&its)) {
                *near = nearest_to(&groups, again, extent);
            }
        }
    }
    groups.into_iter().flatten().collect()
}

fn nearest_to(groups: &[Option<Group>], at: usize, extent: Extent) -> Option<(f64, usize)> {
    let this = groups[at].as_ref()?;
    let others = groups.iter().enumerate().filter(|&(other, _)| other != at);
    others
        .filter_map(|(number, other)| Some((this.apart(other.as_ref()?, extent), number)))
        .min_by(|one, other| one.0.total_cmp(&other.0))
}

fn squared(one: &[f64; KINDS], other: &[f64; KINDS], extent: Extent) -> f64 {
    let number = 4.0 / extent.requests.max(1) as f64;
    let place = 4.0 / extent.last_lba.max(1) as f64;
    let scales = [1.0, 1.0, 2.0, 4.0, 4.0, 4.0, 0.5, 4.0, number, place];
    one.iter().zip(other).zip(scales).map(|((one, other), scale)| ((one - other) * scale).powi(2)).sum()
}

/// How long it takes, and its densest part; mean size, in doublings; shares of reads, of writes with a jump before, of runs and of
/// returns; mean distance, in doublings; number and mean place.
fn kinds(excerpt: &Excerpt) -> [f64; KINDS] {
    let samples = &excerpt.samples;
    let count = samples.len() as f64;
    let doublings = |value: u64| (value as f64 + 1.0).log2();
    let share = |count_of: usize| count_of as f64 / count;
    let instants: Vec<u64> = samples
        .iter()
        .scan(0, |now, sample| {
            *now += sample.gap_ns;
            Some(*now)
        })
        .collect();
    let over = |length: usize| {
        let times = instants.iter().zip(instants.iter().skip(length)).map(|(from, to)| to - from);
        times.min().unwrap_or(0)
    };
    let jumps: Vec<(u64, bool)> = samples
        .iter()
        .zip(&samples[1..])
        .map(|(one, next)| (next.lba.abs_diff(one.lba + u64::from(one.sectors)), next.writes()))
        .collect();
    let sectors: u64 = samples.iter().map(|sample| u64::from(sample.sectors)).sum();
    [
        doublings(over(samples.len() - 1) / 1000),
        doublings(over(BURST.min(samples.len() - 1)) / 1000),
        (sectors as f64 / count).log2(),
        share(samples.iter().filter(|sample| !sample.writes()).count()),
        share(jumps.iter().filter(|(distance, writes)| *writes && *distance > 0).count()),
        share(jumps.iter().filter(|(distance, _)| *distance == 0).count()),
        jumps.iter().map(|(distance, _)| doublings(*distance)).sum::<f64>() / count,
        share(samples.iter().filter(|sample| sample.place == Place::Again).count()),
        excerpt.first as f64,
        samples.iter().map(|sample| sample.lba as f64).sum::<f64>() / count,
    ]
}
