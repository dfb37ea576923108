//! What a description of the model must keep to.

use crate::spec::ModelSpec;
use headstack_system::SystemError;
use headstack_system::workload::{TimeLaw, TimeSampler};

/// The slowest media and interfaces that a description may have.
pub(crate) const LEAST_RATE_MB_PER_S: f64 = 0.01;
/// The fastest; what is faster takes no time that would count.
pub(crate) const MOST_RATE_MB_PER_S: f64 = 1e5;
/// The slowest disk.
pub(crate) const LEAST_RPM: f64 = 60.0;

/// All that cannot be, at once.
pub(crate) fn check(spec: &ModelSpec) -> Result<(), SystemError> {
    let mut problems = Vec::new();
    let (cache, mechanism) = (&spec.cache, &spec.mechanism);
    let mut within = |key: &str, value: f64, low: f64, high: f64| {
        if !(low..=high).contains(&value) {
            problems.push(format!("`{key}` is {value}; allowed: {low} to {high}"));
        }
    };
    within("cache.size_kib", cache.size_kib, 1.0, 1e9);
    within("cache.interface_mb_per_s", cache.interface_mb_per_s, LEAST_RATE_MB_PER_S, MOST_RATE_MB_PER_S);
    let writes = cache.write_interface_mb_per_s.unwrap_or(1.0);
    within("cache.write_interface_mb_per_s", writes, LEAST_RATE_MB_PER_S, MOST_RATE_MB_PER_S);
    within("cache.command_kib", cache.command_kib.unwrap_or(1.0), 0.5, 1e9);
    within("cache.overhead_ms", cache.overhead_ms, 0.0, 1e4);
    within("cache.write_overhead_ms", cache.write_overhead_ms.unwrap_or(0.0), 0.0, 1e4);
    within("mechanism.outer_mb_per_s", mechanism.outer_mb_per_s, LEAST_RATE_MB_PER_S, MOST_RATE_MB_PER_S);
    within("mechanism.inner_mb_per_s", mechanism.inner_mb_per_s, LEAST_RATE_MB_PER_S, MOST_RATE_MB_PER_S);
    within("mechanism.rotation_rpm", mechanism.rotation_rpm, LEAST_RPM, 1e6);
    within("mechanism.cylinders", f64::from(mechanism.cylinders), 1.0, 1e7);
    within("mechanism.heads", f64::from(mechanism.heads), 1.0, 256.0);
    within("mechanism.head_switch_ms", mechanism.head_switch_ms, 0.0, 1e3);
    within("mechanism.cylinder_switch_ms", mechanism.cylinder_switch_ms, 0.0, 1e3);
    within("mechanism.full_stroke_ms", mechanism.full_stroke_ms, 0.0, 1e4);
    if mechanism.inner_mb_per_s > mechanism.outer_mb_per_s {
        problems.push(format!(
            "`mechanism.inner_mb_per_s` is {}, above the outer {}; the rate falls inwards",
            mechanism.inner_mb_per_s, mechanism.outer_mb_per_s
        ));
    }
    for (key, law) in delays(spec) {
        if let Some(Err(problem)) = law.map(TimeLaw::sampler) {
            problems.push(format!("`{key}`: {problem}"));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(SystemError::Contradiction { origin: "stream model".to_owned(), problems })
}

fn delays(spec: &ModelSpec) -> [(&'static str, Option<&TimeLaw>); 4] {
    [
        ("server.read_delay", spec.server.read_delay.as_ref()),
        ("server.write_delay", spec.server.write_delay.as_ref()),
        ("cache.read_delay", spec.cache.read_delay.as_ref()),
        ("cache.write_delay", spec.cache.write_delay.as_ref()),
    ]
}

/// A delay that was checked, ready to be drawn from.
pub(crate) fn sampler(law: Option<&TimeLaw>) -> Option<TimeSampler> {
    law.and_then(|law| law.sampler().ok())
}
