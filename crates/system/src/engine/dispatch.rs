//! Which command the driver hands to a drive next.

use std::sync::Arc;

use headstack_drive::command::Command;
use headstack_drive::scheduler::{Needs, Waiting};
use headstack_units::Nanos;

use super::Engine;

impl Engine {
    /// Takes the next command for a unit out of its queue, joined with those that continue it where the policy says so.
    pub(super) fn next_command(&mut self, now: Nanos, index: usize) -> Option<Command> {
        let mut command = self.choose(now, index)?.command;
        let mut last = command.id as usize;
        self.leave_turn(last, index);
        while let Some(follower) = self.units[index].queue.pop_follower() {
            command.sectors += follower.command.sectors;
            let next = follower.command.id as usize;
            self.children[last].joined = Some(next);
            self.leave_turn(next, index);
            last = next;
        }
        Some(command)
    }

    fn leave_turn(&mut self, child: usize, index: usize) {
        let turn = self.children[child].turn;
        if let Some(turns) = &mut self.turns[self.units[index].bus] {
            turns.leave(turn, index);
        }
    }

    fn choose(&mut self, now: Nanos, index: usize) -> Option<Waiting> {
        let unit = &mut self.units[index];
        if unit.queue.policy().needs() == Needs::Addresses {
            return unit.queue.pop(now, &[], &[]).map(|taken| taken.waiting);
        }
        let model = Arc::clone(unit.drive.model());
        // A drive that has commands already turns to this one after them.
        let from = if unit.at_drive == 0 { now } else { now.max(unit.expected_free) };
        let reach = unit.drive.reach_of_host(&model, from, unit.queue.last_sector());
        let waiting = unit.queue.pop(from, &[reach], &[])?.waiting;
        let Waiting { command, target, .. } = &waiting;
        unit.expected_free =
            reach.start(command.op, target, command.sectors) + reach.transfer(target, command.sectors);
        Some(waiting)
    }
}
