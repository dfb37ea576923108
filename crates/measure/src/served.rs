//! The writes that fill a write cache, served once more by a rebuilt drive.

use crate::MeasureError;
use crate::angles::sighting::{Sighting, angle_of};
use crate::angles::spindle::{Spindle, wrap};
use crate::device::{Access, Device, Mode, SimulatedDevice, Window};
use crate::reading::{fill, pieces};
use crate::record::series::write_cache::SMALL;
use crate::record::{ProbeName, Record, Role, Sample};
use headstack_drive::spec::DriveSpec;
use headstack_system::{System, SystemConfig};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A cache is told by no more writes than this: to fill it again takes too long.
const MOST_WRITES: usize = 12_000;

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

/// The writes that fill the cache, and what the probe asked for before the small ones: large ones are written into an empty cache.
pub(crate) struct Served<'a> {
    /// The series of the writes.
    series: u32,
    /// All accesses.
    pub(crate) samples: Vec<&'a Sample>,
    /// A sector that was written, and its angle, in turns.
    sector: (Access, f64),
    spindle: Spindle,
    /// The writes that fill it.
    pub(crate) writes: Vec<&'a Sample>,
}

impl<'a> Served<'a> {
    /// `None` where there are none, or too many, and where one failed.
    pub(crate) fn of(record: &'a Record, series: u32) -> Option<Self> {
        let spindle = pieces::spindle(record)?;
        let first = if series == SMALL { 0 } else { series };
        let asked = record.of(ProbeName::WriteCache);
        let samples: Vec<&Sample> =
            asked.filter(|sample| (first..=series).contains(&sample.series)).collect();
        let fills = |sample: &&Sample| sample.series == series && sample.role == Role::Measure;
        let writes: Vec<&Sample> = samples.iter().copied().filter(fills).collect();
        let sector = sector(record, spindle)?;
        let known = !writes.is_empty() && writes.len() <= MOST_WRITES;
        (known && samples.iter().all(|sample| sample.ok)).then_some(Self {
            series,
            samples,
            sector,
            spindle,
            writes,
        })
    }

    /// What the writes took, in ms.
    pub(crate) fn measured(&self) -> Vec<f64> {
        self.writes.iter().map(|sample| sample.latency_ms()).collect()
    }

    /// What they take on a drive, in ms.
    pub(crate) fn by(&self, spec: DriveSpec) -> Result<Vec<f64>, MeasureError> {
        let all = self.serve(spec, usize::MAX)?;
        Ok(all.into_iter().map(|window| (window.end - window.start).as_ms()).collect())
    }

    /// From one completion to the next on a drive, in ms, of the writes that wait: those from `count` on, each issued when
    /// the one before is complete.
    pub(crate) fn pace_ms(&self, spec: DriveSpec, count: usize) -> Result<f64, MeasureError> {
        let all = self.serve(spec, count)?;
        let waiting = &all[count.min(all.len() - 1)..];
        Ok(fill::pace_ms(&waiting.iter().map(|window| window.end.as_ms()).collect::<Vec<f64>>()))
    }

    /// The writes as a drive serves them. Behind number `own` each is issued when the one before is complete.
    fn serve(&self, spec: DriveSpec, own: usize) -> Result<Vec<Window>, MeasureError> {
        let system = System::new(SystemConfig::of_drive("rebuilt", spec))?;
        let mut device = SimulatedDevice::new("rebuilt", &Arc::new(system), 1)?;
        let seen = device.access(self.sector.0)?;
        // Issued when they were, at the angles of then: one that was seen late is followed by as long a rest.
        let first = self.samples[0].start;
        let ahead = self.spindle.phase(seen.end) - self.sector.1;
        device.flush()?;
        let begin = self.spindle.next(device.now(), wrap(self.spindle.phase(first) + ahead));
        let mut windows = Vec::with_capacity(self.writes.len());
        let mut series = self.samples[0].series;
        for sample in &self.samples {
            if std::mem::replace(&mut series, sample.series) != sample.series {
                device.flush()?;
            }
            if windows.len() <= own {
                device.wait_until(begin + (sample.start - first))?;
            }
            let window = device.access(access(sample))?;
            if sample.series == self.series {
                windows.push(window);
            }
        }
        Ok(windows)
    }

    /// By how much what they take on a drive misses what they took, all together, in ms: one that is seen late counts for half a turn.
    pub(crate) fn misses_ms(&self, spec: DriveSpec) -> Result<f64, MeasureError> {
        let most = self.spindle.ms(0.5);
        let off = |(sample, ms): (&&Sample, &f64)| (sample.latency_ms() - ms).abs().min(most);
        Ok(self.writes.iter().zip(&self.by(spec)?).map(off).sum())
    }
}
