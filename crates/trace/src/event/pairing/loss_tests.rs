//! What is made of events of a trace where some are missing: nobody may be told of a response that was not.

use super::tests::{event, times};
use super::*;
use crate::event::mispairs::Mispairs;
use Action::{Complete, GetRequest, Insert, Issue, Plug, Queue, Split};

/// Steps of which all are believed.
fn all_believed() -> Mispairs {
    Mispairs::default().survey()
}

/// Steps of which those of 128 ns and more are not believed: the five slowest of one wrong pair with three deviations.
fn believed_below_128_ns() -> Mispairs {
    let mut steps = Mispairs::default();
    steps.begin();
    steps.begin();
    steps.supersede(1);
    steps.unbegun();
    (0..5).for_each(|_| steps.record(Nanos(128)));
    let steps = steps.survey();
    assert_eq!(steps.limit(), Nanos(127));
    steps
}

/// A pairing of events of which some were surely lost, and nothing else is known.
fn surely_lossy() -> Pairing {
    Pairing::surveyed(PairingRule::Strict, Survey { lossy: true, losses: certain(), ..Survey::default() })
}

/// The steps of which nothing is doubtful.
fn certain() -> Losses {
    Losses { services: all_believed(), waits: all_believed(), flushes: all_believed(), ..Losses::default() }
}

fn push_all(pairing: &mut Pairing, events: &[Event]) {
    for event in events {
        pairing.push(event);
    }
}

fn pair_what_is_left(losses: Losses, events: &[Event]) -> (Vec<Io>, PairingCounts) {
    let mut pairing =
        Pairing::surveyed(PairingRule::Strict, Survey { lossy: true, losses, ..Survey::default() });
    let mut ios = Vec::new();
    push_all(&mut pairing, events);
    pairing.finish(&mut ios);
    (ios, pairing.counts().clone())
}

fn responses(ios: &[Io]) -> Vec<Option<u64>> {
    ios.iter().map(|io| io.response().map(|response| response.0)).collect()
}

#[test]
fn a_place_asked_for_again_has_lost_its_completion() {
    // Two dispatches, and a write that is another matter.
    let lost = [
        event(1, Queue, 100, 8, "R"),
        event(2, Issue, 100, 8, "R"),
        event(2, Queue, 100, 8, "W"),
        event(3, Issue, 100, 8, "W"),
        event(4, Issue, 100, 8, "R"),
    ];
    let again = [event(1000, Queue, 100, 8, "R")];
    let then = [event(1001, Complete, 100, 8, "R"), event(1002, Complete, 100, 8, "W")];
    let (ios, counts) = pair_what_is_left(certain(), &[&lost[..], &again, &then].concat());
    // The completion of the read is that of the dispatch that is missing.
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(2, 3, 1002)]);
    assert_eq!((counts.orphan_dispatches, counts.doubtful, counts.orphans()), (0, 2, 1));
}

/// Of reads at the device at once those that begin and end then.
fn together(ends: &[u64]) -> (Vec<Io>, PairingCounts) {
    let mut events = vec![event(1, Issue, 100, 8, "R"), event(3, Issue, 100, 8, "R")];
    events.extend(ends.iter().map(|&at| event(at, Complete, 100, 8, "R")));
    events.push(event(500, Issue, 200, 8, "R"));
    events.push(event(501, Complete, 200, 8, "R"));
    let mut losses = certain();
    losses.overlaps.dispatch(true);
    losses.overlaps.complete(true);
    pair_what_is_left(losses, &events)
}

/// If all are completed, the sum is the same whoever was first; if not, nobody knows who was.
#[test]
fn of_the_same_sectors_at_once_all_are_known_or_none() {
    let (ios, counts) = together(&[10, 20]);
    let found: Vec<_> = ios.iter().map(times).collect();
    assert_eq!((found, counts.doubtful), (vec![(1, 1, 10), (3, 3, 20), (500, 500, 501)], 0));
    let (ios, counts) = together(&[10]);
    assert_eq!((ios.iter().map(times).collect::<Vec<_>>(), counts.pairs), (vec![(500, 500, 501)], 1));
    assert_eq!((counts.doubtful, counts.orphan_dispatches), (1, 1));
    assert_eq!(together(&[]).1.orphan_dispatches, 2);
}

#[test]
fn what_was_given_back_long_ago_is_not_what_is_dispatched_now() {
    let losses = || Losses { services: believed_below_128_ns(), waits: believed_below_128_ns(), ..certain() };
    let taken = |then| {
        let events = [
            event(1, Queue, 100, 8, "R"),
            event(2, Issue, 100, 8, "R"),
            event(5, Action::Requeue, 100, 8, "R"),
            event(then, Issue, 100, 8, "R"),
            event(then + 4, Complete, 100, 8, "R"),
        ];
        let (ios, _) = pair_what_is_left(losses(), &events);
        (times(&ios[0]), responses(&ios))
    };
    assert_eq!(taken(200), ((1, 200, 204), vec![Some(203)]));
    assert_eq!(taken(1000), ((1000, 1000, 1004), vec![None]));
}

/// Ever new places: nothing is superseded, and every fourth queueing is missing, as where a processor's file is.
#[test]
fn dispatches_that_lack_their_queueing_all_the_time_tell_of_a_loss() {
    let mut pairing = Pairing::new(PairingRule::Strict);
    let mut ios = Vec::new();
    for k in 1..2000 {
        let (at, sector) = (100_000 * k, 1000 * k);
        // One that lost its dispatch, and overlaps all the later ones.
        if k == 1 {
            pairing.push(&event(at, Queue, 1_900_004, 8, "R"));
        }
        if k % 4 != 0 {
            pairing.push(&event(at + 1, Queue, sector, 8, "R"));
        }
        pairing.push(&event(at + 20, Issue, sector, 8, "R"));
        pairing.push(&event(at + 50, Complete, sector, 8, "R"));
    }
    pairing.finish(&mut ios);
    let longest = responses(&ios).into_iter().flatten().max();
    assert_eq!((pairing.is_lossy(), longest), (true, Some(49)));
    // What is known to be late in the trace is a response from queueing, or none.
    let last = &responses(&ios)[1600..];
    assert!(last.iter().all(|response| response.is_none_or(|response| response == 49)), "{last:?}");
}

/// Pieces of one place queued at 1, 500 and then, of which two lost their dispatch; and a write that is another matter.
fn queued_again(losses: Losses, then: u64) -> (Vec<Io>, PairingCounts) {
    let events = [
        event(1, Queue, 100, 8, "R"),
        event(500, Queue, 100, 8, "R"),
        event(then, Queue, 100, 8, "R"),
        event(then + 1, Queue, 100, 8, "W"),
        event(then + 10, Issue, 100, 8, "R"),
        event(then + 20, Issue, 100, 8, "W"),
        event(then + 30, Complete, 100, 8, "R"),
        event(then + 40, Complete, 100, 8, "W"),
    ];
    pair_what_is_left(losses, &events)
}

#[test]
fn queued_again_the_first_was_lost_before_its_dispatch() {
    let losses = || Losses { waits: believed_below_128_ns(), ..certain() };
    let (ios, counts) = queued_again(losses(), 900);
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(900, 910, 930), (901, 920, 940)]);
    assert_eq!((counts.orphan_queued, counts.orphans(), counts.without_queueing), (2, 2, 0));
}

/// The dispatch may be of either where both may still wait.
#[test]
fn queued_again_before_long_it_is_not_clear_which_is_dispatched() {
    let losses = || Losses { waits: believed_below_128_ns(), ..certain() };
    let (ios, counts) = queued_again(losses(), 500 + 127);
    assert_eq!(responses(&ios), [Some(39), None]);
    assert_eq!((counts.without_queueing, counts.pairs), (1, 2));
}

/// Pieces that lie in a dispatch without making it up belong to another one, of which the dispatch is missing.
#[test]
fn a_piece_that_lies_in_a_dispatch_by_chance_is_anothers() {
    let dispatched = [event(90, Issue, 100, 16, "R"), event(95, Complete, 100, 16, "R")];
    let stale = [event(1, Queue, 104, 8, "R")];
    let own = [event(80, Queue, 100, 16, "R")];
    let (ios, _) = pair_what_is_left(certain(), &[&stale[..], &own, &dispatched].concat());
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(80, 90, 95)]);
    let (ios, counts) = pair_what_is_left(certain(), &[&stale[..], &dispatched].concat());
    assert_eq!((responses(&ios), counts.without_queueing, counts.orphan_queued), (vec![None], 1, 1));
}

/// A larger piece may have lost its own dispatch, unless it was split.
#[test]
fn a_piece_that_reaches_beyond_a_dispatch_is_its_own_if_it_was_split() {
    let queued = [event(1, Queue, 100, 16, "R")];
    let split = [event(2, Split, 100, 8, "R")];
    let parts = [
        event(80, Issue, 100, 8, "R"),
        event(81, Issue, 108, 8, "R"),
        event(90, Complete, 100, 8, "R"),
        event(91, Complete, 108, 8, "R"),
    ];
    let (ios, _) = pair_what_is_left(certain(), &[&queued[..], &parts].concat());
    assert_eq!(responses(&ios), [None, None]);
    let (ios, counts) = pair_what_is_left(certain(), &[&queued[..], &split, &parts].concat());
    assert_eq!((responses(&ios), counts.orphans()), (vec![Some(89), Some(90)], 0));
}

#[test]
fn flushes_asked_for_or_dispatched_again_were_lost() {
    let (ios, counts) = pair_what_is_left(
        certain(),
        &[
            event(1, Queue, 0, 0, "FWS"),
            event(50, Queue, 0, 0, "FWS"),
            event(90, Queue, 0, 0, "FWS"),
            event(100, Issue, 0, 0, "FN"),
            event(150, Issue, 0, 0, "FN"),
            event(200, Issue, 0, 0, "FN"),
            event(210, Complete, 0, 0, "FN"),
        ],
    );
    assert_eq!(
        ios.iter().map(|io| (io.request.start.0, io.request.finish.0)).collect::<Vec<_>>(),
        [(200, 210)]
    );
    assert_eq!((counts.orphan_queued, counts.orphan_dispatches), (2, 2));
    let (ios, counts) = pair_what_is_left(
        certain(),
        &[
            event(1, Queue, 0, 0, "FWS"),
            event(60, Queue, 0, 0, "FWS"),
            event(100, Issue, 0, 0, "FN"),
            event(130, Complete, 0, 0, "FN"),
        ],
    );
    assert_eq!((ios.iter().map(times).collect::<Vec<_>>(), counts.orphan_queued), (vec![(60, 100, 130)], 1));
}

#[test]
fn a_flush_has_no_place_and_ends_nothing_that_has_one() {
    let (ios, counts) = pair_what_is_left(
        certain(),
        &[
            event(1, Issue, 0, 8, "R"),
            event(2, Queue, 0, 0, "FN"),
            event(3, Issue, 0, 0, "FN"),
            event(4, Complete, 0, 0, "FN"),
            event(5, Complete, 0, 8, "R"),
        ],
    );
    assert_eq!(ios.iter().map(times).collect::<Vec<_>>(), [(1, 1, 5), (2, 3, 4)]);
    assert_eq!(counts.orphans(), 0);
}

#[test]
fn the_slowest_services_are_left_out_and_no_other() {
    let losses = || Losses { services: believed_below_128_ns(), ..certain() };
    let io = |at: u64, service: u64| {
        [event(at, Issue, 8 * at, 8, "R"), event(at + service, Complete, 8 * at, 8, "R")]
    };
    let events = [io(1000, 127), io(2000, 128), io(3000, 5), io(4000, 900)].concat();
    let (ios, counts) = pair_what_is_left(losses(), &events);
    assert_eq!((responses(&ios), counts.doubtful), (vec![Some(127), Some(5)], 2));
    // More is completed than was dispatched: of that dispatch it is not.
    let (ios, counts) =
        pair_what_is_left(certain(), &[event(1, Issue, 0, 8, "R"), event(3, Complete, 0, 16, "R")]);
    assert_eq!((ios.len(), counts.doubtful), (0, 1));
    // So it is with flushes.
    let losses = Losses { flushes: believed_below_128_ns(), ..certain() };
    let flush =
        |at: u64, service: u64| [event(at, Issue, 0, 0, "F"), event(at + service, Complete, 0, 0, "F")];
    let events = [flush(1000, 127), flush(2000, 128), flush(3000, 5), flush(4000, 900)].concat();
    let (ios, counts) = pair_what_is_left(losses, &events);
    assert_eq!((responses(&ios), counts.doubtful, counts.flushes), (vec![Some(127), Some(5)], 2, 2));
}

#[test]
fn of_the_slowest_waits_the_service_is_kept() {
    let losses = Losses { waits: believed_below_128_ns(), ..certain() };
    let (ios, counts) = pair_what_is_left(
        losses,
        &[
            event(1000, Queue, 0, 8, "R"),
            event(1127, Issue, 0, 8, "R"),
            event(1200, Complete, 0, 8, "R"),
            event(2000, Queue, 0, 8, "R"),
            event(2128, Issue, 0, 8, "R"),
            event(2200, Complete, 0, 8, "R"),
            // Two pieces of one dispatch, of which one waits too long; then both.
            event(3000, Queue, 0, 8, "R"),
            event(3100, Queue, 8, 8, "R"),
            event(3140, Issue, 0, 16, "R"),
            event(3200, Complete, 0, 16, "R"),
            event(4000, Queue, 0, 8, "R"),
            event(4000, Queue, 8, 8, "R"),
            event(4900, Issue, 0, 16, "R"),
            event(4950, Complete, 0, 16, "R"),
        ],
    );
    assert_eq!(responses(&ios), [Some(200), None, Some(100), None]);
    let services: Vec<_> = ios.iter().map(|io| io.request.measured_service().unwrap().0).collect();
    assert_eq!(services, [73, 72, 60, 50]);
    assert_eq!((ios[2].merges, counts.orphan_queued, counts.without_queueing), (0, 1 + 1 + 2, 2));
}

#[test]
fn where_queueing_is_not_traced_none_is_missing() {
    let events = [event(10, Issue, 0, 8, "R"), event(30, Complete, 0, 8, "R")];
    let (ios, counts) = pair_what_is_left(certain(), &events);
    assert_eq!((responses(&ios), counts.without_queueing), (vec![Some(20)], 0));
    // On a device that traces it, it is; and if no events are missing, it came before the trace.
    let traced = [&[event(1, Queue, 800, 8, "R")], &events[..]].concat();
    let (ios, counts) = pair_what_is_left(certain(), &traced);
    assert_eq!((responses(&ios), counts.without_queueing), (vec![None], 1));
    let mut pairing = Pairing::default();
    let mut ios = Vec::new();
    push_all(&mut pairing, &traced);
    pairing.finish(&mut ios);
    assert_eq!((responses(&ios), pairing.counts().without_queueing), (vec![Some(20)], 0));
}

#[test]
fn a_completion_alone_ends_what_is_queued_only_where_nothing_is_dispatched() {
    let queued = |at| [event(at, Queue, 0, 8, "R"), event(at + 20, Complete, 0, 8, "R")];
    let (ios, counts) = pair_what_is_left(certain(), &queued(10));
    assert_eq!((responses(&ios), counts.undispatched, counts.doubtful), (vec![Some(20)], 1, 0));
    let events = [&[event(1, Issue, 800, 8, "R")], &queued(10)[..], &queued(50)].concat();
    let (ios, counts) = pair_what_is_left(certain(), &events);
    assert_eq!((ios.len(), counts.undispatched, counts.doubtful), (0, 0, 2));
    // If no events are missing, the dispatch came before the trace.
    let mut pairing = Pairing::default();
    push_all(&mut pairing, &events);
    assert_eq!((pairing.counts().undispatched, pairing.counts().doubtful), (2, 0));
}

#[test]
fn btts_rule_believes_what_it_sees() {
    let survey = Survey { lossy: false, losses: certain(), ..Survey::default() };
    for mut pairing in [Pairing::new(PairingRule::Btt), Pairing::surveyed(PairingRule::Btt, survey)] {
        pairing.events_are_missing();
        assert!(!pairing.is_lossy());
        let mut ios = Vec::new();
        for event in
            [event(1, Issue, 0, 8, "R"), event(5000, Queue, 0, 8, "R"), event(5020, Complete, 0, 8, "R")]
        {
            pairing.push(&event);
        }
        pairing.finish(&mut ios);
        assert_eq!(times(&ios[0]), (1, 1, 5020));
    }
}

/// A piece that was merged, whose dispatch was lost; then a dispatch of as many sectors, with its queueing and that of another, or with the
/// queueing of its first part.
#[test]
fn a_merged_piece_whose_dispatch_was_lost_is_of_no_later_dispatch() {
    let merged = [
        event(1, Queue, 100, 8, "R"),
        event(2, Queue, 108, 8, "R"),
        event(3, Action::BackMerge, 108, 8, "R"),
    ];
    let later: [&[Event]; 2] = [
        &[event(2000, Queue, 100, 16, "R"), event(2005, Queue, 100, 8, "R")],
        &[event(2000, Queue, 100, 8, "R")],
    ];
    for queued in later {
        let mut pairing = surely_lossy();
        let done = [event(2010, Issue, 100, 16, "R"), event(2020, Complete, 100, 16, "R")];
        merged.iter().chain(queued).chain(&done).for_each(|event| pairing.push(event));
        let mut ios = Vec::new();
        pairing.finish(&mut ios);
        assert_eq!(ios.len(), 1, "{queued:?}");
        assert!(ios[0].response().is_none_or(|response| response.0 <= 20), "{queued:?} {:?}", ios[0]);
    }
}

/// So many dispatches of which one in eight lost its completion, and as many completions without a dispatch.
fn with_losses(dispatches: u64) -> Vec<Event> {
    let io = |number: u64| {
        let (at, sector) = (1000 * number, 8 * (number % 4));
        let mut all = vec![event(at, Issue, sector, 8, "R")];
        all.push(if number.is_multiple_of(8) {
            event(at + 20, Complete, 4000 + sector, 8, "R")
        } else {
            event(at + 10, Complete, sector, 8, "R")
        });
        all
    };
    (0..dispatches).flat_map(io).collect()
}

#[test]
fn losses_that_matter_are_found_on_the_way() {
    let mut pairing = Pairing::default();
    let found = with_losses(4 * LOOK).iter().position(|event| {
        pairing.push(event);
        pairing.is_lossy()
    });
    assert_eq!(found.map(|at| (at as u64 + 1) % LOOK), Some(0), "at a look");
    assert!(pairing.survey(false).lossy);
    // A few halves alone are no reason to doubt the others, and no reason to look at all of them either.
    let mut pairing = Pairing::default();
    (0..LOOK).for_each(|at| pairing.push(&event(at, Issue, 8 * at, 8, "R")));
    assert!(!pairing.is_lossy());
    (0..LOOK).for_each(|at| pairing.push(&event(LOOK + at, Plug, 0, 0, "N")));
    assert!(!pairing.is_lossy());
    assert!(!pairing.survey(true).lossy);
}

/// Steps of which `wrong` tenths of a pair may be wrong.
fn steps(tenths: u64) -> Mispairs {
    let mut steps = Mispairs::default();
    (0..11).for_each(|_| steps.begin());
    steps.supersede(1);
    (0..tenths).for_each(|_| steps.unbegun());
    steps
}

#[test]
fn wrong_pairs_of_all_steps_matter_together() {
    for (tenths, matter) in [
        ([10, 0, 0], true),
        ([0, 10, 0], true),
        ([0, 0, 10], true),
        ([4, 4, 4], true),
        ([5, 5, 0], true),
        ([3, 3, 3], false),
        ([9, 0, 0], false),
        ([0, 9, 0], false),
        ([0, 0, 9], false),
    ] {
        let [services, waits, flushes] = tenths.map(steps);
        assert_eq!(Losses { services, waits, flushes, ..Losses::default() }.matter(), matter, "{tenths:?}");
    }
}

#[test]
fn all_that_a_survey_saw_bounds_what_is_believed() {
    let mut pairing = Pairing::default();
    pairing.events_are_missing();
    push_all(&mut pairing, &with_losses(400));
    let survey = pairing.survey(true);
    // Services are of 10 ns; a completion after 990 belongs to a dispatch that is missing.
    let limit = survey.losses.services.limit();
    assert!((10..20).contains(&limit.0), "{limit:?}");
    let (ios, counts) = pair_what_is_left(
        survey.losses,
        &[
            event(0, Issue, 0, 8, "R"),
            event(4, Complete, 0, 8, "R"),
            event(10, Issue, 0, 8, "R"),
            event(1000, Complete, 0, 8, "R"),
        ],
    );
    assert_eq!((responses(&ios), counts.doubtful), (vec![Some(4)], 1));
}

#[test]
fn what_took_more_than_a_minute_is_no_pair() {
    let minute = LOST_AFTER.0;
    let events = [
        event(1, Queue, 0, 8, "R"),
        event(2, Issue, 0, 8, "R"),
        event(2, Queue, 80, 8, "R"),
        event(3, Queue, 160, 8, "R"),
        event(4, Issue, 160, 8, "R"),
        event(5, Issue, 0, 0, "F"),
        event(minute + 3, Issue, 80, 8, "R"),
        event(minute + 3, Complete, 0, 8, "R"),
        event(minute + 4, Complete, 160, 8, "R"),
        event(minute + 5, Complete, 80, 8, "R"),
        event(minute + 6, Complete, 0, 0, "F"),
    ];
    let pair = |rule| {
        let (mut pairing, mut ios) = (Pairing::new(rule), Vec::new());
        push_all(&mut pairing, &events);
        pairing.finish(&mut ios);
        (ios, pairing.counts().clone())
    };
    let (ios, counts) = pair(PairingRule::Strict);
    // The second waited for a dispatch that long, of which the service is known; the third took a minute and no more.
    assert_eq!(responses(&ios), [Some(minute + 1), None]);
    assert_eq!((counts.orphan_dispatches, counts.orphan_completions, counts.orphan_queued), (2, 2, 1));
    assert_eq!((counts.without_queueing, counts.doubtful), (1, 0));
    assert_eq!(pair(PairingRule::Btt).0.len(), 4);
}

/// Requests of 10 ns on 50 places, one every 40 ns, then a silence with one at the device and one queued.
fn until_a_silence() -> Vec<Event> {
    let io = |k: u64| {
        let (at, sector) = (40 * k, 8 * (k % 50));
        [
            event(at, Queue, sector, 8, "R"),
            event(at + 2, Issue, sector, 8, "R"),
            event(at + 12, Complete, sector, 8, "R"),
        ]
    };
    let mut all: Vec<Event> = (0..400).flat_map(io).collect();
    all.extend([event(16_000, Queue, 800, 8, "R"), event(16_001, Issue, 800, 8, "R")]);
    all.push(event(16_002, Queue, 880, 8, "R"));
    all
}

/// The responses from the silence on, and the counts.
fn after_a_silence(events: &[Event]) -> (Vec<Option<u64>>, PairingCounts) {
    let (mut pairing, mut ios) = (Pairing::default(), Vec::new());
    push_all(&mut pairing, &until_a_silence());
    push_all(&mut pairing, events);
    pairing.finish(&mut ios);
    (responses(&ios[400..]), pairing.counts().clone())
}

#[test]
fn a_silence_with_an_end_that_has_no_begin_is_a_hole() {
    let ends = [
        event(90_010, Complete, 800, 8, "R"),
        event(90_020, Issue, 880, 8, "R"),
        event(90_030, Complete, 880, 8, "R"),
    ];
    // A device that was slow.
    let (found, counts) = after_a_silence(&ends);
    assert_eq!(found, [Some(74_010), Some(74_028)]);
    assert_eq!((counts.orphans(), counts.doubtful), (0, 0));
    // A dispatch, or a queueing, is missing: what was open then is in no figure.
    for sign in [event(90_000, Complete, 8000, 8, "R"), event(90_000, Issue, 8000, 8, "R")] {
        let (found, counts) = after_a_silence(&[&[sign], &ends[..]].concat());
        assert_eq!(found, [None], "{sign:?}");
        assert_eq!((counts.doubtful, counts.orphan_queued, counts.without_queueing), (1, 1, 1));
    }
    // Long afterwards it says nothing of the silence.
    let late = event(900_000, Complete, 8000, 8, "R");
    assert_eq!(after_a_silence(&[&ends[..], &[late]].concat()).1.doubtful, 0);
}

#[test]
fn what_is_queued_again_after_a_silence_was_lost_in_it() {
    let again = [
        event(90_000, Queue, 880, 8, "R"),
        event(90_002, Issue, 880, 8, "R"),
        event(90_012, Complete, 880, 8, "R"),
    ];
    let (found, counts) = after_a_silence(&again);
    assert_eq!((found, counts.orphan_queued, counts.doubtful), (vec![Some(12)], 1, 1));
}

#[test]
fn where_events_are_missing_an_event_tells_since_when_its_request_is_believed() {
    let events =
        [event(5, Queue, 100, 8, "R"), event(10, Issue, 100, 8, "R"), event(20, Complete, 100, 8, "R")];
    let since = |pairing: &mut Pairing, event: &Event| {
        pairing.push(event);
        pairing.belief().since
    };
    let mut lossy = surely_lossy();
    // What is queued begins anew, and its dispatch and completion go back to that.
    let found = events.each_ref().map(|event| since(&mut lossy, event));
    assert_eq!(found, [Nanos::MAX, Nanos(5), Nanos(5)]);
    let alone = event(30, Complete, 200, 8, "R");
    assert_eq!(since(&mut lossy, &alone), Nanos::MAX, "nothing is known of what it ends");
    // Of a whole trace all is believed, whatever lies in the same place.
    let mut whole = Pairing::default();
    assert_eq!(events.each_ref().map(|event| since(&mut whole, event)), [Nanos::ZERO; 3]);
    assert_eq!(since(&mut whole, &alone), Nanos::ZERO);
}

/// One dispatch in three is missing, and nothing else: the completions end what was queued, until one takes the queueing of another.
#[test]
fn dispatches_that_are_missing_tell_of_a_loss() {
    let io = |number: u64, has_dispatch: bool| {
        let (at, sector) = (1000 * number, 8 * (number % 64));
        let dispatch = has_dispatch.then(|| event(at + 5, Issue, sector, 8, "R"));
        let ends = [event(at, Queue, sector, 8, "R"), event(at + 10, Complete, sector, 8, "R")];
        let [queue, complete] = ends;
        [Some(queue), dispatch, Some(complete)].into_iter().flatten()
    };
    let is_lossy = |has_dispatch: fn(u64) -> bool| {
        let mut pairing = Pairing::default();
        (0..4 * LOOK)
            .flat_map(|number| io(number, has_dispatch(number)))
            .for_each(|event| pairing.push(&event));
        pairing.is_lossy()
    };
    assert!(is_lossy(|number| number % 3 > 0));
    assert!(!is_lossy(|_| true));
    // A device without dispatches lost none.
    assert!(!is_lossy(|_| false));
    // A driver that completes other sectors than it was given leaves a dispatch for each.
    let mut pairing = Pairing::default();
    for number in 0..4 * LOOK {
        let (at, sector) = (1000 * number, 64 * number);
        let other = sector + if number % 3 == 0 { 16 } else { 0 };
        pairing.push(&event(at, Queue, sector, 8, "R"));
        pairing.push(&event(at, Queue, sector + 16, 8, "R"));
        pairing.push(&event(at + 5, Issue, sector, 8, "R"));
        pairing.push(&event(at + 10, Complete, other, 8, "R"));
    }
    assert!(!pairing.is_lossy());
}

/// What is told of a request whose queueing was lost says so wherever it is kept.
#[test]
fn an_arrival_that_is_not_known_is_marked() {
    let mut pairing = surely_lossy();
    let events = [
        event(0, Queue, 0, 8, "R"),
        event(5, Issue, 0, 8, "R"),
        event(9, Issue, 64, 8, "R"),
        event(10, Complete, 0, 8, "R"),
        event(20, Complete, 64, 8, "R"),
    ];
    push_all(&mut pairing, &events);
    let mut ios = Vec::new();
    pairing.finish(&mut ios);
    let known: Vec<_> = ios.iter().map(|io| io.request.measured_response().map(|time| time.0)).collect();
    assert_eq!((known, responses(&ios)), (vec![Some(10), None], vec![Some(10), None]));
    assert_eq!(ios[1].request.measured_service(), Some(Nanos(11)));
    // Read back as a request it stays unknown, and written as events it has no queueing.
    assert_eq!(Io::new(ios[1].request).response(), None);
    let actions: Vec<_> = crate::event::write::events_of(&ios[1]).map(|event| event.action).collect();
    assert_eq!(actions, [Issue, Complete]);
}

/// Nobody queues what smartctl asks, and its answer has no size in text: nothing is missing.
#[test]
fn commands_passed_through_are_no_losses() {
    let command = |time, action, sectors| {
        let event = event(time, action, 0, sectors, "R");
        Event { marks: event.marks.with(Marks::PACKET), ..event }
    };
    let mut events = Vec::new();
    for k in 1..4000 {
        let at = 100_000 * k;
        let wait = if k % 1000 == 0 { 90_000 } else { 1000 };
        events.push(event(at, Queue, 1000 * k, 8, "R"));
        events.push(event(at + 10, Issue, 1000 * k, 8, "R"));
        if k % 20 == 0 {
            let size = u32::from(k % 40 == 0);
            let steps = [(20, GetRequest, 0), (30, Insert, 1), (40, Issue, 1), (900, Complete, size)];
            events.extend(steps.map(|(after, action, sectors)| command(at + after, action, sectors)));
        }
        events.push(event(at + 10 + wait, Complete, 1000 * k, 8, "R"));
    }
    // One goes back to the queue, and one ends without having begun.
    let back = [(1, Issue, 1), (2, Action::Requeue, 1), (3, Issue, 1), (4, Complete, 0), (5, Complete, 0)];
    events.extend(back.map(|(after, action, sectors)| command(500_000_000 + after, action, sectors)));
    let mut pairing = Pairing::new(PairingRule::Strict);
    let mut ios = Vec::new();
    push_all(&mut pairing, &events);
    pairing.finish(&mut ios);
    let counts = pairing.counts();
    assert!(!pairing.is_lossy());
    assert_eq!((counts.doubtful, counts.without_queueing, counts.orphans()), (0, 0, 1));
    assert_eq!(responses(&ios).into_iter().flatten().max(), Some(90_010));
    let commands: Vec<_> = ios.iter().filter(|io| io.kind == crate::Kind::Other).collect();
    assert_eq!(commands.len(), 200);
    assert!(commands[..199].iter().all(|io| io.response() == Some(Nanos(860))));
    assert_eq!(times(commands[199]), (500_000_003, 500_000_003, 500_000_004));
}

/// One whose answer was lost is not answered by that of the next.
#[test]
fn a_lost_answer_of_a_command_is_not_made_up() {
    let command = |time, action| {
        let event = event(time, action, 0, 1, "R");
        Event { marks: event.marks.with(Marks::PACKET), ..event }
    };
    let events = [command(1, Issue), command(1000, Issue), command(1010, Complete)];
    let (ios, counts) = pair_what_is_left(certain(), &events);
    assert_eq!((responses(&ios), counts.orphan_dispatches), (vec![Some(10)], 1));
}

/// Pieces were merged with a request, whose own queueings are lost: it is dispatched larger than what is known to wait. That was taken for
/// what is dispatched there long after.
#[test]
fn what_was_dispatched_with_others_waits_no_more() {
    let mut pairing = surely_lossy();
    let events = [
        event(10, Queue, 100, 8, "R"),
        event(11, Action::BackMerge, 108, 8, "R"),
        event(20, Issue, 100, 32, "R"),
        event(30, Complete, 100, 32, "R"),
        event(170, Issue, 100, 8, "R"),
        event(180, Complete, 100, 8, "R"),
    ];
    push_all(&mut pairing, &events);
    let mut ios = Vec::new();
    pairing.finish(&mut ios);
    let found: Vec<_> = ios.iter().map(|io| (io.request.start.0, io.response())).collect();
    assert_eq!(found, [(20, None), (170, None)]);
}
