//! A simulation file is a system, its drives and a workload.

use crate::common::{DISK, Files};
use headstack_disksim::{ImportError, Simulation, SimulationOptions, import_simulation};
use headstack_system::bus::Arbitration;
use headstack_system::spec::{
    ArrayCacheRoom, ArrayCacheWrites, ArrayReadAhead, DeviceWrites, HostKnowledge, ReadChoice, WriteOrder,
};
use headstack_system::workload::{ShiftLaw, SizeLaw, TimeLaw};

const HEAD: &str = "\
disksim_global Global { Init Seed = 7 }
disksim_iodriver DRIVER { type = 1, Constant access time = 0.0,
 Scheduler = disksim_ioqueue { Scheduling policy = 3 }, Use queueing in subsystem = 1 }
disksim_bus FREE { type = 2, Arbitration type = 1, Read block transfer time = 0.0, Write block transfer time = 0.0 }
disksim_bus SLOW { type = 1, Arbitration type = 2, Arbitration time = 0.25,
 Read block transfer time = 0.2, Write block transfer time = 0.4 }
disksim_ctlr CTLR { type = 1, Bulk sector transfer time = 0.0 }
source small.diskspecs
instantiate [ driver0 ] as DRIVER
instantiate [ bus0 ] as FREE
instantiate [ bus1 .. bus2 ] as SLOW
instantiate [ ctlr0 .. ctlr1 ] as CTLR
instantiate [ disk0 .. disk2 ] as SMALL
topology disksim_iodriver driver0 [ disksim_bus bus0 [
 disksim_ctlr ctlr0 [ disksim_bus bus1 [ disksim_disk disk0 [], disksim_disk disk1 [] ] ],
 disksim_ctlr ctlr1 [ disksim_bus bus2 [ disksim_disk disk2 [] ] ] ] ]
";

const PARTS: &str = "\
disksim_logorg org0 { Addressing mode = Parts, Distribution scheme = Asis, Redundancy scheme = Noredun,
 devices = [ disk0 .. disk2 ], Stripe unit = 64 }
";

const WORK: &str = "\
disksim_pf Proc { Number of processors = 1 }
disksim_synthio Synthio { Number of I/O requests to generate = 500, Maximum time of trace generated = 100.0,
 Generators = [ disksim_synthgen { Storage capacity per device = 400, devices = [ disk1 ], Blocking factor = 8,
 Probability of sequential access = 0.2, Probability of local access = 0.3, Probability of read access = 0.66,
 Probability of time-critical request = 0.1, Probability of time-limited request = 0.4,
 Time-limited think times = [ normal, 30.0, 100.0 ], General inter-arrival times = [ exponential, 0.0, 25.0 ],
 Sequential inter-arrival times = [ uniform, 1.0, 3.0 ], Local inter-arrival times = [ exponential, 0.0, 25.0 ],
 Local distances = [ normal, 0.0, 40000.0 ], Sizes = [ exponential, 0.0, 8.0 ] } ] }
";

fn files(text: &str) -> Files {
    let files = Files::new();
    files.write("run.parv", text);
    files
}

fn import(text: &str, lenient: bool) -> Result<Simulation, ImportError> {
    let options = SimulationOptions { lenient, prefix: "run.".to_owned(), ..SimulationOptions::default() };
    import_simulation(&files(text).path("run.parv"), &options)
}

#[track_caller]
fn sound(text: &str) -> Simulation {
    import(text, false).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(text: &str, line: u32, words: &[&str]) {
    let error = import(text, false).expect_err("must be refused");
    assert_eq!(error.line, line, "{error}");
    let message = format!("{error} | {}", error.hint.clone().unwrap_or_default());
    for word in words {
        assert!(message.contains(word), "`{word}` is missing: {message}");
    }
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` does not occur");
    text.replacen(from, to, 1)
}

#[test]
fn the_slowest_bus_on_the_way_is_the_disks_bus() {
    let simulation = sound(&format!("{HEAD}{PARTS}"));
    let system = &simulation.system;
    assert_eq!(system.host.scheduler, "c-look");
    assert_eq!(system.host.outstanding_per_drive, None);
    assert_eq!(system.bus.keys().collect::<Vec<_>>(), ["bus1", "bus2"]);
    // 512 bytes in 0.2 and 0.4 ms.
    let bus = &system.bus["bus1"];
    assert_eq!((bus.read_mb_per_s, bus.write_mb_per_s), (Some(2.56), Some(1.28)));
    assert_eq!((bus.arbitration_us, bus.arbitration), (250.0, Arbitration::Fifo));
    let buses: Vec<_> = system.volume.values().map(|volume| volume.bus.clone().unwrap()).collect();
    assert_eq!(buses, ["bus1", "bus1", "bus2"]);
    assert_eq!(system.volume.keys().collect::<Vec<_>>(), ["disk0", "disk1", "disk2"]);
    // One drive file for all three.
    assert_eq!(simulation.drives.len(), 1);
    assert_eq!(simulation.drives[0].name, "run.small.toml");
    assert!(
        system.volume.values().all(|volume| volume.drives == ["run.small.toml"] && volume.level == "single")
    );
    assert!(simulation.workload.is_none());
}

#[test]
fn the_files_build_a_system_that_runs_the_workload() {
    let simulation = sound(&format!("{HEAD}{PARTS}{WORK}"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    std::fs::write(&path, simulation.system_toml()).unwrap();
    for drive in &simulation.drives {
        std::fs::write(folder.path().join(&drive.name), &drive.toml).unwrap();
    }
    let system = headstack_system::System::load(path.to_str().unwrap(), &[]).unwrap();
    assert_eq!(system.devices().iter().map(|device| device.sectors).collect::<Vec<_>>(), [560; 3]);
    let text = simulation.workload_toml().unwrap();
    let workload =
        headstack_system::WorkloadSpec::from_toml("w", &text).unwrap_or_else(|error| panic!("{error}"));
    assert!(workload.generate(&system.devices(), None, None).unwrap().closed.is_some());
}

#[test]
fn a_generator_is_a_stream() {
    let simulation = sound(&format!("{HEAD}{PARTS}{WORK}"));
    let workload = simulation.workload.unwrap();
    assert_eq!((workload.seed, workload.requests), (7, Some(500)));
    let [stream] = workload.stream.as_slice() else { panic!("one generator") };
    assert_eq!((stream.volume.as_deref(), stream.range_lba), (Some("disk1"), Some([0, 399])));
    assert_eq!((stream.end_s, stream.align_kib, stream.size_step_kib), (Some(100.0), Some(4.0), Some(4.0)));
    assert_eq!((stream.waits_fraction, stream.limited_fraction), (Some(0.1), 0.4));
    assert_eq!(stream.size, SizeLaw::Exponential(4.0));
    // The second number is the deviation, as DiskSim's own requests show: 40,000 blocks.
    assert_eq!(stream.local_shift, Some(ShiftLaw::Normal([0.0, 20_000.0])));
    assert_eq!(stream.time_limit, Some(TimeLaw::Normal([30.0, 100.0])));
    assert_eq!(stream.think, Some(TimeLaw::Exponential(25.0)));
    assert_eq!(
        (stream.sequential_think.clone(), stream.local_think.clone()),
        (Some(TimeLaw::Uniform([1.0, 3.0])), None)
    );
}

#[test]
fn generators_compute_on_the_processors_of_the_file() {
    let text = format!("{HEAD}{PARTS}{WORK}");
    let processors = |text: &str| {
        let found = sound(text);
        let of_processors = found.report.warnings.iter().map(|warning| warning.message.clone());
        let warnings: Vec<String> = of_processors.filter(|message| message.contains("processor")).collect();
        (found.workload.unwrap().processes.unwrap(), warnings)
    };
    let (one, said) = processors(&text);
    assert_eq!((one.processors, one.time_scale, said.len()), (1, 1.0, 0));
    let several = changed(&text, "Number of processors = 1", "Number of processors = 3");
    let (three, said) = processors(&several);
    assert_eq!(three.processors, 3);
    assert!(said.iter().any(|said| said.contains("hangs on chance")), "{said:?}");
    // Twice as slow, and one that never waits, of two that would compute.
    let text = changed(&text, "time-critical request = 0.1", "time-critical request = 0.0");
    let text = changed(&text, "time-limited request = 0.4", "time-limited request = 0.0");
    let text = changed(&text, "Number of processors = 1", "Process-Flow Time Scale = 2.0");
    let (begin, end) = (text.find("disksim_synthgen").unwrap(), text.rfind("} ]").unwrap() + 1);
    let twice = format!("{}, {}", &text[begin..end], &text[begin..]);
    let (slow, said) = processors(&format!("{}{twice}", &text[..begin]));
    assert_eq!((slow.processors, slow.time_scale), (1, 2.0));
    assert!(said.iter().any(|said| said.contains("1 of 2 generators compute at a time")), "{said:?}");
}

#[test]
fn every_distribution_has_its_law() {
    let times = |law: &str| {
        let text = changed(&format!("{HEAD}{PARTS}{WORK}"), "[ exponential, 0.0, 25.0 ]", law);
        import(&text, true).unwrap().workload.unwrap().stream.remove(0).think.unwrap()
    };
    assert_eq!(times("[ uniform, 1, 5.5 ]"), TimeLaw::Uniform([1.0, 5.5]));
    assert_eq!(times("[ normal, 9.0, 4.0 ]"), TimeLaw::Normal([9.0, 4.0]));
    // Without spread it takes its random numbers all the same.
    assert_eq!(times("[ normal, 9.0, 0.0 ]"), TimeLaw::Normal([9.0, 0.0]));
    assert_eq!(times("[ exponential, 2.0, 4.0 ]"), TimeLaw::ShiftedExponential([2.0, 4.0]));
    assert_eq!(times("[ poisson, 0.0, 4.0 ]"), TimeLaw::Poisson(4.0));
    assert_eq!(times("[ poisson, 5.0, 4.0 ]"), TimeLaw::Normal([9.0, 2.0]));
    // The usual value, the other one, and how often it is the other one.
    assert_eq!(times("[ twovalue, 1.0, 9.0, 0.25 ]"), TimeLaw::TwoValue([9.0, 1.0, 0.25]));
    let text = format!("{HEAD}{PARTS}{WORK}");
    refused(
        &changed(&text, "[ exponential, 0.0, 25.0 ]", "[ gamma, 1.0 ]"),
        24,
        &["not a distribution", "twovalue"],
    );
    refused(
        &changed(&text, "[ exponential, 0.0, 25.0 ]", "[ poisson, 5.0, 4.0 ]"),
        24,
        &["normal one", "--lenient"],
    );
}

#[test]
fn disks_one_after_the_other_are_a_volume() {
    let array = "disksim_logorg all { Addressing mode = Array, Distribution scheme = Asis, Redundancy scheme = Noredun,\n\
                 devices = [ disk0, disk1 ], Stripe unit = 8 }\n";
    let simulation = sound(&format!("{HEAD}{array}"));
    let volume = &simulation.system.volume["all"];
    assert_eq!(
        (volume.level.as_str(), volume.drives.len(), volume.bus.as_deref()),
        ("concatenation", 2, Some("bus1"))
    );
    assert!(simulation.system.volume.contains_key("disk2"));
    // Stripes as large as a disk come to the same.
    let whole = array.replace("Asis", "Striped").replace("unit = 8", "unit = 560");
    assert!(sound(&format!("{HEAD}{whole}")).system.volume.contains_key("all"));
    let ideal = format!("{HEAD}{}", array.replace("Asis", "Ideal"));
    refused(&ideal, 17, &["distribution Ideal of all", "not built yet", "--lenient"]);
    let parity = format!("{HEAD}{}", array.replace("Noredun", "Parity_rotated"));
    refused(&parity, 17, &["redundancy Parity_rotated", "not built yet"]);
    let lenient = import(&parity, true).unwrap();
    assert_eq!(lenient.system.volume["all"].level, "concatenation");
    assert!(
        lenient.report.not_carried.iter().any(|not| not.reason == "component not built yet" && not.matters)
    );
}

/// An organisation of the three disks of the head, with stripes of 8 blocks.
fn organisation(redundancy: &str, more: &str) -> String {
    let one_bus = changed(
        HEAD,
        "disksim_disk disk1 [] ] ],\n disksim_ctlr ctlr1 [ disksim_bus bus2 [ disksim_disk disk2 [] ] ] ] ]",
        "disksim_disk disk1 [], disksim_disk disk2 [] ] ] ] ]",
    );
    format!(
        "{one_bus}disksim_logorg all {{ Addressing mode = Array, Distribution scheme = Striped,\n\
         Redundancy scheme = {redundancy}, devices = [ disk0, disk1, disk2 ], Stripe unit = 8,\n\
         Parity stripe unit = 8, Parity rotation type = 1, Number of copies = 3{more} }}\n"
    )
}

#[test]
fn arrays_become_levels() {
    let volume =
        |redundancy: &str, more: &str| sound(&organisation(redundancy, more)).system.volume["all"].clone();
    for (redundancy, level, unit) in [
        ("Noredun", "raid-0", Some(4.0)),
        ("Shadowed", "raid-1", None),
        ("Parity_disk", "raid-4", Some(4.0)),
        ("Parity_rotated", "raid-5", Some(4.0)),
    ] {
        let found = volume(redundancy, "");
        assert_eq!((found.level.as_str(), found.stripe_unit_kib), (level, unit), "{redundancy}");
        assert_eq!(found.drives.len(), 3);
    }
    assert_eq!(volume("Parity_rotated", "").stripe_lock, Some(false));
    let order =
        |safe: u32| volume("Parity_rotated", &format!(", Synch writes for safety = {safe}")).write_order;
    assert_eq!(order(0), Some(WriteOrder::AfterOwnReads));
    assert_eq!(order(1), Some(WriteOrder::AfterAllReads));
    assert_eq!(volume("Shadowed", ", Copy choice on read = 3").read_choice, Some(ReadChoice::RoundRobin));
    // Copies chosen at random, a rotation that DiskSim itself ends with an error on, and parity in units of its own.
    let random = organisation("Shadowed", ", Copy choice on read = 2");
    let rotation = organisation("Parity_rotated", "").replace("rotation type = 1", "rotation type = 2");
    let unit =
        organisation("Parity_rotated", "").replace("Parity stripe unit = 8", "Parity stripe unit = 16");
    for text in [random, rotation, unit] {
        refused(&text, 17, &["redundancy", "not built yet"]);
    }
}

/// Three disks below one controller of type 3.
fn cached(text: &str, cache: &str) -> String {
    let controller = format!(
        "disksim_ctlr CTLR {{ type = 3, Maximum queue length = 3, Max per-disk pending count = 2, Cache = {cache},\n\
         Scheduler = disksim_ioqueue {{ Scheduling policy = 4 }},"
    );
    changed(text, "disksim_ctlr CTLR { type = 1,", &controller)
}

const MEMORY: &str = "disksim_cachemem { Cache size = 8192, Line size = 64, Max request size = 256, Write scheme = 3,\n\
    Allocation policy = 1, Read prefetch type = 2, Max gather = 3, Flush max line cluster = 4, Flush policy = 0,\n\
    Flush period = 9.0, Flush idle delay = 100.0, Replacement policy = 2, SLRU segments = [ 1.0 ] }";

#[test]
fn a_controller_s_cache_is_that_of_its_volume() {
    let text = cached(&organisation("Noredun", ""), MEMORY);
    let simulation = sound(&text);
    let cache = simulation.system.volume["all"].cache.clone().unwrap();
    assert_eq!((cache.requests, cache.commands_per_drive), (4, Some(2)));
    assert_eq!(cache.scheduler.as_deref(), Some("sstf"));
    let memory = cache.memory.unwrap();
    assert_eq!((memory.size_kib, memory.line_kib, memory.part_kib), (4096.0, 32.0, 128.0));
    assert_eq!((memory.write_policy, memory.room), (ArrayCacheWrites::WriteBack, ArrayCacheRoom::NextClean));
    assert_eq!((memory.read_ahead, memory.fetch_lines, memory.destage_lines), (ArrayReadAhead::Rest, 4, 4));
    assert_eq!((memory.idle_ms, memory.write_every_s), (Some(100.0), None));
    // The system file can be read.
    let again: headstack_system::SystemSpec = toml::from_str(&simulation.system_toml()).unwrap();
    assert_eq!(again.volume["all"].cache, simulation.system.volume["all"].cache);
    assert_eq!(memory.segment_shares, [] as [f64; 0]);
    let segmented = changed(&text, "SLRU segments = [ 1.0 ]", "SLRU segments = [ 0.75, 0.25 ]");
    let simulation = sound(&segmented);
    let memory = simulation.system.volume["all"].cache.clone().unwrap().memory.unwrap();
    assert_eq!(memory.segment_shares, [0.75, 0.25]);
    for (from, to) in [
        ("Replacement policy = 2", "Replacement policy = 1"),
        ("SLRU segments = [ 1.0 ]", "SLRU segments = [ 0.5, 0.2 ]"),
        ("Line size = 64", "Line size = 64, Bit granularity = 8"),
        ("Line size = 64", "Line size = 64, Lock granularity = 8"),
    ] {
        refused(&changed(&text, from, to), 7, &["cache of controller ctlr0", "not built yet"]);
    }
}

#[test]
fn a_disk_may_be_the_cache_of_another() {
    let alone = organisation("Noredun", "").split("disksim_logorg").next().unwrap().to_owned();
    let device = "disksim_cachedev { Cache size = 100000, Cache device = disk0, Cached device = disk1,\n\
        Max request size = 512, Write scheme = 2, Flush policy = 0, Flush idle delay = -1.0 }";
    let simulation = sound(&cached(&alone, device));
    let cache = simulation.system.volume["disk1"].cache.clone().unwrap();
    let device = cache.device.unwrap();
    assert_eq!((device.volume.as_str(), device.write_policy), ("disk0", DeviceWrites::WriteThrough));
    assert_eq!((cache.requests, device.idle_ms), (4, None));
    assert!(simulation.system.volume["disk0"].cache.is_none());
}

#[test]
fn a_cache_of_several_volumes_is_refused() {
    let text = changed(
        HEAD,
        "disksim_ctlr CTLR { type = 1,",
        "disksim_ctlr CTLR { type = 3, Cache = disksim_cachemem { Cache size = 8 },",
    );
    refused(&text, 7, &["cache of controller ctlr0", "disksim_cachemem", "not built yet"]);
    assert_eq!(import(&text, true).unwrap().system.volume.len(), 3);
}

#[test]
fn the_driver_is_carried_or_named() {
    let order = |code: u32| changed(HEAD, "Scheduling policy = 3", &format!("Scheduling policy = {code}"));
    assert_eq!(sound(&order(1)).system.host.scheduler, "fcfs");
    assert_eq!(sound(&order(4)).system.host.scheduler, "sstf");
    let cylinders = sound(&order(6)).system.host;
    assert_eq!(
        (cylinders.scheduler.as_str(), cylinders.knowledge),
        ("c-look", Some(HostKnowledge::Cylinders))
    );
    let other = sound(&order(27));
    assert_eq!(other.system.host.scheduler, "fcfs");
    assert!(
        other.report.not_carried.iter().any(|not| not.parameter == "Scheduling policy" && not.value == "27")
    );
    let one = changed(HEAD, "subsystem = 1", "subsystem = 0");
    assert_eq!(sound(&one).system.host.outstanding_per_drive, Some(1));
    let constant = changed(HEAD, "access time = 0.0", "access time = 10.0");
    let drive = &sound(&constant).drives[0].toml;
    assert!(drive.contains("constant_ms = 10.0"), "{drive}");
    refused(&changed(HEAD, "access time = 0.0", "access time = -1.0"), 2, &["measured"]);
}

#[test]
fn a_simple_disk_takes_a_constant_time() {
    let disk = "disksim_simpledisk SMALL { Block count = 1234, Access time = 9.5, Command overhead = 0.5 }\n";
    let simulation =
        sound(&changed(HEAD, "source small.diskspecs\n", disk).replace("disksim_disk", "disksim_simpledisk"));
    let spec = headstack_drive::spec::DriveSpec::from_toml("simple", &simulation.drives[0].toml).unwrap();
    assert_eq!(spec.fidelity.constant_ms, Some(10.0));
    assert_eq!(headstack_drive::layout::Layout::new(&spec.layout).capacity(), 1234);
}

#[test]
fn the_devices_of_a_trace_become_options() {
    let map = "disksim_iosim IS { I/O Trace Time Scale = 2.0, I/O Mappings = [\n\
               disksim_iomap { tracedev = 0x1e, simdev = disk2, locScale = 512, sizeScale = 1 },\n\
               disksim_iomap { tracedev = 3, simdev = disk0, locScale = 512, sizeScale = 1 } ] }\n";
    let simulation = sound(&format!("{HEAD}{map}{PARTS}{WORK}"));
    assert_eq!(simulation.trace_options, ["--time-scale 2", "--device 30=2", "--device 3=0"]);
    assert!(simulation.workload.is_none());
    refused(&format!("{HEAD}{}", map.replace("disk2", "disk9")), 18, &["no component `disk9`"]);
}

#[test]
fn mistakes_in_the_wiring_have_a_place() {
    refused(&changed(HEAD, "as SMALL", "as SMALLER"), 13, &["no block called `SMALLER`"]);
    refused(&changed(HEAD, "disk0 .. disk2", "disk0 .. disc2"), 13, &["is not a range"]);
    refused(&changed(HEAD, "disksim_disk disk2 []", "disksim_disk disk7 []"), 16, &["no component `disk7`"]);
    refused(&changed(HEAD, "disksim_disk disk2 []", "disksim_disk bus2 []"), 16, &["is a `disksim_bus`"]);
    refused(&changed(HEAD, "as FREE", "as FREE\ninstantiate [ bus0 ] as FREE"), 11, &["twice"]);
    refused(DISK, 0, &["one `topology`", ".diskspecs"]);
}
