//! A histogram of durations: how long all take but so many.

use headstack_units::Nanos;

/// The binary logarithm of how many bins a power of two has.
const STEPS: u32 = 4;

/// Durations by sixteenths of powers of two.
#[derive(Clone, Debug)]
pub(super) struct Durations {
    bins: Box<[u64; 64 << STEPS]>,
    /// The highest bin that is not empty.
    highest: usize,
    count: u64,
}

impl Default for Durations {
    fn default() -> Self {
        Self { bins: Box::new([0; 64 << STEPS]), highest: 0, count: 0 }
    }
}

impl Durations {
    #[inline]
    pub(super) fn push(&mut self, duration: Nanos) {
        let bin = bin_of(duration);
        self.bins[bin] += 1;
        self.highest = self.highest.max(bin);
        self.count += 1;
    }

    /// How many there are.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// How many lie in higher bins than a duration.
    pub(super) fn longer_than(&self, duration: Nanos) -> u64 {
        self.bins[bin_of(duration) + 1..].iter().sum()
    }

    /// The longest duration above which lie at least `doubtful` of them; where `crowd` times as many take as long, these stay below it.
    pub(super) fn slowest_but_crowd(&self, doubtful: u64, crowd: u64) -> Nanos {
        match self.bin_of_slowest(doubtful) {
            Some(bin) if self.bins[bin] >= crowd * doubtful => below(bin + 1),
            _ => self.slowest_but(doubtful),
        }
    }

    /// The longest duration above which lie at least `doubtful` pairs.
    pub(super) fn slowest_but(&self, doubtful: u64) -> Nanos {
        if doubtful == 0 {
            return Nanos::MAX;
        }
        self.bin_of_slowest(doubtful).map_or(Nanos::ZERO, below)
    }

    /// The bin from which on lie at least `doubtful` pairs, if there are any.
    fn bin_of_slowest(&self, doubtful: u64) -> Option<usize> {
        let mut above = 0;
        let reaches = |&count: &u64| {
            above += count;
            above >= doubtful
        };
        self.bins[..=self.highest].iter().rposition(reaches).filter(|_| doubtful > 0)
    }
}

#[inline]
fn bin_of(duration: Nanos) -> usize {
    let (value, power) = (duration.0 | 1, (duration.0 | 1).ilog2());
    // The highest bit of the value comes to lie above the bits of the step.
    let scaled = if power >= STEPS { value >> (power - STEPS) } else { value << (STEPS - power) };
    (power as usize) << STEPS | scaled as usize & ((1 << STEPS) - 1)
}

/// The longest duration below a bin.
fn below(bin: usize) -> Nanos {
    let (power, step) = (bin >> STEPS, bin & ((1 << STEPS) - 1));
    let edge = ((1 << STEPS) + step as u128) << power >> STEPS;
    Nanos(u64::try_from(edge).unwrap_or(u64::MAX).saturating_sub(1))
}
