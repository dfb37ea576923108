//! Capturing the requests of a Linux block device through the kernel's tracepoints (tracefs).
//!
//! A capture works in a tracing *instance* of its own: its buffers, filters and events are nobody else's, and removing it
//! restores what was there. Where tracefs is not mounted, it is mounted in a mount namespace of the capturing thread,
//! which ends with it. Nothing is written to the device, and its bytes are not looked at.

mod device;
mod live;
mod tracefs;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::event::pairing::PairingCounts;
use crate::{OutputFormat, TraceError, convert};

pub use device::BlockDevice;
use live::{LiveEvents, LiveRequests};
use tracefs::Instance;

/// How to capture.
#[derive(Clone, Debug)]
pub struct CaptureOptions {
    /// The block device, such as `/dev/sda`; of a partition the whole disk is captured.
    pub device: PathBuf,
    /// What to write: Parquet or CSV.
    pub out: PathBuf,
    /// When to stop; otherwise when told to.
    pub duration: Option<Duration>,
    /// Buffer for each processor, KiB.
    pub buffer_kib: u32,
}

/// What a capture came to, and what it cost.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// The disk, major and minor number.
    pub device: (u32, u32),
    /// Reads and writes with their completion.
    pub requests: u64,
    /// Flushes, discards and others, which are not written.
    pub others: u64,
    /// What pairing came to.
    pub counts: PairingCounts,
    /// Events read.
    pub events: u64,
    /// Events the kernel dropped or overwrote because its buffer was full.
    pub lost_events: u64,
    /// Bytes of text read from the kernel.
    pub bytes_read: u64,
    /// Time on a processor, of the capturing thread.
    pub cpu: Duration,
    /// Start to end.
    pub wall: Duration,
    /// Whether tracefs had to be mounted, in a namespace of its own.
    pub mounted: bool,
}

/// Captures until the duration is over or `stop` is set; what came until then is written.
///
/// # Errors
/// If `device` is no block device, this system forbids tracing, or the file cannot be written; nothing is left then.
pub fn capture(options: &CaptureOptions, stop: &AtomicBool) -> Result<Captured, TraceError> {
    let format = OutputFormat::of(&options.out)?;
    let device = BlockDevice::of(&options.device)?;
    // A thread of its own: it may move into a mount namespace of its own.
    std::thread::scope(|scope| {
        let captured = scope.spawn(|| run(options, device, format, stop)).join();
        captured.unwrap_or_else(|_| {
            Err(TraceError::Unusable { problem: "the capturing thread failed".into(), hint: None })
        })
    })
}

fn run(
    options: &CaptureOptions,
    device: BlockDevice,
    format: OutputFormat,
    stop: &AtomicBool,
) -> Result<Captured, TraceError> {
    let begun = Instant::now();
    let instance = Instance::create(device.number, options.buffer_kib)?;
    let mounted = instance.mounted();
    let deadline = options.duration.map(|duration| begun + duration);
    let mut requests = LiveRequests::new(LiveEvents::new(instance, deadline, stop));
    let written = convert(&mut requests, 512, &options.out, format)?;
    let summary = requests.ios.summary();
    let (bytes_read, lost_events) = requests.ios.source().cost();
    Ok(Captured {
        device: device.number,
        requests: written,
        others: requests.others,
        counts: summary.counts,
        events: summary.tally.entries,
        lost_events,
        bytes_read,
        cpu: tracefs::thread_cpu_time(),
        wall: begun.elapsed(),
        mounted,
    })
}
