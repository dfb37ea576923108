//! The order of a zone's tracks, by arithmetic.
//!
//! Two numberings run over a zone. The *physical* sequence holds every track, spare ones included; skews accumulate
//! along it. The *index* numbers the tracks that are not spares of their cylinder, in the same order; runs of logical
//! addresses are runs of indices.

use super::divisor::Divisor;
use crate::spec::{LayoutSpec, Order, TrackRunSpec, ZoneSpec};

/// One track of a zone and how the sequence got there from the zone's first track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track {
    /// Physical cylinder.
    pub(super) cylinder: u32,
    /// Head.
    pub(super) head: u32,
    /// Changes of head within a cylinder since the zone's first track.
    pub(super) head_changes: u64,
    /// Changes of cylinder since the zone's first track.
    pub(super) cylinder_changes: u64,
}

/// In which cylinders the heads run backwards.
#[derive(Clone, Copy, Debug)]
enum Backwards {
    Never,
    /// Where (cylinder − zone's first) + `offset` is odd.
    Odd {
        offset: u64,
    },
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// All tracks of a cylinder, then the next cylinder.
    ByCylinder { backwards: Backwards, indices_per_cylinder: Divisor },
    /// Along a surface for a group of cylinders, back along the next.
    BySurface {
        /// Indices in a full group.
        indices_per_group: Divisor,
        /// Cylinders in a full group.
        width: Divisor,
        /// Number of the zone's last group, which may be narrower.
        last_group: u64,
        /// Cylinders in the last group.
        last_width: Divisor,
    },
    /// Along one surface, from the first cylinder on or back.
    Run { head: u32, outwards: bool },
}

/// The order of a zone's tracks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sequence {
    kind: Kind,
    first_cylinder: u32,
    cylinders: u64,
    heads: u64,
    /// Heads less the spare tracks of each cylinder.
    data_heads: u64,
}

impl Sequence {
    pub(super) fn new(layout: &LayoutSpec, zone: &ZoneSpec) -> Self {
        let cylinders = u64::from(zone.last_cylinder.saturating_sub(zone.first_cylinder)) + 1;
        let heads = u64::from(layout.heads.max(1));
        let data_heads = heads.saturating_sub(u64::from(zone.spare_tracks_per_cylinder)).max(1);
        let by_cylinder =
            |backwards| Kind::ByCylinder { backwards, indices_per_cylinder: Divisor::new(data_heads) };
        let kind = match layout.order {
            Order::Classical => by_cylinder(Backwards::Never),
            Order::SerpentineByZone => by_cylinder(Backwards::Odd { offset: 0 }),
            Order::SerpentineByCylinder => {
                by_cylinder(Backwards::Odd { offset: u64::from(zone.first_cylinder) })
            }
            Order::SerpentineBySurface => {
                let width = u64::from(layout.group_cylinders.unwrap_or(1).max(1)).min(cylinders);
                let last_group = (cylinders - 1) / width;
                Kind::BySurface {
                    indices_per_group: Divisor::new(width * data_heads),
                    width: Divisor::new(width),
                    last_group,
                    last_width: Divisor::new(cylinders - last_group * width),
                }
            }
        };
        Self { kind, first_cylinder: zone.first_cylinder, cylinders, heads, data_heads }
    }

    /// The tracks of a run.
    pub(super) fn of_run(run: &TrackRunSpec) -> Self {
        Self {
            kind: Kind::Run { head: run.head, outwards: run.step < 0 },
            first_cylinder: run.first_cylinder,
            cylinders: u64::from(run.cylinders.max(1)),
            heads: 1,
            data_heads: 1,
        }
    }

    /// Tracks of a cylinder that are not its spares.
    pub(super) fn indices_per_cylinder(&self) -> u64 {
        self.data_heads
    }

    /// How many indices there are.
    pub(super) fn len(&self) -> u64 {
        self.cylinders * self.data_heads
    }

    /// The track of an index.
    #[inline]
    pub(super) fn track(&self, index: u64) -> Track {
        self.track_through_cylinders(index).unwrap_or_else(|| self.track_along_surfaces(index))
    }

    /// The track of an index, where tracks follow each other through a cylinder.
    #[inline]
    pub(super) fn track_through_cylinders(&self, index: u64) -> Option<Track> {
        let Kind::ByCylinder { backwards, indices_per_cylinder } = &self.kind else { return None };
        let (cylinder, place) = indices_per_cylinder.split(index);
        Some(Track {
            cylinder: self.first_cylinder + cylinder as u32,
            head: self.turned(*backwards, cylinder, place) as u32,
            head_changes: cylinder * (self.heads - 1) + place,
            cylinder_changes: cylinder,
        })
    }

    /// The track of an index, where tracks follow each other along a surface.
    fn track_along_surfaces(&self, index: u64) -> Track {
        match self.kind {
            Kind::ByCylinder { .. } => unreachable!("these follow each other through a cylinder"),
            Kind::BySurface { indices_per_group, width, last_group, last_width } => {
                let (group, rest) = indices_per_group.split(index);
                let narrow = if group == last_group { last_width } else { width };
                let (head, along) = narrow.split(rest);
                let within = if head % 2 == 0 { along } else { narrow.value() - 1 - along };
                self.by_surface(group * width.value(), group, narrow.value(), within, head)
            }
            Kind::Run { head, outwards } => {
                let along = index as u32;
                let cylinder =
                    if outwards { self.first_cylinder - along } else { self.first_cylinder + along };
                Track { cylinder, head, head_changes: 0, cylinder_changes: index }
            }
        }
    }

    /// A track of this zone by its address, and its index unless it is a spare of its cylinder.
    #[inline]
    pub(super) fn find(&self, cylinder: u32, head: u32) -> (Track, Option<u64>) {
        let relative = u64::from(cylinder.wrapping_sub(self.first_cylinder));
        match self.kind {
            Kind::ByCylinder { backwards, .. } => {
                let place = self.turned(backwards, relative, u64::from(head));
                let track = Track {
                    cylinder,
                    head,
                    head_changes: relative * (self.heads - 1) + place,
                    cylinder_changes: relative,
                };
                (track, (place < self.data_heads).then_some(relative * self.data_heads + place))
            }
            Kind::BySurface { indices_per_group, width, last_group, last_width } => {
                let (group, within) = width.split(relative);
                let narrow = if group == last_group { last_width } else { width }.value();
                let head = u64::from(head);
                let track = self.by_surface(group * width.value(), group, narrow, within, head);
                let along = if head.is_multiple_of(2) { within } else { narrow - 1 - within };
                let index = group * indices_per_group.value() + head * narrow + along;
                (track, (head < self.data_heads).then_some(index))
            }
            Kind::Run { .. } => {
                let index = u64::from(cylinder.abs_diff(self.first_cylinder));
                (Track { cylinder, head, head_changes: 0, cylinder_changes: index }, Some(index))
            }
        }
    }

    /// How many indices from `index` on follow each other along one surface, from cylinder to cylinder.
    pub(super) fn along_surface(&self, index: u64) -> u64 {
        match self.kind {
            Kind::ByCylinder { .. } => 1,
            Kind::BySurface { indices_per_group, width, last_group, last_width } => {
                let (group, rest) = indices_per_group.split(index);
                let narrow = if group == last_group { last_width } else { width };
                narrow.value() - narrow.split(rest).1
            }
            Kind::Run { .. } => self.cylinders - index,
        }
    }

    /// The index after the run of tracks in one cylinder that holds `index`.
    pub(super) fn cylinder_run_end(&self, index: u64) -> u64 {
        match self.kind {
            Kind::ByCylinder { indices_per_cylinder, .. } => {
                (indices_per_cylinder.split(index).0 + 1) * self.data_heads
            }
            Kind::BySurface { indices_per_group, width, last_group, last_width } => {
                let (group, rest) = indices_per_group.split(index);
                let narrow = if group == last_group { last_width } else { width };
                let (head, along) = narrow.split(rest);
                if narrow.value() == 1 {
                    index - head + self.data_heads
                } else if along + 1 == narrow.value() && head + 1 < self.data_heads {
                    index + 2
                } else {
                    index + 1
                }
            }
            Kind::Run { .. } => index + 1,
        }
    }

    /// How many indices lie before track `cylinder`/`head` in classical order.
    pub(super) fn classical_indices_before(&self, cylinder: u32, head: u64) -> u64 {
        match cylinder.checked_sub(self.first_cylinder).map(u64::from) {
            None => 0,
            Some(relative) if relative >= self.cylinders => self.len(),
            Some(relative) => relative * self.data_heads + head.min(self.data_heads),
        }
    }

    /// Head of a place within the cylinder's order, and the other way round.
    #[inline]
    fn turned(&self, backwards: Backwards, relative_cylinder: u64, place: u64) -> u64 {
        match backwards {
            Backwards::Odd { offset } if (relative_cylinder + offset) % 2 == 1 => self.heads - 1 - place,
            _ => place,
        }
    }

    #[inline]
    fn by_surface(&self, group_first: u64, group: u64, width: u64, within: u64, head: u64) -> Track {
        let along = if head.is_multiple_of(2) { within } else { width - 1 - within };
        let position = group_first * self.heads + head * width + along;
        let head_changes = group * (self.heads - 1) + head;
        Track {
            cylinder: self.first_cylinder + (group_first + within) as u32,
            head: head as u32,
            head_changes,
            cylinder_changes: position - head_changes,
        }
    }
}
