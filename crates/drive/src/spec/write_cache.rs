//! Caches of writes that keep their data without power (`[write_policy.media-cache]`, `[write_policy.flash-cache]`), and the
//! switch of the write cache (`[write_cache]`).

use super::check::Findings;
use super::{BufferSpec, DriveSpec, LayoutSpec, WritePolicy, ZoneSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The write cache as a host turns it on and off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteCacheSpec {
    /// Whether it is on; otherwise nothing is acknowledged that would be lost with the power.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// What takes the place of `write_policy` while it is off: `write-through`, `media-cache` or `flash-cache`. Absent: writes
    /// go through to the media.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_off: Option<WritePolicy>,
}

impl Default for WriteCacheSpec {
    fn default() -> Self {
        Self { enabled: true, when_off: None }
    }
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_true(value: &bool) -> bool {
    *value
}

impl DriveSpec {
    /// The drive as its write cache is switched: with the policy that holds.
    pub(crate) fn switched(&self) -> Cow<'_, Self> {
        if self.write_cache.enabled {
            return Cow::Borrowed(self);
        }
        let mut spec = self.clone();
        spec.write_policy = spec.write_cache.when_off.take().unwrap_or_default();
        spec.write_cache = WriteCacheSpec::default();
        Cow::Owned(spec)
    }
}

/// A log on reserved tracks. What it holds is in the buffer, too, from where it goes to its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaCacheSpec {
    /// Room for written data, in KiB; at most `buffer.size_kib`.
    pub size_kib: f64,
    /// Places with reserved tracks, evenly spread over the cylinders; the one nearest to the arm is written to.
    #[serde(default = "one")]
    pub places: u32,
    /// Larger writes go straight to their place, in KiB.
    #[serde(default = "default_largest")]
    pub largest_write_kib: f64,
    /// Logged writes go to their place after no command has come for this long, in ms.
    #[serde(default)]
    pub idle_before_cleaning_ms: f64,
    /// Where there is no room, so many of them go to their place before the next write is taken.
    #[serde(default = "one")]
    pub cleaned_at_a_time: u32,
    /// For the next that goes to its place, so many are compared by seek and rotation: those whose cylinders are nearest to
    /// the arm. Absent: all; one, where `compared_within_cylinders` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_compared: Option<u32>,
    /// …and besides, all within so many cylinders of the arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_within_cylinders: Option<u32>,
}

/// Flash memory. What it holds is in the buffer, too, from where it goes to its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlashCacheSpec {
    /// Room for written data, in KiB; at most `buffer.size_kib`.
    pub size_kib: f64,
    /// From having the data to having them in flash, in ms; 0 for a buffer that is saved to flash when the power fails.
    #[serde(default)]
    pub write_latency_ms: f64,
    /// Rate at which flash takes data, in 10⁶ bytes per second; absent: it never holds them up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_mb_per_s: Option<f64>,
    /// Larger writes go straight to their place, in KiB; absent: those larger than the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_write_kib: Option<f64>,
    /// Cached writes go to their place after no read has needed the arm for this long, in ms.
    #[serde(default)]
    pub idle_before_destage_ms: f64,
    /// For the next that goes to its place, so many are compared by seek and rotation: those whose cylinders are nearest to
    /// the arm. Absent: all; one, where `compared_within_cylinders` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_compared: Option<u32>,
    /// …and besides, all within so many cylinders of the arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared_within_cylinders: Option<u32>,
}

/// More are no reserve but the media themselves.
const MOST_PLACES: u32 = 100_000;

fn one() -> u32 {
    1
}

fn default_largest() -> f64 {
    64.0
}

/// What is wrong with the caches that keep their data.
pub(super) fn check(spec: &DriveSpec, sector_kib: f64, findings: &mut Findings) {
    check_one("write_policy", &spec.write_policy, &spec.buffer, sector_kib, findings);
    log_fits("write_policy", &spec.write_policy, &spec.layout, sector_kib, findings);
    let Some(off) = &spec.write_cache.when_off else { return };
    let path = "write_cache.when_off";
    if matches!(off, WritePolicy::WriteBack { .. } | WritePolicy::ImmediateReporting { .. }) {
        let message = "what it acknowledges would be lost with the power, which a write cache that is off rules out; take \
                       `write-through`, `media-cache` or `flash-cache`";
        findings.add(path, message);
    }
    check_one(path, off, &spec.buffer, sector_kib, findings);
    log_fits(path, off, &spec.layout, sector_kib, findings);
}

/// A log lies on tracks of the drive: it cannot be larger than that.
fn log_fits(path: &str, policy: &WritePolicy, layout: &LayoutSpec, sector_kib: f64, findings: &mut Findings) {
    let WritePolicy::MediaCache(log) = policy else { return };
    let of_zone = |zone: &ZoneSpec| {
        let cylinders = u64::from(zone.last_cylinder.saturating_sub(zone.first_cylinder)) + 1;
        cylinders.saturating_mul(zone.sectors_per_cylinder(layout.heads))
    };
    let of_zones = || layout.zone.iter().map(of_zone).fold(0, u64::saturating_add);
    // Where a layout is given run by run, and its capacity is not, there is nothing to go by.
    let known = layout.capacity_sectors.or_else(|| layout.run.is_empty().then(of_zones));
    let Some(kib) = known.map(|sectors| sectors as f64 * sector_kib) else { return };
    if log.size_kib > kib {
        let message =
            format!("{} KiB of log are more than the drive has, {kib} KiB: reduce it", log.size_kib);
        findings.add(format!("{path}.media-cache.size_kib"), message);
    }
}

fn check_one(
    path: &str,
    policy: &WritePolicy,
    buffer: &BufferSpec,
    sector_kib: f64,
    findings: &mut Findings,
) {
    let (name, size_kib, largest, idle, compared) = match policy {
        WritePolicy::MediaCache(spec) => {
            let name = format!("{path}.media-cache");
            for (key, value) in [("places", spec.places), ("cleaned_at_a_time", spec.cleaned_at_a_time)] {
                if !(1..=MOST_PLACES).contains(&value) {
                    findings
                        .add(format!("{name}.{key}"), format!("{value} is not between 1 and {MOST_PLACES}"));
                }
            }
            let idle = ("idle_before_cleaning_ms", spec.idle_before_cleaning_ms);
            (name, spec.size_kib, spec.largest_write_kib, idle, spec.runs_compared)
        }
        WritePolicy::FlashCache(spec) => {
            let name = format!("{path}.flash-cache");
            findings.time_ms(&format!("{name}.write_latency_ms"), spec.write_latency_ms);
            findings.range(&format!("{name}.write_mb_per_s"), spec.write_mb_per_s.unwrap_or(1.0), 1e-3, 1e6);
            let idle = ("idle_before_destage_ms", spec.idle_before_destage_ms);
            (name, spec.size_kib, spec.largest_write_kib.unwrap_or(spec.size_kib), idle, spec.runs_compared)
        }
        _ => return,
    };
    if size_kib > buffer.size_kib {
        let message = format!(
            "{size_kib} KiB are more than the buffer has, {} KiB: what is cached stays there until it is in its place; \
             reduce it, or raise buffer.size_kib",
            buffer.size_kib
        );
        findings.add(format!("{name}.size_kib"), message);
    } else {
        findings.range(&format!("{name}.size_kib"), size_kib, sector_kib, buffer.size_kib);
        findings.range(&format!("{name}.largest_write_kib"), largest, sector_kib, size_kib);
    }
    findings.time_ms(&format!("{name}.{}", idle.0), idle.1);
    if compared == Some(0) {
        findings
            .add(format!("{name}.runs_compared"), "at least one run is looked at; leave the key out for all");
    }
}
