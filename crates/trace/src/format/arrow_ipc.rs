//! Arrow IPC files (Feather 2) with the columns of [`request_schema`](crate::request_schema).
//!
//! Only the columns of a trace are decoded. The sector size stands in the schema's metadata as `sector_bytes`.

use std::io::{BufReader, Read, Seek, SeekFrom};

use arrow_ipc::reader::FileReader;

use crate::format::Format;
use crate::format::columns::{BatchDecoder, COLUMNS, SECTOR_BYTES_KEY, guarded};
use crate::format::columns_io::{COLUMNS as IO_COLUMNS, KIND, Table};
use crate::input::Input;
use crate::{OpenOptions, TraceError};

pub(super) static FORMAT: Format = Format {
    name: "arrow",
    about: "Arrow IPC file with headstack's columns (arrival_ns, lba, sectors, op, …)",
    sniff: |sample| sample.bytes.starts_with(b"ARROW1"),
    open: |input, options| Ok(Box::new(table(input, options, false)?.batches)),
};

/// The rows of a file, with the columns of requests or, with `all`, those of I/Os.
pub(super) fn table(input: Input, options: &OpenOptions, all: bool) -> Result<Table, TraceError> {
    let path = input.path().clone();
    let unreadable = |problem: String| TraceError::Unusable {
        problem: format!("`{}` is not a readable Arrow IPC file: {problem}", path.display()),
        hint: None,
    };
    let mut file = BufReader::new(input.into_file()?);
    guarded(|| check_blocks(&mut file)).map_err(unreadable)?;
    let schema = guarded(|| FileReader::try_new(&mut file, None)).map_err(unreadable)?.schema();
    let known = |name: &str| COLUMNS.contains(&name) || name == KIND || all && IO_COLUMNS.contains(&name);
    let wanted = schema.fields().iter().enumerate().filter(|(_, field)| known(field.name()));
    let wanted = wanted.map(|(index, _)| index).collect();
    let stated = schema.metadata().get(SECTOR_BYTES_KEY).cloned();
    let batches = guarded(|| FileReader::try_new(file, Some(wanted))).map_err(unreadable)?;
    let batches = BatchDecoder::new(&path, &schema, stated.as_deref(), Box::new(batches), options)?;
    Ok(Table { schema, batches })
}

/// Checks that the blocks announced in the footer lie within the file: the reader asks for their memory unseen.
fn check_blocks(file: &mut (impl Read + Seek)) -> Result<(), String> {
    const TAIL: u64 = 10;
    let io = |error: std::io::Error| error.to_string();
    let length = file.seek(SeekFrom::End(0)).map_err(io)?;
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).map_err(io)?;
    file.read_exact(&mut tail).map_err(io)?;
    let size = i32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let start = u64::try_from(size).ok().and_then(|size| (length - TAIL).checked_sub(size));
    let start = start.ok_or("its footer is larger than the file")?;
    let mut footer = vec![0; (length - TAIL - start) as usize];
    file.seek(SeekFrom::Start(start)).map_err(io)?;
    file.read_exact(&mut footer).map_err(io)?;
    let footer = arrow_ipc::root_as_footer(&footer).map_err(|error| error.to_string())?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end = parts.iter().try_fold(0_u64, |end, &part| end.checked_add(u64::try_from(part).ok()?));
        if end.is_none_or(|end| end > start) {
            return Err("it announces a block that lies beyond its end".into());
        }
    }
    file.rewind().map_err(io)
}
