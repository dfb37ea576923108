//! How large a write cache is: as large as that of a rebuilt drive that fills up as the measured one did. What goes to the media
//! meanwhile follows from the drive, and not from what it was like once the cache was full.

use crate::MeasureError;
use crate::reading::fill;
use crate::reading::whole::{self, Foretold};
use crate::record::Record;
use crate::record::series::write_cache::{LARGE, SMALL};
use crate::served::Served;
use headstack_drive::spec::{DriveSpec, Provenance, ProvenanceKind, WritePolicy};

/// How much smaller or larger it may be than a first estimate.
const TIMES: f64 = 4.0;
/// Sizes are compared that differ by no more than one part in so many from that which fills up at the same write, as many as serve so
/// many accesses together.
const AROUND: u64 = 10;
const MOST_SERVED: u64 = 1_200_000;
/// Large writes show sizes that differ by one of so many parts of a write.
const FINER: u64 = 4;
/// Full caches are emptied at the same pace if what writes take on average differs by less than this share.
const SAME_PACE: f64 = 0.1;
/// Otherwise these numbers of compared writes are tried.
const COMPARED: [u32; 8] = [1, 2, 3, 4, 6, 10, 20, 50];

/// The same drive with the cache that fills up when the measured one did, and that is emptied as fast once it is full.
///
/// # Errors
/// [`MeasureError::System`] if the drive cannot be simulated.
pub(crate) fn filled(record: &Record, spec: DriveSpec) -> Result<DriveSpec, MeasureError> {
    let Some(mut filling) = Filling::of(record, &spec) else { return Ok(spec) };
    let sized = filling.sized()?;
    // How many are compared is asked only where all of them are not.
    if filling.off(sized.clone())?.abs() < SAME_PACE || !filling.compare()? {
        return Ok(sized);
    }
    let other = filling.sized()?;
    let misses_ms = |spec: &DriveSpec| filling.served.misses_ms(spec.clone());
    Ok(if misses_ms(&other)? < misses_ms(&sized)? { other } else { sized })
}

/// Writes that find the cache full, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) sectors: u32,
    /// From one completion to the next on the device, in ms, …
    pub(crate) measured_ms: f64,
    /// … and on a rebuilt drive.
    pub(crate) model_ms: f64,
}

impl Pace {
    /// Of a record that fills a cache and a drive with one; `None` where there is none.
    ///
    /// # Errors
    /// [`MeasureError::System`] if the drive cannot be simulated.
    pub(crate) fn of(record: &Record, spec: &DriveSpec) -> Result<Option<Self>, MeasureError> {
        let Some(filling) = Filling::of(record, spec) else { return Ok(None) };
        let model_ms = filling.served.pace_ms(spec.clone(), filling.count)?;
        let sectors = filling.served.writes[0].sectors;
        Ok(Some(Self { sectors, measured_ms: filling.each_ms, model_ms }))
    }

    /// Whether both are the same, within what so few writes show.
    pub(crate) fn is_same(self) -> bool {
        (self.model_ms / self.measured_ms - 1.0).abs() < SAME_PACE
    }
}

/// The same drive with memory for its write cache.
pub(crate) fn with_memory(mut spec: DriveSpec) -> DriveSpec {
    if let WritePolicy::WriteBack { size_kib, .. } = spec.write_policy
        && size_kib > spec.buffer.size_kib
    {
        spec.buffer.size_kib = size_kib.ceil();
        let source = "no less than the write cache holds".to_owned();
        let assumed = Provenance { kind: ProvenanceKind::Assumed, source };
        spec.provenance.insert("buffer.size_kib".to_owned(), assumed);
    }
    spec
}

struct Filling<'a> {
    spec: DriveSpec,
    /// The first estimate, in sectors.
    sectors: f64,
    /// Whether one write showed that.
    is_exact: bool,
    served: Served<'a>,
    /// Where large writes fill it, what one takes that does not wait, in ms.
    foretold_ms: Option<f64>,
    series: u32,
    /// How many of the writes are quick.
    count: usize,
    /// From one completion of those that wait to the next, in ms.
    each_ms: f64,
}

impl<'a> Filling<'a> {
    /// `None` where there is no cache that got full of its bytes.
    fn of(record: &'a Record, spec: &DriveSpec) -> Option<Self> {
        let WritePolicy::WriteBack { size_kib, runs: None, .. } = spec.write_policy else { return None };
        let sectors = size_kib * 1024.0 / f64::from(spec.sector_bytes);
        let pace = |series: u32| fill::fill(record, series)?.each_ms.map(|each_ms| (series, each_ms));
        let (series, each_ms) = [SMALL, LARGE].into_iter().find_map(pace)?;
        let served = Served::of(record, series)?;
        let of_large = |foretold: Foretold| foretold.ms(u64::from(served.writes[0].sectors));
        let mut filling = Self {
            spec: spec.clone(),
            sectors,
            is_exact: whole::held(record).is_some_and(|held| held as f64 == sectors),
            foretold_ms: Foretold::of(record).map(of_large),
            served,
            series,
            count: 0,
            each_ms,
        };
        filling.count = filling.until_full(&filling.served.measured())?;
        Some(filling)
    }

    fn until_full(&self, latencies_ms: &[f64]) -> Option<usize> {
        if self.series == SMALL {
            fill::until_full(SMALL, latencies_ms)
        } else {
            fill::until_large_full(latencies_ms, self.foretold_ms)
        }
    }

    /// How many cached writes are compared for the next one that goes to the media: as many as empty a full cache at the pace
    /// of the measured one. Says whether any number does so much better than all.
    fn compare(&mut self) -> Result<bool, MeasureError> {
        let mut best = (self.off(self.spec.clone())?.abs() / 2.0, None);
        for compared in COMPARED {
            let off = self.off(self.comparing(Some(compared)))?.abs();
            if off < best.0 {
                best = (off, Some(compared));
            }
        }
        if best.1.is_some() {
            self.spec = self.comparing(best.1);
            let source = "probe write-cache: with so many compared random writes into a full cache take what they took";
            let fitted = Provenance { kind: ProvenanceKind::Fitted, source: source.to_owned() };
            self.spec.provenance.insert("write_policy.write-back.runs_compared".to_owned(), fitted);
        }
        Ok(best.1.is_some())
    }

    /// The same drive, comparing so many cached writes.
    fn comparing(&self, compared: Option<u32>) -> DriveSpec {
        let mut spec = self.spec.clone();
        if let WritePolicy::WriteBack { runs_compared, .. } = &mut spec.write_policy {
            *runs_compared = compared;
        }
        spec
    }

    /// By how much more writes into the full cache take on a drive than they took, as a share.
    fn off(&self, spec: DriveSpec) -> Result<f64, MeasureError> {
        Ok(self.served.pace_ms(spec, self.count)? / self.each_ms - 1.0)
    }

    /// The same drive with the cache that fills up when the measured one did.
    fn sized(&self) -> Result<DriveSpec, MeasureError> {
        if self.is_exact { Ok(self.spec.clone()) } else { Ok(self.with(self.size()?)) }
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
        Ok(self.until_full(&latencies).unwrap_or(latencies.len()))
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
        let each = u64::from(self.served.writes[0].sectors) / kib / FINER;
        let step =
            (2 * reach / kib * self.served.samples.len() as u64).div_ceil(MOST_SERVED).max(each).max(1) * kib;
        let least = (near - reach.min(near)).next_multiple_of(kib).max(kib);
        let best = self.nearest((least..=near + reach).step_by(step as usize))?.unwrap_or(near);
        Ok(self.nearest(best.saturating_sub(kib).max(1)..=best + kib)?.unwrap_or(best))
    }
}
