//! Buses that commands hold through their overhead.

use std::sync::Arc;

use headstack_trace::{InMemory, Op, Request};
use headstack_units::{Lba, Nanos};

use super::*;
use crate::record::Keep;

/// Two HP 97560 on one bus, which are asked at the same instants.
fn rows(commands_hold: bool, event_path: bool) -> Vec<CompletionRow> {
    told(commands_hold, event_path).0
}

fn told(commands_hold: bool, event_path: bool) -> (Vec<CompletionRow>, Summary) {
    let text = format!(
        "[bus.b]\nrate_mb_per_s = 10.0\ncommands_hold = {commands_hold}\n\
         [volume.a]\ndrives = [\"hp-97560\"]\nbus = \"b\"\n[volume.b]\ndrives = [\"hp-97560\"]\nbus = \"b\"\n"
    );
    let (name, origin) = ("test".to_owned(), "test.toml".to_owned());
    let source = crate::library::Source { name, origin, directory: None, text };
    let system = Arc::new(System::new(crate::SystemConfig::from_source(&source, &[]).unwrap()).unwrap());
    let request = |i: u64| Request {
        device: (i % 2) as u32,
        ..Request::new(Nanos(i / 2 * 100_000_000), Op::Read, Lba(i * 11_117 + 5), 8)
    };
    let input = Input::Source(Box::new(InMemory::new((0..60).map(request).collect())));
    let mut kept = Keep::default();
    let options = RunOptions { event_path, ..RunOptions::default() };
    let summary = run(&system, input, &options, &mut kept, &mut |_| {}).unwrap();
    kept.rows.sort_by_key(|row| row.id);
    (kept.rows, summary)
}

#[test]
fn the_time_a_command_holds_the_bus_is_in_its_row() {
    for commands_hold in [false, true] {
        let (rows, summary) = told(commands_hold, true);
        let held: f64 = rows.iter().map(|row| row.busy.bus.as_s()).sum();
        let used = summary.buses[0].utilisation * summary.simulated_s;
        assert!((held - used).abs() < 1e-9, "{commands_hold}: rows {held}, bus {used}");
    }
}

#[test]
fn a_drive_gets_its_command_when_the_other_has_decoded_its_own() {
    let overhead = Nanos::from_ms(2.2);
    for (free, held) in rows(false, true).iter().zip(&rows(true, true)) {
        let wait = if free.device == 0 { Nanos::ZERO } else { overhead };
        assert_eq!(free.start, free.arrival);
        assert_eq!(held.start, held.arrival + wait, "{held:?}");
        assert_eq!(held.phases.total(), held.response());
    }
    // The closed form, which knows no such waits, leaves it to the event path.
    assert_eq!(rows(true, false), rows(true, true));
}
