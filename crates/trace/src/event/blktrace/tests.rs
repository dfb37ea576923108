use super::*;
use crate::testing::bytes_file;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

pub(crate) fn any_event() -> impl Strategy<Value = Event> {
    let place = (any::<u32>(), any::<u32>(), 0_u64..1 << 40);
    (0_u64..1 << 50, place, 0_u32..4096, any::<u16>(), 0_usize..15, 0_u16..512).prop_map(
        |(time, (pid, device, sector), sectors, cpu, action, marks)| Event {
            time: Nanos(time),
            sector,
            bytes: sectors << 9,
            pid,
            device,
            cpu,
            action: Action::LETTERS[action].1,
            marks: Marks(marks),
        },
    )
}

pub(crate) fn read(bytes: &[u8], tolerant: bool) -> (Vec<Event>, Notes, u64, Option<TraceError>) {
    let file = bytes_file(bytes);
    let mut source = BlktraceFile::new(Input::open(file.path()).unwrap(), tolerant).unwrap();
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    loop {
        let result = source.next_events(&mut batch);
        all.append(&mut batch);
        let lost = source.loss().lost_events;
        match result {
            Err(error) => return (all, source.notes(), lost, Some(error)),
            Ok(()) if source.ended => return (all, source.notes(), lost, None),
            Ok(()) => {}
        }
    }
}

pub(crate) const LAYOUTS: [Layout; 4] = [
    Layout { version: 7, big_endian: false },
    Layout { version: 7, big_endian: true },
    Layout { version: 8, big_endian: false },
    Layout { version: 8, big_endian: true },
];

fn written(layout: Layout, events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for event in events {
        push_record(&mut bytes, layout, 0, event);
    }
    bytes
}

proptest! {
    #[test]
    fn written_and_read_is_the_same(events in proptest::collection::vec(any_event(), 1..40)) {
        for layout in LAYOUTS {
            let (read, notes, lost, error) = read(&written(layout, &events), false);
            prop_assert!(error.is_none());
            prop_assert_eq!(&read, &events);
            prop_assert_eq!((notes.bad_records, lost), (0, 0));
        }
    }

    /// Whatever bytes stand in the middle, the records before and behind them are found.
    #[test]
    fn sound_records_around_garbage_are_read(
        events in proptest::collection::vec(any_event(), 2..20),
        garbage in proptest::collection::vec(any::<u8>(), 1..200),
        which in 0_usize..4,
    ) {
        let layout = LAYOUTS[which];
        prop_assume!(memchr::memmem::find(&garbage, &layout.magic()[..2]).is_none());
        let half = events.len() / 2;
        let mut bytes = written(layout, &events[..half.max(1)]);
        bytes.extend(&garbage);
        bytes.extend(written(layout, &events[half.max(1)..]));
        let (read_back, notes, _, error) = read(&bytes, true);
        prop_assert!(error.is_none());
        prop_assert_eq!(&read_back, &events);
        prop_assert_eq!(notes.bad_records, 1);
        prop_assert!(read(&bytes, false).3.is_some());
    }

    #[test]
    fn mutated_bytes_never_panic(
        events in proptest::collection::vec(any_event(), 1..8),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        which in 0_usize..4,
    ) {
        let mut bytes = written(LAYOUTS[which], &events);
        for (at, value) in changes {
            let at = at.index(bytes.len() - 4) + 4;
            bytes[at] = value;
        }
        let _ = read(&bytes, true);
    }
}

#[test]
fn a_file_cut_in_a_record_gives_what_is_whole() {
    let event = Event {
        time: Nanos(5),
        sector: 8,
        bytes: 4096,
        pid: 1,
        device: 0,
        cpu: 0,
        action: Action::Issue,
        marks: Marks::READ,
    };
    let bytes = written(LAYOUTS[0], &[event, event]);
    let (events, notes, _, _) = read(&bytes[..90], true);
    assert_eq!((events.len(), notes.bad_records), (1, 1));
    assert!(
        notes.first[0].ends_with("byte 48: the file ends after 42 of the record's 48 bytes"),
        "{notes:?}"
    );
    let (events, _, _, error) = read(&bytes[..90], false);
    assert_eq!(events.len(), 1);
    assert!(error.is_some());
}

#[test]
fn gaps_in_the_running_number_are_losses() {
    let event = any_event().new_tree(&mut proptest::test_runner::TestRunner::deterministic());
    let event = Event { cpu: 3, ..event.unwrap().current() };
    let mut bytes = Vec::new();
    for sequence in [1, 2, 5, 6] {
        push_record(&mut bytes, LAYOUTS[0], sequence, &event);
    }
    assert_eq!(read(&bytes, false).2, 2);
}
