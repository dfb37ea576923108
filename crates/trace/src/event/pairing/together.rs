//! Several of the same sectors at the device at once, where events are missing.
//!
//! If all are completed, their services add up to the same whoever took which completion, and first come, first served
//! is as good as any. If one completion is missing, nobody knows whose it was: all of them are doubtful. So they make
//! I/Os together, as soon as none is at the device any more, or none at all.
//!
//! Above a page cache no sector is asked for again before it is completed: a second dispatch tells that the completion of the
//! first was lost. Which of both it is, the trace tells ([`super::losses::Overlaps`]).

use headstack_units::Nanos;

use super::active::Active;
use super::{Pairing, PairingRule};
use crate::event::Side;

/// A request is taken for lost if it lasts so many times as long as all but one in a thousand.
pub(super) const LIVES: u64 = 2;

/// More than so many one after the other are not waited for.
const MOST: usize = 1 << 10;

/// No device completes so many others first.
const OVERTAKEN: u64 = 1 << 8;

/// How many are at the device.
pub(super) struct Left {
    pub(super) all: u64,
    pub(super) lost: u64,
    pub(super) young: u64,
}

/// Where they are: device, first sector, and what is done to it.
pub(super) type Key = (u32, u64, Side);

/// Those of one place that were at the device together, as far as they are completed.
#[derive(Debug)]
pub(super) struct Together {
    numbers: Vec<u64>,
    /// When the first arrived.
    pub(super) first: Nanos,
}

impl Pairing {
    /// Since when what is at the device was dispatched, unless it has lost its completion.
    pub(super) fn alive_since(&self) -> Nanos {
        if self.balanced {
            return Nanos::ZERO;
        }
        let usual = self.usual_since(if self.lossy { LIVES } else { LIVES + 1 });
        if self.lossy { usual.max(self.now.saturating_sub(self.losses.services.limit())) } else { usual }
    }

    /// Since when what is at the device may be there by what is usual. (The limit is no measure of whether there are overlaps: where
    /// they are taken for losses, it comes out too short to see them.)
    pub(super) fn usual_since(&self, lives: u64) -> Nanos {
        let usual = self.losses.services.usual_lately();
        self.now.saturating_sub(usual.map_or(Nanos::MAX, |usual| Nanos(usual.0.saturating_mul(lives))))
    }

    /// A place is asked for again: what is there may have lost its completion, and has for certain if it is too old.
    pub(super) fn supersede(&mut self, key: Key) {
        let Some(list) = self.active.get_mut(&key) else { return };
        let mut newly = 0;
        for active in list {
            newly += u64::from(!std::mem::replace(&mut active.superseded, true));
        }
        self.losses.services.supersede(newly);
        if self.lossy {
            self.give_up_older(key, self.alive_since());
            if !self.losses.overlaps.are_to_be_expected() {
                self.end_all(key);
            }
        }
    }

    /// The same, while what asks for it is queued only: its dispatch may be lost, too, and its completion not.
    pub(super) fn supersede_early(&mut self, key: Key) {
        self.supersede(key);
        if self.losses.overlaps.are_known() {
            return;
        }
        self.doubt_together(key);
        self.doubt_all(key);
    }

    /// What is at the device there lost its completion.
    fn end_all(&mut self, key: Key) {
        for active in self.active.get_mut(&key).into_iter().flatten() {
            active.ended = true;
            if !std::mem::replace(&mut active.doubtful, true) {
                self.counts.orphan(active);
            }
        }
    }

    /// Gives up what was dispatched there before `since`; and all that was there together with it.
    pub(super) fn give_up_older(&mut self, key: Key, since: Nanos) {
        let Some(list) = self.active.get_mut(&key) else { return };
        let counts = &mut self.counts;
        let mut is_less = false;
        list.retain(|active| {
            let keeps = active.io.request.start >= since;
            if !keeps && !active.doubtful {
                counts.orphan(active);
            }
            is_less |= !keeps && !active.ended;
            keeps
        });
        if list.is_empty() {
            self.active.remove(&key);
        }
        if is_less {
            self.doubt_together(key);
        }
    }

    /// One is dispatched, perhaps while others of the same place are at the device.
    pub(super) fn join(&mut self, key: Key) {
        let (since, usual) = (self.alive_since(), self.usual_since(LIVES));
        let Some(list) = self.active.get_mut(&key) else { return };
        for active in list.iter_mut() {
            active.stale |= active.io.request.start < since;
        }
        self.losses
            .overlaps
            .dispatch(list.iter().any(|active| !active.ended && active.io.request.start >= usual));
        self.supersede(key);
        if self.lossy && self.is_there(key) {
            let first = self.now;
            self.together.entry(key).or_insert(Together { numbers: Vec::new(), first });
        }
    }

    /// Whether something is at the device there that is not taken for lost.
    fn is_there(&self, key: Key) -> bool {
        self.active.get(&key).is_some_and(|list| list.iter().any(|active| !active.ended))
    }

    /// The I/O of that number was completed: whether others were there with it.
    pub(super) fn ended_together(&mut self, key: Key, number: u64) {
        if !self.is_there(key) {
            self.together.remove(&key);
            return;
        }
        let Some(together) = self.together.get_mut(&key) else { return };
        together.numbers.push(number);
        let arrival = self.ios.get(number).map(|io| io.request.arrival);
        together.first = together.first.min(arrival.unwrap_or(Nanos::MAX));
        if together.numbers.len() > MOST {
            self.doubt_together(key);
        }
    }

    /// A completion there is missing: whose, nobody knows.
    pub(super) fn doubt_together(&mut self, key: Key) {
        let Some(together) = self.together.remove(&key) else { return };
        for number in together.numbers {
            self.take_back(number);
        }
        self.doubt_all(key);
    }

    /// What is at the device there is doubtful.
    fn doubt_all(&mut self, key: Key) {
        for active in self.active.get_mut(&key).into_iter().flatten() {
            self.counts.doubtful += u64::from(!std::mem::replace(&mut active.doubtful, true));
        }
    }

    /// What was completed is no I/O after all.
    fn take_back(&mut self, number: u64) {
        let Some(io) = self.ios.take(number) else { return };
        self.counts.pairs -= 1;
        self.counts.without_queueing -= u64::from(!io.response_known);
        if io.request.start.present().is_none() {
            self.counts.undispatched -= 1;
            self.undispatched.pairs -= 1;
        }
        self.counts.discards -= u64::from(io.kind == crate::Kind::Discard);
        self.counts.doubtful += 1;
    }

    /// Whether nothing is left for a completion but a dispatch that was too old when another of its place was dispatched, which is
    /// completed since, and so have been very many others: it lost its completion, and this one lost its dispatch.
    pub(super) fn is_overtaken(&self, active: &Active) -> bool {
        self.rule == PairingRule::Strict && active.stale && self.completions - active.behind >= OVERTAKEN
    }

    /// A completion of what was taken for lost: its dispatch may be missing just as well.
    pub(super) fn lost_begin(&mut self) {
        self.counts.orphan_completions += 1;
        self.losses.services.unbegun();
        self.believe(None);
    }

    /// What is at the device: what lost its completion, and of what was asked for again what may be completed yet.
    pub(super) fn left(&self) -> Left {
        let mut left = Left { all: 0, lost: 0, young: 0 };
        for active in self.active.values().flatten() {
            let is_lost = self.completions - active.behind >= OVERTAKEN;
            left.all += 1;
            left.lost += u64::from(is_lost);
            left.young += u64::from(active.superseded && !is_lost);
        }
        left
    }
}
