//! Measures a simulated drive and puts what was extracted beside the truth.

use headstack_drive::layout::Layout;
use headstack_measure::device::{self, Noise, OpenOptions};
use headstack_measure::extract::{Extraction, extract};
use headstack_measure::probe;
use headstack_measure::rebuild::rebuild;
use headstack_measure::record::{ProbeName, Record, Role};
use headstack_measure::{Options, Scope, measure};
use headstack_system::library;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How long each probe is announced to take with nothing known of a drive, in s.
pub fn announced(name: &str, options: &OpenOptions) -> Vec<(ProbeName, f64)> {
    let mut device = device::open(&format!("sim:{name}"), options).unwrap();
    let plan = probe::plan(&[], device.info()).unwrap();
    let expected_s = probe::announce(&plan, device.as_mut(), &Scope::default()).unwrap();
    plan.iter().map(|probe| probe.name).zip(expected_s).collect()
}

/// How long measuring a drive is announced to take, and takes, in s.
fn durations(name: &str, options: &OpenOptions, record: &Record) -> (f64, f64) {
    let (first, last) = (&record.samples[0], record.samples.last().unwrap());
    (announced(name, options).iter().map(|(_, s)| s).sum(), (last.end - first.start).as_s())
}

fn measured(name: &str, options: &OpenOptions) -> (Record, Extraction) {
    measured_by(name, options, &[])
}

/// By these probes and what they need; all, if none.
pub fn measured_by(name: &str, options: &OpenOptions, probes: &[&str]) -> (Record, Extraction) {
    let mut device = device::open(&format!("sim:{name}"), options).unwrap();
    let probes = probes.iter().map(|&probe| probe.to_owned()).collect();
    let done = measure(device.as_mut(), &Options { probes, ..Options::default() }, &mut |_| true).unwrap();
    assert!(done.stopped.is_none(), "{name}: {:?}", done.stopped);
    let found = extract(&done.record).unwrap();
    (done.record, found)
}

mod truth;
pub use truth::Truth;

/// One line of a comparison.
pub struct Row {
    pub name: String,
    pub truth: f64,
    pub found: Option<f64>,
    /// Half width of its 95 % confidence interval, where it has one.
    #[allow(dead_code, reason = "not every test file asks for it")]
    pub ci95: Option<f64>,
    /// Allowed difference.
    pub allowed: f64,
}

impl Row {
    pub fn holds(&self) -> bool {
        self.found.is_some_and(|found| (found - self.truth).abs() <= self.allowed)
    }
}

/// Everything that is promised, side by side.
pub fn compare(truth: &Truth, record: &Record, found: &Extraction) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |name: &str, truth: f64, (found, ci95): (Option<f64>, Option<f64>), allowed: f64| {
        rows.push(Row { name: name.to_owned(), truth, found, ci95, allowed });
    };
    let seen = |name: &str| found.parameter(name).map_or((None, None), |seen| (seen.value, seen.ci95));
    row("rotation_ms", truth.turn_ms, seen("rotation_ms"), truth.turn_ms * 1e-3);
    row("heads", f64::from(truth.spec.layout.heads), seen("heads"), 0.0);
    row("zones", truth.zones.len() as f64, seen("zones"), 0.0);
    for (index, zone) in truth.zones.iter().enumerate() {
        let here = found.zones.iter().min_by_key(|z| z.first_lba.abs_diff(zone.first_lba));
        let track = zone.sectors_per_track as f64;
        row(
            &format!("zone{index}.first"),
            zone.first_lba as f64,
            (here.map(|z| z.first_lba as f64), None),
            track,
        );
        row(&format!("zone{index}.sectors"), track, (here.map(|z| z.sectors_per_track as f64), None), 0.0);
        // Neighbours with equally many sectors may have different skews: those of where it was measured count.
        let place = here.and_then(|here| {
            let samples = record.of(ProbeName::ZoneTracks).filter(|sample| sample.step >= 0);
            let lbas = samples.map(|sample| sample.lba);
            // Where a second actuator is taken for more zones of the first, there is no truth to hold them against.
            let known = lbas.filter(|&lba| lba < truth.layout.capacity());
            known.filter(|lba| (here.first_lba..here.end_lba).contains(lba)).last()
        });
        let (track_skew, cylinder_skew) = truth.skews_at(place.unwrap_or(zone.first_lba));
        let of_head = here.map_or((None, None), |z| (z.track_skew_sectors, z.track_skew_ci95_sectors));
        let of_cylinder =
            here.map_or((None, None), |z| (z.cylinder_skew_sectors, z.cylinder_skew_ci95_sectors));
        for (kind, skew, seen) in [("track", track_skew, of_head), ("cylinder", cylinder_skew, of_cylinder)] {
            let skew = skew.rem_euclid(zone.per_turn as f64);
            // Rounded, it is the truth.
            row(&format!("zone{index}.{kind}_skew"), skew, seen, 0.5);
        }
    }
    let write = truth.write_mtm_ms(None);
    row("mtm_ms", write, seen("mtm_ms"), 0.01 * write);
    let read = truth.read_mtm_ms(None);
    row("mtm_read_ms", read, seen("mtm_read_ms"), 0.01 * read);
    let cylinder_heads_differ =
        !truth.by_surface() && truth.spec.layout.order == headstack_drive::spec::Order::Classical;
    for (name, cylinders, differ, writes) in [
        ("write_head_switch_ms", 0, true, true),
        ("write_cylinder_switch_ms", 1, cylinder_heads_differ, true),
        ("head_switch_ms", 0, true, false),
        ("cylinder_switch_ms", 1, cylinder_heads_differ, false),
    ] {
        let moved = truth.switch_ms(cylinders, differ, writes);
        let expected = if writes {
            truth.write_mtm_ms(Some(moved)) - write
        } else {
            truth.read_mtm_ms(Some(moved)) - read
        };
        if expected > 0.004 {
            row(name, expected, seen(name), (0.01 * expected).max(0.0015));
        } else {
            // Hidden: a bound, never a value.
            let observable = found.parameter(name).is_some_and(|parameter| parameter.observable);
            row(&format!("{name}.hidden"), 0.0, (Some(f64::from(u8::from(observable))), None), 0.0);
        }
    }
    for (name, points, writes, rest) in
        [("seek.write", &found.seek.write, true, write), ("seek.read", &found.seek.read, false, read)]
    {
        for point in points {
            // The distance between the cylinders that the accesses were to: those without data cannot be seen.
            let (base, step) = (if writes { 0 } else { 2 }, point.cylinders as i64);
            let places: Vec<(u32, u32)> = record
                .of(ProbeName::SeekCurve)
                .filter(|s| s.series / 2 == base / 2 && s.step == step && s.series % 2 == 0)
                .filter(|s| matches!(s.role, Role::Measure | Role::Position))
                .filter(|s| s.lba < truth.layout.capacity())
                .map(|s| truth.layout.locate(s.lba))
                .map(|place| (place.cylinder, place.head))
                .collect();
            let cylinders = || places.iter().map(|place| place.0);
            let distance = cylinders().max().unwrap_or(0) - cylinders().min().unwrap_or(0);
            // Where surfaces were not counted, tracks that lie apart may be of one cylinder.
            let differ = distance == 0 && places.iter().any(|place| place.1 != places[0].1);
            let moved = truth.move_ms(distance, differ, writes);
            let full = if writes { truth.write_mtm_ms(Some(moved)) } else { truth.read_mtm_ms(Some(moved)) };
            row(
                &format!("{name}.{}", point.cylinders),
                full - rest,
                (Some(point.ms), Some(point.ci95_ms)),
                0.02 * (full - rest).abs() + 0.0015,
            );
        }
    }
    rows
}

/// What is told of a drive beside what the file says that is made of it; nothing where none is.
pub fn file_rows(found: &Extraction) -> Vec<Row> {
    let Ok(spec) = rebuild(found, "rebuilt") else { return Vec::new() };
    let zones = spec.layout.zone.iter().map(|zone| zone.sectors_per_track);
    // Where neighbours with equally many sectors differ in skew, the file needs more than one for what is one zone.
    let kinds = zones.fold(Vec::new(), |mut kinds, sectors| {
        if kinds.last() != Some(&sectors) {
            kinds.push(sectors);
        }
        kinds
    });
    let capacity = Layout::new(&spec.layout).capacity() * u64::from(spec.actuators);
    let json = found.to_json();
    let last = found.zones.last().and_then(|zone| zone.last_cylinder);
    let rows = [
        ("zones", kinds.len() as f64, found.value("zones")),
        ("zones in JSON", kinds.len() as f64, json["zones"].as_array().map(|zones| zones.len() as f64)),
        ("cylinders", f64::from(spec.layout.cylinders_with_tracks()), found.value("cylinders")),
        ("cylinders in JSON", f64::from(spec.layout.cylinders_with_tracks()), json["cylinders"].as_f64()),
        ("last cylinder", f64::from(spec.layout.cylinders_with_tracks()) - 1.0, last.map(|last| last as f64)),
        ("heads", f64::from(spec.layout.heads), found.value("heads")),
        ("heads in JSON", f64::from(spec.layout.heads), json["heads"].as_f64()),
        ("capacity", capacity as f64, Some(found.device.sectors as f64)),
    ];
    let row = |(name, truth, found): (&str, f64, Option<f64>)| Row {
        name: format!("{name} of the file"),
        truth,
        found,
        ci95: None,
        allowed: 0.0,
    };
    rows.map(row).into_iter().collect()
}

/// Measures a drive of the library; the names of what does not hold. Where it is only read, what only writes show is left
/// out, and must not be spoken of.
pub fn misses(name: &str, options: &OpenOptions, counts: &dyn Fn(&Row) -> bool) -> Vec<String> {
    let (record, found) = measured(name, options);
    misses_of(name, options, &record, &found, counts)
}

/// The same of a drive that has been measured.
pub fn misses_of(
    name: &str,
    options: &OpenOptions,
    record: &Record,
    found: &Extraction,
    counts: &dyn Fn(&Row) -> bool,
) -> Vec<String> {
    let stalls = found.warnings.iter().find(|warning| warning.kind() == "stalls");
    assert!(stalls.is_none(), "{name} has no recalibration, yet {}", stalls.unwrap());
    let truth = Truth { only_reads: options.read_only, ..Truth::of(name) };
    let mut rows = compare(&truth, record, found);
    rows.extend(file_rows(found));
    if options.read_only {
        let of_writes = |name: &str| {
            name == "mtm_ms" || ["write_", "seek.write."].iter().any(|start| name.starts_with(start))
        };
        rows.retain(|row| !of_writes(&row.name));
        assert!(!found.parameters.iter().any(|parameter| of_writes(parameter.name)), "{name}: what writes?");
    }
    // How long reads alone take depends on a cache that is not known yet; noise brings repetitions that nobody asked for.
    if !options.read_only && options.noise == Noise::NONE {
        let (expected_s, took_s) = durations(name, options, record);
        let allowed = (if expected_s > took_s { 0.5 } else { 1.0 / 3.0 }) * took_s;
        rows.push(Row {
            name: "announced time".to_owned(),
            truth: took_s,
            found: Some(expected_s),
            ci95: None,
            allowed,
        });
    }
    assert!(rows.len() > 40, "{name}: only {} values to compare", rows.len());
    let missed = rows.iter().filter(|row| counts(row) && !row.holds());
    missed.map(|row| format!("{name} {}: {} is true, found {:?}", row.name, row.truth, row.found)).collect()
}

/// Four actuators of one zone each: nothing in their addresses tells where one ends, so they are measured as one stack of four times the
/// cylinders, whose seeks from actuator to actuator cost nothing.
const NOT_TOLD: &str = "ibm-3380-ak4";

/// The drives of the library whose build the addresses tell.
pub fn drives() -> impl Iterator<Item = &'static str> {
    library::drives().iter().map(|entry| entry.name).filter(|&name| name != NOT_TOLD)
}

/// These, or one in `ONE_IN` of them: another share at each `TURN`.
pub fn drives_in_turn() -> impl Iterator<Item = &'static str> {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let (one_in, turn) = (number("ONE_IN").unwrap_or(1).max(1), number("TURN").unwrap_or(0));
    drives().skip(turn % one_in).step_by(one_in)
}

/// Measures drives of the library, one on each core at a time, and fails with the names of what does not hold and `counts`.
pub fn check(
    names: impl IntoIterator<Item = &'static str>,
    options: &OpenOptions,
    counts: impl Fn(&Row) -> bool + Sync,
) {
    let wrong = missed(names, options, counts);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Measures drives of the library, one on each core at a time: the rows that do not hold and `counts`, each with its drive.
pub fn missed(
    names: impl IntoIterator<Item = &'static str>,
    options: &OpenOptions,
    counts: impl Fn(&Row) -> bool + Sync,
) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let missed = misses(name, options, &counts);
                    wrong.lock().unwrap().extend(missed);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong
}
