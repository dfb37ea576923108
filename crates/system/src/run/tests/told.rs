//! Requests told once more are the run's, and nothing of their time is left untold.

use super::*;
use crate::{Narrator, Told};

/// A drive that queues commands and buffers writes; a mirror of drives that take bursts off a slow bus; a drive that reports writes early;
/// an array whose writes read before.
static KINDS: LazyLock<[Arc<System>; 4]> = LazyLock::new(|| {
    let array = |level: &str, drives: &str| {
        system(&format!("[volume.data]\nlevel = \"{level}\"\ndrives = [{drives}]\n"), &[])
    };
    [
        lone("nearline-18tb", &[]),
        array("mirror", "\"dec-rz26\", \"dec-rz26\""),
        lone("hp-c2200a", &[]),
        array("raid-5", "\"mock-disk\", \"mock-disk\", \"mock-disk\""),
    ]
});

fn told(narrator: Narrator, requests: &[Request], wanted: &[u64]) -> Vec<Told> {
    let mut narrator = narrator;
    for (id, request) in (0..).zip(requests) {
        narrator.serve(*request, wanted.contains(&id)).unwrap();
    }
    narrator.finish()
}

fn check_told(told: &[Told], rows: &[CompletionRow]) -> Result<(), TestCaseError> {
    for told in told {
        let row = rows.iter().find(|row| row.id == told.row.id).unwrap();
        prop_assert_eq!(&told.row, row);
        // An array may know of nothing to discard.
        prop_assert!(!told.commands.is_empty() || row.response() == Nanos::ZERO, "{:?}", row);
        for command in &told.commands {
            let mut told_until = command.outcome.submitted;
            for step in &command.steps {
                if step.start <= told_until {
                    told_until = told_until.max(step.end);
                }
            }
            prop_assert!(told_until >= command.outcome.finish, "untold after {}: {:?}", told_until, command);
        }
    }
    Ok(())
}

/// Writes reported early on a shared bus: completions and the next requests of users share many an instant.
static SHARED_BUS: LazyLock<Arc<System>> = LazyLock::new(|| {
    let text = "
[host]
scheduler = \"sstf\"
[bus.b0]
rate_mb_per_s = 20.0
arbitration_us = 3.0
reconnect_us = 1.0
[volume.v0]
level = \"concatenation\"
drives = [\"hp-97560\", \"hp-97560\", \"hp-97560\"]
bus = \"b0\"
";
    let policy = "{write-back={size_kib=256.0,high_water_percent=80.0,low_water_percent=50.0,\
                  idle_before_destage_ms=0.0,runs_compared=3}}";
    system(text, &[("drive.*.write_policy", policy)])
});

/// An idle array knows of nothing to discard.
#[test]
fn what_is_complete_as_it_comes_is_told() {
    let system = &KINDS[3];
    let discard = Request { flags: RequestFlags::DISCARD, ..Request::new(Nanos(5), Op::Write, Lba(0), 512) };
    let told = told(Narrator::new(system, 1, Replay::Open), &[discard], &[0]);
    assert_eq!((told.len(), told[0].row.response()), (1, Nanos::ZERO));
}

/// A request as it is in a run's record.
fn as_recorded(row: &CompletionRow) -> Request {
    let request = Request::new(row.arrival, row.op, row.lba, row.sectors);
    Request { device: row.device, flags: row.flags, ..request }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn users_of_one_instant_are_told_as_they_were_served(
        seed in 0..1_000_u64,
        users in 2..9_u32,
        think_ms in prop_oneof![Just(0.0), Just(10.0), 0.0..5.0],
        discards in prop_oneof![Just(0.0), Just(0.3)],
        kind in 0..=KINDS.len(),
    ) {
        let system = KINDS.get(kind).unwrap_or(&SHARED_BUS);
        let volume = &system.devices()[0].name;
        let text = format!(
            "seed = {seed}\nrequests = 80\n[[stream]]\nvolume = \"{volume}\"\nread_fraction = 0.2\nsize.fixed_kib = 4\n\
             users = {users}\nthink.constant_ms = {think_ms}\ndiscard_fraction = {discards}\n"
        );
        let spec = WorkloadSpec::from_toml("test", &text).unwrap();
        let generator = spec.generate(&system.devices(), None, None).unwrap();
        let options = RunOptions::default();
        let (kept, _) = go(system, Input::Generator(generator), &options);
        let rows = by_id(kept).rows;
        let requests: Vec<Request> = rows.iter().map(as_recorded).collect();
        let all: Vec<u64> = rows.iter().map(|row| row.id).collect();
        let narrator = Narrator::new(system, options.seed, Replay::Open);
        check_told(&told(narrator, &requests, &all), &rows)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_told_is_the_run(
        drafts in drafts(60),
        kind in 0..KINDS.len(),
        replay in prop_oneof![Just(Replay::Open), Just(Replay::Closed), Just(Replay::Measured)],
        wanted in prop::collection::vec(any::<prop::sample::Index>(), 3),
    ) {
        let system = &KINDS[kind];
        let mut requests = requests(&drafts, system);
        if replay == Replay::Measured {
            for request in &mut requests {
                request.start = request.arrival;
                request.finish = request.arrival + Nanos::from_ms(7.0);
            }
        }
        let options = RunOptions { replay, ..RunOptions::default() };
        let (kept, _) = go(system, source(&requests), &options);
        let rows = by_id(kept).rows;
        for (request, row) in requests.iter_mut().zip(&rows) {
            request.arrival = row.arrival;
        }
        let wanted: Vec<u64> = wanted.iter().map(|index| index.index(requests.len()) as u64).collect();
        let narrator = Narrator::new(system, options.seed, replay);
        check_told(&told(narrator, &requests, &wanted), &rows)?;
    }
}
