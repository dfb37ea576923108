//! From events to I/Os: what was dispatched and completed, with what came before.
//!
//! The unit is the request the device saw (`D` to `C`), as a simulated drive would. Its rules:
//!
//! - **Queued pieces** (`Q`) wait by place. A dispatch takes those that make it up without gap or overlap ([`tiling`]), or
//!   else all that have a part in it: the earliest gives the arrival and the process, the others count as merges. Of several of one
//!   extent, each has a dispatch of its own, in their order. Of a piece that reaches beyond the dispatch, on either side, the rest
//!   stays: it was split, and older kernels tell of it a second time.
//! - **`G` and `I`** stamp the piece that holds their first sector.
//! - **A completion** belongs to the dispatch with the same first sector and direction, of several of its size to the first that
//!   may still be at the device, if such are seen to be there at once ([`together`]), else to the latest. One of less than the whole leaves the rest dispatched, and
//!   the I/O ends with the last part.
//! - **A requeue** takes the dispatch back; the next dispatch of that place goes on with its history.
//! - **A flush** (no data, no place) is answered in order of dispatch. It is marked as one unless, where queueing is traced,
//!   nobody queued it: the kernel sends it before or after a write that is marked itself. The kernel completes a flush twice, for the device
//!   and for the one who asked: the second is counted and nothing else.
//! - **A completion without a dispatch** that covers queued pieces ends those: device mapper, RAID and RAM disks have no
//!   dispatch. Otherwise it is an orphan.
//! - What is not dispatched or completed within [`LOST_AFTER`] is an orphan: its other half was not traced. ([`PairingRule::Btt`]
//!   waits on while memory allows.)
//!
//! Where events are missing, a dispatch whose completion was lost would take the completion of a later I/O of the same
//! place. So, unless [`PairingRule::Btt`] is chosen, these hold besides in a trace with losses
//! ([`Pairing::events_are_missing`], or so many halves stay alone that a wrong pair is to be expected):
//!
//! - A new `Q` or `D` of the same first sector and direction ends what is there, if it is too old or such requests are never at the
//!   device together; those that are make I/Os all or none ([`together`]). A new `D` of a flush ends the flushes at the device.
//! - A new `Q` ends what is queued there; where that may still wait, the new one's response is not known, either, nor are those that
//!   follow before long.
//! - A dispatch takes only pieces that make it up: others belong to dispatches that were lost, or to others that overlap. A piece that
//!   reaches beyond it must be known to be split (`X`).
//! - As many of the slowest pairs as may be wrong ([`super::mispairs`]) are *doubtful*: counted, and no I/Os. A dispatch with
//!   a doubtful queueing keeps its service, and its response is not known.
//! - What was open while a recorder was silent and lost events ([`holes`]) is doubtful, too.
//! - So it is with a dispatch without queueing, on a device whose queueing is traced. A completion without a dispatch, on a
//!   device whose dispatches are traced, is doubtful.

mod counts;
mod holes;
#[cfg(test)]
mod loss_tests;
mod losses;
mod queued;
mod silence;
#[cfg(test)]
mod tests;
mod tiling;
mod together;
mod waiting;

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use headstack_units::{Lba, Nanos};

use super::{Action, Event, Marks};
use crate::{Io, Kind, Request, RequestFlags};
pub use counts::PairingCounts;
use losses::Losses;
pub use losses::Survey;
use queued::{Piece, Queued, Taken};
use silence::Silences;
use together::Together;
use waiting::Waiting;

/// How long an I/O is waited for: one minute, twice the time after which Linux resets a SCSI device.
pub const LOST_AFTER: Nanos = Nanos(60_000_000_000);

/// Events between two looks whether many halves stay alone.
const LOOK: u64 = 1 << 8;

/// Events between two looks for lost ones.
const SWEEP: u64 = 1 << 16;

/// How much later than another an event may be stamped and still come before it.
const DISORDER: Nanos = Nanos(100_000_000);

/// A request at the device, or given back by it.
#[derive(Clone, Copy, Debug)]
struct Active {
    io: Io,
    /// Sectors not completed yet begin here.
    next: u64,
    end: u64,
    marks: Marks,
    /// A hole lies behind its dispatch: what completes it may belong to another.
    doubtful: bool,
    /// Another of its place was dispatched since.
    superseded: bool,
    /// Another of its place was completed since, and none dispatched.
    passed: bool,
    /// Taken for lost when another of its place was dispatched.
    ended: bool,
    /// Completions seen before its dispatch.
    behind: u64,
}

impl Active {
    fn age(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.io.request.start)
    }

    /// When it was queued, as far as that is known.
    fn believed_arrival(&self) -> Option<Nanos> {
        (self.io.response_known && !self.doubtful).then_some(self.io.request.arrival)
    }
}

/// What is made of halves where events are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairingRule {
    /// Only what must belong together is paired.
    #[default]
    Strict,
    /// The latest dispatch takes the completion, however old it is, as in btt.
    Btt,
}

/// What a dispatch or a completion found queued.
enum Claim {
    /// The earliest piece, and how many others.
    Pieces(Piece, u32),
    /// Only pieces that may belong to another.
    Doubtful,
    Nothing,
}

/// A few devices.
#[derive(Debug, Default)]
struct Devices(Vec<u32>);

impl Devices {
    #[inline]
    fn contains(&self, device: u32) -> bool {
        self.0.contains(&device)
    }

    #[inline]
    fn insert(&mut self, device: u32) {
        if !self.contains(device) {
            self.0.push(device);
        }
    }
}

/// Pairs a stream of events, in memory that grows with what is outstanding.
#[derive(Debug, Default)]
pub struct Pairing {
    queued: Queued,
    queued_flushes: BTreeMap<u32, (Nanos, u32)>,
    active: BTreeMap<(u32, u64, bool), Vec<Active>>,
    /// Lists that are empty, to be filled again.
    spare: Vec<Vec<Active>>,
    flushing: BTreeMap<u32, VecDeque<Active>>,
    /// Of the same sectors at the device at once.
    together: BTreeMap<(u32, u64, bool), Together>,
    requeued: BTreeMap<(u32, u64, bool), Active>,
    /// Places where several waited at once while events were missing, and until when that is unclear.
    unclear: BTreeMap<(u32, u64, bool), Nanos>,
    /// Devices whose queueing is traced, and those whose dispatches are.
    queueing: Devices,
    dispatching: Devices,
    rule: PairingRule,
    lossy: bool,
    losses: Losses,
    silences: Silences,
    /// When an end without its begin was last seen.
    proven: Option<Nanos>,
    /// What was begun before is doubtful.
    doubted: Option<Nanos>,
    /// Of the event taken last: pieces queued before do not belong to it.
    believed_since: Nanos,
    last_flush: BTreeMap<u32, u64>,
    /// Completed, not yet in order.
    done: BinaryHeap<Reverse<(Nanos, u64)>>,
    ios: Waiting,
    now: Nanos,
    seen: u64,
    completions: u64,
    counts: PairingCounts,
}

impl Pairing {
    /// A pairing by `rule`.
    pub fn new(rule: PairingRule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// A pairing of a trace that was seen as a whole before.
    pub(crate) fn surveyed(rule: PairingRule, survey: Survey) -> Self {
        Self { rule, lossy: survey.lossy, losses: survey.losses, ..Self::default() }
    }

    /// Events are known to be missing, from here on.
    pub fn events_are_missing(&mut self) {
        self.lossy = self.rule == PairingRule::Strict;
    }

    /// Whether events are known to be missing.
    pub(crate) fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// What is known of losses: from all of the trace, or its beginning.
    pub(crate) fn survey(mut self, whole: bool) -> Survey {
        let lossy = self.losses_matter();
        Survey { lossy, losses: if whole { self.losses.survey() } else { self.losses } }
    }

    /// What is known of requests of the same sectors at once, if there are any.
    pub(crate) fn overlaps(&self) -> Option<Survey> {
        let overlaps = self.losses.overlaps;
        overlaps.are_seen().then(|| Survey { lossy: false, losses: Losses { overlaps, ..Losses::default() } })
    }

    /// Takes the next event.
    pub fn push(&mut self, event: &Event) {
        self.now = self.now.max(event.time);
        self.seen += 1;
        self.believed_since = self.lost_before();
        if self.rule == PairingRule::Strict {
            self.listen(event);
        }
        match event.action {
            Action::Queue => self.queue(event),
            Action::GetRequest => {
                if let Some(piece) = self.queued.at(event) {
                    piece.got = event.time;
                }
            }
            Action::Insert => {
                if let Some(piece) = self.queued.at(event) {
                    piece.inserted = event.time;
                }
            }
            Action::BackMerge | Action::FrontMerge => self.counts.merges += 1,
            Action::Split => {
                self.counts.splits += 1;
                self.queued.split(event, event.marks.has(Marks::WRITE));
            }
            Action::Issue => self.issue(event),
            Action::Requeue => self.requeue(event),
            Action::Complete => self.complete(event),
            _ => {}
        }
        if self.seen.is_multiple_of(SWEEP) {
            self.sweep(self.now.saturating_sub(LOST_AFTER));
        }
        if !self.lossy && self.seen.is_multiple_of(LOOK) && self.losses_matter() {
            self.events_are_missing();
        }
    }

    /// Whether losses matter, as far as known: what may end yet is not lost.
    fn losses_matter(&mut self) -> bool {
        let left = self.left();
        let alone = self.counts.orphan_completions + self.counts.undispatched;
        if self.losses.services.are_many(left.lost.saturating_sub(alone)) {
            return true;
        }
        if !self.losses.matter() {
            return false;
        }
        let since = self.now.saturating_sub(self.far());
        self.losses.services.may_return(left.young);
        self.losses.waits.may_return(self.queued.young(since));
        let matter = self.losses.matter();
        self.losses.services.may_return(0);
        self.losses.waits.may_return(0);
        matter
    }

    /// What was begun before has waited for too long; btt waits for ever.
    fn lost_before(&self) -> Nanos {
        match self.rule {
            PairingRule::Strict => self.now.saturating_sub(LOST_AFTER),
            PairingRule::Btt => Nanos::ZERO,
        }
    }

    /// Of the event taken last: pieces queued before do not belong to it, or are not known to.
    pub(crate) fn believed_since(&self) -> Nanos {
        self.believed_since
    }

    /// The event taken last goes on with a request that arrived then; `None`: with none that is believed.
    fn believe(&mut self, arrival: Option<Nanos>) {
        self.believed_since = match arrival {
            Some(arrival) if !self.lossy => self.believed_since.min(arrival),
            Some(arrival) => arrival,
            None => Nanos::MAX,
        };
    }

    /// What has been counted so far.
    pub fn counts(&self) -> &PairingCounts {
        &self.counts
    }

    /// Appends the I/Os before which no other can come, in order of arrival.
    pub fn drain(&mut self, out: &mut Vec<Io>) {
        let open = self.queued.instants();
        let active = self.active.values().flatten().chain(self.requeued.values());
        let active = active.chain(self.flushing.values().flatten()).map(|active| active.io.request.arrival);
        let flushes = self.queued_flushes.values().map(|(queued, _)| *queued);
        let horizon = open.chain(active).chain(flushes).min().unwrap_or(Nanos::MAX);
        let together = self.together.values().map(|together| together.first).min();
        let horizon = horizon.min(together.unwrap_or(Nanos::MAX));
        self.release(horizon.min(self.now.saturating_sub(DISORDER)), out);
    }

    /// Ends the stream: what is still open is an orphan.
    pub fn finish(&mut self, out: &mut Vec<Io>) {
        self.sweep(Nanos::MAX);
        self.release(Nanos::MAX, out);
    }

    fn release(&mut self, horizon: Nanos, out: &mut Vec<Io>) {
        while let Some(&Reverse((arrival, number))) = self.done.peek() {
            if arrival >= horizon {
                break;
            }
            self.done.pop();
            out.extend(self.ios.take(number));
        }
    }

    fn queue(&mut self, event: &Event) {
        self.queueing.insert(event.device);
        if event.bytes == 0 {
            return self.queue_flush(event);
        }
        let write = event.marks.has(Marks::WRITE);
        let key = (event.device, event.sector, write);
        self.look_for_unended(key);
        if !self.lossy && self.queued.push_alone(event, write) {
            return self.losses.waits.begin();
        }
        if self.queued.is_rest(event, write) {
            return;
        }
        if self.lossy {
            self.supersede_early(key);
            self.believe(None);
        }
        self.losses.waits.begin();
        let doubtful = self.supersede_queued(event, write);
        self.queued.push(event, write, doubtful);
    }

    fn queue_flush(&mut self, event: &Event) {
        let held = self.queued_flushes.entry(event.device).or_insert((event.time, event.pid));
        if self.lossy && held.0 != event.time {
            *held = (event.time, event.pid);
            self.counts.orphan_queued += 1;
        }
    }

    /// A place is asked for again: what is queued there may have lost its dispatch. Whether the new piece may be taken for it:
    /// both may wait.
    fn supersede_queued(&mut self, event: &Event, write: bool) -> bool {
        let key = (event.device, event.sector, write);
        if !self.lossy {
            self.losses.waits.supersede(self.queued.supersede_alike(event, write));
            return false;
        }
        let usual = self.losses.waits.usual().unwrap_or_default();
        let limit = self.losses.waits.limit().max(Nanos(usual.0.saturating_mul(2)));
        let latest = self.queued.instants_at(key).max();
        let dropped = self.queued.drop_alike(event, write);
        self.counts.orphan_queued += dropped.all;
        let was_unclear = self.unclear.get(&key).is_some_and(|until| *until >= event.time);
        let is_unclear = was_unclear || latest.is_some_and(|latest| self.now.saturating_sub(latest) <= limit);
        if is_unclear {
            self.losses.waits.returned(dropped.superseded);
            self.unclear.insert(key, Nanos(event.time.0.saturating_add(limit.0)));
        } else {
            self.losses.waits.supersede(dropped.all - dropped.superseded);
            self.unclear.remove(&key);
        }
        is_unclear
    }

    /// Takes the queued pieces of one direction in [`first`, `end`). Those that wait for too long are given up, and in a
    /// trace with losses those that are doubtful.
    fn claim(&mut self, device: u32, first: u64, end: u64, write: bool) -> Claim {
        if self.lossy {
            self.counts.orphan_queued += self.queued.forget_owed();
        }
        if let Some(piece) = self.queued.take_alone((device, first, end, write)) {
            self.take_notice(&piece);
            if self.is_believed(&piece) {
                return Claim::Pieces(piece, 0);
            }
            self.counts.orphan_queued += 1;
            return Claim::Doubtful;
        }
        let since = if self.lossy { self.lost_before() } else { self.queued_since() };
        let mut taken = match self.queued.take((device, first, end, write), since, self.lossy) {
            Taken::Pieces(taken) => taken,
            Taken::Misfit => return Claim::Doubtful,
        };
        for piece in &taken {
            self.take_notice(piece);
        }
        self.counts.orphan_queued += self.queued.take_lost();
        let before = taken.len();
        taken.retain(|piece| self.is_believed(piece));
        self.counts.orphan_queued += (before - taken.len()) as u64;
        match taken.iter().min_by_key(|piece| piece.queued) {
            Some(&earliest) => Claim::Pieces(earliest, taken.len() as u32 - 1),
            None if before > 0 => Claim::Doubtful,
            None => Claim::Nothing,
        }
    }

    /// A piece is dispatched.
    fn take_notice(&mut self, piece: &Piece) {
        self.losses.waits.record(self.now.saturating_sub(piece.latest));
        self.losses.waits.returned(u64::from(piece.superseded));
    }

    /// Of several of one extent those that were queued before lost their dispatch; with btt's rule none did.
    fn queued_since(&self) -> Nanos {
        match self.rule {
            PairingRule::Strict => self.now.saturating_sub(self.far()),
            PairingRule::Btt => Nanos::ZERO,
        }
    }

    /// Whether a piece belongs to what takes it now.
    fn is_believed(&self, piece: &Piece) -> bool {
        let waited = self.now.saturating_sub(piece.queued);
        piece.queued >= self.lost_before()
            && !piece.doubtful
            && !(self.lossy && (waited > self.losses.waits.limit() || self.is_far(piece.queued)))
    }

    fn issue(&mut self, event: &Event) {
        self.dispatching.insert(event.device);
        let write = event.marks.has(Marks::WRITE);
        let key = (event.device, event.sector, write);
        if let Some(mut active) = self.take_requeued(key, event) {
            active.io.request.start = event.time.max(active.io.request.arrival);
            self.believe(active.believed_arrival());
            self.begin(key, active);
            return;
        }
        let (kind, sectors) = (event.marks.kind(event.bytes), event.sectors());
        let mut io = Io::new(Request {
            device: event.device,
            start: event.time,
            ..Request::new(event.time, event.marks.op(), Lba(event.sector), sectors)
        });
        io.kind = kind;
        io.pid = event.pid;
        let mut marks = event.marks;
        if event.bytes == 0 {
            self.losses.flushes.begin();
            self.supersede_flushes(event.device);
            let asked = self.queued_flushes.remove(&event.device);
            if let Some((queued, pid)) = asked {
                io.request.arrival = queued.min(event.time);
                io.pid = pid;
            }
            // One that nobody queued belongs to a write, which is marked itself.
            if kind == Kind::Flush && (asked.is_some() || !self.queueing.contains(event.device)) {
                io.request.flags = RequestFlags::FLUSH;
            }
        } else {
            self.look_for_unended(key);
            match self.claim(event.device, event.sector, event.end(), write) {
                Claim::Pieces(piece, merges) => {
                    io.request.arrival = piece.queued.min(event.time);
                    (io.got, io.inserted, io.pid, io.merges) = (piece.got, piece.inserted, piece.pid, merges);
                    marks = marks.with(piece.marks);
                }
                claim => io.response_known = !self.misses_queueing(event, &claim),
            }
            self.losses.services.begin();
            if self.active.contains_key(&key) {
                self.join(key);
            }
        }
        io.sync = marks.has(Marks::SYNC);
        if kind == Kind::Data {
            io.request.flags = marks.request_flags();
        }
        let active = Active {
            io,
            next: event.sector,
            end: event.end(),
            marks,
            doubtful: false,
            superseded: false,
            passed: false,
            ended: false,
            behind: self.completions,
        };
        self.believe(active.believed_arrival());
        self.begin(key, active);
    }

    /// What was given back and is dispatched again: of its size, or grown, if nothing else is queued there. Where events are missing,
    /// one that would be older than any is another's.
    fn take_requeued(&mut self, key: (u32, u64, bool), event: &Event) -> Option<Active> {
        let active = self.requeued.get(&key)?;
        let longest = self.losses.waits.limit().saturating_add(self.losses.services.limit());
        let is_stale = self.lossy && self.now.saturating_sub(active.io.request.arrival) > longest;
        let is_it = active.end == event.end() || self.queued.alike(event, key.2) == 0;
        if is_it && !is_stale { self.requeued.remove(&key) } else { None }
    }

    /// Whether the queueing of a dispatch, which has none that is believed, is missing.
    fn misses_queueing(&mut self, event: &Event, claim: &Claim) -> bool {
        if self.is_unclear(event) {
            return true;
        }
        if !self.queueing.contains(event.device) {
            return false;
        }
        self.losses.waits.unbegun();
        if matches!(claim, Claim::Doubtful) {
            return true;
        }
        if event.has_place() {
            self.lost_queueing();
        }
        self.lossy
    }

    /// Whether several of its place waited at once, and nobody knows which of them was dispatched.
    fn is_unclear(&self, event: &Event) -> bool {
        let key = (event.device, event.sector, event.marks.has(Marks::WRITE));
        self.unclear.get(&key).is_some_and(|until| *until >= event.time)
    }

    /// The same for flushes, of which a device has one at a time.
    fn supersede_flushes(&mut self, device: u32) {
        let Some(list) = self.flushing.get_mut(&device) else { return };
        self.losses.flushes.supersede(list.len() as u64);
        if self.lossy {
            self.counts.orphan_dispatches += undoubted(list.iter());
            list.clear();
        }
    }

    fn begin(&mut self, key: (u32, u64, bool), active: Active) {
        if active.io.request.sectors == 0 {
            self.flushing.entry(key.0).or_default().push_back(active);
        } else {
            let spare = &mut self.spare;
            self.active.entry(key).or_insert_with(|| spare.pop().unwrap_or_default()).push(active);
        }
    }

    fn requeue(&mut self, event: &Event) {
        self.counts.requeues += 1;
        let key = (event.device, event.sector, event.marks.has(Marks::WRITE));
        let Some(list) = self.active.get_mut(&key) else { return };
        let whole = list.iter().rposition(|active| active.end == event.end());
        let active = list.remove(whole.unwrap_or(list.len() - 1));
        if self.requeued.insert(key, active).is_some() {
            self.counts.orphan_dispatches += 1;
        }
        if self.active.get(&key).is_some_and(Vec::is_empty) {
            self.active.remove(&key);
        }
    }

    fn complete(&mut self, event: &Event) {
        if event.bytes == 0 {
            return self.complete_flush(event);
        }
        let write = event.marks.has(Marks::WRITE);
        let key = (event.device, event.sector, write);
        self.completions += 1;
        let since = self.alive_since();
        let in_order = self.rule == PairingRule::Strict && self.losses.overlaps.are_seen();
        let Entry::Occupied(mut place) = self.active.entry(key) else {
            return self.complete_piece(event, write);
        };
        let list = place.get_mut();
        let last = &list[list.len() - 1];
        self.losses.overlaps.complete(last.passed && last.io.request.start >= since);
        let is_whole = |active: &Active| active.end == event.end();
        let latest = list.iter().rposition(is_whole).unwrap_or(list.len() - 1);
        let latest_age = list[latest].age(event.time);
        let is_next = |active: &Active| {
            in_order && is_whole(active) && !active.ended && active.io.request.start >= since
        };
        let first = list[..latest].iter().position(is_next);
        let mut active = list.remove(first.unwrap_or(latest));
        match list.last_mut() {
            Some(last) => last.passed = true,
            None => self.spare.push(place.remove()),
        }
        if active.ended {
            return self.lost_begin();
        }
        if active.superseded && self.losses.overlaps.are_to_be_expected() {
            self.losses.services.returned(1);
        }
        if event.end() < active.end {
            self.counts.partial_completions += 1;
            self.believe(active.believed_arrival());
            active.next = event.end();
            self.active.entry((event.device, active.next, write)).or_default().push(active);
            return;
        }
        let age = active.age(event.time);
        self.losses.services.record(latest_age);
        if self.gives_up(&active) {
            return self.believe(None);
        }
        let begun = active.io.request.start;
        if self.lossy
            && (event.end() > active.end || age > self.losses.services.limit() || self.is_far(begun))
        {
            self.counts.doubtful += 1;
            self.doubt_together(key);
            return self.believe(None);
        }
        let is_alone = self.together.is_empty() || !self.together.contains_key(&key);
        self.believe(active.believed_arrival().filter(|_| is_alone));
        self.end(active.io, event.time);
        if !is_alone {
            self.ended_together(key, self.ios.last());
        }
    }

    /// Whether what completes a dispatch is not its own: a hole lies between them, or more than [`LOST_AFTER`].
    fn gives_up(&mut self, active: &Active) -> bool {
        let lost = active.io.request.start < self.lost_before();
        if lost && !active.doubtful {
            self.counts.orphan_dispatches += 1;
            self.counts.orphan_completions += 1;
        }
        lost || active.doubtful
    }

    fn complete_flush(&mut self, event: &Event) {
        let flush = self.flushing.get_mut(&event.device).and_then(VecDeque::pop_front);
        if let Some(active) = flush {
            *self.last_flush.entry(event.device).or_default() += 1;
            let age = active.age(event.time);
            self.losses.flushes.record(age);
            if self.gives_up(&active) {
                return;
            }
            if self.lossy && age > self.losses.flushes.limit() {
                self.counts.doubtful += 1;
                return;
            }
            self.counts.flushes += u64::from(active.marks.has(Marks::FLUSH));
            return self.end(active.io, event.time);
        }
        if let Some(ended) = self.last_flush.get_mut(&event.device).filter(|ended| **ended > 0) {
            *ended -= 1;
            self.counts.double_flush_completions += 1;
        } else {
            self.counts.orphan_completions += 1;
            self.losses.flushes.unbegun();
        }
    }

    /// A completion without a dispatch.
    fn complete_piece(&mut self, event: &Event, write: bool) {
        let lost = self.dispatching.contains(event.device);
        if lost {
            self.losses.services.unbegun();
            self.look_for_unended((event.device, event.sector, write));
        }
        let claim = self.claim(event.device, event.sector, event.end(), write);
        let Claim::Pieces(piece, merges) = claim else {
            self.counts.orphan_completions += 1;
            if lost && event.has_place() && matches!(claim, Claim::Nothing) {
                self.lost_dispatch();
            }
            if self.lossy || matches!(claim, Claim::Doubtful) {
                self.believe(None);
            }
            return;
        };
        if self.lossy && lost {
            self.counts.doubtful += 1;
            return self.believe(None);
        }
        self.believe(Some(piece.queued));
        self.counts.undispatched += 1;
        let marks = event.marks.with(piece.marks);
        let request = Request {
            device: event.device,
            flags: marks.request_flags(),
            ..Request::new(piece.queued.min(event.time), marks.op(), Lba(event.sector), event.sectors())
        };
        let (got, inserted, pid) = (piece.got, piece.inserted, piece.pid);
        let (kind, sync) = (marks.kind(event.bytes), marks.has(Marks::SYNC));
        self.end(Io { kind, got, inserted, pid, merges, sync, ..Io::new(request) }, event.time);
    }

    fn end(&mut self, mut io: Io, time: Nanos) {
        let begun = io.request.start.present().unwrap_or(io.request.arrival);
        io.request.finish = time.max(begun);
        self.counts.pairs += 1;
        self.counts.without_queueing += u64::from(!io.response_known);
        self.counts.discards += u64::from(io.kind == Kind::Discard);
        let arrival = io.request.arrival;
        self.done.push(Reverse((arrival, self.ios.push(io))));
    }

    /// Gives up what was begun before `horizon`.
    fn sweep(&mut self, horizon: Nanos) {
        let together: Vec<_> = self.together.keys().copied().collect();
        for key in together {
            self.give_up_older(key, horizon);
        }
        self.unclear.retain(|_, until| *until >= self.now);
        let Self { counts, .. } = self;
        let mut keeps = |active: &Active| {
            let lost = active.io.request.start < horizon;
            counts.orphan_dispatches += u64::from(lost && !active.doubtful);
            !lost
        };
        self.active.retain(|_, list| {
            list.retain(&mut keeps);
            !list.is_empty()
        });
        self.flushing.values_mut().for_each(|list| list.retain(&mut keeps));
        self.requeued.retain(|_, active| keeps(active));
        counts.orphan_queued += self.queued.sweep(horizon);
        self.queued_flushes.retain(|_, (queued, _)| *queued >= horizon);
    }
}

/// How many are not counted as doubtful yet.
fn undoubted<'a>(list: impl IntoIterator<Item = &'a Active>) -> u64 {
    list.into_iter().filter(|active| !active.doubtful).count() as u64
}
