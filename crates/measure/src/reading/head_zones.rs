//! Zones where each head has a density of its own: whole cylinders of tracks that follow each other evenly, so that one angle
//! tells all others. Nothing is told unless all of the device is made of such zones.

use super::hits::hit_times;
use super::order::{self, TrackOrder};
use super::tracks::{self, Border};
use crate::angles::median::circular_median;
use crate::angles::sighting::{Sighting, angle_of};
use crate::angles::spindle::{Spindle, wrap, wrap_signed};
use crate::record::series::SEARCHING;
use crate::record::series::zones::{BEGINS, ENDS, WALK};
use crate::record::{ProbeName, Record, Role, Sample};
use std::collections::BTreeMap;

/// Tracks that are followed beyond a cylinder: that it begins anew must show.
pub(crate) const MORE_TRACKS: usize = 2;
/// No more zones are looked for.
pub(crate) const MOST_ZONES: u32 = 160;
/// An angle is as foreseen if it is off by less than this share of a sector …
const SHARE_OF_A_SECTOR: f64 = 0.45;
/// … or by no more than so many standard deviations of an angle.
const SIGMAS: f64 = 6.0;

/// A zone of whole cylinders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeadZone {
    /// Where its first cylinder begins.
    pub(crate) first_lba: u64,
    /// The sector behind its last.
    pub(crate) end_lba: u64,
    /// Sectors on the track of each head, in the order of addresses.
    pub(crate) sectors: Vec<u64>,
    /// The angle at which its first sector begins, in turns.
    pub(crate) angle: f64,
    /// By how much tracks of one cylinder lag behind each other, in turns.
    pub(crate) track_skew: f64,
    /// From one cylinder to the next, in turns.
    pub(crate) period: f64,
    /// What an angle may be off what is foreseen, in turns.
    tolerance: f64,
    /// The same for what the period is off where it was followed no farther, in turns.
    period_tolerance: f64,
    /// Sectors that are accessed at a time.
    unit: u64,
    /// Over how many cylinders it was followed.
    followed: u64,
}

impl HeadZone {
    /// The zone that begins at a sector, of which the end is seen at an angle, by the borders of the tracks that follow; `None` where
    /// they are not of a cylinder that begins anew after so many.
    fn of(begin: (u64, f64), borders: &[Border], heads: usize, unit: u64, angle_noise: f64) -> Option<Self> {
        let borders = borders.get(..heads + MORE_TRACKS)?;
        let follow = borders.iter().zip(0..).all(|(border, number)| border.number == number);
        let firsts: Vec<u64> =
            std::iter::once(begin.0).chain(borders.iter().map(|border| border.first)).collect();
        let sectors: Vec<u64> = firsts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let anew = (0..MORE_TRACKS).all(|track| sectors[heads + track] == sectors[track]);
        if !follow || !anew || sectors.iter().any(|&sectors| sectors < 2 * unit) {
            return None;
        }
        // Accesses show where a sector ends.
        let ends = std::iter::once(begin.1).chain(borders.iter().map(|border| border.angle));
        let begins: Vec<f64> =
            ends.zip(&sectors).map(|(angle, &sectors)| wrap(angle - unit as f64 / sectors as f64)).collect();
        let skews: Vec<f64> = begins[..heads].windows(2).map(|pair| wrap(pair[1] - pair[0])).collect();
        let rough = circular_median(&skews);
        let last = heads - 1;
        let track_skew =
            wrap(rough + wrap_signed(begins[last] - begins[0] - last as f64 * rough) / last as f64);
        let most = sectors.iter().copied().max()? as f64;
        let zone = Self {
            first_lba: begin.0,
            end_lba: begin.0,
            angle: begins[0],
            track_skew,
            period: wrap(begins[heads] - begins[0]),
            tolerance: (SHARE_OF_A_SECTOR * unit as f64 / most).max(SIGMAS * angle_noise),
            period_tolerance: SIGMAS * angle_noise,
            unit,
            followed: 1,
            sectors: sectors[..heads].to_vec(),
        };
        let even = borders.iter().all(|border| zone.agrees(border.first, border.angle));
        even.then_some(zone)
    }

    /// Data sectors of a cylinder.
    pub(crate) fn per_cylinder(&self) -> u64 {
        self.sectors.iter().sum()
    }

    /// Cylinders up to its end.
    pub(crate) fn cylinders(&self) -> u64 {
        (self.end_lba - self.first_lba).div_ceil(self.per_cylinder())
    }

    /// By how much the first track of a cylinder lags behind the last of the one before, in turns.
    pub(crate) fn cylinder_skew(&self) -> f64 {
        wrap(self.period - (self.sectors.len() - 1) as f64 * self.track_skew)
    }

    /// Cylinder, head and place on the track of a sector.
    pub(crate) fn place(&self, lba: u64) -> (u64, usize, u64) {
        let within = lba - self.first_lba;
        let (cylinder, mut rest) = (within / self.per_cylinder(), within % self.per_cylinder());
        let mut head = 0;
        while rest >= self.sectors[head] {
            rest -= self.sectors[head];
            head += 1;
        }
        (cylinder, head, rest)
    }

    /// Sectors on the track that a sector lies on.
    pub(crate) fn sectors_at(&self, lba: u64) -> u64 {
        self.sectors[self.place(lba).1]
    }

    /// The angle at which an access to a sector ends, foreseen.
    pub(crate) fn foreseen(&self, lba: u64) -> f64 {
        let (cylinder, head, place) = self.place(lba);
        let turned = cylinder as f64 * self.period + head as f64 * self.track_skew;
        wrap(self.angle + turned + (place + self.unit) as f64 / self.sectors[head] as f64)
    }

    /// Whether an angle is as foreseen.
    pub(crate) fn agrees(&self, lba: u64, angle: f64) -> bool {
        // Farther off than it was followed, what the period is off counts as often as the distance says.
        let farther = (self.place(lba).0 as f64 / self.followed as f64 - 1.0).max(0.0);
        wrap_signed(angle - self.foreseen(lba)).abs() <= self.tolerance + farther * self.period_tolerance
    }

    /// From an angle that is as foreseen, farther off than all before, the period is known the better.
    pub(crate) fn follow(&mut self, lba: u64, angle: f64) {
        let (cylinder, ..) = self.place(lba);
        if cylinder > self.followed {
            self.followed = cylinder;
            self.period += wrap_signed(angle - self.foreseen(lba)) / cylinder as f64;
        }
    }
}

/// The zone of a number as far as it was followed, behind the one before.
pub(crate) fn head_zone(
    record: &Record,
    spindle: Spindle,
    number: u32,
    heads: usize,
    angle_noise: f64,
) -> Option<HeadZone> {
    let unit = record.head.device.unit();
    let hits = hit_times(record);
    let mut seen: BTreeMap<u64, Vec<Sighting>> = BTreeMap::new();
    let (mut first, mut last) = (None, None);
    let walked = |sample: &&Sample| {
        sample.series == WALK + number && sample.role == Role::Measure && sample.ok && hits.leave(sample)
    };
    for sample in record.of(ProbeName::Zones).filter(walked) {
        seen.entry(sample.lba).or_default().push(Sighting::of(sample, spindle));
        match sample.step {
            BEGINS => first = Some(sample.lba),
            ENDS => last = Some(sample.lba),
            _ => {}
        }
    }
    let first = first?;
    let angle = |lba: u64| seen.get(&lba).map(|seen| angle_of(seen));
    let borders = tracks::borders(record, ProbeName::Zones, number, spindle);
    let mut zone = HeadZone::of((first, angle(first)?), &borders, heads, unit, angle_noise)?;
    let Some(last) = last.filter(|&last| last > first) else { return Some(zone) };
    zone.end_lba = last + unit;
    for &lba in seen.keys().filter(|&&lba| lba > first && lba <= last) {
        let angle = angle(lba)?;
        if zone.agrees(lba, angle) {
            zone.follow(lba, angle);
        }
    }
    Some(zone)
}

/// All zones, if they make up the device; otherwise none.
pub(crate) fn head_zones(record: &Record, spindle: Spindle, heads: usize, angle_noise: f64) -> Vec<HeadZone> {
    let walked = record.of(ProbeName::Zones).any(|sample| sample.series >= WALK && sample.step != SEARCHING);
    if heads < 2 || !walked {
        return Vec::new();
    }
    let mut zones: Vec<HeadZone> = Vec::new();
    let mut first_lba = 0;
    for number in 0..MOST_ZONES {
        let zone = head_zone(record, spindle, number, heads, angle_noise);
        let Some(zone) = zone.filter(|zone| zone.first_lba == first_lba && zone.end_lba > first_lba) else {
            return Vec::new();
        };
        first_lba = zone.end_lba;
        zones.push(zone);
        if first_lba + record.head.device.unit() > record.head.device.sectors {
            return zones;
        }
    }
    Vec::new()
}

/// The order of the tracks of such a drive: all of a cylinder, from head 0 on. `None` where skews or times tell of another one, or
/// where densities would be the same backwards and neither tells.
pub(crate) fn order(
    found: Option<&TrackOrder>,
    zones: &[HeadZone],
    borders: &[Border],
) -> Option<TrackOrder> {
    let heads = zones.first()?.sectors.len();
    let pattern = order::pattern(borders);
    // The track that begins at the first border is head 1's.
    let fits = |first_rare: usize, spacing: usize| spacing == heads && (first_rare + 1).is_multiple_of(heads);
    let fits = match (pattern, found) {
        (Some(pattern), _) => fits(pattern.first_rare, pattern.spacing),
        (None, Some(order)) if order.counted => order.heads as usize == heads,
        _ => !reads_backwards(&zones[0].sectors),
    };
    fits.then(|| TrackOrder {
        by_surface: false,
        head_stays: false,
        by_times: pattern.is_none(),
        counted: true,
        heads: heads as u32,
        group_cylinders: 1,
    })
}

/// Whether heads that recur may be twice as few that go forth and back.
fn reads_backwards(sectors: &[u64]) -> bool {
    let heads = sectors.len();
    let same = |from: usize, head: usize| {
        sectors[(from + head) % heads] == sectors[(from + 2 * heads - 1 - head) % heads]
    };
    heads.is_multiple_of(2) && (0..heads).any(|from| (0..heads).all(|head| same(from, head)))
}
