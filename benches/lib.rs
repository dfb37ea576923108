//! What the benchmarks share: drives from the library, fixed request streams, and the work whose instructions are counted.

pub mod cases;
pub mod event_traces;
pub mod steady;
pub mod traces;
pub mod whole;

use headstack_drive::command::Command;
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::path::PathBuf;
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

/// Aligned commands of 4 KiB, 60 % reads, uniform over the drive, without end; the same at every call.
#[derive(Clone, Debug)]
pub struct Random4k {
    state: u64,
    next: u64,
    slots: u64,
    sectors: u32,
}

impl Random4k {
    /// For a drive.
    pub fn new(drive: &Drive) -> Self {
        let sectors = 4096 / drive.model().sector_bytes();
        Self { state: 1, next: 0, slots: drive.capacity_sectors() / u64::from(sectors), sectors }
    }

    /// The next command.
    pub fn command(&mut self) -> Command {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let op = if (self.state >> 20) % 10 < 6 { Op::Read } else { Op::Write };
        let lba = Lba((self.state >> 33) % self.slots * u64::from(self.sectors));
        let id = self.next;
        self.next += 1;
        Command { id, op, lba, sectors: self.sectors, flags: RequestFlags::default() }
    }
}

/// `count` of them, 20 ms apart.
pub fn random_4k(drive: &Drive, count: u64) -> Vec<(Nanos, Command)> {
    let mut commands = Random4k::new(drive);
    (0..count).map(|id| (Nanos(id * 20_000_000), commands.command())).collect()
}

/// A file of the recorded data, which is not part of the repository: below `$HEADSTACK_DATA`, else `../shared/data`.
pub fn data(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("HEADSTACK_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    );
    Some(folder.join(name)).filter(|path| path.exists())
}
