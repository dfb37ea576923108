//! After a read from the media: what is kept of it, and what is read ahead.

use crate::drive::Drive;
use crate::layout::Extent;
use crate::media::{Arm, Media};
use crate::model::DriveModel;
use crate::read::ReadPlan;
use crate::spec::{CacheSpec, ReadAhead};
use crate::stream::Stream;
use headstack_units::Nanos;

impl Drive {
    /// The media work of a read ends at `end`: the mechanism is free, the sectors are kept, read-ahead begins.
    pub(crate) fn leave_media(
        &mut self,
        media: &Media<'_>,
        plan: &ReadPlan,
        end: Nanos,
        segment: Option<usize>,
        landed: u64,
    ) {
        let (lba, sectors) = (plan.command.lba.0, u64::from(plan.command.sectors));
        let last = plan.passes.iter().max_by_key(|pass| pass.end).expect("a read has media work");
        let arm = Arm::over(&last.extent);
        self.mechanism.release(plan.media_base, end, arm);
        if sectors > media.model.sizes.bypass {
            return;
        }
        let held = match segment {
            Some(segment) => {
                self.cache.extend(segment, lba + sectors);
                self.cache.touch(segment, lba + sectors);
                Some(segment)
            }
            None => self.cache.allocate(landed, lba + sectors),
        };
        if let Some(segment) = held {
            let stop = self.read_ahead_stop(media.model, lba + sectors, self.cache.get(segment).start);
            let next = lba + sectors;
            self.mechanism.stream = match self.before_landing(next, stop, landed) {
                Some(before) => Some(Stream::whole_track(media, segment, end, arm, next, stop, before)),
                None => Stream::begin(media, segment, end, arm, next, stop),
            };
        }
    }

    /// As [`Drive::leave_media`], after a read of the first `sectors` sectors of `run`, nothing of which was in the buffer,
    /// by a drive that takes them in order.
    #[inline]
    pub(crate) fn leave_track(
        &mut self,
        media: &Media<'_>,
        run: Extent,
        sectors: u32,
        (claimed, end): (Nanos, Nanos),
    ) {
        let arm = Arm::over(&run);
        let next = run.lba + u64::from(sectors);
        self.mechanism.release(claimed, end, arm);
        if let Some(segment) = self.cache.allocate(run.lba, next) {
            let stop = self.read_ahead_stop(media.model, next, self.cache.get(segment).start);
            self.mechanism.stream = if sectors < run.sectors {
                Stream::along(media, segment, end, run.behind(sectors), stop)
            } else {
                Stream::begin(media, segment, end, arm, next, stop)
            };
        }
    }

    /// What of the request's track had passed before the head landed at `landed`, where the drive reads that, too: one
    /// that takes sectors as they come and reads ahead to the track's end has the whole track when it comes around.
    fn before_landing(&self, next: u64, stop: u64, landed: u64) -> Option<(u64, u64)> {
        let cache = self.model.cache().filter(|cache| cache.zero_latency && cache.whole_track)?;
        let (first, end) = self.model.layout.track_range(next - 1);
        let whole = stop == end && cache.read_ahead != ReadAhead::OnArrival;
        let fits = end - first <= self.model.sizes.segment;
        (whole && fits && (first + 1..end).contains(&landed)).then_some((first, landed))
    }

    /// After a hit: a drive that stays ahead reads on where the host made room.
    pub(crate) fn read_on(&mut self, media: &Media<'_>, segment: usize, end: u64, now: Nanos) {
        if !self.model.cache().is_some_and(CacheSpec::reads_on_after_hits) {
            return;
        }
        let stop = self
            .read_ahead_stop(media.model, end, self.cache.get(segment).start)
            .min(media.model.layout.capacity());
        let Some(stream) = self.mechanism.stream.filter(|stream| stream.segment == segment) else { return };
        if stop <= stream.stop {
            return;
        }
        if stream.is_at_stop(now) {
            let next = stream.stop;
            let arm = Arm::over(&stream.pass.extent);
            let begin = now.max(self.mechanism.free_at);
            self.mechanism.stream = Stream::begin(media, segment, begin, arm, next, stop);
        } else {
            self.mechanism.stream = Some(stream.on_to(stop));
        }
    }

    /// How far the drive reads ahead behind a read that ended at `end`.
    pub(crate) fn read_ahead_stop(&self, model: &DriveModel, end: u64, segment_start: u64) -> u64 {
        let Some(cache) = model.cache() else { return end };
        let (sizes, layout) = (&model.sizes, &model.layout);
        let bounded = |stop: u64| stop.min(end.saturating_add(sizes.read_ahead));
        match cache.read_ahead {
            ReadAhead::None | ReadAhead::OnArrival => end,
            ReadAhead::OnceSequential if !self.history.sequential => end,
            ReadAhead::ToTrackEnd => bounded(layout.track_range(end - 1).1),
            ReadAhead::ToCylinderEnd => bounded(layout.cylinder_end(end - 1)),
            ReadAhead::UntilFull if cache.read_ahead_over_requested => bounded(end + sizes.segment),
            ReadAhead::UntilFull => bounded((segment_start + sizes.segment).max(end)),
            ReadAhead::Aggressive | ReadAhead::OnceSequential => bounded(end + sizes.segment),
            ReadAhead::SequentialAware => {
                if self.history.sequential {
                    bounded(end + sizes.segment)
                } else {
                    bounded(layout.track_range(end - 1).1)
                }
            }
        }
    }
}
