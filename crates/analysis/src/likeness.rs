//! What a made trace should have in common with its original, as numbers to set side by side.

use headstack_trace::{IoSource, Kind, TraceError};
use headstack_units::{Nanos, Op};
use serde::Serialize;

use crate::model::{Place, Recurrence};
use crate::order::Ordered;
use crate::times::Times;

/// The scales at which counts are compared, s.
const SCALES_S: [u64; 4] = [1, 10, 100, 1000];
/// Scales of fewer counts say nothing.
const FEWEST: u64 = 16;
const NS_PER_S: u64 = 1_000_000_000;

/// The numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Likeness {
    /// Reads and writes.
    pub requests: u64,
    /// First to last arrival, s.
    pub span_s: f64,
    /// Requests a second.
    pub requests_per_s: f64,
    /// Share of reads.
    pub read_fraction: f64,
    /// Mean size, bytes.
    pub mean_bytes: f64,
    /// Variance of the counts of arrivals in stretches of a length ÷ their mean (Poisson: 1), where there are 16 or more.
    pub dispersion: Vec<Dispersion>,
    /// Hurst parameter, from the variances of means over 1, 2, 4, … s: 0.5 without long memory.
    pub hurst: Option<f64>,
    /// Median distance from the end of one request to the begin of the next on its device, of those that leave it, bytes.
    pub seek_median_bytes: Option<f64>,
    /// Share of requests that begin where the one before on their device ended.
    pub sequential_fraction: f64,
    /// Share of requests that begin where an earlier one on their device began.
    pub again_fraction: f64,
}

/// Burstiness at a scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Dispersion {
    /// Length of a stretch, s.
    pub scale_s: u64,
    /// Variance ÷ mean.
    pub index: f64,
}

/// Sums over equal stretches.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Length, in s.
    length: u64,
    /// The stretch being counted.
    current: u64,
    count: u64,
    stretches: u64,
    sum: f64,
    squares: f64,
}

impl Counts {
    fn new(length: u64) -> Self {
        Self { length, ..Self::default() }
    }

    fn push(&mut self, second: u64) {
        let stretch = second / self.length;
        if stretch != self.current {
            self.close();
            // Those between hold nothing.
            self.stretches = stretch;
            self.current = stretch;
        }
        self.count += 1;
    }

    fn close(&mut self) {
        let count = std::mem::take(&mut self.count) as f64;
        self.sum += count;
        self.squares += count * count;
        self.stretches = self.current + 1;
    }

    /// Mean and variance of the counts; the last stretch, which is not whole, is left out.
    fn moments(&self) -> Option<(f64, f64)> {
        let n = self.current as f64;
        let mean = self.sum / n;
        (self.current >= FEWEST && self.sum > 0.0).then(|| (mean, (self.squares / n - mean * mean).max(0.0)))
    }
}

/// Reads `source` to its end.
///
/// # Errors
/// The source's, or if it holds no read or write.
pub fn likeness(source: &mut dyn IoSource) -> Result<Likeness, TraceError> {
    let sector_bytes = u64::from(source.sector_bytes());
    let mut ordered = Ordered::new(source);
    let (mut seen, mut batch) = (Seen::default(), Vec::new());
    loop {
        ordered.next_ios(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        for io in batch.iter().filter(|io| io.kind == Kind::Data) {
            seen.push(&io.request);
        }
    }
    if seen.requests == 0 {
        return Err(TraceError::Unusable { problem: "the trace holds no read or write".into(), hint: None });
    }
    Ok(seen.finish(sector_bytes))
}

struct Seen {
    requests: u64,
    reads: u64,
    sectors: u64,
    last: u64,
    scales: [Counts; SCALES_S.len()],
    powers: Vec<Counts>,
    devices: std::collections::BTreeMap<u32, (Option<u64>, Recurrence)>,
    /// Distances in sectors, as if they were times.
    seeks: Times,
    sequential: u64,
    again: u64,
    followed: u64,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            requests: 0,
            reads: 0,
            sectors: 0,
            last: 0,
            scales: SCALES_S.map(Counts::new),
            powers: (0..30).map(|power| Counts::new(1 << power)).collect(),
            devices: std::collections::BTreeMap::new(),
            seeks: Times::default(),
            sequential: 0,
            again: 0,
            followed: 0,
        }
    }
}

impl Seen {
    fn push(&mut self, request: &headstack_trace::Request) {
        self.requests += 1;
        self.reads += u64::from(request.op == Op::Read);
        self.sectors += u64::from(request.sectors);
        self.last = request.arrival.0;
        let second = self.last / NS_PER_S;
        for counts in self.scales.iter_mut().chain(&mut self.powers) {
            counts.push(second);
        }
        let (end, recurrence) = self.devices.entry(request.device).or_default();
        let first = request.lba.0;
        match end.replace(first.saturating_add(u64::from(request.sectors))) {
            Some(end) if end == first => self.sequential += 1,
            Some(end) => self.seeks.record(Nanos(first.abs_diff(end))),
            None => {}
        }
        let place = recurrence.push(first);
        self.followed += u64::from(place != Place::Unknown);
        self.again += u64::from(place == Place::Again);
    }

    fn finish(mut self, sector_bytes: u64) -> Likeness {
        let (requests, span_s) = (self.requests as f64, self.last as f64 / NS_PER_S as f64);
        let share = |count: u64| count as f64 / requests;
        let dispersion = self.scales.iter().filter_map(|counts| {
            let (mean, variance) = counts.moments()?;
            Some(Dispersion { scale_s: counts.length, index: variance / mean })
        });
        Likeness {
            requests: self.requests,
            span_s,
            requests_per_s: if span_s > 0.0 { requests / span_s } else { 0.0 },
            read_fraction: share(self.reads),
            mean_bytes: share(self.sectors) * sector_bytes as f64,
            dispersion: dispersion.collect(),
            hurst: hurst(&self.powers),
            seek_median_bytes: self.seeks.summary().map(|seeks| seeks.p50_ms * 1e6 * sector_bytes as f64),
            sequential_fraction: share(self.sequential),
            again_fraction: self.again as f64 / self.followed.max(1) as f64,
        }
    }
}

/// From the slope of the variance of means over their length, both logarithmic.
fn hurst(powers: &[Counts]) -> Option<f64> {
    let points: Vec<(f64, f64)> = powers
        .iter()
        .filter_map(|counts| {
            let (_, variance) = counts.moments().filter(|(_, variance)| *variance > 0.0)?;
            let length = (counts.length as f64).ln();
            Some((length, variance.ln() - 2.0 * length))
        })
        .collect();
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        (above + (point.0 - x) * (point.1 - y), below + (point.0 - x) * (point.0 - x))
    });
    (points.len() >= 3).then(|| 1.0 + above / below / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_trace::Request;
    use headstack_units::Lba;
    use rand::{RngExt, SeedableRng};

    fn of(requests: impl IntoIterator<Item = Request>) -> Likeness {
        let mut seen = Seen::default();
        requests.into_iter().for_each(|request| seen.push(&request));
        seen.finish(512)
    }

    #[test]
    fn independent_arrivals_have_a_dispersion_of_one_and_no_memory() {
        let mut random = rand_pcg::Pcg64::seed_from_u64(1);
        let mut arrivals: Vec<u64> =
            (0..200_000).map(|_| random.random_range(0..20_000 * NS_PER_S)).collect();
        arrivals.sort_unstable();
        let found = of(arrivals.into_iter().map(|at| Request::new(Nanos(at), Op::Read, Lba(0), 8)));
        assert!((found.dispersion[0].index - 1.0).abs() < 0.05, "{:?}", found.dispersion);
        assert!((found.hurst.unwrap() - 0.5).abs() < 0.1, "{:?}", found.hurst);
        assert!((found.requests_per_s - 10.0).abs() < 0.1);
    }

    #[test]
    fn bursts_of_a_minute_show_at_their_scale() {
        // A hundred a second in every tenth minute.
        let at = |k: u64| k / 6000 * 600 + k % 6000 / 100;
        let found = of((0..60_000).map(|k| Request::new(Nanos(at(k) * NS_PER_S), Op::Read, Lba(0), 8)));
        let index = |scale| found.dispersion.iter().find(|each| each.scale_s == scale).unwrap().index;
        assert!(index(1) > 85.0 && index(10) > 8.0 * index(1), "{:?}", found.dispersion);
    }

    #[test]
    fn places_are_told_by_distance_and_return() {
        // Each goes 8,000 sectors on, a hundred places in turn: nine in ten were there before.
        let found = of((0..1000).map(|k| Request::new(Nanos(k), Op::Read, Lba(k % 100 * 8000), 8)));
        assert!((found.again_fraction - 0.9).abs() < 1e-9);
        assert!((found.seek_median_bytes.unwrap() / (7992.0 * 512.0) - 1.0).abs() < 0.05);
        assert_eq!(found.sequential_fraction, 0.0);
    }
}
