//! Everything that a record says, as it is told.

use super::cache::CacheFindings;
use super::load::LoadPoint;
use super::pieces::PieceFindings;
use super::scan::Scan;
use super::seeks::Seeks;
use super::stream::Streams;
use super::warning::Warning;
use super::write_cache::WriteCacheFindings;
use super::{skippy, zoned};
use crate::device::DeviceInfo;
use headstack_drive::spec::Order;
use serde::Serialize;

/// One value, and how far it can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The value; absent where only bounds are known.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// 95 % confidence, half width.
    pub ci95: Option<f64>,
    /// How it was found.
    pub method: &'static str,
    /// Whether the device shows it; if not, `lower` and `upper` bound it.
    pub observable: bool,
    /// It is at least this.
    pub lower: Option<f64>,
    /// It is at most this.
    pub upper: Option<f64>,
    /// What to keep in mind.
    pub note: String,
}

/// A zone with what was measured inside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ZoneFindings {
    /// First sector.
    pub first_lba: u64,
    /// The sector behind the last.
    pub end_lba: u64,
    /// First cylinder, counted over those that hold data.
    pub first_cylinder: Option<u64>,
    /// Last cylinder, included.
    pub last_cylinder: Option<u64>,
    /// Data sectors on a track.
    pub sectors_per_track: u64,
    /// Data sectors on the track of each head, where these differ; `sectors_per_track` is then their mean, in whose sectors skews
    /// are told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sectors_per_track_by_head: Vec<u64>,
    /// Sectors in a turn, where that is more: the others are spares.
    pub sectors_per_revolution: f64,
    /// Skew at a change of head, in sectors.
    pub track_skew_sectors: Option<f64>,
    /// Skew at a change of cylinder, in sectors.
    pub cylinder_skew_sectors: Option<f64>,
    /// 95 % confidence of the skew at a change of head, half width, in sectors.
    pub track_skew_ci95_sectors: Option<f64>,
    /// The same of the skew at a change of cylinder.
    pub cylinder_skew_ci95_sectors: Option<f64>,
    /// The larger of the two.
    pub skew_ci95_sectors: Option<f64>,
    /// Surfaces, counted here.
    pub heads: Option<u32>,
}

/// Warnings as their sentences.
fn sentences<S: serde::Serializer>(warnings: &[Warning], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(warnings.iter().map(ToString::to_string))
}

/// Everything a record says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extraction {
    /// The device.
    pub device: DeviceInfo,
    /// Whether anything rotates; `None` if that was not measured.
    pub rotating: Option<bool>,
    /// Each value by itself.
    pub parameters: Vec<Parameter>,
    /// Zones, outermost first.
    pub zones: Vec<ZoneFindings>,
    /// Where tracks lie on the turn, in the order of addresses.
    pub pieces: Vec<PieceFindings>,
    /// In which order the tracks follow each other, where found. Where the head does not show in any time, it is told as classical.
    pub order: Option<Order>,
    /// Cylinders of a group, where tracks run along surfaces.
    pub group_cylinders: Option<u64>,
    /// The seek curve.
    pub seek: Seeks,
    /// The sawtooths, by probe.
    pub skippy: Vec<skippy::Sawtooth>,
    /// The paper's extractor, on the first of them.
    pub naive: Option<skippy::Naive>,
    /// Bandwidth over the device.
    pub bandwidth: Option<zoned::Bandwidth>,
    /// The read cache.
    pub cache: Option<CacheFindings>,
    /// The write cache, where writes are complete before they are on the media.
    pub write_cache: Option<WriteCacheFindings>,
    /// The profile under load.
    pub random: Vec<LoadPoint>,
    /// Streams.
    pub stream: Option<Streams>,
    /// A scan of the surface.
    pub scan: Option<Scan>,
    /// What the reader must know.
    #[serde(serialize_with = "sentences")]
    pub warnings: Vec<Warning>,
    /// Accesses in the record, and how many of them failed.
    pub samples: usize,
    /// First sectors of accesses that failed, at most a hundred.
    pub failed_lbas: Vec<u64>,
    /// How many failed.
    pub failed: usize,
    /// Probes that ran to their end.
    pub finished: Vec<String>,
}

impl Extraction {
    /// A value by name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The number of a value by name, where it was observed.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.parameter(name).and_then(|parameter| parameter.value)
    }
}

impl Extraction {
    /// As a JSON object: each parameter's value by name at the top (`null` where only bounds are known), and everything else
    /// under its own name; `warning_kinds` has a short name for each of `warnings`.
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            let kinds: Vec<&str> = self.warnings.iter().map(Warning::kind).collect();
            object.insert("warning_kinds".to_owned(), kinds.into());
            for parameter in &self.parameters {
                // A list of the same name says more.
                object.entry(parameter.name).or_insert_with(|| parameter.value.into());
            }
        }
        value
    }
}
