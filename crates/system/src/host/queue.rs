//! The driver's queue for one drive: a scheduler, and in front of it what it must not see yet.

use std::collections::VecDeque;

use headstack_drive::command::Command;
use headstack_units::RequestFlags;

use super::{Position, Scheduler, Waiting};

/// What waits for one drive.
///
/// The scheduler chooses from at most `limit` commands. A command marked `ORDERED` neither overtakes nor is overtaken:
/// it enters the scheduler only when that is empty, and nothing enters after it until it has left. (`HEAD_OF_QUEUE` is
/// a tag for the drive's own queue; the driver passes it on.)
#[derive(Clone, Debug)]
pub struct DriverQueue {
    scheduler: Scheduler,
    backlog: VecDeque<Waiting>,
    limit: usize,
    /// The scheduler holds an ordered command (and nothing else).
    is_closed: bool,
    next_sequence: u64,
    position: Position,
}

impl DriverQueue {
    /// An empty queue.
    pub fn new(scheduler: Scheduler, limit: Option<u32>) -> Self {
        Self {
            scheduler,
            backlog: VecDeque::new(),
            limit: limit.map_or(usize::MAX, |limit| limit as usize),
            is_closed: false,
            next_sequence: 0,
            position: Position::default(),
        }
    }

    /// Takes a command in.
    pub fn push(&mut self, command: Command) {
        let waiting = Waiting { command, sequence: self.next_sequence };
        self.next_sequence += 1;
        if self.backlog.is_empty() && self.may_enter(&waiting) {
            self.enter(waiting);
        } else {
            self.backlog.push_back(waiting);
        }
    }

    /// Chooses the next command and takes it out.
    pub fn pop(&mut self) -> Option<Command> {
        let command = self.scheduler.pop(self.position)?.command;
        let start = command.lba.0;
        self.position = Position { last_start: start, last_end: start + u64::from(command.sectors) };
        self.is_closed = false;
        while let Some(next) = self.backlog.front().copied()
            && self.may_enter(&next)
        {
            self.backlog.pop_front();
            self.enter(next);
        }
        Some(command)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.scheduler.len() + self.backlog.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn may_enter(&self, waiting: &Waiting) -> bool {
        let is_free = self.scheduler.is_empty();
        !self.is_closed && self.scheduler.len() < self.limit && (is_free || !is_ordered(&waiting.command))
    }

    fn enter(&mut self, waiting: Waiting) {
        self.is_closed = is_ordered(&waiting.command);
        self.scheduler.push(waiting);
    }
}

fn is_ordered(command: &Command) -> bool {
    command.flags.contains(RequestFlags::ORDERED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headstack_units::{Lba, Op};

    fn order(limit: Option<u32>, commands: &[(u64, bool)]) -> Vec<u64> {
        let mut queue = DriverQueue::new(Scheduler::named("c-look").unwrap(), limit);
        for &(lba, ordered) in commands {
            let flags = if ordered { RequestFlags::ORDERED } else { RequestFlags::default() };
            queue.push(Command { id: 0, op: Op::Write, lba: Lba(lba), sectors: 1, flags });
        }
        assert_eq!(queue.len(), commands.len());
        std::iter::from_fn(|| queue.pop()).map(|command| command.lba.0).collect()
    }

    #[test]
    fn ordered_commands_are_barriers() {
        let found = order(None, &[(9, false), (5, false), (7, true), (1, false), (0, false)]);
        assert_eq!(found, [5, 9, 7, 0, 1]);
    }

    #[test]
    fn the_scheduler_sees_as_many_as_the_limit_allows() {
        assert_eq!(order(Some(2), &[(9, false), (5, false), (1, false), (7, false)]), [5, 9, 1, 7]);
        assert_eq!(order(None, &[(9, false), (5, false), (1, false), (7, false)]), [1, 5, 7, 9]);
    }
}
