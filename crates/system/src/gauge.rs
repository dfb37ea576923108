//! A count that changes over time, such as the length of a queue.

use headstack_units::Nanos;

/// Time-weighted sum and maximum of a count.
///
/// Only differences of instants enter the sum, so that it does not depend on the order in which rises and falls are told
/// (the maximum does).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauge {
    value: u64,
    max: u64,
    /// The instants of all falls less those of all rises, in ns.
    balance: i128,
}

impl Gauge {
    /// At zero.
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
    #[inline]
    pub fn rise(&mut self, now: Nanos) {
        self.value += 1;
        self.max = self.max.max(self.value);
        self.balance -= i128::from(now.0);
    }

    /// One less from `now` on.
    #[inline]
    pub fn fall(&mut self, now: Nanos) {
        debug_assert!(self.value > 0, "a count falls below zero");
        self.value -= 1;
        self.balance += i128::from(now.0);
    }

    /// One more for this long, whenever that was.
    #[inline]
    pub fn add(&mut self, length: Nanos) {
        self.balance += i128::from(length.0);
    }

    /// At `value`, before anything is counted.
    pub fn at(value: u64) -> Self {
        Self { value, max: value, balance: 0 }
    }

    /// Goes on as `later` did, which began at this count.
    pub fn follow(&mut self, later: &Self) {
        self.value = later.value;
        self.max = self.max.max(later.max);
        self.balance += later.balance;
    }

    /// Forgets what was before `now`; the count itself stays.
    pub fn restart(&mut self, now: Nanos) {
        *self = Self {
            value: self.value,
            max: self.value,
            balance: -(i128::from(self.value) * i128::from(now.0)),
        };
    }

    /// Count × time up to `now`, in ns; no rise or fall so far was later.
    pub fn area_until(&self, now: Nanos) -> u128 {
        let area = self.balance + i128::from(self.value) * i128::from(now.0);
        debug_assert!(area >= 0, "a count that ends before it began");
        area.max(0).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_weighted_by_time() {
        let mut gauge = Gauge::new();
        gauge.rise(Nanos(10));
        gauge.rise(Nanos(20));
        gauge.fall(Nanos(25));
        assert_eq!((gauge.area_until(Nanos(30)), gauge.max(), gauge.value()), (10 + 10 + 5, 2, 1));
        gauge.restart(Nanos(30));
        assert_eq!((gauge.area_until(Nanos(40)), gauge.max()), (10, 1));
        gauge.add(Nanos(7));
        gauge.fall(Nanos(41));
        assert_eq!((gauge.area_until(Nanos(50)), gauge.value()), (18, 0));
    }
}
