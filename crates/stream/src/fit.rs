//! Parameters found in a table of throughputs: least squares of relative differences, with 95 % intervals, and a word on what
//! the table cannot tell.
//!
//! Damped Gauss–Newton steps with differences for slopes. Every evaluation draws the same random numbers, so the objective is
//! smooth in the parameters; that is what such steps need.

use crate::model::Model;
use crate::parameter::{Law, Parameter};
use crate::run::{Repeats, StreamRun};
use crate::spec::ModelSpec;
use headstack_system::SystemError;
use headstack_units::Op;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

/// Most steps.
const MOST_STEPS: usize = 30;
/// A step that moves every parameter by less than this share of its scale ends the search.
const STILL: f64 = 1e-4;
/// What the table can tell may change where a search leads: so often it is looked at anew.
const MOST_SEARCHES: usize = 6;
/// Squares that are fewer by a twentieth are so for a reason.
const CLEARLY_LESS: f64 = 0.95;
/// A parameter is not identifiable if its whole scale changes throughputs by less than this share …
const LEAST_EFFECT: f64 = 1e-4;
/// … or if the others explain all but this share of its effect.
const LEAST_OF_ITS_OWN: f64 = 1e-4;
/// A parameter whose whole scale does less than this share of another's cannot stand in for that.
const LEAST_BESIDE: f64 = 0.01;
/// Of a parameter that does nothing to the table.
const WITHOUT_EFFECT: &str = "no throughput of the table depends on it";
/// Of all, where nothing would be left to say how far chance goes.
const TOO_FEW: &str = "there are no more throughputs than parameters that change them";
/// Of an inner rate that no throughput tells, and that is above the outer rate which was fitted.
const TAKEN_ALONG: &str = "no throughput of the table depends on it; lowered to the outer rate";

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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fitted {
    /// Its path in the model's description.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Before.
    pub before: f64,
    /// After; as before, where the table cannot tell it.
    pub after: f64,
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
    let model = Model::new(spec.clone())?;
    let row = |row: &Throughput| {
        let run = StreamRun {
            op: row.op,
            file_bytes: row.file_bytes,
            record_bytes: row.record_bytes,
            repeats: Repeats::Count(row.repeats),
            seed,
            ..StreamRun::default()
        };
        model.run(&run).map(|found| found.mb_per_s / row.mb_per_s - 1.0)
    };
    table.iter().map(row).collect()
}

/// Fits parameters of a model to a table. Delays take the form of `law`.
///
/// # Errors
/// [`SystemError::Options`] for a table with fewer rows than parameters, or with throughputs above the interface's rate; as
/// [`differences`] otherwise.
pub fn fit(
    spec: &ModelSpec,
    table: &[Throughput],
    parameters: &[Parameter],
    law: Law,
    seed: u64,
) -> Result<StreamFit, SystemError> {
    check_count(table, parameters)?;
    check_rates(table)?;
    check_interface(spec, table, parameters)?;
    let start: Vec<f64> = parameters.iter().map(|parameter| parameter.get(spec)).collect();
    let begun = Search { spec, table, parameters, law, seed }.put(&start);
    let search = Search { spec: &begun, table, parameters, law, seed };
    let (values, told) = search.settled(&start)?;
    let differences = search.differences(&values)?;
    let widths = search.widths(&values, &search.slopes(&values)?, &differences, &told);
    let spec = search.put(&values);
    let fitted = parameters.iter().zip(told).enumerate().map(|(place, (parameter, told))| {
        let (before, after, identifiable) = (start[place], parameter.get(&spec), told.is_none());
        let is_moved = !identifiable && (after - before).abs() > STILL * before.abs();
        let why = if is_moved { TAKEN_ALONG.to_owned() } else { told.unwrap_or_default() };
        let ci95 = widths[place].map(|width| [(after - width).max(0.0), after + width]);
        let (name, unit) = (parameter.name(), parameter.unit());
        Fitted { name, unit, before, after, ci95, identifiable, why }
    });
    Ok(StreamFit { parameters: fitted.collect(), spec, differences })
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
    let interface = spec.cache.interface_mb_per_s;
    let faster = table.iter().find(|row| row.mb_per_s > interface);
    let Some(row) = faster.filter(|_| !parameters.contains(&Parameter::Interface)) else { return Ok(()) };
    Err(SystemError::Options {
        problem: format!("a throughput of {:.2} MB/s is above the interface's {interface} MB/s", row.mb_per_s),
        hint: "leave out what a cache of the host answered, fit `cache.interface_mb_per_s` too, or name the drive that was \
               measured"
            .to_owned(),
    })
}

/// The values with which a search ends, and for each why the table cannot tell it.
type Ended = (Vec<f64>, Vec<Option<String>>);

struct Search<'a> {
    spec: &'a ModelSpec,
    table: &'a [Throughput],
    parameters: &'a [Parameter],
    law: Law,
    seed: u64,
}

impl Search<'_> {
    fn put(&self, values: &[f64]) -> ModelSpec {
        let mut spec = self.spec.clone();
        for (parameter, &value) in self.parameters.iter().zip(values) {
            parameter.put(&mut spec, value, self.law);
        }
        Parameter::keep_order(&mut spec);
        spec
    }

    fn differences(&self, values: &[f64]) -> Result<Vec<f64>, SystemError> {
        differences_of_checked(&self.put(values), self.table, self.seed)
    }

    /// Where the better search ends, and what of it the table cannot tell: the one that begins with the values of the model, and where
    /// some of these do next to nothing until they are far larger (a delay that hides behind the media), one that begins there.
    fn settled(&self, start: &[f64]) -> Result<Ended, SystemError> {
        let told = self.told(&self.slopes(start)?);
        let near = self.searched(start, start, told.clone())?;
        let begin = self.begin_of_effects(start, &told);
        if begin == start {
            return Ok(near);
        }
        let loss = |ended: &Ended| self.differences(&ended.0).map(|found| square(&found));
        let far = self.searched(&begin, start, self.told(&self.slopes(&begin)?))?;
        let free = |ended: &Ended| ended.1.iter().filter(|told| told.is_none()).count();
        let share = self.chance_of_more(free(&near), free(&far));
        Ok(if loss(&far)? < share * loss(&near)? { far } else { near })
    }

    /// The share that squares fall to by chance alone, one time in a thousand, if `more` parameters are fitted instead of `few`.
    fn chance_of_more(&self, few: usize, more: usize) -> f64 {
        let rest = self.table.len().saturating_sub(more) as f64;
        let further = more.saturating_sub(few) as f64;
        // Nothing is known of what is not there.
        let Ok(ratio) = FisherSnedecor::new(further, rest) else { return CLEARLY_LESS };
        CLEARLY_LESS.min(1.0 / (1.0 + ratio.inverse_cdf(0.999) * further / rest))
    }

    /// The values at which those that are not told here have an effect, where that makes the model fit better.
    fn begin_of_effects(&self, start: &[f64], told: &[Option<String>]) -> Vec<f64> {
        let loss = |values: &[f64]| self.differences(values).map_or(f64::INFINITY, |found| square(&found));
        let (mut begin, mut least) = (start.to_vec(), loss(start));
        for place in (0..told.len()).filter(|&place| told[place].is_some()) {
            for value in self.parameters[place].far_values(start[place]) {
                let mut there = begin.clone();
                there[place] = value;
                let found = loss(&there);
                if found < CLEARLY_LESS * least {
                    (begin, least) = (there, found);
                }
            }
        }
        begin
    }

    /// A search that begins with `from`. What the table cannot tell where it ends is left as in `start`; what it could not tell where the
    /// search began, and can where it ended, is fitted, too.
    fn searched(
        &self,
        from: &[f64],
        start: &[f64],
        mut told: Vec<Option<String>>,
    ) -> Result<Ended, SystemError> {
        let mut values = from.to_vec();
        for search in 0..MOST_SEARCHES {
            values = self.descend(&values, &told)?;
            let now = self.told(&self.slopes(&values)?);
            let same = |(now, told): (&Option<String>, &Option<String>)| now.is_some() == told.is_some();
            let is_settled = now.iter().zip(&told).all(same);
            // Where it goes back and forth, what is in doubt is left alone.
            let in_doubt = search + 2 >= MOST_SEARCHES;
            told = now.into_iter().zip(told).map(|(now, told)| now.or(told.filter(|_| in_doubt))).collect();
            let left_alone = told.iter().zip(&mut values).zip(start).filter(|((told, _), _)| told.is_some());
            left_alone.for_each(|((_, value), &start)| *value = start);
            if is_settled {
                break;
            }
        }
        Ok((values, told))
    }

    /// For each parameter, how the differences change with it, by its scale.
    fn slopes(&self, values: &[f64]) -> Result<Vec<Vec<f64>>, SystemError> {
        let here = self.differences(values)?;
        let spec = self.put(values);
        let slope = |(place, parameter): (usize, &Parameter)| {
            let value = parameter.get(&spec);
            let step = 0.1 * parameter.scale(value);
            let along = |to: f64| {
                let mut moved = values.to_vec();
                moved[place] = to;
                let share = (to - value) / parameter.scale(value);
                let there = self.differences(&moved)?;
                Ok(there.iter().zip(&here).map(|(there, here)| (there - here) / share).collect())
            };
            let up = parameter.within(value + step, &spec);
            // At a bound, and where the files of the table would not fit any more, the other way.
            match along(up) {
                Ok(slope) if up != value => Ok(slope),
                _ => along(value - step),
            }
        };
        self.parameters.iter().enumerate().map(slope).collect()
    }

    /// For each parameter why the table cannot tell it; nothing where it can. In which order they are named makes no difference.
    fn told(&self, slopes: &[Vec<f64>]) -> Vec<Option<String>> {
        let acts = |slope: &Vec<f64>| norm(slope) / (self.table.len() as f64).sqrt() >= LEAST_EFFECT;
        let acting: Vec<usize> = (0..slopes.len()).filter(|&place| acts(&slopes[place])).collect();
        let is_like_others = |&place: &usize| {
            // What does far less cannot stand in for it.
            let least = LEAST_BESIDE * norm(&slopes[place]);
            let others: Vec<&Vec<f64>> = acting
                .iter()
                .filter(|&&other| other != place)
                .map(|&other| &slopes[other])
                .filter(|other| norm(other) >= least)
                .collect();
            norm(&rest(&slopes[place], &others)) < LEAST_OF_ITS_OWN.sqrt() * norm(&slopes[place])
        };
        let alike: Vec<usize> = acting.iter().copied().filter(is_like_others).collect();
        let told_apart = acting.len() - alike.len();
        let why = |place: usize| {
            if !acting.contains(&place) {
                return Some(WITHOUT_EFFECT.to_owned());
            }
            if alike.contains(&place) {
                let among = if alike.len() > 1 { &alike } else { &acting };
                let others = among.iter().filter(|&&other| other != place);
                let names: Vec<String> =
                    others.map(|&other| format!("`{}`", self.parameters[other].name())).collect();
                return Some(format!(
                    "what it does to the table {} can do as well: fit it without, or name other sizes",
                    names.join(", ")
                ));
            }
            (told_apart >= self.table.len()).then(|| TOO_FEW.to_owned())
        };
        (0..slopes.len()).map(why).collect()
    }

    fn descend(&self, start: &[f64], told: &[Option<String>]) -> Result<Vec<f64>, SystemError> {
        let mut values = start.to_vec();
        let mut loss = square(&self.differences(&values)?);
        let mut damping = 1e-3;
        let free: Vec<usize> = (0..told.len()).filter(|&place| told[place].is_none()).collect();
        for _ in 0..MOST_STEPS {
            let (slopes, here) = (self.slopes(&values)?, self.differences(&values)?);
            let Some((next, farthest)) = self.step(&values, &slopes, &here, &free, damping) else { break };
            // A model that the files of the table do not fit into is no better.
            let there = self.differences(&next).map_or(f64::INFINITY, |found| square(&found));
            if there < loss {
                (values, loss, damping) = (next, there, (damping * 0.1).max(1e-12));
            } else {
                damping = (damping * 10.0).max(1e-3);
            }
            if farthest < STILL || damping > 1e9 {
                break;
            }
        }
        Ok(values)
    }

    /// Where a damped step leads, and how far the farthest parameter moves, in its scale. What stands at a bound and would
    /// leave it stays, and the others move as if it were no parameter.
    fn step(
        &self,
        values: &[f64],
        slopes: &[Vec<f64>],
        here: &[f64],
        free: &[usize],
        damping: f64,
    ) -> Option<(Vec<f64>, f64)> {
        let mut free = free.to_vec();
        let spec = self.put(values);
        loop {
            let step = damped(slopes, here, &free, damping)?;
            let mut next = values.to_vec();
            let mut farthest: f64 = 0.0;
            for (&place, step) in free.iter().zip(&step) {
                let parameter = self.parameters[place];
                let value = parameter.get(&spec);
                let scale = parameter.scale(value);
                next[place] = parameter.within(value + step * scale, &spec);
                farthest = farthest.max(((next[place] - value) / scale).abs());
            }
            let moves = |place: &usize| next[*place] != self.parameters[*place].get(&spec);
            let moving: Vec<usize> = free.iter().copied().filter(moves).collect();
            if moving.len() == free.len() {
                return Some((next, farthest));
            }
            free = moving;
        }
    }

    /// Half the widths of the 95 % intervals, by the scatter around the fit.
    fn widths(
        &self,
        values: &[f64],
        slopes: &[Vec<f64>],
        differences: &[f64],
        told: &[Option<String>],
    ) -> Vec<Option<f64>> {
        let free: Vec<usize> = (0..told.len()).filter(|&place| told[place].is_none()).collect();
        let freedom = differences.len() as f64 - free.len() as f64;
        let student = StudentsT::new(0.0, 1.0, freedom).ok().map(|student| student.inverse_cdf(0.975));
        let scatter = (square(differences) / freedom).sqrt();
        // In the scales that the slopes are in: those of the fitted values.
        let spec = self.put(values);
        let width = |place: usize| {
            let others: Vec<&Vec<f64>> = free.iter().filter(|&&o| o != place).map(|&o| &slopes[o]).collect();
            let own = norm(&rest(&slopes[place], &others));
            let parameter = &self.parameters[place];
            student.map(|student| student * scatter / own * parameter.scale(parameter.get(&spec)))
        };
        (0..told.len()).map(|place| free.contains(&place).then(|| width(place)).flatten()).collect()
    }
}

fn square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn norm(values: &[f64]) -> f64 {
    square(values).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// What others do not explain of a column: the part at right angles to all of them.
fn rest(column: &[f64], others: &[&Vec<f64>]) -> Vec<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let without = |column: &[f64], basis: &[Vec<f64>]| {
        let mut left = column.to_vec();
        // Twice: once is not exact enough where columns are nearly parallel.
        for unit in basis.iter().chain(basis) {
            let along = dot(&left, unit);
            left.iter_mut().zip(unit).for_each(|(left, unit)| *left -= along * unit);
        }
        left
    };
    for other in others {
        let left = without(other, &basis);
        let length = norm(&left);
        if length > 1e-9 * norm(other) {
            basis.push(left.iter().map(|value| value / length).collect());
        }
    }
    without(column, &basis)
}

/// The step of the free parameters, in their scales: (JᵀJ + damping · diag) step = −Jᵀ difference.
fn damped(slopes: &[Vec<f64>], here: &[f64], free: &[usize], damping: f64) -> Option<Vec<f64>> {
    let count = free.len();
    let mut rows: Vec<Vec<f64>> = free
        .iter()
        .map(|&a| {
            let mut row: Vec<f64> = free.iter().map(|&b| dot(&slopes[a], &slopes[b])).collect();
            row.push(-dot(&slopes[a], here));
            row
        })
        .collect();
    for (place, row) in rows.iter_mut().enumerate() {
        row[place] *= 1.0 + damping;
    }
    for pivot in 0..count {
        let best = (pivot..count).max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs()))?;
        rows.swap(pivot, best);
        if rows[pivot][pivot].abs() < 1e-300 {
            return None;
        }
        let (above, below) = rows.split_at_mut(pivot + 1);
        for row in below {
            let factor = row[pivot] / above[pivot][pivot];
            for (cell, known) in row.iter_mut().zip(&above[pivot]).skip(pivot) {
                *cell -= factor * known;
            }
        }
    }
    let mut step = vec![0.0; count];
    for place in (0..count).rev() {
        let known: f64 = (place + 1..count).map(|column| rows[place][column] * step[column]).sum();
        step[place] = (rows[place][count] - known) / rows[place][place];
    }
    (count > 0).then_some(step)
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
