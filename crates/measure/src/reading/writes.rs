//! Whether writes are complete when they are on the media.

use super::rotation;
use crate::angles::spindle::Spindle;
use crate::device::Mode;
use crate::record::{ProbeName, Record, Role};

/// Whether all writes of the probe `write-cache` ended at the angle of their sector.
pub(crate) fn writes_reach_media(record: &Record, spindle: Option<Spindle>) -> bool {
    let Some(spindle) = spindle else { return false };
    write_coherence(record, spindle).iter().all(|&(_, coherence)| coherence >= rotation::COHERENT)
}

/// For each series of `write-cache`, how well completions agree with the rotation.
pub(crate) fn write_coherence(record: &Record, spindle: Spindle) -> Vec<(u32, f64)> {
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
            let (x, y) = ends.iter().fold((0.0, 0.0), |(x, y), phase| {
                let angle = std::f64::consts::TAU * phase;
                (x + angle.cos(), y + angle.sin())
            });
            let count = ends.len() as f64;
            (ends.len() > 2).then(|| (series, f64::hypot(x, y) / count))
        })
        .collect()
}
