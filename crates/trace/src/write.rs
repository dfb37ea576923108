//! Traces into files: Parquet (headstack's own) and CSV that reads back the same.

use std::io::Write as _;
use std::path::Path;

use headstack_units::Nanos;

use crate::atomic_file::AtomicFile;
use crate::format::columns::{record_batch, request_schema};
use crate::format::csv::SECTOR_BYTES_COMMENT;
use crate::table::ParquetSink;
use crate::{Op, Request, RequestSource, TraceError};

/// What a trace is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Parquet with the columns of [`request_schema`].
    Parquet,
    /// Text with the columns of the format `csv`.
    Csv,
}

impl OutputFormat {
    /// By the extension of `path`: `parquet`, `pq` or `csv`.
    ///
    /// # Errors
    /// If it is another one.
    pub fn of(path: &Path) -> Result<Self, TraceError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            _ => Err(TraceError::unusable(
                format!("`{}` does not say what to write", path.display()),
                "traces are written as .parquet or .csv".into(),
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
        OutputFormat::Parquet => write_parquet(source, sector_bytes, path),
        OutputFormat::Csv => write_csv(source, sector_bytes, path),
    }
}

fn write_parquet(source: &mut dyn RequestSource, sector_bytes: u32, path: &Path) -> Result<u64, TraceError> {
    let schema = request_schema(sector_bytes);
    let mut sink = ParquetSink::create(path, &schema)?;
    let count = for_each_batch(source, |batch| sink.push(&record_batch(batch, &schema)?))?;
    sink.finish()?;
    Ok(count)
}

fn write_csv(source: &mut dyn RequestSource, sector_bytes: u32, path: &Path) -> Result<u64, TraceError> {
    let mut file = AtomicFile::create(path)?;
    let mut text = format!(
        "# {SECTOR_BYTES_COMMENT} = {sector_bytes}\narrival_ns,device,lba,sectors,op,start_ns,finish_ns,flags\n"
    )
    .into_bytes();
    let mut write = |text: &[u8]| {
        file.write_all(text).map_err(|source| TraceError::Io { action: "write", path: path.into(), source })
    };
    write(&text)?;
    let count = for_each_batch(source, |batch| {
        text.clear();
        for request in batch {
            push_line(&mut text, request);
        }
        write(&text)
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
mod tests {
    use super::*;
    use crate::testing::{drain, read_all};
    use crate::{InMemory, OpenOptions, RequestFlags, open};
    use headstack_units::Lba;
    use proptest::prelude::*;

    fn any_request() -> impl Strategy<Value = Request> {
        let measured = proptest::option::of((0_u64..1 << 40, proptest::option::of(0_u64..1 << 40)));
        let extent = (0..u64::MAX >> 1, 1_u32..);
        (0_u64..1 << 50, extent, any::<(u32, bool, u8)>(), measured).prop_map(
            |(arrival, (lba, sectors), (device, read, flags), measured)| {
                let op = if read { Op::Read } else { Op::Write };
                let mut request = Request::new(Nanos(arrival), op, Lba(lba), sectors);
                (request.device, request.flags) = (device, RequestFlags(flags));
                if let Some((wait, service)) = measured {
                    request.start = Nanos(arrival + wait);
                    request.finish = service.map_or(Nanos::MAX, |service| Nanos(arrival + wait + service));
                }
                request
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_written_reads_back_the_same(
            mut requests in proptest::collection::vec(any_request(), 0..50),
            sector_bytes in prop::sample::select(vec![256_u32, 512, 520, 4096]),
        ) {
            requests.sort_by_key(|request| request.arrival);
            let directory = tempfile::tempdir().unwrap();
            for name in ["t.csv", "t.parquet"] {
                let path = directory.path().join(name);
                let format = OutputFormat::of(&path).unwrap();
                let count = convert(&mut InMemory::new(requests.clone()), sector_bytes, &path, format).unwrap();
                prop_assert_eq!(count, requests.len() as u64);
                let mut reader = open(&path, &OpenOptions::default()).unwrap();
                prop_assert_eq!(reader.sector_bytes(), sector_bytes);
                prop_assert_eq!(&drain(&mut reader).unwrap(), &requests);
            }
        }
    }

    #[test]
    fn csv_lines_are_as_documented() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.csv");
        let mut measured = Request::new(Nanos(7), Op::Write, Lba(12_345_678_901), 8);
        (measured.start, measured.finish, measured.device) = (Nanos(9), Nanos(10), 3);
        measured.flags = RequestFlags::ORDERED;
        let requests = vec![Request::new(Nanos(0), Op::Read, Lba(0), 1), measured];
        convert(&mut InMemory::new(requests), 256, &path, OutputFormat::Csv).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let header = "# sector_bytes = 256\narrival_ns,device,lba,sectors,op,start_ns,finish_ns,flags\n";
        assert_eq!(text, format!("{header}0,0,0,1,R,,,0\n7,3,12345678901,8,W,9,10,2\n"));
    }

    #[test]
    fn a_failing_source_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let bad = crate::testing::text_file("1 0 0 1 0\n2 0 0 1 0\n1 0 0 1 0\n");
        for name in ["t.csv", "t.parquet"] {
            let path = directory.path().join(name);
            let mut source = open(bad.path(), &OpenOptions::default()).unwrap();
            let error = convert(&mut source, 512, &path, OutputFormat::of(&path).unwrap()).unwrap_err();
            assert!(error.to_string().contains("line 3"), "{error}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn many_batches_come_through() {
        let directory = tempfile::tempdir().unwrap();
        let requests: Vec<_> =
            (0..30_000).map(|at| Request::new(Nanos(at), Op::Read, Lba(at * 3), 2)).collect();
        for name in ["t.csv", "t.parquet"] {
            let path = directory.path().join(name);
            let format = OutputFormat::of(&path).unwrap();
            convert(&mut InMemory::new(requests.clone()), 512, &path, format).unwrap();
            assert_eq!(read_all(&path, &OpenOptions::default()).unwrap(), requests);
        }
        let error = OutputFormat::of(Path::new("t.txt")).unwrap_err();
        assert!(error.hint().unwrap().contains(".parquet or .csv"));
    }
}
