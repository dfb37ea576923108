//! What DiskSim 4.0 itself makes of the parameters of `disksim_disk`, rule by rule, whatever the drives did.

use crate::electronics::{BLOCK_KIB, Electronics, rounded, segments};
use crate::error::ImportError;
use crate::parameters::Parameters;
use headstack_drive::spec::{
    AfterHit, Appends, BufferSpec, BusTransfers, CacheSpec, CachedPart, ControllerSpec, DirtyHit,
    DuringEarlyWrite, HitDuringReadAhead, LookUp, OverheadsByHistory, ReadAhead, ReadAheadRoom,
    ReadAheadStop, Replacement, Rounding, WriteOverlap, WritePolicy, WrittenData,
};

/// Controller, buffer, cache and write policy.
pub(crate) fn electronics(from: &Parameters<'_>, to: &mut Electronics) -> Result<(), ImportError> {
    let reports_early = from.count("Fast write level", 0, 0, 2)? > 0;
    controller(from, reports_early, to)?;
    buffer(from, reports_early, to)?;
    cache(from, to)?;
    if reports_early {
        to.write_policy = WritePolicy::ImmediateReporting {
            pending_writes: Some(1),
            dirty_hit: DirtyHit::Delay,
            during_early_write: DuringEarlyWrite::Waits,
            appends: Appends::Twice,
        };
    }
    let source = "what DiskSim 4.0 does, whatever its parameters say".to_owned();
    for path in ["buffer.read_fence_at_track_end", "buffer.write_overlaps_seek", "controller.cached_part"] {
        to.assumed.push((path, source.clone()));
    }
    Ok(())
}

fn controller(from: &Parameters<'_>, reports_early: bool, to: &mut Electronics) -> Result<(), ImportError> {
    let scale = from.value("Time scale for overheads", 1.0);
    let every = from.value("Per-request overhead time", 0.0) * scale;
    let ms = |name: &str| rounded(scale * from.value(name, 0.0));
    let overhead = |name: &str| rounded(every + scale * from.value(name, 0.0));
    let both = |name: &str| {
        [overhead(&format!("{name} over. after read")), overhead(&format!("{name} over. after write"))]
    };
    // The level alone decides which overhead a write has.
    let write_ms = both(if reports_early { "Write hit" } else { "Write miss" });
    let read_hit_ms = both("Read hit");
    let read_miss_ms = both("Read miss");
    let extra = from.value("Extra write disconnect", 0.0) != 0.0;
    let extra_arm_ms = ms("Extradisc command overhead") + ms("Extradisc seek delta") + every;
    let told_ms = ms("Write completion overhead");
    to.controller = ControllerSpec {
        read_overhead_ms: read_miss_ms[0],
        write_overhead_ms: write_ms[0],
        hit_overhead_ms: Some(read_hit_ms[0]),
        by_history: Some(OverheadsByHistory {
            read_hit_ms,
            read_hit_at_rest_ms: None,
            stream_wait_ms: None,
            read_miss_ms,
            write_hit_ms: write_ms,
            write_miss_ms: write_ms,
            read_seek_after_ms: None,
            write_seek_after_ms: None,
        }),
        write_after_write_seek_delay_ms: if extra {
            rounded((extra_arm_ms - write_ms[1]).max(0.0))
        } else {
            0.0
        },
        write_after_write_completion_ms: (extra && !reports_early)
            .then(|| rounded(told_ms + ms("Other reselect overhead"))),
        least_write_seek_ms: ms("Minimum seek delay"),
        cached_part: CachedPart::HitOverhead,
        data_preparation_ms: ms("Data preparation overhead"),
        read_completion_ms: ms("Read completion overhead"),
        // An early write is told of when its data are there: the drive has not left the bus.
        write_completion_ms: rounded(
            told_ms + if reports_early { 0.0 } else { ms("First reselect overhead") },
        ),
        queue_depth: from.count("Max queue length", 1, 0, 1_000_000)?.max(1) as u32,
        ..ControllerSpec::default()
    };
    Ok(())
}

fn buffer(from: &Parameters<'_>, reports_early: bool, to: &mut Electronics) -> Result<(), ImportError> {
    let (count, segment_kib) = segments(from)?;
    let by_request = from.value("Set watermark by reqsize", 1.0) != 0.0;
    let mark = from.value("High (read) water mark", 0.0);
    let keeps_bus =
        ["Never disconnect", "Hold bus entire read xfer"].iter().any(|name| from.value(name, 0.0) != 0.0);
    let in_bursts = BufferSpec {
        bus_transfers: Some(BusTransfers::Bursts),
        buffer_full_kib: (!by_request && mark > 0.0).then_some(mark * segment_kib),
        buffer_full_fraction: by_request.then_some(mark),
        burst_kib: segment_kib,
        ..BufferSpec::default()
    };
    let in_one = BufferSpec { bus_transfers: Some(BusTransfers::One), ..BufferSpec::default() };
    to.buffer = BufferSpec {
        // Written data have the room of one segment until they are on the media.
        size_kib: if reports_early { segment_kib } else { count as f64 * segment_kib },
        read_fence_kib: if by_request { 0.0 } else { mark * segment_kib },
        read_fence_fraction: by_request.then_some(mark),
        fraction_rounding: Rounding::Down,
        // A sector goes to the media if its data are there when it comes.
        write_fence_kib: Some(BLOCK_KIB),
        ..if keeps_bus { in_one } else { in_bursts }
    };
    Ok(())
}

fn cache(from: &Parameters<'_>, to: &mut Electronics) -> Result<(), ImportError> {
    let (segments, segment_kib) = segments(from)?;
    if from.count("Enable caching in buffer", 0, 0, 2)? == 0 {
        return Ok(());
    }
    let limit = from.count("Maximum read-ahead (blks)", 0, 0, 1 << 31)?;
    let over = from.value("Read-ahead over requested", 0.0);
    let (read_ahead, bounded) = match from.count("Buffer continuous read", 0, 0, 4)? {
        0 => (ReadAhead::None, false),
        1 => (ReadAhead::ToTrackEnd, true),
        2 => (ReadAhead::ToCylinderEnd, true),
        3 if limit == 0 && over == 1.0 => (ReadAhead::UntilFull, false),
        3 => (ReadAhead::Aggressive, true),
        _ => (ReadAhead::TrackAhead, false),
    };
    let readable = from.value("Allow read hits on write data", 1.0) != 0.0;
    let own = from.value("Use separate write segment", 0.0) != 0.0 && segments > 1;
    // Reads never use the segment for writes alone.
    let shared = if own { segments - 1 } else { segments };
    to.cache = Some(CacheSpec {
        read_ahead,
        read_ahead_limit_kib: (bounded && limit > 0).then_some(limit as f64 * BLOCK_KIB),
        read_ahead_on_hit: Some(from.value("Read-ahead on idle hit", 0.0) != 0.0),
        hit_during_read_ahead: HitDuringReadAhead::OwnSegment,
        read_ahead_stop: if from.value("Stop prefetch in sector", 0.0) == 0.0 {
            ReadAheadStop::AfterSector
        } else {
            ReadAheadStop::AtOnce
        },
        read_ahead_room: ReadAheadRoom::Sent,
        look_up: LookUp::WhenReceived,
        replacement: Replacement::SpareReadAhead,
        write_overlap: WriteOverlap::DropAtRest,
        written_data: if own || !readable { WrittenData::Dropped } else { WrittenData::Shared },
        after_hit: if over < 0.0 && limit > 0 { AfterHit::Discard } else { AfterHit::Keep },
        ..CacheSpec::new(shared as u32, segment_kib)
    });
    Ok(())
}
