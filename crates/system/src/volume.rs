//! Volumes: one address space over one or more drives.

use headstack_units::Lba;

/// The part of a volume that lies on one unit (an actuator of a drive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    unit: usize,
    /// In the host's sectors.
    sectors: u64,
    /// The drive's sectors in one of the host's…
    multiplier: u64,
    /// …or the host's in one of the drive's. One of the two is 1.
    divisor: u64,
}

impl Part {
    /// A whole unit of `sectors` sectors of `drive_bytes` bytes.
    pub(crate) fn new(unit: usize, sectors: u64, drive_bytes: u32, host_bytes: u32) -> Self {
        let multiplier = u64::from(host_bytes / drive_bytes).max(1);
        let divisor = u64::from(drive_bytes / host_bytes).max(1);
        Self { unit, sectors: sectors / multiplier * divisor, multiplier, divisor }
    }

    /// Host sectors `from..end` of the part as sectors of the drive: all that are touched.
    #[inline]
    fn extent(&self, from: u64, end: u64) -> Extent {
        if self.multiplier == self.divisor {
            return Extent { unit: self.unit, lba: Lba(from), sectors: (end - from) as u32 };
        }
        let first = from * self.multiplier / self.divisor;
        let end = (end * self.multiplier).div_ceil(self.divisor);
        Extent { unit: self.unit, lba: Lba(first), sectors: (end - first) as u32 }
    }
}

/// What a request asks of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The unit.
    pub(crate) unit: usize,
    /// First sector, as the unit counts them.
    pub(crate) lba: Lba,
    /// Number of the unit's sectors.
    pub(crate) sectors: u32,
}

/// A volume whose units lie one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Volume {
    name: String,
    parts: Vec<Part>,
    /// Where each part ends.
    ends: Vec<u64>,
}

impl Volume {
    pub(crate) fn new(name: String, parts: Vec<Part>) -> Self {
        let mut end = 0;
        let ends = parts
            .iter()
            .map(|part| {
                end += part.sectors;
                end
            })
            .collect();
        Self { name, parts, ends }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its size in the host's sectors.
    pub(crate) fn sectors(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// What `sectors` sectors from `lba` on, which lie within the volume, mean for the one unit that holds them all, if
    /// it is the first.
    #[inline]
    pub(crate) fn in_first(&self, lba: Lba, sectors: u32) -> Option<Extent> {
        let end = lba.0 + u64::from(sectors);
        (end <= self.ends[0]).then(|| self.parts[0].extent(lba.0, end))
    }

    /// Calls `visit` with what `sectors` sectors from `lba` on mean for each unit. They must lie within the volume.
    #[inline]
    pub(crate) fn map(&self, lba: Lba, sectors: u32, mut visit: impl FnMut(Extent)) {
        let (mut from, end) = (lba.0, lba.0 + u64::from(sectors));
        let mut index =
            if self.ends[0] > from { 0 } else { self.ends.partition_point(|&part_end| part_end <= from) };
        while from < end {
            let part = &self.parts[index];
            let part_end = self.ends[index];
            let start = part_end - part.sectors;
            let upto = end.min(part_end);
            visit(part.extent(from - start, upto - start));
            from = upto;
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(volume: &Volume, lba: u64, sectors: u32) -> Vec<(usize, u64, u32)> {
        let mut found = Vec::new();
        volume.map(Lba(lba), sectors, |extent| found.push((extent.unit, extent.lba.0, extent.sectors)));
        found
    }

    #[test]
    fn units_follow_one_another() {
        let volume = Volume::new("v".into(), (0..3).map(|unit| Part::new(unit, 100, 512, 512)).collect());
        assert_eq!(volume.sectors(), 300);
        assert_eq!(mapped(&volume, 0, 100), [(0, 0, 100)]);
        assert_eq!(mapped(&volume, 100, 1), [(1, 0, 1)]);
        assert_eq!(mapped(&volume, 95, 110), [(0, 95, 5), (1, 0, 100), (2, 0, 5)]);
    }

    #[test]
    fn sector_sizes_are_converted_outwards() {
        let finer = Volume::new("v".into(), vec![Part::new(0, 101, 256, 512)]);
        assert_eq!((finer.sectors(), mapped(&finer, 3, 2)), (50, vec![(0, 6, 4)]));
        let coarser = Volume::new("v".into(), vec![Part::new(0, 10, 4096, 512)]);
        assert_eq!((coarser.sectors(), mapped(&coarser, 7, 2)), (80, vec![(0, 0, 2)]));
        assert_eq!(mapped(&coarser, 8, 8), [(0, 1, 1)]);
    }
}
