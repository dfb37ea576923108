//! A compact model fitted to a trace, and traces made from it.
//!
//! What it keeps, for each device but for the arrivals, which are those of all devices together:
//!
//! - **Pace**: requests in up to 65,536 stretches of the trace, eight or more in each on average: the rhythm of the day and
//!   bursts of any length above a stretch.
//! - **Arrivals**: within that pace, 65 quantiles of the gaps with the mean between each two; and how eighths of them
//!   follow each other (an 8 × 8 chain): long gaps after long ones and short after short.
//! - **Device and direction**: shares, and how reads and writes follow each other on a device.
//! - **Sizes**: the 32 commonest of each direction.
//! - **Runs**: the chance that a request goes on where one of the last 32 runs ended, and which of them.
//! - **Returns**: how many of the others begin where an earlier one began, after how many requests and how far from the
//!   last, by powers of two.
//! - **Jumps**: how far the rest begin from where the request before ended, up and down, by powers of two; how many begin
//!   in each 256th of the addresses used, and the grid they lie on.
//!
//! What it does not keep: dependence between size and place, strides, who waits for whom.

mod pace;
mod recurrence;

use std::collections::BTreeMap;

use headstack_trace::{Io, IoSource, Kind, Request, RequestSource, TraceError};
use headstack_units::{Lba, Nanos, Op};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::order::Ordered;
use pace::{MEAN_GAP, Pace};
pub(crate) use recurrence::{Place, Recurrence};

const CLASSES: usize = 8;
const QUANTILES: usize = 64;
const REGIONS: usize = 256;
const SIZES: usize = 32;
/// A model counts fewer than so many of anything.
const MOST: u64 = 1 << 40;
/// Arrivals to which pace and gaps are fitted, the first of a trace.
const ARRIVALS: usize = 10_000_000;

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
    /// Quantiles of the time between arrivals at 0, 1/64, …, 1, in millionths of the mean at that time.
    pub gap_quantiles: Vec<u64>,
    /// Mean of the gaps from each of these to the next, likewise.
    pub gap_means: Vec<u64>,
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
    /// Reads and writes that begin where one of the last 32 runs ended.
    pub sequential: [u64; 2],
    /// The last run, the one before, …: how often it is the one that goes on.
    pub run_depths: Vec<u64>,
    /// The lowest sector a request begins at.
    pub first_lba: u64,
    /// Sectors to a region.
    pub region_sectors: u64,
    /// Requests that are not sequential, by region.
    pub regions: Vec<u64>,
    /// Places are multiples of so many sectors.
    pub grid_sectors: u64,
    /// Requests that are not sequential and begin where none began before.
    pub fresh: u64,
    /// Those that begin where an earlier one began, 2^k to 2^(k + 1) requests before.
    pub again: Vec<u64>,
    /// Of these, those that go back by as many requests as the one before them: what is repeated in its order.
    pub repeated: u64,
    /// Those that begin 2^k to 2^(k + 1) sectors from where the request before ended, below or above.
    pub again_jumps: Vec<u64>,
    /// Fresh ones that begin 2^k to 2^(k + 1) sectors below and above where the request before ended.
    pub jumps: [Vec<u64>; 2],
}

#[derive(Default)]
struct Fit {
    arrivals: Vec<u64>,
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
    runs: Runs,
    run_depths: Vec<u64>,
    /// Counts by place in bins that widen, and the grid.
    places: headstack_stats::Timeline,
    first: Option<u64>,
    last: u64,
    grid: u64,
    recurrence: Recurrence,
    last_end: Option<u64>,
    fresh: u64,
    again: Powers,
    repeated: u64,
    last_again: Option<u64>,
    again_jumps: Powers,
    jumps: [Powers; 2],
}

/// Where the last runs of requests ended, the last first.
#[derive(Clone, Debug, Default)]
struct Runs(Vec<u64>);

impl Runs {
    /// How many are followed at a time.
    const MOST: usize = 32;

    /// Which of them a request that begins at `first` goes on with.
    fn depth(&self, first: u64) -> Option<usize> {
        self.0.iter().position(|&end| end == first)
    }

    /// A request went on with that one, or began one.
    fn go_on(&mut self, depth: Option<usize>, end: u64) {
        if let Some(depth) = depth {
            self.0.remove(depth);
        }
        self.0.insert(0, end);
        self.0.truncate(Self::MOST);
    }
}

/// Counts by powers of two.
#[derive(Clone, Debug, Default)]
struct Powers(Vec<u64>);

impl Powers {
    fn record(&mut self, value: u64) {
        let power = value.max(1).ilog2() as usize;
        if self.0.len() <= power {
            self.0.resize(power + 1, 0);
        }
        self.0[power] += 1;
    }
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
        let place = self.recurrence.push(first);
        // Among many runs one ends there by chance; a return is the better reason.
        let returns = matches!(place, Place::Again(_));
        let depth = self.runs.depth(first).filter(|&depth| depth == 0 || !returns);
        self.runs.go_on(depth, first.saturating_add(u64::from(request.sectors)));
        self.first = Some(self.first.map_or(first, |lowest| lowest.min(first)));
        self.last = self.last.max(first);
        if let Some(depth) = depth {
            self.sequential[side] += 1;
            self.run_depths.resize(Runs::MOST, 0);
            self.run_depths[depth] += 1;
            self.last_again = None;
        } else {
            self.places.record(first, Nanos::ZERO);
            self.grid = gcd(self.grid, first);
            self.place(place, first);
        }
        self.last_end = Some(first.saturating_add(u64::from(request.sectors)));
    }

    /// Of a request that is not sequential.
    fn place(&mut self, place: Place, first: u64) {
        let last_again = self.last_again.take();
        match (place, self.last_end) {
            (Place::Again(after), end) => {
                self.again.record(after);
                if let Some(end) = end {
                    self.again_jumps.record(first.abs_diff(end));
                }
                self.repeated += u64::from(last_again == Some(after));
                self.last_again = Some(after);
            }
            (Place::Fresh, end) => {
                self.fresh += 1;
                if let Some(end) = end {
                    self.jumps[usize::from(first >= end)].record(first.abs_diff(end));
                }
            }
            (Place::Unknown, _) => {}
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
            run_depths: self.run_depths,
            first_lba: first,
            region_sectors,
            regions,
            grid_sectors: self.grid.max(1),
            fresh: self.fresh,
            again: self.again.0,
            repeated: self.repeated,
            again_jumps: self.again_jumps.0,
            jumps: self.jumps.map(|powers| powers.0),
        }
    }
}

/// The times between arrivals as a clock of that pace counts them.
fn steady_gaps(pace: &Pace, arrivals: &[u64]) -> Vec<u64> {
    let (sums, first) = (pace.sums(), arrivals[0]);
    let steady = arrivals.iter().map(|at| pace.steady(&sums, at - first));
    let mut last = 0.0;
    let gaps = steady.map(|at| (at - std::mem::replace(&mut last, at)).round() as u64);
    gaps.skip(1).collect()
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
                if fit.arrivals.len() < ARRIVALS {
                    fit.arrivals.push(io.request.arrival.0);
                }
                fit.devices.entry(io.request.device).or_default().push(&io.request);
            }
        }
        if fit.arrivals.len() < 2 {
            return Err(TraceError::Unusable {
                problem: "a workload cannot be fitted to fewer than two reads or writes".into(),
                hint: None,
            });
        }
        let pace = Pace::of(&fit.arrivals);
        let gaps = steady_gaps(&pace, &fit.arrivals);
        let mut sorted = gaps.clone();
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
        for (turn, gap) in gaps.iter().enumerate() {
            let class = class(&quantiles, *gap, turn);
            if let Some(last) = last.replace(class) {
                transitions[last][class] += 1;
            }
        }
        let devices: Vec<_> = fit.devices.into_iter().map(|(device, fit)| fit.finish(device)).collect();
        Ok(Self {
            sector_bytes,
            requests: devices.iter().map(|device| device.requests).sum(),
            pace,
            gap_quantiles: quantiles,
            gap_means: means,
            gap_transitions: transitions,
            devices,
        })
    }

    /// What is wrong with a model that was read from somewhere.
    ///
    /// # Errors
    /// The first thing that makes no sense.
    pub fn check(&self) -> Result<(), TraceError> {
        let problem = if self.gap_quantiles.len() != QUANTILES + 1 || !self.gap_quantiles.is_sorted() {
            "`gap_quantiles` must be 65 ascending numbers"
        } else if self.gap_means.len() != QUANTILES
            || self
                .gap_means
                .iter()
                .zip(self.gap_quantiles.windows(2))
                .any(|(mean, ends)| !(ends[0]..=ends[1]).contains(mean))
        {
            "`gap_means` must be 64 numbers, each between two of `gap_quantiles`"
        } else if self.gap_transitions.len() != CLASSES
            || self.gap_transitions.iter().any(|row| row.len() != CLASSES)
        {
            "`gap_transitions` must be 8 rows of 8 counts"
        } else if !self.pace.makes_sense() {
            "`pace` must have stretches of some length, with requests in them"
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
                || device
                    .jumps
                    .iter()
                    .chain([&device.again, &device.again_jumps])
                    .any(|powers| powers.len() > 64)
                || device
                    .jumps
                    .iter()
                    .chain([&device.again, &device.again_jumps, &device.regions, &device.run_depths])
                    .flatten()
                    .chain([&device.fresh, &device.requests])
                    .any(|&count| count >= MOST)
        }) {
            "a device has more reads or sequential requests than requests, or addresses or distances beyond 64 bits"
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
        let devices = self.devices.iter().map(|_| DeviceState::default()).collect();
        Generator {
            model: self,
            sums: self.pace.sums(),
            random: Pcg64::seed_from_u64(seed),
            steady: 0.0,
            number: 0,
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

/// Starts that are remembered to go back to.
const HISTORY: usize = 1 << 20;

#[derive(Default)]
struct DeviceState {
    wrote: bool,
    runs: Runs,
    last_end: u64,
    /// The last starts, of which the one numbered k stands at k modulo the most.
    starts: Vec<u64>,
    number: usize,
    /// By how many requests the last one went back.
    last_again: Option<u64>,
}

impl DeviceState {
    fn begin(&mut self, start: u64, end: u64, depth: Option<usize>) {
        self.runs.go_on(depth, end);
        self.last_end = end;
        if self.starts.len() < HISTORY {
            self.starts.push(start);
        } else {
            self.starts[self.number % HISTORY] = start;
        }
        self.number += 1;
    }

    /// The start so many requests ago.
    fn before(&self, requests: u64) -> Option<u64> {
        let at = self.number.checked_sub(usize::try_from(requests).ok()?)?;
        (requests > 0 && requests as usize <= self.starts.len()).then(|| self.starts[at % HISTORY])
    }
}

/// Requests made after a model.
pub struct Generator<'a> {
    model: &'a WorkloadModel,
    /// Of its pace.
    sums: Vec<u64>,
    random: Pcg64,
    /// The clock of the pace.
    steady: f64,
    /// Requests made.
    number: u64,
    class: usize,
    left: u64,
    begun: bool,
    devices: Vec<DeviceState>,
}

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

/// A number of so many bits, counts of which are given.
fn of_powers(random: &mut Pcg64, counts: &[u64]) -> u64 {
    let low = 1_u64 << choose(random, counts.iter().copied());
    low + random.random_range(0..low)
}

/// Where a request that is not sequential begins: where an earlier one did, or as far from the last as others.
fn place(device: &DeviceModel, state: &mut DeviceState, random: &mut Pcg64) -> u64 {
    let again: u64 = device.again.iter().sum();
    let last_again = state.last_again.take();
    if random.random_range(0..(again + device.fresh).max(1)) < again {
        let repeats = random.random_range(0..again) < device.repeated;
        let repeated = last_again.filter(|_| repeats).and_then(|back| Some((back, state.before(back)?)));
        if let Some((back, start)) = repeated.or_else(|| earlier(device, state, random)) {
            state.last_again = Some(back);
            return start;
        }
    }
    let whole = device.jumps.each_ref().map(|powers| powers.iter().sum::<u64>());
    if state.number > 0 && whole != [0, 0] {
        for _ in 0..TRIES {
            let up = choose(random, whole.into_iter());
            let power = choose(random, device.jumps[up].iter().copied());
            if let Some(place) = landing(device, state.last_end, up == 1, power, random) {
                return place;
            }
        }
    }
    let region = choose(random, device.regions.iter().copied()) as u64;
    let place = region * device.region_sectors + random.random_range(0..device.region_sectors);
    (device.first_lba + place) / device.grid_sectors * device.grid_sectors
}

/// Of some earlier starts, as long ago as others that are gone back to, the one about as far away as these are; and how many
/// requests ago it was.
fn earlier(device: &DeviceModel, state: &DeviceState, random: &mut Pcg64) -> Option<(u64, u64)> {
    let power = |distance: u64| distance.max(1).ilog2();
    let wanted = choose(random, device.again_jumps.iter().copied()) as u32;
    let mut best: Option<(u32, u64, u64)> = None;
    for _ in 0..TRIES {
        let back = of_powers(random, &device.again);
        let Some(start) = state.before(back) else { continue };
        let off = power(start.abs_diff(state.last_end)).abs_diff(wanted);
        if best.is_none_or(|(least, ..)| off < least) {
            best = Some((off, back, start));
        }
    }
    best.map(|(_, back, start)| (back, start))
}

/// Jumps that are tried before a place is drawn from anywhere.
const TRIES: usize = 16;

/// A place 2^power to 2^(power + 1) sectors above or below `end`, in each region as often as requests begin there; `None` if
/// none do.
fn landing(device: &DeviceModel, end: u64, up: bool, power: usize, random: &mut Pcg64) -> Option<u64> {
    let (near, far) = (1_u128 << power, 2_u128 << power);
    let end = i128::from(end);
    let (from, to) = if up {
        (end + near as i128, end + far as i128)
    } else {
        (end - far as i128 + 1, end - near as i128 + 1)
    };
    let (first, width) = (i128::from(device.first_lba), i128::from(device.region_sectors));
    let last = first + width * device.regions.len() as i128;
    let (from, to) = (from.max(first), to.min(last));
    if from >= to {
        return None;
    }
    let (low, high) = ((from - first) / width, (to - 1 - first) / width);
    let part = |region: i128| {
        let start = first + region * width;
        (from.max(start), to.min(start + width))
    };
    // A region that is reached in part counts for that part; counts are small, so in 2^16ths.
    let weight = |region: i128| {
        let (start, end) = part(region);
        let share = ((end - start) << 16) / width;
        device.regions[region as usize].saturating_mul(share.max(1) as u64)
    };
    if (low..=high).all(|region| weight(region) == 0) {
        return None;
    }
    let (start, end) = part(low + choose(random, (low..=high).map(weight)) as i128);
    let place = random.random_range(start..end) as u64;
    Some((place / device.grid_sectors * device.grid_sectors).max(device.first_lba))
}

/// Requests over which the clock of the pace is brought back to their number.
const HORIZON: f64 = 32.0;

impl Generator<'_> {
    fn gap(&mut self) -> u64 {
        let quantiles = &self.model.gap_quantiles;
        let row = &self.model.gap_transitions[self.class];
        self.class = if row.iter().all(|&count| count == 0) {
            self.random.random_range(0..CLASSES)
        } else {
            choose(&mut self.random, row.iter().copied())
        };
        let per_class = QUANTILES / CLASSES;
        let step = self.class * per_class + self.random.random_range(0..per_class);
        let (low, high) = (quantiles[step], quantiles[step + 1]);
        let (width, above) = ((high - low) as f64, (self.model.gap_means[step] - low) as f64);
        let drawn: f64 = self.random.random();
        if above == 0.0 {
            return low;
        }
        // A power of an even draw, whose mean is 1 ÷ (power + 1): the gaps keep their mean.
        low + (width * drawn.powf(width / above - 1.0)).round() as u64
    }

    fn next(&mut self) -> Request {
        if std::mem::replace(&mut self.begun, true) {
            // Rare long gaps would leave the pace behind.
            let behind = self.number as f64 - self.steady / MEAN_GAP;
            self.steady += self.gap() as f64 * (behind / HORIZON).clamp(-2.0, 2.0).exp();
            self.number += 1;
        }
        let model = self.model;
        let which = choose(&mut self.random, model.devices.iter().map(|device| device.requests));
        let (device, state) = (&model.devices[which], &mut self.devices[which]);
        let row = device.op_transitions[usize::from(state.wrote)];
        let weights = if row == [0, 0] { [device.reads, device.requests - device.reads] } else { row };
        let op = if choose(&mut self.random, weights.into_iter()) == 0 { Op::Read } else { Op::Write };
        let side = side(op);
        state.wrote = op == Op::Write;
        let sizes = &device.sizes[side];
        let sectors = sizes.get(choose(&mut self.random, sizes.iter().map(|(_, n)| *n))).map_or(1, |s| s.0);
        let all = if op == Op::Read { device.reads } else { device.requests - device.reads };
        let goes_on = all > 0 && self.random.random_range(0..all) < device.sequential[side];
        let end = device.first_lba + device.region_sectors * REGIONS as u64;
        let depth = goes_on.then(|| choose(&mut self.random, device.run_depths.iter().copied()));
        let on = depth.and_then(|depth| Some((depth, *state.runs.0.get(depth)?))).filter(|(_, at)| *at < end);
        let (depth, lba) = match on {
            Some((depth, lba)) => {
                state.last_again = None;
                (Some(depth), lba)
            }
            None => (None, place(device, state, &mut self.random)),
        };
        state.begin(lba, lba + u64::from(sectors), depth);
        let now = Nanos(model.pace.instant(&self.sums, self.steady));
        Request { device: device.device, ..Request::new(now, op, Lba(lba), sectors) }
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
        assert!((long(&again) - long(&model)).abs() < 0.15, "{} {}", long(&again), long(&model));
    }

    /// Sessions of seconds to minutes, busy by day and quiet by night; each works around a place of its own, and one in four
    /// requests goes back to a place of the last thousand.
    fn sessions(count: usize) -> Vec<Request> {
        let mut random = Pcg64::seed_from_u64(9);
        let (mut now, mut centre, mut left, mut all) = (0_u64, 0_u64, 0_u32, Vec::<Request>::new());
        while all.len() < count {
            if left == 0 {
                let day = 1.2 + (now as f64 / 3.6e12 * std::f64::consts::TAU).sin();
                let pause = -random.random::<f64>().ln() * 20e9 / day;
                now += pause as u64;
                (centre, left) = (random.random_range(0..10_000_000), random.random_range(20..2000));
            }
            left -= 1;
            now += (-random.random::<f64>().ln() * 20e6) as u64;
            let again = random.random_range(0..4) == 0 && all.len() > 1000;
            let near = centre + random.random_range(0..2000);
            let lba = if again {
                all[all.len() - random.random_range(1..1000)].lba.0
            } else {
                near.max(all.last().map_or(0, |last| last.lba.0 % 64)) * 8
            };
            let op = if random.random_range(0..3) == 0 { Op::Write } else { Op::Read };
            all.push(Request::new(Nanos(now), op, Lba(lba), 8));
        }
        all
    }

    #[test]
    fn burstiness_memory_seeks_and_returns_are_kept() {
        use crate::likeness::likeness;
        let of = |requests| likeness(&mut Requests(InMemory::new(requests), Vec::new())).unwrap();
        let original = sessions(100_000);
        let copy = made(&fit(original.clone()), 100_000, 3);
        let (original, copy) = (of(original), of(copy));
        let both = format!("{original:#?} {copy:#?}");
        for (first, second) in original.dispersion.iter().zip(&copy.dispersion) {
            let ratio = second.index / first.index;
            assert!((1.0 / 1.5..=1.5).contains(&ratio), "{} s: {ratio}\n{both}", first.scale_s);
        }
        let near = |first: f64, second: f64, by: f64| (second / first - 1.0).abs() <= by;
        assert!((original.hurst.unwrap() - copy.hurst.unwrap()).abs() <= 0.05, "{both}");
        assert!(near(original.again_fraction, copy.again_fraction, 0.1), "{both}");
        assert!(near(original.requests_per_s, copy.requests_per_s, 0.02), "{both}");
        assert!(near(original.seek_median_bytes.unwrap(), copy.seek_median_bytes.unwrap(), 0.6), "{both}");
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
        model.gap_quantiles.pop();
        assert!(model.check().unwrap_err().to_string().contains("65 ascending"));
        let mut model = fit(bursty(100));
        model.gap_means[3] = u64::MAX;
        assert!(model.check().unwrap_err().to_string().contains("each between two"));
        let empty = WorkloadModel::fit(&mut Requests(InMemory::new(Vec::new()), Vec::new()));
        assert!(empty.unwrap_err().to_string().contains("fewer than two"));
    }
}
