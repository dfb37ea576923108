//! Medians, of numbers and of phases, and the spread around them: robust against a few values that lie far off.

use super::spindle::{wrap, wrap_signed};

/// The middle of phases that lie close together; robust against a few that do not.
pub(crate) fn circular_median(phases: &[f64]) -> f64 {
    let Some(&first) = phases.first() else { return 0.0 };
    // Around the phase with the least distance to the others, the circle is a line.
    let distance = |center: f64| phases.iter().map(|&phase| wrap_signed(phase - center).abs()).sum::<f64>();
    let center = phases.iter().copied().min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap_or(first);
    let mut offsets: Vec<f64> = phases.iter().map(|&phase| wrap_signed(phase - center)).collect();
    if offsets.len() > 2 && offsets.len().is_multiple_of(2) {
        // Were half of them far off, the middle would lie between one of those and a good one.
        let farthest = (0..offsets.len()).max_by(|&a, &b| offsets[a].abs().total_cmp(&offsets[b].abs()));
        offsets.swap_remove(farthest.unwrap_or(0));
    }
    wrap(center + median(&offsets))
}

/// The middle value; 0 of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The scale of a spread by its median absolute deviation, as a standard deviation of a normal one.
pub(crate) fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&deviations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_wrap_and_have_a_middle() {
        assert!(wrap_signed(circular_median(&[0.99, 0.01, 0.0, 0.5])).abs() < 0.011);
        assert!(circular_median(&[0.2, 0.2, 0.3, 0.4]) < 0.200_001, "two of four are late");
        assert!((wrap_signed(0.75) + 0.25).abs() < 1e-12);
        assert!((median(&[3.0, 1.0, 2.0, 10.0]) - 2.5).abs() < 1e-12);
    }
}
