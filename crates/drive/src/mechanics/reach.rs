//! Which heads reach a track, and where their arm is then.

use crate::layout::physical_cylinders;
use crate::spec::{DriveSpec, HeadPlacement};
use std::ops::RangeInclusive;

/// From this number on, heads stand still: the number less this is that of an entry of `fixed_heads`.
const FIXED: u32 = 1 << 31;

/// The heads of a drive, and what each reaches. A track is a cylinder and a surface.
///
/// Heads on a radial line along the arm reach a band of cylinders each. Then the arm knows a track as its own position, which
/// is the cylinder's place in its band, and one of its heads: those over the first band come first, one for each surface.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Cylinders in a band.
    band: u32,
    surfaces: u32,
    /// Cylinders under heads that stand still.
    fixed: Vec<(u32, u32)>,
}

impl Reach {
    /// From a checked description.
    pub fn new(spec: &DriveSpec) -> Self {
        let arms = &spec.arms;
        let bands = if arms.head_placement == HeadPlacement::Radial { arms.heads_per_surface } else { 1 };
        let cylinders = physical_cylinders(&spec.layout);
        Self {
            band: if bands > 1 { cylinders.div_ceil(bands).max(1) } else { u32::MAX },
            surfaces: spec.joined_layout().heads,
            fixed: arms.fixed_heads.iter().map(|heads| (heads.first_cylinder, heads.last_cylinder)).collect(),
        }
    }

    /// Whether each surface has one head, which an arm brings to every track.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.band == u32::MAX && self.fixed.is_empty()
    }

    /// A track as the arm knows it; as it is where it is known so already.
    pub fn of(&self, (cylinder, surface): (u32, u32)) -> (u32, u32) {
        (cylinder % self.band, surface + cylinder / self.band * self.surfaces)
    }

    /// How far an arm goes from one cylinder to another.
    pub fn distance(&self, from: u32, to: u32) -> u32 {
        (from % self.band).abs_diff(to % self.band)
    }

    /// How many positions an arm has over so many cylinders.
    pub(crate) fn positions(&self, cylinders: u32) -> u32 {
        cylinders.min(self.band)
    }

    /// Whether some heads stand still.
    pub(crate) fn has_fixed(&self) -> bool {
        !self.fixed.is_empty()
    }

    /// Cylinders under an entry of `fixed_heads`.
    pub(crate) fn fixed_over(&self, number: u32) -> RangeInclusive<u32> {
        let (first, last) = self.fixed[number as usize];
        first..=last
    }

    /// What stands for the heads of an entry of `fixed_heads` where a track does for others.
    pub(crate) fn fixed(&self, number: u32) -> (u32, u32) {
        (self.fixed[number as usize].0, FIXED + number)
    }

    /// Whether heads that stand still are over `to`; `None` where `from` does not stand for such.
    pub(crate) fn stands_over(&self, from: (u32, u32), to: (u32, u32)) -> Option<bool> {
        let number = from.1.checked_sub(FIXED)?;
        Some(self.fixed_over(number).contains(&to.0))
    }

    /// The farthest from the first cylinder under heads that stand still that is under them, too.
    pub(crate) fn widest_fixed(&self) -> Option<u32> {
        self.fixed.iter().map(|(first, last)| last - first).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every track is some head's at some position of the arm, and no two are the same's.
        #[test]
        fn heads_on_a_radial_line_share_the_tracks(cylinders in 1_u32..200, bands in 1_u32..9, surfaces in 1_u32..5) {
            let band = cylinders.div_ceil(bands);
            let reach = Reach { band, surfaces, fixed: Vec::new() };
            let mut seen = std::collections::BTreeSet::new();
            for cylinder in 0..cylinders {
                for surface in 0..surfaces {
                    let (position, head) = reach.of((cylinder, surface));
                    prop_assert!(position < band && head < bands * surfaces);
                    prop_assert_eq!(reach.of((position, head)), (position, head));
                    prop_assert!(seen.insert((position, head)));
                }
            }
        }
    }
}
