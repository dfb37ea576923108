//! Traces of Linux's block layer, against what blkparse and btt (blktrace 1.2.0) say about the same files.
//!
//! The data lie in `../shared/data` beside the checkout, or where HEADSTACK_DATA says; without them these tests pass and
//! say that they were skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use headstack_trace::event::{
    Action, Event, EventSource, PairingSummary, device_numbers, open_events, open_ios,
};
use headstack_trace::{Io, IoSource, Kind, Notes, OpenOptions};

fn data(name: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("HEADSTACK_DATA").map_or_else(beside, PathBuf::from);
    let path = directory.join(name);
    if !path.exists() {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("skipped: no {}", path.display());
        }
        return None;
    }
    Some(path)
}

fn read(name: &str) -> Option<(Vec<Io>, PairingSummary, Notes)> {
    data(name).map(|path| read_path(&path))
}

fn read_path(path: &Path) -> (Vec<Io>, PairingSummary, Notes) {
    let mut reader = open_ios(path, &OpenOptions::default()).unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        reader.next_ios(&mut batch).unwrap();
        if batch.is_empty() {
            return (all, reader.pairing().unwrap(), reader.notes());
        }
        all.append(&mut batch);
    }
}

/// What blkparse prints of a set, but for its messages.
fn as_text(path: &Path) -> String {
    let mut events = open_events(path, &OpenOptions::default()).unwrap();
    let (mut text, mut batch, mut numbers) = (String::new(), Vec::new(), BTreeMap::<u16, u32>::new());
    loop {
        events.next_events(&mut batch).unwrap();
        if batch.is_empty() {
            return text;
        }
        for event in batch.iter().filter(|event| event.action != Action::Message) {
            let Event { time, sector, pid, device, cpu, action, marks, .. } = *event;
            let ((major, minor), number) = (device_numbers(device), numbers.entry(cpu).or_default());
            *number += 1;
            let (s, ns) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
            let place = match action {
                Action::Plug => "N".to_owned(),
                Action::Unplug => "N [java] 1".to_owned(),
                Action::Split => {
                    format!("{} {sector} / {}", marks.letters(), sector + u64::from(event.sectors()))
                }
                _ => format!("{} {sector} + {} [java]", marks.letters(), event.sectors()),
            };
            let line = format!(
                "{major:3},{minor:<3} {cpu:2} {number:8} {s:5}.{ns:09} {pid:5} {:>2} {place}\n",
                action.letter()
            );
            text.push_str(&line);
        }
    }
}

/// btt's table: name, minimum, mean, maximum with nine decimals, count.
fn table(summary: &PairingSummary) -> Vec<String> {
    let rows = summary.btt.rows().filter(|(_, row)| row.count > 0);
    rows.map(|(name, row)| {
        let (min, mean, max) = (row.min.as_s(), row.mean_s().unwrap(), row.max.as_s());
        format!("{name} {min:.9} {mean:.9} {max:.9} {}", row.count)
    })
    .collect()
}

#[test]
fn keks_has_what_blkparse_counts() {
    let Some((ios, summary, notes)) = read("blktrace/keks") else { return };
    let tally = &summary.tally;
    assert_eq!(tally.entries, 2398);
    assert_eq!((tally.of(Action::Issue), tally.of(Action::Complete)), (1192, 1206));
    assert_eq!(tally.dispatched.events, [24, 1168]);
    assert_eq!(tally.dispatched.bytes, [0, 13_208 << 10]);
    assert_eq!(tally.completed.events, [48, 1158]);
    assert_eq!(tally.completed.bytes, [0, 12_960 << 10]);
    assert!(notes.is_clean());
    assert!(summary.loss.missing_cpus.is_empty() && summary.loss.lost_events == 0);
    // 1,182 pairs of a dispatch and a completion; each of 24 flushes completes twice.
    let counts = &summary.counts;
    assert_eq!((counts.pairs, counts.flushes, counts.double_flush_completions), (1182, 24, 24));
    assert_eq!(counts.orphan_dispatches, 10);
    assert_eq!(counts.orphan_completions, 0);
    let mut services: Vec<_> = ios.iter().map(|io| io.request.measured_service().unwrap()).collect();
    services.sort_unstable();
    assert!((services[591].as_ms() - 0.072).abs() < 0.0005 && (services[1181].as_ms() - 6.11).abs() < 0.005);
    assert_eq!(ios.iter().filter(|io| io.kind != Kind::Flush).count(), 1158);
    // Nothing was queued in sight of the trace: btt's table is empty, too.
    assert!(table(&summary).is_empty());
}

#[test]
fn hadoop_has_what_blkparse_counts_and_btt_measures() {
    let Some((ios, summary, notes)) = read("blktrace/hadoop_eternity2") else { return };
    let tally = &summary.tally;
    assert_eq!(tally.entries, 313_229);
    for (action, count) in [
        (Action::Queue, 18_190),
        (Action::GetRequest, 18_312),
        (Action::Insert, 18_319),
        (Action::Issue, 18_385),
        (Action::Complete, 18_312),
        (Action::Requeue, 11),
        (Action::Plug, 16_909),
        (Action::Unplug, 16_908),
        (Action::Split, 347),
        (Action::Message, 187_310),
    ] {
        assert_eq!(tally.of(action), count, "{action:?}");
    }
    assert_eq!(tally.of(Action::BackMerge) + tally.of(Action::FrontMerge), 226);
    assert_eq!((tally.dispatched.events, tally.completed.events), ([18_256, 129], [18_182, 130]));
    assert_eq!((tally.queued.events, tally.requeued.events), ([17_880, 310], [4, 7]));
    assert_eq!(tally.completed.bytes[1] >> 10, 5006);
    assert_eq!(
        table(&summary),
        [
            "Q2Q 0.000000045 0.009019658 13.302368072 18189",
            "Q2G 0.000000673 0.000005239 0.000105605 18311",
            "G2I 0.000000204 0.000009476 0.000876497 18315",
            "Q2M 0.000000244 0.000001057 0.000014262 226",
            "I2D 0.000000511 0.000061377 0.019536908 17427",
            "M2D 0.000022529 0.000791330 0.009238266 186",
            "D2C 0.000049398 0.002731378 0.021033641 17600",
            "Q2C 0.000078788 0.002881549 0.026220352 17842",
        ]
    );
    let shares: Vec<_> =
        summary.btt.overhead_percent().unwrap().iter().map(|(_, share)| format!("{share:.4}")).collect();
    assert_eq!(shares, ["0.1866", "0.3376", "0.0005", "2.0805", "93.5029"]);
    // The other processors' files are absent: what they would have told is counted, not guessed.
    let counts = &summary.counts;
    assert!(notes.is_clean());
    assert_eq!(counts.pairs, ios.len() as u64);
    // By place and direction 18,111 dispatches meet their completion; of 201 completions only the queueing is there.
    assert_eq!((counts.undispatched, counts.orphan_completions), (201, 0));
    assert_eq!((counts.orphan_dispatches, counts.orphan_queued, counts.requeues), (264, 1, 11));
}

/// Some of its processors tell nothing at the end, and of 18,312 requests 201 were left out: dispatches that nobody asked for, and that
/// stay open, were taken for requests that went on elsewhere and for ones that never end.
#[test]
fn hadoop_as_text_is_paired_as_its_files_are() {
    let Some(path) = data("blktrace/hadoop_eternity2") else { return };
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("hadoop.txt");
    std::fs::write(&text, as_text(&path)).unwrap();
    let (ios, summary, _) = read_path(&path);
    let of_text = read_path(&text);
    assert_eq!((of_text.0.len(), table(&of_text.1)), (ios.len(), table(&summary)));
    assert_eq!(of_text.1.counts, summary.counts);
    assert!(of_text.1.loss.short_cpus.is_empty(), "{:?}", of_text.1.loss);
}

#[test]
fn text_of_blkparse_with_awkward_flushes() {
    let Some((_, summary, notes)) = read("blktrace/blktrace_merge_nvme0n1.blkparse.txt") else { return };
    let tally = &summary.tally;
    // The sums printed below the listing.
    assert_eq!(tally.entries, 1364);
    assert_eq!((tally.of(Action::Remap), tally.of(Action::Queue), tally.of(Action::Plug)), (473, 248, 88));
    assert_eq!((tally.dispatched.events, tally.completed.events), ([23, 119], [23, 142]));
    assert_eq!((tally.queued.bytes[1], tally.completed.bytes[1]), (1154 << 10, 1154 << 10));
    assert_eq!(tally.merged.events, [0, 106]);
    assert!(notes.is_clean());
    assert_eq!(summary.counts.flushes, 23);
    assert_eq!(summary.counts.orphan_dispatches, 0);
    assert_eq!(summary.counts.orphan_completions, 0);
}

#[test]
fn completions_alone_are_orphans() {
    let Some((ios, summary, _)) = read("blktrace/leveldb_ram_blkparse.txt") else { return };
    assert_eq!((ios.len(), summary.tally.of(Action::Complete)), (0, 840));
    assert_eq!(summary.counts.orphan_completions, 840);
}
