//! Open streams: requests come when they come, whether the drive keeps up or not.

use headstack_trace::{Request, RequestSource, TraceError};
use headstack_units::Nanos;

use super::addresses::Addresses;
use super::law::Law;
use super::{DeviceShape, LATEST, StreamSpec, TimeLaw, WorkloadSpec, later};
use crate::SystemError;
use crate::random::Stream;

/// How many requests a batch holds.
const BATCH: usize = 4096;

/// The open streams of a workload, merged by time (equal times in the order of the file).
#[derive(Clone, Debug)]
pub struct OpenWorkload {
    streams: Vec<OpenStream>,
    left: u64,
}

impl OpenWorkload {
    /// The open streams of `spec`, of which there may be none; at most `limit` requests in all.
    pub(crate) fn new(
        spec: &WorkloadSpec,
        devices: &[DeviceShape],
        seed: u64,
        limit: u64,
    ) -> Result<Option<Self>, SystemError> {
        let mut streams = Vec::new();
        for (index, stream) in spec.stream.iter().enumerate().filter(|(_, stream)| stream.think.is_none()) {
            streams.push(OpenStream::new(stream, &stream.component(index), devices, seed)?);
        }
        Ok((!streams.is_empty()).then_some(Self { streams, left: limit }))
    }

    /// The next request, if there is one.
    #[inline]
    pub fn next_request(&mut self) -> Option<Request> {
        if self.left == 0 {
            return None;
        }
        let next = match self.streams.as_mut_slice() {
            [only] => only,
            several => several.iter_mut().min_by_key(|stream| stream.next_at.unwrap_or(Nanos::MAX))?,
        };
        let request = next.take()?;
        self.left -= 1;
        Some(request)
    }
}

impl RequestSource for OpenWorkload {
    fn next_batch(&mut self, batch: &mut Vec<Request>) -> Result<(), TraceError> {
        batch.clear();
        batch.extend(std::iter::from_fn(|| self.next_request()).take(BATCH));
        Ok(())
    }
}

/// One open stream.
#[derive(Clone, Debug)]
struct OpenStream {
    addresses: Addresses,
    clock: Clock,
    next_at: Option<Nanos>,
    end: Nanos,
    left: u64,
}

impl OpenStream {
    fn new(
        spec: &StreamSpec,
        component: &str,
        devices: &[DeviceShape],
        seed: u64,
    ) -> Result<Self, SystemError> {
        let addresses = Addresses::new(spec, component, devices, seed)?;
        let clock = Clock::new(spec, Stream::new(seed, &format!("{component}.arrival")))
            .map_err(|problem| SystemError::Options { problem, hint: "change the workload".to_owned() })?;
        let mut stream = Self {
            addresses,
            clock,
            next_at: None,
            end: spec.end_s.map_or(Nanos::MAX, Nanos::from_s),
            left: spec.requests.unwrap_or(u64::MAX),
        };
        stream.look_ahead();
        Ok(stream)
    }

    #[inline]
    fn take(&mut self) -> Option<Request> {
        let at = self.next_at?;
        let request = self.addresses.next(at);
        self.left = if at > LATEST { 0 } else { self.left - 1 };
        self.look_ahead();
        Some(request)
    }

    #[inline]
    fn look_ahead(&mut self) {
        self.next_at = (self.left > 0).then(|| self.clock.next()).filter(|&at| at <= self.end);
    }
}

/// When an open stream's requests come.
#[derive(Clone, Debug)]
struct Clock {
    stream: Stream,
    now: Nanos,
    gap: Law,
    bursts: Option<Bursts>,
}

#[derive(Clone, Debug)]
struct Bursts {
    every: Law,
    requests: Law,
    /// Length of a burst, where its requests are evenly spaced.
    within: Option<Nanos>,
    /// When the running burst began (the first is due one interval after the stream's start).
    begun: Nanos,
    /// Requests of the running burst, and how many of them are still to come.
    count: u64,
    left: u64,
}

impl Clock {
    fn new(spec: &StreamSpec, stream: Stream) -> Result<Self, String> {
        let start = Nanos::from_s(spec.start_s);
        let gap = spec.inter_arrival.as_ref().map_or(Ok(Law::Constant(0.0)), TimeLaw::law)?;
        let bursts = match &spec.burst {
            None => None,
            Some(burst) => Some(Bursts {
                every: match (&burst.every, burst.every_s) {
                    (Some(law), _) => law.law()?,
                    (None, every_s) => Law::Constant(every_s.unwrap_or(0.0) * 1e3),
                },
                requests: burst.requests.law()?,
                within: burst.within_ms.map(Nanos::from_ms),
                begun: start,
                count: 0,
                left: 0,
            }),
        };
        Ok(Self { stream, now: start, gap, bursts })
    }

    #[inline]
    fn next(&mut self) -> Nanos {
        let Some(bursts) = &mut self.bursts else {
            self.now = later(self.now, self.gap.time(&mut self.stream));
            return self.now;
        };
        if bursts.left == 0 {
            bursts.begun = later(bursts.begun, bursts.every.time(&mut self.stream)).max(self.now);
            bursts.count = (bursts.requests.sample(&mut self.stream).round() as u64).max(1);
            bursts.left = bursts.count;
            self.now = bursts.begun;
        } else if let Some(within) = bursts.within {
            let nth = u128::from(bursts.count - bursts.left);
            let elapsed = u128::from(within.0) * nth / u128::from(bursts.count);
            self.now = later(bursts.begun, Nanos(elapsed as u64));
        } else {
            self.now = later(self.now, self.gap.time(&mut self.stream));
        }
        bursts.left -= 1;
        self.now
    }
}
