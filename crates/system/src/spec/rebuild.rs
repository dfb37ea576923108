//! Failures of drives during a run, and how they are rebuilt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::VolumeConfig;
use super::load::shown;

/// A drive that fails during a run. What it was sent before is still served.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveFailure {
    /// Position in the volume's `drives`, counted from 0.
    pub drive: usize,
    /// When it fails, in s from the start of the run.
    pub at_s: f64,
}

/// How what a failed drive held is brought onto a spare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RebuildSpec {
    /// What is rebuilt of a drive in one step, in KiB; whole stripe units, at least one. Absent: 1024, or less where drives report
    /// writes complete early, but only such as fit in their buffers: as many units as fit there twice, if one does and the order is ascending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_kib: Option<f64>,
    /// Steps in flight at a time.
    pub window: u32,
    /// At most so many 10⁶ bytes per second are rebuilt; absent: as many as can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_mb_per_s: Option<f64>,
    /// The share of its own rate at which a drive takes what is rebuilt onto it, above 0 to 1: each write has the drive for so much
    /// longer than its media need for it. For losses of which only the rate is known.
    #[serde(skip_serializing_if = "is_one")]
    pub write_efficiency: f64,
    /// Of the drives that failed before the run: so much of what the first one held is rebuilt when the run begins, in percent.
    #[serde(skip_serializing_if = "super::array::is_default")]
    pub done_percent: f64,
    /// In which order.
    pub order: RebuildOrder,
    /// Which of the members that are left are read.
    #[serde(skip_serializing_if = "super::array::is_default")]
    pub reads: RebuildReads,
    /// Whether its commands wait in the driver while others do.
    pub priority: RebuildPriority,
    /// With `priority = "below"`: commands of it that a drive is given at a time.
    pub commands_per_drive: u32,
}

impl Default for RebuildSpec {
    fn default() -> Self {
        Self {
            step_kib: None,
            window: 4,
            rate_mb_per_s: None,
            write_efficiency: 1.0,
            done_percent: 0.0,
            order: RebuildOrder::default(),
            reads: RebuildReads::default(),
            priority: RebuildPriority::default(),
            commands_per_drive: 2,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(value: &f64) -> bool {
    *value == 1.0
}

/// Of a step, where nothing else is said.
const STEP_KIB: f64 = 1024.0;
const LEAST_EFFICIENCY: f64 = 0.01;

impl RebuildSpec {
    /// For drives that report only such writes early as fit in so large a buffer, stripe units being of this size. One write is on
    /// its way to the media while the next one comes in; of a larger one the drive says that it is complete when a revolution is
    /// lost before the next. Where no unit fits twice, and where steps go backwards, small ones lose a revolution more often.
    pub(crate) fn within_buffer(mut self, buffer_kib: f64, unit_kib: f64) -> Self {
        let units = (buffer_kib / 2.0 / unit_kib).floor();
        if units >= 1.0 && self.order == RebuildOrder::Ascending {
            self.step_kib.get_or_insert(STEP_KIB.min(units * unit_kib));
        }
        self
    }

    /// What is rebuilt in one step.
    pub(crate) fn step_kib(&self) -> f64 {
        self.step_kib.unwrap_or(STEP_KIB)
    }
}

/// The order of a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RebuildOrder {
    /// From the first address on, where disks are fastest.
    #[default]
    Ascending,
    /// From the last address on.
    Descending,
}

/// Which members of a stripe are read to work out a lost one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RebuildReads {
    /// As many as tell it: data first, then parity.
    #[default]
    Enough,
    /// All that are left, as OpenZFS does: with two or three parities, more than it takes.
    All,
}

/// How a rebuild's commands stand to those of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RebuildPriority {
    /// A drive is given one of them only where no command of a request waits for it.
    #[default]
    Below,
    /// They wait in the same queue.
    Equal,
}

/// What is wrong with the failures and the rebuild of a volume.
pub(super) fn check(volume: &VolumeConfig) -> Vec<String> {
    let (name, options) = (&volume.name, &volume.options);
    let mut problems = Vec::new();
    for (index, failure) in options.failures.iter().enumerate() {
        let DriveFailure { drive, at_s } = *failure;
        let earlier = options.failures[..index].iter().any(|earlier| earlier.drive == drive);
        if drive >= volume.drives.len() {
            problems.push(format!(
                "`volume.{name}.failures`: {drive} is not one of the {} drives, counted from 0",
                volume.drives.len()
            ));
        } else if earlier || options.failed_drives.contains(&drive) {
            problems.push(format!("`volume.{name}.failures`: drive {drive} fails twice; name it once"));
        }
        if !(0.0..=3e9).contains(&at_s) {
            problems.push(format!("`volume.{name}.failures`: {at_s} s is not between 0 and 3e9"));
        }
    }
    let RebuildSpec { step_kib, window, rate_mb_per_s, write_efficiency, commands_per_drive, .. } =
        options.rebuild;
    let mut limit = |key: &str, value: f64, least: f64| {
        if !(least..=1e9).contains(&value) {
            problems.push(format!(
                "`volume.{name}.rebuild.{key}`: {} is not between {least} and 1e9",
                shown(value)
            ));
        }
    };
    limit("step_kib", step_kib.unwrap_or(STEP_KIB), 0.5);
    limit("window", window.into(), 1.0);
    limit("rate_mb_per_s", rate_mb_per_s.unwrap_or(1.0), 1e-3);
    limit("commands_per_drive", commands_per_drive.into(), 1.0);
    if !(LEAST_EFFICIENCY..=1.0).contains(&write_efficiency) {
        problems.push(format!(
            "`volume.{name}.rebuild.write_efficiency`: {} is not between {LEAST_EFFICIENCY} and 1; it is the share of its own rate \
             at which a drive takes the rebuild's writes: 0.8 for a rebuild at 160 MB/s of a drive that writes 200",
            shown(write_efficiency)
        ));
    }
    if !(0.0..100.0).contains(&options.rebuild.done_percent) {
        problems.push(format!(
            "`volume.{name}.rebuild.done_percent`: {} is not at least 0 and below 100; it is the share of a rebuild that is done when the \
             run begins",
            shown(options.rebuild.done_percent)
        ));
    }
    if options.rebuild.done_percent > 0.0 && options.failed_drives.is_empty() {
        problems.push(format!(
            "`volume.{name}.rebuild.done_percent`: no drive has failed before the run; name it: failed_drives = [0]"
        ));
    }
    let unit_kib = options.stripe_unit_kib;
    if let Some(step_kib) = step_kib
        && unit_kib > 0.0
        && step_kib % unit_kib != 0.0
    {
        problems.push(format!(
            "`volume.{name}.rebuild.step_kib`: {} is not a multiple of the stripe unit of {} KiB",
            shown(step_kib),
            shown(unit_kib)
        ));
    }
    let has_room = !volume.spares.is_empty() || options.declustered.distributed_spares > 0;
    if options.rebuild != RebuildSpec::default() && !has_room {
        problems.push(format!(
            "`volume.{name}.rebuild`: there is nothing to rebuild onto; name spare drives: spares = [\"…\"]"
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a buffer of 128 KiB: with units of 128 KiB small steps cost 22 % over the media, 1 MiB 3 %; backwards 53 % and 4 %.
    #[test]
    fn steps_are_small_where_units_fit_twice_and_follow_each_other() {
        let step = |unit_kib, order| {
            RebuildSpec { order, ..RebuildSpec::default() }.within_buffer(128.0, unit_kib).step_kib()
        };
        assert_eq!(step(64.0, RebuildOrder::Ascending), 64.0);
        assert_eq!(step(16.0, RebuildOrder::Ascending), 64.0);
        assert_eq!(step(128.0, RebuildOrder::Ascending), STEP_KIB);
        assert_eq!(step(64.0, RebuildOrder::Descending), STEP_KIB);
    }
}
