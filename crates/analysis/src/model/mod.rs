//! A model fitted to a trace, and traces made from it.
//!
//! It is a *local block bootstrap* (Paparoditis & Politis 2002): a made trace is put together of short stretches of the
//! original, each from about where in the original the made trace stands. What depends on what within a stretch is kept:
//! sizes on places, reads on writes, bursts, runs side by side, strides. What it keeps:
//!
//! - **Pace**: when each request arrives, or of a trace of over 65,536 every second, fourth, …: the rhythm of the day and
//!   bursts of any length.
//! - **Excerpts**: all requests, or of a longer trace 256 blocks of 256, and which of them stands for each block of the trace
//!   ([`blocks`]): gap, device, direction, flags, size, place, and whether an earlier request began there.
//!
//! What is made anew: the order of neighbouring requests, where short pieces change places ([`tour`]), and places beside the
//! original's where an excerpt is copied again ([`places`]), so that as many requests begin where an earlier one began as in
//! the original. So of a trace of up to 65,536 requests one of the same length holds the same requests, in part in another order.
//!
//! A shorter trace than the original goes through excerpts evenly over it, and what lies between takes no time.
//!
//! What it does not keep: what spans more than an excerpt beside the pace, and who waits for whom.

mod blocks;
mod excerpts;
mod generator;
mod pace;
mod places;
mod recurrence;
mod tour;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use headstack_trace::{Io, IoSource, Kind, Request, TraceError};
use serde::{Deserialize, Serialize};

use crate::order::Ordered;
use excerpts::Keeper;
pub use excerpts::{Block, Excerpt, Sample};
pub use generator::Generator;
pub use pace::Pace;
pub(crate) use recurrence::{Place, Recurrence};

/// A model counts fewer than so many of anything.
const MOST: u64 = 1 << 40;
/// Requests to which pace and excerpts are fitted, the first of a trace.
const FITTED: usize = 10_000_000;

/// The model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadModel {
    /// Bytes to a sector.
    pub sector_bytes: u32,
    /// Requests it was fitted to.
    pub requests: u64,
    /// How the rate changes.
    pub pace: Pace,
    /// Device by device.
    pub devices: Vec<DeviceModel>,
    /// What made traces are put together of.
    pub excerpts: Vec<Excerpt>,
    /// For each 256 requests of the trace, which of the excerpts stands for them, and where.
    pub blocks: Vec<Block>,
}

/// The requests of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceModel {
    /// Its number.
    pub device: u32,
    /// How many requests.
    pub requests: u64,
    /// The lowest sector a request begins at.
    pub first_lba: u64,
    /// The highest.
    pub last_lba: u64,
    /// Places are multiples of so many sectors.
    pub grid_sectors: u64,
    /// Of requests whose place was followed, those that begin where none began before, and the others.
    pub fresh_and_again: [u64; 2],
}

#[derive(Default)]
struct Fit {
    arrivals: Vec<u64>,
    devices: BTreeMap<u32, DeviceFit>,
    excerpts: Keeper,
}

#[derive(Default)]
struct DeviceFit {
    requests: u64,
    first: Option<u64>,
    last: u64,
    grid: u64,
    recurrence: Recurrence,
    fresh_and_again: [u64; 2],
}

impl Fit {
    fn push(&mut self, request: &Request) {
        let place = self.devices.entry(request.device).or_default().push(request.lba.0);
        if self.arrivals.len() < FITTED {
            self.arrivals.push(request.arrival.0);
            self.excerpts.push(request, place);
        }
    }
}

impl DeviceFit {
    fn push(&mut self, first: u64) -> Place {
        self.requests += 1;
        self.first = Some(self.first.map_or(first, |lowest| lowest.min(first)));
        self.last = self.last.max(first);
        self.grid = gcd(self.grid, first);
        let place = self.recurrence.push(first);
        match place {
            Place::Fresh => self.fresh_and_again[0] += 1,
            Place::Again => self.fresh_and_again[1] += 1,
            Place::Unknown => {}
        }
        place
    }

    fn finish(&self, device: u32) -> DeviceModel {
        DeviceModel {
            device,
            requests: self.requests,
            first_lba: self.first.unwrap_or(0),
            last_lba: self.last,
            grid_sectors: self.grid.max(1),
            fresh_and_again: self.fresh_and_again,
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl WorkloadModel {
    /// Fits a model to the reads and writes of `source`.
    ///
    /// # Errors
    /// The source's, or if it holds fewer than two reads or writes.
    pub fn fit(source: &mut dyn IoSource) -> Result<Self, TraceError> {
        let sector_bytes = source.sector_bytes();
        let mut ordered = Ordered::new(source);
        let (mut fit, mut batch) = (Fit::default(), Vec::<Io>::new());
        loop {
            ordered.next_ios(&mut batch)?;
            if batch.is_empty() {
                break;
            }
            for io in batch.iter().filter(|io| io.kind == Kind::Data) {
                fit.push(&io.request);
            }
        }
        if fit.arrivals.len() < 2 {
            return Err(TraceError::Unusable {
                problem: "a workload cannot be fitted to fewer than two reads or writes".into(),
                hint: None,
            });
        }
        let devices: Vec<_> = fit.devices.iter().map(|(device, fit)| fit.finish(*device)).collect();
        let (excerpts, blocks) = fit.excerpts.finish(&devices);
        Ok(Self {
            sector_bytes,
            requests: devices.iter().map(|device| device.requests).sum(),
            pace: Pace::of(&fit.arrivals),
            excerpts,
            blocks,
            devices,
        })
    }

    /// What is wrong with a model that was read from somewhere.
    ///
    /// # Errors
    /// The first thing that makes no sense.
    pub fn check(&self) -> Result<(), TraceError> {
        let problem = if !self.pace.makes_sense() {
            "`pace` must have an ascending instant for every so many of its requests, a power of two"
        } else if self.devices.is_empty()
            || self.excerpts.is_empty()
            || self.excerpts.iter().any(|excerpt| excerpt.samples.is_empty())
        {
            "there must be a device, and an excerpt with requests, and none without"
        } else if self.devices.iter().any(|device| !device.makes_sense()) {
            "a device has no grid, its last address before its first, or counts or addresses beyond 63 bits"
        } else if !self.firsts_make_sense() {
            "`excerpts` must be in order of `first`, each other than the one before, and below the requests of `pace`"
        } else if self.blocks.len() as u64 != self.pace.requests.div_ceil(excerpts::BLOCK as u64)
            || self.blocks.iter().any(|block| block.excerpt as usize >= self.excerpts.len())
        {
            "`blocks` must name an excerpt for each 256 requests of `pace`"
        } else if self.samples().any(|sample| !sample.makes_sense(&self.devices)) {
            "an excerpt has a request of no size, of no device, outside its device, or after an endless gap"
        } else {
            return Ok(());
        };
        Err(TraceError::Unusable {
            problem: format!("the workload model makes no sense: {problem}"),
            hint: Some("fit it anew with `trace make --like TRACE --save-model FILE`".into()),
        })
    }

    fn firsts_make_sense(&self) -> bool {
        let ascend = self.excerpts.is_sorted_by(|one, next| one.first < next.first);
        ascend && self.excerpts.last().is_some_and(|last| last.first < self.pace.requests)
    }

    fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.excerpts.iter().flat_map(|excerpt| &excerpt.samples)
    }

    /// An endless workload after this model, cut after `requests`.
    pub fn generate(&self, requests: u64, seed: u64) -> Generator<'_> {
        Generator::new(self, requests, seed)
    }
}

impl DeviceModel {
    fn makes_sense(&self) -> bool {
        self.grid_sectors > 0
            && self.first_lba <= self.last_lba
            && self.last_lba < 1 << 63
            && self.grid_sectors < 1 << 63
            && self.fresh_and_again.iter().chain([&self.requests]).all(|&count| count < MOST)
    }
}
