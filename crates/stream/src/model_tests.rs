//! What the model comes to, worked out by hand.

use super::*;
use crate::{CacheSpec, MechanismSpec, ServerSpec, drive_of};
use headstack_system::workload::TimeLaw;

/// Everywhere 1 MB/s without switches, an interface of 2 MB/s, a cache of two records of 1 MB.
fn plain() -> ModelSpec {
    ModelSpec {
        server: ServerSpec::default(),
        cache: CacheSpec {
            size_kib: 2000.0,
            interface_mb_per_s: 2.0,
            write_interface_mb_per_s: None,
            command_kib: None,
            read_ahead: true,
            write_through: false,
            overhead_ms: 0.0,
            write_overhead_ms: None,
            read_delay: None,
            write_delay: None,
        },
        mechanism: MechanismSpec {
            outer_mb_per_s: 1.0,
            inner_mb_per_s: 1.0,
            rotation_rpm: 6000.0,
            cylinders: 1000,
            heads: 1,
            head_switch_ms: 0.0,
            cylinder_switch_ms: 0.0,
            full_stroke_ms: 0.0,
        },
    }
}

/// A drive such as the paper's.
fn maxtor() -> ModelSpec {
    ModelSpec::of_drive(&drive_of("maxtor-maxline-plus-ii").unwrap().1)
}

/// Three records of 1 MB.
fn three(op: Op) -> StreamRun {
    StreamRun { op, file_bytes: 3_000_000, record_bytes: 1_000_000, ..StreamRun::default() }
}

fn seconds(spec: ModelSpec, run: &StreamRun) -> f64 {
    Model::new(spec).unwrap().run(run).unwrap().time_s
}

fn rate(spec: &ModelSpec, run: &StreamRun) -> f64 {
    Model::new(spec.clone()).unwrap().run(run).unwrap().mb_per_s
}

#[test]
fn interface_and_media_overlap_where_the_cache_has_room() {
    // Stored at 0.5, 1.0 and, when the first has left at 1.5, at 2.0; on the media at 1.5, 2.5, 3.5.
    assert_eq!(seconds(plain(), &three(Op::Write)), 3.5);
    // Off the media at 1, 2, 3; with the server half a second later.
    assert_eq!(seconds(plain(), &three(Op::Read)), 3.5);
}

#[test]
fn records_that_fill_the_cache_are_stored_one_after_the_other() {
    for size_kib in [1000.0, 100.0] {
        let mut spec = plain();
        spec.cache.size_kib = size_kib;
        assert_eq!(seconds(spec.clone(), &three(Op::Write)), 4.5);
        // In commands of a tenth they overlap again.
        spec.cache.size_kib = 1000.0;
        spec.cache.command_kib = Some(1e5 / 1024.0);
        assert_eq!(seconds(spec, &three(Op::Write)), 3.05);
    }
}

/// Its sectors leave the cache for the media while others come in; its overhead is paid once.
#[test]
fn a_command_larger_than_the_cache_flows_through_it() {
    let mut spec = plain();
    (spec.cache.command_kib, spec.cache.size_kib) = (Some(3e6 / 1024.0), 1e6 / 1024.0);
    spec.cache.overhead_ms = 100.0;
    // Pieces of half a megabyte: the first is stored after 0.1 + 0.25 s, and the media are never without one from then on.
    let one = StreamRun { record_bytes: 3_000_000, ..three(Op::Write) };
    assert_eq!(seconds(spec.clone(), &one), 0.35 + 3.0);
    // Off the media from the start on; the last piece goes over the interface behind it.
    assert_eq!(seconds(spec.clone(), &StreamRun { op: Op::Read, ..one }), 3.0 + 0.25);
    // A record that is no command goes through alone.
    spec.cache.command_kib = None;
    assert_eq!(seconds(spec, &one), 0.1 + 1.5 + 3.0);
}

#[test]
fn the_interface_may_be_slower_for_writes() {
    let mut spec = plain();
    spec.mechanism.outer_mb_per_s = 100.0;
    spec.mechanism.inner_mb_per_s = 100.0;
    spec.cache.write_interface_mb_per_s = Some(1.0);
    let rates = [Op::Read, Op::Write].map(|op| rate(&spec, &three(op)));
    assert!((rates[0] / 2.0 - 1.0).abs() < 0.02 && (rates[1] - 1.0).abs() < 0.01, "{rates:?}");
}

#[test]
fn without_read_ahead_the_mechanism_waits_for_each_request() {
    let mut spec = plain();
    spec.cache.read_ahead = false;
    assert_eq!(seconds(spec.clone(), &three(Op::Read)), 4.5);
    spec.server.read_delay = Some(TimeLaw::Constant(100.0));
    assert_eq!(seconds(spec, &three(Op::Read)), 4.8);
}

fn assert_near(found_s: f64, wanted_s: f64) {
    assert!((found_s - wanted_s).abs() < 1e-8, "{found_s} s for {wanted_s}");
}

/// Each record but the first waits for the sector behind the one before: less of a revolution than it lacks to whole ones.
#[test]
fn where_a_record_waits_for_the_media_the_platter_turns_on() {
    // Of 10 ms; a record takes 500 ms on the interface and 1 s on the media, whole revolutions.
    let mut spec = plain();
    spec.cache.write_through = true;
    spec.cache.overhead_ms = 3.0;
    // The others come in while the platter turns on.
    let first = 0.003 + 1.0;
    assert_near(seconds(spec.clone(), &three(Op::Write)), first + 2.0 * (0.01 + 1.0));
    // Nothing of a delay shows that ends before it.
    spec.server.write_delay = Some(TimeLaw::Constant(6.9));
    assert_near(seconds(spec.clone(), &three(Op::Write)), 0.0069 + first + 2.0 * (0.01 + 1.0));
    spec.server.write_delay = Some(TimeLaw::Constant(7.1));
    assert_near(seconds(spec.clone(), &three(Op::Write)), 0.0071 + first + 2.0 * (0.02 + 1.0));
    // Nor of an interface that is slower, but for each record as a whole.
    (spec.server.write_delay, spec.cache.write_interface_mb_per_s) = (None, Some(0.4));
    assert_near(seconds(spec, &three(Op::Write)), 3.0 * (2.5 + 0.003));
    // A read that the drive does not read ahead for: 0.5 s over the interface, and 3 ms.
    let mut spec = plain();
    spec.cache.read_ahead = false;
    spec.cache.overhead_ms = 3.0;
    let record = 1.0 + 0.5 + 0.003;
    assert_near(seconds(spec, &three(Op::Read)), 3.0 * record + 2.0 * 0.007);
}

#[test]
fn overhead_and_positioning_are_paid() {
    let mut spec = plain();
    spec.cache.overhead_ms = 10.0;
    spec.mechanism.full_stroke_ms = 20.0;
    assert_eq!(seconds(spec.clone(), &three(Op::Write)), 3.51);
    // 10 ms of the stroke and 5 of the revolution pass beside the first record's way to the cache; a read waits for them.
    let positioned = |op| StreamRun { positioning: true, ..three(op) };
    assert_eq!(seconds(spec.clone(), &positioned(Op::Write)), 3.51);
    assert_eq!(seconds(spec, &positioned(Op::Read)), 3.525);
}

#[test]
fn a_delay_in_the_server_hides_behind_the_media_and_one_in_the_cache_does_not() {
    let run =
        StreamRun { op: Op::Write, record_bytes: 8192, file_bytes: 100_000_000, ..StreamRun::default() };
    let (mut server, mut cache) = (maxtor(), maxtor());
    server.server.write_delay = Some(TimeLaw::Constant(0.01));
    cache.cache.write_delay = Some(TimeLaw::Constant(0.01));
    let without = seconds(maxtor(), &run);
    let records = (run.file_bytes / run.record_bytes) as f64;
    assert!(seconds(server, &run) - without < 1e-4);
    assert!((seconds(cache, &run) - without - records * 1e-5).abs() < 1e-3);
}

#[test]
fn only_the_mean_of_a_delay_counts() {
    let run =
        StreamRun { op: Op::Write, record_bytes: 8192, file_bytes: 200_000_000, ..StreamRun::default() };
    let laws = [
        TimeLaw::Constant(0.02),
        TimeLaw::Uniform([0.0, 0.04]),
        TimeLaw::Normal([0.02, 0.005]),
        TimeLaw::Exponential(0.02),
    ];
    let rates = laws.map(|law| {
        let mut spec = maxtor();
        spec.cache.write_delay = Some(law);
        rate(&spec, &run)
    });
    // 24,415 draws: a standard error of 0.02 / 156 ms a record of 0.23 ms.
    assert!(rates.iter().all(|rate| (rate / rates[0] - 1.0).abs() < 0.002), "{rates:?}");
}

#[test]
fn throughput_falls_inwards_as_the_media_rate_does() {
    let spec = maxtor();
    let at = |percent| {
        rate(&spec, &StreamRun { op: Op::Write, start: Start::AtPercent(percent), ..StreamRun::default() })
    };
    // 24 to 42 MB/s: two percent of the tracks are 0.86 % of the rate.
    let fall = 100.0 * (1.0 - at(2.0) / at(0.0));
    assert!((0.6..0.87).contains(&fall), "{fall}");
    assert!((at(98.0) / at(0.0) - 24.0 / 42.0).abs() < 0.02);
    let repeats = |count| rate(&spec, &StreamRun { repeats: Repeats::Count(count), ..StreamRun::default() });
    let means = [1, 5, 10, 20].map(repeats);
    assert!(means.windows(2).all(|pair| pair[1] < pair[0]), "{means:?}");
}

#[test]
fn a_full_disk_takes_its_revolutions_and_switches() {
    let model = Model::new(maxtor()).unwrap();
    let run = StreamRun {
        op: Op::Write,
        file_bytes: 1 << 30,
        record_bytes: 8 << 20,
        repeats: Repeats::UntilFull,
        ..StreamRun::default()
    };
    let result = model.run(&run).unwrap();
    assert_eq!(result.files.len() as u64, model.capacity_bytes() >> 30);
    assert!(result.files.windows(2).all(|pair| pair[1].mb_per_s < pair[0].mb_per_s));
    let mechanism = &model.spec().mechanism;
    let track_s = (60e3 / mechanism.rotation_rpm + mechanism.head_switch_ms) / 1e3;
    let share = result.bytes as f64 / model.capacity_bytes() as f64;
    // Less a last piece that holds no file.
    assert!((result.time_s / (track_s * model.tracks() as f64) - share).abs() < 0.01);
    assert!((0.99..=1.0).contains(&result.mechanism_busy));
}

#[test]
fn the_mean_of_random_requests_is_the_papers_equation() {
    let model = Model::new(maxtor()).unwrap();
    let bytes = 16 << 20;
    let run = StreamRun {
        op: Op::Read,
        file_bytes: bytes,
        record_bytes: bytes,
        repeats: Repeats::Count(4000),
        start: Start::Random,
        positioning: true,
        ..StreamRun::default()
    };
    let whole =
        Model::new(ModelSpec { cache: CacheSpec { command_kib: None, ..maxtor().cache }, ..maxtor() })
            .unwrap();
    let mean_ms = 1e3 * whole.run(&run).unwrap().time_s / 4000.0;
    // One request in 60 tracks begins a track: half a switch less, and half a percent of sampling error.
    let expected = model.average_service_time_ms(bytes);
    assert!((mean_ms / expected - 1.0).abs() < 0.01, "{mean_ms} {expected}");
}

#[test]
fn a_seed_gives_the_same_again_and_streams_are_apart() {
    let mut spec = maxtor();
    spec.cache.write_delay = Some(TimeLaw::Exponential(0.02));
    let run = StreamRun { op: Op::Write, file_bytes: 20_000_000, record_bytes: 8192, ..StreamRun::default() };
    assert_eq!(seconds(spec.clone(), &run), seconds(spec.clone(), &run));
    assert_ne!(seconds(spec.clone(), &run), seconds(spec.clone(), &StreamRun { seed: 2, ..run }));
    // What the server draws changes nothing of what the cache draws.
    let mut both = spec.clone();
    both.server.write_delay = Some(TimeLaw::Uniform([0.0, 1e-6]));
    assert!((seconds(both, &run) - seconds(spec, &run)).abs() < 1e-6);
}

#[test]
fn what_cannot_be_is_told_at_once() {
    let mut spec = plain();
    spec.cache.size_kib = f64::NAN;
    spec.mechanism.inner_mb_per_s = 3.0;
    spec.mechanism.heads = 0;
    spec.server.read_delay = Some(TimeLaw::Uniform([2.0, 1.0]));
    let error = Model::new(spec).unwrap_err().to_string();
    for part in [
        "`cache.size_kib` is NaN",
        "above the outer 1",
        "`mechanism.heads` is 0",
        "`server.read_delay`: uniform",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let model = Model::new(plain()).unwrap();
    let refused = |run: StreamRun| model.run(&run).unwrap_err().to_string();
    assert!(refused(StreamRun { file_bytes: 10, ..StreamRun::default() }).contains("does not hold a record"));
    assert!(refused(StreamRun::default()).contains("does not fit"));
    assert!(
        refused(StreamRun { repeats: Repeats::Count(40), ..three(Op::Read) }).contains("the disk holds 3 of")
    );
    let random = StreamRun { start: Start::Random, repeats: Repeats::UntilFull, ..three(Op::Read) };
    assert!(refused(random).contains("never fill"));
    assert!(ModelSpec::from_toml("x.toml", "[cache]\nsize = 1\n").unwrap_err().to_string().contains("size"));
}

/// Pieces that go through at once take as long as one by one: the times are those of a model that took them so.
#[test]
fn a_drive_with_a_buffer_of_a_sector_takes_as_long_as_piece_by_piece() {
    let times = |drive: &str, outer: Option<f64>, op: Op, record_kib: u64| {
        let file = drive_of(drive).unwrap().1;
        let mut spec = ModelSpec::of_drive(&file);
        (spec.cache.read_ahead, spec.cache.write_through, spec.cache.write_overhead_ms) = (true, false, None);
        spec.cache.overhead_ms = 0.5 * (file.controller.read_overhead_ms + file.controller.write_overhead_ms);
        spec.cache.read_delay = Some(TimeLaw::Exponential(3.0));
        spec.mechanism.outer_mb_per_s = outer.unwrap_or(spec.mechanism.outer_mb_per_s);
        let run = StreamRun {
            op,
            file_bytes: 10_000_000,
            record_bytes: record_kib << 10,
            repeats: Repeats::Count(2),
            ..StreamRun::default()
        };
        let found = Model::new(spec).unwrap().run(&run).unwrap();
        (found.files.iter().map(|file| file.time_ns).collect::<Vec<u64>>(), found.interface_busy)
    };
    let (fujitsu, ibm) = ("fujitsu-m2361a", "ibm-3380-ak4");
    let known = [
        (fujitsu, None, Op::Read, 8, [9_132_605_729, 9_319_636_980], 0.499_827_893_305_432_7),
        (fujitsu, None, Op::Read, 100, [5_451_060_591, 5_375_943_724], 0.750_545_558_455_333_5),
        (fujitsu, None, Op::Write, 8, [5_621_847_065, 5_622_123_929], 0.820_256_971_929_360_3),
        (fujitsu, None, Op::Write, 2048, [5_354_340_412, 5_355_073_360], 0.790_762_984_818_213_2),
        (ibm, None, Op::Read, 2048, [4_128_011_914, 4_069_878_437], 0.862_480_469_641_499_8),
        (ibm, None, Op::Write, 8, [4_239_409_549, 4_239_409_562], 0.930_471_675_444_144_3),
        // The interface is the bottleneck.
        (fujitsu, Some(2.6), Op::Read, 100, [4_547_539_889, 4_470_871_913], 0.901_063_311_191_652_7),
        (fujitsu, Some(2.6), Op::Write, 2048, [4_409_530_458, 4_410_400_835], 0.960_167_116_802_958_5),
    ];
    for (drive, outer, op, record_kib, wanted, busy) in known {
        let (found, found_busy) = times(drive, outer, op, record_kib);
        assert_eq!(found, wanted, "{drive} {outer:?} {op:?} {record_kib}");
        assert!((found_busy - busy).abs() < 1e-12, "{drive} {outer:?} {op:?} {record_kib}: {found_busy}");
    }
}

/// That of a drive whose bus takes no time was refused, for a value that its file calls by another name.
#[test]
fn every_drive_of_the_library_has_a_model() {
    for drive in headstack_system::library::drives().iter().map(|entry| entry.name) {
        Model::new(ModelSpec::of_drive(&drive_of(drive).unwrap().1))
            .unwrap_or_else(|error| panic!("{drive}: {error}"));
    }
}
