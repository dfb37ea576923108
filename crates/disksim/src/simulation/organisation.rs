//! `disksim_logorg`: how addresses lie over the disks.

use super::instances::{Instances, expanded};
use super::system::Built;
use super::{array, not_built, of_kind};
use crate::error::ImportError;
use crate::fields::Fields;
use crate::report::Report;
use crate::tree::{At, Block, Item};
use headstack_system::spec::VolumeSpec;

/// Disks as a volume.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// Level and options; drives and bus are filled in last.
    pub(super) spec: VolumeSpec,
    /// Positions in the list of disks, in the order of the volume.
    pub(super) disks: Vec<usize>,
}

/// A volume.
#[derive(Clone, Debug)]
pub(super) struct Volume {
    pub(super) name: String,
    pub(super) array: Array,
    /// In DiskSim's blocks.
    pub(super) sectors: u64,
    /// The bus its disks share; `None`: each has its own.
    pub(super) bus: Option<String>,
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
        let array = organised(&fields, block, is_array, &disks, built, report)?;
        for &disk in &disks {
            if std::mem::replace(&mut taken[disk], true) {
                let name = &built.disks[disk].name;
                return Err(ImportError::at(&block.at, format!("`{name}` is part of two organisations")));
            }
        }
        if is_array {
            let bus = built.bus_of_all(&disks);
            if bus.is_none() && !built.have_own_buses(&disks) {
                let what = format!("disks of {} on several buses", block.name);
                not_built(&block.at, &what, "all are on the bus of the first", report)?;
            }
            report.carried(format!("organisation {}", block.name), format!("volume.{}", block.name));
            volumes.push(volume(block.name.clone(), array, built, bus, true));
        } else {
            report.carried(format!("organisation {}", block.name), "a volume for each disk");
            volumes.extend(disks.into_iter().map(|disk| alone(disk, built)));
        }
    }
    volumes.extend((0..taken.len()).filter(|&disk| !taken[disk]).map(|disk| alone(disk, built)));
    volumes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(volumes)
}

fn volume(name: String, array: Array, built: &Built, bus: Option<String>, is_array: bool) -> Volume {
    let sizes = || array.disks.iter().map(|&disk| built.disks[disk].sectors);
    let smallest = sizes().min().unwrap_or(0);
    let unit = array.spec.stripe_unit_kib.map_or(1, |kib| (kib * 2.0) as u64).max(1);
    let (count, whole) = (array.disks.len() as u64, smallest / unit * unit);
    let sectors = match array.spec.level.as_str() {
        "raid-0" => count * whole,
        "raid-1" => smallest,
        "raid-10" => count / u64::from(array.spec.copies.unwrap_or(2)) * whole,
        "raid-4" | "raid-5" => (count - 1) * whole,
        _ => sizes().sum(),
    };
    Volume { name, array, sectors, bus, is_array }
}

fn alone(disk: usize, built: &Built) -> Volume {
    let bus = Some(built.disks[disk].bus.clone());
    volume(built.disks[disk].name.clone(), one_after_the_other(&[disk]), built, bus, false)
}

fn one_after_the_other(disks: &[usize]) -> Array {
    let level = if disks.len() == 1 { "single" } else { "concatenation" }.to_owned();
    Array { spec: VolumeSpec { level, ..VolumeSpec::default() }, disks: disks.to_vec() }
}

fn disk_of(name: &str, built: &Built, instances: &Instances<'_>, at: &At) -> Result<usize, ImportError> {
    instances.find(name, at)?;
    built.disks.iter().position(|disk| disk.name == name).ok_or_else(|| {
        ImportError::at(at, format!("`{name}` is not a disk of the topology"))
            .hint("name disks that hang on a bus")
    })
}

/// What the disks of an organisation are; refuses what there is not here.
fn organised(
    fields: &Fields<'_>,
    block: &Block,
    is_array: bool,
    disks: &[usize],
    built: &Built,
    report: &mut Report,
) -> Result<Array, ImportError> {
    let Some(largest) = disks.iter().map(|&disk| built.disks[disk].sectors).max() else {
        return Err(ImportError::at(&block.at, format!("`{}` has no devices", block.name)));
    };
    let instead = "its disks lie one after the other";
    let redundancy = fields.text("Redundancy scheme")?.unwrap_or("Noredun");
    let unit = fields.real("Stripe unit")?.unwrap_or(0.0);
    let is_shorter = unit < largest as f64 || redundancy != "Noredun";
    if is_array
        && disks.len() > 1
        && is_shorter
        && let Some(array) = array::array(fields, disks, unit)?
    {
        return Ok(array);
    }
    if redundancy != "Noredun" {
        let what = format!("redundancy {redundancy} of {}", block.name);
        not_built(fields.at("Redundancy scheme"), &what, &format!("{instead}, without redundancy"), report)?;
    }
    let distribution = fields.text("Distribution scheme")?.unwrap_or("Asis");
    let is_in_order = distribution == "Asis"
        || distribution == "Striped" && is_array && unit >= largest as f64
        || disks.len() == 1;
    if !is_in_order && redundancy == "Noredun" {
        let what = format!("distribution {distribution} of {} in units of {unit} sectors", block.name);
        not_built(fields.at("Distribution scheme"), &what, instead, report)?;
    }
    Ok(one_after_the_other(disks))
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
