//! Whether writes are complete when they are on the media.

use crate::angles::median::circular_median;
use crate::angles::spindle::{Spindle, wrap_signed};
use crate::device::Mode;
use crate::record::{ProbeName, Record, Role};

/// Completions this near an angle, in turns, are at it: by chance, every fifth is.
const AT_THE_ANGLE: f64 = 0.1;
/// Where this share of the writes is complete at the angle of its sector, they are on the media: some may be seen late.
pub(crate) const ON_THE_MEDIA: f64 = 0.75;

/// Whether all writes of the probe `write-cache` ended at the angle of their sector.
pub(crate) fn writes_reach_media(record: &Record, spindle: Option<Spindle>) -> bool {
    let Some(spindle) = spindle else { return false };
    writes_at_angle(record, spindle).iter().all(|&(_, share)| share >= ON_THE_MEDIA)
}

/// For each series of `write-cache`, the share of completions at the angle of their sector.
pub(crate) fn writes_at_angle(record: &Record, spindle: Spindle) -> Vec<(u32, f64)> {
    (0..5)
        .filter_map(|series| {
            let samples: Vec<_> = record
                .of(ProbeName::WriteCache)
                .filter(|s| s.series == series && s.role == Role::Measure && s.mode == Mode::Write)
                .collect();
            let first = samples.first()?;
            // In one place all end at one angle; here and there, at few: those of the first sector stand for all.
            let ends: Vec<f64> = samples
                .iter()
                .filter(|sample| sample.lba == first.lba)
                .map(|sample| spindle.phase(sample.end))
                .collect();
            let angle = circular_median(&ends);
            let near = ends.iter().filter(|end| wrap_signed(*end - angle).abs() < AT_THE_ANGLE).count();
            (ends.len() > 2).then(|| (series, near as f64 / ends.len() as f64))
        })
        .collect()
}
