//! One fit: angles of the spindle, parameters, angles again, until a round gains next to nothing.

use crate::calibrate::Options;
use crate::evaluate::{Evaluator, Point};
use crate::guard::{Guard, taken_back};
use crate::identify::{keep_what_is_identifiable, settle};
use crate::journal::Journal;
use crate::objective::{Loss, Objective};
use crate::parameter::Parameter;
use crate::plan::{fit_round, in_bursts, most_first, other_starts};
use crate::search::{is_better, prune};
use crate::table::{CURVE, ParameterTable, SEEKS};
use crate::trace::MeasuredTrace;
use crate::values::Values;
use crate::{FitError, Monitor};
use headstack_drive::spec::DriveSpec;
use headstack_system::phase::{Fitted, fit};
use headstack_system::{Replay, RunOptions, System, SystemConfig, SystemError};
use headstack_units::Nanos;
use headstack_units::grouped;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A round that gains less than this share of the objective is the last one.
pub(crate) const LEAST_SHARE_OF_A_ROUND: f64 = 0.005;
/// What is not kept is told from such a loss on.
const LEAST_TOLD_SHARE: f64 = 0.02;
/// Another start must lead to an objective that is smaller by this share.
const LEAST_SHARE_OF_A_START: f64 = 0.01;
/// One of few changed values must lead to one by so much smaller: the others were not in the way, else. (A tenth less on the training
/// requests of a measured Barracuda was 8 % more on the others.)
const LEAST_SHARE_OF_FEW: f64 = 0.3;

/// A drive fitted to a part of a trace.
pub(crate) struct PartFit<'a> {
    pub(crate) evaluator: Evaluator<'a>,
    pub(crate) point: Point,
    pub(crate) table: ParameterTable,
    /// The values before.
    pub(crate) before: Values,
    /// The times of the requests before, the angles already those of the part.
    pub(crate) times_before: Vec<Nanos>,
    /// What the values are replaced in.
    base: DriveSpec,
    /// Where other starts led.
    ends: Vec<Values>,
    pub(crate) rounds: u32,
    /// Paths of changes that the guard took back.
    pub(crate) refuted: Vec<String>,
}

impl<'a> PartFit<'a> {
    /// Fits a drive to all of a trace.
    pub(crate) fn new(
        original: &DriveSpec,
        train: &MeasuredTrace,
        mut table: ParameterTable,
        options: &Options,
        monitor: &'a Monitor,
        journal: Option<&'a Journal>,
    ) -> Result<Self, FitError> {
        let angles = only_drive(&fit_angles(original, train, options)?)?;
        let base = with_angles_of(original, &angles);
        let evaluator = Evaluator::new(options.objective, &base, train, monitor, journal);
        let before = Values::of(&base);
        let Some(point) = evaluator.point(&before)? else {
            return Err(SystemError::from(rejected(&base)).into());
        };
        let times_before = evaluator.times(std::slice::from_ref(&before))?.remove(0).unwrap_or_default();
        let (ends, refuted) = (Vec::new(), Vec::new());
        let mut part = Self { evaluator, point, table, before, times_before, base, ends, rounds: 0, refuted };
        part.search(original, train, options, monitor)?;
        // Intervals are to hold what other starts led to, if it is as good with the angles that were found since.
        part.evaluator.points(part.ends.drain(..).map(Some).collect())?;
        part.table.restore_curves(&part.point.values);
        // The points of a curve stay or go together.
        let curves = [CURVE, SEEKS];
        let alone: Vec<Parameter> =
            part.table.parameters().filter(|it| !curves.contains(&it.path())).collect();
        let pruned = prune(&part.evaluator, part.point, &part.before, &alone)?;
        table = part.table;
        let found_ms = pruned.ms();
        part.point = keep_what_is_identifiable(&part.evaluator, pruned, &part.before, &mut table)?;
        part.table = table;
        part.note_what_went_back(found_ms, options, monitor);
        if options.guard {
            part.guard(&Guard { original, train, options, monitor, journal })?;
        }
        Ok(part)
    }

    /// Takes back what makes a score of reads or of writes worse on requests that chose nothing; the others settle anew.
    fn guard(&mut self, guard: &Guard<'_>) -> Result<(), FitError> {
        let refuted = guard.refuted(&self.point.values, &self.before, &self.table)?;
        if refuted.is_empty() {
            return Ok(());
        }
        let back = |values: Values, path: &String| taken_back(&values, &self.before, &self.table, path);
        let values = refuted.iter().fold(self.point.values.clone(), back);
        let kept = match self.evaluator.point(&values)? {
            Some(kept) => Some(kept),
            None => self.evaluator.point(&self.before)?,
        };
        let Some(kept) = kept else { return Ok(()) };
        guard.monitor.note(format!(
            "taken back, since a score got worse on the last third of the training requests: {}",
            refuted.join(", ")
        ));
        let mut table = self.table.clone().without(&refuted);
        let settled = settle(&self.evaluator, kept, &self.before, &table, &BTreeSet::new())?;
        self.point = keep_what_is_identifiable(&self.evaluator, settled, &self.before, &mut table)?;
        self.table.restore_curves(&self.point.values);
        self.refuted = refuted;
        Ok(())
    }

    /// Says so if much of what the search found is not kept: it would otherwise seem to have come to nothing.
    fn note_what_went_back(&self, found_ms: f64, options: &Options, monitor: &Monitor) {
        let kept_ms = self.point.ms();
        if kept_ms > (1.0 + LEAST_TOLD_SHARE) * found_ms {
            monitor.note(format!(
                "taken back, since the training requests do not tell it from other values: {} {found_ms:.4} to {kept_ms:.4} ms",
                options.objective.words()
            ));
        }
    }

    fn search(
        &mut self,
        original: &DriveSpec,
        train: &MeasuredTrace,
        options: &Options,
        monitor: &Monitor,
    ) -> Result<(), FitError> {
        while self.rounds < options.rounds {
            self.rounds += 1;
            let begun = self.point.ms();
            self.point = fit_round(&self.evaluator, &self.point, &self.table, self.rounds > 1)?;
            if self.rounds == 1 {
                self.try_other_starts()?;
            }
            monitor.note(format!(
                "round {}: {} {begun:.4} to {:.4} ms on {} requests",
                self.rounds,
                options.objective.words(),
                self.point.ms(),
                grouped(train.requests().len() as u64)
            ));
            self.refresh_angles(original, train, options)?;
            if begun - self.point.ms() < LEAST_SHARE_OF_A_ROUND * begun {
                break;
            }
        }
        Ok(())
    }

    fn try_other_starts(&mut self) -> Result<(), FitError> {
        let numbers_only = ParameterTable { choices: Vec::new(), ..self.table.clone() };
        let least = LEAST_SHARE_OF_A_START;
        let mut starts: Vec<(Point, &ParameterTable, f64)> =
            other_starts(&self.evaluator, &self.point, &self.table.numbers)?
                .into_iter()
                .map(|other| (other, &numbers_only, least))
                .collect();
        // Numbers that were fitted to one way of sending data make up for another: from the file's values, too.
        let afresh = in_bursts(&self.evaluator, &[&self.before], &self.table.numbers)?;
        starts.extend(afresh.map(|other| (other, &self.table, least)));
        if let Some(file) = self.evaluator.point(&self.before)? {
            let alone = self.table.alone_in(&self.before);
            let other = most_first(&self.evaluator, file, &alone)?;
            starts.extend(other.map(|other| (other, &self.table, LEAST_SHARE_OF_FEW)));
        }
        let mut best: Option<Point> = None;
        for (other, table, least) in starts {
            let end = fit_round(&self.evaluator, &other, table, false)?;
            // One of few values that leads no farther than the others is no drive to reckon with.
            if least < LEAST_SHARE_OF_FEW {
                self.ends.push(end.values.clone());
            }
            let is_best = best.as_ref().is_none_or(|best| end.ms() < best.ms());
            if is_best && end.ms() < (1.0 - least) * self.point.ms() && is_better(&self.point, &end) {
                best = Some(end);
            }
        }
        if let Some(best) = best {
            self.point = best;
        }
        Ok(())
    }

    /// The angles once more, with what is known now; kept where that helps on the same requests.
    fn refresh_angles(
        &mut self,
        original: &DriveSpec,
        train: &MeasuredTrace,
        options: &Options,
    ) -> Result<(), FitError> {
        let angles = only_drive(&fit_angles(&self.drive()?, train, options)?)?;
        let base = with_angles_of(original, &angles);
        let earlier = self.evaluator.rebase(&base);
        match self.evaluator.point(&self.point.values)? {
            Some(point) if point.ms() < self.point.ms() => {
                (self.point, self.base) = (point, base);
            }
            _ => self.evaluator.restore(earlier),
        }
        Ok(())
    }

    /// How far the drive is off in single requests and in the distributions together, in ms.
    pub(crate) fn balanced_ms(&self) -> Result<f64, FitError> {
        let times = self.evaluator.times(std::slice::from_ref(&self.point.values))?.remove(0);
        let (ops, measured) = (self.evaluator.ops(), self.evaluator.measured());
        let loss = |model: Vec<Nanos>| Loss::new(Objective::Balanced, ops, measured, &model).ms();
        Ok(times.map_or(f64::INFINITY, loss))
    }

    /// The fitted drive. Its provenance calls what was replaced set by the user.
    pub(crate) fn drive(&self) -> Result<DriveSpec, FitError> {
        let overrides = self.point.values.overrides();
        let drive = DriveSpec::from_toml_with(&self.base.name, &self.base.to_toml(), &overrides);
        Ok(drive.map_err(SystemError::from)?)
    }
}

/// Finds speed, skews and the angles of the zones in measured times.
pub(crate) fn fit_angles(
    drive: &DriveSpec,
    train: &MeasuredTrace,
    options: &Options,
) -> Result<Fitted, FitError> {
    let system = Arc::new(System::new(SystemConfig::of_drive(&options.name, drive.clone()))?);
    let run = RunOptions { replay: Replay::Measured, seed: options.seed, ..RunOptions::default() };
    Ok(fit(&system, &run, || Ok(train.source()))?)
}

pub(crate) fn only_drive(fitted: &Fitted) -> Result<DriveSpec, FitError> {
    let drive = fitted.config.drives.first();
    drive.map(|drive| drive.spec.clone()).ok_or_else(|| FitError::input("no drive to fit", "name a drive"))
}

/// What a fit of angles finds: keys of a drive file.
const ANGLES: [&str; 2] = ["layout", "rotation_rpm"];

/// A drive with the layout and the speed of another, and what is said of where they come from.
pub(crate) fn with_angles_of(drive: &DriveSpec, angles: &DriveSpec) -> DriveSpec {
    let mut moved = drive.clone();
    moved.layout.clone_from(&angles.layout);
    moved.rotation_rpm = angles.rotation_rpm;
    let of_angles = |path: &str| ANGLES.contains(&path.split('.').next().unwrap_or(path));
    let found = angles.provenance.iter().filter(|(path, _)| of_angles(path));
    moved.provenance.extend(found.map(|(path, entry)| (path.clone(), entry.clone())));
    moved
}

/// What is wrong with a drive that cannot be replayed.
fn rejected(drive: &DriveSpec) -> headstack_drive::spec::SpecError {
    headstack_drive::spec::SpecError::Physics { name: drive.name.clone(), problems: drive.check() }
}
