//! A look at a device before anything is measured: a few reads say roughly how fast it is, so that it can be said how long a
//! measurement will take.

use crate::MeasureError;
use crate::angles::median::{median, spread};
use crate::device::{Access, Device, Mode};
use crate::reading::known;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Reads of a sector, near each other.
const READS: usize = 96;
/// Within this share of the device, where seeks are short and all about as long.
const NEARBY: u64 = 64;
/// Reads of one sector, which all take the same but for what is misread, and late.
const AGAIN: usize = 200;
/// The first of them are left out.
const FIRST: usize = 4;
/// What takes longer than most by this share, and so many times what they differ by, is late.
const LATE: f64 = 0.2;
const TIMES_SPREAD: f64 = 10.0;

/// Reads one behind the other, and the bytes of each.
const BLOCKS: u64 = 24;
const BLOCK_BYTES: u64 = 128 << 10;

/// What a look shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// Time of a revolution, if it is one, in s.
    pub(crate) revolution_s: f64,
    /// What the device streams, in bytes per second.
    pub(crate) bytes_per_s: f64,
    /// How many measurements of an angle will have to agree.
    pub(crate) repetitions: usize,
}

impl Look {
    /// Reads here and there.
    pub(crate) fn at(device: &mut dyn Device) -> Result<Self, MeasureError> {
        let (revolution_s, bytes_per_s) = (revolution_s(device)?, bytes_per_s(device)?);
        Ok(Self { revolution_s, bytes_per_s, repetitions: 1 })
    }

    /// The same, and how exactly a host sees completions.
    pub(crate) fn with_noise(device: &mut dyn Device) -> Result<Self, MeasureError> {
        Ok(Self { repetitions: needed(device)?, ..Self::at(device)? })
    }
}

/// What a read takes, in s; `None` if it failed.
fn read(device: &mut dyn Device, lba: u64, sectors: u64) -> Result<Option<f64>, MeasureError> {
    match device.access(Access { mode: Mode::Read, lba, sectors: sectors as u32 }) {
        Ok(window) => Ok(Some((window.end - window.start).as_s())),
        Err(error) if error.is_of_one_access() => Ok(None),
        Err(error) => Err(error),
    }
}

/// How many measurements of an angle will have to agree, by reads of one sector: a cache answers them, or each waits a turn.
fn needed(device: &mut dyn Device) -> Result<usize, MeasureError> {
    let unit = device.info().unit();
    let lba = device.info().sectors / 2 / unit * unit;
    let mut times = Vec::with_capacity(AGAIN);
    for again in 0..AGAIN {
        // The first ones bring the sector into a cache.
        times.extend(read(device, lba, unit)?.filter(|_| again >= FIRST));
    }
    if times.is_empty() {
        return Ok(1);
    }
    let (usual, off) = (median(&times), spread(&times));
    let late = times.iter().filter(|&&time| time - usual > (LATE * usual).max(TIMES_SPREAD * off)).count();
    // A wait for a sector is half a turn on average, and misread in proportion.
    Ok(known::repetitions(0.5 * off / usual, late as f64 / times.len() as f64))
}

/// Reads of sectors at all angles: what they wait for them is spread evenly over a revolution.
fn revolution_s(device: &mut dyn Device) -> Result<f64, MeasureError> {
    let (sectors, unit) = (device.info().sectors, device.info().unit());
    let places = (sectors / NEARBY / unit).max(1);
    let mut random = Pcg64::seed_from_u64(0x006c_6f6f_6b21);
    let mut times = Vec::with_capacity(READS);
    for _ in 0..READS {
        let lba = sectors / 2 / unit * unit + random.random_range(0..places) * unit;
        times.extend(read(device, lba.min(sectors - unit), unit)?);
    }
    times.sort_unstable_by(f64::total_cmp);
    let Some(most) = times.len().checked_sub(1 + times.len() / 10) else { return Ok(0.0) };
    Ok((times[most] - times[times.len() / 10]) / 0.8)
}

fn bytes_per_s(device: &mut dyn Device) -> Result<f64, MeasureError> {
    let (all, bytes) = (device.info().sectors, u64::from(device.info().sector_bytes));
    let sectors = (BLOCK_BYTES / bytes).next_multiple_of(device.info().unit()).max(1);
    let (mut done, mut spent_s) = (0, 0.0);
    // In the middle of the device, where it is neither fastest nor slowest; the first block pays for the way there.
    let start = all / 2 / sectors * sectors;
    for block in 0..BLOCKS.min((all - start) / sectors) {
        if let Some(s) = read(device, start + block * sectors, sectors)?.filter(|_| block > 0) {
            done += sectors * bytes;
            spent_s += s;
        }
    }
    Ok(if spent_s > 0.0 { done as f64 / spent_s } else { 0.0 })
}
