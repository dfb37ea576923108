//! Landings: accesses seen as positionings, and the least time that they agree on.

use super::spindle::wrap;

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
