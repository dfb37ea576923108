//! One drive on the fast path, and its queue, of which only the instants matter.

use std::collections::VecDeque;
use std::sync::Arc;

use headstack_drive::command::{Background, BusTiming, Command, Outcome};
use headstack_drive::{Drive, DriveModel};
use headstack_units::Nanos;

use crate::bus::BusUse;
use crate::engine::UnitUse;

/// A drive and its queue.
pub(super) struct Lane {
    drive: Drive,
    model: Arc<DriveModel>,
    bus: BusTiming,
    /// When the last command is complete.
    free_at: Nanos,
    /// Commands not known to be complete at the last arrival, in order: when they are, and what the mechanism has worked
    /// by then.
    ahead: VecDeque<(Nanos, Nanos)>,
    used: UnitUse,
    bus_used: BusUse,
    /// Work of the mechanism up to the last known completion, and up to the last restart of the statistics.
    busy_at_done: Nanos,
    busy_before: Nanos,
    dealt: Dealt,
}

/// Commands served away from the others, and how they went.
#[derive(Default)]
struct Dealt {
    commands: Vec<(Nanos, Command)>,
    /// With each outcome, where its background work ends in `works`.
    outcomes: Vec<(Outcome, usize)>,
    works: Vec<Background>,
    collected: usize,
}

impl Lane {
    pub(super) fn new(drive: Drive, bus: BusTiming) -> Self {
        Self {
            model: Arc::clone(drive.model()),
            drive,
            bus,
            free_at: Nanos::ZERO,
            ahead: VecDeque::new(),
            used: UnitUse::default(),
            bus_used: BusUse::default(),
            busy_at_done: Nanos::ZERO,
            busy_before: Nanos::ZERO,
            dealt: Dealt::default(),
        }
    }

    pub(super) fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Forgets which commands are complete at `now`.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos) {
        while let Some(&(finish, busy)) = self.ahead.front()
            && finish <= now
        {
            self.busy_at_done = busy;
            self.ahead.pop_front();
        }
    }

    /// Serves a command that arrives at `arrival`, not before the one before it.
    #[inline]
    pub(super) fn serve(
        &mut self,
        arrival: Nanos,
        command: Command,
        background: &mut Vec<Background>,
        outcome: &mut Outcome,
    ) {
        self.pass(arrival);
        let at = arrival.max(self.free_at);
        self.drive.serve_into(at, command, &self.bus, background, outcome);
        self.free_at = outcome.finish;
        self.ahead.push_back((outcome.finish, self.drive.mechanism_busy()));
        self.used.commands += 1;
        self.used.load_area += u128::from((outcome.finish - arrival).0);
        self.used.load_max = self.used.load_max.max(self.ahead.len() as u64);
        self.bus_used.grants += 1;
        self.bus_used.busy_ns += u128::from(outcome.busy.bus.0);
    }

    /// Takes a command for [`Lane::serve_dealt`].
    pub(super) fn deal(&mut self, arrival: Nanos, command: Command) {
        self.dealt.commands.push((arrival, command));
    }

    /// Serves the commands dealt to it since the last time.
    pub(super) fn serve_dealt(&mut self) {
        let mut dealt = std::mem::take(&mut self.dealt);
        dealt.outcomes.clear();
        dealt.works.clear();
        dealt.collected = 0;
        for (arrival, command) in dealt.commands.drain(..) {
            let mut outcome = Outcome::default();
            self.serve(arrival, command, &mut dealt.works, &mut outcome);
            dealt.outcomes.push((outcome, dealt.works.len()));
        }
        self.dealt = dealt;
    }

    /// How the next of the commands dealt to it went, with the background work done meanwhile.
    pub(super) fn collect(&mut self) -> (Outcome, &[Background]) {
        let at = self.dealt.collected;
        self.dealt.collected += 1;
        let begin = at.checked_sub(1).map_or(0, |before| self.dealt.outcomes[before].1);
        let (outcome, end) = self.dealt.outcomes[at];
        (outcome, &self.dealt.works[begin..end])
    }

    /// Statistics begin at `now`, but for what is on its way.
    pub(super) fn restart(&mut self, now: Nanos) {
        self.pass(now);
        let load_area = self.ahead.iter().map(|(finish, _)| u128::from((*finish - now).0)).sum();
        self.used = UnitUse { load_area, load_max: self.ahead.len() as u64, ..UnitUse::default() };
        self.bus_used = BusUse::default();
        self.busy_before = self.busy_at_done;
    }

    /// What is buffered goes to the media.
    pub(super) fn drain(&mut self, works: &mut Vec<Background>) {
        self.drive.drain(works);
        self.busy_at_done = self.drive.mechanism_busy();
    }

    /// How drive and bus were used since the last restart.
    pub(super) fn used(&self) -> (UnitUse, BusUse) {
        let mechanism = self.busy_at_done.saturating_sub(self.busy_before);
        (UnitUse { mechanism, ..self.used }, self.bus_used)
    }
}
