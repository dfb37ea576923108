//! Command duration limits of a description.

use crate::command::Ending;
use crate::spec::{ControllerSpec, DurationLimitSpec, LimitPolicy};
use headstack_units::{Nanos, RequestFlags};

/// The descriptors, the first at index 0.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    all: Vec<Limit>,
    /// Commands may end without their data.
    pub(crate) end_commands: bool,
}

/// One descriptor: times with what holds when they have passed.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// From arrival to completion.
    guideline: Option<(Nanos, LimitPolicy)>,
    /// From arrival to dispatch.
    inactive: Option<(Nanos, LimitPolicy)>,
    /// From dispatch to completion.
    active: Option<(Nanos, LimitPolicy)>,
}

impl Limits {
    pub(super) fn new(controller: &ControllerSpec) -> Self {
        let alone = controller
            .duration_limit_ms
            .map(|limit_ms| DurationLimitSpec { limit_ms: Some(limit_ms), ..DurationLimitSpec::default() });
        let all = alone.iter().chain(&controller.duration_limits);
        let held = |time: Option<f64>, policy| time.map(|ms| (Nanos::from_ms(ms), policy));
        Self {
            end_commands: all.clone().any(DurationLimitSpec::ends),
            all: all
                .map(|limit| Limit {
                    guideline: held(limit.limit_ms, limit.policy),
                    inactive: held(limit.inactive_ms, limit.inactive_policy),
                    active: held(limit.active_ms, limit.active_policy),
                })
                .collect(),
        }
    }

    /// The descriptor that a command names, and those behind it.
    fn named(&self, flags: RequestFlags) -> Option<(&Limit, &[Limit])> {
        self.all.get(flags.duration_limit().checked_sub(1)?..)?.split_first()
    }

    /// By what age a waiting command of this age should be begun or complete, whichever comes first, if by any.
    pub(crate) fn of(&self, flags: RequestFlags, age: Nanos) -> Option<Nanos> {
        let (first, rest) = self.named(flags)?;
        let guideline = guideline(first, rest, age);
        let inactive = first.inactive.map(|(limit, _)| limit);
        match (guideline, inactive) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// At what age a command that still waits ends without its data, and how.
    pub(crate) fn end_waiting(&self, flags: RequestFlags) -> Option<(Nanos, Ending)> {
        let (first, rest) = self.named(flags)?;
        sooner(end_of_guideline(first, rest), first.inactive.and_then(ending))
    }

    /// At what age a command that the drive began with at the age `begun` ends without its data, and how.
    pub(crate) fn end_running(&self, flags: RequestFlags, begun: Nanos) -> Option<(Nanos, Ending)> {
        let (first, rest) = self.named(flags)?;
        let active = first.active.and_then(ending).map(|(limit, how)| (begun + limit, how));
        sooner(end_of_guideline(first, rest), active)
    }
}

/// The limit until completion that holds at an age.
fn guideline(first: &Limit, rest: &[Limit], age: Nanos) -> Option<Nanos> {
    for limit in std::iter::once(first).chain(rest) {
        let (limit, policy) = limit.guideline?;
        match policy {
            _ if age <= limit => return Some(limit),
            LimitPolicy::NextLimit => {}
            LimitPolicy::NoLimit => return None,
            LimitPolicy::CompleteEarliest | LimitPolicy::CompleteUnavailable | LimitPolicy::Abort => {
                return Some(limit);
            }
        }
    }
    None
}

fn end_of_guideline(first: &Limit, rest: &[Limit]) -> Option<(Nanos, Ending)> {
    let mut all = std::iter::once(first).chain(rest).map_while(|limit| limit.guideline);
    all.find(|(_, policy)| *policy != LimitPolicy::NextLimit).and_then(ending)
}

fn ending((limit, policy): (Nanos, LimitPolicy)) -> Option<(Nanos, Ending)> {
    match policy {
        LimitPolicy::CompleteUnavailable => Some((limit, Ending::Unavailable)),
        LimitPolicy::Abort => Some((limit, Ending::Aborted)),
        LimitPolicy::CompleteEarliest | LimitPolicy::NextLimit | LimitPolicy::NoLimit => None,
    }
}

fn sooner(one: Option<(Nanos, Ending)>, other: Option<(Nanos, Ending)>) -> Option<(Nanos, Ending)> {
    one.into_iter().chain(other).min_by_key(|(at, _)| *at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(all: &[DurationLimitSpec]) -> Limits {
        Limits::new(&ControllerSpec { duration_limits: all.to_vec(), ..ControllerSpec::default() })
    }

    fn until_complete(limit_ms: f64, policy: LimitPolicy) -> DurationLimitSpec {
        DurationLimitSpec { limit_ms: Some(limit_ms), policy, ..DurationLimitSpec::default() }
    }

    #[test]
    fn a_limit_that_has_passed_means_what_its_policy_says() {
        let limits = limits(&[
            until_complete(20.0, LimitPolicy::NextLimit),
            until_complete(50.0, LimitPolicy::NoLimit),
            until_complete(100.0, LimitPolicy::CompleteEarliest),
        ]);
        let held = |number: u16, age_ms: f64| {
            limits.of(RequestFlags::limited_by(number), Nanos::from_ms(age_ms)).map(Nanos::as_ms)
        };
        assert_eq!([10.0, 30.0, 60.0].map(|age| held(1, age)), [Some(20.0), Some(50.0), None]);
        assert_eq!([10.0, 60.0].map(|age| held(2, age)), [Some(50.0), None]);
        assert_eq!([10.0, 500.0].map(|age| held(3, age)), [Some(100.0), Some(100.0)]);
        // None is named, or one that the drive does not have.
        assert_eq!([held(0, 10.0), held(4, 10.0), held(7, 10.0)], [None; 3]);
        assert!(!limits.end_commands);
    }

    #[test]
    fn a_command_ends_by_the_first_limit_that_ends_it() {
        let limits = limits(&[
            until_complete(20.0, LimitPolicy::NextLimit),
            DurationLimitSpec {
                inactive_ms: Some(30.0),
                inactive_policy: LimitPolicy::Abort,
                active_ms: Some(15.0),
                active_policy: LimitPolicy::Abort,
                ..until_complete(40.0, LimitPolicy::CompleteUnavailable)
            },
        ]);
        let named = RequestFlags::limited_by;
        let ms = |end: Option<(Nanos, Ending)>| end.map(|(at, how)| (at.as_ms(), how));
        assert!(limits.end_commands);
        // By the next descriptor's limit until completion, and by nothing else of it.
        assert_eq!(ms(limits.end_waiting(named(1))), Some((40.0, Ending::Unavailable)));
        assert_eq!(ms(limits.end_running(named(1), Nanos::ZERO)), Some((40.0, Ending::Unavailable)));
        assert_eq!(ms(limits.end_waiting(named(2))), Some((30.0, Ending::Aborted)));
        assert_eq!(ms(limits.end_running(named(2), Nanos::from_ms(10.0))), Some((25.0, Ending::Aborted)));
        assert_eq!(ms(limits.end_running(named(2), Nanos::from_ms(29.0))), Some((40.0, Ending::Unavailable)));
        assert_eq!(limits.of(named(2), Nanos::ZERO), Some(Nanos::from_ms(30.0)));
        assert_eq!(ms(limits.end_waiting(named(0))), None);
    }
}
