//! The order of tracks: how many lie between changes of the rarer skew, and what that means.

use super::density;
use super::least::{self, Least};
use super::tracks::{Border, borders, tracks_at_start};
use crate::angles::median::median;
use crate::angles::spindle::Spindle;
use crate::record::series::surfaces::{BESIDE, NEXT, OVER, TRACKS, WAYS};
use crate::record::series::switches::{COMMON, RARE, READS, SAME_TRACK};
use crate::record::{ProbeName, Record};
use headstack_drive::spec::Order;
use std::collections::BTreeMap;

/// By how much two tracks must be farther than one to be two cylinders, in ms.
const LEAST_GROWTH_MS: f64 = 0.008;
/// By how much less the way to the next cylinder must take than a change of head, in ms and as a share.
const LEAST_LESS_MS: f64 = 0.02;
const LEAST_LESS: f64 = 0.02;

/// A way's number and its least time.
pub(crate) type Timed = (i64, Least);

/// How the rarer skew recurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Position of the first track behind a change of the rarer skew.
    pub(crate) first_rare: usize,
    /// Tracks from one to the next.
    pub(crate) spacing: usize,
    /// How often twice as many lie between.
    pub(crate) double_gaps: usize,
    /// Changes of the rarer skew from one such gap to the next.
    pub(crate) between_double: usize,
}

/// The order of tracks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TrackOrder {
    /// Along one surface for a group of cylinders, then along the next; otherwise cylinder by cylinder.
    pub(crate) by_surface: bool,
    /// Cylinder by cylinder, and from one to the next the head stays: it goes back and forth over the heads.
    pub(crate) head_stays: bool,
    /// Told by times: the skews are all alike.
    pub(crate) by_times: bool,
    /// Whether the surfaces were counted: otherwise each track is taken for a cylinder of its own.
    pub(crate) counted: bool,
    /// Surfaces.
    pub(crate) heads: u32,
    /// Cylinders in a group; 1 by cylinder.
    pub(crate) group_cylinders: u64,
}

/// The pattern of the rarer skew; `None` until three changes lie evenly, with other tracks between them.
pub(crate) fn pattern(borders: &[Border]) -> Option<Pattern> {
    let places: Vec<usize> = (0..borders.len()).filter(|&place| borders[place].rare).collect();
    let gaps: Vec<usize> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // The gap that is seen most often; of equals the smallest.
    let count = |gap: usize| gaps.iter().filter(|&&other| other == gap).count();
    let spacing = gaps.iter().copied().max_by_key(|&gap| (count(gap), usize::MAX - gap))?;
    // One behind the other they are of another zone, whose skews are all alike.
    if count(spacing) < 2 || spacing < 2 {
        return None;
    }
    let even = gaps.iter().position(|&gap| gap == spacing)?;
    let doubles: Vec<usize> = (0..gaps.len()).filter(|&place| gaps[place] == 2 * spacing).collect();
    let between_double = doubles.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    Some(Pattern { first_rare: places[even], spacing, double_gaps: doubles.len(), between_double })
}

/// Whether the tracks between two changes of the rarer skew lie along one surface: then the way to the last of them is longer
/// than that to the next, while within a cylinder all are head switches. `None` if that was not measured.
pub(crate) fn by_surface(record: &Record, spindle: Option<Spindle>) -> Option<bool> {
    let ways = times(record, spindle?, WAYS);
    let (next, last) = (ways.get(&0)?.ms, ways.get(&1)?.ms);
    Some((last - next).abs() > 0.02_f64.max(0.02 * next))
}

/// The order of tracks, as far as the record shows it: by skews of two kinds, else by times.
pub(crate) fn order(record: &Record, spindle: Spindle) -> Option<TrackOrder> {
    by_skews(record, spindle).or_else(|| by_times(record, spindle))
}

impl TrackOrder {
    /// Where nothing tells how many tracks a cylinder has: seeks are then measured over tracks.
    pub(crate) fn not_counted() -> Self {
        Self {
            by_surface: false,
            head_stays: false,
            by_times: true,
            counted: false,
            heads: 1,
            group_cylinders: 1,
        }
    }

    /// As a drive file names it. From where heads are counted anew is not seen: by zone stands for by cylinder, too.
    pub(crate) fn order(&self) -> Order {
        match (self.by_surface, self.head_stays) {
            (true, _) => Order::SerpentineBySurface,
            (false, true) => Order::SerpentineByZone,
            (false, false) => Order::Classical,
        }
    }

    /// Surfaces, where they were counted.
    pub(crate) fn surfaces(&self) -> Option<u32> {
        self.counted.then_some(self.heads)
    }
}

/// Where all skews are alike: a change of cylinder that takes longer than one of head recurs, or every track is a cylinder of
/// its own, so that two tracks are farther than one.
fn by_times(record: &Record, spindle: Spindle) -> Option<TrackOrder> {
    let (fast, slow) = next_times(record, spindle)?;
    let heads = if slow.is_empty() {
        let next = median(&fast.iter().map(|(_, least)| least.ms).collect::<Vec<_>>());
        let two = times(record, spindle, OVER).get(&2)?.ms;
        let grows = LEAST_GROWTH_MS.max(0.002 * next);
        // Ways that take no longer than along a track are hidden beside what a command takes: they tell nothing.
        (two - next > grows && next - at_rest(record, spindle)? > grows).then_some(1)?
    } else {
        let gaps: Vec<i64> = slow.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let spacing = *gaps.first()?;
        gaps.iter().all(|&gap| gap == spacing && gap > 1).then_some(spacing as u32)?
    };
    Some(TrackOrder {
        by_surface: false,
        head_stays: false,
        by_times: true,
        counted: true,
        heads,
        group_cylinders: 1,
    })
}

/// Where all skews are alike: the ways to the next track that take no longer than most, and those that do.
pub(crate) fn next_times(record: &Record, spindle: Spindle) -> Option<(Vec<Timed>, Vec<Timed>)> {
    let all: Vec<Timed> = times(record, spindle, NEXT).into_iter().collect();
    let most = median(&all.iter().map(|(_, least)| least.ms).collect::<Vec<_>>());
    let alike = |(_, least): &Timed| least.ms - most <= 0.02_f64.max(0.02 * most);
    (all.len() > 8).then(|| all.into_iter().partition(alike))
}

/// By how much less than usual the time to a track must be that lies beside the one before, as a share, and in ms.
const BESIDE_SHARE: f64 = 0.02;
const BESIDE_MS: f64 = 0.02;

/// Which of the tracks that were looked at lie beside the one before: the time to them is less than to the next cylinder.
pub(crate) fn beside(record: &Record, spindle: Spindle) -> Option<BTreeMap<u64, bool>> {
    let (fast, _) = next_times(record, spindle)?;
    let next = median(&fast.iter().map(|(_, least)| least.ms).collect::<Vec<_>>());
    let less = BESIDE_MS.max(BESIDE_SHARE * next);
    let all = times(record, spindle, BESIDE).into_iter();
    Some(all.map(|(track, least)| (track as u64, next - least.ms > less)).collect())
}

/// Tracks without skews that run along surfaces, so many of them in the first zone: where one lies beside the one before, a surface ends,
/// up to the end of a group. `None` where none was looked for.
pub(crate) fn along_surfaces(record: &Record, spindle: Spindle, tracks: u64) -> Option<TrackOrder> {
    let beside = beside(record, spindle)?;
    let Some((&group, _)) = beside.iter().find(|(_, beside)| **beside) else {
        // Neighbours are looked at only where times do not grow all along: why is not known then.
        return (!beside.is_empty()).then(TrackOrder::not_counted);
    };
    let surfaces = (1..).map_while(|surface| beside.get(&(surface * group)).copied());
    let seen = surfaces.take_while(|&beside| beside).count() as u64;
    let all = (seen + 1) * group;
    // A zone is of whole groups.
    let ends = all == tracks || beside.get(&all) == Some(&false) && tracks.is_multiple_of(all);
    Some(if ends {
        let heads = (seen + 1) as u32;
        TrackOrder {
            by_surface: true,
            head_stays: false,
            by_times: true,
            counted: true,
            heads,
            group_cylinders: group,
        }
    } else {
        TrackOrder::not_counted()
    })
}

/// The least time along a track, by the same kind of access.
fn at_rest(record: &Record, spindle: Spindle) -> Option<f64> {
    switch(record, spindle, SAME_TRACK)
}

/// Whether the way to the next cylinder takes less than to the next track of a cylinder: a change of head is not part of it.
fn head_stays(record: &Record, spindle: Spindle) -> bool {
    let ways = switch(record, spindle, COMMON).zip(switch(record, spindle, RARE));
    ways.is_some_and(|(head, cylinder)| head - cylinder > LEAST_LESS_MS.max(LEAST_LESS * head))
}

/// The least time over ways of one kind, by the kind of access that later probes measure with.
fn switch(record: &Record, spindle: Spindle, kind: u32) -> Option<f64> {
    let series = kind + if record.head.device.writable { 0 } else { READS };
    let borders = tracks_at_start(record, spindle);
    borders.first()?;
    let found = least::by_step(record, (ProbeName::Switches, series), density::slope(&borders), spindle);
    let all: Vec<f64> = found.values().map(|least| least.ms).collect();
    (!all.is_empty()).then(|| median(&all))
}

fn times(record: &Record, spindle: Spindle, series: u32) -> BTreeMap<i64, Least> {
    let slope = density::slope(&tracks_at_start(record, spindle));
    least::by_step(record, (ProbeName::Surfaces, series), slope, spindle)
}

fn by_skews(record: &Record, spindle: Spindle) -> Option<TrackOrder> {
    let mut followed = borders(record, ProbeName::Surfaces, TRACKS, spindle);
    if followed.is_empty() {
        followed =
            (0..8).map(|series| borders(record, ProbeName::Tracks, series, spindle)).find(|b| b.len() > 8)?;
    }
    let pattern = pattern(&followed)?;
    if by_surface(record, Some(spindle)) == Some(true) {
        return (pattern.between_double > 0).then(|| TrackOrder {
            by_surface: true,
            head_stays: false,
            by_times: false,
            counted: true,
            heads: pattern.between_double as u32 + 1,
            group_cylinders: pattern.spacing as u64,
        });
    }
    let (heads, head_stays) = (pattern.spacing as u32, head_stays(record, spindle));
    Some(TrackOrder {
        by_surface: false,
        head_stays,
        by_times: false,
        counted: true,
        heads,
        group_cylinders: 1,
    })
}
