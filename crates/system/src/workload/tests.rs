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
