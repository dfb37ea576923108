//! Drives and commands of every kind, for property tests.
#![allow(dead_code, reason = "each test file uses part of it")]

use headstack_units::Op;
use proptest::prelude::*;

/// How many random drives a slow test takes: `RANDOM_DRIVES`, or 20,000.
pub(crate) fn many_drives() -> ProptestConfig {
    let asked = std::env::var("RANDOM_DRIVES").ok();
    ProptestConfig::with_cases(asked.map_or(20_000, |number| number.parse().expect("RANDOM_DRIVES")))
}

fn any_write_policy() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("write_policy.write-through = {}\n".to_owned()),
        (prop::sample::select(vec!["delay", "overwrite"]), 0_u32..4, any::<bool>(), any::<bool>()).prop_map(|(hit, pending, waits, twice)| {
            let pending = if pending > 0 { format!(", pending_writes = {pending}") } else { String::new() };
            let waits = if waits { "waits" } else { "serves" };
            let appends = if twice { "twice" } else { "once" };
            format!("write_policy.immediate-reporting = {{ dirty_hit = \"{hit}\"{pending}, during_early_write = \"{waits}\", appends = \"{appends}\" }}\n")
        }),
        (8_u32..100, prop::sample::select(vec!["delay", "overwrite"]), 0_u32..30).prop_map(|(kib, hit, idle)| {
            format!("write_policy.write-back = {{ size_kib = {kib}.0, dirty_hit = \"{hit}\", idle_before_destage_ms = {idle}.0 }}\n")
        }),
        (1_u32..4, 1_u32..4, 0_u32..30).prop_map(|(places, count, idle)| {
            format!("write_policy.media-cache = {{ size_kib = 4.0, places = {places}, cleaned_at_a_time = {count}, largest_write_kib = 2.0, idle_before_cleaning_ms = {idle}.0 }}\n")
        }),
        (0_u32..3, 0_u32..30).prop_map(|(latency, idle)| {
            format!("write_policy.flash-cache = {{ size_kib = 4.0, write_latency_ms = {latency}.0, idle_before_destage_ms = {idle}.0 }}\n")
        }),
    ]
}

/// Options of every kind, to be put in front of the plain drive's layout.
pub(crate) fn any_options() -> impl Strategy<Value = String> {
    let cache = prop_oneof![
        Just(String::new()),
        (
            1_u32..5,
            prop::sample::select(vec![
                "none",
                "to-track-end",
                "to-cylinder-end",
                "until-full",
                "aggressive",
                "sequential-aware",
                "once-sequential",
                "on-arrival",
                "track-ahead"
            ]),
            prop::sample::select(vec!["serve", "bypass"]),
            prop::sample::select(vec!["keep", "discard"]),
            4_u32..80,
            (
                any::<bool>(),
                any::<bool>(),
                any::<bool>(),
                prop::sample::select(vec!["dropped", "shared", "own-segment"]),
                prop::sample::select(vec!["keep-front", "drop-segment", "update", "drop-at-rest"]),
                prop::sample::select(vec!["fixed", "adaptive"]),
            ),
            any_cache_rules(),
        )
            .prop_map(|(segments, ahead, partial, after, kib, (zero_latency, over, on_hit, written, overlap, division), rules)| format!(
                "cache = {{ segments = {}, segment_kib = {kib}.0, read_ahead = \"{ahead}\", partial_hit = \"{partial}\", after_hit = \"{after}\", zero_latency = {zero_latency}, whole_track = {over}, read_ahead_over_requested = {over}, read_ahead_on_hit = {on_hit}, written_data = \"{written}\", write_overlap = \"{overlap}\", segmentation = \"{division}\"{rules} }}\n",
                segments + 1
            )),
    ];
    let policy = any_write_policy();
    let shares = (0_u32..3, 0_u32..3, 0_u32..2, prop::option::of((1_u32..40, 1_u32..4, 1_u32..4)));
    let buffer = (4_u32..64, 0_u32..16, any::<bool>(), prop::option::of(0_u32..8), any::<bool>(), shares).prop_map(
        |(size, fence, track_end, write_fence, overlaps, (read_share, write_share, start, bursts))| {
            let in_bursts = bursts.is_some();
            let bursts = bursts.map_or(String::from("one\""), |(burst, full, empty)| {
                format!("bursts\", burst_kib = {burst}.0, buffer_full_kib = {full}.0, buffer_empty_kib = {empty}.0")
            });
            let option = |given: bool, text: String| if given { text } else { String::new() };
            let write_fence = [
                write_fence.map_or(String::new(), |kib| format!(", write_fence_kib = {kib}.0")),
                option(read_share > 0, format!(", read_fence_fraction = {}", f64::from(read_share) / 2.0)),
                option(read_share > 1 && in_bursts, ", buffer_full_fraction = 0.3".to_owned()),
                option(read_share > 1, ", fraction_rounding = \"down\"".to_owned()),
                option(write_share > 0, format!(", write_fence_fraction = {}", f64::from(write_share) / 2.0)),
                format!(", write_start_ms = {start}.2, write_on_arrival = {}", start > 0),
                format!(", takes_next_write = {}", fence % 2 == 0),
            ]
            .concat();
            format!("buffer = {{ bus_transfers = \"{bursts}, size_kib = {size}.0, read_fence_kib = {fence}.0, read_fence_at_track_end = {track_end}, write_overlaps_seek = {overlaps}{write_fence} }}\n")
        },
    );
    let history = prop::option::of((0_u32..3, 0_u32..3, 0_u32..3, any::<bool>()));
    let scheduler = prop::sample::select(vec![
        "fcfs",
        "sstf",
        "look",
        "vscan(0.2)",
        "sptf",
        "spctf+age-limit(30 ms)",
        "asptf(0.1)+concatenate(16 KiB)",
        "wstf(50 ms)+reads-first",
        "gsptf(10 cylinders)",
        "ncq",
        "batch-fcfs(3 commands)",
    ]);
    let times = (0_u32..3, 0_u32..3, 0_u32..2);
    let controller = (times, 1_u32..9, history, scheduler).prop_map(|((read, write, beside), depth, history, scheduler)| {
        let history = history.map_or(String::new(), |(hit, miss, append, beside)| {
            let wait = if hit == 1 { format!(", stream_wait_ms = 1{miss}.0") } else { String::new() };
            let seek = if beside { ", read_seek_after_ms = [0.1, 0.4], write_seek_after_ms = [0.2, 1.9]" } else { "" };
            format!(", seek_after_ms = 0.6, write_after_write_seek_delay_ms = 0.25, write_after_write_completion_ms = 0.04, least_write_seek_ms = {hit}.3, cached_part = \"hit-overhead\", data_preparation_ms = 0.03, by_history = {{ read_hit_ms = [{hit}.1, 0.9], read_hit_at_rest_ms = 0.5{wait}, read_miss_ms = [{miss}.2, 0.3], write_hit_ms = [{append}.0, 0.4], write_miss_ms = [1.0, {append}.6]{seek} }}")
        });
        format!("controller = {{ read_overhead_ms = {read}.3, write_overhead_ms = {write}.7, overhead_beside_seek_ms = {beside}.1, read_completion_ms = 0.05, queue_depth = {depth}, scheduler = \"{scheduler}\"{history} }}\n")
    });
    let bus = (1_u32..30, 1_u32..30, 0_u32..50).prop_map(|(read, write, reconnect)| {
        format!("bus = {{ read_mb_per_s = {read}.0, write_mb_per_s = {write}.0, arbitration_us = 3.0, reconnect_us = {reconnect}.0 }}\n")
    });
    let physical = prop::sample::select(vec!["", "physical_sector_bytes = 4096\n"]);
    let scales = prop_oneof![
        3 => Just(String::new()),
        1 => (0_u32..5, 0_u32..5).prop_map(|(seek, rotation)| format!(
            "fidelity = {{ seek_scale = {}, rotation_scale = {} }}\n",
            f64::from(seek) / 4.0,
            f64::from(rotation) / 4.0
        )),
    ];
    (physical, any_arms(), scales, cache, policy, buffer, controller, bus).prop_map(
        |(p, a, s, c, w, b, k, u)| {
            let is_refused = w.contains("media-cache") && (a.contains("radial") || a.contains("fixed"));
            let a = if is_refused { "" } else { &a };
            format!("{p}{a}{s}{c}{w}{b}{k}{u}")
        },
    )
}

/// One arm, mostly, or several.
fn any_arms() -> impl Strategy<Value = String> {
    let design = prop::sample::select(vec!["single-moving", "multi-moving", "multi-channel"]);
    let several = (2_u32..5, prop::option::of((0.0_f64..1.0, 0.0_f64..1.0)), any::<bool>(), design).prop_map(
        |(count, angles, deconfigured, design)| {
            let (count, angles) = match angles {
                Some((first, second)) => (2, format!(", angles_revolutions = [{first}, {second}]")),
                None => (count, String::new()),
            };
            let out =
                if deconfigured { ", deconfigured = [0]" } else { ", failures = [{ arm = 0, at_s = 0.4 }]" };
            format!("arms = {{ count = {count}, design = \"{design}\"{angles}{out} }}\n")
        },
    );
    prop_oneof![4 => Just(String::new()), 2 => several, 1 => any_heads()]
}

/// Several heads on each arm, or heads that stand still, on a drive of at least three cylinders.
fn any_heads() -> impl Strategy<Value = String> {
    let out = prop::sample::select(vec![
        "",
        ", heads_deconfigured = [{ arm = 0, head = 1 }]",
        ", failures = [{ arm = 0, head = 0, at_s = 0.3 }]",
    ]);
    let equidistant =
        (prop::option::of((0.0_f64..1.0, 0.0_f64..1.0)), 2_u32..4, out).prop_map(|(angles, heads, out)| {
            match angles {
                Some((first, second)) => {
                    format!("heads_per_surface = 2, head_angles_revolutions = [{first}, {second}]{out}")
                }
                None => format!("heads_per_surface = {heads}{out}"),
            }
        });
    let heads = prop_oneof![
        equidistant,
        (2_u32..4).prop_map(|heads| format!("heads_per_surface = {heads}, head_placement = \"radial\"")),
        (0_u32..3, 0.0_f64..1.0).prop_map(|(first, angle)| {
            let heads =
                format!("{{ first_cylinder = {first}, last_cylinder = 2, angle_revolutions = {angle} }}");
            format!("fixed_heads = [{heads}]")
        }),
    ];
    let design = prop::sample::select(vec!["single-moving", "multi-moving", "multi-channel"]);
    (1_u32..3, heads, design).prop_map(|(arms, heads, design)| {
        let design = if heads.contains("fixed") { "single-moving" } else { design };
        format!("arms = {{ count = {arms}, design = \"{design}\", {heads} }}\n")
    })
}

/// Rules of the cache, each the usual one or the other.
fn any_cache_rules() -> impl Strategy<Value = String> {
    let rules = [
        ", look_up = \"when-received\"",
        ", read_ahead_stop = \"after-sector\"",
        ", hit_during_read_ahead = \"own-segment\"",
        ", read_ahead_room = \"sent\"",
        ", replacement = \"spare-read-ahead\"",
    ];
    prop::sample::subsequence(rules.to_vec(), 0..=rules.len()).prop_map(|rules| rules.concat())
}

/// Commands with some locality and some sequential runs, and the gaps between them.
pub(crate) fn any_commands(count: usize) -> impl Strategy<Value = Vec<(u64, Op, u64, u32, bool)>> {
    let one = (0_u64..60_000_000, any::<bool>(), 0_u64..39_800, 1_u32..200, 0_u8..4, 0_u8..5);
    prop::collection::vec(one, 1..count).prop_map(|rows| {
        let mut next = 0;
        rows.into_iter()
            .map(|(gap, read, lba, sectors, how, force)| {
                let sectors = if how < 3 { sectors % 24 + 1 } else { sectors };
                let lba = if how == 1 { next } else { lba }.min(40_000 - u64::from(sectors));
                next = lba + u64::from(sectors);
                let gap = if how == 2 { 0 } else { gap };
                (gap, if read { Op::Read } else { Op::Write }, lba, sectors, force == 0)
            })
            .collect()
    })
}
