//! Whether intervals hold the truth as often as they say: 95 % of them.

use super::common::{Row, Truth, compare, measured_by};
use super::{NOISY, through};
use headstack_measure::device::OpenOptions;
use headstack_measure::extract::SeekPoint;
use headstack_system::library;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Each drive is measured so often, through other noise.
const SEEDS: u64 = 3;
/// Drives with so many sectors take long, and their intervals are made in the same way.
const MOST_SECTORS: u64 = 2_000_000_000;

/// A value with an interval: what kind it is of, and by how many half widths of its interval it misses the truth.
struct Interval {
    name: String,
    kind: &'static str,
    off: f64,
}

/// The intervals of a drive of the library that say how sure a time is.
fn intervals(name: &str, options: &OpenOptions) -> Vec<Interval> {
    let (record, found) = measured_by(name, options, &["seek-curve"]);
    let interval = |row: &Row| -> Option<Interval> {
        let point = |points: &[SeekPoint], cylinders: &str| -> Option<f64> {
            let cylinders: u64 = cylinders.parse().ok()?;
            points.iter().find(|point| point.cylinders == cylinders).map(|point| point.ci95_ms)
        };
        let (kind, ci95) = if let Some(cylinders) = row.name.strip_prefix("seek.write.") {
            ("seek before a write", point(&found.seek.write, cylinders)?)
        } else if let Some(cylinders) = row.name.strip_prefix("seek.read.") {
            ("seek before a read", point(&found.seek.read, cylinders)?)
        } else {
            let kind = match row.name.as_str() {
                "rotation_ms" => "rotation",
                "mtm_ms" | "mtm_read_ms" => "time on a track",
                switch if switch.ends_with("switch_ms") => "switch",
                _ => return None,
            };
            (kind, found.parameter(&row.name)?.ci95?)
        };
        Some(Interval { name: format!("{name} {}", row.name), kind, off: (row.found? - row.truth) / ci95 })
    };
    compare(&Truth::of(name), &record, &found).iter().filter_map(interval).collect()
}

/// All intervals of the smaller drives of the library, measured on all cores.
fn all_intervals() -> Vec<Interval> {
    let sectors = |name: &str| Truth::of(name).layout.capacity();
    let names = library::drives().iter().map(|entry| entry.name).filter(|name| sectors(name) < MOST_SECTORS);
    let runs: Vec<(&str, u64)> = names.flat_map(|name| (1..=SEEDS).map(move |seed| (name, seed))).collect();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(name, seed)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let options = OpenOptions { seed, ..through(NOISY) };
                    let found = intervals(name, &options);
                    all.lock().unwrap().extend(found);
                }
            });
        }
    });
    all.into_inner().unwrap()
}

#[test]
#[ignore = "slow: more than a hundred measurements"]
fn coverage_of_intervals_is_what_they_say() {
    let mut kinds: BTreeMap<&str, Vec<Interval>> = BTreeMap::new();
    for interval in all_intervals() {
        kinds.entry(interval.kind).or_default().push(interval);
    }
    assert_eq!(kinds.len(), 5, "{:?}", kinds.keys());
    let (mut lines, mut wrong) = (Vec::new(), false);
    for (kind, mut all) in kinds {
        all.sort_by(|a, b| b.off.abs().total_cmp(&a.off.abs()));
        let share = |most: f64| {
            let held = all.iter().filter(|interval| interval.off.abs() <= most).count();
            100.0 * held as f64 / all.len() as f64
        };
        // Outside by more than the interval is wide.
        let silently = 100.0 - share(3.0);
        let holds = all.len() >= 100 && (90.0..=99.0).contains(&share(1.0)) && silently < 1.0;
        wrong |= !holds;
        let worst: Vec<String> =
            all.iter().take(8).map(|interval| format!("{} {:.1}", interval.name, interval.off)).collect();
        lines.push(format!(
            "{kind}: {:.1} % of {} hold, {silently:.1} % are far off; {}",
            share(1.0),
            all.len(),
            worst.join(", ")
        ));
    }
    assert!(!wrong, "90 to 99 % should hold, and fewer than 1 % be far off:\n{}", lines.join("\n"));
}
