//! A write cache that never got full: what it holds at least, whatever the drive wrote meanwhile.

use crate::record::series::write_cache::{LARGE, SMALL};
use crate::record::{ProbeName, Record, Role, Sample};

/// The least that it holds, in KiB, with media of so many bytes per ms at their fastest; `None` where they may have taken all that
/// was written as it came.
pub(super) fn at_least_kib(record: &Record, media_bytes_per_ms: f64) -> Option<f64> {
    let sector_bytes = f64::from(record.head.device.sector_bytes);
    let left = |series: u32| {
        let own = |sample: &&Sample| sample.series == series && sample.role == Role::Measure && sample.ok;
        let writes: Vec<&Sample> = record.of(ProbeName::WriteCache).filter(own).collect();
        let (first, last) = (writes.first()?, writes.last()?);
        let sectors: u64 = writes.iter().map(|write| u64::from(write.sectors)).sum();
        let spent_ms = last.end.saturating_sub(first.start).as_ms();
        Some((sectors as f64 * sector_bytes - spent_ms * media_bytes_per_ms) / 1024.0)
    };
    [SMALL, LARGE].into_iter().filter_map(left).filter(|kib| *kib > 0.0).reduce(f64::max)
}
