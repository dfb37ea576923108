//! Which of several copies is read.

use super::{Below, UnitMap};
use crate::spec::ReadChoice;
use headstack_units::Lba;

/// A place where the sectors of a read are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy<'a> {
    pub(crate) drive: &'a UnitMap,
    pub(crate) lba: Lba,
}

/// Chooses among copies.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    choice: ReadChoice,
    /// Reads so far.
    turn: usize,
}

impl Chooser {
    pub(crate) fn new(choice: ReadChoice) -> Self {
        Self { choice, turn: 0 }
    }

    /// The number of the copy to read `sectors` sectors from; there is at least one.
    pub(crate) fn choose(&mut self, copies: &[Copy<'_>], sectors: u32, below: &dyn Below) -> usize {
        let cheapest = |cost: &dyn Fn(&Copy<'_>) -> (u64, u64)| {
            (0..copies.len()).min_by_key(|&index| cost(&copies[index])).unwrap_or(0)
        };
        match self.choice {
            ReadChoice::First => 0,
            ReadChoice::LeastBusy => cheapest(&|copy| cost(copy, sectors, below)),
            ReadChoice::Nearest => cheapest(&|copy| {
                let (load, distance) = cost(copy, sectors, below);
                (distance, load)
            }),
            ReadChoice::RoundRobin => {
                self.turn += 1;
                (self.turn - 1) % copies.len()
            }
        }
    }
}

/// Commands at the busiest actuator concerned, and how far the arm is away on which the read begins.
fn cost(copy: &Copy<'_>, sectors: u32, below: &dyn Below) -> (u64, u64) {
    let (mut load, mut distance) = (0, None);
    copy.drive.map(copy.lba, sectors, |range| {
        load = below.load(range.unit).max(load);
        distance.get_or_insert(below.last_end(range.unit).abs_diff(range.lba.0));
    });
    (load, distance.unwrap_or(0))
}
