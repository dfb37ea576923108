//! Several arms over the same surfaces. One is at work; the others rest where they last worked.
//!
//! An arm sees the disk from where it stands: a sector that passes one arm passes another later by the angle between
//! them. So the mechanism's disk is the one that the arm at work sees, and a change of arms turns it by that angle.

use super::pass::Arm;
use headstack_units::Angle;

/// An arm assembly.
#[derive(Clone, Copy, Debug)]
struct Stand {
    /// Its place around the spindle, in the direction of rotation.
    angle: Angle,
    /// Where it rests; of the arm at work the mechanism knows.
    arm: Arm,
}

/// The arms in use, by number.
#[derive(Clone, Debug)]
pub(super) struct Arms {
    stands: Vec<Stand>,
    at_work: usize,
}

/// An arm, as seen from the one at work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other {
    /// Where it rests; `None` for the one at work.
    pub(crate) rests: Option<Arm>,
    /// A sector passes it later by so much.
    pub(crate) later: Angle,
}

impl Arms {
    /// All over the same track, the first at work.
    pub(super) fn new(angles: &[Angle], arm: Arm) -> Self {
        Self { stands: angles.iter().map(|&angle| Stand { angle, arm }).collect(), at_work: 0 }
    }

    /// Which is at work.
    pub(super) fn at_work(&self) -> usize {
        self.at_work
    }

    /// Each of them.
    pub(super) fn all(&self) -> impl Iterator<Item = Other> + '_ {
        let here = self.stands[self.at_work].angle;
        self.stands.iter().enumerate().map(move |(index, stand)| Other {
            rests: (index != self.at_work).then_some(stand.arm),
            later: stand.angle - here,
        })
    }

    /// The arm at work rests where it is, and another goes to work: where that one is, and by how much later sectors pass it.
    pub(super) fn change(&mut self, rests: Arm, to: usize) -> (Arm, Angle) {
        let from = &mut self.stands[self.at_work];
        from.arm = rests;
        let here = from.angle;
        self.at_work = to;
        let Stand { angle, arm } = self.stands[to];
        (arm, angle - here)
    }
}
