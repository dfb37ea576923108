//! One address space over units that lie one after the other.

use headstack_units::Lba;

/// The part of an address space that lies on one unit (an actuator of a drive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitPart {
    unit: usize,
    /// In the host's sectors.
    sectors: u64,
    /// The drive's sectors in one of the host's…
    multiplier: u64,
    /// …or the host's in one of the drive's. One of the two is 1.
    divisor: u64,
}

impl UnitPart {
    /// A whole unit of `sectors` sectors of `drive_bytes` bytes.
    pub(crate) fn new(unit: usize, sectors: u64, drive_bytes: u32, host_bytes: u32) -> Self {
        let multiplier = u64::from(host_bytes / drive_bytes).max(1);
        let divisor = u64::from(drive_bytes / host_bytes).max(1);
        Self { unit, sectors: sectors / multiplier * divisor, multiplier, divisor }
    }

    /// Host sectors `from..end` of the part as sectors of the drive: all that are touched.
    #[inline]
    fn range(&self, from: u64, end: u64) -> UnitRange {
        if self.multiplier == self.divisor {
            return UnitRange { unit: self.unit, lba: Lba(from), sectors: (end - from) as u32 };
        }
        let first = from * self.multiplier / self.divisor;
        let end = (end * self.multiplier).div_ceil(self.divisor);
        UnitRange { unit: self.unit, lba: Lba(first), sectors: (end - first) as u32 }
    }
}

/// Sectors of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitRange {
    /// The unit.
    pub(crate) unit: usize,
    /// First sector, as the unit counts them.
    pub(crate) lba: Lba,
    /// Number of the unit's sectors.
    pub(crate) sectors: u32,
}

/// An address space over units that lie one after the other.
#[derive(Clone, Debug)]
pub(crate) struct UnitMap {
    parts: Vec<UnitPart>,
    /// Where each part ends.
    ends: Vec<u64>,
}

impl UnitMap {
    /// The address space over units, in order; there is at least one.
    pub(crate) fn new(parts: Vec<UnitPart>) -> Self {
        let end = |end: &mut u64, part: &UnitPart| {
            *end += part.sectors;
            Some(*end)
        };
        let ends = parts.iter().scan(0, end).collect();
        Self { parts, ends }
    }

    /// Several address spaces, one after the other.
    pub(crate) fn joined(maps: Vec<Self>) -> Self {
        Self::new(maps.into_iter().flat_map(|map| map.parts).collect())
    }

    /// Its size in the host's sectors.
    pub(crate) fn sectors(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Its units, in order.
    pub(crate) fn units(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|part| part.unit)
    }

    /// The unit that holds a sector.
    pub(crate) fn unit_of(&self, lba: Lba) -> usize {
        self.parts[self.part_of(lba.0)].unit
    }

    #[inline]
    fn part_of(&self, sector: u64) -> usize {
        if self.ends[0] > sector { 0 } else { self.ends.partition_point(|&end| end <= sector) }
    }

    /// What `sectors` sectors from `lba` on mean for the first unit, if all of them lie on it.
    #[inline]
    pub(crate) fn on_first(&self, lba: Lba, sectors: u32) -> Option<UnitRange> {
        let (from, end) = (lba.0, lba.0 + u64::from(sectors));
        (end <= self.ends[0]).then(|| self.parts[0].range(from, end))
    }

    /// Calls `visit` with what `sectors` sectors from `lba` on mean for each unit. They must lie within the space.
    #[inline]
    pub(crate) fn map(&self, lba: Lba, sectors: u32, mut visit: impl FnMut(UnitRange)) {
        if let Some(range) = self.on_first(lba, sectors) {
            return visit(range);
        }
        let (mut from, end) = (lba.0, lba.0 + u64::from(sectors));
        let mut index = self.part_of(from);
        while from < end {
            let part = &self.parts[index];
            let part_end = self.ends[index];
            let start = part_end - part.sectors;
            let upto = end.min(part_end);
            visit(part.range(from - start, upto - start));
            from = upto;
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(map: &UnitMap, lba: u64, sectors: u32) -> Vec<(usize, u64, u32)> {
        let mut found = Vec::new();
        map.map(Lba(lba), sectors, |range| found.push((range.unit, range.lba.0, range.sectors)));
        found
    }

    #[test]
    fn units_follow_one_another() {
        let single = |unit| UnitMap::new(vec![UnitPart::new(unit, 100, 512, 512)]);
        let map = UnitMap::joined((0..3).map(single).collect());
        assert_eq!((map.sectors(), map.unit_of(Lba(199))), (300, 1));
        assert_eq!(mapped(&map, 0, 100), [(0, 0, 100)]);
        assert_eq!(mapped(&map, 100, 1), [(1, 0, 1)]);
        assert_eq!(mapped(&map, 95, 110), [(0, 95, 5), (1, 0, 100), (2, 0, 5)]);
    }

    #[test]
    fn sector_sizes_are_converted_outwards() {
        let finer = UnitMap::new(vec![UnitPart::new(0, 101, 256, 512)]);
        assert_eq!((finer.sectors(), mapped(&finer, 3, 2)), (50, vec![(0, 6, 4)]));
        let coarser = UnitMap::new(vec![UnitPart::new(0, 10, 4096, 512)]);
        assert_eq!((coarser.sectors(), mapped(&coarser, 7, 2)), (80, vec![(0, 0, 2)]));
        assert_eq!(mapped(&coarser, 8, 8), [(0, 1, 1)]);
    }
}
