//! What must not be replaced or written to as if it were a file of its own: others stand on it.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Why `path`, links followed, is no place for an output; `None` where it may be one.
pub(super) fn held(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    if about.file_type().is_block_device() {
        return Some("is a block device: only `measure --write` writes to one".to_owned());
    }
    let is_same =
        |other: &Path| fs::metadata(other).is_ok_and(|o| (o.dev(), o.ino()) == (about.dev(), about.ino()));
    if !about.is_file() {
        return None;
    }
    let behind = loops().into_iter().find(|(_, file)| is_same(file));
    if let Some((device, _)) = behind {
        return Some(format!("is the file behind /dev/{device}"));
    }
    swaps().iter().any(|file| is_same(file)).then(|| "is used for swapping".to_owned())
}

/// Loop devices, and the files behind them.
fn loops() -> Vec<(String, PathBuf)> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let backing = |entry: fs::DirEntry| {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        Some((entry.file_name().to_string_lossy().into_owned(), PathBuf::from(file.trim_end_matches('\n'))))
    };
    devices.filter_map(backing).collect()
}

/// Files and devices that are swapped to.
fn swaps() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/swaps").unwrap_or_default();
    table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(PathBuf::from).collect()
}
