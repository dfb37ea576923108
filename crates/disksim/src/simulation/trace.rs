//! `disksim_iosim`: how a trace is laid over the system, as options of `headstack simulate`.

use super::instances::Instances;
use super::only;
use super::organisation::{Volume, volume_of};
use crate::error::ImportError;
use crate::fields::{Fields, wrong};
use crate::report::Report;
use crate::tree::{At, Item, Kind};

/// A trace's options.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping {
    /// The file maps devices, so a trace is what it is run with.
    pub(super) is_mapped: bool,
    pub(super) options: Vec<String>,
}

const SCALE: &str = "I/O Trace Time Scale";
const MAPPINGS: &str = "I/O Mappings";

/// Bytes that `locScale` counts in.
const BLOCK_BYTES: f64 = 512.0;

pub(super) fn read(
    items: &[Item],
    volumes: &[Volume],
    instances: &Instances<'_>,
    report: &mut Report,
) -> Result<Mapping, ImportError> {
    let mut mapping = Mapping::default();
    if let Some(block) = only(items, "disksim_iosim")? {
        let fields = Fields::new(block, [SCALE, MAPPINGS], report)?;
        if let Some(scale) = fields.real(SCALE)?.filter(|scale| (*scale - 1.0).abs() > 1e-12) {
            mapping.options.push(format!("--time-scale {scale}"));
        }
        report.carried(SCALE, "the trace's option --time-scale");
        let entries = fields.list(MAPPINGS)?;
        mapping.is_mapped = !entries.is_empty();
        let mut scales = Vec::new();
        for entry in entries {
            let Kind::Block(block) = &entry.kind else {
                return Err(wrong(MAPPINGS, entry, "a list of blocks `disksim_iomap { … }`"));
            };
            let known = ["tracedev", "simdev", "locScale", "sizeScale", "offset"];
            let fields = Fields::new(block, known, report)?;
            let device = number(&fields, "tracedev")?;
            let to = fields.text("simdev")?.unwrap_or_default();
            let at = fields.at("simdev");
            let (position, _) = volume_of(to, volumes, items, instances, at, report)?;
            mapping.options.push(format!("--device {device}={position}"));
            scales.push(fields.real("locScale")?.unwrap_or(BLOCK_BYTES) / BLOCK_BYTES);
            for (name, usual) in [("sizeScale", 1.0), ("offset", 0.0)] {
                if let Some(value) = fields.real(name)?.filter(|value| *value != usual) {
                    report.not_carried(
                        format!("{name} of {to}"),
                        value.to_string(),
                        "no option of a trace does this",
                    );
                }
            }
        }
        if mapping.is_mapped {
            report.carried(MAPPINGS, "the trace's options --device N=M and --lba-scale");
            mapping.options.extend(address_scale(&scales, &block.at, report)?);
        }
    }
    if !mapping.is_mapped {
        mapping.options.extend(in_order(volumes, instances));
    }
    Ok(mapping)
}

/// Without a mapping the disks have the numbers in which they are instantiated, the volumes those of the alphabet.
fn in_order(volumes: &[Volume], instances: &Instances<'_>) -> Vec<String> {
    let position = |name: &str| volumes.iter().position(|volume| volume.name == name);
    let places: Vec<Option<usize>> = instances.disks().map(|disk| position(&disk.name)).collect();
    if places.iter().enumerate().all(|(number, place)| place.is_none_or(|place| place == number)) {
        return Vec::new();
    }
    let moved = places.iter().enumerate();
    moved.filter_map(|(number, place)| Some(format!("--device {number}={}", (*place)?))).collect()
}

fn address_scale(scales: &[f64], at: &At, report: &mut Report) -> Result<Option<String>, ImportError> {
    let first = scales[0];
    if scales.iter().any(|scale| (scale - first).abs() > 1e-12) {
        let problem = ImportError::at(at, "the devices of a trace are scaled by different factors");
        report.refuse(problem, "all are scaled as the first")?;
    }
    Ok(((first - 1.0).abs() > 1e-12).then(|| format!("--lba-scale {first}")))
}

/// A device number, decimal or with `0x`.
fn number(fields: &Fields<'_>, name: &str) -> Result<u64, ImportError> {
    let parameter = fields.need(name)?;
    if let Kind::Text(text) = &parameter.value.kind
        && let Some(digits) = text.strip_prefix("0x")
        && let Ok(number) = u64::from_str_radix(digits, 16)
    {
        return Ok(number);
    }
    fields.need_whole(name, 0, u64::from(u32::MAX))
}
