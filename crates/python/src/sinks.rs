//! Where the tables of a run go: Parquet files, memory, a sample.

use crate::error::Error;
use crate::table::Table;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use headstack_system::record::{
    BackgroundRow, background_schema, background_to_batch, driver_schema, driver_to_batch, schema, to_batch,
};
use headstack_system::{CompletionRow, CompletionSink, DriverRow, SystemError};
use headstack_trace::atomic_file::Together;
use headstack_trace::table::ParquetSink;
use pyo3::pybacked::PyBackedBytes;
use std::borrow::Cow;
use std::path::Path;
use std::slice;

/// How many rows a sample has at most.
const SAMPLE_ROWS: usize = 1 << 17;

/// What is to become of one kind of rows.
pub(crate) struct Wanted<'a> {
    /// A Parquet file for them.
    pub(crate) out: Option<&'a Path>,
    /// They are kept in memory.
    pub(crate) keep: bool,
}

/// One kind of rows: into a file, into memory, or neither.
struct TableSink {
    schema: SchemaRef,
    file: Option<ParquetSink>,
    kept: Option<Vec<RecordBatch>>,
}

impl TableSink {
    fn new(schema: SchemaRef, wanted: &Wanted<'_>) -> Result<Self, Error> {
        let file = wanted.out.map(|out| ParquetSink::create(out, &schema)).transpose()?;
        Ok(Self { schema, file, kept: wanted.keep.then(Vec::new) })
    }

    /// Whether anybody wants rows.
    fn is_wanted(&self) -> bool {
        self.file.is_some() || self.kept.is_some()
    }

    /// Takes rows, if anybody wants them.
    fn push<R>(&mut self, rows: &[R], to_batch: fn(&[R]) -> RecordBatch) -> Result<(), SystemError> {
        if !self.is_wanted() {
            return Ok(());
        }
        let batch = self.labelled(to_batch(rows))?;
        if let Some(file) = &mut self.file {
            file.push(&batch)?;
        }
        if let Some(kept) = &mut self.kept {
            kept.push(batch);
        }
        Ok(())
    }

    /// The batch with the metadata of the schema.
    fn labelled(&self, batch: RecordBatch) -> Result<RecordBatch, SystemError> {
        batch.with_schema(self.schema.clone()).map_err(|error| SystemError::Sink(Box::new(error)))
    }

    fn finish(self) -> Result<Option<(SchemaRef, Vec<RecordBatch>)>, Error> {
        if let Some(file) = self.file {
            file.finish()?;
        }
        Ok(self.kept.map(|kept| (self.schema, kept)))
    }
}

/// What was kept of one kind of rows.
pub(crate) type Kept = Option<(SchemaRef, Vec<RecordBatch>)>;

/// It as a table.
pub(crate) fn table(kept: &Kept) -> Option<Table> {
    kept.as_ref().map(|(schema, batches)| Table::new(schema.clone(), batches.clone()))
}

/// What is left of the rows of a run.
pub(crate) struct Tables {
    pub(crate) completions: Kept,
    pub(crate) driver: Kept,
    pub(crate) background: Kept,
    /// Every how many-th request, and those.
    pub(crate) sample: Option<(u64, SchemaRef, RecordBatch)>,
}

/// The tables as bytes of Arrow's stream format: completions, requests of the driver, background work, and the sample with
/// its stride.
pub(crate) type Streams<B> = (Option<B>, Option<B>, Option<B>, Option<(u64, B)>);
/// Bytes on their way to Python.
pub(crate) type Bytes = Cow<'static, [u8]>;

impl Tables {
    /// What `pickle` keeps of them.
    pub(crate) fn to_streams(&self) -> Result<Streams<Bytes>, Error> {
        let whole =
            |kept: &Kept| kept.as_ref().map(|(schema, batches)| to_stream(schema, batches)).transpose();
        let sample = self.sample.as_ref();
        let sample = sample.map(|(stride, schema, batch)| {
            Ok::<_, Error>((*stride, to_stream(schema, slice::from_ref(batch))?))
        });
        Ok((whole(&self.completions)?, whole(&self.driver)?, whole(&self.background)?, sample.transpose()?))
    }

    /// The tables that were pickled.
    pub(crate) fn of_streams(
        (completions, driver, background, sample): Streams<PyBackedBytes>,
    ) -> Result<Self, Error> {
        let whole = |bytes: Option<PyBackedBytes>| bytes.map(|bytes| of_stream(&bytes)).transpose();
        let sample = sample.map(|(stride, bytes)| {
            let (schema, batches) = of_stream(&bytes)?;
            let batch = batches.into_iter().next().unwrap_or_else(|| RecordBatch::new_empty(schema.clone()));
            Ok::<_, Error>((stride, schema, batch))
        });
        Ok(Self {
            completions: whole(completions)?,
            driver: whole(driver)?,
            background: whole(background)?,
            sample: sample.transpose()?,
        })
    }
}

fn to_stream(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Bytes, Error> {
    let mut bytes = Vec::new();
    let mut write = || {
        let mut writer = StreamWriter::try_new(&mut bytes, schema)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()
    };
    write().map_err(|error| Error::Internal(format!("a table cannot be pickled: {error}")))?;
    Ok(Cow::Owned(bytes))
}

fn of_stream(bytes: &[u8]) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    let read = || {
        let reader = StreamReader::try_new(bytes, None)?;
        let schema = reader.schema();
        Ok::<_, ArrowError>((schema, reader.collect::<Result<_, _>>()?))
    };
    read().map_err(|error| {
        Error::input(
            format!("the pickled table cannot be restored: {error}"),
            "pickle it with the same version",
        )
    })
}

/// Where the rows of a run go.
pub(crate) struct Sinks {
    completions: TableSink,
    driver: TableSink,
    background: TableSink,
    sample: Option<Sample>,
}

impl Sinks {
    /// `label` adds to a table's columns what a reader of the file wants to know of the run.
    pub(crate) fn new(
        label: impl Fn(&SchemaRef) -> SchemaRef,
        completions: &Wanted<'_>,
        driver: &Wanted<'_>,
        background: &Wanted<'_>,
        sample: bool,
    ) -> Result<Self, Error> {
        Ok(Self {
            completions: TableSink::new(label(&schema()), completions)?,
            driver: TableSink::new(label(&driver_schema()), driver)?,
            background: TableSink::new(label(&background_schema()), background)?,
            sample: sample.then(Sample::default),
        })
    }

    /// Completes the files.
    pub(crate) fn finish(self) -> Result<Tables, Error> {
        let sample = match self.sample {
            None => None,
            Some(sample) => {
                let batch = self.completions.labelled(to_batch(&sample.rows))?;
                Some((sample.stride, self.completions.schema.clone(), batch))
            }
        };
        // The files of a run appear together.
        let together = Together::new();
        let tables = Tables {
            completions: self.completions.finish()?,
            driver: self.driver.finish()?,
            background: self.background.finish()?,
            sample,
        };
        together.publish()?;
        Ok(tables)
    }
}

impl CompletionSink for Sinks {
    fn push(&mut self, rows: &[CompletionRow]) -> Result<(), SystemError> {
        if let Some(sample) = &mut self.sample {
            sample.push(rows);
        }
        self.completions.push(rows, to_batch)
    }

    fn wants_rows(&self) -> bool {
        self.sample.is_some() || self.completions.is_wanted()
    }

    fn wants_background(&self) -> bool {
        self.background.is_wanted()
    }

    fn push_driver(&mut self, rows: &[DriverRow]) -> Result<(), SystemError> {
        self.driver.push(rows, driver_to_batch)
    }

    fn push_background(&mut self, rows: &[BackgroundRow]) -> Result<(), SystemError> {
        self.background.push(rows, background_to_batch)
    }
}

/// Every so many-th request, by its number; the distance doubles when there are too many.
struct Sample {
    stride: u64,
    rows: Vec<CompletionRow>,
}

impl Default for Sample {
    fn default() -> Self {
        Self { stride: 1, rows: Vec::new() }
    }
}

impl Sample {
    fn push(&mut self, rows: &[CompletionRow]) {
        let stride = self.stride;
        self.rows.extend(rows.iter().filter(|row| row.id % stride == 0));
        while self.rows.len() > SAMPLE_ROWS {
            self.stride *= 2;
            let stride = self.stride;
            self.rows.retain(|row| row.id % stride == 0);
        }
    }
}
