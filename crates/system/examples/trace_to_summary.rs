//! What a request costs from a trace file to a summary; meant to be run under callgrind as well, where the difference
//! of two lengths gives instructions per request.
//!
//! - `trace_to_summary write SYSTEM WORKLOAD REQUESTS FILE` makes a Parquet trace of a workload.
//! - `trace_to_summary read|shape|run SYSTEM FILE [REQUESTS]` decodes it, or fits it to the system as well, or
//!   runs it to a summary.
//! - `trace_to_summary digest SYSTEM WORKLOAD REQUESTS [PATH=VALUE]…` prints a digest of the summary and of every
//!   completion and background record: the same before and after whatever must not move a result.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use headstack_system::record::{BackgroundRow, Discard};
use headstack_system::{
    CompletionRow, CompletionSink, Input, RunOptions, System, SystemError, WorkloadSpec, run,
};
use headstack_trace::shape::shape_file;
use headstack_trace::{
    OpenOptions, OutputFormat, RequestSource, Shaped, Shaping, Target, TraceReader, convert, open,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", name, workload, requests, file] => write(name, workload, requests.parse()?, file),
        ["digest", name, workload, requests, overrides @ ..] => {
            digest(name, workload, requests.parse()?, overrides)
        }
        [stage @ ("read" | "shape" | "run"), name, file, rest @ ..] => {
            let requests = rest.first().map(|requests| requests.parse()).transpose()?;
            let begun = Instant::now();
            let done = match *stage {
                "read" => drain(&mut open(Path::new(file), &OpenOptions::default())?, requests)?,
                "shape" => drain(&mut shaped(system(name, &[])?.as_ref(), file)?, requests)?,
                _ => simulate(name, file, requests)?,
            };
            let seconds = begun.elapsed().as_secs_f64();
            println!("{done} requests, {:.4} us each", seconds * 1e6 / done as f64);
            Ok(())
        }
        _ => Err("usage: trace_to_summary write|read|shape|run|digest …".into()),
    }
}

fn system(name: &str, overrides: &[&str]) -> Result<Arc<System>> {
    let pair = |text: &&str| text.split_once('=').map(|(path, value)| (path.to_owned(), value.to_owned()));
    let overrides: Vec<_> = overrides.iter().filter_map(pair).collect();
    Ok(Arc::new(System::load(name, &overrides)?))
}

fn write(name: &str, workload: &str, requests: u64, file: &str) -> Result<()> {
    let system = system(name, &[])?;
    let (_, mut spec) = WorkloadSpec::load(workload, &[])?;
    spec.requests = Some(requests);
    let mut open =
        spec.generate(&system.devices(), None, None)?.open.ok_or("a closed loop is not a trace")?;
    convert(&mut open, system.sector_bytes(), Path::new(file), OutputFormat::Parquet)?;
    Ok(())
}

fn shaped(system: &System, file: &str) -> Result<Shaped<TraceReader>> {
    let targets = system.devices();
    let targets = targets
        .iter()
        .map(|device| Target { sector_bytes: device.sector_bytes, sectors: device.sectors })
        .collect();
    Ok(shape_file(Path::new(file), &OpenOptions::default(), Shaping::default(), targets)?)
}

fn drain(source: &mut dyn RequestSource, requests: Option<u64>) -> Result<u64> {
    let (mut batch, mut done) = (Vec::new(), 0);
    while requests.is_none_or(|requests| done < requests) {
        source.next_batch(&mut batch)?;
        if batch.is_empty() {
            break;
        }
        done += batch.len() as u64;
    }
    Ok(done)
}

fn simulate(name: &str, file: &str, requests: Option<u64>) -> Result<u64> {
    let system = system(name, &[])?;
    let source = shaped(&system, file)?;
    let options = RunOptions { requests, ..RunOptions::default() };
    let summary = run(&system, Input::Source(Box::new(source)), &options, &mut Discard, &mut |_| {})?;
    println!("mean response {:?} ms, quantiles {}", summary.response_ms.mean, summary.quantiles);
    Ok(summary.requests)
}

fn digest(name: &str, workload: &str, requests: u64, overrides: &[&str]) -> Result<()> {
    let system = system(name, overrides)?;
    let (_, mut spec) = WorkloadSpec::load(workload, &[])?;
    spec.requests = Some(requests);
    let generator = spec.generate(&system.devices(), None, None)?;
    let options = RunOptions { seed: spec.seed, ..RunOptions::default() };
    let mut sink = Digest::default();
    let summary = run(&system, Input::Generator(generator), &options, &mut sink, &mut |_| {})?;
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(&summary)?.hash(&mut hasher);
    println!(
        "{name} {workload} {} summary {:016x} completions {:016x} background {:016x}",
        summary.requests,
        hasher.finish(),
        sink.rows.finish(),
        sink.background.finish()
    );
    Ok(())
}

/// Hashes all records.
#[derive(Default)]
struct Digest {
    rows: DefaultHasher,
    background: DefaultHasher,
}

impl CompletionSink for Digest {
    fn push(&mut self, rows: &[CompletionRow]) -> std::result::Result<(), SystemError> {
        for row in rows {
            format!("{row:?}").hash(&mut self.rows);
        }
        Ok(())
    }

    fn push_background(&mut self, rows: &[BackgroundRow]) -> std::result::Result<(), SystemError> {
        for row in rows {
            format!("{row:?}").hash(&mut self.background);
        }
        Ok(())
    }
}
