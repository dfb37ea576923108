//! Parity declustering: stripes of `width` members over more drives than that, with room for failed drives among them.
//!
//! Stripes come in groups: all stripes of a group lie on the same drives, one behind the other, for `row_units` stripe units of
//! each. Which drives those are is told by one of two designs:
//! - *permuted*, as OpenZFS's dRAID does it: groups go round the columns of a table, whose columns are the drives in a new order
//!   for each slice of whole groups; the last columns are room for failed drives.
//! - *block design*, as Holland and Gibson do it: groups are the blocks of a balanced design, so that every two drives share
//!   equally many; member after member takes the first place in turn. A block has a place more for each failed drive.

use rand::seq::SliceRandom;

use super::geometry::Seat;
use crate::random::Stream;
use crate::spec::Design;

/// Orders of the drives, each of which is used with every rotation of the drives' numbers.
const ORDERS: usize = 64;
/// Most blocks of a complete design.
const MOST_BLOCKS: u64 = 50_000;

/// Stripes over some of the drives each.
#[derive(Clone, Debug)]
pub(crate) struct Declustered {
    drives: usize,
    width: usize,
    parities: usize,
    spares: usize,
    /// Stripe units of a drive that the stripes of a group take.
    row_units: u64,
    design: Groups,
}

/// Which drives a group lies on.
#[derive(Clone, Debug)]
enum Groups {
    Permuted { orders: Vec<Vec<u16>>, rows: u64, groups: u64 },
    Blocks(Blocks),
}

/// The blocks of a design, and how many blocks before hold the same drive.
#[derive(Clone, Debug)]
struct Blocks {
    places: Vec<Vec<(u16, u32)>>,
    /// Blocks that hold one drive.
    rows: u64,
}

impl Declustered {
    /// A layout of stripes of `width` members; the design must exist.
    pub(crate) fn new(
        drives: usize,
        (width, parities, spares): (usize, usize, usize),
        row_units: u64,
        design: Design,
    ) -> Self {
        let design = match design {
            Design::Permuted => permuted(drives, width, spares),
            Design::BlockDesign => {
                let blocks = blocks(drives, width + spares).unwrap_or_default();
                Groups::Blocks(Blocks::new(drives, &blocks))
            }
        };
        Self { drives, width, parities, spares, row_units, design }
    }

    /// What keeps a design from being made, if anything.
    pub(crate) fn check(drives: usize, block: usize, design: Design) -> Option<String> {
        (design == Design::BlockDesign && blocks(drives, block).is_none()).then(|| {
            format!(
                "no block design is known for {drives} drives and blocks of {block} that is not too large; use \
                 design = \"permuted\""
            )
        })
    }

    pub(crate) fn drives(&self) -> usize {
        self.drives
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn data(&self) -> usize {
        self.width - self.parities
    }

    pub(crate) fn spares(&self) -> usize {
        self.spares
    }

    pub(crate) fn stripes(&self, rows: u64) -> u64 {
        let rows = rows / self.row_units;
        let groups = match &self.design {
            Groups::Permuted { rows: slice, groups, .. } => rows / slice * groups,
            Groups::Blocks(blocks) => rows / blocks.rows * blocks.places.len() as u64,
        };
        groups * self.row_units
    }

    pub(crate) fn place(&self, stripe: u64, member: usize) -> Seat {
        let (group, unit) = (stripe / self.row_units, stripe % self.row_units);
        let (drive, row) = match &self.design {
            Groups::Permuted { rows, groups, .. } => {
                let columns = (self.drives - self.spares) as u64;
                let (slice, column) = (group / groups, group % groups * self.width as u64 + member as u64);
                (self.permuted_drive(slice, column % columns), slice * rows + column / columns)
            }
            Groups::Blocks(blocks) => blocks.place(group, member),
        };
        Seat { drive, row: row * self.row_units + unit }
    }

    /// How many units of so many stripes lie on a drive.
    pub(crate) fn held(&self, drive: usize, stripes: u64) -> u64 {
        let (groups, begun) = (stripes / self.row_units, stripes % self.row_units);
        let whole = groups - groups % self.groups_of_pass();
        let holds = |group: &u64| {
            (0..self.width).any(|member| self.place(group * self.row_units, member).drive == drive)
        };
        let rows = self.held_in_passes(drive, whole) + (whole..groups).filter(holds).count() as u64;
        rows * self.row_units + if begun > 0 && holds(&groups) { begun } else { 0 }
    }

    /// Groups of a slice, or of a pass over the blocks.
    fn groups_of_pass(&self) -> u64 {
        match &self.design {
            Groups::Permuted { groups, .. } => *groups,
            Groups::Blocks(blocks) => blocks.places.len() as u64,
        }
    }

    /// How many rows of so many groups a drive holds; they are whole slices, or whole passes.
    fn held_in_passes(&self, drive: usize, groups: u64) -> u64 {
        match &self.design {
            Groups::Permuted { rows, groups: of_slice, .. } => {
                let (slices, drives) = (groups / of_slice, self.drives as u64);
                let columns = drives - self.spares as u64;
                // In as many slices as there are drives each is once in every column.
                let (whole, first_left) = (slices / drives, slices - slices % drives);
                let holds =
                    |slice: &u64| (0..columns).any(|column| self.permuted_drive(*slice, column) == drive);
                rows * (whole * columns + (first_left..slices).filter(holds).count() as u64)
            }
            Groups::Blocks(blocks) => blocks.held(drive, groups, self.width),
        }
    }

    pub(crate) fn spare(&self, stripe: u64, lost: Seat, number: usize) -> Option<Seat> {
        if number >= self.spares {
            return None;
        }
        match &self.design {
            Groups::Permuted { rows, .. } => {
                let slice = lost.row / self.row_units / rows;
                let drive = self.permuted_drive(slice, (self.drives - 1 - number) as u64);
                Some(Seat { drive, ..lost })
            }
            Groups::Blocks(_) => Some(self.place(stripe, self.width + number)),
        }
    }

    /// The drive in a column of a slice.
    fn permuted_drive(&self, slice: u64, column: u64) -> usize {
        let Groups::Permuted { orders, .. } = &self.design else { return column as usize };
        let drives = self.drives as u64;
        let order = &orders[(slice / drives) as usize % orders.len()];
        ((u64::from(order[column as usize]) + slice % drives) % drives) as usize
    }
}

fn permuted(drives: usize, width: usize, spares: usize) -> Groups {
    let columns = drives - spares;
    let common = gcd(width, columns);
    let mut random = Stream::new(0, "declustered");
    let mut order: Vec<u16> = (0..drives as u16).collect();
    let next = |_| {
        order.shuffle(random.generator());
        order.clone()
    };
    let orders = (0..ORDERS).map(next).collect();
    Groups::Permuted { orders, rows: (width / common) as u64, groups: (columns / common) as u64 }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A balanced design of blocks of `size` drives: one made of a perfect difference set, or all combinations where those are few.
fn blocks(drives: usize, size: usize) -> Option<Vec<Vec<u16>>> {
    if drives == size * (size - 1) + 1
        && let Some(set) = difference_set(drives, size)
    {
        let shifted = |shift: usize| set.iter().map(|&drive| ((drive + shift) % drives) as u16).collect();
        return Some((0..drives).map(shifted).collect());
    }
    let count = (0..size as u64).try_fold(1_u64, |count, index| {
        let next = count * (drives as u64 - index) / (index + 1);
        (next <= MOST_BLOCKS).then_some(next)
    });
    count.map(|_| combinations(drives, size))
}

/// A set of residues whose differences are all different, and so hold every residue but 0 once.
fn difference_set(modulus: usize, size: usize) -> Option<Vec<usize>> {
    fn mark(used: &mut [bool], differences: &[usize], is_used: bool) {
        for &difference in differences {
            used[difference] = is_used;
        }
    }
    fn extend(set: &mut Vec<usize>, used: &mut [bool], size: usize) -> bool {
        if set.len() == size {
            return true;
        }
        let modulus = used.len();
        for next in set[set.len() - 1] + 1..modulus {
            let differences: Vec<usize> =
                set.iter().flat_map(|&old| [next - old, modulus - (next - old)]).collect();
            let fits = (0..differences.len()).all(|index| {
                !used[differences[index]] && !differences[..index].contains(&differences[index])
            });
            if fits {
                mark(used, &differences, true);
                set.push(next);
                if extend(set, used, size) {
                    return true;
                }
                set.pop();
                mark(used, &differences, false);
            }
        }
        false
    }
    // The search is quick for the sizes of real groups.
    let mut set = vec![0];
    (size <= 10 && extend(&mut set, &mut vec![false; modulus], size)).then_some(set)
}

fn combinations(drives: usize, size: usize) -> Vec<Vec<u16>> {
    let mut block: Vec<usize> = (0..size).collect();
    let mut found = Vec::new();
    loop {
        found.push(block.iter().map(|&drive| drive as u16).collect());
        let Some(index) = (0..size).rev().find(|&index| block[index] < drives - size + index) else {
            return found;
        };
        let first = block[index] + 1;
        for (offset, place) in block[index..].iter_mut().enumerate() {
            *place = first + offset;
        }
    }
}

impl Blocks {
    fn new(drives: usize, blocks: &[Vec<u16>]) -> Self {
        let mut held = vec![0; drives];
        let mut place = |&drive: &u16| {
            held[usize::from(drive)] += 1;
            (drive, held[usize::from(drive)] - 1)
        };
        let places = blocks.iter().map(|block| block.iter().map(&mut place).collect()).collect();
        Self { places, rows: held.first().copied().unwrap_or(1).into() }
    }

    /// How many of so many groups have a drive among their first `width` members.
    fn held(&self, drive: usize, groups: u64, width: usize) -> u64 {
        let passes = groups / self.places.len() as u64;
        let of_block = |block: &Vec<(u16, u32)>| {
            let Some(index) = block.iter().position(|&(held, _)| usize::from(held) == drive) else {
                return 0;
            };
            let len = block.len() as u64;
            // It is this member in every pass that leaves so much.
            let in_passes = |member: u64| (passes + len - 1 - (index as u64 + len - member) % len) / len;
            (0..width as u64).map(in_passes).sum()
        };
        self.places.iter().map(of_block).sum()
    }

    /// Drive and row of a member of a group; after each pass over the blocks the members have moved on by one.
    fn place(&self, group: u64, member: usize) -> (usize, u64) {
        let count = self.places.len() as u64;
        let (pass, block) = (group / count, &self.places[(group % count) as usize]);
        let (drive, row) = block[(member + (pass % block.len() as u64) as usize) % block.len()];
        (usize::from(drive), pass * self.rows + u64::from(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn layouts() -> Vec<Declustered> {
        let (permuted, blocks) = (Design::Permuted, Design::BlockDesign);
        [
            (7, (3, 1, 0), 1, blocks),
            (7, (3, 1, 0), 2, permuted),
            (7, (3, 1, 1), 1, blocks),
            (7, (4, 2, 1), 3, permuted),
            (10, (4, 1, 2), 2, permuted),
            (9, (2, 1, 1), 2, permuted),
            (13, (3, 1, 1), 1, blocks),
            (8, (6, 3, 2), 1, permuted),
        ]
        .into_iter()
        .map(|(drives, shape, units, design)| Declustered::new(drives, shape, units, design))
        .collect()
    }

    #[test]
    fn no_unit_is_used_twice_and_every_stripe_is_on_different_drives() {
        for layout in layouts() {
            let rows = 60 * layout.row_units * layout.width as u64;
            let mut used = BTreeSet::new();
            for stripe in 0..layout.stripes(rows) {
                let seats: Vec<Seat> = (0..layout.width).map(|member| layout.place(stripe, member)).collect();
                let drives: BTreeSet<usize> = seats.iter().map(|seat| seat.drive).collect();
                assert_eq!(drives.len(), layout.width, "{layout:?}");
                for seat in seats {
                    assert!(seat.row < rows);
                    assert!(used.insert(seat), "{layout:?}: {seat:?}");
                }
            }
            // A failed drive's units all have a place of their own, on other drives, where nothing else is.
            for number in 0..layout.spares {
                let mut taken = BTreeSet::new();
                for stripe in 0..layout.stripes(rows) {
                    let lost = (0..layout.width).map(|member| layout.place(stripe, member));
                    for lost in lost.filter(|seat| seat.drive == 2) {
                        let spare = layout.spare(stripe, lost, number).unwrap();
                        assert!(!used.contains(&spare) && taken.insert(spare), "{layout:?}: {spare:?}");
                        assert!(spare.drive != 2 && spare.row < rows);
                    }
                }
            }
        }
    }

    #[test]
    fn every_two_drives_share_equally_many_stripes_of_a_block_design() {
        for (drives, width) in [(7, 3), (13, 4), (21, 5), (9, 3)] {
            let layout = Declustered::new(drives, (width, 1, 0), 1, Design::BlockDesign);
            let mut shared: BTreeMap<(usize, usize), u32> = BTreeMap::new();
            let mut parity = vec![0_u32; drives];
            // A whole table: every drive is every member equally often.
            let Groups::Blocks(blocks) = &layout.design else { panic!() };
            for stripe in 0..(blocks.places.len() * width) as u64 {
                let mut held: Vec<usize> =
                    (0..width).map(|member| layout.place(stripe, member).drive).collect();
                parity[held[width - 1]] += 1;
                held.sort_unstable();
                for (index, &a) in held.iter().enumerate() {
                    for &b in &held[index + 1..] {
                        *shared.entry((a, b)).or_default() += 1;
                    }
                }
            }
            assert_eq!(shared.len(), drives * (drives - 1) / 2);
            let counts: BTreeSet<u32> = shared.into_values().collect();
            assert_eq!(
                (counts.len(), parity.iter().collect::<BTreeSet<_>>().len()),
                (1, 1),
                "{drives}, {width}"
            );
        }
    }
}
