//! I/Os as columns: those of a request, and what a trace of events knows besides.
//!
//! `kind` ("data", "flush", "discard", "other"), `got_ns` and `inserted_ns` (null where unknown), `pid` and `process` (null
//! where unknown), `merges`, `sync`, `raw`, `response_known`. The schema's metadata say `device_numbers = kernel` where devices
//! are major × 2^20 + minor. As requests, rows of other kinds than "data" are passed over.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use headstack_units::Nanos;

use crate::format::columns::{BatchDecoder, append_requests, record_batch, request_schema};
use crate::gate::{Notes, Place};
use crate::input::Input;
use crate::{Io, IoSource, Kind, OpenOptions, Request, TraceError};

pub(crate) const KIND: &str = "kind";
/// The columns a table of I/Os has besides those of requests; with any of them it is one.
pub(crate) const COLUMNS: [&str; 9] =
    [KIND, "got_ns", "inserted_ns", "pid", "process", "merges", "sync", "raw", "response_known"];
const DEVICE_NUMBERS_KEY: &str = "device_numbers";
const KINDS: [(&str, Kind); 4] =
    [("data", Kind::Data), ("flush", Kind::Flush), ("discard", Kind::Discard), ("other", Kind::Other)];

/// A flag of an I/O.
type Mark = fn(&mut Io) -> &mut bool;

/// The schema of a table of I/Os.
pub(crate) fn io_schema(sector_bytes: u32, kernel_devices: bool) -> SchemaRef {
    let requests = request_schema(sector_bytes);
    let mut fields: Vec<Field> = requests.fields().iter().map(|field| field.as_ref().clone()).collect();
    let kinds = [
        (DataType::Utf8, false),
        (DataType::UInt64, true),
        (DataType::UInt64, true),
        (DataType::UInt32, true),
        (DataType::Utf8, true),
        (DataType::UInt32, false),
        (DataType::Boolean, false),
        (DataType::Boolean, false),
        (DataType::Boolean, false),
    ];
    fields
        .extend(COLUMNS.iter().zip(kinds).map(|(name, (kind, nullable))| Field::new(*name, kind, nullable)));
    let mut metadata = requests.metadata().clone();
    if kernel_devices {
        metadata.insert(DEVICE_NUMBERS_KEY.into(), "kernel".into());
    }
    Arc::new(Schema::new(fields).with_metadata(metadata))
}

/// `ios` as one record batch with the [`io_schema`].
pub(crate) fn io_batch(
    ios: &[Io],
    processes: &BTreeMap<u32, String>,
    schema: &SchemaRef,
) -> Result<RecordBatch, TraceError> {
    let requests: Vec<Request> = ios.iter().map(|io| io.request).collect();
    let plain = record_batch(&requests, &request_schema(512))?;
    let instants = |of: fn(&Io) -> Nanos| -> ArrayRef {
        Arc::new(ios.iter().map(|io| of(io).present().map(|at| at.0)).collect::<UInt64Array>())
    };
    let flags = |of: fn(&Io) -> bool| -> ArrayRef {
        Arc::new(ios.iter().map(|io| Some(of(io))).collect::<BooleanArray>())
    };
    let word = |kind: Kind| KINDS.iter().find(|(_, known)| *known == kind).map_or("other", |(word, _)| word);
    let known = |io: &Io| (io.pid != Io::NO_PID).then_some(io.pid);
    let mut columns = plain.columns().to_vec();
    columns.extend([
        Arc::new(StringArray::from_iter_values(ios.iter().map(|io| word(io.kind)))) as ArrayRef,
        instants(|io| io.got),
        instants(|io| io.inserted),
        Arc::new(ios.iter().map(known).collect::<UInt32Array>()),
        Arc::new(ios.iter().map(|io| processes.get(&io.pid)).collect::<StringArray>()),
        Arc::new(UInt32Array::from_iter_values(ios.iter().map(|io| io.merges))),
        flags(|io| io.sync),
        flags(|io| io.raw),
        flags(|io| io.response_known),
    ]);
    RecordBatch::try_new(schema.clone(), columns).map_err(|error| TraceError::Unusable {
        problem: format!("I/Os do not fit the table: {error}"),
        hint: None,
    })
}

/// The kinds of the rows, if the table has them.
pub(crate) fn kinds(batch: &RecordBatch) -> Result<Option<Vec<Kind>>, (usize, String)> {
    let Some(column) = batch.column_by_name(KIND) else { return Ok(None) };
    let words = cast(column, &DataType::Utf8).map_err(|error| (0, format!("column `{KIND}`: {error}")))?;
    let words = words.as_string::<i32>().iter().enumerate();
    let kind = |(row, word): (usize, Option<&str>)| {
        let known = KINDS.iter().find(|(known, _)| Some(*known) == word);
        known.map(|(_, kind)| *kind).ok_or_else(|| {
            (row, format!("`{KIND}` is `{}`: expected data, flush, discard or other", word.unwrap_or("")))
        })
    };
    words.map(kind).collect::<Result<Vec<_>, _>>().map(Some)
}

/// A Parquet or Arrow file of I/Os being read.
pub(crate) struct TableIos {
    path: Arc<Path>,
    batches: BatchDecoder,
    kernel_devices: bool,
    processes: BTreeMap<u32, String>,
    /// Of processes that have a name and no number.
    numbers: BTreeMap<String, u32>,
    rows: u64,
}

impl TableIos {
    /// Opens the table at `path`; `None` if it is another format, or one of requests.
    pub(crate) fn open(path: &Path, format: &str, options: &OpenOptions) -> Result<Option<Self>, TraceError> {
        let table = match format {
            "parquet" => super::parquet::table(Input::open(path)?, options, true)?,
            "arrow" => super::arrow_ipc::table(Input::open(path)?, options, true)?,
            _ => return Ok(None),
        };
        if COLUMNS.iter().all(|name| table.schema.column_with_name(name).is_none()) {
            return Ok(None);
        }
        let kernel_devices =
            table.schema.metadata().get(DEVICE_NUMBERS_KEY).is_some_and(|value| value == "kernel");
        Ok(Some(Self {
            path: path.into(),
            batches: table.batches,
            kernel_devices,
            processes: BTreeMap::new(),
            numbers: BTreeMap::new(),
            rows: 0,
        }))
    }

    pub(crate) fn kernel_devices(&self) -> bool {
        self.kernel_devices
    }

    pub(crate) fn processes(&self) -> &BTreeMap<u32, String> {
        &self.processes
    }

    /// A number for a process of which only the name is known.
    fn number(&mut self, name: &str) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(name.to_owned()).or_insert(next)
    }

    fn append(&mut self, batch: &RecordBatch, ios: &mut Vec<Io>) -> Result<(), (usize, String)> {
        let mut requests = Vec::new();
        append_requests(batch, &mut requests).map_err(|flaw| (flaw.row.unwrap_or(0), flaw.text))?;
        let first = ios.len();
        ios.extend(requests.into_iter().map(Io::new));
        let ios = &mut ios[first..];
        for (io, kind) in ios.iter_mut().zip(kinds(batch)?.unwrap_or_default()) {
            io.kind = kind;
        }
        let column = |name: &str, kind: DataType| -> Result<Option<ArrayRef>, (usize, String)> {
            let Some(column) = batch.column_by_name(name) else { return Ok(None) };
            cast(column, &kind).map(Some).map_err(|error| (0, format!("column `{name}`: {error}")))
        };
        for (name, field) in [
            ("got_ns", (|io| &mut io.got) as fn(&mut Io) -> &mut Nanos),
            ("inserted_ns", |io| &mut io.inserted),
        ] {
            let Some(values) = column(name, DataType::UInt64)? else { continue };
            for (io, value) in ios.iter_mut().zip(values.as_primitive::<UInt64Type>()) {
                *field(io) = value.map_or(Nanos::MAX, Nanos);
            }
        }
        if let Some(values) = column("pid", DataType::UInt32)? {
            for (io, value) in ios.iter_mut().zip(values.as_primitive::<UInt32Type>()) {
                io.pid = value.unwrap_or(Io::NO_PID);
            }
        }
        if let Some(values) = column("merges", DataType::UInt32)? {
            for (io, value) in ios.iter_mut().zip(values.as_primitive::<UInt32Type>()) {
                io.merges = value.unwrap_or(0);
            }
        }
        let marks: [(&str, Mark); 3] = [
            ("sync", |io| &mut io.sync),
            ("raw", |io| &mut io.raw),
            ("response_known", |io| &mut io.response_known),
        ];
        for (name, field) in marks {
            let Some(values) = column(name, DataType::Boolean)? else { continue };
            for (io, value) in ios.iter_mut().zip(values.as_boolean()) {
                *field(io) = value.unwrap_or(*field(io));
            }
        }
        if let Some(names) = column("process", DataType::Utf8)? {
            let unnumbered = batch.column_by_name("pid").is_none();
            for (io, name) in ios.iter_mut().zip(names.as_string::<i32>()) {
                if let Some(name) = name.filter(|_| unnumbered) {
                    io.pid = self.number(name);
                }
                if let Some(name) = name.filter(|_| !self.processes.contains_key(&io.pid)) {
                    self.processes.insert(io.pid, name.to_owned());
                }
            }
        }
        Ok(())
    }
}

impl IoSource for TableIos {
    fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
        batch.clear();
        while batch.is_empty() {
            let error = |row: u64, problem: String| TraceError::Record {
                path: self.path.to_path_buf(),
                place: Place::Row(row).to_string(),
                problem,
                hint: None,
            };
            let rows = self.batches.next_rows().map_err(|problem| error(self.rows + 1, problem))?;
            let Some(rows) = rows else { return Ok(()) };
            let before = self.rows;
            self.append(&rows, batch).map_err(|(row, problem)| TraceError::Record {
                path: self.path.to_path_buf(),
                place: Place::Row(before + 1 + row as u64).to_string(),
                problem,
                hint: None,
            })?;
            self.rows += rows.num_rows() as u64;
        }
        Ok(())
    }

    fn notes(&self) -> Notes {
        Notes::default()
    }

    fn sector_bytes(&self) -> u32 {
        self.batches.sector_bytes
    }
}

/// Record batches of a columnar file, and their schema.
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: BatchDecoder,
}
