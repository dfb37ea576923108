//! A fleet: very many devices, each a system of its own, under one trace.
//!
//! Nothing passes between the devices. The trace is read in order of arrival and sharded by device; each shard is sorted by
//! device, so that a device serves what there is for it in one go, by one thread. What is kept of a completion is a count in two
//! histograms: of its device, and of all. Memory depends on the number of devices, not on that of requests.

mod device;
mod part;
#[cfg(test)]
mod tests;

pub use part::{DeviceRow, DeviceSummary, DeviceTimes, FleetPart, FleetSummary};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use headstack_stats::Quantiles;
use headstack_trace::{Request, RequestSource};

use super::arrivals::Arrivals;
use super::meanwhile::{count_of, do_meanwhile};
use super::{OnProgress, Progress};
use crate::SystemError;
use crate::system::System;
use device::Device;

/// Requests read at a time.
const ROUND: usize = 1 << 18;
/// Shards a thread serves: one that is through early takes another.
const SHARDS_A_THREAD: usize = 4;

/// How to run a fleet.
#[derive(Clone, Debug, Default)]
pub struct FleetOptions {
    /// Seed of the random streams of device 0; that of the others is larger by their number.
    pub seed: u64,
    /// At most this many requests are taken from the source.
    pub requests: Option<u64>,
    /// Only devices whose number leaves the first as remainder when divided by the second.
    pub share: Option<(u32, u32)>,
    /// How many threads: all cores' where it is left out. The results are the same with any number.
    pub threads: Option<usize>,
    /// Set it to end the run early.
    pub stop: Option<Arc<AtomicBool>>,
}

/// Runs requests on a fleet: each device of the source is one of `system`, which has one volume.
///
/// # Errors
/// [`SystemError::Options`] for a system of several volumes; [`SystemError::Request`] and [`SystemError::Trace`] for requests
/// that cannot be served or read.
pub fn run_fleet(
    system: &Arc<System>,
    source: Box<dyn RequestSource>,
    options: &FleetOptions,
    on_progress: &mut OnProgress<'_>,
) -> Result<FleetPart, SystemError> {
    let volumes = system.devices().len();
    if volumes != 1 {
        return Err(SystemError::Options {
            problem: format!("each device of a fleet is a system of one volume, and this one has {volumes}"),
            hint: "give a drive, or a system with a single volume".to_owned(),
        });
    }
    let threads = count_of(options.threads);
    let mut shards: Vec<Shard<'_>> =
        (0..threads * SHARDS_A_THREAD).map(|_| Shard::new(system, options.seed)).collect();
    let mut arrivals = Arrivals::new(source, options.requests);
    let (mut read, mut taken) = (Vec::new(), 0);
    let mut failed = arrivals.take_round(ROUND, &mut read).1;
    let mut interrupted = false;
    while let Some(last) = read.last().map(|request: &Request| request.arrival) {
        if options.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            interrupted = true;
            break;
        }
        taken += read.len() as u64;
        share_out(&read, options.share, &mut shards);
        let error = do_meanwhile(&mut shards, threads, Shard::serve, || {
            if failed.is_some() {
                read.clear();
                return None;
            }
            arrivals.take_round(ROUND, &mut read).1
        });
        failed = failed.or(error);
        if let Some(error) = shards.iter_mut().find_map(|shard| shard.failed.take()) {
            return Err(error);
        }
        on_progress(Progress { completed: taken, simulated: last });
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let mut part = collected(shards, system.sector_bytes())?;
    part.interrupted = interrupted;
    Ok(part)
}

/// Gives each shard the requests of its devices.
fn share_out(requests: &[Request], share: Option<(u32, u32)>, shards: &mut [Shard<'_>]) {
    let count = shards.len() as u64;
    for &request in requests {
        if share.is_none_or(|(part, parts)| request.device % parts.max(1) == part) {
            // Spread whatever pattern the numbers have.
            let spread = u64::from(request.device).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            shards[(spread % count) as usize].requests.push(request);
        }
    }
}

fn collected(shards: Vec<Shard<'_>>, sector_bytes: u32) -> Result<FleetPart, SystemError> {
    let mut all = Quantiles::with_limit(0);
    let mut rows = Vec::new();
    for mut shard in shards {
        for device in std::mem::take(&mut shard.devices).into_values() {
            rows.push(device.finish(&mut shard.responses)?);
        }
        all.merge(&shard.responses);
    }
    Ok(FleetPart::new(rows, &mut all, sector_bytes))
}

/// Devices served by one thread at a time.
struct Shard<'s> {
    system: &'s Arc<System>,
    seed: u64,
    requests: Vec<Request>,
    devices: BTreeMap<u32, Device<'s>>,
    responses: Quantiles,
    failed: Option<SystemError>,
}

impl<'s> Shard<'s> {
    fn new(system: &'s Arc<System>, seed: u64) -> Self {
        Self {
            system,
            seed,
            requests: Vec::new(),
            devices: BTreeMap::new(),
            responses: Quantiles::with_limit(0),
            failed: None,
        }
    }

    /// Serves the requests it was given.
    fn serve(&mut self) {
        // Stable: each device's stay in order of arrival.
        self.requests.sort_by_key(|request| request.device);
        for requests in self.requests.chunk_by_mut(|one, two| one.device == two.device) {
            let number = requests[0].device;
            let (system, seed) = (self.system, self.seed);
            let device = self.devices.entry(number).or_insert_with(|| Device::new(system, number, seed));
            if let Err(error) = device.serve(requests, &mut self.responses) {
                self.failed = Some(of_device(error, number));
                break;
            }
        }
        self.requests.clear();
    }
}

/// Which request it is, a user counts by device.
fn of_device(error: SystemError, device: u32) -> SystemError {
    match error {
        SystemError::Request { id, problem, hint } => {
            SystemError::Request { id, problem: format!("(of device {device}) {problem}"), hint }
        }
        error => error,
    }
}
