//! Output files that are whole or absent, and harm nothing that is no file.
//!
//! What will be a regular file is written without a name (`O_TMPFILE`), so that nothing is left whatever ends the
//! process, and gets its name when it is complete. Where the file system cannot do that it has a hidden name beside the
//! real one. A link stays a link: what it points at is replaced. A file that is replaced keeps its permissions.
//! Anything else (`/dev/null`, a pipe, a terminal, `/dev/stdout`) is written straight through, but for what others stand on: a block
//! device, the file behind a loop device, a file that is swapped to.

mod held;
mod naming;
mod place;
mod together;

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::TraceError;
use held::held;
use naming::Unnamed;
use place::Place;

pub use naming::leftovers;
pub use place::check_apart;
pub use together::{Together, at_once};

/// A file being written. It appears under its name with [`commit`](Self::commit); dropped before, it leaves nothing, and a
/// file that had the name stays as it was.
///
/// What is no regular file (`/dev/stdout`, a pipe) is written straight through.
pub struct AtomicFile {
    writer: BufWriter<Straight>,
    unnamed: Option<Unnamed>,
    path: Box<Path>,
}

impl AtomicFile {
    /// Starts to write what will be `path`.
    ///
    /// # Errors
    /// If its directory does not exist or cannot be written, or `path` is a directory, a file that may not be written, or one that
    /// others stand on.
    pub fn create(path: &Path) -> Result<Self, TraceError> {
        let created = Self::begin(path);
        created.map_err(|source| TraceError::Io { action: "create", path: path.into(), source })
    }

    fn begin(path: &Path) -> io::Result<Self> {
        let (file, unnamed) = match Place::of(path) {
            Place::Descriptor(number) => (place::descriptor(number)?, None),
            Place::Path(target) => match fs::metadata(&target) {
                _ if let Some(why) = held(&target) => return Err(io::Error::other(format!("it {why}"))),
                // As many links as point to each other point to nothing.
                Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Err(error),
                Ok(about) if about.is_dir() => return Err(io::Error::from(ErrorKind::IsADirectory)),
                Ok(about) if !about.is_file() => (straight(&target)?, None),
                existing => {
                    let unnamed = Unnamed::create(target, existing.ok().as_ref())?;
                    (unnamed.file()?, Some(unnamed))
                }
            },
        };
        Ok(Self { writer: BufWriter::with_capacity(1 << 18, Straight(file)), unnamed, path: path.into() })
    }

    /// Writes what is buffered down to the disk and gives the file its name, at once or with the others
    /// ([`Together`]).
    ///
    /// # Errors
    /// If the system refuses; nothing is left then.
    pub fn commit(mut self) -> Result<(), TraceError> {
        let done = self.writer.flush().and_then(|()| match self.unnamed.take() {
            None => Ok(()),
            Some(unnamed) => unnamed.finish().and_then(together::publish),
        });
        done.map_err(|source| TraceError::Io { action: "write", path: self.path.into(), source })
    }
}

/// Writes a file whole, as [`AtomicFile`] does.
///
/// # Errors
/// As [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), TraceError> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|source| TraceError::Io { action: "write", path: path.into(), source })?;
    file.commit()
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Opens what is no file. A pipe may wait for its reader here: unlike the standard library's, this wait ends with a
/// signal.
fn straight(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => Ok(file.into()),
        Err(Errno::INTR) => Err(interrupted()),
        Err(error) => Err(error.into()),
    }
}

/// Not of the kind `Interrupted`, which is there to be tried again.
fn interrupted() -> io::Error {
    io::Error::other("interrupted by a signal")
}

/// A file whose writes are not tried again when a signal ends them: a pipe that nobody reads would hold the process
/// for ever, deaf to Ctrl-C.
struct Straight(File);

impl Write for Straight {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| match error.kind() {
            ErrorKind::Interrupted => interrupted(),
            _ => error,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests;
