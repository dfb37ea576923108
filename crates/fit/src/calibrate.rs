//! A calibration: parameters fitted to one part of a trace, scored on the other.

use crate::evaluate::locked_times;
use crate::evidence::{Row, rows};
use crate::fit::{PartFit, fit_angles};
use crate::journal::Journal;
use crate::objective::Objective;
use crate::provenance::{RETRIES, Told, explained, retries_source};
use crate::retries::Retries;
use crate::split::Split;
use crate::table::ParameterTable;
use crate::trace::MeasuredTrace;
use crate::{FitError, Monitor, Values};
use headstack_drive::spec::DriveSpec;
use headstack_stats::Scores;
use headstack_system::phase::Fitted;
use headstack_system::summary::PhaseSummary;
use headstack_system::{RunOptions, System};
use headstack_units::Nanos;
use headstack_units::grouped;
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
    /// Whether changes go back that make a score of reads or of writes worse.
    pub guard: bool,
    /// Whether the corrected drive also gets `[soft_errors]`, where the fitted part tells how often it retries.
    pub retries: bool,
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
            guard: true,
            retries: false,
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
    /// What was made small in the end, and what gains of rows are gains of: [`Objective::Balanced`] where single requests alone
    /// were to be fitted and other scores got worse with that.
    pub objective: Objective,
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
    /// Paths of changes that went back, since with them a score of reads or of writes got worse on requests of the fitted part that
    /// had not chosen them.
    pub refuted: Vec<String>,
    /// How often the drive retries, by the fitted part.
    pub retries: Retries,
    /// Scores, on what was not fitted, of the corrected drive with its retries: one for each seed. Empty where the drive gets
    /// none. All the other scores are without.
    pub test_with_retries: Vec<Scores>,
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
    let (table, outside) =
        ParameterTable::of(drive).chosen(&options.parameters)?.within_bounds(&Values::of(drive));
    if let Some(first) = outside.first() {
        if !options.parameters.is_empty() {
            return Err(FitError::input(first, "set it to a value within them, or do not fit it"));
        }
        monitor.note(format!("left alone, since it is where no search may go: {}", outside.join("; ")));
    }
    // Retries fall on any request: what is fitted is the drive that has none.
    let sound = DriveSpec { soft_errors: None, ..drive.clone() };
    let tests = options.split.tests(trace.name(), trace.requests().len())?;
    check_variety(trace)?;
    let journal = options.resume.as_deref().map(Journal::open).transpose()?;
    if let Some(known) = journal.as_ref().map(Journal::len).filter(|&known| known > 0) {
        monitor.note(format!("goes on: {} drives were tried before", grouped(known as u64)));
    }
    let work = || {
        Work { original: drive, drive: &sound, trace, table, options, monitor, journal: journal.as_ref() }
            .calibrate(&tests)
    };
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

/// Refuses times that are all the same: any drive can be made to fit them.
fn check_variety(trace: &MeasuredTrace) -> Result<(), FitError> {
    let service = trace.service();
    let [first, rest @ ..] = &service[..] else { return Ok(()) };
    if rest.iter().any(|time| time.0.abs_diff(first.0) > SAME.0) {
        return Ok(());
    }
    Err(FitError::input(
        format!(
            "{}: all {} requests took {} ms, which tells nothing of a drive",
            trace.name(),
            grouped(service.len() as u64),
            first.as_ms()
        ),
        "check which columns are start and completion",
    ))
}

/// Times that differ by no more are the same: clocks of traces tick in microseconds.
const SAME: Nanos = Nanos(2_000);

struct Work<'a> {
    /// The drive as its file has it.
    original: &'a DriveSpec,
    /// The same without retries.
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
                let mut result = self.result(&part, &train, test.len(), &test_scores, angles)?;
                result.test_with_retries = self.scores_with_retries(&result, test)?;
                Ok(result)
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

    /// A fit of single requests; where that has to be taken back in part, since other scores get worse with it, both are fitted
    /// at once as well, and the drive stays that is better in both together.
    fn fit(&self, train: &MeasuredTrace) -> Result<PartFit<'a>, FitError> {
        let of = |options: &Options| {
            PartFit::new(self.drive, train, self.table.clone(), options, self.monitor, self.journal)
        };
        let asked = of(self.options)?;
        if asked.refuted.is_empty() || self.options.objective != Objective::PerRequest {
            return Ok(asked);
        }
        let both = of(&Options { objective: Objective::Balanced, ..self.options.clone() })?;
        let tried = asked.evaluator.evaluations() + both.evaluator.evaluations();
        let mut better = if both.balanced_ms()? < asked.balanced_ms()? { both } else { asked };
        better.evaluator.has_tried(tried);
        Ok(better)
    }

    /// Fits the angles of a drive to a part of the trace, and replays the whole trace.
    fn replayed(&self, drive: &DriveSpec, train: &MeasuredTrace) -> Result<(Angles, Vec<Nanos>), FitError> {
        let fitted = fit_angles(drive, train, self.options)?;
        let mut angles = Angles { fitted, tracking: Vec::new(), fitted_to: train.requests().len() };
        let system = Arc::new(System::new(angles.fitted.config.clone())?);
        let run = RunOptions { seed: self.options.seed, ..RunOptions::default() };
        let times = locked_times(&system, self.trace, angles.unseen_zones(), &run)?;
        angles.tracking = times.tracking;
        Ok((angles, times.model))
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
        let after = part.evaluator.replay(&part.point.values)?.unwrap_or_default();
        let train_scores = BeforeAfter { before: scores(&part.times_before)?, after: scores(&after.model)? };
        let fitted = part.drive()?;
        let retries = Retries::of(&ops, &measured, &after, period(&fitted));
        let told = Told { trace: self.trace.name(), requests: train.requests().len() };
        let mut drive = explained(fitted, self.drive, &rows, &told, &train_scores);
        self.with_retries(&mut drive, &retries, &told);
        Ok(Calibration {
            rows,
            objective: part.evaluator.objective(),
            requests: (train.requests().len(), scored),
            train: train_scores,
            test: *test,
            folds: Vec::new(),
            angles: BeforeAfter { before: angles.before.0, after: angles.after.0 },
            refuted: part.refuted.clone(),
            retries,
            test_with_retries: Vec::new(),
            rounds: part.rounds,
            evaluations: part.evaluator.evaluations(),
            drive,
        })
    }

    /// Gives the corrected drive its retries: those found where they are asked for, else those its file had.
    fn with_retries(&self, drive: &mut DriveSpec, retries: &Retries, told: &Told<'_>) {
        let found = retries.found.filter(|_| self.options.retries);
        drive.soft_errors = found.map_or(self.original.soft_errors, |found| Some(found.soft_errors()));
        if found.is_some() {
            drive.provenance.retain(|path, _| path != RETRIES && !path.starts_with(&format!("{RETRIES}.")));
            drive.provenance.insert(RETRIES.to_owned(), retries_source(retries, told));
        } else {
            let own = self.original.provenance.iter().filter(|(path, _)| path.starts_with(RETRIES));
            drive.provenance.extend(own.map(|(path, entry)| (path.clone(), entry.clone())));
        }
    }

    /// Retries are drawn: one seed is one of many answers.
    fn scores_with_retries(&self, found: &Calibration, test: &Range<usize>) -> Result<Vec<Scores>, FitError> {
        let Some(soft_errors) = found.drive.soft_errors else { return Ok(Vec::new()) };
        let mut config = found.angles.after.fitted.config.clone();
        for drive in &mut config.drives {
            drive.spec.soft_errors = Some(soft_errors);
            let own = found.drive.provenance.iter().filter(|(path, _)| path.starts_with(RETRIES));
            drive.spec.provenance.extend(own.map(|(path, entry)| (path.clone(), entry.clone())));
        }
        let system = Arc::new(System::new(config)?);
        let of_seed = |seed: u64| {
            let run = RunOptions { seed: self.options.seed.wrapping_add(seed), ..RunOptions::default() };
            let times = locked_times(&system, self.trace, found.angles.after.unseen_zones(), &run)?;
            self.scores(test, &times.model[test.clone()])
        };
        (0..RETRY_SEEDS).into_par_iter().map(of_seed).collect()
    }
}

/// How many seeds the retries are scored with.
const RETRY_SEEDS: u64 = 40;

/// A revolution of a drive.
fn period(drive: &DriveSpec) -> Nanos {
    Nanos::from_ms(60_000.0 / drive.rotation_rpm)
}

impl Angles {
    /// Zones that the fit saw nothing of.
    fn unseen_zones(&self) -> Vec<u32> {
        self.fitted.drives.iter().flatten().next().map_or_else(Vec::new, |fit| fit.unseen_zones.clone())
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
