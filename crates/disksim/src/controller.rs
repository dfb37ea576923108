//! From the parameters of `disksim_disk` (and the bus of a simulation file) to controller, buffer, cache, write policy
//! and bus.
//!
//! What is named here as carried is named so in [`crate::parameters::TABLE`], and nothing else.

use crate::absent;
use crate::electronics::{BLOCK_BYTES, BLOCK_KIB, BusTimes, Electronics, rounded, segments};
use crate::error::ImportError;
use crate::meaning::Meaning;
use crate::original;
use crate::parameters::Parameters;
use crate::report::Report;
use headstack_drive::spec::{
    Appends, BufferSpec, BusSpec, CacheSpec, ControllerSpec, DirtyHit, DuringEarlyWrite, LayoutSpec,
    OverheadsByHistory, ReadAhead, WriteOverlap, WritePolicy, WrittenData,
};

/// Without a word on its speed the bus is assumed to carry this much, in MB/s.
const ASSUMED_MB_PER_S: f64 = 10.0;

/// Reads all of it.
pub(crate) fn electronics(
    parameters: &Parameters<'_>,
    bus_times: Option<&BusTimes>,
    report: &mut Report,
) -> Result<Electronics, ImportError> {
    let mut to = Electronics::default();
    if report.meaning == Meaning::Disksim {
        original::electronics(parameters, &mut to)?;
    } else {
        controller(parameters, &mut to)?;
        buffer(parameters, &mut to)?;
        cache(parameters, &mut to, report)?;
        write_policy(parameters, &mut to)?;
    }
    absent::tell(parameters, &mut to, report);
    scheduler(parameters, &mut to, report)?;
    bus(Some(parameters), bus_times, &mut to, report);
    Ok(to)
}

fn scheduler(
    parameters: &Parameters<'_>,
    to: &mut Electronics,
    report: &mut Report,
) -> Result<(), ImportError> {
    to.controller.scheduler = parameters.scheduler(report)?;
    if to.controller.scheduler != "fcfs" && to.controller.queue_depth == 1 {
        let message = "the drive takes one command at a time, so its scheduler has nothing to choose from";
        report.warn(parameters.at("Max queue length"), message);
    }
    Ok(())
}

/// For a model without a `disksim_disk`.
pub(crate) fn assumed(bus_times: Option<&BusTimes>, report: &mut Report) -> Electronics {
    let mut to = Electronics::default();
    let source = "the file describes geometry and mechanics only".to_owned();
    for path in ["controller", "buffer", "write_policy", "bus"] {
        to.assumed.push((path, source.clone()));
    }
    bus(None, bus_times, &mut to, report);
    to
}

fn controller(from: &Parameters<'_>, to: &mut Electronics) -> Result<(), ImportError> {
    let scale = from.value("Time scale for overheads", 1.0);
    let every = from.value("Per-request overhead time", 0.0) * scale;
    let ms = |name: &str| rounded(scale * from.value(name, 0.0));
    let overhead = |name: &str| rounded(every + scale * from.value(name, 0.0));
    let extra = from.value("Extra write disconnect", 0.0) != 0.0;
    let delta = if extra { ms("Extradisc seek delta") } else { 0.0 };
    let delay = ms("Minimum seek delay");
    let read_hit_ms = [overhead("Read hit over. after read"), overhead("Read hit over. after write")];
    let read_seek_ms = [overhead("Read miss over. after read"), overhead("Read miss over. after write")];
    let write_miss_ms = [overhead("Write miss over. after read"), overhead("Write miss over. after write")];
    // Where writes are reported early, their overhead is all of the command's processing; that of reads ends with the
    // start of the seek, and the rest of it shows only where there is no seek.
    let level = from.value("Fast write level", 0.0);
    let early = level != 0.0;
    let write_hit_ms = [overhead("Write hit over. after read"), overhead("Write hit over. after write")];
    // At level 2 all writes take what a write into the buffer takes (seen on the Cheetah 9LP, the Atlas III and the Atlas 10K;
    // not on the Cheetah 4LP, which has level 1).
    let write_ms = if level == 2.0 { write_hit_ms } else { write_miss_ms };
    let read_whole_ms = [0, 1].map(|after| f64::max(read_seek_ms[after], write_miss_ms[after]));
    to.controller = ControllerSpec {
        read_overhead_ms: overhead("Read miss over. after read"),
        write_overhead_ms: write_ms[0],
        hit_overhead_ms: Some(overhead("Read hit over. after read")),
        by_history: Some(OverheadsByHistory {
            read_hit_ms,
            // A drive that has come to rest takes as long as after a write (seen on the Barracuda 4LP and the Cheetah
            // 9LP), where the file says that this is longer.
            read_hit_at_rest_ms: (early && read_hit_ms[1] > read_hit_ms[0]).then_some(read_hit_ms[1]),
            stream_wait_ms: None,
            read_miss_ms: if early { read_whole_ms } else { read_seek_ms },
            write_hit_ms,
            write_miss_ms: write_ms,
            read_seek_after_ms: (early && read_whole_ms != read_seek_ms).then_some(read_seek_ms),
            write_seek_after_ms: None,
        }),
        // The delay holds for writes with the extra disconnect; without it the arm starts that much sooner.
        seek_after_ms: (delay > 0.0).then(|| rounded((delay - delta).max(0.0))),
        write_after_write_seek_delay_ms: delta,
        data_preparation_ms: ms("Data preparation overhead"),
        read_completion_ms: ms("Read completion overhead"),
        // A write's end is told after the drive has left the bus and come back.
        write_completion_ms: rounded(
            ms("Write completion overhead")
                + ms("Write disconnect overhead")
                + ms("First reselect overhead")
                + ms("Other reselect overhead"),
        ),
        // 0 stands for no queue: one command at a time.
        queue_depth: from.count("Max queue length", 1, 0, 1_000_000)?.max(1) as u32,
        ..ControllerSpec::default()
    };
    to.assumed.push(("controller.overhead_beside_seek_ms", "DiskSim 4.0 has no such parameter".to_owned()));
    Ok(())
}

fn buffer(from: &Parameters<'_>, to: &mut Electronics) -> Result<(), ImportError> {
    let (count, segment_kib) = segments(from)?;
    let by_request = from.value("Set watermark by reqsize", 1.0) != 0.0;
    let mark = from.value("High (read) water mark", 0.0);
    to.buffer = BufferSpec {
        size_kib: count as f64 * segment_kib,
        read_fence_kib: if by_request { 0.0 } else { mark * segment_kib },
        read_fence_fraction: (by_request && mark > 0.0).then_some(mark),
        // A write to where the arm is already goes to the media no sooner than a seek could begin.
        write_start_ms: from.value("Minimum seek delay", 0.0) * from.value("Time scale for overheads", 1.0),
        ..BufferSpec::default()
    };
    for path in ["buffer.read_fence_at_track_end", "buffer.write_overlaps_seek"] {
        to.assumed.push((path, "DiskSim 4.0 has no such parameter".to_owned()));
    }
    Ok(())
}

fn cache(from: &Parameters<'_>, to: &mut Electronics, report: &mut Report) -> Result<(), ImportError> {
    let enabled = from.count("Enable caching in buffer", 0, 0, 2)?;
    let prefetch = from.count("Buffer continuous read", 0, 0, 4)?;
    let limit = from.count("Maximum read-ahead (blks)", 0, 0, 1 << 31)?;
    let on_arrival = from.value("Read any free blocks", 0.0) != 0.0;
    if enabled == 2 {
        let message = "`Enable caching in buffer` is 2, taken as 1: the buffer is a cache";
        report.warn(from.at("Enable caching in buffer"), message);
    }
    let (segments, segment_kib) = segments(from)?;
    let read_ahead = match prefetch {
        0 if on_arrival => ReadAhead::OnArrival,
        0 => ReadAhead::None,
        1 => ReadAhead::ToTrackEnd,
        2 => ReadAhead::ToCylinderEnd,
        3 => ReadAhead::UntilFull,
        _ => ReadAhead::SequentialAware,
    };
    if enabled == 0 {
        return Ok(());
    }
    let readable = from.value("Allow read hits on write data", 1.0) != 0.0;
    let own = from.value("Use separate write segment", 0.0) != 0.0 && segments > 1;
    to.cache = Some(CacheSpec {
        read_ahead,
        read_ahead_limit_kib: from.has("Maximum read-ahead (blks)").then_some(limit as f64 * BLOCK_KIB),
        zero_latency: on_arrival,
        whole_track: on_arrival,
        read_ahead_over_requested: from.value("Read-ahead over requested", 0.0) > 0.0,
        read_ahead_on_hit: (prefetch == 3).then(|| from.value("Read-ahead on idle hit", 0.0) != 0.0),
        written_data: match (readable, own) {
            (false, _) => WrittenData::Dropped,
            (true, false) => WrittenData::Shared,
            (true, true) => WrittenData::OwnSegment,
        },
        // Seen on the measured drives: of two that append at level 2 all reads behind a write are hits still, of two at
        // level 1 none (VALIDATION, single requests).
        write_overlap: match from.value("Fast write level", 0.0) as u32 {
            1 if readable => WriteOverlap::DropAtRest,
            2 if readable => WriteOverlap::Update,
            _ => WriteOverlap::default(),
        },
        ..CacheSpec::new(segments as u32, segment_kib)
    });
    to.assumed.push(("cache.after_hit", "DiskSim 4.0 has no such parameter".to_owned()));
    Ok(())
}

/// Staying a track ahead takes segments that hold two tracks. A drive whose segments hold one reads to the end of the
/// track; one whose segments hold less reads ahead only once it knows that it is worth while. (Of the drives DiskSim was
/// validated with the Cheetah 9LP, the Atlas 10K and the Atlas III: their measured hits follow this.)
pub(crate) fn fit_read_ahead(cache: &mut CacheSpec, layout: &LayoutSpec) {
    if cache.read_ahead != ReadAhead::SequentialAware {
        return;
    }
    let longest = layout.most_data_sectors_per_track().max(1);
    let tracks = cache.segment_kib / (f64::from(longest) * BLOCK_KIB);
    if tracks >= 2.0 {
        cache.read_ahead = ReadAhead::UntilFull;
        cache.read_ahead_on_hit = Some(true);
    } else if tracks < 1.0 {
        cache.read_ahead = ReadAhead::OnceSequential;
    }
}

fn write_policy(from: &Parameters<'_>, to: &mut Electronics) -> Result<(), ImportError> {
    // Levels 1 and 2 differ in what happens to an append after other requests; here an append joins the write it
    // continues as long as that is in the buffer.
    if from.count("Fast write level", 0, 0, 2)? > 0 {
        let pending = from.count("Maximum number of write segments", 1, 0, 100_000)?.max(1) as u32;
        to.write_policy = WritePolicy::ImmediateReporting {
            pending_writes: Some(pending),
            dirty_hit: DirtyHit::default(),
            during_early_write: DuringEarlyWrite::default(),
            appends: Appends::default(),
        };
        let source = "DiskSim 4.0 has no such parameter".to_owned();
        to.assumed.push(("write_policy.immediate-reporting.dirty_hit", source));
    }
    Ok(())
}

fn bus(from: Option<&Parameters<'_>>, times: Option<&BusTimes>, to: &mut Electronics, report: &mut Report) {
    let drive_ms = from.map_or(0.0, |from| from.value("Bulk sector transfer time", 0.0));
    let (bus_read_ms, bus_write_ms) = times.map_or((0.0, 0.0), |times| (times.read_ms, times.write_ms));
    let rate = |ms: f64| BLOCK_BYTES / 1e3 / ms;
    let (read_ms, write_ms) = (drive_ms.max(bus_read_ms), drive_ms.max(bus_write_ms));
    let rates = [read_ms, write_ms].map(|ms| if ms > 0.0 { rate(ms) } else { ASSUMED_MB_PER_S });
    to.of_bus.extend((bus_read_ms > drive_ms).then_some("bus.read_mb_per_s"));
    to.of_bus.extend((bus_write_ms > drive_ms).then_some("bus.write_mb_per_s"));
    if read_ms <= 0.0 || write_ms <= 0.0 {
        let source = "the files say nothing of the speed of the transfer".to_owned();
        for (path, ms) in [("bus.read_mb_per_s", read_ms), ("bus.write_mb_per_s", write_ms)] {
            if ms <= 0.0 {
                to.assumed.push((path, source.clone()));
            }
        }
        if let Some(from) = from {
            let message = format!(
                "`Bulk sector transfer time` is 0, so the bus alone limits the transfer: {ASSUMED_MB_PER_S} MB/s are \
                 assumed; name the simulation's .parv as a further file to have its bus"
            );
            report.warn(from.at("Bulk sector transfer time"), message);
        }
    }
    let scale = from.map_or(1.0, |from| from.value("Time scale for overheads", 1.0));
    to.bus = Some(BusSpec {
        kind: "SCSI".to_owned(),
        read_mb_per_s: rounded(rates[0]),
        write_mb_per_s: rounded(rates[1]),
        arbitration_us: 0.0,
        reconnect_us: rounded(
            1e3 * scale * from.map_or(0.0, |from| from.value("First reselect overhead", 0.0)),
        ),
        disconnects: from.is_none_or(|from| from.value("Never disconnect", 0.0) == 0.0),
    });
    to.assumed.push(("bus.kind", "DiskSim 4.0 has no such parameter".to_owned()));
    to.assumed.push(("bus.arbitration_us", "belongs to the bus, not to the drive".to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{At, Block, Kind, Parameter, Value};
    use crate::uses::{TABLE, Use, becomes};

    /// A drive whose every carried parameter has an effect where writes are reported early (`level` 1) or not, with one of
    /// them changed.
    fn with(changed: &str, meaning: Meaning, level: f64) -> String {
        let at = At { file: "x.diskspecs".into(), line: 1 };
        let value = |name: &str| match name {
            "Read any free blocks"
            | "Set watermark by reqsize"
            | "Never disconnect"
            | "Use separate write segment" => 0.0,
            "High (read) water mark" | "Low (write) water mark" | "Extradisc seek delta" => 0.5,
            "Number of buffer segments" | "Read hit over. after write" => 2.0,
            "Buffer continuous read" => 3.0,
            "Segment size (in blks)" => 64.0,
            "Fast write level" => level,
            _ => 1.0,
        };
        let parameters =
            TABLE.iter().filter(|(name, _)| !matches!(*name, "Model" | "Scheduler")).map(|&(name, _)| {
                let usual = value(name);
                let other = match name {
                    "Enable caching in buffer"
                    | "Hold bus entire read xfer"
                    | "Stop prefetch in sector"
                    | "Extra write disconnect"
                    | "Allow read hits on write data"
                    | "Read-ahead on idle hit"
                    | "Buffer continuous read" => 0.0,
                    "Fast write level" => 1.0 - level,
                    "Read-ahead over requested" => -1.0,
                    "Read any free blocks"
                    | "Set watermark by reqsize"
                    | "Never disconnect"
                    | "Use separate write segment" => 1.0,
                    _ => usual * 2.0,
                };
                let number =
                    Value { at: at.clone(), kind: Kind::Real(if name == changed { other } else { usual }) };
                Parameter { name: name.to_owned(), at: at.clone(), value: number }
            });
        let parameters = parameters.collect();
        let block = Block { kind: "disksim_disk".into(), name: "X".into(), at: at.clone(), parameters };
        let mut report = Report { meaning, ..Report::default() };
        let parameters = Parameters::new(&block, &mut report).unwrap();
        let to = electronics(&parameters, None, &mut report).unwrap();
        format!("{:?}", (to.controller, to.buffer, to.cache, to.write_policy, to.bus))
    }

    #[test]
    fn what_the_table_calls_carried_changes_the_drive_and_nothing_else_does() {
        for (meaning, _) in Meaning::ALL {
            for (name, _) in TABLE {
                if matches!(name, "Model" | "Scheduler") {
                    continue;
                }
                let changes = |level| with(name, meaning, level) != with("", meaning, level);
                let carried = matches!(becomes(name, meaning), Some(Use::Carried(_)));
                assert_eq!(changes(0.0) || changes(1.0), carried, "{name}, {meaning:?}");
            }
        }
    }
}
