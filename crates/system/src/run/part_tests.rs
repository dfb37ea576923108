//! Writes of a part of a drive's sector: refused, whichever way they come.

use std::sync::Arc;

use headstack_trace::{InMemory, Op, Request, RequestFlags};
use headstack_units::{Lba, Nanos};

use super::*;
use crate::record::Discard;
use crate::spec::SystemConfig;
use crate::stepper::Stepper;
use crate::workload::WorkloadSpec;

/// Drives with sectors of 4 KiB behind a host with sectors of 512 bytes.
const SMALL_HOST: &str = "[host]\nsector_bytes = 512\n[volume.a]\ndrives = [\"mock-disk\"]";

fn config(text: &str) -> Result<SystemConfig, SystemError> {
    let source = crate::library::Source {
        name: "test".to_owned(),
        origin: "test.toml".to_owned(),
        directory: None,
        text: text.to_owned(),
    };
    SystemConfig::from_source(&source, &[("drive.*.sector_bytes".to_owned(), "4096".to_owned())])
}

fn system(text: &str) -> Arc<System> {
    let config = config(text).unwrap_or_else(|error| panic!("{error}"));
    Arc::new(System::new(config).unwrap_or_else(|error| panic!("{error}")))
}

fn write(lba: u64, sectors: u32) -> Request {
    Request::new(Nanos::ZERO, Op::Write, Lba(lba), sectors)
}

/// What the three ways through a system, and a stepper, say to a request: the same.
fn served(system: &Arc<System>, request: Request) -> Result<(), String> {
    let ways = [
        RunOptions::default(),
        RunOptions { event_path: true, ..RunOptions::default() },
        RunOptions { replay: Replay::Closed, ..RunOptions::default() },
    ];
    let has_cache = system.config().host.buffer_cache.is_some();
    let runs = ways.iter().filter(|way| way.replay == Replay::Open || !has_cache).map(|way| {
        let input = Input::Source(Box::new(InMemory::new(vec![request])));
        run(system, input, way, &mut Discard, &mut |_| {}).map(|_| ()).map_err(|error| error.to_string())
    });
    let stepped = Stepper::new(system, 1).submit(request).map(|_| ()).map_err(|error| error.to_string());
    let mut said: Vec<_> = runs.chain([stepped]).collect();
    let first = said.remove(0);
    assert!(said.iter().all(|other| *other == first), "{first:?} {said:?}");
    first
}

#[test]
fn a_write_of_a_part_of_a_sector_is_refused() {
    let striped = "[host]\nsector_bytes = 512\n[volume.a]\nlevel = \"raid-0\"\nstripe_unit_kib = 64\n\
                   drives = [\"mock-disk\", \"mock-disk\"]";
    for text in [SMALL_HOST, striped] {
        let system = system(text);
        for (lba, sectors) in [(0, 4), (4, 8), (8, 9), (1, 7)] {
            let refusal = served(&system, write(lba, sectors)).unwrap_err();
            let bytes = format!("writes {} bytes from byte {} on", sectors * 512, lba * 512);
            assert!(refusal.contains(&bytes) && refusal.contains("whole sectors of 4096 bytes"), "{refusal}");
        }
        served(&system, write(8, 16)).unwrap();
        served(&system, Request { flags: RequestFlags::DISCARD, ..write(3, 2) }).unwrap();
        served(&system, Request { op: Op::Read, ..write(3, 2) }).unwrap();
    }
}

/// Drives of which a write may take a part, or the host's sectors are larger: as before.
#[test]
fn sectors_that_are_not_cut_are_not_asked_for() {
    let large = SMALL_HOST.replace("= 512", "= 8192");
    served(&system(&large), write(3, 1)).unwrap();
    let emulated = System::load("nearline-18tb", &[]).unwrap();
    served(&Arc::new(emulated), write(3, 1)).unwrap();
}

#[test]
fn a_buffer_cache_writes_blocks_of_whole_sectors() {
    let cached = |kib: u32| {
        let cache = format!("[host]\nbuffer_cache = {{ blocks = 16, block_kib = {kib} }}");
        SMALL_HOST.replace("[host]", &cache)
    };
    let system = system(&cached(8));
    served(&system, write(3, 1)).unwrap();
    let refusal = served(&system, Request { flags: RequestFlags::RAW, ..write(3, 1) }).unwrap_err();
    assert!(refusal.contains("whole sectors of 4096 bytes"), "{refusal}");
    let refusal = config(&cached(2)).unwrap_err().to_string();
    assert!(refusal.contains("block_kib") && refusal.contains("4096-byte"), "{refusal}");
}

#[test]
fn a_load_of_parts_of_sectors_is_refused_before_it_runs() {
    let system = system("[volume.a]\ndrives = [\"mock-disk\"]");
    let made = |lines: &str| {
        let text =
            format!("requests = 10\n[[stream]]\nread_fraction = 0.5\ninter_arrival.constant_ms = 5\n{lines}");
        let spec = WorkloadSpec::from_toml("test", &text).unwrap();
        spec.generate(&system.devices(), None, None).map(|_| ()).map_err(|error| error.to_string())
    };
    for (lines, key) in [
        ("size.fixed_kib = 2", "size"),
        ("size.two_value_kib = [4, 6, 0.5]", "size"),
        ("size.weighted_kib = [[4, 1], [2, 1]]", "size"),
        ("size.fixed_kib = 8\nalign_kib = 6", "align_kib"),
        ("size.uniform_kib = [4, 64]\nsize_step_kib = 6", "size_step_kib"),
    ] {
        let refusal = made(lines).unwrap_err();
        assert!(refusal.contains(key) && refusal.contains("4096-byte sectors of a"), "{lines}: {refusal}");
    }
    for lines in [
        "size.fixed_kib = 8\nalign_kib = 1",
        "size.weighted_kib = [[4, 1], [2, 0]]",
        // What is drawn from a range is made up to whole sectors.
        "size.exponential_kib = 5",
    ] {
        made(lines).unwrap();
    }
}
