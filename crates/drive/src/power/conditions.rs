//! Power conditions: what a drive sinks into, one after the other, when its arm rests long enough, and what it takes to come back.
//!
//! The clock of all of them starts when the arm's last work ends, as the timers of ATA's extended power conditions do with the last
//! command. Whoever needs the arm then wakes the drive: a change of state that has begun is ended first, and the way back
//! takes what the condition says. So a change of state is never cheaper for being short.

use super::Watts;
use crate::spec::{DriveSpec, PowerConditionSpec, PowerSpec, SpeedChange};
use headstack_units::Nanos;

/// As many as ATA and SCSI have: `idle_a`, `idle_b`, `idle_c`, `standby_y` and `standby_z`.
pub const MOST_CONDITIONS: usize = 5;

/// When a condition begins, and what the changes into and out of it take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stage {
    after: Nanos,
    enter: Nanos,
    recover: Nanos,
}

/// The conditions of a drive, in the order in which it enters them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions(Vec<Stage>);

/// How long a drive was in one condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConditionTimes {
    /// How often it began to enter.
    pub entered: u64,
    /// Entering.
    pub entering: Nanos,
    /// In it.
    pub within: Nanos,
    /// On the way back to full readiness.
    pub recovering: Nanos,
}

impl ConditionTimes {
    /// All of it.
    pub fn total(&self) -> Nanos {
        self.entering + self.within + self.recovering
    }
}

/// A rest long enough for a condition, which came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Since when no arm worked.
    pub since: Nanos,
    /// When an arm was needed…
    pub woken: Nanos,
    /// …and when it was ready.
    pub ready: Nanos,
}

/// How long a drive was in each of its conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestTimes(pub [ConditionTimes; MOST_CONDITIONS]);

impl RestTimes {
    fn zip(
        &self,
        other: &Self,
        count: impl Fn(u64, u64) -> u64,
        time: impl Fn(Nanos, Nanos) -> Nanos,
    ) -> Self {
        Self(std::array::from_fn(|index| {
            let (a, b) = (self.0[index], other.0[index]);
            ConditionTimes {
                entered: count(a.entered, b.entered),
                entering: time(a.entering, b.entering),
                within: time(a.within, b.within),
                recovering: time(a.recovering, b.recovering),
            }
        }))
    }

    /// Together with others.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a + b, |a, b| a + b)
    }

    /// What has come since they were `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        self.zip(before, u64::saturating_sub, Nanos::saturating_sub)
    }

    /// In any condition, and on the ways in and out.
    pub fn total(&self) -> Nanos {
        self.0.iter().fold(Nanos::ZERO, |sum, times| sum + times.total())
    }
}

impl Conditions {
    pub(crate) fn new(spec: &DriveSpec) -> Self {
        let power = spec.power.as_ref();
        let stage = |condition: &PowerConditionSpec| {
            let [enter, recover] = changes(condition, power?);
            let time = |change: SpeedChange| Nanos::from_s(change.time_s);
            Some(Stage {
                after: Nanos::from_s(condition.after_s),
                enter: time(enter),
                recover: time(recover),
            })
        };
        Self(power.into_iter().flat_map(|power| &power.condition).filter_map(stage).collect())
    }

    /// How long the arm rests before the first begins; [`Nanos::MAX`] where there is none.
    pub(crate) fn first_after(&self) -> Nanos {
        self.0.first().map_or(Nanos::MAX, |stage| stage.after)
    }

    /// When a drive whose arm rests since `since` is ready if it is woken at `woken`.
    pub(crate) fn awake(&self, since: Nanos, woken: Nanos) -> Nanos {
        match self.0.iter().rfind(|stage| since + stage.after <= woken) {
            None => woken,
            Some(stage) => woken.max(since + stage.after + stage.enter) + stage.recover,
        }
    }

    /// How long a drive is in each condition up to `until` whose arm rests since `since`, and which is woken at `woken`, if it is.
    pub(crate) fn times(&self, since: Nanos, woken: Option<Nanos>, until: Nanos) -> RestTimes {
        let mut times = RestTimes::default();
        let rests_until = woken.map_or(until, |woken| woken.min(until));
        for (index, stage) in self.0.iter().enumerate() {
            let begin = since + stage.after;
            if begin > rests_until || (begin == rests_until && woken.is_none_or(|woken| woken > until)) {
                break;
            }
            let next = self.0.get(index + 1).map(|next| since + next.after);
            let entered = begin + stage.enter;
            // What has begun is ended, and only then does the way back begin; unless a deeper one has come before.
            let left = match (next.filter(|&next| next <= rests_until), woken) {
                (Some(next), _) => next,
                (None, Some(woken)) => woken.max(entered),
                (None, None) => until,
            };
            let back = if next.is_none_or(|next| next > rests_until) && woken.is_some() {
                left + stage.recover
            } else {
                left
            };
            let part = |from: Nanos, to: Nanos| to.min(until).saturating_sub(from);
            times.0[index] = ConditionTimes {
                entered: 1,
                entering: part(begin, entered.min(left)),
                within: part(entered, left),
                recovering: part(left, back),
            };
        }
        times
    }
}

/// The changes into a condition and back: its own, those of the spindle where the disks stand still in it, or none.
pub(crate) fn changes(condition: &PowerConditionSpec, power: &PowerSpec) -> [SpeedChange; 2] {
    let stands = condition.rpm == Some(0.0);
    let none = SpeedChange { time_s: 0.0, energy_j: 0.0 };
    let change = |own: Option<SpeedChange>, spindle: Option<SpeedChange>| {
        own.or(if stands { spindle } else { None }).unwrap_or(none)
    };
    [change(condition.enter, power.spin_down), change(condition.recover, power.spin_up)]
}

/// What a drive draws in a condition once it is in it; `None` where its file does not tell.
pub(crate) fn watts_in(condition: &PowerConditionSpec, power: &PowerSpec) -> Option<f64> {
    let at_speed = || match condition.rpm {
        Some(0.0) => power.standby_w,
        Some(rpm) => Watts::at(power, rpm).map(|watts| watts.idle),
        None => None,
    };
    condition.watts.or_else(at_speed)
}

/// What a condition is called, and what it draws.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionWatts {
    /// Its name.
    pub name: String,
    /// In it.
    pub within_w: f64,
    /// On the way in.
    pub entering_w: f64,
    /// On the way back.
    pub recovering_w: f64,
}

impl ConditionWatts {
    /// Of each condition of a drive; none where its watts are not known.
    pub fn all(spec: &DriveSpec) -> Vec<Self> {
        let Some(power) = &spec.power else { return Vec::new() };
        let mean = |change: SpeedChange| {
            if change.time_s > 0.0 { change.energy_j / change.time_s } else { 0.0 }
        };
        let of = |condition: &PowerConditionSpec| {
            let [enter, recover] = changes(condition, power);
            Some(Self {
                name: condition.name.clone(),
                within_w: watts_in(condition, power)?,
                entering_w: mean(enter),
                recovering_w: mean(recover),
            })
        };
        power.condition.iter().filter_map(of).collect()
    }

    /// What was drawn in so long a time, in joules.
    pub fn energy_j(&self, times: &ConditionTimes) -> f64 {
        let part = |time: Nanos, watts: f64| time.as_s() * watts;
        part(times.entering, self.entering_w)
            + part(times.within, self.within_w)
            + part(times.recovering, self.recovering_w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn s(seconds: u64) -> Nanos {
        Nanos(seconds * 1_000_000_000)
    }

    /// Slower disks after 10 s (2 s down, 3 s up), none turning after 60 s (5 s down, 15 s up).
    fn two() -> Conditions {
        let stage = |after, enter, recover| Stage { after: s(after), enter: s(enter), recover: s(recover) };
        Conditions(vec![stage(10, 2, 3), stage(60, 5, 15)])
    }

    fn times(entering: u64, within: u64, recovering: u64) -> ConditionTimes {
        let entered = u64::from(entering + within + recovering > 0);
        ConditionTimes { entered, entering: s(entering), within: s(within), recovering: s(recovering) }
    }

    #[test]
    fn a_drive_is_ready_when_the_change_that_had_begun_is_ended_and_undone() {
        // Woken after so many seconds of rest, since second 100; ready at.
        let expected =
            [(5, 105), (10, 115), (11, 115), (12, 115), (30, 133), (59, 162), (60, 180), (70, 185)];
        for (rested, ready) in expected {
            assert_eq!(two().awake(s(100), s(100 + rested)), s(ready), "after {rested} s");
        }
    }

    #[test]
    fn times_are_of_each_condition_and_the_ways_in_and_out() {
        let of = |woken: Option<u64>, until: u64| two().times(s(0), woken.map(s), s(until)).0;
        assert_eq!(of(None, 9)[..2], [times(0, 0, 0); 2]);
        assert_eq!(of(None, 11)[..2], [times(1, 0, 0), times(0, 0, 0)]);
        assert_eq!(of(None, 100)[..2], [times(2, 48, 0), times(5, 35, 0)]);
        assert_eq!(of(Some(100), 200)[..2], [times(2, 48, 0), times(5, 35, 15)]);
        assert_eq!(of(Some(100), 104)[..2], [times(2, 48, 0), times(5, 35, 4)]);
        assert_eq!(of(Some(11), 200)[..2], [times(2, 0, 3), times(0, 0, 0)]);
        assert_eq!(of(Some(30), 200)[..2], [times(2, 18, 3), times(0, 0, 0)]);
        assert_eq!(of(Some(5), 200), RestTimes::default().0);
    }

    proptest! {
        /// From the first condition's beginning to readiness nothing is left out and nothing counted twice, wherever it is cut.
        #[test]
        fn no_time_is_lost(woken in 0..200u64, until in 0..250u64) {
            let (whole, ready) = (two().times(s(0), Some(s(woken)), s(1_000)), two().awake(s(0), s(woken)));
            let rest = ready.saturating_sub(s(10)).0 * u64::from(woken >= 10);
            prop_assert_eq!(whole.total(), Nanos(rest));
            let cut = two().times(s(0), Some(s(woken)), s(until));
            let slept = s(until).min(ready).saturating_sub(s(10)).0 * u64::from(woken >= 10);
            prop_assert_eq!(cut.total(), Nanos(slept));
            prop_assert!(whole.since(&cut).total() + cut.total() == whole.total());
        }
    }
}
