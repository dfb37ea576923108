//! What a record says so far, for the probes that come next.

use super::order::{self, TrackOrder};
use super::tracks::{self, Border};
use super::zones::{self, Zone};
use super::rotation;
use crate::device::Mode;
use crate::probe::landing::TOLERANCE;
use crate::record::{Record, Role};
use crate::spindle::{Landing, Spindle, circular_median, least_turns};

/// What later probes build on.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) spindle: Option<Spindle>,
    /// How often an angle is measured.
    pub(crate) repetitions: usize,
    /// Standard deviation of an angle measured that often, in turns.
    pub(crate) angle_noise: f64,
    /// Least time to a sector of the same track, in turns.
    pub(crate) least_turns: Option<f64>,
    /// Reads below this are answered by the cache, in ms.
    pub(crate) hit_below_ms: f64,
    /// Sectors in a turn at the start.
    pub(crate) sectors_per_track: Option<f64>,
    /// The tracks at the start.
    pub(crate) borders: Vec<Border>,
    pub(crate) zones: Vec<Zone>,
    pub(crate) order: Option<TrackOrder>,
}

impl Known {
    pub(crate) fn of(record: &Record) -> Self {
        let rotation = rotation::rotation(record).filter(|r| r.coherence >= rotation::COHERENT);
        let spindle = rotation::spindle(record);
        let noise_turns = rotation.map_or(0.0, |rotation| rotation.noise_ms / rotation.turn_ms);
        let repetitions = match noise_turns {
            quiet if quiet < 2e-5 => 1,
            slight if slight < 2e-4 => 3,
            _ => 5,
        };
        let least_turns = spindle.and_then(|spindle| least_at_one_sector(record, spindle));
        // Issued just in time, an access takes about the least time, and its error is a share of that.
        let share = least_turns.map_or(1.0, |least| (2.0 * least).min(1.0));
        let angle_noise = noise_turns * share / (repetitions as f64).sqrt();
        let borders = spindle.map(|spindle| tracks_at_start(record, spindle)).unwrap_or_default();
        let order = spindle.and_then(|spindle| order::order(record, spindle));
        Self {
            spindle,
            repetitions,
            angle_noise,
            least_turns,
            hit_below_ms: hit_below_ms(record),
            sectors_per_track: borders.first().map(|border| border.per_turn),
            zones: spindle.map(|spindle| zones::zones(record, spindle)).unwrap_or_default(),
            borders,
            order,
        }
    }
}

/// The first series of `tracks` that found any.
pub(crate) fn tracks_at_start(record: &Record, spindle: Spindle) -> Vec<Border> {
    (0..8)
        .map(|series| tracks::borders(record, "tracks", series, spindle))
        .find(|borders| borders.len() > 36)
        .unwrap_or_default()
}

/// Least time to the sector just accessed, after random pauses.
fn least_at_one_sector(record: &Record, spindle: Spindle) -> Option<f64> {
    let samples: Vec<_> =
        record.of("rotation").filter(|sample| sample.role == Role::Measure).collect();
    let phases: Vec<f64> = samples.iter().map(|sample| spindle.phase(sample.end)).collect();
    let angle = circular_median(&phases);
    let landings: Vec<Landing> = samples
        .iter()
        .filter_map(|sample| {
            let latency = spindle.turns(sample.latency_ms());
            Landing::of(spindle.phase(sample.start), angle, latency, TOLERANCE)
        })
        .collect();
    least_turns(&landings).map(|(turns, _)| turns)
}

/// Reads that take less than this cannot have come from the media: half-way, on a scale of ratios, between what the cache
/// probe's hits take and what misses take at least. Before that probe has run, less than any command takes.
fn hit_below_ms(record: &Record) -> f64 {
    super::cache::hit_threshold_ms(record).unwrap_or(0.02)
}

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
                .of("write-cache")
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
