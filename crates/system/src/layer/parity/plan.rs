//! What a request means for the drives of a parity volume: what is read, and what is written then.

use super::layout::Layout;
use crate::layer::stripes::{Chunk, Span, Stripes, joined};
use crate::spec::SmallWrites;

/// The drives' part in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// To be read first.
    pub(crate) reads: Vec<Span>,
    /// Data to be written.
    pub(crate) data: Vec<Span>,
    /// Parity to be written.
    pub(crate) parity: Vec<Span>,
}

impl Plan {
    /// Data and parity, neighbours on a drive together.
    pub(crate) fn writes(self) -> Vec<Span> {
        joined([self.data, self.parity].concat())
    }
}

/// The drives of a volume and their state.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) layout: Layout,
    pub(crate) stripes: Stripes,
    pub(crate) failed: Vec<bool>,
    pub(crate) small_writes: SmallWrites,
}

/// The same sectors of every unit of a stripe.
#[derive(Clone, Copy)]
struct Band {
    stripe: u64,
    from: u64,
    to: u64,
}

impl Array {
    /// The stripe and the data member that hold a chunk.
    fn place(&self, chunk: Chunk) -> (u64, usize) {
        let data = self.layout.data() as u64;
        (chunk.number / data, (chunk.number % data) as usize)
    }

    fn span(&self, band: Band, member: usize) -> Span {
        let start = band.stripe * self.stripes.unit;
        Span { drive: self.layout.drive(band.stripe, member), from: start + band.from, to: start + band.to }
    }

    fn is_alive(&self, stripe: u64, member: usize) -> bool {
        !self.failed[self.layout.drive(stripe, member)]
    }

    /// The drive and the sector that hold a sector of the volume.
    pub(crate) fn locate(&self, lba: u64) -> Option<(usize, u64)> {
        let chunk = self.stripes.chunks(lba, 1).next()?;
        let (stripe, member) = self.place(chunk);
        let span = self.span(Band { stripe, from: chunk.from, to: chunk.to }, member);
        Some((span.drive, span.from))
    }

    /// What a read takes: its sectors, or, where their drive has failed, as many others of the stripe as tell them.
    pub(crate) fn read(&self, lba: u64, sectors: u32) -> Plan {
        let mut reads = Vec::new();
        for chunk in self.stripes.chunks(lba, sectors) {
            let (stripe, member) = self.place(chunk);
            let band = Band { stripe, from: chunk.from, to: chunk.to };
            if self.is_alive(stripe, member) {
                reads.push(self.span(band, member));
            } else {
                reads.extend(self.enough(band));
            }
        }
        Plan { reads: joined(reads), ..Plan::default() }
    }

    /// As many members as tell all others: data as far as they are there, then parity.
    fn enough(&self, band: Band) -> impl Iterator<Item = Span> {
        (0..self.layout.drives)
            .filter(move |&member| self.is_alive(band.stripe, member))
            .take(self.layout.data())
            .map(move |member| self.span(band, member))
    }

    /// What a write takes.
    pub(crate) fn write(&self, lba: u64, sectors: u32) -> Plan {
        let mut plan = Plan::default();
        let chunks: Vec<Chunk> = self.stripes.chunks(lba, sectors).collect();
        for chunks in chunks.chunk_by(|a, b| self.place(*a).0 == self.place(*b).0) {
            self.write_stripe(chunks, &mut plan);
        }
        Plan { reads: joined(plan.reads), data: joined(plan.data), parity: joined(plan.parity) }
    }

    /// A stripe falls into bands in which each unit is written as a whole or not at all: a request that begins or ends within a
    /// unit covers other units there.
    fn write_stripe(&self, chunks: &[Chunk], plan: &mut Plan) {
        let mut edges: Vec<u64> = chunks.iter().flat_map(|chunk| [chunk.from, chunk.to]).collect();
        edges.sort_unstable();
        edges.dedup();
        let stripe = self.place(chunks[0]).0;
        for edge in edges.windows(2) {
            let band = Band { stripe, from: edge[0], to: edge[1] };
            let is_written = |chunk: &&Chunk| chunk.from <= band.from && chunk.to >= band.to;
            let written: Vec<usize> =
                chunks.iter().filter(is_written).map(|chunk| self.place(*chunk).1).collect();
            if !written.is_empty() {
                self.write_band(band, &written, plan);
            }
        }
    }

    fn write_band(&self, band: Band, written: &[usize], plan: &mut Plan) {
        let data = self.layout.data();
        let alive = |member: &usize| self.is_alive(band.stripe, *member);
        let parities: Vec<usize> = (data..self.layout.drives).filter(alive).collect();
        let rest: Vec<usize> = (0..data).filter(|member| !written.contains(member)).collect();
        let spans =
            |members: &[usize]| members.iter().map(|&member| self.span(band, member)).collect::<Vec<_>>();
        let modify = written.iter().all(alive).then(|| spans(&[written, &parities].concat()));
        let reconstruct = rest.iter().all(alive).then(|| spans(&rest));
        plan.data
            .extend(written.iter().filter(|member| alive(member)).map(|&member| self.span(band, member)));
        plan.parity.extend(spans(&parities));
        if parities.is_empty() {
            return;
        }
        plan.reads.extend(match (modify, reconstruct) {
            (_, Some(none)) if none.is_empty() => none,
            (Some(modify), Some(reconstruct)) => {
                let modifies = match self.small_writes {
                    SmallWrites::ReadModifyWrite => true,
                    SmallWrites::ReconstructWrite => false,
                    SmallWrites::FewestReads => modify.len() <= reconstruct.len(),
                };
                if modifies { modify } else { reconstruct }
            }
            (Some(only), None) | (None, Some(only)) => only,
            // Of what is written and of what is not a drive has failed: the stripe is worked out first.
            (None, None) => self.enough(band).collect(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::ParityLayout;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const UNIT: u64 = 8;
    const ROWS: u64 = 10;

    fn array(drives: usize, parities: usize, failed: &[usize], small_writes: SmallWrites) -> Array {
        rotated(drives, parities, failed, small_writes, Some(ParityLayout::LeftSymmetric))
    }

    fn rotated(
        drives: usize,
        parities: usize,
        failed: &[usize],
        small_writes: SmallWrites,
        rotation: Option<ParityLayout>,
    ) -> Array {
        Array {
            layout: Layout { drives, parities, rotation },
            stripes: Stripes { unit: UNIT, rows: ROWS },
            failed: (0..drives).map(|drive| failed.contains(&drive)).collect(),
            small_writes,
        }
    }

    fn counts(plan: &Plan) -> (usize, usize) {
        (plan.reads.len(), plan.clone().writes().len())
    }

    fn sectors(spans: &[Span]) -> BTreeSet<(usize, u64)> {
        spans.iter().flat_map(|span| (span.from..span.to).map(|at| (span.drive, at))).collect()
    }

    #[test]
    fn a_small_write_reads_two_and_writes_two_or_three_and_three() {
        use SmallWrites::{FewestReads, ReadModifyWrite, ReconstructWrite};
        for (drives, parities, policy, expected) in [
            (4, 1, FewestReads, (2, 2)),
            (8, 1, FewestReads, (2, 2)),
            (8, 2, FewestReads, (3, 3)),
            // With three drives the rest of the stripe is one unit.
            (3, 1, FewestReads, (1, 2)),
            (3, 1, ReadModifyWrite, (2, 2)),
            (8, 1, ReconstructWrite, (6, 2)),
            (8, 2, ReconstructWrite, (5, 3)),
        ] {
            let plan = array(drives, parities, &[], policy).write(3, 2);
            assert_eq!(counts(&plan), expected, "{drives} drives, {parities} parities, {policy:?}");
            let modifies = plan.reads == plan.clone().writes();
            assert_eq!(modifies, policy != ReconstructWrite && drives > 3 || policy == ReadModifyWrite);
        }
    }

    #[test]
    fn whole_stripes_are_written_without_a_read() {
        for parities in [1, 2] {
            let array = array(6, parities, &[], SmallWrites::ReadModifyWrite);
            let stripe = (6 - parities as u64) * UNIT;
            assert_eq!(counts(&array.write(2 * stripe, stripe as u32)), (0, 6));
            // Several stripes are one command for each drive.
            assert_eq!(counts(&array.write(stripe, 3 * stripe as u32)), (0, 6));
        }
    }

    #[test]
    fn degraded_requests_take_what_is_left() {
        // Stripe 0 of four drives is 0 1 2 P.
        let array = |failed: &[usize]| array(4, 1, failed, SmallWrites::FewestReads);
        assert_eq!(counts(&array(&[0]).read(0, 4)), (3, 0));
        assert_eq!(counts(&array(&[1]).read(0, 4)), (1, 0));
        // The written unit has failed: its parity is made of the others.
        assert_eq!(counts(&array(&[0]).write(0, 4)), (2, 1));
        // Another has failed: only the old values can tell the parity.
        assert_eq!(counts(&array(&[1]).write(0, 4)), (2, 2));
        // The parity has failed.
        assert_eq!(counts(&array(&[3]).write(0, 4)), (0, 1));
    }

    /// Every sector of a drive within the rows is one sector of the volume, or parity.
    #[test]
    fn no_sector_is_lost_or_mapped_twice() {
        for rotation in [None, Some(ParityLayout::LeftSymmetric), Some(ParityLayout::RightAsymmetric)] {
            for (drives, parities) in [(3, 1), (5, 1), (4, 2), (7, 2)] {
                let array = rotated(drives, parities, &[], SmallWrites::FewestReads, rotation);
                let size = ROWS * UNIT * (drives - parities) as u64;
                let mut owner = BTreeMap::new();
                for lba in 0..size {
                    let place = array.locate(lba).unwrap();
                    assert!(place.1 < ROWS * UNIT);
                    assert_eq!(owner.insert(place, lba), None, "{rotation:?}, {drives} drives");
                    assert_eq!(sectors(&array.read(lba, 1).reads), BTreeSet::from([place]));
                }
                assert_eq!(owner.len() as u64 + ROWS * UNIT * parities as u64, ROWS * UNIT * drives as u64);
            }
        }
    }

    fn rotation() -> impl Strategy<Value = Option<ParityLayout>> {
        use ParityLayout::{LeftAsymmetric, LeftSymmetric, RightAsymmetric, RightSymmetric};
        prop::sample::select(vec![
            None,
            Some(LeftSymmetric),
            Some(LeftAsymmetric),
            Some(RightSymmetric),
            Some(RightAsymmetric),
        ])
    }

    fn policy() -> impl Strategy<Value = SmallWrites> {
        use SmallWrites::{FewestReads, ReadModifyWrite, ReconstructWrite};
        prop::sample::select(vec![FewestReads, ReadModifyWrite, ReconstructWrite])
    }

    proptest! {
        /// Of every sector written: it and its parity are written where their drives are there, nothing else is, and what is
        /// read before tells the new parity. Failed drives are left alone.
        #[test]
        fn nothing_is_lost_whatever_has_failed(
            (drives, parities, failures) in (3..8usize, 1..3usize).prop_flat_map(|(drives, parities)| {
                let drives = drives.max(parities + 2);
                let failures = prop::collection::btree_set(0..drives, 0..=parities);
                (Just(drives), Just(parities), failures)
            }),
            rotation in rotation(),
            policy in policy(),
            lba in 0..120u64,
            count in 1..100u32,
        ) {
            let failed: Vec<usize> = failures.into_iter().collect();
            let array = rotated(drives, parities, &failed, policy, rotation);
            let plan = array.write(lba, count);
            let (read, written) = (sectors(&plan.reads), sectors(&plan.clone().writes()));
            let data = drives - parities;
            let mut expected = BTreeSet::new();
            let mut bands: BTreeMap<(u64, u64), BTreeSet<usize>> = BTreeMap::new();
            for sector in lba..lba + u64::from(count) {
                let (stripe, at) = (sector / UNIT / data as u64, sector % UNIT);
                bands.entry((stripe, at)).or_default().insert((sector / UNIT % data as u64) as usize);
            }
            for (&(stripe, at), new) in &bands {
                let place = |member: usize| (array.layout.drive(stripe, member), stripe * UNIT + at);
                let members: Vec<usize> = new.iter().copied().chain(data..drives).collect();
                expected.extend(members.iter().map(|&m| place(m)).filter(|(drive, _)| !failed.contains(drive)));
                if (data..drives).all(|parity| failed.contains(&place(parity).0)) {
                    continue;
                }
                let is_read = |member: usize| read.contains(&place(member));
                let modified = new.iter().all(|&m| is_read(m))
                    && (data..drives).all(|p| is_read(p) || failed.contains(&place(p).0));
                let reconstructed = (0..data).all(|m| new.contains(&m) || is_read(m));
                let worked_out = (0..drives).filter(|&m| is_read(m)).count() >= data;
                prop_assert!(modified || reconstructed || worked_out, "stripe {stripe}, sector {at}: {plan:?}");
            }
            prop_assert_eq!(&written, &expected);
            prop_assert!(read.iter().all(|(drive, _)| !failed.contains(drive)));
            // A read of the same sectors gets each of them, or enough to tell it.
            let got = sectors(&array.read(lba, count).reads);
            for (&(stripe, at), wanted) in &bands {
                let is_read = |member: usize| got.contains(&(array.layout.drive(stripe, member), stripe * UNIT + at));
                let all = (0..drives).filter(|&member| is_read(member)).count() >= data;
                prop_assert!(all || wanted.iter().all(|&member| is_read(member)));
            }
            prop_assert!(got.iter().all(|(drive, _)| !failed.contains(drive)));
        }
    }
}
