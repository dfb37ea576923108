//! One drive, random 4 KiB requests, 60 % reads, 20 ms apart on average, first come, first served:
//! `cargo run --release -p headstack-drive --example serve -- drives/cheetah-9lp.toml 1000000`. Prints the time per
//! command; under callgrind the difference of two lengths gives instructions per command.
#![allow(clippy::print_stdout)]

use headstack_drive::command::{Command, Outcome};
use headstack_drive::spec::DriveSpec;
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: serve DRIVE.toml [COMMANDS]")?;
    let count: u64 = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let model = Arc::new(DriveModel::new(&DriveSpec::from_toml(&path, &std::fs::read_to_string(&path)?)?)?);
    let bus = model.bus();
    let mut drive = Drive::new(Arc::clone(&model), 1);
    let sectors = (4096 / model.sector_bytes()).max(1);
    let places = drive.capacity_sectors() / u64::from(sectors);
    let (mut state, mut arrival, mut free) = (1_u64, 0.0, Nanos::ZERO);
    let (mut background, mut outcome, mut spent) = (Vec::new(), Outcome::default(), 0_u128);
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let begun = Instant::now();
    for id in 0..count {
        arrival += -20e6 * ((draw() + 1) as f64 / 2_147_483_648.0).ln();
        let op = if draw() % 10 < 6 { Op::Read } else { Op::Write };
        let lba = Lba(((draw() << 31) + draw()) % places * u64::from(sectors));
        let command = Command { id, op, lba, sectors, flags: RequestFlags::default() };
        let at = Nanos(arrival as u64);
        drive.serve_into(at.max(free), command, &bus, &mut background, &mut outcome);
        free = outcome.finish;
        background.clear();
        spent += u128::from((free - at).0);
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{:.4} us a command; mean response {:.6} ms",
        seconds * 1e6 / count as f64,
        spent as f64 / count as f64 / 1e6
    );
    Ok(())
}
