//! `dm_layout_g1`: zones, track order, skews, and the spares of [`crate::spares`].

use crate::error::ImportError;
use crate::fields::{Fields, list, whole, wrong};
use crate::geometry::{Geometry, RawZone, empty};
use crate::layout_g2::second_generation;
use crate::layout_g4::fourth_generation;
use crate::report::Report;
use crate::spares::{self, Scheme};
use crate::tree::{Block, Kind, Value};
use headstack_drive::spec::{LayoutSpec, Order, ZoneSpec};

const MAPPING: &str = "LBN-to-PBN mapping scheme";
const SPARING: &str = "Sparing scheme used";
const RANGE: &str = "Rangesize for sparing";
const UNITS: &str = "Skew units";
const ZONES: &str = "Zones";

const FIRST: &str = "First cylinder number";
const LAST: &str = "Last cylinder number";
const SECTORS: &str = "Blocks per track";
const OFFSET: &str = "Offset of first block";
const FRONT: &str = "Empty space at zone front";
const TRACK_SKEW: &str = "Skew for track switch";
const CYLINDER_SKEW: &str = "Skew for cylinder switch";
const SPARES: &str = "Number of spares";
const SLIPS: &str = "slips";
const DEFECTS: &str = "defects";

/// Names of a zone's parameters, and where each goes.
const ZONE: [(&str, &str); 11] = [
    (FIRST, "layout.zone.*.first_cylinder"),
    (LAST, "layout.zone.*.last_cylinder"),
    (SECTORS, "layout.zone.*.sectors_per_track"),
    (OFFSET, "layout.zone.*.first_sector_revolutions"),
    (UNITS, "unit of skews and offset"),
    (FRONT, "layout.zone.*.empty_sectors_at_front"),
    (TRACK_SKEW, "layout.zone.*.track_skew_sectors"),
    (CYLINDER_SKEW, "layout.zone.*.cylinder_skew_sectors"),
    (SPARES, "spares of each zone"),
    (SLIPS, "slipped sectors or tracks"),
    (DEFECTS, "layout.remap"),
];

/// Reads a layout block of any generation.
pub(crate) fn layout(
    block: &Block,
    geometry: &Geometry,
    report: &mut Report,
) -> Result<LayoutSpec, ImportError> {
    match block.kind.as_str() {
        "dm_layout_g1" => first_generation(block, geometry, report),
        "dm_layout_g2" => second_generation(block, geometry, report),
        "dm_layout_g4" => fourth_generation(block, geometry, report),
        other => Err(ImportError::at(&block.at, format!("`{other}` is not a layout that can be read"))
            .hint("known: dm_layout_g1, dm_layout_g2, dm_layout_g4")),
    }
}

fn first_generation(
    block: &Block,
    geometry: &Geometry,
    report: &mut Report,
) -> Result<LayoutSpec, ImportError> {
    let fields = Fields::new(block, [MAPPING, SPARING, RANGE, UNITS, ZONES], report)?;
    let order = match fields.need_whole(MAPPING, 0, 2)? {
        0 => Order::Classical,
        1 => Order::SerpentineByZone,
        _ => Order::SerpentineByCylinder,
    };
    report.carried(MAPPING, "layout.order");
    let range = fields.whole(RANGE, 1, 1_000_000)?.unwrap_or(1) as u32;
    let scheme = Scheme::new(fields.need_whole(SPARING, 0, 10)? as u32, range);
    report.carried(SPARING, scheme.meaning());
    let use_of_range =
        if scheme.has_ranges() { "layout.zone.*.spares.cylinders" } else { "no ranges in this scheme" };
    report.carried(RANGE, use_of_range);
    let units = units(&fields)?.unwrap_or(Units::Sectors);
    fields.need(ZONES)?;
    let blocks = fields.list(ZONES)?;
    if blocks.is_empty() {
        return Err(ImportError::at(fields.at(ZONES), "there is no zone"));
    }
    let mut spec = empty(order, geometry.heads);
    let mut raw = Vec::new();
    for value in blocks {
        let (zone, spec_zone) = zone(value, units, report)?;
        follows(&zone, raw.last(), geometry.cylinders, report)?;
        spec.zone.push(spec_zone);
        raw.push(zone);
    }
    for (name, to) in ZONE {
        report.carried(name, to);
    }
    let end = spec.zone.last().map_or(0, |zone| zone.last_cylinder + 1);
    spec.cylinders = (geometry.cylinders > end).then_some(geometry.cylinders);
    spares::apply(&mut spec, scheme, &raw, report)?;
    spares::announce(&mut spec, scheme, geometry, report)?;
    spares::remap(&mut spec, scheme, &raw, report);
    Ok(spec)
}

#[derive(Clone, Copy, PartialEq)]
enum Units {
    Sectors,
    Revolutions,
}

fn units(fields: &Fields<'_>) -> Result<Option<Units>, ImportError> {
    match fields.text(UNITS)? {
        None => Ok(None),
        Some("sectors") => Ok(Some(Units::Sectors)),
        Some("revolutions" | "revs") => Ok(Some(Units::Revolutions)),
        Some(_) => Err(wrong(UNITS, &fields.need(UNITS)?.value, "sectors or revolutions")),
    }
}

fn zone(
    value: &Value,
    units_of_layout: Units,
    report: &mut Report,
) -> Result<(RawZone, ZoneSpec), ImportError> {
    let Kind::Block(block) = &value.kind else {
        return Err(wrong(ZONES, value, "made of blocks `dm_layout_g1_zone { … }`"));
    };
    if block.kind != "dm_layout_g1_zone" {
        let message = format!("expected a block `dm_layout_g1_zone`, but found `{}`", block.kind);
        return Err(ImportError::at(&block.at, message));
    }
    let fields = Fields::new(block, ZONE.map(|(name, _)| name), report)?;
    let units = units(&fields)?.unwrap_or(units_of_layout);
    let raw = RawZone {
        at: block.at.clone(),
        first_cylinder: fields.need_whole(FIRST, 0, 100_000_000)? as u32,
        last_cylinder: fields.need_whole(LAST, 0, 100_000_000)? as u32,
        sectors_per_track: fields.need_whole(SECTORS, 1, 1_000_000)? as u32,
        front: fields.need_whole(FRONT, 0, 1 << 50)?,
        spares: fields.need_whole(SPARES, 0, 1_000_000_000)? as u32,
        slips: positions(SLIPS, &fields, report)?,
        defects: defects(&fields)?,
    };
    let slots = f64::from(raw.sectors_per_track);
    let mut angle = |name: &str| -> Result<f64, ImportError> {
        let given = fields.need_real(name)?;
        let sectors = if units == Units::Sectors { given } else { given * slots };
        let within = sectors.rem_euclid(slots);
        if within != sectors {
            let message = format!(
                "`{name}` is {given}, which is more than a revolution or negative: {within} sectors is the same"
            );
            report.warn(fields.at(name), message);
        }
        if units == Units::Sectors && sectors.fract() != 0.0 {
            let message = format!("`{name}` is {given}: DiskSim drops the fraction, here it is kept");
            report.warn(fields.at(name), message);
        }
        Ok(within)
    };
    let spec = ZoneSpec {
        sectors_per_track_by_head: Vec::new(),
        first_cylinder: raw.first_cylinder,
        last_cylinder: raw.last_cylinder,
        sectors_per_track: raw.sectors_per_track,
        spare_sectors_per_track: 0,
        spare_tracks_per_cylinder: 0,
        spare_tracks_at_end: 0,
        empty_sectors_at_front: 0,
        track_skew_sectors: angle(TRACK_SKEW)?,
        cylinder_skew_sectors: angle(CYLINDER_SKEW)?,
        first_sector_revolutions: angle(OFFSET)? / slots,
        spares: None,
    };
    Ok((raw, spec))
}

/// A list of positions, ascending.
fn positions(name: &str, fields: &Fields<'_>, report: &mut Report) -> Result<Vec<u64>, ImportError> {
    let values = fields.find(name).map_or(Ok(&[][..]), |parameter| list(name, &parameter.value))?;
    let mut found =
        values.iter().map(|value| whole(name, value, 0, 1 << 50)).collect::<Result<Vec<_>, _>>()?;
    if !found.is_sorted_by(|a, b| a < b) {
        let message = format!("`{name}` do not ascend: they are sorted, repetitions are dropped");
        report.warn(fields.at(name), message);
        found.sort_unstable();
        found.dedup();
    }
    Ok(found)
}

fn defects(fields: &Fields<'_>) -> Result<Vec<(u64, u64)>, ImportError> {
    let values = fields.list(DEFECTS)?;
    if !values.len().is_multiple_of(2) {
        let message =
            format!("`{DEFECTS}` has {} values, but they come in pairs: original, replacement", values.len());
        return Err(ImportError::at(fields.at(DEFECTS), message));
    }
    values
        .chunks_exact(2)
        .map(|pair| Ok((whole(DEFECTS, &pair[0], 0, 1 << 50)?, whole(DEFECTS, &pair[1], 0, 1 << 50)?)))
        .collect()
}

/// Whether a zone goes with the one before it and the cylinders of the drive.
fn follows(
    zone: &RawZone,
    before: Option<&RawZone>,
    cylinders: u32,
    report: &mut Report,
) -> Result<(), ImportError> {
    if zone.last_cylinder < zone.first_cylinder {
        let message = format!(
            "the zone ends at cylinder {}, before it begins, at cylinder {}",
            zone.last_cylinder, zone.first_cylinder
        );
        return Err(ImportError::at(&zone.at, message));
    }
    if zone.last_cylinder == cylinders {
        let message = format!(
            "the zone ends at cylinder {cylinders}, but cylinders count from 0 and there are {cylinders}: taken as one more"
        );
        report.warn(&zone.at, message);
    } else if zone.last_cylinder > cylinders {
        let message = format!(
            "the zone goes up to cylinder {}, but the drive has {cylinders} cylinders, counted from 0",
            zone.last_cylinder
        );
        return Err(ImportError::at(&zone.at, message).hint("correct the zone or `Number of cylinders`"));
    }
    if let Some(before) = before
        && zone.first_cylinder <= before.last_cylinder
    {
        let message = format!(
            "the zone begins at cylinder {}, but the one before it goes up to {}: zones must not overlap",
            zone.first_cylinder, before.last_cylinder
        );
        return Err(ImportError::at(&zone.at, message));
    }
    Ok(())
}
