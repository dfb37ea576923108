//! Bursts of writes, and what they do to reads.
//!
//! A burst begins with the write that comes when at most [`LOW`] writes of its device are outstanding and ends when it is so again; it
//! counts if at least [`HIGH`] were outstanding at a time between, and if eight writes or more arrived faster than chance
//! explains at the rate before: in a long queue there are many writes, too. A burst is a *flush*, the trace of a `sync` or of a cache
//! written back, if at least four fifths of what arrived until the most were outstanding are writes, and nobody waited for
//! most of its writes, where the trace says who waits. Reads in bursts are compared with those around them: see
//! [`crate::effect`].
//!
//! Where writes of a burst come one after the other, some come before so many are outstanding, and some when it is over. Reads beside these
//! are neither in the burst nor a measure for it.

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

/// What comes so soon after the last write is done may belong to the same burst.
const SOON: Nanos = Nanos(100_000_000);

/// A burst runs up, and out, for so long at most, or for as long as it lasts.
const SHOULDER: Nanos = Nanos(500_000_000);

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
    /// Writes that came soon one after the other.
    together: Together,
    /// Until when the last burst may run out.
    runs_out_to: Nanos,
    flushes: Vec<Nanos>,
    matched: Matched<2>,
    /// Arrivals of the reads in the current burst, not yet known to be one, and what they were.
    held: Vec<(Nanos, Peer)>,
}

/// Writes of which each came soon after those before it were done.
#[derive(Debug, Default)]
struct Together {
    from: Nanos,
    /// When all of them are done.
    to: Nanos,
}

impl Together {
    fn write(&mut self, arrival: Nanos, finish: Nanos) {
        if arrival > self.to.saturating_add(SOON) {
            self.from = arrival;
        }
        self.to = self.to.max(finish);
    }

    /// Whether what arrives now may be one of them.
    fn go_on_at(&self, now: Nanos) -> bool {
        now <= self.to.saturating_add(SOON)
    }
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
        self.together.write(now, finish);
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

    /// What waits in the queue that a burst left, or comes beside its last writes, is no measure for those in it.
    fn read_outside(&mut self, arrival: Nanos, peer: &Peer, sums: &mut Sums) {
        sums.outside.record(peer.response);
        let runs_out = arrival < self.runs_out_to && self.together.go_on_at(arrival);
        if let Some(log) = peer.crowded.filter(|_| !self.backlog && !runs_out) {
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
        let shoulder = end.saturating_sub(current.start).max(SHOULDER);
        self.runs_out_to = end.saturating_add(shoulder);
        let runs_up = self.together.from.min(current.start).max(current.start.saturating_sub(shoulder));
        self.matched.after_run_up(usize::from(!flush), [runs_up, current.start, end], current.logs);
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
mod tests;
