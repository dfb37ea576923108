//! When the driver hands a command to a drive, and which.

use headstack_drive::command::Command;
use headstack_units::{Nanos, Op};

use super::{Engine, Event, Hold, Unit};
use crate::bus::{Contender, Purpose};
use crate::host::DriverQueue;

impl Engine {
    /// Hands waiting commands to a drive as far as it may have them.
    pub(super) fn pump(&mut self, now: Nanos, index: usize) {
        while self.has_slot(index) && self.pump_one(now, index) {}
    }

    /// Whether a unit has a command waiting that its drive would take.
    pub(super) fn is_ready(&self, index: usize) -> bool {
        let unit = &self.units[index];
        (!unit.queue.is_empty() || unit.may_take_background())
            && unit.at_drive < unit.limit
            && unit.drive.can_accept()
    }

    /// Hands the next command to a drive, or contends for the bus for it; false if there is nothing to hand out now.
    pub(super) fn pump_one(&mut self, now: Nanos, index: usize) -> bool {
        if !self.is_ready(index) {
            return false;
        }
        let unit = &mut self.units[index];
        let bus = &mut self.buses[unit.bus];
        if !bus.timing().disconnects || unit.command_hold.is_some() {
            let is_granted = match unit.hold {
                Hold::Held => unit.at_drive == 0 || unit.command_hold.is_some(),
                Hold::Waiting => false,
                Hold::None => {
                    let contender = Contender { unit: index, purpose: Purpose::Hold, since: now };
                    bus.contend(now, contender, &mut self.ledger.buses[unit.bus])
                }
            };
            if !is_granted {
                if unit.hold == Hold::None {
                    unit.hold = Hold::Waiting;
                }
                return false;
            }
            unit.hold = Hold::Held;
        }
        let Some(command) = self.next_command(now, index) else { return false };
        let unit = &mut self.units[index];
        unit.at_drive += 1;
        if unit.command_hold.is_some() {
            unit.hold = Hold::None;
            let hold = unit.holds_for(command.op, command.sectors == 0);
            self.calendar.schedule(now + hold, Event::BusFree(unit.bus));
        }
        self.take_slot(index);
        if self.units[index].drive.may_have_acted(now) {
            self.tell_own_work(index, now);
        }
        if self.telling.is_some() {
            self.listen_to_command(index, &command);
        }
        self.call_drive(index, now, |drive, effects| drive.submit(now, command, effects));
        true
    }

    /// Takes the next command for a unit out of its queue, joined with those that continue it where the policy says so.
    fn next_command(&mut self, now: Nanos, index: usize) -> Option<Command> {
        let unit = &mut self.units[index];
        let background = unit.queue.is_empty();
        let queue = if background { &mut unit.background } else { &mut unit.queue };
        let mut command = queue.pop(now, &mut unit.drive, unit.at_drive == 0)?;
        unit.background_at_drive += u32::from(background);
        let mut last = command.id as usize;
        self.leave_line(last, index);
        while let Some(follower) = self.units[index].line(background).pop_follower() {
            command.sectors += follower.sectors;
            let next = follower.id as usize;
            self.subs[last].joined = Some(next);
            self.leave_line(next, index);
            last = next;
        }
        Some(command)
    }

    fn leave_line(&mut self, sub: usize, index: usize) {
        let place = self.subs[sub].place;
        if let Some(slots) = &mut self.slots[self.units[index].bus] {
            slots.leave(place, index);
        }
    }
}

impl Unit {
    /// How long a command holds a bus that commands hold: through its overhead.
    pub(super) fn holds_for(&self, op: Op, is_empty: bool) -> Nanos {
        self.command_hold.filter(|_| !is_empty).map_or(Nanos::ZERO, |hold| hold[op as usize])
    }

    /// Whether a command waits that is of no request, and its drive may be given one.
    fn may_take_background(&self) -> bool {
        !self.background.is_empty() && self.background_at_drive < self.background_limit
    }

    /// One of its two queues.
    fn line(&mut self, background: bool) -> &mut DriverQueue {
        if background { &mut self.background } else { &mut self.queue }
    }
}
