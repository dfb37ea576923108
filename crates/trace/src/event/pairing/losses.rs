//! What is known of losses: how many pairs may be wrong, step by step.

use headstack_units::Nanos;

use super::{Devices, LostEnd};
use crate::Io;
use crate::event::mispairs::Mispairs;

/// What losses made of the steps of I/Os.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    /// From dispatch to completion.
    pub(super) services: Mispairs,
    /// From queueing to dispatch.
    pub(super) waits: Mispairs,
    /// From dispatch to completion of flushes.
    pub(super) flushes: Mispairs,
    /// Completions for which only a dispatch was left that had lost its own.
    pub(super) overtaken: u64,
    /// The most completions while one was at the device that was alone at its place.
    pub(super) most_meanwhile: u64,
    /// Completions of what was queued and never dispatched, of devices whose dispatches are traced.
    pub(super) undispatched: u64,
    /// Dispatches of what was never queued, of devices whose queueing is traced.
    pub(super) unqueued: u64,
    /// Whether several of the same sectors are at the device at once.
    pub(super) overlaps: Overlaps,
}

/// One in so many that takes longer than any before tells that all may.
const EXCEEDED: u64 = 3;

/// Dispatches that are needed to tell whether overlaps are to be expected.
const KNOWN: u64 = 8;

/// One completion of the kind that only overlaps make, in so many dispatches that look like one.
const SHARE: u64 = 64;

/// Dispatches of a place where another is at the device, and what they tell: two completions in turn are of two that were there at
/// once, where a lost completion leaves one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overlaps {
    dispatches: u64,
    completions: u64,
}

impl Overlaps {
    /// A dispatch of a place where another may be at the device or not.
    pub(super) fn dispatch(&mut self, beside_another: bool) {
        self.dispatches += u64::from(beside_another);
    }

    /// A completion of a place, in turn with another of it and while one is at the device, or not.
    pub(super) fn complete(&mut self, in_turn: bool) {
        self.completions += u64::from(in_turn);
    }

    /// Whether it is known if several of the same sectors are at the device at once.
    pub(super) fn are_known(self) -> bool {
        self.dispatches >= KNOWN
    }

    /// Whether such were seen, and not by chance.
    pub(super) fn are_seen(self) -> bool {
        self.completions > 0 && self.are_to_be_expected()
    }

    /// Whether they are, as far as known.
    pub(super) fn are_to_be_expected(self) -> bool {
        !self.are_known() || self.completions * SHARE >= self.dispatches
    }
}

impl Losses {
    /// Whether a wrong pair is to be expected, or dispatches lack their queueing all the time. (Completions without a dispatch
    /// are no such sign: there are drivers that complete other sectors than they were given.)
    pub(super) fn matter(&self) -> bool {
        self.services.wrong() + self.waits.wrong() + self.flushes.wrong() >= 1.0
            || self.waits.begins_are_missing()
            || self.overtaken > 0
    }

    /// Something queued was completed and not dispatched: whether its dispatch is missing. (A driver that completes other sectors than it was
    /// given dispatches, before each, what was not queued.)
    pub(super) fn lack_a_dispatch(&mut self) -> bool {
        self.undispatched += 1;
        self.undispatched > self.unqueued
    }

    /// What all but one in a thousand take from queueing to completion, once some are known.
    pub(super) fn usual(&self) -> Option<Nanos> {
        let (wait, service) = (self.waits.usual(), self.services.usual());
        let sum = wait.unwrap_or_default().0.saturating_add(service.unwrap_or_default().0);
        wait.or(service).map(|_| Nanos(sum))
    }

    /// All of the trace has been seen.
    pub(super) fn survey(self) -> Self {
        let (services, waits, flushes) = (self.services.survey(), self.waits.survey(), self.flushes.survey());
        Self { services, waits, flushes, ..self }
    }
}

/// What is known of losses, and of requests of the same sectors at once, from a trace or its beginning.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    pub(super) lossy: bool,
    /// Whether each half has its other.
    pub(super) balanced: bool,
    /// Little is known, and what is at the device with others of its place is not believed.
    pub(super) only_alone: bool,
    /// Devices whose queueing is traced.
    pub(super) queueing: Devices,
    /// Devices that dispatch nothing.
    pub(super) dispatch_nothing: Devices,
    /// What is dispatched until then and was not queued in the trace may have been queued before it begins.
    pub(super) queued_before: Nanos,
    pub(super) losses: Losses,
    /// Where processors lost their ends.
    pub(super) cut: Option<Cut>,
    /// Processors that lost what they told before their first event.
    pub(super) late: Vec<u32>,
    /// What lost its end with a processor that serves its own requests, the last first.
    pub(super) lost_ends: Vec<LostEnd>,
}

/// From when on the events of processors are missing, and how long what was completed before took at most: what takes longer then may
/// have lost its own end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) at: Nanos,
    pub(super) longest: Longest,
    /// Little was completed before.
    pub(super) is_short: bool,
}

/// The longest times of requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Longest {
    /// From queueing to dispatch.
    pub(super) wait: Nanos,
    /// From dispatch to completion, or from queueing on where nothing is dispatched.
    pub(super) service: Nanos,
    /// From queueing to completion.
    pub(super) response: Nanos,
}

impl Survey {
    /// The same of a trace of which events are missing all the time, and, if it is short, little is known.
    pub(crate) fn lacking(self, is_short: bool) -> Self {
        Self { lossy: true, only_alone: is_short, ..self }
    }

    /// The same of a trace that lacks events if its beginning does.
    pub(crate) fn lacking_as(self, beginning: &Self) -> Self {
        if beginning.lossy { self.lacking(beginning.only_alone) } else { self }
    }

    /// The same of a trace in which all is queued of which that is known.
    pub(crate) fn queued_if_known(self) -> Self {
        Self { queued_before: Nanos::MAX, ..self }
    }

    /// The same of a trace in which these processors lost what they told before their first event.
    pub(crate) fn beginning_late(self, late: Vec<u32>) -> Self {
        Self { late, ..self }
    }

    /// The same of a trace in which that lost its end, the last first.
    pub(crate) fn ending_without(self, lost_ends: Vec<LostEnd>) -> Self {
        Self { lost_ends, ..self }
    }
}

impl Longest {
    pub(crate) fn push(&mut self, io: &Io) {
        let (response, service) = (io.response(), io.request.measured_service());
        self.service = self.service.max(service.or(response).unwrap_or_default());
        let Some(response) = response else { return };
        self.response = self.response.max(response);
        self.wait = self.wait.max(response.saturating_sub(service.unwrap_or(response)));
    }
}

impl Losses {
    /// What to believe behind a cut that bounds them since: no step of which many take longer.
    pub(super) fn held(&self, longest: Longest) -> Longest {
        let is_exceeded = |(pairs, longer): (u64, u64)| longer * EXCEEDED >= pairs.max(1);
        let mut held = longest;
        if is_exceeded(self.waits.since_bound()) {
            held.response = Nanos::ZERO;
        }
        if is_exceeded(self.services.since_bound()) {
            held.service = Nanos::ZERO;
        }
        held
    }

    /// From here on what takes longer is not believed.
    pub(super) fn bound(&mut self, longest: Longest) {
        self.services.bound(longest.service);
        self.waits.bound(longest.wait);
        self.flushes.bound(longest.service);
    }
}
