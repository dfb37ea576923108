//! Every drive of the library, simulated and measured.

#[expect(unreachable_pub, reason = "shared by several tests")]
mod common;

#[test]
fn look() {
    let Ok(names) = std::env::var("LOOK") else { return };
    for name in names.split(',') {
        common::report(name);
    }
}

#[test]
fn tables() {
    let Ok(names) = std::env::var("TABLE") else { return };
    let noise = if std::env::var("NOISE").is_ok() {
        headstack_measure::device::Noise { relative: 0.005, outlier_share: 0.01, outlier_ms: 20.0 }
    } else {
        headstack_measure::device::Noise::NONE
    };
    let names: Vec<&str> = if names == "all" {
        headstack_system::library::drives().iter().map(|entry| entry.name).collect()
    } else {
        names.split(',').collect()
    };
    for name in names {
        let done = std::panic::catch_unwind(|| common::table(name, noise));
        if done.is_err() {
            println!("=== {name}: panicked");
        }
    }
}

#[test]
fn debug() {
    let Ok(name) = std::env::var("DEBUG") else { return };
    let (record, _) = common::measured(
        &format!("sim:{name}"),
        if std::env::var("NOISE").is_ok() {
            headstack_measure::device::Noise { relative: 0.005, outlier_share: 0.01, outlier_ms: 20.0 }
        } else {
            headstack_measure::device::Noise::NONE
        },
    );
    let truth = common::Truth::of(&name);
    for probe in ["tracks", "surfaces"] {
        for s in record.of(probe) {
            {
                let p = truth.layout.locate(s.lba);
                println!(
                    "{probe} {} {} {:?} {:?} {} {:?} {}",
                    s.series,
                    s.step,
                    s.role,
                    s.lba,
                    s.latency_ms(),
                    p,
                    s.end.0
                );
            }
        }
    }
}
