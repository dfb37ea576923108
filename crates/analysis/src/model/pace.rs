//! When requests arrive: the instant of each, or of a long trace of every second, fourth, …

use serde::{Deserialize, Serialize};

/// At most so many instants.
const INSTANTS: usize = 1 << 16;

/// Instants of a trace, equally many requests apart. What repeats daily, and what comes in bursts of any length, stands here;
/// what lies between two instants is left to the excerpts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Requests from one instant to the next, a power of two.
    pub every: u64,
    /// Requests in all; the last interval may hold fewer.
    pub requests: u64,
    /// When the first of every so many arrives, ns from the first of all; and when the next after the last would.
    pub instants_ns: Vec<u64>,
}

impl Pace {
    /// That of two or more ascending `arrivals`.
    pub(super) fn of(arrivals: &[u64]) -> Self {
        let mut every = 1_u64;
        while arrivals.len().div_ceil(every as usize) > INSTANTS {
            every *= 2;
        }
        let first = arrivals.first().copied().unwrap_or(0);
        let span = arrivals.last().map_or(0, |last| last - first);
        let mean_gap = span / (arrivals.len().max(2) - 1) as u64;
        let mut instants_ns: Vec<u64> =
            arrivals.iter().step_by(every as usize).map(|at| at - first).collect();
        instants_ns.push(span.saturating_add(mean_gap));
        Self { every, requests: arrivals.len() as u64, instants_ns }
    }

    /// Whether it can be followed.
    pub(super) fn makes_sense(&self) -> bool {
        let intervals = (self.instants_ns.len() as u64).checked_sub(1);
        self.every.is_power_of_two()
            && self.requests > 0
            && intervals == Some(self.requests.div_ceil(self.every))
            && self.instants_ns.is_sorted()
            && self.instants_ns.last().is_some_and(|end| *end < 1 << 62)
    }

    /// The mean gap between requests, ns.
    pub(super) fn mean_gap_ns(&self) -> u64 {
        self.instants_ns.last().map_or(0, |end| end / self.requests)
    }

    /// When about the request of that number arrives; after the last, all begins anew.
    pub(super) fn instant(&self, number: u64) -> u64 {
        let (round, number) = (number / self.requests, number % self.requests);
        let at = number / self.every;
        let (from, to) = (self.instants_ns[at as usize], self.instants_ns[at as usize + 1]);
        let held = self.every.min(self.requests - at * self.every);
        let into = u128::from(to - from) * u128::from(number % self.every) / u128::from(held);
        let end = self.instants_ns[self.instants_ns.len() - 1];
        round.saturating_mul(end).saturating_add(from + into as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_of_a_short_trace_has_its_instant() {
        let arrivals: Vec<u64> = (0..883).map(|k| 5 + k * k).collect();
        let pace = Pace::of(&arrivals);
        assert!(pace.makes_sense());
        for (number, &at) in (0..).zip(&arrivals) {
            assert_eq!(pace.instant(number), at - 5);
            // Another round begins where the first ends, a mean gap after its last.
            assert_eq!(pace.instant(number + 883), at - 5 + 882 * 882 + 882);
        }
    }

    #[test]
    fn a_long_trace_has_an_instant_for_so_many() {
        let arrivals: Vec<u64> = (0..2_000_001).map(|k| 3 * k).collect();
        let pace = Pace::of(&arrivals);
        assert!(pace.makes_sense());
        assert_eq!((pace.every, pace.instants_ns.len()), (32, 62_502));
        assert!((0..2_000_001).all(|number| pace.instant(number) == 3 * number));
        assert_eq!(Pace::of(&[5, 5]).instant(1), 0);
    }
}
