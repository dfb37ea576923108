//! Part of `surfaces`: where neither skews nor the times to the next tracks tell surfaces, those over more and more tracks do. Along a
//! surface they grow, up to where the tracks turn back on the next one; there a track lies beside its neighbour.

use crate::MeasureError;
use crate::angles::session::Session;
use crate::angles::trial::{self, Way};
use crate::reading::order;
use crate::record::series::surfaces::{BESIDE, FROM_FIRST};

/// Times are compared over this share of a distance more.
const SHARE: u64 = 8;
/// Where the growth ends is known to so many tracks before neighbours are looked at.
const AROUND: u64 = 4;
const MOST_SURFACES: u64 = 24;

/// Looks for the first turn along so many tracks of so many sectors from the first sector on, and for how many surfaces follow.
pub(super) fn run(session: &mut Session<'_>, sectors: u64, tracks: u64) -> Result<(), MeasureError> {
    let mut turning = Turning { session, sectors, tracks };
    let Some(around) = turning.end_of_growth()? else { return Ok(()) };
    for track in around.saturating_sub(AROUND).max(1)..=around + AROUND {
        if turning.is_beside(track)? {
            return turning.surfaces(track);
        }
    }
    Ok(())
}

struct Turning<'s, 'a> {
    session: &'s mut Session<'a>,
    sectors: u64,
    tracks: u64,
}

impl Turning<'_, '_> {
    /// The least time from a track to another, in turns.
    fn least(&mut self, key: (u32, i64), from: u64, to: u64) -> Result<Option<f64>, MeasureError> {
        let unit = self.session.unit();
        let half = self.sectors / 2 / unit * unit;
        let way = Way {
            from: from * self.sectors + unit,
            to: to * self.sectors + half,
            mode: self.session.mode,
            slope: 1.0 / self.sectors as f64,
            room: half,
            sure: true,
            start: None,
            foreseen: None,
        };
        trial::least(self.session, key, way)
    }

    /// The same from the first track.
    fn least_to(&mut self, to: u64) -> Result<Option<f64>, MeasureError> {
        self.least((FROM_FIRST, to as i64), 0, to)
    }

    /// The track up to about which times from the first one grow, if they do not all along.
    fn end_of_growth(&mut self) -> Result<Option<u64>, MeasureError> {
        let mut good = 1;
        let mut bad = loop {
            let next = 2 * good;
            let step = next / SHARE + 1;
            if next + step >= self.tracks {
                return Ok(None);
            }
            if !self.grows(next, step)? {
                break next;
            }
            good = next;
        };
        let step = good / SHARE + 1;
        while bad - good > 1 {
            let middle = u64::midpoint(good, bad);
            if self.grows(middle, step)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        // Both tracks that were compared then lie as far from the first.
        Ok(Some(bad + step / 2))
    }

    fn grows(&mut self, track: u64, step: u64) -> Result<bool, MeasureError> {
        let (near, far) = (self.least_to(track)?, self.least_to(track + step)?);
        Ok(near.zip(far).is_none_or(|(near, far)| far > near))
    }

    /// Whether a track lies beside the one before: there is no cylinder between them.
    fn is_beside(&mut self, track: u64) -> Result<bool, MeasureError> {
        if track >= self.tracks {
            return Ok(false);
        }
        self.least((BESIDE, track as i64), track - 1, track)?;
        let spindle = self.session.spindle()?;
        Ok(order::beside(self.session.record, spindle)
            .is_some_and(|tracks| tracks.get(&track) == Some(&true)))
    }

    /// Goes on from surface to surface until the next one lies elsewhere: there another group begins.
    fn surfaces(&mut self, group: u64) -> Result<(), MeasureError> {
        for surface in 2..=MOST_SURFACES {
            if !self.is_beside(surface * group)? {
                break;
            }
        }
        Ok(())
    }
}
