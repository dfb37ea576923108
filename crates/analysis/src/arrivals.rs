//! Reads and writes over time, on an axis whose span is not known beforehand.

use headstack_units::Nanos;
use serde::Serialize;

/// Most bins.
const BINS: usize = 512;

/// What arrived in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ArrivalBin {
    /// Where it begins, ns from the first arrival.
    pub from_ns: u64,
    /// How long it is, ns.
    pub width_ns: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

impl ArrivalBin {
    fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes_read += other.bytes_read;
        self.bytes_written += other.bytes_written;
    }
}

/// Arrivals in at most 512 bins of a power of two of nanoseconds; empty ones between others are kept.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    shift: u32,
    bins: Vec<ArrivalBin>,
}

impl Arrivals {
    /// Counts a request.
    #[inline]
    pub fn record(&mut self, arrival: Nanos, read: bool, bytes: u64) {
        while arrival.0 >> self.shift >= BINS as u64 {
            self.widen();
        }
        let at = (arrival.0 >> self.shift) as usize;
        if at >= self.bins.len() {
            self.bins.resize(at + 1, ArrivalBin::default());
        }
        let one = if read {
            ArrivalBin { reads: 1, bytes_read: bytes, ..ArrivalBin::default() }
        } else {
            ArrivalBin { writes: 1, bytes_written: bytes, ..ArrivalBin::default() }
        };
        self.bins[at].add(&one);
    }

    fn widen(&mut self) {
        self.shift += 1;
        let pairs = self.bins.chunks(2).map(|pair| {
            let mut sum = pair[0];
            for other in &pair[1..] {
                sum.add(other);
            }
            sum
        });
        self.bins = pairs.collect();
    }

    /// The bins, from time 0 to the last arrival.
    pub fn bins(&self) -> Vec<ArrivalBin> {
        let width_ns = 1 << self.shift;
        let numbered = (0_u64..).zip(&self.bins);
        numbered.map(|(at, bin)| ArrivalBin { from_ns: at * width_ns, width_ns, ..*bin }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The naive twin: count what lies between the edges of each bin.
        #[test]
        fn bins_hold_what_arrives_in_them(requests in proptest::collection::vec((0_u64..1 << 50, any::<bool>(), 1_u64..1 << 20), 1..200)) {
            let mut arrivals = Arrivals::default();
            for &(at, read, bytes) in &requests {
                arrivals.record(Nanos(at), read, bytes);
            }
            let bins = arrivals.bins();
            let latest = requests.iter().map(|request| request.0).max().unwrap();
            let end = bins.last().map(|bin| bin.from_ns + bin.width_ns).unwrap();
            prop_assert!(bins.len() <= BINS && (end - bins[0].width_ns..end).contains(&latest));
            for bin in &bins {
                let inside = || requests.iter().filter(|request| (bin.from_ns..bin.from_ns + bin.width_ns).contains(&request.0));
                prop_assert_eq!(bin.reads, inside().filter(|request| request.1).count() as u64);
                prop_assert_eq!(bin.writes, inside().filter(|request| !request.1).count() as u64);
                prop_assert_eq!(bin.bytes_read, inside().filter(|request| request.1).map(|request| request.2).sum::<u64>());
                prop_assert_eq!(bin.bytes_written, inside().filter(|request| !request.1).map(|request| request.2).sum::<u64>());
            }
        }
    }
}
