//! `dm_layout_g4`: no zones, but a tree that repeats track patterns, with slips and remaps.
//!
//! What the form leaves open is read so:
//! - Heads are not in rows of eight columns: the n-th track on a cylinder, in the order of blocks, is on head n (from 0).
//! - Rows of ten and eleven columns tell heads, and angles whose unit is not known: those are left out.
//! - Neither are skews: they are 0, unless the block has parameters for them.
//! - The tree counts slipped blocks; a slip's offset counts the blocks before it, slipped ones included.
//! - A remap's cylinder, head and sector are physical. Where it leads to a track outside the tree, that track is a spare.

use crate::error::ImportError;
use crate::fields::{Fields, whole};
use crate::g4_tracks::{Skews, Tracks};
use crate::g4_tree::{NODES, PATTERNS, Tree, rows};
use crate::geometry::{Geometry, empty};
use crate::report::Report;
use crate::tree::{Block, Value};
use headstack_drive::layout::Layout;
use headstack_drive::spec::{LayoutSpec, Order, RemapSpec, TrackRunSpec};
use std::collections::{BTreeMap, BTreeSet};

/// The first name is used in messages; no published file has all, so spellings vary.
const SLIPS: [&str; 2] = ["Slips", "slips"];
const REMAPS: [&str; 2] = ["Remaps", "remaps"];
const TRACK_SKEW: [&str; 3] = ["Track skew", "Track Skew", "Skew for track switch"];
const CYLINDER_SKEW: [&str; 3] = ["Cylinder skew", "Cylinder Skew", "Skew for cylinder switch"];

const SLIP: [&str; 2] = ["offset", "count"];
const REMAP: [&str; 6] = ["LBN", "length", "cylinder", "head", "sector", "sectors per track"];

/// More slipped or remapped blocks are beyond belief.
const MAX_DEFECTS: u64 = 1_000_000;

/// Reads the block.
pub(crate) fn fourth_generation(
    block: &Block,
    geometry: &Geometry,
    report: &mut Report,
) -> Result<LayoutSpec, ImportError> {
    let lists = [PATTERNS, NODES].into_iter().chain(SLIPS).chain(REMAPS);
    let fields = Fields::new(block, lists.chain(TRACK_SKEW).chain(CYLINDER_SKEW), report)?;
    let tree = Tree::new(&fields)?;
    report.carried(PATTERNS, "layout.run.*.sectors_per_track, first_sector, data_sectors");
    report.carried(NODES, tree.reading());
    if tree.unused_nodes() > 0 {
        let message = format!("nodes that the root does not lead to, left out: {}", tree.unused_nodes());
        report.warn(fields.at(NODES), message);
    }
    let mut spec = empty(Order::Classical, geometry.heads);
    spec.slipped_sectors = slips(&fields, tree.blocks(), report)?;
    announce(&mut spec, &tree, geometry, report)?;
    let skews = skews(&fields, tree.is_wide(), report)?;
    let mut tracks = Tracks::new(geometry, &tree.patterns, skews);
    tree.walk(&mut |track| tracks.add(track))?;
    spec.run = tracks.runs();
    spec.cylinders = (geometry.cylinders > spec.cylinders_with_tracks()).then_some(geometry.cylinders);
    remaps(&mut spec, &fields, geometry, report)?;
    Ok(spec)
}

/// The name that the block uses.
fn named(fields: &Fields<'_>, names: &[&'static str]) -> &'static str {
    names.iter().copied().find(|name| fields.find(name).is_some()).unwrap_or(names[0])
}

/// Positions of slipped blocks, ascending.
fn slips(fields: &Fields<'_>, blocks: u64, report: &mut Report) -> Result<Vec<u64>, ImportError> {
    let name = named(fields, &SLIPS);
    let mut slipped = BTreeSet::new();
    for row in rows(name, fields.list(name)?, SLIP)? {
        let column = |at: usize| whole(&format!("{name}: {}", SLIP[at]), &row[at], 0, 1 << 50);
        let (offset, count) = (column(0)?, column(1)?);
        if offset + count > blocks {
            let message = format!("{count} slips from {offset} on go beyond the {blocks} LBNs of the tree");
            report.refuse(ImportError::at(&row[0].at, message), "they are left out")?;
            continue;
        }
        if slipped.len() as u64 + count > MAX_DEFECTS {
            let message = format!("more than {MAX_DEFECTS} slipped blocks are beyond belief");
            return Err(ImportError::at(&row[1].at, message));
        }
        let before = slipped.len() as u64;
        slipped.extend(offset..offset + count);
        if slipped.len() as u64 != before + count {
            let message = format!("{count} slips from {offset} on overlap others: each block slips once");
            report.refuse(ImportError::at(&row[0].at, message), "they are joined")?;
        }
    }
    if fields.find(name).is_some() {
        report.carried(name, "layout.slipped_sectors");
    }
    Ok(slipped.into_iter().collect())
}

/// Compares what the tree holds with what the drive announces.
fn announce(
    spec: &mut LayoutSpec,
    tree: &Tree,
    geometry: &Geometry,
    report: &mut Report,
) -> Result<(), ImportError> {
    let slipped = spec.slipped_sectors.len() as u64;
    let holds = tree.blocks() - slipped;
    if holds == geometry.blocks {
        report.carried("Block count", "what the layout holds, exactly");
        return Ok(());
    }
    let message = format!(
        "`Block count` is {}, but the tree covers {} LBNs, of which {slipped} are slipped: {holds}",
        geometry.blocks,
        tree.blocks()
    );
    report.refuse(ImportError::at(&geometry.blocks_at, message), "the smaller of the two counts")?;
    if holds > geometry.blocks {
        spec.capacity_sectors = Some(geometry.blocks);
        report.carried("Block count", "layout.capacity_sectors");
    } else {
        let reason = format!("the tree holds {holds}");
        report.not_carried("Block count", geometry.blocks.to_string(), reason);
    }
    Ok(())
}

/// The skews, 0 if there are none, with a warning about what the file does not tell.
fn skews(fields: &Fields<'_>, tells_heads: bool, report: &mut Report) -> Result<Skews, ImportError> {
    let (track, cylinder) = (named(fields, &TRACK_SKEW), named(fields, &CYLINDER_SKEW));
    let value = |name: &str| match fields.find(name) {
        None => Ok(0.0),
        Some(_) => fields.need_amount(name),
    };
    let skews = Skews { track: value(track)?, cylinder: value(cylinder)? };
    let mut missing = if tells_heads { Vec::new() } else { vec!["heads"] };
    if fields.find(track).is_some() {
        report.carried(track, "layout.run.*.first_sector_revolutions");
    }
    if fields.find(cylinder).is_some() {
        report.carried(cylinder, "layout.run.*.skew_sectors, first_sector_revolutions");
    }
    if fields.find(track).is_none() || fields.find(cylinder).is_none() {
        missing.push("skews");
    }
    if tells_heads {
        let message = "the angles (columns off and alen) are left out: their unit is not known";
        report.warn(fields.at(NODES), message);
    }
    if missing.is_empty() {
        return Ok(skews);
    }
    let assumed: Vec<&str> = missing
        .iter()
        .map(|what| match *what {
            "heads" => "the n-th track on a cylinder is taken to be on head n",
            _ => "skews are taken as 0, so that rotational latencies between tracks mean nothing",
        })
        .collect();
    let message = format!(
        "fourth-generation layouts do not tell {}: {}",
        missing.join(" and "),
        assumed.join(", and ")
    );
    report.warn(&fields.block.at, message);
    Ok(skews)
}

/// Tracks by head and lowest cylinder of their run: the highest one, and sectors on each.
struct ByTrack(BTreeMap<(u32, u32), (u32, u32)>);

impl ByTrack {
    fn new(runs: &[TrackRunSpec]) -> Self {
        let mut tracks = Self(BTreeMap::new());
        for run in runs {
            tracks.add(run);
        }
        tracks
    }

    fn add(&mut self, run: &TrackRunSpec) {
        let (low, high) = run.cylinder_range();
        self.0.insert((run.head, low), (high, run.sectors_per_track));
    }

    /// Sectors of a track.
    fn sectors(&self, cylinder: u32, head: u32) -> Option<u32> {
        let (&(of, _), &(high, sectors)) = self.0.range(..=(head, cylinder)).next_back()?;
        (of == head && cylinder <= high).then_some(sectors)
    }
}

/// One row of remaps.
struct Remap {
    lba: u64,
    length: u64,
    cylinder: u32,
    head: u32,
    sector: u32,
    sectors_per_track: u32,
}

/// Moves blocks to where the file says, with spare tracks for those that the tree does not have.
fn remaps(
    spec: &mut LayoutSpec,
    fields: &Fields<'_>,
    geometry: &Geometry,
    report: &mut Report,
) -> Result<(), ImportError> {
    let name = named(fields, &REMAPS);
    let mut tracks = ByTrack::new(&spec.run);
    let layout = Layout::new(spec);
    let (mut seen, mut shared) = (BTreeSet::new(), 0_usize);
    for row in rows(name, fields.list(name)?, REMAP)? {
        let remap = remap(name, row, geometry)?;
        let problem = |message: String| ImportError::at(&row[0].at, message);
        let Remap { lba, length, cylinder, head, sector, .. } = remap;
        if let Some(message) = misfit(&remap, &tracks, layout.capacity()) {
            report.refuse(problem(message), "it is left out")?;
            continue;
        }
        if tracks.sectors(cylinder, head).is_none() {
            let spare = spare_track(&remap);
            tracks.add(&spare);
            spec.run.push(spare);
        }
        for (lba, sector) in (lba..lba + length).zip(sector..) {
            if !seen.insert(lba) {
                return Err(problem(format!("LBN {lba} is remapped for the second time")));
            }
            if seen.len() as u64 > MAX_DEFECTS {
                return Err(problem(format!("more than {MAX_DEFECTS} remapped blocks are beyond belief")));
            }
            shared += usize::from(layout.lba_at(cylinder, head, sector).is_some());
            spec.remap.push(RemapSpec { lba, cylinder, head, sector });
        }
    }
    if fields.find(name).is_some() {
        report.carried(name, "layout.remap");
    }
    if shared > 0 {
        let message = format!("blocks that are remapped to where others live by the tree: {shared}");
        report.warn(fields.at(name), message);
    }
    Ok(())
}

/// Why a remap does not go with the tree.
fn misfit(remap: &Remap, tracks: &ByTrack, capacity: u64) -> Option<String> {
    let Remap { lba, length, cylinder, head, sectors_per_track, .. } = *remap;
    if lba + length > capacity {
        return Some(format!("{length} remaps from LBN {lba} on go beyond the drive's {capacity}"));
    }
    let there = tracks.sectors(cylinder, head).filter(|&there| there != sectors_per_track)?;
    Some(format!(
        "the remap leads to track {cylinder}/{head} (cylinder/head) with {sectors_per_track} sectors, but by the tree it \
         has {there} (heads are counted, not given)"
    ))
}

fn remap(name: &str, row: &[Value; 6], geometry: &Geometry) -> Result<Remap, ImportError> {
    let column = |at: usize, low, high| whole(&format!("{name}: {}", REMAP[at]), &row[at], low, high);
    let remap = Remap {
        lba: column(0, 0, 1 << 50)?,
        length: column(1, 1, 1_000_000)?,
        cylinder: column(2, 0, u64::from(geometry.cylinders) - 1)? as u32,
        head: column(3, 0, u64::from(geometry.heads) - 1)? as u32,
        sector: column(4, 0, 1_000_000)? as u32,
        sectors_per_track: column(5, 1, 1_000_000)? as u32,
    };
    if u64::from(remap.sector) + remap.length > u64::from(remap.sectors_per_track) {
        let message = format!(
            "{} sectors from sector {} on do not fit a track of {}",
            remap.length, remap.sector, remap.sectors_per_track
        );
        return Err(ImportError::at(&row[4].at, message));
    }
    Ok(remap)
}

/// A track that only remapped blocks live on.
fn spare_track(remap: &Remap) -> TrackRunSpec {
    TrackRunSpec {
        first_cylinder: remap.cylinder,
        head: remap.head,
        cylinders: 1,
        step: 1,
        sectors_per_track: remap.sectors_per_track,
        first_sector: 0,
        data_sectors: Some(0),
        first_sector_revolutions: 0.0,
        skew_sectors: 0.0,
    }
}
