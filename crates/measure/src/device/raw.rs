//! A block device or a file, past the page cache.

mod in_use;
mod member;

use super::{Access, Device, DeviceInfo, Mode, Window};
use crate::MeasureError;
use headstack_units::Nanos;
use headstack_units::grouped;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rustix::fs::{FileType, Mode as Permissions, OFlags, SeekFrom, Stat};
use rustix::io::{Errno, ReadWriteFlags};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Consent to losing what is on a device: both parts are needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteConsent {
    /// The user asked for writing.
    pub write: bool,
    /// The device the user named a second time.
    pub yes_destroy: Option<PathBuf>,
}

const TMPFS_MAGIC: u64 = 0x0102_1994;
const RAMFS_MAGIC: u64 = 0x8584_58f6;
/// The largest alignment that any device asks for.
const PAGE: usize = 4096;
/// Fewer sectors than this cannot be measured.
const FEWEST_BYTES: u64 = 4 << 20;

/// A block device or a file opened with O_DIRECT, on the monotonic clock.
#[derive(Debug)]
pub struct RawDevice {
    info: DeviceInfo,
    file: OwnedFd,
    started: Instant,
    buffer: Vec<u8>,
}

impl RawDevice {
    /// Opens a path.
    ///
    /// # Errors
    /// [`MeasureError::Refused`] without permission, for what is neither a block device nor a file, for files in memory, for
    /// devices in use and files in use that would be written, for devices that are too small, and for writing without both
    /// parts of the consent.
    pub fn open(path: &Path, consent: &WriteConsent) -> Result<Self, MeasureError> {
        let refused = |problem: String, hint: &str| MeasureError::Refused {
            device: path.display().to_string(),
            problem,
            hint: hint.to_owned(),
        };
        let writes = consented(path, consent).map_err(|(problem, hint)| refused(problem, hint))?;
        let (file, stat) = open_once(path, writes).map_err(|(problem, hint)| refused(problem, hint))?;
        let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        let limits = if is_block {
            block_limits(&in_use::number(stat.st_rdev), &file)
        } else {
            file_limits(&file, stat.st_size as u64)
        };
        if limits.bytes < FEWEST_BYTES {
            return Err(refused(
                format!(
                    "holds {} bytes; at least {} are needed",
                    grouped(limits.bytes),
                    grouped(FEWEST_BYTES)
                ),
                "name a larger device or file",
            ));
        }
        let info = DeviceInfo {
            name: path.display().to_string(),
            kind: if is_block { "block-device" } else { "file" }.to_owned(),
            sectors: limits.bytes / u64::from(limits.logical),
            sector_bytes: limits.logical,
            physical_sector_bytes: limits.physical.max(limits.logical),
            writable: writes,
            queue_depth: 256,
            rotational: limits.rotational,
            overhead_ns: 0,
        };
        let mut device = Self { info, file, started: Instant::now(), buffer: aligned(PAGE) };
        device.info.overhead_ns = device.calibrate();
        Ok(device)
    }

    /// What it takes to call for nothing: the median of reads of no bytes, clock readings included.
    fn calibrate(&self) -> u64 {
        let mut times: Vec<u64> = (0..101)
            .map(|_| {
                let start = self.now();
                let _ = rustix::io::pread(&self.file, &mut [0_u8; 0][..], 0);
                self.now().saturating_sub(start).0
            })
            .collect();
        times.sort_unstable();
        times[50]
    }

    fn transfer(&self, access: Access, buffer: &mut Vec<u8>) -> Result<Window, MeasureError> {
        let bytes = access.sectors as usize * self.info.sector_bytes as usize;
        if buffer.len() < bytes + PAGE {
            *buffer = aligned(bytes);
        }
        let skip = buffer.as_ptr().align_offset(PAGE);
        let data = &mut buffer[skip..skip + bytes];
        let offset = access.lba * u64::from(self.info.sector_bytes);
        let start = self.now();
        let done = match access.mode {
            Mode::Read => rustix::io::pread(&self.file, data, offset),
            Mode::Write | Mode::WriteFlushed => rustix::io::pwrite(&self.file, data, offset),
            Mode::WriteForced => rustix::io::pwritev2(
                &self.file,
                &[std::io::IoSlice::new(data)],
                offset,
                ReadWriteFlags::DSYNC,
            ),
        };
        let end = self.now();
        match done {
            Ok(count) if count == bytes => Ok(Window { start, end }),
            Ok(count) => Err(self.failed(access, format!("only {count} of {bytes} bytes were transferred"))),
            Err(Errno::NODEV | Errno::NXIO | Errno::BADF) => Err(MeasureError::Gone {
                device: self.info.name.clone(),
                reason: done.err().map_or_else(String::new, reason),
            }),
            Err(error) => Err(self.failed(access, reason(error))),
        }
    }

    fn failed(&self, access: Access, reason: String) -> MeasureError {
        MeasureError::Access {
            device: self.info.name.clone(),
            what: if access.mode.is_write() { "write" } else { "read" },
            lba: access.lba,
            sectors: access.sectors,
            reason,
        }
    }
}

/// What is wrong, and what to do about it.
type Refusal = (String, &'static str);

/// Opens a block device or a file for measuring, past the page cache, and makes sure that nobody else uses it. It is opened
/// once, exclusively, and everything is asked of what was opened: whatever becomes of the name meanwhile.
fn open_once(path: &Path, writes: bool) -> Result<(OwnedFd, Stat), Refusal> {
    let missing = |error| {
        (format!("cannot be opened: {}", reason(error)), "name a block device, a file, or `sim:SYSTEM`")
    };
    // Opened as a place only: nothing happens to a tape or a watchdog by that.
    let place =
        rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Permissions::empty()).map_err(missing)?;
    let stat = rustix::fs::fstat(&place).map_err(missing)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if !matches!(kind, FileType::BlockDevice | FileType::RegularFile) {
        let hint = "name a block device such as /dev/sdb, a file, or `sim:SYSTEM`";
        return Err(("is neither a block device nor a file".to_owned(), hint));
    }
    let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
    let exclusive = if kind == FileType::BlockDevice { OFlags::EXCL } else { OFlags::empty() };
    let opened = format!("/proc/self/fd/{}", place.as_raw_fd());
    let file = rustix::fs::open(opened, access | exclusive | OFlags::CLOEXEC, Permissions::empty());
    let file = file.map_err(|error| not_opened(error, &stat))?;
    unused(&file, path, &stat, writes)?;
    past_the_cache(&file, kind)?;
    Ok((file, stat))
}

/// Why a device or a file cannot be opened for itself alone.
fn not_opened(error: Errno, stat: &Stat) -> Refusal {
    match error {
        Errno::ACCESS | Errno::PERM => (
            format!("cannot be opened: {}", reason(error)),
            "measure as a user who may open the device (root, or group `disk`)",
        ),
        Errno::BUSY => {
            let who = in_use::holder(&in_use::number(stat.st_rdev));
            let who = who.unwrap_or_else(|| "by another program".to_owned());
            (
                format!("it, or a part of it, is in use ({who})"),
                "unmount it first, or stop what uses it; a device in use is never measured",
            )
        }
        Errno::TXTBSY => ("is in use (swapped to, or running)".to_owned(), "name a file that nobody uses"),
        _ => (format!("cannot be opened: {}", reason(error)), "name a block device, a file, or `sim:SYSTEM`"),
    }
}

/// Refuses what is in use although it could be opened exclusively, and, for writing, what bears the signature of something
/// that has several members.
fn unused(file: &OwnedFd, path: &Path, stat: &Stat, writes: bool) -> Result<(), Refusal> {
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let user = match (is_block, writes) {
        (true, _) => in_use::by_block(&in_use::number(stat.st_rdev)),
        (false, true) => in_use::by_file(file, path, stat),
        (false, false) => None,
    };
    if let Some(user) = user {
        return Err((format!("is in use ({user})"), "stop what uses it; a device in use is never measured"));
    }
    let bytes = rustix::fs::seek(file, SeekFrom::End(0)).unwrap_or(0);
    match member::of(file, bytes).filter(|_| writes && is_block) {
        Some(of) => Err((
            format!("bears the signature of {of}, and may be a part of something in use"),
            "take it out of that; if nothing needs it any more, erase the signature with `wipefs --all`",
        )),
        None => Ok(()),
    }
}

/// From here on the page cache is out of the way.
fn past_the_cache(file: &OwnedFd, kind: FileType) -> Result<(), Refusal> {
    let system = rustix::fs::fstatfs(file).map_or(0, |fs| fs.f_type as u64);
    if kind == FileType::RegularFile && (system == TMPFS_MAGIC || system == RAMFS_MAGIC) {
        return Err((
            "lies in memory (tmpfs), where nothing can be measured".to_owned(),
            "put the file on a disk",
        ));
    }
    rustix::fs::fcntl_setfl(file, OFlags::DIRECT).map_err(|error| {
        (
            format!("cannot be opened past the page cache: {}", reason(error)),
            "put the file on a file system with O_DIRECT, or name a block device",
        )
    })
}

/// Whether writing was asked for, and consented to for this very device.
fn consented(path: &Path, consent: &WriteConsent) -> Result<bool, Refusal> {
    let hint = "to lose what is on it, say both: `--write --yes-destroy PATH`";
    match (&consent.write, &consent.yes_destroy) {
        (false, None) => Ok(false),
        (true, Some(named)) if named == path => Ok(true),
        (true, None) => Err(("measuring with writes destroys what is on it".to_owned(), hint)),
        (false, Some(_)) => Err(("`--yes-destroy` means nothing without `--write`".to_owned(), hint)),
        (true, Some(named)) => {
            Err((format!("`--yes-destroy` names {}, another device", named.display()), hint))
        }
    }
}

fn reason(error: Errno) -> String {
    std::io::Error::from(error).to_string()
}

/// A buffer that an aligned one fits in, of random bytes: what is written must not be easier to keep than data are.
fn aligned(bytes: usize) -> Vec<u8> {
    let mut buffer = vec![0; bytes + 2 * PAGE];
    Pcg64::seed_from_u64(bytes as u64).fill_bytes(&mut buffer);
    buffer
}

struct Limits {
    bytes: u64,
    logical: u32,
    physical: u32,
    rotational: Option<bool>,
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Size and alignment of a block device, from sysfs; a partition has its disk's.
fn block_limits(device: &str, file: &OwnedFd) -> Limits {
    let device = PathBuf::from(format!("/sys/dev/block/{device}"));
    let own = device.join("queue");
    let queue = if own.exists() { own } else { device.join("../queue") };
    let logical = rustix::fs::ioctl_blksszget(file).unwrap_or(512);
    let physical = number(&queue.join("physical_block_size")).unwrap_or(u64::from(logical)) as u32;
    Limits {
        bytes: number(&device.join("size")).unwrap_or(0) * 512,
        logical,
        physical,
        rotational: number(&queue.join("rotational")).map(|flag| flag != 0),
    }
}

/// Size of a file, and the smallest alignment with which it can be read past the cache.
fn file_limits(file: &OwnedFd, bytes: u64) -> Limits {
    let mut buffer = aligned(PAGE);
    let skip = buffer.as_ptr().align_offset(PAGE);
    let works = |size: &usize| {
        // An offset that is no multiple of anything larger.
        rustix::io::pread(file, &mut buffer[skip..skip + size], *size as u64).is_ok()
    };
    let logical = [512_usize, 1024, 2048, 4096].into_iter().find(works).unwrap_or(PAGE) as u32;
    Limits { bytes, logical, physical: logical, rotational: None }
}

impl Device for RawDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn now(&self) -> Nanos {
        Nanos(self.started.elapsed().as_nanos() as u64)
    }

    fn wait_until(&mut self, at: Nanos) -> Result<(), MeasureError> {
        loop {
            let left = at.saturating_sub(self.now());
            if left == Nanos::ZERO {
                return Ok(());
            }
            // Sleeping is late by some tens of microseconds: the rest is waited for awake.
            if left > Nanos::from_ms(0.3) {
                std::thread::sleep(Duration::from_nanos(left.0 - 200_000));
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn access(&mut self, access: Access) -> Result<Window, MeasureError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let window = self.transfer(access, &mut buffer);
        self.buffer = buffer;
        window
    }

    fn queued(&mut self, accesses: &[Access], depth: u32) -> Result<Vec<Window>, MeasureError> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Window)>> = Mutex::new(Vec::with_capacity(accesses.len()));
        let this = &*self;
        let worker = || -> Result<(), MeasureError> {
            let mut buffer = aligned(PAGE);
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(&access) = accesses.get(index) else { return Ok(()) };
                let window = this.transfer(access, &mut buffer)?;
                if let Ok(mut done) = done.lock() {
                    done.push((index, window));
                }
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..depth.max(1)).map(|_| scope.spawn(worker)).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|_| {
                    Err(MeasureError::Gone {
                        device: this.info.name.clone(),
                        reason: "a thread that accessed it died".to_owned(),
                    })
                })
            })
        })?;
        let mut windows = done.into_inner().unwrap_or_default();
        windows.sort_unstable_by_key(|&(index, _)| index);
        Ok(windows.into_iter().map(|(_, window)| window).collect())
    }

    fn flush(&mut self) -> Result<(), MeasureError> {
        if !self.info.writable {
            return Ok(());
        }
        rustix::fs::fdatasync(&self.file)
            .map_err(|error| MeasureError::Gone { device: self.info.name.clone(), reason: reason(error) })
    }
}
