//! The rotation as seen from outside: phases of instants, and when the head could be where.

use headstack_units::Nanos;

/// A steady rotation. Phases are in turns; their origin is the device's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spindle {
    /// Time of a turn, in ns.
    pub(crate) period_ns: f64,
}

/// `turns` without whole turns, in [0, 1).
pub(crate) fn wrap(turns: f64) -> f64 {
    let within = turns.rem_euclid(1.0);
    if within < 1.0 { within } else { 0.0 }
}

/// `turns` without whole turns, in [−½, ½).
pub(crate) fn wrap_signed(turns: f64) -> f64 {
    wrap(turns + 0.5) - 0.5
}

impl Spindle {
    pub(crate) fn phase(self, at: Nanos) -> f64 {
        (at.0 as f64 / self.period_ns).fract()
    }

    pub(crate) fn turns(self, ms: f64) -> f64 {
        ms * 1e6 / self.period_ns
    }

    pub(crate) fn ms(self, turns: f64) -> f64 {
        turns * self.period_ns / 1e6
    }

    /// The first instant at or after `now` with a phase.
    pub(crate) fn next(self, now: Nanos, phase: f64) -> Nanos {
        let wait = wrap(phase - self.phase(now)) * self.period_ns;
        now + Nanos(wait.round() as u64)
    }
}
