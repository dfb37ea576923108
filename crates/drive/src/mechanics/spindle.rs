//! Where the disk is, and when it gets somewhere.
//!
//! Inside an [`Epoch`] nothing is accumulated: the angle at an instant is one multiplication of the time since the
//! epoch began by a rate of 128 fractional bits, so that after a year it is still exact to 10^-8 ns. Two rules keep
//! rounding to whole nanoseconds from costing revolutions: a transfer ends at the first tick at or after its end
//! *angle*, and a sector that was missed by at most one tick counts as on time.

use crate::spec::SpindleSpec;
use headstack_units::{Angle, Nanos, Rpm};

/// A stretch of time in which the disk turns at one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    t0: Nanos,
    angle0: Angle,
    /// Turns per ns: round(2^128 / period).
    rate: u128,
    /// ns per turn, times 2^32, rounded down: finds the tick of an angle to within two.
    period_q32: u64,
    period_ns: f64,
}

impl Default for Epoch {
    /// A placeholder: the shortest period that is allowed.
    fn default() -> Self {
        Self::new(Nanos::ZERO, Angle::ZERO, 2.0)
    }
}

impl Epoch {
    /// The disk is at `angle0` at `t0` and takes `period_ns` for a turn, which must lie between 2 ns and 4 s (and is
    /// moved there).
    pub fn new(t0: Nanos, angle0: Angle, period_ns: f64) -> Self {
        // NaN would pass a clamp.
        let period_ns = if period_ns >= 2.0 { period_ns.min(4e9) } else { 2.0 };
        Self {
            t0,
            angle0,
            rate: rate(period_ns),
            period_q32: (period_ns * 4_294_967_296.0) as u64,
            period_ns,
        }
    }

    /// Where the disk is at `t`; before the epoch's beginning, where it would have been.
    #[inline]
    pub fn angle(&self, t: Nanos) -> Angle {
        self.angle0 + Angle((self.turned(t) >> 64) as u64)
    }

    /// The first tick at or after `t` at which the disk has reached `target`; `t` itself where `target` was missed by
    /// at most one tick.
    #[inline]
    pub fn next(&self, t: Nanos, target: Angle) -> Nanos {
        let turned = self.turned(t);
        let angle = self.angle0 + Angle((turned >> 64) as u64);
        let missed_by = (angle - target).0;
        if missed_by <= self.tick().0 {
            return t;
        }
        self.after(t, turned as u64, angle.until(target).0)
    }

    /// When a media transfer ends that began at tick `start` with a sector that begins at angle `from`, and takes
    /// `turn` (more than nothing, up to a full turn): the first tick at or after the end *angle* `from + turn`.
    #[inline]
    pub fn end_of(&self, start: Nanos, from: Angle, turn: Angle) -> Nanos {
        let turned = self.turned(start);
        let angle = self.angle0 + Angle((turned >> 64) as u64);
        self.after(start, turned as u64, left(turn, angle - from))
    }

    /// [`Epoch::next`], and [`Epoch::end_of`] from there on: when a transfer begins and ends.
    #[expect(clippy::inline_always, reason = "handing its numbers in costs a third of what it does")]
    #[inline(always)]
    pub fn pass(&self, t: Nanos, from: Angle, turn: Angle) -> (Nanos, Nanos) {
        let turned = self.turned(t);
        let (angle, part) = (self.angle0 + Angle((turned >> 64) as u64), turned as u64);
        let missed_by = angle - from;
        if missed_by.0 <= self.tick().0 {
            return (t, self.after(t, part, left(turn, missed_by)));
        }
        let left = angle.until(from).0;
        // The end lies so much further: both follow from the same tick.
        let (to_begin, whole) = (self.estimate(left), self.estimate(turn.0));
        if let Some(to_end) = to_begin.checked_add(whole)
            && let (Some(ticks), Some(ticks_to_end)) = (sure_ticks(to_begin), sure_ticks(to_end))
        {
            return (Nanos(t.0.saturating_add(ticks)), Nanos(t.0.saturating_add(ticks_to_end)));
        }
        self.pass_exactly(t, (part, left), turn)
    }

    /// As [`Epoch::pass`], where the disk, `part` past an angle, has `left` to go beyond that to the sector's beginning.
    #[cold]
    fn pass_exactly(&self, t: Nanos, (part, to_go): (u64, u64), turn: Angle) -> (Nanos, Nanos) {
        // How far beyond the sector's beginning the tick finds the disk need not be worked out anew.
        let (ticks, beyond) = self.ticks_exactly(part, to_go);
        let start = Nanos(t.0.saturating_add(ticks));
        (start, self.after(start, beyond as u64, left(turn, Angle((beyond >> 64) as u64))))
    }

    /// The same disk as it is seen from a place `turn` further in the direction of rotation: sectors come later there.
    #[must_use]
    pub fn seen_from(&self, turn: Angle) -> Self {
        Self { angle0: self.angle0 - turn, ..*self }
    }

    /// The time of a turn, in ns.
    pub fn period(&self) -> f64 {
        self.period_ns
    }

    /// The time in which the disk turns by an angle, rounded down.
    #[inline]
    pub(crate) fn time_of(&self, angle: Angle) -> Nanos {
        Nanos(((u128::from(angle.0) * u128::from(self.period_q32)) >> 96) as u64)
    }

    /// How far the disk turns in a nanosecond, rounded up.
    #[inline]
    pub(crate) fn tick(&self) -> Angle {
        Angle((self.rate >> 64) as u64 + 1)
    }

    /// The angle since the epoch's beginning, in 2^-128 turns, whole turns dropped.
    #[inline]
    fn turned(&self, t: Nanos) -> u128 {
        let elapsed = i128::from(t.signed_diff(self.t0)) as u128;
        elapsed.wrapping_mul(self.rate)
    }

    /// The first tick at or after `t` at which the disk, `part` (of 2^-128 turns) past an angle at `t`, has turned by
    /// `left` beyond that angle.
    #[expect(clippy::inline_always, reason = "handing its numbers in costs as much as what it does")]
    #[inline(always)]
    fn after(&self, t: Nanos, part: u64, left: u64) -> Nanos {
        let ticks = sure_ticks(self.estimate(left)).unwrap_or_else(|| self.ticks_exactly(part, left).0);
        Nanos(t.0.saturating_add(ticks))
    }

    /// About how long the disk takes for an angle, in 2^-96 ns: less than 2^64 of these too little.
    #[inline]
    fn estimate(&self, angle: u64) -> u128 {
        u128::from(angle) * u128::from(self.period_q32)
    }

    /// The ticks until then, and how far, in 2^-128 turns, the disk is beyond by that time.
    #[cold]
    fn ticks_exactly(&self, part: u64, left: u64) -> (u64, u128) {
        // Wanted is the smallest n with part + n·rate ≥ left·2^64. The product with the period, rounded down, is n, or one
        // or two below; mostly one.
        let mut ticks = (self.estimate(left) >> 96) as u64 + 1;
        let wanted = (u128::from(left) << 64).wrapping_sub(u128::from(part));
        // Less than three ticks' worth either way: the sign is right even where the terms wrap around.
        let mut beyond = u128::from(ticks).wrapping_mul(self.rate).wrapping_sub(wanted);
        while (beyond as i128) < 0 {
            beyond = beyond.wrapping_add(self.rate);
            ticks += 1;
        }
        while beyond >= self.rate {
            beyond -= self.rate;
            ticks -= 1;
        }
        (ticks, beyond)
    }
}

/// The first tick by which an estimated time is over, where that is sure: nearly always.
///
/// An estimate is too small by less than 2^-32 ns, or the sum of two of them by less than 2^-31; the disk has turned some part of
/// 2^-64 turns already, which takes it less than 2^-32 ns. So only within a few 2^-32 ns of a tick is it a question which one it is.
#[inline]
fn sure_ticks(estimate: u128) -> Option<u64> {
    let beyond_tick_q32 = (estimate >> 64) as u32;
    (beyond_tick_q32.wrapping_sub(MARGIN_Q32) < 0_u32.wrapping_sub(2 * MARGIN_Q32))
        .then_some((estimate >> 96) as u64 + 1)
}

/// More than estimates can be off, in 2^-32 ns.
const MARGIN_Q32: u32 = 4;

/// What is left of a `turn` when its beginning was missed by `late`: up to a tick by the rule of [`Epoch::next`]; a start
/// before the sector is taken for what it is, too.
#[inline]
fn left(turn: Angle, late: Angle) -> u64 {
    let late = late.0 as i64;
    if late >= 0 { turn.0.saturating_sub(late as u64) } else { turn.0.saturating_add(late.unsigned_abs()) }
}

/// round(2^128 / period), exactly: an f64 is a whole number times a power of two.
fn rate(period_ns: f64) -> u128 {
    let bits = period_ns.to_bits();
    let mantissa = u128::from((bits & ((1 << 52) - 1)) | (1 << 52));
    let exponent = (bits >> 52) as i32 - 1023 - 52;
    // 2 ≤ period < 2^32: the exponent lies between −51 and −21. Long division of 2^(128 − exponent) in base 2^64.
    let first = 1_u128 << (-exponent).clamp(0, 63);
    let high = ((first % mantissa) << 64) / mantissa;
    let rest = ((first % mantissa) << 64) % mantissa;
    let low = (rest << 64) / mantissa;
    let rest = (rest << 64) % mantissa;
    (high << 64) + low + u128::from(2 * rest >= mantissa)
}

/// Idle gaps of more drift intervals than this are crossed at once: it bounds what a gap costs to some tens of ms.
const MOST_STEPS: u64 = 1 << 20;

/// A spindle: its nominal speed and how the real one differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Spindle {
    epoch: Epoch,
    /// At which the next drift interval begins; [`Nanos::MAX`] without drift.
    boundary: Nanos,
    /// Number of the current drift interval.
    interval: u64,
    interval_ns: u64,
    drift: f64,
    seed: u64,
    nominal_period_ns: f64,
    /// With the constant error, without drift.
    mean_period_ns: f64,
}

impl Spindle {
    /// A spindle of `rpm` nominal revolutions per minute. The drift is drawn from `seed`: interval number i, counted
    /// from time 0, always has the same deviation.
    pub fn new(rpm: f64, spec: &SpindleSpec, seed: u64) -> Self {
        let nominal_period_ns = Rpm(rpm).period_ns();
        let mean_period_ns = nominal_period_ns / (1.0 + spec.error_percent / 100.0);
        let drifts = spec.drift_ppm > 0.0;
        let interval_ns = Nanos::from_s(spec.drift_interval_s).0.max(1);
        let mut spindle = Self {
            epoch: Epoch::new(Nanos::ZERO, Angle::from_turns(spec.initial_angle_revolutions), mean_period_ns),
            boundary: if drifts { Nanos(interval_ns) } else { Nanos::MAX },
            interval: 0,
            interval_ns,
            drift: spec.drift_ppm * 1e-6,
            seed,
            nominal_period_ns,
            mean_period_ns,
        };
        spindle.epoch = Epoch::new(Nanos::ZERO, spindle.epoch.angle0, spindle.period_in(0));
        spindle
    }

    /// The epoch at `t`. Time must not go back: before the latest epoch's beginning, that epoch is the answer.
    ///
    /// An epoch says nothing about what lies beyond its end; where drift matters, ask [`Spindle::end_of`] and
    /// [`Spindle::next`].
    ///
    /// Whoever asks often gets the same answers as who asks rarely, except over an idle gap of more than a million drift
    /// intervals (twelve days at one a second): that is crossed at once, to a phase drawn from the same distribution.
    #[inline]
    pub fn epoch_at(&mut self, t: Nanos) -> Epoch {
        if t >= self.boundary {
            self.move_on(t);
        }
        self.epoch
    }

    /// As [`Spindle::epoch_at`], for one who only looks ahead: time does not go on.
    #[inline]
    pub(crate) fn epoch_ahead(&self, t: Nanos) -> Epoch {
        if t < self.boundary { self.epoch } else { self.clone().epoch_at(t) }
    }

    /// Into the drift interval that holds `t`.
    #[cold]
    fn move_on(&mut self, t: Nanos) {
        let whole = t.saturating_sub(self.boundary).0 / self.interval_ns;
        if whole > MOST_STEPS {
            self.cross(whole);
        }
        // Without drift, and in the last interval that time can hold, the boundary is never reached.
        while t >= self.boundary && self.boundary < Nanos::MAX {
            self.step();
        }
    }

    /// Crosses whole intervals in one go. The deviations are independent, each uniform in ±`drift` (variance drift²/3), so
    /// the sum of this many is normal.
    fn cross(&mut self, intervals: u64) {
        let begin = self.boundary;
        let end = Nanos(begin.0 + intervals * self.interval_ns);
        let steady = Epoch::new(begin, self.epoch.angle(begin), self.mean_period_ns);
        let turns_an_interval = self.interval_ns as f64 / self.mean_period_ns;
        let spread = self.drift * turns_an_interval * (intervals as f64 / 3.0).sqrt();
        let wandered = Angle::from_turns(spread * normal(!self.seed, self.interval));
        self.interval += intervals;
        self.epoch = Epoch { t0: end, angle0: steady.angle(end) + wandered, ..steady };
        self.boundary = end;
    }

    /// Whether the disk turns at another speed at `t` than at the latest instant asked for.
    #[inline]
    pub(crate) fn changes_by(&self, t: Nanos) -> bool {
        t >= self.boundary
    }

    /// The epoch of the latest instant asked for.
    pub fn present_epoch(&self) -> Epoch {
        self.epoch
    }

    /// As [`Epoch::next`], through all changes of speed that lie between.
    pub fn next(&mut self, t: Nanos, target: Angle) -> Nanos {
        let reached = self.epoch_at(t).next(t, target);
        if reached <= self.boundary { reached } else { self.beyond(target) }
    }

    /// As [`Epoch::end_of`], through all changes of speed that lie between.
    pub fn end_of(&mut self, start: Nanos, from: Angle, turn: Angle) -> Nanos {
        let reached = self.epoch_at(start).end_of(start, from, turn);
        if reached <= self.boundary { reached } else { self.beyond(from + turn) }
    }

    /// The time of a turn at the nominal speed, in ns.
    pub fn nominal_period_ns(&self) -> f64 {
        self.nominal_period_ns
    }

    /// From `t` on the disk is `shift` further than it would have been: a new epoch at the same speed.
    pub fn relock(&mut self, t: Nanos, shift: Angle) {
        let epoch = self.epoch_at(t);
        self.epoch = Epoch { t0: t, angle0: epoch.angle(t) + shift, ..epoch };
    }

    /// From here on the disk is seen from a place `turn` further in the direction of rotation.
    pub(crate) fn see_from(&mut self, turn: Angle) {
        self.epoch = self.epoch.seen_from(turn);
    }

    /// When `target` is reached, which lies less than a turn ahead, but beyond the current epoch.
    #[cold]
    fn beyond(&self, target: Angle) -> Nanos {
        let mut ahead = self.clone();
        loop {
            let boundary = ahead.boundary;
            ahead.step();
            let turned = ahead.epoch.turned(boundary);
            let left = ahead.epoch.angle(boundary).until(target).0;
            let reached = ahead.epoch.after(boundary, turned as u64, left);
            if reached <= ahead.boundary {
                return reached;
            }
        }
    }

    /// Into the next drift interval; the angle is continuous.
    #[cold]
    fn step(&mut self) {
        self.interval += 1;
        let (t0, angle0) = (self.boundary, self.epoch.angle(self.boundary));
        self.epoch = Epoch::new(t0, angle0, self.period_in(self.interval));
        self.boundary = Nanos(t0.0.saturating_add(self.interval_ns));
    }

    /// The time of a turn in a drift interval, in ns.
    fn period_in(&self, interval: u64) -> f64 {
        self.mean_period_ns / (1.0 + self.drift * deviation(self.seed, interval))
    }
}

/// A number in [−1, 1) that depends on nothing but seed and interval.
fn deviation(seed: u64, interval: u64) -> f64 {
    let bits = hash(seed, interval);
    // 53 bits make a real number in [0, 2).
    (bits >> 11) as f64 / 4_503_599_627_370_496.0 - 1.0
}

/// A number from the standard normal distribution (Box & Muller 1958) that depends on nothing but seed and counter.
pub(super) fn normal(seed: u64, counter: u64) -> f64 {
    let uniform = |seed| ((hash(seed, counter) >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0;
    let (radius, turn): (f64, f64) = (uniform(seed), uniform(seed.rotate_left(32)));
    (-2.0 * radius.ln()).sqrt() * (core::f64::consts::TAU * turn).cos()
}

/// 64 bits that depend on a seed and a counter and nothing else, so that draw number n is the same in whatever order
/// draws are made.
pub(crate) fn hash(seed: u64, counter: u64) -> u64 {
    splitmix64(splitmix64(seed).wrapping_add(counter))
}

/// The finaliser of the SplitMix64 generator (Steele, Lea & Flood 2014) after one step.
fn splitmix64(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rate_is_the_nearest_of_128_bits() {
        assert_eq!(rate(2.0), 1 << 127);
        assert_eq!(rate(3.0), u128::MAX / 3);
        // 2^128 / 6 ends in two thirds, 2^128 / 12 in one.
        assert_eq!(rate(6.0), u128::MAX / 6 + 1);
        assert_eq!(rate(12.0), u128::MAX / 12);
        assert_eq!(rate(4e6), u128::MAX / 4_000_000);
        assert_eq!(rate(4e9 - 0.5), u128::MAX / 7_999_999_999 * 2 + 1);
    }

    /// At 6,000 rpm 100 ppm are a hundredth of a turn in a second.
    #[test]
    fn a_deviation_above_zero_turns_faster() {
        let spec = SpindleSpec { drift_ppm: 100.0, drift_interval_s: 1.0, ..SpindleSpec::default() };
        let mut disk = Spindle::new(6000.0, &spec, 7);
        for second in 0..20 {
            let (begin, end) = (Nanos(second * 1_000_000_000), Nanos((second + 1) * 1_000_000_000));
            let epoch = disk.epoch_at(begin);
            let gained = (epoch.angle(end) - epoch.angle(begin)).as_turns();
            let gained = if gained < 0.5 { gained } else { gained - 1.0 };
            assert!((gained - 0.01 * deviation(7, second)).abs() < 1e-5, "{second}: {gained}");
        }
    }

    proptest! {
        /// A tick is said to be sure only where it is right; targets a hair before and behind ticks are the hard ones.
        #[test]
        fn sure_ticks_are_the_exact_ones(
            period in 2.0..4e9_f64, ticks in 0_u64..1 << 32, off in -9_i64..9, part: u64, turn: u64, narrow in 0_u32..64,
        ) {
            let epoch = Epoch::new(Nanos::ZERO, Angle::ZERO, period);
            let near = (u128::from(ticks % (period as u64 + 1)).wrapping_mul(epoch.rate) >> 64) as u64;
            let left = near.saturating_add_signed(off);
            let exactly = epoch.ticks_exactly(part, left).0;
            prop_assert!(sure_ticks(epoch.estimate(left)).is_none_or(|ticks| ticks == exactly));
            // A pass is the beginning and the end, each by itself.
            let (t, from, turn) = (Nanos(ticks), Angle(left), Angle((turn >> narrow).max(1)));
            let (start, end) = epoch.pass(t, from, turn);
            prop_assert_eq!(start, epoch.next(t, from));
            prop_assert_eq!(end, epoch.end_of(start, from, turn));
            let to_go = epoch.angle(t).until(from).0;
            if (epoch.angle(t) - from).0 > epoch.tick().0 {
                prop_assert_eq!((start, end), epoch.pass_exactly(t, (epoch.turned(t) as u64, to_go), turn));
            }
        }
    }

    /// The generator's published first outputs for seed 0.
    #[test]
    fn the_hash_is_splitmix() {
        assert_eq!(splitmix64(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(splitmix64(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }
}
