//! Runs with a buffer cache in the host, and with a controller that takes only so many commands.

use std::sync::Arc;

use headstack_drive::command::Busy;
use headstack_trace::{InMemory, Op, Request, RequestFlags};
use headstack_units::{Lba, Nanos};
use proptest::prelude::*;

use super::*;
use crate::host::Origin;
use crate::record::{DriverRow, Keep, driver_schema, driver_to_batch};
use crate::spec::SystemConfig;
use crate::workload::WorkloadSpec;

const TWO_DRIVES: &str = r#"
[host]
cpu_ms_per_request = 0.5
[host.buffer_cache]
blocks = 64
block_kib = 4
cluster_blocks = 4
sync_every_s = 2.0
trickle_every_s = 0.3
trickle_blocks = 3
copy_us_per_kib = 10.0
[bus.one]
rate_mb_per_s = 5.0
outstanding = 3
[volume.a]
drives = ["hp-97560"]
bus = "one"
[volume.b]
drives = ["hp-97560"]
bus = "one"
"#;

fn system(text: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    let source = crate::library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    let set: Vec<(String, String)> =
        pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    let config = SystemConfig::from_source(&source, &set).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(System::new(config).unwrap())
}

fn go(system: &Arc<System>, requests: &[Request], options: &RunOptions) -> (Keep, Summary) {
    let mut kept = Keep::default();
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    let summary =
        run(system, input, options, &mut kept, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    (kept, summary)
}

fn request(at_ms: f64, op: Op, device: u32, lba: u64, sectors: u32) -> Request {
    Request { device, ..Request::new(Nanos::from_ms(at_ms), op, Lba(lba), sectors) }
}

/// `(gap in 0.1 ms, write?, device, where, sectors, flags)`
type Draft = (u64, bool, bool, u64, u32, u16);

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let gap = prop_oneof![Just(0), 0..300_u64, 0..20_000_u64];
    let flags = prop_oneof![
        8 => Just(0),
        1 => Just(RequestFlags::RAW.0),
        1 => Just(RequestFlags::FORCE_MEDIA.0)
    ];
    let place = prop_oneof![3 => 0..800_u64, 1 => 0..2_000_000_u64];
    prop::collection::vec((gap, any::<bool>(), any::<bool>(), place, 1..40_u32, flags), 1..120)
}

fn requests(drafts: &[Draft]) -> Vec<Request> {
    let mut arrival = 0.0;
    drafts
        .iter()
        .map(|&(gap, is_write, second, lba, sectors, flags)| {
            arrival += gap as f64 / 10.0;
            let op = if is_write { Op::Write } else { Op::Read };
            let mut one = request(arrival, op, u32::from(second), lba, sectors);
            one.flags = RequestFlags(flags);
            one
        })
        .collect()
}

/// Every request completes once; phases are responses; and what the cache counts is what the driver saw.
fn check(requests: &[Request], kept: &Keep, summary: &Summary, block_sectors: u64) {
    let mut ids: Vec<u64> = kept.rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..requests.len() as u64));
    for row in kept.rows.iter().chain(kept.driver.iter().map(|row| &row.row)) {
        assert_eq!(row.phases.total(), row.response(), "{row:?}");
        assert!(row.arrival <= row.start && row.start <= row.finish, "{row:?}");
    }
    let mut numbers: Vec<u64> = kept.driver.iter().map(|row| row.row.id).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..kept.driver.len() as u64));
    let cache = summary.buffer_cache.unwrap();
    let blocks = |origin: Origin| -> u64 {
        let of = kept.driver.iter().filter(|row| row.origin == origin);
        of.map(|row| u64::from(row.row.sectors).div_ceil(block_sectors)).sum()
    };
    let written = [
        (Origin::Sync, cache.written_by_sync),
        (Origin::Trickle, cache.written_by_trickle),
        (Origin::Eviction, cache.written_by_eviction),
        (Origin::Limit, cache.written_by_limit),
        (Origin::Through, cache.written_through),
    ];
    for (origin, count) in written {
        assert_eq!(blocks(origin), count, "{origin:?}");
    }
    assert_eq!(written.iter().map(|(_, count)| count).sum::<u64>() + cache.dirty_at_end, cache.dirtied);
    assert_eq!(cache.writing_at_end, 0);
    assert_eq!(cache.driver_reads + cache.driver_writes, kept.driver.len() as u64);
    let raw = requests.iter().filter(|request| request.flags.contains(RequestFlags::RAW)).count();
    assert_eq!(kept.driver.iter().filter(|row| row.origin == Origin::Raw).count(), raw);
}

/// Most commands between their start and their finish.
fn most_outstanding(rows: &[DriverRow]) -> usize {
    let at = |instant: Nanos| {
        rows.iter().filter(|row| row.row.start <= instant && row.row.finish > instant).count()
    };
    rows.iter().map(|row| at(row.row.start)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn requests_and_blocks_are_conserved(
        drafts in drafts(),
        blocks in prop_oneof![Just("2"), Just("9"), Just("64")],
        scheduler in prop_oneof![Just("fcfs"), Just("c-look+reads-first"), Just("sstf+concatenate(64 KiB)")],
        policy in prop_oneof![Just("write-back"), Just("write-through")],
    ) {
        let mut set = vec![("host.buffer_cache.blocks", blocks), ("host.scheduler", scheduler)];
        let text = if policy == "write-through" {
            set.push(("host.buffer_cache.write_policy", "write-through"));
            let timed = ["sync_every_s", "trickle_every_s", "trickle_blocks"];
            TWO_DRIVES.lines().filter(|line| !timed.iter().any(|key| line.starts_with(key))).fold(
                String::new(), |text, line| text + line + "\n")
        } else {
            TWO_DRIVES.to_owned()
        };
        let system = system(&text, &set);
        let requests = requests(&drafts);
        let (kept, summary) = go(&system, &requests, &RunOptions::default());
        check(&requests, &kept, &summary, 8);
        // Joined requests are one command.
        let most = if scheduler.contains("concatenate") { usize::MAX } else { 3 };
        prop_assert!(most_outstanding(&kept.driver) <= most);
        let (again, same) = go(&system, &requests, &RunOptions { batch: Some(1), ..RunOptions::default() });
        prop_assert_eq!(again.rows, kept.rows);
        prop_assert_eq!(again.driver, kept.driver);
        prop_assert_eq!(same.buffer_cache, summary.buffer_cache);
    }

    #[test]
    fn raw_requests_are_as_without_a_cache(drafts in drafts()) {
        let mut requests = requests(&drafts);
        for one in &mut requests {
            one.flags = RequestFlags::RAW;
        }
        let text = TWO_DRIVES.lines().filter(|line| !line.starts_with("sync") && !line.starts_with("trickle"));
        let with = text.fold(String::new(), |text, line| text + line + "\n");
        let keys = ["[host.buffer_cache]", "blocks", "block_kib", "cluster", "copy"];
        let lines = with.lines().filter(|line| !keys.iter().any(|key| line.starts_with(key)));
        let without = lines.fold(String::new(), |text, line| text + line + "\n");
        let (kept, _) = go(&system(&with, &[]), &requests, &RunOptions::default());
        let (plain, summary) = go(&system(&without, &[]), &requests, &RunOptions::default());
        prop_assert_eq!(&kept.rows, &plain.rows);
        prop_assert!(plain.driver.is_empty() && summary.buffer_cache.is_none());
        let driver: Vec<CompletionRow> = kept.driver.iter().map(|row| row.row).collect();
        prop_assert_eq!(driver, plain.rows);
    }
}

#[test]
fn hits_take_the_copy_and_misses_the_drive_too() {
    let system = system(&TWO_DRIVES.replace("trickle_every_s = 0.3\ntrickle_blocks = 3\n", ""), &[]);
    let requests = [
        request(0.0, Op::Read, 0, 800, 8),
        request(100.0, Op::Read, 0, 804, 2),
        request(200.0, Op::Write, 0, 800, 8),
        request(300.0, Op::Read, 1, 803, 2),
        // While that fetch is under way.
        request(301.0, Op::Read, 1, 804, 4),
    ];
    let (kept, summary) = go(&system, &requests, &RunOptions::default());
    check(&requests, &kept, &summary, 8);
    let mut rows = kept.rows.clone();
    rows.sort_by_key(|row| row.id);
    assert_eq!((rows[1].response(), rows[2].response()), (Nanos(10_000), Nanos(40_000)));
    let fetch = kept.driver[0].row;
    assert_eq!((rows[0].finish, rows[0].phases.seek), (fetch.finish + Nanos(40_000), fetch.phases.seek));
    assert_eq!(fetch.phases.overhead + Nanos(40_000), rows[0].phases.overhead);
    // The second fetch serves two requests: what the later one waited for it is not its own work.
    let second = kept.driver[1].row;
    assert_eq!((second.lba, second.sectors, second.device), (Lba(800), 8, 1));
    assert_eq!(rows[4].phases.other, second.finish - rows[4].arrival);
    assert_eq!((rows[4].finish, rows[4].busy), (second.finish + Nanos(20_000), Busy::default()));
    let cache = summary.buffer_cache.unwrap();
    assert_eq!((cache.read_hits, cache.read_misses, cache.write_hits, cache.shared_fetches), (1, 2, 1, 1));
    // All is over before the first sync: the block written is dirty still.
    assert_eq!((kept.driver.len(), cache.dirty_at_end, cache.dirtied), (2, 1, 1));
}

#[test]
fn a_sync_writes_everything_at_once_in_its_order() {
    for (order, expected) in
        [("lru", [40, 8, 0, 24]), ("buffer", [24, 40, 8, 0]), ("address", [0, 8, 24, 40])]
    {
        let set = [("host.buffer_cache.sync_order", order), ("host.buffer_cache.cluster_blocks", "1")];
        let text = TWO_DRIVES.replace("trickle_every_s = 0.3\ntrickle_blocks = 3\n", "");
        let system = system(&text, &set);
        let mut requests: Vec<Request> = [24_u64, 40, 8, 0, 24]
            .iter()
            .zip(1..)
            .map(|(&lba, at)| request(f64::from(at), Op::Write, 0, lba, 8))
            .collect();
        requests.push(request(2_100.0, Op::Read, 0, 80_000, 8));
        let (kept, summary) = go(&system, &requests, &RunOptions::default());
        check(&requests, &kept, &summary, 8);
        let sync: Vec<&DriverRow> = kept.driver.iter().filter(|row| row.origin == Origin::Sync).collect();
        assert!(sync.iter().all(|row| row.row.arrival == Nanos::from_s(2.0)));
        let mut by_number: Vec<(u64, u64)> = sync.iter().map(|row| (row.row.id, row.row.lba.0)).collect();
        by_number.sort_unstable();
        assert_eq!(by_number.iter().map(|(_, lba)| *lba).collect::<Vec<_>>(), expected, "{order}");
        let oldest = sync.iter().find(|row| row.row.lba.0 == 24).unwrap().row.finish - Nanos::from_ms(1.0);
        assert!(summary.buffer_cache.unwrap().longest_dirty_s >= oldest.as_s() - 1e-9);
    }
}

#[test]
fn trickle_flushes_and_limits_write_the_least_recently_written() {
    let text = TWO_DRIVES.replace("sync_every_s = 2.0\n", "");
    let writes = |count: u64| -> Vec<Request> {
        (0..count).map(|at| request(at as f64, Op::Write, 0, 8 * (at * 7 % 11), 8)).collect()
    };
    let mut requests = writes(5);
    // The first is written again, and is then the last.
    requests.push(request(20.0, Op::Write, 0, 0, 8));
    requests.push(request(400.0, Op::Read, 0, 0, 8));
    requests.push(request(401.0, Op::Read, 0, 90_000, 8));
    let (kept, summary) = go(&system(&text, &[]), &requests, &RunOptions::default());
    check(&requests, &kept, &summary, 8);
    let lbas = |kept: &Keep, origin: Origin| {
        let mut found: Vec<(u64, u64)> = kept
            .driver
            .iter()
            .filter(|row| row.origin == origin)
            .map(|row| (row.row.id, row.row.lba.0))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, lba)| lba).collect::<Vec<_>>()
    };
    assert_eq!(lbas(&kept, Origin::Trickle), [56, 24, 80]);
    let text = text.replace("trickle_every_s = 0.3\ntrickle_blocks = 3\n", "dirty_limit_blocks = 3\n");
    let (kept, summary) = go(&system(&text, &[]), &writes(5), &RunOptions::default());
    check(&writes(5), &kept, &summary, 8);
    assert_eq!(lbas(&kept, Origin::Limit), [0, 56]);
}

#[test]
fn a_controller_takes_so_many_in_order_of_arrival_over_all_its_drives() {
    let text = TWO_DRIVES.replace("outstanding = 3", "outstanding = 1");
    let without: String = text
        .lines()
        .filter(|line| !line.contains("cache") && !line.contains("blocks") && !line.contains("every"))
        .filter(|line| !line.starts_with("block_kib") && !line.starts_with("copy"))
        .fold(String::new(), |text, line| text + line + "\n");
    let mut requests: Vec<Request> = (0..40_u64)
        .map(|at| request(0.1 * at as f64, Op::Write, u32::from(at % 3 == 0), at * 7_919 % 90_000, 8))
        .collect();
    requests.push(request(5.0, Op::Read, 1, 50, 8));
    let starts = |set: &[(&str, &str)]| {
        let (kept, _) = go(&system(&without, set), &requests, &RunOptions::default());
        let mut rows = kept.rows;
        rows.sort_by_key(|row| row.start);
        assert!(rows.windows(2).all(|pair| pair[0].finish <= pair[1].start), "more than one at a time");
        rows.iter().map(|row| row.id).collect::<Vec<u64>>()
    };
    assert!(starts(&[]).into_iter().eq(0..41));
    // The read goes next, whichever drive the writes ahead of it are for.
    let first = starts(&[("host.scheduler", "fcfs+reads-first")]);
    assert!(first.iter().position(|&id| id == 40).unwrap() <= 4, "{first:?}");
    // Without the limit both drives work at a time.
    let free = without.replace("outstanding = 1\n", "");
    let (kept, _) = go(&system(&free, &[]), &requests, &RunOptions::default());
    assert!(kept.rows.iter().any(|row| row.id == 40 && row.finish < kept.rows[39].finish));
}

#[test]
fn users_wait_for_the_cache_as_for_the_drive() {
    let text = "
seed = 3
requests = 200
[[stream]]
read_fraction = 0.7
size.fixed_kib = 4
align_kib = 4
range_percent = [0, 0.02]
think.constant_ms = 7
users = 3
[[stream]]
read_fraction = 0.5
raw = true
size.fixed_kib = 16
inter_arrival.constant_ms = 90
requests = 20
";
    let system = system(TWO_DRIVES, &[]);
    let spec = WorkloadSpec::from_toml("test", text).unwrap();
    let generator = spec.generate(&system.devices(), None, None).unwrap();
    let mut kept = Keep::default();
    let options = RunOptions::default();
    let summary = run(&system, Input::Generator(generator), &options, &mut kept, &mut |_| {}).unwrap();
    let users: Vec<&CompletionRow> = kept.rows.iter().filter(|row| row.sectors == 8).collect();
    assert_eq!((users.len(), kept.rows.len()), (200, 220));
    let think = Nanos::from_ms(7.0);
    for row in &users {
        assert!(row.arrival == think || users.iter().any(|other| other.finish + think == row.arrival));
    }
    assert_eq!(kept.driver.iter().filter(|row| row.origin == Origin::Raw).count(), 20);
    assert!(summary.buffer_cache.unwrap().read_hits > 50);
    assert_eq!(driver_to_batch(&kept.driver).schema(), driver_schema());
}

#[test]
fn what_cannot_be_is_said() {
    let refusal = |text: &str| {
        let source = crate::library::Source {
            name: "test".to_owned(),
            origin: "test.toml".to_owned(),
            directory: None,
            text: text.to_owned(),
        };
        SystemConfig::from_source(&source, &[]).unwrap_err().to_string()
    };
    for (from, to, key) in [
        ("blocks = 64", "blocks = 0", "host.buffer_cache.blocks"),
        ("block_kib = 4", "block_kib = 0.3", "host.buffer_cache.block_kib"),
        ("sync_every_s = 2.0", "sync_every_s = 0.0", "host.buffer_cache.sync_every_s"),
        ("trickle_blocks = 3", "", "host.buffer_cache.trickle_blocks"),
        ("cluster_blocks = 4", "cluster_blocks = 0", "host.buffer_cache.cluster_blocks"),
        ("blocks = 64", "blocks = 64\nwrite_policy = \"write-through\"", "host.buffer_cache.sync_every_s"),
        ("copy_us_per_kib = 10.0", "copy_us_per_kib = -1", "host.buffer_cache.copy_us_per_kib"),
        ("outstanding = 3", "outstanding = 0", "bus.one.outstanding"),
    ] {
        let found = refusal(&TWO_DRIVES.replacen(from, to, 1));
        assert!(found.contains(key), "{found}");
    }
    let system = system(TWO_DRIVES, &[]);
    let input = Input::Source(Box::new(InMemory::new(vec![request(0.0, Op::Read, 0, 0, 1)])));
    let options = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
    let error = run(&system, input, &options, &mut Keep::default(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("buffer cache"), "{error}");
}
