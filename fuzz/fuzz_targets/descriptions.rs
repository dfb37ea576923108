//! Any text as a drive, a system and a workload: an error or what can be built and run, never a panic.
//!
//! A drive that is accepted serves its first, middle and last sector; where a system and a workload are accepted, the workload's
//! first requests lie within the system.

#![no_main]

use headstack_drive::command::Command;
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_system::library::Source;
use headstack_system::spec::SystemConfig;
use headstack_system::workload::WorkloadSpec;
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(spec) = DriveSpec::from_toml("fuzzed", text) {
        let model = Arc::new(DriveModel::new(&spec).expect("a drive that was accepted can be built"));
        serve(Drive::new(model, 1));
    }
    let _ = WorkloadSpec::from_toml("fuzzed", text);
    let named = || "fuzzed".to_owned();
    let source = Source { name: named(), origin: named(), directory: None, text: text.to_owned() };
    if let Ok(config) = SystemConfig::from_source(&source, &[]) {
        let _ = headstack_system::System::new(config);
    }
});

fn serve(mut drive: Drive) {
    let bus = drive.model().bus();
    let last = drive.capacity_sectors() - 1;
    let (mut at, mut works) = (Nanos::ZERO, Vec::new());
    for (id, (lba, op)) in (0..).zip([(0, Op::Read), (last / 2, Op::Write), (last, Op::Read)]) {
        let command = Command { id, op, lba: Lba(lba), sectors: 1, flags: RequestFlags::default() };
        let outcome = drive.serve(at, command, &bus, &mut works);
        assert_eq!(outcome.phases.total(), outcome.finish - outcome.submitted);
        at = outcome.finish;
    }
}
