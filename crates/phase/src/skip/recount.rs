//! Spare tracks of files whose list and whose spare tracks do not go together.
//!
//! A zone ends where its spare tracks begin, and so they tell where the next one begins: a track more, and all behind it lies
//! a track earlier. From zone to zone, so many are taken with which the next zone's observations are likeliest.

use super::{Search, track_turns};
use crate::geometry::Geometry;
use crate::listed::TakenFrom;
use crate::pairs::Sighting;
use crate::passed::{EXTRA, Passed, SURE, odds};

impl Search<'_> {
    /// Goes on with as many spare tracks in each zone of `file` as the zone behind it tells; `from` is what it began with.
    /// `None` where that is as good.
    pub(super) fn recount(&mut self, file: &Geometry, from: &TakenFrom) -> Option<TakenFrom> {
        let mut spares = file.bare_spares(from);
        let mut is_changed = false;
        for zone in 0..spares.len().saturating_sub(1) {
            let Some(count) = self.likelier_count(file, &spares, zone) else { continue };
            spares[zone] = count;
            is_changed = true;
            self.place(&file.without_listed(&TakenFrom::Counted(spares.clone())));
            self.settle();
        }
        if !is_changed {
            return None;
        }
        self.settle();
        self.extend_to_last(file, &mut spares);
        Some(TakenFrom::Counted(spares))
    }

    /// Spare tracks of a zone with which the next one's observations are surely likelier than with those of `spares`.
    fn likelier_count(&self, file: &Geometry, spares: &[u32], zone: usize) -> Option<u32> {
        let score = self.scores(file, spares, zone);
        let of_file = file.zones[zone].spare_tracks;
        let most = of_file + (file.listed()[zone].len() + EXTRA) as u32;
        let present = score(spares[zone]);
        let others = (of_file..=most).filter(|&count| count != spares[zone]);
        let tried = f64::from(most - of_file + 1);
        others
            .map(|count| (score(count), count))
            .filter(|(odds, _)| *odds > present + tried.ln() + SURE)
            .reduce(|best, of| if of.0 > best.0 { of } else { best })
            .map(|(_, count)| count)
    }

    /// The odds of the observations behind a zone, by how many spare tracks it is given.
    pub(super) fn scores(&self, file: &Geometry, spares: &[u32], zone: usize) -> impl Fn(u32) -> f64 {
        let spindle = self.spindle();
        move |count| {
            let mut tried = spares.to_vec();
            tried[zone] = count;
            self.odds_of(&file.without_listed(&TakenFrom::Counted(tried)), zone + 1, &spindle)
        }
    }

    /// Natural logarithm of the odds of a zone's observations in a geometry, against any angles.
    pub(super) fn odds_of(&self, geometry: &Geometry, zone: usize, spindle: &[Option<f64>]) -> f64 {
        let mut seen: Vec<(u64, Passed)> = Vec::new();
        for (of, spindle) in self.sightings.iter().zip(spindle) {
            let Some((spindle, site)) = spindle.zip(geometry.site(of.lba)) else { continue };
            if site.zone == zone {
                let turns = spindle - site.end_revolutions;
                seen.push((of.lba, Passed { turns, track: geometry.track(&site) }));
            }
        }
        seen.sort_by_key(|of| of.0);
        let seen: Vec<Passed> = seen.into_iter().map(|of| of.1).collect();
        let values = self.model.values[zone];
        let steps = |track: f64| track_turns(track, self.heads, &values);
        // As many as seem to be passed over now, and some more: all that there may be would take long.
        let present = self.by_zone[zone].iter().filter_map(|&number| self.passed[number]).max().unwrap_or(0);
        let most = present.max(self.listed[zone].len()) + EXTRA;
        odds(&seen, most.min(geometry.zones[zone].spare_tracks as usize), self.listed[zone], &steps)
    }

    /// What is behind the last zone nothing tells: it is as the others are, if all are as after one rule.
    pub(super) fn extend_to_last(&self, file: &Geometry, spares: &mut [u32]) {
        let Some((last, before)) = spares.split_last_mut() else { return };
        let passed = |zone: usize| {
            let mut of_zone = self.by_zone[zone].iter().rev();
            of_zone.find_map(|&number| self.passed[number]).unwrap_or(0) as u32
        };
        let of_file = |zone: usize| file.zones[zone].spare_tracks;
        let zone = before.len();
        if before.iter().enumerate().all(|(zone, &count)| count == of_file(zone)) {
            *last = of_file(zone);
        } else if before.iter().enumerate().all(|(zone, &count)| count == of_file(zone) + passed(zone)) {
            *last = of_file(zone) + passed(zone);
        }
    }

    /// The same search in another geometry.
    pub(super) fn place(&mut self, geometry: &Geometry) {
        self.sightings = geometry.again(&self.sightings);
        self.tracks = self.sightings.iter().map(|seen| geometry.track(&seen.site)).collect();
        self.by_zone = by_zone(geometry, &self.sightings);
        self.most = geometry.zones.iter().map(|zone| zone.spare_tracks as usize).collect();
    }
}

/// For each zone its sightings, by track and address.
pub(super) fn by_zone(geometry: &Geometry, sightings: &[Sighting]) -> Vec<Vec<usize>> {
    let mut by_zone = vec![Vec::new(); geometry.zones.len()];
    for (number, seen) in sightings.iter().enumerate() {
        by_zone[seen.site.zone].push(number);
    }
    for own in &mut by_zone {
        own.sort_by_key(|&number| sightings[number].lba);
    }
    by_zone
}
