//! Holes: silences of a recorder in which events were lost, and what was open then.
//!
//! A silence is a hole if the trace tells so soon after it: an end whose begin is missing, or a begin that is seen again
//! without its end after far longer than nearly all take. What was open in a hole may have ended in it, and what ends it later
//! may belong to another: it is doubtful. A device that pauses leaves no such sign, and keeps its slow requests.

use headstack_units::Nanos;

use super::together::Key;
use super::{Active, Pairing, PairingRule};

/// So many times as long as all but one in a thousand take is far too long.
const FAR: u64 = 10;

impl Pairing {
    /// Listens whether the recorder was silent, and whether something was lost meanwhile.
    pub(super) fn listen(&mut self, event: &crate::event::Event) {
        let Some(since) = self.silences.hear(event) else { return };
        if self.proven.is_some_and(|proven| proven >= since) {
            self.doubt_open(event.time);
        }
    }

    /// All that a processor told before its first event was a hole.
    #[cold]
    pub(super) fn meet(&mut self, event: &crate::event::Event) {
        let before = self.late.len();
        self.late.retain(|cpu| *cpu != u32::from(event.cpu));
        if self.late.len() < before {
            self.doubt_open(event.time);
        }
    }

    /// A completion lost its dispatch: if a recorder was silent shortly before, that was a hole.
    pub(super) fn lost_dispatch(&mut self) {
        self.proven = Some(self.now);
        self.look_for_hole(self.silences.ended());
    }

    /// A dispatch lost its queueing: if the only recorder was silent shortly before, that was a hole. (In what several told, a
    /// dispatch without its queueing is seen now and then where nothing was lost.)
    pub(super) fn lost_queueing(&mut self) {
        self.look_for_hole(self.silences.ended_everywhere());
    }

    /// A silence that ended then was a hole, if that was shortly before.
    fn look_for_hole(&mut self, ended: Option<Nanos>) {
        let Some(ended) = ended.filter(|ended| Some(*ended) > self.doubted) else { return };
        if self.rule == PairingRule::Strict && self.now.saturating_sub(ended) <= self.far() {
            self.doubt_open(ended);
        }
    }

    /// Whether what was begun then cannot have lasted until now, where events are missing.
    pub(super) fn is_far(&self, begun: Nanos) -> bool {
        self.silences.lie_behind(begun) && self.now.saturating_sub(begun) > self.far()
    }

    /// A place is asked for again: if what is queued there is far too old, it went on in a hole. (A dispatch may stay open: some
    /// drivers complete other sectors than they were given.)
    pub(super) fn look_for_unended(&mut self, key: Key) {
        if self.lossy || self.rule != PairingRule::Strict || self.silences.ended().is_none() {
            return;
        }
        let oldest = self.queued.instants_at(key).min();
        if oldest.is_some_and(|oldest| self.is_far(oldest)) {
            self.doubt_open(self.silences.ended().unwrap_or_default());
        }
    }

    /// Ten times as long as nearly all took, from queueing to completion.
    pub(super) fn far(&self) -> Nanos {
        let usual = self.losses.usual();
        usual.map_or(Nanos::MAX, |usual| Nanos(usual.0.saturating_mul(FAR)))
    }

    /// A hole ended then: what was begun before is doubtful.
    fn doubt_open(&mut self, ended: Nanos) {
        if self.doubted >= Some(ended) || self.balanced {
            return;
        }
        self.doubted = Some(ended);
        self.events_are_missing();
        let together: Vec<_> = self.together.keys().copied().collect();
        for key in together {
            self.doubt_together(key);
        }
        let active = self.active.values_mut().flatten();
        let active = active.chain(self.flushing.values_mut().flatten());
        let active = active.chain(self.commands.values_mut().flatten()).chain(self.requeued.values_mut());
        for active in active {
            self.counts.doubtful += u64::from(active.doubt(ended));
        }
        self.queued.doubt(ended);
        let before = self.queued_flushes.len();
        self.queued_flushes.retain(|_, (queued, _)| *queued >= ended);
        self.counts.orphan_queued += (before - self.queued_flushes.len()) as u64;
    }
}

impl Active {
    /// A hole ended then: whether this was dispatched before, and was not doubtful yet. If only its queueing lies before, the
    /// service is kept, and the response is not known.
    fn doubt(&mut self, ended: Nanos) -> bool {
        let request = &mut self.io.request;
        if request.start < ended {
            return !std::mem::replace(&mut self.doubtful, true);
        }
        if request.arrival < ended {
            request.arrival = request.start;
            (self.io.got, self.io.inserted) = (Nanos::MAX, Nanos::MAX);
            self.io.response_known = false;
        }
        false
    }
}
