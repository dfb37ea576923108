use super::super::Generator as Made;
use super::*;

const SECTORS: u64 = 1 << 20;

fn made(head: &str, streams: &[&str], seed: u64) -> super::super::ClosedLoop {
    let one = |rest: &&str| {
        format!("[[stream]]\nread_fraction = 0.6\nsize.exponential_kib = 4.0\nalign_kib = 4.0\n{rest}\n")
    };
    let text = format!("{head}\n{}", streams.iter().map(one).collect::<String>());
    let spec = WorkloadSpec::from_toml("test", &text).unwrap_or_else(|error| panic!("{error}"));
    let devices = [DeviceShape { name: "a".to_owned(), sectors: SECTORS, sector_bytes: 512 }];
    let Made { open, closed } = spec.generate(&devices, Some(seed), None).unwrap();
    assert!(open.is_none());
    closed.unwrap()
}

/// When and what they ask for, if each request takes so long.
fn asked(head: &str, streams: &[&str], seed: u64, service_ms: f64) -> Vec<Request> {
    let mut all = made(head, streams, seed);
    let mut found: Vec<Request> = Vec::new();
    // Calls and completions by instant; a completion before the call at the same one.
    let mut events: Vec<(Nanos, u8, u64)> = Vec::new();
    for processor in 0..all.users() {
        events.extend(all.start(processor).map(|at| (at, 1, u64::from(processor))));
    }
    while let Some(&event) = events.iter().min() {
        events.retain(|other| *other != event);
        let (now, kind, whose) = event;
        if kind == 0 {
            events.extend(all.completed(0, whose, now).map(|(user, at)| (at, 1, u64::from(user))));
            continue;
        }
        let next = match all.call(whose as u32, now) {
            Call::Nothing => None,
            Call::Again(at) => Some(at),
            Call::Issue(request) => {
                let id = found.len() as u64;
                found.push(request);
                events.push((now + Nanos::from_ms(service_ms), 0, id));
                all.issued(whose as u32, id, now)
            }
        };
        events.extend(next.map(|at| (at, 1, whose)));
    }
    found
}

fn gaps_ms(requests: &[Request]) -> Vec<f64> {
    requests.windows(2).map(|pair| (pair[1].arrival - pair[0].arrival).as_ms()).collect()
}

#[test]
fn the_numbers_are_those_of_the_published_generator() {
    // x' = 25214903917 x + 11 mod 2^48 from 65536 s + 13070: as `drand48`, but for the low 16 bits of the beginning.
    let mut draws = Draws::new(0);
    let first = (25_214_903_917_u64 * 13_070 + 11) % (1 << 48);
    assert_eq!(draws.unit(), first as f64 / (1_u64 << 48) as f64);
    let mut draws = Draws::new(7);
    let mean = (0..100_000).map(|_| draws.unit()).sum::<f64>() / 1e5;
    assert!((mean - 0.5).abs() < 0.005, "{mean}");
}

#[test]
fn one_processor_serves_the_last_of_those_that_never_wait() {
    let never = "think.constant_ms = 10\nwaits_fraction = 0.0";
    let first = format!("{never}\nrange_lba = [0, 99999]");
    let last = format!("{never}\nrange_lba = [200000, 299999]");
    let alone = asked("requests = 50\nprocesses.processors = 1", &[&first, &last], 1, 3.0);
    assert!(alone.iter().all(|request| request.lba.0 >= 200_000));
    assert!(gaps_ms(&alone).iter().all(|gap| (gap - 10.0).abs() < 1e-9));
    let both = asked("requests = 50\nprocesses.processors = 2", &[&first, &last], 1, 3.0);
    let of_last = both.iter().filter(|request| request.lba.0 >= 200_000).count();
    assert_eq!((both.len() / 2, of_last), (of_last, both.len() / 2));
}

#[test]
fn while_one_sleeps_the_next_computes() {
    // Both wait for all: computing takes turns, 10 ms each, and requests of 4 ms are done before the turn comes again.
    let waits = "think.constant_ms = 10";
    let found = asked("requests = 40\nprocesses.processors = 1", &[waits, waits], 1, 4.0);
    assert!(gaps_ms(&found).iter().all(|gap| (gap - 10.0).abs() < 1e-9), "{:?}", gaps_ms(&found));
    // Computing twice as slow.
    let head = "requests = 40\n[processes]\nprocessors = 1\ntime_scale = 2.0";
    let slow = asked(head, &[waits, waits], 1, 4.0);
    assert!(gaps_ms(&slow).iter().all(|gap| (gap - 20.0).abs() < 1e-9));
}

#[test]
fn a_processor_without_work_is_not_woken_but_for_the_first() {
    // Each request takes longer than all computing: soon both processes sleep, and both processors are idle. From then on the
    // first serves both, so that computing takes turns: 10 ms, with 30 ms of waiting behind it.
    let waits = "think.constant_ms = 10";
    let found = asked("requests = 60\nprocesses.processors = 2", &[waits, waits], 1, 30.0);
    assert_eq!(found[0].arrival, found[1].arrival);
    let later = gaps_ms(&found[2..]);
    // 40 apart for each, the second's computing behind that of the first: 10 and 30.
    assert!(later.iter().all(|gap| (gap - 10.0).abs() < 1e-9 || (gap - 30.0).abs() < 1e-9), "{later:?}");
}

#[test]
fn a_limit_is_waited_for_within_the_computing_that_reaches_it() {
    // Limits of 5 ms, computing of 10: each counts from its request's drawing, so that it is 15 of which the next 10 do not
    // reach, and do not take away either. Nobody ever waits.
    let limited =
        "think.constant_ms = 10\nwaits_fraction = 0.0\nlimited_fraction = 1.0\ntime_limit.constant_ms = 5";
    let never = asked("requests = 30\nprocesses.processors = 1", &[limited], 1, 1_000.0);
    assert!(gaps_ms(&never).iter().all(|gap| (gap - 10.0).abs() < 1e-9), "{:?}", gaps_ms(&never));
    // Computing of 10 or 40 ms: the long one reaches limits of 15 from before it.
    let long = limited.replace("think.constant_ms = 10", "think.two_value_ms = [10.0, 40.0, 0.5]");
    let waits = asked("requests = 200\nprocesses.processors = 1", &[&long], 1, 1_000.0);
    assert!(gaps_ms(&waits).iter().any(|gap| *gap > 900.0));
}

#[test]
fn the_seed_makes_the_first_requests_only() {
    let never = "think.exponential_ms = 10\nwaits_fraction = 0.0";
    let head = "requests = 100\nprocesses.processors = 1";
    let (one, other) = (asked(head, &[never], 1, 1.0), asked(head, &[never], 2, 1.0));
    assert_ne!(one[0].lba, other[0].lba);
    let places = |requests: &[Request]| requests[1..].iter().map(|request| request.lba).collect::<Vec<_>>();
    assert_eq!(places(&one), places(&other));
    assert_eq!(one, asked(head, &[never], 1, 1.0));
}

#[test]
fn what_a_process_has_no_place_for_is_refused_by_name() {
    let refused = |text: &str, part: &str| {
        let found = WorkloadSpec::from_toml("test", text).unwrap_err().to_string();
        assert!(found.contains(part), "{found}");
    };
    let text =
        "requests = 9\n[processes]\nprocessors = 1\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4.0\n";
    refused(&text.replace("processors = 1", "processors = 0"), "`processes.processors`");
    refused(&text.replace("processors = 1", "processors = 1\ntime_scale = -1.0"), "`processes.time_scale`");
    refused(text, "`stream.0.think`");
    refused(
        &format!("{text}think.constant_ms = 1\nusers = 4"),
        "`stream.0.users`: not known where streams are",
    );
    refused(&format!("{text}think.constant_ms = 1\nflush_fraction = 0.5"), "`stream.0.flush_fraction`");
}

#[test]
fn requests_that_fit_nowhere_are_said_to() {
    let text = "requests = 9\nprocesses.processors = 1\n[[stream]]\nread_fraction = 1.0\nsize.fixed_kib = 4096.0\n\
                align_kib = 4.0\nrange_lba = [0, 99]\nthink.constant_ms = 1";
    let spec = WorkloadSpec::from_toml("test", text).unwrap();
    let devices = [DeviceShape { name: "a".to_owned(), sectors: SECTORS, sector_bytes: 512 }];
    let found = spec.generate(&devices, None, None).unwrap_err().to_string();
    assert!(found.contains("finds no place"), "{found}");
}
