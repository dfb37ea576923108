//! A command that waits, and where it wants to go.

use crate::command::Command;
use crate::layout::Extent;
use crate::model::DriveModel;
use headstack_units::{Angle, Nanos, Op};
use std::ops::{Index, IndexMut};

/// A command that waits to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The command.
    pub command: Command,
    /// Ascending in order of arrival at this queue.
    pub sequence: u64,
    /// When it came.
    pub arrived: Nanos,
    /// Where its first sector is; all zero where the scheduler does not know the layout.
    pub target: Target,
}

impl Waiting {
    /// The address after its last sector.
    pub fn end(&self) -> u64 {
        self.command.lba.0 + u64::from(self.command.sectors)
    }
}

/// The place of a command's first sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Physical cylinder; where each head on an arm has its own, the arm's position.
    pub cylinder: u32,
    /// Head that reaches it there.
    pub head: u32,
    /// The angle at which the sector begins.
    pub start: Angle,
    /// Angular width of a sector.
    pub slot_width: Angle,
}

impl Target {
    /// Of a command on a drive. A write that covers part of a physical sector begins with reading that.
    pub fn of(model: &DriveModel, command: &Command) -> Self {
        match command.op {
            Op::Read => Self::over(model, &model.layout.extent(command.lba.0, 1)),
            Op::Write => Self::at(model, command.lba.0),
        }
    }

    /// Of a transfer whose media work begins with an extent.
    pub(crate) fn of_extent(model: &DriveModel, extent: &Extent, op: Op) -> Self {
        match op {
            Op::Read => Self::over(model, extent),
            Op::Write => Self::at(model, extent.lba),
        }
    }

    /// Of a write that begins at `lba`.
    pub(crate) fn at(model: &DriveModel, lba: u64) -> Self {
        Self::over(model, &model.layout.extent(lba - lba % model.sizes.physical, 1))
    }

    fn over(model: &DriveModel, extent: &Extent) -> Self {
        let (cylinder, head) = model.arm_track((extent.cylinder, extent.head));
        Self { cylinder, head, start: extent.start, slot_width: extent.slot_width }
    }
}

/// Number of a waiting command while it waits.
pub(super) type Slot = u32;

/// The waiting commands under numbers that stay valid until they are removed.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    waiting: Vec<Waiting>,
    free: Vec<Slot>,
    /// All numbers in use, bit by bit without carry: where one is, it is that.
    in_use: Slot,
    /// A bit for each number: set where it is in use.
    bits: Vec<u64>,
}

impl Slots {
    /// Keeps a command; its number.
    ///
    /// # Panics
    /// Beyond 2^32 commands.
    pub(super) fn insert(&mut self, waiting: Waiting) -> Slot {
        if let Some(slot) = self.free.pop() {
            self.waiting[slot as usize] = waiting;
            self.turn_over(slot);
            return slot;
        }
        let slot = Slot::try_from(self.waiting.len()).expect("fewer than 2^32 commands wait");
        self.waiting.push(waiting);
        self.bits.resize(self.waiting.len().div_ceil(64), 0);
        self.turn_over(slot);
        slot
    }

    /// A number comes into use, or goes out of it.
    #[inline]
    fn turn_over(&mut self, slot: Slot) {
        self.in_use ^= slot;
        self.bits[slot as usize / 64] ^= 1 << (slot % 64);
    }

    /// Takes a command out.
    pub(super) fn remove(&mut self, slot: Slot) -> Waiting {
        self.free.push(slot);
        self.turn_over(slot);
        self.waiting[slot as usize]
    }

    /// The number of the only one.
    pub(super) fn only(&self) -> Option<Slot> {
        (self.len() == 1).then_some(self.in_use)
    }

    /// All that are kept, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting> + Clone {
        self.numbers().map(|slot| &self[slot])
    }

    /// The number of one that is looked for.
    pub(super) fn position(&self, is_it: impl Fn(&Waiting) -> bool) -> Option<Slot> {
        self.numbers().find(|&slot| is_it(&self[slot]))
    }

    /// The numbers in use, ascending.
    fn numbers(&self) -> impl Iterator<Item = Slot> + Clone + '_ {
        let less_lowest = |bits: &u64| Some(bits & (bits - 1)).filter(|&bits| bits != 0);
        (0..).zip(&self.bits).flat_map(move |(word, &bits): (Slot, _)| {
            std::iter::successors(Some(bits).filter(|&bits| bits != 0), less_lowest)
                .map(move |bits| word * 64 + bits.trailing_zeros())
        })
    }

    /// How many are kept.
    pub(super) fn len(&self) -> usize {
        self.waiting.len() - self.free.len()
    }
}

impl Index<Slot> for Slots {
    type Output = Waiting;
    fn index(&self, slot: Slot) -> &Waiting {
        &self.waiting[slot as usize]
    }
}

impl IndexMut<Slot> for Slots {
    fn index_mut(&mut self, slot: Slot) -> &mut Waiting {
        &mut self.waiting[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_units::{Lba, Op, RequestFlags};
    use proptest::prelude::*;

    fn waiting(id: u64) -> Waiting {
        let command = Command { id, op: Op::Read, lba: Lba(id), sectors: 1, flags: RequestFlags::default() };
        Waiting { command, sequence: id, arrived: Nanos::ZERO, target: Target::default() }
    }

    proptest! {
        #[test]
        fn the_only_one_is_found(steps in prop::collection::vec(any::<Option<u8>>(), 1..60)) {
            let (mut slots, mut twin) = (Slots::default(), Vec::new());
            for (id, step) in (0..).zip(steps) {
                match step {
                    Some(which) if !twin.is_empty() => {
                        slots.remove(twin.swap_remove(usize::from(which) % twin.len()));
                    }
                    _ => twin.push(slots.insert(waiting(id))),
                }
                prop_assert_eq!(slots.only(), if let [only] = twin[..] { Some(only) } else { None });
            }
        }
    }
}
