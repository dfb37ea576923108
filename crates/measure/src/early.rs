//! Whether writes that are complete before they are on the media wait in a cache, from which the nearest goes first, or are only
//! reported early, and go as they came: where a cache holds few, both look alike until they wait. Then a rebuilt drive of each kind
//! that fills up tells.

use crate::MeasureError;
use crate::extract::{Extraction, WriteCacheFindings};
use crate::filling::filled;
use crate::rebuild::rebuild;
use crate::record::Record;
use crate::served::Served;
use headstack_drive::spec::DriveSpec;

/// More writes than this are not reported early: a cache holds them.
const MOST_EARLY: u64 = 64;
/// How many there are is known this well.
const ABOUT: u64 = 1;

/// The drive whose writes wait as the measured ones did.
///
/// # Errors
/// As [`rebuild`]; [`MeasureError::System`] if the drive cannot be simulated.
pub(crate) fn rebuilt(record: &Record, found: &Extraction, name: &str) -> Result<DriveSpec, MeasureError> {
    let cached = filled(record, rebuild(found, name)?)?;
    let (Some(writes), Some(served)) = (few(found), Served::of(record)) else { return Ok(cached) };
    let mut best = (served.misses_ms(cached.clone())?, cached);
    for writes in writes.saturating_sub(ABOUT).max(1)..=writes + ABOUT {
        let spec = rebuild(&reported_early(found, writes), name)?;
        let misses_ms = served.misses_ms(spec.clone())?;
        if misses_ms < best.0 {
            best = (misses_ms, spec);
        }
    }
    Ok(best.1)
}

/// How many writes a small cache holds.
fn few(found: &Extraction) -> Option<u64> {
    let cache = found.write_cache.as_ref().filter(|cache| cache.policy == "write-back")?;
    let kib = f64::from(found.device.physical_sector_bytes) / 1024.0;
    let by_size = cache.size_kib.map(|size_kib| (size_kib / kib).round() as u64);
    cache.runs.or(by_size).filter(|&writes| writes <= MOST_EARLY)
}

/// The same, were so many writes reported early.
fn reported_early(found: &Extraction, writes: u64) -> Extraction {
    let seen = found.write_cache.as_ref();
    let write_cache = seen.map(|cache| WriteCacheFindings {
        policy: "immediate-reporting",
        runs: Some(writes),
        quick_ms: cache.quick_ms,
        bus_mb_per_s: cache.bus_mb_per_s,
        ..WriteCacheFindings::default()
    });
    Extraction { write_cache, ..found.clone() }
}
