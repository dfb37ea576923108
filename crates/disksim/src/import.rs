//! From files to a drive.

use crate::controller;
use crate::electronics::{BusTimes, Electronics};
use crate::error::ImportError;
use crate::fields::Fields;
use crate::geometry::Geometry;
use crate::layout::layout;
use crate::meaning::Meaning;
use crate::mechanics::mechanical;
use crate::parameters::Parameters;
use crate::parser::{file_name, parse_files};
use crate::report::Report;
use crate::sources::Sources;
use crate::tree::{At, Block, Item};
use headstack_drive::spec::{
    ArmsSpec, DriveSpec, Provenance, ProvenanceKind, PublishedSpec, RecalibrationSpec, SpindleSpec,
    WriteCacheSpec,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

const SURFACES: &str = "Number of data surfaces";
const CYLINDERS: &str = "Number of cylinders";
const BLOCKS: &str = "Block count";
const LAYOUT: &str = "Layout Model";
const MECHANICS: &str = "Mechanical Model";

/// How to import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the parameters mean.
    pub meaning: Meaning,
    /// Doubtful input is a warning instead of an error, where something sensible can be done.
    pub lenient: bool,
    /// The drive's name; absent: the block's name.
    pub name: Option<String>,
    /// The drive's summary line; absent: where it comes from.
    pub summary: Option<String>,
    /// What the drive file's head comment says besides.
    pub note: Option<String>,
}

/// A drive, and what became of each parameter.
#[derive(Clone, Debug)]
pub struct Import {
    /// The drive, checked.
    pub spec: DriveSpec,
    /// What became of each parameter, and what is doubtful.
    pub report: Report,
    /// What the drive file's head comment says besides.
    pub note: Option<String>,
}

/// Imports the one drive that the first file describes: its `.diskspecs`, a `.model` alone, or a `.parv` with one drive.
/// Further files (the `.parv` of a simulation) add the bus. Sourced files are looked for beside the file that sources them, then beside the others.
///
/// # Errors
/// [`ImportError`] with file and line for the first thing that cannot be read, is unknown or contradicts itself.
pub fn import(paths: &[PathBuf], options: &Options) -> Result<Import, ImportError> {
    let mut report = Report { lenient: options.lenient, meaning: options.meaning, ..Report::default() };
    let mut sources = Sources::new(paths);
    let whole = At { file: names(paths).into(), line: 0 };
    let (first, further) = paths.split_at(paths.len().min(1));
    let items = parse_files(first, &mut sources, &mut report)?;
    let further = parse_files(further, &mut sources, &mut report)?;
    let of_kind =
        |kind: &'static str| blocks(&items).filter(move |block| block.kind == kind).collect::<Vec<_>>();
    let buses: Vec<&Block> =
        blocks(&items).chain(blocks(&further)).filter(|block| block.kind == "disksim_bus").collect();
    let bus_times = bus_times(&buses)?;
    let (disks, models) = (of_kind("disksim_disk"), of_kind("dm_disk"));
    let mut spec = match (disks.as_slice(), models.as_slice()) {
        ([disk], _) => of_disk(disk, bus_times.as_ref(), &mut sources, &mut report)?,
        ([], [model]) => {
            let electronics = controller::assumed(bus_times.as_ref(), &mut report);
            drive((model, model), electronics, bus_times.as_ref(), &mut sources, &mut report)?
        }
        ([], []) => {
            return Err(ImportError::at(
                &whole,
                "no drive is described here: there is no block `disksim_disk` or `dm_disk`",
            )
            .hint("import the drive's .diskspecs file"));
        }
        (several, _) => {
            let several = if several.is_empty() { &models } else { &disks };
            let names: Vec<&str> = several.iter().map(|block| block.name.as_str()).collect();
            let message = format!("several drives are described here: {}", names.join(", "));
            return Err(ImportError::at(&several[1].at, message)
                .hint("import them one by one, each from its own file"));
        }
    };
    report.read(&sources);
    if let Some(name) = &options.name {
        spec.name.clone_from(name);
    }
    if let Some(summary) = &options.summary {
        spec.summary.clone_from(summary);
    }
    checked(&spec, &whole)?;
    Ok(Import { spec, report, note: options.note.clone() })
}

/// The drive that a `disksim_disk` describes, behind buses of these times.
pub(crate) fn of_disk(
    disk: &Block,
    bus_times: Option<&BusTimes>,
    sources: &mut Sources,
    report: &mut Report,
) -> Result<DriveSpec, ImportError> {
    let parameters = Parameters::new(disk, report)?;
    let electronics = controller::electronics(&parameters, bus_times, report)?;
    drive((parameters.model()?, disk), electronics, bus_times, sources, report)
}

pub(crate) fn blocks(items: &[Item]) -> impl Iterator<Item = &Block> {
    items.iter().filter_map(|item| match item {
        Item::Block(block) => Some(block),
        Item::Wiring(_) => None,
    })
}

/// What the drive crate would refuse is refused here.
pub(crate) fn checked(spec: &DriveSpec, whole: &At) -> Result<(), ImportError> {
    let problems = spec.check();
    if problems.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = problems.iter().map(|problem| format!("  - {problem}")).collect();
    let message = format!("the values give no sound drive\n{}", list.join("\n"));
    Err(ImportError::at(whole, message))
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The slower of each direction: data pass all buses on their way.
fn bus_times(buses: &[&Block]) -> Result<Option<BusTimes>, ImportError> {
    let mut slowest: Option<BusTimes> = None;
    for block in buses {
        let fields = Fields { block };
        let time = |name: &str| fields.real(name).map(|time| time.unwrap_or(0.0));
        let (read_ms, write_ms) = (time("Read block transfer time")?, time("Write block transfer time")?);
        if read_ms <= 0.0 && write_ms <= 0.0 {
            continue;
        }
        let found = slowest.get_or_insert(BusTimes { at: block.at.clone(), read_ms: 0.0, write_ms: 0.0 });
        found.read_ms = found.read_ms.max(read_ms);
        found.write_ms = found.write_ms.max(write_ms);
    }
    Ok(slowest)
}

/// The drive of a model and its electronics.
fn drive(
    (model, named): (&Block, &Block),
    electronics: Electronics,
    bus_times: Option<&BusTimes>,
    sources: &mut Sources,
    report: &mut Report,
) -> Result<DriveSpec, ImportError> {
    if model.kind != "dm_disk" {
        let message = format!("`Model` must be a block `dm_disk`, but is `{}`", model.kind);
        return Err(ImportError::at(&model.at, message));
    }
    let fields = Fields::new(model, [SURFACES, CYLINDERS, BLOCKS, LAYOUT, MECHANICS], report)?;
    let geometry = Geometry {
        heads: fields.need_whole(SURFACES, 1, 1024)? as u32,
        cylinders: fields.need_whole(CYLINDERS, 1, 100_000_000)? as u32,
        blocks: fields.need_whole(BLOCKS, 1, 1 << 50)?,
        blocks_at: fields.at(BLOCKS).clone(),
    };
    report.carried(SURFACES, "layout.heads");
    report.carried(CYLINDERS, "layout.cylinders");
    let layout = layout(fields.need_block(LAYOUT)?, &geometry, report)?;
    let mechanical = mechanical(fields.need_block(MECHANICS)?, geometry.cylinders, sources, report)?;
    let mut spec = DriveSpec {
        name: named.name.clone(),
        summary: format!("Imported from the DiskSim 4.0 file {}.", file_name(&named.at.file)),
        sector_bytes: 512,
        physical_sector_bytes: None,
        rotation_rpm: mechanical.rotation_rpm,
        actuators: 1,
        arms: ArmsSpec::default(),
        layout,
        seek: mechanical.seek,
        mechanics: mechanical.mechanics,
        spindle: SpindleSpec::default(),
        recalibration: RecalibrationSpec::default(),
        soft_errors: None,
        controller: electronics.controller,
        buffer: electronics.buffer,
        cache: electronics.cache,
        write_policy: electronics.write_policy,
        write_cache: WriteCacheSpec::default(),
        bus: electronics.bus.unwrap_or_else(|| unreachable!("electronics always have a bus")),
        fidelity: mechanical.fidelity,
        published: PublishedSpec::default(),
        power: None,
        provenance: BTreeMap::new(),
    };
    if report.meaning == Meaning::Measured
        && let Some(cache) = &mut spec.cache
    {
        controller::fit_read_ahead(cache, &spec.layout);
    }
    provenance(&mut spec, model, named, &electronics.assumed);
    let mut measured = |key: &str, file: &str| {
        let source = format!("imported from DiskSim 4.0 file {}", file_name(file));
        spec.provenance.insert(key.to_owned(), Provenance { kind: ProvenanceKind::Measured, source });
    };
    measured("seek", &mechanical.seek_from);
    for key in electronics.of_bus {
        measured(key, bus_times.map_or("", |times| &times.at.file));
    }
    Ok(spec)
}

/// Where every value comes from.
fn provenance(spec: &mut DriveSpec, model: &Block, named: &Block, assumed: &[(&'static str, String)]) {
    let has_runs = !spec.layout.run.is_empty();
    let mut add = |key: &str, kind, source: String| {
        spec.provenance.insert(key.to_owned(), Provenance { kind, source });
    };
    let from = |block: &Block| format!("imported from DiskSim 4.0 file {}", file_name(&block.at.file));
    for key in ["layout", "rotation_rpm", "mechanics"] {
        add(key, ProvenanceKind::Measured, from(model));
    }
    if has_runs {
        let open = "heads counted by visits of each cylinder; skews 0 where the file has none";
        add("layout.run", ProvenanceKind::Assumed, format!("{}; {open}", from(model)));
    }
    let mut electronics = vec!["controller", "buffer", "write_policy", "bus"];
    electronics.extend(spec.cache.is_some().then_some("cache"));
    for key in electronics {
        add(key, ProvenanceKind::Measured, from(named));
    }
    let blocks = "DiskSim counts blocks of 512 bytes";
    add("sector_bytes", ProvenanceKind::Assumed, blocks.to_owned());
    let settle = "DiskSim's seek times include the settle of a read";
    add("mechanics.read_settle_ms", ProvenanceKind::Assumed, settle.to_owned());
    let switch = "DiskSim adds its write settle to every repositioning";
    add("mechanics.settle_after_head_switch", ProvenanceKind::Assumed, switch.to_owned());
    for (key, source) in assumed {
        add(key, ProvenanceKind::Assumed, source.clone());
    }
}
