//! Command duration limits of a description.

use crate::spec::{ControllerSpec, DurationLimitSpec, LimitPolicy};
use headstack_units::{Nanos, RequestFlags};

/// The descriptors, the first at index 0.
#[derive(Clone, Debug)]
pub(crate) struct Limits(Vec<(Nanos, LimitPolicy)>);

impl Limits {
    pub(super) fn new(controller: &ControllerSpec) -> Self {
        let alone = controller
            .duration_limit_ms
            .map(|limit_ms| DurationLimitSpec { limit_ms, policy: LimitPolicy::default() });
        let all = alone.iter().chain(&controller.duration_limits);
        Self(all.map(|limit| (Nanos::from_ms(limit.limit_ms), limit.policy)).collect())
    }

    /// The limit that holds for a command of this age, if any.
    pub(crate) fn of(&self, flags: RequestFlags, age: Nanos) -> Option<Nanos> {
        let named = flags.duration_limit().checked_sub(1)?;
        for &(limit, policy) in self.0.get(named..)? {
            match policy {
                _ if age <= limit => return Some(limit),
                LimitPolicy::CompleteEarliest => return Some(limit),
                LimitPolicy::NoLimit => return None,
                LimitPolicy::NextLimit => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(all: &[(f64, LimitPolicy)]) -> Limits {
        let limit = |&(limit_ms, policy): &(f64, LimitPolicy)| DurationLimitSpec { limit_ms, policy };
        let duration_limits = all.iter().map(limit).collect();
        Limits::new(&ControllerSpec { duration_limits, ..ControllerSpec::default() })
    }

    #[test]
    fn a_limit_that_has_passed_means_what_its_policy_says() {
        let limits = limits(&[
            (20.0, LimitPolicy::NextLimit),
            (50.0, LimitPolicy::NoLimit),
            (100.0, LimitPolicy::CompleteEarliest),
        ]);
        let held = |number: u16, age_ms: f64| {
            limits.of(RequestFlags::limited_by(number), Nanos::from_ms(age_ms)).map(Nanos::as_ms)
        };
        assert_eq!([10.0, 30.0, 60.0].map(|age| held(1, age)), [Some(20.0), Some(50.0), None]);
        assert_eq!([10.0, 60.0].map(|age| held(2, age)), [Some(50.0), None]);
        assert_eq!([10.0, 500.0].map(|age| held(3, age)), [Some(100.0), Some(100.0)]);
        // None is named, or one that the drive does not have.
        assert_eq!([held(0, 10.0), held(4, 10.0), held(7, 10.0)], [None; 3]);
    }
}
