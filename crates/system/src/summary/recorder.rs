//! Statistics of the completions, in constant memory (but for the exact quantiles, see [`Quantiles`]).

use headstack_stats::{BatchMeans, Marked, Moments, Quantiles};
use headstack_units::{Nanos, Op, RequestFlags};

use crate::record::{CompletionRow, DriverRow};
use crate::run::Warmup;
use crate::summary::Statistics;
use crate::summary::statistics::Noted;
use crate::system::System;

/// Responses: how sure the mean is, and the quantiles of reads, of writes, and of all. (Means and spreads are in the statistics.)
#[derive(Clone, Debug, Default)]
pub(super) struct Responses {
    pub(super) batches: BatchMeans,
    pub(super) times: Marked,
}

/// Service times: how sure the mean is, and the quantiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Services {
    pub(super) batches: BatchMeans,
    pub(super) quantiles: Quantiles,
}

/// Which requests the noted times are of.
struct Places<'a> {
    /// Twice the number of each, and 1 more for a write.
    keys: &'a [u64],
    /// They may be of one request after the other.
    is_run: bool,
}

impl<'a> Places<'a> {
    fn of(keys: &'a [u64]) -> Self {
        let first = keys.first().map_or(0, |key| key / 2);
        // Without a branch: it takes a hundredth of the time.
        let differences = (first..).zip(keys).fold(0, |all, (in_turn, key)| all | in_turn ^ (key / 2));
        Self { keys, is_run: differences == 0 }
    }

    fn book(&self, batches: &mut BatchMeans, values: &[Nanos]) {
        match self.keys {
            &[first, ..] if self.is_run => batches.record_run(first / 2, values),
            keys => {
                let places: Vec<u64> = keys.iter().map(|key| key / 2).collect();
                batches.record_all(&places, values);
            }
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
    pub(super) response: Responses,
    pub(super) service: Services,
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
            response: Responses::default(),
            service: Services::default(),
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
        let Noted { keys, responses, services } = noted;
        let [response, service] = self.statistics.moments();
        let places = Places::of(keys);
        if let Some(most) = response.max() {
            places.book(&mut self.response.batches, responses);
            self.response.times.record_all(keys, responses, most);
        }
        if let Some(extremes) = service.min().zip(service.max()) {
            places.book(&mut self.service.batches, services);
            self.service.quantiles.record_all(services, extremes);
        }
    }

    /// Takes one of the driver's requests below a buffer cache.
    pub(crate) fn record_driver(&mut self, row: &DriverRow) {
        self.driver[usize::from(row.row.op == Op::Write)].record(row.row.response());
    }
}
