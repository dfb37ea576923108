//! The completion record: one row per request, and its Arrow form.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use headstack_drive::command::{Background, Busy, CacheResult, Phases, SectorPassed, Work};
use headstack_units::{Lba, Nanos, Op, RequestFlags};

use crate::SystemError;
use crate::host::Origin;

/// Rows in a batch.
pub const BATCH_ROWS: usize = 8192;

/// How one request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionRow {
    /// Number of the request, in order of arrival, from 0.
    pub id: u64,
    /// The volume.
    pub device: u32,
    /// The drive whose command finished last.
    pub drive: u32,
    /// Direction.
    pub op: Op,
    /// The marks it was given to the drive with.
    pub flags: RequestFlags,
    /// What the cache did for that command.
    pub cache: CacheResult,
    /// Number of the host's sectors.
    pub sectors: u32,
    /// First sector, of the volume.
    pub lba: Lba,
    /// When the host issued it.
    pub arrival: Nanos,
    /// When the driver handed it to the drive.
    pub start: Nanos,
    /// When it was complete.
    pub finish: Nanos,
    /// Where the time from arrival to finish went, exactly.
    pub phases: Phases,
    /// Gross work of all its commands.
    pub busy: Busy,
    /// The last sector on the critical path of that command, by the drive's own addresses, where the completion depends on
    /// when one came around.
    pub passed: Option<SectorPassed>,
    /// The trace's measured start, or [`Nanos::MAX`].
    pub measured_start: Nanos,
    /// The trace's measured completion, or [`Nanos::MAX`].
    pub measured_finish: Nanos,
}

impl CompletionRow {
    /// From the host's request to completion.
    pub fn response(&self) -> Nanos {
        self.finish.saturating_sub(self.arrival)
    }

    /// From handing it to the drive to completion.
    pub fn service(&self) -> Nanos {
        self.finish.saturating_sub(self.start)
    }
}

/// How one request of the driver went, where the host has a buffer cache between its requests and the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverRow {
    /// As of any request. The number counts the driver's requests, in order of arrival there; the arrival is the instant
    /// at which the cache, or a raw request, came to the driver.
    pub row: CompletionRow,
    /// Why the driver got it.
    pub origin: Origin,
}

/// Media work that no command waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundRow {
    /// The drive.
    pub drive: u32,
    /// The work; its addresses are the drive's (all actuators).
    pub work: Background,
}

/// Where completions go.
pub trait CompletionSink {
    /// Takes rows, in order of completion, at most [`BATCH_ROWS`] of them.
    ///
    /// # Errors
    /// Whatever keeps them from being taken; the run ends with [`SystemError::Sink`].
    fn push(&mut self, rows: &[CompletionRow]) -> Result<(), SystemError>;

    /// Whether anything is done with completions; where not, they need not be put together to be pushed.
    fn wants_rows(&self) -> bool {
        true
    }

    /// Whether anything is done with background work; where not, it need not be told.
    fn wants_background(&self) -> bool {
        true
    }

    /// Takes records of background work.
    ///
    /// # Errors
    /// As [`CompletionSink::push`].
    fn push_background(&mut self, _rows: &[BackgroundRow]) -> Result<(), SystemError> {
        Ok(())
    }

    /// Takes the driver's requests of a host with a buffer cache, in order of completion.
    ///
    /// # Errors
    /// As [`CompletionSink::push`].
    fn push_driver(&mut self, _rows: &[DriverRow]) -> Result<(), SystemError> {
        Ok(())
    }
}

/// Lets everything go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl CompletionSink for Discard {
    fn wants_rows(&self) -> bool {
        false
    }

    fn wants_background(&self) -> bool {
        false
    }

    fn push(&mut self, _rows: &[CompletionRow]) -> Result<(), SystemError> {
        Ok(())
    }
}

/// Keeps everything in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The completions.
    pub rows: Vec<CompletionRow>,
    /// The background work.
    pub background: Vec<BackgroundRow>,
    /// The driver's requests, below a buffer cache.
    pub driver: Vec<DriverRow>,
}

impl CompletionSink for Keep {
    fn push(&mut self, rows: &[CompletionRow]) -> Result<(), SystemError> {
        self.rows.extend_from_slice(rows);
        Ok(())
    }

    fn push_background(&mut self, rows: &[BackgroundRow]) -> Result<(), SystemError> {
        self.background.extend_from_slice(rows);
        Ok(())
    }

    fn push_driver(&mut self, rows: &[DriverRow]) -> Result<(), SystemError> {
        self.driver.extend_from_slice(rows);
        Ok(())
    }
}

/// Hands completions to a function as Arrow batches.
pub struct ArrowSink<F>(pub F);

impl<F, E> CompletionSink for ArrowSink<F>
where
    F: FnMut(RecordBatch) -> Result<(), E>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn push(&mut self, rows: &[CompletionRow]) -> Result<(), SystemError> {
        (self.0)(to_batch(rows)).map_err(|error| SystemError::Sink(error.into()))
    }
}

const OPS: [&str; 2] = ["read", "write"];
const CACHE: [&str; 4] = ["hit", "partial-hit", "miss", "reported-early"];
const BUSY: [&str; 4] = ["busy_seek_ns", "busy_rotation_ns", "busy_transfer_ns", "busy_bus_ns"];

fn dictionary() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
}

/// The columns of the completion record. `flags` has a bit for each mark: 1 forced to the media, 2 ordered, 4 head of the
/// queue, 8 asynchronous, 16 raw, 32 flush, 64 limited, 512 discard, 1024 write same, 4096 completed without its
/// data, 8192 ended with an error ([`RequestFlags`]), as in traces.
pub fn schema() -> SchemaRef {
    let whole = |name: &str| Field::new(name, DataType::UInt64, false);
    let small = |name: &str| Field::new(name, DataType::UInt32, false);
    let mut fields = vec![
        whole("id"),
        small("device"),
        small("drive"),
        Field::new("op", dictionary(), false),
        Field::new("flags", DataType::UInt16, false),
        whole("lba"),
        small("sectors"),
        whole("arrival_ns"),
        whole("start_ns"),
        whole("finish_ns"),
    ];
    fields.extend(Phases::NAMES.iter().map(|phase| whole(&format!("{phase}_ns"))));
    fields.extend(BUSY.iter().map(|busy| whole(busy)));
    fields.push(Field::new("cache", dictionary(), false));
    fields.push(Field::new("measured_start_ns", DataType::UInt64, true));
    fields.push(Field::new("measured_finish_ns", DataType::UInt64, true));
    Arc::new(Schema::new(fields))
}

/// Rows as columns.
///
/// # Panics
/// Never: the columns are made to the schema.
pub fn to_batch(rows: &[CompletionRow]) -> RecordBatch {
    let whole = |value: &dyn Fn(&CompletionRow) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(value)))
    };
    let small = |value: &dyn Fn(&CompletionRow) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(value)))
    };
    let optional = |value: &dyn Fn(&CompletionRow) -> Nanos| -> ArrayRef {
        Arc::new(rows.iter().map(|row| value(row).present().map(|at| at.0)).collect::<UInt64Array>())
    };
    let mut columns = vec![
        whole(&|row| row.id),
        small(&|row| row.device),
        small(&|row| row.drive),
        words(&OPS, rows, |row| i8::from(row.op == Op::Write)),
        Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.flags.0))),
        whole(&|row| row.lba.0),
        small(&|row| row.sectors),
        whole(&|row| row.arrival.0),
        whole(&|row| row.start.0),
        whole(&|row| row.finish.0),
    ];
    for phase in 0..Phases::NAMES.len() {
        columns.push(whole(&|row| row.phases.as_array()[phase].0));
    }
    columns.push(whole(&|row| row.busy.seek.0));
    columns.push(whole(&|row| row.busy.rotation.0));
    columns.push(whole(&|row| row.busy.transfer.0));
    columns.push(whole(&|row| row.busy.bus.0));
    columns.push(words(&CACHE, rows, |row| match row.cache {
        CacheResult::Hit => 0,
        CacheResult::PartialHit => 1,
        CacheResult::Miss => 2,
        CacheResult::ReportedEarly => 3,
    }));
    columns.push(optional(&|row| row.measured_start));
    columns.push(optional(&|row| row.measured_finish));
    RecordBatch::try_new(schema(), columns).expect("the columns are made to the schema")
}

/// The columns of the record of the driver's requests: those of the completions, and why each was made.
pub fn driver_schema() -> SchemaRef {
    let mut fields: Vec<_> = schema().fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new("origin", dictionary(), false)));
    Arc::new(Schema::new(fields))
}

/// The driver's requests as columns.
///
/// # Panics
/// Never: the columns are made to the schema.
pub fn driver_to_batch(rows: &[DriverRow]) -> RecordBatch {
    let completions: Vec<CompletionRow> = rows.iter().map(|row| row.row).collect();
    let mut columns = to_batch(&completions).columns().to_vec();
    columns.push(words(&Origin::WORDS, rows, |row| row.origin as i8));
    RecordBatch::try_new(driver_schema(), columns).expect("the columns are made to the schema")
}

fn words<R>(names: &[&str], rows: &[R], key: impl Fn(&R) -> i8) -> ArrayRef {
    let keys = Int8Array::from_iter_values(rows.iter().map(key));
    let values = Arc::new(StringArray::from_iter_values(names));
    Arc::new(DictionaryArray::<Int8Type>::try_new(keys, values).expect("keys are indices of the words"))
}

/// The columns of the record of background work; `kind` is one of [`Work::NAMES`].
pub fn background_schema() -> SchemaRef {
    let mut fields = vec![
        Field::new("drive", DataType::UInt32, false),
        Field::new("kind", dictionary(), false),
        Field::new("lba", DataType::UInt64, false),
        Field::new("sectors", DataType::UInt32, false),
        Field::new("start_ns", DataType::UInt64, false),
        Field::new("finish_ns", DataType::UInt64, false),
    ];
    fields.extend(BUSY.iter().map(|busy| Field::new(*busy, DataType::UInt64, false)));
    Arc::new(Schema::new(fields))
}

/// Background work as columns.
///
/// # Panics
/// Never: the columns are made to the schema.
pub fn background_to_batch(rows: &[BackgroundRow]) -> RecordBatch {
    let whole = |value: &dyn Fn(&Background) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| value(&row.work))))
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.drive))),
        words(&Work::NAMES, rows, |row| row.work.work as i8),
        whole(&|work| work.lba.0),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.work.sectors))),
        whole(&|work| work.start.0),
        whole(&|work| work.finish.0),
        whole(&|work| work.busy.seek.0),
        whole(&|work| work.busy.rotation.0),
        whole(&|work| work.busy.transfer.0),
        whole(&|work| work.busy.bus.0),
    ];
    RecordBatch::try_new(background_schema(), columns).expect("the columns are made to the schema")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;

    #[test]
    fn rows_become_columns() {
        let row = CompletionRow {
            id: 7,
            device: 1,
            drive: 2,
            op: Op::Write,
            flags: RequestFlags::FORCE_MEDIA,
            cache: CacheResult::ReportedEarly,
            sectors: 8,
            lba: Lba(4096),
            arrival: Nanos(10),
            start: Nanos(20),
            finish: Nanos(50),
            phases: Phases { queue: Nanos(10), bus: Nanos(30), ..Phases::default() },
            busy: Busy::default(),
            passed: None,
            measured_start: Nanos(11),
            measured_finish: Nanos::MAX,
        };
        let batch = to_batch(&[row, row]);
        assert_eq!((batch.num_rows(), batch.num_columns()), (2, schema().fields().len()));
        let whole = |name: &str| {
            let column = batch.column_by_name(name).unwrap();
            column.as_any().downcast_ref::<UInt64Array>().unwrap().clone()
        };
        assert_eq!((whole("id").value(1), whole("queue_ns").value(0), whole("bus_ns").value(0)), (7, 10, 30));
        let flags = batch.column_by_name("flags").unwrap();
        assert_eq!(flags.as_any().downcast_ref::<UInt16Array>().unwrap().value(0), 1);
        assert_eq!(whole("measured_start_ns").value(0), 11);
        assert!(whole("measured_finish_ns").is_null(0));
        assert_eq!((row.response(), row.service()), (Nanos(40), Nanos(30)));
        let background =
            BackgroundRow { drive: 0, work: Background { work: Work::EarlyWrite, ..Background::default() } };
        let batch = background_to_batch(&[background]);
        let kind = batch.column_by_name("kind").unwrap();
        let kind = kind.as_any().downcast_ref::<DictionaryArray<Int8Type>>().unwrap();
        assert_eq!(Work::NAMES[kind.keys().value(0) as usize], "early-write");
    }
}
