//! Heads: several on an arm over each surface, some that stand still, and several surfaces at once. Part of `[arms]`.

use super::check::Findings;
use super::{ArmDesign, ArmsSpec, DriveSpec, LayoutSpec, WritePolicy, ZoneSpec};
use crate::layout::physical_cylinders;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Where the heads that an arm has over one surface are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeadPlacement {
    /// At one distance from the arm's pivot: all are over the same cylinder, at different angles. A sector is transferred by the
    /// head that it reaches first.
    #[default]
    Equidistant,
    /// On a radial line along the arm: each reaches an equal band of cylinders, and no seek is longer than a band.
    Radial,
}

/// One of the heads that an arm has over each surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeadOfArm {
    /// The arm, counted from 0.
    pub arm: u32,
    /// Which of its heads over a surface, counted from 0.
    pub head: u32,
}

/// Heads that stand still, one over each track of some cylinders: an arm that does not move. The movable arms reach these
/// cylinders, too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedHeadsSpec {
    /// First cylinder under them.
    pub first_cylinder: u32,
    /// Last cylinder under them, included.
    pub last_cylinder: u32,
    /// Where they stand around the spindle, in revolutions in the direction of rotation, from 0 up to 1.
    #[serde(default)]
    pub angle_revolutions: f64,
}

/// What carries heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A movable arm, by number.
    Arm(u32),
    /// Nothing that moves: the entry of `fixed_heads`, by number.
    Fixed(u32),
}

/// Heads that see the disk from one place: one for each surface, or for each track of some cylinders. One of them is
/// selected at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadSet {
    /// What carries them.
    pub carrier: Carrier,
    /// Which of an arm's over each surface, counted from 0.
    pub head: u32,
    /// Where they stand around the spindle, in revolutions.
    pub turns: f64,
    /// When they go out of use, in s, if they do.
    pub fails_at_s: Option<f64>,
}

impl ArmsSpec {
    /// The head sets in use: those of each arm, then those that stand still.
    pub fn head_sets(&self) -> impl Iterator<Item = HeadSet> + '_ {
        let arms = (0..self.count).flat_map(move |arm| self.sets_of(arm));
        let fixed = (0..).zip(&self.fixed_heads).map(|(number, heads)| HeadSet {
            carrier: Carrier::Fixed(number),
            head: 0,
            turns: heads.angle_revolutions,
            fails_at_s: None,
        });
        arms.chain(fixed)
    }

    /// Those of an arm that are in use.
    pub(super) fn sets_of(&self, arm: u32) -> impl Iterator<Item = HeadSet> + '_ {
        let is_used = !self.deconfigured.contains(&arm);
        // Along a radial line heads share the cylinders, not the rotation.
        let heads = if self.head_placement == HeadPlacement::Radial { 1 } else { self.heads_per_surface };
        let used =
            move |head: &u32| is_used && !self.heads_deconfigured.contains(&HeadOfArm { arm, head: *head });
        (0..heads).filter(used).map(move |head| HeadSet {
            carrier: Carrier::Arm(arm),
            head,
            turns: (self.arm_turns(arm) + self.head_turns(head)).rem_euclid(1.0),
            fails_at_s: self.fails_at_s(arm, head),
        })
    }

    fn arm_turns(&self, arm: u32) -> f64 {
        match &self.angles_revolutions {
            Some(angles) => angles.get(arm as usize).copied().unwrap_or_default(),
            None => f64::from(arm) / f64::from(self.count.max(1)),
        }
    }

    /// How far behind its arm a head stands: at equal distances up to the next arm, where nothing else is said.
    fn head_turns(&self, head: u32) -> f64 {
        match &self.head_angles_revolutions {
            Some(angles) => angles.get(head as usize).copied().unwrap_or_default(),
            None => f64::from(head) / (f64::from(self.heads_per_surface) * f64::from(self.count.max(1))),
        }
    }

    /// When a head goes out of use, in s, if it does.
    fn fails_at_s(&self, arm: u32, head: u32) -> Option<f64> {
        let concerns = |failed: Option<u32>| failed.is_none_or(|failed| failed == head);
        let failures = self.failures.iter().filter(|failure| failure.arm == arm && concerns(failure.head));
        failures.map(|failure| failure.at_s).reduce(f64::min)
    }
}

impl DriveSpec {
    /// The drive as addresses see it, where several surfaces transfer at once: each sector is spread over them, so that they
    /// are one surface whose tracks hold so many times the sectors.
    pub(crate) fn joined(&self) -> Cow<'_, Self> {
        let surfaces = self.arms.surfaces_at_once;
        if surfaces <= 1 {
            return Cow::Borrowed(self);
        }
        let mut spec = self.clone();
        spec.arms.surfaces_at_once = 1;
        join(&mut spec.layout, surfaces);
        Cow::Owned(spec)
    }

    /// The layout that addresses see, where several surfaces transfer at once.
    pub fn joined_layout(&self) -> Cow<'_, LayoutSpec> {
        match self.joined() {
            Cow::Borrowed(spec) => Cow::Borrowed(&spec.layout),
            Cow::Owned(spec) => Cow::Owned(spec.layout),
        }
    }
}

fn join(layout: &mut LayoutSpec, surfaces: u32) {
    layout.heads /= surfaces;
    for zone in &mut layout.zone {
        zone.sectors_per_track = zone.sectors_per_track.saturating_mul(surfaces);
        zone.spare_sectors_per_track = zone.spare_sectors_per_track.saturating_mul(surfaces);
        zone.spare_tracks_per_cylinder /= surfaces;
        zone.spare_tracks_at_end /= surfaces;
        // The angle stays, in sectors that take less of it.
        zone.track_skew_sectors *= f64::from(surfaces);
        zone.cylinder_skew_sectors *= f64::from(surfaces);
    }
}

pub(super) fn check(spec: &DriveSpec, findings: &mut Findings) {
    heads_of_an_arm(spec, findings);
    out_of_use(&spec.arms, findings);
    for (index, heads) in spec.arms.fixed_heads.iter().enumerate() {
        fixed_heads(&format!("arms.fixed_heads.{index}"), *heads, spec, findings);
    }
    surfaces_at_once(spec, findings);
}

/// Most heads of an arm over one surface.
const MOST: u32 = 64;

fn heads_of_an_arm(spec: &DriveSpec, findings: &mut Findings) {
    let arms = &spec.arms;
    let heads = arms.heads_per_surface;
    if !(1..=MOST).contains(&heads) {
        findings.add("arms.heads_per_surface", format!("{heads} is not between 1 and {MOST}"));
        return;
    }
    let cylinders = physical_cylinders(&spec.layout);
    let is_radial = arms.head_placement == HeadPlacement::Radial;
    if is_radial && heads > cylinders.max(1) {
        let message = format!("{heads} heads cannot share {cylinders} cylinders: at most one each");
        findings.add("arms.heads_per_surface", message);
    }
    if is_radial && heads > 1 && matches!(spec.write_policy, WritePolicy::MediaCache(_)) {
        let message = "heads on a radial line are not modelled for a drive with a media cache, whose log is near by cylinders: take one or the other";
        findings.add("arms.head_placement", message);
    }
    let Some(angles) = &arms.head_angles_revolutions else { return };
    if is_radial {
        let message = "heads on a radial line have no angles of their own: take `head_placement = \"equidistant\"`, or leave the key out";
        findings.add("arms.head_angles_revolutions", message);
    }
    if angles.len() != heads as usize {
        let message = format!(
            "{} angles for {heads} heads (`arms.heads_per_surface`): give one each, or leave the key out for equal distances",
            angles.len(),
        );
        findings.add("arms.head_angles_revolutions", message);
    }
    for &turns in angles {
        if !(0.0..1.0).contains(&turns) {
            let message = format!("{turns} is not between 0 and 1 revolution (less than 1)");
            findings.add("arms.head_angles_revolutions", message);
        }
    }
}

fn out_of_use(arms: &ArmsSpec, findings: &mut Findings) {
    for (index, out) in arms.heads_deconfigured.iter().enumerate() {
        one_head("arms.heads_deconfigured", *out, arms, findings);
        if arms.heads_deconfigured[..index].contains(out) {
            let message = format!("head {} of arm {} is named twice", out.head, out.arm);
            findings.add("arms.heads_deconfigured", message);
        }
    }
    for failure in &arms.failures {
        if let Some(head) = failure.head {
            one_head("arms.failures", HeadOfArm { arm: failure.arm, head }, arms, findings);
        }
    }
}

fn one_head(path: &str, HeadOfArm { arm, head }: HeadOfArm, arms: &ArmsSpec, findings: &mut Findings) {
    if arm >= arms.count || head >= arms.heads_per_surface {
        let (arms, heads) = (arms.count.saturating_sub(1), arms.heads_per_surface.saturating_sub(1));
        let message = format!(
            "there is no head {head} of arm {arm}: arms are counted from 0 to {arms}, the heads of each over a surface from 0 to {heads}"
        );
        findings.add(path, message);
    }
    if arms.head_placement == HeadPlacement::Radial {
        let message = "no other head of the arm reaches the cylinders of one on a radial line: take the arm out of use, or place the heads `equidistant`";
        findings.add(path, message);
    }
}

fn fixed_heads(path: &str, heads: FixedHeadsSpec, spec: &DriveSpec, findings: &mut Findings) {
    let FixedHeadsSpec { first_cylinder: first, last_cylinder: last, angle_revolutions } = heads;
    let cylinders = physical_cylinders(&spec.layout);
    if first > last || last >= cylinders {
        let message = format!(
            "cylinders {first} to {last} are not a range of the drive's, which go from 0 to {}",
            cylinders.saturating_sub(1)
        );
        findings.add(path, message);
    }
    if !(0.0..1.0).contains(&angle_revolutions) {
        let message = format!("{angle_revolutions} is not between 0 and 1 revolution (less than 1)");
        findings.add(format!("{path}.angle_revolutions"), message);
    }
    if spec.arms.design != ArmDesign::SingleMoving {
        let message =
            "fixed heads at work at the same time as arms are not modelled: take the design `single-moving`";
        findings.add(path, message);
    }
    if spec.arms.head_placement == HeadPlacement::Radial && spec.arms.heads_per_surface > 1 {
        let message =
            "fixed heads beside arms with heads on a radial line are not modelled: take one or the other";
        findings.add(path, message);
    }
    if matches!(spec.write_policy, WritePolicy::MediaCache(_)) {
        findings
            .add(path, "fixed heads on a drive with a media cache are not modelled: take one or the other");
    }
}

fn surfaces_at_once(spec: &DriveSpec, findings: &mut Findings) {
    const PATH: &str = "arms.surfaces_at_once";
    let (surfaces, layout) = (spec.arms.surfaces_at_once, &spec.layout);
    if surfaces == 1 {
        return;
    }
    if surfaces == 0 || !layout.heads.is_multiple_of(surfaces) {
        let message = format!(
            "{surfaces} is not a divisor of the {} surfaces (`layout.heads`): all groups of surfaces must be equal",
            layout.heads
        );
        findings.add(PATH, message);
        return;
    }
    let whole = |tracks: u32| tracks.is_multiple_of(surfaces);
    let is_whole = |zone: &ZoneSpec| whole(zone.spare_tracks_per_cylinder) && whole(zone.spare_tracks_at_end);
    if !layout.zone.iter().all(is_whole) {
        let message = format!("spare tracks must come {surfaces} at a time, one on each surface of a group");
        findings.add(PATH, message);
    }
    let named = [
        ("layout.run", !layout.run.is_empty()),
        ("layout.region", !layout.region.is_empty()),
        ("layout.slipped_tracks", !layout.slipped_tracks.is_empty()),
        ("layout.remap", !layout.remap.is_empty()),
        ("heads that differ", layout.heads_differ()),
        ("layout.zone.*.spares", layout.zone.iter().any(|zone| zone.spares.is_some())),
    ];
    for (what, _) in named.iter().filter(|(_, is_there)| *is_there) {
        findings
            .add(PATH, format!("does not go with {what}, which name single tracks: remove them, or take 1"));
    }
}
