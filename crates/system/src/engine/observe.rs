//! A command served alone, and watched: when it held the bus, and when its background work was announced.

use headstack_drive::Drive;
use headstack_drive::command::{Background, BusTiming, Command, Effect, Outcome, Ticket};
use headstack_units::Nanos;

use super::note_hold;

/// Serves commands as [`Drive::serve`] does, one at a time with a bus that is free whenever it is wanted, and notes what the
/// closed form does not tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observer {
    effects: Vec<Effect>,
    /// What the drive asked for.
    calls: Vec<(Nanos, Option<Ticket>)>,
    /// From when to when the last command held the bus.
    pub(crate) holds: Vec<(Nanos, Nanos)>,
    /// The background work announced meanwhile, and when.
    pub(crate) works: Vec<(Nanos, Background)>,
}

impl Observer {
    /// Serves a command that the drive gets at `at`.
    pub(crate) fn serve(
        &mut self,
        drive: &mut Drive,
        at: Nanos,
        command: Command,
        bus: &BusTiming,
    ) -> Outcome {
        self.holds.clear();
        self.works.clear();
        let mut found = None;
        let mut now = at;
        drive.submit(now, command, &mut self.effects);
        loop {
            for effect in self.effects.drain(..) {
                match effect {
                    Effect::NeedBus { ticket, at, .. } => self.calls.push((at.max(now), Some(ticket))),
                    Effect::ReleaseBus { at, .. } => {
                        let hold = self.holds.last_mut().expect("who releases the bus holds it");
                        hold.1 = at.max(now);
                    }
                    Effect::WakeAt(at) => self.calls.push((at.max(now), None)),
                    Effect::Done(outcome) => found = Some(outcome),
                    Effect::Background(work) => self.works.push((now, work)),
                }
            }
            // Of equals the first asked for.
            let next = (0..self.calls.len()).min_by_key(|&call| self.calls[call].0);
            let Some((at, ticket)) = next.map(|next| self.calls.remove(next)) else { break };
            now = at;
            match ticket {
                None => drive.advance(now, &mut self.effects),
                Some(ticket) => {
                    let free = self.holds.last().map_or(Nanos::ZERO, |&(_, until)| until);
                    now = now.max(free);
                    self.holds.push((now, now));
                    drive.bus_granted(now, ticket, bus, &mut self.effects);
                }
            }
        }
        let mut outcome = found.expect("a command that is alone completes");
        note_hold(bus, &mut outcome);
        if !bus.disconnects {
            self.holds.clear();
            self.holds.push((outcome.submitted, outcome.finish));
        }
        outcome
    }
}
