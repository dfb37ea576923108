//! What generated requests look like as a whole.

use headstack_trace::{Op, Request, RequestFlags, RequestSource};
use headstack_units::Nanos;

use super::*;

const SECTORS: u64 = 2_000_000;

fn devices() -> Vec<DeviceShape> {
    ["a", "b"].map(|name| DeviceShape { name: name.to_owned(), sectors: SECTORS, sector_bytes: 512 }).to_vec()
}

fn make(text: &str) -> Vec<Request> {
    let spec = WorkloadSpec::from_toml("test", text).unwrap_or_else(|error| panic!("{error}"));
    let mut open = spec.generate(&devices(), None, None).unwrap().open.unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        open.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            return all;
        }
        all.extend_from_slice(&batch);
    }
}

fn share(requests: &[Request], holds: impl Fn(&Request) -> bool) -> f64 {
    requests.iter().filter(|request| holds(request)).count() as f64 / requests.len() as f64
}

#[test]
fn shares_sizes_ranges_and_rate_are_as_written() {
    let requests = make(
        r#"
requests = 50_000
[[stream]]
volume = "b"
read_fraction = 0.6
sequential_fraction = 0.2
local_fraction = 0.3
local_distance.exponential_kib = 64
size.weighted_kib = [[4, 3], [8, 1]]
align_kib = 2
range_percent = [25, 75]
force_media_fraction = 0.5
flush_fraction = 0.25
duration_limit_fraction = 0.2
duration_limit = 3
discard_fraction = 0.5
write_same_fraction = 0.25
inter_arrival.exponential_ms = 4
"#,
    );
    assert_eq!(requests.len(), 50_000);
    assert!(requests.iter().all(|request| request.device == 1));
    assert!(requests.iter().all(|request| {
        request.lba.0 >= SECTORS / 4 && request.lba.0 + u64::from(request.sectors) <= SECTORS / 4 * 3
    }));
    assert!(requests.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
    let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 0.012, "{found}, not {wanted}");
    near(share(&requests, |request| request.op == Op::Read), 0.6);
    near(share(&requests, |request| request.sectors == 8), 0.75);
    let forced = |request: &Request| request.flags.contains(RequestFlags::FORCE_MEDIA);
    assert!(requests.iter().filter(|request| forced(request)).all(|request| request.op == Op::Write));
    near(share(&requests, forced), 0.2);
    let flushes = |request: &Request| request.flags.contains(RequestFlags::FLUSH);
    assert!(requests.iter().filter(|request| flushes(request)).all(|request| request.op == Op::Write));
    near(share(&requests, flushes), 0.1);
    near(share(&requests, |request| request.flags.duration_limit() == 3), 0.2);
    // Of the writes a half, and a quarter.
    for (mark, wanted) in [(RequestFlags::DISCARD, 0.2), (RequestFlags::WRITE_SAME, 0.1)] {
        let marked = |request: &Request| request.flags.contains(mark);
        assert!(requests.iter().filter(|request| marked(request)).all(|request| request.op == Op::Write));
        near(share(&requests, marked), wanted);
    }
    let pairs = || requests.windows(2);
    let sequential =
        pairs().filter(|pair| pair[1].lba.0 == pair[0].lba.0 + u64::from(pair[0].sectors)).count();
    near(sequential as f64 / 5e4, 0.2);
    let local = pairs().filter(|pair| pair[1].lba.0.abs_diff(pair[0].lba.0) < 10 * 128).count();
    near(local as f64 / 5e4, 0.5);
    let mean_ms = requests.last().unwrap().arrival.as_ms() / 5e4;
    assert!((mean_ms - 4.0).abs() < 0.08, "{mean_ms}");
}

#[test]
fn a_write_is_a_discard_or_write_same_and_not_both() {
    let shares = |discard: f64, same: f64| {
        format!(
            "requests = 20_000\n[[stream]]\nread_fraction = 0\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 1\n\
             discard_fraction = {discard}\nwrite_same_fraction = {same}\n"
        )
    };
    for (discard, same) in [(0.25, 0.75), (1.0, 0.0), (0.0, 1.0)] {
        let requests = make(&shares(discard, same));
        let of = |mark| share(&requests, |request| request.flags.contains(mark));
        near_share(of(RequestFlags::DISCARD), discard);
        near_share(of(RequestFlags::WRITE_SAME), same);
    }
    let problem = WorkloadSpec::from_toml("test", &shares(0.6, 0.5)).unwrap_err().to_string();
    assert!(problem.contains("`stream.0.write_same_fraction`"), "{problem}");
    assert!(problem.contains("together they are at most 1"), "{problem}");
}

#[test]
fn the_same_seed_asks_for_the_same_sectors_whenever_they_are_asked_for() {
    let [light, overload] = ["light-million", "overload-million"].map(|name| {
        let (_, spec) = WorkloadSpec::load(name, &[("requests".to_owned(), "10000".to_owned())]).unwrap();
        let mut open = spec.generate(&devices(), None, None).unwrap().open.unwrap();
        std::iter::from_fn(|| open.next_request()).collect::<Vec<_>>()
    });
    assert!(overload.iter().all(|request| request.arrival == Nanos::ZERO));
    let still = |request: &Request| Request { arrival: Nanos::ZERO, ..*request };
    assert_eq!(light.iter().map(still).collect::<Vec<_>>(), overload);
    assert!(light.iter().all(|request| request.sectors == 8 && request.lba.0 % 8 == 0));
}

#[test]
fn bursts_come_together() {
    let burst = |rest: &str| {
        make(&format!(
            "requests = 100\n[[stream]]\nread_fraction = 0\nsize.fixed_kib = 8\nstart_s = 5\n\
             burst = {{ every_s = 30, requests.fixed = 10{rest}\n"
        ))
    };
    let even = burst(", within_ms = 50 }");
    let spaced = burst(" }\ninter_arrival.constant_ms = 5");
    assert_eq!(even, spaced);
    for (index, request) in (0..).zip(&even) {
        assert_eq!(request.arrival, Nanos::from_ms(35e3 + f64::from(index / 10 * 30_000 + index % 10 * 5)));
    }
}

#[test]
fn streams_are_merged_by_time_and_end_when_they_should() {
    let requests = make(
        r"
[[stream]]
read_fraction = 1
size.fixed_kib = 1
inter_arrival.constant_ms = 10
end_s = 1
[[stream]]
read_fraction = 0
size.fixed_kib = 1
inter_arrival.constant_ms = 20
start_s = 0.5
requests = 25
",
    );
    assert_eq!(requests.len(), 125);
    assert!(requests.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
    // At equal times the stream that stands first in the file comes first.
    let tie: Vec<Op> = requests
        .iter()
        .filter(|request| request.arrival == Nanos::from_ms(600.0))
        .map(|request| request.op)
        .collect();
    assert_eq!(tie, [Op::Read, Op::Write]);
}

#[test]
fn adding_a_stream_leaves_the_others_as_they_are() {
    let first = "[[stream]]\nrequests = 500\nread_fraction = 0.5\nsize.fixed_kib = 4\ninter_arrival.uniform_ms = [1, 9]\n";
    let second = "[[stream]]\nrequests = 500\ndevice = 1\nread_fraction = 1\nsize.fixed_kib = 2\ninter_arrival.poisson_ms = 4\n";
    let alone = make(first);
    let both = make(&format!("{first}{second}"));
    assert_eq!(both.len(), 1_000);
    let of_first: Vec<Request> = both.into_iter().filter(|request| request.device == 0).collect();
    assert_eq!(of_first, alone);
}

#[test]
fn devices_and_ranges_must_exist() {
    let refused = |line: &str| {
        let text = format!(
            "requests = 1\n[[stream]]\nread_fraction = 1\nsize.fixed_kib = 1\ninter_arrival.constant_ms = 1\n{line}\n"
        );
        let spec = WorkloadSpec::from_toml("test", &text).unwrap();
        let error = spec.generate(&devices(), None, None).unwrap_err();
        format!("{error}; {}", error.hint().unwrap_or_default())
    };
    assert!(refused("device = 2").contains("counted from 0"));
    assert!(refused("volume = \"c\"").contains("known: a, b"));
    assert!(refused("range_lba = [0, 2_000_000]").contains("range_percent"));
}

#[test]
fn the_unix_like_workload_is_mostly_writes_in_bursts() {
    let (_, spec) = WorkloadSpec::load("unix-like", &[]).unwrap();
    let mut open = spec.generate(&devices(), None, None).unwrap().open.unwrap();
    let requests: Vec<Request> = std::iter::from_fn(|| open.next_request()).collect();
    assert_eq!(requests.len(), 100_000);
    let writes = share(&requests, |request| request.op == Op::Write);
    assert!((writes - 0.57).abs() < 0.02, "{writes}");
    let large = share(&requests, |request| request.sectors == 16);
    assert!((0.6..0.8).contains(&large), "{large}");
    // Bursts: the median gap is far below the mean.
    let mut gaps: Vec<u64> = requests.windows(2).map(|pair| (pair[1].arrival - pair[0].arrival).0).collect();
    gaps.sort_unstable();
    let mean = requests.last().unwrap().arrival.0 / 100_000;
    assert!(gaps[50_000] * 4 < mean, "{} {mean}", gaps[50_000]);
}

#[test]
fn sizes_are_rounded_up_to_whole_steps() {
    let requests = make(
        "requests = 50_000\n[[stream]]\nread_fraction = 1\nsize.exponential_kib = 4\nsize_step_kib = 4\nalign_kib = 4\n\
         inter_arrival.constant_ms = 1\n",
    );
    assert!(requests.iter().all(|request| request.sectors % 8 == 0 && request.lba.0 % 8 == 0));
    // An exponential rounded up to steps of its mean is geometric: 1 / (1 - 1/e) steps.
    let mean = requests.iter().map(|request| f64::from(request.sectors)).sum::<f64>() / 5e4;
    let expected = 8.0 / (1.0 - (-1.0_f64).exp());
    assert!((mean - expected).abs() < 0.1, "{mean}, not {expected}");
    near_share(share(&requests, |request| request.sectors == 8), 1.0 - (-1.0_f64).exp());
}

fn near_share(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 0.012, "{found}, not {wanted}");
}

/// The choice between sequential, local and elsewhere, written down again from the same random numbers.
#[test]
fn sequential_and_local_requests_are_those_of_a_naive_twin() {
    use crate::random::Stream;
    let text = "seed = 7\nrequests = 5_000\n[[stream]]\nread_fraction = 0.5\nsequential_fraction = 0.2\n\
                local_fraction = 0.3\nlocal_shift.uniform_kib = [-64, 32]\nsize.fixed_kib = 4\nsize_step_kib = 4\n\
                inter_arrival.constant_ms = 1\n";
    let (mut address, mut op) = (Stream::new(7, "stream.0.address"), Stream::new(7, "stream.0.op"));
    let mut last: Option<(i64, Op)> = None;
    for request in make(text) {
        let kind = address.unit();
        let read = if op.unit() < 0.5 { Op::Read } else { Op::Write };
        op.unit();
        let most = SECTORS as i64 - 8;
        let expected = match last {
            Some((lba, was)) if kind < 0.2 && lba + 8 <= most => (lba + 8, was),
            Some((lba, _)) if (0.2..0.5).contains(&kind) => {
                let shift = ((-64.0 + 96.0 * address.unit()) / 0.5).round() as i64;
                let there = lba + shift;
                (if (0..=most).contains(&there) { there } else { lba - shift }, read)
            }
            _ => (address.below(most as u64 + 1) as i64, read),
        };
        assert_eq!((request.lba.0 as i64, request.op), expected);
        last = Some(expected);
    }
}

#[test]
fn a_stream_over_several_volumes_goes_on_where_it_was() {
    let requests = make(
        "requests = 20_000\n[[stream]]\nvolumes = [\"a\", \"b\"]\nread_fraction = 1\nsequential_fraction = 0.5\n\
         size.fixed_kib = 4\ninter_arrival.constant_ms = 1\n",
    );
    near_share(share(&requests, |request| request.device == 0), 0.5);
    let runs = requests.windows(2).filter(|pair| pair[1].lba.0 == pair[0].lba.0 + 8);
    let (mut all, mut stayed) = (0_u32, 0_u32);
    for pair in runs {
        all += 1;
        stayed += u32::from(pair[0].device == pair[1].device);
    }
    near_share(f64::from(all) / 2e4, 0.5);
    assert_eq!(all, stayed);
}

#[test]
fn waiting_is_for_closed_streams() {
    let base = "requests = 1\n[[stream]]\nread_fraction = 1\nsize.fixed_kib = 1\n";
    let refused =
        |rest: &str| WorkloadSpec::from_toml("t", &format!("{base}{rest}")).unwrap_err().to_string();
    assert!(refused("inter_arrival.constant_ms = 1\nwaits_fraction = 0.5\n").contains("waits_fraction"));
    assert!(refused("think.constant_ms = 1\nlimited_fraction = 0.5\n").contains("belong together"));
    let both = "think.constant_ms = 1\nlimited_fraction = 0.5\ntime_limit.constant_ms = 1\n";
    assert!(refused(both).contains("more than all"));
    assert!(refused("think.constant_ms = 1\nvolume = \"a\"\nvolumes = [\"b\"]\n").contains("one of"));
    assert!(refused("think.constant_ms = 1\nsize_step_kib = 0\n").contains("size_step_kib"));
}

/// They served one sector, the whole disk, and its first sector for ever, and said nothing.
#[test]
fn sizes_that_no_request_has_are_refused() {
    let refused = |size: &str| {
        let text = format!("requests = 1\n[[stream]]\nread_fraction = 1\nthink.constant_ms = 1\n{size}\n");
        WorkloadSpec::from_toml("t", &text).unwrap_err().to_string()
    };
    for size in ["size.fixed_kib = 0", "size.fixed_kib = -1", "size.fixed_kib = 1e308"] {
        assert!(refused(size).contains("`stream.0.size.fixed_kib`"), "{}", refused(size));
    }
    assert!(
        refused("size.fixed_kib = 4\nalign_kib = 1e308").contains("1e308 is not above 0, and at most 1e12")
    );
    assert!(refused("size.fixed_kib = nan").contains("size"));
}

#[test]
fn several_ranges_and_raw_requests() {
    let requests = make(
        r"
requests = 20_000
[[stream]]
read_fraction = 1.0
raw = true
sequential_fraction = 0.5
size.fixed_kib = 4
ranges_lba = [[1000, 1999], [50_000, 59_999], [700_000, 700_999]]
inter_arrival.constant_ms = 1
",
    );
    let parts = [(1_000, 2_000), (50_000, 60_000), (700_000, 701_000)];
    let part = |request: &Request| {
        let end = request.lba.0 + u64::from(request.sectors);
        parts.iter().position(|&(from, to)| request.lba.0 >= from && end <= to)
    };
    assert!(requests.iter().all(|request| part(request).is_some()));
    assert!(requests.iter().all(|request| request.flags == RequestFlags::RAW));
    for index in 0..3 {
        let found = share(&requests, |request| part(request) == Some(index));
        assert!((found - 1.0 / 3.0).abs() < 0.02, "{found}");
    }
    let wrong = |more: &str| {
        let text = format!(
            "requests = 1\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4\ninter_arrival.constant_ms = 1\n{more}"
        );
        WorkloadSpec::from_toml("test", &text).unwrap_err().to_string()
    };
    assert!(wrong("ranges_lba = [[5, 4]]").contains("stream.0.ranges_lba"));
    assert!(wrong("ranges_percent = [[5, 101]]").contains("stream.0.ranges_percent"));
    assert!(wrong("range_lba = [0, 9]\nranges_percent = [[5, 6]]").contains("not both"));
}

#[test]
fn a_stream_ends_with_its_first_request_past_a_century() {
    let rest = "read_fraction = 0\nsize.fixed_kib = 8";
    let open = make(&format!("requests = 100\n[[stream]]\n{rest}\ninter_arrival.constant_ms = 3e12\n"));
    let arrivals: Vec<Nanos> = open.iter().map(|request| request.arrival).collect();
    assert_eq!(arrivals, [Nanos::from_ms(3e12), Nanos(LATEST.0 + 1)]);
    let text = format!("requests = 100\n[[stream]]\n{rest}\nthink.constant_ms = 3e12\n");
    let spec = WorkloadSpec::from_toml("test", &text).unwrap();
    let mut users = spec.generate(&devices(), None, None).unwrap().closed.unwrap();
    let first = users.start(0).unwrap();
    assert!(matches!(users.call(0, first), Call::Issue(_)));
    assert_eq!(users.issued(0, 0, first), None);
    let (_, second) = users.completed(0, 0, first).unwrap();
    assert_eq!(second, Nanos(LATEST.0 + 1));
    assert!(matches!(users.call(0, second), Call::Issue(_)));
    users.issued(0, 1, second);
    assert_eq!(users.completed(0, 1, second), None);
}

#[test]
fn times_past_a_century_are_refused_where_they_stand() {
    for (line, key) in [
        ("inter_arrival.exponential_ms = 1e13", "inter_arrival"),
        ("inter_arrival.constant_ms = 1\nstart_s = 1e10", "start_s"),
        ("inter_arrival.constant_ms = 1\nburst = { every_s = 1e10, requests.fixed = 2 }", "burst.every_s"),
        ("burst = { every_s = 1, requests.fixed = 2, within_ms = inf }", "burst.within_ms"),
    ] {
        let text = format!("requests = 1\n[[stream]]\nread_fraction = 0\nsize.fixed_kib = 8\n{line}\n");
        let problem = WorkloadSpec::from_toml("test", &text).unwrap_err().to_string();
        assert!(problem.contains(&format!("`stream.0.{key}`")), "{line}: {problem}");
    }
}
