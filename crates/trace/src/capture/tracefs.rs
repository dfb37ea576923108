//! A tracing instance: made, read, removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::libc::O_NONBLOCK;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::TraceError;

/// Where tracefs is mounted, if it is.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The tracepoints that say what happens to requests.
const EVENTS: [&str; 8] = [
    "block_bio_queue",
    "block_bio_backmerge",
    "block_bio_frontmerge",
    "block_getrq",
    "block_rq_insert",
    "block_rq_issue",
    "block_rq_requeue",
    "block_rq_complete",
];

const NAME: &str = "headstack-";

/// An instance; dropped, it is removed.
pub(super) struct Instance {
    folder: PathBuf,
    pipe: Option<File>,
    mounted: bool,
}

impl Instance {
    /// Makes an instance that traces the device `(major, minor)` from now on.
    pub(super) fn create((major, minor): (u32, u32), buffer_kib: u32) -> Result<Self, TraceError> {
        let (root, mounted) = root()?;
        let instances = root.join("instances");
        remove_stale(&instances);
        let folder = instances.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&folder).map_err(|source| forbidden(&folder, &source))?;
        let mut instance = Self { folder, pipe: None, mounted };
        instance.set("buffer_size_kb", &buffer_kib.to_string())?;
        // One clock for all processors, in nanoseconds; the text has microseconds.
        instance.set("trace_clock", "mono")?;
        let filter = format!("dev == {}", u64::from(major) << 20 | u64::from(minor));
        for event in EVENTS {
            let folder = format!("events/block/{event}");
            if instance.folder.join(&folder).exists() {
                instance.set(&format!("{folder}/filter"), &filter)?;
                instance.set(&format!("{folder}/enable"), "1")?;
            }
        }
        let path = instance.folder.join("trace_pipe");
        let pipe = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(&path);
        instance.pipe = Some(pipe.map_err(|source| forbidden(&path, &source))?);
        Ok(instance)
    }

    /// Whether tracefs had to be mounted.
    pub(super) fn mounted(&self) -> bool {
        self.mounted
    }

    fn set(&self, file: &str, value: &str) -> Result<(), TraceError> {
        let path = self.folder.join(file);
        fs::write(&path, value).map_err(|source| forbidden(&path, &source))
    }

    /// Appends what the kernel has ready; the number of bytes.
    pub(super) fn read(&mut self, into: &mut Vec<u8>) -> Result<usize, TraceError> {
        const CHUNK: usize = 64 * 1024;
        let Some(pipe) = &mut self.pipe else { return Ok(0) };
        let before = into.len();
        into.resize(before + CHUNK, 0);
        let read = pipe.read(&mut into[before..]);
        into.truncate(before + read.as_ref().copied().unwrap_or(0));
        match read {
            Ok(count) => Ok(count),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
            Err(source) => {
                Err(TraceError::Io { action: "read", path: self.folder.join("trace_pipe"), source })
            }
        }
    }

    /// No more events; what is in the buffers can still be read.
    pub(super) fn stop(&self) -> Result<(), TraceError> {
        self.set("tracing_on", "0")
    }

    /// Events that found the buffer full.
    pub(super) fn lost(&self) -> u64 {
        let folders = fs::read_dir(self.folder.join("per_cpu")).into_iter().flatten().flatten();
        let stats = folders.filter_map(|folder| fs::read_to_string(folder.path().join("stats")).ok());
        stats
            .map(|text| {
                let lost = text.lines().filter_map(|line| line.split_once(':'));
                lost.filter(|(name, _)| matches!(*name, "overrun" | "dropped events" | "commit overrun"))
                    .filter_map(|(_, count)| count.trim().parse::<u64>().ok())
                    .sum::<u64>()
            })
            .sum()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The kernel keeps an instance as long as its pipe is open.
        self.pipe = None;
        let _ = fs::write(self.folder.join("events/enable"), "0");
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes instances of processes that are gone: killed, they could not do it.
fn remove_stale(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid =
            name.to_str().and_then(|name| name.strip_prefix(NAME)).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::write(entry.path().join("events/enable"), "0");
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Where tracefs is, mounted for this thread alone if it is nowhere; whether it was.
fn root() -> Result<(PathBuf, bool), TraceError> {
    let there = |place: &&&str| Path::new(place).join("instances").exists();
    if let Some(place) = PLACES.iter().find(there) {
        return Ok((PathBuf::from(place), false));
    }
    let place = Path::new(PLACES[0]);
    let none: Option<&str> = None;
    let mounted = unshare(CloneFlags::CLONE_NEWNS)
        .and_then(|()| mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none))
        .and_then(|()| mount(Some("tracefs"), place, Some("tracefs"), MsFlags::empty(), none));
    match mounted {
        Ok(()) if place.join("instances").exists() => Ok((place.into(), true)),
        Ok(()) => Err(TraceError::unusable(
            "this kernel's tracefs has no instances".into(),
            "headstack traces in an instance of its own; a kernel of this century has them".into(),
        )),
        Err(error) => Err(forbidden(place, &io::Error::from(error))),
    }
}

/// Why tracing is not to be had, in words.
fn forbidden(path: &Path, source: &io::Error) -> TraceError {
    let lockdown = fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    let hint = match source.kind() {
        ErrorKind::PermissionDenied if lockdown.contains("[confidentiality]") => {
            "this kernel is locked down (confidentiality) and lets nobody trace"
        }
        ErrorKind::PermissionDenied => "tracing needs root (or CAP_SYS_ADMIN): run the command with sudo",
        ErrorKind::NotFound => {
            "this kernel has no block tracepoints (CONFIG_FTRACE, CONFIG_BLK_DEV_IO_TRACE)"
        }
        _ => "is tracefs there, and not read-only?",
    };
    TraceError::unusable(
        format!("the kernel does not let the requests be traced: `{}`: {source}", path.display()),
        hint.into(),
    )
}

/// Time this thread has been on a processor.
pub(super) fn thread_cpu_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}
