//! Loads of a device that takes several requests at once, some for the same sectors, and what truly became of each.

use std::collections::{BTreeMap, VecDeque};

use headstack_trace::Io;
use headstack_trace::event::{Action, Event, Marks, PairingSummary, device_of};
use headstack_units::Nanos;

use super::Random;

/// A load on a device that takes up to `depth` requests at once and serves one or more at a time, but one of each place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) seed: u64,
    pub(crate) requests: u64,
    /// Mean time between arrivals, of a service of 5 ms, µs.
    pub(crate) gap_us: u64,
    pub(crate) depth: usize,
    /// Of ten requests so many ask for one of a few places.
    pub(crate) hot: u64,
    pub(crate) places: u64,
    /// Served as they come, or in any order, but those of the same sectors as they come.
    pub(crate) in_order: bool,
    pub(crate) cpus: u64,
    pub(crate) servers: usize,
    /// The processor of a request tells of its completion, too, and not any.
    pub(crate) own: bool,
}

/// What truly was: queued, dispatched, completed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) queued: u64,
    pub(crate) dispatched: u64,
    pub(crate) completed: u64,
}

/// By first sector and dispatch.
pub(crate) type Truths = BTreeMap<(u64, u64), Truth>;

impl Load {
    pub(crate) fn place(&self, random: &mut Random) -> u64 {
        if random.below(10) < self.hot { random.below(self.places) } else { 1000 + random.below(1_000_000) }
    }

    /// The events by processor, and the truth.
    pub(crate) fn run(&self) -> (Vec<Vec<Event>>, Truths) {
        let mut random = Random(self.seed);
        let (mut files, mut truths) = (vec![Vec::new(); self.cpus as usize], BTreeMap::new());
        let mut all: Vec<Event> = Vec::new();
        let mut waiting: VecDeque<(u64, u64, u16)> = VecDeque::new();
        let mut inside: Vec<(u64, u64, u64, u16)> = Vec::new();
        let (mut arrived, mut next, mut now) = (0, 1_000_000_000_u64, 1_000_000_000_u64);
        // Dispatched then, served until then.
        let mut serving: Vec<(u64, u64)> = Vec::new();
        let event = |time, action, place: u64, cpu| Event {
            time: Nanos(time),
            sector: 8 * place,
            bytes: 4096,
            pid: 1,
            device: device_of(8, 16),
            cpu,
            action,
            marks: Marks::of_letters(if place.is_multiple_of(3) { b"WS" } else { b"R" }).unwrap(),
        };
        loop {
            let until = serving.iter().map(|(_, until)| *until).min();
            let arrives = arrived < self.requests && until.is_none_or(|until| next <= until);
            if arrives {
                now = now.max(next);
                let (place, cpu) = (self.place(&mut random), random.below(self.cpus) as u16);
                waiting.push_back((place, now, cpu));
                all.push(event(now, Action::Queue, place, cpu));
                arrived += 1;
                let gap = 1 + random.below(4000 * self.gap_us);
                next = now + 1 + random.below(gap);
            } else if let Some(until) = until {
                now = now.max(until);
                let ends = serving.iter().position(|(_, at)| *at == until).unwrap();
                let (ends, _) = serving.remove(ends);
                let index = inside.iter().position(|(_, _, dispatched, _)| *dispatched == ends).unwrap();
                let (place, queued, dispatched, cpu) = inside.remove(index);
                truths.insert((8 * place, dispatched), Truth { queued, dispatched, completed: now });
                let cpu = if self.own { cpu } else { random.below(self.cpus) as u16 };
                all.push(event(now, Action::Complete, place, cpu));
            } else if arrived == self.requests && waiting.is_empty() && inside.is_empty() {
                break;
            }
            while inside.len() < self.depth {
                let Some((place, queued, cpu)) = waiting.pop_front() else { break };
                now += 1000;
                inside.push((place, queued, now, cpu));
                all.push(event(now, Action::Issue, place, cpu));
            }
            while serving.len() < self.servers {
                let is_served = |id: u64| serving.iter().any(|(dispatched, _)| *dispatched == id);
                let busy: Vec<u64> = inside.iter().filter(|one| is_served(one.2)).map(|one| one.0).collect();
                let idle: Vec<_> = inside.iter().filter(|one| !busy.contains(&one.0)).collect();
                if idle.is_empty() {
                    break;
                }
                let any = if self.in_order { 0 } else { random.below(idle.len() as u64) as usize };
                let first = idle.iter().find(|(place, ..)| *place == idle[any].0).unwrap();
                serving.push((first.2, now + 500_000 + random.below(9_000_000)));
            }
        }
        all.sort_by_key(|event| event.time);
        for event in all {
            files[usize::from(event.cpu)].push(event);
        }
        (files, truths)
    }
}

pub(crate) struct Found {
    pub(crate) share: f64,
    pub(crate) wrong_ends: f64,
    pub(crate) wrong_arrivals: f64,
    pub(crate) service: f64,
    pub(crate) response: f64,
    pub(crate) longest: f64,
    pub(crate) longest_service: f64,
    pub(crate) known: usize,
    pub(crate) summary: PairingSummary,
}

pub(crate) fn compare(ios: &[Io], summary: PairingSummary, truths: &Truths) -> Found {
    let (mut wrong, mut arrivals, mut known) = (0, 0, 0);
    let mut sums = [0.0; 4];
    for io in ios {
        let Some(truth) = truths.get(&(io.request.lba.0, io.request.start.0)) else { continue };
        wrong += usize::from(io.request.finish.0 != truth.completed);
        sums[0] += (io.request.finish.0 - io.request.start.0) as f64;
        sums[1] += (truth.completed - truth.dispatched) as f64;
        if let Some(response) = io.response() {
            known += 1;
            arrivals += usize::from(io.request.arrival.0 != truth.queued);
            sums[2] += response.0 as f64;
            sums[3] += (truth.completed - truth.queued) as f64;
        }
    }
    let true_longest = truths.values().map(|t| t.completed - t.queued).max().unwrap() as f64;
    let longest = ios.iter().filter_map(Io::response).max().unwrap_or_default().0 as f64;
    let true_service = truths.values().map(|t| t.completed - t.dispatched).max().unwrap() as f64;
    let service =
        ios.iter().filter_map(|io| io.request.measured_service()).max().unwrap_or_default().0 as f64;
    Found {
        share: ios.len() as f64 / truths.len() as f64,
        wrong_ends: 100.0 * wrong as f64 / ios.len().max(1) as f64,
        wrong_arrivals: 100.0 * f64::from(arrivals as u32) / f64::from(known.max(1) as u32),
        service: sums[0] / sums[1],
        response: sums[2] / sums[3],
        longest: longest / true_longest,
        longest_service: service / true_service,
        known,
        summary,
    }
}

/// Loads of few places and of many, a busy device and one that cannot keep up, with and without a queue of its own.
pub(crate) fn loads() -> impl Iterator<Item = Load> {
    let kinds = [
        (3, 20_000, 32, true),
        (3, 6000, 32, false),
        (3, 6000, 1, true),
        (3, 4000, 4, true),
        (3, 4000, 32, false),
        (9, 20_000, 32, true),
        (9, 6000, 32, true),
        (9, 5100, 4, true),
        (9, 4000, 4, true),
    ];
    kinds.into_iter().map(|(hot, gap_us, depth, in_order)| Load {
        seed: 7 + gap_us + hot,
        requests: 8000,
        gap_us,
        depth,
        hot,
        places: 20,
        in_order,
        cpus: 3,
        servers: 1,
        own: false,
    })
}

/// Loads with few places and many, on four processors.
pub(crate) fn more_loads() -> impl Iterator<Item = Load> {
    let kinds = [(0, 6000, 1), (0, 4500, 32), (3, 4500, 32), (1, 5000, 8), (0, 4900, 32)];
    kinds.into_iter().map(|(hot, gap_us, depth)| Load {
        seed: 70 + gap_us,
        requests: 8000,
        gap_us,
        depth,
        hot,
        places: 20,
        in_order: gap_us == 4900,
        cpus: 4,
        servers: 1,
        own: false,
    })
}

/// One of many loads of a service of 5 ms, from idle to overloaded.
pub(crate) fn any_load(seed: u64, requests: u64, own: bool) -> Load {
    let mut random = Random(1 + 7919 * (seed + 1) * (requests + u64::from(own)));
    (0..9).for_each(|_| _ = random.below(7));
    let servers = if random.below(2) == 0 { 1 } else { 4 };
    Load {
        seed: 100_000 + 17 * seed + requests,
        requests,
        gap_us: [4000, 5100, 6000, 8000, 20_000][random.below(5) as usize] / servers as u64,
        depth: [1, 4, 8, 32][random.below(4) as usize],
        hot: [0, 1, 3, 9][random.below(4) as usize],
        places: 20,
        in_order: random.below(2) == 0,
        cpus: 3 + random.below(2),
        servers,
        own,
    }
}
