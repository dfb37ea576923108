//! A device that pauses: requests wait, and for long not one is completed.
//!
//! The times between completions while at least two requests wait are what its service gives; the longest of them are pauses only
//! if that does not explain them: if they are of another law than the others (see [`crate::tail`]). Where pauses are too many of all for
//! that, three and more that are eight times as long as all others are pauses, too. What a large transfer, a flush or a discard takes is
//! theirs: a time that ends with one is shortened by as much as those that end with its like are longer than all.
//!
//! A request that is tried again stops all others for as long, and looks much the same. It is the first to be completed then, and it was
//! dispatched before. So a device pauses for certain only if such times come evenly, or if what is completed first was mostly dispatched
//! late in them, while nothing was at the device that could be tried again. It retries if most of what is completed first lies in one
//! place, or all of it is read, and that is not so of the other long times. Otherwise it does either.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use headstack_trace::{Io, Kind};
use headstack_units::{Nanos, Op, grouped};

use crate::effect::{Effect, Logs, of_device};
use crate::late::{PLACE, RARE, ends, place};
use crate::overload::{Overload, Stretches};
use crate::period::period_s;
use crate::tail::{Tail, counted, octaves};

/// Shorter ones are no pause to those who wait.
const SHORTEST: Nanos = Nanos(100_000_000);

/// With fewer the device is not said to pause.
const FEWEST: usize = 3;

/// At most so many of the longest are remembered.
const LONGEST: usize = 256;

/// What chance does less often than this is not chance.
const UNLIKELY: f64 = 0.01;

/// Octaves between pauses and all other times, where nothing else tells. Of times with a tail as heavy as 1/x some stand so far apart
/// in one trace of four hundred.
const APART: f64 = 3.0;

/// When a device paused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Paused {
    device: u32,
    /// Length and end of each.
    pauses: Vec<(Nanos, Nanos)>,
}

impl Paused {
    /// Whether one of the device fell between `from` and `to`.
    pub(crate) fn between(&self, device: u32, from: Nanos, to: Nanos) -> bool {
        let meets = |&(length, end): &(Nanos, Nanos)| from < end && end.saturating_sub(length) < to;
        self.device == device && self.pauses.iter().any(meets)
    }
}

/// Looks for pauses in I/Os in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct PauseFinder {
    devices: BTreeMap<u32, Device>,
}

#[derive(Debug, Default)]
struct Device {
    /// And what finishes.
    finishes: BinaryHeap<Reverse<Finish>>,
    /// Since when nothing was completed although something waits.
    since: Nanos,
    /// Since when two requests do.
    two_since: Nanos,
    gaps: Tail,
    /// Octaves of the times that end with requests of each sort.
    by_like: BTreeMap<Like, Logs>,
    /// The longest of all.
    longest: BinaryHeap<Reverse<Gap>>,
    stretches: Stretches,
}

/// What is completed, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finish {
    at: Nanos,
    like: Like,
    /// When it was dispatched, where the trace knows.
    start: Nanos,
    lba: u64,
    write: bool,
}

/// A time without a completion, and what ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Gap {
    /// Its length, or how long at least two requests waited, if that is less than half of it.
    waited: Nanos,
    length: Nanos,
    last: Finish,
}

impl Gap {
    /// Whether what ended it was dispatched in its later half.
    fn begins_late(&self) -> bool {
        self.last.start != Nanos::MAX && self.last.start.0 > self.last.at.0 - self.length.0 / 2
    }
}

/// What a request has in common with those that take about as long: its sort, and its sectors as a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Like(Sort, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Data,
    Flush,
    Discard,
    Other,
}

impl Like {
    fn of(io: &Io) -> Self {
        let sectors = io.request.sectors.max(1).ilog2();
        match io.kind {
            Kind::Data => Self(Sort::Data, sectors),
            Kind::Flush => Self(Sort::Flush, 0),
            Kind::Discard => Self(Sort::Discard, sectors),
            Kind::Other => Self(Sort::Other, sectors),
        }
    }
}

impl PauseFinder {
    pub(crate) fn push(&mut self, io: &Io) {
        let Some(finish) = io.request.finish.present().filter(|_| io.response_known) else { return };
        if let Some(device) = of_device(&mut self.devices, io.request.device) {
            device.complete_until(io.request.arrival);
            if device.finishes.is_empty() {
                device.since = io.request.arrival;
            }
            if device.finishes.len() < 2 {
                device.two_since = io.request.arrival;
            }
            let response = finish.saturating_sub(io.request.arrival);
            device.stretches.arrive(io.request.arrival, device.finishes.len(), response);
            device.finishes.push(Reverse(Finish {
                at: finish,
                like: Like::of(io),
                start: io.request.start,
                lba: io.request.lba.0,
                write: io.request.op == Op::Write,
            }));
        }
    }

    /// The device that pauses most often and the one that keeps up least, if there are, and when the one pauses; `device` names them where
    /// there are several.
    pub(crate) fn finish(mut self, device: impl Fn(u32) -> String) -> (Vec<Effect>, Paused) {
        self.devices.values_mut().for_each(|device| device.complete_until(Nanos::MAX));
        let overload = self.overload(&device);
        let (pause, paused) = self.pause(device).unzip();
        (overload.into_iter().chain(pause).collect(), paused.unwrap_or_default())
    }

    fn overload(&self, device: impl Fn(u32) -> String) -> Option<Effect> {
        let overloads = self.devices.iter().map(|(number, device)| (*number, device.stretches.overload()));
        let found: Vec<(u32, Overload)> =
            overloads.filter_map(|(number, overload)| Some((number, overload?))).collect();
        let share = |overload: &Overload| overload.busy.as_s() / overload.span.as_s();
        let (number, worst) = found
            .iter()
            .max_by(|one, two| share(&one.1).total_cmp(&share(&two.1)).then(two.0.cmp(&one.0)))?;
        let how = if worst.grows.is_some() { "does not keep up" } else { "hardly keeps up" };
        let which = match (self.devices.len(), found.len()) {
            (1, _) => format!("the device {how}"),
            (_, 1) => format!("device {} {how}", device(*number)),
            (_, several) => {
                format!("{several} devices hardly keep up or do not; device {} {how}", device(*number))
            }
        };
        let (busy, span) = (worst.busy.as_s(), worst.span.as_s());
        let grows = worst.grows.map_or(String::new(), |[first, last]| {
            let [first, last] = [first, last].map(|ms| grouped(ms.round() as u64));
            format!(", and responses grow from {first} ms in the first quarter of the requests to {last} ms in the last")
        });
        Some(Effect {
            name: Some(format!(
                "{which}: for {} of {} s something is outstanding, up to {} requests at a time{grows}",
                grouped(busy.round() as u64),
                grouped(span.round() as u64),
                grouped(worst.most)
            )),
            found: true,
            ..Effect::unknown("overload", worst.stretches)
        })
    }

    fn pause(self, device: impl Fn(u32) -> String) -> Option<(Effect, Paused)> {
        let several = self.devices.len() > 1;
        let found = self.devices.into_iter().map(|(number, found)| (number, found.pauses()));
        let (number, (pauses, others)) =
            found.max_by_key(|(number, (pauses, _))| (pauses.len(), Reverse(*number)))?;
        if pauses.len() < FEWEST {
            return None;
        }
        let (shortest, longest) = ends(pauses.iter().map(|gap| gap.length.as_ms()));
        let of = if several { format!("device {}", device(number)) } else { "the device".to_owned() };
        let mut instants: Vec<Nanos> = pauses.iter().map(|gap| gap.last.at).collect();
        instants.sort_unstable();
        let period = period_s(&instants);
        let every = period.map_or(String::new(), |every| format!(", every {every:.1} s"));
        let (cause, why) = why(&pauses, &others, period.is_some());
        let effect = Effect {
            name: Some(format!("{of} completes nothing for {shortest:.0} to {longest:.0} ms{every}{why}")),
            found: true,
            ..Effect::unknown(cause, pauses.len() as u64)
        };
        let pauses = pauses.into_iter().map(|gap| (gap.length, gap.last.at)).collect();
        Some((effect, Paused { device: number, pauses }))
    }
}

/// Whether they are pauses, retries, or nobody can tell, and what tells it; `others` are the next longest.
fn why(pauses: &[Gap], others: &[Gap], come_evenly: bool) -> (&'static str, String) {
    let count = pauses.len();
    if let Some((first, there)) = one_place(pauses, others) {
        let last = first + (1 << PLACE) - 1;
        return (
            "retries",
            format!(", {there} of them with a request of LBA {} to {}", grouped(first), grouped(last)),
        );
    }
    if come_evenly {
        return ("pause", String::new());
    }
    let late = pauses.iter().filter(|gap| gap.begins_late()).count();
    if 2 * late > count {
        return ("pause", String::new());
    }
    let reads = |gaps: &[Gap]| gaps.iter().filter(|gap| !gap.last.write).count();
    // One more of each, as the share of few is not known.
    let share = (reads(others) + 1) as f64 / (others.len() + 2) as f64;
    if late == 0 && reads(pauses) == count && share.powf(count as f64) < UNLIKELY {
        return ("retries", ", each time with a read".to_owned());
    }
    ("pause-or-retries", String::new())
}

/// Where most of what ended those begins, and how much of it, if hardly any of the others is there.
fn one_place(pauses: &[Gap], others: &[Gap]) -> Option<(u64, usize)> {
    let (count, first) = place(pauses.iter().map(|gap| gap.last.lba))?;
    let there = others.iter().filter(|gap| gap.last.lba >> PLACE == first >> PLACE).count();
    let is_rare = ((there + 1) as f64) < RARE * (others.len() + 2) as f64;
    (count >= FEWEST && is_rare).then_some((first, count))
}

impl Device {
    fn complete_until(&mut self, now: Nanos) {
        while let Some(&Reverse(last)) = self.finishes.peek().filter(|next| next.0.at <= now) {
            let waiting = self.finishes.len();
            self.finishes.pop();
            let length = last.at.saturating_sub(self.since);
            // Mostly one waits alone: a slow request, and nobody knows whether more would have been completed.
            let together = last.at.saturating_sub(self.since.max(self.two_since));
            let waited = if 2 * together.0 < length.0 { together } else { length };
            self.since = last.at;
            self.stretches.complete(last.at, length, waiting - 1);
            if waiting < 2 {
                continue;
            }
            self.gaps.add(octaves(waited));
            self.by_like.entry(last.like).or_default().add(octaves(waited));
            self.remember(Gap { waited, length, last });
        }
    }

    #[inline]
    fn remember(&mut self, gap: Gap) {
        if self.longest.len() == LONGEST {
            if self.longest.peek().is_some_and(|shortest| gap.waited <= shortest.0.waited) {
                return;
            }
            self.longest.pop();
        }
        self.longest.push(Reverse(gap));
    }

    /// The pauses, and the longest other times.
    fn pauses(self) -> (Vec<Gap>, Vec<Gap>) {
        if self.gaps.limit().is_none() {
            return Default::default();
        }
        let limit = self.gaps.apart(self.gaps.longest_gap()).unwrap_or(f64::INFINITY);
        let all = self.by_like.values().copied().reduce(Logs::with).and_then(Logs::mean).unwrap_or(0.0);
        let theirs =
            |like| (self.by_like.get(&like).and_then(|logs| logs.mean()).unwrap_or(0.0) - all).max(0.0);
        let own = |&Reverse(gap): &Reverse<Gap>| (octaves(gap.waited) - theirs(gap.last.like), gap);
        let mut longest: Vec<(f64, Gap)> = self.longest.iter().map(own).collect();
        longest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.last.at.cmp(&b.1.last.at)));
        let least = octaves(SHORTEST);
        let beyond = longest.partition_point(|&(own, _)| counted(own) >= limit && own >= least);
        let count = if beyond < FEWEST { standing_apart(&longest, least) } else { beyond };
        let mut pauses: Vec<Gap> = longest.into_iter().map(|(_, gap)| gap).collect();
        let others = pauses.split_off(count);
        (pauses, others)
    }
}

/// How many of the longest, which are as long as `least` octaves, are far longer than all others.
fn standing_apart(longest: &[(f64, Gap)], least: f64) -> usize {
    let is_apart = |&count: &usize| {
        let (last, next) = (longest[count - 1].0, longest[count].0);
        last >= least && last - next >= APART
    };
    (FEWEST..longest.len()).rev().find(is_apart).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted::show;
    use headstack_trace::Request;
    use headstack_units::{Lba, Op};
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, Exp, LogNormal};

    fn pause(finder: PauseFinder) -> Option<Effect> {
        finder.finish(|device| device.to_string()).0.into_iter().find(|effect| effect.cause != "overload")
    }

    /// 10,000 reads that a server takes one by one, with service times of this spread; `pause_ms` it stands still every 10 s.
    fn found(seed: u64, spread: f64, pause_ms: f64) -> Option<Effect> {
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let (gaps, law) = (Exp::new(0.1).unwrap(), LogNormal::new(1.2, spread).unwrap());
        let (mut at_ms, mut free_ms, mut next_ms): (f64, f64, f64) =
            (0.0, 0.0, 10_000.0 * random.random::<f64>());
        let mut finder = PauseFinder::default();
        for _ in 0..10_000 {
            let gap: f64 = gaps.sample(&mut random);
            at_ms += gap;
            let ms: f64 = law.sample(&mut random);
            let mut begin = at_ms.max(free_ms);
            while begin >= next_ms {
                begin = begin.max(next_ms + pause_ms);
                next_ms += 10_000.0;
            }
            free_ms = begin + ms;
            let arrival = Nanos::from_ms(at_ms);
            let request = Request::new(arrival, Op::Read, Lba(0), 8);
            finder.push(&Io::new(Request { finish: Nanos::from_ms(free_ms), ..request }));
        }
        pause(finder)
    }

    #[test]
    fn service_that_varies_is_no_pause() {
        for spread in [0.3, 0.6, 1.0] {
            let named = (0..200).filter(|&seed| found(seed, spread, 0.0).is_some()).count();
            show(&format!("no pauses, spread {spread}"), named, None, 200);
            assert!(named <= 10, "spread {spread}: {named} of 200");
        }
    }

    /// Ten at a time, to a device that serves one or any number, with a heavy tail: the longest were told as pauses in most traces.
    #[test]
    fn a_heavy_tail_is_no_pause() {
        for one_by_one in [false, true] {
            let law = rand_distr::Pareto::new(2.0, if one_by_one { 2.0 } else { 1.5 }).unwrap();
            let named = (0..100).filter(|&seed| {
                let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
                let (gaps, mut finder) = (Exp::new(0.004).unwrap(), PauseFinder::default());
                let (mut at_ms, mut free_ms): (f64, f64) = (0.0, 0.0);
                for k in 0..6000 {
                    let gap: f64 = gaps.sample(&mut random);
                    at_ms += if k % 10 == 0 { gap } else { 0.2 };
                    let ms: f64 = law.sample(&mut random);
                    free_ms = ms + if one_by_one { free_ms.max(at_ms) } else { at_ms };
                    let begin = Nanos::from_ms(free_ms - ms);
                    let request = Request::new(Nanos::from_ms(at_ms), Op::Read, Lba(0), 8);
                    finder.push(&Io::new(Request {
                        start: begin,
                        finish: Nanos::from_ms(free_ms),
                        ..request
                    }));
                }
                pause(finder).is_some()
            });
            let named = named.count();
            assert!(named <= 5, "one by one {one_by_one}: {named} of 100");
        }
    }

    /// Now and then 64 MiB are read, or written data flushed, while others wait: that takes its time.
    #[test]
    fn a_long_transfer_or_flush_is_no_pause() {
        for (kind, sectors) in [(Kind::Data, 1 << 17), (Kind::Flush, 0), (Kind::Discard, 1 << 20)] {
            let mut random = rand_pcg::Pcg64::seed_from_u64(3);
            let (gaps, law) = (Exp::new(0.1).unwrap(), LogNormal::new(1.2, 0.4).unwrap());
            let (mut at_ms, mut free_ms): (f64, f64) = (0.0, 0.0);
            let mut finder = PauseFinder::default();
            for k in 0..10_000 {
                let gap: f64 = gaps.sample(&mut random);
                at_ms += gap;
                let long = k % 500 == 250;
                let ms: f64 = law.sample(&mut random) + if long { 400.0 } else { 0.0 };
                free_ms = at_ms.max(free_ms) + ms;
                let request =
                    Request::new(Nanos::from_ms(at_ms), Op::Read, Lba(0), if long { sectors } else { 8 });
                let io = Io::new(Request { finish: Nanos::from_ms(free_ms), ..request });
                finder.push(&Io { kind: if long { kind } else { Kind::Data }, ..io });
            }
            let found = pause(finder);
            assert_eq!(found, None, "{kind:?}");
        }
    }

    /// Reads that nothing holds up but themselves, a third of them hits, as on a device of many servers; `pause_ms` all wait every 8 s.
    fn found_at_once(seed: u64, heavy: bool, pause_ms: f64) -> Option<Effect> {
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let gaps = Exp::new(0.08).unwrap();
        let mut finder = PauseFinder::default();
        let mut at_ms = 0.0;
        for _ in 0..4_000 {
            let gap: f64 = gaps.sample(&mut random);
            at_ms += gap;
            let miss_ms: f64 =
                if heavy { 2.0 / random.random_range(1e-6..1.0) } else { random.random_range(1.0..18.0) };
            let ms = if random.random_bool(0.35) { 0.15 } else { miss_ms };
            let held_ms = (pause_ms - at_ms % 8_000.0).max(0.0);
            let request = Request::new(Nanos::from_ms(at_ms), Op::Read, Lba(0), 8);
            finder.push(&Io::new(Request { finish: Nanos::from_ms(at_ms + held_ms + ms), ..request }));
        }
        pause(finder)
    }

    #[test]
    fn a_pause_is_named_though_all_that_waited_is_completed_at_once() {
        let named = (0..100).filter(|&seed| found_at_once(seed, false, 2_000.0).is_some()).count();
        assert!(named >= 90, "{named} of 100");
        for heavy in [false, true] {
            let named = (0..200).filter(|&seed| found_at_once(seed, heavy, 0.0).is_some()).count();
            assert!(named <= 10, "heavy {heavy}: {named} of 200");
        }
    }

    #[test]
    fn a_device_that_pauses_is_named_with_length_and_period() {
        let runs: Vec<Option<Effect>> = (0..200).map(|seed| found(seed, 0.6, 400.0)).collect();
        let named: Vec<&str> = runs.iter().flatten().filter_map(|effect| effect.name.as_deref()).collect();
        show("pauses of 400 ms", named.len(), None, runs.len());
        assert!(named.len() >= 180, "{} of 200", named.len());
        let periodic = named.iter().filter(|name| name.contains("every 10.0 s")).count();
        assert!(periodic >= 150, "{periodic} of 200: {:?}", &named[..5]);
    }

    /// What stops a device that serves one at a time, at times that chance chooses.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Stop {
        /// It takes no request, and completes the one it has.
        Refuses,
        /// It keeps what it has, whichever that is.
        Holds,
        /// Reads are tried again, anywhere or in one place.
        Retries,
        RetriesInOnePlace,
    }

    /// 10,000 requests of which a share are writes; it stops for 300 ms some forty times.
    fn stopped(seed: u64, stop: Stop, writes: f64, knows_dispatch: bool) -> Option<&'static str> {
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let (gaps, law) = (Exp::new(0.1).unwrap(), LogNormal::new(1.2, 0.4).unwrap());
        let stops = Exp::new(1.0 / 2500.0).unwrap();
        let (mut at_ms, mut free_ms, mut next_ms): (f64, f64, f64) = (0.0, 0.0, stops.sample(&mut random));
        let mut finder = PauseFinder::default();
        for _ in 0..10_000 {
            let gap: f64 = gaps.sample(&mut random);
            at_ms += gap;
            let write = random.random_bool(writes);
            let damaged = stop == Stop::RetriesInOnePlace && random.random_bool(0.004);
            let lba = if damaged { 123_456_789 } else { random.random_range(0..1 << 30) };
            let service_ms: f64 = law.sample(&mut random);
            let mut begin = at_ms.max(free_ms);
            let mut held_ms = 0.0;
            match stop {
                Stop::Refuses | Stop::Holds => {
                    while begin + service_ms >= next_ms {
                        let is_before = begin >= next_ms && stop == Stop::Refuses;
                        let left = (next_ms + 300.0 - begin.max(next_ms)).max(0.0);
                        begin += if is_before { left } else { 0.0 };
                        held_ms += if stop == Stop::Holds { left } else { 0.0 };
                        if stop == Stop::Refuses && !is_before {
                            break;
                        }
                        let gap: f64 = stops.sample(&mut random);
                        next_ms += 300.0 + gap;
                    }
                }
                Stop::Retries => held_ms = if !write && random.random_bool(0.005) { 300.0 } else { 0.0 },
                Stop::RetriesInOnePlace => held_ms = if damaged { 300.0 } else { 0.0 },
            }
            free_ms = begin + service_ms + held_ms;
            let op = if write { Op::Write } else { Op::Read };
            let request = Request::new(Nanos::from_ms(at_ms), op, Lba(lba), 8);
            let start = if knows_dispatch { Nanos::from_ms(begin) } else { Nanos::MAX };
            finder.push(&Io::new(Request { start, finish: Nanos::from_ms(free_ms), ..request }));
        }
        pause(finder).map(|effect| effect.cause)
    }

    /// A retry on a busy device was told as a pause of the device, always.
    #[test]
    fn a_request_that_is_tried_again_is_no_pause() {
        for (stop, writes, knows_dispatch, told) in [
            (Stop::Refuses, 0.3, true, "pause"),
            (Stop::Refuses, 0.3, false, "pause-or-retries"),
            (Stop::Holds, 0.3, true, "pause-or-retries"),
            (Stop::Holds, 0.3, false, "pause-or-retries"),
            (Stop::Retries, 0.0, true, "pause-or-retries"),
            (Stop::Retries, 0.0, false, "pause-or-retries"),
            (Stop::Retries, 0.3, true, "retries"),
            (Stop::Retries, 0.3, false, "retries"),
            (Stop::RetriesInOnePlace, 0.0, true, "retries"),
            (Stop::RetriesInOnePlace, 0.3, false, "retries"),
        ] {
            let all: Vec<_> = (0..60).map(|seed| stopped(seed, stop, writes, knows_dispatch)).collect();
            let right = all.iter().filter(|cause| **cause == Some(told)).count();
            let what = format!("{stop:?}, writes {writes}, dispatch {knows_dispatch}: {right} of 60 {told}");
            assert!(right >= 54, "{what}: {:?}", &all[..8]);
            // What is told instead may be less than the truth, and not against it.
            let other = if told == "pause" { "retries" } else { "pause" };
            let wrong = all.iter().filter(|cause| **cause == Some(other)).count();
            assert!(told == "pause-or-retries" || wrong <= 3, "{what}: {wrong} {other}");
        }
    }
}
