//! `skippy-…`: one sector after the other, each a step farther away than the one before (Talagala et al. 1999, Figure 1).

use super::description::{Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::Mode;
use crate::reading::drops::jumps;
use crate::record::{ProbeName, Role};

pub(super) static SKIPPY_WRITE: Probe = Probe {
    name: ProbeName::SkippyWrite,
    about: "writes with linearly increasing steps (Skippy)",
    needs: &[ProbeName::Rotation, ProbeName::WriteCache],
    writes: Writing::Always,
    on_formula: true,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(200.0, 500.0),
    run: |session, _| run(session, Kind::Write),
};

pub(super) static SKIPPY_READ: Probe = Probe {
    name: ProbeName::SkippyRead,
    about: "reads with linearly increasing steps",
    needs: &[ProbeName::Rotation],
    writes: Writing::Never,
    on_formula: true,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(200.0, 500.0),
    run: |session, _| run(session, Kind::Read),
};

pub(super) static SKIPPY_BACKWARDS: Probe = Probe {
    name: ProbeName::SkippyBackwards,
    about: "reads backwards with linearly increasing steps, ahead of which nothing is read",
    needs: &[ProbeName::Rotation],
    writes: Writing::Never,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(200.0, 500.0),
    run: |session, _| run(session, Kind::Backwards),
};

/// Which Skippy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// As in the paper. Where writes hide the media, they are forced.
    Write,
    /// With reads; a drive that reads ahead answers small steps from its cache.
    Read,
    /// With reads towards lower addresses.
    Backwards,
}

const LEAST_STEPS: i64 = 192;
const MOST_STEPS: i64 = 4096;

/// Series 0, `step` in units of the sectors written at a time. Goes on until the steps are longer than a track: until the
/// latency has dropped twice.
fn run(session: &mut Session<'_>, kind: Kind) -> Result<(), MeasureError> {
    let unit = session.unit();
    let mode = if kind == Kind::Write { session.mode } else { Mode::Read };
    let mut position = if kind == Kind::Backwards { session.sectors() / 2 / unit * unit } else { 0 };
    // Step 0 follows a sector, too.
    session.take((0, 0), Role::Position, session.one(mode, position))?;
    position += if kind == Kind::Backwards { 0 } else { unit };
    let mut latencies: Vec<f64> = Vec::new();
    for step in 0..MOST_STEPS {
        let ahead = step as u64 * unit;
        let lba = if kind == Kind::Backwards {
            let Some(lba) = position.checked_sub(ahead + unit) else { break };
            lba
        } else {
            position + ahead
        };
        if lba + unit > session.sectors() {
            break;
        }
        let window = session.take((0, step), Role::Measure, session.one(mode, lba))?;
        latencies.push(window.map_or(f64::NAN, |window| (window.end - window.start).as_ms()));
        position = if kind == Kind::Backwards { lba } else { lba + unit };
        if step >= LEAST_STEPS && step % 64 == 0 {
            let drops = jumps(&latencies, kind == Kind::Backwards);
            if drops.len() >= 2 && (step as usize) > drops[1] + drops[1] / 8 {
                break;
            }
        }
    }
    Ok(())
}
