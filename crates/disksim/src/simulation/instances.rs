//! `instantiate [ names ] as block`: which components there are.

use crate::error::ImportError;
use crate::import::blocks;
use crate::tree::{At, Block, Item, Kind, Value};

/// Longer ranges are mistakes.
const MAX_RANGE: u64 = 10_000;

/// One component.
#[derive(Clone, Debug)]
pub(super) struct Instance<'a> {
    pub(super) name: String,
    /// The block that describes it.
    pub(super) block: &'a Block,
}

/// The components, in order of the file.
#[derive(Clone, Debug)]
pub(super) struct Instances<'a> {
    all: Vec<Instance<'a>>,
}

impl<'a> Instances<'a> {
    pub(super) fn new(items: &'a [Item]) -> Result<Self, ImportError> {
        let mut all: Vec<Instance<'a>> = Vec::new();
        for item in items {
            let Item::Wiring(Value { kind: Kind::List(parts), at }) = item else { continue };
            let [Value { kind: Kind::List(names), .. }, Value { kind: Kind::Text(of), at: of_at }] =
                parts.as_slice()
            else {
                continue;
            };
            let Some(of) = of.strip_prefix("as").map(str::trim) else { continue };
            let block = blocks(items).find(|block| block.name == of).ok_or_else(|| {
                ImportError::at(of_at, format!("there is no block called `{of}`"))
                    .hint("the file that describes it must be sourced above")
            })?;
            for name in expanded(names, at)? {
                if all.iter().any(|known| known.name == name) {
                    return Err(ImportError::at(at, format!("`{name}` is instantiated twice")));
                }
                all.push(Instance { name, block });
            }
        }
        Ok(Self { all })
    }

    /// The component of a name.
    pub(super) fn find(&self, name: &str, at: &At) -> Result<&Instance<'a>, ImportError> {
        self.all.iter().find(|instance| instance.name == name).ok_or_else(|| {
            ImportError::at(at, format!("there is no component `{name}`"))
                .hint(format!("instantiate it: `instantiate [ {name} ] as …`"))
        })
    }

    /// The disks, in order: their positions are DiskSim's device numbers.
    pub(super) fn disks(&self) -> impl Iterator<Item = &Instance<'a>> {
        self.all.iter().filter(|one| matches!(one.block.kind.as_str(), "disksim_disk" | "disksim_simpledisk"))
    }
}

/// Names, ranges `disk0 .. disk8` written out.
pub(super) fn expanded(names: &[Value], at: &At) -> Result<Vec<String>, ImportError> {
    let mut all = Vec::new();
    for name in names {
        let text = match &name.kind {
            Kind::Text(text) => text.clone(),
            other => return Err(ImportError::at(&name.at, format!("{other} is not a component's name"))),
        };
        match text.split_once("..") {
            None => all.push(text),
            Some((first, last)) => all.extend(range(first.trim(), last.trim()).ok_or_else(|| {
                ImportError::at(at, format!("`{text}` is not a range"))
                    .hint("a range is two names that differ in the number at their end: disk0 .. disk8")
            })?),
        }
    }
    Ok(all)
}

fn range(first: &str, last: &str) -> Option<Vec<String>> {
    let (stem, from) = numbered(first)?;
    let (other, to) = numbered(last)?;
    let is_range = stem == other && from <= to && to - from < MAX_RANGE;
    is_range.then(|| (from..=to).map(|number| format!("{stem}{number}")).collect())
}

fn numbered(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((stem, name[stem.len()..].parse().ok()?))
}
