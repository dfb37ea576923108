//! Whole runs, from a trace file to a summary: decoding, fitting to the system, the drives, statistics.

use crate::data;
use headstack_disksim::{Simulation, SimulationOptions, import_simulation};
use headstack_system::record::Discard;
use headstack_system::{FleetOptions, Input, RunOptions, Summary, System, WorkloadSpec, run, run_fleet};
use headstack_trace::shape::shape_file;
use headstack_trace::{
    Devices, InMemory, OpenOptions, OutputFormat, Request, Shaping, Target, convert, open,
};
use headstack_units::{Lba, Nanos, Op};
use std::path::PathBuf;
use std::sync::Arc;

/// A system and a trace for it.
#[derive(Clone, Debug)]
pub struct Whole {
    system: Arc<System>,
    trace: PathBuf,
    shaping: Shaping,
}

impl Whole {
    /// A drive of the library and a Parquet trace, as [`Whole::write_light`] writes it.
    ///
    /// # Panics
    /// If the library has no such drive.
    pub fn light(drive: &str, trace: PathBuf) -> Self {
        let system = System::load(drive, &[]).expect("the library has the drive");
        Self { system: Arc::new(system), trace, shaping: Shaping::default() }
    }

    /// Writes the trace: so many requests of the library's workload `light-million`.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write_light(&self, requests: u64) {
        let (_, mut spec) = WorkloadSpec::load("light-million", &[]).expect("the library has the workload");
        spec.requests = Some(requests);
        let generator = spec.generate(&self.system.devices(), None, None).expect("it fits the drive");
        let mut open = generator.open.expect("its requests come when they come");
        convert(&mut open, self.system.sector_bytes(), &self.trace, OutputFormat::Parquet)
            .expect("a writable folder");
    }

    /// The 18 drives and the ASCII trace published with DiskSim 4.0; `None` where the data are not there.
    ///
    /// # Panics
    /// If the data are not as they were published.
    pub fn eighteen_drives() -> Option<Self> {
        let (trace, file, drives) =
            (data("validate/ascii.trace")?, data("validate/ascii.parv")?, data("drives")?);
        let options = SimulationOptions { folders: vec![drives], ..SimulationOptions::default() };
        let simulation = import_simulation(&file, &options).expect("a sound simulation file");
        let shaping = shaping(&simulation.trace_options);
        Some(Self { system: system(&simulation), trace, shaping })
    }

    /// Runs it, or its first `requests`.
    ///
    /// # Panics
    /// If the trace cannot be read.
    pub fn run(&self, requests: Option<u64>) -> Summary {
        let target = |device: &headstack_system::workload::DeviceShape| Target {
            sector_bytes: device.sector_bytes,
            sectors: device.sectors,
        };
        let targets = self.system.devices().iter().map(target).collect();
        let source = shape_file(&self.trace, &OpenOptions::default(), self.shaping.clone(), targets);
        let input = Input::Source(Box::new(source.expect("a readable trace")));
        let options = RunOptions { requests, ..RunOptions::default() };
        run(&self.system, input, &options, &mut Discard, &mut |_| {}).expect("a sound trace")
    }
}

/// Twenty drives, each a system of its own, and a trace for them.
#[derive(Clone, Debug)]
pub struct Fleet {
    system: Arc<System>,
    trace: PathBuf,
}

impl Fleet {
    /// Of a drive of the library and a Parquet trace, as [`Fleet::write`] writes it.
    ///
    /// # Panics
    /// If the library has no such drive.
    pub fn new(drive: &str, trace: PathBuf) -> Self {
        Self { system: Arc::new(System::load(drive, &[]).expect("the library has the drive")), trace }
    }

    /// Writes the trace: so many requests of 4 KiB anywhere, seven reads in ten, 1 ms apart.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, requests: u64) {
        let sectors = 4096 / self.system.sector_bytes();
        let slots = self.system.devices()[0].sectors / u64::from(sectors);
        let draw = |number: u64| {
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03) >> 29
        };
        let request = |number: u64| {
            let drawn = draw(number + 1);
            let op = if drawn % 10 < 7 { Op::Read } else { Op::Write };
            let lba = Lba((drawn >> 16) % slots * u64::from(sectors));
            Request {
                device: (draw(drawn) >> 32) as u32 % 20,
                ..Request::new(Nanos(number * 1_000_000), op, lba, sectors)
            }
        };
        let mut source = InMemory::new((0..requests).map(request).collect());
        convert(&mut source, self.system.sector_bytes(), &self.trace, OutputFormat::Parquet)
            .expect("a writable folder");
    }

    /// Runs it by one thread; how many requests were served.
    ///
    /// # Panics
    /// If the trace cannot be read.
    pub fn run(&self) -> u64 {
        let source = open(&self.trace, &OpenOptions::default()).expect("a readable trace");
        let options = FleetOptions { threads: Some(1), ..FleetOptions::default() };
        let part = run_fleet(&self.system, Box::new(source), &options, &mut |_| {}).expect("a sound trace");
        part.summary(0).requests
    }
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
