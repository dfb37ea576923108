//! Whether the tracks of zones follow each other evenly, far behind those that were followed one by one: then there is no rarer skew to
//! be met, and none of them need be followed. Each look lies twice as far as the last, where the angle is foreseen from those before.

use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::median::circular_median;
use crate::angles::session::Session;
use crate::angles::spindle::{wrap, wrap_signed};
use crate::reading::known::Known;
use crate::reading::tracks::{self, Border};
use crate::reading::zones::Zone;
use crate::record::ProbeName;
use crate::record::series::surfaces::EVEN;

/// Tracks before the end of a zone that are not looked at: where it ends is known to within one.
const MARGIN: u64 = 2;
/// Tracks of a zone that are followed one by one.
const FIRST: usize = 12;
/// So many tracks of a zone are left out before them.
const AFTER: u64 = 32;
/// So large a share of the tracks may be of zones that are not even: short ones hide in others.
const ODD: f64 = 0.2;

/// Even tracks, from the first that was followed.
struct Even {
    first: u64,
    angle: f64,
    sectors: u64,
    per_turn: f64,
    /// By how much each begins behind the one before, in turns.
    skew: f64,
    seen: u64,
}

impl Even {
    /// What the tracks that were followed say; `None` where they are not of one length, or skews of two kinds are seen.
    fn of(borders: &[Border], sectors: u64, unit: u64) -> Option<Self> {
        let [first, .., last] = borders else { return None };
        let is_even = |border: &Border| {
            !border.rare && border.sectors_before.is_none_or(|before| before.abs_diff(sectors) < unit)
        };
        if !borders.iter().all(is_even) {
            return None;
        }
        let skews: Vec<f64> = borders.iter().filter_map(|border| border.skew_turns).collect();
        let seen = (last.number - first.number) as u64;
        let (first, angle, per_turn) = (first.first, first.angle, first.per_turn);
        let mut even = Self { first, angle, sectors, per_turn, skew: circular_median(&skews), seen: 1 };
        even.follow(seen, wrap_signed(last.angle - even.angle_at(last.first, seen)));
        Some(even)
    }

    /// The middle of a track.
    fn middle(&self, track: u64, unit: u64) -> u64 {
        (self.first + track * self.sectors + self.sectors / 2) / unit * unit
    }

    /// The angle of a sector on a track.
    fn angle_at(&self, lba: u64, track: u64) -> f64 {
        let into = lba as f64 - (self.first + track * self.sectors) as f64;
        wrap(self.angle + track as f64 * self.skew + into / self.per_turn)
    }

    /// So many tracks on, the angle is so much more than foreseen.
    fn follow(&mut self, track: u64, off: f64) {
        self.skew += off / track as f64;
        self.seen = track;
    }
}

/// Whether the tracks of the zones follow each other as their first ones do, most of the first `most` of the device.
pub(super) fn evenly(session: &mut Session<'_>, known: &Known, most: u64) -> Result<bool, MeasureError> {
    let (mut looked, mut even) = (0, 0);
    for (number, zone) in (0..).zip(&known.zones) {
        if looked >= most {
            break;
        }
        let tracks = zone.tracks().min(most - looked);
        looked += tracks;
        if is_zone_even(session, known, (zone, EVEN + number), tracks)? {
            even += tracks;
        } else if (looked - even) as f64 > ODD * most as f64 {
            return Ok(false);
        }
    }
    Ok(even as f64 > (1.0 - ODD) * looked as f64)
}

/// The same of one zone, up to so many tracks.
fn is_zone_even(
    session: &mut Session<'_>,
    known: &Known,
    (zone, series): (&Zone, u32),
    tracks: u64,
) -> Result<bool, MeasureError> {
    // Those that were followed at the start were so long before: the least error of the speed has moved them since.
    let mut borders = first_tracks(session, known, zone, series)?;
    let end = zone.end_lba.saturating_sub(MARGIN * zone.sectors_per_track);
    borders.retain(|border| border.first <= end);
    let Some(mut even) = Even::of(&borders, zone.sectors_per_track, session.unit()) else {
        return Ok(false);
    };
    let behind = zone.end_lba.saturating_sub(even.first) / zone.sectors_per_track;
    let last = behind.saturating_sub(MARGIN).min(tracks);
    let mut finder = Finder::new(session, series, known.angle_noise);
    is_even(&mut finder, &mut even, last)
}

/// Some tracks near the beginning of a zone.
fn first_tracks(
    session: &mut Session<'_>,
    known: &Known,
    zone: &Zone,
    series: u32,
) -> Result<Vec<Border>, MeasureError> {
    // At the beginning of a zone a short one may hide.
    let before = zone.sectors_per_track * AFTER.min(zone.tracks() / 4);
    let start = (zone.first_lba + before).next_multiple_of(session.unit());
    let slope = 1.0 / zone.sectors_per_track as f64;
    Finder::new(session, series, known.angle_noise).tracks(start, FIRST, Some(slope), 0)?;
    Ok(tracks::borders(session.record, ProbeName::Surfaces, series, session.spindle()?))
}

/// Whether the tracks up to `last` are where those before them foresee them.
fn is_even(finder: &mut Finder<'_, '_>, even: &mut Even, last: u64) -> Result<bool, MeasureError> {
    let unit = finder.session.unit();
    let tolerance = finder.tolerance(1.0 / even.per_turn);
    while even.seen < last {
        let track = (2 * even.seen).min(last);
        let lba = even.middle(track, unit);
        let foreseen = even.angle_at(lba, track);
        let Some(angle) = finder.angle(lba, Some(foreseen))? else { return Ok(false) };
        let off = wrap_signed(angle - foreseen);
        if off.abs() > tolerance {
            return Ok(false);
        }
        even.follow(track, off);
    }
    Ok(true)
}
