use super::*;
use crate::testing::{drain, read_all};
use crate::{InMemory, OpenOptions, RequestFlags, open};
use headstack_units::Lba;
use proptest::prelude::*;

fn any_request() -> impl Strategy<Value = Request> {
    let measured = proptest::option::of((0_u64..1 << 40, proptest::option::of(0_u64..1 << 40)));
    let extent = (0..u64::MAX >> 1, 1_u32..);
    (0_u64..1 << 50, extent, any::<(u32, bool, u16)>(), measured).prop_map(
        |(arrival, (lba, sectors), (device, read, flags), measured)| {
            let op = if read { Op::Read } else { Op::Write };
            let mut request = Request::new(Nanos(arrival), op, Lba(lba), sectors);
            (request.device, request.flags) = (device, RequestFlags(flags));
            if let Some((wait, service)) = measured {
                request.start = Nanos(arrival + wait);
                request.finish = service.map_or(Nanos::MAX, |service| Nanos(arrival + wait + service));
            }
            request
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_written_reads_back_the_same(
        mut requests in proptest::collection::vec(any_request(), 0..50),
        sector_bytes in prop::sample::select(vec![256_u32, 512, 520, 4096]),
    ) {
        requests.sort_by_key(|request| request.arrival);
        let directory = tempfile::tempdir().unwrap();
        for name in ["t.csv", "t.parquet", "t.arrow"] {
            let path = directory.path().join(name);
            let format = OutputFormat::of(&path).unwrap();
            let count = convert(&mut InMemory::new(requests.clone()), sector_bytes, &path, format).unwrap();
            prop_assert_eq!(count, requests.len() as u64);
            let mut reader = open(&path, &OpenOptions::default()).unwrap();
            prop_assert_eq!(reader.sector_bytes(), sector_bytes);
            prop_assert_eq!(&drain(&mut reader).unwrap(), &requests);
        }
    }
}

/// Requests that every format can hold: whole ticks would be too coarse, so times are whole milliseconds.
fn holdable(sequential: bool) -> Vec<Request> {
    (0..200_u64)
        .map(|k| {
            let (gap, service) = (if sequential { 40 } else { 7 }, 20 + k % 5);
            let op = if k % 3 == 0 { Op::Write } else { Op::Read };
            let mut request = Request::new(Nanos(k * gap * 1_000_000), op, Lba(k * 7919 % 100_000), 8);
            request.start = request.arrival;
            request.finish = Nanos(request.arrival.0 + service * 1_000_000);
            request
        })
        .collect()
}

#[test]
fn formats_of_others_read_back_what_they_hold() {
    let directory = tempfile::tempdir().unwrap();
    for name in OutputFormat::others() {
        let requests = holdable(name == "disksim-validate");
        let path = directory.path().join(format!("{name}.gz"));
        let format = OutputFormat::named(name).unwrap();
        let count = convert(&mut InMemory::new(requests.clone()), 512, &path, format).unwrap();
        assert_eq!(count, 200);
        let read = name.strip_suffix("-v8").unwrap_or(name);
        // Its times are seconds since 1970, and these are of 1970.
        let named = (name == "tencent").then(|| name.to_owned());
        let mut reader = open(&path, &OpenOptions { format: named, ..OpenOptions::default() }).unwrap();
        assert_eq!(reader.format(), read);
        let back = drain(&mut reader).unwrap();
        assert_eq!(back.len(), requests.len(), "{name}");
        for (back, request) in back.iter().zip(&requests) {
            let what = |request: &Request| (request.lba, request.sectors, request.op);
            assert_eq!(what(back), what(request), "{name}");
            if name == "tencent" {
                assert_eq!(back.arrival.0 / 1_000_000_000, request.arrival.0 / 1_000_000_000);
            } else if !name.starts_with("tick") {
                assert_eq!(back.arrival, request.arrival, "{name}");
                if let Some(finish) = back.finish.present() {
                    assert_eq!(finish, request.finish, "{name}");
                }
            }
        }
        let measured = [
            "disksim-validate",
            "hfplayer",
            "msr",
            "srt",
            "systor17",
            "biosnoop",
            "fio-latency",
            "blktrace",
            "blkparse",
            "ftrace",
            "lttng",
            "tick-text",
        ];
        assert_eq!(back[7].finish != Nanos::MAX, measured.contains(&read) || read == "tick-packed", "{name}");
    }
}

#[test]
fn every_format_with_addresses_that_is_read_can_be_written() {
    let without = ["oracle-general", "procmon"];
    for format in crate::FORMATS.iter().filter(|format| !without.contains(&format.name)) {
        assert!(OutputFormat::named(format.name).is_ok(), "{}", format.name);
    }
}

#[test]
fn srt_keeps_the_sectors_and_others_count_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out");
    for (name, sector_bytes, unit) in
        [("srt", 256, 1), ("srt", 4096, 1), ("hfplayer", 256, 2), ("spc", 4096, 8)]
    {
        let requests = holdable(false);
        let scaled = |n: u64| if sector_bytes < 512 { n / unit } else { n * unit };
        let even: Vec<Request> =
            requests.iter().map(|request| Request { lba: Lba(request.lba.0 * 2), ..*request }).collect();
        convert(&mut InMemory::new(even.clone()), sector_bytes, &path, OutputFormat::named(name).unwrap())
            .unwrap();
        let mut reader = open(&path, &OpenOptions::default()).unwrap();
        assert_eq!(reader.sector_bytes(), if name == "srt" { sector_bytes } else { 512 });
        for (back, request) in drain(&mut reader).unwrap().iter().zip(&even) {
            assert_eq!((back.lba.0, u64::from(back.sectors)), (scaled(request.lba.0), scaled(8)), "{name}");
        }
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out");
    let refused = |name: &str, request: Request, sector_bytes| {
        let format = OutputFormat::named(name).unwrap();
        let requests = vec![holdable(true)[0], request];
        convert(&mut InMemory::new(requests), sector_bytes, &path, format).unwrap_err().to_string()
    };
    let plain = Request::new(Nanos(1 << 40), Op::Read, Lba(0), 8);
    assert!(refused("msr", plain, 512).contains("request 2 cannot be written as msr: it has no measured"));
    assert!(refused("tick-text", Request { sectors: 256, ..plain }, 512).contains("larger than 255 blocks"));
    assert!(refused("tick-packed", Request { lba: Lba(1 << 24), ..plain }, 512).contains("above block 2^24"));
    let early = Request { arrival: Nanos(1), ..plain };
    assert!(refused("disksim-validate", early, 512).contains("issued before it completes"));
    assert!(refused("spc", plain, 520).contains("begin and end at a multiple of 512 bytes"));
    let half = Request { sectors: 7, ..plain };
    assert!(refused("spc", half, 256).contains("request 2 cannot be written as spc: it does not begin"));
    assert!(refused("srt", plain, 512).contains("it has no measured response"));
    assert!(refused("biosnoop", plain, 512).contains("request 2 cannot be written as biosnoop"));
    let measured = Request { finish: Nanos(1 << 41), ..plain };
    assert!(refused("srt", Request { lba: Lba(1 << 32), ..measured }, 512).contains("more than 32 bits"));
    assert!(refused("srt", Request { device: 256, ..measured }, 512).contains("device number is above 255"));
    let slow = Request { finish: Nanos(1 << 60), ..plain };
    assert!(refused("srt", slow, 512).contains("takes so many microseconds"));
    assert!(OutputFormat::named("ssd").unwrap_err().hint().unwrap().contains("blktrace, "));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn csv_lines_are_as_documented() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.csv");
    let mut measured = Request::new(Nanos(7), Op::Write, Lba(12_345_678_901), 8);
    (measured.start, measured.finish, measured.device) = (Nanos(9), Nanos(10), 3);
    measured.flags = RequestFlags::ORDERED;
    let requests = vec![Request::new(Nanos(0), Op::Read, Lba(0), 1), measured];
    convert(&mut InMemory::new(requests), 256, &path, OutputFormat::Csv).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let header = "# sector_bytes = 256\narrival_ns,device,lba,sectors,op,start_ns,finish_ns,flags\n";
    assert_eq!(text, format!("{header}0,0,0,1,R,,,0\n7,3,12345678901,8,W,9,10,2\n"));
}

#[test]
fn a_failing_source_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let bad = crate::testing::text_file("1 0 0 1 0\n2000000 0 0 1 0\n1 0 0 1 0\n");
    for name in ["t.csv", "t.parquet", "t.arrow"] {
        let path = directory.path().join(name);
        let mut source = open(bad.path(), &OpenOptions::default()).unwrap();
        let error = convert(&mut source, 512, &path, OutputFormat::of(&path).unwrap()).unwrap_err();
        assert!(error.to_string().contains("line 3"), "{error}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn many_batches_come_through() {
    let directory = tempfile::tempdir().unwrap();
    let requests: Vec<_> = (0..30_000).map(|at| Request::new(Nanos(at), Op::Read, Lba(at * 3), 2)).collect();
    for name in ["t.csv", "t.parquet", "t.feather"] {
        let path = directory.path().join(name);
        let format = OutputFormat::of(&path).unwrap();
        convert(&mut InMemory::new(requests.clone()), 512, &path, format).unwrap();
        assert_eq!(read_all(&path, &OpenOptions::default()).unwrap(), requests);
    }
    let error = OutputFormat::of(Path::new("t.txt")).unwrap_err();
    assert!(error.hint().unwrap().contains("or .arrow; other formats"));
}

struct Ios(Vec<Io>);

impl IoSource for Ios {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        *batch = std::mem::take(&mut self.0);
        Ok(())
    }

    fn notes(&self) -> crate::Notes {
        crate::Notes::default()
    }

    fn sector_bytes(&self) -> u32 {
        512
    }
}

/// A read with all its instants, a write through the cache, a flush and a discard, one after the other.
fn commands() -> Vec<Io> {
    let io = |ms: u64, op, sectors, kind, pid| {
        let at = |us: u64| Nanos(ms * 1_000_000 + us * 1000);
        let request = Request {
            device: 8 << 20,
            ..Request::new(at(0), op, Lba(100 * ms * u64::from(sectors > 0)), sectors)
        };
        let request = Request { start: at(20), finish: at(900), ..request };
        Io { kind, pid, ..Io::new(request) }
    };
    let mut all = vec![
        io(0, Op::Read, 8, Kind::Data, 7),
        io(1, Op::Write, 16, Kind::Data, 9),
        io(2, Op::Read, 0, Kind::Flush, 9),
        io(3, Op::Write, 64, Kind::Discard, 7),
    ];
    (all[0].got, all[0].inserted, all[0].sync) = (Nanos(5000), Nanos(6000), true);
    all[1].request.flags = RequestFlags::FORCE_MEDIA;
    all[2].request.flags = RequestFlags::FLUSH;
    all
}

#[test]
fn events_read_back_with_their_commands_processes_and_instants() {
    let directory = tempfile::tempdir().unwrap();
    let names = BTreeMap::from([(7, "dd".to_owned()), (9, "a b/1".to_owned())]);
    for name in ["blktrace", "blktrace-v8", "blkparse", "ftrace", "lttng"] {
        let (path, format) = (directory.path().join(name), OutputFormat::named(name).unwrap());
        let written = convert_ios(&mut Ios(commands()), true, &names, &path, format).unwrap();
        assert_eq!((written.requests, written.others, written.left_out), (2, 2, 0));
        let mut reader = crate::event::open_ios(&path, &OpenOptions::default()).unwrap();
        let (mut back, mut batch) = (Vec::new(), Vec::new());
        while {
            reader.next_ios(&mut batch).unwrap();
            !batch.is_empty()
        } {
            back.append(&mut batch);
        }
        assert_eq!(back, commands(), "{name}");
        assert_eq!(reader.processes(), names, "{name}");
    }
}

/// Nobody is invented who asked, and what a format does not hold is counted.
#[test]
fn what_is_not_known_or_not_held_is_told() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["blktrace", "blktrace-v8", "blkparse", "ftrace", "lttng", "biosnoop"] {
        let path = directory.path().join(name);
        convert(&mut InMemory::new(holdable(false)), 512, &path, OutputFormat::named(name).unwrap()).unwrap();
        let mut reader = crate::event::open_ios(&path, &OpenOptions::default()).unwrap();
        let mut batch = Vec::new();
        reader.next_ios(&mut batch).unwrap();
        assert!(batch.iter().all(|io| io.pid == Io::NO_PID), "{name}");
        assert!(reader.processes().is_empty(), "{name}");
    }
    let quoted = BTreeMap::from([(7, "a \"b\", c".to_owned())]);
    for (name, changed) in [("lttng", 1), ("blkparse", 0)] {
        let (path, format) = (directory.path().join("q"), OutputFormat::named(name).unwrap());
        let written = convert_ios(&mut Ios(commands()), true, &quoted, &path, format).unwrap();
        assert_eq!(written.names_changed, changed, "{name}");
    }
    let (path, format) = (directory.path().join("b"), OutputFormat::Other("biosnoop"));
    let written = convert_ios(&mut Ios(commands()), true, &BTreeMap::new(), &path, format).unwrap();
    assert_eq!((written.requests, written.left_out, written.instants_left_out), (2, 2, 1));
}

/// As the kernel counts: a reader takes what is passed over for lost.
#[test]
fn blkparse_numbers_each_device_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let mut requests = holdable(false);
    requests.iter_mut().zip(0..).for_each(|(request, k)| request.device = (8 << 20) | (16 * (k % 7 % 3)));
    let path = directory.path().join("b");
    convert(&mut InMemory::new(requests), 512, &path, OutputFormat::Other("blkparse")).unwrap();
    let mut reader = crate::event::open_events(&path, &OpenOptions::default()).unwrap();
    let mut batch = Vec::new();
    while {
        crate::event::EventSource::next_events(&mut reader, &mut batch).unwrap();
        !batch.is_empty()
    } {}
    assert_eq!(crate::event::EventSource::loss(&reader).lost_events, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    let first = text.lines().filter(|line| line.split_ascii_whitespace().nth(2) == Some("1"));
    assert_eq!(first.count(), 3);
}
