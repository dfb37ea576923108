//! What the command before changes. Least times are measured behind writes (of a device that must not be written: behind
//! reads); how much later or earlier a seek begins behind a read shows in accesses here and there, reads and writes in
//! turns: each says that its least time is no more than what it took, and more than a revolution less.

use super::seeks::Seeks;
use super::times::Times;
use crate::angles::landing::{Landing, least_turns};
use crate::angles::spindle::Spindle;
use crate::reading::cylinders::CylinderMap;
use crate::reading::known::Known;
use crate::reading::stalls::Estimate;
use crate::record::series::seek_curve::IN_TURNS;
use crate::record::{ProbeName, Record, Sample};

/// So many accesses tell.
const ENOUGH: usize = 60;
/// Of so many, this share may be odd.
const LEAST_ODD: f64 = 0.015;
/// Shorter seeks than this may be hidden beside what a command takes anyhow, in cylinders.
const LEAST_CYLINDERS: u64 = 20;

/// By how much later a seek begins behind a read than behind a write, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct History {
    pub(super) read: Option<Estimate>,
    pub(super) write: Option<Estimate>,
}

impl History {
    pub(super) fn of(
        record: &Record,
        known: &Known,
        map: Option<&CylinderMap>,
        (times, seeks): (&Times, &Seeks),
        slope: impl Fn(u64) -> f64,
    ) -> Self {
        let (Some(spindle), Some(map)) = (known.spindle, map) else { return Self::default() };
        let of = |writes: bool| {
            let rest_ms = if writes { times.write.same?.ms } else { times.read.same?.ms };
            let taken: Vec<Landing> = behind_reads(record, known)
                .filter(|(_, sample)| sample.mode.is_write() == writes)
                .filter_map(|(before, sample)| {
                    let (from, to) = (map.of_lba(before.lba)?, map.of_lba(sample.lba)?);
                    let cylinders = from.abs_diff(to);
                    let inwards = seeks.inward_extra_ms.unwrap_or(0.0) * if to > from { 1.0 } else { -1.0 };
                    let seek_ms =
                        seeks.before(writes, cylinders).filter(|_| cylinders >= LEAST_CYLINDERS)? + inwards;
                    let passing = slope(sample.lba) * f64::from(sample.sectors);
                    let least = spindle.turns(rest_ms + seek_ms) + passing;
                    Some(Landing { turns: spindle.turns(sample.latency_ms()) - least })
                })
                .collect();
            estimate(&taken, spindle)
        };
        Self { read: of(false), write: of(true) }
    }
}

/// Accesses behind a read, each with that read.
fn behind_reads<'a>(record: &'a Record, known: &'a Known) -> impl Iterator<Item = (&'a Sample, &'a Sample)> {
    let all: Vec<&Sample> =
        record.of(ProbeName::SeekCurve).filter(|s| s.series == IN_TURNS && s.ok).collect();
    let pairs: Vec<(&Sample, &Sample)> = all.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter().filter(|(before, sample)| {
        !before.mode.is_write() && known.hits.leave(before) && known.hits.leave(sample)
    })
}

/// How many take at least so much longer, and less than a turn more.
fn fitting(taken: &[Landing], turns: f64) -> usize {
    taken.iter().filter(|landing| (turns..turns + 1.0).contains(&landing.turns)).count()
}

/// Where nearly all of them agree, and how far that reaches.
fn estimate(taken: &[Landing], spindle: Spindle) -> Option<Estimate> {
    let (turns, half_width) = least_turns(taken).filter(|_| taken.len() >= ENOUGH)?;
    // Some take longer for other reasons, as where what is read ahead has moved the arm: as many as that are no sign that all do.
    let odd = (LEAST_ODD * taken.len() as f64).max(2.0) as usize;
    let turns = if fitting(taken, turns) <= fitting(taken, 0.0) + odd { 0.0 } else { turns };
    // The next access on either side would be half a gap farther off.
    let gap = 1.0 / taken.len() as f64;
    Some(Estimate { value: spindle.ms(turns), ci95: spindle.ms(half_width + gap) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn later(turns: f64, odd: usize) -> f64 {
        let spindle = Spindle { period_ns: 1e7 };
        let mut taken: Vec<Landing> =
            (0..300).map(|place| Landing { turns: turns + f64::from(place) / 300.0 }).collect();
        taken.iter_mut().take(odd).for_each(|landing| landing.turns += 1.0);
        estimate(&taken, spindle).unwrap().value
    }

    #[test]
    fn a_few_that_take_longer_are_not_all() {
        // Those that land first take a turn longer: the others could as well begin later.
        assert!(later(0.0, 4).abs() < 0.02, "{}", later(0.0, 4));
        assert!((later(0.035, 0) - 0.35).abs() < 0.05, "{}", later(0.035, 0));
    }
}
