//! What a read cache is like, as far as how far behind a read it answers leaves that open: of drives that would answer as far, the one that
//! replays the recorded reads best.

use crate::MeasureError;
use crate::angles::median::median;
use crate::angles::spindle::Spindle;
use crate::memory::HitTimes;
use crate::reading::ahead::{Ahead, Reach, pace_ms, reach};
use crate::reading::hits::{hit_times, shares};
use crate::reading::pieces;
use crate::reads::{Again, Kind, Reads};
use crate::record::series::cache::{AHEAD, AHEAD_SEQUENTIAL};
use crate::record::{ProbeName, Record};
use headstack_drive::spec::{
    BufferSpec, CacheSpec, DriveSpec, OverheadsByHistory, Provenance, ProvenanceKind, ReadAhead,
};

/// Another one takes the place of what was found where reads miss by less than this share of what they missed, and by more than one that
/// is seen late would make of it.
const BETTER: f64 = 0.98;
/// A hit within a stream that takes as much longer or shorter than others, in ms.
const LEAST_LATER_MS: f64 = 0.02;
/// Segments are tried so many times as large as what was found, where nothing bounds them from above.
const LARGER: [f64; 2] = [2.0, 4.0];
/// How often all of it is chosen.
const ROUNDS: usize = 2;
/// Sizes that are tried between two bounds, beside these.
const BETWEEN: u64 = 6;
/// A bus that is as fast as this, in 10⁶ bytes per second, does not show, nor what of a read must be in the buffer before it is sent.
const FAST_MB_PER_S: f64 = 1e4;
/// So much of a read may have to be in the buffer before it is sent: 1 KiB, and so many times twice as much.
const FENCES: u32 = 8;
/// What says how much that is.
const FENCE_PATHS: [&str; 2] = ["buffer.read_fence_kib", "buffer.read_fence_fraction"];

/// The same drive with the cache that replays the reads of the probes best.
///
/// # Errors
/// [`MeasureError::System`] if a drive cannot be simulated.
pub(crate) fn cached(record: &Record, spec: DriveSpec) -> Result<DriveSpec, MeasureError> {
    let (Some(found), Some(spindle)) = (spec.cache.clone(), pieces::spindle(record)) else { return Ok(spec) };
    let mut choice = Choice::of(record, spindle, spec)?;
    let bounds = Bounds::of(record, &choice.spec);
    let buffer = choice.spec.buffer.clone();
    // What is best of one depends on the other.
    for _ in 0..ROUNDS {
        for cache in bounds.candidates(&found) {
            choice.offer(|spec| spec.cache = Some(cache))?;
        }
        let misses_ms = choice.misses_ms;
        choice.stream_hits()?;
        for fence in fences(&choice.spec) {
            choice.offer(|spec| {
                spec.buffer = fence;
                // It is said of values that may be gone.
                spec.provenance.retain(|path, _| !FENCE_PATHS.contains(&path.as_str()));
            })?;
        }
        if choice.misses_ms == misses_ms {
            break;
        }
    }
    choice.note_cache(&bounds, &found);
    choice.note_fence(&buffer);
    Ok(choice.spec)
}

/// The best drive so far.
struct Choice<'a> {
    reads: Vec<Reads<'a>>,
    most_ms: f64,
    spec: DriveSpec,
    misses_ms: f64,
}

impl<'a> Choice<'a> {
    fn of(record: &'a Record, spindle: Spindle, spec: DriveSpec) -> Result<Self, MeasureError> {
        let probes = [ProbeName::Cache, ProbeName::Overhead];
        let reads = probes.iter().filter_map(|&probe| Reads::of(record, probe)).collect();
        // One that is seen late counts for half a turn.
        let mut choice = Self { reads, most_ms: spindle.ms(0.5), spec, misses_ms: 0.0 };
        choice.misses_ms = choice.misses_ms(&choice.spec)?;
        Ok(choice)
    }

    fn misses_ms(&self, spec: &DriveSpec) -> Result<f64, MeasureError> {
        let mut all = 0.0;
        for reads in &self.reads {
            let off = |again: Again<'_>| (again.sample.latency_ms() - again.ms).abs().min(self.most_ms);
            all += reads.by(spec)?.into_iter().map(off).sum::<f64>();
        }
        Ok(all)
    }

    /// Takes the changed drive if it is better.
    fn offer(&mut self, change: impl FnOnce(&mut DriveSpec)) -> Result<(), MeasureError> {
        let mut spec = self.spec.clone();
        change(&mut spec);
        let misses_ms = self.misses_ms(&spec)?;
        if misses_ms < (BETTER * self.misses_ms).min(self.misses_ms - self.most_ms) {
            (self.spec, self.misses_ms) = (spec, misses_ms);
        }
        Ok(())
    }

    /// Hits of reads that go on where the one before ended, while the drive reads ahead for them, may take less than other ones.
    fn stream_hits(&mut self) -> Result<(), MeasureError> {
        let mut later: Vec<(u32, f64)> = Vec::new();
        for reads in &self.reads {
            let all = reads.by(&self.spec)?;
            let sequential = all.iter().filter(|again| again.kind == Some(Kind::Sequential));
            later
                .extend(sequential.map(|again| (again.sample.sectors, again.sample.latency_ms() - again.ms)));
        }
        let Some(least) = later.iter().map(|read| read.0).min() else { return Ok(()) };
        let later: Vec<f64> = later.into_iter().filter(|read| read.0 == least).map(|read| read.1).collect();
        let later_ms = median(&later);
        if later_ms.abs() < LEAST_LATER_MS {
            return Ok(());
        }
        let before = self.misses_ms;
        self.offer(|spec| {
            let controller = &mut spec.controller;
            let hit_ms = controller.hit_overhead_ms.unwrap_or(controller.read_overhead_ms);
            let (read, write) = (controller.read_overhead_ms, controller.write_overhead_ms);
            let by_history = controller.by_history.get_or_insert(OverheadsByHistory {
                read_hit_ms: [hit_ms; 2],
                read_hit_at_rest_ms: None,
                stream_wait_ms: None,
                read_miss_ms: [read; 2],
                write_hit_ms: [write; 2],
                write_miss_ms: [write; 2],
                read_seek_after_ms: None,
                write_seek_after_ms: None,
            });
            by_history.read_hit_at_rest_ms.get_or_insert(by_history.read_hit_ms[0]);
            by_history.read_hit_ms[0] = (by_history.read_hit_ms[0] + later_ms).max(0.0);
        })?;
        if self.misses_ms < before {
            let source = "probe cache: sequential reads beside others that the cache answers";
            self.note("controller.by_history", ProvenanceKind::Measured, source.to_owned());
        }
        Ok(())
    }

    fn note(&mut self, path: &str, kind: ProvenanceKind, source: String) {
        self.spec.provenance.insert(path.to_owned(), Provenance { kind, source });
    }

    fn note_cache(&mut self, bounds: &Bounds, found: &CacheSpec) {
        let Some(cache) = self.spec.cache.clone() else { return };
        if cache.read_ahead != found.read_ahead
            || cache.read_ahead_over_requested != found.read_ahead_over_requested
        {
            let source = "probes cache and overhead: of several kinds that replays the reads best";
            self.note("cache.read_ahead", ProvenanceKind::Fitted, source.to_owned());
        }
        if let Some((least, most)) = bounds.kib().filter(|(least, most)| most - least > 1.0) {
            let source = format!(
                "between {least:.1} and {most:.1} KiB, by how far behind a read the cache answers: what replays the reads of probes cache and overhead best"
            );
            self.note("cache.segment_kib", ProvenanceKind::Fitted, source);
        }
    }

    fn note_fence(&mut self, found: &BufferSpec) {
        if self.spec.buffer != *found {
            let source = "probes cache and overhead: reads of several sizes replay best with that";
            let [kib, share] = FENCE_PATHS;
            let path = if self.spec.buffer.read_fence_fraction.is_some() { share } else { kib };
            self.note(path, ProvenanceKind::Fitted, source.to_owned());
        }
    }
}

/// How far behind a read the cache answers.
struct Bounds {
    alone: Option<Reach>,
    sequential: Option<Reach>,
    unit: u64,
    kib_per_sector: f64,
}

impl Bounds {
    fn of(record: &Record, spec: &DriveSpec) -> Self {
        let (times, pace) = (hit_times(record), pace_ms(record));
        let of = |series: u32| reach(&asked(record, series, &times), pace);
        Self {
            alone: of(AHEAD),
            sequential: of(AHEAD_SEQUENTIAL),
            unit: record.head.device.unit(),
            kib_per_sector: f64::from(spec.sector_bytes) / 1024.0,
        }
    }

    /// What a segment may hold, in KiB.
    fn kib(&self) -> Option<(f64, f64)> {
        let farther = self.alone.into_iter().chain(self.sequential).max_by_key(|reach| reach.at_least)?;
        let most = farther.at_most? + self.unit - 1;
        Some((farther.at_least as f64 * self.kib_per_sector, most as f64 * self.kib_per_sector))
    }

    /// Sizes that end read-ahead where it ended, in KiB: beside the read that was asked for (`kept`), or in its place.
    fn sizes(&self, reach: Option<Reach>, kept: bool) -> Vec<f64> {
        let Some((Reach { at_least, .. }, at_most)) = reach.and_then(|reach| Some((reach, reach.at_most?)))
        else {
            return Vec::new();
        };
        let beside = if kept { self.unit } else { 0 };
        let (least, most) = (at_least + beside, at_most - 1 + beside);
        let step = (most - least).div_ceil(BETWEEN + 1).max(1);
        let sizes = (least..most).step_by(step as usize).chain([most]);
        sizes.map(|sectors| sectors as f64 * self.kib_per_sector).collect()
    }

    /// Caches that answer as far as that one.
    fn candidates(&self, found: &CacheSpec) -> Vec<CacheSpec> {
        let mut all = Vec::new();
        for read_ahead in [
            ReadAhead::UntilFull,
            ReadAhead::Aggressive,
            ReadAhead::SequentialAware,
            ReadAhead::OnceSequential,
            ReadAhead::ToTrackEnd,
            ReadAhead::ToCylinderEnd,
        ] {
            let of_kind = CacheSpec { read_ahead, ..found.clone() };
            let alone = matches!(read_ahead, ReadAhead::UntilFull | ReadAhead::Aggressive);
            let reach = if alone { self.alone } else { self.sequential.or(self.alone) };
            all.push(of_kind.clone());
            let over = CacheSpec { read_ahead_over_requested: true, ..of_kind.clone() };
            if read_ahead == ReadAhead::UntilFull {
                all.push(over.clone());
                all.extend(self.sizes(reach, true).into_iter().map(|kib| sized(&of_kind, kib)));
                all.extend(self.sizes(reach, false).into_iter().map(|kib| sized(&over, kib)));
            } else {
                all.extend(self.sizes(reach, false).into_iter().map(|kib| sized(&of_kind, kib)));
            }
            if reach.is_none_or(|reach| reach.at_most.is_none()) {
                // It holds no less than what was found.
                let larger = LARGER.map(|times| sized(&of_kind, times * found.segment_kib));
                all.extend(larger);
            }
            // A segment may hold more than is read ahead.
            let limited = self.sizes(reach, false).into_iter().filter(|kib| *kib < found.segment_kib);
            all.extend(limited.map(|kib| CacheSpec { read_ahead_limit_kib: Some(kib), ..of_kind.clone() }));
        }
        all.retain(|cache| cache.read_ahead_limit_kib.is_none_or(|kib| kib <= cache.segment_kib));
        all
    }
}

fn sized(cache: &CacheSpec, segment_kib: f64) -> CacheSpec {
    CacheSpec { segment_kib, ..cache.clone() }
}

/// What each distance of a series showed.
fn asked(record: &Record, series: u32, times: &HitTimes) -> Vec<Ahead> {
    let distances = shares(record, series, times);
    distances.into_iter().map(|(sectors, _)| Ahead::of(record, (series, sectors), times)).collect()
}

/// How much of a read may have to be in the buffer before it is sent.
fn fences(spec: &DriveSpec) -> Vec<BufferSpec> {
    if spec.bus.read_mb_per_s > FAST_MB_PER_S {
        return Vec::new();
    }
    let fence =
        |kib: f64| BufferSpec { read_fence_kib: kib, read_fence_fraction: None, ..spec.buffer.clone() };
    let mut all = vec![fence(0.0), BufferSpec { read_fence_fraction: Some(1.0), ..fence(0.0) }];
    all.extend((0..FENCES).map(|power| fence(f64::from(1 << power))));
    all
}
