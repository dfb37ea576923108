//! A file without a name, and how it gets one.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::place::directory_of;

/// A file that will have a name when it is complete; dropped before, nothing is left of it.
pub(super) struct Unnamed {
    file: File,
    target: PathBuf,
    /// The name it has for the time being, where the file system has no files without names.
    hidden: Option<PathBuf>,
}

impl Unnamed {
    /// Begins what will be `target`, and will replace `existing` with its permissions.
    pub(super) fn create(target: PathBuf, existing: Option<&Metadata>) -> io::Result<Self> {
        if existing.is_some() {
            rustix::fs::access(&target, Access::WRITE_OK)?;
        }
        let (file, hidden) = match nameless(&directory_of(&target)) {
            Ok(file) => (file, None),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                let hidden = hidden_name(&target)?;
                (File::create_new(&hidden)?, Some(hidden))
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(existing) = existing {
            // Only root may give a file away; for others the new file is theirs.
            let _ = std::os::unix::fs::fchown(&file, Some(existing.uid()), Some(existing.gid()));
            file.set_permissions(fs::Permissions::from_mode(existing.mode() & 0o777))?;
        }
        Ok(Self { file, target, hidden })
    }

    /// Where to write to.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// What it will be called.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// All of it has been written: down to the disk with it.
    pub(super) fn finish(self) -> io::Result<Self> {
        self.file.sync_all()?;
        Ok(self)
    }

    /// Gives it the hidden name from which a rename makes the real one. What can fail for want of space or permission
    /// fails here.
    pub(super) fn prepare(&mut self) -> io::Result<()> {
        if self.hidden.is_none() {
            let hidden = hidden_name(&self.target)?;
            let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            rustix::fs::linkat(CWD, own, CWD, &hidden, AtFlags::SYMLINK_FOLLOW)?;
            self.hidden = Some(hidden);
        }
        Ok(())
    }

    /// Gives it its name.
    pub(super) fn appear(mut self) -> io::Result<()> {
        self.prepare()?;
        if let Some(hidden) = &self.hidden {
            fs::rename(hidden, &self.target)?;
            self.hidden = None;
        }
        // The name survives a power failure once the directory is down, too; not every file system can be asked.
        let _ = File::open(directory_of(&self.target)).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            let _ = fs::remove_file(hidden);
        }
    }
}

/// A file without a name in a directory.
fn nameless(directory: &Path) -> Result<File, Errno> {
    // It is named through /proc; where that is missing it must have a name from the start.
    if !Path::new("/proc/self/fd").exists() {
        return Err(Errno::OPNOTSUPP);
    }
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)).map(File::from)
}

/// So much of a name that more fits behind it: file systems take 255 bytes.
fn beginning(name: &OsStr) -> OsString {
    const LONGEST: usize = 200;
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let mut end = LONGEST;
    let bytes = name.as_bytes();
    // Not in the middle of a character.
    while bytes[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    OsStr::from_bytes(&bytes[..end]).to_owned()
}

/// A name beside `target` that nobody else uses: the process and a running number.
fn hidden_name(target: &Path) -> io::Result<PathBuf> {
    static RUNNING: AtomicU64 = AtomicU64::new(0);
    let name = beginning(target.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    loop {
        let mut hidden = OsString::from(".");
        hidden.push(&name);
        hidden.push(format!(".{}-{}.tmp", std::process::id(), RUNNING.fetch_add(1, Ordering::Relaxed)));
        let hidden = target.with_file_name(hidden);
        if fs::symlink_metadata(&hidden).is_err() {
            return Ok(hidden);
        }
    }
}

/// Hidden files beside `path` that a process left which was killed while it wrote `path`.
pub fn leftovers(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name() else { return Vec::new() };
    let mut start = OsString::from(".");
    start.push(beginning(name));
    start.push(".");
    let start = start.to_string_lossy().into_owned();
    let is_left = |entry: &fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let middle = name.strip_prefix(&start).and_then(|rest| rest.strip_suffix(".tmp"));
        let process = middle.and_then(|middle| middle.split_once('-')).and_then(|(process, number)| {
            number.parse::<u64>().ok()?;
            process.parse::<u32>().ok()
        });
        process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
    };
    let entries = fs::read_dir(directory_of(path)).into_iter().flatten().flatten();
    entries.filter(is_left).map(|entry| entry.path()).collect()
}
