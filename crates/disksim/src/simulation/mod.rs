//! A simulation file (`.parv`), made a system file, drive files and a workload file.
//!
//! What is carried: instances, topology, bus times, driver, disks, logical organisations that are one disk or disks one
//! after the other, controllers' caches, synthetic generators, and the mapping of a trace's devices. Components that headstack
//! does not have (some caches, some organisations) are refused; leniently they are left out, and said to be.

mod array;
mod controller;
mod host;
mod instances;
mod laws;
mod organisation;
mod simple_disk;
mod system;
mod topology;
mod trace;
mod workload;

use crate::error::ImportError;
use crate::import::blocks;
use crate::meaning::Meaning;
use crate::parser::{file_name, parse_files};
use crate::report::Report;
use crate::sources::Sources;
use crate::tree::{At, Block, Item};
use crate::write::{comment, compact};
use headstack_system::{SystemSpec, WorkloadSpec};
use instances::Instances;
use std::path::{Path, PathBuf};

/// How to import a simulation.
#[derive(Clone, Debug, Default)]
pub struct SimulationOptions {
    /// Doubtful input is a warning instead of an error, and components that headstack does not have are left out.
    pub lenient: bool,
    /// What the parameters of drives mean.
    pub meaning: Meaning,
    /// What the names of the drive files begin with.
    pub prefix: String,
    /// Folders in which sourced files are looked for, after that of the file that sources them.
    pub folders: Vec<PathBuf>,
}

/// A drive file that the system file names.
#[derive(Clone, Debug)]
pub struct DriveFile {
    /// Its name, without a folder.
    pub name: String,
    /// Its text.
    pub toml: String,
}

/// A simulation file as headstack has it.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The system; its drives are files beside it.
    pub system: SystemSpec,
    /// The drive files.
    pub drives: Vec<DriveFile>,
    /// The workload; none where the file maps the devices of a trace, or has no generators.
    pub workload: Option<WorkloadSpec>,
    /// Options with which a trace runs as the file means it.
    pub trace_options: Vec<String>,
    /// What became of each parameter, and what is doubtful.
    pub report: Report,
}

/// Imports a `.parv`. Sourced files are looked for beside the file that sources them, then in the given folders.
///
/// # Errors
/// [`ImportError`] with file and line for the first thing that cannot be read, is unknown or contradicts itself, or that
/// headstack has no component for.
pub fn import_simulation(path: &Path, options: &SimulationOptions) -> Result<Simulation, ImportError> {
    let mut report = Report { lenient: options.lenient, meaning: options.meaning, ..Report::default() };
    let paths = [path.to_path_buf()];
    let mut sources = Sources::new(&paths);
    sources.also_in(&options.folders);
    let items = parse_files(&paths, &mut sources, &mut report)?;
    let whole = At { file: path.display().to_string().into(), line: 0 };
    let instances = Instances::new(&items)?;
    let topology = topology::read(&items, &instances, &whole)?;
    let host = host::read(&items, &mut report)?;
    let built = system::build(&topology, &host, &options.prefix, &mut sources, &mut report)?;
    let mut volumes = organisation::volumes(&items, &built, &instances, &mut report)?;
    controller::caches(&topology, &host, &built, &mut volumes, &mut report)?;
    let mapping = trace::read(&items, &volumes, &instances, &mut report)?;
    let workload = match (mapping.is_mapped, only(&items, "disksim_synthio")?) {
        (false, Some(block)) => workload::read(block, &items, &volumes, &instances, &mut report)?,
        (true, Some(block)) => {
            let reason = "the file maps the devices of a trace, so it is run with one";
            report.unused("disksim_synthio", format!("line {}", block.at.line), reason);
            None
        }
        _ => None,
    };
    report.read(&sources);
    let summary = format!("Imported from the DiskSim 4.0 file {}.", file_name(&path.display().to_string()));
    let system = built.into_spec(summary.clone(), host.spec, &volumes);
    let workload = workload.map(|workload| WorkloadSpec { summary, ..workload.0 });
    let (system, drives) = system;
    Ok(Simulation { system, drives, workload, trace_options: mapping.options, report })
}

impl Simulation {
    /// The system file.
    pub fn system_toml(&self) -> String {
        let mut text = self.header();
        text.push_str(&compact(&toml::to_string_pretty(&self.system).unwrap_or_default()));
        text
    }

    /// The workload file, if there is a workload.
    pub fn workload_toml(&self) -> Option<String> {
        let workload = toml::to_string_pretty(self.workload.as_ref()?).unwrap_or_default();
        Some(self.header() + &compact(&workload))
    }

    fn header(&self) -> String {
        let mut text = String::new();
        let first = self.report.files.first().map_or("", String::as_str);
        comment(&mut text, &format!("Imported from the DiskSim 4.0 simulation file {}.", file_name(first)));
        let of_system = |parameter: &str| !parameter.contains(": ");
        for not in self.report.not_carried.iter().filter(|not| not.matters && of_system(&not.parameter)) {
            text.push_str("#\n");
            let value = not.value.trim_matches('`');
            comment(&mut text, &format!("Not carried: {} = {value}: {}.", not.parameter, not.reason));
        }
        text.push('\n');
        text
    }
}

/// All blocks of a kind.
fn of_kind<'a>(items: &'a [Item], kind: &'static str) -> impl Iterator<Item = &'a Block> {
    blocks(items).filter(move |block| block.kind == kind)
}

/// The one block of a kind, if there is one.
fn only<'a>(items: &'a [Item], kind: &'static str) -> Result<Option<&'a Block>, ImportError> {
    let mut found = of_kind(items, kind);
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(second) => Err(ImportError::at(&second.at, format!("`{kind}` stands here for the second time"))),
    }
}

/// Something that headstack has no component for.
fn not_built(at: &At, what: &str, instead: &str, report: &mut Report) -> Result<(), ImportError> {
    report.not_carried(what, format!("line {}", at.line), "component not built yet");
    report.refuse(ImportError::at(at, format!("{what}: component not built yet")), instead)
}
