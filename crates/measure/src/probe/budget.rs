//! Which probes fit into a time: what a drive file can do without is left out first.

use super::description::Probe;
use crate::MeasureError;
use crate::record::ProbeName;

/// In this order probes are left out, as long as no other one needs them. Before the angles of the zones a drive file can be made
/// without; those, and the random accesses that it is held against, come next, then its values, those that take longest first.
const LEFT_OUT: [ProbeName; 19] = [
    ProbeName::Stream,
    ProbeName::Scan,
    ProbeName::Seeker,
    ProbeName::SkippyBackwards,
    ProbeName::SkippyRead,
    ProbeName::Zoned,
    ProbeName::SkippyWrite,
    ProbeName::Angles,
    ProbeName::Random,
    ProbeName::SeekCurve,
    ProbeName::ZoneTracks,
    ProbeName::Zones,
    ProbeName::Surfaces,
    ProbeName::Overhead,
    ProbeName::Switches,
    ProbeName::Tracks,
    ProbeName::Cache,
    ProbeName::WriteCache,
    ProbeName::Rotation,
];

/// How many of these a drive file can be made without: one whose zones begin at guessed angles, or that was held against nothing, may be
/// off by a sixth of each access, and nothing would say so.
const DISPENSABLE: usize = 7;

/// Whether a drive file cannot be made without a probe.
pub fn is_for_drive_file(name: ProbeName) -> bool {
    !LEFT_OUT[..DISPENSABLE].contains(&name)
}

/// Of a plan, whether each probe fits into a time, by how long each is expected to take, in s.
///
/// # Errors
/// [`MeasureError::Refused`] where not even the last one does.
pub fn fitting(
    plan: &[&Probe],
    expected_s: &[f64],
    within_s: f64,
    device: &str,
) -> Result<Vec<bool>, MeasureError> {
    let mut fits = vec![true; plan.len()];
    let total = |fits: &[bool]| -> f64 {
        expected_s.iter().zip(fits).filter(|(_, fits)| **fits).map(|(s, _)| s).sum()
    };
    while total(&fits) > within_s {
        let kept = |place: &usize| fits[*place];
        let needed =
            |name: ProbeName| (0..plan.len()).filter(kept).any(|place| plan[place].needs.contains(&name));
        let position = |name: ProbeName| plan.iter().position(|probe| probe.name == name).filter(kept);
        let next = LEFT_OUT.iter().filter(|&&name| !needed(name)).find_map(|&name| position(name));
        let Some(place) = next.filter(|_| fits.iter().filter(|fits| **fits).count() > 1) else {
            return Err(MeasureError::Refused {
                device: device.to_owned(),
                problem: format!(
                    "nothing fits into {within_s:.0} s: about {:.0} s are the least that says anything",
                    total(&fits)
                ),
                hint: "give it more time (--within), or name probes that take less".to_owned(),
            });
        };
        fits[place] = false;
    }
    Ok(fits)
}

/// Of what is still to do, what a drive file can do without and there is no time left for, by how long each is expected to take. What it
/// cannot do without is done all the same: what was measured before would be of little use without.
pub(crate) fn too_long(rest: &[&Probe], expected_s: &[f64], left_s: f64) -> Vec<ProbeName> {
    let mut total_s: f64 = expected_s.iter().sum();
    let mut left_out = Vec::new();
    for name in LEFT_OUT[..DISPENSABLE].iter().copied().take_while(|_| left_s.is_finite()) {
        let Some(place) = rest.iter().position(|probe| probe.name == name) else { continue };
        if total_s > left_s {
            total_s -= expected_s[place];
            left_out.push(name);
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::PROBES;

    fn named(fits: &[bool]) -> Vec<&'static str> {
        PROBES.iter().zip(fits).filter(|(_, fits)| **fits).map(|(probe, _)| probe.name.as_str()).collect()
    }

    #[test]
    fn what_a_drive_file_can_do_without_is_left_out_first() {
        // Each takes 10 s.
        let takes = vec![10.0; PROBES.len()];
        let all = fitting(&PROBES, &takes, 190.0, "a disk").unwrap();
        assert!(all.iter().all(|&fits| fits));
        let some = fitting(&PROBES, &takes, 125.0, "a disk").unwrap();
        let without = ["stream", "scan", "seeker", "skippy-backwards", "skippy-read", "zoned"];
        assert!(without.iter().all(|name| !named(&some).contains(name)) && named(&some).len() == 12);
        assert!(!is_for_drive_file(ProbeName::SkippyWrite) && is_for_drive_file(ProbeName::SeekCurve));
        assert!(is_for_drive_file(ProbeName::Angles) && is_for_drive_file(ProbeName::Random));
        let few = fitting(&PROBES, &takes, 20.0, "a disk").unwrap();
        assert_eq!(named(&few), ["rotation", "write-cache"]);
        let message = fitting(&PROBES, &takes, 9.0, "a disk").unwrap_err().to_string();
        assert!(message.contains("nothing fits into 9 s: about 10 s"), "{message}");
    }

    #[test]
    fn what_a_drive_file_is_made_of_is_not_left_out_on_the_way() {
        let takes = vec![10.0; PROBES.len()];
        assert_eq!(too_long(&PROBES, &takes, f64::INFINITY), []);
        assert_eq!(too_long(&PROBES, &takes, 170.0), [ProbeName::Stream, ProbeName::Scan]);
        assert_eq!(too_long(&PROBES, &takes, 5.0), LEFT_OUT[..DISPENSABLE]);
    }

    #[test]
    fn every_probe_can_be_left_out() {
        assert!(ProbeName::ALL.iter().all(|name| LEFT_OUT.contains(name)));
    }
}
