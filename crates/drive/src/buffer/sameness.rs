//! Whether two buffers go on in the same way, whatever comes.
//!
//! Counters may be shifted against each other: what counts is how long ago a segment was used, not how many uses there ever
//! were. And the same segments may stand in another order: which of several makes room is decided by their use, so that two
//! drives that came to the same contents by different histories have them in different places. Where the order decides all the
//! same (see `order_mattered`), nothing is said of the future.

use super::segment::Segment;
use super::segments::Segments;
use super::{Buffer, Prefetch};
use crate::spec::WrittenData;

/// Which segment of one buffer is which of another's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relabelling(Vec<usize>);

impl Relabelling {
    /// Whether each is itself.
    pub fn is_identity(&self) -> bool {
        self.0.iter().enumerate().all(|(index, &label)| index == label)
    }

    /// The other buffer's segment that is this one's `index`.
    pub(super) fn of(&self, index: usize) -> usize {
        self.0[index]
    }
}

/// What matters of a segment: what it holds, and how many uses ago it was used; `None` if it never was, or is empty since.
fn content(segment: &Segment, uses: u64) -> (u64, u64, Option<u64>) {
    let Segment { start, end, used } = *segment;
    (start, end, (used > 0).then(|| uses - used))
}

impl Segments {
    /// Which of its segments are which of `other`'s, if the two hold the same.
    fn relabelling(&self, other: &Self) -> Option<Relabelling> {
        // The rest of the fields is the drive file's to say.
        let order = |segments: &Self| {
            let mut order: Vec<usize> = (0..segments.all.len()).collect();
            let shared = order.len() - usize::from(segments.written_data == WrittenData::OwnSegment);
            let shared = shared.min(order.len());
            // Stable: those never used stay in their order.
            order[..shared].sort_by_key(|&index| segments.all[index].used);
            order
        };
        if self.all.len() != other.all.len() {
            return None;
        }
        let mut labels = vec![0; self.all.len()];
        for (mine, theirs) in order(self).into_iter().zip(order(other)) {
            if content(&self.all[mine], self.uses) != content(&other.all[theirs], other.uses) {
                return None;
            }
            labels[mine] = theirs;
        }
        let labels = Relabelling(labels);
        (self.written.map(|written| labels.of(written)) == other.written).then_some(labels)
    }

    fn relabel(&mut self, labels: &Relabelling) {
        let mut all = self.all.clone();
        for (index, segment) in self.all.iter().enumerate() {
            all[labels.of(index)] = *segment;
        }
        self.replace(all);
        self.written = self.written.map(|written| labels.of(written));
    }
}

impl Buffer {
    /// Which of its segments are which of `other`'s, if everything to come is the same with the two.
    pub(crate) fn same_future(&self, other: &Self) -> Option<Relabelling> {
        let Self { segments, prefetch, stopped, dirty, destaging, settled, early } = self;
        let labels = segments.relabelling(&other.segments)?;
        let is_same = prefetch.map(|prefetch| prefetch.relabelled(&labels)) == other.prefetch
            && stopped.map(|stopped| labels.of(stopped)) == other.stopped
            && dirty.has_same_future(&other.dirty, *settled)
            && *destaging == other.destaging
            && *settled == other.settled
            && *early == other.early;
        is_same.then_some(labels)
    }

    /// Its segments take the places `labels` says.
    pub(crate) fn relabel(&mut self, labels: &Relabelling) {
        self.segments.relabel(labels);
        self.prefetch = self.prefetch.map(|prefetch: Prefetch| prefetch.relabelled(labels));
        self.stopped = self.stopped.map(|stopped| labels.of(stopped));
    }

    /// From here on it is noted whether the order of segments decides something.
    pub(crate) fn watch_order(&mut self) {
        self.segments.order_mattered = false;
    }

    /// Whether it did.
    pub(crate) fn order_mattered(&self) -> bool {
        self.segments.order_mattered
    }
}
