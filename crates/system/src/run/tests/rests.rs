//! What a drive does while it rests, and how long it rests, where a run ends within a command or a measured replay goes on sooner.

use super::*;

const MANY: (&str, &str) = ("host.queue_limit", "1000000");

fn go(system: &Arc<System>, requests: &[Request], options: &RunOptions) -> Summary {
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    run(system, input, options, &mut Keep::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn read(at: Nanos, lba: u64, sectors: u32) -> Request {
    Request::new(at, Op::Read, Lba(lba), sectors)
}

fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

/// A drive that sinks into a condition after 0.1 s, in no time, and needs 10 ms to come back.
const SLEEPY: &str = "{ rated_rpm = 5400.0, idle_w = 5.3, seek_w = 12.3, rotation_w = 6.3, read_w = 9.4, write_w = 9.9, \
                      standby_w = 1.0, condition = [{ name = \"idle_b\", after_s = 0.1, watts = 4.0, \
                      enter = { time_s = 0.0, energy_j = 0.0 }, recover = { time_s = 0.01, energy_j = 0.3 } }] }";

fn rested_s(summary: &Summary) -> f64 {
    let conditions = &summary.drives[0].conditions;
    conditions.iter().map(|times| times.entering_s + times.within_s + times.recovering_s).sum()
}

/// The buffer holds more than a long read, so that the arm rests while the bus takes the data away: longer than it takes to sink
/// into the condition, and several times within one read.
#[test]
fn a_run_that_is_cut_within_a_command_tells_of_no_rest_after_the_cut() {
    let requests = [
        read(Nanos(6_413_662), 822_199, 3_082),
        read(Nanos(11_020_773), 832_368, 4_096),
        read(Nanos(11_020_773), 1_296_776, 1),
    ];
    for buffer in ["64", "262144"] {
        let set = [("drive.*.power", SLEEPY), ("drive.*.buffer.size_kib", buffer)];
        let (alone, limited) = (lone("hp-c2249a", &set), lone("hp-c2249a", &[set[0], set[1], MANY]));
        let whole = go(&alone, &requests, &RunOptions::default());
        for cut in [7, 11, 12, 50, 110, 200, 300, 500, 600, 800, 3_000] {
            let until = RunOptions { until: Some(ms(cut)), ..RunOptions::default() };
            let (one, other) = (go(&alone, &requests, &until), go(&limited, &requests, &until));
            let about = format!("{buffer} KiB, {cut} ms: {:?}", one.drives[0]);
            assert_eq!(one.drives, other.drives, "{about}");
            let watts = one.drives[0].power.as_ref().unwrap();
            assert!(watts.by_state_w.idle >= 0.0, "{about}");
            assert!(rested_s(&one) <= one.simulated_s, "{about}");
            assert!(rested_s(&one) <= rested_s(&whole) + 1e-12, "{about}");
        }
    }
}

#[test]
fn a_measured_replay_tells_of_no_rest_after_the_measured_completion() {
    let power = SLEEPY.replace("5400", "5396");
    let set = [("drive.*.power", power.as_str()), ("drive.*.buffer.size_kib", "262144")];
    for more in [&[][..], &[MANY]] {
        let system = lone("hp-c3323a", &[&set, more].concat());
        let lbas = [1_051_912, 0, 1_000_000, 500_000];
        let requests: Vec<Request> = (0..)
            .zip(lbas)
            .map(|(number, lba)| {
                let at = ms(number * 2_000);
                Request { start: at, finish: at + ms(650), ..read(at, lba, 4_096) }
            })
            .collect();
        let open = go(&system, &requests, &RunOptions::default());
        assert!(open.response_ms.mean.unwrap() > 400.0, "the bus is slow: {:?}", open.response_ms);
        for finish in [5, 100, 200, 300, 400, 650] {
            let sooner: Vec<Request> =
                requests.iter().map(|&read| Request { finish: read.start + ms(finish), ..read }).collect();
            let measured = RunOptions { replay: Replay::Measured, ..RunOptions::default() };
            let summary = go(&system, &sooner, &measured);
            let drive = &summary.drives[0];
            let worked_s = drive.utilisation * summary.simulated_s;
            assert!(drive.power.as_ref().unwrap().by_state_w.idle >= 0.0, "{finish} ms: {drive:?}");
            let recovering_s: f64 = drive.conditions.iter().map(|times| times.recovering_s).sum();
            // Waking up is work.
            let all_s = worked_s + rested_s(&summary) - recovering_s;
            assert!(all_s <= summary.simulated_s + 1e-9, "{finish} ms: {drive:?}");
        }
    }
}

/// 24 recalibrations come before the second read.
#[test]
fn what_a_drive_recalibrated_in_a_pause_counts_wherever_the_run_is_cut() {
    for mode in ["by-host", "by-drive"] {
        let recalibration = format!("{{ mode = \"{mode}\", interval_s = 0.2, duration_ms = 20.0 }}");
        let set = [("drive.*.recalibration", recalibration.as_str())];
        for more in [&[][..], &[MANY]] {
            let system = lone("hp-97560", &[&set, more].concat());
            // The second read needs the arm, or is in the cache.
            for second in [1_500_000, 1_000] {
                let requests = [read(Nanos::ZERO, 1_000, 64), read(ms(5_000), second, 64)];
                let recalibrated_s = |until: u64| {
                    let options = RunOptions { until: Some(Nanos(until)), ..RunOptions::default() };
                    let summary = go(&system, &requests, &options);
                    summary.drives[0].utilisation * summary.simulated_s
                };
                let told = [4_999_999_999, 5_001_000_000].map(recalibrated_s);
                for told_s in told {
                    assert!((0.48..0.52).contains(&told_s), "{mode} {more:?} {second}: {told:?}");
                }
            }
        }
    }
}

/// A write that was reported complete is on its way to the media where counting begins.
#[test]
fn an_early_write_under_way_where_counting_begins_counts() {
    let write = Request::new(Nanos::ZERO, Op::Write, Lba(7_865), 1_024);
    let requests = [write, read(ms(50), 1_000_000, 8)];
    for more in [&[][..], &[MANY]] {
        let system = lone("ibm-dtta-351010", more);
        let background_s = |warmup| {
            let options = RunOptions { warmup, ..RunOptions::default() };
            go(&system, &requests, &options).drives[0].busy_s.background
        };
        let whole_s = background_s(Warmup::None);
        assert!(whole_s > 0.05, "{whole_s}");
        assert_eq!(background_s(Warmup::Requests(1)), whole_s, "{more:?}");
    }
}
