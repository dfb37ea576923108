//! Spare tracks of files whose list and whose spare tracks do not go together, from zone to zone.
//!
//! Requests near in time lie near each other, too: a zone that is placed wrongly tells a spindle at which it is right. So only
//! zones whose places are known tell of the spindle, and each tells how many spare tracks the one before it has, beginning with
//! the first.

use super::{Search, Searched, Skews, Start};
use crate::geometry::Geometry;
use crate::listed::TakenFrom;
use crate::model::{Model, Source};
use crate::pairs::{FAR_NS, Sighting};
use crate::passed::{EXTRA, SURE, passed_before};

/// The search with the spare tracks that zones tell one after the other; `model` has the skews, and the list is taken for right
/// until a zone is reached.
pub(super) fn counted<'a>(model: &Model, file: &'a Geometry, sightings: &[Sighting]) -> Searched<'a> {
    let of_list = file.bare_spares(&TakenFrom::Spares);
    let mut spares = of_list.clone();
    let geometry = &file.without_listed(&TakenFrom::Spares);
    let start =
        Start { model: as_begun(model, file), skews: Skews::Fitted, zone: 0, is_listed: true, end: None };
    let mut search = Search::new(geometry, file.listed(), start, geometry.again(sightings));
    // Many zones are seen by then: of less time most would be of one.
    search.near_ns = FAR_NS[2];
    for zone in 0..spares.len() {
        search.known = zone;
        search.take_list_behind();
        search.settle();
        if zone + 1 < spares.len() {
            spares[zone] = search.likeliest_count(file, &spares, zone);
            search.place(&file.without_listed(&TakenFrom::Counted(spares.clone())));
        }
    }
    search.extend_to_last(file, &mut spares);
    let from = if spares == of_list { TakenFrom::Spares } else { TakenFrom::Counted(spares) };
    Searched { search, from }
}

/// A model whose zones begin where the file says.
fn as_begun(model: &Model, file: &Geometry) -> Model {
    let of_file = Model::of_file(file, model.period_ns);
    let source = |of: &Source| if *of == Source::None { Source::None } else { Source::File };
    let offset_sources = model.offset_sources.iter().map(source).collect();
    Model { offsets: of_file.offsets, offset_sources, ..model.clone() }
}

impl Search<'_> {
    /// Passes over the listed tracks of the zones that are not known yet, which tell nothing.
    fn take_list_behind(&mut self) {
        for (number, seen) in self.sightings.iter().enumerate() {
            if seen.site.zone > self.known {
                self.passed[number] = Some(passed_before(self.listed[seen.site.zone], self.tracks[number]));
                self.trusted[number] = false;
            } else if seen.site.zone == self.known {
                self.trusted[number] = true;
            }
        }
    }

    /// Spare tracks of a zone with which the next one's observations are likeliest. Those of the file, with and without its list,
    /// are as likely as each other, and others less.
    fn likeliest_count(&self, file: &Geometry, spares: &[u32], zone: usize) -> u32 {
        let score = self.scores(file, spares, zone);
        let of_file = file.zones[zone].spare_tracks;
        let most = of_file + (file.listed()[zone].len() + EXTRA) as u32;
        let cost = f64::from(most - of_file + 1).ln() + SURE;
        let worth = |count: u32| {
            let is_of_file = count == of_file || count == spares[zone];
            score(count) - if is_of_file { 0.0 } else { cost }
        };
        let scored = (of_file..=most).map(|count| (worth(count), count));
        // Where nothing tells, a zone is as those before it, if they all go by one rule.
        let has_all = |zone: usize| spares[zone] == file.zones[zone].spare_tracks;
        let lists_before = file.listed()[..zone].iter().any(|listed| !listed.is_empty());
        let rule = if lists_before && (0..zone).all(has_all) { of_file } else { spares[zone] };
        scored.fold((worth(rule), rule), |best, of| if of.0 > best.0 { of } else { best }).1
    }
}
