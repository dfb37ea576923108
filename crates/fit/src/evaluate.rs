//! Drives replayed on the part of a trace that is fitted; what was evaluated once is remembered.

use crate::journal::Journal;
use crate::objective::{Improvement, Loss, Objective};
use crate::trace::MeasuredTrace;
use crate::values::Values;
use crate::{FitError, Monitor};
use headstack_drive::command::CacheResult;
use headstack_drive::spec::DriveSpec;
use headstack_system::spec::config_hash;
use headstack_system::summary::PhaseSummary;
use headstack_system::{
    CompletionRow, CompletionSink, Input, Replay, RunOptions, System, SystemConfig, SystemError, run,
};
use headstack_trace::Request;
use headstack_units::{Nanos, Op};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A drive and how far it is from the measured times.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) values: Values,
    pub(crate) loss: Arc<Loss>,
}

impl Point {
    /// The objective, in ms.
    pub(crate) fn ms(&self) -> f64 {
        self.loss.ms()
    }

    /// By how much another drive is better.
    pub(crate) fn improvement(&self, after: &Self) -> Improvement {
        self.loss.improvement(&after.loss)
    }
}

/// What identifies a drive among those tried: the values that were replaced.
type Key = Vec<(String, String)>;
/// The drives tried; none where the values contradict each other.
type Known = Mutex<BTreeMap<Key, Option<Point>>>;

/// What an evaluator knew of a drive that it no longer starts from.
pub(crate) struct Earlier {
    base: Values,
    known: Known,
    count: u64,
    context: Option<String>,
}

/// Replays drives on the measured clock, the angle of the spindle followed but nothing fitted.
pub(crate) struct Evaluator<'a> {
    objective: Objective,
    base: Values,
    trace: MeasuredTrace,
    measured: Vec<Nanos>,
    ops: Vec<Op>,
    monitor: &'a Monitor,
    known: Known,
    /// Evaluations on drives gone on from.
    earlier: u64,
    /// Where drives tried in an earlier run are known from.
    journal: Option<Journaled<'a>>,
}

/// A journal, and what its keys hold beside the values that are replaced.
struct Journaled<'a> {
    journal: &'a Journal,
    /// Of objective and requests.
    trace: String,
    /// Of these and the drive that values are replaced in.
    context: String,
}

impl<'a> Journaled<'a> {
    fn new(journal: &'a Journal, objective: Objective, base: &Values, trace: &MeasuredTrace) -> Self {
        let request =
            |it: &Request| (it.arrival.0, it.start.0, it.finish.0, it.lba.0, it.sectors, it.op == Op::Read);
        let requests: Vec<_> = trace.requests().iter().map(request).collect();
        let trace = config_hash(&(env!("CARGO_PKG_VERSION"), objective.name(), requests));
        let context = config_hash(&(&trace, base.file()));
        Self { journal, trace, context }
    }

    fn rebase(&mut self, base: &Values) -> String {
        std::mem::replace(&mut self.context, config_hash(&(&self.trace, base.file())))
    }

    fn key(&self, values: &Key) -> String {
        config_hash(&(&self.context, values))
    }
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        objective: Objective,
        base: &DriveSpec,
        trace: &MeasuredTrace,
        monitor: &'a Monitor,
        journal: Option<&'a Journal>,
    ) -> Self {
        let (base, trace, measured, ops) = (Values::of(base), trace.clone(), trace.service(), trace.ops());
        let known = Mutex::new(BTreeMap::new());
        let journal = journal.map(|journal| Journaled::new(journal, objective, &base, &trace));
        Self { objective, base, trace, measured, ops, monitor, known, earlier: 0, journal }
    }

    /// Goes on from another drive; gives back what is needed to return to the one before.
    pub(crate) fn rebase(&mut self, base: &DriveSpec) -> Earlier {
        let count = self.earlier;
        self.earlier = self.evaluations();
        let known = std::mem::take(&mut self.known);
        let base = std::mem::replace(&mut self.base, Values::of(base));
        let context = self.journal.as_mut().map(|journal| journal.rebase(&self.base));
        Earlier { base, known, count, context }
    }

    /// Returns to an earlier drive.
    pub(crate) fn restore(&mut self, earlier: Earlier) {
        let since = self.known.lock().map_or(0, |known| known.len() as u64);
        (self.base, self.known, self.earlier) = (earlier.base, earlier.known, earlier.count + since);
        if let (Some(journal), Some(context)) = (&mut self.journal, earlier.context) {
            journal.context = context;
        }
    }

    /// How many different drives were evaluated; the same with any number of threads.
    pub(crate) fn evaluations(&self) -> u64 {
        self.earlier + self.known.lock().map_or(0, |known| known.len() as u64)
    }

    /// Counts drives that were evaluated elsewhere: so many are so in all.
    pub(crate) fn has_tried(&mut self, drives: u64) {
        self.earlier += drives.saturating_sub(self.evaluations());
    }

    /// What is made small.
    pub(crate) fn objective(&self) -> Objective {
        self.objective
    }

    /// The measured times of the requests.
    pub(crate) fn measured(&self) -> &[Nanos] {
        &self.measured
    }

    /// Their directions.
    pub(crate) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The requests of the fitted part.
    pub(crate) fn requests(&self) -> &[Request] {
        self.trace.requests()
    }

    /// The drive with these values; `None` where one has no place in a drive file.
    pub(crate) fn drive(&self, values: &Values) -> Option<DriveSpec> {
        values.on(&self.base).drive()
    }

    /// One drive; `None` where its values contradict each other.
    pub(crate) fn point(&self, values: &Values) -> Result<Option<Point>, FitError> {
        let key = values.overrides();
        let found = self.known.lock().ok().and_then(|known| known.get(&key).cloned());
        if let Some(point) = found {
            return Ok(point.map(|point| Point { values: values.clone(), ..point }));
        }
        let loss = self.evaluate(values, &key)?;
        let point = loss.map(|loss| Point { values: values.clone(), loss: Arc::new(loss) });
        if let Ok(mut known) = self.known.lock() {
            known.insert(key, point.clone());
        }
        Ok(point)
    }

    /// The drives tried that the measured times do not rule out as against this one.
    pub(crate) fn tried_as_good_as(&self, point: &Point) -> Vec<Point> {
        let Ok(known) = self.known.lock() else { return Vec::new() };
        let is_as_good = |other: &&Point| !other.improvement(point).rules_out();
        known.values().flatten().filter(is_as_good).cloned().collect()
    }

    /// Many drives, on all cores; `None` where there was none, or its values contradict each other.
    pub(crate) fn points(&self, all: Vec<Option<Values>>) -> Result<Vec<Option<Point>>, FitError> {
        all.into_par_iter().map(|values| values.map_or(Ok(None), |values| self.point(&values))).collect()
    }

    /// The model's times of each request, for each of some drives, on all cores; `None` for a drive whose values contradict
    /// each other.
    pub(crate) fn times(&self, all: &[Values]) -> Result<Vec<Option<Vec<Nanos>>>, FitError> {
        all.par_iter().map(|values| Ok(self.replay(values)?.map(|times| times.model))).collect()
    }

    /// Replays a drive; `None` where its values contradict each other.
    pub(crate) fn replay(&self, values: &Values) -> Result<Option<LockedTimes>, FitError> {
        if self.monitor.is_stopped() {
            return Err(FitError::Stopped);
        }
        self.monitor.count();
        // Bounds that depend on each other (a fence and a buffer, say): the drive's own check knows them all.
        let Some(spec) = self.drive(values) else { return Ok(None) };
        let Ok(system) = System::new(SystemConfig::of_drive("candidate", spec)) else { return Ok(None) };
        Ok(Some(locked_times(&Arc::new(system), &self.trace, Vec::new(), &RunOptions::default())?))
    }

    fn evaluate(&self, values: &Values, key: &Key) -> Result<Option<Loss>, FitError> {
        let Some(journaled) = &self.journal else { return self.loss(values) };
        let (journal, name) = (journaled.journal, journaled.key(key));
        if let Some(kept) = journal.get(&name) {
            return Ok(kept.as_ref().map(|blocks| self.restored(blocks)));
        }
        let loss = self.loss(values)?;
        journal.put(&name, loss.as_ref().map(Loss::blocks))?;
        Ok(loss)
    }

    fn loss(&self, values: &Values) -> Result<Option<Loss>, FitError> {
        let loss = |times: LockedTimes| Loss::new(self.objective, &self.ops, &self.measured, &times.model);
        Ok(self.replay(values)?.map(loss))
    }

    fn restored(&self, blocks: &[f64]) -> Loss {
        Loss::restored(self.objective, self.measured.len(), blocks.to_vec())
    }
}

/// A replay on the measured clock.
#[derive(Default)]
pub(crate) struct LockedTimes {
    /// The model's service time of each request.
    pub(crate) model: Vec<Nanos>,
    /// Whether its completion waited for the media.
    pub(crate) on_media: Vec<bool>,
    /// Whether all of it was its own access to the media, behind one that was over when it was complete: what was being read ahead never
    /// fails, and an early write that does is waited for by the next request.
    pub(crate) is_own_access: Vec<bool>,
    /// How long the arm and then the sector took, as far as the request waited for them.
    pub(crate) positioning: Vec<(Nanos, Nanos)>,
    /// How the angles were followed.
    pub(crate) tracking: Vec<PhaseSummary>,
}

/// Replays a trace on the measured clock, the angles of the spindle followed, those of `learn_zones` learnt on the way.
pub(crate) fn locked_times(
    system: &Arc<System>,
    trace: &MeasuredTrace,
    learn_zones: Vec<u32>,
    options: &RunOptions,
) -> Result<LockedTimes, FitError> {
    let options =
        RunOptions { replay: Replay::Measured, phase_lock: Some(vec![learn_zones]), ..options.clone() };
    let count = trace.requests().len();
    let mut times = Times {
        found: LockedTimes {
            model: vec![Nanos::ZERO; count],
            on_media: vec![false; count],
            is_own_access: vec![false; count],
            positioning: vec![(Nanos::ZERO, Nanos::ZERO); count],
            tracking: Vec::new(),
        },
        early: false,
    };
    let summary = run(system, Input::Source(trace.source()), &options, &mut times, &mut |_| {})?;
    Ok(LockedTimes { tracking: summary.phase, ..times.found })
}

/// What is kept of each request, by its number.
struct Times {
    found: LockedTimes,
    /// The last one was a write reported before it was on the media.
    early: bool,
}

impl CompletionSink for Times {
    fn push(&mut self, rows: &[CompletionRow]) -> Result<(), SystemError> {
        for row in rows {
            let request = row.id as usize;
            self.found.model[request] = row.service();
            self.found.on_media[request] = matches!(row.cache, CacheResult::Miss | CacheResult::PartialHit);
            self.found.is_own_access[request] = row.cache == CacheResult::Miss && !self.early;
            self.early = row.cache == CacheResult::ReportedEarly;
            self.found.positioning[request] = (row.phases.seek, row.phases.rotation);
        }
        Ok(())
    }
}
