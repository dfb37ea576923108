//! Several arms over the same surfaces, and several heads on them. One head set is the last that was put to work; the other
//! arms rest where they last worked, or, in designs where several work at a time, end their work there. Heads that one arm
//! carries move together; those that stand still move not at all.
//!
//! Heads see the disk from where they stand: a sector that passes one passes another later by the angle between
//! them. So the mechanism's disk is the one that the heads put to work last see, and a change turns it by that angle.

use super::media::Still;
use super::pass::Arm;
use crate::model::DriveModel;
use crate::spec::{Carrier, HeadSet};
use headstack_units::{Angle, Nanos};

/// A head set. Of the one at work the mechanism knows where it is and when it is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stand {
    /// Its place around the spindle, in the direction of rotation.
    angle: Angle,
    /// What carries it.
    carrier: Carrier,
    /// The first and the last cylinder under it, if it stands still.
    fixed: Option<(u32, u32)>,
    /// Where it rests, and since when.
    arm: Arm,
    free_at: Nanos,
    /// Out of use from here on, and whether it is.
    ends: Nanos,
    is_out: bool,
}

/// The head sets in use, by number: those of the first arm, then those of the next; last those that stand still.
#[derive(Clone, Debug)]
pub(super) struct Arms {
    stands: Vec<Stand>,
    at_work: usize,
}

/// A head set, as seen from the one put to work last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other {
    /// Its position in the list of those in use.
    pub(crate) index: usize,
    pub(crate) carrier: Carrier,
    pub(crate) rests: Rests,
    /// Free from here on, where several work at a time.
    pub(crate) free_at: Nanos,
    /// A sector passes it later by so much.
    pub(crate) later: Angle,
}

/// Where an arm rests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rests {
    /// Where the heads put to work last are: it carries them.
    Here,
    At(Arm),
    /// There, unless the heads put to work last, which stand still and have this number, went on to cylinders that are not under
    /// them: then it took over, and is here.
    UnlessLeft(u32, Arm),
}

impl Arms {
    /// All over the same track, the first at work.
    pub(super) fn new(model: &DriveModel, arm: Arm) -> Self {
        let stand = |((&angle, &ends), set): ((&Angle, &Nanos), &HeadSet)| {
            let carrier = set.carrier;
            let fixed = match carrier {
                Carrier::Arm(_) => None,
                Carrier::Fixed(number) => Some(model.reach.fixed_over(number).into_inner()),
            };
            Stand { angle, carrier, fixed, arm, free_at: Nanos::ZERO, ends, is_out: false }
        };
        let places = model.arm_angles.iter().zip(&model.arm_ends).zip(&model.head_sets);
        Self { stands: places.map(stand).collect(), at_work: 0 }
    }

    /// Whether everything to come is the same with `other`. Where the arm at work last rested is written over when it rests.
    pub(super) fn has_same_future(&self, other: &Self) -> bool {
        let Self { stands, at_work } = self;
        let same = |(one, two): (&Stand, &Stand)| {
            let rests = if one.carrier == stands[*at_work].carrier { one } else { two };
            *one == Stand { arm: rests.arm, free_at: rests.free_at, ..*two }
        };
        *at_work == other.at_work
            && stands.len() == other.stands.len()
            && stands.iter().zip(&other.stands).all(same)
    }

    /// Which is at work.
    pub(super) fn at_work(&self) -> usize {
        self.at_work
    }

    /// Whether one of them stands still.
    pub(super) fn stands_still(&self, index: usize) -> bool {
        self.stands[index].fixed.is_some()
    }

    /// Those that have failed by `now` are out of use from here on.
    pub(super) fn retire(&mut self, now: Nanos) {
        for stand in &mut self.stands {
            stand.is_out |= stand.ends <= now;
        }
    }

    /// Each of them that is in use; the one put to work last is free at `free_at`.
    pub(super) fn all(&self, free_at: Nanos) -> impl Iterator<Item = Other> + '_ {
        let here = self.stands[self.at_work];
        let takes_over = self.takes_over();
        let in_use = |(_, stand): &(usize, &Stand)| !stand.is_out;
        self.stands.iter().enumerate().filter(in_use).map(move |(index, stand)| {
            let rests = match here.carrier {
                carrier if carrier == stand.carrier => Rests::Here,
                Carrier::Fixed(number) if takes_over == Some(stand.carrier) => {
                    Rests::UnlessLeft(number, stand.arm)
                }
                _ => Rests::At(stand.arm),
            };
            let free_at = if here.carrier == stand.carrier { free_at } else { stand.free_at };
            Other { index, carrier: stand.carrier, rests, free_at, later: stand.angle - here.angle }
        })
    }

    /// The heads that go on where those that stand still cannot: of the first arm in use the first in use.
    fn next_heads(&self) -> Option<&Stand> {
        self.stands.iter().find(|stand| !stand.is_out && stand.fixed.is_none())
    }

    /// The arm that carries them.
    fn takes_over(&self) -> Option<Carrier> {
        self.next_heads().map(|stand| stand.carrier)
    }

    /// The heads at work, if they stand still.
    #[cold]
    pub(super) fn still(&self) -> Option<Still> {
        let here = &self.stands[self.at_work];
        let later = |next: &Stand| next.angle - here.angle;
        here.fixed.map(|over| Still { over, later: self.next_heads().map_or(Angle::ZERO, later) })
    }

    /// From which cylinder an arm moves where the heads at work go from one track to another: heads that stand still go nowhere, and
    /// where they cannot go on an arm does, from where it rests.
    #[inline]
    pub(super) fn sets_out(&self, from: Arm, to: Arm) -> u32 {
        let here = &self.stands[self.at_work];
        let Some((first, last)) = here.fixed else { return from.cylinder };
        let is_over = |arm: Arm| (first..=last).contains(&arm.cylinder);
        match (is_over(from), is_over(to), self.next_heads()) {
            (_, true, _) => to.cylinder,
            (true, false, Some(next)) => next.arm.cylinder,
            (true, false, None) | (false, false, _) => from.cylinder,
        }
    }

    /// From when on all of them are free, whether in use or not: when it is that an arm was found to be out of use changes
    /// nothing. The one put to work last is free at `free_at`.
    pub(super) fn last_free(&self, free_at: Nanos) -> Nanos {
        let at_work = self.stands[self.at_work].carrier;
        let others = self.stands.iter().filter(|stand| stand.carrier != at_work);
        others.map(|stand| stand.free_at).fold(free_at, Nanos::max)
    }

    /// The heads at work are through at `free_at`, over the track where they `rest`, and others go to work: where those are, since
    /// when they are free, and by how much later sectors pass them.
    pub(super) fn change(&mut self, rest: Arm, free_at: Nanos, to: usize) -> (Arm, Nanos, Angle) {
        let from = self.stands[self.at_work];
        self.settle(from.carrier, |stand| (stand.arm, stand.free_at) = (rest, free_at));
        if let Some((first, last)) = from.fixed
            && !(first..=last).contains(&rest.cylinder)
            && let Some(arm) = self.takes_over()
        {
            self.settle(arm, |stand| (stand.arm, stand.free_at) = (rest, stand.free_at.max(free_at)));
        }
        self.at_work = to;
        let stand = self.stands[to];
        (stand.arm, stand.free_at, stand.angle - from.angle)
    }

    /// All heads that something carries.
    fn settle(&mut self, carrier: Carrier, to: impl Fn(&mut Stand)) {
        self.stands.iter_mut().filter(|stand| stand.carrier == carrier).for_each(to);
    }

    /// None of them is free before `at`.
    pub(super) fn hold_until(&mut self, at: Nanos) {
        for stand in &mut self.stands {
            stand.free_at = stand.free_at.max(at);
        }
    }

    /// Their work ends at another time.
    pub(super) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        for stand in &mut self.stands {
            stand.free_at = moved(stand.free_at);
        }
    }
}
