//! Where a sector is, in steps whose angles are unknown.

use crate::listed::{Listed, TakenFrom};
use crate::pairs::Sighting;
use crate::skip::SkippedTrack;
use headstack_drive::layout::Layout;
use headstack_drive::spec::{LayoutSpec, Order, SpareGroup, ZoneSpec};

/// How many kinds of steps lead from a zone's first track to another: inner, outer, range.
pub(crate) const LEVELS: usize = 3;

/// One value for each kind of step.
pub(crate) type Steps = [f64; LEVELS];

/// A sector's place as the fit sees it: the end's angle is that of the zone's first sector + `end_revolutions` + the sum over
/// the steps, each times its angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// Number of the zone, from 0.
    pub zone: usize,
    /// From where skews put the beginning of the track's first sector to the end of this one, in turns: exact.
    pub end_revolutions: f64,
    /// Steps from the zone's first track. By cylinder: heads within the cylinder, cylinders (within the range, if there
    /// are ranges), ranges. By surface: cylinders along the surface, changes of surface, none.
    pub steps: [f64; 3],
}

impl Site {
    /// The end's angle from the zone's first sector, with these angles for the steps.
    pub(crate) fn turns(&self, values: &Steps) -> f64 {
        self.end_revolutions + dot(&self.steps, values)
    }
}

/// The sum over the levels of steps times angle.
pub(crate) fn dot(steps: &Steps, values: &Steps) -> f64 {
    steps.iter().zip(values).map(|(step, value)| step * value).sum()
}

/// What the fit needs to know of one zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZoneGeometry {
    pub(crate) first_cylinder: u32,
    pub(crate) last_cylinder: u32,
    /// Cylinders that share spare sectors; a change from one such range to the next may have a skew of its own.
    pub(crate) range_cylinders: Option<u32>,
    /// The file's track skew, cylinder skew and first sector, in turns.
    pub(crate) track_skew: f64,
    pub(crate) cylinder_skew: f64,
    /// What the file adds where a new range begins, in turns.
    pub(crate) range_skew: f64,
    pub(crate) first_sector: f64,
    /// Tracks kept for those that are passed over.
    pub(crate) spare_tracks: u32,
    /// One sector, in turns.
    pub(crate) sector: f64,
}

/// Tracks and their order, with the skews of the drive file as a first guess.
#[derive(Clone, Debug)]
pub struct Geometry {
    layout: Layout,
    order: Order,
    /// Physical heads: spare tracks of a cylinder take part in the skews.
    heads: u32,
    /// Cylinders in a group of by-surface order.
    group: u32,
    /// By how much the tracks of each head lag behind where skews put them, in turns: the file's; empty where none does.
    head_turns: Vec<f64>,
    pub(crate) zones: Vec<ZoneGeometry>,
    /// The tracks that the file lists as passed over.
    listed: Option<Listed>,
    /// For each zone the tracks, counted without them, from which on one more was passed over; ascending.
    skipped: Vec<Vec<u64>>,
}

impl Geometry {
    /// The geometry of a checked description. Ranges are those groups of cylinders that share spare sectors.
    pub fn new(spec: &LayoutSpec) -> Self {
        let zones = spec.zone.iter().map(|zone| zone_geometry(zone, spec.order)).collect();
        let group = spec.group_cylinders.unwrap_or(1).max(1);
        Self {
            layout: Layout::new(spec),
            order: spec.order,
            heads: spec.heads.max(1),
            group,
            head_turns: spec.head_angle_revolutions.clone(),
            zones,
            listed: Listed::new(spec),
            skipped: Vec::new(),
        }
    }

    /// The same with these tracks passed over; each zone's come in ascending order.
    #[must_use]
    pub(crate) fn skipping(&self, tracks: &[SkippedTrack]) -> Self {
        let mut physical = vec![Vec::new(); self.zones.len()];
        for track in tracks {
            let cylinders = u64::from(track.cylinder - self.zones[track.zone].first_cylinder);
            physical[track.zone].push(cylinders * u64::from(self.heads) + u64::from(track.head));
        }
        self.passing_over(&physical)
    }

    /// The same with these tracks of each zone passed over, counted from the zone's first and ascending.
    #[must_use]
    pub(crate) fn passing_over(&self, physical: &[Vec<u64>]) -> Self {
        let counted =
            |of: &Vec<u64>| of.iter().enumerate().map(|(earlier, track)| track - earlier as u64).collect();
        Self { skipped: physical.iter().map(counted).collect(), ..self.clone() }
    }

    /// For each zone the tracks that the file lists as passed over, counted from the zone's first; empty without a list.
    pub(crate) fn listed(&self) -> &[Vec<u64>] {
        self.listed.as_ref().map_or(&[], |listed| &listed.tracks)
    }

    /// The layout without the tracks that the file lists; itself where there are none.
    #[must_use]
    pub(crate) fn without_listed(&self, from: &TakenFrom) -> Self {
        self.listed.as_ref().map_or_else(|| self.clone(), |listed| Self::new(&listed.without(from)))
    }

    /// Spare tracks of each zone without the file's list, if it was taken from there; none without a list.
    pub(crate) fn bare_spares(&self, from: &TakenFrom) -> Vec<u32> {
        self.listed.as_ref().map_or_else(Vec::new, |listed| listed.spares(from))
    }

    /// Whether tracks can be looked for that are passed over: by cylinders, with spare tracks.
    pub(crate) fn may_skip(&self) -> bool {
        let plain = self.zones.iter().all(|zone| zone.range_cylinders.is_none());
        let spares = self.listed.is_some() || self.zones.iter().any(|zone| zone.spare_tracks > 0);
        self.order == Order::Classical && plain && spares
    }

    /// The track of a site, counted from the zone's first; by cylinders only.
    pub(crate) fn track(&self, site: &Site) -> f64 {
        site.steps[1] * self.heads() + site.steps[0]
    }

    /// Tracks of a cylinder.
    pub(crate) fn heads(&self) -> f64 {
        f64::from(self.heads)
    }

    /// Cylinder and head of a track, counted from the zone's first; by cylinders only.
    pub(crate) fn place_of_track(&self, zone: usize, track: u64) -> (u32, u32) {
        let heads = u64::from(self.heads);
        (self.zones[zone].first_cylinder + (track / heads) as u32, (track % heads) as u32)
    }

    /// The angles of the steps where the file's skews are so many sectors more: track skew, cylinder skew.
    pub(crate) fn shifted_values(&self, zone: usize, (track, cylinder): (i32, i32)) -> Steps {
        let of = &self.zones[zone];
        let more = |skew: f64, sectors: i32| skew + f64::from(sectors) * of.sector;
        self.values(zone, more(of.track_skew, track), more(of.cylinder_skew, cylinder), of.range_skew)
    }

    /// Sightings with their places in this geometry.
    pub(crate) fn again(&self, sightings: &[Sighting]) -> Vec<Sighting> {
        let place = |seen: &Sighting| Sighting { site: self.site(seen.lba).unwrap_or(seen.site), ..*seen };
        sightings.iter().map(place).collect()
    }

    /// The same with ranges of `cylinders` in every zone; `None` for no ranges.
    #[must_use]
    pub fn with_ranges(mut self, cylinders: Option<u32>) -> Self {
        let usable = cylinders.filter(|&cylinders| cylinders > 1 && self.order != Order::SerpentineBySurface);
        for zone in &mut self.zones {
            zone.range_cylinders = usable;
        }
        self
    }

    /// Where a sector is; `None` beyond the drive's capacity, and for drives that are described in runs of tracks: what is fitted
    /// are the angles of zones. Those of heads are the file's.
    pub fn site(&self, lba: u64) -> Option<Site> {
        if lba >= self.layout.capacity() {
            return None;
        }
        let place = self.layout.locate(lba);
        let zone = place.zone as usize;
        let (mut head, mut steps) =
            (place.head, self.steps(self.zones.get(zone)?, place.cylinder, place.head));
        if let Some(skipped) = self.skipped.get(zone).filter(|skipped| !skipped.is_empty()) {
            let track = steps[1] * self.heads() + steps[0];
            let track = track + skipped.partition_point(|&from| from as f64 <= track) as f64;
            let cylinder = (track / self.heads()).floor();
            steps = [track - cylinder * self.heads(), cylinder, 0.0];
            // Only in cylinder order, where it is the number of the step.
            head = steps[0] as u32;
        }
        let lag = self.head_turns.get(head as usize).copied().unwrap_or(0.0);
        let end_revolutions = (f64::from(place.slot) + 1.0) / f64::from(place.slots) + lag;
        Some(Site { zone, end_revolutions, steps })
    }

    fn steps(&self, zone: &ZoneGeometry, cylinder: u32, head: u32) -> Steps {
        let relative = cylinder - zone.first_cylinder;
        let backwards = match self.order {
            Order::Classical => false,
            Order::SerpentineByZone => relative % 2 == 1,
            Order::SerpentineByCylinder => cylinder % 2 == 1,
            Order::SerpentineBySurface => return self.along_surface(zone, relative, head),
        };
        let head = if backwards { self.heads - 1 - head } else { head };
        let range = zone.range_cylinders.unwrap_or(u32::MAX);
        [f64::from(head), f64::from(relative % range), f64::from(relative / range)]
    }

    /// Cylinder changes and head changes since the zone's first track, in by-surface order.
    fn along_surface(&self, zone: &ZoneGeometry, relative: u32, head: u32) -> Steps {
        let cylinders = zone.last_cylinder - zone.first_cylinder + 1;
        let width = self.group.min(cylinders);
        let (group, within) = (relative / width, relative % width);
        let narrow = width.min(cylinders - group * width);
        let along = if head.is_multiple_of(2) { within } else { narrow - 1 - within };
        let position = f64::from(group) * f64::from(width) * f64::from(self.heads)
            + f64::from(head) * f64::from(narrow)
            + f64::from(along);
        let surfaces = f64::from(group) * f64::from(self.heads - 1) + f64::from(head);
        [position - surfaces, surfaces, 0.0]
    }

    /// The angles of the steps, in turns within [0, 1), as the file has them.
    pub(crate) fn file_values(&self, zone: usize) -> Steps {
        let of = &self.zones[zone];
        self.values(zone, of.track_skew, of.cylinder_skew, of.range_skew)
    }

    /// The angles of the steps for given skews in turns.
    pub(crate) fn values(&self, zone: usize, track: f64, cylinder: f64, range: f64) -> Steps {
        if self.order == Order::SerpentineBySurface {
            return [cylinder, track, 0.0];
        }
        let turn = (f64::from(self.heads) - 1.0) * track + cylinder;
        let length = self.zones[zone].range_cylinders.map_or(0.0, f64::from);
        [track, turn, length * turn + range].map(|value| value.rem_euclid(1.0))
    }

    /// The angle from range to range if the file's skew between them is kept, beside `turn` from cylinder to cylinder.
    pub(crate) fn file_range(&self, zone: usize, turn: f64) -> f64 {
        let of = &self.zones[zone];
        (of.range_cylinders.map_or(0.0, f64::from) * turn + of.range_skew).rem_euclid(1.0)
    }

    /// Track skew, cylinder skew and range skew, in turns within [0, 1), from the angles of the steps.
    pub(crate) fn skews(&self, zone: usize, values: &Steps) -> [f64; 3] {
        if self.order == Order::SerpentineBySurface {
            return [values[1], values[0], 0.0].map(|value| value.rem_euclid(1.0));
        }
        let cylinder = values[1] - (f64::from(self.heads) - 1.0) * values[0];
        let range =
            self.zones[zone].range_cylinders.map_or(0.0, |length| values[2] - f64::from(length) * values[1]);
        [values[0], cylinder, range].map(|value| value.rem_euclid(1.0))
    }

    /// Which level's angle is the track skew, which the cylinder skew.
    pub(crate) fn levels(&self) -> (usize, usize) {
        if self.order == Order::SerpentineBySurface { (1, 0) } else { (0, 1) }
    }
}

fn zone_geometry(zone: &ZoneSpec, order: Order) -> ZoneGeometry {
    let slots = f64::from(zone.sectors_per_track.saturating_add(zone.spare_sectors_per_track).max(1));
    let shared = zone.spares.as_ref().filter(|spares| spares.per == SpareGroup::Cylinders);
    let range = shared.and_then(|spares| spares.cylinders).filter(|&cylinders| cylinders > 1);
    ZoneGeometry {
        first_cylinder: zone.first_cylinder,
        last_cylinder: zone.last_cylinder.max(zone.first_cylinder),
        range_cylinders: range.filter(|_| order != Order::SerpentineBySurface),
        track_skew: zone.track_skew_sectors / slots,
        cylinder_skew: zone.cylinder_skew_sectors / slots,
        range_skew: shared.map_or(0.0, |spares| spares.range_skew_sectors / slots),
        first_sector: zone.first_sector_revolutions,
        spare_tracks: zone.spare_tracks_at_end,
        sector: 1.0 / slots,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive with all that moves a sector: the layout of the drive model is the naive twin.
    fn spec(order: Order) -> LayoutSpec {
        let zone = |first_cylinder, last_cylinder, sectors_per_track| ZoneSpec {
            sectors_per_track_by_head: Vec::new(),
            first_cylinder,
            last_cylinder,
            sectors_per_track,
            spare_sectors_per_track: 1,
            spare_tracks_per_cylinder: 1,
            spare_tracks_at_end: 2,
            empty_sectors_at_front: 0,
            track_skew_sectors: 3.25,
            cylinder_skew_sectors: 7.5,
            first_sector_revolutions: 0.3,
            spares: None,
        };
        LayoutSpec {
            head_angle_revolutions: Vec::new(),
            order,
            heads: 4,
            group_cylinders: (order == Order::SerpentineBySurface).then_some(5),
            cylinders: None,
            capacity_sectors: None,
            zone: vec![zone(0, 12, 20), zone(15, 30, 16)],
            run: Vec::new(),
            region: Vec::new(),
            slipped_sectors: vec![100, 200],
            slipped_tracks: Vec::new(),
            remap: Vec::new(),
        }
    }

    #[test]
    fn sites_with_the_files_skews_lie_where_the_layout_has_them() {
        for order in [
            Order::Classical,
            Order::SerpentineByZone,
            Order::SerpentineByCylinder,
            Order::SerpentineBySurface,
        ] {
            let mut spec = spec(order);
            spec.head_angle_revolutions = vec![0.0, 0.21, -0.13, 0.4];
            let layout = Layout::new(&spec);
            for ranges in [None, Some(3)] {
                let geometry = Geometry::new(&spec).with_ranges(ranges);
                for lba in 0..layout.capacity() {
                    let site = geometry.site(lba).unwrap();
                    let values = geometry.file_values(site.zone);
                    let ours = geometry.zones[site.zone].first_sector + site.turns(&values);
                    let place = layout.locate(lba);
                    let theirs = place.start.as_turns() + 1.0 / f64::from(place.slots);
                    let error = ours - theirs;
                    assert!((error - error.round()).abs() < 1e-9, "{order:?} {lba}: {ours} {theirs}");
                }
                assert_eq!(geometry.site(layout.capacity()), None);
            }
        }
    }

    #[test]
    fn skews_and_step_angles_are_two_ways_to_say_the_same() {
        let geometry = Geometry::new(&spec(Order::Classical)).with_ranges(Some(6));
        let values = geometry.values(0, 0.19, 0.35, 0.62);
        let skews = geometry.skews(0, &values);
        for (skew, expected) in skews.iter().zip([0.19, 0.35, 0.62]) {
            assert!((skew - expected).abs() < 1e-12);
        }
    }
}
