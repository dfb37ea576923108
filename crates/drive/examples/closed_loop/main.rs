//! One drive under a closed loop: so many users who ask again as soon as they are answered.
//!
//! ```text
//! cargo run --release -p headstack-drive --example closed_loop -- drives/nearline-18tb.toml random-read 128 1,8,32 \
//!     30000 controller.scheduler=sptf
//! ```
//!
//! Prints, for each queue depth, IOPS, MB/s, and mean, median, p99 and maximum of the response in ms. The first quarter of
//! the requests is left out. With `controller.duration_limit_ms=…` a fifth of the requests is marked as limited. `random-read`, `random-write`, `sequential-read` or `sequential-write` (each user his own
//! stream, all from the beginning of the drive), `stream-read` or `stream-write` (one stream of all); size in KiB; depths; requests;
//! values to replace, and `offset=…` for requests that begin so many sectors beside multiples of their size.
#![allow(clippy::print_stdout)]

mod users;

use headstack_drive::DriveModel;
use headstack_drive::spec::DriveSpec;
use headstack_units::Op;
use std::error::Error;
use std::sync::Arc;
use users::{Load, Summary, serve};

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: closed_loop DRIVE.toml LOAD KIB DEPTH,DEPTH… REQUESTS [PATH=VALUE…]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, load, kib, depths, count, overrides @ ..] = &arguments[..] else { return Err(usage.into()) };
    let offset = overrides.iter().find_map(|pair| pair.strip_prefix("offset=")).map_or(Ok(0), str::parse)?;
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .filter(|pair| !pair.starts_with("offset="))
        .filter_map(|pair| pair.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())))
        .collect();
    let spec = DriveSpec::from_toml_with(path, &std::fs::read_to_string(path)?, &overrides)?;
    let model = Arc::new(DriveModel::new(&spec)?);
    let load = Load {
        op: if load.ends_with("write") { Op::Write } else { Op::Read },
        sequential: load.starts_with("sequential") || load.starts_with("stream"),
        together: load.starts_with("stream"),
        offset,
        sectors: kib.parse::<u32>()? * 1024 / model.sector_bytes(),
        limited_percent: if spec.controller.duration_limit_ms.is_some() { 20 } else { 0 },
    };
    for depth in depths.split(',') {
        let answers = serve(&model, &vec![load; depth.parse()?], count.parse()?);
        let summary = Summary::of(&answers);
        let bytes = f64::from(load.sectors) * f64::from(model.sector_bytes());
        let mean = summary.responses.iter().sum::<f64>() / summary.responses.len() as f64;
        println!(
            "depth {depth:>3}: {:8.1} IOPS {:7.1} MB/s, mean {mean:8.2} p50 {:8.2} p99 {:8.2} max {:8.2} ms",
            summary.iops,
            summary.iops * bytes / 1e6,
            summary.quantile(0.5),
            summary.quantile(0.99),
            summary.quantile(1.0)
        );
        if load.limited_percent > 0 {
            let limited = Summary::of_those(&answers, |answer| answer.is_limited);
            let others = Summary::of_those(&answers, |answer| !answer.is_limited);
            println!(
                "           limited {:6.1} IOPS p99 {:8.2} ms, others {:6.1} IOPS p99 {:8.2} ms",
                limited.iops,
                limited.quantile(0.99),
                others.iops,
                others.quantile(0.99)
            );
        }
    }
    Ok(())
}
