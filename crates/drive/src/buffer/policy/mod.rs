//! How the cache is divided: which segment makes room, and how large each is. One file a policy, and its line in
//! [`Policy`].

mod fixed;

use super::segments::Segment;
use crate::spec::CacheSpec;
use fixed::Fixed;

/// What a policy decides.
trait Segmentation {
    /// The segment that makes room among those that reads share.
    fn victim(&self, shared: &[Segment]) -> Option<usize>;

    /// How many sectors a segment holds at most.
    fn size_of(&self, segment: usize) -> u64;
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
    pub(super) fn size_of(&self, segment: usize) -> u64 {
        match self {
            Self::Fixed(policy) => policy.size_of(segment),
        }
    }
}
