//! What something did to reads: a difference against matched times without it, with an interval.
//!
//! Each occurrence is compared with its own surroundings: the mean logarithm of the responses in it, less that of the reads
//! shortly before and after it on the same device. So neither a slow device nor a slow hour counts for the occurrence, and the reads of one
//! occurrence count as one observation, however many they are. Over the occurrences the differences have a mean and a
//! Student interval; its exponential says how many times as long a read takes. An effect is *found* if the 99 % interval
//! lies above [`LEAST`], so that what does nothing is named less than once in two hundred. The interval that is told allows for
//! [`LEAST`] besides: what makes reads differ is taken out by a model, and so much of it may be left in.

use std::collections::{BTreeMap, VecDeque};

use headstack_units::Nanos;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::phases::InPhases;

/// With fewer occurrences nothing is said.
pub const FEWEST: u64 = 8;

/// What makes reads take less than so many times as long is not named: with enough of them anything is sure, the last digit
/// of a clock included.
pub(crate) const LEAST: f64 = 1.05;

/// The same for what comes with other reads, lies elsewhere, or waits in a queue: that makes reads differ, too, and what is known of it is
/// taken out, but not all of it is known.
pub(crate) const MUCH: f64 = 1.25;

/// Devices of which causes are looked for: the first so many.
const DEVICES: usize = 1024;

/// What is kept of a device; `None` beyond so many.
pub(crate) fn of_device<T: Default>(devices: &mut BTreeMap<u32, T>, device: u32) -> Option<&mut T> {
    let room = devices.len() < DEVICES || devices.contains_key(&device);
    room.then(|| devices.entry(device).or_default())
}

/// Reads before an occurrence that are remembered.
const RECENT: usize = 512;

/// Surroundings reach at least this far.
const REACH: Nanos = Nanos(500_000_000);

/// How many times as long reads take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// What it is that may delay them.
    pub cause: &'static str,
    /// The region or the process that it is, where it is one of many.
    pub name: Option<String>,
    /// Occurrences with reads in them and around them.
    pub occurrences: u64,
    /// Reads in these.
    pub reads: u64,
    /// Reads around them.
    pub reads_around: u64,
    /// The ratio of geometric means, in occurrences to around them; `None` with fewer than [`FEWEST`] occurrences.
    pub times_as_long: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether it is named as a cause.
    pub found: bool,
    /// Why it is not named though the interval lies above 1: `small`, where it is not surely large enough; `arrivals`, of a queue that when
    /// requests came does not explain, as what is slow for a while makes a queue, too.
    pub withheld: Option<&'static str>,
    /// What others' reads take in the phases of a process, as they are.
    pub phases: Option<InPhases>,
    /// Who has most of the requests that others' reads find outstanding, of a queue.
    pub filled_by: Option<FilledBy>,
}

/// Who fills the queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilledBy {
    /// Its name.
    pub process: String,
    /// The share of the requests that others' reads find outstanding that are its own.
    pub share: f64,
}

impl Effect {
    /// Of this cause nothing is known but how often it was there.
    pub(crate) fn unknown(cause: &'static str, occurrences: u64) -> Self {
        Self {
            cause,
            name: None,
            occurrences,
            reads: 0,
            reads_around: 0,
            times_as_long: None,
            low: None,
            high: None,
            found: false,
            withheld: None,
            phases: None,
            filled_by: None,
        }
    }

    /// Of reads of which the longest takes `most` times as long as the shortest nothing can take longer than that; an interval of few
    /// that vary much reaches further, and what is said to be larger is not found.
    pub(crate) fn within(self, most: f64) -> Self {
        let held = |times: Option<f64>| times.map(|times| times.clamp(1.0 / most, most));
        let found = self.found && self.times_as_long.is_none_or(|times| times <= most);
        Self {
            times_as_long: held(self.times_as_long),
            low: held(self.low),
            high: held(self.high),
            found,
            ..self
        }
    }
}

/// A mean of logarithms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Logs {
    count: u64,
    sum: f64,
}

impl Logs {
    /// So many of this mean.
    pub(crate) fn of_mean(mean: f64, count: u64) -> Self {
        Self { count, sum: mean * count as f64 }
    }

    /// Takes the logarithm of a response.
    pub(crate) fn add(&mut self, log: f64) {
        self.count += 1;
        self.sum += log;
    }

    /// Those that are not among these.
    pub(crate) fn without(self, these: Self) -> Self {
        Self { count: self.count - these.count, sum: self.sum - these.sum }
    }

    /// Both.
    pub(crate) fn with(self, these: Self) -> Self {
        Self { count: self.count + these.count, sum: self.sum + these.sum }
    }

    /// How many were taken.
    pub(crate) fn count(self) -> u64 {
        self.count
    }

    pub(crate) fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl FromIterator<f64> for Logs {
    fn from_iter<I: IntoIterator<Item = f64>>(logs: I) -> Self {
        let mut all = Self::default();
        logs.into_iter().for_each(|log| all.add(log));
        all
    }
}

#[derive(Debug)]
struct Pending {
    kind: usize,
    inside: Logs,
    around: Logs,
    until: Nanos,
}

/// Sums over observations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Differences {
    count: u64,
    reads: u64,
    reads_around: u64,
    sum: f64,
    squares: f64,
    /// How much others like them vary.
    alike: Scatter,
}

/// Compares reads in occurrences with those around them; fed in order of time, but for what an occurrence held back.
#[derive(Debug)]
pub(crate) struct Matched<const KINDS: usize> {
    recent: VecDeque<(Nanos, f64)>,
    pending: VecDeque<Pending>,
    differences: [Differences; KINDS],
}

impl<const KINDS: usize> Default for Matched<KINDS> {
    fn default() -> Self {
        Self {
            recent: VecDeque::new(),
            pending: VecDeque::new(),
            differences: [Differences::default(); KINDS],
        }
    }
}

/// The logarithm that is averaged; what takes no time on the trace's clock takes a nanosecond.
pub(crate) fn log(response: Nanos) -> f64 {
    (response.0.max(1) as f64).ln()
}

impl<const KINDS: usize> Matched<KINDS> {
    /// The logarithm of a read that came in no occurrence.
    pub(crate) fn outside(&mut self, arrival: Nanos, log: f64) {
        while self.pending.front().is_some_and(|pending| pending.until < arrival) {
            self.settle_first();
        }
        for pending in self.pending.iter_mut().filter(|pending| arrival <= pending.until) {
            pending.around.add(log);
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((arrival, log));
    }

    /// An occurrence of `kind` with the reads in it.
    pub(crate) fn occurrence(&mut self, kind: usize, from: Nanos, to: Nanos, inside: Logs) {
        self.after_run_up(kind, [from, from, to], inside);
    }

    /// The same of one that ran up to its beginning since the first of these instants: reads between are no measure for it.
    pub(crate) fn after_run_up(&mut self, kind: usize, [runs_up, from, to]: [Nanos; 3], inside: Logs) {
        if inside.count == 0 {
            return;
        }
        let reach = to.saturating_sub(from).max(REACH);
        let since = runs_up.saturating_sub(reach);
        let earlier = self.recent.iter().rev().skip_while(|(arrival, _)| *arrival >= runs_up);
        let around = earlier.take_while(|(arrival, _)| *arrival >= since).map(|(_, log)| *log).collect();
        self.pending.push_back(Pending { kind, inside, around, until: to.saturating_add(reach) });
    }

    fn settle_first(&mut self) {
        let Some(pending) = self.pending.pop_front() else { return };
        self.differences[pending.kind].add(pending.inside, pending.around);
    }

    /// What was found, by kind.
    pub(crate) fn finish(mut self) -> [Differences; KINDS] {
        while !self.pending.is_empty() {
            self.settle_first();
        }
        self.differences
    }
}

/// The effects, by kind, of what was found on each device.
pub(crate) fn effects<const KINDS: usize>(
    devices: impl Iterator<Item = [Differences; KINDS]>,
    causes: [&'static str; KINDS],
    least: f64,
) -> Vec<Effect> {
    let mut all = [Differences::default(); KINDS];
    for device in devices {
        for (sums, own) in all.iter_mut().zip(device) {
            sums.merge(own);
        }
    }
    causes.into_iter().zip(all).map(|(cause, sums)| sums.effect_of_many(cause, 1, least)).collect()
}

/// Reads in a window, as of a [`Contrast`]: few, as what is slow for a while has more in its queue, which is not why it is slow.
pub(crate) const WINDOW: usize = 12;

/// Each side of a window must hold so many.
pub(crate) const FEWEST_READS: u64 = 2;

/// Compares reads of which something is true with the others of the same stretch of the trace: each stretch is one
/// observation.
#[derive(Debug)]
pub(crate) struct Contrast<const KINDS: usize> {
    reads: usize,
    /// The others, and those of which it is true.
    sides: [[Logs; 2]; KINDS],
    differences: [Differences; KINDS],
}

impl<const KINDS: usize> Default for Contrast<KINDS> {
    fn default() -> Self {
        Self { reads: 0, sides: [[Logs::default(); 2]; KINDS], differences: [Differences::default(); KINDS] }
    }
}

impl<const KINDS: usize> Contrast<KINDS> {
    /// The logarithm of a read, and what is true of it; `None` where it is on neither side.
    pub(crate) fn push(&mut self, is: [Option<bool>; KINDS], log: f64) {
        for (sides, is) in self.sides.iter_mut().zip(is) {
            if let Some(is) = is {
                sides[usize::from(is)].add(log);
            }
        }
        self.reads += 1;
        if self.reads.is_multiple_of(WINDOW) {
            self.settle();
        }
    }

    fn settle(&mut self) {
        for (sides, differences) in self.sides.iter_mut().zip(&mut self.differences) {
            let [others, those] = std::mem::take(sides);
            if others.count >= FEWEST_READS && those.count >= FEWEST_READS {
                differences.add(those, others);
            }
        }
    }

    /// What was found, by kind.
    pub(crate) fn finish(mut self) -> [Differences; KINDS] {
        self.settle();
        self.differences
    }
}

/// What others like them say of how much a few observations vary counts as so many.
const PRIOR: u64 = 20;

/// Squares about the means of groups, and how many observations are left beside the means.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scatter {
    squares: f64,
    freedom: u64,
}

impl Scatter {
    pub(crate) fn variance(self) -> f64 {
        if self.freedom == 0 { 0.0 } else { self.squares / self.freedom as f64 }
    }
}

impl std::iter::Sum for Scatter {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, each| Self {
            squares: sum.squares + each.squares,
            freedom: sum.freedom + each.freedom,
        })
    }
}

impl Differences {
    /// One observation.
    pub(crate) fn add(&mut self, inside: Logs, around: Logs) {
        let (Some(within), Some(without)) = (inside.mean(), around.mean()) else { return };
        let difference = within - without;
        self.count += 1;
        self.reads += inside.count;
        self.reads_around += around.count;
        self.sum += difference;
        self.squares += difference * difference;
    }

    /// Takes those of another place along.
    pub(crate) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.reads += other.reads;
        self.reads_around += other.reads_around;
        self.sum += other.sum;
        self.squares += other.squares;
        self.alike = [self.alike, other.alike].into_iter().sum();
    }

    /// Both.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }

    /// Each of them less by so much, and so many times that.
    pub(crate) fn less(self, by: f64, times: f64) -> Self {
        let count = self.count as f64;
        let squares = self.squares - 2.0 * by * self.sum + count * by * by;
        Self { sum: times * (self.sum - count * by), squares: times * times * squares, ..self }
    }

    /// Reads in the observations.
    pub(crate) fn reads(&self) -> u64 {
        self.reads
    }

    /// The same, of many that vary about as much: few of one that all came out alike by chance are not much surer than those of
    /// the others. The others' scatter counts as [`PRIOR`] observations at most.
    pub(crate) fn among_alike(self, all: Scatter) -> Self {
        let freedom = all.freedom.min(PRIOR);
        Self { alike: Scatter { squares: all.variance() * freedom as f64, freedom }, ..self }
    }

    /// How much they vary about their own mean.
    pub(crate) fn scatter(&self) -> Scatter {
        if self.count < 2 {
            return Scatter::default();
        }
        let squares = self.squares - self.sum * self.sum / self.count as f64;
        Scatter { squares: squares.max(0.0), freedom: self.count - 1 }
    }

    /// Observations.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// By how many of its standard errors the mean lies above 0.
    pub(crate) fn clarity(&self) -> f64 {
        let (mean, error) = self.mean_and_error();
        if error > 0.0 { mean / error } else { 0.0 }
    }

    /// Their own scatter and that of others like them.
    fn moderated(&self) -> Scatter {
        [self.scatter(), self.alike].into_iter().sum()
    }

    fn mean_and_error(&self) -> (f64, f64) {
        let n = self.count as f64;
        let mean = self.sum / n;
        (mean, (self.moderated().variance() / n).sqrt())
    }

    /// The mean difference.
    pub(crate) fn mean(&self) -> f64 {
        self.mean_and_error().0
    }

    /// One of so many that are asked; it is found if it surely makes reads take more than `least` times as long. Otherwise it is
    /// the one that stands out most, and its interval is that of the most outstanding of so many.
    pub(crate) fn effect_of_many(&self, cause: &'static str, asked: usize, least: f64) -> Effect {
        self.effect_of_few(cause, asked, least, FEWEST)
    }

    /// The same, of so many occurrences or more.
    pub(crate) fn effect_of_few(&self, cause: &'static str, asked: usize, least: f64, fewest: u64) -> Effect {
        let unknown = Effect {
            reads: self.reads,
            reads_around: self.reads_around,
            ..Effect::unknown(cause, self.count)
        };
        let student = StudentsT::new(0.0, 1.0, self.moderated().freedom as f64);
        let Some(student) = student.ok().filter(|_| self.count >= fewest) else { return unknown };
        let (mean, error) = self.mean_and_error();
        let asked = asked.max(1) as f64;
        let sure = student.inverse_cdf(1.0 - 0.005 / asked) * error;
        let found = mean - sure > least.ln();
        let half = student.inverse_cdf(1.0 - 0.025 / if found { 1.0 } else { asked }) * error;
        let half = half.hypot(LEAST.ln());
        Effect {
            times_as_long: Some(mean.exp()),
            low: Some((mean - half).exp()),
            high: Some((mean + half).exp()),
            found,
            withheld: (!found && mean > half).then_some("small"),
            ..unknown
        }
    }
}
