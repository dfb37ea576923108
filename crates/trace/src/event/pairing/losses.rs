//! What is known of losses: how many pairs may be wrong, step by step.

use headstack_units::Nanos;

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
}

impl Losses {
    /// Whether a wrong pair is to be expected, or dispatches lack their queueing all the time. (Completions without a dispatch
    /// are no such sign: there are drivers that complete other sectors than they were given.)
    pub(super) fn matter(&self) -> bool {
        self.services.wrong() + self.waits.wrong() + self.flushes.wrong() >= 1.0
            || self.waits.begins_are_missing()
    }

    /// What all but one in a thousand take from queueing to completion, once some are known.
    pub(super) fn usual(&self) -> Option<Nanos> {
        let (wait, service) = (self.waits.usual(), self.services.usual());
        let sum = wait.unwrap_or_default().0.saturating_add(service.unwrap_or_default().0);
        wait.or(service).map(|_| Nanos(sum))
    }

    /// All of the trace has been seen.
    pub(super) fn survey(self) -> Self {
        let Self { services, waits, flushes } = self;
        Self { services: services.survey(), waits: waits.survey(), flushes: flushes.survey() }
    }
}

/// What is known of losses from a trace seen as a whole.
#[derive(Clone, Debug)]
pub struct Survey {
    pub(super) lossy: bool,
    pub(super) losses: Losses,
}
