//! Packed files that are cut or damaged.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::{Notes, TraceError};

/// What is wrong with a packed file, once that has been found; all copies tell the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cut(Arc<OnceLock<String>>);

impl Cut {
    pub(crate) fn error(&self) -> Option<TraceError> {
        let problem = self.0.get()?.clone();
        Some(TraceError::Unusable { problem, hint: None })
    }

    /// Counts as one bad record, and is told first.
    pub(crate) fn note(&self, notes: &mut Notes) {
        if let Some(error) = self.error() {
            notes.bad_above_all(&error);
        }
    }
}

/// How many packed bytes an unpacker has taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken(Arc<AtomicU64>);

/// Packed bytes, which are counted as they are taken.
pub(super) struct Counted<R> {
    inner: BufReader<R>,
    taken: Taken,
}

impl<R: Read> Counted<R> {
    pub(super) fn new(inner: R, taken: Taken) -> Self {
        Self { inner: BufReader::with_capacity(1 << 15, inner), taken }
    }

    /// The bytes themselves, if none was taken.
    pub(super) fn into_inner(self) -> BufReader<R> {
        self.inner
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.taken.0.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<R: Read> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.taken.0.fetch_add(count as u64, Ordering::Relaxed);
        self.inner.consume(count);
    }
}

/// How much there is, packed and not, as far as that is known.
pub(super) struct Sizes {
    taken: Taken,
    packed: Option<u64>,
    plain: Option<u64>,
}

impl Sizes {
    pub(super) fn new(taken: Taken, packed: Option<u64>, plain: Option<u64>) -> Self {
        Self { taken, packed, plain }
    }

    /// What is missing after `read` bytes came out.
    fn missing(&self, read: u64) -> String {
        let taken = self.taken.0.load(Ordering::Relaxed);
        let left = self.packed.map(|packed| packed.saturating_sub(taken));
        match (self.plain.filter(|plain| *plain > read), left) {
            (Some(plain), _) => format!(
                "{read} of {plain} bytes were unpacked, and {} % of the trace are missing",
                percent(plain - read, plain)
            ),
            (None, Some(left)) if left > 0 => format!(
                "{read} bytes were unpacked of its first {taken}; {} % of the file lie behind, and are not read",
                percent(left, taken + left)
            ),
            _ => format!(
                "{read} bytes were unpacked up to its end; how many are missing, if any, it does not say"
            ),
        }
    }
}

/// In whole percent, of which something is never none and a part never all.
fn percent(part: u64, whole: u64) -> u64 {
    (u128::from(part) * 100 / u128::from(whole)).clamp(1, 99) as u64
}

/// What the header of zstd says of its contents, if there is one.
pub(super) fn unpacked_bytes(header: &[u8]) -> Option<u64> {
    zstd::zstd_safe::get_frame_content_size(header).ok().flatten()
}

/// What comes out of an unpacker, which ends where that fails if it is tolerant.
pub(crate) struct Packed {
    inner: Box<dyn Read + Send>,
    path: Arc<Path>,
    tolerant: bool,
    cut: Cut,
    sizes: Sizes,
    read: u64,
}

impl Packed {
    pub(super) fn new(
        inner: Box<dyn Read + Send>,
        path: &Path,
        tolerant: bool,
        cut: Cut,
        sizes: Sizes,
    ) -> Self {
        Self { inner, path: path.into(), tolerant, cut, sizes, read: 0 }
    }
}

impl Read for Packed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.cut.0.get().is_some() {
            return Ok(0);
        }
        let error = match self.inner.read(out) {
            // The system's own errors are about the file as it lies there.
            Err(error) if error.raw_os_error().is_none() && error.kind() != ErrorKind::Interrupted => error,
            result => {
                self.read += *result.as_ref().unwrap_or(&0) as u64;
                return result;
            }
        };
        let missing = self.sizes.missing(self.read);
        if !self.tolerant {
            return Err(io::Error::new(error.kind(), format!("it is cut or damaged: {error}; {missing}")));
        }
        let _ = self.cut.0.set(format!("`{}` is cut or damaged ({error}): {missing}", self.path.display()));
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::open_ios;
    use crate::{IoSource as _, OpenOptions, RequestSource as _};
    use std::io::Write as _;

    /// A table of 9,000 requests.
    fn table() -> String {
        let row = |k| format!("{k},{},8,{}\n", k * 7919 % 100_003, if k % 3 == 0 { "W" } else { "R" });
        std::iter::once("arrival_ms,lba,sectors,op\n".to_owned()).chain((0..9_000).map(row)).collect()
    }

    /// The same, packed and cut after so many percent.
    fn cut_after(percent: usize, folder: &Path) -> std::path::PathBuf {
        let text = table();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(text.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let path = folder.join(format!("{percent}.csv.gz"));
        std::fs::write(&path, &packed[..packed.len() * percent / 100]).unwrap();
        path
    }

    /// How many requests are read, and what is noted, both ways.
    fn read(path: &Path, tolerant: bool) -> Result<(usize, Notes), TraceError> {
        let options = OpenOptions { tolerant, ..OpenOptions::default() };
        let mut requests = crate::open(path, &options)?;
        let (mut count, mut batch) = (0, Vec::new());
        loop {
            requests.next_batch(&mut batch)?;
            if batch.is_empty() {
                break;
            }
            count += batch.len();
        }
        let mut ios = open_ios(path, &options)?;
        let (mut same, mut batch) = (0, Vec::new());
        loop {
            ios.next_ios(&mut batch)?;
            if batch.is_empty() {
                break;
            }
            same += batch.len();
        }
        assert_eq!((count, requests.notes()), (same, ios.notes()));
        Ok((count, requests.notes()))
    }

    #[test]
    fn what_can_be_unpacked_is_read_and_the_rest_told() {
        let folder = tempfile::tempdir().unwrap();
        for percent in [5, 60, 99] {
            let path = cut_after(percent, folder.path());
            let (count, notes) = read(&path, true).unwrap();
            assert!(((90 * percent).saturating_sub(500)..=9_000).contains(&count), "{count} of {percent} %");
            let told = notes.first.iter().filter(|first| first.contains("is cut or damaged")).count();
            assert_eq!((told, notes.bad_records <= 2), (1, true), "{notes:?}");
            let error = read(&path, false).unwrap_err().to_string();
            assert!(error.contains("is cut or damaged"), "{error}");
        }
        let (count, notes) = read(&cut_after(100, folder.path()), true).unwrap();
        assert_eq!((count, notes), (9_000, Notes::default()));
        assert!(read(&cut_after(0, folder.path()), true).is_err());
    }
    /// How much is missing: of the file's end nobody knows, of what lies behind damage its share, and zstd says how much there was.
    #[test]
    fn a_cut_file_says_how_much_is_missing_where_that_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let told = |path: &Path| read(path, true).unwrap().1.first.join("\n");
        let said = told(&cut_after(60, folder.path()));
        assert!(said.contains("up to its end; how many are missing, if any, it does not say"), "{said}");

        // Behind a whole stream as many bytes that are none.
        let mut damaged = std::fs::read(cut_after(100, folder.path())).unwrap();
        damaged.resize(2 * damaged.len(), 0x55);
        let path = folder.path().join("damaged.csv.gz");
        std::fs::write(&path, damaged).unwrap();
        let said = told(&path);
        assert!(
            ["49 % of the file lie", "50 % of the file lie"].iter().any(|share| said.contains(share)),
            "{said}"
        );

        // Ten lines that make no sense, before it, hid it.
        let packed = |text: &str, path: &Path| {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            packed.write_all(text.as_bytes()).unwrap();
            let packed = packed.finish().unwrap();
            std::fs::write(path, &packed[..packed.len() - 9]).unwrap();
        };
        let path = folder.path().join("senseless.csv.gz");
        packed(&table().replace(",8,W", ",eight,W"), &path);
        let (_, notes) = read(&path, true).unwrap();
        assert!(notes.first[0].contains("is cut or damaged") && notes.first.len() == 10, "{notes:?}");

        let text = table();
        let mut packed = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
        packed.set_pledged_src_size(Some(text.len() as u64)).unwrap();
        packed.write_all(text.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let path = folder.path().join("cut.csv.zst");
        std::fs::write(&path, &packed[..packed.len() - 3]).unwrap();
        let said = told(&path);
        assert!(said.contains(&format!("of {} bytes were unpacked", text.len())), "{said}");
    }
}
