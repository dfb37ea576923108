//! What a drive's files say is what its model does.

use crate::common::{self, Files, SEEK};
use headstack_disksim::Options;
use headstack_drive::layout::Layout;
use headstack_drive::mechanics::Mechanics;
use headstack_drive::spec::{DriveSpec, Order, ProvenanceKind, RotationModel, SeekSpec, WritePolicy};
use headstack_units::Op;

fn layout(files: &Files) -> Layout {
    Layout::new(&files.import().unwrap().spec.layout)
}

/// Cylinder, head, slot.
fn at(layout: &Layout, lba: u64) -> (u32, u32, u32) {
    let place = layout.locate(lba);
    (place.cylinder, place.head, place.slot)
}

/// The small drive with a sparing scheme, spares and slips in its first zone, and the announced number of blocks.
fn spared(scheme: u32, spares: u32, front: u32, slips: &str, blocks: u32) -> Files {
    Files::with_model(&[
        ("Block count = 560", &format!("Block count = {blocks}")),
        ("Sparing scheme used = 0", &format!("Sparing scheme used = {scheme}")),
        ("Rangesize for sparing = 1", "Rangesize for sparing = 2"),
        ("Number of spares = 0", &format!("Number of spares = {spares}")),
        ("zone front = 0", &format!("zone front = {front}")),
        ("slips = []", &format!("slips = [{slips}]")),
    ])
}

#[test]
fn the_controller_side_goes_where_it_belongs() {
    let spec = Files::new().import().unwrap().spec;
    assert_eq!((spec.name.as_str(), spec.rotation_rpm, spec.sector_bytes), ("SMALL", 6000.0, 512));
    let controller = &spec.controller;
    assert_eq!((controller.read_overhead_ms, controller.write_overhead_ms), (0.5, 0.75));
    assert_eq!((controller.hit_overhead_ms, controller.queue_depth), (Some(0.25), 1));
    // 512 bytes in 0.1 ms; half of a segment of 32 KiB.
    assert_eq!((spec.bus.read_mb_per_s, spec.bus.write_mb_per_s, spec.bus.disconnects), (5.12, 5.12, true));
    assert_eq!((spec.buffer.size_kib, spec.buffer.read_fence_kib), (64.0, 16.0));
    assert_eq!(spec.cache.unwrap().segment_kib, 32.0);
    assert_eq!(spec.write_policy, WritePolicy::WriteThrough {});
    assert_eq!((spec.mechanics.head_switch_ms, spec.mechanics.write_settle_ms), (1.0, 0.25));
}

#[test]
fn the_order_of_service_goes_with_the_queue() {
    let usual = Files::new().import().unwrap().spec.controller;
    assert_eq!((usual.scheduler.as_str(), usual.queue_depth), ("fcfs", 1));
    let policy = ("Scheduling policy = 1", "Scheduling policy = 8");
    let queued = Files::with_disk(&[policy, ("Max queue length = 1", "Max queue length = 20")]);
    let queued = queued.import().unwrap();
    assert_eq!((queued.spec.controller.scheduler.as_str(), queued.spec.controller.queue_depth), ("sptf", 20));
    let chooses = |warning: &headstack_disksim::Warning| warning.message.contains("nothing to choose from");
    assert!(!queued.report.warnings.iter().any(chooses));
    let alone = Files::with_disk(&[policy]).import().unwrap();
    assert!(alone.report.warnings.iter().any(chooses));
}

#[test]
fn overheads_are_scaled_and_added_to_those_of_every_request() {
    let scaled = Files::with_disk(&[(
        "Time scale for overheads = 1.0",
        "Time scale for overheads = 2.0, Per-request overhead time = 0.125",
    )]);
    let controller = scaled.import().unwrap().spec.controller;
    assert_eq!((controller.read_overhead_ms, controller.hit_overhead_ms), (1.25, Some(0.75)));
}

#[test]
fn the_bus_of_a_simulation_file_counts_where_it_is_slower() {
    let files = Files::new();
    let bus = "disksim_bus B0 { type = 1, Read block transfer time = 0.0 }\n\
               disksim_bus B1 { Read block transfer time = 0.2, Write block transfer time = 0.05 }\n\
               source small.diskspecs\n\
               instantiate [ disk0 .. disk3 ] as SMALL\n\
               topology disksim_iodriver driver0 [ disksim_bus b0 [ disksim_ctlr c0 [ disksim_bus b1 [ disksim_disk \
               disk0 [], disksim_disk disk1 [] ] ] ] ]\n";
    files.write("run.parv", bus);
    let alone = headstack_disksim::import(&[files.path("run.parv")], &Options::default()).unwrap().spec;
    assert_eq!((alone.bus.read_mb_per_s, alone.bus.write_mb_per_s), (2.56, 5.12));
    let both = [files.path("small.diskspecs"), files.path("run.parv")];
    let both = headstack_disksim::import(&both, &Options::default()).unwrap().spec;
    assert_eq!(both.bus, alone.bus);
    assert!(both.provenance_of("bus.read_mb_per_s").unwrap().source.ends_with("file run.parv"));
    assert!(both.provenance_of("bus.write_mb_per_s").unwrap().source.ends_with("file small.diskspecs"));
}

#[test]
fn a_model_alone_is_a_drive_with_an_assumed_controller() {
    let files = Files::new();
    let drive = headstack_disksim::import(&[files.path("small.model")], &Options::default()).unwrap();
    for path in ["controller.queue_depth", "bus.read_mb_per_s", "bus.disconnects", "buffer.size_kib"] {
        assert_eq!(drive.spec.provenance_of(path).unwrap().kind, ProvenanceKind::Assumed, "{path}");
    }
    assert_eq!(drive.spec.provenance_of("layout.zone").unwrap().kind, ProvenanceKind::Measured);
    assert_eq!(Layout::new(&drive.spec.layout).capacity(), 560);
}

#[test]
fn fractions_of_a_sector_are_kept() {
    let layout = layout(&Files::new());
    assert_eq!(at(&layout, 400), (6, 0, 0));
    assert!((layout.locate(400).start.as_turns() - 0.25).abs() < 1e-12);
    // Three sectors of twenty from head 0 to head 1.
    assert!((layout.locate(20).start.as_turns() - 0.15).abs() < 1e-12);
}

#[test]
fn skews_in_turns_mean_the_same_in_every_zone() {
    let files = Files::with_model(&[
        ("Rangesize for sparing = 1", "Rangesize for sparing = 1, Skew units = revolutions"),
        ("Skew for track switch = 3", "Skew for track switch = 0.15"),
        ("Skew for cylinder switch = 5", "Skew for cylinder switch = 1.25"),
        ("Offset of first block = 2.5", "Skew units = sectors, Offset of first block = 2.5"),
    ]);
    let drive = files.import().unwrap();
    let zones = &drive.spec.layout.zone;
    assert!((zones[0].track_skew_sectors - 3.0).abs() < 1e-9);
    assert!((zones[0].cylinder_skew_sectors - 5.0).abs() < 1e-9, "a whole turn more is no turn more");
    assert_eq!((zones[1].track_skew_sectors, zones[1].first_sector_revolutions), (1.0, 0.25));
}

#[test]
fn mapping_schemes_are_orders_of_heads() {
    for (scheme, order, second, fifth) in [
        (0, Order::Classical, (0, 1, 0), (1, 0, 0)),
        (1, Order::SerpentineByZone, (0, 1, 0), (1, 3, 0)),
        (2, Order::SerpentineByCylinder, (0, 1, 0), (1, 3, 0)),
    ] {
        let files = Files::with_model(&[("mapping scheme = 0", &format!("mapping scheme = {scheme}"))]);
        assert_eq!(files.import().unwrap().spec.layout.order, order);
        let layout = layout(&files);
        assert_eq!((at(&layout, 20), at(&layout, 80)), (second, fifth));
    }
}

#[test]
fn scheme_1_spares_whole_tracks_and_slips_whole_tracks() {
    // Track 1 is slipped, 18 and 19 are spares; one of them is used up. 20 blocks in front are track 0.
    let layout = layout(&spared(1, 2, 20, "1", 500));
    assert_eq!((layout.capacity(), at(&layout, 0), at(&layout, 339)), (500, (0, 2, 0), (4, 2, 19)));
    assert_eq!((layout.lba_at(4, 3, 0), at(&layout, 340)), (None, (6, 0, 0)));
}

#[test]
fn scheme_2_keeps_slips_within_the_cylinder() {
    // 80 sectors per cylinder, 4 spare; position 83 is cylinder 1, head 0, slot 3.
    let layout = layout(&spared(2, 4, 0, "83", 540));
    assert_eq!((at(&layout, 75), at(&layout, 76)), ((0, 3, 15), (1, 0, 0)));
    assert_eq!((at(&layout, 78), at(&layout, 79), at(&layout, 151)), ((1, 0, 2), (1, 0, 4), (1, 3, 16)));
    assert_eq!(at(&layout, 152), (2, 0, 0));
}

#[test]
fn scheme_3_keeps_slips_within_the_track() {
    let plain = spared(3, 2, 0, "", 520).import().unwrap().spec.layout;
    assert_eq!((plain.zone[0].sectors_per_track, plain.zone[0].spare_sectors_per_track), (18, 2));
    let layout = layout(&spared(3, 2, 0, "25", 520));
    assert_eq!((at(&layout, 17), at(&layout, 18)), ((0, 0, 17), (0, 1, 0)));
    assert_eq!((at(&layout, 23), at(&layout, 35), at(&layout, 36)), ((0, 1, 6), (0, 1, 18), (0, 2, 0)));
}

#[test]
fn schemes_4_6_7_and_10_slip_at_the_expense_of_the_end() {
    for (scheme, spares, blocks, first, behind) in [
        // Position 83; then the first sector of cylinder 2.
        (4, 4, 539, (0, 0, 0), (2, 0, 0)),
        (6, 4, 539, (0, 0, 4), (2, 0, 4)),
        (7, 0, 559, (0, 0, 0), (2, 0, 0)),
        (10, 4, 555, (0, 0, 0), (2, 0, 0)),
    ] {
        let layout = layout(&spared(scheme, spares, 0, "87", blocks));
        assert_eq!((layout.capacity(), at(&layout, 0)), (u64::from(blocks), first), "scheme {scheme}");
        assert_eq!(layout.lba_at(1, 0, 7), None, "scheme {scheme}");
        let lba = layout.lba_at(behind.0, behind.1, behind.2).unwrap();
        let spared_before = if scheme < 7 { 8 } else { 0 };
        assert_eq!(lba, 160 - spared_before - 1, "scheme {scheme}");
        assert!(layout.lba_at(6, 0, 0).is_some(), "scheme {scheme}");
    }
}

#[test]
fn scheme_5_slips_towards_the_front() {
    let layout = layout(&spared(5, 4, 0, "87", 540));
    assert_eq!((at(&layout, 0), at(&layout, 76)), ((0, 0, 4), (1, 0, 3)));
    assert_eq!((at(&layout, 79), at(&layout, 80)), ((1, 0, 6), (1, 0, 8)));
}

#[test]
fn scheme_8_has_spares_for_each_range_and_scheme_9_for_the_zone() {
    // Ranges of 160 slots; the last one has 80.
    let ranges = layout(&spared(8, 10, 0, "0,161", 530));
    assert_eq!((at(&ranges, 0), at(&ranges, 149), at(&ranges, 150)), ((0, 0, 1), (1, 3, 10), (2, 0, 0)));
    assert_eq!((at(&ranges, 151), at(&ranges, 300), at(&ranges, 369)), ((2, 0, 2), (4, 0, 0), (4, 3, 9)));
    let zone = layout(&spared(9, 10, 0, "0,161", 550));
    assert_eq!((at(&zone, 0), at(&zone, 160), at(&zone, 389)), ((0, 0, 1), (2, 0, 2), (4, 3, 11)));
}

#[test]
fn the_front_space_is_counted_in_data_sectors() {
    // 76 data sectors per cylinder: 80 are one cylinder and four sectors.
    let front = layout(&spared(2, 4, 80, "", 460));
    assert_eq!(at(&front, 0), (1, 0, 4));
    // A slip in the front space makes it one slot longer.
    let slipped = layout(&spared(7, 0, 80, "5", 479));
    assert_eq!(at(&slipped, 0), (1, 0, 1));
    let behind = layout(&spared(7, 0, 80, "85", 479));
    assert_eq!((at(&behind, 4), at(&behind, 5)), ((1, 0, 4), (1, 0, 6)));
}

#[test]
fn a_drive_that_announces_less_has_less() {
    let drive = spared(9, 10, 0, "", 500).import().unwrap();
    assert_eq!(drive.spec.layout.capacity_sectors, Some(500));
    assert!(drive.report.warnings.iter().any(|w| w.message.contains("50 more than the 500")));
    // Without spares at its end a drive has what its tracks hold.
    let drive = spared(2, 10, 0, "", 500).import().unwrap();
    assert_eq!(Layout::new(&drive.spec.layout).capacity(), 510);
    assert!(drive.report.not_carried.iter().any(|not| not.parameter == "Block count"));
}

#[test]
fn defects_live_at_their_replacements() {
    let sectors = Files::with_model(&[
        ("Block count = 560", "Block count = 540"),
        ("Sparing scheme used = 0", "Sparing scheme used = 2"),
        ("Number of spares = 0", "Number of spares = 4"),
        ("defects = []", "defects = [3, 78, 9, 9]"),
    ]);
    let drive = sectors.import().unwrap();
    assert!(drive.report.warnings.iter().any(|w| w.message.contains("by themselves")));
    let layout = Layout::new(&drive.spec.layout);
    assert_eq!((at(&layout, 3), at(&layout, 9)), ((0, 3, 18), (0, 0, 9)));
    let tracks = Files::with_model(&[
        ("Block count = 560", "Block count = 540"),
        ("Sparing scheme used = 0", "Sparing scheme used = 1"),
        ("Number of spares = 0", "Number of spares = 1"),
        ("defects = []", "defects = [2, 19]"),
    ]);
    let layout = Layout::new(&tracks.import().unwrap().spec.layout);
    assert_eq!((at(&layout, 40), at(&layout, 59), at(&layout, 60)), ((4, 3, 0), (4, 3, 19), (0, 3, 0)));
}

/// Two zones of four heads with the blocks of each; the second has five spare sectors.
fn second_generation(second_zone_ends: u32, blocks: u32) -> Files {
    let files = Files::new();
    let zone = |cylinders: (u32, u32), blocks: (u32, u32), sectors: u32| {
        format!(
            "dm_layout_g2_zone {{ First cylinder number = {}, Last cylinder number = {}, First LBN = {}, Last LBN = {}, \
             Blocks per track = {sectors}, Zone Skew = 5, Skew for track switch = 2, Skew for cylinder switch = 3 }}",
            cylinders.0, cylinders.1, blocks.0, blocks.1
        )
    };
    let zones = [zone((0, 4), (0, 399), 20), zone((6, 9), (400, second_zone_ends), 10)].join(",\n");
    let mechanics = &common::MODEL[common::MODEL.find("   Mechanical").unwrap()..];
    let text = format!(
        "dm_disk SMALL_model {{ Number of data surfaces = 4, Number of cylinders = 10, Block count = {blocks},\n\
         Layout Model = dm_layout_g2 {{ Layout Map File = small.map, Zones = [ {zones} ] }},\n{mechanics}"
    );
    files.write("small.model", &text);
    files
}

#[test]
fn a_layout_of_the_second_generation_has_its_zones() {
    let drive = second_generation(554, 555).import().unwrap();
    assert!(drive.report.warnings.iter().any(|w| w.message.contains("`small.map` is not read")));
    let layout = Layout::new(&drive.spec.layout);
    assert_eq!((layout.capacity(), at(&layout, 399), at(&layout, 400)), (555, (4, 3, 19), (6, 0, 0)));
    assert_eq!((layout.locate(0).start.as_turns(), layout.locate(400).start.as_turns()), (0.25, 0.5));
    let many = second_generation(560, 561).import().unwrap_err();
    assert!(many.to_string().contains("161 blocks do not fit its 160 sectors"), "{many}");
    let other = second_generation(554, 560).import().unwrap_err();
    assert!(other.to_string().contains("end at block 555"), "{other}");
}

#[test]
fn every_seek_type_has_its_curve() {
    let seek = |text: &str| {
        Files::with_model(&[("Seek type = extracted,\n      Full seek curve = small.seek", text)])
            .import()
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .spec
            .seek
    };
    let three = "Single cylinder seek time = 1, Average seek time = 4, Full strobe seek time = 9";
    assert_eq!(seek("Seek type = constant, Average seek time = 4"), SeekSpec::Constant { time_ms: 4.0 });
    let linear = SeekSpec::Table { points: vec![[1.0, 1.0], [3.0, 4.0], [9.0, 9.0]] };
    assert_eq!(seek(&format!("Seek type = linear, {three}")), linear);
    let curve = SeekSpec::LeeKatz { single_cylinder_ms: 1.0, average_ms: 4.0, full_stroke_ms: 9.0 };
    assert_eq!(seek(&format!("Seek type = curve, {three}")), curve);
    let hpl = |first_ms: Vec<f64>| SeekSpec::TwoPiece {
        boundary_cylinders: 5,
        short_ms: [1.0, 0.5],
        long_ms: [2.0, 0.25],
        first_ms,
    };
    assert_eq!(seek("Seek type = hpl, HPL seek equation values = [5, 1, 0.5, 2, 0.25, -1]"), hpl(vec![]));
    assert_eq!(
        seek("Seek type = hpl, HPL seek equation values = [5, 1, 0.5, 2, 0.25, 0.75]"),
        hpl(vec![0.75])
    );
    let ten = "Seek type = hplplus10, HPL seek equation values = [5, 1, 0.5, 2, 0.25, -1], \
               First ten seek times = [1,2,3,4,5,6,7,8,9,10]";
    assert_eq!(seek(ten), hpl((1..=10).map(f64::from).collect()));
    let points = vec![[1.0, 1.0], [4.0, 2.0], [9.0, 3.0]];
    assert_eq!(seek("Seek type = extracted, Full seek curve = small.seek"), SeekSpec::Table { points });
}

#[test]
fn access_time_types_leave_effects_out() {
    let access =
        |text: &str| Files::with_model(&[("trackSwitchPlusRotation", text)]).import().unwrap().spec.fidelity;
    assert_eq!(access("averageRotation").rotation, RotationModel::Uniform);
    assert_eq!(access("constant, Constant access time = 7.5").constant_ms, Some(7.5));
}

#[test]
fn seek_files_of_other_forms_are_read() {
    let files = Files::new();
    files.write("small.seek", "Seek distances measured: 2\n1, 1.0, 99\n5, 0.5, 99\n");
    let drive = files.import().unwrap();
    assert_eq!(drive.spec.seek, SeekSpec::Table { points: vec![[1.0, 1.0], [5.0, 0.5]] });
    let told = |text: &str| drive.report.warnings.iter().any(|w| w.message.contains(text));
    assert!(told("3 columns") && told("1 of 2 seek times are below") && told("0.500 ms at 5 cylinders"));
    assert!(told("the third as those of writes"));
    files.write("small.seek", &SEEK.replace("4, 2.0", "14, 2.0"));
    let sorted = files.import_leniently().unwrap().spec.seek;
    assert_eq!(sorted, SeekSpec::Table { points: vec![[1.0, 1.0], [9.0, 3.0], [14.0, 2.0]] });
}

#[test]
fn writes_with_a_seek_curve_of_their_own_take_its_times() {
    let files = Files::new();
    files.write("small.seek", "Seek distances measured: 3\n1, 1.0, 1.4, 7\n5, 2.0, 2.5, 7\n9, 3.0, 3.8, 7\n");
    let drive = files.import().unwrap();
    assert_eq!(drive.spec.seek, SeekSpec::Table { points: vec![[1.0, 1.0], [5.0, 2.0], [9.0, 3.0]] });
    let told = |text: &str| drive.report.warnings.iter().any(|w| w.message.contains(text));
    assert!(told("4 columns") && told("what follows is left out"));
    let mechanics = Mechanics::new(&drive.spec);
    for (distance, read, write) in [(1, 1.0, 1.4), (5, 2.0, 2.5), (7, 2.5, 3.15), (9, 3.0, 3.8)] {
        for (op, expected) in [(Op::Read, read), (Op::Write, write)] {
            let time = mechanics.reposition((0, 0), (distance, 0), op).as_ms();
            assert!(
                (time - expected).abs() < 1e-6,
                "{distance} cylinders, {op:?}: {time} instead of {expected}"
            );
        }
    }
    // A change of head alone has the settle that the parameters give.
    let settle = drive.spec.mechanics.write_settle_ms;
    let switch =
        mechanics.reposition((0, 0), (0, 1), Op::Write) - mechanics.reposition((0, 0), (0, 1), Op::Read);
    assert!((switch.as_ms() - settle).abs() < 1e-6 && settle > 0.0);
    // A line without a time of writes: one curve for all.
    files.write("small.seek", "Seek distances measured: 2\n1, 1.0, 1.4\n5, 2.0\n");
    let one = files.import().unwrap();
    assert_eq!(one.spec.mechanics.write_settle_by_distance_ms, Vec::<[f64; 2]>::new());
    assert!(one.report.warnings.iter().any(|w| w.message.contains("not every line has a time of writes")));
}

#[test]
fn a_negative_settle_is_kept_and_told() {
    let drive = Files::with_model(&[("settling delay = 0.25", "settling delay = -0.5")]).import().unwrap();
    assert_eq!(drive.spec.mechanics.write_settle_ms, -0.5);
    assert!(drive.report.warnings.iter().any(|w| w.message.contains("negative (-0.5 ms)")));
}

#[test]
fn a_zone_that_ends_at_the_number_of_cylinders_has_one_more() {
    let drive =
        Files::with_model(&[("Number of cylinders = 10", "Number of cylinders = 9")]).import().unwrap();
    assert_eq!(Layout::new(&drive.spec.layout).cylinders(), 10);
    assert!(drive.report.warnings.iter().any(|w| w.message.contains("one more")));
}

#[test]
fn the_text_of_the_drive_file_is_the_drive() {
    let slips: Vec<String> = (0..100).map(|slip| (slip * 2).to_string()).collect();
    let drive = spared(7, 0, 0, &slips.join(", "), 460).import().unwrap();
    let text = drive.to_toml();
    assert_eq!(DriveSpec::from_toml("small", &text).unwrap(), drive.spec);
    assert!(text.lines().all(|line| line.len() <= 120 || line.starts_with('"')), "{text}");
    assert!(text.starts_with(
        "# SMALL, imported from the DiskSim 4.0 files small.diskspecs, small.model, small.seek."
    ));
}

#[test]
fn every_parameter_is_accounted_for() {
    let report = Files::new().import().unwrap().report;
    for name in ["Max queue length", "Low (write) water mark", "Block count", "slips", "Seek type"] {
        let carried = report.carried.iter().filter(|carried| carried.parameter == name).count();
        let not = report.not_carried.iter().filter(|not| not.parameter == name).count();
        assert_eq!(carried + not, 1, "{name}");
    }
}

/// A lost line made an overhead 0 ms, or the cache go, without a word: and the file was said to have measured it.
#[test]
fn what_the_file_does_not_say_is_told_and_assumed() {
    let lacks = |drive: &headstack_disksim::Import| {
        drive.report.warnings.iter().find(|w| w.message.contains("lacks")).map(|w| w.message.clone())
    };
    assert_eq!(lacks(&Files::new().import().unwrap()), None);
    let lost = [("Read miss over. after read = 0.5,", ""), ("Enable caching in buffer = 1,", "")];
    let drive = Files::with_disk(&lost).import().unwrap();
    assert_eq!(
        lacks(&drive).as_deref(),
        Some(
            "the file lacks `Read miss over. after read` (taken as 0 ms), `Enable caching in buffer` (taken as 0, no cache)"
        )
    );
    let told = &drive.spec.provenance["controller.read_overhead_ms"];
    assert_eq!(
        (told.kind, told.source.as_str()),
        (ProvenanceKind::Assumed, "the file lacks `Read miss over. after read`, taken as 0 ms")
    );
}
