//! `write-cache`: writes after random pauses. On the media they end at the angle of their sector; in a buffer they do not.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::{Access, Mode};
use crate::reading::idle::{self, Idle, PAUSES};
use crate::reading::{fill, whole, writes};
use crate::record::series::write_cache::{DRAINED, LARGE, SIZES, SMALL, WHOLE};
use crate::record::{ProbeName, Role};
use headstack_units::Nanos;

pub(super) static WRITE_CACHE: Probe = Probe {
    name: ProbeName::WriteCache,
    about: "whether writes are complete before they are on the media",
    needs: &[ProbeName::Rotation],
    writes: Writing::Always,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(outlook.by_size(500.0, 4_500.0), 500.0),
    run,
};

const REPETITIONS: i64 = 48;
/// Large writes, where the device has so many places for them.
const LARGE_BYTES: u32 = 512 << 10;
const LEAST_PLACES: u64 = 64;
/// Writes that fill a cache, at most, and behind them those that wait.
const MOST_SMALL: i64 = 20_000;
const MOST_LARGE: i64 = 2_000;
const WAITING: i64 = 48;
/// Sizes of writes into an empty cache, and how many of each.
const MOST_DOUBLED: u32 = 7;
const OF_A_SIZE: u32 = 16;

/// Series 0: one sector again and again; 1: behind a write of the sector before it; 2: behind a read; 3: here and there;
/// 4: two places by turns. What is found decides how later probes write. Where writes are complete too early, some fill the cache.
fn run(session: &mut Session<'_>, _context: &Context) -> Result<(), MeasureError> {
    let unit = session.unit();
    let base = (session.sectors() / 64).next_multiple_of(unit);
    let far = (session.sectors() / 64 * 3).next_multiple_of(unit);
    for series in 0..5_u32 {
        for step in 0..REPETITIONS {
            let key = (series, step);
            let before = match series {
                1 => Some((Mode::Write, base - unit)),
                2 => Some((Mode::Read, far + step as u64 * 8 * unit)),
                4 => Some((Mode::Write, far)),
                _ => None,
            };
            if let Some((mode, lba)) = before {
                session.take(key, Role::Position, session.one(mode, lba))?;
            }
            let pause = 15.0 * session.below(1 << 20) as f64 / f64::from(1 << 20);
            let now = session.device.now();
            session.device.wait_until(now + Nanos::from_ms(pause))?;
            let lba = if series == 3 { base + session.below(4) * unit } else { base };
            session.take(key, Role::Measure, session.one(Mode::Write, lba))?;
        }
        session.device.flush()?;
    }
    let reach = writes::writes_reach_media(session.record, session.spindle);
    if reach { "write" } else { "write-forced" }.clone_into(&mut session.record.head.writes);
    if !reach {
        fill(session, (SMALL, session.unit()), MOST_SMALL)?;
        if fill::is_quick(session.record, SMALL, session.spindle) {
            let large = u64::from(LARGE_BYTES / session.device.info().sector_bytes);
            sizes(session, held_units(session) / 2)?;
            fill(session, (LARGE, large), MOST_LARGE)?;
            whole(session)?;
            drained(session)?;
        } else if fill::at_once(session.record, session.spindle).is_some() {
            // One alone is reported early.
            sizes(session, 1 << (MOST_DOUBLED - 1))?;
        }
    }
    Ok(())
}

/// Writes of `sectors` here and there, one behind the other, until the cache has no room and they wait for others to reach the
/// media; and some more, to see for how long. Where not even the first are quick, there is nothing to fill.
fn fill(session: &mut Session<'_>, (series, sectors): (u32, u64), most: i64) -> Result<(), MeasureError> {
    let places = session.sectors() / sectors;
    let (mut latencies, mut rest) = (Vec::new(), most);
    while places > LEAST_PLACES && rest > 0 {
        let lba = session.below(places) * sectors;
        let access = Access { mode: Mode::Write, lba, sectors: sectors as u32 };
        if let Some(window) = session.take((series, most - rest), Role::Measure, access)? {
            latencies.push((window.end - window.start).as_ms());
        }
        rest -= 1;
        if series == SMALL
            && latencies.len() == fill::FIRST
            && !fill::is_quick(session.record, series, session.spindle)
        {
            break;
        }
        if rest > WAITING
            && latencies.len().is_multiple_of(8)
            && until_full(session, (series, sectors), &latencies).is_some()
        {
            rest = WAITING;
        }
    }
    session.device.flush()
}

fn until_full(session: &Session<'_>, (series, sectors): (u32, u64), latencies: &[f64]) -> Option<usize> {
    if series == SMALL {
        return fill::until_full(series, latencies);
    }
    let foretold = whole::Foretold::of(session.record);
    fill::until_large_full(latencies, foretold.map(|foretold| foretold.ms(sectors)))
}

/// How many small writes the cache holds.
fn held_units(session: &Session<'_>) -> u64 {
    fill::fill(session.record, SMALL).map_or(0, |held| held.held as u64)
}

/// Writes of 1, 2, 4, … units up to `most`, each into an empty cache: by how much longer the larger ones take, their data are on the
/// bus.
fn sizes(session: &mut Session<'_>, most: u64) -> Result<(), MeasureError> {
    let unit = session.unit();
    for sectors in
        (0..MOST_DOUBLED).map(|power| 1 << power).filter(|&units| units <= most).map(|units| units * unit)
    {
        let places = session.sectors() / sectors;
        for _ in 0..OF_A_SIZE {
            let access =
                Access { mode: Mode::Write, lba: session.below(places) * sectors, sectors: sectors as u32 };
            session.take((SIZES, sectors as i64), Role::Measure, access)?;
            session.device.flush()?;
        }
    }
    Ok(())
}

/// Each size is tried so often: the most of them decide. Where they disagree, as when one was seen late, it is tried as often again, and
/// one more time.
const TRIES: usize = 3;
const MORE_TRIES: usize = 4;
/// What is filled by one write holds no more than this.
const MOST_WHOLE_BYTES: u64 = 4 << 20;

/// One write that the empty cache takes all of is quick, and one of a unit more is not: halving tells its size, whatever goes to the
/// media while many writes fill it.
fn whole(session: &mut Session<'_>) -> Result<(), MeasureError> {
    // Small ones may go to the media as they come, while large ones wait.
    let full = |series: u32| fill::fill(session.record, series).filter(|fill| fill.full);
    let Some(held) = full(SMALL).or_else(|| full(LARGE)) else { return Ok(()) };
    let unit = session.unit();
    let units = (held.held * held.sectors as f64) as u64 / unit;
    let bytes = 2 * units * unit * u64::from(session.device.info().sector_bytes);
    let (mut low, mut high) = (units / 2, 2 * units + 2);
    if bytes > MOST_WHOLE_BYTES || low == 0 || !takes(session, low * unit)? || takes(session, high * unit)? {
        return Ok(());
    }
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        *(if takes(session, middle * unit)? { &mut low } else { &mut high }) = middle;
    }
    Ok(())
}

/// A read, a few writes here and there, and a flush, at once and after a pause: what is done of it by the end of the pause, the flush need
/// not wait for.
fn drained(session: &mut Session<'_>) -> Result<(), MeasureError> {
    let held = held_units(session);
    for (place, pause) in PAUSES.iter().enumerate().filter(|(_, pause)| 2 * pause.writes <= held) {
        let series = DRAINED + place as u32;
        for _ in 0..pause.rounds {
            let writes: Vec<Access> = (0..pause.writes).map(|_| somewhere(session, Mode::Write)).collect();
            for ms in [0.0, pause.ms] {
                let key = (series, ms as i64);
                let read = somewhere(session, Mode::Read);
                session.take(key, Role::Position, read)?;
                for &write in &writes {
                    session.take(key, Role::Measure, write)?;
                }
                session.device.wait_until(session.device.now() + Nanos::from_ms(ms))?;
                session.flush(key)?;
            }
        }
        if !matches!(idle::by_pause(session.record, place), Some(Idle::Longer(_))) {
            break;
        }
    }
    Ok(())
}

/// One physical sector anywhere.
fn somewhere(session: &mut Session<'_>, mode: Mode) -> Access {
    let places = session.sectors() / session.unit();
    let lba = session.below(places) * session.unit();
    session.one(mode, lba)
}

/// Whether the empty cache takes so many sectors at once.
fn takes(session: &mut Session<'_>, sectors: u64) -> Result<bool, MeasureError> {
    let places = session.sectors().saturating_sub(sectors) / session.unit();
    for tries in [TRIES, MORE_TRIES] {
        for _ in 0..tries {
            let lba = session.below(places.max(1)) * session.unit();
            let access = Access { mode: Mode::Write, lba, sectors: sectors as u32 };
            session.take((WHOLE, sectors as i64), Role::Measure, access)?;
            session.device.flush()?;
        }
        let share = whole::taken(session.record).get(&sectors).copied().unwrap_or(0.0);
        if share == 0.0 || share == 1.0 {
            break;
        }
    }
    Ok(whole::takes(session.record).get(&sectors).copied().unwrap_or(false))
}
