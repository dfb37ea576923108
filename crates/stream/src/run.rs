//! What is written or read, and how long it took.

use headstack_units::{Nanos, Op};
use serde::Serialize;

/// How often a file is written or read; each one lies behind the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// So often.
    Count(u32),
    /// Until no further file fits.
    UntilFull,
}

/// Where the first file begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// On the outermost track.
    Outermost,
    /// So many percent of the tracks further in.
    AtPercent(f64),
    /// Each file on a track of its own, drawn at random.
    Random,
}

/// A stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamRun {
    /// Whether files are read or written.
    pub op: Op,
    /// Size of a file; it consists of whole records, as many as are needed.
    pub file_bytes: u64,
    /// Size of a record.
    pub record_bytes: u64,
    /// How many files.
    pub repeats: Repeats,
    /// Where they begin.
    pub start: Start,
    /// Whether each file begins with half a full stroke and half a revolution.
    pub positioning: bool,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for StreamRun {
    fn default() -> Self {
        Self {
            op: Op::Read,
            file_bytes: 2_000_000_000,
            record_bytes: 512 << 10,
            repeats: Repeats::Count(1),
            start: Start::Outermost,
            positioning: false,
            seed: 1,
        }
    }
}

/// One file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FileTime {
    /// The track it begins on, counted from the outermost.
    pub start_track: u64,
    /// Its whole records.
    pub bytes: u64,
    /// From the first command until all of it is on the media (a read: with the server).
    pub time_ns: u64,
    /// Its throughput, in 10⁶ bytes per second.
    pub mb_per_s: f64,
}

/// All files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamResult {
    /// Each file.
    pub files: Vec<FileTime>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Time of all files, in s.
    pub time_s: f64,
    /// Mean of the files' throughputs, in 10⁶ bytes per second.
    pub mb_per_s: f64,
    /// The share of the time that the mechanism worked, the cache's delays included.
    pub mechanism_busy: f64,
    /// The share of the time that the interface worked, the controller's overhead included.
    pub interface_busy: f64,
}

impl StreamResult {
    pub(crate) fn of(files: Vec<FileTime>, mechanism: Nanos, interface: Nanos) -> Self {
        let time_ns: u64 = files.iter().map(|file| file.time_ns).sum();
        let count = files.len().max(1) as f64;
        Self {
            bytes: files.iter().map(|file| file.bytes).sum(),
            time_s: Nanos(time_ns).as_s(),
            mb_per_s: files.iter().map(|file| file.mb_per_s).sum::<f64>() / count,
            mechanism_busy: mechanism.0 as f64 / time_ns.max(1) as f64,
            interface_busy: interface.0 as f64 / time_ns.max(1) as f64,
            files,
        }
    }
}
