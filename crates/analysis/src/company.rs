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
use std::collections::{BTreeMap, BinaryHeap};

use headstack_trace::{Io, Kind};
use headstack_units::{Lba, Nanos, grouped};

use crate::effect::{Differences, Effect, FEWEST, FEWEST_READS, FilledBy, Logs, MUCH, WINDOW, of_device};
use crate::peers::{Peer, count_level};
use crate::phases::{self, FEWEST_PHASES, InPhases, Overlap, Phases, Ratio, Span, Worked, overlap};

mod regions;

use regions::{Region, Regions};

/// At most so many processes are told apart: the first that have asked for [`ENOUGH`].
const PROCESSES: usize = 64;

/// A process of fewer requests is not asked, as a script starts very many of them.
const ENOUGH: u32 = 64;

/// So many names are counted until then.
const COUNTED: usize = 1 << 16;

/// What is not named of a process beside whose requests others' reads take so many times as long at most as beside as many of others: these are
/// in the same queues, and all that is known of reads is taken out, so that next to nothing is left in.
const MUCH_BESIDE: f64 = 1.1;

/// Regions are looked for on the first so many devices.
const MAPPED: usize = 64;

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
    pub(crate) fn finish(mut self, device: impl Fn(u32) -> String) -> Found {
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
        let mut region = None;
        let slowest = slowest_region(regions).map(|Slowest { device: number, first, last, effect }| {
            let bounded = effect.found.then(|| grids[&number].bounded(first, last)).flatten();
            let (first, last, effect) = bounded.unwrap_or((first, last, effect));
            region = effect.found.then_some((number, first..=last));
            let of = if several { format!(" of device {}", device(number)) } else { String::new() };
            Effect { name: Some(format!("LBA {} to {}{of}", grouped(first), grouped(last))), ..effect }
        });
        let effects = slowest.into_iter().chain(processes.effects(&self.names)).collect();
        Found { effects, filled_by, region }
    }
}

/// What reads beside others, and in other regions, came to.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) effects: Vec<Effect>,
    /// Who fills the queue.
    pub(crate) filled_by: Option<FilledBy>,
    /// The device and the sectors of a region that was found to be slow.
    pub(crate) region: Option<SlowRegion>,
}

/// A device, and sectors of it.
pub(crate) type SlowRegion = (u32, std::ops::RangeInclusive<u64>);

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
            regions.add(stretch.iter().map(|read| (read.lba, read.log)), sort);
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

#[cfg(test)]
mod phase_tests;
#[cfg(test)]
mod tests;
