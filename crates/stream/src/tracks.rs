//! The mechanism: tracks whose size falls evenly, and a head that passes over them.
//!
//! A track takes one revolution, so its size is its rate times that. Where the head is follows from the bytes passed, in
//! fixed point: nothing is rounded twice, and the times of consecutive pieces add up to the time of the whole.

use crate::spec::MechanismSpec;
use headstack_units::{Nanos, Rpm};

/// Bits behind the binary point, of bytes and of nanoseconds.
const BITS: u32 = 24;
const ONE: f64 = (1_u64 << BITS) as f64;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tracks {
    count: u64,
    heads: u64,
    /// Size of track 0, and by how much each is smaller than the one before.
    first: u128,
    less: u128,
    turn: u128,
    head_switch: u128,
    cylinder_switch: u128,
}

fn fixed(value: f64) -> u128 {
    (value * ONE).round() as u128
}

impl Tracks {
    /// Of a checked description.
    pub(crate) fn new(spec: &MechanismSpec) -> Self {
        let turn_ns = Rpm(spec.rotation_rpm).period_ns();
        let bytes = |mb_per_s: f64| fixed(mb_per_s * 1e6 * turn_ns / 1e9);
        let count = u64::from(spec.cylinders) * u64::from(spec.heads);
        let (first, last) = (bytes(spec.outer_mb_per_s), bytes(spec.inner_mb_per_s));
        Self {
            count,
            heads: u64::from(spec.heads),
            first,
            less: (first - last) / u128::from(count.saturating_sub(1).max(1)),
            turn: fixed(turn_ns),
            head_switch: fixed(spec.head_switch_ms * 1e6),
            cylinder_switch: fixed(spec.cylinder_switch_ms * 1e6),
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whole bytes on all tracks.
    pub(crate) fn capacity(&self) -> u64 {
        (self.start(self.count) >> BITS) as u64
    }

    /// Whole bytes from the start of a track to the end of the last.
    pub(crate) fn behind(&self, track: u64) -> u64 {
        ((self.start(self.count) - self.start(track)) >> BITS) as u64
    }

    /// The last track behind which so many bytes fit.
    pub(crate) fn last_start(&self, bytes: u64) -> u64 {
        let (mut low, mut high) = (0, self.count);
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if self.behind(middle) >= bytes { low = middle } else { high = middle }
        }
        low
    }

    fn start(&self, track: u64) -> u128 {
        let track = u128::from(track);
        track * self.first - self.less * (track * track.saturating_sub(1) / 2)
    }

    fn size(&self, track: u64) -> u128 {
        self.first - self.less * u128::from(track)
    }

    /// From the start of track 0 to that of a track: revolutions, and the switches on the way.
    fn until(&self, track: u64) -> u128 {
        let cylinders = u128::from(track / self.heads);
        let heads = u128::from(track) - cylinders;
        u128::from(track) * self.turn + cylinders * self.cylinder_switch + heads * self.head_switch
    }
}

/// Where the head is.
#[derive(Clone, Debug)]
pub(crate) struct Head<'a> {
    tracks: &'a Tracks,
    track: u64,
    /// The bytes before this track and before the next, the size of this one, and its time: reckoned once a track.
    start: u128,
    end: u128,
    size: u128,
    until: u128,
    at: u128,
    time: u128,
}

impl<'a> Head<'a> {
    /// At the start of a track.
    pub(crate) fn at(tracks: &'a Tracks, track: u64) -> Self {
        let (start, end, size) = (tracks.start(track), tracks.start(track + 1), tracks.size(track).max(1));
        let until = tracks.until(track);
        Self { tracks, track, start, end, size, until, at: start, time: until }
    }

    pub(crate) fn track(&self) -> u64 {
        self.track
    }

    /// Whole bytes from here to the end of the last track.
    pub(crate) fn left(&self) -> u64 {
        ((self.tracks.start(self.tracks.count) - self.at) >> BITS) as u64
    }

    /// No less than this passes while the head is over so many bytes, from here on: further in the media are slower.
    pub(crate) fn least(&self, bytes: u64) -> Nanos {
        Nanos((((u128::from(bytes) << BITS) * self.tracks.turn / self.size) >> BITS).saturating_sub(1) as u64)
    }

    /// Passes over so many bytes, which must be there; the time that takes, switches included.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: u64) -> Nanos {
        self.at += u128::from(bytes) << BITS;
        // The switch to the next track belongs to its first byte.
        if self.at > self.end {
            let mut track = self.track + 1;
            while self.at > self.tracks.start(track + 1) {
                track += 1;
            }
            let (at, time) = (self.at, self.time);
            *self = Self { at, time, ..Self::at(self.tracks, track) };
        }
        let time = self.until + (self.at - self.start) * self.tracks.turn / self.size;
        let before = std::mem::replace(&mut self.time, time);
        Nanos(((time >> BITS) - (before >> BITS)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Four tracks of 400, 300, 200 and 100 bytes on two heads, a revolution of 1 ms, 10 us to the next head, 100 to the next
    /// cylinder.
    fn small() -> Tracks {
        Tracks::new(&MechanismSpec {
            outer_mb_per_s: 0.4,
            inner_mb_per_s: 0.1,
            rotation_rpm: 60_000.0,
            cylinders: 2,
            heads: 2,
            head_switch_ms: 0.01,
            cylinder_switch_ms: 0.1,
            full_stroke_ms: 0.0,
        })
    }

    #[test]
    fn a_track_takes_a_revolution_and_a_switch_comes_before_the_next() {
        let tracks = small();
        assert_eq!((tracks.capacity(), tracks.count()), (1000, 4));
        let mut head = Head::at(&tracks, 0);
        assert_eq!(head.pass(400), Nanos(1_000_000));
        assert_eq!(head.pass(150), Nanos(510_000));
        // The rest of the second track, the change of cylinder, half of the third.
        assert_eq!(head.pass(250), Nanos(1_100_000));
        assert_eq!(head.pass(200), Nanos(500_000 + 10_000 + 1_000_000));
        assert_eq!((head.track(), head.left()), (3, 0));
    }

    #[test]
    fn the_last_place_that_holds_a_file() {
        let tracks = small();
        assert_eq!(
            [1000, 601, 600, 300, 101, 100, 1].map(|bytes| tracks.last_start(bytes)),
            [0, 0, 1, 2, 2, 3, 3]
        );
    }

    proptest! {
        /// However a stream is cut into pieces, the pieces take as long as the whole.
        #[test]
        fn pieces_add_up(pieces in prop::collection::vec(1_u64..100, 1..20)) {
            let tracks = small();
            let whole = pieces.iter().sum::<u64>().min(1000);
            let mut head = Head::at(&tracks, 0);
            let mut left = whole;
            let mut sum = 0;
            for piece in pieces {
                let piece = piece.min(left);
                left -= piece;
                if piece > 0 {
                    sum += head.pass(piece).0;
                }
            }
            prop_assert_eq!(sum, Head::at(&tracks, 0).pass(whole).0);
        }
    }
}
