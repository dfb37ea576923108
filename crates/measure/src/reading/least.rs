//! Least times from records of halving.

use super::density;
use super::hits::hit_times;
use super::rotation;
use super::tracks::tracks_at_start;
use crate::angles::landing::{Landing, least_turns};
use crate::angles::median::{circular_median, median};
use crate::angles::sighting::{Sighting, sighted};
use crate::angles::spindle::{Spindle, wrap, wrap_signed};
use crate::angles::tolerance::OFF_ANGLE;
use crate::record::series::switches::{READS, SAME_TRACK};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// Seeks before writes take longer than those before reads by as much over all distances if no difference misses the median by more
/// than this, in ms.
pub(crate) const ALIKE_MS: f64 = 0.03;

/// A least time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Least {
    /// In ms.
    pub(crate) ms: f64,
    /// Half width of what most accesses agree on, in ms.
    pub(crate) half_width_ms: f64,
    /// 95 % confidence of the sector's angle, half width, in ms.
    pub(crate) angle_ci95_ms: f64,
}

impl Least {
    /// 95 % confidence, half width, in ms.
    pub(crate) fn ci95_ms(self) -> f64 {
        f64::hypot(self.half_width_ms, self.angle_ci95_ms)
    }
}

/// The least time that a group of accesses to one track shows: to one sector (writes), or to sectors a known angle apart.
pub(crate) fn least(samples: &[&Sample], slope: f64, spindle: Spindle) -> Option<Least> {
    let lba = samples.iter().map(|sample| sample.lba).max()?;
    let home = |sample: &Sample| (lba - sample.lba) as f64 * slope;
    // The angle, from all; then once more from the half that took least time. The very shortest may be odd: what is being read
    // ahead comes at an angle of its own.
    let mut sightings: Vec<Sighting> =
        samples.iter().map(|sample| Sighting::of(sample, spindle).shifted(home(sample))).collect();
    let rough = circular_median(&sightings.iter().map(|seen| seen.phase).collect::<Vec<_>>());
    sightings.retain(|seen| wrap_signed(seen.phase - rough).abs() < OFF_ANGLE);
    sightings.sort_unstable_by(|a, b| a.turns.total_cmp(&b.turns));
    sightings.truncate((sightings.len() / 2).max(3));
    let (angle, angle_ci95) = sighted(&sightings);
    let landings: Vec<Landing> = samples
        .iter()
        .filter(|sample| sample.role == Role::Measure)
        .filter_map(|sample| {
            let latency = spindle.turns(sample.latency_ms());
            Landing::of(spindle.phase(sample.start), wrap(angle - home(sample)), latency, OFF_ANGLE)
        })
        .collect();
    let (turns, width) = least_turns(&landings)?;
    (landings.len() >= 6).then(|| Least {
        ms: spindle.ms(turns),
        half_width_ms: spindle.ms(width),
        angle_ci95_ms: spindle.ms(angle_ci95),
    })
}

/// The least times of a probe's series, the transfer taken off, by `step`.
pub(crate) fn by_step(
    record: &Record,
    (probe, series): (ProbeName, u32),
    slope: impl Fn(u64) -> f64,
    spindle: Spindle,
) -> BTreeMap<i64, Least> {
    let mut groups: BTreeMap<i64, Vec<&Sample>> = BTreeMap::new();
    for sample in
        record.of(probe).filter(|s| s.series == series && matches!(s.role, Role::Measure | Role::Angle))
    {
        groups.entry(sample.step).or_default().push(sample);
    }
    let hits = hit_times(record);
    let unit = record.head.device.unit() as f64;
    let clock_off_ms = rotation::clock_off_ms(record);
    let found = groups.into_iter().filter_map(|(step, samples)| {
        let lba = samples.first()?.lba;
        // Hits would look like accesses that arrived early.
        let media: Vec<&Sample> = samples.into_iter().filter(|sample| hits.leave(sample)).collect();
        let found = least(&media, slope(lba), spindle)?;
        let transfer_ms = spindle.ms(slope(lba) * unit);
        let angle_ci95_ms = f64::hypot(found.angle_ci95_ms, clock_off_ms);
        Some((step, Least { ms: found.ms - transfer_ms, angle_ci95_ms, ..found }))
    });
    found.collect()
}

/// The least time between reads on the same track, in turns, by the probe `switches`.
pub(crate) fn least_read_turns(record: &Record, spindle: Spindle) -> Option<f64> {
    let borders = tracks_at_start(record, spindle);
    borders.first()?;
    let slope = density::slope(&borders);
    let found = by_step(record, (ProbeName::Switches, READS + SAME_TRACK), slope, spindle);
    let all: Vec<f64> = found.values().map(|least| spindle.turns(least.ms)).collect();
    (!all.is_empty()).then(|| median(&all))
}
