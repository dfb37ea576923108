//! Whether something uses a device or a file, beyond what opening it exclusively tells.
//!
//! The kernel itself refuses the exclusive opening of a block device that is mounted in whatever mount namespace, used for
//! swapping, or a member of a device mapper, md, bcache, ZFS or btrfs device that runs; of a disk with such a partition, and
//! of a partition of such a disk. Loop devices claim neither the device nor the file behind them: those are looked up here.

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A block device's numbers, as sysfs writes them.
pub(super) fn number(device: u64) -> String {
    format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}

fn sysfs(number: &str) -> PathBuf {
    PathBuf::from(format!("/sys/dev/block/{number}"))
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim_end_matches('\n').to_owned())
}

/// Numbers of the devices whose directories lie in `directory`.
fn numbers_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| text(&entry.path().join("dev"))).collect()
}

/// A device, the disk it is a partition of, and its partitions: what holds the same sectors.
fn same_sectors(device: &str) -> Vec<String> {
    let own = sysfs(device);
    let mut all = vec![device.to_owned()];
    if own.join("partition").exists() {
        let disk = fs::canonicalize(&own).ok().and_then(|own| text(&own.parent()?.join("dev")));
        all.extend(disk);
    } else {
        all.extend(numbers_in(&own));
    }
    all
}

/// A device and what it is built on, all the way down.
fn layers(device: &str) -> Vec<String> {
    let mut all = vec![device.to_owned()];
    let mut next = 0;
    while let Some(number) = all.get(next).cloned() {
        let own = sysfs(&number);
        let disk = if own.join("partition").exists() { own.join("../slaves") } else { own.join("slaves") };
        for below in numbers_in(&disk) {
            if !all.contains(&below) {
                all.push(below);
            }
        }
        next += 1;
    }
    all
}

/// What lies behind a loop device: where it was, and what is there now.
struct Backing {
    path: PathBuf,
    stat: Option<Stat>,
}

impl Backing {
    fn of(loop_device: &Path) -> Option<Self> {
        let path = PathBuf::from(text(&loop_device.join("loop/backing_file"))?);
        let stat = rustix::fs::stat(&path).ok();
        Some(Self { path, stat })
    }

    fn is_block(&self) -> bool {
        self.stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice)
    }

    /// Whether it is this file. One that cannot be seen from here (deleted, or of another mount namespace) is taken for it
    /// if it has the same name.
    fn is_file(&self, path: &Path, stat: &Stat) -> bool {
        if let Some(own) = self.stat {
            return (own.st_dev, own.st_ino) == (stat.st_dev, stat.st_ino);
        }
        let own = self.path.to_string_lossy();
        Path::new(own.trim_end_matches(" (deleted)")).file_name() == path.file_name()
    }

    fn is_one_of(&self, devices: &[String]) -> bool {
        self.is_block() && self.stat.is_some_and(|stat| devices.contains(&number(stat.st_rdev)))
    }
}

/// The loop devices that are set up: number, name, and what lies behind.
fn loops() -> Vec<(String, String, Backing)> {
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let set_up = entries.filter_map(|entry| {
        let backing = Backing::of(&entry.path())?;
        Some((text(&entry.path().join("dev"))?, entry.file_name().to_string_lossy().into_owned(), backing))
    });
    set_up.collect()
}

/// Who uses a block device that could be opened exclusively.
pub(super) fn by_block(device: &str) -> Option<String> {
    let sectors = same_sectors(device);
    let loops = loops();
    if let Some((_, name, _)) = loops.iter().find(|(_, _, backing)| backing.is_one_of(&sectors)) {
        return Some(format!("it lies behind /dev/{name}"));
    }
    let below: Vec<String> = sectors.iter().flat_map(|each| layers(each)).collect();
    let mut own = loops.iter().filter(|(number, ..)| below.contains(number));
    own.find_map(|(number, name, backing)| behind(number, name, backing, &loops))
}

/// Who uses what lies behind a loop device, other than that.
fn behind(
    device: &str,
    name: &str,
    backing: &Backing,
    loops: &[(String, String, Backing)],
) -> Option<String> {
    let shown = backing.path.display();
    let stat = backing.stat.as_ref()?;
    let others = || loops.iter().filter(|(number, ..)| number != device);
    if !backing.is_block() {
        let other = others().find(|(.., other)| other.is_file(&backing.path, stat));
        return other
            .map(|(_, other, _)| format!("`{shown}`, behind /dev/{name}, lies behind /dev/{other}, too"));
    }
    let sectors = same_sectors(&number(stat.st_rdev));
    if let Some((_, other, _)) = others().find(|(.., other)| other.is_one_of(&sectors)) {
        return Some(format!("`{shown}`, behind /dev/{name}, lies behind /dev/{other}, too"));
    }
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(&backing.path, flags, Mode::empty()) {
        Err(Errno::BUSY) => {
            let who = holder(&number(stat.st_rdev)).unwrap_or_else(|| "by another program".to_owned());
            Some(format!("`{shown}`, behind /dev/{name}, is in use: {who}"))
        }
        _ => None,
    }
}

/// Who uses a file that would be written.
pub(super) fn by_file(file: &OwnedFd, path: &Path, stat: &Stat) -> Option<String> {
    if let Some((_, name, _)) = loops().iter().find(|(.., backing)| backing.is_file(path, stat)) {
        return Some(format!("it lies behind /dev/{name}"));
    }
    let is_swap = |swap: &Path| {
        rustix::fs::stat(swap).is_ok_and(|swap| (swap.st_dev, swap.st_ino) == (stat.st_dev, stat.st_ino))
    };
    if swaps().iter().any(|swap| is_swap(swap)) {
        return Some("it is used for swapping".to_owned());
    }
    let exclusive = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    let locked = rustix::fs::flock(file, exclusive).and_then(|()| rustix::fs::fcntl_lock(file, exclusive));
    locked.is_err().then(|| "another program has locked it".to_owned())
}

fn swaps() -> Vec<PathBuf> {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(PathBuf::from).collect()
}

/// In words, who keeps a block device from being opened exclusively, as far as that can be seen.
pub(super) fn holder(device: &str) -> Option<String> {
    let sectors = same_sectors(device);
    for number in &sectors {
        let held = fs::read_dir(sysfs(number).join("holders")).into_iter().flatten().flatten().next();
        if let Some(held) = held {
            return Some(format!("held by {}", held.file_name().to_string_lossy()));
        }
    }
    let is_ours = |path: &str| {
        rustix::fs::stat(path).is_ok_and(|stat| stat.st_rdev != 0 && sectors.contains(&number(stat.st_rdev)))
    };
    if swaps().iter().filter_map(|swap| swap.to_str()).any(is_ours) {
        return Some("used for swapping".to_owned());
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let others = processes.map(|process| process.path().join("mountinfo"));
    std::iter::once(PathBuf::from("/proc/self/mountinfo"))
        .chain(others)
        .find_map(|mounts| mounted(&mounts, &sectors, &is_ours))
}

/// Where one process has one of the devices mounted: by its numbers, or (btrfs has numbers of its own) by its name.
fn mounted(mounts: &Path, sectors: &[String], is_ours: &dyn Fn(&str) -> bool) -> Option<String> {
    let mounts = fs::read_to_string(mounts).ok()?;
    mounts.lines().find_map(|line| {
        let (place, source) = line.split_once(" - ")?;
        let fields: Vec<&str> = place.split(' ').collect();
        let source = source.split(' ').nth(1)?;
        let matches = fields.len() > 4
            && (sectors.iter().any(|number| number == fields[2])
                || source.starts_with('/') && is_ours(source));
        matches.then(|| format!("mounted at {}", fields[4]))
    })
}
