//! Read-ahead: the media go on reading behind a request until told otherwise.
//!
//! Nothing happens "while" the drive reads ahead: the state at any instant follows from when it began, and is worked
//! out when somebody asks.

use super::sameness::Relabelling;
use super::segments::Segments;
use crate::layout::Extent;
use crate::mechanics::Epoch;
use crate::mechanism::{Arm, Media, Pass, Release};
use headstack_units::{Angle, Nanos, Op};

/// Reading ahead into a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefetch {
    /// The segment that is filled.
    segment: usize,
    /// Where the arm was before it.
    from: Arm,
    /// The extent being read, or the last one.
    pass: Pass,
    /// Reading stops before this address.
    stop: u64,
    /// What is read after that: the sectors of the track that had passed before the head landed, first and one after the
    /// last. They join the segment when they are complete.
    before: Option<(u64, u64)>,
    /// That is being read now, or has been.
    wrapped: bool,
    /// The segment holds what had been read at this instant.
    settled: Nanos,
    /// Where it waits for room.
    wait: Option<Wait>,
}

/// A sector that is not read before an instant, because the segment is full of data that have not been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    lba: u64,
    until: Nanos,
}

impl Wait {
    /// When a pass begins and ends of which the first sector waits.
    #[cold]
    fn put_off(self, media: &Media<'_>, pass: Pass) -> (Nanos, Nanos) {
        let from = pass.ready.max(self.until);
        media.epoch.pass(from, pass.extent.start, pass.extent.span(pass.sectors))
    }
}

impl Prefetch {
    /// Reading on from `lba` up to `stop`, the media being free at `begin`; `None` where there is nothing to read.
    pub(crate) fn begin(
        media: &Media<'_>,
        segment: usize,
        begin: Nanos,
        arm: Arm,
        lba: u64,
        stop: u64,
    ) -> Option<Self> {
        let stop = stop.min(media.model.layout.capacity());
        (lba < stop).then(|| {
            let pass = media.next_pass(begin, arm, lba, stop - lba, Op::Read);
            Self::over(segment, arm, pass, stop)
        })
    }

    /// As [`Prefetch::begin`], from wherever the arm is; `stop` is behind `lba`.
    pub(crate) fn set_out(
        media: &Media<'_>,
        segment: usize,
        (begin, arm): (Nanos, Arm),
        lba: u64,
        stop: u64,
    ) -> Self {
        let target = media.extent(lba, stop - lba);
        let seek = media.seek(arm, &target, Op::Read);
        let pass = media.first_pass(begin, begin, seek, target);
        Self::over(segment, arm, pass, stop)
    }

    /// Its first pass is known; the arm comes `from` elsewhere.
    #[inline]
    fn over(segment: usize, from: Arm, pass: Pass, stop: u64) -> Self {
        Self { segment, from, pass, stop, before: None, wrapped: false, settled: Nanos::ZERO, wait: None }
    }

    /// As [`Prefetch::begin`], on the track under the head, where `run` is what follows there without a gap.
    #[expect(clippy::inline_always, reason = "most reads come here, and it is put where it stays")]
    #[inline(always)]
    pub(crate) fn along(
        media: &Media<'_>,
        segment: usize,
        begin: Nanos,
        run: Extent,
        stop: u64,
    ) -> Option<Self> {
        let stop = stop.min(media.model.layout.capacity());
        // Not by a closure, which would be called.
        if run.lba >= stop {
            return None;
        }
        let extent = run.first(stop - run.lba);
        let pass = media.pass_from(extent, 0, extent.sectors, begin, begin, begin);
        Some(Self::over(segment, Arm::over(&run), pass, stop))
    }

    /// As [`Prefetch::begin`], and then the sectors `before.0..before.1` of the track that went by before the head landed.
    pub(crate) fn whole_track(
        media: &Media<'_>,
        segment: usize,
        begin: Nanos,
        arm: Arm,
        lba: u64,
        stop: u64,
        before: (u64, u64),
    ) -> Self {
        if let Some(stream) = Self::begin(media, segment, begin, arm, lba, stop) {
            return Self { before: Some(before), ..stream };
        }
        let pass = media.next_pass(begin, arm, before.0, before.1 - before.0, Op::Read);
        Self { before: Some(before), wrapped: true, ..Self::over(segment, arm, pass, lba) }
    }

    /// Brings the stream to `now`.
    #[expect(clippy::inline_always, reason = "every command that finds read-ahead under way comes here")]
    #[inline(always)]
    pub(crate) fn advance(&mut self, media: &Media<'_>, now: Nanos) {
        while self.pass.end <= now {
            let next = self.pass.end_lba();
            let from = Arm::over(&self.pass.extent);
            let (next, stop) = match self.before {
                _ if !self.wrapped && next < self.stop => (next, self.stop),
                Some(before) if !self.wrapped => before,
                Some((_, landed)) if next < landed => (next, landed),
                _ => return,
            };
            self.wrapped |= stop != self.stop;
            self.pass = self.pass_at(media, next, stop);
            self.from = from;
        }
    }

    /// Brings the stream to `now`, and what it has read into its segment.
    pub(crate) fn settle(&mut self, media: &Media<'_>, segments: &mut Segments, now: Nanos) {
        self.advance(media, now);
        segments.extend(self.segment, self.end(media, now));
        if let Some(first) = self.front(now) {
            segments.extend_front(self.segment, first);
            // Once: what a hit or a write takes out of the segment later does not come back.
            self.before = None;
        }
    }

    /// The segment that is filled.
    #[inline]
    pub(crate) fn segment(&self) -> usize {
        self.segment
    }

    /// Reading stops before this address.
    pub(crate) fn stop(&self) -> u64 {
        self.stop
    }

    /// The extent being read, or the last one.
    pub(crate) fn pass(&self) -> Pass {
        self.pass
    }

    /// Whether the segment is behind what has been read at `now`; from here on it is taken not to be.
    #[inline]
    pub(crate) fn falls_due(&mut self, now: Nanos) -> bool {
        let due = now > self.settled;
        self.settled = self.settled.max(now);
        due
    }

    /// Whether `lba` can come to lie in or right behind what has been read, if the segment begins at `start`.
    #[inline]
    pub(crate) fn may_hold(&self, lba: u64, start: u64) -> bool {
        self.before.is_some() || (start..=self.stop).contains(&lba)
    }

    /// The stream at its next pass (the present one must not be the last).
    pub(crate) fn following(self, media: &Media<'_>) -> Self {
        Self { pass: self.pass_at(media, self.pass.end_lba(), self.stop), ..self }
    }

    /// The pass that begins with `next` and goes as far as `stop`, or to where there is no room.
    #[expect(clippy::inline_always, reason = "read-ahead goes from track to track here")]
    #[inline(always)]
    fn pass_at(&self, media: &Media<'_>, next: u64, stop: u64) -> Pass {
        match self.wait {
            None => self.pass_over(media, next, stop),
            Some(wait) => self.pass_with_room(media, next, stop, wait),
        }
    }

    #[expect(clippy::inline_always, reason = "read-ahead goes from track to track here")]
    #[inline(always)]
    fn pass_over(&self, media: &Media<'_>, next: u64, stop: u64) -> Pass {
        media.next_pass(self.pass.end, Arm::over(&self.pass.extent), next, stop - next, Op::Read)
    }

    /// As [`Prefetch::pass_at`], where room is waited for.
    #[cold]
    fn pass_with_room(&self, media: &Media<'_>, next: u64, stop: u64, wait: Wait) -> Pass {
        let stop = if next < wait.lba { stop.min(wait.lba) } else { stop };
        let mut pass = self.pass_over(media, next, stop);
        if wait.lba == next {
            (pass.start, pass.end) = wait.put_off(media, pass);
        }
        pass
    }

    /// There is no room for sector `lba` before `until`: if it comes by sooner, it has to come around again. Tells whether
    /// it does.
    pub(crate) fn wait_for_room(&mut self, media: &Media<'_>, lba: u64, until: Nanos) -> bool {
        let mut ahead = *self;
        while ahead.pass.end_lba() <= lba {
            if ahead.pass.end >= until || ahead.wrapped || ahead.pass.end_lba() >= ahead.stop {
                return false;
            }
            ahead = ahead.following(media);
        }
        let pass = ahead.pass;
        let Some(before) = lba.checked_sub(pass.lba()) else { return false };
        let begins = if before == 0 { pass.start } else { pass.sector_end(&media.epoch, before as u32) };
        // As with all sectors: missed by one tick is on time.
        if until <= begins + Nanos(1) {
            return false;
        }
        self.wait = Some(Wait { lba, until });
        if self.pass.end_lba() > lba {
            let sectors = (lba - self.pass.lba()) as u32;
            if sectors == 0 {
                let Pass { extent, offset, sectors, begin, ready, .. } = self.pass;
                self.pass = media.pass_from(extent, offset, sectors, begin, ready, ready.max(until));
            } else {
                let end = self.pass.sector_end(&media.epoch, sectors);
                self.pass = Pass { sectors, end, ..self.pass };
            }
        }
        true
    }

    /// The first address not yet read at the instant of the last `advance`.
    pub(crate) fn end(&self, media: &Media<'_>, now: Nanos) -> u64 {
        if self.wrapped {
            return self.stop;
        }
        self.pass.lba() + u64::from(self.pass.passed(&media.epoch, now))
    }

    /// The first address of the track, once all that had passed before the head landed has been read.
    pub(crate) fn front(&self, now: Nanos) -> Option<u64> {
        let (first, landed) = self.before.filter(|_| self.wrapped)?;
        (self.pass.end <= now && self.pass.end_lba() >= landed).then_some(first)
    }

    /// Whether everything up to `stop` has been read at `now`.
    pub(crate) fn is_at_stop(&self, now: Nanos) -> bool {
        self.wrapped || (self.pass.end <= now && self.pass.end_lba() >= self.stop)
    }

    /// Whether there is nothing left to read at `now`.
    #[inline]
    pub(crate) fn finished(&self, now: Nanos) -> bool {
        self.is_at_stop(now) && (self.before.is_none() || self.front(now).is_some())
    }

    /// Reading on to `stop`, and nothing after that; only for a stream that has not come to its own.
    pub(crate) fn on_to(self, stop: u64) -> Self {
        Self { stop, before: None, settled: Nanos::ZERO, ..self }
    }

    /// Stops at `now` (after `advance(now)`): a move in progress cannot be aborted (S0: head and track switches), a
    /// transfer can, or can at the end of a sector.
    pub(crate) fn release(&self, media: &Media<'_>, now: Nanos) -> Release {
        let target = Arm::over(&self.pass.extent);
        if media.model.rules.stops_after_sector && now > self.pass.begin {
            return Release { at: self.sector_over(media, now), arm: target };
        }
        if now >= self.pass.ready {
            Release { at: now, arm: target }
        } else if now > self.pass.begin {
            Release { at: self.pass.ready, arm: target }
        } else {
            Release { at: now, arm: self.from }
        }
    }

    /// When the sector under the head at `now` has passed, or the wait for the first one is over.
    fn sector_over(&self, media: &Media<'_>, now: Nanos) -> Nanos {
        if self.wait.is_some_and(|wait| wait.lba == self.pass.lba()) && now < self.pass.start {
            // Sectors go by that there is no room for.
            let width = self.pass.extent.slot_width;
            let gone = (media.epoch.angle(now) - self.pass.extent.start).0 % width.0.max(1);
            return now + media.epoch.time_of(Angle(width.0 - gone));
        }
        if now < self.pass.ready {
            return self.pass.ready;
        }
        if now <= self.pass.start {
            return self.pass.start;
        }
        let passed = self.pass.passed(&media.epoch, now);
        let last = passed.checked_sub(1).map(|_| self.pass.sector_end(&media.epoch, passed));
        if last == Some(now) || passed == self.pass.sectors {
            return now;
        }
        self.pass.sector_end(&media.epoch, passed + 1)
    }

    /// The pass under way ends when the spindle, now turning as `epoch` says, brings its last sector.
    pub(crate) fn continue_at(&mut self, epoch: &Epoch) {
        self.unsettle();
        let pass = &mut self.pass;
        let from = pass.extent.slot_start(pass.offset);
        pass.end = epoch.end_of(pass.start, from, pass.extent.span(pass.sectors));
    }

    /// The pass under way begins when its first sector really comes around, nearest to when it was to begin.
    pub(crate) fn catch_sectors(&mut self, media: &Media<'_>) {
        self.unsettle();
        let pass = self.pass;
        let quarter = Nanos((media.epoch.period() / 4.0) as u64);
        let about = pass.start.saturating_sub(quarter);
        let found = media.pass_from(pass.extent, pass.offset, pass.sectors, about, about, about);
        self.pass = Pass { begin: pass.begin.min(found.start), ready: pass.ready.min(found.start), ..found };
    }

    /// What has been read may be more by now, even at an instant asked about before.
    pub(crate) fn unsettle(&mut self) {
        self.settled = Nanos::ZERO;
    }

    /// The same, into the segment `labels` says.
    pub(super) fn relabelled(self, labels: &Relabelling) -> Self {
        Self { segment: labels.of(self.segment), ..self }
    }

    /// Everything happens at another time.
    pub(crate) fn rebase(&mut self, moved: impl Fn(Nanos) -> Nanos) {
        self.unsettle();
        if let Some(wait) = &mut self.wait {
            wait.until = moved(wait.until);
        }
        let pass = &mut self.pass;
        for at in [&mut pass.begin, &mut pass.ready, &mut pass.start, &mut pass.end] {
            *at = moved(*at);
        }
    }
}
