//! How large a write cache is: as large as that of a rebuilt drive that fills up as the measured one did. What goes to the media
//! meanwhile follows from the drive, and not from what it was like once the cache was full.

use crate::MeasureError;
use crate::reading::{fill, whole};
use crate::record::Record;
use crate::record::series::write_cache::SMALL;
use crate::served::Served;
use headstack_drive::spec::{DriveSpec, Provenance, ProvenanceKind, WritePolicy};

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

struct Filling<'a> {
    spec: &'a DriveSpec,
    /// The first estimate, in sectors.
    sectors: f64,
    served: Served<'a>,
    /// How many of the writes were quick.
    count: usize,
}

impl<'a> Filling<'a> {
    /// `None` where there is no cache that got full of its bytes, and where one write showed how many it holds.
    fn of(record: &'a Record, spec: &'a DriveSpec) -> Option<Self> {
        let WritePolicy::WriteBack { size_kib, runs: None, .. } = spec.write_policy else { return None };
        let sectors = size_kib * 1024.0 / f64::from(spec.sector_bytes);
        if whole::held(record).is_some_and(|held| held as f64 == sectors) {
            return None;
        }
        let served = Served::of(record)?;
        let count = fill::until_full(SMALL, &served.measured())?;
        Some(Self { spec, sectors, served, count })
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

    /// How many of the writes are quick.
    fn quick(&self, sectors: u64) -> Result<usize, MeasureError> {
        let latencies = self.served.by(self.with(sectors))?;
        Ok(fill::until_full(SMALL, &latencies).unwrap_or(latencies.len()))
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

    /// Of several sizes the one whose writes take what the measured ones took.
    fn nearest(&self, sizes: impl Iterator<Item = u64>) -> Result<Option<u64>, MeasureError> {
        let mut best: Option<(f64, u64)> = None;
        for sectors in sizes {
            let misses_ms = self.served.misses_ms(self.with(sectors))?;
            if best.is_none_or(|(least, _)| misses_ms < least) {
                best = Some((misses_ms, sectors));
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
        let step = (2 * reach / kib * self.served.samples.len() as u64).div_ceil(MOST_SERVED).max(1) * kib;
        let least = (near - reach.min(near)).next_multiple_of(kib).max(kib);
        let best = self.nearest((least..=near + reach).step_by(step as usize))?.unwrap_or(near);
        Ok(self.nearest(best.saturating_sub(kib).max(1)..=best + kib)?.unwrap_or(best))
    }
}
