//! How large a write cache is: as large as that of a rebuilt drive that fills up as the measured one did. What goes to the media
//! meanwhile follows from the drive, and not from what it was like once the cache was full.

use crate::MeasureError;
use crate::angles::sighting::{Sighting, angle_of};
use crate::angles::spindle::{Spindle, wrap};
use crate::device::{Access, Device, Mode, SimulatedDevice};
use crate::reading::{fill, pieces, whole};
use crate::record::series::write_cache::SMALL;
use crate::record::{ProbeName, Record, Role, Sample};
use headstack_drive::spec::{DriveSpec, Provenance, ProvenanceKind, WritePolicy};
use headstack_system::{System, SystemConfig};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A cache that is told by so many writes is as large as filling it said; beyond, filling it again takes too long.
const MOST_WRITES: usize = 12_000;
/// How much smaller or larger it may be than a first estimate.
const TIMES: f64 = 4.0;
/// Sizes are compared that differ by no more than one part in so many from that which fills up at the same write, as many as serve so
/// many accesses together.
const AROUND: u64 = 10;
const MOST_SERVED: u64 = 1_200_000;

/// The same drive with the cache that fills up when the measured one did.
///
/// # Errors
/// [`MeasureError::System`] if the drive cannot be simulated.
pub(crate) fn filled(record: &Record, spec: DriveSpec) -> Result<DriveSpec, MeasureError> {
    let Some(filling) = Filling::of(record, &spec) else { return Ok(spec) };
    let sectors = filling.size()?;
    Ok(filling.with(sectors))
}

fn access(sample: &Sample) -> Access {
    Access { mode: sample.mode, lba: sample.lba, sectors: sample.sectors }
}

/// Of the sectors that were written to the media while tracks were followed the one that was written most often, and its angle.
fn sector(record: &Record, spindle: Spindle) -> Option<(Access, f64)> {
    let mut seen: BTreeMap<u64, Vec<&Sample>> = BTreeMap::new();
    let forced = |sample: &&Sample| sample.mode == Mode::WriteForced && sample.role == Role::Measure;
    for sample in record.of(ProbeName::Tracks).filter(forced).filter(|sample| sample.ok) {
        seen.entry(sample.lba).or_default().push(sample);
    }
    let most = seen.into_values().max_by_key(Vec::len)?;
    let sightings: Vec<Sighting> = most.iter().map(|sample| Sighting::of(sample, spindle)).collect();
    Some((access(most[0]), angle_of(&sightings)))
}

struct Filling<'a> {
    spec: &'a DriveSpec,
    /// The first estimate, in sectors.
    sectors: f64,
    /// All accesses of the probe up to there.
    samples: Vec<&'a Sample>,
    /// A sector that was written, and its angle, in turns.
    sector: (Access, f64),
    spindle: Spindle,
    /// The writes that fill it.
    writes: Vec<&'a Sample>,
    /// How many of them were quick.
    count: usize,
}

impl<'a> Filling<'a> {
    /// `None` where there is no cache that got full of its bytes, and where one write showed how many it holds.
    fn of(record: &'a Record, spec: &'a DriveSpec) -> Option<Self> {
        let WritePolicy::WriteBack { size_kib, runs: None, .. } = spec.write_policy else { return None };
        let spindle = pieces::spindle(record)?;
        let samples: Vec<&Sample> =
            record.of(ProbeName::WriteCache).filter(|sample| sample.series <= SMALL).collect();
        let is_small = |sample: &&Sample| sample.series == SMALL && sample.role == Role::Measure;
        let writes: Vec<&Sample> = samples.iter().copied().filter(is_small).collect();
        let latencies: Vec<f64> = writes.iter().map(|sample| sample.latency_ms()).collect();
        let count = fill::until_full(SMALL, &latencies)?;
        let sector = sector(record, spindle)?;
        let sectors = size_kib * 1024.0 / f64::from(spec.sector_bytes);
        if whole::held(record).is_some_and(|held| held as f64 == sectors) {
            return None;
        }
        (writes.len() <= MOST_WRITES && samples.iter().all(|sample| sample.ok)).then_some(Self {
            spec,
            sectors,
            samples,
            sector,
            spindle,
            writes,
            count,
        })
    }

    /// The same drive with a cache of so many sectors.
    fn with(&self, sectors: u64) -> DriveSpec {
        let mut spec = self.spec.clone();
        if let WritePolicy::WriteBack { size_kib, .. } = &mut spec.write_policy {
            *size_kib = sectors as f64 * f64::from(spec.sector_bytes) / 1024.0;
        }
        let source =
            "probe write-cache: with a cache of this size the drive fills up as the measured one did";
        let measured = Provenance { kind: ProvenanceKind::Measured, source: source.to_owned() };
        spec.provenance.insert("write_policy.write-back.size_kib".to_owned(), measured);
        spec
    }

    /// What the writes take with a cache of so many sectors, in ms.
    fn latencies(&self, sectors: u64) -> Result<Vec<f64>, MeasureError> {
        let system = System::new(SystemConfig::of_drive("rebuilt", self.with(sectors)))?;
        let mut device = SimulatedDevice::new("rebuilt", &Arc::new(system), 1)?;
        let seen = device.access(self.sector.0)?;
        // Issued when they were, at the angles of then: one that was seen late is followed by as long a rest.
        let first = self.samples[0].start;
        let ahead = self.spindle.phase(seen.end) - self.sector.1;
        device.flush()?;
        let begin = self.spindle.next(device.now(), wrap(self.spindle.phase(first) + ahead));
        let mut latencies = Vec::with_capacity(self.writes.len());
        let mut series = self.samples[0].series;
        for sample in &self.samples {
            if std::mem::replace(&mut series, sample.series) != sample.series {
                device.flush()?;
            }
            device.wait_until(begin + (sample.start - first))?;
            let window = device.access(access(sample))?;
            if sample.series == SMALL {
                latencies.push((window.end - window.start).as_ms());
            }
        }
        Ok(latencies)
    }

    /// How many of the writes are quick.
    fn quick(&self, sectors: u64) -> Result<usize, MeasureError> {
        Ok(fill::until_full(SMALL, &self.latencies(sectors)?).unwrap_or(self.writes.len()))
    }

    /// The largest size of which no more writes are quick than of the measured one.
    fn filled(&self) -> Result<u64, MeasureError> {
        let (mut low, mut high) = ((self.sectors / TIMES) as u64, (self.sectors * TIMES) as u64 + 1);
        while low + 1 < high {
            let middle = u64::midpoint(low, high);
            *(if self.quick(middle)? > self.count { &mut high } else { &mut low }) = middle;
        }
        Ok(low.max(1))
    }

    /// Of several sizes the one whose writes take what the measured ones took: one that is seen late counts for half a turn.
    fn nearest(&self, sizes: impl Iterator<Item = u64>) -> Result<Option<u64>, MeasureError> {
        let most = self.spindle.ms(0.5);
        let mut best: Option<(f64, u64)> = None;
        for sectors in sizes {
            let latencies = self.latencies(sectors)?;
            let off = |(sample, ms): (&&Sample, &f64)| (sample.latency_ms() - ms).abs().min(most);
            let all: f64 = self.writes.iter().zip(&latencies).map(off).sum();
            if best.is_none_or(|(least, _)| all < least) {
                best = Some((all, sectors));
            }
        }
        Ok(best.map(|(_, sectors)| sectors))
    }

    /// The size in sectors. Once one write goes to the media in another order, all behind it take other times: which of the sizes
    /// around that which fills up at the same write is right shows at once.
    fn size(&self) -> Result<u64, MeasureError> {
        let (near, kib) = (self.filled()?, (1024 / u64::from(self.spec.sector_bytes)).max(1));
        // Where the rebuilt drive fills up at no size as the device did, the first estimate stays.
        if near as f64 >= TIMES * self.sectors || (near as f64) < self.sectors / TIMES {
            return Ok(self.sectors.round() as u64);
        }
        let reach = (near / AROUND).max(2 * kib);
        let step = (2 * reach / kib * self.samples.len() as u64).div_ceil(MOST_SERVED).max(1) * kib;
        let least = (near - reach.min(near)).next_multiple_of(kib).max(kib);
        let best = self.nearest((least..=near + reach).step_by(step as usize))?.unwrap_or(near);
        Ok(self.nearest(best.saturating_sub(kib).max(1)..=best + kib)?.unwrap_or(best))
    }
}
