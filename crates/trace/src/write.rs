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
mod tests;
