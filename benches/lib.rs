//! What the benchmarks share: drives from the library and fixed request streams.

use headstack_drive::command::Command;
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::sync::Arc;

/// A drive of the library.
///
/// # Panics
/// If the library has no such drive, or it is not sound.
pub fn drive(name: &str) -> Drive {
    let path = format!("{}/../drives/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the library has the drive");
    let spec = DriveSpec::from_toml(name, &text).expect("the library's drives are sound");
    Drive::new(Arc::new(DriveModel::new(&spec).expect("sound")), 1)
}

/// `count` aligned requests of 4 KiB, 60 % reads, uniform over the drive, 20 ms apart; the same at every call.
pub fn random_4k(drive: &Drive, count: u64) -> Vec<(Nanos, Command)> {
    let sectors = 4096 / drive.model().sector_bytes();
    let slots = drive.capacity_sectors() / u64::from(sectors);
    let mut state = 1_u64;
    (0..count)
        .map(|id| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let op = if (state >> 20) % 10 < 6 { Op::Read } else { Op::Write };
            let lba = Lba((state >> 33) % slots * u64::from(sectors));
            (Nanos(id * 20_000_000), Command { id, op, lba, sectors, flags: RequestFlags::default() })
        })
        .collect()
}
