//! `dm_layout_g2`: zones with the range of blocks in each.
//!
//! The layout map, a list of every run of blocks, is not read: within a zone the tracks are taken in classical order, and
//! what a zone holds beyond its blocks is taken as spares at its end. So each block is in its zone, but slips inside a
//! zone are not where they are.

use crate::error::ImportError;
use crate::fields::{Fields, wrong};
use crate::geometry::{Geometry, empty};
use crate::report::Report;
use crate::tree::{Block, Kind, Value};
use headstack_drive::spec::{LayoutSpec, Order, SpareGroup, SparesSpec, ZoneSpec};

const MAP: &str = "Layout Map File";
const ZONES: &str = "Zones";

/// Names of a zone's parameters; the first is used in messages. No published file has this layout, so spellings vary.
const FIRST_CYLINDER: [&str; 2] = ["First cylinder number", "First cylinder"];
const LAST_CYLINDER: [&str; 2] = ["Last cylinder number", "Last cylinder"];
const FIRST_BLOCK: [&str; 3] = ["First LBN", "First LBN number", "First lbn"];
const LAST_BLOCK: [&str; 3] = ["Last LBN", "Last LBN number", "Last lbn"];
const SECTORS: [&str; 1] = ["Blocks per track"];
const ZONE_SKEW: [&str; 2] = ["Zone Skew", "Zone skew"];
const TRACK_SKEW: [&str; 3] = ["Skew for track switch", "Track Skew", "Track skew"];
const CYLINDER_SKEW: [&str; 3] = ["Skew for cylinder switch", "Cylinder Skew", "Cylinder skew"];

/// Reads the block.
pub(crate) fn second_generation(
    block: &Block,
    geometry: &Geometry,
    report: &mut Report,
) -> Result<LayoutSpec, ImportError> {
    let fields = Fields::new(block, [MAP, ZONES], report)?;
    if let Some(name) = fields.text(MAP)? {
        let instead = "tracks are taken in classical order, spares at the end of each zone";
        report.not_carried(MAP, name, format!("layout maps are not read: {instead}"));
        report.warn(fields.at(MAP), format!("the layout map `{name}` is not read: {instead}"));
    }
    fields.need(ZONES)?;
    let mut spec = empty(Order::Classical, geometry.heads);
    let mut blocks = 0;
    for value in fields.list(ZONES)? {
        let zone = zone(value, blocks, geometry, spec.zone.last(), report)?;
        blocks = zone.1;
        spec.zone.push(zone.0);
    }
    report.carried(ZONES, "layout.zone");
    if blocks != geometry.blocks {
        let message = format!("`Block count` is {}, but the zones end at block {blocks}", geometry.blocks);
        report.refuse(ImportError::at(&geometry.blocks_at, message), "the zones count")?;
    }
    report.carried("Block count", "the last block of the last zone");
    let end = spec.zone.last().map_or(0, |zone| zone.last_cylinder + 1);
    spec.cylinders = (geometry.cylinders > end).then_some(geometry.cylinders);
    Ok(spec)
}

/// A zone whose first block must be `first`, and the number of the block behind its last.
fn zone(
    value: &Value,
    first: u64,
    geometry: &Geometry,
    before: Option<&ZoneSpec>,
    report: &mut Report,
) -> Result<(ZoneSpec, u64), ImportError> {
    let Kind::Block(block) = &value.kind else {
        return Err(wrong(ZONES, value, "made of blocks `dm_layout_g2_zone { … }`"));
    };
    let names = [&FIRST_CYLINDER[..], &LAST_CYLINDER, &FIRST_BLOCK, &LAST_BLOCK, &SECTORS];
    let skews = [&ZONE_SKEW[..], &TRACK_SKEW, &CYLINDER_SKEW];
    let fields = Fields::new(block, names.into_iter().chain(skews).flatten().copied(), report)?;
    let named = |names: &[&'static str]| {
        names.iter().copied().find(|name| fields.find(name).is_some()).unwrap_or(names[0])
    };
    let whole = |names: &[&'static str], high: u64| fields.need_whole(named(names), 0, high);
    let first_cylinder = whole(&FIRST_CYLINDER, 100_000_000)? as u32;
    let last_cylinder = whole(&LAST_CYLINDER, 100_000_000)? as u32;
    let sectors_per_track = whole(&SECTORS, 1_000_000)?.max(1) as u32;
    let (first_block, last_block) = (whole(&FIRST_BLOCK, 1 << 50)?, whole(&LAST_BLOCK, 1 << 50)?);
    let problem = |message: String| Err(ImportError::at(&block.at, message));
    if last_cylinder < first_cylinder || before.is_some_and(|before| first_cylinder <= before.last_cylinder) {
        return problem(format!(
            "cylinders {first_cylinder} to {last_cylinder} do not follow the zone before: zones ascend without overlap"
        ));
    }
    if last_cylinder >= geometry.cylinders {
        return problem(format!(
            "the zone goes up to cylinder {last_cylinder}, but the drive has {} cylinders, counted from 0",
            geometry.cylinders
        ));
    }
    if first_block != first || last_block < first_block {
        return problem(format!(
            "blocks {first_block} to {last_block} do not follow the zone before, which ends before {first}"
        ));
    }
    let slots = (u64::from(last_cylinder - first_cylinder) + 1)
        * u64::from(geometry.heads)
        * u64::from(sectors_per_track);
    let blocks = last_block - first_block + 1;
    let Some(spare) = slots.checked_sub(blocks) else {
        return problem(format!("the zone's {blocks} blocks do not fit its {slots} sectors"));
    };
    let turn = f64::from(sectors_per_track);
    let skew =
        |names: &[&'static str]| fields.real(named(names)).map(|skew| skew.unwrap_or(0.0).rem_euclid(turn));
    let sectors = u32::try_from(spare).unwrap_or(u32::MAX);
    let spares = SparesSpec {
        per: SpareGroup::Zone,
        cylinders: None,
        sectors,
        at_front: false,
        slipped_slots: Vec::new(),
        range_skew_sectors: 0.0,
    };
    let zone = ZoneSpec {
        sectors_per_track_by_head: Vec::new(),
        first_cylinder,
        last_cylinder,
        sectors_per_track,
        spare_sectors_per_track: 0,
        spare_tracks_per_cylinder: 0,
        spare_tracks_at_end: 0,
        empty_sectors_at_front: 0,
        track_skew_sectors: skew(&TRACK_SKEW)?,
        cylinder_skew_sectors: skew(&CYLINDER_SKEW)?,
        first_sector_revolutions: skew(&ZONE_SKEW)? / turn,
        spares: (spare > 0).then_some(spares),
    };
    Ok((zone, last_block + 1))
}
