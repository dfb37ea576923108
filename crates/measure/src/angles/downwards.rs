//! Tracks from the last to the first: what a drive reads ahead never holds what is read next.

use super::finder::{Finder, Run};
use super::spindle::{wrap, wrap_signed};
use crate::MeasureError;
use crate::record::{Role, Sample};
use std::collections::BTreeMap;

/// Tracks with sectors outside these shares of a turn's say nothing of the one before.
const SHORT: f64 = 0.85;
const LONG: f64 = 1.15;

impl Finder<'_, '_> {
    /// As [`Finder::tracks`], for devices that are only read.
    pub(super) fn tracks_downwards(
        &mut self,
        lba: u64,
        count: usize,
        hint: Option<f64>,
        number: i64,
    ) -> Result<Option<Run>, MeasureError> {
        let Some(mut slope) = (match hint {
            Some(slope) => Some(slope),
            None => self.slope_at(lba)?,
        }) else {
            return Ok(None);
        };
        // Behind the last track there must be another.
        let room = self.session.sectors().saturating_sub((2.5 / slope) as u64);
        let top = (lba + ((count as f64 + 0.2) / slope) as u64).min(room) / self.unit * self.unit;
        let Some((last, found)) = self.next_track(top, Some(slope))? else { return Ok(None) };
        slope = found;
        let mut firsts = vec![last];
        let mut usual = (1.0 / slope / self.unit as f64).round() as u64 * self.unit;
        loop {
            let border = firsts[firsts.len() - 1];
            let Some(guess) = border.checked_sub(usual).filter(|&guess| guess > lba.max(self.unit)) else {
                break;
            };
            let next = if self.begins_at(guess, border, slope)? {
                Some(guess)
            } else {
                let found = self.border_before(border, usual, slope)?;
                slope = found.map_or(slope, |found| found.1);
                found.map(|found| found.0)
            };
            let Some(next) = next.filter(|&next| next > lba) else { break };
            // Tracks that spares make short are the exception.
            let whole = (1.0 / slope / self.unit as f64).round() as u64 * self.unit;
            let usually = (border - next) as f64 / whole as f64;
            usual = if (SHORT..LONG).contains(&usually) { border - next } else { whole };
            firsts.push(next);
        }
        firsts.reverse();
        firsts.truncate(count + 1);
        self.tell(&firsts, number)?;
        Ok((firsts.len() > 1).then_some(Run { firsts, slope }))
    }

    /// Whether a track begins at `first` and ends at `border`: on the line up to there, off it before.
    fn begins_at(&mut self, first: u64, border: u64, slope: f64) -> Result<bool, MeasureError> {
        let Some(end) = self.angle(border - self.unit, None)? else { return Ok(false) };
        let way = (border - self.unit - first) as f64 * slope;
        let on_line = wrap(end - way);
        let Some(here) = self.angle(first, Some(on_line))? else { return Ok(false) };
        let Some(before) = self.angle(first - self.unit, Some(on_line))? else { return Ok(false) };
        let tolerance = self.tolerance(slope);
        let jump = wrap_signed(here - before - slope * self.unit as f64).abs();
        Ok(wrap_signed(here - on_line).abs() <= tolerance + 0.01 && jump > tolerance)
    }

    /// The first sector of the track that ends at `border`, and the slope before it.
    fn border_before(
        &mut self,
        border: u64,
        usual: u64,
        slope: f64,
    ) -> Result<Option<(u64, f64)>, MeasureError> {
        // From the track before: slipped and spare sectors make tracks a little longer or shorter. From farther back where
        // nothing shows at the track's beginning, as the angles happen to fit.
        for back in [1.08, 1.4, 0.8, 2.3, 3.2] {
            let back = (usual as f64 * back) as u64 / self.unit * self.unit;
            let Some(start) = border.checked_sub(back) else { continue };
            let mut found = self.next_track(start, Some(slope))?.filter(|&(first, _)| first < border);
            while let Some((first, slope)) = found.filter(|_| back > 2 * usual) {
                let next = self.next_track(first, Some(slope))?.filter(|&(next, _)| next < border);
                if next.is_none() {
                    break;
                }
                found = next;
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Notes the two sides of each border once more, as those of a track with a number. They were measured already, and to read
    /// them again would cost many reads elsewhere.
    pub(super) fn tell(&mut self, firsts: &[u64], number: i64) -> Result<(), MeasureError> {
        let (probe, series) = (self.session.probe, self.series);
        let mut taken: BTreeMap<u64, Vec<Sample>> = BTreeMap::new();
        let samples = self.session.record.samples[self.since..].iter();
        for sample in samples.filter(|s| s.probe == probe && s.series == series) {
            if sample.role == Role::Measure && sample.ok && self.session.hits.leave(sample) {
                taken.entry(sample.lba).or_default().push(*sample);
            }
        }
        for (place, &first) in firsts.iter().enumerate() {
            for lba in [first - self.unit, first] {
                for sample in taken.get(&lba).into_iter().flatten() {
                    self.session.repeat(sample, number + place as i64)?;
                }
            }
        }
        Ok(())
    }
}
