//! Reads that the buffer could serve.

use super::candidates::{Best, Prospect};
use super::order::Choice;
use super::waiting::{Slot, Waiting};
use crate::command::Command;
use headstack_units::{Nanos, Op};
use std::collections::BTreeMap;

/// So many reads are looked for in what is buffered; of more, what is buffered is looked for among them.
const FEW: usize = 16;

/// Waiting reads by address.
///
/// Cache-aware schedulers (SPCTF of Worthington, Ganger & Patt 1994) know what lies in the buffer: such a read needs no
/// positioning at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Hits(BTreeMap<(u64, u64), Slot>);

/// Whether what is buffered can serve a command.
fn may_be_hit(command: &Command) -> bool {
    command.op == Op::Read && !command.is_forced_read()
}

impl Hits {
    pub(super) fn insert(&mut self, waiting: &Waiting, slot: Slot) {
        if may_be_hit(&waiting.command) {
            self.0.insert((waiting.command.lba.0, waiting.sequence), slot);
        }
    }

    pub(super) fn remove(&mut self, waiting: &Waiting) {
        if may_be_hit(&waiting.command) {
            self.0.remove(&(waiting.command.lba.0, waiting.sequence));
        }
    }

    /// The best of the reads that lie whole in one of the buffered ranges, or go on with what is being read ahead.
    pub(super) fn best(&self, choice: &Choice<'_>, cost: &impl Fn(&Prospect) -> u128) -> Best {
        let mut best = Best::NONE;
        let mut consider = |sequence: u64, slot: Slot| {
            let arrived = choice.slots[slot].arrived;
            let prospect = Prospect { start: choice.now, transfer: Nanos::ZERO, arrived };
            best = best.min(Best { cost: cost(&prospect), sequence, slot, arm: 0 });
        };
        if self.0.len() <= FEW {
            for (&(lba, sequence), &slot) in &self.0 {
                let read = lba..choice.slots[slot].end();
                if choice.buffered.iter().any(|&(start, end)| start <= read.start && read.end <= end) {
                    consider(sequence, slot);
                }
            }
        } else {
            for &(start, end) in choice.buffered {
                for (&(_, sequence), &slot) in self.0.range((start, 0)..(end, 0)) {
                    if choice.slots[slot].end() <= end {
                        consider(sequence, slot);
                    }
                }
            }
        }
        if let Some((start, front)) = choice.read_on {
            for (&(_, sequence), &slot) in self.0.range((start, 0)..=(front, u64::MAX)) {
                consider(sequence, slot);
            }
        }
        best
    }
}
