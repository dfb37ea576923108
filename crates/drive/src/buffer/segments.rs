//! The read cache: segments of consecutive sectors. Which of them makes room, and how large they are, is the policy's
//! to say ([`super::policy`]).

use super::index::Index;
use super::policy::Policy;
use super::segment::Segment;
use crate::spec::{AfterHit, CacheSpec, Replacement, Segmentation, WriteOverlap, WrittenData};

/// All segments.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    pub(super) all: Vec<Segment>,
    policy: Policy,
    /// Where there are many.
    index: Option<Box<Index>>,
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
        let count = spec.map_or(0, |spec| spec.segments as usize);
        let is_fixed = spec.is_some_and(|spec| spec.segmentation == Segmentation::Fixed);
        Self {
            all: vec![Segment::default(); count],
            policy: Policy::new(spec, size),
            index: if is_fixed { Index::new(count, size) } else { None },
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
        self.index.as_ref().is_none_or(|index| index.may_hold(lba))
            && self.all.iter().any(|segment| segment.start <= lba && lba <= segment.end)
    }

    /// Whether a segment holds some of `start..end`.
    pub(crate) fn hold_any_of(&self, start: u64, end: u64) -> bool {
        self.index.as_ref().is_none_or(|index| index.may_overlap(start, end))
            && self.held().any(|(from, to)| from < end && start < to)
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
    fn victim(&mut self, stopped: Option<usize>) -> Option<usize> {
        // A segment for writes alone is the last one.
        let shared = self.all.len() - usize::from(self.written_data == WrittenData::OwnSegment);
        let spared = stopped.filter(|_| self.replacement == Replacement::SpareReadAhead);
        if let Some(index) = &mut self.index
            && let Some(least) = index.victim(&self.all, shared, spared)
        {
            return Some(least);
        }
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
        let is_first_use = self.all[index].used == 0;
        if is_first_use {
            // Of those never used, or emptied, the first makes room.
            self.order_mattered |= self.all.iter().filter(|segment| segment.used == 0).count() > 1;
        }
        self.uses += 1;
        self.all[index] = Segment { start, end, used: self.uses };
        self.policy.divide(&mut self.all, index);
        if let Some(known) = &mut self.index {
            known.note_use(&self.all, index, is_first_use);
            known.note_content(&self.all, index, None);
        }
        self.written = self.written.filter(|&written| written != index);
    }

    /// A segment is used.
    #[inline]
    fn use_now(&mut self, index: usize) {
        self.uses += 1;
        let was_unused = self.all[index].used == 0;
        self.all[index].used = self.uses;
        if let Some(known) = &mut self.index {
            known.note_use(&self.all, index, was_unused);
        }
    }

    /// Written data stay for reads to find, where the drive keeps them. `on_its_way`: the last write has not come to its
    /// end on the media.
    #[expect(clippy::inline_always, reason = "most writes come here")]
    #[inline(always)]
    pub(crate) fn keep_written(&mut self, start: u64, end: u64, on_its_way: bool, stopped: Option<usize>) {
        let goes_on = on_its_way || self.replacement == Replacement::LeastRecentlyUsed;
        if let Some(index) = self.written.filter(|&index| goes_on && self.all[index].end == start) {
            self.extend(index, end);
            self.use_now(index);
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
        let known = segment.end;
        segment.end = known.max(end);
        self.policy.divide(&mut self.all, index);
        if let Some(noted) = &mut self.index
            && end > known
        {
            noted.note_content(&self.all, index, Some(known));
        }
    }

    /// Data before the start of a segment, as far as there is room.
    pub(crate) fn extend_front(&mut self, index: usize, start: u64) {
        let size = self.size();
        let segment = &mut self.all[index];
        if segment.is_in_use() {
            segment.start = segment.start.min(start.max(segment.end.saturating_sub(size)));
            if let Some(known) = &mut self.index {
                known.note_content(&self.all, index, None);
            }
        }
    }

    /// A hit up to `end`.
    pub(crate) fn touch(&mut self, index: usize, end: u64) {
        self.use_now(index);
        if self.discard {
            let segment = &mut self.all[index];
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
        if self.index.as_ref().is_some_and(|index| !index.may_overlap(start, end)) {
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
        if any && let Some(known) = &mut self.index {
            known.note_empty(&self.all);
        }
        any
    }

    /// Others take the places of all of them.
    pub(super) fn replace(&mut self, all: Vec<Segment>) {
        if let Some(known) = &mut self.index {
            known.note_places(&all);
        }
        self.all = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: u64 = 8;

    /// What happens to segments.
    #[derive(Clone, Debug)]
    enum Step {
        Put(u64, u64),
        Extend(usize, u64),
        ExtendFront(usize, u64),
        Touch(usize),
        Invalidate(u64, u64),
        Reverse,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..2_000_u64, 1..12_u64).prop_map(|(start, length)| Step::Put(start, start + length)),
            2 => (0..24_usize, 1..12_u64).prop_map(|(index, length)| Step::Extend(index, length)),
            1 => (0..24_usize, 0..8_u64).prop_map(|(index, length)| Step::ExtendFront(index, length)),
            2 => (0..24_usize).prop_map(Step::Touch),
            1 => (0..2_000_u64, 1..40_u64).prop_map(|(start, length)| Step::Invalidate(start, start + length)),
            1 => Just(Step::Reverse),
        ]
    }

    fn take(segments: &mut Segments, step: &Step) {
        let of = |index: usize| index % segments.all.len();
        match *step {
            Step::Put(start, end) => {
                segments.allocate(start, end, None);
            }
            Step::Extend(index, length) => {
                let index = of(index);
                segments.extend(index, segments.get(index).end + length);
            }
            Step::ExtendFront(index, length) => {
                let index = of(index);
                segments.extend_front(index, segments.get(index).start.saturating_sub(length));
            }
            Step::Touch(index) => segments.touch(of(index), segments.get(of(index)).end),
            Step::Invalidate(start, end) => {
                let any = segments.held().any(|(from, to)| from < end && start < to);
                assert_eq!(segments.hold_any_of(start, end), any);
                assert_eq!(segments.invalidate(start, end, None), any);
            }
            Step::Reverse => {
                let reversed = segments.all.iter().rev().copied().collect();
                segments.replace(reversed);
            }
        }
    }

    proptest! {
        /// The naive twin: a look at all of them.
        #[test]
        fn many_segments_are_found_as_by_a_look_at_all(
            count in prop::sample::select(vec![3_u32, 17, 24]),
            adaptive in any::<bool>(),
            spared in prop::option::of(0..24_usize),
            steps in prop::collection::vec(step(), 1..400),
            probes in prop::collection::vec(0..2_100_u64, 20),
        ) {
            let segmentation = if adaptive { Segmentation::Adaptive } else { Segmentation::Fixed };
            let replacement = Replacement::SpareReadAhead;
            let spec = CacheSpec { segmentation, replacement, ..CacheSpec::new(count, 4.0) };
            let mut segments = Segments::new(Some(&spec), SIZE);
            for step in steps {
                take(&mut segments, &step);
                let victim = segments.policy.victim(&segments.all, spared);
                prop_assert_eq!(segments.victim(spared), victim);
                for &lba in probes.iter().chain([&0]) {
                    let any = segments.all.iter().any(|segment| segment.start <= lba && lba <= segment.end);
                    prop_assert_eq!(segments.may_hold(lba), any, "{}", lba);
                }
            }
        }
    }
}
