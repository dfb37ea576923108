//! Do the readers understand the real traces? Counts and figures were found by other means (see the data's index).
//!
//! The data lie in `../shared/data` beside the checkout, or where HEADSTACK_DATA says; without them these tests pass
//! and say that they were skipped.

use std::path::PathBuf;

use headstack_trace::{Op, OpenOptions, Request, RequestSource, TraceInfo, open};

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

fn read(name: &str, options: &OpenOptions) -> Option<(TraceInfo, Vec<Request>)> {
    let path = data(name)?;
    let info = TraceInfo::of_file(&path, options).unwrap();
    let mut reader = open(&path, options).unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        reader.next_batch(&mut batch).unwrap();
        if batch.is_empty() {
            return Some((info, all));
        }
        all.append(&mut batch);
    }
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}

/// Mean and standard deviation of the measured services, ms.
fn services<'a>(requests: impl Iterator<Item = &'a Request>) -> (f64, f64) {
    let times: Vec<f64> = requests.map(|request| request.measured_service().unwrap().as_ms()).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64;
    (mean, variance.sqrt())
}

#[test]
fn a_week_on_the_hp_c2200a() {
    let Some((info, requests)) = read("hp/ajw.1week.srt", &OpenOptions::default()) else { return };
    assert_eq!((info.format, info.sector_bytes, info.records_skipped), ("srt", 256, 0));
    assert_eq!((info.requests, info.reads, info.writes), (44_519, 13_040, 31_479));
    close(info.span_s, 603_064.6, 0.1);
    let [disk, other] = &info.devices[..] else { panic!("two disks") };
    assert_eq!((disk.requests, disk.reads, other.requests, other.reads), (42_252, 10_887, 2_267, 2_153));
    assert_eq!((disk.lowest_lba, disk.highest_lba), (8192, 1_308_111));
    assert_eq!((other.lowest_lba, other.highest_lba), (360, 6_679));
    assert_eq!((disk.max_in_service, other.max_in_service), (1, 1));
    let disk: Vec<_> = requests.iter().filter(|request| request.device == 0).collect();
    let (mean, sd) = services(disk.iter().copied());
    close(mean, 25.35, 0.005);
    close(sd, 9.21, 0.005);
    assert_eq!(disk.iter().filter(|request| request.sectors == 32).count(), 26_780);
    assert_eq!(requests.iter().filter(|request| request.flags.0 == 8).count(), 17_429);
    let (service, response) = (info.service.unwrap(), info.response.unwrap());
    for (value, expected) in
        [(service.mean_ms, 25.09), (service.p50_ms, 24.32), (service.p90_ms, 37.95), (service.p99_ms, 48.29)]
    {
        close(value, expected, 0.005);
    }
    close(service.min_ms, 6.42, 0.005);
    close(service.max_ms, 237.5, 0.05);
    close(response.mean_ms, 116.7, 0.05);
}

#[test]
fn the_six_drives_of_the_validation() {
    /// Name, rows, reads, service mean, median and maximum ms, think mean ms, largest request.
    type Row = (&'static str, u64, u64, [f64; 3], f64, u64);
    const ROWS: [Row; 6] = [
        ("cheetah9LP", 10_000, 6_594, [4.27, 1.90, 19.11], 45.5, 40),
        ("atlas10k", 10_000, 6_569, [3.89, 1.11, 16.15], 46.2, 40),
        ("atlas_III", 10_000, 6_498, [6.26, 4.592, 23.70], 43.8, 44),
        ("barracuda", 10_000, 6_511, [6.63, 2.20, 27.78], 43.4, 44),
        ("hp_c2247a", 9_999, 5_115, [15.30, 15.29, 56.75], 14.2, 134),
        ("dec_rz26", 7_980, 5_424, [15.81, 15.87, 56.40], 13.9, 129),
    ];
    for (name, rows, reads, times, think, largest) in ROWS {
        let Some((info, requests)) = read(&format!("validate/{name}.trace"), &OpenOptions::default()) else {
            return;
        };
        assert_eq!((info.format, info.requests, info.reads), ("disksim-validate", rows, reads), "{name}");
        let service = info.service.unwrap();
        for (value, expected) in [service.mean_ms, service.p50_ms, service.max_ms].into_iter().zip(times) {
            close(value, expected, 0.0051);
        }
        assert_eq!((info.sizes.max_bytes, info.devices[0].max_in_service), (largest * 512, 1), "{name}");
        let thinks = requests.windows(2).map(|pair| (pair[1].arrival - pair[0].finish).as_ms());
        close(thinks.sum::<f64>() / (rows - 1) as f64, think, 0.06);
    }
}

#[test]
fn the_ascii_trace() {
    let Some((info, _)) = read("validate/ascii.trace", &OpenOptions::default()) else { return };
    assert_eq!((info.format, info.requests, info.reads), ("disksim-ascii", 100_000, 79_634));
    close(info.span_s, 1532.9, 0.05);
    assert_eq!(info.devices.len(), 14);
    let of = |number| info.devices.iter().find(|device| device.device == number).unwrap().requests;
    assert_eq!((of(14), of(18), of(10)), (19_968, 17_609, 14_625));
    assert_eq!(info.highest_lba, 2_376_019);
    close(info.sizes.mean_bytes / 512.0, 10.2, 0.05);
    close(info.inter_arrival.unwrap().mean_ms, 15.3, 0.05);
    assert!(info.service.is_none());
}

#[test]
fn mqsim_and_ssdsim_samples() {
    let Some((info, _)) = read("traces/mqsim_wsrch-small.trace", &OpenOptions::default()) else {
        return;
    };
    assert_eq!((info.format, info.requests, info.reads), ("mqsim", 24_783, 24_779));
    let counts: Vec<_> = info.devices.iter().map(|device| device.requests).collect();
    assert_eq!(counts, [8_340, 8_231, 8_187, 8, 7, 10]);
    assert_eq!(info.highest_lba, 34_966_255);
    close(info.span_s, 60.055, 0.005);
    close(info.first_arrival_s, 0.011_413, 1e-9);

    let Some((info, _)) = read("traces/mqsim_tpcc-small.trace", &OpenOptions::default()) else {
        return;
    };
    assert_eq!((info.requests, info.reads, info.devices.len()), (6_999, 4_381, 16));
    assert_eq!(info.highest_lba, 454_518_379);

    let Some((info, _)) = read("traces/ssdsim_financial1_first10000.ascii", &OpenOptions::default()) else {
        return;
    };
    assert_eq!((info.format, info.requests, info.reads, info.devices.len()), ("mqsim", 10_000, 4_078, 22));

    let Some((info, requests)) = read("traces/ssdsim_fin1_100.txt", &OpenOptions::default()) else { return };
    assert_eq!((info.format, info.requests, info.reads), ("ssdsim", 100, 13));
    assert_eq!((requests[0].lba.0, requests[0].sectors), (303_552, 32));
    close(info.span_s, 3.87, 0.005);
}

#[test]
fn the_msr_sample() {
    let Some((info, requests)) = read("traces/caffeine_msr-cambridge1-sample.csv", &OpenOptions::default())
    else {
        return;
    };
    assert_eq!((info.format, info.requests, info.reads, info.in_order), ("msr", 1_000, 508, true));
    close(info.span_s, 127.2, 0.05);
    let of = |op: Op| {
        let times = requests.iter().filter(|request| request.op == op);
        let times: Vec<f64> = times.map(|request| (request.finish - request.arrival).as_ms()).collect();
        times.iter().sum::<f64>() / times.len() as f64
    };
    close(of(Op::Read), 1.811, 0.0005);
    close(of(Op::Write), 0.141, 0.0005);
}

#[test]
fn packed_tables_read_with_named_columns() {
    let columns = [("time", "arrival_s"), ("op", "op"), ("size", "size_bytes"), ("lbn", "lba")];
    let columns = columns.map(|(name, field)| (name.to_owned(), field.to_owned())).to_vec();
    let Some(path) = data("traces/cloudphysics.csv.gz") else { return };
    // Its operations are SCSI codes (28, 2a), which the generic table does not know.
    let error = TraceInfo::of_file(&path, &OpenOptions { columns, ..OpenOptions::default() }).unwrap_err();
    assert!(error.to_string().contains("line 2: `op` is `2a`"), "{error}");
    // The preset does; its twin with finer stamps lasts as long.
    let preset = OpenOptions { format: Some("cloudphysics".into()), ..OpenOptions::default() };
    let (info, _) = read("traces/cloudphysics.csv.gz", &preset).unwrap();
    assert_eq!((info.requests, info.reads, info.span_s), (113_872, 46_974, 7200.0));

    let columns = [
        ("Timestamp", "arrival_s"),
        ("Response", "response_s"),
        ("IOType", "op"),
        ("LUN", "device"),
        ("Offset", "offset_bytes"),
        ("Size", "size_bytes"),
    ];
    let columns = columns.map(|(name, field)| (name.to_owned(), field.to_owned())).to_vec();
    let options = OpenOptions { columns, sort: true, ..OpenOptions::default() };
    let Some(path) = data("traces/caffeine_systor17-traces-sample.csv.gz") else { return };
    let error = TraceInfo::of_file(&path, &OpenOptions { sort: false, ..options.clone() }).unwrap_err();
    assert!(error.to_string().contains(" arrives ") && error.hint().unwrap().contains("--sort"), "{error}");
    let Some((info, requests)) = read("traces/caffeine_systor17-traces-sample.csv.gz", &options) else {
        return;
    };
    assert_eq!((info.format, info.requests, info.reads, info.in_order), ("csv", 999, 826, false));
    close(info.span_s, 2.45, 0.005);
    assert!(info.response.is_some() && requests.iter().all(|request| request.device == 0));
}

#[test]
fn public_traces_of_other_simulators_and_arrays() {
    let sorted = OpenOptions { sort: true, ..OpenOptions::default() };
    for (name, format, requests, reads) in [
        ("caffeine_systor17-traces-sample.csv.gz", "systor17", 999, 826),
        ("caffeine_systor17-additional-sample.csv.gz", "systor17", 999, 700),
        ("caffeine_cloud_storage-sample.bz2", "tencent", 50_000, 24_521),
        ("cloudphysics.vscsi", "vscsi", 113_872, 46_974),
        ("hfplayer_array_seqwrite_lat.csv", "hfplayer", 32_768, 0),
        ("hfplayer_sample_raw.inout.csv", "hfplayer", 654, 186),
        ("hfplayer_small-tpch.csv", "hfplayer", 780, 0),
    ] {
        let Some((info, _)) = read(&format!("traces/{name}"), &sorted) else { return };
        assert_eq!((info.format, info.requests, info.reads), (format, requests, reads), "{name}");
    }
    let Some((info, requests)) = read("traces/cloudphysics.vscsi", &OpenOptions::default()) else { return };
    close(info.span_s, 7200.09, 0.005);
    close((info.bytes_read + info.bytes_written) as f64 / 1e9, 4.206, 0.0005);
    assert_eq!(requests.iter().map(|request| request.lba.0).max(), Some(65_595_455));
    let Some((info, _)) = read("traces/hfplayer_array_seqwrite_lat.csv", &sorted) else { return };
    let response = info.response.unwrap();
    close(response.p50_ms, 5.12, 0.005);
    close(response.max_ms, 37.5, 0.05);
    let Some((info, _)) = read("uda50/sample.txt", &OpenOptions::default()) else { return };
    assert_eq!((info.format, info.requests), ("tick-text", 6));
}

#[test]
fn what_is_no_known_trace_is_said_so() {
    for name in ["validate/ascii.parv", "drives/atlas10k.model", "validate/statdefs"] {
        let Some(path) = data(name) else { return };
        let error = open(&path, &OpenOptions::default()).err().unwrap();
        assert!(error.to_string().ends_with("does not begin like a trace of any known format"), "{error}");
        assert!(error.hint().unwrap().contains("--format"));
    }
}
