//! Failures and rebuilds of a run: whether they go on, and how requests fared meanwhile.

use headstack_stats::{Moments, Quantiles};
use headstack_units::Nanos;

use super::Engine;
use crate::layer::{AnyLayer, Loss, Record, Repair};
use crate::record::CompletionRow;
use crate::system::{System, Volume};

/// Responses of requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Responses {
    pub(crate) moments: Moments,
    pub(crate) quantiles: Quantiles,
}

/// How requests fared that were completed during rebuilds.
#[derive(Clone, Debug, Default)]
pub(super) struct Rebuilds {
    is_possible: bool,
    /// By volume and rebuild.
    meanwhile: Vec<Vec<Responses>>,
}

/// How a drive was rebuilt, and how the volume's requests fared meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct RebuildUse {
    pub(crate) record: Record,
    pub(crate) meanwhile: Responses,
}

/// What became of a volume's drives.
#[derive(Clone, Debug, Default)]
pub(crate) struct VolumeRepairs {
    pub(crate) volume: usize,
    pub(crate) rebuilds: Vec<RebuildUse>,
    pub(crate) loss: Option<Loss>,
}

impl Rebuilds {
    pub(super) fn new(system: &System) -> Self {
        let is_possible = system.volumes.iter().any(Volume::may_rebuild);
        Self { is_possible, meanwhile: vec![Vec::new(); system.volumes.len()] }
    }

    /// Forgets the requests completed so far.
    pub(super) fn restart(&mut self) {
        self.meanwhile.iter_mut().for_each(Vec::clear);
    }
}

impl Engine {
    fn repairs(&self) -> impl Iterator<Item = &Repair> {
        self.layers.iter().filter_map(AnyLayer::repair)
    }

    /// Whether a drive is being rebuilt, or has yet to fail.
    pub(super) fn is_rebuilding(&self) -> bool {
        self.rebuilds.is_possible && self.repairs().any(Repair::is_working)
    }

    /// When data were lost, if they were.
    pub(crate) fn lost_at(&self) -> Option<Nanos> {
        if !self.rebuilds.is_possible {
            return None;
        }
        self.repairs().filter_map(Repair::loss).map(|loss| loss.at).min()
    }

    /// A request of the host is complete.
    pub(super) fn note_completion(&mut self, row: &CompletionRow) {
        if !self.rebuilds.is_possible {
            return;
        }
        let volume = row.device as usize;
        let Some(rebuild) = self.layers[volume].repair().and_then(Repair::rebuilding) else { return };
        let meanwhile = &mut self.rebuilds.meanwhile[volume];
        if meanwhile.len() <= rebuild {
            meanwhile.resize_with(rebuild + 1, Responses::default);
        }
        meanwhile[rebuild].moments.record(row.response());
        meanwhile[rebuild].quantiles.record(row.response());
    }

    /// When the drive of a unit failed, if it did.
    pub(super) fn failed_at(&self, unit: usize) -> Option<Nanos> {
        let drive = self.system.units[unit].drive;
        self.layers.iter().zip(&self.system.config().volumes).find_map(|(layer, volume)| {
            let position = volume.drives.iter().position(|member| *member == drive)?;
            let mut failed = layer.repair()?.failed();
            failed.find(|(member, _)| *member == position).map(|(_, at)| at)
        })
    }

    /// What became of the drives of each volume that had failures.
    pub(crate) fn volume_repairs(&self) -> Vec<VolumeRepairs> {
        let of_volume = |(volume, layer): (usize, &AnyLayer)| {
            let repair = layer.repair()?;
            let meanwhile = &self.rebuilds.meanwhile[volume];
            let rebuild = |(index, record): (usize, &Record)| RebuildUse {
                record: record.clone(),
                meanwhile: meanwhile.get(index).cloned().unwrap_or_default(),
            };
            let rebuilds: Vec<RebuildUse> = repair.records().iter().enumerate().map(rebuild).collect();
            (!rebuilds.is_empty()).then(|| VolumeRepairs { volume, rebuilds, loss: repair.loss().cloned() })
        };
        self.layers.iter().enumerate().filter_map(of_volume).collect()
    }
}
