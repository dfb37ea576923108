//! `switches`: the least time to a sector of the same track, of the next track, and of the next cylinder, for writes and
//! for reads.

use super::description::{Context, Probe, Writing};
use super::surfaces;
use crate::MeasureError;
use crate::angles::session::Session;
use crate::angles::trial::{self, Way};
use crate::device::Mode;
use crate::reading::density;
use crate::reading::tracks::{self, Border, Kinds};
use crate::record::ProbeName;
use crate::record::series::switches::{COMMON, FLUSHED, ODD, RARE, READS, SAME_TRACK};

pub(super) static SWITCHES: Probe = Probe {
    name: ProbeName::Switches,
    about: "minimum time to the next sector, track and cylinder",
    needs: &[ProbeName::Tracks],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| {
        outlook.revolutions(900.0, 350.0 + 200.0 * outlook.others) * outlook.at_noise([3.0, 8.0, 10.0])
    },
    run,
};

/// Ways of each kind: where times are exact, where some are late, and through noise.
const PAIRS: [usize; 3] = [3, 6, 16];

/// `step` is the number of the track it starts from.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    if !context.known.has_zones() {
        return Ok(());
    }
    odd_ways(session, &context.known.borders)?;
    // Which of two skews is which may be known by now.
    let borders: &[Border] = &tracks::tracks_at_start(session.record, session.spindle()?);
    let all = [(session.mode, 0), (Mode::Read, READS), (Mode::WriteFlushed, FLUSHED)];
    let modes = match (session.device.info().writable, session.is_cached()) {
        (true, true) => &all[..],
        (true, false) => &all[..2],
        (false, _) => &all[1..2],
    };
    let pairs = PAIRS[session.repetitions.min(3) - 1];
    let slope = density::slope(borders);
    for &(mode, offset) in modes {
        let mut counts = [0_usize; 3];
        for (place, pair) in borders.windows(3).enumerate() {
            let kind = match (place, pair[1].rare) {
                (place, false) if place % 3 == 0 => SAME_TRACK,
                (_, true) => RARE,
                (_, false) => COMMON,
            };
            if counts[kind as usize] >= pairs || pair[2].first - pair[1].first < 16 {
                continue;
            }
            counts[kind as usize] += 1;
            let way = if session.only_reads() {
                backwards(session, pair, kind == SAME_TRACK, &slope)
            } else {
                way(session, pair, kind == SAME_TRACK, (mode, &slope))
            };
            trial::least(session, (offset + kind, place as i64), way)?;
        }
    }
    Ok(())
}

/// Where two skews come in turns: over as large an odd number of tracks as there are of the first zone, from two neighbours. From the
/// second track of a cylinder on it is one cylinder farther than from the first.
fn odd_ways(session: &mut Session<'_>, borders: &[Border]) -> Result<(), MeasureError> {
    let Some(kinds) = Kinds::of(borders).filter(|kinds| kinds.in_turns) else { return Ok(()) };
    let larger = kinds.common.max(kinds.other);
    let behind = |place: usize| borders[place].skew_turns.map(|skew| kinds.are_alike(skew, larger));
    let Some(first) = (1..borders.len()).find(|&place| behind(place) == Some(true)) else { return Ok(()) };
    let usual = tracks::usual_sectors(borders);
    let alike =
        borders.iter().skip(first + 1).take_while(|border| border.sectors_before == Some(usual)).count();
    // Both targets are whole tracks.
    let Some(over) =
        alike.checked_sub(3).map(|most| if most.is_multiple_of(2) { most.saturating_sub(1) } else { most })
    else {
        return Ok(());
    };
    if over < 3 || behind(first + 1) != Some(false) {
        return Ok(());
    }
    for step in 0..2 {
        surfaces::least_over(session, borders, (first + step, over), (ODD, step as i64))?;
    }
    Ok(())
}

/// From the middle of the first track to its last quarter, or to the next track.
fn way(
    session: &Session<'_>,
    borders: &[Border],
    same: bool,
    (mode, slope): (Mode, &dyn Fn(u64) -> f64),
) -> Way {
    let unit = session.unit();
    let length = borders[1].first - borders[0].first;
    let on = |first: u64, share: u64| first + length * share / 8 / unit * unit;
    let first = if same { borders[0].first } else { borders[1].first };
    let to = on(first, 6);
    Way {
        from: on(borders[0].first, if same { 1 } else { 4 }),
        to,
        mode,
        slope: slope(to),
        room: to - on(first, 2),
        sure: true,
        start: None,
        foreseen: None,
    }
}

/// For reads alone: to the first track from the second, whose read-ahead does not hold it, or from that track itself. There
/// it is its first sector that comes just when the head has read to the track's end: on time, it has not left the track.
fn backwards(session: &Session<'_>, borders: &[Border], same: bool, slope: &dyn Fn(u64) -> f64) -> Way {
    let unit = session.unit();
    let length = borders[1].first - borders[0].first;
    let start = if same { borders[0].first } else { borders[1].first };
    let to = borders[0].first + if same { 0 } else { 2 * unit };
    Way {
        from: start + length / 2 / unit * unit,
        to,
        mode: Mode::Read,
        slope: slope(to),
        room: 0,
        sure: true,
        start: Some((start, if same { length } else { borders[2].first - start })),
        foreseen: None,
    }
}
