//! Least times between tracks: to the same one, to another of the cylinder, to the next cylinder.

use crate::angles::median::{median, spread};
use crate::angles::sighting::student;
use crate::angles::spindle::Spindle;
use crate::reading::known::Changes;
use crate::reading::least::{self, Least};
use crate::reading::order;
use crate::record::series::seek_curve::{READS_TO_SURFACE, WRITES_TO_SURFACE};
use crate::record::series::switches::{COMMON, RARE, READS, SAME_TRACK};
use crate::record::{ProbeName, Record};

/// Least times to the same track, to another head and to another cylinder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ways {
    pub(super) same: Option<Least>,
    pub(super) head: Option<Least>,
    pub(super) cylinder: Option<Least>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) write: Ways,
    pub(super) read: Ways,
}

impl Times {
    pub(super) fn of(
        record: &Record,
        changes: Changes,
        spindle: Spindle,
        slope: impl Fn(u64) -> f64 + Copy,
    ) -> Self {
        let of = |probe: ProbeName, series: u32| {
            let found = least::by_step(record, (probe, series), slope, spindle);
            together(found.values())
        };
        let of_series = |series: u32| of(ProbeName::Switches, series);
        let ways = |offset: u32| {
            let (common, rare) = (of_series(offset + COMMON), of_series(offset + RARE));
            let (head, cylinder) = match changes {
                Changes::HeadThenCylinder => (common, rare),
                Changes::CylinderThenHead => {
                    let series = if offset == READS { READS_TO_SURFACE } else { WRITES_TO_SURFACE };
                    (rare.or_else(|| of(ProbeName::SeekCurve, series)), common)
                }
                Changes::CylinderOnly => (None, common),
                Changes::Alike => by_next(record, spindle, offset == READS),
                Changes::Unknown => (None, None),
            };
            Ways { same: of_series(offset + SAME_TRACK), head, cylinder }
        };
        Self { write: ways(0), read: ways(READS) }
    }
}

/// By how much the middle of many is less certain than their mean.
const MEDIAN: f64 = 1.2533;

/// So many show how much they scatter.
const ENOUGH: usize = 8;

/// Several least times of one kind as one.
pub(super) fn together<'a>(all: impl Iterator<Item = &'a Least> + Clone) -> Option<Least> {
    let ms: Vec<f64> = all.clone().map(|least| least.ms).collect();
    let half: Vec<f64> = all.clone().map(|least| least.half_width_ms).collect();
    let angles: Vec<f64> = all.map(|least| least.angle_ci95_ms).collect();
    // Each is halved in the same steps: their brackets do not average out, but the errors of the angles do. Their scatter shows
    // how large these are, if there are enough.
    let count = ms.len() as f64;
    let each_ms = if ms.len() < ENOUGH { median(&angles) } else { student(count - 1.0) * spread(&ms) };
    let angle_ci95_ms = MEDIAN * each_ms / count.sqrt();
    (!ms.is_empty()).then(|| Least { ms: median(&ms), half_width_ms: median(&half), angle_ci95_ms })
}

/// To another head and to another cylinder where only the times tell which is which: known for the kind of access with which
/// the probe `surfaces` went from track to track.
fn by_next(record: &Record, spindle: Spindle, reads: bool) -> (Option<Least>, Option<Least>) {
    let with_reads = !record.head.device.writable;
    let Some((fast, slow)) = order::next_times(record, spindle).filter(|_| reads == with_reads) else {
        return (None, None);
    };
    let of = |ways: &[order::Timed]| together(ways.iter().map(|(_, least)| least));
    (of(&fast), of(&slow))
}
