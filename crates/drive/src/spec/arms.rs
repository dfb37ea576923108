//! `[arms]`: several arms over the same surfaces.

use super::check::Findings;
use super::heads::{self, Carrier, FixedHeadsSpec, HeadOfArm, HeadPlacement, HeadSet};
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
    /// Where each stands around the spindle, in revolutions in the direction of rotation, from 0 up to 1: a sector passes an arm
    /// at 0.25 a quarter of a revolution after one at 0. Absent: at equal distances, the first at 0.
    #[serde(default, alias = "angles_turns", skip_serializing_if = "Option::is_none")]
    pub angles_revolutions: Option<Vec<f64>>,
    /// Arms out of use, counted from 0: a drive goes on with those that are left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deconfigured: Vec<u32>,
    /// Arms that go out of use during a run. Work in hand is finished; the drive goes on with those that are left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<ArmFailure>,
    /// Heads that each arm has over each surface.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub heads_per_surface: u32,
    /// Where these heads are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub head_placement: HeadPlacement,
    /// Where each of an arm's equidistant heads stands, in revolutions from the arm's own angle in the direction of rotation, from 0
    /// up to 1. Absent: the first at 0, each next one 1 / (`count` × `heads_per_surface`) farther.
    #[serde(default, alias = "head_angles_turns", skip_serializing_if = "Option::is_none")]
    pub head_angles_revolutions: Option<Vec<f64>>,
    /// Equidistant heads out of use: an arm goes on with those that are left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads_deconfigured: Vec<HeadOfArm>,
    /// Heads that stand still over some cylinders, beside the arms that move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed_heads: Vec<FixedHeadsSpec>,
    /// Surfaces of a cylinder that transfer at once: every sector is spread over so many, a part on each, and passes in that
    /// much less time. It must divide `layout.heads`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub surfaces_at_once: u32,
}

/// An arm, or one of its heads, that goes out of use during a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArmFailure {
    /// Which, counted from 0.
    pub arm: u32,
    /// Which of its equidistant heads over a surface, counted from 0; absent: the whole arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<u32>,
    /// When, in s from the beginning of the run.
    pub at_s: f64,
}

impl Default for ArmsSpec {
    fn default() -> Self {
        Self {
            count: one(),
            design: ArmDesign::default(),
            angles_revolutions: None,
            deconfigured: Vec::new(),
            failures: Vec::new(),
            heads_per_surface: one(),
            head_placement: HeadPlacement::default(),
            head_angles_revolutions: None,
            heads_deconfigured: Vec::new(),
            fixed_heads: Vec::new(),
            surfaces_at_once: one(),
        }
    }
}

impl ArmsSpec {
    /// The arms in use: those that have a head left.
    pub fn in_use(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.count).filter(|&arm| self.sets_of(arm).next().is_some())
    }

    /// How many arms can be at work at a time.
    pub fn moving(&self) -> u32 {
        match self.design {
            ArmDesign::SingleMoving => 1,
            ArmDesign::MultiMoving | ArmDesign::MultiChannel => self.in_use().count() as u32,
        }
    }

    /// Whether there is one arm with one head over each surface, as in an ordinary drive.
    pub fn is_one(&self) -> bool {
        self.count == 1
            && self.heads_per_surface == 1
            && self.fixed_heads.is_empty()
            && self.surfaces_at_once == 1
    }
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Most arms of a drive: no more fit around a spindle.
const MOST: u32 = 64;

pub(super) fn check(spec: &DriveSpec, findings: &mut Findings) {
    let arms = &spec.arms;
    if !(1..=MOST).contains(&arms.count) {
        findings.add("arms.count", format!("{} is not between 1 and {MOST}", arms.count));
        return;
    }
    if let Some(angles) = &arms.angles_revolutions {
        if angles.len() != arms.count as usize {
            let message = format!(
                "{} angles for {} arms (`arms.count`): give one each, or leave the key out for equal distances",
                angles.len(),
                arms.count
            );
            findings.add("arms.angles_revolutions", message);
        }
        for &turns in angles {
            if !(0.0..1.0).contains(&turns) {
                findings.add(
                    "arms.angles_revolutions",
                    format!("{turns} is not between 0 and 1 revolution (less than 1)"),
                );
            }
        }
    }
    deconfigured(arms, findings);
    heads::check(spec, findings);
    failures(arms, findings);
    let sets = arms.head_sets().count();
    if sets > 1 && spec.fidelity.rotation != RotationModel::Tracked {
        let (what, path) = match (arms.count, arms.heads_per_surface) {
            (2.., _) => (format!("{} arms", arms.count), "arms.count"),
            (_, 2..) => {
                (format!("{} heads over a surface", arms.heads_per_surface), "arms.heads_per_surface")
            }
            _ => ("fixed heads".to_owned(), "arms.fixed_heads"),
        };
        let message = format!(
            "{what} gain by the rotation, which `fidelity.rotation` leaves out: take `tracked`, or an arm with one head over each surface"
        );
        findings.add(path, message);
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
    if arms.heads_per_surface > 0 && arms.in_use().next().is_none() {
        let message = if arms.heads_deconfigured.is_empty() {
            format!("all {} arms are out of use: leave at least one", arms.count)
        } else {
            "no arm has a head in use: leave at least one".to_owned()
        };
        findings.add("arms.deconfigured", message);
    }
}

fn failures(arms: &ArmsSpec, findings: &mut Findings) {
    let in_use: Vec<u32> = arms.in_use().collect();
    for (index, failure) in arms.failures.iter().enumerate() {
        let ArmFailure { arm, head, at_s } = *failure;
        if !in_use.contains(&arm) {
            findings.add("arms.failures", format!("no arm {arm} is in use: of {in_use:?} one can fail"));
        }
        let is_same = |before: &ArmFailure| before.arm == arm && before.head == head;
        if arms.failures[..index].iter().any(is_same) {
            findings.add("arms.failures", format!("arm {arm} is named twice"));
        }
        findings.range("arms.failures.at_s", at_s, 0.0, 1e9);
    }
    let mut movable = arms.head_sets().filter(|set| matches!(set.carrier, Carrier::Arm(_))).peekable();
    let fails = |set: HeadSet| set.fails_at_s.is_some();
    if movable.peek().is_some() && movable.all(fails) {
        let message = format!("all {} arms in use fail: leave at least one", in_use.len());
        findings.add("arms.failures", message);
    }
}
