//! Requests as columns: the schema headstack writes, and requests out of record batches with that schema.
//!
//! Columns are found by name; integers of any width are accepted, others are errors. Required: `arrival_ns`, `lba`,
//! `sectors`, `op`. `op` is a string ("read", "write", …), a boolean (true = read) or an integer (0 = read, 1 = write).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int8Array, RecordBatch, StringArray, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow_cast::display::array_value_to_string;
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use headstack_units::{Lba, Nanos, grouped};

use crate::format::Decoder;
use crate::format::columns_io::kinds;
use crate::gate::{Gate, Place};
use crate::number::Problem;
use crate::text::direction;
use crate::{Io, Kind, Op, OpenOptions, Request, RequestFlags, TraceError};

/// The key of the file metadata that states the sector size.
pub(crate) const SECTOR_BYTES_KEY: &str = "sector_bytes";

/// The columns a trace may have; the first four are required.
pub(crate) const COLUMNS: [&str; 8] =
    ["arrival_ns", "lba", "sectors", "op", "device", "flags", "start_ns", "finish_ns"];
const REQUIRED: usize = 4;

/// The schema of a trace table; `sector_bytes` goes into its metadata.
///
/// Columns: `arrival_ns` u64, `start_ns` and `finish_ns` u64 (null where not measured), `lba` u64, `sectors` u32,
/// `device` u32, `op` dictionary of "read" and "write", `flags` u16.
pub fn request_schema(sector_bytes: u32) -> SchemaRef {
    let word = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let fields = vec![
        Field::new("arrival_ns", DataType::UInt64, false),
        Field::new("start_ns", DataType::UInt64, true),
        Field::new("finish_ns", DataType::UInt64, true),
        Field::new("lba", DataType::UInt64, false),
        Field::new("sectors", DataType::UInt32, false),
        Field::new("device", DataType::UInt32, false),
        Field::new("op", word, false),
        Field::new("flags", DataType::UInt16, false),
    ];
    let metadata = [(SECTOR_BYTES_KEY.to_owned(), sector_bytes.to_string())];
    Arc::new(Schema::new(fields).with_metadata(metadata.into_iter().collect()))
}

/// `requests` as one record batch with the [`request_schema`].
///
/// # Errors
/// If `schema` is another one.
pub fn record_batch(requests: &[Request], schema: &SchemaRef) -> Result<RecordBatch, TraceError> {
    let instants = |instant: fn(&Request) -> Nanos| -> ArrayRef {
        let column = requests.iter().map(|request| instant(request).present().map(|at| at.0));
        Arc::new(column.collect::<UInt64Array>())
    };
    let keys = Int8Array::from_iter_values(requests.iter().map(|request| i8::from(request.op == Op::Write)));
    let words = Arc::new(StringArray::from_iter_values(["read", "write"]));
    let failed = |error: ArrowError| TraceError::Unusable {
        problem: format!("requests do not fit the table: {error}"),
        hint: None,
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(requests.iter().map(|request| request.arrival.0))),
        instants(|request| request.start),
        instants(|request| request.finish),
        Arc::new(UInt64Array::from_iter_values(requests.iter().map(|request| request.lba.0))),
        Arc::new(UInt32Array::from_iter_values(requests.iter().map(|request| request.sectors))),
        Arc::new(UInt32Array::from_iter_values(requests.iter().map(|request| request.device))),
        Arc::new(DictionaryArray::<Int8Type>::try_new(keys, words).map_err(failed)?),
        Arc::new(UInt16Array::from_iter_values(requests.iter().map(|request| request.flags.0))),
    ];
    RecordBatch::try_new(schema.clone(), columns).map_err(failed)
}

/// The first required column that `schema` lacks.
pub(crate) fn missing_column(schema: &Schema) -> Option<&'static str> {
    COLUMNS[..REQUIRED].iter().copied().find(|wanted| schema.column_with_name(wanted).is_none())
}

/// What is wrong with a batch, and in which of its rows (from 0), where that is known.
pub(crate) struct Flaw {
    pub(crate) row: Option<usize>,
    pub(crate) text: String,
}

impl From<String> for Flaw {
    fn from(text: String) -> Self {
        Self { row: None, text }
    }
}

/// Appends the requests in `batch` to `requests`, unchecked for order and plausibility.
pub(crate) fn append_requests(batch: &RecordBatch, requests: &mut Vec<Request>) -> Result<(), Flaw> {
    let arrivals = required(batch, "arrival_ns", &DataType::UInt64)?;
    let lbas = required(batch, "lba", &DataType::UInt64)?;
    let sectors = required(batch, "sectors", &DataType::UInt32)?;
    let ops = operations(batch)?;
    let first = requests.len();
    let arrivals = arrivals.as_primitive::<UInt64Type>().values().iter();
    let extents =
        lbas.as_primitive::<UInt64Type>().values().iter().zip(sectors.as_primitive::<UInt32Type>().values());
    let rows = arrivals.zip(extents).zip(ops);
    requests.extend(rows.map(|((&at, (&lba, &sectors)), op)| Request::new(Nanos(at), op, Lba(lba), sectors)));
    let requests = &mut requests[first..];
    if let Some(devices) = numbers(batch, "device", &DataType::UInt32)? {
        let devices = devices.as_primitive::<UInt32Type>();
        requests.iter_mut().zip(devices.values()).for_each(|(request, &device)| request.device = device);
    }
    if let Some(flags) = numbers(batch, "flags", &DataType::UInt16)? {
        let flags = flags.as_primitive::<UInt16Type>();
        requests
            .iter_mut()
            .zip(flags.values())
            .for_each(|(request, &flags)| request.flags = RequestFlags(flags));
    }
    fill_instants(batch, "start_ns", requests, |request| &mut request.start)?;
    fill_instants(batch, "finish_ns", requests, |request| &mut request.finish)
}

/// Puts a column of instants, some perhaps absent, into the requests.
fn fill_instants(
    batch: &RecordBatch,
    name: &str,
    requests: &mut [Request],
    instant: impl Fn(&mut Request) -> &mut Nanos,
) -> Result<(), Flaw> {
    let Some(column) = batch.column_by_name(name) else { return Ok(()) };
    if *column.data_type() == DataType::Null {
        return Ok(());
    }
    if column.null_count() == column.len() && column.data_type().is_integer() {
        // As they are from the start.
        return Ok(());
    }
    let column = integers(column, name, &DataType::UInt64)?;
    let column = column.as_primitive::<UInt64Type>();
    if column.null_count() == 0 {
        for (request, &at) in requests.iter_mut().zip(column.values()) {
            *instant(request) = Nanos(at);
        }
        return Ok(());
    }
    for (request, at) in requests.iter_mut().zip(column) {
        *instant(request) = at.map_or(Nanos::MAX, Nanos);
    }
    Ok(())
}

fn required(batch: &RecordBatch, name: &str, wanted: &DataType) -> Result<ArrayRef, Flaw> {
    numbers(batch, name, wanted)?.ok_or_else(|| format!("there is no column `{name}`").into())
}

/// An integer column without nulls, if it exists.
fn numbers(batch: &RecordBatch, name: &str, wanted: &DataType) -> Result<Option<ArrayRef>, Flaw> {
    let Some(column) = batch.column_by_name(name) else { return Ok(None) };
    no_nulls(column, name)?;
    Ok(Some(integers(column, name, wanted)?))
}

fn integers(column: &ArrayRef, name: &str, wanted: &DataType) -> Result<ArrayRef, Flaw> {
    if !column.data_type().is_integer() {
        return Err(format!("column `{name}` is of type {}, not an integer", column.data_type()).into());
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, wanted, &strict).map_err(|error| unfit(column, name, wanted, &error))
}

/// The first row whose value is beyond what the `wanted` integers can be.
fn unfit(column: &ArrayRef, name: &str, wanted: &DataType, error: &ArrowError) -> Flaw {
    let value = |row| array_value_to_string(column, row).unwrap_or_default();
    let (Ok(fitting), Some(bits)) = (cast(column, wanted), wanted.primitive_width().map(|bytes| 8 * bytes))
    else {
        return format!("column `{name}`: {error}").into();
    };
    match (0..column.len()).find(|&row| column.is_valid(row) && fitting.is_null(row)) {
        Some(row) => Flaw {
            row: Some(row),
            text: format!(
                "column `{name}` is `{}`: expected 0 to {}",
                value(row),
                grouped(u64::MAX >> (64 - bits))
            ),
        },
        None => format!("column `{name}`: {error}").into(),
    }
}

fn no_nulls(column: &ArrayRef, name: &str) -> Result<(), Flaw> {
    let Some(nulls) = column.logical_nulls() else { return Ok(()) };
    match (0..nulls.len()).find(|&row| nulls.is_null(row)) {
        Some(row) => Err(Flaw { row: Some(row), text: format!("column `{name}` has no value") }),
        None => Ok(()),
    }
}

/// The column `op`, one entry a row.
fn operations(batch: &RecordBatch) -> Result<Vec<Op>, Flaw> {
    let column = batch.column_by_name("op").ok_or_else(|| "there is no column `op`".to_owned())?;
    no_nulls(column, "op")?;
    match column.data_type() {
        DataType::Dictionary(_, _) if column.is_empty() => Ok(Vec::new()),
        DataType::Dictionary(_, _) => {
            let dictionary = column.as_any_dictionary();
            if dictionary.values().is_empty() {
                return Err("column `op` has a dictionary without values".to_owned().into());
            }
            let words = words(dictionary.values())?;
            // As headstack writes it; there are no nulls, as was looked at above.
            if let Some(keys) = dictionary.keys().as_primitive_opt::<Int8Type>() {
                // A place for each key there can be, so that none is looked at twice.
                let mut places = [None; 1 << 8];
                (0..=i8::MAX).zip(&words).for_each(|(key, &word)| places[usize::from(key as u8)] = word);
                let mut ops = Vec::with_capacity(keys.len());
                for (row, &key) in keys.values().iter().enumerate() {
                    ops.push(places[usize::from(key as u8)].ok_or_else(|| unknown_word(row))?);
                }
                return Ok(ops);
            }
            let keyed = |(row, key): (usize, usize)| {
                words.get(key).copied().flatten().ok_or_else(|| unknown_word(row))
            };
            dictionary.normalized_keys().into_iter().enumerate().map(keyed).collect()
        }
        DataType::Boolean => {
            let reads = column.as_boolean();
            Ok(reads.values().iter().map(|read| if read { Op::Read } else { Op::Write }).collect())
        }
        kind if kind.is_integer() => {
            let codes = integers(column, "op", &DataType::UInt64)?;
            let codes = codes.as_primitive::<UInt64Type>().values().iter().enumerate();
            codes.map(|(row, &code)| operation(code).ok_or_else(|| unknown_word(row))).collect()
        }
        _ => {
            let words = words(column)?.into_iter().enumerate();
            words.map(|(row, word)| word.ok_or_else(|| unknown_word(row))).collect()
        }
    }
}

fn operation(code: u64) -> Option<Op> {
    match code {
        0 => Some(Op::Read),
        1 => Some(Op::Write),
        _ => None,
    }
}

/// Strings as directions; `None` where a string is no direction.
fn words(column: &ArrayRef) -> Result<Vec<Option<Op>>, Flaw> {
    let kind = column.data_type();
    if !matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        return Err(format!("column `op` is of type {kind}, not a string, a boolean or an integer").into());
    }
    let column =
        arrow_cast::cast(column, &DataType::Utf8).map_err(|error| format!("column `op`: {error}"))?;
    Ok(column.as_string::<i32>().iter().map(|word| direction(word?.as_bytes())).collect())
}

#[cold]
fn unknown_word(row: usize) -> Flaw {
    Flaw { row: Some(row), text: "`op` is neither read (R, 0) nor write (W, 1)".into() }
}

/// Calls into the libraries that read columnar files, which answer some damaged files with a panic: an error here. (The
/// panic's own message still goes to stderr, unless the program has a panic hook.)
pub(crate) fn guarded<T, E: std::fmt::Display>(read: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the file is damaged".into()),
    }
}

/// Record batches at work as a trace: what the columnar formats share.
pub(crate) struct BatchDecoder {
    pub(crate) batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    pub(crate) sector_bytes: u32,
    rows: u64,
    /// Rows that are no read or write.
    others: u64,
    /// Flushes and discards are wanted, too.
    commands: bool,
    scratch: Vec<Request>,
}

impl BatchDecoder {
    /// Reads `batches`, whose columns are `schema`, from a file or table called `path` in messages. A sector size in the
    /// options must agree with a stated one.
    pub(crate) fn new(
        path: &Path,
        schema: &Schema,
        stated_sector_bytes: Option<&str>,
        batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
        options: &OpenOptions,
    ) -> Result<Self, TraceError> {
        let table = path.display();
        if let Some(missing) = missing_column(schema) {
            let names =
                schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ");
            return Err(TraceError::unusable(
                format!("`{table}` has no column `{missing}`; columns: {names:.300}"),
                format!(
                    "a trace table has the columns {} and perhaps {}",
                    COLUMNS[..REQUIRED].join(", "),
                    COLUMNS[REQUIRED..].join(", ")
                ),
            ));
        }
        let stated = match stated_sector_bytes.map(str::parse::<u32>) {
            None => None,
            Some(Ok(size)) if size > 0 => Some(size),
            Some(_) => {
                let problem = format!(
                    "`{table}` states a sector size (`{SECTOR_BYTES_KEY}` in its metadata) that is not a positive number"
                );
                return Err(TraceError::Unusable { problem, hint: None });
            }
        };
        let sector_bytes = options.agreed_sector_bytes(path, stated)?.unwrap_or(512);
        Ok(Self {
            batches,
            sector_bytes,
            rows: 0,
            others: 0,
            commands: options.commands,
            scratch: Vec::new(),
        })
    }
}

impl BatchDecoder {
    /// The next rows.
    pub(crate) fn next_rows(&mut self) -> Result<Option<RecordBatch>, String> {
        guarded(|| self.batches.next().transpose())
    }
}

impl Decoder for BatchDecoder {
    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn records_skipped(&self) -> u64 {
        self.others
    }

    fn decode(&mut self, batch: &mut Vec<Request>, gate: &mut Gate) -> Result<(), TraceError> {
        while batch.is_empty() {
            let place = |row: Option<usize>| Place::Row(self.rows + 1 + row.unwrap_or(0) as u64);
            let rows = guarded(|| self.batches.next().transpose());
            let rows = rows.map_err(|problem| gate.error(place(None), Problem(problem)))?;
            let Some(rows) = rows else { break };
            if let Err(flaw) = append_requests(&rows, batch) {
                batch.clear();
                return Err(gate.error(place(flaw.row), Problem(flaw.text)));
            }
            let kinds = kinds(&rows).map_err(|(row, problem)| gate.error(place(Some(row)), Problem(problem)));
            if let Some(kinds) = kinds? {
                let (before, mut kinds) = (batch.len(), kinds.into_iter());
                batch.retain_mut(|request| {
                    let kind = kinds.next().unwrap_or_default();
                    let command = Io { kind, ..Io::new(*request) }.command();
                    let wanted = command.filter(|_| self.commands || kind == Kind::Data);
                    *request = wanted.unwrap_or(*request);
                    wanted.is_some()
                });
                self.others += (before - batch.len()) as u64;
            }
            if gate.admit_all(batch) {
                self.rows += batch.len() as u64;
                continue;
            }
            std::mem::swap(batch, &mut self.scratch);
            batch.clear();
            for request in self.scratch.drain(..) {
                self.rows += 1;
                gate.admit(batch, request, Place::Row(self.rows))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
