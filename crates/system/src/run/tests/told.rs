//! Requests told once more are the run's, and nothing of their time is left untold.

use super::*;
use crate::{AtOneInstant, Narrator, Told};

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
        prop_assert!(!told.commands.is_empty());
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
        let narrator = Narrator::new(system, options.seed, replay, AtOneInstant::OneByOne);
        check_told(&told(narrator, &requests, &wanted), &rows)?;
    }
}
