//! Following the spindle's phase from request to request.
//!
//! A Kalman filter of two states, phase and its rate of change, gives gains that decay from acquisition to tracking by
//! themselves. Around it stands what a filter alone does not survive: an error beyond a few standard deviations is
//! doubted and moves nothing, for a request that a cache answered has any phase; and when several doubted errors in a
//! row agree with each other, the phase has jumped, and the filter starts anew from them.
//!
//! Where the file's angles are wrong, or its speed, there is no one phase to follow, but a request near the last one is still as far off
//! as that was. So a record is kept of both predictions, and that of the last error is taken where it has been clearly better.
//!
//! To be calibrated for a drive: nothing; the noise is estimated. The defaults of [`TrackerOptions`] suit observations
//! some ten to some hundred milliseconds apart.

use crate::kernel::{mode, wrap};
use headstack_units::Nanos;
use std::collections::VecDeque;

/// How a [`Tracker`] judges.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackerOptions {
    /// Errors beyond so many standard deviations are doubted.
    pub gate_sigmas: f64,
    /// Standard deviation of an error before any is known, in turns.
    pub first_sigma_turns: f64,
    /// The least standard deviation that is believed, in turns.
    pub least_sigma_turns: f64,
    /// By how much the phase wanders in a second, in turns (standard deviation).
    pub wander_turns: f64,
    /// How far off the speed may be at first, in turns per second (standard deviation).
    pub speed_revolutions_per_s: f64,
    /// By how much the speed wanders in a second, in turns per second (standard deviation).
    pub speed_wander_turns_per_s: f64,
    /// Errors that must agree before they are followed, at first and after a jump.
    pub agreeing: usize,
    /// Zones whose first sectors' angles are to be learnt on the way, by number.
    pub learn_zones: Vec<u32>,
}

impl Default for TrackerOptions {
    fn default() -> Self {
        Self {
            gate_sigmas: 4.0,
            first_sigma_turns: 0.02,
            least_sigma_turns: 0.004,
            wander_turns: 0.003,
            speed_revolutions_per_s: 0.002,
            speed_wander_turns_per_s: 0.0001,
            agreeing: 3,
            learn_zones: Vec::new(),
        }
    }
}

/// What became of one error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It moved the phase a little.
    Followed,
    /// It was kept in mind and moved nothing.
    Doubted,
    /// With it the errors agreed for the first time.
    Acquired,
    /// With it the doubted errors agreed: the phase has jumped.
    Reacquired,
    /// It taught the angle of a zone that was not known.
    Learnt,
}

/// How the tracking goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrackerDiagnostics {
    /// Errors fed.
    pub errors: u64,
    /// Errors that were followed.
    pub followed: u64,
    /// How often the phase was found: 1 and one for each jump; 0 before the first.
    pub locks: u64,
    /// How often it was found anew after a jump.
    pub reacquisitions: u64,
    /// Standard deviation of the errors that are followed, in turns; robust.
    pub sigma_revolutions: f64,
    /// Mean cosine of the last hundred or so errors against their predictions, doubted ones included: 1 is perfect.
    pub resultant: f64,
    /// By how much the spindle turns faster than assumed, in turns per second.
    pub speed_revolutions_per_s: f64,
}

/// Doubted errors kept in mind.
const KEPT: usize = 8;
/// Share of a new error in the running means of the diagnostics and of the noise.
const SHARE: f64 = 0.02;
/// Share of a new error in the angle of a zone that is being learnt.
const ZONE_SHARE: f64 = 0.1;

/// The last error is the better prediction if it is off by less than this share of what the filter is. Where there is a phase to follow, it
/// is off by 1.4 times as much.
const CLEARLY_LESS: f64 = 0.85;

/// How far off two predictions have been: running means of the size of their errors, in turns.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    filter: f64,
    last: f64,
}

impl Record {
    fn note(&mut self, filter: f64, last: f64) {
        self.filter += SHARE * (filter.abs() - self.filter);
        self.last += SHARE * (last.abs() - self.last);
    }
}

/// An error set aside.
#[derive(Clone, Copy, Debug)]
struct Doubt {
    at: Nanos,
    turns: f64,
}

/// A zone whose angle is learnt.
#[derive(Clone, Debug)]
struct Learning {
    zone: u32,
    /// `None` until enough errors agree.
    turns: Option<f64>,
    seen: VecDeque<f64>,
}

/// The phase of a spindle against a model without one.
#[derive(Clone, Debug)]
pub struct Tracker {
    options: TrackerOptions,
    locked: bool,
    at: Nanos,
    /// In turns, and turns per second.
    phase: f64,
    speed: f64,
    /// Covariances of phase and speed: phase-phase, phase-speed, speed-speed.
    covariance: [f64; 3],
    sigma: f64,
    /// The last error, whatever it was, and how good a prediction such errors have been.
    last: f64,
    record: Record,
    doubts: VecDeque<Doubt>,
    zones: Vec<Learning>,
    diagnostics: TrackerDiagnostics,
}

impl Tracker {
    /// A tracker that has seen nothing.
    pub fn new(options: TrackerOptions) -> Self {
        let learning = |&zone: &u32| Learning { zone, turns: None, seen: VecDeque::new() };
        let zones = options.learn_zones.iter().map(learning).collect();
        Self {
            sigma: options.first_sigma_turns,
            covariance: [0.0, 0.0, options.speed_revolutions_per_s.powi(2)],
            options,
            locked: false,
            at: Nanos::ZERO,
            phase: 0.0,
            speed: 0.0,
            last: 0.0,
            record: Record::default(),
            doubts: VecDeque::new(),
            zones,
            diagnostics: TrackerDiagnostics::default(),
        }
    }

    /// The correction to add to the model's angle in `zone` at the instant `at`, in ±½ turn, from what was fed so far;
    /// 0 while nothing is known. `at` must not lie before the last error fed.
    pub fn predict(&self, at: Nanos, zone: u32) -> f64 {
        let known = if self.is_last_better() { self.last } else { self.filtered(at) };
        wrap(known + self.zone_turns(zone).unwrap_or(0.0))
    }

    /// How far off a prediction for `at` may be, as a standard deviation in turns; `None` while the phase is unknown.
    pub fn uncertainty(&self, at: Nanos) -> Option<f64> {
        self.locked.then(|| (self.predicted_covariance(at)[0] + self.sigma * self.sigma).sqrt())
    }

    /// Takes in the error of a request: the angle observed in `zone` at the instant `at` less the angle that the model
    /// has there without any correction, in turns. Instants must not go back.
    pub fn observe(&mut self, at: Nanos, zone: u32, error_turns: f64) -> Judgement {
        self.diagnostics.errors += 1;
        let unknown = self.zones.iter().any(|learning| learning.zone == zone && learning.turns.is_none());
        if unknown {
            return self.learn(at, zone, error_turns);
        }
        let turns = wrap(error_turns - self.zone_turns(zone).unwrap_or(0.0));
        let before = std::mem::replace(&mut self.last, turns);
        self.record.note(wrap(turns - self.filtered(at)), wrap(turns - before));
        if !self.locked {
            return self.acquire(at, turns, Judgement::Acquired);
        }
        let surprise = wrap(turns - self.phase_at(at));
        let mean = &mut self.diagnostics.resultant;
        *mean += SHARE * ((core::f64::consts::TAU * surprise).cos() - *mean);
        let covariance = self.predicted_covariance(at);
        let deviation = (covariance[0] + self.sigma * self.sigma).sqrt();
        if surprise.abs() > self.options.gate_sigmas * deviation {
            return self.acquire(at, turns, Judgement::Reacquired);
        }
        self.follow(at, surprise, covariance);
        self.refine_zone(zone, surprise);
        Judgement::Followed
    }

    /// How the tracking goes.
    pub fn diagnostics(&self) -> TrackerDiagnostics {
        TrackerDiagnostics {
            sigma_revolutions: self.sigma,
            speed_revolutions_per_s: self.speed,
            ..self.diagnostics
        }
    }

    /// The learnt angle of a zone, in ±½ turn against the model; `None` if it is not to be learnt or not yet known.
    pub fn zone_turns(&self, zone: u32) -> Option<f64> {
        self.zones.iter().find(|learning| learning.zone == zone)?.turns
    }

    /// Whether the last error has been clearly the better prediction: there is no one phase, or none was found.
    pub fn is_last_better(&self) -> bool {
        self.record.last < CLEARLY_LESS * self.record.filter
    }

    /// The phase by all errors so far.
    fn filtered(&self, at: Nanos) -> f64 {
        if self.locked {
            return self.phase_at(at);
        }
        // Before the phase is found, the errors so far are the best guess.
        let errors: Vec<f64> = self.doubts.iter().map(|doubt| doubt.turns).collect();
        mode(&errors).map_or(0.0, |(turns, _)| turns)
    }

    fn phase_at(&self, at: Nanos) -> f64 {
        self.phase + self.speed * at.saturating_sub(self.at).as_s()
    }

    fn predicted_covariance(&self, at: Nanos) -> [f64; 3] {
        let seconds = at.saturating_sub(self.at).as_s();
        let [phase, both, speed] = self.covariance;
        let wander = self.options.wander_turns.powi(2) * seconds;
        let speed_wander = self.options.speed_wander_turns_per_s.powi(2) * seconds;
        [
            phase
                + 2.0 * seconds * both
                + seconds * seconds * speed
                + wander
                + speed_wander * seconds.powi(2) / 3.0,
            both + seconds * speed + speed_wander * seconds / 2.0,
            speed + speed_wander,
        ]
    }

    fn follow(&mut self, at: Nanos, surprise: f64, [phase, both, speed]: [f64; 3]) {
        let total = phase + self.sigma * self.sigma;
        let (phase_gain, speed_gain) = (phase / total, both / total);
        self.phase = wrap(self.phase_at(at) + phase_gain * surprise);
        self.speed += speed_gain * surprise;
        self.covariance =
            [(1.0 - phase_gain) * phase, (1.0 - phase_gain) * both, (speed - speed_gain * both).max(0.0)];
        self.at = at;
        self.doubts.clear();
        self.diagnostics.followed += 1;
        // The mean size of a normal error is 0.798 standard deviations; clipped, so that no single one counts much.
        let size = (surprise.abs() / 0.798).min(3.0 * self.sigma);
        self.sigma = (self.sigma + SHARE * (size - self.sigma)).max(self.options.least_sigma_turns);
    }

    /// Keeps the error in mind; starts from the doubted ones once most of them agree.
    fn acquire(&mut self, at: Nanos, turns: f64, found: Judgement) -> Judgement {
        if self.doubts.len() == KEPT {
            self.doubts.pop_front();
        }
        self.doubts.push_back(Doubt { at, turns });
        // All as they would be now: the speed is known better than the phase.
        let speed = self.speed;
        let now = |doubt: &Doubt| doubt.turns + speed * at.saturating_sub(doubt.at).as_s();
        let errors: Vec<f64> = self.doubts.iter().map(now).collect();
        let Some((start, _)) = mode(&errors) else { return Judgement::Doubted };
        let reach = 2.0 * self.sigma.max(self.options.first_sigma_turns / 2.0);
        let agreeing: Vec<f64> =
            errors.iter().map(|turns| wrap(turns - start)).filter(|off| off.abs() <= reach).collect();
        let latest = errors.last().is_some_and(|turns| wrap(turns - start).abs() <= reach);
        if !latest || agreeing.len() < self.options.agreeing || 2 * agreeing.len() < errors.len() {
            return Judgement::Doubted;
        }
        self.phase = wrap(start + agreeing.iter().sum::<f64>() / agreeing.len() as f64);
        self.at = at;
        let known = self.covariance[2].max(self.options.speed_wander_turns_per_s.powi(2));
        self.covariance = [self.sigma * self.sigma / agreeing.len() as f64, 0.0, known];
        self.locked = true;
        self.doubts.clear();
        self.diagnostics.locks += 1;
        self.diagnostics.reacquisitions += u64::from(found == Judgement::Reacquired);
        found
    }

    /// An error in a zone whose angle is not known yet: says nothing about the phase.
    fn learn(&mut self, at: Nanos, zone: u32, error_turns: f64) -> Judgement {
        if !self.locked {
            return Judgement::Doubted;
        }
        let off = wrap(error_turns - self.phase_at(at));
        let (needed, reach) =
            (self.options.agreeing, 3.0 * self.sigma.max(self.options.first_sigma_turns / 2.0));
        let Some(learning) = self.zones.iter_mut().find(|learning| learning.zone == zone) else {
            return Judgement::Doubted;
        };
        if learning.seen.len() == KEPT {
            learning.seen.pop_front();
        }
        learning.seen.push_back(off);
        let seen: Vec<f64> = learning.seen.iter().copied().collect();
        let Some((start, _)) = mode(&seen) else { return Judgement::Doubted };
        if seen.iter().filter(|&&off| wrap(off - start).abs() <= reach).count() < needed {
            return Judgement::Doubted;
        }
        learning.turns = Some(wrap(start));
        Judgement::Learnt
    }

    /// Keeps a learnt zone's angle up to date, slowly.
    fn refine_zone(&mut self, zone: u32, surprise: f64) {
        let learning = self.zones.iter_mut().find(|learning| learning.zone == zone);
        if let Some(turns) = learning.and_then(|learning| learning.turns.as_mut()) {
            *turns = wrap(*turns + ZONE_SHARE * surprise);
        }
    }
}
