//! When accesses end: by how much later a read of a sector is complete than a write of it that is on the media by then. What both
//! take behind the media does not show.

use crate::angles::median::median;
use crate::angles::sighting::{Sighting, sighted};
use crate::angles::spindle::{Spindle, wrap_signed};
use crate::reading::hits::hit_times;
use crate::reading::stalls::Estimate;
use crate::record::series::switches::{READS, SAME_TRACK};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// By the probe `switches`, which reads the sectors that it has written.
pub(super) fn read_later(record: &Record, spindle: Spindle) -> Option<Estimate> {
    let (writes, reads) = (sectors(record, SAME_TRACK), sectors(record, READS + SAME_TRACK));
    let mut later = Vec::new();
    let mut ci95s = Vec::new();
    for (lba, written) in &writes {
        let Some(read) = reads.get(lba) else { continue };
        let seen = |samples: &[&Sample]| {
            sighted(&samples.iter().map(|sample| Sighting::of(sample, spindle)).collect::<Vec<_>>())
        };
        let ((read, read_ci95), (write, write_ci95)) = (seen(read), seen(written));
        later.push(spindle.ms(wrap_signed(read - write)));
        ci95s.push(spindle.ms(f64::hypot(read_ci95, write_ci95)));
    }
    (!later.is_empty()).then(|| Estimate { value: median(&later), ci95: median(&ci95s) })
}

/// Accesses of a series to the sector of which the angle was measured, by sector: those that the media served.
fn sectors(record: &Record, series: u32) -> BTreeMap<u64, Vec<&Sample>> {
    let hits = hit_times(record);
    let mut all: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    let of_series = |sample: &&Sample| {
        sample.series == series && sample.ok && (sample.mode.is_write() || hits.leave(sample))
    };
    for sample in record.of(ProbeName::Switches).filter(of_series) {
        match sample.role {
            Role::Angle => all.entry(sample.lba).or_default().push(sample),
            Role::Measure if sample.mode.is_write() => all.entry(sample.lba).or_default().push(sample),
            _ => {}
        }
    }
    all
}
