//! Segments that adapt to the load, as drives since the mid-1990s have them: those in use share the whole cache. A stream
//! that is alone has all of it; a new one takes a segment that is free, and everybody's share becomes smaller; one that
//! nobody has asked for in a while gives its share back.
//!
//! How a real controller counts its streams is not published: what is modelled is the shares, not a maker's firmware.

use super::CachePolicy;
use crate::buffer::segment::Segment;

/// A stream is over when so many times as many other uses as there are segments have passed.
const PATIENCE: u64 = 4;

#[derive(Clone, Debug)]
pub(in crate::buffer) struct Adaptive {
    /// Sectors of the whole cache.
    total: u64,
}

impl Adaptive {
    /// Segments that would hold `size` sectors each, were all of them in use.
    pub(super) fn new(segments: u32, size: u64) -> Self {
        Self { total: size * u64::from(segments) }
    }
}

// Never inlined: it would push what the usual policy does out of line.
impl CachePolicy for Adaptive {
    #[inline(never)]
    fn victim(&self, shared: &[Segment], spared: Option<usize>) -> Option<usize> {
        (0..shared.len()).min_by_key(|&i| (Some(i) == spared, shared[i].is_in_use(), shared[i].used))
    }

    #[inline(never)]
    fn size_in(&self, all: &[Segment]) -> u64 {
        let in_use = all.iter().filter(|segment| segment.is_in_use()).count();
        self.total / in_use.max(1) as u64
    }

    #[inline(never)]
    fn divide(&self, all: &mut [Segment], filled: usize) {
        let patience = PATIENCE * all.len() as u64;
        let last_use = all.iter().map(|segment| segment.used).max().unwrap_or(0);
        for (number, segment) in all.iter_mut().enumerate() {
            if number != filled && last_use - segment.used > patience {
                *segment = Segment::default();
            }
        }
        let size = self.size_in(all);
        for segment in all {
            segment.keep_end(size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(start: u64, end: u64, used: u64) -> Segment {
        Segment { start, end, used }
    }

    #[test]
    fn those_in_use_share_the_whole_cache() {
        let policy = Adaptive::new(4, 25);
        let mut all = [Segment::default(); 4];
        all[0] = segment(0, 100, 1);
        policy.divide(&mut all, 0);
        assert_eq!((all[0], policy.size_in(&all)), (segment(0, 100, 1), 100));
        assert_eq!(policy.victim(&all, None), Some(1), "a free segment goes first");
        all[1] = segment(1000, 1080, 2);
        policy.divide(&mut all, 1);
        assert_eq!((all[0], all[1]), (segment(50, 100, 1), segment(1030, 1080, 2)));
        (all[2], all[3]) = (segment(2000, 2010, 4), segment(3000, 3010, 5));
        policy.divide(&mut all, 3);
        assert_eq!((all[0], policy.size_in(&all)), (segment(75, 100, 1), 25));
        assert_eq!(policy.victim(&all, None), Some(0), "none is free: the least recently used goes");
    }

    #[test]
    fn a_stream_nobody_asks_for_gives_its_share_back() {
        let policy = Adaptive::new(2, 50);
        let mut all = [segment(0, 50, 1), segment(1000, 1050, 9)];
        policy.divide(&mut all, 1);
        assert!(all[0].is_in_use(), "eight uses are not too many for two segments");
        all[1].used = 10;
        policy.divide(&mut all, 1);
        assert_eq!((all[0].is_in_use(), policy.size_in(&all)), (false, 100));
    }
}
