//! The drive's buffer: what the read cache holds, what is being read ahead into it, and written data that are not on
//! the media yet. It moves nothing itself: transfers do.

mod dirty;
mod early;
mod filter;
mod index;
mod policy;
mod prefetch;
pub(crate) mod read_ahead;
mod received;
mod recency;
mod sameness;
mod segment;
mod segments;

pub(crate) use dirty::Dirty;
pub(crate) use early::EarlyWrites;
pub use sameness::Relabelling;

use crate::layout::Extent;
use crate::mechanics::Epoch;
use crate::mechanism::{Arm, GivesWay, Media, Pass, Release};
use crate::model::{DriveModel, WriteBack};
use crate::rebase::Rebase;
use crate::scheduler::Target;
use crate::spec::{CacheSpec, PartialHit, WriteOverlap};
use headstack_units::Nanos;
use prefetch::Prefetch;
use segments::Segments;

/// The passes of a read over the media, in the order of time.
pub(crate) type Passes = Vec<Pass>;

/// What the buffer knows of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// All of it is there.
    Hit,
    /// The first sectors are there, and the media are just reading on.
    InFlight { cached: u64 },
    /// The first sectors are there.
    Partial { cached: u64, segment: usize },
    /// None of it that counts.
    Miss,
}

/// A read from the media, as the buffer sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    /// First address of the command, and one after its last.
    pub(crate) lba: u64,
    pub(crate) end: u64,
    /// The address from which the first track was read into the buffer.
    pub(crate) landed: u64,
    /// The segment that held its first sectors.
    pub(crate) segment: Option<usize>,
    /// When the media work ended, and where the arm is then.
    pub(crate) done: Nanos,
    pub(crate) arm: Arm,
    /// What follows behind the read on the track under the head, where that is known.
    pub(crate) tail: Option<Extent>,
    /// Whether the read continued the one before.
    pub(crate) sequential: bool,
}

/// The buffer of one actuator.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    segments: Segments,
    /// Read-ahead under way.
    prefetch: Option<Prefetch>,
    /// The segment it was filling when it was stopped last, if it had not come to its end.
    stopped: Option<usize>,
    /// Write-back: what is buffered, and what of it is on its way to the media.
    pub(crate) dirty: Dirty,
    pub(crate) destaging: EarlyWrites,
    /// No destage begins before this that has not begun.
    settled: Nanos,
    /// Immediate reporting: what is on its way.
    pub(crate) early: EarlyWrites,
}

impl GivesWay for Buffer {
    #[inline]
    fn give_way(&mut self, media: &Media<'_>, at: Nanos) -> Option<Release> {
        self.settle(media, at);
        let prefetch = self.prefetch.as_ref()?;
        self.stopped = (!prefetch.finished(at)).then_some(prefetch.segment());
        let release = prefetch.release(media, at);
        self.prefetch = None;
        Some(release)
    }
}

impl Buffer {
    /// Empty.
    pub(crate) fn new(model: &DriveModel) -> Self {
        Self {
            segments: Segments::new(model.cache(), model.sizes.segment),
            prefetch: None,
            stopped: None,
            dirty: Dirty::on(model.sizes.physical),
            destaging: EarlyWrites::default(),
            settled: Nanos::ZERO,
            early: EarlyWrites::default(),
        }
    }

    /// Brings read-ahead to `now`, and what it has read into its segment.
    #[inline]
    pub(crate) fn settle(&mut self, media: &Media<'_>, now: Nanos) {
        if let Some(prefetch) = &mut self.prefetch
            && prefetch.falls_due(now)
        {
            prefetch.settle(media, &mut self.segments, now);
        }
    }

    /// Whether something is being read ahead at `now`, to which read-ahead has been settled.
    pub(crate) fn reads_ahead_at(&self, now: Nanos) -> bool {
        self.prefetch.as_ref().is_some_and(|prefetch| !prefetch.finished(now))
    }

    /// What read-ahead under way may come to hold, and the segment has already: first address, and the last one after it.
    pub(crate) fn coming(&self) -> Option<(u64, u64)> {
        let prefetch = self.prefetch.as_ref()?;
        Some((self.segments.get(prefetch.segment()).start, prefetch.stop()))
    }

    /// What will have been read ahead at `at`, where reads that go on from there are served as it comes: the first address, and one after
    /// the last.
    pub(crate) fn read_by(&self, media: &Media<'_>, at: Nanos) -> Option<(u64, u64)> {
        media.model.cache().filter(|cache| cache.partial_hit == PartialHit::Serve)?;
        let mut prefetch = self.prefetch?;
        prefetch.advance(media, at);
        let is_reading = !prefetch.is_at_stop(at);
        is_reading.then(|| (self.segments.get(prefetch.segment()).start, prefetch.end(media, at)))
    }

    /// The segment into which is being read ahead at `now`.
    #[inline]
    pub(super) fn filling_at(&self, now: Nanos) -> Option<usize> {
        self.prefetch.as_ref().filter(|prefetch| !prefetch.finished(now)).map(Prefetch::segment)
    }

    /// Read-ahead under way, as it will be seen by commands that need the arm at one or the other instant.
    pub(crate) fn releases_at(&self, media: &Media<'_>, [one, other]: [Nanos; 2]) -> Option<[Release; 2]> {
        let mut prefetch = self.prefetch?;
        let mut release_at = |at| {
            prefetch.advance(media, at);
            prefetch.release(media, at)
        };
        // It is followed to the sooner, and on from there.
        let sooner = release_at(one.min(other));
        let later = release_at(one.max(other));
        Some(if one <= other { [sooner, later] } else { [later, sooner] })
    }

    /// Whether all of `lba..end` is written data that are not on the media yet.
    #[inline]
    fn is_unwritten(&self, lba: u64, end: u64) -> bool {
        self.dirty.covers(lba, end) || self.early.cover(lba, end) || self.destaging.cover(lba, end)
    }

    /// Whether any of a read may be in the buffer, or come there by itself.
    #[inline]
    pub(crate) fn may_know(&self, lba: u64, end: u64) -> bool {
        self.may_be_cached(lba) || self.is_unwritten(lba, end)
    }

    /// Whether a segment may hold `lba`, or end just before it, now or when more has been read ahead.
    #[inline]
    fn may_be_cached(&self, lba: u64) -> bool {
        self.segments.may_hold(lba)
            || self
                .prefetch
                .as_ref()
                .is_some_and(|prefetch| prefetch.may_hold(lba, self.segments.get(prefetch.segment()).start))
    }

    /// Whether [`Buffer::look_up`] finds a hit, where another look-up at `now` or later follows if it does not: read-ahead
    /// that is nowhere near is left alone.
    pub(crate) fn is_hit(&mut self, media: &Media<'_>, (lba, end): (u64, u64), now: Nanos) -> bool {
        self.early.forget_written(now);
        if self.is_unwritten(lba, end) {
            return true;
        }
        if let Some(prefetch) = &self.prefetch
            && prefetch.may_hold(lba, self.segments.get(prefetch.segment()).start)
        {
            self.settle(media, now);
        }
        if end - lba > media.model.sizes.bypass {
            return false;
        }
        let hit = self.segments.find(lba).is_some_and(|segment| end <= self.segments.get(segment).end);
        if hit {
            self.settle(media, now);
        }
        hit
    }

    /// What the buffer knows of a read at `now`.
    pub(crate) fn look_up(&mut self, media: &Media<'_>, (lba, end): (u64, u64), now: Nanos) -> Lookup {
        self.early.forget_written(now);
        if self.is_unwritten(lba, end) {
            return Lookup::Hit;
        }
        self.settle(media, now);
        if end - lba > media.model.sizes.bypass {
            return Lookup::Miss;
        }
        let segment = self.segments.find(lba);
        segment.map_or(Lookup::Miss, |segment| self.found(media, (lba, end), segment, now))
    }

    /// What it means for a read at `now` that a segment holds its beginning, or ends there.
    fn found(&self, media: &Media<'_>, (lba, end): (u64, u64), segment: usize, now: Nanos) -> Lookup {
        let held = self.segments.get(segment);
        if end <= held.end {
            return Lookup::Hit;
        }
        let cached = held.end - lba;
        let serves = media.model.cache().is_some_and(|cache| cache.partial_hit == PartialHit::Serve);
        let is_reading = self
            .prefetch
            .as_ref()
            .is_some_and(|prefetch| prefetch.segment() == segment && !prefetch.is_at_stop(now));
        let too_long = end - lba > media.model.sizes.buffer;
        match (serves, is_reading && !too_long, cached) {
            (true, true, _) => Lookup::InFlight { cached },
            (true, false, 1..) => Lookup::Partial { cached, segment },
            _ => Lookup::Miss,
        }
    }

    /// Nothing of a read is in the buffer: what else happens to it by `now`.
    #[inline]
    pub(crate) fn miss(&mut self, media: &Media<'_>, now: Nanos) {
        self.early.forget_written(now);
        self.settle(media, now);
    }

    /// A read of `lba..end` was a hit, noticed at `now`; when it has come to `rest`, the mechanism is free. Tells what becomes
    /// of the arm, if read-ahead lets it go.
    pub(crate) fn hit(
        &mut self,
        media: &Media<'_>,
        (lba, end): (u64, u64),
        now: Nanos,
        rest: Release,
        sequential: bool,
    ) -> Option<Release> {
        let rules = &media.model.rules;
        let found = if rules.looks_up_received {
            self.segments.find_held(lba, end, self.filling_at(now))
        } else {
            self.segments.find(lba)
        };
        let segment = found.filter(|&segment| end <= self.segments.get(segment).end)?;
        self.segments.touch(segment, end);
        if rules.follows_own_hits {
            return self.follow_hit(media, segment, end, now, rest, sequential);
        }
        self.read_on(media, segment, end, now.max(rest.at), now, sequential);
        None
    }

    /// After a hit: a drive that stays ahead reads on where the host made room.
    fn read_on(
        &mut self,
        media: &Media<'_>,
        segment: usize,
        end: u64,
        begin: Nanos,
        now: Nanos,
        sequential: bool,
    ) {
        if !media.model.cache().is_some_and(CacheSpec::reads_on_after_hits) {
            return;
        }
        let start = self.segments.get(segment).start;
        let stop = read_ahead::stop(media.model, sequential, end, start, self.segments.size())
            .min(media.model.layout.capacity());
        let Some(prefetch) = self.prefetch.filter(|prefetch| prefetch.segment() == segment) else { return };
        if stop <= prefetch.stop() {
            return;
        }
        self.prefetch = if prefetch.is_at_stop(now) {
            let arm = Arm::over(&prefetch.pass().extent);
            Prefetch::begin(media, segment, begin, arm, prefetch.stop(), stop)
        } else {
            Some(prefetch.on_to(stop))
        };
    }

    /// The media are just reading the sectors up to `end` ahead: they go on as far as the command needs, and its passes
    /// are those of the read-ahead.
    pub(crate) fn read_in_flight(
        &mut self,
        media: &Media<'_>,
        end: u64,
        sequential: bool,
        passes: &mut Passes,
    ) {
        let prefetch = self.prefetch.expect("read-ahead is under way");
        let start = self.segments.get(prefetch.segment()).start;
        let limit = read_ahead::stop(media.model, sequential, end, start, self.segments.size()).max(end);
        let prefetch = prefetch.on_to(prefetch.stop().max(limit).min(media.model.layout.capacity()));
        self.prefetch = Some(prefetch);
        self.segments.touch(prefetch.segment(), end);
        let mut ahead = prefetch;
        passes.push(ahead.pass());
        while ahead.pass().end_lba() < end {
            ahead = ahead.following(media);
            passes.push(ahead.pass());
        }
    }

    /// A read from the media is done: its sectors are kept, and read-ahead begins.
    #[expect(clippy::inline_always, reason = "most reads come here, and know most of what it asks")]
    #[inline(always)]
    pub(crate) fn fill(&mut self, media: &Media<'_>, fill: &Fill) {
        if fill.end - fill.lba > media.model.sizes.bypass {
            return;
        }
        let held = match fill.segment {
            Some(segment) => {
                self.segments.extend(segment, fill.end);
                self.segments.touch(segment, fill.end);
                Some(segment)
            }
            None => self.segments.allocate(fill.landed, fill.end, self.stopped),
        };
        let Some(segment) = held else { return };
        let (start, room) = (self.segments.get(segment).start, self.segments.size());
        let stop = read_ahead::stop(media.model, fill.sequential, fill.end, start, room);
        let before = read_ahead::before_landing(media.model, fill.end, stop, fill.landed, room);
        // Assigned in each case: what several cases give would be made elsewhere, and copied here.
        match (before, fill.tail) {
            (None, Some(tail)) => self.prefetch = Prefetch::along(media, segment, fill.done, tail, stop),
            (None, None) => {
                self.prefetch = Prefetch::begin(media, segment, fill.done, fill.arm, fill.end, stop);
            }
            (Some(before), _) => {
                let whole =
                    Prefetch::whole_track(media, segment, fill.done, fill.arm, fill.end, stop, before);
                self.prefetch = Some(whole);
            }
        }
    }

    /// Sectors `start..end` are being written: they leave the read cache. Read-ahead into a segment that lost its end is
    /// pointless, and stops.
    #[inline]
    pub(crate) fn overwrite(
        &mut self,
        media: &Media<'_>,
        (start, end): (u64, u64),
        now: Nanos,
    ) -> Option<Release> {
        if self.segments.takes_writes_in() {
            return None;
        }
        // What has been read ahead by now is written over, too.
        self.settle(media, now);
        let filling = self.filling_at(now);
        let any = self.segments.invalidate(start, end, filling);
        let stays = media.model.cache().is_some_and(|cache| cache.write_overlap == WriteOverlap::DropAtRest);
        if !any || (stays && filling.is_some()) {
            return None;
        }
        let prefetch = self.prefetch.as_mut()?;
        prefetch.advance(media, now);
        let (from, to) = (prefetch.end(media, now), prefetch.stop());
        let pointless = (start < to && from < end) || self.segments.get(prefetch.segment()).end != from;
        if !pointless {
            return None;
        }
        self.prefetch.take().map(|prefetch| prefetch.release(media, now))
    }

    /// Whether the read cache holds any of `start..end`.
    pub(crate) fn holds_any_of(&self, (start, end): (u64, u64)) -> bool {
        self.segments.hold_any_of(start, end)
    }

    /// Written data stay for reads to find, where the drive keeps them.
    #[expect(clippy::inline_always, reason = "most writes come here")]
    #[inline(always)]
    pub(crate) fn keep_written(&mut self, start: u64, end: u64, on_its_way: bool) {
        self.segments.keep_written(start, end, on_its_way, self.stopped);
    }

    /// Whether the write-back cache takes a write of `start..end` at `at`.
    pub(crate) fn takes(&self, write_back: &WriteBack, (start, end): (u64, u64), at: Nanos) -> bool {
        let held = self.dirty.sectors() + self.destaging.sectors_at(at) + self.dirty.growth(start, end);
        let runs = self.dirty.count() + self.destaging.at(at).count();
        held <= write_back.room && (runs < write_back.runs || !self.dirty.is_apart(start, end))
    }

    /// For how many sectors that lie apart from all others the write-back cache has room at `at`.
    pub(crate) fn room(&self, write_back: &WriteBack, at: Nanos) -> u64 {
        let runs = self.dirty.count() + self.destaging.at(at).count();
        let held = self.dirty.sectors() + self.destaging.sectors_at(at);
        if runs < write_back.runs { write_back.room.saturating_sub(held) } else { 0 }
    }

    /// A write of `start..end` is in the write-back cache at `at`.
    pub(crate) fn take(&mut self, model: &DriveModel, (start, end): (u64, u64), at: Nanos) {
        self.dirty.insert(start, end, |lba| Target::at(model, lba));
        self.dirty.note_arrival(at, start, end);
    }

    /// Buffered sectors `start..end` are on their way to the media, and there at `at`.
    pub(crate) fn destage(&mut self, model: &DriveModel, (start, end): (u64, u64), at: Nanos) {
        self.forget(model, (start, end));
        self.destaging.add(start, end, at);
    }

    /// Sectors `start..end` go to the media by another way: what waited to is replaced.
    pub(crate) fn forget(&mut self, model: &DriveModel, (start, end): (u64, u64)) {
        self.dirty.remove(start, end, |lba| Target::at(model, lba));
    }

    /// Destage has been followed to `now`.
    pub(crate) fn destaged_to(&mut self, now: Nanos) {
        self.settled = self.settled.max(now);
        self.destaging.forget_written(now);
    }

    /// The arm is promised to a command that begins at `until`: no destage begins before.
    pub(crate) fn keep_arm_until(&mut self, until: Nanos) {
        self.settled = self.settled.max(until);
    }

    /// No destage begins before this that has not begun.
    pub(crate) fn settled(&self) -> Nanos {
        self.settled
    }

    /// What was acknowledged and would be lost with the power at `now`: ranges of addresses, first and one after the last.
    pub(crate) fn volatile(&self, now: Nanos) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.dirty.runs().chain(self.destaging.at(now)).chain(self.early.at(now))
    }

    /// The ranges of addresses that a read, one of `reads`, would find at `at`: first, and one after the last.
    pub(crate) fn held(
        &self,
        media: &Media<'_>,
        at: Nanos,
        reads: impl Iterator<Item = (u64, u64)> + Clone,
        ranges: &mut Vec<(u64, u64)>,
    ) {
        ranges.clear();
        match self.prefetch {
            // Mostly the read cache knows none of them.
            _ if !reads.clone().any(|(start, _)| self.may_be_cached(start)) => {}
            None => ranges.extend(self.segments.held()),
            Some(mut prefetch) => {
                // To look must not change what is: read-ahead is brought to the instant in copies.
                let mut segments = self.segments.clone();
                prefetch.settle(media, &mut segments, at);
                ranges.extend(segments.held());
            }
        }
        ranges.extend(self.early.at(at));
        ranges.extend(self.destaging.at(at));
        if !self.dirty.is_empty() {
            // There may be very many.
            ranges.extend(reads.filter(|&(start, end)| self.dirty.covers(start, end)));
        }
    }

    /// The disk, which turned as `old` says, turns as `new` from `at` on: read-ahead under way goes on at that speed.
    #[cold]
    pub(crate) fn change_speed(&mut self, old: &Media<'_>, new: &Epoch, at: Nanos) {
        self.settle(old, at);
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.continue_at(new);
        }
    }

    /// Whether read-ahead is under way or has come to its end with nothing after it.
    #[inline]
    pub(crate) fn has_prefetch(&self) -> bool {
        self.prefetch.is_some()
    }

    /// The work in hand happens at another time. Reading ahead turns with the disk.
    pub(crate) fn rebase(&mut self, to: Rebase) {
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.rebase(|at| to.shifted(at));
        }
        self.settled = to.moved(self.settled);
        self.dirty.rebase(|at| to.moved(at));
    }

    /// Writes on their way are on the media at another time.
    pub(crate) fn rebase_writes(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        self.destaging.rebase(&moved);
        self.early.rebase(&moved);
    }

    /// Read-ahead goes on when its sectors come around.
    pub(crate) fn catch_sectors(&mut self, media: &Media<'_>) {
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.catch_sectors(media);
        }
    }
}
