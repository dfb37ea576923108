//! The circular trace buffer (§1.3.1 and §2.1 of the paper): 2,048 words, 1,024 records, and an index.
//!
//! The driver writes, a poller at user level reads; neither waits for the other. The paper's index is a place in the array,
//! from which a poller that was away for a whole turn cannot tell that it was. Here the index counts the records ever
//! written (modulo 2^32) and the place is the index modulo 1,024, so that an overrun shows, with its extent.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use super::record::{Half, TickRecord};

/// Records in a ring.
pub const RECORDS: u32 = 1024;

/// One trace buffer: written by one thread, read by any.
pub struct Ring {
    words: Vec<AtomicU32>,
    index: AtomicU32,
}

impl Default for Ring {
    fn default() -> Self {
        let words = (0..2 * RECORDS).map(|_| AtomicU32::new(0)).collect();
        Self { words, index: AtomicU32::new(0) }
    }
}

impl Ring {
    /// Writes a record over the oldest. A single writer at a time, as the driver is.
    pub fn push(&self, words: [u32; 2]) {
        let index = self.index.load(Ordering::Relaxed);
        // A reader that sees any of the new words must also see that the index had come this far.
        fence(Ordering::Release);
        let [first, second] = self.place(index);
        first.store(words[0], Ordering::Relaxed);
        second.store(words[1], Ordering::Relaxed);
        self.index.store(index.wrapping_add(1), Ordering::Release);
    }

    fn place(&self, index: u32) -> [&AtomicU32; 2] {
        let at = 2 * (index % RECORDS) as usize;
        [&self.words[at], &self.words[at + 1]]
    }
}

/// A poller's view of one ring.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poller {
    next: u32,
    lost: u64,
}

impl Poller {
    /// Takes what came since the last call, oldest first. What was overwritten before it could be taken is counted in
    /// [`Self::lost`], never returned as something else.
    pub fn poll(&mut self, ring: &Ring, mut take: impl FnMut([u32; 2])) {
        let end = ring.index.load(Ordering::Acquire);
        self.skip_to(end.wrapping_sub(RECORDS), end);
        let copied: Vec<[u32; 2]> = (0..end.wrapping_sub(self.next))
            .map(|ahead| ring.place(self.next.wrapping_add(ahead)).map(|word| word.load(Ordering::Relaxed)))
            .collect();
        fence(Ordering::Acquire);
        // The record at `now` may be half written, over the one a turn before.
        let now = ring.index.load(Ordering::Relaxed);
        let first = self.next;
        self.skip_to(now.wrapping_sub(RECORDS - 1), end);
        for words in &copied[self.next.wrapping_sub(first) as usize..] {
            take(*words);
        }
        self.next = end;
    }

    /// Records overwritten before they were taken.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Gives up what lies before `oldest`, but nothing from `end` on.
    fn skip_to(&mut self, oldest: u32, end: u32) {
        let behind = oldest.wrapping_sub(self.next);
        if behind.cast_signed() > 0 {
            let skipped = behind.min(end.wrapping_sub(self.next));
            self.lost += u64::from(skipped);
            self.next = self.next.wrapping_add(skipped);
        }
    }
}

/// The two rings of a driver: requests and responses.
#[derive(Default)]
pub struct Rings {
    sent: Ring,
    received: Ring,
}

impl Rings {
    /// What the driver does on a request or a response.
    pub fn trace(&self, record: &TickRecord) {
        match record.half {
            Half::Sent => self.sent.push(record.pack()),
            Half::Received => self.received.push(record.pack()),
        }
    }
}

/// The poller of §2.2: looks at one ring after the other, so that a response may stand before its request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gatherer {
    sent: Poller,
    received: Poller,
}

impl Gatherer {
    /// Appends what is new in both rings.
    pub fn gather(&mut self, rings: &Rings, out: &mut Vec<TickRecord>) {
        self.sent.poll(&rings.sent, |words| out.push(TickRecord::unpack(Half::Sent, words)));
        self.received.poll(&rings.received, |words| out.push(TickRecord::unpack(Half::Received, words)));
    }

    /// Records lost to overrun: requests, responses.
    pub fn lost(&self) -> (u64, u64) {
        (self.sent.lost(), self.received.lost())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn poll(poller: &mut Poller, ring: &Ring) -> Vec<u32> {
        let mut seen = Vec::new();
        poller.poll(ring, |[first, second]| {
            assert_eq!(second, !first, "a torn record");
            seen.push(first);
        });
        seen
    }

    #[test]
    fn an_overrun_shows_with_its_extent() {
        let (ring, mut poller) = (Ring::default(), Poller::default());
        for value in 0..1023 {
            ring.push([value, !value]);
        }
        assert_eq!(poll(&mut poller, &ring), (0..1023).collect::<Vec<_>>());
        // Exactly one turn later the index is where it was: the paper's poller would see nothing new.
        for value in 1023..1023 + 1024 {
            ring.push([value, !value]);
        }
        // The oldest of a full ring may be being overwritten: it counts as lost.
        assert_eq!(poll(&mut poller, &ring), (1024..2047).collect::<Vec<_>>());
        assert_eq!(poller.lost(), 1);
        for value in 2047..10_000 {
            ring.push([value, !value]);
        }
        assert_eq!(poll(&mut poller, &ring).len(), 1023);
        assert_eq!(poller.lost(), 1 + (10_000 - 2047 - 1023));
        assert_eq!(poll(&mut poller, &ring), [0_u32; 0]);
    }

    proptest! {
        /// What is returned, and what is said to be lost, is all that was written, in order.
        #[test]
        fn nothing_is_lost_in_silence(bursts in proptest::collection::vec(0_u32..2500, 1..12), start: u32) {
            let (ring, mut poller) = (Ring::default(), Poller { next: start, lost: 0 });
            ring.index.store(start, Ordering::Relaxed);
            let (mut written, mut expected) = (0_u32, 0_u64);
            for burst in bursts {
                for _ in 0..burst {
                    ring.push([written, !written]);
                    written += 1;
                }
                let lost = poller.lost();
                let seen = poll(&mut poller, &ring);
                expected += poller.lost() - lost;
                for value in seen {
                    prop_assert_eq!(u64::from(value), expected);
                    expected += 1;
                }
                prop_assert_eq!(u64::from(written), expected);
            }
        }
    }

    #[test]
    fn a_writer_in_another_thread_is_never_misread() {
        const COUNT: u32 = 2_000_000;
        let ring = Ring::default();
        let mut poller = Poller::default();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..COUNT).for_each(|value| ring.push([value, !value])));
            let mut expected = 0;
            while expected < u64::from(COUNT) {
                let lost = poller.lost();
                let seen = poll(&mut poller, &ring);
                expected += poller.lost() - lost;
                // Lost ones may lie before the ones returned only.
                for value in seen {
                    assert_eq!(u64::from(value), expected);
                    expected += 1;
                }
            }
        });
    }
}
