//! `zones` where each head has a density of its own: zones are whole cylinders. The tracks of one are followed, and then angles
//! farther and farther on are as they tell, up to where the next zone begins.

use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::session::Session;
use crate::reading::head_zones::{HeadZone, MORE_TRACKS, MOST_ZONES, head_zone};
use crate::record::Role;
use crate::record::series::SEARCHING;
use crate::record::series::zones::{BEGINS, ENDS, WALK};

/// The next cylinder that is looked at lies so many times as far from the zone's first.
const FARTHER: u64 = 4;

/// Walks over zones from the first sector on, as far as they are whole cylinders of so many heads.
pub(super) fn run(session: &mut Session<'_>, heads: usize, noise: f64) -> Result<(), MeasureError> {
    if heads < 2 {
        return Ok(());
    }
    let mut first = 0;
    for number in 0..MOST_ZONES {
        let Some(end) = Walk { session, number, noise }.zone(first, heads)? else { return Ok(()) };
        if end + session.unit() > session.sectors() {
            return Ok(());
        }
        first = end;
    }
    Ok(())
}

struct Walk<'s, 'a> {
    session: &'s mut Session<'a>,
    number: u32,
    noise: f64,
}

impl Walk<'_, '_> {
    /// The sector behind the zone that begins at a sector; `None` where no such zone begins or ends there.
    fn zone(&mut self, first: u64, heads: usize) -> Result<Option<u64>, MeasureError> {
        let mut finder = Finder::new(self.session, self.number, self.noise);
        finder.tracks(first, heads + MORE_TRACKS, None, 0)?;
        self.angle(first, BEGINS, None)?;
        let spindle = self.session.spindle()?;
        let zone = head_zone(self.session.record, spindle, self.number, heads, self.noise);
        let Some(mut zone) = zone else { return Ok(None) };
        let cylinders = self.grow(&mut zone)?;
        let unit = self.session.unit();
        let end = (first + cylinders * zone.per_cylinder()).min(self.session.sectors() / unit * unit);
        // The last sector is as foreseen, and the next track is not.
        if !self.agrees(&mut zone, end - unit)? || !self.ends(&mut zone, end)? {
            return Ok(None);
        }
        let guess = zone.foreseen(end - unit);
        self.angle(end - unit, ENDS, Some(guess))?;
        Ok(Some(end))
    }

    /// How many cylinders it has: looked for farther and farther from its first, and then by halving.
    fn grow(&mut self, zone: &mut HeadZone) -> Result<u64, MeasureError> {
        let most = (self.session.sectors() - zone.first_lba).div_ceil(zone.per_cylinder());
        let (mut good, mut bad) = (0, most);
        loop {
            let next = (FARTHER * good).max(1).min(bad - 1);
            if next <= good {
                break;
            }
            if !self.holds(zone, next)? {
                bad = next;
                break;
            }
            good = next;
        }
        while bad - good > 1 {
            let middle = u64::midpoint(good, bad);
            if self.holds(zone, middle)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Ok(bad)
    }

    /// Whether two sectors of a cylinder lie as foreseen: one alone may do by chance.
    fn holds(&mut self, zone: &mut HeadZone, cylinder: u64) -> Result<bool, MeasureError> {
        let unit = self.session.unit();
        let start = zone.first_lba + cylinder * zone.per_cylinder();
        // On the first track and, about a third of it farther on, on the second.
        // The device's last cylinder may be cut off.
        let last = self.session.sectors() - unit;
        let [first, second] = [zone.sectors[0] / 2, zone.sectors[0] + zone.sectors[1] * 5 / 6]
            .map(|ahead| (start + ahead).min(last) / unit * unit);
        Ok(self.agrees(zone, first)? && self.agrees(zone, second)?)
    }

    /// Whether the track behind a sector is none of the zone's.
    fn ends(&mut self, zone: &mut HeadZone, end: u64) -> Result<bool, MeasureError> {
        let unit = self.session.unit();
        if end + unit > self.session.sectors() {
            return Ok(true);
        }
        let half = zone.sectors[0] / 2 / unit * unit;
        Ok(!(self.agrees(zone, end)? && self.agrees(zone, end + half)?))
    }

    /// Whether a sector's angle is as foreseen; one that cannot be accessed tells nothing.
    fn agrees(&mut self, zone: &mut HeadZone, lba: u64) -> Result<bool, MeasureError> {
        let guess = zone.foreseen(lba);
        let Some(angle) = self.angle(lba, SEARCHING, Some(guess))? else { return Ok(true) };
        let agrees = zone.agrees(lba, angle);
        if agrees {
            zone.follow(lba, angle);
        }
        Ok(agrees)
    }

    fn angle(&mut self, lba: u64, step: i64, guess: Option<f64>) -> Result<Option<f64>, MeasureError> {
        if lba + self.session.unit() > self.session.sectors() {
            return Ok(None);
        }
        self.session.angle((WALK + self.number, step), Role::Measure, lba, guess)
    }
}
