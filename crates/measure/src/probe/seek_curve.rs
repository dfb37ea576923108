//! `seek-curve`: the least time over distances from one cylinder to the whole stroke, both ways, for writes and reads.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::finder::Finder;
use crate::angles::median::median;
use crate::angles::session::Session;
use crate::angles::spindle::{Spindle, wrap_signed};
use crate::angles::trial::{self, Way};
use crate::device::Mode;
use crate::reading::cylinders::CylinderMap;
use crate::reading::known::Known;
use crate::reading::least::{self, ALIKE_MS};
use crate::record::series::seek_curve::{
    FLUSHED_INWARDS, FLUSHED_OUTWARDS, IN_TURNS, READS_INWARDS, READS_OUTWARDS, READS_TO_SURFACE,
    WRITES_INWARDS, WRITES_TO_SURFACE,
};
use crate::record::{ProbeName, Role};

pub(super) static SEEK_CURVE: Probe = Probe {
    name: ProbeName::SeekCurve,
    about: "minimum time over each distance, inwards and outwards, for reads and writes",
    needs: &[ProbeName::ZoneTracks, ProbeName::Switches],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| {
        outlook.revolutions(outlook.by_size(10_000.0, 22_000.0), 3_500.0 + 1_500.0 * outlook.others)
            * outlook.at_noise([1.3, 1.3, outlook.by_size(1.2, 3.5)])
    },
    run,
};

/// A third of them are reads behind a read, and a third writes behind one.
const ACCESSES_IN_TURNS: i64 = 900;

/// A difference of two least times is noise up to so many times what a single completion is off.
const TIMES_NOISE: f64 = 6.0;

/// Reads cost many more accesses where the cache is large: one distance of so many shows the difference to writes.
const FEWER_READS: usize = 4;

/// One of so many shows what a write takes longer that a cache brings to the media.
const FEWER_FLUSHES: usize = 8;

/// Added to the series while the tracks are looked for that reads go between.
const SETTLING: u32 = 100;

/// `step` is the distance in cylinders.
fn run(session: &mut Session<'_>, _context: &Context) -> Result<(), MeasureError> {
    let known = Known::of(session.record);
    let Some(map) = CylinderMap::of(session.record) else { return Ok(()) };
    let distances = distances(map.cylinders());
    let writable = session.device.info().writable;
    if !writable {
        // Known better by now than from reads here and there.
        session.least = least::least_read_turns(session.record, session.spindle()?).or(session.least);
    }
    let mut curve = Curve { known, map, found: Default::default() };
    let cached = session.is_cached();
    for (place, &distance) in distances.iter().enumerate() {
        if writable {
            curve.both_ways(session, WRITES_INWARDS, distance)?;
        }
        if !writable || place % FEWER_READS == 0 {
            curve.both_ways(session, READS_INWARDS, distance)?;
        }
        if cached && place % FEWER_FLUSHES == FEWER_FLUSHES / 2 {
            curve.both_ways(session, FLUSHED_INWARDS, distance)?;
        }
    }
    if !writable {
        return Ok(());
    }
    let noise_ms = session.spindle()?.ms(session.noise);
    if curve.settles_differ(session.spindle()?, ALIKE_MS.max(TIMES_NOISE * noise_ms)) {
        curve.other_reads(session, &distances)?;
    }
    to_surfaces(session, &curve.map)?;
    // To set the disk's clock between them, others would have to come between.
    if session.clock.is_none() { in_turns(session) } else { Ok(()) }
}

/// What is measured so far.
struct Curve {
    known: Known,
    map: CylinderMap,
    /// By series: distances, and the least time over each, in turns.
    found: [Vec<(u64, f64)>; 8],
}

impl Curve {
    /// Inwards and outwards: the series and the next one.
    fn both_ways(
        &mut self,
        session: &mut Session<'_>,
        series: u32,
        distance: u64,
    ) -> Result<(), MeasureError> {
        self.least(session, series, distance)?;
        self.least(session, series + 1, distance)
    }

    fn least(&mut self, session: &mut Session<'_>, series: u32, distance: u64) -> Result<(), MeasureError> {
        let (map, unit, writable) = (&self.map, session.unit(), session.device.info().writable);
        let mode = match series {
            READS_INWARDS | READS_OUTWARDS => Mode::Read,
            FLUSHED_INWARDS | FLUSHED_OUTWARDS => Mode::WriteFlushed,
            _ => session.mode,
        };
        let reads = mode == Mode::Read;
        let (outer, inner) = map.pair(distance);
        let inwards = series.is_multiple_of(2);
        let (from, to) = if inwards { (outer, inner) } else { (inner, outer) };
        let (Some(start), Some(end)) = (map.track_of(from), map.track_of(to)) else { return Ok(()) };
        let (Some(from), Some(to)) = (map.middle_of(from), map.middle_of(to)) else { return Ok(()) };
        // Sectors that were written may stay in the cache, whatever is read.
        let to = if reads && writable { to.saturating_sub(unit) } else { to };
        let zone = self.known.zones.iter().rev().find(|zone| zone.first_lba <= to);
        let by_head = self.known.sectors_by_head(to);
        let sectors = by_head.or(zone.map(|zone| zone.sectors_per_track)).unwrap_or(64);
        let way = Way {
            from: from / unit * unit,
            to: to / unit * unit,
            mode,
            slope: map.slope(to).filter(|_| by_head.is_none()).unwrap_or(1.0 / sectors as f64),
            room: sectors / 4,
            sure: false,
            start: None,
            foreseen: foreseen(&self.found[series as usize], distance),
        };
        let way = if writable {
            way
        } else {
            let start = settled(session, series, start, self.known.angle_noise)?;
            let end = settled(session, series, end, self.known.angle_noise)?;
            between_reads(way, start, end, unit)
        };
        let least = trial::least(session, (series, distance as i64), way)?;
        self.found[series as usize].extend(least.map(|turns| (distance, turns)));
        Ok(())
    }

    /// Whether seeks before writes take longer than those before reads by more over some distances than over others, and not by less
    /// than `alike_ms`.
    fn settles_differ(&self, spindle: Spindle, alike_ms: f64) -> bool {
        let (writes, reads) = (&self.found[WRITES_INWARDS as usize], &self.found[READS_INWARDS as usize]);
        let more = |&(distance, read): &(u64, f64)| {
            let write = writes.iter().find(|write| write.0 == distance)?.1;
            Some(spindle.ms(wrap_signed(write - read)))
        };
        let all: Vec<f64> = reads.iter().filter_map(more).collect();
        !all.is_empty() && all.iter().any(|ms| (ms - median(&all)).abs() >= alike_ms)
    }

    /// Reads over the distances that were left out: how long a write settles shows at each.
    fn other_reads(&mut self, session: &mut Session<'_>, distances: &[u64]) -> Result<(), MeasureError> {
        let known = [READS_INWARDS, READS_OUTWARDS]
            .map(|series| (series, std::mem::take(&mut self.found[series as usize])));
        for (place, &distance) in distances.iter().enumerate() {
            if place % FEWER_READS != 0 {
                self.both_ways(session, READS_INWARDS, distance)?;
            }
            for (series, points) in &known {
                let again = points.iter().filter(|point| point.0 == distance);
                self.found[*series as usize].extend(again);
            }
        }
        Ok(())
    }
}

/// Ways from a surface to the next: where times are exact, where some are late, and through noise.
const SURFACES: [usize; 3] = [3, 6, 16];

/// Along surfaces, the next one comes too rarely for the tracks at the start to show what a change of head takes.
fn to_surfaces(session: &mut Session<'_>, map: &CylinderMap) -> Result<(), MeasureError> {
    let (unit, mode) = (session.unit(), session.mode);
    let changes = map.surface_changes();
    for (series, mode) in [(WRITES_TO_SURFACE, mode), (READS_TO_SURFACE, Mode::Read)] {
        let ways = changes.iter().take(SURFACES[session.repetitions.min(3) - 1]);
        for (step, &(last, next, sectors)) in ways.enumerate() {
            let way = Way {
                from: (last + sectors / 2) / unit * unit,
                to: (next + sectors * 3 / 4) / unit * unit,
                mode,
                slope: 1.0 / sectors as f64,
                room: sectors / 2,
                sure: false,
                start: None,
                foreseen: None,
            };
            trial::least(session, (series, step as i64), way)?;
        }
    }
    Ok(())
}

/// Random accesses, two reads and a write in turns: what the command before changes.
fn in_turns(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let places = session.sectors() / session.unit();
    for step in 0..ACCESSES_IN_TURNS {
        let mode = if step % 3 == 2 { session.mode } else { Mode::Read };
        let lba = session.below(places) * session.unit();
        session.take((IN_TURNS, step), Role::Measure, session.one(mode, lba))?;
    }
    Ok(())
}

/// A track of which first sector and sectors are roughly known, exactly: slipped and spare sectors move it.
fn settled(
    session: &mut Session<'_>,
    series: u32,
    (first, sectors): (u64, u64),
    noise: f64,
) -> Result<(u64, u64), MeasureError> {
    let (unit, slope) = (session.unit(), 1.0 / sectors as f64);
    let first = first.next_multiple_of(unit);
    let last = first + (sectors - 1) / unit * unit;
    let mut finder = Finder::new(session, SETTLING + series, noise);
    let (Some(start), Some(end)) = (finder.angle(first, None)?, finder.angle(last, None)?) else {
        return Ok((first, sectors));
    };
    let off = wrap_signed(end - start - (last - first) as f64 * slope);
    if off.abs() <= finder.tolerance(slope) {
        return Ok((first, sectors));
    }
    let Some((border, _)) = finder.next_track(first, Some(slope))? else { return Ok((first, sectors)) };
    // The nearer one of the two that it lies between.
    Ok((if border - first < sectors / 2 { border } else { border.saturating_sub(sectors) }, sectors))
}

/// From a track to another, each with its first sector and its sectors: reads alone must find one sector of many there that
/// lies well.
fn between_reads(way: Way, start: (u64, u64), end: (u64, u64), unit: u64) -> Way {
    let to = (end.0 + end.1 * 19 / 20) / unit * unit;
    Way { to, room: end.1 * 9 / 10, start: Some((start.0.next_multiple_of(unit), start.1)), ..way }
}

/// What a distance should take by the two before it, in turns: least times grow with the root, or a little faster.
fn foreseen(found: &[(u64, f64)], distance: u64) -> Option<f64> {
    let [.., (first, less), (second, more)] = *found else { return None };
    let root = |distance: u64| (distance as f64).sqrt();
    let growth = (more - less) / (root(second) - root(first));
    Some(more + growth * (root(distance) - root(second)))
}

/// All small distances, then ever fewer: between those, a root that is drawn straight is off by a third of a percent.
fn distances(cylinders: u64) -> Vec<u64> {
    let most = cylinders.saturating_sub(2);
    let mut distances: Vec<u64> = (1..=10).collect();
    let mut next = 12.0;
    while next < most as f64 {
        distances.push(next as u64);
        next *= 1.3;
    }
    // The straight part of the curve, evenly.
    distances.extend((1..=10).map(|part| most * part / 10));
    distances.retain(|&distance| distance > 0 && distance <= most);
    distances.sort_unstable();
    distances.dedup();
    distances
}
