//! Writes whose data come while the one that they continue goes to the media.
//!
//! A drive that queues commands has the data of the next write in its buffer before the media are through with the one before: they
//! go on where that ends, and no revolution is lost to the next command's overhead and bus. The scheduler chooses as it would when
//! the media are through; what it chooses waits for those unless it goes on there.

use super::{Controller, Drive};
use crate::command::{Command, Effect};
use crate::scheduler::{Held, Needs, Waiting};
use crate::transfer::{Turn, goes_to_media};
use headstack_units::{Nanos, Op};
use std::sync::Arc;

/// Writes on their way to the media with all of their data in the buffer.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    /// Where the last of them ends, and from when on its successor may begin; `None` where nothing may.
    last: Option<(u64, Nanos)>,
    /// When the media are through with each, and its sectors.
    held: Vec<(Nanos, u64)>,
    /// For which arrivals the scheduler has been asked in vain.
    refused: Option<Nanos>,
}

impl Ahead {
    /// The controller turns to a command.
    pub(super) fn begin(&mut self) {
        (self.last, self.refused) = (None, None);
    }

    /// All data of a write came by `received`; the media are through with it when it is `written`.
    pub(super) fn goes_on(&mut self, command: &Command, received: Nanos, written: Nanos) {
        let sectors = u64::from(command.sectors);
        self.last = Some((command.lba.0 + sectors, received));
        self.held.retain(|&(until, _)| until > received);
        self.held.push((written, sectors));
    }

    /// When a buffer of so many sectors has room for `sectors` more, from `at` on.
    fn room_from(&self, buffer: u64, sectors: u64, at: Nanos) -> Option<Nanos> {
        let held_at = |at: Nanos| -> u64 {
            self.held.iter().filter(|(until, _)| *until > at).map(|(_, sectors)| sectors).sum()
        };
        let mut instants = std::iter::once(at).chain(self.held.iter().map(|&(until, _)| until.max(at)));
        instants.find(|&at| held_at(at) + sectors <= buffer)
    }
}

impl Drive {
    /// Turns to a write that continues the one on its way to the media, if that is the next by `now`: whether it does.
    pub(super) fn take_next_write(&mut self, now: Nanos, effects: &mut Vec<Effect>) -> bool {
        let Some((end, from)) = self.ahead.last else { return false };
        let Controller::FreeAt(free) = self.controller else { return false };
        let newest = self.queue.newest_arrival();
        let at = from.max(newest);
        if at >= free || self.ahead.refused == Some(newest) || self.aside.is_under_way() {
            return false;
        }
        if at > now {
            self.wake(at, effects);
            return false;
        }
        let Some(Waiting { command, arrived, .. }) = self.choose_next_write(end, at) else {
            self.ahead.refused = Some(newest);
            return false;
        };
        let room = self.ahead.room_from(self.model.sizes.buffer, u64::from(command.sectors), at);
        let at = room.map_or(free, |room| room.min(free));
        self.turn_to(&Turn { command, submitted: arrived, at, flush: Nanos::ZERO }, effects);
        true
    }

    /// The command to which the controller would turn at `at`, if it is a write that goes on at `end`.
    fn choose_next_write(&mut self, end: u64, at: Nanos) -> Option<Waiting> {
        let model = Arc::clone(&self.model);
        let goes_on = |waiting: &Waiting| {
            let Command { op, lba, sectors, .. } = waiting.command;
            (op, lba.0) == (Op::Write, end)
                && !waiting.command.is_ordered()
                && u64::from(sectors) <= model.sizes.buffer
                && goes_to_media(&model, &waiting.command)
        };
        let [coming, read_on] = self.look_into_buffer(at);
        let held = Held { buffered: &self.buffered, coming, read_on };
        if model.policy().needs() == Needs::Addresses {
            return self.queue.pop_if(at, &[], held, goes_on);
        }
        let estimate = self.parts.estimate(&model, at);
        self.queue.pop_if(at, &[estimate], held, goes_on)
    }
}
