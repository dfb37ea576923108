//! Least times between tracks: to the same one, to another of the cylinder, to the next cylinder.

use crate::angles::median::{median, spread};
use crate::angles::spindle::Spindle;
use crate::reading::least::{self, Least};
use crate::record::series::switches::{COMMON, RARE, READS, SAME_TRACK};
use crate::record::{ProbeName, Record};

/// Least times to the same track, over the more common and over the rarer skew.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ways {
    pub(super) same: Option<Least>,
    pub(super) common: Option<Least>,
    pub(super) rare: Option<Least>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) write: Ways,
    pub(super) read: Ways,
}

impl Times {
    pub(super) fn of(record: &Record, spindle: Spindle, slope: impl Fn(u64) -> f64 + Copy) -> Self {
        let middle = |series: u32| -> Option<Least> {
            let found = least::by_step(record, (ProbeName::Switches, series), slope, spindle);
            let ms: Vec<f64> = found.values().map(|least| least.ms).collect();
            let half: Vec<f64> = found.values().map(|least| least.half_width_ms).collect();
            let half_width_ms = median(&half).max(1.96 * spread(&ms) / (ms.len() as f64).sqrt());
            (!ms.is_empty()).then(|| Least { ms: median(&ms), half_width_ms })
        };
        let ways = |offset: u32| Ways {
            same: middle(offset + SAME_TRACK),
            common: middle(offset + COMMON),
            rare: middle(offset + RARE),
        };
        Self { write: ways(0), read: ways(READS) }
    }
}
