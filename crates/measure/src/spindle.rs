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

/// The middle of phases that lie close together; robust against a few that do not.
pub(crate) fn circular_median(phases: &[f64]) -> f64 {
    let Some(&first) = phases.first() else { return 0.0 };
    // Around the phase with the least distance to the others, the circle is a line.
    let distance = |center: f64| phases.iter().map(|&phase| wrap_signed(phase - center).abs()).sum::<f64>();
    let center = phases.iter().copied().min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap_or(first);
    let offsets: Vec<f64> = phases.iter().map(|&phase| wrap_signed(phase - center)).collect();
    wrap(center + median(&offsets))
}

/// The middle value; 0 of none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// The scale of a spread by its median absolute deviation, as a standard deviation of a normal one.
pub(crate) fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&deviations)
}

/// One access seen as a positioning: how long it took in turns, where that fits the sector's phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Landing {
    /// From issue to completion, a whole number of turns more than from issue to the sector's next coming, in turns.
    pub(crate) turns: f64,
}

impl Landing {
    /// From the phase at issue, the sector's phase and the latency; `None` where the latency does not fit the phase by more than
    /// `tolerance` turns.
    pub(crate) fn of(issued: f64, sector: f64, latency_turns: f64, tolerance: f64) -> Option<Self> {
        let gap = wrap(sector - issued);
        let extra = (latency_turns - gap).round();
        let misfit = latency_turns - gap - extra;
        (misfit.abs() <= tolerance && gap + extra >= 0.0).then_some(Self { turns: gap + extra })
    }
}

/// The least time to a sector: each landing says that it is at most what the landing took, and more than a turn less.
/// Returns the middle of what most landings agree on, and half its width, in turns.
pub(crate) fn least_turns(landings: &[Landing]) -> Option<(f64, f64)> {
    let mut edges: Vec<(f64, i32)> = Vec::with_capacity(2 * landings.len());
    for landing in landings {
        edges.push((landing.turns - 1.0, 1));
        edges.push((landing.turns, -1));
    }
    edges.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let (mut depth, mut best) = (0, (0, 0.0, 0.0));
    for (index, &(at, change)) in edges.iter().enumerate() {
        depth += change;
        if depth > best.0 {
            let until = edges.get(index + 1).map_or(at, |next| next.0);
            best = (depth, at, until);
        }
    }
    (best.0 > 0).then(|| (f64::midpoint(best.1, best.2), (best.2 - best.1) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_wrap_and_have_a_middle() {
        assert!(wrap_signed(circular_median(&[0.99, 0.01, 0.0, 0.5])).abs() < 0.011);
        assert!((wrap_signed(0.75) + 0.25).abs() < 1e-12);
        assert!((median(&[3.0, 1.0, 2.0, 10.0]) - 2.5).abs() < 1e-12);
    }

    #[test]
    fn the_least_time_lies_between_a_hit_and_a_miss() {
        // 0.30 turns suffice: 0.31 is on time, 0.29 costs a turn; one liar among them.
        let landings: Vec<Landing> =
            [0.31, 0.5, 0.9, 1.29, 1.1, 1.2, 2.25].iter().map(|&turns| Landing { turns }).collect();
        let (least, width) = least_turns(&landings).unwrap();
        assert!((least - 0.30).abs() < 1e-9 && (width - 0.01).abs() < 1e-9, "{least} {width}");
        assert_eq!(Landing::of(0.9, 0.1, 1.2, 0.02).map(|l| (l.turns * 1e9).round()), Some(1.2e9));
        assert_eq!(Landing::of(0.9, 0.1, 1.5, 0.02), None);
    }
}
