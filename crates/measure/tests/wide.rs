//! Sixty drives of all kinds drawn at random, measured through noise: what is said of them is right, or not said at all; and a drive
//! rebuilt of a measurement behaves as the one that was measured.

#[expect(
    unreachable_pub,
    dead_code,
    reason = "the helpers are a module of each test, and not all are asked for"
)]
mod common;
#[expect(unreachable_pub, reason = "the helpers are a module of each test")]
mod drawn;

use common::{Row, Truth};
use drawn::{Drawn, drawn};
use headstack_drive::layout::Layout;
use headstack_drive::spec::{WritePolicy, ZoneSpec};
use headstack_measure::device::{Noise, SimulatedDevice};
use headstack_measure::extract::{Extraction, ZoneFindings, extract};
use headstack_measure::record::{ProbeName, Record};
use headstack_measure::replay::{ReplayScore, drive_file};
use headstack_measure::{Options, measure};
use headstack_system::{System, SystemConfig};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What a host on a bench sees: times misread, completions seen late.
const NOISY: Noise = Noise { relative: 0.005, outlier_share: 0.01, outlier_ms: 20.0 };

/// What became of a drive.
struct Outcome {
    number: u64,
    kinds: String,
    /// Values that were stated.
    stated: usize,
    /// Those that lie outside their interval, …
    outside: usize,
    /// … and by more than it is wide.
    wrong: Vec<String>,
    /// Reads and writes of the rebuilt drive; why there are none.
    replayed: Result<[Option<ReplayScore>; 2], String>,
    warnings: Vec<&'static str>,
}

/// The drive of a number, simulated.
fn system(number: u64) -> Arc<System> {
    Arc::new(System::new(SystemConfig::of_drive("drawn", drawn(number).spec)).unwrap())
}

fn measured(number: u64, noise: Noise) -> (Record, Extraction) {
    let mut device = SimulatedDevice::new("sim:drawn", &system(number), number).unwrap().with_noise(noise);
    let done = measure(&mut device, &Options::default(), &mut |_| true).unwrap();
    assert!(done.stopped.is_none(), "{number}: {:?}", done.stopped);
    let found = extract(&done.record).unwrap();
    (done.record, found)
}

impl Outcome {
    fn of(number: u64, noise: Noise) -> Self {
        let Drawn { kinds, .. } = drawn(number);
        let truth = Truth::of_model(system(number).model(0).unwrap());
        let (record, found) = measured(number, noise);
        let mut outcome = Self {
            number,
            kinds: kinds.into_iter().collect::<Vec<_>>().join(", "),
            stated: 0,
            outside: 0,
            wrong: Vec::new(),
            replayed: replayed(&record),
            warnings: found.warnings.iter().map(headstack_measure::extract::Warning::kind).collect(),
        };
        for row in rows(&truth, &record, &found) {
            outcome.judge(&row);
        }
        outcome
    }

    fn judge(&mut self, row: &Row) {
        let Some(value) = row.found else { return };
        self.stated += 1;
        let off = (value - row.truth).abs();
        // What has no interval is held against what is allowed.
        let half = row.ci95.filter(|&ci95| ci95 > 0.0).unwrap_or(row.allowed);
        self.outside += usize::from(off > half);
        if off > if row.ci95.is_some_and(|ci95| ci95 > 0.0) { 3.0 * half } else { half } {
            self.wrong.push(format!("\n    wrong: {}: {value} ± {half}, {} is true", row.name, row.truth));
        }
    }

    /// Whether demerit and error of single accesses are small, of reads and of writes.
    fn replays(&self) -> bool {
        let good = |score: &ReplayScore| {
            score.demerit_percent < 2.0 && score.per_request_percent.is_none_or(|percent| percent < 5.0)
        };
        self.replayed.as_ref().is_ok_and(|scores| scores.iter().flatten().all(good))
    }

    fn line(&self) -> String {
        let score = |score: &Option<ReplayScore>| {
            score.as_ref().map_or_else(String::new, |s| {
                format!("{:.2} % ({:.2} %)", s.demerit_percent, s.per_request_percent.unwrap_or(f64::NAN))
            })
        };
        let replayed = match &self.replayed {
            Ok([reads, writes]) => format!("reads {}, writes {}", score(reads), score(writes)),
            Err(why) => format!("not rebuilt: {why}"),
        };
        format!(
            "{} [{}] {} of {} outside; {replayed}; warns {:?}{}",
            self.number,
            self.kinds,
            self.outside,
            self.stated,
            self.warnings,
            self.wrong.concat()
        )
    }
}

fn replayed(record: &Record) -> Result<[Option<ReplayScore>; 2], String> {
    let file = drive_file(record, "rebuilt").map_err(|error| error.to_string())?;
    let replay = file.replay.ok_or("no random accesses")?;
    Ok([replay.reads, replay.writes])
}

/// Everything that is stated, beside the truth.
fn rows(truth: &Truth, record: &Record, found: &Extraction) -> Vec<Row> {
    let mut rows: Vec<Row> = common::compare(truth, record, found)
        .into_iter()
        .filter(|row| !row.name.starts_with("zone"))
        .filter(|row| truth.spec.spindle.drift_ppm == 0.0 || row.name != "rotation_ms")
        .collect();
    // Surfaces without data, as those of spare tracks, are not seen.
    for row in rows.iter_mut().filter(|row| row.name == "heads") {
        row.truth -= f64::from(truth.spec.layout.zone[0].spare_tracks_per_cylinder);
    }
    // Skippy's lowest point has bounds.
    for name in ["mtm_ms", "mtm_read_ms"] {
        let Some((low, high)) =
            found.parameter(name).and_then(|parameter| parameter.lower.zip(parameter.upper))
        else {
            continue;
        };
        if let Some(row) = rows.iter_mut().find(|row| row.name == name) {
            (row.found, row.allowed) = (Some(f64::midpoint(low, high)), (high - low) / 2.0);
        }
    }
    let mut row = |name: String, truth: f64, found: Option<f64>, ci95: Option<f64>, allowed: f64| {
        rows.push(Row { name, truth, found, ci95, allowed });
    };
    row("actuators".to_owned(), f64::from(truth.spec.actuators), found.value("actuators"), None, 0.0);
    for (index, zone) in found.zones.iter().enumerate() {
        let capacity = truth.layout.capacity();
        let middle = u64::midpoint(zone.first_lba, zone.end_lba);
        if middle >= capacity {
            continue;
        }
        if !zone.sectors_per_track_by_head.is_empty() {
            rows_by_head(
                &mut row,
                &truth.spec.layout.zone[truth.layout.locate(middle).zone as usize],
                zone,
                index,
            );
            continue;
        }
        let sectors = zone.sectors_per_track as f64;
        let true_sectors = usual_track(&truth.layout, middle) as f64;
        row(format!("zone{index}.sectors"), true_sectors, Some(sectors), None, 0.0);
        let mut edges = truth.layout.zones().filter(|summary| summary.sectors > 0);
        let nearest =
            edges.by_ref().map(|summary| summary.first_lba).min_by_key(|edge| edge.abs_diff(zone.first_lba));
        row(
            format!("zone{index}.first"),
            nearest.unwrap_or(0) as f64,
            Some(zone.first_lba as f64),
            None,
            1.1 * sectors,
        );
        let samples = record.of(ProbeName::ZoneTracks).filter(|sample| sample.step >= 0);
        let place = samples
            .map(|s| s.lba)
            .filter(|lba| (zone.first_lba..zone.end_lba.min(capacity)).contains(lba))
            .last();
        let Some(place) = place else { continue };
        let (track, cylinder) = truth.skews_at(place);
        // Where a cylinder ends with spare tracks, from the last track that holds data to the next cylinder.
        let cylinder = cylinder + f64::from(truth.spec.layout.zone[0].spare_tracks_per_cylinder) * track;
        let per_turn = f64::from(truth.layout.locate(place).slots);
        for (kind, skew, found, ci95) in [
            ("track", track, zone.track_skew_sectors, zone.track_skew_ci95_sectors),
            ("cylinder", cylinder, zone.cylinder_skew_sectors, zone.cylinder_skew_ci95_sectors),
        ] {
            row(format!("zone{index}.{kind}_skew"), skew.rem_euclid(per_turn), found, ci95, 0.5);
        }
    }
    if let Some(bus) = found.parameter("write_bus_mb_per_s") {
        let rate = truth.spec.bus.write_mb_per_s;
        row("write_bus".to_owned(), rate, bus.value, bus.ci95.map(|ci95| ci95.max(0.005 * rate)), 0.0);
    }
    caches(&mut rows, truth, found);
    for name in ["head_switch_ms", "cylinder_switch_ms", "write_head_switch_ms", "write_cylinder_switch_ms"] {
        bounds(&mut rows, name, truth, found);
    }
    if let Some(bus) = found.parameter("bus_mb_per_s") {
        let rate = truth.spec.bus.read_mb_per_s;
        let held = bus.lower.is_none_or(|lower| lower <= 1.02 * rate)
            && bus.upper.is_none_or(|upper| upper >= 0.98 * rate);
        let (found, ci95) = match bus.value {
            Some(value) => (value, bus.ci95.map(|ci95| ci95.max(0.005 * rate))),
            None => (if held { rate } else { 0.0 }, None),
        };
        rows.push(Row { name: "bus".to_owned(), truth: rate, found: Some(found), ci95, allowed: 0.0 });
    }
    rows
}

/// What is told of caches: bounds of a segment, and whether writes wait in one.
fn caches(rows: &mut Vec<Row>, truth: &Truth, found: &Extraction) {
    let mut row = |name: &str, truth: f64, found: f64| {
        rows.push(Row { name: name.to_owned(), truth, found: Some(found), ci95: None, allowed: 0.0 });
    };
    if let Some(size) = found.parameter("cache_segment_sectors") {
        let sectors = truth.spec.cache.as_ref().map_or(0.0, |cache| 2.0 * cache.segment_kib);
        let (lower, upper) = (size.lower.unwrap_or(0.0), size.upper.unwrap_or(f64::INFINITY));
        row("segment.bounds", sectors, sectors.clamp(lower, upper));
    }
    if let Some(cache) = &found.write_cache {
        let kept = matches!(truth.spec.write_policy, WritePolicy::WriteBack { .. });
        row("write_cache", f64::from(u8::from(kept)), f64::from(u8::from(cache.policy == "write-back")));
    }
}

/// A zone in which each head has a density of its own: the sectors of each, and the skews as parts of a revolution.
fn rows_by_head(
    row: &mut impl FnMut(String, f64, Option<f64>, Option<f64>, f64),
    truth: &ZoneSpec,
    zone: &ZoneFindings,
    index: usize,
) {
    let heads = truth.sectors_per_track_by_head.len();
    row(format!("zone{index}.heads"), heads as f64, zone.heads.map(f64::from), None, 0.0);
    for (head, (&sectors, &found)) in
        truth.sectors_per_track_by_head.iter().zip(&zone.sectors_per_track_by_head).enumerate()
    {
        row(format!("zone{index}.head{head}.sectors"), f64::from(sectors), Some(found as f64), None, 0.0);
    }
    let nominal = f64::from(truth.sectors_per_track);
    for (kind, skew, found) in [
        ("track", truth.track_skew_sectors, zone.track_skew_sectors),
        ("cylinder", truth.cylinder_skew_sectors, zone.cylinder_skew_sectors),
    ] {
        let found = found.map(|skew| skew * nominal / zone.sectors_per_revolution);
        row(format!("zone{index}.{kind}_skew"), skew, found, None, 0.1);
    }
}

/// A switch that is only bounded.
fn bounds(rows: &mut Vec<Row>, name: &str, truth: &Truth, found: &Extraction) {
    let Some(parameter) = found.parameter(name).filter(|parameter| parameter.value.is_none()) else { return };
    let writes = name.starts_with("write");
    let cylinders = u32::from(name.contains("cylinder"));
    let moved = truth.switch_ms(cylinders, cylinders == 0, writes);
    let (lower, upper) = (parameter.lower.unwrap_or(0.0), parameter.upper.unwrap_or(f64::INFINITY));
    let held = moved >= lower - 0.002 && moved <= upper + 0.002;
    let found = if held { moved } else { f64::midpoint(lower, upper) };
    rows.push(Row {
        name: format!("{name}.bounds"),
        truth: moved,
        found: Some(found),
        ci95: None,
        allowed: 0.0,
    });
}

/// How many sectors most tracks hold around a sector.
fn usual_track(layout: &Layout, around: u64) -> u64 {
    let key = |lba: u64| {
        let place = layout.locate(lba);
        (place.cylinder, place.head)
    };
    let reach = 40 * u64::from(layout.locate(around).slots);
    let (mut first, end) = (around.saturating_sub(reach), (around + reach).min(layout.capacity()));
    let mut lengths: BTreeMap<u64, u32> = BTreeMap::new();
    for lba in first + 1..end {
        // A remapped sector is no border.
        if key(lba) != key(lba - 1) && (lba + 1 >= end || key(lba + 1) == key(lba)) && lba - first > 8 {
            *lengths.entry(lba - first).or_default() += 1;
            first = lba;
        }
    }
    lengths.into_iter().max_by_key(|&(_, count)| count).map_or(0, |(length, _)| length)
}

/// Measures drives, one on each core at a time.
fn outcomes(numbers: Range<u64>, noise: Noise) -> Vec<Outcome> {
    let (next, all) = (AtomicU64::new(numbers.start), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(number) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| numbers.contains(n))
                {
                    let outcome = Outcome::of(number, noise);
                    all.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap();
    all.sort_by_key(|outcome| outcome.number);
    all
}

/// Tells what became of each; how many values were stated, and how many of them are wrong.
fn told(all: &[Outcome]) -> (String, usize, usize) {
    let stated: usize = all.iter().map(|outcome| outcome.stated).sum();
    let wrong: usize = all.iter().map(|outcome| outcome.wrong.len()).sum();
    let outside: usize = all.iter().map(|outcome| outcome.outside).sum();
    let replay = all.iter().filter(|outcome| outcome.replays()).count();
    let lines: Vec<String> = all.iter().map(Outcome::line).collect();
    let text = format!(
        "\n{}\n{stated} stated, {outside} outside, {wrong} wrong; {replay} of {} replay",
        lines.join("\n"),
        all.len()
    );
    (text, stated, wrong)
}

/// Two heads, of which the skews come in turns; a speed that drifts; spares that cylinders end with.
#[test]
fn what_is_said_of_odd_drives_is_right() {
    let all = [15, 20, 55].map(|number| Outcome::of(number, Noise::NONE));
    let (text, stated, wrong) = told(&all);
    assert!(stated > 100 && wrong == 0, "{text}");
}

/// Small write caches, of which single writes are foreseen only where the size, the bus and every seek are right; one along
/// surfaces, where the next head comes too rarely for the first tracks to show it. Writes that end later than reads, that settle by
/// distance, and seeks that must be right within nanoseconds.
#[test]
fn write_caches_are_rebuilt_as_they_empty() {
    let all = [2, 14, 24, 45, 39, 12, 17, 30, 33, 38, 50].map(|number| Outcome::of(number, Noise::NONE));
    assert!(all.iter().all(Outcome::replays), "writes missed by 6 to 55 % before: {}", told(&all).0);
}

/// Seeks that begin before a command's overhead ends: what the cache brings to the media has none.
#[test]
fn seeks_beside_the_overhead_show_behind_write_caches() {
    let all = [0, 27, 56].map(|number| Outcome::of(number, Noise::NONE));
    assert!(all.iter().all(Outcome::replays), "writes missed by 4 to 11 % before: {}", told(&all).0);
}

/// Fifteen writes are reported early, and go as they came: a cache that holds as many brings the nearest first.
#[test]
fn many_writes_reported_early_are_no_cache() {
    let outcome = Outcome::of(29, Noise::NONE);
    assert!(outcome.replays(), "writes missed by 52 % before: {}", told(std::slice::from_ref(&outcome)).0);
}

/// What is told of the write cache is what the drive file says of it: fifteen writes that are reported early were told as a cache of
/// 7.5 KiB.
#[test]
fn what_is_told_of_early_writes_is_what_the_file_says() {
    let (record, found) = measured(29, Noise::NONE);
    let told = found.write_cache.as_ref().unwrap();
    assert_eq!((told.policy, told.runs), ("immediate-reporting", Some(15)), "{told:?}");
    assert!(found.parameter("write_cache_kib").is_none(), "a cache that is not there has no size");
    let file = drive_file(&record, "rebuilt").unwrap();
    assert!(file.toml.contains("pending_writes = 15"), "{}", file.toml);
}

/// What is read ahead moves the arm before some reads: that is no seek that begins later. Slipped sectors where two pieces meet.
#[test]
fn a_few_odd_accesses_do_not_tell_of_all() {
    let all = [7, 54].map(|number| Outcome::of(number, Noise::NONE));
    assert!(all.iter().all(Outcome::replays), "missed by 2.2 to 6.5 % before: {}", told(&all).0);
}

/// Skews that are all alike, and all alike by another measure in the next zone: those of that zone are no change of cylinder.
#[test]
fn skews_of_the_next_zone_are_no_pattern() {
    let all = [42, 43].map(|number| Outcome::of(number, Noise::NONE));
    assert!(
        all.iter().all(Outcome::replays),
        "one head of eight, and reads missed by 27 to 34 % before: {}",
        told(&all).0
    );
}

/// Speeds that wander by up to 300 ppm: angles fit together by the disk's own clock.
#[test]
fn drives_whose_speed_wanders_are_rebuilt() {
    let all = [10, 23, 49, 55].map(|number| Outcome::of(number, Noise::NONE));
    let (text, stated, wrong) = told(&all);
    assert!(
        stated > 200 && wrong == 0 && all.iter().all(Outcome::replays),
        "no file was made before: {text}"
    );
    assert!(all.iter().all(|outcome| outcome.warnings.contains(&"speed-drifts")), "{text}");
}

/// Spares that the tracks of a cylinder share tell where cylinders end, though all skews are alike: each was a zone of its own, some of
/// which lay where none was looked for.
#[test]
fn spares_tell_where_cylinders_end_whose_skews_are_alike() {
    let outcome = Outcome::of(21, Noise::NONE);
    let text = told(std::slice::from_ref(&outcome)).0;
    let reads = outcome.replayed.as_ref().unwrap()[0].as_ref().unwrap();
    let each = reads.per_request_percent.unwrap();
    assert!(reads.demerit_percent < 2.0 && each < 5.0, "single reads were missed by 21 % before: {text}");
}

/// Tracks along surfaces that no skew and no time counts: each is taken for a cylinder of its own, which is told and not stated.
#[test]
fn a_drive_whose_surfaces_are_not_counted_is_rebuilt_over_tracks() {
    let outcome = Outcome::of(6, Noise::NONE);
    let text = told(std::slice::from_ref(&outcome)).0;
    assert!(outcome.warnings.contains(&"surfaces-not-counted"), "{text}");
    assert!(outcome.wrong.is_empty() && outcome.replays(), "no file was made before: {text}");
}

/// Twenty heads, each with a density of its own, in four zones: nothing was told of them before but at the start.
#[test]
fn a_drive_whose_heads_differ_in_density_is_rebuilt() {
    let outcome = Outcome::of(4, Noise::NONE);
    let text = told(std::slice::from_ref(&outcome)).0;
    assert!(outcome.stated > 100 && outcome.wrong.is_empty() && outcome.replays(), "{text}");
}

/// No skews, so that no angle tells where tracks begin: a revolution lost there does. Heads that go back and forth from cylinder to
/// cylinder, told by the times to the next track, and tracks along three surfaces, told by times over many.
#[test]
fn drives_without_skews_are_rebuilt() {
    let all = [41, 47].map(|number| Outcome::of(number, Noise::NONE));
    let (text, stated, wrong) = told(&all);
    assert!(
        stated > 100 && wrong == 0 && all.iter().all(Outcome::replays),
        "no file was made before: {text}"
    );
}

/// A look at each: `DRIVES=3..9`, `QUIET=1` without noise.
#[test]
#[ignore = "a report, not a test"]
fn report_drives_of_all_kinds() {
    let wanted = std::env::var("DRIVES").unwrap_or_else(|_| "0..60".to_owned());
    let (from, to) = wanted.split_once("..").unwrap();
    let noise = if std::env::var("QUIET").is_ok() { Noise::NONE } else { NOISY };
    let all = outcomes(from.parse().unwrap()..to.parse().unwrap(), noise);
    panic!("{}", told(&all).0);
}
