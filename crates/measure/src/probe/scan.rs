//! `scan`: the surface from the first sector to the last, or an even share of it, in large reads. What fails is listed and not
//! read again.

use super::description::{Context, Outlook, Probe, Writing};
use crate::MeasureError;
use crate::angles::session::Session;
use crate::device::{Access, DeviceInfo, Mode};
use crate::record::{ProbeName, Role};

pub(super) static SCAN: Probe = Probe {
    name: ProbeName::Scan,
    about: "the whole surface, or a share of it: unreadable and slow sectors (runs when named)",
    needs: &[],
    writes: Writing::Never,
    on_formula: false,
    resumes: true,
    expected_s,
    run,
};

/// Parts of the device, each read from its start on: a share is spread over all of them, and a scan goes on with the next.
const PARTS: u64 = 1000;
/// Bytes of a read: the smallest power of two with which a scan has no more reads than this, but at least …
const MOST_READS: u64 = 1 << 20;
/// … these, …
const LEAST_BYTES: u64 = 128 << 10;
/// … and at most.
const MOST_BYTES: u64 = 64 << 20;

fn expected_s(outlook: &Outlook<'_>) -> f64 {
    let share = outlook.scope.scan_share;
    let reads = share * outlook.device.sectors.div_ceil(block(outlook.device)) as f64;
    let seeks_s = if share < 1.0 { reads.min(PARTS as f64) * 2.0 * outlook.revolution_s } else { 0.0 };
    share * outlook.device.bytes() as f64 / outlook.bytes_per_s + seeks_s
}

/// Sectors of a read.
fn block(device: &DeviceInfo) -> u64 {
    let bytes = (device.bytes() / MOST_READS).next_power_of_two().clamp(LEAST_BYTES, MOST_BYTES);
    (bytes / u64::from(device.sector_bytes)).next_multiple_of(device.unit()).max(1)
}

/// One series for each part; `step` is the read within it.
fn run(session: &mut Session<'_>, context: &Context) -> Result<(), MeasureError> {
    let (sectors, block) = (session.sectors(), block(session.device.info()));
    let blocks = sectors.div_ceil(block);
    let first_of = |part: u64| blocks * part / PARTS;
    // Counted from the beginning: of parts of a few reads, some are left out, where rounding up each would read more than was asked.
    let wanted_before = |part: u64| (first_of(part) as f64 * context.scope.scan_share).ceil() as u64;
    for part in (0..PARTS).filter(|&part| !context.done.contains(&(part as u32))) {
        for step in 0..wanted_before(part + 1) - wanted_before(part) {
            let lba = (first_of(part) + step) * block;
            let access = Access { mode: Mode::Read, lba, sectors: block.min(sectors - lba) as u32 };
            session.take((part as u32, step as i64), Role::Measure, access)?;
        }
    }
    Ok(())
}
