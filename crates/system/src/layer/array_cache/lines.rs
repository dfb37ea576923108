//! The lines of a cache memory: what they hold, who has them locked, which is given up next.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::bits::Bits;
use super::recency::Recency;

/// Sectors of the volume.
pub(super) type Sectors = Range<u64>;

/// Whether a line may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    Free,
    /// So many read it, or write it to the drives.
    Shared(u32),
    Exclusive,
}

#[derive(Clone, Debug)]
struct Line {
    valid: Bits,
    dirty: Bits,
    lock: Lock,
}

/// The lines, by their numbers: line n holds the sectors from n lines on.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    by_number: BTreeMap<u64, Line>,
    recency: Recency,
    dirty: BTreeSet<u64>,
    line_sectors: u64,
    capacity: usize,
    locked: usize,
}

impl Lines {
    pub(super) fn new(capacity: usize, line_sectors: u32, segment_shares: &[f64]) -> Self {
        Self {
            by_number: BTreeMap::new(),
            recency: Recency::new(capacity, segment_shares),
            dirty: BTreeSet::new(),
            line_sectors: u64::from(line_sectors),
            capacity,
            locked: 0,
        }
    }

    pub(super) fn line_sectors(&self) -> u64 {
        self.line_sectors
    }

    /// The lines that hold some sectors.
    pub(super) fn numbers(&self, sectors: &Sectors) -> Range<u64> {
        sectors.start / self.line_sectors..sectors.end.div_ceil(self.line_sectors)
    }

    /// Sectors of the volume that are in a line, as the line counts them.
    fn within(&self, number: u64, sectors: &Sectors) -> Range<u32> {
        let first = number * self.line_sectors;
        let at = |sector: u64| (sector.clamp(first, first + self.line_sectors) - first) as u32;
        at(sectors.start)..at(sectors.end)
    }

    /// The first sector of a range that is held, or is not.
    pub(super) fn first(&self, sectors: &Sectors, is_held: bool) -> Option<u64> {
        self.numbers(sectors).find_map(|number| {
            let (first, within) = (number * self.line_sectors, self.within(number, sectors));
            let at = match self.by_number.get(&number) {
                Some(line) => line.valid.first(within.start, is_held).filter(|at| *at < within.end),
                None => (!is_held).then_some(within.start),
            };
            at.map(|at| first + u64::from(at))
        })
    }

    /// Locks all lines of a range, those that are not there yet as empty ones; false if one of them is locked otherwise, or
    /// if there is no room for so many locked ones.
    pub(super) fn lock(&mut self, sectors: &Sectors, is_shared: bool) -> bool {
        let numbers = self.numbers(sectors);
        let may = |line: &Line| line.lock == Lock::Free || is_shared && matches!(line.lock, Lock::Shared(_));
        if !numbers.clone().all(|number| self.by_number.get(&number).is_none_or(may)) {
            return false;
        }
        let is_free = |number: &u64| self.by_number.get(number).is_none_or(|line| line.lock == Lock::Free);
        let more = numbers.clone().filter(is_free).count();
        if self.locked > 0 && self.locked + more > self.capacity {
            return false;
        }
        for number in numbers {
            self.touch(number);
            self.hold(number, is_shared);
        }
        true
    }

    fn hold(&mut self, number: u64, is_shared: bool) {
        let Some(line) = self.by_number.get_mut(&number) else { return };
        self.locked += usize::from(line.lock == Lock::Free);
        line.lock = match line.lock {
            Lock::Shared(others) => Lock::Shared(others + 1),
            _ if is_shared => Lock::Shared(1),
            _ => Lock::Exclusive,
        };
    }

    /// Lets go of the lines of a range.
    pub(super) fn unlock(&mut self, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            let Some(line) = self.by_number.get_mut(&number) else { continue };
            line.lock = match line.lock {
                Lock::Shared(count) if count > 1 => Lock::Shared(count - 1),
                _ => Lock::Free,
            };
            self.locked -= usize::from(line.lock == Lock::Free);
        }
    }

    /// A line has been used; it is made if it is not there.
    fn touch(&mut self, number: u64) {
        let sectors = self.line_sectors as u32;
        self.by_number.entry(number).or_insert_with(|| Line {
            valid: Bits::none(sectors),
            dirty: Bits::none(sectors),
            lock: Lock::Free,
        });
        self.recency.touch(number);
    }

    /// Whether there are more lines than there is room for.
    pub(super) fn is_over(&self) -> bool {
        self.by_number.len() > self.capacity
    }

    /// Lines that nobody has locked, the next to give up first.
    pub(super) fn oldest(&self) -> impl Iterator<Item = u64> + '_ {
        self.recency.oldest().filter(|number| self.by_number[number].lock == Lock::Free)
    }

    pub(super) fn is_dirty(&self, number: u64) -> bool {
        self.dirty.contains(&number)
    }

    /// The dirty lines that nobody has locked.
    pub(super) fn dirty(&self) -> impl Iterator<Item = u64> + '_ {
        self.dirty.iter().copied().filter(|number| self.by_number[number].lock == Lock::Free)
    }

    /// How many sectors are dirty.
    pub(super) fn dirty_sectors(&self) -> u64 {
        self.dirty.iter().map(|number| self.by_number[number].dirty.count()).sum()
    }

    /// Gives up a clean line.
    pub(super) fn evict(&mut self, number: u64) {
        self.by_number.remove(&number);
        self.recency.forget(number);
    }

    /// Sectors have come into their lines.
    pub(super) fn fill(&mut self, sectors: &Sectors) {
        self.mark(sectors, |line, within| line.valid.set(within, true));
    }

    /// Sectors have been written to in the cache.
    pub(super) fn write(&mut self, sectors: &Sectors) {
        self.mark(sectors, |line, within| {
            line.valid.set(within.clone(), true);
            line.dirty.set(within, true);
        });
    }

    /// Sectors are on the drives as they are in the cache.
    pub(super) fn clean(&mut self, sectors: &Sectors) {
        self.mark(sectors, |line, within| line.dirty.set(within, false));
    }

    /// What the cache holds of these sectors counts no more.
    pub(super) fn forget(&mut self, sectors: &Sectors) {
        self.mark(sectors, |line, within| {
            line.valid.set(within.clone(), false);
            line.dirty.set(within, false);
        });
    }

    fn mark(&mut self, sectors: &Sectors, mark: impl Fn(&mut Line, Range<u32>)) {
        for number in self.numbers(sectors) {
            let within = self.within(number, sectors);
            let Some(line) = self.by_number.get_mut(&number) else { continue };
            mark(line, within);
            if line.dirty.is_none() {
                self.dirty.remove(&number);
            } else {
                self.dirty.insert(number);
            }
        }
    }

    /// What one write of a dirty line's sectors takes along: from its first dirty sector to the last that is reached over valid
    /// ones only, on into at most `most` neighbours that nobody has locked. The lines of it are locked for others' writes.
    pub(super) fn begin_write(&mut self, number: u64, most: u64) -> Option<Sectors> {
        let line = self.by_number.get(&number)?;
        let first = line.dirty.first(0, true)?;
        let last = line.dirty.last_before_gap(first, &line.valid)?;
        let base = number * self.line_sectors;
        let end = base + u64::from(last) + 1;
        let mut run = base + u64::from(first)..end;
        let mut count = 1;
        while count < most
            && let Some(next) = self.dirty_neighbour(run.end.div_ceil(self.line_sectors), run.end)
        {
            (run.end, count) = (next, count + 1);
        }
        while count < most
            && let Some(before) = self.dirty_before(run.start)
        {
            (run.start, count) = (before, count + 1);
        }
        for number in self.numbers(&run) {
            self.hold(number, true);
        }
        Some(run)
    }

    /// Where a run that ends at `end` ends if the next line goes along; `None` if it does not.
    fn dirty_neighbour(&self, next: u64, end: u64) -> Option<u64> {
        let line = self.by_number.get(&next).filter(|line| line.lock == Lock::Free)?;
        let first = next * self.line_sectors;
        let reaches = self.first(&(end..first), false).is_none();
        let last = line.dirty.last_before_gap(0, &line.valid)?;
        reaches.then_some(first + u64::from(last) + 1)
    }

    /// Where a run that begins at `start` begins if the line before goes along; `None` if it does not.
    fn dirty_before(&self, start: u64) -> Option<u64> {
        let number = (start / self.line_sectors).checked_sub(1)?;
        let line = self.by_number.get(&number).filter(|line| line.lock == Lock::Free)?;
        let first = number * self.line_sectors;
        let from = (0..self.line_sectors as u32).rev().take_while(|&at| line.valid.is_set(at)).last()?;
        let dirty = line.dirty.first(from, true)?;
        let between = (number + 1) * self.line_sectors..start;
        self.first(&between, false).is_none().then_some(first + u64::from(dirty))
    }
}
