//! What transfers tell: background work done, and, where somebody listens, how the last command went.

use crate::command::{Background, Work};
use crate::mechanism::Pass;
use headstack_units::Nanos;

/// How one command went, step by step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Narrative {
    /// The media work, in the order of time.
    pub(crate) passes: Vec<Pass>,
    /// The command is decoded as far as the arm is concerned.
    pub(crate) decoded: Nanos,
    /// The mechanism turned to it, after this work.
    pub(crate) media_base: Nanos,
    pub(crate) waited_for: Work,
    /// The track from which the arm set out, where one did.
    pub(crate) from: Option<(u32, u32)>,
    /// The bus was held from and until.
    pub(crate) transfers: Vec<(Nanos, Nanos)>,
    /// Part of a physical sector is written: the whole of it is read before.
    pub(crate) reads_first: bool,
    /// How cached data were brought to where they are kept.
    pub(crate) kept: Vec<Keeping>,
}

/// A part of that.
#[derive(Clone, Debug)]
pub(crate) struct Keeping {
    pub(crate) label: &'static str,
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    /// The track under the head, where that changes.
    pub(crate) track: Option<(u32, u32)>,
    pub(crate) note: &'static str,
}

/// Where transfers leave their records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    background: Vec<Background>,
    narrative: Option<Box<Narrative>>,
}

impl Log {
    /// Background work was done.
    pub(crate) fn add(&mut self, work: Background) {
        self.background.push(work);
    }

    /// The background work since it was last taken.
    pub(crate) fn take(&mut self) -> std::vec::Drain<'_, Background> {
        self.background.drain(..)
    }

    /// Hands the background work since it was last taken to `to`.
    #[inline]
    pub(crate) fn hand_over(&mut self, to: &mut Vec<Background>) {
        if self.background.is_empty() {
            return;
        }
        if to.is_empty() {
            return std::mem::swap(to, &mut self.background);
        }
        to.append(&mut self.background);
    }

    /// Listens to the next command.
    pub(crate) fn listen(&mut self) {
        self.narrative = Some(Box::default());
    }

    /// What was heard since.
    pub(crate) fn heard(&mut self) -> Narrative {
        self.narrative.take().map(|narrative| *narrative).unwrap_or_default()
    }

    /// Whether somebody listens.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.narrative.is_some()
    }

    /// Tells something, if somebody listens.
    #[inline]
    pub(crate) fn tell(&mut self, what: impl FnOnce(&mut Narrative)) {
        if let Some(narrative) = &mut self.narrative {
            what(narrative);
        }
    }
}
