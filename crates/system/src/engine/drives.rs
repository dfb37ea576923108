//! Drives and buses: what a drive announces is entered into the calendar, and the bus goes round.

use headstack_drive::Drive;
use headstack_drive::command::{Busy, Effect, Outcome, Ticket};
use headstack_units::Nanos;

use super::{Engine, Event, Hold, SubRequest, background, note_hold, recalibration_interval};
use crate::bus::{Contender, Purpose};

impl Engine {
    /// Calls a drive, and enters what it announces.
    pub(super) fn call_drive(
        &mut self,
        index: usize,
        now: Nanos,
        call: impl FnOnce(&mut Drive, &mut Vec<Effect>),
    ) {
        call(&mut self.units[index].drive, &mut self.drive_effects);
        self.enter_effects(index, now);
    }

    /// Enters what a drive has announced.
    fn enter_effects(&mut self, index: usize, now: Nanos) {
        let mut effects = std::mem::take(&mut self.drive_effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::NeedBus { ticket, at, .. } => {
                    self.calendar.schedule(at.max(now), Event::WantsBus { unit: index, ticket });
                }
                Effect::ReleaseBus { at, .. } => {
                    // Who holds the bus for a whole command lets go of it at the end of the command.
                    if self.units[index].hold != Hold::Held {
                        self.calendar.schedule(at.max(now), Event::BusFree(self.units[index].bus));
                    }
                }
                Effect::WakeAt(at) => {
                    self.calendar.schedule(at.max(now), Event::Wake(index));
                }
                Effect::Done(mut outcome) => {
                    note_hold(self.buses[self.units[index].bus].timing(), &mut outcome);
                    if self.telling.is_some() {
                        self.hear_of_command(index, &outcome);
                    }
                    let sub = outcome.id as usize;
                    // The bus was held for the command, too.
                    let SubRequest { op, is_empty, .. } = self.subs[sub];
                    outcome.busy.bus += self.units[index].holds_for(op, is_empty);
                    self.subs[sub].outcome = self.outcomes.insert(outcome);
                    self.calendar.schedule(outcome.finish.max(now), Event::Done(sub));
                }
                Effect::Background(work) => {
                    self.ledger.units[index].work_in_background(&work);
                    self.background.push(background(&self.system, index, work));
                }
            }
        }
        self.drive_effects = effects;
    }

    pub(super) fn wants_bus(&mut self, now: Nanos, index: usize, ticket: Ticket) {
        let unit = &self.units[index];
        let contender = Contender { unit: index, purpose: Purpose::Transfer(ticket), since: now };
        if unit.hold == Hold::Held
            || self.buses[unit.bus].contend(now, contender, &mut self.ledger.buses[unit.bus])
        {
            self.grant(now, contender);
        }
    }

    fn grant(&mut self, now: Nanos, contender: Contender) {
        match contender.purpose {
            Purpose::Transfer(ticket) => {
                let unit = &mut self.units[contender.unit];
                let timing = self.buses[unit.bus].timing();
                unit.drive.bus_granted(now, ticket, timing, &mut self.drive_effects);
                self.enter_effects(contender.unit, now);
                // The drive may have taken its next command in hand, and have room for another.
                self.pump(now, contender.unit);
            }
            Purpose::Hold => {
                self.units[contender.unit].hold = Hold::Held;
                self.pump(now, contender.unit);
                let unit = &mut self.units[contender.unit];
                if unit.command_hold.is_some() && unit.hold == Hold::Held {
                    // There was nothing to hand out after all.
                    unit.hold = Hold::None;
                    self.release(now, self.units[contender.unit].bus);
                }
            }
        }
    }

    pub(super) fn release(&mut self, now: Nanos, bus: usize) {
        if let Some(next) = self.buses[bus].release(now, &mut self.ledger.buses[bus]) {
            self.grant(now, next);
        }
    }

    /// A command of a drive is complete.
    pub(super) fn done(&mut self, now: Nanos, first: usize) {
        self.last_done = self.last_done.max(now);
        let index = self.subs[first].unit;
        let outcome = self.outcomes.remove(self.subs[first].outcome);
        let unit = &mut self.units[index];
        unit.at_drive -= 1;
        unit.background_at_drive -= u32::from(self.subs[first].background);
        let bus = unit.bus;
        self.ledger.units[index].work(self.subs[first].op, &outcome, unit.drive.take_work());
        self.ledger.units[index].rest(&mut unit.drive, outcome.finish);
        self.ledger.buses[bus].complete(&outcome);
        let had_hold = unit.hold == Hold::Held;
        if had_hold {
            unit.hold = Hold::None;
        }
        self.free_slot(index);
        let mut next = self.subs[first].joined;
        self.sub_done(now, first, &outcome);
        while let Some(sub) = next {
            next = self.subs[sub].joined;
            // The work of joined requests is counted with the first.
            self.sub_done(now, sub, &Outcome { busy: Busy::default(), ..outcome });
        }
        self.recalibrate_if_due(now, index);
        if had_hold {
            self.release(now, bus);
        }
        if self.slots[bus].is_some() {
            self.pump_by_turns(now, index);
        } else {
            self.pump(now, index);
        }
    }

    fn recalibrate_if_due(&mut self, now: Nanos, index: usize) {
        if self.ledger.units[index].load() == 0
            && self.units[index].drive.wants_recalibration(now)
            && self.failed_at(index).is_none_or(|at| at > now)
        {
            self.units[index].drive.recalibrate(now);
        }
    }

    pub(super) fn look_at_recalibration(&mut self, now: Nanos, index: usize) {
        // Otherwise it happens when the queue has run empty.
        self.recalibrate_if_due(now, index);
        if let Some(interval) = recalibration_interval(&self.system, self.system.units[index].drive) {
            self.calendar.schedule(now.saturating_add(interval), Event::Recalibrate(index));
        }
    }
}
