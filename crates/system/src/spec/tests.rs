//! System files, right and wrong.

use super::*;
use crate::library::{self, Source};
use crate::{System, SystemError};

fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect()
}

fn read(text: &str, pairs: &[(&str, &str)]) -> Result<SystemConfig, SystemError> {
    let source =
        Source { name: "t".to_owned(), origin: "t.toml".to_owned(), directory: None, text: text.to_owned() };
    SystemConfig::from_source(&source, &set(pairs))
}

fn refusal(text: &str, pairs: &[(&str, &str)]) -> String {
    let error = read(text, pairs).unwrap_err();
    format!("{error}; {}", error.hint().unwrap_or_default())
}

const PAIR: &str = r#"
[host]
scheduler = "c-look"
[bus.scsi0]
rate_mb_per_s = 20.0
[volume.data]
level = "concatenation"
drives = ["hp-97560", "hp-97560"]
bus = "scsi0"
"#;

#[test]
fn everything_in_the_library_can_be_built() {
    for entry in library::systems().iter().chain(library::drives()) {
        let system = System::load(entry.name, &[]).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        assert!(system.devices().iter().all(|device| device.sectors > 0));
    }
}

#[test]
fn a_drive_alone_is_a_system_on_its_own_bus() {
    let pairs =
        [("rotation_rpm", "5000"), ("host.scheduler", "c-scan"), ("drive.0.controller.queue_depth", "3")];
    let config = SystemConfig::load("hp-97560", &set(&pairs)).unwrap();
    assert_eq!((config.drives.len(), config.buses.len(), config.volumes.len()), (1, 1, 1));
    let spec = &config.drives[0].spec;
    assert_eq!((spec.rotation_rpm, spec.controller.queue_depth), (5000.0, 3));
    assert_eq!((config.host.scheduler.as_str(), config.drives[0].name.as_str()), ("c-scan", "hp-97560"));
    let system = System::new(config).unwrap();
    assert_eq!(system.devices()[0].sectors, 2_647_080);
}

#[test]
fn volumes_name_buses_and_drives() {
    let config = read(PAIR, &[]).unwrap();
    assert_eq!((config.drives.len(), config.buses.len()), (2, 1));
    assert_eq!(config.buses[0].spec.write_mb_per_s, 20.0);
    assert_eq!(config.drives[1].name, "data.1");
    assert_eq!(System::new(config).unwrap().devices()[0].sectors, 2 * 2_647_080);
    let own = read(PAIR.replace("bus = \"scsi0\"", "").as_str(), &[]).unwrap();
    assert_eq!((own.buses.len(), own.drives[0].bus, own.drives[1].bus), (3, 1, 2));
}

#[test]
fn overrides_reach_drives_buses_and_host() {
    let pairs = [
        ("drive.1.rotation_rpm", "6000"),
        ("drive.*.controller.queue_depth", "4"),
        ("bus.scsi0.rate_mb_per_s", "5"),
        ("host.cpu_ms_per_request", "1"),
    ];
    let config = read(PAIR, &pairs).unwrap();
    let rpm = config.drives.iter().map(|drive| drive.spec.rotation_rpm).collect::<Vec<_>>();
    assert_eq!(rpm, [4002.0, 6000.0]);
    assert!(config.drives.iter().all(|drive| drive.spec.controller.queue_depth == 4));
    assert_eq!((config.buses[0].spec.read_mb_per_s, config.host.cpu_ms_per_request), (5.0, 1.0));
    assert!(refusal(PAIR, &[("drive.2.rotation_rpm", "1")]).contains("number below 2"));
    assert!(refusal(PAIR, &[("drive.x.rotation_rpm", "1")]).contains("or `*`"));
    assert!(refusal(PAIR, &[("host.nonsense", "1")]).contains("nonsense"));
    assert!(SystemConfig::load("hp-97560", &set(&[("nonsense", "1")])).is_err());
}

#[test]
fn mistakes_are_named() {
    let unknown = refusal(&PAIR.replace("concatenation", "raid-7"), &[]);
    assert!(
        ["concatenation", "mirror", "single", "raid-5"].iter().all(|level| unknown.contains(level)),
        "{unknown}"
    );
    assert!(refusal(&PAIR.replace("concatenation", "single"), &[]).contains("level = \"concatenation\""));
    assert!(
        refusal(&PAIR.replace("bus = \"scsi0\"", "bus = \"scsi1\""), &[]).contains("did you mean `scsi0`")
    );
    assert!(refusal(&PAIR.replace("\"hp-97560\"]", "\"hp-97561\"]"), &[]).contains("hp-97560"));
    assert!(refusal(&PAIR.replace("c-look", "clook"), &[]).contains("c-look"));
    assert!(refusal(&PAIR.replace("rate_mb_per_s = 20.0", ""), &[]).contains("rate_mb_per_s"));
    let unknown_key = refusal(&PAIR.replace("[host]", "[host]\nspeed = 3"), &[]);
    assert!(
        unknown_key.contains("t.toml") && unknown_key.contains("line 3") && unknown_key.contains("speed")
    );
    assert!(refusal("[host]\n[volume]\n", &[]).contains("at least one"));
    let error = SystemConfig::load("hp-9756", &[]).unwrap_err();
    assert!(error.hint().unwrap().contains("hp-97560"));
    assert!(matches!(SystemConfig::load("no/such.toml", &[]), Err(SystemError::Io { .. })));
    let sizes = PAIR.replace("\"hp-97560\"]", "\"hp-c2200a\"]");
    assert!(refusal(&sizes, &[]).contains("host.sector_bytes"));
    assert!(read(&sizes, &[("host.sector_bytes", "1024")]).is_ok());
}

/// Why there can be no such array: what its file or what building it says.
fn no_array(level: &str, drives: usize, more: &str) -> String {
    let drives = vec!["\"hp-97560\""; drives].join(", ");
    let text = format!("[volume.data]\nlevel = \"{level}\"\ndrives = [{drives}]\n{more}\n");
    read(&text, &[]).and_then(System::new).unwrap_err().to_string()
}

#[test]
fn drives_of_several_sizes_are_refused_unless_they_may_differ() {
    let build = |level: &str, more: &str| {
        let text = format!(
            "[volume.data]\nlevel = \"{level}\"\ndrives = [\"cheetah-9lp\", \"hp-c3323a\", \"cheetah-9lp\"]\n{more}\n"
        );
        read(&text, &[]).and_then(System::new)
    };
    let small = System::load("hp-c3323a", &[]).unwrap().devices()[0].sectors;
    // What each holds in halves of the smallest drive: RAID 10 of three has one and a half drives' worth of data.
    for (level, halves) in [("raid-0", 6), ("raid-1", 2), ("raid-10", 3), ("raid-4", 4), ("raid-5", 4)] {
        let refused = build(level, "").unwrap_err().to_string();
        assert!(refused.contains(&format!("drive 1 has {small}")), "{level}: {refused}");
        assert!(refused.contains("unequal_drives = true"), "{level}: {refused}");
        let sectors = build(level, "unequal_drives = true").unwrap().devices()[0].sectors;
        // Whole stripes only.
        let room = small * halves / 2;
        assert!(sectors <= room && sectors + 3 * 128 > room, "{level}: {sectors} of {room}");
    }
    assert!(build("concatenation", "").is_ok());
    assert!(build("concatenation", "unequal_drives = true").is_err());
}

#[test]
fn arrays_that_cannot_be_are_refused() {
    for (level, drives, more, says) in [
        ("raid-0", 1, "", "takes two drives or more"),
        ("raid-5", 2, "", "takes 3 drives or more, not 2"),
        ("raid-6", 3, "", "takes 4 drives or more, not 3"),
        ("raid-10", 2, "copies = 3", "takes 3 drives or more"),
        (
            "raid-5",
            4,
            "stripe_unit_kib = 0.3",
            "`volume.data.stripe_unit_kib`: 0.3 is not a positive multiple",
        ),
        ("raid-5", 4, "stripe_unit_kib = 0", "not a positive multiple"),
        ("raid-5", 4, "stripe_unit_kib = 1e8", "larger than its drives; take a smaller `stripe_unit_kib`"),
        (
            "raid-5",
            4,
            "stripe_unit_kib = 9223372036854775808",
            ".stripe_unit_kib`: 9.223372036854776e18 is more than 1e9",
        ),
        ("raid-5", 4, "stripe_unit_kib = 1e308", ".stripe_unit_kib`: 1e308 is more than 1e9"),
        ("raid-5", 4, "join_gap_kib = 1e308", ".join_gap_kib`: 1e308 is not between 0 and 1e9"),
        (
            "raid-5",
            4,
            "join_gap_kib = 0.3",
            ".join_gap_kib`: 0.3 is not a multiple of the sector of 512 bytes",
        ),
        (
            "raid-4",
            4,
            "parity_layout = \"right-asymmetric\"",
            ".parity_layout`: means nothing to level \"raid-4\"",
        ),
        ("declustered", 6, "parity_layout = \"left-symmetric\"", "means nothing to level \"declustered\""),
        (
            "raid-5",
            4,
            "failed_drives = [0, 1]",
            "data are lost: level \"raid-5\" survives 1 failed drive at most",
        ),
        ("raid-5", 4, "failed_drives = [4]", "4 is not one of the 4 drives"),
        ("raid-6", 4, "failed_drives = [1, 1]", "named twice"),
        ("raid-1", 2, "failed_drives = [0, 1]", "data are lost"),
        ("raid-1", 2, "failed_drives = [0, 0]", "named twice"),
        ("raid-10", 4, "failed_drives = [2, 3]", "drives 2, 3"),
        (
            "raid-0",
            4,
            "failed_drives = [0]",
            "`volume.data.failed_drives`: means nothing to level \"raid-0\"; its options: stripe_unit_kib, unequal_drives, spindles",
        ),
        ("raid-1", 2, "stripe_unit_kib = 64", "means nothing to level \"raid-1\""),
        ("raid-5", 4, "parity_layout = \"left\"", "left-symmetric"),
        ("raid-5", 4, "join_gap_kib = -1", "`volume.data.join_gap_kib`: -1 is not between 0 and 1e9"),
        ("raid-0", 4, "parity_range = \"unit\"", "means nothing to level \"raid-0\""),
    ] {
        let refused = no_array(level, drives, more);
        assert!(refused.contains(says), "{level}, {more}: {refused}");
    }
    assert!(!no_array("raid-1", 2, "failed_drives = [0, 0]").contains("lost"), "one drive is named twice");
}

/// Both keys were blamed for a value of the one.
#[test]
fn the_value_that_is_refused_is_blamed() {
    let refused = |pairs| read(PAIR, pairs).unwrap_err().to_string();
    let one = refused(&[("host.queue_limit", "-1"), ("host.scheduler", "sstf")]);
    assert!(one.contains("cannot set `host.queue_limit`:"), "{one}");
    let both = refused(&[("host.queue_limit", "-1"), ("host.scheduler", "7")]);
    assert!(both.contains("cannot set `host.queue_limit, host.scheduler`:"), "{both}");
}

#[test]
fn hashes_follow_the_configuration() {
    let hash = |pairs| config_hash(&read(PAIR, pairs).unwrap());
    assert_eq!(hash(&[]), hash(&[]));
    assert_eq!(hash(&[]).len(), 32);
    assert_ne!(hash(&[]), hash(&[("host.queue_limit", "7")]));
}
