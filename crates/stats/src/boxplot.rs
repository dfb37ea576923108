//! The box plot of a sample of times.

use headstack_units::Nanos;

use crate::Quantiles;

/// Tukey's box plot: a box around the middle half, whiskers, and what lies beyond them.
///
/// Quartiles are nearest-rank quantiles; IQR is the distance between them. A whisker ends at the farthest *value*
/// within 1.5 IQR of its quartile; values beyond are outliers (Tukey, *Exploratory Data Analysis*, 1977).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxPlot {
    /// Number of values.
    pub count: u64,
    /// Farthest value not below `q1` − 1.5 IQR.
    pub whisker_low: Nanos,
    /// Lower quartile.
    pub q1: Nanos,
    /// Median.
    pub median: Nanos,
    /// Upper quartile.
    pub q3: Nanos,
    /// Farthest value not above `q3` + 1.5 IQR.
    pub whisker_high: Nanos,
    /// Number of values beyond the whiskers, below and above.
    pub outlier_count: u64,
    /// Outliers to draw, ascending and distinct: all of them, or an even choice by rank that keeps both ends.
    pub outliers: Vec<Nanos>,
}

impl BoxPlot {
    /// The box plot of what `values` recorded, listing at most `max_outliers` outliers (a list of one holds the lowest);
    /// `None` without values.
    pub fn of(values: &mut Quantiles, max_outliers: usize) -> Option<Self> {
        let (q1, median, q3) = (values.quantile(0.25)?, values.quantile(0.5)?, values.quantile(0.75)?);
        // In halves of a nanosecond below, so that 1.5 IQR stays whole.
        let reach = 3 * u128::from(q3.0 - q1.0);
        let is_low = |value: u64| 2 * u128::from(q1.0.saturating_sub(value)) > reach;
        let is_high = |value: u64| 2 * u128::from(value.saturating_sub(q3.0)) > reach;

        let (mut whisker_low, mut whisker_high) = (None, q3.0);
        let (mut low_count, mut inside_end) = (0, 0);
        values.for_each_step(|value, below| {
            if is_low(value) {
                low_count = below;
            } else if !is_high(value) {
                whisker_low.get_or_insert(value);
                whisker_high = value;
                inside_end = below;
            }
        });
        let count = values.count();
        let inside = inside_end - low_count;
        let outlier_count = count - inside;

        let mut outliers = Vec::new();
        let shown = outlier_count.min(max_outliers as u64);
        // The rank, among the outliers alone, of the i-th to show: evenly from the first to the last.
        let rank = |i: u64| {
            1 + (u128::from(i) * u128::from(outlier_count - 1) / u128::from((shown - 1).max(1))) as u64
        };
        let mut next = 0;
        if shown > 0 {
            values.for_each_step(|value, below| {
                let rank_reached = if is_low(value) {
                    below
                } else if is_high(value) {
                    below - inside
                } else {
                    return;
                };
                if next < shown && rank(next) <= rank_reached {
                    outliers.push(Nanos(value));
                    while next < shown && rank(next) <= rank_reached {
                        next += 1;
                    }
                }
            });
        }
        Some(Self {
            count,
            whisker_low: Nanos(whisker_low.unwrap_or(q1.0)),
            q1,
            median,
            q3,
            whisker_high: Nanos(whisker_high),
            outlier_count,
            outliers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64], max_outliers: usize) -> BoxPlot {
        BoxPlot::of(&mut values.iter().map(|&v| Nanos(v)).collect(), max_outliers).unwrap()
    }

    #[test]
    fn a_box_by_hand() {
        // 20 … 31: q1 22, median 25, q3 28, IQR 6, fences 13 and 37.
        let mut values: Vec<u64> = (20..=31).collect();
        let plain = of(&values, 10);
        assert_eq!((plain.q1, plain.median, plain.q3), (Nanos(22), Nanos(25), Nanos(28)));
        assert_eq!((plain.whisker_low, plain.whisker_high, plain.outlier_count), (Nanos(20), Nanos(31), 0));
        // With 4 4 8 9 12 13 before and 37 38 41 42 46 90 after: q1 13, q3 31, IQR 18, fences −14 and 58.
        values.extend([4, 4, 8, 9, 12, 13, 37, 38, 41, 42, 46, 90]);
        let tailed = of(&values, 10);
        assert_eq!((tailed.q1, tailed.median, tailed.q3), (Nanos(13), Nanos(25), Nanos(31)));
        assert_eq!((tailed.whisker_low, tailed.whisker_high), (Nanos(4), Nanos(46)));
        assert_eq!((tailed.count, tailed.outlier_count), (24, 1));
        assert_eq!(tailed.outliers, [Nanos(90)]);
    }

    #[test]
    fn fences_belong_to_the_inside_and_halves_count() {
        // q1 = 10, q3 = 11, IQR 1: fences 8.5 and 12.5.
        let found = of(&[8, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 13], 10);
        assert_eq!((found.q1, found.q3), (Nanos(10), Nanos(11)));
        assert_eq!((found.whisker_low, found.whisker_high), (Nanos(9), Nanos(12)));
        assert_eq!(found.outliers, [Nanos(8), Nanos(13)]);
    }

    #[test]
    fn outliers_are_thinned_but_counted() {
        let mut values = vec![100; 1_000];
        values.extend(1_000..1_200);
        values.extend([1, 1, 2]);
        let found = of(&values, 5);
        assert_eq!(found.outlier_count, 203);
        assert_eq!((found.whisker_low, found.whisker_high), (Nanos(100), Nanos(100)));
        assert_eq!(found.outliers.len(), 5);
        assert_eq!((found.outliers[0], found.outliers[4]), (Nanos(1), Nanos(1_199)));
        assert!(of(&values, 0).outliers.is_empty());
        assert_eq!(of(&values, 1).outliers, [Nanos(1)], "no more than asked for");
        assert_eq!(of(&values, 1_000).outliers.len(), 202, "equal ones are drawn once");
    }

    #[test]
    fn no_values_no_box() {
        assert_eq!(BoxPlot::of(&mut Quantiles::new(), 10), None);
    }
}
