//! How long an I/O may take before, in a trace with lost events, its halves are no longer believed to belong together.

use headstack_units::Nanos;

/// Durations seen, by powers of two, and the limit that follows from them.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    counts: [u64; 64],
    total: u64,
}

impl Default for Patience {
    fn default() -> Self {
        Self { counts: [0; 64], total: 0 }
    }
}

impl Patience {
    /// Before so many durations are known, the limit is [`Self::FIRST`].
    const ENOUGH: u64 = 64;
    const FIRST: Nanos = Nanos(1_000_000_000);
    /// The limit lies this many powers of two above the one that holds the 99th percentile.
    const MARGIN: u32 = 3;

    #[inline]
    pub(crate) fn record(&mut self, duration: Nanos) {
        self.counts[63 - (duration.0 | 1).leading_zeros() as usize] += 1;
        self.total += 1;
    }

    /// Longer than this, and two halves do not belong together: eight to sixteen times the 99th percentile.
    pub(crate) fn limit(&self) -> Nanos {
        if self.total < Self::ENOUGH {
            return Self::FIRST;
        }
        let mut beyond = self.total / 100;
        for (power, &count) in self.counts.iter().enumerate().rev() {
            if count > beyond {
                return Nanos(1_u64.checked_shl(power as u32 + 1 + Self::MARGIN).unwrap_or(u64::MAX));
            }
            beyond -= count;
        }
        Self::FIRST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_the_slow_ones_but_not_the_slowest() {
        let mut patience = Patience::default();
        assert_eq!(patience.limit(), Patience::FIRST);
        for _ in 0..990 {
            patience.record(Nanos(3_000_000));
        }
        for _ in 0..9 {
            patience.record(Nanos(60_000_000_000));
        }
        // 3 ms lies below 2^22 ns.
        assert_eq!(patience.limit(), Nanos(1 << 25));
        for _ in 0..40 {
            patience.record(Nanos(10_000_000));
        }
        assert_eq!(patience.limit(), Nanos(1 << 27));
    }
}
