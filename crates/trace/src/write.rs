//! Traces into files: Parquet (headstack's own) and CSV read back the same; the formats of others hold what they can hold.

mod completed;
mod others;
mod records;
mod steps;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use arrow_schema::SchemaRef;
use headstack_units::Nanos;

use crate::atomic_file::AtomicFile;
use crate::format::columns::{record_batch, request_schema};
use crate::format::columns_io::{io_batch, io_schema};
use crate::format::csv::SECTOR_BYTES_COMMENT;
use crate::table::ParquetSink;
use crate::{Io, IoSource, Kind, Op, Request, RequestSource, TraceError};

/// What a trace is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Parquet with the columns of [`request_schema`].
    Parquet,
    /// Text with the columns of the format `csv`.
    Csv,
    /// An Arrow IPC file with the columns of [`request_schema`].
    Arrow,
    /// A format of others, by its name, one of [`OutputFormat::others`].
    Other(&'static str),
}

impl OutputFormat {
    /// The formats of others that can be written.
    pub fn others() -> impl Iterator<Item = &'static str> {
        records::RECORD_FORMATS
            .iter()
            .chain([&records::SRT])
            .map(|format| format.name)
            .chain(completed::NAMES)
            .chain(steps::NAMES)
    }

    /// The format called `name`.
    ///
    /// # Errors
    /// If there is none, or it cannot be written.
    pub fn named(name: &str) -> Result<Self, TraceError> {
        match name {
            "parquet" => return Ok(Self::Parquet),
            "csv" => return Ok(Self::Csv),
            "arrow" => return Ok(Self::Arrow),
            _ => {}
        }
        Self::others().find(|other| *other == name).map(Self::Other).ok_or_else(|| {
            TraceError::unusable(
                format!("`{name}` is not a format that can be written"),
                format!("formats: parquet, csv, arrow, {}", Self::others().collect::<Vec<_>>().join(", ")),
            )
        })
    }

    /// Whether it holds more of I/Os than requests: who asked, flushes and discards, the instants of each layer.
    pub fn holds_ios(self) -> bool {
        match self {
            Self::Parquet | Self::Arrow => true,
            Self::Csv => false,
            Self::Other(name) => others::names_processes(name),
        }
    }

    /// By the extension of `path`: `parquet`, `pq`, `csv`, `arrow` or `feather`.
    ///
    /// # Errors
    /// If it is another one.
    pub fn of(path: &Path) -> Result<Self, TraceError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            Some("arrow" | "feather") => Ok(Self::Arrow),
            Some("gz") if path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(".csv")) => {
                Ok(Self::Csv)
            }
            _ => Err(TraceError::unusable(
                format!("`{}` does not say what to write", path.display()),
                "traces are written as .parquet, .csv (or .csv.gz) or .arrow; other formats are named with --as"
                    .into(),
            )),
        }
    }
}

/// Writes all of `source`, whose sectors have `sector_bytes` bytes, to `path` in constant memory; the number of requests.
/// The file appears when it is complete.
///
/// # Errors
/// The source's, and whatever keeps the file from being written; nothing is left then.
pub fn convert(
    source: &mut dyn RequestSource,
    sector_bytes: u32,
    path: &Path,
    format: OutputFormat,
) -> Result<u64, TraceError> {
    match format {
        OutputFormat::Parquet | OutputFormat::Arrow => write_table(source, sector_bytes, path, format),
        OutputFormat::Csv => write_csv(source, sector_bytes, path),
        OutputFormat::Other(name) => others::write(source, sector_bytes, path, name),
    }
}

/// What was written of a stream of I/Os, and what the format does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenIos {
    /// Reads and writes.
    pub requests: u64,
    /// Flushes, discards and others.
    pub others: u64,
    /// Of those so many were left out.
    pub left_out: u64,
    /// Requests that were merged into those written, of which nothing is told.
    pub merges_left_out: u64,
    /// I/Os written without the instants at which a structure was allocated and the scheduler took it.
    pub instants_left_out: u64,
    /// Processes whose name the format cannot hold as it is.
    pub names_changed: u64,
}

impl WrittenIos {
    fn count(&mut self, io: &Io) {
        let count = if io.kind == Kind::Data { &mut self.requests } else { &mut self.others };
        *count += 1;
    }
}

/// Writes all of a stream of I/Os, its clock begun at the first, to `path` with all that the format holds of kinds, processes and
/// the instants of each layer.
///
/// # Errors
/// As [`convert`]; and if `format` holds requests and no I/Os ([`OutputFormat::holds_ios`]).
pub fn convert_ios(
    source: &mut dyn IoSource,
    kernel_devices: bool,
    processes: &BTreeMap<u32, String>,
    path: &Path,
    format: OutputFormat,
) -> Result<WrittenIos, TraceError> {
    if let OutputFormat::Other(name) = format
        && format.holds_ios()
    {
        return others::write_ios(source, processes, path, name);
    }
    let schema = io_schema(source.sector_bytes(), kernel_devices);
    let mut table = TableSink::create(path, &schema, format)?;
    let written = for_each_io(source, |batch, written| {
        for io in batch {
            written.count(io);
        }
        table.push(&io_batch(batch, processes, &schema)?)
    })?;
    table.finish()?;
    Ok(written)
}

/// Gives batch after batch to `write`, counted from the first arrival.
fn for_each_io(
    source: &mut dyn IoSource,
    mut write: impl FnMut(&[Io], &mut WrittenIos) -> Result<(), TraceError>,
) -> Result<WrittenIos, TraceError> {
    let (mut batch, mut zero, mut written) = (Vec::new(), None, WrittenIos::default());
    loop {
        source.next_ios(&mut batch)?;
        let Some(first) = batch.first() else { return Ok(written) };
        let zero = *zero.get_or_insert(first.request.arrival);
        for io in &mut batch {
            io.rebase(zero);
        }
        write(&batch, &mut written)?;
    }
}

/// A columnar file being written.
enum TableSink {
    Parquet(Box<ParquetSink>),
    Arrow(Box<FileWriter<BufWriter<AtomicFile>>>, PathBuf),
}

impl TableSink {
    fn create(path: &Path, schema: &SchemaRef, format: OutputFormat) -> Result<Self, TraceError> {
        match format {
            OutputFormat::Parquet => Ok(Self::Parquet(Box::new(ParquetSink::create(path, schema)?))),
            OutputFormat::Arrow => {
                let writer = FileWriter::try_new_buffered(AtomicFile::create(path)?, schema);
                Ok(Self::Arrow(Box::new(writer.map_err(|error| arrow_failed(path, error))?), path.into()))
            }
            _ => Err(TraceError::unusable(
                "this format holds requests, not events".into(),
                "parquet and arrow keep everything".into(),
            )),
        }
    }

    fn push(&mut self, batch: &RecordBatch) -> Result<(), TraceError> {
        match self {
            Self::Parquet(sink) => sink.push(batch),
            Self::Arrow(writer, path) => writer.write(batch).map_err(|error| arrow_failed(path, error)),
        }
    }

    fn finish(self) -> Result<(), TraceError> {
        match self {
            Self::Parquet(sink) => sink.finish(),
            Self::Arrow(writer, path) => {
                let file = writer.into_inner().map_err(|error| arrow_failed(&path, error))?;
                let file = file.into_inner();
                file.map_err(|error| TraceError::Io { action: "write", path, source: error.into_error() })?
                    .commit()
            }
        }
    }
}

fn arrow_failed(path: &Path, error: ArrowError) -> TraceError {
    TraceError::Io { action: "write", path: path.into(), source: std::io::Error::other(error) }
}

/// Requests as a table.
fn write_table(
    source: &mut dyn RequestSource,
    sector_bytes: u32,
    path: &Path,
    format: OutputFormat,
) -> Result<u64, TraceError> {
    let schema = request_schema(sector_bytes);
    let mut table = TableSink::create(path, &schema, format)?;
    let count = for_each_batch(source, |batch| table.push(&record_batch(batch, &schema)?))?;
    table.finish()?;
    Ok(count)
}

/// A text or binary file, packed if its name ends in `.gz`.
struct Output {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Plain(AtomicFile),
    Gzip(flate2::write::GzEncoder<AtomicFile>),
}

impl Output {
    fn create(path: &Path) -> Result<Self, TraceError> {
        let file = AtomicFile::create(path)?;
        let gzip = path.extension().is_some_and(|extension| extension == "gz");
        let sink = if gzip {
            Sink::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
        } else {
            Sink::Plain(file)
        };
        Ok(Self { path: path.into(), sink })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        let written = match &mut self.sink {
            Sink::Plain(file) => file.write_all(bytes),
            Sink::Gzip(file) => file.write_all(bytes),
        };
        written.map_err(|source| TraceError::Io { action: "write", path: self.path.clone(), source })
    }

    fn commit(self) -> Result<(), TraceError> {
        match self.sink {
            Sink::Plain(file) => file.commit(),
            Sink::Gzip(packed) => packed
                .finish()
                .map_err(|source| TraceError::Io { action: "write", path: self.path, source })?
                .commit(),
        }
    }
}

fn write_csv(source: &mut dyn RequestSource, sector_bytes: u32, path: &Path) -> Result<u64, TraceError> {
    let mut file = Output::create(path)?;
    let mut text = format!(
        "# {SECTOR_BYTES_COMMENT} = {sector_bytes}\narrival_ns,device,lba,sectors,op,start_ns,finish_ns,flags\n"
    )
    .into_bytes();
    file.write(&text)?;
    let count = for_each_batch(source, |batch| {
        text.clear();
        for request in batch {
            push_line(&mut text, request);
        }
        file.write(&text)
    })?;
    file.commit()?;
    Ok(count)
}

fn for_each_batch(
    source: &mut dyn RequestSource,
    mut write: impl FnMut(&[Request]) -> Result<(), TraceError>,
) -> Result<u64, TraceError> {
    let (mut batch, mut count) = (Vec::new(), 0);
    loop {
        source.next_batch(&mut batch)?;
        if batch.is_empty() {
            return Ok(count);
        }
        count += batch.len() as u64;
        write(&batch)?;
    }
}

fn push_line(text: &mut Vec<u8>, request: &Request) {
    let numbers = [request.arrival.0, u64::from(request.device), request.lba.0, u64::from(request.sectors)];
    for number in numbers {
        push_number(text, number);
        text.push(b',');
    }
    text.push(if request.op == Op::Read { b'R' } else { b'W' });
    for instant in [request.start, request.finish] {
        text.push(b',');
        if let Some(Nanos(instant)) = instant.present() {
            push_number(text, instant);
        }
    }
    text.push(b',');
    push_number(text, u64::from(request.flags.0));
    text.push(b'\n');
}

fn push_number(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
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
            assert_eq!(
                back[7].finish != Nanos::MAX,
                measured.contains(&read) || read == "tick-packed",
                "{name}"
            );
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
            convert(
                &mut InMemory::new(even.clone()),
                sector_bytes,
                &path,
                OutputFormat::named(name).unwrap(),
            )
            .unwrap();
            let mut reader = open(&path, &OpenOptions::default()).unwrap();
            assert_eq!(reader.sector_bytes(), if name == "srt" { sector_bytes } else { 512 });
            for (back, request) in drain(&mut reader).unwrap().iter().zip(&even) {
                assert_eq!(
                    (back.lba.0, u64::from(back.sectors)),
                    (scaled(request.lba.0), scaled(8)),
                    "{name}"
                );
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
        assert!(
            refused("msr", plain, 512).contains("request 2 cannot be written as msr: it has no measured")
        );
        assert!(
            refused("tick-text", Request { sectors: 256, ..plain }, 512).contains("larger than 255 blocks")
        );
        assert!(
            refused("tick-packed", Request { lba: Lba(1 << 24), ..plain }, 512).contains("above block 2^24")
        );
        let early = Request { arrival: Nanos(1), ..plain };
        assert!(refused("disksim-validate", early, 512).contains("issued before it completes"));
        assert!(refused("spc", plain, 520).contains("begin and end at a multiple of 512 bytes"));
        let half = Request { sectors: 7, ..plain };
        assert!(refused("spc", half, 256).contains("request 2 cannot be written as spc: it does not begin"));
        assert!(refused("srt", plain, 512).contains("it has no measured response"));
        assert!(refused("biosnoop", plain, 512).contains("request 2 cannot be written as biosnoop"));
        let measured = Request { finish: Nanos(1 << 41), ..plain };
        assert!(refused("srt", Request { lba: Lba(1 << 32), ..measured }, 512).contains("more than 32 bits"));
        assert!(
            refused("srt", Request { device: 256, ..measured }, 512).contains("device number is above 255")
        );
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
        let requests: Vec<_> =
            (0..30_000).map(|at| Request::new(Nanos(at), Op::Read, Lba(at * 3), 2)).collect();
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
            convert(&mut InMemory::new(holdable(false)), 512, &path, OutputFormat::named(name).unwrap())
                .unwrap();
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
}
