//! A system with every name resolved: what a run is configured by, and what its hash is taken of.

use headstack_drive::spec::{BusSpec, DriveSpec, ProvenanceKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::array::is_default;
use super::{ArrayCacheSpec, ArrayOptions, HostSpec};
use crate::bus::Arbitration;

/// A system with every name resolved and every override applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemConfig {
    /// Library name, or file name without `.toml`.
    pub name: String,
    /// One line on what it is.
    pub summary: String,
    /// The host.
    pub host: HostSpec,
    /// The buses.
    pub buses: Vec<BusConfig>,
    /// The volumes; a request's device is a position in this list. Those that are caches of others stand last.
    pub volumes: Vec<VolumeConfig>,
    /// The drives, volume by volume.
    pub drives: Vec<DriveConfig>,
}

/// A bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusConfig {
    /// Its name in the system file; a drive's own bus is called after the drive.
    pub name: String,
    /// Rates and costs.
    pub spec: BusSpec,
    /// Commands have it through their overhead.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub commands_hold: bool,
    /// Who goes first.
    pub arbitration: Arbitration,
    /// Most commands its drives are given at a time, all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VolumeConfig {
    /// Its name.
    pub name: String,
    /// Its level.
    pub level: String,
    /// Its drives: positions in the system's list.
    pub drives: Vec<usize>,
    /// What it was told beside its level.
    #[serde(default, skip_serializing_if = "is_default")]
    pub options: ArrayOptions,
    /// Its spare drives: positions in the system's list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spares: Vec<usize>,
    /// Its controller's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<ArrayCacheSpec>,
    /// It is the cache of another: requests do not address it. Such volumes stand last in the list.
    #[serde(default, skip_serializing_if = "super::is_false")]
    pub is_cache: bool,
}

/// A drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveConfig {
    /// Its name in results: the library name of a drive alone, `volume.0` in a volume.
    pub name: String,
    /// The drive file's library name or path.
    pub model: String,
    /// The bus it is on: a position in the system's list.
    pub bus: usize,
    /// The drive file.
    pub spec: DriveSpec,
}

impl SystemConfig {
    /// A system of one drive on its own bus.
    pub fn of_drive(name: &str, spec: DriveSpec) -> Self {
        Self {
            name: name.to_owned(),
            summary: spec.summary.clone(),
            host: HostSpec::default(),
            buses: vec![BusConfig {
                name: name.to_owned(),
                spec: spec.bus.clone(),
                commands_hold: false,
                arbitration: Arbitration::default(),
                outstanding: None,
            }],
            volumes: vec![VolumeConfig {
                name: name.to_owned(),
                level: "single".to_owned(),
                drives: vec![0],
                options: ArrayOptions::default(),
                spares: Vec::new(),
                cache: None,
                is_cache: false,
            }],
            drives: vec![DriveConfig { name: name.to_owned(), model: name.to_owned(), bus: 0, spec }],
        }
    }

    /// How many of the drives' values are of each provenance kind, by the kind's word in the drive file.
    pub fn provenance_counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for (kind, count) in self.drives.iter().flat_map(|drive| drive.spec.provenance_counts()) {
            let word = match kind {
                ProvenanceKind::Spec => "spec",
                ProvenanceKind::Measured => "measured",
                ProvenanceKind::Fitted => "fitted",
                ProvenanceKind::Assumed => "assumed",
            };
            *counts.entry(word).or_default() += count;
        }
        counts
    }
}

/// Hash of a configuration: FNV-1a (128 bits) over its JSON with keys in the order of the structs (maps sorted), as 32
/// hexadecimal digits. The same configuration has the same hash in every run of the same version.
pub fn config_hash<T: Serialize>(configuration: &T) -> String {
    // Nothing in a configuration lacks a form in JSON (keys are strings).
    let json = serde_json::to_vec(configuration).unwrap_or_default();
    format!("{:032x}", crate::random::hash(&json))
}
