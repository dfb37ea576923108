//! Replays device 0 of a trace on a library system:
//! `cargo run --release --example replay -- hplajw ajw.1week.srt measured`. Prints the mean response and service, and
//! what the trace measured. Further arguments are overrides (`host.scheduler=fcfs`).
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;

use headstack_stats::Moments;
use headstack_system::record::Keep;
use headstack_system::{Input, Replay, RunOptions, System, run};
use headstack_trace::{Devices, OpenOptions, Shaped, Shaping, Target, open};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [system, trace, replay, overrides @ ..] = arguments.as_slice() else {
        return Err("usage: replay SYSTEM TRACE open|closed|measured [PATH=VALUE]…".into());
    };
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .filter_map(|pair| pair.split_once('=').map(|(path, value)| (path.to_owned(), value.to_owned())))
        .collect();
    let replay = match replay.as_str() {
        "open" => Replay::Open,
        "closed" => Replay::Closed,
        _ => Replay::Measured,
    };
    let system = Arc::new(System::load(system, &overrides)?);
    let reader = open(Path::new(trace), &OpenOptions::default())?;
    let sector_bytes = reader.sector_bytes();
    let targets: Vec<Target> = system
        .devices()
        .iter()
        .map(|device| Target { sector_bytes: device.sector_bytes, sectors: device.sectors })
        .collect();
    let shaping = Shaping { devices: Devices::Only(0), ..Shaping::default() };
    let source = Shaped::new(reader, sector_bytes, shaping, targets)?;
    let options = RunOptions { replay, ..RunOptions::default() };
    let mut kept = Keep::default();
    let summary = run(&system, Input::Source(Box::new(source)), &options, &mut kept, &mut |_| {})?;
    let (mut response, mut service) = (Moments::new(), Moments::new());
    for row in &kept.rows {
        if let (Some(start), Some(finish)) = (row.measured_start.present(), row.measured_finish.present()) {
            service.record(finish - start);
            response.record(finish.saturating_sub(row.arrival));
        }
    }
    println!("requests {}, clamped {}", summary.requests, summary.clamped);
    println!(
        "model:    response {:?} ms, service {:?} ms",
        summary.response_ms.mean, summary.service_ms.mean
    );
    println!("measured: response {:?} ms, service {:?} ms", response.mean_ms(), service.mean_ms());
    println!(
        "queue at the drive: mean {}, max {}",
        summary.drives[0].queue_mean, summary.drives[0].queue_max
    );
    Ok(())
}
