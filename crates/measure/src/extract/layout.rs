//! The layout that was found, as a drive file says it: a zone of the file for each zone that was found. Where tracks are left
//! out within one, the file leaves as many out as put the next track where it lies on the turn; where no number of tracks
//! does, another zone of the file begins.

use super::{Extraction, PieceFindings, ZoneFindings};
use crate::angles::median::circular_median;
use crate::angles::spindle::{wrap, wrap_signed};
use crate::reading::tracks::whole_sectors;
use headstack_drive::spec::{LayoutSpec, Order, SpareGroup, SparesSpec, ZoneSpec};

/// No more tracks are taken for left out between two pieces: with more, some number would fit any angle.
const MOST_LEFT_OUT: u64 = 400;
/// No more sectors than this are slipped between two pieces that lie as one.
const MOST_SLIPPED: u64 = 8;
/// An angle, and a skew, is the same that differs by less than this, in sectors.
const SAME_SECTORS: f64 = 0.1;
/// Angles that differ by less than this, in turns, are one as far as a clock of nanoseconds tells.
const SAME_ANGLE: f64 = 5e-7;

/// The layout for a drive file, and the first and last cylinder of each zone that was found.
pub(crate) fn layout(found: &Extraction, heads: u32) -> (LayoutSpec, Vec<[u64; 2]>) {
    let by_surface = found.order == Some(Order::SerpentineBySurface);
    let mut layout = Layout {
        heads: u64::from(heads.max(1)),
        by_surface,
        zones: Vec::new(),
        slots: 0,
        slipped: Vec::new(),
        left_out: Vec::new(),
        open: None,
        tail: None,
    };
    let mut cylinders = Vec::new();
    for (number, zone) in found.zones.iter().enumerate() {
        let first = layout.next_cylinder();
        let mut pieces = found.pieces.iter().filter(|piece| piece.zone == number).peekable();
        if !zone.sectors_per_track_by_head.is_empty() {
            layout.by_head(zone, pieces.next());
            cylinders.push([u64::from(first), u64::from(layout.next_cylinder()) - 1]);
            continue;
        }
        if pieces.peek().is_none() {
            layout.zone(zone);
        }
        for piece in pieces {
            match (layout.follows(piece), layout.slipped_before(piece)) {
                (Some(track), _) => layout.go_on(zone, piece, track),
                (None, Some(slips)) => layout.join(piece, slips),
                (None, None) => layout.begin(zone, piece),
            }
        }
        cylinders.push([u64::from(first), u64::from(layout.next_cylinder()) - 1]);
    }
    layout.begin_alike();
    let spec = LayoutSpec {
        head_angle_revolutions: Vec::new(),
        order: found.order.unwrap_or_default(),
        heads,
        group_cylinders: found.group_cylinders.map(|cylinders| cylinders as u32),
        cylinders: None,
        capacity_sectors: layout.capacity(found),
        zone: layout.zones,
        run: Vec::new(),
        region: Vec::new(),
        slipped_sectors: layout.slipped,
        slipped_tracks: layout.left_out,
        remap: Vec::new(),
    };
    (spec, cylinders)
}

/// Zones one behind the other.
struct Layout {
    heads: u64,
    by_surface: bool,
    zones: Vec<ZoneSpec>,
    /// Data sectors so far, slipped ones included.
    slots: u64,
    slipped: Vec<u64>,
    left_out: Vec<[u32; 2]>,
    open: Option<Open>,
    tail: Option<Tail>,
}

/// A zone of the file of which all tracks are filled up to somewhere, where another piece may go on.
struct Tail {
    /// Which of the zones that were found it is of.
    zone: usize,
    /// Its sectors up to there, from the start of its first cylinder on.
    sectors: u64,
}

/// A zone of the file that ends with a whole track, behind which another piece may go on.
struct Open {
    /// Which of the zones that were found it is of.
    zone: usize,
    /// Its tracks up to there, from head 0 of its first cylinder on.
    tracks: u64,
}

/// Where a piece begins: sectors from its first to its anchor, and the periods that these reach into.
struct Start {
    before: u64,
    periods: u64,
}

impl Start {
    fn of(piece: &PieceFindings) -> Self {
        let before = piece.anchor_lba.saturating_sub(piece.first_lba) + slipped(piece, piece.anchor_lba);
        Self { before, periods: before.div_ceil(piece.period_sectors) }
    }
}

/// Sectors slipped in a piece up to an address.
fn slipped(piece: &PieceFindings, end: u64) -> u64 {
    piece.slipped.iter().filter(|slip| slip[0] <= end).map(|slip| slip[1]).sum()
}

/// Sectors of a piece, slipped ones included.
fn held(piece: &PieceFindings) -> u64 {
    piece.end_lba.saturating_sub(piece.first_lba) + slipped(piece, piece.end_lba)
}

impl Layout {
    fn next_cylinder(&self) -> u32 {
        self.zones.last().map_or(0, |last| last.last_cylinder + 1)
    }

    /// Zones that begin at the same angle, as far as clocks tell, do: of writes that wait in a cache, the first of two that come under
    /// the head at the same instant goes to the media.
    fn begin_alike(&mut self) {
        let angles: Vec<f64> = self.zones.iter().map(|zone| zone.first_sector_revolutions).collect();
        let usual = circular_median(&angles);
        let off = |zone: &ZoneSpec| wrap_signed(zone.first_sector_revolutions - usual);
        for zone in self.zones.iter_mut().filter(|zone| off(zone).abs() < SAME_ANGLE) {
            zone.first_sector_revolutions = usual;
        }
    }

    /// Cylinders behind those that there are, with the sectors of a zone.
    fn cylinders(&self, zone: &ZoneFindings, cylinders: u64) -> ZoneSpec {
        let first_cylinder = self.next_cylinder();
        let spare = (zone.sectors_per_revolution - zone.sectors_per_track as f64).round().max(0.0);
        ZoneSpec {
            sectors_per_track_by_head: Vec::new(),
            first_cylinder,
            last_cylinder: first_cylinder + cylinders as u32 - 1,
            sectors_per_track: zone.sectors_per_track as u32,
            spare_sectors_per_track: spare as u32,
            spare_tracks_per_cylinder: 0,
            spare_tracks_at_end: 0,
            empty_sectors_at_front: 0,
            track_skew_sectors: 0.0,
            cylinder_skew_sectors: 0.0,
            first_sector_revolutions: 0.0,
            spares: None,
        }
    }

    /// A zone of which only the skews are known. What is missing to whole cylinders holds no data: the drive's own sectors, or
    /// spares.
    fn zone(&mut self, zone: &ZoneFindings) {
        let per_cylinder = zone.sectors_per_track * self.heads;
        let held = zone.end_lba.saturating_sub(zone.first_lba);
        let cylinders = held.div_ceil(per_cylinder).max(1);
        let skew = |sectors: Option<f64>, ci95| whole_sectors(sectors.unwrap_or(0.0), ci95);
        let spec = ZoneSpec {
            empty_sectors_at_front: cylinders * per_cylinder - held,
            track_skew_sectors: skew(zone.track_skew_sectors, zone.track_skew_ci95_sectors),
            cylinder_skew_sectors: skew(zone.cylinder_skew_sectors, zone.cylinder_skew_ci95_sectors),
            ..self.cylinders(zone, cylinders)
        };
        self.slots += held;
        self.zones.push(spec);
        (self.open, self.tail) = (None, None);
    }

    /// A zone of whole cylinders whose heads differ in density.
    fn by_head(&mut self, zone: &ZoneFindings, piece: Option<&PieceFindings>) {
        let per_cylinder: u64 = zone.sectors_per_track_by_head.iter().sum();
        let held = zone.end_lba.saturating_sub(zone.first_lba);
        let cylinders = held.div_ceil(per_cylinder).max(1);
        let spec = ZoneSpec {
            sectors_per_track_by_head: zone.sectors_per_track_by_head.iter().map(|&n| n as u32).collect(),
            track_skew_sectors: zone.track_skew_sectors.unwrap_or(0.0),
            cylinder_skew_sectors: zone.cylinder_skew_sectors.unwrap_or(0.0),
            first_sector_revolutions: piece.map_or(0.0, |piece| piece.anchor_revolutions),
            ..self.cylinders(zone, cylinders)
        };
        self.slots += cylinders * per_cylinder;
        self.zones.push(spec);
        self.open = None;
    }

    /// What the drive announces, where the cylinders of heads that differ hold more.
    fn capacity(&self, found: &Extraction) -> Option<u64> {
        let by_head = self.zones.iter().any(|zone| !zone.sectors_per_track_by_head.is_empty());
        (by_head && self.slots > found.device.sectors).then_some(found.device.sectors)
    }

    /// The track, from head 0 of the open zone's first cylinder on, at which a piece goes on with it: behind the tracks so far,
    /// under the head that the piece begins with, and at its angle.
    fn follows(&self, piece: &PieceFindings) -> Option<u64> {
        let open = self.open.as_ref().filter(|open| open.zone == piece.zone && !self.by_surface)?;
        let zone = self.zones.last()?;
        let sectors = u64::from(zone.sectors_per_track);
        let per_turn = f64::from(zone.sectors_per_track + zone.spare_sectors_per_track);
        let (track, cylinder) = (zone.track_skew_sectors / per_turn, zone.cylinder_skew_sectors / per_turn);
        let is_same = |turns: f64| wrap_signed(turns).abs() * per_turn < SAME_SECTORS;
        let start = Start::of(piece);
        if !self.is_alike(zone, piece) || !start.before.is_multiple_of(sectors) {
            return None;
        }
        let head = start.periods * self.heads - start.before / sectors;
        let periods = start.periods as f64 * piece.period_revolutions;
        let angle = piece.anchor_revolutions - periods + head as f64 * track;
        let each = (self.heads - 1) as f64 * track + cylinder;
        let lies = |place: &u64| {
            let turned = (place / self.heads) as f64 * each + head as f64 * track;
            is_same(zone.first_sector_revolutions + turned - angle)
        };
        let first = open.tracks + (head + self.heads - open.tracks % self.heads) % self.heads;
        (first..=open.tracks + MOST_LEFT_OUT).step_by(self.heads as usize).find(lies)
    }

    /// Whether the tracks of a piece follow each other as those of a zone of the file do.
    fn is_alike(&self, zone: &ZoneSpec, piece: &PieceFindings) -> bool {
        let sectors = u64::from(zone.sectors_per_track);
        let is_same = |a: f64, b: f64| (a - b).abs() < SAME_SECTORS;
        (self.heads == 1 || is_same(piece.track_skew_sectors, zone.track_skew_sectors))
            && is_same(piece.cylinder_skew_sectors, zone.cylinder_skew_sectors)
            && (piece.tracks, piece.period_sectors) == (self.heads, self.heads * sectors)
    }

    /// How many sectors are slipped just before a piece that else goes on with the last zone, in the same cylinder: so many are
    /// missing between them, and all lies at the angles of that zone.
    fn slipped_before(&self, piece: &PieceFindings) -> Option<u64> {
        let tail = self.tail.as_ref().filter(|tail| tail.zone == piece.zone && !self.by_surface)?;
        let zone = self.zones.last().filter(|zone| self.is_alike(zone, piece))?;
        let per_cylinder = piece.period_sectors;
        let Start { before, periods } = Start::of(piece);
        let front = periods * per_cylinder - before;
        let slips = (front + per_cylinder - tail.sectors % per_cylinder) % per_cylinder;
        let cylinder = (tail.sectors + slips) / per_cylinder;
        let per_turn = f64::from(zone.sectors_per_track + zone.spare_sectors_per_track);
        let each =
            ((self.heads - 1) as f64 * zone.track_skew_sectors + zone.cylinder_skew_sectors) / per_turn;
        let begins = piece.anchor_revolutions - periods as f64 * piece.period_revolutions;
        let off = wrap_signed(zone.first_sector_revolutions + cylinder as f64 * each - begins);
        ((1..=MOST_SLIPPED).contains(&slips) && off.abs() * per_turn < SAME_SECTORS).then_some(slips)
    }

    /// A piece that goes on with the last zone behind slipped sectors.
    fn join(&mut self, piece: &PieceFindings, slips: u64) {
        self.slipped.extend(self.slots..self.slots + slips);
        self.slots += slips;
        self.slip(piece);
        let (Some(tail), Some(zone)) = (self.tail.take(), self.zones.last_mut()) else { return };
        let sectors = tail.sectors + slips + held(piece);
        let cylinders = sectors.div_ceil(piece.period_sectors);
        zone.last_cylinder = zone.first_cylinder + cylinders as u32 - 1;
        let missing = cylinders * piece.period_sectors - sectors;
        zone.spares = (missing > 0).then(|| shared(SpareGroup::Zone, missing));
        let on_track = u64::from(zone.sectors_per_track);
        let whole = sectors.is_multiple_of(on_track);
        self.open = whole.then_some(Open { zone: piece.zone, tracks: sectors / on_track });
        self.tail = Some(Tail { zone: piece.zone, sectors });
    }

    /// Notes the slipped sectors of a piece whose data begin here.
    fn slip(&mut self, piece: &PieceFindings) {
        for &[lba, count] in &piece.slipped {
            let place = self.slots + lba.saturating_sub(piece.first_lba) + slipped(piece, lba) - count;
            self.slipped.extend(place..place + count);
        }
        self.slots += held(piece);
    }

    /// A piece that goes on with the open zone at one of its tracks.
    fn go_on(&mut self, found: &ZoneFindings, piece: &PieceFindings, track: u64) {
        self.slip(piece);
        self.tail = None;
        let (Some(open), Some(zone)) = (self.open.take(), self.zones.last_mut()) else { return };
        let (heads, sectors, held) = (self.heads, found.sectors_per_track, held(piece));
        let place = |track: u64| [zone.first_cylinder + (track / heads) as u32, (track % heads) as u32];
        self.left_out.extend((open.tracks..track).map(place));
        let tracks = track + held.div_ceil(sectors);
        let cylinders = tracks.div_ceil(heads);
        zone.last_cylinder = zone.first_cylinder + cylinders as u32 - 1;
        zone.spares = None;
        zone.spare_tracks_at_end = (cylinders * heads - tracks) as u32;
        let rest = held.next_multiple_of(sectors) - held;
        self.slipped.extend(self.slots..self.slots + rest);
        self.slots += rest;
        self.open = (rest == 0).then_some(Open { zone: piece.zone, tracks });
    }

    /// A piece with a zone of the file for itself: tracks begin anew at its anchor, and what is missing to whole cylinders lies at
    /// both of its ends.
    fn begin(&mut self, zone: &ZoneFindings, piece: &PieceFindings) {
        let Start { before, periods } = Start::of(piece);
        let front = periods * piece.period_sectors - before;
        let held = held(piece);
        let sectors = zone.sectors_per_track;
        // Spares at the end of each cylinder, or of several.
        let shares = piece.tracks == self.heads * piece.cylinders;
        let spares = if shares { piece.tracks * sectors - piece.period_sectors } else { 0 };
        let (per_cylinder, all) = (self.heads * sectors, front + held);
        let cylinders = if spares > 0 {
            let whole = (all - 1) / piece.period_sectors;
            let last = all - whole * piece.period_sectors;
            whole * piece.cylinders + (last + spares).div_ceil(per_cylinder).min(piece.cylinders)
        } else {
            all.div_ceil(per_cylinder).max(1)
        };
        let turned = periods as f64 * piece.period_revolutions;
        let mut spec = ZoneSpec {
            empty_sectors_at_front: front,
            track_skew_sectors: if self.heads > 1 { piece.track_skew_sectors } else { 0.0 },
            cylinder_skew_sectors: piece.cylinder_skew_sectors,
            first_sector_revolutions: wrap(piece.anchor_revolutions - turned),
            ..self.cylinders(zone, cylinders)
        };
        self.slip(piece);
        let whole = spares == 0 && all.is_multiple_of(sectors);
        self.open = whole.then_some(Open { zone: piece.zone, tracks: all / sectors });
        self.tail = (spares == 0).then_some(Tail { zone: piece.zone, sectors: all });
        if spares > 0 {
            let last = all - (all - 1) / piece.period_sectors * piece.period_sectors;
            let room = (last + spares).div_ceil(per_cylinder).min(piece.cylinders) * per_cylinder;
            let tracks = (room - (last + spares).min(room)) / sectors;
            let rest = (room - tracks * sectors).saturating_sub(spares + last);
            spec.spare_tracks_at_end = tracks as u32;
            self.slipped.extend(self.slots..self.slots + rest);
            self.slots += rest;
            let cylinders = (piece.cylinders > 1).then_some(piece.cylinders as u32);
            let range_skew_sectors = if cylinders.is_some() { piece.range_skew_sectors } else { 0.0 };
            let shared = shared(SpareGroup::Cylinders, spares);
            spec.spares = Some(SparesSpec { cylinders, range_skew_sectors, ..shared });
        } else {
            let missing = cylinders * per_cylinder - all;
            spec.spares = (missing > 0).then(|| shared(SpareGroup::Zone, missing));
        }
        self.zones.push(spec);
    }
}

fn shared(per: SpareGroup, sectors: u64) -> SparesSpec {
    SparesSpec {
        per,
        cylinders: None,
        sectors: sectors as u32,
        at_front: false,
        slipped_slots: Vec::new(),
        range_skew_sectors: 0.0,
    }
}
