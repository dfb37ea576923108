//! Waiting commands by direction and address.

use super::waiting::{Slot, Slots, Waiting};
use crate::command::Command;
use headstack_units::Op;
use std::collections::BTreeMap;

/// Waiting commands by address.
#[derive(Clone, Debug, Default)]
pub(super) struct ByAddress {
    ops: [BTreeMap<(u64, u64), Slot>; 2],
    /// Sectors of the largest command that ever waited.
    largest: u64,
}

impl ByAddress {
    pub(super) fn of(&self, op: Op) -> &BTreeMap<(u64, u64), Slot> {
        &self.ops[usize::from(op == Op::Write)]
    }

    pub(super) fn insert(&mut self, waiting: &Waiting, slot: Slot) {
        let Command { op, lba, sectors, .. } = waiting.command;
        self.ops[usize::from(op == Op::Write)].insert((lba.0, waiting.sequence), slot);
        self.largest = self.largest.max(u64::from(sectors));
    }

    pub(super) fn remove(&mut self, waiting: &Waiting) {
        let Command { op, lba, .. } = waiting.command;
        self.ops[usize::from(op == Op::Write)].remove(&(lba.0, waiting.sequence));
    }

    /// The oldest write that came before the chosen read and shares sectors with it, where reads go first.
    pub(super) fn older_write(&self, slots: &Slots, chosen: Slot) -> Option<Slot> {
        let read = &slots[chosen];
        if read.command.op != Op::Read {
            return None;
        }
        let from = read.command.lba.0.saturating_sub(self.largest);
        self.of(Op::Write)
            .range((from, 0)..(read.end(), 0))
            .filter(|((_, sequence), slot)| {
                *sequence < read.sequence && slots[**slot].end() > read.command.lba.0
            })
            .min_by_key(|((_, sequence), _)| *sequence)
            .map(|(_, &slot)| slot)
    }
}
