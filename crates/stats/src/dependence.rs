//! What neighbours in a stream have in common.

/// How many independent values so many neighbours are worth, given how far each is off their mean: at most as many as they are.
///
/// They are taken for a first-order autoregressive process: k of them with a correlation of φ are worth k·(1 − φ)/(1 + φ) (Tafazzoli &
/// Wilson 2011, N-Skart, use the same factor). A correlation estimated from k values comes out too low by about (1 + 3φ)/k (Kendall
/// 1954). Below 0 it is taken for chance.
pub fn independent(off: &[f64]) -> f64 {
    let k = off.len() as f64;
    let squares: f64 = off.iter().map(|off| off * off).sum();
    if squares == 0.0 {
        return k;
    }
    let seen = off.iter().zip(off.iter().skip(1)).map(|(one, next)| one * next).sum::<f64>() / squares;
    let correlation = (seen + (1.0 + 3.0 * seen) / k).clamp(0.0, 1.0);
    k * (1.0 - correlation) / (1.0 + correlation)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process x' = φ·x + chance, without its mean.
    fn process(correlation: f64, count: usize) -> Vec<f64> {
        let (mut state, mut value) = (1u64, 0.0);
        let mut values: Vec<f64> = (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                value = correlation * value + (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
                value
            })
            .collect();
        let mean = values.iter().sum::<f64>() / count as f64;
        for value in &mut values {
            *value -= mean;
        }
        values
    }

    /// The variance of a mean of such a process is (1 + φ)/(1 − φ) that of independent values (Law & Kelton, ch. 4).
    #[test]
    fn neighbours_that_depend_on_each_other_are_worth_fewer() {
        for (correlation, share) in [(0.0, 1.0), (0.5, 1.0 / 3.0), (0.8, 1.0 / 9.0), (-0.5, 1.0)] {
            let worth = independent(&process(correlation, 100_000)) / 100_000.0;
            assert!((worth / share - 1.0).abs() < 0.03, "{correlation}: {worth}");
        }
    }

    #[test]
    fn alike_values_are_worth_as_many_as_they_are_and_a_trend_nothing() {
        assert_eq!([&[][..], &[0.0], &[0.0; 7]].map(independent), [0.0, 1.0, 7.0]);
        let trend: Vec<f64> = (-500..=500).map(f64::from).collect();
        assert!(independent(&trend) < 1.0);
    }
}
