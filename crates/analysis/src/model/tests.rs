use headstack_trace::{InMemory, Io, IoSource, Notes, Request, RequestSource, TraceError};
use headstack_units::{Lba, Nanos, Op};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::likeness::{Likeness, likeness};

struct Requests(InMemory, Vec<Request>);

impl IoSource for Requests {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        self.0.next_batch(&mut self.1)?;
        *batch = self.1.iter().copied().map(Io::new).collect();
        Ok(())
    }
    fn notes(&self) -> Notes {
        Notes::default()
    }
    fn sector_bytes(&self) -> u32 {
        512
    }
}

fn fit(requests: Vec<Request>) -> WorkloadModel {
    WorkloadModel::fit(&mut Requests(InMemory::new(requests), Vec::new())).unwrap()
}

fn made(model: &WorkloadModel, count: u64, seed: u64) -> Vec<Request> {
    let (mut source, mut all, mut batch) = (model.generate(count, seed), Vec::new(), Vec::new());
    loop {
        source.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            return all;
        }
        all.append(&mut batch);
    }
}

/// Bursts of twenty requests 1 ms apart every second; 70 % reads of 8 sectors in runs of four, writes of 64 anywhere.
fn bursty(count: u64) -> Vec<Request> {
    let mut random = Pcg64::seed_from_u64(5);
    let mut next = 0;
    (0..count)
        .map(|number| {
            let arrival = Nanos(number / 20 * 1_000_000_000 + number % 20 * 1_000_000);
            if number % 10 < 7 {
                if number % 4 == 0 {
                    next = random.random_range(0..100_000) * 8;
                }
                next += 8;
                Request::new(arrival, Op::Read, Lba(next - 8), 8)
            } else {
                Request::new(arrival, Op::Write, Lba(random.random_range(0..100_000) * 8), 64)
            }
        })
        .collect()
}

#[test]
fn a_made_trace_is_like_the_one_it_was_fitted_to() {
    let original = bursty(20_000);
    let model = fit(original.clone());
    model.check().unwrap();
    let copy = made(&model, 40_000, 1);
    assert!(copy.is_sorted_by_key(|request| request.arrival));
    let rate = |requests: &[Request]| requests.len() as f64 / requests.last().unwrap().arrival.as_s();
    let share = |requests: &[Request], of: &dyn Fn(&Request) -> bool| {
        requests.iter().filter(|request| of(request)).count() as f64 / requests.len() as f64
    };
    assert!((rate(&copy) / rate(&original) - 1.0).abs() < 0.1, "{} {}", rate(&copy), rate(&original));
    let reads = |requests: &[Request]| share(requests, &|request| request.op == Op::Read);
    assert!((reads(&copy) - 0.7).abs() < 0.02, "{}", reads(&copy));
    assert!(copy.iter().all(|request| request.sectors == if request.op == Op::Read { 8 } else { 64 }));
    let (original, copy) = (of(original), of(copy));
    assert!((copy.sequential_fraction - original.sequential_fraction).abs() < 0.05, "{original:?} {copy:?}");
}

fn of(requests: Vec<Request>) -> Likeness {
    likeness(&mut Requests(InMemory::new(requests), Vec::new())).unwrap()
}

/// Sessions of seconds to minutes, busy by day and quiet by night; each works around a place of its own, and one in four
/// requests goes back to a place of the last thousand.
fn sessions(count: usize) -> Vec<Request> {
    let mut random = Pcg64::seed_from_u64(9);
    let (mut now, mut centre, mut left, mut all) = (0_u64, 0_u64, 0_u32, Vec::<Request>::new());
    while all.len() < count {
        if left == 0 {
            let day = 1.2 + (now as f64 / 3.6e12 * std::f64::consts::TAU).sin();
            let pause = -random.random::<f64>().ln() * 20e9 / day;
            now += pause as u64;
            (centre, left) = (random.random_range(0..10_000_000), random.random_range(20..2000));
        }
        left -= 1;
        now += (-random.random::<f64>().ln() * 20e6) as u64;
        let again = random.random_range(0..4) == 0 && all.len() > 1000;
        let near = centre + random.random_range(0..2000);
        let lba = if again {
            all[all.len() - random.random_range(1..1000)].lba.0
        } else {
            near.max(all.last().map_or(0, |last| last.lba.0 % 64)) * 8
        };
        let op = if random.random_range(0..3) == 0 { Op::Write } else { Op::Read };
        all.push(Request::new(Nanos(now), op, Lba(lba), 8));
    }
    all
}

#[test]
fn burstiness_memory_seeks_and_returns_are_kept() {
    let original = sessions(100_000);
    let copy = made(&fit(original.clone()), 100_000, 3);
    let (original, copy) = (of(original), of(copy));
    let both = format!("{original:#?} {copy:#?}");
    for (first, second) in original.dispersion.iter().zip(&copy.dispersion) {
        let ratio = second.index / first.index;
        assert!((1.0 / 1.5..=1.5).contains(&ratio), "{} s: {ratio}\n{both}", first.scale_s);
    }
    let near = |first: f64, second: f64, by: f64| (second / first - 1.0).abs() <= by;
    assert!((original.hurst.unwrap() - copy.hurst.unwrap()).abs() <= 0.05, "{both}");
    assert!(near(original.again_fraction, copy.again_fraction, 0.1), "{both}");
    assert!(near(original.requests_per_s, copy.requests_per_s, 0.02), "{both}");
    assert!(near(original.seek_median_bytes.unwrap(), copy.seek_median_bytes.unwrap(), 0.1), "{both}");
}

/// What tells requests apart, in any order.
fn sorted(requests: &[Request]) -> Vec<(u64, u32)> {
    let mut all: Vec<_> = requests.iter().map(|request| (request.lba.0, request.sectors)).collect();
    all.sort_unstable();
    all
}

#[test]
fn as_long_as_the_original_it_holds_the_same_requests_in_another_order() {
    let original = sessions(20_000);
    let model = fit(original.clone());
    for seed in 0..3 {
        let copy = made(&model, 20_000, seed);
        assert_eq!(sorted(&copy), sorted(&original));
        let elsewhere = copy.iter().zip(&original).filter(|(one, other)| one.lba != other.lba).count();
        assert!((500..5000).contains(&elsewhere), "{elsewhere}");
        assert!(
            copy.iter()
                .zip(&original)
                .all(|(one, other)| (one.arrival.as_s() - other.arrival.as_s()).abs() < 3600.0)
        );
        assert_eq!(
            copy.last().unwrap().arrival,
            Nanos(original.last().unwrap().arrival.0 - original[0].arrival.0)
        );
    }
}

/// Each request has a size of its own, by which copies are counted.
#[test]
fn of_a_long_trace_each_kept_request_is_copied_as_often() {
    let original: Vec<Request> = (0..300_000_u32)
        .map(|k| {
            Request::new(Nanos(u64::from(k) * 1_000_000), Op::Read, Lba(u64::from(k) * 1_000_000), k + 1)
        })
        .collect();
    let model = fit(original);
    let kept: usize = model.excerpts.iter().map(|excerpt| excerpt.samples.len()).sum();
    let mut copies = BTreeMap::new();
    for request in made(&model, 300_000, 1) {
        *copies.entry(request.sectors).or_insert(0_u32) += 1;
    }
    assert_eq!(copies.len(), kept);
    // 1,172 blocks, of which 256 are kept: all requests of one as often as it stands for a block. The last block is shorter.
    assert_eq!(copies.values().sum::<u32>(), 300_000);
    for (number, excerpt) in (0_u32..).zip(&model.excerpts[..model.excerpts.len() - 1]) {
        let stands = model.blocks.iter().filter(|block| block.excerpt == number).count();
        assert!((1..=10).contains(&stands), "{stands}");
        assert!(excerpt.samples.iter().all(|sample| copies[&sample.sectors].abs_diff(stands as u32) <= 1));
    }
}

#[test]
fn a_long_trace_keeps_its_pace_to_the_end() {
    let original = sessions(150_000);
    let copy = made(&fit(original.clone()), 150_000, 2);
    let span = original.last().unwrap().arrival.as_s();
    let late =
        copy.iter().zip(&original).map(|(one, other)| (one.arrival.as_s() - other.arrival.as_s()).abs());
    let worst = late.fold(0.0, f64::max) / span;
    assert!(worst < 0.05, "{worst}");
    let (original, copy) = (of(original), of(copy));
    for (first, second) in original.dispersion.iter().zip(&copy.dispersion) {
        let ratio = second.index / first.index;
        assert!((1.0 / 1.5..=1.5).contains(&ratio), "{} s: {ratio}", first.scale_s);
    }
}

/// Random reads in turn with bursts of writes that come at once, of which a block holds one, or none.
#[test]
fn a_long_trace_keeps_its_rare_bursts() {
    let mut random = Pcg64::seed_from_u64(2);
    let (mut now, mut next, mut original) = (0.0_f64, 30.0, Vec::new());
    while original.len() < 110_000 {
        now += -random.random::<f64>().ln() / 40.0;
        let mut push = |at: f64, op| {
            let lba = Lba(random.random_range(0..1 << 28) * 8);
            original.push(Request::new(Nanos((at * 1e9) as u64), op, lba, 8));
        };
        if now > next {
            (0..250_u32).for_each(|k| push(next + f64::from(k) * 0.0005, Op::Write));
            (now, next) = (now.max(next + 0.125), next + 60.0);
        }
        push(now, Op::Read);
    }
    let copy = made(&fit(original.clone()), original.len() as u64, 0);
    let at_once = |requests: &[Request]| {
        let writes: Vec<_> = requests.iter().filter(|request| request.op == Op::Write).collect();
        let dense = writes.windows(100).filter(|some| some[99].arrival.0 - some[0].arrival.0 < 60_000_000);
        dense.count() as f64
    };
    assert!((at_once(&copy) / at_once(&original) - 1.0).abs() < 0.25, "{}", at_once(&copy));
    let (original, copy) = (of(original), of(copy));
    for (first, second) in original.dispersion.iter().zip(&copy.dispersion) {
        let ratio = second.index / first.index;
        assert!((0.9..1.1).contains(&ratio), "{} s: {ratio}", first.scale_s);
    }
}

/// A file that is read from end to end, in a trace of which a third is kept.
#[test]
fn a_stream_goes_on_where_a_block_stands_for_another() {
    let original: Vec<Request> = (0..200_000_u64)
        .map(|k| {
            let place = if k % 2 == 0 { k * 64 } else { (1 << 32) + k * 64 };
            let op = if k % 2 == 0 { Op::Read } else { Op::Write };
            Request::new(Nanos(k * 1_000_000), op, Lba(place), 128)
        })
        .collect();
    let copy = made(&fit(original.clone()), 200_000, 0);
    let apart = copy.iter().zip(&original).filter(|(one, other)| one.lba.0.abs_diff(other.lba.0) > 64 * 64);
    assert!(apart.count() < 2000, "requests that are elsewhere");
    let sectors: std::collections::BTreeSet<u64> = copy.iter().map(|request| request.lba.0 / 128).collect();
    assert!(sectors.len() > 190_000, "{} of 200,000", sectors.len());
}

/// Twenty devices in turn as chance has it, each with runs of sixteen requests.
#[test]
fn runs_of_many_devices_side_by_side_stay_whole() {
    let mut random = Pcg64::seed_from_u64(11);
    let mut ends = [(0_u64, 0_u32); 20];
    let original: Vec<Request> = (0..20_000)
        .map(|k| {
            let device = random.random_range(0..20_u32);
            let (end, left) = &mut ends[device as usize];
            if *left == 0 {
                (*end, *left) = (random.random_range(0..1_000_000) * 8, 16);
            }
            (*end, *left) = (*end + 8, *left - 1);
            Request { device, ..Request::new(Nanos(k * 1_000_000), Op::Read, Lba(*end - 8), 8) }
        })
        .collect();
    let copy = of(made(&fit(original.clone()), 20_000, 4));
    let original = of(original);
    assert!((copy.sequential_fraction - original.sequential_fraction).abs() < 0.005, "{original:?} {copy:?}");
    let seeks = copy.seek_median_bytes.unwrap() / original.seek_median_bytes.unwrap();
    assert!((seeks - 1.0).abs() < 0.05, "{seeks}");
}

/// Two hundred requests 40 us apart, then nothing for five seconds: the long gaps are half a percent of all.
#[test]
fn rare_long_gaps_keep_the_rate() {
    let arrival = |k: u64| Nanos(k / 200 * 5_000_000_000 + k % 200 * 40_000);
    let original: Vec<Request> =
        (0..20_000).map(|k| Request::new(arrival(k), Op::Write, Lba(k % 1000 * 8), 8)).collect();
    let model = fit(original);
    model.check().unwrap();
    let copy = made(&model, 200_000, 1);
    let rate = copy.len() as f64 / copy.last().unwrap().arrival.as_s();
    assert!((rate / 40.0 - 1.0).abs() < 0.1, "{rate} a second instead of 40");
}

#[test]
fn the_seed_alone_decides() {
    let model = fit(bursty(1000));
    assert_eq!(made(&model, 500, 3), made(&model, 500, 3));
    assert_ne!(made(&model, 500, 3), made(&model, 500, 4));
}

#[test]
fn a_model_that_makes_no_sense_is_refused() {
    let broken = |harm: &dyn Fn(&mut WorkloadModel)| {
        let mut model = fit(bursty(100));
        harm(&mut model);
        model.check().unwrap_err().to_string()
    };
    assert!(broken(&|model| model.excerpts.clear()).contains("an excerpt with requests"));
    assert!(broken(&|model| model.excerpts[0].samples.clear()).contains("none without"));
    assert!(broken(&|model| model.excerpts[0].first = 100).contains("in order of `first`"));
    assert!(broken(&|model| model.excerpts.push(model.excerpts[0].clone())).contains("in order of `first`"));
    assert!(broken(&|model| model.excerpts[0].samples[3].device = 1).contains("of no device"));
    assert!(broken(&|model| model.excerpts[0].samples[3].sectors = 0).contains("of no size"));
    assert!(broken(&|model| model.excerpts[0].samples[3].gap_ns = u64::MAX).contains("endless gap"));
    assert!(broken(&|model| model.devices[0].grid_sectors = 0).contains("no grid"));
    assert!(broken(&|model| model.pace.every = 3).contains("`pace`"));
    let empty = WorkloadModel::fit(&mut Requests(InMemory::new(Vec::new()), Vec::new()));
    assert!(empty.unwrap_err().to_string().contains("fewer than two"));
}

/// Reads at the beginning of the disk in the first half, and writes at the end of it ten times as fast in the second.
#[test]
fn a_shorter_trace_is_like_all_of_the_original() {
    let original: Vec<_> = (0..40_000_u64)
        .map(|number| {
            let (at_ms, op, from) = if number < 20_000 {
                (number * 10, Op::Read, 0)
            } else {
                (200_000 + (number - 20_000), Op::Write, 1 << 30)
            };
            Request::new(Nanos(at_ms * 1_000_000), op, Lba(from + number * 7919 % 100_000 * 8), 8)
        })
        .collect();
    let model = fit(original);
    for count in [20_000, 13_000, 30_000] {
        let copy = made(&model, count, 3);
        assert_eq!(copy.len() as u64, count);
        assert!(copy.is_sorted_by_key(|request| request.arrival));
        let reads = copy.iter().filter(|request| request.op == Op::Read).count() as f64 / count as f64;
        assert!((0.44..0.56).contains(&reads), "{count}: {reads}");
        // What was passed over takes no time: as fast as the original.
        let rate = count as f64 / copy.last().unwrap().arrival.as_s();
        assert!((rate / (40_000.0 / 220.0) - 1.0).abs() < 0.1, "{count}: {rate}");
    }
    // Of a few requests nothing is like all of it; they are its beginning.
    assert!(made(&model, 3000, 3).iter().all(|request| request.op == Op::Read));
}
