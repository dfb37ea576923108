//! Traces with lost events: nothing may be made up of what is left.
//!
//! The sets are made here, from simulated devices and, where they lie beside the checkout, from real ones.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{Random, as_text, read, write_run};
use headstack_trace::event::blktrace::{Layout, push_record};
use headstack_trace::event::{Action, Event, Marks, PairingRule, PairingSummary, device_of};
use headstack_trace::{Io, OpenOptions};
use headstack_units::Nanos;

fn options() -> OpenOptions {
    OpenOptions { tolerant: true, ..OpenOptions::default() }
}

/// Records of one file, each with what follows it.
fn records(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at + 48 <= bytes.len() {
        let length = 48 + usize::from(u16::from_le_bytes([bytes[at + 46], bytes[at + 47]]));
        all.push(&bytes[at..at + length]);
        at += length;
    }
    all
}

fn is_completion(record: &[u8]) -> bool {
    let action = u32::from_le_bytes([record[28], record[29], record[30], record[31]]);
    action & 0xff == 8 && action >> 16 & 0x400 == 0
}

/// The files of a run, by processor.
type Run = Vec<(PathBuf, Vec<u8>)>;

/// All the ways to lose events: a name, and the files that are left.
fn losses(run: &Run) -> Vec<(String, Run)> {
    let changed = |index: usize, bytes: Vec<u8>| {
        let mut run = run.clone();
        run[index].1 = bytes;
        run
    };
    let mut all = Vec::new();
    for index in 0..run.len() {
        let bytes = &run[index].1;
        all.push((format!("file {index} empty"), changed(index, Vec::new())));
        all.push((format!("file {index} cut"), changed(index, bytes[..bytes.len() / 2 + 7].to_vec())));
        let whole: usize =
            records(bytes).iter().take(records(bytes).len() / 3).map(|record| record.len()).sum();
        all.push((format!("file {index} short"), changed(index, bytes[..whole].to_vec())));
        let mut absent = run.clone();
        absent.remove(index);
        all.push((format!("file {index} absent"), absent));
    }
    let halved = run.iter().map(|(path, bytes)| {
        let mut count = 0;
        let kept = records(bytes).into_iter().filter(|record| {
            count += usize::from(is_completion(record));
            !is_completion(record) || count % 2 == 0
        });
        (path.clone(), kept.flatten().copied().collect())
    });
    all.push(("every second completion".into(), halved.collect()));
    all
}

type Place = (u32, u64, u64);

fn by_start(ios: &[Io]) -> BTreeMap<Place, &Io> {
    let dispatched = ios.iter().filter(|io| io.request.start != Nanos::MAX);
    dispatched.map(|io| ((io.request.device, io.request.lba.0, io.request.start.0), io)).collect()
}

fn service(io: &Io) -> f64 {
    io.request.measured_service().unwrap().as_ms()
}

/// Compares each set with losses to the whole one.
fn check(name: &str, whole: &Path) {
    let (truth, _) = read(whole, &options());
    let true_by_start = by_start(&truth);
    let longest = truth.iter().filter_map(Io::response).max().unwrap();
    let longest_service = truth.iter().filter_map(|io| io.request.measured_service()).max().unwrap();
    let mut files: Vec<_> = std::fs::read_dir(whole).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let run: Run = files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    for (how, left) in losses(&run) {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in left {
            std::fs::write(folder.path().join(path.file_name().unwrap()), bytes).unwrap();
        }
        let (found, summary) = read(folder.path(), &options());
        let what = format!("{name}, {how}");
        let max = found.iter().filter_map(Io::response).max().unwrap_or_default();
        // A flush whose first completion was lost ends with its second, microseconds later.
        assert!(max.0 <= longest.0 + 5_000, "{what}: a response of {max}, truly at most {longest}");
        let max = found.iter().filter_map(|io| io.request.measured_service()).max().unwrap_or_default();
        assert!(
            max.0 <= longest_service.0 + 5_000,
            "{what}: a service of {max}, truly at most {longest_service}"
        );
        let pairs: Vec<(f64, f64)> = by_start(&found)
            .iter()
            .filter_map(|(place, io)| Some((service(io), service(true_by_start.get(place)?))))
            .collect();
        let (mean, true_mean) = pairs.iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
        assert!((mean - true_mean).abs() <= 0.05 * true_mean, "{what}: mean off by {}", mean / true_mean);
        let responses =
            |io: &&Io| true_by_start.get(&(io.request.device, io.request.lba.0, io.request.start.0)).copied();
        let (mut mean, mut true_mean) = (0.0, 0.0);
        for io in by_start(&found).values() {
            if let (Some(response), Some(truth)) = (io.response(), responses(io).and_then(Io::response)) {
                mean += response.as_ms();
                true_mean += truth.as_ms();
            }
        }
        assert!(
            (mean - true_mean).abs() <= 0.05 * true_mean,
            "{what}: mean response off by {}",
            mean / true_mean
        );
        // Not by throwing everything away: completions that are left with their dispatch are paired.
        let counts = &summary.counts;
        assert!(counts.doubtful * 5 <= counts.pairs + 20, "{what}: {counts:?}");
    }
}

/// A real set; none lie beside the checkout of most.
fn real_set(name: &str) -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("HEADSTACK_DATA").map_or_else(beside, PathBuf::from).join("blktrace").join(name)
}

/// Each has dispatches that were never completed, and is of one sector at a time.
#[test]
fn real_sets_that_are_whole_are_paired_as_btt_does() {
    for folder in ["keks", "hadoop_eternity2"].map(real_set) {
        if folder.exists() {
            let by_btt = OpenOptions { pairing: PairingRule::Btt, ..options() };
            let [(strict, summary), (btt, other)] =
                [options(), by_btt].map(|options| read(&folder, &options));
            assert!(strict == btt, "{}: other I/Os", folder.display());
            assert!(summary.btt.rows().eq(other.btt.rows()));
            assert_eq!((&summary.counts, summary.counts.doubtful), (&other.counts, 0));
        }
    }
}

#[test]
fn real_sets_with_losses_have_no_response_that_was_not() {
    for name in ["keks", "hadoop_eternity2"] {
        let folder = real_set(name);
        if !folder.exists() {
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("skipped: no {}", folder.display());
            }
            return;
        }
        check(name, &folder);
    }
}

/// A device that serves `count` requests on few places, a flush now and then; each event on any of `cpus` processors.
/// One request of a place waits for the one before it, as with a page cache.
fn events(seed: u64, count: u64, cpus: u64, queueing: bool) -> Vec<Vec<Event>> {
    let mut random = Random(seed);
    let mut files = vec![Vec::new(); cpus as usize];
    let mut all: Vec<Event> = Vec::new();
    let mut free_at = [0_u64; 400];
    let (mut now, mut flushed) = (1_000_000_000_u64, 0);
    for _ in 0..count {
        now += random.below(4_000_000);
        let place = random.below(400);
        let queued = now.max(free_at[place as usize] + 1000);
        let flush = random.below(40) == 0 && queued > flushed;
        let dispatched = queued + 1_000 + random.below(500_000);
        let completed = dispatched + 100_000 + random.below(12_000_000);
        let letters: &[u8] = if flush {
            b"FWS"
        } else if place.is_multiple_of(3) {
            b"WS"
        } else {
            b"R"
        };
        let (submit, answer) = (random.below(cpus), random.below(cpus));
        let marks = Marks::of_letters(letters).unwrap();
        let event = |time, action, cpu| Event {
            time: Nanos(time),
            sector: if flush { 0 } else { 8 * place },
            bytes: if flush { 0 } else { 4096 },
            pid: 1,
            device: device_of(8, 16),
            cpu: cpu as u16,
            action,
            marks,
        };
        if flush {
            flushed = completed + 2_000;
        } else {
            free_at[place as usize] = completed;
        }
        if queueing {
            all.push(event(queued, Action::Queue, submit));
        }
        all.push(event(dispatched, Action::Issue, submit));
        all.push(event(completed, Action::Complete, answer));
        if flush {
            all.push(event(completed + 1_000, Action::Complete, answer));
        }
    }
    all.sort_by_key(|event| event.time);
    for event in all {
        files[usize::from(event.cpu)].push(event);
    }
    files
}

#[test]
fn made_sets_with_losses_have_no_response_that_was_not() {
    for (seed, queueing) in [(11, true), (12, true), (13, false), (14, false)] {
        let folder = tempfile::tempdir().unwrap();
        write_run(folder.path(), &events(seed, 6000, 3, queueing), None);
        check(&format!("seed {seed}"), folder.path());
    }
}

#[test]
fn intact_sets_are_paired_alike_by_both_rules() {
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path(), &events(5, 6000, 3, true), None);
    let (strict, summary) = read(folder.path(), &options());
    let (btt, _) = read(folder.path(), &OpenOptions { pairing: PairingRule::Btt, ..options() });
    assert_eq!(strict, btt);
    assert_eq!((strict.len(), summary.counts.orphans(), summary.counts.doubtful), (6000, 0, 0));
    assert!(!summary.loss.is_certain());
}

#[test]
fn btts_rule_makes_up_what_the_strict_one_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path(), &events(5, 6000, 3, true), None);
    std::fs::write(folder.path().join("sdb.blktrace.1"), b"").unwrap();
    let longest = |rule| {
        let (ios, summary) = read(folder.path(), &OpenOptions { pairing: rule, ..options() });
        assert_eq!(summary.loss.empty_cpus, [1]);
        ios.iter().filter_map(Io::response).max().unwrap().as_ms()
    };
    assert!(longest(PairingRule::Btt) > 1000.0);
    assert!(longest(PairingRule::Strict) < 13.0);
}

/// A first-come, first-served device with a queue: 200 places that come again and again, also while they are still queued.
fn served_in_turn(seed: u64, count: u64) -> Vec<Event> {
    let mut random = Random(seed);
    let (mut now, mut free_at) = (1_000_000_000_u64, 0);
    let mut all = Vec::new();
    for _ in 0..count {
        // Two draws: the gaps vary, as those of independent users do.
        let gap = 1 + random.below(60_000_000);
        now += random.below(gap);
        let dispatched = now.max(free_at);
        free_at = dispatched + 500_000 + random.below(20_000_000);
        let letters: &[u8] = if random.below(10) < 7 { b"R" } else { b"W" };
        let sector = 1024 * random.below(200);
        let event = |time, action| Event {
            time: Nanos(time),
            sector,
            bytes: 8192,
            pid: 100,
            device: device_of(8, 0),
            cpu: 0,
            action,
            marks: Marks::of_letters(letters).unwrap(),
        };
        all.push(event(now, Action::Queue));
        all.push(event(dispatched, Action::Issue));
        all.push(event(free_at, Action::Complete));
    }
    all.sort_by_key(|event| event.time);
    all
}

/// An event and its running number.
type Numbered = (u32, Event);

/// What is left of numbered events when blocks of 300 are lost, and between which instants each was.
fn without_blocks(seed: u64, all: &[Event], percent: u64) -> (Vec<Numbered>, Vec<(Nanos, Nanos)>) {
    let mut random = Random(seed);
    let (mut left, mut holes, mut at) = (Vec::new(), Vec::new(), 0);
    while at < all.len() {
        if random.below(30_000) < percent {
            holes.push((all[at].time, all[(at + 300).min(all.len()) - 1].time));
            at += 300;
        } else {
            left.push((at as u32 + 1, all[at]));
            at += 1;
        }
    }
    (left, holes)
}

fn as_records(events: &[Numbered]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, event) in events {
        push_record(&mut bytes, Layout { version: 7, big_endian: false }, *number, event);
    }
    bytes
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn row(summary: &PairingSummary, name: &str) -> headstack_trace::event::btt::Row {
    summary.btt.rows().find(|(row, _)| *row == name).unwrap().1
}

/// A trace read from bytes.
fn read_bytes(name: &str, bytes: &[u8], options: &OpenOptions) -> (Vec<Io>, PairingSummary) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, options)
}

#[test]
fn blocks_of_lost_events_make_up_no_response() {
    let mut closed = 0;
    for (seed, percent) in [(1, 1), (2, 2), (3, 3), (4, 3), (5, 5), (6, 5), (7, 10), (8, 40)] {
        let all = served_in_turn(seed * 7919, 20_000);
        let (numbered, holes) = without_blocks(seed * 104_729, &all, percent);
        assert!(!holes.is_empty(), "seed {seed} loses nothing");
        let anew: Vec<_> = (1_u32..).zip(numbered.iter().map(|(_, event)| *event)).collect();
        let (truth, intact) =
            read_bytes("whole.txt", as_text(&(1_u32..).zip(all).collect::<Vec<_>>()).as_bytes(), &options());
        let true_by_start = by_start(&truth);
        let longest = truth.iter().filter_map(Io::response).max().unwrap();
        for (how, bytes) in [
            ("text", as_text(&numbered).into_bytes()),
            ("text numbered anew", as_text(&anew).into_bytes()),
            ("records", as_records(&numbered)),
            ("records numbered anew", as_records(&anew)),
        ] {
            let what = format!("{how}, seed {seed}, {} holes", holes.len());
            let (found, summary) = read_bytes("left", &bytes, &options());
            let max = found.iter().filter_map(Io::response).max().unwrap();
            assert!(max <= longest, "{what}: a response of {max}, truly at most {longest}");
            for name in ["I2D", "D2C", "Q2C"] {
                let (max, longest) = (row(&summary, name).max, row(&intact, name).max);
                assert!(max <= longest, "{what}: {name} of {max}, truly at most {longest}");
            }
            let pairs: Vec<(f64, f64)> = by_start(&found)
                .iter()
                .filter_map(|(place, io)| Some((io.response()?, true_by_start.get(place)?.response()?)))
                .map(|(response, truth)| (response.as_ms(), truth.as_ms()))
                .collect();
            let (means, true_means): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let ratio = mean(&means) / mean(&true_means);
            assert!((ratio - 1.0).abs() <= 0.05, "{what}: mean off by {ratio}");
            // A request across a hole would make a pause of the device there.
            let across = |io: &&Io| {
                holes.iter().any(|(from, until)| io.request.arrival < *from && *until < io.request.finish)
            };
            let spans = found.iter().filter(|io| io.response_known).find(across);
            assert!(spans.is_none(), "{what}: {spans:?}");
            let counts = &summary.counts;
            assert!(counts.orphans() + counts.doubtful + counts.without_queueing > 0, "{what}: {counts:?}");
            assert!(counts.doubtful * 20 <= counts.pairs, "{what}: {counts:?}");
            assert_eq!(summary.loss.lost_events > 0, !how.ends_with("anew"), "{what}: {:?}", summary.loss);
            closed += counts.doubtful;
        }
    }
    assert!(closed > 0);
}

#[test]
fn where_nothing_was_lost_all_is_paired_as_btt_does() {
    for seed in 1..9 {
        let all: Vec<_> = (1_u32..).zip(served_in_turn(seed * 7919, 20_000)).collect();
        let (strict, summary) = read_bytes("whole.txt", as_text(&all).as_bytes(), &options());
        let by_btt = OpenOptions { pairing: PairingRule::Btt, ..options() };
        let (btt, other) = read_bytes("whole.txt", as_text(&all).as_bytes(), &by_btt);
        assert!(strict == btt, "seed {seed}: other I/Os");
        // Of what overlaps at one sector btt's table holds the latest only, and the other each.
        let counts = |summary: &PairingSummary| -> Vec<u64> {
            summary.btt.rows().filter(|(name, _)| name.ends_with('C')).map(|(_, row)| row.count).collect()
        };
        let (all, latest) = (counts(&summary), counts(&other));
        assert_eq!(all, [strict.len() as u64; 2]);
        assert!(all.iter().zip(&latest).all(|(all, latest)| latest <= all), "{latest:?}");
        assert_eq!((&summary.counts, summary.counts.doubtful), (&other.counts, 0));
        assert!(!summary.loss.is_certain());
    }
}

#[test]
fn a_device_that_truly_pauses_keeps_its_slow_requests() {
    // Every 500 requests the device is silent for five seconds, with what it has at hand.
    let mut all = served_in_turn(77, 6000);
    let mut shift = 0;
    for (k, event) in all.iter_mut().enumerate() {
        shift += if k % 1500 == 1499 { 5_000_000_000 } else { 0 };
        event.time.0 += shift;
    }
    let all: Vec<_> = (1_u32..).zip(all).collect();
    let (found, summary) = read_bytes("pauses", &as_records(&all), &options());
    let slow = found.iter().filter_map(Io::response).filter(|response| response.0 > 5_000_000_000).count();
    assert!(slow >= 4, "{slow}");
    assert_eq!((summary.counts.orphans(), summary.counts.doubtful), (0, 0));
}

/// One line that is cut tells of a loss, and may have made up next to nothing: of 500 responses 73 were left out.
#[test]
fn a_line_that_is_cut_costs_few_responses() {
    let all: Vec<_> = (1_u32..).zip(served_in_turn(7919, 500)).collect();
    let text = as_text(&all);
    let (truth, _) = read_bytes("whole.txt", text.as_bytes(), &options());
    let true_by_start = by_start(&truth);
    for cut in [100, 700, 701, 702, 1400] {
        let mut lines: Vec<&str> = text.lines().collect();
        lines[cut] = &lines[cut][..30];
        let (found, summary) = read_bytes("cut.txt", (lines.join("\n") + "\n").as_bytes(), &options());
        let known = found.iter().filter(|io| io.response_known).count();
        assert!(known >= 490, "line {cut}: {known}, {:?}, {:?}", summary.counts, summary.loss);
        let off = by_start(&found).into_iter().find(|(place, io)| {
            io.response_known && io.response() != true_by_start.get(place).and_then(|io| io.response())
        });
        assert!(off.is_none(), "line {cut}: {off:?}");
    }
}
