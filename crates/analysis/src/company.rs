//! What slow reads have in common: the region where they are, and the process whose requests are outstanding beside them. Both are
//! looked for in short stretches of a device's reads, each compared with the other reads of the stretch, so that neither a slow
//! device nor a slow while counts: see [`crate::effect`]. Reads of a region are compared with reads of like size elsewhere, those
//! beside a process with reads beside others, as there is a queue in both.
//!
//! There are many regions and many processes, and the one that stands out most of a hundred does so by chance one time in two if
//! each is asked as if it were alone. So the interval that decides grows with how many were asked.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use headstack_trace::{Io, Kind};
use headstack_units::{Lba, Nanos, Op};

use crate::effect::{Differences, Effect, FEWEST, FEWEST_READS, Logs, WINDOW, log, of_device};

/// At most so many processes are told apart: the first ones.
const PROCESSES: usize = 32;

/// Regions of so many sizes are asked, the largest half of a device or more: 2,048 of the smallest and half as many of each next.
const LEVELS: usize = 11;

/// Regions are looked for on the first so many devices.
const MAPPED: usize = 64;

/// The smallest, as a power of two sectors: 16 MiB of 512 bytes.
const SMALLEST: u32 = 15;

/// Far seeks and shorter tracks make a region slower, too, and beside a busy process the queue is longer than beside others. Named
/// is what surely makes reads take more than so many times as long.
const MUCH: f64 = 1.25;

/// So many last requests of a device are remembered: what goes on behind one of them is read ahead, and no measure for others.
const STREAMS: usize = 16;

/// Looks for both in I/Os in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Company {
    devices: BTreeMap<u32, Device>,
    /// Which of the processes told apart one is.
    processes: BTreeMap<u32, Option<u8>>,
    names: Vec<String>,
}

/// A read of a stretch.
#[derive(Clone, Copy, Debug)]
struct Read {
    lba: Lba,
    /// Reads of one class take equally long elsewhere: of like size, and both in a stream or neither.
    class: u32,
    log: f64,
    process: Option<u8>,
    /// A bit for each process that has requests outstanding.
    beside: u32,
}

#[derive(Debug, Default)]
struct Device {
    stretch: Vec<Read>,
    /// Ends of the last requests.
    ends: [u64; STREAMS],
    seen: usize,
    outstanding: BinaryHeap<Reverse<(Nanos, u8)>>,
    /// How many requests each process has outstanding, and a bit for each that has some.
    at_work: [u32; PROCESSES],
    busy: u32,
    regions: Option<Regions>,
    beside: Vec<Differences>,
}

impl Company {
    /// Takes the next one; `name` tells the process that asked for it.
    pub(crate) fn push(&mut self, io: &Io, name: impl FnOnce(u32) -> String) {
        if io.kind != Kind::Data {
            return;
        }
        let process = self.process(io.pid, name);
        let known = self.devices.len();
        if let Some(device) = of_device(&mut self.devices, io.request.device) {
            if device.seen == 0 && known < MAPPED {
                device.regions = Some(Regions::default());
            }
            device.push(io, process);
        }
    }

    /// Processes of one name are one: those that a kernel starts for its work change all the time.
    fn process(&mut self, pid: u32, name: impl FnOnce(u32) -> String) -> Option<u8> {
        if pid == Io::NO_PID {
            return None;
        }
        let names = &mut self.names;
        *self.processes.entry(pid).or_insert_with(|| {
            let name = name(pid);
            let known = names.iter().position(|known| *known == name);
            let place = known.or_else(|| {
                (names.len() < PROCESSES).then(|| {
                    names.push(name);
                    names.len() - 1
                })
            })?;
            Some(place as u8)
        })
    }

    /// Of all regions and of all processes those that are found, or the one that comes nearest; `device` names one where
    /// there are several.
    pub(crate) fn finish(mut self, device: impl Fn(u32) -> String) -> Vec<Effect> {
        let several = self.devices.len() > 1;
        let mut regions = Vec::new();
        let mut beside = vec![Differences::default(); self.names.len()];
        for (number, found) in &mut self.devices {
            found.settle();
            for (all, own) in beside.iter_mut().zip(&found.beside) {
                all.merge(*own);
            }
            let of = if several { format!(" of device {}", device(*number)) } else { String::new() };
            for (first, last, sums) in found.regions.take().into_iter().flat_map(Regions::all) {
                regions.push((format!("LBA {first} to {last}{of}"), sums));
            }
        }
        let processes: Vec<_> = self.names.into_iter().zip(beside).collect();
        let slowest = among("slow-region", regions).into_iter().take(1);
        slowest.chain(among("process", processes)).collect()
    }
}

/// The effects of those with enough occurrences, the clearest first: all that are found, or else the first.
fn among(cause: &'static str, asked: Vec<(String, Differences)>) -> Vec<Effect> {
    let asked: Vec<_> = asked.into_iter().filter(|(_, sums)| sums.count() >= FEWEST).collect();
    let count = asked.len();
    let mut all: Vec<(f64, Effect)> = asked
        .into_iter()
        .map(|(name, sums)| {
            let effect = sums.effect_of_many(cause, count, MUCH);
            (sums.clarity(), Effect { name: Some(name), ..effect })
        })
        .collect();
    all.sort_by(|one, two| two.0.total_cmp(&one.0));
    let found = all.iter().filter(|(_, effect)| effect.found).count();
    // What is found need not be the clearest: a region may be clearly slower, but not by much.
    all.sort_by_key(|(_, effect)| !effect.found);
    all.into_iter().take(found.max(1)).map(|(_, effect)| effect).collect()
}

impl Device {
    fn push(&mut self, io: &Io, process: Option<u8>) {
        let request = &io.request;
        while let Some(&Reverse((_, done))) =
            self.outstanding.peek().filter(|next| next.0.0 <= request.arrival)
        {
            self.outstanding.pop();
            self.at_work[usize::from(done)] -= 1;
            if self.at_work[usize::from(done)] == 0 {
                self.busy &= !(1 << done);
            }
        }
        let in_stream = self.ends.contains(&request.lba.0);
        self.ends[self.seen % STREAMS] = request.lba.0.saturating_add(u64::from(request.sectors));
        self.seen += 1;
        if let Some(response) = io.response().filter(|_| request.op == Op::Read) {
            let class = 2 * request.sectors.max(1).ilog2() + u32::from(in_stream);
            let beside = self.busy;
            self.stretch.push(Read { lba: request.lba, class, log: log(response), process, beside });
            if self.stretch.len() == WINDOW {
                self.settle();
            }
        }
        if let Some((process, finish)) = process.zip(request.finish.present()) {
            self.at_work[usize::from(process)] += 1;
            self.busy |= 1 << process;
            self.outstanding.push(Reverse((finish, process)));
        }
    }

    /// A stretch is over.
    fn settle(&mut self) {
        let Self { stretch, regions, beside, .. } = self;
        if let Some(regions) = regions {
            regions.add(stretch);
        }
        let busy = stretch.iter().fold(0, |all, read| all | read.beside);
        for process in (0..PROCESSES as u8).filter(|process| busy >> process & 1 == 1) {
            let mut sides = [Logs::default(); 2];
            // Whoever has requests outstanding delays others; named is who does so more than the rest.
            let reads = stretch.iter().filter(|read| read.process != Some(process) && read.beside != 0);
            for read in reads {
                sides[(read.beside >> process & 1) as usize].add(read.log);
            }
            let [others, those] = sides;
            if others.count() >= FEWEST_READS && those.count() >= FEWEST_READS {
                if beside.len() <= usize::from(process) {
                    beside.resize(usize::from(process) + 1, Differences::default());
                }
                beside[usize::from(process)].add(those, others);
            }
        }
        stretch.clear();
    }
}

/// Regions of several sizes, each twice as large as the one before, by number.
#[derive(Debug)]
struct Regions {
    /// Of the smallest, as a power of two sectors.
    size: u32,
    levels: VecDeque<Vec<Differences>>,
}

impl Default for Regions {
    fn default() -> Self {
        Self { size: SMALLEST, levels: VecDeque::from(vec![Vec::new(); LEVELS]) }
    }
}

impl Regions {
    /// Takes a stretch, in any order. Each size is asked by itself: of a small region's others, some may lie in the larger one.
    fn add(&mut self, stretch: &mut [Read]) {
        stretch.sort_unstable_by_key(|read| (read.class, read.lba));
        let farthest = stretch.iter().map(|read| read.lba.0).max().unwrap_or(0);
        while farthest >> self.size >> LEVELS != 0 {
            self.grow();
        }
        for like in stretch.chunk_by(|one, next| one.class == next.class) {
            let all: Logs = like.iter().map(|read| read.log).collect();
            let (Some(first), Some(last)) = (like.first(), like.last()) else { continue };
            // In one region all together, they are in one of each larger size, too.
            let tells_apart = |size: &u32| first.lba.0 >> size != last.lba.0 >> size;
            for (size, found) in (self.size..).take_while(tells_apart).zip(&mut self.levels) {
                let region = |read: &Read| read.lba.0 >> size;
                for there in like.chunk_by(|one, next| region(one) == region(next)) {
                    let those: Logs = there.iter().map(|read| read.log).collect();
                    let others = all.without(those);
                    if others.count() < FEWEST_READS {
                        continue;
                    }
                    let at = region(&there[0]) as usize;
                    if found.len() <= at {
                        found.resize(at + 1, Differences::default());
                    }
                    found[at].add(those, others);
                }
            }
        }
    }

    /// The smallest are forgotten, and larger ones looked at.
    fn grow(&mut self) {
        self.levels.pop_front();
        self.size += 1;
        let halves = self.levels.back().map(|largest| {
            largest.chunks(2).map(|two| {
                let mut both = two[0];
                two[1..].iter().for_each(|other| both.merge(*other));
                both
            })
        });
        let larger = halves.map(Iterator::collect).unwrap_or_default();
        self.levels.push_back(larger);
    }

    /// First and last sector, and what was found.
    fn all(self) -> impl Iterator<Item = (u64, u64, Differences)> {
        (self.size..).zip(self.levels).flat_map(|(size, found)| {
            (0_u64..).zip(found).map(move |(at, sums)| (at << size, (at << size) + (1 << size) - 1, sums))
        })
    }
}

#[cfg(test)]
mod tests;
