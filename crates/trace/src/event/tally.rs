//! Counts of events, as blkparse prints them below its listing.

use super::{Action, Event, Marks};

/// How many and how much, reads and writes apart: what is no write counts as a read, as with blkparse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Reads and writes.
    pub events: [u64; 2],
    /// Their bytes.
    pub bytes: [u64; 2],
}

impl Count {
    fn push(&mut self, event: &Event) {
        let write = usize::from(event.marks.has(Marks::WRITE));
        self.events[write] += 1;
        self.bytes[write] += u64::from(event.bytes);
    }
}

/// What a trace of events holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All events, messages included; notes of process names and of the time of day are none.
    pub entries: u64,
    /// By action, in the order of [`Action`].
    pub by_action: std::collections::BTreeMap<Action, u64>,
    /// `Q`.
    pub queued: Count,
    /// `D`; the bytes less those given back (`R`), as blkparse counts.
    pub dispatched: Count,
    /// `R`.
    pub requeued: Count,
    /// `C`.
    pub completed: Count,
    /// `M` and `F`.
    pub merged: Count,
}

impl Tally {
    /// Counts an event.
    pub fn push(&mut self, event: &Event) {
        self.entries += 1;
        *self.by_action.entry(event.action).or_default() += 1;
        match event.action {
            Action::Queue => self.queued.push(event),
            Action::Issue => self.dispatched.push(event),
            Action::Requeue => {
                self.requeued.push(event);
                let given_back = &mut self.dispatched.bytes[usize::from(event.marks.has(Marks::WRITE))];
                *given_back = given_back.saturating_sub(u64::from(event.bytes));
            }
            Action::Complete => self.completed.push(event),
            Action::BackMerge | Action::FrontMerge => self.merged.push(event),
            _ => {}
        }
    }

    /// How many events of `action` there are.
    pub fn of(&self, action: Action) -> u64 {
        self.by_action.get(&action).copied().unwrap_or(0)
    }
}
