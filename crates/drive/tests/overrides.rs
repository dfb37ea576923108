//! Values set by the user.

mod common;

use common::{FAST_BUS, plain_text};
use headstack_drive::spec::{DriveSpec, ProvenanceKind, SpecError};

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
        ("seek.constant.time_ms", "3", "wanted exactly 1 element"),
    ] {
        let message = set(&[(path, value)]).unwrap_err().to_string();
        assert!(message.contains(says), "{path}={value}: {message}");
    }
}

#[test]
fn a_value_may_be_set_to_its_default() {
    let spec = set(&[("spindle.initial_turns", "0.0"), ("mechanics.inward_seek_extra_ms", "0")]).unwrap();
    assert_eq!((spec.spindle.initial_turns, spec.mechanics.inward_seek_extra_ms), (0.0, 0.0));
}
