//! The naive twin: walks every track and every sector, and keeps all of them.

use crate::spec::{LayoutSpec, Order, SpareGroup, ZoneSpec};
use std::collections::BTreeMap;

/// A sector by its address: cylinder, head, slot.
pub(super) type Address = (u32, u32, u32);

/// One physical track.
#[derive(Clone, Debug)]
pub(super) struct TwinTrack {
    pub(super) cylinder: u32,
    pub(super) head: u32,
    pub(super) zone: usize,
    /// Slots, spares included.
    pub(super) slots: u32,
    /// Where the first slot begins, in turns.
    pub(super) turns: f64,
    /// The last of its cylinder in track order, or on a surface without data.
    pub(super) spare_of_cylinder: bool,
    pub(super) data: bool,
}

/// A layout in full.
pub(super) struct Twin {
    /// All physical tracks in order.
    pub(super) tracks: Vec<TwinTrack>,
    /// By logical address: number of the home track, slot there.
    pub(super) homes: Vec<(usize, u32)>,
    /// By logical address, remaps applied.
    pub(super) places: Vec<Address>,
    pub(super) remapped: Vec<bool>,
    pub(super) residents: BTreeMap<Address, u64>,
}

impl Twin {
    pub(super) fn new(spec: &LayoutSpec) -> Self {
        let (tracks, sequence) =
            if spec.run.is_empty() { of_zones(spec) } else { super::any_runs::of_runs(spec) };
        let mut homes: Vec<(usize, u32)> = (0..)
            .zip(sequence)
            .filter(|(number, _)| !spec.slipped_sectors.contains(number))
            .map(|(_, home)| home)
            .collect();
        homes.truncate(spec.capacity_sectors.unwrap_or(u64::MAX) as usize);
        let mut places: Vec<Address> =
            homes.iter().map(|&(track, slot)| (tracks[track].cylinder, tracks[track].head, slot)).collect();
        let mut remapped = vec![false; places.len()];
        for remap in &spec.remap {
            places[remap.lba as usize] = (remap.cylinder, remap.head, remap.sector);
            remapped[remap.lba as usize] = true;
        }
        let residents = places.iter().copied().zip(0..).collect();
        Self { tracks, homes, places, remapped, residents }
    }

    /// First and last plus one of the addresses at home on the track of `lba`.
    pub(super) fn track_range(&self, lba: u64) -> (u64, u64) {
        let track = self.homes[lba as usize].0;
        self.range(|number| number == track)
    }

    /// The address after those at home on the tracks that follow without leaving the cylinder.
    pub(super) fn cylinder_end(&self, lba: u64) -> u64 {
        let track = self.homes[lba as usize].0;
        let here = &self.tracks[track];
        let more = self.tracks[track..].iter().take_while(|next| next.cylinder == here.cylinder).count();
        self.range(|number| (track..track + more).contains(&number)).1
    }

    /// How many sectors from `lba` on follow one another on one track, at their own homes.
    pub(super) fn run(&self, lba: u64) -> u32 {
        let mut at = lba as usize;
        let mut sectors = 1;
        while !self.remapped[at] && at + 1 < self.places.len() && !self.remapped[at + 1] {
            let ((cylinder, head, slot), next) = (self.places[at], self.places[at + 1]);
            if next != (cylinder, head, slot + 1) {
                break;
            }
            at += 1;
            sectors += 1;
        }
        sectors
    }

    /// The physical track that a place lies on.
    pub(super) fn track_at(&self, (cylinder, head, _): Address) -> &TwinTrack {
        self.tracks
            .iter()
            .find(|track| (track.cylinder, track.head) == (cylinder, head))
            .expect("every place lies on a track")
    }

    fn range(&self, on: impl Fn(usize) -> bool) -> (u64, u64) {
        let first = self.homes.iter().position(|&(track, _)| on(track)).expect("an address lies on it");
        let last = self.homes.iter().rposition(|&(track, _)| on(track)).expect("an address lies on it");
        (first as u64, last as u64 + 1)
    }
}

/// All tracks, and the data sectors in order: number of the track, slot there.
fn of_zones(spec: &LayoutSpec) -> (Vec<TwinTrack>, Vec<(usize, u32)>) {
    let mut tracks = Vec::new();
    for (number, zone) in spec.zone.iter().enumerate() {
        tracks.extend(zone_tracks(spec, number, zone));
    }
    for track in &mut tracks {
        let at = (track.cylinder, track.head);
        let inside = spec.region.is_empty()
            || spec.region.iter().any(|region| {
                (region.first_cylinder, region.first_head) <= at
                    && at <= (region.last_cylinder, region.last_head)
            });
        let slipped = spec.slipped_tracks.contains(&[track.cylinder, track.head]);
        track.data &= inside && !slipped;
    }
    let sequence = (0..spec.zone.len()).flat_map(|number| data_sectors(spec, &tracks, number)).collect();
    (tracks, sequence)
}

/// The data sectors of a zone in order: number of the track, slot there.
fn data_sectors(spec: &LayoutSpec, tracks: &[TwinTrack], number: usize) -> Vec<(usize, u32)> {
    let zone = &spec.zone[number];
    let of_zone = |(_, track): &(usize, &TwinTrack)| track.data && track.zone == number;
    let slots: Vec<(usize, u32)> = tracks
        .iter()
        .enumerate()
        .filter(of_zone)
        .flat_map(|(track, _)| (0..zone.sectors_per_track).map(move |slot| (track, slot)))
        .collect();
    let mut data = slots.clone();
    if let Some(spares) = &zone.spares {
        data.clear();
        // Groups by what they are, not by their size.
        let group = |at: usize| match spares.per {
            SpareGroup::Track => slots[at].0 as u32,
            SpareGroup::Cylinders => {
                (tracks[slots[at].0].cylinder - zone.first_cylinder) / spares.cylinders.unwrap_or(1)
            }
            SpareGroup::Zone => 0,
        };
        let numbers: Vec<usize> = (0..slots.len()).collect();
        for members in numbers.chunk_by(|&a, &b| group(a) == group(b)) {
            let size = members.len() - spares.sectors as usize;
            let mut sound: Vec<usize> =
                members.iter().copied().filter(|&at| !spares.slipped_slots.contains(&(at as u64))).collect();
            if spares.at_front {
                sound.drain(..sound.len() - size);
            }
            sound.truncate(size);
            data.extend(sound.into_iter().map(|at| slots[at]));
        }
    }
    data.split_off((zone.empty_sectors_at_front as usize).min(data.len()))
}

/// The tracks of a zone in physical order.
fn zone_tracks(spec: &LayoutSpec, number: usize, zone: &ZoneSpec) -> Vec<TwinTrack> {
    let slots = f64::from(zone.sectors_per_track + zone.spare_sectors_per_track);
    let mut tracks: Vec<TwinTrack> = Vec::new();
    let mut turns = zone.first_sector_revolutions;
    for (cylinder, head, spare_of_cylinder) in order(spec, zone) {
        if let Some(previous) = tracks.last() {
            let skew = if previous.cylinder == cylinder {
                zone.track_skew_sectors
            } else {
                let range = |cylinder: u32| {
                    let cylinders = zone.spares.as_ref().and_then(|spares| spares.cylinders);
                    cylinders.map(|cylinders| (cylinder - zone.first_cylinder) / cylinders)
                };
                let of_range = match &zone.spares {
                    Some(spares) if range(cylinder) != range(previous.cylinder) => spares.range_skew_sectors,
                    _ => 0.0,
                };
                zone.cylinder_skew_sectors + of_range
            };
            turns = (turns + skew / slots).fract();
        }
        let data = !spare_of_cylinder;
        let slots = zone.sectors_per_track + zone.spare_sectors_per_track;
        tracks.push(TwinTrack { cylinder, head, zone: number, slots, turns, spare_of_cylinder, data });
    }
    let mut at_end = zone.spare_tracks_at_end;
    for track in tracks.iter_mut().rev().filter(|track| !track.spare_of_cylinder) {
        if at_end == 0 {
            break;
        }
        track.data = false;
        at_end -= 1;
    }
    tracks
}

/// Cylinder, head, and whether the track is a spare of its cylinder.
fn order(spec: &LayoutSpec, zone: &ZoneSpec) -> Vec<(u32, u32, bool)> {
    let cylinders: Vec<u32> = (zone.first_cylinder..=zone.last_cylinder).collect();
    let data_heads = spec.heads - zone.spare_tracks_per_cylinder;
    let mut order = Vec::new();
    if spec.order == Order::SerpentineBySurface {
        for group in cylinders.chunks(spec.group_cylinders.expect("given with this order") as usize) {
            for head in 0..spec.heads {
                let mut along = group.to_vec();
                if head % 2 == 1 {
                    along.reverse();
                }
                order.extend(along.into_iter().map(|cylinder| (cylinder, head, head >= data_heads)));
            }
        }
        return order;
    }
    for cylinder in cylinders {
        let backwards = match spec.order {
            Order::SerpentineByZone => (cylinder - zone.first_cylinder) % 2 == 1,
            Order::SerpentineByCylinder => cylinder % 2 == 1,
            _ => false,
        };
        for place in 0..spec.heads {
            let head = if backwards { spec.heads - 1 - place } else { place };
            order.push((cylinder, head, place >= data_heads));
        }
    }
    order
}
