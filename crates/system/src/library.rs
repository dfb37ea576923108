//! The library of drives, systems, workloads and designs that is embedded in the build, and the way from a name to a text.

use std::path::{Path, PathBuf};

use crate::SystemError;

/// One file of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, without `.toml`.
    pub name: &'static str,
    /// Its contents.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// The drives, by name.
pub fn drives() -> &'static [Entry] {
    DRIVES
}

/// The systems, by name.
pub fn systems() -> &'static [Entry] {
    SYSTEMS
}

/// The workloads, by name.
pub fn workloads() -> &'static [Entry] {
    WORKLOADS
}

/// The designs: what drives are made of and what that costs, by name.
pub fn designs() -> &'static [Entry] {
    DESIGNS
}

/// A text from the library or from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What to call it in results: the library name, or the file's name without `.toml`.
    pub name: String,
    /// What to call it in messages: the library name or the path.
    pub origin: String,
    /// The directory that names inside it are relative to; `None` for the library.
    pub directory: Option<PathBuf>,
    /// Its contents.
    pub text: String,
}

impl Entry {
    /// The entry as a source.
    pub fn source(&self) -> Source {
        Source {
            name: self.name.to_owned(),
            origin: self.name.to_owned(),
            directory: None,
            text: self.text.to_owned(),
        }
    }
}

/// Whether a word is meant as a path rather than as a name.
fn is_path(word: &str) -> bool {
    let path = Path::new(word);
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
        || word.contains(std::path::MAIN_SEPARATOR)
        || path.is_file()
}

/// The path that a name means: `~/` is the home folder, and `file:///` the root, unless there is a file of that very name. A
/// path object makes one slash of three.
fn local(path: &Path) -> PathBuf {
    let Some(name) = path.to_str().filter(|_| !path.exists()) else { return path.to_owned() };
    if let Some(below) = name.strip_prefix("~/") {
        return std::env::home_dir().map_or_else(|| path.to_owned(), |home| home.join(below));
    }
    let url = name.strip_prefix("file://localhost").or_else(|| name.strip_prefix("file:"));
    match url {
        Some(rest) if rest.starts_with('/') && (!rest.starts_with("//") || rest.starts_with("///")) => {
            Path::new("/").join(rest.trim_start_matches('/'))
        }
        _ => path.to_owned(),
    }
}

/// Reads the file at `path`.
///
/// # Errors
/// [`SystemError::Io`] if it cannot be read.
pub fn read(path: &Path) -> Result<Source, SystemError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| SystemError::Io { path: path.to_owned(), source })?;
    Ok(Source {
        name: path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()),
        origin: path.display().to_string(),
        directory: Some(path.parent().unwrap_or_else(|| Path::new("")).to_owned()),
        text,
    })
}

/// What is looked for where a drive is needed.
pub const DRIVE: &str = "drive";
/// What is looked for where a system is needed, which a lone drive is, too.
pub const DRIVE_OR_SYSTEM: &str = "drive or system";

/// Whether a text is a model of streams (`headstack-stream`), as `calibrate` saves it, and not a drive.
pub fn is_stream_model(text: &str) -> bool {
    toml::from_str::<toml::Table>(text).is_ok_and(|table| {
        table.contains_key("server") && table.contains_key("mechanism") && !table.contains_key("layout")
    })
}

fn no_stream_model(source: Source) -> Result<Source, SystemError> {
    if !is_stream_model(&source.text) {
        return Ok(source);
    }
    Err(SystemError::Syntax {
        origin: source.origin,
        message: "this is a model of streams, which knows nothing of sectors and seeks: no drive\nhint: name a drive. To run streams \
                  with it: `headstack.stream.model(FILE)` in Python; to fit it to other throughputs: `headstack calibrate FILE \
                  --table F.csv`"
            .to_owned(),
    })
}

/// Finds `word` in `lists`, or reads it as a path if it ends in `.toml`, holds a separator, or is an existing file.
/// `kind` ("drive", "workload") is used in messages, and a model of streams is refused for [`DRIVE`] and [`DRIVE_OR_SYSTEM`]; `directory` is what a relative path is relative to.
///
/// # Errors
/// [`SystemError::UnknownName`] with the known and the similar names; [`SystemError::Io`] for an unreadable file.
pub fn resolve(
    kind: &'static str,
    word: &str,
    lists: &[&'static [Entry]],
    directory: Option<&Path>,
) -> Result<Source, SystemError> {
    if let Some(entry) = lists.iter().flat_map(|list| list.iter()).find(|entry| entry.name == word) {
        return Ok(entry.source());
    }
    let named = local(Path::new(word));
    let path = directory.map_or_else(|| named.clone(), |directory| directory.join(&named));
    if is_path(word) || path.is_file() {
        let source = read(&path)?;
        return if kind == DRIVE || kind == DRIVE_OR_SYSTEM { no_stream_model(source) } else { Ok(source) };
    }
    let known = lists.iter().flat_map(|list| list.iter()).map(|entry| entry.name.to_owned());
    Err(SystemError::unknown(kind, word, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_sorted_and_found() {
        for list in [drives(), systems(), workloads(), designs()] {
            assert!(list.windows(2).all(|pair| pair[0].name < pair[1].name));
        }
        assert!(workloads().iter().any(|entry| entry.name == "light-million"));
        let found = resolve("workload", "light-million", &[workloads()], None).unwrap();
        assert!(found.text.contains("exponential_ms"));
    }

    #[test]
    fn unknown_names_list_the_known_ones_and_missing_files_say_so() {
        let unknown = resolve("workload", "light-milion", &[workloads()], None).unwrap_err();
        assert!(unknown.to_string().contains("no workload called `light-milion`"), "{unknown}");
        assert!(unknown.hint().unwrap().contains("light-million"));
        assert!(matches!(resolve("drive", "nowhere/x.toml", &[drives()], None), Err(SystemError::Io { .. })));
    }

    #[test]
    fn home_folders_and_urls_of_files_are_paths() {
        let home = std::env::home_dir().unwrap();
        for (name, meant) in [
            ("~/a/b.toml", home.join("a/b.toml")),
            ("file:///a/b.toml", PathBuf::from("/a/b.toml")),
            ("file:/a/b.toml", PathBuf::from("/a/b.toml")),
            ("file://localhost/a/b.toml", PathBuf::from("/a/b.toml")),
            ("file://host/a.toml", PathBuf::from("file://host/a.toml")),
            ("file:a.toml", PathBuf::from("file:a.toml")),
            ("a/~/b.toml", PathBuf::from("a/~/b.toml")),
        ] {
            assert_eq!(local(Path::new(name)), meant, "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("here.toml");
        std::fs::write(&path, "a = 1").unwrap();
        let url = format!("file://{}", path.display());
        assert_eq!(resolve("system", &url, &[], Some(Path::new("elsewhere"))).unwrap().text, "a = 1");
    }

    #[test]
    fn a_stream_model_is_no_drive_and_no_drive_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("streams.toml");
        std::fs::write(&path, "[server]\n[cache]\nsize_kib = 8\n[mechanism]\nheads = 2\n").unwrap();
        let named = |kind| resolve(kind, path.to_str().unwrap(), &[drives()], None);
        for kind in [DRIVE, DRIVE_OR_SYSTEM] {
            let said = named(kind).unwrap_err().to_string();
            assert!(said.contains("this is a model of streams") && said.contains("--table"), "{said}");
        }
        assert!(named("drive or stream model").is_ok());
        assert!(drives().iter().all(|entry| !is_stream_model(entry.source().text.as_ref())));
    }
}
