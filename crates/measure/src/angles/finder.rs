//! Finds where tracks begin: along a track the angle grows evenly with the address; where the track ends, it jumps by the
//! skew.

use super::median::median;
use super::session::Session;
use super::spindle::{wrap, wrap_signed};
use super::tolerance::{BENT, STRAIGHT};
use crate::MeasureError;
use crate::record::Role;
use crate::record::series::SEARCHING;
use std::collections::BTreeMap;

/// No track is shorter; what looks like it are answers of a cache.
const SHORTEST_UNITS: u64 = 8;

/// Jumps are of one kind that differ by less than this, in turns.
const SAME_JUMP: f64 = 2e-4;

/// A search in one region of the device.
pub(crate) struct Finder<'s, 'a> {
    pub(crate) session: &'s mut Session<'a>,
    pub(super) series: u32,
    pub(super) unit: u64,
    /// Standard deviation of a measured angle, in turns.
    noise: f64,
    angles: BTreeMap<u64, f64>,
    /// By how much angles jumped from track to track last, of each of two kinds, in turns.
    pub(crate) jumps: Vec<f64>,
    /// Whether the borders that were found are measured once more.
    confirms: bool,
    /// The record's first sample of this search.
    pub(super) since: usize,
}

/// Consecutive tracks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// First sectors of the tracks, and of the one behind the last.
    pub(crate) firsts: Vec<u64>,
    /// Angle from one sector to the next, in turns.
    pub(crate) slope: f64,
}

impl Run {
    /// Sectors of the longest track.
    pub(crate) fn most_sectors(&self) -> u64 {
        self.firsts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }
}

impl<'s, 'a> Finder<'s, 'a> {
    pub(crate) fn new(session: &'s mut Session<'a>, series: u32, noise: f64) -> Self {
        let (unit, since) = (session.unit(), session.record.samples.len());
        Self {
            session,
            series,
            unit,
            noise,
            angles: BTreeMap::new(),
            jumps: Vec::new(),
            confirms: true,
            since,
        }
    }

    /// The same where tracks were followed before: they may jump as those did.
    pub(crate) fn behind(self, jumps: Vec<f64>) -> Self {
        Self { jumps, ..self }
    }

    /// The same for very many tracks: what was measured of their borders is noted as theirs, not measured once more, unless noise asks
    /// for it.
    pub(crate) fn at_once(self) -> Self {
        Self { confirms: self.session.repetitions > 2, ..self }
    }

    /// The angle of a sector; `None` where it cannot be accessed.
    pub(crate) fn angle(&mut self, lba: u64, guess: Option<f64>) -> Result<Option<f64>, MeasureError> {
        self.foreseen(lba, guess, guess.as_slice())
    }

    /// The angle of a sector that lies on a line, or behind the next border.
    fn angle_near(&mut self, lba: u64, on_line: f64) -> Result<Option<f64>, MeasureError> {
        let behind = self.jumps.iter().map(|jump| wrap(on_line + jump));
        let foreseen: Vec<f64> = std::iter::once(on_line).chain(behind).collect();
        self.foreseen(lba, Some(on_line), &foreseen)
    }

    /// The angle of a sector that is foreseen to be one of some.
    fn foreseen(
        &mut self,
        lba: u64,
        guess: Option<f64>,
        foreseen: &[f64],
    ) -> Result<Option<f64>, MeasureError> {
        if let Some(&angle) = self.angles.get(&lba) {
            return Ok(Some(angle));
        }
        if lba + self.unit > self.session.sectors() {
            return Ok(None);
        }
        let key = (self.series, SEARCHING);
        let angle = self.session.foreseen_angle(key, Role::Measure, lba, (guess, foreseen))?;
        if let Some(angle) = angle {
            self.angles.insert(lba, angle);
        }
        Ok(angle)
    }

    /// What an angle may be off a straight line: more than a slipped sector, less than a skew.
    pub(crate) fn tolerance(&self, slope: f64) -> f64 {
        (1.6 * slope * self.unit as f64).max(8.0 * self.noise)
    }

    /// The slope at a sector, from those behind it.
    pub(crate) fn slope_at(&mut self, lba: u64) -> Result<Option<f64>, MeasureError> {
        let mut differences = Vec::new();
        // Downwards where what is read ahead would answer.
        let down = self.session.only_reads();
        let unit = self.unit;
        let at = |index: u64| lba + if down { 16 - index } else { index } * unit;
        let mut before = self.angle(at(0), None)?;
        for index in 1..=16 {
            let guess = before;
            let here = self.angle(at(index), guess)?;
            if let (Some(a), Some(b)) = (before, here) {
                differences.push(wrap_signed(if down { a - b } else { b - a }));
            }
            before = here;
        }
        let slope = median(&differences) / self.unit as f64;
        Ok((slope > 0.0 && differences.len() > 4).then_some(slope))
    }

    /// The first sector of the next track behind `lba`, and the slope before it; `None` where no jump shows within a turn.
    pub(crate) fn next_track(
        &mut self,
        lba: u64,
        hint: Option<f64>,
    ) -> Result<Option<(u64, f64)>, MeasureError> {
        if let Some(slope) = hint
            && let Some(found) = self.search(lba, (slope, 0.6), STRAIGHT)?
        {
            return Ok(Some(found));
        }
        let Some(slope) = self.slope_at(lba)? else { return Ok(None) };
        let uncertain = (4.0 * self.noise / (8.0 * slope * self.unit as f64)).clamp(0.02, 0.6);
        // A slipped sector bends the line: then less straight ones count, too.
        for bend in [STRAIGHT, BENT] {
            if let Some(found) = self.search(lba, (slope, uncertain), bend)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Walks along a line whose slope is known up to a share `uncertain`, until the angle leaves it.
    fn search(
        &mut self,
        lba: u64,
        (slope, uncertain): (f64, f64),
        bend: f64,
    ) -> Result<Option<(u64, f64)>, MeasureError> {
        let (mut slope, mut uncertain) = (slope, uncertain);
        let Some(origin) = self.angle(lba, None)? else { return Ok(None) };
        let unit = self.unit;
        let aligned = |sectors: f64| ((sectors / unit as f64).round() as u64).max(1) * unit;
        let mut reach = 0_u64;
        let mut stride = aligned(0.05 / slope);
        loop {
            let far = lba + reach + stride;
            if far + unit > self.session.sectors() {
                return Ok(None);
            }
            let way = (far - lba) as f64 * slope;
            let tolerance = self.tolerance(slope) + uncertain * way;
            let predicted = wrap(origin + way);
            let Some(angle) = self.angle_near(far, predicted)? else { return Ok(None) };
            let off = wrap_signed(angle - predicted);
            if off.abs() > tolerance {
                return self.bisect((lba, origin, slope, uncertain), lba + reach, far);
            }
            reach += stride;
            slope = (way + off) / reach as f64;
            if slope <= 0.0 || reach as f64 * slope > 1.1 {
                return Ok(None);
            }
            uncertain = (4.0 * self.noise / (reach as f64 * slope)).max(bend * unit as f64 / reach as f64);
            stride = aligned((reach as f64).min(0.25 / slope));
        }
    }

    /// Between a sector on the line and one off it.
    fn bisect(
        &mut self,
        (lba, origin, slope, uncertain): (u64, f64, f64, f64),
        on: u64,
        off: u64,
    ) -> Result<Option<(u64, f64)>, MeasureError> {
        let (mut on, mut off) = (on, off);
        while off - on > self.unit {
            let middle = on + (off - on) / self.unit / 2 * self.unit;
            let way = (middle - lba) as f64 * slope;
            let predicted = wrap(origin + way);
            let Some(angle) = self.angle_near(middle, predicted)? else { return Ok(None) };
            if wrap_signed(angle - predicted).abs() > self.tolerance(slope) + uncertain * way {
                off = middle;
            } else {
                on = middle;
            }
        }
        let (Some(before), Some(behind)) = (self.angle(on, None)?, self.angle(off, None)?) else {
            return Ok(None);
        };
        let jump = wrap_signed(behind - before - slope * self.unit as f64);
        let found = jump.abs() > 0.7 * self.tolerance(slope);
        if found {
            self.note_jump(jump);
        }
        Ok(found.then_some((off, slope)))
    }

    /// Up to `count` consecutive tracks, the first of them behind `lba`; fewer at the device's end or where the tracks cannot
    /// be told apart. Each track's borders are measured once more, with the track's number (from `number` on) as their step.
    pub(crate) fn tracks(
        &mut self,
        lba: u64,
        count: usize,
        hint: Option<f64>,
        number: i64,
    ) -> Result<Option<Run>, MeasureError> {
        if self.session.only_reads() && self.session.memory.keeps.others > 0 {
            return self.tracks_downwards(lba, count, hint, number);
        }
        let Some((first, slope)) = self.next_track(lba, hint)? else { return Ok(None) };
        let Some((second, slope)) = self.next_track(first, Some(slope))? else { return Ok(None) };
        let mut run = Run { firsts: vec![first], slope };
        self.confirm(first, number)?;
        self.extend(&mut run, second, count, number)?;
        if !self.confirms {
            self.tell(&run.firsts, number)?;
        }
        Ok(Some(run))
    }

    /// Continues a run with a track that begins at `next`, up to `count` tracks in all.
    pub(crate) fn extend(
        &mut self,
        run: &mut Run,
        next: u64,
        count: usize,
        number: i64,
    ) -> Result<(), MeasureError> {
        let mut next = next;
        let mut usual = next - run.firsts[run.firsts.len() - 1];
        loop {
            let length = next - run.firsts[run.firsts.len() - 1];
            if length < SHORTEST_UNITS * self.unit {
                return Ok(());
            }
            self.confirm(next, number + run.firsts.len() as i64)?;
            run.firsts.push(next);
            if run.firsts.len() > count {
                return Ok(());
            }
            usual = usual.max(length);
            if self.is_border(next, usual, run.slope)? {
                next += usual;
            } else if let Some((found, _)) = self.next_track(next, Some(run.slope))? {
                usual = found - next;
                next = found;
            } else {
                return Ok(());
            }
        }
    }

    /// Whether the track that begins at `first` has just `sectors` sectors.
    fn is_border(&mut self, first: u64, sectors: u64, slope: f64) -> Result<bool, MeasureError> {
        let (last, behind) = (first + sectors - self.unit, first + sectors);
        if behind + self.unit > self.session.sectors() {
            return Ok(false);
        }
        let Some(origin) = self.angle(first, None)? else { return Ok(false) };
        let on_line = wrap(origin + (sectors - self.unit) as f64 * slope);
        let Some(before) = self.angle(last, Some(on_line))? else { return Ok(false) };
        let further = before + slope * self.unit as f64;
        let Some(after) = self.angle_near(behind, wrap(further))? else { return Ok(false) };
        let tolerance = self.tolerance(slope);
        let jump = wrap_signed(after - further);
        let found = wrap_signed(before - on_line).abs() <= tolerance + 0.01 && jump.abs() > tolerance;
        if found {
            self.note_jump(jump);
        }
        Ok(found)
    }

    /// Keeps the last jumps of two kinds: those of heads and of cylinders.
    fn note_jump(&mut self, jump: f64) {
        let unlike = |other: &f64| wrap_signed(other - jump).abs() > SAME_JUMP;
        self.jumps.retain(unlike);
        self.jumps.insert(0, jump);
        self.jumps.truncate(2);
    }

    /// Measures the two sides of a border once more, as the borders of track `number`.
    fn confirm(&mut self, first: u64, number: i64) -> Result<(), MeasureError> {
        if !self.confirms {
            return Ok(());
        }
        for lba in [first - self.unit, first] {
            let guess = self.angles.get(&lba).copied();
            self.session.foreseen_angle(
                (self.series, number),
                Role::Measure,
                lba,
                (guess, guess.as_slice()),
            )?;
        }
        Ok(())
    }
}
