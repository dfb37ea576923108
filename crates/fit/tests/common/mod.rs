//! Drives that are not as their files say, and the times they would show.

#![allow(dead_code, reason = "each test file uses its part")]

use headstack_drive::spec::DriveSpec;
use headstack_fit::MeasuredTrace;
use headstack_system::record::Keep;
use headstack_system::{Input, RunOptions, System, SystemConfig, WorkloadSpec, run};
use headstack_trace::Request;
use headstack_units::Nanos;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64;
use std::sync::Arc;

/// Reads and writes, some of them in runs.
pub(crate) const MIXED: &str = "
[[stream]]
read_fraction = 0.6
sequential_fraction = 0.3
size.weighted_kib = [[1.0, 1.0], [4.0, 2.0], [8.0, 1.0], [16.0, 1.0]]
align_kib = 1
inter_arrival.exponential_ms = 40
";

/// Random reads alone.
pub(crate) const READS: &str = "
[[stream]]
read_fraction = 1.0
size.weighted_kib = [[1.0, 1.0], [4.0, 2.0], [8.0, 1.0]]
align_kib = 1
inter_arrival.exponential_ms = 40
";

/// A drive of the library.
pub(crate) fn file(name: &str) -> DriveSpec {
    SystemConfig::load(name, &[]).unwrap().drives.remove(0).spec
}

/// Pairs for a drive that is not as its file says.
pub(crate) fn real(values: &[(&str, f64)]) -> Vec<(String, String)> {
    values.iter().map(|(path, value)| ((*path).to_owned(), format!("{value:?}"))).collect()
}

/// How measured times differ from the drive's own.
#[derive(Clone, Copy, Default)]
pub(crate) struct Noise {
    /// Standard deviation, in ms.
    pub(crate) sigma_ms: f64,
    /// This share of completions comes late, by up to 20 ms.
    pub(crate) late: f64,
}

/// The times that a real drive shows under a workload.
pub(crate) fn measured(
    drive: &str,
    real: &[(String, String)],
    workload: &str,
    requests: u64,
    noise: Noise,
    seed: u64,
) -> MeasuredTrace {
    let system = Arc::new(System::load(drive, real).unwrap());
    let text = format!("requests = {requests}\nseed = {seed}\n{workload}");
    let generator =
        WorkloadSpec::from_toml("w", &text).unwrap().generate(&system.devices(), None, None).unwrap();
    served(&system, Input::Generator(generator), noise, seed)
}

/// The times that a real drive shows, whatever it is asked for.
pub(crate) fn served(system: &Arc<System>, input: Input, noise: Noise, seed: u64) -> MeasuredTrace {
    let mut kept = Keep::default();
    let options = RunOptions { seed, ..RunOptions::default() };
    run(system, input, &options, &mut kept, &mut |_| {}).unwrap();
    kept.rows.sort_by_key(|row| row.id);
    let mut random = Pcg64::seed_from_u64(seed);
    let normal = Normal::new(0.0, noise.sigma_ms).unwrap();
    let request = |row: &headstack_system::CompletionRow| {
        let late = if random.random_bool(noise.late) { random.random_range(1.0..20.0) } else { 0.0 };
        let service = (row.service().as_ms() + normal.sample(&mut random) + late).max(0.001);
        let finish = row.start + Nanos::from_ms(service);
        Request { start: row.start, finish, ..Request::new(row.arrival, row.op, row.lba, row.sectors) }
    };
    MeasuredTrace::new("measured", kept.rows.iter().map(request).collect()).unwrap()
}

/// A generator for a trial.
pub(crate) fn random(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}
