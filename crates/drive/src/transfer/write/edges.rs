//! Writes that cover part of a physical sector: the drive reads that first, and writes it when it comes around again.

use crate::buffer::Passes;
use crate::layout::Extent;
use crate::mechanism::{Arm, Media, Pass};
use crate::transfer::read::passes_in_order;
use headstack_units::Op;

/// The whole physical sectors around a range of logical ones, and those of which a part is to stay as it is: the first, the
/// last, or both.
#[derive(Clone, Debug)]
pub(in crate::transfer) struct Edges {
    start: u64,
    stop: u64,
    reads: [Option<(u64, u64)>; 2],
}

impl Edges {
    pub(in crate::transfer) fn of(media: &Media<'_>, lba: u64, end: u64) -> Self {
        let physical = media.model.sizes.physical;
        let capacity = media.model.layout.capacity();
        let (start, last) = (lba - lba % physical, end - end % physical);
        let stop = end.next_multiple_of(physical).min(capacity);
        let (first_cut, last_cut) = (start < lba, end < stop);
        let first_end = (start + physical).min(stop);
        let reads = if first_cut && last_cut && last <= first_end {
            [Some((start, stop)), None]
        } else {
            [first_cut.then_some((start, first_end)), last_cut.then_some((last, stop))]
        };
        Self { start, stop, reads }
    }

    /// What is read first, in order: first address, and one after the last.
    pub(in crate::transfer) fn reads(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.reads.into_iter().flatten()
    }

    /// Where the head goes first.
    pub(in crate::transfer) fn first(&self, media: &Media<'_>) -> Extent {
        let (from, stop) = self.reads().next().unwrap_or((self.start, self.stop));
        media.extent(from, stop - from)
    }

    /// What is written.
    pub(in crate::transfer) fn write(&self) -> (u64, u64, Op) {
        (self.start, self.stop, Op::Write)
    }

    /// The passes that read them; `first` is over the first address of the first.
    pub(super) fn passes(&self, media: &Media<'_>, first: Pass) -> Passes {
        let mut passes = Passes::new();
        for (from, stop) in self.reads() {
            let pass = passes.last().map_or(first, |last: &Pass| {
                let target = media.extent(from, stop - from);
                let seek = media.seek(Arm::over(&last.extent), &target, Op::Read);
                media.first_pass(last.end, last.end, seek, target)
            });
            passes_in_order(media, pass, stop, Op::Read, &mut passes);
        }
        passes
    }
}
