//! Redundant arrays: where things lie, what has failed, what is being rebuilt.

mod declustered;
mod geometry;
mod intake;
mod locks;
mod repair;
mod rotation;

use std::ops::Range;

use headstack_units::{Lba, Nanos};

use super::stripes::{Span, Stripes, joined};
use super::{Call, Completed, Effect, Members, UnitMap};
use crate::spec::RebuildReads;
use locks::Locks;

pub(crate) use declustered::Declustered;
pub(crate) use geometry::{Geometry, Seat};
pub(crate) use intake::Intake;
pub(crate) use repair::{Loss, MARKS, Record, Repair};
pub(crate) use rotation::Layout;

/// The same sectors of every member of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Band {
    pub(crate) stripe: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// The state of a drive of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Whole,
    /// Nothing takes its place.
    Failed,
    /// What it held is being worked out, or has been.
    Replaced(Replacement),
}

/// Where the data of a failed drive go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// To the same rows of a spare drive: its position among the drives.
    Drive(usize),
    /// To the array's own room for so many failed drives.
    Distributed(usize),
}

/// A failed drive that is rebuilt.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replacement {
    home: Home,
    rebuilt: Rebuilt,
}

/// Which stripes a rebuild has been through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rebuilt {
    /// Stripes of a step.
    step: u64,
    steps: u64,
    is_descending: bool,
    /// All steps before this one, in the order of the rebuild, are complete…
    before: u64,
    /// …and these.
    ahead: std::collections::BTreeSet<u64>,
}

impl Rebuilt {
    fn has(&self, stripe: u64) -> bool {
        let turn = self.turn(stripe / self.step);
        turn < self.before || self.ahead.contains(&turn)
    }

    /// The how-many-th step in the order of the rebuild is one in the order of addresses, and the other way round.
    fn turn(&self, step: u64) -> u64 {
        if self.is_descending { self.steps - 1 - step } else { step }
    }

    fn complete(&mut self, turn: u64) {
        self.ahead.insert(turn);
        while self.ahead.remove(&self.before) {
            self.before += 1;
        }
    }
}

/// What is read and then written to bring some stripes of a failed drive onto another, and how many sectors it held of them.
#[derive(Debug, Default)]
struct Reconstruction {
    reads: Vec<Span>,
    writes: Vec<Span>,
    held: u64,
}

/// How much of a request a drive is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    All,
    Any,
}

/// Stripes over drives, of which some may have failed.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) geometry: Geometry,
    /// Sectors of a stripe unit.
    pub(crate) unit: u64,
    /// Number of stripes.
    pub(crate) stripes: u64,
    /// Sectors of a drive that are used.
    limit: u64,
    states: Vec<State>,
}

impl Array {
    /// Stripes of units of so many sectors on drives of so many rows; of each drive `limit` sectors are used.
    pub(crate) fn new(geometry: Geometry, unit: u64, rows: u64, limit: u64, failed: &[usize]) -> Self {
        let state = |drive| if failed.contains(&drive) { State::Failed } else { State::Whole };
        let states = (0..geometry.drives()).map(state).collect();
        Self { stripes: geometry.stripes(rows), geometry, unit, limit, states }
    }

    /// The chunks of the address space, as [`Stripes`] has them.
    pub(crate) fn chunks(&self) -> Stripes {
        Stripes { unit: self.unit, rows: 0 }
    }

    /// Whether nothing is missing.
    pub(crate) fn is_whole(&self) -> bool {
        self.states.iter().all(|state| *state == State::Whole)
    }

    /// Where a member of a stripe is, if it is there.
    pub(crate) fn seat(&self, stripe: u64, member: usize) -> Option<Seat> {
        self.present(stripe, self.geometry.place(stripe, member))
    }

    fn present(&self, stripe: u64, seat: Seat) -> Option<Seat> {
        match &self.states[seat.drive] {
            State::Whole => Some(seat),
            State::Failed => None,
            State::Replaced(by) => by.rebuilt.has(stripe).then(|| self.home(stripe, seat, by.home)).flatten(),
        }
    }

    /// Where what was at a seat of a failed drive goes.
    fn home(&self, stripe: u64, lost: Seat, home: Home) -> Option<Seat> {
        match home {
            Home::Drive(drive) => Some(Seat { drive, ..lost }),
            Home::Distributed(number) => {
                let spare = self.geometry.distributed_spare(stripe, lost, number)?;
                // Room on a drive that has failed, too, is gone with it.
                (self.states[spare.drive] == State::Whole).then_some(spare)
            }
        }
    }

    pub(crate) fn is_present(&self, stripe: u64, member: usize) -> bool {
        self.seat(stripe, member).is_some()
    }

    /// The sectors of a band on the drive where a member is; where it was, if it is not there.
    pub(crate) fn span(&self, band: Band, member: usize) -> Span {
        let lost = self.geometry.place(band.stripe, member);
        self.at(band, self.present(band.stripe, lost).unwrap_or(lost))
    }

    fn at(&self, band: Band, seat: Seat) -> Span {
        let start = seat.row * self.unit;
        Span { drive: seat.drive, from: start + band.from, to: (start + band.to).min(self.limit) }
    }

    /// As many members as tell all others: data as far as they are there, then the rest.
    pub(crate) fn enough(&self, band: Band) -> impl Iterator<Item = Span> {
        self.left(band).take(self.geometry.data())
    }

    /// All members that are there, data first.
    fn left(&self, band: Band) -> impl Iterator<Item = Span> {
        (0..self.geometry.members())
            .filter(move |&member| self.is_present(band.stripe, member))
            .map(move |member| self.span(band, member))
    }

    /// What it takes to work out what a failed drive held of some stripes.
    fn reconstruct(&self, stripes: Range<u64>, drive: usize, which: RebuildReads) -> Reconstruction {
        let State::Replaced(Replacement { home, .. }) = &self.states[drive] else {
            return Reconstruction::default();
        };
        let Reconstruction { mut reads, mut writes, mut held } = Reconstruction::default();
        for stripe in stripes {
            let places = (0..self.geometry.members()).map(|member| self.geometry.place(stripe, member));
            let Some(lost) = places.into_iter().find(|seat| seat.drive == drive) else { continue };
            held += self.unit;
            let band = Band { stripe, from: 0, to: self.unit };
            if let Some(home) = self.home(stripe, lost, *home) {
                match which {
                    RebuildReads::Enough => reads.extend(self.enough(band)),
                    RebuildReads::All => reads.extend(self.left(band)),
                }
                writes.push(self.at(band, home));
            }
        }
        Reconstruction { reads: joined(reads), writes: joined(writes), held }
    }

    /// Sectors of the array that lie on a drive.
    fn held(&self, drive: usize) -> u64 {
        self.held_before(drive, self.stripes)
    }

    /// Sectors of so many of the first stripes that lie on a drive.
    fn held_before(&self, drive: usize, stripes: u64) -> u64 {
        let sectors = self.geometry.held(drive, stripes) * self.unit;
        // The last unit of a mirror may be a short one.
        if matches!(self.geometry, Geometry::Mirror { .. }) { sectors.min(self.limit) } else { sectors }
    }

    /// The stripes of a step in the rebuild of a drive.
    fn stripes_of_step(&self, drive: usize, turn: u64) -> Range<u64> {
        let State::Replaced(Replacement { rebuilt, .. }) = &self.states[drive] else { return 0..0 };
        let first = rebuilt.turn(turn) * rebuilt.step;
        first..(first + rebuilt.step).min(self.stripes)
    }

    /// The stripes of a request.
    fn range(&self, call: &Call) -> Range<u64> {
        let stripe = self.geometry.data() as u64 * self.unit;
        call.lba.0 / stripe..(call.lba.0 + u64::from(call.sectors) - 1) / stripe + 1
    }

    /// The drives of a mirror that hold all stripes of a request, or any.
    pub(crate) fn holders(&self, call: &Call, held: Held) -> Vec<usize> {
        let members = 0..self.geometry.members();
        if self.is_whole() {
            return members.collect();
        }
        let drive = |member| {
            let mut seats = self.range(call).map(|stripe| self.seat(stripe, member));
            let seat = match held {
                Held::All => seats.reduce(Option::and).flatten(),
                Held::Any => seats.find_map(|seat| seat),
            };
            seat.map(|seat| seat.drive)
        };
        members.filter_map(drive).collect()
    }

    /// Drives that have failed and are not rebuilt as a whole, or onto room on drives that may fail in turn.
    fn missing(&self) -> impl Iterator<Item = usize> {
        let is_missing = |state: &State| match state {
            State::Whole => false,
            State::Failed => true,
            State::Replaced(by) => {
                by.rebuilt.before < by.rebuilt.steps || matches!(by.home, Home::Distributed(_))
            }
        };
        (0..self.states.len()).filter(move |&drive| is_missing(&self.states[drive]))
    }

    /// What no members tell any more: sectors of the address space, first and last of them.
    fn lost(&self) -> Option<(u64, [u64; 2])> {
        let (members, data) = (self.geometry.members(), self.geometry.data());
        if self.missing().count() <= members - data {
            return None;
        }
        let mut lost: Option<(u64, [u64; 2])> = None;
        for stripe in 0..self.stripes {
            let missing = |member: &usize| !self.is_present(stripe, *member);
            if (0..members).filter(missing).count() <= members - data {
                continue;
            }
            for member in (0..data).filter(missing) {
                let first = (stripe * data as u64 + member as u64) * self.unit;
                // The last unit of a mirror may be a short one.
                let Span { from, to, .. } = self.span(Band { stripe, from: 0, to: self.unit }, member);
                let (count, [begin, _]) = lost.unwrap_or((0, [first, first]));
                lost = Some((count + to - from, [begin, first + to - from - 1]));
            }
        }
        lost
    }
}

/// The drives of an array, and all that has to do with their failures.
#[derive(Clone, Debug)]
pub(crate) struct Redundant {
    /// Members, then spares.
    pub(crate) drives: Vec<UnitMap>,
    pub(crate) array: Array,
    locks: Locks,
    repair: Repair,
}

impl Redundant {
    /// The members of a volume in a geometry; whether writes of the same stripe exclude each other.
    pub(crate) fn boxed(members: Members, geometry: Geometry, excludes: bool) -> Box<Self> {
        let smallest = members.drives.iter().map(UnitMap::sectors).min().unwrap_or(0);
        let (unit, is_mirror) = (members.stripe_unit, matches!(geometry, Geometry::Mirror { .. }));
        // A mirror has no stripes; those it is rebuilt by need not fit.
        let rows = if is_mirror { smallest.div_ceil(unit) } else { smallest / unit };
        let array = Array::new(geometry, unit, rows, smallest, &members.options.failed_drives);
        let repair = Repair::new(&members, &array);
        let locks = Locks::new(excludes, repair.is_possible());
        let drives = members.drives.into_iter().chain(members.spares).collect();
        Box::new(Self { drives, array, locks, repair })
    }

    /// Sectors of the address space.
    pub(crate) fn sectors(&self) -> u64 {
        match self.array.geometry {
            Geometry::Mirror { .. } => self.array.limit,
            _ => self.array.stripes * self.array.geometry.data() as u64 * self.array.unit,
        }
    }

    pub(crate) fn repair(&self) -> &Repair {
        &self.repair
    }

    /// The first timers of a run.
    pub(crate) fn start(&mut self, effects: &mut Vec<Effect>) {
        self.repair.start(&mut self.array, effects);
        self.go_on(Nanos::ZERO, effects);
    }

    /// The instant of a timer has come: a drive fails, or the rebuild may go on.
    pub(crate) fn timer(&mut self, now: Nanos, tag: u32, effects: &mut Vec<Effect>) {
        self.repair.timer(now, tag, &mut self.array, effects);
        self.go_on(now, effects);
    }

    /// A command is complete: of a request, or of the rebuild.
    pub(crate) fn part_completed(&mut self, now: Nanos, child: &Completed, effects: &mut Vec<Effect>) {
        let goes_on = if let Some(number) = child.call {
            // A write may have left its stripes.
            child.left == 0 && self.locks.release(number)
        } else {
            self.repair.completed(now, child.tag, &mut self.array, &self.drives, effects);
            true
        };
        if goes_on {
            self.go_on(now, effects);
        }
    }

    fn go_on(&mut self, now: Nanos, effects: &mut Vec<Effect>) {
        self.repair.go_on(now, &mut self.array, &self.locks, &self.drives, effects);
    }

    /// A write comes in; it begins when [`Redundant::admitted`] says so.
    pub(crate) fn ask(&mut self, call: &Call) {
        self.locks.ask(*call, self.array.range(call));
    }

    /// The writes that may begin now, in their order.
    pub(crate) fn admitted(&mut self) -> Vec<Call> {
        self.locks.admit(|stripes| self.repair.holds(stripes))
    }

    /// The unit on which a sector lies.
    pub(crate) fn unit_of(&self, lba: Lba) -> usize {
        let data = self.array.geometry.data() as u64;
        let chunk = self.array.chunks().chunks(lba.0, 1).next();
        chunk.map_or(0, |chunk| {
            let band = Band { stripe: chunk.number / data, from: chunk.from, to: chunk.to };
            let present = |member: &usize| self.array.is_present(band.stripe, *member);
            let first = (chunk.number % data) as usize;
            let member =
                if data > 1 { first } else { (0..self.array.geometry.members()).find(present).unwrap_or(0) };
            let span = self.array.span(band, member);
            self.drives[span.drive].unit_of(Lba(span.from))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Design, ParityLayout};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const UNIT: u64 = 8;
    const ROWS: u64 = 48;

    fn declustered(drives: usize, shape: (usize, usize, usize), row_units: u64, design: Design) -> Geometry {
        Geometry::Declustered(Declustered::new(drives, shape, row_units, design))
    }

    /// Every level, in shapes of its own.
    fn geometry() -> impl Strategy<Value = Geometry> {
        let parity = |(drives, parities): (usize, usize)| {
            let rotation = Some(ParityLayout::LeftSymmetric);
            Geometry::Parity(Layout { drives: drives.max(parities + 2), parities, rotation })
        };
        let permuted = |(data, parities, spares, more, units): (usize, usize, usize, usize, u64)| {
            let width = data + parities;
            declustered(width + spares + more, (width, parities, spares), units, Design::Permuted)
        };
        let block = |(size, spares): (usize, usize)| {
            declustered(size * (size - 1) + 1, (size - spares, 1, spares), 1, Design::BlockDesign)
        };
        prop_oneof![
            (2..5usize).prop_map(|drives| Geometry::Mirror { drives }),
            (2..7usize, 2..4usize)
                .prop_map(|(drives, copies)| Geometry::Near { drives: drives.max(copies), copies }),
            (3..8usize, 1..3usize).prop_map(parity),
            (1..4usize, 1..4usize, 0..3usize, 0..4usize, 1..3u64).prop_map(permuted),
            (3..5usize, 0..2usize).prop_map(block),
        ]
    }

    /// Every member of every stripe that is there.
    fn seats(array: &Array) -> Vec<Seat> {
        let members = 0..array.geometry.members();
        (0..array.stripes)
            .flat_map(|stripe| members.clone().filter_map(move |m| array.seat(stripe, m)))
            .collect()
    }

    fn units(spans: &[Span]) -> BTreeSet<(usize, u64)> {
        spans
            .iter()
            .flat_map(|span| (span.from / UNIT..span.to / UNIT).map(|row| (span.drive, row)))
            .collect()
    }

    /// Rebuilds a failed drive step by step; each step reads what is there, enough of it, and writes what is lost.
    fn rebuild(
        array: &mut Array,
        drive: usize,
        home: Home,
        is_descending: bool,
    ) -> Result<(), TestCaseError> {
        let steps = array.stripes.div_ceil(5);
        let rebuilt = Rebuilt { step: 5, steps, is_descending, ..Rebuilt::default() };
        array.states[drive] = State::Replaced(Replacement { home, rebuilt });
        for turn in 0..steps {
            let stripes = array.stripes_of_step(drive, turn);
            let before: BTreeSet<Seat> = seats(array).into_iter().collect();
            let Reconstruction { reads, writes, .. } =
                array.reconstruct(stripes.clone(), drive, RebuildReads::Enough);
            let is_there = |&(drive, row): &(usize, u64)| before.contains(&Seat { drive, row });
            prop_assert!(units(&reads).iter().all(is_there));
            for stripe in stripes {
                let members = 0..array.geometry.members();
                let mut places = members.clone().map(|member| array.geometry.place(stripe, member));
                let lost = places.find(|seat| seat.drive == drive);
                let has_home = lost.is_some_and(|lost| array.home(stripe, lost, home).is_some());
                let of_stripe: BTreeSet<(usize, u64)> = members
                    .filter_map(|member| array.seat(stripe, member))
                    .map(|seat| (seat.drive, seat.row))
                    .collect();
                let read = units(&reads).intersection(&of_stripe).count();
                prop_assert!(!has_home || read >= array.geometry.data());
            }
            let State::Replaced(by) = &mut array.states[drive] else { unreachable!() };
            by.rebuilt.complete(turn);
            let after: BTreeSet<Seat> = seats(array).into_iter().collect();
            let new: BTreeSet<(usize, u64)> =
                after.difference(&before).map(|seat| (seat.drive, seat.row)).collect();
            prop_assert_eq!(new, units(&writes));
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        /// Whatever the level: no unit is used twice, whole, degraded and rebuilt, and with no more failures than the level
        /// survives nothing is lost.
        #[test]
        fn no_data_are_lost_or_mapped_twice(
            geometry in geometry(),
            picks in prop::collection::vec(0..100usize, 3),
            is_descending: bool,
        ) {
            let drives = geometry.drives();
            let mut array = Array::new(geometry, UNIT, ROWS, UNIT * ROWS, &[]);
            let all = array.stripes as usize * array.geometry.members();
            let whole = seats(&array);
            for drive in 0..drives {
                let counted = whole.iter().filter(|seat| seat.drive == drive).count() as u64;
                prop_assert_eq!(array.held(drive), counted * UNIT);
                // The naive twin, of every number of stripes.
                let mut held = 0;
                for stripe in 0..array.stripes {
                    prop_assert_eq!(array.held_before(drive, stripe), held);
                    let mut members = (0..array.geometry.members()).map(|member| array.geometry.place(stripe, member));
                    held += if members.any(|seat| seat.drive == drive) { UNIT } else { 0 };
                }
            }
            prop_assert_eq!(whole.len(), all);
            prop_assert_eq!(whole.into_iter().collect::<BTreeSet<_>>().len(), all);
            let mut failed: Vec<usize> = picks.iter().map(|pick| pick % drives).collect();
            failed.sort_unstable();
            failed.dedup();
            failed.truncate(array.geometry.members() - array.geometry.data());
            for &drive in &failed {
                array.states[drive] = State::Failed;
            }
            prop_assert_eq!(array.lost(), None);
            let distributed = array.geometry.distributed_spares();
            for (number, &drive) in failed.iter().enumerate() {
                let home =
                    if number < distributed { Home::Distributed(number) } else { Home::Drive(drives + number) };
                rebuild(&mut array, drive, home, is_descending)?;
                let seats = seats(&array);
                prop_assert!(seats.iter().all(|seat| !failed.contains(&seat.drive) && seat.row < ROWS));
                prop_assert_eq!(seats.iter().collect::<BTreeSet<_>>().len(), seats.len());
            }
            // Room of the array's own on another failed drive is gone with it; spare drives have room for everything.
            if distributed == 0 || failed.len() == 1 {
                prop_assert_eq!(seats(&array).len(), all);
            }
            prop_assert_eq!(array.lost(), None);
        }
    }

    #[test]
    fn what_is_lost_is_counted_by_sector() {
        let rotation = Some(ParityLayout::LeftSymmetric);
        let layout = Geometry::Parity(Layout { drives: 4, parities: 1, rotation });
        let mut array = Array::new(layout, UNIT, 8, UNIT * 8, &[0]);
        assert_eq!(array.lost(), None);
        array.states[1] = State::Failed;
        // Stripes 0 to 3 are 012P 12P0 2P01 P012: of the first two both units are data, of the others one.
        assert_eq!(array.lost(), Some((12 * UNIT, [0, 8 * 3 * UNIT - 2 * UNIT - 1])));
    }

    /// Rebuilt onto the array's own room, every stripe is on different drives again.
    #[test]
    fn a_rebuilt_array_survives_the_next_failure() {
        let layout = declustered(7, (3, 1, 1), 1, Design::Permuted);
        let mut rebuilt = Array::new(layout, UNIT, ROWS, UNIT * ROWS, &[]);
        rebuild(&mut rebuilt, 0, Home::Distributed(0), false).unwrap();
        for drive in 1..7 {
            let mut array = rebuilt.clone();
            array.states[drive] = State::Failed;
            assert_eq!(array.lost(), None, "drive {drive}");
            // The next one takes data with it.
            array.states[drive % 6 + 1] = State::Failed;
            assert!(array.lost().is_some(), "drive {drive} and the next");
        }
    }
}
