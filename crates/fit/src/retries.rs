//! How often a drive retries, told by requests that took whole revolutions longer than the fitted drive can make them.
//!
//! One revolution too many says nothing: a sector that the model just catches and the drive just missed costs as much. So only
//! requests that are two revolutions late or more are counted, and the distribution of `[soft_errors]`, a geometric one, says
//! how many single retries there must be beside them. A host that was busy is late by any time, a retry by whole revolutions:
//! unless more of the late requests are so than chance would make, nothing is called a retry.

use crate::evaluate::LockedTimes;
use headstack_drive::spec::SoftErrorsSpec;
use headstack_units::{Nanos, Op};
use statrs::distribution::{Beta, Binomial, ContinuousCDF, DiscreteCDF};

/// How far from a whole number of revolutions a retry may end, in revolutions.
const WHOLE: f64 = 0.15;
/// Requests this many revolutions late are counted: fewer can be a sector that was just missed.
const LATE: f64 = 2.0 - WHOLE;
/// Chance of calling late completions retries where they are none.
const BY_CHANCE: f64 = 0.05;
/// Half the 95 % quantile of chi squared with one degree of freedom: how much likelihood a value inside an interval may lose.
const HALF_CHI_SQUARED: f64 = 1.920_73;
/// Mean numbers of revolutions that are tried: from just above 1 to as many as a drive file may say.
const LEAST_MORE: f64 = 1e-3;
const MOST_MORE: f64 = 999.0;
const MEANS: usize = 600;
const BISECTIONS: usize = 60;

/// A number and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// The values that the fitted part does not rule out.
    pub ci95: (f64, f64),
}

/// What the fitted part says about the retries of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfDirection {
    /// Requests whose completion waited for the media.
    pub media: usize,
    /// Of these, whole revolutions that requests were late by, each two or more.
    pub revolutions: Vec<u32>,
    /// How many were two revolutions late or more, and not by whole ones: no retries.
    pub late_otherwise: usize,
}

/// What the fitted part says about retries.
#[derive(Clone, Debug, PartialEq)]
pub struct Retries {
    /// Of reads.
    pub reads: OfDirection,
    /// Of writes.
    pub writes: OfDirection,
    /// What `[soft_errors]` would say; `None` where the fitted part cannot tell.
    pub found: Option<FoundRetries>,
}

/// `[soft_errors]`, as sure as the fitted part makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundRetries {
    /// Share of the reads from the media that are retried; `None` where no read went there.
    pub read_probability: Option<Estimate>,
    /// Share of the writes to the media that are retried; `None` where none is reported after it is there.
    pub write_probability: Option<Estimate>,
    /// Mean number of revolutions.
    pub mean_revolutions: Estimate,
}

impl Retries {
    /// Compares measured times with those of a drive that never retries, `period` being a revolution.
    pub(crate) fn of(ops: &[Op], measured: &[Nanos], model: &LockedTimes, period: Nanos) -> Self {
        let mut retries = Self { reads: OfDirection::default(), writes: OfDirection::default(), found: None };
        for (request, op) in ops.iter().enumerate().filter(|(request, _)| model.is_own_access[*request]) {
            let own = match op {
                Op::Read => &mut retries.reads,
                Op::Write => &mut retries.writes,
            };
            own.media += 1;
            let late = (measured[request].0 as f64 - model.model[request].0 as f64) / period.0 as f64;
            if late < LATE {
                continue;
            }
            if (late - late.round()).abs() <= WHOLE {
                own.revolutions.push(late.round() as u32);
            } else {
                own.late_otherwise += 1;
            }
        }
        retries.found = retries.found();
        retries
    }

    /// The share of the requests on the media that were two revolutions late or more, by whole ones, and its 95 % interval
    /// (Clopper and Pearson); `None` where none was on the media.
    pub fn late_share(&self) -> Option<Estimate> {
        let late = self.reads.revolutions.len() + self.writes.revolutions.len();
        let all = self.reads.media + self.writes.media;
        let quantile =
            |at: f64, a: usize, b: usize| Beta::new(a as f64, b as f64).map(|beta| beta.inverse_cdf(at));
        let low = if late == 0 { 0.0 } else { quantile(0.025, late, all - late + 1).ok()? };
        let high = if late == all { 1.0 } else { quantile(0.975, late + 1, all - late).ok()? };
        (all > 0).then(|| Estimate { value: late as f64 / all as f64, ci95: (low, high) })
    }

    fn found(&self) -> Option<FoundRetries> {
        let likelihood = Likelihood { directions: [Counts::of(&self.reads), Counts::of(&self.writes)] };
        if self.is_by_chance() {
            return None;
        }
        let mean_revolutions = likelihood.mean()?;
        Some(FoundRetries {
            read_probability: likelihood.probability(0),
            write_probability: likelihood.probability(1),
            mean_revolutions,
        })
    }

    /// Whether as many late requests may be late by whole revolutions where any time is as likely.
    fn is_by_chance(&self) -> bool {
        let whole = (self.reads.revolutions.len() + self.writes.revolutions.len()) as u64;
        let all = whole + (self.reads.late_otherwise + self.writes.late_otherwise) as u64;
        if whole == 0 {
            return true;
        }
        Binomial::new(2.0 * WHOLE, all).map_or(true, |chance| chance.sf(whole - 1) > BY_CHANCE)
    }
}

impl FoundRetries {
    /// The table of a drive file; a direction of which nothing is known is never retried.
    pub fn soft_errors(&self) -> SoftErrorsSpec {
        let share = |estimate: Option<Estimate>| estimate.map_or(0.0, |estimate| significant(estimate.value));
        SoftErrorsSpec {
            read_probability: share(self.read_probability),
            write_probability: share(self.write_probability),
            mean_revolutions: significant(self.mean_revolutions.value).max(1.0),
        }
    }
}

/// Three digits: no fit knows more.
fn significant(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// What the likelihood sees of a direction: requests, those late, and revolutions beyond the second.
#[derive(Clone, Copy)]
struct Counts {
    media: f64,
    late: f64,
    beyond: f64,
}

impl Counts {
    fn of(of: &OfDirection) -> Self {
        let beyond = of.revolutions.iter().map(|&revolutions| f64::from(revolutions - 2)).sum();
        Self { media: of.media as f64, late: of.revolutions.len() as f64, beyond }
    }

    /// Log likelihood: with probability p a request is retried, and each retry fails again with probability `again`.
    fn log(&self, p: f64, again: f64) -> f64 {
        let term = |count: f64, of: f64| if count > 0.0 { count * of.ln() } else { 0.0 };
        term(self.late, p)
            + term(self.late + self.beyond, again)
            + term(self.late, 1.0 - again)
            + term(self.media - self.late, 1.0 - p * again)
    }

    /// The most likely probability, given how often a retry fails.
    fn probability(&self, again: f64) -> f64 {
        if self.media > 0.0 { (self.late / (self.media * again)).min(1.0) } else { 0.0 }
    }
}

/// Both directions share the mean number of revolutions.
struct Likelihood {
    directions: [Counts; 2],
}

impl Likelihood {
    /// How often a retry fails again, for each mean that is tried.
    fn grid() -> impl Iterator<Item = f64> {
        let ratio = (MOST_MORE / LEAST_MORE).ln();
        (0..MEANS).map(move |step| {
            let more = LEAST_MORE * (ratio * step as f64 / (MEANS - 1) as f64).exp();
            more / (1.0 + more)
        })
    }

    /// The greatest likelihood, given how often a retry fails again.
    fn of_again(&self, again: f64) -> f64 {
        self.directions.iter().map(|it| it.log(it.probability(again), again)).sum()
    }

    fn best(&self) -> f64 {
        Self::grid().map(|again| self.of_again(again)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The mean number of revolutions; `None` where none was late.
    fn mean(&self) -> Option<Estimate> {
        let best = self.best();
        let mean = |again: f64| 1.0 / (1.0 - again);
        let most = Self::grid().max_by(|&a, &b| self.of_again(a).total_cmp(&self.of_again(b)))?;
        let inside: Vec<f64> =
            Self::grid().filter(|&again| best - self.of_again(again) <= HALF_CHI_SQUARED).collect();
        let late: f64 = self.directions.iter().map(|it| it.late).sum();
        (late > 0.0).then(|| Estimate {
            value: mean(most),
            ci95: (
                inside.first().map_or(1.0, |&low| mean(low)),
                inside.last().map_or(MOST_MORE, |&high| mean(high)),
            ),
        })
    }

    /// The share of the requests of a direction that are retried; `None` where there is none.
    fn probability(&self, which: usize) -> Option<Estimate> {
        let (own, other) = (&self.directions[which], &self.directions[1 - which]);
        if own.media == 0.0 {
            return None;
        }
        let best = self.best();
        let most = Self::grid().max_by(|&a, &b| self.of_again(a).total_cmp(&self.of_again(b)))?;
        let is_inside = |p: f64| {
            let log = |again: f64| own.log(p, again) + other.log(other.probability(again), again);
            best - Self::grid().map(log).fold(f64::NEG_INFINITY, f64::max) <= HALF_CHI_SQUARED
        };
        let value = own.probability(most);
        Some(Estimate { value, ci95: (end(value, 0.0, is_inside), end(value, 1.0, is_inside)) })
    }
}

/// The value farthest from one that is inside, towards a bound, that is inside, too.
fn end(inside: f64, bound: f64, is_inside: impl Fn(f64) -> bool) -> f64 {
    if is_inside(bound) {
        return bound;
    }
    let (mut inside, mut outside) = (inside, bound);
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (inside + outside);
        *(if is_inside(middle) { &mut inside } else { &mut outside }) = middle;
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    const PERIOD: Nanos = Nanos(10_000_000);

    /// Requests of a drive that retries so, each a little off, one in twenty a revolution off either way, and some completions
    /// late by any time.
    fn seen(seed: u64, spec: &SoftErrorsSpec, late: f64) -> Retries {
        let mut random = Pcg64::seed_from_u64(seed);
        let count = 6000;
        let ops: Vec<Op> =
            (0..count).map(|_| if random.random_bool(0.5) { Op::Read } else { Op::Write }).collect();
        let mut measured = Vec::new();
        for op in &ops {
            let p = if *op == Op::Read { spec.read_probability } else { spec.write_probability };
            let mut turns = 2.0 + random.random_range(-0.02..0.02);
            if random.random_bool(p) {
                turns += 1.0;
                while random.random_bool(1.0 - 1.0 / spec.mean_revolutions) {
                    turns += 1.0;
                }
            }
            if random.random_bool(0.05) {
                turns += if random.random_bool(0.5) { 1.0 } else { -1.0 };
            }
            if random.random_bool(late) {
                turns += random.random_range(0.0..12.0);
            }
            measured.push(Nanos((turns * PERIOD.0 as f64) as u64));
        }
        let model = LockedTimes {
            model: vec![Nanos(2 * PERIOD.0); count],
            on_media: vec![true; count],
            is_own_access: vec![true; count],
            positioning: vec![(Nanos::ZERO, Nanos::ZERO); count],
            tracking: Vec::new(),
        };
        Retries::of(&ops, &measured, &model, PERIOD)
    }

    #[test]
    fn ninety_five_intervals_of_a_hundred_hold_the_truth() {
        let mut random = Pcg64::seed_from_u64(3);
        let (mut asked, mut held) = ([0; 3], [0; 3]);
        for seed in 0..200 {
            let spec = SoftErrorsSpec {
                read_probability: random.random_range(0.002..0.02),
                write_probability: random.random_range(0.002..0.02),
                mean_revolutions: random.random_range(1.5..8.0),
            };
            let Some(found) = seen(seed, &spec, 0.0).found else { continue };
            let truth = [spec.read_probability, spec.write_probability, spec.mean_revolutions];
            let own = [found.read_probability, found.write_probability, Some(found.mean_revolutions)];
            for (which, (estimate, truth)) in own.into_iter().zip(truth).enumerate() {
                let (low, high) = estimate.unwrap().ci95;
                asked[which] += 1;
                held[which] += u32::from(low <= truth && truth <= high);
            }
        }
        assert!(asked[0] >= 190, "{asked:?} found");
        // 200 trials of an interval that holds 95 %: fewer than 182 has a chance of 1 in 100.
        assert!(
            held.iter().zip(asked).all(|(&held, asked)| held * 100 >= asked * 91),
            "{held:?} of {asked:?}"
        );
    }

    #[test]
    fn a_drive_that_never_retries_and_a_host_that_is_late_are_not_called_retries() {
        let never = SoftErrorsSpec { read_probability: 0.0, write_probability: 0.0, mean_revolutions: 1.0 };
        let quiet = seen(1, &never, 0.0);
        assert_eq!((quiet.found, quiet.writes.revolutions.len()), (None, 0));
        let upper = quiet.late_share().unwrap().ci95.1;
        assert!((0.0004..0.0007).contains(&upper), "3.7 of 6,000 at most, not {upper}");
        let called = (0..200).filter(|&seed| seen(seed, &never, 0.005).found.is_some()).count();
        assert!(called <= 20, "{called} of 200 times a late host passes for retries");
    }

    #[test]
    fn single_retries_alone_are_not_told_from_sectors_just_missed() {
        let single =
            SoftErrorsSpec { read_probability: 0.01, write_probability: 0.01, mean_revolutions: 1.0 };
        let found = seen(5, &single, 0.0).found;
        // One in twenty of them is a revolution off besides, and looks like two.
        if let Some(found) = found {
            assert!(found.mean_revolutions.ci95.0 < 1.2, "{found:?}");
        }
    }
}
