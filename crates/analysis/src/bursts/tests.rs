use super::*;
use crate::counted::show;
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
    assert_eq!((first.kind, first.writes, first.peak_outstanding, first.start_s), ("flush", 50, 50, 15.1));
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
        let response: f64 = drift * slowed * responses.sample(&mut random) * random.random_range(0.9..1.1);
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
    show("bursts without an effect", named, None, 200);
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
    show("bursts, x 1.5", named, Some(held), 200);
    assert!(held >= 190, "{held} of 200");
}

/// Bursts of writes that come one after the other within 300 ms, 8 ms each, so that now and then only one is outstanding: reads take
/// `times` as long from the first write to the end of the last.
fn of_writes_one_after_the_other(seed: u64, times: f64) -> Effect {
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, Exp, LogNormal};
    let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
    let (gaps, responses) = (Exp::new(0.02).unwrap(), LogNormal::new(1.6, 0.5).unwrap());
    let (mut ios, mut bursts) = (Vec::new(), Vec::new());
    for burst in 0..60 {
        let begin_ms = 5000.0 * f64::from(burst) + 2500.0;
        let mut arrivals: Vec<f64> = (0..40).map(|_| begin_ms + 300.0 * random.random::<f64>()).collect();
        arrivals.sort_by(f64::total_cmp);
        let mut free_ms = 0.0_f64;
        for &at in &arrivals {
            free_ms = free_ms.max(at) + 8.0;
            let request = Request::new(Nanos::from_ms(at), Op::Write, Lba(0), 8);
            ios.push(Io::new(Request { finish: Nanos::from_ms(free_ms), ..request }));
        }
        bursts.push(arrivals[0]..free_ms);
    }
    let mut now_ms = 0.0;
    while now_ms < 300_000.0 {
        now_ms += gaps.sample(&mut random);
        let slowed = bursts.iter().any(|burst| burst.contains(&now_ms));
        let response: f64 = responses.sample(&mut random) * if slowed { times } else { 1.0 };
        let request = Request::new(Nanos::from_ms(now_ms), Op::Read, Lba(0), 8);
        ios.push(Io::new(Request { finish: Nanos::from_ms(now_ms + response), ..request }));
    }
    ios.sort_by_key(|io| io.request.arrival);
    let mut finder = Finder::new();
    for io in &ios {
        finder.push(io);
    }
    let effects = finder.finish().effects;
    effects.into_iter().max_by_key(|effect| effect.occurrences).unwrap()
}

/// Reads beside writes before so many were outstanding, or when hardly any were left, counted as reads around the burst: 8 times was
/// told as 6.5, and 4 of 40 intervals held it.
#[test]
fn a_burst_of_writes_one_after_the_other_has_its_size() {
    for times in [1.5, 8.0] {
        let effects: Vec<Effect> = (0..40).map(|seed| of_writes_one_after_the_other(seed, times)).collect();
        let holds = |effect: &&Effect| effect.low.unwrap() <= times && times <= effect.high.unwrap();
        let held = effects.iter().filter(holds).count();
        let off = effects.iter().map(|e| (e.times_as_long.unwrap() / times).ln()).sum::<f64>() / 40.0;
        let found = effects.iter().filter(|effect| effect.found).count();
        let what = format!("{times}: {found} of 40 found, {held} hold it, off by {}", off.exp());
        assert!(found >= 38 && held >= 36 && off.abs() < 0.03, "{what}");
    }
    let named = (0..40).filter(|&seed| of_writes_one_after_the_other(seed, 1.0).found).count();
    assert!(named <= 2, "{named} of 40");
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
