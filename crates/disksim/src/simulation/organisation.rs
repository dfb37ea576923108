//! `disksim_logorg`: how addresses lie over the disks.

use super::instances::{Instances, expanded};
use super::system::Built;
use super::{not_built, of_kind};
use crate::error::ImportError;
use crate::fields::Fields;
use crate::report::Report;
use crate::tree::{At, Block, Item};

/// A volume: disks one after the other.
#[derive(Clone, Debug)]
pub(super) struct Volume {
    pub(super) name: String,
    /// Positions in the list of disks.
    pub(super) disks: Vec<usize>,
    pub(super) sectors: u64,
    /// The name of an organisation, not of a disk.
    is_array: bool,
}

/// The volumes, in alphabetical order of their names: their positions are the device numbers.
pub(super) fn volumes(
    items: &[Item],
    built: &Built,
    instances: &Instances<'_>,
    report: &mut Report,
) -> Result<Vec<Volume>, ImportError> {
    let mut volumes = Vec::new();
    let mut taken = vec![false; built.disks.len()];
    for block in of_kind(items, "disksim_logorg") {
        let fields = Fields { block };
        let names = expanded(fields.list("devices")?, &block.at)?;
        let disks: Vec<usize> =
            names.iter().map(|name| disk_of(name, built, instances, &block.at)).collect::<Result<_, _>>()?;
        let is_array = fields.text("Addressing mode")?.is_some_and(|mode| mode == "Array");
        checked(&fields, block, is_array, &disks, built, report)?;
        for &disk in &disks {
            if std::mem::replace(&mut taken[disk], true) {
                let name = &built.disks[disk].name;
                return Err(ImportError::at(&block.at, format!("`{name}` is part of two organisations")));
            }
        }
        if is_array {
            if built.disks[disks[0]].bus != built.disks[disks[disks.len() - 1]].bus {
                let what = format!("disks of {} on several buses", block.name);
                not_built(&block.at, &what, "all are on the bus of the first", report)?;
            }
            report.carried(format!("organisation {}", block.name), format!("volume.{}", block.name));
            volumes.push(volume(block.name.clone(), disks, built, true));
        } else {
            report.carried(format!("organisation {}", block.name), "a volume for each disk");
            volumes.extend(disks.into_iter().map(|disk| alone(disk, built)));
        }
    }
    volumes.extend((0..taken.len()).filter(|&disk| !taken[disk]).map(|disk| alone(disk, built)));
    volumes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(volumes)
}

fn volume(name: String, disks: Vec<usize>, built: &Built, is_array: bool) -> Volume {
    let sectors = disks.iter().map(|&disk| built.disks[disk].sectors).sum();
    Volume { name, disks, sectors, is_array }
}

fn alone(disk: usize, built: &Built) -> Volume {
    volume(built.disks[disk].name.clone(), vec![disk], built, false)
}

fn disk_of(name: &str, built: &Built, instances: &Instances<'_>, at: &At) -> Result<usize, ImportError> {
    instances.find(name, at)?;
    built.disks.iter().position(|disk| disk.name == name).ok_or_else(|| {
        ImportError::at(at, format!("`{name}` is no disk of the topology"))
            .hint("name disks that hang on a bus")
    })
}

/// Refuses what is not disks one after the other.
fn checked(
    fields: &Fields<'_>,
    block: &Block,
    is_array: bool,
    disks: &[usize],
    built: &Built,
    report: &mut Report,
) -> Result<(), ImportError> {
    let Some(largest) = disks.iter().map(|&disk| built.disks[disk].sectors).max() else {
        return Err(ImportError::at(&block.at, format!("`{}` has no devices", block.name)));
    };
    let instead = "its disks lie one after the other";
    let redundancy = fields.text("Redundancy scheme")?.unwrap_or("Noredun");
    if redundancy != "Noredun" {
        let what = format!("redundancy {redundancy} of {}", block.name);
        not_built(fields.at("Redundancy scheme"), &what, &format!("{instead}, without redundancy"), report)?;
    }
    let distribution = fields.text("Distribution scheme")?.unwrap_or("Asis");
    let unit = fields.real("Stripe unit")?.unwrap_or(0.0);
    let one_after_the_other = distribution == "Asis"
        || distribution == "Striped" && is_array && unit >= largest as f64
        || disks.len() == 1;
    if !one_after_the_other && redundancy == "Noredun" {
        let what = format!("distribution {distribution} of {} in units of {unit} sectors", block.name);
        not_built(fields.at("Distribution scheme"), &what, instead, report)?;
    }
    Ok(())
}

/// The volume that a generator or a trace means by a name. In an array DiskSim takes a disk's number for the number of
/// an organisation.
pub(super) fn volume_of<'v>(
    name: &str,
    volumes: &'v [Volume],
    items: &[Item],
    instances: &Instances<'_>,
    at: &At,
    report: &mut Report,
) -> Result<(usize, &'v Volume), ImportError> {
    let named = |name: &str| volumes.iter().enumerate().find(|(_, volume)| volume.name == name);
    if let Some(found) = named(name) {
        return Ok(found);
    }
    instances.find(name, at)?;
    let number = instances.disks().position(|disk| disk.name == name);
    let organisation = number.and_then(|number| of_kind(items, "disksim_logorg").nth(number));
    let found = organisation.and_then(|block| named(&block.name)).filter(|(_, volume)| volume.is_array);
    let Some(found) = found else {
        return Err(ImportError::at(
            at,
            format!("`{name}` is part of an array, and no organisation has its number"),
        )
        .hint("name the organisation"));
    };
    report.warn(
        at,
        format!("`{name}` is part of an array: its number stands for the organisation {}", found.1.name),
    );
    Ok(found)
}
