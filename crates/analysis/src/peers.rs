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

/// So many last requests of a device are remembered: what goes on behind one of them is read ahead.
const STREAMS: usize = 16;

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
    /// Of like size, place in a stream and distance from the request before.
    pub(crate) alike: Option<f64>,
    /// And as many reads would be waiting if there were only reads.
    pub(crate) crowded: Option<f64>,
    /// And with as many requests outstanding.
    pub(crate) queued: Option<f64>,
}

/// Compares reads with reads like them, fed in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    devices: BTreeMap<u32, Device>,
}

#[derive(Debug, Default)]
struct Device {
    /// Ends of the last requests.
    ends: [u64; STREAMS],
    seen: usize,
    crowd: Crowd,
    alike: Learned<2>,
    crowded: Learned<3>,
    queued: Learned<3>,
}

impl Peers {
    /// Takes the next one, which found so many requests `outstanding` on its device; a read whose response is known is compared.
    pub(crate) fn push(&mut self, io: &Io, outstanding: u64) -> Option<Peer> {
        if io.kind != Kind::Data {
            return None;
        }
        of_device(&mut self.devices, io.request.device)?.push(io, outstanding)
    }
}

impl Device {
    fn push(&mut self, io: &Io, outstanding: u64) -> Option<Peer> {
        let request = &io.request;
        let in_stream = self.ends.contains(&request.lba.0);
        let before = self.ends[self.seen.wrapping_sub(1) % STREAMS];
        let distance = if in_stream { 0 } else { 1 + far(request.lba.0.abs_diff(before)) };
        self.ends[self.seen % STREAMS] = request.lba.0.saturating_add(u64::from(request.sectors));
        self.seen += 1;
        // What takes no time on the trace's clock took less than a tick, and nobody knows how much less.
        let response = io.response().filter(|response| request.op == Op::Read && *response > Nanos::ZERO)?;
        let log = log(response);
        let size = 2 * count_level(u64::from(request.sectors)) + usize::from(in_stream);
        let crowd = self.crowd.push(request.arrival, outstanding, log);
        let depth = count_level(outstanding);
        Some(Peer {
            response,
            alike: self.alike.excess([size, distance], log),
            crowded: self.crowded.excess([size, distance, crowd], log),
            queued: self.queued.excess([size, distance, depth], log),
        })
    }
}

/// A distance in steps of a factor of four.
fn far(sectors: u64) -> usize {
    (sectors.max(1).ilog2() / 2) as usize
}

fn count_level(count: u64) -> usize {
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

/// By how much each level of some factors adds to the logarithm of a response.
#[derive(Debug)]
struct Learned<const FACTORS: usize> {
    offsets: [Vec<Offset>; FACTORS],
    stretch: Vec<([usize; FACTORS], f64)>,
}

impl<const FACTORS: usize> Default for Learned<FACTORS> {
    fn default() -> Self {
        Self { offsets: std::array::from_fn(|_| Vec::new()), stretch: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Offset {
    count: u64,
    log: f64,
}

impl<const FACTORS: usize> Learned<FACTORS> {
    /// What a read at these levels took beyond what they explain, if all are known.
    fn excess(&mut self, levels: [usize; FACTORS], log: f64) -> Option<f64> {
        for (offsets, level) in self.offsets.iter_mut().zip(levels) {
            if offsets.len() <= level {
                offsets.resize(level + 1, Offset::default());
            }
        }
        let known = self.at(levels).all(|offset| offset.count >= KNOWN);
        let excess = log - self.explained(levels);
        self.stretch.push((levels, log));
        if self.stretch.len() == STRETCH {
            self.learn();
        }
        known.then_some(excess)
    }

    fn at(&self, levels: [usize; FACTORS]) -> impl Iterator<Item = &Offset> {
        self.offsets.iter().zip(levels).map(|(offsets, level)| &offsets[level])
    }

    fn explained(&self, levels: [usize; FACTORS]) -> f64 {
        self.at(levels).map(|offset| offset.log).sum()
    }

    /// A stretch is over: what its reads took beyond their common level is laid to their factors.
    fn learn(&mut self) {
        let left: Vec<f64> = self.stretch.iter().map(|(levels, log)| log - self.explained(*levels)).collect();
        let common = left.iter().sum::<f64>() / left.len() as f64;
        for ((levels, _), left) in std::mem::take(&mut self.stretch).into_iter().zip(left) {
            for (offsets, level) in self.offsets.iter_mut().zip(levels) {
                let offset = &mut offsets[level];
                offset.count += 1;
                offset.log += (left - common) * (PACE / (PACE + offset.count as f64)).max(SLOWEST);
            }
        }
    }
}

#[cfg(test)]
mod tests;
