//! Packed files that are cut or damaged.

use std::io::{self, ErrorKind, Read};
use std::path::Path;
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

    /// Counts as one bad record.
    pub(crate) fn note(&self, notes: &mut Notes) {
        if let Some(error) = self.error() {
            notes.bad(&error);
        }
    }
}

/// What comes out of an unpacker, which ends where that fails if it is tolerant.
pub(crate) struct Packed {
    inner: Box<dyn Read + Send>,
    path: Arc<Path>,
    tolerant: bool,
    cut: Cut,
}

impl Packed {
    pub(crate) fn new(inner: Box<dyn Read + Send>, path: &Path, tolerant: bool, cut: Cut) -> Self {
        Self { inner, path: path.into(), tolerant, cut }
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
            result => return result,
        };
        if !self.tolerant {
            return Err(io::Error::new(error.kind(), format!("it is cut or damaged: {error}")));
        }
        let _ = self.cut.0.set(format!(
            "`{}` is cut or damaged ({error}); what could be unpacked before that was read",
            self.path.display()
        ));
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::open_ios;
    use crate::{IoSource as _, OpenOptions, RequestSource as _};
    use std::io::Write as _;

    /// A table of 9,000 requests, packed and cut after so many percent.
    fn cut_after(percent: usize, folder: &Path) -> std::path::PathBuf {
        let row = |k| format!("{k},{},8,{}\n", k * 7919 % 100_003, if k % 3 == 0 { "W" } else { "R" });
        let text: String =
            std::iter::once("arrival_ms,lba,sectors,op\n".to_owned()).chain((0..9_000).map(row)).collect();
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
}
