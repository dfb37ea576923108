//! What a parameter file says, before anything is made of it.

use std::fmt;
use std::sync::Arc;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) file: Arc<str>,
    /// Counted from 1; 0 for the file as a whole.
    pub(crate) line: u32,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { write!(f, "{}", self.file) } else { write!(f, "{}:{}", self.file, self.line) }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) at: At,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Integer(i64),
    Real(f64),
    Text(String),
    List(Vec<Value>),
    Block(Block),
}

impl Kind {
    /// Unquoted text: a number if it looks like one.
    pub(crate) fn of_text(text: &str) -> Self {
        if let Ok(integer) = text.parse() {
            return Self::Integer(integer);
        }
        // "inf" and "nan" are names.
        let digits = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
        match text.parse::<f64>() {
            Ok(real) if digits && real.is_finite() => Self::Real(real),
            _ => Self::Text(text.to_owned()),
        }
    }
}

impl fmt::Display for Kind {
    /// For messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "`{value}`"),
            Self::Real(value) => write!(f, "`{value}`"),
            Self::Text(text) => write!(f, "`{}`", shortened(text)),
            Self::List(items) => write!(f, "a list of {}", items.len()),
            Self::Block(block) => write!(f, "a block `{}`", shortened(&block.kind)),
        }
    }
}

/// Text for a message: at most 40 characters of it.
pub(crate) fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(39).chain(['…']).collect()
}

/// `kind name { parameters }`; blocks given as values may have no name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) at: At,
    pub(crate) parameters: Vec<Parameter>,
}

/// `name = value`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) at: At,
    pub(crate) value: Value,
}

/// What stands at the top level of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Block(Block),
    /// `instantiate [ names ] as block`, and `topology …` with its nesting as nested lists: how a simulation is put
    /// together, which a drive has no use for.
    Wiring(Value),
}
