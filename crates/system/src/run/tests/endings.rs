//! Requests that end by a duration limit.

use super::*;

const ENDS: &str =
    "[{limit_ms=30.0, policy=\"abort\"}, {inactive_ms=15.0, inactive_policy=\"complete-unavailable\"}]";

/// A third of the requests with the limit `number`, twelve at an instant, over two drives in stripes of 64 sectors.
fn ending(number: u16, level: &str) -> (Vec<Request>, Keep, Summary) {
    let text = format!(
        "[volume.v]\nlevel = \"{level}\"\nstripe_unit_kib = 256\ndrives = [\"nearline-22tb\", \"nearline-22tb\"]\n"
    );
    let text = if level == "raid-0" { text } else { text.replace("stripe_unit_kib = 256\n", "") };
    let system = system(&text, &[("drive.*.controller.duration_limits", ENDS)]);
    let requests: Vec<Request> = (0..600_u64)
        .map(|i| {
            let lba = i * 104_729 * 4096 % 60_000_000_000 / 128 * 128 + 120;
            let flags = RequestFlags::limited_by(if i % 3 == 0 { number } else { 0 });
            Request { flags, ..Request::new(Nanos::from_ms(150.0 * (i / 12) as f64), Op::Read, Lba(lba), 16) }
        })
        .collect();
    let (kept, summary) = go(&system, source(&requests), &RunOptions::default());
    (requests, kept, summary)
}

#[test]
fn requests_that_end_by_a_limit_are_marked_and_counted_apart() {
    for (number, mark, level) in [
        (1, RequestFlags::ABORTED, "concatenation"),
        (2, RequestFlags::UNAVAILABLE, "concatenation"),
        (1, RequestFlags::ABORTED, "raid-0"),
    ] {
        let (requests, kept, summary) = ending(number, level);
        check_rows(&requests, &kept.rows);
        let ended: Vec<_> =
            kept.rows.iter().filter(|row| row.flags.has_any(RequestFlags::WITHOUT_DATA)).collect();
        assert!(ended.len() > 10, "{} of {number}", ended.len());
        assert!(ended.iter().all(|row| row.flags.contains(mark) && row.id.is_multiple_of(3)));
        let without = summary.without_data.unwrap();
        assert_eq!(without.aborted + without.unavailable, ended.len() as u64);
        assert_eq!((without.aborted > 0, without.unavailable > 0), (number == 1, number == 2));
        assert_eq!(summary.requests, (requests.len() - ended.len()) as u64);
        let longest = ended.iter().map(|row| row.response().as_ms()).fold(0.0, f64::max);
        // Across a border of the stripes, a request has what is slow of two drives.
        let limit = if number == 1 { 30.0 } else { 15.0 };
        assert!(level == "raid-0" || longest <= limit, "{longest}");
    }
}

/// The naive twin: the rows of a class, sorted.
#[test]
fn what_a_limit_holds_for_is_a_class_of_its_own() {
    let limits = ("drive.*.controller.duration_limits", "[{limit_ms=40.0}, {limit_ms=80.0}]");
    let system = system("[volume.v]\ndrives = [\"nearline-22tb\"]\n", &[limits]);
    let requests: Vec<Request> = (0..900_u64)
        .map(|i| {
            let lba = i * 104_729 * 4096 % 30_000_000_000 / 128 * 128;
            let op = if i % 4 == 3 { Op::Write } else { Op::Read };
            let flags = RequestFlags::limited_by(i as u16 % 3);
            Request { flags, ..Request::new(Nanos::from_ms(150.0 * (i / 12) as f64), op, Lba(lba), 16) }
        })
        .collect();
    let options = RunOptions { warmup: Warmup::Requests(90), ..RunOptions::default() };
    let (kept, summary) = go(&system, source(&requests), &options);
    let mut requests_of_all = 0;
    for class in &summary.by_duration_limit {
        let is_of = |row: &&CompletionRow| {
            let op = if row.op == Op::Read { "read" } else { "write" };
            row.id >= 90 && (op, row.flags.duration_limit()) == (class.op, class.duration_limit)
        };
        let mut times: Vec<f64> = kept.rows.iter().filter(is_of).map(|row| row.response().as_ms()).collect();
        times.sort_by(f64::total_cmp);
        requests_of_all += class.requests;
        assert_eq!(class.requests, times.len() as u64);
        assert_eq!(class.response_ms.p99, Some(times[(times.len() * 99).div_ceil(100) - 1]));
        assert_eq!(class.response_ms.max, times.last().copied());
    }
    assert_eq!((summary.by_duration_limit.len(), requests_of_all), (6, summary.requests));
    // A limit that is short is a short tail.
    let [none, short, ..] = &summary.by_duration_limit[..] else { panic!("reads come first") };
    assert_eq!((none.duration_limit, short.duration_limit), (0, 1));
    assert!(short.response_ms.p99 < none.response_ms.p99);
}

#[test]
fn drives_without_limits_have_no_classes() {
    let system = system("[volume.v]\ndrives = [\"nearline-22tb\"]\n", &[]);
    let requests = [Request::new(Nanos::ZERO, Op::Read, Lba(0), 16)];
    assert_eq!(go(&system, source(&requests), &RunOptions::default()).1.by_duration_limit, []);
}

#[test]
fn limits_that_end_commands_are_refused_where_nothing_knows_what_to_do_without_the_data() {
    let ends = ("drive.*.controller.duration_limits", ENDS);
    let mirror = "[volume.v]\nlevel = \"mirror\"\ndrives = [\"nearline-22tb\", \"nearline-22tb\"]\n";
    let source_of = |text: &str| crate::library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    let message = SystemConfig::from_source(&source_of(mirror), &set(&[ends])).unwrap_err().to_string();
    assert!(message.contains("end commands without their data"), "{message}");
    let lone = lone("nearline-22tb", &[("controller.duration_limits", ENDS)]);
    let requests = [Request::new(Nanos::ZERO, Op::Read, Lba(0), 8)];
    let options = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
    let refused = run(&lone, source(&requests), &options, &mut Discard, &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("duration limits do not end it"), "{refused}");
}
