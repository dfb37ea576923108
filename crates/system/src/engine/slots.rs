//! Which drive gets the next command, where a controller takes only so many for all of them together.

use std::collections::BTreeSet;

use headstack_drive::scheduler::Policy;
use headstack_units::Nanos;

use super::Engine;
use crate::layer::Piece;

/// A waiting command's place: those of rebuilds last, first those that the driver puts first, then in order of arrival.
pub(super) type Place = (bool, usize, u64);

/// The commands outstanding on a bus that takes only so many.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    limit: u32,
    outstanding: u32,
    /// Commands that wait in the driver, and their units.
    waiting: BTreeSet<(Place, usize)>,
    policy: Policy,
}

impl Slots {
    pub(super) fn new(limit: u32, policy: Policy) -> Self {
        Self { limit, outstanding: 0, waiting: BTreeSet::new(), policy }
    }

    /// A command waits; its place.
    pub(super) fn enter(&mut self, sequence: u64, piece: &Piece, unit: usize) -> Place {
        let place = (piece.background, self.policy.class(piece.op, piece.flags), sequence);
        self.waiting.insert((place, unit));
        place
    }

    /// It waits no more.
    pub(super) fn leave(&mut self, place: Place, unit: usize) {
        self.waiting.remove(&(place, unit));
    }
}

impl Engine {
    /// Whether the controller of a unit takes one more command.
    pub(super) fn has_slot(&self, index: usize) -> bool {
        let slots = &self.slots[self.units[index].bus];
        slots.as_ref().is_none_or(|slots| slots.outstanding < slots.limit)
    }

    pub(super) fn take_slot(&mut self, index: usize) {
        if let Some(slots) = &mut self.slots[self.units[index].bus] {
            slots.outstanding += 1;
        }
    }

    pub(super) fn free_slot(&mut self, index: usize) {
        if let Some(slots) = &mut self.slots[self.units[index].bus] {
            slots.outstanding -= 1;
        }
    }

    /// A unit's controller may have become free for another command: of this unit, or of one whose turn is first.
    pub(super) fn pump_by_turns(&mut self, now: Nanos, index: usize) {
        let bus = self.units[index].bus;
        while self.has_slot(index) {
            let Some(slots) = &self.slots[bus] else { break };
            let first = slots.waiting.iter().find(|(_, unit)| self.is_ready(*unit)).map(|(_, unit)| *unit);
            if !first.is_some_and(|unit| self.pump_one(now, unit)) {
                return;
            }
        }
    }
}
