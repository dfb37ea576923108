//! Single reads that take far longer than reads like them, while those before and after do not. A retry looks so: the sectors are read
//! in one revolution after another until they can be.
//!
//! Asked are reads that find the device with nothing to do, no flush or discard either, and nobody before them to wait for. Where the
//! trace tells when service began, what they waited before is not counted. By how much longer they take than reads of their size, place in a stream and distance (see [`crate::peers`]) is held against a law for most of them: see [`crate::tail`].
//!
//! On a device that serves several at a time one that is retried has others outstanding beside it, most times. Asked are also reads that find
//! other reads outstanding, and no write; these take by how much longer than reads beside as many. Such a one is late only if a read that came
//! later is completed before it: behind a slow read all wait on a device that serves one at a time.
//!
//! Where they lie is told if most of them lie in one place, and few of the reads that were asked do.
//! A pause of the device is told of as such, and its reads not here. Where reads take no time that a disk could turn in, as from a cache, late ones have other reasons, and nothing is said.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::RangeInclusive;

use headstack_trace::{Io, Kind, Request};
use headstack_units::{Lba, Nanos, Op, grouped};

use crate::company::SlowRegion;
use crate::effect::{Effect, log, of_device};
use crate::pauses::Paused;
use crate::peers::Peer;
use crate::period::period_s;
use crate::tail::{Tail, counted, octaves};

/// Fewer say nothing of a device.
const FEWEST: usize = 3;

/// More of a hundred are a kind of their own, and no exception.
const MOST: f64 = 0.02;

/// Reads come from the media if half of them take this long: a quarter of a revolution at 7,200 rpm.
const SHORTEST_USUAL: Nanos = Nanos(2_000_000);

/// What reads like them take is not known well enough before so many.
const LEARNING: u64 = 512;

/// It takes longer than this share of all, by this many octaves.
const HIGH: f64 = 0.95;
const AT_LEAST_OCTAVES: f64 = 0.5;

/// Octaves below the limit of a normal law.
const NEAR: f64 = 0.5;

/// At most so many of the latest are remembered.
const LATEST: usize = 256;

/// A read that takes this many octaves less than its like is taken for one that takes so.
const LEAST_OCTAVES: f64 = -32.0;

/// So many of the reads that were asked, at most, say where such reads lie.
const SAMPLED: usize = 1024;

/// A place tells something if fewer than this share of all lie in it.
pub(crate) const RARE: f64 = 0.1;

/// Sectors, as a power of two, within which they are in one place: 16 MiB of 512 bytes.
pub(crate) const PLACE: u32 = 15;

/// Looks for them in I/Os in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct LateFinder {
    devices: BTreeMap<u32, Device>,
}

#[derive(Debug, Default)]
struct Device {
    reads: u64,
    /// Until when something else than a read is outstanding.
    others_to: Nanos,
    /// Reads that find nothing outstanding: those that do not go on in a stream, and those that do, which a cache may answer.
    alone: Row<2>,
    /// Those that find reads outstanding, of which they may be overtaken, and do not go on in a stream.
    beside: Row<1>,
    asked: Sample,
}

/// Reads one behind the other, of some sorts.
#[derive(Debug)]
struct Row<const SORTS: usize> {
    sorts: [Sort; SORTS],
    /// The last one, and the excess of the one before it.
    last: Option<(Late, f64)>,
}

impl<const SORTS: usize> Default for Row<SORTS> {
    fn default() -> Self {
        Self { sorts: std::array::from_fn(|_| Sort::default()), last: None }
    }
}

/// Some of the reads that were asked, evenly from all of the trace: where they begin.
#[derive(Debug)]
struct Sample {
    every: u64,
    seen: u64,
    lbas: Vec<u64>,
}

impl Default for Sample {
    fn default() -> Self {
        Self { every: 1, seen: 0, lbas: Vec::new() }
    }
}

impl Sample {
    fn add(&mut self, lba: u64) {
        if self.seen.is_multiple_of(self.every) {
            if self.lbas.len() == SAMPLED {
                self.lbas = self.lbas.iter().copied().step_by(2).collect();
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.lbas.push(lba);
            }
        }
        self.seen += 1;
    }

    /// Whether few of them lie in a place.
    fn are_rare_in(&self, place: &RangeInclusive<u64>) -> bool {
        let there = self.lbas.iter().filter(|lba| place.contains(lba)).count();
        ((there + 1) as f64) < RARE * (self.lbas.len() + 2) as f64
    }
}

/// Reads of a sort.
#[derive(Debug, Default)]
struct Sort {
    excess: Tail,
    responses: Tail,
    latest: BinaryHeap<Reverse<Late>>,
}

/// A read: the excess, as counted octaves over reads like it, comes first, for the order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Late {
    excess: f64,
    arrival: Nanos,
    response: Nanos,
    lba: u64,
    sort: usize,
    /// It found reads outstanding.
    is_beside: bool,
    /// And one that came later is completed before it.
    is_overtaken: bool,
    /// The larger excess of the reads before and after it.
    beside: f64,
}

impl Eq for Late {}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Late {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.excess.total_cmp(&other.excess).then(self.arrival.cmp(&other.arrival))
    }
}

impl LateFinder {
    /// Takes the next one, how many requests it found outstanding on its device, and how it compares with like reads.
    pub(crate) fn push(&mut self, io: &Io, outstanding: u64, peer: Option<&Peer>) {
        if io.kind != Kind::Data || io.request.op == Op::Write {
            if let (Some(device), Some(finish)) =
                (of_device(&mut self.devices, io.request.device), io.request.finish.present())
            {
                device.others_to = device.others_to.max(finish);
            }
            return;
        }
        let Some(peer) = peer else { return };
        let is_alone = outstanding == 0;
        let excess = if is_alone { peer.alike } else { peer.queued.filter(|_| !peer.in_stream) };
        let Some(excess) = excess else { return };
        // What it waited for before its service, as by the trace's own account, it was not served slowly.
        let served = io.request.measured_service().filter(|service| *service > Nanos::ZERO);
        let took = served.map_or(peer.response, |service| service.min(peer.response));
        let excess = excess + log(took) - log(peer.response);
        if let Some(device) = of_device(&mut self.devices, io.request.device) {
            device.push(io, peer, took, is_alone, excess * std::f64::consts::LOG2_E - LEAST_OCTAVES);
        }
    }

    /// Those of the device that has most, but for what a pause made late; `device` names it where there are several. `slow` is a region
    /// in which reads take longer anyway.
    pub(crate) fn finish(
        self,
        device: impl Fn(u32) -> String,
        paused: &Paused,
        slow: Option<&SlowRegion>,
    ) -> Option<Effect> {
        let several = self.devices.len() > 1;
        let found = self.devices.into_iter().map(|(number, found)| {
            let (mut late, usual, asked) = found.late();
            late.retain(|read| !paused.between(number, read.arrival, read.arrival + read.response));
            (number, (late, usual, asked))
        });
        let (number, (late, usual, asked)) =
            found.max_by_key(|(number, (late, ..))| (late.len(), Reverse(*number)))?;
        if late.len() < FEWEST {
            return None;
        }
        let of = if several { format!(" of device {}", device(number)) } else { String::new() };
        let (least, most) = ends(late.iter().map(|read| read.response.as_ms()));
        let mut arrivals: Vec<Nanos> = late.iter().map(|read| read.arrival).collect();
        arrivals.sort_unstable();
        let (every, what) = match period_s(&arrivals) {
            Some(every) => (format!(", every {every:.1} s"), "a device that pauses looks"),
            None => (String::new(), "retries look"),
        };
        let slow = slow.filter(|(of, _)| *of == number).map(|(_, region)| region.clone());
        let place =
            place(late.iter().map(|read| read.lba)).map(|(_, first)| first..=first + (1 << PLACE) - 1);
        let places =
            place.into_iter().map(|place| (place, "")).chain(slow.map(|region| (region, ", which is slow")));
        let place = places.into_iter().find_map(|(place, which)| {
            let count = late.iter().filter(|read| place.contains(&read.lba)).count();
            let lie_there = 2 * count > late.len() && asked.are_rare_in(&place);
            lie_there.then(|| {
                let (first, last) = (grouped(*place.start()), grouped(*place.end()));
                format!(", {count} of them within LBA {first} to {last}{which}")
            })
        });
        let place = place.unwrap_or_default();
        let who = match late.iter().filter(|read| read.is_beside).count() {
            0 => "that wait for nobody",
            count if count == late.len() => "that later ones overtake",
            _ => "that wait for nobody, or that later ones overtake,",
        };
        Some(Effect {
            name: Some(format!(
                "{of} {who} take {least:.0} to {most:.0} ms, where half take less than {usual:.0}{every}{place}, and \
                 those before and after do not: {what} like this"
            )),
            found: true,
            ..Effect::unknown("late-reads", late.len() as u64)
        })
    }
}

impl Device {
    fn push(&mut self, io: &Io, peer: &Peer, took: Nanos, is_alone: bool, beyond_like: f64) {
        let Request { arrival, lba: Lba(lba), .. } = io.request;
        self.beside.overtake(arrival, arrival + peer.response);
        if !is_alone && arrival < self.others_to {
            return;
        }
        self.reads += 1;
        if self.reads <= LEARNING {
            return;
        }
        self.asked.add(lba);
        let sort = usize::from(peer.in_stream);
        let late = Late {
            excess: counted(beyond_like),
            arrival,
            response: took,
            lba,
            sort,
            is_beside: !is_alone,
            is_overtaken: false,
            beside: 0.0,
        };
        if is_alone {
            self.alone.push(late, beyond_like);
        } else {
            self.beside.push(late, beyond_like);
        }
    }

    /// Those that are late, and what half of those that are not in a stream, or else of those in one, take less than, in ms.
    /// And some of all that were asked.
    fn late(self) -> (Vec<Late>, f64, Sample) {
        let [(mut late, usual), (in_stream, usual_in_stream)] = self.alone.late();
        let [(beside, usual_beside)] = self.beside.late();
        let found = [
            (late.is_empty(), usual),
            (in_stream.is_empty(), usual_in_stream),
            (beside.is_empty(), usual_beside),
        ];
        let usual = found.into_iter().find(|(none, _)| !none).map_or(0.0, |(_, usual)| usual);
        late.extend(in_stream.into_iter().chain(beside));
        (late, usual, self.asked)
    }
}

impl<const SORTS: usize> Row<SORTS> {
    fn push(&mut self, late: Late, beyond_like: f64) {
        let sort = &mut self.sorts[late.sort];
        sort.excess.add(beyond_like);
        sort.responses.add(octaves(late.response));
        let before = self.last.map_or(0.0, |(last, _)| last.excess);
        self.settle(late.excess);
        self.last = Some((late, before));
    }

    /// A read came, and is completed then.
    fn overtake(&mut self, arrival: Nanos, finish: Nanos) {
        if let Some((last, _)) = &mut self.last {
            last.is_overtaken |= arrival > last.arrival && finish < last.arrival + last.response;
        }
    }

    /// What comes after the last one is known.
    fn settle(&mut self, after: f64) {
        let Some((last, before)) = self.last.take() else { return };
        if last.is_overtaken || !last.is_beside {
            self.sorts[last.sort].remember(Late { beside: before.max(after), ..last });
        }
    }

    fn late(mut self) -> [(Vec<Late>, f64); SORTS] {
        self.settle(0.0);
        self.sorts.map(Sort::late)
    }
}

impl Sort {
    fn remember(&mut self, read: Late) {
        self.latest.push(Reverse(read));
        if self.latest.len() > LATEST {
            self.latest.pop();
        }
    }

    /// From which excess and above which response reads are late, in octaves. Those that take a second longer stand together as they are,
    /// and less so beside reads like them, as what these take is known about.
    fn limits(&self) -> Option<(f64, f64)> {
        let coarse = self.responses.longest_gap();
        let beside_like = self.excess.apart(coarse.max(self.excess.longest_gap())).map(|limit| (limit, 0.0));
        let of_all = || Some((self.excess.limit()? - NEAR, self.responses.apart(coarse)? - AT_LEAST_OCTAVES));
        beside_like.or_else(of_all)
    }

    /// Those that are late, and what half of all take less than, in ms.
    fn late(self) -> (Vec<Late>, f64) {
        let nothing = (Vec::new(), 0.0);
        let Some((limit, among_all)) = self.limits() else { return nothing };
        if self.responses.quantile(0.5) < octaves(SHORTEST_USUAL) {
            return nothing;
        }
        // Of reads like it there may be few: it is late among all, too.
        let high = among_all.max(self.responses.quantile(HIGH));
        let is_late = |read: &Late| read.excess >= limit && octaves(read.response) > high + AT_LEAST_OCTAVES;
        let beyond: Vec<Late> = self.latest.into_iter().map(|Reverse(read)| read).filter(is_late).collect();
        if beyond.len() as f64 > MOST * self.excess.count() as f64 {
            return nothing;
        }
        // Those beside it are as reads mostly are, and not only a little less late.
        let ordinary = f64::midpoint(self.excess.quantile(0.5), limit);
        let usual = Nanos(self.responses.quantile(0.5).exp2() as u64).as_ms();
        (beyond.into_iter().filter(|read| read.beside <= ordinary).collect(), usual)
    }
}

/// The least and the greatest.
pub(crate) fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, most), value| (value.min(least), value.max(most)))
}

/// How many of those sectors are in one place, and where it begins, if most are.
pub(crate) fn place(sectors: impl Iterator<Item = u64>) -> Option<(usize, u64)> {
    let (mut counts, mut all): (BTreeMap<u64, usize>, usize) = (BTreeMap::new(), 0);
    for lba in sectors {
        all += 1;
        *counts.entry(lba >> PLACE).or_default() += 1;
    }
    let (place, count) = counts.into_iter().max_by_key(|&(place, count)| (count, Reverse(place)))?;
    (2 * count > all).then_some((count, place << PLACE))
}

#[cfg(test)]
mod tests;
