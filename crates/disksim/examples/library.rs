//! Writes the drives of the library that come from DiskSim's parameter files: `library DATA OUT`, where DATA holds
//! `drives` and `validate`. `make library-from-disksim` runs it.

use headstack_disksim::{Options, import};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Library name, parameter files (the drive, the simulation that has its bus), name, summary.
const DRIVES: [(&str, &[&str], &str, &str); 12] = [
    (
        "hp-c2247a",
        &["drives/hp_c2247a.diskspecs", "validate/hp_c2247a.parv"],
        "HP C2247A",
        "3.5-inch SCSI-2 drive of 1992, 1.05 GB.",
    ),
    (
        "hp-c2249a",
        &["drives/hp_c2249a.diskspecs", "validate/hp_c2247a.parv"],
        "HP C2249A",
        "The C2247A with four more heads, 1.38 GB; bus as measured with the C2247A.",
    ),
    (
        "hp-c2490a",
        &["drives/hp_c2490a.diskspecs", "validate/hp_c2490a.parv"],
        "HP C2490A",
        "3.5-inch SCSI drive of the early 1990s, 2.13 GB, 6,400 rpm.",
    ),
    (
        "hp-c3323a",
        &["drives/hp_c3323a_validate.diskspecs", "validate/hp_c3323a.parv"],
        "HP C3323A",
        "3.5-inch SCSI drive of the early 1990s, 1.05 GB.",
    ),
    (
        "dec-rz26",
        &["drives/dec_rz26.diskspecs", "validate/dec_rz26.parv"],
        "DEC RZ26",
        "3.5-inch SCSI drive of 1992, 1.05 GB.",
    ),
    (
        "seagate-st41601n",
        &["drives/st41601n.diskspecs", "validate/st41601n.parv"],
        "Seagate ST41601N (Elite 1)",
        "5.25-inch SCSI drive of the early 1990s, 1.37 GB.",
    ),
    (
        "seagate-st32171w",
        &["drives/barracuda.diskspecs"],
        "Seagate ST32171W (Barracuda 4LP)",
        "3.5-inch Wide SCSI drive of the late 1990s, 2.10 GB, 7,200 rpm.",
    ),
    (
        "cheetah-4lp",
        &["drives/cheetah4LP.diskspecs"],
        "Seagate ST34501N (Cheetah 4LP)",
        "3.5-inch SCSI drive of the late 1990s, 4.55 GB, the first at 10,000 rpm.",
    ),
    (
        "cheetah-9lp",
        &["drives/cheetah9LP.diskspecs"],
        "Seagate ST39102LW (Cheetah 9LP)",
        "3.5-inch SCSI drive of the late 1990s, 9.11 GB, 10,000 rpm.",
    ),
    (
        "atlas-iii",
        &["drives/atlas_III.diskspecs"],
        "Quantum QM39100TD-SW (Atlas III)",
        "3.5-inch Wide SCSI drive of the late 1990s, 9.11 GB, 7,200 rpm.",
    ),
    (
        "atlas-10k",
        &["drives/atlas10k.diskspecs"],
        "Quantum Atlas 10K",
        "3.5-inch SCSI drive of 1999, 9.18 GB, 10,000 rpm; serpentine zones.",
    ),
    (
        "ibm-dnes-309170w",
        &["drives/ibm18es.diskspecs"],
        "IBM DNES-309170W (Ultrastar 18ES)",
        "3.5-inch Wide SCSI drive of the late 1990s, 9.17 GB, 7,200 rpm.",
    ),
];

/// What else should be known about a drive.
const NOTES: [(&str, &str); 4] = [
    (
        "dec-rz26",
        "The spindle of the validation trace turns 15 to 20 ppm faster than 5,360 rpm. The front space is exactly the \
         first 29 cylinders (29 x 14 x 57 data sectors).",
    ),
    ("hp-c3323a", "The speed is that of the validation run; the plain parameter file says 5,400 rpm."),
    ("hp-c2249a", "No validation run exists for this drive: the bus is that of the C2247A's."),
    ("ibm-dnes-309170w", "The files are called ibm18es, but describe the 9 GB drive of that family."),
];

#[expect(clippy::print_stderr, reason = "a command")]
fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [data, out] = arguments.as_slice() else {
        eprintln!("usage: library DATA OUT");
        return ExitCode::from(2);
    };
    for (id, files, name, summary) in DRIVES {
        if let Err(problem) = write(data, out, id, files, name, summary) {
            eprintln!("{id}: {problem}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

#[expect(clippy::print_stderr, reason = "a command")]
fn write(data: &Path, out: &Path, id: &str, files: &[&str], name: &str, summary: &str) -> Result<(), String> {
    let paths: Vec<PathBuf> = files.iter().map(|file| data.join(file)).collect();
    let summary = Some(format!("{summary} Parameters from DiskSim 4.0."));
    let note = NOTES.iter().find(|(of, _)| *of == id).map(|(_, note)| (*note).to_owned());
    let options = Options { name: Some(name.to_owned()), summary, note, ..Options::default() };
    let drive = import(&paths, &options).map_err(|problem| problem.to_string())?;
    for warning in &drive.report.warnings {
        eprintln!("{id}: {}: {}", warning.place, warning.message);
    }
    std::fs::write(out.join(id).with_extension("toml"), drive.to_toml())
        .map_err(|problem| problem.to_string())
}
