//! The probe `stream`, on a simulated drive whose rates are known and on a real file.

use headstack_measure::device::{self, Device, OpenOptions, WriteConsent};
use headstack_measure::extract::{Streams, extract};
use headstack_measure::{Options, Scope, StreamGrid, measure};
use std::path::PathBuf;

fn grid(file_mb: &[f64], record_kib: &[f64], repeats: u32) -> Options {
    let streams = StreamGrid { file_mb: file_mb.to_vec(), record_kib: record_kib.to_vec(), repeats };
    let scope = Scope { streams, ..Scope::default() };
    Options { probes: vec!["stream".to_owned()], scope, ..Options::default() }
}

fn open(name: &str) -> Box<dyn Device + Send> {
    device::open(name, &OpenOptions { seed: 1, ..OpenOptions::default() }).unwrap()
}

fn streams(device: &mut dyn Device, options: &Options) -> Streams {
    let done = measure(device, options, &mut |_| true).unwrap();
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    extract(&done.record).unwrap().stream.unwrap()
}

#[test]
fn large_records_come_at_the_rate_of_the_outer_tracks() {
    let found = streams(open("sim:maxtor-maxline-plus-ii").as_mut(), &grid(&[100.0], &[512.0, 8192.0], 3));
    // 684 sectors in a revolution and a skew of 124 (once in six tracks: 144) more.
    let turn_s = 60.0 / 7200.0;
    let rate = 684.0 * 512.0 / 1e6 / (turn_s * (1.0 + (5.0 * 124.0 + 144.0) / 6.0 / 684.0));
    assert_eq!(found.points.len(), 4);
    for point in &found.points {
        // A write larger than the write cache waits for its sector: a revolution in 30 tracks.
        let within = if (point.mode, point.record_kib) == ("write", 8192.0) { 0.05 } else { 0.02 };
        assert!((point.mb_per_s / rate - 1.0).abs() < within, "{point:?} {rate}");
        assert!(
            point.ci95_mb_per_s.unwrap() < 0.1 * rate && point.repeats == 3 && !point.is_cached,
            "{point:?}"
        );
        assert!(
            point.transfer_ms.p50 <= point.transfer_ms.p99 && point.transfer_ms.p99 <= point.transfer_ms.max
        );
    }
    // All that is written passes the media: no write is faster than they are, small as it is.
    let small = streams(open("sim:maxtor-maxline-plus-ii").as_mut(), &grid(&[3.0], &[32.0], 2));
    let write = small.points.iter().find(|point| point.mode == "write").unwrap();
    assert!(write.mb_per_s < rate, "{write:?}");
}

#[test]
fn files_that_the_hosts_cache_holds_are_flagged() {
    let host = [("blocks", "20000"), ("block_kib", "4"), ("cluster_blocks", "64"), ("copy_us_per_kib", "2")];
    let overrides =
        host.iter().map(|(key, value)| (format!("host.buffer_cache.{key}"), (*value).to_owned())).collect();
    let options = OpenOptions { seed: 1, overrides, ..OpenOptions::default() };
    let mut device = device::open("sim:maxtor-maxline-plus-ii", &options).unwrap();
    let found = streams(device.as_mut(), &grid(&[10.0, 400.0], &[512.0], 1));
    let point = |mode, file_mb| {
        found.points.iter().find(|point| (point.mode, point.file_mb) == (mode, file_mb)).unwrap()
    };
    assert!(!point("read", 400.0).is_cached, "{found:?}");
    assert!(point("read", 10.0).mb_per_s > 133.0 && point("read", 10.0).is_cached, "{found:?}");
}

#[test]
fn it_runs_only_when_named_and_goes_on_where_it_stopped() {
    let planned = headstack_measure::probe::plan(&[], open("sim:maxtor-maxline-plus-ii").info()).unwrap();
    assert!(planned.iter().all(|probe| !probe.runs_when_named()) && planned.len() > 10);
    let folder = tempfile::tempdir().unwrap();
    let record = Some(folder.path().join("r.parquet"));
    let options = Options { record: record.clone(), ..grid(&[20.0], &[512.0], 4) };
    let mut calls = 0;
    let mut device = open("sim:maxtor-maxline-plus-ii");
    let stopped = measure(device.as_mut(), &options, &mut |_| {
        calls += 1;
        calls < 2
    });
    let stopped = stopped.unwrap();
    let files_before = extract(&stopped.record).ok().and_then(|found| found.stream);
    let again = Options { resume: true, ..options.clone() };
    let done = measure(open("sim:maxtor-maxline-plus-ii").as_mut(), &again, &mut |_| true).unwrap();
    let found = extract(&done.record).unwrap().stream.unwrap();
    assert!(found.points.iter().all(|point| point.repeats == 4), "{files_before:?} {found:?}");
    // Other sizes do not go into the same record.
    let mut unfinished = done.record.clone();
    unfinished.head.finished.clear();
    headstack_measure::record::store::write(&unfinished, record.as_deref().unwrap()).unwrap();
    let other = Options { resume: true, record, ..grid(&[30.0], &[512.0], 4) };
    let refused = measure(open("sim:maxtor-maxline-plus-ii").as_mut(), &other, &mut |_| true).unwrap_err();
    assert!(refused.to_string().contains("other sizes"), "{refused}");
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
fn a_real_file_is_read_and_is_written_when_named_twice() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stream.bin");
    std::fs::write(&path, vec![7_u8; 8 << 20]).unwrap();
    let name = path.to_str().unwrap();
    let Ok(mut read_only) = device::open(name, &OpenOptions::default()) else {
        eprintln!("skipped: no file can be opened past the page cache here");
        return;
    };
    let options = grid(&[4.0], &[64.0, 1024.0], 2);
    let found = streams(read_only.as_mut(), &options);
    assert!(found.points.iter().all(|point| point.mode == "read" && point.repeats == 2));
    assert!(std::fs::read(&path).unwrap().iter().all(|&byte| byte == 7));
    drop(read_only);
    let consent = WriteConsent { write: true, yes_destroy: Some(path.clone()) };
    let mut writable = device::open(name, &OpenOptions { consent, ..OpenOptions::default() }).unwrap();
    let found = streams(writable.as_mut(), &options);
    assert_eq!(found.points.iter().filter(|point| point.mode == "write").count(), 2);
    assert!(found.points.iter().all(|point| point.mb_per_s > 0.0));
    // Random bytes, as the paper's program writes.
    let bytes = std::fs::read(&path).unwrap();
    let distinct: std::collections::BTreeSet<u8> = bytes[..4096].iter().copied().collect();
    assert!(distinct.len() > 200, "{}", distinct.len());
    std::fs::remove_file(&path).unwrap();
}
