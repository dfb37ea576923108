//! Statistics of the completions, in constant memory (but for the exact quantiles, see [`Quantiles`]).

use headstack_stats::{BatchMeans, Moments, Quantiles};
use headstack_units::{Nanos, Op, RequestFlags};

use crate::record::{CompletionRow, DriverRow};
use crate::run::Warmup;
use crate::summary::Statistics;
use crate::summary::statistics::Noted;
use crate::system::System;

/// One kind of time: how sure the mean is, and the quantiles. (Mean and spread are those of both directions together.)
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) batches: BatchMeans,
    pub(super) quantiles: Quantiles,
}

impl Times {
    /// Takes the values of the requests `ids`, which lie where all that `moments` hold do. They may be of one request after the other.
    fn take(&mut self, ids: &[u64], is_run: bool, values: &[Nanos], moments: &Moments) {
        if let Some(extremes) = moments.min().zip(moments.max()) {
            match ids {
                &[first, ..] if is_run => self.batches.record_run(first, values),
                _ => self.batches.record_all(ids, values),
            }
            self.quantiles.record_all(values, extremes);
        }
    }
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
    pub(super) statistics: Statistics,
    /// Responses of the driver's requests below a buffer cache: reads, writes.
    pub(super) driver: [Moments; 2],
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
            statistics: Statistics::new(system),
            driver: Default::default(),
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
            for row in rows {
                self.statistics.record(row);
            }
        } else {
            for row in rows {
                self.record_one(row);
            }
        }
        self.settle();
    }

    /// Takes one completion; [`Recorder::settle`] is to be called now and then.
    #[inline]
    pub(crate) fn record_one(&mut self, row: &CompletionRow) {
        if !self.counts(row.id, row.arrival) {
            self.excluded += 1;
        } else if row.flags.has_any(RequestFlags::WITHOUT_DATA) {
            // One part with an error is an error of the whole.
            self.without_data[usize::from(row.flags.contains(RequestFlags::ABORTED))] += 1;
        } else {
            self.statistics.record(row);
        }
    }

    /// Takes what completions that follow come to, all of which count.
    pub(crate) fn add(&mut self, later: &Statistics) {
        self.settle();
        self.statistics.add(later);
        self.take(&later.noted);
    }

    /// Puts the times that were noted where they are kept.
    pub(crate) fn settle(&mut self) {
        let mut noted = std::mem::take(&mut self.statistics.noted);
        self.take(&noted);
        noted.clear();
        // Its room serves again.
        self.statistics.noted = noted;
    }

    fn take(&mut self, noted: &Noted) {
        let [response, service] = self.statistics.moments();
        let first = noted.ids.first().copied().unwrap_or_default();
        // Without a branch: it takes a hundredth of the time.
        let differences = (first..).zip(&noted.ids).fold(0, |all, (in_turn, id)| all | in_turn ^ id);
        let is_run = differences == 0;
        self.response.take(&noted.ids, is_run, &noted.responses, &response);
        self.service.take(&noted.ids, is_run, &noted.services, &service);
    }

    /// Takes one of the driver's requests below a buffer cache.
    pub(crate) fn record_driver(&mut self, row: &DriverRow) {
        self.driver[usize::from(row.row.op == Op::Write)].record(row.row.response());
    }
}
