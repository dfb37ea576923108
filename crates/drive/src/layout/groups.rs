//! Spare sectors that a group of tracks shares, and the slipped slots they make up for.
//!
//! A zone's *slots* are all sectors of its data tracks one behind the other, spares and slips included; its *data
//! sectors* are those that remain. Groups are runs of slots of equal size (the zone's last one may be shorter), each with
//! as many spares, at its end or at its front. A slipped slot costs its group a spare, so that the data sectors of a
//! group are always as many, and a group is found by a division.

use super::divisor::Divisor;
use super::sequence::Sequence;
use crate::spec::{LayoutSpec, SpareGroup, SparesSpec, ZoneSpec};

/// The groups of one zone.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// Slots in a group.
    slots: Divisor,
    /// Data sectors in a group.
    data: Divisor,
    /// Spares in a group.
    spares: u64,
    at_front: bool,
    /// Slots of the zone.
    length: u64,
    slips: Vec<Slip>,
}

#[derive(Clone, Copy, Debug)]
struct Slip {
    slot: u64,
    /// How many slips of its group lie before it (spares at the front: behind it).
    rank: u64,
    /// Where a data sector would be, were there no slips, from which on (spares at the front: up to which) it gives way
    /// to this one: `slot − rank` (`slot + rank`). Ascends with `slot`.
    key: u64,
}

impl Groups {
    /// The groups of a zone whose data tracks have `length` slots.
    pub(super) fn new(spec: &SparesSpec, slots: u64, length: u64) -> Self {
        let mut slipped: Vec<u64> =
            spec.slipped_slots.iter().copied().filter(|&slot| slot < length).collect();
        slipped.sort_unstable();
        slipped.dedup();
        let divisor = Divisor::new(slots);
        let slips = slipped
            .iter()
            .zip(0_u64..)
            .map(|(&slot, number)| {
                let first = divisor.split(slot).0 * divisor.value();
                let within = |limit: u64| slipped.partition_point(|&other| other < limit) as u64;
                if spec.at_front {
                    let rank = within(first + divisor.value()) - number - 1;
                    Slip { slot, rank, key: slot + rank }
                } else {
                    let rank = number - within(first);
                    Slip { slot, rank, key: slot - rank }
                }
            })
            .collect();
        let spares = u64::from(spec.sectors);
        let data = Divisor::new(slots.saturating_sub(spares));
        Self { slots: divisor, data, spares, at_front: spec.at_front, length, slips }
    }

    /// The slot of a data sector, and how many data sectors from it on lie one behind the other.
    #[inline]
    pub(super) fn slot(&self, number: u64) -> (u64, u64) {
        let (group, within) = self.data.split(number);
        let first = group * self.slots.value();
        let end = self.length.min(first + self.slots.value());
        let left = end - first - self.spares - within;
        if self.at_front {
            let unslipped = first + self.spares + within;
            let next = self.slips.get(self.slips.partition_point(|slip| slip.key < unslipped));
            let back = next.filter(|slip| slip.slot < end).map_or(0, |slip| slip.rank + 1);
            let slot = unslipped - back;
            return (slot, left.min(next.map_or(u64::MAX, |slip| slip.slot - slot)));
        }
        let unslipped = first + within;
        let before = self.slips.partition_point(|slip| slip.key <= unslipped);
        let last = before.checked_sub(1).map(|last| self.slips[last]);
        let over = last.filter(|slip| slip.slot >= first).map_or(0, |slip| slip.rank + 1);
        let slot = unslipped + over;
        (slot, left.min(self.slips.get(before).map_or(u64::MAX, |slip| slip.slot - slot)))
    }

    /// How many data sectors lie in the slots before `slot`.
    #[inline]
    pub(super) fn data_before(&self, slot: u64) -> u64 {
        let slot = slot.min(self.length);
        let (group, within) = self.slots.split(slot);
        let first = group * self.slots.value();
        let slots = self.length.min(first + self.slots.value()) - first;
        let data = slots.saturating_sub(self.spares);
        let slips_before = |limit: u64| self.slips.partition_point(|slip| slip.slot < limit) as u64;
        let sound = within - (slips_before(slot) - slips_before(first));
        let here = if self.at_front {
            let all = slots - (slips_before(first + slots) - slips_before(first));
            sound.saturating_sub(all.saturating_sub(data))
        } else {
            sound.min(data)
        };
        group * self.data.value() + here
    }
}

/// How many slots share the spares.
pub(crate) fn group_slots(layout: &LayoutSpec, zone: &ZoneSpec, spares: &SparesSpec, length: u64) -> u64 {
    let track = u64::from(zone.sectors_per_track);
    match spares.per {
        SpareGroup::Track => track,
        SpareGroup::Cylinders => {
            let cylinder = Sequence::new(layout, zone).indices_per_cylinder() * track;
            cylinder * u64::from(spares.cylinders.unwrap_or(1))
        }
        SpareGroup::Zone => length,
    }
}

/// From the numbers of a zone's data sectors to its slots and back.
#[derive(Clone, Debug)]
pub(super) struct DataMap {
    /// Number of the zone's first data sector, counted over the drive.
    pub(super) first_data: u64,
    /// Its first slot, counted over the drive.
    pub(super) first_slot: u64,
    /// Data sectors at the front that hold no addresses.
    pub(super) front: u64,
    /// Data sectors that hold addresses.
    pub(super) data: u64,
    pub(super) groups: Option<Groups>,
}

impl DataMap {
    /// The map of a zone whose data tracks have `length` slots.
    pub(super) fn new(
        layout: &LayoutSpec,
        zone: &ZoneSpec,
        (first_data, first_slot): (u64, u64),
        length: u64,
    ) -> Self {
        let groups = zone
            .spares
            .as_ref()
            .map(|spares| Groups::new(spares, group_slots(layout, zone, spares, length), length));
        let held = groups.as_ref().map_or(length, |groups| groups.data_before(length));
        let front = zone.empty_sectors_at_front.min(held);
        Self { first_data, first_slot, front, data: held - front, groups }
    }

    /// Whether the zone's slots and data sectors are the same.
    pub(super) fn changes_nothing(&self) -> bool {
        self.groups.is_none() && self.front == 0
    }

    /// The slot of a data sector, both counted over the drive, and how many from it on lie one behind the other.
    #[inline]
    pub(super) fn slot(&self, data: u64) -> (u64, u64) {
        let number = data - self.first_data + self.front;
        let (slot, run) = self.groups.as_ref().map_or((number, u64::MAX), |groups| groups.slot(number));
        (self.first_slot + slot, run)
    }

    /// How many data sectors lie in the slots before `slot`, both counted over the drive.
    #[inline]
    pub(super) fn data_before(&self, slot: u64) -> u64 {
        let slot = slot - self.first_slot;
        let number = self.groups.as_ref().map_or(slot, |groups| groups.data_before(slot));
        self.first_data + number.saturating_sub(self.front)
    }
}
