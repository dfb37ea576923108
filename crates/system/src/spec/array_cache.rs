//! The controller between the driver and a volume, as in the system file.

use headstack_drive::scheduler::Needs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A controller with a cache between the driver and a volume. Requests that it does not work on yet wait in the driver's queue,
/// under `host.scheduler`; what it sends to the drives waits in its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayCacheSpec {
    /// How many requests it works on at a time; 32 if absent.
    #[serde(default = "requests")]
    pub requests: u32,
    /// Its queue for each drive; absent: as `host.scheduler`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// How many commands it hands to a drive at a time; absent: as `host.outstanding_per_drive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands_per_drive: Option<u32>,
    /// The cache is in its memory…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<ArrayMemorySpec>,
    /// …or on another volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<ArrayDeviceSpec>,
}

/// What a controller has its cache in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArrayCacheKind<'a> {
    Memory(&'a ArrayMemorySpec),
    Device(&'a ArrayDeviceSpec),
}

/// A cache in the controller's memory, in lines; the least recently used is given up first, of those in the lowest segment. What is in it
/// counts as safe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayMemorySpec {
    /// Its size, in KiB.
    pub size_kib: f64,
    /// The size of a line, in KiB.
    pub line_kib: f64,
    /// When a write is complete, and when it goes to the drives.
    #[serde(default)]
    pub write_policy: ArrayCacheWrites,
    /// What is done where the line to be given up is dirty.
    #[serde(default)]
    pub room: ArrayCacheRoom,
    /// The shares of the lines that segments hold, from the one on that lines come into and are given up from: each further use moves a
    /// line up one (segmented LRU). Absent: one segment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segment_shares: Vec<f64>,
    /// What a read that misses reads along.
    #[serde(default)]
    pub read_ahead: ArrayReadAhead,
    /// Most lines that one command reads; 8 if absent. What misses on more is read line by line.
    #[serde(default = "eight")]
    pub fetch_lines: u32,
    /// Most adjacent dirty lines that one command writes; 8 if absent. To make room a line is written alone.
    #[serde(default = "eight")]
    pub destage_lines: u32,
    /// Larger requests are served part after part, in KiB; 256 if absent.
    #[serde(default = "part")]
    pub part_kib: f64,
    /// All dirty lines are written every so often, in s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_every_s: Option<f64>,
    /// After so long without work dirty lines are written, one command after the other, until a request comes, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<f64>,
}

/// A cache on another volume, which requests do not address: what is read and written is kept there under the same addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayDeviceSpec {
    /// The name of the volume.
    pub volume: String,
    /// Whether a write goes to the cached volume as well, behind the request.
    #[serde(default)]
    pub write_policy: DeviceWrites,
    /// After so long without work for the cached volume dirty sectors are moved to it, until a request comes, in ms; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<f64>,
}

/// What a controller's memory does with writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayCacheWrites {
    /// Complete in the memory; written when there must be room, or on the occasions that are set.
    #[default]
    WriteBack,
    /// Complete in the memory, and written at once.
    WriteBehind,
    /// Complete on the drives.
    WriteThrough,
}

/// What a controller does where the line to be given up is dirty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayCacheRoom {
    /// It writes the line, and waits.
    #[default]
    Wait,
    /// It begins to write the line, and takes the next clean one.
    NextClean,
}

/// What a read that misses brings into its lines beside what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayReadAhead {
    /// Nothing.
    #[default]
    None,
    /// The sectors before, from the beginning of the line.
    Front,
    /// The sectors behind, to the end of the line.
    Rest,
    /// Both: whole lines.
    Line,
}

impl ArrayReadAhead {
    pub(crate) fn is_front(self) -> bool {
        matches!(self, Self::Front | Self::Line)
    }

    pub(crate) fn is_rest(self) -> bool {
        matches!(self, Self::Rest | Self::Line)
    }
}

/// What a cache device does with writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceWrites {
    /// They stay on the cache device until they are moved.
    #[default]
    WriteBack,
    /// They are written to the cached volume as well, once they are complete.
    WriteThrough,
}

fn requests() -> u32 {
    32
}

fn eight() -> u32 {
    8
}

fn part() -> f64 {
    256.0
}

impl ArrayCacheSpec {
    /// What its cache is in.
    pub(crate) fn kind(&self) -> Option<ArrayCacheKind<'_>> {
        match (&self.memory, &self.device) {
            (Some(memory), None) => Some(ArrayCacheKind::Memory(memory)),
            (None, Some(device)) => Some(ArrayCacheKind::Device(device)),
            _ => None,
        }
    }

    /// The volume that is its cache, if one is.
    pub(crate) fn cache_volume(&self) -> Option<&str> {
        self.device.as_ref().map(|device| device.volume.as_str())
    }

    /// Everything that cannot be, in the cache of a volume under a driver's scheduler that needs so much.
    pub(crate) fn check(&self, volume: &str, sector_bytes: u32, needs: Needs) -> Vec<String> {
        let mut problems = Vec::new();
        let mut add =
            |key: &str, problem: String| problems.push(format!("`volume.{volume}.cache{key}`: {problem}"));
        if self.kind().is_none() {
            add("", "needs either a table `memory` or a table `device`".to_owned());
        }
        for (key, count) in
            [(".requests", Some(self.requests)), (".commands_per_drive", self.commands_per_drive)]
        {
            if count.is_some_and(|count| !(1..=65_536).contains(&count)) {
                add(key, format!("{} is not between 1 and 65536", count.unwrap_or(0)));
            }
        }
        if needs > Needs::Addresses {
            add("", "the driver above a controller knows addresses only, which `host.scheduler` is not content with; \
                     take `c-look`, and give the other as `scheduler` of the cache".to_owned());
        }
        let idle = match self.kind() {
            Some(ArrayCacheKind::Memory(memory)) => {
                memory.check(sector_bytes, &mut add);
                memory.idle_ms
            }
            Some(ArrayCacheKind::Device(device)) => device.idle_ms,
            None => None,
        };
        if let Some(idle) = idle.filter(|idle| !(0.0..=1e9).contains(idle)) {
            add("", format!("`idle_ms`: {idle} is not between 0 and 1e9"));
        }
        problems
    }
}

/// Segments of a cache, at most.
const MOST_SEGMENTS: usize = 16;

/// What is wrong with the shares of segments.
fn unsound_shares(shares: &[f64]) -> Option<String> {
    let sum: f64 = shares.iter().sum();
    if shares.len() > MOST_SEGMENTS {
        Some(format!("{} segments: there are {MOST_SEGMENTS} at most", shares.len()))
    } else if let Some(share) = shares.iter().find(|share| !(**share > 0.0 && **share <= 1.0)) {
        Some(format!("{share} is not a share of the lines, more than 0 and up to 1"))
    } else if !shares.is_empty() && (sum - 1.0).abs() > 1e-6 {
        Some(format!("the shares come to {sum} together: they must come to 1"))
    } else {
        None
    }
}

impl ArrayMemorySpec {
    fn check(&self, sector_bytes: u32, add: &mut impl FnMut(&str, String)) {
        let bytes = f64::from(sector_bytes);
        let sizes = [("size_kib", self.size_kib), ("line_kib", self.line_kib), ("part_kib", self.part_kib)];
        for (key, kib) in sizes {
            let is_whole = (1.0..=1e13).contains(&(kib * 1024.0)) && kib * 1024.0 % bytes == 0.0;
            if !is_whole {
                let problem =
                    format!("{kib} is not a positive multiple of the sector of {sector_bytes} bytes");
                add(&format!(".memory.{key}"), problem);
            }
        }
        if self.line_kib > 32_768.0 {
            add(".memory.line_kib", format!("{} is more than 32768", self.line_kib));
        }
        // A part may begin and end within a line.
        let least = self.part_kib + 2.0 * self.line_kib;
        if self.size_kib < least {
            let problem = format!(
                "{} is too small for parts of {} KiB in lines of {} KiB: take at least {least}, or a smaller `part_kib`",
                self.size_kib, self.part_kib, self.line_kib
            );
            add(".memory.size_kib", problem);
        }
        for (key, lines) in [("fetch_lines", self.fetch_lines), ("destage_lines", self.destage_lines)] {
            if !(1..=65_536).contains(&lines) {
                add(&format!(".memory.{key}"), format!("{lines} is not between 1 and 65536"));
            }
        }
        if let Some(problem) = unsound_shares(&self.segment_shares) {
            add(".memory.segment_shares", problem);
        }
        if let Some(every) = self.write_every_s.filter(|every| !(0.001..=1e6).contains(every)) {
            add(".memory.write_every_s", format!("{every} is not between 0.001 and 1000000"));
        }
        let is_back = self.write_policy == ArrayCacheWrites::WriteBack;
        for (key, is_given) in
            [("write_every_s", self.write_every_s.is_some()), ("idle_ms", self.idle_ms.is_some())]
        {
            if is_given && !is_back {
                add(
                    &format!(".memory.{key}"),
                    "only with write_policy = \"write-back\" lines stay dirty".to_owned(),
                );
            }
        }
    }
}
