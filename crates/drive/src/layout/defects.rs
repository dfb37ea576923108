//! Slipped and remapped sectors.
//!
//! A *raw* number counts the data sectors including the slipped ones; a logical address leaves them out.

use super::runs::Finder;
use super::zone::Zone;
use crate::spec::RemapSpec;

/// Slipped sectors, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Slips {
    raw: Vec<u64>,
    /// `raw[i] − i`: the logical address from which on i + 1 slips lie before.
    logical: Vec<u64>,
}

impl Slips {
    /// Slips at raw numbers below `end`.
    pub(super) fn new(slipped: &[u64], end: u64) -> Self {
        let mut raw: Vec<u64> = slipped.iter().copied().filter(|&raw| raw < end).collect();
        raw.sort_unstable();
        raw.dedup();
        let logical = raw.iter().zip(0_u64..).map(|(raw, before)| raw - before).collect();
        Self { raw, logical }
    }

    /// The raw number of a logical address, and the next slipped raw number after it.
    #[inline]
    pub(super) fn raw(&self, lba: u64) -> (u64, u64) {
        if self.raw.is_empty() {
            return (lba, u64::MAX);
        }
        let before = self.logical.partition_point(|&slip| slip <= lba);
        (lba + before as u64, self.raw.get(before).copied().unwrap_or(u64::MAX))
    }

    /// How many logical addresses lie at raw numbers below `raw`.
    #[inline]
    pub(super) fn logical_before(&self, raw: u64) -> u64 {
        raw - self.raw.partition_point(|&slip| slip < raw) as u64
    }

    /// Whether the raw number is slipped.
    pub(super) fn contains(&self, raw: u64) -> bool {
        self.raw.binary_search(&raw).is_ok()
    }
}

/// The place a logical sector was moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) zone: usize,
    pub(super) cylinder: u32,
    pub(super) head: u32,
    pub(super) slot: u32,
}

/// Remapped sectors.
#[derive(Clone, Debug, Default)]
pub(super) struct Remaps {
    /// Ascending logical addresses.
    lbas: Vec<u64>,
    /// Their places.
    targets: Vec<Target>,
    /// Places with what lives there, ascending.
    residents: Vec<((u32, u32, u32), u64)>,
}

impl Remaps {
    /// Remaps of addresses below `capacity`; of several for one address the first counts.
    pub(super) fn new(remaps: &[RemapSpec], zones: &[Zone], finder: &Finder, capacity: u64) -> Self {
        let mut found: Vec<(u64, Target)> = remaps
            .iter()
            .filter(|remap| remap.lba < capacity)
            .filter_map(|remap| {
                let zone = finder.zone_of(zones, remap.cylinder, remap.head)?;
                let (cylinder, head, slot) = (remap.cylinder, remap.head, remap.sector);
                Some((remap.lba, Target { zone, cylinder, head, slot }))
            })
            .collect();
        found.sort_by_key(|&(lba, _)| lba);
        found.dedup_by_key(|&mut (lba, _)| lba);
        let mut residents: Vec<_> =
            found.iter().map(|&(lba, at)| ((at.cylinder, at.head, at.slot), lba)).collect();
        residents.sort_unstable();
        let (lbas, targets) = found.into_iter().unzip();
        Self { lbas, targets, residents }
    }

    /// Whether there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.lbas.is_empty()
    }

    /// Where a logical sector was moved to.
    #[inline]
    pub(super) fn target(&self, lba: u64) -> Option<Target> {
        self.lbas.binary_search(&lba).ok().map(|at| self.targets[at])
    }

    /// How many of the `sectors` from `lba` on lie before the first remapped address above it.
    #[inline]
    pub(super) fn before_next(&self, lba: u64, sectors: u64) -> u64 {
        let next = self.lbas.get(self.lbas.partition_point(|&remapped| remapped <= lba));
        next.map_or(sectors, |next| sectors.min(next - lba))
    }

    /// The remapped sector that lives at a place.
    pub(super) fn resident(&self, cylinder: u32, head: u32, slot: u32) -> Option<u64> {
        let at = (cylinder, head, slot);
        self.residents
            .binary_search_by_key(&at, |&(place, _)| place)
            .ok()
            .map(|found| self.residents[found].1)
    }
}
