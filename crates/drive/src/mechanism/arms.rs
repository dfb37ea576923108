//! Several arms over the same surfaces. One is the last that was put to work; the others rest where they last worked, or, in
//! designs where several work at a time, end their work there.
//!
//! An arm sees the disk from where it stands: a sector that passes one arm passes another later by the angle between
//! them. So the mechanism's disk is the one that the arm put to work last sees, and a change of arms turns it by that angle.

use super::pass::Arm;
use headstack_units::{Angle, Nanos};

/// An arm assembly. Of the one at work the mechanism knows where it is and when it is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stand {
    /// Its place around the spindle, in the direction of rotation.
    angle: Angle,
    /// Where it rests, and since when.
    arm: Arm,
    free_at: Nanos,
    /// Out of use from here on, and whether it is.
    ends: Nanos,
    is_out: bool,
}

/// The arms in use, by number.
#[derive(Clone, Debug)]
pub(super) struct Arms {
    stands: Vec<Stand>,
    at_work: usize,
}

/// An arm, as seen from the one put to work last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other {
    /// Its position in the list of those in use.
    pub(crate) index: usize,
    /// Where it rests; `None` for the one at work.
    pub(crate) rests: Option<Arm>,
    /// Free from here on, where several work at a time.
    pub(crate) free_at: Nanos,
    /// A sector passes it later by so much.
    pub(crate) later: Angle,
}

impl Arms {
    /// All over the same track, the first at work.
    pub(super) fn new(angles: &[Angle], ends: &[Nanos], arm: Arm) -> Self {
        let stand = |(&angle, &ends)| Stand { angle, arm, free_at: Nanos::ZERO, ends, is_out: false };
        Self { stands: angles.iter().zip(ends).map(stand).collect(), at_work: 0 }
    }

    /// Whether everything to come is the same with `other`. Where the one at work last rested is written over when it rests.
    pub(super) fn has_same_future(&self, other: &Self) -> bool {
        let Self { stands, at_work } = self;
        let same = |(index, (one, two)): (usize, (&Stand, &Stand))| {
            let rests = if index == *at_work { one } else { two };
            *one == Stand { arm: rests.arm, free_at: rests.free_at, ..*two }
        };
        *at_work == other.at_work
            && stands.len() == other.stands.len()
            && stands.iter().zip(&other.stands).enumerate().all(same)
    }

    /// Which is at work.
    pub(super) fn at_work(&self) -> usize {
        self.at_work
    }

    /// Those that have failed by `now` are out of use from here on.
    pub(super) fn retire(&mut self, now: Nanos) {
        for stand in &mut self.stands {
            stand.is_out |= stand.ends <= now;
        }
    }

    /// Each of them that is in use; the one put to work last is free at `free_at`.
    pub(super) fn all(&self, free_at: Nanos) -> impl Iterator<Item = Other> + '_ {
        let here = self.stands[self.at_work].angle;
        let in_use = |(_, stand): &(usize, &Stand)| !stand.is_out;
        self.stands.iter().enumerate().filter(in_use).map(move |(index, stand)| {
            let rests = (index != self.at_work).then_some(stand.arm);
            let free_at = if rests.is_some() { stand.free_at } else { free_at };
            Other { index, rests, free_at, later: stand.angle - here }
        })
    }

    /// From when on all of them are free, whether in use or not: when it is that an arm was found to be out of use changes
    /// nothing. The one put to work last is free at `free_at`.
    pub(super) fn last_free(&self, free_at: Nanos) -> Nanos {
        let others = self.stands.iter().enumerate().filter(|&(index, _)| index != self.at_work);
        others.map(|(_, stand)| stand.free_at).fold(free_at, Nanos::max)
    }

    /// The arm at work is through at `free_at` where it `rests`, and another goes to work: where that one is, since when, and by
    /// how much later sectors pass it.
    pub(super) fn change(&mut self, rests: Arm, free_at: Nanos, to: usize) -> (Arm, Nanos, Angle) {
        let from = &mut self.stands[self.at_work];
        (from.arm, from.free_at) = (rests, free_at);
        let here = from.angle;
        self.at_work = to;
        let stand = self.stands[to];
        (stand.arm, stand.free_at, stand.angle - here)
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
