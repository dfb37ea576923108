//! Arrow IPC files (Feather 2) with the columns of [`request_schema`](crate::request_schema).
//!
//! Only the columns of a trace are decoded. The sector size stands in the schema's metadata as `sector_bytes`.

use std::io::BufReader;

use arrow::ipc::reader::FileReader;

use crate::format::columns::{BatchDecoder, COLUMNS, SECTOR_BYTES_KEY};
use crate::format::{Decoder, Format};
use crate::input::Input;
use crate::{OpenOptions, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "arrow",
    about: "Arrow IPC file with headstack's columns (arrival_ns, lba, sectors, op, …)",
    sniff: |sample| sample.bytes.starts_with(b"ARROW1"),
    open,
};

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Decoder>, TraceError> {
    let path = input.path().clone();
    let unreadable = |error: arrow::error::ArrowError| TraceError::Unusable {
        problem: format!("`{}` is no readable Arrow IPC file: {error}", path.display()),
        hint: None,
    };
    let mut file = BufReader::new(input.into_file()?);
    let schema = FileReader::try_new(&mut file, None).map_err(unreadable)?.schema();
    let wanted =
        schema.fields().iter().enumerate().filter(|(_, field)| COLUMNS.contains(&field.name().as_str()));
    let wanted = wanted.map(|(index, _)| index).collect();
    let stated = schema.metadata().get(SECTOR_BYTES_KEY).cloned();
    let batches = FileReader::try_new(file, Some(wanted)).map_err(unreadable)?;
    Ok(Box::new(BatchDecoder::new(&path, &schema, stated.as_deref(), Box::new(batches), options)?))
}
