//! How sure the mean of independent values is.

/// The mean of independent values and half the width of its two-sided 95 % confidence interval (Student); no half-width
/// for a single value, nothing for none.
pub fn mean_interval(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let t = student_975(values.len().checked_sub(1)?);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, t.map(|t| t * (squares / (count - 1.0) / count).sqrt())))
}

/// The 0.975 quantile of Student's t; none for no degree of freedom.
///
/// Up to 62 degrees from the table, beyond it from the expansion in 1/n of Abramowitz & Stegun 26.7.5, which is exact to
/// seven digits there.
pub fn student_975(degrees_of_freedom: usize) -> Option<f64> {
    let last = degrees_of_freedom.checked_sub(1)?;
    Some(STUDENT_975.get(last).copied().unwrap_or_else(|| expansion(degrees_of_freedom as f64)))
}

fn expansion(n: f64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    let square = Z * Z;
    let first = (square + 1.0) / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    Z * (1.0 + (first + (second + third / n) / n) / n)
}

/// The 0.975 quantile of Student's t for 1, 2, … 62 degrees of freedom.
/// From the finite series of Abramowitz & Stegun 26.7.3 and 26.7.4, inverted by bisection.
const STUDENT_975: [f64; 62] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, //
    2.262_157, 2.228_139, 2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905, //
    2.109_816, 2.100_922, 2.093_024, 2.085_963, 2.079_614, 2.073_873, 2.068_658, 2.063_899, //
    2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272, 2.039_513, 2.036_933, //
    2.034_515, 2.032_245, 2.030_108, 2.028_094, 2.026_192, 2.024_394, 2.022_691, 2.021_075, //
    2.019_541, 2.018_082, 2.016_692, 2.015_368, 2.014_103, 2.012_896, 2.011_741, 2.010_635, //
    2.009_575, 2.008_559, 2.007_584, 2.006_647, 2.005_746, 2.004_879, 2.004_045, 2.003_241, //
    2.002_465, 2.001_717, 2.000_995, 2.000_298, 1.999_624, 1.998_972, //
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_give_the_textbook_interval() {
        // Mean 3, s² = 2.5, t(4) = 2.776: 2.776 · √(2.5 / 5).
        let (mean, half) = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((mean - 3.0).abs() < 1e-12);
        assert!((half.unwrap() - 2.776_445 * 0.5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_interval_and_none_no_mean() {
        assert_eq!(mean_interval(&[7.0]), Some((7.0, None)));
        assert_eq!(mean_interval(&[]), None);
    }

    #[test]
    fn the_expansion_goes_on_where_the_table_ends() {
        assert!((expansion(62.0) - STUDENT_975[61]).abs() < 2e-6);
        // Published values for 100 and 1,000 degrees of freedom.
        assert!((student_975(100).unwrap() - 1.983_972).abs() < 1e-6);
        assert!((student_975(1000).unwrap() - 1.962_339).abs() < 1e-6);
    }
}
