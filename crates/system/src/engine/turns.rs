//! Which drive gets the next command, where a controller takes only so many for all of them together.

use std::collections::BTreeSet;

use headstack_units::{Nanos, Op};

use super::Engine;

/// A waiting command's place: reads first where the driver puts them first, then in order of arrival.
pub(super) type Turn = (bool, u64);

/// The commands outstanding on a bus that takes only so many.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    limit: u32,
    outstanding: u32,
    /// Commands that wait in the driver, and their units.
    waiting: BTreeSet<(Turn, usize)>,
    reads_first: bool,
}

impl Turns {
    pub(super) fn new(limit: u32, reads_first: bool) -> Self {
        Self { limit, outstanding: 0, waiting: BTreeSet::new(), reads_first }
    }

    /// A command waits; its place.
    pub(super) fn enter(&mut self, sequence: u64, op: Op, unit: usize) -> Turn {
        let turn = (self.reads_first && op == Op::Write, sequence);
        self.waiting.insert((turn, unit));
        turn
    }

    /// It waits no more.
    pub(super) fn leave(&mut self, turn: Turn, unit: usize) {
        self.waiting.remove(&(turn, unit));
    }
}

impl Engine {
    /// Whether the controller of a unit takes one more command.
    pub(super) fn has_slot(&self, index: usize) -> bool {
        let turns = &self.turns[self.units[index].bus];
        turns.as_ref().is_none_or(|turns| turns.outstanding < turns.limit)
    }

    pub(super) fn take_slot(&mut self, index: usize) {
        if let Some(turns) = &mut self.turns[self.units[index].bus] {
            turns.outstanding += 1;
        }
    }

    pub(super) fn free_slot(&mut self, index: usize) {
        if let Some(turns) = &mut self.turns[self.units[index].bus] {
            turns.outstanding -= 1;
        }
    }

    /// A unit's controller may have become free for another command: of this unit, or of one whose turn is first.
    pub(super) fn pump_by_turns(&mut self, now: Nanos, index: usize) {
        let bus = self.units[index].bus;
        while self.has_slot(index) {
            let Some(turns) = &self.turns[bus] else { break };
            let first = turns.waiting.iter().find(|(_, unit)| self.is_ready(*unit)).map(|(_, unit)| *unit);
            if !first.is_some_and(|unit| self.pump_one(now, unit)) {
                return;
            }
        }
    }
}
