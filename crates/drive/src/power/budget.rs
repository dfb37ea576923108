//! The budget of a design: watts by state, for a spindle speed and a number of arms.

use super::{ByState, Watts, drag_w};
use crate::spec::PowerSpec;
use schemars::JsonSchema;
use serde::Serialize;

/// What a drive draws in each state, and at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Budget {
    /// Spindle speed.
    pub rpm: f64,
    /// Arms that can move at a time.
    pub actuators: u32,
    /// Watts with one arm at work.
    pub by_state_w: ByState,
    /// Watts with all arms seeking.
    pub all_seeking_w: f64,
    /// The part of every state that goes into the disks' drag; `null` where it is not known what disks turn.
    pub drag_w: Option<f64>,
    /// Watts with the disks standing still.
    pub standby_w: Option<f64>,
    /// The shortest pause for which spinning down saves energy, at the rated speed; `null` where that is not known.
    pub break_even_s: Option<f64>,
}

impl Budget {
    /// At `rpm`, with so many arms; `None` at a speed for which the watts are not known.
    pub fn new(power: &PowerSpec, rpm: f64, actuators: u32) -> Option<Self> {
        let by_state_w = Watts::at(power, rpm)?;
        Some(Self {
            rpm,
            actuators,
            by_state_w,
            all_seeking_w: by_state_w.idle + f64::from(actuators) * (by_state_w.seek - by_state_w.idle),
            drag_w: power.spindle.as_ref().map(|stack| drag_w(stack, rpm)),
            standby_w: power.standby_w,
            break_even_s: if rpm == power.rated_rpm { break_even_s(power) } else { None },
        })
    }
}

/// A pause of T costs idle·T spinning, or both changes of speed and standby for the rest of it: the T where they are equal.
fn break_even_s(power: &PowerSpec) -> Option<f64> {
    let (standby, up, down) = (power.standby_w?, power.spin_up?, power.spin_down?);
    let changes_s = up.time_s + down.time_s;
    let saved = power.idle_w - standby;
    let even = (up.energy_j + down.energy_j - standby * changes_s) / saved;
    (saved > 0.0).then(|| even.max(changes_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{DiskStack, Gas, SpeedChange};

    /// The Ultrastar 36Z15 as the literature on spinning down has it.
    fn ultrastar() -> PowerSpec {
        PowerSpec {
            rated_rpm: 15_000.0,
            idle_w: 10.2,
            seek_w: 13.5,
            rotation_w: 13.5,
            read_w: 13.5,
            write_w: 13.5,
            standby_w: Some(2.5),
            spin_up: Some(SpeedChange { time_s: 10.9, energy_j: 135.0 }),
            spin_down: Some(SpeedChange { time_s: 1.5, energy_j: 13.0 }),
            spindle: None,
            condition: Vec::new(),
        }
    }

    #[test]
    fn spinning_down_pays_after_fifteen_seconds() {
        let pause = Budget::new(&ultrastar(), 15_000.0, 1).unwrap().break_even_s.unwrap();
        let (spinning, stopped) = (10.2 * pause, 13.0 + 135.0 + 2.5 * (pause - 12.4));
        assert!((spinning - stopped).abs() < 1e-9, "{spinning} against {stopped} J");
        assert!((pause - 15.2).abs() < 0.05, "{pause}");
    }

    #[test]
    fn another_speed_needs_the_disks() {
        let mut power = ultrastar();
        assert!(Budget::new(&power, 10_000.0, 1).is_none());
        power.spindle = Some(DiskStack { platters: 6, diameter_in: 2.6, gas: Gas::Air });
        let [rated, slow] = [15_000.0, 10_000.0].map(|rpm| Budget::new(&power, rpm, 1).unwrap());
        let saved = rated.drag_w.unwrap() - slow.drag_w.unwrap();
        assert!(saved > 0.0);
        let states = rated.by_state_w.zip(&slow.by_state_w, |fast, slow| fast - slow);
        assert!((states.total() - 5.0 * saved).abs() < 1e-9);
        assert_eq!(slow.break_even_s, None);
    }

    /// Table 2.1 of Sankar 2008: 13 W with one arm moving, 34 W with four, is 7 W an arm.
    #[test]
    fn four_arms_of_seven_watts_make_thirty_four() {
        let power = PowerSpec { idle_w: 6.0, seek_w: 13.0, ..ultrastar() };
        let peak = |arms| Budget::new(&power, 15_000.0, arms).unwrap().all_seeking_w;
        assert_eq!((peak(1), peak(4)), (13.0, 34.0));
    }
}
