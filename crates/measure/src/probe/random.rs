//! `random`: random accesses of 4 KiB, 1 to 32 at a time, reads and (where allowed) writes.

use super::description::{Context, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::{Access, Mode};
use crate::record::series::random::CHUNK;
use crate::record::{ProbeName, Role};

pub(super) static RANDOM: Probe = Probe {
    name: ProbeName::Random,
    about: "random accesses, 1 to 32 at a time",
    needs: &[],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: true,
    expected_s: |outlook| outlook.revolutions(outlook.by_size(8_000.0, 4_000.0), 2_400.0),
    run,
};

const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
const ACCESSES: usize = 400;

/// Series: the place of the depth in the list, writes from 6 on; `step` counts.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    let unit = session.unit();
    let bytes = session.device.info().sector_bytes;
    let sectors = (4096 / bytes).max(unit as u32);
    let places = session.sectors() / u64::from(sectors);
    let modes: &[Mode] =
        if session.device.info().writable { &[Mode::Read, Mode::Write] } else { &[Mode::Read] };
    for (which, &mode) in modes.iter().enumerate() {
        for (place, depth) in DEPTHS.into_iter().enumerate() {
            let series = (which * DEPTHS.len() + place) as u32;
            if context.done.contains(&series) {
                continue;
            }
            for chunk in 0..ACCESSES / CHUNK {
                let accesses: Vec<Access> = (0..CHUNK)
                    .map(|_| Access { mode, lba: session.below(places) * u64::from(sectors), sectors })
                    .collect();
                match session.device.queued(&accesses, depth) {
                    Ok(windows) => {
                        for (index, (access, window)) in accesses.iter().zip(windows).enumerate() {
                            let step = (chunk * CHUNK + index) as i64;
                            session.note((series, step), Role::Measure, *access, depth, window, true)?;
                        }
                    }
                    Err(error) if error.is_of_one_access() => {
                        // Which of them failed shows one by one.
                        for (index, access) in accesses.iter().enumerate() {
                            let step = (chunk * CHUNK + index) as i64;
                            session.take((series, step), Role::Prepare, *access)?;
                        }
                    }
                    Err(error) => return Err(error),
                }
                session.begin()?;
            }
            session.device.flush()?;
        }
    }
    Ok(())
}
