//! Where logical sectors are: address → cylinder, head, slot and angle, and back.
//!
//! One [`Layout`] describes the surfaces of one actuator. It is built once, does not change, and answers by arithmetic
//! over *spans*: runs of tracks within a zone that hold data without a gap. There is one span per
//! zone, and one more for each region border and slipped track inside it, so that a drive of ten million tracks costs
//! no more memory than one of a thousand. A layout that is given run by run, or whose heads differ, has a zone, and so a span,
//! for each run.
//!
//! Conventions:
//! - Tracks follow each other in the order of the drive file ([`crate::spec::Order`]). Serpentine orders and groups of
//!   cylinders begin anew in every zone (by-cylinder serpentine: counted over the whole drive). Every group of
//!   `serpentine-by-surface` begins at head 0 and at its lowest cylinder; the last group of a zone may be narrower.
//! - Spare tracks of a cylinder are its last ones in track order; by surface, those of the last heads. Spare tracks at
//!   the end of a zone are counted among those that remain. Slipped sectors and tracks shrink the capacity; slipped slots
//!   of a group with spare sectors use up spares of the group, and move its other sectors towards the spares.
//! - Skews add up along the physical sequence of tracks, spare and slipped ones included, from the zone's first track,
//!   whose first sector begins at `first_sector_revolutions`. The cylinder skew replaces the track skew where the cylinder
//!   changes.
//! - A remapped sector leaves its home slot empty. Its *track* and *cylinder*, in [`Layout::track_range`] and
//!   [`Layout::cylinder_end`], stay those of its home.

mod by_head;
mod defects;
mod divisor;
mod groups;
mod pieces;
mod place;
mod runs;
mod sequence;
#[cfg(test)]
mod tests;
mod zone;

pub use place::{Extent, Place, ZoneSummary};

use crate::spec::LayoutSpec;
use by_head::ByHead;
pub(crate) use by_head::runs_by_head;
use defects::{Remaps, Slips, Target};
use groups::DataMap;
pub(crate) use groups::group_slots;
use pieces::{Piece, Pieces};
use runs::Finder;
use sequence::Track;
use zone::Zone;

/// A run of tracks of one zone that hold data without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    zone: usize,
    /// Index of the first track in the zone's sequence.
    first_index: u64,
    tracks: u64,
}

/// The surfaces of one actuator.
#[derive(Clone, Debug)]
pub struct Layout {
    zones: Vec<Zone>,
    finder: Finder,
    spans: Vec<Span>,
    /// Number of each span's first slot, counted over the data tracks of the drive.
    starts: Vec<u64>,
    /// From data sectors to slots, zone by zone; empty where the two numberings are the same.
    maps: Vec<DataMap>,
    slips: Slips,
    remaps: Remaps,
    summaries: Vec<ZoneSummary>,
    capacity: u64,
    heads: u32,
    cylinders: u32,
    /// The way from addresses to slots, walked beforehand.
    pieces: Pieces,
    /// Data sectors on the fullest track.
    most_sectors: u64,
}

/// The slot where an address lives, or lived before it was remapped.
#[derive(Clone, Copy)]
struct Home {
    span: usize,
    zone: usize,
    /// Number of the slot over the drive's data tracks.
    number: u64,
    /// At least so many addresses before it lie one behind the other up to it, on whatever tracks.
    before: u64,
    /// How many addresses from it on lie one behind the other, if the track is long enough and none is remapped; none of them
    /// beyond the capacity.
    run: u64,
    /// Of the track, in the zone's sequence.
    index: u64,
    slot: u64,
}

impl Layout {
    /// The layout of a checked description.
    pub fn new(spec: &LayoutSpec) -> Self {
        let Some(ByHead { runs, zones }) = ByHead::new(spec) else { return Self::of(spec, None) };
        let cylinders = Some(physical_cylinders(spec));
        let by_runs = LayoutSpec { run: runs, zone: Vec::new(), cylinders, ..spec.clone() };
        Self::of(&by_runs, Some(&zones))
    }

    /// The layout of zones, or of runs that are numbered as they show to the outside.
    fn of(spec: &LayoutSpec, numbers: Option<&[u32]>) -> Self {
        let finder = Finder::new(&spec.run);
        let zones: Vec<Zone> = if finder.is_of_runs() {
            runs::zones(&spec.run, numbers)
        } else {
            spec.zone.iter().zip(0..).map(|(zone, number)| Zone::new(spec, zone, number)).collect()
        };
        let spans = spans(spec, &zones, &finder);
        let mut lengths = vec![0_u64; zones.len()];
        let mut starts = Vec::with_capacity(spans.len());
        let mut slots = 0_u64;
        for span in &spans {
            starts.push(slots);
            let length = span.tracks * zones[span.zone].sectors.value();
            lengths[span.zone] += length;
            slots += length;
        }
        let (maps, ends) = maps(spec, &lengths);
        let slips = Slips::new(&spec.slipped_sectors, ends.last().copied().unwrap_or(0));
        let held = ends.last().map_or(0, |&end| slips.logical_before(end));
        let capacity = spec.capacity_sectors.map_or(held, |capacity| capacity.min(held));
        let end_lbas = ends.iter().map(|&end| slips.logical_before(end).min(capacity));
        let summaries = runs::summaries(&zones, end_lbas);
        let remaps = Remaps::new(&spec.remap, &zones, &finder, capacity);
        let mut layout = Self {
            pieces: Pieces::default(),
            most_sectors: zones.iter().map(|zone| zone.sectors.value()).max().unwrap_or(0),
            finder,
            spans,
            starts,
            maps,
            slips,
            remaps,
            summaries,
            capacity,
            heads: spec.heads,
            cylinders: physical_cylinders(spec),
            zones,
        };
        layout.pieces = Pieces::new(capacity, |lba| layout.piece_from(lba));
        layout
    }

    /// The addresses from `lba` on whose slots count up with them.
    #[inline(never)]
    fn piece_from(&self, lba: u64) -> Piece {
        let home = self.search_home(lba);
        let Span { zone, first_index, tracks } = self.spans[home.span];
        let offset = home.number - self.starts[home.span];
        let length = home.run.min(tracks * self.zones[zone].sectors.value() - offset);
        Piece {
            first_lba: lba,
            end_lba: lba + length,
            number: home.number,
            offset,
            first_index,
            span: home.span as u32,
            zone: zone as u32,
        }
    }

    /// Logical sectors.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Surfaces.
    pub fn heads(&self) -> u32 {
        self.heads
    }

    /// Physical cylinders: how far the arm can go, at least to the last track.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// Where a logical sector is.
    ///
    /// # Panics
    /// If `lba` lies at or beyond the capacity of an empty layout; beyond another's capacity the answer means nothing.
    #[inline]
    pub fn locate(&self, lba: u64) -> Place {
        if let Some(target) = self.remaps.target(lba) {
            return self.place(target.zone, &self.target_track(target), u64::from(target.slot));
        }
        let home = self.home(lba);
        let zone = &self.zones[home.zone];
        self.place(home.zone, &zone.sequence.track(home.index), zone.first_slot + home.slot)
    }

    /// The logical sector at a place; `None` where there is none: spare, slipped, or beyond the drive.
    pub fn lba_at(&self, cylinder: u32, head: u32, slot: u32) -> Option<u64> {
        if let Some(lba) = self.remaps.resident(cylinder, head, slot) {
            return Some(lba);
        }
        let number = self.finder.zone_of(&self.zones, cylinder, head)?;
        let zone = &self.zones[number];
        let slot = u64::from(slot).checked_sub(zone.first_slot)?;
        if head >= self.heads || slot >= zone.sectors.value() {
            return None;
        }
        let index = zone.sequence.find(cylinder, head).1?;
        let after = self.spans.partition_point(|span| (span.zone, span.first_index) <= (number, index));
        let at = after.checked_sub(1)?;
        let span = self.spans[at];
        if span.zone != number || index - span.first_index >= span.tracks {
            return None;
        }
        let number = self.starts[at] + (index - span.first_index) * zone.sectors.value() + slot;
        let data = self.data_before(number);
        if self.data_before(number + 1) == data || self.slips.contains(data) {
            return None;
        }
        let lba = self.slips.logical_before(data);
        (lba < self.capacity && self.remaps.target(lba).is_none()).then_some(lba)
    }

    /// The longest run of logical sectors from `lba` on, at most `limit`, that lie one behind the other on one track.
    /// It ends at the track's end, before a slipped sector and before a remapped one; a remapped sector is a run of
    /// its own.
    ///
    /// # Panics
    /// As [`Layout::locate`].
    #[expect(clippy::inline_always, reason = "handing an extent out costs a third of what it does")]
    #[inline(always)]
    pub fn extent(&self, lba: u64, limit: u64) -> Extent {
        if self.remaps.is_empty() { self.run_at_home(lba, limit) } else { self.run_among_remaps(lba, limit) }
    }

    /// As [`Layout::extent`], with remapped sectors; apart from it, where mostly there are none.
    #[inline(never)]
    fn run_among_remaps(&self, lba: u64, limit: u64) -> Extent {
        match self.remaps.target(lba) {
            Some(target) => {
                let track = self.target_track(target);
                self.zones[target.zone].extent(&track, u64::from(target.slot), lba, limit.min(1))
            }
            None => self.run_at_home(lba, self.remaps.before_next(lba, limit)),
        }
    }

    /// As [`Layout::extent`], as if none were remapped.
    #[expect(clippy::inline_always, reason = "handing an extent out costs a third of what it does")]
    #[inline(always)]
    fn run_at_home(&self, lba: u64, limit: u64) -> Extent {
        let searched;
        let piece = if let Some(piece) = self.pieces.find(lba) {
            piece
        } else {
            // A piece, and not where it leads: what one of two ways wrote into memory the other would, too.
            searched = self.piece_from(lba);
            &searched
        };
        let home = self.home_in(piece, lba);
        self.zones[home.zone].run(home.index, home.slot, lba, limit.min(home.run))
    }

    /// The logical sectors of the track that is home to `lba`: the first, and the one after the last.
    ///
    /// # Panics
    /// As [`Layout::locate`].
    #[inline]
    pub fn track_range(&self, lba: u64) -> (u64, u64) {
        let home = self.home(lba);
        let sectors = self.zones[home.zone].sectors.value();
        let first = home.number - home.slot;
        let start = if home.slot <= home.before { lba - home.slot } else { self.logical_before(first) };
        let rest = sectors - home.slot;
        let end = if rest <= home.run { lba + rest } else { self.logical_before(first + sectors) };
        (start, end)
    }

    /// Whether two addresses have the same track for their home.
    ///
    /// # Panics
    /// As [`Layout::locate`].
    #[inline]
    pub fn share_track(&self, a: u64, b: u64) -> bool {
        // No track holds addresses further apart.
        a.abs_diff(b) < self.most_sectors && {
            let (start, end) = self.track_range(a);
            (start..end).contains(&b)
        }
    }

    /// The logical sector after the last one of the run of tracks in one cylinder that is home to `lba`. In
    /// by-surface order such a run is one track, or two where the surface changes.
    ///
    /// # Panics
    /// As [`Layout::locate`].
    pub fn cylinder_end(&self, lba: u64) -> u64 {
        let home = self.home(lba);
        if self.finder.is_of_runs() {
            return self.logical_before(self.cylinder_end_over_runs(&home));
        }
        let number = home.zone;
        let zone = &self.zones[number];
        let end = zone.sequence.cylinder_run_end(home.index);
        let inside = |span: &&Span| span.zone == number && span.first_index < end;
        // At most as many spans as the run has tracks.
        let more = self.spans[home.span + 1..].iter().take_while(inside).count();
        let last = self.spans[home.span + more];
        let tracks = (end - last.first_index).min(last.tracks);
        self.logical_before(self.starts[home.span + more] + tracks * zone.sectors.value())
    }

    /// The slot after the last one of the tracks in one cylinder that follow a home, whichever runs they belong to.
    fn cylinder_end_over_runs(&self, home: &Home) -> u64 {
        let track = |span: &Span, index| self.zones[span.zone].sequence.track(index);
        let cylinder = track(&self.spans[home.span], home.index).cylinder;
        let (mut at, mut tracks) = (home.span, home.index + 1);
        // In a run every track has a cylinder of its own.
        while tracks == self.spans[at].tracks
            && self.spans.get(at + 1).is_some_and(|next| track(next, 0).cylinder == cylinder)
        {
            at += 1;
            tracks = 1;
        }
        self.starts[at] + tracks * self.zones[self.spans[at].zone].sectors.value()
    }

    /// The zones, outermost first. In a layout given run by run: consecutive runs with equally many sectors on a track,
    /// with the cylinders they lie between and the data sectors of their fullest track.
    pub fn zones(&self) -> impl Iterator<Item = ZoneSummary> {
        self.summaries.iter().copied()
    }

    #[expect(clippy::inline_always, reason = "each caller needs another half of it")]
    #[inline(always)]
    fn home(&self, lba: u64) -> Home {
        debug_assert!(lba < self.capacity, "sector {lba} of {}", self.capacity);
        match self.pieces.find(lba) {
            Some(piece) => self.home_in(piece, lba),
            None => self.search_home(lba),
        }
    }

    /// As [`Layout::home`], in the piece that holds the address.
    #[inline]
    fn home_in(&self, piece: &Piece, lba: u64) -> Home {
        let (span, zone) = (piece.span as usize, piece.zone as usize);
        let before = lba - piece.first_lba;
        let (track, slot) = self.zones[zone].sectors.split(piece.offset + before);
        Home {
            span,
            zone,
            number: piece.number + before,
            before,
            run: piece.end_lba - lba,
            index: piece.first_index + track,
            slot,
        }
    }

    /// As [`Layout::home`], searched for.
    #[inline(never)]
    fn search_home(&self, lba: u64) -> Home {
        let (data, next_slip) = self.slips.raw(lba);
        let (number, run) = if self.maps.is_empty() {
            (data, u64::MAX)
        } else {
            let zone = self.maps.partition_point(|map| map.first_data <= data) - 1;
            self.maps[zone].slot(data)
        };
        let span = self.starts.partition_point(|&start| start <= number) - 1;
        let Span { zone, first_index, .. } = self.spans[span];
        let (track, slot) = self.zones[zone].sectors.split(number - self.starts[span]);
        let run = run.min(next_slip - data).min(self.capacity - lba);
        Home { span, zone, number, before: 0, run, index: first_index + track, slot }
    }

    /// How many data sectors lie in the slots before `number`.
    fn data_before(&self, number: u64) -> u64 {
        match self.maps.partition_point(|map| map.first_slot <= number) {
            0 => number,
            after => self.maps[after - 1].data_before(number),
        }
    }

    /// How many addresses lie in the slots before `number`.
    fn logical_before(&self, number: u64) -> u64 {
        self.slips.logical_before(self.data_before(number)).min(self.capacity)
    }

    fn target_track(&self, target: Target) -> Track {
        self.zones[target.zone].sequence.find(target.cylinder, target.head).0
    }

    #[inline]
    fn place(&self, number: usize, track: &Track, slot: u64) -> Place {
        let zone = &self.zones[number];
        Place {
            cylinder: track.cylinder,
            head: track.head,
            slot: slot as u32,
            slots: zone.slots,
            zone: zone.number,
            start: zone.start(track, slot),
        }
    }
}

/// The map of each zone, none if they change nothing; and the number of data sectors up to each zone's end.
fn maps(spec: &LayoutSpec, lengths: &[u64]) -> (Vec<DataMap>, Vec<u64>) {
    if !spec.run.is_empty() {
        let sum = |end: &mut u64, length: &u64| {
            *end += length;
            Some(*end)
        };
        return (Vec::new(), lengths.iter().scan(0, sum).collect());
    }
    let mut maps: Vec<DataMap> = Vec::with_capacity(lengths.len());
    let mut ends = Vec::with_capacity(lengths.len());
    let (mut data, mut slots) = (0, 0);
    for (zone, &length) in spec.zone.iter().zip(lengths) {
        let map = DataMap::new(spec, zone, (data, slots), length);
        data += map.data;
        slots += length;
        maps.push(map);
        ends.push(data);
    }
    if maps.iter().all(DataMap::changes_nothing) {
        maps.clear();
    }
    (maps, ends)
}

/// How many cylinders the arm can reach.
pub(crate) fn physical_cylinders(spec: &LayoutSpec) -> u32 {
    let end = spec.cylinders_with_tracks();
    spec.cylinders.unwrap_or(end).max(end)
}

/// The runs of tracks that hold data, in the order of addresses.
fn spans(spec: &LayoutSpec, zones: &[Zone], finder: &Finder) -> Vec<Span> {
    let mut slipped: Vec<(usize, u64)> = spec
        .slipped_tracks
        .iter()
        .filter(|track| track[1] < spec.heads)
        .filter_map(|track| {
            let zone = finder.zone_of(zones, track[0], track[1])?;
            Some((zone, zones[zone].sequence.find(track[0], track[1]).1?))
        })
        .collect();
    slipped.sort_unstable();
    slipped.dedup();
    let mut spans = Vec::with_capacity(zones.len() + slipped.len() + 2 * spec.region.len());
    for (number, zone) in zones.iter().enumerate() {
        let slipped_before = slipped.partition_point(|&(of, _)| of < number);
        let slipped_end = slipped.partition_point(|&(of, _)| of <= number);
        let slipped = &slipped[slipped_before..slipped_end];
        let mut push = |first: u64, end: u64| push_without(&mut spans, number, first, end, slipped);
        if spec.region.is_empty() {
            push(0, zone.indices);
        }
        for region in &spec.region {
            let before = |cylinder, head| zone.sequence.classical_indices_before(cylinder, head);
            let first = before(region.first_cylinder, u64::from(region.first_head));
            let end = before(region.last_cylinder, u64::from(region.last_head) + 1);
            push(first, end.min(zone.indices));
        }
    }
    spans
}

/// Adds the run of indices from `first` to before `end`, cut at the slipped tracks of the zone.
fn push_without(spans: &mut Vec<Span>, zone: usize, mut first: u64, end: u64, slipped: &[(usize, u64)]) {
    let from = slipped.partition_point(|&(_, index)| index < first);
    for &(_, index) in slipped[from..].iter().take_while(|&&(_, index)| index < end) {
        if index > first {
            spans.push(Span { zone, first_index: first, tracks: index - first });
        }
        first = index + 1;
    }
    if end > first {
        spans.push(Span { zone, first_index: first, tracks: end - first });
    }
}
