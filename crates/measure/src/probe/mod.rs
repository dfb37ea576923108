//! The probes: what is done to a device to see how it works. Each is one static [`Probe`] in a file of its own, and one line in
//! [`PROBES`]; its name stands in [`ProbeName`]. What its samples mean is found out elsewhere, never here.

mod angles;
mod budget;
mod cache;
mod description;
mod evenly;
mod head_zones;
mod look;
mod no_skews;
mod overhead;
mod random;
mod reference;
mod rotation;
mod scan;
mod seek_curve;
mod seeker;
mod skippy;
mod stream;
mod surfaces;
mod switches;
mod tracks;
mod turning;
mod write_cache;
mod zoned;
mod zones;

pub(crate) use budget::too_long;
pub use budget::{fitting, is_for_drive_file};
pub(crate) use description::Context;
pub use description::{Probe, Writing};

use crate::MeasureError;
use crate::device::{Device, DeviceInfo};
use crate::record::{ProbeName, Record};
use crate::run::Scope;
use description::Outlook;
pub(crate) use look::Look;
use std::collections::BTreeSet;

/// All probes, in the order in which they run.
pub static PROBES: [&Probe; 19] = [
    &rotation::ROTATION,
    &write_cache::WRITE_CACHE,
    &cache::CACHE,
    &skippy::SKIPPY_WRITE,
    &skippy::SKIPPY_READ,
    &skippy::SKIPPY_BACKWARDS,
    &tracks::TRACKS_AT_START,
    &zones::ZONES,
    &switches::SWITCHES,
    &surfaces::SURFACES,
    &tracks::ZONE_TRACKS,
    &angles::ANGLES,
    &seek_curve::SEEK_CURVE,
    &seeker::SEEKER,
    &zoned::ZONED,
    &overhead::OVERHEAD,
    &random::RANDOM,
    &stream::STREAM,
    &scan::SCAN,
];

/// Probes that run only when they are named: they take hours, and tell nothing of how a drive is made.
const WHEN_NAMED: [ProbeName; 2] = [ProbeName::Stream, ProbeName::Scan];

/// The place of a probe among [`PROBES`].
fn place(name: ProbeName) -> usize {
    PROBES.iter().position(|probe| probe.name == name).expect("every name is listed")
}

/// The probes to run, in order: those asked for (all that suit the device, if none) and those they need. `skippy` stands for
/// its three kinds.
///
/// # Errors
/// [`MeasureError::UnknownProbe`], and [`MeasureError::Refused`] for a probe that the device does not allow.
pub fn plan(wanted: &[String], device: &DeviceInfo) -> Result<Vec<&'static Probe>, MeasureError> {
    let suits = |place: usize| PROBES[place].suits(device);
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    for word in wanted {
        let asked = |name: ProbeName| name.as_str() == word || word == "skippy" && name.is_skippy();
        let mut found: Vec<usize> = (0..PROBES.len()).filter(|&place| asked(PROBES[place].name)).collect();
        if found.is_empty() {
            let known = PROBES.iter().map(|probe| probe.name.as_str()).collect();
            return Err(MeasureError::UnknownProbe { name: word.clone(), known });
        }
        if found.len() > 1 {
            found.retain(|&place| suits(place));
        }
        chosen.extend(found);
    }
    if wanted.is_empty() {
        chosen.extend((0..PROBES.len()).filter(|&place| suits(place) && !PROBES[place].runs_when_named()));
    }
    if let Some(&place) = chosen.iter().find(|&&place| !suits(place)) {
        return Err(MeasureError::Refused {
            device: device.name.clone(),
            problem: format!("the probe `{}` cannot run on it", PROBES[place].name),
            hint: if device.writable {
                "the paper's formula knows `rotation`, `skippy` and `zoned` only".to_owned()
            } else {
                "to lose what is on the device, say both: `--write --yes-destroy PATH`".to_owned()
            },
        });
    }
    // Needs come before what needs them: walking down finds all.
    for each in (0..PROBES.len()).rev() {
        if chosen.contains(&each) {
            let needs = PROBES[each].needs.iter().map(|&need| place(need));
            chosen.extend(needs.filter(|&need| suits(need)));
        }
    }
    Ok(chosen.into_iter().map(|place| PROBES[place]).collect())
}

/// How long a probe takes on the device's clock by what a record says so far, roughly, in s, and a look at the device says how fast
/// it streams, where one was taken.
pub(crate) fn expected_s(probe: &Probe, record: &Record, scope: &Scope, look: Option<Look>) -> f64 {
    let outlook = Outlook::of(record, scope);
    let outlook = match look {
        Some(look) if !record.has_finished(ProbeName::Rotation) => outlook.after(look),
        Some(look) => outlook.streaming(look),
        None => outlook,
    };
    (probe.expected_s)(&outlook)
}

/// How long probes will take on a device's clock that nothing is known of, roughly, in s. A few reads are made to see how fast
/// it is.
///
/// # Errors
/// [`MeasureError::Gone`] if the device is no longer there.
pub fn announce(probes: &[&Probe], device: &mut dyn Device, scope: &Scope) -> Result<Vec<f64>, MeasureError> {
    let look = Look::with_noise(device)?;
    let record = Record::new(device.info().clone());
    let outlook = Outlook::of(&record, scope).after(look);
    Ok(probes.iter().map(|probe| (probe.expected_s)(&outlook)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_listed_once_and_needs_come_before_what_needs_them() {
        for name in ProbeName::ALL {
            assert_eq!(PROBES.iter().filter(|probe| probe.name == name).count(), 1, "{name}");
        }
        for (here, probe) in PROBES.iter().enumerate() {
            assert!(probe.needs.iter().all(|&need| place(need) < here), "{}", probe.name);
        }
    }
}
