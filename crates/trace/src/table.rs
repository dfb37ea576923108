//! Tables into Parquet files: traces, completions, probe records.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::TraceError;
use crate::atomic_file::AtomicFile;

/// A Parquet file being written, one batch after the other; it appears, whole, with [`finish`](Self::finish). Dropped
/// before, it leaves nothing.
///
/// zstd compression; 64-bit integer columns (instants, addresses) are stored as differences. The schema's metadata go into
/// the file's key-value metadata as well.
pub struct ParquetSink {
    writer: ArrowWriter<AtomicFile>,
    path: PathBuf,
}

impl ParquetSink {
    /// Starts to write a table with the columns of `schema` to `path`.
    ///
    /// # Errors
    /// If the file cannot be created or Parquet has no such column type.
    pub fn create(path: &Path, schema: &SchemaRef) -> Result<Self, TraceError> {
        let file = AtomicFile::create(path)?;
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties(schema)));
        let writer = writer.map_err(|error| failed(path, error))?;
        Ok(Self { writer, path: path.into() })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// If the batch has other columns, or the file cannot be written; the sink is of no use then.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<(), TraceError> {
        self.writer.write(batch).map_err(|error| failed(&self.path, error))
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the file cannot be written; nothing is left then.
    pub fn finish(self) -> Result<(), TraceError> {
        let path = self.path;
        self.writer.into_inner().map_err(|error| failed(&path, error))?.commit()
    }
}

/// Writes all `batches` to a Parquet file at `path`; the number of rows. On an error of the iterator's, nothing is left.
///
/// # Errors
/// The iterator's, and whatever keeps the file from being written.
pub fn write_record_batches(
    path: &Path,
    schema: &SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch, TraceError>>,
) -> Result<u64, TraceError> {
    let mut sink = ParquetSink::create(path, schema)?;
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        sink.push(&batch)?;
    }
    sink.finish()?;
    Ok(rows)
}

fn properties(schema: &Schema) -> WriterProperties {
    let mut metadata: Vec<_> = schema.metadata().iter().collect();
    metadata.sort();
    let metadata =
        metadata.into_iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(metadata));
    for field in schema.fields() {
        if field.data_type().is_integer() && field.data_type().primitive_width() == Some(8) {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    properties.build()
}

fn failed(path: &Path, error: ParquetError) -> TraceError {
    let source = match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(source) => *source,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    };
    TraceError::Io { action: "write", path: path.into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Request, record_batch, request_schema};
    use headstack_units::{Lba, Nanos};

    #[test]
    fn a_failing_source_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.parquet");
        let schema = request_schema(512);
        let one = record_batch(&[Request::new(Nanos(1), Op::Read, Lba(2), 3)], &schema);
        let broken = TraceError::Unusable { problem: "broken".into(), hint: None };
        let error = write_record_batches(&path, &schema, [one, Err(broken)]).unwrap_err();
        assert_eq!(error.to_string(), "broken");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_same_rows_make_the_same_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let schema = request_schema(512);
        let bytes = |name: &str| {
            let path = directory.path().join(name);
            let rows: Vec<_> =
                (0..10_000).map(|at| Request::new(Nanos(at * 7), Op::Write, Lba(at % 911), 8)).collect();
            let batches = rows.chunks(1000).map(|rows| record_batch(rows, &schema));
            assert_eq!(write_record_batches(&path, &schema, batches).unwrap(), 10_000);
            std::fs::read(path).unwrap()
        };
        assert_eq!(bytes("a"), bytes("b"));
    }
}
