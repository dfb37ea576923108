//! A count that changes over time, such as the length of a queue.

use headstack_units::Nanos;

/// Time-weighted mean and maximum of a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauge {
    value: u64,
    max: u64,
    since: Nanos,
    /// Count × time up to `since`, in ns.
    area: u128,
}

impl Gauge {
    /// At zero, from instant zero on.
    pub fn new() -> Self {
        Self::default()
    }

    /// The count now.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The largest count so far.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// One more from `now` on.
    pub fn rise(&mut self, now: Nanos) {
        self.set(now, self.value + 1);
    }

    /// One less from `now` on.
    pub fn fall(&mut self, now: Nanos) {
        self.set(now, self.value.saturating_sub(1));
    }

    /// Exactly `value` from `now` on.
    pub fn set(&mut self, now: Nanos, value: u64) {
        self.area += u128::from(self.value) * u128::from(now.saturating_sub(self.since).0);
        self.since = self.since.max(now);
        self.value = value;
        self.max = self.max.max(value);
    }

    /// Forgets what was before `now`; the count itself stays.
    pub fn restart(&mut self, now: Nanos) {
        *self = Self { value: self.value, max: self.value, since: now, area: 0 };
    }

    /// Count × time up to `now`, in ns.
    pub fn area_until(&self, now: Nanos) -> u128 {
        self.area + u128::from(self.value) * u128::from(now.saturating_sub(self.since).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mut gauge = Gauge::new();
        gauge.rise(Nanos(10));
        gauge.rise(Nanos(20));
        gauge.fall(Nanos(25));
        assert_eq!((gauge.area_until(Nanos(30)), gauge.max(), gauge.value()), (10 + 10 + 5, 2, 1));
        gauge.restart(Nanos(30));
        assert_eq!((gauge.area_until(Nanos(40)), gauge.max()), (10, 1));
    }
}
