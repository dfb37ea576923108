//! How sure the mean of a run is: a confidence interval from batch means.

use headstack_units::Nanos;

use crate::NS_PER_MS;
use crate::interval::student_975;

/// Batches are merged in pairs when this many are full.
const CAPACITY: usize = 64;

/// 95 % confidence half-width of the mean of a *correlated* stream, in constant memory.
///
/// Response times of neighbouring requests depend on each other (a queue that is long stays long), so σ/√n is far
/// too narrow. The method of non-overlapping batch means cuts the stream into k equal batches; when a batch is
/// long against the memory of the process, the means of the batches are nearly independent, and an ordinary
/// Student interval over them holds (Law & Kelton, *Simulation Modeling and Analysis*, ch. 9; Schmeiser 1982 on why
/// more than about 30 batches gain little).
///
/// The stream's length need not be known: a batch begins as one value; whenever 64 batches are full, neighbours are
/// added together and the batch length doubles. From the 64th value on there are thus 32 to 63 full batches; before
/// it each value is a batch of its own and the interval is the usual one for independent values. The unfinished last
/// batch (at most 1/33 of the stream) is left out of the half-width.
///
/// The state is integer and depends on the values in their order only. Streams cannot be merged: order is the point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchMeans {
    /// Sums of the full batches, in ns.
    sums: [u128; CAPACITY],
    full: usize,
    batch_len: u64,
    open_sum: u128,
    open_left: u64,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self { sums: [0; CAPACITY], full: 0, batch_len: 1, open_sum: 0, open_left: 1 }
    }
}

impl BatchMeans {
    /// Without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next value of the stream.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.open_sum += u128::from(value.0);
        self.open_left -= 1;
        if self.open_left == 0 {
            self.close_batch();
        }
    }

    /// Adds the next values of the stream.
    pub fn record_all(&mut self, mut values: &[Nanos]) {
        while !values.is_empty() {
            let open = usize::try_from(self.open_left).map_or(values.len(), |left| left.min(values.len()));
            let (batch, rest) = values.split_at(open);
            self.open_sum += batch.iter().map(|value| u128::from(value.0)).sum::<u128>();
            self.open_left -= open as u64;
            if self.open_left == 0 {
                self.close_batch();
            }
            values = rest;
        }
    }

    fn close_batch(&mut self) {
        self.sums[self.full] = self.open_sum;
        self.full += 1;
        if self.full == CAPACITY {
            for pair in 0..CAPACITY / 2 {
                self.sums[pair] = self.sums[2 * pair] + self.sums[2 * pair + 1];
            }
            self.full = CAPACITY / 2;
            self.batch_len *= 2;
        }
        self.open_sum = 0;
        self.open_left = self.batch_len;
    }

    /// Number of full batches: below 64, and at least 32 once 64 values are in.
    pub fn batches(&self) -> usize {
        self.full
    }

    /// Values in a full batch: a power of two.
    pub fn batch_len(&self) -> u64 {
        self.batch_len
    }

    /// Half the width of the two-sided 95 % confidence interval of the mean, in milliseconds:
    /// t(0.975, k − 1) · s / √k, with s the sample standard deviation of the k full batches' means.
    ///
    /// `None` with fewer than two full batches.
    pub fn half_width_ms(&self) -> Option<f64> {
        let sums = &self.sums[..self.full];
        let degrees_of_freedom = self.full.checked_sub(1)?;
        let t = student_975(degrees_of_freedom)?;
        let least = *sums.iter().min()?;
        // Centred on the least, so that nothing cancels.
        let mean_above = |sum: &u128| (sum - least) as f64 / self.batch_len as f64;
        let k = self.full as f64;
        let mean = sums.iter().map(mean_above).sum::<f64>() / k;
        let squares: f64 = sums.iter().map(|sum| (mean_above(sum) - mean).powi(2)).sum();
        Some(t * (squares / degrees_of_freedom as f64 / k).sqrt() / NS_PER_MS)
    }
}

impl Extend<Nanos> for BatchMeans {
    fn extend<I: IntoIterator<Item = Nanos>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.record(value));
    }
}

impl FromIterator<Nanos> for BatchMeans {
    fn from_iter<I: IntoIterator<Item = Nanos>>(values: I) -> Self {
        let mut batches = Self::new();
        batches.extend(values);
        batches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_give_the_textbook_interval() {
        // 1 ms and 3 ms: s = √2, half-width = 12.706 · √2 / √2.
        let batches: BatchMeans = [1_000_000, 3_000_000].map(Nanos).into_iter().collect();
        assert!((batches.half_width_ms().unwrap() - 12.706_205).abs() < 1e-9);
    }

    #[test]
    fn fewer_than_two_batches_give_none() {
        let mut batches = BatchMeans::new();
        assert_eq!(batches.half_width_ms(), None);
        batches.record(Nanos(5));
        assert_eq!((batches.batches(), batches.half_width_ms()), (1, None));
    }

    #[test]
    fn batches_double_and_stay_between_32_and_63() {
        let mut batches = BatchMeans::new();
        let mut values = Vec::new();
        for i in 0..10_000u64 {
            let value = i * i % 9_973;
            batches.record(Nanos(value));
            values.push(value);
            let len = batches.batch_len() as usize;
            assert!(len.is_power_of_two());
            assert_eq!(batches.batches(), values.len() / len);
            assert!(batches.batches() < CAPACITY && (len == 1 || batches.batches() >= CAPACITY / 2));
        }
        let len = batches.batch_len() as usize;
        let sums: Vec<u128> =
            values.chunks_exact(len).map(|b| b.iter().map(|&v| u128::from(v)).sum()).collect();
        assert_eq!(batches.sums[..batches.full], sums);
    }

    #[test]
    fn many_at_a_time_are_one_by_one() {
        let values: Vec<Nanos> = (0..5_000_u64).map(|i| Nanos(i * i % 9_973)).collect();
        for chunk in [1, 7, 64, 999, 5_000] {
            let mut together = BatchMeans::new();
            values.chunks(chunk).for_each(|values| together.record_all(values));
            assert_eq!(together, values.iter().copied().collect(), "{chunk}");
        }
    }

    #[test]
    fn a_constant_stream_is_certain_and_the_largest_values_fit() {
        let batches: BatchMeans = (0..100_000u32).map(|_| Nanos(u64::MAX)).collect();
        assert_eq!(batches.half_width_ms(), Some(0.0));
    }
}
