//! A device that does not keep up: requests wait without a break, and the longer the queue, the longer they take.
//!
//! A *stretch* lasts from a request that finds nothing outstanding until nothing is outstanding again. Long ones, of [`LONG`] requests or
//! more, must make up most of the trace, or something must be outstanding for nearly all of it. That alone says little: what serves many at a time always has some in hand, and programs that
//! ask for each when they have the one before keep as many outstanding. So in them the requests that found more outstanding than half did
//! must have taken longer than the others, by half or more. And no one of them may hold up all others for a good part of that time: that
//! is a slow request.

use headstack_units::Nanos;

use crate::peers::count_level;

/// Requests in a long stretch.
const LONG: u64 = 200;

/// The share of the time that long stretches must last.
const MOST_OF_TIME: f64 = 0.75;

/// Or something is outstanding for this share of it.
const NEARLY_ALL: f64 = 0.95;

/// So many must have been outstanding at a time.
const CROWD: u64 = 16;

/// Those in the longer half of the queue take so many times as long as the others.
const TIMES: f64 = 1.5;

/// The longest time without a completion, as a share of that of the long stretches.
const ONE_REQUEST: f64 = 0.05;

/// Responses grow if those of the last quarter of the requests take so many times as long as those of the first.
const GROWTH: f64 = 2.0;

/// Parts of the trace of equally many requests, of which two become one when there are so many.
const PARTS: usize = 32;

/// Requests, and how long they take together, in ms.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    ms: f64,
}

impl Sum {
    fn with(self, other: Self) -> Self {
        Self { count: self.count + other.count, ms: self.ms + other.ms }
    }

    fn mean(self) -> f64 {
        self.ms / self.count.max(1) as f64
    }
}

/// What there is of a stretch, or of all long ones.
#[derive(Debug, Default)]
struct Stretch {
    requests: u64,
    most: u64,
    longest_gap: Nanos,
    /// By how many they found outstanding.
    by_found: Vec<Sum>,
}

impl Stretch {
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.most = self.most.max(other.most);
        self.longest_gap = self.longest_gap.max(other.longest_gap);
        self.by_found.resize(self.by_found.len().max(other.by_found.len()), Sum::default());
        for (all, own) in self.by_found.iter_mut().zip(&other.by_found) {
            *all = all.with(*own);
        }
    }

    /// How many times as long those take that found more outstanding than half did.
    fn longer_in_long_queue(&self) -> f64 {
        let (mut few, mut many) = (Sum::default(), Sum::default());
        for sum in &self.by_found {
            let half = if 2 * few.count < self.requests { &mut few } else { &mut many };
            *half = half.with(*sum);
        }
        many.mean() / few.mean().max(f64::MIN_POSITIVE)
    }
}

/// The stretches of a device.
#[derive(Debug, Default)]
pub(crate) struct Stretches {
    first: Option<Nanos>,
    last: Nanos,
    from: Nanos,
    current: Stretch,
    long: Stretch,
    lasted: Nanos,
    /// Something is outstanding.
    busy: Nanos,
    count: u64,
    parts: Vec<Sum>,
    part: Sum,
    length: u64,
}

/// That a device does not keep up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Overload {
    /// How many long stretches there are.
    pub(crate) stretches: u64,
    /// How long something is outstanding, of how much.
    pub(crate) busy: Nanos,
    pub(crate) span: Nanos,
    pub(crate) most: u64,
    /// Mean responses in the first and the last quarter of the requests, in ms, where they grow.
    pub(crate) grows: Option<[f64; 2]>,
}

impl Stretches {
    /// A request comes, finds so many outstanding, and takes so long.
    pub(crate) fn arrive(&mut self, arrival: Nanos, found: usize, response: Nanos) {
        self.first.get_or_insert(arrival);
        if found == 0 {
            self.from = arrival;
        }
        let (level, sum) = (count_level(found as u64), Sum { count: 1, ms: response.as_ms() });
        let current = &mut self.current;
        current.requests += 1;
        current.most = current.most.max(found as u64 + 1);
        if current.by_found.len() <= level {
            current.by_found.resize(level + 1, Sum::default());
        }
        current.by_found[level] = current.by_found[level].with(sum);
        self.part = self.part.with(sum);
        if self.part.count >= self.length.max(1) {
            self.parts.push(std::mem::take(&mut self.part));
            if self.parts.len() == PARTS {
                self.parts = self.parts.chunks(2).map(|two| two[0].with(two[1])).collect();
                self.length = 2 * self.length.max(1);
            }
        }
    }

    /// One is completed after none was for so long; so many are left.
    pub(crate) fn complete(&mut self, at: Nanos, gap: Nanos, left: usize) {
        self.last = at;
        self.current.longest_gap = self.current.longest_gap.max(gap);
        if left > 0 {
            return;
        }
        let lasted = at.saturating_sub(self.from);
        self.busy = self.busy.saturating_add(lasted);
        if self.current.requests >= LONG {
            self.long.add(&self.current);
            self.lasted = self.lasted.saturating_add(lasted);
            self.count += 1;
        }
        self.current.requests = 0;
        self.current.most = 0;
        self.current.longest_gap = Nanos::ZERO;
        self.current.by_found.clear();
    }

    /// Whether the device keeps up, when all is completed.
    pub(crate) fn overload(&self) -> Option<Overload> {
        let span = self.last.saturating_sub(self.first?);
        let (lasted, long) = (self.lasted.as_s(), &self.long);
        let is_busy = lasted >= MOST_OF_TIME * span.as_s() || self.busy.as_s() >= NEARLY_ALL * span.as_s();
        let is_one = is_busy
            && long.most >= CROWD
            && long.longest_gap.as_s() <= ONE_REQUEST * lasted
            && long.longer_in_long_queue() >= TIMES;
        is_one.then(|| Overload {
            stretches: self.count,
            busy: self.busy,
            span,
            most: long.most,
            grows: self.grows(),
        })
    }

    /// The mean responses of the first and of the last quarter of the requests, if they grow from each to the next.
    fn grows(&self) -> Option<[f64; 2]> {
        let quarter = self.parts.len() / 4;
        let means: Vec<f64> = (0..4)
            .map(|at| {
                let parts = &self.parts[at * quarter..(at + 1) * quarter];
                parts.iter().copied().fold(Sum::default(), Sum::with).mean()
            })
            .collect();
        let grows = quarter > 0 && means.windows(2).all(|two| two[0] < two[1]);
        (grows && means[3] >= GROWTH * means[0]).then(|| [means[0], means[3]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pauses::PauseFinder;
    use headstack_trace::{Io, Request};
    use headstack_units::{Lba, Op};
    use rand::SeedableRng;
    use rand_distr::{Distribution, Exp, LogNormal};

    /// Services of this spread, of 10 ms on average, of requests that come at random so many times as fast as they are served.
    fn told(seed: u64, load: f64, spread: f64, servers: usize) -> Option<String> {
        let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
        let gaps = Exp::new(0.1 * load).unwrap();
        let law = LogNormal::new(10.0_f64.ln() - spread * spread / 2.0, spread).unwrap();
        let (mut finder, mut at_ms, mut free_ms) = (PauseFinder::default(), 0.0_f64, vec![0.0_f64; servers]);
        for _ in 0..6000 {
            let gap: f64 = gaps.sample(&mut random);
            at_ms += gap;
            let free = free_ms.iter_mut().min_by(|one, two| one.total_cmp(two)).unwrap();
            let ms: f64 = law.sample(&mut random);
            *free = free.max(at_ms) + ms;
            let request = Request::new(Nanos::from_ms(at_ms), Op::Read, Lba(0), 8);
            finder.push(&Io::new(Request { finish: Nanos::from_ms(*free), ..request }));
        }
        finder
            .finish(|device| device.to_string())
            .0
            .into_iter()
            .find_map(|effect| (effect.cause == "overload").then(|| effect.name.unwrap()))
    }

    /// Of devices of which more was asked than they can do, "no cause found" was said.
    #[test]
    fn a_device_of_which_too_much_is_asked_is_named() {
        for (load, spread) in [(0.99, 0.5), (1.05, 0.5), (1.25, 0.5), (1.25, 1.0)] {
            let named: Vec<String> = (0..40).filter_map(|seed| told(seed, load, spread, 1)).collect();
            assert!(named.len() >= 36, "{load} {spread}: {}", named.len());
            let grow = named.iter().filter(|name| name.contains("grow from")).count();
            assert!(load < 1.2 || grow >= 36, "{load} {spread}: {grow} grow");
        }
    }

    /// Nor what serves any number at a time, and always has 50 in hand, nor what one request holds up.
    #[test]
    fn one_that_keeps_up_is_not_named() {
        for (load, spread, servers) in [(0.5, 1.0, 1), (0.8, 0.5, 1), (50.0, 1.0, 1000), (0.5, 3.0, 1)] {
            let named = (0..40).filter(|&seed| told(seed, load, spread, servers).is_some()).count();
            assert!(named <= 2, "{load} {spread}: {named} of 40");
        }
    }

    /// Forty programs ask for each when they have the one before: the queue never empties, and does not grow either.
    #[test]
    fn programs_that_wait_for_each_other_are_not_named() {
        let mut random = rand_pcg::Pcg64::seed_from_u64(1);
        let law = LogNormal::new(1.6, 0.7).unwrap();
        let (mut finder, mut free_ms) = (PauseFinder::default(), 0.0_f64);
        let mut ready: std::collections::VecDeque<f64> = (0..40).map(|k| f64::from(k) / 100.0).collect();
        for _ in 0..6000 {
            let at_ms = ready.pop_front().unwrap();
            let ms: f64 = law.sample(&mut random);
            free_ms = free_ms.max(at_ms) + ms;
            ready.push_back(free_ms + 0.05);
            let request = Request::new(Nanos::from_ms(at_ms), Op::Read, Lba(0), 8);
            finder.push(&Io::new(Request { finish: Nanos::from_ms(free_ms), ..request }));
        }
        let (effects, _) = finder.finish(|device| device.to_string());
        assert!(effects.iter().all(|effect| effect.cause != "overload"), "{effects:?}");
    }
}
