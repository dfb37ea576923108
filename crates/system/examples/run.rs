//! Runs a library workload on a library system: `cargo run --release --example run -- hp-97560 light-million`.
//! Prints the summary, and on stderr how fast it went. Further arguments are a number of requests, and overrides
//! (`host.scheduler=c-look`).
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::sync::Arc;
use std::time::Instant;

use headstack_system::record::Discard;
use headstack_system::{Input, RunOptions, System, WorkloadSpec, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let system = arguments.next().unwrap_or_else(|| "hp-97560".to_owned());
    let workload = arguments.next().unwrap_or_else(|| "light-million".to_owned());
    let (mut overrides, mut requests) = (Vec::new(), None);
    for argument in arguments {
        match argument.split_once('=') {
            Some((path, value)) => overrides.push((path.to_owned(), value.to_owned())),
            None => requests = Some(argument.parse()?),
        }
    }
    let system = Arc::new(System::load(&system, &overrides)?);
    let (name, spec) = WorkloadSpec::load(&workload, &[])?;
    let generator = spec.generate(&system.devices(), None, None)?;
    let mut options = RunOptions { seed: spec.seed, requests, ..RunOptions::default() };
    options.workload.name = name;
    let begun = Instant::now();
    let mut summary = run(&system, Input::Generator(generator), &options, &mut Discard, &mut |_| {})?;
    summary.wall_s = begun.elapsed().as_secs_f64();
    assert!(summary.requests > 0);
    eprintln!("{:.0} requests/s", summary.requests as f64 / summary.wall_s);
    summary.plots = headstack_system::summary::Plots::default();
    println!("{}", serde_json::to_string_pretty(&summary)?);
    Ok(())
}
