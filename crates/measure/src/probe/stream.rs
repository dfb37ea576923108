//! `stream`: files of several sizes, read and written in records of several sizes (Vickovic, Celar & Mudnic 2010, section 3).

use super::description::{Context, Outlook, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::Access;
use crate::record::{ProbeName, Role};
use crate::streams::{Cell, series_of};

pub(super) static STREAM: Probe = Probe {
    name: ProbeName::Stream,
    about: "throughput of streams, by the sizes of file and record (runs when named)",
    needs: &[],
    writes: Writing::WhereAllowed,
    on_formula: false,
    resumes: true,
    expected_s,
    run,
};

/// What a device streams, in bytes per second, and what it takes for each transfer, in s.
const SOME_RATE: f64 = 60e6;
const SOME_COMMAND_S: f64 = 20e-6;

fn expected_s(outlook: &Outlook<'_>) -> f64 {
    let device = outlook.device;
    let grid = &outlook.scope.streams;
    let once = grid.cells(device).into_iter().map(|cell| {
        let bytes = cell.file_sectors() as f64 * f64::from(device.sector_bytes);
        bytes / SOME_RATE + cell.records as f64 * SOME_COMMAND_S
    });
    once.sum::<f64>() * f64::from(grid.repeats)
}

/// One series for each file; `step` is the record within it. The first repeat lies at the start, each further one behind the
/// one before, as long as the device goes on. What was written is read at once: whatever holds it then shows.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    let grid = &context.scope.streams;
    let cells = grid.cells(session.device.info());
    for files in cells.chunk_by(Cell::shares_files) {
        for repeat in 0..grid.repeats {
            for cell in files {
                let series = series_of(cell.number, repeat);
                if !context.done.contains(&series) {
                    file(session, cell, repeat, series)?;
                }
            }
        }
    }
    Ok(())
}

fn file(session: &mut Session<'_>, cell: &Cell, repeat: u32, series: u32) -> Result<(), MeasureError> {
    let sectors = cell.file_sectors();
    let first = u64::from(repeat) % (session.sectors() / sectors).max(1) * sectors;
    for record in 0..cell.records {
        let lba = first + record * u64::from(cell.record_sectors);
        let access = Access { mode: cell.mode, lba, sectors: cell.record_sectors };
        session.take((series, record as i64), Role::Measure, access)?;
    }
    // The file is written when it is on the media.
    if cell.mode.is_write() { session.flush((series, cell.records as i64)) } else { Ok(()) }
}
