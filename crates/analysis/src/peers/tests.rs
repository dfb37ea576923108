use super::*;
use crate::depth::Outstanding;
use headstack_trace::Request;
use headstack_units::Lba;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp, LogNormal};

/// What is left of like reads must be the same whatever their size, distance and queue, and in a slow hour as long as the hour.
#[test]
fn what_explains_a_response_is_taken_out() {
    let mut random = rand_pcg::Pcg64::seed_from_u64(3);
    let (gaps, law) = (Exp::new(0.1).unwrap(), LogNormal::new(0.0, 0.5).unwrap());
    let (mut peers, mut outstanding) = (Peers::default(), Outstanding::default());
    let (mut at_ms, mut end): (f64, u64) = (0.0, 0);
    // Excess by size (small, large), distance (near, far) and queue (none, some), of the later half.
    let mut left = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
    for k in 0..40_000 {
        let gap: f64 = gaps.sample(&mut random);
        at_ms += gap;
        let (large, away) = (random.random_range(0..3) == 0, random.random_range(0..2) == 0);
        let sectors = if large { 1024 } else { 8 };
        let lba = if away { (end + (1 << 28)) % (1 << 30) } else { end + 64 };
        let arrival = Nanos::from_ms(at_ms);
        let found = outstanding.at(arrival);
        let noise: f64 = law.sample(&mut random);
        let slow = 1.0 + 2.0 * f64::from(at_ms % 100_000.0 > 50_000.0);
        let ms =
            slow * noise * if large { 3.0 } else { 1.0 } * if away { 2.0 } else { 1.0 } * (1 + found) as f64;
        let finish = arrival + Nanos::from_ms(ms);
        outstanding.add(finish);
        let request = Request { finish, ..Request::new(arrival, Op::Read, Lba(lba), sectors) };
        end = lba + u64::from(sectors);
        let peer = peers.push(&Io::new(request), found).unwrap();
        if let Some(excess) = peer.queued.filter(|_| k > 20_000) {
            for (which, is) in [large, away, found > 0].into_iter().enumerate() {
                left[which][usize::from(is)].push(excess - slow.ln());
            }
        }
    }
    let mean = |excess: &[f64]| excess.iter().sum::<f64>() / excess.len() as f64;
    for (what, [one, other]) in ["size", "distance", "queue"].into_iter().zip(&left) {
        let between = mean(other) - mean(one);
        assert!(one.len() > 2_000 && other.len() > 2_000 && between.abs() < 0.05, "{what}: {between}");
    }
}

/// A program that waits for each of its reads has fewer of them while they are slow; that does not explain why.
#[test]
fn fewer_reads_than_usual_explain_nothing() {
    let mut peers = Peers::default();
    let (mut at_ms, mut slow, mut fast) = (0.0, Vec::new(), Vec::new());
    for k in 0..20_000_u64 {
        let is_slow = k % 200 >= 180;
        let ms = (1.0 + (k % 7) as f64 / 10.0) * if is_slow { 8.0 } else { 1.0 };
        let arrival = Nanos::from_ms(at_ms);
        let request = Request::new(arrival, Op::Read, Lba(k * 7_919 % 100_000), 8);
        let io = Io::new(Request { finish: arrival + Nanos::from_ms(ms), ..request });
        at_ms += ms;
        let Some(excess) = peers.push(&io, 0).and_then(|peer| peer.crowded) else { continue };
        if k > 5_000 {
            if is_slow { &mut slow } else { &mut fast }.push(excess);
        }
    }
    let mean = |excess: &[f64]| excess.iter().sum::<f64>() / excess.len() as f64;
    let times = (mean(&slow) - mean(&fast)).exp();
    assert!((times - 8.0).abs() < 0.8, "{times}");
}

/// One read in ten takes less than a tick of the trace's clock: the others are compared as if it had not been.
#[test]
fn what_took_no_time_is_not_compared() {
    let excesses = |with_short: bool| -> Vec<Option<f64>> {
        let mut peers = Peers::default();
        let reads = (0..1000_u64).filter_map(|k| {
            let (is_short, arrival) = (k % 10 == 0, Nanos(k * 20_000_000));
            let ms = if is_short { 0.0 } else { 5.0 + (k % 7) as f64 };
            let request = Request::new(arrival, Op::Read, Lba(k * 7919 % 1_000_003), 8);
            let io = Io::new(Request { finish: arrival + Nanos::from_ms(ms), ..request });
            // Where it is left out it is a write: the distances stay.
            let io =
                if is_short && !with_short { Io::new(Request { op: Op::Write, ..io.request }) } else { io };
            let peer = peers.push(&io, 0);
            assert_eq!(peer.is_none(), is_short);
            peer.map(|peer| peer.alike)
        });
        reads.collect()
    };
    assert_eq!(excesses(true), excesses(false));
}

/// Scans side by side on a drive that does not read ahead: what goes on behind the last request takes no seek, what goes on behind an
/// earlier one does.
#[test]
fn a_stream_that_was_left_has_its_own_level() {
    let mut random = rand_pcg::Pcg64::seed_from_u64(5);
    let (mut peers, mut scans, mut last) = (Peers::default(), [0_u64, 1 << 28, 1 << 29], 3);
    let mut left = [Vec::new(), Vec::new()];
    for k in 0..20_000_u64 {
        // The first is seldom interrupted.
        let scan = if last == 0 && random.random_range(0..10) > 0 { 0 } else { random.random_range(0..3) };
        let arrival = Nanos(k * 20_000_000);
        let ms = if scan == last { 0.5 } else { 8.0 } * random.random_range(0.8..1.2);
        let request = Request::new(arrival, Op::Read, Lba(scans[scan]), 128);
        scans[scan] += 128;
        let peer = peers.push(&Io::new(Request { finish: arrival + Nanos::from_ms(ms), ..request }), 0);
        if let Some(excess) = peer.and_then(|peer| peer.alike).filter(|_| k > 5_000) {
            left[usize::from(scan == last)].push(excess);
        }
        last = scan;
    }
    let mean = |excess: &[f64]| excess.iter().sum::<f64>() / excess.len() as f64;
    let between = mean(&left[1]) - mean(&left[0]);
    assert!(left.iter().all(|each| each.len() > 1_000) && between.abs() < 0.05, "{between}");
}

/// A quarter of the reads are a stream, which has a level of size and one of distance of its own: each was given all of the
/// difference, and in the first thousands of reads both overshot ever further, up to a factor of e^7,000.
#[test]
fn levels_that_come_together_share_what_they_explain() {
    let mut random = rand_pcg::Pcg64::seed_from_u64(7);
    let law = LogNormal::new(0.0, 0.3).unwrap();
    let (mut peers, mut stream) = (Peers::default(), 1 << 28);
    let (mut left, mut largest) = ([Vec::new(), Vec::new()], 0.0_f64);
    for k in 0..20_000_u64 {
        let streams = random.random_range(0..4) == 0;
        let lba = if streams { stream } else { random.random_range(0..1 << 30) };
        stream += if streams { 64 } else { 0 };
        let noise: f64 = law.sample(&mut random);
        let arrival = Nanos(k * 20_000_000);
        let request = Request::new(arrival, Op::Read, Lba(lba), if streams { 64 } else { 8 });
        let ms = if streams { 0.3 } else { 10.0 };
        let finish = arrival + Nanos::from_ms(ms * noise);
        let Some(peer) = peers.push(&Io::new(Request { finish, ..request }), 0) else { continue };
        for excess in [peer.alike, peer.crowded, peer.queued, peer.placed].into_iter().flatten() {
            largest = largest.max((excess - 10.0_f64.ln() - 1e6_f64.ln()).abs());
        }
        left[usize::from(streams)].extend(peer.queued.filter(|_| k > 10_000));
    }
    let mean = |excess: &[f64]| excess.iter().sum::<f64>() / excess.len() as f64;
    let between = mean(&left[1]) - mean(&left[0]);
    assert!(largest < 5.0 && between.abs() < 0.05, "{largest} at most, {between}");
}

/// A stream goes on behind 64 writes; the ends of requests that were remembered were all of writes then, and its next read counted as a
/// far one of a tenth of the usual response.
#[test]
fn a_burst_of_writes_ends_no_stream() {
    let (mut peers, mut stream) = (Peers::default(), 1 << 28);
    let mut after = Vec::new();
    for k in 0..4_000_u64 {
        let burst = k % 200 >= 136;
        let streams = !burst && k % 4 == 0;
        let lba = if streams { stream } else { k * 7_919_191 % (1 << 28) };
        stream += if streams { 64 } else { 0 };
        let op = if burst { Op::Write } else { Op::Read };
        let request = Request::new(Nanos(k * 20_000_000), op, Lba(lba), if streams { 64 } else { 8 });
        let finish = request.arrival + Nanos::from_ms(if streams { 0.5 } else { 5.0 });
        let peer = peers.push(&Io::new(Request { finish, ..request }), 0);
        after.extend(peer.filter(|_| streams && k > 800 && k % 200 == 0));
    }
    assert!(after.len() > 10 && after.iter().all(|peer| peer.in_stream), "{after:?}");
}
