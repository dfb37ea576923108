//! `[layout]`: zones, skews, spares, and the order of tracks; or the tracks themselves, run by run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order in which logical addresses run over the tracks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// All tracks of a cylinder, head 0 first, then the next cylinder.
    #[default]
    Classical,
    /// As classical, but the heads run backwards in every second cylinder counted from the zone's first (a cylinder
    /// change keeps the head).
    SerpentineByZone,
    /// As classical, but the heads run backwards in odd cylinders, counted over the whole drive.
    SerpentineByCylinder,
    /// Along one surface for `group_cylinders` cylinders, then back along the next surface, and so on; then the next
    /// group. The kind of today's drives.
    SerpentineBySurface,
}

/// Where the sectors are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutSpec {
    /// Track order.
    #[serde(default)]
    pub order: Order,
    /// Recording surfaces that hold data (per actuator).
    pub heads: u32,
    /// Cylinders in one group of `serpentine-by-surface` order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_cylinders: Option<u32>,
    /// Physical cylinders, where the arm can go farther than the last zone or run; absent: where these end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinders: Option<u32>,
    /// Addressable sectors, where the drive announces fewer than its tracks hold; absent: all. The rest are spares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_sectors: Option<u64>,
    /// By how much, in revolutions, the tracks of each head lag behind where the skews alone put them, head 0 first: heads are not
    /// mounted exactly one above the other. Absent: none does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub head_angle_revolutions: Vec<f64>,
    /// Zones, outermost first, without overlap. A layout has either zones or runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zone: Vec<ZoneSpec>,
    /// Runs of tracks in the order of addresses, without overlap, where zones cannot say where the sectors are.
    /// `order`, regions and slipped tracks do not go with them: the runs say it all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<TrackRunSpec>,
    /// Regions that hold data, in order; tracks outside are spares. Absent: everything holds data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub region: Vec<RegionSpec>,
    /// Sectors skipped by slipping: positions in the sequence of all data sectors (spares and what the drive keeps for
    /// itself left out) including the slipped ones, ascending. Each shortens the drive by a sector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slipped_sectors: Vec<u64>,
    /// Tracks skipped by slipping, as `[cylinder, head]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slipped_tracks: Vec<[u32; 2]>,
    /// Grown defects: single logical sectors that live elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remap: Vec<RemapSpec>,
}

/// A range of cylinders with one number of sectors per track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneSpec {
    /// First cylinder of the zone.
    pub first_cylinder: u32,
    /// Last cylinder of the zone, included.
    pub last_cylinder: u32,
    /// Data sectors on a track (spares not counted, except those of `spares`, which may be any sector of the track).
    pub sectors_per_track: u32,
    /// Data sectors on a track of each head, head 0 first, where each head has a density of its own (adaptive formatting).
    /// `sectors_per_track` is then the nominal track, whose sectors the skews count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sectors_per_track_by_head: Vec<u32>,
    /// Spare sectors at the end of each track; they take part in the rotation and hold no data.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spare_sectors_per_track: u32,
    /// Whole spare tracks at the end of each cylinder.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spare_tracks_per_cylinder: u32,
    /// Spare tracks at the end of the zone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spare_tracks_at_end: u32,
    /// Data sectors at the zone's front that the drive keeps for itself.
    #[serde(default, skip_serializing_if = "is_none_kept")]
    pub empty_sectors_at_front: u64,
    /// By how many sectors (may be a fraction) sector 0 lags at a change of head within a cylinder.
    #[serde(default)]
    pub track_skew_sectors: f64,
    /// By how many sectors sector 0 lags at a change of cylinder; replaces the track skew there.
    #[serde(default)]
    pub cylinder_skew_sectors: f64,
    /// Where, in revolutions from the index, the zone's first sector begins.
    #[serde(default, skip_serializing_if = "is_zero_real")]
    pub first_sector_revolutions: f64,
    /// Spare sectors that a group of tracks shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spares: Option<SparesSpec>,
}

/// Tracks of one surface, one cylinder after the other, with the same sectors on each. Addresses run along the tracks of
/// a run, then along the next run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrackRunSpec {
    /// Cylinder of the run's first track.
    pub first_cylinder: u32,
    /// Head that reads all its tracks.
    pub head: u32,
    /// How many cylinders, and so tracks, the run has.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub cylinders: u32,
    /// Cylinders from one track to the next: 1, or −1 for a run towards cylinder 0.
    #[serde(default = "inwards", skip_serializing_if = "is_inwards")]
    pub step: i32,
    /// Sectors on a track, those that hold no data included.
    pub sectors_per_track: u32,
    /// The first sector that holds data, on every track of the run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_sector: u32,
    /// Sectors that hold data, from `first_sector` on; absent: all up to the track's end. 0 for spare tracks, which
    /// remapped sectors may live on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sectors: Option<u32>,
    /// Where, in revolutions from the index, sector 0 of the run's first track begins.
    #[serde(default, skip_serializing_if = "is_zero_real")]
    pub first_sector_revolutions: f64,
    /// By how many sectors (may be a fraction) sector 0 lags from one track of the run to the next.
    #[serde(default, skip_serializing_if = "is_zero_real")]
    pub skew_sectors: f64,
}

impl ZoneSpec {
    /// Data sectors on a track of a head.
    pub fn sectors_on_head(&self, head: u32) -> u32 {
        self.sectors_per_track_by_head.get(head as usize).copied().unwrap_or(self.sectors_per_track)
    }

    /// Data sectors on the fullest track.
    pub fn most_sectors_on_a_track(&self) -> u32 {
        self.sectors_per_track_by_head.iter().copied().max().unwrap_or(self.sectors_per_track)
    }

    /// Data sectors of a cylinder, all heads together, spare tracks counted as if they held data.
    pub fn sectors_per_cylinder(&self, heads: u32) -> u64 {
        if self.sectors_per_track_by_head.is_empty() {
            return u64::from(heads) * u64::from(self.sectors_per_track);
        }
        self.sectors_per_track_by_head.iter().map(|&sectors| u64::from(sectors)).sum()
    }
}

impl TrackRunSpec {
    /// Sectors of a track that hold data.
    pub fn data_sectors(&self) -> u32 {
        self.data_sectors.unwrap_or_else(|| self.sectors_per_track.saturating_sub(self.first_sector))
    }

    /// The lowest and the highest cylinder of the run.
    pub fn cylinder_range(&self) -> (u32, u32) {
        let more = self.cylinders.saturating_sub(1);
        if self.step < 0 {
            (self.first_cylinder.saturating_sub(more), self.first_cylinder)
        } else {
            (self.first_cylinder, self.first_cylinder.saturating_add(more))
        }
    }
}

impl LayoutSpec {
    /// Whether heads differ in density or in where their tracks begin.
    pub fn heads_differ(&self) -> bool {
        !self.head_angle_revolutions.is_empty()
            || self.zone.iter().any(|zone| !zone.sectors_per_track_by_head.is_empty())
    }

    /// How many cylinders lie up to the end of the last zone, or of the run that reaches farthest.
    pub fn cylinders_with_tracks(&self) -> u32 {
        let zones = self.zone.last().map(|zone| zone.last_cylinder);
        let runs = self.run.iter().map(|run| run.cylinder_range().1);
        zones.into_iter().chain(runs).max().map_or(0, |last| last.saturating_add(1))
    }

    /// Data sectors of the track that holds most.
    pub fn most_data_sectors_per_track(&self) -> u32 {
        let zones = self.zone.iter().map(ZoneSpec::most_sectors_on_a_track);
        zones.chain(self.run.iter().map(TrackRunSpec::data_sectors)).max().unwrap_or(0)
    }

    /// Sectors of the longest track, spares included.
    pub fn most_sectors_per_track(&self) -> u32 {
        let slots =
            |zone: &ZoneSpec| zone.most_sectors_on_a_track().saturating_add(zone.spare_sectors_per_track);
        let runs = self.run.iter().map(|run| run.sectors_per_track);
        self.zone.iter().map(slots).chain(runs).max().unwrap_or(0)
    }
}

/// What shares spare sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpareGroup {
    /// Each track has its own.
    Track,
    /// Each cylinder, or each range of `cylinders`, counted from the zone's first; the last range may be shorter and has
    /// as many spares.
    Cylinders,
    /// The whole zone.
    Zone,
}

/// Spare sectors that a group of tracks shares, and the slipped sectors that use them up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SparesSpec {
    /// What shares them.
    pub per: SpareGroup,
    /// Cylinders in a group, with `per = "cylinders"`; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinders: Option<u32>,
    /// Spare sectors in each group.
    pub sectors: u32,
    /// The spares are the first sectors of the group; otherwise the last ones.
    #[serde(default, skip_serializing_if = "is_false")]
    pub at_front: bool,
    /// Sectors skipped by slipping: positions among all sectors of the zone's data tracks, spares included, ascending.
    /// Each makes a spare of its group a data sector.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slipped_slots: Vec<u64>,
    /// By how many sectors more sector 0 lags where a new range of `cylinders` begins (drives that let the skew follow
    /// the last data sector, not the spares behind it).
    #[serde(default, skip_serializing_if = "is_zero_real")]
    pub range_skew_sectors: f64,
}

/// A run of tracks that hold data, ends included, in track order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionSpec {
    /// Cylinder of the first track.
    pub first_cylinder: u32,
    /// Head of the first track.
    pub first_head: u32,
    /// Cylinder of the last track.
    pub last_cylinder: u32,
    /// Head of the last track.
    pub last_head: u32,
}

/// One logical sector that lives elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemapSpec {
    /// The logical address.
    pub lba: u64,
    /// Where it lives: cylinder.
    pub cylinder: u32,
    /// Where it lives: head.
    pub head: u32,
    /// Where it lives: slot on the track, spares included, counted from the track's first sector.
    pub sector: u32,
}

fn one() -> u32 {
    1
}

fn inwards() -> i32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_inwards(value: &i32) -> bool {
    *value == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero_real(value: &f64) -> bool {
    *value == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_kept(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}
