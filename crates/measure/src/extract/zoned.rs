//! Zoned: bandwidth over the device, and the laws fitted to it (Talagala et al. 1999, section 5.2).

use crate::angles::median::median;
use crate::record::{ProbeName, Record, Role, Sample};
use serde::Serialize;
use std::collections::BTreeMap;

/// Bandwidth at one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The middle of what was read, in sectors.
    pub lba: u64,
    /// In 2²⁰ bytes per second.
    pub mib_per_s: f64,
}

/// One law fitted to the profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// "step", "linear", "quadratic" or "constant-density".
    pub law: &'static str,
    /// "regression" or "two-points".
    pub by: &'static str,
    /// Value at the start, and what is multiplied by the law's function of the location (0 to 1), in MiB/s.
    pub coefficients: Vec<f64>,
    /// Root mean square of what it misses, in MiB/s.
    pub rms_mib_per_s: f64,
}

/// The profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Places, outermost first.
    pub profile: Vec<Place>,
    /// At the outermost zone, in MiB/s.
    pub outer_mib_per_s: f64,
    /// At the innermost zone, in MiB/s.
    pub inner_mib_per_s: f64,
    /// The laws.
    pub fits: Vec<Fit>,
}

/// What bandwidth is linear in, of a location from 0 to 1.
type Law = fn(f64) -> f64;

/// From the probe `zoned`; `zone_of` numbers zones for the step function.
pub(crate) fn bandwidth(record: &Record, zone_of: impl Fn(u64) -> usize) -> Option<Bandwidth> {
    let mut places: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for sample in record.of(ProbeName::Zoned).filter(|sample| sample.role == Role::Measure) {
        places.entry(sample.series).or_default().push(sample);
    }
    let bytes = f64::from(record.head.device.sector_bytes);
    let profile: Vec<Place> = places.values().filter_map(|samples| place(samples, bytes)).collect();
    if profile.len() < 4 {
        return None;
    }
    let end = record.head.device.sectors as f64;
    let points: Vec<(f64, f64)> =
        profile.iter().map(|place| (place.lba as f64 / end, place.mib_per_s)).collect();
    let few = (points.len() / 40).clamp(1, 8);
    let speeds = |points: &[(f64, f64)]| median(&points.iter().map(|point| point.1).collect::<Vec<_>>());
    let (outer, inner) = (speeds(&points[..few]), speeds(&points[points.len() - few..]));
    let zones: Vec<usize> = profile.iter().map(|place| zone_of(place.lba)).collect();
    Some(Bandwidth {
        fits: fits(&points, &zones, (outer, inner)),
        profile,
        outer_mib_per_s: outer,
        inner_mib_per_s: inner,
    })
}

/// All blocks but the first, whose way there is paid.
fn place(samples: &[&Sample], sector_bytes: f64) -> Option<Place> {
    let (first, last) = (samples.first()?, samples.last()?);
    let rest = &samples[1..];
    let one_session = samples.iter().all(|sample| sample.session == first.session);
    if rest.is_empty() || !one_session || last.end <= first.end {
        return None;
    }
    let sectors: u64 = rest.iter().map(|sample| u64::from(sample.sectors)).sum();
    let seconds = (last.end - first.end).as_s();
    Some(Place {
        lba: u64::midpoint(first.lba, last.lba),
        mib_per_s: sectors as f64 * sector_bytes / seconds / f64::from(1 << 20),
    })
}

fn fits(points: &[(f64, f64)], zones: &[usize], (outer, inner): (f64, f64)) -> Vec<Fit> {
    let rms = |law: &dyn Fn(usize, f64) -> f64| -> f64 {
        let squares: f64 =
            points.iter().enumerate().map(|(place, &(x, y))| (law(place, x) - y).powi(2)).sum();
        (squares / points.len() as f64).sqrt()
    };
    let steps = step_means(points, zones);
    let mut fits = vec![Fit {
        law: "step",
        by: "regression",
        rms_mib_per_s: rms(&|place, _| steps[&zones[place]]),
        coefficients: steps.values().copied().collect(),
    }];
    let laws: [(&'static str, Law); 2] = [("linear", |x| x), ("quadratic", |x| x * x)];
    for (law, function) in laws {
        for (by, (a, b)) in
            [("regression", regression(points, function)), ("two-points", (outer, inner - outer))]
        {
            let rms_mib_per_s = rms(&|_, x| a + b * function(x));
            fits.push(Fit { law, by, coefficients: vec![a, b], rms_mib_per_s });
        }
    }
    // The square of the speed falls evenly.
    let squares: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x, y * y)).collect();
    let (outer, inner) = (outer * outer, inner * inner);
    for (by, (a, b)) in [("regression", regression(&squares, |x| x)), ("two-points", (outer, inner - outer))]
    {
        let rms_mib_per_s = rms(&|_, x| (a + b * x).max(0.0).sqrt());
        fits.push(Fit { law: "constant-density", by, coefficients: vec![a, b], rms_mib_per_s });
    }
    fits
}

fn step_means(points: &[(f64, f64)], zones: &[usize]) -> BTreeMap<usize, f64> {
    let mut by_zone: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (&zone, point) in zones.iter().zip(points) {
        by_zone.entry(zone).or_default().push(point.1);
    }
    by_zone
        .into_iter()
        .map(|(zone, speeds)| (zone, speeds.iter().sum::<f64>() / speeds.len() as f64))
        .collect()
}

/// a and b of y = a + b·f(x) by least squares.
fn regression(points: &[(f64, f64)], function: Law) -> (f64, f64) {
    let count = points.len() as f64;
    let (mut mx, mut my) = (0.0, 0.0);
    for &(x, y) in points {
        mx += function(x) / count;
        my += y / count;
    }
    let sxx: f64 = points.iter().map(|&(x, _)| (function(x) - mx).powi(2)).sum();
    let sxy: f64 = points.iter().map(|&(x, y)| (function(x) - mx) * (y - my)).sum();
    let b = if sxx > 0.0 { sxy / sxx } else { 0.0 };
    (my - b * mx, b)
}
