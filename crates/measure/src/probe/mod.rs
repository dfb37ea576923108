//! The probes: what is done to a device to see how it works. One file each; what their samples mean is found out in
//! [`crate::extract`], never here.

pub(crate) mod cache;
mod downwards;
mod expected;
pub(crate) mod finder;
pub(crate) mod landing;
mod overhead;
mod queue;
mod rotation;
pub(crate) mod seek_curve;
mod seeker;
mod skippy;
pub(crate) mod surfaces;
pub(crate) mod switches;
mod tracks;
mod write_cache;
mod zoned;
mod zones;

pub use expected::expected_s;

use crate::MeasureError;
use crate::device::DeviceInfo;
use crate::extract::known::Known;
use crate::session::Session;
use std::collections::BTreeSet;

/// What a probe is told beside its session.
pub(crate) struct Context {
    /// What the record says so far.
    pub(crate) known: Known,
    /// Series that are complete already.
    pub(crate) done: BTreeSet<u32>,
    /// Read all of the device.
    pub(crate) whole_device: bool,
}

/// A probe, for those who choose among them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Probes that must have run before.
    pub needs: &'static [&'static str],
    /// Whether it writes wherever writing is allowed.
    pub writes: bool,
}

const fn info(
    name: &'static str,
    about: &'static str,
    needs: &'static [&'static str],
    writes: bool,
) -> ProbeInfo {
    ProbeInfo { name, about, needs, writes }
}

/// All probes, in the order in which they run.
pub const PROBES: [ProbeInfo; 16] = [
    info("rotation", "comes back to one sector after random pauses: the time of a turn", &[], true),
    info("write-cache", "whether writes are complete before they are on the media", &["rotation"], true),
    info("cache", "read-ahead, segments and their size", &["rotation"], false),
    info(
        "skippy-write",
        "writes with linearly increasing steps (Skippy)",
        &["rotation", "write-cache"],
        true,
    ),
    info("skippy-read", "reads with linearly increasing steps", &["rotation"], false),
    info(
        "skippy-backwards",
        "reads backwards with linearly increasing steps, ahead of which nothing is read",
        &["rotation"],
        false,
    ),
    info(
        "tracks",
        "sectors per track and skews at the start, by the angle of sectors",
        &["rotation", "write-cache", "cache"],
        true,
    ),
    info("zones", "where the number of sectors per track changes", &["tracks"], true),
    info("switches", "least time to the next sector, track and cylinder", &["tracks"], true),
    info("surfaces", "the order of tracks: by cylinder or along surfaces", &["tracks"], true),
    info("zone-tracks", "sectors per track, skews and heads in each zone", &["zones", "surfaces"], true),
    info(
        "seek-curve",
        "least time over each distance, inwards and outwards, for reads and writes",
        &["zone-tracks", "switches"],
        true,
    ),
    info("seeker", "writes at the start and elsewhere by turns (Seeker)", &["tracks"], true),
    info("zoned", "bandwidth over the device (Zoned)", &[], false),
    info("overhead", "reads that the cache answers, of several sizes", &["cache"], false),
    info("random", "random accesses, 1 to 32 at a time", &[], false),
];

/// Names of the probes, in the order of [`PROBES`]; records name them.
pub const NAMES: [&str; 16] = [
    "rotation",
    "write-cache",
    "cache",
    "skippy-write",
    "skippy-read",
    "skippy-backwards",
    "tracks",
    "zones",
    "switches",
    "surfaces",
    "zone-tracks",
    "seek-curve",
    "seeker",
    "zoned",
    "overhead",
    "random",
];

/// The number of a probe in records.
pub fn number(name: &str) -> Option<u8> {
    NAMES.iter().position(|&known| known == name).map(|place| place as u8)
}

/// Whether a probe that was stopped goes on behind its last whole series; the others begin anew.
pub(crate) fn resumes(probe: u8) -> bool {
    matches!(NAMES[usize::from(probe)], "zoned" | "seeker" | "random")
}

/// The probes that suit a device: all, but the formula has no angles, and a device that must not be written is not.
fn suits(probe: &ProbeInfo, device: &DeviceInfo) -> bool {
    match device.kind.as_str() {
        "mock" => matches!(probe.name, "rotation" | "skippy-write" | "skippy-read" | "zoned"),
        _ => device.writable || !matches!(probe.name, "write-cache" | "skippy-write" | "seeker"),
    }
}

/// The probes to run, in order: those asked for (all that suit the device, if none) and those they need. `skippy` stands for
/// its three kinds.
///
/// # Errors
/// [`MeasureError::UnknownProbe`], and [`MeasureError::Refused`] for a probe that the device does not allow.
pub fn plan(wanted: &[String], device: &DeviceInfo) -> Result<Vec<&'static str>, MeasureError> {
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    for word in wanted {
        let matches =
            |info: &ProbeInfo| info.name == word || word == "skippy" && info.name.starts_with("skippy-");
        let mut found = (0..PROBES.len()).filter(|&place| matches(&PROBES[place])).collect::<Vec<_>>();
        if found.is_empty() {
            return Err(MeasureError::UnknownProbe { name: word.clone(), known: NAMES.to_vec() });
        }
        if found.len() > 1 {
            found.retain(|&place| suits(&PROBES[place], device));
        }
        chosen.extend(found);
    }
    if wanted.is_empty() {
        chosen.extend((0..PROBES.len()).filter(|&place| suits(&PROBES[place], device)));
    }
    if let Some(place) = chosen.iter().find(|&&place| !suits(&PROBES[place], device)) {
        return Err(MeasureError::Refused {
            device: device.name.clone(),
            problem: format!("the probe `{}` cannot run on it", PROBES[*place].name),
            hint: if device.writable {
                "the paper's formula knows `rotation`, `skippy` and `zoned` only".to_owned()
            } else {
                "to lose what is on the device, say both: `--write --yes-destroy PATH`".to_owned()
            },
        });
    }
    // Needs come before what needs them: walking down finds all.
    for place in (0..PROBES.len()).rev() {
        if chosen.contains(&place) {
            let needs = PROBES[place].needs.iter().filter_map(|need| number(need)).map(usize::from);
            chosen.extend(needs.filter(|&need| suits(&PROBES[need], device)));
        }
    }
    Ok(chosen.into_iter().map(|place| NAMES[place]).collect())
}

/// Runs a probe.
pub(crate) fn run(name: &str, session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    match name {
        "rotation" => rotation::run(session),
        "write-cache" => write_cache::run(session, context),
        "skippy-write" => skippy::run(session, skippy::Kind::Write),
        "skippy-read" => skippy::run(session, skippy::Kind::Read),
        "skippy-backwards" => skippy::run(session, skippy::Kind::Backwards),
        "tracks" => tracks::run(session, context),
        "zones" => zones::run(session, context),
        "switches" => switches::run(session, context),
        "surfaces" => surfaces::run(session, context),
        "zone-tracks" => tracks::run_zones(session, context),
        "seek-curve" => seek_curve::run(session, context),
        "seeker" => seeker::run(session, context),
        "zoned" => zoned::run(session, context),
        "cache" => cache::run(session, context),
        "overhead" => overhead::run(session, context),
        _ => queue::run(session, context),
    }
}
