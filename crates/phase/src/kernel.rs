//! How well errors agree with zero, where some of them are anywhere.
//!
//! An error e (in turns, wrapped to ±½) counts (1 − (e/w)²)² within ±w and nothing beyond: Tukey's biweight. Errors that
//! are anywhere on the circle then add the same to every hypothesis, 16/15 · w on average, and pull in no direction.

/// Width for searching, in turns: wide enough to find the way from a coarse grid.
pub(crate) const WIDE: f64 = 0.12;
/// Width for refining, in turns: some five times the usual noise.
pub(crate) const NARROW: f64 = 0.06;

/// 1.5 · 2^52: adding and subtracting it rounds to the nearest whole number, and unlike a call of `round` it does so
/// for several numbers at once.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The error nearest to zero, in ±½ turn.
#[inline]
pub(crate) fn wrap(turns: f64) -> f64 {
    turns - ((turns + ROUND) - ROUND)
}

/// What one error counts, in [0, 1].
#[inline]
pub(crate) fn weight(error_turns: f64, width: f64) -> f64 {
    let scaled = wrap(error_turns) / width;
    let rest = (1.0 - scaled * scaled).max(0.0);
    rest * rest
}

/// What an error that may be anywhere counts on average.
pub(crate) fn by_chance(width: f64) -> f64 {
    16.0 / 15.0 * width
}

/// What errors of uniform phase count, as a standard deviation.
pub(crate) fn chance_deviation(width: f64) -> f64 {
    // The mean square of the biweight over ±w is 128/315 of its height; see `by_chance` for the mean.
    (2.0 * width * 128.0 / 315.0 - by_chance(width).powi(2)).sqrt()
}

/// The most frequent angle of several, in [0, 1), and its score per angle. `None` of none.
pub(crate) fn mode(angles: &[f64]) -> Option<(f64, f64)> {
    const GRID: u32 = 64;
    if angles.is_empty() {
        return None;
    }
    let score = |at: f64, width| angles.iter().map(|angle| weight(angle - at, width)).sum::<f64>();
    let grid = (0..GRID).map(|step| f64::from(step) / f64::from(GRID));
    let coarse = grid.map(|at| (at, score(at, WIDE))).fold((0.0, -1.0), |a, b| if b.1 > a.1 { b } else { a });
    let at = centre(angles, centre(angles, coarse.0, WIDE), NARROW);
    Some((at.rem_euclid(1.0), score(at, NARROW) / angles.len() as f64))
}

/// The centre of the angles near `start`: their mean, each weighted by what it counts, to convergence.
pub(crate) fn centre(angles: &[f64], start: f64, width: f64) -> f64 {
    let mut at = start;
    for _ in 0..20 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for angle in angles {
            let error = wrap(angle - at);
            // The biweight's own estimating equation: its square root weighs the errors.
            let weight = weight(error, width).sqrt();
            sum += weight * error;
            weights += weight;
        }
        if weights <= 0.0 {
            break;
        }
        at += sum / weights;
        if (sum / weights).abs() < 1e-7 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_any_phase_count_what_chance_says() {
        let errors: Vec<f64> = (0..100_000).map(|i| f64::from(i) * 0.618_033_988_75).collect();
        let mean = errors.iter().map(|&e| weight(e, 0.1)).sum::<f64>() / 1e5;
        let square = errors.iter().map(|&e| weight(e, 0.1).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - by_chance(0.1)).abs() < 1e-3);
        assert!(((square - mean * mean).sqrt() - chance_deviation(0.1)).abs() < 1e-3);
    }

    #[test]
    fn the_mode_is_found_across_the_wrap() {
        let mut angles: Vec<f64> = (0..40).map(|i| 0.99 + 0.001 * f64::from(i % 20)).collect();
        angles.extend((0..40).map(|i| f64::from(i) * 0.618_033_988_75));
        let (at, score) = mode(&angles).unwrap();
        assert!(wrap(at - 0.9995).abs() < 0.01, "{at}");
        assert!(score > 0.4);
        assert_eq!(mode(&[]), None);
    }
}
