//! What a record says so far, for the probes that come next.

use super::density;
use super::head_zones::{self, HeadZone};
use super::hits::{hit_times, keeps};
use super::no_skews;
use super::order::{self, TrackOrder};
use super::rotation::{self, MOST_DRIFT_PPM, Rotation};
use super::tracks::{Border, tracks_at_start};
use super::turns;
use super::zones::{self, Zone};
use crate::angles::landing::{Landing, least_turns};
use crate::angles::sighting::{Sighting, angle_of};
use crate::angles::spindle::Spindle;
use crate::angles::tolerance::OFF_ANGLE;
use crate::memory::{HitTimes, Keeps};
use crate::record::{ProbeName, Record, Sample};
use std::collections::BTreeMap;

/// What later probes build on.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) rotation: Option<Rotation>,
    pub(crate) spindle: Option<Spindle>,
    /// How many measurements of an angle must agree.
    pub(crate) repetitions: usize,
    /// Standard deviation of the phase of a completion, in turns.
    pub(crate) noise_turns: f64,
    /// Standard deviation of an angle measured that often, in turns.
    pub(crate) angle_noise: f64,
    /// Least time to a sector of the same track, in turns.
    pub(crate) least_turns: Option<f64>,
    /// What reads take that the cache answers.
    pub(crate) hits: HitTimes,
    /// How long the cache keeps what was read.
    pub(crate) keeps: Keeps,
    /// Sectors in a turn at the start.
    pub(crate) sectors_per_track: Option<f64>,
    /// The tracks at the start.
    pub(crate) borders: Vec<Border>,
    /// Where surfaces differ in density: the sectors of each one's tracks at the start; none of them where these are not known.
    pub(crate) densities: Option<Vec<u64>>,
    /// Those of the first actuator.
    pub(crate) zones: Vec<Zone>,
    /// Where each head has a density of its own, those of the whole device, instead of `zones`.
    pub(crate) head_zones: Vec<HeadZone>,
    /// Whether tracks have no skews.
    pub(crate) no_skews: bool,
    /// Actuators with an equal share of the addresses each.
    pub(crate) actuators: usize,
    pub(crate) order: Option<TrackOrder>,
    /// Whether two tracks make a cylinder, and nothing tells which of its two skews is which.
    pub(crate) skews_unsure: bool,
    /// By how much the speed changes, in parts per million, where that is too much for angles to fit together.
    pub(crate) drift_ppm: Option<f64>,
    /// Whether angles fit together all the same, or all along.
    pub(crate) is_steady: bool,
}

/// Where fewer completions than this share are late, one measurement of an angle is as good as several.
const RARELY_LATE: f64 = 1e-3;

/// How many measurements of an angle must agree, by the standard deviation of one, in turns, and by how many are late.
pub(crate) fn repetitions(noise_turns: f64, late_share: f64) -> usize {
    match noise_turns {
        quiet if quiet < 2e-5 && late_share < RARELY_LATE => 1,
        // One alone may be late; that two are, and late by the same angle, is a matter of one in 100,000.
        quiet if quiet < 2e-5 => 2,
        slight if slight < 2e-4 => 3,
        _ => 5,
    }
}

impl Known {
    pub(crate) fn of(record: &Record) -> Self {
        let rotation = rotation::rotation(record);
        let spindle = rotation.and_then(Rotation::spindle);
        let by_disk = record.head.clock_lba.is_some();
        let noise_turns = rotation.filter(|rotation| rotation.rotates()).map_or(0.0, |rotation| {
            if by_disk { rotation.own_noise } else { rotation.noise_ms / rotation.turn_ms }
        });
        let late_share = rotation.map_or(0.0, |rotation| rotation.late_share);
        // Where the speed has just changed, one is off.
        let repetitions = if by_disk { 2 } else { repetitions(noise_turns, late_share) };
        let least_turns = spindle.and_then(|spindle| least_at_one_sector(record, spindle));
        // Issued just in time, an access takes about the least time, and its error is a share of that.
        let share = least_turns.map_or(1.0, |least| (1.5 * least + 8.0 * noise_turns).min(1.0));
        let angle_noise = noise_turns * share / (repetitions as f64).sqrt();
        let drift_ppm = rotation.map(|rotation| rotation.drift_ppm).filter(|&ppm| ppm > MOST_DRIFT_PPM);
        // Of what lies on the media nothing is told by angles that do not fit together.
        let is_steady = drift_ppm.is_none() || by_disk;
        let steady = spindle.filter(|_| is_steady);
        let borders = steady.map(|spindle| tracks_at_start(record, spindle)).unwrap_or_default();
        let looked = !borders.is_empty() && record.has_finished(ProbeName::Surfaces);
        let order = steady.and_then(|spindle| order::order(record, spindle));
        let order = order.or_else(|| looked.then(TrackOrder::not_counted));
        let by_head = density::by_head(&borders);
        let mut head_zones = steady
            .zip(by_head.as_ref())
            .map(|(spindle, sectors)| head_zones::head_zones(record, spindle, sectors.len(), angle_noise))
            .unwrap_or_default();
        let of_cylinders = head_zones::order(order.as_ref(), &head_zones, &borders);
        if of_cylinders.is_none() {
            head_zones.clear();
        }
        let order = of_cylinders.or(order);
        let no_skews = no_skews::no_skews(record);
        let zones = steady.filter(|_| by_head.is_none()).map(|spindle| {
            if no_skews {
                no_skews::zones(record, spindle).into_iter().map(|(zone, _)| zone).collect()
            } else {
                zones::zones(record, spindle)
            }
        });
        let mut zones = zones.unwrap_or_default();
        let mut actuators = if zones::halves(&zones, record.head.device.sectors) { 2 } else { 1 };
        zones.truncate(zones.len() / actuators);
        let each_a_cylinder = order.as_ref().is_some_and(|order| order.by_times && order.heads == 1);
        let first_zone = zones.first().filter(|_| no_skews || each_a_cylinder).zip(steady);
        let along =
            first_zone.and_then(|(zone, spindle)| order::along_surfaces(record, spindle, zone.tracks()));
        // Where no zone says how far to look, tracks that turn back later were not looked for.
        let unsure = no_skews && zones.is_empty();
        let order = along.or(order.filter(|_| !unsure)).or_else(|| looked.then(TrackOrder::not_counted));
        let uneven = || density::up_and_down(&zones).then(Vec::new);
        let at_start = || head_zones.first().map(|zone| zone.sectors.clone());
        let densities = at_start().or(by_head).or_else(uneven);
        if densities.is_some() {
            (zones, actuators) = (Vec::new(), 1);
        }
        Self {
            rotation,
            spindle,
            repetitions,
            noise_turns,
            angle_noise,
            least_turns,
            hits: hit_times(record),
            keeps: keeps(record),
            sectors_per_track: borders.first().map(|border| border.per_turn),
            actuators,
            zones,
            head_zones,
            no_skews,
            borders,
            densities,
            skews_unsure: steady.is_some_and(|spindle| turns::is_unsure(record, spindle)),
            order,
            drift_ppm,
            is_steady,
        }
    }

    /// Whether one number of sectors holds for the tracks of a zone, or one for each head, and angles tell it.
    pub(crate) fn has_zones(&self) -> bool {
        (self.densities.is_none() || !self.head_zones.is_empty()) && self.is_steady
    }

    /// Sectors on the track that a sector lies on, where each head has a density of its own.
    pub(crate) fn sectors_by_head(&self, lba: u64) -> Option<u64> {
        let zone = self.head_zones.iter().find(|zone| lba < zone.end_lba)?;
        Some(zone.sectors_at(lba))
    }
}

/// What the more common skew and the rarer one are skews of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// Tracks of a cylinder lie together: of the head, and of the cylinder.
    HeadThenCylinder,
    /// Tracks run along surfaces: of the cylinder, and of the head.
    CylinderThenHead,
    /// Each track is a cylinder of its own: there is one surface.
    CylinderOnly,
    /// All skews are alike, but the times tell how many tracks a cylinder has.
    Alike,
    /// All skews are alike, and nothing tells.
    Unknown,
}

impl Known {
    /// What the skews are of.
    pub(crate) fn changes(&self) -> Changes {
        match &self.order {
            None => Changes::Unknown,
            Some(order) if order.by_surface => Changes::CylinderThenHead,
            Some(order) if order.by_times && order.heads == 1 => Changes::CylinderOnly,
            Some(order) if order.by_times => Changes::Alike,
            Some(_) => Changes::HeadThenCylinder,
        }
    }

    /// The same where the surfaces were counted: what tracks are only taken for is not told as a switch.
    pub(crate) fn sure_changes(&self) -> Changes {
        if self.order.as_ref().is_some_and(|order| order.counted) { self.changes() } else { Changes::Unknown }
    }
}

/// Least time to a sector after random pauses, or from anywhere.
fn least_at_one_sector(record: &Record, spindle: Spindle) -> Option<f64> {
    let mut places: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    for sample in rotation::last_stage(record) {
        places.entry(sample.lba).or_default().push(sample);
    }
    let landings = places.values().filter(|visits| visits.len() > 2).flat_map(|visits| {
        let angle = angle_of(&visits.iter().map(|sample| Sighting::of(sample, spindle)).collect::<Vec<_>>());
        visits.iter().filter_map(move |sample| {
            let latency = spindle.turns(sample.latency_ms());
            Landing::of(spindle.phase(sample.start), angle, latency, OFF_ANGLE)
        })
    });
    least_turns(&landings.collect::<Vec<_>>()).map(|(turns, _)| turns)
}
