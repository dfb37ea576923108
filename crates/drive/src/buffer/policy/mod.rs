//! How the cache is divided: which segment makes room, and how large each is. One file a policy, and its line in
//! [`Policy`].

mod fixed;

use super::segments::Segment;
use crate::spec::CacheSpec;
use fixed::Fixed;

/// What a policy decides.
trait CachePolicy {
    /// The segment that makes room among those that reads share.
    fn victim(&self, shared: &[Segment]) -> Option<usize>;

    /// How many sectors a segment holds at most, as they are filled now.
    fn size_in(&self, all: &[Segment]) -> u64;

    /// Segment `filled` holds other sectors than before: it, and whoever must make room for it, drop what they cannot hold.
    fn divide(&self, all: &mut [Segment], filled: usize);
}

/// The policies.
#[derive(Clone, Debug)]
pub(super) enum Policy {
    Fixed(Fixed),
}

impl Policy {
    /// The policy of a description; `size` is that of a segment in sectors.
    pub(super) fn new(_spec: Option<&CacheSpec>, size: u64) -> Self {
        Self::Fixed(Fixed::new(size))
    }

    #[inline]
    pub(super) fn victim(&self, shared: &[Segment]) -> Option<usize> {
        match self {
            Self::Fixed(policy) => policy.victim(shared),
        }
    }

    #[inline]
    pub(super) fn size_in(&self, all: &[Segment]) -> u64 {
        match self {
            Self::Fixed(policy) => policy.size_in(all),
        }
    }

    #[inline]
    pub(super) fn divide(&self, all: &mut [Segment], filled: usize) {
        match self {
            Self::Fixed(policy) => policy.divide(all, filled),
        }
    }
}
