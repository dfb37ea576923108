//! What it takes to bring a head to a track.

use super::DriveModel;
use crate::mechanics::Reach;
use crate::spec::{DriveSpec, SwitchModel};
use headstack_units::{Nanos, Op};

/// The move to what cannot be reached: longer than any run.
const NEVER: Nanos = Nanos(1 << 62);

/// How moves are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    /// As the drive makes them.
    Skewed,
    /// By the seek curve alone; within a transfer the head-switch time.
    Fixed,
    /// By the seek curve alone; nothing within a transfer.
    Free,
    /// It takes a look at which heads are where.
    ByReach,
}

impl Moves {
    pub(super) fn new(spec: &DriveSpec, reach: &Reach) -> Self {
        if reach.is_ordinary() { Self::simply(spec.fidelity.switch) } else { Self::ByReach }
    }

    fn simply(switch: SwitchModel) -> Self {
        match switch {
            SwitchModel::Skewed => Self::Skewed,
            SwitchModel::Fixed => Self::Fixed,
            SwitchModel::Free => Self::Free,
        }
    }
}

impl DriveModel {
    /// The cost of bringing arm and head from one track to another before a transfer.
    #[expect(clippy::inline_always, reason = "every command comes here")]
    #[inline(always)]
    pub(crate) fn reposition(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        self.repositioned(self.moves, from, to, op)
    }

    #[expect(clippy::inline_always, reason = "every command comes here")]
    #[inline(always)]
    fn repositioned(&self, moves: Moves, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        match moves {
            Moves::Skewed => self.mechanics.reposition(from, to, op),
            Moves::Fixed | Moves::Free => self.mechanics.curve.time(from.0.abs_diff(to.0)),
            Moves::ByReach => self.reposition_by_reach(from, to, op),
        }
    }

    /// The time to change to another track in the middle of a transfer.
    #[inline]
    pub(crate) fn switch(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        match self.near_switches[op as usize].get(from.0.abs_diff(to.0) as usize) {
            Some(times) => times[usize::from(from.1 != to.1)],
            None => self.far_switch(from, to, op),
        }
    }

    /// As [`DriveModel::switch`], where it is not in the table.
    #[inline(never)]
    fn far_switch(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        if from == to { Nanos::ZERO } else { self.switched(self.moves, from, to, op) }
    }

    /// Of reads and of writes, by the distance in cylinders: the changes within a cylinder and to the next one, by the same head
    /// and by another. None where it matters which cylinders they are.
    pub(super) fn near_switches(&self) -> [Vec<[Nanos; 2]>; 2] {
        let distances = if self.moves == Moves::ByReach { 0..0 } else { 0..2 };
        [Op::Read, Op::Write].map(|op| {
            let by_heads = |cylinder| [0, 1].map(|head| self.far_switch((0, 0), (cylinder, head), op));
            distances.clone().map(by_heads).collect()
        })
    }

    #[inline]
    fn switched(&self, moves: Moves, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        match moves {
            Moves::Skewed => self.mechanics.switch(from, to, op),
            Moves::Fixed => Nanos::from_ms(self.spec.mechanics.head_switch_ms),
            Moves::Free => Nanos::ZERO,
            Moves::ByReach => self.switch_by_reach(from, to, op),
        }
    }

    #[inline(never)]
    fn reposition_by_reach(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        match self.reach.stands_over(from, to) {
            Some(true) => Nanos::ZERO,
            Some(false) => NEVER,
            None => {
                let moves = Moves::simply(self.spec.fidelity.switch);
                self.repositioned(moves, self.reach.of(from), self.reach.of(to), op)
            }
        }
    }

    #[inline(never)]
    fn switch_by_reach(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        let moves = Moves::simply(self.spec.fidelity.switch);
        self.switched(moves, self.reach.of(from), self.reach.of(to), op)
    }

    /// A track as the arm knows it.
    #[inline]
    pub(crate) fn arm_track(&self, track: (u32, u32)) -> (u32, u32) {
        if self.moves == Moves::ByReach { self.reach.of(track) } else { track }
    }

    /// No move over `distance` cylinders or more takes less than this before an operation, settle included.
    #[inline]
    pub(crate) fn move_at_least(&self, op: Op, distance: u32) -> Nanos {
        let moves = self.least_moves.get_or_init(|| [Op::Read, Op::Write].map(|op| self.shortest_moves(op)));
        let moves = &moves[usize::from(op == Op::Write)];
        Nanos(moves[(distance as usize).min(moves.len() - 1)])
    }

    fn shortest_moves(&self, op: Op) -> Vec<u64> {
        let positions = self.reach.positions(self.layout.cylinders().max(1));
        let mut moves: Vec<u64> = (0..positions)
            .map(|d| self.reposition((0, 0), (d, 0), op).min(self.reposition((d, 0), (0, 0), op)).0)
            .collect();
        if let Some(widest) = self.reach.widest_fixed() {
            moves[..=widest as usize].fill(0);
        }
        for d in (1..moves.len()).rev() {
            moves[d - 1] = moves[d - 1].min(moves[d]);
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::DriveSpec;

    /// The table says what the moves say, whichever cylinders and heads they are.
    #[test]
    fn changes_to_a_neighbour_are_as_they_are_worked_out() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives/hp-97560.toml");
        let text = std::fs::read_to_string(path).expect("a drive of the library");
        for (switch, ms) in [("skewed", "0.0"), ("skewed", "1.25"), ("fixed", "1.25"), ("free", "1.25")] {
            let set = [("fidelity.switch", switch), ("mechanics.cylinder_switch_ms", ms)]
                .map(|(path, value)| (path.to_owned(), value.to_owned()));
            let spec = DriveSpec::from_toml_with("hp-97560", &text, &set).expect("sound");
            let model = DriveModel::new(&spec).expect("sound");
            let from = (70, 4);
            for to in [(70, 4), (70, 5), (70, 0), (71, 4), (71, 0), (69, 4), (69, 18), (72, 4), (68, 3)] {
                for op in [Op::Read, Op::Write] {
                    assert_eq!(
                        model.switch(from, to, op),
                        model.far_switch(from, to, op),
                        "{switch} {to:?} {op:?}"
                    );
                }
            }
            assert_eq!(model.switch(from, from, Op::Read), Nanos::ZERO);
        }
    }
}
