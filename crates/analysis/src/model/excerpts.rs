//! Requests of a trace that are kept as they stand, in blocks evenly over it.

use headstack_trace::Request;
use headstack_units::Op;
use serde::{Deserialize, Serialize};

use super::{DeviceModel, Place};

/// Requests to a block.
const BLOCK: usize = 1024;
/// At most so many blocks.
const BLOCKS: usize = 64;

/// Consecutive requests of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excerpt {
    /// Requests of the trace before the first of these.
    pub first: u64,
    /// The requests: gap, device, direction, flags, size, place, return.
    pub samples: Vec<Sample>,
}

/// A request of the original.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Sample {
    /// Time since the request before, ns.
    pub gap_ns: u64,
    /// The device, by its place in the model's list.
    pub device: u32,
    /// Read or write.
    pub op: Op,
    /// Its marks, as the bits of [`headstack_trace::RequestFlags`].
    pub flags: u16,
    /// Size.
    pub sectors: u32,
    /// Where it begins.
    pub lba: u64,
    /// Whether an earlier one began there.
    pub place: Place,
}

/// A sample as it stands in a file, without names: gap in ns, device, 1 for a write, flags, sectors, LBA, and 0, 1 or 2 for a place that
/// is new, that was there before, or that was not followed.
type Row = (u64, u32, u8, u16, u32, u64, u8);

impl From<Row> for Sample {
    fn from((gap_ns, device, write, flags, sectors, lba, place): Row) -> Self {
        let place = match place {
            0 => Place::Fresh,
            1 => Place::Again,
            _ => Place::Unknown,
        };
        Self { gap_ns, device, op: if write == 0 { Op::Read } else { Op::Write }, flags, sectors, lba, place }
    }
}

impl From<Sample> for Row {
    fn from(sample: Sample) -> Self {
        let place = match sample.place {
            Place::Fresh => 0,
            Place::Again => 1,
            Place::Unknown => 2,
        };
        (
            sample.gap_ns,
            sample.device,
            u8::from(sample.op == Op::Write),
            sample.flags,
            sample.sectors,
            sample.lba,
            place,
        )
    }
}

impl Sample {
    pub(super) fn makes_sense(&self, devices: &[DeviceModel]) -> bool {
        let device = devices.get(self.device as usize);
        self.sectors > 0
            && self.gap_ns < 1 << 62
            && device.is_some_and(|device| (device.first_lba..=device.last_lba).contains(&self.lba))
    }
}

/// Keeps every block, then every second, every fourth, …
#[derive(Default)]
pub(super) struct Keeper {
    requests: u64,
    /// Blocks are kept whose number is a multiple of 2^level.
    level: u32,
    kept: Vec<Excerpt>,
}

impl Keeper {
    pub(super) fn push(&mut self, request: &Request, place: Place) {
        let (block, within) = (self.requests / BLOCK as u64, self.requests % BLOCK as u64);
        let first = self.requests;
        self.requests += 1;
        if within == 0 && self.kept.len() == BLOCKS && self.keeps(block) {
            self.level += 1;
            let level = self.level;
            self.kept.retain(|excerpt| (excerpt.first / BLOCK as u64).is_multiple_of(1 << level));
        }
        if !self.keeps(block) {
            return;
        }
        if within == 0 {
            self.kept.push(Excerpt { first, samples: Vec::with_capacity(BLOCK) });
        }
        let sample = Sample {
            gap_ns: 0,
            device: request.device,
            op: request.op,
            flags: request.flags.0,
            sectors: request.sectors,
            lba: request.lba.0,
            place,
        };
        if let Some(excerpt) = self.kept.last_mut() {
            excerpt.samples.push(sample);
        }
    }

    fn keeps(&self, block: u64) -> bool {
        block.is_multiple_of(1 << self.level)
    }

    /// The excerpts, with the gaps before each request of the trace, and devices by their place in the list.
    pub(super) fn finish(self, arrivals: &[u64], devices: &[DeviceModel]) -> Vec<Excerpt> {
        let mut kept = self.kept;
        for excerpt in &mut kept {
            for (sample, number) in excerpt.samples.iter_mut().zip(excerpt.first as usize..) {
                sample.gap_ns = number.checked_sub(1).map_or(0, |before| arrivals[number] - arrivals[before]);
                sample.device = devices.partition_point(|device| device.device < sample.device) as u32;
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_units::{Lba, Nanos};

    #[test]
    fn a_long_trace_is_kept_in_blocks_evenly_over_it() {
        let mut keeper = Keeper::default();
        for number in 0..1_000_000_u64 {
            keeper.push(&Request::new(Nanos(number), Op::Read, Lba(number), 1), Place::Fresh);
        }
        let kept = &keeper.kept;
        assert!((BLOCKS / 2..=BLOCKS).contains(&kept.len()), "{}", kept.len());
        let step = kept[1].first;
        for (number, excerpt) in kept.iter().enumerate() {
            assert_eq!(excerpt.first, step * number as u64);
            assert!(excerpt.samples.iter().zip(excerpt.first..).all(|(sample, lba)| sample.lba == lba));
            assert!(excerpt.samples.len() == BLOCK || number + 1 == kept.len());
        }
        assert!(kept[kept.len() - 1].first + step >= 1_000_000);
    }

    #[test]
    fn a_sample_is_the_same_after_a_file() {
        let sample =
            Sample { gap_ns: 5, device: 1, op: Op::Write, flags: 4, sectors: 8, lba: 9, place: Place::Again };
        let row = Row::from(sample);
        assert_eq!(row, (5, 1, 1, 4, 8, 9, 1));
        assert_eq!(Sample::from(row), sample);
    }
}
