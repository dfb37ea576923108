//! What the drives of a volume are to its rebuild: how much they write at a time without losing a revolution, and how fast they
//! take it.

use std::sync::Arc;

use headstack_drive::spec::WritePolicy;
use headstack_drive::{DriveModel, zone_rates};

use crate::layer::{Intake, UnitMap};
use crate::spec::{RebuildSpec, SystemConfig, VolumeConfig};

/// How a volume is rebuilt, where its file leaves that to the drives.
pub(crate) fn rebuild_of(
    config: &SystemConfig,
    volume: &VolumeConfig,
    models: &[Arc<DriveModel>],
) -> RebuildSpec {
    let rebuild = volume.options.rebuild;
    let has_room = !volume.spares.is_empty() || volume.options.declustered.distributed_spares > 0;
    if !has_room || rebuild.step_kib.is_some() {
        return rebuild;
    }
    let drives = volume.drives.iter().chain(&volume.spares);
    let buffers = drives.filter_map(|&drive| {
        let bus = &config.buses[config.drives[drive].bus].spec;
        early_buffer_kib(&models[drive], bus.write_mb_per_s)
    });
    match buffers.reduce(f64::min) {
        Some(buffer_kib) => rebuild.within_buffer(buffer_kib, volume.options.stripe_unit_kib),
        None => rebuild,
    }
}

/// The buffer of a drive that reports writes early if they fit there. Where the bus is slower than the media, revolutions are lost
/// in any case, and large commands lose the least.
fn early_buffer_kib(model: &DriveModel, bus_mb_per_s: f64) -> Option<f64> {
    let spec = model.spec();
    if !matches!(spec.write_policy, WritePolicy::ImmediateReporting { .. }) {
        return None;
    }
    let fastest = zone_rates(spec).iter().map(|rate| rate.write_mb_per_s).fold(0.0, f64::max);
    (bus_mb_per_s > fastest).then_some(spec.buffer.size_kib)
}

/// How fast the drives of a volume take what is rebuilt onto them; `maps` are their units.
pub(crate) fn intake_of<'a>(
    volume: &VolumeConfig,
    models: &[Arc<DriveModel>],
    maps: impl Iterator<Item = &'a UnitMap>,
) -> Intake {
    let mut intake = Intake::default();
    let efficiency = volume.options.rebuild.write_efficiency;
    if efficiency < 1.0 {
        for (&drive, map) in volume.drives.iter().chain(&volume.spares).zip(maps) {
            intake.limit(map.units(), &models[drive], efficiency);
        }
    }
    intake
}
