//! The published parameter files, where they are at hand (`$HEADSTACK_DATA`, `../shared/data`): capacities, the way to
//! a drive file and back, and files cut short.

use headstack_disksim::{Import, ImportError, Options, import};
use headstack_drive::layout::Layout;
use headstack_drive::spec::DriveSpec;
use std::fs;
use std::path::PathBuf;

/// Drive files without extension, blocks announced, blocks that count.
const DRIVES: [(&str, u64); 13] = [
    ("hp_c2247a", 2_054_864),
    ("hp_c2249a", 2_687_632),
    ("hp_c2490a", 4_165_272),
    ("hp_c3323a", 2_056_008),
    ("hp_c3323a_validate", 2_056_008),
    ("dec_rz26", 2_050_860),
    ("st41601n", 2_676_846),
    ("barracuda", 4_110_000),
    ("cheetah4LP", 8_887_200),
    ("cheetah9LP", 17_783_240),
    ("atlas_III", 17_783_250),
    ("atlas10k", 17_938_986),
    ("ibm18es", 17_916_240),
];

/// The folder of drives; none on a machine without the files.
#[expect(clippy::print_stderr, reason = "says why a test did nothing")]
fn drives() -> Option<PathBuf> {
    let data = std::env::var_os("HEADSTACK_DATA").map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let folder = data.unwrap_or(beside).join("drives");
    if !folder.is_dir() {
        eprintln!("skipped: there is no folder {} (set HEADSTACK_DATA)", folder.display());
        return None;
    }
    Some(folder)
}

fn one(path: PathBuf) -> Result<Import, ImportError> {
    import(&[path], &Options::default())
}

#[test]
fn every_drive_has_the_announced_capacity() {
    let Some(folder) = drives() else { return };
    for (name, blocks) in DRIVES {
        let drive =
            one(folder.join(name).with_extension("diskspecs")).unwrap_or_else(|e| panic!("{name}: {e}"));
        let layout = Layout::new(&drive.spec.layout);
        assert_eq!(layout.capacity(), blocks, "{name}");
        let last = layout.locate(blocks - 1);
        assert_eq!(layout.lba_at(last.cylinder, last.head, last.slot), Some(blocks - 1), "{name}");
    }
}

/// Of all drives one has seek times that are less than those of shorter and of longer seeks by far.
#[test]
fn seek_times_that_look_like_misprints_are_told() {
    let Some(folder) = drives() else { return };
    for (name, _) in DRIVES {
        let drive = one(folder.join(name).with_extension("diskspecs")).unwrap();
        let warnings = drive.report.warnings.iter().filter(|warning| warning.message.contains("misprint"));
        let told: Vec<&str> = warnings.map(|warning| warning.message.as_str()).collect();
        if name == "atlas10k" {
            let [one] = told[..] else { panic!("{told:?}") };
            assert!(
                one.starts_with("a seek over 4700 cylinders takes 9.463 ms, more than over 4600 (6.486)"),
                "{one}"
            );
            continue;
        }
        if name != "ibm18es" {
            assert!(told.is_empty(), "{name}: {told:?}");
            continue;
        }
        let [ten, far] = told[..] else { panic!("{told:?}") };
        assert!(ten.starts_with("a seek over 10 cylinders takes 1.02 ms, less than over 9 (1.749)"), "{ten}");
        assert!(far.starts_with("a seek over 3400 cylinders takes 1.026 ms"), "{far}");
    }
}

#[test]
fn every_drive_file_says_what_was_imported() {
    let Some(folder) = drives() else { return };
    for (name, _) in DRIVES {
        let drive = one(folder.join(name).with_extension("diskspecs")).unwrap();
        let again = DriveSpec::from_toml(name, &drive.to_toml()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(again, drive.spec, "{name}");
    }
}

/// The announced numbers are exact for these; the rest hold more, or announce too little.
#[test]
fn layouts_without_spares_at_the_end_hold_what_is_announced() {
    let Some(folder) = drives() else { return };
    for name in ["hp_c2247a", "hp_c2249a", "hp_c2490a", "dec_rz26", "st41601n"] {
        let drive = one(folder.join(name).with_extension("diskspecs")).unwrap();
        let exact = drive.report.carried.iter().find(|carried| carried.parameter == "Block count");
        assert_eq!(
            exact.map(|carried| carried.to.as_str()),
            Some("what the layout holds, exactly"),
            "{name}"
        );
    }
}

#[test]
fn a_file_cut_short_is_an_error_with_file_and_line() {
    let Some(folder) = drives() else { return };
    let work = tempfile::tempdir().unwrap();
    for (name, _) in DRIVES {
        let drive = one(folder.join(name).with_extension("diskspecs")).unwrap();
        let files: Vec<PathBuf> = drive.report.files.iter().map(PathBuf::from).collect();
        let here = work.path().join(name);
        fs::create_dir(&here).unwrap();
        let copy = |file: &PathBuf| here.join(file.file_name().unwrap());
        for file in &files {
            fs::write(copy(file), fs::read(file).unwrap()).unwrap();
        }
        for file in &files {
            let bytes = fs::read(file).unwrap();
            let table = file.extension().is_some_and(|extension| extension == "seek");
            // Behind the last brace nothing is missing; a table's last line may lose digits without a trace.
            let last = |byte: u8| bytes.trim_ascii_end().iter().rposition(|&b| b == byte).unwrap();
            let end = if table { last(b'\n') } else { last(b'}') };
            let step = (end / 41).max(1);
            for cut in (0..=end).step_by(step).chain([end]) {
                fs::write(copy(file), &bytes[..cut]).unwrap();
                let error = one(copy(&files[0])).expect_err("a part is missing");
                assert!(error.line > 0 || cut < 200, "{name}, {cut} bytes of {}: {error}", file.display());
                assert!(error.file.starts_with(here.to_str().unwrap()), "{name}, {cut}: {error}");
            }
            fs::write(copy(file), &bytes).unwrap();
        }
        one(copy(&files[0])).unwrap();
    }
}
