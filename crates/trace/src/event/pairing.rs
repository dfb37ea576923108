//! From events to I/Os: what was dispatched and completed, with what came before.
//!
//! The unit is the request the device saw (`D` to `C`), as a simulated drive would. Its rules:
//!
//! - **Queued pieces** (`Q`) wait by place. A dispatch takes those that make it up without gap or overlap ([`tiling`]), or
//!   else all that have a part in it: the earliest gives the arrival and the process, the others count as merges. Of several of one
//!   extent, each has a dispatch of its own, in their order. Of a piece that reaches beyond the dispatch, on either side, the rest
//!   stays: it was split, and older kernels tell of it a second time.
//! - **Merges** (`M`, `F`) go to a request that waits then: where several do, a dispatch is the oldest that can have grown to its size
//!   (`queued/merging.rs`).
//! - **`G` and `I`** stamp the piece that holds their first sector.
//! - **A completion** belongs to the dispatch with the same first sector and side (a discard is no write), of several of its size to the first that
//!   may still be at the device, if such are seen to be there at once ([`together`]), else to the latest. One that was too old when
//!   the next of its place was dispatched, and that very many others have overtaken since, has lost its completion: what comes for it is
//!   an orphan, and events are missing. One of less than the whole leaves the rest dispatched, and
//!   the I/O ends with the last part.
//! - **A requeue** takes the dispatch back; the next dispatch of that place goes on with its history.
//! - **A flush** (no data, no place) is answered in order of dispatch. It is marked as one unless, where queueing is traced,
//!   nobody queued it: the kernel sends it before or after a write that is marked itself. The kernel completes a flush twice, for the device
//!   and for the one who asked: the second is counted and nothing else.
//! - **A command of another protocol** is never queued and has no place ([`commands`]).
//! - **A completion without a dispatch** that covers queued pieces ends those: device mapper, RAID and RAM disks have no
//!   dispatch ([`undispatched`]). Otherwise it is an orphan.
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
//! - A piece that was merged before any request of a dispatch was queued is no part of it.
//! - On a device that dispatches nothing a new `Q` ends whatever has a part in its sectors and is too old, and a completion takes only
//!   requests that make it up.
//! - As many of the slowest pairs as may be wrong ([`super::mispairs`]) are *doubtful*: counted, and no I/Os. A dispatch with
//!   a doubtful queueing keeps its service, and its response is not known.
//! - What was open while a recorder was silent and lost events ([`holes`]) is doubtful, too.
//! - So it is with a dispatch without queueing, on a device whose queueing is traced. A completion without a dispatch, on a
//!   device whose dispatches are traced, is doubtful.

mod active;
mod claim;
mod commands;
mod completion;
mod counts;
mod dispatch;
mod ended;
mod holes;
#[cfg(test)]
mod loss_tests;
mod losses;
mod queued;
mod queueing;
mod silence;
#[cfg(test)]
mod tests;
mod tiling;
mod together;
mod undispatched;
mod waiting;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use headstack_units::Nanos;

use super::btt::Lacks;
use super::{Action, Event, Marks};
use crate::Io;
use active::Active;
pub(crate) use counts::Alone;
pub use counts::PairingCounts;
pub(crate) use ended::LostEnd;
pub(crate) use losses::Longest;
pub use losses::Survey;
use losses::{Cut, Losses};
use queued::Queued;
use silence::Silences;
use together::{Key, Together};
use undispatched::Undispatched;
use waiting::Waiting;

/// How long an I/O is waited for: one minute, twice the time after which Linux resets a SCSI device.
pub const LOST_AFTER: Nanos = Nanos(60_000_000_000);

/// Events between two looks whether many halves stay alone.
const LOOK: u64 = 1 << 8;

/// Events between two looks for lost ones.
const SWEEP: u64 = 1 << 16;

/// Of fewer pairs the slowest says little of others.
const MANY: u64 = 1000;

/// Of what may end yet so many times as many others end first as ever before.
const FAR: u64 = 2;

/// How much later than another an event may be stamped and still come before it.
const DISORDER: Nanos = Nanos(100_000_000);

/// What is made of halves where events are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairingRule {
    /// Only what must belong together is paired.
    #[default]
    Strict,
    /// The latest dispatch takes the completion, however old it is, as in btt.
    Btt,
}

/// What an event goes on with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Belief {
    /// Pieces queued before do not belong to it, or are not known to.
    pub(crate) since: Nanos,
    /// When its request arrived; zero if that is not known.
    pub(crate) arrival: Nanos,
}

/// A few devices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Devices(Vec<u32>);

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
    active: BTreeMap<Key, Vec<Active>>,
    /// Lists that are empty, to be filled again.
    spare: Vec<Vec<Active>>,
    flushing: BTreeMap<u32, VecDeque<Active>>,
    /// Commands of other protocols at the device.
    commands: BTreeMap<u32, VecDeque<Active>>,
    /// Of the same sectors at the device at once.
    together: BTreeMap<Key, Together>,
    requeued: BTreeMap<Key, Active>,
    /// Places where several waited at once while events were missing, and until when that is unclear.
    unclear: BTreeMap<Key, Nanos>,
    /// Devices whose queueing is traced, and those whose dispatches are.
    queueing: Devices,
    queued_before: Nanos,
    dispatching: Devices,
    /// Devices that dispatch nothing.
    undispatched: Undispatched,
    rule: PairingRule,
    lossy: bool,
    /// Each half has its other: nothing is missing, however long things wait.
    balanced: bool,
    losses: Losses,
    silences: Silences,
    /// When an end without its begin was last seen.
    proven: Option<Nanos>,
    /// What was begun before is doubtful.
    doubted: Option<Nanos>,
    /// Where processors lost their ends, until then.
    cut: Option<Cut>,
    /// Processors of which no event came yet, and those before their first are lost.
    late: Vec<u32>,
    /// What will have lost its end, the last first.
    lost_ends: Vec<LostEnd>,
    /// Behind that, a longer response is not believed.
    longest: Option<Nanos>,
    /// Nor is what was at the device with others of its place.
    only_alone: bool,
    /// Of the event taken last.
    belief: Belief,
    last_flush: BTreeMap<u32, u64>,
    /// Completed, not yet in order.
    done: BinaryHeap<Reverse<(Nanos, u64)>>,
    ios: Waiting,
    now: Nanos,
    seen: u64,
    completions: u64,
    /// Completions of what was queued and never dispatched that are doubtful, as events are missing.
    doubted_alone: u64,
    counts: PairingCounts,
}

impl Pairing {
    /// A pairing by `rule`.
    pub fn new(rule: PairingRule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// A pairing of a trace that was seen as a whole before.
    pub(crate) fn surveyed(rule: PairingRule, survey: Survey) -> Self {
        let Survey {
            lossy,
            balanced,
            only_alone,
            losses,
            queueing,
            dispatch_nothing,
            queued_before,
            cut,
            late,
            lost_ends,
        } = survey;
        let undispatched = Undispatched::of(dispatch_nothing);
        Self {
            queueing,
            queued_before,
            undispatched,
            rule,
            lossy,
            balanced,
            losses,
            cut,
            late,
            lost_ends,
            only_alone,
            ..Self::default()
        }
    }

    /// The same, of which that will have lost its end, the last first.
    pub(crate) fn ending_without(self, lost_ends: Vec<LostEnd>) -> Self {
        Self { lost_ends, ..self }
    }

    /// Events are known to be missing, from here on.
    pub fn events_are_missing(&mut self) {
        self.lossy = self.rule == PairingRule::Strict && !self.balanced;
    }

    /// Whether events are known to be missing.
    pub(crate) fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// What is known of losses: from all of the trace, or its beginning.
    pub(crate) fn survey(mut self, whole: bool) -> Survey {
        let lossy = self.losses_matter();
        let dispatch_nothing = self.dispatch_nothing();
        let losses = if whole { self.losses.survey() } else { self.losses };
        let queueing = self.queueing;
        Survey { lossy, queueing, dispatch_nothing, losses, ..Survey::default() }
    }

    /// A pairing of a trace of which nothing is missing.
    pub(crate) fn of_all() -> Self {
        Self { balanced: true, ..Self::default() }
    }

    /// Ends that lack their begin so far, and pairs.
    pub(crate) fn alone(&self) -> Alone {
        let Losses { services, unqueued, undispatched, .. } = &self.losses;
        let completions = services.ends_alone().saturating_sub(*undispatched);
        Alone { completions, unqueued: *unqueued, undispatched: *undispatched, pairs: self.counts.pairs }
    }

    /// Whether something has no end though far more ended since than ever did while one was at the device; of a `half` of a trace that was
    /// taken as a whole, though others ended since. (A driver that completes other sectors than it was given leaves dispatches of what was
    /// never queued.)
    pub(crate) fn lacks_ends(&self, half: Option<Nanos>) -> bool {
        let is_begun = |active: &&Active| {
            let device = active.io.request.device;
            active.io.response_known || !self.queueing.contains(device)
        };
        let most = self.losses.most_meanwhile * if half.is_some() { 1 } else { FAR };
        let is_lost = |active: &Active| {
            let since = self.completions - active.behind;
            since > most || since > 0 && half.is_some_and(|half| active.io.request.start < half)
        };
        self.active.values().flatten().filter(is_begun).any(is_lost)
    }

    /// Whether each half so far has its other, each dispatch its queueing, and nothing is doubtful.
    pub(crate) fn has_all(&self) -> bool {
        let counts = &self.counts;
        counts.orphans() + counts.doubtful + counts.without_queueing + self.losses.unqueued == 0
    }

    /// What the beginning of a trace without losses, which begins at `begun`, tells: whose queueing is traced and how long things wait,
    /// and of requests of the same sectors at once, if there are any.
    pub(crate) fn beginning(&self, begun: Nanos) -> Survey {
        let dispatch_nothing = self.dispatch_nothing();
        let longest_wait = self.losses.waits.longest();
        let queued_before = Nanos(begun.0.saturating_add(longest_wait.0.saturating_mul(2)));
        let overlaps = Some(self.losses.overlaps).filter(|overlaps| overlaps.are_seen()).unwrap_or_default();
        let losses = Losses { overlaps, ..Losses::default() };
        let queueing = self.queueing.clone();
        let balanced = self.balanced;
        Survey { balanced, queueing, dispatch_nothing, queued_before, losses, ..Survey::default() }
    }

    /// The same if all that was taken so far is what lies before the end of a processor that lost what comes then; `longest` is of the
    /// I/Os that were drained. `None` where events were missing before.
    pub(crate) fn before_cut(&mut self, begun: Nanos, mut longest: Longest) -> Option<Survey> {
        if self.lossy {
            return None;
        }
        let mut ios = Vec::new();
        self.release(Nanos::MAX, &mut ios);
        for io in &ios {
            longest.push(io);
        }
        let cut = Some(Cut { at: self.now, longest, is_short: self.counts.pairs < MANY });
        let survey = Survey { cut, ..self.beginning(begun) };
        self.cut = cut;
        self.look_for_cut();
        Some(survey)
    }

    /// The same, once all of the trace was taken: where much takes longer behind the cut than ever before, what does not may be as wrong.
    pub(crate) fn behind_cut(&self, before: Survey) -> Survey {
        let cut = before.cut.map(|cut| Cut { longest: self.losses.held(cut.longest), ..cut });
        Survey { cut, ..before }
    }

    /// Ends without a begin so far.
    pub(crate) fn unbegun(&self) -> u64 {
        self.counts.orphan_completions + self.losses.unqueued + self.losses.undispatched
    }

    /// Behind the end of a processor events are missing.
    fn look_for_cut(&mut self) {
        let Some(cut) = self.cut.filter(|cut| cut.at <= self.now) else { return };
        self.cut = None;
        self.events_are_missing();
        self.losses.bound(cut.longest);
        self.longest = Some(cut.longest.response);
        self.only_alone = cut.is_short;
    }

    /// Takes the next event.
    pub fn push(&mut self, event: &Event) {
        self.now = self.now.max(event.time);
        self.seen += 1;
        self.belief = Belief { since: self.lost_before(), arrival: Nanos::ZERO };
        if self.rule == PairingRule::Strict {
            self.listen(event);
            if self.late.len() + self.lost_ends.len() > 0 {
                self.meet(event);
                self.give_up_ended();
            }
        }
        match event.action {
            _ if event.marks.has(Marks::PACKET) => self.command(event),
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
            Action::BackMerge | Action::FrontMerge => {
                self.counts.merges += 1;
                self.queued.merge(event, event.marks.side());
            }
            Action::Split => {
                self.counts.splits += 1;
                let side = event.marks.side();
                self.wait_as_pieces(event.device, event.sector..event.sector + 1, Some(side));
                self.queued.split(event, side);
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
        let alone = self.counts.orphan_completions + self.counts.undispatched + self.doubted_alone;
        let alone = alone.saturating_sub(self.undispatched.pairs + self.undispatched.alone);
        if self.losses.services.are_many(left.lost.saturating_sub(alone)) {
            return true;
        }
        // A driver that completes other sectors than it was given leaves a dispatch for each.
        let given = self.counts.orphan_dispatches + left.all;
        if self.losses.services.are_many(self.losses.undispatched.saturating_sub(given)) {
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

    /// What the trace lacks, as far as known.
    pub(crate) fn lacks(&self) -> Lacks {
        match self.rule {
            PairingRule::Strict if self.lossy => Lacks::Events,
            PairingRule::Strict if self.counts.orphans() + self.counts.doubtful > 0 => Lacks::Halves,
            _ => Lacks::Nothing,
        }
    }

    /// What the event taken last goes on with.
    pub(crate) fn belief(&self) -> Belief {
        self.belief
    }

    /// The event taken last goes on with a request that arrived then; `None`: with none that is believed.
    fn believe(&mut self, arrival: Option<Nanos>) {
        let since = match arrival {
            Some(arrival) if !self.lossy => self.belief.since.min(arrival),
            Some(arrival) => arrival,
            None => Nanos::MAX,
        };
        self.belief = Belief { since, arrival: arrival.unwrap_or_default() };
    }

    /// What has been counted so far.
    pub fn counts(&self) -> &PairingCounts {
        &self.counts
    }

    /// Appends the I/Os before which no other can come, in order of arrival.
    pub fn drain(&mut self, out: &mut Vec<Io>) {
        self.look_for_cut();
        let open = self.queued.instants();
        let active = self.active.values().flatten().chain(self.requeued.values());
        let active = active.chain(self.flushing.values().flatten()).chain(self.commands.values().flatten());
        let active = active.map(|active| active.io.request.arrival);
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
            if lost && !active.doubtful {
                counts.orphan(active);
            }
            !lost
        };
        self.active.retain(|_, list| {
            list.retain(&mut keeps);
            !list.is_empty()
        });
        let lists = self.flushing.values_mut().chain(self.commands.values_mut());
        lists.for_each(|list| list.retain(&mut keeps));
        self.requeued.retain(|_, active| keeps(active));
        counts.orphan_queued += self.queued.sweep(horizon);
        self.queued_flushes.retain(|_, (queued, _)| *queued >= horizon);
    }
}
