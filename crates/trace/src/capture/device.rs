//! The device a capture is asked for.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::TraceError;

/// A disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// Major and minor number.
    pub number: (u32, u32),
}

impl BlockDevice {
    /// The disk at `path`, or the one it is a partition of.
    ///
    /// # Errors
    /// If there is no block device.
    pub fn of(path: &Path) -> Result<Self, TraceError> {
        let about = std::fs::metadata(path).map_err(|source| TraceError::Io {
            action: "look at",
            path: path.into(),
            source,
        })?;
        if !about.file_type().is_block_device() {
            return Err(TraceError::unusable(
                format!("`{}` is not a block device", path.display()),
                "name a disk, such as /dev/sda; `lsblk` lists them".into(),
            ));
        }
        let (major, minor) = numbers(about.rdev());
        let sys = format!("/sys/dev/block/{major}:{minor}");
        if !Path::new(&sys).join("partition").exists() {
            return Ok(Self { number: (major, minor) });
        }
        // A partition's folder lies in that of its disk.
        let disk = std::fs::read_to_string(format!("{sys}/../dev")).ok().and_then(|text| {
            let (major, minor) = text.trim().split_once(':')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        Ok(Self { number: disk.unwrap_or((major, minor)) })
    }
}

/// Major and minor number as glibc and musl pack them.
fn numbers(device: u64) -> (u32, u32) {
    let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000;
    let minor = device & 0xff | device >> 12 & 0xffff_ff00;
    (major as u32, minor as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unpacked() {
        assert_eq!(numbers(0x0801), (8, 1));
        assert_eq!(numbers(0x1_0302), (259, 2));
        assert_eq!(numbers(0x493f_a0e0), (4000, 300_000));
    }

    #[test]
    fn what_is_no_disk_is_refused() {
        let error = BlockDevice::of(Path::new("/dev/null")).unwrap_err();
        assert!(error.to_string().contains("`/dev/null` is not a block device"));
        assert!(BlockDevice::of(Path::new("/dev/does-not-exist")).is_err());
    }
}
