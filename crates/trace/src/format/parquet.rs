//! Parquet with the columns of [`request_schema`](crate::request_schema): headstack's own format.
//!
//! Only the columns of a trace are read, whatever else the file holds, 8,192 rows at a time. The sector size stands in
//! the file's key-value metadata as `sector_bytes`.

use arrow_schema::Field;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::statistics::Statistics;

use crate::format::Format;
use crate::format::columns::{BatchDecoder, COLUMNS, SECTOR_BYTES_KEY, guarded};
use crate::format::columns_io::{COLUMNS as IO_COLUMNS, KIND, Table};
use crate::input::Input;
use crate::{OpenOptions, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "parquet",
    about: "Parquet with headstack's columns (arrival_ns, lba, sectors, op, …)",
    sniff: |sample| sample.bytes.starts_with(b"PAR1"),
    open: |input, options| Ok(Box::new(table(input, options, false)?.batches)),
};

const ROWS: usize = 8192;

/// The rows of a file, with the columns of requests or, with `all`, those of I/Os.
pub(super) fn table(input: Input, options: &OpenOptions, all: bool) -> Result<Table, TraceError> {
    let path = input.path().clone();
    let file = input.into_file()?;
    let unreadable = |problem: String| TraceError::Unusable {
        problem: format!("`{}` is not a readable Parquet file: {problem}", path.display()),
        hint: None,
    };
    let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new(file)).map_err(unreadable)?;
    let schema = builder.schema().clone();
    let stated = builder.metadata().file_metadata().key_value_metadata();
    let stated =
        stated.and_then(|pairs| pairs.iter().find(|pair| pair.key == SECTOR_BYTES_KEY)?.value.clone());
    let known = |name: &str| COLUMNS.contains(&name) || name == KIND || all && IO_COLUMNS.contains(&name);
    let says_nothing = |index, field: &Field| !all && is_unmeasured(builder.metadata(), index, field);
    let wanted = schema
        .fields()
        .iter()
        .enumerate()
        .filter(|(index, field)| known(field.name()) && !says_nothing(*index, field));
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.map(|(index, _)| index));
    let rows = guarded(|| builder.with_projection(mask).with_batch_size(ROWS).build()).map_err(unreadable)?;
    let batches = BatchDecoder::new(&path, &schema, stated.as_deref(), Box::new(rows), options)?;
    Ok(Table { schema, batches })
}

/// Whether a column of measured instants has not one: it need not be read.
fn is_unmeasured(metadata: &ParquetMetaData, index: usize, field: &Field) -> bool {
    let schema = metadata.file_metadata().schema_descr();
    let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == index);
    let is_instant =
        ["start_ns", "finish_ns"].contains(&field.name().as_str()) && field.data_type().is_integer();
    is_instant
        && leaf.is_some_and(|leaf| {
            metadata.row_groups().iter().all(|group| {
                let nulls = group.column(leaf).statistics().and_then(Statistics::null_count_opt);
                nulls.is_some_and(|nulls| i64::try_from(nulls) == Ok(group.num_rows()))
            })
        })
}
