//! Soft errors: how many revolutions more the media work of a command takes.

use crate::mechanics::hash;
use crate::spec::SoftErrorsSpec;
use headstack_units::Op;

/// Keeps these draws apart from those of the rotational delay and of the drift.
const STREAM: u64 = 0x736f_6674_6572_726f;

/// The draws of one drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Retries {
    seed: u64,
    draws: u64,
}

impl Retries {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed: seed ^ STREAM, draws: 0 }
    }

    /// Revolutions that the next command is retried for; 0 for most.
    pub(crate) fn draw(&mut self, spec: &SoftErrorsSpec, op: Op) -> u32 {
        let probability = match op {
            Op::Read => spec.read_probability,
            Op::Write => spec.write_probability,
        };
        if self.uniform() >= probability {
            return 0;
        }
        // Geometric from 1 on: each retry fails again with the same probability.
        let fails = 1.0 - 1.0 / spec.mean_revolutions;
        let more = if fails > 0.0 { (1.0 - self.uniform()).ln() / fails.ln() } else { 0.0 };
        1 + more as u32
    }

    /// In [0, 1).
    fn uniform(&mut self) -> f64 {
        self.draws += 1;
        (hash(self.seed, self.draws) >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_as_frequent_and_as_long_as_the_file_says() {
        let spec = SoftErrorsSpec { read_probability: 0.02, write_probability: 0.0, mean_revolutions: 4.0 };
        let mut retries = Retries::new(7);
        let drawn: Vec<u32> = (0..200_000).map(|_| retries.draw(&spec, Op::Read)).collect();
        let hit: Vec<f64> = drawn.iter().filter(|&&more| more > 0).map(|&more| f64::from(more)).collect();
        assert!((hit.len() as f64 / 200_000.0 - 0.02).abs() < 0.001);
        assert!((hit.iter().sum::<f64>() / hit.len() as f64 - 4.0).abs() < 0.2);
        assert!((0..1000).all(|_| retries.draw(&spec, Op::Write) == 0));
        let once = SoftErrorsSpec { read_probability: 1.0, mean_revolutions: 1.0, ..spec };
        assert!((0..1000).all(|_| retries.draw(&once, Op::Read) == 1));
    }
}
