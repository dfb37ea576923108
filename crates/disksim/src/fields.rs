//! The parameters of a block, by name and kind.

use crate::error::ImportError;
use crate::report::Report;
use crate::tree::{At, Block, Kind, Parameter, Value};
use strsim::osa_distance;

/// A block whose parameter names are all known.
pub(crate) struct Fields<'a> {
    pub(crate) block: &'a Block,
}

impl<'a> Fields<'a> {
    /// Names that are not in `known` are errors (lenient: warnings), with the nearest known name.
    pub(crate) fn new<'n>(
        block: &'a Block,
        known: impl IntoIterator<Item = &'n str>,
        report: &mut Report,
    ) -> Result<Self, ImportError> {
        let known: Vec<&str> = known.into_iter().collect();
        for parameter in &block.parameters {
            if known.contains(&parameter.name.as_str()) {
                continue;
            }
            let message = format!("`{}` is not a parameter of `{}`", parameter.name, block.kind);
            let problem = ImportError::at(&parameter.at, message);
            let problem = match nearest(&parameter.name, &known) {
                Some(near) => problem.hint(format!("did you mean `{near}`?")),
                None => problem.hint(format!(
                    "`{}` has {} parameters, none of them near",
                    block.kind,
                    known.len()
                )),
            };
            report.refuse(problem, "it is left out")?;
            let value = parameter.value.kind.to_string();
            report.not_carried(&parameter.name, value, "unknown parameter");
        }
        Ok(Self { block })
    }

    pub(crate) fn find(&self, name: &str) -> Option<&'a Parameter> {
        self.block.parameters.iter().find(|parameter| parameter.name == name)
    }

    pub(crate) fn need(&self, name: &str) -> Result<&'a Parameter, ImportError> {
        self.find(name).ok_or_else(|| {
            ImportError::at(&self.block.at, format!("the block `{}` lacks `{name}`", self.block.kind))
                .hint(format!("add a line `{name} = …`"))
        })
    }

    /// Where a parameter stands; the block, if it is not there.
    pub(crate) fn at(&self, name: &str) -> &'a At {
        self.find(name).map_or(&self.block.at, |parameter| &parameter.at)
    }

    pub(crate) fn real(&self, name: &str) -> Result<Option<f64>, ImportError> {
        self.find(name).map(|parameter| real(&parameter.name, &parameter.value)).transpose()
    }

    pub(crate) fn need_real(&self, name: &str) -> Result<f64, ImportError> {
        let parameter = self.need(name)?;
        real(name, &parameter.value)
    }

    /// A real number that is not negative.
    pub(crate) fn need_amount(&self, name: &str) -> Result<f64, ImportError> {
        let value = self.need_real(name)?;
        if value < 0.0 {
            return Err(ImportError::at(
                self.at(name),
                format!("`{name}` is {value}, but cannot be negative"),
            ));
        }
        Ok(value)
    }

    /// A whole number within the bounds.
    pub(crate) fn whole(&self, name: &str, low: u64, high: u64) -> Result<Option<u64>, ImportError> {
        self.find(name).map(|parameter| whole(name, &parameter.value, low, high)).transpose()
    }

    pub(crate) fn need_whole(&self, name: &str, low: u64, high: u64) -> Result<u64, ImportError> {
        whole(name, &self.need(name)?.value, low, high)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, ImportError> {
        self.find(name)
            .map(|parameter| match &parameter.value.kind {
                Kind::Text(text) => Ok(text.as_str()),
                _ => Err(wrong(name, &parameter.value, "a name")),
            })
            .transpose()
    }

    /// The elements of a list; none if the parameter is not there.
    pub(crate) fn list(&self, name: &str) -> Result<&'a [Value], ImportError> {
        match self.find(name) {
            None => Ok(&[]),
            Some(parameter) => list(name, &parameter.value),
        }
    }

    pub(crate) fn reals(&self, name: &str) -> Result<Vec<f64>, ImportError> {
        self.list(name)?.iter().map(|value| real(name, value)).collect()
    }

    pub(crate) fn need_block(&self, name: &str) -> Result<&'a Block, ImportError> {
        let parameter = self.need(name)?;
        match &parameter.value.kind {
            Kind::Block(block) => Ok(block),
            _ => Err(wrong(name, &parameter.value, "a block `{ … }` or `source FILE`")),
        }
    }
}

pub(crate) fn wrong(name: &str, value: &Value, expected: &str) -> ImportError {
    ImportError::at(&value.at, format!("`{name}` is {}, but must be {expected}", value.kind))
}

pub(crate) fn list<'a>(name: &str, value: &'a Value) -> Result<&'a [Value], ImportError> {
    match &value.kind {
        Kind::List(values) => Ok(values),
        _ => Err(wrong(name, value, "a list `[ … ]`")),
    }
}

pub(crate) fn real(name: &str, value: &Value) -> Result<f64, ImportError> {
    match value.kind {
        Kind::Integer(integer) => Ok(integer as f64),
        Kind::Real(real) => Ok(real),
        _ => Err(wrong(name, value, "a number")),
    }
}

/// A whole number within the bounds; `4.000` is one.
pub(crate) fn whole(name: &str, value: &Value, low: u64, high: u64) -> Result<u64, ImportError> {
    let integer = match value.kind {
        Kind::Integer(integer) => integer,
        Kind::Real(real) if real.fract() == 0.0 && real.abs() < 1e15 => real as i64,
        _ => return Err(wrong(name, value, "a whole number")),
    };
    u64::try_from(integer)
        .ok()
        .filter(|found| (low..=high).contains(found))
        .ok_or_else(|| wrong(name, value, &format!("between {low} and {high}")))
}

/// The known name that takes the fewest changes of a character, if these are few.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let lower = name.to_lowercase();
    let distance = |other: &str| osa_distance(&lower, &other.to_lowercase());
    let (changes, near) = known.iter().map(|other| (distance(other), *other)).min()?;
    (changes <= 2.max(name.chars().count() / 3)).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_far_from_all_has_no_neighbour() {
        assert_eq!(nearest("Seke type", &["Seek type", "Block count"]), Some("Seek type"));
        assert_eq!(nearest("nothing like it", &["Seek type", "Block count"]), None);
    }
}
