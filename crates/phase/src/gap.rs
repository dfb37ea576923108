//! Which way the gaps of a trace go: before their requests, or after them.
//!
//! A trace that states service times and gaps has two readings, with different instants for the same completions. Only
//! under the right one does the disk turn from one completion to the next as far as the two sectors lie apart. Pairs on
//! one cylinder in a row show it without any knowledge of cylinder skews or of the phase.

use crate::geometry::Geometry;
use crate::observation::Observation;
use crate::pairs::{Sighting, sightings};

/// The two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// A row's gap is the time from its completion to the next issue.
    After,
    /// A row's gap is the time from the completion before it to its issue.
    Before,
    /// The instants do not tell.
    Undecided,
}

/// What the instants say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapVerdict {
    /// The reading that holds.
    pub gap: Gap,
    /// Mean resultant length of the pairs' errors if the gaps come after, at the best period: 0 to 1.
    pub coherence_after: f64,
    /// The same if they come before.
    pub coherence_before: f64,
    /// Pairs that were used: the fewer of the two readings.
    pub pairs: usize,
    /// How likely the better reading is the right one, both having been equally likely; ½ to 1.
    pub confidence: f64,
}

/// Pairs without which there is no verdict.
const FEW: usize = 20;
/// The verdict's least confidence.
const SURE: f64 = 0.999;
/// The least coherence of a right reading.
const COHERENT: f64 = 0.25;
/// How far off the nominal period may be, and how many periods are tried within.
const RANGE: f64 = 0.0075;
const PERIODS: i32 = 151;
/// The longest time between the two of a pair, in ns: periods a grid step apart differ by less than a tenth of a turn.
const FAR_NS: u64 = 120_000_000;

/// Decides between the two readings of one trace: the same observations with their instants under either.
pub fn decide(
    after: &[Observation],
    before: &[Observation],
    geometry: &Geometry,
    nominal_rpm: f64,
) -> GapVerdict {
    let nominal_ns = 60e9 / nominal_rpm;
    let (coherence_after, pairs_after) = coherence(&sightings(after, geometry), geometry, nominal_ns);
    let (coherence_before, pairs_before) = coherence(&sightings(before, geometry), geometry, nominal_ns);
    let pairs = pairs_after.min(pairs_before);
    let (better, worse) = (coherence_after.max(coherence_before), coherence_after.min(coherence_before));
    // For angles that scatter around one direction, pairs · coherence² is the logarithm of the likelihood against
    // uniform ones (for small coherence; less than it for large). The best of several periods is worth their number.
    let evidence = pairs as f64 * (better * better - worse * worse) - f64::from(PERIODS).ln();
    let confidence = 1.0 / (1.0 + (-evidence).exp());
    let gap = if pairs < FEW || better < COHERENT || confidence < SURE {
        Gap::Undecided
    } else if coherence_after > coherence_before {
        Gap::After
    } else {
        Gap::Before
    };
    GapVerdict { gap, coherence_after, coherence_before, pairs, confidence: confidence.max(0.5) }
}

/// The best coherence of consecutive pairs on one cylinder over all periods, and how many pairs there are.
fn coherence(sightings: &[Sighting], geometry: &Geometry, nominal_ns: f64) -> (f64, usize) {
    let pairs: Vec<(f64, f64)> = sightings
        .windows(2)
        .filter_map(|two| {
            let (from, to) = (&two[0].site, &two[1].site);
            let ns = two[1].at.saturating_sub(two[0].at).0;
            let near = from.zone == to.zone && from.steps[1..] == to.steps[1..] && ns <= FAR_NS;
            let values = geometry.file_values(from.zone);
            near.then(|| (ns as f64 / nominal_ns, to.turns(&values) - from.turns(&values)))
        })
        .collect();
    let resultant = |speed: f64| {
        let (mut sine, mut cosine) = (0.0, 0.0);
        for &(revolutions, apart) in &pairs {
            let (s, c) = (core::f64::consts::TAU * (revolutions * (1.0 + speed) - apart)).sin_cos();
            sine += s;
            cosine += c;
        }
        f64::hypot(sine, cosine) / pairs.len().max(1) as f64
    };
    let speed = |point: i32| RANGE * (2.0 * f64::from(point) / f64::from(PERIODS - 1) - 1.0);
    ((0..PERIODS).map(|point| resultant(speed(point))).fold(0.0, f64::max), pairs.len())
}
