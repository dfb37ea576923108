//! Count, mean and maximum along an axis: response over time, or over the address.

use headstack_units::Nanos;

use crate::NS_PER_MS;

/// Most bins a [`Timeline`] holds.
const CAPACITY: u64 = 512;

/// Values binned along an axis whose span is not known beforehand, in at most 512 bins of constant memory.
///
/// The position x is any 64-bit integer: an instant in ns, an LBA. Bins are 2^s wide and begin at multiples of their
/// width; s begins at 0 and grows, neighbours being joined, as soon as the positions seen no longer fit. So from 257
/// bins up are in use once the span allows it, and the state depends on the recorded pairs alone, in whatever order
/// or chunks they came; timelines merge exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Bins are 2^shift wide.
    shift: u32,
    /// Number, counted in bins from x = 0, of `bins[0]`.
    first: u64,
    bins: Vec<Cell>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cell {
    sum: u128,
    count: u64,
    max: u64,
}

impl Cell {
    fn merge(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
        self.max = self.max.max(other.max);
    }
}

/// A bin of a [`Timeline`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineBin {
    /// First position of the bin, in units of x.
    pub start: u64,
    /// Positions in the bin, in units of x: the same for all bins, a power of two.
    pub width: u64,
    /// Number of values.
    pub count: u64,
    /// Their mean in milliseconds; `None` in an empty bin.
    pub mean_ms: Option<f64>,
    /// The largest of them; zero in an empty bin.
    pub max: Nanos,
}

impl Timeline {
    /// Without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value at position `x`.
    #[inline]
    pub fn record(&mut self, x: u64, value: Nanos) {
        let index = (x >> self.shift).wrapping_sub(self.first) as usize;
        let cell = match self.bins.get_mut(index) {
            Some(cell) => cell,
            None => self.make_room(x),
        };
        cell.sum += u128::from(value.0);
        cell.count += 1;
        cell.max = cell.max.max(value.0);
    }

    /// Adds the values of another timeline; the order of merging does not matter.
    pub fn merge(&mut self, other: &Self) {
        if other.shift > self.shift {
            self.widen(other.shift);
        }
        // Both ends first: after them the width is final, and each bin of `other` lies within one of ours.
        for x in [other.bins.first().map(|_| other.first), other.last()].into_iter().flatten() {
            self.make_room(x << other.shift);
        }
        for (number, cell) in (other.first..).zip(&other.bins) {
            let index = ((number << other.shift) >> self.shift) - self.first;
            self.bins[index as usize].merge(*cell);
        }
    }

    /// Forgets all values, but not how wide its bins had become: for values that are merged into a timeline which has those
    /// forgotten here.
    pub fn clear(&mut self) {
        self.bins.clear();
    }

    /// The bins from the first position seen to the last, empty ones between included.
    pub fn bins(&self) -> impl Iterator<Item = TimelineBin> {
        let (shift, first) = (self.shift, self.first);
        (first..).zip(&self.bins).map(move |(number, cell)| TimelineBin {
            start: number << shift,
            width: 1 << shift,
            count: cell.count,
            mean_ms: (cell.count > 0).then(|| cell.sum as f64 / cell.count as f64 / NS_PER_MS),
            max: Nanos(cell.max),
        })
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.bins.iter().map(|cell| cell.count).sum()
    }

    /// Number of the last bin.
    fn last(&self) -> Option<u64> {
        (self.bins.len() as u64).checked_sub(1).map(|after_first| self.first + after_first)
    }

    /// Makes the bins reach `x`, joining neighbours while they would be too many; returns the one that holds it.
    #[cold]
    fn make_room(&mut self, x: u64) -> &mut Cell {
        if let Some(last) = self.last() {
            let mut shift = self.shift;
            loop {
                let more = shift - self.shift;
                let (low, high) = (self.first >> more, last >> more);
                if high.max(x >> shift) - low.min(x >> shift) < CAPACITY {
                    break;
                }
                shift += 1;
            }
            self.widen(shift);
        } else {
            self.bins.reserve_exact(CAPACITY as usize);
            self.first = x >> self.shift;
        }
        let number = x >> self.shift;
        if number < self.first {
            let before = (self.first - number) as usize;
            self.bins.splice(0..0, core::iter::repeat_n(Cell::default(), before));
            self.first = number;
        }
        let index = (number - self.first) as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Cell::default());
        }
        &mut self.bins[index]
    }

    /// Joins neighbours until bins are 2^`shift` wide.
    fn widen(&mut self, shift: u32) {
        let more = shift - self.shift;
        if more == 0 {
            return;
        }
        let first = self.first >> more;
        let mut joined = 0;
        for index in 0..self.bins.len() {
            let target = (((self.first + index as u64) >> more) - first) as usize;
            if target != index {
                let cell = core::mem::take(&mut self.bins[index]);
                self.bins[target].merge(cell);
            }
            joined = target + 1;
        }
        self.bins.truncate(joined);
        self.first = first;
        self.shift = shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_by_hand() {
        let mut timeline = Timeline::new();
        for (x, ms) in [(1_000, 1), (1_003, 2), (1_003, 4), (1_001, 6)] {
            timeline.record(x, Nanos(ms * 1_000_000));
        }
        let bins: Vec<_> = timeline.bins().map(|b| (b.start, b.width, b.count, b.mean_ms, b.max.0)).collect();
        assert_eq!(
            bins,
            [
                (1_000, 1, 1, Some(1.0), 1_000_000),
                (1_001, 1, 1, Some(6.0), 6_000_000),
                (1_002, 1, 0, None, 0),
                (1_003, 1, 2, Some(3.0), 4_000_000),
            ]
        );
    }

    #[test]
    fn a_growing_stream_doubles_the_bins() {
        let mut timeline = Timeline::new();
        for x in 0..100_000u64 {
            timeline.record(x * 1_000_000, Nanos(x));
            assert!(timeline.bins.len() as u64 <= CAPACITY);
        }
        assert!(timeline.bins.len() > 256);
        assert_eq!(timeline.count(), 100_000);
        assert_eq!(timeline.bins().last().map(|b| b.max), Some(Nanos(99_999)));
        assert!(timeline.bins().all(|b| b.start % b.width == 0));
    }

    #[test]
    fn neighbours_of_which_the_first_is_odd_are_not_lost() {
        let mut timeline = Timeline::new();
        for x in [1, 2, 513] {
            timeline.record(x, Nanos(x));
        }
        let bins: Vec<_> =
            timeline.bins().filter(|b| b.count > 0).map(|b| (b.start, b.width, b.max.0)).collect();
        assert_eq!(bins, [(0, 2, 1), (2, 2, 2), (512, 2, 513)]);
    }

    #[test]
    fn the_whole_axis_fits() {
        let mut timeline = Timeline::new();
        timeline.record(u64::MAX, Nanos(u64::MAX));
        timeline.record(0, Nanos(u64::MAX));
        let bins: Vec<_> = timeline.bins().collect();
        assert_eq!((bins.len(), bins[0].count, bins[511].count), (512, 1, 1));
        timeline.record(u64::MAX / 2, Nanos(1));
        assert_eq!((timeline.count(), timeline.bins().count()), (3, 512));
    }

    #[test]
    fn parts_noted_in_the_same_place_one_after_the_other_come_to_the_whole() {
        let positions: Vec<u64> = (0..3_000).map(|i| i * i % 7_919 + i * 3).collect();
        let (mut whole, mut sum, mut part) = (Timeline::new(), Timeline::new(), Timeline::new());
        for positions in positions.chunks(100) {
            part.clear();
            for &x in positions {
                whole.record(x, Nanos(x + 1));
                part.record(x, Nanos(x + 1));
            }
            sum.merge(&part);
            assert_eq!(sum, whole);
        }
    }

    #[test]
    fn merging_nothing_changes_nothing() {
        let mut timeline = Timeline::new();
        timeline.merge(&Timeline::new());
        assert_eq!(timeline.bins().count(), 0);
        timeline.record(77, Nanos(5));
        let before = timeline.clone();
        timeline.merge(&Timeline::new());
        assert_eq!(timeline, before);
        let mut empty = Timeline::new();
        empty.merge(&before);
        assert_eq!(empty, before);
    }
}
