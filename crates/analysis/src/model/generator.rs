//! Traces made from a model.

use std::collections::VecDeque;

use headstack_trace::{Request, RequestFlags, RequestSource, TraceError};
use headstack_units::{Lba, Nanos};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::WorkloadModel;
use super::excerpts::Sample;
use super::places::Places;
use super::tour::{Gap, Tour};

/// Requests made after a model.
pub struct Generator<'a> {
    model: &'a WorkloadModel,
    tour: Tour<'a>,
    random: Pcg64,
    /// Requests made, and when the last of them arrives.
    number: u64,
    now: u64,
    /// Requests of the original that were passed over, and for how long they came.
    skipped: u64,
    skipped_ns: u64,
    /// Requests of a block that another stands for, and when they arrive.
    ahead: VecDeque<(&'a Sample, u64)>,
    left: u64,
    places: Vec<Places>,
}

impl<'a> Generator<'a> {
    pub(super) fn new(model: &'a WorkloadModel, requests: u64, seed: u64) -> Self {
        Self {
            model,
            tour: Tour::new(model, requests),
            random: Pcg64::seed_from_u64(seed),
            number: 0,
            now: 0,
            skipped: 0,
            skipped_ns: 0,
            ahead: VecDeque::new(),
            left: requests,
            places: model.devices.iter().map(|_| Places::default()).collect(),
        }
    }

    /// By up to a quarter of its gap nearer to the pace: the short gaps, in which requests wait for each other, stay much as they
    /// are. Gaps above the mean keep to the pace.
    fn arrival(&self, gap_ns: u64, how: Gap) -> u64 {
        let pace = self.model.pace.instant(self.number + self.skipped).saturating_sub(self.skipped_ns);
        let mean = self.model.pace.mean_gap_ns();
        let at = self.now.saturating_add(gap_ns);
        let (later, earlier) = match how {
            Gap::Kept => return at,
            Gap::Paced | Gap::Stretched => (u64::MAX, gap_ns),
            Gap::Nearer if gap_ns > mean => (u64::MAX, gap_ns - mean / 4 * 3),
            Gap::Nearer => (gap_ns / 4, gap_ns / 4),
        };
        if at > pace { at - (at - pace).min(earlier) } else { at + (pace - at).min(later) }
    }

    /// What the tour passes over takes no time.
    fn skip(&mut self) {
        let skipped = self.tour.skipped();
        if skipped != self.skipped {
            let instant = |skipped| self.model.pace.instant(self.number + skipped);
            self.skipped_ns += instant(skipped) - instant(self.skipped);
            self.skipped = skipped;
        }
    }

    /// The next request to copy, and when it arrives.
    fn copied(&mut self) -> (&'a Sample, u64) {
        if let Some(next) = self.ahead.pop_front() {
            return next;
        }
        let (sample, gap) = self.tour.next(&mut self.random);
        self.skip();
        if gap != Gap::Stretched {
            return (sample, self.arrival(sample.gap_ns, gap));
        }
        let mut samples = vec![sample];
        while self.tour.left() > 0 {
            samples.push(self.tour.next(&mut self.random).0);
        }
        let mut arrivals = self.stretched(&samples).into_iter();
        let first = arrivals.next().unwrap_or(self.now);
        self.ahead.extend(samples.into_iter().skip(1).zip(arrivals));
        (sample, first)
    }

    /// When the requests of a whole block arrive that another stands for: from instant to instant of the pace at once, however long
    /// the other takes; between two as its gaps are.
    fn stretched(&self, samples: &[&Sample]) -> Vec<u64> {
        let pace = &self.model.pace;
        let instant = |into: usize| {
            pace.instant(self.number + self.skipped + into as u64)
                .saturating_sub(self.skipped_ns)
                .max(self.now)
        };
        let mut all = Vec::with_capacity(samples.len());
        let gap = |at: usize| u128::from(samples[at % samples.len()].gap_ns);
        for begin in (0..samples.len()).step_by(pace.every as usize) {
            let end = (begin + pace.every as usize).min(samples.len());
            let (from, to) = (instant(begin), instant(end));
            let whole = (begin + 1..=end).map(gap).sum::<u128>().max(1);
            let mut passed = 0;
            for at in begin..end {
                passed += if at == begin { 0 } else { gap(at) };
                all.push(from + (u128::from(to - from) * passed / whole) as u64);
            }
        }
        all
    }

    fn next(&mut self) -> Request {
        let (sample, at) = self.copied();
        self.now = at;
        self.number += 1;
        let which = sample.device as usize;
        let device = &self.model.devices[which];
        let shift = self.tour.shift(sample);
        let lba = self.places[which].begin(device, sample, shift, &mut self.random);
        Request {
            device: device.device,
            flags: RequestFlags(sample.flags),
            ..Request::new(Nanos(self.now), sample.op, Lba(lba), sample.sectors)
        }
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
