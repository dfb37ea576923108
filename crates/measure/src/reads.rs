//! The reads that show a cache, served once more by a rebuilt drive: sequential ones, those of several sizes, and those that ask what
//! is kept and what was read ahead.

use crate::MeasureError;
use crate::device::{Access, Device, SimulatedDevice};
use crate::reading::rotation::rotation;
use crate::record::series::{cache, overhead};
use crate::record::{ProbeName, Record, Role, Sample};
use headstack_drive::spec::{DriveSpec, RecalibrationMode, RecalibrationSpec};
use headstack_system::{System, SystemConfig};
use std::sync::Arc;

/// Late completions that are rarer than this share are not worth a word.
pub(crate) const RARELY_LATE: f64 = 1e-3;
/// One was seen late that took longer than it does on a rebuilt drive by so much of a turn: what waits for a skew does not.
const LATE_TURNS: f64 = 0.25;
/// Of streams, which may be gigabytes, the first accesses.
const MOST: usize = 10_000;

/// Reads of more than a sector here and there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Each continues the one before.
    Sequential,
    /// Of several sizes, anywhere.
    Anywhere,
}

/// What a read took, and takes on a rebuilt drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again<'a> {
    pub(crate) sample: &'a Sample,
    pub(crate) kind: Option<Kind>,
    /// On the rebuilt drive, in ms.
    pub(crate) ms: f64,
}

/// The accesses of a probe, in their order.
pub(crate) struct Reads<'a> {
    samples: Vec<&'a Sample>,
    /// Where some completions were seen late: those that took so much longer than now, in ms.
    late_ms: Option<f64>,
}

impl<'a> Reads<'a> {
    /// `None` where there are none.
    pub(crate) fn of(record: &'a Record, probe: ProbeName) -> Option<Self> {
        let samples: Vec<&Sample> = record.of(probe).take(MOST).collect();
        let late = rotation(record).filter(|rotation| rotation.late_share >= RARELY_LATE);
        let late_ms = late.map(|rotation| LATE_TURNS * rotation.turn_ms);
        (!samples.is_empty()).then_some(Self { samples, late_ms })
    }

    /// What the reads take on a drive, without stalls, which come by chance. Each access begins as long after the one before as it did:
    /// so its sector comes by as it did, too. One that was seen late is followed by as long a rest:
    /// meanwhile the drive read on.
    pub(crate) fn by(&self, spec: &DriveSpec) -> Result<Vec<Again<'a>>, MeasureError> {
        let system = System::new(SystemConfig::of_drive("rebuilt", without_stalls(spec)))?;
        let mut device = SimulatedDevice::new("rebuilt", &Arc::new(system), 1)?;
        let sectors = device.info().sectors;
        let (mut all, mut before) = (Vec::with_capacity(self.samples.len()), None::<&Sample>);
        let mut free = device.now();
        for &sample in &self.samples {
            let pause = before.map(|before| sample.start.saturating_sub(before.end)).unwrap_or_default();
            if sample.sectors == 0 {
                device.flush()?;
            } else if sample.lba + u64::from(sample.sectors) <= sectors {
                device.wait_until(free.max(device.now()) + pause)?;
                let access = Access { mode: sample.mode, lba: sample.lba, sectors: sample.sectors };
                let window = device.access(access)?;
                let longer_ms = sample.latency_ms() - (window.end - window.start).as_ms();
                if self.late_ms.is_some_and(|late_ms| longer_ms > late_ms) {
                    free = window.start + (sample.end - sample.start);
                }
                if !sample.mode.is_write() {
                    let ms = (window.end - window.start).as_ms();
                    all.push(Again { sample, kind: kind(sample, before), ms });
                }
            }
            before = Some(sample);
        }
        Ok(all)
    }
}

/// The same drive, which never recalibrates: when it does is chance.
pub(crate) fn without_stalls(spec: &DriveSpec) -> DriveSpec {
    let recalibration = RecalibrationSpec { mode: RecalibrationMode::None, ..spec.recalibration.clone() };
    DriveSpec { recalibration, ..spec.clone() }
}

/// What a read is, behind the access before it.
fn kind(sample: &Sample, before: Option<&Sample>) -> Option<Kind> {
    let continues = before.is_some_and(|before| {
        before.lba + u64::from(before.sectors) == sample.lba && before.sectors == sample.sectors
    });
    match (sample.probe, sample.series) {
        (ProbeName::Cache, cache::PACE | cache::SEQUENTIAL) | (ProbeName::Stream, _) => {
            (continues && sample.role == Role::Measure).then_some(Kind::Sequential)
        }
        (ProbeName::Cache, cache::SIZES) => Some(Kind::Anywhere),
        // The second of two reads of the same sectors shows the cache, and no more of the media.
        (ProbeName::Overhead, overhead::FROM_CACHE) if sample.role == Role::Position => Some(Kind::Anywhere),
        (ProbeName::Overhead, overhead::FROM_MEDIA) if sample.role == Role::Measure => Some(Kind::Anywhere),
        _ => None,
    }
}
