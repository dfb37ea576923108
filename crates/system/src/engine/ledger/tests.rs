use super::*;

#[test]
fn what_lasts_is_split_where_counting_begins_and_ends() {
    let mut book = BusBook::default();
    book.grant(Nanos(5));
    book.wait(Nanos(7));
    book.restart(Nanos(10));
    book.release(Nanos(15));
    book.grant_after(Nanos(7), Nanos(15));
    let used = book.used(Nanos(18));
    assert_eq!((used.held_ns, used.queue_area_ns, used.grants), (5 + 3, 5, 1));
    assert_eq!((used.queue_max, used.waited_ns, used.longest_wait), (1, 8, Nanos(8)));
}

#[test]
fn data_of_a_command_under_way_where_counting_begins_take_no_longer_than_its_bus() {
    let mut book = BusBook::default();
    book.grant(Nanos(0));
    book.restart(Nanos(8));
    book.release(Nanos(10));
    book.complete(&Outcome { bus_data: Nanos(10), ..Outcome::default() });
    let used = book.used(Nanos(20));
    assert_eq!((used.held_ns, used.data_ns), (2, 2));
}

fn worked(from: u64, to: u64, coil: u64) -> Worked {
    Worked { from: Nanos(from), to: Nanos(to), coil: Nanos(coil) }
}

/// Buffered data that were on the media at `finish`.
fn destage(finish: u64, busy: Busy) -> Background {
    Background {
        work: headstack_drive::command::Work::Destage,
        lba: headstack_units::Lba(0),
        sectors: 1,
        start: Nanos(0),
        finish: Nanos(finish),
        busy,
    }
}

/// A seek is at the beginning of its work.
#[test]
fn the_coil_counts_where_its_work_begins() {
    let mut book = UnitBook::default();
    let complete = |finish| Outcome { finish: Nanos(finish), ..Outcome::default() };
    let work = |book: &mut UnitBook, finish, worked| {
        book.work(Op::Write, &complete(finish), std::iter::once(worked));
    };
    work(&mut book, 5, worked(2, 30, 4));
    work(&mut book, 6, worked(30, 50, 6));
    assert_eq!([2, 3, 30, 31].map(|end| book.used(Nanos(end)).coil), [0, 4, 4, 10]);
    book.restart(Nanos(10));
    assert_eq!(book.used(Nanos(60)).coil, 6);
    let mut later = UnitBook::default();
    work(&mut later, 80, worked(60, 70, 5));
    work(&mut later, 81, worked(80, 90, 7));
    book.follow(&later);
    assert_eq!(book.used(Nanos(90)).coil, 6 + 5 + 7);
}

#[test]
fn a_mechanism_works_no_longer_than_there_is_time() {
    let mut book = UnitBook::default();
    let spans = |spans: &[(u64, u64)]| {
        spans.iter().map(|&(from, to)| worked(from, to, 0)).collect::<Vec<_>>().into_iter()
    };
    let complete = |finish| Outcome { finish: Nanos(finish), ..Outcome::default() };
    // A write reported at 5 keeps the arm until 30.
    book.work(Op::Write, &complete(5), spans(&[(2, 30)]));
    assert_eq!(book.used(Nanos(5)).mechanism, Nanos(3));
    book.restart(Nanos(10));
    assert_eq!(book.used(Nanos(12)).mechanism, Nanos(2));
    // A command that began before counting did.
    book.work(Op::Read, &complete(40), spans(&[(30, 39)]));
    assert_eq!(book.used(Nanos(40)).mechanism, Nanos(20 + 9));
    let mut later = UnitBook::default();
    later.work(Op::Write, &complete(50), spans(&[(45, 70)]));
    book.follow(&later);
    assert_eq!(book.used(Nanos(60)).mechanism, Nanos(20 + 9 + 15));
}

/// Data that were read ahead before a command was decoded are no work of it: the mechanism tells a span that ends before it begins.
#[test]
fn a_span_that_ends_before_it_begins_is_none() {
    let mut book = UnitBook::default();
    book.work(
        Op::Read,
        &Outcome { finish: Nanos(5), ..Outcome::default() },
        std::iter::once(worked(30, 20, 0)),
    );
    book.mechanism.rebase(Rebase { begun: Nanos(0), model_finish: Nanos(5), measured_finish: Nanos(50) });
    assert_eq!(book.used(Nanos(100)).mechanism, Nanos::ZERO);
}

/// What was under way when the model was done stops until the measured completion: in between nothing is known to have worked.
#[test]
fn work_under_way_at_a_model_s_completion_rests_until_the_measured_one() {
    let finish = Nanos(10);
    let book = |measured| {
        let mut book = UnitBook::default();
        book.expect(Nanos(measured));
        let outcome = Outcome { finish, ..Outcome::default() };
        book.work(Op::Write, &outcome, [worked(4, 30, 8), worked(30, 35, 2)].into_iter());
        book.mechanism.rebase(Rebase {
            begun: Nanos(0),
            model_finish: finish,
            measured_finish: Nanos(measured),
        });
        move |end| (book.used(Nanos(end)).mechanism.0, book.used(Nanos(end)).coil)
    };
    let late = book(100);
    assert_eq!([10, 100, 115, 200].map(&late), [(6, 6), (6, 6), (6 + 15, 8), (6 + 25, 10)]);
    let early = book(7);
    assert_eq!([7, 8, 27, 200].map(early), [(3, 3), (4, 3 + 2), (3 + 20, 5), (3 + 25, 7)]);
}

#[test]
fn work_to_come_counts_as_it_happens() {
    let mut book = UnitBook::default();
    let complete = |finish| Outcome { finish: Nanos(finish), ..Outcome::default() };
    let span = |from, to| std::iter::once(worked(from, to, 0));
    book.work(Op::Write, &complete(5), span(2, 30));
    book.work(Op::Write, &complete(6), span(30, 50));
    assert_eq!([6, 10, 30, 40, 60].map(|end| book.used(Nanos(end)).mechanism.0), [4, 8, 28, 38, 48]);
    book.work(Op::Write, &complete(60), span(51, 60));
    assert_eq!(book.used(Nanos(60)).mechanism, Nanos(28 + 20 + 9));
}

#[test]
fn an_account_that_another_continues_is_that_of_both_times() {
    let outcome = |finish, seek| Outcome {
        finish: Nanos(finish),
        bus_data: Nanos(seek + 1),
        busy: Busy {
            seek: Nanos(seek),
            rotation: Nanos(2 * seek),
            transfer: Nanos(4 * seek),
            ..Busy::default()
        },
        ..Outcome::default()
    };
    let span = |from, to| std::iter::once(worked(from, to, 0));
    // Each time two commands want the bus at once, and one of them waits; the second time one that came before leaves.
    let first = |bus: &mut BusBook, unit: &mut UnitBook| {
        bus.grant(Nanos(0));
        bus.release(Nanos(1));
        bus.grant(Nanos(2));
        bus.wait(Nanos(4));
        bus.release(Nanos(9));
        bus.grant_after(Nanos(4), Nanos(9));
        bus.release(Nanos(10));
        bus.complete(&outcome(10, 3));
        (0..3).for_each(|at| unit.arrive(Nanos(at)));
        unit.leave(Nanos(10));
        unit.work(Op::Read, &outcome(10, 3), span(1, 10));
        unit.work_in_background(&destage(10, outcome(10, 30).busy));
        unit.note_held_back(7);
        assert_eq!(unit.load(), 2);
    };
    let second = |bus: &mut BusBook, unit: &mut UnitBook| {
        bus.grant(Nanos(20));
        bus.wait(Nanos(21));
        bus.release(Nanos(24));
        bus.grant_after(Nanos(21), Nanos(24));
        bus.complete(&outcome(30, 5));
        unit.leave(Nanos(20));
        unit.arrive(Nanos(20));
        unit.leave(Nanos(30));
        unit.work(Op::Write, &outcome(30, 5), span(20, 30));
        unit.work_in_background(&destage(30, outcome(30, 50).busy));
    };
    let (mut bus, mut unit) = (BusBook::default(), UnitBook::default());
    first(&mut bus, &mut unit);
    let (mut bus_later, mut unit_later) = (BusBook::default(), UnitBook::opened(unit.load()));
    second(&mut bus_later, &mut unit_later);
    unit_later.note_held_back(4);
    let (mut bus_whole, mut unit_whole) = (bus, unit.clone());
    bus.follow(&bus_later);
    unit.follow(&unit_later);
    second(&mut bus_whole, &mut unit_whole);
    unit_whole.note_held_back(7 + 4);
    let (bus, unit) = (bus.used(Nanos(40)), unit.used(Nanos(40)));
    assert_eq!((&bus, &unit), (&bus_whole.used(Nanos(40)), &unit_whole.used(Nanos(40))));
    assert_eq!((bus.held_ns, bus.data_ns, bus.queue_area_ns, bus.queue_max), (9 + 20, 4 + 6, 5 + 3, 1));
    assert_eq!((bus.grants, bus.waited_ns, bus.longest_wait), (3 + 2, 5 + 3, Nanos(5)));
    assert_eq!((unit.commands, unit.mechanism, unit.load_max, unit.held_back), (4, Nanos(9 + 10), 3, 11));
    assert_eq!((unit.work.seek, unit.work.rotation, unit.work.transfer()), (8, 16, 32));
    assert_eq!((unit.background.seek, unit.background.rotation, unit.background.transfer()), (80, 160, 320));
}

#[test]
fn what_was_before_counting_began_is_left_out() {
    let busy = Busy { seek: Nanos(2), rotation: Nanos(3), transfer: Nanos(5), ..Busy::default() };
    let outcome = Outcome { finish: Nanos(9), busy, bus_data: Nanos(4), ..Outcome::default() };
    let mut ledger = Ledger::new(1, 1);
    let book = |ledger: &mut Ledger, at: u64| {
        let (unit, bus) = (&mut ledger.units[0], &mut ledger.buses[0]);
        unit.arrive(Nanos(at));
        unit.work(Op::Read, &outcome, std::iter::empty());
        unit.work_in_background(&destage(at + 4, busy));
        unit.note_held_back(at);
        bus.grant(Nanos(at));
        bus.release(Nanos(at + 6));
        bus.complete(&outcome);
    };
    book(&mut ledger, 5);
    ledger.restart(Nanos(10));
    book(&mut ledger, 12);
    let used = ledger.used(Nanos(20));
    let (unit, bus) = (used.units[0], used.buses[0]);
    // One command has been there all the time, one since 12.
    assert_eq!((unit.commands, unit.load_area, unit.load_max, unit.held_back), (1, 10 + 8, 2, 12 - 5));
    assert_eq!((unit.work.total(), unit.background.total()), (10, 10));
    assert_eq!((bus.grants, bus.held_ns, bus.data_ns), (1, 6, 4));
}

#[test]
fn the_states_of_the_arm_take_no_longer_than_it_worked() {
    let work = Work { seek: 30, rotation: 50, transfers: [70, 0] };
    let background = Work { seek: 110, rotation: 130, transfers: [0, 170] };
    let states = |mechanism| {
        let used = UnitUse { mechanism: Nanos(mechanism), work, background, ..UnitUse::default() };
        let Active { seek, rotation, read, write, .. } = used.active();
        [seek, rotation, read, write]
    };
    assert_eq!(states(1000), [140, 180, 70, 170]);
    assert_eq!(states(560), [140, 180, 70, 170]);
    // What two commands have counted both: each state is shortened alike.
    assert_eq!(states(280), [70, 90, 35, 85]);
    assert_eq!(states(0), [0; 4]);
    // The mechanism was waking up for some of the time.
    let mut rests = RestTimes::default();
    rests.0[1].recovering = Nanos(720);
    let used = UnitUse { mechanism: Nanos(1000), work, background, rests, ..UnitUse::default() };
    assert_eq!((used.active().seek, used.active().write), (70, 85));
}

fn timing() -> BusTiming {
    BusTiming::new(&headstack_drive::spec::BusSpec {
        kind: String::new(),
        read_mb_per_s: 10.0,
        write_mb_per_s: 10.0,
        arbitration_us: 0.0,
        reconnect_us: 0.0,
        disconnects: true,
    })
}

#[test]
fn who_has_the_bus_alone_is_booked_as_one_who_is_granted_it() {
    let busy = Busy { seek: Nanos(2), bus: Nanos(6), ..Busy::default() };
    let mut outcome =
        Outcome { finish: Nanos(30), busy, bus_data: Nanos(4), bus_transfers: 2, ..Outcome::default() };
    let (mut unit, mut bus) = (UnitBook::default(), BusBook::default());
    let (mut unit_granted, mut bus_granted) = (UnitBook::default(), BusBook::default());
    for (from, to) in [(10, 12), (20, 24)] {
        bus_granted.grant(Nanos(from));
        bus_granted.release(Nanos(to));
    }
    bus_granted.complete(&outcome);
    unit_granted.work(Op::Read, &outcome, std::iter::once(worked(5, 20, 3)));
    unit_granted.work_in_background(&destage(1, busy));
    let spans = std::iter::once(worked(5, 20, 3));
    let works = [destage(1, busy)];
    book_alone((&mut unit, &mut bus), &timing(), Op::Read, &mut outcome, &works, spans);
    assert_eq!(unit.used(Nanos(40)), unit_granted.used(Nanos(40)));
    assert_eq!(bus.used(Nanos(40)), bus_granted.used(Nanos(40)));
    assert_eq!((bus.used(Nanos(40)).held_ns, bus.used(Nanos(40)).grants), (6, 2));
}

#[test]
fn a_drive_that_does_not_disconnect_holds_the_bus_to_the_end() {
    let mut timing = timing();
    let busy = Busy { bus: Nanos(3), ..Busy::default() };
    let outcome = Outcome { submitted: Nanos(10), finish: Nanos(50), busy, ..Outcome::default() };
    let held = |timing: &BusTiming| {
        let mut outcome = outcome;
        note_hold(timing, &mut outcome);
        outcome.busy.bus
    };
    assert_eq!(held(&timing), Nanos(3));
    timing.disconnects = false;
    assert_eq!(held(&timing), Nanos(40));
}
