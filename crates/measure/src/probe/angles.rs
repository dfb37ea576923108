//! `angles`: where on the turn sectors lie all over the device. Within a zone one angle tells all others, until the drive leaves
//! tracks or sectors out: from where the tracks begin anew, the probe goes farther and farther until an angle is not as foreseen,
//! and finds the place by halving.

use super::description::{Context, Probe, Writing};
use super::reference::Reference;
use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::session::Session;
use crate::angles::spindle::wrap;
use crate::reading::known::Known;
use crate::reading::pieces::{Format, Piece};
use crate::reading::rotation::Rotation;
use crate::reading::tracks;
use crate::reading::zones::Zone;
use crate::record::series::SEARCHING;
use crate::record::series::angles::{ANCHOR, ANEW, FINDING, FIRST, LAST, REFERENCE, SLIPPED};
use crate::record::{ProbeName, Role};

pub(super) static ANGLES: Probe = Probe {
    name: ProbeName::Angles,
    about: "angles of sectors all over the device: where zones begin, tracks left out, slipped sectors",
    needs: &[ProbeName::ZoneTracks],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| {
        let read = outlook.by_size(300.0, 5.0) * (1.0 + outlook.others);
        outlook.zones * outlook.revolutions(outlook.by_size(400.0, 60.0), read) * outlook.angles()
    },
    run,
};

/// No more pieces are looked for, and no more slips in one.
const MOST_PIECES: u32 = 160;
const MOST_SLIPS: usize = 100;
/// The next place that is looked at lies so many times as far from the anchor.
const FARTHER: u64 = 4;
/// A range of fewer tracks is not looked at by itself.
const LEAST_TRACKS: u64 = 3;
/// Cylinders share spares if so many times as many lie evenly.
const LEAST_SHARED: u64 = 4;
/// Where the same sector is measured again behind so many others, its angle tells how the speed was misread.
const REFERENCE_EVERY: u32 = 24;

fn run(session: &mut Session<'_>, _context: &Context) -> Result<(), MeasureError> {
    let known = Known::of(session.record);
    let formats = Format::all(session.record, &known);
    let (noise, rotation, zones) = (known.angle_noise, known.rotation, known.zones);
    let mut survey =
        Survey { noise, rotation, zones, series: 0, taken: 0, reference: None, origin_ns: 0.0, session };
    for format in &formats {
        let zone = survey.zones[format.zone];
        survey.range(format, (zone.first_lba, zone.end_lba))?;
    }
    Ok(())
}

struct Survey<'s, 'a> {
    session: &'s mut Session<'a>,
    noise: f64,
    rotation: Option<Rotation>,
    zones: Vec<Zone>,
    series: u32,
    /// Angles since the reference was measured.
    taken: u32,
    reference: Option<Reference>,
    /// When the anchor was measured: angles are told as they were then.
    origin_ns: f64,
}

impl Survey<'_, '_> {
    /// All pieces of a range of addresses.
    fn range(&mut self, format: &Format, range: (u64, u64)) -> Result<(), MeasureError> {
        let mut ranges = vec![range];
        let mut found: Vec<Piece> = Vec::new();
        while let Some((first, end)) = ranges.pop() {
            let short = end < first + LEAST_TRACKS * format.sectors_per_track;
            if short && (first, end) != range || self.series >= MOST_PIECES {
                continue;
            }
            let Some(format) = self.format(format, (first, end), range)? else { continue };
            let Some(piece) = self.piece(&format, format.anchor, (first, end))? else { continue };
            let (mut low, mut high) = (piece.first, piece.end);
            found.push(piece);
            if let Some(shared) = self.sharing(&format, &found, range)? {
                (low, high) = (shared.first, shared.end);
                // What it holds is not looked at again.
                ranges = ranges.into_iter().flat_map(|(a, b)| [(a, b.min(low)), (a.max(high), b)]).collect();
                ranges.retain(|(a, b)| a < b);
                found.clear();
                if (low, high) == range {
                    continue;
                }
            }
            if low > first {
                ranges.push((first, low));
            }
            if high < end {
                ranges.push((high.max(first), end));
            }
        }
        Ok(())
    }

    /// Where the last two pieces lie one behind the other and are alike, many may: several cylinders share spares. The piece that
    /// holds all of them.
    fn sharing(
        &mut self,
        format: &Format,
        found: &[Piece],
        (first, end): (u64, u64),
    ) -> Result<Option<Piece>, MeasureError> {
        let [.., a, b] = found else { return Ok(None) };
        let (a, b) = if a.first < b.first { (a, b) } else { (b, a) };
        let sectors = b.first - a.first;
        let alike = a.end == b.first && b.end - b.first == sectors && b.end < end;
        let shared = format.shared(a.first, sectors, a.turned_to(b)).filter(|_| alike);
        let Some(shared) = shared else { return Ok(None) };
        self.piece(&shared, a.first, (first, end))
    }

    /// How tracks follow each other in a range, and a sector in it at which they begin anew: as it is known, or as it is found by
    /// following some, next to what was looked at before.
    fn format(
        &mut self,
        format: &Format,
        (first, end): (u64, u64),
        whole: (u64, u64),
    ) -> Result<Option<Format>, MeasureError> {
        if (first..end).contains(&format.anchor) {
            return Ok(Some(format.clone()));
        }
        if format.runs_along() {
            return Ok(None);
        }
        let count = 2 * format.every() as usize + 3;
        let room = (count as u64 + 2) * format.sectors_per_track;
        let low = if first > whole.0 { first } else { end.saturating_sub(room).max(first) };
        let start = low.next_multiple_of(self.session.unit());
        let slope = 1.0 / format.per_turn;
        // Tracks as the finder notes them are no angles of this piece.
        let finding = self.series + FINDING;
        let mut finder = Finder::new(self.session, finding, self.noise);
        finder.tracks(start, count, Some(slope), 0)?;
        let spindle = self.session.spindle()?;
        let zone = &self.zones[format.zone];
        let borders =
            tracks::borders_within(self.session.record, (ProbeName::Angles, finding), zone, spindle);
        let found = format.of_tracks(&borders);
        Ok(found.filter(|format| (first..end).contains(&format.anchor)))
    }

    /// The piece around an anchor.
    fn piece(
        &mut self,
        format: &Format,
        anchor: u64,
        (first, end): (u64, u64),
    ) -> Result<Option<Piece>, MeasureError> {
        self.look_back()?;
        self.origin_ns = self.now_ns();
        let Some(angle) = self.angle(anchor, ANCHOR, None)? else { return Ok(None) };
        let (noise, rotation) = (self.noise, self.rotation);
        self.reference.get_or_insert_with(|| Reference::new(anchor, rotation, noise));
        let unit = self.session.unit();
        let mut piece = Piece::new(format, anchor, angle);
        if format.cylinders() > 1 {
            let anew = anchor + format.sectors;
            self.angle(anew, ANEW, Some(piece.angle(anew)))?;
        }
        piece.end = self.grow(&mut piece, (end - unit) / unit * unit)? + unit;
        piece.first = self.grow(&mut piece, first.next_multiple_of(unit))?;
        if format.cylinders() > 1 && piece.end - piece.first <= LEAST_SHARED * format.sectors {
            // The record then does not say where it begins and ends: it is none.
            self.series += 1;
            return Ok(None);
        }
        for (lba, step) in [(piece.first, FIRST), (piece.end - unit, LAST)] {
            let guess = piece.angle(lba);
            self.angle(lba, step, Some(guess))?;
        }
        self.series += 1;
        Ok(Some(piece))
    }

    /// From the anchor towards a limit, as far as angles are as foreseen: the last sector of which that is so.
    fn grow(&mut self, piece: &mut Piece, limit: u64) -> Result<u64, MeasureError> {
        let unit = self.session.unit();
        let forwards = limit > piece.anchor;
        let (anchor, mut good) = (piece.anchor, piece.anchor);
        let at = |distance: u64| {
            let lba = if forwards { anchor + distance } else { anchor.saturating_sub(distance) };
            lba / unit * unit
        };
        let most = limit.abs_diff(anchor);
        // In the middle of a track, a few sectors more or less change nothing.
        let half = piece.format.sectors_per_track / 2;
        let mut periods = 1;
        let mut next = at((half).min(most));
        let mut slips = 0;
        loop {
            if self.agrees(piece, next)? {
                good = next;
                if good == limit || good.abs_diff(anchor) >= most {
                    return Ok(good);
                }
            } else {
                let known = piece.period_error;
                let bad = self.border(piece, good, next)?;
                // Where it was followed farther on the way there, it may be as foreseen after all.
                if piece.period_error < known && self.agrees(piece, bad)? {
                    good = bad;
                    if good == limit {
                        return Ok(good);
                    }
                    continue;
                }
                good = if forwards { bad - unit } else { bad + unit };
                let passed = self.pass(piece, good, bad)?;
                slips += 1;
                if !passed || slips > MOST_SLIPS {
                    return Ok(good);
                }
                good = bad;
                // What lies behind it is looked at once more.
                periods = (good.abs_diff(anchor) / piece.format.sectors).max(1) / FARTHER;
            }
            let distance = |periods: u64| periods * piece.format.sectors + half;
            // The place itself is compared, of whole physical sectors: the distance may lie a few sectors beyond the place looked at.
            while distance(periods) < most && at(distance(periods)).abs_diff(anchor) <= good.abs_diff(anchor)
            {
                periods = (periods * FARTHER).max(1);
            }
            next = if distance(periods) < most { at(distance(periods)) } else { limit };
            if next == good {
                return Ok(good);
            }
        }
    }

    /// Whether a sector's angle is as foreseen; one that cannot be accessed tells nothing.
    fn agrees(&mut self, piece: &mut Piece, lba: u64) -> Result<bool, MeasureError> {
        let guess = piece.angle(lba);
        let Some(angle) = self.angle(lba, SEARCHING, Some(guess))? else { return Ok(true) };
        let agrees = piece.agrees(lba, angle);
        if agrees {
            piece.follow(lba, angle);
        }
        Ok(agrees)
    }

    /// The first sector, seen from a good one towards a bad one, of which the angle is not as foreseen.
    fn border(&mut self, piece: &mut Piece, good: u64, bad: u64) -> Result<u64, MeasureError> {
        let unit = self.session.unit();
        let (mut good, mut bad) = (good, bad);
        while good.abs_diff(bad) > unit {
            let middle = u64::midpoint(good, bad) / unit * unit;
            let middle = if middle == good.min(bad) { middle + unit } else { middle };
            if self.agrees(piece, middle)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Ok(bad)
    }

    /// Whether a piece goes on behind a sector that is not where it should be: sectors were slipped before it, or it alone lies
    /// elsewhere.
    fn pass(&mut self, piece: &mut Piece, good: u64, bad: u64) -> Result<bool, MeasureError> {
        let unit = self.session.unit();
        let forwards = bad > good;
        let beyond = |way: u64| if forwards { bad.checked_add(way) } else { bad.checked_sub(way) };
        let Some(angle) = self.angle(bad, SEARCHING, Some(piece.angle(bad)))? else { return Ok(true) };
        let off = piece.off(bad, angle);
        let track = piece.format.sectors_per_track / unit * unit;
        let ahead: Vec<u64> = [unit, 2 * unit, 2 * track].into_iter().filter_map(beyond).collect();
        let mut alone = 0;
        for &lba in &ahead {
            alone += usize::from(self.agrees(piece, lba)?);
        }
        if alone == ahead.len() && alone > 0 {
            return Ok(true);
        }
        let Some(slip) = piece.slip(if forwards { off } else { -off }) else { return Ok(false) };
        let place = if forwards { bad } else { good };
        let mut slipped = piece.clone();
        slipped.slipped.insert(place, slip);
        // At the border of the next track it shows that all sectors moved on, not the angle alone.
        let border = slipped.next_track(bad, forwards);
        let sides = border.into_iter().flat_map(|border| [border.saturating_sub(unit), border]);
        for lba in ahead.into_iter().chain(sides) {
            if !self.agrees(&mut slipped, lba)? {
                return Ok(false);
            }
        }
        self.angle(place, SLIPPED, Some(slipped.angle(place)))?;
        *piece = slipped;
        Ok(true)
    }

    /// An angle, written down with a meaning.
    fn angle(&mut self, lba: u64, step: i64, guess: Option<f64>) -> Result<Option<f64>, MeasureError> {
        self.taken += 1;
        if self.taken >= REFERENCE_EVERY {
            self.look_back()?;
        }
        if lba + self.session.unit() > self.session.sectors() {
            return Ok(None);
        }
        let guess = guess.map(|guess| wrap(guess + self.moved()));
        let angle = self.session.angle((self.series, step), Role::Measure, lba, guess)?;
        Ok(angle.map(|angle| wrap(angle - self.moved())))
    }

    /// When the last access was complete, in ns.
    fn now_ns(&self) -> f64 {
        self.session.record.samples.last().map_or(0.0, |sample| sample.end.0 as f64)
    }

    /// By how much angles have moved since the anchor was measured, in turns.
    fn moved(&self) -> f64 {
        let since_ns = self.now_ns() - self.origin_ns;
        self.reference.as_ref().map_or(0.0, |reference| reference.moved(since_ns))
    }

    /// Measures the reference once more.
    fn look_back(&mut self) -> Result<(), MeasureError> {
        self.taken = 0;
        let Some(mut reference) = self.reference.take() else { return Ok(()) };
        let guess = reference.foreseen(self.now_ns()).map(wrap);
        let key = (REFERENCE, reference.visits() + 1);
        if let Some(angle) = self.session.angle(key, Role::Angle, reference.lba, guess)? {
            reference.see(self.now_ns(), angle);
        }
        self.reference = Some(reference);
        Ok(())
    }
}
