//! Reads that are tried again, and what only looks so.

use super::*;
use crate::counted::show;
use crate::peers::Peers;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Geometric, LogNormal};

const REVOLUTION_MS: f64 = 8.333;

/// 10,000 reads of a device, one at a time, 20 ms apart; `service_ms` draws how long one takes.
fn found(seed: u64, mut service_ms: impl FnMut(&mut rand_pcg::Pcg64, u64) -> f64) -> Option<Effect> {
    let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
    let (mut finder, mut peers) = (LateFinder::default(), Peers::default());
    let mut arrival = Nanos::ZERO;
    for k in 0..10_000 {
        let ms = service_ms(&mut random, k);
        let lba = Lba(random.random_range(0..1_000_000_000));
        let finish = arrival + Nanos::from_ms(ms);
        let io = Io::new(Request { finish, ..Request::new(arrival, Op::Read, lba, 8) });
        let peer = peers.push(&io, 0);
        finder.push(&io, 0, peer.as_ref());
        arrival = finish + Nanos::from_ms(20.0);
    }
    finder.finish(|device| device.to_string(), &Paused::default(), None)
}

/// A seek, the wait for the sector, and its transfer.
fn access_ms(random: &mut rand_pcg::Pcg64) -> f64 {
    let far: f64 = random.random();
    0.3 + 1.0 + 9.0 * far.sqrt() + REVOLUTION_MS * random.random::<f64>()
}

/// One in 150 reads takes 50 ms longer, of which it waits so many before its service; all lie within 30,000 sectors, or those do
/// that take longer.
fn longer(seed: u64, waits_ms: f64, all_there: bool) -> Option<Effect> {
    longer_within(30_000, None, seed, waits_ms, all_there)
}

/// The same within so many sectors, of which it is known, or not, that they are slow.
fn longer_within(
    sectors: u64,
    slow: Option<&SlowRegion>,
    seed: u64,
    waits_ms: f64,
    all_there: bool,
) -> Option<Effect> {
    let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
    let (mut finder, mut peers) = (LateFinder::default(), Peers::default());
    let mut arrival = Nanos::ZERO;
    for k in 0..10_000 {
        let is_longer = k % 150 == 100;
        let more = if is_longer { 50.0 } else { 0.0 };
        let most = if all_there || is_longer { sectors } else { 1_000_000_000 };
        let finish = arrival + Nanos::from_ms(access_ms(&mut random) + more);
        let start = arrival + Nanos::from_ms(if is_longer { waits_ms } else { 0.0 });
        let request = Request::new(arrival, Op::Read, Lba(random.random_range(0..most)), 8);
        let io = Io::new(Request { start, finish, ..request });
        let peer = peers.push(&io, 0);
        finder.push(&io, 0, peer.as_ref());
        arrival = finish + Nanos::from_ms(20.0);
    }
    finder.finish(|device| device.to_string(), &Paused::default(), slow)
}

/// By the trace's own start, such reads of ajw waited for 21 to 42 ms before an ordinary service: they were told as retries.
#[test]
fn what_a_read_waits_before_its_service_is_no_retry() {
    assert!((0..5).all(|seed| longer(seed, 50.0, false).is_none()));
    assert!((0..5).all(|seed| longer(seed, 0.0, false).is_some()));
}

#[test]
fn a_place_is_told_only_where_few_reads_lie_there_at_all() {
    let told = |all_there| longer(1, 0.0, all_there).unwrap().name.unwrap().contains("of them within LBA");
    assert!(told(false) && !told(true));
}

/// All lay in a region that was named as slow, and that was not said.
#[test]
fn where_a_region_is_slow_it_is_told_that_they_lie_there() {
    let told =
        |slow: Option<&SlowRegion>| longer_within(30_000_000, slow, 1, 0.0, false).unwrap().name.unwrap();
    assert!(!told(None).contains("of them within LBA"));
    let slow = told(Some(&(0, 0..=29_999_999)));
    assert!(slow.contains("62 of them within LBA 0 to 29,999,999, which is slow, and"), "{slow}");
    // Elsewhere, or on another device, it says nothing.
    for slow in [(0, 500_000_000..=600_000_000), (1, 0..=29_999_999), (0, 0..=999_999_999)] {
        assert!(!told(Some(&slow)).contains("of them within LBA"));
    }
}

#[test]
fn service_that_varies_is_no_retry() {
    for spread in [0.3, 0.6, 1.0] {
        let law = LogNormal::new(2.0, spread).unwrap();
        let named = (0..200).filter(|&seed| found(seed, |random, _| law.sample(random)).is_some()).count();
        show(&format!("no retries, spread {spread}"), named, None, 200);
        assert!(named <= 10, "spread {spread}: {named} of 200");
    }
    let named = (0..200).filter(|&seed| found(seed, |random, _| access_ms(random)).is_some()).count();
    show("no retries, a disk", named, None, 200);
    assert!(named <= 10, "a disk: {named} of 200");
}

/// In a third of such traces the longest of a heavy tail were told as retries.
#[test]
fn a_heavy_tail_is_no_row_of_retries() {
    for power in [1.5, 2.0, 2.5] {
        let law = rand_distr::Pareto::new(3.0, power).unwrap();
        let named = (0..100).filter(|&seed| found(seed, |random, _| law.sample(random)).is_some()).count();
        assert!(named <= 5, "1/x^{power}: {named} of 100");
    }
}

/// A quarter of the reads go on in a stream, and a cache has them: those from the disk were not asked.
#[test]
fn retries_beside_a_stream_are_told() {
    let named = (0..40).filter(|&seed| {
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let (mut finder, mut peers) = (LateFinder::default(), Peers::default());
        let (mut arrival, mut next) = (Nanos::ZERO, 1 << 32);
        for _ in 0..8000 {
            let streams = random.random_bool(0.35);
            let lba = if streams { next } else { random.random_range(0..1_000_000_000) };
            next += if streams { 64 } else { 0 };
            let again_ms = if random.random_bool(1.0 / 300.0) { 400.0 } else { 0.0 };
            let ms = again_ms + if streams { 0.5 } else { access_ms(&mut random) };
            let finish = arrival + Nanos::from_ms(ms);
            let request = Request::new(arrival, Op::Read, Lba(lba), if streams { 64 } else { 8 });
            let io = Io::new(Request { finish, ..request });
            let peer = peers.push(&io, 0);
            finder.push(&io, 0, peer.as_ref());
            arrival = finish + Nanos::from_ms(20.0);
        }
        finder.finish(|device| device.to_string(), &Paused::default(), None).is_some()
    });
    let named = named.count();
    assert!(named >= 36, "{named} of 40");
}

#[test]
fn what_comes_from_a_cache_most_times_is_not_retried_when_it_does_not() {
    let named = |share: f64| {
        let service = |random: &mut rand_pcg::Pcg64, _| {
            if random.random::<f64>() < share { access_ms(random) } else { 0.2 }
        };
        (0..20).filter(|&seed| found(seed, service).is_some()).count()
    };
    assert_eq!([0.001, 0.01, 0.1, 0.5].map(named), [0; 4]);
}

/// On a clock that is too coarse for a cache.
#[test]
fn reads_that_take_no_time_make_no_others_late() {
    let named = (0..20).filter(|&seed| {
        let service = |random: &mut rand_pcg::Pcg64, _| {
            if random.random::<f64>() < 0.1 { 0.0 } else { access_ms(random) }
        };
        found(seed, service).is_some()
    });
    assert_eq!(named.count(), 0);
}

/// Whoever is slow for a while is not retried.
#[test]
fn a_slow_while_is_no_row_of_retries() {
    let named = (0..20).filter(|&seed| {
        let service =
            |random: &mut rand_pcg::Pcg64, k: u64| access_ms(random) * if k % 1000 < 10 { 20.0 } else { 1.0 };
        found(seed, service).is_some()
    });
    assert_eq!(named.count(), 0);
}

#[test]
fn reads_that_take_many_revolutions_more_are_counted() {
    // Each further revolution fails two times in three.
    let again = Geometric::new(1.0 / 3.0).unwrap();
    let (mut runs, mut shares) = (0, Vec::new());
    for seed in 0..200 {
        let mut long = 0_u32;
        let effect = found(seed, |random, _| {
            let once = access_ms(random);
            if random.random::<f64>() >= 0.01 {
                return once;
            }
            let revolutions = 1 + again.sample(random);
            long += u32::from(revolutions >= 4);
            once + revolutions as f64 * REVOLUTION_MS
        });
        let Some(effect) = effect else { continue };
        runs += 1;
        shares.push(effect.occurrences as f64 / f64::from(long.max(1)));
    }
    show("retries", runs, None, 200);
    assert!(runs >= 180, "{runs} of 200");
    // Those of 33 ms more are told from what a far seek and a full turn come to.
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert!((0.5..2.0).contains(&mean), "{mean}");
}

/// Others ask as well while the device stands still: it is one that pauses, and that is said once.
#[test]
fn a_pause_is_told_of_once() {
    let told = |pause_ms: f64, others: bool| {
        let mut random = rand_pcg::Pcg64::seed_from_u64(5);
        let (mut finder, mut peers) = (LateFinder::default(), Peers::default());
        let mut pauses = crate::pauses::PauseFinder::default();
        let mut arrival = Nanos::ZERO;
        for k in 0..10_000_u64 {
            let pause = k % 500 == 499;
            let ms = access_ms(&mut random).min(15.0) + if pause { pause_ms } else { 0.0 };
            let finish = arrival + Nanos::from_ms(ms);
            let mut push = |arrival, finish, outstanding| {
                let lba = Lba(random.random_range(0..1_000_000_000));
                let io = Io::new(Request { finish, ..Request::new(arrival, Op::Read, lba, 8) });
                let peer = peers.push(&io, outstanding);
                finder.push(&io, outstanding, peer.as_ref());
                pauses.push(&io);
            };
            push(arrival, finish, 0);
            if others || k % 3 == 0 {
                push(arrival + Nanos::from_ms(1.0), finish + Nanos::from_ms(8.0), 1);
            }
            arrival = finish + Nanos::from_ms(20.0);
        }
        let (stops, paused) = pauses.finish(|device| device.to_string());
        let late = finder.finish(|device| device.to_string(), &paused, None);
        (stops.first().map(|effect| effect.occurrences), late.is_some())
    };
    assert_eq!(told(400.0, true), (Some(20), false));
    // Single reads that nobody else waited beside stay what they are.
    assert_eq!(told(80.0, false), (None, true));
}

#[test]
fn where_and_when_they_come_is_told() {
    let effect = found(1, |random, k| if k % 500 == 499 { 150.0 } else { access_ms(random).min(15.0) });
    let effect = effect.expect("reads of 150 ms");
    // The first comes while it is being learned what a read takes.
    assert_eq!((effect.cause, effect.occurrences), ("late-reads", 19));
    let name = effect.name.unwrap();
    assert!(name.starts_with(" that wait for nobody take 150 to 150 ms"), "{name}");
    assert!(name.contains("every "), "{name}");
    assert!(!name.contains("within LBA"), "{name}");
}

/// Reads of a device that come by chance, so many a second; each is served by the law beside any others, and those of some numbers take
/// a second more.
fn side_by_side(seed: u64, per_s: f64, count: usize, retried: usize) -> Option<Effect> {
    let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
    let gaps = rand_distr::Exp::new(per_s).unwrap();
    let again: std::collections::BTreeSet<usize> =
        (0..retried).map(|_| random.random_range(600..count)).collect();
    let (mut at_s, mut reads) = (0.0, Vec::new());
    for k in 0..count {
        at_s += gaps.sample(&mut random);
        let ms = access_ms(&mut random) + if again.contains(&k) { 1000.0 } else { 0.0 };
        reads.push((at_s * 1e3, at_s * 1e3 + ms, random.random_range(0..1_000_000_000)));
    }
    told(&reads)
}

/// One arm that takes the nearest of those that wait, or the next ahead of it.
fn one_arm(seed: u64, per_s: f64, nearest: bool) -> Option<Effect> {
    let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
    let gaps = rand_distr::Exp::new(per_s).unwrap();
    let (mut next_ms, mut now_ms, mut head) = (0.0_f64, 0.0_f64, 0_u64);
    let (mut waiting, mut reads): (Vec<(f64, u64)>, Vec<_>) = (Vec::new(), Vec::new());
    while reads.len() < 10_000 {
        while next_ms <= now_ms || waiting.is_empty() {
            now_ms = now_ms.max(if waiting.is_empty() { next_ms } else { 0.0 });
            waiting.push((next_ms, random.random_range(0..1_u64 << 30)));
            next_ms += 1e3 * gaps.sample(&mut random);
        }
        let far = |lba: u64| if nearest { lba.abs_diff(head) } else { lba.wrapping_sub(head) };
        let best = (0..waiting.len()).min_by_key(|&at| far(waiting[at].1)).unwrap();
        let (arrival_ms, lba) = waiting.swap_remove(best);
        let seek = lba.abs_diff(head) as f64 / f64::from(1 << 30);
        now_ms += 1.3 + 9.0 * seek.sqrt() + REVOLUTION_MS * random.random::<f64>();
        head = lba;
        reads.push((arrival_ms, now_ms, lba));
    }
    reads.sort_by(|one, two| one.0.total_cmp(&two.0));
    told(&reads)
}

/// What is told of reads with these arrivals, finishes and sectors.
fn told(reads: &[(f64, f64, u64)]) -> Option<Effect> {
    let (mut finder, mut peers) = (LateFinder::default(), Peers::default());
    let mut outstanding = crate::depth::Outstanding::default();
    for &(arrival, finish, lba) in reads {
        let [arrival, finish] = [arrival, finish].map(Nanos::from_ms);
        let io = Io::new(Request { finish, ..Request::new(arrival, Op::Read, Lba(lba), 8) });
        let found = outstanding.at(arrival);
        outstanding.add(finish);
        let peer = peers.push(&io, found);
        finder.push(&io, found, peer.as_ref());
    }
    finder.finish(|device| device.to_string(), &Paused::default(), None)
}

/// Only reads that found nothing outstanding were asked: five of 10,000 reads that were tried again for a second were told in 27 of 40
/// traces of 40 a second, in 16 of 70 a second, and three of 5,000 in 10.
#[test]
fn reads_that_are_tried_again_beside_others_are_told() {
    for (per_s, count, retried) in [(40.0, 10_000, 5), (70.0, 10_000, 5), (40.0, 5_000, 3)] {
        let named = (0..40).filter(|&seed| side_by_side(seed, per_s, count, retried).is_some()).count();
        assert!(named >= 36, "{retried} of {count}, {per_s} a second: {named} of 40");
    }
    let name = side_by_side(1, 70.0, 10_000, 20).unwrap().name.unwrap();
    assert!(name.starts_with(" that wait for nobody, or that later ones overtake, take 10"), "{name}");
}

/// The nearest goes first, and those that wait far away are overtaken for long.
#[test]
fn what_others_overtake_by_choice_is_no_retry() {
    for per_s in [40.0, 70.0] {
        let named = (0..40).filter(|&seed| side_by_side(seed, per_s, 10_000, 0).is_some()).count();
        assert!(named <= 2, "side by side, {per_s} a second: {named} of 40");
        for nearest in [true, false] {
            let named = (0..20).filter(|&seed| one_arm(seed, per_s, nearest).is_some()).count();
            assert!(named <= 1, "nearest: {nearest}, {per_s} a second: {named} of 20");
        }
    }
}
