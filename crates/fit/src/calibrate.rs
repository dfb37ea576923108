//! A calibration: parameters fitted to one part of a trace, scored on the other.

use crate::evaluate::locked_times;
use crate::evidence::{Row, rows};
use crate::fit::{PartFit, fit_angles};
use crate::journal::Journal;
use crate::objective::Objective;
use crate::provenance::explained;
use crate::split::Split;
use crate::table::ParameterTable;
use crate::trace::MeasuredTrace;
use crate::words::grouped;
use crate::{FitError, Monitor};
use headstack_drive::spec::DriveSpec;
use headstack_stats::Scores;
use headstack_system::phase::Fitted;
use headstack_system::summary::PhaseSummary;
use headstack_system::{RunOptions, System};
use headstack_units::Nanos;
use rayon::prelude::*;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// How to calibrate.
#[derive(Clone, Debug)]
pub struct Options {
    /// What results call the drive.
    pub name: String,
    /// What is fitted and what is scored.
    pub split: Split,
    /// What is made small.
    pub objective: Objective,
    /// What to fit: names of parameters, of lists, or of the tables above them; empty: everything that makes sense.
    pub parameters: Vec<String>,
    /// At most so many rounds of search; fewer where one gains next to nothing.
    pub rounds: u32,
    /// Seed of everything random in the model.
    pub seed: u64,
    /// How many threads; absent: as many as there are cores. The result is the same with any number.
    pub threads: Option<usize>,
    /// A file to keep what was tried in, and to go on from where it holds something: the result is the same.
    pub resume: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "drive".to_owned(),
            split: Split::First(0.5),
            objective: Objective::default(),
            parameters: Vec::new(),
            rounds: 3,
            seed: 1,
            threads: None,
            resume: None,
        }
    }
}

/// The same of the drive as it was and of the corrected one.
#[derive(Clone, Copy, Debug)]
pub struct BeforeAfter<T> {
    /// Of the drive as it was, its angles fitted.
    pub before: T,
    /// Of the corrected drive.
    pub after: T,
}

/// Angles as fitted, and how they were followed through the whole trace.
#[derive(Clone, Debug)]
pub struct Angles {
    /// The fit.
    pub fitted: Fitted,
    /// How the replay followed them.
    pub tracking: Vec<PhaseSummary>,
    /// How many requests the fit saw.
    pub fitted_to: usize,
}

/// What a calibration comes to.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// One row a parameter, in the order in which they were fitted.
    pub rows: Vec<Row>,
    /// Requests that the corrected drive was fitted to, and those that were scored without having been fitted.
    pub requests: (usize, usize),
    /// Scores on what was fitted.
    pub train: BeforeAfter<Scores>,
    /// Scores on what was not. With folds: each request scored by a drive that was fitted without its block.
    pub test: BeforeAfter<Scores>,
    /// With folds: the scores of each block alone.
    pub folds: Vec<BeforeAfter<Scores>>,
    /// Speed, skews and zone angles.
    pub angles: BeforeAfter<Angles>,
    /// Rounds of search.
    pub rounds: u32,
    /// Drives replayed.
    pub evaluations: u64,
    /// The corrected drive; its provenance says how each changed value came about.
    pub drive: DriveSpec,
}

/// Fits parameters of a drive to a part of a trace, and scores it on the rest. Nothing is fitted to the part that is
/// scored; its angle is followed, as in any phase-locked replay, from requests that are over.
///
/// # Errors
/// [`FitError::Input`] for a split that leaves too little, an unknown parameter or no rounds; [`FitError::Stopped`] where
/// the monitor says so; [`FitError::System`] for requests that the drive cannot serve.
pub fn calibrate(
    drive: &DriveSpec,
    trace: &MeasuredTrace,
    options: &Options,
    monitor: &Monitor,
) -> Result<Calibration, FitError> {
    if options.rounds == 0 {
        return Err(FitError::input("0 rounds fit nothing", "--rounds 3"));
    }
    let table = ParameterTable::of(drive).chosen(&options.parameters)?;
    let tests = options.split.tests(trace.name(), trace.requests().len())?;
    let journal = options.resume.as_deref().map(Journal::open).transpose()?;
    if let Some(known) = journal.as_ref().map(Journal::len).filter(|&known| known > 0) {
        monitor.note(format!("goes on: {} drives were tried before", grouped(known)));
    }
    let work = || Work { drive, trace, table, options, monitor, journal: journal.as_ref() }.calibrate(&tests);
    match options.threads {
        None => work(),
        Some(0) => {
            Err(FitError::input("a fit needs a thread", "use 1 or more, or leave it out for all cores"))
        }
        Some(threads) => match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(work),
            Err(error) => Err(FitError::input(format!("{threads} threads: {error}"), "use fewer threads")),
        },
    }
}

struct Work<'a> {
    drive: &'a DriveSpec,
    trace: &'a MeasuredTrace,
    table: ParameterTable,
    options: &'a Options,
    monitor: &'a Monitor,
    journal: Option<&'a Journal>,
}

impl<'a> Work<'a> {
    fn calibrate(&self, tests: &[Range<usize>]) -> Result<Calibration, FitError> {
        match (self.options.split, tests) {
            (Split::First(_), [test]) => {
                let train = self.trace.without(test);
                let part = self.fit(&train)?;
                let fitted = part.drive()?;
                let angles = self.before_after(|drive| self.replayed(drive, &train), &fitted)?;
                let test_scores = angles.map(|(_, model)| self.scores(test, &model[test.clone()]))?;
                self.result(&part, &train, test.len(), &test_scores, angles)
            }
            _ => self.folds(tests),
        }
    }

    /// Each block scored by a drive fitted to the others; the drive that results is fitted to all of them.
    fn folds(&self, tests: &[Range<usize>]) -> Result<Calibration, FitError> {
        let whole = || self.fit(self.trace);
        let folds = || -> Result<Vec<_>, FitError> { tests.par_iter().map(|test| self.fold(test)).collect() };
        let (part, folds) = rayon::join(whole, folds);
        let (part, folds) = (part?, folds?);
        let fitted = part.drive()?;
        let angles = self.before_after(|drive| self.replayed(drive, self.trace), &fitted)?;
        let all = 0..self.trace.requests().len();
        let pooled =
            |which: fn(&Fold) -> &Vec<Nanos>| folds.iter().flat_map(which).copied().collect::<Vec<_>>();
        let test = BeforeAfter {
            before: self.scores(&all, &pooled(|fold| &fold.times.before))?,
            after: self.scores(&all, &pooled(|fold| &fold.times.after))?,
        };
        let mut result = self.result(&part, self.trace, all.len(), &test, angles)?;
        result.evaluations += folds.iter().map(|fold| fold.evaluations).sum::<u64>();
        result.folds = folds.iter().map(|fold| fold.scores).collect();
        for row in &mut result.rows {
            row.folds = folds.iter().map(|fold| row.parameter.value(&fold.values)).collect();
        }
        Ok(result)
    }

    fn fold(&self, test: &Range<usize>) -> Result<Fold, FitError> {
        let train = self.trace.without(test);
        let part = self.fit(&train)?;
        let times = self.before_after(
            |drive| Ok(self.replayed(drive, &train)?.1[test.clone()].to_vec()),
            &part.drive()?,
        )?;
        let scores = times.map(|model| self.scores(test, model))?;
        let (values, evaluations) = (part.point.values.clone(), part.evaluator.evaluations());
        Ok(Fold { times, scores, values, evaluations })
    }

    fn fit(&self, train: &MeasuredTrace) -> Result<PartFit<'a>, FitError> {
        PartFit::new(self.drive, train, self.table.clone(), self.options, self.monitor, self.journal)
    }

    /// Fits the angles of a drive to a part of the trace, and replays the whole trace.
    fn replayed(&self, drive: &DriveSpec, train: &MeasuredTrace) -> Result<(Angles, Vec<Nanos>), FitError> {
        let fitted = fit_angles(drive, train, self.options)?;
        let unseen =
            fitted.drives.iter().flatten().next().map_or_else(Vec::new, |fit| fit.unseen_zones.clone());
        let system = Arc::new(System::new(fitted.config.clone())?);
        let run = RunOptions { seed: self.options.seed, ..RunOptions::default() };
        let times = locked_times(&system, self.trace, unseen, &run)?;
        Ok((Angles { fitted, tracking: times.tracking, fitted_to: train.requests().len() }, times.model))
    }

    fn before_after<T: Send>(
        &self,
        of: impl Fn(&DriveSpec) -> Result<T, FitError> + Sync,
        fitted: &DriveSpec,
    ) -> Result<BeforeAfter<T>, FitError> {
        let (before, after) = rayon::join(|| of(self.drive), || of(fitted));
        Ok(BeforeAfter { before: before?, after: after? })
    }

    fn scores(&self, part: &Range<usize>, model: &[Nanos]) -> Result<Scores, FitError> {
        let (ops, measured) = (self.trace.ops(), self.trace.service());
        Ok(Scores::new(&ops[part.clone()], &measured[part.clone()], model)?)
    }

    fn result(
        &self,
        part: &PartFit<'_>,
        train: &MeasuredTrace,
        scored: usize,
        test: &BeforeAfter<Scores>,
        angles: BeforeAfter<(Angles, Vec<Nanos>)>,
    ) -> Result<Calibration, FitError> {
        let rows = rows(&part.evaluator, &part.point, &part.before, &part.table)?;
        let (ops, measured) = (train.ops(), train.service());
        let scores = |model: &[Nanos]| Scores::new(&ops, &measured, model);
        let times_after = part.evaluator.times(std::slice::from_ref(&part.point.values))?.remove(0);
        let train_scores = BeforeAfter {
            before: scores(&part.times_before)?,
            after: scores(&times_after.unwrap_or_default())?,
        };
        let drive = explained(
            part.drive()?,
            self.drive,
            &rows,
            self.trace.name(),
            train.requests().len(),
            &train_scores,
        );
        Ok(Calibration {
            rows,
            requests: (train.requests().len(), scored),
            train: train_scores,
            test: *test,
            folds: Vec::new(),
            angles: BeforeAfter { before: angles.before.0, after: angles.after.0 },
            rounds: part.rounds,
            evaluations: part.evaluator.evaluations(),
            drive,
        })
    }
}

impl<T> BeforeAfter<T> {
    fn map<U>(&self, of: impl Fn(&T) -> Result<U, FitError>) -> Result<BeforeAfter<U>, FitError> {
        Ok(BeforeAfter { before: of(&self.before)?, after: of(&self.after)? })
    }
}

/// A block, scored by drives that never saw it.
struct Fold {
    times: BeforeAfter<Vec<Nanos>>,
    scores: BeforeAfter<Scores>,
    values: crate::Values,
    evaluations: u64,
}
