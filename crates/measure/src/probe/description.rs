//! What a probe is: its name, what it finds out, what it needs, how long it takes and how it runs.

use super::look::Look;
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::DeviceInfo;
use crate::reading::known::Known;
use crate::record::{ProbeName, Record};
use crate::run::Scope;
use std::collections::BTreeSet;

/// Whether a probe writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Never.
    Never,
    /// Where the device may be written; elsewhere it reads instead.
    WhereAllowed,
    /// Always: it cannot run where the device must not be written.
    Always,
}

/// A probe.
#[derive(Debug)]
pub struct Probe {
    /// Its name.
    pub name: ProbeName,
    /// What it does, in one line.
    pub about: &'static str,
    /// Probes that must have run before.
    pub needs: &'static [ProbeName],
    /// Whether it writes.
    pub writes: Writing,
    /// Whether the paper's formula, which has no angles, can be probed with it.
    pub(super) on_formula: bool,
    /// Whether it goes on behind its last whole series when it was stopped; the others begin anew.
    pub(crate) resumes: bool,
    /// How long it takes on the device's clock, in s.
    pub(super) expected_s: fn(&Outlook<'_>) -> f64,
    /// Takes the samples.
    pub(crate) run: fn(&mut Session<'_>, &Context) -> Result<(), MeasureError>,
}

impl Probe {
    /// Whether it runs only when it is named.
    pub fn runs_when_named(&self) -> bool {
        super::WHEN_NAMED.contains(&self.name)
    }

    /// Whether it can run on a device.
    pub(crate) fn suits(&self, device: &DeviceInfo) -> bool {
        match device.kind.as_str() {
            "mock" => self.on_formula,
            _ => device.writable || self.writes != Writing::Always,
        }
    }
}

/// What a probe is told beside its session.
pub(crate) struct Context {
    /// What the record says so far.
    pub(crate) known: Known,
    /// Series that are complete already.
    pub(crate) done: BTreeSet<u32>,
    /// How much the probes do that can do more or less.
    pub(crate) scope: Scope,
}

/// From here on a drive is one of today's: tens of zones, and tracks along surfaces.
const LARGE_BYTES: u64 = 2_000_000_000_000;
/// Reads elsewhere for each read of the media, and zones, where neither is known yet.
const SOME_OTHERS: f64 = 4.0;
const SOME_ZONES: f64 = 8.0;
/// A revolution where none is known yet, in s.
const SOME_REVOLUTION_S: f64 = 0.0083;
/// What a device streams of which no track is known, in bytes per second.
const SOME_RATE: f64 = 100e6;

/// What is known of how long accesses take.
pub(crate) struct Outlook<'a> {
    pub(super) device: &'a DeviceInfo,
    pub(super) scope: &'a Scope,
    /// Time of a revolution, in s.
    pub(super) revolution_s: f64,
    /// What the device streams in the middle, in bytes per second.
    pub(super) bytes_per_s: f64,
    /// How many measurements of an angle must agree.
    pub(super) repetitions: usize,
    /// Where the device is only read: reads elsewhere for each read of the media.
    pub(super) others: f64,
    /// Zones.
    pub(super) zones: f64,
}

impl<'a> Outlook<'a> {
    pub(super) fn of(record: &'a Record, scope: &'a Scope) -> Self {
        let known = Known::of(record);
        let seen =
            |probe: ProbeName, value: f64, some: f64| if record.has_finished(probe) { value } else { some };
        let device = &record.head.device;
        let revolution_s = known.spindle.map_or(SOME_REVOLUTION_S, |spindle| spindle.period_ns / 1e9);
        // Not as fast in the middle, and the skews pass between the tracks.
        let bytes_per_s = known
            .sectors_per_track
            .map_or(SOME_RATE, |sectors| 0.7 * sectors * f64::from(device.sector_bytes) / revolution_s);
        Self {
            device,
            scope,
            revolution_s,
            bytes_per_s,
            repetitions: known.repetitions,
            others: seen(ProbeName::Cache, known.keeps.others as f64, SOME_OTHERS),
            zones: seen(ProbeName::Zones, known.zones.len() as f64, SOME_ZONES),
        }
    }

    /// The same by a look at a device of which nothing was measured yet.
    pub(super) fn after(self, look: Look) -> Self {
        let or = |seen: f64, some: f64| if seen > 0.0 { seen } else { some };
        Self {
            revolution_s: or(look.revolution_s, self.revolution_s),
            bytes_per_s: or(look.bytes_per_s, self.bytes_per_s),
            repetitions: look.repetitions,
            ..self
        }
    }

    /// The same with the rate that a look at the device showed: large reads one behind the other are what a scan does.
    pub(super) fn streaming(self, look: Look) -> Self {
        let bytes_per_s = if look.bytes_per_s > 0.0 { look.bytes_per_s } else { self.bytes_per_s };
        Self { bytes_per_s, ..self }
    }

    /// How many times as long angles take as on a device whose completions are seen exactly: where some are late, many are foreseen.
    pub(super) fn angles(&self) -> f64 {
        self.at_noise([1.6, 3.5, 5.0])
    }

    /// How many times as long something takes where some completions are late, and through slight and much noise.
    pub(super) fn at_noise(&self, times: [f64; 3]) -> f64 {
        match self.repetitions {
            0 | 1 => 1.0,
            2 => times[0],
            3 => times[1],
            _ => times[2],
        }
    }

    /// What drives of today need, with tens of zones and tracks along surfaces, or what smaller ones do.
    pub(super) fn by_size(&self, small: f64, large: f64) -> f64 {
        if self.device.bytes() < LARGE_BYTES { small } else { large }
    }

    /// `writing` revolutions where the device may be written, else `reading` ones, in s.
    pub(super) fn revolutions(&self, writing: f64, reading: f64) -> f64 {
        self.revolution_s * if self.device.writable { writing } else { reading }
    }
}
