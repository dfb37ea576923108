//! Random streams: one per component, named, so that a change in one leaves the others as they are.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// FNV-1a of 128 bits: offset basis and prime.
const FNV_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// FNV-1a (128 bits) over `bytes`, going on from `state`.
pub(crate) fn fnv(state: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(state, |state, &byte| (state ^ u128::from(byte)).wrapping_mul(FNV_PRIME))
}

/// FNV-1a (128 bits) over `bytes`.
pub(crate) fn hash(bytes: &[u8]) -> u128 {
    fnv(FNV_BASIS, bytes)
}

/// The finaliser of SplitMix64: every input bit reaches every output bit.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A 64-bit seed for a component that brings its own generator.
pub fn component_seed(seed: u64, component: &str) -> u64 {
    let hash = fnv(hash(&seed.to_le_bytes()), component.as_bytes());
    mix(hash as u64 ^ mix((hash >> 64) as u64))
}

/// The random stream of one component of a run: Pcg64 seeded with hash(seed, component name).
///
/// The hash is FNV-1a of 128 bits over the seed (8 bytes, least significant first) and the name in UTF-8. Its halves,
/// each with the golden-ratio steps of SplitMix64 added and finalised, give the 32 bytes of the generator's seed. The
/// values are part of the results: golden tests hold them still.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream of `component` in a run with `seed`.
    pub fn new(seed: u64, component: &str) -> Self {
        let hash = fnv(hash(&seed.to_le_bytes()), component.as_bytes());
        let (low, high) = (hash as u64, (hash >> 64) as u64);
        let mut bytes = [0; 32];
        for (step, chunk) in (1_u64..).zip(bytes.chunks_exact_mut(8)) {
            let half = if step % 2 == 1 { low } else { high };
            chunk.copy_from_slice(
                &mix(half.wrapping_add(step.wrapping_mul(0x9e37_79b9_7f4a_7c15))).to_le_bytes(),
            );
        }
        Self(Pcg64::from_seed(bytes))
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// True with the given probability. Takes one draw whatever the probability is.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Uniform among 0 … `count` − 1 (0 if `count` is 0); a multiply-shift, whose bias is below `count` / 2^64.
    #[inline]
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(count)) >> 64) as u64
    }

    /// The generator itself, for distributions of other crates.
    pub(crate) fn generator(&mut self) -> &mut Pcg64 {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_knows_its_published_values() {
        assert_eq!(hash(b""), FNV_BASIS);
        assert_eq!(hash(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }

    #[test]
    fn streams_differ_by_seed_and_by_name_and_do_not_move() {
        let first = |seed, name| Stream::new(seed, name).next_u64();
        assert_eq!(first(1, "stream.0.size"), first(1, "stream.0.size"));
        assert_ne!(first(1, "stream.0.size"), first(2, "stream.0.size"));
        assert_ne!(first(1, "stream.0.size"), first(1, "stream.1.size"));
        // Golden: a change here changes every result.
        assert_eq!(first(1, "golden"), 1_252_935_647_832_112_998);
    }

    #[test]
    fn draws_are_within_their_bounds() {
        let mut stream = Stream::new(3, "bounds");
        for _ in 0..1000 {
            assert!((0.0..1.0).contains(&stream.unit()));
            assert!(stream.below(7) < 7);
        }
        assert_eq!(stream.below(0), 0);
        assert!(!stream.chance(0.0) && stream.chance(1.0));
    }
}
