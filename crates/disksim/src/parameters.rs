//! The parameters of a `disksim_disk` block, as read.

use crate::error::ImportError;
use crate::fields::Fields;
use crate::meaning::Meaning;
use crate::queue::{self, Place};
use crate::report::Report;
use crate::tree::{At, Block};
use crate::uses::Use::{Carried, Not, Only, Unused};
use crate::uses::{TABLE, becomes};
use std::collections::BTreeMap;

/// The numbers of a `disksim_disk` block, by name, and what else it holds.
pub(crate) struct Parameters<'a> {
    fields: Fields<'a>,
    meaning: Meaning,
    values: BTreeMap<&'static str, f64>,
}

impl<'a> Parameters<'a> {
    /// Reads the block and reports what is not carried.
    pub(crate) fn new(block: &'a Block, report: &mut Report) -> Result<Self, ImportError> {
        let fields = Fields::new(block, TABLE.map(|(name, _)| name), report)?;
        let mut values = BTreeMap::new();
        let meaning = report.meaning;
        for (name, usually) in TABLE {
            if matches!(name, "Model" | "Scheduler") {
                continue;
            }
            let Some(value) = fields.real(name)? else { continue };
            values.insert(name, value);
            match becomes(name, meaning).unwrap_or(usually) {
                Carried(to) => report.carried(name, to),
                Only(usual, _) if value == usual => report.carried(name, "what the model does anyway"),
                Only(_, reason) | Not(reason) => report.not_carried(name, value.to_string(), reason),
                Unused(reason) => report.unused(name, value.to_string(), reason),
            }
        }
        let parameters = Self { fields, meaning, values };
        parameters.check()?;
        Ok(parameters)
    }

    /// A value; the default where the file has none.
    pub(crate) fn value(&self, name: &str, default: f64) -> f64 {
        debug_assert!(
            matches!(becomes(name, self.meaning), Some(Carried(_))),
            "`{name}` is used, but the table does not say so"
        );
        self.values.get(name).copied().unwrap_or(default)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub(crate) fn at(&self, name: &str) -> &'a At {
        self.fields.at(name)
    }

    pub(crate) fn model(&self) -> Result<&'a Block, ImportError> {
        self.fields.need_block("Model")
    }

    /// A whole number that is not negative.
    pub(crate) fn count(&self, name: &str, default: u64, low: u64, high: u64) -> Result<u64, ImportError> {
        Ok(self.fields.whole(name, low, high)?.unwrap_or(default))
    }

    /// What no drive can have.
    fn check(&self) -> Result<(), ImportError> {
        for (name, &value) in &self.values {
            let share = name.ends_with("water mark");
            let signed = *name == "Read-ahead over requested";
            if share && !(0.0..=1.0).contains(&value) {
                let message = format!("`{name}` is {value}, but is a share, between 0 and 1");
                return Err(ImportError::at(self.at(name), message));
            }
            if value < 0.0 && !signed {
                let message = format!("`{name}` is {value}, but cannot be negative");
                return Err(ImportError::at(self.at(name), message));
            }
        }
        Ok(())
    }

    /// The order of service in the drive; first come, first served where the file has none.
    pub(crate) fn scheduler(&self, report: &mut Report) -> Result<String, ImportError> {
        if self.fields.find("Scheduler").is_none() {
            return Ok("fcfs".to_owned());
        }
        Ok(queue::read(self.fields.need_block("Scheduler")?, Place::Drive, report)?.scheduler)
    }
}
