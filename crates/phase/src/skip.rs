//! Tracks that a drive passes over, and its file does not list.
//!
//! A drive that keeps spare tracks at the end of a zone passes over tracks with defects: from there on all data of the
//! zone lie a track farther, so that the angles jump by a skew, and the head at which a cylinder ends moves. Half of the
//! addresses may be wrong by then, and no skew mends it.
//!
//! Two things are searched for together: whole sectors by which the file's skews are wrong in all zones, and for each
//! zone the tracks. It begins where the fewest are unknown: with the pairs of observations from the front of a zone, as far as
//! they agree. They tell where the spindle is, that tells the angle of every other observation nearby, and these in turn how
//! many tracks were passed over before each; and so on until nothing changes.

mod named;
mod onward;
mod recount;
mod seed;

use crate::evidence::{advantage, look_elsewhere};
use crate::fit::SpareTracks;
use crate::geometry::{Geometry, Steps};
use crate::kernel::{mode, wrap};
use crate::listed::TakenFrom;
use crate::model::{Model, Source};
use crate::pairs::{Pair, Sighting, is_even};
use crate::passed::{Passed, most_likely, passed_before, surely};
use headstack_units::Nanos;
use named::mark_sure;
use recount::by_zone;
use seed::Seed;

/// Pairs that agree so well need no other explanation.
const COHERENT: f64 = 0.8;
/// Where pairs agree so well no zone is placed wrongly, and going from zone to zone would take long for nothing.
const PLACED: f64 = 0.95;
/// Standard errors by which the tracks must explain the pairs better that were not used to find them.
const CLEAR: f64 = 6.0;
/// Sectors by which the file's skews may be wrong, either way.
const FARTHEST: i32 = 2;
/// Rounds, at most.
const ROUNDS: usize = 8;
/// Observations so close in time see the spindle at the same angle; see [`Search::near_ns`].
const NEAR_NS: u64 = 1_200_000_000;
/// Observations that must agree on the angle of the spindle.
const AGREEING: f64 = 3.0;
/// A zone tells of the spindle where so many of its observations are right.
const TRUSTED: f64 = 0.35;
/// An observation is right that is no farther off, in turns.
const RIGHT: f64 = 0.04;
/// A zone begins where the file says, unless it is farther off than this, in turns.
const SAME: f64 = 0.01;

/// A track that is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedTrack {
    /// Number of the zone, from 0.
    pub zone: usize,
    /// Its cylinder. The observations do not tell it exactly: it is in the middle of where it may be.
    pub cylinder: u32,
    /// Its head.
    pub head: u32,
    /// Whether the file lists it.
    pub listed: bool,
    /// Whether it makes what was seen likelier by more than chance does anywhere in the zone; some that are not sure are none.
    pub is_sure: bool,
    /// The last address that was seen before it, and the first one behind; a wrong observation may move it by a few.
    pub between: (u64, u64),
}

/// The tracks that are passed over, those of the file's list that are not, and what the listed ones were taken from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skips {
    pub(crate) tracks: Vec<SkippedTrack>,
    pub(crate) not_skipped: Vec<[u32; 2]>,
    /// Those of them of which it is sure.
    pub(crate) surely_not_skipped: Vec<[u32; 2]>,
    pub(crate) listed_taken_from: TakenFrom,
}

impl Skips {
    /// Whether anything is surely not as the file lists it.
    fn is_sure(&self) -> bool {
        let is_counted = matches!(self.listed_taken_from, TakenFrom::Counted(_));
        is_counted
            || !self.surely_not_skipped.is_empty()
            || self.tracks.iter().any(|track| !track.listed && track.is_sure)
    }

    /// The zones of a file whose spare tracks are others than it says; none where its list was taken from them.
    pub(crate) fn spare_tracks(&self, file: &Geometry) -> Vec<SpareTracks> {
        if self.listed_taken_from == TakenFrom::Spares {
            return Vec::new();
        }
        let bare = file.bare_spares(&self.listed_taken_from);
        let of = |(zone, bare): (usize, u32)| {
            let taken = self.tracks.iter().filter(|track| track.zone == zone).count() as u32;
            SpareTracks { zone, file: file.zones[zone].spare_tracks, instead: bare.saturating_sub(taken) }
        };
        bare.into_iter().enumerate().map(of).filter(|of| of.file != of.instead).collect()
    }

    /// The geometry of a file with these instead of those that it lists.
    pub(crate) fn geometry(&self, file: &Geometry) -> Geometry {
        file.without_listed(&self.listed_taken_from).skipping(&self.tracks)
    }
}

/// Skews and zones' first sectors, with the tracks that are passed over.
pub(crate) struct Found {
    pub(crate) model: Model,
    pub(crate) skips: Skips,
}

impl Found {
    /// By how many standard errors pairs agree better than with another.
    fn ahead_of(&self, other: &Self, file: &Geometry, sightings: &[Sighting], pairs: &[Pair]) -> f64 {
        let [own, others] = [self, other].map(|found| found.skips.geometry(file).again(sightings));
        let errors =
            |pair: &Pair| (pair.block(), self.model.error(&own, pair), other.model.error(&others, pair));
        advantage(pairs.iter().map(errors))
    }
}

/// The tracks that are passed over, if that explains what `model`, found without, does not; `None` where the drive has no
/// spare ones, or where what is found in half of the observations does not hold in the others. Where pairs agree well there is
/// nothing to look for, but in a list that is nearly right.
pub(crate) fn find(
    model: &Model,
    geometry: &Geometry,
    sightings: &[Sighting],
    pairs: &[Pair],
) -> Option<Found> {
    if !geometry.may_skip() {
        return None;
    }
    if model.coherence(sightings, pairs) > COHERENT {
        return corrected(model, geometry, sightings, pairs);
    }
    let ways: &[Way] = if geometry.listed().is_empty() { &WAYS[..1] } else { &WAYS };
    let wins = |way: &Way| advantage_of(model, geometry, way, sightings, pairs).filter(|&wins| wins >= CLEAR);
    let ahead: Vec<(&Way, f64)> = ways.iter().filter_map(|way| Some((way, wins(way)?))).collect();
    // Half of the observations may be too few to go from zone to zone.
    let onward = (!ahead.is_empty() && ways.len() > 1).then_some(&Way::Onward);
    // Of two that are as good, the first.
    let best = ahead.into_iter().reduce(|best, way| if way.1 > best.1 { way } else { best })?.0;
    let found = best.found(model.period_ns, geometry, sightings, pairs)?;
    let onward = onward.and_then(|way| way.found(model.period_ns, geometry, sightings, pairs));
    Some(match onward {
        Some(onward) if onward.ahead_of(&found, geometry, sightings, pairs) > 0.0 => onward,
        _ => found,
    })
}

/// A way to search.
enum Way {
    /// With the list taken from there, and then with the spare tracks that zones tell.
    From(TakenFrom),
    /// From zone to zone, with the skews of the file.
    Onward,
}

const WAYS: [Way; 3] = [Way::From(TakenFrom::Spares), Way::From(TakenFrom::Data), Way::Onward];

impl Way {
    fn found(
        &self,
        period_ns: f64,
        geometry: &Geometry,
        sightings: &[Sighting],
        pairs: &[Pair],
    ) -> Option<Found> {
        let Self::From(from) = self else {
            return Some(
                onward::counted(&Model::of_file(geometry, period_ns), geometry, sightings).found(geometry),
            );
        };
        let searched = search(period_ns, geometry, from, sightings, pairs)?;
        let (found, counted) = recounted(searched, geometry, sightings, pairs);
        Some(counted.unwrap_or(found))
    }
}

/// What is found as it is, and with the spare tracks that the zones tell, if pairs agree clearly better then.
fn recounted(
    mut search: Searched<'_>,
    file: &Geometry,
    sightings: &[Sighting],
    pairs: &[Pair],
) -> (Found, Option<Found>) {
    let found = search.clone().found(file);
    let Some(from) = search.search.recount(file, &search.from) else { return (found, None) };
    let counted = Searched { from, ..search }.found(file);
    let wins = counted.ahead_of(&found, file, sightings, pairs);
    let is_clear = wins > look_elsewhere(file.zones.len() as f64);
    (found, is_clear.then_some(counted))
}

/// What a list may have been taken from.
const LISTED: [TakenFrom; 2] = [TakenFrom::Spares, TakenFrom::Data];

/// The list of a file with which pairs agree well, if tracks are surely missing or surely too many. One track is seen by too few
/// pairs to show in half of the observations: its odds are those of all of its zone.
fn corrected(model: &Model, geometry: &Geometry, sightings: &[Sighting], pairs: &[Pair]) -> Option<Found> {
    if geometry.listed().is_empty() {
        return None;
    }
    let wins = |found: &Found| {
        let moved = found.skips.geometry(geometry).again(sightings);
        let errors =
            |pair: &Pair| (pair.block(), found.model.error(&moved, pair), model.error(sightings, pair));
        advantage(pairs.iter().map(errors))
    };
    let afresh = LISTED.iter().filter_map(|from| search(model.period_ns, geometry, from, sightings, pairs));
    let searched = core::iter::once(nearly_right(model, geometry, sightings)).chain(afresh);
    let ways: Vec<(Searched<'_>, Found, f64)> = searched
        .map(|searched| {
            let found = searched.clone().found(geometry);
            let wins = wins(&found);
            (searched, found, wins)
        })
        .collect();
    let is_placed = model.coherence(sightings, pairs) > PLACED;
    let onward: Vec<(f64, Found)> = if is_placed {
        Vec::new()
    } else {
        onward_ways(model, geometry, sightings).map(|found| (wins(&found), found)).collect()
    };
    let best = ways.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    // Counted from a wrong way it would take long to come to the same.
    let is_best = onward.iter().all(|(wins, _)| *wins <= best.2);
    let counted = is_best.then(|| recounted(best.0.clone(), geometry, sightings, pairs).1).flatten();
    let counted = counted.map(|found| (wins(&found), found));
    let found = ways.into_iter().map(|(_, found, wins)| (wins, found)).chain(counted).chain(onward);
    let sure = found.filter(|(wins, found)| found.skips.is_sure() && *wins > look_elsewhere(1.0));
    Some(sure.reduce(|best, way| if way.0 > best.0 { way } else { best })?.1)
}

/// What is found from zone to zone, with the skews of the file and, where they are others, with those that were fitted.
fn onward_ways<'a>(
    model: &Model,
    geometry: &'a Geometry,
    sightings: &'a [Sighting],
) -> impl Iterator<Item = Found> + 'a {
    let of_file = Model::of_file(geometry, model.period_ns);
    let is_fitted = of_file.values != model.values;
    let models = core::iter::once(of_file).chain(is_fitted.then(|| model.clone()));
    models.map(|model| onward::counted(&model, geometry, sightings).found(geometry))
}

/// What is found from the list and the skews that were fitted: where most of it is right, that tells of the rest.
fn nearly_right<'a>(model: &Model, file: &'a Geometry, sightings: &[Sighting]) -> Searched<'a> {
    let from = TakenFrom::Spares;
    let geometry = &file.without_listed(&from);
    let sightings = geometry.again(sightings);
    let mut most = vec![0; geometry.zones.len()];
    for seen in &sightings {
        most[seen.site.zone] += 1;
    }
    let zone = (0..most.len()).max_by_key(|&zone| most[zone]).unwrap_or(0);
    let start = Start { model: model.clone(), skews: Skews::Fitted, zone, is_listed: true, end: None };
    let mut search = Search::new(geometry, file.listed(), start, sightings);
    search.settle();
    Searched { search, from }
}

/// By how many standard errors tracks found in half of the observations explain the others better than `model`.
fn advantage_of(
    model: &Model,
    geometry: &Geometry,
    way: &Way,
    sightings: &[Sighting],
    pairs: &[Pair],
) -> Option<f64> {
    let numbered = sightings.iter().enumerate();
    let seen: Vec<Sighting> =
        numbered.filter(|(number, _)| is_even(*number)).map(|(_, sighting)| *sighting).collect();
    let seen_pairs = crate::pairs::pairs(&seen);
    let trial = way.found(model.period_ns, geometry, &seen, &seen_pairs)?;
    let moved = trial.skips.geometry(geometry).again(sightings);
    let unseen = pairs.iter().filter(|pair| pair.is_even() == Some(false));
    let errors = |pair: &Pair| (pair.block(), trial.model.error(&moved, pair), model.error(sightings, pair));
    Some(advantage(unseen.map(errors)))
}

fn search<'a>(
    period_ns: f64,
    file: &'a Geometry,
    from: &TakenFrom,
    sightings: &[Sighting],
    pairs: &[Pair],
) -> Option<Searched<'a>> {
    let geometry = &file.without_listed(from);
    let sightings = geometry.again(sightings);
    let listed = file.listed();
    let behind = (!listed.is_empty()).then(|| geometry.passing_over(listed).again(&sightings));
    let shifts = (-FARTHEST..=FARTHEST)
        .flat_map(|track| (-FARTHEST..=FARTHEST).map(move |cylinder| (track, cylinder)));
    let seed = shifts
        .flat_map(|shift| {
            let bare = Seed::new(geometry, period_ns, shift, &sightings, pairs);
            let as_listed =
                behind.as_ref().and_then(|seen| Seed::new(geometry, period_ns, shift, seen, pairs));
            [bare, as_listed.map(Seed::behind_listed)]
        })
        .flatten()
        .max_by(|a, b| a.score.total_cmp(&b.score).then(b.distance().cmp(&a.distance())))?;
    let mut search = Search::new(geometry, listed, seed.start(), sightings);
    search.settle();
    Some(Searched { search, from: from.clone() })
}

/// A search that has come to its end, and what it took the list to be taken from.
#[derive(Clone)]
struct Searched<'a> {
    search: Search<'a>,
    from: TakenFrom,
}

impl Searched<'_> {
    fn found(self, file: &Geometry) -> Found {
        let (model, mut skips) = self.search.found(&file.without_listed(&self.from));
        skips.listed_taken_from = self.from;
        Found { model, skips }
    }
}

/// Whose skews a search has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skews {
    File,
    /// The file's and some sectors.
    Shifted,
    /// Those of a fit.
    Fitted,
}

/// What a search begins with.
struct Start {
    model: Model,
    skews: Skews,
    /// The zone that tells of the others.
    zone: usize,
    /// Whether the tracks that the file lists are passed over.
    is_listed: bool,
    /// The last track of that zone that is trusted; `None` where everything is.
    end: Option<f64>,
}

/// The search for tracks, with the skews known.
#[derive(Clone)]
struct Search<'a> {
    model: Model,
    skews: Skews,
    /// Where the zones began.
    began: Vec<f64>,
    sightings: Vec<Sighting>,
    /// For each zone its sightings, by track and address.
    by_zone: Vec<Vec<usize>>,
    /// Heads of a cylinder.
    heads: f64,
    /// For each zone how many tracks may be passed over.
    most: Vec<usize>,
    /// For each zone the tracks that the file lists; none without a list.
    listed: Vec<&'a [u64]>,
    /// Tracks of each sighting as the file has them.
    tracks: Vec<f64>,
    /// Tracks passed over before each sighting; `None` where nothing tells.
    passed: Vec<Option<usize>>,
    /// Whether a sighting tells of the spindle.
    trusted: Vec<bool>,
    /// Observations so close in time see the spindle at the same angle.
    near_ns: u64,
    /// The last zone whose place is known: those behind it tell nothing.
    known: usize,
    reference: usize,
}

impl<'a> Search<'a> {
    fn new(geometry: &Geometry, listed: &'a [Vec<u64>], start: Start, sightings: Vec<Sighting>) -> Self {
        let tracks: Vec<f64> = sightings.iter().map(|seen| geometry.track(&seen.site)).collect();
        let listed: Vec<&[u64]> =
            (0..geometry.zones.len()).map(|zone| listed.get(zone).map_or(&[][..], Vec::as_slice)).collect();
        let passed: Vec<Option<usize>> = sightings
            .iter()
            .zip(&tracks)
            .map(|(seen, &track)| start.is_listed.then(|| passed_before(listed[seen.site.zone], track)))
            .collect();
        let trusted = (sightings.iter().zip(&tracks).zip(&passed))
            .map(|((seen, &track), passed)| {
                start.end.is_none_or(|end| {
                    seen.site.zone == start.zone && track + passed.unwrap_or(0) as f64 <= end
                })
            })
            .collect();
        Self {
            began: start.model.offsets.clone(),
            model: start.model,
            skews: start.skews,
            by_zone: by_zone(geometry, &sightings),
            sightings,
            heads: geometry.heads(),
            most: geometry.zones.iter().map(|zone| zone.spare_tracks as usize).collect(),
            listed,
            passed,
            tracks,
            trusted,
            near_ns: NEAR_NS,
            known: geometry.zones.len().saturating_sub(1),
            reference: start.zone,
        }
    }

    /// Rounds until nothing changes.
    fn settle(&mut self) {
        for _ in 0..ROUNDS {
            if !self.round() {
                break;
            }
        }
    }

    /// Spindle, then tracks. Whether anything changed.
    fn round(&mut self) -> bool {
        let spindle = self.spindle();
        let mut passed = vec![None; self.sightings.len()];
        let mut trusted = vec![false; self.sightings.len()];
        for &number in self.by_zone[self.known + 1..].iter().flatten() {
            passed[number] = self.passed[number];
        }
        for zone in 0..=self.known {
            let (own, seen) = self.seen_in(zone, &spindle);
            if own.is_empty() {
                continue;
            }
            let values = self.model.values[zone];
            let steps = |track: f64| track_turns(track, self.heads, &values);
            let (offset, path) = most_likely(&seen, self.most[zone], self.listed[zone], &steps);
            self.model.offsets[zone] = offset;
            let is_right = |(seen, &before): (&Passed, &usize)| {
                wrap(seen.turns - steps(seen.track + before as f64) - offset).abs() < RIGHT
            };
            let right = seen.iter().zip(&path).filter(|&pair| is_right(pair)).count();
            let is_trusted = right as f64 >= TRUSTED * own.len() as f64;
            for (&number, &before) in own.iter().zip(&path) {
                passed[number] = Some(before);
                trusted[number] = is_trusted;
            }
        }
        let changed = passed != self.passed || trusted != self.trusted;
        (self.passed, self.trusted) = (passed, trusted);
        changed
    }

    /// The sightings of a zone that tell, and what they tell of tracks.
    fn seen_in(&self, zone: usize, spindle: &[Option<f64>]) -> (Vec<usize>, Vec<Passed>) {
        let own = self.by_zone[zone].iter().copied().filter(|&number| spindle[number].is_some());
        let told = |number: usize| Passed {
            // What is left of the angle when the zone begins at 0.
            turns: spindle[number].unwrap_or(0.0) - self.sightings[number].site.end_revolutions,
            track: self.tracks[number],
        };
        own.map(|number| (number, told(number))).unzip()
    }

    /// Tracks surely passed over before each sighting, beside those that the file lists.
    fn surely_passed(&self) -> Vec<Option<usize>> {
        let spindle = self.spindle();
        let mut passed = vec![None; self.sightings.len()];
        for zone in 0..self.by_zone.len() {
            let (own, seen) = self.seen_in(zone, &spindle);
            let (offset, values) = (self.model.offsets[zone], self.model.values[zone]);
            let steps = |track: f64| track_turns(track, self.heads, &values);
            let path = surely(&seen, self.most[zone], self.listed[zone], &steps, offset);
            for (&number, before) in own.iter().zip(path) {
                passed[number] = Some(before);
            }
        }
        passed
    }

    /// The angle that the layout should have for each sighting, but for a constant, from the sightings around it;
    /// `None` where too few of them agree.
    fn spindle(&self) -> Vec<Option<f64>> {
        let turned = |at: Nanos| at.0 as f64 / self.model.period_ns;
        let rest: Vec<f64> = (0..self.sightings.len())
            .map(|number| wrap(turned(self.sightings[number].at) - self.turns(number)))
            .collect();
        let (mut first, mut last) = (0, 0);
        let mut found = Vec::with_capacity(rest.len());
        for (number, seen) in self.sightings.iter().enumerate() {
            while seen.at.saturating_sub(self.sightings[first].at).0 > self.near_ns {
                first += 1;
            }
            while last < rest.len() && self.sightings[last].at.saturating_sub(seen.at).0 <= self.near_ns {
                last += 1;
            }
            let others: Vec<f64> = (first..last)
                .filter(|&other| other != number && self.trusted[other])
                .map(|other| rest[other])
                .collect();
            let agreed = mode(&others).filter(|&(_, share)| share * others.len() as f64 >= AGREEING - 0.5);
            found.push(agreed.map(|(at, _)| turned(seen.at) - at));
        }
        found
    }

    /// The angle of a sighting with the tracks that were passed over.
    fn turns(&self, number: usize) -> f64 {
        let site = &self.sightings[number].site;
        let track = self.tracks[number] + self.passed[number].unwrap_or(0) as f64;
        self.model.offsets[site.zone]
            + site.end_revolutions
            + track_turns(track, self.heads, &self.model.values[site.zone])
    }

    fn found(mut self, geometry: &Geometry) -> (Model, Skips) {
        // At the angles that were found, not yet counted from those of the file.
        let surely_passed = self.surely_passed();
        // Only differences between zones can be seen: the zone that it began with is where it was.
        let gauge = self.model.offsets[self.reference] - self.began[self.reference];
        for (zone, own) in self.by_zone.iter().enumerate() {
            let (seen, began) = (!own.is_empty(), self.began[zone]);
            let offset = (self.model.offsets[zone] - gauge).rem_euclid(1.0);
            let is_same = wrap(offset - began).abs() < SAME;
            self.model.offsets[zone] = if is_same || !seen { began } else { offset };
            let source = |is_file: bool| match (seen, is_file) {
                (false, _) => Source::None,
                (true, true) => Source::File,
                (true, false) => Source::Zone,
            };
            if self.skews == Skews::Fitted {
                if seen && !is_same {
                    self.model.offset_sources[zone] = Source::Zone;
                }
                continue;
            }
            self.model.offset_sources[zone] = source(is_same);
            let skews = if self.skews == Skews::Shifted { Source::Zone } else { source(true) };
            self.model.sources[zone] = [skews, skews, Source::None];
        }
        let mut skips = Skips::default();
        for zone in 0..self.by_zone.len() {
            let mut tracks = self.tracks_of(geometry, zone, &self.passed);
            let sure = self.tracks_of(geometry, zone, &surely_passed);
            skips.not_skipped.extend(self.listed_but_not(&tracks, geometry, zone));
            skips.surely_not_skipped.extend(self.listed_but_not(&sure, geometry, zone));
            mark_sure(&mut tracks, sure);
            self.doubt(&mut tracks, zone);
            skips.tracks.extend(tracks);
        }
        let not_skipped = &skips.not_skipped;
        skips.surely_not_skipped.retain(|place| not_skipped.contains(place));
        (self.model, skips)
    }
}

/// The angle of a track from the zone's first, in turns.
fn track_turns(track: f64, heads: f64, values: &Steps) -> f64 {
    let cylinder = (track / heads).floor();
    (track - cylinder * heads) * values[0] + cylinder * values[1]
}
