//! A drive as the text of a drive file that people can read.

use crate::import::Import;
use headstack_drive::spec::ProvenanceKind;
use std::fmt::Write as _;

/// Lines are wrapped before this column.
const WIDTH: usize = 118;

impl Import {
    /// The drive file: a comment on what is not carried, then the values, lists of numbers on wrapped lines.
    pub fn to_toml(&self) -> String {
        let mut text = self.header();
        let mut values = self.spec.clone();
        let entries = std::mem::take(&mut values.provenance);
        text.push_str(&compact(&values.to_toml()));
        text.push_str("\n[provenance]\n");
        for (path, entry) in &entries {
            let kind = match entry.kind {
                ProvenanceKind::Spec => "spec",
                ProvenanceKind::Measured => "measured",
                ProvenanceKind::Fitted => "fitted",
                ProvenanceKind::Assumed => "assumed",
            };
            let (path, source) = (quoted(path), quoted(&entry.source));
            let _ = writeln!(text, "{path} = {{ kind = \"{kind}\", source = {source} }}");
        }
        text
    }

    fn header(&self) -> String {
        let files: Vec<String> =
            self.report.files.iter().map(|path| crate::parser::file_name(path)).collect();
        let mut text = String::new();
        comment(
            &mut text,
            &format!("{}, imported from the DiskSim 4.0 files {}.", self.spec.name, files.join(", ")),
        );
        if let Some(note) = &self.note {
            text.push_str("#\n");
            comment(&mut text, note);
        }
        for warning in &self.report.warnings {
            text.push_str("#\n");
            comment(
                &mut text,
                &format!("{}: {}.", crate::parser::file_name(&warning.place), warning.message),
            );
        }
        if self.report.not_carried.iter().any(|not| not.matters) {
            let list: Vec<String> = self
                .report
                .not_carried
                .iter()
                .filter(|not| not.matters)
                .map(|not| format!("{} = {}", not.parameter, not.value.trim_matches('`')))
                .collect();
            text.push_str("#\n");
            comment(&mut text, &format!("Not carried: {}.", list.join("; ")));
        }
        text.push('\n');
        text
    }
}

/// A basic string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A comment, wrapped.
pub(crate) fn comment(text: &mut String, words: &str) {
    let mut line = "#".to_owned();
    for word in words.split(' ') {
        if line.len() + 1 + word.len() > WIDTH && line.len() > 1 {
            text.push_str(&line);
            text.push('\n');
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

/// Joins the lists that the TOML writer spreads over one line for each element.
pub(crate) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let opens = line.ends_with(" = [") && !line.starts_with('[');
        if !opens {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let mut inner = String::new();
        for line in lines.by_ref().take_while(|line| *line != "]") {
            inner.push_str(line.trim());
        }
        out.push_str(line);
        wrapped(&mut out, &inner);
    }
    out
}

/// The elements of a list: behind its opening bracket if they fit there, else on lines of their own.
fn wrapped(out: &mut String, inner: &str) {
    let elements = elements(inner);
    let start = out.rfind('\n').map_or(0, |at| at + 1);
    let short = elements.join(", ");
    if out.len() - start + short.len() < WIDTH {
        out.push_str(&short);
        out.push_str("]\n");
        return;
    }
    let mut line = String::new();
    for element in &elements {
        if !line.is_empty() && 4 + line.len() + element.len() + 2 > WIDTH {
            out.push_str("\n    ");
            out.push_str(line.trim_end());
            line.clear();
        }
        line.push_str(element);
        line.push_str(", ");
    }
    out.push_str("\n    ");
    out.push_str(line.trim_end());
    out.push_str("\n]\n");
}

/// The elements of a list without its outer brackets; lists within are one element, without blanks at their ends.
fn elements(inner: &str) -> Vec<String> {
    let (mut depth, mut found, mut element) = (0_u32, Vec::new(), String::new());
    for c in inner.chars() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(std::mem::take(&mut element));
                continue;
            }
            _ => {}
        }
        element.push(c);
    }
    found.push(element);
    let tidy = |element: String| {
        let element = element.trim().replace(",]", "]").replace(',', ", ").replace(",  ", ", ");
        // Distances of seek points are whole numbers.
        if element.starts_with('[') { element.replacen(".0,", ",", 1) } else { element }
    };
    found.into_iter().map(tidy).filter(|element| !element.is_empty()).collect()
}
