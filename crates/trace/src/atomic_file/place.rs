//! What a path stands for: a file to be made or replaced, or something that is open already.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::held::held;
use crate::TraceError;

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// What a path stands for, links followed.
pub(super) enum Place {
    /// A file descriptor of this process: `/dev/stdout`, `/dev/fd/3`.
    Descriptor(u32),
    /// A name in the file system, which may not be there yet.
    Path(PathBuf),
}

impl Place {
    pub(super) fn of(path: &Path) -> Self {
        let mut at = path.to_path_buf();
        for _ in 0..MOST_LINKS {
            let Some(name) = at.file_name().map(ToOwned::to_owned) else { break };
            let directory = directory_of(&at);
            let directory = fs::canonicalize(&directory).unwrap_or(directory);
            if is_own_descriptors(&directory)
                && let Some(number) = name.to_str().and_then(|name| name.parse().ok())
            {
                return Self::Descriptor(number);
            }
            let here = directory.join(name);
            match fs::read_link(&here) {
                Ok(next) => at = directory.join(next),
                Err(_) => return Self::Path(here),
            }
        }
        Self::Path(at)
    }
}

/// The directory a path lies in.
pub(super) fn directory_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

fn is_own_descriptors(directory: &Path) -> bool {
    ["/proc/self/fd", "/proc/thread-self/fd"]
        .iter()
        .any(|own| fs::canonicalize(own).is_ok_and(|own| own == directory))
}

/// What is open under this number, for writing on where it stands: opened anew, a file would be written over from its
/// beginning.
pub(super) fn descriptor(number: u32) -> io::Result<File> {
    match number {
        0 => Err(io::Error::new(ErrorKind::PermissionDenied, "standard input is for reading")),
        1 => Ok(io::stdout().as_fd().try_clone_to_owned()?.into()),
        2 => Ok(io::stderr().as_fd().try_clone_to_owned()?.into()),
        other => OpenOptions::new().append(true).open(format!("/proc/self/fd/{other}")),
    }
}

/// What makes two paths the same file.
#[derive(PartialEq)]
enum Identity {
    Inode(u64, u64),
    /// What is not there yet: its directory, by whatever path, and its name.
    Name(Option<(u64, u64)>, PathBuf),
}

impl Identity {
    /// `None` for what takes from several hands at a time: `/dev/null`, a terminal.
    fn of(path: &Path) -> Option<Self> {
        match (fs::metadata(path), Place::of(path)) {
            (Ok(about), _) if about.file_type().is_char_device() => None,
            (Ok(about), _) => Some(Self::Inode(about.dev(), about.ino())),
            (Err(_), Place::Path(name)) => {
                let directory =
                    fs::metadata(directory_of(&name)).ok().map(|about| (about.dev(), about.ino()));
                let last = name.file_name().map(PathBuf::from).filter(|_| directory.is_some());
                Some(Self::Name(directory, last.unwrap_or(name)))
            }
            (Err(_), Place::Descriptor(_)) => None,
        }
    }
}

/// Refuses outputs that others stand on (a block device, the file behind a loop device), and those that are also an input, or one
/// another: the same file by whatever name. Each comes with the word that messages call it.
///
/// # Errors
/// The first of them.
pub fn check_apart(outputs: &[(&str, &Path)], inputs: &[(&str, &Path)]) -> Result<(), TraceError> {
    let same = |one: &Path, other: &Path| match (Identity::of(one), Identity::of(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    };
    for (index, (name, path)) in outputs.iter().enumerate() {
        if let Some(why) = held(path) {
            return Err(TraceError::unusable(
                format!("{name} `{}` {why}", path.display()),
                "write to a file of its own".into(),
            ));
        }
        if let Some((input, read)) = inputs.iter().find(|(_, read)| same(path, read)) {
            return Err(TraceError::unusable(
                format!(
                    "{name} `{}` would replace what is read: {input} `{}`",
                    path.display(),
                    read.display()
                ),
                "give the output another name".into(),
            ));
        }
        if let Some((other, written)) = outputs[..index].iter().find(|(_, written)| same(path, written)) {
            return Err(TraceError::unusable(
                format!("{name} `{}` and {other} `{}` are one file", path.display(), written.display()),
                "give each output a name of its own".into(),
            ));
        }
    }
    Ok(())
}
