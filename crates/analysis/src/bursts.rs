//! Bursts of writes, and what they do to reads.
//!
//! A burst begins with the write that comes when at most [`LOW`] writes of its device are outstanding and ends when it is so again; it
//! counts if at least [`HIGH`] were outstanding at a time between, and if eight writes or more arrived faster than chance
//! explains at the rate before: in a long queue there are many writes, too. A burst is a *flush*, the trace of a `sync` or of a cache
//! written back, if at least four fifths of what arrived until the most were outstanding are writes, and nobody waited for
//! most of its writes, where the trace says who waits. Reads in bursts are compared with those around them: see
//! [`crate::effect`].

use std::collections::{BTreeMap, VecDeque};

use headstack_trace::{Io, Kind};
use headstack_units::{Nanos, Op};
use serde::Serialize;

use crate::depth::Outstanding;
use crate::effect::{Effect, LEAST, Logs, Matched, effects, of_device};
use crate::peers::Peer;
use crate::period::period_s;
use crate::times::{MeanAndMax, Times, TimesSummary};

/// A burst is over when so few writes are outstanding.
pub const LOW: u64 = 1;
/// A burst is one if so many were.
pub const HIGH: u64 = 8;

/// Minus the logarithm of the probability at which a burst is not laid to chance: a device's day has thousands of stretches.
const UNLIKELY: f64 = 18.0;

/// So many writes are looked back at.
const RECENT: usize = 64;

/// How many bursts are kept, the largest.
const KEPT: usize = 50;

/// Of so many flushes of a device it is asked whether they come evenly.
const TIMED: usize = 4096;

/// Reads that wait to be told whether they come in a burst; with more, what began is none, and begins anew.
const HELD: usize = 4096;

/// One burst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Burst {
    /// `flush` or `mixed`.
    pub kind: &'static str,
    /// Arrival of its first write, s from the first request.
    pub start_s: f64,
    /// From there to its end, ms.
    pub length_ms: f64,
    /// Writes that arrived in it.
    pub writes: u64,
    /// Their bytes.
    pub bytes_written: u64,
    /// The most writes outstanding at a time.
    pub peak_outstanding: u64,
    /// Reads that arrived in it.
    pub reads: u64,
    /// Response of the reads in it, if there were any.
    pub read_response_ms: Option<MeanAndMax>,
}

/// What bursts there were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bursts {
    /// How many.
    pub count: u64,
    /// Of them flushes.
    pub flushes: u64,
    /// The share of all writes that came in bursts.
    pub share_of_writes: f64,
    /// Time from one flush to the next, s, where they come evenly on a device, some of them left out or not; 30 s betrays a
    /// periodic `sync`.
    pub flush_period_s: Option<f64>,
    /// Reads that arrived in bursts.
    #[serde(rename = "reads_inside_ms")]
    pub reads_inside: Option<TimesSummary>,
    /// Reads that did not.
    #[serde(rename = "reads_outside_ms")]
    pub reads_outside: Option<TimesSummary>,
    /// What bursts do to reads, flushes and mixed ones apart.
    pub effects: Vec<Effect>,
    /// The largest ones, in order of time.
    pub largest: Vec<Burst>,
}

#[derive(Debug, Default)]
struct Current {
    start: Nanos,
    writes: u64,
    waited_for: u64,
    bytes: u64,
    peak: u64,
    /// Writes and reads that had arrived when the peak was reached.
    at_peak: (u64, u64),
    /// Writes of the device before it.
    before: u64,
    /// Enough of them came together.
    is_burst: bool,
    reads: u64,
    read_sum: u128,
    read_max: Nanos,
    logs: Logs,
}

impl Current {
    fn read(&mut self, read: &Peer) {
        self.reads += 1;
        self.read_sum += u128::from(read.response.0);
        self.read_max = self.read_max.max(read.response);
        if let Some(log) = read.crowded {
            self.logs.add(log);
        }
    }

    /// The rate of the device's writes before it, a nanosecond, since the first of them.
    fn rate_before(&self, first: Nanos) -> f64 {
        self.before as f64 / self.start.saturating_sub(first).0.max(1) as f64
    }
}

/// The writes of a device, and the reads in them.
#[derive(Debug, Default)]
struct Device {
    writes: Outstanding,
    current: Option<Current>,
    /// When the first came, and how many there were.
    first: Option<Nanos>,
    seen: u64,
    /// When the last ones came.
    recent: VecDeque<Nanos>,
    /// The last burst is over, and the queue it left is not.
    backlog: bool,
    flushes: Vec<Nanos>,
    matched: Matched<2>,
    /// Arrivals of the reads in the current burst, not yet known to be one, and what they were.
    held: Vec<(Nanos, Peer)>,
}

/// Finds bursts in I/Os in order of arrival, those of each device.
#[derive(Debug)]
pub(crate) struct BurstFinder {
    sector_bytes: u64,
    devices: BTreeMap<u32, Device>,
    sums: Sums,
}

/// What all devices' bursts come to.
#[derive(Debug)]
struct Sums {
    found: Vec<Burst>,
    count: u64,
    flushes: u64,
    all_writes: u64,
    burst_writes: u64,
    inside: Times,
    outside: Times,
}

impl BurstFinder {
    pub(crate) fn new(sector_bytes: u32) -> Self {
        Self {
            sector_bytes: u64::from(sector_bytes),
            devices: BTreeMap::new(),
            sums: Sums {
                found: Vec::new(),
                count: 0,
                flushes: 0,
                all_writes: 0,
                burst_writes: 0,
                inside: Times::default(),
                outside: Times::default(),
            },
        }
    }

    /// Takes the next one; those without a finish say nothing.
    /// A read comes with how it compares with like reads, and all with how many requests they found outstanding.
    pub(crate) fn push(&mut self, io: &Io, outstanding: u64, peer: Option<&Peer>) {
        if io.kind != Kind::Data {
            return;
        }
        if io.response().is_none() {
            return;
        }
        if let Some(device) = of_device(&mut self.devices, io.request.device) {
            device.backlog &= outstanding > LOW;
            device.push(io, peer, self.sector_bytes, &mut self.sums);
        }
    }

    pub(crate) fn finish(self) -> Bursts {
        let Self { mut sums, .. } = self;
        let (mut differences, mut periods) = (Vec::new(), Vec::new());
        for mut device in self.devices.into_values() {
            let end = device.writes.falls_to(LOW as usize);
            device.close(end, &mut sums);
            periods.extend(period_s(&device.flushes).map(|every| (device.flushes.len(), every)));
            differences.push(device.matched.finish());
        }
        // Of the device with most of them.
        let period = periods.into_iter().max_by_key(|(count, _)| *count);
        sums.keep_largest();
        sums.found.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        Bursts {
            count: sums.count,
            flushes: sums.flushes,
            share_of_writes: sums.burst_writes as f64 / sums.all_writes.max(1) as f64,
            flush_period_s: period.map(|(_, every)| every),
            reads_inside: sums.inside.summary(),
            reads_outside: sums.outside.summary(),
            effects: effects(differences.into_iter(), ["flush", "mixed"], LEAST),
            largest: sums.found,
        }
    }
}

impl Device {
    fn push(&mut self, io: &Io, peer: Option<&Peer>, sector_bytes: u64, sums: &mut Sums) {
        let (now, finish) = (io.request.arrival, io.request.finish);
        let over = self.writes.over_at(now, LOW as usize);
        let outstanding = self.writes.at(now);
        // One that only begins has not grown beyond the end of one.
        let grown = self.current.as_ref().is_some_and(|current| current.peak > LOW || outstanding == 0);
        if let Some(end) = over.filter(|_| grown) {
            self.close(end, sums);
        }
        if io.request.op == Op::Read {
            return peer.into_iter().for_each(|peer| self.read(now, peer, sums));
        }
        sums.all_writes += 1;
        self.writes.add(finish);
        self.first.get_or_insert(now);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        let before = self.seen;
        self.seen += 1;
        let current =
            self.current.get_or_insert_with(|| Current { start: now, before, ..Current::default() });
        current.writes += 1;
        current.waited_for += u64::from(io.sync);
        current.bytes += u64::from(io.request.sectors) * sector_bytes;
        if outstanding >= current.peak {
            current.peak = outstanding + 1;
            current.at_peak = (current.writes, current.reads + self.held.len() as u64);
            let first = self.first.unwrap_or_default();
            current.is_burst |= current.peak >= HIGH
                && came_together(&self.recent, current.start, current.rate_before(first));
            if current.is_burst {
                for (_, peer) in self.held.drain(..) {
                    sums.inside.record(peer.response);
                    current.read(&peer);
                }
            }
        }
    }

    fn read(&mut self, arrival: Nanos, peer: &Peer, sums: &mut Sums) {
        match &mut self.current {
            None => self.read_outside(arrival, peer, sums),
            Some(current) if current.is_burst => {
                sums.inside.record(peer.response);
                current.read(peer);
            }
            Some(current) => {
                self.held.push((arrival, *peer));
                if self.held.len() == HELD {
                    let (peak, before) = (current.peak, self.seen);
                    *current = Current { start: arrival, peak, before, ..Current::default() };
                    self.release(sums);
                }
            }
        }
    }

    /// What waits in the queue that a burst left is no measure for those in it.
    fn read_outside(&mut self, arrival: Nanos, peer: &Peer, sums: &mut Sums) {
        sums.outside.record(peer.response);
        if let Some(log) = peer.crowded.filter(|_| !self.backlog) {
            self.matched.outside(arrival, log);
        }
    }

    /// The reads that were held came in no burst.
    fn release(&mut self, sums: &mut Sums) {
        for (arrival, peer) in std::mem::take(&mut self.held) {
            self.read_outside(arrival, &peer, sums);
        }
    }

    fn close(&mut self, end: Nanos, sums: &mut Sums) {
        let Some(current) = self.current.take() else { return };
        if !current.is_burst {
            return self.release(sums);
        }
        self.backlog = true;
        sums.count += 1;
        sums.burst_writes += current.writes;
        let (writes, reads) = current.at_peak;
        let mostly_writes = writes >= 4 * reads;
        let flush = mostly_writes && 2 * current.waited_for <= current.writes;
        if flush {
            sums.flushes += 1;
            if self.flushes.len() < TIMED {
                self.flushes.push(current.start);
            }
        }
        self.matched.occurrence(usize::from(!flush), current.start, end, current.logs);
        sums.found.push(Burst {
            kind: if flush { "flush" } else { "mixed" },
            start_s: current.start.as_s(),
            length_ms: end.saturating_sub(current.start).as_ms(),
            writes: current.writes,
            bytes_written: current.bytes,
            peak_outstanding: current.peak,
            reads: current.reads,
            read_response_ms: (current.reads > 0).then(|| MeanAndMax {
                mean: current.read_sum as f64 / current.reads as f64 / 1e6,
                max: current.read_max.as_ms(),
            }),
        });
        if sums.found.len() >= 2 * KEPT {
            sums.keep_largest();
        }
    }
}

/// Whether of the last writes some that came since `start` came faster than chance explains at this `rate`: eight, sixteen or more.
fn came_together(recent: &VecDeque<Nanos>, start: Nanos, rate: f64) -> bool {
    let now = recent.back().copied().unwrap_or_default();
    let sizes = std::iter::successors(Some(HIGH as usize), |size| Some(2 * size));
    sizes.take_while(|size| *size <= recent.len()).any(|size| {
        let from = recent[recent.len() - size];
        let (came, expected) = (size as f64, rate * now.saturating_sub(from).0 as f64);
        // Chernoff's bound on the logarithm of the probability that a Poisson process has so many.
        from >= start && came > expected && came * (came / expected).ln() - came + expected > UNLIKELY
    })
}

impl Sums {
    fn keep_largest(&mut self) {
        self.found.sort_by_key(|burst| std::cmp::Reverse(burst.writes));
        self.found.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Peers;
    use headstack_trace::Request;
    use headstack_units::Lba;

    /// Bursts among `ios`, in order of arrival.
    #[derive(Debug)]
    struct Finder {
        bursts: BurstFinder,
        peers: Peers,
        outstanding: BTreeMap<u32, Outstanding>,
    }

    impl Finder {
        fn new() -> Self {
            Self { bursts: BurstFinder::new(512), peers: Peers::default(), outstanding: BTreeMap::new() }
        }

        fn push(&mut self, io: &Io) {
            let on_device = self.outstanding.entry(io.request.device).or_default();
            let found = on_device.at(io.request.arrival);
            on_device.add(io.request.finish);
            let peer = self.peers.push(io, found);
            self.bursts.push(io, found, peer.as_ref());
        }

        fn finish(self) -> Bursts {
            self.bursts.finish()
        }
    }

    fn io(arrival_ms: u64, finish_ms: u64, op: Op) -> Io {
        let request = Request::new(Nanos(arrival_ms * 1_000_000), op, Lba(0), 8);
        Io::new(Request { finish: Nanos(finish_ms * 1_000_000), ..request })
    }

    #[test]
    fn a_sync_every_thirty_seconds_is_named() {
        let mut finder = Finder::new();
        for second in 0..95 {
            let at = second * 1000;
            finder.push(&io(at, at + 10, Op::Read));
            if second % 30 == 15 {
                // Fifty writes at once, 20 ms each, and a read behind them.
                for write in 0..50 {
                    finder.push(&io(at + 100, at + 120 + 20 * write, Op::Write));
                }
                finder.push(&io(at + 110, at + 1200, Op::Read));
            }
        }
        let bursts = finder.finish();
        // The read a second later comes in the burst, too, but is not held up.
        assert_eq!((bursts.count, bursts.flushes), (3, 3));
        // Three occurrences are too few to say anything.
        assert!(bursts.effects.iter().all(|effect| effect.times_as_long.is_none() && !effect.found));
        assert_eq!(bursts.reads_inside.as_ref().map(|reads| reads.count), Some(6));
        assert_eq!(bursts.flush_period_s, Some(30.0));
        assert_eq!(bursts.share_of_writes, 1.0);
        let first = &bursts.largest[0];
        assert_eq!(
            (first.kind, first.writes, first.peak_outstanding, first.start_s),
            ("flush", 50, 50, 15.1)
        );
        // All but one are done 20 ms before the last.
        assert_eq!(first.length_ms, 20.0 * 49.0);
        assert_eq!(bursts.reads_outside.unwrap().max_ms, 10.0);
    }

    /// Reads as a Poisson process whose responses vary, slowly over the hours too, and every five seconds a burst of thirty
    /// writes, in which reads take `times` as long.
    fn made(seed: u64, times: f64) -> Effect {
        let bursts = found_beside(seed, times, 0);
        assert_eq!((bursts.count, bursts.flushes), (60, 60));
        bursts.effects[0].clone()
    }

    /// The same on the first of several devices; the others are always writing a little, and their reads take what they take.
    fn found_beside(seed: u64, times: f64, others: u32) -> Bursts {
        use rand::{RngExt, SeedableRng};
        use rand_distr::{Distribution, Exp, LogNormal};
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let (gaps, responses) = (Exp::new(0.02).unwrap(), LogNormal::new(1.0, 0.8).unwrap());
        let mut ios = Vec::new();
        let mut now_ms = 0.0;
        for burst in 0..60 {
            let at = 5000 * burst + 700;
            for write in 0..30 {
                ios.push(io(at, at + 60 + 10 * write, Op::Write));
            }
        }
        while now_ms < 300_000.0 {
            now_ms += gaps.sample(&mut random);
            let drift = 1.0 + (now_ms / 300_000.0 * std::f64::consts::TAU).sin() / 2.0;
            let since = (now_ms - 700.0).rem_euclid(5000.0);
            // The burst is over when its last write but one is done.
            let slowed = if since < 340.0 { times } else { 1.0 };
            let response: f64 =
                drift * slowed * responses.sample(&mut random) * random.random_range(0.9..1.1);
            let request = Request::new(Nanos::from_ms(now_ms), Op::Read, Lba(0), 8);
            ios.push(Io::new(Request { finish: Nanos::from_ms(now_ms + response), ..request }));
        }
        for device in 1..=others {
            for at in (0..300_000).step_by(40) {
                let op = if at % 120 == 0 { Op::Read } else { Op::Write };
                let length = random.random_range(1..50);
                let mut other = io(at + u64::from(device), at + u64::from(device) + length, op);
                other.request.device = device;
                ios.push(other);
            }
        }
        ios.sort_by_key(|io| io.request.arrival);
        let mut finder = Finder::new();
        for io in &ios {
            finder.push(io);
        }
        finder.finish()
    }

    #[test]
    fn bursts_of_one_device_are_found_among_others_that_write() {
        let (alone, beside) = (found_beside(7, 3.0, 0), found_beside(7, 3.0, 19));
        assert_eq!((beside.count, beside.flushes, beside.flush_period_s), (60, 60, Some(5.0)));
        assert_eq!(beside.effects[0], alone.effects[0]);
        assert!(beside.effects[0].found);
    }

    /// A device that is never without writes, and never has many, has no burst; its reads are not kept for ever.
    #[test]
    fn reads_beside_writes_without_end_are_let_go() {
        let mut finder = Finder::new();
        for at in 0..50_000 {
            finder.push(&io(at, at + 8, if at % 2 == 0 { Op::Write } else { Op::Read }));
            assert!(finder.bursts.devices[&0].held.len() < HELD);
        }
        // One that comes later is found all the same.
        for _ in 0..20 {
            finder.push(&io(50_000, 50_400, Op::Write));
        }
        finder.push(&io(50_100, 50_110, Op::Read));
        let bursts = finder.finish();
        assert_eq!((bursts.count, bursts.reads_outside.unwrap().count), (1, 24_576));
    }

    #[test]
    fn bursts_without_an_effect_are_not_named() {
        let named = (0..200).filter(|&seed| made(seed, 1.0).found).count();
        assert!(named <= 10, "{named} of 200");
    }

    #[test]
    fn a_planted_effect_is_named_and_its_size_lies_in_the_interval() {
        let effects: Vec<Effect> = (1000..1200).map(|seed| made(seed, 1.5)).collect();
        let named = effects.iter().filter(|effect| effect.found).count();
        assert!(named >= 180, "{named} of 200");
        let holds = |effect: &&Effect| effect.low.unwrap() <= 1.5 && 1.5 <= effect.high.unwrap();
        // 95 % of 200 are 190; three standard deviations of that many are 9.
        let held = effects.iter().filter(holds).count();
        assert!(held >= 190, "{held} of 200");
    }

    /// One server, first come, first served, busy nine tenths of the time; whether a request is a write is drawn by lot. A long
    /// queue has many writes in it, but they do not make it long.
    #[test]
    fn a_long_queue_is_no_burst_of_writes() {
        use rand::{RngExt, SeedableRng};
        use rand_distr::{Distribution, Exp};
        let named = (0..20).filter(|&seed| {
            let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
            let (gaps, service) = (Exp::new(0.09).unwrap(), Exp::new(0.1).unwrap());
            let (mut at_ms, mut free_ms, mut finder) = (0.0_f64, 0.0_f64, Finder::new());
            for _ in 0..20_000 {
                let gap: f64 = gaps.sample(&mut random);
                at_ms += gap;
                free_ms = free_ms.max(at_ms) + service.sample(&mut random);
                let op = if random.random_range(0..10) < 7 { Op::Write } else { Op::Read };
                let request = Request::new(Nanos::from_ms(at_ms), op, Lba(0), 8);
                finder.push(&Io::new(Request { finish: Nanos::from_ms(free_ms), ..request }));
            }
            finder.finish().effects.iter().any(|effect| effect.found)
        });
        let named = named.count();
        assert!(named <= 1, "{named} of 20");
    }

    /// Writes that go to a cache delay nobody; reads that come together with them wait for each other.
    #[test]
    fn reads_that_wait_for_each_other_do_not_wait_for_writes() {
        use rand::SeedableRng;
        use rand_distr::{Distribution, Exp};
        for seed in 0..5 {
            let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
            let (gaps, service) = (Exp::new(0.02).unwrap(), Exp::new(0.2).unwrap());
            let mut reads: Vec<f64> = Vec::new();
            let mut at_ms: f64 = 0.0;
            while at_ms < 600_000.0 {
                at_ms += gaps.sample(&mut random);
                reads.push(at_ms);
            }
            for at in (5_000..600_000).step_by(8_000) {
                reads.extend((0..20).map(|k| f64::from(at) + 2.0 * f64::from(k)));
            }
            reads.sort_by(f64::total_cmp);
            let (mut free_ms, mut ios) = (0.0_f64, Vec::new());
            for at in reads {
                free_ms = free_ms.max(at) + service.sample(&mut random);
                let request = Request::new(Nanos::from_ms(at), Op::Read, Lba(0), 8);
                ios.push(Io::new(Request { finish: Nanos::from_ms(free_ms), ..request }));
            }
            for at in (5_000..600_000).step_by(8_000) {
                ios.extend((0..40).map(|k| io(at, at + 3 * (k + 1), Op::Write)));
            }
            ios.sort_by_key(|io| io.request.arrival);
            let mut finder = Finder::new();
            for io in &ios {
                finder.push(io);
            }
            let bursts = finder.finish();
            assert_eq!(bursts.flushes, 75);
            assert!(!bursts.effects[0].found, "{seed}: {:?}", bursts.effects[0]);
        }
    }

    /// Reads behind a burst wait for what it left; they are no measure for those in it.
    #[test]
    fn what_waits_behind_a_burst_is_no_measure() {
        let mut finder = Finder::new();
        let mut free_ms = 0;
        for at in (0..400_000).step_by(20) {
            if at % 5_000 == 0 {
                for _ in 0..40 {
                    free_ms = free_ms.max(at) + 8;
                    finder.push(&io(at, free_ms, Op::Write));
                }
            }
            free_ms = free_ms.max(at) + 1;
            finder.push(&io(at, free_ms, Op::Read));
        }
        let bursts = finder.finish();
        // In a burst of 320 ms a read waits for 1 to 320 ms; without one it takes 1 ms.
        let times = bursts.effects[0].times_as_long.unwrap();
        let mean_log = (0..16).map(|k| f64::from(321 - 19 * k).ln()).sum::<f64>() / 16.0;
        assert!((times.ln() - mean_log).abs() < 0.1, "{times}, not {}", mean_log.exp());
    }

    #[test]
    fn few_writes_are_no_burst() {
        let mut finder = Finder::new();
        for at in 0..100 {
            finder.push(&io(at * 10, at * 10 + 15, Op::Write));
        }
        assert_eq!(finder.finish().count, 0);
    }
}
