//! Embeds the library (`drives/`, `systems/`, `workloads/`, `designs/` at the top of the repository) into the crate.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let mut code = String::new();
    let kinds =
        [("DRIVES", "drives"), ("SYSTEMS", "systems"), ("WORKLOADS", "workloads"), ("DESIGNS", "designs")];
    for (constant, directory) in kinds {
        let directory = root.join(directory);
        // A directory that is not there yet must be watched through its parent.
        println!("cargo::rerun-if-changed={}", directory.display());
        let mut entries: Vec<(String, String)> = fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let name = path.file_name()?.to_str()?.strip_suffix(".toml")?.to_owned();
                Some((name, path.canonicalize().ok()?.to_str()?.to_owned()))
            })
            .collect();
        entries.sort();
        writeln!(code, "const {constant}: &[Entry] = &[").expect("writing to a string");
        for (name, path) in entries {
            println!("cargo::rerun-if-changed={path}");
            writeln!(code, "    Entry {{ name: {name:?}, text: include_str!({path:?}) }},")
                .expect("writing to a string");
        }
        code.push_str("];\n");
    }
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("library.rs");
    fs::write(out, code).expect("cargo's output directory can be written");
}
