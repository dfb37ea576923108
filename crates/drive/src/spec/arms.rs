//! `[arms]`: several arms over the same surfaces.

use super::check::Findings;
use super::{DriveSpec, RotationModel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What several arms may do at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArmDesign {
    /// One arm moves at a time, and one transfers (SA).
    #[default]
    SingleMoving,
    /// Several arms move at a time, and one transfers (MA).
    MultiMoving,
    /// Several arms move and transfer at a time (MC).
    MultiChannel,
}

/// The arms of a drive: independent assemblies at different places around the spindle, each of which reaches every track
/// (Sankar 2008). A command is served by the arm that gets to its first sector soonest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArmsSpec {
    /// How many; 1 is an ordinary drive.
    #[serde(default = "one")]
    pub count: u32,
    /// What they may do at the same time.
    #[serde(default)]
    pub design: ArmDesign,
    /// Where each stands around the spindle, in turns in the direction of rotation, from 0 up to 1: a sector passes an arm
    /// at 0.25 a quarter of a revolution after one at 0. Absent: at equal distances, the first at 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angles_turns: Option<Vec<f64>>,
    /// Arms out of use, counted from 0: a drive goes on with those that are left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deconfigured: Vec<u32>,
    /// Arms that go out of use during a run. Work in hand is finished; the drive goes on with those that are left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<ArmFailure>,
}

/// An arm that goes out of use during a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArmFailure {
    /// Which, counted from 0.
    pub arm: u32,
    /// When, in s from the beginning of the run.
    pub at_s: f64,
}

impl Default for ArmsSpec {
    fn default() -> Self {
        Self {
            count: one(),
            design: ArmDesign::default(),
            angles_turns: None,
            deconfigured: Vec::new(),
            failures: Vec::new(),
        }
    }
}

impl ArmsSpec {
    /// The arms in use and where each stands around the spindle, in turns.
    pub fn in_use(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let turns = |arm: u32| match &self.angles_turns {
            Some(angles) => angles.get(arm as usize).copied().unwrap_or_default(),
            None => f64::from(arm) / f64::from(self.count.max(1)),
        };
        let used = |arm: &u32| !self.deconfigured.contains(arm);
        (0..self.count).filter(used).map(move |arm| (arm, turns(arm)))
    }

    /// When an arm goes out of use, in s, if it does.
    pub fn fails_at_s(&self, arm: u32) -> Option<f64> {
        self.failures.iter().find(|failure| failure.arm == arm).map(|failure| failure.at_s)
    }

    /// How many arms can be at work at a time.
    pub fn moving(&self) -> u32 {
        match self.design {
            ArmDesign::SingleMoving => 1,
            ArmDesign::MultiMoving | ArmDesign::MultiChannel => self.in_use().count() as u32,
        }
    }
}

fn one() -> u32 {
    1
}

/// Most arms of a drive: no more fit around a spindle.
const MOST: u32 = 64;

pub(super) fn check(spec: &DriveSpec, findings: &mut Findings) {
    let arms = &spec.arms;
    if !(1..=MOST).contains(&arms.count) {
        findings.add("arms.count", format!("{} is not between 1 and {MOST}", arms.count));
        return;
    }
    if let Some(angles) = &arms.angles_turns {
        if angles.len() != arms.count as usize {
            let message = format!(
                "{} angles for {} arms (`arms.count`): give one each, or leave the key out for equal distances",
                angles.len(),
                arms.count
            );
            findings.add("arms.angles_turns", message);
        }
        for &turns in angles {
            if !(0.0..1.0).contains(&turns) {
                findings
                    .add("arms.angles_turns", format!("{turns} is not between 0 and 1 (less than 1 turn)"));
            }
        }
    }
    deconfigured(arms, findings);
    failures(arms, findings);
    if arms.count > 1 && spec.fidelity.rotation != RotationModel::Tracked {
        let message = format!(
            "{} arms gain by the rotation, which `fidelity.rotation` leaves out: take `tracked`, or 1 arm",
            arms.count
        );
        findings.add("arms.count", message);
    }
}

fn deconfigured(arms: &ArmsSpec, findings: &mut Findings) {
    for (index, arm) in arms.deconfigured.iter().enumerate() {
        if *arm >= arms.count {
            let message = format!("there is no arm {arm}: arms are counted from 0 to {}", arms.count - 1);
            findings.add("arms.deconfigured", message);
        }
        if arms.deconfigured[..index].contains(arm) {
            findings.add("arms.deconfigured", format!("arm {arm} is named twice"));
        }
    }
    if arms.in_use().next().is_none() {
        let message = format!("all {} arms are out of use: leave at least one", arms.count);
        findings.add("arms.deconfigured", message);
    }
}

fn failures(arms: &ArmsSpec, findings: &mut Findings) {
    let in_use: Vec<u32> = arms.in_use().map(|(arm, _)| arm).collect();
    for (index, failure) in arms.failures.iter().enumerate() {
        let ArmFailure { arm, at_s } = *failure;
        if !in_use.contains(&arm) {
            findings.add("arms.failures", format!("no arm {arm} is in use: of {in_use:?} one can fail"));
        }
        if arms.failures[..index].iter().any(|before| before.arm == arm) {
            findings.add("arms.failures", format!("arm {arm} is named twice"));
        }
        findings.range("arms.failures.at_s", at_s, 0.0, 1e9);
    }
    if !in_use.is_empty() && in_use.iter().all(|&arm| arms.fails_at_s(arm).is_some()) {
        findings.add("arms.failures", format!("all {} arms in use fail: leave at least one", in_use.len()));
    }
}
