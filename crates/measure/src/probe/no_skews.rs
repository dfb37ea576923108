//! `tracks` and `zones` of a device whose tracks have no skews: from how far sectors lie apart follows how many make a turn, and that
//! tracks begin at every so many sectors shows by the revolution that a write over such a place loses.

use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::session::Session;
use crate::angles::spindle::{wrap, wrap_signed};
use crate::device::Access;
use crate::record::Role;
use crate::record::series::SEARCHING;
use crate::record::series::tracks::NO_SKEWS;
use crate::record::series::zones::{BEGINS, ENDS, TRACK, WALK};

/// The number of sectors in a turn is whole if it is this near to that.
const WHOLE: f64 = 0.1;
/// Turns over which it is measured.
const TURNS: f64 = 2.5;
/// An angle is as foreseen if it is off by less than this share of a sector, or by no more than so many standard deviations.
const SHARE_OF_A_SECTOR: f64 = 0.45;
const SIGMAS: f64 = 6.0;
/// The next place that is looked at lies so many times as far from the zone's beginning.
const FARTHER: u64 = 4;
/// No more zones are looked for.
const MOST_ZONES: u32 = 160;
/// A write is issued so long before its sector comes that its data are there, in turns, …
const AHEAD: f64 = 0.25;
/// … and one that takes so much longer than that has lost a revolution.
const LOST: f64 = 0.6;
/// Borders that must show at the start.
const BORDERS: u64 = 4;

/// Follows tracks from the first sector on, if such tracks begin there: borders as they are noted where skews show them.
pub(super) fn tracks(session: &mut Session<'_>, count: u64, noise: f64) -> Result<(), MeasureError> {
    if session.only_reads() {
        return Ok(());
    }
    let mut line = Line { series: NO_SKEWS, noise, session };
    let Some(sectors) = line.sectors_in_a_turn(0)? else { return Ok(()) };
    for track in 1..=BORDERS {
        if !line.is_border(track * sectors, sectors)? {
            return Ok(());
        }
    }
    let unit = line.session.unit();
    for track in 1..=count {
        for lba in [track * sectors - unit, track * sectors] {
            let guess = line.angle(lba, SEARCHING, None)?;
            line.session.angle((NO_SKEWS, track as i64), Role::Measure, lba, guess)?;
        }
    }
    Ok(())
}

/// Walks over zones from the first sector on, as far as each is of whole tracks.
pub(super) fn zones(session: &mut Session<'_>, noise: f64) -> Result<(), MeasureError> {
    let (mut first, mut before) = (0, None);
    for number in 0..MOST_ZONES {
        let mut line = Line { series: WALK + number, noise, session };
        let Some((run, end)) = line.zone(first, before.as_ref())? else { return Ok(()) };
        if end == session.sectors() {
            return Ok(());
        }
        (first, before) = (end, Some(run));
    }
    Ok(())
}

/// Sectors that lie evenly apart.
struct Line<'s, 'a> {
    session: &'s mut Session<'a>,
    series: u32,
    noise: f64,
}

impl Line<'_, '_> {
    /// How many sectors make a turn behind a sector: a whole number.
    fn sectors_in_a_turn(&mut self, first: u64) -> Result<Option<u64>, MeasureError> {
        let unit = self.session.unit();
        let mut finder = Finder::new(self.session, self.series, self.noise);
        let Some(mut slope) = finder.slope_at(first)? else { return Ok(None) };
        let Some(origin) = self.angle(first, SEARCHING, None)? else { return Ok(None) };
        let mut ahead = 16 * unit;
        loop {
            let way = ahead as f64 * slope;
            let foreseen = wrap(origin + way);
            let Some(angle) = self.angle(first + ahead, SEARCHING, Some(foreseen))? else { return Ok(None) };
            let off = wrap_signed(angle - foreseen);
            // What the slope was misread by grows with the distance: never so much that turns are miscounted.
            if off.abs() > 0.1 {
                return Ok(None);
            }
            slope = (way + off) / ahead as f64;
            if way > TURNS {
                break;
            }
            ahead *= 2;
        }
        let sectors = 1.0 / slope;
        let whole =
            (sectors - sectors.round()).abs() < WHOLE && (sectors.round() as u64).is_multiple_of(unit);
        Ok(whole.then_some(sectors.round() as u64))
    }

    /// Whether a track of so many sectors begins at a sector: a write over it loses a revolution, and writes beside it do not.
    fn is_border(&mut self, lba: u64, sectors: u64) -> Result<bool, MeasureError> {
        let unit = self.session.unit();
        if !self.loses(lba - unit, sectors)? {
            return Ok(false);
        }
        for beside in [unit, sectors / 3, sectors * 2 / 3] {
            let before = (lba - unit - beside.max(unit)) / unit * unit;
            if self.loses(before, sectors)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a write of two units loses a revolution between them. Most of three: any may be seen late.
    fn loses(&mut self, lba: u64, sectors: u64) -> Result<bool, MeasureError> {
        let unit = self.session.unit();
        let Some(angle) = self.angle(lba, SEARCHING, None)? else { return Ok(false) };
        let least = self.session.least.unwrap_or(0.5);
        let mode = self.session.mode;
        let two = Access { mode, lba, sectors: (2 * unit) as u32 };
        let mut lost = 0;
        for _ in 0..3 {
            self.session.wait_phase(wrap(angle - least - AHEAD))?;
            let Some(window) = self.session.take((self.series, SEARCHING), Role::Position, two)? else {
                return Ok(false);
            };
            let spindle = self.session.spindle()?;
            let took = spindle.turns((window.end - window.start).as_ms());
            lost += u32::from(took > least + AHEAD + unit as f64 / sectors as f64 + LOST);
        }
        Ok(lost > 1)
    }

    /// The zone that begins at a sector, and the sector behind it; `None` where none of whole tracks begins or ends there.
    fn zone(&mut self, first: u64, before: Option<&Run>) -> Result<Option<(Run, u64)>, MeasureError> {
        let Some(sectors) = self.sectors_in_a_turn(first)? else { return Ok(None) };
        let Some(angle) = self.angle(first, BEGINS, None)? else { return Ok(None) };
        // A zone that begins elsewhere on the turn than tracks did before loses less than a revolution.
        let turned = before.is_some_and(|before| !self.is_as_foreseen(before, first, angle));
        let begins = first == 0 || turned || self.is_border(first, sectors)?;
        if !begins || !self.is_border(first + sectors, sectors)? {
            return Ok(None);
        }
        let run = Run { first, angle, sectors };
        let room = self.session.sectors() - first;
        let tracks = self.grow(&run, room / sectors)?;
        let end = first + tracks * sectors;
        let unit = self.session.unit();
        let ends = end == self.session.sectors() || !self.agrees(&run, end + run.most_of_a_track(unit))?;
        if !ends || !self.agrees(&run, end - unit)? {
            return Ok(None);
        }
        self.angle(first + sectors, TRACK, Some(angle))?;
        self.angle(end - unit, ENDS, Some(run.foreseen(end - unit)))?;
        Ok(Some((run, end)))
    }

    /// How many tracks it has, of so many at most: looked for farther and farther on, and then by halving.
    fn grow(&mut self, run: &Run, most: u64) -> Result<u64, MeasureError> {
        let (mut good, mut bad) = (0, most);
        loop {
            let next = (FARTHER * good).max(1).min(bad - 1);
            if next <= good {
                break;
            }
            if !self.holds(run, next)? {
                bad = next;
                break;
            }
            good = next;
        }
        while bad - good > 1 {
            let middle = u64::midpoint(good, bad);
            if self.holds(run, middle)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Ok(bad)
    }

    /// Whether two sectors of a track lie as foreseen: one alone may do by chance.
    fn holds(&mut self, run: &Run, track: u64) -> Result<bool, MeasureError> {
        let unit = self.session.unit();
        let start = run.first + track * run.sectors;
        Ok(self.agrees(run, start + run.sectors / 2 / unit * unit)?
            && self.agrees(run, start + run.most_of_a_track(unit))?)
    }

    fn agrees(&mut self, run: &Run, lba: u64) -> Result<bool, MeasureError> {
        let foreseen = run.foreseen(lba);
        let Some(angle) = self.angle(lba, SEARCHING, Some(foreseen))? else { return Ok(false) };
        Ok(self.is_as_foreseen(run, lba, angle))
    }

    fn is_as_foreseen(&self, run: &Run, lba: u64, angle: f64) -> bool {
        let share = SHARE_OF_A_SECTOR * self.session.unit() as f64 / run.sectors as f64;
        wrap_signed(angle - run.foreseen(lba)).abs() <= share.max(SIGMAS * self.noise)
    }

    fn angle(&mut self, lba: u64, step: i64, guess: Option<f64>) -> Result<Option<f64>, MeasureError> {
        if lba + self.session.unit() > self.session.sectors() {
            return Ok(None);
        }
        self.session.angle((self.series, step), Role::Measure, lba, guess)
    }
}

/// Tracks of one zone.
struct Run {
    first: u64,
    /// Where an access to its first sector ends, in turns.
    angle: f64,
    sectors: u64,
}

impl Run {
    fn foreseen(&self, lba: u64) -> f64 {
        wrap(self.angle + ((lba - self.first) % self.sectors) as f64 / self.sectors as f64)
    }

    fn most_of_a_track(&self, unit: u64) -> u64 {
        self.sectors * 5 / 6 / unit * unit
    }
}
