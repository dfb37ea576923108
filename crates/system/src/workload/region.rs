//! The parts of a device that a stream goes to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DeviceShape, StreamSpec};
use crate::SystemError;

/// A range is worked through part by part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrideSpec {
    /// Length of a part, in KiB.
    pub span_kib: f64,
    /// How much is transferred in a part before the next has its turn, in KiB; absent: as much as it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_kib: Option<f64>,
    /// What lies between one part and the next, in KiB.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skip_kib: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl StrideSpec {
    /// What is wrong with it, by key.
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        let most = 1e15;
        let mut found = Vec::new();
        for (key, value) in
            [("stride.span_kib", Some(self.span_kib)), ("stride.transfer_kib", self.transfer_kib)]
        {
            if let Some(value) = value
                && !(value > 0.0 && value <= most)
            {
                found.push((key, format!("{value} is not between 0 and {most:e}, 0 excluded")));
            }
        }
        if !(0.0..=most).contains(&self.skip_kib) {
            found.push(("stride.skip_kib", format!("{} is not between 0 and {most:e}", self.skip_kib)));
        }
        found
    }
}

/// A part of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u64,
    /// Its sectors.
    pub(super) span: u64,
}

/// A range that is worked through part by part; from the last part back to the first.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    whole: Range,
    span: u64,
    transfer: u64,
    skip: u64,
    /// Where the part begins, counted from the range's beginning.
    at: u64,
    done: u64,
}

impl Parts {
    pub(super) fn new(spec: &StrideSpec, whole: Range, sector_kib: f64) -> Self {
        let sectors = |kib: f64| (kib / sector_kib).round() as u64;
        let span = sectors(spec.span_kib).clamp(1, whole.span);
        let transfer = spec.transfer_kib.map_or(span, sectors).max(1);
        Self { whole, span, transfer, skip: sectors(spec.skip_kib), at: 0, done: 0 }
    }

    /// Sectors of a whole part.
    pub(super) fn span(&self) -> u64 {
        self.span
    }

    /// The part for the next request, of so many `sectors` (no more than a part has), and whether it is a new one.
    pub(super) fn take(&mut self, sectors: u64) -> (Range, bool) {
        let is_over = self.done >= self.transfer;
        if is_over {
            self.done = 0;
            self.at = self.at.saturating_add(self.span).saturating_add(self.skip);
            // A part that is cut off by the range's end is used as far as it goes.
            if self.at.saturating_add(sectors) > self.whole.span {
                self.at = 0;
            }
        }
        let left = self.whole.span - self.at;
        // Requests of several sizes: one that is too large for what is cut off begins at the beginning again.
        if left < sectors {
            self.at = 0;
        }
        self.done = self.done.saturating_add(sectors);
        let span = self.span.min(self.whole.span - self.at);
        (Range { first: self.whole.first + self.at, span }, is_over || left < sectors)
    }
}

/// The parts of its devices, the smallest of which is `shape`, that a stream goes to.
pub(super) fn ranges_of(
    spec: &StreamSpec,
    component: &str,
    shape: &DeviceShape,
) -> Result<Vec<Range>, SystemError> {
    let at = |percent: f64| (shape.sectors as f64 * percent / 100.0) as u64;
    let percent = spec.range_percent.iter().chain(&spec.ranges_percent);
    let lba = spec.range_lba.iter().chain(&spec.ranges_lba);
    let mut ranges: Vec<(u64, u64)> = percent
        .map(|&[from, to]| (at(from), at(to).min(shape.sectors)))
        .chain(lba.map(|&[first, last]| (first, last.saturating_add(1))))
        .collect();
    if ranges.is_empty() {
        ranges.push((0, shape.sectors));
    }
    let range = |(first, end): (u64, u64)| {
        if end > shape.sectors || first >= end {
            return Err(SystemError::Options {
                problem: format!(
                    "the workload's {component} uses sectors {first} to {}, but {} has {}",
                    end.saturating_sub(1),
                    shape.name,
                    shape.sectors
                ),
                hint: "give the range in percent (`range_percent`), or make it fit".to_owned(),
            });
        }
        Ok(Range { first, span: end - first })
    };
    ranges.into_iter().map(range).collect()
}
