//! Whole text of a device that completes very many requests a second, some of them slowly.

mod common;

use common::load::{Truth, Truths};
use common::{Form, Random, read_as};
use headstack_trace::event::{Action, Event, Marks, device_of};
use headstack_units::Nanos;

/// A load of so many requests, each for itself, on a device that serves any number at once.
#[derive(Clone, Copy, Debug)]
struct Fast {
    seed: u64,
    requests: u64,
    iops: u64,
    /// One in so many is slow, and takes so many µs; the others take 50 to 130.
    one_slow_in: u64,
    slow_us: u64,
    cpus: u64,
    /// A request's events are all told by one processor.
    own: bool,
    /// Of ten requests so many ask for one of 500 places.
    hot: u64,
    dispatched: bool,
}

impl Fast {
    fn run(&self) -> (Vec<(u32, Event)>, Truths) {
        let mut random = Random(1 + 7919 * (self.seed + 1));
        (0..9).for_each(|_| _ = random.below(7));
        let gap = 1_000_000_000 / self.iops;
        let (mut all, mut truths, mut now) = (Vec::new(), Truths::new(), 1_000_000_000);
        for n in 0..self.requests {
            now += 1 + random.below(2 * gap);
            let place = if random.below(10) < self.hot { random.below(500) } else { 1000 + 10 * n };
            let slow = random.below(self.one_slow_in) == 0;
            let service = if slow {
                1000 * self.slow_us + random.below(100_000)
            } else {
                50_000 + random.below(80_000)
            };
            let dispatched = now + 1000 + random.below(3000);
            let truth = Truth { queued: now, dispatched, completed: dispatched + service };
            truths.insert((8 * place, dispatched), truth);
            let cpu = random.below(self.cpus) as u16;
            let ends = if self.own { cpu } else { random.below(self.cpus) as u16 };
            let event = |time, action, cpu| Event {
                time: Nanos(time),
                sector: 8 * place,
                bytes: 4096,
                pid: 1,
                device: device_of(8, 16),
                cpu,
                action,
                marks: Marks::of_letters(if place.is_multiple_of(3) { b"WS" } else { b"R" }).unwrap(),
            };
            all.push(event(now, Action::Queue, cpu));
            if self.dispatched {
                all.push(event(dispatched, Action::Issue, cpu));
            }
            all.push(event(truth.completed, Action::Complete, ends));
        }
        all.sort_by_key(|event| event.time);
        let mut numbers = vec![0; self.cpus as usize];
        let number = |event: Event| {
            let number = &mut numbers[usize::from(event.cpu)];
            *number += 1;
            (*number, event)
        };
        (all.into_iter().map(number).collect(), truths)
    }
}

/// Those that are slow while hundreds of others are completed were taken for ones whose completion is missing: of 192 kinds of such loads 64 lost
/// some, up to 842 requests.
#[test]
fn of_whole_text_no_slow_request_is_left_out() {
    let (mut texts, mut lost) = (0_usize, Vec::new());
    let kinds = [(500, 20_000), (100, 2000), (50, 1000), (20, 5000)];
    for (requests, hot) in [2000, 20_000].into_iter().flat_map(|requests| [(requests, 0), (requests, 3)]) {
        for (one_slow_in, slow_us) in kinds {
            for seed in 0..8 {
                let (own, dispatched) = (seed % 2 == 0, seed % 4 < 2);
                let fast = Fast {
                    seed,
                    requests,
                    iops: 900_000,
                    one_slow_in,
                    slow_us,
                    cpus: 4,
                    own,
                    hot,
                    dispatched,
                };
                let (events, truths) = fast.run();
                let form = if seed < 4 { Form::Text } else { Form::Files };
                let (ios, summary) = read_as(form, &events);
                let known = ios.iter().filter(|io| io.response().is_some()).count();
                texts += 1;
                if known != truths.len() {
                    let counts = &summary.counts;
                    lost.push((truths.len() - known, counts.doubtful, counts.orphans(), form, fast));
                }
            }
        }
    }
    // What is asked for again while it is slow, before anything slow was seen to end, is still taken for lost.
    assert!(32 * lost.len() <= texts, "{} of {texts}: {lost:#?}", lost.len());
}
