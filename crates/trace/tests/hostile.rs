//! Can any input make a reader panic, loop, or deliver nonsense? It may only answer with requests or an error.

use std::io::Write as _;
use std::path::Path;

use headstack_trace::event::blktrace::{Layout, push_record};
use headstack_trace::event::write::events_of;
use headstack_trace::tick::{Half, TickRecord};
use headstack_trace::{
    FORMATS, Filter, Io, Op, OpenOptions, OutputFormat, Request, RequestSource, convert, open,
};
use headstack_units::{Lba, Nanos};
use proptest::prelude::*;
use tempfile::NamedTempFile;

/// Valid files of each format, small.
fn specimens() -> Vec<(&'static str, Vec<u8>)> {
    let mut srt = b"$$TR_IOREC-1.3\n sectorsize = 256;\n\x0c".to_vec();
    for k in 0..20_u32 {
        let words = [56, 4 << 16 | 1, k, 500, 40, 25_000, 8192, 64 * k, 0x0800_0000, 4, 0, k % 2, 0, 1];
        srt.extend(words.iter().flat_map(|word: &u32| word.to_be_bytes()));
    }
    let lines = |line: fn(u64) -> String| (0..20).map(line).collect::<String>().into_bytes();
    let mqsim = lines(|k| format!("{} 0 {} 8 {}\n", k * 1_000_000, k * 64, k % 2));
    let mut specimens = vec![
        ("srt", srt),
        ("disksim-ascii", lines(|k| format!("{k}.5 0 {} 8 {}\n", k * 64, k % 2))),
        ("disksim-validate", lines(|k| format!("R Hit {} 8 {}.25 1000.0\n", k * 64, 500 + k))),
        ("spc", lines(|k| format!("0,{},4096,w,{k}.000001\n", k * 64))),
        ("msr", lines(|k| format!("{},hm,0,Read,{},4096,77\n", 128_166_385_295_514_663 + k, k * 4096))),
        ("ssdsim", lines(|k| format!("{k}\t{}\t0\t0\tRead\t{}\t32\t1\n", k * 1000, k * 64))),
    ];
    let systor = "Timestamp,Response,IOType,LUN,Offset,Size\n".to_owned();
    let systor =
        systor + &String::from_utf8(lines(|k| format!("{k}.5,0.25,R,0,{},4096\n", k * 4096))).unwrap();
    let hfplayer = "#DUMP_OFFSET.I,ELAPSED_USECS.D,CMD.S,LBA.I,NBLKS.I,LATENCY_USECS.D\n".to_owned();
    let hfplayer =
        hfplayer + &String::from_utf8(lines(|k| format!("0,{k}.5,RD_IN,{},8,9.5\n", k * 8))).unwrap();
    let iolog = b"fio version 3 iolog\n"
        .iter()
        .copied()
        .chain(lines(|k| format!("{k} /dev/a read {} 512\n", k * 512)));
    let biosnoop = b"TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n".iter().copied();
    let biosnoop = biosnoop.chain(lines(|k| format!("{k}.5 dd 7 sda R {} 4096 1.25\n", k * 8)));
    let mut vscsi = Vec::new();
    for k in 0..20_u64 {
        vscsi.extend([k as u32, 4096, 1].iter().flat_map(|word| word.to_le_bytes()));
        vscsi.extend([0x28, 0, 0, 1]);
        vscsi.extend([k * 8, k * 1000].iter().flat_map(|word| word.to_le_bytes()));
    }
    let mut oracle = Vec::new();
    for k in 0..20_u64 {
        oracle.extend((k as u32).to_le_bytes());
        oracle.extend((k % 5).to_le_bytes());
        oracle.extend(4096_u32.to_le_bytes());
        oracle.extend((if k < 15 { k as i64 + 5 } else { -1 }).to_le_bytes());
    }
    let procmon = b"\"Time of Day\",\"Operation\",\"Path\",\"Detail\"\n".iter().copied();
    let procmon = procmon.chain(lines(|k| {
        format!("\"1:02:{k:02}.5 PM\",\"ReadFile\",\"C:\\a\",\"Offset: {k},096, Length: 512, I/O Flags: Non-cached\"\n")
    }));
    specimens.extend([
        ("oracle-general", oracle),
        ("procmon", procmon.collect()),
        ("systor17", systor.into_bytes()),
        ("tencent", lines(|k| format!("{},{},8,1,3\n", 1_538_323_199 + k, k * 8))),
        ("hfplayer", hfplayer.into_bytes()),
        ("vscsi", vscsi),
        ("disksim-batch", lines(|k| format!("{k}.5 0 {} 8 1 {}\n", k * 64, k / 4))),
        ("emcsymm", lines(|k| format!("{k}.5 Read 1f 2a {} 8\n", k * 64))),
        ("fio-iolog", iolog.collect()),
        ("fio-latency", lines(|k| format!("{}, 271631, 0, 4096, {}, 0\n", k + 1, k * 4096))),
        ("biosnoop", biosnoop.collect()),
        ("tick-text", lines(|k| format!("S: (32,0x6):2:R:{k}:{k}\nR: (32,0x6):2:R:{k}:{}\n", k + 1))),
        ("tick-packed", ticks()),
        ("blktrace", events()),
        (
            "blkparse",
            lines(|k| {
                let at = format!("{} + 8 [dd]\n", k * 8);
                format!("8,0 1 {k} 0.{k:03}0 7 D R {at}8,0 1 {k} 0.{k:03}5 7 C R {}", at.replace("dd", "0"))
            }),
        ),
        (
            "ftrace",
            lines(|k| {
                let at = format!("{} + 8", k * 8);
                format!(
                    "dd-7 [000] ..... 5.{k:03}0: block_rq_issue: 7,0 RS 4096 () {at} [dd]\n\
                 dd-7 [000] ..... 5.{k:03}5: block_rq_complete: 7,0 RS () {at} [0]\n"
                )
            }),
        ),
        (
            "lttng",
            lines(|k| {
                let at = format!("{{ dev = 8388608, sector = {}, nr_sector = 8, rwbs = 36", k * 8);
                format!(
                    "[5.{k:03}0] (+0.1) h block_rq_issue: {{ cpu_id = 0 }}, {at}, tid = 7, comm = \"dd\", cmd = [ ] }}\n\
                     [5.{k:03}5] (+0.1) h block_rq_complete: {{ cpu_id = 0 }}, {at}, error = 0 }}\n"
                )
            }),
        ),
    ]);
    let directory = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.parquet"] {
        let path = directory.path().join(name);
        let mut source = open(file(&mqsim).path(), &OpenOptions::default()).unwrap();
        let format = OutputFormat::of(&path).unwrap();
        convert(&mut source, 512, &path, format).unwrap();
        let name = if format == OutputFormat::Csv { "csv" } else { "parquet" };
        specimens.push((name, std::fs::read(path).unwrap()));
    }
    specimens.push(("arrow", ipc(&mqsim)));
    specimens.push(("mqsim", mqsim));
    specimens
}

fn ticks() -> Vec<u8> {
    let halves = |k: u16| [Half::Sent, Half::Received].map(|half| (k, half));
    let record = |(tick, half)| {
        let record =
            TickRecord { half, major: 32, minor: 6, blocks: 2, op: Op::Read, block: u32::from(tick), tick };
        record.to_bytes()
    };
    (0..20).flat_map(halves).flat_map(record).collect()
}

fn events() -> Vec<u8> {
    let layout = Layout { version: 7, big_endian: false };
    let mut bytes = Vec::new();
    for k in 0..20_u64 {
        let mut request = Request::new(Nanos(k * 1000), Op::Write, Lba(k * 8), 8);
        (request.start, request.finish) = (Nanos(k * 1000 + 1), Nanos(k * 1000 + 2));
        for event in events_of(&Io::new(request)) {
            push_record(&mut bytes, layout, 0, &event);
        }
    }
    bytes
}

fn ipc(mqsim: &[u8]) -> Vec<u8> {
    let (requests, error) = read(mqsim, &OpenOptions::default());
    assert!(error.is_none());
    let schema = headstack_trace::request_schema(512);
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&headstack_trace::record_batch(&requests, &schema).unwrap()).unwrap();
    writer.into_inner().unwrap()
}

fn file(bytes: &[u8]) -> NamedTempFile {
    // By its name a log of latencies, should it be fio's.
    let mut file = tempfile::Builder::new().suffix("_lat.log").tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// What a reader delivers, and how it ends.
fn read(bytes: &[u8], options: &OpenOptions) -> (Vec<Request>, Option<String>) {
    read_file(file(bytes).path(), options)
}

fn read_file(path: &Path, options: &OpenOptions) -> (Vec<Request>, Option<String>) {
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    let mut reader = match open(path, options) {
        Ok(reader) => reader,
        Err(error) => return (all, Some(error.to_string())),
    };
    loop {
        match reader.next_batch(&mut batch) {
            Ok(()) if batch.is_empty() => return (all, None),
            Ok(()) => all.append(&mut batch),
            Err(error) => {
                assert!(batch.is_empty());
                reader.next_batch(&mut batch).unwrap();
                assert!(batch.is_empty(), "nothing comes after an error");
                return (all, Some(error.to_string()));
            }
        }
    }
}

fn sound(requests: &[Request]) {
    assert!(requests.is_sorted_by_key(|request| request.arrival));
    for request in requests {
        assert!(request.sectors > 0 && request.lba.0.checked_add(u64::from(request.sectors)).is_some());
        assert!(request.start >= request.arrival && request.finish >= request.arrival);
    }
}

fn ways() -> Vec<OpenOptions> {
    let named = FORMATS
        .iter()
        .map(|format| OpenOptions { format: Some(format.name.into()), ..OpenOptions::default() });
    let sized = named.clone().map(|options| OpenOptions { sector_bytes: Some(512), sort: true, ..options });
    [OpenOptions::default()].into_iter().chain(named).chain(sized).collect()
}

#[test]
fn every_specimen_is_recognised_and_read_alike() {
    let specimens = specimens();
    assert_eq!(specimens.len(), FORMATS.len());
    for (name, bytes) in &specimens {
        let reader = open(file(bytes).path(), &OpenOptions::default()).unwrap();
        assert_eq!(reader.format(), *name);
        let (requests, error) = read(bytes, &OpenOptions::default());
        assert_eq!((requests.len(), error), (20, None), "{name}");
        sound(&requests);
        let named = OpenOptions { format: Some((*name).into()), ..OpenOptions::default() };
        assert_eq!(read(bytes, &named).0, requests, "{name}");
        assert_eq!(read(bytes, &OpenOptions { sort: true, ..named }).0, requests, "{name}");
    }
}

#[test]
fn packed_specimens_read_the_same() {
    for (name, bytes) in specimens() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::encode_all(&bytes[..], 1).unwrap();
        for packed in [gzip, zstd] {
            let (requests, error) = read(&packed, &OpenOptions::default());
            if matches!(name, "parquet" | "arrow") {
                assert!(error.unwrap().contains("is a columnar file inside"), "{name}");
            } else {
                assert_eq!((requests, error), read(&bytes, &OpenOptions::default()), "{name}");
            }
            let (_, error) = read(&packed[..packed.len() - 6], &OpenOptions::default());
            assert!(error.is_some(), "{name} packed and cut short");
        }
    }
}

#[test]
fn the_wrong_format_is_refused_with_a_hint_at_the_right_one() {
    for (name, bytes) in specimens() {
        let file = file(&bytes);
        for format in FORMATS.iter().filter(|format| format.name != name) {
            let options = OpenOptions { format: Some(format.name.into()), ..OpenOptions::default() };
            // These two look alike on purpose: a DiskSim line may be all integers.
            if (name, format.name) == ("mqsim", "disksim-ascii") {
                continue;
            }
            let error = match open(file.path(), &options) {
                Err(error) => error,
                Ok(mut reader) => reader.next_batch(&mut Vec::new()).unwrap_err(),
            };
            assert!(
                error.hint().is_some_and(|hint| hint.contains(&format!("--format {name}"))),
                "{name}: {error:?}"
            );
        }
    }
}

#[test]
fn empty_unknown_and_ambiguous() {
    for options in ways() {
        assert!(read(b"", &options).1.unwrap().ends_with("is empty"));
    }
    assert!(read(b"hello\n", &OpenOptions::default()).1.unwrap().contains("any known format"));
    let file = file(b"1,2,3,R,4,5,6\n");
    let ambiguous = open(file.path(), &OpenOptions::default()).err().unwrap();
    assert!(ambiguous.to_string().ends_with("more than one format: spc, msr"), "{ambiguous}");
    assert_eq!(ambiguous.hint(), Some("choose one with --format"));
    let unknown = OpenOptions { format: Some("dvd".into()), ..OpenOptions::default() };
    assert_eq!(read(b"x", &unknown).1.unwrap(), "there is no trace format `dvd`");
    let missing = open(std::path::Path::new("/no/such/file"), &OpenOptions::default()).err().unwrap();
    assert!(missing.to_string().starts_with("cannot read `/no/such/file`: "));
    let directory = tempfile::tempdir().unwrap();
    assert!(
        open(directory.path(), &OpenOptions::default())
            .err()
            .unwrap()
            .to_string()
            .contains("holds no files NAME.blktrace.N")
    );
}

/// A tolerant reader leaves out what makes no sense; where that is all there is, it is no empty trace but an error.
#[test]
fn a_trace_of_which_nothing_makes_sense_is_an_error() {
    let table = "arrival_ms,lba,sectors,op\n";
    let bad = [
        ("csv", format!("{table}x,0,8,R\ny,8,8,R\n")),
        ("spc", "0,zero,4096,w,1.0\n0,one,4096,w,2.0\n".to_owned()),
        ("biosnoop", "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\nnow dd 7 sda R 0 4096 1.25\n".to_owned()),
        ("ftrace", "dd-7 [000] 1.5: block_rq_issue: 8,0 ? 4096 () 0 + 8 [dd]\n".to_owned()),
    ];
    for (format, text) in bad {
        for sort in [false, true] {
            let tolerant =
                OpenOptions { format: Some(format.into()), tolerant: true, sort, ..OpenOptions::default() };
            let (requests, error) = read(text.as_bytes(), &tolerant);
            assert_eq!(requests, [], "{format}");
            let error = error.unwrap_or_else(|| panic!("{format}: no error"));
            assert!(error.contains("makes sense; the first: "), "{format}: {error}");
        }
    }
    // Nothing is no nonsense, and one sound record makes a trace, whatever is chosen of it.
    let tolerant = OpenOptions { tolerant: true, ..OpenOptions::default() };
    assert_eq!(read(table.as_bytes(), &tolerant), (vec![], None));
    let one = format!("{table}x,0,8,R\n1,8,8,R\n");
    assert_eq!(read(one.as_bytes(), &tolerant).0.len(), 1);
    let filter = Filter { op: Some(Op::Write), ..Filter::default() };
    assert_eq!(read(one.as_bytes(), &OpenOptions { filter, ..tolerant }), (vec![], None));
}

#[test]
fn options_without_effect_are_refused() {
    let columns = vec![("a".to_owned(), "lba".to_owned())];
    let mqsim = || OpenOptions { format: Some("mqsim".into()), ..OpenOptions::default() };
    let line = b"1 0 0 8 1\n";
    assert!(
        read(line, &OpenOptions { columns, ..mqsim() }).1.unwrap().starts_with("--column is an option of")
    );
    let gap = Some(headstack_trace::Gap::After);
    assert!(read(line, &OpenOptions { gap, ..mqsim() }).1.unwrap().starts_with("--gap is an option of"));
    assert!(read(line, &OpenOptions { sector_bytes: Some(0), ..mqsim() }).1.unwrap().contains("0 bytes"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let file = file(&bytes);
        for options in ways() {
            sound(&read_file(file.path(), &options).0);
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "([0-9RW,.\t \n-]|Read|Write|arrival_s|lba|sectors|op|1e9|nan|[0-9]{18,21}){0,80}") {
        let file = file(text.as_bytes());
        for options in ways() {
            sound(&read_file(file.path(), &options).0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_cut_file_delivers_a_beginning_of_the_whole(share in 0.0_f64..1.0) {
        for (name, bytes) in specimens() {
            let whole = read(&bytes, &OpenOptions::default()).0;
            let cut = (bytes.len() as f64 * share) as usize;
            let options = OpenOptions { format: Some(name.into()), ..OpenOptions::default() };
            let (part, error) = read(&bytes[..cut], &options);
            sound(&part);
            prop_assert!(error.is_some() || part.len() <= whole.len());
            // The last line of a text may have lost digits; what comes before it may not.
            let sure = part.len().saturating_sub(1);
            prop_assert_eq!(&part[..sure], &whole[..sure], "{}", name);
        }
    }

    #[test]
    fn a_damaged_file_delivers_sound_requests_or_an_error(
        at in 0.0_f64..1.0,
        damage in proptest::collection::vec(any::<u8>(), 1..6),
    ) {
        for (name, mut bytes) in specimens() {
            let start = (bytes.len() as f64 * at) as usize;
            let end = (start + damage.len()).min(bytes.len());
            bytes[start..end].copy_from_slice(&damage[..end - start]);
            for options in [OpenOptions::default(), OpenOptions { format: Some(name.into()), ..OpenOptions::default() }] {
                sound(&read(&bytes, &options).0);
            }
        }
    }
}
