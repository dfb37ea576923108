//! The reference: one sector, measured again behind so many others, tells by its angle how the speed was misread, and so by how much
//! all angles have moved since another one was measured.

use crate::angles::spindle::wrap_signed;
use crate::reading::rotation::Rotation;

/// A sector as it is seen again and again.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) lba: u64,
    /// Variance of an angle, over that of the speed as the probe `rotation` shows it, in turns per ns.
    doubt: f64,
    first_angle: f64,
    /// When, in ns, and by how many turns it had moved.
    seen: Vec<(f64, f64)>,
    /// By how many turns angles move in a ns.
    speed: f64,
}

impl Reference {
    pub(super) fn new(lba: u64, rotation: Option<Rotation>, noise: f64) -> Self {
        let error = rotation.map_or(0.0, |rotation| rotation.ci95_ms / 1.96 / rotation.turn_ms.powi(2) / 1e6);
        // Where nothing is misread, what is seen counts.
        let doubt = if noise > 0.0 && error > 0.0 { (noise / error).powi(2) } else { 0.0 };
        Self { lba, doubt, first_angle: 0.0, seen: Vec::new(), speed: 0.0 }
    }

    /// By how much angles move in so many ns, in turns.
    pub(super) fn moved(&self, ns: f64) -> f64 {
        self.speed * ns
    }

    /// Its angle, foreseen; `None` before it was seen.
    pub(super) fn foreseen(&self, now_ns: f64) -> Option<f64> {
        let &(at, moved) = self.seen.last()?;
        Some(self.first_angle + moved + self.moved(now_ns - at))
    }

    /// How often it was seen.
    pub(super) fn visits(&self) -> i64 {
        self.seen.len() as i64
    }

    /// That it was seen.
    pub(super) fn see(&mut self, now_ns: f64, angle: f64) {
        let Some(foreseen) = self.foreseen(now_ns) else {
            self.first_angle = angle;
            self.seen.push((now_ns, 0.0));
            return;
        };
        // Less than half a turn may lie between what is foreseen and what is seen.
        let moved = foreseen - self.first_angle + wrap_signed(angle - foreseen);
        self.seen.push((now_ns, moved));
        let count = self.seen.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| self.seen.iter().map(of).sum::<f64>() / count;
        let (at, by) = (mean(|seen| seen.0), mean(|seen| seen.1));
        let spread: f64 = self.seen.iter().map(|seen| (seen.0 - at).powi(2)).sum();
        let rise: f64 = self.seen.iter().map(|seen| (seen.0 - at) * (seen.1 - by)).sum();
        self.speed = if spread > 0.0 { rise / (spread + self.doubt) } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A speed misread by 0.5 parts per million moves angles by a sector in two minutes.
    #[test]
    fn a_speed_that_was_misread_shows() {
        let mut reference = Reference::new(0, None, 2e-4);
        let angle = |ns: f64, visit: u32| {
            0.9 + 0.5e-6 * ns / 1e7 + if visit.is_multiple_of(2) { 2e-4 } else { -2e-4 }
        };
        for visit in 0..60 {
            let now_ns = f64::from(visit) * 4e9;
            reference.see(now_ns, angle(now_ns, visit).rem_euclid(1.0));
        }
        assert!((reference.moved(120e9) - 0.006).abs() < 2e-4, "{reference:?}");
    }
}
