//! The energy of what a drive did.

use super::{ByState, ConditionWatts, RestTimes, Watts};

/// How long one arm was at work, in ns by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Active {
    /// Seeking and settling.
    pub seek: u64,
    /// Waiting for the sector.
    pub rotation: u64,
    /// Reading from the media.
    pub read: u64,
    /// Writing to the media.
    pub write: u64,
    /// The coil sped the arm up or slowed it down; a part of `seek`.
    pub coil: u64,
}

impl Active {
    /// As so many arms that did equal parts of it.
    pub fn shared_by(&self, arms: u32) -> impl Iterator<Item = Self> + use<> {
        let arms = u64::from(arms.max(1));
        let Self { seek, rotation, read, write, coil } = *self;
        (0..arms).map(move |arm| {
            let part = |whole: u64| whole / arms + u64::from(arm < whole % arms);
            Self {
                seek: part(seek),
                rotation: part(rotation),
                read: part(read),
                write: part(write),
                coil: part(coil),
            }
        })
    }

    fn total(&self) -> u128 {
        let Self { seek, rotation, read, write, coil: _ } = *self;
        [seek, rotation, read, write].into_iter().map(u128::from).sum()
    }
}

/// What a drive used over a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Joules, by state.
    pub by_state_j: ByState,
}

impl Energy {
    /// Of a drive whose arms were at work as `arms` tell, over `span_ns`. Each arm bears an equal share of what the drive draws
    /// idle, so that the states add up to the whole however many arms work at a time.
    pub fn new(watts: &Watts, arms: &[Active], span_ns: u128) -> Self {
        let count = arms.len().max(1) as f64;
        let seconds = |ns: u128| ns as f64 / 1e9;
        let time = |of: fn(&Active) -> u64| seconds(arms.iter().map(|arm| u128::from(of(arm))).sum());
        let time_s = ByState {
            idle: seconds(arms.iter().map(|arm| span_ns.saturating_sub(arm.total())).sum()),
            seek: time(|arm| arm.seek),
            rotation: time(|arm| arm.rotation),
            read: time(|arm| arm.read),
            write: time(|arm| arm.write),
            resting: 0.0,
        };
        let idle_w = watts.by_state().idle;
        let above_idle_j = ByState {
            idle: 0.0,
            resting: 0.0,
            seek: time(|arm| arm.coil) * watts.coil_w(),
            ..time_s.zip(watts.by_state(), |time_s, state_w| time_s * (state_w - idle_w))
        };
        Self { by_state_j: time_s.zip(&above_idle_j, |time_s, above| time_s / count * idle_w + above) }
    }

    /// The same of a drive that was in power conditions for so long, all of which counted as idle.
    #[must_use]
    pub fn with_rests(mut self, watts: &Watts, conditions: &[ConditionWatts], times: &RestTimes) -> Self {
        self.by_state_j.idle -= times.total().as_s() * watts.by_state().idle;
        self.by_state_j.resting +=
            conditions.iter().zip(&times.0).map(|(condition, times)| condition.energy_j(times)).sum::<f64>();
        self
    }

    /// All of it, in joules.
    pub fn total_j(&self) -> f64 {
        self.by_state_j.total()
    }

    /// Together with another drive's.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self { by_state_j: self.by_state_j.zip(&other.by_state_j, |a, b| a + b) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u128 = 1_000_000_000;

    fn watts() -> Watts {
        let by_state =
            ByState { idle: 8.0, seek: 14.0, rotation: 9.0, read: 10.0, write: 11.0, resting: 0.0 };
        Watts { by_state, coil_w: 6.0 }
    }

    #[test]
    fn a_drive_at_rest_draws_its_idle_watts() {
        for arms in 1..=4 {
            let energy = Energy::new(&watts(), &vec![Active::default(); arms], 10 * SECOND);
            assert_eq!(energy.total_j(), 80.0);
            assert_eq!(energy.by_state_j.idle, 80.0);
        }
    }

    /// The thesis' peak: each further arm that moves adds the power of its motor.
    #[test]
    fn every_moving_arm_adds_its_motor() {
        let seeking = Active { seek: 1_000_000_000, coil: 1_000_000_000, ..Active::default() };
        let energy = |arms: usize| Energy::new(&watts(), &vec![seeking; arms], SECOND).total_j();
        assert_eq!((energy(1), energy(2), energy(4)), (14.0, 20.0, 32.0));
    }

    /// Four arms that all seek all the time: what Table 2.1 of Sankar 2008 has, by energy; none of it is idle.
    #[test]
    fn arms_at_work_at_the_same_time_draw_each_their_share() {
        let by_state = ByState { idle: 6.0, seek: 13.0, ..*watts().by_state() };
        let watts = Watts { by_state, coil_w: 7.0 };
        let all = 4 * 1_000_000_003;
        let active = Active { seek: all, coil: all, ..Active::default() };
        let arms: Vec<Active> = active.shared_by(4).collect();
        assert_eq!(arms.iter().map(|arm| arm.seek).sum::<u64>(), active.seek);
        let energy = Energy::new(&watts, &arms, 1_000_000_003);
        assert!((energy.total_j() / 1.000_000_003 - 34.0).abs() < 1e-9, "{energy:?}");
        assert_eq!(energy.by_state_j.idle, 0.0);
    }

    /// Settling and coasting draw what the drive draws idle.
    #[test]
    fn a_seek_draws_by_its_coil() {
        let energy = |coil| {
            let active = Active { seek: 1_000_000_000, coil, ..Active::default() };
            Energy::new(&watts(), &[active], 2 * SECOND).by_state_j
        };
        assert_eq!((energy(0).seek, energy(500_000_000).seek), (8.0, 11.0));
        assert_eq!(energy(500_000_000).idle, 8.0);
    }

    proptest! {
        #[test]
        fn states_add_up_to_idle_and_what_work_adds(
            times in proptest::collection::vec((0..100u64, 0..100u64, 0..100u64, 0..100u64), 1..5),
            coiled in 0..=100u64,
        ) {
            let ms = |count: u64| count * 1_000_000;
            let arms: Vec<Active> = times
                .iter()
                .map(|&(seek, rotation, read, write)| Active {
                    seek: ms(seek), rotation: ms(rotation), read: ms(read), write: ms(write),
                    coil: ms(seek * coiled) / 100,
                })
                .collect();
            let energy = Energy::new(&watts(), &arms, SECOND);
            let above = |t: &(u64, u64, u64, u64)| 6 * t.0 * coiled + 100 * (t.1 + 2 * t.2 + 3 * t.3);
            let above: u64 = times.iter().map(above).sum();
            prop_assert!((energy.total_j() - (8.0 + above as f64 / 1e5)).abs() < 1e-9);
        }
    }
}
