//! How often each block of a range is asked for.

use rand_distr::{Distribution, StandardNormal, Zipf};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// Some blocks of a range are asked for more often than others: one law, and where the popular blocks lie.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PopularitySpec {
    /// Zipf's law with this exponent: the n-th most popular block is asked for in proportion to 1 / n^exponent…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zipf: Option<f64>,
    /// …or this share of the blocks gets all requests but this share, and so on within them: 0.2 is "80 % of requests
    /// go to 20 % of the blocks"…
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto: Option<f64>,
    /// …or a normal distribution about the most popular block, with this standard deviation in percent of the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal_percent: Option<f64>,
    /// Where the most popular block lies, in percent of the range; absent: drawn with the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center_percent: Option<f64>,
    /// Popular blocks lie beside each other, the most popular in the middle; absent: scattered over the range.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clustered: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl PopularitySpec {
    /// What is wrong with it, by key.
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let laws = [self.zipf, self.pareto, self.normal_percent];
        if laws.iter().flatten().count() != 1 {
            found.push(("popularity", "give one of `zipf`, `pareto` and `normal_percent`".to_owned()));
        }
        if let Some(exponent) = self.zipf
            && !(0.0..=100.0).contains(&exponent)
        {
            found.push(("popularity.zipf", format!("{exponent} is not between 0 and 100")));
        }
        if let Some(share) = self.pareto
            && !(share > 0.0 && share < 1.0)
        {
            found.push(("popularity.pareto", format!("{share} is not between 0 and 1, ends excluded")));
        }
        for (key, percent) in [
            ("popularity.normal_percent", self.normal_percent),
            ("popularity.center_percent", self.center_percent),
        ] {
            if let Some(percent) = percent
                && !(0.0..=100.0).contains(&percent)
            {
                found.push((key, format!("{percent} is not between 0 and 100")));
            }
        }
        found
    }
}

#[derive(Clone, Debug)]
enum Rank {
    Zipf(Zipf<f64>),
    /// The power of a uniform number.
    Pareto(f64),
    /// Standard deviation in blocks.
    Normal(f64),
}

/// Draws blocks of one range by their popularity.
#[derive(Clone, Debug)]
pub(super) struct Popularity {
    blocks: u64,
    rank: Rank,
    center: u64,
    /// How many blocks lie between one rank and the next; `None`: they lie about the centre.
    stride: Option<u64>,
}

impl Popularity {
    /// For a range of so many `blocks`. What is popular belongs to the data, so that all users of a run agree on it.
    pub(super) fn new(spec: &PopularitySpec, blocks: u64, seed: u64) -> Result<Self, String> {
        let blocks = blocks.max(1);
        let rank = match (spec.zipf, spec.pareto, spec.normal_percent) {
            (Some(exponent), ..) => {
                Rank::Zipf(Zipf::new(blocks as f64, exponent).map_err(|error| error.to_string())?)
            }
            (_, Some(share), _) => Rank::Pareto(share.ln() / (-share).ln_1p()),
            (.., percent) => Rank::Normal(percent.unwrap_or(0.0) / 100.0 * blocks as f64),
        };
        let center = match spec.center_percent {
            Some(percent) => (percent / 100.0 * blocks as f64) as u64,
            None => Stream::new(seed, "popularity").below(blocks),
        };
        let stride = (!spec.clustered).then(|| scattering(blocks));
        Ok(Self { blocks, rank, center: center.min(blocks - 1), stride })
    }

    /// A block.
    pub(super) fn block(&self, stream: &mut Stream) -> u64 {
        let rank = self.rank(stream) % self.blocks;
        let (center, blocks) = (u128::from(self.center), u128::from(self.blocks));
        let place = match self.stride {
            Some(stride) => center + u128::from(rank) * u128::from(stride),
            // By turns above and below.
            None if rank % 2 == 1 => center + u128::from(rank.div_ceil(2)),
            None => center + blocks - u128::from(rank / 2),
        };
        (place % blocks) as u64
    }

    /// How popular the block is: 0 is the most popular.
    fn rank(&self, stream: &mut Stream) -> u64 {
        match &self.rank {
            Rank::Zipf(law) => law.sample(stream.generator()) as u64 - 1,
            Rank::Pareto(power) => (stream.unit().powf(*power) * self.blocks as f64) as u64,
            Rank::Normal(deviation) => {
                let normal: f64 = StandardNormal.sample(stream.generator());
                let away = (normal * deviation).round();
                if away > 0.0 { 2 * away as u64 - 1 } else { 2 * (-away) as u64 }
            }
        }
    }
}

/// How far apart blocks of neighbouring ranks lie so that every block has one rank, and popular ones are spread evenly:
/// near the golden section of the range, and without a divisor in common with it.
fn scattering(blocks: u64) -> u64 {
    let golden = (blocks as f64 * 0.618_033_988_749_894_9) as u64;
    (golden.max(1)..=golden.saturating_add(blocks)).find(|&stride| gcd(stride, blocks) == 1).unwrap_or(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 1_000;
    const DRAWS: usize = 200_000;

    /// How often each block is drawn.
    fn counts(spec: &PopularitySpec) -> Vec<usize> {
        let law = Popularity::new(spec, BLOCKS, 1).unwrap_or_else(|problem| panic!("{problem}"));
        let mut stream = Stream::new(1, "test");
        let mut counts = vec![0; BLOCKS as usize];
        for _ in 0..DRAWS {
            counts[law.block(&mut stream) as usize] += 1;
        }
        counts
    }

    /// The share of requests that the most popular `blocks` get.
    fn share(counts: &[usize], blocks: usize) -> f64 {
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        sorted.iter().rev().take(blocks).sum::<usize>() as f64 / DRAWS as f64
    }

    #[test]
    fn zipf_asks_for_the_nth_block_one_nth_as_often_as_for_the_first() {
        let counts = counts(&PopularitySpec { zipf: Some(1.0), ..PopularitySpec::default() });
        let harmonic: f64 = (1..=BLOCKS).map(|n| 1.0 / n as f64).sum();
        for blocks in [1, 10, 100] {
            let wanted = (1..=blocks).map(|n| 1.0 / n as f64).sum::<f64>() / harmonic;
            let found = share(&counts, blocks);
            assert!((found - wanted).abs() < 0.01, "{blocks} blocks: {found}, not {wanted}");
        }
    }

    #[test]
    fn a_zipf_of_0_and_a_pareto_of_a_half_ask_for_all_as_often() {
        for spec in [
            PopularitySpec { zipf: Some(0.0), ..PopularitySpec::default() },
            PopularitySpec { pareto: Some(0.5), ..PopularitySpec::default() },
        ] {
            let counts = counts(&spec);
            // 200 each, five standard deviations.
            assert!(counts.iter().all(|&count| (130..270).contains(&count)), "{spec:?}");
        }
    }

    #[test]
    fn pareto_is_eighty_to_twenty_and_so_on_within() {
        let counts = counts(&PopularitySpec { pareto: Some(0.2), ..PopularitySpec::default() });
        assert!((share(&counts, 200) - 0.8).abs() < 0.005, "{}", share(&counts, 200));
        assert!((share(&counts, 40) - 0.64).abs() < 0.005, "{}", share(&counts, 40));
    }

    #[test]
    fn clustered_blocks_lie_about_the_centre_and_scattered_ones_everywhere() {
        let spec = PopularitySpec {
            normal_percent: Some(5.0),
            center_percent: Some(30.0),
            clustered: true,
            ..PopularitySpec::default()
        };
        let clustered = counts(&spec);
        let within: usize = clustered[250..=350].iter().sum();
        assert!((within as f64 / DRAWS as f64 - 0.6876).abs() < 0.01, "one standard deviation: {within}");
        let scattered = counts(&PopularitySpec { clustered: false, ..spec });
        for (quarter, part) in scattered.chunks(250).enumerate() {
            let found = part.iter().sum::<usize>() as f64 / DRAWS as f64;
            assert!((found - 0.25).abs() < 0.03, "quarter {quarter}: {found}");
        }
        assert!((share(&clustered, 101) - share(&scattered, 101)).abs() < 0.01);
    }

    #[test]
    fn every_block_has_a_rank() {
        for blocks in [1, 2, 3, 4, 5, 6, 10, 89, 144, 1 << 20] {
            for clustered in [false, true] {
                let spec = PopularitySpec {
                    zipf: Some(0.0),
                    center_percent: Some(100.0),
                    clustered,
                    ..PopularitySpec::default()
                };
                let law = Popularity::new(&spec, blocks, 1).unwrap();
                let mut stream = Stream::new(2, "test");
                if blocks <= 10 {
                    let mut seen = vec![false; blocks as usize];
                    (0..500).for_each(|_| seen[law.block(&mut stream) as usize] = true);
                    assert!(seen.iter().all(|seen| *seen), "{blocks} blocks, clustered: {clustered}");
                }
            }
            assert_eq!(gcd(scattering(blocks), blocks), 1);
        }
    }
}
