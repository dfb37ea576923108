//! `write-cache`: writes after random pauses. On the media they end at the angle of their sector; in a buffer they do not.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::Mode;
use crate::reading::writes;
use crate::record::{ProbeName, Role};
use headstack_units::Nanos;

pub(super) static WRITE_CACHE: Probe = Probe {
    name: ProbeName::WriteCache,
    about: "whether writes are complete before they are on the media",
    needs: &[ProbeName::Rotation],
    writes: Writing::Always,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(250.0, 250.0),
    run,
};

const REPETITIONS: i64 = 24;

/// Series 0: one sector again and again; 1: behind a write of the sector before it; 2: behind a read; 3: here and there;
/// 4: two places by turns. What is found decides how later probes write.
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
    Ok(())
}
