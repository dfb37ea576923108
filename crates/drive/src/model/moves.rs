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
    #[inline]
    pub(crate) fn reposition(&self, from: (u32, u32), to: (u32, u32), op: Op) -> Nanos {
        self.repositioned(self.moves, from, to, op)
    }

    #[inline]
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
        self.switched(self.moves, from, to, op)
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
