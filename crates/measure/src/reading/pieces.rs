//! Pieces: stretches of a zone in which tracks follow each other evenly, so that one angle tells all others. Where the drive
//! leaves tracks out, or a zone begins, another piece does; within one, sectors that were slipped move all behind them on by one.

use super::known::{Changes, Known};
use super::rotation;
use super::tracks::{self, Border};
use crate::angles::median::median;
use crate::angles::sighting::{Sighting, angle_of};
use crate::angles::spindle::{Spindle, wrap, wrap_signed};
use crate::record::series::angles::{ANCHOR, ANEW, FINDING, FIRST, LAST, REFERENCE, SLIPPED};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// An angle is as foreseen if it is off by less than this share of a sector …
const SHARE_OF_A_SECTOR: f64 = 0.45;
/// … or by no more than so many standard deviations of an angle.
const SIGMAS: f64 = 6.0;
/// Sectors that are slipped one behind the other: more are taken for tracks that are left out.
const MOST_SLIPPED: f64 = 64.0;
/// From one angle to another is less certain than one by this.
const TWO: f64 = std::f64::consts::SQRT_2;
/// A jump is of whole sectors if it misses that by less than this.
const WHOLE: f64 = 0.25;

/// How the tracks of a zone follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Format {
    /// The zone's number.
    pub(crate) zone: usize,
    /// Data sectors on a track.
    pub(crate) sectors_per_track: u64,
    /// Sectors in a turn, spares included.
    pub(crate) per_turn: f64,
    /// Skews in turns: from track to track, and where the rarer one takes its place.
    common: f64,
    rare: f64,
    /// Tracks after which it begins anew: a cylinder, or several that share spares; a group of cylinders along surfaces; or a
    /// single track.
    pub(crate) tracks: u64,
    /// Tracks between two changes of the rarer kind; those in which the arm moves on, where tracks run along surfaces.
    every: u64,
    along_surfaces: bool,
    /// From where the tracks begin to where they begin anew, in turns, and its standard error.
    period: f64,
    period_error: f64,
    /// Data sectors in so many tracks.
    pub(crate) sectors: u64,
    /// A sector at which they begin anew.
    pub(crate) anchor: u64,
    /// What an angle may be off what is foreseen, in turns.
    pub(crate) tolerance: f64,
    /// Standard deviation of an angle, in turns.
    noise: f64,
}

impl Format {
    /// Those of all zones of which enough is known.
    pub(crate) fn all(record: &Record, known: &Known) -> Vec<Self> {
        let Some(spindle) = known.spindle.filter(|_| !known.no_skews) else { return Vec::new() };
        let zones = 0..known.zones.len();
        zones.filter_map(|zone| Self::of(record, known, spindle, zone)).collect()
    }

    fn of(record: &Record, known: &Known, spindle: Spindle, number: usize) -> Option<Self> {
        let (zone, order) = (known.zones[number], known.order.as_ref()?);
        let mut borders =
            tracks::borders_within(record, (ProbeName::ZoneTracks, number as u32), &zone, spindle);
        if borders.is_empty() && known.zones.len() == 1 {
            borders.clone_from(&known.borders);
        }
        let changes = known.changes();
        let heads = u64::from(order.heads);
        let ends = changes == Changes::Alike && tracks::mark_behind_short(&mut borders, heads);
        let per_turn = borders.first()?.per_turn;
        let (common, rare) = tracks::skews(&borders);
        let whole = |skew: Option<tracks::Skew>| Some(skew?.whole_sectors(per_turn) / per_turn);
        let (common, sectors) = (whole(common)?, zone.sectors_per_track);
        let begins = || borders.iter().find(|border| border.rare).map(|border| border.first);
        let (rare, every, anchor) = match changes {
            // The two are alike in this zone, though not in others.
            Changes::HeadThenCylinder if rare.is_none() && tracks::span_cylinders(&borders, heads) => {
                (common, 1, borders.get(1)?.first)
            }
            Changes::HeadThenCylinder => (whole(rare)?, heads, begins()?),
            // Spares that cylinders end with tell where they do.
            Changes::Alike if ends => (common, heads, begins()?),
            Changes::CylinderThenHead => {
                let alike = rare.is_none() && order.by_times;
                (if alike { common } else { whole(rare)? }, order.group_cylinders, zone.first_lba)
            }
            Changes::CylinderOnly | Changes::Alike => (common, 1, borders.get(1)?.first),
            Changes::Unknown => return None,
        };
        let along_surfaces = changes == Changes::CylinderThenHead;
        let tracks = if along_surfaces { every * heads } else { every };
        let spares = if ends || changes == Changes::HeadThenCylinder { spares(&borders, sectors) } else { 0 };
        // From one group to the next the surface stays.
        let rarely = if along_surfaces { heads - 1 } else { 1 };
        let unit = record.head.device.unit() as f64;
        Some(Self {
            zone: number,
            sectors_per_track: sectors,
            per_turn,
            common,
            rare,
            tracks,
            every,
            along_surfaces,
            period: (tracks - rarely) as f64 * common + rarely as f64 * rare,
            period_error: period_error(&borders, (tracks - rarely, rarely), known.angle_noise),
            sectors: tracks * sectors - spares,
            anchor,
            tolerance: (SHARE_OF_A_SECTOR * unit / per_turn).max(SIGMAS * known.angle_noise),
            noise: known.angle_noise,
        })
    }

    /// The same where several cylinders share spares: they begin anew after so many sectors and turns.
    pub(crate) fn shared(&self, anchor: u64, sectors: u64, period: f64) -> Option<Self> {
        let tracks = sectors.div_ceil(self.sectors_per_track).next_multiple_of(self.every);
        // Without spares there is nothing to share: then tracks are left out, or another zone begins.
        let spares = tracks * self.sectors_per_track > sectors;
        let one = self.tracks == self.every && self.sectors == self.tracks * self.sectors_per_track;
        let fits = !self.along_surfaces && one && self.every > 1 && tracks > self.every && spares;
        let period_error = TWO * self.noise;
        fits.then(|| Self { tracks, period, period_error, sectors, anchor, ..self.clone() })
    }

    /// Tracks between two changes of the rarer kind.
    pub(crate) fn every(&self) -> u64 {
        self.every
    }

    /// Cylinders that share spares.
    pub(crate) fn cylinders(&self) -> u64 {
        if self.along_surfaces { 1 } else { self.tracks / self.every }
    }

    /// Data sectors of a track, on average: those behind which spares lie have fewer.
    pub(crate) fn mean_sectors(&self) -> f64 {
        self.sectors as f64 / self.tracks as f64
    }

    /// Whether tracks run along surfaces.
    pub(crate) fn runs_along(&self) -> bool {
        self.along_surfaces
    }

    /// The same with the skews of tracks that were followed elsewhere in the zone: neighbours with equally many sectors may differ in
    /// them. `None` where tracks do not begin anew there.
    pub(crate) fn of_tracks(&self, borders: &[Border]) -> Option<Self> {
        let mut borders = borders.to_vec();
        if self.every > 1 && self.common == self.rare {
            tracks::mark_behind_short(&mut borders, self.every);
        }
        let begins = |border: &&Border| border.rare || self.every == 1 && border.number > 0;
        let anchor = borders.iter().find(begins)?.first;
        let (common, rare) = tracks::skews(&borders);
        let whole = |skew: tracks::Skew| skew.whole_sectors(self.per_turn) / self.per_turn;
        let common = common.map_or(self.common, whole);
        let rare = if self.every == 1 { common } else { rare.map_or(self.rare, whole) };
        let (every, sectors) = (self.every, self.sectors_per_track);
        let period = (every - 1) as f64 * common + rare;
        let spares = if every > 1 { spares(&borders, sectors) } else { 0 };
        let sectors = every * sectors - spares;
        let period_error = period_error(&borders, (every - 1, 1), self.noise);
        Some(Self { anchor, common, rare, period, period_error, sectors, tracks: every, ..self.clone() })
    }

    /// Skews at a change of head, of cylinder, and what is added where other cylinders share spares, in turns, if tracks begin
    /// anew after `period` turns.
    pub(crate) fn skews(&self, period: f64) -> (f64, f64, f64) {
        let off = wrap_signed(period - self.period);
        match (self.along_surfaces, self.cylinders()) {
            (true, _) => {
                let surfaces = self.tracks / self.every;
                (self.rare, self.common + off / (self.tracks + 1 - surfaces) as f64, 0.0)
            }
            (false, 1) if self.every == 1 => (self.common + off, self.common + off, 0.0),
            (false, 1) => (self.common, self.rare + off, 0.0),
            (false, cylinders) => {
                let each = (self.every - 1) as f64 * self.common + self.rare;
                (self.common, self.rare, period - cylinders as f64 * each)
            }
        }
    }

    /// From the first track to the one so many behind it, in turns.
    fn turned(&self, track: u64) -> f64 {
        let rare = if self.every > 1 { track / self.every } else { 0 };
        (track - rare) as f64 * self.common + rare as f64 * self.rare
    }
}

/// Standard error of so many common skews and so many rare ones, in turns: what they are rounded by counts as one.
fn period_error(borders: &[Border], (commonly, rarely): (u64, u64), noise: f64) -> f64 {
    let per_turn = borders.first().map_or(1.0, |border| border.per_turn);
    let (common, rare) = tracks::skews(borders);
    let error = |skew: Option<tracks::Skew>| {
        let Some(skew) = skew else { return TWO * noise };
        let rounded = skew.whole_sectors(per_turn) / per_turn - skew.turns;
        skew.ci95_turns.map_or(TWO * noise, |ci95| ci95 / 1.96).hypot(rounded)
    };
    (commonly as f64 * error(common)).hypot(rarely as f64 * error(rare.or(common)))
}

/// Sectors that the last track of each cylinder has fewer than the others.
fn spares(borders: &[Border], sectors: u64) -> u64 {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    let last = borders.iter().filter(|border| border.rare);
    for length in last.filter_map(|border| border.sectors_before) {
        *counts.entry(length).or_default() += 1;
    }
    // One alone may have a slipped sector.
    let usual = counts.into_iter().max_by_key(|&(length, count)| (count, length));
    usual.filter(|usual| usual.1 > 1).map_or(0, |(length, _)| sectors.saturating_sub(length)).min(sectors / 2)
}

/// A piece.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) format: Format,
    /// First sector, and the one behind the last.
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// A sector at which tracks begin anew, and its angle, in turns.
    pub(crate) anchor: u64,
    pub(crate) angle: f64,
    /// From one beginning to the next, in turns, and how far that is off at most.
    pub(crate) period: f64,
    pub(crate) period_off: f64,
    /// Its standard error, in turns.
    pub(crate) period_error: f64,
    /// How many sectors were slipped just before one.
    pub(crate) slipped: BTreeMap<u64, u64>,
    /// Over how many periods it was followed.
    followed: u64,
}

impl Piece {
    pub(crate) fn new(format: &Format, anchor: u64, angle: f64) -> Self {
        let period = format.period;
        Self {
            format: format.clone(),
            first: anchor,
            end: anchor,
            anchor,
            angle,
            period,
            period_off: format.tolerance,
            period_error: format.period_error,
            slipped: BTreeMap::new(),
            followed: 0,
        }
    }

    /// The angle of a sector, foreseen.
    pub(crate) fn angle(&self, lba: u64) -> f64 {
        let slots = self.slots(lba);
        let periods = slots.div_euclid(self.format.sectors as i64);
        let within = slots.rem_euclid(self.format.sectors as i64) as u64;
        let track = (within / self.format.sectors_per_track).min(self.format.tracks - 1);
        let on_track = within - track * self.format.sectors_per_track;
        let turned = periods as f64 * self.period + self.format.turned(track);
        wrap(self.angle + turned + on_track as f64 / self.format.per_turn)
    }

    /// From the anchor to a sector, slipped ones included.
    pub(crate) fn slots(&self, lba: u64) -> i64 {
        let between = |low: u64, high: u64| -> i64 {
            let passed = self.slipped.iter().filter(|&(&at, _)| low < at && at <= high);
            passed.map(|(_, &count)| count as i64).sum()
        };
        lba as i64 - self.anchor as i64 + between(self.anchor, lba) - between(lba, self.anchor)
    }

    /// The first sector of a track next to a sector, behind it or before it.
    pub(crate) fn next_track(&self, lba: u64, forwards: bool) -> Option<u64> {
        let sectors = self.format.sectors_per_track as i64;
        let within = self.slots(lba).rem_euclid(self.format.sectors as i64) % sectors;
        let way = if forwards { sectors - within } else { -within };
        // Sectors at which a slip falls lie one off.
        lba.checked_add_signed(way)
    }

    /// By how much an angle misses what is foreseen, in turns.
    pub(crate) fn off(&self, lba: u64, angle: f64) -> f64 {
        wrap_signed(angle - self.angle(lba))
    }

    /// Whether an angle is as foreseen.
    pub(crate) fn agrees(&self, lba: u64, angle: f64) -> bool {
        self.off(lba, angle).abs() <= self.format.tolerance
    }

    /// From an angle farther off than all before the period is known the better: by as much as it tells more than what is known
    /// already. Through noise, what lies a few periods off tells less of it than the tracks that were followed.
    pub(crate) fn follow(&mut self, lba: u64, angle: f64) {
        let periods = self.slots(lba).div_euclid(self.format.sectors as i64);
        if periods.unsigned_abs() > self.followed {
            self.followed = periods.unsigned_abs();
            let error = TWO * self.format.noise / self.followed as f64;
            let known = self.period_error.powi(2);
            let share = if error > 0.0 { known / (known + error * error) } else { 1.0 };
            self.period += share * self.off(lba, angle) / periods as f64;
            self.period_error *= (1.0 - share).sqrt();
            self.period_off = self.format.tolerance / self.followed as f64;
        }
    }

    /// From its beginning to that of a piece behind it, in turns.
    pub(crate) fn turned_to(&self, other: &Self) -> f64 {
        wrap(other.angle(other.first) - self.angle(self.first))
    }

    /// How many sectors were slipped at a place where the angle jumps, as far as it is of whole sectors.
    pub(crate) fn slip(&self, jump: f64) -> Option<u64> {
        let sectors = jump * self.format.per_turn;
        let whole =
            (sectors - sectors.round()).abs() < WHOLE.max(self.format.tolerance * self.format.per_turn * 0.5);
        (whole && (0.5..MOST_SLIPPED).contains(&sectors)).then_some(sectors.round() as u64)
    }
}

/// The rotation as the probe `angles` saw it: a sector that it came back to all the time tells how its speed is off.
pub(crate) fn spindle(record: &Record) -> Option<Spindle> {
    let rough = rotation::spindle(record)?;
    let samples = record
        .of(ProbeName::Angles)
        .filter(|sample| sample.series == REFERENCE && sample.role == Role::Angle && sample.ok);
    let samples: Vec<&Sample> = samples.collect();
    let visits = samples.chunk_by(|a, b| a.step == b.step && a.step > 0);
    let seen: Vec<f64> = visits.map(|visit| came(visit, rough)).collect();
    let Some(&first) = seen.first() else { return Some(rough) };
    let mut period = rough.period_ns;
    // Longer and longer, so that turns are never miscounted.
    for power in 2.. {
        let count = (1 << power).min(seen.len());
        let points: Vec<(f64, f64)> = seen[..count]
            .iter()
            .map(|end| (((end - first) / period).round(), end - first))
            .map(|(turns, since)| (turns, since - turns * period))
            .collect();
        // The middle of all slopes between two of them: a few that are seen late do not count.
        let slopes: Vec<f64> = points
            .iter()
            .enumerate()
            .flat_map(|(place, a)| points[place + 1..].iter().map(move |b| (b.0 - a.0, b.1 - a.1)))
            .filter(|(turns, _)| *turns > 0.4 * points[points.len() - 1].0)
            .map(|(turns, misses)| misses / turns)
            .collect();
        period += median(&slopes);
        if count == seen.len() {
            break;
        }
    }
    Some(Spindle { period_ns: period })
}

/// When a sector that was measured several times came under the head, the first of them, in ns.
fn came(visit: &[&Sample], spindle: Spindle) -> f64 {
    let angle = angle_of(&visit.iter().map(|sample| Sighting::of(sample, spindle)).collect::<Vec<_>>());
    let off = wrap_signed(angle - spindle.phase(visit[0].end));
    visit[0].end.0 as f64 + off * spindle.period_ns
}

/// The pieces that the probe `angles` found, in the order of addresses.
pub(crate) fn pieces(record: &Record, known: &Known) -> Vec<Piece> {
    let Some(spindle) = spindle(record) else { return Vec::new() };
    let formats = Format::all(record, known);
    let mut series: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    // Reads that only make a cache forget bear the step of what they prepare, and lie anywhere.
    let measured = |sample: &&Sample| sample.role == Role::Measure && sample.ok && known.hits.leave(sample);
    for sample in record.of(ProbeName::Angles).filter(measured).filter(|sample| sample.series < REFERENCE) {
        series.entry(sample.series).or_default().push(sample);
    }
    let mut pieces: Vec<Piece> = series
        .iter()
        .filter_map(|(&series, samples)| piece((record, series), samples, &formats, known, spindle))
        .collect();
    // What was found in small parts before, and then as one, counts as one.
    pieces.sort_by_key(|piece| (piece.first, std::cmp::Reverse(piece.end)));
    let mut end = 0;
    pieces.retain(|piece| {
        let is_new = piece.end > end;
        end = end.max(piece.end);
        is_new
    });
    // What lies between two is not known: it goes with the one before, within a zone.
    for place in 1..pieces.len() {
        let (first, zone) = (pieces[place].first, pieces[place].format.zone);
        let begins = known.zones[zone].first_lba;
        let same = pieces[place - 1].format.zone == zone;
        pieces[place - 1].end = if same { first } else { known.zones[pieces[place - 1].format.zone].end_lba };
        if !same {
            pieces[place].first = begins;
        }
    }
    if let Some(first) = pieces.first_mut() {
        first.first = known.zones[first.format.zone].first_lba;
    }
    if let Some(last) = pieces.last_mut() {
        last.end = known.zones[last.format.zone].end_lba;
    }
    pieces
}

fn piece(
    (record, series): (&Record, u32),
    samples: &[&Sample],
    formats: &[Format],
    known: &Known,
    spindle: Spindle,
) -> Option<Piece> {
    let mut seen: BTreeMap<u64, Vec<Sighting>> = BTreeMap::new();
    for sample in samples {
        seen.entry(sample.lba).or_default().push(Sighting::of(sample, spindle));
    }
    let angles: BTreeMap<u64, f64> = seen.iter().map(|(&lba, seen)| (lba, angle_of(seen))).collect();
    let at = |step: i64| samples.iter().find(|sample| sample.step == step).map(|sample| sample.lba);
    let (anchor, first, last) = (at(ANCHOR)?, at(FIRST)?, at(LAST)?);
    let zone = known.zones.iter().rposition(|zone| zone.first_lba <= anchor)?;
    let format = formats.iter().find(|format| format.zone == zone)?;
    let followed =
        tracks::borders_within(record, (ProbeName::Angles, series + FINDING), &known.zones[zone], spindle);
    let local = format.of_tracks(&followed);
    let format = local.as_ref().unwrap_or(format);
    let angle = *angles.get(&anchor)?;
    let shared = at(ANEW)
        .and_then(|anew| format.shared(anchor, anew.checked_sub(anchor)?, wrap(angles.get(&anew)? - angle)));
    let mut piece = Piece::new(shared.as_ref().unwrap_or(format), anchor, angle);
    (piece.first, piece.end) = (first, last + 1);
    let slips: Vec<u64> = {
        let noted = samples.iter().filter(|sample| sample.step == SLIPPED).map(|sample| sample.lba);
        let mut slips: Vec<u64> = noted.collect();
        slips.sort_unstable();
        slips.dedup();
        slips
    };
    let unit = samples.iter().map(|sample| u64::from(sample.sectors)).max().unwrap_or(1);
    // From the anchor outwards: what lies nearer must be known before what lies farther off is told.
    let mut by_distance: Vec<u64> = angles.keys().copied().collect();
    by_distance.sort_unstable_by_key(|lba| lba.abs_diff(anchor));
    for lba in by_distance {
        if slips.contains(&lba)
            && let Some(before) = angles.get(&(lba - unit))
        {
            let jump =
                if lba > anchor { piece.off(lba, angles[&lba]) } else { -piece.off(lba - unit, *before) };
            if let Some(slip) = piece.slip(jump) {
                piece.slipped.insert(lba, slip);
            }
        }
        if (first..=last).contains(&lba) && piece.agrees(lba, angles[&lba]) {
            piece.follow(lba, angles[&lba]);
        }
    }
    Some(piece)
}
