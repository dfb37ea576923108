//! `overhead`: reads that the cache answers, of several sizes: the command's overhead, and the bus.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::{Access, Mode};
use crate::record::{ProbeName, Role};

pub(super) static OVERHEAD: Probe = Probe {
    name: ProbeName::Overhead,
    about: "reads that the cache answers, of several sizes",
    needs: &[ProbeName::Cache],
    writes: Writing::Never,
    on_formula: false,
    resumes: false,
    expected_s: |outlook| outlook.revolutions(200.0, 1_000.0),
    run,
};

const REPETITIONS: u64 = 12;

/// Series 0; `step` is the size in sectors.
fn run(session: &mut Session<'_>, _context: &Context) -> Result<(), MeasureError> {
    let unit = session.unit();
    for power in 0..7 {
        let sectors = unit << power;
        for _ in 0..REPETITIONS {
            let places = (session.sectors() - sectors) / unit;
            let lba = session.below(places) * unit;
            let access = Access { mode: Mode::Read, lba, sectors: sectors as u32 };
            let key = (0, sectors as i64);
            session.take(key, Role::Position, access)?;
            session.take(key, Role::Measure, access)?;
        }
    }
    Ok(())
}
