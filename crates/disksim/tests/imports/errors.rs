//! What is wrong is named with file and line, and what to do about it.

use crate::common::{DISK, Files, MODEL, SEEK};
use headstack_disksim::{Options, import};

/// The message begins with the place, and holds each of the words.
#[track_caller]
fn says(message: &str, place: &str, words: &[&str]) {
    assert!(message.starts_with(place), "`{place}` is not where it is: {message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is missing: {message}");
    }
}

#[test]
fn the_small_drive_is_sound() {
    let drive = Files::new().import().unwrap();
    assert!(
        drive.report.warnings.iter().all(|w| w.message.contains("fraction")),
        "{:?}",
        drive.report.warnings
    );
}

#[test]
fn a_sourced_file_that_is_missing() {
    let files = Files::with_disk(&[("source small.model", "source smal.model")]);
    says(&files.refused(), "small.diskspecs:2 ", &["`smal.model`", "no file", "folder"]);
    let files = Files::with_model(&[("small.seek", "other.seek")]);
    says(&files.refused(), "small.model:39 ", &["`other.seek`"]);
}

#[test]
fn files_that_source_each_other() {
    let files = Files::new();
    files.write("small.model", "source small.diskspecs\n");
    files.write("small.diskspecs", "source small.model\n");
    says(
        &files.refused(),
        "small.model:1 ",
        &["sources itself", "small.diskspecs sources", "small.model sources"],
    );
}

#[test]
fn a_file_that_is_missing_or_empty_or_no_text() {
    let files = Files::new();
    let missing = import(&[files.path("none.diskspecs")], &Options::default()).unwrap_err();
    assert!(missing.to_string().contains("none.diskspecs"), "{missing}");
    files.write("small.diskspecs", "# nothing\n");
    says(&files.refused(), "small.diskspecs:0 ", &["no drive is described", ".diskspecs"]);
    std::fs::write(files.path("small.diskspecs"), b"disksim_disk A {\n\xff\xfe }").unwrap();
    says(&files.refused(), "small.diskspecs:2 ", &["not text"]);
}

#[test]
fn braces_and_lists_that_stay_open() {
    let files = Files::with_disk(&[("} # the end", "# the end")]);
    says(&files.refused(), "small.diskspecs:17 ", &["`}`", "line 1", "the end of the file", "complete"]);
    let files = Files::with_model(&[("      ]\n   },\n   Mech", "   },\n   Mech")]);
    says(&files.refused(), "small.model:34 ", &["`]`", "line 9", "found `}`"]);
}

#[test]
fn a_brace_too_many() {
    let files = Files::with_disk(&[("} # the end", "} }")]);
    says(&files.refused(), "small.diskspecs:18 ", &["found `}`"]);
    let files = Files::new();
    files.write("small.model", &format!("{MODEL}}}\n"));
    says(
        &files.refused(),
        "small.model:46 ",
        &["expected the end of the file", "found `}`", "small.diskspecs:2"],
    );
}

#[test]
fn a_missing_comma_or_equals_sign() {
    let files = Files::with_disk(&[("Max queue length = 1,", "Max queue length = 1")]);
    says(
        &files.refused(),
        "small.diskspecs:5 ",
        &["expected `,` or `}`", "found `Bulk sector transfer time`", "comma"],
    );
    let files = Files::with_disk(&[("Max queue length = 1,", "Max queue length 1,")]);
    says(&files.refused(), "small.diskspecs:4 ", &["expected `=`"]);
    let files = Files::with_disk(&[("Max queue length = 1,", "Max queue length = ,")]);
    says(&files.refused(), "small.diskspecs:4 ", &["expected a value for `Max queue length`"]);
}

#[test]
fn a_parameter_given_twice() {
    let files =
        Files::with_disk(&[("Max queue length = 1,", "Max queue length = 1,\n Max queue length = 2,")]);
    says(&files.refused(), "small.diskspecs:5 ", &["second time", "line 4", "--lenient"]);
    assert_eq!(files.import_leniently().unwrap().spec.controller.queue_depth, 2);
}

#[test]
fn a_parameter_nobody_knows() {
    let files = Files::with_disk(&[("Max queue length", "Max queue lenght")]);
    says(&files.refused(), "small.diskspecs:4 ", &["`Max queue lenght`", "did you mean `Max queue length`?"]);
    let drive = files.import_leniently().unwrap();
    assert!(drive.report.warnings.iter().any(|w| w.message.contains("Max queue lenght")));
    let files = Files::with_model(&[("slips = []", "Slips = []")]);
    says(&files.refused(), "small.model:19 ", &["did you mean `slips`?"]);
}

#[test]
fn a_value_of_the_wrong_kind() {
    let files = Files::with_disk(&[("transfer time = 0.1", "transfer time = fast")]);
    says(&files.refused(), "small.diskspecs:5 ", &["`Bulk sector transfer time`", "`fast`", "a number"]);
    let files = Files::with_model(&[("surfaces = 4", "surfaces = 4.5")]);
    says(&files.refused(), "small.model:2 ", &["a whole number"]);
    let files = Files::with_model(&[("slips = []", "slips = 5")]);
    says(&files.refused(), "small.model:19 ", &["a list"]);
    let files = Files::with_model(&[("mapping scheme = 0", "mapping scheme = 3")]);
    says(&files.refused(), "small.model:6 ", &["between 0 and 2"]);
    let files = Files::with_disk(&[("source small.model", "small.model")]);
    says(&files.refused(), "small.diskspecs:2 ", &["a block", "source FILE"]);
    let files = Files::with_model(&[("extracted", "guessed")]);
    says(&files.refused(), "small.model:38 ", &["hplplus10 or extracted"]);
}

#[test]
fn a_parameter_that_is_needed() {
    let files = Files::with_model(&[("      Head switch time = 1.0,\n", "")]);
    says(&files.refused(), "small.model:36 ", &["lacks `Head switch time`"]);
}

#[test]
fn nesting_without_end() {
    let files = Files::with_model(&[("slips = []", &format!("slips = {}", "[".repeat(100_000)))]);
    says(&files.refused(), "small.model:19 ", &["nested more than 64 deep"]);
    files.write("small.diskspecs", &"a b { c = ".repeat(10_000));
    says(&files.refused(), "small.diskspecs:1 ", &["nested"]);
}

#[test]
fn zones_that_cannot_be() {
    let overlap = Files::with_model(&[("First cylinder number = 6", "First cylinder number = 4")]);
    says(&overlap.refused(), "small.model:22 ", &["begins at cylinder 4", "goes up to 4", "overlap"]);
    let beyond = Files::with_model(&[("Last cylinder number = 9", "Last cylinder number = 12")]);
    says(&beyond.refused(), "small.model:22 ", &["cylinder 12", "10 cylinders"]);
    let backwards = Files::with_model(&[("Last cylinder number = 9", "Last cylinder number = 5")]);
    says(&backwards.refused(), "small.model:22 ", &["before it begins"]);
    let front = Files::with_model(&[("Empty space at zone front = 0", "Empty space at zone front = 400")]);
    says(&front.refused(), "small.model:10 ", &["400 empty blocks"]);
}

#[test]
fn slips_that_cannot_be() {
    let scheme = ("Sparing scheme used = 0", "Sparing scheme used = 2");
    let outside = Files::with_model(&[scheme, ("slips = []", "slips = [3, 400]")]);
    says(&outside.refused(), "small.model:10 ", &["1 of 2 slips lie outside", "400 positions"]);
    let spares = ("Number of spares = 0", "Number of spares = 1");
    let many = Files::with_model(&[scheme, spares, ("slips = []", "slips = [81, 90]")]);
    says(&many.refused(), "small.model:10 ", &["more slips than spares", "2 slips", "1 spares"]);
    let tracks = Files::with_model(&[
        ("Sparing scheme used = 0", "Sparing scheme used = 1"),
        spares,
        ("slips = []", "slips = [1, 2]"),
    ]);
    says(&tracks.refused(), "small.model:10 ", &["more slips than spares"]);
}

#[test]
fn numbers_that_cannot_be() {
    for speed in ["0", "-5400"] {
        let files = Files::with_model(&[("rpms) = 6000", &format!("rpms) = {speed}"))]);
        says(&files.refused(), "small.model:42 ", &["rpm"]);
    }
    let files = Files::with_disk(&[("High (read) water mark = 0.5", "High (read) water mark = 75")]);
    says(&files.refused(), "small.diskspecs:15 ", &["share, between 0 and 1"]);
    let files = Files::with_disk(&[("transfer time = 0.1", "transfer time = -0.1")]);
    says(&files.refused(), "small.diskspecs:5 ", &["cannot be negative"]);
    let files = Files::with_model(&[("defects = []", "defects = [1, 2, 3]")]);
    says(&files.refused(), "small.model:20 ", &["pairs"]);
}

#[test]
fn more_blocks_announced_than_there_are() {
    let files = Files::with_model(&[("Block count = 560", "Block count = 561")]);
    says(&files.refused(), "small.model:4 ", &["561", "hold only 560", "--lenient"]);
    let drive = files.import_leniently().unwrap();
    assert_eq!(drive.spec.layout.capacity_sectors, None);
}

#[test]
fn seek_files_that_cannot_be() {
    let refused = |text: &str| {
        let files = Files::new();
        files.write("small.seek", text);
        files.refused()
    };
    says(&refused(""), "small.seek:1 ", &["Seek distances measured"]);
    says(&refused("Seek distances: 3\n"), "small.seek:1 ", &["must be `Seek distances measured: N`"]);
    says(&refused("Seek distances measured: 1\n"), "small.seek:1 ", &["no seek time"]);
    says(&refused(&SEEK.replace(": 3", ": 4")), "small.seek:4 ", &["4 seek distances are announced, but 3"]);
    says(&refused(&SEEK.replace("4, 2.0", "4 two")), "small.seek:3 ", &["`4 two`"]);
    says(&refused(&SEEK.replace("4, 2.0", "0, 2.0")), "small.seek:3 ", &["whole number from 1 on"]);
    says(&refused(&SEEK.replace("4, 2.0", "4, -2.0")), "small.seek:3 ", &["is impossible"]);
    says(&refused(&SEEK.replace("4, 2.0", "14, 2.0")), "small.seek:1 ", &["9 follows 14", "sorted"]);
}

#[test]
fn several_drives_in_one_file() {
    let files = Files::new();
    files.write("small.diskspecs", &format!("{DISK}{}", DISK.replace("SMALL", "SECOND")));
    says(&files.refused(), "small.diskspecs:19 ", &["SMALL, SECOND", "one by one"]);
}

#[test]
fn layouts_of_other_generations() {
    let files = Files::with_model(&[("dm_layout_g1 {", "dm_layout_g4 {")]);
    says(&files.refused(), "small.model:6 ", &["is not a parameter of `dm_layout_g4`"]);
    let files = Files::with_model(&[("dm_layout_g1 {", "dm_layout_g3 {")]);
    says(&files.refused(), "small.model:5 ", &["dm_layout_g3", "dm_layout_g1"]);
    let files = Files::with_model(&[("dm_mech_g1", "dm_mech_g2")]);
    says(&files.refused(), "small.model:36 ", &["dm_mech_g1"]);
}

/// Any damage is an error or another drive; a panic fails the test.
#[test]
fn no_damage_is_too_strange() {
    let files = Files::new();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let strange = [b"{", b"}", b"[", b"]", b"=", b",", b"#", b"9", b"-", b".", b"\n", b" ", b"e", b"\xff"];
    let mut sound = 0;
    for _ in 0..600 {
        for (name, text) in [("small.diskspecs", DISK), ("small.model", MODEL), ("small.seek", SEEK)] {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..random(3) {
                let at = random(bytes.len());
                let with = strange[random(strange.len())];
                bytes.splice(at..at + random(2), with.iter().copied());
            }
            std::fs::write(files.path(name), bytes).unwrap();
        }
        match if random(2) == 0 { files.import() } else { files.import_leniently() } {
            Ok(_) => sound += 1,
            Err(error) => assert!(!error.file.is_empty()),
        }
    }
    assert!((20..580).contains(&sound), "{sound} of 600 damaged drives are sound");
}
