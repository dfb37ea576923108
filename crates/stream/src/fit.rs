//! Parameters found in a table of throughputs: least squares of the logarithms of model over measured, with 95 % intervals, and
//! a word on what the table cannot tell. `search.rs` says how.

use crate::law::{self, Law};
use crate::model::Model;
use crate::parameter::Parameter;
use crate::run::{Repeats, StreamRun};
use crate::search::Search;
use crate::spec::ModelSpec;
use headstack_system::SystemError;
use headstack_units::Op;
use rayon::prelude::*;

/// A value that changed by less than this share is the same.
const STILL: f64 = 1e-6;

/// A measured throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Whether files were read or written.
    pub op: Op,
    /// Size of a file, in bytes.
    pub file_bytes: u64,
    /// Size of a record, in bytes.
    pub record_bytes: u64,
    /// Files, one behind the other, over which it is the mean.
    pub repeats: u32,
    /// In 10⁶ bytes per second.
    pub mb_per_s: f64,
}

/// A parameter before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Its path in the model's description.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Before; of a delay that the model does not have 0.
    pub before: f64,
    /// Whether the model had it before.
    pub was_there: bool,
    /// After; as before, where the table cannot tell it.
    pub after: f64,
    /// Of a delay its form afterwards.
    pub law: Option<&'static str>,
    /// The 95 % interval, of values that can be; absent where the table cannot tell it.
    pub ci95: Option<[f64; 2]>,
    /// Whether the table tells it.
    pub identifiable: bool,
    /// Why not.
    pub why: String,
}

/// What a fit came to.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamFit {
    /// The model with the new values.
    pub spec: ModelSpec,
    /// The parameters, as they were named.
    pub parameters: Vec<Fitted>,
    /// Relative differences of the model from the table, in its order.
    pub differences: Vec<f64>,
}

/// Relative differences, model less measured over measured, in the table's order.
///
/// # Errors
/// [`SystemError::Options`] for throughputs that are none or contradict each other; as [`Model::new`] and [`Model::run`].
pub fn differences(spec: &ModelSpec, table: &[Throughput], seed: u64) -> Result<Vec<f64>, SystemError> {
    check_rates(table)?;
    differences_of_checked(spec, table, seed)
}

fn differences_of_checked(
    spec: &ModelSpec,
    table: &[Throughput],
    seed: u64,
) -> Result<Vec<f64>, SystemError> {
    Ok(ratios(spec, table, seed)?.into_iter().map(|ratio| ratio - 1.0).collect())
}

/// Model over measured, in the table's order. Each row draws random numbers of its own: what all drew alike would be the same error in
/// every throughput, and no scatter would show it.
pub(crate) fn ratios(spec: &ModelSpec, table: &[Throughput], seed: u64) -> Result<Vec<f64>, SystemError> {
    let model = Model::new(spec.clone())?;
    let row = |(place, row): (usize, &Throughput)| {
        let run = StreamRun {
            op: row.op,
            file_bytes: row.file_bytes,
            record_bytes: row.record_bytes,
            repeats: Repeats::Count(row.repeats),
            seed: seed.wrapping_add(place as u64),
            ..StreamRun::default()
        };
        model.run(&run).map(|found| found.mb_per_s / row.mb_per_s)
    };
    // Each row by itself, the first of two errors whichever thread meets one first.
    let found: Vec<_> = table.par_iter().enumerate().with_max_len(1).map(row).collect();
    found.into_iter().collect()
}

/// The same without a parameter that may have nearly any value: it is left where it is, and what others are worth beside it is told.
fn without(
    spec: &ModelSpec,
    (table, parameters): (&[Throughput], &[Parameter]),
    place: usize,
    ci95: Option<[f64; 2]>,
    law: Option<Law>,
    seed: u64,
) -> Result<StreamFit, SystemError> {
    let left: Vec<Parameter> = parameters
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != place)
        .map(|(_, &parameter)| parameter)
        .collect();
    let mut found = if left.is_empty() {
        let differences = differences_of_checked(spec, table, seed)?;
        StreamFit { parameters: Vec::new(), differences, spec: spec.clone() }
    } else {
        fit(spec, table, &left, law, seed)?
    };
    let parameter = parameters[place];
    let [low, high] = ci95.unwrap_or_default();
    let moved = moved_words(parameter, [spec, &found.spec]);
    let why = format!("values from {low:.3} to {high:.3} {} fit about as well{moved}", parameter.unit());
    found.parameters.insert(
        place,
        Fitted {
            name: parameter.name(),
            unit: parameter.unit(),
            before: parameter.get(spec),
            was_there: parameter.is_in(spec),
            after: parameter.get(&found.spec),
            law: parameter.delay(&found.spec).map(law::name),
            ci95: None,
            identifiable: false,
            why,
        },
    );
    Ok(found)
}

/// Fits parameters of a model to a table. Delays take the form of `law`; without one they keep their own, and new ones are normal.
///
/// # Errors
/// [`SystemError::Options`] for a table with fewer rows than parameters, or with throughputs above the interface's rate; as
/// [`differences`] otherwise.
pub fn fit(
    spec: &ModelSpec,
    table: &[Throughput],
    parameters: &[Parameter],
    law: Option<Law>,
    seed: u64,
) -> Result<StreamFit, SystemError> {
    check_count(table, parameters)?;
    check_rates(table)?;
    check_interface(spec, table, parameters)?;
    let was_there = |parameter: &Parameter| parameter.is_in(spec);
    let were_there: Vec<bool> = parameters.iter().map(was_there).collect();
    let start: Vec<f64> = parameters.iter().map(|parameter| parameter.get(spec)).collect();
    let begun = &Search { spec, table, parameters, law, seed }.put(&start);
    let search = Search { spec: begun, table, parameters, law, seed };
    let ended = search.ended(&start)?;
    if let Some(place) =
        ended.ci95.iter().zip(parameters).position(|(ci95, parameter)| parameter.is_open(*ci95))
    {
        return without(spec, (table, parameters), place, ended.ci95[place], law, seed);
    }
    let spec = search.put(&ended.values);
    let fitted = parameters.iter().zip(ended.told).enumerate().map(|(place, (parameter, told))| {
        let (before, after, identifiable) = (start[place], parameter.get(&spec), told.is_none());
        let why = told.map_or_else(String::new, |told| told + moved_words(*parameter, [begun, &spec]));
        let (name, unit, ci95) = (parameter.name(), parameter.unit(), ended.ci95[place]);
        let (was_there, law) = (were_there[place], parameter.delay(&spec).map(law::name));
        Fitted { name, unit, before, was_there, after, law, ci95, identifiable, why }
    });
    Ok(StreamFit {
        parameters: fitted.collect(),
        differences: differences_of_checked(&spec, table, seed)?,
        spec,
    })
}

/// What was done to a value that the table cannot tell, and is another one than before.
fn moved_words(parameter: Parameter, [before, after]: [&ModelSpec; 2]) -> &'static str {
    let is_same = |a: f64, b: f64| (a - b).abs() <= STILL * b.abs();
    let share = |spec: &ModelSpec| spec.mechanism.inner_mb_per_s / spec.mechanism.outer_mb_per_s;
    if is_same(parameter.get(after), parameter.get(before)) {
        ""
    } else if parameter == Parameter::Inner && is_same(share(after), share(before)) {
        "; it keeps its share of the outer rate"
    } else {
        "; it was moved, as the throughputs rule out the value before"
    }
}

fn check_count(table: &[Throughput], parameters: &[Parameter]) -> Result<(), SystemError> {
    let refused = |problem: String, hint: &str| Err(SystemError::Options { problem, hint: hint.to_owned() });
    if parameters.is_empty() {
        return refused("there is nothing to fit".to_owned(), "name at least one parameter");
    }
    if table.len() < parameters.len() {
        return refused(
            format!("{} to fit cannot tell {} parameters", counted(table.len()), parameters.len()),
            "measure more sizes of records and files, or fit fewer parameters",
        );
    }
    Ok(())
}

/// Each throughput must be one, and none must say of a size what another contradicts.
fn check_rates(table: &[Throughput]) -> Result<(), SystemError> {
    let refused = |problem: String, hint: &str| Err(SystemError::Options { problem, hint: hint.to_owned() });
    if let Some(row) = table.iter().find(|row| !(1e-3..1e6).contains(&row.mb_per_s)) {
        return refused(
            format!("a throughput of {} MB/s is impossible", row.mb_per_s),
            "throughputs are from 0.001 to 1000000 MB/s",
        );
    }
    for (place, row) in table.iter().enumerate() {
        let same = |other: &&Throughput| {
            (other.op, other.file_bytes, other.record_bytes) == (row.op, row.file_bytes, row.record_bytes)
                && (other.mb_per_s / row.mb_per_s - 1.0).abs() > 0.5
        };
        if let Some(other) = table[..place].iter().find(same) {
            return refused(
                format!(
                    "the table says both {} and {} MB/s of files of {} MB in records of {} KiB",
                    other.mb_per_s,
                    row.mb_per_s,
                    row.file_bytes as f64 / 1e6,
                    row.record_bytes as f64 / 1024.0
                ),
                "keep the throughput that is right",
            );
        }
    }
    Ok(())
}

fn counted(throughputs: usize) -> String {
    format!("{throughputs} throughput{}", if throughputs == 1 { "" } else { "s" })
}

/// Nothing is faster than the interface: such throughputs came out of a cache of the host, or the drive is another one.
fn check_interface(
    spec: &ModelSpec,
    table: &[Throughput],
    parameters: &[Parameter],
) -> Result<(), SystemError> {
    let faster = table.iter().find(|row| row.mb_per_s > spec.cache.interface(row.op));
    let Some(row) = faster.filter(|_| !parameters.contains(&Parameter::Interface)) else { return Ok(()) };
    Err(SystemError::Options {
        problem: format!(
            "a throughput of {:.2} MB/s is above the interface's {} MB/s",
            row.mb_per_s,
            spec.cache.interface(row.op)
        ),
        hint: "leave out what a cache of the host answered, fit `cache.interface_mb_per_s` too, or name the drive that was \
               measured"
            .to_owned(),
    })
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fit_grid_tests.rs"]
mod grid_tests;

#[cfg(test)]
#[path = "fit_hidden_tests.rs"]
mod hidden_tests;
