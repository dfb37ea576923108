//! The least time from one place to another: the second access is issued so that its sector comes ever sooner, until it is
//! missed by a turn. Halving finds the border as exactly as the clock shows it, whatever the sectors' size.

use super::landing::{Landing, least_turns};
use super::session::Session;
use super::spindle::{wrap, wrap_signed};
use super::tolerance::OFF_ANGLE;
use crate::MeasureError;
use crate::device::Mode;
use crate::record::Role;

/// The border is known this well, in turns; …
const FINEST: f64 = 1.0 / 16_384.0;
/// … and this well where writes are cached and the clock shows it: of many that may go to the media next, the one that does is told
/// by nanoseconds.
const FINEST_BEHIND_CACHE: f64 = 1.0 / 2_097_152.0;
/// The clock shows this many times what it is off.
const TIMES_NOISE: f64 = 4.0;
/// It lies this near to where it was foreseen, in turns, or is looked for everywhere.
const AROUND: f64 = 0.015;
/// From the end of the first access to the issue of the second, in turns, at least.
const ISSUED_AFTER: f64 = 0.02;
/// A sector surely on time is so far ahead at issue, in turns; on the track of the first access, which must lie behind it,
/// somewhat less far.
const SURELY: f64 = 0.995;
const SURELY_BEHIND: f64 = 0.7;
/// Where a bracket is divided, and where else if nothing is told there.
const SHARES: [f64; 3] = [0.5, 0.3, 0.7];
/// How often a trial is made again that the cache answered; where whole tracks are read, those that it does not answer are few.
const TRIES: u32 = 6;
const TRIES_IN_WHOLE_TRACKS: u32 = 40;
/// Where on its track the first access may lie: from here, as a share, …
const FIRST: f64 = 0.03;
/// … to where what is read ahead reaches the track's end with so much to spare when the next command has been processed.
const SPARE: f64 = 0.15;
const MOST_LEAST: f64 = 0.5;

const MOST_OF_A_TRACK: f64 = 0.9;

/// From where to where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// The head is brought here first.
    pub(crate) from: u64,
    /// The sector aimed at; reads aim at those before it, too, one after the other.
    pub(crate) to: u64,
    /// How the sector is accessed.
    pub(crate) mode: Mode,
    /// Angle from one sector to the next, in turns.
    pub(crate) slope: f64,
    /// Sectors before `to` on its track.
    pub(crate) room: u64,
    /// Whether those are certainly on its track.
    pub(crate) sure: bool,
    /// First sector of the track that `from` is on, and its sectors, where known.
    pub(crate) start: Option<(u64, u64)>,
    /// The least time that is foreseen, in turns.
    pub(crate) foreseen: Option<f64>,
}

/// Where the border between on time and missed lies.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    /// A gap too small.
    late: f64,
    /// A gap large enough.
    early: f64,
    /// Whole turns that an access on time takes beyond the gap.
    on_time: i64,
}

struct Search<'s, 'a> {
    session: &'s mut Session<'a>,
    key: (u32, i64),
    way: Way,
    /// Angle of `to`, in turns.
    angle: f64,
    /// Angle of the first sector of the track to start from, in turns.
    start: Option<f64>,
    trials: u64,
    landings: Vec<Landing>,
}

/// The least time from issue to completion, in turns; `None` where it cannot be found.
pub(crate) fn least(
    session: &mut Session<'_>,
    key: (u32, i64),
    way: Way,
) -> Result<Option<f64>, MeasureError> {
    let kept = session.mode;
    if way.from.max(way.to) + session.unit() > session.sectors() {
        return Ok(None);
    }
    let way = if session.only_reads() && session.memory.keeps.others > 0 {
        way
    } else {
        Way { start: None, ..way }
    };
    let mut placed = on_one_track(session, key, way)?;
    if placed.is_none() && session.only_reads() {
        // Nearly a whole track cannot be moved past a border.
        placed = on_one_track(session, key, Way { room: way.room / 3, ..way })?;
    }
    let Some((way, angle)) = placed else { return Ok(None) };
    let start = match way.start {
        Some((first, _)) => measured_angle(session, (key.0, key.1), first, Mode::Read, Role::Position)?,
        None => None,
    };
    // Where the target itself was just read, its neighbours come first.
    let trials = u64::from(session.only_reads());
    let mut search = Search { session, key, way, angle, start, trials, landings: Vec::new() };
    let done = search.halve();
    let landings = std::mem::take(&mut search.landings);
    session.mode = kept;
    done?;
    Ok(least_turns(&landings).map(|(turns, _)| turns))
}

/// The way, moved by a part of a track where the sectors aimed at would not all lie on one, and the target's angle.
fn on_one_track(
    session: &mut Session<'_>,
    key: (u32, i64),
    way: Way,
) -> Result<Option<(Way, f64)>, MeasureError> {
    let unit = session.unit();
    let mut way = way;
    for _ in 0..3 {
        let Some(angle) = measured_angle(session, key, way.to, way.mode, Role::Angle)? else {
            return Ok(None);
        };
        if way.sure || way.mode.is_write() || way.room < 2 * unit || way.slope <= 0.0 {
            return Ok(Some((way, angle)));
        }
        let low = way.to - way.room / unit * unit;
        let lower = measured_angle(session, key, low, way.mode, Role::Angle)?;
        let Some(lower) = lower else { return Ok(None) };
        let off = wrap_signed(angle - lower - (way.to - low) as f64 * way.slope);
        if off.abs() < (0.5 * unit as f64 * way.slope).max(0.004).max(5.0 * session.noise) {
            return Ok(Some((way, angle)));
        }
        // Beyond the border that lies between them, but not beyond the next.
        way.to += way.room / unit * unit;
    }
    Ok(None)
}

/// The angle of a sector, as accesses of this mode show it.
fn measured_angle(
    session: &mut Session<'_>,
    key: (u32, i64),
    lba: u64,
    mode: Mode,
    role: Role,
) -> Result<Option<f64>, MeasureError> {
    let kept = session.mode;
    session.mode = mode;
    let repetitions = session.repetitions;
    session.repetitions = if mode.is_write() || session.only_reads() { repetitions } else { 3 };
    let angle = session.angle(key, role, lba, None);
    session.mode = kept;
    session.repetitions = repetitions;
    angle
}

impl Search<'_, '_> {
    /// One try with the sector `gap` turns ahead at issue: the whole turns it took beyond the gap.
    fn trial(&mut self, gap: f64) -> Result<Option<i64>, MeasureError> {
        let tries = if self.same_track() && self.session.memory.keeps.before > 0 {
            TRIES_IN_WHOLE_TRACKS
        } else {
            TRIES
        };
        for _ in 0..tries {
            let back = self.back(gap);
            self.trials += 1;
            let sector = wrap(self.angle - back as f64 * self.way.slope);
            let kept = self.session.mode;
            let from = self.from(wrap(sector - gap));
            if self.session.only_reads() {
                self.session.clear(self.key, &[from, self.way.to - back])?;
            }
            let Some(_) = self.session.touch(self.key, Role::Position, from, None)? else {
                return Ok(None);
            };
            self.session.wait_phase(wrap(sector - gap))?;
            let access = self.session.one(self.way.mode, self.way.to - back);
            self.session.mode = kept;
            let Some(window) = self.session.take(self.key, Role::Measure, access)? else { continue };
            let latency_ms = (window.end - window.start).as_ms();
            if !self.way.mode.is_write() && self.session.hits.contain(latency_ms) {
                self.session.answered(self.key)?;
                continue;
            }
            let spindle = self.session.spindle()?;
            let issued = spindle.phase(window.start);
            if let Some(landing) = Landing::of(issued, sector, spindle.turns(latency_ms), OFF_ANGLE) {
                self.landings.push(landing);
                return Ok(Some((landing.turns - wrap(sector - issued)).round() as i64));
            }
        }
        Ok(None)
    }

    /// By how many sectors to aim before the target. A read is not repeated: the cache would answer. Downwards, so that what is
    /// read ahead does not hold the next one; and so that the sector to start from lies well within its track.
    fn back(&self, gap: f64) -> u64 {
        if self.way.mode.is_write() {
            return 0;
        }
        let unit = self.session.unit();
        let places = (self.way.room / unit).max(1);
        let backs = (0..places).map(|further| (self.trials + further) % places * unit);
        let issue = |back: u64| wrap(self.angle - back as f64 * self.way.slope - gap);
        let mut best = (0, f64::INFINITY);
        for back in backs {
            let off = self.ahead(issue(back)).map_or(0.0, |ahead| (FIRST - ahead).max(ahead - self.last()));
            if off < best.1 {
                best = (back, off);
            }
            if off <= 0.0 {
                break;
            }
        }
        best.0
    }

    /// How far on its track the first access may lie, so that what is read ahead stays there while the next command is
    /// processed.
    fn last(&self) -> f64 {
        1.0 - self.session.least.unwrap_or(0.0).min(MOST_LEAST) - SPARE
    }

    /// Where the head is when the first access ends just before the next one is issued, as a share of the track to start from,
    /// where that track is known.
    fn ahead(&self, issue: f64) -> Option<f64> {
        self.start.map(|angle| wrap(issue - angle - ISSUED_AFTER))
    }

    /// The sector to start from: where its track is known, one that ends just before the next access is issued, before what is
    /// read ahead has taken the head elsewhere.
    fn from(&self, issue: f64) -> u64 {
        let (Some((first, sectors)), Some(ahead)) = (self.way.start, self.ahead(issue)) else {
            return self.way.from;
        };
        let unit = self.session.unit();
        first + (ahead.min(MOST_OF_A_TRACK) * sectors as f64) as u64 / unit * unit
    }

    fn same_track(&self) -> bool {
        self.way.start.is_some_and(|(first, sectors)| (first..first + sectors).contains(&self.way.to))
    }

    /// The bracket around what is foreseen, if the border lies in it.
    fn foreseen(&mut self) -> Result<Option<Bracket>, MeasureError> {
        let Some(least) = self.way.foreseen else { return Ok(None) };
        let (late, early) = (wrap(least) - AROUND, wrap(least) + AROUND);
        if late <= 0.0 || early >= self.most().0 {
            return Ok(None);
        }
        let (Some(on_time), Some(missed)) = (self.trial(early)?, self.trial(late)?) else { return Ok(None) };
        let holds = on_time == least.floor() as i64 && missed == on_time + 1;
        Ok(holds.then_some(Bracket { late, early, on_time }))
    }

    /// The largest bracket.
    fn anywhere(&mut self) -> Result<Option<Bracket>, MeasureError> {
        let (most, end) = self.most();
        // Twice: an access seen late by chance would make every other one look on time.
        let (Some(first), Some(second)) = (self.trial(most)?, self.trial(most)?) else { return Ok(None) };
        Ok(Some(Bracket { late: 0.0, early: end, on_time: first.min(second) }))
    }

    /// A gap that is surely large enough, and where gaps end.
    fn most(&self) -> (f64, f64) {
        if self.same_track() { (SURELY_BEHIND, SURELY_BEHIND) } else { (SURELY, 1.0) }
    }

    /// A trial between two gaps, about in the middle: one of which the latency is that of a hit tells nothing, but its neighbours
    /// do.
    fn between(&mut self, late: f64, early: f64) -> Result<Option<(f64, i64)>, MeasureError> {
        for share in SHARES {
            let gap = late + share * (early - late);
            if let Some(turns) = self.trial(gap)? {
                return Ok(Some((gap, turns)));
            }
        }
        Ok(None)
    }

    /// How well the border is to be known, in turns.
    fn finest(&self) -> f64 {
        if self.session.mode == Mode::WriteForced {
            (TIMES_NOISE * self.session.noise).clamp(FINEST_BEHIND_CACHE, FINEST)
        } else {
            FINEST
        }
    }

    fn halve(&mut self) -> Result<(), MeasureError> {
        let finest = self.finest();
        let mut foreseen = self.foreseen()?;
        for _ in 0..3 {
            let bracket = match foreseen.take() {
                Some(bracket) => Some(bracket),
                None => self.anywhere()?,
            };
            let Some(Bracket { mut late, mut early, on_time }) = bracket else { return Ok(()) };
            let end = self.most().1;
            while early - late > finest {
                let Some((gap, turns)) = self.between(late, early)? else { return Ok(()) };
                if turns > on_time {
                    late = gap;
                } else {
                    early = gap;
                }
            }
            // An access seen late by chance would have led astray.
            let width = 2.0 * (early - late);
            let behind = self.trial((early + width).min(end - 0.001))?;
            let before = self.trial((late - width).max(0.0))?;
            if behind == Some(on_time) && before.is_some_and(|turns| turns > on_time || late == 0.0) {
                return Ok(());
            }
        }
        Ok(())
    }
}
