//! A device that pauses: requests wait, and for long not one is completed.
//!
//! The times between completions while at least two requests wait are what its service gives; the longest of them are pauses only
//! if that does not explain them. Their logarithms are held against a normal law drawn through their median and their 95th
//! percentile: a pause is so long that in traces of this length it would come once in two hundred. What waited through a pause may be
//! completed at once, which draws that law wide: three and more that are eight times as long as all others are pauses, too. What a large
//! transfer, a flush or a discard takes is theirs: a time that ends with one is shortened by as much as those that end with its like are
//! longer than all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use headstack_trace::{Io, Kind};
use headstack_units::Nanos;

use crate::effect::{Effect, Logs, of_device};
use crate::period::period_s;
use crate::tail::{Tail, counted, octaves};

/// Shorter ones are no pause to those who wait.
const SHORTEST: Nanos = Nanos(100_000_000);

/// With fewer the device is not said to pause.
const FEWEST: usize = 3;

/// At most so many of the longest are remembered.
const LONGEST: usize = 256;

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
    finishes: BinaryHeap<Reverse<(Nanos, Like)>>,
    /// Since when nothing was completed although something waits.
    since: Nanos,
    gaps: Tail,
    /// Octaves of the times that end with requests of each sort.
    by_like: BTreeMap<Like, Logs>,
    /// The longest of all, when they ended, and with what.
    longest: BinaryHeap<Reverse<(Nanos, Nanos, Like)>>,
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
            device.finishes.push(Reverse((finish, Like::of(io))));
        }
    }

    /// The device that pauses most often, if one does, and when; `device` names it where there are several.
    pub(crate) fn finish(self, device: impl Fn(u32) -> String) -> Option<(Effect, Paused)> {
        let several = self.devices.len() > 1;
        let found = self.devices.into_iter().map(|(number, found)| (number, found.pauses()));
        let (number, pauses) = found.max_by_key(|(number, pauses)| (pauses.len(), Reverse(*number)))?;
        if pauses.len() < FEWEST {
            return None;
        }
        let lengths = || pauses.iter().map(|(length, _)| length.as_ms());
        let (shortest, longest) = (lengths().fold(f64::INFINITY, f64::min), lengths().fold(0.0, f64::max));
        let of = if several { format!("device {}", device(number)) } else { "the device".to_owned() };
        let mut ends: Vec<Nanos> = pauses.iter().map(|(_, end)| *end).collect();
        ends.sort_unstable();
        let period = period_s(&ends).map_or(String::new(), |every| format!(", every {every:.1} s"));
        let effect = Effect {
            name: Some(format!("{of} completes nothing for {shortest:.0} to {longest:.0} ms{period}")),
            found: true,
            ..Effect::unknown("pause", pauses.len() as u64)
        };
        Some((effect, Paused { device: number, pauses }))
    }
}

impl Device {
    fn complete_until(&mut self, now: Nanos) {
        while let Some(&Reverse((finish, like))) = self.finishes.peek().filter(|next| next.0.0 <= now) {
            let waiting = self.finishes.len();
            self.finishes.pop();
            let gap = finish.saturating_sub(self.since);
            self.since = finish;
            if waiting < 2 {
                continue;
            }
            self.gaps.add(octaves(gap));
            self.by_like.entry(like).or_default().add(octaves(gap));
            self.remember(gap, finish, like);
        }
    }

    #[inline]
    fn remember(&mut self, gap: Nanos, end: Nanos, like: Like) {
        if self.longest.len() == LONGEST {
            if self.longest.peek().is_some_and(|shortest| gap <= shortest.0.0) {
                return;
            }
            self.longest.pop();
        }
        self.longest.push(Reverse((gap, end, like)));
    }

    /// Length and end of each.
    fn pauses(mut self) -> Vec<(Nanos, Nanos)> {
        self.complete_until(Nanos::MAX);
        let Some(limit) = self.gaps.limit() else { return Vec::new() };
        let all = self.by_like.values().copied().reduce(Logs::with).and_then(Logs::mean).unwrap_or(0.0);
        let theirs =
            |like| (self.by_like.get(&like).and_then(|logs| logs.mean()).unwrap_or(0.0) - all).max(0.0);
        let own = |&Reverse((length, end, like)): &Reverse<(Nanos, Nanos, Like)>| {
            (octaves(length) - theirs(like), length, end)
        };
        let mut longest: Vec<(f64, Nanos, Nanos)> = self.longest.iter().map(own).collect();
        longest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        let least = octaves(SHORTEST);
        let beyond = longest.partition_point(|&(own, ..)| counted(own) > limit && own >= least);
        let count = if beyond < FEWEST { standing_apart(&longest, least) } else { beyond };
        longest[..count].iter().map(|&(_, length, end)| (length, end)).collect()
    }
}

/// How many of the longest, which are as long as `least` octaves, are far longer than all others.
fn standing_apart(longest: &[(f64, Nanos, Nanos)], least: f64) -> usize {
    let is_apart = |&count: &usize| {
        let (last, next) = (longest[count - 1].0, longest[count].0);
        last >= least && last - next >= APART
    };
    (FEWEST..longest.len()).rev().find(is_apart).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_trace::Request;
    use headstack_units::{Lba, Op};
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, Exp, LogNormal};

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
        finder.finish(|device| device.to_string()).map(|(effect, _)| effect)
    }

    #[test]
    fn service_that_varies_is_no_pause() {
        for spread in [0.3, 0.6, 1.0] {
            let named = (0..200).filter(|&seed| found(seed, spread, 0.0).is_some()).count();
            assert!(named <= 10, "spread {spread}: {named} of 200");
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
            let found = finder.finish(|device| device.to_string());
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
        finder.finish(|device| device.to_string()).map(|(effect, _)| effect)
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
        assert!(named.len() >= 180, "{} of 200", named.len());
        let periodic = named.iter().filter(|name| name.contains("every 10.0 s")).count();
        assert!(periodic >= 150, "{periodic} of 200: {:?}", &named[..5]);
    }
}
