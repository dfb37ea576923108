//! The read cache: segments of consecutive sectors. Which of them makes room, and how large they are, is the policy's
//! to say ([`super::policy`]).

use super::policy::Policy;
use crate::spec::{AfterHit, CacheSpec, WriteOverlap, WrittenData};

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
    all: Vec<Segment>,
    policy: Policy,
    discard: bool,
    /// A write drops the segments it touches.
    drop_touched: bool,
    /// What becomes of written data.
    written_data: WrittenData,
    /// The segment the last write went into.
    written: Option<usize>,
    uses: u64,
}

impl Segments {
    /// Empty segments of `size` sectors; none at all without a cache.
    pub(crate) fn new(spec: Option<&CacheSpec>, size: u64) -> Self {
        Self {
            all: vec![Segment::default(); spec.map_or(0, |spec| spec.segments as usize)],
            policy: Policy::new(spec, size),
            discard: spec.is_some_and(|spec| spec.after_hit == AfterHit::Discard),
            drop_touched: spec.is_some_and(|spec| spec.write_overlap == WriteOverlap::DropSegment),
            written_data: spec.map_or(WrittenData::Dropped, |spec| spec.written_data),
            written: None,
            uses: 0,
        }
    }

    /// What the segments hold: first address, and one after the last.
    pub(crate) fn held(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let held = self.all.iter().filter(|segment| segment.is_in_use());
        held.map(|segment| (segment.start, segment.end))
    }

    /// The segment that holds `lba`, or whose end is `lba` (data that are being read just now).
    pub(crate) fn find(&self, lba: u64) -> Option<usize> {
        let holds = |segment: &Segment| segment.start <= lba && lba < segment.end;
        let continues = |segment: &Segment| segment.end == lba && segment.is_in_use();
        // Mostly there is neither, and one look at each says so.
        if !self.may_hold(lba) {
            return None;
        }
        self.all.iter().position(holds).or_else(|| self.all.iter().position(continues))
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

    /// The segment that makes room for a read; `None` without a cache.
    #[inline]
    fn victim(&self) -> Option<usize> {
        // A segment for writes alone is the last one.
        let shared = self.all.len() - usize::from(self.written_data == WrittenData::OwnSegment);
        self.policy.victim(&self.all[..shared])
    }

    /// Takes a segment for `start..end`; only the last part is kept where it is too small. `None` without a cache.
    #[inline]
    pub(crate) fn allocate(&mut self, start: u64, end: u64) -> Option<usize> {
        let index = self.victim()?;
        self.put(index, start, end);
        Some(index)
    }

    fn put(&mut self, index: usize, start: u64, end: u64) {
        self.uses += 1;
        self.all[index] = Segment { start, end, used: self.uses };
        self.policy.divide(&mut self.all, index);
        self.written = self.written.filter(|&written| written != index);
    }

    /// Written data stay for reads to find, where the drive keeps them.
    pub(crate) fn keep_written(&mut self, start: u64, end: u64) {
        if let Some(index) = self.written.filter(|&index| self.all[index].end == start) {
            self.extend(index, end);
            self.uses += 1;
            self.all[index].used = self.uses;
            return;
        }
        let index = match self.written_data {
            WrittenData::Dropped => None,
            WrittenData::Shared => self.victim(),
            WrittenData::OwnSegment => self.all.len().checked_sub(1),
        };
        if let Some(index) = index {
            self.put(index, start, end);
            self.written = Some(index);
        }
    }

    /// New data at the end of a segment; old ones at its start make room.
    pub(crate) fn extend(&mut self, index: usize, end: u64) {
        let segment = &mut self.all[index];
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

    /// Written sectors leave the read cache: a segment that overlaps them keeps what lies before,
    /// or nothing.
    pub(crate) fn invalidate(&mut self, start: u64, end: u64) -> bool {
        let mut any = false;
        for segment in &mut self.all {
            if segment.start < end && start < segment.end {
                any = true;
                segment.end = if self.drop_touched { segment.start } else { segment.start.max(start) };
                if segment.end <= segment.start {
                    *segment = Segment::default();
                }
            }
        }
        any
    }
}
