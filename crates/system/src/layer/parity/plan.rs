//! What a request means for the drives of a parity volume: what is read, and what is written then.

use crate::layer::array::{Array, Band};
use crate::layer::stripes::{Chunk, Span, joined, joined_over};
use crate::spec::{ParityRange, SmallWrites};

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

/// How requests are served by an array with parity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planner {
    pub(crate) small_writes: SmallWrites,
    pub(crate) parity_range: ParityRange,
    /// Commands to one drive that lie no more sectors apart become one.
    pub(crate) join_gap: u64,
}

/// What a request means, in an array as it is.
#[derive(Clone, Copy)]
struct Planning<'a> {
    planner: Planner,
    array: &'a Array,
}

/// The same sectors of the units of a stripe, and the data members of which they are written.
struct WrittenBand {
    band: Band,
    written: Vec<usize>,
}

impl Planner {
    /// What a read takes: its sectors, or, where they are not there, as many others of the stripe as tell them.
    pub(crate) fn read(self, array: &Array, lba: u64, sectors: u32) -> Plan {
        Planning { planner: self, array }.read(lba, sectors)
    }

    /// What a write takes.
    pub(crate) fn write(self, array: &Array, lba: u64, sectors: u32) -> Plan {
        Planning { planner: self, array }.write(lba, sectors)
    }
}

impl Planning<'_> {
    fn data(&self) -> usize {
        self.array.geometry.data()
    }

    fn members(&self) -> usize {
        self.array.geometry.members()
    }

    /// The stripe and the data member that hold a chunk.
    fn place(&self, chunk: Chunk) -> (u64, usize) {
        let data = self.data() as u64;
        (chunk.number / data, (chunk.number % data) as usize)
    }

    fn span(&self, band: Band, member: usize) -> Span {
        self.array.span(band, member)
    }

    fn read(&self, lba: u64, sectors: u32) -> Plan {
        let mut reads = Vec::new();
        for chunk in self.array.chunks().chunks(lba, sectors) {
            let (stripe, member) = self.place(chunk);
            let band = Band { stripe, from: chunk.from, to: chunk.to };
            if self.array.is_present(stripe, member) {
                reads.push(self.span(band, member));
            } else {
                reads.extend(self.array.enough(band));
            }
        }
        Plan { reads: joined_over(reads, self.planner.join_gap), ..Plan::default() }
    }

    fn write(&self, lba: u64, sectors: u32) -> Plan {
        let mut plan = Plan::default();
        let chunks: Vec<Chunk> = self.array.chunks().chunks(lba, sectors).collect();
        for of_stripe in chunks.chunk_by(|a, b| self.place(*a).0 == self.place(*b).0) {
            // Two pieces one behind the other, with nothing of the same place in the unit, are written each with its own parity.
            let apart = chunks.len() == 2 && of_stripe.len() == 2 && of_stripe[0].from > of_stripe[1].to;
            let whole = self.planner.parity_range == ParityRange::Unit && of_stripe.len() > 1 && !apart;
            if whole && self.array.is_whole() {
                self.write_whole_parity(of_stripe, &mut plan);
            } else {
                self.write_stripe(of_stripe, &mut plan);
            }
        }
        let joined = |spans| joined_over(spans, self.planner.join_gap);
        Plan { reads: joined(plan.reads), data: joined(plan.data), parity: joined(plan.parity) }
    }

    /// The parity of a whole unit is worked out anew: from the old data and all of the old parity, or from all that is not
    /// written.
    fn write_whole_parity(&self, chunks: &[Chunk], plan: &mut Plan) {
        let data = self.data();
        let stripe = self.place(chunks[0]).0;
        let whole = Band { stripe, from: 0, to: self.array.unit };
        let written: Vec<(usize, Band)> = chunks
            .iter()
            .map(|chunk| (self.place(*chunk).1, Band { stripe, from: chunk.from, to: chunk.to }))
            .collect();
        let new = || written.iter().map(|&(member, band)| self.span(band, member));
        let parity = || (data..self.members()).map(|member| self.span(whole, member));
        plan.data.extend(new());
        plan.parity.extend(parity());
        let others = data - written.len();
        let modifies = match self.planner.small_writes {
            SmallWrites::ReadModifyWrite => true,
            SmallWrites::ReconstructWrite => false,
            SmallWrites::FewestReads => written.len() + self.members() - data <= others,
            SmallWrites::AsMd => written.len() + self.members() - data < others,
        };
        let is_whole = |band: &Band| band.to - band.from == self.array.unit;
        if modifies && !(others == 0 && written.iter().all(|(_, band)| is_whole(band))) {
            plan.reads.extend(new().chain(parity()));
            return;
        }
        let rest = |member: usize| {
            let Band { from, to, .. } = written
                .iter()
                .find(|found| found.0 == member)
                .map_or(Band { to: 0, ..whole }, |found| found.1);
            [Band { to: from, ..whole }, Band { from: to, ..whole }]
                .into_iter()
                .filter(|band| band.from < band.to)
                .map(move |band| self.span(band, member))
        };
        plan.reads.extend((0..data).flat_map(rest));
    }

    /// A stripe falls into bands in which each unit is written as a whole or not at all: a request that begins or ends within a
    /// unit covers other units there.
    fn write_stripe(&self, chunks: &[Chunk], plan: &mut Plan) {
        let mut edges: Vec<u64> = chunks.iter().flat_map(|chunk| [chunk.from, chunk.to]).collect();
        edges.sort_unstable();
        edges.dedup();
        let stripe = self.place(chunks[0]).0;
        let bands = edges.windows(2).map(|edge| {
            let band = Band { stripe, from: edge[0], to: edge[1] };
            let is_written = |chunk: &&Chunk| chunk.from <= band.from && chunk.to >= band.to;
            let written = chunks.iter().filter(is_written).map(|chunk| self.place(*chunk).1).collect();
            WrittenBand { band, written }
        });
        let bands: Vec<_> = bands.filter(|band| !band.written.is_empty()).collect();
        let parities = self.parities(stripe);
        for WrittenBand { band, written } in &bands {
            let written = written.iter().filter(|member| self.array.is_present(stripe, **member));
            plan.data.extend(written.map(|&member| self.span(*band, member)));
            plan.parity.extend(parities.iter().map(|&member| self.span(*band, member)));
        }
        if !parities.is_empty() {
            plan.reads.extend(self.reads_of_stripe(&bands));
        }
    }

    /// The parities of a stripe that are there.
    fn parities(&self, stripe: u64) -> Vec<usize> {
        (self.data()..self.members()).filter(|&member| self.array.is_present(stripe, member)).collect()
    }

    /// What is read for the parity of the bands of a stripe that are written.
    fn reads_of_stripe(&self, bands: &[WrittenBand]) -> Vec<Span> {
        let all = |modifies| bands.iter().flat_map(|band| self.reads_of_band(band, modifies)).collect();
        match self.planner.small_writes {
            SmallWrites::ReadModifyWrite => all(true),
            SmallWrites::ReconstructWrite => all(false),
            SmallWrites::FewestReads => {
                let way = self.fewer(all(true), all(false));
                // With drives missing, parities that are left may tell in fewer reads what the stripe held.
                let stripe = || bands.iter().flat_map(|found| self.array.enough(found.band)).collect();
                if self.array.is_whole() { way } else { self.fewer(way, stripe()) }
            }
            SmallWrites::AsMd => {
                let of_band =
                    |band| self.fewer(self.reads_of_band(band, false), self.reads_of_band(band, true));
                bands.iter().flat_map(of_band).collect()
            }
        }
    }

    /// Of two ways to read the one that takes fewer drives, then fewer commands.
    fn fewer(&self, one: Vec<Span>, other: Vec<Span>) -> Vec<Span> {
        let cost = |reads: &Vec<Span>| {
            let commands = joined_over(reads.clone(), self.planner.join_gap);
            (commands.chunk_by(|a, b| a.drive == b.drive).count(), commands.len())
        };
        if cost(&one) <= cost(&other) { one } else { other }
    }

    /// What is read for the parity of a band: the old data and parity or the rest of the stripe, if both can be.
    fn reads_of_band(&self, WrittenBand { band, written }: &WrittenBand, modifies: bool) -> Vec<Span> {
        let alive = |member: &usize| self.array.is_present(band.stripe, *member);
        let rest: Vec<usize> = (0..self.data()).filter(|member| !written.contains(member)).collect();
        let spans =
            |members: &[usize]| members.iter().map(|&member| self.span(*band, member)).collect::<Vec<_>>();
        let may_modify = written.iter().all(alive);
        let may_reconstruct = rest.iter().all(alive);
        if rest.is_empty() || may_reconstruct && !(modifies && may_modify) {
            spans(&rest)
        } else if may_modify {
            spans(&[written.as_slice(), &self.parities(band.stripe)].concat())
        } else {
            // Of what is written and of what is not a drive has failed: the stripe is worked out first.
            self.array.enough(*band).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::array::{Geometry, Layout, Seat};
    use crate::spec::ParityLayout;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const UNIT: u64 = 8;
    const ROWS: u64 = 10;

    /// A planner and its array.
    struct Fixture {
        planner: Planner,
        array: Array,
    }

    impl Fixture {
        fn read(&self, lba: u64, sectors: u32) -> Plan {
            self.planner.read(&self.array, lba, sectors)
        }

        fn write(&self, lba: u64, sectors: u32) -> Plan {
            self.planner.write(&self.array, lba, sectors)
        }

        /// The drive and the sector of the same place within a member.
        fn place(&self, stripe: u64, member: usize, at: u64) -> (usize, u64) {
            let Seat { drive, row } = self.array.geometry.place(stripe, member);
            (drive, row * self.array.unit + at)
        }

        fn locate(&self, lba: u64) -> (usize, u64) {
            let (unit, data) = (self.array.unit, self.array.geometry.data() as u64);
            self.place(lba / unit / data, (lba / unit % data) as usize, lba % unit)
        }
    }

    /// An array of drives as large as they need be.
    fn parity_array(layout: Layout, unit: u64, rows: u64, failed: &[usize]) -> Array {
        Array::new(Geometry::Parity(layout), unit, rows, u64::MAX, failed)
    }

    fn array(drives: usize, parities: usize, failed: &[usize], small_writes: SmallWrites) -> Fixture {
        rotated(drives, parities, failed, small_writes, Some(ParityLayout::LeftSymmetric))
    }

    fn whole(drives: usize, parities: usize, small_writes: SmallWrites) -> Fixture {
        let Fixture { planner, array } = array(drives, parities, &[], small_writes);
        Fixture { planner: Planner { parity_range: ParityRange::Unit, ..planner }, array }
    }

    fn rotated(
        drives: usize,
        parities: usize,
        failed: &[usize],
        small_writes: SmallWrites,
        rotation: Option<ParityLayout>,
    ) -> Fixture {
        let array = parity_array(Layout { drives, parities, rotation }, UNIT, ROWS, failed);
        Fixture { planner: Planner { small_writes, parity_range: ParityRange::Written, join_gap: 0 }, array }
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

    /// One way for all of a write in a stripe. Six units of data: what is written in part.
    #[test]
    fn the_fewest_drives_are_those_of_one_whole_way() {
        use SmallWrites::{AsMd, FewestReads, ReadModifyWrite, ReconstructWrite};
        let drives = |spans: &[Span]| spans.iter().map(|span| span.drive).collect::<BTreeSet<_>>().len();
        let reads = |policy, lba, count| {
            let plan = array(7, 1, &[], policy).write(lba, count);
            (drives(&plan.reads), plan.reads.len())
        };
        // Half of the first unit, two, and a quarter of the next.
        assert_eq!(reads(FewestReads, 4, 22), (4, 4));
        assert_eq!(reads(AsMd, 4, 22), (7, 9), "each offset by itself");
        assert_eq!(reads(FewestReads, 6, 4), reads(ReadModifyWrite, 6, 4));
        for lba in 0..6 * UNIT {
            for count in 1..=(6 * UNIT - lba) as u32 {
                let ways = [ReadModifyWrite, ReconstructWrite].map(|policy| reads(policy, lba, count));
                assert_eq!(reads(FewestReads, lba, count), ways[0].min(ways[1]), "{lba}, {count}");
            }
        }
        // Where both read from as many drives md reconstructs.
        let four = |policy| array(4, 1, &[], policy).write(0, 2).reads;
        assert_eq!(four(FewestReads), four(ReadModifyWrite));
        assert_eq!(four(AsMd), four(ReconstructWrite));
    }

    /// Commands of DiskSim 4.0 for three writes to its nine disks with units of 64 blocks, as it was seen to send them.
    #[test]
    fn whole_units_of_parity_and_joined_neighbours_are_as_in_disksim() {
        let rotation = Some(ParityLayout::LeftSymmetric);
        let array = parity_array(Layout { drives: 9, parities: 1, rotation }, 64, 40_000, &[]);
        let whole = whole(9, 1, SmallWrites::FewestReads).planner;
        let array = Fixture { planner: Planner { join_gap: 32, ..whole }, array };
        let spans = |lba: u64, count: u32| {
            let plan = array.write(lba, count);
            let found = |spans: &[Span]| {
                spans.iter().map(|span| (span.drive, span.from, span.to - span.from)).collect::<Vec<_>>()
            };
            assert_eq!(found(&plan.reads), found(&plan.clone().writes()));
            found(&plan.reads)
        };
        assert_eq!(spans(12_661_912, 8), [(1, 1_582_744, 8), (4, 1_582_744, 8)]);
        assert_eq!(spans(13_668_216, 32), [(4, 1_708_536, 8), (5, 1_708_480, 24), (7, 1_708_480, 64)]);
        let apart = [(3, 1_723_576, 8), (4, 1_723_520, 8), (6, 1_723_520, 8), (6, 1_723_576, 8)];
        assert_eq!(spans(13_788_536, 16), apart);
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
        // Stripe 0 of RAID 6 on four drives is Q 0 1 P. Without 1 any two of the others tell what it held: two reads, where the
        // old value of 0 and both parities are three.
        let raid_6 = |policy| self::array(4, 2, &[2], policy).write(0, 4);
        assert_eq!(counts(&raid_6(SmallWrites::FewestReads)), (2, 3));
        assert_eq!(counts(&raid_6(SmallWrites::ReadModifyWrite)), (3, 3));
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
                    let place = array.locate(lba);
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
        use SmallWrites::{AsMd, FewestReads, ReadModifyWrite, ReconstructWrite};
        prop::sample::select(vec![FewestReads, AsMd, ReadModifyWrite, ReconstructWrite])
    }

    proptest! {
        /// Whole units of parity: what is read before tells every sector of them, and nothing but data and parity is written.
        #[test]
        fn whole_units_of_parity_are_told_by_what_is_read(
            (drives, parities) in (3..8usize, 1..3usize).prop_map(|(drives, p)| (drives.max(p + 2), p)),
            policy in policy(),
            lba in 0..120u64,
            count in 1..100u32,
        ) {
            let array = whole(drives, parities, policy);
            let plan = array.write(lba, count);
            let (read, written) = (sectors(&plan.reads), sectors(&plan.clone().writes()));
            let data = drives - parities;
            let covers = |stripe: u64, member: usize, at: u64| {
                let sector = (stripe * data as u64 + member as u64) * UNIT + at;
                (lba..lba + u64::from(count)).contains(&sector)
            };
            let mut told = BTreeSet::new();
            for stripe in 0..ROWS * 4 {
                for at in 0..UNIT {
                    let place = |member: usize| array.place(stripe, member, at);
                    let new: Vec<usize> = (0..data).filter(|&member| covers(stripe, member, at)).collect();
                    told.extend(new.iter().map(|&member| place(member)));
                    prop_assert!(new.is_empty() || (data..drives).all(|p| written.contains(&place(p))));
                    if !written.contains(&place(data)) {
                        continue;
                    }
                    told.extend((data..drives).map(place));
                    let is_read = |member: usize| read.contains(&place(member));
                    let modified = new.iter().copied().chain(data..drives).all(is_read);
                    let reconstructed = (0..data).all(|member| new.contains(&member) || is_read(member));
                    prop_assert!(modified || reconstructed, "stripe {stripe}, sector {at}: {plan:?}");
                }
            }
            prop_assert_eq!(written, told);
        }

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
                let place = |member: usize| array.place(stripe, member, at);
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
                let is_read = |member: usize| got.contains(&array.place(stripe, member, at));
                let all = (0..drives).filter(|&member| is_read(member)).count() >= data;
                prop_assert!(all || wanted.iter().all(|&member| is_read(member)));
            }
            prop_assert!(got.iter().all(|(drive, _)| !failed.contains(drive)));
        }
    }
}
