//! Pairing responses with their requests.
//!
//! The paper says that heuristics were needed and not which (§2.3). These are:
//!
//! 1. **Wrap.** The clock has 16 bits and wraps every 65,536 ticks (1,092 s at 60 Hz). A stamp is read as the instant
//!    closest above [`DISORDER_TICKS`] before the latest one seen, so that the stream may run back by that much, and idle
//!    for the rest of a turn.
//! 2. **Order.** The two rings are dumped one after the other, so that a response may stand before its request. Records
//!    are put into order of time before they are paired, requests first within a tick.
//! 3. **Key.** A response belongs to a request of the same device, block, size and direction.
//! 4. **Duplicates.** Of several outstanding requests with the same key the oldest is answered first: the driver keeps
//!    the order of arrival, and the controller has no reason to turn two requests for one place round.
//! 5. **Loss.** A request that is older than [`LONGEST_TICKS`] when a response for its key comes was lost: it stays an
//!    orphan, and the next one is taken. Without this a single lost response would shift all later pairs of its block.
//!
//! What stays alone is an orphan and is listed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use headstack_units::Op;

use super::record::{Half, TickRecord};

/// How far a stream may run back: 30 s at 60 Hz. The rings hold a poller's sleep, which is well below that.
pub const DISORDER_TICKS: u64 = 1800;

/// The longest response believed: 60 s at 60 Hz.
pub const LONGEST_TICKS: u64 = 3600;

/// How often requests past believing are swept out.
const SWEEP: u64 = 65_536;

/// A request with its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The request; its tick is modulo 65,536.
    pub sent: TickRecord,
    /// Ticks of the request since the start of its clock's first turn seen.
    pub tick: u64,
    /// Ticks from request to response.
    pub ticks: u64,
}

/// A half without the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// The half that is there.
    pub record: TickRecord,
    /// Its number in the stream, counted from 1.
    pub number: u64,
}

/// What has been decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// Both halves.
    Pair(Pair),
    /// One.
    Orphan(Orphan),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    major: u8,
    minor: u8,
    blocks: u8,
    write: bool,
    block: u32,
}

impl Key {
    fn of(record: &TickRecord) -> Self {
        let TickRecord { major, minor, blocks, op, block, .. } = *record;
        Self { major, minor, blocks, write: op == Op::Write, block }
    }
}

/// A record in order of time: tick, requests first, then as they came.
type Ordered = (u64, Half, u64);

/// Pairs a stream of records in memory that grows with what is outstanding.
#[derive(Debug, Default)]
pub struct Matcher {
    latest: Option<u64>,
    seen: u64,
    waiting: BinaryHeap<Reverse<Ordered>>,
    records: BTreeMap<u64, TickRecord>,
    outstanding: BTreeMap<Key, VecDeque<(u64, Orphan)>>,
    clock_back: u64,
}

impl Matcher {
    /// Takes the next record of the stream, and tells what that decides.
    pub fn push(&mut self, record: TickRecord, decide: &mut dyn FnMut(Matching)) {
        let tick = self.unwrap(record.tick);
        self.seen += 1;
        self.records.insert(self.seen, record);
        self.waiting.push(Reverse((tick, record.half, self.seen)));
        let horizon = self.latest.unwrap_or(0).saturating_sub(DISORDER_TICKS);
        self.settle(horizon, decide);
        if self.seen.is_multiple_of(SWEEP) {
            self.sweep(horizon, decide);
        }
    }

    /// Ends the stream.
    pub fn finish(mut self, decide: &mut dyn FnMut(Matching)) {
        self.settle(u64::MAX, decide);
        let mut left: Vec<_> = self.outstanding.into_values().flatten().collect();
        left.sort_unstable_by_key(|(tick, orphan)| (*tick, orphan.number));
        for (_, orphan) in left {
            decide(Matching::Orphan(orphan));
        }
    }

    /// The latest tick seen; 0 before the first record.
    pub(crate) fn latest(&self) -> u64 {
        self.latest.unwrap_or(0)
    }

    /// How often a record was stamped before the one above it.
    pub fn out_of_order(&self) -> u64 {
        self.clock_back
    }

    /// The full tick of a 16-bit stamp.
    fn unwrap(&mut self, stamp: u16) -> u64 {
        // The first turn is numbered 1, so that the first record may be preceded by something.
        let latest = self.latest.unwrap_or(65_536 + u64::from(stamp));
        let base = latest - DISORDER_TICKS;
        let tick = base + u64::from(stamp.wrapping_sub(base as u16));
        self.clock_back += u64::from(tick < latest);
        self.latest = Some(latest.max(tick));
        tick
    }

    /// Pairs what lies before `horizon`: nothing earlier can come any more.
    fn settle(&mut self, horizon: u64, decide: &mut dyn FnMut(Matching)) {
        while let Some(&Reverse((tick, half, number))) = self.waiting.peek() {
            if tick >= horizon {
                break;
            }
            self.waiting.pop();
            let Some(record) = self.records.remove(&number) else { continue };
            let orphan = Orphan { record, number };
            if half == Half::Sent {
                self.outstanding.entry(Key::of(&record)).or_default().push_back((tick, orphan));
            } else {
                let answer = self.answer(tick, orphan, decide);
                decide(answer);
            }
        }
    }

    /// What a response comes to; requests that were lost before are decided on the way.
    fn answer(&mut self, tick: u64, response: Orphan, decide: &mut dyn FnMut(Matching)) -> Matching {
        let key = Key::of(&response.record);
        let Some(queue) = self.outstanding.get_mut(&key) else { return Matching::Orphan(response) };
        let mut answer = Matching::Orphan(response);
        while let Some((sent_at, sent)) = queue.pop_front() {
            let ticks = tick - sent_at;
            if ticks <= LONGEST_TICKS {
                answer = Matching::Pair(Pair { sent: sent.record, tick: sent_at, ticks });
                break;
            }
            decide(Matching::Orphan(sent));
        }
        if queue.is_empty() {
            self.outstanding.remove(&key);
        }
        answer
    }

    /// Gives up requests that no response can answer any more.
    fn sweep(&mut self, horizon: u64, decide: &mut dyn FnMut(Matching)) {
        self.outstanding.retain(|_, queue| {
            while let Some((tick, orphan)) = queue.front().copied() {
                if horizon.saturating_sub(tick) <= LONGEST_TICKS {
                    break;
                }
                queue.pop_front();
                decide(Matching::Orphan(orphan));
            }
            !queue.is_empty()
        });
    }
}

/// Pairs and orphans of a stream in memory, pairs in the order in which they were decided.
pub fn match_all(records: &[TickRecord]) -> (Vec<Pair>, Vec<Orphan>) {
    let (mut pairs, mut orphans) = (Vec::new(), Vec::new());
    let mut matcher = Matcher::default();
    let mut decide = |matching| match matching {
        Matching::Pair(pair) => pairs.push(pair),
        Matching::Orphan(orphan) => orphans.push(orphan),
    };
    for record in records {
        matcher.push(*record, &mut decide);
    }
    matcher.finish(&mut decide);
    (pairs, orphans)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::text::parse;
    use super::*;
    use proptest::prelude::*;

    /// The sample of §2.2.
    pub(crate) const SAMPLE: &str = "S: (32,0x10):2:R:1984:22127
S: (32,0x10):2:R:1992:22128
S: (32,0x6):2:R:486502:22129
S: (32,0x11):2:R:62782:22129
R: (32,0x10):2:R:1976:22123
R: (32,0x10):2:W:2152:22124
R: (32,0x10):2:W:2144:22124
R: (32,0x10):2:R:1984:22128
R: (32,0x10):2:R:1992:22130
R: (32,0x11):2:R:62782:22131
R: (32,0x6):2:R:486502:22132
R: (32,0x6):2:R:337822:22157
R: (32,0x6):2:R:339738:22158
S: (32,0x6):2:R:337822:22156
S: (32,0x6):2:R:339738:22157";

    fn sample() -> Vec<TickRecord> {
        SAMPLE.lines().map(|line| parse(line.as_bytes()).unwrap()).collect()
    }

    #[test]
    fn the_sample_of_the_paper() {
        let (pairs, orphans) = match_all(&sample());
        let ticks: Vec<_> = pairs.iter().map(|pair| (pair.sent.block, pair.ticks)).collect();
        assert_eq!(ticks, [(1984, 1), (1992, 2), (62782, 2), (486_502, 3), (337_822, 1), (339_738, 1)]);
        let alone: Vec<_> = orphans.iter().map(|orphan| (orphan.record.block, orphan.number)).collect();
        assert_eq!(alone, [(1976, 5), (2152, 6), (2144, 7)]);
    }

    fn record(half: Half, block: u32, tick: u64) -> TickRecord {
        TickRecord { half, major: 32, minor: 0, blocks: 2, op: Op::Read, block, tick: tick as u16 }
    }

    #[test]
    fn the_clock_wraps_and_idles_for_most_of_a_turn() {
        use Half::{Received, Sent};
        let records = [
            record(Sent, 1, 65_535),
            record(Received, 1, 65_536 + 2),
            // Idle for 1,060 s: as far as one turn less the disorder allowed.
            record(Sent, 2, 65_538 + 63_600),
            record(Received, 2, 65_538 + 63_604),
        ];
        let (pairs, orphans) = match_all(&records);
        assert_eq!(orphans, []);
        assert_eq!(pairs.iter().map(|pair| pair.ticks).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(pairs[1].tick - pairs[0].tick, 3 + 63_600);
    }

    #[test]
    fn duplicates_are_answered_oldest_first_and_a_lost_response_shifts_nothing() {
        use Half::{Received, Sent};
        let twice =
            [record(Sent, 7, 10), record(Sent, 7, 12), record(Received, 7, 15), record(Received, 7, 20)];
        let (pairs, orphans) = match_all(&twice);
        assert_eq!(pairs.iter().map(|pair| pair.ticks).collect::<Vec<_>>(), [5, 8]);
        assert_eq!(orphans, []);
        let lost = [record(Sent, 7, 10), record(Sent, 7, 5000), record(Received, 7, 5003)];
        let (pairs, orphans) = match_all(&lost);
        assert_eq!((pairs.len(), pairs[0].ticks, orphans.len(), orphans[0].number), (1, 3, 1, 1));
    }

    /// The same rules over everything at once, with full ticks: no window, no heap, no sweep.
    fn naive(records: &[(u64, TickRecord)]) -> (Vec<u64>, usize) {
        let mut sorted: Vec<_> = records.to_vec();
        sorted.sort_by_key(|(tick, record)| (*tick, record.half));
        let (mut ticks, mut sends, mut orphans) = (Vec::new(), Vec::<(u64, TickRecord)>::new(), 0);
        for (tick, record) in sorted {
            if record.half == Half::Sent {
                sends.push((tick, record));
                continue;
            }
            loop {
                let Some(at) = sends.iter().position(|(_, sent)| Key::of(sent) == Key::of(&record)) else {
                    orphans += 1;
                    break;
                };
                let (sent_at, _) = sends.remove(at);
                if tick - sent_at <= LONGEST_TICKS {
                    ticks.push(tick - sent_at);
                    break;
                }
                orphans += 1;
            }
        }
        ticks.sort_unstable();
        (ticks, orphans + sends.len())
    }

    proptest! {
        #[test]
        fn streaming_equals_the_naive_twin(
            steps in proptest::collection::vec((0_u64..900, any::<bool>(), 0_u32..4, 0_u64..900), 0..200),
            swap in 1_usize..6,
        ) {
            let mut now = 1_000_000;
            let mut records: Vec<_> = steps.iter().map(|&(gap, sent, block, _)| {
                now += gap;
                (now, record(if sent { Half::Sent } else { Half::Received }, block, now))
            }).collect();
            // Disorder within what the rules allow: two neighbours are at most 900 ticks apart.
            for pair in records.chunks_mut(swap.max(2)) {
                if pair.len() >= 2 {
                    pair.swap(0, 1);
                }
            }
            let stream: Vec<_> = records.iter().map(|(_, record)| *record).collect();
            let (pairs, orphans) = match_all(&stream);
            let mut ticks: Vec<_> = pairs.iter().map(|pair| pair.ticks).collect();
            ticks.sort_unstable();
            prop_assert_eq!((ticks, orphans.len()), naive(&records));
        }
    }
}
