//! How sure the mean of a run is: a confidence interval from batch means.

use headstack_units::Nanos;

use crate::NS_PER_MS;
use crate::dependence::independent;
use crate::interval::student_975;

/// Batches are merged in pairs before so many are full.
const CAPACITY: usize = 64;

/// Of fewer batches it cannot be told how much neighbours depend on each other.
const LEAST_FOR_DEPENDENCE: usize = 16;

/// Batches worth fewer independent ones than this tell nothing of the interval.
const LEAST_INDEPENDENT: f64 = 4.0;

/// 95 % confidence half-width of the mean of a *correlated* stream, in constant memory.
///
/// Response times of neighbouring requests depend on each other (a queue that is long stays long), so σ/√n is far
/// too narrow. The method of non-overlapping batch means cuts the stream into k equal batches; when a batch is
/// long against the memory of the process, the means of the batches are nearly independent, and an ordinary
/// Student interval over them holds (Law & Kelton, *Simulation Modeling and Analysis*, ch. 9; Schmeiser 1982 on why
/// more than about 30 batches gain little).
///
/// The stream's length need not be known: a batch begins as one place; whenever 64 batches are full, neighbours are
/// added together and the batch length doubles. From the 64th value on there are thus 32 to 64 batches; before
/// it each value is a batch of its own and the interval is the usual one for independent values. A first or last batch that is not full
/// (together at most 2/33 of the stream) is left out of the half-width.
///
/// Under a heavy load the memory of the process is longer than a batch, so that batches depend on their neighbours, too: what they are
/// worth is told by [`independent`].
///
/// Each value comes with its place in the stream, so that values may be told in any order: the state is integer and depends only on which
/// values stand where. Places without a value make a batch lighter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchMeans {
    /// Of each batch the sum of its values, in ns, and how many they are.
    batches: [(u128, u64); CAPACITY],
    /// The first and the last place with a value.
    ends: Option<(u64, u64)>,
    /// Places in a batch, as a power of two.
    log_len: u32,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self { batches: [(0, 0); CAPACITY], ends: None, log_len: 0 }
    }
}

impl BatchMeans {
    /// Without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the value that stands at `place` in the stream.
    #[inline]
    pub fn record(&mut self, place: u64, value: Nanos) {
        self.record_run(place, &[value]);
    }

    /// Adds values that stand one behind the other in the stream, the first at `place`.
    pub fn record_run(&mut self, mut place: u64, mut values: &[Nanos]) {
        let Some(further) = values.len().checked_sub(1) else { return };
        let first = self.cover(place, place + further as u64);
        while !values.is_empty() {
            let left = self.batch_len() - place % self.batch_len();
            let (batch, rest) =
                values.split_at(usize::try_from(left).map_or(values.len(), |left| left.min(values.len())));
            let sum = batch.iter().map(|value| u128::from(value.0)).sum();
            self.add(((place >> self.log_len) - first) as usize, sum, batch.len() as u64);
            (place, values) = (place + batch.len() as u64, rest);
        }
    }

    /// Adds the values that stand at `places` in the stream.
    pub fn record_all(&mut self, places: &[u64], values: &[Nanos]) {
        let Some((&least, &last)) = places.iter().min().zip(places.iter().max()) else { return };
        let first = self.cover(least, last);
        // Neighbours mostly share a batch.
        let (mut open, mut sum, mut count) = (0, 0, 0);
        for (&place, value) in places.iter().zip(values) {
            let index = ((place >> self.log_len) - first) as usize;
            if index != open {
                self.add(open, sum, count);
                (open, sum, count) = (index, 0, 0);
            }
            sum += u128::from(value.0);
            count += 1;
        }
        self.add(open, sum, count);
    }

    #[inline]
    fn add(&mut self, index: usize, sum: u128, count: u64) {
        self.batches[index].0 += sum;
        self.batches[index].1 += count;
    }

    /// Sees to it that there are batches for places from `least` to `last`, and tells the first of all.
    fn cover(&mut self, least: u64, last: u64) -> u64 {
        let (old_least, old_last) = self.ends.unwrap_or((least, last));
        let (least, last) = (least.min(old_least), last.max(old_last));
        // A batch is full with its last place; where that would be the 64th, they are merged.
        while ((last + 1) >> self.log_len) - (least >> self.log_len) >= CAPACITY as u64 {
            self.merge_pairs(old_least);
        }
        let first = least >> self.log_len;
        self.batches.rotate_right(((old_least >> self.log_len) - first) as usize);
        self.ends = Some((least, last));
        first
    }

    /// Doubles the batches, of which the first holds `least`.
    fn merge_pairs(&mut self, least: u64) {
        let odd = (least >> self.log_len) % 2;
        let mut merged = [(0, 0); CAPACITY];
        for (index, (sum, count)) in (odd..).zip(self.batches) {
            let into: &mut (u128, u64) = &mut merged[(index / 2) as usize];
            into.0 += sum;
            into.1 += count;
        }
        self.batches = merged;
        self.log_len += 1;
    }

    /// The batches that tell of the mean: but for those at either end that are not full.
    fn telling(&self) -> impl Iterator<Item = (u128, u64)> + Clone {
        let is_full = |index: usize| self.batches[index].1 == self.batch_len();
        let (least, end) = self.ends.map_or((0, 0), |(least, last)| (least, last + 1));
        let used = (end.div_ceil(self.batch_len()) - (least >> self.log_len)) as usize;
        let last = used.saturating_sub(1);
        (0..used)
            .filter(move |&index| index > 0 && index < last || is_full(index))
            .map(|index| self.batches[index])
            .filter(|&(_, count)| count > 0)
    }

    /// Number of batches that tell of the mean: at most 64, and at least 31 once there are 64 values one after the other.
    pub fn batches(&self) -> usize {
        self.telling().count()
    }

    /// Places in a batch: a power of two.
    pub fn batch_len(&self) -> u64 {
        1 << self.log_len
    }

    /// Half the width of the two-sided 95 % confidence interval of the mean, in milliseconds:
    /// t(0.975, k' − 1) · s / √k', with s the sample standard deviation of the k batches' means, each weighed by its values
    /// (the ratio estimator: Law & Kelton, ch. 9), and k' the independent batches that they are worth.
    ///
    /// `None` with fewer than two batches, and where all are worth fewer than four independent ones.
    pub fn half_width_ms(&self) -> Option<f64> {
        let batches = self.telling();
        let k = batches.clone().count();
        // Centred on the least, so that nothing cancels.
        let least = batches.clone().map(|(sum, count)| sum / u128::from(count)).min()?;
        let above = batches.map(|(sum, count)| ((sum - least * u128::from(count)) as f64, count as f64));
        let (sum, count) = above.clone().fold((0.0, 0.0), |(a, b), (sum, count)| (a + sum, b + count));
        let mean = sum / count;
        let off: Vec<f64> = above.map(|(sum, count)| sum - mean * count).collect();
        let worth = worth(&off)?;
        let t = student_975((worth as usize).checked_sub(1)?)?;
        let squares: f64 = off.iter().map(|off| off * off).sum();
        let k = k as f64;
        Some(t * (squares * k / (k - 1.0) * k / worth).sqrt() / count / NS_PER_MS)
    }
}

/// As [`independent`], but that few are taken for independent, and `None` where they are worth too few to tell.
fn worth(off: &[f64]) -> Option<f64> {
    if off.len() < LEAST_FOR_DEPENDENCE {
        return Some(off.len() as f64);
    }
    Some(independent(off)).filter(|&worth| worth >= LEAST_INDEPENDENT)
}

/// The stream from its first place on.
impl FromIterator<Nanos> for BatchMeans {
    fn from_iter<I: IntoIterator<Item = Nanos>>(values: I) -> Self {
        let mut batches = Self::new();
        (0..).zip(values).for_each(|(place, value)| batches.record(place, value));
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
        batches.record(0, Nanos(5));
        assert_eq!((batches.batches(), batches.half_width_ms()), (1, None));
    }

    #[test]
    fn batches_double_and_stay_between_32_and_63() {
        let mut batches = BatchMeans::new();
        let mut values = Vec::new();
        for i in 0..10_000u64 {
            let value = i * i % 9_973;
            batches.record(i, Nanos(value));
            values.push(value);
            let len = batches.batch_len() as usize;
            assert!(len.is_power_of_two());
            assert_eq!(batches.batches(), values.len() / len);
            assert!(batches.batches() < CAPACITY && (len == 1 || batches.batches() >= CAPACITY / 2));
        }
        let len = batches.batch_len() as usize;
        let sum = |batch: &[u64]| (batch.iter().map(|&v| u128::from(v)).sum::<u128>(), len as u64);
        assert!(batches.telling().eq(values.chunks_exact(len).map(sum)));
    }

    #[test]
    fn a_stream_that_begins_late_has_as_many_batches() {
        for first in [1u64, 63, 64, 1_000, 999_999] {
            let mut batches = BatchMeans::new();
            for place in first..first + 10_000 {
                batches.record(place, Nanos(place));
                let told = place - first + 1;
                assert!(told < 64 || (31..=64).contains(&batches.batches()), "{first} {told}");
            }
        }
    }

    /// Batches of two places, of which the second has one value: sums of 4, 5 and 6 ms of 2, 1 and 2 values, so a mean of 3 ms, and
    /// 4 − 6, 5 − 3 and 6 − 6 ms above it.
    #[test]
    fn lighter_batches_weigh_less() {
        let ms = |sum: u128, count| (sum * 1_000_000, count);
        let mut light = BatchMeans { log_len: 1, ends: Some((0, 5)), ..BatchMeans::new() };
        light.batches[..3].copy_from_slice(&[ms(4, 2), ms(5, 1), ms(6, 2)]);
        let t = student_975(2).unwrap();
        let expected = t * ((4.0f64 + 4.0) * 3.0 / 2.0).sqrt() / 5.0;
        assert!((light.half_width_ms().unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn a_stream_that_only_grows_has_no_interval() {
        let batches: BatchMeans = (0..10_000).map(Nanos).collect();
        assert_eq!(batches.half_width_ms(), None);
    }

    #[test]
    fn many_at_a_time_are_one_by_one() {
        let values: Vec<Nanos> = (0..5_000_u64).map(|i| Nanos(i * i % 9_973)).collect();
        for chunk in [1, 7, 64, 999, 5_000] {
            let mut together = BatchMeans::new();
            let places: Vec<u64> = (0..values.len() as u64).collect();
            let mut runs = BatchMeans::new();
            for (places, values) in places.chunks(chunk).zip(values.chunks(chunk)) {
                together.record_all(places, values);
                runs.record_run(places[0], values);
            }
            let one_by_one = values.iter().copied().collect();
            assert_eq!((&together, &runs), (&one_by_one, &one_by_one), "{chunk}");
        }
    }

    #[test]
    fn a_constant_stream_is_certain_and_the_largest_values_fit() {
        let batches: BatchMeans = (0..100_000u32).map(|_| Nanos(u64::MAX)).collect();
        assert_eq!(batches.half_width_ms(), Some(0.0));
    }
}
