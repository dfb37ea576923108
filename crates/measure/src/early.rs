//! Whether writes that are complete before they are on the media wait in a cache, from which the nearest goes first, or are only
//! reported early, and go as they came: where a cache holds few, both look alike until they wait. Then a rebuilt drive of each kind
//! that fills up tells.

use crate::MeasureError;
use crate::extract::{Extraction, WriteCacheFindings};
use crate::filling::filled;
use crate::rebuild::rebuild;
use crate::record::Record;
use crate::record::series::write_cache::SMALL;
use crate::served::Served;

/// More writes than this are not reported early: a cache holds them.
const MOST_EARLY: u64 = 64;
/// How many there are is known this well.
const ABOUT: u64 = 1;

/// What is known of them where a rebuilt drive that reports as many early makes writes wait as the measured ones did, and one with a
/// cache does not; `None` where there is nothing to choose.
///
/// # Errors
/// As [`rebuild`]; [`MeasureError::System`] if the drive cannot be simulated.
pub(crate) fn reported_early(
    record: &Record,
    found: &Extraction,
) -> Result<Option<WriteCacheFindings>, MeasureError> {
    let (Some(writes), Some(served)) = (few(found), Served::of(record, SMALL)) else { return Ok(None) };
    let cached = filled(record, rebuild(found, "rebuilt")?)?;
    let (mut least_ms, mut best) = (served.misses_ms(cached)?, None);
    for writes in writes.saturating_sub(ABOUT).max(1)..=writes + ABOUT {
        let write_cache = were_so_many(found, writes);
        let spec = rebuild(&Extraction { write_cache: write_cache.clone(), ..found.clone() }, "rebuilt")?;
        let misses_ms = served.misses_ms(spec)?;
        if misses_ms < least_ms {
            (least_ms, best) = (misses_ms, write_cache);
        }
    }
    Ok(best)
}

/// How many writes a small cache holds.
fn few(found: &Extraction) -> Option<u64> {
    let cache = found.write_cache.as_ref().filter(|cache| cache.policy == "write-back")?;
    let kib = f64::from(found.device.physical_sector_bytes) / 1024.0;
    let by_size = cache.size_kib.map(|size_kib| (size_kib / kib).round() as u64);
    cache.runs.or(by_size).filter(|&writes| writes <= MOST_EARLY)
}

/// The same, were so many writes reported early.
fn were_so_many(found: &Extraction, writes: u64) -> Option<WriteCacheFindings> {
    found.write_cache.as_ref().map(|cache| WriteCacheFindings {
        policy: "immediate-reporting",
        runs: Some(writes),
        quick_ms: cache.quick_ms,
        overhead_ms: cache.overhead_ms,
        behind_write_ms: cache.behind_write_ms,
        bus_mb_per_s: cache.bus_mb_per_s,
        bus_ci95_mb_per_s: cache.bus_ci95_mb_per_s,
        ..WriteCacheFindings::default()
    })
}
