//! Any texts as DiskSim's files, split at form feeds: a drive (`.diskspecs`), its mechanics, its seek curve and a simulation
//! (`.parv`), by either meaning, leniently or not. An error that names a file, or what can be built; never a panic.

#![no_main]

use headstack_disksim::{Meaning, Options, SimulationOptions, import, import_simulation};
use headstack_drive::DriveModel;
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 4] = ["small.diskspecs", "small.model", "small.seek", "run.parv"];

fuzz_target!(|data: &[u8]| {
    let Some((&which, texts)) = data.split_first() else { return };
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    for (name, text) in NAMES.iter().zip(texts.split(|&byte| byte == b'\x0c')) {
        std::fs::write(folder.path().join(name), text).expect("room");
    }
    let meaning = if which & 1 == 0 { Meaning::Measured } else { Meaning::Disksim };
    let lenient = which & 2 != 0;
    let path = |name: &str| folder.path().join(name);
    match import(&[path(NAMES[0])], &Options { meaning, lenient, ..Options::default() }) {
        Ok(found) => drop(DriveModel::new(&found.spec).expect("a drive that was imported can be built")),
        Err(error) => assert!(!error.file.is_empty()),
    }
    let options = SimulationOptions { meaning, lenient, ..SimulationOptions::default() };
    if let Err(error) = import_simulation(&path(NAMES[3]), &options) {
        assert!(!error.file.is_empty());
    }
});
