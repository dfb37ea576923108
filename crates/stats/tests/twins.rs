//! Always? Each recorder and score against a naive twin, on arbitrary streams cut in arbitrary ways.

use headstack_stats::{
    BatchMeans, BoxPlot, Histogram, Moments, QuantileKind, Quantiles, Timeline, cdf, demerit, per_request,
};
use headstack_units::Nanos;
use proptest::collection::vec;
use proptest::prelude::*;

/// Times of all magnitudes: a number of up to `bits` bits, with the number of bits uniform.
fn times(bits: u32, count: core::ops::Range<usize>) -> impl Strategy<Value = Vec<Nanos>> {
    let time = (any::<u64>(), 0..bits).prop_map(move |(value, drop)| Nanos(value >> (64 - bits) >> drop));
    vec(time, count)
}

/// Few different times, so that ties are the rule.
fn ties(count: core::ops::Range<usize>) -> impl Strategy<Value = Vec<Nanos>> {
    vec((0u64..12).prop_map(|ms| Nanos(ms * 1_000_000)), count)
}

fn any_times(count: core::ops::Range<usize>) -> impl Strategy<Value = Vec<Nanos>> {
    prop_oneof![times(64, count.clone()), times(40, count.clone()), ties(count)]
}

fn sorted(values: &[Nanos]) -> Vec<Nanos> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs()).max(1e-300)
}

/// A recorder filled from the two parts of a stream and merged.
fn halves<R: FromIterator<Nanos>>(values: &[Nanos], cut: usize, merge: impl Fn(&mut R, &R)) -> R {
    let (head, tail) = values.split_at(cut.min(values.len()));
    let mut merged: R = head.iter().copied().collect();
    merge(&mut merged, &tail.iter().copied().collect());
    merged
}

proptest! {
    #[test]
    fn moments_merge_to_the_whole(values in any_times(0..200), cut in 0usize..200) {
        let whole: Moments = values.iter().copied().collect();
        prop_assert_eq!(halves(&values, cut, Moments::merge), whole);
    }

    #[test]
    fn moments_equal_two_passes_in_floating_point(values in times(40, 2..200)) {
        let moments: Moments = values.iter().copied().collect();
        let n = values.len() as f64;
        let mean = values.iter().map(|v| v.as_ms()).sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v.as_ms() - mean).powi(2)).sum();
        prop_assert!(close(moments.mean_ms().unwrap(), mean, 1e-12));
        prop_assert!(close(moments.std_ms().unwrap(), (squares / n).sqrt(), 1e-9));
        prop_assert!(close(moments.sample_std_ms().unwrap(), (squares / (n - 1.0)).sqrt(), 1e-9));
        prop_assert_eq!(moments.min(), values.iter().copied().min());
        prop_assert_eq!(moments.max(), values.iter().copied().max());
    }

    #[test]
    fn quantiles_equal_the_definition(values in any_times(1..200), p in 0.0..=1.0f64) {
        let mut quantiles: Quantiles = values.iter().copied().collect();
        let sorted = sorted(&values);
        let n = sorted.len() as f64;
        let smallest_reaching = sorted.iter().enumerate().find(|(i, _)| (*i as f64 + 1.0) / n >= p).unwrap().1;
        prop_assert_eq!(quantiles.quantile(p), Some(*smallest_reaching));
        prop_assert_eq!(quantiles.kind(), QuantileKind::Exact);
    }

    #[test]
    fn quantiles_may_be_asked_for_in_the_middle_of_a_stream(values in any_times(1..100), cut in 0usize..100) {
        let mut asked: Quantiles = values[..cut.min(values.len())].iter().copied().collect();
        asked.quantile(0.5);
        asked.extend(values[cut.min(values.len())..].iter().copied());
        let mut whole: Quantiles = values.iter().copied().collect();
        prop_assert_eq!(asked.summary(), whole.summary());
    }

    #[test]
    fn binned_quantiles_are_within_a_thousandth(values in any_times(1..200), p in 0.0..=1.0f64) {
        let mut exact: Quantiles = values.iter().copied().collect();
        let mut binned = Quantiles::with_limit(0);
        binned.extend(values.iter().copied());
        prop_assert_eq!(binned.kind(), QuantileKind::Hdr);
        let (exact, binned) = (exact.quantile(p).unwrap().0, binned.quantile(p).unwrap().0);
        prop_assert!(u128::from(exact.abs_diff(binned)) * 2_048 <= u128::from(exact), "{exact} {binned}");
    }

    #[test]
    fn quantiles_merge_to_the_whole(
        values in any_times(1..200), cut in 0usize..200, limit in 0u64..300, p in 0.0..=1.0f64,
    ) {
        let with_limit = |part: &[Nanos]| {
            let mut quantiles = Quantiles::with_limit(limit);
            quantiles.extend(part.iter().copied());
            quantiles
        };
        let (head, tail) = values.split_at(cut.min(values.len()));
        let (mut merged, mut whole) = (with_limit(head), with_limit(&values));
        merged.merge(&with_limit(tail));
        prop_assert_eq!((merged.kind(), merged.count()), (whole.kind(), whole.count()));
        prop_assert_eq!(merged.summary(), whole.summary());
        prop_assert_eq!(merged.quantile(p), whole.quantile(p));
    }

    #[test]
    fn batch_means_see_neither_order_nor_chopping(
        values in any_times(1..600), chunk in 1usize..100, first in 0u64..1_000, seed: u64, gap in 1u64..40,
    ) {
        // Some places have no value.
        let mut told: Vec<(u64, Nanos)> = (first..).zip(values).filter(|(place, _)| place % 40 < gap).collect();
        let mut whole = BatchMeans::new();
        for &(place, value) in &told {
            whole.record(place, value);
        }
        told.sort_by_key(|(place, _)| (place ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut chopped = BatchMeans::new();
        for part in told.chunks(chunk) {
            let (places, values): (Vec<u64>, Vec<Nanos>) = part.iter().copied().unzip();
            chopped.record_all(&places, &values);
        }
        prop_assert_eq!(&chopped, &whole);
        prop_assert_eq!(chopped.half_width_ms(), whole.half_width_ms());
    }

    #[test]
    fn the_demerit_equals_samples_repeated_to_a_common_count(
        measured in any_times(1..30), model in any_times(1..30),
    ) {
        prop_assume!(measured.iter().any(|t| t.0 > 0));
        let repeat = |values: &[Nanos], times: usize| -> Vec<f64> {
            sorted(values).iter().flat_map(|v| core::iter::repeat_n(v.as_ms(), times)).collect()
        };
        // Both repeated to the product of the counts.
        let (a, b) = (repeat(&measured, model.len()), repeat(&model, measured.len()));
        let squares: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
        let naive = (squares / a.len() as f64).sqrt();
        let found = demerit(&measured, &model).unwrap();
        let scale = a.last().unwrap().max(*b.last().unwrap());
        prop_assert!((found.ms - naive).abs() <= 1e-9 * scale, "{} {naive}", found.ms);
        prop_assert!(close(found.percent, 100.0 * found.ms / found.measured_mean_ms, 1e-12));
    }

    #[test]
    fn the_demerit_is_a_distance(a in times(40, 1..30), b in times(40, 1..30), c in times(40, 1..30)) {
        prop_assume!([&a, &b].iter().all(|s| s.iter().any(|t| t.0 > 0)));
        let distance = |x: &[Nanos], y: &[Nanos]| demerit(x, y).unwrap().ms;
        prop_assert_eq!(distance(&a, &a), 0.0);
        prop_assert_eq!(distance(&a, &b), distance(&b, &a));
        prop_assert!(distance(&a, &c) <= (distance(&a, &b) + distance(&b, &c)) * (1.0 + 1e-9));
    }

    #[test]
    fn the_demerit_never_exceeds_the_error_by_request(pairs in vec((1u64..1 << 40, 0u64..1 << 40), 1..100)) {
        // Sorting both is the best possible pairing.
        let (measured, model): (Vec<Nanos>, Vec<Nanos>) = pairs.iter().map(|&(a, b)| (Nanos(a), Nanos(b))).unzip();
        let by_request = per_request(&measured, &model).unwrap();
        prop_assert!(demerit(&measured, &model).unwrap().ms <= by_request.rmse_ms * (1.0 + 1e-9));
        prop_assert!(by_request.mae_ms <= by_request.rmse_ms * (1.0 + 1e-9));
        prop_assert!(by_request.bias_ms.abs() <= by_request.mae_ms * (1.0 + 1e-9));
        prop_assert!(by_request.correlation.is_none_or(|r| (-1.0..=1.0).contains(&r)));
    }

    #[test]
    fn a_thinned_curve_stays_close(
        values in any_times(1..400), max_points in 2usize..60, limit in prop_oneof![Just(0u64), Just(1_000)],
    ) {
        let mut quantiles = Quantiles::with_limit(limit);
        quantiles.extend(values.iter().copied());
        let full = cdf(&mut quantiles, 1_000_000);
        let thin = cdf(&mut quantiles, max_points);
        prop_assert!(thin.len() <= max_points);
        prop_assert_eq!(thin.first(), full.first());
        prop_assert_eq!(thin.last(), full.last());
        prop_assert_eq!(thin.last().map(|p| (p.value, p.fraction)), quantiles.max().map(|max| (max, 1.0)));
        prop_assert!(thin.windows(2).all(|w| w[0].value < w[1].value && w[0].fraction < w[1].fraction));
        let k = (max_points / 2 - 1) as f64;
        let range = (full[full.len() - 1].value - full[0].value).0 as f64;
        for point in &full {
            let drawn = thin.iter().rfind(|p| p.value <= point.value).unwrap();
            prop_assert!(drawn.fraction <= point.fraction);
            prop_assert!(k == 0.0 || point.fraction - drawn.fraction < 1.0 / k + 1e-12);
            let moved = (point.value - drawn.value).0 as f64;
            prop_assert!(k == 0.0 || moved * k <= range * (1.0 + 1e-12));
        }
    }

    #[test]
    fn histograms_count_by_their_edges(values in times(30, 0..200), cut in 0usize..200) {
        for empty in [
            Histogram::linear(Nanos(1_000), Nanos(300_000_007), 37).unwrap(),
            Histogram::logarithmic(Nanos(1), Nanos(100_000_000), 7).unwrap(),
        ] {
            let (mut whole, mut merged, mut rest) = (empty.clone(), empty.clone(), empty);
            whole.extend(values.iter().copied());
            let (head, tail) = values.split_at(cut.min(values.len()));
            merged.extend(head.iter().copied());
            rest.extend(tail.iter().copied());
            merged.merge(&rest).unwrap();
            prop_assert_eq!(&merged, &whole);
            for bin in whole.bins() {
                let naive = values.iter().filter(|&&v| bin.from <= v && v < bin.to).count();
                prop_assert_eq!(bin.count, naive as u64);
            }
            prop_assert_eq!(whole.count(), values.len() as u64);
        }
    }

    #[test]
    fn box_plots_equal_a_sort(values in any_times(1..200), max_outliers in 2usize..20) {
        let mut quantiles: Quantiles = values.iter().copied().collect();
        let plot = BoxPlot::of(&mut quantiles, max_outliers).unwrap();
        let reach = 3 * i128::from(plot.q3.0 - plot.q1.0);
        let inside = |v: &&Nanos| {
            let v = i128::from(v.0);
            2 * (i128::from(plot.q1.0) - v) <= reach && 2 * (v - i128::from(plot.q3.0)) <= reach
        };
        let sorted = sorted(&values);
        let kept: Vec<Nanos> = sorted.iter().filter(inside).copied().collect();
        let mut beyond: Vec<Nanos> = sorted.iter().filter(|v| !inside(v)).copied().collect();
        prop_assert_eq!(Some(&plot.whisker_low), kept.first());
        prop_assert_eq!(Some(&plot.whisker_high), kept.last());
        prop_assert_eq!(plot.outlier_count as usize, beyond.len());
        prop_assert_eq!(plot.outliers.first(), beyond.first());
        prop_assert_eq!(plot.outliers.last(), beyond.last());
        if beyond.len() <= max_outliers {
            beyond.dedup();
            prop_assert_eq!(&plot.outliers, &beyond);
        }
        prop_assert!(plot.outliers.len() <= max_outliers);
        prop_assert!(plot.outliers.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn timelines_bin_merge_and_forget_the_order(
        positions in any_times(1..200), seeds in vec(0u64..1 << 40, 200), cut in 0usize..200,
    ) {
        let pairs: Vec<(u64, Nanos)> = positions.iter().zip(&seeds).map(|(x, &v)| (x.0, Nanos(v))).collect();
        let timeline = |part: &mut dyn Iterator<Item = &(u64, Nanos)>| {
            let mut timeline = Timeline::new();
            part.for_each(|&(x, value)| timeline.record(x, value));
            timeline
        };
        let whole = timeline(&mut pairs.iter());
        prop_assert_eq!(&timeline(&mut pairs.iter().rev()), &whole);
        let (head, tail) = pairs.split_at(cut.min(pairs.len()));
        let mut merged = timeline(&mut head.iter());
        merged.merge(&timeline(&mut tail.iter()));
        prop_assert_eq!(&merged, &whole);

        let bins: Vec<_> = whole.bins().collect();
        prop_assert!(bins.len() <= 512);
        let (low, high) = (sorted(&positions)[0].0, sorted(&positions)[positions.len() - 1].0);
        let width = bins[0].width;
        prop_assert!(width == 1 || high / (width / 2) - low / (width / 2) >= 512, "no wider than needed");
        for bin in bins {
            let inside: Vec<Nanos> = pairs.iter().filter(|(x, _)| x / width == bin.start / width).map(|p| p.1).collect();
            let moments: Moments = inside.iter().copied().collect();
            prop_assert_eq!(bin.count, moments.count());
            prop_assert_eq!(bin.mean_ms, moments.mean_ms());
            prop_assert_eq!(bin.max, moments.max().unwrap_or_default());
        }
    }
}
