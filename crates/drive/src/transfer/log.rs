//! What transfers tell: background work done, and, where somebody listens, how a command goes.

use crate::command::{Background, Work};
use crate::mechanics::Epoch;
use crate::mechanism::Pass;
use headstack_units::Nanos;

/// How one command went, step by step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Narrative {
    /// The media work, in the order of time.
    pub(crate) passes: Vec<Pass>,
    /// When the controller turned to it, if it did, and how long something else had to be through first.
    pub(crate) turned: Option<Nanos>,
    pub(crate) put_off: Nanos,
    /// The command is decoded as far as the arm is concerned.
    pub(crate) decoded: Nanos,
    /// There was room in the write cache.
    pub(crate) room: Nanos,
    /// The mechanism turned to it, after this work.
    pub(crate) media_base: Nanos,
    pub(crate) waited_for: Work,
    /// The track from which the arm set out, where one did.
    pub(crate) from: Option<(u32, u32)>,
    /// The bus was wanted from and until it was granted, where that took time…
    pub(crate) waits_for_bus: Vec<(Nanos, Nanos)>,
    /// …and held from and until.
    pub(crate) transfers: Vec<(Nanos, Nanos)>,
    /// Part of a physical sector is written: the whole of it is read before.
    pub(crate) reads_first: bool,
    /// How cached data were brought to where they are kept.
    pub(crate) kept: Vec<Keeping>,
    /// The track under the head when the controller turned to it.
    pub(crate) at: (u32, u32),
    /// The disk as it turned under its passes, and the set of heads that made them.
    pub(crate) seen: Option<Seen>,
}

/// The disk as a command's heads see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) epoch: Epoch,
    pub(crate) heads: usize,
    /// So many passes were known then.
    passes: usize,
}

impl Narrative {
    /// Notes how the disk is seen, if passes have become known since it was noted last.
    pub(crate) fn see(&mut self, view: impl FnOnce(Nanos) -> (Epoch, usize)) {
        let passes = self.passes.len();
        if self.seen.is_none_or(|seen| seen.passes < passes) {
            let (epoch, heads) = view(self.media_base.max(self.decoded));
            self.seen = Some(Seen { epoch, heads, passes });
        }
    }
}

/// Those that somebody listens to.
#[derive(Clone, Debug, Default)]
struct Listened {
    narratives: Vec<(u64, Narrative)>,
    /// Which of them is at work now.
    about: Option<usize>,
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
    listened: Option<Box<Listened>>,
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

    /// Listens to the next command of this number.
    pub(crate) fn listen(&mut self, id: u64) {
        let listened = self.listened.get_or_insert_default();
        listened.narratives.push((id, Narrative::default()));
    }

    /// What was heard of a command that somebody listened to. It is not listened to any more.
    pub(crate) fn heard(&mut self, id: u64) -> Option<Narrative> {
        let listened = self.listened.as_mut()?;
        let index = listened.narratives.iter().position(|&(of, _)| of == id)?;
        let (_, narrative) = listened.narratives.swap_remove(index);
        listened.about = None;
        if listened.narratives.is_empty() {
            self.listened = None;
        }
        Some(narrative)
    }

    /// Whether somebody listens to any command.
    #[inline]
    pub(crate) fn has_listeners(&self) -> bool {
        self.listened.is_some()
    }

    /// What is told from here on is about this command.
    #[inline]
    pub(crate) fn turn_to(&mut self, id: u64) {
        if let Some(listened) = &mut self.listened {
            listened.about = listened.narratives.iter().position(|&(of, _)| of == id);
        }
    }

    /// Whether somebody listens to the command at work.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.listened.as_ref().is_some_and(|listened| listened.about.is_some())
    }

    /// Tells something of the command at work, if somebody listens to it.
    #[inline]
    pub(crate) fn tell(&mut self, what: impl FnOnce(&mut Narrative)) {
        if let Some(listened) = &mut self.listened
            && let Some(about) = listened.about
        {
            what(&mut listened.narratives[about].1);
        }
    }
}
