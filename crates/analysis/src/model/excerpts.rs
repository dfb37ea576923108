//! Requests of a trace that are kept as they stand, in blocks of every kind that it has.

use std::collections::BTreeMap;

use headstack_trace::Request;
use headstack_units::Op;
use serde::{Deserialize, Serialize};

use super::blocks::{Extent, Group, Middle, join};
use super::{DeviceModel, Place};

/// Requests to a block.
pub(super) const BLOCK: usize = 256;
/// At most so many are kept.
const EXCERPTS: usize = 256;

/// Consecutive requests of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excerpt {
    /// Requests of the trace before the first of these.
    pub first: u64,
    /// The requests: gap, device, direction, flags, size, place, return.
    pub samples: Vec<Sample>,
}

/// So many requests of the trace, and what stands for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The number of the excerpt.
    pub excerpt: u32,
    /// How far from those of the excerpt its streams lie, in sectors, of each device (by its place in the model's list) and of
    /// reads or writes (true). So a stream goes on where it would read the same again.
    pub shifts: Vec<(u32, bool, i64)>,
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
    pub(super) fn writes(&self) -> bool {
        self.op == Op::Write
    }

    pub(super) fn makes_sense(&self, devices: &[DeviceModel]) -> bool {
        let device = devices.get(self.device as usize);
        self.sectors > 0
            && self.gap_ns < 1 << 62
            && device.is_some_and(|device| (device.first_lba..=device.last_lba).contains(&self.lba))
    }
}

/// Keeps all blocks of a trace as long as they are few, then those that stand for the others.
#[derive(Default)]
pub(super) struct Keeper {
    requests: u64,
    last_ns: u64,
    last_lba: u64,
    current: Vec<Sample>,
    kept: Vec<Group>,
}

impl Keeper {
    pub(super) fn push(&mut self, request: &Request, place: Place) {
        let gap_ns = if self.requests == 0 { 0 } else { request.arrival.0 - self.last_ns };
        self.requests += 1;
        self.last_ns = request.arrival.0;
        self.last_lba = self.last_lba.max(request.lba.0);
        self.current.push(Sample {
            gap_ns,
            device: request.device,
            op: request.op,
            flags: request.flags.0,
            sectors: request.sectors,
            lba: request.lba.0,
            place,
        });
        if self.current.len() == BLOCK {
            self.close();
        }
    }

    fn close(&mut self) {
        let samples = std::mem::take(&mut self.current);
        let first = self.requests - samples.len() as u64;
        self.kept.push(Group::of(Excerpt { first, samples }, (first / BLOCK as u64) as u32));
        // To join many at a time takes less than one by one.
        if self.kept.len() >= 2 * EXCERPTS {
            self.join();
        }
    }

    fn join(&mut self) {
        let extent = Extent { requests: self.requests, last_lba: self.last_lba };
        self.kept = join(std::mem::take(&mut self.kept), EXCERPTS, extent);
    }

    /// The excerpts, devices by their place in the list; and for each block of the trace the one that stands for it.
    pub(super) fn finish(mut self, devices: &[DeviceModel]) -> (Vec<Excerpt>, Vec<Block>) {
        if !self.current.is_empty() {
            self.close();
        }
        self.join();
        self.kept.sort_unstable_by_key(|group| group.excerpt.first);
        let index = |number: u32| devices.partition_point(|device| device.device < number) as u32;
        let mut blocks = BTreeMap::new();
        for (excerpt, group) in (0..).zip(&self.kept) {
            let kept = (group.excerpt.first / BLOCK as u64) as u32;
            let own = group.members.iter().find(|member| member.number == kept);
            let own = own.map_or(&[][..], |member| &member.middles);
            for member in &group.members {
                let shifts = shifts(own, &member.middles);
                let shifts = shifts.map(|(device, writes, by)| (index(device), writes, by)).collect();
                blocks.insert(member.number, Block { excerpt, shifts });
            }
        }
        let mut excerpts: Vec<_> = self.kept.into_iter().map(|group| group.excerpt).collect();
        for sample in excerpts.iter_mut().flat_map(|excerpt| &mut excerpt.samples) {
            sample.device = index(sample.device);
        }
        (excerpts, blocks.into_values().collect())
    }
}

/// By how much middles of one block lie beyond those of another, where they do.
fn shifts(from: &[Middle], to: &[Middle]) -> impl Iterator<Item = (u32, bool, i64)> {
    to.iter().filter_map(|to| {
        let from = from.iter().find(|from| (from.device, from.writes) == (to.device, to.writes))?;
        Some((to.device, to.writes, from.shift_to(to)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_units::{Lba, Nanos};

    #[test]
    fn of_a_long_trace_blocks_are_kept_evenly_and_the_one_that_is_unlike_all() {
        let mut keeper = Keeper::default();
        // One block, anywhere, comes at once.
        let arrival = |number: u64| if number / 256 == 1717 { 1717 * 256 } else { number };
        for number in 0..1_000_000_u64 {
            let at = Nanos(arrival(number) * 1_000_000);
            keeper.push(&Request::new(at, Op::Read, Lba(number * 8), 1), Place::Fresh);
        }
        let (kept, blocks) = keeper.finish(&[]);
        assert_eq!((kept.len(), blocks.len()), (EXCERPTS, 3907));
        assert!(kept.iter().any(|excerpt| excerpt.first == 1717 * 256));
        assert_eq!(blocks.iter().filter(|block| block.excerpt == blocks[1717].excerpt).count(), 1);
        for (number, block) in (0_u64..).zip(&blocks) {
            let excerpt = &kept[block.excerpt as usize];
            let by: i64 = block.shifts.iter().map(|(_, _, by)| by).sum();
            let short = number + 1 == blocks.len() as u64;
            assert!(short || i128::from(by) == 8 * (i128::from(number * 256) - i128::from(excerpt.first)));
            assert!(
                excerpt.samples.iter().zip(excerpt.first..).all(|(sample, first)| sample.lba == 8 * first)
            );
            assert!(excerpt.first.abs_diff(number * 256) < 50_000, "{number}: {}", excerpt.first);
            assert!(excerpt.samples.len() == BLOCK || number + 1 == blocks.len() as u64);
        }
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
