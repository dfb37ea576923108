//! How the cache is divided: which segment makes room, and how large each is. One file a policy, and its line in
//! [`Policy`].

mod adaptive;
mod fixed;

use super::segment::Segment;
use crate::spec::{CacheSpec, Segmentation};
use adaptive::Adaptive;
use fixed::Fixed;

/// What a policy decides.
trait CachePolicy {
    /// The segment that makes room among those that reads share; `spared` only if there is no other.
    fn victim(&self, shared: &[Segment], spared: Option<usize>) -> Option<usize>;

    /// How many sectors a segment holds at most, as they are filled now.
    fn size_in(&self, all: &[Segment]) -> u64;

    /// Segment `filled` holds other sectors than before: it, and whoever must make room for it, drop what they cannot hold.
    fn divide(&self, all: &mut [Segment], filled: usize);
}

/// The policies.
#[derive(Clone, Debug)]
pub(super) enum Policy {
    Fixed(Fixed),
    Adaptive(Adaptive),
}

impl Policy {
    /// The policy of a description; `size` is that of a segment in sectors.
    pub(super) fn new(spec: Option<&CacheSpec>, size: u64) -> Self {
        match spec.map(|spec| (spec.segmentation, spec.segments)) {
            None | Some((Segmentation::Fixed, _)) => Self::Fixed(Fixed::new(size)),
            Some((Segmentation::Adaptive, segments)) => Self::Adaptive(Adaptive::new(segments, size)),
        }
    }

    #[inline]
    pub(super) fn victim(&self, shared: &[Segment], spared: Option<usize>) -> Option<usize> {
        match self {
            Self::Fixed(policy) => policy.victim(shared, spared),
            Self::Adaptive(policy) => policy.victim(shared, spared),
        }
    }

    #[inline]
    pub(super) fn size_in(&self, all: &[Segment]) -> u64 {
        match self {
            Self::Fixed(policy) => policy.size_in(all),
            Self::Adaptive(policy) => policy.size_in(all),
        }
    }

    #[inline]
    pub(super) fn divide(&self, all: &mut [Segment], filled: usize) {
        match self {
            Self::Fixed(policy) => policy.divide(all, filled),
            Self::Adaptive(policy) => policy.divide(all, filled),
        }
    }
}
