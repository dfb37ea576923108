//! Output files that are whole or absent: written beside their name, renamed when complete.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::TraceError;

/// A file being written. It appears under its name with [`commit`](Self::commit); dropped before, it leaves nothing, and a
/// file that had the name stays as it was.
///
/// What is no regular file (`/dev/stdout`, a pipe) is written straight through.
pub struct AtomicFile {
    writer: BufWriter<File>,
    path: PathBuf,
    /// Where the bytes go, and what they will be called.
    renaming: Option<(PathBuf, PathBuf)>,
}

impl AtomicFile {
    /// Starts to write what will be `path`.
    ///
    /// # Errors
    /// If its directory does not exist or cannot be written, or `path` is a directory.
    pub fn create(path: &Path) -> Result<Self, TraceError> {
        let created = Self::begin(path);
        created.map_err(|source| TraceError::Io { action: "create", path: path.into(), source })
    }

    fn begin(path: &Path) -> io::Result<Self> {
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::from(ErrorKind::IsADirectory));
        }
        if existing.is_some_and(|existing| !existing.is_file()) {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self { writer: BufWriter::new(file), path: path.into(), renaming: None });
        }
        // A link stays a link: what it points at is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let name = target.file_name().ok_or(ErrorKind::InvalidInput)?;
        let mut last = io::Error::from(ErrorKind::AlreadyExists);
        for _ in 0..100 {
            let temporary = target.with_file_name(temporary_name(name.to_owned()));
            match File::create_new(&temporary) {
                Ok(file) => {
                    let renaming = Some((temporary, target));
                    return Ok(Self {
                        writer: BufWriter::with_capacity(1 << 18, file),
                        path: path.into(),
                        renaming,
                    });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Writes what is buffered down to the disk and gives the file its name.
    ///
    /// # Errors
    /// If the system refuses; nothing is left then.
    pub fn commit(mut self) -> Result<(), TraceError> {
        let done = self.writer.flush().and_then(|()| self.rename());
        done.map_err(|source| TraceError::Io { action: "write", path: self.path.clone(), source })
    }

    fn rename(&mut self) -> io::Result<()> {
        let Some((temporary, target)) = &self.renaming else { return Ok(()) };
        self.writer.get_ref().sync_all()?;
        fs::rename(temporary, target)?;
        // The name survives a power failure once the directory is down, too; not every file system can be asked.
        let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let _ = File::open(directory.unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all());
        self.renaming = None;
        Ok(())
    }
}

/// A name nobody else uses: the process and a running number.
fn temporary_name(name: OsString) -> OsString {
    static RUNNING: AtomicU64 = AtomicU64::new(0);
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}-{}.tmp", std::process::id(), RUNNING.fetch_add(1, Ordering::Relaxed)));
    temporary
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.renaming {
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn the_name_appears_with_the_commit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(directory.path()).len(), 2);
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["out.csv"]);
    }

    #[test]
    fn dropped_before_it_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(names(directory.path()), [""; 0]);
    }

    #[test]
    fn what_cannot_be_written_is_said_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let create = |path: &Path| AtomicFile::create(path).err().unwrap().to_string();
        let missing = directory.path().join("no/out.csv");
        assert!(create(&missing).starts_with(&format!("cannot create `{}`: ", missing.display())));
        assert!(create(directory.path()).contains("directory"));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        AtomicFile::create(Path::new("/dev/null")).unwrap().commit().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
