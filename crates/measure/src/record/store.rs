//! Records on disk: a journal while they are taken, a Parquet file when they are complete or were stopped.

use super::{Record, RecordHead, columns};
use crate::MeasureError;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::Schema;
use headstack_trace::atomic_file::AtomicFile;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const KEY: &str = "headstack.measure";
/// Samples that may be lost when the machine stops.
const JOURNAL_ROWS: usize = 512;

/// Where the record of a measurement goes.
pub struct Store {
    path: Option<PathBuf>,
    journal: Option<StreamWriter<BufWriter<File>>>,
    written: usize,
}

fn problem(path: &Path, problem: &dyn ToString, hint: Option<&str>) -> MeasureError {
    MeasureError::Record {
        path: path.to_owned(),
        problem: problem.to_string(),
        hint: hint.map(str::to_owned),
    }
}

/// A record that cannot be written, as on a full disk: what its journal holds can be gone on with.
fn unwritten(path: &Path, error: &dyn std::error::Error) -> MeasureError {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    // Arrow puts its own words before those of the system.
    let reason = innermost.to_string();
    let reason = reason.trim_start_matches("Io error: ").trim_start_matches("External: ");
    let hint = "what was measured before is in the `.part` beside the record: make room, and `--resume` goes on with it";
    problem(path, &format!("cannot be written: {reason}"), Some(hint))
}

/// The journal of a record.
pub fn journal_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

impl Store {
    /// Nowhere: the record lives in memory.
    pub fn in_memory() -> Self {
        Self { path: None, journal: None, written: 0 }
    }

    /// A file; the journal is begun with what the record already holds.
    ///
    /// # Errors
    /// [`MeasureError::Record`] if the journal cannot be written.
    pub fn at(path: &Path, record: &Record) -> Result<Self, MeasureError> {
        let part = journal_path(path);
        let with_head = labelled(record).map_err(|error| problem(path, &error, None))?;
        // An older journal is replaced only when the new one holds what it held.
        let new = part.with_extension("part.new");
        let file = File::create(&new)
            .map_err(|error| problem(&new, &error, Some("give `--record` a place that can be written")))?;
        let journal = StreamWriter::try_new(BufWriter::new(file), &with_head)
            .map_err(|error| unwritten(&part, &error))?;
        let mut store = Self { path: Some(path.to_owned()), journal: Some(journal), written: 0 };
        store.append(record, true)?;
        std::fs::rename(&new, &part).map_err(|error| problem(&part, &error, None))?;
        Ok(store)
    }

    /// Takes over the samples that are new, when there are enough of them or at the end of a probe.
    ///
    /// # Errors
    /// [`MeasureError::Record`] if the journal cannot be written.
    pub fn append(&mut self, record: &Record, now: bool) -> Result<(), MeasureError> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let new = &record.samples[self.written..];
        if new.is_empty() || !now && new.len() < JOURNAL_ROWS {
            return Ok(());
        }
        let path = self.path.clone().unwrap_or_default();
        journal
            .write(&columns::batch(new))
            .and_then(|()| journal.get_mut().flush().map_err(Into::into))
            .map_err(|error| unwritten(&journal_path(&path), &error))?;
        self.written = record.samples.len();
        Ok(())
    }

    /// Writes the Parquet file and drops the journal.
    ///
    /// # Errors
    /// [`MeasureError::Record`] if it cannot be written; the journal stays then.
    pub fn finish(mut self, record: &Record) -> Result<(), MeasureError> {
        self.append(record, true)?;
        let Some(path) = self.path.take() else { return Ok(()) };
        self.journal = None;
        write(record, &path)?;
        let _ = std::fs::remove_file(journal_path(&path));
        Ok(())
    }
}

/// Writes a record as a Parquet file, whole or not at all.
///
/// # Errors
/// [`MeasureError::Record`] and [`MeasureError::Trace`] if it cannot be written.
pub fn write(record: &Record, path: &Path) -> Result<(), MeasureError> {
    let head = serde_json::to_string(&record.head).map_err(|error| problem(path, &error, None))?;
    let properties = WriterProperties::builder()
        .set_compression(parquet::basic::Compression::ZSTD(parquet::basic::ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![KeyValue::new(KEY.to_owned(), head)]))
        .build();
    let mut file = AtomicFile::create(path)?;
    let parquet = |error: parquet::errors::ParquetError| unwritten(path, &error);
    let mut writer = ArrowWriter::try_new(&mut file, columns::schema(), Some(properties)).map_err(parquet)?;
    for samples in record.samples.chunks(1 << 16) {
        writer.write(&columns::batch(samples)).map_err(parquet)?;
    }
    writer.close().map_err(parquet)?;
    file.commit()?;
    Ok(())
}

/// Reads a record: the Parquet file, or the journal of one that was not finished.
///
/// # Errors
/// [`MeasureError::Record`] if there is neither, or it is no record.
pub fn read(path: &Path) -> Result<Record, MeasureError> {
    let part = journal_path(path);
    if part.exists() {
        return read_journal(&part);
    }
    let file = File::open(path).map_err(|error| {
        problem(path, &error, Some("name a record that `headstack measure --record` wrote"))
    })?;
    let unreadable = |reason: &dyn ToString| not_a_record(path, &reason.to_string());
    let metadata = file.metadata().map_err(|error| problem(path, &error, None))?;
    if !metadata.is_file() {
        return Err(unreadable(&"it is not a file"));
    }
    if !starts_as_parquet(&file) {
        return Err(unreadable(&"it is not a Parquet file"));
    }
    let cut_off = |_| unreadable(&"it is a Parquet file that is cut off or damaged");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(cut_off)?;
    let head = builder
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == KEY))
        .and_then(|pair| pair.value.clone())
        .ok_or_else(|| unreadable(&"it is a Parquet file that does not say of which device it was taken"))?;
    let head: RecordHead = serde_json::from_str(&head)
        .map_err(|error| unreadable(&format!("what it says of its device cannot be understood ({error})")))?;
    let mut record = Record { head, samples: Vec::new() };
    for batch in builder.build().map_err(|_| unreadable(&"its samples are damaged"))? {
        let batch = batch.map_err(|_| unreadable(&"its samples are damaged"))?;
        record.samples.extend(columns::samples(&batch).map_err(|error| unreadable(&error))?);
    }
    Ok(record)
}

fn not_a_record(path: &Path, reason: &str) -> MeasureError {
    let hint = "name a record: the Parquet file that `headstack measure DEVICE --record F.parquet` wrote";
    problem(path, &format!("this is not a record of a measurement: {reason}"), Some(hint))
}

/// Whether a file begins with the letters that all Parquet files begin with.
fn starts_as_parquet(mut file: &File) -> bool {
    let mut letters = [0; 4];
    file.read_exact(&mut letters).is_ok() && &letters == b"PAR1"
}

fn read_journal(part: &Path) -> Result<Record, MeasureError> {
    let broken = |error: &dyn ToString| {
        problem(part, &error.to_string(), Some("remove it to begin anew: nothing in it can be read"))
    };
    let file = File::open(part).map_err(|error| broken(&error))?;
    read_stream(BufReader::new(file)).map_err(|error| broken(&error))
}

/// A record as a journal holds it, for another process.
///
/// # Errors
/// [`MeasureError::Record`] if it cannot be put in words.
pub fn to_bytes(record: &Record) -> Result<Vec<u8>, MeasureError> {
    let broken = |error: &dyn ToString| problem(Path::new("a record"), &error.to_string(), None);
    let schema = labelled(record).map_err(|error| broken(&error))?;
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &schema).map_err(|error| broken(&error))?;
    for samples in record.samples.chunks(1 << 16) {
        writer.write(&columns::batch(samples)).map_err(|error| broken(&error))?;
    }
    writer.finish().map_err(|error| broken(&error))?;
    drop(writer);
    Ok(bytes)
}

/// The record that [`to_bytes`] was given.
///
/// # Errors
/// [`MeasureError::Record`] if it is not one.
pub fn from_bytes(bytes: &[u8]) -> Result<Record, MeasureError> {
    let broken = |error: String| {
        problem(Path::new("a pickled record"), &error, Some("pickle it with the same version"))
    };
    read_stream(bytes).map_err(broken)
}

/// The columns of a journal, with what is known beside the samples.
fn labelled(record: &Record) -> Result<Schema, serde_json::Error> {
    let head = serde_json::to_string(&record.head)?;
    Ok(columns::schema().as_ref().clone().with_metadata([(KEY.to_owned(), head)].into_iter().collect()))
}

fn read_stream(source: impl Read) -> Result<Record, String> {
    let reader = StreamReader::try_new(source, None).map_err(|error| error.to_string())?;
    let schema = Arc::clone(&reader.schema());
    let head = schema.metadata().get(KEY).ok_or("it is not a record")?;
    let head: RecordHead = serde_json::from_str(head).map_err(|error| error.to_string())?;
    let mut record = Record { head, samples: Vec::new() };
    // The last batch may be cut off: what comes before it counts.
    for batch in reader.map_while(Result::ok) {
        record.samples.extend(columns::samples(&batch)?);
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::ArrowError;

    #[test]
    fn a_full_disk_is_told_with_how_to_go_on() {
        let full = std::io::Error::from_raw_os_error(28);
        let error = unwritten(Path::new("r.parquet.part"), &ArrowError::IoError(full.to_string(), full));
        assert_eq!(
            error.to_string(),
            "r.parquet.part: cannot be written: No space left on device (os error 28)"
        );
        assert!(error.hint().unwrap().contains("`--resume` goes on with it"));
    }
}
