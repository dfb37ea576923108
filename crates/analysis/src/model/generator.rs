//! Traces made from a model.

use headstack_trace::{Request, RequestFlags, RequestSource, TraceError};
use headstack_units::{Lba, Nanos};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::WorkloadModel;
use super::excerpts::Sample;
use super::places::Places;

/// The most requests that are taken from one place of an excerpt.
const LONGEST: u64 = 512;
/// An excerpt is taken from at most so many kept requests before or after where the made trace stands.
const AROUND: usize = 16;

/// Requests made after a model.
pub struct Generator<'a> {
    model: &'a WorkloadModel,
    /// Kept requests before each excerpt, and all.
    kept: Vec<usize>,
    random: Pcg64,
    /// Requests made, and when the last of them arrives.
    number: u64,
    now: u64,
    left: u64,
    places: Vec<Places>,
    /// What is left of the excerpt being copied, and whether the last request was its first.
    copied: std::slice::Iter<'a, Sample>,
    begins: bool,
}

impl<'a> Generator<'a> {
    pub(super) fn new(model: &'a WorkloadModel, requests: u64, seed: u64) -> Self {
        let mut kept = vec![0];
        for excerpt in &model.excerpts {
            kept.push(kept[kept.len() - 1] + excerpt.samples.len());
        }
        Self {
            model,
            kept,
            random: Pcg64::seed_from_u64(seed),
            number: 0,
            now: 0,
            left: requests,
            places: model.devices.iter().map(|_| Places::default()).collect(),
            copied: [].iter(),
            begins: false,
        }
    }

    /// How many kept requests stand before where the made trace stands in the original.
    fn standing(&self) -> usize {
        let number = self.number % self.model.pace.requests;
        let excerpt = self.model.excerpts.partition_point(|excerpt| excerpt.first <= number).max(1) - 1;
        let within = number.saturating_sub(self.model.excerpts[excerpt].first) as usize;
        self.kept[excerpt] + within.min(self.model.excerpts[excerpt].samples.len())
    }

    /// The next request of an excerpt; of another one where this has been copied.
    fn sample(&mut self) -> &'a Sample {
        self.begins = false;
        loop {
            if let Some(sample) = self.copied.next() {
                return sample;
            }
            let standing = self.standing();
            let all = self.kept[self.kept.len() - 1];
            let from = standing.saturating_sub(AROUND).min(all - 1);
            let at = self.random.random_range(from..(standing + AROUND).clamp(from + 1, all));
            let excerpt = self.kept.partition_point(|&before| before <= at) - 1;
            let samples = &self.model.excerpts[excerpt].samples[at - self.kept[excerpt]..];
            let length = self.random.random_range(1..=LONGEST) as usize;
            self.copied = samples[..length.min(samples.len())].iter();
            self.begins = true;
        }
    }

    /// Its gap after the one before, and by up to a quarter of it nearer to the pace: the long gaps keep to it, and the short
    /// ones, in which requests wait for each other, stay as they are. Where an excerpt begins, the pace alone counts.
    fn arrival(&self, sample: &Sample) -> u64 {
        let pace = self.model.pace.instant(self.number);
        let at = self.now.saturating_add(sample.gap_ns);
        let (later, earlier) = match (self.number, self.begins) {
            (0, _) => return pace,
            (_, true) => (u64::MAX, sample.gap_ns),
            (_, false) => (sample.gap_ns / 4, sample.gap_ns / 4),
        };
        if at > pace { at - (at - pace).min(earlier) } else { at + (pace - at).min(later) }
    }

    fn next(&mut self) -> Request {
        let sample = self.sample();
        self.now = self.arrival(sample);
        self.number += 1;
        let which = sample.device as usize;
        let device = &self.model.devices[which];
        let lba = self.places[which].begin(device, sample, &mut self.random);
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
