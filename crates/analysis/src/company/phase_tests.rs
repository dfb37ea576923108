//! Processes that work 20 s of every 60 s.

use super::tests::{Finder, of};
use super::*;
use crate::phases::Span;
use headstack_trace::Request;
use headstack_units::Op;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp, LogNormal, Normal};

/// What process 9 does while it works, on a device that serves one at a time or any number.
#[derive(Clone, Copy, Debug)]
struct Load {
    one_at_a_time: bool,
    /// Requests a second of each of two others, and of process 9; `None`: it has one outstanding all the time.
    others: f64,
    rate: Option<f64>,
    writes: bool,
    /// Times as long for others meanwhile, and for its own.
    delays: f64,
    own: f64,
    /// Others ask for so many times as much meanwhile.
    crowds: f64,
    /// All services rise and fall together over so many seconds.
    while_s: f64,
    seconds: f64,
}

const PLAIN: Load = Load {
    one_at_a_time: false,
    others: 15.0,
    rate: Some(30.0),
    writes: false,
    delays: 1.0,
    own: 1.0,
    crowds: 1.0,
    while_s: 0.0,
    seconds: 600.0,
};

fn works(at_s: f64, begins: f64) -> bool {
    (at_s + begins) % 60.0 < 20.0
}

impl Load {
    fn effects(self, seed: u64) -> Vec<Effect> {
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let (law, one) = (LogNormal::new(1.6, 0.5).unwrap(), Normal::new(0.0, 0.5).unwrap());
        let begins = 60.0 * random.random::<f64>();
        let mut arrivals: BinaryHeap<Reverse<(Nanos, u32)>> = BinaryHeap::new();
        let gap = |random: &mut rand_pcg::Pcg64, rate: f64| -> f64 { Exp::new(rate).unwrap().sample(random) };
        for pid in [1, 2, 9] {
            arrivals.push(Reverse((Nanos(1 + u64::from(pid)), pid)));
        }
        let (mut finder, mut free_s, mut level, mut last_s) = (Finder::default(), 0.0_f64, 0.0, 0.0);
        while let Some(Reverse((arrival, pid))) = arrivals.pop() {
            let at_s = arrival.as_s();
            if at_s > self.seconds {
                break;
            }
            let is_at_work = works(at_s, begins);
            let own = pid == 9;
            let rate = if is_at_work { self.crowds } else { 1.0 } * self.others;
            let next = if own { self.rate } else { Some(rate) };
            if let Some(rate) = next {
                arrivals.push(Reverse((arrival + Nanos::from_s(gap(&mut random, rate)), pid)));
            }
            if own && !is_at_work {
                if self.rate.is_none() {
                    arrivals.push(Reverse((arrival + Nanos(500_000_000), pid)));
                }
                continue;
            }
            if self.while_s > 0.0 {
                let kept = ((last_s - at_s) / self.while_s).exp();
                level = kept * level + (1.0 - kept * kept).sqrt() * one.sample(&mut random);
                last_s = at_s;
            }
            let mut ms: f64 = law.sample(&mut random) * level.exp();
            ms *= if own {
                self.own
            } else if is_at_work {
                self.delays
            } else {
                1.0
            };
            let begin_s = if self.one_at_a_time { at_s.max(free_s) } else { at_s };
            free_s = begin_s + ms / 1e3;
            let finish = Nanos::from_s(free_s);
            if own && self.rate.is_none() {
                arrivals.push(Reverse((finish + Nanos(100_000), pid)));
            }
            let op = if own && self.writes { Op::Write } else { Op::Read };
            let request = Request::new(arrival, op, Lba(random.random_range(0..1 << 30)), 8);
            finder
                .push(&Io { pid, ..Io::new(Request { finish, ..request }) }, |pid| format!("process {pid}"));
        }
        finder.finish(|device| device.to_string())
    }
}

/// Loads in which process 9 does nothing to others but what any requests do, or is itself as quick as they.
fn harmless() -> [(&'static str, Load); 8] {
    let busy = Load { one_at_a_time: true, ..PLAIN };
    [
        ("any number at a time", PLAIN),
        ("one at a time", busy),
        ("a long queue", Load { rate: Some(80.0), ..busy }),
        ("always one outstanding", Load { rate: None, ..busy }),
        ("slow whiles", Load { while_s: 10.0, ..PLAIN }),
        ("slow whiles, one at a time", Load { while_s: 10.0, ..busy }),
        ("others ask for more meanwhile", Load { crowds: 3.0, ..busy }),
        ("it asks for little", Load { rate: Some(2.0), while_s: 10.0, ..PLAIN }),
    ]
}

fn is_named(effects: &[Effect]) -> bool {
    ["process", "process-phases", "slow-process"].iter().any(|cause| of(effects, cause).next().is_some())
}

fn names_nobody_harmless(runs: u64) {
    for (what, load) in harmless() {
        let named = (0..runs).filter(|&seed| is_named(&load.effects(seed))).count() as u64;
        assert!(named * 20 <= runs, "{what}: {named} of {runs}");
    }
}

/// Runs in which this cause is process 9, and of them those of which the interval holds the size.
fn named(load: Load, cause: &str, size: f64, runs: u64) -> (u64, u64) {
    let (mut named, mut held) = (0, 0);
    for seed in 1000..1000 + runs {
        let effects = load.effects(seed);
        let right = |effect: &&Effect| effect.name.as_deref() == Some("process 9");
        if let Some(effect) = of(&effects, cause).find(right) {
            named += 1;
            held += u64::from(effect.low.unwrap() <= size && size <= effect.high.unwrap());
        }
    }
    (named, held)
}

/// Beside one that works 20 s of every 60 each read has one of its requests outstanding, and at other times none: it was never named.
fn names_who_delays_others_or_is_slow(runs: u64) {
    for (what, cause, size, load) in [
        ("delays others", "process-phases", 1.5, Load { delays: 1.5, ..PLAIN }),
        ("writes", "process-phases", 2.0, Load { delays: 2.0, writes: true, ..PLAIN }),
        ("asks for little", "process-phases", 2.0, Load { delays: 2.0, rate: Some(3.0), ..PLAIN }),
        ("is slow itself", "slow-process", 3.0, Load { own: 3.0, ..PLAIN }),
    ] {
        let (named, held) = named(load, cause, size, runs);
        assert!(10 * named >= 9 * runs && 20 * held >= 19 * named - 20, "{what}: {named}, {held} of {runs}");
    }
    // Where one is served at a time, requests that are slow delay all that wait behind them.
    let busy = Load { one_at_a_time: true, ..PLAIN };
    for (what, load) in [
        ("others are served slowly", Load { delays: 2.0, ..busy }),
        ("it is served slowly", Load { own: 3.0, rate: Some(15.0), ..busy }),
        ("it always has one outstanding", Load { own: 4.0, rate: None, ..busy }),
    ] {
        let found = (0..runs).filter(|&seed| is_named(&load.effects(seed))).count() as u64;
        assert!(10 * found >= 9 * runs, "{what}: {found} of {runs}");
    }
}

/// How many of each kind: `TRACES=200` takes a quarter of an hour.
fn traces() -> u64 {
    std::env::var("TRACES").map_or(8, |count| count.parse().expect("TRACES"))
}

#[test]
fn one_that_works_in_phases_and_does_no_harm_is_not_named() {
    names_nobody_harmless(traces());
}

#[test]
fn one_that_works_in_phases_and_delays_others_or_is_slow_is_named() {
    names_who_delays_others_or_is_slow(traces());
}

/// Beside as many requests others' reads take no longer, so that nobody was named; that the queue is long is its doing.
#[test]
fn one_that_fills_the_queue_in_its_phases_is_named_for_that() {
    let busy = Load { one_at_a_time: true, rate: Some(80.0), ..PLAIN };
    for seed in 1000..1010 {
        let effects = busy.effects(seed);
        let found: Vec<&Effect> = of(&effects, "process-queue").collect();
        let [effect] = found[..] else { panic!("{seed}: {effects:?}") };
        let phases = effect.phases.unwrap();
        assert_eq!(effect.name.as_deref(), Some("process 9"));
        assert!(
            phases.share_of_queue > 0.6 && phases.found_inside > 2.0 * phases.found_outside,
            "{phases:?}"
        );
        assert!(effect.low > Some(1.25) && phases.like_queue.times_as_long < 1.25, "{effect:?}");
        let ratio = phases.inside_ms / phases.outside_ms;
        assert!((ratio / effect.times_as_long.unwrap() - 1.0).abs() < 1e-9, "{effect:?}");
    }
}

#[test]
fn nobody_fills_a_queue_that_others_make_or_that_is_none() {
    for (what, load) in harmless() {
        if load.one_at_a_time && load.crowds <= 1.0 && load.while_s <= 0.0 {
            continue;
        }
        let named = (0..5).filter(|&seed| of(&load.effects(seed), "process-queue").next().is_some()).count();
        // Of services that rise and fall together on a device that serves one at a time its requests make the queue, too.
        assert!(named == 0 || load.one_at_a_time && load.while_s > 0.0, "{what}: {named} of 5");
    }
}

/// All that comes while it works takes twice as long, beside one of its requests or not: nobody knows that it is why.
#[test]
fn what_is_slow_while_it_works_may_be_slow_for_something_else() {
    for seed in 1000..1010 {
        let effects = Load { delays: 2.0, ..PLAIN }.effects(seed);
        let phases = of(&effects, "process-phases").next().and_then(|effect| effect.phases).unwrap();
        assert!(phases.only_time && phases.beside.unwrap().high < 1.25, "{phases:?}");
    }
}

/// Nobody can tell which of two that work at the same time delays others; of others the larger effect is told.
#[test]
fn of_those_that_work_at_the_same_time_both_are_named_or_the_one_with_the_larger_effect() {
    let spans = |from_s: u64, length_s: u64| -> Vec<_> {
        (0..8)
            .map(|k| [60 * k + from_s, 60 * k + from_s + length_s].map(|s| Nanos(s * 1_000_000_000)).into())
            .collect()
    };
    let all = [spans(0, 20), spans(1, 20), spans(5, 10), spans(30, 20)];
    let all: Vec<&[Span]> = all.iter().map(|spans| &spans[..]).collect();
    let effect = |times| Effect { times_as_long: Some(times), ..Effect::unknown("process-phases", 8) };
    let found = vec![(2, effect(1.5)), (3, effect(1.4)), (0, effect(2.0)), (1, effect(1.9))];
    let told: Vec<Vec<usize>> = largest_apart(found, &all).into_iter().map(|(which, _)| which).collect();
    assert_eq!(told, [vec![0, 1], vec![3]]);
}
