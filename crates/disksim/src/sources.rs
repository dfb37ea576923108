//! Files, found and read.

use crate::error::ImportError;
use crate::tree::At;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are no parameter files.
const MAX_BYTES: u64 = 64 << 20;

/// Files being read, innermost last, and the folders to look in.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Folders of the files that the caller named.
    folders: Vec<PathBuf>,
    /// What is open, by which each came to be.
    chain: Vec<PathBuf>,
    /// Everything read so far, in order.
    pub(crate) read: Vec<PathBuf>,
}

/// A file's name for messages, and its text.
pub(crate) struct Source {
    pub(crate) name: Arc<str>,
    pub(crate) text: String,
}

impl Sources {
    /// Sourced files are looked for beside the file that sources them, then beside these.
    pub(crate) fn new(named: &[PathBuf]) -> Self {
        let folder = |path: &PathBuf| path.parent().map(Path::to_path_buf);
        Self { folders: named.iter().filter_map(folder).collect(), ..Self::default() }
    }

    /// Sourced files are looked for in these folders, too.
    pub(crate) fn also_in(&mut self, folders: &[PathBuf]) {
        self.folders.extend_from_slice(folders);
    }

    /// Opens a file that the caller named; `None` if it has been read already.
    pub(crate) fn open(&mut self, path: &Path) -> Result<Option<Source>, ImportError> {
        let key = identity(path);
        if self.read.contains(&key) {
            return Ok(None);
        }
        let at = At { file: path.display().to_string().into(), line: 0 };
        let source = read(path, &at)?;
        self.enter(key);
        Ok(Some(source))
    }

    /// Opens a file that another one names.
    pub(crate) fn open_sourced(&mut self, name: &str, at: &At) -> Result<Source, ImportError> {
        let path = self.find(name, at)?;
        let key = identity(&path);
        if let Some(first) = self.chain.iter().position(|open| *open == key) {
            let names = self.chain[first..].iter().chain([&key]).map(|path| path.display().to_string());
            let chain = names.collect::<Vec<_>>().join(" sources ");
            return Err(ImportError::at(at, format!("`{name}` sources itself: {chain}"))
                .hint("take one of the `source` statements out"));
        }
        let source = read(&path, at)?;
        self.enter(key);
        Ok(source)
    }

    /// Done with the file opened last.
    pub(crate) fn close(&mut self) {
        self.chain.pop();
    }

    /// Whether the innermost file has been read before.
    pub(crate) fn repeats(&self) -> bool {
        self.chain.last().is_some_and(|last| self.read.iter().filter(|read| *read == last).count() > 1)
    }

    fn enter(&mut self, key: PathBuf) {
        self.chain.push(key.clone());
        self.read.push(key);
    }

    fn find(&self, name: &str, at: &At) -> Result<PathBuf, ImportError> {
        let beside = Path::new(&*at.file).parent().unwrap_or(Path::new("")).join(name);
        let others = self.folders.iter().map(|folder| folder.join(name));
        std::iter::once(beside.clone()).chain(others).find(|path| path.is_file()).ok_or_else(|| {
            ImportError::at(at, format!("`{name}` is sourced, but there is no file `{}`", beside.display()))
                .hint(
                    "a sourced path counts from the folder of the file that sources it: put the file there, \
                       or name its folder behind the .parv",
                )
        })
    }
}

/// The same for every way to write a path.
fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn read(path: &Path, at: &At) -> Result<Source, ImportError> {
    let name = path.display().to_string();
    // A file that the caller named is the place, too.
    let what = if at.line == 0 { "cannot be read".to_owned() } else { format!("cannot read `{name}`") };
    let problem = |why: String| ImportError::at(at, format!("{what}: {why}"));
    let size = fs::metadata(path).map_err(|error| problem(error.to_string()))?.len();
    if size > MAX_BYTES {
        return Err(problem(format!(
            "{size} bytes is more than any parameter file has (at most {MAX_BYTES})"
        )));
    }
    let bytes = fs::read(path).map_err(|error| problem(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|&b| b == b'\n').count();
        let at = At { file: name.as_str().into(), line: line as u32 };
        ImportError::at(&at, "is not text (neither ASCII nor UTF-8)")
            .hint("parameter files of DiskSim are plain text: is this one of them?")
    })?;
    Ok(Source { name: name.into(), text })
}
