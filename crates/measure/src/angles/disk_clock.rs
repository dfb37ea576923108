//! The disk's clock: where the speed wanders, a sector that is come back to again and again tells how far the disk has turned. By that
//! clock a revolution always takes the same, and angles that are measured long after one another fit together.

use super::spindle::{Spindle, wrap_signed};
use headstack_units::Nanos;

/// No spindle is off its speed by more than this share.
const MOST_RATE: f64 = 0.01;

/// The host's clock, set by the disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskClock {
    spindle: Spindle,
    /// The sector that it is set by, which always comes at phase 0.
    pub(crate) lba: u64,
    /// When the sector was last seen, by the host's clock and by the disk's, in ns.
    seen: Option<(f64, f64)>,
    /// By what share the disk's clock goes faster than the host's.
    rate: f64,
}

impl DiskClock {
    /// A clock that is not set yet: it tells the host's time.
    pub(crate) fn new(spindle: Spindle, lba: u64) -> Self {
        Self { spindle, lba, seen: None, rate: 0.0 }
    }

    /// The disk's time at an instant of the host's.
    pub(crate) fn time(&self, host: Nanos) -> Nanos {
        Nanos(self.at(host.0 as f64).round() as u64)
    }

    /// The host's time at an instant of the disk's.
    pub(crate) fn host(&self, disk: Nanos) -> Nanos {
        let Some((host, seen)) = self.seen else { return disk };
        Nanos((host + (disk.0 as f64 - seen) / (1.0 + self.rate)).round() as u64)
    }

    fn at(&self, host: f64) -> f64 {
        let Some((seen, disk)) = self.seen else { return host };
        disk + (host - seen) * (1.0 + self.rate)
    }

    /// The sector was seen: by how much it came too early or too late the disk turned faster or slower since it was last seen.
    pub(crate) fn set(&mut self, seen: Nanos) {
        let host = seen.0 as f64;
        let foreseen = self.at(host);
        let late = wrap_signed(foreseen / self.spindle.period_ns) * self.spindle.period_ns;
        if let Some((before, _)) = self.seen.filter(|(before, _)| host > *before) {
            self.rate = (self.rate - late / (host - before)).clamp(-MOST_RATE, MOST_RATE);
        }
        self.seen = Some((host, foreseen - late));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wandering_speed_is_steady_by_the_disks_own_clock() {
        let spindle = Spindle { period_ns: 8e6 };
        let mut clock = DiskClock::new(spindle, 0);
        // Slower by 300 ppm for a while, then faster; a sector half a turn behind the one that sets the clock.
        let (mut host, mut misses) = (1e9, Vec::new());
        for turn in 0..400 {
            let period = if turn % 80 < 40 { 8e6 * 1.0003 } else { 8e6 * 0.9998 };
            clock.set(Nanos(host as u64));
            let half = spindle.phase(clock.time(Nanos((host + period / 2.0) as u64)));
            misses.push((half - 0.5).abs());
            host += period;
        }
        // Only where the speed has just changed half a turn is off, by the change.
        assert!(misses[1..].iter().all(|miss| *miss < 3e-4), "{misses:?}");
        assert!(misses[1..].iter().filter(|miss| **miss > 1e-6).count() < 24, "{misses:?}");
        let at = Nanos(host as u64 + 12_345_678);
        assert!(clock.host(clock.time(at)).0.abs_diff(at.0) <= 1);
    }
}
