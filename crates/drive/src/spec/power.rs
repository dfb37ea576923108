//! `[power]`: what the drive draws, by what it is doing.

use super::DriveSpec;
use super::check::Findings;
use crate::power::{self, MOST_CONDITIONS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No drive draws more; the largest of 1980 drew 6,600.
const MOST_W: f64 = 100_000.0;

/// Watts of the whole drive in each state, as a data sheet gives them. While an arm works, the drive draws what its state says;
/// each further arm at work adds what its state says above `idle_w`. Reading ahead counts as idle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerSpec {
    /// The spindle speed at which the watts hold, in revolutions per minute.
    pub rated_rpm: f64,
    /// Spinning, all arms on track, nothing to do.
    pub idle_w: f64,
    /// One arm seeks, over a third of its stroke, settling included. A seek over another distance draws in proportion to how long it
    /// is sped up and slowed down, as far as the seek curve tells that from coasting and settling.
    pub seek_w: f64,
    /// Waiting for the sector.
    pub rotation_w: f64,
    /// Reading from the media.
    pub read_w: f64,
    /// Writing to the media.
    pub write_w: f64,
    /// The disks stand still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby_w: Option<f64>,
    /// From standby to idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin_up: Option<SpeedChange>,
    /// From idle to standby.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin_down: Option<SpeedChange>,
    /// What the disks are, for their share of `idle_w` at another speed than the rated one; without it the watts are known at
    /// the rated speed only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spindle: Option<DiskStack>,
    /// What the drive sinks into when its arm rests, in that order. None: it stays ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub condition: Vec<PowerConditionSpec>,
}

/// A state of less power that the drive enters by itself when its arm rests long enough, as ATA and SCSI know them: `idle_a` to
/// `idle_c` (electronics off, heads unloaded, disks slower), `standby_y` and `standby_z` (disks stopped).
///
/// Whoever needs the arm wakes the drive. What is served from the buffer neither wakes it nor starts its clock anew; a
/// recalibration that falls due waits until it is awake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerConditionSpec {
    /// What it is called.
    pub name: String,
    /// How long the arm rests before it begins, in s; no less than that of the one before and its way in together.
    pub after_s: f64,
    /// The disks' speed in it, in revolutions per minute; 0: they stand still. Absent: as always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpm: Option<f64>,
    /// What the drive draws in it. Absent: `standby_w` where the disks stand still, and what `spindle` says for slower disks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<f64>,
    /// The way in, which is never broken off. Absent: `spin_down` where the disks stand still, else nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enter: Option<SpeedChange>,
    /// The way back. Absent: `spin_up` where the disks stand still, else nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recover: Option<SpeedChange>,
}

/// Starting, stopping, slowing or speeding up the spindle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpeedChange {
    /// How long it takes.
    pub time_s: f64,
    /// What it draws, all told.
    pub energy_j: f64,
}

/// The disks that the spindle turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskStack {
    /// Number of platters.
    pub platters: u32,
    /// Their diameter, in inches.
    pub diameter_in: f64,
    /// What they turn in.
    #[serde(default)]
    pub gas: Gas,
}

/// What fills the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gas {
    /// Air.
    #[default]
    Air,
    /// Helium: a seventh of the density, and of the drag.
    Helium,
}

pub(super) fn check(spec: &DriveSpec, findings: &mut Findings) {
    let Some(power) = &spec.power else { return };
    findings.range("power.rated_rpm", power.rated_rpm, 60.0, 1_000_000.0);
    findings.range("power.idle_w", power.idle_w, 0.0, MOST_W);
    let working = [
        ("power.seek_w", power.seek_w),
        ("power.rotation_w", power.rotation_w),
        ("power.read_w", power.read_w),
        ("power.write_w", power.write_w),
    ];
    for (key, watts) in working {
        findings.range(key, watts, 0.0, MOST_W);
        if watts < power.idle_w {
            findings.add(key, format!("{watts} is less than the drive draws idle ({})", power.idle_w));
        }
    }
    if let Some(watts) = power.standby_w {
        findings.range("power.standby_w", watts, 0.0, MOST_W);
        if watts > power.idle_w {
            findings.add(
                "power.standby_w",
                format!("{watts} is more than the drive draws idle ({})", power.idle_w),
            );
        }
    }
    for (key, change) in [("power.spin_up", power.spin_up), ("power.spin_down", power.spin_down)] {
        let Some(change) = change else { continue };
        findings.range(&format!("{key}.time_s"), change.time_s, 0.0, 3_600.0);
        findings.range(&format!("{key}.energy_j"), change.energy_j, 0.0, 1e9);
    }
    if let Some(stack) = &power.spindle {
        disk_stack(power, stack, findings);
    }
    conditions(spec, power, findings);
}

fn conditions(spec: &DriveSpec, power: &PowerSpec, findings: &mut Findings) {
    if power.condition.is_empty() {
        return;
    }
    let count = power.condition.len();
    if count > MOST_CONDITIONS {
        findings
            .add("power.condition", format!("{count} conditions, and drives have up to {MOST_CONDITIONS}"));
    }
    if spec.actuators > 1 {
        let message = "the actuators share a spindle, and each is modelled alone: conditions of such drives are not modelled";
        findings.add("power.condition", message.to_owned());
    }
    if spec.fidelity.constant_ms.is_some() {
        let message = "`fidelity.constant_ms` leaves the mechanism out, so that nothing wakes the drive";
        findings.add("power.condition", message.to_owned());
    }
    let mut earliest_s = 0.0;
    for (index, condition) in power.condition.iter().enumerate() {
        let key = |name: &str| format!("power.condition.{index}.{name}");
        findings.range(&key("after_s"), condition.after_s, 0.1, 1e6);
        if index > 0 && condition.after_s < earliest_s {
            let message = format!(
                "{} begins before the condition before it has been entered, at {earliest_s} s",
                condition.after_s
            );
            findings.add(key("after_s"), message);
        }
        let [enter, _] = power::changes(condition, power);
        earliest_s = condition.after_s + enter.time_s;
        if power.condition[..index].iter().any(|before| before.name == condition.name) {
            findings.add(key("name"), format!("`{}` is there twice", condition.name));
        }
        one_condition(power, condition, &key, findings);
    }
}

fn one_condition(
    power: &PowerSpec,
    condition: &PowerConditionSpec,
    key: &impl Fn(&str) -> String,
    findings: &mut Findings,
) {
    if let Some(rpm) = condition.rpm {
        findings.range(&key("rpm"), rpm, 0.0, power.rated_rpm);
        let spindles = [("enter", "spin_down", power.spin_down), ("recover", "spin_up", power.spin_up)];
        for ((name, other, known), own) in spindles.into_iter().zip([condition.enter, condition.recover]) {
            if own.is_none() && rpm == 0.0 && known.is_none() {
                let message = format!("say how long it takes, here or as `power.{other}`");
                findings.add(key(name), message);
            }
            if own.is_none() && rpm > 0.0 {
                findings.add(key(name), "say how long the change of speed takes".to_owned());
            }
        }
    }
    for (name, change) in [("enter", condition.enter), ("recover", condition.recover)] {
        let Some(change) = change else { continue };
        findings.range(&key(&format!("{name}.time_s")), change.time_s, 0.0, 3_600.0);
        findings.range(&key(&format!("{name}.energy_j")), change.energy_j, 0.0, 1e9);
        if change.time_s == 0.0 && change.energy_j > 0.0 {
            let message = "energy is drawn over a time, and this takes none: say how long";
            findings.add(key(&format!("{name}.time_s")), message.to_owned());
        }
    }
    let [enter, recover] = power::changes(condition, power);
    let inherited = [("enter", enter, condition.enter), ("recover", recover, condition.recover)];
    for (name, change, own) in inherited {
        if own.is_none() && change.time_s == 0.0 && change.energy_j > 0.0 {
            let message = "energy is drawn over a time, and that of the spindle takes none: say how long, here or there";
            findings.add(key(name), message.to_owned());
        }
    }
    match power::watts_in(condition, power) {
        None => {
            let message = "say what the drive draws: it follows from `power.standby_w` where the disks stand still, and from \
                           `power.spindle` where they turn more slowly";
            findings.add(key("watts"), message.to_owned());
        }
        Some(watts) => {
            findings.range(&key("watts"), watts, 0.0, MOST_W);
            if watts > power.idle_w {
                findings.add(
                    key("watts"),
                    format!("{watts} is more than the drive draws idle ({})", power.idle_w),
                );
            }
        }
    }
}

fn disk_stack(power: &PowerSpec, stack: &DiskStack, findings: &mut Findings) {
    if !(1..=64).contains(&stack.platters) {
        findings.add("power.spindle.platters", format!("{} is not between 1 and 64", stack.platters));
    }
    findings.range("power.spindle.diameter_in", stack.diameter_in, 0.5, 40.0);
    let drag = power::drag_w(stack, power.rated_rpm);
    if drag > power.idle_w {
        findings.add(
            "power.spindle",
            format!("such disks alone draw {drag:.2} W, more than `power.idle_w` ({})", power.idle_w),
        );
    }
}
