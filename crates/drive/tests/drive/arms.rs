//! Several arms over the same surfaces, against what follows from where they stand.

use crate::any::{any_commands, any_options};
use crate::common::{FAST_BUS, command, drive, ms, plain, run_events, serve};
use crate::heads::{any_angles, any_heads};
use headstack_drive::command::{Command, Outcome};
use headstack_drive::spec::{DriveSpec, SpecError};
use headstack_drive::{Drive, DriveModel};
use headstack_units::{Lba, Nanos, Op, RequestFlags};
use proptest::prelude::*;
use std::sync::Arc;

pub(crate) const TURN_MS: f64 = 10.0;

/// Numbers that depend on their position alone (splitmix64).
fn random(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Random reads of one sector, each at a random time after the one before.
fn random_reads(drive: &mut Drive, count: u64) -> Vec<Outcome> {
    let mut at = Nanos::ZERO;
    (0..count)
        .map(|id| {
            let read = command(id, Op::Read, random(2 * id) % drive.capacity_sectors(), 1);
            let outcome = serve(drive, at, read);
            at = outcome.finish + Nanos(random(2 * id + 1) % 30_000_000);
            outcome
        })
        .collect()
}

fn mean_ms(outcomes: &[Outcome], of: impl Fn(&Outcome) -> Nanos) -> f64 {
    outcomes.iter().map(|outcome| of(outcome).as_ms()).sum::<f64>() / outcomes.len() as f64
}

const NO_MOVES: &str = "[seek.constant]\ntime_ms = 0.0\n[mechanics]\nhead_switch_ms = 0.0\n";

/// An arm among n at equal distances waits R/(2n): 4.17, 2.08, 1.39 and 1.04 ms at 7,200 rpm.
#[test]
fn arms_at_equal_distances_divide_the_wait_for_the_sector() {
    for (count, expected) in [(1, 4.17), (2, 2.08), (3, 1.39), (4, 1.04)] {
        let text = format!("rotation_rpm = 7200.0\narms = {{ count = {count} }}\n{FAST_BUS}\n{NO_MOVES}");
        let outcomes = random_reads(&mut drive(&text), 60_000);
        assert!(outcomes.iter().all(|outcome| outcome.phases.seek == Nanos::ZERO));
        let mean = mean_ms(&outcomes, |outcome| outcome.phases.rotation);
        let exact = 60e3 / 7200.0 / f64::from(2 * count);
        assert!((mean / exact - 1.0).abs() < 0.01, "{count} arms: {mean} against {exact} ms");
        assert!((mean / expected - 1.0).abs() < 0.01, "{count} arms: {mean} against {expected} ms");
        let longest = outcomes.iter().map(|outcome| outcome.phases.rotation.as_ms()).fold(0.0, f64::max);
        assert!(
            longest <= 2.0 * exact + 1e-5,
            "{count} arms: no wait is longer than from arm to arm, {longest}"
        );
    }
}

/// So does an arm with n heads at equal distances, however its arms share them; and heads that move together seek as one.
#[test]
fn heads_at_equal_distances_divide_the_wait_for_the_sector() {
    for (arms, heads) in [(1, 2), (1, 3), (1, 4), (2, 2)] {
        let several = format!("arms = {{ count = {arms}, heads_per_surface = {heads} }}\n");
        let still = random_reads(&mut drive(&format!("{several}{FAST_BUS}\n{NO_MOVES}")), 60_000);
        let (mean, exact) =
            (mean_ms(&still, |outcome| outcome.phases.rotation), TURN_MS / f64::from(2 * arms * heads));
        assert!((mean / exact - 1.0).abs() < 0.01, "{arms} arms, {heads} heads: {mean} against {exact} ms");
    }
    let seek = |arms: &str| {
        let outcomes = random_reads(&mut drive(&format!("{arms}{FAST_BUS}\n")), 20_000);
        mean_ms(&outcomes, |outcome| outcome.phases.seek)
    };
    let (one, four) = (seek(""), seek("arms = { heads_per_surface = 4 }\n"));
    assert!((four / one - 1.0).abs() < 1e-9, "one seek for all: {four} against {one} ms");
}

/// With n heads on a radial line no seek goes over more than a band, and the mean distance is that of a drive with so many
/// cylinders; the wait for the sector stays.
#[test]
fn heads_on_a_radial_line_shorten_seeks_to_a_band() {
    let with = |heads: u32| {
        let text =
            format!("arms = {{ heads_per_surface = {heads}, head_placement = \"radial\" }}\n{FAST_BUS}\n");
        random_reads(&mut drive(&text), 30_000)
    };
    for heads in [1_u32, 2, 4, 5] {
        let outcomes = with(heads);
        let band = 100 / heads;
        let longest = outcomes.iter().map(|outcome| outcome.phases.seek.as_ms()).fold(0.0, f64::max);
        let over_a_band = 2.0 + f64::from(band - 2) * 0.1;
        assert!((longest - over_a_band).abs() < 1e-5, "{heads} heads: {longest} against {over_a_band} ms");
        // Of two cylinders, drawn evenly, that are not the same: (n + 1) / 3 apart in the mean.
        let moves: Vec<f64> = outcomes.iter().map(|o| o.phases.seek.as_ms()).filter(|&ms| ms > 1.5).collect();
        let mean = moves.iter().sum::<f64>() / moves.len() as f64;
        let exact = 2.0 + 0.1 * (f64::from(band + 1) / 3.0 - 1.0);
        assert!((mean / exact - 1.0).abs() < 0.01, "{heads} heads: {mean} against {exact} ms");
        let wait = mean_ms(&outcomes, |outcome| outcome.phases.rotation);
        assert!((wait - TURN_MS / 2.0).abs() < 0.1, "{heads} heads: {wait} ms");
    }
}

/// Surfaces at once are one surface whose tracks hold so many times the sectors: the same to the bit, be it said so or so.
/// Where the bus keeps up, a stream comes so many times as fast.
#[test]
fn surfaces_at_once_multiply_the_media_rate() {
    let stream = |extra: &str| {
        let mut drive = drive(&format!("{extra}{FAST_BUS}\n"));
        let outcome = serve(&mut drive, Nanos::ZERO, command(0, Op::Read, 0, 39_600));
        outcome.finish.as_ms()
    };
    let [one, two, four] = [1, 2, 4].map(|n| stream(&format!("arms = {{ surfaces_at_once = {n} }}\n")));
    // 396 tracks and the skews between them: a head switch a track, but for every fourth, which is a cylinder switch.
    let exact = |tracks: u32, per_cylinder: u32| {
        let cylinders = tracks / per_cylinder;
        let switches = tracks - cylinders + 2 * (cylinders - 1);
        f64::from(tracks) * TURN_MS + f64::from(switches) + 0.001
    };
    for (found, tracks, per_cylinder) in [(one, 396, 4), (two, 198, 2), (four, 99, 1)] {
        let exact = exact(tracks, per_cylinder);
        assert!((found - exact).abs() < 1e-3, "{per_cylinder} groups: {found} against {exact} ms");
    }
    // A bus slower than two surfaces binds.
    let slow = "arms = { surfaces_at_once = 4 }\nbuffer = { size_kib = 64.0 }\nbus = { read_mb_per_s = 8.0, write_mb_per_s = 8.0 }\n";
    let outcome = serve(&mut drive(slow), Nanos::ZERO, command(0, Op::Read, 0, 39_600));
    let least = 39_600.0 * 512.0 / 8e3;
    assert!(outcome.finish.as_ms() >= least && four < least / 2.0, "{} ms, {least}", outcome.finish.as_ms());
}

/// Two arms at one angle: each is sometimes nearer, and neither sees a sector sooner.
#[test]
fn arms_at_the_same_angle_gain_by_the_seek_alone() {
    let with = |arms: &str| random_reads(&mut drive(&format!("{arms}{FAST_BUS}\n")), 20_000);
    let one = with("");
    let two = with("arms = { count = 2, angles_revolutions = [0.3, 0.3] }\n");
    let seek = |outcomes: &[Outcome]| mean_ms(outcomes, |outcome| outcome.phases.seek);
    let rotation = |outcomes: &[Outcome]| mean_ms(outcomes, |outcome| outcome.phases.rotation);
    assert!(seek(&two) < 0.85 * seek(&one), "{} against {} ms", seek(&two), seek(&one));
    assert!((rotation(&two) - 5.0).abs() < 0.1, "{} ms", rotation(&two));
    assert!((rotation(&one) - 5.0).abs() < 0.1, "{} ms", rotation(&one));
}

/// Between cylinders that lie under heads that stand still an arm takes its seek all the same, if it serves after those did.
#[test]
fn an_arm_seeks_under_heads_that_stand_still() {
    let fixed = "fixed_heads = [{ first_cylinder = 0, last_cylinder = 22, angle_revolutions = 0.357 }]";
    let mut drive = drive_with(&format!("count = 1, angles_revolutions = [0.356], {fixed}"), "");
    // Sector 64 of track 69, cylinder 17, comes under the heads that stand still at 0.24 + 0.357 turns, far sooner than the arm.
    let still = serve(&mut drive, ms(5.9), command(0, Op::Read, 6964, 1));
    assert_eq!((still.phases.seek, still.finish), (Nanos::ZERO, ms(5.97 + 0.1) + Nanos(1_000)));
    // Sector 41 of track 25, cylinder 6, at 0.51 turns: the arm is there 0.001 turns before them, 2 + 5 × 0.1 ms of it seeking.
    let arm = serve(&mut drive, still.finish, command(1, Op::Read, 2541, 1));
    assert_eq!(arm.finish, ms(8.66 + 0.1) + Nanos(1_000));
    assert!(near(arm.phases.seek, 2.5), "{arm:?}");
}

/// The plain drive's seeks tell no acceleration: the coil works for all of 2 + 0.1·(d − 1) ms over d cylinders of 400 sectors.
#[test]
fn the_coil_works_for_how_far_the_arm_goes() {
    let coils = |arms: &str, reads: &[(u64, u32)]| -> Vec<f64> {
        let watts = "power = { rated_rpm = 6000.0, idle_w = 5.0, seek_w = 9.0, rotation_w = 5.0, read_w = 5.0, write_w = 5.0 }\n";
        let mut drive = drive_with(arms, watts);
        drive.keep_work();
        let mut at = Nanos::ZERO;
        let mut coil = |&(lba, sectors): &(u64, u32)| {
            at = serve(&mut drive, at + ms(50.0), command(0, Op::Read, lba, sectors)).finish;
            drive.take_work().map(|work| work.coil.as_ms()).sum()
        };
        reads.iter().map(&mut coil).collect()
    };
    let same = |found: &[f64], expected: &[f64]| {
        let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5);
        assert!(close && found.len() == expected.len(), "{found:?}, not {expected:?}");
    };
    // One head a surface, and bands of 25 cylinders.
    let over = [75, 80, 30].map(|cylinder| (cylinder * 400, 1));
    same(&coils("count = 1", &over), &[9.4, 2.4, 6.9]);
    same(&coils("heads_per_surface = 4, head_placement = \"radial\"", &over), &[0.0, 2.4, 0.0]);
    // Heads that stand still move not at all; where they cannot go on the arm comes from cylinder 60.
    let fixed = "fixed_heads = [{ first_cylinder = 0, last_cylinder = 22 }]";
    same(&coils(fixed, &[(60 * 400, 1), (10 * 400, 1), (23 * 400 - 1, 2)]), &[7.9, 0.0, 5.6]);
}

fn drive_with(arms: &str, extra: &str) -> Drive {
    drive(&format!("arms = {{ {arms} }}\n{extra}buffer = {{ size_kib = 64.0 }}\n{FAST_BUS}\n"))
}

fn near(found: Nanos, expected_ms: f64) -> bool {
    (found.as_ms() - expected_ms).abs() < 2e-5
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The naive twin: each command is served by the head that its first sector reaches first, worked out in floating point, over one
    /// sector or several tracks.
    #[test]
    fn the_arm_that_is_there_first_serves(
        (arms, naive) in any_heads(),
        reads in prop::collection::vec((0_u64..39_600, prop_oneof![Just(1_u64), 1..400_u64], 0.0_f64..40.0), 1..40),
    ) {
        let mut naive = naive;
        let mut drive = drive_with(&arms, "");
        let mut at = Nanos::ZERO;
        for (id, &(lba, sectors, gap_ms)) in reads.iter().enumerate() {
            let at_ms = at.as_ms();
            if naive.is_close(at_ms, &[lba]) {
                return Ok(());
            }
            let (_, head) = naive.best(at_ms, &[lba]);
            let (seek, rotation, _) = naive.serve(head, at_ms, lba, sectors);
            let outcome = serve(&mut drive, at, command(id as u64, Op::Read, lba, sectors as u32));
            prop_assert!(near(outcome.phases.seek, seek), "{:?} against {}", outcome, seek);
            prop_assert!(near(outcome.phases.rotation, rotation), "{:?} against {}", outcome, rotation);
            at = outcome.finish + ms(gap_ms);
        }
    }

    /// The naive twin of SPTF over all pairs of a request and a head.
    #[test]
    fn the_best_pair_of_request_and_head_is_served(
        (arms, naive) in any_heads(),
        reads in prop::collection::hash_set(0_u64..39_600, 2..20),
    ) {
        let reads: Vec<u64> = reads.into_iter().collect();
        let mut naive = naive;
        let mut drive = drive_with(&arms, "controller = { scheduler = \"sptf\", queue_depth = 64 }\n");
        let bus = drive.model().bus();
        // The first is chosen before the others come.
        let arrivals: Vec<(Nanos, Command)> = reads
            .iter()
            .enumerate()
            .map(|(id, &lba)| (Nanos(u64::from(id > 0)), command(id as u64, Op::Read, lba, 1)))
            .collect();
        let (outcomes, _) = run_events(&mut drive, &bus, &arrivals);
        let (mut waiting, mut ids): (Vec<u64>, Vec<u64>) = (reads.clone(), (0..reads.len() as u64).collect());
        let mut at = 0.0;
        let mut first = true;
        for outcome in &outcomes {
            let candidates = if first { &waiting[..1] } else { &waiting[..] };
            let (index, head) = naive.best(at, candidates);
            if naive.is_close(at, candidates) {
                return Ok(());
            }
            prop_assert_eq!(outcome.id, ids[index]);
            let (seek, rotation, end) = naive.serve(head, at, waiting[index], 1);
            prop_assert!(near(outcome.phases.seek, seek), "{:?} against {}", outcome, seek);
            prop_assert!(near(outcome.phases.rotation, rotation), "{:?} against {}", outcome, rotation);
            waiting.remove(index);
            ids.remove(index);
            (at, first) = (end, false);
        }
    }

    /// One arm left of several is an ordinary drive, to the bit; so are arms at one angle where nothing takes a seek.
    #[test]
    fn one_arm_of_several_is_an_ordinary_drive(options in any_options(), rows in any_commands(60), count in 2_u32..5) {
        let out: Vec<u32> = (1..count).collect();
        let left = format!("count = {count}, deconfigured = {out:?}");
        prop_assert_eq!(outcomes(&options, &left, "", &rows), outcomes(&options, "count = 1", "", &rows));
        let heads_out: Vec<String> = (1..count).map(|head| format!("{{ arm = 0, head = {head} }}")).collect();
        let head_left = format!("heads_per_surface = {count}, heads_deconfigured = [{}]", heads_out.join(", "));
        prop_assert_eq!(outcomes(&options, &head_left, "", &rows), outcomes(&options, "count = 1", "", &rows));
        let joined = "[layout]\nheads = 2\nzone = [{ first_cylinder = 0, last_cylinder = 99, sectors_per_track = 200, track_skew_sectors = 20, cylinder_skew_sectors = 40 }]\n";
        prop_assert_eq!(
            outcomes(&options, "surfaces_at_once = 2", "", &rows),
            outcomes(&options, "count = 1", joined, &rows)
        );
        let together = format!("count = {count}, angles_revolutions = {:?}", vec![0.0; count as usize]);
        prop_assert_eq!(
            outcomes(&options, &together, NO_MOVES, &rows),
            outcomes(&options, "count = 1", NO_MOVES, &rows)
        );
    }
}

/// What a drive with the options, but these arms, makes of the commands.
fn outcomes(
    options: &str,
    arms: &str,
    tables: &str,
    rows: &[(u64, Op, u64, u32, bool)],
) -> (Vec<Outcome>, Vec<headstack_drive::command::Background>) {
    let others: String =
        options.lines().filter(|line| !line.starts_with("arms")).flat_map(|line| [line, "\n"]).collect();
    let spec = plain(&format!("arms = {{ {arms} }}\n{others}{tables}"));
    let mut drive = Drive::new(Arc::new(DriveModel::new(&spec).unwrap()), 7);
    let bus = drive.model().bus();
    let mut at = Nanos::ZERO;
    let commands: Vec<(Nanos, Command)> = (0..)
        .zip(rows)
        .map(|(id, &(gap, op, lba, sectors, force))| {
            at += Nanos(gap);
            let flags = if force { RequestFlags::FORCE_MEDIA } else { RequestFlags::default() };
            (at, Command { id, op, lba: Lba(lba), sectors, flags })
        })
        .collect();
    run_events(&mut drive, &bus, &commands)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// With one channel no two transfers pass at the same time, and arms move while others transfer; with a channel for each
    /// arm, transfers overlap, too.
    #[test]
    fn one_channel_is_never_used_twice(
        angles in any_angles(),
        reads in prop::collection::vec((0_u64..39_500, 1_u32..100, 0_u64..12_000_000), 2..60),
    ) {
        let (transfers, _) = transfers(&angles, "multi-moving", &reads);
        for pair in transfers.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].0, "{:?}", pair);
        }
    }
}

/// When the transfers of reads pass, in order, and when the last read is complete.
fn transfers(angles: &[f64], design: &str, reads: &[(u64, u32, u64)]) -> (Vec<(Nanos, Nanos)>, Nanos) {
    let text = format!(
        "arms = {{ count = {}, design = \"{design}\", angles_revolutions = {angles:?} }}\n\
         buffer = {{ size_kib = 64.0, read_fence_kib = 64.0 }}\n{FAST_BUS}\n",
        angles.len()
    );
    let mut drive = drive(&text);
    let bus = drive.model().bus();
    let mut at = Nanos::ZERO;
    let arrivals: Vec<(Nanos, Command)> = (0..)
        .zip(reads)
        .map(|(id, &(lba, sectors, gap))| {
            at += Nanos(gap);
            (at, command(id, Op::Read, lba, sectors))
        })
        .collect();
    let (outcomes, _) = run_events(&mut drive, &bus, &arrivals);
    let mut transfers: Vec<(Nanos, Nanos)> = outcomes
        .iter()
        .filter_map(|outcome| {
            let end = outcome.passed?.at;
            Some((end - outcome.phases.transfer.min(end), end))
        })
        .collect();
    transfers.sort_unstable();
    (transfers, outcomes.iter().map(|outcome| outcome.finish).max().unwrap_or_default())
}

/// A batch of random reads, first come, first served: the more may happen at a time, the sooner it is through. Arms that seek
/// while others serve gain where reads are short; where they take most of a revolution, it takes more than one channel.
#[test]
fn designs_that_may_do_more_at_a_time_take_less() {
    let batch = |sectors: u32| {
        let read = |id| (random(id) % 39_900, sectors + (random(id + 7000) % 20) as u32, 0);
        let reads: Vec<(u64, u32, u64)> = (0..400).map(read).collect();
        ["single-moving", "multi-moving", "multi-channel"]
            .map(|design| transfers(&[0.0, 0.25, 0.5, 0.75], design, &reads))
    };
    let [single, moving, _] = batch(1);
    assert!(moving.1.as_ms() < 0.8 * single.1.as_ms(), "{} against {}", moving.1, single.1);
    let [_, moving, channels] = batch(60);
    assert!(channels.1.as_ms() < 0.8 * moving.1.as_ms(), "{} against {}", channels.1, moving.1);
    assert!(channels.0.windows(2).any(|pair| pair[1].0 < pair[0].1), "no two transfers overlapped");
}

/// It begins when all arms are free: one that serves a long read, too, while the other served last.
#[test]
fn a_recalibration_waits_for_every_arm() {
    let mut drive = drive(&format!(
        "arms = {{ count = 2, design = \"multi-channel\" }}\n\
         recalibration = {{ mode = \"by-drive\", interval_s = 1.0, duration_ms = 500.0 }}\n\
         controller = {{ queue_depth = 8 }}\n{FAST_BUS}\n"
    ));
    let bus = drive.model().bus();
    let arrivals = [
        (ms(900.0), command(0, Op::Read, 0, 10_000)),
        (ms(905.0), command(1, Op::Read, 30_000, 1)),
        (ms(1200.0), command(2, Op::Read, 30_500, 1)),
    ];
    let (outcomes, _) = run_events(&mut drive, &bus, &arrivals);
    let finish = |id: u64| outcomes.iter().find(|outcome| outcome.id == id).unwrap().finish.as_ms();
    // 100 tracks take a second at least.
    assert!(finish(0) > 1900.0, "{} ms", finish(0));
    let over = finish(2) - finish(0) - 500.0;
    assert!((0.1..20.0).contains(&over), "{over} ms after it");
}

/// Heads that stand still go on beyond their cylinders by an arm. They have not moved for that: the next command within takes no
/// seek.
#[test]
fn heads_that_stand_still_are_where_they_were() {
    let fixed = "fixed_heads = [{ first_cylinder = 0, last_cylinder = 22, angle_revolutions = 0.25 }]";
    let mut drive = drive_with(&format!("count = 1, angles_revolutions = [0.0], {fixed}"), "");
    // From the last track of cylinder 22 into cylinder 23, by heads over which 0.25 turns are sooner.
    let (last, at) = (23 * 400 - 50, ms(1_000.0));
    let beyond = serve(&mut drive, at, command(0, Op::Read, last, 100));
    assert_eq!(beyond.phases.seek, ms(2.0), "a switch of cylinders and no seek: {beyond:?}");
    // They see cylinder 5 begin at 0.75 turns, and cylinder 20 at 0.25.
    for (id, lba, at) in [(1, 5 * 400, ms(1_206.0)), (2, 20 * 400, ms(1_401.0))] {
        let within = serve(&mut drive, at, command(id, Op::Read, lba, 1));
        assert_eq!(within.phases.seek, Nanos::ZERO, "{within:?}");
    }
}

/// A command that is to keep its place waits for those before it, and those behind it wait, though their arm could serve.
#[test]
fn an_ordered_command_has_all_arms_wait() {
    for ordered in [0, 1] {
        let mut drive =
            drive_with("count = 2, design = \"multi-channel\", angles_revolutions = [0.0, 0.0]", "");
        let bus = drive.model().bus();
        let read = |id, lba| {
            let flags = if id == ordered { RequestFlags::ORDERED } else { RequestFlags::default() };
            (Nanos::ZERO, Command { flags, ..command(id, Op::Read, lba, 1) })
        };
        let (outcomes, _) = run_events(&mut drive, &bus, &[read(0, 20_000), read(1, 60)]);
        assert_eq!(outcomes.iter().map(|outcome| outcome.id).collect::<Vec<_>>(), [0, 1]);
        // Cylinder 50 comes at 10 ms, and sector 60 after that.
        assert!(near(outcomes[1].finish, 16.101), "{outcomes:?}");
    }
}

/// While a drive recalibrates, none of its arms serves, wherever the sector is.
#[test]
fn a_recalibration_holds_every_arm() {
    for design in ["single-moving", "multi-moving", "multi-channel"] {
        for lba in (5..100).step_by(10) {
            let mut drive = drive(&format!(
                "arms = {{ count = 2, design = \"{design}\" }}\n\
                 recalibration = {{ mode = \"by-drive\", interval_s = 1.0, duration_ms = 500.0 }}\n{FAST_BUS}\n"
            ));
            let bus = drive.model().bus();
            let (outcomes, _) = run_events(&mut drive, &bus, &[(ms(1200.0), command(0, Op::Read, lba, 1))]);
            // Then the nearer arm has to wait for half a revolution at most.
            let over = outcomes[0].finish.as_ms() - 1500.0;
            assert!(
                (0.1..=TURN_MS / 2.0 + 0.2).contains(&over),
                "{design}, sector {lba}: {over} ms after it"
            );
        }
    }
}

/// So it is where the host recalibrates: the arm that worked last is held, and so are the others.
#[test]
fn a_recalibration_by_the_host_holds_every_arm() {
    for design in ["single-moving", "multi-moving", "multi-channel"] {
        for lba in (5..100).step_by(10) {
            let mut drive = drive(&format!(
                "arms = {{ count = 2, design = \"{design}\" }}\n\
                 recalibration = {{ mode = \"by-host\", interval_s = 1.0, duration_ms = 500.0 }}\n{FAST_BUS}\n"
            ));
            drive.recalibrate(ms(1000.0));
            let finish = serve(&mut drive, ms(1200.0), command(0, Op::Read, lba, 1)).finish;
            assert!(finish > ms(1500.0), "{design}, sector {lba}: {finish}");
        }
    }
}

/// Limits: what scales do to the means of random reads.
#[test]
fn scales_change_the_means_and_nothing_else() {
    let with = |seek: f64, rotation: f64| {
        let scales = format!("fidelity = {{ seek_scale = {seek}, rotation_scale = {rotation} }}\n");
        let outcomes = random_reads(&mut drive(&format!("{scales}{FAST_BUS}\n")), 20_000);
        [
            mean_ms(&outcomes, |outcome| outcome.phases.seek),
            mean_ms(&outcomes, |outcome| outcome.phases.rotation),
            mean_ms(&outcomes, |outcome| outcome.phases.transfer),
        ]
    };
    let whole = with(1.0, 1.0);
    assert!((whole[1] - TURN_MS / 2.0).abs() < 0.05, "{whole:?}");
    for scale in [0.5, 0.25, 0.0] {
        let [seek, rotation, transfer] = with(scale, scale);
        assert!((seek - scale * whole[0]).abs() < 1e-5, "{scale}: {seek} of {} ms", whole[0]);
        assert!((rotation - scale * TURN_MS / 2.0).abs() < 0.05, "{scale}: {rotation} ms");
        assert!((transfer - whole[2]).abs() < 1e-5, "{scale}: {transfer} of {} ms", whole[2]);
    }
}

/// What is refused, and what the message says.
#[test]
fn arms_that_cannot_be_are_refused() {
    let text = plain(FAST_BUS).to_toml();
    for (path, value, message) in [
        ("arms.count", "0", "`arms.count`: 0 is not between 1 and 64"),
        ("arms.angles_revolutions", "[0.0, 0.5]", "`arms.angles_revolutions`: 2 angles for 1 arms"),
        ("arms.angles_revolutions", "[1.0]", "`arms.angles_revolutions`: 1 is not between 0 and 1"),
        ("arms.deconfigured", "[0]", "`arms.deconfigured`: all 1 arms are out of use: leave at least one"),
        ("arms.deconfigured", "[3]", "`arms.deconfigured`: there is no arm 3: arms are counted from 0 to 0"),
        ("arms.design", "several", "unknown variant `several`"),
        ("arms.heads_per_surface", "0", "`arms.heads_per_surface`: 0 is not between 1 and 64"),
        (
            "arms.head_angles_revolutions",
            "[0.0, 0.5]",
            "`arms.head_angles_revolutions`: 2 angles for 1 heads",
        ),
        ("arms.heads_deconfigured", "[{ arm = 0, head = 1 }]", "there is no head 1 of arm 0"),
        (
            "arms.heads_deconfigured",
            "[{ arm = 0, head = 0 }]",
            "no arm has a head in use: leave at least one",
        ),
        (
            "arms.fixed_heads",
            "[{ first_cylinder = 90, last_cylinder = 100 }]",
            "`arms.fixed_heads.0`: cylinders 90 to 100 are not a range of the drive's, which go from 0 to 99",
        ),
        (
            "arms",
            "{ design = \"multi-moving\", fixed_heads = [{ first_cylinder = 0, last_cylinder = 1 }] }",
            "`arms.fixed_heads.0`: fixed heads at work at the same time as arms are not modelled",
        ),
        ("arms.surfaces_at_once", "3", "`arms.surfaces_at_once`: 3 is not a divisor of the 4 surfaces"),
        (
            "arms.failures",
            "[{ arm = 0, at_s = 1.0 }]",
            "`arms.failures`: all 1 arms in use fail: leave at least one",
        ),
        (
            "arms.failures",
            "[{ arm = 3, at_s = 1.0 }]",
            "`arms.failures`: no arm 3 is in use: of [0] one can fail",
        ),
        ("fidelity.seek_scale", "-1", "`fidelity.seek_scale`: -1 is not between 0 and 100"),
        ("fidelity.rotation_scale", "2", "`fidelity.rotation_scale`: 2 is not between 0 and 1"),
    ] {
        let set = [(path.to_owned(), value.to_owned())];
        let error = DriveSpec::from_toml_with("x", &text, &set).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    for (set, message) in [
        (
            [("arms.count", "2"), ("fidelity.rotation", "uniform")],
            "`arms.count`: 2 arms gain by the rotation",
        ),
        (
            [("arms.heads_per_surface", "2"), ("fidelity.rotation", "uniform")],
            "`arms.heads_per_surface`: 2 heads over a surface gain by the rotation",
        ),
        (
            [("arms.heads_per_surface", "101"), ("arms.head_placement", "radial")],
            "`arms.heads_per_surface`: 101 is not between 1 and 64",
        ),
        (
            [("arms.surfaces_at_once", "2"), ("layout.slipped_tracks", "[[1, 1]]")],
            "`arms.surfaces_at_once`: does not go with layout.slipped_tracks",
        ),
    ] {
        let set = set.map(|(path, value)| (path.to_owned(), value.to_owned()));
        let error = DriveSpec::from_toml_with("x", &text, &set).unwrap_err();
        assert!(matches!(error, SpecError::Physics { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}
