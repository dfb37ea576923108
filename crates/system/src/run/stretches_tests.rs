//! One drive served by several threads gives what one thread gives.

use std::sync::Arc;

use headstack_trace::{InMemory, Op, Request, RequestFlags};
use headstack_units::{Lba, Nanos};
use proptest::prelude::*;

use super::*;
use crate::library;
use crate::record::{BackgroundRow, CompletionRow, CompletionSink, Discard, Keep};
use crate::summary::ParallelSummary;

type Told = Result<(Vec<CompletionRow>, Vec<BackgroundRow>, Summary), String>;

/// What a run tells, and how several threads did; that apart, for it is not of the system.
fn told(system: &Arc<System>, requests: &[Request], options: &RunOptions) -> (Told, Option<ParallelSummary>) {
    let input = Input::Source(Box::new(InMemory::new(requests.to_vec())));
    let mut kept = Keep::default();
    let mut parallel = None;
    let result = run(system, input, options, &mut kept, &mut |_| {}).map(|mut summary| {
        parallel = summary.parallel.take();
        (kept.rows, kept.background, summary)
    });
    (result.map_err(|error| error.to_string()), parallel)
}

fn by(threads: usize, batch: usize) -> RunOptions {
    RunOptions { threads: Some(threads), batch: Some(batch), ..RunOptions::default() }
}

/// Drives of the library that are served in closed form if one command is at the drive at a time.
fn drives() -> Vec<(&'static str, Vec<(String, String)>)> {
    let one = |path: &str, value: &str| (path.to_owned(), value.to_owned());
    let alone = || one("host.outstanding_per_drive", "1");
    library::drives()
        .iter()
        .flat_map(|entry| {
            let plain = vec![alone()];
            let early = vec![alone(), one("write_policy", "{immediate-reporting={}}")];
            let back = vec![alone(), one("write_policy", "{write-back={size_kib=256}}")];
            let adaptive = vec![alone(), one("cache.segmentation", "adaptive")];
            [plain, early, back, adaptive].map(|pairs| (entry.name, pairs))
        })
        .filter(|(name, pairs)| {
            System::load(name, pairs).is_ok_and(|system| fast::applies(&system) && system.units.len() == 1)
        })
        .collect()
}

/// `(gap in µs, write?, where, sectors, forced?)`: runs on from the request before, goes back to it, or goes anywhere.
type Draft = (u64, bool, (u8, u16), u32, bool);

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let gap = prop_oneof![4 => Just(0), 4 => 0..8_000_u64, 6 => 0..80_000_u64, 1 => 0..3_000_000_u64];
    let place = prop_oneof![2 => Just((0, 0)), 1 => Just((1, 0)), 3 => any::<u16>().prop_map(|at| (2, at))];
    let draft = (gap, prop::bool::weighted(0.3), place, 1..64_u32, prop::bool::weighted(0.1));
    prop::collection::vec(draft, 20..240)
}

fn requests(drafts: &[Draft], capacity: u64) -> Vec<Request> {
    let (mut arrival, mut last) = (0, (0, 0));
    let request = |&(gap, is_write, (how, at), sectors, is_forced): &Draft| {
        arrival += gap * 1000;
        // A small part of the disk, so that requests meet what others left in the cache.
        let lba = match how {
            0 => last.1,
            1 => last.0,
            _ => u64::from(at) * 8 % (capacity / 4),
        };
        let lba = lba.min(capacity - u64::from(sectors));
        last = (lba, lba + u64::from(sectors));
        let op = if is_write { Op::Write } else { Op::Read };
        let mut request = Request::new(Nanos(arrival), op, Lba(lba), sectors);
        if is_forced {
            request.flags = RequestFlags::FORCE_MEDIA;
        }
        request
    };
    drafts.iter().map(request).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn one_drive_by_several_threads_tells_what_one_thread_tells(
        drafts in drafts(),
        drive in any::<prop::sample::Index>(),
        threads in 2..4_usize,
        batch in 3..40_usize,
        warmup in prop_oneof![3 => Just(Warmup::None), 1 => (0..80_u64).prop_map(Warmup::Requests)],
        bad in prop::option::weighted(0.1, 0..240_usize),
        rotation in prop::option::weighted(0.1, Just("uniform")),
        drift in prop::option::weighted(0.1, 1..200_u32),
        recalibration in prop::option::weighted(0.1, 1..20_u32),
    ) {
        let all = DRIVES.get_or_init(drives);
        let (name, mut pairs) = drive.get(all).clone();
        let mut set = |path: &str, value: String| pairs.push((path.to_owned(), value));
        if let Some(rotation) = rotation {
            set("fidelity.rotation", rotation.to_owned());
        }
        if let Some(ppm) = drift {
            set("spindle.drift_ppm", ppm.to_string());
        }
        if let Some(seconds) = recalibration {
            set("recalibration", format!("{{mode=\"by-drive\", interval_s={seconds}.0, duration_ms=30.0}}"));
        }
        let Ok(system) = System::load(name, &pairs) else { return Ok(()) };
        let system = Arc::new(system);
        prop_assume!(fast::applies(&system));
        let mut requests = requests(&drafts, system.devices()[0].sectors);
        if let Some(bad) = bad.filter(|bad| *bad < requests.len()) {
            requests[bad].lba = Lba(u64::MAX / 2);
        }
        let options = RunOptions { warmup, ..by(threads, batch) };
        let one = RunOptions { threads: Some(1), ..options.clone() };
        prop_assert_eq!(told(&system, &requests, &one).0, told(&system, &requests, &options).0);
    }
}

/// A drive of the library, and what is other about it.
type Variant = (&'static str, Vec<(String, String)>);

static DRIVES: std::sync::OnceLock<Vec<Variant>> = std::sync::OnceLock::new();

/// Requests of a light load, anywhere.
fn light(capacity: u64, count: u64) -> Vec<Request> {
    let place = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    (0..count)
        .map(|number| {
            let lba = Lba(place(number) % (capacity - 16));
            Request::new(Nanos(number * 30_000_000 + place(number + 7) % 9_000_000), Op::Read, lba, 8)
        })
        .collect()
}

fn lone(name: &str, pairs: &[(&str, &str)]) -> Arc<System> {
    let pairs: Vec<_> = pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    Arc::new(System::load(name, &pairs).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn at_light_load_guesses_are_right() {
    let system = lone("cheetah-9lp", &[("host.outstanding_per_drive", "1")]);
    let requests = light(system.devices()[0].sectors, 20_000);
    let (result, parallel) = told(&system, &requests, &by(2, 1000));
    assert_eq!(result.map(|(rows, ..)| rows.len()), Ok(20_000));
    let parallel = parallel.expect("several threads served");
    assert_eq!(parallel.threads, 2);
    // A block to begin with, a round of twelve stretches, and one of eight, of which the first is never guessed.
    assert_eq!((parallel.guessed_requests, parallel.proven_requests), (17_666, 17_666));
}

#[test]
fn where_the_drive_falls_behind_no_guess_is_made() {
    let system = lone("cheetah-9lp", &[("host.outstanding_per_drive", "1")]);
    let mut requests = light(system.devices()[0].sectors, 20_000);
    for (number, request) in (0..).zip(&mut requests) {
        request.arrival = Nanos(number * 1_000_000);
    }
    let (_, parallel) = told(&system, &requests, &by(2, 1000));
    assert_eq!(parallel.expect("several threads served").guessed_requests, 0);
}

#[test]
fn where_no_guess_can_be_right_few_are_made() {
    // Each command's delay is drawn by its number, which a guess cannot know.
    let system =
        lone("cheetah-9lp", &[("host.outstanding_per_drive", "1"), ("fidelity.rotation", "uniform")]);
    let requests = light(system.devices()[0].sectors, 40_000);
    let (_, parallel) = told(&system, &requests, &by(2, 100));
    let parallel = parallel.expect("several threads served");
    assert_eq!(parallel.proven_requests, 0);
    assert!(parallel.guessed_requests <= 6 * 1100, "{parallel:?}");
}

#[test]
fn a_summary_without_tables_is_that_of_a_run_with_them() {
    let system = Arc::new(System::load("cheetah-9lp", &[]).unwrap());
    let request = |i: u64| {
        let op = if i % 5 < 2 { Op::Write } else { Op::Read };
        Request::new(Nanos(i * 17_000_000), op, Lba(i * 7_919_771 % 17_000_000), 8)
    };
    // Rounds end in parts of stretches, smaller than a batch.
    let requests: Vec<Request> = (0..70_000).map(request).collect();
    for threads in [1, 2] {
        let options = RunOptions { threads: Some(threads), ..RunOptions::default() };
        let go = |sink: &mut dyn CompletionSink| {
            let input = Input::Source(Box::new(InMemory::new(requests.clone())));
            let mut told = Vec::new();
            let summary = run(&system, input, &options, sink, &mut |progress| {
                told.push((progress.completed, progress.simulated));
            });
            (summary.unwrap(), told)
        };
        let mut kept = Keep::default();
        assert_eq!(go(&mut kept), go(&mut Discard), "{threads} threads");
        assert!(!kept.background.is_empty() && kept.rows.len() == 70_000);
    }
}
