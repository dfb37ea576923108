//! Drives that fail during a run, and are rebuilt.

use std::sync::Arc;

use headstack_trace::{InMemory, Op, Request};
use headstack_units::{Lba, Nanos};

use super::*;
use crate::record::Keep;
use crate::summary::RebuildSummary;

/// A drive of 42 MB: so few cylinders of an HP 97560 that it is soon rebuilt.
const SMALL: &str = "drives/small.toml";
const CYLINDERS: u32 = 60;

fn drive_file() -> String {
    let text = include_str!("../../../../drives/hp-97560.toml");
    let (before, regions) = text.split_once("# Three data regions").unwrap();
    let (_, after) = regions.split_once("[seek.two-piece]").unwrap();
    let text = format!("{before}[seek.two-piece]{after}").replace("\"layout.region\"", "\"layout\"");
    text.replace("cylinders = 1962", &format!("cylinders = {CYLINDERS}"))
        .replace("last_cylinder = 1961", &format!("last_cylinder = {}", CYLINDERS - 1))
}

fn config(
    level: &str,
    drives: usize,
    more: &str,
    set: &[(&str, &str)],
) -> Result<crate::SystemConfig, SystemError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("drives")).unwrap();
    std::fs::write(folder.path().join(SMALL), drive_file()).unwrap();
    let text = format!(
        "[volume.v]\nlevel = \"{level}\"\ndrives = [{}]\n{more}\n",
        vec![format!("\"{SMALL}\""); drives].join(", ")
    );
    let text = text.replace("SPARE", &format!("\"{SMALL}\""));
    let (name, origin) = ("test".to_owned(), "test.toml".to_owned());
    let source = crate::library::Source { name, origin, directory: Some(folder.path().to_owned()), text };
    let set: Vec<(String, String)> =
        set.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    crate::SystemConfig::from_source(&source, &set)
}

fn system(level: &str, drives: usize, more: &str) -> Arc<System> {
    let config = config(level, drives, more, &[]).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(System::new(config).unwrap_or_else(|error| panic!("{error}")))
}

fn go(system: &Arc<System>, requests: Vec<Request>) -> (Keep, Summary) {
    let mut kept = Keep::default();
    let input = Input::Source(Box::new(InMemory::new(requests)));
    let options = RunOptions::default();
    let summary =
        run(system, input, &options, &mut kept, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    (kept, summary)
}

fn rebuilt(system: &Arc<System>, requests: Vec<Request>) -> (RebuildSummary, Summary) {
    let (_, summary) = go(system, requests);
    assert_eq!(summary.rebuilds.len(), 1);
    (summary.rebuilds[0].clone(), summary)
}

/// Small requests all over the volume.
fn load(count: u64, gap_ms: u64) -> Vec<Request> {
    let op = |i| if i % 3 == 0 { Op::Write } else { Op::Read };
    (0..count)
        .map(|i| Request::new(Nanos(i * gap_ms * 1_000_000), op(i), Lba(i * 11_117 % 80_000), 8))
        .collect()
}

/// What is done of a rebuild when the run begins is done: the rest takes what it takes of a whole one.
#[test]
fn a_rebuild_goes_on_from_where_it_is() {
    for order in ["ascending", "descending"] {
        let of = |done: f64| {
            let more = format!(
                "failed_drives = [0]\nspares = [SPARE]\nrebuild = {{ order = \"{order}\", done_percent = {done:?} }}"
            );
            rebuilt(&system("raid-1", 2, &more), Vec::new()).0
        };
        let [whole, rest] = [0.0, 75.0].map(of);
        assert!((rest.rebuilt_mb / whole.rebuilt_mb - 0.25).abs() < 0.02, "{rest:?} {whole:?}");
        assert_eq!((rest.held_mb, rest.progress), (whole.held_mb, 1.0));
        assert!((rest.done_before_mb + rest.rebuilt_mb - rest.held_mb).abs() < 1e-9, "{rest:?}");
        let last = of(99.9999);
        assert_eq!((last.hours, last.rebuilt_mb, last.mb_per_s), (Some(0.0), 0.0, None));
        // All tracks are as fast.
        assert!((rest.mb_per_s.unwrap() / whole.mb_per_s.unwrap() - 1.0).abs() < 0.08, "{rest:?} {whole:?}");
        assert_eq!(rest.progress_s.len(), 20);
        assert!(rest.progress_s[..14].iter().all(|mark| mark[1] == 0.0) && rest.progress_s[15][1] > 0.0);
    }
}

#[test]
fn how_much_of_a_rebuild_is_done_is_a_share_of_one_that_has_begun() {
    let more = |done: &str, failed: &str| {
        let more = format!("spares = [SPARE]\nrebuild = {{ done_percent = {done} }}\n{failed}");
        config("raid-1", 2, &more, &[]).unwrap_err().to_string()
    };
    for done in ["100.0", "-1.0", "nan", "inf"] {
        assert!(more(done, "failed_drives = [0]").contains("is not at least 0 and below 100"));
    }
    assert!(more("50.0", "").contains("no drive has failed before the run"));
}

#[test]
fn a_drive_that_failed_before_the_run_is_not_recalibrated() {
    let set = [("drive.*.recalibration", "{mode=\"by-host\", interval_s=2, duration_ms=20}")];
    let config = config("raid-1", 2, "failed_drives = [0]", &set).unwrap_or_else(|error| panic!("{error}"));
    let system = Arc::new(System::new(config).unwrap_or_else(|error| panic!("{error}")));
    let (_, summary) = go(&system, load(200, 50));
    assert_eq!(summary.drives[0].utilisation, 0.0);
    assert!(summary.drives[1].utilisation > 0.05);
}

/// Wherever counting begins: in the midst of a recalibration, too, that a drive would have had.
#[test]
fn a_drive_that_failed_before_the_run_does_nothing_behind_any_warm_up() {
    for (mode, off_at_s) in [("by-drive", 0.0), ("by-host", 0.0), ("by-drive", 3.0)] {
        let recalibration = format!("{{mode=\"{mode}\", interval_s=2, duration_ms=500}}");
        let set = [("drive.*.recalibration", recalibration.as_str())];
        let more = match off_at_s {
            0.0 => "failed_drives = [0]".to_owned(),
            at_s => format!("failures = [{{ drive = 0, at_s = {at_s:?} }}]"),
        };
        let system = Arc::new(System::new(config("raid-1", 2, &more, &set).unwrap()).unwrap());
        for tenths in (0..70).filter(|tenths| f64::from(*tenths) / 10.0 >= off_at_s + 1.0 || off_at_s == 0.0)
        {
            let warmup = Warmup::Seconds(f64::from(tenths) / 10.0);
            let mut kept = Keep::default();
            let input = Input::Source(Box::new(InMemory::new(load(200, 50))));
            let options = RunOptions { warmup, ..RunOptions::default() };
            let summary = run(&system, input, &options, &mut kept, &mut |_| {}).unwrap();
            let (failed, other) = (&summary.drives[0], &summary.drives[1]);
            assert_eq!(failed.utilisation, 0.0, "{mode}, failed at {off_at_s} s, from {tenths} tenths on");
            assert!(other.utilisation > 0.05);
        }
    }
}

#[test]
fn an_idle_pair_is_rebuilt_in_the_time_of_the_whole_surface() {
    // Tracks of 72 sectors: a revolution and the skew each; every 19th track is the next cylinder's.
    let (cylinders, heads) = (1_000.0, 19.0);
    let larger = [("drive.*.layout.cylinders", "1000"), ("drive.*.layout.zone.0.last_cylinder", "999")];
    let revolutions = cylinders * (heads + (8.0 * (heads - 1.0) + 18.0) / 72.0);
    let surface_s = revolutions * 60.0 / 4_002.0;
    for more in
        ["spares = [SPARE]\nfailed_drives = [0]", "spares = [SPARE]\nfailures = [{ drive = 0, at_s = 0.0 }]"]
    {
        let config = config("raid-1", 2, more, &larger).unwrap();
        let (rebuild, summary) = rebuilt(&Arc::new(System::new(config).unwrap()), Vec::new());
        let took = rebuild.finished_s.unwrap();
        assert!((took / surface_s - 1.0).abs() < 0.02, "{took} s, the surface takes {surface_s}");
        assert_eq!((rebuild.progress, rebuild.progress_s.len()), (1.0, 20));
        assert_eq!((rebuild.drive.as_str(), rebuild.onto.as_deref()), ("v.0", Some("v.spare0")));
        assert!((rebuild.rebuilt_mb - cylinders * heads * 72.0 * 512.0 / 1e6).abs() < 1e-6);
        assert_eq!(summary.drives[0].commands, 0);
        assert!((summary.simulated_s - took).abs() < 1e-9);
    }
}

/// A pair of a drive of the library, of which so many sectors are used: how long a rebuild takes with nothing else to do, and the
/// outermost tracks, in which they lie, one after the other.
fn pair_of(name: &str, sectors: u64, more: &str) -> (f64, f64) {
    let text = format!(
        "[volume.v]\nlevel = \"raid-1\"\ndrives = [\"{name}\", \"{name}\"]\nspares = [\"{name}\"]\n{more}"
    );
    let (called, origin) = ("test".to_owned(), "test.toml".to_owned());
    let source = crate::library::Source { name: called, origin, directory: None, text };
    let set = [("drive.*.layout.capacity_sectors".to_owned(), sectors.to_string())];
    let config = crate::SystemConfig::from_source(&source, &set).unwrap_or_else(|error| panic!("{error}"));
    let spec = &config.drives[0].spec;
    let rate = headstack_drive::zone_rates(spec)[0].possible_mb_per_s;
    let surface_s = sectors as f64 * f64::from(spec.sector_bytes) / 1e6 / rate;
    let (rebuild, _) = rebuilt(&Arc::new(System::new(config).unwrap()), Vec::new());
    (rebuild.finished_s.unwrap(), surface_s)
}

/// Of three kinds: one that takes a command at a time and reports a write early if it fits in its buffer, and two that queue
/// commands and cache writes, or take the data of the next one while one is written.
#[test]
fn the_next_write_of_an_idle_pair_is_at_hand_before_the_last_is_on_the_media() {
    let off = "failed_drives = [0]";
    for (name, sectors) in
        [("hp-97560", 400_000), ("sas-15k-300gb", 8_000_000), ("nearline-18tb", 40_000_000)]
    {
        let (took, surface_s) = pair_of(name, sectors, off);
        assert!((took / surface_s - 1.0).abs() < 0.02, "{name}: {took} s, the surface takes {surface_s}");
    }
    // A step that fills the buffer loses a revolution (15 ms) for each 128 KiB (59 ms).
    let (took, surface_s) = pair_of("hp-97560", 400_000, &format!("{off}\nrebuild.step_kib = 128"));
    assert!(took / surface_s > 1.2, "{took} s, the surface takes {surface_s}");
}

#[test]
fn a_step_fits_twice_in_the_buffer_of_a_drive_that_reports_early_over_a_bus_that_keeps_up() {
    let step_kib = |more: &str, set: &[(&str, &str)]| {
        let system = System::new(config("raid-1", 2, more, set).unwrap()).unwrap();
        let config = system.config();
        let models: Vec<_> = (0..3).map(|drive| Arc::clone(system.model(drive).unwrap())).collect();
        crate::targets::rebuild_of(config, &config.volumes[0], &models).step_kib()
    };
    let spare = "spares = [SPARE]";
    assert_eq!(step_kib(spare, &[]), 64.0);
    assert_eq!(step_kib(&format!("{spare}\nrebuild.step_kib = 256"), &[]), 256.0);
    assert_eq!(step_kib(spare, &[("drive.*.buffer.size_kib", "500")]), 192.0);
    assert_eq!(step_kib(spare, &[("drive.*.buffer.size_kib", "1e6")]), 1024.0);
    assert_eq!(step_kib(spare, &[("drive.*.write_policy", "{ write-through = {} }")]), 1024.0);
    assert_eq!(step_kib(spare, &[("drive.*.bus.write_mb_per_s", "2")]), 1024.0);
}

#[test]
fn a_spare_takes_writes_at_the_share_of_its_rate_that_is_given() {
    for name in ["hp-97560", "nearline-18tb"] {
        let sectors = if name == "hp-97560" { 400_000 } else { 40_000_000 };
        let (took, surface_s) = pair_of(name, sectors, "failed_drives = [0]\nrebuild.write_efficiency = 0.8");
        let share = surface_s / took;
        assert!((share / 0.8 - 1.0).abs() < 0.01, "{name}: {share}");
    }
    // In each zone of its own rate: the outer half of a drive whose tracks are longer there is done sooner, as without a loss.
    let zone = |first: u32, last: u32, sectors: u32| {
        format!(
            "{{ first_cylinder = {first}, last_cylinder = {last}, sectors_per_track = {sectors}, track_skew_sectors = {}, \
             cylinder_skew_sectors = {} }}",
            f64::from(sectors) / 9.0,
            f64::from(sectors) / 4.0
        )
    };
    let zones = format!("[{}, {}]", zone(0, 29, 72), zone(30, 59, 36));
    let zones = [("drive.*.layout.zone", zones.as_str())];
    let marks = |more: &str| {
        let more = format!("spares = [SPARE]\nfailed_drives = [0]\n{more}");
        let config = config("raid-1", 2, &more, &zones).unwrap_or_else(|error| panic!("{error}"));
        let (rebuild, _) = rebuilt(&Arc::new(System::new(config).unwrap()), Vec::new());
        let at = |mark: usize| rebuild.progress_s[mark][1];
        [at(11), at(18) - at(13)]
    };
    let (own, taken) = (marks(""), marks("rebuild.write_efficiency = 0.5"));
    for (own, taken) in own.into_iter().zip(taken) {
        assert!((taken / own - 2.0).abs() < 0.06, "{own} s, then {taken} s");
    }
}

#[test]
fn all_survivors_are_read_if_asked_for() {
    // One lost unit of a stripe of 2 data and 2 parities: 2 of the 3 that are left tell it.
    for (reads, expected) in [("enough", 2), ("all", 3)] {
        let more = format!(
            "spares = [SPARE]\nfailed_drives = [0]\nrebuild = {{ step_kib = 64, reads = \"{reads}\" }}"
        );
        let config = config("raid-6", 4, &more, &[]).unwrap();
        let (_, summary) = rebuilt(&Arc::new(System::new(config).unwrap()), Vec::new());
        // Steps of one stripe: a command for each unit.
        let commands = |place: usize| summary.drives[place].commands;
        assert_eq!((1..4).map(commands).sum::<u64>(), expected * commands(4), "{reads}");
    }
}

/// What the small drive holds.
fn drive_mb() -> f64 {
    f64::from(CYLINDERS) * 19.0 * 72.0 * 512.0 / 1e6
}

#[test]
fn every_level_is_rebuilt_under_load_and_then_leaves_the_failed_drive_alone() {
    for (level, drives, more) in [
        ("raid-1", 3, ""),
        ("raid-10", 5, "stripe_unit_kib = 16"),
        ("raid-4", 4, ""),
        ("raid-5", 4, "rebuild.order = \"descending\""),
        ("raid-6", 5, "write_order = \"after-own-reads\""),
        ("declustered", 7, "declustered = { group_width = 4, row_kib = 256, design = \"permuted\" }"),
        ("declustered", 7, "declustered = { group_width = 3, row_kib = 64, design = \"block-design\" }"),
    ] {
        let more = format!("{more}\nspares = [SPARE]\nfailures = [{{ drive = 1, at_s = 1.0 }}]");
        let system = system(level, drives, &more);
        let (kept, summary) = go(&system, load(2_000, 60));
        assert_eq!((kept.rows.len(), summary.in_flight_cut), (2_000, 0), "{level}");
        let rebuild = &summary.rebuilds[0];
        let finished = rebuild.finished_s.unwrap_or_else(|| panic!("{level}: {rebuild:?}"));
        assert!(rebuild.failed_s == 1.0 && finished > 5.0 && finished < 110.0, "{level}: {rebuild:?}");
        assert!(rebuild.requests > 50 && rebuild.response_ms.p99 >= rebuild.response_ms.p50);
        // All of the failed drive that the level uses; of a declustered one some rows are left over.
        let share = rebuild.rebuilt_mb / drive_mb();
        assert!(share <= 1.0 && share > 0.9, "{level}: {rebuild:?}");
        assert!((rebuild.rebuilt_mb - rebuild.held_mb).abs() < 1e-6, "{level}: {rebuild:?}");
        // What was sent to the failed drive was sent in the first second; afterwards the spare serves.
        assert!(summary.drives[1].commands < 40, "{level}: {:?}", summary.drives[1]);
        let late = kept.rows.iter().filter(|row| row.arrival.as_s() > finished);
        assert!(late.filter(|row| row.drive == 1).count() == 0);
    }
}

#[test]
fn a_distributed_spare_takes_the_place_of_a_drive() {
    let more =
        "declustered = { group_width = 4, distributed_spares = 1, row_kib = 256 }\nfailed_drives = [3]";
    let (rebuild, summary) = rebuilt(&system("declustered", 9, more), load(500, 200));
    assert!(rebuild.onto.is_none() && rebuild.finished_s.is_some(), "{rebuild:?}");
    assert_eq!(summary.drives[3].commands, 0);
    // All others take part.
    let busiest = summary.drives.iter().map(|drive| drive.commands).max().unwrap();
    let others = summary.drives.iter().enumerate().filter(|(index, _)| *index != 3);
    assert!(others.clone().all(|(_, drive)| 2 * drive.commands > busiest), "{busiest}");
}

#[test]
fn a_rate_limit_is_kept_and_what_waits_below_requests_hurts_them_less() {
    let time = |more: &str, requests| {
        let more = format!("spares = [SPARE]\nfailed_drives = [0]\n[volume.v.rebuild]\n{more}");
        rebuilt(&system("raid-5", 4, &more), requests).0
    };
    let limited = time("rate_mb_per_s = 0.5", Vec::new());
    let hours = limited.hours.unwrap();
    assert!((hours * 3600.0 * 0.5 / drive_mb() - 1.0).abs() < 0.03, "{hours} h");
    let below = time("step_kib = 256", load(1_000, 40));
    let equal = time("step_kib = 256\npriority = \"equal\"\nwindow = 16", load(1_000, 40));
    assert!(below.response_ms.p99 < equal.response_ms.p99, "{below:?} {equal:?}");
    assert!(below.hours > equal.hours);
}

#[test]
fn more_failures_than_a_level_survives_end_the_run_and_say_what_is_lost() {
    let more = "spares = [SPARE]\nfailed_drives = [0]\nfailures = [{ drive = 2, at_s = 10.0 }]";
    let (kept, summary) = go(&system("raid-5", 4, more), load(2_000, 60));
    let loss = summary.data_loss.unwrap();
    assert_eq!((loss.at_s, loss.drives.as_slice()), (10.0, ["v.0".to_owned(), "v.2".to_owned()].as_slice()));
    // What the rebuild had not come to yet: of each stripe two members, most often both of data.
    let left = 1.0 - summary.rebuilds[0].progress;
    assert!(left > 0.2 && left < 0.9 && (loss.lost_share / left - 0.5).abs() < 0.02, "{left} {loss:?}");
    assert!(loss.first_lba > 0 && kept.rows.iter().all(|row| row.finish.as_s() <= 10.0));
    assert!((summary.simulated_s - 10.0).abs() < 1e-9);
    // So does one in which nothing but the rebuild was under way.
    let (_, quiet) = go(&system("raid-5", 4, more), load(1, 60));
    assert_eq!((quiet.requests, quiet.simulated_s, quiet.data_loss.unwrap().at_s), (1, 10.0, 10.0));
    assert!(quiet.drives.iter().all(|drive| drive.utilisation <= 1.0), "{:?}", quiet.drives);
    assert!(quiet.drives[1].utilisation > 0.5, "{:?}", quiet.drives[1]);
    // A level that survives two does.
    let (_, summary) = go(&system("raid-6", 5, more), Vec::new());
    assert!(summary.data_loss.is_none() && summary.rebuilds[0].finished_s.is_some());
    assert!(summary.rebuilds[1].began_s.is_none(), "there is one spare");
}

/// The last unit of 64 KiB by which a mirror is rebuilt is a short one on this drive.
#[test]
fn all_of_a_mirror_is_no_more_than_the_volume() {
    let system = system("raid-1", 2, "failed_drives = [1]\nfailures = [{ drive = 0, at_s = 1.0 }]");
    let sectors = system.volumes[0].sectors();
    assert_ne!(sectors % 128, 0);
    let loss = go(&system, load(3, 60)).1.data_loss.unwrap();
    assert_eq!((loss.lost_sectors, loss.lost_share), (sectors, 1.0), "{loss:?}");
    assert_eq!((loss.first_lba, loss.last_lba), (0, sectors - 1));
}

/// A rebuild that is over when the first request comes is in the books as it is beside an earlier one.
#[test]
fn what_is_rebuilt_before_the_first_request_counts() {
    let system = system("raid-1", 2, "spares = [SPARE]\nfailures = [{ drive = 0, at_s = 1.0 }]");
    let [early, late] = [0, 300].map(|at_s| {
        let at = Nanos(at_s * 1_000_000_000);
        let (rebuild, summary) = rebuilt(&system, vec![Request::new(at, Op::Read, Lba(0), 8)]);
        let busy_s = |drive: usize| summary.drives[drive].utilisation * summary.simulated_s;
        let commands = summary.drives.iter().map(|drive| drive.commands).sum::<u64>();
        assert!(summary.simulated_s >= at_s as f64);
        (commands, busy_s(1) + busy_s(2), rebuild.hours)
    });
    assert!(early.0 > 50 && early.0 == late.0, "{early:?} {late:?}");
    assert!((early.1 / late.1 - 1.0).abs() < 0.01, "{early:?} {late:?}");
    assert!((early.2.unwrap() / late.2.unwrap() - 1.0).abs() < 0.01, "{early:?} {late:?}");
}

#[test]
fn a_replay_with_failures_is_refused_and_so_is_what_cannot_be() {
    let system = system("raid-1", 2, "spares = [SPARE]\nfailed_drives = [0]");
    let input = Input::Source(Box::new(InMemory::new(load(3, 1))));
    let options = RunOptions { replay: Replay::Closed, ..RunOptions::default() };
    let refused = run(&system, input, &options, &mut Keep::default(), &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("replay"), "{refused}");
    for (level, more, says) in [
        ("raid-5", "failures = [{ drive = 4, at_s = 1 }]", "is not one of the 4 drives"),
        ("raid-5", "failed_drives = [1]\nfailures = [{ drive = 1, at_s = 1 }]", "fails twice"),
        ("raid-5", "failures = [{ drive = 1, at_s = -1 }]", "is not between 0 and"),
        ("raid-5", "rebuild.window = 2", "nothing to rebuild onto"),
        ("raid-5", "spares = [SPARE]\nrebuild.window = 0", "rebuild.window"),
        (
            "raid-5",
            "spares = [SPARE]\nrebuild.step_kib = 100",
            "100 is not a multiple of the stripe unit of 64 KiB",
        ),
        (
            "raid-1",
            "spares = [SPARE]\nrebuild.write_efficiency = 0",
            "0 is not between 0.01 and 1; it is the share",
        ),
        ("raid-1", "spares = [SPARE]\nrebuild.write_efficiency = 1.2", "1.2 is not between 0.01 and 1"),
        ("raid-1", "rebuild.write_efficiency = 0.8", "nothing to rebuild onto"),
        ("raid-1", "spares = [SPARE]\nrebuild.step_kib = 1e300", "1e300 is not between 0.5 and 1e9"),
        ("raid-0", "spares = [SPARE]", "means nothing to level"),
        ("raid-5", "declustered.group_width = 3", "means nothing to level"),
        ("declustered", "declustered.group_width = 5", "4 drives hold no stripes of 5 members"),
        ("declustered", "declustered = { group_width = 1 }", "leave no room for data"),
        ("declustered", "declustered = { group_width = 3, row_kib = 100 }", "`row_kib`"),
    ] {
        let refused = config(level, 4, more, &[]).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
    let short = [("drive.2.layout.zone.0.last_cylinder", "49")];
    let config = config("raid-1", 2, "spares = [SPARE]", &short).unwrap();
    assert!(System::new(config).unwrap_err().to_string().contains("fewer than"));
}
