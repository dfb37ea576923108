//! Buses that commands hold through their overhead.

use std::sync::Arc;

use headstack_trace::{InMemory, Op, Request};
use headstack_units::{Lba, Nanos, RequestFlags};

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

/// Of a system file's only bus: what rows say it was held, and what the summary does.
fn held(text: &str, set: &[(&str, &str)], requests: Vec<Request>) -> (Nanos, f64) {
    let (name, origin) = ("test".to_owned(), "test.toml".to_owned());
    let source = crate::library::Source { name, origin, directory: None, text: text.to_owned() };
    let set: Vec<(String, String)> =
        set.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    let system = Arc::new(System::new(crate::SystemConfig::from_source(&source, &set).unwrap()).unwrap());
    let mut kept = Keep::default();
    let input = Input::Source(Box::new(InMemory::new(requests)));
    let summary = run(&system, input, &RunOptions::default(), &mut kept, &mut |_| {}).unwrap();
    let rows = kept.rows.iter().fold(Nanos::ZERO, |sum, row| sum + row.busy.bus);
    (rows, summary.buses[0].utilisation * summary.simulated_s)
}

#[test]
fn flushes_ahead_of_a_discard_are_in_its_row() {
    let drives = ["\"hp-97560\""; 4].join(", ");
    for hold in ["commands_hold = true", "disconnects = false"] {
        let text = format!(
            "[bus.b]\nrate_mb_per_s = 10.0\n{hold}\n[volume.v]\nlevel = \"raid-5\"\nstripe_unit_kib = 16\n\
             drives = [{drives}]\nbus = \"b\"\n"
        );
        let write = |at_ms: u64, lba, flags| Request {
            flags,
            ..Request::new(Nanos(at_ms * 1_000_000), Op::Write, Lba(lba), 8)
        };
        let both = RequestFlags::FLUSH.with(RequestFlags::DISCARD);
        let requests =
            vec![write(0, 0, RequestFlags::default()), write(300, 100_000, both), write(600, 40, both)];
        let set = [("drive.*.write_policy", "{write-back={size_kib=64}}")];
        let (rows, used) = held(&text, &set, requests);
        assert!(used > 0.0 && (rows.as_s() - used).abs() < 1e-9, "{hold}: rows {rows:?}, bus {used}");
    }
}

/// A drive that takes a constant time is through with a command sooner than its overhead would let the bus go.
#[test]
fn a_bus_is_let_go_with_a_command_that_takes_a_constant_time() {
    let text = "[bus.b]\nrate_mb_per_s = 10.0\ncommands_hold = true\n\
                [volume.v]\ndrives = [\"hp-c2200a\"]\nbus = \"b\"\n";
    let (rows, used) = held(
        text,
        &[("drive.*.fidelity.constant_ms", "1.5")],
        vec![Request::new(Nanos(0), Op::Write, Lba(0), 8)],
    );
    assert_eq!(rows, Nanos::from_ms(1.5));
    assert!((rows.as_s() - used).abs() < 1e-9, "rows {rows:?}, bus {used}");
}
