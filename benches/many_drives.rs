//! Eighteen drives on one bus each, or as the simulation file has them, under the trace published with DiskSim.

#![allow(clippy::print_stderr, reason = "a program for the terminal")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headstack_benches::data;
use headstack_disksim::{Simulation, SimulationOptions, import_simulation};
use headstack_system::record::Discard;
use headstack_system::{Input, RunOptions, Summary, System, run};
use headstack_trace::shape::shape_file;
use headstack_trace::{Devices, OpenOptions, Shaping, Target};
use std::path::Path;
use std::sync::Arc;

fn ascii(c: &mut Criterion) {
    let (Some(trace), Some(file), Some(drives)) =
        (data("validate/ascii.trace"), data("validate/ascii.parv"), data("drives"))
    else {
        eprintln!(
            "skipped: eighteen drives need validate/ascii.trace, validate/ascii.parv and drives in $HEADSTACK_DATA"
        );
        return;
    };
    let options = SimulationOptions { folders: vec![drives], ..SimulationOptions::default() };
    let simulation = import_simulation(&file, &options).expect("a sound simulation file");
    let system = system(&simulation);
    let shaping = shaping(&simulation.trace_options);
    let requests = simulate(&system, &trace, &shaping).requests;
    let mut group = c.benchmark_group("18 drives");
    group.sample_size(10);
    group.throughput(Throughput::Elements(requests));
    group.bench_function("ascii.trace", |b| b.iter(|| simulate(&system, &trace, &shaping)));
    group.finish();
}

fn system(simulation: &Simulation) -> Arc<System> {
    let folder = std::env::temp_dir().join(format!("headstack-benches-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a writable temporary folder");
    let path = folder.join("system.toml");
    std::fs::write(&path, simulation.system_toml()).expect("writable");
    for drive in &simulation.drives {
        std::fs::write(folder.join(&drive.name), &drive.toml).expect("writable");
    }
    let system = System::load(path.to_str().expect("a plain path"), &[]).expect("what was imported is sound");
    std::fs::remove_dir_all(&folder).expect("removable");
    Arc::new(system)
}

/// The options that the import names, `--device N=M`, `--lba-scale X`, `--time-scale X`, as a fit of the trace.
fn shaping(options: &[String]) -> Shaping {
    let mut shaping = Shaping::default();
    let mut devices = Vec::new();
    for option in options {
        let (name, value) = option.split_once(' ').expect("a name and a value");
        match name {
            "--device" => {
                let (from, to) = value.split_once('=').expect("N=M");
                devices.push((from.parse().expect("a number"), to.parse().expect("a number")));
            }
            "--lba-scale" => shaping.lba_scale = value.parse().expect("a number"),
            "--time-scale" => shaping.time_scale = value.parse().expect("a number"),
            other => panic!("{other} is not known here"),
        }
    }
    if !devices.is_empty() {
        shaping.devices = Devices::Map(devices);
    }
    shaping
}

fn simulate(system: &Arc<System>, trace: &Path, shaping: &Shaping) -> Summary {
    let target = |device: &headstack_system::workload::DeviceShape| Target {
        sector_bytes: device.sector_bytes,
        sectors: device.sectors,
    };
    let targets = system.devices().iter().map(target).collect();
    let source =
        shape_file(trace, &OpenOptions::default(), shaping.clone(), targets).expect("a readable trace");
    let input = Input::Source(Box::new(source));
    run(system, input, &RunOptions::default(), &mut Discard, &mut |_| {}).expect("a sound trace")
}

criterion_group!(benches, ascii);
criterion_main!(benches);
