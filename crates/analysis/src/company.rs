//! What slow reads have in common: the region where they are, and the process whose requests are outstanding beside them. Both are
//! looked for in short stretches of a device's reads, each compared with the other reads of the stretch, so that neither a slow
//! device nor a slow while counts: see [`crate::effect`]. What their size, their distance from the request before and the number
//! outstanding explain is taken out first: see [`crate::peers`]. In a long queue there is a request of every process, and
//! none of them is why it is long.
//!
//! A process beside which all reads are slow while it works, and none is at other times, is looked for over its phases: see
//! [`crate::phases`]. And one may be slow itself: its own reads are compared with those of others in the same stretch, beyond what the place
//! explains where they lie.
//!
//! There are many regions and many processes, and the one that stands out most of a hundred does so by chance one time in two if
//! each is asked as if it were alone. So the interval that decides grows with how many were asked.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use headstack_trace::{Io, Kind};
use headstack_units::{Lba, Nanos, grouped};

use crate::effect::{
    Differences, Effect, FEWEST, FEWEST_READS, FilledBy, LEAST, Logs, MUCH, WINDOW, of_device,
};
use crate::extent::{are_large_enough, extent};
use crate::peers::{Peer, count_level};
use crate::phases::{self, FEWEST_PHASES, InPhases, Overlap, Phases, Ratio, Span, Worked, overlap};

/// At most so many processes are told apart: the first that have asked for [`ENOUGH`].
const PROCESSES: usize = 64;

/// A process of fewer requests is not asked, as a script starts very many of them.
const ENOUGH: u32 = 64;

/// So many names are counted until then.
const COUNTED: usize = 1 << 16;

/// Of fewer regions of a size none is said to be slower than most.
const FEWEST_REGIONS: usize = 4;

/// Regions of so many sizes are asked, the largest half of a device or more: 2,048 of the smallest and half as many of each next.
const LEVELS: usize = 11;

/// Of the sizes of which there are so many regions or more, those next to one are not among the others it is compared with: a slow
/// place may lie across two. Of larger sizes they are most of the device.
const APART: u32 = 4;

/// What is not named of a process beside whose requests others' reads take so many times as long at most as beside as many of others: these are
/// in the same queues, and all that is known of reads is taken out, so that next to nothing is left in.
const MUCH_BESIDE: f64 = 1.1;

/// Regions are looked for on the first so many devices.
const MAPPED: usize = 64;

/// The media pass under the head at the rim this share faster than at the hub, at most: a stream at the end of a device takes so much
/// longer for that alone.
const ZONES: f64 = 0.5;

/// The smallest, as a power of two sectors: 16 MiB of 512 bytes.
const SMALLEST: u32 = 15;

/// Looks for both in I/Os in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Company {
    devices: BTreeMap<u32, Device>,
    /// Processes by name: those that a kernel starts for its work change all the time.
    processes: BTreeMap<u32, usize>,
    by_name: BTreeMap<String, usize>,
    counted: Vec<Counted>,
    /// Those that are told apart.
    names: Vec<String>,
}

/// How many requests of a name there were, and which of those told apart it is.
#[derive(Debug, Default)]
struct Counted {
    requests: u32,
    place: Option<u8>,
}

/// A read of a stretch.
#[derive(Clone, Copy, Debug)]
struct Read {
    lba: Lba,
    log: f64,
    /// Beyond what its place explains, too.
    placed: f64,
    in_stream: bool,
    process: Option<u8>,
    /// A bit for each process that has requests outstanding.
    beside: u64,
    /// How many it found outstanding, as a level.
    depth: usize,
}

#[derive(Debug, Default)]
struct Device {
    /// Reads that do not go on in a stream, and those that do.
    stretches: [Vec<Read>; 2],
    /// Those that found requests of somebody outstanding.
    in_company: Vec<Read>,
    is_known: bool,
    /// One of those on which regions and phases are looked for.
    is_mapped: bool,
    outstanding: BinaryHeap<Reverse<(Nanos, u8)>>,
    /// How many requests each process has outstanding, and a bit for each that has some.
    at_work: Vec<u32>,
    busy: u64,
    regions: Option<Regions>,
    beside: Vec<Differences>,
    shares: Shares,
    own: Vec<Differences>,
    phases: Phases,
}

impl Company {
    /// Takes the next one; a read comes with how it compares with like reads. `name` tells the process that asked for it.
    pub(crate) fn push(&mut self, io: &Io, peer: Option<&Peer>, name: impl FnOnce(u32) -> String) {
        if io.kind != Kind::Data {
            return;
        }
        let process = self.process(io.pid, name);
        let known = self.devices.len();
        if let Some(device) = of_device(&mut self.devices, io.request.device) {
            if !std::mem::replace(&mut device.is_known, true) && known < MAPPED {
                device.regions = Some(Regions::default());
                device.is_mapped = true;
            }
            device.push(io, peer, process);
        }
    }

    fn process(&mut self, pid: u32, name: impl FnOnce(u32) -> String) -> Option<u8> {
        if pid == Io::NO_PID {
            return None;
        }
        let Self { by_name, counted, names, .. } = self;
        let which = *self.processes.entry(pid).or_insert_with(|| {
            let known = by_name.len();
            *by_name.entry(name(pid)).or_insert(known)
        });
        if counted.len() <= which && which < COUNTED {
            counted.resize_with(which + 1, Counted::default);
        }
        let one = counted.get_mut(which)?;
        one.requests += 1;
        if one.requests == ENOUGH && names.len() < PROCESSES {
            one.place = Some(names.len() as u8);
            names.extend(by_name.iter().find(|(_, at)| **at == which).map(|(name, _)| name.clone()));
        }
        one.place
    }

    /// Of all regions and of all processes those that are found, or the one that comes nearest; `device` names one where
    /// there are several. And who fills the queue, if one process does.
    pub(crate) fn finish(mut self, device: impl Fn(u32) -> String) -> (Vec<Effect>, Option<FilledBy>) {
        let several = self.devices.len() > 1;
        let (mut regions, mut grids) = (Vec::new(), BTreeMap::new());
        let mut processes = Processes::default();
        for (number, found) in &mut self.devices {
            found.settle_stretch(0);
            found.settle_stretch(1);
            found.settle_company();
            processes.add(found);
            let Some(grid) = found.regions.take() else { continue };
            regions.extend(grid.all().map(|region| Asked {
                sums: region.sums,
                usual: region.usual,
                what: (*number, region),
            }));
            grids.insert(*number, grid);
        }
        let filled_by = processes.filled_by(&self.names);
        let slowest = slowest_region(regions).map(|Slowest { device: number, first, last, effect }| {
            let bounded = effect.found.then(|| grids[&number].bounded(first, last)).flatten();
            let (first, last, effect) = bounded.unwrap_or((first, last, effect));
            let of = if several { format!(" of device {}", device(number)) } else { String::new() };
            Effect { name: Some(format!("LBA {} to {}{of}", grouped(first), grouped(last))), ..effect }
        });
        (slowest.into_iter().chain(processes.effects(&self.names)).collect(), filled_by)
    }
}

/// What all devices tell of the processes.
#[derive(Debug, Default)]
struct Processes {
    beside: Vec<Differences>,
    own: Vec<Differences>,
    phases: Vec<Worked>,
}

impl Processes {
    fn add(&mut self, device: &mut Device) {
        add_each(&mut self.beside, std::mem::take(&mut device.beside), Differences::merge);
        add_each(&mut self.own, std::mem::take(&mut device.own), Differences::merge);
        add_each(&mut self.phases, std::mem::take(&mut device.phases).finish(), Worked::merge);
    }

    /// Who has at least half of the requests that others' reads find outstanding.
    fn filled_by(&self, names: &[String]) -> Option<FilledBy> {
        let shares = self.phases.iter().map(|worked| worked.fills.share().unwrap_or(0.0));
        let (which, share) = shares.enumerate().max_by(|one, two| one.1.total_cmp(&two.1))?;
        (share >= 0.5).then(|| FilledBy { process: names[which].clone(), share })
    }

    /// Those that delay others: beside their requests, or while they work; and those that are slow.
    fn effects(self, names: &[String]) -> Vec<Effect> {
        let mut beside = among("process", asked(self.beside), FEWEST, MUCH_BESIDE);
        let found = beside.iter().filter(|(_, effect)| effect.found).count();
        beside.truncate(found.max(1));
        let named = |which: &usize| beside[..found].iter().any(|(known, _)| known == which);
        let spans: Vec<_> = self.phases.iter().map(|worked| &worked.spans[..]).collect();
        let in_phases = self.phases.iter().map(|worked| worked.differences).collect();
        let mut working = among("process-phases", asked(in_phases), FEWEST_PHASES, MUCH);
        working.retain(|(which, effect)| effect.found && !named(which));
        for (which, effect) in &mut working {
            effect.phases = self.phases[*which].in_phases();
        }
        let known: Vec<usize> = working.iter().map(|(which, _)| *which).collect();
        let whole = self.phases.iter().map(|worked| worked.whole).collect();
        for (which, effect) in among("process-queue", asked(whole), FEWEST_PHASES, MUCH) {
            let phases = self.phases[which].in_phases().filter(InPhases::is_queue);
            if let Some(phases) = phases.filter(|_| effect.found && !named(&which) && !known.contains(&which))
            {
                let Ratio { times_as_long, low, high } = phases.whole;
                let [times_as_long, low, high] = [times_as_long, low, high].map(Some);
                working.push((which, Effect { times_as_long, low, high, phases: Some(phases), ..effect }));
            }
        }
        let working = largest_apart(working, &spans);
        let mut own = among("slow-process", asked(self.own), FEWEST, MUCH);
        own.retain(|(_, effect)| effect.found);
        let one = |(which, effect): (usize, Effect)| (vec![which], effect);
        let all = beside.into_iter().map(one).chain(working).chain(own.into_iter().map(one));
        let name =
            |which: Vec<usize>| which.iter().map(|&at| names[at].as_str()).collect::<Vec<_>>().join(" and ");
        all.map(|(which, effect)| Effect { name: Some(name(which)), ..effect }).collect()
    }
}

/// Adds to what is known of each process what a device tells.
fn add_each<T: Default>(all: &mut Vec<T>, own: Vec<T>, add: impl Fn(&mut T, T)) {
    all.resize_with(all.len().max(own.len()), T::default);
    for (all, own) in all.iter_mut().zip(own) {
        add(all, own);
    }
}

/// Each by its number.
fn asked(sums: Vec<Differences>) -> Vec<Asked<usize>> {
    sums.into_iter().enumerate().map(|(what, sums)| Asked { what, sums, usual: 0.0 }).collect()
}

/// Of those that work at the same time only the one with the largest effect; with all whose phases are the same as its own.
fn largest_apart(mut found: Vec<(usize, Effect)>, spans: &[&[Span]]) -> Vec<(Vec<usize>, Effect)> {
    let size = |effect: &Effect| effect.times_as_long.unwrap_or_default();
    found.sort_by(|one, two| size(&two.1).total_cmp(&size(&one.1)));
    let mut all: Vec<(Vec<usize>, Effect)> = Vec::new();
    for (which, effect) in found {
        let lies = |known: &(Vec<usize>, Effect)| overlap(spans[known.0[0]], spans[which]);
        match all.iter_mut().find(|known| lies(known) != Overlap::Apart) {
            Some(known) if lies(known) == Overlap::Same => known.0.push(which),
            Some(_) => {}
            None => all.push((vec![which], effect)),
        }
    }
    all
}

/// One of many that may be the cause.
#[derive(Debug)]
struct Asked<T> {
    what: T,
    sums: Differences,
    /// What most of its kind come to, which it must surpass.
    usual: f64,
}

/// The effects of those with enough occurrences: those that are found first, and of them the clearest.
fn among<T>(cause: &'static str, asked: Vec<Asked<T>>, fewest: u64, least: f64) -> Vec<(T, Effect)> {
    let asked: Vec<_> = asked.into_iter().filter(|asked| asked.sums.count() >= fewest).collect();
    let count = asked.len();
    let mut all: Vec<(f64, (T, Effect))> = asked
        .into_iter()
        .map(|Asked { what, sums, usual }| {
            let effect = sums.effect_of_few(cause, count, least * usual.max(0.0).exp(), fewest);
            (sums.clarity(), (what, effect))
        })
        .collect();
    all.sort_by(|one, two| two.0.total_cmp(&one.0));
    // What is found need not be the clearest: a region may be clearly slower, but not by much.
    all.sort_by_key(|(_, (_, effect))| !effect.found);
    all.into_iter().map(|(_, each)| each).collect()
}

/// A region, and what it does.
#[derive(Debug)]
struct Slowest {
    device: u32,
    first: u64,
    last: u64,
    effect: Effect,
}

/// The region that is clearest; with those beside it that are found as well, as what is slow may lie across several.
fn slowest_region(regions: Vec<Asked<(u32, Region)>>) -> Option<Slowest> {
    let all = among("slow-region", regions, FEWEST, MUCH);
    let ((device, slowest), effect) = all.first()?;
    let (mut first, mut last) = (slowest.first, slowest.last);
    let size = last - first;
    let mut found: Vec<&Region> = all
        .iter()
        .take_while(|(_, effect)| effect.found)
        .filter(|((of, region), _)| of == device && region.last - region.first == size)
        .map(|((_, region), _)| region)
        .collect();
    found.sort_unstable_by_key(|region| region.first);
    for region in found.iter().filter(|region| region.first > slowest.last) {
        if region.first == last + 1 {
            last = region.last;
        }
    }
    for region in found.iter().rev().filter(|region| region.last < slowest.first) {
        if region.last + 1 == first {
            first = region.first;
        }
    }
    Some(Slowest { device: *device, first, last, effect: effect.clone() })
}

impl Device {
    fn push(&mut self, io: &Io, peer: Option<&Peer>, process: Option<u8>) {
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
        let queued = peer.and_then(|peer| Some((peer.queued?, peer.placed?, peer)));
        if let Some((log, placed, &Peer { in_stream, found, .. })) = queued {
            let (beside, depth) = (self.busy, count_level(found));
            self.read(Read { lba: request.lba, log, placed, in_stream, process, beside, depth });
        }
        if self.is_mapped {
            let asked = phases::Asked { arrival: request.arrival, read: peer, process };
            self.phases.push(asked, self.busy, &self.at_work);
        }
        if let Some((process, finish)) = process.zip(request.finish.present()) {
            if self.at_work.len() <= usize::from(process) {
                self.at_work.resize(usize::from(process) + 1, 0);
            }
            self.at_work[usize::from(process)] += 1;
            self.busy |= 1 << process;
            self.outstanding.push(Reverse((finish, process)));
        }
    }

    fn read(&mut self, read: Read) {
        // Those in a stream lie in one place and are of one process, and by how much they differ from others for that nobody knows.
        let sort = usize::from(read.in_stream);
        self.stretches[sort].push(read);
        if self.stretches[sort].len() == WINDOW {
            self.settle_stretch(sort);
        }
        // Reads alone say nothing of whom they are beside; and if a stretch held them, one of slow reads, beside which
        // others come, would count more often than one of quick reads.
        if read.beside != 0 {
            self.in_company.push(read);
            if self.in_company.len() == WINDOW {
                self.settle_company();
            }
        }
    }

    /// Compares the regions of a stretch of this sort, and the processes that asked.
    fn settle_stretch(&mut self, sort: usize) {
        let stretch = &mut self.stretches[sort];
        let all: Logs = stretch.iter().map(|read| read.placed).collect();
        let who = |read: &Read| read.process.map_or(0, |process| 1_u64 << process);
        let asked = stretch.iter().map(who).fold(0, |all, one| all | one);
        for process in bits(asked) {
            let its = stretch.iter().filter(|read| read.process == Some(process));
            contrast(&mut self.own, process, its.map(|read| read.placed).collect(), all);
        }
        if let Some(regions) = &mut self.regions {
            regions.add(stretch, sort);
        }
        stretch.clear();
    }

    fn settle_company(&mut self) {
        let Self { in_company: stretch, beside, shares, .. } = self;
        let busy = stretch.iter().fold(0, |all, read| all | read.beside);
        for process in bits(busy) {
            // Whoever has requests outstanding delays others; named is who does so more than the rest.
            let others = || stretch.iter().filter(|read| read.process != Some(process));
            let those = || others().filter(|read| read.is_beside(process));
            let found: Logs = those().map(|read| read.log).collect();
            let all: Logs = others().map(|read| read.log).collect();
            let share = |read: &Read| shares.of(read.depth, process);
            let explained = [those().map(share).collect(), others().map(share).collect()];
            let whole = not_explained(found, all, explained);
            contrast(beside, process, whole, all.without(found).with(whole));
        }
        for read in &*stretch {
            shares.add(read);
        }
        stretch.clear();
    }
}

impl Read {
    /// Whether a process has requests outstanding beside it.
    fn is_beside(&self, process: u8) -> bool {
        self.beside >> process & 1 == 1
    }
}

/// Of reads that found so many outstanding, which share is of others than a process, and beside it.
#[derive(Debug, Default)]
struct Shares(Vec<Share>);

#[derive(Clone, Debug, Default)]
struct Share {
    reads: u32,
    beside: Vec<u32>,
}

impl Shares {
    fn add(&mut self, read: &Read) {
        if self.0.len() <= read.depth {
            self.0.resize(read.depth + 1, Share::default());
        }
        let share = &mut self.0[read.depth];
        share.reads += 1;
        for process in bits(read.beside).filter(|process| read.process != Some(*process)) {
            let process = usize::from(process);
            if share.beside.len() <= process {
                share.beside.resize(process + 1, 0);
            }
            share.beside[process] += 1;
        }
    }

    fn of(&self, depth: usize, process: u8) -> f64 {
        let Some(share) = self.0.get(depth) else { return 0.0 };
        let beside = share.beside.get(usize::from(process)).copied().unwrap_or(0);
        f64::from(beside) / f64::from(share.reads.max(1))
    }
}

/// No more than this share of a difference is laid to what was taken out with how many are outstanding.
const MOST_EXPLAINED: f64 = 0.75;

/// What those reads take beyond the rest of all, with what was taken out of it: where more are outstanding, more of the reads are
/// beside a process, and what it makes them take longer was learned as what the number makes them take. `explained` are the
/// shares that are beside it where as many are outstanding, of those and of all.
fn not_explained(those: Logs, all: Logs, explained: [Logs; 2]) -> Logs {
    let others = |all: Logs, those: Logs| all.without(those).mean();
    let (Some(found), Some(rest)) = (those.mean(), others(all, those)) else { return those };
    let (Some(with), Some(without)) = (explained[0].mean(), others(explained[1], explained[0])) else {
        return those;
    };
    let share = (with - without).clamp(0.0, MOST_EXPLAINED);
    Logs::of_mean(rest + (found - rest) / (1.0 - share), those.count())
}

/// The numbers of the bits that are set.
fn bits(of: u64) -> impl Iterator<Item = u8> {
    (0..PROCESSES as u8).filter(move |bit| of >> bit & 1 == 1)
}

/// Takes an observation of a process: those reads against the rest of all.
fn contrast(found: &mut Vec<Differences>, process: u8, those: Logs, all: Logs) {
    let others = all.without(those);
    if others.count() < FEWEST_READS || those.count() < FEWEST_READS {
        return;
    }
    let process = usize::from(process);
    if found.len() <= process {
        found.resize(process + 1, Differences::default());
    }
    found[process].add(those, others);
}

/// Regions of several sizes, each twice as large as the one before, by number.
#[derive(Debug)]
struct Regions {
    /// Of the smallest, as a power of two sectors.
    size: u32,
    levels: VecDeque<Vec<Differences>>,
    /// The stretch before, of each sort.
    last: [Vec<(Lba, f64)>; 2],
    /// The largest sector seen.
    largest: u64,
}

impl Default for Regions {
    fn default() -> Self {
        Self {
            size: SMALLEST,
            last: Default::default(),
            largest: 0,
            levels: VecDeque::from(vec![Vec::new(); LEVELS]),
        }
    }
}

impl Regions {
    /// Takes a stretch. Each size is asked by itself: of a small region's others, some may lie in the larger one.
    ///
    /// A region's reads are compared with those of elsewhere that came before them, in this stretch and the last one: those that came
    /// after wait behind them where the device serves one at a time, and a slow region would look less slow. Of streams, what zones of the
    /// media may make of it is taken off.
    fn add(&mut self, stretch: &[Read], sort: usize) {
        let now = stretch.iter().map(|read| (read.lba, read.log)).collect();
        let last = std::mem::replace(&mut self.last[sort], now);
        let now = self.last[sort].iter().map(|&(lba, log)| (lba, log, true));
        let reads = last.into_iter().map(|(lba, log)| (lba, log, false)).chain(now);
        let (mut all, mut sum) = (Vec::with_capacity(2 * WINDOW), Logs::default());
        for (order, (lba, log, is_new)) in reads.enumerate() {
            all.push(Placed { lba: lba.0, log, order, is_new, before: sum });
            sum.add(log);
        }
        all.sort_unstable_by_key(|read| (read.lba, read.order));
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
        while last.lba >> self.size >> LEVELS != 0 {
            self.grow();
        }
        // In one region all together, they are in one of each larger size, too.
        self.largest = self.largest.max(last.lba);
        let (streams, largest) = (sort == 1, self.largest.max(1) as f64);
        let zone = |lba: u64| (1.0 - ZONES * lba as f64 / largest).ln();
        let zones: f64 = all.iter().map(|read| zone(read.lba)).sum();
        let smallest = self.size;
        let tells_apart = |size: &u32| first.lba >> size != last.lba >> size;
        for (size, found) in (self.size..).take_while(tells_apart).zip(&mut self.levels) {
            let apart = Self::are_apart(smallest, size);
            let each: Vec<&[Placed]> =
                all.chunk_by(|one, next| one.lba >> size == next.lba >> size).collect();
            for (place, there) in each.iter().enumerate() {
                if !there.iter().any(|read| read.is_new) {
                    continue;
                }
                let at = there[0].lba >> size;
                let is_next_to = |other: &&&[Placed]| apart && (other[0].lba >> size).abs_diff(at) == 1;
                let before = place.checked_sub(1).and_then(|before| each.get(before)).filter(is_next_to);
                let after = each.get(place + 1).filter(is_next_to);
                let Some((those, mut others)) = compared(there, [before.copied(), after.copied()]) else {
                    continue;
                };
                if streams && there.len() < all.len() {
                    let own: f64 = there.iter().map(|read| zone(read.lba)).sum();
                    let elsewhere = (zones - own) / (all.len() - there.len()) as f64;
                    let slower = (elsewhere - own / there.len() as f64).max(0.0);
                    others = Logs::of_mean(others.mean().unwrap_or(0.0) + slower, others.count());
                }
                let at = at as usize;
                if found.len() <= at {
                    found.resize(at + 1, Differences::default());
                }
                found[at].add(those, others);
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

    /// What was found in each. Where one region is much faster than the rest, the rest is slower than the others on average; so
    /// a region must be slower than most of its size. Reads that a cache answers or not are of two sorts: a dozen of one sort
    /// come together by chance in one of thousands of regions, and seem to vary little.
    fn all(&self) -> impl Iterator<Item = Region> {
        // Of all sizes together: regions that hold the same reads are equally sure, and the smallest comes first.
        let scatter = self.levels.iter().flatten().map(Differences::scatter).sum();
        (self.size..).zip(&self.levels).flat_map(move |(size, found)| {
            let mut means: Vec<f64> =
                found.iter().filter(|sums| sums.count() >= FEWEST).map(Differences::mean).collect();
            means.sort_unstable_by(f64::total_cmp);
            let usual = if means.len() >= FEWEST_REGIONS { means[means.len() / 2] } else { f64::INFINITY };
            (0_u64..).zip(found).map(move |(at, sums)| Region {
                first: at << size,
                last: (at << size) + (1 << size) - 1,
                sums: sums.among_alike(scatter),
                usual,
            })
        })
    }
}

impl Regions {
    /// Whether regions of a size are not held against those next to them.
    fn are_apart(smallest: u32, size: u32) -> bool {
        size <= smallest + LEVELS as u32 - APART
    }

    /// Where what is slow at those sectors begins and ends, and what it does.
    fn bounded(&self, first: u64, last: u64) -> Option<(u64, u64, Effect)> {
        let mut sizes = (self.size..).zip(&self.levels).map(|(size, cells)| {
            let end = ((last >> size) as usize + 1).min(cells.len());
            (size, cells, (first >> size) as usize..end)
        });
        let whole = |(size, cells, named): &(u32, &Vec<Differences>, std::ops::Range<usize>)| {
            first.is_multiple_of(1 << size) && !named.is_empty() && are_large_enough(cells, named)
        };
        let (size, cells, named) = sizes.find(whole)?;
        let (ends, sums) = extent(cells, named, usize::from(Self::are_apart(self.size, size)))?;
        let effect = sums.effect_of_many("slow-region", 1, LEAST);
        let told = effect.times_as_long.is_some_and(|times| times > 1.0);
        told.then(|| {
            (
                (ends.start as u64) << size,
                ((ends.end as u64) << size) - 1,
                Effect { found: true, withheld: None, ..effect },
            )
        })
    }
}

/// A read among those that a stretch is about.
#[derive(Clone, Copy, Debug)]
struct Placed {
    lba: u64,
    log: f64,
    /// Its place in order of arrival, and whether it came in the last stretch.
    order: usize,
    is_new: bool,
    /// All that came before it.
    before: Logs,
}

/// The new reads of a region, and those that came before them and are neither its own nor next to it.
fn compared(there: &[Placed], next_to: [Option<&[Placed]>; 2]) -> Option<(Logs, Logs)> {
    let new = || there.iter().filter(|read| read.is_new);
    let not_others = || next_to.into_iter().flatten().flatten().chain(there);
    let (mut most, mut all) = (0, Logs::default());
    for read in new() {
        let own = not_others().filter(|other| other.order < read.order).map(|other| other.log);
        let others = read.before.without(own.collect());
        most = most.max(others.count());
        all = all.with(others);
    }
    // Each of them is one read, however many of the region's it came before.
    let others = all.mean().map(|mean| Logs::of_mean(mean, most))?;
    (most >= FEWEST_READS).then(|| (new().map(|read| read.log).collect(), others))
}

/// A region, and how its reads compare with others.
#[derive(Debug)]
struct Region {
    first: u64,
    last: u64,
    sums: Differences,
    /// The median of its size.
    usual: f64,
}

#[cfg(test)]
mod phase_tests;
#[cfg(test)]
mod tests;
