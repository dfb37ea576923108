//! How the rate changes over a trace, and time as a steady stream would count it.

use serde::{Deserialize, Serialize};

/// At most so many stretches.
const STRETCHES: usize = 1 << 16;
/// At least so many requests to a stretch on average.
const REQUESTS: usize = 8;
/// The mean time between requests, as [`Pace::steady`] counts it.
pub(super) const MEAN_GAP: f64 = 1_000_000.0;

/// Requests in each of equal stretches of a trace. What repeats daily, and what comes in bursts of any length above a
/// stretch, stands here; what is below is left to the gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Length of a stretch, ns.
    pub stretch_ns: u64,
    /// Requests in each.
    pub requests: Vec<u64>,
}

impl Pace {
    /// That of ascending `arrivals`, of which the first is the start.
    pub(super) fn of(arrivals: &[u64]) -> Self {
        let stretches = (arrivals.len() / REQUESTS).clamp(1, STRETCHES) as u64;
        let first = arrivals.first().copied().unwrap_or(0);
        let span = arrivals.last().map_or(0, |last| last - first);
        let stretch_ns = span / stretches + 1;
        let mut requests = vec![0; (span / stretch_ns + 1) as usize];
        for arrival in arrivals {
            requests[((arrival - first) / stretch_ns) as usize] += 1;
        }
        Self { stretch_ns, requests }
    }

    /// Whether it can be followed.
    pub(super) fn makes_sense(&self) -> bool {
        let sum = self.requests.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        let length = self.stretch_ns.checked_mul(self.requests.len() as u64);
        self.stretch_ns > 0 && sum.is_some_and(|sum| (1..1 << 50).contains(&sum)) && length.is_some()
    }

    /// Requests up to each stretch, and all.
    pub(super) fn sums(&self) -> Vec<u64> {
        let mut sums = vec![0];
        for count in &self.requests {
            sums.push(sums[sums.len() - 1] + count);
        }
        sums
    }

    /// An instant since the start, as a clock counts that runs the faster the more requests come.
    pub(super) fn steady(&self, sums: &[u64], at: u64) -> f64 {
        let stretch = ((at / self.stretch_ns) as usize).min(self.requests.len() - 1);
        let within = (at - stretch as u64 * self.stretch_ns) as f64 / self.stretch_ns as f64;
        (sums[stretch] as f64 + within * self.requests[stretch] as f64) * MEAN_GAP
    }

    /// The instant at which that clock shows `steady`; the pace begins anew at its end.
    pub(super) fn instant(&self, sums: &[u64], steady: f64) -> u64 {
        let whole = sums[sums.len() - 1];
        let requests = steady / MEAN_GAP;
        let round = (requests / whole as f64).floor();
        let left = requests - round * whole as f64;
        // The last stretch that begins at or before, and holds something.
        let after = sums.partition_point(|&sum| sum as f64 <= left).min(sums.len() - 1);
        let stretch = after - 1;
        let within = (left - sums[stretch] as f64) / self.requests[stretch].max(1) as f64;
        let ns =
            self.stretch_ns as f64 * (round * self.requests.len() as f64 + stretch as f64 + within.min(1.0));
        ns.round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_where_its_steady_time_says() {
        // 800 requests in the first second, 80 in the tenth, nothing between.
        let first = (0..800).map(|k| k * 1_250_000);
        let arrivals: Vec<u64> = first.chain((0..80).map(|k| 9_000_000_000 + k * 12_500_000)).collect();
        let pace = Pace::of(&arrivals);
        let sums = pace.sums();
        assert!(pace.makes_sense());
        assert_eq!(sums[sums.len() - 1], 880);
        for at in arrivals {
            let back = pace.instant(&sums, pace.steady(&sums, at));
            assert!(back.abs_diff(at) < 1000, "{at} {back}");
        }
        // Another round begins where the first ends.
        let length = pace.stretch_ns * pace.requests.len() as u64;
        assert!(pace.instant(&sums, 880.0 * MEAN_GAP).abs_diff(length) < 1000);
    }

    #[test]
    fn one_request_has_a_pace() {
        let pace = Pace::of(&[5]);
        assert_eq!((pace.requests.clone(), pace.instant(&pace.sums(), 0.0)), (vec![1], 0));
    }
}
