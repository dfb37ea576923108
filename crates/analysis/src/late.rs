//! Single reads that take far longer than reads like them, while those before and after do not. A retry looks so: the sectors are read
//! in one revolution after another until they can be.
//!
//! Asked are reads that find the device with nothing to do, and nobody before them to wait for. By how much longer they take than reads of
//! their size, place in a stream and distance (see [`crate::peers`]) is held against a law for most of them: see [`crate::tail`].
//! A pause of the device is told of as such, and its reads not here. Where reads take no time that a disk could turn in, as from a cache, late ones have other reasons, and nothing is said.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use headstack_trace::Io;
use headstack_units::Nanos;

use crate::effect::{Effect, of_device};
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
    /// Reads that do not go on in a stream, and those that do, which a cache may answer.
    sorts: [Sort; 2],
    /// The last one, and the excess of the one before it.
    last: Option<(Late, f64)>,
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
    in_stream: bool,
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
        let Some(peer) = peer.filter(|_| outstanding == 0) else { return };
        let Some(excess) = peer.alike else { return };
        if let Some(device) = of_device(&mut self.devices, io.request.device) {
            device.push(io, peer, excess * std::f64::consts::LOG2_E - LEAST_OCTAVES);
        }
    }

    /// Those of the device that has most, but for what a pause made late; `device` names it where there are several.
    pub(crate) fn finish(self, device: impl Fn(u32) -> String, paused: &Paused) -> Option<Effect> {
        let several = self.devices.len() > 1;
        let found = self.devices.into_iter().map(|(number, found)| {
            let (mut late, usual) = found.late();
            late.retain(|read| !paused.between(number, read.arrival, read.arrival + read.response));
            (number, (late, usual))
        });
        let (number, (late, usual)) =
            found.max_by_key(|(number, (late, _))| (late.len(), Reverse(*number)))?;
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
        let place = place(late.iter().map(|read| read.lba)).map_or(String::new(), |(count, first)| {
            format!(", {count} of them within LBA {first} to {}", first + (1 << PLACE) - 1)
        });
        Some(Effect {
            name: Some(format!(
                "{of} that wait for nobody take {least:.0} to {most:.0} ms, where half take less than {usual:.0}{every}{place}, and \
                 those before and after do not: {what} like this"
            )),
            found: true,
            ..Effect::unknown("late-reads", late.len() as u64)
        })
    }
}

impl Device {
    fn push(&mut self, io: &Io, peer: &Peer, beyond_like: f64) {
        self.reads += 1;
        if self.reads <= LEARNING {
            return;
        }
        let &Peer { response, in_stream, .. } = peer;
        let excess = counted(beyond_like);
        let sort = &mut self.sorts[usize::from(in_stream)];
        sort.excess.add(beyond_like);
        sort.responses.add(octaves(response));
        let before = self.last.map_or(0.0, |(last, _)| last.excess);
        self.settle(excess);
        let (arrival, lba) = (io.request.arrival, io.request.lba.0);
        self.last = Some((Late { excess, arrival, response, lba, in_stream, beside: 0.0 }, before));
    }

    /// What comes after the last one is known.
    fn settle(&mut self, after: f64) {
        let Some((last, before)) = self.last.take() else { return };
        self.sorts[usize::from(last.in_stream)].remember(Late { beside: before.max(after), ..last });
    }

    /// Those that are late, and what half of those that are not in a stream, or else of those in one, take less than, in ms.
    fn late(mut self) -> (Vec<Late>, f64) {
        self.settle(0.0);
        let [(mut late, usual), (in_stream, usual_in_stream)] = self.sorts.map(Sort::late);
        let usual = if late.is_empty() { usual_in_stream } else { usual };
        late.extend(in_stream);
        (late, usual)
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
mod tests {
    use super::*;
    use crate::peers::Peers;
    use headstack_trace::Request;
    use headstack_units::{Lba, Op};
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, Geometric, LogNormal};

    const REVOLUTION_MS: f64 = 8.333;

    /// 10,000 reads of a device, one at a time, 20 ms apart; `service_ms` draws how long one takes.
    fn found(seed: u64, mut service_ms: impl FnMut(&mut rand_pcg::Pcg64, u64) -> f64) -> Option<Effect> {
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let (mut finder, mut peers) = (LateFinder::default(), Peers::default());
        let mut arrival = Nanos::ZERO;
        for k in 0..10_000 {
            let ms = service_ms(&mut random, k);
            let lba = Lba(random.random_range(0..1_000_000_000));
            let finish = arrival + Nanos::from_ms(ms);
            let io = Io::new(Request { finish, ..Request::new(arrival, Op::Read, lba, 8) });
            let peer = peers.push(&io, 0);
            finder.push(&io, 0, peer.as_ref());
            arrival = finish + Nanos::from_ms(20.0);
        }
        finder.finish(|device| device.to_string(), &Paused::default())
    }

    /// A seek, the wait for the sector, and its transfer.
    fn access_ms(random: &mut rand_pcg::Pcg64) -> f64 {
        let far: f64 = random.random();
        0.3 + 1.0 + 9.0 * far.sqrt() + REVOLUTION_MS * random.random::<f64>()
    }

    #[test]
    fn service_that_varies_is_no_retry() {
        for spread in [0.3, 0.6, 1.0] {
            let law = LogNormal::new(2.0, spread).unwrap();
            let named =
                (0..200).filter(|&seed| found(seed, |random, _| law.sample(random)).is_some()).count();
            assert!(named <= 10, "spread {spread}: {named} of 200");
        }
        let named = (0..200).filter(|&seed| found(seed, |random, _| access_ms(random)).is_some()).count();
        assert!(named <= 10, "a disk: {named} of 200");
    }

    /// In a third of such traces the longest of a heavy tail were told as retries.
    #[test]
    fn a_heavy_tail_is_no_row_of_retries() {
        for power in [1.5, 2.0, 2.5] {
            let law = rand_distr::Pareto::new(3.0, power).unwrap();
            let named =
                (0..100).filter(|&seed| found(seed, |random, _| law.sample(random)).is_some()).count();
            assert!(named <= 5, "1/x^{power}: {named} of 100");
        }
    }

    /// A quarter of the reads go on in a stream, and a cache has them: those from the disk were not asked.
    #[test]
    fn retries_beside_a_stream_are_told() {
        let named = (0..40).filter(|&seed| {
            let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
            let (mut finder, mut peers) = (LateFinder::default(), Peers::default());
            let (mut arrival, mut next) = (Nanos::ZERO, 1 << 32);
            for _ in 0..8000 {
                let streams = random.random_bool(0.35);
                let lba = if streams { next } else { random.random_range(0..1_000_000_000) };
                next += if streams { 64 } else { 0 };
                let again_ms = if random.random_bool(1.0 / 300.0) { 400.0 } else { 0.0 };
                let ms = again_ms + if streams { 0.5 } else { access_ms(&mut random) };
                let finish = arrival + Nanos::from_ms(ms);
                let request = Request::new(arrival, Op::Read, Lba(lba), if streams { 64 } else { 8 });
                let io = Io::new(Request { finish, ..request });
                let peer = peers.push(&io, 0);
                finder.push(&io, 0, peer.as_ref());
                arrival = finish + Nanos::from_ms(20.0);
            }
            finder.finish(|device| device.to_string(), &Paused::default()).is_some()
        });
        let named = named.count();
        assert!(named >= 36, "{named} of 40");
    }

    #[test]
    fn what_comes_from_a_cache_most_times_is_not_retried_when_it_does_not() {
        let named = |share: f64| {
            let service = |random: &mut rand_pcg::Pcg64, _| {
                if random.random::<f64>() < share { access_ms(random) } else { 0.2 }
            };
            (0..20).filter(|&seed| found(seed, service).is_some()).count()
        };
        assert_eq!([0.001, 0.01, 0.1, 0.5].map(named), [0; 4]);
    }

    /// On a clock that is too coarse for a cache.
    #[test]
    fn reads_that_take_no_time_make_no_others_late() {
        let named = (0..20).filter(|&seed| {
            let service = |random: &mut rand_pcg::Pcg64, _| {
                if random.random::<f64>() < 0.1 { 0.0 } else { access_ms(random) }
            };
            found(seed, service).is_some()
        });
        assert_eq!(named.count(), 0);
    }

    /// Whoever is slow for a while is not retried.
    #[test]
    fn a_slow_while_is_no_row_of_retries() {
        let named = (0..20).filter(|&seed| {
            let service = |random: &mut rand_pcg::Pcg64, k: u64| {
                access_ms(random) * if k % 1000 < 10 { 20.0 } else { 1.0 }
            };
            found(seed, service).is_some()
        });
        assert_eq!(named.count(), 0);
    }

    #[test]
    fn reads_that_take_many_revolutions_more_are_counted() {
        // Each further revolution fails two times in three.
        let again = Geometric::new(1.0 / 3.0).unwrap();
        let (mut runs, mut shares) = (0, Vec::new());
        for seed in 0..200 {
            let mut long = 0_u32;
            let effect = found(seed, |random, _| {
                let once = access_ms(random);
                if random.random::<f64>() >= 0.01 {
                    return once;
                }
                let revolutions = 1 + again.sample(random);
                long += u32::from(revolutions >= 4);
                once + revolutions as f64 * REVOLUTION_MS
            });
            let Some(effect) = effect else { continue };
            runs += 1;
            shares.push(effect.occurrences as f64 / f64::from(long.max(1)));
        }
        assert!(runs >= 180, "{runs} of 200");
        // Those of 33 ms more are told from what a far seek and a full turn come to.
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!((0.5..2.0).contains(&mean), "{mean}");
    }

    /// Others ask as well while the device stands still: it is one that pauses, and that is said once.
    #[test]
    fn a_pause_is_told_of_once() {
        let told = |pause_ms: f64, others: bool| {
            let mut random = rand_pcg::Pcg64::seed_from_u64(5);
            let (mut finder, mut peers) = (LateFinder::default(), Peers::default());
            let mut pauses = crate::pauses::PauseFinder::default();
            let mut arrival = Nanos::ZERO;
            for k in 0..10_000_u64 {
                let pause = k % 500 == 499;
                let ms = access_ms(&mut random).min(15.0) + if pause { pause_ms } else { 0.0 };
                let finish = arrival + Nanos::from_ms(ms);
                let mut push = |arrival, finish, outstanding| {
                    let lba = Lba(random.random_range(0..1_000_000_000));
                    let io = Io::new(Request { finish, ..Request::new(arrival, Op::Read, lba, 8) });
                    let peer = peers.push(&io, outstanding);
                    finder.push(&io, outstanding, peer.as_ref());
                    pauses.push(&io);
                };
                push(arrival, finish, 0);
                if others || k % 3 == 0 {
                    push(arrival + Nanos::from_ms(1.0), finish + Nanos::from_ms(8.0), 1);
                }
                arrival = finish + Nanos::from_ms(20.0);
            }
            let (pause, paused) = pauses.finish(|device| device.to_string()).unzip();
            let late = finder.finish(|device| device.to_string(), &paused.unwrap_or_default());
            (pause.map(|effect| effect.occurrences), late.is_some())
        };
        assert_eq!(told(400.0, true), (Some(20), false));
        // Single reads that nobody else waited beside stay what they are.
        assert_eq!(told(80.0, false), (None, true));
    }

    #[test]
    fn where_and_when_they_come_is_told() {
        let effect = found(1, |random, k| if k % 500 == 499 { 150.0 } else { access_ms(random).min(15.0) });
        let effect = effect.expect("reads of 150 ms");
        // The first comes while it is being learned what a read takes.
        assert_eq!((effect.cause, effect.occurrences), ("late-reads", 19));
        let name = effect.name.unwrap();
        assert!(name.starts_with(" that wait for nobody take 150 to 150 ms"), "{name}");
        assert!(name.contains("every "), "{name}");
        assert!(!name.contains("within LBA"), "{name}");
    }
}
