//! A drive file out of what was measured: measured values where there are any, and a plain assumption, marked as such, where
//! there are none.

use crate::MeasureError;
use crate::extract::{CacheFindings, Extraction, Parameter, Warning, WriteCase, ZoneFindings, law, layout};
use crate::reading::idle::Idle;
use crate::record::ProbeName;
use headstack_drive::spec::{
    ArmsSpec, BufferSpec, BusSpec, CacheSpec, ControllerSpec, DirtyHit, DriveSpec, LayoutSpec, MechanicsSpec,
    OverheadsByHistory, Provenance, ProvenanceKind, ReadAhead, RecalibrationMode, RecalibrationSpec,
    SeekSpec, WritePolicy,
};
use std::collections::BTreeMap;

/// Makes a drive description that behaves like what was measured. Of the write policy, what filling the cache
/// shows: its size, and how many writes it holds.
///
/// # Errors
/// [`MeasureError::Insufficient`] where rotation, tracks, heads or seeks were not found; [`MeasureError::Drive`] where what was
/// found contradicts itself.
pub fn rebuild(found: &Extraction, name: &str) -> Result<DriveSpec, MeasureError> {
    let lacks = |what: &str| MeasureError::Insufficient {
        problem: format!("the record does not show {what}"),
        hint: "measure with all probes".to_owned(),
    };
    let rpm = found.value("rotation_rpm").ok_or_else(|| lacks("the rotation"))?;
    for warning in &found.warnings {
        let hint = match warning {
            Warning::SpeedDrifts { followed: false, .. } => {
                "measure when the drive has been running for an hour"
            }
            Warning::DensityPerHead { zones: 0, .. } => {
                "describe its zones by hand, with `sectors_per_track_by_head`"
            }
            Warning::SurfacesNotCounted { zones: 0 } => "describe its tracks and zones by hand",
            _ => continue,
        };
        return Err(MeasureError::Insufficient { problem: warning.to_string(), hint: hint.to_owned() });
    }
    let not_counted =
        found.warnings.iter().any(|warning| matches!(warning, Warning::SurfacesNotCounted { .. }));
    let heads = found.value("heads").or(not_counted.then_some(1.0));
    let heads = heads.ok_or_else(|| lacks("how many surfaces there are"))? as u32;
    if found.zones.is_empty() {
        return Err(lacks("the tracks"));
    }
    let mut builder = Builder { found, provenance: BTreeMap::new() };
    let layout = builder.layout(heads);
    if not_counted {
        builder.assumed("layout.heads", "not known: each track is taken for a cylinder of its own");
    }
    let seek = builder.seek().ok_or_else(|| lacks("the seek curve"))?;
    let mechanics = builder.mechanics();
    let controller = builder.controller().ok_or_else(|| lacks("the overhead"))?;
    let (buffer, cache) = builder.cache();
    let bus = builder.bus();
    let write_policy = builder.write_policy();
    let recalibration = builder.recalibration();
    builder.measured("rotation_rpm", "probe rotation");
    builder.measured("sector_bytes", "told by the device");
    let physical = found.device.physical_sector_bytes;
    let physical_sector_bytes = (physical > found.device.sector_bytes).then_some(physical);
    if physical_sector_bytes.is_some() {
        builder.measured("physical_sector_bytes", "told by the device");
    }
    let actuators = found.value("actuators").map_or(1, |count| count as u32);
    if actuators > 1 {
        builder.measured("actuators", "the second half of the addresses is like the first");
    }
    let spec = DriveSpec {
        name: name.to_owned(),
        summary: format!("Measured on {}", found.device.name),
        sector_bytes: found.device.sector_bytes,
        physical_sector_bytes,
        rotation_rpm: rpm,
        actuators,
        arms: ArmsSpec::default(),
        layout,
        seek,
        mechanics,
        controller,
        buffer,
        cache,
        write_policy,
        write_cache: headstack_drive::spec::WriteCacheSpec::default(),
        bus,
        spindle: headstack_drive::spec::SpindleSpec::default(),
        recalibration,
        soft_errors: None,
        fidelity: headstack_drive::spec::FidelitySpec::default(),
        published: headstack_drive::spec::PublishedSpec::default(),
        power: None,
        provenance: builder.provenance,
    };
    // Through the text, as anybody will read it: nothing leaves that would not come back.
    Ok(DriveSpec::from_toml(name, &spec.to_toml())?)
}

/// A difference of less than this is none, in ms.
const LEAST_LATER_MS: f64 = 0.02;

/// Seeks inwards take as long as those outwards if they differ by no more than this, in ms, however well that is known; and longer
/// if they do by more than that.
const LEAST_INWARD_MS: f64 = 0.0005;
const MOST_INWARD_MS: f64 = 0.01;

/// A seek that begins by less than this before the overhead ends, in ms, begins when it does.
const LEAST_BESIDE_MS: f64 = 0.001;

/// How well it must be known by how much later reads end than writes, in ms.
const MOST_LATER_CI95_MS: f64 = 0.02;

/// By how much later a write asks for its data behind a read, at most, in ms.
const DATA_LATER_MS: f64 = 0.02;
/// The policy of a drive that holds few writes.
const EARLY: &str = "immediate-reporting";

struct Builder<'a> {
    found: &'a Extraction,
    provenance: BTreeMap<String, Provenance>,
}

impl Builder<'_> {
    fn measured(&mut self, path: &str, source: &str) {
        self.note(path, ProvenanceKind::Measured, source);
    }

    fn assumed(&mut self, path: &str, source: &str) {
        self.note(path, ProvenanceKind::Assumed, source);
    }

    fn note(&mut self, path: &str, kind: ProvenanceKind, source: &str) {
        self.provenance.insert(path.to_owned(), Provenance { kind, source: source.to_owned() });
    }

    fn layout(&mut self, heads: u32) -> LayoutSpec {
        self.measured("layout", "probes tracks, zones, surfaces, zone-tracks and angles");
        self.assumed("layout.order", "cylinder by cylinder; back and forth over the heads, or along surfaces, where the minimum times between tracks showed it");
        layout(self.found, heads).0
    }

    /// Stalls that come regularly. What a drive does in the meantime, nobody sees.
    fn recalibration(&mut self) -> RecalibrationSpec {
        let found = self.found;
        let Some((duration_ms, interval_s)) = found.value("stall_ms").zip(found.value("stall_interval_s"))
        else {
            return RecalibrationSpec::default();
        };
        self.measured(
            "recalibration",
            "accesses that take much longer than all others come at equal distances",
        );
        RecalibrationSpec { mode: RecalibrationMode::ByDrive, interval_s, duration_ms }
    }

    /// The curve: its law, or else a table. A seek that the command's processing hides takes nothing that can be seen.
    fn seek(&mut self) -> Option<SeekSpec> {
        let beside_ms = self.beside_seek();
        let mut points = Some(self.found.seek.curve()).filter(|points| points.len() > 3)?;
        for point in &mut points {
            point.ms += beside_ms;
        }
        if let Some(law) = law(&points) {
            self.measured(
                "seek",
                "probe seek-curve: the law on which all minimum times lie, less that on the same track",
            );
            return Some(SeekSpec::TwoPiece {
                boundary_cylinders: law.boundary_cylinders as u32,
                short_ms: law.short_ms,
                long_ms: law.long_ms,
                first_ms: Vec::new(),
            });
        }
        self.measured("seek", "probe seek-curve: minimum time over the distance less that on the same track");
        let points = points.iter().map(|p| [p.cylinders as f64, p.ms.max(0.0)]).collect();
        Some(SeekSpec::Table { points })
    }

    fn mechanics(&mut self) -> MechanicsSpec {
        let found = self.found;
        let write = found.value("write_head_switch_ms");
        let read = found.value("head_switch_ms");
        let difference = found.seek.write_minus_read_ms.unwrap_or(0.0);
        let beside_ms = self.beside_seek();
        let by_commands = read.or(write.map(|ms| (ms - difference).max(0.0))).map(|ms| ms + beside_ms);
        let settle_ms = difference + self.data_behind_overhead();
        // Of what a command hides, what goes to the media by itself shows all.
        let by_cache = found.value("cached_write_head_switch_ms").map(|ms| (ms - settle_ms).max(0.0));
        let head_switch_ms = by_commands.or(by_cache).unwrap_or(0.0);
        for path in ["mechanics.head_switch_ms", "mechanics.write_settle_ms"] {
            self.measured(path, "probe switches");
        }
        if read.or(write).or(by_cache).is_none() {
            self.assumed("mechanics.head_switch_ms", "hidden beside the command's processing: none shows");
        }
        let settles = found.seek.write_settles();
        if !settles.is_empty() {
            self.measured("mechanics.write_settle_by_distance_ms", "probe seek-curve, writes and reads");
        }
        let shows = |extra: &&Parameter| {
            let least = (3.0 * extra.ci95.unwrap_or(f64::INFINITY)).clamp(LEAST_INWARD_MS, MOST_INWARD_MS);
            extra.value.is_some_and(|ms| ms.abs() > least)
        };
        let inward = found.parameter("inward_seek_extra_ms").filter(shows).and_then(|extra| extra.value);
        let inward = inward.unwrap_or(0.0);
        if inward != 0.0 {
            self.measured("mechanics.inward_seek_extra_ms", "probe seek-curve, inwards and outwards");
        }
        self.assumed("mechanics.read_settle_ms", "contained in the seek times");
        self.assumed("mechanics.settle_after_head_switch", "usual");
        MechanicsSpec {
            head_switch_ms,
            // The arm does not wait for the data.
            write_settle_ms: settle_ms,
            write_settle_by_distance_ms: settles.iter().map(|&(d, ms)| [d, ms]).collect(),
            inward_seek_extra_ms: inward,
            ..MechanicsSpec::default()
        }
    }

    fn controller(&mut self) -> Option<ControllerSpec> {
        let found = self.found;
        let write = found.value("mtm_ms").or(found.value("mtm_read_ms"))?;
        let read = found.value("mtm_read_ms").unwrap_or(write);
        let hit = found.cache.as_ref().and_then(|cache| cache.hit_overhead_ms);
        // A read ends when its last sector has crossed the bus; a write's data cross it before.
        let bus_ms = self.sector_bus_ms();
        self.measured("controller", "probe switches: minimum time to a sector of the same track");
        let beside_ms = self.beside_seek();
        if found.value("cached_write_longer_ms").is_some() {
            let source =
                "probes switches and seek-curve: writes that the cache brings to the media take longer";
            self.measured("controller.overhead_beside_seek_ms", source);
        } else {
            self.assumed("controller.overhead_beside_seek_ms", "cannot be told apart from the overhead");
        }
        for path in ["queue_depth", "scheduler"] {
            self.assumed(&format!("controller.{path}"), "cannot be told apart from the overhead");
        }
        let write = self.cached_overhead().unwrap_or(write - self.data_behind_overhead());
        let (read_end, write_end) = self.ends(read - bus_ms, write);
        let hit = hit.map(|ms| (ms - read_end).max(0.0));
        let data_after = self.data_after(write_end);
        if hit.is_some() {
            self.measured("controller.hit_overhead_ms", "probe overhead");
        }
        let (read, write) = ((read - bus_ms - read_end).max(0.0), (write - write_end).max(0.0));
        Some(ControllerSpec {
            read_overhead_ms: read,
            write_overhead_ms: write,
            write_data_after_ms: data_after,
            hit_overhead_ms: hit,
            read_completion_ms: read_end,
            write_completion_ms: write_end,
            overhead_beside_seek_ms: beside_ms.min(read).min(write),
            by_history: self.by_history(read, (write, write_end), hit),
            ..ControllerSpec::default()
        })
    }

    /// What reads and writes take behind the media, in ms, beyond what both of them do: that cannot be told from the overhead. No more
    /// than all that they take.
    fn ends(&mut self, read_ms: f64, write_ms: f64) -> (f64, f64) {
        let later = self.found.parameter("read_ends_later_ms");
        let shows = |later: &&Parameter| later.ci95.is_some_and(|ci95| ci95 < MOST_LATER_CI95_MS);
        let Some(later) = later.filter(shows).and_then(|later| later.value) else {
            for path in ["read_completion_ms", "write_completion_ms"] {
                self.assumed(&format!("controller.{path}"), "cannot be told apart from the overhead");
            }
            return (0.0, 0.0);
        };
        for path in ["read_completion_ms", "write_completion_ms"] {
            let source =
                "probe switches: a read of a sector less a write of it; what both take is in the overhead";
            self.measured(&format!("controller.{path}"), source);
        }
        let later = later - self.sector_bus_ms();
        (later.clamp(0.0, read_ms.max(0.0)), (-later).clamp(0.0, write_ms.max(0.0)))
    }

    /// When a write asks for its data, in ms; absent: behind its overhead.
    fn data_after(&mut self, write_end_ms: f64) -> Option<f64> {
        let path = "controller.write_data_after_ms";
        if self.early_overheads().is_some() {
            return None;
        }
        let shown = self.write_data_after().map(|ms| (ms - write_end_ms).max(0.0));
        match shown {
            Some(_) => self.measured(path, "probe write-cache: writes that are complete early"),
            None => self.assumed(path, "cannot be told apart from the overhead"),
        }
        shown.or(Some(0.0))
    }

    /// What a write takes that is reported early, its data left out, in ms: behind a read, and behind a write. `None` unless it is seen that
    /// the data come behind an overhead of its own: where it is more than what the least time of a write to the media leaves for that,
    /// or one time behind a read and another behind a write.
    fn early_overheads(&self) -> Option<[f64; 2]> {
        let cache = self.found.write_cache.as_ref().filter(|cache| cache.policy == EARLY)?;
        let by_one = || cache.quick_ms.map(|quick_ms| quick_ms - self.write_sector_bus_ms());
        let behind_read_ms = cache.overhead_ms.or_else(by_one)?;
        let left_ms = self.found.value("mtm_ms")? - 0.5 * self.write_sector_bus_ms();
        let shows = cache.behind_write_ms.is_some() || behind_read_ms > left_ms;
        shows.then(|| [behind_read_ms, cache.behind_write_ms.unwrap_or(behind_read_ms)])
    }

    /// What a write takes that a write cache takes at once, its data left out, in ms.
    fn cached_overhead(&self) -> Option<f64> {
        self.found.write_cache.as_ref().filter(|cache| cache.policy != EARLY)?.overhead_ms
    }

    /// When a write asks for its data, in ms, by those that are complete when they are in the buffer.
    fn write_data_after(&self) -> Option<f64> {
        if let Some((overhead_ms, waits)) = self.waits_for_data() {
            return Some(if waits { overhead_ms.max(0.0) } else { 0.0 });
        }
        let cache = self.found.write_cache.as_ref()?;
        let least_ms = self.found.value("mtm_ms")?;
        // One alone may follow a read, which changes what it takes.
        let by_one = || cache.quick_ms.map(|quick_ms| quick_ms - self.write_sector_bus_ms());
        let after_ms = cache.overhead_ms.or_else(by_one)?.max(0.0);
        (after_ms < least_ms + DATA_LATER_MS).then_some(after_ms)
    }

    /// What a write takes that the cache takes at once, in ms, its data left out, and whether one to the media waits for them, too.
    fn waits_for_data(&self) -> Option<(f64, bool)> {
        let overhead_ms = self.cached_overhead()?;
        let later_ms = self.found.value("mtm_ms")? - overhead_ms;
        Some((overhead_ms, later_ms > 0.5 * self.write_sector_bus_ms()))
    }

    /// Where even a write to the same track waits for its data, what they take on the bus; 0 where they cross it beside the rest.
    fn data_behind_overhead(&self) -> f64 {
        if let Some((_, waits)) = self.waits_for_data() {
            return if waits { self.write_sector_bus_ms() } else { 0.0 };
        }
        if self.early_overheads().is_some() {
            return self.write_sector_bus_ms();
        }
        let quick_ms = self.found.write_cache.as_ref().and_then(|cache| cache.quick_ms);
        let waits = quick_ms
            .zip(self.found.value("mtm_ms"))
            .is_some_and(|(quick, least)| (quick - least).abs() < DATA_LATER_MS.min(0.05 * least));
        if waits { self.write_sector_bus_ms() } else { 0.0 }
    }

    /// How much of its overhead a command's seek does not wait for, in ms, where a write cache shows it: what goes to the media by
    /// itself has none. Less than a clock tells is none.
    fn beside_seek(&self) -> f64 {
        let longer = self.found.parameter("cached_write_longer_ms");
        let Some((ms, ci95)) = longer.and_then(|longer| longer.value.zip(longer.ci95)) else { return 0.0 };
        let ms = ms - self.data_behind_overhead();
        if ms > LEAST_BESIDE_MS.max(ci95) { ms } else { 0.0 }
    }

    /// Overheads by the command before, where a seek begins later or earlier behind a read.
    fn by_history(
        &mut self,
        read_ms: f64,
        (write_ms, write_end_ms): (f64, f64),
        hit: Option<f64>,
    ) -> Option<OverheadsByHistory> {
        let found = self.found;
        let later = |name: &str| {
            let shows = |parameter: &&Parameter| {
                parameter.value.is_some_and(|ms| ms.abs() > parameter.ci95.unwrap_or(0.0).max(LEAST_LATER_MS))
            };
            found.parameter(name).filter(shows).and_then(|parameter| parameter.value)
        };
        let (read, write) = (later("read_after_read_ms"), later("write_after_read_ms"));
        let early = self.early_overheads().map(|all| all.map(|ms| (ms - write_end_ms).max(0.0)));
        read.or(write).or(early.map(|all| all[0]))?;
        // The seek of a write to the media begins when one of those would be complete on its track.
        let seeks_ms = write_ms + if early.is_some() { self.data_behind_overhead() } else { 0.0 };
        let write = write.or(early.map(|_| 0.0));
        let cache = found.cache.as_ref();
        let more = cache.and_then(|cache| Some(cache.hit_after_write_ms? - cache.hit_ms?)).unwrap_or(0.0);
        let hit = hit.unwrap_or(read_ms).max(0.0);
        let beside_ms = self.beside_seek();
        let after = |ms: f64, later: f64| [(ms + later).max(0.0), ms.max(0.0)];
        self.measured("controller.by_history", "probe seek-curve: random reads and writes in turns");
        Some(OverheadsByHistory {
            read_hit_ms: [hit, (hit + more).max(0.0)],
            read_hit_at_rest_ms: None,
            stream_wait_ms: None,
            read_miss_ms: [read_ms; 2],
            write_hit_ms: [write_ms; 2],
            write_miss_ms: early.unwrap_or([write_ms; 2]),
            read_seek_after_ms: read.map(|later| after(read_ms - beside_ms, later)),
            write_seek_after_ms: write.map(|later| after(seeks_ms - beside_ms, later)),
        })
    }

    /// Drive to host. Where only bounds are known, the upper one: reads are then sent when all of them is in the buffer. Where nothing
    /// is, as for writes.
    fn bus_rate(&self) -> Option<f64> {
        let seen = self.found.parameter("bus_mb_per_s").and_then(|bus| bus.value.or(bus.upper));
        seen.or(self.cached_bus_rate()).filter(|rate| *rate < 1e5)
    }

    /// Host to drive, by writes of several sizes that the cache took.
    fn cached_bus_rate(&self) -> Option<f64> {
        self.found.write_cache.as_ref().and_then(|cache| cache.bus_mb_per_s)
    }

    fn sends_when_all_is_there(&self) -> bool {
        self.found.parameter("bus_mb_per_s").is_some_and(|bus| bus.value.is_none())
    }

    fn sector_bus_ms(&self) -> f64 {
        let bytes = f64::from(self.found.device.physical_sector_bytes);
        self.bus_rate().map_or(0.0, |rate| bytes / rate / 1e3)
    }

    /// Host to drive, where writes of several sizes showed it; otherwise as for reads.
    fn write_bus_rate(&self) -> Option<f64> {
        self.cached_bus_rate().or(self.bus_rate())
    }

    fn write_sector_bus_ms(&self) -> f64 {
        let bytes = f64::from(self.found.device.physical_sector_bytes);
        self.write_bus_rate().map_or(0.0, |rate| bytes / rate / 1e3)
    }

    fn bus(&mut self) -> BusSpec {
        let rate = self.bus_rate();
        let seen = self.found.parameter("bus_mb_per_s").is_some();
        match rate {
            Some(_) if seen => self.measured("bus.read_mb_per_s", "probe overhead: reads of several sizes"),
            Some(_) => self.assumed("bus.read_mb_per_s", "no reads showed it: as for writes"),
            None => self.assumed("bus.read_mb_per_s", "no reads showed it: fast enough not to matter"),
        }
        match self.cached_bus_rate() {
            Some(_) => self.measured("bus.write_mb_per_s", "probe write-cache: writes of several sizes"),
            None => self.assumed("bus.write_mb_per_s", "as for reads"),
        }
        self.assumed("bus.kind", "not seen");
        for path in ["arbitration_us", "reconnect_us", "disconnects"] {
            self.assumed(&format!("bus.{path}"), "contained in the overheads");
        }
        BusSpec {
            kind: "as measured".to_owned(),
            read_mb_per_s: rate.unwrap_or(1e5),
            write_mb_per_s: self.write_bus_rate().unwrap_or(1e5),
            arbitration_us: 0.0,
            reconnect_us: 0.0,
            disconnects: true,
        }
    }

    fn cache(&mut self) -> (BufferSpec, Option<CacheSpec>) {
        self.assumed("buffer", "large enough to match speeds");
        let mut buffer = BufferSpec { size_kib: 2048.0, ..BufferSpec::default() };
        if self.sends_when_all_is_there() {
            buffer.read_fence_fraction = Some(1.0);
            self.measured("buffer.read_fence_fraction", "probe overhead, with the bus at its upper bound");
        }
        // What is read ahead may take the place of what was asked for, so that none of that is kept.
        let holds = |cache: &&CacheFindings| cache.keeps_reads || cache.read_ahead != "none";
        let Some(cache) = self.found.cache.as_ref().filter(holds) else {
            return (buffer, None);
        };
        let kib = |sectors: u64| sectors as f64 * f64::from(self.found.device.sector_bytes) / 1024.0;
        let tracks = |zone: &ZoneFindings| {
            zone.sectors_per_track_by_head.iter().copied().max().unwrap_or(zone.sectors_per_track)
        };
        let most_track = self.found.zones.iter().map(tracks).max().unwrap_or(0);
        let (least, most) = (cache.segment_sectors_at_least.unwrap_or(1), cache.segment_sectors_at_most);
        let sectors = most.map_or(least.max(most_track), |most| u64::midpoint(least, most));
        let read_ahead = match cache.read_ahead {
            "to-track-end" | "whole-track" => ReadAhead::ToTrackEnd,
            "until-full" => ReadAhead::UntilFull,
            "once-sequential" => ReadAhead::OnceSequential,
            _ => ReadAhead::None,
        };
        let whole = cache.read_ahead == "whole-track";
        if cache.reads_sent_whole == Some(true) {
            buffer.read_fence_fraction = Some(1.0);
            self.measured(
                "buffer.read_fence_fraction",
                "probe overhead: reads end later, the larger they are",
            );
        }
        self.measured("cache", "probe cache");
        let ahead = cache.read_ahead_sectors_at_least.zip(cache.read_ahead_sectors_at_most);
        // Until a segment is full, unless it holds more than that.
        let all_of_it = matches!(read_ahead, ReadAhead::UntilFull | ReadAhead::OnceSequential);
        let limit = ahead.filter(|&(_, most)| all_of_it && most + self.found.device.unit() < least);
        if most.is_none() {
            self.assumed(
                "cache.segment_kib",
                "nothing shows how much a segment holds: the longest track, if no more is read ahead",
            );
        }
        self.assumed("cache.partial_hit", "not probed");
        self.assumed("cache.after_hit", "not probed");
        let cache = CacheSpec {
            read_ahead,
            zero_latency: whole || cache.reads_on_arrival,
            whole_track: whole,
            read_ahead_limit_kib: limit.map(|(least, most)| kib(u64::midpoint(least, most))),
            ..CacheSpec::new(cache.segments.unwrap_or(1).max(1) as u32, kib(sectors.max(1)))
        };
        (buffer, Some(cache))
    }

    /// How long the drive rests before it begins to empty its write cache, in ms.
    fn idle(&mut self, idle: Option<Idle>) -> f64 {
        let path = "write_policy.write-back.idle_before_destage_ms";
        match idle {
            Some(Idle::Rests(rests)) => {
                self.measured(path, "probe write-cache: flushes behind writes and a pause");
                // No finer than it is known.
                (10.0 * rests.value).round() / 10.0
            }
            Some(Idle::Longer(ms)) => {
                self.assumed(path, "no less than a pause in which the drive did nothing; it may be longer");
                ms.round()
            }
            None => {
                self.assumed(path, "usual; not probed");
                0.0
            }
        }
    }

    fn write_policy(&mut self) -> WritePolicy {
        let found = self.found;
        if let Some(cache) = &found.write_cache
            && let Some(size_kib) = cache.size_kib
        {
            let exact = cache.size_is_exact;
            self.measured("write_policy", "probe write-cache: random writes until they waited");
            if exact {
                let source = "probe write-cache: the largest write that the empty cache took";
                self.measured("write_policy.write-back.size_kib", source);
            } else if cache.size_is_more {
                self.assumed(
                    "write_policy.write-back.size_kib",
                    "as much as was written: writes never waited, and how much it holds is not known",
                );
            }
            for key in ["high_water_percent", "low_water_percent", "age_limit_ms", "dirty_hit"] {
                self.assumed(&format!("write_policy.write-back.{key}"), "usual; not probed");
            }
            let idle_before_destage_ms = self.idle(cache.idle);
            return WritePolicy::WriteBack {
                size_kib: if exact { size_kib } else { size_kib.round() },
                runs: cache.runs.map(|runs| runs as u32),
                runs_compared: None,
                compared_within_cylinders: None,
                high_water_percent: 80.0,
                low_water_percent: 50.0,
                idle_before_destage_ms,
                age_limit_ms: 10_000.0,
                dirty_hit: DirtyHit::Overwrite,
            };
        }
        let early = found.warnings.iter().find_map(|warning| match warning {
            Warning::EarlyWrites { cases } => Some(cases),
            _ => None,
        });
        if let Some(cases) = early {
            let runs = found.write_cache.as_ref().and_then(|cache| cache.runs);
            // Otherwise only a first write behind a read, or one that continues the last, is complete early.
            let anywhere = cases.contains(&WriteCase::HereAndThere) || cases.contains(&WriteCase::TwoPlaces);
            let pending_writes = runs.filter(|_| anywhere).map(|runs| runs as u32);
            if pending_writes.is_some() {
                self.measured("write_policy", "probe write-cache: random writes until one waited");
                self.assumed("write_policy.immediate-reporting.dirty_hit", "usual; not probed");
            } else {
                self.assumed("write_policy", "writes are reported early; how many was not measured");
            }
            return WritePolicy::ImmediateReporting {
                pending_writes,
                dirty_hit: DirtyHit::default(),
                during_early_write: headstack_drive::spec::DuringEarlyWrite::default(),
                appends: headstack_drive::spec::Appends::default(),
            };
        }
        let only_reads = found.warnings.contains(&Warning::OnlyReads);
        if !only_reads && found.finished.iter().any(|probe| probe == ProbeName::WriteCache.as_str()) {
            self.measured("write_policy", "probe write-cache");
        } else {
            self.assumed("write_policy", "nothing is known of writes");
        }
        WritePolicy::WriteThrough {}
    }
}
