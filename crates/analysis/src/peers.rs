//! How much longer a read takes than reads like it on its device.
//!
//! What makes reads differ by itself is taken out before a cause is looked for: their size and whether they go on in a stream, how
//! far they lie from the request before, and, where the cause is not to be charged with it, how many others they found outstanding
//! or how many reads would wait if there were only reads. Each adds to the logarithm of a response. By how much is learned as the trace goes by, within
//! stretches of reads, so that a slow while teaches nothing about the reads that came in it.

use std::collections::BTreeMap;

use headstack_trace::{Io, Kind};
use headstack_units::{Nanos, Op};

use crate::effect::{log, of_device};

/// So many last reads of a device are remembered: what goes on behind one of them is read ahead, also after a burst of writes.
const STREAMS: usize = 16;

/// The distance of what goes on behind one of them, but the last: a drive that does not read ahead has to come back to it.
const INTERRUPTED: usize = 40;

/// What was seen fewer times is no measure.
const KNOWN: u64 = 4;

/// Stretches in which is learned. A slow read makes those behind it find more outstanding; the shorter the stretch, the more that
/// makes a queue look harmless, and the longer, the more a slow while makes it look bad.
const STRETCH: usize = 128;

/// How fast is learned: what a read says counts as one of so many, and one of 500 in the end. Where nearly all reads of a stretch
/// are of one level, a mere mean would take very long to tell it from the others.
const PACE: f64 = 4.0;
const SLOWEST: f64 = 0.002;

/// Counts up to here are told apart one by one, larger ones in quarter octaves.
const EXACT: u64 = 12;

/// So many reads would be waiting at most.
const CROWD: f64 = 256.0;

/// A read whose response is known, and the logarithm of how many times as long as like reads it took; `None` where too few
/// like it came before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) response: Nanos,
    /// How many requests it found outstanding.
    pub(crate) found: u64,
    /// Whether it goes on behind one of the last requests.
    pub(crate) in_stream: bool,
    /// Of like size, place in a stream and distance from the request before.
    pub(crate) alike: Option<f64>,
    /// The same among those that find nothing outstanding, if it is one.
    pub(crate) alone: Option<f64>,
    /// And as many reads would be waiting if there were only reads.
    pub(crate) crowded: Option<f64>,
    /// And with as many requests outstanding.
    pub(crate) queued: Option<f64>,
    /// And in the same place.
    pub(crate) placed: Option<f64>,
}

/// Compares reads with reads like them, fed in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    devices: BTreeMap<u32, Device>,
    /// The shortest response and the longest.
    extremes: Option<[Nanos; 2]>,
}

#[derive(Debug, Default)]
struct Device {
    /// Ends of the last reads, and of the last request.
    ends: [u64; STREAMS],
    reads: usize,
    last_end: u64,
    crowd: Crowd,
    alike: Learned<2>,
    alone: Learned<2>,
    crowded: Learned<3>,
    queued: Learned<3>,
    places: Places,
}

impl Peers {
    /// Takes the next one, which found so many requests `outstanding` on its device; a read whose response is known is compared.
    pub(crate) fn push(&mut self, io: &Io, outstanding: u64) -> Option<Peer> {
        if io.kind != Kind::Data {
            return None;
        }
        let peer = of_device(&mut self.devices, io.request.device)?.push(io, outstanding)?;
        let [shortest, longest] = self.extremes.unwrap_or([peer.response; 2]);
        self.extremes = Some([shortest.min(peer.response), longest.max(peer.response)]);
        Some(peer)
    }

    /// How many times as long as the shortest read the longest takes.
    pub(crate) fn most(&self) -> f64 {
        self.extremes.map_or(1.0, |[shortest, longest]| longest.0 as f64 / shortest.0 as f64)
    }
}

impl Device {
    fn push(&mut self, io: &Io, outstanding: u64) -> Option<Peer> {
        let request = &io.request;
        let in_stream = self.ends.contains(&request.lba.0);
        let end = request.lba.0.saturating_add(u64::from(request.sectors));
        let last_end = std::mem::replace(&mut self.last_end, end);
        let distance = match request.lba.0.abs_diff(last_end) {
            0 => 0,
            _ if in_stream => INTERRUPTED,
            distance => 1 + far(distance),
        };
        if request.op == Op::Read {
            self.ends[self.reads % STREAMS] = end;
            self.reads += 1;
        }
        // What takes no time on the trace's clock took less than a tick, and nobody knows how much less.
        let response = io.response().filter(|response| request.op == Op::Read && *response > Nanos::ZERO)?;
        let log = log(response);
        let size = 2 * count_level(u64::from(request.sectors)) + usize::from(in_stream);
        let crowd = self.crowd.push(request.arrival, outstanding, log);
        let depth = count_level(outstanding);
        let place = self.places.of(request.lba.0);
        let of_place = self.queued.grown_to(place);
        let queued = self.queued.excess([size, distance, depth], Some(place.1), log);
        // In a queue it says little how near a read is.
        let alone = (outstanding == 0).then(|| self.alone.excess([size, distance], None, log));
        Some(Peer {
            response,
            found: outstanding,
            in_stream,
            alone: alone.flatten(),
            alike: self.alike.excess([size, distance], None, log),
            crowded: self.crowded.excess([size, distance, crowd], None, log),
            queued,
            placed: queued.map(|log| log - of_place),
        })
    }
}

/// A distance in steps of a factor of four.
fn far(sectors: u64) -> usize {
    (sectors.max(1).ilog2() / 2) as usize
}

pub(crate) fn count_level(count: u64) -> usize {
    if count <= EXACT { count as usize } else { (4.0 * (count as f64).log2()) as usize }
}

/// How many reads would wait if there were nothing but reads, each of which takes what one takes that finds nothing outstanding. It
/// depends on when they came, not on what became of them, so that no cause is explained away by the queue that it makes.
#[derive(Debug, Default)]
struct Crowd {
    /// Reads that would be waiting, in ns of work, when the last came.
    work: f64,
    last: Nanos,
    alone: u64,
    mean_log: f64,
}

impl Crowd {
    fn push(&mut self, arrival: Nanos, outstanding: u64, log: f64) -> usize {
        if outstanding == 0 || self.alone == 0 {
            self.alone += 1;
            self.mean_log += (log - self.mean_log) / self.alone as f64;
        }
        let each = self.mean_log.exp();
        let since = arrival.saturating_sub(self.last).0 as f64;
        self.last = arrival;
        self.work = (self.work - since).max(0.0);
        // No more than there are: a program that asks for each when it has the one before makes none wait.
        let waiting = (self.work / each).ceil() as u64;
        self.work = (self.work + each).min(CROWD * each);
        count_level(waiting.min(outstanding))
    }
}

/// Parts of a device, as large as so many make up what was seen of it.
const PLACES: u64 = 512;

/// Where on a device a read lies.
#[derive(Debug, Default)]
struct Places {
    /// The size of one, as a power of two sectors.
    size: u32,
}

impl Places {
    /// The size of the parts, and which of them it is.
    fn of(&mut self, lba: u64) -> (u32, usize) {
        while lba >> self.size >= PLACES {
            self.size += 1;
        }
        (self.size, (lba >> self.size) as usize)
    }
}

/// By how much each level of some factors adds to the logarithm of a response. Where a read lies may add to it, too: that is
/// learned beside them, as what lies together is read together, and is not taken out.
#[derive(Debug)]
struct Learned<const FACTORS: usize> {
    offsets: [Vec<Offset>; FACTORS],
    /// By place, of this size.
    places: Vec<Offset>,
    size: u32,
    stretch: Vec<([usize; FACTORS], Option<usize>, f64)>,
}

impl<const FACTORS: usize> Default for Learned<FACTORS> {
    fn default() -> Self {
        Self {
            offsets: std::array::from_fn(|_| Vec::new()),
            places: Vec::new(),
            size: 0,
            stretch: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Offset {
    count: u64,
    log: f64,
}

impl Offset {
    /// Learns from the mean of what so many reads of a stretch leave unexplained, by no more than all of it; by how much is told.
    fn learn(&mut self, left: f64, reads: u64) -> f64 {
        self.count += reads;
        let share = (PACE / (PACE + self.count as f64)).max(SLOWEST) * reads as f64;
        let by = left * share.min(1.0);
        self.log += by;
        by
    }

    /// The mean of several.
    fn of_all(all: &[Self]) -> Self {
        let count = all.iter().map(|each| each.count).sum::<u64>();
        let sum: f64 = all.iter().map(|each| each.log * each.count as f64).sum();
        Self { count, log: sum / count.max(1) as f64 }
    }
}

impl<const FACTORS: usize> Learned<FACTORS> {
    /// What a read at these levels took beyond what they explain, if all are known.
    fn excess(&mut self, levels: [usize; FACTORS], place: Option<usize>, log: f64) -> Option<f64> {
        for (offsets, level) in self.offsets.iter_mut().zip(levels) {
            if offsets.len() <= level {
                offsets.resize(level + 1, Offset::default());
            }
        }
        let known = self.at(levels).all(|offset| offset.count >= KNOWN);
        let excess = log - self.explained(levels);
        self.stretch.push((levels, place, log));
        if self.stretch.len() == STRETCH {
            self.learn();
        }
        known.then_some(excess)
    }

    /// What a place of this size adds, as far as known.
    fn grown_to(&mut self, (size, at): (u32, usize)) -> f64 {
        self.grow(size);
        self.places.resize(self.places.len().max(at + 1), Offset::default());
        self.of_place(Some(at))
    }

    /// Places become larger, two of them one.
    fn grow(&mut self, size: u32) {
        let by = size - self.size;
        if by == 0 {
            return;
        }
        self.size = size;
        self.places = self.places.chunks(1_usize << by.min(63)).map(Offset::of_all).collect();
        for at in self.stretch.iter_mut().filter_map(|(_, at, _)| at.as_mut()) {
            *at = at.checked_shr(by).unwrap_or(0);
        }
    }

    /// What the place adds, as far as known.
    fn of_place(&self, place: Option<usize>) -> f64 {
        place.and_then(|at| self.places.get(at)).map_or(0.0, |offset| offset.log)
    }

    fn at(&self, levels: [usize; FACTORS]) -> impl Iterator<Item = &Offset> {
        self.offsets.iter().zip(levels).map(|(offsets, level)| &offsets[level])
    }

    fn explained(&self, levels: [usize; FACTORS]) -> f64 {
        self.at(levels).map(|offset| offset.log).sum()
    }

    /// A stretch is over: what its reads took beyond their common level is laid to their factors, and to their places.
    ///
    /// Each factor in turn learns from what those before it left. If all learned from the same, levels that come together, as those of
    /// the size and of the distance in a stream, would each take all of it, and overshoot ever further.
    fn learn(&mut self) {
        let stretch = std::mem::take(&mut self.stretch);
        let left = |(levels, place, log): &([usize; FACTORS], Option<usize>, f64)| {
            log - self.explained(*levels) - self.of_place(*place)
        };
        let mut left: Vec<f64> = stretch.iter().map(left).collect();
        for (factor, offsets) in self.offsets.iter_mut().enumerate() {
            learn_factor(offsets, stretch.iter().map(|(levels, ..)| Some(levels[factor])), &mut left);
        }
        learn_factor(&mut self.places, stretch.iter().map(|(_, place, _)| *place), &mut left);
    }
}

/// Lays what is left of each read of a stretch, beyond what is left of all, to its level; that is then taken out of what is left.
fn learn_factor(offsets: &mut [Offset], levels: impl Iterator<Item = Option<usize>>, left: &mut [f64]) {
    let common = left.iter().sum::<f64>() / left.len() as f64;
    let mut reads: Vec<(usize, usize)> =
        levels.enumerate().filter_map(|(read, level)| level.map(|level| (level, read))).collect();
    reads.sort_unstable();
    for there in reads.chunk_by(|one, next| one.0 == next.0) {
        let mean = there.iter().map(|&(_, read)| left[read]).sum::<f64>() / there.len() as f64;
        let by = offsets[there[0].0].learn(mean - common, there.len() as u64);
        for &(_, read) in there {
            left[read] -= by;
        }
    }
}

#[cfg(test)]
mod tests;
