//! Writes and rebuild steps of the same stripes exclude each other; so do writes, where parity is to be right.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::layer::Call;

/// Writes on their way, and those that wait.
#[derive(Clone, Debug)]
pub(super) struct Locks {
    /// Writes of the same stripe wait for each other.
    excludes: bool,
    /// Whether it matters at all which stripes are being written.
    is_needed: bool,
    /// By the numbers of their calls.
    held: BTreeMap<usize, Range<u64>>,
    waiting: VecDeque<(Call, Range<u64>)>,
}

/// Whether ranges have a stripe in common.
pub(super) fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Locks {
    pub(super) fn new(excludes: bool, may_rebuild: bool) -> Self {
        let is_needed = excludes || may_rebuild;
        Self { excludes, is_needed, held: BTreeMap::new(), waiting: VecDeque::new() }
    }

    /// Whether a write to one of the stripes is on its way.
    pub(super) fn is_held(&self, stripes: &Range<u64>) -> bool {
        self.held.values().any(|held| overlap(held, stripes))
    }

    /// A write of stripes waits.
    pub(super) fn ask(&mut self, call: Call, stripes: Range<u64>) {
        self.waiting.push_back((call, stripes));
    }

    /// The writes that need not wait any more, in their order: a rebuild step has no stripe of theirs, nor has an earlier write.
    pub(super) fn admit(&mut self, is_held: impl Fn(&Range<u64>) -> bool) -> Vec<Call> {
        let mut still: VecDeque<(Call, Range<u64>)> = VecDeque::new();
        let mut admitted = Vec::new();
        for (call, stripes) in std::mem::take(&mut self.waiting) {
            let must_wait = is_held(&stripes)
                || self.excludes
                    && (self.is_held(&stripes)
                        || still.iter().any(|(_, earlier)| overlap(earlier, &stripes)));
            if must_wait {
                still.push_back((call, stripes));
            } else {
                if self.is_needed {
                    self.held.insert(call.number, stripes);
                }
                admitted.push(call);
            }
        }
        self.waiting = still;
        admitted
    }

    /// A write is complete; false if there was none of that number.
    pub(super) fn release(&mut self, number: usize) -> bool {
        self.held.remove(&number).is_some()
    }
}
