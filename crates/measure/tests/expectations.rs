//! What probes rest on: a simulated device takes the times of the table of expectations, and what is extracted from the
//! table's drive is what the table says.

#[path = "../../drive/tests/common/table.rs"]
mod table;

use headstack_drive::spec::DriveSpec;
use headstack_measure::device::{Access, Device, Mode, SimulatedDevice};
use headstack_measure::extract::extract;
use headstack_measure::{Options, measure};
use headstack_system::{System, SystemConfig};
use headstack_units::{Nanos, Op, RequestFlags};
use std::sync::Arc;
use table::{Row, TABLE, plain_with};

fn device(spec: DriveSpec) -> SimulatedDevice {
    let system = System::new(SystemConfig::of_drive("plain", spec)).unwrap();
    SimulatedDevice::new("sim:plain", &Arc::new(system), 1).unwrap()
}

/// How long the last command of a row took; `None` where commands wait for each other, which a device of one access at a
/// time cannot show.
fn taken(row: &Row) -> Option<Nanos> {
    let mut device = device(row.spec());
    let mut taken = Nanos::ZERO;
    for (at, command) in row.steps() {
        let at = at.after(device.now());
        if at < device.now() {
            return None;
        }
        device.wait_until(at).unwrap();
        let mode = match (command.op, command.flags.contains(RequestFlags::FORCE_MEDIA)) {
            (Op::Read, _) => Mode::Read,
            (Op::Write, false) => Mode::Write,
            (Op::Write, true) => Mode::WriteForced,
        };
        let window = device.access(Access { mode, lba: command.lba.0, sectors: command.sectors }).unwrap();
        taken = window.end - window.start;
    }
    Some(taken)
}

#[test]
fn a_simulated_device_takes_the_times_of_the_table() {
    let mut compared = 0;
    for row in &TABLE.row {
        let response = row.expect.iter().find(|(what, _, _)| what == "response");
        let (Some((_, formula, ms)), Some(taken)) = (response, taken(row)) else { continue };
        assert!((taken.as_ms() - ms).abs() < 20e-6, "{}: {taken}, not {formula} = {ms} ms", row.name);
        compared += 1;
    }
    assert!(compared >= 100, "{compared} rows were compared");
}

#[test]
fn probes_find_what_the_table_says_of_its_drive() {
    let mut device = device(plain_with(toml::Table::new()));
    let done = measure(&mut device, &Options::default(), &mut |_| true).unwrap();
    assert!(done.stopped.is_none(), "{:?}", done.stopped);
    let found = extract(&done.record).unwrap();
    for (name, (formula, value, allowed)) in &TABLE.probes {
        let ours = found.value(name).unwrap_or_else(|| panic!("{name} was not found; it is {value}"));
        assert!((ours - value).abs() <= *allowed, "{name}: {ours}, not {formula} = {value}");
    }
}
