//! How far a drive reads ahead, by the kind its description names.

use crate::model::DriveModel;
use crate::spec::ReadAhead;

/// The address before which read-ahead stops, behind a read that ended at `end` and whose segment starts at
/// `segment_start` and has room for `room` sectors. `sequential`: the read continued the one before it.
#[expect(clippy::inline_always, reason = "it chooses one of many ways, and most are short")]
#[inline(always)]
pub(crate) fn stop(model: &DriveModel, sequential: bool, end: u64, segment_start: u64, room: u64) -> u64 {
    let Some(cache) = model.cache() else { return end };
    let (sizes, layout) = (&model.sizes, &model.layout);
    let bounded = |stop: u64| stop.min(end.saturating_add(sizes.read_ahead.unwrap_or(room)));
    match cache.read_ahead {
        ReadAhead::None | ReadAhead::OnArrival => end,
        ReadAhead::OnceSequential if !sequential => end,
        ReadAhead::ToCylinderEnd => bounded(layout.cylinder_end(end - 1)),
        ReadAhead::UntilFull if cache.read_ahead_over_requested => bounded(end + room),
        ReadAhead::UntilFull => bounded((segment_start + room).max(end)),
        ReadAhead::Aggressive | ReadAhead::OnceSequential => bounded(end + room),
        ReadAhead::SequentialAware if sequential => bounded(end + room),
        ReadAhead::TrackAhead => {
            let next = end.min(layout.capacity() - 1);
            let (first, stop) = layout.track_range(next);
            let is_last = segment_start >= first || stop >= layout.capacity();
            if is_last { stop } else { layout.track_range(stop).1 }
        }
        ReadAhead::ToTrackEnd | ReadAhead::SequentialAware => bounded(layout.track_range(end - 1).1),
    }
}

/// What of the track of `next − 1` had passed before the head landed at `landed`, where the drive reads that, too: one
/// that takes sectors as they come and reads ahead to the track's end (`stop`) has the whole track when it comes around, if its segment has `room`.
#[inline]
pub(crate) fn before_landing(
    model: &DriveModel,
    next: u64,
    stop: u64,
    landed: u64,
    room: u64,
) -> Option<(u64, u64)> {
    let cache = model.cache().filter(|cache| cache.zero_latency && cache.whole_track)?;
    let (first, end) = model.layout.track_range(next - 1);
    let whole = stop == end && cache.read_ahead != ReadAhead::OnArrival;
    let fits = end - first <= room;
    (whole && fits && (first + 1..end).contains(&landed)).then_some((first, landed))
}
