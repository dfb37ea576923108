//! Statistics of the completions, in constant memory (but for the exact quantiles, see [`Quantiles`]).

use headstack_drive::command::CacheResult;
use headstack_stats::{BatchMeans, Moments, Quantiles, Sums, Timeline};
use headstack_units::{Nanos, Op, RequestFlags};

use crate::record::{CompletionRow, DriverRow};
use crate::run::Warmup;
use crate::system::System;

/// One kind of time: how sure the mean is, and the quantiles. (Mean and spread are those of both directions together.)
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) batches: BatchMeans,
    pub(super) quantiles: Quantiles,
}

/// Sums over the requests of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct OpSums {
    pub(super) response: Moments,
    pub(super) service: Moments,
    pub(super) phases: Sums<7>,
    pub(super) sectors: u128,
}

/// What is kept of a run's completions.
#[derive(Clone, Debug)]
pub struct Recorder {
    warmup: Warmup,
    warmup_end: Nanos,
    pub(super) excluded: u64,
    /// Requests that ended without their data: answered in time, aborted.
    pub(super) without_data: [u64; 2],
    pub(super) response: Times,
    pub(super) service: Times,
    /// Reads, writes.
    pub(super) ops: [OpSums; 2],
    pub(super) busy: Sums<4>,
    /// Reads by result (hit, partial hit, miss), and writes reported early.
    pub(super) cache: [u64; 4],
    /// Responses of the driver's requests below a buffer cache: reads, writes.
    pub(super) driver: [Moments; 2],
    /// Completed requests per drive.
    pub(super) per_drive: Vec<u64>,
    pub(super) over_time: Timeline,
    /// Per device.
    pub(super) over_lba: Vec<Timeline>,
}

impl Recorder {
    /// For a run on `system`.
    pub fn new(system: &System, warmup: Warmup) -> Self {
        Self {
            warmup,
            warmup_end: match warmup {
                Warmup::Seconds(seconds) => Nanos::from_s(seconds),
                Warmup::None | Warmup::Requests(_) => Nanos::ZERO,
            },
            excluded: 0,
            without_data: [0; 2],
            response: Times::default(),
            service: Times::default(),
            ops: Default::default(),
            busy: Sums::default(),
            cache: [0; 4],
            driver: Default::default(),
            per_drive: vec![0; system.config().drives.len()],
            over_time: Timeline::new(),
            over_lba: vec![Timeline::new(); system.config().volumes.len()],
        }
    }

    /// Whether request `id`, which arrives at `arrival`, counts.
    #[inline]
    pub fn counts(&self, id: u64, arrival: Nanos) -> bool {
        match self.warmup {
            Warmup::None => true,
            Warmup::Seconds(_) => arrival >= self.warmup_end,
            Warmup::Requests(requests) => id >= requests,
        }
    }

    /// Takes completions, in order.
    pub fn record(&mut self, rows: &[CompletionRow]) {
        let counts = |row: &CompletionRow| {
            self.counts(row.id, row.arrival) && !row.flags.has_any(RequestFlags::WITHOUT_DATA)
        };
        // Mostly all of them count.
        if rows.iter().all(counts) {
            return self.record_counted(rows);
        }
        for row in rows {
            if !self.counts(row.id, row.arrival) {
                self.excluded += 1;
            } else if row.flags.has_any(RequestFlags::WITHOUT_DATA) {
                // One part with an error is an error of the whole.
                self.without_data[usize::from(row.flags.contains(RequestFlags::ABORTED))] += 1;
            } else {
                self.record_counted(std::slice::from_ref(row));
            }
        }
    }

    /// Takes completions that count.
    fn record_counted(&mut self, rows: &[CompletionRow]) {
        self.response.quantiles.record_all(rows.iter().map(CompletionRow::response));
        self.service.quantiles.record_all(rows.iter().map(CompletionRow::service));
        for row in rows {
            self.record_one(row);
        }
    }

    /// Takes one of the driver's requests below a buffer cache.
    pub(crate) fn record_driver(&mut self, row: &DriverRow) {
        self.driver[usize::from(row.row.op == Op::Write)].record(row.row.response());
    }

    #[inline]
    fn record_one(&mut self, row: &CompletionRow) {
        let (response, service) = (row.response(), row.service());
        self.response.batches.record(response);
        self.service.batches.record(service);
        let op = &mut self.ops[usize::from(row.op == Op::Write)];
        op.response.record(response);
        op.service.record(service);
        op.sectors += u128::from(row.sectors);
        op.phases.add(row.phases.as_array().map(|phase| phase.0));
        let busy = [row.busy.seek, row.busy.rotation, row.busy.transfer, row.busy.bus];
        self.busy.add(busy.map(|busy| busy.0));
        match (row.op, row.cache) {
            (Op::Read, CacheResult::Hit) => self.cache[0] += 1,
            (Op::Read, CacheResult::PartialHit) => self.cache[1] += 1,
            (Op::Read, CacheResult::Miss | CacheResult::ReportedEarly) => self.cache[2] += 1,
            (Op::Write, CacheResult::ReportedEarly) => self.cache[3] += 1,
            (Op::Write, _) => {}
        }
        if let Some(count) = self.per_drive.get_mut(row.drive as usize) {
            *count += 1;
        }
        self.over_time.record(row.arrival.0, response);
        if let Some(timeline) = self.over_lba.get_mut(row.device as usize) {
            timeline.record(row.lba.0, response);
        }
    }
}
