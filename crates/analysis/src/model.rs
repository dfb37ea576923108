//! A compact model fitted to a trace, and traces made from it.
//!
//! What it keeps, for each device but for the arrivals, which are those of all devices together:
//!
//! - **Arrivals**: 65 quantiles of the gaps with the mean between each two, so that the rate is that of the trace however
//!   rare its long gaps are; and how eighths of them follow each other (an 8 × 8 chain): long gaps after long
//!   ones and short after short, which is burstiness.
//! - **Device and direction**: shares, and how reads and writes follow each other on a device.
//! - **Sizes**: the 32 commonest of each direction.
//! - **Runs**: the chance that a request goes on where the one before of its direction ended.
//! - **Places**: how many others begin in each 256th of the addresses used, and the grid they lie on.
//!
//! What it does not keep: dependence between size and place, strides, change over the day, who waits for whom.

use std::collections::BTreeMap;

use headstack_trace::{Io, IoSource, Kind, Request, RequestSource, TraceError};
use headstack_units::{Lba, Nanos, Op};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::order::Ordered;

const CLASSES: usize = 8;
const QUANTILES: usize = 64;
const REGIONS: usize = 256;
const SIZES: usize = 32;
/// Gaps from which the arrivals are fitted, the first of a trace.
const GAPS: usize = 10_000_000;

/// The model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadModel {
    /// Bytes to a sector.
    pub sector_bytes: u32,
    /// Requests it was fitted to.
    pub requests: u64,
    /// Quantiles of the time between arrivals at 0, 1/64, …, 1, ns.
    pub gap_quantiles_ns: Vec<u64>,
    /// Mean of the gaps from each of these to the next, ns.
    pub gap_means_ns: Vec<u64>,
    /// Row: eighth of the last gap; column: how often the next gap lies in that eighth.
    pub gap_transitions: Vec<Vec<u64>>,
    /// Device by device.
    pub devices: Vec<DeviceModel>,
}

/// The requests of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceModel {
    /// Its number.
    pub device: u32,
    /// How many requests.
    pub requests: u64,
    /// How many of them read.
    pub reads: u64,
    /// Row: the last was a read, a write; column: the next is.
    pub op_transitions: [[u64; 2]; 2],
    /// Reads and writes: pairs of sectors and how often, the commonest first.
    pub sizes: [Vec<(u32, u64)>; 2],
    /// Reads and writes that begin where the one before of their direction ended.
    pub sequential: [u64; 2],
    /// The lowest sector a request begins at.
    pub first_lba: u64,
    /// Sectors to a region.
    pub region_sectors: u64,
    /// Requests that are not sequential, by region.
    pub regions: Vec<u64>,
    /// Places are multiples of so many sectors.
    pub grid_sectors: u64,
}

#[derive(Default)]
struct Fit {
    gaps: Vec<u64>,
    last: Option<Nanos>,
    devices: BTreeMap<u32, DeviceFit>,
}

#[derive(Default)]
struct DeviceFit {
    requests: u64,
    reads: u64,
    last_op: Option<Op>,
    op_transitions: [[u64; 2]; 2],
    sizes: [BTreeMap<u32, u64>; 2],
    sequential: [u64; 2],
    ends: [Option<u64>; 2],
    /// Counts by place in bins that widen, and the grid.
    places: headstack_stats::Timeline,
    first: Option<u64>,
    last: u64,
    grid: u64,
}

fn side(op: Op) -> usize {
    usize::from(op == Op::Write)
}

impl DeviceFit {
    fn push(&mut self, request: &Request) {
        let side = side(request.op);
        self.requests += 1;
        self.reads += u64::from(request.op == Op::Read);
        if let Some(last) = self.last_op.replace(request.op) {
            self.op_transitions[usize::from(last == Op::Write)][side] += 1;
        }
        *self.sizes[side].entry(request.sectors).or_default() += 1;
        let first = request.lba.0;
        let sequential = self.ends[side] == Some(first);
        self.ends[side] = Some(first.saturating_add(u64::from(request.sectors)));
        self.first = Some(self.first.map_or(first, |lowest| lowest.min(first)));
        self.last = self.last.max(first);
        if sequential {
            self.sequential[side] += 1;
        } else {
            self.places.record(first, Nanos::ZERO);
            self.grid = gcd(self.grid, first);
        }
    }

    fn finish(self, device: u32) -> DeviceModel {
        let first = self.first.unwrap_or(0);
        let region_sectors = ((self.last - first) / REGIONS as u64 + 1).max(1);
        let mut regions = vec![0; REGIONS];
        for bin in self.places.bins().filter(|bin| bin.count > 0) {
            // A bin may begin before the first place.
            let at = (bin.start + bin.width / 2).clamp(first, self.last) - first;
            regions[((at / region_sectors) as usize).min(REGIONS - 1)] += bin.count;
        }
        DeviceModel {
            device,
            requests: self.requests,
            reads: self.reads,
            op_transitions: self.op_transitions,
            sizes: self.sizes.map(commonest),
            sequential: self.sequential,
            first_lba: first,
            region_sectors,
            regions,
            grid_sectors: self.grid.max(1),
        }
    }
}

fn mean(values: &[u64]) -> Option<u64> {
    let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
    sum.checked_div(values.len() as u128).map(|mean| mean as u64)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn commonest(sizes: BTreeMap<u32, u64>) -> Vec<(u32, u64)> {
    let mut sizes: Vec<_> = sizes.into_iter().collect();
    sizes.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    sizes.truncate(SIZES);
    sizes
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
                if let Some(last) = fit.last.replace(io.request.arrival)
                    && fit.gaps.len() < GAPS
                {
                    fit.gaps.push(io.request.arrival.saturating_sub(last).0);
                }
                fit.devices.entry(io.request.device).or_default().push(&io.request);
            }
        }
        if fit.gaps.is_empty() {
            return Err(TraceError::Unusable {
                problem: "a workload cannot be fitted to fewer than two reads or writes".into(),
                hint: None,
            });
        }
        let mut sorted = fit.gaps.clone();
        sorted.sort_unstable();
        let place = |at: usize| (sorted.len() - 1) * at / QUANTILES;
        let quantiles: Vec<u64> = (0..=QUANTILES).map(|at| sorted[place(at)]).collect();
        let means = (0..QUANTILES).map(|at| {
            let end = if at + 1 == QUANTILES { sorted.len() } else { place(at + 1) };
            mean(&sorted[place(at)..end]).unwrap_or(quantiles[at])
        });
        let means = means.collect();
        let mut transitions = vec![vec![0; CLASSES]; CLASSES];
        let mut last = None;
        for (turn, gap) in fit.gaps.iter().enumerate() {
            let class = class(&quantiles, *gap, turn);
            if let Some(last) = last.replace(class) {
                transitions[last][class] += 1;
            }
        }
        let devices: Vec<_> = fit.devices.into_iter().map(|(device, fit)| fit.finish(device)).collect();
        Ok(Self {
            sector_bytes,
            requests: devices.iter().map(|device| device.requests).sum(),
            gap_quantiles_ns: quantiles,
            gap_means_ns: means,
            gap_transitions: transitions,
            devices,
        })
    }

    /// What is wrong with a model that was read from somewhere.
    ///
    /// # Errors
    /// The first thing that makes no sense.
    pub fn check(&self) -> Result<(), TraceError> {
        let problem = if self.gap_quantiles_ns.len() != QUANTILES + 1 || !self.gap_quantiles_ns.is_sorted() {
            "`gap_quantiles_ns` must be 65 ascending numbers"
        } else if self.gap_means_ns.len() != QUANTILES
            || self
                .gap_means_ns
                .iter()
                .zip(self.gap_quantiles_ns.windows(2))
                .any(|(mean, ends)| !(ends[0]..=ends[1]).contains(mean))
        {
            "`gap_means_ns` must be 64 numbers, each between two of `gap_quantiles_ns`"
        } else if self.gap_transitions.len() != CLASSES
            || self.gap_transitions.iter().any(|row| row.len() != CLASSES)
        {
            "`gap_transitions` must be 8 rows of 8 counts"
        } else if self.devices.is_empty() || self.devices.iter().all(|device| device.requests == 0) {
            "there must be a device with requests"
        } else if self
            .devices
            .iter()
            .any(|device| device.sizes.iter().flatten().any(|&(sectors, _)| sectors == 0))
        {
            "sizes must be above 0"
        } else if self.devices.iter().any(|device| {
            device.reads > device.requests
                || device.region_sectors == 0
                || device.grid_sectors == 0
                || device
                    .region_sectors
                    .checked_mul(REGIONS as u64 + 1)
                    .and_then(|n| n.checked_add(device.first_lba))
                    .is_none()
                || device.sequential.iter().any(|&count| count > device.requests)
        }) {
            "a device has more reads or sequential requests than requests, or addresses beyond 64 bits"
        } else {
            return Ok(());
        };
        Err(TraceError::Unusable {
            problem: format!("the workload model makes no sense: {problem}"),
            hint: None,
        })
    }

    /// An endless workload after this model, cut after `requests`.
    pub fn generate(&self, requests: u64, seed: u64) -> Generator<'_> {
        let devices =
            self.devices.iter().map(|_| DeviceState { last_op: Op::Read, ends: [None; 2] }).collect();
        Generator {
            model: self,
            random: Pcg64::seed_from_u64(seed),
            now: 0,
            class: 0,
            left: requests,
            begun: false,
            devices,
        }
    }
}

/// The eighth of the gaps that `gap` lies in. Of equal gaps that make up several 64ths each takes its `turn`, so that all
/// eighths hold as many.
fn class(quantiles: &[u64], gap: u64, turn: usize) -> usize {
    let (first, last) = (
        quantiles[1..].partition_point(|&edge| edge < gap),
        quantiles[..QUANTILES].partition_point(|&edge| edge <= gap).max(1) - 1,
    );
    let step = if first < last { first + turn % (last - first + 1) } else { first.min(QUANTILES - 1) };
    step * CLASSES / QUANTILES
}

struct DeviceState {
    last_op: Op,
    ends: [Option<u64>; 2],
}

/// Requests made after a model.
pub struct Generator<'a> {
    model: &'a WorkloadModel,
    random: Pcg64,
    now: u64,
    class: usize,
    left: u64,
    begun: bool,
    devices: Vec<DeviceState>,
}

impl Generator<'_> {
    /// A choice with these weights; 0 where all are 0.
    fn choose(random: &mut Pcg64, weights: impl Iterator<Item = u64> + Clone) -> usize {
        let whole: u64 = weights.clone().sum();
        if whole == 0 {
            return 0;
        }
        let mut left = random.random_range(0..whole);
        for (index, weight) in weights.enumerate() {
            if left < weight {
                return index;
            }
            left -= weight;
        }
        0
    }

    fn gap(&mut self) -> u64 {
        let quantiles = &self.model.gap_quantiles_ns;
        let row = &self.model.gap_transitions[self.class];
        self.class = if row.iter().all(|&count| count == 0) {
            self.random.random_range(0..CLASSES)
        } else {
            Self::choose(&mut self.random, row.iter().copied())
        };
        let per_class = QUANTILES / CLASSES;
        let step = self.class * per_class + self.random.random_range(0..per_class);
        let (low, high) = (quantiles[step], quantiles[step + 1]);
        let (width, above) = ((high - low) as f64, (self.model.gap_means_ns[step] - low) as f64);
        let drawn: f64 = self.random.random();
        if above == 0.0 {
            return low;
        }
        // A power of an even draw, whose mean is 1 ÷ (power + 1): the gaps keep their mean.
        low + (width * drawn.powf(width / above - 1.0)).round() as u64
    }

    fn next(&mut self) -> Request {
        if std::mem::replace(&mut self.begun, true) {
            self.now = self.now.saturating_add(self.gap());
        }
        let model = self.model;
        let which = Self::choose(&mut self.random, model.devices.iter().map(|device| device.requests));
        let (device, state) = (&model.devices[which], &mut self.devices[which]);
        let row = device.op_transitions[side(state.last_op)];
        let weights = if row == [0, 0] { [device.reads, device.requests - device.reads] } else { row };
        let op = if Self::choose(&mut self.random, weights.into_iter()) == 0 { Op::Read } else { Op::Write };
        let side = side(op);
        state.last_op = op;
        let sizes = &device.sizes[side];
        let sectors =
            sizes.get(Self::choose(&mut self.random, sizes.iter().map(|(_, n)| *n))).map_or(1, |s| s.0);
        let all = if op == Op::Read { device.reads } else { device.requests - device.reads };
        let goes_on = all > 0 && self.random.random_range(0..all) < device.sequential[side];
        let end = device.first_lba + device.region_sectors * REGIONS as u64;
        let lba = state.ends[side].filter(|at| goes_on && *at < end).unwrap_or_else(|| {
            let region = Self::choose(&mut self.random, device.regions.iter().copied()) as u64;
            let place = region * device.region_sectors + self.random.random_range(0..device.region_sectors);
            (device.first_lba + place) / device.grid_sectors * device.grid_sectors
        });
        state.ends[side] = Some(lba + u64::from(sectors));
        Request { device: device.device, ..Request::new(Nanos(self.now), op, Lba(lba), sectors) }
    }
}

impl RequestSource for Generator<'_> {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        while batch.len() < 4096 && self.left > 0 {
            self.left -= 1;
            batch.push(self.next());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_trace::{InMemory, Notes};

    struct Requests(InMemory, Vec<Request>);

    impl IoSource for Requests {
        fn next_ios(&mut self, batch: &mut Vec<Io>) -> Result<(), TraceError> {
            self.0.next_batch(&mut self.1)?;
            *batch = self.1.iter().copied().map(Io::new).collect();
            Ok(())
        }
        fn notes(&self) -> Notes {
            Notes::default()
        }
        fn sector_bytes(&self) -> u32 {
            512
        }
    }

    fn fit(requests: Vec<Request>) -> WorkloadModel {
        WorkloadModel::fit(&mut Requests(InMemory::new(requests), Vec::new())).unwrap()
    }

    fn made(model: &WorkloadModel, count: u64, seed: u64) -> Vec<Request> {
        let (mut source, mut all, mut batch) = (model.generate(count, seed), Vec::new(), Vec::new());
        loop {
            source.next_batch(&mut batch).unwrap();
            if batch.is_empty() {
                return all;
            }
            all.append(&mut batch);
        }
    }

    /// Bursts of twenty requests 1 ms apart every second; 70 % reads of 8 sectors in runs of four, writes of 64 anywhere.
    fn bursty(count: u64) -> Vec<Request> {
        let mut random = Pcg64::seed_from_u64(5);
        let mut next = 0;
        (0..count)
            .map(|number| {
                let arrival = Nanos(number / 20 * 1_000_000_000 + number % 20 * 1_000_000);
                if number % 10 < 7 {
                    if number % 4 == 0 {
                        next = random.random_range(0..100_000) * 8;
                    }
                    next += 8;
                    Request::new(arrival, Op::Read, Lba(next - 8), 8)
                } else {
                    Request::new(arrival, Op::Write, Lba(random.random_range(0..100_000) * 8), 64)
                }
            })
            .collect()
    }

    #[test]
    fn a_made_trace_is_like_the_one_it_was_fitted_to() {
        let original = bursty(20_000);
        let model = fit(original.clone());
        model.check().unwrap();
        let copy = made(&model, 40_000, 1);
        assert!(copy.is_sorted_by_key(|request| request.arrival));
        let rate = |requests: &[Request]| requests.len() as f64 / requests.last().unwrap().arrival.as_s();
        let share = |requests: &[Request], of: &dyn Fn(&Request) -> bool| {
            requests.iter().filter(|request| of(request)).count() as f64 / requests.len() as f64
        };
        assert!((rate(&copy) / rate(&original) - 1.0).abs() < 0.1, "{} {}", rate(&copy), rate(&original));
        let reads = |requests: &[Request]| share(requests, &|request| request.op == Op::Read);
        assert!((reads(&copy) - 0.7).abs() < 0.02, "{}", reads(&copy));
        assert!(copy.iter().all(|request| request.sectors == if request.op == Op::Read { 8 } else { 64 }));
        let again = fit(copy);
        let sequential =
            |model: &WorkloadModel| model.devices[0].sequential[0] as f64 / model.devices[0].reads as f64;
        assert!((sequential(&again) - sequential(&model)).abs() < 0.02);
        assert_eq!(again.devices[0].grid_sectors, 8);
        // Long gaps are as rare, and follow each other as little.
        let long = |model: &WorkloadModel| {
            let row = &model.gap_transitions[CLASSES - 1];
            row[CLASSES - 1] as f64 / row.iter().sum::<u64>().max(1) as f64
        };
        assert!((long(&again) - long(&model)).abs() < 0.1, "{} {}", long(&again), long(&model));
    }

    /// Two hundred requests 40 us apart, then nothing for five seconds: the long gaps are half a percent of all.
    #[test]
    fn rare_long_gaps_keep_the_rate() {
        let arrival = |k: u64| Nanos(k / 200 * 5_000_000_000 + k % 200 * 40_000);
        let original: Vec<Request> =
            (0..20_000).map(|k| Request::new(arrival(k), Op::Write, Lba(k % 1000 * 8), 8)).collect();
        let model = fit(original);
        model.check().unwrap();
        let copy = made(&model, 200_000, 1);
        let rate = copy.len() as f64 / copy.last().unwrap().arrival.as_s();
        assert!((rate / 40.0 - 1.0).abs() < 0.1, "{rate} a second instead of 40");
    }

    #[test]
    fn the_seed_alone_decides() {
        let model = fit(bursty(1000));
        assert_eq!(made(&model, 500, 3), made(&model, 500, 3));
        assert_ne!(made(&model, 500, 3), made(&model, 500, 4));
    }

    #[test]
    fn a_model_that_makes_no_sense_is_refused() {
        let mut model = fit(bursty(100));
        model.gap_quantiles_ns.pop();
        assert!(model.check().unwrap_err().to_string().contains("65 ascending"));
        let mut model = fit(bursty(100));
        model.gap_means_ns[3] = u64::MAX;
        assert!(model.check().unwrap_err().to_string().contains("each between two"));
        let empty = WorkloadModel::fit(&mut Requests(InMemory::new(Vec::new()), Vec::new()));
        assert!(empty.unwrap_err().to_string().contains("fewer than two"));
    }
}
