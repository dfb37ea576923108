//! What a drive draws: watts by state, the energy of what it did, and the budget of a design.
//!
//! Modelled: constant watts in each state (`[power]` of the drive file); of a seek, the current that speeds the arm up and slows it
//! down, and none while it coasts or settles; and the air drag of the disks, P ∝ n·ω^2.8·D^4.6, by which watts change with the
//! spindle's speed. Not modelled: seeks made slower where there is time, heat, supply losses, reading ahead (it counts as
//! idle), commands that are served from the buffer and so restart no timer.
//! What the arms did is only listened to: watts never change a time. Power conditions do: a drive takes time to wake up.

mod budget;
mod conditions;
mod energy;

pub use budget::Budget;
pub use conditions::{ConditionTimes, ConditionWatts, MOST_CONDITIONS, Rest, RestTimes};
pub(crate) use conditions::{Conditions, changes, watts_in};
pub use energy::{Active, Energy};

use crate::layout::physical_cylinders;
use crate::mechanics::third_of_stroke;
use crate::spec::{DiskStack, DriveSpec, Gas, PowerSpec};
use schemars::JsonSchema;
use serde::Serialize;

/// Air drag of one 2.6-inch disk at 15,098 rpm, in watts: Gurumurthi, Sivasubramaniam & Natarajan, Disk drive roadmap from the
/// thermal perspective (ISCA 2005), which also gives the exponents.
const REFERENCE_W: f64 = 0.91;
const REFERENCE_RPM: f64 = 15_098.0;
const REFERENCE_IN: f64 = 2.6;
const SPEED_EXPONENT: f64 = 2.8;
const DIAMETER_EXPONENT: f64 = 4.6;
/// Density of helium, and so its drag, as a share of air's.
const HELIUM: f64 = 1.0 / 7.0;

/// What turning the disks against their gas takes, in watts.
pub fn drag_w(stack: &DiskStack, rpm: f64) -> f64 {
    let gas = match stack.gas {
        Gas::Air => 1.0,
        Gas::Helium => HELIUM,
    };
    REFERENCE_W
        * gas
        * f64::from(stack.platters)
        * (rpm / REFERENCE_RPM).powf(SPEED_EXPONENT)
        * (stack.diameter_in / REFERENCE_IN).powf(DIAMETER_EXPONENT)
}

/// A number of watts, joules or seconds for each state of a spinning drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ByState {
    /// Nothing to do.
    pub idle: f64,
    /// An arm seeks.
    pub seek: f64,
    /// Waiting for the sector.
    pub rotation: f64,
    /// Reading from the media.
    pub read: f64,
    /// Writing to the media.
    pub write: f64,
    /// In a power condition, and on the ways in and out; left out where there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub resting: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl ByState {
    /// The states' sum.
    pub fn total(&self) -> f64 {
        self.idle + self.seek + self.rotation + self.read + self.write + self.resting
    }

    /// Each value changed in the same way.
    #[must_use]
    pub fn map(&self, change: impl Fn(f64) -> f64) -> Self {
        self.zip(self, |value, _| change(value))
    }

    /// Two values of each state made one.
    #[must_use]
    pub fn zip(&self, other: &Self, join: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            idle: join(self.idle, other.idle),
            seek: join(self.seek, other.seek),
            rotation: join(self.rotation, other.rotation),
            read: join(self.read, other.read),
            write: join(self.write, other.write),
            resting: join(self.resting, other.resting),
        }
    }
}

/// Watts of a drive with one arm at work, at one spindle speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watts {
    by_state: ByState,
    coil_w: f64,
}

impl Watts {
    /// Those of a drive at the speed it turns at; `None` where its file does not tell.
    pub fn of(spec: &DriveSpec) -> Option<Self> {
        let by_state = Self::at(spec.power.as_ref()?, spec.rotation_rpm)?;
        let (seek_ms, coil_ms) = third_of_stroke(&spec.seek, physical_cylinders(&spec.layout));
        let share = if coil_ms > 0.0 { seek_ms / coil_ms } else { 1.0 };
        Some(Self { by_state, coil_w: (by_state.seek - by_state.idle) * share })
    }

    /// By state, at `rpm`; `None` at another speed than the rated one if it is not known what disks turn.
    pub fn at(power: &PowerSpec, rpm: f64) -> Option<ByState> {
        let change = match &power.spindle {
            Some(stack) => drag_w(stack, rpm) - drag_w(stack, power.rated_rpm),
            None if rpm == power.rated_rpm => 0.0,
            None => return None,
        };
        let rated = ByState {
            idle: power.idle_w,
            seek: power.seek_w,
            rotation: power.rotation_w,
            read: power.read_w,
            write: power.write_w,
            resting: 0.0,
        };
        Some(ByState { resting: 0.0, ..rated.map(|watts| watts + change) })
    }

    /// Each state's watts.
    pub fn by_state(&self) -> &ByState {
        &self.by_state
    }

    /// What the coil adds while it works: as much as makes a seek over a third of the stroke draw the watts of the state.
    pub fn coil_w(&self) -> f64 {
        self.coil_w
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: DiskStack = DiskStack { platters: 1, diameter_in: 2.6, gas: Gas::Air };

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not within {tolerance} of {expected}");
    }

    /// The roadmap prints 499.73 W for the same disk at 143,470 rpm; its rounded first point leaves 0.4 %.
    #[test]
    fn drag_follows_the_published_points() {
        near(drag_w(&ONE, 15_098.0), 0.91, 1e-12);
        near(drag_w(&ONE, 143_470.0), 499.73, 0.005 * 499.73);
    }

    /// Shares of the drag at 7,200 rpm that slower variants have, from the exponent alone.
    #[test]
    fn slower_disks_drag_less() {
        let full = drag_w(&ONE, 7200.0);
        for (rpm, share) in [(6200.0, 0.658), (5200.0, 0.402), (4200.0, 0.221)] {
            near(drag_w(&ONE, rpm) / full, share, 0.001);
        }
    }

    #[test]
    fn platters_add_up_and_helium_takes_a_seventh() {
        let helium = DiskStack { platters: 7, gas: Gas::Helium, ..ONE };
        near(drag_w(&helium, 7200.0), drag_w(&ONE, 7200.0), 1e-12);
    }
}
