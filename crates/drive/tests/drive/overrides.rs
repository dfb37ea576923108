//! Values set by the user.

use crate::common::{FAST_BUS, plain_text};
use headstack_drive::DriveModel;
use headstack_drive::spec::{DriveSpec, ProvenanceKind, SpecError, WritePolicy};

fn set(pairs: &[(&str, &str)]) -> Result<DriveSpec, SpecError> {
    let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
    DriveSpec::from_toml_with("plain", &plain_text(FAST_BUS), &pairs)
}

#[test]
fn a_value_of_a_table_that_the_file_lacks_can_be_set_alone() {
    let spec = set(&[("spindle.error_percent", "0.5")]).unwrap();
    assert_eq!(spec.spindle.error_percent, 0.5);
    assert_eq!(spec.provenance_of("spindle.error_percent").unwrap().kind, ProvenanceKind::Assumed);
    assert!(spec.provenance_of("spindle.error_percent").unwrap().source.contains("set to 0.5"));
}

#[test]
fn paths_reach_list_elements_and_say_what_they_miss() {
    let spec = set(&[("layout.zone.*.track_skew_sectors", "11"), ("rotation_rpm", "7200")]).unwrap();
    assert_eq!((spec.layout.zone[0].track_skew_sectors, spec.rotation_rpm), (11.0, 7200.0));
    for (path, value, says) in [
        ("layout.zone.3.track_skew_sectors", "1", "number below 1"),
        ("rotation_rmp", "7200", "unknown field `rotation_rmp`"),
        ("rotation_rpm", "fast", "invalid type"),
        ("rotation_rpm", "-5", "is not between"),
        ("rotation_rpm", "1e308", "`rotation_rpm`: 1e308 is not between 60 and 1000000"),
        ("seek.constant.time_ms", "3", "it is `linear` here, of `constant`, `linear`, `two-piece`"),
    ] {
        let message = set(&[(path, value)]).unwrap_err().to_string();
        assert!(message.contains(says), "{path}={value}: {message}");
    }
}

#[test]
fn a_policy_that_is_not_there_names_those_that_are() {
    for (path, value, says) in [
        ("cache", "{ segments = 1, segment_kib = 8.0, segmentation = \"adaptve\" }", "`fixed` or `adaptive`"),
        (
            "cache",
            "{ segments = 1, segment_kib = 8.0, read_ahead = \"to-trak-end\" }",
            "`to-track-end`, `to-cylinder-end`",
        ),
        ("write_policy.write-bak.size_kib", "10", "`write-through`, `immediate-reporting`, `write-back`"),
        ("write_policy", "{ write-bak = {} }", "`write-through`, `immediate-reporting`, `write-back`"),
        ("buffer.bus_transfers", "two", "`one` or `bursts`"),
        ("controller.scheduler", "clook", "known are: fcfs, sstf"),
    ] {
        let message = set(&[(path, value)]).unwrap_err().to_string();
        assert!(message.contains(says), "{path}={value}: {message}");
    }
}

#[test]
fn another_kind_is_taken_whole() {
    let spec = set(&[("write_policy", "{ write-back = { size_kib = 10.0 } }")]).unwrap();
    assert!(matches!(spec.write_policy, WritePolicy::WriteBack { size_kib: 10.0, .. }));
}

#[test]
fn effects_left_out_say_which_setting_they_cannot_keep() {
    for (effect, path, value, says) in [
        ("rotation", "controller.scheduler", "sptf", "chooses by the rotation"),
        (
            "transfer",
            "buffer.bus_transfers",
            "bursts",
            "linear in length (fidelity.transfer) takes the bus once",
        ),
        ("transfer", "buffer.read_fence_kib", "8.0", "from its first sector on: this must be 0"),
        ("transfer", "buffer.read_fence_fraction", "0.5", "this must be absent"),
        ("transfer", "buffer.read_fence_at_track_end", "true", "this must be false"),
        ("transfer", "buffer.write_fence_kib", "8.0", "this must be absent"),
        ("transfer", "buffer.write_on_arrival", "true", "this must be false"),
        ("transfer", "buffer.write_start_ms", "0.5", "this must be 0"),
        ("transfer", "buffer.burst_kib", "4.0", "this must be absent"),
        ("transfer", "buffer.buffer_full_kib", "4.0", "this must be absent"),
        ("transfer", "buffer.buffer_full_fraction", "0.5", "this must be absent"),
        ("transfer", "buffer.buffer_empty_kib", "4.0", "this must be absent"),
        ("transfer", "controller.data_preparation_ms", "0.5", "this must be 0"),
        ("transfer", "physical_sector_bytes", "4096", "this must be absent"),
    ] {
        let without = if effect == "rotation" { "uniform" } else { "linear" };
        let effect = format!("fidelity.{effect}");
        let message = set(&[(effect.as_str(), without), (path, value)]).unwrap_err().to_string();
        assert!(message.contains(path) && message.contains(says), "{message}");
    }
    let cache = ("cache", "{ segments = 1, segment_kib = 8.0, zero_latency = true }");
    let message = set(&[("fidelity.transfer", "linear"), cache]).unwrap_err().to_string();
    assert!(message.contains("cache.zero_latency") && message.contains("this must be false"), "{message}");
}

#[test]
fn the_size_of_bursts_is_refused_where_there_is_one_transfer() {
    for (key, value) in [
        ("burst_kib", "8.0"),
        ("buffer_full_kib", "8.0"),
        ("buffer_full_fraction", "0.5"),
        ("buffer_empty_kib", "8.0"),
    ] {
        let path = format!("buffer.{key}");
        let with = |transfers| set(&[("buffer.bus_transfers", transfers), (path.as_str(), value)]);
        assert!(with("bursts").is_ok());
        let message = with("one").unwrap_err().to_string();
        assert!(message.contains(&format!("`{path}`: has no effect")), "{message}");
    }
}

#[test]
fn a_duration_limit_is_refused_where_the_scheduler_knows_none() {
    let limit = ("controller.duration_limit_ms", "50.0");
    assert!(set(&[("controller.scheduler", "ncq"), limit]).is_ok());
    for scheduler in ["fcfs", "sptf", "asptf(0.03)"] {
        let message = set(&[("controller.scheduler", scheduler), limit]).unwrap_err().to_string();
        assert!(message.contains("controller.duration_limit_ms") && message.contains(scheduler), "{message}");
        assert!(message.contains("take `controller.scheduler = \"ncq\"`"), "{message}");
    }
}

#[test]
fn duration_limits_go_from_short_to_long_and_can_be_kept() {
    let limits = |limits: &str| {
        let limits = format!("[{limits}]");
        set(&[("controller.scheduler", "ncq"), ("controller.duration_limits", &limits)])
            .map_err(|e| e.to_string())
    };
    assert!(limits("{ limit_ms = 20, policy = \"next-limit\" }, { limit_ms = 50 }").is_ok());
    let eight = ["{ limit_ms = 50 }"; 8].join(", ");
    for (given, says) in [
        ("{ limit_ms = 50 }, { limit_ms = 20 }", "20 is shorter than 50 of the descriptor before"),
        ("{ limit_ms = 5 }", "5 is not between a revolution"),
        ("{ limit_ms = 50, policy = \"next-limit\" }", "no other follows"),
        (&eight, "there are 7 at most"),
        ("{ limit_ms = 50, policy = \"give-up\" }", "unknown variant `give-up`"),
        ("{ }", "no limit: give `limit_ms`, `inactive_ms` or `active_ms`"),
        ("{ inactive_ms = 0 }", "0 is not above 0"),
        ("{ inactive_ms = 80 }, { inactive_ms = 20 }", "20 is shorter than 80 of the descriptor before"),
        (
            "{ active_ms = 80 }, { limit_ms = 50 }, { active_ms = 20 }",
            "20 is shorter than 80 of the descriptor before",
        ),
        ("{ active_ms = 5 }", "5 is not between a revolution"),
        ("{ inactive_ms = 5, inactive_policy = \"no-limit\" }", "a policy of `limit_ms` only"),
        ("{ limit_ms = 50, active_policy = \"abort\" }", "has no `active_ms` to hold for"),
        ("{ inactive_ms = 5, policy = \"abort\" }", "has no `limit_ms` to hold for"),
    ] {
        let message = limits(given).unwrap_err();
        assert!(message.contains(says), "{message}");
    }
    let limits = ("controller.duration_limits", "[{ limit_ms = 50 }]");
    let message = set(&[limits, ("controller.scheduler", "sptf")]).unwrap_err().to_string();
    assert!(message.contains("knows no limits"), "{message}");
    let both = set(&[limits, ("controller.scheduler", "ncq"), ("controller.duration_limit_ms", "50.0")]);
    assert!(both.unwrap_err().to_string().contains("give one of the two"));
    for limit_ms in ["0", "0.001", "5", "1e308"] {
        let alone = set(&[("controller.scheduler", "ncq"), ("controller.duration_limit_ms", limit_ms)]);
        assert!(alone.unwrap_err().to_string().contains("is not between a revolution"), "{limit_ms}");
    }
}

#[test]
fn a_value_may_be_set_to_its_default() {
    let spec = set(&[("spindle.initial_angle_revolutions", "0.0"), ("mechanics.inward_seek_extra_ms", "0")])
        .unwrap();
    assert_eq!((spec.spindle.initial_angle_revolutions, spec.mechanics.inward_seek_extra_ms), (0.0, 0.0));
}

#[test]
fn a_write_cache_that_is_off_acknowledges_nothing_that_could_be_lost() {
    let off = ("write_cache.enabled", "false");
    let back = ("write_policy", "{ write-back = { size_kib = 10.0 } }");
    let flash = ("write_cache.when_off", "{ flash-cache = { size_kib = 10.0 } }");
    let holds = |pairs: &[(&str, &str)]| DriveModel::new(&set(pairs).unwrap()).unwrap().holds_writes();
    assert!(holds(&[back]) && holds(&[back, flash]));
    assert!(!holds(&[back, off]) && !holds(&[back, off, flash]));
    let policy =
        |pairs: &[(&str, &str)]| DriveModel::new(&set(pairs).unwrap()).unwrap().spec().write_policy.clone();
    assert_eq!(policy(&[back, off]), WritePolicy::WriteThrough {});
    assert!(matches!(policy(&[back, off, flash]), WritePolicy::FlashCache(_)));
    for (value, says) in [
        ("{ write-back = { size_kib = 10.0 } }", "take `write-through`, `media-cache` or `flash-cache`"),
        ("{ flash-cache = { size_kib = 1e6 } }", "`write_cache.when_off.flash-cache.size_kib`"),
        ("{ flush-cache = {} }", "`write-through`, `immediate-reporting`, `write-back`"),
    ] {
        let message = set(&[("write_cache.when_off", value)]).unwrap_err().to_string();
        assert!(message.contains(says), "{value}: {message}");
    }
}
