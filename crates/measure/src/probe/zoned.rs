//! `zoned`: streams, here and there or through the whole device (Talagala et al. 1999, section 4.2).

use super::description::{Context, Outlook, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::{Access, Mode};
use crate::record::{ProbeName, Role};

pub(super) static ZONED: Probe = Probe {
    name: ProbeName::Zoned,
    about: "bandwidth over the device (Zoned)",
    needs: &[],
    writes: Writing::Never,
    on_formula: true,
    resumes: true,
    expected_s,
    run,
};

/// Places where bandwidth is measured.
const LOCATIONS: u64 = 240;
/// Bytes read at each, at most, and …
const SPAN_BYTES: u64 = 4 << 20;
/// … of what lies up to the next one, where that is little.
const SHARE: u64 = 4;
const LEAST_BLOCKS: u64 = 8;
/// Bytes in one read.
const BLOCK_BYTES: u64 = 128 << 10;

fn expected_s(outlook: &Outlook<'_>) -> f64 {
    let (device, revolution_s) = (outlook.device, outlook.revolution_s);
    let span = span(outlook.scope.whole_device, device.bytes() / LOCATIONS, BLOCK_BYTES, 1);
    LOCATIONS as f64 * (span as f64 / outlook.bytes_per_s + 2.0 * revolution_s)
}

/// How much is read at each place, of `pitch` up to the next one; all in units of `unit_bytes`.
fn span(whole: bool, pitch: u64, block: u64, unit_bytes: u64) -> u64 {
    if whole {
        return pitch;
    }
    (SPAN_BYTES / unit_bytes).min((pitch / SHARE).max(LEAST_BLOCKS * block)).min(pitch)
}

/// One series for each place, outermost first; `step` is the block within it. The first block pays for the way there.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    let bytes = u64::from(session.device.info().sector_bytes);
    let unit = session.unit();
    let block = (BLOCK_BYTES / bytes).next_multiple_of(unit).max(unit);
    let pitch = session.sectors() / LOCATIONS;
    let span = span(context.scope.whole_device, pitch, block, bytes);
    for series in 0..LOCATIONS {
        if context.done.contains(&(series as u32)) {
            continue;
        }
        let first = (series * pitch).next_multiple_of(unit);
        for step in 0..(span / block).max(1) {
            let lba = first + step * block;
            if lba + block > session.sectors() {
                break;
            }
            let access = Access { mode: Mode::Read, lba, sectors: block as u32 };
            // A place that cannot be read is left at once: whatever it is, it may be large.
            if session.take((series as u32, step as i64), Role::Measure, access)?.is_none() {
                break;
            }
        }
    }
    Ok(())
}
