use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_name_appears_with_the_commit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.csv");
    fs::write(&path, "old").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["out.csv"]);
}

#[test]
fn dropped_before_it_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.csv");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"half").unwrap();
    drop(file);
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn what_cannot_be_written_is_said_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let create = |path: &Path| AtomicFile::create(path).err().unwrap().to_string();
    let missing = directory.path().join("no/out.csv");
    assert!(create(&missing).starts_with(&format!("cannot create `{}`: ", missing.display())));
    assert!(create(directory.path()).contains("directory"));
}

#[test]
fn links_and_devices_stay_what_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("real"), "old").unwrap();
    symlink("real", at("link")).unwrap();
    symlink("later", at("dangling")).unwrap();
    write_whole(&at("link"), b"new").unwrap();
    write_whole(&at("dangling"), b"made").unwrap();
    assert!(["link", "dangling"].iter().all(|name| fs::symlink_metadata(at(name)).unwrap().is_symlink()));
    assert_eq!(
        (fs::read(at("real")).unwrap(), fs::read(at("later")).unwrap()),
        (b"new".into(), b"made".into())
    );
    let null = fs::metadata("/dev/null").unwrap().rdev();
    write_whole(Path::new("/dev/null"), b"nothing").unwrap();
    assert_eq!(fs::metadata("/dev/null").unwrap().rdev(), null);
}

#[test]
fn a_replaced_file_keeps_its_permissions() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("secret");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write_whole(&path, b"new").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn files_appear_together_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("a"), "old").unwrap();
    let both = Together::new();
    write_whole(&at("a"), b"new").unwrap();
    let inner = Together::new();
    write_whole(&at("b"), b"new").unwrap();
    inner.publish().unwrap();
    assert_eq!((fs::read(at("a")).unwrap(), names(directory.path())), (b"old".into(), vec!["a".to_owned()]));
    at_once(|| write_whole(&at("c"), b"took long")).unwrap();
    assert_eq!(names(directory.path()), ["a", "c"]);
    fs::remove_file(at("c")).unwrap();
    both.publish().unwrap();
    assert_eq!((fs::read(at("a")).unwrap(), fs::read(at("b")).unwrap()), (b"new".into(), b"new".into()));
    let none = Together::new();
    write_whole(&at("a"), b"newer").unwrap();
    drop(none);
    assert_eq!(
        (fs::read(at("a")).unwrap(), names(directory.path())),
        (b"new".into(), vec!["a".into(), "b".into()])
    );
    write_whole(&at("a"), b"alone").unwrap();
    assert_eq!(fs::read(at("a")).unwrap(), b"alone");
}

#[test]
fn one_that_cannot_appear_keeps_the_others_back() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("gone")).unwrap();
    let both = Together::new();
    write_whole(&at("a"), b"new").unwrap();
    write_whole(&at("gone/b"), b"new").unwrap();
    fs::remove_dir(at("gone")).unwrap();
    assert!(both.publish().unwrap_err().to_string().contains("gone/b"));
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn one_file_by_two_names_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("a"), "").unwrap();
    fs::hard_link(at("a"), at("hard")).unwrap();
    symlink(at("new"), at("soft")).unwrap();
    let dotted = at("../").join(directory.path().file_name().unwrap()).join("a");
    let said = |outputs: &[(&str, &Path)], inputs: &[(&str, &Path)]| {
        check_apart(outputs, inputs).err().map(|error| error.to_string()).unwrap_or_default()
    };
    for same in [at("a"), at("hard"), dotted] {
        assert!(said(&[("--out", &same)], &[("--trace", &at("a"))]).starts_with("--out `"));
    }
    assert!(said(&[("--out", &at("soft")), ("--report", &at("new"))], &[]).contains("--out"));
    let null = Path::new("/dev/null");
    assert_eq!(
        said(&[("--out", null), ("--report", null), ("--save", &at("b"))], &[("--trace", &at("a"))]),
        ""
    );
}

#[test]
fn what_a_killed_process_left_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let own = format!(".out.{}-0.tmp", std::process::id());
    for name in [".out.4194999-3.tmp", ".other.4194999-3.tmp", ".out.x-3.tmp", &own] {
        fs::write(at(name), "").unwrap();
    }
    assert_eq!(leftovers(&at("out")), [at(".out.4194999-3.tmp")]);
}

#[test]
fn a_circle_of_links_is_refused_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("circle");
    symlink("circle", &path).unwrap();
    let problem = write_whole(&path, b"new").unwrap_err().to_string();
    assert!(problem.contains("symbolic links"), "{problem}");
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
}

#[test]
fn names_of_any_length_that_a_file_may_have_are_written() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a".repeat(255), "\u{e9}".repeat(127)] {
        let path = directory.path().join(&name);
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"long").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"long");
    }
    assert_eq!(names(directory.path()).len(), 2);
}

/// Two outputs that are not there yet, in one directory by two paths.
#[test]
fn a_name_is_one_whatever_way_leads_to_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink("real", directory.path().join("other")).unwrap();
    let (one, two) = (real.join("x"), directory.path().join("other/x"));
    assert!(check_apart(&[("--out", &one), ("--report", &two)], &[]).is_err());
    assert!(check_apart(&[("--out", &one), ("--report", &real.join("y"))], &[]).is_ok());
}
