//! The driver's queue of one unit.

use std::collections::VecDeque;

use headstack_drive::Drive;
use headstack_drive::command::Command;
use headstack_drive::scheduler::{Needs, Queue};
use headstack_units::Nanos;

/// What waits in the driver for one unit. First come, first served is by far the most frequent order, and needs nothing of
/// what a scheduler keeps.
#[derive(Clone, Debug)]
pub(crate) struct DriverQueue {
    order: Order,
    /// Where the command taken last ended.
    last_end: u64,
}

#[derive(Clone, Debug)]
enum Order {
    Arrival(VecDeque<Command>),
    Scheduled {
        queue: Box<Queue>,
        /// When the driver expects the drive to be through with what it gave it.
        expected_free: Nanos,
    },
}

impl DriverQueue {
    /// An empty queue; `is_limited` if the scheduler sees only so many commands.
    pub(crate) fn new(queue: Queue, is_limited: bool) -> Self {
        let order = if queue.policy().is_fcfs() && !is_limited {
            Order::Arrival(VecDeque::new())
        } else {
            Order::Scheduled { queue: Box::new(queue), expected_free: Nanos::ZERO }
        };
        Self { order, last_end: 0 }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        match &self.order {
            Order::Arrival(commands) => commands.is_empty(),
            Order::Scheduled { queue, .. } => queue.is_empty(),
        }
    }

    /// How many commands had to wait because the scheduler saw as many as it may.
    #[inline]
    pub(crate) fn held_back(&self) -> u64 {
        match &self.order {
            Order::Arrival(_) => 0,
            Order::Scheduled { queue, .. } => queue.held_back(),
        }
    }

    /// Where the command taken last ended: the sector after its last one.
    pub(crate) fn last_end(&self) -> u64 {
        self.last_end
    }

    /// Takes a command in that arrives at `now`.
    #[inline]
    pub(crate) fn push(&mut self, command: Command, now: Nanos) {
        match &mut self.order {
            Order::Arrival(commands) => commands.push_back(command),
            Order::Scheduled { queue, .. } => queue.push(command, now),
        }
    }

    /// Takes the next command out, for a drive that `is_idle` or not.
    #[inline]
    pub(crate) fn pop(&mut self, now: Nanos, drive: &mut Drive, is_idle: bool) -> Option<Command> {
        let command = match &mut self.order {
            Order::Arrival(commands) => commands.pop_front(),
            Order::Scheduled { queue, expected_free } => scheduled(queue, expected_free, now, drive, is_idle),
        }?;
        self.last_end = command.lba.0 + u64::from(command.sectors);
        Some(command)
    }

    /// Takes a command out that continues the one taken last, if the two are to be one.
    #[inline]
    pub(crate) fn pop_follower(&mut self) -> Option<Command> {
        let command = match &mut self.order {
            Order::Arrival(_) => None,
            Order::Scheduled { queue, .. } => queue.pop_follower().map(|waiting| waiting.command),
        }?;
        self.last_end = command.lba.0 + u64::from(command.sectors);
        Some(command)
    }
}

fn scheduled(
    queue: &mut Queue,
    expected_free: &mut Nanos,
    now: Nanos,
    drive: &mut Drive,
    is_idle: bool,
) -> Option<Command> {
    if queue.policy().needs() == Needs::Addresses {
        return queue.pop(now, &[], &[]).map(|taken| taken.waiting.command);
    }
    let model = std::sync::Arc::clone(drive.model());
    // A drive that has commands already turns to this one after them.
    let from = if is_idle { now } else { now.max(*expected_free) };
    let estimate = drive.estimate_of_host(&model, from, queue.last_sector());
    let waiting = queue.pop(from, &[estimate], &[])?.waiting;
    let (command, target) = (&waiting.command, &waiting.target);
    *expected_free =
        estimate.start(command.op, target, command.sectors) + estimate.transfer(target, command.sectors);
    Some(waiting.command)
}
