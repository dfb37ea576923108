//! Requests that pieces are merged with, in text of which a processor tells nothing, and no running number tells of that.

mod common;

use std::collections::VecDeque;

use common::load::{Found, Truth, Truths, compare};
use common::{Form, Random, read_as};
use headstack_trace::event::{Action, Event, Marks, device_of};
use headstack_units::Nanos;

/// Requests for places of 64 sectors, each told by one processor from its queueing to its completion, and pieces that any processor
/// asks for and merges with one that waits.
struct Merging {
    random: Random,
    requests: u64,
    cpus: u64,
    gap_us: u64,
    depth: usize,
    /// Of ten requests so many ask for one of 20 places.
    hot: u64,
    /// Of ten arrivals so many are merged with one that waits, if any does.
    merges: u64,
    all: Vec<Event>,
    truths: Truths,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    first: u64,
    end: u64,
    queued: u64,
    cpu: u16,
}

impl Merging {
    fn any(seed: u64, requests: u64) -> Self {
        let mut random = Random(1 + 7919 * (seed + 1) * requests);
        (0..9).for_each(|_| _ = random.below(7));
        Self {
            requests,
            cpus: 3 + random.below(2),
            gap_us: [4000, 5100, 6000, 8000][random.below(4) as usize],
            depth: [1, 4, 8][random.below(3) as usize],
            hot: [0, 3, 9][random.below(3) as usize],
            merges: [1, 3, 6][random.below(3) as usize],
            random,
            all: Vec::new(),
            truths: Truths::new(),
        }
    }

    fn tell(&mut self, time: u64, action: Action, (first, end): (u64, u64), cpu: u16) {
        self.all.push(Event {
            time: Nanos(time),
            sector: first,
            bytes: ((end - first) << 9) as u32,
            pid: 1,
            device: device_of(8, 16),
            cpu,
            action,
            marks: Marks::of_letters(if first / 64 % 3 == 0 { b"WS" } else { b"R" }).unwrap(),
        });
    }

    fn arrive(&mut self, now: u64, waiting: &mut VecDeque<Request>) {
        let cpu = self.random.below(self.cpus) as u16;
        let host = self.random.below(waiting.len().max(1) as u64) as usize;
        if self.random.below(10) < self.merges
            && waiting.get(host).is_some_and(|host| host.end - host.first < 32)
        {
            let extent = (waiting[host].end, waiting[host].end + 8);
            waiting[host].end += 8;
            self.tell(now, Action::Queue, extent, cpu);
            return self.tell(now + 200, Action::BackMerge, extent, cpu);
        }
        let hot = self.random.below(10) < self.hot;
        let place = if hot { self.random.below(20) } else { 100 + self.random.below(1_000_000) };
        let request = Request { first: 64 * place, end: 64 * place + 8, queued: now, cpu };
        self.tell(now, Action::Queue, (request.first, request.end), cpu);
        waiting.push_back(request);
    }

    /// Its events in order, and the truth.
    fn run(mut self) -> (Vec<Event>, Truths) {
        let (mut waiting, mut inside): (VecDeque<Request>, Vec<(Request, u64)>) = Default::default();
        let (mut now, mut next, mut arrived, mut until) = (1_000_000_000_u64, 1_000_000_000_u64, 0, None);
        loop {
            if arrived < self.requests && until.is_none_or(|until| next <= until) {
                now = now.max(next);
                self.arrive(now, &mut waiting);
                arrived += 1;
                next = now + 1000 + self.random.below(2000 * self.gap_us);
            } else if let Some(end) = until.take() {
                now = now.max(end);
                let (Request { first, end, queued, cpu }, dispatched) = inside.remove(0);
                self.truths.insert((first, dispatched), Truth { queued, dispatched, completed: now });
                self.tell(now, Action::Complete, (first, end), cpu);
            } else if waiting.is_empty() && inside.is_empty() {
                break;
            }
            while inside.len() < self.depth {
                let Some(request) = waiting.pop_front() else { break };
                now += 1000;
                inside.push((request, now));
                self.tell(now, Action::Issue, (request.first, request.end), request.cpu);
            }
            if until.is_none() && !inside.is_empty() {
                until = Some(now + 500_000 + self.random.below(9_000_000));
            }
        }
        self.all.sort_by_key(|event| event.time);
        (self.all, self.truths)
    }
}

/// What is read where the first so many processors tell nothing.
fn found(seed: u64, requests: u64, absent: u16, form: Form) -> Found {
    let (mut events, truths) = Merging::any(seed, requests).run();
    events.retain(|event| event.cpu >= absent);
    let mut numbers = [0; 4];
    let numbered = events.into_iter().map(|mut event| {
        event.cpu -= absent;
        let number = &mut numbers[usize::from(event.cpu)];
        *number += 1;
        (*number, event)
    });
    let (ios, summary) = read_as(form, &numbered.collect::<Vec<_>>());
    compare(&ios, summary, &truths)
}

#[test]
fn a_merge_with_nothing_tells_of_a_processor_that_is_absent() {
    let (mut texts, mut wrong) = (0, Vec::new());
    for requests in [300, 1000, 8000] {
        for seed in 0..if requests == 8000 { 8 } else { 40 } {
            let found = found(seed, requests, 1, Form::Text);
            texts += 1;
            let is_off = [found.service, found.response].iter().any(|ratio| (ratio - 1.0).abs() > 0.05);
            if found.longest.max(found.longest_service) > 1.0 || is_off {
                wrong.push((
                    requests,
                    seed,
                    found.longest,
                    found.longest_service,
                    found.service,
                    found.response,
                    found.share,
                ));
            }
        }
    }
    assert!(20 * wrong.len() <= texts, "{} of {texts}: {wrong:#?}", wrong.len());
}

/// Nothing is missing: what is merged has a request to be merged with.
#[test]
fn whole_text_with_merges_lacks_nothing() {
    for (requests, seed) in
        [300, 1000, 8000].into_iter().flat_map(|requests| (0..8).map(move |seed| (requests, seed)))
    {
        let found = found(seed, requests, 0, Form::Text);
        let counts = &found.summary.counts;
        assert_eq!(
            (found.known, counts.doubtful, counts.orphans()),
            (Merging::any(seed, requests).run().1.len(), 0, 0),
            "{seed} {requests}"
        );
        assert!(found.longest <= 1.0 && found.wrong_ends == 0.0, "{seed} {requests}");
    }
}
