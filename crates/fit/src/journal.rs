//! What was tried, kept in a file: a fit that was interrupted goes on where it was.
//!
//! The search is deterministic, so it takes the same way again; a drive that it tried before is looked up instead of
//! replayed. A line holds what identifies the drive, the requests and the objective, and the losses of the blocks, to the last
//! bit. Lines are only added; a last one that was cut short is dropped.

use crate::FitError;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

/// The first line of every such file.
const HEAD: &str = "headstack: drives tried by a fit, 1";
/// What stands for a drive whose values contradict each other.
const CONTRADICTION: &str = "-";

/// Losses of the blocks; `None` for a drive whose values contradict each other.
pub(crate) type Kept = Option<Vec<f64>>;

/// Drives tried earlier, and a file for more.
#[derive(Debug)]
pub(crate) struct Journal {
    name: String,
    earlier: BTreeMap<String, Kept>,
    file: Mutex<File>,
}

impl Journal {
    /// Opens a file, or begins it.
    pub(crate) fn open(path: &Path) -> Result<Self, FitError> {
        let name = path.display().to_string();
        let fault = |error: std::io::Error| unusable(&name, &error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(fault)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fault)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let begun = format!("{HEAD}\n");
        let is_cut_head = whole == 0 && begun.as_bytes().starts_with(&bytes);
        let text = str::from_utf8(&bytes[..whole]).ok();
        let earlier = match text.filter(|text| text.is_empty() || text.starts_with(&begun)) {
            Some(text) if whole > 0 || is_cut_head => entries(&name, text)?,
            _ => {
                let problem = format!("{name} holds something else than drives tried by a fit");
                return Err(FitError::input(problem, "name a file that does not exist yet"));
            }
        };
        file.set_len(whole as u64).map_err(fault)?;
        file.seek(SeekFrom::End(0)).map_err(fault)?;
        if whole == 0 {
            file.write_all(begun.as_bytes()).map_err(fault)?;
        }
        Ok(Self { name, earlier, file: Mutex::new(file) })
    }

    /// How many drives were tried earlier.
    pub(crate) fn len(&self) -> usize {
        self.earlier.len()
    }

    /// What is known of a drive from earlier.
    pub(crate) fn get(&self, key: &str) -> Option<&Kept> {
        self.earlier.get(key)
    }

    /// Keeps what was found of a drive.
    pub(crate) fn put(&self, key: &str, blocks: Option<&[f64]>) -> Result<(), FitError> {
        let losses = match blocks {
            None => CONTRADICTION.to_owned(),
            Some(blocks) => {
                let words: Vec<String> = blocks.iter().map(|loss| format!("{:x}", loss.to_bits())).collect();
                words.join(" ")
            }
        };
        let Ok(mut file) = self.file.lock() else { return Ok(()) };
        file.write_all(format!("{key} {losses}\n").as_bytes()).map_err(|error| unusable(&self.name, &error))
    }
}

fn unusable(name: &str, error: &std::io::Error) -> FitError {
    FitError::input(format!("{name}: {error}"), "name another file with --resume, or leave it out")
}

fn entries(name: &str, text: &str) -> Result<BTreeMap<String, Kept>, FitError> {
    let mut found = BTreeMap::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let Some((key, kept)) = entry(line) else {
            let problem = format!("{name}, line {}: no drive tried by a fit", number + 1);
            return Err(FitError::input(problem, "delete the line, or name another file with --resume"));
        };
        found.insert(key, kept);
    }
    Ok(found)
}

fn entry(line: &str) -> Option<(String, Kept)> {
    let (key, losses) = line.split_once(' ')?;
    if losses == CONTRADICTION {
        return Some((key.to_owned(), None));
    }
    let loss = |word| u64::from_str_radix(word, 16).ok().map(f64::from_bits);
    Some((key.to_owned(), Some(losses.split(' ').map(loss).collect::<Option<_>>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &Path) -> String {
        let FitError::Input { problem, .. } = Journal::open(path).unwrap_err() else { panic!() };
        problem
    }

    #[test]
    fn what_was_kept_is_known_again_and_a_line_cut_short_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tried");
        let losses = [0.1, f64::MAX, 1e-300];
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.len(), 0);
        journal.put("a", Some(&losses)).unwrap();
        journal.put("b", None).unwrap();
        journal.put("c", Some(&losses)).unwrap();
        let text = std::fs::read(&path).unwrap();
        for cut in 1..16 {
            std::fs::write(&path, &text[..text.len() - cut]).unwrap();
            let again = Journal::open(&path).unwrap();
            assert_eq!(again.get("a"), Some(&Some(losses.to_vec())));
            assert_eq!((again.get("b"), again.get("c")), (Some(&None), None));
            again.put("c", None).unwrap();
            assert_eq!(Journal::open(&path).unwrap().get("c"), Some(&None));
        }
        // Also when hardly anything was written.
        for length in 0..HEAD.len() {
            std::fs::write(&path, &text[..length]).unwrap();
            assert_eq!(Journal::open(&path).unwrap().len(), 0);
        }
    }

    #[test]
    fn other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.toml");
        for text in ["name = \"x\"\n", "name", "\n", "\u{0}\u{1}\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(problem(&path).contains("something else"), "{text:?}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        std::fs::write(&path, format!("{HEAD}\na 12 zz\n")).unwrap();
        assert!(problem(&path).contains("line 2"));
        assert!(problem(folder.path()).contains(folder.path().to_str().unwrap()));
    }
}
