//! Times of two kinds in one place: the quantiles of either, and of both together, for one sorting.

use headstack_units::Nanos;

use crate::quantiles::nearest_rank;
use crate::{QuantileSummary, Quantiles, radix};

/// So many values are counted together, and looked through where a rank is among them.
const CHUNK: usize = 256;

/// Records times of two kinds, as of reads and writes, and answers quantiles of each and of all: as two [`Quantiles`] would, and one
/// more of both, in the room and nearly in the time of one.
///
/// Each value is held twice as large, and 1 larger for the second kind: sorted, they are in order of time.
#[derive(Clone, Debug, Default)]
pub struct Marked {
    /// All of them lie below all of `long`.
    short: Vec<u32>,
    long: Vec<u64>,
    /// Beyond the limit of [`Quantiles`]: values are in bins, which know no kinds.
    divided: Option<[Quantiles; 2]>,
}

impl Marked {
    /// Adds values of which none is larger than `most`; an odd key is one of the second kind.
    pub fn record_all(&mut self, keys: &[u64], values: &[Nanos], most: Nanos) {
        let known = self.short.len() + self.long.len();
        if (known + values.len()) as u64 > Quantiles::DEFAULT_LIMIT {
            self.divide();
        }
        let both = keys.iter().zip(values);
        if let Some(divided) = &mut self.divided {
            return both.for_each(|(key, &value)| divided[(key % 2) as usize].record(value));
        }
        if most.0 < u64::from(u32::MAX / 2) {
            return self.short.extend(both.map(|(key, value)| (2 * value.0 + key % 2) as u32));
        }
        for (key, value) in both {
            let marked = value.0.saturating_mul(2) | (key % 2);
            match u32::try_from(marked) {
                Ok(short) => self.short.push(short),
                Err(_) => self.long.push(marked),
            }
        }
    }

    #[cold]
    fn divide(&mut self) {
        if self.divided.is_some() {
            return;
        }
        let mut divided: [Quantiles; 2] = Default::default();
        let short = std::mem::take(&mut self.short).into_iter().map(u64::from);
        for marked in short.chain(std::mem::take(&mut self.long)) {
            divided[(marked % 2) as usize].record(Nanos(marked / 2));
        }
        divided.iter_mut().for_each(Quantiles::fold);
        self.divided = Some(divided);
    }

    /// The quantiles of the first kind and of the second, and all values.
    pub fn told(&mut self) -> ([Option<QuantileSummary>; 2], Quantiles) {
        if let Some(divided) = self.divided.take() {
            let [mut all, mut second] = divided;
            let kinds = [all.summary(), second.summary()];
            all.merge(&second);
            return (kinds, all);
        }
        let (mut short, mut long) = (std::mem::take(&mut self.short), std::mem::take(&mut self.long));
        radix::sort_above(&mut short, 1);
        radix::sort_above(&mut long, 1);
        let second = Counts::of(&short, &long);
        let kinds = [second.summary(0), second.summary(1)];
        for marked in &mut short {
            *marked /= 2;
        }
        for marked in &mut long {
            *marked /= 2;
        }
        (kinds, Quantiles::of_sorted(short, long))
    }
}

/// Sorted values, and how many of each chunk of them are of the second kind.
struct Counts<'a> {
    short: &'a [u32],
    long: &'a [u64],
    second: Vec<u32>,
}

impl<'a> Counts<'a> {
    fn of(short: &'a [u32], long: &'a [u64]) -> Self {
        let shorts = short.chunks(CHUNK).map(|chunk| chunk.iter().map(|marked| marked % 2).sum());
        let longs = long.chunks(CHUNK).map(|chunk| chunk.iter().map(|marked| (marked % 2) as u32).sum());
        Self { short, long, second: shorts.chain(longs).collect() }
    }

    fn summary(&self, kind: u64) -> Option<QuantileSummary> {
        let second = self.second.iter().map(|&count| u64::from(count)).sum::<u64>();
        let all = (self.short.len() + self.long.len()) as u64;
        let count = if kind == 1 { second } else { all - second };
        let at = |p| self.find(kind, nearest_rank(p, count)?);
        Some(QuantileSummary {
            p50: at(0.5)?,
            p90: at(0.9)?,
            p99: at(0.99)?,
            p999: at(0.999)?,
            max: at(1.0)?,
        })
    }

    /// The value that has the rank among those of a kind.
    fn find(&self, kind: u64, mut rank: u64) -> Option<Nanos> {
        let shorts = self.short.chunks(CHUNK).map(Chunk::Short);
        for (chunk, &second) in shorts.chain(self.long.chunks(CHUNK).map(Chunk::Long)).zip(&self.second) {
            let here = if kind == 1 { u64::from(second) } else { chunk.len() - u64::from(second) };
            if rank <= here {
                return chunk.nth(kind, rank);
            }
            rank -= here;
        }
        None
    }
}

#[derive(Clone, Copy)]
enum Chunk<'a> {
    Short(&'a [u32]),
    Long(&'a [u64]),
}

impl Chunk<'_> {
    fn len(self) -> u64 {
        match self {
            Self::Short(values) => values.len() as u64,
            Self::Long(values) => values.len() as u64,
        }
    }

    /// Counted from 1.
    fn nth(self, kind: u64, rank: u64) -> Option<Nanos> {
        let mut own: Vec<u64> = match self {
            Self::Short(values) => values.iter().map(|&marked| u64::from(marked)).collect(),
            Self::Long(values) => values.to_vec(),
        };
        own.retain(|marked| marked % 2 == kind);
        own.get(rank as usize - 1).map(|marked| Nanos(marked / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QuantileKind;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_recorder_of_each_kind_and_one_of_both(
            values in prop::collection::vec((0..u64::MAX / 4, 0_u32..62, any::<bool>()), 0..900),
            batch in 1..300_usize,
        ) {
            let values: Vec<(u64, Nanos)> =
                values.iter().map(|&(value, by, kind)| (u64::from(kind), Nanos(value >> by))).collect();
            let mut marked = Marked::default();
            for some in values.chunks(batch) {
                let (keys, times): (Vec<u64>, Vec<Nanos>) = some.iter().map(|&(kind, time)| (6 + kind, time)).unzip();
                marked.record_all(&keys, &times, times.iter().copied().max().unwrap());
            }
            let of = |wanted: &[u64]| -> Quantiles {
                values.iter().filter(|(kind, _)| wanted.contains(kind)).map(|&(_, time)| time).collect()
            };
            let (kinds, mut all) = marked.told();
            let mut both = of(&[0, 1]);
            prop_assert_eq!(kinds, [of(&[0]).summary(), of(&[1]).summary()]);
            prop_assert_eq!(all.summary(), both.summary());
            prop_assert_eq!((all.min(), all.max(), all.count()), (both.min(), both.max(), both.count()));
            prop_assert_eq!(all.counted(), both.counted());
        }
    }

    #[test]
    fn beyond_the_limit_both_are_in_bins() {
        let mut marked = Marked::default();
        let keys: Vec<u64> = (0..1_000_000).collect();
        let times: Vec<Nanos> = (0..1_000_000).map(|at| Nanos(1_000 + at % 2 * 1_000_000)).collect();
        for _ in 0..11 {
            marked.record_all(&keys, &times, Nanos(1_001_000));
        }
        let ([first, second], mut all) = marked.told();
        assert_eq!(all.kind(), QuantileKind::Hdr);
        assert_eq!(
            (all.count(), all.max(), all.min()),
            (11_000_000, Some(Nanos(1_001_000)), Some(Nanos(1_000)))
        );
        assert_eq!((first.unwrap().max, second.unwrap().max), (Nanos(1_000), Nanos(1_001_000)));
        assert_eq!(first.unwrap().p99, Nanos(1_000));
        assert!((second.unwrap().p50.as_ms() / 1.001 - 1.0).abs() < 1e-3);
        assert_eq!(all.summary().unwrap().max, Nanos(1_001_000));
    }
}
