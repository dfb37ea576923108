//! Sequential runs and strides.
//!
//! A request continues a *run* if it begins where one of the last [`STREAMS`] runs of its device and direction ended: streams
//! that interleave are told apart. It is *strided* if it lies as far from the one before it (same device and direction) as
//! that one from its own predecessor, and continues no run.

use std::collections::BTreeMap;

use headstack_trace::Io;
use headstack_units::Op;
use serde::Serialize;

/// Runs remembered for each device and direction.
pub const STREAMS: usize = 32;

/// What runs there were.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Runs {
    /// Requests that continue a run ÷ all.
    pub sequential_fraction: f64,
    /// Requests at a stride ÷ all.
    pub strided_fraction: f64,
    /// Runs of two requests or more.
    pub runs: u64,
    /// Their mean length, requests.
    pub mean_length: f64,
    /// The longest, requests.
    pub longest: u64,
    /// How many runs have a length of 2^k to 2^(k+1) − 1 requests, from k = 0 (single requests) on.
    pub by_log2_length: Vec<u64>,
}

#[derive(Debug, Default)]
struct Device {
    /// End and length of the runs, the most recently continued last.
    streams: Vec<(u64, u64)>,
    last: Option<u64>,
    stride: Option<i128>,
}

#[derive(Debug, Default)]
pub(crate) struct RunFinder {
    devices: BTreeMap<(u32, Op), Device>,
    all: u64,
    sequential: u64,
    strided: u64,
    lengths: Vec<u64>,
    runs: u64,
    in_runs: u64,
    longest: u64,
}

impl RunFinder {
    /// Takes the next one; says whether it continues a run.
    pub(crate) fn push(&mut self, io: &Io) -> bool {
        let request = &io.request;
        let (first, end) = (request.lba.0, request.lba.0.saturating_add(u64::from(request.sectors)));
        self.all += 1;
        let device = self.devices.entry((request.device, request.op)).or_default();
        let stride = device.last.map(|last| i128::from(first) - i128::from(last));
        let continued = device.streams.iter().rposition(|(at, _)| *at == first);
        let mut ended = None;
        if let Some(index) = continued {
            let (_, length) = device.streams.remove(index);
            device.streams.push((end, length + 1));
            self.sequential += 1;
        } else {
            self.strided += u64::from(stride.is_some() && stride == device.stride);
            if device.streams.len() == STREAMS {
                ended = Some(device.streams.remove(0).1);
            }
            device.streams.push((end, 1));
        }
        device.last = Some(first);
        device.stride = stride;
        if let Some(length) = ended {
            self.ended(length);
        }
        continued.is_some()
    }

    fn ended(&mut self, length: u64) {
        let class = length.ilog2() as usize;
        if self.lengths.len() <= class {
            self.lengths.resize(class + 1, 0);
        }
        self.lengths[class] += 1;
        self.longest = self.longest.max(length);
        if length > 1 {
            self.runs += 1;
            self.in_runs += length;
        }
    }

    pub(crate) fn finish(mut self) -> Runs {
        for (_, device) in std::mem::take(&mut self.devices) {
            for (_, length) in device.streams {
                self.ended(length);
            }
        }
        let share = |part: u64| part as f64 / self.all.max(1) as f64;
        Runs {
            sequential_fraction: share(self.sequential),
            strided_fraction: share(self.strided),
            runs: self.runs,
            mean_length: self.in_runs as f64 / self.runs.max(1) as f64,
            longest: self.longest,
            by_log2_length: self.lengths,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_trace::Request;
    use headstack_units::{Lba, Nanos};

    fn read(lba: u64) -> Io {
        Io::new(Request::new(Nanos(0), Op::Read, Lba(lba), 8))
    }

    #[test]
    fn interleaved_runs_are_told_apart() {
        let mut finder = RunFinder::default();
        for step in 0..10 {
            finder.push(&read(step * 8));
            finder.push(&read(100_000 + step * 8));
        }
        let runs = finder.finish();
        assert_eq!((runs.runs, runs.mean_length, runs.longest), (2, 10.0, 10));
        assert_eq!((runs.sequential_fraction, runs.strided_fraction), (0.9, 0.0));
        assert_eq!(runs.by_log2_length, [0, 0, 0, 2]);
    }

    #[test]
    fn a_stride_is_no_run() {
        let mut finder = RunFinder::default();
        for step in 0..10 {
            finder.push(&read(step * 1000));
        }
        let runs = finder.finish();
        assert_eq!((runs.runs, runs.strided_fraction, runs.sequential_fraction), (0, 0.8, 0.0));
    }
}
