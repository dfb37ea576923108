//! Runs of the original DiskSim 4.0, request by request, against drives imported with its own meaning: 6,000 requests on
//! each of ten drives, played closed (each issued a think time after the one before was complete). Where the runs are at
//! hand (`$HEADSTACK_DATA`, `../shared/data`).

use flate2::read::GzDecoder;
use headstack_disksim::{Meaning, Options, import};
use headstack_drive::command::{CacheResult, Command};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs, and the parameter files that they were made from.
const RUNS: [(&str, &[&str]); 10] = [
    ("atlas_III", &["drives/atlas_III.diskspecs"]),
    ("atlas10k", &["drives/atlas10k.diskspecs"]),
    ("barracuda", &["drives/barracuda.diskspecs"]),
    ("cheetah4LP", &["drives/cheetah4LP.diskspecs"]),
    ("cheetah9LP", &["drives/cheetah9LP.diskspecs"]),
    ("dec_rz26", &["drives/dec_rz26.diskspecs", "validate/dec_rz26.parv"]),
    ("hp_c2247a", &["drives/hp_c2247a.diskspecs", "validate/hp_c2247a.parv"]),
    ("hp_c2490a", &["drives/hp_c2490a.diskspecs", "validate/hp_c2490a.parv"]),
    ("hp_c3323a", &["drives/hp_c3323a_validate.diskspecs", "validate/hp_c3323a.parv"]),
    ("ibm18es", &["drives/ibm18es.diskspecs"]),
];

/// Requests that end within this of DiskSim's count as the same, in ms.
const SAME_MS: f64 = 0.05;

/// So many of them must be the same.
const LEAST_SHARE: f64 = 0.995;

/// By how much the means may differ. On the C2247A 21 writes close to where the arm is lose a revolution in DiskSim, which no
/// rule found so far explains.
fn most_mean_error(name: &str) -> f64 {
    if name == "hp_c2247a" { 0.003 } else { 0.002 }
}

struct Request {
    op: Op,
    lba: u64,
    sectors: u32,
    think: Nanos,
    /// DiskSim's service time, in ms.
    service_ms: f64,
}

/// The folder of data; none on a machine without the runs.
#[expect(clippy::print_stderr, reason = "says why a test did nothing")]
pub(super) fn data() -> Option<PathBuf> {
    let data = std::env::var_os("HEADSTACK_DATA").map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let folder = data.unwrap_or(beside);
    if !folder.join("disksim-runs").is_dir() {
        eprintln!("skipped: there is no folder {}/disksim-runs (set HEADSTACK_DATA)", folder.display());
        return None;
    }
    Some(folder)
}

/// The text of a compressed file.
pub(super) fn text(file: &Path) -> String {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    text
}

fn requests(file: &Path) -> Vec<Request> {
    let text = text(file);
    let mut issued_ms = 0.0;
    let row = |line: &str| {
        let mut fields = line.split(',');
        let mut next = || fields.next().unwrap();
        let op = if next() == "R" { Op::Read } else { Op::Write };
        let (lba, sectors) = (next().parse().unwrap(), next().parse().unwrap());
        let think_us: f64 = next().parse().unwrap();
        let completed_ms: f64 = next().parse().unwrap();
        let service_ms = completed_ms - issued_ms;
        issued_ms = completed_ms + think_us / 1e3;
        Request { op, lba, sectors, think: Nanos::from_ms(think_us / 1e3), service_ms }
    };
    text.lines().skip(1).map(row).collect()
}

/// What came of one drive.
struct Score {
    requests: usize,
    same: usize,
    mean_ms: f64,
    disksim_mean_ms: f64,
    /// Requests that differ, by kind: how many, and their mean difference.
    differing: BTreeMap<String, (usize, f64)>,
    /// The first of them.
    first: Vec<String>,
}

impl Score {
    fn share(&self) -> f64 {
        self.same as f64 / self.requests as f64
    }

    fn mean_error(&self) -> f64 {
        self.mean_ms / self.disksim_mean_ms - 1.0
    }
}

fn score(folder: &Path, name: &str, files: &[&str], meaning: Meaning) -> Score {
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
    let drive = import(&paths, &Options { meaning, ..Options::default() }).unwrap();
    let model = Arc::new(DriveModel::new(&drive.spec).unwrap());
    let run = requests(&folder.join(format!("disksim-runs/drive-{name}.csv.gz")));
    let bus = model.bus();
    let mut drive = Drive::new(Arc::clone(&model), 1);
    let mut background = Vec::new();
    let mut score = Score {
        requests: run.len(),
        same: 0,
        mean_ms: 0.0,
        disksim_mean_ms: 0.0,
        differing: BTreeMap::new(),
        first: Vec::new(),
    };
    let (mut at, mut before) = (Nanos::ZERO, "-");
    for (index, request) in run.iter().enumerate() {
        let &Request { op, lba, sectors, think, service_ms } = request;
        let command =
            Command { id: index as u64, op, lba: Lba(lba), sectors, flags: RequestFlags::default() };
        let outcome = drive.serve(at, command, &bus, &mut background);
        let ours_ms = (outcome.finish - at).as_ms();
        score.mean_ms += ours_ms / run.len() as f64;
        score.disksim_mean_ms += service_ms / run.len() as f64;
        let kind = kind(op, outcome.cache);
        if (ours_ms - service_ms).abs() <= SAME_MS {
            score.same += 1;
        } else {
            let entry = score.differing.entry(format!("{kind} after {before}")).or_default();
            entry.0 += 1;
            entry.1 += ours_ms - service_ms;
            score.first.push(format!(
                "{index}: {kind} {lba}+{sectors} at {:.4} after {before}: {ours_ms:.4}, DiskSim {service_ms:.4}",
                at.as_ms()
            ));
        }
        before = kind;
        at = outcome.finish + think;
    }
    score
}

fn kind(op: Op, cache: CacheResult) -> &'static str {
    match (op, cache) {
        (Op::Read, CacheResult::Hit) => "read hit",
        (Op::Read, CacheResult::PartialHit) => "read partial hit",
        (Op::Read, _) => "read miss",
        (Op::Write, CacheResult::ReportedEarly) => "early write",
        (Op::Write, _) => "write",
    }
}

/// How many of the first requests that differ are printed, where somebody looks for their cause.
fn shown() -> usize {
    std::env::var("SHOW_REQUESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[expect(clippy::print_stdout, reason = "a report for whoever runs the test with --nocapture")]
fn report(name: &str, score: &Score) {
    println!(
        "{name:12} within {SAME_MS} ms: {:7.3} %   mean {:8.4} ms, DiskSim {:8.4} ms ({:+.3} %)",
        1e2 * score.share(),
        score.mean_ms,
        score.disksim_mean_ms,
        1e2 * score.mean_error()
    );
    if shown() > 0 {
        for (kind, (count, sum)) in &score.differing {
            println!("    {count:5} × {kind}, by {:+.4} ms", sum / *count as f64);
        }
        for row in score.first.iter().take(shown()) {
            println!("    {row}");
        }
    }
}

#[test]
fn drives_imported_with_disksims_meaning_do_what_disksim_did() {
    let Some(folder) = data() else { return };
    let only = std::env::var("ONLY_RUN").unwrap_or_default();
    let mut off = Vec::new();
    for (name, files) in RUNS.iter().filter(|(name, _)| name.contains(&only)) {
        let score = score(&folder, name, files, Meaning::Disksim);
        report(name, &score);
        if score.share() < LEAST_SHARE || score.mean_error().abs() > most_mean_error(name) {
            off.push(*name);
        }
    }
    assert!(off.is_empty(), "not as DiskSim: {off:?}");
}
