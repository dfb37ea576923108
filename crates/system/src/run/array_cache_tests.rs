//! Runs with a controller that has a cache, in its memory or on another volume.

use std::collections::BTreeSet;
use std::sync::Arc;

use headstack_trace::{InMemory, Op, Request};
use headstack_units::{Lba, Nanos, RequestFlags};
use proptest::prelude::*;

use super::*;
use crate::record::Keep;
use crate::spec::SystemConfig;
use crate::workload::WorkloadSpec;

const MEMORY: &str = r#"
[host]
scheduler = "c-look"
[volume.v]
level = "raid-0"
stripe_unit_kib = 4
drives = ["hp-97560", "hp-97560"]
[volume.v.cache]
requests = 1
[volume.v.cache.memory]
size_kib = 16
line_kib = 2
part_kib = 8
"#;

/// Lines, and sectors in each.
const LINES: usize = 8;
const LINE: u64 = 4;

const DEVICE: &str = r#"
[volume.slow]
drives = ["hp-97560"]
[volume.slow.cache.device]
volume = "fast"
idle_ms = 500
[volume.fast]
drives = ["hp-97560"]
"#;

fn system(text: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    Arc::new(System::new(config(text, pairs).unwrap_or_else(|error| panic!("{error}"))).unwrap())
}

fn config(text: &str, pairs: &[(&str, &str)]) -> Result<SystemConfig, SystemError> {
    let source = crate::library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    let set: Vec<(String, String)> =
        pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    SystemConfig::from_source(&source, &set)
}

fn go(system: &Arc<System>, requests: &[Request]) -> (Vec<CompletionRow>, Summary) {
    let mut kept = Keep::default();
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    let summary = run(system, input, &RunOptions::default(), &mut kept, &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    kept.rows.sort_by_key(|row| row.id);
    (kept.rows, summary)
}

fn request(at_ms: f64, op: Op, lba: u64, sectors: u32) -> Request {
    Request::new(Nanos::from_ms(at_ms), op, Lba(lba), sectors)
}

fn commands(summary: &Summary) -> u64 {
    summary.drives.iter().map(|drive| drive.commands).sum()
}

#[test]
fn a_flush_alone_ends_in_the_controller() {
    for text in [MEMORY, DEVICE] {
        let write = Request::new(Nanos(0), Op::Write, Lba(8), 4);
        let flush = Request::new(Nanos(900_000_000), Op::Write, Lba(0), 0);
        let flush = Request { flags: RequestFlags::FLUSH, ..flush };
        let (rows, summary) = go(&system(text, &[]), &[write, flush]);
        assert_eq!((rows.len(), summary.requests), (2, 2));
        assert_eq!((rows[1].id, rows[1].finish), (1, flush.arrival));
    }
}

#[test]
fn what_is_in_memory_takes_no_time_and_no_command() {
    let requests =
        [request(0.0, Op::Write, 100, 8), request(100.0, Op::Read, 102, 4), request(200.0, Op::Read, 100, 9)];
    let (rows, summary) = go(&system(MEMORY, &[]), &requests);
    let times: Vec<_> = rows.iter().map(CompletionRow::response).collect();
    assert_eq!(times[..2], [Nanos::ZERO, Nanos::ZERO]);
    // Only the ninth sector is missing.
    assert!(times[2] > Nanos::ZERO);
    assert_eq!((commands(&summary), summary.mib_per_s > 0.0), (1, true));
    let cache = &summary.array_caches[0];
    assert_eq!((cache.read_hits, cache.read_misses, cache.fetches, cache.destages), (1, 1, 1, 0));
    assert_eq!((cache.writes, cache.dirty_sectors_at_end), (1, 8));
}

#[test]
fn a_write_through_takes_the_time_of_the_drives_and_one_behind_takes_none() {
    let requests: Vec<Request> =
        (0..20_u64).map(|i| request(60.0 * i as f64, Op::Write, i * 9001, 6)).collect();
    let plain = MEMORY.split("[volume.v.cache]").next().unwrap();
    let (alone, _) = go(&system(plain, &[]), &requests);
    for (policy, is_through) in [("\"write-through\"", true), ("\"write-behind\"", false)] {
        let system = system(MEMORY, &[("volume.v.cache.memory.write_policy", policy)]);
        let (rows, summary) = go(&system, &requests);
        for (row, alone) in rows.iter().zip(&alone) {
            let expected = if is_through { alone.response() } else { Nanos::ZERO };
            assert_eq!(row.response(), expected, "{policy}");
            assert_eq!(row.phases.total(), row.response());
            if is_through {
                assert_eq!(row.phases, alone.phases);
            }
        }
        assert!(commands(&summary) >= 20);
        assert_eq!(summary.array_caches[0].dirty_sectors_at_end, 0);
    }
}

#[test]
fn what_the_controller_does_not_work_on_waits_in_the_driver_s_queue() {
    let requests =
        [request(0.0, Op::Read, 0, 4), request(0.1, Op::Read, 900_000, 4), request(0.2, Op::Read, 5_000, 4)];
    let (rows, _) = go(&system(MEMORY, &[]), &requests);
    // In the order of c-look, one after the other.
    assert!(rows[0].finish < rows[2].finish && rows[2].finish < rows[1].finish);
    assert_eq!(rows[2].phases.queue, rows[0].finish - rows[2].arrival);
    assert_eq!(rows[1].phases.queue, rows[2].finish - rows[1].arrival);
    let (both, _) = go(&system(MEMORY, &[("volume.v.cache.requests", "3")]), &requests);
    assert!(both[1].finish < rows[1].finish);
}

#[test]
fn dirty_lines_are_written_when_they_must_make_room_and_on_the_set_occasions() {
    let write = request(0.0, Op::Write, 0, 4);
    // All on the other drive than what was written.
    let reads = (1..=LINES as u64).map(|i| request(100.0 * i as f64, Op::Read, i * 2000 + 8, 4));
    let requests: Vec<Request> = [write].into_iter().chain(reads).collect();
    let destages = |pairs: &[(&str, &str)]| {
        // A write takes its drive most of a revolution, which is more than a read can make up for.
        let through = ("drive.*.write_policy", "{ write-through = {} }");
        let pairs: Vec<_> = pairs.iter().copied().chain([through]).collect();
        let (rows, summary) = go(&system(MEMORY, &pairs), &requests);
        (summary.array_caches[0].destages, rows.last().unwrap().response())
    };
    // The last read finds the written line the oldest: it waits for that as well.
    let (count, last) = destages(&[]);
    assert_eq!(count, 1);
    let (count, sooner) = destages(&[("volume.v.cache.memory.room", "\"next-clean\"")]);
    assert_eq!(count, 1);
    assert!(sooner < last, "{sooner:?} {last:?}");
    for occasion in [("idle_ms", "50.0"), ("write_every_s", "0.35")] {
        let (count, other) = destages(&[(&format!("volume.v.cache.memory.{}", occasion.0), occasion.1)]);
        assert_eq!(count, 1);
        assert!(other < last, "{occasion:?}");
    }
}

#[test]
fn adjacent_dirty_lines_go_together_when_there_is_time_and_alone_when_room_is_wanted() {
    let lines = [2_u64, 0, 1, 5].map(|line| request(5.0 * line as f64, Op::Write, line * LINE, 4));
    let mut requests = lines.to_vec();
    requests.sort_by_key(|request| request.arrival);
    requests.push(request(900.0, Op::Read, 8, 4));
    let count = |pairs: &[(&str, &str)], requests: &[Request]| {
        go(&system(MEMORY, pairs), requests).1.array_caches[0].destages
    };
    // Lines 0, 1 and 2 are one command, line 5 another.
    let idle = ("volume.v.cache.memory.idle_ms", "50.0");
    assert_eq!(count(&[idle], &requests), 2);
    assert_eq!(count(&[idle, ("volume.v.cache.memory.destage_lines", "2")], &requests), 3);
    assert_eq!(count(&[], &requests), 0);
    requests
        .extend((1..=8_u32).map(|i| request(900.0 + 100.0 * f64::from(i), Op::Read, 1000 * u64::from(i), 4)));
    assert_eq!(count(&[], &requests), 4);
}

/// Sectors that are held and those of them that are dirty, line by line, the least recently used line first.
#[derive(Default)]
struct Twin {
    lines: Vec<(u64, BTreeSet<u64>, BTreeSet<u64>)>,
    counts: [u64; 4],
}

impl Twin {
    fn serve(&mut self, op: Op, from: u64, end: u64) {
        let held = |lines: &Self, sector: &u64| lines.lines.iter().any(|(_, held, _)| held.contains(sector));
        let is_hit = (from..end).all(|sector| held(self, &sector));
        for number in from / LINE..end.div_ceil(LINE) {
            let known = self.lines.iter().position(|(line, ..)| *line == number);
            let line = known.map(|known| self.lines.remove(known));
            self.lines.push(line.unwrap_or((number, BTreeSet::new(), BTreeSet::new())));
        }
        while self.lines.len() > LINES {
            if self.lines[0].2.is_empty() {
                self.lines.remove(0);
            } else {
                self.destage();
            }
        }
        let [hits, misses, fetches, _] = &mut self.counts;
        if op == Op::Read {
            *(if is_hit { hits } else { misses }) += 1;
            let missing: Vec<u64> = (from..end)
                .filter(|sector| !self.lines.iter().any(|(_, held, _)| held.contains(sector)))
                .collect();
            let begins = |at: usize| at == 0 || missing[at - 1] + 1 != missing[at];
            *fetches += (0..missing.len()).filter(|&at| begins(at)).count() as u64;
        }
        for sector in from..end {
            let line = self.lines.iter_mut().find(|(line, ..)| *line == sector / LINE).unwrap();
            line.1.insert(sector);
            if op == Op::Write {
                line.2.insert(sector);
            }
        }
    }

    /// From the oldest line's first dirty sector on, as long as sectors are held, to where they are dirty.
    fn destage(&mut self) {
        let (_, held, dirty) = &mut self.lines[0];
        let first = *dirty.first().unwrap();
        let end = (first..first + 10_000).find(|at| !held.contains(at)).unwrap();
        dirty.retain(|at| *at >= end);
        self.counts[3] += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// One request at a time, the memory does what a list of sets of sectors does.
    #[test]
    fn the_memory_is_a_list_of_sets_of_sectors(
        steps in prop::collection::vec((any::<bool>(), 0_u64..90, 1_u32..14), 1..120),
    ) {
        let requests: Vec<Request> = steps
            .iter()
            .enumerate()
            .map(|(i, &(read, lba, sectors))| {
                request(400.0 * i as f64, if read { Op::Read } else { Op::Write }, lba, sectors)
            })
            .collect();
        let mut twin = Twin::default();
        for request in &requests {
            twin.serve(request.op, request.lba.0, request.lba.0 + u64::from(request.sectors));
        }
        let (rows, summary) = go(&system(MEMORY, &[]), &requests);
        let cache = &summary.array_caches[0];
        prop_assert_eq!([cache.read_hits, cache.read_misses, cache.fetches, cache.destages], twin.counts);
        let dirty: usize = twin.lines.iter().map(|(.., dirty)| dirty.len()).sum();
        prop_assert_eq!(cache.dirty_sectors_at_end, dirty as u64);
        prop_assert!(rows.iter().all(|row| row.phases.total() == row.response()));
    }

    /// Whatever comes at once, every request is completed once, and its phases are its response.
    #[test]
    fn many_requests_at_a_time_all_complete(
        steps in prop::collection::vec((any::<bool>(), 0_u64..200, 1_u32..40, 0.0_f64..20.0), 1..150),
        limit in 1_u32..9,
        policy in prop::sample::select(vec!["write-back", "write-behind", "write-through"]),
        room in prop::sample::select(vec!["wait", "next-clean"]),
        ahead in prop::sample::select(vec!["none", "front", "rest", "line"]),
        idle in any::<bool>(),
    ) {
        let mut at = 0.0;
        let requests: Vec<Request> = steps
            .iter()
            .map(|&(read, lba, sectors, gap)| {
                at += gap;
                request(at, if read { Op::Read } else { Op::Write }, lba, sectors)
            })
            .collect();
        let (limit, policy) = (limit.to_string(), format!("\"{policy}\""));
        let (room, ahead) = (format!("\"{room}\""), format!("\"{ahead}\""));
        let mut pairs = vec![
            ("volume.v.cache.requests", limit.as_str()),
            ("volume.v.cache.memory.write_policy", policy.as_str()),
            ("volume.v.cache.memory.room", room.as_str()),
            ("volume.v.cache.memory.read_ahead", ahead.as_str()),
        ];
        if idle && policy == "\"write-back\"" {
            pairs.push(("volume.v.cache.memory.idle_ms", "5.0"));
        }
        let (rows, _) = go(&system(MEMORY, &pairs), &requests);
        prop_assert_eq!(rows.len(), requests.len());
        for row in &rows {
            prop_assert_eq!(row.phases.total(), row.response());
        }
    }
}

#[test]
fn a_cache_device_has_what_was_read_and_written_and_gives_it_back_when_idle() {
    let requests = [
        request(0.0, Op::Read, 1_000, 8),
        request(400.0, Op::Read, 1_000, 8),
        request(800.0, Op::Write, 50_000, 8),
        request(2_000.0, Op::Read, 50_000, 8),
    ];
    let system = system(DEVICE, &[]);
    assert_eq!(system.devices().len(), 1, "the cache is not addressed");
    let (rows, summary) = go(&system, &requests);
    let sent: Vec<_> = summary.drives.iter().map(|drive| (drive.name.as_str(), drive.commands)).collect();
    // The first read; and the written sectors, when the volume had been idle for half a second. The cache: what was read, twice
    // a hit, what was written, and that again to move it.
    assert_eq!(sent, [("slow.0", 2), ("fast.0", 5)]);
    let cache = &summary.array_caches[0];
    assert_eq!((cache.read_hits, cache.read_misses, cache.populations), (2, 1, 1));
    assert_eq!((cache.writes, cache.destages, cache.dirty_sectors_at_end), (1, 1, 0));
    assert!(rows.iter().all(|row| row.phases.total() == row.response()));
    let (_, through) = go(
        &self::system(DEVICE, &[("volume.slow.cache.device.write_policy", "\"write-through\"")]),
        &requests,
    );
    assert_eq!(through.drives.iter().map(|drive| drive.commands).collect::<Vec<_>>(), [2, 4]);
}

#[test]
fn users_go_on_from_what_the_memory_answers() {
    let text = r"
requests = 400
[[stream]]
read_fraction = 0.3
size.fixed_kib = 4
align_kib = 4
range_lba = [0, 63]
users = 3
think.constant_ms = 2
[[stream]]
read_fraction = 0.5
size.fixed_kib = 4
inter_arrival.exponential_ms = 5
";
    let system = system(MEMORY, &[("volume.v.cache.requests", "4")]);
    let spec = WorkloadSpec::from_toml("test", text).unwrap();
    let generator = spec.generate(&system.devices(), None, None).unwrap();
    let mut kept = Keep::default();
    run(&system, Input::Generator(generator), &RunOptions::default(), &mut kept, &mut |_| {}).unwrap();
    // So many of the users, and so many that come by themselves.
    assert_eq!(kept.rows.len(), 800);
    let think = Nanos::from_ms(2.0);
    let users: Vec<_> = kept.rows.iter().filter(|row| row.lba.0 < 64).collect();
    assert!(users.iter().filter(|row| row.response() == Nanos::ZERO).count() > 20);
    let follows = |row: &&&CompletionRow| users.iter().any(|other| other.finish + think == row.arrival);
    // But for the first of each user, and stray requests of the others.
    assert!(users.iter().filter(follows).count() + 8 > users.len());
}

#[test]
fn a_cache_that_cannot_be_is_refused() {
    for (text, path, value, problem) in [
        (MEMORY, "volume.v.cache.requests", "0", "is not between 1 and 65536"),
        (MEMORY, "volume.v.cache.memory.line_kib", "0.3", "not a positive multiple of the sector"),
        (MEMORY, "volume.v.cache.memory.size_kib", "8", "too small for parts of 8 KiB"),
        (MEMORY, "volume.v.cache.memory.fetch_lines", "0", "is not between 1 and 65536"),
        (MEMORY, "host.scheduler", "\"sptf\"", "knows addresses only"),
        (MEMORY, "volume.v.cache.scheduler", "\"spctf\"", "`volume.v.cache.scheduler`"),
        (DEVICE, "volume.slow.cache.device.volume", "\"slow\"", "volume for a cache"),
        (DEVICE, "volume.slow.cache.device.volume", "\"fats\"", "fast"),
        (DEVICE, "volume.fast.cache.memory", "{ size_kib = 1024.0, line_kib = 8.0 }", "is itself a cache"),
        (DEVICE, "volume.slow.cache.memory", "{ size_kib = 1024.0, line_kib = 8.0 }", "either a table"),
    ] {
        let error = config(text, &[(path, value)]).unwrap_err();
        let message = format!("{error}; {}", error.hint().unwrap_or_default());
        assert!(message.contains(problem), "{path} = {value}: {message}");
    }
    let requests = [request(0.0, Op::Read, 0, 8)];
    let options = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    let refused = run(&system(MEMORY, &[]), input, &options, &mut Keep::default(), &mut |_| {}).unwrap_err();
    assert!(refused.hint().unwrap_or_default().contains("volume.NAME.cache"), "{refused}");
}

/// A cache that takes data to its disks behind the last request is part of the run, which lasts until they are there.
#[test]
fn a_run_lasts_until_a_cache_has_written_behind_its_requests() {
    let text = MEMORY.replace("part_kib = 8", "part_kib = 8\nwrite_policy = \"write-behind\"");
    let system = system(&text, &[]);
    let (rows, summary) = go(&system, &[request(0.0, Op::Write, 0, 24)]);
    let last = rows.iter().map(|row| row.finish.as_s()).fold(0.0, f64::max);
    assert!(summary.simulated_s > last + 0.001, "{} of {last} s", summary.simulated_s);
    for drive in &summary.drives {
        assert!(drive.utilisation > 0.0 && drive.utilisation <= 1.0, "{drive:?}");
    }
    assert!(summary.buses.iter().all(|bus| bus.utilisation <= 1.0), "{:?}", summary.buses);
}
