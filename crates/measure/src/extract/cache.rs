//! What the cache's answers say about it.

use super::bus;
use crate::angles::median::median;
use crate::angles::spindle::Spindle;
use crate::reading::ahead::{Ahead, Reach, pace_ms, reach};
use crate::reading::hits::{hit_times, hits, of, shares};
use crate::reading::segment::segment;
use crate::record::Record;
use crate::record::series::cache::{
    AGAIN, AGAIN_AFTER_WRITE, AHEAD, AHEAD_SEQUENTIAL, BEFORE, NEXT, SEGMENTS,
};
use serde::Serialize;

/// What is known of the read cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CacheFindings {
    /// Whether a sector just read comes from the cache.
    pub keeps_reads: bool,
    /// A read of one unit that the cache answers, behind a read, in ms.
    pub hit_ms: Option<f64>,
    /// The same behind a write, in ms.
    pub hit_after_write_ms: Option<f64>,
    /// Overhead of a hit without its transfer, in ms.
    pub hit_overhead_ms: Option<f64>,
    /// Drive to host, in 10⁶ bytes per second.
    pub bus_mb_per_s: Option<f64>,
    /// 95 % confidence of that, half width.
    pub bus_ci95_mb_per_s: Option<f64>,
    /// "none", "to-track-end", "until-full", "whole-track" or "once-sequential".
    pub read_ahead: &'static str,
    /// For each distance in sectors, the share of reads so far ahead that hit.
    pub ahead: Vec<(u64, f64)>,
    /// The same behind two reads in sequence.
    pub ahead_sequential: Vec<(u64, f64)>,
    /// Sectors a segment holds at least.
    pub segment_sectors_at_least: Option<u64>,
    /// Sectors a segment holds at most, where a larger read showed that.
    pub segment_sectors_at_most: Option<u64>,
    /// Sectors that are read ahead at least, …
    pub read_ahead_sectors_at_least: Option<u64>,
    /// … and at most, where that ends all at once.
    pub read_ahead_sectors_at_most: Option<u64>,
    /// Segments.
    pub segments: Option<u64>,
    /// Whether that many is only the least: the probe did not get to the end.
    pub segments_are_more: bool,
    /// Whether all of a read is in the buffer before it is sent; absent where that does not show.
    pub reads_sent_whole: Option<bool>,
    /// Whether the sectors of a read are taken as they come, from wherever the head lands.
    pub reads_on_arrival: bool,
}

/// What the probes `cache` and `overhead` found.
pub(crate) fn cache(
    record: &Record,
    (spindle, sectors_per_track): (Option<Spindle>, Option<f64>),
    slope: impl Fn(u64) -> f64,
) -> Option<CacheFindings> {
    of(record, AGAIN).next()?;
    let mut found = CacheFindings { read_ahead: "none", ..CacheFindings::default() };
    let times = hit_times(record);
    if times.is_empty() {
        return Some(found);
    }
    let (again, after_write) = (hits(record, AGAIN), hits(record, AGAIN_AFTER_WRITE));
    found.keeps_reads = !again.is_empty();
    // Of a sector just read nothing is left where what is read ahead took its place.
    let behind_read = if found.keeps_reads { again } else { hits(record, NEXT) };
    found.hit_ms = (!behind_read.is_empty()).then(|| median(&behind_read));
    found.hit_after_write_ms = (!after_write.is_empty()).then(|| median(&after_write));
    found.ahead = shares(record, AHEAD, &times);
    found.ahead_sequential = shares(record, AHEAD_SEQUENTIAL, &times);
    let before = shares(record, BEFORE, &times).iter().filter(|share| share.1 > 0.5).count();
    let pace = pace_ms(record);
    let reach_of = |series: u32, shares: &[(u64, f64)]| {
        let at: Vec<Ahead> =
            shares.iter().map(|share| Ahead::of(record, (series, share.0), &times)).collect();
        reach(&at, pace)
    };
    let alone = reach_of(AHEAD, &found.ahead);
    let sequential = reach_of(AHEAD_SEQUENTIAL, &found.ahead_sequential);
    found.read_ahead = match (alone, sequential) {
        _ if before > 5 => "whole-track",
        (None, None) => "none",
        (None, Some(_)) => "once-sequential",
        (Some(_), _) if gradual(&found.ahead, sectors_per_track) => "to-track-end",
        (Some(_), _) => "until-full",
    };
    if let Some(Reach { at_least, at_most }) =
        alone.into_iter().chain(sequential).max_by_key(|reach| reach.at_least)
    {
        found.read_ahead_sectors_at_least = Some(at_least);
        // Of what missed some may have been read.
        found.read_ahead_sectors_at_most = at_most.map(|most| most - 1);
    }
    // What is read ahead may take the place of what was asked for, and may end before the segment is full.
    let held = segment(record, &times);
    found.segment_sectors_at_least = held.at_least.max(found.read_ahead_sectors_at_least);
    found.segment_sectors_at_most = held.at_most;
    let segments = shares(record, SEGMENTS, &times);
    let kept: Vec<u64> = segments.iter().take_while(|share| share.1 > 0.5).map(|share| share.0).collect();
    found.segments = kept.last().copied();
    found.segments_are_more = kept.len() == segments.len();
    if let Some(line) = bus::of_hits(record, &times, spindle) {
        found.hit_overhead_ms = Some(line.foot_ms);
        (found.bus_mb_per_s, found.bus_ci95_mb_per_s) = line.mb_per_s.unzip();
    }
    if let Some(spindle) = spindle {
        let bus_ms_per_byte = found.bus_mb_per_s.map(|rate| 1e-3 / rate);
        let along = bus::along_tracks(record, (spindle, &times), slope, bus_ms_per_byte);
        (found.reads_sent_whole, found.reads_on_arrival) = (along.sent_whole, along.on_arrival);
    }
    Some(found)
}

/// Whether hits become rarer evenly over a track: what is read ahead ends with the track.
fn gradual(shares: &[(u64, f64)], sectors_per_track: Option<f64>) -> bool {
    let Some(track) = sectors_per_track else { return false };
    let partial = shares
        .iter()
        .filter(|(distance, share)| (*distance as f64) < track && (0.15..0.85).contains(share))
        .count();
    let beyond = shares.iter().filter(|(distance, share)| *distance as f64 > 1.1 * track && *share > 0.3);
    partial >= 2 && beyond.count() == 0
}
