//! The read cache: segments of consecutive sectors. Which of them makes room, and how large they are, is the policy's
//! to say ([`super::policy`]).

use super::policy::Policy;
use crate::spec::{AfterHit, CacheSpec, Replacement, WriteOverlap, WrittenData};

/// Consecutive sectors in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First address held.
    pub(crate) start: u64,
    /// First address behind the last one held.
    pub(crate) end: u64,
    /// When it was last used, counted in uses.
    pub(super) used: u64,
}

impl Segment {
    /// Keeps the last `size` sectors.
    #[inline]
    pub(super) fn keep_end(&mut self, size: u64) {
        self.start = self.start.max(self.end.saturating_sub(size));
    }

    /// Whether it holds anything.
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        self.end > self.start
    }
}

/// All segments.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    pub(super) all: Vec<Segment>,
    policy: Policy,
    discard: bool,
    /// What a write leaves of the segments it touches.
    write_overlap: WriteOverlap,
    /// Which segment makes room.
    replacement: Replacement,
    /// What becomes of written data.
    pub(super) written_data: WrittenData,
    /// The segment the last write went into.
    pub(super) written: Option<usize>,
    pub(super) uses: u64,
    /// Their order in the list decided something since this was last set back: with another order of the same segments the
    /// drive might have gone on in another way.
    pub(super) order_mattered: bool,
}

impl Segments {
    /// Empty segments of `size` sectors; none at all without a cache.
    pub(crate) fn new(spec: Option<&CacheSpec>, size: u64) -> Self {
        Self {
            all: vec![Segment::default(); spec.map_or(0, |spec| spec.segments as usize)],
            policy: Policy::new(spec, size),
            discard: spec.is_some_and(|spec| spec.after_hit == AfterHit::Discard),
            write_overlap: spec.map_or(WriteOverlap::default(), |spec| spec.write_overlap),
            replacement: spec.map_or(Replacement::default(), |spec| spec.replacement),
            written_data: spec.map_or(WrittenData::Dropped, |spec| spec.written_data),
            written: None,
            uses: 0,
            order_mattered: false,
        }
    }

    /// What the segments hold: first address, and one after the last.
    pub(crate) fn held(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let held = self.all.iter().filter(|segment| segment.is_in_use());
        held.map(|segment| (segment.start, segment.end))
    }

    /// The segment that holds `lba`, or whose end is `lba` (data that are being read just now).
    pub(crate) fn find(&mut self, lba: u64) -> Option<usize> {
        let holds = |segment: &Segment| segment.start <= lba && lba < segment.end;
        let continues = |segment: &Segment| segment.end == lba && segment.is_in_use();
        // Mostly there is neither, and one look at each says so.
        if !self.may_hold(lba) {
            return None;
        }
        let first = |matches: &dyn Fn(&Segment) -> bool| {
            let found = self.all.iter().position(matches)?;
            Some((found, self.all[found + 1..].iter().any(matches)))
        };
        let (found, is_one_of_several) = first(&holds).or_else(|| first(&continues))?;
        self.order_mattered |= is_one_of_several;
        Some(found)
    }

    /// The segment that holds `lba`: one with all of `lba..end` before others, the one that is being filled before those
    /// at rest, and the least recently used among equals.
    pub(crate) fn find_held(&self, lba: u64, end: u64, filling: Option<usize>) -> Option<usize> {
        let holds = |&index: &usize| self.all[index].start <= lba && lba < self.all[index].end;
        let rank = |&index: &usize| (self.all[index].end < end, Some(index) != filling, self.all[index].used);
        (0..self.all.len()).filter(holds).min_by_key(rank)
    }

    /// Whether a segment may hold `lba`, or end just before it.
    #[inline]
    pub(crate) fn may_hold(&self, lba: u64) -> bool {
        self.all.iter().any(|segment| segment.start <= lba && lba <= segment.end)
    }

    /// The segment.
    pub(crate) fn get(&self, index: usize) -> Segment {
        self.all[index]
    }

    /// How many sectors each of them can hold now.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        self.policy.size_in(&self.all)
    }

    /// The segment that makes room for a read; `None` without a cache. `stopped` is the one for which the present command
    /// stopped the read-ahead.
    #[expect(clippy::inline_always, reason = "every read and most writes come here")]
    #[inline(always)]
    fn victim(&self, stopped: Option<usize>) -> Option<usize> {
        // A segment for writes alone is the last one.
        let shared = self.all.len() - usize::from(self.written_data == WrittenData::OwnSegment);
        let spared = stopped.filter(|_| self.replacement == Replacement::SpareReadAhead);
        self.policy.victim(&self.all[..shared], spared)
    }

    /// Takes a segment for `start..end`; only the last part is kept where it is too small. `None` without a cache.
    #[inline]
    pub(crate) fn allocate(&mut self, start: u64, end: u64, stopped: Option<usize>) -> Option<usize> {
        let index = self.victim(stopped)?;
        self.put(index, start, end);
        Some(index)
    }

    #[expect(clippy::inline_always, reason = "every read and most writes come here")]
    #[inline(always)]
    fn put(&mut self, index: usize, start: u64, end: u64) {
        if self.all[index].used == 0 {
            // Of those never used, or emptied, the first makes room.
            self.order_mattered |= self.all.iter().filter(|segment| segment.used == 0).count() > 1;
        }
        self.uses += 1;
        self.all[index] = Segment { start, end, used: self.uses };
        self.policy.divide(&mut self.all, index);
        self.written = self.written.filter(|&written| written != index);
    }

    /// Written data stay for reads to find, where the drive keeps them. `on_its_way`: the last write has not come to its
    /// end on the media.
    #[expect(clippy::inline_always, reason = "most writes come here")]
    #[inline(always)]
    pub(crate) fn keep_written(&mut self, start: u64, end: u64, on_its_way: bool, stopped: Option<usize>) {
        let goes_on = on_its_way || self.replacement == Replacement::LeastRecentlyUsed;
        if let Some(index) = self.written.filter(|&index| goes_on && self.all[index].end == start) {
            self.extend(index, end);
            self.uses += 1;
            self.all[index].used = self.uses;
            return;
        }
        let index = match self.written_data {
            WrittenData::Dropped => None,
            WrittenData::Shared => self.victim(stopped),
            WrittenData::OwnSegment => self.all.len().checked_sub(1),
        };
        if let Some(index) = index {
            self.put(index, start, end);
            self.written = Some(index);
        }
    }

    /// New data at the end of a segment; old ones at its start make room.
    #[expect(clippy::inline_always, reason = "every command that finds read-ahead under way comes here")]
    #[inline(always)]
    pub(crate) fn extend(&mut self, index: usize, end: u64) {
        let segment = &mut self.all[index];
        self.order_mattered |= segment.used == 0;
        segment.end = segment.end.max(end);
        self.policy.divide(&mut self.all, index);
    }

    /// Data before the start of a segment, as far as there is room.
    pub(crate) fn extend_front(&mut self, index: usize, start: u64) {
        let size = self.size();
        let segment = &mut self.all[index];
        if segment.is_in_use() {
            segment.start = segment.start.min(start.max(segment.end.saturating_sub(size)));
        }
    }

    /// A hit up to `end`.
    pub(crate) fn touch(&mut self, index: usize, end: u64) {
        self.uses += 1;
        let segment = &mut self.all[index];
        segment.used = self.uses;
        if self.discard {
            segment.start = segment.start.max(end.min(segment.end));
        }
    }

    /// Whether new data take the place of old ones: nothing leaves the read cache when sectors are written.
    #[inline]
    pub(crate) fn takes_writes_in(&self) -> bool {
        self.write_overlap == WriteOverlap::Update
    }

    /// Sectors are being written: tells whether that takes some out of the read cache. A segment that overlaps them keeps what
    /// lies before, or nothing, or all of it with the new data in their place, or, if it is `filling`, all as it is.
    pub(crate) fn invalidate(&mut self, start: u64, end: u64, filling: Option<usize>) -> bool {
        if self.takes_writes_in() {
            return false;
        }
        let mut any = false;
        let kept = filling.filter(|_| self.write_overlap == WriteOverlap::DropAtRest);
        for (index, segment) in self.all.iter_mut().enumerate() {
            if segment.start < end && start < segment.end && kept != Some(index) {
                any = true;
                let keeps_front = self.write_overlap == WriteOverlap::KeepFront;
                segment.end = if keeps_front { segment.start.max(start) } else { segment.start };
                if segment.end <= segment.start {
                    *segment = Segment::default();
                }
            }
        }
        any
    }
}
